"""What a tensor is and holds, as Python values: sizes, strides, numbers; and its use as a Python number."""

from __future__ import annotations

import builtins
import itertools
import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.tensor import Tensor, share, wrap
from ...ground import dtypes, modes
from ...ground.dtypes import called
from ...ground.exposed import expose
from ...ground.listening import asking
from ...ground.meta import need_data, need_item
from ...ground.runtime import warn_once
from ...ground.size import Size, unchecked
from ...ground.window import owner_of, strides_of
from ...ops.declare import composite
from ...ops.torch_function import DisableTorchFunctionSubclass
from ...tensor.lifted import Lifted, of_class
from ..arithmetic.functions import need_tensor, plain
from ..join.functions import stack
from ..shape.rows import alias

# -- sizes -----------------------------------------------------------------------------------------------------------


def _dim(dim: Any, ndim: int, function: str) -> int:
    if type(dim) is not int:
        if isinstance(dim, (bool, float, str)) or not hasattr(dim, "__index__"):
            raise TypeError(f"{function}(): argument 'dim' (position 1) must be int, not {called(dim)}")
        dim = operator.index(dim)
    if not ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    if not -ndim <= dim < ndim:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-ndim}, {ndim - 1}], but got {dim})")
    return dim


@composite(function=False)
def size(self: Tensor, dim: int | None = None) -> Size | int:
    """The sizes of all dimensions, or of one."""
    shape = self._array.shape
    return unchecked(shape) if dim is None else shape[_dim(dim, len(shape), "size")]


@composite(function=False)
def stride(self: Tensor, dim: int | None = None) -> tuple[int, ...] | int:
    """How far apart neighbours along all dimensions (or one) lie, in elements."""
    data = self._array
    strides = strides_of(data)
    return strides if dim is None else strides[_dim(dim, data.ndim, "stride")]


def _address(data: Any) -> int:
    return int(data.__array_interface__["data"][0])


@composite(function=False)
def data_ptr(self: Tensor) -> int:
    """The address of the first element; 0 where there is none."""
    share(self)  # a number of its own has no address
    expose(self._array)
    return _address(self._array) if self._array.size and self._array.dtype.metadata is None else 0


@composite(function=False)
def storage_offset(self: Tensor) -> int:
    """How many elements of its memory lie before the first element."""
    data = self._array
    if type(data) is not np.ndarray or data.dtype.metadata is not None:
        return 0
    return (_address(data) - _address(owner_of(data))) // data.itemsize


@composite("ndimension", function=False)
def dim(self: Tensor) -> int:
    """The number of dimensions."""
    return self._array.ndim


@composite("nelement", function=False, name="numel")
def numel_method(self: Tensor) -> int:
    """The number of elements."""
    return self._array.size


@composite(method=False)
def numel(input: Tensor) -> int:
    """The number of elements."""
    return input._array.size


@composite(function=False)
def element_size(self: Tensor) -> int:
    """The size of one element in bytes."""
    return self._array.itemsize


@composite(name="__len__", function=False)
def length(self: Tensor) -> int:
    """The size of the first dimension."""
    shape = self._array.shape
    if not shape:
        raise TypeError("len() of a 0-d tensor")
    return shape[0]


