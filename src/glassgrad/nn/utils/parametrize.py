"""Parametrizations: a parameter, or buffer, that is computed by modules of other tensors whenever it is read.

Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.utils.parametrize.register_parametrization.html
"""

from __future__ import annotations

import copyreg
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from typing import Any

from ...autograd.grad_mode import no_grad
from ...core.tensor import Tensor
from ...ground.later import cite_all
from ..modules.container import ModuleDict, ModuleList
from ..modules.module import Module
from ..parameter import Parameter

_UNSAFE = "unless `unsafe` flag is enabled."
_depth = 0  # of open `cached` blocks
_cache: dict[tuple[int, str], Any] = {}


@contextmanager
def cached() -> Iterator[None]:
    """A block in which each parametrized tensor is computed once, when it is first read."""
    global _depth
    _depth += 1
    try:
        yield
    finally:
        _depth -= 1
        if not _depth:
            _cache.clear()


def _register(module: Module, name: str, tensor: Any) -> None:
    if isinstance(tensor, Parameter):
        module.register_parameter(name, tensor)
    else:
        module.register_buffer(name, tensor)


def _put(target: Any, source: Any) -> None:
    """Let ``target`` hold what ``source`` holds, whatever its size."""
    target.set_(source)


def _check_like(result: Any, dtype: Any, shape: Any) -> None:
    """Raise PyTorch's error unless what a parametrization made can stand for the tensor."""
    if not isinstance(result, Tensor):
        raise ValueError(f"A parametrization must return a tensor. Got {type(result).__name__}.")
    for what, before, now in (("dtype", dtype, result.dtype), ("shape", shape, result.shape)):
        if before != now:
            raise ValueError(
                f"Registering a parametrization may not change the {what} of the tensor, {_UNSAFE}\n"
                f"unparametrized {what}: {before}\nparametrized {what}: {now}"
            )


class ParametrizationList(ModuleList):
    """The parametrizations of one tensor, and where they start: ``original``, or ``original0``, ``original1`` ..."""

    def __init__(self, modules: Sequence[Module], original: Any, unsafe: bool = False) -> None:
        if len(modules) == 0:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        shape, dtype = original.shape, original.dtype
        new = original
        with no_grad():
            for module in reversed(list(self)):
                if hasattr(module, "right_inverse"):
                    try:
                        new = module.right_inverse(new)
                    except NotImplementedError:
                        pass
        if not isinstance(new, (Tensor, Sequence)):
            raise ValueError(
                "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). "
                f"Got {type(new).__name__}"
            )
        self.is_tensor = isinstance(new, Tensor)
        self.ntensors = 1 if isinstance(new, Tensor) else len(new)
        if isinstance(new, Tensor):
            if dtype != new.dtype:
                raise ValueError(
                    "When `right_inverse` outputs one tensor, it may not change the dtype.\n"
                    f"original.dtype: {dtype}\nright_inverse(original).dtype: {new.dtype}"
                )
            if original.device != new.device:
                raise ValueError(
                    "When `right_inverse` outputs one tensor, it may not change the device.\n"
                    f"original.device: {original.device}\nright_inverse(original).device: {new.device}"
                )
            with no_grad():
                _put(original, new)
            _register(self, "original", original)
        else:
            for index, piece in enumerate(new):
                if not isinstance(piece, Tensor):
                    raise ValueError(
                        "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). "
                        f"Got element {index} of the sequence with type {type(piece).__name__}."
                    )
                tensor: Any = Parameter(piece, original.requires_grad) if isinstance(original, Parameter) else piece
                tensor.requires_grad_(original.requires_grad)
                _register(self, f"original{index}", tensor)
        if not unsafe:
            _check_like(self(), dtype, shape)

    def right_inverse(self, value: Any) -> None:
        """Set the originals so that the parametrizations give ``value``, as far as they can tell."""
        with no_grad():
            for module in reversed(list(self)):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(f"parametrization {type(module).__name__} does not implement right_inverse.")
                value = module.right_inverse(value)
            if self.is_tensor:
                if not isinstance(value, Tensor):
                    raise ValueError(f"`right_inverse` should return a tensor. Got {type(value).__name__}")
                if value.dtype != self.original.dtype:
                    raise ValueError(
                        f"The tensor returned by `right_inverse` has dtype {value.dtype} while `original` has dtype "
                        f"{self.original.dtype}"
                    )
                _put(self.original, value)
                return
            if not isinstance(value, Sequence):
                raise ValueError(f"'right_inverse' must return a sequence of tensors. Got {type(value).__name__}.")
            if len(value) != self.ntensors:
                raise ValueError(
                    f"'right_inverse' must return a sequence of tensors of length {self.ntensors}. Got a sequence of "
                    f"length {len(value)}."
                )
            for index, piece in enumerate(value):
                original = getattr(self, f"original{index}")
                if not isinstance(piece, Tensor):
                    raise ValueError(
                        "'right_inverse' must return a sequence of tensors or reference-type opaques. Got element "
                        f"{index} of type {type(piece).__name__}."
                    )
                if original.dtype != piece.dtype:
                    raise ValueError(
                        f"Tensor {index} returned by `right_inverse` has dtype {piece.dtype} while `original{index}` "
                        f"has dtype {original.dtype}"
                    )
                _put(original, piece)

    def forward(self) -> Any:  # type: ignore[override]
        """The tensor that the parametrizations give."""
        modules = iter(self)
        if self.is_tensor:
            tensor = next(modules)(self.original)
        else:
            tensor = next(modules)(*(getattr(self, f"original{index}") for index in range(self.ntensors)))
        for module in modules:
            tensor = module(tensor)
        return tensor


