"""Conditions that a program states, as ``torch._check``: the error that says which of them does not hold."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from ..core.tensor import Tensor
from ..ground import dtypes

_UNSAID = (
    "Expected cond to be True, but got False. (Could this error message be improved? If so, please report an "
    "enhancement request to PyTorch.)"
)
_FORMER = (
    "_check_is_size will be removed in a future PyTorch release along with guard_size_oblivious.     Use _check(i >= "
    "0) instead."
)


def _check_with(error_type: type[Exception], cond: bool, message: Callable[[], Any] | None) -> None:
    """Raise ``error_type`` with what ``message()`` says unless the condition holds."""
    if not isinstance(cond, bool):
        if isinstance(cond, Tensor):
            raise TypeError(
                "cond must be a bool, but got a Tensor. For tensor conditions, use torch._check_tensor_all() to assert "
                "that all elements are true."
            )
        raise TypeError(f"cond must be a bool, but got {type(cond)}")
    if cond:
        return
    if message is None:
        raise error_type(_UNSAID)
    if not callable(message):
        raise TypeError("message must be a callable")
    raise error_type(str(message()))


def _check(cond: bool, message: Callable[[], Any] | None = None) -> None:
    """Raise RuntimeError unless the condition holds."""
    _check_with(RuntimeError, cond, message)


def _check_index(cond: bool, message: Callable[[], Any] | None = None) -> None:
    """Raise IndexError unless the condition holds."""
    _check_with(IndexError, cond, message)


def _check_value(cond: bool, message: Callable[[], Any] | None = None) -> None:
    """Raise ValueError unless the condition holds."""
    _check_with(ValueError, cond, message)


def _check_type(cond: bool, message: Callable[[], Any] | None = None) -> None:
    """Raise TypeError unless the condition holds."""
    _check_with(TypeError, cond, message)


def _check_not_implemented(cond: bool, message: Callable[[], Any] | None = None) -> None:
    """Raise NotImplementedError unless the condition holds."""
    _check_with(NotImplementedError, cond, message)


def _check_is_size(i: Any, message: Callable[[], Any] | None = None, *, max: Any = None) -> None:
    """Raise RuntimeError unless a number can be a size: at least zero, at most ``max``; deprecated, as in PyTorch."""
    warnings.warn(_FORMER, FutureWarning, stacklevel=2)
    _check(i >= 0, message)
    if max is not None:
        _check(i <= max, message)


def _check_tensor_all_with(error_type: type[Exception], cond: Any, message: Callable[[], Any] | None = None) -> None:
    """Raise ``error_type`` unless all elements of a tensor of bool are true."""
    if not isinstance(cond, Tensor):
        raise TypeError(f"cond must be a tensor, but got {type(cond)}")
    if cond.dtype is not dtypes.bool:
        raise TypeError(f"cond tensor must have dtype torch.bool, but got {cond.dtype}")
    _check_with(error_type, bool(cond._array.all()), message)


def _check_tensor_all(cond: Any, message: Callable[[], Any] | None = None) -> None:
    """Raise RuntimeError unless all elements of a tensor of bool are true."""
    _check_tensor_all_with(RuntimeError, cond, message)


def _assert_async(input: Any, assert_msg: str = "Expected Tensor with single nonzero value, but got zero") -> None:
    """Raise RuntimeError where a tensor of one element holds zero."""
    if not input:
        raise RuntimeError(assert_msg)


def _assert_scalar(input: Any, assert_msg: str) -> None:
    """Raise RuntimeError where a number is zero."""
    if not input:
        raise RuntimeError(assert_msg)
