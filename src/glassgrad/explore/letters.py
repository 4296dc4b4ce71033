"""The widths of letters, floor 8: how much room a text needs in a plain sans-serif face, with no font at hand."""

from __future__ import annotations

import re
from unicodedata import east_asian_width

# Shares of the font size, a little above those of Helvetica, Arial and Aileron so that each of them fits.
_WIDTHS = {
    0.28: "ijlI|'!,.:; `",
    0.35: 'frt()[]{}-/\\"*',
    0.53: "ckszvxyJ?^",
    0.61: "abdeghnopqu0123456789_+<>=#$~",
    0.68: "ABEFKLPSTVXYZ",
    0.75: "CDGHNOQRU&",
    0.90: "mwM%",
    0.97: "W@",
}
_SPACES = str.maketrans("\t\n\r", "   ")
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_WIDTH = {letter: share for share, letters in _WIDTHS.items() for letter in letters}


def text_width(text: str, size: float) -> float:
    """The width of ``text`` at font ``size``, in the unit of ``size``."""
    return size * sum(_WIDTH.get(c) or (1.0 if east_asian_width(c) in "WF" else 0.65) for c in text)


def printable(text: str) -> str:
    """``text`` with everything that XML, DOT or a line of text cannot hold replaced by a space or U+FFFD."""
    return _UNPRINTABLE.sub("\ufffd", text.translate(_SPACES))
