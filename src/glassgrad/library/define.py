"""Libraries: operations defined by their schemas, and kernels for them, in PyTorch's words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..ground.dtypes import dtype as _dtype
from .operators import Operation, defined, find, remove, tell_shapes
from .schema import parse

_DEFINED: set[str] = set()  # namespaces that a Library defines


class Library:
    """Operations of a namespace; ``kind`` is "DEF" for its one definition, "FRAGMENT" for more, "IMPL" for kernels.

    Source: https://docs.pytorch.org/docs/stable/library.html#torch.library.Library
    """

    def __init__(self, ns: str, kind: str, dispatch_key: str = "") -> None:
        if kind not in ("IMPL", "DEF", "FRAGMENT"):
            raise ValueError(f"Unsupported kind: {kind}")
        if ns in ("prim", "prims"):
            raise ValueError(f"{ns} is a reserved namespace")
        if kind == "DEF":
            if ns in _DEFINED or ns == "aten":
                raise RuntimeError(
                    f"Only a single TORCH_LIBRARY can be used to register the namespace {ns}; please put all of your "
                    "definitions in a single TORCH_LIBRARY block.  If you were trying to specify implementations, "
                    "consider using TORCH_LIBRARY_IMPL (which can be duplicated).  If you really intended to define "
                    "operators for a single namespace in a distributed way, you can use TORCH_LIBRARY_FRAGMENT to "
                    "explicitly indicate this."
                )
            _DEFINED.add(ns)
        self.ns, self.kind, self.dispatch_key = ns, kind, dispatch_key
        self._operations: list[Operation] = []

    def __repr__(self) -> str:
        return f"Library(kind={self.kind}, ns={self.ns}, dispatch_key={self.dispatch_key})>"

    def define(self, schema: str, alias_analysis: str = "", *, tags: Any = ()) -> str:
        """Define the operation of a schema; its name."""
        if alias_analysis not in ("", "FROM_SCHEMA", "CONSERVATIVE"):
            raise RuntimeError(f"Invalid alias_analysis type {alias_analysis}")
        self._operations.append(defined(schema, self.ns))
        read = parse(schema, self.ns)
        return read.name.partition("::")[2] + (f".{read.overload_name}" if read.overload_name else "")

    def impl(
        self, op_name: Any, fn: Callable[..., Any], dispatch_key: str = "", *, with_keyset: bool = False,
        allow_override: bool = False,
    ) -> None:  # fmt: skip
        """Have an operation computed by ``fn``, on the devices of a dispatch key."""
        if not callable(fn):
            raise TypeError(f"Input function is required to be a callable but found type {type(fn)}")
        operation = find(f"{self.ns}::{op_name}" if isinstance(op_name, str) and "::" not in op_name else op_name)
        key = str(dispatch_key or self.dispatch_key)
        if key in operation.kernels and not allow_override:
            raise RuntimeError(
                "This is not allowed since there's already a kernel registered from python overriding "
                f"{operation.overloadpacket.__name__}'s behavior for {key} dispatch key and {self.ns} namespace."
            )
        if with_keyset:
            inner, fn = fn, lambda *args, **kwargs: inner(_Keys(), *args, **kwargs)
        operation.kernels[key] = fn

    def fallback(self, fn: Callable[..., Any], dispatch_key: str = "", *, with_keyset: bool = False) -> None:
        """Refused: operations ask no dispatcher that could fall back."""
        raise RuntimeError("operations have no fallback here: torch.overrides.TorchFunctionMode hears every call")

    def _destroy(self) -> None:
        for operation in self._operations:
            remove(operation)
        self._operations.clear()
        if self.kind == "DEF":
            _DEFINED.discard(self.ns)


class _Keys:
    """The dispatch keys that a kernel is told of: none."""


def fallthrough_kernel(*args: Any, **kwargs: Any) -> Any:
    """NotImplementedError: a mark for ``impl``, never called."""
    raise NotImplementedError("fallthrough_kernel() should never be called.")


def define(qualname: str, schema: str, *, lib: Library | None = None, tags: Any = ()) -> Any:
    """Define an operation: ``define("mylib::sin", "(Tensor x) -> Tensor")``.

    Source: https://docs.pytorch.org/docs/stable/library.html#torch.library.define
    """
    if not isinstance(qualname, str):
        raise ValueError(f"define(qualname, schema): expected qualname to be instance of str, got {type(qualname)}")
    if "::" not in qualname:
        raise ValueError(
            f"Expected qualname to be of the form 'namespace::name', for example 'mylib::sin', and got {qualname!r}"
        )
    if not schema.lstrip().startswith("("):
        raise ValueError(
            f'define(qualname, schema): expected schema to look like e.g. "(Tensor x) -> Tensor", got {schema!r}'
        )
    defined(qualname + schema)


_KEY_OF = {"cpu": "CPU", "cuda": "CUDA", "meta": "Meta", "xpu": "XPU", "mps": "MPS"}


def _registered(take: Callable[[Any], None], func: Any) -> Any:
    """Register a function that is given now, or as a decorator."""
    if func is not None:
        take(func)
        return func

    def decorate(function: Any) -> Any:
        take(function)
        return function

    return decorate


def impl(
    qualname: Any, types: str | list[str] | tuple[str, ...], func: Any = None, *, lib: Any = None,
    allow_override: bool = False,
) -> Any:  # fmt: skip
    """Have an operation computed by a function on tensors of these devices, "default" for all.

    Source: https://docs.pytorch.org/docs/stable/library.html#torch.library.impl
    """
    if isinstance(qualname, Library):  # the former order: (lib, name, dispatch_key)
        library, op_name, key = qualname, types, func or ""
        return _registered(lambda function: library.impl(op_name, function, key), None)
    operation = find(qualname)
    names = [types] if isinstance(types, str) else types

    def take(function: Any) -> None:
        for name in names:
            operation.kernels[_KEY_OF.get(name, "CompositeExplicitAutograd" if name == "default" else name)] = function

    return _registered(take, func)


def register_kernel(op: Any, device_types: Any, func: Any = None, /, *, lib: Any = None) -> Any:
    """Have an operation computed by a function on tensors of these devices, None for all.

    Source: https://docs.pytorch.org/docs/stable/library.html#torch.library.register_kernel
    """
    find(op)
    return impl(op, "default" if device_types is None else device_types, func)


def register_fake(
    op: Any, func: Any = None, /, *, lib: Any = None, _stacklevel: int = 1, allow_override: bool = False
) -> Any:
    """Have the shapes of an operation's results told by a function: it is what meta tensors are given.

    Of an operation that is not defined, as of a library of compiled code that is not here, it is kept until it is.
    Source: https://docs.pytorch.org/docs/stable/library.html#torch.library.register_fake
    """
    return _registered(lambda function: tell_shapes(op, function), func)


def impl_abstract(qualname: Any, func: Any = None, *, lib: Any = None, _stacklevel: int = 1) -> Any:
    """:func:`register_fake` by its former name."""
    return register_fake(qualname, func, lib=lib)


def register_autograd(
    op: Any, backward: Callable[..., Any], /, *, setup_context: Callable[..., Any] | None = None, lib: Any = None
) -> None:
    """Have an operation's gradients computed by ``backward(ctx, *grads)``; ``setup_context(ctx, inputs, output)``
    saves for it.

    Source: https://docs.pytorch.org/docs/stable/library.html#torch.library.register_autograd
    """
    find(op).register_autograd(backward, setup_context)


def register_vmap(op: Any, func: Any = None, /, *, lib: Any = None) -> Any:
    """Have batches of an operation computed by ``func(info, in_dims, *args)``, which gives results and dimensions.

    Source: https://docs.pytorch.org/docs/stable/library.html#torch.library.register_vmap
    """
    return _registered(lambda function: setattr(find(op), "batched", function), func)


def register_autocast(op: Any, device_type: str, cast_inputs: _dtype, /, *, lib: Any = None) -> None:
    """Have autocast make ``cast_inputs`` of an operation's floating point inputs.

    Source: https://docs.pytorch.org/docs/stable/library.html#torch.library.register_autocast
    """
    if device_type not in ("cpu", "cuda"):
        raise ValueError(f"Unknown device type: {device_type}")
    if device_type == "cpu":
        find(op).autocast = cast_inputs


def register_torch_dispatch(op: Any, torch_dispatch_class: Any, func: Any = None, /, *, lib: Any = None) -> Any:
    """RuntimeError: there is nothing below autograd that a subclass could answer."""
    raise RuntimeError("operations are not dispatched below autograd: give the class a __torch_function__")
