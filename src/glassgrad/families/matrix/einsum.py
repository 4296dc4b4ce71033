"""Sums of products in Einstein's notation: read, then contracted pair by pair, each pair as one batch of products.

Every operand is brought to one order of dimensions: first those of the output, then those that are summed away, with
size 1 where it lacks one.  Then the first two operands become one until one is left.
"""

from __future__ import annotations

import math
import operator
from functools import lru_cache
from typing import Any, NoReturn

from ...core.tensor import Tensor
from ...ground import dtypes
from ...ops.declare import composite
from ..index.rows import diagonal
from ..shape.rows import permute, reshape, unsqueeze, view
from .batch import bmm

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_ELLIPSIS = "."
_USAGE = (
    "einsum(): must specify the equation string and at least one operand, or at least one operand and its subscripts "
    "list"
)


@composite(method=False, page="torch")
def einsum(*args: Any) -> Tensor:
    """The sum of products that an equation such as ``"ij,jk->ik"`` describes, or lists of subscripts after operands."""
    equation, values = _arguments(args)
    for function, numbers, settings in _recipe(equation, tuple([operand._array.shape for operand in values])):
        values.append(function(*[values[number] for number in numbers], *settings))
    return values[-1]


@lru_cache(maxsize=256)
def _recipe(equation: str, shapes: tuple[tuple[int, ...], ...]) -> list[tuple[Any, tuple[int, ...], tuple[Any, ...]]]:
    """The operations that an equation takes on operands of these shapes; each adds a value to the operands.

    An operation is a function, the numbers of the values that it is given, and its settings.
    """
    inputs, written = _read(equation, len(shapes))
    pairs = list(zip(inputs, map(len, shapes), strict=True))
    dims = [_labelled(labels, ndim, number) for number, (labels, ndim) in enumerate(pairs)]
    output = None if written is None else _read_output(*written, inputs)
    widest = max(ndim - _letters(labels) for labels, ndim in pairs)
    positions, n_kept = _positions(inputs, output, max(widest, 0))
    _check_sizes(dims, shapes)
    recipe = _Recipe(shapes)
    aligned = [recipe.aligned(number, labels, positions) for number, labels in enumerate(dims)]
    recipe.contract(aligned, n_kept, len(positions))
    return recipe.steps


# -- reading ----------------------------------------------------------------------------------------------------------


def _arguments(args: tuple[Any, ...]) -> tuple[str, list[Tensor]]:
    """The equation and the operands, whichever way they were given."""
    if len(args) < 2:
        raise ValueError(_USAGE)
    if isinstance(args[0], Tensor):
        return _from_lists(args)
    equation, operands = args[0], list(args[1:])
    if not isinstance(equation, str):
        raise TypeError(f"einsum(): argument 'equation' (position 1) must be str, not {dtypes.called(equation)}")
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = list(operands[0])
    for index, operand in enumerate(operands):
        if not isinstance(operand, Tensor):
            raise TypeError(f"expected Tensor as element {index} in argument 1, but got {dtypes.called(operand)}")
    return equation, operands


def _from_lists(args: tuple[Any, ...]) -> tuple[str, list[Tensor]]:
    output = len(args) % 2
    written = ["".join(map(_letter, subscripts)) for subscripts in args[1::2]]
    equation = ",".join(written)
    if output:
        return equation + "->" + "".join(map(_letter, args[-1])), list(args[:-1:2])
    return equation, list(args[::2])


def _letter(number: Any) -> str:
    if number is Ellipsis:
        return "..."
    if not (number >= 0 and number < len(_LETTERS)):
        raise ValueError("einsum(): subscript in subscript list is not within the valid range [0, 52)")
    return _LETTERS[number]


def _refuse(message: str) -> NoReturn:
    raise RuntimeError(f"einsum(): {message}")


def _read(equation: str, count: int) -> tuple[list[list[str]], tuple[str, int] | None]:
    """The labels of each operand; the output as the equation tells it, and where: an ellipsis is one label."""
    left, arrow, right = equation.partition("->")
    inputs: list[list[str]] = [[]]
    skip = 0
    for index, sign in enumerate(left):
        if skip:
            skip -= 1
        elif sign == ".":
            if _ELLIPSIS in inputs[-1]:
                _refuse(f"found '.' for operand {len(inputs) - 1} for which an ellipsis was already found")
            if left[index : index + 3] != "...":
                _refuse(f"found '.' for operand {len(inputs) - 1} that is not part of any ellipsis")
            inputs[-1].append(_ELLIPSIS)
            skip = 2
        elif sign == ",":
            inputs.append([])
            if len(inputs) > count:
                _refuse("fewer operands were provided than specified in the equation")
        elif sign != " ":
            inputs[-1].append(_subscript(sign, index))
    if len(inputs) < count:
        _refuse("more operands were provided than specified in the equation")
    return inputs, (right, len(left) + 2) if arrow else None


