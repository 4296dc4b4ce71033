"""What was found, in sentences: what happened, the line that did it, what it broke, and the fix."""

from __future__ import annotations

import dataclasses
import textwrap
from typing import Any, Literal

from ..explore.check import check
from ..explore.measure import is_finite
from ..explore.model import SourceLoc
from ..explore.nan import trace_nan
from ..explore.walk import SINK, op_name, walk
from ..explore.why import why

Weight = Literal["failure", "finding", "note"]
WIDTH = 110


@dataclasses.dataclass(frozen=True)
class Finding:
    """One thing that went wrong: ``kind`` in a word, ``what`` in a sentence, ``loc`` the line that did it.

    ``broke`` tells what it broke, ``fix`` what to write instead. A ``failure`` ended the script; a ``finding`` kept it
    from learning; a ``note`` is right in some programs.
    """

    kind: str
    what: str
    loc: SourceLoc | None = None
    broke: tuple[str, ...] = ()
    fix: str = ""
    weight: Weight = "finding"

    def lines(self) -> list[str]:
        """The finding as it is printed."""
        said = [f"glassgrad: {'why' if self.weight == 'failure' else self.weight}: {self.what}"]
        if self.loc is not None:
            code = self.loc.code or self.loc.expression or ""
            said.append(f"  {self.loc}" + (f"   {_cut(code)}" if code else ""))
        for line in (*self.broke[:3], *([f"fix: {self.fix}"] if self.fix else ())):
            said += textwrap.wrap(line, WIDTH, initial_indent="  ", subsequent_indent="    ", break_long_words=False)
        return said

    def as_json(self) -> dict[str, Any]:
        """The finding for programs."""
        loc = None if self.loc is None else {"file": self.loc.file, "line": self.loc.line, "code": self.loc.code}
        return {
            "kind": self.kind, "weight": self.weight, "what": self.what, "line": loc, "broke": list(self.broke),
            "fix": self.fix,
        }  # fmt: skip


def _cut(text: str) -> str:
    return text if len(text) <= WIDTH else text[: WIDTH - 3] + "..."


# -- what is asked of a graph that was recorded ------------------------------------------------------------------------
# Answers as plain data, which another process can send.


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


def answers_as_json(answers: dict[str, Asked]) -> dict[str, Any]:
    """The answers for another process."""
    return {question: dataclasses.asdict(answer) for question, answer in answers.items()}


def answers_from_json(fields: dict[str, Any]) -> dict[str, Asked]:
    """What :func:`answers_as_json` made."""
    answers = {}
    for question, one in fields.items():
        loc = None if one["loc"] is None else SourceLoc(**one["loc"])
        answers[question] = Asked(one["kind"], one["verdict"], tuple(one["lines"]), one["advice"], loc)
    return answers
