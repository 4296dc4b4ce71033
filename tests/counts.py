"""How much generators try: a little, the same in every run; with ``pytest --count 10000 --seed 1`` so much that is new.

Those that are programs of their own take the same options, and ``--seconds``.
"""

from __future__ import annotations

import ctypes
import faulthandler
import itertools
import multiprocessing
import signal
import time
from argparse import ArgumentParser
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

LONGEST = 90  # seconds that a child looks at one example
#: The package whose line runs; what a child that a line ended has left here tells whose fault that is.
_at_work = multiprocessing.RawArray(ctypes.c_char, 16)
chosen = 0  # what ``--count`` says, which conftest.py puts here before any test is collected
first = 0  # what ``--seed`` says


def count(few: int) -> int:
    """How many examples to try where a few are enough for every run."""
    return chosen or few


def seeds(few: int) -> range:
    """The seeds of so many examples."""
    return range(first, first + count(few))


def generated(few: int, **more: Any) -> Any:
    """Hypothesis' settings of a generator."""
    from hypothesis import settings

    return settings(max_examples=count(few), deadline=None, derandomize=not chosen, database=None, **more)


def options(text: str | None, few: int) -> ArgumentParser:
    """What a program asks for on its command line."""
    parser = ArgumentParser(description=text)
    parser.add_argument("--count", type=int, default=few, help="how many examples to try")
    parser.add_argument("--seconds", type=float, help="how long to go on, instead")
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    return parser


def asked(said: Any) -> Iterator[int]:
    """The seeds that the options of a program ask for."""
    end = None if said.seconds is None else time.monotonic() + said.seconds
    for number in itertools.count():
        if number >= said.count if end is None else time.monotonic() > end:
            return
        yield said.seed + number


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """A block that ends the process, with a traceback, where it takes more of the processor's time."""
    faulthandler.register(signal.SIGPROF, chain=True)  # the signal's own way is to end the process
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


@contextmanager
def working(engine: Any) -> Iterator[None]:
    """A block in which a package computes; see ``ender``."""
    _at_work.value = engine.__name__.encode()
    try:
        yield
    finally:
        _at_work.value = b""


def ender() -> str:
    """The package that ended a child; "the generator" for an end between its lines, also by an error."""
    return _at_work.value.decode() or "the generator"


def outlived(numbers: Iterable[int], look: Callable[[int], Any]) -> Iterator[tuple[int, Any, int]]:
    """What ``look`` gives of each seed, and 0; or, where it ends the process or does not end, None, and the exit code.

    A child looks, another after one that ended.
    """
    child, line = _looking(look)
    for seed in numbers:
        try:
            line.send(seed)
            if not line.poll(LONGEST):
                child.kill()
            seen = line.recv()
        except (EOFError, ConnectionError):
            child.join()
            yield seed, None, child.exitcode
            _at_work.value = b""
            child, line = _looking(look)
        else:
            yield seed, seen, 0
    line.close()
    child.join()


def _looking(look: Callable[[int], Any]) -> tuple[Any, Any]:
    """A child that answers each seed that it is sent, and the line to it."""
    context = multiprocessing.get_context("fork")
    line, end = context.Pipe()
    child = context.Process(target=_answer, args=(line, end, look), daemon=True)
    child.start()
    end.close()
    return child, line


def _answer(line: Any, end: Any, look: Callable[[int], Any]) -> None:
    line.close()  # or nothing would tell that the asking process is gone
    while True:
        try:
            seed = end.recv()
        except EOFError:
            return
        end.send(look(seed))