def _copied(self: Any, memo: dict[int, Any]) -> Any:
    """A deep copy of a parametrized module, of the same class."""
    memoized = memo.get(id(self))
    if memoized is not None:
        return memoized
    copy = self.__new__(type(self))
    memo[id(self)] = copy
    copy.__setstate__(deepcopy(Module.__getstate__(self), memo))  # the class's own refuses
    for slot in copyreg._slotnames(type(self)):  # type: ignore[attr-defined]
        if hasattr(self, slot):
            setattr(copy, slot, deepcopy(getattr(self, slot), memo))
    return copy


def _unpicklable(self: Any) -> Any:
    raise RuntimeError(
        "Serialization of parametrized modules is only supported through state_dict(). See:\n"
        "https://pytorch.org/tutorials/beginner/saving_loading_models.html"
        "#saving-loading-a-general-checkpoint-for-inference-and-or-resuming-training"
    )


def _inject_new_class(module: Any) -> None:
    """Give ``module`` a class of its own, which can have properties."""
    cls = type(module)
    own: dict[str, Any] = {"__getstate__": _unpicklable}
    if not hasattr(cls, "__deepcopy__"):
        own["__deepcopy__"] = _copied
    module.__class__ = type(f"Parametrized{cls.__name__}", (cls,), own)


def _inject_property(module: Any, tensor_name: str) -> None:
    """Let reading the tensor compute it, and setting it set the originals."""
    if hasattr(module, tensor_name):
        raise AssertionError(f"Module already has an attribute named '{tensor_name}'")

    def read(self: Any) -> Any:
        parametrization = self.parametrizations[tensor_name]
        if not _depth:
            return parametrization()
        key = (id(self), tensor_name)
        if key not in _cache:
            _cache[key] = parametrization()
        return _cache[key]

    def write(self: Any, value: Any) -> None:
        self.parametrizations[tensor_name].right_inverse(value)

    setattr(type(module), tensor_name, property(read, write))


