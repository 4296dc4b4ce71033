"""Roof: the ``torch.quasirandom`` namespace: points that fill a cube evenly, in the order SciPy's Sobol engine has.

Source: https://docs.pytorch.org/docs/stable/generated/torch.quasirandom.SobolEngine.html
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .core.tensor import wrap
from .families.random.functions import randint
from .ground import dtypes
from .ground.generator import Generator

__all__ = ["SobolEngine"]


def _points(dimension: int) -> Any:
    """SciPy's engine, whose direction numbers are PyTorch's; asked for the first point, which is the origin."""
    try:
        from scipy.stats import qmc
    except ImportError as error:
        raise ImportError("SobolEngine takes its numbers from SciPy: pip install 'glassgrad[special]'") from error
    points = qmc.Sobol(dimension, scramble=False, bits=SobolEngine.MAXBIT)
    points.random(1)  # alone: asked for more at first, SciPy wants a power of two
    return points


class SobolEngine:
    """A scrambled or plain Sobol sequence in up to 21201 dimensions; the numbers are PyTorch's for the same seed."""

    MAXBIT = 30
    MAXDIM = 21201

    def __init__(self, dimension: int, scramble: bool = False, seed: int | None = None) -> None:
        if dimension > self.MAXDIM or dimension < 1:
            raise ValueError(f"Supported range of dimensionality for SobolEngine is [1, {self.MAXDIM}]")
        self.seed, self.scramble, self.dimension = seed, scramble, dimension
        self._engine = _points(dimension)
        self._rows: Any = None
        self.shift = wrap(np.zeros(dimension, np.int64))
        if scramble:
            self._scramble()
        self.quasi: Any = wrap(self.shift._array.copy())
        self._first_point = (self.quasi / 2**self.MAXBIT).reshape(1, -1)
        self.num_generated = 0

    def draw(self, n: int = 1, out: Any = None, dtype: Any = None) -> Any:
        """The next ``n`` points, as rows."""
        kind = dtypes.default() if dtype is None else dtype
        first = self.num_generated == 0
        count = n - 1 if first else n
        if count < 0:
            raise RuntimeError(f"Trying to create tensor with negative dimension {count}: [{count}, {self.dimension}]")
        if kind not in (dtypes.float32, dtypes.float64) and not (first and n == 1):
            raise NotImplementedError(f"\"_sobol_engine_draw\" not implemented for '{kind.scalar_name}'")
        values = self._next(count)
        if first and n == 1:
            result = self._first_point.to(kind)
        else:
            rows = values.astype(kind.numpy) * kind.numpy.type(2.0**-self.MAXBIT)
            if first:
                rows = np.concatenate([self._first_point._array.astype(kind.numpy), rows])
            result = wrap(rows)
        self.num_generated += n
        if out is not None:
            out.resize_as_(result).copy_(result)
            return out
        return result

    def draw_base2(self, m: int, out: Any = None, dtype: Any = None) -> Any:
        """The next ``2**m`` points, which keep the balance of the sequence; ValueError where they would not."""
        n = 2**m
        total = self.num_generated + n
        if total & (total - 1):
            raise ValueError(
                "The balance properties of Sobol' points require n to be a power of 2. "
                f"{self.num_generated} points have been previously generated, then: n={self.num_generated}+2**{m}="
                f"{total}. If you still want to do this, please use 'SobolEngine.draw()' instead."
            )
        return self.draw(n=n, out=out, dtype=dtype)

    def reset(self) -> SobolEngine:
        """Begin the sequence anew."""
        self._engine = _points(self.dimension)
        self.quasi = wrap(self.shift._array.copy())
        self.num_generated = 0
        return self

    def fast_forward(self, n: int) -> SobolEngine:
        """Pass over ``n`` points."""
        steps = n - 1 if self.num_generated == 0 else n
        if steps > 0:
            self._engine.fast_forward(steps - 1)
            self._next(1)
        self.num_generated += n
        return self

    def _next(self, count: int) -> Any:
        """The next points but the first of all, as whole numbers below 2**30; the last of them is kept."""
        if not count:
            return np.zeros((0, self.dimension), np.int64)
        values = (self._engine.random(count) * 2**self.MAXBIT).astype(np.int64)
        if self._rows is not None:
            values = self._mixed(values) ^ self.shift._array
        self.quasi = wrap(values[-1].copy())
        return values

    def _scramble(self) -> None:
        """Draw a shift, and for each dimension a triangular matrix of bits that mixes those of a point."""
        generator = None if self.seed is None else Generator().manual_seed(self.seed)
        bits = self.MAXBIT
        shift = randint(2, (self.dimension, bits), generator=generator)
        self.shift = wrap(shift._array @ (1 << np.arange(bits)))
        matrices = np.tril(randint(2, (self.dimension, bits, bits), generator=generator)._array)
        matrices[:, range(bits), range(bits)] = 1
        self._rows = matrices @ (1 << np.arange(bits)[::-1])

    def _mixed(self, values: Any) -> Any:
        """Each point's bits multiplied by the matrix of its dimension, modulo two."""
        mixed = np.zeros_like(values)
        for row in self._rows.T:
            parity = values & row
            for half in (16, 8, 4, 2, 1):
                parity = parity ^ (parity >> half)
            mixed = (mixed << 1) | (parity & 1)
        return mixed

    def __repr__(self) -> str:
        text = f"dimension={self.dimension}" + (", scramble=True" if self.scramble else "")
        return f"{type(self).__name__}({text}{'' if self.seed is None else f', seed={self.seed}'})"
