"""PyTorch's signatures of putting tensors together and taking them apart."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.tensor import Tensor, View, wrap
from ...ground.dtypes import called, need_int
from ...ground.listening import asking
from ...ground.runtime import warn_once
from ...ops.declare import composite
from ..arithmetic.functions import need_tensor, no_match
from ..index.rows import masked_select, slice
from ..index.slices import index_select
from ..shape.functions import atleast_1d, atleast_2d, atleast_3d, ints, sizes_of
from ..shape.rows import axis_of, compact, expand, reshape, unsqueeze, view
from . import rows


def _listed(function: str, tensors: Any) -> Any:
    if not isinstance(tensors, (tuple, list)):
        raise TypeError(
            f"{function}(): argument 'tensors' (position 1) must be tuple of Tensors, not {called(tensors)}"
        )
    return tensors


@composite("concat", "concatenate", method=False)
def cat(tensors: Any, dim: int = 0, *, out: Any = None) -> Tensor:
    """The tensors one after the other along ``dim``."""
    if not _listed("cat", tensors):
        raise ValueError("torch.cat(): expected a non-empty list of Tensors")
    if type(dim) is not int and not hasattr(dim, "__index__"):
        raise TypeError(f"cat(): argument 'dim' must be int, not {called(dim)}")
    return rows.cat(tensors, dim, out=out)


@composite(method=False)
def stack(tensors: Any, dim: int = 0, *, out: Any = None) -> Tensor:
    """The tensors, all of one shape, along a new dimension."""
    if not _listed("stack", tensors):
        raise RuntimeError("stack expects a non-empty TensorList")
    return rows.stack(tensors, dim, out=out)


def _at_least(function: str, tensors: Any, form: Any) -> list[Tensor]:
    if not _listed(function, tensors):
        raise RuntimeError(f"{function} expects a non-empty TensorList")
    return [form(tensor) for tensor in tensors]


@composite(method=False)
def hstack(tensors: Any, *, out: Any = None) -> Tensor:
    """The tensors side by side: along the second dimension, vectors along the first."""
    parts = _at_least("hstack", tensors, atleast_1d)
    return rows.cat(parts, 0 if parts[0]._array.ndim == 1 else 1, out=out)


@composite("row_stack", method=False)
def vstack(tensors: Any, *, out: Any = None) -> Tensor:
    """The tensors on top of each other: along the first dimension, vectors as rows."""
    return rows.cat(_at_least("vstack", tensors, atleast_2d), 0, out=out)


@composite(method=False)
def dstack(tensors: Any, *, out: Any = None) -> Tensor:
    """The tensors behind each other: along the third dimension."""
    return rows.cat(_at_least("dstack", tensors, atleast_3d), 2, out=out)


@composite(method=False)
def column_stack(tensors: Any, *, out: Any = None) -> Tensor:
    """The tensors side by side, vectors as columns."""
    columns = _at_least("column_stack", tensors, _column)
    return rows.cat(columns, 1, out=out)


def _column(tensor: Tensor) -> Tensor:
    return tensor if tensor._array.ndim > 1 else reshape(tensor, (tensor._array.size, 1))


@composite(method=False)
def block_diag(*tensors: Any) -> Tensor:
    """The matrix that holds the tensors as blocks on its diagonal."""
    if not tensors:
        return wrap(np.zeros((1, 0), np.float32))
    for position, tensor in enumerate(tensors):
        if not isinstance(tensor, Tensor):
            raise TypeError(f"expected Tensor as element {position} in argument 0, but got {type(tensor).__name__}")
    return rows.block_diag(list(tensors))


# -- taking apart ------------------------------------------------------------------------------------------------------


@composite()
def split(tensor: Tensor, split_size_or_sections: Any = None, dim: int = 0, *, split_size: Any = None) -> Any:
    """Views of pieces of ``dim``: of one size (the last may be smaller), or of the sizes listed."""
    size = split_size if split_size_or_sections is None else split_size_or_sections
    if isinstance(size, (tuple, list)):
        sizes = sizes_of("split_with_sizes", (size,), {}, "split_sizes") if size else ()
        return rows.split_with_sizes(tensor, sizes, dim)
    return rows.split(tensor, need_int("split", "split_size", 2, size), dim)


@composite()
def split_with_sizes(input: Tensor, split_sizes: Any, dim: int = 0) -> Any:
    """Views of pieces of ``dim`` of the sizes listed."""
    if not isinstance(split_sizes, (tuple, list)):
        raise TypeError(
            f"split_with_sizes(): argument 'split_sizes' (position 2) must be tuple of ints, not {called(split_sizes)}"
        )
    return rows.split_with_sizes(input, sizes_of("split_with_sizes", (split_sizes,), {}, "split_sizes"), dim)


@composite()
def unsafe_split(input: Tensor, split_size: int, dim: int = 0) -> Any:
    """What ``split`` gives, for whoever promises not to write into the pieces: not tracked as views."""
    return untracked(rows.unsafe_split(input, split_size, dim))


@composite()
def unsafe_split_with_sizes(input: Any, split_sizes: Sequence[int], dim: int = 0) -> Any:
    """What ``split_with_sizes`` gives, for whoever promises not to write into the pieces: not tracked as views."""
    need_tensor("unsafe_split_with_sizes", "input", 1, input)
    return untracked(rows.unsafe_split_with_sizes(input, tuple(split_sizes), dim))


def untracked(parts: Any) -> Any:
    """Views made tensors in their own right: a write into one is not noticed by the others."""
    for part in parts:
        if type(part._edge) is View:
            part._edge, part._counter = part._edge.edge, None
    return parts


def _chunked(input: Tensor, chunks: int, dim: int) -> int:
    """The size of each of ``chunks`` pieces."""
    if not input._array.ndim:
        raise RuntimeError("chunk expects at least a 1-dimensional tensor")
    if type(chunks) is not int:
        chunks = need_int("chunk", "chunks", 2, chunks)
    if chunks < 1:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    return -(-input._array.shape[axis_of(dim, input._array.ndim)] // chunks)


@composite()
def chunk(input: Tensor, chunks: int, dim: int = 0) -> Any:
    """Views of at most ``chunks`` pieces of ``dim`` of one size; the last may be smaller."""
    size = _chunked(input, chunks, dim)
    if size == 0:
        return rows.split_with_sizes(input, (0,) * chunks, dim)
    return rows.split(input, size, dim)


@composite()
def unsafe_chunk(input: Tensor, chunks: int, dim: int = 0) -> Any:
    """What ``chunk`` gives, for whoever promises not to write into the pieces."""
    size = _chunked(input, chunks, dim)
    return unsafe_split(input, size, dim) if size else unsafe_split_with_sizes(input, (0,) * chunks, dim)


def _splits(name: str, input: Any, *ways: Any) -> Any:
    """The one that was given of the ways to say into which pieces: how many, or where they begin."""
    given = [way for way in ways if way is not None]
    if len(given) == 1 and not isinstance(given[0], bool):
        way = given[0]
        if isinstance(way, (tuple, list)):
            fits = not way or type(way[0]) is not bool
        elif isinstance(way, Tensor):
            fits = name == "tensor_split" or not way._array.ndim
        else:
            fits = hasattr(way, "__index__") and not isinstance(way, np.ndarray)
        if fits:
            return way
    forms = ["int sections", "tuple of ints indices"]
    if name == "tensor_split":
        kinds = "tuple of ints indices", "Tensor tensor_indices_or_sections", "int sections"
        forms = [f"{kind}, int dim = 0" for kind in kinds]
    raise no_match(name, (input, *given), *[f"Tensor input, {form}" for form in forms])


@composite()
def tensor_split(
    input: Tensor, indices_or_sections: Any = None, dim: int = 0, *, indices: Any = None, sections: Any = None,
    tensor_indices_or_sections: Any = None,
) -> tuple[Tensor, ...]:  # fmt: skip
    """Views of pieces of ``dim``: so many of nearly one size, or those between the indices listed."""
    ndim = input._array.ndim
    if not ndim:
        raise RuntimeError("tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims")
    splits = _splits("tensor_split", input, indices_or_sections, indices, sections, tensor_indices_or_sections)
    size = input._array.shape[axis_of(dim, ndim)]
    if isinstance(splits, Tensor):
        expected = "tensor_split expected tensor_indices_or_sections to"
        if splits._array.dtype.metadata is not None:
            raise RuntimeError(f"{expected} be on cpu, but it's on meta")
        if splits._array.dtype != np.int64:
            raise RuntimeError(f"{expected} have dtype of long, but got {splits.dtype.scalar_name}")
        if splits._array.ndim > 1:
            raise RuntimeError(
                f"{expected} be a zero-dimensional or one-dimensional tensor, but got a tensor with "
                f"{splits._array.ndim} dims"
            )
        splits = splits._array.tolist()
    if isinstance(splits, (tuple, list)):
        cuts = [0, *splits]
        ends = [*splits, size]
    else:
        if splits <= 0:
            raise RuntimeError(f"number of sections must be larger than 0, got {splits}")
        small, more = divmod(size, splits)
        lengths = [small + 1] * more + [small] * (splits - more)
        ends = list(itertools.accumulate(lengths))
        cuts = [0, *ends[:-1]]
    return tuple(slice(input, dim, start, end, 1) for start, end in zip(cuts, ends, strict=True))


def _evenly(name: str, least: int, input: Tensor, splits: Any, dim: int) -> tuple[Tensor, ...]:
    ndim = input._array.ndim
    if ndim < least:
        raise RuntimeError(
            f"torch.{name} requires a tensor with at least {least} dimension, but got a tensor with {ndim} dimensions!"
        )
    size = input._array.shape[dim]
    if isinstance(splits, int) and (splits == 0 or size % splits):
        raise RuntimeError(
            f"torch.{name} attempted to split along dimension {dim}, but the size of the dimension {size} is not "
            f"divisible by the split_size {splits}!"
        )
    return tensor_split(input, splits, dim)


@composite()
def hsplit(
    input: Tensor, indices_or_sections: Any = None, *, indices: Any = None, sections: Any = None
) -> tuple[Tensor, ...]:
    """Views of pieces side by side."""
    splits = _splits("hsplit", input, indices_or_sections, indices, sections)
    return _evenly("hsplit", 1, input, splits, 0 if input._array.ndim == 1 else 1)


@composite()
def vsplit(
    input: Tensor, indices_or_sections: Any = None, *, indices: Any = None, sections: Any = None
) -> tuple[Tensor, ...]:
    """Views of pieces on top of each other."""
    splits = _splits("vsplit", input, indices_or_sections, indices, sections)
    return _evenly("vsplit", 2, input, splits, 0)


@composite()
def dsplit(
    input: Tensor, indices_or_sections: Any = None, *, indices: Any = None, sections: Any = None
) -> tuple[Tensor, ...]:
    """Views of pieces behind each other."""
    splits = _splits("dsplit", input, indices_or_sections, indices, sections)
    return _evenly("dsplit", 3, input, splits, 2)


# -- grids -------------------------------------------------------------------------------------------------------------

_INDEXING = (
    "torch.meshgrid: in an upcoming release, it will be required to pass the indexing argument. (Triggered internally "
    "at /__w/pytorch/pytorch/aten/src/ATen/native/TensorShape.cpp:4215.)"
)


@composite(method=False)
@asking
def meshgrid(*tensors: Any, indexing: str | None = None) -> tuple[Tensor, ...]:
    """The coordinates of all points of the grid that vectors span, one tensor for each vector."""
    if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)):
        tensors = tuple(tensors[0])
    if indexing is None:
        warn_once(_INDEXING)
    return _grid(tensors, indexing or "ij")


def _grid(tensors: tuple[Any, ...], indexing: str) -> tuple[Tensor, ...]:
    if not tensors:
        raise RuntimeError("meshgrid expects a non-empty TensorList")
    for position, tensor in enumerate(tensors):
        if not isinstance(tensor, Tensor):
            raise TypeError(f"expected Tensor as element {position} in argument 0, but got {called(tensor)}")
    if any(tensor._array.dtype != tensors[0]._array.dtype for tensor in tensors):
        raise RuntimeError("meshgrid expects all tensors to have the same dtype")
    if len({tensor.device.type for tensor in tensors}) > 1:
        raise RuntimeError("meshgrid expects all tensors to have the same device")
    for tensor in tensors:
        if tensor._array.ndim > 1:
            raise RuntimeError(f"torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: {_shown(tensor)}")
    if indexing not in ("xy", "ij"):
        raise RuntimeError(f'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}')
    swap = indexing == "xy" and len(tensors) >= 2
    if swap:
        tensors = (tensors[1], tensors[0], *tensors[2:])
    sizes = tuple(tensor._array.size for tensor in tensors)
    grids = [
        expand(view(tensor, tuple(-1 if at == position else 1 for at in range(len(tensors)))), sizes)
        for position, tensor in enumerate(tensors)
    ]
    if swap:
        grids[0], grids[1] = grids[1], grids[0]
    return tuple(grids)


def _shown(tensor: Tensor) -> str:
    """How PyTorch's C++ writes a tensor of two dimensions at most."""
    values = np.atleast_2d(np.asarray(tensor._array, np.float64))
    finite = np.abs(values[np.isfinite(values)])
    least, most = (
        int(np.floor(np.log10(end))) + 1 if end else 1 for end in (finite.min(initial=np.inf), finite.max(initial=0))
    ) if finite.size else (1, 1)
    scale, form = 1.0, f"{most + 6 if most else 7}.4f"
    if (values == np.ceil(values)).all():
        form = "11.4e" if most > 9 else f"{most + 1}.0f"
    elif most - least > 4:
        form = "11.4e"
    elif not 0 <= most <= 5:
        scale, form = 10.0 ** (most - 1), "7.4f"
    lines = [" ".join(f"{value / scale:{form}}" for value in row) for row in values.tolist()]
    sizes = ",".join(map(str, tensor._array.shape))
    kind = f"torch.{tensor.dtype.scalar_name}Tensor" if tensor._array.dtype != bool else "CPUBoolType"
    if scale != 1:
        lines = [f"{scale:g} *", *lines[:1], *(f" {line}" for line in lines[1:])]
    return "\n".join([*lines, f"[ {kind}{{{sizes}}} ]"])


