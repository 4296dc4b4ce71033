"""The README's and the docs' Python blocks run in order, and print what the text block after them says.

CONTRIBUTING's are run by ``test_ladder.py``, in a copy of the repository that they change.
"""

import contextlib
import io
import re
from itertools import zip_longest
from pathlib import Path

import pytest

import glassgrad
from glassgrad.kernels import compiled

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def python_blocks(text):
    """Each Python block's code and first line number, with the text promised right behind it (or None)."""
    found = list(FENCE.finditer(text))
    for block, following in zip_longest(found, found[1:]):
        if block[1] == "python":
            promised = None
            if following and following[1] == "text" and not text[block.end() : following.start()].strip():
                promised = following[2]
            yield block[2], text.count("\n", 0, block.start(2)), promised


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_blocks_run_and_print_what_the_page_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    namespace = {"__name__": "__main__"}
    for code, line, promised in python_blocks(page.read_text(encoding="utf-8")):
        printed = io.StringIO()
        home = glassgrad.alias() if "import torch\n" in code else contextlib.nullcontext()  # a script as it stands
        # programs as NumPy alone runs them
        with contextlib.redirect_stdout(printed), compiled.serving(compiled.NEVER), home:
            exec(compile("\n" * line + code, str(page), "exec"), namespace)
        if promised is not None:
            assert printed.getvalue() == promised, f"{page.name}, line {line}"


def test_the_pages_hold_blocks_to_run():
    blocks = [block for page in PAGES for block in python_blocks(page.read_text(encoding="utf-8"))]
    assert sum(promised is not None for _, _, promised in blocks) >= 5


def test_a_block_is_paired_with_the_text_right_behind_it():
    page = "a\n```python\nprint(1)\n```\n\n```text\n1\n```\nb\n```python\npass\n```\nwords\n```text\nno\n```\n"
    assert list(python_blocks(page)) == [("print(1)\n", 2, "1\n"), ("pass\n", 10, None)]


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CONTRIBUTING.md"], ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    """Every relative link and picture of a page is a file of the repository."""
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), target
