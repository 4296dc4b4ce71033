"""Views that arrange sizes and dimensions anew, and the sum that undoes a broadcast; knows arrays, no Tensor flags."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from ...core import fit
from ...core.row import op
from ...ground import dtypes, errors
from ...ground.hidden import Hidden

ndarray = np.ndarray
as_strided = np.lib.stride_tricks.as_strided


def axis_of(dim: int, ndim: int) -> int:
    """A dimension counted from the front; IndexError as PyTorch's where there is none such (0-d counts as 1-d)."""
    if type(dim) is not int:
        if not dtypes.is_int(dim):
            raise TypeError(f"argument 'dim' must be int, not {dtypes.called(dim)}")
        dim = dim.__index__()
    span = ndim or 1
    if not -span <= dim < span:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-span}, {span - 1}], but got {dim})")
    return dim + span if dim < 0 else dim


def axes_of(dims: Any, ndim: int) -> tuple[int, ...]:
    """Several dimensions counted from the front; RuntimeError where one appears twice."""
    axes = tuple(axis_of(dim, ndim) for dim in dims)
    if len(set(axes)) < len(axes):
        twice = next(dim for index, dim in enumerate(axes) if dim in axes[:index])
        raise RuntimeError(f"dim {twice} appears multiple times in the list of dims")
    return axes


def unsigned(value: Any) -> Any:
    """A setting as PyTorch's nodes show it: negative integers wrapped around at 64 bits."""
    if isinstance(value, tuple):
        return tuple(unsigned(part) for part in value)
    return value + 2**64 if type(value) is int and value < 0 else value


def strided(array: Any, sizes: Any, strides: Any) -> Any:
    """The view of ``array``'s memory with these sizes and strides (in bytes); writable where the array is."""
    if type(array) is not ndarray:
        array = np.array(array)
    if array.flags.forc and array.size:
        return ndarray(sizes, array.dtype, array, 0, strides)
    return as_strided(array, sizes, strides, writeable=array.flags.writeable)


def on_arrays(kernel: Callable[..., Any]) -> Callable[[Callable[..., Any]], Any]:
    """Let rules call the Tensor function below as they call rows: where they see arrays, ``kernel`` is meant."""

    def declare(function: Any) -> Any:
        function.row = SimpleNamespace(kernel=kernel)
        return function

    return declare


# -- the same elements under other sizes -------------------------------------------------------------------------------


def steps(sizes: tuple[int, ...], strides: tuple[int, ...], wanted: tuple[int, ...]) -> tuple[int, ...] | None:
    """The strides of a view with the sizes ``wanted``; None where only a copy can have them.

    Runs of old dimensions that lie on one line are matched with runs of new ones.
    """
    new_strides: list[int] = []
    old = len(sizes) - 1
    new = len(wanted) - 1
    while old >= 0:
        base = strides[old]
        run = sizes[old]
        while old > 0 and (sizes[old - 1] == 1 or strides[old - 1] == run * base):
            old -= 1
            run *= sizes[old]
        covered = 1
        while new >= 0 and (covered < run or wanted[new] == 1):
            new_strides.append(covered * base)
            covered *= wanted[new]
            new -= 1
        if covered != run:
            return None
        old -= 1
    return tuple(reversed(new_strides)) if new < 0 else None


