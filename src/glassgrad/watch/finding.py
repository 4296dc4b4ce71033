"""What was found, in sentences: what happened, the line that did it, what it broke, and the fix."""

from __future__ import annotations

import dataclasses
import textwrap
from typing import Any, Literal

from ..explore.model import SourceLoc

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


def from_json(fields: dict[str, Any]) -> Finding:
    """The finding that :meth:`Finding.as_json` told of."""
    line = fields["line"]
    loc = None if line is None else SourceLoc(line["file"], line["line"], code=line["code"])
    return Finding(fields["kind"], fields["what"], loc, tuple(fields["broke"]), fields["fix"], fields["weight"])


def _cut(text: str) -> str:
    return text if len(text) <= WIDTH else text[: WIDTH - 3] + "..."
