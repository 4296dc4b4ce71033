"""The element types and how they mix: knows NumPy's and PyTorch's type tables, and nothing of tensors.

The constants ``bool``, ``int`` and ``float`` shadow the builtins here, as they do in PyTorch's namespace; inside this
module the builtins are written ``builtins.bool`` and so on.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn, TypeAlias, final

import ml_dtypes
import numpy as np

_READ_ONLY = ("is_complex", "is_floating_point", "is_signed", "itemsize", "name", "numpy", "scalar_name")

#: A number of any sort, as PyTorch declares it where it takes complex ones, if only to refuse them later.
Number: TypeAlias = Any
#: What counts as one.
NUMBERS = (builtins.bool, builtins.int, builtins.float, complex, np.number, np.bool_)
HALVES = "eE"  #: the characters by which NumPy knows float16 and bfloat16


@final
class dtype:
    """The type of a tensor's elements; one object per type, so ``is`` compares.

    ``numpy`` is the NumPy dtype of the arrays that hold such elements (complex32 has none: TypeError).
    """

    __slots__ = (*_READ_ONLY, "_rank")
    is_complex: builtins.bool
    is_floating_point: builtins.bool
    is_signed: builtins.bool
    itemsize: builtins.int
    name: str
    numpy: np.dtype[Any]
    scalar_name: str
    _rank: builtins.int

    def __new__(cls, *args: object, **kwargs: object) -> dtype:
        raise TypeError("cannot create 'torch.dtype' instances")

    def __init_subclass__(cls, **kwargs: object) -> None:
        raise TypeError("type 'torch.dtype' is not an acceptable base type")

    def __getattr__(self, name: str) -> Any:
        if name == "numpy":
            instead = "use torch.complex64" if self.is_complex else "compute in float32, or in float16 to save memory"
            raise TypeError(f"{self!r} has no NumPy counterpart, so no tensor can hold it: {instead}")
        raise AttributeError(f"'torch.dtype' object has no attribute '{name}'")

    def __setattr__(self, name: str, value: object) -> NoReturn:
        if name in _READ_ONLY:
            raise AttributeError(f"attribute '{name}' of 'torch.dtype' objects is not writable")
        raise AttributeError(f"'torch.dtype' object has no attribute '{name}'")

    __delattr__ = __setattr__  # type: ignore[assignment]

    def __repr__(self) -> str:
        return "torch." + self.name

    def __reduce__(self) -> str:
        return self.name  # a global of this module: copies and pickles are the same object

    def to_real(self) -> dtype:
        """The type of the real part: float32 for complex64, itself for a real type."""
        return _REAL.get(self, self)

    def to_complex(self) -> dtype:
        """The complex type with such a real part; RuntimeError for integers and bool."""
        if self.is_complex:
            return self
        counterpart = _COMPLEX.get(self)
        if counterpart is None:
            raise RuntimeError(f"Unknown Complex ScalarType for {self.scalar_name}")
        return counterpart


def _make(name: str, scalar_name: str, kind: str, itemsize: builtins.int) -> dtype:
    instance = object.__new__(dtype)
    put = object.__setattr__
    put(instance, "name", name)
    put(instance, "scalar_name", scalar_name)  # PyTorch's ScalarType, which its messages use
    put(instance, "itemsize", itemsize)
    put(instance, "is_complex", kind == "c")
    put(instance, "is_floating_point", kind == "f")
    put(instance, "is_signed", kind in "ifc" and not name.endswith("e8m0fnu"))  # which is an exponent alone
    put(instance, "_rank", "buifc".index(kind))
    if name not in _UNHELD:
        put(instance, "numpy", np.dtype(getattr(ml_dtypes, name) if "float8" in name or name == "bfloat16" else name))
    return instance


#: What packages name in their tables of types, and no tensor holds.
_QUANTIZED = {"qint8": "QInt8", "qint32": "QInt32", "quint8": "QUInt8", "quint4x2": "QUInt4x2", "quint2x4": "QUInt2x4"}
_UNHELD = {"complex32", *_QUANTIZED}


uint8 = _make("uint8", "Byte", "u", 1)
uint16 = _make("uint16", "UInt16", "u", 2)
uint32 = _make("uint32", "UInt32", "u", 4)
uint64 = _make("uint64", "UInt64", "u", 8)
int8 = _make("int8", "Char", "i", 1)
int16 = short = _make("int16", "Short", "i", 2)
int32 = int = _make("int32", "Int", "i", 4)
int64 = long = _make("int64", "Long", "i", 8)
float16 = half = _make("float16", "Half", "f", 2)
bfloat16 = _make("bfloat16", "BFloat16", "f", 2)
float32 = float = _make("float32", "Float", "f", 4)
float64 = double = _make("float64", "Double", "f", 8)
complex32 = chalf = _make("complex32", "ComplexHalf", "c", 4)
complex64 = cfloat = _make("complex64", "ComplexFloat", "c", 8)
complex128 = cdouble = _make("complex128", "ComplexDouble", "c", 16)
bool = _make("bool", "Bool", "b", 1)

ALL: tuple[dtype, ...] = (
    bool, uint8, int8, int16, int32, int64, uint16, uint32, uint64,
    float16, bfloat16, float32, float64, complex32, complex64, complex128,
)  # fmt: skip
#: What stores a number in a byte: copied, viewed and converted; there is hardly an operation that computes with it.
FLOAT8 = tuple(
    _make(name, name.capitalize(), "f", 1)
    for name in ("float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu")
)
qint8, qint32, quint8, quint4x2, quint2x4 = (
    _make(name, scalar_name, "i", 4 if name == "qint32" else 1) for name, scalar_name in _QUANTIZED.items()
)
float8_e4m3fn, float8_e5m2, float8_e4m3fnuz, float8_e5m2fnuz, float8_e8m0fnu = FLOAT8
_REAL = {complex32: float16, complex64: float32, complex128: float64}
_COMPLEX = {float16: complex32, bfloat16: complex64, float32: complex64, float64: complex128}

# --- from NumPy -------------------------------------------------------------------------------------------------------

_OF: dict[np.dtype[Any], dtype] = {known.numpy: known for known in (*ALL, *FLOAT8) if known is not complex32}
_SUPPORTED = (
    "float64, float32, float16, complex64, complex128, int64, int32, int16, int8, "
    "uint64, uint32, uint16, uint8, and bool."
)


def of(numpy_dtype: np.dtype[Any]) -> dtype:
    """The dtype of an array with ``numpy_dtype``; TypeError where there is none, as ``torch.from_numpy``."""
    ours = _OF.get(numpy_dtype)
    return ours if ours is not None else _of_rare(numpy_dtype)


def _of_rare(numpy_dtype: np.dtype[Any]) -> dtype:
    if not numpy_dtype.isnative:
        raise ValueError(
            "given numpy array has byte order different from the native byte order. "
            "Conversion between byte orders is currently not supported."
        )
    for known, ours in _OF.items():  # equal types with other hashes: longlong, types with metadata
        if known == numpy_dtype:
            return ours
    scalar = numpy_dtype.type
    raise TypeError(
        f"can't convert np.ndarray of type {scalar.__module__}.{scalar.__name__}. "
        f"The only supported types are: {_SUPPORTED}"
    )


# --- mixing -----------------------------------------------------------------------------------------------------------

_WIDE_UNSIGNED = frozenset((uint16, uint32, uint64))


def _promoted(a: dtype, b: dtype) -> dtype | None:
    """The smallest type holding both, or None where PyTorch knows none."""
    if a is b:
        return a
    if a._rank > b._rank:
        a, b = b, a
    if b.is_complex:
        if a in _WIDE_UNSIGNED:
            return None
        real = _promoted(a.to_real(), b.to_real())
        return None if real is None else real.to_complex()
    if b.is_floating_point:
        if not a.is_floating_point:
            return b
        if a.itemsize == b.itemsize:
            return float32  # float16 with bfloat16
        return a if a.itemsize > b.itemsize else b
    if a in _WIDE_UNSIGNED or b in _WIDE_UNSIGNED:
        return None
    if a is uint8 and b is int8:
        return int16
    return a if a.itemsize > b.itemsize else b


PROMOTED: dict[tuple[dtype, dtype], dtype] = {
    (a, b): promoted for a in ALL for b in ALL if (promoted := _promoted(a, b)) is not None
} | {(kind, kind): kind for kind in FLOAT8}


def promote_types(type1: dtype, type2: dtype) -> dtype:
    """The smallest type that holds both, by PyTorch's table; RuntimeError where it has no entry."""
    promoted = PROMOTED.get((type1, type2))
    if promoted is not None:
        return promoted
    type1, type2 = demand(type1, "promote_types", "type1", 1), demand(type2, "promote_types", "type2", 2)
    promoted = PROMOTED.get((type1, type2))
    if promoted is not None:
        return promoted
    if type1 in FLOAT8 or type2 in FLOAT8:
        raise RuntimeError(
            "Promotion for Float8 Types is not supported, attempted to promote "
            f"{type1.scalar_name} and {type2.scalar_name}"
        )
    raise RuntimeError(
        "Promotion for uint16, uint32, uint64 types is not supported, "
        f"attempted to promote {type1.scalar_name} and {type2.scalar_name}"
    )


