"""Autocast's older functions, one for each device: the newer ones with the device in their name, and a warning."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from . import autocast_mode

_DEVICES = {"cpu": "cpu", "gpu": "cuda", "ipu": "ipu", "xla": "xla"}
_nesting = [0]


def autocast_increment_nesting() -> int:
    """Count one more block; how many there are."""
    _nesting[0] += 1
    return _nesting[0]


def autocast_decrement_nesting() -> int:
    """Count one block less; how many are left."""
    _nesting[0] -= 1
    return _nesting[0]


def _former(verb: str, device: str, what: str, argument: str = "") -> Callable[..., Any]:
    name, kind = f"{verb}_autocast_{device}_{what}", _DEVICES[device]
    newer = getattr(autocast_mode, f"{verb}_autocast_{what}")
    shown = ", ".join(filter(None, [f"'{kind}'", argument]))

    def former(*values: Any) -> Any:
        warnings.warn(
            f"torch.{name}({argument}) is deprecated. Please use torch.{verb}_autocast_{what}({shown}) instead.",
            DeprecationWarning,
            stacklevel=2,
        )
        return newer(kind, *values)

    former.__name__ = former.__qualname__ = name
    former.__doc__ = f"``torch.{verb}_autocast_{what}({shown})``, which is newer."
    return former


get_autocast_cpu_dtype, set_autocast_cpu_dtype = _former("get", "cpu", "dtype"), _former("set", "cpu", "dtype", "dtype")
get_autocast_gpu_dtype, set_autocast_gpu_dtype = _former("get", "gpu", "dtype"), _former("set", "gpu", "dtype", "dtype")
get_autocast_ipu_dtype, set_autocast_ipu_dtype = _former("get", "ipu", "dtype"), _former("set", "ipu", "dtype", "dtype")
get_autocast_xla_dtype, set_autocast_xla_dtype = _former("get", "xla", "dtype"), _former("set", "xla", "dtype", "dtype")
is_autocast_ipu_enabled, is_autocast_xla_enabled = _former("is", "ipu", "enabled"), _former("is", "xla", "enabled")
set_autocast_cpu_enabled = _former("set", "cpu", "enabled", "enabled")
set_autocast_ipu_enabled = _former("set", "ipu", "enabled", "enabled")
set_autocast_xla_enabled = _former("set", "xla", "enabled", "enabled")
