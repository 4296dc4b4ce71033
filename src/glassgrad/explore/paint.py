"""The painters, floor 8: a sheet as one self-contained SVG text, or in pixels with Pillow, an optional dependency.

They place nothing themselves.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape, quoteattr

from .sheet import INK, Line, Panel, Sheet, Text, printable, text_width

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageFont import FreeTypeFont, ImageFont


FACES = "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif"


def svg(drawn: Sheet, *, background: str = "white", label: str = "backward graph") -> str:
    """The sheet as SVG text: no scripts, no identifiers that could clash within one HTML page."""
    return "\n".join([opening(drawn, background, label), *pieces(drawn), "</g>\n</svg>\n"])


def opening(drawn: Sheet, background: str, label: str) -> str:
    """The beginning of an SVG text of a sheet's size, up to what is drawn on it."""
    width, height = number(drawn.width), number(drawn.height)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'role="img" aria-label={quoteattr(printable(label))} font-family="{FACES}">\n'
        f'<rect width="100%" height="100%" fill={quoteattr(background)}/>\n'
        f'<g text-anchor="middle" fill="{INK}" stroke-linejoin="round">'
    )


def pieces(drawn: Sheet) -> list[str]:
    """Each thing on a sheet as SVG, in the order in which they lie on each other."""
    lines = [_line(line, drawn.sideways) for line in drawn.lines]
    return [*map(_panel, drawn.grounds), *lines, *map(_panel, drawn.panels)]


def number(value: float) -> str:
    """``value`` with at most one decimal."""
    text = f"{value:.1f}"
    return text[:-2] if text.endswith(".0") else text


def _line(line: Line, sideways: bool) -> str:
    dots = f' stroke-dasharray="{number(line.dash[0])} {number(line.dash[1])}"' if line.dash else ""
    thick = number(line.width)
    path = f'<path d="{way(line.points, sideways)}" fill="none" stroke="{line.colour}" stroke-width="{thick}"{dots}/>'
    if line.head is None:
        return path
    corners = " ".join(f"{number(x)},{number(y)}" for x, y in line.head)
    return f'{path}<polygon points="{corners}" fill="{line.colour}"/>'


def way(points: Sequence[tuple[float, float]], sideways: bool) -> str:
    """The curve through ``points`` as the data of an SVG path."""
    x, y = points[0]
    steps = [f"M{number(x)} {number(y)}"]
    for u, v in points[1:]:
        if u == x or v == y:
            steps.append(f"L{number(u)} {number(v)}")
        elif sideways:
            m = number((x + u) / 2)
            steps.append(f"C{m} {number(y)} {m} {number(v)} {number(u)} {number(v)}")
        else:
            m = number((y + v) / 2)
            steps.append(f"C{number(x)} {m} {number(u)} {m} {number(u)} {number(v)}")
        x, y = u, v
    return "".join(steps)


def _panel(panel: Panel) -> str:
    dashed = ' stroke-dasharray="3 2"' if panel.dashed else ""
    tip = f"<title>{escape(printable(panel.tip))}</title>" if panel.tip else ""
    if not panel.width:
        return "".join(map(_text, panel.texts))
    x, y, width, height = map(number, (panel.x, panel.y, panel.width, panel.height))
    border = f' stroke="{panel.border}"' if panel.stroke else ""
    if panel.stroke not in (0, 1):
        border += f' stroke-width="{number(panel.stroke)}"'
    rule = ""
    if panel.rule is not None:
        right = number(panel.x + panel.width)
        rule = f'<path d="M{x} {number(panel.rule)}H{right}" stroke="{panel.border}"/>'
    return (
        f'<g>{tip}<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="{number(panel.radius)}" '
        f'fill="{panel.fill}"{border}{dashed}/>{rule}{"".join(map(_text, panel.texts))}</g>'
    )


def _text(text: Text) -> str:
    anchor = "" if text.anchor == "middle" else f' text-anchor="{text.anchor}"'
    weight = ' font-weight="bold"' if text.bold else ""
    colour = "" if text.colour == INK else f' fill="{text.colour}"'
    attributes = f'x="{number(text.x)}" y="{number(text.y)}" font-size="{number(text.size)}"'
    return f"<text {attributes}{anchor}{weight}{colour}>{escape(text.text)}</text>"


# -- in pixels ---------------------------------------------------------------------------------------------------------
# With a face that comes with Pillow.


