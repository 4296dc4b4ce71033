"""How far something reaches in each dimension: numbers read and checked, with PyTorch's words for wrong ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core import history
from ...core.tensor import Tensor, View, share
from ...ground import dtypes
from ...ground.dtypes import called, is_int, need_int
from ...ground.dtypes import dtype as dtype_type
from ...ground.hidden import Hidden
from ...ground.listening import asking
from ...ground.runtime import warn_once
from ...ground.size import Size
from ...ground.window import strides_of
from ...ops.declare import composite
from ...tensor import lifted, writable
from ...tensor.hooks import fit_gradients
from ..index import rows as part
from . import rows
from .rows import axis_of


def ints(function: str, name: str, position: int, value: Any, none: bool = False) -> tuple[int, ...]:
    """One whole number or several as a tuple; nothing for None where that is allowed."""
    if type(value) is int:
        return (value,)
    if value is None and none:
        return ()
    if isinstance(value, (tuple, list)):
        for index, n in enumerate(value):
            if type(n) is not int and not is_int(n) and not (index and isinstance(n, bool)):
                if index:
                    raise TypeError(
                        f"{function}(): argument '{name}' failed to unpack the object at pos {index + 1} with error "
                        f'"type must be tuple of ints,but got {called(n)}"'
                    )
                raise TypeError(
                    f"{function}(): argument '{name}' (position {position}) must be tuple of ints, but found element "
                    f"of type {called(n)} at pos 0"
                )
        return tuple([n.__index__() for n in value])
    if not is_int(value):
        raise TypeError(
            f"{function}(): argument '{name}' (position {position}) must be tuple of ints, not {called(value)}"
        )
    return (value.__index__(),)


def one_int(function: str, name: str, values: tuple[int, ...], none: bool = False) -> None:
    """Raise PyTorch's error where an argument of a function on lines is not one number."""
    if len(values) != 1 and (values or not none):
        raise RuntimeError(f"{function}() argument '{name}' should contain one int (got {len(values)})")


def need_rank(function: str, input: Tensor, least: int, most: int) -> None:
    """Raise PyTorch's error unless a tensor has so many dimensions."""
    if not least <= input._array.ndim <= most:
        raise RuntimeError(
            f"Expected {least} to {most} dimensions, but got {input._array.ndim}-dimensional tensor for argument #1 "
            f"'self' (while checking arguments for {function})"
        )


# -- PyTorch's signatures of views and reshapes, their argument checks, and the in-place forms that only move
# metadata.

_LISTS = (tuple, list)


def sizes_of(function: str, sizes: tuple[Any, ...], named: dict[str, Any], name: str = "size") -> tuple[int, ...]:
    """The integers of ``f(2, 3)``, ``f((2, 3))`` or ``f(size=(2, 3))``; PyTorch's TypeError for anything else."""
    if named:
        if sizes or set(named) != {name}:
            raise TypeError(f"{function}() got an unexpected keyword argument '{next(iter(named))}'")
        sizes = (named[name],)
    elif not sizes:
        raise TypeError(f'{function}() missing 1 required positional arguments: "{name}"')
    if len(sizes) == 1 and isinstance(sizes[0], _LISTS):
        sizes = sizes[0] if type(sizes[0]) is tuple else tuple(sizes[0])
    for n in sizes:
        if type(n) is not int:
            return _integers(function, sizes, name)
    return sizes


def _integers(function: str, sizes: tuple[Any, ...], name: str) -> tuple[int, ...]:
    integers = []
    for position, n in enumerate(sizes):
        is_first = position == 0 and isinstance(n, bool)  # PyTorch looks closely at the first
        if is_first or not (is_int(n) or isinstance(n, bool)):
            if len(sizes) == 1 or is_first:
                raise TypeError(f"{function}(): argument '{name}' (position 1) must be tuple of ints, not {called(n)}")
            raise TypeError(
                f"{function}(): argument '{name}' failed to unpack the object at pos {position + 1} with error "
                f'"type must be tuple of ints,but got {called(n)}"'
            )
        integers.append(n.__index__())
    return tuple(integers)


