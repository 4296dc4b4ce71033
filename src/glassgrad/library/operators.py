"""Operations that a program defines: their kernels, and who is asked in a call: autocast, derivatives, shapes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

from ..autograd.function import Function
from ..autograd.grad_mode import no_grad
from ..autograd.graph import increment_version
from ..core.tensor import Tensor
from ..ground import modes
from ..ops.namespace import OpOverload, OpOverloadPacket, namespace
from ..tensor.lifted import is_lifted
from .schema import Schema, parse

#: Keys of PyTorch's dispatcher under which a kernel computes; others (of devices that are not here) are kept, no more.
KERNELS = (
    "CPU",
    "CompositeExplicitAutograd",
    "CompositeExplicitAutogradNonFunctional",
    "CompositeImplicitAutograd",
    "",
)
AUTOGRAD = ("AutogradCPU", "Autograd")


class _Below(threading.local):
    """What of a call is over already: its derivative (below the key of autograd), its precision."""

    autograd = 0
    autocast = 0
    call: Any = None  # the positions of tensors in the lists of the call that a Function makes


below = _Below()


@contextmanager
def below_autograd() -> Any:
    """A block in which operations call their kernels, and no derivative is looked for."""
    below.autograd += 1
    try:
        yield
    finally:
        below.autograd -= 1


class Operation(OpOverload):
    """An operation that a program defined: a schema, and what was registered for it."""

    def __init__(self, packet: Packet, schema: Schema) -> None:
        super().__init__(packet, schema.overload_name or "default")
        self._schema = schema
        self.kernels: dict[str, Callable[..., Any]] = {}
        self.fake: Callable[..., Any] | None = None
        self.backward: Callable[..., Any] | None = None
        self.setup_context: Callable[..., Any] | None = None
        self.is_custom = False  # made by custom_op, whose kernels are never looked into
        self.autocast: Any = None  # the dtype that autocast makes of its inputs
        self.batched: Callable[..., Any] | None = None
        self._function: Any = None

    @property
    def qualname(self) -> str:
        """``mylib::sin``."""
        return self._schema.name

    def register_autograd(self, backward: Callable[..., Any], setup_context: Callable[..., Any] | None) -> None:
        """Have gradients computed by ``backward``; RuntimeError of an operation that writes to its arguments."""
        if self._schema.is_mutable:
            raise RuntimeError(
                f"Cannot register autograd formula for non-functional operator {self} with schema {self._schema}. "
                "Please create a functional operator and register an autograd formula for that."
            )
        self.backward, self.setup_context, self._function = backward, setup_context, None

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        args, kwargs = self._schema.bind(args, kwargs)
        tensors = _tensors((*args, *kwargs.values()))
        local = modes.local
        if self.autocast is not None and modes.watch and local.autocast is not None and not below.autocast:
            below.autocast += 1
            try:
                args = tuple(_cast(value, self.autocast) for value in args)
                return self(*args, **{name: _cast(value, self.autocast) for name, value in kwargs.items()})
            finally:
                below.autocast -= 1
        if not below.autograd:
            for key in AUTOGRAD:
                if key in self.kernels:
                    return self.kernels[key](*args, **kwargs)
            if is_lifted(tensors) or (self.is_custom or self.backward is not None) and self._is_tracked(tensors):
                if not self._schema.is_mutable:
                    return self._derived(args, kwargs)
        return self.compute(args, kwargs, tensors)

    def _is_tracked(self, tensors: Sequence[Any]) -> bool:
        return modes.grad_enabled() and any(tensor.requires_grad for tensor in tensors)

    def compute(self, args: tuple[Any, ...], kwargs: dict[str, Any], tensors: Sequence[Any]) -> Any:
        """What the kernel gives: that of the device of the tensors, or the one for all devices."""
        if any(tensor.device.type == "meta" for tensor in tensors):
            result = self._shapes()(*args, **kwargs)
        else:
            kernel = next((self.kernels[key] for key in KERNELS if key in self.kernels), None)
            if kernel is None:
                self._refuse("CPU")
            result = kernel(*args, **kwargs)
        if self.is_custom:
            self._check(args, kwargs, tensors, result)
        return list(result) if isinstance(result, tuple) and self._schema.returns == ("Tensor[]",) else result

    def _shapes(self) -> Callable[..., Any]:
        plain = () if self.is_custom else KERNELS[1:3]  # a custom operator's kernel may ask for values
        for kernel in (self.fake, *map(self.kernels.get, ("Meta", "CompositeImplicitAutograd", *plain))):
            if kernel is not None:
                return kernel
        if self.is_custom:
            raise RuntimeError(
                f"There was no fake impl registered for <CustomOpDef({self.qualname})>. This is necessary for "
                f"torch.compile/export/fx tracing to work. Please use `{self.overloadpacket.__name__}.register_fake` "
                "to add an fake impl."
            )
        self._refuse("Meta")

    def _refuse(self, backend: str) -> NoReturn:
        raise NotImplementedError(
            f"Could not run '{self.name()}' with arguments from the '{backend}' backend. This could be because the "
            f"operator doesn't exist for this backend. '{self.name()}' is only available for these backends: "
            f"[{', '.join(self.kernels)}]."
        )

    def _check(self, args: tuple[Any, ...], kwargs: dict[str, Any], tensors: Sequence[Any], result: Any) -> None:
        """What custom operators may not do, and the versions of what they wrote to."""
        named = {**dict(zip((a.name for a in self._schema.arguments), args, strict=False)), **kwargs}
        for argument in self._schema.arguments:
            if argument.is_write:
                increment_version(_tensors((named[argument.name],)))
        input_ids = {id(tensor) for tensor in tensors}
        if any(id(tensor) in input_ids for tensor in _tensors((result,))):
            raise RuntimeError(
                f"{self.qualname} (with implementation in ???): The output of this custom operator (1) must not also "
                "be an input to this custom operator and (2) may not alias any inputs to this custom operator or other "
                "returns. The most common way to trigger this error is if we have y = custom_op(x) and y and x are the "
                "same Tensor. Please instead return a clone of the offending output tensor(s) (e.g. return x.clone()) "
                "or refactor the custom operator to not return y."
            )

    # -- the derivative, as a Function's ------------------------------------------------------------------------------

    def _derived(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call that is one node of the graph: lists of tensors are spread out, as Functions have tensors alone."""
        counts = [len(value) if _is_list(value) else None for value in args]
        spread = [
            item
            for value, count in zip(args, counts, strict=True)
            for item in (value if count is not None else [value])
        ]
        before, below.call = below.call, (counts, kwargs)
        try:
            result = self.function.apply(*spread)
        finally:
            below.call = before
        return list(result) if isinstance(result, tuple) and self._schema.returns == ("Tensor[]",) else result

    @property
    def function(self) -> type[Function]:
        """The Function whose forward is this operation; made when it is first wanted."""
        if self._function is None:
            self._function = _function_of(self)
        return self._function  # type: ignore[no-any-return]