def inferred(sizes: Any, count: int) -> tuple[int, ...]:
    """Sizes with -1 replaced by what ``count`` elements leave for it; PyTorch's RuntimeError where they do not fit."""
    shown = "[" + ", ".join(map(str, sizes)) + "]"
    known, open_at = 1, None
    for index, size in enumerate(sizes):
        if size == -1:
            if open_at is not None:
                raise RuntimeError("only one dimension can be inferred")
            open_at = index
        elif size < 0:
            raise RuntimeError(f"invalid shape dimension {size} at index {index} of shape {shown}")
        else:
            known *= size
    if open_at is not None and known == 0 and count == 0:
        raise RuntimeError(
            f"cannot reshape tensor of 0 elements into shape {shown} because the unspecified dimension size -1 can be "
            "any value and is ambiguous"
        )
    if known != count and not (open_at is not None and known > 0 and count % known == 0):
        raise RuntimeError(f"shape '{shown}' is invalid for input of size {count}")
    if open_at is None:
        return tuple(sizes)
    return (*sizes[:open_at], count // known, *sizes[open_at + 1 :])


def _viewed(view: Any, reshaped: Any) -> Any:
    """What NumPy made of a view, with PyTorch's strides where sizes of 1 or 0 leave a choice."""
    sizes, shape = reshaped.shape, view.shape
    if not view.size:
        return view[...] if sizes == shape else reshaped
    if 1 not in shape:
        return reshaped
    if view.strides[-1] != view.itemsize:  # of a last size of 1, which NumPy does not heed
        return strided(view, sizes, steps(shape, view.strides, sizes))
    return view.reshape(-1).reshape(shape) if sizes == shape else reshaped


@op(view=True, public=False, batched="dims")
def view(self: Any, /, sizes: Any) -> Any:
    """The view with other sizes; one of them may be -1.  RuntimeError where only a copy can have them."""
    if type(self) is not ndarray or self.flags.c_contiguous:
        try:
            reshaped = self.reshape(sizes)
        except ValueError:
            inferred(sizes, self.size)
            raise
        resulting = reshaped.shape
        if resulting != sizes and min(sizes) < -1:
            inferred(sizes, self.size)
        if self.base is None or resulting != (shape := self.shape) and shape and shape[-1] != 1:
            return reshaped  # NumPy's strides are PyTorch's
        return _viewed(self, reshaped)
    wanted = inferred(sizes, self.size)
    strides = steps(self.shape, self.strides, wanted)
    if strides is None:
        raise RuntimeError(
            "view size is not compatible with input tensor's size and stride (at least one dimension spans across two "
            "contiguous subspaces). Use .reshape(...) instead."
        )
    return strided(self, wanted, strides)


view.derivative(self=lambda grad, self_sizes: reshape(grad, self_sizes))


@op(public=False, batched="dims", forward="linear")
def unsafe_view(self: Any, /, sizes: Any) -> Any:
    """The same elements under other sizes, of a tensor that nobody else holds: not tracked as a view."""
    return self.reshape(sizes)


unsafe_view.derivative(self=lambda grad, self_sizes: reshape(grad, self_sizes))


@op(view=True, public=False, batched="dims")
def reshape_alias(self: Any, /, sizes: Any) -> Any:
    """The view with other sizes of memory that has gaps or another order: what ``reshape`` gives where it can."""
    if sizes == self.shape and 1 not in sizes and self.size:
        return self[...]
    return strided(self, sizes, steps(self.shape, self.strides, sizes))


reshape_alias.derivative(self=lambda grad, self_sizes: reshape(grad, self_sizes))


@on_arrays(lambda array, sizes: array.reshape(sizes))
def reshape(input: Any, sizes: tuple[int, ...]) -> Any:
    """A view with other sizes where there can be one, else a copy with them."""
    array = input._array
    try:
        if (type(array) is not ndarray and type(array) is not Hidden) or array.flags.c_contiguous:
            return view(input, sizes)
        if sizes == array.shape and 1 not in sizes and array.size:
            return reshape_alias(input, sizes)
        wanted = inferred(sizes, array.size)
        if not array.size:
            return view(input, wanted)
        if steps(array.shape, array.strides, wanted) is not None:
            return reshape_alias(input, wanted)
    except RuntimeError:  # what another level has of it, a tangent or examples, may lie otherwise
        if type(array) is not Hidden:
            raise
        wanted = inferred(sizes, array.size)
    return unsafe_view(compact(input), wanted)


@op(node="CloneBackward0", public=False, out=errors.OUT_DTYPE, batched="first", forward="linear")
def compact(self: Any, /) -> Any:
    """A copy that lies in memory row by row."""
    return np.array(self, order="C")


compact.derivative(self=lambda grad: grad)


@op(view=True, public=False, batched="first")
def alias(self: Any, /) -> Any:
    """The same view once more."""
    return self[...]


alias.derivative(self=lambda grad: grad)


@op(constant=True, public=False, stores=True, batched="first")
def view_dtype(self: Any, /, dtype: Any) -> Any:
    """The same bytes read as another dtype; the last dimension grows or shrinks with the element size.

    It shares memory but, as in PyTorch, is not tracked as a view.
    """
    return self.view(dtype.numpy)


# -- stretched dimensions, and their sum -------------------------------------------------------------------------------


@op(view=True, public=False)
def expand(self: Any, /, sizes: Any) -> Any:
    """The view in which dimensions of size 1 are stretched, and new ones put in front, without using memory."""
    shape = self.shape
    lead = len(sizes) - len(shape)
    if not shape:
        if lead and min(sizes) < 0:
            _negative_lead(sizes, 0)
        return strided(self, sizes, (0,) * lead)
    if lead < 0:
        raise RuntimeError(
            f"expand({dtypes.type_name(dtypes.of(self.dtype))}{{{list(shape)}}}, size={list(sizes)}): the number of "
            f"sizes provided ({len(sizes)}) must be greater or equal to the number of dimensions in the tensor "
            f"({len(shape)})"
        )
    wide = sizes[lead:]
    if wide == shape:
        if not lead and type(self) is ndarray:
            return self[...]
        strides = self.strides
    else:
        sizes, strides = list(sizes), list(self.strides)
        for index, (size, wanted) in enumerate(zip(shape, wide, strict=True)):
            if wanted == -1:
                sizes[lead + index] = size
            elif size != wanted:
                if size != 1 or wanted < 0:
                    _misfit(shape, sizes, wide)
                strides[index] = 0
    if lead:
        strides = [*(0,) * lead, *strides]
        if min(sizes) < 2:
            _leading(sizes, strides, lead)
    return strided(self, sizes, strides)


expand.derivative(self=lambda grad, self_sizes: sum_to(grad, self_sizes))


def _misfit(shape: tuple[int, ...], sizes: list[int], wide: Any) -> None:
    lead = len(sizes) - len(shape)
    pairs = [*enumerate(zip(shape, wide, strict=True))]
    index = next((i for i, (n, m) in reversed(pairs) if m not in (-1, n) and n != 1), None)
    if index is None:
        return _negative_lead(sizes, 0)
    raise RuntimeError(
        f"The expanded size of the tensor ({wide[index]}) must match the existing size ({shape[index]}) at "
        f"non-singleton dimension {lead + index}.  Target sizes: {[*sizes[:lead], *wide]}.  Tensor sizes: {list(shape)}"
    )


def _leading(sizes: Any, strides: list[int], lead: int) -> None:
    """New dimensions in front that are not stretched have the stride they would have anyway."""
    for index in range(lead - 1, -1, -1):
        if sizes[index] < 0:
            _negative_lead(sizes, lead)
        if sizes[index] == 1:
            strides[index] = strides[index + 1] * sizes[index + 1]


def _negative_lead(sizes: Any, lead: int) -> None:
    index = next((index for index in reversed(range(lead)) if sizes[index] == -1), None)
    if index is None:
        raise RuntimeError("numel: integer multiplication overflow")
    raise RuntimeError(
        f"The expanded size of the tensor ({sizes[index]}) isn't allowed in a leading, non-existing dimension {index}"
    )


@op(node="SumBackward1", public=False, layout="plain", forward="linear")
def sum_to(self: Any, /, sizes: Any) -> Any:
    """The sum over the dimensions that broadcasting ``sizes`` to the tensor's own would stretch."""
    if self.shape == sizes:
        return self.copy()
    if self.dtype.itemsize == 2 and self.dtype.kind in "fV":
        return fit.fit(self.astype(np.float32), sizes).astype(self.dtype)
    return fit.fit(self, sizes)


sum_to.derivative(self=lambda grad, self_sizes: expand(grad, self_sizes))


# -- dimensions exchanged ----------------------------------------------------------------------------------------------


@op("swapdims", view=True, shows={"dim0": ("dim0", unsigned), "dim1": ("dim1", unsigned)}, batched="dims")
def transpose(self: Any, /, dim0: int, dim1: int) -> Any:
    """The view with two dimensions exchanged."""
    try:
        return self.swapaxes(dim0, dim1)
    except IndexError:
        axis_of(dim0, self.ndim)
        axis_of(dim1, self.ndim)
        return self[...]


transpose.derivative(self=lambda grad, dim0, dim1: transpose(grad, dim0, dim1))


@op(view=True)
def t(self: Any, /) -> Any:
    """The transposed view of a matrix; vectors and scalars as they are."""
    if self.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {self.ndim}D")
    return self.T if self.ndim == 2 else self[...]


t.derivative(self=lambda grad: t(grad))


def _inverse(dims: tuple[int, ...]) -> tuple[int, ...]:
    inverse = [0] * len(dims)
    for index, dim in enumerate(dims):
        inverse[dim] = index
    return tuple(inverse)


@op(view=True, public=False, shows={"dims": ("dims", unsigned)}, batched="dims")
def permute(self: Any, /, dims: Any) -> Any:
    """The view with the dimensions in the order ``dims``."""
    ndim = self.ndim
    if len(dims) != ndim:
        raise RuntimeError(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired "
            f"ordering of dimensions i.e. input.dim() = {ndim} is not equal to len(dims) = {len(dims)}"
        )
    try:
        return self.transpose(dims)[...] if not ndim else self.transpose(dims)
    except (ValueError, IndexError):
        for dim in dims:
            axis_of(dim, ndim)
        raise RuntimeError("permute(): duplicate dims are not allowed.") from None


permute.derivative(self=lambda grad, dims: permute(grad, _inverse(dims)))


# -- dimensions of size one --------------------------------------------------------------------------------------------


@op(view=True, shows={"dim": ("dim", unsigned)}, batched="dims")
def unsqueeze(self: Any, /, dim: int) -> Any:
    """The view with a dimension of size 1 put in at ``dim``."""
    shape, strides = self.shape, self.strides
    if type(dim) is not int and (isinstance(dim, bool) or not hasattr(dim, "__index__")):
        raise TypeError(f"unsqueeze(): argument 'dim' (position 1) must be int, not {dtypes.called(dim)}")
    at = dim + len(shape) + 1 if dim < 0 else dim
    if not 0 <= at <= len(shape):
        axis_of(dim, len(shape) + 1)
    if 0 not in shape and 1 not in shape and self.flags.c_contiguous:
        return self.reshape((*shape[:at], 1, *shape[at:]))
    step = shape[at] * strides[at] if at < len(shape) else self.itemsize
    return strided(self, (*shape[:at], 1, *shape[at:]), (*strides[:at], step, *strides[at:]))


unsqueeze.derivative(self=lambda grad, dim: squeeze_dim(grad, dim))


@op(view=True, public=False)
def squeeze(self: Any, /) -> Any:
    """The view without its dimensions of size 1."""
    return self.squeeze()[...]


squeeze.derivative(self=lambda grad, self_sizes: view(grad, self_sizes))


@op(node="SqueezeBackward1", view=True, public=False, shows={"dim": ("dim", unsigned)}, batched="dims")
def squeeze_dim(self: Any, /, dim: Any) -> Any:
    """The view without dimension ``dim``, if its size is 1."""
    axis = axis_of(dim, self.ndim)
    return self.squeeze(axis) if self.ndim and self.shape[axis] == 1 else self[...]


squeeze_dim.derivative(self=lambda grad, self_sizes, dim: view(grad, self_sizes))


@op(node="SqueezeBackward2", view=True, public=False, shows={"dim": ("dim", unsigned)}, batched="dims")
def squeeze_dims(self: Any, /, dim: Any) -> Any:
    """The view without those of the dimensions ``dim`` whose size is 1."""
    axes = tuple(axis for axis in axes_of(dim, self.ndim) if self.ndim and self.shape[axis] == 1)
    return self.squeeze(axes)[...]


squeeze_dims.derivative(self=lambda grad, self_sizes, dim: view(grad, self_sizes))


# -- the same, of a tensor that becomes the view itself: PyTorch numbers these nodes apart -----------------------------


@op(
    node="TransposeBackward1",
    view=True,
    public=False,
    shows={"dim0": ("dim0", unsigned), "dim1": ("dim1", unsigned)},
    batched="dims",
)
def transpose_inplace(self: Any, /, dim0: Any, dim1: Any) -> Any:
    """What ``transpose_`` makes of a tensor."""
    return transpose.row.kernel(self, dim0, dim1)


transpose_inplace.derivative(self=lambda grad, dim0, dim1: transpose(grad, dim0, dim1))


@op(node="TBackward1", view=True, public=False)
def t_inplace(self: Any, /) -> Any:
    """What ``t_`` makes of a tensor."""
    return t.row.kernel(self)


t_inplace.derivative(self=lambda grad: t(grad))


@op(node="UnsqueezeBackward1", view=True, public=False, shows={"dim": ("dim", unsigned)}, batched="dims")
def unsqueeze_inplace(self: Any, /, dim: Any) -> Any:
    """What ``unsqueeze_`` makes of a tensor."""
    return unsqueeze.row.kernel(self, dim)


unsqueeze_inplace.derivative(self=lambda grad, dim: squeeze_dim(grad, dim))


@op(node="SqueezeBackward3", view=True, public=False)
def squeeze_inplace(self: Any, /) -> Any:
    """What ``squeeze_`` makes of a tensor."""
    return squeeze.row.kernel(self)


squeeze_inplace.derivative(self=lambda grad, self_sizes: view(grad, self_sizes))


@op(node="SqueezeBackward4", view=True, public=False, shows={"dim": ("dim", unsigned)}, batched="dims")
def squeeze_dim_inplace(self: Any, /, dim: Any) -> Any:
    """What ``squeeze_`` of one dimension makes of a tensor."""
    return squeeze_dim.row.kernel(self, dim)


squeeze_dim_inplace.derivative(self=lambda grad, self_sizes, dim: view(grad, self_sizes))


@op(node="SqueezeBackward5", view=True, public=False, shows={"dim": ("dim", unsigned)}, batched="dims")
def squeeze_dims_inplace(self: Any, /, dim: Any) -> Any:
    """What ``squeeze_`` of several dimensions makes of a tensor."""
    return squeeze_dims.row.kernel(self, dim)


squeeze_dims_inplace.derivative(self=lambda grad, self_sizes, dim: view(grad, self_sizes))