MISSING = (
    "drawing a graph as {format!r} needs Pillow: pip install 'glassgrad[png]' (formats 'svg' and 'dot' need nothing)"
)
TOO_LARGE = (
    "the picture of this graph would be {width:,.0f} x {height:,.0f} pixels, too large for {format!r}: "
    "use format 'svg' or 'dot', or graph_text()"
)
LONGEST = 60_000  # pixels along one side
MOST = 80_000_000  # pixels in all
OWN = (
    "\u00b7\u2026\u00d7\u2212\u25b8\u25be"  # letters beyond ASCII that Pillow's own face has, and those that are drawn
)
#: Signs that it lacks: lines, or corners of what is filled, in shares of the type size above the baseline.
STROKES: dict[str, tuple[tuple[tuple[tuple[float, float], ...], ...], bool]] = {
    "\u00d7": ((((0.1, 0.12), (0.48, 0.5)), ((0.1, 0.5), (0.48, 0.12))), False),
    "\u2212": ((((0.07, 0.31), (0.5, 0.31)),), False),
    "\u25b8": ((((0.08, 0.08), (0.08, 0.58), (0.42, 0.33)),), True),
    "\u25be": ((((0.03, 0.52), (0.53, 0.52), (0.28, 0.18)),), True),
}


def raster(drawn: Sheet, format: str = "png", *, scale: float = 2.0, background: str = "white") -> bytes:
    """The sheet as an image file's bytes, ``scale`` pixels per unit of the sheet.

    A large picture is drawn at scale 1. ImportError naming the extra when Pillow is missing, ValueError when the
    picture is too large.
    """
    stream = BytesIO()
    image = paint(drawn, format, scale=scale, background=background)
    image.save(stream, {"jpg": "jpeg", "tif": "tiff"}.get(format, format))
    return stream.getvalue()


