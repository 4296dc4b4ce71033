"""``glassgrad why`` and ``glassgrad check``: a script run under watch, what there is to say of it, and its page."""

from __future__ import annotations

import json
import sys
import time
from traceback import walk_tb
from types import TracebackType
from typing import Any

from ..explore.model import Graph
from ..explore.page.forms import write_graph
from ..explore.source import is_users
from ..explore.survey import read
from ..explore.walk import is_tensor
from .again import Script, answers_again, engine, replayed
from .failures import explained
from .finding import Finding
from .frames import folded
from .verdict import findings
from .watch import Watch

MOST = 4  # findings that are told whole
ASKED_AGAIN = {"in-place", "freed", "no graph"}  # failures of which a recorded graph has more to say
LINES_WANTED = {
    "nan", "nan gradient", "zero gradients", "unreached", "softmax twice", "sigmoid twice", "raw nll", "broadcast",
}  # fmt: skip


def why(script: Script, *, as_json: bool = False, strict: bool = False, page: str = "") -> int:
    """Run a script under watch and say what went wrong; the exit code: the script's own, or with ``strict`` 1.

    ``page`` is the file that the graph of the step is written to, where something was found.
    """
    watch = Watch(engine(script.on_glassgrad))
    code, error = 0, None
    began = time.monotonic()
    names: dict[str, Any] = {}
    with watch:
        try:
            names = script.run()  # kept until the verdict, as what lives tells what is kept
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
        except BaseException as raised:
            code, error = 130 if isinstance(raised, KeyboardInterrupt) else 1, raised
    seconds = time.monotonic() - began
    if error is not None:
        _print_error(error)
    if error is None:
        said, graph = _of_run(watch, script, seconds)
    else:
        said, graph = _of_failure(error, watch, script, seconds)
    names.clear()
    link = written(graph, said, page) if page and graph is not None and said else ""
    if as_json:
        print(json.dumps({"findings": [finding.as_json() for finding in said], "backward": watch.backwards}))
    else:
        text = report(said) if said or error is not None else _all_well(watch)
        text += f"\n  page: {link}" if link else ""
        print(text, end="\n" if text else "", file=sys.stderr)
    return 1 if strict and any(finding.weight != "note" for finding in said) else code


Answered = tuple[list[Finding], Graph | None]


def _of_failure(error: BaseException, watch: Watch, script: Script, seconds: float) -> Answered:
    finding, graph = explained(error, error.__traceback__, watch), None
    if finding is None:
        return [], None
    if finding.kind in ASKED_AGAIN:
        watch.answers, graph = answers_again(script, seconds, watch.backwards, max(0, watch.backwards - 2))
        if not watch.answers:
            watch.answers, graph = replayed(error, error.__traceback__, watch)
        finding = explained(error, error.__traceback__, watch)
    return [finding] if finding is not None else [], graph or graph_so_far(error.__traceback__)


def _of_run(watch: Watch, script: Script, seconds: float) -> Answered:
    said, graph = findings(watch), None
    if watch.backwards and any(finding.kind in LINES_WANTED for finding in said):
        step = step_to_ask(watch)
        answers, graph = answers_again(script, seconds, step, step - 1)
        said = findings(watch, answers) if answers else said
    return said, graph


def step_to_ask(watch: Watch) -> int:
    """The backward pass whose graph has most to say: the first whose gradients or loss were not finite."""
    looks = watch.looks
    spoiled = looks.spoiled_at or (watch.first_bad - 1 if watch.first_bad and looks.bad_weights else 0)
    return spoiled or watch.first_bad or min(2, watch.backwards)


def _print_error(error: BaseException) -> None:
    """The traceback as Python prints it, from the script's first frame on; frames of engines are counted."""
    traceback = error.__traceback__
    while traceback is not None and not is_users(traceback.tb_frame.f_code):
        traceback = traceback.tb_next
    print(folded(error, traceback or error.__traceback__), end="", file=sys.stderr)


def report(said: list[Finding]) -> str:
    """Findings as they are printed: four whole, the rest counted."""
    lines = [line for finding in said[:MOST] for line in finding.lines()]
    if len(said) > MOST:
        lines.append(f"glassgrad: and {len(said) - MOST} more")
    return "\n".join(lines)


def _all_well(watch: Watch) -> str:
    if not watch.backwards:
        return "glassgrad: the script ran no backward pass."
    return f"glassgrad: nothing wrong was seen in {watch.backwards:,} backward passes and {watch.steps:,} steps."


# -- the page beside an answer -----------------------------------------------------------------------------------------
# The graph of the step, or as far as it came, with the culprit selected.

ROOTS = 64  # tensors of a frame that a graph is read from


def graph_so_far(traceback: TracebackType | None) -> Graph | None:
    """The graph behind the tensors in the frames of an error: what was built before it stopped.

    The frames are the user's and those of layers, which hold what a line hands on without a name. The last output is
    the tensor that got furthest.
    """
    frames = [f for f, _ in walk_tb(traceback) if is_users(f.f_code) or f.f_code.co_name == "forward"]
    tensors: dict[int, Any] = {}
    for value in [value for frame in frames for value in frame.f_locals.values()]:
        if is_tensor(value) and value.grad_fn is not None:
            tensors.pop(id(value), None)
            tensors[id(value)] = value
    return read(tuple(tensors.values())[-ROOTS:]) if tensors else None


def written(graph: Graph, said: list[Finding], path: str) -> str:
    """Write the page; gives its address, with the node that the first finding is about."""
    at = _culprit(graph, said[0])
    return write_graph(graph, path, title=said[0].what) + (f"#node={at}" if at is not None else "")


def _culprit(graph: Graph, finding: Finding) -> int | None:
    """The node at the line of a finding; else the first of which something is wrong, else where a failure stopped."""
    loc = finding.loc
    for node in graph.nodes:
        if loc is not None and node.loc is not None and (node.loc.file, node.loc.line) == (loc.file, loc.line):
            return node.index
    furthest = graph.outputs[-1] if graph.outputs and finding.weight == "failure" else None
    return next((problem.node for problem in graph.problems if problem.node is not None), furthest)
