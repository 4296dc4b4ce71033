"""``torch._foreach_*``: an operation on each tensor of a list, from one table; recorded as the operation itself.

An operation comes with an in-place form, which writes to the list's tensors and gives them back in a list.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...core.tensor import Tensor
from ...ground.dtypes import called, promote_types
from ...ground.modes import grad_enabled
from ...ops.declare import composite
from ...tensor.writable import check_cast, check_overlap_with, check_writable
from ..arithmetic.functions import is_number, no_match
from ..norm.functions import vector_norm
from ..pointwise.functions import check_clamped

_UNARY = """
    abs acos asin atan ceil cos cosh erf erfc exp expm1 floor frac lgamma log log10 log1p log2 neg reciprocal round
    rsqrt sigmoid sign sin sinh sqrt tan tanh trunc
""".split()
_BINARY = "add sub mul div pow clamp_min clamp_max maximum minimum".split()
_WITH_ALPHA = ("add", "sub")
_WITH_TENSOR = ("add", "mul", "div")  # where a tensor without dimensions stands for a number
_EMPTY = "Tensor list must have at least one tensor."
_LENGTHS = "Tensor lists must have the same number of tensors, got {} and {}"
_NUMBERS = "Tensor list must have same number of elements as scalar list."


def _is_list(value: Any) -> bool:
    return isinstance(value, (list, tuple))


def _tensors(
    name: str, value: Any, position: int = 0, argument: str = "self", is_alone: bool = True
) -> Sequence[Tensor]:
    """The list of tensors that an argument is; TypeError or RuntimeError as PyTorch has it for another.

    Of several lists PyTorch compares the lengths before it asks whether there is anything in them.
    """
    if not _is_list(value):
        raise TypeError(
            f"{name}(): argument '{argument}' (position {position + 1}) must be tuple of Tensors, not {called(value)}"
        )
    for index, tensor in enumerate(value):
        if not isinstance(tensor, Tensor):
            raise TypeError(f"expected Tensor as element {index} in argument {position}, but got {called(tensor)}")
    if is_alone and not value:
        raise RuntimeError(_EMPTY)
    return value  # type: ignore[no-any-return]


def _misfit(name: str, tensors: Sequence[Tensor], words: str) -> RuntimeError:
    """The error of lists that do not fit; that a tensor cannot be written comes first."""
    for tensor in tensors if name.endswith("_") and grad_enabled() else ():
        if tensor.requires_grad:
            check_writable(tensor, True)
    return RuntimeError(words)


def _beside(name: str, tensors: Sequence[Tensor], value: Any, position: int) -> Sequence[Any]:
    """The numbers or tensors that stand beside the tensors of a list: one for each, or a number for all."""
    is_one = is_number(value)
    if not is_one and not (_is_list(value) and all(is_number(number) for number in value)):
        return _other(name, tensors, value, position)
    if not tensors:
        raise RuntimeError(_EMPTY)
    if not is_one and len(value) != len(tensors):
        raise _misfit(name, tensors, _NUMBERS)
    return [value] * len(tensors) if is_one else value


def _other(name: str, tensors: Sequence[Tensor], value: Any, position: int) -> Sequence[Tensor]:
    """A list of tensors that stand beside those of the first, one for each."""
    others = _tensors(name, value, position, "other", False)
    if len(others) != len(tensors):
        raise _misfit(name, tensors, _LENGTHS.format(len(tensors), len(others)))
    return others


def _each(operation: str, tensors: Sequence[Any], *columns: Sequence[Any], **settings: Any) -> tuple[Any, ...]:
    """The results of a method of each tensor, with what stands beside it in the columns."""
    return tuple(getattr(tensor, operation)(*beside, **settings) for tensor, *beside in zip(tensors, *columns))


def _publish(name: str, doc: str, function: Callable[..., Any]) -> None:
    """Publish a function under a name of its own."""
    function.__name__, function.__doc__ = name, doc
    composite(method=False, name=name)(function)


def _unary(operation: str) -> None:
    def out_of_place(self: Any) -> tuple[Tensor, ...]:
        return _each(operation, _tensors(f"_foreach_{operation}", self))

    def in_place(self: Any) -> list[Tensor]:
        return list(_each(f"{operation}_", _tensors(f"_foreach_{operation}_", self)))

    _publish(f"_foreach_{operation}", f"The results of ``{operation}`` of each tensor.", out_of_place)
    _publish(f"_foreach_{operation}_", f"Each tensor, changed by ``{operation}_``.", in_place)


def _binary(operation: str) -> None:
    names = (f"_foreach_{operation}", f"_foreach_{operation}_")
    keywords = ("exponent",) if operation == "pow" else ("other", "scalar", "scalars")

    def columns(name: str, self: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any, dict[str, Any]]:
        """The tensors, what stands beside each, and the settings of the operation."""
        value = [*args, *(kwargs.pop(word) for word in keywords if word in kwargs)]
        settings = {"alpha": kwargs.pop("alpha")} if operation in _WITH_ALPHA and "alpha" in kwargs else {}
        is_one = len(value) == 1 and isinstance(value[0], Tensor) and operation in _WITH_TENSOR
        fits = len(value) == 1 and (_is_list(value[0]) or is_number(value[0]) and not settings or is_one)
        if kwargs or not fits or not _is_list(self):
            raise no_match(
                name, [self, *value, *settings.values(), *kwargs.values()], "tuple of Tensors self, Number scalar",
                "tuple of Tensors self, tuple of Scalars scalars", "tuple of Tensors self, tuple of Tensors other",
            )  # fmt: skip
        tensors = _tensors(name, self, is_alone=False)
        if is_one:
            if value[0].ndim:
                raise RuntimeError(
                    f"scalar tensor expected to be 0 dim but it has {value[0].ndim} dimensions and "
                    f"{value[0]._array.size} elements."
                )
            return tensors, value * len(tensors), settings
        find = _other if settings else _beside  # no numbers with alpha
        beside = find(name, tensors, value[0], 1)
        return _tensors(name, tensors), beside, settings

    def out_of_place(self: Any, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        if operation == "pow" and is_number(self):
            exponents = args[0] if args else kwargs["exponent"]
            return _each("__rpow__", _tensors(names[0], exponents, 1, "exponent"), [self] * len(exponents))
        tensors, beside, settings = columns(names[0], self, args, kwargs)
        if operation in ("maximum", "minimum"):
            _refuse_complex(operation, tensors, beside)
            if not all(isinstance(value, Tensor) for value in beside):  # numbers keep the dtype of whole numbers
                return _each("clamp_min" if operation == "maximum" else "clamp_max", tensors, beside)
        return _each(operation, tensors, beside, **settings)

    def in_place(self: Any, *args: Any, **kwargs: Any) -> list[Any]:
        tensors, beside, settings = columns(names[1], self, args, kwargs)
        if operation not in ("maximum", "minimum"):
            return list(_each(f"{operation}_", tensors, beside, **settings))
        for tensor, value in zip(tensors, beside, strict=True):  # which have no method for it
            (result,) = out_of_place([tensor.clone() if tensor.requires_grad else tensor], [value])
            if isinstance(value, Tensor):
                check_cast(result._array.dtype, tensor)
                check_overlap_with(tensor, value)
            else:
                check_clamped(result, tensor)
            tensor.copy_(result)  # type: ignore[attr-defined]
        return list(tensors)

    _publish(names[0], f"The results of ``{operation}`` of each tensor and what stands beside it.", out_of_place)
    _publish(names[1], f"Each tensor, changed by ``{operation}`` with what stands beside it.", in_place)


def _refuse_complex(operation: str, tensors: Any, beside: Any) -> None:
    """Raise PyTorch's error for the first complex numbers, which ``clamp`` computes beside numbers."""
    for tensor, value in zip(tensors, beside, strict=True):
        if not isinstance(value, Tensor):
            if tensor.is_complex() or isinstance(value, complex):
                raise NotImplementedError("clamp is not supported for complex types")
        elif (kind := promote_types(tensor.dtype, value.dtype)).is_complex:
            raise NotImplementedError(f"\"{operation}_cpu\" not implemented for '{kind.scalar_name}'")


