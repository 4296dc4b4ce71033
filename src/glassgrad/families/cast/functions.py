"""Tensors in other dtypes, layouts and places; copies and fills; complex numbers and their parts."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core import write
from ...core.call import ORDINARY
from ...core.tensor import Tensor, View, alias, edge_of, share, wrap
from ...ground import device as devices
from ...ground import dtypes, listening, modes
from ...ground.device import device as device_type
from ...ground.dtypes import called, memory_format, preserve_format
from ...ground.layout import format_name, is_laid, suggested
from ...ground.listening import asking
from ...ground.meta import blank
from ...ground.runtime import warn_once
from ...ground.window import strides_of
from ...ops.declare import composite
from ...tensor import lifted, writable
from ..arithmetic.functions import is_number, need_tensor, plain
from ..index.rows import select
from ..pointwise import limit as sign
from . import rows as cast
from .conjugates import follow
from .rows import clone as copied
from .rows import to_copy

_dtype = dtypes.dtype

# -- dtypes ----------------------------------------------------------------------------------------------------------

DISCARDED = (
    "Casting complex values to real discards the imaginary part (Triggered internally at "
    "/__w/pytorch/pytorch/aten/src/ATen/native/Copy.cpp:307.)"
)


def as_dtype(self: Tensor, kind: _dtype, copy: bool = False, layout: str | None = None) -> Tensor:
    """The tensor in another dtype; itself where nothing changes."""
    wanted, own = kind.numpy, self._array.dtype
    if (wanted is own or wanted == own) and not copy:
        return self
    if own.kind == "c" and wanted.kind not in "cb" and self._array.size:
        warn_once(DISCARDED)
    if wanted.kind in "biu" and type(self) is Tensor and self._edge is not None:
        self = wrap(self._array)  # whose history, which may be refused, is not asked
    return to_copy(self, wanted, own, layout)


def _method(name: str, kind: _dtype) -> Any:
    def convert(self: Tensor, memory_format: Any = None) -> Tensor:
        return as_dtype(self, kind) if memory_format is None else to(self, kind, memory_format=memory_format)

    convert.__name__ = convert.__qualname__ = name
    convert.__doc__ = f"The tensor as {kind!r}."
    return composite(function=False)(convert)


for _name, _kind in {
    "float": dtypes.float32, "double": dtypes.float64, "half": dtypes.float16, "bfloat16": dtypes.bfloat16,
    "int": dtypes.int32, "long": dtypes.int64, "short": dtypes.int16, "char": dtypes.int8, "byte": dtypes.uint8,
    "bool": dtypes.bool, "chalf": dtypes.complex32, "cfloat": dtypes.complex64, "cdouble": dtypes.complex128,
}.items():  # fmt: skip
    _method(_name, _kind)

_TO = (
    " * (torch.device device = None, torch.dtype dtype = None, bool non_blocking = False, bool copy = False, *, "
    "torch.memory_format memory_format = None)\n"
    " * (torch.dtype dtype, bool non_blocking = False, bool copy = False, *, "
    "torch.memory_format memory_format = None)\n"
    " * (Tensor tensor, bool non_blocking = False, bool copy = False, *, torch.memory_format memory_format = None)\n"
)
_PYTHON = {float: dtypes.float64, int: dtypes.int64, bool: dtypes.bool, complex: dtypes.complex128}


def _no_such_to(args: tuple[Any, ...], kwargs: dict[str, Any]) -> TypeError:
    got = ", ".join(called(a) for a in args) + "".join(f"{k}={called(v)}, " for k, v in kwargs.items())
    return TypeError(f"to() received an invalid combination of arguments - got ({got}), but expected one of:\n{_TO}")


@composite(function=False, page="torch.Tensor")
def to(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """The tensor in another dtype or on another device; itself where nothing changes.

    ``to(dtype)``, ``to(device, dtype)``, ``to(other)``, each with non_blocking, copy and memory_format.
    """
    if len(args) == 1 and not kwargs and type(args[0]) is _dtype:
        return as_dtype(self, args[0])
    arguments = dict(kwargs)
    rest = list(args)
    if rest and isinstance(rest[0], Tensor):
        listening.ask_first((self, rest[0]), None)
        arguments["tensor"] = rest.pop(0)
        order = ["non_blocking", "copy"]
    elif rest and (isinstance(rest[0], _dtype) or rest[0] in _PYTHON if isinstance(rest[0], (_dtype, type)) else False):
        arguments["dtype"] = rest.pop(0)
        order = ["non_blocking", "copy"]
    else:
        order = ["device", "dtype", "non_blocking", "copy"]
    for name, value in zip(order, rest, strict=False):
        if name in arguments:
            raise _no_such_to(args, kwargs)
        arguments[name] = value
    if len(rest) > len(order) or not arguments.keys() <= {
        "device", "dtype", "tensor", "non_blocking", "copy", "memory_format"
    }:  # fmt: skip
        raise _no_such_to(args, kwargs)
    other = arguments.get("tensor")
    kind, device = arguments.get("dtype"), arguments.get("device")
    if other is not None:
        kind, device = other.dtype, other.device
    kind = _PYTHON.get(kind, kind) if isinstance(kind, type) else kind
    if kind is not None and not isinstance(kind, _dtype):
        raise _no_such_to(args, kwargs)
    if not {type(arguments.get(name, False)) for name in ("copy", "non_blocking")} <= {bool}:
        raise _no_such_to(args, kwargs)
    layout = _layout(arguments.get("memory_format"), self)
    if device is not None:
        moved = _moved(self, device, kind)
        if moved is not None:
            return moved
    out = as_dtype(self, kind or self.dtype, bool(arguments.get("copy")), layout)
    if out is self and layout is not None and suggested(self._array.shape, strides_of(self._array)) != layout:
        return to_copy(self, self._array.dtype, self._array.dtype, layout)
    return out


def _moved(self: Tensor, device: Any, kind: _dtype | None) -> Tensor | None:
    """The tensor on another device; None where that is its own."""
    if not isinstance(device, (str, bytes, device_type, int)):
        raise _no_such_to((device,), {})
    there = devices.require(device, "to")  # type: ignore[arg-type]
    here = "meta" if self._array.dtype.metadata else "cpu"
    if there == here:
        return None
    if there == "cpu":
        raise NotImplementedError("Cannot copy out of meta tensor; no data!")
    return wrap(blank(self._array.shape, self._array.dtype if kind is None else kind.numpy))


@composite(function=False)
def cpu(self: Tensor, memory_format: Any = None) -> Tensor:
    """The tensor in main memory."""
    return to(self, "cpu", memory_format=memory_format)


@composite(function=False)
def cuda(self: Tensor, device: Any = None, non_blocking: bool = False, memory_format: Any = None) -> Tensor:
    """PyTorch's refusal: there is no CUDA here."""
    return to(self, "cuda")


