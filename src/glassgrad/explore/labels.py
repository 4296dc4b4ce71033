"""What to call the nodes and values of a graph, floor 8: given names, numbers for repeated ones, short text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import count
from typing import Any

from ..ground.output import whole_letters
from .read import as_tensors
from .walk import SINK, Walk, family, op_name

Names = Mapping[str, Any] | Iterable[tuple[str, Any]] | None


class Labels:
    """The names of one graph's operations, leaves and named results.

    A leaf without a name is called ``leaf1``, ``leaf2`` ... in the order of first use; operations of one name have the
    numbers that ``graph_text`` and the page give them, from 0 at the root.
    """

    def __init__(self, walked: Walk, names: Names = None) -> None:
        pairs = names.items() if isinstance(names, Mapping) else names or ()
        self.tensors = [(whole_letters(f"{name}"), tensor) for name, tensor in pairs]
        as_tensors([tensor for _, tensor in self.tensors], "names")
        self.results: dict[tuple[Any, int], str] = {}
        self.memory: dict[Any, str] = {}  # of tensors that need no gradient
        by_id: dict[int, str] = {}
        for name, tensor in reversed(self.tensors):  # the first of two names for one tensor stays
            if tensor.grad_fn is not None:
                self.results[tensor.grad_fn, tensor.output_nr] = name
            by_id[id(tensor)] = name
            if not tensor.requires_grad:  # one that does may lend its memory to a detached alias
                self.memory[memory_key(tensor)] = name
        oldest_first = walked.nodes[::-1]
        self.operations = [node for node, op in zip(oldest_first, walked.ops[::-1], strict=True) if op != SINK]
        self.several = {node for node in self.operations if outputs_of(node) > 1}
        used = [following for node in self.operations for following, _ in node.next_functions]
        taken = {*by_id.values()}
        fresh = (name for name in map("leaf{}".format, count(1)) if name not in taken)
        self.leaves: dict[Any, str] = {}
        for node in dict.fromkeys([*used, *oldest_first]):
            if node is not None and op_name(node) == SINK:
                self.leaves[node] = by_id.get(id(node.variable)) or next(fresh)
        many = Counter(walked.ops)
        self.numbered: dict[Any, str] = {}
        for position, (node, name) in enumerate(zip(walked.nodes, walked.ops, strict=True)):
            self.numbered[node] = f"{name} #{position}" if many[name] > 1 else name

    def __getitem__(self, node: Any) -> str:
        """A leaf's name, or an operation's node name with its number."""
        return self.leaves.get(node) or self.numbered[node]

    def name_of(self, tensor: Any, otherwise: str) -> str:
        """The name given to this very tensor, or ``otherwise``."""
        return next((name for name, other in self.tensors if other is tensor), otherwise)

    def operand(self, node: Any, slot: int) -> str:
        """The name of a product's, quotient's or power's operand, or its number; ``const`` where unknown."""
        value = saved_operand(node, slot)
        if hasattr(value, "data_ptr"):
            return self._known(node, slot, value) or (as_text(value) if value.dim() == 0 else "const")
        return "const" if value is None else f"{value:.4g}"

    def named_operand(self, node: Any, slot: int) -> str | None:
        """The name of the operand ``slot`` that the node saved; None where it has none."""
        value = saved_operand(node, slot)
        return self._known(node, slot, value) if hasattr(value, "data_ptr") else None

    def _known(self, node: Any, slot: int, value: Any) -> str | None:
        """The name of a saved operand: that of the result or leaf it is, by its edge; of a constant by its memory."""
        edges = node.next_functions
        if slot < len(edges) and edges[slot][0] is not None:
            return self.results.get(edges[slot]) or self.leaves.get(edges[slot][0])
        return self.memory.get(memory_key(value))


def family_of(node: Any) -> str:
    """``Mul`` of ``MulBackward0``; a name of another form as it is."""
    return family(op_name(node))


def saved_operand(node: Any, slot: int) -> Any:
    """Operand ``slot`` of a product, quotient or power as the node saved it: a tensor, a number, or None."""
    family = family_of(node)
    if family not in ("Mul", "Div", "Pow"):
        return None
    name = "_saved_self" if slot == 0 else "_saved_exponent" if family == "Pow" else "_saved_other"
    try:
        return getattr(node, name)
    except (AttributeError, RuntimeError):  # not saved; freed or changed since
        return None


def memory_key(tensor: Any) -> tuple[Any, ...]:
    """Equal for a tensor and for the copy of it that a node hands out: same memory, shape and dtype."""
    if getattr(tensor, "_counter", 0) is None and not tensor.shape:  # glassgrad's: its address would move it
        return id(tensor._array), (), str(tensor.dtype)
    try:
        return tensor.data_ptr(), tuple(tensor.shape), str(tensor.dtype)
    except (RuntimeError, AttributeError):  # a tensor without memory of its own: inside of a transform, or sparse
        return id(tensor), (), ""


def as_text(value: Any) -> str:
    """A tensor as text: a number, a short row of numbers, or the shape of what is larger."""
    if value.dim() == 0:  # read as it is: an alias of a number that calls share would mark it as shared
        number = value.item()
        return str(number) if isinstance(number, (bool, int)) else f"{number:.4g}"
    value = value.detach()
    if value.dim() == 1 and len(value) <= 6:
        return "[" + ", ".join(as_text(entry) for entry in value) + "]"
    return f"(shape {list(value.shape)})"


def metadata_of(node: Any) -> Any:
    """What torch's node tells of its results; None for glassgrad's (its class is asked, which answers at once)."""
    return node._input_metadata if hasattr(type(node), "_input_metadata") else None


def outputs_of(node: Any) -> int:
    """How many results the operation has: torch's node tells by its metadata, glassgrad's by its record."""
    metadata = metadata_of(node)
    if metadata is not None:
        return len(metadata)
    return node._record.kind.outputs if hasattr(node, "_record") else 1


def output_counts(walked: Walk, tensors: Iterable[Any] = ()) -> list[int]:
    """How many results each operation of a walk from ``tensors`` has.

    A record of glassgrad knows only whether it has several; the edges that lead to them say how many.
    """
    totals: dict[int, int] = {}
    edges: list[Any] = [getattr(tensor, "_edge", None) for tensor in tensors]
    edges += [edge for node in walked.nodes for edge in getattr(getattr(node, "_record", None), "edges", ())]
    for edge in edges:
        if getattr(getattr(edge, "kind", None), "name", "") == "Output":
            totals[id(edge.edges[0])] = edge.constants[1]
    return [totals.get(id(getattr(node, "_record", None))) or outputs_of(node) for node in walked.nodes]
