"""Packages that were written for PyTorch run on glassgrad, and their numbers are those that PyTorch gave.

Each script of ``work/`` runs as ``glassgrad run`` does it, where the package is installed (``packages.py`` installs).
"""

import json
import sys
from importlib import metadata

import pytest

from tests.ecosystem.packages import NEEDS, WORK, part
from tests.ecosystem.record import RECORDED, differences, run

pytestmark = [pytest.mark.ecosystem, pytest.mark.once]
NUMBERS = json.loads(RECORDED.read_text())


def absent(name):
    """What a script needs and is not installed."""
    installed = {package.name.replace("_", "-").lower() for package in metadata.distributions() if package.name}
    packages = [need.partition("==")[0] for need in NEEDS[name]]
    return [package for package in packages if package.replace("_", "-").lower() not in installed]


@pytest.mark.parametrize("name", sorted(NEEDS))
def test_a_package_gives_pytorchs_numbers(name):
    if packages := absent(name):
        pytest.skip(f"not installed: {', '.join(packages)}; python -m tests.ecosystem.packages install")
    ours, *_ = run([sys.executable, "-m", "glassgrad", "run"], name)
    assert differences(ours, NUMBERS[name]["shown"]) == []


def test_every_script_has_its_numbers_and_says_what_it_needs():
    scripts = {path.stem.removeprefix("run_") for path in WORK.glob("run_*.py")}
    assert scripts == set(NEEDS) == set(NUMBERS)
    assert all(NUMBERS[name]["shown"] for name in NEEDS)


def test_parts_are_all_of_it():
    assert sorted(part(0, 3) + part(1, 3) + part(2, 3)) == sorted(NEEDS)
    assert "torch" not in {need.partition("==")[0] for needs in NEEDS.values() for need in needs}


def test_differences_are_seen():
    assert differences({"a": [1.0, float("nan")]}, {"a": [1.00001, float("nan")]}) == []
    assert differences([1.0, 2], [1.0, 3]) == ["[1]: 2 != 3"]
    assert differences({"a": 1}, {"b": 1}) and differences([1], [1, 2]) and differences("x", "y")