_C_NAMES = {
    "Half": "c10::Half", "BFloat16": "c10::BFloat16", "Byte": "unsigned char", "Char": "signed char",
    "Short": "short int", "Long": "long int",
    "ComplexFloat": "c10::complex<float>", "ComplexDouble": "c10::complex<double>",
}  # fmt: skip


def c_name(kind: dtype) -> str:
    """The C++ type that PyTorch's messages name: 'float' for float32."""
    return _C_NAMES.get(kind.scalar_name, kind.scalar_name.lower())


def type_name(kind: dtype) -> str:
    """What PyTorch's messages call the type of a tensor on the CPU: 'torch.FloatTensor', 'CPUBoolType'."""
    name = kind.scalar_name
    is_old = name in ("Half", "Float", "Double", "Byte", "Char", "Short", "Int", "Long")
    return f"torch.{name}Tensor" if is_old else f"CPU{name}Type"


_STORED = {"f8": "double", "f4": "float", "f2": "c10::Half", "V2": "c10::BFloat16", "i4": "int"}


def cast(array: Any, kind: np.dtype[Any]) -> Any:
    """An array as another dtype; doubles become halves by way of floats: PyTorch rounds twice, and NumPy once."""
    if kind.char == "e" and array.dtype.char == "d":
        array = array.astype(np.float32)
    return array.astype(kind)


