"""What an operand may be - a tensor, a Python number, a NumPy scalar - and PyTorch's sentence for anything else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...ground import dtypes
from ...ground.dtypes import called
from ...tensor.tensor import Tensor

_NUMBERS = (int, float, complex, np.number, np.bool_)


def is_number(value: Any) -> bool:
    """Whether ``value`` counts as a Python number."""
    return isinstance(value, _NUMBERS)


def is_operand(value: Any) -> bool:
    """Whether an operator accepts ``value`` beside a tensor."""
    return isinstance(value, Tensor) or isinstance(value, _NUMBERS)


def plain(value: Any) -> Any:
    """A NumPy scalar as the Python number it stands for."""
    return value.item() if isinstance(value, np.generic) else value


def no_match(function: str, given: Sequence[Any], *signatures: str) -> TypeError:
    """PyTorch's error for arguments that fit none of ``signatures``."""
    got = ", ".join(called(value) for value in given)
    if len(signatures) == 1:
        return TypeError(
            f"{function}() received an invalid combination of arguments - got ({got}), but expected ({signatures[0]})"
        )
    listed = "".join(f" * ({signature})\n" for signature in signatures)
    return TypeError(
        f"{function}() received an invalid combination of arguments - got ({got}), but expected one of:\n{listed}"
    )


def need_tensor(function: str, name: str, position: int, value: Any) -> None:
    """Raise PyTorch's error unless ``value`` is a tensor."""
    if not isinstance(value, Tensor):
        raise TypeError(f"{function}(): argument '{name}' (position {position}) must be Tensor, not {called(value)}")


def holds(tensor: Tensor, number: Any) -> bool:
    """Whether a number leaves the tensor's dtype as it is: an int any but bool, a float floats, a complex complex ones."""
    kind = tensor._d.dtype.kind
    if kind == "c":
        return True
    if isinstance(number, complex) and not isinstance(number, (int, float)):
        return False
    if kind == "f" or kind == "V":
        return True
    return kind != "b" and isinstance(number, int) and not isinstance(number, bool)


def raised(tensor: Tensor, number: Any) -> Tensor:
    """The tensor in the dtype that it and a number agree on."""
    if holds(tensor, number):
        return tensor
    own = dtypes.of(tensor._d.dtype)
    kind = (
        dtypes.result_dtype((own,), (), (type(number),))
        if tensor._d.ndim
        else dtypes.result_dtype((), (own,), (type(number),))
    )
    return tensor.to(kind)  # type: ignore[attr-defined]
