"""Settings of the whole process that scripts ask for and set: threads, determinism, precision; knows no tensor."""

from __future__ import annotations

import os
import sys
import warnings
from functools import lru_cache
from typing import Any

from .dtypes import need_bool
from .names import is_own_frame


class _Settings:
    """What was set, at PyTorch's defaults."""

    threads: int | None = None
    interop_threads: int | None = None
    precision = "highest"
    deterministic = False
    warn_only = False
    fill_uninitialized_memory = True
    warn_always = False


_set = _Settings()
_PRECISIONS = ("highest", "high", "medium")
_DEBUG_MODES = {"default": 0, "warn": 1, "error": 2}

# -- threads -----------------------------------------------------------------------------------------------------------


def _whole(function: str, value: Any) -> int:
    if type(value) is not int:
        raise RuntimeError(f"{function} expects an int, but got {type(value).__name__}")
    if value <= 0:
        raise RuntimeError(f"{function} expects a positive integer")
    return value


def _truth(function: str, value: Any) -> bool:
    if type(value) is not bool:
        raise RuntimeError(f"{function} expects a bool, but got {type(value).__name__}")
    return value


def set_num_threads(number: int) -> None:
    """Set how many threads matrix products use.

    NumPy's linear algebra library is told through threadpoolctl where that is installed (the extra ``fast`` brings it).
    """
    _set.threads = _whole("set_num_threads", number)
    try:
        from threadpoolctl import threadpool_limits
    except ImportError:
        return
    threadpool_limits(number, user_api="blas")


def get_num_threads() -> int:
    """How many threads matrix products use."""
    return _set.threads if _set.threads is not None else _first_threads()


@lru_cache(None)
def _first_threads() -> int:
    """How many threads the linear algebra library began with."""
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        if os.environ.get(name, "").isdecimal() and (number := int(os.environ[name])):
            return number
    return cores()


def cores() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def set_num_interop_threads(number: int) -> None:
    """Accepted once, as in PyTorch; operations do not run beside each other here."""
    _whole("set_num_interop_threads", number)
    if _set.interop_threads is not None:
        raise RuntimeError(
            "Error: cannot set number of interop threads after parallel work has started or set_num_interop_threads "
            "called"
        )
    _set.interop_threads = number


def get_num_interop_threads() -> int:
    """What was set, else the number of cores."""
    return _set.interop_threads or os.cpu_count() or 1


# -- precision and determinism -----------------------------------------------------------------------------------------


def get_float32_matmul_precision() -> str:
    """What was set: "highest", "high" or "medium"; products are always computed in full."""
    return _set.precision


def set_float32_matmul_precision(precision: str) -> None:
    """Allow products of float32 to be rounded more; kept, and without effect."""
    if not isinstance(precision, str):
        raise RuntimeError(f"set_float32_matmul_precision expects a str, but got {type(precision).__name__}")
    if precision not in _PRECISIONS:
        warnings.warn(
            f"{precision} is not one of 'highest', 'high', or 'medium'; the current"
            "setFloat32MatmulPrecision call has no effect.",
            stacklevel=2,
        )
        return
    _set.precision = precision


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Ask for the same result at every run; that is what all operations here give."""
    need_bool("_set_deterministic_algorithms", "mode", 1, mode)
    need_bool("_set_deterministic_algorithms", "warn_only", 2, warn_only)
    _set.deterministic, _set.warn_only = mode, mode and warn_only


def are_deterministic_algorithms_enabled() -> bool:
    """Whether determinism was asked for."""
    return _set.deterministic


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """Whether it was asked for with ``warn_only``."""
    return _set.warn_only


def set_deterministic_debug_mode(debug_mode: int | str) -> None:
    """The same by number or name: "default" (0), "warn" (1) or "error" (2)."""
    if not isinstance(debug_mode, (int, str)):
        raise TypeError(f"debug_mode must be str or int, but got {type(debug_mode)}")
    if isinstance(debug_mode, str):
        if debug_mode not in _DEBUG_MODES:
            raise RuntimeError(
                f"invalid value of debug_mode, expected one of `default`, `warn`, `error`, but got {debug_mode}"
            )
        debug_mode = _DEBUG_MODES[debug_mode]
    if debug_mode not in (0, 1, 2):
        raise RuntimeError(f"invalid value of debug_mode, expected 0, 1, or 2, but got {debug_mode}")
    use_deterministic_algorithms(debug_mode > 0, warn_only=debug_mode == 1)


def get_deterministic_debug_mode() -> int:
    """0, 1 or 2, as :func:`set_deterministic_debug_mode` has it."""
    return (1 if _set.warn_only else 2) if _set.deterministic else 0


def set_flush_denormal(mode: bool) -> bool:
    """False: NumPy has no such switch, denormal numbers are kept."""
    _truth("flush_denormal", mode)
    return not mode


def set_warn_always(b: bool) -> None:
    """Kept: PyTorch would repeat warnings that it gives once."""
    _set.warn_always = _truth("setWarnOnlyOnce", b)


def is_warn_always_enabled() -> bool:
    """What was set."""
    return _set.warn_always


_given: set[str] = set()


def warn(text: str, category: type[Warning] = UserWarning) -> None:
    """A warning at the line of the program that called this package, however deep within it we are."""
    level = 2
    frame = sys._getframe(1)
    while frame.f_back is not None and is_own_frame(frame):
        frame, level = frame.f_back, level + 1
    warnings.warn(text, category, stacklevel=level)


def warn_once(text: str, about: str = "") -> None:
    """A UserWarning that PyTorch gives once in a process, or always where :func:`set_warn_always` asks for that.

    about   what is warned of once in several words
    """
    if (about or text) not in _given or _set.warn_always:
        _given.add(about or text)
        warn(text)


def compiled_with_cxx11_abi() -> bool:
    """True, as in every PyTorch of today; there is no C++ here."""
    return True


def is_vulkan_available() -> bool:
    """False."""
    return False


__all__ = [
    "are_deterministic_algorithms_enabled", "compiled_with_cxx11_abi", "get_deterministic_debug_mode",
    "get_float32_matmul_precision", "get_num_interop_threads", "get_num_threads",
    "is_deterministic_algorithms_warn_only_enabled", "is_vulkan_available", "is_warn_always_enabled",
    "set_deterministic_debug_mode", "set_float32_matmul_precision", "set_flush_denormal", "set_num_interop_threads",
    "set_num_threads", "set_warn_always", "use_deterministic_algorithms",
]  # fmt: skip