def converted(array: Any, kind: np.dtype[Any]) -> Any:
    """An array as another dtype; what repeats goes on doing so: NumPy's copy would lie as no result of PyTorch's."""
    if 0 not in array.strides:
        return cast(array, kind)
    once = array[tuple(slice(None if stride else 1) for stride in array.strides)]
    return np.broadcast_to(cast(once, kind), array.shape)


def on_one_device(a: np.dtype[Any], b: np.dtype[Any]) -> builtins.bool:
    """Whether arrays of two NumPy dtypes both have memory, or both are those of meta tensors."""
    return (a.metadata is None) is (b.metadata is None)


def need_number(function: str, name: str, value: Any) -> None:
    """Raise PyTorch's error unless a value that is given by name is a number: of None or lists NumPy makes others."""
    if not isinstance(value, NUMBERS):
        raise TypeError(f"{function}(): argument '{name}' must be Number, not {called(value)}")


def check_word(value: Any) -> None:
    """Raise PyTorch's error for a whole number that no 64 bits hold."""
    if isinstance(value, builtins.int) and not -(2**63) <= value < 2**64:
        raise OverflowError("int too big to convert" if value > 0 else "can't convert negative int to unsigned")


def check_number(value: Any, kind: np.dtype[Any]) -> None:
    """Raise PyTorch's error where a Python number does not fit into elements of a NumPy dtype.

    A negative integer fits into unsigned elements, where it wraps round, down to the negative of the largest.
    """
    check_word(value)
    if kind.kind == "b":
        return
    if kind.kind == "c":
        parts = np.array([value.real, value.imag], "f8")
        if kind.itemsize == 8 and (np.isfinite(parts) & (abs(parts) > np.finfo(np.float32).max)).any():
            raise RuntimeError("value cannot be converted to type c10::complex<float> without overflow")
        return
    fits = not isinstance(value, complex) or not value.imag
    if fits and kind.kind in "iu":
        info = np.iinfo(kind)
        least = -info.max if kind.kind == "u" and isinstance(value, builtins.int) else info.min
        fits = least <= value.real <= info.max
    elif fits and np.isfinite(value):
        from .limits import finfo  # few numbers come here

        fits = abs(value) <= finfo(of(kind)).max
    if not fits:
        name = _STORED.get(kind.str[1:], f"{kind.name}_t")
        raise RuntimeError(f"value cannot be converted to type {name} without overflow")


