"""Parts of a tensor and where they go back: single indices, slices, diagonals, windows, index tensors and masks."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from ...core import fit
from ...core.row import op
from ...ground import dtypes, errors
from ...ground.layout import copied
from ...ground.window import empty_slice
from ..scatter.kernels import add_rows
from ..shape.rows import axis_of, on_arrays, strided, sum_to, unsigned
from .indices import ALL, Indices, beside, fresh

ndarray = np.ndarray


@on_arrays(fit.fit)
def fitted(grad: Any, sizes: tuple[int, ...]) -> Any:
    """A gradient summed over the dimensions that broadcasting stretched."""
    return grad if grad._array.shape == sizes else sum_to(grad, sizes)


@op(constant=True, public=False, batched="dims")
def blank(self: Any, /, sizes: Any) -> Any:
    """Zeros of other sizes in the tensor's dtype."""
    return np.zeros(sizes, self.dtype)


# -- views of a part, each with its adjoint ----------------------------------------------------------------------------


def _index(value: Any) -> Any:
    """An index of another type; TypeError for what would choose more, or add a dimension."""
    if hasattr(value, "__index__") and not isinstance(value, bool):
        return value.__index__()
    raise TypeError(f"select(): argument 'index' (position 2) must be int, not {dtypes.called(value)}")


@op(view=True, shows={"dim": ("dim", unsigned), "index": ("index", unsigned)}, batched="dims")
def select(self: Any, /, dim: int, index: int) -> Any:
    """The view at ``index`` of ``dim``, that dimension dropped."""
    index = index if type(index) is int else _index(index)
    try:
        if dim == 0:
            return self[index, ...]
        return self[(ALL,) * (dim if dim > 0 else axis_of(dim, self.ndim)) + (index, ...)]
    except IndexError:
        if not self.ndim:
            raise IndexError("select() cannot be applied to a 0-dim tensor.") from None
        axis = axis_of(dim, self.ndim)
        raise IndexError(
            f"select(): index {index} out of range for tensor of size {list(self.shape)} at dimension {axis}"
        ) from None


select.derivative(self=lambda grad, self_sizes, dim, index: select_backward(grad, self_sizes, dim, index))


@op(public=False, batched="dims", forward="linear")
def select_backward(grad_output: Any, /, sizes: Any, dim: Any, index: Any) -> Any:
    """Zeros of ``sizes`` holding ``grad_output`` at ``index`` of ``dim``."""
    out = np.zeros(sizes, grad_output.dtype)
    out[(ALL,) * axis_of(dim, len(sizes)) + (index,)] = grad_output
    return out


select_backward.derivative(grad_output=lambda grad, dim, index: select(grad, dim, index))


@op(
    view=True,
    public=False,
    shows={"dim": ("dim", unsigned), "start": ("start", unsigned), "end": ("end", unsigned)},
    batched="dims",
)
def slice(self: Any, /, dim: Any, start: Any = None, end: Any = None, step: Any = 1) -> Any:
    """The view of every ``step``-th index of ``dim`` from ``start`` up to ``end``."""
    if dim == 0:
        part = self[start:end:step]
    else:
        part = self[(ALL,) * (dim if dim > 0 else axis_of(dim, self.ndim)) + (builtins.slice(start, end, step),)]
    if part.size:
        return part
    axis = axis_of(dim, self.ndim)
    if part.shape[axis]:
        return part
    return empty_slice(self, axis, builtins.slice(start, end, step).indices(self.shape[axis])[0], step)


slice.derivative(
    self=lambda grad, self_sizes, dim, start, end, step: slice_backward(grad, self_sizes, dim, start, end, step)
)


@op(public=False, batched="dims", forward="linear")
def slice_backward(grad_output: Any, /, sizes: Any, dim: Any, start: Any, end: Any, step: Any) -> Any:
    """Zeros of ``sizes`` holding ``grad_output`` at a slice of ``dim``."""
    out = np.zeros(sizes, grad_output.dtype)
    out[(ALL,) * axis_of(dim, len(sizes)) + (builtins.slice(start, end, step),)] = grad_output
    return out


