"""What PyTorch looks at before anything else: types of arguments, and the history of what is written in place.

Here that is looked at when a call of a function in Python has failed for another reason, which costs no other call.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..core.tensor import Tensor
from ..ground import listening, modes
from ..ground.dtypes import called
from ..ground.synonyms import parameters
from ..tensor.writable import check_writable
from .in_python import is_in_python

_KINDS: dict[str, tuple[type, ...]] = {
    "Tensor": (Tensor,),
    "bool": (bool, np.bool_),
    "int": (int, np.integer),
    "float": (float, int, complex, np.number),  # a complex one is told apart by what takes it
}


#: What is asked of a tensor in place, and is no operation of the graph, or one through a view.
_NO_OPERATIONS = frozenset(
    ("apply_", "detach_", "fill_diagonal_", "map_", "requires_grad_", "resize_", "resize_as_", "set_")
)


def _given(names: tuple[str, ...], args: Any, kwargs: Any) -> Iterator[tuple[str, str, Any]]:
    for position, (name, value) in enumerate(zip(names, args, strict=False), 1):
        yield name, f" (position {position})", value
    for name, value in kwargs.items():
        yield name, "", value


def _is_taken(value: Any, kind: str) -> bool:
    """Whether PyTorch's parser takes a value for such a parameter: a 0-d tensor for a number, and strangers for all."""
    if isinstance(value, Tensor):
        return kind == "Tensor" or not value._array.ndim
    if isinstance(value, bool):
        return kind in ("bool", "float")
    if isinstance(value, _KINDS[kind]) or hasattr(value, "__torch_function__"):
        return True
    return kind in ("int", "float") and hasattr(value, "__index__")


def _refuse_sooner(function: Any, args: Any, kwargs: Any, error: Exception) -> None:
    """Raise PyTorch's error where it would have refused a call that failed for another reason."""
    if isinstance(error, TypeError):
        return
    plain = inspect.unwrap(function)
    declared = {} if is_in_python(function) else plain.__annotations__  # in Python no parser looks at them
    absent = getattr(error, "obj", declared) if getattr(error, "name", "") == "_array" else declared
    for number, (name, position, value) in enumerate(_given(parameters(plain), args, kwargs)):
        for at, element in enumerate(value if isinstance(value, (list, tuple)) else ()):
            if element is absent:
                words = f"expected Tensor as element {at} in argument {number}, but got {called(element)}"
                raise TypeError(words) from error
        kind, _, rest = ("Tensor" if value is absent else str(declared.get(name))).partition(" | ")
        if kind not in _KINDS or (rest and rest != "None") or (rest and value is None) or _is_taken(value, kind):
            continue
        words = f"{plain.__name__}(): argument '{name}'{position} must be {kind}, not {called(value)}"
        raise TypeError(words) from error
    name = plain.__name__
    writes = name.endswith("_") and not name.endswith("__") and name not in _NO_OPERATIONS
    writes = writes and not is_in_python(function)
    target = args[0] if args and writes else None
    if isinstance(target, Tensor) and target.requires_grad and modes.grad_enabled():
        check_writable(target, True)


listening.refuse_sooner = _refuse_sooner
