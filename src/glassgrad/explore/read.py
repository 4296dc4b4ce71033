"""The reader of graphs, floor 8: turns tensors of glassgrad or of torch, and their memory, into the neutral model.

It knows the public interface both share (`grad_fn`, `next_functions`, `variable`, `name()`, `_saved_*`) and imports
neither.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from .measure import info_of
from .model import Edge, Graph, Node, NodeKind, Saved, SavedState, TensorInfo
from .walk import SINK, Walk, engine_of, is_tensor, walk

#: The slots in which operations save what they were given, and no result of their own.
OPERANDS = {
    "self", "other", "input", "mat1", "mat2", "batch1", "batch2", "vec", "tensor1", "tensor2", "target", "exponent",
    "indices", "index", "weight", "condition", "mask", "src", "query", "key", "value",
}  # fmt: skip


def behind(tensor: Any) -> Any:
    """The tensor whose place in a graph is meant: a dual tensor and a batch of ``vmap`` have that of their values."""
    while type(tensor).__module__.startswith("glassgrad.func.") and not hasattr(tensor, "place"):
        tensor = tensor.value
    return tensor


def as_tensors(var: Any, caller: str) -> tuple[Any, ...]:
    """``var`` as a tuple of tensors; TypeError if it is neither a tensor nor a tuple or list of them."""
    tensors = tuple(var) if isinstance(var, (tuple, list)) else (var,)
    for tensor in tensors:
        if not is_tensor(tensor):
            raise TypeError(f"{caller}(): expected a tensor or a tuple of tensors, but got {type(tensor).__name__}")
    return tuple(map(behind, tensors))


def as_losses(value: Any, caller: str) -> tuple[Any, ...]:
    """The losses in ``value``: a tensor, several, or what models and training steps give, with a ``loss`` in it."""
    if is_tensor(value):
        return (behind(value),)
    loss = value.get("loss") if isinstance(value, Mapping) else getattr(value, "loss", None)
    if loss is not None:
        return as_losses(loss, caller)
    if isinstance(value, Mapping) or isinstance(value, (tuple, list)):
        pieces = value.values() if isinstance(value, Mapping) else value
        tensors = tuple(behind(piece) for piece in pieces if is_tensor(piece))
        if tensors and (isinstance(value, Mapping) or len(tensors) == len(value)):
            return tensors
    return as_tensors(value, caller)


def as_loss(value: Any, caller: str) -> Any:
    """The one loss in ``value``; TypeError where there are several."""
    losses = as_losses(value, caller)
    if len(losses) > 1:
        raise TypeError(f"{caller}(): expected one tensor, but got {len(losses)}")
    return losses[0]


def names_by_id(params: Any, caller: str) -> dict[int, str]:
    """The caller's names, keyed by the tensor's identity; ``locals()`` will do."""
    from .labels import pairs

    return {id(tensor): name for name, tensor in reversed(pairs(params, caller))}  # the first of two names stays


def read(
    var: Any, params: Mapping[str, Any] | None = None, *, show_attrs: bool = False, show_saved: bool = False,
    caller: str = "read",
) -> Graph:  # fmt: skip
    """The graph behind ``var``, a tensor or a tuple of tensors, and no more than is drawn of it by ``make_dot``.

    ``params`` names tensors; ``show_attrs`` reads the operations' settings and ``show_saved`` what they keep for
    backward. TypeError for anything but tensors.
    """
    outputs = tuple({id(t): t for t in as_tensors(var, caller)}.values())
    names = names_by_id(params, caller)
    bases = {id(t._base): t._base for t in outputs if getattr(t, "_base", None) is not None}
    walked = walk((*outputs, *bases.values()))
    tensors, edges, ends = ends_of(walked, outputs, bases, names)
    for i, below in enumerate(walked.inputs):
        edges.extend(Edge(e[0], i, e[1], slot) for slot, e in enumerate(below) if e is not None)

    nodes = []
    for i, node in enumerate(walked.nodes):
        attrs, saved = contents(node, names, ends) if show_attrs or show_saved else ((), ())
        seq = None if walked.seqs[i] == float("inf") else int(walked.seqs[i])
        nodes.append(
            Node(i, "op", walked.ops[i], None, None, seq, attrs if show_attrs else (), saved if show_saved else ())
        )
    return Graph((*nodes, *tensors), tuple(edges), tuple(ends[id(t)] for t in outputs), engine_of(outputs))


def ends_of(
    walked: Walk, outputs: tuple[Any, ...], bases: Mapping[int, Any], names: Mapping[int, str]
) -> tuple[list[Node], list[Edge], dict[int, int]]:
    """The tensors at the graph's ends, their edges, and their indices by identity.

    A tensor that is several of leaf, output and base is drawn once, as the first of these. The indices hold while the
    caller holds the graph, which keeps the identities taken.
    """
    tensors: list[Node] = []
    edges: list[Edge] = []
    ends: dict[int, int] = {}

    def end(kind: NodeKind, tensor: Any) -> tuple[int, bool]:
        new = id(tensor) not in ends
        if new:
            ends[id(tensor)] = len(walked.nodes) + len(tensors)
            tensors.append(Node(ends[id(tensor)], kind, "", names.get(id(tensor)), info_of(tensor)))
        return ends[id(tensor)], new

    for i, op in enumerate(walked.ops):
        if op == SINK:
            edges.append(Edge(end("leaf", walked.nodes[i].variable)[0], i))
    maker = {tensor.grad_fn: 0 for tensor in (*outputs, *bases.values())}
    for i, node in enumerate(walked.nodes):
        if node in maker:
            maker[node] = i
    kinds: tuple[tuple[NodeKind, Any], ...] = (("output", outputs), ("base", bases.values()))
    for kind, some in kinds:
        for tensor in some:
            index, new = end(kind, tensor)
            if new and tensor.grad_fn is not None:
                edges.append(Edge(maker[tensor.grad_fn], index, int(getattr(tensor, "output_nr", 0))))
    for tensor in outputs:
        base = getattr(tensor, "_base", None)
        if base is not None:
            edges.append(Edge(ends[id(base)], ends[id(tensor)], kind="view"))
    return tensors, edges, ends


#: The attribute of a saved value, that of its raw form where it has one, what it is called, whether it counts.
Slot = tuple[str, str, str, bool]
_slots: dict[Any, tuple[Slot, ...]] = {}
#: A custom Function's saved tensors; ``saved_tensors`` alone is no setting.
_CUSTOM: Slot = "saved_tensors", "_raw_saved_tensors", "saved_tensors", True


def slots_of(node: Any) -> tuple[str, ...]:
    """The names of ``node``'s saved values."""
    return tuple(name for name, *_ in _saved_of(node) if name != "saved_tensors")


