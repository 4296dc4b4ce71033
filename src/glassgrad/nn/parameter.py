"""What ``torch.nn.parameter`` holds: Parameter and Buffer, which Modules register on assignment, and lazy forms.

An uninitialized tensor is an empty one of a class that refuses whatever would need a shape; ``materialize`` gives it
memory and changes its class, so that everybody who holds it has the real parameter from then on.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

from ..core import tensor as tensors
from ..core.tensor import LEAF, Tensor, alias, new
from ..families.create.functions import empty
from ..ground.later import cite_all
from ..ops.catalogue import Later
from ..ops.torch_function import _disabled_torch_function_impl
from ..tensor.parameter import Parameter

_NO_SHAPE = (
    "Can't access the shape of an uninitialized parameter or buffer. This error usually happens in `load_state_dict` "
    "when trying to load an uninitialized parameter into an initialized one. Call `forward` to initialize the "
    "parameters before accessing their attributes."
)
_NO_SHARING = (
    "Can't share memory on an uninitialized parameter or buffer. Call `forward` to initialize the parameters before "
    "calling `module.share_memory()`."
)
_UNINITIALIZED = (
    "Attempted to use an uninitialized parameter in {function}. This error happens when you are using a `LazyModule` "
    "or explicitly manipulating `torch.nn.parameter.{name}` objects. When using LazyModules Call `forward` with a "
    "dummy batch to initialize the parameters before calling torch functions"
)


class _BufferMeta(type):
    """Lets ``isinstance(x, Buffer)`` hold for every tensor that was made a buffer, whatever its class."""

    def __instancecheck__(cls, instance: Any) -> bool:
        if cls is Buffer and isinstance(instance, Tensor) and getattr(instance, "_is_buffer", False):
            return True
        return super().__instancecheck__(instance)


class Buffer(Tensor, metaclass=_BufferMeta):
    """A tensor that a Module registers as a buffer when it is assigned: state that is no parameter."""

    __torch_function__: Any = classmethod(_disabled_torch_function_impl)
    persistent: bool

    def __new__(cls, data: Tensor | None = None, *, persistent: bool = True) -> Any:
        if data is None:
            data = tensors.construct(Tensor)
        out: Any = alias(data)
        if type(data) is not Tensor:  # a subclass stays what it is
            out = new(type(data))
            out._array, out._edge, out._counter = data._array, None, data._counter
        out._edge = LEAF if data.requires_grad else None
        out.persistent = persistent
        out._is_buffer = True
        return out

    def __init__(self, data: Tensor | None = None, *, persistent: bool = True) -> None:
        pass


class UninitializedTensorMixin:
    """What a parameter and a buffer without a shape have in common: no use but conversion, until materialized."""

    __slots__ = ()

    cls_to_become: type[Tensor]

    def materialize(self: Any, shape: Any, device: Any = None, dtype: Any = None) -> None:
        """Give the tensor memory of this shape; from now on it is an ordinary parameter or buffer."""
        device = self.device if device is None else device
        self.data = empty(shape, device=device, dtype=self.dtype if dtype is None else dtype)
        self.__class__ = self.cls_to_become

    @property
    def shape(self) -> Any:
        """Raise: there is none yet."""
        raise RuntimeError(_NO_SHAPE)

    def share_memory_(self) -> Any:
        """Raise: there is no memory yet."""
        raise RuntimeError(_NO_SHARING)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    def __reduce_ex__(self: Any, protocol: Any) -> Any:
        return type(self), (self.requires_grad,)

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        raise ValueError(_UNINITIALIZED.format(function=func, name=cls.__name__))


def is_lazy(param: Any) -> bool:
    """Whether a parameter or buffer waits for its shape."""
    return isinstance(param, UninitializedTensorMixin)


class UninitializedParameter(UninitializedTensorMixin, Parameter):
    """A parameter whose shape is not known yet; :meth:`materialize` makes it a Parameter."""

    __slots__ = ()

    cls_to_become = Parameter

    def __new__(cls, requires_grad: bool = True, device: Any = None, dtype: Any = None) -> Any:
        return super().__new__(cls, empty(0, device=device, dtype=dtype), requires_grad)

    def __init__(self, requires_grad: bool = True, device: Any = None, dtype: Any = None) -> None:
        pass

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.requires_grad, self.device, self.dtype)
        return memo[id(self)]


class UninitializedBuffer(UninitializedTensorMixin, Tensor):
    """A buffer whose shape is not known yet; :meth:`materialize` makes it a Tensor."""

    __slots__ = ()

    cls_to_become = Tensor
    persistent: bool

    def __new__(
        cls, requires_grad: bool = False, device: Any = None, dtype: Any = None, persistent: bool = True
    ) -> Any:
        out: Any = new(cls)
        out._array, out._edge, out._counter = empty(0, device=device, dtype=dtype)._array, None, None
        tensors.require_grad(out, requires_grad)
        out.persistent, out._is_buffer = persistent, True
        return out

    def __init__(
        self, requires_grad: bool = False, device: Any = None, dtype: Any = None, persistent: bool = True
    ) -> None:
        pass


#: Conversions, and questions that the dtype answers: what an uninitialized tensor lets through.
_ALLOWED = (
    "size", "copy_", "is_complex", "is_floating_point", "half", "float", "double", "char", "short", "int", "long",
    "cuda", "cpu", "to", "get_device",
)  # fmt: skip
_OPERATORS = {"__add__": "add", "__radd__": "add", "__mul__": "mul", "__rmul__": "mul", "__sub__": "sub"}
_OF_OBJECTS = {"__new__", "__init__", "__repr__", "__reduce_ex__", "__copy__", "__setstate__", "__dir__", "_is_view"}


def _as_empty(name: str) -> Callable[..., Any]:
    """A method that takes the tensor for what it holds, an empty one; converted buffers stay uninitialized."""

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        plain, method = alias(self), getattr(Tensor, name)
        if name == "copy_":
            method(plain, *[alias(a) if is_lazy(a) else a for a in args], **kwargs)
            return self
        plain._edge = LEAF if self.requires_grad else None
        result = method(plain, *args, **kwargs)
        if result is plain:
            return self
        if isinstance(result, Tensor) and isinstance(self, UninitializedBuffer):
            out: Any = new(type(self))
            out._array, out._edge, out._counter = result._array, None, None
            out.persistent, out._is_buffer = self.persistent, True
            return out
        return result

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"What :meth:`Tensor.{name}` gives for an empty tensor."
    return call


def _refused(name: str) -> Callable[..., Any]:
    shown = _OPERATORS.get(name, name)

    def refuse(self: Any, *args: Any, **kwargs: Any) -> Any:
        function = f"<method '{shown}' of 'torch._C.TensorBase' objects>"
        raise ValueError(_UNINITIALIZED.format(function=function, name=type(self).__name__))

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = "Raise ValueError: the tensor is not initialized."
    return refuse


for _name, _method in list(vars(Tensor).items()):
    _is_method = isinstance(_method, FunctionType) or (isinstance(_method, Later) and not _method.is_property)
    if _is_method and _name not in _OF_OBJECTS and _name not in vars(UninitializedTensorMixin):
        _method = _as_empty(_name) if _name in _ALLOWED else _refused(_name)
        setattr(UninitializedTensorMixin, _name, _method)

__all__ = [
    "Buffer",
    "Parameter",
    "UninitializedBuffer",
    "UninitializedParameter",
    "UninitializedTensorMixin",
    "is_lazy",
]

cite_all(globals(), "torch.nn.parameter", "Buffer UninitializedParameter UninitializedBuffer")
