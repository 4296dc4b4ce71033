"""What is asked of a graph that was recorded: answers as plain data, which another process can send."""

from __future__ import annotations

import dataclasses
from typing import Any

from ..explore.check import check
from ..explore.measure import is_finite
from ..explore.model import SourceLoc
from ..explore.nan import trace_nan
from ..explore.walk import SINK, op_name, walk
from ..explore.why import why

MOST = 4  # parameters that are asked about


@dataclasses.dataclass(frozen=True)
class Asked:
    """An answer of the explorer: ``kind``, the lines it says, and the place of the culprit."""

    kind: str
    verdict: str
    lines: tuple[str, ...] = ()
    advice: str = ""
    loc: SourceLoc | None = None


def answers_to(loss: Any, recording: Any, parameters: dict[str, Any]) -> dict[str, Asked]:
    """What the graph of a loss says before its backward pass, by question.

    ``check``: whether backward will work; ``nan``: where the first number was made that is not finite; ``why NAME``:
    why a parameter gets nothing from this loss.
    """
    answers = {"check": _plain(check(loss, record=recording))}
    if loss.grad_fn is None:
        return answers
    if is_finite(loss) is False:
        answers["nan"] = _plain(trace_nan(loss, record=recording))
    reached = {id(node.variable) for node in walk([loss]).nodes if op_name(node) == SINK}
    missing = [name for name, p in parameters.items() if p.requires_grad and id(p) not in reached]
    for name in missing[:MOST]:
        answers[f"why {name}"] = _plain(why(loss, parameters[name], record=recording))
    return answers


def _plain(answer: Any) -> Asked:
    places = [getattr(answer, "loc", None)]
    places += [one.loc for one in (*getattr(answer, "problems", ()), *getattr(answer, "cuts", ()))]
    loc = next((place for place in places if place is not None), None)
    return Asked(getattr(answer, "kind", ""), answer.verdict, tuple(answer.lines), answer.advice, loc)


def as_json(answers: dict[str, Asked]) -> dict[str, Any]:
    """The answers for another process."""
    return {question: dataclasses.asdict(answer) for question, answer in answers.items()}


def from_json(fields: dict[str, Any]) -> dict[str, Asked]:
    """What :func:`as_json` made."""
    answers = {}
    for question, one in fields.items():
        loc = None if one["loc"] is None else SourceLoc(**one["loc"])
        answers[question] = Asked(one["kind"], one["verdict"], tuple(one["lines"]), one["advice"], loc)
    return answers
