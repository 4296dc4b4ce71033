"""Calls that do not fit their row: PyTorch's errors, or another reading of what was given."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import numpy as np

from ..core import call
from ..core.row import Row
from ..core.tensor import Tensor, number_of, wrap
from ..ground import dtypes, errors, listening
from ..ground.dtypes import FLOAT8
from ..ground.runtime import warn_once
from ..ground.synonyms import in_pytorchs_words

# -- arguments --------------------------------------------------------------------------------------------------------


def misfit(row: Row, args: Sequence[Any], named: Mapping[str, Any]) -> TypeError:
    """Python's error for arguments that do not fit the parameters of a row."""
    plan = row.plan
    names = plan.parameters
    by_name = in_pytorchs_words(named, plan.synonyms) if plan.synonyms else dict(named)
    if row.out is not None:
        by_name.pop("out", None)
    if len(args) > len(names):
        return TypeError(f"{row.name}() takes {len(names)} positional arguments but {len(args)} were given")
    for name in names[: len(args)]:
        if name in by_name:
            return TypeError(f"{row.name}() got multiple values for argument '{name}'")
    for name in by_name:
        if name not in names:
            return TypeError(f"{row.name}() got an unexpected keyword argument '{name}'")
    missing = [repr(name) for name in names[len(args) :] if name not in by_name and name not in plan.defaults]
    listed = " and ".join(filter(None, (", ".join(missing[:-1]), missing[-1])))
    plural = "s" if len(missing) > 1 else ""
    return TypeError(f"{row.name}() missing {len(missing)} required positional argument{plural}: {listed}")


def wrong_type(row: Row, flat: Sequence[Any], position: int | None = None, written: bool = False) -> TypeError:
    """PyTorch's error for an argument that is no tensor."""
    if position is None:
        position = next((i for i, operand in enumerate(flat) if not isinstance(operand, Tensor)), 0)
    value = flat[position] if len(flat) else None
    if row.listed:
        return TypeError(f"expected Tensor as element {position} in argument 0, but got {dtypes.called(value)}")
    name = row.inputs[position]
    name = "input" if name == "self" else name
    function, number = (f"{row.name}_", position) if written else (row.name, position + 1)  # a method is not counted
    return TypeError(f"{function}(): argument '{name}' (position {number}) must be Tensor, not {dtypes.called(value)}")


#: Where one number stood, or two: in front of the tensor itself and of what is added to it; after it in methods.
_FRONTS = ("nT", "nTn", "Tn", "Tnn")


def former(row: Row, values: Sequence[Any], written: bool = False) -> tuple[Sequence[Any], Sequence[Any]]:
    """Inputs and settings of a call as PyTorch once took them: numbers in front of what they scale."""
    count = len(row.inputs)
    read = as_numbers(values[count:])
    if len(row.formerly) == 1 and read is not None:  # a tensor of no dimensions is ``alpha``
        return values[:count], read
    kinds = "".join("T" if isinstance(value, Tensor) else "n" for value in values).rstrip("n")  # which are defaults
    if kinds not in [front + (count - 1) * "T" for front in (("Tn",) if len(row.formerly) == 1 else _FRONTS)]:
        if read is None:
            if "n" not in kinds[:count]:
                raise TypeError(f"{row.name}(): argument '{row.formerly[0]}' must be Number, not Tensor")
            raise wrong_type(row, values[:count])
        return values[:count], read
    tensors = [value for value in values if isinstance(value, Tensor)]
    numbers = [value for value in values if not isinstance(value, Tensor)]
    names = [f"Tensor {'input' if name == 'self' else name}" for name in row.inputs]
    of_tensors, of_numbers = iter(names), (f"Number {name}" for name in row.formerly)
    given = [next(of_tensors if kind == "T" else of_numbers) for kind in kinds]
    later = ["*", *[f"Number {name} = 1" for name in row.formerly]]
    function = f"{row.name}_" if written else row.name
    if written or len(row.formerly) > 1 and isinstance(values[0], Tensor):  # a method
        given, names = [each for each in given if each != "Tensor input"], names[1:]
        forms = [given, [*names, *later]]
    else:
        later.append("Tensor out = None")
        forms = [[*given, "*", later[-1]], [*names, *later]]
        forms += [[*names, "torch.dtype out_dtype", *later]] if function in ("addmm", "baddbmm") else []
    this, *others = [f"\n\t{function}({', '.join(form)})" for form in forms]
    warn_once(
        f"This overload of {function} is deprecated:{this}\nConsider using one of the following signatures instead:"
        f"{''.join(others)} (Triggered internally at "
        "/__w/pytorch/pytorch/torch/csrc/utils/python_arg_parser.cpp:1841.)",
        "a former overload",
    )
    named = {**row.defaults, **dict(zip(row.formerly, numbers, strict=False))}
    return tensors, [named[name] for name in row.settings]


