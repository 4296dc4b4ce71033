"""Keeping gradients small: by their norm, or element by element."""

from __future__ import annotations

import types
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np

from ...core.tensor import Tensor, share, wrap
from ...ground import dtypes
from ...ground.meta import blank
from ...ops.declare import unit
from ...tensor.sparse import SparseTensor


def get_total_norm(
    tensors: Tensor | Iterable[Tensor],
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """The norm of all tensors as if they were one vector; RuntimeError where that is asked for and it is not finite."""
    every = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    if every:
        every[0].device  # noqa: B018  which PyTorch asks for first
    for place, tensor in enumerate(every):
        if tensor is None:
            words = "Tensors of the first list of nested Tensor lists are supposed to be defined but the"
            raise RuntimeError(f"{words} {place}-th Tensor is not.")
    total = norm_of_all(every, float(norm_type))
    if error_if_nonfinite and not np.isfinite(total.item()):
        raise RuntimeError(
            f"The total norm of order {float(norm_type)} for gradients from `parameters` is non-finite, so it cannot "
            "be clipped. To disable this error and scale the gradients by the non-finite norm anyway, set "
            "`error_if_nonfinite=False`"
        )
    return total


@unit
def norm_of_all(tensors: list[Tensor], norm_type: float) -> Tensor:
    """The norm of all tensors as if they were one vector."""
    if not tensors:
        return wrap(np.float32(0) if dtypes.get_default_dtype() is dtypes.float32 else np.float64(0))
    kind = tensors[0].dtype
    for tensor in tensors[1:]:
        kind = dtypes.promote_types(kind, tensor.dtype)
    if any([tensor._array.dtype.metadata for tensor in tensors]):
        return wrap(blank((), kind.to_real().numpy))
    norms = [_norm(tensor._array, norm_type) for tensor in tensors]
    total = _norm(np.array(norms, norms[0].dtype), norm_type)
    return wrap(np.asarray(total).astype(kind.to_real().numpy)[()])


def _norm(array: Any, p: float) -> Any:
    """The p-norm of all elements, in float32 at least."""
    if array.dtype.itemsize < 4:
        array = np.asarray(array).astype(np.float32)
    sizes = np.abs(array)
    if p == float("inf"):
        return sizes.max() if sizes.size else sizes.dtype.type(0)
    if p == float("-inf"):
        return sizes.min()
    if p == 0:
        return sizes.dtype.type(np.count_nonzero(sizes))
    if p == 1:
        return sizes.sum()
    if p == 2:
        flat = np.ravel(sizes)
        return np.sqrt(np.dot(flat, flat))
    return (sizes**p).sum() ** (1 / p)


def clip_grads_with_norm_(
    parameters: Tensor | Iterable[Tensor], max_norm: float, total_norm: Tensor, foreach: bool | None = None
) -> None:
    """Scale the gradients in place by ``max_norm / total_norm``, unless that would enlarge them."""
    scale_down_(_grads(parameters), float(max_norm), total_norm)


@unit
def scale_down_(tensors: list[Tensor], max_norm: float, total_norm: Tensor) -> None:
    """Scale tensors in place by ``max_norm / total_norm``, unless that would enlarge them."""
    factor = np.minimum(max_norm / (total_norm._array + total_norm._array.dtype.type(1e-6)), 1)
    for tensor in tensors:
        _write(tensor, tensor._array * factor)


def clip_grad_norm_(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Scale the gradients in place so that their total norm is ``max_norm`` at most; gives the norm they had."""
    if not isinstance(parameters, Tensor):
        generated = isinstance(parameters, types.GeneratorType)
        parameters = list(parameters)
        if generated and not parameters:
            warnings.warn("`parameters` is an empty generator, no gradient clipping will occur.", stacklevel=2)
    total = get_total_norm(_grads(parameters), norm_type, error_if_nonfinite, foreach)
    clip_grads_with_norm_(parameters, max_norm, total, foreach)
    return total


def clip_grad_norm(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Deprecated: :func:`clip_grad_norm_`."""
    warnings.warn(
        "`torch.nn.utils.clip_grad_norm` is now deprecated in favor of `torch.nn.utils.clip_grad_norm_`.",
        FutureWarning,
        stacklevel=2,
    )
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite, foreach)


def clip_grad_value_(parameters: Tensor | Iterable[Tensor], clip_value: float, foreach: bool | None = None) -> None:
    """Keep every element of the gradients between ``-clip_value`` and ``clip_value``, in place."""
    grads = _grads(parameters)
    if not grads:
        raise RuntimeError(
            "Expected !nested_tensorlist[0].empty() to be true, but got false.  (Could this error message be improved? "
            " If so, please report an enhancement request to PyTorch.)"
        )
    keep_within_(grads, float(clip_value))


@unit
def keep_within_(tensors: list[Tensor], bound: float) -> None:
    """Keep every element of tensors between ``-bound`` and ``bound``, in place."""
    for tensor in tensors:
        kind = tensor._array.dtype
        low, high = np.array(-bound).astype(kind), np.array(bound).astype(kind)
        _write(tensor, np.minimum(np.maximum(tensor._array, low), high))


def _grads(parameters: Tensor | Iterable[Tensor]) -> list[Tensor]:
    parameters = [parameters] if isinstance(parameters, Tensor) else parameters
    return [parameter._grad for parameter in parameters if parameter._grad is not None]


def _write(tensor: Tensor, values: Any) -> None:
    version = share(tensor)
    if isinstance(tensor, SparseTensor):
        tensor._array = values.astype(tensor._array.dtype)
    elif tensor._array.dtype.metadata is None:
        tensor._array[...] = values
    version.version += 1
