"""``custom_op``: a function with annotations becomes an operation that graphs show as one node."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NoReturn

from . import define
from .operators import Operation, defined
from .schema import infer_schema


class CustomOpDef:
    """An operation made of a function; more is registered by its methods.

    Source: https://docs.pytorch.org/docs/stable/library.html#torch.library.CustomOpDef
    """

    def __init__(self, namespace: str, name: str, schema: str, fn: Callable[..., Any], tags: Any = None) -> None:
        self._namespace, self._name, self._init_fn, self._tags = namespace, name, fn, tags
        self._opoverload: Operation = defined(f"{namespace}::{name}{schema}")
        self._opoverload.is_custom = True
        self._schema = schema

    @property
    def _qualname(self) -> str:
        return f"{self._namespace}::{self._name}"

    def __repr__(self) -> str:
        return f"<CustomOpDef({self._qualname})>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._opoverload(*args, **kwargs)

    def register_kernel(self, device_types: Any, fn: Any = None, /) -> Any:
        """Have the operation computed by another function on tensors of these devices."""
        return define.register_kernel(self._opoverload, device_types, fn)

    def register_fake(self, fn: Callable[..., Any], /) -> Callable[..., Any]:
        """Have the shapes of results told by a function."""
        self._opoverload.fake = fn
        return fn

    def register_autograd(
        self, backward: Callable[..., Any], /, *, setup_context: Callable[..., Any] | None = None
    ) -> None:
        """Have gradients computed by ``backward(ctx, *grads)``; ``setup_context(ctx, inputs, output)`` saves for it."""
        self._opoverload.register_autograd(backward, setup_context)

    def register_vmap(self, func: Any = None) -> Any:
        """Have batches computed by a function."""
        return define.register_vmap(self._opoverload, func)

    def register_autocast(self, device_type: str, cast_inputs: Any) -> None:
        """Have autocast make this dtype of floating point inputs."""
        define.register_autocast(self._opoverload, device_type, cast_inputs)

    def register_torch_dispatch(self, torch_dispatch_class: Any, fn: Any = None, /) -> Any:
        """RuntimeError: there is nothing below autograd that a subclass could answer."""
        return define.register_torch_dispatch(self._opoverload, torch_dispatch_class, fn)

    def set_kernel_enabled(self, device_type: str, enabled: bool = True) -> NoReturn:
        """RuntimeError: a kernel is registered, or it is not."""
        raise RuntimeError("kernels are not switched here: register_kernel replaces one")


def custom_op(
    name: str,
    fn: Any = None,
    /,
    *,
    mutates_args: str | Iterable[str],
    device_types: Any = None,
    schema: str | None = None,
    tags: Any = None,
) -> Any:
    """Make an operation of a function: ``@custom_op("mylib::sin", mutates_args=())``; also called with the function.

    Source: https://docs.pytorch.org/docs/stable/library.html#torch.library.custom_op
    """

    def make(function: Callable[..., Any]) -> CustomOpDef:
        text = infer_schema(function, mutates_args=mutates_args) if schema is None else schema
        space, _, short = name.partition("::")
        result = CustomOpDef(space, short, text, function, tags)
        result.register_kernel(device_types, function)
        return result

    return make if fn is None else make(fn)


def triton_op(name: str, fn: Any = None, /, *, mutates_args: Any, schema: str | None = None) -> Any:
    """Make an operation of a function that PyTorch's compiler looks into; it is differentiated as it is written.

    Source: https://docs.pytorch.org/docs/stable/library.html#torch.library.triton_op
    """

    def make(function: Callable[..., Any]) -> CustomOpDef:
        result = custom_op(name, function, mutates_args=mutates_args, schema=schema)
        result._opoverload.kernels = {"CompositeImplicitAutograd": function}
        result._opoverload.is_custom = False
        return result  # type: ignore[no-any-return]

    return make if fn is None else make(fn)


def wrap_triton(triton_kernel: Any, /) -> NoReturn:
    """RuntimeError: Triton's kernels are for GPUs."""
    raise RuntimeError("Triton's kernels run on GPUs, and tensors live on the CPU: write the operation with tensors")
