"""A program of its own: signals at random moments of first uses, and forks while threads are at work.

    python -m tests.reliability.storm compute|raise|fork [--count N]

compute   every millisecond a handler computes, while operations are first used in a random order; Numba compiles
raise     every few milliseconds a handler raises; what was interrupted is asked for again
fork      threads first use operations and compute on; this one forks, and the child computes and ends

It prints what did not survive, one line each, and how many there were.
"""

import random
import signal
import sys
import threading
from functools import partial

from tests.reliability.first_use import in_child, want


class Interrupted(BaseException):
    """What the handler raises."""


def families():
    """All families, in a random order."""
    from glassgrad.ops import catalogue

    return random.sample([*catalogue.ROWS, *catalogue.COMPOSED], len(catalogue.ROWS) + len(catalogue.COMPOSED))


def compute():
    """A value and a gradient, by small kernels and by those that Numba compiles."""
    import glassgrad as torch

    with torch.enable_grad():  # which a handler may find off
        x = torch.full((70_000,), 0.5, requires_grad=True)
        (torch.softmax(x, 0) * x.exp().digamma()).sum().backward()
        assert bool((x.grad - x.grad[0]).abs().max() < 1e-6), "gradients of equal numbers differ"


def signalled(raises, uses=3):
    """First uses of a few families, and a computation, under a storm of signals."""
    busy = [False]

    def handler(number, frame):
        if raises:
            raise Interrupted
        if not busy[0]:
            busy[0] = True
            try:
                compute()
            finally:
                busy[0] = False

    chosen = families()[:uses]
    signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.001, 0.005 if raises else 0.001)
        for wish in (*[partial(want, family) for family in chosen], compute):
            for _ in range(20):
                try:
                    wish()
                    break
                except Interrupted:
                    pass
    except Interrupted:
        pass
    finally:
        for _ in range(2):
            try:
                signal.setitimer(signal.ITIMER_REAL, 0)
            except Interrupted:  # by the last signal, in this very line
                pass
    for family in chosen:
        want(family)
    compute()
    from glassgrad.ground import modes

    assert modes.grad_enabled()


def forked(forks=10):
    """Children of a process whose threads first use operations and compute."""
    ended = threading.Event()

    def work():
        for family in families():
            want(family)
            compute()
            if ended.is_set():
                return

    threads = [threading.Thread(target=work, daemon=True) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(forks):
            answer = in_child(compute)
            assert "error" not in answer, answer["error"]
    finally:
        ended.set()
        for thread in threads:
            thread.join()


def main(how, count=30):
    """Run so many cases, each in a process of its own."""
    import glassgrad  # noqa: F401

    cases = {"compute": partial(signalled, False), "raise": partial(signalled, True), "fork": forked}
    for number in range(count):
        seed = random.randrange(1 << 30)

        def case(seed=seed):
            random.seed(seed)
            cases[how]()

        answer = in_child(case)
        if "error" in answer:
            print(number, seed, answer["error"] if "-v" in sys.argv else answer["error"].strip().rpartition("\n")[2])
    print(count)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[sys.argv.index("--count") + 1]) if "--count" in sys.argv else 30)