slice_backward.derivative(grad_output=lambda grad, dim, start, end, step: slice(grad, dim, start, end, step))


@op(
    public=False, batched="dims", forward="linear", aligned=True,
    out=errors.ASSERTED.format("self.dtype() == output.dtype()"),
)  # fmt: skip
def narrow_copy(self: Any, /, dim: Any, start: Any, length: Any) -> Any:
    """A copy of ``length`` indices of ``dim`` from ``start`` on."""
    return slice.row.kernel(self, dim, start, start + length, 1).copy()


narrow_copy.derivative(
    self=lambda grad, self_sizes, dim, start, length: slice_backward(grad, self_sizes, dim, start, start + length, 1)
)


@op(
    view=True,
    shows={"dim1": ("dim1", unsigned), "dim2": ("dim2", unsigned), "offset": ("offset", unsigned)},
    batched="dims",
)
def diagonal(self: Any, /, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    """The view of the diagonal of two dimensions, as the last dimension."""
    first, second = axis_of(dim1, self.ndim), axis_of(dim2, self.ndim)
    if first == second:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    window = self.diagonal(offset, first, second)
    if not window.shape[-1]:  # PyTorch's begins where the tensor does
        return strided(self, window.shape, window.strides)
    window.flags.writeable = self.flags.writeable
    return window


diagonal.derivative(
    self=lambda grad, self_sizes, offset, dim1, dim2: diagonal_backward(grad, self_sizes, offset, dim1, dim2)
)


@op(
    node="DiagonalBackward0_copy",
    public=False,
    out=errors.OUT_DTYPE,
    aligned=True,
    ruleless=True,
    shows={"dim1": ("dim1", unsigned), "dim2": ("dim2", unsigned), "offset": ("offset", unsigned)},
    batched="dims",
    forward="linear",
)
def diagonal_copy(self: Any, /, offset: Any, dim1: Any, dim2: Any) -> Any:
    """The diagonal of two dimensions, as the last dimension."""
    return self.diagonal(offset, dim1, dim2).copy()


diagonal_copy.derivative(
    self=lambda grad, self_sizes, offset, dim1, dim2: diagonal_backward(grad, self_sizes, offset, dim1, dim2)
)


@op(public=False, batched="dims", forward="linear")
def diagonal_backward(grad_output: Any, /, sizes: Any, offset: Any, dim1: Any, dim2: Any) -> Any:
    """Zeros of ``sizes`` holding ``grad_output`` on a diagonal."""
    out = np.zeros(sizes, grad_output.dtype)
    window = out.diagonal(offset, dim1, dim2)
    window.flags.writeable = True
    window[...] = grad_output
    return out


diagonal_backward.derivative(grad_output=lambda grad, offset, dim1, dim2: diagonal(grad, offset, dim1, dim2))


@op(
    shows={"dim1": ("dim1", unsigned), "dim2": ("dim2", unsigned), "offset": ("offset", unsigned)},
    out=errors.OUT_DTYPE,
    forward="linear",
    batched="dims",
)
def diag_embed(self: Any, /, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    """Matrices in the dimensions ``dim1`` and ``dim2`` that hold the last dimension on a diagonal."""
    ndim = self.ndim + 1
    first, second = axis_of(dim1, ndim), axis_of(dim2, ndim)
    if first == second:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    side = self.shape[-1] + abs(offset)
    sizes = list(self.shape[:-1])
    for axis in sorted((first, second)):
        sizes.insert(axis, side)
    return diagonal_backward.row.kernel(self, sizes, offset, first, second)


diag_embed.derivative(self=lambda grad, offset, dim1, dim2: diagonal(grad, offset, dim1, dim2))


@op(view=True, public=False, shows={"dimension": ("dimension", unsigned)}, batched="dims")
def unfold(self: Any, /, dimension: int, size: int, step: int) -> Any:
    """The view of all windows of ``size`` along ``dimension``, ``step`` apart, as a new last dimension."""
    axis = axis_of(dimension, self.ndim)
    sizes, strides = (self.shape, self.strides) if self.ndim else ((1,), (self.itemsize,))
    if size < 0:
        raise RuntimeError(f"size is {size} but must be >= 0")
    if size > sizes[axis]:
        raise RuntimeError(f"maximum size for tensor at dimension {axis} is {sizes[axis]} but size is {size}")
    if step <= 0:
        raise RuntimeError(f"step is {step} but must be > 0")
    if not self.ndim:
        return strided(self, (size,), strides)
    count = (sizes[axis] - size) // step + 1
    return strided(
        self,
        (*sizes[:axis], count, *sizes[axis + 1 :], size),
        (*strides[:axis], strides[axis] * step, *strides[axis + 1 :], strides[axis]),
    )


unfold.derivative(
    self=lambda grad, self_sizes, dimension, size, step: unfold_backward(grad, self_sizes, dimension, size, step)
)


@op(public=False, forward="linear", batched="dims")
def unfold_backward(grad_in: Any, /, sizes: Any, dim: Any, size: Any, step: Any) -> Any:
    """The sum of all windows, each where it was taken from."""
    out = np.zeros(sizes or (1,), grad_in.dtype)
    if not sizes:
        out += grad_in
        return out.reshape(())
    axis = axis_of(dim, len(sizes))
    reach = step * (grad_in.shape[axis] - 1) + 1
    for position in reversed(range(size)):  # each element's windows from the first on
        out[(ALL,) * axis + (builtins.slice(position, position + reach, step),)] += grad_in[..., position]
    return out


unfold_backward.derivative(grad_in=lambda grad, dim, size, step: unfold(grad, dim, size, step))


# -- a part replaced ---------------------------------------------------------------------------------------------------


def _replaced(self: Any, src: Any, part: Any) -> Any:
    out = copied(self)
    window = part(out)
    if window.shape != src.shape:
        raise RuntimeError(
            f"expected src to have a size equal to the slice of self. src size = {list(src.shape)}, slice size = "
            f"{list(window.shape)}"
        )
    window[...] = src
    return out


_SCATTERED: Any = {"hidden": ("src_sizes",), "batched": "dims", "forward": "linear"}


@op(**_SCATTERED, shows={"dim": ("dim", unsigned), "index": ("index", unsigned)}, out=None)
def select_scatter(self: Any, src: Any, /, dim: int, index: int) -> Any:
    """``self`` with ``src`` at ``index`` of ``dim``."""
    return _replaced(self, src, lambda out: select.row.kernel(out, dim, index))


select_scatter.derivative(
    self=lambda grad, src_sizes, dim, index: select_scatter(grad, blank(grad, src_sizes), dim, index),
    src=lambda grad, dim, index: select(grad, dim, index),
)


@op(
    **_SCATTERED, shows={"dim": ("dim", unsigned), "start": ("start", unsigned), "end": ("end", unsigned)},
    out=errors.OUT_DTYPE,
)  # fmt: skip
def slice_scatter(
    self: Any, src: Any, /, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Any:
    """``self`` with ``src`` at a slice of ``dim``."""
    if not self.ndim:
        raise IndexError("slice() cannot be applied to a 0-dim tensor.")
    axis_of(dim, self.ndim)
    if step < 1:
        raise RuntimeError("slice step must be positive")
    return _replaced(self, src, lambda out: slice.row.kernel(out, dim, start, end, step))


slice_scatter.derivative(
    self=lambda grad, src_sizes, dim, start, end, step: slice_scatter(
        grad, blank(grad, src_sizes), dim, start, end, step
    ),
    src=lambda grad, dim, start, end, step: slice(grad, dim, start, end, step),
)


@op(**_SCATTERED, shows={"dim1": ("dim1", unsigned), "dim2": ("dim2", unsigned)}, out=None)
def diagonal_scatter(self: Any, src: Any, /, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    """``self`` with ``src`` on the diagonal of two dimensions."""
    return _replaced(self, src, lambda out: diagonal.row.kernel(out, offset, dim1, dim2))


diagonal_scatter.derivative(
    self=lambda grad, src_sizes, offset, dim1, dim2: diagonal_scatter(grad, blank(grad, src_sizes), offset, dim1, dim2),
    src=lambda grad, offset, dim1, dim2: diagonal(grad, offset, dim1, dim2),
)


# -- index tensors -----------------------------------------------------------------------------------------------------


def _key(indices: Any) -> tuple[Any, ...]:
    if type(indices) is Indices:
        return indices.parts
    return tuple(ALL if index is None else getattr(index, "_array", index) for index in indices)


def _first_outside(sizes: tuple[int, ...], key: tuple[Any, ...]) -> str:
    """The first element of index tensors that is out of bounds, in words; dimensions count among the indexed."""
    indexed: list[tuple[Any, int]] = []
    at = 0
    for part in key:
        if part is not ALL and part.dtype == bool:
            indexed += [(index, size) for index, size in zip(part.nonzero(), sizes[at:], strict=False)]
            at += part.ndim
            continue
        if part is not ALL:
            indexed.append((part, sizes[at]))
        at += 1
    wide = np.broadcast_arrays(*(index for index, _ in indexed))
    outside = np.array([(index < -size) | (index >= size) for index, (_, size) in zip(wide, indexed, strict=True)])
    position = int(outside.any(0).reshape(-1).argmax())
    dim = int(outside.reshape(len(indexed), -1)[:, position].argmax())
    return f"index {wide[dim].reshape(-1)[position]} is out of bounds for dimension {dim} with size {indexed[dim][1]}"


def refusal(array: Any, key: tuple[Any, ...], error: Exception) -> IndexError:
    """PyTorch's sentence for what NumPy did not like about index tensors."""
    text = str(error)
    if "empty axes" in text or text.endswith("with size 0"):
        return IndexError("index is out of bounds for dimension with size 0")
    if "out of bounds" in text:
        return IndexError(_first_outside(array.shape, key))
    if "broadcast" in text:
        shapes: list[str] = []
        for index in key:
            if index is not ALL:
                parts = np.asarray(index).nonzero() if index.dtype == bool else (index,)
                shapes += [str(list(part.shape)) for part in parts]
        return IndexError(
            "shape mismatch: indexing tensors could not be broadcast together with shapes " + ", ".join(shapes)
        )
    if "too many indices" in text:
        return IndexError(f"too many indices for tensor of dimension {array.ndim}")
    return IndexError(text)


@op(public=False, stores=True, forward="linear")
def index(self: Any, /, indices: Any) -> Any:
    """The elements that index tensors name, one for each dimension from the first on; None takes a dimension whole."""
    key = _key(indices)
    if not self.size:
        return np.empty(_sizes_of(self, key), self.dtype)
    try:
        if type(indices) is Indices and indices.alone and self.flags.c_contiguous and key[-1].dtype.kind == "i":
            return self.take(key[-1], len(key) - 1)
        elements = self[key]
    except IndexError as error:
        raise refusal(self, key, error) from None
    if not elements.size:
        return np.empty(elements.shape, elements.dtype)
    return elements if elements.base is None else elements.copy()


index.derivative(
    self=lambda grad, self_sizes, indices: index_backward(beside(grad, indices), self_sizes, fresh(indices))
)


def _sizes_of(array: Any, key: tuple[Any, ...]) -> tuple[int, ...]:
    """The sizes of ``array[key]``, whatever the values of the indices; PyTorch's errors where there are none."""
    sizes, where, at = list(array.shape), [], 0
    nothing = False
    for part in key:
        if part is not ALL and part.dtype.kind == "i":
            nothing = nothing or not sizes[at]
            sizes[at] = sizes[at] or 1
            part = np.zeros_like(part)
        where.append(part)
        at += part.ndim if part is not ALL and part.dtype == bool else 1
    try:
        shape = np.broadcast_to(np.empty((), bool), sizes)[tuple(where)].shape
    except IndexError as error:
        raise refusal(array, key, error) from None
    if nothing:
        shapes = [(np.count_nonzero(part),) if part.dtype == bool else part.shape for part in where if part is not ALL]
        if 0 not in np.broadcast_shapes(*shapes):
            raise IndexError("index is out of bounds for dimension with size 0")
    return shape


@op(public=False, forward="linear")
def index_backward(grad_output: Any, /, sizes: Any, indices: Any) -> Any:
    """Zeros of ``sizes`` with ``grad_output`` added where the index tensors point."""
    out = np.zeros(sizes, grad_output.dtype)
    if grad_output.size:
        add_at(out, _key(indices), grad_output)
    return out


index_backward.derivative(grad_output=lambda grad, indices: index(beside(grad, indices), indices))


def add_at(out: Any, key: tuple[Any, ...], values: Any) -> None:
    """Add ``values`` into ``out[key]``, as often as an element is named."""
    if all(part is ALL or part.dtype == bool for part in key) and sum(part is not ALL for part in key) == 1:
        out[key] += values  # a mask names no element twice
        return
    if key[0] is not ALL and all(part is ALL for part in key[1:]):
        add_rows(out, key[0], np.broadcast_to(values, (*key[0].shape, *out.shape[1:])))
        return
    np.add.at(out, key, values)


@op(inplace=True, public=False, hidden=("values_sizes",), forward="linear")
def index_put(self: Any, values: Any, /, indices: Any, accumulate: Any = False) -> Any:
    """``self`` with ``values`` put, or added, where the index tensors point."""
    if values.dtype != self.dtype:
        check_fits(values, _sizes_of(self, _key(indices)))
        raise RuntimeError(
            f"Index put requires the source and destination dtypes match, got {dtypes.of(self.dtype).scalar_name} for "
            f"the destination and {dtypes.of(values.dtype).scalar_name} for the source."
        )
    out = copied(self)
    put_at(out, _key(indices), values, accumulate)
    return out


index_put.derivative(
    self=lambda grad, indices, accumulate: (
        grad if accumulate else index_put(beside(grad, indices), blank(grad, ()), fresh(indices), False)
    ),
    values=lambda grad, values_sizes, indices, accumulate: fitted(
        index(beside(grad, indices), fresh(indices)), values_sizes
    ),
)


def check_fits(values: Any, sizes: tuple[int, ...]) -> None:
    """Raise PyTorch's error where ``values`` do not broadcast to what index tensors name."""
    try:
        np.broadcast_to(values, sizes)
    except ValueError:
        raise RuntimeError(
            f"shape mismatch: value tensor of shape {list(values.shape)} cannot be broadcast to indexing result of "
            f"shape {list(sizes)}"
        ) from None


def put_at(out: Any, key: tuple[Any, ...], values: Any, accumulate: bool = False) -> None:
    """Write ``values`` into ``out[key]``; PyTorch's errors, and nothing written, where they do not fit."""
    try:
        if not out.size or not values.size or values.shape[:1] == (1,):  # where NumPy asks less
            np.broadcast_to(values, _sizes_of(out, key))
        if not out.size:
            return
        if accumulate:
            np.add.at(out, key, values)
        else:
            out[key] = values
    except (IndexError, ValueError, TypeError) as error:  # TypeError: a mask, and a value of more dimensions
        check_fits(values, _sizes_of(out, key))
        raise refusal(out, key, error) from None


# -- masks -------------------------------------------------------------------------------------------------------------


def together(sizes: tuple[int, ...], others: tuple[int, ...]) -> tuple[int, ...]:
    """The sizes that two shapes broadcast to; PyTorch's RuntimeError where they do not."""
    ndim = max(len(sizes), len(others))
    a, b = (1,) * (ndim - len(sizes)) + sizes, (1,) * (ndim - len(others)) + others
    for dim in range(ndim - 1, -1, -1):
        if a[dim] != b[dim] and a[dim] != 1 and b[dim] != 1:
            raise RuntimeError(
                f"The size of tensor a ({a[dim]}) must match the size of tensor b ({b[dim]}) at non-singleton "
                f"dimension {dim}"
            )
    return tuple(y if x == 1 else x for x, y in zip(a, b, strict=True))


def _row_by_row(array: Any) -> Any:
    return array if array.flags.c_contiguous else array.copy()


@op(
    inplace=True, auxiliary=("mask",), public=False, one_value=True, hidden=("self_sizes",), batched="point",
    forward="transposed",
)  # fmt: skip
def masked_fill(self: Any, mask: Any, /, value: Any) -> Any:
    """``self`` with a number where ``mask`` holds."""
    if self.shape != mask.shape:
        together(mask.shape, self.shape)
    return _row_by_row(np.where(mask, dtypes.cast(np.asarray(value), self.dtype), self))


masked_fill.derivative(self=lambda grad, self_sizes, mask: fitted(masked_fill(grad, mask, 0), self_sizes))


@op(
    node="MaskedFillBackward1",
    inplace=True,
    auxiliary=("mask",),
    public=False,
    one_value=True,
    hidden=("self_sizes",),
    batched="point",
    forward="transposed",
)
def masked_fill_tensor(self: Any, mask: Any, value: Any, /) -> Any:
    """``self`` with a 0-d tensor's value where ``mask`` holds."""
    if self.shape != mask.shape:
        together(mask.shape, self.shape)
    return _row_by_row(np.where(mask, value.astype(self.dtype), self))


masked_fill_tensor.derivative(
    self=lambda grad, self_sizes, mask: fitted(masked_fill(grad, mask, 0), self_sizes),
    value=lambda grad, mask: sum_to(masked_fill(grad, ~mask, 0), ()),
)


@op(
    auxiliary=("mask",),
    public=False,
    hidden=("self_sizes", "mask_sizes"),
    stores=True,
    out=errors.OUT_SAME,
    disjoint=("self", "mask"),
    forward="linear",
)
def masked_select(self: Any, mask: Any, /) -> Any:
    """The elements where ``mask`` holds, in a row."""
    if self.shape != mask.shape:
        sizes = together(mask.shape, self.shape)
        self, mask = np.broadcast_to(self, sizes), np.broadcast_to(mask, sizes)
    return self[mask] if self.shape else np.asarray(self)[np.asarray(mask)]


masked_select.derivative(
    self=lambda grad, self_sizes, mask, mask_sizes: fitted(
        masked_scatter(blank(grad, together(mask_sizes, self_sizes)), mask, grad), self_sizes
    )
)


#: It has no ``out=``; the column says that what is read may lie on what is written.
@op(inplace=True, auxiliary=("mask",), public=False, hidden=("self_sizes",), forward="linear", out=errors.OUT_DTYPE)
def masked_scatter(self: Any, mask: Any, source: Any, /) -> Any:
    """``self`` with the elements of ``source``, in order, where ``mask`` holds."""
    if self.shape != mask.shape:
        sizes = together(mask.shape, self.shape)
        self, mask = np.broadcast_to(self, sizes), np.broadcast_to(mask, sizes)
    count = int(np.count_nonzero(mask))
    if count > source.size:
        raise RuntimeError("Number of elements of source < number of ones in mask")
    out = np.array(self, order="C")
    out[np.asarray(mask)] = source.reshape(-1)[:count]
    return out


masked_scatter.derivative(
    self=lambda grad, self_sizes, mask: fitted(masked_fill(grad, mask, 0), self_sizes),
    source=lambda grad, mask, source_sizes: masked_scatter_backward(grad, mask, source_sizes),
)


@op(auxiliary=("mask",), public=False, forward="linear")
def masked_scatter_backward(grad_output: Any, mask: Any, /, sizes: Any) -> Any:
    """The elements where ``mask`` holds, then zeros, under ``sizes``."""
    out = np.zeros(sizes, grad_output.dtype)
    wide = together(mask.shape, grad_output.shape)
    elements = np.broadcast_to(grad_output, wide)[np.broadcast_to(mask, wide)]
    out.reshape(-1)[: elements.size] = elements
    return out


masked_scatter_backward.derivative(
    grad_output=lambda grad, mask, grad_output_sizes: masked_scatter(blank(grad, grad_output_sizes), mask, grad)
)