def _subscript(sign: str, index: int) -> str:
    if sign not in _LETTERS:
        _refuse(f"invalid subscript given at index {index} in the equation string, subscripts must be in [a-zA-Z]")
    return sign


def _read_output(right: str, start: int, inputs: list[list[str]]) -> list[str]:
    seen = {label for labels in inputs for label in labels}
    output: list[str] = []
    skip = 0
    for index, sign in enumerate(right):
        if skip:
            skip -= 1
        elif sign == ".":
            if _ELLIPSIS in output:
                _refuse("found '.' for output but an ellipsis (...) was already found")
            if right[index : index + 3] != "...":
                _refuse("found '.' for output that is not part of any ellipsis (...)")
            output.append(_ELLIPSIS)
            skip = 2
        elif sign != " ":
            label = _subscript(sign, start + index)
            if label in output:
                _refuse(f"output subscript {label} appears more than once in the output")
            if label not in seen:
                _refuse(f"output subscript {label} does not appear in the equation for any input operand")
            output.append(label)
    return output


def _letters(labels: list[str]) -> int:
    """How many dimensions the letters of an operand name; all of them where there is no ellipsis."""
    return len(labels) - 1 if _ELLIPSIS in labels else len(labels)


def _labelled(labels: list[str], ndim: int, number: int) -> list[Any]:
    """One label for each dimension: a letter, or for those of the ellipsis a number counted from its end."""
    named = _letters(labels)
    if _ELLIPSIS in labels:
        if named > ndim:
            _refuse(
                f"the number of subscripts in the equation ({named}) is more than the number of dimensions ({ndim}) "
                f"for operand {number}"
            )
        at = labels.index(_ELLIPSIS)
        return [*labels[:at], *range(-(ndim - named), 0), *labels[at + 1 :]]
    if named != ndim:
        _refuse(
            f"the number of subscripts in the equation ({named}) does not match the number of dimensions ({ndim}) for "
            f"operand {number} and no ellipsis was given"
        )
    return list(labels)


def _positions(inputs: list[list[str]], output: list[str] | None, widest: int) -> tuple[dict[Any, int], int]:
    """The position of every label in the common order, the output's first, and how many those are."""
    every = [label for labels in inputs for label in labels]
    if output is None:
        letters = sorted({label for label in every if every.count(label) == 1 and label != _ELLIPSIS})
        output = [_ELLIPSIS, *letters] if _ELLIPSIS in every else letters
    ellipsis = [*range(-widest, 0)] if _ELLIPSIS in every else []
    kept: list[Any] = [part for label in output for part in (ellipsis if label == _ELLIPSIS else [label])]
    summed = [*([] if _ELLIPSIS in output else ellipsis), *sorted(set(every) - {_ELLIPSIS} - set(kept))]
    return {label: position for position, label in enumerate(kept + summed)}, len(kept)


def _check_sizes(dims: list[list[Any]], shapes: tuple[tuple[int, ...], ...]) -> None:
    """Raise PyTorch's error unless every letter has one size, or 1."""
    seen: dict[Any, int] = {}
    for number, (labels, shape) in enumerate(zip(dims, shapes, strict=True)):
        own: dict[Any, int] = {}
        for label, size in zip(labels, shape, strict=True):
            if own.setdefault(label, size) != size:
                _refuse(
                    f"subscript {label} is repeated for operand {number} but the sizes don't match, {size} != "
                    f"{own[label]}"
                )
        for label, size in own.items():
            before = seen.get(label, 1)
            if before != 1 and size != 1 and before != size:
                if isinstance(label, int):
                    _refuse(
                        f"dimension {labels.index(label)} covered by ellipsis in operand {number}has size {size} which "
                        f"does not broadcast with previously seen ellipsis with size {before} for the respective "
                        "dimension"
                    )
                _refuse(
                    f"subscript {label} has size {size} for operand {number} which does not broadcast with previously "
                    f"seen size {before}"
                )
            if before == 1:
                seen[label] = size


# -- contracting ------------------------------------------------------------------------------------------------------


def _summed(value: Any, dims: list[int], keepdim: bool) -> Tensor:
    return value.sum(dims, keepdim=keepdim)  # type: ignore[no-any-return]


