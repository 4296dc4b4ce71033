"""How far something reaches in each dimension: numbers read and checked, with PyTorch's words for wrong ones."""

from __future__ import annotations

from typing import Any

from ...core.tensor import Tensor
from ...ground.dtypes import called


def is_int(value: Any) -> bool:
    """Whether a value counts as a whole number; a bool does not."""
    return type(value) is int or (not isinstance(value, (bool, float)) and hasattr(value, "__index__"))


def ints(function: str, name: str, position: int, value: Any, none: bool = False) -> tuple[int, ...]:
    """One whole number or several as a tuple; nothing for None where that is allowed."""
    if type(value) is int:
        return (value,)
    if value is None and none:
        return ()
    if isinstance(value, (tuple, list)):
        for index, n in enumerate(value):
            if type(n) is not int and not is_int(n):
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


def whole_number(function: str, name: str, position: int, value: Any) -> int:
    """A whole number."""
    if not is_int(value):
        raise TypeError(f"{function}(): argument '{name}' (position {position}) must be int, not {called(value)}")
    return value.__index__()  # type: ignore[no-any-return]


def need_bool(function: str, name: str, position: int, value: Any) -> None:
    """Raise PyTorch's error unless a value is True or False."""
    if type(value) is not bool:
        raise TypeError(f"{function}(): argument '{name}' (position {position}) must be bool, not {called(value)}")


def need_rank(function: str, input: Tensor, least: int, most: int) -> None:
    """Raise PyTorch's error unless a tensor has so many dimensions."""
    if not least <= input._array.ndim <= most:
        raise RuntimeError(
            f"Expected {least} to {most} dimensions, but got {input._array.ndim}-dimensional tensor for "
            f"argument #1 'self' "
            f"(while checking arguments for {function})"
        )


def on_meta(input: Tensor) -> bool:
    """Whether a tensor has a shape but no elements."""
    return input._array.dtype.metadata is not None


def sized(input: Tensor, sizes: Any, dtype: Any = None) -> Tensor:
    """A tensor of other sizes on the same device, its elements not set: what a meta tensor gives."""
    return input.new_empty(tuple(sizes), dtype=dtype)  # type: ignore[attr-defined, no-any-return]
