"""What families publish is built anew, whatever was built before."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import glassgrad


@pytest.mark.once
def test_a_file_that_is_gone_does_not_keep_others_from_being_published(tmp_path):
    package = Path(glassgrad.__file__).parent
    shutil.copytree(package, tmp_path / "glassgrad", ignore=shutil.ignore_patterns("__pycache__"))
    contents = tmp_path / "glassgrad/ops/contents.py"
    before = contents.read_text(encoding="utf-8")
    entry = '    "linalg.gone":\n        "gone | | | |",\n'
    contents.write_text(before.replace("COMPOSED = {\n", f"COMPOSED = {{\n{entry}"), encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "glassgrad.ops.publish"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "wrote ops/contents.py\n" and contents.read_text(encoding="utf-8") == before


@pytest.mark.once
def test_what_was_never_built_is_built_when_it_is_first_imported(tmp_path):
    package = Path(glassgrad.__file__).parent
    shutil.copytree(package, tmp_path / "glassgrad", ignore=shutil.ignore_patterns("__pycache__"))
    built = [tmp_path / "glassgrad/ops/contents.py", tmp_path / "glassgrad/ops/layers.py"]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
    script = "import glassgrad; print(glassgrad.__file__, (glassgrad.ones(1) * 2).item(), glassgrad.nn.Linear.__name__)"
    for missing in (built, built[1:]):  # nothing was built, or by an older publish.py
        before = [path.read_text(encoding="utf-8") for path in built]
        for path in missing:
            path.unlink()
        command = [sys.executable, "-c", script]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert done.stdout.split() == [str(tmp_path / "glassgrad/__init__.py"), "2.0", "Linear"], done.stderr
        assert [path.read_text(encoding="utf-8") for path in built] == before
