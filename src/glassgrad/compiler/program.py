"""What was captured, as data: values, and the steps that make them from each other in the order they were taken."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..core.tensor import Tensor
from ..ground import dtypes
from ..ground.device import device
from ..ground.nested import leaves
from ..ground.size import Size
from ..kernels.native.formulas import Formula, formula_of

#: Python values that cannot change; floating ones aside, whose zeros and NaN are compared otherwise.
ATOMS = frozenset([int, bool, str, bytes, type(None), dtypes.dtype, device, type(...), Size, type])
MISS = object()  # what a program answers that does not fit the call, and a comparison of another call


class Value:
    """An array of the program: where it comes from, and what its array was like when it was captured.

    ``source`` is "argument", "outside" (a tensor that was there before the call, read anew at each run), "gradient"
    (that of a leaf which was there), "constant" or "made" (by a step).  ``held`` is the tensor from outside, the leaf,
    the constant, or the number of the argument.
    """

    __slots__ = ("number", "shape", "dtype", "dense", "source", "held", "is_array", "holder")

    def __init__(self, number: int, array: Any, source: str, held: Any = None) -> None:
        self.number, self.source, self.held = number, source, held
        self.holder = ""  # the name of the tensor that holds it, where the program needs that itself: a gradient
        self.shape: tuple[int, ...] = array.shape
        self.dtype: np.dtype[Any] = array.dtype
        self.is_array = type(array) is np.ndarray
        self.dense = not self.is_array or array.flags.c_contiguous

    @property
    def size(self) -> int:
        """The number of elements."""
        total = 1
        for n in self.shape:
            total *= n
        return total

    @property
    def name(self) -> str:
        """How the program calls it."""
        return f"v{self.number}"

    def __repr__(self) -> str:
        return f"{self.name}:{self.dtype}{list(self.shape)}"


@dataclass(slots=True, eq=False)
class Step:
    """One thing that the program does.

    kind       "kernel": ``function(*operands)`` on arrays, which gives fresh ones; "view": one that gives views;
               "tensors": a function of tensors; "optimizer": a step of ``function``; "gradient": what is done to the
               ``.grad`` of an outside tensor: "set", "add" or "clear"
    operands   values, plain Python constants, and tuples, lists and dicts of them
    results    the values that it makes
    acts       whether it changes anything but its results
    draws      whether it takes random numbers
    """

    kind: str
    name: str
    function: Any
    operands: tuple[Any, ...]
    results: tuple[Value, ...] = ()
    named: dict[str, Any] = field(default_factory=dict)
    acts: bool = False
    draws: bool = False
    several: bool = False  # whether the function gives a tuple
    call: Any = None  # of an optimizer: the ``step`` that was called

    @property
    def inputs(self) -> list[Value]:
        """The values among the operands."""
        return leaves((self.operands, self.named), Value)


def tensors_in(tree: Any) -> list[Tensor]:
    """The tensors in nested tuples, lists, dicts and slices, in order."""
    return leaves(tree, Tensor)


def version(tensor: Tensor) -> int:
    """How often a tensor's memory was written to."""
    return 0 if tensor._counter is None else tensor._counter.version


def is_number(value: Value) -> bool:
    """Whether a value is a single number."""
    return value.shape == ()


def is_numeric(value: Any) -> bool:
    """Whether an operand has a place in a formula: a value, or a plain number."""
    return isinstance(value, (Value, int, float)) and not isinstance(value, bool)


class NotCapturable(Exception):  # noqa: N818  it is no error of the user's
    """Why a function runs as it is written instead."""


def given_to(step: Step) -> tuple[Formula | None, dict[str, Any]]:
    """The formula of a step that calls a row, and its operands by name; no formula where there is none."""
    row = step.function
    if not hasattr(row, "inputs"):
        return None, {}
    bindings = dict(zip((*row.inputs, *row.settings), step.operands, strict=False))
    return formula_of(row, {name: bindings[name] for name in row.settings if name in bindings}), bindings