@composite()
def is_same_size(self: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same shape."""
    return self._array.shape == other._array.shape


# -- kinds -----------------------------------------------------------------------------------------------------------


@composite()
def is_floating_point(input: Tensor) -> bool:
    """Whether the elements are real floating point numbers."""
    return input._array.dtype.kind in "fV"


@composite()
def is_complex(input: Tensor) -> bool:
    """Whether the elements are complex."""
    return input._array.dtype.kind == "c"


@composite()
def is_signed(input: Tensor) -> bool:
    """Whether the elements can be negative."""
    return input._array.dtype.kind not in "bu"


@composite()
@asking
def is_neg(input: Tensor) -> bool:
    """False: negations are never left for later here."""
    need_tensor("is_neg", "input", 1, input)
    return False


@composite()
def is_inference(input: Tensor) -> bool:
    """Whether the tensor was made in inference mode."""
    return input._inference


@composite(method=False)
def is_tensor(obj: Any) -> bool:
    """Whether ``obj`` is a tensor."""
    return isinstance(obj, Tensor)


@composite()
def is_nonzero(input: Tensor) -> bool:
    """Whether the only element is not zero."""
    return truth(input)


@composite(method=False)
def _shape_as_tensor(self: Tensor) -> Tensor:
    """The size of each dimension, int64."""
    return wrap(np.array(self._array.shape, np.int64))


@composite()
@asking
def get_device(self: Tensor) -> int:
    """-1: the number of no accelerator."""
    return -1


for _name, _doc in {
    "is_cuda": "False: no tensor lives on a CUDA device.", "is_sparse": "False: all tensors are strided.",
    "is_quantized": "False: no tensor is quantized.", "is_mps": "False: no tensor lives on an MPS device.",
    "is_xpu": "False: no tensor lives on an XPU device.", "is_mkldnn": "False: all tensors are strided.",
}.items():  # fmt: skip
    composite(function=False, name=_name)(property(lambda self: False, doc=_doc))  # type: ignore[arg-type]
composite(function=False, name="is_meta")(
    property(lambda self: bool(self._array.dtype.metadata), doc="Whether only the shape is known.")  # type: ignore[arg-type]
)
composite(function=False, name="is_cpu")(
    property(lambda self: not self._array.dtype.metadata, doc="Whether the data lives in main memory.")  # type: ignore[arg-type]
)


def _kind_of(value: Any) -> tuple[Any, Any, Any]:
    if isinstance(value, Tensor):
        return ((value.dtype,), (), ()) if value._array.ndim else ((), (value.dtype,), ())
    return (), (), (type(plain(value)),)


@composite(method=False)
def result_type(tensor1: Any, tensor2: Any) -> dtypes.dtype:
    """The dtype of an arithmetic operation on the two."""
    first, second = _kind_of(tensor1), _kind_of(tensor2)
    return dtypes.result_dtype(*(a + b for a, b in zip(first, second, strict=True)))


@composite(method=False)
def can_cast(from_: dtypes.dtype, to: dtypes.dtype) -> bool:
    """Whether an in-place operation with result ``from_`` may write into ``to``."""
    return dtypes.can_cast(from_, to)


# -- Python numbers --------------------------------------------------------------------------------------------------


@composite(function=False)
def item(self: Tensor) -> Any:
    """The only element as a Python number."""
    data = self._array
    if data.size != 1:
        raise RuntimeError(f"a Tensor with {data.size} elements cannot be converted to Scalar")
    need_item(data)
    return data.item() if data.dtype.kind != "V" else float(data.astype("f4").item())


@composite(function=False)
def tolist(self: Tensor) -> Any:
    """The elements as nested lists; of a 0-d tensor, its number."""
    data = self._array
    if data.dtype.metadata:
        raise NotImplementedError("Cannot copy out of meta tensor; no data!")
    return (data if data.dtype.kind != "V" else data.astype("f4")).tolist()


@composite(name="__bool__", function=False)
def truth(self: Tensor) -> bool:
    """Whether the only element is not zero."""
    data = self._array
    if data.size != 1:
        raise RuntimeError(
            "Boolean value of Tensor with more than one value is ambiguous"
            if data.size
            else "Boolean value of Tensor with no values is ambiguous"
        )
    return bool(item(self)) if data.dtype.metadata else bool(data.item())


def _only(self: Tensor) -> Any:
    if self._array.size != 1:
        raise ValueError("only one element tensors can be converted to Python scalars")
    return item(self)


def _unlearned(self: Tensor) -> Any:
    value = _only(self)
    if self._edge is not None and modes.local.grad and self.requires_grad:
        warn_once(
            "Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior.\n"
            "Consider using tensor.detach() first. (Triggered internally at "
            "/__w/pytorch/pytorch/torch/csrc/autograd/generated/python_variable_methods.cpp:822.)"
        )
    return value


@composite(name="__float__", function=False)
def as_float(self: Tensor) -> float:
    """The only element as a float."""
    value = _unlearned(self)
    if isinstance(value, complex):
        if value.imag:
            raise RuntimeError("value cannot be converted to type double without overflow")
        value = value.real
    return float(value)


@composite(name="__int__", function=False)
def as_int(self: Tensor) -> int:
    """The only element as an int, cut off."""
    value = _only(self)
    if isinstance(value, complex):
        if value.imag:
            raise RuntimeError("value cannot be converted to type int64_t without overflow")
        value = value.real
    return int(value)


@composite(name="__complex__", function=False)
def as_complex(self: Tensor) -> complex:
    """The only element as a complex number."""
    return complex(_unlearned(self))


@composite(name="__index__", function=False)
def as_index(self: Tensor) -> int:
    """The only element of an integer tensor, where Python wants an index."""
    data = self._array
    if data.size != 1 or data.dtype.kind not in "biu":
        raise TypeError("only integer tensors of a single element can be converted to an index")
    need_item(data)
    return int(data.item())


@composite(name="__format__", function=False)
def formatted(self: Tensor, format_spec: str) -> str:
    """The number of a 0-d tensor as the format says; any other tensor as it prints."""
    if not self._array.ndim and not self._array.dtype.metadata and (type(self) is Tensor or isinstance(self, Lifted)):
        return format(item(self), format_spec)
    return object.__format__(self, format_spec)


@composite(function=False)
def is_set_to(self: Tensor, tensor: Tensor) -> bool:
    """Whether both look at the same memory with the same sizes and strides."""
    share(self), share(tensor)
    a, b = self._array, tensor._array
    need_data("is_set_to", a, b)
    alike = a.shape == b.shape and strides_of(a) == strides_of(b) and _address(a) == _address(b)
    return alike and owner_of(a) is owner_of(b)


# -- What tensors are not here but may be in PyTorch (sparse, nested, elsewhere), and what they can be taken for.

for _name, _doc in {
    "is_nested": "False: no tensor is nested.", "is_sparse_csr": "False: all tensors are strided.",
    "is_mtia": "False: no tensor lives on an MTIA device.", "is_vulkan": "False: no tensor lives on a Vulkan device.",
    "is_xla": "False: no tensor lives on an XLA device.", "is_ipu": "False: no tensor lives on an IPU.",
    "is_maia": "False: no tensor lives on a MAIA device.", "volatile": "False: an attribute of long ago.",
}.items():  # fmt: skip
    composite(function=False, name=_name)(property(lambda self: False, doc=_doc))  # type: ignore[arg-type]

composite(function=False, name="name")(property(lambda self: None, doc="None: tensors have no names."))  # type: ignore[arg-type]


@composite()
@asking
def is_distributed(input: Tensor) -> bool:
    """False: every tensor is of this process."""
    return False


@composite(function=False)
def to_dense(self: Tensor, dtype: Any = None, *, masked_grad: bool | None = None) -> Tensor:
    """The tensor itself, which is dense, or a copy of another dtype."""
    return self if dtype is None else self.to(dtype)  # type: ignore[attr-defined,no-any-return]


@composite(function=False)
def sparse_dim(self: Tensor) -> int:
    """0: no dimension is sparse."""
    return 0


@composite(function=False)
def dense_dim(self: Tensor) -> int:
    """The number of dimensions, all dense."""
    return self._array.ndim


def _strided_only(name: str, wanted: str) -> None:
    def refuse(self: Tensor, *args: Any) -> Any:
        raise RuntimeError(f"{name} expected sparse {wanted}layout but got Strided")

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = "PyTorch's refusal: the tensor is not sparse."
    composite(function=False)(refuse)


for _name in ("coalesce", "indices", "is_coalesced"):
    _strided_only(_name, "coordinate tensor ")
_strided_only("values", "tensor ")


@composite(function=False)
def as_subclass(self: Tensor, cls: Any) -> Any:
    """The same data and history as an instance of ``cls``, a subclass of Tensor."""
    if not (isinstance(cls, type) and issubclass(cls, Tensor)):
        raise TypeError(
            "Creating a Tensor subclass from a class that does not inherit from Tensor is not possible. Make sure your "
            "class inherits from Tensor."
        )
    with DisableTorchFunctionSubclass():
        source = alias(self)
    return of_class(cls, source)


_AMBIGUOUS = "The ambiguity_check argument must be a bool or a list of memory formats."


@composite(function=False)
def dim_order(self: Tensor, *, ambiguity_check: Any = False) -> tuple[int, ...]:
    """The dimensions from the widest steps in memory to the narrowest.

    ``ambiguity_check`` asks for an error where several orders would do, or where not exactly one format of a list fits.
    """
    formats = ambiguity_check if isinstance(ambiguity_check, list) else []
    if not isinstance(ambiguity_check, (bool, list)) or any(
        not isinstance(wanted, dtypes.memory_format) for wanted in formats
    ):
        raise TypeError(_AMBIGUOUS)
    sizes = self._array.shape
    steps: Any = stride(self)
    fitting = sum(self.is_contiguous(memory_format=wanted) for wanted in formats)  # type: ignore[attr-defined]
    several = 1 in sizes or any(a == b for a, b in itertools.pairwise(steps))
    if ambiguity_check is not False and several and fitting != 1:
        raise RuntimeError(
            "The tensor does not have unique dim order, or cannot map to exact one of the given memory formats."
        )
    rows, last = (
        self.is_contiguous(memory_format=wanted)  # type: ignore[attr-defined]
        for wanted in (dtypes.contiguous_format, dtypes.channels_last)
    )
    if rows and not last:
        return tuple(range(len(sizes)))
    if last and not rows:
        return (0, *range(2, len(sizes)), 1)
    order = list(range(len(sizes)))[::-1]  # narrow steps first, until the end
    for start in range(1, len(order)):
        at = start
        for before in range(start - 1, -1, -1):
            wider = _compare(sizes, steps, order[before], order[at])
            if wider > 0:
                order[before], order[at] = order[at], order[before]
                at = before
            elif wider < 0:
                break
    if ambiguity_check and any(_compare(sizes, steps, a, b) >= 0 for a, b in itertools.pairwise(order)):
        raise RuntimeError("The tensor does not have unique dim order.")
    return tuple(order[::-1])


def _compare(sizes: Any, steps: Any, first: int, second: int) -> int:
    """1 where dimension ``first`` takes the wider steps, -1 where ``second`` does, 0 where nothing tells."""
    a, b = steps[first], steps[second]
    if not a or not b:
        return 0
    if a != b:
        return 1 if a > b else -1
    return 1 if sizes[first] > sizes[second] else 0


@composite(method=False, page="torch")
def unravel_index(indices: Tensor, shape: Any) -> tuple[Tensor, ...]:
    """The coordinates of flat indices in an array of ``shape``: one tensor for each dimension."""
    given: Any = indices
    if given.is_complex() or given.is_floating_point() or given.dtype is dtypes.bool:
        raise TypeError(f"expected 'indices' to be integer dtype, but got {indices.dtype}")
    if not isinstance(shape, (int, Sequence)):
        raise TypeError(f"expected 'shape' to be int or sequence of ints, but got {type(shape)}")
    sizes = [shape] if isinstance(shape, int) else list(shape)
    for size in sizes:
        if not isinstance(size, int):
            raise TypeError(f"expected 'shape' sequence to only contain ints, but got {type(size)}")
    if any(size < 0 for size in sizes):
        raise ValueError(f"'shape' cannot have negative values, but got {tuple(Size(sizes))}")
    if not sizes:
        return ()
    steps = [*itertools.accumulate([1, *sizes[:0:-1]], operator.mul)][::-1]
    flat: Any = indices.to(dtypes.int64)  # type: ignore[attr-defined]  # as the steps are
    parts = [flat.div(step, rounding_mode="floor") % size for step, size in zip(steps, sizes, strict=True)]
    return stack(parts, -1).unbind(-1)  # type: ignore[attr-defined,no-any-return]


# -- symbolic numbers, which are plain ones here: sizes are known when a call is made ----------------------------------


@composite(method=False)
def sym_int(a: Any) -> Any:
    """The integer part of a number."""
    return math.floor(a) if isinstance(a, float) and a >= 0 else math.ceil(a) if isinstance(a, float) else int(a)


@composite(method=False)
def sym_float(a: Any) -> Any:
    """A number as a float."""
    return float(a)


@composite(method=False)
@asking
def sym_not(a: Any) -> bool:
    """Whether a truth value is false."""
    return not a


_NUMBERS = (np.integer, np.floating, int, float)


def _check_number(value: Any) -> None:
    if not isinstance(value, _NUMBERS):
        raise AssertionError(f"expected {_NUMBERS}, got {type(value)}")


@composite(method=False)
def sym_max(a: Any, b: Any) -> Any:
    """The larger of two numbers; a float if one of them is."""
    for value in (a, b):
        _check_number(value)
    largest = builtins.max(a, b)
    return float(largest) if isinstance(a, float) or isinstance(b, float) else largest


@composite(method=False)
def sym_min(a: Any, b: Any) -> Any:
    """The smaller of two numbers; a float if one of them is."""
    for value in (a, b):
        _check_number(value)
    smallest = builtins.min(a, b)
    return float(smallest) if isinstance(a, float) or isinstance(b, float) else smallest


@composite(method=False)
def sym_sum(args: Any) -> Any:
    """The sum of numbers."""
    return builtins.sum(args)


@composite(method=False)
def sym_sqrt(a: Any) -> float:
    """The square root of a number."""
    return math.sqrt(a)


@composite(method=False)
def sym_ite(b: Any, t: Any, f: Any) -> Any:
    """``t`` or ``f``, which have one type, as the truth value ``b`` says."""
    if not isinstance(b, bool):
        raise AssertionError(f"expected SymBool or bool, got {type(b)}")
    if type(t) is not type(f):
        raise AssertionError(f"type mismatch: {type(t)} vs {type(f)}")
    return t if b else f


@composite(method=False)
def sym_constrain_range(size: Any, *, min: int | None = None, max: int | None = None) -> None:
    """Raise RuntimeError unless a number lies between ``min`` and ``max``."""
    low, high = -(2**63) if min is None else min, 2**63 - 1 if max is None else max
    if not low <= size <= high:
        raise RuntimeError(f"Invalid value range for {size} between [{low}, {high}].")


@composite(method=False)
def sym_constrain_range_for_size(size: Any, *, min: int | None = None, max: int | None = None) -> None:
    """Raise RuntimeError unless a size lies between ``min`` and ``max``."""
    if min is not None and max is not None and max <= 2:
        raise RuntimeError(f"Max value to constrain_range_for_size must be greater than 2. got: {max}")
    sym_constrain_range(size, min=min, max=max)