@composite(name="type", function=False)
def type_of(self: Tensor, dtype: Any = None, non_blocking: bool = False, **kwargs: Any) -> Any:
    """The legacy name of the tensor's type, such as ``torch.FloatTensor``; or the tensor as another type."""
    if strange := kwargs.keys() - {"async"}:
        raise TypeError(f"type() got an unexpected keyword argument '{min(strange)}'")
    if dtype is None:
        return f"torch.{'meta.' * bool(self._array.dtype.metadata)}{self.dtype.scalar_name}Tensor"
    if isinstance(dtype, _dtype):
        return as_dtype(self, dtype)
    if not isinstance(dtype, (str, type)):
        raise TypeError("dtype must be a type, str, or dtype object")
    name = dtype if isinstance(dtype, str) else f"{dtype.__module__}.{dtype.__name__}".replace("builtins.", "")
    for kind in dtypes.ALL:
        if name.removeprefix("glassgrad.") in (f"torch.{kind.scalar_name}Tensor", f"{kind.scalar_name}Tensor"):
            return as_dtype(self, kind)
    raise ValueError(f"invalid type: '{name}'")


@composite(function=False)
@asking
def type_as(self: Tensor, other: Tensor) -> Tensor:
    """The tensor in the dtype of another."""
    if not isinstance(other, Tensor):
        raise TypeError(f"type_as(): argument 'other' (position 1) must be Tensor, not {called(other)}")
    is_near = dtypes.on_one_device(self._array.dtype, other._array.dtype)
    return as_dtype(self, other.dtype) if is_near else to(self, other)


# -- copies ----------------------------------------------------------------------------------------------------------


def _layout(wanted: Any, self: Tensor) -> str | None:
    """The name of a memory format other than PyTorch's default of keeping it; its error where the rank is wrong."""
    if wanted is None:
        return None
    if not isinstance(wanted, memory_format):
        raise TypeError(f"argument 'memory_format' must be torch.memory_format, not {called(wanted)}")
    return None if wanted is preserve_format else format_name(wanted, self._array.ndim)


