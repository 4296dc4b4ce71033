"""CONTRIBUTING's ladder is climbed: each block is put where its first line says, in a copy, and each command is run."""

import ast
import os
import re
import shutil
import subprocess
import sys

from tests.docs.test_blocks import FENCE, ROOT

WHERE = re.compile(r"# ((?:src|tests)/\S+\.py)(?:, in place of (\w+))?\n")


def replaced(text, name, block):
    """A file's text with a function, its decorators too, written anew."""
    (function,) = (node for node in ast.parse(text).body if getattr(node, "name", None) == name)
    first = min(node.lineno for node in (function, *function.decorator_list))
    lines = text.splitlines(keepends=True)
    return "".join([*lines[: first - 1], block, *lines[function.end_lineno :]])


def climb(steps, copy):
    """Do what each block says: (language, text) in order."""
    environment = {**os.environ, "PYTHONPATH": str(copy / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    environment.pop("PYTEST_ADDOPTS", None)  # which may name the files of this run
    environment["PATH"] = os.pathsep.join([os.path.dirname(sys.executable), environment["PATH"]])
    printed = ""
    for language, text in steps:
        placed = WHERE.match(text) if language == "python" else None
        if placed:
            file, block = copy / placed[1], text[placed.end() :]
            if placed[2]:
                block = replaced(file.read_text(encoding="utf-8"), placed[2], block)
            else:
                assert not file.exists(), f"{placed[1]} is there already"
            file.parent.mkdir(exist_ok=True)
            file.write_text(block, encoding="utf-8")
        elif language == "text":
            assert printed == text
        else:
            command = [sys.executable, "-c", text] if language == "python" else ["bash", "-euc", text]
            done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, check=False)
            assert done.returncode == 0, f"{text}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
            assert "no tests ran" not in done.stdout
            printed = done.stdout


def test_the_ladder_can_be_climbed(tmp_path):
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    ladder = page[page.index("\n## A ladder") : page.index("\n## Reporting")]
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    for file in ("pyproject.toml", "README.md"):
        shutil.copy(ROOT / file, tmp_path)
    for file in sorted((ROOT / "tests").glob("*.py")):  # the laws, without the samples of all that is there
        (tmp_path / "tests").mkdir(exist_ok=True)
        shutil.copy(file, tmp_path / "tests")
    for folder in ("samples", "nn"):
        (tmp_path / "tests" / folder).mkdir()
        shutil.copy(ROOT / "tests" / folder / "__init__.py", tmp_path / "tests" / folder)
    steps = [(block[1], block[2]) for block in FENCE.finditer(ladder)]
    assert [language for language, _ in steps].count("bash") == 3
    climb(steps, tmp_path)