def _saved_of(node: Any) -> tuple[Slot, ...]:
    """What ``node`` saves; remembered per class unless instances answer for themselves."""
    kind = type(node)
    key = kind
    if kind.__module__ is None and hasattr(node, "_record"):  # glassgrad's: a record's kind has a face of its own
        key = node._record.kind
    slots = _slots.get(key)
    if slots is None:
        names = dir(node)
        slots = tuple([
            (name, f"_raw{name}" if f"_raw{name}" in names else "", name.removeprefix("_saved_"), "_sym_" not in name)
            for name in names if name.startswith("_saved_")
        ])  # fmt: skip
        if hasattr(kind, "saved_tensors"):
            slots += (_CUSTOM,)
        if key is not kind or not (kind.__dir__ is not object.__dir__ or hasattr(node, "__dict__")):
            _slots[key] = slots
    return slots


def contents(
    node: Any,
    names: Mapping[int, str],
    ends: Mapping[int, int],
    describe: Callable[[Any], TensorInfo] = info_of,
    by_memory: Mapping[int | None, str] = MappingProxyType({}),
) -> tuple[tuple[tuple[str, str], ...], tuple[Saved, ...]]:
    """``node``'s saved values: all of them as text, and its saved tensors as ``describe`` tells them.

    ``by_memory`` names the variables of the caller's that lie in the memory of a saved input.
    """
    attrs: list[tuple[str, str]] = []
    saved: list[Saved] = []

    def keep(slot: str, tensor: Any) -> None:
        key = id(tensor)
        outside = slot in OPERANDS and tensor.grad_fn is None and not tensor.requires_grad
        info, name = describe(tensor), names.get(key)
        if name is None and outside:
            name = by_memory.get(info.storage)
        saved.append(Saved(slot, "ok", info, name, ends.get(key), outside))

    for name, raw, slot, counts in _saved_of(node):
        state, value = unpack(node, name, raw)
        if state != "ok":
            attrs.append((slot, f"[{state}]"))
            if counts:  # sizes are what glassgrad reads off the saved tensor
                saved.append(Saved(slot, state))
        elif is_tensor(value):
            attrs.append((slot, "[saved tensor]"))
            keep(slot, value)
        elif isinstance(value, (tuple, list)) and any(map(is_tensor, value)):
            attrs.append((slot, "[saved tensors]"))
            for i, item in enumerate(value):
                if is_tensor(item):
                    keep(f"{slot}[{i}]", item)
        elif name != "saved_tensors":
            attrs.append((slot, setting(value)))
    return tuple(attrs), tuple(saved)


