"""Roof: the torch-shaped namespace, which the package shows as its own; it re-exports, and has no logic of its own."""

from __future__ import annotations

import math
import sys
from importlib import import_module as _import_module
from typing import Any

from .ground import process as _process  # before NumPy

# isort: split
from .core.tensor import Tensor
from .ground import dtypes as _dtypes
from .ground import importing as _importing
from .ground.dtypes import (
    bfloat16,
    cdouble,
    cfloat,
    chalf,
    channels_last,
    channels_last_3d,
    complex32,
    complex64,
    complex128,
    contiguous_format,
    double,
    dtype,
    float8_e4m3fn,
    float8_e4m3fnuz,
    float8_e5m2,
    float8_e5m2fnuz,
    float8_e8m0fnu,
    float16,
    float32,
    float64,
    get_default_dtype,
    half,
    int8,
    int16,
    int32,
    int64,
    jagged,
    layout,
    legacy_contiguous_format,
    long,
    memory_format,
    preserve_format,
    promote_types,
    qint8,
    qint32,
    quint2x4,
    quint4x2,
    quint8,
    set_default_dtype,
    short,
    sparse_bsc,
    sparse_bsr,
    sparse_coo,
    sparse_csc,
    sparse_csr,
    strided,
    uint8,
    uint16,
    uint32,
    uint64,
)
from .ground.size import Size
from .ops import catalogue as _catalogue

_FUNCTIONS = _catalogue.FUNCTIONS  # each comes into this namespace when somebody first wants it
bool = _dtypes.bool
int = _dtypes.int
float = _dtypes.float
pi, e, inf, nan = math.pi, math.e, math.inf, math.nan
newaxis = None
has_lapack = has_spectral = True  # NumPy brings them
has_mkl = has_openmp = False


class _Elsewhere:
    """Finds nothing, as the last who is asked; has modules at PyTorch's paths found from then on that have no file."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        if name.startswith(f"{__package__}."):
            from .ground import paths  # noqa: F401  few programs ask for what has no file


def _promised() -> Any:
    """The file ``promised.py``: many programs ask for functions alone."""
    return _importing.load(f"{__package__}.promised")


def _show_paths(paths: Any) -> None:
    _import_module(f"{__package__}.promised").show(paths)  # by no ``load``: this is within the import of ``paths``


def missing(name: str) -> Any:
    """A name of the package that it does not have yet: a function, or what is promised."""
    if name in _FUNCTIONS:
        function = vars(_package)[name] = _FUNCTIONS[name]
        return function
    promised = _promised()
    if name == "__all__":
        every = (*promised.public(), *_SHOWN, *_FUNCTIONS.families)
        return [name for name in every if not name.startswith("_")]
    return promised.value(name)


def names() -> list[str]:
    """What ``dir`` of the package tells."""
    return sorted({*vars(_package), *_promised().names(), *_FUNCTIONS.families})


def show() -> None:
    """Give the package the names of this module; what has been put there by its name stays."""
    own = vars(_package)
    for name in _FUNCTIONS.families.keys() & own.keys():  # a part of this package is no function of its name
        del own[name]
    for name, value in _SHOWN.items():
        own.setdefault(name, value)
    arrival = sys.modules.get(f"{__package__}.ground.arrival")
    if arrival is not None:
        arrival.announce()
    sys.meta_path.append(_elsewhere)
    _importing.when_run(f"{__package__}.ground.paths", _show_paths)


_package: Any = sys.modules[__name__.rpartition(".")[0]]
_elsewhere: Any = _Elsewhere()
_OWN = {"math", "sys", "annotations", "Any", "missing", "names", "show"}
_SHOWN = {name: value for name, value in globals().items() if not name.startswith("__") and name not in _OWN}
show()
