"""Calls that are not for the table alone: types with ``__torch_function__``, transforms, autocast, meta tensors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core import call, write
from ..core.call import NOT_TAKEN
from ..core.row import TABLE, Row
from ..core.tensor import Tensor
from ..ground import dtypes, modes
from ..ground.meta import blank, need_data
from ..tensor import lifted, writable
from ..tensor.parameter import Parameter
from .torch_function import ask, heed, is_inner, overloaded, row_overridden

_bfloat16 = dtypes.bfloat16.numpy


def strangers(row: Row, tensors: Sequence[Any], settings: Sequence[Any], out: Any) -> tuple[Any, Sequence[Any]]:
    """Who else has a say in a call: subclasses, transforms, modes.  Gives an answer or NOT_TAKEN, and the tensors."""
    flat = tensors[0] if row.listed else tensors
    answer = row_overridden(row, tensors, settings, out)
    if answer is not NOT_TAKEN:
        return answer, tensors
    if row.fallback is not None:
        return row.fallback(*tensors, *settings), tensors
    if lifted.is_lifted(flat):
        return lifted.call(row, tensors, settings, out), tensors
    if any(map(_overrides, flat)):
        answer = dispatch(row, tensors, settings, out)
        if answer is not NOT_TAKEN:
            return answer, tensors
    if row.precision is not None and modes.watch and modes.local.autocast is not None and out is None:
        cast = modes.local.autocast.cast(row.precision, flat)
        tensors = (cast,) if row.listed else cast
    if not row.listed:
        tensors = tuple(t.item() if isinstance(t, np.generic) else t for t in tensors)
    return NOT_TAKEN, tensors


def strangers_written(row: Row, target: Any, others: Sequence[Any], settings: Sequence[Any]) -> Any:
    """The same of a write: gives what is written, or NOT_TAKEN."""
    heed((target, *others))
    if lifted.is_lifted((target, *others)):
        return lifted.write(row, target, others, settings)
    if any(map(_overrides, others)) and not _overrides(target):
        return _written_from_sparse(row, target, others, settings)
    if not overloaded(others):
        return NOT_TAKEN

    def again(*operands: Any) -> Any:
        return write.in_place(row, operands[0], operands[1:], settings, asked=True)

    again.__name__ = f"{row.name}_"
    return ask(again, overloaded((target, *others)), (target, *others), None)  # types that want results of their own


def _written_from_sparse(row: Row, target: Any, others: Sequence[Any], settings: Sequence[Any]) -> Any:
    """A write of what is computed with sparse tensors into one that is not."""
    if row.name == "copy":
        kinds = dtypes.type_name(target.dtype), dtypes.type_name(others[0].dtype).replace("torch.", "torch.sparse.")
        raise RuntimeError(
            "copy_() between dense and sparse Tensors is not implemented! Found self type = {} and src type = "
            "{}".format(*kinds)
        )
    result = row.caller(target, *others, *settings)
    writable.check_cast(result._array.dtype, target)
    return write.in_place(TABLE["copy"], target, (result.to_dense() if result.is_sparse else result,), ())


def dispatch(row: Row, tensors: Sequence[Any], settings: Sequence[Any], out: Any) -> Any:
    """What an argument's ``__torch_function__`` answers."""
    args = (*tensors, *settings)
    kwargs = {} if out is None else {"out": out}
    flat = tensors[0] if row.listed else tensors
    types = tuple(dict.fromkeys(type(value) for value in flat if _overrides(value)))
    for value in sorted((value for value in flat if _overrides(value)), key=lambda value: -len(type(value).__mro__)):
        answer = type(value).__torch_function__(row.caller, types, args, kwargs)
        if answer is not NotImplemented:
            return answer
    return NOT_TAKEN


def _overrides(value: Any) -> bool:
    return type(value) not in (Tensor, Parameter) and is_inner(type(value))


_SMALL = 8  # sizes up to here stand for themselves
_FEW = 4096  # elements up to which computing is simpler than standing in
_STAND_INS = ((11, 13, 17, 19, 23, 29, 31, 37, 41), (43, 47, 53, 59, 61, 67, 71, 73, 79))


#: Of places, which carry no gradient.
_PLACE = np.dtype(np.int64)
#: Whose sizes follow from elements, or for which PyTorch has no such kernel: by its name of them.
_OF_DATA = {name: name for name in ("nonzero", "bincount", "masked_select", "geqrf", "binomial")}
_OF_DATA["linalg_lstsq"] = "linalg_lstsq.out"


