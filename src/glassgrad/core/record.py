"""The record of one operation: where its gradients go on to, what its rules need, how they must fit.

An operation that is differentiated writes a record, and the engine walks the records back.  What users see as
``grad_fn`` is a ``Node`` (``tensor/node.py``), made of a record when somebody asks for it.

An *edge* is one of: None (no gradient wanted), a record, or a leaf tensor itself.  A leaf's ``AccumulateGrad`` is made
when asked for, so leaves and graphs form no cycles.  The outputs of a record with several are records of their own
(kind ``OUTPUT``), a part of a step younger, whose gradients gather in a ``Bundle``.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

from ..ground import errors

tick = count(1).__next__


class VersionCounter:
    """How often one buffer was written in place, shared by every tensor that sees the buffer.

    ``writer`` tells who wrote last: a weak reference to the write's record, or None where it was not recorded.
    """

    __slots__ = ("version", "writer", "__weakref__")

    def __init__(self, version: int = 0) -> None:
        self.version = version
        self.writer: Any = None


class Kind:
    """What all records of one operation share.

    name     of the node, such as ``MulBackward0``
    run      ``run(record, grad, retain_graph)``: the gradients of the inputs as arrays, one for each edge
    lifted   the same as Tensors, by recorded operations
    shown    what users read as ``_saved_<name>``: ("tensor" | "result" | "constant", slot), or what is "derived" of one
    outputs  how many outputs gather gradients
    frees    whether a walk that keeps nothing has something to let go of
    spares   whether a record may have saved nothing, as only inputs are followed whose rules read nothing
    part     ``part(record, grad, retain_graph, lifted, wanted)``: the same of the edges alone that are ``wanted``, if
             it can
    row      the row of the table, if the record is of one
    unfold   turns a fused record into those that PyTorch has, when somebody looks at the graph
    face     the class of its nodes, made on first use
    """

    __slots__ = ("name", "run", "lifted", "shown", "outputs", "frees", "spares", "part", "row", "unfold", "face")

    def __init__(
        self,
        name: str,
        run: Callable[..., Any],
        lifted: Callable[..., Any],
        *,
        shown: dict[str, tuple[str, Any]] | None = None,
        outputs: int = 1,
        frees: bool = False,
    ) -> None:
        self.name, self.run, self.lifted = name, run, lifted
        self.shown = shown or {}
        self.outputs, self.frees, self.spares = outputs, frees, False
        self.part: Callable[..., Any] | None = None
        self.row: Any = None
        self.unfold: Callable[[Any], None] | None = None
        self.face: type | None = None


class Record:
    """One recorded operation.

    sequence  its number, counted up: the engine runs the highest first
    run       the way back: the kind's, or ``plan.gradients``, until the record is freed or somebody hooks it
    edges     where the gradients of its differentiable inputs go on to
    saved     what its rules need, flat: value, version, value, version ...  A value is a Tensor, a packed one, None, or
              a bare array: of a result, or (version -1, in printed calls) of an input whose history is an edge; of a
              listed row it is a tuple of Tensors, and a tuple of versions; one of several outputs has its counter there
    fit       how gradients must be fitted to the inputs: None (they fit), a tuple of sizes, or a ``Fitting``
    constants  sizes and settings that its rules need
    counter   the version counter of its result, once somebody shares the memory
    _gathered where a quick walk gathers the gradient; leaves have such a field too
    _hooks    its hooks and metadata, once it has some; ``_home`` what ``views.py`` notes of a write through a view
    """

    __slots__ = (
        "sequence", "run", "kind", "edges", "saved", "fit", "constants", "counter", "_gathered", "_hooks", "_home",
        "__weakref__",
    )  # fmt: skip

    sequence: float
    run: Callable[..., Any]
    kind: Kind
    edges: tuple[Any, ...]
    saved: Any
    fit: Any
    constants: tuple[Any, ...]
    counter: Any
    _gathered: Any
    _hooks: Any
    _home: Any

    def __lt__(self, other: Record) -> bool:
        """No: heaps ask of those of one sequence, which stand for one output whose result was unpacked again."""
        return False

    @staticmethod  # no constructor of its own: without one, Python makes the object in three quarters of the time
    def of(kind: Kind, edges: tuple[Any, ...], constants: tuple[Any, ...] = ()) -> Record:
        """A record that is a tick younger than all before it, and has saved nothing yet."""
        record = Record()
        record.sequence, record.run, record.kind = tick(), kind.run, kind
        record.edges, record.saved, record.constants = edges, (), constants
        record.fit = record.counter = record._gathered = None
        return record

    def release(self) -> None:
        """Forget the saved values; the edges stay, so that the graph can still be looked at."""
        kind = self.kind
        if kind.frees and not (kind.spares and all([value is None for value in self.saved[::2]])):
            self.saved = None
            self.run = freed


def freed(record: Record, grad: Any, retain_graph: bool) -> Any:
    """What a freed record answers: PyTorch's sentence."""
    raise RuntimeError(errors.FREED)


class Fitting:
    """How the gradients of a record are fitted to inputs whose sizes and dtypes differ.

    sizes, dtypes  those of the input behind each edge
    common         the dtype that the inputs agreed on, in which saved ones are read; None where none was needed
    conjugate      whether gradients pass the rules conjugated
    """

    __slots__ = ("sizes", "dtypes", "common", "conjugate")

    def __init__(self, sizes: Any, dtypes: Any, common: Any, conjugate: bool) -> None:
        self.sizes, self.dtypes, self.common, self.conjugate = sizes, dtypes, common, conjugate


class Bundle:
    """The gradients gathering for a record with several outputs; None where none came."""

    __slots__ = ("grads",)

    def __init__(self, grads: list[Any]) -> None:
        self.grads = grads

    def __add__(self, other: Bundle) -> Bundle:
        pairs = zip(self.grads, other.grads, strict=True)
        return Bundle([b if a is None else a if b is None else a + b for a, b in pairs])


def _gather(record: Record, grad: Any, retain_graph: bool) -> tuple[Bundle]:
    number, total = record.constants
    grads: list[Any] = [None] * total
    grads[number] = grad
    return (Bundle(grads),)


OUTPUT = Kind("Output", _gather, _gather)


def output_of(parent: Record, number: int, total: int) -> Record:
    """The edge of output ``number`` of a record with ``total`` outputs."""
    record = Record.of(OUTPUT, (parent,), (number, total))
    record.sequence = parent.sequence + (number + 1) / (total + 1)  # fractions of a step: the heap needs an order
    return record


def output_number(edge: Any) -> int:
    """Which output of its record an edge stands for."""
    return edge.constants[0] if isinstance(edge, Record) and edge.kind is OUTPUT else 0
