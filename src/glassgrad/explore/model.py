"""The neutral model of a graph, floor 8: plain frozen records that hold no tensor and know no engine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

NodeKind = Literal["op", "leaf", "output", "base", "cut", "opaque"]
EdgeKind = Literal["gradient", "view", "cut"]
SavedState = Literal["ok", "freed", "modified", "hooked"]
ScopeKind = Literal["module", "loop", "function"]
Phase = Literal["forward", "backward", "inplace", "freed", "problem"]
ProblemKind = Literal[
    "cut", "nan", "inf", "zero", "freed", "modified", "unused", "vanishing", "exploding", "dead"
]  # fmt: skip

VERSION = 1


@dataclass(frozen=True, slots=True)
class SourceLoc:
    """A place in the user's program: ``expression`` is the exact text of the call, ``code`` the line it stands in."""

    file: str
    line: int
    function: str = ""
    expression: str | None = None
    code: str | None = None

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True)
class Stats:
    """The numbers in a value or a gradient; ``low``, ``high``, ``mean`` and ``norm`` are of the finite ones."""

    count: int
    nan: int = 0
    inf: int = 0
    zero: int = 0
    low: float | None = None
    high: float | None = None
    mean: float | None = None
    norm: float | None = None

    @property
    def finite(self) -> bool:
        """Whether every number is finite."""
        return not (self.nan or self.inf)

    @property
    def all_zero(self) -> bool:
        """Whether there are numbers, and every one is zero."""
        return bool(self.count) and self.zero == self.count

    @property
    def flaw(self) -> tuple[Literal["nan", "inf"], str]:
        """What is wrong with numbers that are not all finite: as a kind of problem, and in a word."""
        return ("nan", "NaN") if self.nan else ("inf", "infinity")


@dataclass(frozen=True, slots=True)
class TensorInfo:
    """What is known of a tensor without keeping it: its shape, its dtype's bare name and its bytes.

    ``value`` is the short text of a small tensor, ``stats`` what its numbers are like, ``storage`` the number of the
    memory it lies in: tensors of one number share it.
    """

    shape: tuple[int, ...]
    dtype: str
    nbytes: int
    value: str | None = None
    stats: Stats | None = None
    storage: int | None = None

    @property
    def size_text(self) -> str:
        """The shape as it is written under a box: ``()``, ``(3)``, ``(2, 3)``."""
        return "(" + ", ".join(map(str, self.shape)) + ")"


@dataclass(frozen=True, slots=True)
class Saved:
    """One tensor that an operation keeps for its backward step.

    ``tensor`` is None unless ``state`` is ``ok``: a freed or modified value cannot be read, and one packed by
    hooks is left alone because unpacking it may compute. ``leaf`` is the index of the drawn leaf it is, if it is one;
    ``outside`` says that it is an input or a constant: a tensor that an operand was and that no gradient goes to.
    """

    slot: str
    state: SavedState
    tensor: TensorInfo | None = None
    name: str | None = None
    leaf: int | None = None
    outside: bool = False


@dataclass(frozen=True, slots=True)
class Scope:
    """Where operations were done: one call of a module, one turn of a loop, or one call of a function.

    ``path`` is the module's name in the model, the loop's place or the function's qualified name, ``cls`` the module's
    class, ``call`` the number of the call or turn, from 0.
    """

    index: int
    parent: int | None
    path: str
    cls: str
    call: int = 0
    kind: ScopeKind = "module"


@dataclass(frozen=True, slots=True)
class Node:
    """One thing of the graph: an operation of the backward graph, a leaf, an output, a viewed output's base, a cut.

    ``op`` is the operation's name (empty for tensors), ``name`` what the caller calls the tensor (of an
    operation: its result), ``seq`` the age of
    the operation (None for leaves' sinks), ``attrs`` the saved settings as (name, text). ``forward`` and ``backward``
    are its steps in the order in which the graph was built and in which gradients went back; ``grad`` is the gradient
    that arrived, ``grads_in`` what it handed to each input, ``rule`` the derivative rule as text.
    """

    index: int
    kind: NodeKind
    op: str = ""
    name: str | None = None
    tensor: TensorInfo | None = None
    seq: int | None = None
    attrs: tuple[tuple[str, str], ...] = ()
    saved: tuple[Saved, ...] = ()
    scope: int | None = None
    loc: SourceLoc | None = None
    outputs: tuple[TensorInfo, ...] = ()
    forward: int | None = None
    backward: int | None = None
    grad: TensorInfo | None = None
    grads_in: tuple[TensorInfo | None, ...] = ()
    ms: float | None = None
    rule: str | None = None
    sentence: str | None = None


@dataclass(frozen=True, slots=True)
class Edge:
    """A dependence, in the direction of the forward pass: ``dst`` was made from ``src``; gradients flow the other way.

    ``src_output`` and ``dst_input`` tell which output of ``src`` is which input of ``dst``; ``local`` is the local
    derivative as text where it is small, ``grad`` the gradient that flowed from ``dst`` to ``src``.
    """

    src: int
    dst: int
    src_output: int = 0
    dst_input: int = 0
    kind: EdgeKind = "gradient"
    local: str | None = None
    grad: TensorInfo | None = None


@dataclass(frozen=True, slots=True)
class Cut:
    """A place where a value left the graph: ``how`` (``detach``, ``no_grad``, ``item`` ...), where, and why.

    ``sources`` are the nodes whose result was cut, ``used_by`` the nodes that use what came out, ``name`` the name of
    the tensor that was cut, ``lost`` the model's parameters that get no gradient and were behind it.
    """

    index: int
    how: str
    loc: SourceLoc | None = None
    reason: str = ""
    sources: tuple[int, ...] = ()
    used_by: tuple[int, ...] = ()
    tensor: TensorInfo | None = None
    name: str | None = None
    lost: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Event:
    """One step of the timeline: of building the graph, of a write in place, of going back, of a problem."""

    step: int
    phase: Phase
    node: int | None = None
    loc: SourceLoc | None = None
    text: str = ""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that is likely wrong, in one sentence, with the node, scope and line it belongs to."""

    kind: ProblemKind
    node: int | None = None
    scope: int | None = None
    text: str = ""
    loc: SourceLoc | None = None


@dataclass(frozen=True, slots=True)
class Held:
    """One parameter of the model: its name, the index of its leaf (None where the graph does not use it).

    ``hidden`` says that a node which cannot be seen through may use it.
    """

    path: str
    node: int | None
    tensor: TensorInfo
    requires_grad: bool
    hidden: bool = False


@dataclass(frozen=True, slots=True)
class Graph:
    """A whole graph: operations first, in the order the backward pass visits them, then the tensors at its ends.

    ``level`` says how much is known: 1 the graph, 2 the model's names too, 3 what was recorded during the forward pass,
    4 an observed backward pass. ``totals`` are counts and bytes.
    """

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    outputs: tuple[int, ...]
    engine: str
    scopes: tuple[Scope, ...] = ()
    cuts: tuple[Cut, ...] = ()
    events: tuple[Event, ...] = ()
    problems: tuple[Problem, ...] = ()
    parameters: tuple[Held, ...] = ()
    level: int = 1
    totals: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    version: int = VERSION