@composite()
def clone(input: Tensor, *, memory_format: Any = None) -> Tensor:
    """A copy, through which gradients flow; dense memory keeps its order unless ``memory_format`` says otherwise."""
    return copied(input) if memory_format is None else copied(input, _layout(memory_format, input))


@composite(function=False)
def contiguous(self: Tensor, memory_format: Any = None) -> Tensor:
    """The tensor itself if its elements lie row by row (or as ``memory_format`` says), else such a copy."""
    if memory_format is None:
        return self if self._array.flags.c_contiguous else copied(self, "contiguous_format")
    layout = _layout(memory_format, self)
    if layout is None and not self._array.flags.c_contiguous:
        raise RuntimeError("preserve memory format is unsupported by the contiguous operator")
    return self if layout is None or is_laid(self._array, layout) else copied(self, layout)


@composite(function=False)
def is_contiguous(self: Tensor, memory_format: Any = None) -> bool:
    """Whether the elements lie row by row, or as ``memory_format`` says."""
    if memory_format is None:
        return bool(self._array.flags.c_contiguous or self._array.dtype.metadata is not None)  # meta tensors are dense
    name = repr(memory_format).removeprefix("torch.")
    if name == "preserve_format":
        raise RuntimeError("preserve memory format is unsupported by the contiguous operator")
    return is_laid(self._array, name)


@composite(function=False)
def copy_(self: Tensor, other: Any, non_blocking: bool = False) -> Tensor:
    """Write the elements of ``other``, broadcast and cast, into the tensor."""
    data = writable.memory(self)
    is_plain = data is not None and type(other) is Tensor
    if is_plain and other._array.dtype is data.dtype and other._array.shape == data.shape:
        if (other._edge is None or not modes.grad_enabled()) and (
            other._counter is None or other._counter is not self._counter
        ):
            data[...] = other._array
            share(self).version += 1
            return self
    if not isinstance(other, Tensor):
        if not is_number(other):
            raise TypeError(f"copy_(): argument 'other' (position 1) must be Tensor, not {called(other)}")
        other = wrap(np.asarray(plain(other)))
    have, wanted = other._array.shape, self._array.shape
    if have != wanted:
        writable.check_writable(self, False)
        writable.check_overlap(self)
        writable.check_overlap_with(self, other)
        for back in range(1, min(len(have), len(wanted)) + 1):
            if have[-back] != wanted[-back] and have[-back] != 1 and wanted[-back] != 1:
                raise RuntimeError(
                    f"The size of tensor a ({wanted[-back]}) must match the size of tensor b ({have[-back]}) at "
                    f"non-singleton dimension {max(len(have), len(wanted)) - back}"
                )
        both = np.broadcast_shapes(have, wanted)
        if both != wanted:
            raise RuntimeError(f"output with shape {list(wanted)} doesn't match the broadcast shape {list(both)}")
    if other._array.dtype.kind == "c" and self._array.dtype.kind not in "cb" and self._array.size:
        warn_once(DISCARDED)
    if other._edge is not None and self._array.dtype.kind in "biu":  # no gradient goes through whole numbers
        other = detach(other)
    if writable.is_same_memory(self._array, other._array):
        if not modes.grad_enabled() or edge_of(self) is None is edge_of(other):
            share(self).version += 1
            return self  # though elements share their place
    return write.in_place(cast.copy.row, self, (other,), ())


def _filling(self: Tensor, value: Any, with_number: Any, with_tensor: Any, name: str) -> tuple[Any, Any, Any]:
    if isinstance(value, Tensor):
        if value._array.ndim:
            raise RuntimeError(
                f"fill_ only supports 0-dimension value tensor but got tensor with {value._array.ndim} dimensions."
            )
        return with_tensor, (value,), ()
    if not is_number(value):
        why = f"      didn't match because some of the arguments have invalid types: (!{called(value)}!)\n"
        raise TypeError(
            f"{name}() received an invalid combination of arguments - got ({called(value)}), but expected one of:\n"
            f" * (Tensor value)\n{why} * (Number value)\n{why}"
        )
    value = plain(value)
    (dtypes.check_one if self._array.size == 1 else dtypes.check_number)(value, self._array.dtype)
    return with_number, (), (value,)


@composite(method=False)
def fill(input: Tensor, value: Any) -> Tensor:
    """A tensor of the same shape and dtype, filled with ``value``, a number or a 0-d tensor."""
    row, tensors, settings = _filling(input, value, cast.fill_number, cast.fill_tensor, "fill")
    return row(input, *tensors, *settings)


