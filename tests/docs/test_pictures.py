"""The pictures of transforms are what the script beside them draws."""

import runpy

from tests.docs.test_blocks import ROOT

PICTURES = ROOT / "docs" / "pictures"


def test_pictures_of_transforms_are_as_drawn():
    drawn = runpy.run_path(str(PICTURES / "transforms.py"))["drawn"]()
    page = (ROOT / "docs" / "differentiate.md").read_text(encoding="utf-8")
    assert len(drawn) == 5
    for name, data in drawn.items():
        assert (PICTURES / name).read_bytes() == data, f"{name}: python docs/pictures/transforms.py draws it anew"
        assert f"pictures/{name}" in page
