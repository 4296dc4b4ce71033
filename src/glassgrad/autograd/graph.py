"""Looking into the graph and hooking it: ``Node``, saved-tensor hooks, multi-tensor hooks.

Source: https://docs.pytorch.org/docs/stable/autograd.html#autograd-graph
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, NamedTuple

import numpy as np

from ..core import engine
from ..core.record import output_number
from ..core.tensor import Tensor, edge_of, share, wrap
from ..ground import errors, modes
from ..ground.handle import RemovableHandle
from ..ground.listening import audible
from ..tensor.hooks import count_on_leaf
from ..tensor.node import Node, node_of
from ..tensor.packed import Hooked, SavedTensor  # noqa: F401  PyTorch has the latter here too


class saved_tensors_hooks:
    """Inside, tensors saved for backward pass ``pack_hook``; ``unpack_hook`` gives them back when they are read."""

    _depths: tuple[int, ...] = ()  # how many pairs of hooks there were when it was entered

    def __init__(self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]) -> None:
        self.pack_hook, self.unpack_hook = pack_hook, unpack_hook

    def __enter__(self) -> None:
        if _disabled.message is not None:
            raise RuntimeError(_disabled.message)
        modes.expect_unusual()
        self._depths = (*self._depths, len(modes.local.saved_hooks))
        packer = functools.partial(Hooked, self.pack_hook, self.unpack_hook)
        modes.local.saved_hooks = (*modes.local.saved_hooks, packer)

    def __exit__(self, *exc: object) -> None:
        modes.local.saved_hooks = modes.local.saved_hooks[: self._depths[-1]]
        self._depths = self._depths[:-1]
        modes.settle()

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def hooked(*args: Any, **kwargs: Any) -> Any:
            with type(self)(self.pack_hook, self.unpack_hook):
                return function(*args, **kwargs)

        return hooked


def _to_cpu(tensor: Tensor) -> tuple[Any, Tensor]:
    return tensor.device, tensor.cpu()  # type: ignore[attr-defined]


def _to_device(packed: tuple[Any, Tensor]) -> Tensor:
    device, tensor = packed
    return tensor.to(device)  # type: ignore[attr-defined,no-any-return]


class save_on_cpu(saved_tensors_hooks):
    """Keep saved tensors as copies in the CPU's memory."""

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        super().__init__(_to_cpu, _to_device)

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def hooked(*args: Any, **kwargs: Any) -> Any:
            with type(self)():
                return function(*args, **kwargs)

        return hooked


class _Disabled(threading.local):
    message: str | None = None


_disabled = _Disabled()


@contextmanager
def disable_saved_tensors_hooks(error_message: str) -> Iterator[None]:
    """Inside, entering ``saved_tensors_hooks`` raises RuntimeError with this message."""
    before = _disabled.message
    if modes.local.saved_hooks:
        raise RuntimeError(error_message)
    _disabled.message = error_message
    try:
        yield
    finally:
        _disabled.message = before


def current_task() -> int:
    """The number of the backward call that runs now; -1 outside."""
    return engine.running.calls[-1][0] if engine.running.calls else -1


def captures_inputs() -> bool:
    """Whether the backward call that runs now wants the gradients of chosen inputs only."""
    return bool(engine.running.calls) and engine.running.calls[-1][2] is not None


def will_execute(edge: Any) -> bool:
    """Whether the backward call that runs now reaches ``edge``; RuntimeError outside of one."""
    if not engine.running.calls:
        raise RuntimeError(errors.NO_BACKWARD)
    _, owed, needed = engine.running.calls[-1]
    return edge in owed and (needed is None or edge in needed)


class _MultiHandle(RemovableHandle):
    """Removes the hooks of several tensors at once."""

    def __init__(self, handles: Sequence[RemovableHandle], calls: _Calls) -> None:
        self.handles, self._ended = tuple(handles), count_on_leaf(calls)

    def remove(self) -> None:
        for handle in self.handles:
            handle.remove()
        self._ended()


