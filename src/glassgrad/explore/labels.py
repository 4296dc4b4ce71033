"""What to call the nodes and values of a graph, floor 8: given names, the caller's variables, numbers, short text."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import count
from typing import Any

from ..ground.output import whole_letters
from .read import as_tensors, behind
from .source import assigned, operands, users_around
from .walk import SINK, Walk, family, is_tensor, op_name

NamedTensors = Mapping[str, Any] | Iterable[tuple[str, Any]] | None


class Labels:
    """The names of one graph's operations, leaves and named results.

    A leaf without a name is called ``leaf1``, ``leaf2`` ... in the order of first use; operations of one name have the
    numbers that ``graph_text`` and the page give them, from 0 at the root.
    """

    def __init__(self, walked: Walk, names: NamedTensors = None) -> None:
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


# -- what tensors are called -------------------------------------------------------------------------------------------
# By the caller's names, by its variables, and by the recorded lines.

MOST = 10_000  # variables of the caller's that are looked through
FEW = 64  # entries of a list or a dict whose tensors are named by their place


def pairs(names: Any, caller: str, word: str = "params") -> list[tuple[str, Any]]:
    """Names and tensors out of a mapping (``locals()`` too) or of pairs; TypeError where no value is a tensor."""
    if names is None:
        return []
    try:
        items = list(names.items() if isinstance(names, Mapping) else names)
        known = [(str(name), value) for name, value in items]
    except (TypeError, ValueError):
        kind = type(names).__name__
        raise TypeError(f"{caller}(): {word} must be a dict of names and tensors, but got {kind}") from None
    tensors = [(name, behind(value)) for name, value in known if is_tensor(value)]
    if known and not tensors and not any(hasattr(type(value), "named_parameters") for _, value in known):
        name, value = known[0]
        raise TypeError(f"{caller}(): {word}[{name!r}] must be a tensor, but got {type(value).__name__}")
    return tensors + list(_inside(known))


def caller_names(names: Any, params: Any, caller: str) -> list[tuple[str, Any]]:
    """The caller's ``names=`` and ``params=``, which are one argument by two names."""
    return [*pairs(names, caller, "names"), *pairs(params, caller)]


def callers_variables() -> list[tuple[str, Any]]:
    """The tensors among the variables of the user's function that is asking: its own, then the globals it reads."""
    frame = next(users_around(sys._getframe(1)), None)
    if frame is None:
        return []
    read = {name: frame.f_globals[name] for name in frame.f_code.co_names if name in frame.f_globals}
    visible = {**frame.f_locals, **{name: value for name, value in read.items() if name not in frame.f_locals}}
    variables = [(n, v) for n, v in visible.items() if n.isidentifier() and not n.startswith("_")][:MOST]
    return [(n, behind(v)) for n, v in variables if is_tensor(v)] + list(_inside(variables))


def _inside(variables: Iterable[tuple[str, Any]]) -> Iterable[tuple[str, Any]]:
    """The tensors in the lists, dicts and modules among some variables."""
    for name, value in variables:
        if isinstance(value, (list, tuple)) and len(value) <= FEW:
            yield from ((f"{name}[{i}]", piece) for i, piece in enumerate(value) if is_tensor(piece))
        elif isinstance(value, dict) and len(value) <= FEW:
            yield from ((f"{name}[{key!r}]", piece) for key, piece in value.items() if is_tensor(piece))
        elif not isinstance(value, type) and hasattr(type(value), "named_parameters"):
            yield from ((f"{name}.{path}", tensor) for path, tensor in value.named_parameters())


class Names:
    """The names of tensors: given ones first, then the model's, the caller's variables, and those of recorded lines."""

    def __init__(self, named: Iterable[tuple[str, Any]] = (), record: Any = None) -> None:
        self.pairs = list(named)
        self.record = record
        self.by_id: dict[int, str] = {}
        for name, tensor in self.pairs:
            self.by_id.setdefault(id(tensor), name)
        self._outside: dict[int, str] | None = None
        self._assigned: dict[tuple[int, int], str | None] = {}  # by the code's identity: codes hash slowly

    def of(self, tensor: Any, otherwise: str = "") -> str:
        """What ``tensor`` is called; ``otherwise`` where nothing tells."""
        name = self.by_id.get(id(tensor))
        if name is None:
            name = self._recorded(tensor)
            if name in self.by_id.values():  # a name that stands for another tensor by now
                name = ""
        return name or otherwise

    def of_call(self, index: int) -> str:
        """What the result of a recorded call is called, or a tensor from outside that calls were given."""
        call = self.record.calls[index]
        tensor = call.ref() if call.ref is not None else None
        known = self.by_id.get(id(tensor)) if tensor is not None else None
        if known:
            return known
        if call.name:
            code, at = call.user
            if code is not None and call.seat[1] is code:
                place = id(code), at
                if place not in self._assigned:
                    self._assigned[place] = assigned(code, at)
                if name := self._assigned[place]:
                    return name
        if self._outside is None:
            self._outside = dict(self._operands())
        return self._outside.get(index, "")

    def _recorded(self, tensor: Any) -> str:
        call = self.record.producer(tensor) if self.record is not None else None
        return "" if call is None else self.of_call(call.index)

    def _operands(self) -> Iterable[tuple[int, str]]:
        """The names that recorded lines have for tensors from outside, the first line's last."""
        calls = self.record.calls
        for call in reversed(calls):
            code, step = call.user if call.name else (None, -1)
            if code is not None and call.seat[1] is code:
                for at, name in zip(call.inputs, operands(code, step, len(call.inputs)), strict=False):
                    if name:
                        yield at, name
