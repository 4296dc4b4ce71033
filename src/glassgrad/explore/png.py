"""The raster painter, floor 8: paints a sheet with Pillow, an optional dependency, and a face that comes with it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .letters import text_width
from .sheet import Line, Sheet, Text

if TYPE_CHECKING:
    from PIL.ImageFont import FreeTypeFont, ImageFont

MISSING = (
    "drawing a graph as {format!r} needs Pillow: pip install 'glassgrad[png]' (formats 'svg' and 'dot' need nothing)"
)
TOO_LARGE = (
    "the picture of this graph would be {width:,.0f} x {height:,.0f} pixels, too large for {format!r}: "
    "use format 'svg' or 'dot', or graph_text()"
)
LONGEST = 60_000  # pixels along one side
MOST = 80_000_000  # pixels in all


def raster(drawn: Sheet, format: str = "png", *, scale: float = 2.0, background: str = "white") -> bytes:
    """The sheet as an image file's bytes, ``scale`` pixels per unit of the sheet.

    A large picture is drawn at scale 1. ImportError naming the extra when Pillow is missing, ValueError when the
    picture is too large.
    """
    try:
        from PIL import Image, ImageDraw
    except ImportError as missing:
        raise ImportError(MISSING.format(format=format)) from missing

    def fits(factor: float) -> bool:
        return (
            max(drawn.width, drawn.height) * factor <= LONGEST and drawn.width * drawn.height * factor**2 <= MOST
        )

    scale = scale if fits(scale) else 1.0
    if not fits(scale):
        raise ValueError(TOO_LARGE.format(width=drawn.width * scale, height=drawn.height * scale, format=format))
    fine = 3 if fits(scale * 3) else 1  # shapes are drawn larger and shrunk: Pillow draws hard edges
    k = scale * fine
    image = Image.new("RGB", (max(round(drawn.width * k), 1), max(round(drawn.height * k), 1)), background)
    pen = ImageDraw.Draw(image)
    for line in drawn.lines:
        _draw_line(pen, line, k, drawn.sideways)
    for panel in drawn.panels:
        corners = (panel.x * k, panel.y * k, (panel.x + panel.width) * k, (panel.y + panel.height) * k)
        pen.rounded_rectangle(corners, 4 * k, panel.fill, None if panel.dashed else panel.border, max(round(k), 1))
        if panel.dashed:
            (x, y, u, v), width = corners, max(round(k), 1)
            for dash in _dashes(((x, y), (u, y), (u, v), (x, v), (x, y)), 3 * k, 2 * k):
                pen.line(dash, panel.border, width)
        if panel.rule is not None:
            y = panel.rule * k
            pen.line((corners[0], y, corners[2], y), panel.border, max(round(k), 1))
    if fine > 1:
        image = image.resize((max(image.width // fine, 1), max(image.height // fine, 1)), Image.Resampling.LANCZOS)
    pen = ImageDraw.Draw(image)
    for panel in drawn.panels:
        for text in panel.texts:
            _draw_text(pen, text, scale)
    stream = BytesIO()
    image.save(stream, {"jpg": "jpeg", "tif": "tiff"}.get(format, format))
    return stream.getvalue()


def _draw_text(pen: Any, text: Text, scale: float) -> None:
    font = _font(round(text.size * scale * 2) / 2, text.text.isascii())
    anchor = {"start": "ls", "middle": "ms", "end": "rs"}[text.anchor]
    room = text_width(text.text, text.size) * scale * 1.12
    if font.getlength(text.text) > room:  # a fallback face may be wider than the box was made for
        font = _font(round(text.size * scale * room / font.getlength(text.text) * 2) / 2, text.text.isascii())
    for shift in (-0.2, 0.2) if text.bold else (0.0,):  # the face has no bold: twice, side by side
        pen.text(((text.x + shift) * scale, text.y * scale), text.text, text.colour, font, anchor)


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
    points = [(x * k, y * k) for x, y in _flat(line.points, sideways)]
    width = max(round(1.2 * k), 1)
    if line.style == "view":
        for dash in _dashes(points, 2 * k, 3 * k):
            pen.line(dash, line.colour, width)
    else:
        pen.line(points, line.colour, width, joint="curve")
    if line.head is not None:
        pen.polygon([(x * k, y * k) for x, y in line.head], line.colour)


def _flat(points: Sequence[tuple[float, float]], sideways: bool, pieces: int = 24) -> list[tuple[float, float]]:
    """The curves between ``points`` as short straight pieces: the cubic curves that the SVG painter writes."""
    flat = [points[0]]
    for (x, y), (u, v) in zip(points, points[1:], strict=False):
        if u != x and v != y:
            for i in range(1, pieces):
                t = i / pieces
                even, slow = 1.5 * t * (1 - t) + t**3, t * t * (3 - 2 * t)
                a, b = (even, slow) if sideways else (slow, even)
                flat.append((x + (u - x) * a, y + (v - y) * b))
        flat.append((u, v))
    return flat


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
