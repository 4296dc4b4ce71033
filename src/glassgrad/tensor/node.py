"""``grad_fn`` as users see it: a node made of a record (or of a leaf's accumulation) when somebody asks for it."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import engine, leaf, saved
from ..core.record import OUTPUT, Bundle, Kind, Record, freed, output_number
from ..ground import errors, modes
from ..ground.handle import RemovableHandle
from .hooks import hooks_of

_alive: weakref.WeakValueDictionary[int, Node] = weakref.WeakValueDictionary()  # id of record -> its node


_NO_NODE = (
    "Can't instantiate abstract class Node with abstract methods _input_metadata, _register_hook_dict, _sequence_nr, "
    "metadata, name, next_functions, register_hook, register_prehook"
)


class Node:
    """A node of the backward graph: callable, with ``next_functions``, saved values and hooks.

    Source: https://docs.pytorch.org/docs/stable/autograd.html#torch.autograd.graph.Node
    """

    _record: Any

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise TypeError(_NO_NODE if type(self) is Node else f"cannot create '{type(self).__name__}' instances")

    def name(self) -> str:
        """The name of the node, such as ``MulBackward0``."""
        return self._record.kind.name

    @property
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        """The nodes that the gradients of this one go to, each with the number of its output that is meant."""
        return tuple(pair_of(edge) for edge in self._record.edges)

    @property
    def metadata(self) -> dict[Any, Any]:
        """A dictionary of the user's own; anomaly detection keeps its tracebacks here."""
        return hooks_of(self._record).metadata

    @property
    def requires_grad(self) -> bool:
        """True: only what requires gradients has a node."""
        return True

    def _sequence_nr(self) -> int:
        return int(self._record.sequence)

    def register_hook(self, fn: Callable[..., Any]) -> RemovableHandle:
        """Call ``fn(grad_inputs, grad_outputs)`` after the node ran; what it returns replaces ``grad_inputs``."""
        return hooks_of(self._record).add_to_node(self._record, "post_hooks", fn)  # type: ignore[no-any-return]

    def register_prehook(self, fn: Callable[..., Any]) -> RemovableHandle:
        """Call ``fn(grad_outputs)`` before the node runs; what it returns replaces ``grad_outputs``."""
        return hooks_of(self._record).add_to_node(self._record, "pre_hooks", fn)  # type: ignore[no-any-return]

    def __call__(self, *grads: Any) -> Any:
        """The gradients of the node's inputs, given those of its outputs; the saved values stay."""
        record = self._record
        if record.kind.outputs == 1 and len(grads) != 1:
            raise TypeError(f"expected 1 arguments, got {len(grads)} instead")
        for index, grad in enumerate(grads):
            if grad is not None and not hasattr(grad, "_array"):
                raise TypeError(f"argument {index} is not a Variable")
        if all(grad is None for grad in grads):
            nothing = (None,) * len(record.edges)
            return None if len(nothing) == 1 else nothing
        lifted = modes.grad_enabled()
        incoming = [grad if lifted or grad is None else grad._array for grad in grads]
        grad = Bundle(incoming) if record.kind.outputs != 1 else incoming[0]
        hooks = getattr(record, "_hooks", None)
        run = hooks.around if hooks is not None and lifted else engine.bare
        outgoing = run(record, grad, True, lifted)
        tensors = tuple(g if lifted or g is None else leaf.wrap(g) for g in outgoing)
        return tensors[0] if len(tensors) == 1 else tensors

    def __repr__(self) -> str:
        home = type(self).__module__
        prefix = f"{home}." if home == "torch.autograd.function" else ""
        return f"<{prefix}{type(self).__name__} object at {hex(id(self))}>"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_saved_"):
            how = self._record.kind.shown.get(name[7:])
            if how is not None:
                return saved_value(self._record, *how)
        if name.startswith("_raw_saved_"):
            how, slot = self._record.kind.shown.get(name[11:], ("", 0))
            if how in ("tensor", "result"):
                from .packed import raw_saved  # which stands on this file

                return raw_saved(self._record, how, slot)
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __dir__(self) -> list[str]:
        saved = self._record.kind.shown
        raw = [f"_raw_saved_{name}" for name, (how, _) in saved.items() if how in ("tensor", "result")]
        return [*super().__dir__(), *(f"_saved_{name}" for name in saved), *raw]