# -- other sizes -----------------------------------------------------------------------------------------------------


@composite(function=False)
def view(self: Tensor, *size: Any, **named: Any) -> Tensor:
    """The view with other sizes, or of the same bytes as another dtype."""
    if len(size) == 1 and type(size[0]) is not int:
        size = size[0]
        if type(size) is dtype_type or isinstance(size, type):
            if named:
                raise TypeError(f"view() got an unexpected keyword argument '{next(iter(named))}'")
            return _reread(self, dtypes.demand(size, "view"))
        if not isinstance(size, _LISTS) and not hasattr(size, "__index__"):
            raise _neither(size)
        size = sizes_of("view", (size,), named)
    elif named or not size:
        if "dtype" in named and not size and len(named) == 1:
            return _reread(self, named["dtype"])
        if not named:
            raise TypeError(
                "view() received an invalid combination of arguments - got (), but expected one of:\n * (torch.dtype "
                "dtype)\n * (tuple of ints size)\n"
            )
        size = sizes_of("view", size, named)
    try:
        return rows.view(self, size)
    except (TypeError, RuntimeError):  # which are PyTorch's of sizes alone
        if not size:
            raise
        return rows.view(self, sizes_of("view", size, {}))


def _reread(self: Tensor, kind: Any) -> Tensor:
    """The memory of a tensor as elements of another dtype."""
    if self._array.dtype.itemsize != kind.numpy.itemsize:
        _check_elements(self, kind)
    if isinstance(self, lifted.Lifted):
        return rows.view_dtype(self, kind)
    counter = share(self)  # and its data is memory from now on, no scalar
    out = rows.view_dtype(self, kind)
    out._counter = counter  # no view as far as gradients go, but whoever saved the one is to see writes to the other
    return out


