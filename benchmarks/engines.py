"""The columns of the table; what each engine is, how it compiles, and why one is absent."""

from __future__ import annotations

import importlib
import shutil
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import glassgrad

__all__ = ["COLUMNS", "COMPILED", "ENVIRONMENT", "OURS", "UNWRITTEN", "Absent", "Engine", "Step", "engines"]

Step = Callable[[], Any]
OURS = ("glassgrad", "glassgrad.compile", "glassgrad.core")
COLUMNS = (
    *OURS, "torch", "torch.compile", "jax", "jax.jit", "autograd", "mygrad", "micrograd", "tinygrad",
)  # fmt: skip
#: What a column needs in its environment before anything is imported: it has a process of its own.
ENVIRONMENT = {"glassgrad.core": {"GLASSGRAD_FAST": "0"}}
UNWRITTEN = "not written for it"
COMPILED = ("glassgrad.compile", "torch.compile", "jax.jit", "tinygrad")


class Absent(Exception):
    """A cell that has no figure; the text is the reason."""


def _as_it_is(function: Any, **settings: Any) -> Any:
    return function


@dataclass(frozen=True)
class Engine:
    """One column: its name, the family whose makers serve it, its namespace, and what it compiles.

    ``part`` is applied to a step's forward with its loss, ``whole`` to a whole step; a column uses one of the two.
    """

    name: str
    family: str
    module: Any
    part: Callable[..., Any] = _as_it_is
    whole: Callable[..., Any] = _as_it_is


def _glassgrad() -> Engine:
    return Engine("glassgrad", "torch", glassgrad)


def _glassgrad_compiled() -> Engine:
    def whole(function: Any, **settings: Any) -> Any:
        compiled = getattr(glassgrad, "compile")(function, pure=True)  # noqa: B009 - checkers do not see the lazy names
        if not hasattr(compiled, "source"):
            raise Absent("this version runs it as it is written")
        return compiled

    # The rows keep the promise, as those of jax.jit do: nothing changes but arguments and contents of tensors.
    return Engine("glassgrad.compile", "torch", glassgrad, whole=whole)


def _glassgrad_core() -> Engine:
    importlib.import_module("glassgrad.families")  # which switches the printed code on
    if "glassgrad.fast" in sys.modules:
        raise Absent("needs a process with GLASSGRAD_FAST=0")
    return Engine("glassgrad.core", "torch", glassgrad)


def _torch() -> Engine:
    return Engine("torch", "torch", _module("torch"))


def _torch_compiled() -> Engine:
    torch = _module("torch")
    if not shutil.which("g++") and not shutil.which("clang++"):
        raise Absent("no C++ compiler")
    # Measured: forward and loss compiled, backward with them, beats torch.compile of the whole step, which breaks its
    # program at backward() and compiles for half a minute.
    return Engine("torch.compile", "torch", torch, part=torch.compile)


def _jax() -> Engine:
    return Engine("jax", "jax", _module("jax"))


def _jax_jit() -> Engine:
    jax = _module("jax")
    return Engine("jax.jit", "jax", jax, whole=jax.jit)


def _autograd() -> Engine:
    return Engine("autograd", "autograd", _module("autograd"))


def _mygrad() -> Engine:
    mygrad = _module("mygrad")
    mygrad.turn_memory_guarding_off()  # its documentation's advice where speed matters
    return Engine("mygrad", "mygrad", mygrad)


def _micrograd() -> Engine:
    return Engine("micrograd", "micrograd", _module("micrograd.engine"))


def _tinygrad() -> Engine:
    tinygrad = _module("tinygrad")
    try:
        str(tinygrad.Device.DEFAULT)
    except RuntimeError as error:
        raise Absent(f"{error} (it needs clang)") from error
    return Engine("tinygrad", "tinygrad", tinygrad, whole=tinygrad.TinyJit)


_MAKERS: dict[str, Callable[[], Engine]] = {
    "glassgrad": _glassgrad, "glassgrad.compile": _glassgrad_compiled, "glassgrad.core": _glassgrad_core,
    "torch": _torch, "torch.compile": _torch_compiled, "jax": _jax, "jax.jit": _jax_jit, "autograd": _autograd,
    "mygrad": _mygrad, "micrograd": _micrograd, "tinygrad": _tinygrad,
}  # fmt: skip


def _module(name: str) -> Any:
    """The rival's module; ``Absent`` where it is not installed."""
    top = name.partition(".")[0]
    try:
        importlib.import_module(top)
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != top:
            raise Absent(f"needs {error.name}, which is not installed") from error
        raise Absent("not installed") from error


def engines(wanted: Iterable[str]) -> tuple[list[Engine], dict[str, str]]:
    """The engines of the wanted columns that can run here, and the reasons why the others cannot."""
    present: list[Engine] = []
    absent: dict[str, str] = {}
    for name in wanted:
        try:
            present.append(_MAKERS[name]())
        except Absent as reason:
            absent[name] = str(reason)
    return present, absent
