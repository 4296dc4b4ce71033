"""Samples of copies and casts, and of complex numbers seen as pairs."""

from tests.samples import given, ints, mask, sample, t

_A = t(2, 3)
_COMPLEX = t(2, 3, kind="complex")
_NAMES = ("float", "double", "half", "bfloat16", "int", "long", "short", "char", "byte", "bool", "cfloat", "cdouble")
_ODD = given([float("nan"), float("inf"), 3e9, 300.0, -1.5, 0.0], kind="float", grad=False)

SAMPLES = [
    *(sample(f"Tensor.{name}", _A) for name in _NAMES),
    *(sample(f"Tensor.{name}", ints(3, low=-3)) for name in _NAMES),
    *(sample(f"Tensor.{name}", mask(3)) for name in _NAMES),
    *(sample(f"Tensor.{name}", _ODD) for name in ("int", "long", "short", "char", "byte", "bool")),
    sample("Tensor.cfloat", _COMPLEX),
    sample("Tensor.to", _A, "dtype:float64"),
    sample("Tensor.to", _A, "cpu", "dtype:float32"),
    sample("Tensor.to", _A, dtype="dtype:float16"),
    sample("Tensor.to", _A, ints(1)),
    sample("Tensor.to", t(2, 3, 2, 2), memory_format="dtype:channels_last"),
    sample("Tensor.to", _A, "dtype:float32", copy=True),
    sample("Tensor.type", _A),
    sample("Tensor.type", _A, "dtype:float64"),
    sample("Tensor.type_as", _A, ints(1)),
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
    sample("detach", _A),
    sample("view_as_real", _COMPLEX),
    sample("view_as_real", t(3, 2, kind="complex", layout="transposed")),
    sample("view_as_complex", t(3, 2)),
    sample("Tensor.tolist", t(2, 3, grad=False)),
    sample("Tensor.item", t(1, 1, grad=False)),
    sample("Tensor.numel", _A),
    sample("Tensor.stride", t(3, 2, layout="transposed")),
    sample("Tensor.size", _A),
    sample("Tensor.size", _A, -1),
    sample("Tensor.storage_offset", _A),
    sample("Tensor.is_contiguous", t(3, 2, layout="transposed")),
    sample("is_floating_point", _A),
    sample("is_complex", _COMPLEX),
    sample("is_signed", ints(2)),
    sample("result_type", ints(2), 1.5),
]