def _with_products(operation: str) -> None:
    """``addcmul`` and ``addcdiv``, whose value is a number, a list of numbers, or a tensor of them."""

    def columns(name: str, self: Any, tensor1: Any, tensor2: Any, value: Any) -> tuple[Any, Any]:
        tensors = _tensors(name, self, is_alone=False)
        if isinstance(value, Tensor):
            if value.ndim != 1:
                raise RuntimeError(f"Expected packed scalar Tensor to be of dimension 1. Got {value.ndim} instead.")
            value = value.tolist()  # type: ignore[attr-defined]
            if len(value) != len(tensors):
                raise RuntimeError(
                    f"Expected length of scalars to match input of length {len(tensors)} but got {len(value)} instead."
                )
        first, second = (_other(name, tensors, other, at) for at, other in ((1, tensor1), (2, tensor2)))
        if not is_number(value) and not (_is_list(value) and all(map(is_number, value))):
            _tensors(name, value, 3, "scalars")
            raise TypeError(f"{name}(): argument 'scalars' (position 4) must be tuple of Scalars, not tuple of Tensors")
        return zip(tensors, first, second, strict=True), _beside(name, tensors, value, 3)

    def form(name: str, method: str, kind: type) -> Callable[..., Any]:
        def function(self: Any, tensor1: Any, tensor2: Any, value: Any = 1, *, scalars: Any = None) -> Any:
            triples, values = columns(name, self, tensor1, tensor2, value if scalars is None else scalars)
            return kind(getattr(a, method)(b, c, value=v) for (a, b, c), v in zip(triples, values, strict=True))

        return function

    name, doc = f"_foreach_{operation}", f"``{operation}`` of the tensors of three lists"
    _publish(name, f"The results of {doc}.", form(name, operation, tuple))
    _publish(f"{name}_", f"Each tensor of the first, changed by {doc}.", form(f"{name}_", f"{operation}_", list))


