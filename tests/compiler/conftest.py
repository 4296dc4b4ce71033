"""Settings of the compiler's tests: small functions are deferred too, or little would be tried."""

import pytest

from glassgrad.compiler import function


@pytest.fixture(autouse=True)
def _always(monkeypatch):
    monkeypatch.setattr(function, "TRIED", 10**9)
