"""What a question about a graph gives back, floor 8: sentences, facts behind them, and both shown in notebooks."""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ..ground.output import whole_letters
from .model import Graph, SourceLoc
from .record import Recording
from .walk import SINK

__all__ = ["Answer", "extent", "plural", "recording_of", "size", "where"]


@dataclass(frozen=True, repr=False)
class Answer:
    """The answer to a question: ``verdict`` in one sentence, ``lines`` with the reasons, ``advice`` on what to do.

    ``good`` tells whether all is well. What the sentences were made from is in the fields of each question's own class.
    """

    verdict: str
    lines: tuple[str, ...] = ()
    advice: str = ""
    good: bool = False

    def __str__(self) -> str:
        said = [self.verdict, *(f"  {line}" for line in self.lines)]
        return whole_letters("\n".join([*said, f"  -> {self.advice}"] if self.advice else said))

    __repr__ = __str__

    def __bool__(self) -> bool:
        return self.good

    def _repr_html_(self) -> str:
        """The answer as a small block for notebooks."""
        colour = "#2a8a4a" if self.good else "#c0392b"
        rows = "".join(
            f"<div style='white-space:pre-wrap;margin-left:1em'>{html.escape(line)}</div>" for line in self.lines
        )
        advice = f"<div style='margin-left:1em'>&rarr; {html.escape(self.advice)}</div>" if self.advice else ""
        return whole_letters(
            f"<div style='border-left:4px solid {colour};padding:4px 10px;font-family:monospace'>"
            f"<b>{html.escape(self.verdict)}</b>{rows}{advice}</div>"
        )


def recording_of(tensors: Iterable[Any], record: Any) -> Any:
    """The recording to ask: the one that is given, else a living one that heard the first of ``tensors`` being made."""
    if record is not None:
        return record
    for tensor in tensors:
        for known in Recording.living:
            call = known.producer(tensor)
            if call is not None and call.name:
                return known
    return None


def where(loc: SourceLoc | None) -> str:
    """A place as sentences name it: ``at train.py:12, `x.detach()```."""
    if loc is None:
        return "at a line that was not recorded"
    said = loc.expression or loc.code
    return f"at {loc.file}:{loc.line}" + (f", `{said}`" if said else "")


def plural(number: int, noun: str, many: str = "") -> str:
    """``1 line``, ``2 lines``."""
    return f"{number:,} {noun if number == 1 else many or noun + 's'}"


def extent(graph: Graph) -> str:
    """How large a graph is, as every answer and the page tell it: ``6 operations, 4 leaves``."""
    operations = sum(node.kind in ("op", "opaque") and node.op != SINK for node in graph.nodes)
    leaves = sum(node.kind == "leaf" for node in graph.nodes)
    return f"{plural(operations, 'operation')}, {plural(leaves, 'leaf', 'leaves')}"


def size(nbytes: int) -> str:
    """Bytes as people say them."""
    for unit in ("bytes", "KiB", "MiB"):
        if nbytes < 1024 or unit == "MiB":
            break
        nbytes /= 1024  # type: ignore[assignment]
    if unit == "MiB" and nbytes >= 1024:
        return f"{nbytes / 1024:.2f} GiB"
    return f"{nbytes} bytes" if unit == "bytes" else f"{nbytes:.1f} {unit}"


def once(lines: Iterable[str]) -> list[str]:
    """The lines, each once: one that is repeated has its number behind it."""
    return [line if number == 1 else f"{line} ({number} times)" for line, number in Counter(lines).items()]


def listed(words: Sequence[str], most: int = 8) -> str:
    """Names in a row, the rest counted."""
    return ", ".join(words[:most]) + (f" and {len(words) - most:,} more" if len(words) > most else "")