def register_parametrization(module: Any, tensor_name: str, parametrization: Module, *, unsafe: bool = False) -> Any:
    """Let ``parametrization`` compute the tensor ``tensor_name`` of ``module`` from now on; gives ``module``.

    Several of them act one after another.  Unless ``unsafe``, what they give must have the tensor's shape and dtype.
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        if not unsafe:
            _check_further(module, tensor_name, parametrization)
        chain = module.parametrizations[tensor_name]
        chain.append(parametrization)
        chain.unsafe |= unsafe
    elif tensor_name in module._buffers or tensor_name in module._parameters:
        chain = ParametrizationList([parametrization], getattr(module, tensor_name), unsafe=unsafe)
        delattr(module, tensor_name)
        if not is_parametrized(module):
            _inject_new_class(module)
            module.parametrizations = ModuleDict()
        _inject_property(module, tensor_name)
        module.parametrizations[tensor_name] = chain
    else:
        raise ValueError(
            f"Module '{module}' does not have a parameter, a buffer, or a parametrized element with name "
            f"'{tensor_name}'"
        )
    return module


def _check_further(module: Any, name: str, parametrization: Any) -> None:
    """Raise PyTorch's error unless a further parametrization keeps shape and dtype, there and back."""
    before = getattr(module, name)
    result = parametrization(before)
    if not isinstance(result, Tensor):
        raise ValueError(f"A parametrization must return a tensor. Got {type(result).__name__}.")
    for what in ("dtype", "shape"):
        old, new = getattr(before, what), getattr(result, what)
        if old != new:
            raise ValueError(
                f"Registering a parametrization may not change the {what} of the tensor, unless the `unsafe` flag is "
                f"enabled.\nmodule.{name}.{what}: {old}\nparametrization(module.{name}).{what}: {new}"
            )
    if not hasattr(parametrization, "right_inverse"):
        return
    try:
        back = parametrization.right_inverse(result)
    except NotImplementedError:
        return
    if not isinstance(back, Tensor):
        raise ValueError(f"parametrization.right_inverse must return a tensor. Got: {type(back).__name__}")
    for what in ("dtype", "shape"):
        old, new = getattr(before, what), getattr(back, what)
        if old != new:
            raise ValueError(
                f"The tensor returned by parametrization.right_inverse must have the same {what} as module.{name}, "
                f"unless the `unsafe` flag is enabled.\nmodule.{name}.{what}: {old}\nreturned {what}: {new}"
            )


def is_parametrized(module: Any, tensor_name: str | None = None) -> bool:
    """Whether a module has parametrizations at all, or of one tensor."""
    parametrizations = getattr(module, "parametrizations", None)
    if not isinstance(parametrizations, ModuleDict):
        return False
    return len(parametrizations) > 0 if tensor_name is None else tensor_name in parametrizations


def remove_parametrizations(module: Any, tensor_name: str, leave_parametrized: bool = True) -> Any:
    """Make a tensor plain: as it was computed, or (``leave_parametrized=False``) as its original; gives ``module``."""
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    chain = module.parametrizations[tensor_name]
    if chain.is_tensor:
        original = chain.original
        if leave_parametrized:
            with no_grad():
                _put(original, getattr(module, tensor_name))
    elif leave_parametrized:
        tensor = getattr(module, tensor_name)
        original = Parameter(tensor) if tensor.requires_grad else tensor
    else:
        raise ValueError(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is parametrized in terms of a "
            "sequence of tensors."
        )
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    _register(module, tensor_name, original)
    if not is_parametrized(module):
        delattr(module, "parametrizations")
        module.__class__ = type(module).__bases__[0]
    return module


def type_before_parametrizations(module: Any) -> type:
    """The class that a module had before it was parametrized."""
    return type(module).__bases__[0] if is_parametrized(module) else type(module)


def transfer_parametrizations_and_params(from_module: Any, to_module: Any, tensor_name: str | None = None) -> Any:
    """Give ``to_module`` the parametrizations and originals of ``from_module``, all or of one tensor."""
    if not is_parametrized(from_module):
        return to_module
    for name in from_module.parametrizations if tensor_name is None else [tensor_name]:
        chain = from_module.parametrizations[name]
        if not hasattr(to_module, name):
            setattr(to_module, name, Parameter(getattr(from_module, name)))
        for parametrization in chain:
            register_parametrization(to_module, name, parametrization)
        target = to_module.parametrizations[name]
        for key in ["original"] if hasattr(chain, "original") else [f"original{i}" for i in range(chain.ntensors)]:
            setattr(target, key, getattr(chain, key))
    return to_module


__all__ = [
    "ParametrizationList", "cached", "is_parametrized", "register_parametrization", "remove_parametrizations",
    "transfer_parametrizations_and_params", "type_before_parametrizations",
]  # fmt: skip

_CITED = "ParametrizationList cached register_parametrization remove_parametrizations"
cite_all(globals(), "torch.nn.utils.parametrize", _CITED)
