"""The one place where an operation is declared: ``@op`` makes a row of the table; ``generate.py`` makes it fast.

A row is a kernel on arrays (tensors before ``/``, settings after), one rule for each differentiable input, and its
spellings.  A rule may name ``grad`` (or ``grads``, of a row with several outputs), any input, any setting,
``<input>_sizes``, ``result`` (or an output's name) and ``needs`` (which gradients are wanted): what it names is what
its record saves.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..ground.register import Register
from .record import Kind

TABLE: Register[Row] = Register()
make_caller: Callable[[Row], Any] = NotImplemented  # handed in by generate.py

#: How inputs are made to agree before the kernel sees them.
TYPED = (None, "promote", "float")


class Row:
    """One operation of the table."""

    def __init__(
        self,
        kernel: Callable[..., Any],
        aliases: tuple[str, ...],
        node: str | None,
        operator: str | None,
        inplace: bool,
        view: bool,
        constant: bool,
    ) -> None:
        code = kernel.__code__
        names = code.co_varnames[: code.co_argcount]
        n_inputs = code.co_posonlyargcount
        defaults = kernel.__defaults__ or ()
        default_of = dict(zip(names[len(names) - len(defaults) :], defaults, strict=True))
        self.kernel, self.name, self.aliases = kernel, kernel.__name__, aliases
        self.node_name = node or "".join(part.capitalize() for part in self.name.split("_")) + "Backward0"
        self.operator, self.inplace, self.view, self.constant = operator, inplace, view, constant
        self.inputs = names[:n_inputs]
        self.optional = {name for name in self.inputs if name in default_of}
        self.settings = names[n_inputs:]
        self.defaults = {name: default_of[name] for name in self.settings if name in default_of}
        self.listed = self.inputs == ("tensors",)
        self.typed: str | None = None
        self.apart: frozenset[str] = frozenset()
        self.outputs: tuple[str, ...] = ()
        self.differentiable: tuple[int, ...] = (0,)
        self.rules: list[tuple[tuple[str, ...], Callable[..., Any], tuple[str, ...]]] = []
        self.holomorphic = True
        self.public = True
        self.fallback: Callable[..., Any] | None = None
        self.unfold: Callable[[Any], None] | None = None
        self.strict = False
        self.check: Callable[..., None] | None = None
        self.precision: str | None = None
        self.single_numbers = False
        self.one_value = False
        self.sizes: Callable[..., tuple[int, ...]] | None = None
        self.ufunc: Any = None
        self.form, self.large = "", "LARGE"
        self.operate: Callable[..., Any]
        self.hidden: tuple[str, ...] = ()
        self.derived: dict[str, tuple[str, Callable[[Any], Any]]] = {}
        self.caller: Callable[..., Any]
        self._kind: Kind | None = None
        self._followed: tuple[str, ...] | None = None

    # -- columns --------------------------------------------------------------------------------------------------

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

    def _add(self, names: tuple[str, ...], rule: Callable[..., Any]) -> None:
        code = rule.__code__
        known = {*self.inputs, *self.settings, *self.outputs, "grad", "grads", "result", "needs"}
        known |= {f"{name}_sizes" for name in self.inputs}
        wanted = code.co_varnames[: code.co_argcount]
        for name in (*names, *wanted):
            if name not in known:
                raise TypeError(f"row {self.name}: the rule of {names} names '{name}', which the row does not have")
        self.rules.append((names, rule, wanted))
        self._followed = None

    def typed_as(self, kind: str) -> None:
        """How inputs agree: "promote" to their common dtype, or "float", where integers become the default dtype."""
        if kind not in TYPED:
            raise ValueError(f"row {self.name}: unknown typing {kind!r}")
        self.typed = kind

    def sets_apart(self, *names: str) -> None:
        """Inputs that keep their dtype and carry no gradient: indices, masks, targets."""
        self.apart = frozenset(names)

    def returns(self, *names: str, differentiable: tuple[str, ...] | None = None) -> None:
        """The names of several outputs, and which of them carry gradients (all, unless told)."""
        self.outputs = names
        self.differentiable = (
            tuple(range(len(names))) if differentiable is None else tuple(map(names.index, differentiable))
        )

    def complex_by_hand(self) -> None:
        """The rules conjugate on their own; else they are taken as those of a holomorphic function."""
        self.holomorphic = False

    def tensors_only(self) -> None:
        """Python numbers are refused, though the inputs agree on a dtype."""
        self.strict = True

    def checked_by(self, check: Callable[..., None]) -> None:
        """``check(*inputs)`` raises where PyTorch refuses dtypes; never asked for tensors of one everyday dtype."""
        self.check = check

    def autocasts(self, precision: str) -> None:
        """What its floating inputs become within an autocast block: "low" (the block's dtype) or "single"."""
        if precision not in ("low", "single"):
            raise ValueError(f"row {self.name}: unknown precision {precision!r}")
        self.precision = precision

    def keeps_numbers_single(self) -> None:
        """Beside half precision tensors, numbers and 0-d tensors count in float32; the result is rounded once."""
        self.single_numbers = True

    def writes_one_value(self) -> None:
        """Elements that share memory may be written in place: all get the same."""
        self.one_value = True

    def sized_by(self, sizes: Callable[..., tuple[int, ...]]) -> None:
        """``sizes(*inputs, *settings)`` are those of the result: what meta tensors need, where no stand-ins tell."""
        self.sizes = sizes

    def applies(self, ufunc: Any, form: str = "", large: str = "LARGE") -> None:
        """The ufunc that the kernel is, with its settings at their defaults: what large arrays are given to by parts.

        ``form`` is the kernel's expression, of ``a0`` and ``a1``, that the short path has in place of its call;
        ``large`` is the name in ``ops/large.py`` of the size from which on an array is large.
        """
        self.ufunc, self.form, self.large = ufunc, form, large

    def shows(self, *, hidden: tuple[str, ...] = (), **derived: tuple[str, Callable[[Any], Any]]) -> None:
        """Which ``_saved_`` names PyTorch shows: some of ours hidden, others derived from what is saved.

        ``mm.shows(self_sym_sizes=("self", lambda tensor: tuple(tensor.shape)))``
        """
        self.hidden, self.derived = hidden, derived

    def falls_back_to(self, function: Callable[..., Any]) -> None:
        """What to call instead of the careful path: the composition that this row is a faster form of."""
        self.fallback = function

    def unfolds_by(self, function: Callable[[Any], None]) -> None:
        """What turns a record of this fused row into the records of its parts, when somebody looks at the graph."""
        self.unfold = function

    def internal(self) -> None:
        """For rules and composites only: neither a function nor a method of the public namespace."""
        self.public = False

    # -- what follows from the columns ----------------------------------------------------------------------------

    @property
    def followed(self) -> tuple[str, ...]:
        """The inputs that have a rule, in order: each is an edge of the node."""
        found = self._followed
        if found is None:
            ruled = {name for names, _, _ in self.rules for name in names}
            found = self._followed = tuple(name for name in self.inputs if name in ruled)
        return found

    @property
    def saves(self) -> dict[str, tuple[str, int]]:
        """What a record keeps: name -> ("tensor" | "result", slot number) or ("setting", place in ``k``)."""
        plan: dict[str, tuple[str, int]] = {}
        slots = places = 0
        for _, _, wanted in self.rules:
            for name in wanted:
                if name in plan or name in ("grad", "grads", "needs"):
                    continue
                if name in self.inputs or name == "result" or name in self.outputs:
                    plan[name] = ("tensor" if name in self.inputs else "result", slots)
                    slots += 1
                else:
                    plan[name] = ("setting", places)
                    places += 1
        if slots > 6:
            raise TypeError(f"row {self.name}: rules save {slots} tensors; a record has room for 6")
        return plan

    def __repr__(self) -> str:
        return f"<row {self.name}>"


def op(
    *aliases: str,
    node: str | None = None,
    operator: str | None = None,
    inplace: bool = False,
    view: bool = False,
    constant: bool = False,
) -> Callable[[Callable[..., Any]], Any]:
    """Declare the kernel below as an operation; gives its caller, which has the row's columns as attributes.

    aliases   further names of the function
    node      the name of its node, where it is not ``<Name>Backward0``
    operator  the Python operator it stands behind ("mul" for ``*``)
    inplace   whether ``name_`` exists
    view      whether the result shares the memory of the first input
    constant  whether the result never carries a gradient
    """

    def declare(kernel: Callable[..., Any]) -> Any:
        row = Row(kernel, aliases, node, operator, inplace, view, constant)
        if TABLE.is_taken(row.name):
            raise TypeError(f"row {row.name} is declared twice")
        TABLE[row.name] = row
        row.caller = make_caller(row)
        return row.caller

    return declare
