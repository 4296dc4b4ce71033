"""What an operand may be, PyTorch's sentence for anything else, and writing over the first operand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core import write
from ...core.tensor import Tensor
from ...ground import dtypes
from ...ground.dtypes import called
from ..declare import composite

PAIR = "Tensor input, Tensor other, *, Tensor out = None", "Tensor input, Number other, *, Tensor out = None"
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


def no_match(function: str, arguments: Sequence[Any], *signatures: str) -> TypeError:
    """PyTorch's error for arguments that fit none of ``signatures``."""
    got = ", ".join(called(value) for value in arguments)
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
    """Whether a number leaves the tensor's dtype as it is: an int any but bool, a float only floats and above."""
    kind = tensor._array.dtype.kind
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
    own = dtypes.of(tensor._array.dtype)
    kind = (
        dtypes.result_dtype((own,), (), (type(number),))
        if tensor._array.ndim
        else dtypes.result_dtype((), (own,), (type(number),))
    )
    return tensor.to(kind)  # type: ignore[attr-defined]


def of_two(
    function: str, both: Any, with_number: Any, of_number: Any, input: Any, other: Any, out: Any
) -> Tensor:
    """A function of two tensors, or of a tensor and a number on either side: a row for each of the three."""
    if isinstance(input, Tensor) and is_number(other):
        return with_number(raised(input, float(other)), plain(other), out=out)  # type: ignore[no-any-return]
    if is_number(input) and isinstance(other, Tensor):
        return of_number(raised(other, float(input)), plain(input), out=out)  # type: ignore[no-any-return]
    if not (isinstance(input, Tensor) and isinstance(other, Tensor)):
        raise no_match(function, (input, other), PAIR[0], "Number self, Tensor other, *, Tensor out = None", PAIR[1])
    return both(input, other, out=out)  # type: ignore[no-any-return]


def written(row: Any, target: Tensor, *others: Any, settings: Any = ()) -> Tensor:
    """Write a row's result over its first input; gives that."""
    return write.in_place(row.row, target, others, settings)


def number_aside(row: Any, with_number: Any, name: str) -> Any:
    """The in-place variant of a function whose number has a row of its own."""

    def in_place(self: Tensor, other: Any) -> Tensor:
        if is_number(other):
            other = plain(other)
            if row.row.strict:
                write.check_cast(raised(self, float(other))._array.dtype, self)
                return written(with_number, self, settings=(other,))
            if self._edge is not None and holds(self, other):
                return written(with_number, self, settings=(other,))
        return written(row, self, other)

    in_place.__name__ = in_place.__qualname__ = f"{name}_"
    in_place.__doc__ = f"In-place :func:`{name}`."
    return composite(function=False)(in_place)