class Packet(OpOverloadPacket):
    """The operations of one name that a program defined."""

    def __init__(self, name: str, space: str) -> None:
        super().__init__(name, space)
        self.operations: dict[str, Operation] = {}

    def make(self, overload: str) -> Operation:
        """The operation of this name."""
        return self.operations[overload]

    def has(self, overload: str) -> bool:
        """False: all there are were defined."""
        return False

    def overloads(self) -> list[str]:
        """The names of the operations."""
        return list(self.operations)

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        operations = list(self.operations.values())
        for operation in operations[:-1]:
            try:
                operation._schema.bind(args, kwargs)
            except RuntimeError:
                continue
            return operation(*args, **kwargs)
        return operations[-1](*args, **kwargs)


def add(schema: Schema) -> Operation:
    """Define an operation, which from now on is in ``torch.ops``; RuntimeError where there is one of its name."""
    space, _, name = schema.name.partition("::")
    home = vars(namespace(space))
    packet = home.get(name)
    if not isinstance(packet, Packet):
        if space == "aten":
            raise RuntimeError(
                f"{schema.name}: PyTorch's own operations are not replaced; define one in a namespace of your own"
            )
        packet = home[name] = Packet(name, space)
    overload = schema.overload_name or "default"
    if overload in packet.operations:
        raise RuntimeError(
            f"Tried to register an operator ({schema}) with the same name and overload name multiple times. Each "
            "overload's schema should only be registered with a single call to def()."
        )
    operation = packet.operations[overload] = Operation(packet, schema)
    operation.fake = _early.pop(schema.name, None)
    return operation


_early: dict[str, Callable[..., Any]] = {}  # functions that tell the shapes of operations that nobody has defined yet


def tell_shapes(op: Any, fake: Callable[..., Any]) -> None:
    """Have the shapes of an operation's results told by ``fake``; where there is none yet, of that which will be."""
    if isinstance(op, str):
        space, _, name = op.partition("::")
        if not isinstance(vars(namespace(space)).get(name.partition(".")[0]), Packet):
            _early[op] = fake
            return
    find(op).fake = fake


def remove(operation: Operation) -> None:
    """Take an operation away again."""
    packet = operation.overloadpacket
    assert isinstance(packet, Packet)
    packet.operations.pop(operation._overloadname, None)
    packet.__dict__.pop(operation._overloadname, None)
    if not packet.operations:
        vars(namespace(packet.namespace)).pop(packet.__name__, None)


