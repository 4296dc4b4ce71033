"""The SVG painter, floor 8: writes a sheet as one self-contained SVG text. It places nothing itself."""

from __future__ import annotations

from collections.abc import Sequence
from xml.sax.saxutils import escape, quoteattr

from .letters import printable
from .sheet import INK, Line, Panel, Sheet, Text

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
