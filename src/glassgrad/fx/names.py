"""The names by which printed code calls functions and types: PyTorch's, whichever module of ours has them."""

from __future__ import annotations

import builtins
import functools
import inspect
import keyword
import math
import re
import typing
from importlib import import_module
from types import FunctionType, GenericAlias
from typing import Any, NamedTuple

from ..core.row import TABLE
from ..core.tensor import Tensor
from ..ground.device import device
from ..ground.later import whole
from ..ground.names import home_of, is_own
from ..nn import functional
from ..ops.bind import table_functions
from ..ops.catalogue import FUNCTIONS
from ..ops.declare import COMPOSITES
from ..ops.in_python import FUNCTIONAL, NATIVE, by_name, is_functional
from ..utils import _pytree as pytree
from . import _pytree as fx_pytree

HOME = __name__.partition(".")[0]

#: Functions of ``torch.functional`` whose calls PyTorch records as they were written.
_AS_WRITTEN = set(
    """meshgrid broadcast_tensors cartesian_prod block_diag atleast_1d atleast_2d atleast_3d chain_matmul unique
    unique_consecutive lu""".split()
)

#: Functions that ask about an object, or take none of the values that are traced.
_NOT_TRACED = {"is_tensor", "is_storage", "tensor", "as_tensor", "asarray", "from_numpy", "manual_seed", "from_dlpack"}


class _Known(NamedTuple):
    """What tracing hears of: names by identity of the function, and the functions, which so keep their identities."""

    functions: dict[int, str]
    methods: dict[int, str]
    traced: list[Any]


@functools.cache
def known() -> _Known:
    """The functions of this package, with the names that code calls them by, and the methods, with theirs."""
    names: dict[int, str] = {}
    methods: dict[int, str] = {}
    traced: list[Any] = []

    def note(table: dict[int, str], function: Any, name: str) -> None:
        if type(function) is FunctionType and id(function) not in table:
            table[id(function)] = name
            traced.append(function)

    for name, function in whole(functional).items():
        if type(function) is FunctionType and not name.startswith("_"):
            space = "torch.nn.functional" if is_functional(function) else NATIVE.get(name, "torch")
            note(names, function, f"{space}.{name}")
    for name, function in FUNCTIONS.items():
        if name not in _NOT_TRACED:
            note(names, function, f"torch.functional.{name}" if name in FUNCTIONAL else f"torch.{name}")
    for space in ("linalg", "special", "fft"):
        for name, function in vars(import_module(f"{HOME}.{space}")).items():
            if not name.startswith("_"):
                note(names, function, f"torch._C._{space}.{space}_{name}")
    for row in TABLE.values():
        if row.operator is not None:
            note(methods, row.operate, row.name)
    for name, composite in COMPOSITES.items():
        if composite.operator is not None or (name.startswith("__") and id(composite.function) not in names):
            note(methods, composite.function, name.strip("_"))
    heard = {id(function) for function in table_functions()}
    for name, function in vars(Tensor).items():
        if id(function) in heard and id(function) not in names and not name.startswith("__"):
            methods[id(function)] = name  # the last of its spellings
            traced.append(function)
    return _Known(names, methods, traced)


def traced_functions() -> list[Any]:
    """The functions whose calls with traced values become nodes."""
    return known().traced


def is_ours(obj: Any) -> bool:
    """Whether a function or type belongs to this package."""
    return id(obj) in known().functions or is_own(obj)


def qualified(function: Any) -> str:
    """The name by which printed code calls a function or type."""
    if id(function) in known().functions:
        return known().functions[id(function)]
    name, module = function.__name__, home_of(function) or None
    if getattr(builtins, name, None) is function:
        return str(name)
    if name == "<lambda>":
        try:
            name = inspect.getsource(function).split("=")[0].strip()
        except Exception as error:
            raise RuntimeError("Unable to represent lambda") from error
    if module is None:
        raise RuntimeError(f"cannot find module for {function}")
    if not is_ours(function):
        return f"{module}.{name}"
    for space in ("", ".nn"):
        if getattr(import_module(HOME + space), name, None) is function:
            return f"torch{space}.{name}"
    return f"torch{module[len(HOME) :]}.{function.__qualname__}"


def type_repr(obj: Any) -> str:
    """A type as printed code and graphs name it."""
    if isinstance(obj, type) and not isinstance(obj, GenericAlias):
        if obj.__module__ == "builtins":
            return obj.__qualname__
        return qualified(obj) if is_ours(obj) else f"{obj.__module__}.{obj.__qualname__}"
    if obj is ...:
        return "..."
    if isinstance(obj, FunctionType):
        return obj.__name__
    text = repr(obj)
    for inner in typing.get_args(obj):
        if isinstance(inner, type) and is_ours(inner):
            text = text.replace(f"{inner.__module__}.{inner.__qualname__}", qualified(inner))
    return text


def normal_call(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, tuple[Any, ...], Any]:
    """A call as PyTorch records it: its functions in Python name all arguments that have defaults."""
    space, _, name = known().functions[id(function)].rpartition(".")
    if space not in ("torch.nn.functional", "torch.functional") or name in _AS_WRITTEN:
        return function, args, kwargs
    return by_name(function, args, kwargs)


_SHAPE = re.compile(r"^([a-zA-Z_][0-9a-zA-Z_]*?)(?:_(\d+))?$")
_ILLEGAL = re.compile("[^0-9a-zA-Z_]+")
_CAPITAL = re.compile(r"(?<=[a-z])([A-Z])")


class Builtin(NamedTuple):
    """A name that all printed code may use: how it is imported, and what it is."""

    import_str: str
    obj: Any


custom_builtins = {
    "inf": Builtin("from math import inf", math.inf),
    "nan": Builtin("from math import nan", math.nan),
    "NoneType": Builtin("NoneType = type(None)", type(None)),
    "torch": Builtin("import torch", import_module(HOME)),
    "device": Builtin("from torch import device", device),
    "fx_pytree": Builtin("import torch.fx._pytree as fx_pytree", fx_pytree),
    "pytree": Builtin("import torch.utils._pytree as pytree", pytree),
}
_taken: dict[str, Any] = {
    **{name: object() for name in keyword.kwlist},
    **vars(builtins),
    **{name: builtin.obj for name, builtin in custom_builtins.items()},
}


def snake_case(name: str) -> str:
    """``MaxPool`` as ``max_pool``."""
    return _CAPITAL.sub(r"_\1", name).lower()


class Namespace:
    """The names that are in use."""

    def __init__(self) -> None:
        self._obj_to_name: dict[Any, str] = {}
        self._used_names: set[str] = set()
        self._base_count: dict[str, int] = {}

    def create_name(self, candidate: str, obj: Any) -> str:
        """The name of ``obj``: as before, or a new one like ``candidate``."""
        if obj is not None and obj in self._obj_to_name:
            return self._obj_to_name[obj]
        candidate = _ILLEGAL.sub("_", candidate) or "_unnamed"
        if candidate[0].isdigit():
            candidate = f"_{candidate}"
        base, suffix = _SHAPE.match(candidate).groups()  # type: ignore[union-attr]
        if suffix is None or candidate in self._used_names:
            number = self._base_count.get(base, 0)
            if _taken.get(candidate, obj) is not obj:
                number += 1
                candidate = f"{base}_{number}"
        else:
            number = int(suffix)
        while candidate in self._used_names:
            number += 1
            candidate = f"{base}_{number}"
        self._used_names.add(candidate)
        self._base_count[base] = number
        if obj is not None:
            self._obj_to_name[obj] = candidate
        return candidate