@composite()
def fill_(self: Tensor, value: Any) -> Tensor:
    """Fill the tensor with ``value``, a number or a 0-d tensor."""
    kind = type(value)
    if kind is float or kind is int:
        data = writable.memory(self)
        if data is not None and data.dtype.kind == "f" and -(2**63) <= value < 2**63:
            data.fill(value)
            share(self).version += 1
            return self
    if isinstance(value, Tensor) or is_number(value):
        writable.check_writable(self, False)
    row, tensors, settings = _filling(self, value, cast.fill_with_number, cast.fill_with_tensor, "fill_")
    tensors = tuple(write.separate(self, number) for number in tensors)
    return write.in_place(row.row, self, tensors, settings)


@composite()
def zero_(self: Tensor) -> Tensor:
    """Fill the tensor with zeros."""
    data = writable.memory(self)
    if data is not None:
        data.fill(0)
        share(self).version += 1
        return self
    return write.in_place(cast.zero.row, self, (), ())


@composite()
def detach(input: Tensor) -> Tensor:
    """The same memory without history: gradients stop here."""
    if type(input) is not Tensor and type(input) not in ORDINARY:
        if isinstance(input, lifted.Lifted):
            return lifted.strip(input)  # type: ignore[no-any-return]
        listening.ask_first((input,), None)  # no row is met that would ask
    return alias(input)


_DETACHED_VIEW = (
    "Can't detach views in-place. Use detach() instead. If you are using DistributedDataParallel (DDP) for training, "
    "and gradient_as_bucket_view is set as True, gradients are views of DDP buckets, and hence detach_() cannot be "
    "called on these gradients. To fix this error, please refer to the Optimizer.zero_grad() function in "
    "torch/optim/optimizer.py as the solution."
)


@composite(function=False)
def module_load(self: Tensor, other: Tensor, assign: bool = False) -> Tensor:
    """What ``load_state_dict`` exchanges this tensor with, where ``torch.__future__`` lets it swap tensors."""
    return detach(other if assign else copy_(self, other))


@composite()
def detach_(self: Tensor) -> Tensor:
    """Forget the tensor's history; it is a leaf from now on."""
    if isinstance(self, lifted.Lifted):
        if self.level.is_view(self):
            raise RuntimeError(_DETACHED_VIEW)
        # in a block of dual tensors the value is the tensor itself, which its views know as their base
        value = lifted.strip(self.value) if self.level.has_function else detach_(self.value)
        self.become(self.level.strip(self, value))
        return self
    if modes.unusual and modes.local.inference:  # where nothing is recorded, there is nothing to forget
        return self
    if type(self._edge) is View:
        raise RuntimeError(_DETACHED_VIEW)
    share(self)
    self._edge = None
    return self


# -- complex numbers -------------------------------------------------------------------------------------------------


def _is_complex(input: Tensor) -> bool:
    return input._array.dtype.kind == "c"


@composite()
def view_as_real(input: Tensor) -> Tensor:
    """The view of complex numbers as pairs along a new last dimension."""
    if not _is_complex(input):
        raise RuntimeError("view_as_real is only supported for complex tensors")
    if is_conj(input):
        raise RuntimeError(
            "view_as_real doesn't work on unresolved conjugated tensors.  To resolve the conjugate tensor so you can "
            "view it as real, use self.resolve_conj(); however, be warned that the resulting tensor will NOT alias the "
            "original."
        )
    return cast.view_as_real(input)


@composite()
def view_as_complex(input: Tensor) -> Tensor:
    """The view of pairs along the last dimension as complex numbers."""
    data = input._array
    if data.dtype.kind != "f":
        raise RuntimeError(
            "view_as_complex is only supported for half, float and double tensors, but got a tensor of scalar type: "
            + input.dtype.scalar_name
        )
    if not data.ndim:
        raise RuntimeError("Input tensor must have one or more dimensions")
    if data.shape[-1] != 2:
        raise RuntimeError("Tensor must have a last dimension of size 2")
    *steps, last = strides_of(data)
    if last != 1:
        raise RuntimeError("Tensor must have a last dimension with stride 1")
    if any(step % 2 and size != 1 for step, size in zip(steps, data.shape, strict=False)):
        raise RuntimeError("Tensor must have a stride divisible by 2 for all but last dimension")
    if input.storage_offset() % 2:  # type: ignore[attr-defined]
        raise RuntimeError("Tensor must have a storage_offset divisible by 2")
    dtypes.of(data.dtype).to_complex().numpy  # noqa: B018  there is none of halves, and who asks is told
    return cast.view_as_complex(input)


