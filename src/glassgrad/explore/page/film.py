"""The timeline as moving pictures, floor 8: GIF, MP4 and SVG of a graph being built and gradients going back.

A film is a list of shots; each shows a step, or the gradients of a step on their way, for a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from io import BytesIO
from typing import Any

from ..paint import flat, opening, paint, pieces, way
from ..sheet import Panel, Point, Sheet
from .still import Stage

MISSING = "an MP4 film needs PyAV and Pillow: pip install 'glassgrad[video]' ('.svg' with step=\"play\" needs nothing)"
FRAMES = 25  # a second
PULSE = 10  # frames in which a gradient goes along its arrows
BUILD, BACK, END = 600, 900, 2_400  # milliseconds that a step is shown, and the last of all
MOST = 240  # steps shown; of a longer timeline every so many
LONG = 60  # steps from which on gradients are not seen travelling
SIDE = {"gif": 1_280, "mp4": 1_440}  # pixels along the longer side


@dataclass(frozen=True, slots=True)
class Shot:
    """One step for so many milliseconds; ``part`` is how far its gradients have come, None where they are there.

    With ``now``, what happens at the step stands out.
    """

    step: int
    ms: int
    part: float | None = None
    now: bool = True


def shots(stage: Stage) -> list[Shot]:
    """The film of a stage's timeline."""
    scene = stage.scene
    stride = -(-scene.steps // MOST) if scene.steps else 1
    steps = [*range(0, scene.steps, stride), scene.steps]
    pace = min(1.0, 30_000 / (BACK * len(steps)))
    film: list[Shot] = []
    for step in steps:
        back = step > scene.builds
        if back and len(steps) <= LONG and stage.ways(step):
            film += [Shot(step, 1000 // FRAMES, (i + 0.5) / PULSE) for i in range(PULSE)]
        film.append(Shot(step, max(40, round((BACK if back else BUILD) * pace))))
    return [*film, Shot(scene.steps, END, now=False)]


def picture(stage: Stage, shot: Shot) -> Sheet:
    """The sheet of a shot, without the dots that are gradients on their way."""
    if shot.part is None:
        return stage.at(shot.step, shot.now)
    before, after = stage.at(shot.step - 1, told=shot.step), stage.at(shot.step, now=True)
    rings = tuple(panel for panel in after.grounds if panel not in before.grounds)
    return replace(before, grounds=(*before.grounds, *rings))


def with_dots(stage: Stage, shot: Shot) -> Sheet:
    """The sheet of a shot."""
    drawn = picture(stage, shot)
    if shot.part is None:
        return drawn
    share = shot.part * (2 - shot.part)
    places = [_along(flat(points, stage.plane.sideways), share) for points in stage.ways(shot.step)]
    return replace(drawn, panels=(*drawn.panels, *(_dot(stage, at, 5.0) for at in places)))


def _along(path: list[Point], share: float) -> Point:
    """The point at a share of a way's length."""
    pairs = list(zip(path, path[1:], strict=False))
    lengths = [((u - x) ** 2 + (v - y) ** 2) ** 0.5 for (x, y), (u, v) in pairs]
    left = share * sum(lengths)
    for ((x, y), (u, v)), length in zip(pairs, lengths, strict=True):
        if left <= length:
            part = left / (length or 1.0)
            return x + (u - x) * part, y + (v - y) * part
        left -= length
    return path[-1]


def _dot(stage: Stage, at: Point, radius: float) -> Panel:
    x, y = at[0] - radius, at[1] - radius
    return Panel(x, y, 2 * radius, 2 * radius, stage.colours["flow"], "none", (), radius=radius, stroke=0)


def _images(stage: Stage, film: list[Shot], form: str) -> Iterator[Any]:
    scale = min(2.0, SIDE[form] / max(stage.width, stage.height))
    for shot in film:
        yield paint(with_dots(stage, shot), form, scale=scale, background=stage.background, finest=2)


def gif(stage: Stage) -> bytes:
    """The film as a GIF that begins anew when it has ended. ImportError naming the extra when Pillow is missing."""
    film = shots(stage)
    images = list(_images(stage, film, "gif"))
    colours = _colour_table([images[0], images[len(images) // 3], images[-2]])
    frames = [image.quantize(palette=colours, dither=0) for image in images]
    stream = BytesIO()
    times = [shot.ms // 10 * 10 for shot in film]  # hundredths of a second are what it counts in
    frames[0].save(stream, "gif", save_all=True, append_images=frames[1:], duration=times, loop=0, optimize=False)
    return stream.getvalue()


def _colour_table(images: list[Any]) -> Any:
    """One table of colours for all frames, made of a few of them: with one for each, things would flicker."""
    whole = images[0].resize((images[0].width, sum(image.height for image in images)))
    top = 0
    for image in images:
        whole.paste(image, (0, top))
        top += image.height
    return whole.quantize(255, kmeans=2, dither=0)


def mp4(stage: Stage) -> bytes:
    """The film as H.264 in MP4, which browsers and slides play. ImportError naming the extra when PyAV is missing."""
    try:
        import av
        from PIL import Image
    except ImportError as missing:
        raise ImportError(MISSING) from missing
    stream = BytesIO()
    film = shots(stage)
    with av.open(stream, "w", format="mp4") as container:
        track: Any = None
        for shot, image in zip(film, _images(stage, film, "mp4"), strict=True):
            if track is None:
                track = container.add_stream("libx264", rate=FRAMES)
                track.width, track.height = image.width + image.width % 2, image.height + image.height % 2
                track.pix_fmt, track.options = "yuv420p", {"crf": "18", "preset": "veryfast"}
                ground = Image.new("RGB", (track.width, track.height), stage.background)  # sides must be even
            ground.paste(image)
            for _ in range(max(1, round(shot.ms * FRAMES / 1000))):
                container.mux(track.encode(av.VideoFrame.from_image(ground)))
        container.mux(track.encode())
    return stream.getvalue()


def animated_svg(stage: Stage, label: str) -> str:
    """The film as SVG that moves by itself, also as the picture of a page; what knows no motion shows the end.

    Each thing is drawn once for every form that it takes, and is seen at the steps at which it has that form.
    """
    film = shots(stage)
    starts, at = [], 0
    for shot in film:
        starts.append(at)
        at += shot.ms
    total = at
    sheets: dict[tuple[int, bool, bool], list[str]] = {}
    seen: dict[str, list[int]] = {}  # what is drawn, and in which shots
    order: list[str] = []
    for n, shot in enumerate(film):
        key = shot.step, shot.part is not None, shot.now
        if key not in sheets:
            sheets[key] = pieces(picture(stage, shot))
            order = _merged(order, sheets[key])
        for piece in sheets[key]:
            seen.setdefault(piece, []).append(n)
    lines = [opening(stage.at(0), stage.background, label)]
    for piece in order:
        times = _times(seen[piece], starts, total)
        hidden = "" if len(film) - 1 in seen[piece] else ' visibility="hidden"'
        lines.append(piece if times is None else f"<g{hidden}>{_animate('visibility', *times, total)}{piece}</g>")
    lines += _travellers(stage, film, starts, total)
    return "\n".join([*lines, "</g>\n</svg>\n"])


def _merged(order: list[str], more: list[str]) -> list[str]:
    """Both lists in one, where each keeps its order: what is new stands before what it stood before."""
    known, result, at = set(order), [], 0
    places = {piece: i for i, piece in enumerate(order)}
    for piece in more:
        if piece in known:
            upto = places[piece] + 1
            if upto > at:
                result += order[at:upto]
                at = upto
        else:
            known.add(piece)
            result.append(piece)
    return result + order[at:]


def _times(shown: list[int], starts: list[int], total: int) -> tuple[list[str], list[float]] | None:
    """When something is visible and when it is not, as values and shares of the whole; None where it always is."""
    inside = set(shown)
    states = ["visible" if n in inside else "hidden" for n in range(len(starts))]
    turns = [n for n, state in enumerate(states) if not n or state != states[n - 1]]
    return None if len(inside) == len(starts) else ([states[n] for n in turns], [starts[n] / total for n in turns])


def _animate(attribute: str, values: list[str], times: list[float], total: int) -> str:
    keys = ";".join(f"{time:.5f}".rstrip("0").rstrip(".") or "0" for time in times)
    return (
        f'<animate attributeName="{attribute}" values="{";".join(values)}" keyTimes="{keys}" calcMode="discrete" '
        f'dur="{total}ms" repeatCount="indefinite"/>'
    )


def _travellers(stage: Stage, film: list[Shot], starts: list[int], total: int) -> list[str]:
    """The dots that are gradients on their way."""
    dots = []
    lasting = f'dur="{total}ms" repeatCount="indefinite"'
    for step in dict.fromkeys(shot.step for shot in film if shot.part is not None):
        parts = [n for n, shot in enumerate(film) if shot.step == step and shot.part is not None]
        times = _times(parts, starts, total)
        assert times is not None
        begin, end = (f"{starts[n] / total:.5f}" for n in (parts[0], parts[-1] + 1))
        for points in stage.ways(step):
            motion = (
                f'<animateMotion path="{way(points, stage.plane.sideways)}" keyPoints="0;0;1;1" '
                f'keyTimes="0;{begin};{end};1" calcMode="linear" {lasting}/>'
            )
            dots.append(
                f'<circle r="5" fill="{stage.colours["flow"]}" visibility="hidden">'
                f"{_animate('visibility', *times, total)}{motion}</circle>"
            )
    return dots
