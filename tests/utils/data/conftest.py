"""No test here runs for longer than a minute: a hang fails."""

import signal

import pytest


class Hangs(BaseException):
    """No Exception, so that nothing on the way takes it for one of its own."""


@pytest.fixture(autouse=True)
def _bounded():
    def stop(*_):
        raise Hangs

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(60)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)