class _Recipe:
    """Operations that are written down: values are numbers, whose shapes are known."""

    def __init__(self, shapes: tuple[tuple[int, ...], ...]) -> None:
        self.shapes = list(shapes)
        self.steps: list[tuple[Any, tuple[int, ...], tuple[Any, ...]]] = []

    def add(self, function: Any, numbers: tuple[int, ...], shape: Any, *settings: Any) -> int:
        """Note an operation; gives the number of the value of this shape that it makes."""
        self.steps.append((function, numbers, settings))
        self.shapes.append(tuple(shape))
        return len(self.shapes) - 1

    def permuted(self, value: int, order: tuple[int, ...]) -> int:
        """A value with its dimensions in another order."""
        return self.add(permute, (value,), [self.shapes[value][dim] for dim in order], order)

    def summed(self, value: int, dims: list[int]) -> int:
        """A value summed over dimensions, which stay with size 1."""
        if not dims:
            return value
        shape = [1 if dim in dims else size for dim, size in enumerate(self.shapes[value])]
        return self.add(_summed, (value,), shape, dims, True)

    def aligned(self, value: int, labels: list[Any], positions: dict[Any, int]) -> int:
        """An operand in the common order: repeated letters read along their diagonal, missing ones with size 1."""
        labels = list(labels)
        at = 0
        while at < len(labels):
            first = labels.index(labels[at])
            if first < at:
                shape = list(self.shapes[value])
                size = shape.pop(at)
                del shape[first]
                value = self.add(diagonal, (value,), [*shape, size], 0, first, at)
                last = len(shape)
                value = self.permuted(value, (*range(first), last, *range(first, last)))
                del labels[at]
            else:
                at += 1
        order = [-1] * len(positions)
        for dim, label in enumerate(labels):
            order[positions[label]] = dim
        for position, dim in enumerate(order):
            if dim < 0:
                shape = [*self.shapes[value], 1]
                value = self.add(unsqueeze, (value,), shape, len(shape) - 1)
                order[position] = len(shape) - 1
        return self.permuted(value, tuple(order))

    def contract(self, operands: list[int], n_kept: int, count: int) -> None:
        """The operands become one, pair by pair; the first dimensions are kept."""
        holders = [sum(self.shapes[operand][dim] != 1 for operand in operands) for dim in range(count)]
        result = operands[0]
        for operand in operands[1:]:
            both: list[int] = []
            alone: tuple[list[int], list[int]] = ([], [])
            n, m = self.shapes[result], self.shapes[operand]
            for dim in range(n_kept, count):
                if n[dim] != 1 and m[dim] != 1:
                    holders[dim] -= 1
                    if holders[dim] == 1:
                        both.append(dim)
                        holders[dim] = 0
                elif holders[dim] == 1 and (n[dim] != 1 or m[dim] != 1):
                    alone[n[dim] == 1].append(dim)
                    holders[dim] = 0
            result = self.joined(self.summed(result, alone[0]), self.summed(operand, alone[1]), both)
        if count == n_kept:
            return
        kept = self.shapes[result][:n_kept]
        if len(operands) > 1:
            self.add(view, (result,), kept, kept)
        else:
            self.add(_summed, (result,), kept, list(range(n_kept, count)), False)

    def joined(self, left: int, right: int, both: list[int]) -> int:
        """The product of two aligned operands summed over ``both``: a batch of matrix products, dimensions kept."""
        n, m = self.shapes[left], self.shapes[right]
        if not both:
            return self.add(operator.mul, (left, right), [a if b == 1 else b for a, b in zip(n, m, strict=True)])
        apart = [dim for dim in range(len(n)) if dim not in both]
        batch = [dim for dim in apart if n[dim] != 1 and m[dim] != 1]
        first = [dim for dim in apart if n[dim] != 1 and m[dim] == 1]
        second = [dim for dim in apart if n[dim] == 1]
        if first and second and second[-1] < first[0]:  # so that the product lies in memory in the wanted order
            left, right, n, m, first, second = right, left, m, n, second, first
        size = math.prod(n[dim] for dim in batch)
        length = math.prod(n[dim] for dim in both)
        height, width = math.prod(n[dim] for dim in first), math.prod(m[dim] for dim in second)
        order = (*batch, *first, *both, *second)
        a, b = self.permuted(left, order), self.permuted(right, (*batch, *both, *second, *first))
        sizes = tuple([*(n[d] for d in batch), *(n[d] for d in first), *(1 for _ in both), *(m[d] for d in second)])
        a = self.add(reshape, (a,), (size, height, length), (size, height, length))
        b = self.add(reshape, (b,), (size, length, width), (size, length, width))
        product = self.add(view, (self.add(bmm, (a, b), (size, height, width)),), sizes, sizes)
        return self.permuted(product, tuple([order.index(dim) for dim in range(len(order))]))
