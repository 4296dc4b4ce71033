"""The failing step once more: the script is run anew in a process of its own, recorded, its writes sent nowhere.

Run by hand as ``python -m glassgrad.watch.again``; it takes its task as one JSON argument and prints the answers.
"""

from __future__ import annotations

import builtins
import importlib
import io
import json
import os
import shutil
import subprocess
import sys
from typing import Any

from ..explore.interchange import from_json as graph_from_json
from ..explore.interchange import to_json
from ..explore.model import Graph
from .asked import Asked, as_json, from_json
from .script import Script, engine

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
    return from_json(said["answers"]), graph_from_json(said["graph"])


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
        answers.write(json.dumps({"answers": as_json(said), "graph": json.loads(to_json(graph))}))
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


if __name__ == "__main__":  # by its own name: the script takes the place of ``__main__``, whose names then go
    importlib.import_module(f"{__package__}.again").main(json.loads(sys.argv[1]))
