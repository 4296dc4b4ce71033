"""`glassgrad install-alias`, in virtual environments of its own."""

import os
import subprocess
import venv
import zipfile
from pathlib import Path

import ml_dtypes
import numpy
import pytest

import glassgrad

pytestmark = pytest.mark.once


class Environment:
    """A virtual environment with glassgrad and what it needs, and nothing else."""

    def __init__(self, folder):
        venv.create(folder, symlinks=os.name != "nt")
        self.python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
        self.packages = Path(self.run("-c", "import sysconfig; print(sysconfig.get_path('purelib'))").stdout.strip())
        for package in (numpy, ml_dtypes, glassgrad):
            home = Path(package.__file__).parent
            (self.packages / home.name).symlink_to(home)
            if (home.parent / f"{home.name}.libs").exists():
                (self.packages / f"{home.name}.libs").symlink_to(home.parent / f"{home.name}.libs")

    def run(self, *line, **more):
        kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
        kept["XDG_CONFIG_DIRS"] = os.devnull  # the settings of pip that the machine has are not the test's
        return subprocess.run([self.python, *line], capture_output=True, text=True, timeout=120, env=kept, **more)

    def files(self):
        return {str(path.relative_to(self.packages)) for path in self.packages.glob("torch*/**/*")}


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    return Environment(tmp_path_factory.mktemp("an environment"))  # pip parts its settings at spaces


ASK = """
import importlib.metadata, importlib.util, sys
print(importlib.util.find_spec("torch") is not None, importlib.metadata.version("torch"))
from functorch import vmap
import torch.nn as nn
from torchviz import make_dot
from torch.utils.data import DataLoader
print(nn.Linear, sys.modules["torch"].__name__, make_dot.__module__, DataLoader.__module__)
"""


def test_plain_python_uses_glassgrad_until_it_is_removed(environment, tmp_path):
    assert "No module named 'torch'" in environment.run("-c", "import torch").stderr
    put = environment.run("-m", "glassgrad", "install-alias")
    assert (put.returncode, put.stdout) == (0, f"torch is glassgrad now, by {environment.packages}\n"), put.stderr
    script = tmp_path / "train.py"
    script.write_text(ASK)
    done = environment.run(str(script))
    version = glassgrad.torch_version.__version__
    answer = "<class 'torch.nn.modules.linear.Linear'> torch glassgrad.explore.dot torch.utils.data.dataloader"
    assert done.stdout == f"True {version}\n{answer}\n", done.stderr
    again = environment.run("-m", "glassgrad", "install-alias")
    assert again.returncode == 0
    assert {"torch/nn/functional.pyi", "torch/py.typed"} <= environment.files()
    removed = environment.run("-m", "glassgrad", "install-alias", "--remove")
    assert (removed.returncode, removed.stdout) == (0, f"torch was removed from {environment.packages}\n")
    assert not environment.files()
    twice = environment.run("-m", "glassgrad", "install-alias", "--remove")
    assert twice.returncode == 1 and "there is no torch of glassgrad in" in twice.stderr


def test_record_names_every_file(environment):
    environment.run("-m", "glassgrad", "install-alias")
    ask = "import importlib.metadata as m; print(*[f.locate().exists() for f in m.files('torch')])"
    listed = environment.run("-c", ask).stdout.split()
    environment.run("-m", "glassgrad", "install-alias", "--remove")
    assert len(listed) > 50 and set(listed) == {"True"}


def wheel(folder, name, version, needs=""):
    """A package of no files but what pip reads of it."""
    info = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as file:
        needs = needs and f"Requires-Dist: {needs}\n"
        file.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needs}")
        file.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        file.writestr(f"{info}/RECORD", "")


def test_pip_brings_no_other_torch(environment, tmp_path):
    environment.run("-m", "ensurepip", "--default-pip")
    for version, torch in (("1.0", "2.13.0"), ("2.0", "99.0")):
        wheel(tmp_path, "onlooker", version, f"torch=={torch}")
    wheel(tmp_path, "torch", "99.0")
    wheel(tmp_path, "glassgrad", glassgrad.RELEASE)  # which pip does not know of a package that was linked
    environment.run("-m", "glassgrad", "install-alias")
    install = ("-m", "pip", "install", "--no-index", "--find-links", str(tmp_path))
    newest = environment.run(*install, "onlooker", "-q")
    asked = environment.run(*install, "onlooker==2.0")
    listed = environment.run("-m", "pip", "list", "--format", "freeze").stdout
    environment.run("-m", "pip", "uninstall", "-y", "onlooker")
    removed = environment.run("-m", "glassgrad", "install-alias", "--remove")
    assert newest.returncode == removed.returncode == 0, newest.stderr
    assert asked.returncode == 1 and "onlooker 2.0 depends on torch==99.0" in asked.stdout
    assert {"onlooker==1.0", "torch==2.13.0+glassgrad"} <= {*listed.split()}
    assert environment.run(*install, "torch==99.0").returncode == 0  # nothing of it is left
    environment.run("-m", "pip", "uninstall", "-y", "torch", "glassgrad")