def paint(drawn: Sheet, format: str, *, scale: float, background: str, finest: int = 3) -> Image:
    """The sheet as Pillow's image; shapes are drawn up to ``finest`` times as large and shrunk. See :func:`raster`."""
    try:
        from PIL import Image, ImageDraw
    except ImportError as missing:
        raise ImportError(MISSING.format(format=format)) from missing

    def fits(factor: float) -> bool:
        return max(drawn.width, drawn.height) * factor <= LONGEST and drawn.width * drawn.height * factor**2 <= MOST

    scale = scale if fits(scale) else 1.0
    if not fits(scale):
        raise ValueError(TOO_LARGE.format(width=drawn.width * scale, height=drawn.height * scale, format=format))
    fine = finest if fits(scale * finest) else 1  # Pillow draws hard edges
    k = scale * fine
    size = max(round(drawn.width * k) // fine, 1), max(round(drawn.height * k) // fine, 1)
    image = Image.new("RGB", (size[0] * fine, size[1] * fine), background)
    pen = ImageDraw.Draw(image)
    for panel in drawn.grounds:
        _draw_panel(pen, panel, k)
    for line in drawn.lines:
        _draw_line(pen, line, k, drawn.sideways)
    for panel in drawn.panels:
        _draw_panel(pen, panel, k)
    if fine > 1:
        image = image.reduce(fine)
    pen = ImageDraw.Draw(image)
    for panel in (*drawn.grounds, *drawn.panels):
        for text in panel.texts:
            _draw_text(pen, text, scale)
    return image


def _draw_panel(pen: Any, panel: Panel, k: float) -> None:
    if not panel.width:
        return
    half = panel.stroke * k / 2  # a border lies half outside of its box, as in SVG
    corners = (
        panel.x * k - half, panel.y * k - half, (panel.x + panel.width) * k + half, (panel.y + panel.height) * k + half
    )  # fmt: skip
    width = max(round(panel.stroke * k), 1)
    border = panel.border if panel.stroke and not panel.dashed else None
    pen.rounded_rectangle(corners, panel.radius * k + half, panel.fill, border, width)
    if panel.dashed:
        for dash in _dashes(_rim(panel, k), 3 * k, 2 * k):
            pen.line(dash, panel.border, width)
    if panel.rule is not None:
        y = panel.rule * k
        pen.line((corners[0], y, corners[2], y), panel.border, width)


def _rim(panel: Panel, k: float) -> list[tuple[float, float]]:
    """The border of a box as a closed line of straight pieces."""
    radius = min(panel.radius, panel.width / 2, panel.height / 2)
    left, top, right, low = panel.x, panel.y, panel.x + panel.width, panel.y + panel.height
    corners = ((right, top, 1, -1), (right, low, 1, 1), (left, low, -1, 1), (left, top, -1, -1))
    points = []
    for n, (x, y, across, down) in enumerate(corners):
        for step in range(7):
            angle = math.pi / 2 * (n - 1 + step / 6)
            centre = x - across * radius, y - down * radius
            points.append((k * (centre[0] + radius * math.cos(angle)), k * (centre[1] + radius * math.sin(angle))))
    return [*points, points[0]]


def _draw_text(pen: Any, text: Text, scale: float) -> None:
    plain = text.text.isascii() or all(letter.isascii() or letter in OWN for letter in text.text)
    font = _font(round(text.size * scale * 2) / 2, plain)
    room = text_width(text.text, text.size) * scale * 1.12
    wide = _length(font, text.text)
    if wide > room:  # a fallback face may be wider than the box was made for
        font = _font(round(text.size * scale * room / wide * 2) / 2, plain)
        wide = _length(font, text.text)
    left = text.x * scale - {"start": 0.0, "middle": 0.5, "end": 1.0}[text.anchor] * wide
    thick = max(round(text.size * scale / 32), 1)
    for shift in (-thick / 2, thick / 2) if text.bold else (0.0,):  # the face has no bold: twice, side by side
        x: float = round(left + shift)
        for piece in _pieces(text.text) if plain else [text.text]:
            if piece in STROKES:
                _draw_sign(pen, piece, x, text, scale)
            else:
                pen.text((x, text.y * scale), piece, text.colour, font, "ls")
            x += _length(font, piece)


def _pieces(text: str) -> list[str]:
    """The text, taken apart at signs that are drawn."""
    return [piece for piece in re.split(f"([{''.join(STROKES)}])", text) if piece]


def _length(font: Any, text: str) -> float:
    """The width of a text, whose drawn signs are as wide as a digit."""
    pieces = _pieces(text)
    return sum(font.getlength("0") if piece in STROKES else font.getlength(piece) for piece in pieces)


def _draw_sign(pen: Any, sign: str, x: float, text: Text, scale: float) -> None:
    """A sign that the face lacks, by its strokes or its corners."""
    unit = text.size * scale
    lines, closed = STROKES[sign]
    for line in lines:
        points = [(x + u * unit, text.y * scale - v * unit) for u, v in line]
        if closed:
            pen.polygon(points, text.colour)
        else:
            pen.line(points, text.colour, max(round(unit / 13), 1))


@lru_cache(maxsize=64)
def _font(size: float, plain: bool) -> FreeTypeFont | ImageFont:
    """Pillow's own face, or for letters it lacks the first wider face found on the machine."""
    from PIL import ImageFont

    if not plain:
        for face in _wide_faces():
            try:
                return ImageFont.truetype(face, size)
            except OSError:
                continue
    return ImageFont.load_default(size)


@lru_cache(maxsize=1)
def _wide_faces() -> tuple[str, ...]:
    """Faces with many alphabets: matplotlib brings one along; the others may be installed."""
    faces = []
    spec = find_spec("matplotlib")
    if spec is not None and spec.origin:
        faces.append(str(Path(spec.origin).parent / "mpl-data" / "fonts" / "ttf" / "DejaVuSans.ttf"))
    return (*faces, "DejaVuSans.ttf", "NotoSans-Regular.ttf", "Arial Unicode.ttf", "arial.ttf")


def _draw_line(pen: Any, line: Line, k: float, sideways: bool) -> None:
    points = [(x * k, y * k) for x, y in flat(line.points, sideways)]
    width = max(round(line.width * k), 1)
    if line.dash:
        for dash in _dashes(points, line.dash[0] * k, line.dash[1] * k):
            pen.line(dash, line.colour, width)
    else:
        pen.line(points, line.colour, width, joint="curve")
    if line.head is not None:
        pen.polygon([(x * k, y * k) for x, y in line.head], line.colour)


def flat(points: Sequence[tuple[float, float]], sideways: bool, pieces: int = 24) -> list[tuple[float, float]]:
    """The curves between ``points`` as short straight pieces: the cubic curves that the SVG painter writes."""
    curve = [points[0]]
    for (x, y), (u, v) in zip(points, points[1:], strict=False):
        if u != x and v != y:
            for i in range(1, pieces):
                t = i / pieces
                even, slow = 1.5 * t * (1 - t) + t**3, t * t * (3 - 2 * t)
                a, b = (even, slow) if sideways else (slow, even)
                curve.append((x + (u - x) * a, y + (v - y) * b))
        curve.append((u, v))
    return curve


def _dashes(
    points: Sequence[tuple[float, float]], on: float, off: float
) -> Iterator[tuple[tuple[float, float], tuple[float, float]]]:
    """The straight dashes of a dashed line through ``points``."""
    phase = 0.0  # how far into a dash and its gap the line is
    for (x, y), (u, v) in zip(points, points[1:], strict=False):
        length = ((u - x) ** 2 + (v - y) ** 2) ** 0.5
        at = 0.0
        while at < length:
            step = min((on if phase < on else on + off) - phase, length - at)
            if phase < on:
                a, b = at / length, (at + step) / length
                yield (x + (u - x) * a, y + (v - y) * a), (x + (u - x) * b, y + (v - y) * b)
            at += step
            phase += step
            if phase >= on + off - 1e-9:
                phase = 0.0
            elif abs(phase - on) < 1e-9:
                phase = on
