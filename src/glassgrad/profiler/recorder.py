"""Records what runs while a profiler is on: calls of functions, nodes of backward passes, optimizers' steps."""

from __future__ import annotations

import math
import sys
import threading
from collections.abc import Callable
from time import perf_counter_ns
from typing import Any

from ..core import engine
from ..core.record import Bundle, Record
from ..core.row import TABLE
from ..core.tensor import Tensor, View
from ..ground import listening, modes
from ..ground.later import whole
from ..ground.names import is_own_frame
from ..nn import functional
from ..ops import bind
from ..ops.declare import COMPOSITES
from ..optim.optimizer import Optimizer
from .events import EventList, FunctionEvent

FUNCTION, BACKWARD, USER = 0, 1, 7  # the scopes of events

#: Functions that give no tensor and are events all the same.
_ASKING = {"item", "equal", "allclose", "is_nonzero"}
#: Names that PyTorch's kernels have, where ours differ.
_KERNELS = {
    "cross_entropy": "cross_entropy_loss", "getitem": "index", "truediv": "div",
    "linear_2d": "linear", "projected": "linear", "take_window": "as_strided",
}  # fmt: skip

active: Recorder | None = None
_threads: dict[int, int] = {}


def _thread() -> int:
    """A small number for the thread that asks."""
    return _threads.setdefault(threading.get_ident(), len(_threads) + 1)


class _Open:
    """An event that has begun."""

    __slots__ = ("name", "start", "shapes", "values", "stack", "scope", "flops", "memory", "children", "sequence")

    def __init__(self, name: str, scope: int) -> None:
        self.name, self.scope, self.start = name, scope, perf_counter_ns()
        self.shapes: Any = None
        self.values: Any = None
        self.stack: Any = None
        self.flops = self.memory = 0
        self.sequence = -1
        self.children: list[Any] = []


class _Stacks(threading.local):
    """The events that are open in a thread, innermost last."""

    def __init__(self) -> None:
        self.open: list[_Open] = []