def _check_elements(self: Tensor, kind: Any) -> None:
    """Raise PyTorch's error where elements of another size do not lie as those of a tensor do."""
    array, was = self._array, self._array.dtype.itemsize

    def refused(what: str, has: str, number: int) -> RuntimeError:
        names = f"{self.dtype.scalar_name} as {kind.scalar_name} (different element sizes)"
        return RuntimeError(f"self.{what} {has} to view {names}{f', but got {number}' if array.ndim else ''}")

    if not array.ndim:
        raise refused("dim()", "cannot be 0", 0)
    strides, ratio = strides_of(array), max(kind.numpy.itemsize // was, 1)
    start = 0 if isinstance(self, lifted.Lifted) else self.storage_offset()  # type: ignore[attr-defined]
    for what, number in (("size(-1)", array.shape[-1]), ("storage_offset()", start)):
        if number % ratio:
            raise refused(what, f"must be divisible by {ratio}", number)
    if strides[-1] != 1:
        raise refused("stride(-1)", "must be 1", strides[-1])
    for index, stride in enumerate(strides[:-1]):
        if stride % ratio:
            raise refused(f"stride({index})", f"must be divisible by {ratio}", stride)


def _neither(value: Any) -> TypeError:
    name = called(value)
    why = f"      didn't match because some of the arguments have invalid types: (!{name}!)\n"
    return TypeError(
        f"view() received an invalid combination of arguments - got ({name}), but expected one of:\n * (torch.dtype "
        f"dtype)\n{why} * (tuple of ints size)\n{why}"
    )


@composite()
def reshape(input: Tensor, *shape: Any, **named: Any) -> Tensor:
    """The tensor with other sizes: a view where there can be one, else a copy."""
    if named or not shape or type(shape[0]) is not int:
        shape = sizes_of("reshape", shape, named, "shape")
    try:
        return rows.reshape(input, shape)
    except TypeError:
        return rows.reshape(input, sizes_of("reshape", shape, {}, "shape"))
    except RuntimeError:
        _integers("reshape", shape, "shape")  # which may be no whole numbers
        raise


@composite(function=False)
@asking
def view_as(self: Tensor, other: Tensor) -> Tensor:
    """The view with the sizes of ``other``."""
    return rows.view(self, other._array.shape)


@composite(function=False)
@asking
def reshape_as(self: Tensor, other: Tensor) -> Tensor:
    """The tensor with the sizes of ``other``."""
    return rows.reshape(self, other._array.shape)


@composite()
def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """The tensor with the dimensions from ``start_dim`` to ``end_dim`` made one."""
    sizes = input._array.shape
    if start_dim == 0 and end_dim == -1:
        return rows.reshape(input, (-1,) if input._array.size else (0,)) if len(sizes) != 1 else input
    first, last = axis_of(start_dim, len(sizes)), axis_of(end_dim, len(sizes))
    if first > last:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    if not sizes:
        return rows.reshape(input, (1,))
    if first == last:
        return input
    return rows.reshape(input, (*sizes[:first], math.prod(sizes[first : last + 1]), *sizes[last + 1 :]))


@composite()
def unflatten(input: Tensor, dim: int, sizes: Sequence[int]) -> Tensor:
    """The view in which one dimension is laid out as several."""
    if not input._array.ndim and axis_of(need_int("unflatten", "dim", 1, dim), 1) == 0:
        raise RuntimeError("unflatten got an unexpected error:\nDimension specified as 0 but tensor has no dimensions")
    axis = axis_of(need_int("unflatten", "dim", 1, dim), input._array.ndim)
    wanted = tuple(sizes)
    if not wanted:
        raise RuntimeError("unflatten: sizes must be non-empty")
    size = input._array.shape[axis]
    try:
        lengths = rows.inferred(wanted, size)
    except RuntimeError as error:
        if "invalid for input" not in str(error):
            raise RuntimeError(f"unflatten got an unexpected error:\n{error}") from None
        raise RuntimeError(
            f"unflatten: Provided sizes {list(wanted)} don't multiply up to the size of dim {axis} ({size}) in the "
            "input tensor"
        ) from None
    return rows.view(input, (*input._array.shape[:axis], *lengths, *input._array.shape[axis + 1 :]))


@composite()
def ravel(input: Tensor) -> Tensor:
    """The view, or copy, in one dimension."""
    array = input._array
    if type(array) in (np.ndarray, Hidden) and not array.flags.c_contiguous:
        input = rows.compact(input)
    return rows.view(input, (-1,))


# -- stretched dimensions ----------------------------------------------------------------------------------------------


@composite(function=False)
def expand(self: Tensor, *size: Any, **named: Any) -> Tensor:
    """The view with dimensions of size 1 stretched; -1 keeps a size."""
    named.pop("implicit", None)
    return rows.expand(self, sizes_of("expand", size, named))


@composite(function=False)
@asking
def expand_as(self: Tensor, other: Tensor) -> Tensor:
    """The view stretched to the sizes of ``other``."""
    return rows.expand(self, other._array.shape)


@composite()
def broadcast_to(input: Tensor, *size: Any, **named: Any) -> Tensor:
    """The view stretched to ``size``."""
    return rows.expand(input, sizes_of("broadcast_to", size, named))


@composite(method=False)
@asking
def broadcast_tensors(*tensors: Any) -> tuple[Tensor, ...]:
    """The tensors stretched to their common shape."""
    if len(tensors) == 1 and isinstance(tensors[0], _LISTS):
        tensors = tuple(tensors[0])
    sizes: tuple[int, ...] = ()
    for tensor in tensors:
        sizes = part.together(sizes, tensor._array.shape)
    return tuple(tensor if tensor._array.shape == sizes else rows.expand(tensor, sizes) for tensor in tensors)


@composite(method=False)
def broadcast_shapes(*shapes: Any) -> Size:
    """The shape that these shapes broadcast to."""
    if strange := [shape for shape in shapes if not isinstance(shape, int | tuple | list | str | None)]:
        raise RuntimeError(
            f"Input shapes should be of type ints, a tuple of ints, or a list of ints, got {strange[0]}"
        )
    sequences = [(shape,) if isinstance(shape, int) else shape for shape in shapes if shape is not None]
    common = [1] * max((len(shape) for shape in sequences), default=0)
    for position, shape in enumerate(sequences):
        for at in range(-1, -1 - len(shape), -1):
            if shape[at] == common[at]:
                continue
            if common[at] == 1:
                if shape[at] < 0:
                    raise ValueError("Attempting to broadcast a dimension with negative length!")
                common[at] = shape[at]
            elif shape[at] != 1:
                raise RuntimeError(
                    f"Attempting to broadcast a dimension of length {shape[at]} at {at}! Mismatching argument at index "
                    f"{position} had {shape}; but expected shape should be broadcastable to {common}"
                )
    return Size(common)


@composite(function=False)
def sum_to_size(self: Tensor, *size: Any, **named: Any) -> Tensor:
    """The tensor summed to ``size``, which must broadcast to its own shape."""
    wanted = sizes_of("sum_to_size", size, named)
    sizes = self._array.shape
    lead = len(sizes) - len(wanted)
    if lead < 0 or any(w not in (1, n) for w, n in zip(wanted, sizes[max(lead, 0) :], strict=True)):
        raise RuntimeError(f"size {{{list(wanted)}}} is not expandable to size {{{list(sizes)}}}.")
    if wanted == sizes:
        return self
    summed = rows.sum_to(self, (1,) * lead + wanted)
    return rows.view(summed, wanted) if lead else summed


# -- dimensions exchanged ----------------------------------------------------------------------------------------------


@composite()
def permute(input: Tensor, *dims: Any, **named: Any) -> Tensor:
    """The view with the dimensions in another order."""
    return rows.permute(input, sizes_of("permute", dims, named, "dims"))


@composite("moveaxis")
def movedim(input: Tensor, source: Any, destination: Any) -> Tensor:
    """The view with the dimensions ``source`` at the places ``destination``, the others in their order."""
    ndim = input._array.ndim
    is_several = isinstance(source, (tuple, list)), isinstance(destination, (tuple, list))
    for dims in (source, destination) if all(is_several) else ((source,), (destination,)):
        if dims and (isinstance(dims[0], (bool, float)) or not hasattr(dims[0], "__index__")):
            raise TypeError(
                f"movedim() takes two ints or two tuples of ints, but got {called(source)} and {called(destination)}"
            )
    sources = (source.__index__(),) if hasattr(source, "__index__") else tuple(source)
    destinations = (destination.__index__(),) if hasattr(destination, "__index__") else tuple(destination)
    if len(sources) != len(destinations):
        raise RuntimeError(
            f"movedim: Invalid source or destination dims: source ({list(sources)} dims) should contain the same "
            f"number of dims as destination ({list(destinations)} dims)"
        )
    old = [axis_of(dim, ndim) for dim in sources]
    new = [axis_of(dim, ndim) for dim in destinations]
    for name, axes, listed in (("source", old, sources), ("destination", new, destinations)):
        if len(set(axes)) < len(axes):
            raise RuntimeError(f"movedim: repeated dim in `{name}` ({list(listed)})")
    if not ndim:
        return rows.alias(input)
    rest = iter(axis for axis in range(ndim) if axis not in old)
    at = dict(zip(new, old, strict=True))
    return rows.permute(input, tuple(at[axis] if axis in at else next(rest) for axis in range(ndim)))


def _warn_once(text: str, line: int) -> None:
    where = f" (Triggered internally at /__w/pytorch/pytorch/aten/src/ATen/native/TensorShape.cpp:{line}.)"
    warn_once(text + where)


def _reversed(self: Tensor) -> Tensor:
    """The view with the dimensions in reverse order."""
    ndim = self._array.ndim
    if ndim == 2:
        return rows.permute(self, (1, 0))
    if ndim:
        _warn_once(
            "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is deprecated and it will "
            "throw an error in a future release. Consider `x.mT` to transpose batches of matrices or "
            "`x.permute(*torch.arange(x.ndim - 1, -1, -1))` to reverse the dimensions of a tensor.",
            4314,
        )
    else:
        _warn_once("Tensor.T is deprecated on 0-D tensors. This function is the identity in these cases.", 4321)
    return rows.permute(self, tuple(range(ndim - 1, -1, -1)))


def _matrix(self: Tensor, name: str, line: int, advice: str) -> bool:
    """Whether there is something to transpose; PyTorch's error for vectors."""
    ndim = self._array.ndim
    if ndim == 0:
        what = f"Tensor.{name}" if name != "adjoint" else "adjoint()"
        _warn_once(f"{what} is deprecated on 0-D tensors. {advice}", line)
        return False
    if ndim == 1:
        raise RuntimeError(
            f"tensor.{name}{'()' if name == 'adjoint' else ''} is only supported on matrices or batches of matrices. "
            "Got 1-D tensor."
        )
    return True


def _matrix_transposed(self: Tensor) -> Tensor:
    """The view with the last two dimensions exchanged."""
    if not _matrix(self, "mT", 4373, "This function is the identity in these cases."):
        return self
    return rows.transpose(self, -2, -1)


def _conjugated(view: Tensor) -> Tensor:
    return view.conj() if view._array.dtype.kind == "c" else view  # type: ignore[attr-defined,no-any-return]


def _adjoint(self: Tensor) -> Tensor:
    """The view with the last two dimensions exchanged, conjugated."""
    if not _matrix(self, "mH", 4382, "Consider using x.conj()."):
        return _conjugated(self)
    return _conjugated(rows.transpose(self, -2, -1))


def _matrix_adjoint(self: Tensor) -> Tensor:
    """The conjugated transpose of a matrix."""
    ndim = self._array.ndim
    if ndim == 0:
        _warn_once("Tensor.H is deprecated on 0-D tensors. Consider using x.conj().", 4335)
        return _conjugated(self)
    if ndim != 2:
        more = " For batches of matrices, consider using tensor.mH" if ndim > 2 else ""
        raise RuntimeError(f"tensor.H is only supported on matrices (2-D tensors). Got {ndim}-D tensor.{more}")
    return _conjugated(rows.transpose(self, 0, 1))


for _name, _getter in (("T", _reversed), ("mT", _matrix_transposed), ("H", _matrix_adjoint), ("mH", _adjoint)):
    composite(name=_name, function=False)(property(_getter))  # type: ignore[arg-type]


@composite()
def adjoint(input: Tensor) -> Tensor:
    """The view with the last two dimensions exchanged, conjugated."""
    if not _matrix(input, "adjoint", 4390, "Consider using x.conj()."):
        return _conjugated(input)
    return _conjugated(rows.transpose(input, -2, -1))


# -- dimensions of size one --------------------------------------------------------------------------------------------


@composite()
def squeeze(input: Tensor, *dim: Any, **named: Any) -> Tensor:
    """The view without dimensions of size 1: all, or those named."""
    if not dim and not named:
        return rows.squeeze(input)
    dims = sizes_of("squeeze", dim, named, "dim")
    if len(dims) == 1 and not isinstance((dim or tuple(named.values()))[0], _LISTS):
        return rows.squeeze_dim(input, dims[0])
    return rows.squeeze_dims(input, dims)


def _each(function: Any) -> Any:
    """The function over one tensor, over several, or over a list of them."""

    def over(*tensors: Any) -> Any:
        if len(tensors) == 1:
            if isinstance(tensors[0], Tensor):
                return function(tensors[0])
            if not isinstance(tensors[0], (tuple, list)):
                from ..arithmetic.functions import no_match

                raise no_match(function.__name__, tensors, "Tensor input", "tuple of Tensors tensors")
            tensors = tuple(tensors[0])
        return tuple(function(tensor) for tensor in tensors)

    over.__name__ = over.__qualname__ = function.__name__
    over.__doc__ = function.__doc__
    return asking(over)


@composite(method=False)
@_each
def atleast_1d(tensor: Tensor) -> Tensor:
    """Each tensor with at least one dimension."""
    return tensor if tensor._array.ndim else rows.reshape(tensor, (1,))


@composite(method=False)
@_each
def atleast_2d(tensor: Tensor) -> Tensor:
    """Each tensor with at least two dimensions; vectors become rows."""
    ndim = tensor._array.ndim
    if ndim > 1:
        return tensor
    return rows.unsqueeze(tensor, 0) if ndim else rows.reshape(tensor, (1, 1))


@composite(method=False)
@_each
def atleast_3d(tensor: Tensor) -> Tensor:
    """Each tensor with at least three dimensions."""
    ndim = tensor._array.ndim
    if ndim > 2:
        return tensor
    if ndim == 2:
        return rows.unsqueeze(tensor, -1)
    return rows.unsqueeze(rows.unsqueeze(tensor, 0), -1) if ndim else rows.reshape(tensor, (1, 1, 1))


# -- in place: only sizes and strides change ---------------------------------------------------------------------------


def rearranged(target: Tensor, row: Any, *settings: Any) -> Tensor:
    """Make ``target`` itself the view that ``row`` gives of it."""
    if isinstance(target, lifted.Lifted):
        below = lifted.beneath(target)
        if not below._lifted:
            writable.check_writable(below, bool(history.edges_of(row.row, (below,))))
        target.become(row(target, *settings))
        share(lifted.plain(target)).version += 1
        return target
    edges = history.edges_of(row.row, (target,))
    writable.check_writable(target, bool(edges))
    version = share(target)
    old = target._array
    moved = row.row.kernel(old, *settings)
    record = history.make_record(row.row, edges, (target,), (old,), settings, None) if edges else None
    target._array = moved
    version.version += 1
    edge = target._edge
    if type(edge) is View:
        if record is not None:
            edge.edge = record
        if edge.edge is record:  # else its history is that of another layout, and read anew
            edge.seen = version.version
    elif record is not None:
        target._edge = record
    elif moved.shape != old.shape:
        fit_gradients(target, old)
    return target


@composite(function=False)
def squeeze_(self: Tensor, *dim: Any, **named: Any) -> Tensor:
    """In-place :func:`squeeze`."""
    if not dim and not named:
        return rearranged(self, rows.squeeze_inplace)
    dims = sizes_of("squeeze_", dim, named, "dim")
    if len(dims) == 1 and not isinstance((dim or tuple(named.values()))[0], _LISTS):
        return rearranged(self, rows.squeeze_dim_inplace, dims[0])
    return rearranged(self, rows.squeeze_dims_inplace, dims)


@composite(function=False)
def unsqueeze_(self: Tensor, dim: int) -> Tensor:
    """In-place :func:`unsqueeze`."""
    return rearranged(self, rows.unsqueeze_inplace, need_int("unsqueeze_", "dim", 1, dim))


@composite(function=False)
def t_(self: Tensor) -> Tensor:
    """In-place :func:`t`."""
    if self._array.ndim > 2:
        writable.check_writable(self, False)
        raise RuntimeError(f"t_() expects a tensor with <= 2 dimensions, but self is {self._array.ndim}D")
    return rearranged(self, rows.t_inplace)


@composite("swapdims_", function=False)
def transpose_(self: Tensor, dim0: int, dim1: int) -> Tensor:
    """In-place :func:`transpose`."""
    return rearranged(self, rows.transpose_inplace, dim0, dim1)


@composite()
def swapaxes(input: Tensor, axis0: int, axis1: int) -> Tensor:
    """The view with two dimensions exchanged."""
    return rows.transpose(input, axis0, axis1)


@composite(function=False)
def swapaxes_(self: Tensor, axis0: int, axis1: int) -> Tensor:
    """In-place :func:`swapaxes`."""
    return transpose_(self, axis0, axis1)
