"""The failing step once more, in this process or in one of its own, recorded, its writes sent nowhere.

Run by hand as ``python -m glassgrad.watch.again``; it takes its task as one JSON argument and prints the answers.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import dataclasses
import importlib
import importlib.util
import io
import json
import linecache
import os
import shutil
import subprocess
import sys
from types import FrameType, ModuleType, TracebackType
from typing import Any

from ..explore.interchange import from_json as graph_from_json
from ..explore.interchange import to_json
from ..explore.model import Graph
from ..explore.source import location
from ..torch_alias import install
from .finding import Asked, answers_as_json, answers_from_json
from .frames import users_frames
from .watch import Watch

SHORT = 60.0  # seconds: longer scripts are not run again
PATIENCE = 12.0  # times as long as the first run may the recorded one take, and ten seconds
_CHANGES = {os: ("remove", "unlink", "rename", "replace", "mkdir", "makedirs", "rmdir", "truncate"),
            shutil: ("rmtree", "move", "copy", "copy2", "copyfile", "copytree")}  # fmt: skip
_REFUSED = ("subprocess.Popen", "socket.connect", "os.system", "os.fork", "os.posix_spawn", "input")


def answers_again(script: Script, seconds: float, step: int, before: int) -> tuple[dict[str, Asked], Graph | None]:
    """What the graph says before backward pass ``step``, all after pass ``before`` being recorded; and the graph.

    Nothing where the script cannot be run again: it took too long, asked for input, a process or the network, or did
    not come to that pass.
    """
    if seconds > SHORT:
        return {}, None
    task = json.dumps({"script": script.as_json(), "step": step, "before": before})
    command = [sys.executable, "-m", __name__, task]
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=10 + PATIENCE * seconds, cwd=script.folder
        )
    except (OSError, subprocess.TimeoutExpired):
        return {}, None
    if done.returncode != 0:
        return {}, None
    said = json.loads(done.stdout)
    return answers_from_json(said["answers"]), graph_from_json(said["graph"])


def main(task: dict[str, Any]) -> None:
    """Run the script of a task up to its backward pass, print the answers, and end the process there."""
    from .watch import Watch

    script = Script(**task["script"])
    torch = engine(script.on_glassgrad)
    answers = os.fdopen(os.dup(1), "w")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)

    def arrived(said: dict[str, Asked], graph: Graph) -> None:
        answers.write(json.dumps({"answers": answers_as_json(said), "graph": json.loads(to_json(graph))}))
        answers.flush()
        os._exit(0)  # nothing that the script leaves behind is to be done twice

    _without_traces(torch)
    with Watch(torch, record_from=task["before"], ask_at=task["step"], arrived=arrived, values=True):
        script.run()
    os._exit(1)


def _without_traces(torch: Any) -> None:
    """Let the script change nothing: files opened for writing are the null device, and what reaches out is refused."""
    plain = builtins.open

    def open_nowhere(file: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
        if set(mode) & set("wax+"):
            return plain(os.devnull, mode.replace("x", "w").replace("+", ""), *args, **kwargs)
        return plain(file, mode, *args, **kwargs)

    builtins.open = io.open = open_nowhere  # type: ignore[assignment]
    for module, names in _CHANGES.items():
        for name in names:
            setattr(module, name, _nothing)
    torch.save = _nothing
    sys.addaudithook(_refuse)


def _nothing(*args: Any, **kwargs: Any) -> None:
    """Stands in for what would change files."""


def _refuse(event: str, args: Any) -> None:
    if event in _REFUSED:
        os._exit(2)


# -- the failing step once more, in this process -----------------------------------------------------------------------
# The body of the loop around an error, in a copy of its frame's names.

Replayed = tuple[dict[str, Asked], Graph | None]
#: What a body may not hold to be run by itself.
APART = (ast.Return, ast.Yield, ast.YieldFrom, ast.Await, ast.Nonlocal, ast.AsyncFor, ast.AsyncWith)


def replayed(error: BaseException, traceback: TracebackType | None, watch: Watch) -> Replayed:
    """What the graph says of a recorded replay of the failing step; nothing where it cannot be replayed, or goes well.

    The statements of the innermost loop from its beginning to the line of the error are run once more. What is printed
    is dropped. A cause that is older than the step is not seen.
    """
    for frame, instruction in reversed(users_frames(traceback)):
        line = location(frame.f_code, instruction).line
        body = _body_around(frame, line)
        if body is None:
            continue
        names = {**frame.f_globals, **frame.f_locals}
        again = Watch(watch.torch, record_from=0, ask_at=None)
        graphs: list[Graph] = []
        again.arrived = lambda answers, graph: graphs.append(graph)
        try:
            with again, contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                exec(compile(body, frame.f_code.co_filename, "exec"), names)
        except Exception as repeated:
            if type(repeated) is type(error) and str(repeated)[:40] == str(error)[:40]:
                return again.answers, graphs[-1] if graphs else None
        return {}, None
    return {}, None


def _body_around(frame: FrameType, line: int) -> ast.Module | None:
    """The statements of the innermost loop around a line, up to the one that holds it; None where there is none."""
    try:
        tree = ast.parse("".join(linecache.getlines(frame.f_code.co_filename, frame.f_globals)))
    except (SyntaxError, ValueError):
        return None
    first = frame.f_code.co_firstlineno
    loops = [
        node for node in ast.walk(tree)
        if isinstance(node, (ast.For, ast.While)) and first <= node.lineno < line <= (node.end_lineno or 0)
    ]  # fmt: skip
    if not loops:
        return None
    loop = max(loops, key=lambda node: node.lineno)
    body: list[ast.stmt] = [statement for statement in loop.body if statement.lineno <= line]
    parts: list[Any] = [part for statement in body for part in ast.walk(statement)]
    if any(isinstance(part, APART) for part in parts) or _leaves_early(body):
        return None
    return ast.Module(body, [])


def _leaves_early(body: list[ast.stmt]) -> bool:
    """Whether ``break`` or ``continue`` of the loop itself is among the statements."""
    waiting = list(body)
    while waiting:
        statement = waiting.pop()
        if isinstance(statement, (ast.Break, ast.Continue)):
            return True
        if not isinstance(statement, (ast.For, ast.While, ast.FunctionDef, ast.ClassDef)):
            waiting += [part for part in ast.iter_child_nodes(statement) if isinstance(part, ast.stmt)]
    return False


# -- a script and how it is run ----------------------------------------------------------------------------------------
# In the place of ``__main__``, on the installed PyTorch or on glassgrad.


@dataclasses.dataclass
class Script:
    """What ``python TARGET ARGUMENTS`` or ``python -m TARGET ARGUMENTS`` would run, in ``folder``."""

    target: str
    arguments: list[str]
    is_module: bool = False
    on_glassgrad: bool = False
    folder: str = dataclasses.field(default_factory=os.getcwd)

    def as_json(self) -> dict[str, Any]:
        """The fields, for another process."""
        return dataclasses.asdict(self)

    def run(self) -> dict[str, Any]:
        """Run it; gives its names. FileNotFoundError where there is no such script."""
        from ..cli import module_code, new_main, script_code

        main_module = new_main(self.target, self.arguments)
        code = (module_code if self.is_module else script_code)(self.target, main_module)
        if isinstance(code, int):
            raise SystemExit(code)  # the one that python gives; the message is out
        exec(code, main_module.__dict__)
        return main_module.__dict__


def engine(on_glassgrad: bool) -> ModuleType:
    """The module that ``import torch`` gives the script; glassgrad where PyTorch is not installed."""
    if on_glassgrad or importlib.util.find_spec("torch") is None:
        install()
    return importlib.import_module("torch")


if __name__ == "__main__":  # by its own name: the script takes the place of ``__main__``, whose names then go
    importlib.import_module(f"{__package__}.again").main(json.loads(sys.argv[1]))
