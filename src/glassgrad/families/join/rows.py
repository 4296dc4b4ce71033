"""Tensors put together and taken apart: cat and split, stack and unbind; knows arrays only."""

from __future__ import annotations

import builtins
from functools import lru_cache
from typing import Any

import numpy as np

from ...core.row import op
from ...ground import errors, layout
from ...ground.window import empty_slice, strides_of
from ...kernels.columns import not_implemented
from ..index.rows import ALL, blank, fitted, slice
from ..shape.rows import axes_of, axis_of, reshape, unsigned


def _common_axis(tensors: Any, dim: int) -> tuple[int, tuple[int, ...] | None]:
    """The dimension of ``cat`` and the shape that the others must have; PyTorch's errors where they have not."""
    for number, tensor in enumerate(tensors):
        if not tensor.ndim:
            raise RuntimeError(f"zero-dimensional tensor (at position {number}) cannot be concatenated")
    first = next((tensor for tensor in tensors if tensor.shape != (0,)), None)
    if first is None:
        return 0, None  # PyTorch asks for no dimension of empty vectors
    axis = axis_of(dim, first.ndim)
    for number, tensor in enumerate(tensors):
        if tensor.shape == (0,):
            continue
        if tensor.ndim != first.ndim:
            raise RuntimeError(f"Tensors must have same number of dimensions: got {first.ndim} and {tensor.ndim}")
        for at, (size, wanted) in enumerate(zip(tensor.shape, first.shape, strict=True)):
            if at != axis and size != wanted:
                raise RuntimeError(
                    f"Sizes of tensors must match except in dimension {axis}. Expected size {wanted} but got size "
                    f"{size} for tensor number {number} in the list."
                )
    return axis, first.shape


def _sizes_of_cat(tensors: Any, dim: Any) -> tuple[int, ...]:
    """The sizes of ``cat``, which meta tensors ask for."""
    axis, shape = _common_axis(tensors, dim)
    if shape is None:
        return tuple(tensors[0].shape)
    total = sum(tensor.shape[axis] for tensor in tensors if tensor.shape != (0,))
    return (*shape[:axis], total, *shape[axis + 1 :])


@op(
    typed="promote",
    precision="widest",
    public=False,
    hidden=("tensors_sizes",),
    shows={"dim": ("dim", unsigned)},
    stores=True,
    forward="linear",
    disjoint=("tensors",),
    sizes=_sizes_of_cat,
)
def cat(tensors: Any, /, dim: Any) -> Any:
    """The tensors one after the other along ``dim``; empty vectors are passed over."""
    try:
        joined = np.concatenate(tensors, axis=dim)
        if joined.flags.c_contiguous and (joined.ndim < 4 or 1 not in tensors[0].shape):
            return joined
        formats = {layout.suggested(tensor.shape, strides_of(tensor)) for tensor in tensors if tensor.shape != (0,)}
        shared = formats.pop() if len(formats) == 1 else "contiguous_format"
        return layout.laid(joined, layout.format_strides(joined.shape, shared))
    except ValueError:
        axis, shape = _common_axis(tensors, dim)
        if shape is None:
            return tensors[0].copy()
        return np.concatenate([tensor for tensor in tensors if tensor.shape != (0,)], axis=axis).copy(order="C")


@cat.derivative("tensors")
def _portions(grad: Any, tensors_sizes: Any, dim: Any, needs: Any) -> Any:
    """The part of the gradient that each tensor supplied."""
    at = 0
    parts: list[Any] = []
    ndim = max(len(sizes) for sizes in tensors_sizes)
    axis = dim % ndim  # asked for when they were joined, if any is more than an empty vector
    for sizes, needed in zip(tensors_sizes, needs, strict=True):
        if sizes == (0,) and ndim > 1:
            parts.append(blank(grad, (0,)) if needed else None)
            continue
        end = at + sizes[axis]
        parts.append(slice(grad, axis, at, end, 1) if needed else None)
        at = end
    return parts


