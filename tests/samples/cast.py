"""Samples of copies and casts, and of complex numbers seen as pairs."""

import numpy as np

from tests.samples import given, ints, mask, sample, t

_A = t(2, 3)
_PLAIN = t(2, 3, grad=False)
_COMPLEX = t(2, 3, kind="complex")
_NAMES = ("float", "double", "half", "bfloat16", "int", "long", "short", "char", "byte", "bool", "cfloat", "cdouble")
_FLOATS = ("float", "double", "half", "bfloat16", "cfloat", "cdouble")
_ODD = given([float("nan"), float("inf"), 3e9, 300.0, -1.5, 0.0], kind="float", grad=False)

SAMPLES = [
    *(sample(f"Tensor.{name}", _A, only=("float32",)) for name in _FLOATS),
    *(sample(f"Tensor.{name}", _A, gradient=False) for name in _NAMES),
    *(sample(f"Tensor.{name}", ints(3, low=-3)) for name in _NAMES),
    *(sample(f"Tensor.{name}", mask(3)) for name in _NAMES),
    *(sample(f"Tensor.{name}", _ODD) for name in ("int", "long", "short", "char", "byte", "bool")),
    sample("Tensor.cfloat", _COMPLEX, slope=False, why="what is left is single precision"),
    sample("Tensor.to", _A, "dtype:float64", only=("float32",)),
    sample("Tensor.to", _A, "cpu", "dtype:float32", only=("float32",)),
    sample("Tensor.to", _A, dtype="dtype:float16", only=("float32",)),
    sample("Tensor.to", _A, ints(1), gradient=False),
    sample("Tensor.to", t(2, 3, 2, 2), memory_format="dtype:channels_last"),
    sample("Tensor.to", _A, "dtype:float32", copy=True, only=("float32",)),
    sample("Tensor.type", _A, gradient=False),
    sample("Tensor.type", _A, "dtype:float64"),
    sample("Tensor.type_as", _A, ints(1), gradient=False),
    sample("clone", _A),
    sample("clone", t()),
    sample("clone", t(3, 2, layout="transposed")),
    sample("clone", t(2, 3, 2, 2), memory_format="dtype:channels_last"),
    sample("Tensor.contiguous", _A),
    sample("Tensor.contiguous", t(3, 2, layout="transposed")),
    sample("Tensor.contiguous", t(2, 3, 2, 2), memory_format="dtype:channels_last"),
    sample("fill", _A, 2.5),
    sample("fill", _A, t()),
    sample("fill", ints(3), 2),
    sample("row.spread_over", t(), (2, 3), reference=np.broadcast_to),
    sample("row.fill_with_number", t(2, 3), 2.5, reference=np.full_like),
    sample("row.zero", t(2, 3), reference=np.zeros_like),
    sample("Tensor.fill_", _PLAIN, 2.5),
    sample("Tensor.fill_", _PLAIN, t(grad=False)),
    sample("Tensor.zero_", _PLAIN),
    sample("Tensor.copy_", _PLAIN, t(3, grad=False)),
    sample("Tensor.copy_", ints(2, 3), _PLAIN),
    sample("Tensor.copy_", _PLAIN, 3),
    sample("detach", _A, gradient=False),
    sample("view_as_real", _COMPLEX),
    sample("view_as_real", t(3, 2, kind="complex", layout="transposed")),
    sample("view_as_complex", t(3, 2)),
    sample("Tensor.tolist", t(2, 3, grad=False)),
    sample("Tensor.item", t(1, 1, grad=False)),
    sample("Tensor.numel", _A, gradient=False),
    sample("Tensor.stride", t(3, 2, layout="transposed"), gradient=False),
    sample("Tensor.size", _A, gradient=False),
    sample("Tensor.size", _A, -1, gradient=False),
    sample("Tensor.storage_offset", _A, gradient=False),
    sample("Tensor.is_contiguous", t(3, 2, layout="transposed"), gradient=False),
    sample("is_floating_point", _A, gradient=False),
    sample("is_complex", _COMPLEX, gradient=False),
    sample("is_signed", ints(2)),
]
