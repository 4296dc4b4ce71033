"""What PyTorch looks at before anything else: types of arguments, and the history of what is written in place.

Here that is looked at when a call of a function in Python has failed for another reason, which costs no other call.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..core.row import TABLE
from ..core.tensor import Tensor
from ..ground import listening, modes
from ..ground.dtypes import called
from ..ground.synonyms import parameters
from ..tensor.writable import check_writable
from .in_python import PARSED, is_in_python

_KINDS: dict[str, tuple[type, ...]] = {
    "Tensor": (Tensor,),
    "bool": (bool,),
    "int": (int, np.integer),
    "float": (float, int, np.number),
    "Number": (complex, float, int, np.number),
    "str": (str,),
    **{f"Sequence[{kind}]": (tuple, list) for kind in ("int", "float", "Tensor")},
    "None": (type(None),),
}
_NONE: dict[str, Any] = {}  # what is declared of functions in Python, at which no parser looks
_NUMBERS = ("int", "float", "Number")
#: What PyTorch's messages call them, where Python has another name.
_CALLED = {f"Sequence[{kind}]": f"tuple of {kind}s" for kind in ("int", "float", "Tensor")}

#: What Python says of a complex number in the place of a real one.
_COMPLEX = re.compile("^must be real number, not complex|between instances of .*'complex'|real number, not 'complex'$")
#: What Python and NumPy say of a tensor, or whatever else, in the place of a number.
_STRANGE = re.compile("between instances of|unsupported operand|^Concatenation operation|converted to an index$|ufunc ")
#: Settings that are numbers of any sort.
_SCALARS = frozenset(
    "alpha beta value other fill_value data src start end min max exponent weight p lambd ord".split()
)
#: Whose numbers Python converts.
_CONVERTS = frozenset(("tensor", "as_tensor", "asarray", "new_tensor"))
#: What is asked of a tensor in place, and is no operation of the graph, or one through a view.
_NO_OPERATIONS = frozenset(
    ("apply_", "detach_", "fill_diagonal_", "float_power_", "map_", "requires_grad_", "resize_", "resize_as_", "set_")
)


def _given(names: tuple[str, ...], args: Any, kwargs: Any) -> Iterator[tuple[str, str, Any]]:
    for position, (name, value) in enumerate(zip(names, args, strict=False), 1):
        yield name, f" (position {position})", value
    for name, value in kwargs.items():
        yield name, "", value


def _is_taken(value: Any, kind: str) -> bool:
    """Whether PyTorch's parser takes a value for such a parameter: a 0-d tensor for a number, strangers for all."""
    if isinstance(value, Tensor):
        is_whole = value._array.dtype.kind in "iu"
        is_number = not value._array.ndim and not value.requires_grad
        return kind == "Tensor" or (is_number and kind in _NUMBERS and (kind != "int" or is_whole))
    if isinstance(value, bool):
        return kind in ("bool", "float", "Number")
    if kind in _CALLED:  # several, of which PyTorch looks at the first
        return isinstance(value, (tuple, list)) and (not value or _is_taken(value[0], kind[9:-1]))
    if isinstance(value, _KINDS[kind]) or hasattr(value, "__torch_function__"):
        return True
    return kind in _NUMBERS and hasattr(value, "__index__") and not isinstance(value, np.ndarray)


def _declared(function: Any, plain: Any) -> tuple[tuple[str, ...], dict[str, Any]]:
    """The parameters of a function and what PyTorch's parser takes for them; by its row where all stand for any."""
    name, names, code = function.__name__, parameters(plain), plain.__code__
    if code.co_flags & inspect.CO_VARARGS:  # which stands behind those that are given by name alone
        names = (*names[: code.co_argcount], names[-1])
    if is_in_python(function) and name not in PARSED:
        return names, _NONE
    row = TABLE.get(name, TABLE.get(name.removesuffix("_")))
    is_known = plain.__annotations__ and names[-1:] not in (("args",), ("values",))
    if row is None or is_known:
        return names, plain.__annotations__
    kind = "Tensor" if not row.listed and (row.typed is None or row.strict) else "Any"
    return (*row.inputs, *row.settings), {**row.plain.__annotations__, **dict.fromkeys(row.inputs, kind)}


def _check_types(function: str, declared: Any, given: Any, error: Exception | None) -> None:
    """Raise PyTorch's error for the first argument of another type than is declared."""
    for name, position, value in given:
        kinds = str(declared.get(name, "Any")).split(" | ")
        if _KINDS.keys() >= {*kinds} and not any(_is_taken(value, kind) for kind in kinds):
            kind = _CALLED.get(kinds[0], kinds[0])
            found = f", not {called(value)}"
            if isinstance(value, (tuple, list)) and (several := _CALLED.keys() & {*kinds}):
                kind, found = _CALLED[several.pop()], f", but found element of type {called(value[0])} at pos 0"
            raise TypeError(f"{function}(): argument '{name}'{position} must be {kind}{found}") from error