def saved_value(record: Record, how: str, slot: Any) -> Any:
    """A saved value as users read it: a Tensor, sizes, or a setting."""
    if how == "derived":
        (source_how, source_slot), function = slot
        value = saved_value(record, source_how, source_slot)
        return None if value is None and source_how != "constant" else function(value)
    if how == "constant":
        value = record.constants[slot]
        return value.item() if isinstance(value, np.generic) else value
    if record.run is freed:
        raise RuntimeError(errors.FREED)
    if record.kind.row.listed and how == "tensor":
        return tuple(record.saved[2 * slot])
    return saved.read(record, how, slot)


class AccumulateGrad(Node):
    """The sink of a leaf: adds what arrives into ``leaf.grad``."""

    variable: Any

    def name(self) -> str:
        return "torch::autograd::AccumulateGrad"

    @property
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        return ()

    @property
    def metadata(self) -> dict[Any, Any]:
        return hooks_of(self.variable).metadata

    def _sequence_nr(self) -> int:
        return 2**64 - 1

    def register_hook(self, fn: Callable[..., Any]) -> RemovableHandle:
        return hooks_of(self.variable).add_to_leaf(self.variable, "post_hooks", fn)  # type: ignore[no-any-return]

    def register_prehook(self, fn: Callable[..., Any]) -> RemovableHandle:
        return hooks_of(self.variable).add_to_leaf(self.variable, "pre_hooks", fn)  # type: ignore[no-any-return]

    def __call__(self, *grads: Any) -> tuple[()]:
        lifted = modes.grad_enabled()
        leaf.into_leaf(self.variable, grads[0] if lifted else grads[0]._array, lifted)
        return ()

    def __dir__(self) -> list[str]:
        return [*object.__dir__(self), "variable"]


class CopySlices(Node):
    """A write through a view, as its base sees it; written by hand in PyTorch, which shows in its name."""

    def name(self) -> str:
        return "torch::autograd::CopySlices"


def _pass_on(record: Record, grad: Any, retain_graph: bool) -> tuple[Any, ...]:
    grads = grad.grads if type(grad) is Bundle else [grad]
    return tuple(grads[: len(record.edges)])


UNFOLDED = Kind("Unfolded", _pass_on, _pass_on)  # a fused record once looked at: its edges are its results'


def unfolded(edge: Any) -> Any:
    """The edge that users see in the place of this one: what a fused record stands for."""
    while isinstance(edge, Record):
        parent = edge.edges[0] if edge.kind is OUTPUT else edge
        if parent.kind.unfold is not None:
            parent.kind.unfold(parent)
        if parent.kind is not UNFOLDED:
            break
        edge = parent.edges[output_number(edge)]
    return edge


def node_of(edge: Any) -> Node | None:
    """The node of an edge: of a record, or of a leaf's accumulation; one object as long as somebody holds it."""
    edge = unfolded(edge)
    if edge is None:
        return None
    if not isinstance(edge, Record):
        node = _alive.get(id(edge))
        if node is None:
            node = object.__new__(AccumulateGrad)
            node.variable = edge
            _alive[id(edge)] = node
        return node
    if edge.kind is OUTPUT:
        edge = edge.edges[0]
    node = _alive.get(id(edge))
    if node is None:
        face = edge.kind.face
        if face is None:
            name = edge.kind.name.rpartition("::")[2]
            face = edge.kind.face = CopySlices if name == "CopySlices" else type(name, (Node,), {"__module__": None})
        node = object.__new__(face)
        if (kept := getattr(edge, "kept", None)) is not None:  # of a custom Function: what its user put there
            node.__dict__ = kept
        node._record = edge
        _alive[id(edge)] = node
    return node


def pair_of(edge: Any) -> tuple[Node | None, int]:
    """An edge as ``next_functions`` shows it: the node and the number of its output."""
    edge = unfolded(edge)
    return node_of(edge), output_number(edge)
