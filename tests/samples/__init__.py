"""Sample calls of every operation: by mathematics, as rows are; each call is used by all the laws.

A sample names a public function ("add", "nn.functional.relu"), a method ("Tensor.view") or an internal row
("row.sum_dim"), and gives its arguments.  ``t(2, 3)`` stands for a floating tensor of that shape, made anew for each
law, dtype and engine.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True)
class T:
    """A tensor still to be made: shape, kind of values, and what is special about its layout.

    kind    "float" (takes the law's dtype; carries gradients), "int", "bool", or "complex"
    low, high   the range of the values; ``away`` keeps them that far from the integers and from each other
    layout  None, "transposed" (the last two dimensions), "strided" (every second element), "expanded" (the first)
    grad    whether a float tensor requires gradients
    """

    shape: tuple[int, ...]
    kind: str = "float"
    low: float = -2.0
    high: float = 2.0
    away: float = 0.0
    layout: str | None = None
    grad: bool = True
    values: Any = None

    def array(self, rng: np.random.Generator, dtype: str) -> np.ndarray[Any, Any]:
        """The values, C-contiguous."""
        if self.values is not None:
            found = np.array(self.values)
            return found.astype(dtype) if self.kind == "float" else found
        if self.kind == "int":
            return rng.integers(int(self.low), int(self.high), self.shape, dtype=np.int64)
        if self.kind == "bool":
            return rng.integers(0, 2, self.shape).astype(bool)
        size = int(np.prod(self.shape))
        if self.away:  # distinct values, none near an integer or half-integer: kinks and ties stay out of the way
            steps = (rng.permutation(size) + 0.5) / max(size, 1)
            found = self.low + steps * (self.high - self.low)
            near = np.abs(found * 2 - np.round(found * 2)) < 2 * self.away
            found = np.where(near, found + 2 * self.away, found).reshape(self.shape)
        else:
            found = rng.uniform(self.low, self.high, self.shape)
        if self.kind == "complex":
            found = found + 1j * rng.uniform(self.low, self.high, self.shape)
            return found.astype("complex128" if dtype == "float64" else "complex64")
        return found.astype(dtype)


def t(*shape: int, **how: Any) -> T:
    """A floating tensor."""
    return T(shape, **how)


def positive(*shape: int, **how: Any) -> T:
    """A floating tensor of values from 0.2 to 2.5."""
    return T(shape, low=0.2, high=2.5, **how)


def ints(*shape: int, low: int = 0, high: int = 3, **how: Any) -> T:
    """An int64 tensor."""
    return T(shape, kind="int", low=low, high=high, **how)


def mask(*shape: int) -> T:
    """A bool tensor."""
    return T(shape, kind="bool")


def given(values: Any, kind: str = "int", **how: Any) -> T:
    """A tensor of just these values."""
    return T(np.shape(values), kind=kind, values=values, **how)


@dataclass(frozen=True)
class Sample:
    """One call: ``name(*args, **kwargs)``.

    pick      which outputs count ("all", or a tuple of indices), where some mean nothing (ties)
    gradient  False where the operation is not differentiable
    second    False only where torch itself refuses a second derivative
    inplace   True to try the in-place variant too (``add_``)
    rtol      relative tolerance of values in float32; only for sums of many terms, with the reason in ``why``
    slope     False where only symmetric inputs mean anything, which a step in any direction leaves; or where the
              result is too coarse for differences
    only      dtypes tried, where not all of float32 and float64
    reference a function of arrays, for an operation that PyTorch lacks: the laws ask it for value, dtype and shape,
              and finite differences for both orders of gradients
    """

    name: str
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = field(default_factory=dict)
    label: str = ""
    gradient: bool = True
    second: bool = True
    slope: bool = True
    inplace: bool = False
    names: bool = True
    rtol: float = 0.0
    why: str = ""
    only: tuple[str, ...] = ("float32", "float64")
    reference: Callable[..., Any] | None = None

    @property
    def in_torch(self) -> bool:
        """Whether PyTorch has this call, to be compared with; an internal row is compared through public functions."""
        return self.reference is None and not self.name.startswith("row.")

    @property
    def id(self) -> str:
        """How pytest calls it."""
        return f"{self.name}[{self.label}]" if self.label else self.name


def sample(name: str, *args: Any, label: str = "", **rest: Any) -> Sample:
    """A sample; keyword arguments named as fields of ``Sample`` set them, the rest go to the call."""
    fields = {f for f in Sample.__dataclass_fields__ if f not in ("name", "args", "kwargs", "label")}
    own = {key: rest.pop(key) for key in list(rest) if key in fields}
    return Sample(name, args, rest, label or _label(args, rest), **own)


def _label(args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    parts = ["x".join(map(str, a.shape)) or "0d" if isinstance(a, T) else str(a) for a in args]
    parts += [f"{key}={value}" for key, value in kwargs.items() if not isinstance(value, T)]
    return ",".join(parts)[:60]


def all_samples() -> list[Sample]:
    """Every sample of every file, in order."""
    found: list[Sample] = []
    for module in sorted(pkgutil.iter_modules(__path__), key=lambda m: m.name):
        found += importlib.import_module(f"{__name__}.{module.name}").SAMPLES
    return found
