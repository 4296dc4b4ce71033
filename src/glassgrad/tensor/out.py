"""``out=``: where a result is put that has memory to go to already; refusals first, in PyTorch's words and order."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..core import call
from ..core.row import Row
from ..core.tensor import Tensor, View, share
from ..core.write import store
from ..ground import dtypes, errors, modes
from ..ground.runtime import warn
from .writable import check_cast, check_fits, check_overlap, check_overlap_with

#: What the name of a row that is not public has behind the name of the function that users call.
_FORM = re.compile("(_(of_complex|dim|all|numbers?|tensors?|decimals|rounded|parts|from|of|value|stable))+$")


class Composed(NamedTuple):
    """What ``out=`` asks of a row, of a function of several: see ``Columns.out``."""

    name: str
    out: str | dict[str, str] = errors.OUT_DTYPE
    castable: bool = False  #: whether ``out`` may have any dtype that the result can be cast to
    copied: bool = False  #: whether PyTorch copies the result into ``out``, which may have a history
    inputs: tuple[str, ...] = ()
    disjoint: frozenset[str] = frozenset()
    aligned: bool = False
    inplace: bool = False
    constant: bool = False
    ruleless: bool = False
    public: bool = True
    outputs: tuple[str, ...] = ()
    differentiable: tuple[int, ...] = (0,)


def called(row: Row | Composed) -> str:
    """The name that users call a row by: several rows may stand behind one function."""
    return row.name if row.public else _FORM.sub("", row.name)


def check_outs(name: str, out: Any, count: int, position: int) -> None:
    """Raise PyTorch's error unless ``out``, its argument of that position, names ``count`` tensors."""
    if not isinstance(out, (tuple, list)):
        raise TypeError(f"{name}(): argument 'out' must be tuple of Tensors, not {dtypes.called(out)}")
    if len(out) != count:
        raise TypeError(f"expected tuple of {count} elements but got {len(out)}")
    for element, target in enumerate(out):
        if not isinstance(target, Tensor):
            raise TypeError(
                f"expected Tensor as element {element} in argument {position}, but got {dtypes.called(target)}"
            )


def _no_tensor(row: Row | Composed, out: Any) -> TypeError:
    return TypeError(f"{called(row)}(): argument 'out' must be Tensor, not {dtypes.called(out)}")


def check_gradients(row: Row | Composed, flat: Sequence[Any], out: Any) -> bool:
    """Whether what is put into ``out=`` would be recorded; PyTorch's error where that cannot be."""
    if row.outputs and not isinstance(out, (tuple, list)):
        check_outs(called(row), out, len(row.outputs), 0)
    elif not (out is None or row.outputs or isinstance(out, (Tensor, tuple))):
        raise _no_tensor(row, out)
    outs = out if isinstance(out, (tuple, list)) else (out,)
    if not modes.grad_enabled() or (row.constant and not row.ruleless):
        return False
    carriers = [target for position, target in enumerate(outs) if not row.outputs or position in row.differentiable]
    recorded = any(isinstance(tensor, Tensor) and tensor.requires_grad for tensor in (*flat, *carriers))
    if recorded and not row.copied:
        name = called(row)
        shown = f"aten::{name}" if row.ruleless else errors.COMPUTED_BY.get(name, name)
        raise RuntimeError(errors.OUT_GRADIENT.format(name=shown))
    return recorded


def into(row: Row | Composed, flat: Sequence[Any], out: Any, answer: Any) -> Any:
    """Put the answer of a call into ``out=``, resized if need be; gives ``out``."""
    name = called(row)
    if isinstance(answer, tuple):
        settings = row.settings if isinstance(row, Row) else ()
        check_outs(name, out, len(answer), len(flat) + len(settings))
        outs, answers = out, answer
    elif isinstance(out, Tensor):
        outs, answers = (out,), (answer,)
    else:
        raise _no_tensor(row, out)
    recorded = check_gradients(row, flat, outs)
    checks_kinds_first = row.out not in ("", errors.OUT_FOUND)  # PyTorch's elementwise iterator looks at memory first
    parts = [*zip(row.outputs or ["result"] * len(outs), outs, answers, strict=True)]
    if isinstance(row.out, dict):
        order = [*row.out]
        parts.sort(key=lambda part: order.index(part[0]))
    if checks_kinds_first:
        for part, target, source in parts:
            _check_out(row, target, source, part)
    for part, target, source in parts:
        _check_memory(row, flat, target)
        if not checks_kinds_first:
            is_elementwise = isinstance(row, Row) and row.typed is not None and row.batched == "point"
            if is_elementwise and any(operand is target for operand in flat):
                check_fits(target, source._array.shape)
            _check_out(row, target, source, part)
    for target, source in zip(outs, answers, strict=True):
        if target._array.shape != source._array.shape:
            resize(target, source._array.shape)
        if recorded:
            target.copy_(source)  # type: ignore[attr-defined]  # as every method of the table
        else:
            store(target, source._array)
    return out


