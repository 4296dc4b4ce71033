"""Settings of the whole suite."""

from __future__ import annotations

import gc
import os
import signal
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests import counts

os.environ.setdefault("OMP_NUM_THREADS", "2")
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # tests run side by side: who waits is to leave the core to others
os.environ.setdefault("GLASSGRAD_NUMBA", "now")  # what compiled kernels give is tested, not how long NumPy serves first
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a shell's way with what runs in the background
    signal.signal(signal.SIGINT, signal.default_int_handler)  # what tests start is to be interrupted all the same

# A second run can take what the first left out. Variables, not options: pytest is started by tests too, without ours.
WRITE_PASSED = os.environ.get("GLASSGRAD_WRITE_PASSED")  # the file for the names of the tests that passed
BUT_PASSED = os.environ.get("GLASSGRAD_BUT_PASSED")  # the file of such names, whose tests are left out
passed: set[str] = set()


def pytest_addoption(parser):
    """``--count``: how many examples each generator tries; ``--seed``: the first of their seeds."""
    parser.addoption("--count", type=int, default=0, help="how many examples generators try, drawn anew; else a few")
    parser.addoption("--seed", type=int, default=0, help="the first seed of generators that count them")


def pytest_configure(config):
    """Tell the generators, which are collected after this."""
    counts.chosen, counts.first = config.getoption("--count"), config.getoption("--seed")


def pytest_runtest_logreport(report):
    """Note which tests passed; of several processes, the one that starts the others hears of all."""
    if report.when == "call" and report.passed and not hasattr(report, "wasxfail"):
        passed.add(report.nodeid)
    elif report.failed:
        passed.discard(report.nodeid)


def pytest_sessionfinish(session):
    """Write the names down for the second run."""
    if WRITE_PASSED and not hasattr(session.config, "workerinput"):
        Path(WRITE_PASSED).write_text("\n".join(sorted(passed)), "utf-8")


def pytest_collection_modifyitems(config, items):
    """Leave out what passed before: a test that was skipped, for want of PyTorch or a browser, was not tried."""
    if BUT_PASSED:
        before = set(Path(BUT_PASSED).read_text("utf-8").split("\n"))
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid in before])
        items[:] = [item for item in items if item.nodeid not in before]


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem):
    """Where SciPy is absent, skip the tests that ask for it; the extra ``test`` brings it."""
    try:
        return (yield)
    except ImportError as error:
        if "glassgrad[special]" in str(error) and find_spec("scipy") is None:
            pytest.skip(str(error))
        raise


@pytest.fixture(autouse=True, scope="module")
def _little_to_collect():
    """What was imported and made before a file's tests stays out of the collector's sight: to collect is quick then."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def _plain_modes():
    """Every test starts with recording on and default settings, and leaves them so."""
    import glassgrad
    from glassgrad.ground import modes

    yield
    assert modes.grad_enabled(), "a test left recording switched off"
    assert not modes.off
    assert not modes.watch
    assert modes.local.anomaly is None
    glassgrad.set_default_dtype(glassgrad.float32)
