"""Elementwise operations on large arrays: shared out among several threads, or written over what a rule has made."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from ..kernels import compiled

ndarray = np.ndarray
#: Elements from which on an elementwise operation goes this way: below, all lies in the cache of one core.
LARGE = 1 << 17 if compiled.least else 0
#: The same for the functions that polynomials compute.
CURVED = compiled.CURVED


def applied(ufunc: Any, a: Any, b: Any = None) -> Any:
    """``ufunc`` of contiguous arrays of one shape, or of an array and a number; ``None`` for others."""
    kind = a.dtype
    if type(a) is not ndarray or kind.kind != "f" or not a.flags.c_contiguous or not a.size:
        return None
    if b is not None:
        if not b.ndim:
            b = np.asarray(b)
        elif b.shape != a.shape or not b.flags.c_contiguous:
            return None
    return _written(ufunc, np.empty(a.shape, kind), a, b)


def _written(ufunc: Any, out: Any, a: Any, b: Any) -> Any:
    if compiled.least <= out.size and (result := compiled.elementwise.apply(ufunc, out, a, b)) is not None:
        return result
    return ufunc(a, out=out) if b is None else ufunc(a, b, out=out)


# -- rules -------------------------------------------------------------------------------------------------------------


_ARITHMETIC = frozenset([np.negative, np.add, np.subtract, np.multiply, np.divide])


class Operand(NDArrayOperatorsMixin):
    """A large array in a rule: arithmetic writes over what the rule itself has made.

    ``made`` says that the rule made the array and has no name for it, so that nobody else will read it.
    """

    __slots__ = ("array", "made")

    def __init__(self, array: Any, owned: bool = False) -> None:
        self.array, self.made = array, owned

    def __array_ufunc__(self, ufunc: Any, method: str, *operands: Any, **settings: Any) -> Any:
        if ufunc not in _ARITHMETIC or method != "__call__" or settings:
            return NotImplemented
        return _together(ufunc, *operands)


def _together(ufunc: Any, *operands: Any, kernel: Any = None) -> Operand:
    """``ufunc`` of one or two operands, numbers among them: the same bits as those of ``kernel``, or NumPy's."""
    arrays = [operand.array if type(operand) is Operand else operand for operand in operands]
    large = next(array for array, operand in zip(arrays, operands, strict=True) if type(operand) is Operand)
    values = [np.array(x, large.dtype) if type(x) in (int, float) else x for x in arrays]
    if not large.size or not all(_alike(x, large) for x in values):
        return Operand((kernel or ufunc)(*arrays))
    own = (operand.array for operand in operands if type(operand) is Operand and operand.made)
    out = next(own, None)
    if out is None:
        out = np.empty(large.shape, large.dtype)
    return Operand(_written(ufunc, out, values[0], values[1] if len(values) > 1 else None), True)


def _alike(x: Any, large: Any) -> bool:
    """Whether an operand is a number of the dtype of ``large``, or its elements lie as those of a new array would."""
    if type(x) is not ndarray or x.dtype is not large.dtype:
        return False
    return not x.ndim or (x.shape == large.shape and (x.flags.c_contiguous or not any(x.strides)))


def _taken(value: Any) -> Any:
    """What a rule is given, its arrays as operands."""
    return Operand(value) if type(value) is ndarray and value.ndim and value.dtype.kind == "f" else value


def _bare(value: Any) -> Any:
    return value.array if type(value) is Operand else value


def _kernel(row: Any) -> Any:
    """A row as rules on large arrays call it."""
    ufunc = getattr(row, "ufunc", None)

    def call(*operands: Any) -> Any:
        if ufunc is not None and len(operands) == ufunc.nin and any(type(operand) is Operand for operand in operands):
            return _together(ufunc, *operands, kernel=row.kernel)
        result = row.kernel(*map(_bare, operands))
        return Operand(result) if type(result) is ndarray else result

    return call


def on_large(rule: Callable[..., Any], otherwise: Callable[..., Any]) -> Callable[..., Any]:
    """The rule of an elementwise row, bound to operands that are large arrays; ``otherwise`` is it for all others.

    Only rules without locals qualify: they name nothing but what they are given, so that each array in between has one
    reader.
    """
    code = rule.__code__
    names = rule.__globals__
    if code.co_nlocals != code.co_argcount or rule.__closure__:
        raise TypeError(f"the rule {code.co_name} has names of its own")
    lifted = {
        name: _kernel(names[name].row) if hasattr(names[name], "row") else names[name]
        for name in code.co_names
        if name in names
    }
    bound = FunctionType(code, lifted, rule.__name__, rule.__defaults__)

    def run(grad: Any, *arguments: Any) -> Any:
        if type(grad) is not ndarray:  # a sparse gradient has arithmetic of its own
            return otherwise(grad, *arguments)
        return _bare(bound(*map(_taken, (grad, *arguments))))

    return run
