"""The plugin for pytest: every test is recorded, and one that fails is given the cause beside its traceback."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from ..ground.arrival import when_here
from .armed import answer_to, watch_all
from .command import report
from .watch import Watch

if "pytest" not in sys.modules:  # then nobody loads the plugin
    __all__: list[str] = []
else:
    import pytest

    __all__ = ["pytest_configure", "pytest_runtest_call", "pytest_runtest_makereport"]
    _watches = pytest.StashKey[list[Watch]]()

    def pytest_configure(config: Any) -> None:
        """Let the program's own watch go: each test has one of its own."""
        from .armed import THIS

        THIS.disarm()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(item: Any) -> Iterator[None]:
        """Watch and record one test."""
        watches: list[Watch] = []
        item.stash[_watches] = watches
        watch_all(watches, record_from=0, ask_at=None)
        alone = when_here(lambda: watch_all(watches, record_from=0, ask_at=None))
        try:
            return (yield)
        finally:
            alone()
            for watch in watches:
                watch.stop()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(item: Any, call: Any) -> Iterator[None]:
        """Add the cause to the report of a test that failed."""
        outcome: Any = yield
        if call.when == "call" and call.excinfo is not None:
            said = answer_to(call.excinfo.value, call.excinfo.tb, item.stash.get(_watches, []))
            if said is not None:
                outcome.sections.append(("glassgrad why", report([said])))
        return outcome
