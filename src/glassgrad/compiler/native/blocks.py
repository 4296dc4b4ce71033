"""Products of matrices, and what is computed from each block of them before it leaves the cache."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numba import types

from ...families.matrix.native import product
from ...kernels.native import tiles
from ...kernels.native.binding import intrinsic, njit, wide_vectors
from ...kernels.native.memory import address
from ...kernels.native.tiles import alone
from ..formulas import given_to
from ..program import Step, Value
from .kept import SETTINGS, called_by_address, defined
from .text import filled_in, functions_for, is_numeric

_TAIL = types.void(*[types.int64] * 5)  # the first row, the last, columns likewise, and where all addresses are
_made: dict[Any, Any] = {}


def lanes(kind: np.dtype[Any]) -> int:
    """How many numbers of a dtype a vector has."""
    return tiles.lanes(kind)


@intrinsic
def _numbers(typing: Any, where: Any, one: Any) -> Any:
    """The numbers at an address, of the kind of ``one``."""
    pointer = types.CPointer(one)

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], context.get_value_type(pointer))

    return pointer(types.int64, one), code


@intrinsic
def _further(typing: Any, pointer: Any, offset: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.gep(arguments[0], [arguments[1]])

    return pointer(pointer, types.int64), code


def upright(a: Any, b: Any) -> Any:
    """``(a @ b).T``, in rows of its own."""
    found = product(b.T, a.T)
    return np.dot(b.T, a.T) if found is None else found


def product_of(
    step: Any, inside: Sequence[Step], same: set[int], others: Sequence[Value], outputs: Sequence[Value]
) -> Callable[..., Any]:
    """A function of the matrices, the bias and ``others`` that gives ``outputs``.

    inside   elementwise steps, to be taken with each block
    same     numbers of the values that are the product
    outputs  the first is where the product is put, and what is made of it in its place
    """
    title = " ".join(["product", *(["bias"] if step.bias is not None else []), *(one.name for one in inside)])
    kind, width = step.result.dtype, step.result.shape[1]
    given = ([] if step.bias is None else [step.bias]) + list(others)
    lines, names = [], dict.fromkeys(same, "t")
    if step.bias is not None:
        lines.append("t = c[j] + x0[j]")
    elif inside:
        lines.append("t = c[j]")
    names.update({value.number: f"x{n}[j]" for n, value in enumerate(given) if n or step.bias is None})
    for n, one in enumerate(inside):
        formula, operands = given_to(one)
        assert formula is not None
        texts = {
            name: names[value.number] if isinstance(value, Value) else f"number({value!r})"
            for name, value in operands.items()
            if is_numeric(value)
        }
        lines.append(f"t{n} = {filled_in(formula.text, texts)}")
        names[one.results[0].number] = f"t{n}"
    if step.bias is not None:
        names[step.bias.number] = "x0[j]"
    targets = ["c", *(f"y{n}" for n in range(1, len(outputs)))]
    lines += [f"{target}[j] = {names[value.number]}" for target, value in zip(targets, outputs, strict=True)]
    flat = tuple(len(value.shape) == 1 for value in given)
    whole = width % tiles.lanes(kind) == 0
    tail = None
    if step.bias is not None or inside:
        key = (kind.str, flat, len(outputs), tuple(lines))
        tail = _made.get(key)
        if tail is None:
            tail = _made[key] = _tail(lines, flat, len(outputs), kind)
    shapes = [value.shape for value in outputs]
    turned, empty = step.turned, np.empty
    contiguous = np.ascontiguousarray

    def multiplied(a: Any, b: Any, *arrays: Any) -> Any:
        if turned:
            b = b.T
        if tail is None:
            made = product(a, b)
            return (np.dot(a, b) if made is None else made).reshape(shapes[0])
        arrays = tuple([array if array.flags.c_contiguous else contiguous(array) for array in arrays])
        outs = [empty(shape, kind) for shape in shapes]
        where = np.array([width, *map(address, outs), *map(address, arrays)], np.int64)
        made = product(a, b, tail.address, address(where), outs[0]) if whole else product(a, b)
        if not whole or made is None:
            outs[0].reshape(-1, width)[...] = np.dot(a, b) if made is None else made
            tail.ctypes(0, len(a), 0, width, address(where))
        return outs[0] if len(outs) == 1 else tuple(outs)

    multiplied.__doc__ = f"One loop for: {title}." if tail is not None else None
    return multiplied


def _tail(lines: Sequence[str], flat: Sequence[bool], count: int, kind: np.dtype[Any]) -> Any:
    """What is done with rows of a product: a function of rows and columns, and of where all addresses are."""
    arrays = ["c", *(f"y{n}" for n in range(1, count)), *(f"x{n}" for n in range(len(flat)))]
    steps = [*([False] * count), *flat]
    text = [f"def line(width, {', '.join(arrays)}):", "    alone()", "    wide_vectors()"]
    text += ["    for j in range(width):", *(f"        {line}" for line in lines)]
    names = {
        **functions_for(kind), "alone": alone, "wide_vectors": wide_vectors, "numbers": _numbers, "further": _further,
    }  # fmt: skip
    line = defined(text, names, kind.str)
    names["line"] = njit(**SETTINGS, no_cpython_wrapper=True, no_cfunc_wrapper=True)(line)
    text = ["def tail(top, bottom, first, last, where):", "    words = numbers(where, whole)", "    width = words[0]"]
    text += [f"    {name} = numbers(words[{n}], one)" for n, name in enumerate(arrays, 1)]
    given = [
        f"further({name}, {'first' if still else 'i * width + first'})"
        for name, still in zip(arrays, steps, strict=True)
    ]
    text += ["    for i in range(top, bottom):", f"        line(last - first, {', '.join(given)})"]
    names["whole"] = np.int64(0)
    return called_by_address(defined(text, names, line.__name__), _TAIL)
