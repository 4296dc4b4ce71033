"""Gives large products of matrices to kernels of our own, beside which BLAS does not wake its threads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .program import Step, Value

FEWEST = 1 << 18  # multiplications: below, BLAS does not wake its threads
MOST = 1 << 28  # beyond, blocks of the right matrix would have to be kept in the cache too
_PER_PACKED = 192  # multiplications for each number that is packed: with fewer, packing weighs too much


class Product:
    """A product of matrices, and a vector that is added to each row."""

    def __init__(self, step: Step) -> None:
        operands = step.operands
        self.step, self.result = step, step.results[0]
        self.bias: Value | None = None
        self.turned = step.name == "linear_2d"  # the right matrix is given as its transpose
        if step.name == "mm":
            self.a, self.b = operands[:2]
        else:
            self.bias, self.a, self.b = operands[:3]

    @property
    def size(self) -> int:
        """How many multiplications it is."""
        return self.result.size * self.a.shape[1]

    def fits(self) -> bool:
        """Whether it is of plain matrices, without factors."""
        step, bias = self.step, self.bias
        kind = self.result.dtype
        if kind.str not in ("<f4", "<f8") or any(v.dtype != kind or len(v.shape) != 2 for v in (self.a, self.b)):
            return False
        if any(piece != 1 for piece in step.operands[3:]):
            return False
        return bias is None or (bias.shape == self.result.shape[1:] and bias.dtype == kind and bias.dense)


def _large(steps: Sequence[Step]) -> list[Product]:
    names = ("mm", "addmm", "linear_2d")
    products = [Product(step) for step in steps if step.kind == "kernel" and step.name in names]
    return [product for product in products if product.size >= FEWEST]


def served(steps: Sequence[Step]) -> bool:
    """Whether all large products of a program can be given to the kernels, so that BLAS does not wake its threads."""
    large = _large(steps)
    if not large or any(not product.fits() or product.size > MOST for product in large):
        return False
    if sum(product.size for product in large) < sum(product.b.size for product in large) * _PER_PACKED:
        return False
    from ..kernels.native import tiles

    return tiles.HEIGHT == 8  # where vectors are of 512 bits: else BLAS is faster


def without_blas(steps: Sequence[Step]) -> None:
    """Let large products, and sums of columns, be computed without BLAS."""
    from ..families.reduce.native import columns

    for product in _large(steps):
        step = product.step
        step.name, step.function = "product", _multiplied_turned if product.turned else _multiplied
        step.operands = (product.a, product.b) if product.bias is None else (product.a, product.b, product.bias)
    for step in steps:
        if step.kind == "kernel" and step.name == "column_sums" and len(step.operands[0].shape) == 2:
            (value,) = step.operands
            if value.dtype.str in ("<f4", "<f8") and value.size >= FEWEST >> 4:
                step.function = columns


def _multiplied(a: Any, b: Any, bias: Any = None) -> Any:
    """``a @ b + bias``."""
    from ..families.matrix.native import product

    out = product(a, b, bias=None if bias is None else np.ascontiguousarray(bias))
    if out is None:
        out = np.dot(a, b)
        if bias is not None:
            out += bias
    return out


def _multiplied_turned(a: Any, b: Any, bias: Any = None) -> Any:
    return _multiplied(a, b.T, bias)