@op(
    typed="promote", precision="widest", public=False, shows={"dim": ("dim", unsigned)}, stores=True, forward="linear",
    disjoint=("tensors",),
)  # fmt: skip
def stack(tensors: Any, /, dim: Any) -> Any:
    """The tensors, all of one shape, along a new dimension."""
    first = tensors[0].shape
    axis = axis_of(dim, len(first) + 1)
    for entry, tensor in enumerate(tensors):
        if tensor.shape != first:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {list(first)} at entry 0 and "
                f"{list(tensor.shape)} at entry {entry}"
            )
    if len(first) > 3 and (strides := _stacked_strides(tensors, axis)):
        return layout.laid(np.stack(tensors, axis), strides)
    if axis == 0:
        return np.array(tensors)
    out = np.empty((*first[:axis], len(tensors), *first[axis:]), tensors[0].dtype)
    np.concatenate([tensor.reshape((*first[:axis], 1, *first[axis:])) for tensor in tensors], axis, out=out)
    return out


def _stacked_strides(tensors: Any, axis: int) -> tuple[int, ...] | None:
    """Where what is stacked lies: as what is joined in the tensors' memory format, of which a dimension is split."""
    first = tensors[0].shape
    formats = {layout.suggested(first, strides_of(tensor)) for tensor in tensors}
    if axis == len(first) or len(formats) > 1 or formats == {"contiguous_format"}:
        return None
    number = len(tensors)
    strides = layout.format_strides((*first[:axis], first[axis] * number, *first[axis + 1 :]), formats.pop())
    return (*strides[:axis], strides[axis] * first[axis], *strides[axis:])


stack.derivative(tensors=lambda grad, dim: unbind(grad, dim))


@op(view=True, shows={"dim": ("dim", unsigned)}, batched="dims")
def unbind(self: Any, /, dim: int = 0) -> Any:
    """The views at every index of ``dim``, that dimension dropped."""
    if not self.ndim:
        raise IndexError(f"Dimension specified as {axis_of(dim, 0)} but tensor has no dimensions")
    axis = axis_of(dim, self.ndim)
    lead = (ALL,) * axis
    return tuple([self[(*lead, index, ...)] for index in range(self.shape[axis])])


@unbind.derivative("self")
def _stacked(grads: Any, dim: Any) -> Any:
    """The gradients side by side, zeros where none came."""
    like = next(grad for grad in grads if grad is not None)
    return stack([blank(like, like.shape) if grad is None else grad for grad in grads], dim)


def _pieces(self: Any, sizes: Any, axis: int) -> tuple[Any, ...]:
    pieces, at = [], 0
    lead = (ALL,) * axis
    for size in sizes:
        piece = self[(*lead, builtins.slice(at, at + size))]
        pieces.append(piece if size else empty_slice(self, axis, at))
        at += size
    return tuple(pieces)


def portions(count: int, size: int) -> list[int]:
    """The sizes of pieces of ``size`` that ``count`` is split into; the last may be smaller."""
    if size == 0:
        return [0]
    return [min(size, count - at) for at in range(0, count, size)] or [0]


def _joined(grads: Any, self_sizes: Any, split_size: Any, dim: Any) -> Any:
    """The gradients one after the other."""
    lengths = portions(self_sizes[axis_of(dim, len(self_sizes))], split_size)
    return cat(_all_parts(grads, self_sizes, lengths, dim), dim)


@op(view=True, public=False, shows={"dim": ("dim", unsigned)}, batched="dims")
def split(self: Any, /, split_size: Any, dim: Any = 0) -> Any:
    """Views of ``split_size`` indices of ``dim`` each; the last may be smaller."""
    if not self.ndim:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    axis = axis_of(dim, self.ndim)
    if split_size < 0:
        raise RuntimeError(f"split expects split_size be non-negative, but got split_size={split_size}")
    count = self.shape[axis]
    if split_size == 0 and count:
        raise RuntimeError(f"split_size can only be 0 if dimension size is 0, but got dimension size of {count}")
    return _pieces(self, portions(count, split_size), axis)


