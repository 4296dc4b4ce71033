"""Settings of the whole suite."""

from __future__ import annotations

import gc
import os
from importlib.util import find_spec

import pytest

from tests import counts

os.environ.setdefault("OMP_NUM_THREADS", "2")
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # tests run side by side: who waits is to leave the core to others
os.environ.setdefault("GLASSGRAD_NUMBA", "now")  # what compiled kernels give is tested, not how long NumPy serves first


def pytest_addoption(parser):
    """``--count``: how many examples each generator tries."""
    parser.addoption("--count", type=int, default=0, help="how many examples generators try, drawn anew; else a few")


def pytest_configure(config):
    """Tell the generators, which are collected after this."""
    counts.chosen = config.getoption("--count")


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
    glassgrad.set_default_dtype(glassgrad.float32)
