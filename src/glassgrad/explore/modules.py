"""Calls of modules told without a recording, floor 8: from whose parameters an operation uses, and when it was done.

A call of a module is a stretch of time, so what is told here is one too: cards made of stretches never force a circle.
What lies between two modules belongs to the module around both; containers, which compute nothing, give it to the
block before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from .model import Node, Scope
from .walk import SINK, Inputs

#: Operations that only turn or reshape a parameter on its way to the one that uses it.
TURNS = {
    "T", "Transpose", "Permute", "View", "UnsafeView", "Expand", "ToCopy", "Clone", "Alias", "Squeeze", "Unsqueeze",
    "Slice", "Select", "Split", "Chunk", "UnsafeSplit", "SplitWithSizes", "Unbind",
}  # fmt: skip
RESHAPES = {"View", "UnsafeView", "ReshapeAlias"}
PRODUCTS = {"Addmm", "Mm", "Bmm", "Addbmm", "Baddbmm"}
LOOKUPS = {"Embedding", "EmbeddingBag"}
#: Modules that hold others and are never called.
SHELVES = {"ModuleList", "ModuleDict", "ParameterList", "ParameterDict"}
_GATES = {"Add", "UnsafeSplit", "UnsafeChunk", "Split", "Sigmoid", "Tanh", "Relu", "Mul", "Sub", "Rsub"}
_LISTS = {"Unbind", "Stack", "Cat", "Transpose", "Squeeze", "Unsqueeze"}
#: Modules of several operations, and how many come after the last that uses a parameter, of which kinds.
CELLS = {
    "LSTMCell": (11, _GATES), "GRUCell": (14, _GATES), "RNNCell": (2, _GATES),
    "MultiheadAttention": (2, {"View", "Transpose"}),
    "LSTM": (1 << 30, _GATES | _LISTS), "GRU": (1 << 30, _GATES | _LISTS), "RNN": (1 << 30, _GATES | _LISTS),
}  # fmt: skip
#: And of which kinds those before the first are.
HEADS = {"MultiheadAttention": {"Transpose", "Clone", "UnsafeView", "View"}}
MANY = {"MultiheadAttention", "LSTM", "GRU", "RNN"}  # library's layers that use a parameter again and again
#: What layers without parameters do, where the operation is not called as they are.
DONE_BY = {
    "flatten": ("view", "reshapealias", "unsafeview"), "unflatten": ("view",),
    "dropout": ("mul", "div", "nativedropout"),
    "adaptiveavgpool2d": ("mean",), "adaptiveavgpool1d": ("mean",), "dropout2d": ("mul", "div", "featuredropout"),
}  # fmt: skip


def scopes_by_parameters(
    nodes: Sequence[Node], inputs: Sequence[Inputs], model: Any, leaves: Mapping[int, Any]
) -> tuple[tuple[Node, ...], tuple[Scope, ...]]:
    """The nodes with the module calls they belong to, as far as a model's parameters tell.

    ``nodes`` are in the order of the backward pass, ``inputs`` what each was made from, ``leaves`` the tensor behind
    each AccumulateGrad.
    """
    if not hasattr(model, "named_modules") or type(model).__name__ in SHELVES:
        return tuple(nodes), ()
    owners: dict[int, list[str]] = {}  # a tied parameter has several
    for path, module in model.named_modules():
        for parameter in module.parameters(recurse=False):
            owners.setdefault(id(parameter), []).append(path)
    names = {i: owners[id(leaf)] for i, leaf in leaves.items() if id(leaf) in owners}
    timeline = _Timeline(nodes, inputs, _Modules(model), names)
    timeline.anchor()
    if all(path is None for path in timeline.path):
        return tuple(nodes), ()
    timeline.fill()
    timeline.hand_over()
    timeline.finish()
    scopes, home = timeline.calls()
    moved = [replace(node, scope=home[i]) if i in home else node for i, node in enumerate(nodes)]
    return tuple(moved), scopes


class _Modules:
    """What is asked of a model's modules: classes, what is around them, the order of children."""

    def __init__(self, model: Any) -> None:
        self.modules = dict(model.named_modules())
        self.cls = {path: type(module).__name__ for path, module in self.modules.items()}
        self.children = {path: [n for n, _ in module.named_children()] for path, module in self.modules.items()}
        self.place = {path: {name: n for n, name in enumerate(names)} for path, names in self.children.items()}
        self._chains: dict[str, list[str]] = {}
        self.bare = {
            path for path, module in self.modules.items() if path and not any(True for _ in module.parameters())
        }

    def chain(self, path: str) -> list[str]:
        """The modules around ``path`` that can be called, the model first, itself last."""
        known = self._chains.get(path)
        if known is None:
            parts = path.split(".") if path else []
            around = [".".join(parts[:n]) for n in range(len(parts) + 1)]
            known = [one for one in around if one in self.modules and self.cls[one] not in SHELVES]
            self._chains[path] = known
        return known

    def common(self, a: str, b: str) -> str:
        """The innermost module, shelf or not, around both."""
        shared = []
        for one, other in zip(a.split("."), b.split("."), strict=False):
            if one != other:
                break
            shared.append(one)
        return ".".join(shared)

    def is_single(self, path: str) -> bool:
        """Whether a call of the module is over when its parameters were used once: a layer, or a cell."""
        module = self.modules[path]
        library = type(module).__module__.split(".")[0] in ("torch", "glassgrad")
        return library and not self.children[path] and self.cls[path] not in MANY

    def does(self, path: str, family: str) -> bool:
        """Whether a layer without parameters may have done an operation of that kind."""
        cls, op = self.cls[path].lower(), family.lower()
        return op.startswith(cls) or cls.startswith(op) or op in DONE_BY.get(cls, ())

    def beside(self, path: str, apart_from: str | None, after: bool) -> list[tuple[str, str]]:
        """The layers without parameters right after (or before) ``path`` in the Sequentials around it, the nearest
        first, each with its Sequential; those around ``apart_from`` too are left out."""
        layers: list[tuple[str, str]] = []
        chain = self.chain(path)
        for around, inner in zip(reversed(chain[:-1]), reversed(chain[1:]), strict=True):
            if self.cls[around] != "Sequential":
                break
            if apart_from is not None and around in self.chain(apart_from):
                break
            stem = f"{around}." if around else ""
            names = self.children[around]
            at = self.place[around][inner[len(stem) :].split(".")[0]]
            for name in names[at + 1 :] if after else names[:at][::-1]:
                if stem + name not in self.bare:
                    return layers
                layers.append((stem + name, around))
        return layers