def _lerp(suffix: str, kind: type) -> None:
    name = f"_foreach_lerp{suffix}"

    def function(self: Any, tensors1: Any, weight: Any = None, *, weights: Any = None) -> Any:
        tensors = _tensors(name, self, is_alone=False)
        value = weight if weights is None else weights
        if not (_is_list(value) or is_number(value)):
            raise no_match(
                name, [self, tensors1, *([] if value is None else [value])],
                "tuple of Tensors self, tuple of Tensors tensors1, Number weight",
                "tuple of Tensors self, tuple of Tensors tensors1, tuple of Scalars weight",
            )  # fmt: skip
        ends, shares = _other(name, tensors, tensors1, 1), _beside(name, tensors, value, 2)
        return kind(_each(f"lerp{suffix}", tensors, ends, shares))

    _publish(name, "Points between the tensors of two lists, by weights.", function)


for _operation in _UNARY:
    _unary(_operation)
for _operation in _BINARY:
    _binary(_operation)
for _operation in ("addcmul", "addcdiv"):
    _with_products(_operation)
_lerp("", tuple)
_lerp("_", list)


@composite(method=False)
def _foreach_norm(self: Any, ord: Any = 2, dtype: Any = None) -> tuple[Tensor, ...]:
    """The norm of each tensor, of all its elements."""
    if not is_number(ord):
        raise TypeError(f"_foreach_norm(): argument 'ord' (position 2) must be Number, not {called(ord)}")
    return tuple(vector_norm(tensor, ord, dtype=dtype) for tensor in _tensors("_foreach_norm", self))


@composite(method=False)
def _foreach_powsum(self: Any, ord: Any = 2, dtype: Any = None) -> tuple[Any, ...]:
    """The sum of the absolute values of each tensor, raised to a power."""
    tensors = _tensors("_foreach_powsum", self)
    for tensor in tensors:
        if not (tensor.dtype.is_floating_point or tensor.dtype.is_complex):
            raise NotImplementedError(f"\"powsum_cpu\" not implemented for '{tensor.dtype.scalar_name}'")
    return tuple(tensor.abs().pow(ord).sum(dtype=dtype) for tensor in tensors)  # type: ignore[attr-defined]


@composite(method=False)
def _foreach_max(self: Any) -> tuple[Any, ...]:
    """The largest element of each tensor."""
    tensors = _tensors("_foreach_max", self)
    if any(not tensor._array.size for tensor in tensors):
        raise RuntimeError(
            "_foreach_max cannot compute the maximum of an empty tensor; max over zero elements is undefined."
        )
    return _each("max", tensors)


@composite(method=False)
def _foreach_mm(self: Any, mat2: Any) -> tuple[Any, ...]:
    """The matrix products of the tensors of two lists."""
    tensors = _tensors("_foreach_mm", self)
    return _each("mm", tensors, _other("_foreach_mm", tensors, mat2, 1))


@composite(method=False)
def _foreach_clone(self: Any, *, memory_format: Any = None) -> tuple[Any, ...]:
    """Copies of the tensors."""
    return _each("clone", _tensors("_foreach_clone", self), memory_format=memory_format)


@composite(method=False)
def _foreach_copy_(self: Any, src: Any, non_blocking: bool = False) -> list[Any]:
    """The tensors, with the values of those of another list."""
    tensors = _tensors("_foreach_copy_", self)
    others = _tensors("_foreach_copy_", src, 1, "src")
    return list(_each("copy_", tensors, _other("_foreach_copy_", tensors, others, 1)))


@composite(method=False)
def _foreach_zero_(self: Any) -> list[Any]:
    """The tensors, filled with zeros."""
    return list(_each("zero_", _tensors("_foreach_zero_", self)))