def _vector(tensor: Tensor) -> None:
    if tensor._array.ndim != 1:
        raise RuntimeError(f"Expect a 1D vector, but got shape {list(tensor._array.shape)}")


@composite(method=False)
def cartesian_prod(*tensors: Any) -> Tensor:
    """All combinations of one element of each vector, one in a row."""
    for at, tensor in enumerate(tensors):
        if not isinstance(tensor, Tensor):
            raise TypeError(f"expected Tensor as element {at} in argument 0, but got {called(tensor)}")
    for tensor in tensors:
        _vector(tensor)
    if len(tensors) == 1:
        return tensors[0]
    return rows.stack([reshape(grid, (-1,)) for grid in _grid(tensors, "ij")], 1)


@composite()
def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """All choices of ``r`` elements of a vector, in the order they have in it, one in a row."""
    _vector(input)
    if r < 0:
        raise RuntimeError(f"Expect a non-negative number, but got {r}")
    if r == 0:
        return wrap(np.zeros((0,), input._array.dtype))
    count = input._array.size
    r = operator.index(r)
    if count > 1 and (r > 62 or count**r >= 1 << 63):
        raise RuntimeError("numel: integer multiplication overflow")
    positions = np.indices((count,) * r)
    chosen = np.ones((count,) * r, bool)
    for before, after in itertools.pairwise(positions):
        chosen &= before <= after if with_replacement else before < after
    mask = wrap(chosen)
    return rows.stack([masked_select(grid, mask) for grid in _grid((input,) * r, "ij")], 1)


