"""Pictures in pixels."""

from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from glassgrad.explore import Dot, make_dot
from glassgrad.explore.paint import raster
from glassgrad.explore.sheet import Arrow, Box, Picture, sheet

PAIR = Picture((Box("leaf", ("weight", "(2, 3)")), Box("op", ("AccumulateGrad",), (("alpha", "1"),))), (Arrow(0, 1),))


def opened(data):
    return Image.open(BytesIO(data)).convert("RGB")


def test_boxes_arrows_and_letters_are_painted():
    drawn = sheet(PAIR)
    image = opened(raster(drawn))
    assert image.size == (int(drawn.width * 2), int(drawn.height * 2))
    leaf, op = drawn.panels
    assert image.getpixel((int(leaf.x * 2) + 12, int(leaf.y * 2) + 12)) == (0xAD, 0xD8, 0xE6)
    assert image.getpixel((int(op.x * 2) + 12, int(op.y * 2) + 8)) == (0xD3, 0xD3, 0xD3)
    tip = drawn.lines[0].head[0]
    assert max(image.getpixel((int(tip[0] * 2), int(tip[1] * 2) - 6))) < 0x80
    for text in (*leaf.texts, *op.texts):
        spot = image.crop([int(v * 2) for v in (text.x - 6, text.y - text.size * 0.7, text.x + 6, text.y)])
        assert np.asarray(spot).min() < 0x60, text


def test_texts_stay_inside_their_boxes():
    drawn = sheet(Picture((Box("leaf", ("MMMMWWWWiiii", "(2)")), Box("op", ("Ж漢字",))), ()))
    pixels = np.asarray(opened(raster(drawn)))
    for panel in drawn.panels:
        rows = slice(int(panel.y + 6) * 2, int(panel.y + panel.height - 6) * 2)
        for x in (panel.x + 2.5, panel.x + panel.width - 3):
            assert len(np.unique(pixels[rows, int(x * 2)], axis=0)) == 1, panel


@pytest.mark.parametrize(("format", "name"), [("png", "PNG"), ("jpg", "JPEG"), ("webp", "WEBP"), ("tif", "TIFF")])
def test_formats(engine, format, name, tmp_path):
    x = engine.ones(2, requires_grad=True)
    path = make_dot(x * x, {"x": x}).render(tmp_path / "graph", format=format)
    with Image.open(path) as image:
        assert image.format == name


def test_the_background_is_heeded():
    dot = Dot(PAIR)
    dot.graph_attr["bgcolor"] = "#102030"
    assert opened(dot.pipe("png")).getpixel((1, 1)) == (0x10, 0x20, 0x30)


def test_a_missing_pillow_names_the_extra(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "PIL", None)
    with pytest.raises(ImportError, match=r"drawing a graph as 'png' needs Pillow: pip install 'glassgrad\[png\]'"):
        Dot(PAIR).pipe("png")
    assert Dot(PAIR).pipe("svg").startswith(b"<svg")


def test_a_picture_too_large_for_pixels_says_so():
    boxes = tuple(Box("op", ("SinBackward0",)) for _ in range(2_000))
    chain = Picture(boxes, tuple(Arrow(i, i + 1) for i in range(1_999)))
    with pytest.raises(ValueError, match=r"would be \d+ x \d+,\d+ pixels, too large for 'png'"):
        Dot(chain).pipe("png")
    assert Dot(chain).pipe("svg")


def test_a_large_picture_is_painted_without_refinement():
    boxes = tuple(Box("op", ("SinBackward0",)) for _ in range(800))
    drawn = sheet(Picture(boxes, tuple(Arrow(i, i + 1) for i in range(799))))
    image = opened(raster(drawn))
    assert image.size == (round(drawn.width), round(drawn.height))