def element(value: Any, kind: np.dtype[Any]) -> Any:
    """A real number as an element of a NumPy dtype; PyTorch's error where it does not fit."""
    if kind.itemsize < 4 or not -3e38 < value < 3e38:
        check_number(value, kind)
    return kind.type(value)


def check_one(value: Any, kind: np.dtype[Any]) -> None:
    """The same where one element is filled: what is too large for half precision, PyTorch makes infinite there."""
    check_number(value, np.dtype("f8") if kind.itemsize == 2 and kind.kind in "fV" else kind)


def category(kind: dtype) -> str:
    """What kind of number it is: 'bool', 'int', 'float' or 'complex'."""
    return ("bool", "int", "int", "float", "complex")[kind._rank]


def can_cast(from_: dtype, to: dtype) -> builtins.bool:
    """Whether an in-place operation with result ``from_`` may write into ``to``: no fall in category."""
    from_, to = demand(from_, "can_cast", "from_", 1), demand(to, "can_cast", "to", 2)
    if from_.is_complex:
        return to.is_complex
    if from_.is_floating_point:
        return to.is_floating_point or to.is_complex
    return from_ is bool or to is not bool


_PYTHON: dict[object, dtype] = {builtins.bool: bool, builtins.int: int64, builtins.float: float64, complex: complex128}


def demand(value: object, function: str, name: str = "dtype", position: builtins.int | None = None) -> dtype:
    """The dtype given to ``function`` as its argument ``name``; Python's number types count, others are TypeErrors.

    ``position`` counts from one and is said of positional arguments only.
    """
    if type(value) is dtype:
        return value
    if isinstance(value, type) and value in _PYTHON:
        return _PYTHON[value]  # as PyTorch reads them: float is float64, whatever the default
    where = "" if position is None else f" (position {position})"
    raise TypeError(f"{function}(): argument '{name}'{where} must be torch.dtype, not {called(value)}")


def called(value: object) -> str:
    """The name that PyTorch's messages give the type of ``value``: 'torch.dtype', 'numpy.bool', 'str'."""
    kind = type(value)
    if kind.__module__.startswith("glassgrad.ground"):
        return f"torch.{kind.__name__}"
    return f"numpy.{kind.__name__}" if kind.__module__ == "numpy" else kind.__name__


def need_bool(function: str, name: str, position: builtins.int, value: object) -> None:
    """Raise PyTorch's error unless a value is True or False."""
    if type(value) is not builtins.bool:
        raise TypeError(f"{function}(): argument '{name}' (position {position}) must be bool, not {called(value)}")


def is_int(value: Any) -> builtins.bool:
    """Whether a value counts as a whole number: no bool; in a tensor of one element too."""
    if type(value) is builtins.int:
        return True
    array = getattr(value, "_array", value)
    if isinstance(array, (np.ndarray, np.generic)):
        return array.dtype.kind in "iu" and (not array.ndim or (array is not value and array.size == 1))
    return hasattr(value, "__index__") and not isinstance(value, builtins.bool)


def need_int(function: str, name: str, position: builtins.int, value: Any) -> builtins.int:
    """A whole number, which may come in a tensor of one element; PyTorch's error where it is none."""
    if type(value) is builtins.int:
        return value
    if not is_int(value):
        raise TypeError(f"{function}(): argument '{name}' (position {position}) must be int, not {called(value)}")
    return value.__index__()  # type: ignore[no-any-return]


def need_float(function: str, name: str, position: builtins.int, value: Any) -> None:
    """Raise PyTorch's error unless a value is a real number, which may come in a 0-d tensor that nothing tracks."""
    if isinstance(value, (builtins.float, builtins.int, np.number, np.bool_)):
        return
    if getattr(value, "requires_grad", True) or value.ndim:
        raise TypeError(f"{function}(): argument '{name}' (position {position}) must be float, not {called(value)}")


def _combine(higher: dtype | None, lower: dtype | None) -> dtype | None:
    """The higher priority's type, unless the lower one's category is above it."""
    if higher is None or lower is None:
        return higher if lower is None else lower
    if higher.is_complex:
        return higher
    if higher.is_floating_point:
        return higher.to_complex() if lower.is_complex else higher
    if lower.is_complex:
        return lower
    if higher is bool or lower.is_floating_point:
        return promote_types(higher, lower)
    return higher