def unpack(node: Any, name: str, raw: str) -> tuple[SavedState, Any]:
    """The state of the saved value ``name`` and, where it can be read without running anyone's hook, the value."""
    try:
        packed = getattr(node, raw, None) if raw else None
        if packed is not None:
            for item in packed if isinstance(packed, (tuple, list)) else (packed,):
                if getattr(item, "unpack_hook", None) is not None:
                    return "hooked", None
        return "ok", getattr(node, name)
    except RuntimeError as refused:
        return ("modified" if "modified by an inplace operation" in str(refused) else "freed"), None


def setting(value: Any) -> str:
    """A setting as text; torch hands negative dimensions out as unsigned numbers, which are turned back."""
    if isinstance(value, int) and not isinstance(value, bool) and value > 2**63:
        value -= 2**64
    return str(value)


def level_of(tensor: Any) -> Any:
    """The level of a transform of glassgrad's that is at work and that a tensor belongs to; None without one."""
    level = getattr(tensor, "level", None) if type(tensor).__module__.startswith("glassgrad.func.") else None
    return level if level is not None and level.is_alive else None


# -- the memory that tensors lie in ------------------------------------------------------------------------------------
# Numbered, so that bytes that several tensors share are counted once.


def memory_of(tensor: Any) -> Any:
    """The object that stands for the memory ``tensor`` lies in, the same for all that share it; None without one."""
    data = getattr(behind(tensor), "_array", None)
    if data is not None:  # glassgrad's array
        base = getattr(data, "base", None)
        while base is not None and hasattr(base, "nbytes") and hasattr(base, "dtype"):
            data, base = base, getattr(base, "base", None)
        return data
    try:
        return tensor.untyped_storage()
    except (RuntimeError, NotImplementedError, AttributeError):
        return None


class Memories:
    """Numbers for the memories of tensors, in the order they are met; valid while this object lives."""

    def __init__(self) -> None:
        self.number: dict[Any, int] = {}
        self.nbytes: list[int] = []
        self._kept_alive: list[Any] = []  # so that no identity is used again

    def of(self, tensor: Any) -> int | None:
        """The number of the memory ``tensor`` lies in; None where it has none of its own."""
        memory, own = memory_of(tensor), hasattr(tensor, "_array")
        try:
            key = id(memory) if own else (memory.data_ptr() or id(tensor), tensor.device)
            number = self.number.get(key)
            if number is None:
                size = int(getattr(memory, "nbytes", 0)) if own else int(memory.nbytes())
                number = self.number[key] = len(self.nbytes)
                self.nbytes.append(size)
                if own:
                    self._kept_alive.append(memory)
        except (RuntimeError, NotImplementedError, AttributeError):
            return None
        return number