split.derivative(self=_joined)


_OF_SIZES: Any = {
    "view": True,
    "public": False,
    "hidden": ("split_sizes",),
    "shows": {"split_sizes": ("split_sizes", tuple), "dim": ("dim", unsigned)},
    "batched": "dims",
}


@op(**_OF_SIZES)
def split_with_sizes(self: Any, /, split_sizes: Any, dim: Any = 0) -> Any:
    """Views of so many indices of ``dim`` as ``split_sizes`` says."""
    if not self.ndim:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    axis = axis_of(dim, self.ndim)
    shown = list(split_sizes)
    if shown and min(shown) < 0:
        raise RuntimeError(
            f"split_with_sizes expects split_sizes have only non-negative entries, but got split_sizes={shown}"
        )
    if sum(shown) != self.shape[axis]:
        raise RuntimeError(
            f"split_with_sizes expects split_sizes to sum exactly to {self.shape[axis]} (input tensor's size at "
            f"dimension {dim}), but got split_sizes={shown}"
        )
    return _pieces(self, split_sizes, axis)


@split_with_sizes.derivative("self")
def _joined_sizes(grads: Any, self_sizes: Any, split_sizes: Any, dim: Any) -> Any:
    """The same, with the sizes as given."""
    return cat(_all_parts(grads, self_sizes, split_sizes, dim), dim)


@op(view=True, public=False, shows={"dim": ("dim", unsigned)}, batched="dims")
def unsafe_split(self: Any, /, split_size: Any, dim: Any = 0) -> Any:
    """What ``split`` gives, for whoever promises not to write into the pieces."""
    return split.row.kernel(self, split_size, dim)


unsafe_split.derivative(self=_joined)


@op(**_OF_SIZES)
def unsafe_split_with_sizes(self: Any, /, split_sizes: Any, dim: Any = 0) -> Any:
    """What ``split_with_sizes`` gives, for whoever promises not to write into the pieces."""
    return split_with_sizes.row.kernel(self, split_sizes, dim)


unsafe_split_with_sizes.derivative(self=_joined_sizes)


def _sized(sizes: tuple[int, ...], dim: int, size: int) -> tuple[int, ...]:
    axis = axis_of(dim, len(sizes))
    return (*sizes[:axis], size, *sizes[axis + 1 :])


def _all_parts(grads: Any, sizes: tuple[int, ...], lengths: Any, dim: int) -> list[Any]:
    """The gradients of all parts, zeros where none came."""
    like = next(grad for grad in grads if grad is not None)
    return [
        blank(like, _sized(sizes, dim, length)) if grad is None else grad
        for grad, length in zip(grads, lengths, strict=True)
    ]


@op(typed="promote", public=False, hidden=("tensors_sizes",), forward="linear")
def block_diag(tensors: Any, /) -> Any:
    """The matrix that holds the tensors as blocks on its diagonal; vectors count as rows."""
    for number, tensor in enumerate(tensors):
        if tensor.ndim > 2:
            raise RuntimeError(
                f"torch.block_diag: Input tensors must have 2 or fewer dimensions. Input {number} has {tensor.ndim} "
                "dimensions"
            )
    blocks = [tensor.reshape(_as_matrix(tensor.shape)) for tensor in tensors]
    out = np.zeros((sum(block.shape[0] for block in blocks), sum(block.shape[1] for block in blocks)), tensors[0].dtype)
    row = column = 0
    for block in blocks:
        out[row : row + block.shape[0], column : column + block.shape[1]] = block
        row, column = row + block.shape[0], column + block.shape[1]
    return out


