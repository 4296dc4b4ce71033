"""A plugin of pytest: each test runs as the inside of one compiled function, which defers what it can, of any size.

    pytest -p tests.compiler.deferred tests/ops tests/nn

What operations, layers and optimizers do that nobody hears meets lazy tensors so.  Tests that ask whether anybody
listens fail, and no others may.
"""

import pytest

from glassgrad.compiler import function

from .both_ways import small_ones_too

deferred = [0]


def pytest_configure():
    small_ones_too()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call():
    state = function.Compiled(lambda: None)
    with state.deferring():
        outcome = yield
    deferred[0] += state.deferred
    return outcome


def pytest_sessionfinish(session):
    if not deferred[0] and not hasattr(session.config, "workerinput"):
        session.exitstatus = pytest.ExitCode.NO_TESTS_COLLECTED


def pytest_terminal_summary(terminalreporter):
    terminalreporter.write_line(f"{deferred[0]:,} operations were deferred")