class _Calls:
    """What a hook of several tensors knows of the backward call that runs."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.task = -1
        self.grads: dict[int, Tensor] = {}
        self.expected = 0

    def begin(self) -> bool:
        """Whether the call that runs now is another than the one before, of which all is forgotten."""
        task = current_task()
        is_new = task != self.task
        if is_new:
            self.task, self.grads = task, {}
        return is_new


def register_multi_grad_hook(
    tensors: Sequence[Tensor], fn: Callable[..., Any], *, mode: str = "all"
) -> RemovableHandle:
    """Call ``fn`` once in each backward call: with all gradients when the last came, or with the first one.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.autograd.graph.register_multi_grad_hook.html
    """
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    calls = _Calls()
    if mode == "any":

        def first(grad: Tensor) -> None:
            with calls.lock:
                is_new = calls.begin()
            if is_new:
                fn(grad)

        return _MultiHandle([tensor.register_hook(first) for tensor in tensors if tensor.requires_grad], calls)
    edges = [edge_of(tensor) for tensor in tensors]
    if None in edges:
        raise AssertionError("Expected gradient function to be set")

    def at(index: int) -> Callable[[Tensor], None]:
        def hook(grad: Tensor) -> None:
            with calls.lock:
                if calls.begin():
                    calls.expected = sum(map(will_execute, edges))
                calls.grads[index] = grad
                is_complete = len(calls.grads) == calls.expected
            if is_complete:
                fn([calls.grads.get(i) for i in range(len(tensors))])

        return hook

    return _MultiHandle([tensor.register_hook(at(i)) for i, tensor in enumerate(tensors)], calls)


class GradientEdge(NamedTuple):
    """A place of the graph that ``backward`` can start from: a node and one of its outputs."""

    node: Node | None
    output_nr: int
    ownership_token: Any = None


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """The edge that gradients of ``tensor`` take."""
    if not tensor.requires_grad:
        raise RuntimeError("It is not possible to get the gradient edge for a Tensor that does not require gradients")
    edge = edge_of(tensor)
    number = output_number(edge)
    return GradientEdge(node_of(edge), number, tensor if edge is tensor else _stand_in(tensor, edge))


def _stand_in(tensor: Tensor, edge: Any) -> Tensor:
    """A tensor of the same size, dtype and history, without memory: it keeps the graph, not the data."""
    data = tensor._array
    out = wrap(data if data.dtype.metadata else np.broadcast_to(np.zeros((), data.dtype), data.shape))
    out._edge = edge
    return out


@audible  # a compiled call must run what is pending first
def increment_version(tensor: Tensor | Iterable[Tensor]) -> None:
    """Count a tensor (or several) as written, for code that wrote to its memory by other means."""
    if not isinstance(tensor, Tensor | Iterable):
        raise RuntimeError("increment_version expect a Iterable[Tensor] as input")
    for written in (tensor,) if isinstance(tensor, Tensor) else tensor:
        if not isinstance(written, Tensor):
            raise RuntimeError("increment_version expects each element of the iterable to be a tensor")
        share(written).version += 1


class _AllowMutationOnSavedContext:
    """The copies that a block of ``allow_mutation_on_saved_tensors`` keeps, until it ends."""

    def __init__(self) -> None:
        self.cloned: dict[_Handle, Tensor] = {}

    def clear(self) -> None:
        """Let all copies go: what was recorded in the block has no backward from now on."""
        self.cloned.clear()

    def _pack(self, tensor: Tensor) -> _Handle:
        handle = _Handle()
        self.cloned[handle] = tensor.clone()  # type: ignore[attr-defined]
        return handle

    def _unpack(self, handle: _Handle) -> Tensor:
        if handle not in self.cloned:
            raise AssertionError(
                "Trying to backward outside of the 'allow_mutation_on_saved_tensors' contextin which the graph was "
                "originally recorded."
            )
        return self.cloned[handle]


class _Handle:
    """What stands for a saved tensor in a record: the copy goes with the block."""

    __slots__ = ()


class _Mutation(threading.local):
    allowed = False


_mutation = _Mutation()


@contextmanager
def allow_mutation_on_saved_tensors() -> Iterator[_AllowMutationOnSavedContext]:
    """Inside, in-place writes to saved tensors are allowed: what was saved is copied; backward is run inside too."""
    if _mutation.allowed:
        raise RuntimeError("allow_mutation_on_saved_tensors contexts cannot be nested")
    context = _AllowMutationOnSavedContext()
    with saved_tensors_hooks(context._pack, context._unpack):
        _mutation.allowed = True
        try:
            yield context
        finally:
            _mutation.allowed = False
            context.clear()


def region_activation_memory_budget(budget: float) -> AbstractContextManager[None]:
    """A block that asks a compiler to save less for backward; it changes nothing in what is not compiled."""
    if not 0 <= budget <= 1:
        raise ValueError(f"budget must be in [0, 1], got {budget}")
    return nullcontext()


def _flag(enabled: bool) -> None:
    if not isinstance(enabled, bool):
        raise RuntimeError(f"enabled must be a bool, but got {type(enabled).__name__}")


def set_warn_on_accumulate_grad_stream_mismatch(enabled: bool) -> None:
    """Accepted without effect: there are no streams that gradients could come from."""
    _flag(enabled)


def set_override_stale_capture_stream(enabled: bool) -> None:
    """Accepted without effect: there is no device whose work could be captured."""
    _flag(enabled)


__all__ = [
    "GradientEdge", "Node", "allow_mutation_on_saved_tensors", "disable_saved_tensors_hooks", "get_gradient_edge",
    "increment_version", "region_activation_memory_budget", "register_multi_grad_hook", "save_on_cpu",
    "saved_tensors_hooks", "set_override_stale_capture_stream", "set_warn_on_accumulate_grad_stream_mismatch",
]  # fmt: skip