@block_diag.derivative("tensors")
def _blocks(grad: Any, tensors_sizes: Any) -> Any:
    """Each block's part of the gradient."""
    row = column = 0
    blocks = []
    for sizes in tensors_sizes:
        rows, columns = _as_matrix(sizes)
        part = slice(slice(grad, 0, row, row + rows, 1), 1, column, column + columns, 1)
        blocks.append(reshape(part, sizes))
        row, column = row + rows, column + columns
    return blocks


def _as_matrix(sizes: tuple[int, ...]) -> tuple[int, ...]:
    return (1,) * (2 - len(sizes)) + tuple(sizes)


# -- Copies that repeat, mirror, roll or blank elements; knows arrays only.

BACKWARDS = builtins.slice(None, None, -1)


@op(public=False, stores=True, forward="linear")
def repeat(self: Any, /, repeats: Any) -> Any:
    """The tensor beside itself, so many times along every dimension; new dimensions come in front."""
    if len(repeats) < self.ndim:
        raise RuntimeError("Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor")
    if repeats and min(repeats) < 0:
        lead = len(repeats) - self.ndim
        sizes = [r * n for r, n in zip(repeats, (*(1,) * lead, *self.shape), strict=True)]
        bad = next(size for size in sizes if size < 0)
        raise RuntimeError(f"Trying to create tensor with negative dimension {bad}: {sizes}")
    tiled = np.tile(self, repeats)
    return tiled if tiled.flags.c_contiguous else tiled.copy()


repeat.derivative(
    self=lambda grad, self_sizes, repeats: reshape(
        fitted(reshape(grad, _paired(repeats, self_sizes, True)), _paired(repeats, self_sizes, False)), self_sizes
    )
)


def _paired(repeats: tuple[int, ...], sizes: tuple[int, ...], count: bool) -> tuple[int, ...]:
    """Every repeat (or 1) beside the size it repeats."""
    lead = len(repeats) - len(sizes)
    padded = (1,) * lead + tuple(sizes)
    return tuple(n for pair in zip(repeats, padded, strict=True) for n in (pair if count else (1, pair[1])))


def _sizes_of_repeated(repeats: Any, output_size: int | None) -> tuple[int, ...]:
    if output_size is None:
        raise RuntimeError("cannot repeat_interleave a meta tensor without output_size")
    return (output_size,)


@op(constant=True, public=False, sizes=_sizes_of_repeated)
def repeated(repeats: Any, /, output_size: int | None = None) -> Any:
    """Each index as often as ``repeats`` says."""
    if repeats.dtype.kind not in "iu" or repeats.dtype.itemsize < 4:
        raise not_implemented("repeat_interleave_cpu", repeats)
    if repeats.ndim != 1:
        raise RuntimeError("repeat_interleave only accept 1D vector as repeat")
    if repeats.size and repeats.min() < 0:
        raise RuntimeError("repeats can not be negative")
    indices = np.repeat(np.arange(repeats.size, dtype=repeats.dtype), np.asarray(repeats, np.intp))
    if output_size is not None and output_size != indices.size:
        raise RuntimeError("allocated size does not match required size")
    return indices


@op(public=False, shows={"dims": ("dims", unsigned)}, layout="elementwise", batched="dims", forward="linear")
def flip(self: Any, /, dims: Any) -> Any:
    """The tensor mirrored along ``dims``."""
    axes = axes_of(dims, self.ndim)
    if not self.ndim:
        return np.array(self)
    return self[tuple(BACKWARDS if axis in axes else ALL for axis in range(self.ndim))].copy(order="K")


flip.derivative(self=lambda grad, dims: flip(grad, dims))


