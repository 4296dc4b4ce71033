"""The scripts of README and of docs/why.md are answered as these pages show."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SHOWN = re.compile(
    r"<!-- train.py -->\n```python\n(.*?)```.*?```console\n\$ glassgrad why train.py\n(.*?)```", re.DOTALL
)


def test_the_answer_is_the_one_that_readme_shows(tmp_path):
    script, answer = SHOWN.search((ROOT / "README.md").read_text(encoding="utf-8")).groups()
    (tmp_path / "train.py").write_text(script)
    command = [sys.executable, "-m", "glassgrad", "why", "--glassgrad", "train.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and done.stdout == ""
    assert done.stderr == answer


def test_every_kind_of_finding_is_on_the_page():
    source = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "src/glassgrad/watch").glob("*.py"))
    kinds = set(re.findall(r'yield Finding\(\s*"([a-z_ ]+)"', source))
    assert len(kinds) >= 15
    page = (ROOT / "docs/why.md").read_text(encoding="utf-8")
    assert not {kind for kind in kinds if f"`{kind}`" not in page}