def _join(kinds: Iterable[dtype]) -> dtype | None:
    joined = None
    for kind in kinds:
        joined = kind if joined is None or joined is kind else promote_types(joined, kind)
    return joined


_answers: dict[tuple[object, ...], dtype] = {}


def result_dtype(dims: Sequence[dtype] = (), zeros: Sequence[dtype] = (), numbers: Sequence[type] = ()) -> dtype:
    """The type of an operation's result, by ``torch.result_type``'s three priorities.

    dims     the dtypes of operands with dimensions (tuples or lists, all three)
    zeros    the dtypes of 0-d tensors
    numbers  the types of Python numbers: builtin bool, int, float or complex
    """
    key = (*dims, None, *zeros, None, *numbers, _default)
    answer = _answers.get(key)
    if answer is None:
        answer = _combine(_join(dims), _combine(_join(zeros), _join([_weak(number) for number in numbers])))
        if answer is None:
            raise RuntimeError("result_dtype needs at least one operand")
        if len(key) <= 7:  # the common keys are few; long ones need not be kept
            _answers[key] = answer
    return answer


# --- the default ------------------------------------------------------------------------------------------------------

_default: dtype = float32
_default_complex: dtype = complex64


def get_default_dtype() -> dtype:
    """The type of new floating point tensors."""
    return _default


default = get_default_dtype


def default_complex() -> dtype:
    """The type of new complex tensors: of the default dtype's width."""
    return _default_complex


def set_default_dtype(d: dtype, /) -> None:
    """Make ``d`` the type of new floating point tensors, and of what true division of integers gives."""
    global _default, _default_complex
    if type(d) is not dtype:
        raise TypeError("invalid dtype object: only floating-point types are supported as the default type")
    if not d.is_floating_point:
        raise TypeError("only floating-point types are supported as the default type")
    if d in FLOAT8:
        raise TypeError(f"couldn't find storage object {d.scalar_name}Storage")
    _default, _default_complex = d, _COMPLEX[d]


def _weak(number: type) -> dtype:
    if issubclass(number, builtins.bool):
        return bool
    if issubclass(number, builtins.int):
        return int64
    if issubclass(number, builtins.float):
        return _default
    if issubclass(number, complex):
        return _default_complex
    raise TypeError(f"{number.__name__} is not the type of a Python number")


def of_number(number: type) -> dtype:
    """The dtype that ``torch.tensor`` gives a Python number of this type."""
    if _default is bfloat16 and issubclass(number, complex):
        raise RuntimeError("invalid default scalar type for complex")
    return _weak(number)


# --- how elements lie -------------------------------------------------------------------------------------------------


class _Named:
    """A constant that is only its name; one object each."""

    __slots__ = ("_name",)
    _name: str

    def __new__(cls, *args: object, **kwargs: object) -> _Named:
        raise TypeError(f"cannot create 'torch.{cls.__name__}' instances")

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"'torch.{type(self).__name__}' object has no attribute '{name}'")

    def __repr__(self) -> str:
        return f"torch.{self._name}"

    def __reduce__(self) -> str:
        return self._name


@final
class layout(_Named):
    """How a tensor's elements are stored: ``strided``, or only some of them (``sparse_coo``, ``sparse_csr``)."""

    __slots__ = ()


@final
class memory_format(_Named):
    """The order of a tensor's dimensions in memory."""

    __slots__ = ()


def _named(kind: type[Any], name: str) -> Any:
    instance = object.__new__(kind)
    object.__setattr__(instance, "_name", name)
    return instance


strided: layout = _named(layout, "strided")
sparse_coo: layout = _named(layout, "sparse_coo")
sparse_csr: layout = _named(layout, "sparse_csr")
#: To be asked for, as in ``x.layout is torch.sparse_csc``: no tensor has one of these.
sparse_csc, sparse_bsr, sparse_bsc, jagged = (
    _named(layout, name) for name in ("sparse_csc", "sparse_bsr", "sparse_bsc", "jagged")
)
contiguous_format = legacy_contiguous_format = _named(memory_format, "contiguous_format")
preserve_format: memory_format = _named(memory_format, "preserve_format")
channels_last: memory_format = _named(memory_format, "channels_last")
channels_last_3d: memory_format = _named(memory_format, "channels_last_3d")


def __getattr__(name: str) -> Any:
    """``finfo`` and ``iinfo``, of which few programs ask."""
    if name not in ("finfo", "iinfo"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import limits

    return getattr(limits, name)