class Recorder:
    """One recording, from :meth:`start` to :meth:`stop`; only one runs at a time."""

    def __init__(self, shapes: bool, memory: bool, stack: bool, flops: bool) -> None:
        self.shapes, self.memory, self.stack, self.flops = shapes, memory, stack, flops
        self.done: list[tuple[_Open, int, int]] = []
        self.local = _Stacks()
        self.handles: list[Any] = []
        self.names: dict[int, str] = {}
        self.own: set[int] = set()  # functions that are operations themselves, and no composition
        self.zero_ns = 0

    def start(self) -> None:
        """Begin to listen."""
        global active
        if active is not None:
            raise RuntimeError("Profiler is already enabled on this thread")
        self._name_functions()
        active = self
        self.zero_ns = perf_counter_ns()
        outside = [function for name, function in whole(functional).items() if not name.startswith("_")]
        listening.start(self._call, [*bind.table_functions(), *filter(callable, outside)])
        listening.start(self._zero_grad, [Optimizer.zero_grad])
        from ..optim import optimizer

        self.handles = [
            optimizer.register_optimizer_step_pre_hook(self._before_step),
            optimizer.register_optimizer_step_post_hook(self._after_step),
        ]
        engine.listener = self._node
        modes.watch.add(self)
        modes.unusual.add(self)

    def stop(self) -> None:
        """Listen no more."""
        global active
        modes.watch.discard(self)
        modes.unusual.discard(self)
        engine.listener = None
        for handle in self.handles:
            handle.remove()
        listening.stop(self._zero_grad)
        listening.stop(self._call)
        while self.local.open:
            self.end(self.local.open[-1])
        active = None

    def _name_functions(self) -> None:
        for name, function in whole(functional).items():
            self.names[id(function)] = name
        for composite in COMPOSITES.values():
            self.names[id(composite.function)] = composite.names[0]
        for name, function in bind.functions().items():
            self.names.setdefault(id(function), name)
        for row in TABLE.values():
            name = row.name if row.public or not row.rules else _kernel_name(row.node_name)
            name = _KERNELS.get(row.name, name)
            for function in (row.caller, getattr(row, "operate", None)):
                self.names[id(function)] = name
                self.own.add(id(function))

    # -- events ---------------------------------------------------------------------------------------------------

    def begin(self, name: str, scope: int) -> _Open:
        """Open an event in this thread."""
        event = _Open(name, scope)
        if self.stack:
            event.stack = _lines(sys._getframe(2))
        self.local.open.append(event)
        return event

    def end(self, event: _Open) -> None:
        """Close an event, and those that were left open in it."""
        now, waiting = perf_counter_ns(), self.local.open
        if event not in waiting:
            return
        while waiting.pop() is not event:
            pass
        self.done.append((event, now, _thread()))
        if waiting:
            waiting[-1].children.append(event)

    def _call(self, function: Any, proceed: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if active is not self:
            return proceed(*args, **kwargs)
        name = self.names.get(id(function), getattr(function, "__name__", "function"))
        name = name[2:-2] if name.startswith("__") else name
        event = self.begin("aten::" + _KERNELS.get(name, name), FUNCTION)
        if self.shapes:
            inputs = [*args, *kwargs.values()]
            event.shapes = [_shape(value) for value in inputs]
            event.values = [value if isinstance(value, (bool, int, float, str)) else "" for value in inputs]
        result = None
        try:
            result = proceed(*args, **kwargs)
        finally:
            tensors = _tensors(result)
            if tensors or event.children or name in _ASKING:
                if self.flops:
                    event.flops = _flops(event.name, args, tensors)
                if self.memory and not event.children:
                    old = {id(value) for value in args}
                    event.memory = sum(
                        t._array.nbytes for t in tensors if id(t) not in old and type(t._edge) is not View
                    )
                self.end(event)
            elif event in self.local.open:  # a question about a tensor, and no operation
                del self.local.open[self.local.open.index(event) :]
        return result

    def _node(self, edge: Any, run: Callable[[], Any]) -> Any:
        if active is not self:
            return run()
        leaf = not isinstance(edge, Record)
        name = "torch::autograd::AccumulateGrad" if leaf else edge.kind.name
        if name == "Output":
            return run()
        outer = self.begin(f"autograd::engine::evaluate_function: {name}", FUNCTION)
        inner = self.begin(name, BACKWARD)
        if not leaf:
            inner.sequence = int(edge.sequence)
        try:
            result = run()
            if self.memory and not leaf and not isinstance(result, Bundle):
                inner.memory = sum(g.nbytes for g in result if hasattr(g, "nbytes"))
            return result
        finally:
            self.end(inner)
            self.end(outer)

    def _zero_grad(self, function: Any, proceed: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        name = type(args[0] if args else kwargs.get("self")).__name__
        event = self.begin(f"Optimizer.zero_grad#{name}.zero_grad", USER)
        try:
            return proceed(*args, **kwargs)
        finally:
            self.end(event)

    def _before_step(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        self.begin(f"Optimizer.step#{type(optimizer).__name__}.step", USER)

    def _after_step(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        name = f"Optimizer.step#{type(optimizer).__name__}.step"
        for event in reversed(self.local.open):
            if event.name == name:
                self.end(event)
                break

    # -- what came of it ------------------------------------------------------------------------------------------

    def events(self) -> EventList:
        """The events in the order of their beginning, as a tree."""
        events: dict[_Open, FunctionEvent] = {}
        order = sorted(self.done, key=lambda piece: (piece[0].start, -piece[1]))
        for number, (event, end, thread) in enumerate(order):
            events[event] = FunctionEvent(
                number, event.name, thread, (event.start - self.zero_ns) / 1e3, (end - self.zero_ns) / 1e3,
                input_shapes=event.shapes, stack=event.stack, scope=event.scope, flops=event.flops,
                own_memory=event.memory, concrete_inputs=event.values, sequence_nr=event.sequence,
            )  # fmt: skip
        for event, shown in events.items():
            for child in event.children:
                if child in events:
                    events[child].cpu_parent = shown
                    shown.cpu_children.append(events[child])
        kept = [shown for shown in events.values() if not _repeats(shown)]
        for number, shown in enumerate(kept):
            shown.id = number
        return EventList(kept, profile_memory=self.memory, with_flops=self.flops)


def _repeats(event: FunctionEvent) -> bool:
    """Whether an event is the only one within another of the same name, which then stands for both."""
    parent = event.cpu_parent
    if parent is None or parent.name != event.name or len(parent.cpu_children) != 1:
        return False
    parent.cpu_children = event.cpu_children
    parent.self_cpu_memory_usage += event.self_cpu_memory_usage
    for child in event.cpu_children:
        child.cpu_parent = parent
    return True


def _kernel_name(node: str) -> str:
    """``native_layer_norm`` of ``NativeLayerNormBackward0``."""
    name = node.rpartition("Backward")[0] or node
    snake = ""
    for index, letter in enumerate(name):
        if letter.isupper() and index and not name[index - 1].isdigit():
            snake += "_"
        snake += letter.lower()
    return snake


def _tensors(result: Any) -> list[Tensor]:
    if isinstance(result, Tensor):
        return [result]
    if isinstance(result, (tuple, list)):
        return [piece for piece in result if isinstance(piece, Tensor)]
    return []


def _shape(value: Any) -> Any:
    if isinstance(value, Tensor):
        return list(value._array.shape)
    if isinstance(value, (tuple, list)) and value and all(isinstance(piece, Tensor) for piece in value):
        return [list(piece._array.shape) for piece in value]
    return []


def _flops(name: str, args: tuple[Any, ...], results: list[Tensor]) -> int:
    """The number of multiplications and additions of the operations that PyTorch counts too; 0 for others."""
    shapes = [value._array.shape for value in args if isinstance(value, Tensor)]
    if not results:
        return 0
    size = math.prod(results[0]._array.shape)
    if name in ("aten::mm", "aten::bmm") and len(shapes) >= 2:
        return 2 * size * shapes[0][-1]
    if name in ("aten::addmm", "aten::baddbmm") and len(shapes) >= 3:
        return 2 * size * shapes[1][-1]
    if name in ("aten::conv2d", "aten::conv1d", "aten::conv3d") and len(shapes) >= 2:
        return 2 * size * math.prod(shapes[1][1:])
    if name in ("aten::add", "aten::mul"):
        return size
    return 0


def _lines(frame: Any) -> list[str]:
    """The lines of the user's program that led here, innermost first."""
    lines = []
    while frame is not None:
        if not is_own_frame(frame):
            lines.append(f"{frame.f_code.co_filename}({frame.f_lineno}): {frame.f_code.co_name}")
        frame = frame.f_back
    return lines