# -- PyTorch's signatures of repeating, mirroring, rolling and turning.


@composite(function=False)
def repeat(self: Tensor, *repeats: Any, **named: Any) -> Tensor:
    """The tensor beside itself, so many times along every dimension."""
    return rows.repeat(self, sizes_of("repeat", repeats, named, "repeats"))


@composite()
def tile(input: Tensor, *dims: Any, **named: Any) -> Tensor:
    """The tensor beside itself, so many times along the last dimensions."""
    times = sizes_of("tile", dims, named, "dims")
    return rows.repeat(input, (1,) * (input._array.ndim - len(times)) + times)


@composite()
def repeat_interleave(
    input: Any = None, repeats: Any = None, dim: int | None = None, *, output_size: int | None = None
) -> Tensor:
    """Each element, or slice of ``dim``, so often in a row; of one tensor alone, its indices as often as it says."""
    if input is None and dim is None:
        input, repeats = repeats, None
    if input is None or (repeats is None and dim is not None):
        every = "int dim = None"
        kinds = f"Tensor input, Tensor repeats, {every}", "Tensor repeats", f"Tensor input, int repeats, {every}"
        given = [value for value in (input, dim) if value is not None]
        raise no_match("repeat_interleave", given, *[f"{kind}, *, int output_size = None" for kind in kinds])
    need_tensor("repeat_interleave", "repeats", 1, input)
    if repeats is None:
        return rows.repeated(input, output_size)  # type: ignore[no-any-return]
    if isinstance(repeats, (bool, float)) or not (isinstance(repeats, Tensor) or hasattr(repeats, "__index__")):
        raise TypeError(
            f"repeat_interleave() received an invalid combination of arguments - got ({called(repeats)}), but expected "
            "one of:\n * (Tensor repeats, int dim = None, *, int output_size = None)\n * (int repeats, int dim = None, "
            "*, int output_size = None)\n"
        )
    if isinstance(repeats, Tensor) and repeats._array.ndim > 1:
        raise RuntimeError("repeats must be 0-dim or 1-dim tensor")
    if dim is None:
        input, dim = reshape(input, (-1,)), 0
    axis = axis_of(dim, input._array.ndim)
    if not input._array.ndim:
        if isinstance(repeats, Tensor):
            raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
        raise IndexError("Dimension out of range (expected to be in range of [-1, 0], but got 1)")
    sizes = input._array.shape
    if not isinstance(repeats, Tensor):
        count = repeats.__index__()
        if count < 0:
            raise RuntimeError("Repeats must be non-negative")
        wide = expand(unsqueeze(input, axis + 1), (*sizes[: axis + 1], count, *sizes[axis + 1 :]))
        return view(compact(wide), (*sizes[:axis], sizes[axis] * count, *sizes[axis + 1 :]))
    if repeats._array.size == 1:
        repeats = expand(repeats, (sizes[axis],))
    elif repeats._array.size != sizes[axis]:
        raise RuntimeError(
            "repeats must have the same size as input along dim, but got repeats.size(0) = "
            f"{repeats._array.size} and input.size({dim}) = {sizes[axis]}"
        )
    return index_select(input, rows.repeated(repeats, output_size), axis)