def _part(input: Tensor, index: int) -> Tensor:
    pairs = cast.view_as_real(input)
    return select(pairs, pairs._array.ndim - 1, index)


@composite(method=False)
def real(input: Tensor) -> Tensor:
    """The real part: a view of a complex tensor, a real tensor itself."""
    return _part(input, 0) if _is_complex(input) else input


@composite(method=False)
def imag(input: Tensor) -> Tensor:
    """The imaginary part, a view."""
    if not _is_complex(input):
        raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")
    return _part(input, 1)


def _set_real(self: Tensor, value: Any) -> None:
    real(self).copy_(value)  # type: ignore[attr-defined]


def _set_imag(self: Tensor, value: Any) -> None:
    imag(self).copy_(value)  # type: ignore[attr-defined]


composite(function=False, name="real")(property(real, _set_real))  # type: ignore[arg-type]
composite(function=False, name="imag")(property(imag, _set_imag))  # type: ignore[arg-type]


@composite()
def conj(input: Tensor) -> Tensor:
    """The complex conjugate; a real tensor itself."""
    if not _is_complex(input):
        return input
    out = sign.conj(input)
    numbers = lifted.plain(out)
    for each in (out, numbers):
        each.__dict__["_conjugate"] = not is_conj(input)  # for is_conj only: the numbers are conjugated already
    follow(numbers, lifted.plain(input))
    return out


@composite()
def conj_physical(input: Tensor, *, out: Any = None) -> Tensor:
    """The complex conjugate; a real tensor itself."""
    return sign.conj_physical(input, out=out) if _is_complex(input) or out is not None else input


@composite()
def conj_physical_(input: Tensor) -> Tensor:
    """In-place :func:`conj_physical`."""
    return write.in_place(sign.conj_physical_inplace.row, input, (), ())


@composite()
@asking
def is_conj(input: Tensor) -> bool:
    """Whether the tensor came from ``conj``, which PyTorch leaves for later; here it is done already."""
    need_tensor("is_conj", "input", 1, input)
    return getattr(input, "_conjugate", False)


@composite()
@asking
def resolve_conj(input: Tensor) -> Tensor:
    """A copy of a conjugate, which is none; other tensors themselves."""
    need_tensor("resolve_conj", "input", 1, input)
    if not is_conj(input):
        return input
    return copied(input)


@composite()
@asking
def resolve_neg(input: Tensor) -> Tensor:
    """The tensor itself: negations are never left for later here."""
    need_tensor("resolve_neg", "input", 1, input)
    return input


@composite()
def angle(input: Tensor, *, out: Any = None) -> Tensor:
    """The angle of complex numbers in radians; of real ones, 0 or pi."""
    row = sign.angle_of_complex if _is_complex(input) else sign.angle
    return row(input, out=out)


def _both_real(first: Any, second: Any) -> None:
    if not all(part._array.dtype.kind == "f" for part in (first, second)):
        raise RuntimeError(
            "Expected both inputs to be Half, Float or Double tensors but got "
            f"{first.dtype.scalar_name} and {second.dtype.scalar_name}"
        )
    if first._array.dtype != second._array.dtype:
        raise RuntimeError(
            f"Expected object of scalar type {first.dtype.scalar_name} but got scalar type {second.dtype.scalar_name} "
            "for second argument"
        )


@composite(name="complex", method=False)
def complex_of(real: Tensor, imag: Tensor, *, out: Any = None) -> Tensor:
    """The complex numbers of real and imaginary parts."""
    _both_real(real, imag)
    return sign.complex_from(real, imag, out=out)


@composite(method=False)
def polar(abs: Tensor, angle: Tensor, *, out: Any = None) -> Tensor:
    """The complex numbers of sizes and angles."""
    _both_real(abs, angle)
    return sign.polar(abs, angle, out=out)


def _casting(name: str, kind: Any) -> None:
    def cast_to(input: Tensor, non_blocking: bool = False) -> Tensor:
        return input.to(kind)  # type: ignore[attr-defined, no-any-return]

    cast_to.__doc__ = f"The tensor as {kind}: PyTorch's name for what ``to`` does."
    composite(name=f"_cast_{name}", method=False)(cast_to)


for _target in (
    dtypes.uint8, dtypes.int8, dtypes.float64, dtypes.float32, dtypes.int32, dtypes.int64, dtypes.int16, dtypes.float16,
):  # fmt: skip
    _casting(_target.scalar_name, _target)
