"""Looking into the graph and hooking it: ``Node``, saved-tensor hooks, multi-tensor hooks.

Source: https://docs.pytorch.org/docs/stable/autograd.html#autograd-graph
"""

from __future__ import annotations

import functools
import threading
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..core.hooks import RemovableHandle
from ..core.node import Node, node_of
from ..core.record import output_number
from ..core.tensor import Tensor, edge_of, share, wrap
from ..ground import modes


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
        modes.local.saved_hooks = (*modes.local.saved_hooks, (self.pack_hook, self.unpack_hook))

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


class save_on_cpu(saved_tensors_hooks):
    """Keep saved tensors as copies in the CPU's memory."""

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        def pack(tensor: Tensor) -> tuple[Any, Tensor]:
            return tensor.device, tensor.cpu()  # type: ignore[attr-defined]

        def unpack(packed: tuple[Any, Tensor]) -> Tensor:
            device, tensor = packed
            return tensor.to(device)  # type: ignore[attr-defined,no-any-return]

        super().__init__(pack, unpack)

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def hooked(*args: Any, **kwargs: Any) -> Any:
            with type(self)():
                return function(*args, **kwargs)

        return hooked


class _Disabled(threading.local):
    message: str | None = None


_disabled = _Disabled()


class disable_saved_tensors_hooks:
    """Inside, entering ``saved_tensors_hooks`` raises RuntimeError with this message."""

    def __init__(self, error_message: str) -> None:
        self.error_message = error_message

    def __enter__(self) -> None:
        self._before = _disabled.message
        _disabled.message = self.error_message

    def __exit__(self, *exc: object) -> None:
        _disabled.message = self._before


class _MultiHandle(RemovableHandle):
    """Removes the hooks of several tensors at once."""

    def __init__(self, handles: Sequence[RemovableHandle]) -> None:
        self.handles = tuple(handles)

    def remove(self) -> None:
        for handle in self.handles:
            handle.remove()


def register_multi_grad_hook(
    tensors: Sequence[Tensor], fn: Callable[..., Any], *, mode: str = "all"
) -> RemovableHandle:
    """Call ``fn`` once in each backward call: with all gradients when the last came, or with the first one.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.autograd.graph.register_multi_grad_hook.html
    """
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    lock = threading.Lock()
    if mode == "any":
        done: dict[int, bool] = defaultdict(bool)

        def first(grad: Tensor) -> None:
            with lock:
                task = _task()
                if done[task]:
                    return
                done.clear()
                done[task] = True
            fn(grad)

        return _MultiHandle([tensor.register_hook(first) for tensor in tensors if tensor.requires_grad])
    wanted = {index for index, tensor in enumerate(tensors) if tensor.requires_grad}
    nodes = [edge_of(tensor) for tensor in tensors]
    got: dict[int, dict[int, Tensor]] = {}
    expected: dict[int, int] = {}

    def at(index: int) -> Callable[[Tensor], None]:
        def hook(grad: Tensor) -> None:
            with lock:
                task = _task()
                if task not in got:
                    got.clear()
                    expected.clear()
                    got[task] = {}
                    expected[task] = sum(will_execute(nodes[i]) for i in wanted)
                got[task][index] = grad
                complete = len(got[task]) == expected[task]
            if complete:
                fn([got[task].get(i) for i in range(len(tensors))])

        return hook

    return _MultiHandle([tensor.register_hook(at(i)) for i, tensor in enumerate(tensors) if i in wanted])


def _task() -> int:
    from ..core import engine

    return engine.current_task()


def will_execute(edge: Any) -> bool:
    """Whether the backward call that runs now reaches this edge."""
    from ..core import engine

    return engine.will_execute(edge)


class GradientEdge(NamedTuple):
    """A place of the graph that ``backward`` can start from: a node and one of its outputs."""

    node: Node | None
    output_nr: int
    ownership_token: Any = None


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """The edge that gradients of ``tensor`` take."""
    edge = edge_of(tensor)
    if edge is None:
        raise RuntimeError(
            "It is not possible to get the gradient edge for a Tensor that does not require gradients"
        )
    number = output_number(edge)
    return GradientEdge(node_of(edge), number, tensor if edge is tensor else _stand_in(tensor, edge))


def _stand_in(tensor: Tensor, edge: Any) -> Tensor:
    """A tensor of the same size, dtype and history, without memory: it keeps the graph, not the data."""
    data = tensor._array
    out = wrap(data if data.dtype.metadata else np.broadcast_to(np.zeros((), data.dtype), data.shape))
    out._edge = edge
    return out


def increment_version(tensor: Tensor | Sequence[Tensor]) -> None:
    """Count a tensor (or several) as written, for code that wrote to its memory by other means."""
    for written in (tensor,) if isinstance(tensor, Tensor) else tensor:
        share(written).version += 1


class allow_mutation_on_saved_tensors:
    """Inside, in-place writes to saved tensors are allowed: what was saved is copied."""

    def __enter__(self) -> None:
        self._hooks = saved_tensors_hooks(lambda t: t.clone(), lambda t: t)  # type: ignore[attr-defined]
        self._hooks.__enter__()

    def __exit__(self, *exc: object) -> None:
        self._hooks.__exit__()


__all__ = [
    "GradientEdge",
    "Node",
    "allow_mutation_on_saved_tensors",
    "disable_saved_tensors_hooks",
    "get_gradient_edge",
    "increment_version",
    "register_multi_grad_hook",
    "save_on_cpu",
    "saved_tensors_hooks",
    "will_execute",
]