def _computed_in(operand: Any) -> str:
    """What PyTorch's kernels make of a number beside a real tensor, as C++ calls it."""
    kind = operand._array.dtype if isinstance(operand, Tensor) else operand.dtype
    return "int64_t" if kind.kind in "biu" else "double" if kind == np.float64 else "float"


def _is_too_large(value: Any) -> bool:
    """Whether 64 bits do not hold a whole number, which no dimension or size can be."""
    return isinstance(value, int) and not -(2**63) <= value < 2**63


def _check_absent(name: str, listed: bool, args: Any, given: Any, error: AttributeError) -> None:
    """Raise PyTorch's error where what was asked for a tensor's attribute is an argument, or an element of one."""
    absent = error.obj
    values = [(0, args), *((0, value) for value in args)] if listed else [*enumerate(value for *_, value in given)]
    for number, value in values:
        for at, element in enumerate(value if isinstance(value, (list, tuple)) else ()):
            if element is absent:
                words = f"expected Tensor as element {at} in argument {number}, but got {called(element)}"
                raise TypeError(words) from error
    for each, position, value in given:
        if value is absent:
            words = f"{name}(): argument '{each}'{position} must be Tensor, not {called(value)}"
            raise TypeError(words) from error


def _check_sizes(name: str, counted: Any, error: Exception) -> None:
    """Raise PyTorch's error for the first whole number that no dimension or size can be."""
    for value in counted:
        if _is_too_large(value):
            raise ValueError("Overflow when unpacking long long") from error
        for at, element in enumerate(value if isinstance(value, (list, tuple)) else (), 1):
            if _is_too_large(element):
                words = f'failed to unpack the object at pos {at} with error "Overflow when unpacking long long"'
                raise TypeError(f"{name}(): an argument {words}") from error


def _check_complex(declared: Any, given: Any, args: Any, error: Exception) -> None:
    """Raise PyTorch's error for a complex number beside real ones."""
    is_number = any(isinstance(value, complex) and declared.get(name) == "Number" for name, _, value in given)
    to = _computed_in(args[0]) if is_number and isinstance(args[0], (Tensor, np.ndarray)) else "double"
    raise RuntimeError(f"value cannot be converted to type {to} without overflow") from error


def _translated(given: Any, error: Exception) -> Exception | None:
    """What PyTorch says where Python failed on its own: on a number beyond 64 bits, or a size that a tensor lacks."""
    values = [value for *_, value in given]
    if isinstance(error, OverflowError) and any(isinstance(value, int) and 0 < value >> 63 < 2 for value in values):
        return RuntimeError("value cannot be converted to type int64_t without overflow")  # which is an uint64_t
    has_number = any(isinstance(value, (Tensor, np.ndarray)) and not value.ndim for value in values)
    if has_number and type(error) is IndexError and str(error) == "tuple index out of range":
        return IndexError("Dimension specified as 0 but tensor has no dimensions")
    return None


def _refuse_sooner(function: Any, args: Any, kwargs: Any, error: Exception) -> None:
    """Raise PyTorch's error where it would have refused a call that failed for another reason."""
    plain = inspect.unwrap(function)
    name, own, in_python = plain.__name__, parameters(plain), is_in_python(function)
    names, declared = _declared(function, plain)
    given = [*_given(names, args, kwargs)]
    hides = bool(plain.__code__.co_flags & inspect.CO_VARARGS)  # which of its arguments is which
    if in_python and type(error) is ValueError and str(error).startswith("cannot convert float"):
        return  # as what PyTorch's function makes of its argument
    if type(error) is TypeError:
        if declared is _NONE:
            return
        if _COMPLEX.search(str(error)) and any(isinstance(value, complex) for value in (*args, *kwargs.values())):
            _check_types(name, declared, given, error)
            if not hides and name not in _CONVERTS:
                _check_complex(declared, given, args, error)
            return
        if "Overflow when unpacking" not in str(error):
            if _STRANGE.search(str(error)):
                _check_types(name, declared, given, error)
            return
    if isinstance(error, AttributeError) and error.name is not None:  # Python's own
        if declared is _NONE and not error.name.startswith("_"):
            return  # PyTorch's function fails by that too
        _check_absent(name, hides and not plain.__code__.co_argcount, args, given, error)
    _check_types(name, declared, given, error)
    singles = len(args) if not own or "args" in own else plain.__code__.co_argcount  # then sizes, one by one
    counted = [
        None if each in _SCALARS and "int" not in str(declared.get(each)) else value
        for each, value in (*zip(own, args[:singles], strict=False), *kwargs.items())
    ]
    if declared is not _NONE:
        _check_sizes(name, (*counted, args[singles:]), error)
    if in_python:
        return
    if (said := _translated(given, error)) is not None:
        raise said from error
    writes = name.endswith("_") and not name.endswith("__") and name not in _NO_OPERATIONS
    target = args[0] if args and writes else None
    if isinstance(target, Tensor) and target.requires_grad and modes.grad_enabled():
        check_writable(target, True)


listening.refuse_sooner = _refuse_sooner
