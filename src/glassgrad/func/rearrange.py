"""Dimensions split, exchanged and joined by a pattern that names them: ``rearrange(x, "(h w) c -> c h w", h=4)``."""

from __future__ import annotations

import re
from math import prod
from typing import Any

from ..core.row import TABLE
from ..core.tensor import Tensor

_REST = "…"
Groups = list[list[str]]


class DimensionBindError(Exception):
    """A pattern's dimensions do not fit the sizes of a tensor."""


def rearrange(tensor: Any, pattern: str, **axes_lengths: int) -> Tensor:
    """A tensor with its dimensions in another order, split and joined, as a pattern says; a sequence is stacked first.

    Names in parentheses share a dimension, which ``axes_lengths`` of all of them but one split on the left of ``->``;
    ``...`` stands for all dimensions in its place, ``1`` and ``()`` for one of size 1.  A view where memory allows it.
    ValueError for a pattern that cannot be read, DimensionBindError for sizes that do not fit it.
    Source: https://docs.pytorch.org/docs/stable/func.api.html
    """
    if not isinstance(tensor, Tensor):
        tensor = TABLE["stack"].caller(tensor, 0)
    left, right = _sides(pattern, axes_lengths)
    shape = tuple(tensor.shape)  # type: ignore[attr-defined]
    left, right = _with_rest(left, right, len(shape))
    sizes = _sizes(left, shape, axes_lengths)
    names = [name for group in left for name in group]
    split = tensor.reshape([sizes[name] for name in names])  # type: ignore[attr-defined]
    moved = split.permute([names.index(name) for group in right for name in group])
    return moved.reshape([prod(sizes[name] for name in group) for group in right])  # type: ignore[no-any-return]


def _sides(pattern: str, axes_lengths: dict[str, Any]) -> tuple[Groups, Groups]:
    """The names on both sides of a pattern, by dimension."""
    halves = pattern.split("->")
    if len(halves) != 2:
        raise ValueError("Pattern must contain a single '->' separator")
    left, right = map(_groups, halves)
    sets = [{name for group in side for name in group} for side in (left, right)]
    if [_REST] not in left and _REST in sets[0]:
        raise ValueError(f"Ellipsis is parenthesis in the left side is not allowed: {pattern}")
    if _REST in sets[1] - sets[0]:
        raise ValueError(f"Ellipsis found in right side, but not left side of a pattern {pattern}")
    if one_sided := sets[0] ^ sets[1]:
        raise ValueError(f"Identifiers only on one side of rearrange expression (should be on both): {one_sided}")
    if unknown := axes_lengths.keys() - sets[0]:
        raise ValueError(f"Identifiers not found in rearrange expression: {unknown}")
    for length in axes_lengths.values():
        if not isinstance(length, int):
            raise TypeError(f"rearrange axis lengths must be integers, got: {type(length)}")
    return left, right


def _groups(side: str) -> Groups:
    """The names on one side: those in parentheses together, ``1`` and ``()`` as none."""
    if side.replace("...", "", 1).count("."):
        more = "; only one ellipsis for tensor " if "..." in side else ""
        raise ValueError(f"Expression may contain dots only inside ellipsis (...){more}")
    groups: Groups = []
    within = False
    seen: set[str] = set()
    for word in re.findall(f"[(){_REST}]|[^\\s(){_REST}]+", side.replace("...", _REST)):
        if word == "(":
            if within:
                raise ValueError("Axis composition is one-level (brackets inside brackets not allowed)")
            groups.append([])
        elif word == ")" and not within:
            raise ValueError("Brackets are not balanced")
        elif word != ")":
            name = _checked(word, seen)
            if not within:
                groups.append([])
            groups[-1] += name
        within = within if word not in "()" else word == "("
    if within:
        raise ValueError(f"Imbalanced parentheses in expression: '{side}'")
    return groups


def _checked(word: str, seen: set[str]) -> list[str]:
    """A word as a name; none where it is 1."""
    if strange := re.search(rf"[^\w{_REST}]", word):
        raise ValueError(f"Unknown character '{strange[0]}'")
    if word.isdecimal():
        if word != "1":
            raise ValueError("rearrange only supports unnamed axes of size 1")
        return []
    if word != _REST and not word.isidentifier():
        raise ValueError(f"Invalid axis identifier: {word}\nnot a valid python identifier")
    if word[0] == "_" or word[-1] == "_":
        raise ValueError(f"Invalid axis identifier: {word}\naxis name should should not start or end with underscore")
    if word in seen:
        raise ValueError(f"Indexing expression contains duplicate dimension '{word}'")
    seen.add(word)
    return [word]


def _with_rest(left: Groups, right: Groups, ndim: int) -> tuple[Groups, Groups]:
    """Both sides with a name for each dimension that ``...`` stands for."""
    named = len(left)
    if [_REST] not in left:
        if named != ndim:
            raise ValueError(
                f"Number of dimensions in pattern ({named}) must be equal to the number of dimensions in the tensor "
                f"({ndim})"
            )
        return left, right
    if named - 1 > ndim:
        raise ValueError(
            f"Number of dimensions in pattern ({named - 1}) must be less than or equal to the number of dimensions in "
            f"the tensor ({ndim})"
        )
    rest = [f"{_REST}{number}" for number in range(ndim - named + 1)]

    def spread(side: Groups) -> Groups:
        whole: Groups = []
        for group in side:
            if group == [_REST]:
                whole += [[name] for name in rest]
            else:
                whole.append([part for name in group for part in (rest if name == _REST else [name])])
        return whole

    return spread(left), spread(right)


def _sizes(left: Groups, shape: tuple[int, ...], lengths: dict[str, int]) -> dict[str, int]:
    """The size of each name, from those of the dimensions that the names on the left share."""
    sizes = dict(lengths)
    for group, size in zip(left, shape, strict=True):
        open_ = [name for name in group if name not in lengths]
        known = prod(lengths[name] for name in group if name in lengths)
        if len(open_) > 1:
            raise DimensionBindError(f"cannot infer the sizes of two dimensions at once {open_[0]} and {open_[1]}")
        if open_ and (not known or size % known):
            factors = tuple([lengths.get(name, "?") for name in group])
            raise DimensionBindError(
                f"inferred dimension does not evenly fit into larger dimension: {size} vs {factors}"
            )
        if open_:
            sizes[open_[0]] = size // known
        elif known != size:
            raise DimensionBindError(
                f"Dimension sizes to do not match ({size} != {known}) when matching dimension pack ({', '.join(group)})"
            )
    return sizes