def find(op: Any) -> Operation:
    """The operation of this name, ``"mylib::sin"``, or this object; RuntimeError where there is none."""
    if isinstance(op, Operation):
        return op
    if isinstance(op, Packet):
        return op.make(op.overloads()[0])
    if hasattr(op, "_opoverload"):
        return op._opoverload  # type: ignore[no-any-return]
    if not isinstance(op, str):
        raise ValueError(f"expected the name of an operator, or an operator, got {type(op)}")
    qualname, _, overload = op.partition(".")
    space, _, name = qualname.partition("::")
    packet = vars(namespace(space)).get(name)
    if not isinstance(packet, Packet) or (overload or "default") not in packet.operations:
        raise RuntimeError(f"operator {op} does not exist")
    return packet.operations[overload or "default"]


def defined(text: str, space: str = "") -> Operation:
    """Define the operation of a schema that is written so."""
    return add(parse(text, space))


def _is_list(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and any(isinstance(item, Tensor) for item in value)


def _tensors(values: Sequence[Any]) -> list[Any]:
    return [
        tensor
        for value in values
        for tensor in (value if isinstance(value, (list, tuple)) else (value,))
        if isinstance(tensor, Tensor)
    ]


def _cast(value: Any, dtype: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return type(value)(_cast(item, dtype) for item in value)
    return value.to(dtype) if isinstance(value, Tensor) and value.is_floating_point() else value  # type: ignore[attr-defined]


def _gathered(flat: Sequence[Any], counts: Sequence[int | None]) -> tuple[Any, ...]:
    """The arguments of an operation, of which lists were spread out."""
    rest = iter(flat)
    return tuple(next(rest) if count is None else [next(rest) for _ in range(count)] for count in counts)


def _function_of(operation: Operation) -> type[Function]:
    def forward(*flat: Any) -> Any:
        counts, kwargs = below.call
        args = _gathered(flat, counts)
        with below_autograd(), no_grad():
            result = operation.compute(args, kwargs, _tensors((*args, *kwargs.values())))
        return tuple(result) if isinstance(result, list) else result

    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        ctx._counts, kwargs = below.call
        args = _gathered(inputs, ctx._counts)
        shown = list(output) if operation._schema.returns == ("Tensor[]",) else output
        if operation.setup_context is not None:
            if kwargs:
                operation.setup_context(ctx, args, kwargs, shown)
            else:
                operation.setup_context(ctx, args, shown)

    def backward(ctx: Any, *grads: Any) -> Any:
        if operation.backward is None:
            raise RuntimeError(
                f"Trying to backward through {operation} but no autograd formula was registered. Please use "
                "register_autograd to add one."
            )
        listed = operation._schema.returns == ("Tensor[]",)
        results = operation.backward(ctx, list(grads)) if listed else operation.backward(ctx, *grads)
        results = results if isinstance(results, tuple) else (results,)
        flat: list[Any] = []
        for result, count in zip(results, ctx._counts, strict=False):
            flat += [result] if count is None else [None] * count if result is None else list(result)
        return tuple(flat)

    def vmap(info: Any, in_dims: Any, *flat: Any) -> Any:
        counts, kwargs = below.call
        if operation.batched is None:
            raise NotImplementedError(
                f"there is no rule for batches of {operation.qualname}: torch.library.register_vmap registers one"
            )
        return operation.batched(info, _gathered(in_dims, counts), *_gathered(flat, counts), **kwargs)

    name = f"GeneratedBackwardFor_{str(operation).replace('.', '_')}"
    members = {"forward": forward, "setup_context": setup_context, "backward": backward, "vmap": vmap}
    make: Any = type(Function)
    return make(name, (Function,), {key: staticmethod(value) for key, value in members.items()})


class FakeImplCtx:
    """What :func:`get_ctx` gives to a function that tells shapes."""

    def new_dynamic_size(self, *, min: int = 0, max: int | None = None) -> NoReturn:  # noqa: A002  PyTorch's names
        """RuntimeError: sizes are numbers."""
        raise RuntimeError("the size of this result depends on values, and meta tensors have none")

    new_unbacked_symint = create_unbacked_symint = new_dynamic_size


def get_ctx() -> FakeImplCtx:
    """What a function registered with ``register_fake`` asks for sizes that depend on values."""
    return FakeImplCtx()


__all__ = [
    "FakeImplCtx", "Operation", "Packet", "add", "below_autograd", "defined", "find", "get_ctx", "remove",
    "tell_shapes",
]  # fmt: skip