# -- arrays -----------------------------------------------------------------------------------------------------------


def eight_bits(row: Row, arrays: Sequence[Any]) -> NotImplementedError:
    """PyTorch's kind of error for floats of eight bits where an operation does not take them."""
    kind = next(dtypes.of(array.dtype) for array in arrays if array is not None and dtypes.of(array.dtype) in FLOAT8)
    return NotImplementedError(f"\"{row.name}_cpu\" not implemented for '{kind.scalar_name}'")


def failed(row: Row, arrays: Sequence[Any], error: Exception) -> Exception:
    """What a kernel's error becomes: PyTorch's, raised here, where shapes do not broadcast; else what it is."""
    if isinstance(error, ValueError):
        shape_error(row, arrays, error)
    if is_elementwise(row):  # PyTorch looks at the sizes before it looks for a kernel
        check_broadcast(row, arrays)
    return error


def read_numbers(row: Row, arrays: Sequence[Any], settings: Sequence[Any], error: Exception) -> Sequence[Any] | None:
    """The settings of a call that failed, with numbers for the 0-d tensors that PyTorch takes for numbers.

    None where there are none; PyTorch's error is raised then for settings of other types, and for shapes that do not
    broadcast.
    """
    numbers = as_numbers(settings)
    if numbers is None:
        inputs = [list(arrays)] if row.listed else arrays
        sooner(row, (*inputs, *settings), error)
        if isinstance(error, ValueError):
            shape_error(row, arrays, error)
    return numbers


def sooner(row: Row, values: Sequence[Any], error: Exception) -> None:
    """Raise PyTorch's error where it would have refused a user's call of a row for another reason."""
    if row.public:
        count = len(row.inputs)
        inputs = [wrap(value) if isinstance(value, (np.ndarray, np.generic)) else value for value in values[:count]]
        listening.refuse_sooner(row.plain, (*inputs, *values[count:]), {}, error)


def as_numbers(values: Sequence[Any]) -> list[Any] | None:
    """Values with a number for each 0-d tensor that carries no history; None where there is no such tensor."""
    numbers = [number_of(value) for value in values]
    return numbers if any(a is not b for a, b in zip(numbers, values, strict=True)) else None


def shape_error(row: Row, arrays: Sequence[Any], error: ValueError) -> NoReturn:
    """Raise PyTorch's error for shapes that do not broadcast; any other error as it is."""
    if row.typed is not None:
        shape: tuple[int, ...] = ()
        for array in arrays:
            if array is None:
                continue
            for back in range(1, min(len(shape), array.ndim) + 1):
                a, b = shape[-back], array.shape[-back]
                if a != b and 1 not in (a, b):
                    dim = max(len(shape), array.ndim) - back
                    raise RuntimeError(errors.BROADCAST.format(a=a, b=b, dim=dim)) from None
            shape = np.broadcast_shapes(shape, array.shape)
    raise error


def is_elementwise(row: Row) -> bool:
    """Whether a row of several inputs computes element by element, as far as its columns tell."""
    return row.typed is not None and row.public and row.batched == "point"


def check_broadcast(row: Row, arrays: Sequence[Any]) -> tuple[int, ...]:
    """The shape that arrays broadcast to; PyTorch's error where they do not."""
    try:
        return np.broadcast_shapes(*(array.shape for array in arrays if array is not None))
    except ValueError as error:
        shape_error(row, arrays, error)


call.refusals = sys.modules[__name__]