@op(
    public=False,
    shows={"dims": ("dims", unsigned), "shifts": ("shifts", unsigned)},
    stores=True,
    forward="linear",
    batched="dims",
)
def roll(self: Any, /, shifts: Any, dims: Any = ()) -> Any:
    """The tensor with elements moved on, those that fall off coming back at the other end."""
    if not shifts:
        raise RuntimeError("`shifts` required")
    is_flat = not dims and len(shifts) == 1
    if len(dims) != len(shifts) and not is_flat:
        raise RuntimeError(f"shifts and dimensions must align. shifts: {len(shifts)}, dims:{len(dims)}")
    if not self.size:  # of which PyTorch does not ask whether it has the dimensions
        return self.copy()
    if is_flat:
        return _rolled(self.reshape(-1), shifts[0], 0).reshape(self.shape)
    axes = [axis_of(dim, self.ndim) for dim in dims]
    if not self.ndim:
        return np.array(self)
    for shift, axis in zip(shifts, axes, strict=True):
        self = _rolled(self, shift, axis)
    return self


roll.derivative(self=lambda grad, shifts, dims: roll(grad, tuple(-shift for shift in shifts), dims))


def _rolled(array: Any, shift: int, axis: int) -> Any:
    size = array.shape[axis]
    cut = -shift % size
    lead = (ALL,) * axis
    name = layout.suggested(array.shape, strides_of(array)) if cut else "contiguous_format"
    out = layout.unfilled(array.shape, layout.format_strides(array.shape, name), array.dtype)
    out[(*lead, builtins.slice(size - cut, None))] = array[(*lead, builtins.slice(0, cut))]
    out[(*lead, builtins.slice(0, size - cut))] = array[(*lead, builtins.slice(cut, None))]
    return out


@op(out=None, forward="linear", batched="dims")
def rot90(self: Any, /, k: Any = 1, dims: Any = (0, 1)) -> Any:
    """The tensor turned ``k`` times by 90 degrees in the plane of two dimensions."""
    if len(dims) != 2:
        raise RuntimeError(f"expected total rotation dims == 2, but got dims = {len(dims)}")
    if self.ndim < 2:
        raise RuntimeError(f"expected total dims >= 2, but got total dims = {self.ndim}")
    first, second = axis_of(dims[0], self.ndim), axis_of(dims[1], self.ndim)
    if first == second:
        raise RuntimeError(f"expected rotation dims to be different, but got dim0 = {dims[0]} and dim1 = {dims[1]}")
    mirrored = flip.row.kernel
    if k % 4 == 1:
        return mirrored(self, (second,)).swapaxes(first, second)
    if k % 4 == 2:
        return mirrored(self, (first, second))
    if k % 4 == 3:
        return mirrored(self, (first,)).swapaxes(first, second)
    return np.array(self, order="C")


rot90.derivative(self=lambda grad, k, dims: rot90(grad, -k, dims))


@lru_cache(64)
def _below(rows: int, columns: int, diagonal: int) -> Any:
    """Whether an element of a matrix lies on or below a diagonal."""
    mask = np.tri(rows, columns, diagonal, dtype=bool)
    mask.flags.writeable = False
    return mask


def _side(name: str, self: Any, diagonal: int) -> Any:
    if self.ndim < 2:
        raise RuntimeError(f"{name}: input tensor must have at least 2 dimensions")
    rows, columns = self.shape[-2:]
    return _below(rows, columns, max(-rows, min(columns, diagonal)))


@op(inplace=True, out=errors.OUT_DTYPE, forward="linear", batched="first")
def tril(self: Any, /, diagonal: int = 0) -> Any:
    """Matrices with zeros above a diagonal."""
    return np.ascontiguousarray(np.where(_side("tril", self, diagonal), self, np.zeros((), self.dtype)))


tril.derivative(self=lambda grad, diagonal: tril(grad, diagonal))


@op(inplace=True, out=errors.OUT_DTYPE, forward="linear", batched="first")
def triu(self: Any, /, diagonal: int = 0) -> Any:
    """Matrices with zeros below a diagonal."""
    return np.ascontiguousarray(np.where(_side("triu", self, diagonal - 1), np.zeros((), self.dtype), self))


triu.derivative(self=lambda grad, diagonal: triu(grad, diagonal))
