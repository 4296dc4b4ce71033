"""Settings of the compiler's tests: small arrays are deferred too, without loops as well, and each test runs twice.

Once programs are replayed; once every call is compared with the function as it is written (``verify=1``), and a
difference is an error. Tests marked ``replays`` look at replays themselves, of which the second way has none.
"""

import warnings

import pytest

from glassgrad.compiler import function

from .both_ways import small_ones_too


def pytest_configure(config):
    config.addinivalue_line("markers", "replays: looks at what is replayed; not run with verify=1")


def pytest_generate_tests(metafunc):
    ways = ["replayed"] if metafunc.definition.get_closest_marker("replays") else ["replayed", "verified"]
    metafunc.parametrize("_way", ways, indirect=True)


@pytest.fixture(autouse=True)
def _way(request, monkeypatch):
    small_ones_too(monkeypatch.setattr)
    if request.param == "replayed":
        yield
        return
    init = function.Compiled.__init__

    def verified(self, *args, **settings):
        init(self, *args, **settings)
        self.verify = self.verify or 1

    monkeypatch.setattr(function.Compiled, "__init__", verified)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="compile: ")
        yield
