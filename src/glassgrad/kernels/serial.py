"""Numbers taken from the stream one after another, as PyTorch's serial kernels do: knows generators, no tensors.

How many a sampler needs is only known as it goes.  Where many are expected, a block is drawn ahead, numbers are handed
out from it, and on leaving the generator is set back to where the last one used had left it.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import cos, log1p, pi, sin, sqrt
from operator import length_hint
from typing import Any

from glassgrad.ground.generator import Generator
from glassgrad.kernels.uniform import unit64

_FEW = 64  # so many cost less one by one than saving the state and setting it back
_LARGEST = 65_536
_MASK53 = 2**53 - 1


class Stream:
    """Uniform and normal float64 numbers, one at a time, of a generator that nobody else draws from meanwhile.

    ``expected`` is about how many will be taken; a wrong guess costs time only.
    """

    def __init__(self, gen: Generator, expected: int) -> None:
        self.gen = gen
        self.block = min(expected, _LARGEST)
        self.rest: Iterator[float] = iter(())
        self.saved: Any = None
        self.size = 0

    def __enter__(self) -> Stream:
        self.gen.lock.acquire()
        self.unit = self._units().__next__ if self.block > _FEW else self._single
        return self

    def __exit__(self, *_: Any) -> None:
        try:
            unused = length_hint(self.rest)
            if unused:
                twister = self.gen.twister()
                twister.set_state(*self.saved)
                twister.random32(2 * (self.size - unused))
        finally:
            self.gen.lock.release()

    def _single(self) -> float:
        high, low = self.gen.random32(2).tolist()
        return ((high << 32 | low) & _MASK53) * 2.0**-53

    def _units(self) -> Iterator[float]:
        while True:
            self.saved = self.gen.twister().state()
            self.size = self.block
            self.rest = iter(unit64(self.gen, self.size).tolist())
            yield from self.rest

    def normal(self) -> float:
        """A standard normal number; the second of a pair waits in the generator. Source: Box and Muller (1958)."""
        gen = self.gen
        kept = gen.next_normal
        if kept is not None:
            gen.next_normal = None
            return kept
        angle = 2.0 * pi * self.unit()
        radius = sqrt(-2.0 * log1p(-self.unit()))
        gen.next_normal = radius * sin(angle)
        return radius * cos(angle)