@composite()
def flip(input: Tensor, *dims: Any, **named: Any) -> Tensor:
    """The tensor mirrored along ``dims``."""
    return rows.flip(input, sizes_of("flip", dims, named, "dims"))


@composite()
def fliplr(input: Tensor) -> Tensor:
    """The matrix mirrored from left to right."""
    if input._array.ndim < 2:
        raise RuntimeError("Input must be >= 2-d.")
    return rows.flip(input, (1,))


@composite()
def flipud(input: Tensor) -> Tensor:
    """The tensor mirrored along its first dimension."""
    if input._array.ndim < 1:
        raise RuntimeError("Input must be >= 1-d.")
    return rows.flip(input, (0,))


@composite()
def roll(input: Tensor, shifts: int | Sequence[int], dims: int | Sequence[int] | None = ()) -> Tensor:
    """The tensor with elements moved on along ``dims``, those that fall off coming back at the other end."""
    shifts, dims = ints("roll", "shifts", 2, shifts), ints("roll", "dims", 3, dims, True)
    if len(dims) == len(shifts) > 0 and not input._array.ndim:
        raise IndexError(f"Dimension specified as {dims[0]} but tensor has no dimensions")
    return rows.roll(input, shifts, dims)


@composite()
def rot90(input: Tensor, k: int = 1, dims: Sequence[int] = (0, 1)) -> Tensor:
    """The tensor turned ``k`` times by 90 degrees in the plane of two dimensions."""
    return rows.rot90(input, need_int("rot90", "k", 2, k), ints("rot90", "dims", 3, dims))
