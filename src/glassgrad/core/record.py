"""The record of one operation on the graph: where its gradient gathers, where it goes on to, what its rule needs.

A record is what the hot path writes and the engine walks: one class with fixed slots, so that every access to it is
cheap.  What users see as ``grad_fn`` is a ``Node`` (``graph/node.py``) made of it when somebody asks.

An *edge* is one of: None (no gradient wanted), a record, or a leaf tensor itself (its ``AccumulateGrad`` is made when
asked for, so leaves and graphs form no cycles).  The outputs of a record with several are records of their own
(kind ``OUTPUT``), a part of a step younger, that gather into a ``Bundle``.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

from ..ground import errors

tick = count(1).__next__
new = object.__new__


class Kind:
    """What all records of one row share: name, rules on arrays and on Tensors, and what is saved where."""

    __slots__ = ("name", "run", "lifted", "saved", "arity", "outputs", "frees", "face", "row", "unfold")

    def __init__(
        self,
        name: str,
        run: Callable[..., Any],
        lifted: Callable[..., Any],
        *,
        saved: dict[str, tuple[str, Any]] | None = None,
        arity: int = 1,
        outputs: int = 1,
        frees: bool = False,
    ) -> None:
        self.name, self.run, self.lifted = name, run, lifted
        self.saved = saved or {}
        self.arity, self.outputs, self.frees = arity, outputs, frees
        self.face: type | None = None
        self.row: Any = None
        self.unfold: Callable[[Any], None] | None = None


class Record:
    """One recorded operation.

    ``run(record, gradient, keep)`` gives the gradients of its inputs as arrays; ``kind.lifted`` the same as Tensors.
    ``_gathered`` gathers the incoming gradient while the engine walks; ``e0`` and ``e1`` are the edges on (``e0`` is a
    tuple of edges where ``kind.arity`` is 0).  ``p0 ...`` are saved values, ``v0 ...`` the versions they had (-1 where
    the bare array of an input inside the graph was kept), ``k`` saved sizes and settings, ``s`` how gradients must be
    fitted to their inputs, ``cell`` the version of the result, once somebody shares its memory.
    """

    __slots__ = (
        "sequence", "run", "_gathered", "e0", "e1", "kind", "s", "k", "counter", "_about",
        "p0", "p1", "p2", "p3", "p4", "p5", "v0", "v1", "v2", "v3", "v4", "v5", "__weakref__",
    )  # fmt: skip

    sequence: float
    run: Callable[..., Any]
    _gathered: Any
    e0: Any
    e1: Any
    kind: Kind
    s: Any
    k: Any
    counter: Any
    _about: Any

    def __init__(self, kind: Kind, edges: tuple[Any, ...]) -> None:
        self.sequence, self.run, self._gathered, self.kind, self.s = tick(), kind.run, None, kind, None
        self.counter = None
        if kind.arity == 0:
            self.e0, self.e1 = edges, None
        else:
            self.e0 = edges[0]
            self.e1 = edges[1] if len(edges) > 1 else None

    @property
    def edges(self) -> tuple[Any, ...]:
        """The edges onwards, one for each differentiable input."""
        if self.kind.arity == 0:
            return self.e0
        return (self.e0,) if self.kind.arity == 1 else (self.e0, self.e1)

    def release(self) -> None:
        """Forget the saved values; the edges stay, so that the graph can still be looked at."""
        if self.kind.frees:
            self.p0 = self.p1 = self.p2 = self.p3 = self.p4 = self.p5 = None
            self.run = freed


def freed(record: Record, grad: Any, keep: bool) -> Any:
    """What a freed record answers: PyTorch's sentence."""
    raise RuntimeError(errors.FREED)


class Bundle:
    """The gradients gathering for a record with several outputs; None where none came."""

    __slots__ = ("grads",)

    def __init__(self, grads: list[Any]) -> None:
        self.grads = grads

    def __add__(self, other: Bundle) -> Bundle:
        pairs = zip(self.grads, other.grads, strict=True)
        return Bundle([b if a is None else a if b is None else a + b for a, b in pairs])


def _gather(record: Record, grad: Any, keep: bool) -> tuple[Any, None]:
    grads: list[Any] = [None] * record.s
    grads[record.k] = grad
    return Bundle(grads), None


OUTPUT = Kind("Output", _gather, _gather)


def output_of(parent: Record, index: int, total: int) -> Record:
    """The edge of output ``index`` of a record with ``total`` outputs."""
    record = new(Record)
    record.sequence = parent.sequence + (index + 1) / (total + 1)  # half steps of their own: the heap needs an order
    record.run, record._gathered, record.kind, record.s = _gather, None, OUTPUT, total
    record.e0, record.e1, record.k, record.counter = parent, None, index, None
    return record


class About:
    """What only few records have: hooks, metadata, the traceback of the forward call."""

    __slots__ = ("tensor_hooks", "retain", "pre_hooks", "post_hooks", "metadata", "inner", "home", "outputs")

    def __init__(self) -> None:
        self.tensor_hooks: dict[int, Callable[..., Any]] = {}
        self.retain: Any = None
        self.pre_hooks: dict[int, Callable[..., Any]] = {}
        self.post_hooks: dict[int, Callable[..., Any]] = {}
        self.metadata: dict[Any, Any] = {}
        self.inner: Callable[..., Any] | None = None
        self.home: Any = None
        self.outputs: list[Any] = []  # weak references to outputs that have hooks


def about(record: Any) -> About:
    """The extras of a record, made on first use."""
    extras = getattr(record, "_about", None)
    if extras is None:
        extras = record._about = About()
    return extras
