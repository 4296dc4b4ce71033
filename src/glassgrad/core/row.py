"""The one place where an operation is declared: ``@op`` makes a row of the table.

A row is a kernel on arrays (tensors before ``/``, settings after), one rule for each differentiable input, and its
spellings.  A rule may name ``grad`` (or ``grads``, of a row with several outputs), any input, any setting,
``<input>_sizes``, ``<input>_strides`` (in bytes), ``result`` (or an output's name) and ``needs`` (which gradients are
wanted): what it names is what its record saves.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, ParamSpec, Protocol, TypedDict, TypeVar, Unpack, overload

import numpy as np

from ..ground.register import Register
from .plan import FACTS, Plan

P = ParamSpec("P")
R = TypeVar("R", covariant=True)
TABLE: Register[Row] = Register()
#: The function that calls a row, and the one behind its Python operator: handed in by ``call.py``.  Each has one in its
#: field ``unheard`` that asks no listeners.
make_caller: Callable[[Row], Any] = NotImplemented
make_operator: Callable[[Row], Any] = NotImplemented
#: The kernel of a row with what its columns put before it: from kernels/columns.py.
kernel_of: Callable[[Row], Callable[..., Any]] = NotImplemented
#: What ``serves`` may name: dtypes by their ``char``.
FLOATS = "eEfd"
COMPLEX = "FD"
REALS = FLOATS + "bBhilq"  # few kernels of PyTorch serve the wider unsigned numbers


class Columns(TypedDict, total=False):
    """What an operation may say of itself in its ``@op``, besides its names."""

    # -- its spellings
    node: str | None  #: the name of its node, where it is not ``<Name>Backward0``
    operator: str | None  #: the Python operator it stands behind ("mul" for ``*``)
    inplace: bool  #: whether ``name_`` exists
    public: bool  #: False: for rules and composites only, neither a function nor a method of the public namespace
    #: settings that PyTorch once took as numbers in front of what they scale, and still takes
    formerly: tuple[str, ...]
    # -- its inputs
    typed: Literal["promote", "float"] | None  #: made of one dtype; with "float" integers become the default dtype
    strict: bool  #: Python numbers are refused, though the inputs agree on a dtype
    numbers: bool  #: it is computed of Python numbers alone too
    single: bool  #: beside half precision tensors, numbers and 0-d tensors count in float32; rounded once, at the end
    auxiliary: tuple[str, ...]  #: inputs that keep their dtype and carry no gradient: indices, masks, targets
    precision: Literal["low", "single", "widest"] | None  #: of floats in autocast: the block's, float32, the wider
    #: ``refuses(*inputs)`` raises where PyTorch refuses dtypes; never asked for tensors of one everyday dtype
    refuses: Callable[..., None] | None
    #: the dtypes that the kernel serves, as ``char``s, and its name in PyTorch's refusal of others; or what makes the
    #: whole error of the kernel's arguments, or their result where there is nothing to refuse
    serves: tuple[str, str | Callable[..., Any]] | None
    #: half precision is computed in float32 and rounded once: "single" as float32 is, "plain" by no faster form
    halves: Literal["single", "plain"] | None
    stores: bool  #: floats of eight bits are taken too, which are moved and converted, and hardly computed with
    # -- its results
    view: bool  #: the result shares the memory of the first input
    #: what PyTorch says of an ``out=`` of another dtype (of ``errors.OUT_DTYPE``); ``out=`` may then lie on the inputs.
    #: Where it is not given, a result is cast as one in place is, and no input may lie partly on ``out=``;
    #: None: there is no ``out=``; of several results each may have its own words, in the order in which PyTorch looks
    out: str | dict[str, str] | None
    disjoint: tuple[str, ...]  #: inputs that may share no memory with what is written, be it in place or ``out=``
    aligned: bool  #: though ``out`` is given, no input may lie partly on what is written
    constant: bool  #: the result never carries a gradient
    ruleless: bool  #: PyTorch has no rule of the form with ``out=``, and refuses gradients there by another name
    truth: bool  #: the result is of truth values, which can be written over any dtype
    outputs: tuple[str, ...]  #: the names of several
    differentiable: tuple[str, ...]  #: those of them that carry gradients; all, where it is not given
    indices: bool  #: the result is indices, which are int64 on every machine; so is an output of that name
    #: ``sizes(*inputs, *settings)`` are those of the result, and of places beside it: what meta tensors need, where no
    #: stand-ins tell
    sizes: Callable[..., tuple[int, ...]] | None
    #: where it lies in memory, where NumPy would have it elsewhere: row by row, in the order of the operands, in that
    #: of the first input whose channels are last, or with matrices column by column, as LAPACK leaves them
    layout: Literal["plain", "elementwise", "channels", "only channels", "columns"] | None
    # -- its rules and its node
    widens: bool  #: half precision is float32 in its rules, where numbers meet it, and gradients are rounded once
    holomorphic: bool  #: False: the rules conjugate on their own, else they are those of a holomorphic function
    #: how forward mode makes the tangent of the result (``func/tangents.py``); None: by the reverse rule, transposed
    forward: Literal["linear", "each", "reverse", "transposed"] | None
    #: how ``vmap`` serves a batch at once (``func/batching.py``); None: example by example
    batched: Literal["point", "dims", "first", "fold", "random"] | None
    hidden: tuple[str, ...]  #: what is saved, and not shown as ``_saved_`` name
    #: ``_saved_`` names derived from what is saved: ``{"self_sym_numel": ("self_sizes", math.prod)}``
    shows: dict[str, tuple[str, Callable[[Any], Any]]]
    # -- its faster forms
    #: the compiled kernel, of the same arguments, asked first where the first input is large; None: not by me
    native: Callable[..., Any] | None
    few: bool  #: it is asked where there are few elements too: it is one call where the kernel makes many
    #: a form for a few everyday numbers, of the same arguments, asked next; None: not by me
    quick: Callable[..., Any] | None
    #: what to call where the everyday call does not serve: the composition that this row is a faster form of
    fallback: Callable[..., Any] | None
    #: what turns a record of this fused row into the records of its parts, when somebody looks at the graph
    unfold: Callable[[Any], None] | None
    lenient: bool  #: the kernel takes 0-d tensors for numbers: they are read before rules keep them
    one_value: bool  #: elements that share memory may be written in place: all get the same
    #: the ufunc that the kernel is, with its settings at their defaults: what large arrays are given to by parts
    ufunc: Any
    form: str  #: the kernel as an expression of ``a0`` and ``a1``, which fast/ has in place of its call
    #: the size in ``fast/large.py`` from which an array is large; "CURVED" where kernels/native/elementary.py computes
    large: str


class Operation(Protocol[P, R]):
    """What ``@op`` makes of a kernel: the function that calls the row, from tensors to tensors."""

    row: Row
    __name__: str
    __qualname__: str

    @overload
    def __call__(self, /, *args: P.args, **kwargs: P.kwargs) -> R: ...
    @overload
    def __call__(self, /, *args: Any, out: Any, **kwargs: Any) -> R: ...
    def derivative(operation, /, *names: str, **rules: Callable[..., Any]) -> Any:  # noqa: N805
        """See :meth:`Row.derivative`."""


class _Planned:
    """A row's plan: worked out when first asked for, anew if a rule comes later; from then on a plain attribute.

    No ``cached_property``: before Python 3.12 that holds a lock, for which a forked child may wait for ever.
    """

    def __get__(self, row: Row, owner: type) -> Plan:
        plan = row.__dict__["plan"] = Plan(row)
        return plan


class Row:
    """One operation of the table: its kernel, its columns, its rules."""

    plan = _Planned()

    def __init__(
        self, kernel: Callable[..., Any], aliases: tuple[str, ...] = (), /, **columns: Unpack[Columns]
    ) -> None:
        if unknown := columns.keys() - Columns.__annotations__.keys():
            raise TypeError(f"row {kernel.__name__}: there is no column {min(unknown)!r}")
        code = kernel.__code__
        names = code.co_varnames[: code.co_argcount]
        n_inputs = code.co_posonlyargcount
        defaults = kernel.__defaults__ or ()
        default_of = dict(zip(names[len(names) - len(defaults) :], defaults, strict=True))
        outputs = columns.get("outputs", ())
        if np.intp(0).itemsize < 8 and ("indices" in outputs or columns.get("indices")):
            from ..ground.index import wide  # few machines are so narrow

            kernel = wide(kernel, outputs)
        self.plain, self.name, self.aliases = kernel, kernel.__name__, aliases
        self.native, self.few, self.quick = columns.get("native"), columns.get("few", False), columns.get("quick")
        self.serves, self.halves = columns.get("serves"), columns.get("halves")
        if self.halves not in (None, "single", "plain"):
            raise ValueError(f"row {self.name}: unknown treatment of halves {self.halves!r}")
        self.layout = columns.get("layout")
        self.laid = None
        if self.layout is not None:
            from ..ground.layout import arranged  # of which most rows need nothing

            self.laid = arranged(self.layout)
        is_plain = self.native is self.quick is self.serves is self.halves is None
        self.kernel = kernel if is_plain else kernel_of(self)
        parts = self.name.split("_")
        self.node_name = columns.get("node") or "".join(part.capitalize() for part in parts) + "Backward0"
        self.operator, self.inplace = columns.get("operator"), columns.get("inplace", False)
        self.public, self.formerly = columns.get("public", True), columns.get("formerly", ())

        self.inputs = names[:n_inputs]
        self.optional = {name for name in self.inputs if name in default_of}
        self.settings = names[n_inputs:]
        self.defaults = {name: default_of[name] for name in self.settings if name in default_of}
        self.listed = self.inputs == ("tensors",)
        self.typed, self.strict = columns.get("typed"), columns.get("strict", False)
        self.numbers = columns.get("numbers", False)
        if self.typed not in (None, "promote", "float"):
            raise ValueError(f"row {self.name}: unknown typing {self.typed!r}")
        self.single = columns.get("single", False)
        self.auxiliary = frozenset(columns.get("auxiliary", ()))
        if strange := self.auxiliary.difference(self.inputs):
            raise TypeError(f"row {self.name}: there is no auxiliary input {min(strange)!r}")
        self.precision = columns.get("precision")
        if self.precision not in (None, "low", "single", "widest"):
            raise ValueError(f"row {self.name}: unknown precision {self.precision!r}")
        self.refuses, self.stores = columns.get("refuses"), columns.get("stores", False)

        self.view, self.constant = columns.get("view", False), columns.get("constant", False)
        self.out = None if self.view else columns.get("out", "")
        self.castable, self.disjoint = not self.out, frozenset(columns.get("disjoint", ()))
        self.truth, self.aligned = columns.get("truth", False), columns.get("aligned", False)
        self.copied = False  # but what is composed of rows may be: see ``tensor/out.py``
        self.ruleless = columns.get("ruleless", False)
        self.outputs = columns.get("outputs", ())
        named = columns.get("differentiable", self.outputs)
        self.differentiable = tuple(map(self.outputs.index, named)) if self.outputs else (0,)
        self.sizes = columns.get("sizes")

        self.rules: list[tuple[tuple[str, ...], Callable[..., Any], tuple[str, ...]]] = []
        self.forward, self.batched = columns.get("forward"), columns.get("batched")
        self.tangent_rule: Callable[..., Any] | None = None
        self.tangent_names: tuple[str, ...] = ()
        self.batch_rule: Callable[..., Any] | None = None
        self.composed: Callable[..., Any] | None = None
        self.samples_rules: dict[str, tuple[tuple[str, ...], Callable[..., Any]]] = {}
        self.holomorphic, self.widens = columns.get("holomorphic", True), columns.get("widens", False)
        self.hidden, self.shows = columns.get("hidden", ()), columns.get("shows", {})

        self.fallback, self.unfold = columns.get("fallback"), columns.get("unfold")
        self.lenient = columns.get("lenient", False)
        self.one_value = columns.get("one_value", False)
        self.ufunc, self.form, self.large = columns.get("ufunc"), columns.get("form", ""), columns.get("large", "LARGE")
        self.operate: Callable[..., Any]
        self.caller: Callable[..., Any]

    # -- rules ----------------------------------------------------------------------------------------------------

    def derivative(row, /, *names: str, **rules: Callable[..., Any]) -> Any:  # noqa: N805  a rule may be for the input `self`
        """One rule for each input: ``row.derivative(self=lambda grad, other: grad * other, ...)``.

        The long form decorates a function: ``@row.derivative("self")``; with several inputs the one function gives the
        gradients of all of them, as a tuple.
        """
        if names:

            def take(rule: Callable[..., Any]) -> Callable[..., Any]:
                row._add(names, rule)
                return rule

            return take
        for name, rule in rules.items():
            if rule.__name__ == "<lambda>":
                rule.__name__ = f"{row.name}.{name}"
            row._add((name,), rule)
        return None

    def tangent(row, rule: Callable[..., Any]) -> Callable[..., Any]:  # noqa: N805
        """A forward rule: it names inputs, their tangents (``self_t``; None where there is none), settings, results."""
        code = rule.__code__
        row.tangent_names = code.co_varnames[: code.co_argcount]
        known = {*row.inputs, *(f"{name}_t" for name in row.inputs), *row.settings, *row.outputs, "result"}
        if strange := set(row.tangent_names) - known:
            raise TypeError(f"row {row.name}: the forward rule names '{min(strange)}', which the row does not have")
        row.tangent_rule = rule
        return rule

    def batch(row, rule: Callable[..., Any]) -> Callable[..., Any]:  # noqa: N805
        """A rule for a batch: ``rule(size, batched, *inputs, *settings)``, see ``func/batching.py``."""
        row.batch_rule = rule
        return rule

    def composition(row, function: Callable[..., Any]) -> Callable[..., Any]:  # noqa: N805
        """What the row computes, written in other rows: what ``vmap`` takes for it where no rule serves."""
        row.composed = function
        return function

    def samples(row, name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:  # noqa: N805
        """A rule for the gradients of input ``name`` that samples give, which lie along dimension 0 of the result.

        It may name ``grad``, whatever the reverse rules save, and ``apart``, which has the samples of an array along a
        new first dimension, as the rule's answer has them.  Two arrays (samples, positions, m) and (.., n) stand for
        the sums of outer products over the positions.  See ``func/per_sample.py``.
        """

        def take(rule: Callable[..., Any]) -> Callable[..., Any]:
            row.samples_rules[name] = rule.__code__.co_varnames[: rule.__code__.co_argcount], rule
            return rule

        return take

    def _add(self, names: tuple[str, ...], rule: Callable[..., Any]) -> None:
        code = rule.__code__
        known = {*self.inputs, *self.settings, *self.outputs, "grad", "grads", "result", "needs"}
        known |= {f"{name}_{fact}" for name in self.inputs for fact in FACTS}
        wanted = code.co_varnames[: code.co_argcount]
        for name in (*names, *wanted):
            if name not in known:
                raise TypeError(f"row {self.name}: the rule of {names} names '{name}', which the row does not have")
        self.rules.append((names, rule, wanted))
        self.__dict__.pop("plan", None)

    def __repr__(self) -> str:
        return f"<row {self.name}>"


def op(*aliases: str, **columns: Unpack[Columns]) -> Callable[[Callable[P, R]], Operation[P, R]]:
    """Declare the kernel below as an operation, with its :class:`Columns`; gives its caller.

    The aliases are further names of the function.
    """

    def declare(kernel: Callable[P, R]) -> Operation[P, R]:
        row = Row(kernel, aliases, **columns)
        if TABLE.is_taken(row.name):
            raise TypeError(f"row {row.name} is declared twice")
        TABLE[row.name] = row
        caller: Operation[P, R] = _named(row, make_caller(row), row.name)
        row.caller = caller
        if row.operator is not None:
            row.operate = _named(row, make_operator(row), f"__{row.operator}__")
        return caller

    return declare


def _named(row: Row, function: Any, name: str) -> Any:
    """A function of a row with its name, its document line, and the row."""
    function.__name__ = function.__qualname__ = name
    function.__doc__, function.__module__ = row.kernel.__doc__, row.kernel.__module__
    function.row, function.derivative = row, row.derivative
    return function