def shapes_only(row: Row, inputs: Sequence[Any], settings: Sequence[Any]) -> Any:
    """What a row gives for meta tensors: arrays that have a shape and a dtype but one shared element.

    Large sizes are found by two runs of the kernel on small stand-ins: a size of the result that follows one of the
    inputs' sizes follows its stand-ins too.
    """
    if row.view:
        return row.kernel(*inputs, *settings)
    arrays = [a for a in (inputs[0] if row.listed else inputs) if a is not None]
    if row.name in _OF_DATA:
        need_data(_OF_DATA[row.name], *arrays)
    if row.name != "copy" and any(not a.dtype.metadata and a.ndim for a in arrays):
        raise RuntimeError("Tensor on device cpu is not on the expected device meta!")
    if row.sizes is not None:
        shape, kind = row.sizes(*inputs, *settings), arrays[0].dtype
        if not row.outputs:
            return blank(shape, kind)
        kinds = [kind if position in row.differentiable else _PLACE for position in range(len(row.outputs))]
        return tuple([blank(shape, kind) for kind in kinds])
    if "generator" in row.settings:  # nothing is drawn, and refused what is refused of no elements
        row.kernel(*[_stand_in((0,), a.dtype, False) for a in arrays], *settings)
        return blank(np.broadcast_shapes(*[a.shape for a in arrays]), arrays[0].dtype)
    shapes = [a.shape for a in arrays] + [_whole_numbers(value) for value in settings]
    sizes = sorted({n for shape in shapes for n in shape if n > _SMALL})
    if sum(math.prod(shape) for shape in shapes) <= _FEW or len(sizes) > len(_STAND_INS[0]):
        return _blank_all(_run(row, inputs, settings, {}))
    maps = [_following(shapes, len(arrays), dict(zip(sizes, table, strict=False))) for table in _STAND_INS]
    first, second = (_run(row, inputs, settings, replaced) for replaced in maps)
    back = {(maps[0][n], maps[1][n]): n for n in maps[0]}
    several = isinstance(first, (tuple, list))
    pairs = zip(first, second, strict=True) if several else ((first, second),)
    blanks = [blank(tuple(_size(n, m, back) for n, m in zip(a.shape, b.shape, strict=True)), a.dtype) for a, b in pairs]
    return tuple(blanks) if several else blanks[0]


def _whole_numbers(value: Any) -> tuple[int, ...]:
    """The integers of a setting that may be a shape; none of a number."""
    return tuple(n for n in value if type(n) is int) if isinstance(value, (list, tuple)) else ()


def _following(shapes: Sequence[tuple[int, ...]], n_arrays: int, replaced: dict[int, int]) -> dict[int, int]:
    """The stand-ins of sizes, and of what follows from them: products of neighbours, and sums along one dimension."""
    replacements = {}
    for shape in shapes:
        for start in range(len(shape)):
            whole = small = 1
            for n in shape[start:]:
                whole, small = whole * n, small * replaced.get(n, n)
                if whole > _SMALL:
                    replacements[whole] = small
    if len({len(shape) for shape in shapes[:n_arrays]}) == 1:
        for column in zip(*shapes[:n_arrays], strict=True):
            if sum(column) > _SMALL:
                replacements.setdefault(sum(column), sum(replaced.get(n, n) for n in column))
    return {**replacements, **replaced}


def _run(row: Row, inputs: Sequence[Any], settings: Sequence[Any], replaced: dict[int, int]) -> Any:
    def small(value: Any, is_auxiliary: bool = False) -> Any:
        if isinstance(value, np.ndarray):
            return _stand_in([replaced.get(n, n) for n in value.shape], value.dtype, is_auxiliary)
        if isinstance(value, (list, tuple)):
            return type(value)(small(item) for item in value)
        return replaced.get(value, value) if type(value) is int else value

    auxiliary = [position in row.plan.auxiliary for position in range(len(inputs))]
    return row.kernel(*map(small, inputs, auxiliary), *map(small, settings))


def _stand_in(sizes: Sequence[int], dtype: np.dtype[Any], is_auxiliary: bool) -> Any:
    """Numbers that few kernels refuse: places that are there, matrices that can be inverted, whole divisors."""
    kind = np.dtype(dtype.str) if dtype.kind != "V" else _bfloat16
    if is_auxiliary:
        return np.zeros(sizes, kind)
    if len(sizes) < 2 or kind.kind not in "fcV":
        return np.ones(sizes, kind)
    return np.broadcast_to(np.eye(*sizes[-2:], dtype=kind), sizes).copy()


def _size(n: int, m: int, back: dict[tuple[int, int], int]) -> int:
    if n == m:
        return n
    if (n, m) not in back:
        raise NotImplementedError("the shape of the result cannot be told from the shapes of the inputs")
    return back[n, m]


def _blank_all(result: Any) -> Any:
    if isinstance(result, (tuple, list)):
        return tuple(blank(array.shape, array.dtype) for array in result)
    return blank(result.shape, result.dtype)


call.strangers, call.shapes_only, write.strangers = strangers, shapes_only, strangers_written