def test_the_environment_s_own_settings_of_pip_are_left_alone(environment):
    settings = environment.python.parents[1] / ("pip.ini" if os.name == "nt" else "pip.conf")
    settings.write_text("[install]\nquiet = 1\n")
    environment.run("-m", "glassgrad", "install-alias")
    environment.run("-m", "glassgrad", "install-alias", "--remove")
    assert settings.read_text() == "[install]\nquiet = 1\n"
    settings.unlink()


def test_what_was_written_into_the_settings_of_pip_since_stays(environment):
    settings = environment.python.parents[1] / ("pip.ini" if os.name == "nt" else "pip.conf")
    environment.run("-m", "glassgrad", "install-alias")
    with settings.open("a") as file:
        file.write("quiet = 1\n")
    environment.run("-m", "glassgrad", "install-alias", "--remove")
    assert settings.read_text() == "[install]\nquiet = 1\n"
    settings.unlink()


#: Runs the command where no file may grow beyond so many bytes, as on a full disk.
FULL = """
import resource, signal, sys
from glassgrad.cli import main
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), int(sys.argv[1])))
sys.exit(main(sys.argv[2:]))
"""


@pytest.mark.skipif(os.name != "posix", reason="limits the size of files as POSIX does")
def test_a_full_disk_leaves_all_as_it_was(environment):
    settings = environment.python.parents[1] / "pip.conf"
    full = ["-B", "-c", FULL]
    for size in (100, 400, 5000):  # the record; a stub; the largest of them
        done = environment.run(*full, str(size), "install-alias")
        assert done.returncode == 1 and "File too large" in done.stderr, (size, done)
        assert not environment.files() and not settings.exists()
    environment.run("-m", "glassgrad", "install-alias")
    with settings.open("a") as file:
        file.write("quiet = 1\n")
    before = settings.read_text()
    done = environment.run(*full, "8", "install-alias", "--remove")
    assert done.returncode == 1 and settings.read_text() == before
    environment.run("-m", "glassgrad", "install-alias", "--remove")
    assert settings.read_text() == "[install]\nquiet = 1\n" and not environment.files()
    settings.unlink()


def test_a_torch_that_is_there_is_left_alone(environment):
    home = environment.packages / "torch"
    home.mkdir()
    (home / "__init__.py").write_text("real = True")
    try:
        done = environment.run("-m", "glassgrad", "install-alias")
        assert done.returncode == 1
        assert done.stderr == f"glassgrad install-alias: another torch is installed: {home / '__init__.py'}\n"
        assert sorted(path.name for path in home.iterdir()) == ["__init__.py"]
    finally:
        (home / "__init__.py").unlink()
        home.rmdir()


def test_a_torchviz_that_is_there_is_left_alone(environment):
    home = environment.packages / "torchviz.py"
    home.write_text("real = True")
    try:
        environment.run("-m", "glassgrad", "install-alias")
        assert not (environment.packages / "torchviz").exists()
        environment.run("-m", "glassgrad", "install-alias", "--remove")
        assert home.exists()
    finally:
        home.unlink()


@pytest.mark.parametrize("line", [("-m", "glassgrad", "run"), ()])
def test_every_python_that_a_program_starts_has_torch(environment, tmp_path, line):
    script = tmp_path / "parent.py"
    script.write_text("import subprocess, sys\nsubprocess.run([sys.executable, sys.argv[1]])")
    child = tmp_path / "child.py"
    child.write_text(ASK)
    if not line:
        environment.run("-m", "glassgrad", "install-alias")
    done = environment.run(*line, str(script), str(child))
    if not line:
        environment.run("-m", "glassgrad", "install-alias", "--remove")
    version = glassgrad.torch_version.__version__
    answer = "<class 'torch.nn.modules.linear.Linear'> torch glassgrad.explore.dot torch.utils.data.dataloader"
    assert done.stdout == f"True {version}\n{answer}\n", done.stderr


def test_another_python_keeps_its_own_torch(environment, tmp_path):
    """A Python without glassgrad, started by a program under ``glassgrad run``."""
    venv.create(tmp_path / "other", symlinks=os.name != "nt")
    other = tmp_path / "other" / environment.python.relative_to(environment.python.parents[1])
    folder = subprocess.run(
        [other, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], capture_output=True, text=True
    )
    script = tmp_path / "parent.py"
    script.write_text(
        "import subprocess, sys\nsubprocess.run([sys.argv[1], '-c', 'import torch; print(torch.__file__)'])"
    )
    done = environment.run("-m", "glassgrad", "run", str(script), str(other))
    assert "ModuleNotFoundError: No module named 'torch'" in done.stderr
    own = Path(folder.stdout.strip()) / "torch.py"
    own.write_text("")
    done = environment.run("-m", "glassgrad", "run", str(script), str(other))
    assert done.stdout == f"{own}\n", done.stderr


def test_the_version_is_that_of_the_package():
    standing = Path(glassgrad.__file__).parent / "standing"
    version = glassgrad.torch_version.__version__
    text = (standing / f"torch-{version}.dist-info" / "METADATA").read_text()
    assert f"\nVersion: {version}\n" in text
