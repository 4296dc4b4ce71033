"""The plugin for pytest: every test is recorded, and one that fails is given the cause beside its traceback."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from .armed import answer_to, engines
from .command import report
from .watch import Watch

try:
    import pytest
except ImportError:  # then nobody loads the plugin
    __all__: list[str] = []
else:
    __all__ = ["pytest_configure", "pytest_runtest_call", "pytest_runtest_makereport"]
    _watches = pytest.StashKey[list[Watch]]()

    def pytest_configure(config: Any) -> None:
        """Let the program's own watch go: each test has one of its own."""
        from .armed import THIS

        THIS.disarm()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(item: Any) -> Iterator[None]:
        """Watch and record one test."""
        item.stash[_watches] = watches = [Watch(engine, record_from=0) for engine in engines()]
        with contextlib.ExitStack() as stack:
            for watch in watches:
                stack.enter_context(watch)
            return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(item: Any, call: Any) -> Iterator[None]:
        """Add the cause to the report of a test that failed."""
        outcome: Any = yield
        if call.when == "call" and call.excinfo is not None:
            said = answer_to(call.excinfo.value, call.excinfo.tb, item.stash.get(_watches, []))
            if said is not None:
                outcome.sections.append(("glassgrad why", report([said])))
        return outcome