def check_apart(out: Any, *inputs: Tensor) -> None:
    """Raise PyTorch's error where an input lies partly on ``out=``, which a copy of it could not tell."""
    if isinstance(out, Tensor):
        for tensor in inputs:
            check_overlap_with(out, tensor)


def _check_memory(row: Row | Composed, flat: Sequence[Any], out: Tensor) -> None:
    """Raise PyTorch's error where ``out`` lies on itself, or on an input that it must not lie on."""
    check_overlap(out)
    names = row.inputs if len(row.inputs) == len(flat) else (row.inputs[:1] or ("",)) * len(flat)
    iterates = not isinstance(row, Row) or row.batched == "point"
    asks = row.aligned or iterates and (row.inplace or not row.out)
    for name, operand in zip(names, flat, strict=True):
        copied = row.inplace and row.out and name == row.inputs[0]  # into ``out``, in which PyTorch then computes
        if isinstance(operand, Tensor) and (
            asks or name in row.disjoint or copied and operand._array.shape == out._array.shape
        ):
            if len(row.inputs) != len(flat) and not operand._array.size:
                continue  # of what is joined, PyTorch leaves out what is empty
            check_overlap_with(out, operand, name in row.disjoint)


def _check_out(row: Row | Composed, out: Tensor, result: Tensor, part: str) -> None:
    """Raise PyTorch's error where a result, which is that part, is not of the dtype or on the device of ``out``."""
    if isinstance(row, Row) and row.listed and not dtypes.can_cast(result.dtype, out.dtype):
        raise TypeError(f"torch.cat(): input types can't be cast to the desired output type {out.dtype.scalar_name}")
    if not row.out:
        check_cast(result._array.dtype, out)
    else:
        words = row.out[part] if isinstance(row.out, dict) else row.out
        check_dtype(row.name, out, result.dtype, words, row.castable, part)
    if not dtypes.on_one_device(result._array.dtype, out._array.dtype):
        raise RuntimeError(errors.OUT_DEVICE.format(source=result.device, target=out.device))


def check_dtype(
    name: str, out: Any, wanted: Any, words: str = errors.OUT_DTYPE, castable: bool = False, part: str = "result"
) -> None:
    """Raise PyTorch's error, in these words, where ``out=`` has not a result's dtype, nor one to cast it to."""
    if isinstance(out, Tensor) and out.dtype is not wanted and not (castable and dtypes.can_cast(wanted, out.dtype)):
        shown = {"wanted": dtypes.c_name(wanted), "found": dtypes.c_name(out.dtype), "name": name, "part": part}
        raise RuntimeError(words.format(**shown, Wanted=wanted.scalar_name, Found=out.dtype.scalar_name))


def resize(out: Tensor, shape: tuple[int, ...]) -> None:
    """Give an ``out=`` tensor another shape, with PyTorch's warning unless it was empty."""
    if out._array.size:
        warn(
            f"An output with one or more elements was resized since it had shape {list(out._array.shape)}, "
            f"which does not "
            f"match the required output shape {list(shape)}. This behavior is deprecated, and in a future PyTorch "
            "release outputs will not be resized unless they have zero elements. You can explicitly reuse an out "
            "tensor t by resizing it, inplace, to zero elements with t.resize_(0).",
        )
    share(out)
    out._array = np.empty(shape, out._array.dtype)
    if type(out._edge) is View and not out.requires_grad:
        out._edge = None  # a view no more


call.into, call.refuse_gradients = into, check_gradients
