"""The page that reads the source: its blocks are the files' own lines, and it leaves no file of the core out."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "source.md"
CORE = ROOT / "src" / "glassgrad" / "core"
BLOCK = re.compile(r"^<!-- (\S+) -->\n```py\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_blocks_are_the_files_own_lines():
    blocks = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    assert len(blocks) >= 12
    stale = [
        f"{path}: {code.splitlines()[0]}"
        for path, code in blocks
        if code not in (ROOT / path).read_text(encoding="utf-8")
    ]
    assert not stale, stale


def test_every_file_of_the_core_is_named():
    page = PAGE.read_text(encoding="utf-8")
    assert [
        path.name for path in CORE.glob("*.py") if path.name != "__init__.py" and f"`{path.name}`" not in page
    ] == []


def test_the_number_of_lines_is_right():
    total = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in CORE.glob("*.py")) - 1  # of __init__.py
    first = "record tensor row plan call history engine gradients fit saved leaf".split()  # not views, writes
    needed = sum(len((CORE / f"{name}.py").read_text(encoding="utf-8").splitlines()) for name in first)
    page = PAGE.read_text(encoding="utf-8")
    assert f"{total:,} lines" in page and f"{needed:,} of them" in page, (total, needed)
