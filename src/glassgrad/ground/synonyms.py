"""NumPy's names for arguments, which PyTorch's parser takes beside its own: ``axis`` for ``dim``."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Mapping
from types import FunctionType
from typing import Any

NUMPY = {"axis": "dim", "keepdims": "keepdim", "x": "input", "a": "input", "x1": "input", "x2": "other"}


def parameters(function: Any) -> tuple[str, ...]:
    """The names of a function's parameters, with that of ``*dim``; none of what is no plain function."""
    if type(function) is not FunctionType:
        return ()
    code = function.__code__
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & inspect.CO_VARARGS)]


def synonyms_in(names: Collection[str]) -> dict[str, str]:
    """NumPy's names for those of these parameters that have one; a parameter's own name is its own."""
    return {numpy: name for numpy, name in NUMPY.items() if name in names and numpy not in names}


def in_pytorchs_words(named: Mapping[str, Any], synonyms: Mapping[str, str]) -> dict[str, Any]:
    """Named arguments under PyTorch's names; of two for one parameter the second stays, and the call refuses it."""
    words: dict[str, Any] = {}
    for name, value in named.items():
        word = synonyms.get(name, name)
        words[name if word in words or word in named else word] = value
    return words