class _Timeline:
    """The operations in the order they were done, each with the path of its module; None where nothing tells."""

    def __init__(
        self, nodes: Sequence[Node], inputs: Sequence[Inputs], modules: _Modules, names: Mapping[int, list[str]]
    ) -> None:
        self.nodes, self.inputs, self.modules, self.names = nodes, inputs, modules, names
        self.turned: dict[int, list[int]] = {}  # the parameters behind an operation that only turns them
        self.time = self._in_order()
        self.at = {i: t for t, i in enumerate(self.time)}
        self.anchored: set[int] = set()  # those that a parameter tells the module of
        self.path: list[str | None] = [None] * len(inputs)
        self.used: list[list[int]] = [[] for _ in inputs]  # the AccumulateGrads that an operation uses, turned or not
        self.users: list[list[int]] = [[] for _ in inputs]
        for i, below in enumerate(inputs):
            for edge in below:
                if edge is not None:
                    self.users[edge[0]].append(i)

    def _in_order(self) -> list[int]:
        """The operations as they were done; one that only turns a parameter right before the one that uses it."""
        time: list[int] = []
        waiting: set[int] = set()
        for i in range(len(self.inputs) - 1, -1, -1):
            if self.nodes[i].op == SINK:
                continue
            uses = self._parameters_of(i)
            if uses and len(self.inputs[i]) == 1 and self.family(i) in TURNS:
                self.turned[i] = uses
                waiting.add(i)
                continue
            chain = [i]
            for j in chain:  # grows while it is read
                for edge in self.inputs[j]:
                    if edge is not None and edge[0] in waiting:
                        waiting.remove(edge[0])
                        chain.append(edge[0])
            time += reversed(chain)
        return time + sorted(waiting, reverse=True)

    def _parameters_of(self, i: int) -> list[int]:
        """The AccumulateGrads of the parameters that operation ``i`` uses, be they turned or not."""
        below = [edge[0] for edge in self.inputs[i] if edge is not None]
        return [sink for j in below for sink in ([j] if j in self.names else self.turned.get(j, ()))]

    def family(self, i: int) -> str:
        return self.nodes[i].op.rpartition("Backward")[0] or self.nodes[i].op

    def anchor(self) -> None:
        """The module of every operation that uses parameters of one."""
        for i in self.time:
            self.used[i] = [edge[0] for edge in self.inputs[i] if edge is not None and edge[0] in self.names]
            uses = self._parameters_of(i)
            if uses and i not in self.turned and (len(self.inputs[i]) > 1 or self.family(i) in LOOKUPS):
                self.path[i] = self._owner(i, uses)  # a norm of the weights, of one input, is no call
        for i in reversed(self.time):
            if i in self.turned:
                paths = {self.path[j] for j in self.users[i]} - {None}
                if len(paths) == 1:
                    self.path[i] = paths.pop()
        for i in self.time:  # a linear layer folds many dimensions into two, and unfolds them again
            if self.family(i) in RESHAPES and self.path[i] is None:
                self.path[i] = self._folding(i)
        self.anchored = {i for i in self.time if self.path[i] is not None}

    def _owner(self, i: int, uses: list[int]) -> str | None:
        """The module whose parameters they are; of a tied one, the module that does such an operation."""
        look = self.family(i) in LOOKUPS
        path: str | None = None
        for sink in uses:
            owners = self.names[sink]
            fitting = [one for one in owners if ("Embedding" in self.modules.cls[one]) == look]
            owner = (fitting or owners)[0]
            around = owner.rpartition(".")[0]
            if self.modules.cls[around] in MANY:  # uses the weights of its parts, and does not call them
                owner = around
            path = owner if path is None else self.modules.common(path, owner)
        return path

    def _shape(self, i: int) -> tuple[int, ...]:
        outputs = self.nodes[i].outputs
        return outputs[0].shape if outputs else ()

    def _folding(self, i: int) -> str | None:
        """The linear layer that operation ``i`` folds its input for, or whose result it unfolds."""
        producers = [edge[0] for edge in self.inputs[i] if edge is not None]
        for j, whole, folded in [(j, self._shape(i), self._shape(j)) for j in producers] + [
            (j, self._shape(k), self._shape(i)) for j in self.users[i][:1] for k in producers
        ]:
            if self.family(j) in PRODUCTS and self.path[j] is not None and self.modules.is_single(self.path[j] or ""):
                if not whole or len(folded) == 2 and len(whole) > 2 and whole[-1] == folded[-1]:
                    return self.path[j]
        return None

    def fill(self) -> None:
        """What lies between two modules belongs to the one around both; a container hands it to the block before."""
        before: int | None = None
        gap: list[int] = []
        for i in self.time:
            if self.path[i] is None:
                gap.append(i)
                continue
            if before is not None and gap:
                self._between(before, i, gap)
            before, gap = i, []

    def _between(self, before: int, after: int, gap: list[int]) -> None:
        a, b = self.path[before] or "", self.path[after] or ""
        modules = self.modules
        around = modules.common(a, b)
        if a == b and modules.is_single(a):
            gap = gap[self._cell_tail(before, gap) :]
            around = a.rpartition(".")[0]
        elif a != b:
            gap = gap[self._cell_tail(before, gap) :]
            gap = gap[self._layers(gap, modules.beside(a, b, True)) :]
            gap = gap[: len(gap) - self._cell_head(after, gap)]
            gap = gap[: len(gap) - self._layers(gap[::-1], modules.beside(b, a, False))]
            block = self._block_before(around, a, b)
            if block is not None:
                own = self._depending(before, gap, block)
                for i in gap[:own]:
                    self.path[i] = block
                gap = gap[own:]
        around = modules.chain(around)[-1]
        for i in gap:
            self.path[i] = around

    def _layers(self, gap: list[int], layers: list[tuple[str, str]]) -> int:
        """Give layers without parameters the operations that they did, in this order; how many these are."""
        count = 0
        for layer, around in layers:
            while count < len(gap) and self.modules.does(layer, self.family(gap[count])):
                self.path[gap[count]] = around
                count += 1
        return count

    def _cell_head(self, after: int, gap: list[int]) -> int:
        """Give the module of operation ``after`` the operations that begin its call; how many they are."""
        families = HEADS.get(self.modules.cls[self.path[after] or ""], ())
        count = 0
        while count < len(gap) and self.family(gap[-1 - count]) in families:
            self.path[gap[-1 - count]] = self.path[after]
            count += 1
        return count

    def _block_before(self, around: str, a: str, b: str) -> str | None:
        """The block that owns what lies between its parameters and the next block's in a container; None for none."""
        cls, children = self.modules.cls[around], self.modules.children[around]
        if cls not in SHELVES and cls != "Sequential":
            return None
        skip = len(around) + 1 if around else 0
        first, second = a[skip:].split(".")[0], b[skip:].split(".")[0]
        if first not in children or second not in children:
            return None
        low, high = children.index(first), children.index(second)
        stem = f"{around}." if around else ""
        if cls == "Sequential" and any(stem + name in self.modules.bare for name in children[low + 1 : high]):
            return None  # a layer without parameters stands between
        block = stem + first
        while self.modules.cls[block] == "Sequential" and a != block:
            block = f"{block}.{a[len(block) + 1 :].split('.')[0]}"
        return None if self.modules.is_single(block) else block

    def _depending(self, before: int, gap: list[int], block: str) -> int:
        """How many of the operations in ``gap`` come before the last that was made from what the block did."""
        inside: set[int] = set()
        for t in range(self.at[before], -1, -1):  # this call of the block
            path = self.path[self.time[t]]
            if path is None or path != block and not path.startswith(block + "."):
                break
            inside.add(self.time[t])
        last = 0
        for number, i in enumerate(gap):
            if any(edge is not None and edge[0] in inside for edge in self.inputs[i]):
                inside.add(i)
                last = number + 1
        return last

    def _cell_tail(self, before: int, gap: list[int]) -> int:
        """Give the cell of operation ``before`` the operations that end its call; how many they are."""
        path = self.path[before]
        most, families = CELLS.get(self.modules.cls[path or ""], (0, set()))
        count = 0
        while count < min(most, len(gap)) and self.family(gap[count]) in families:
            self.path[gap[count]] = path
            count += 1
        return count

    def hand_over(self) -> None:
        """Blocks of one class end alike: what the others end with, the last one does."""
        ends: dict[str, tuple[str, ...]] = {}
        runs = self._runs()
        for block, run in runs:
            tail = tuple(self.family(i) for i in run[self._last_anchored(block, run) + 1 :])
            if tail:
                ends.setdefault(self.modules.cls[block], tail)
        for block, run in runs:
            tail = ends.get(self.modules.cls[block], ())
            start = self.at[run[-1]] + 1
            following = self.time[start : start + len(tail)]
            if not tail or self._last_anchored(block, run) < len(run) - 1:
                continue
            if tuple(self.family(i) for i in following) == tail and self.anchored.isdisjoint(following):
                for i in following:
                    self.path[i] = block

    def _last_anchored(self, block: str, run: list[int]) -> int:
        last = len(run) - 1
        while last > 0 and self.path[run[last]] == block and run[last] not in self.anchored:
            last -= 1
        return last

    def _runs(self) -> list[tuple[str, list[int]]]:
        """The blocks that stand in containers, with their operations in one stretch of time each."""
        runs: list[tuple[str, list[int]]] = []
        for i in self.time:
            path = self.path[i]
            block = None if path is None else self._block_of(path)
            if block is None:
                continue
            if runs and runs[-1][0] == block:
                runs[-1][1].append(i)
            else:
                runs.append((block, [i]))
        return runs

    def _block_of(self, path: str) -> str | None:
        """The outermost module with parts of its own around ``path`` that stands in a container."""
        parts = path.split(".") if path else []
        for n in range(1, len(parts) + 1):
            one, around = ".".join(parts[:n]), ".".join(parts[: n - 1])
            cls = self.modules.cls
            if cls[around] in SHELVES or cls[around] == "Sequential":
                if cls[one] not in SHELVES and cls[one] != "Sequential" and not self.modules.is_single(one):
                    return one
        return None

    def finish(self) -> None:
        """What follows the last parameter belongs to a model that has layers of that kind left; the loss does not."""
        last = max(t for t, i in enumerate(self.time) if self.path[i] is not None)
        rest = self.time[last + 1 :]
        rest = rest[self._cell_tail(self.time[last], rest) :]
        rest = rest[self._layers(rest, self.modules.beside(self.path[self.time[last]] or "", None, True)) :]
        left = [one for one in self.modules.bare if "loss" not in self.modules.cls[one].lower()]
        for i in rest:
            if not any(self.modules.does(one, self.family(i)) for one in left):
                break
            self.path[i] = ""

    def calls(self) -> tuple[tuple[Scope, ...], dict[int, int]]:
        """The calls as scopes, and the scope of each operation."""
        scopes: list[Scope] = []
        home: dict[int, int] = {}
        numbers: Counter[str] = Counter()
        stack: list[_Call] = []
        for i in self.time:
            path = self.path[i]
            if path is None:
                stack.clear()
                continue
            chain = self.modules.chain(path)
            depth = 0
            while depth < min(len(stack), len(chain)) and stack[depth].path == chain[depth]:
                if stack[depth].is_over(self, chain, i):
                    break
                depth += 1
            del stack[depth:]
            for one in chain[depth:]:
                parent = stack[-1].scope if stack else None
                stack.append(_Call(one, len(scopes)))
                scopes.append(Scope(len(scopes), parent, one, self.modules.cls[one], numbers[one]))
                numbers[one] += 1
            for call, inner in zip(stack, [*chain[1:], None], strict=True):
                call.note(self, inner, i)
            home[i] = stack[-1].scope
        return tuple(scopes), home


class _Call:
    """A call while the timeline is read: what it used so far."""

    __slots__ = ("at", "path", "scope", "used")

    def __init__(self, path: str, scope: int) -> None:
        self.path, self.scope = path, scope
        self.used: set[int] = set()
        self.at = -1  # the last child that a Sequential called

    def is_over(self, timeline: _Timeline, chain: list[str], i: int) -> bool:
        """Whether operation ``i`` begins another call of the module."""
        if timeline.modules.is_single(self.path):
            return bool(self.used.intersection(timeline.used[i]))
        child = self._child(timeline, chain[chain.index(self.path) + 1] if chain[-1] != self.path else None)
        return child is not None and child < self.at

    def note(self, timeline: _Timeline, inner: str | None, i: int) -> None:
        """Operation ``i`` is part of the call, within its part ``inner``."""
        self.used.update(timeline.used[i])
        child = self._child(timeline, inner)
        if child is not None:
            self.at = child

    def _child(self, timeline: _Timeline, inner: str | None) -> int | None:
        """The place of a part of a Sequential."""
        if inner is None or timeline.modules.cls[self.path] != "Sequential":
            return None
        name = inner[len(self.path) + 1 if self.path else 0 :].split(".")[0]
        return timeline.modules.place[self.path][name]
