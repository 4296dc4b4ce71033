"""First uses survive Ctrl-C, signal handlers that compute, and forks, at whatever line these come."""

import os
import signal
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork") or not hasattr(signal, "raise_signal"), reason="no fork here")


def disturbed(*arguments):
    """The cases that failed, and how many there were of each kind."""
    command = [sys.executable, "-m", "tests.reliability.first_use", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1200)
    assert done.returncode == 0, done.stderr
    *failed, counts = done.stdout.splitlines()
    return failed, [int(count) for count in counts.split()]


@pytest.mark.parametrize("what", ["families", "lines", "call"])
def test_first_use(what):
    failed, counts = disturbed(what, "interrupt", "signal", "fork")
    assert failed == []
    assert len(counts) == 3 and min(counts) >= 25


def test_interrupted_while_the_package_is_imported():
    failed, counts = disturbed("package", "interrupt")
    assert failed == []
    assert counts[0] >= 30


NUMBA = """
import signal
import glassgrad as torch
from glassgrad.kernels import compiled

torch.softmax(torch.ones(3), 0)
answers = []


class Disturb:
    def find_spec(self, name, path=None, target=None):
        if name == "{module}" and not answers:
            answers.append(None)
            signal.raise_signal(signal.{signal})


def handler(number, frame):
    answers.append(round(torch.softmax(torch.ones(100_000), 0).sum().item(), 3))


signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGUSR1, handler)
import sys
sys.meta_path.insert(0, Disturb())
try:
    answers.append(round(torch.softmax(torch.ones(100_000), 0).sum().item(), 3))
except KeyboardInterrupt:
    pass
assert compiled.least != compiled.NEVER
answers.append(round(torch.softmax(torch.ones(100_000), 0).sum().item(), 3))
print(*answers, compiled.softmax.__name__)
"""


@pytest.mark.parametrize("name", ["SIGINT", "SIGUSR1"])
@pytest.mark.parametrize("module", ["numba", "numba.core.types", "numba.core.typing", "numba.np.ufunc"])
def test_disturbed_while_numba_is_imported(name, module):
    """The compiled kernels are there afterwards; a handler is served without them."""
    pytest.importorskip("numba")
    script = NUMBA.format(module=module, signal=name)
    environment = {**os.environ, "GLASSGRAD_NUMBA": "now"}  # three numbers are for NumPy
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, env=environment)
    assert done.returncode == 0, done.stderr
    times = 1 if name == "SIGINT" else 3
    assert done.stdout.split() == ["None", *["1.0"] * times, "glassgrad.families.softmax.native"]


def test_a_lock_that_python_lost_count_of(monkeypatch):
    """Before Python 3.12 an import that a signal handler's import interrupts may end in a KeyError of the thread."""
    from glassgrad.ground import importing

    import_module, asked = importing.import_module, []

    def once_lost(name, package=None):
        asked.append(name)
        if len(asked) == 1:
            raise KeyError(importing.get_ident())
        return import_module(name, package)

    monkeypatch.setattr(importing, "import_module", once_lost)
    assert importing.load("glassgrad.families.pad.rows").constant_pad_nd is not None
    assert len(asked) == 2
