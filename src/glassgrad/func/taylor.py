"""Taylor mode: derivatives of any order along a curve, in one walk through the function.

Nested forward mode computes an n-th derivative from 2^n copies of everything.  Here a tensor carries the first n
coefficients of a power series in the curve's parameter.  A row's result is the integral of its forward rule, applied to
the series of its inputs and their derivatives: one order is gained at each integration, so the forward rules that the
table has serve for every order.

Source: Griewank and Walther, Evaluating Derivatives, chapter 13.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import factorial
from typing import Any

from ..core.row import Row
from ..core.tensor import LEAF, Tensor, carries_gradients, new
from ..ops.pytree import tree_flatten, tree_unflatten
from ..tensor.lifted import Lifted
from . import arguments, levels
from .levels import Level, call_row, entered, like, several
from .tangents import pushed, zeros_of


class Series(Lifted):
    """A power series: ``value`` is its first coefficient, ``others`` those of the first power and up; None for zero."""

    __slots__ = ("others",)

    others: list[Any]

    @property  # type: ignore[override]
    def _edge(self) -> Any:  # what is computed from it must be computed by rows
        return LEAF

    @_edge.setter
    def _edge(self, edge: Any) -> None:
        raise RuntimeError("a power series has no history of its own")

    def __repr__(self, *, tensor_contents: str | None = None) -> str:
        return levels.shown("TaylorTensor", self.level.number, self.value, f", order={len(self.others)}")


class Taylor(Level):
    """One call of ``jet``, or the part of it that is one order lower."""

    def series(self, coefficients: Sequence[Any]) -> Series:
        """A tensor at this level of such coefficients; the first is none of None."""
        tensor = new(Series)
        tensor.value, tensor.level, tensor.others = coefficients[0], self, list(coefficients[1:])
        return tensor

    def says(self, tensor: Any) -> str:
        return f"jet: it has the coefficients of a power series up to power {len(tensor.others)}"

    def strip(self, tensor: Any, value: Any) -> Any:
        return self.series([value])

    def raised(self, value: Any) -> Any:
        return self.series([value])

    def again(self, tensor: Any, value: Any) -> Any:
        return self.series([value, *tensor.others])

    def coefficients(self, operand: Any, order: int) -> list[Any]:
        """The coefficients of an operand up to a power; None for zero."""
        if not isinstance(operand, Series) or operand.level is not self:
            return [operand, *[None] * order]
        return ([operand.value, *operand.others] + [None] * order)[: order + 1]

    def write(self, row: Row, target: Any, others: Sequence[Any], settings: Sequence[Any]) -> None:
        raise RuntimeError(
            f"{row.name}_: nothing is written in place while jet computes derivatives: use the operation that gives a "
            f"new tensor, {row.name}"
        )

    def call(self, row: Row, flat: Sequence[Any], settings: Sequence[Any]) -> Any:
        order = max(len(operand.others) for operand in flat if isinstance(operand, Series) and operand.level is self)
        parts = [self.coefficients(operand, order) for operand in flat]
        answer = call_row(row, [part[0] for part in parts], settings)
        outs = several(answer)
        positions = range(len(flat)) if row.listed else row.plan.ruled_inputs
        moves = [position for position in positions if any(c is not None for c in parts[position][1:])]
        if not order or not moves or not any(carries_gradients(out._array.dtype) for out in outs):
            return like(answer, [self.series([out]) for out in outs])
        if row.view or row.forward == "linear" or (row.forward == "each" and len(moves) == 1):
            moving = moves if row.forward == "each" else positions
            columns = self._linear(row, parts, moving, settings, order)
        elif row.forward == "each" and len(moves) == 2:
            columns = [self._product(row, parts, moves, settings, order)]
        else:
            columns = self._integrated(row, parts, positions, settings, outs, order)
        raised = []
        for out, column in zip(outs, columns, strict=True):
            raised.append(self.series([out, *column] if carries_gradients(out._array.dtype) else [out]))
        return like(answer, raised)

    def _linear(
        self, row: Row, parts: list[list[Any]], positions: Sequence[int], settings: Sequence[Any], order: int
    ) -> list[list[Any]]:
        """A linear row: itself, on the coefficients of each power."""
        powers = []
        for power in range(1, order + 1):
            operands = [part[0] for part in parts]
            for position in positions:
                value = operands[position]
                if value is not None:
                    coefficient = parts[position][power]
                    operands[position] = coefficient if coefficient is not None else zeros_of(value) if isinstance(
                        value, Tensor) else 0  # fmt: skip
            powers.append(several(call_row(row, operands, settings)))
        return [list(column) for column in zip(*powers, strict=True)]

    def _product(
        self, row: Row, parts: list[list[Any]], moves: Sequence[int], settings: Sequence[Any], order: int
    ) -> list[Any]:
        """A row that is linear in each of two inputs: the product of their series."""
        first, second = moves
        totals = []
        for power in range(1, order + 1):
            total: Any = None
            for share in range(power + 1):
                a, b = parts[first][share], parts[second][power - share]
                if a is not None and b is not None:
                    operands = [part[0] for part in parts]
                    operands[first], operands[second] = a, b
                    term = call_row(row, operands, settings)
                    total = term if total is None else total + term
            totals.append(total)
        return totals

    def _integrated(
        self, row: Row, parts: list[list[Any]], positions: Sequence[int], settings: Sequence[Any], outs: Sequence[Any],
        order: int,
    ) -> list[list[Any]]:  # fmt: skip
        """Any row: its forward rule on series that are one order shorter, integrated."""
        with entered(Taylor()) as lower:
            values: list[Any] = [
                lower.series(part[:order]) if isinstance(part[0], Tensor) else part[0] for part in parts
            ]
            velocities: list[Any] = [None] * len(parts)
            for position in positions:
                value, *rest = parts[position]
                if any(c is not None for c in rest):
                    speeds = [None if c is None else c * power for power, c in enumerate(rest, 1)]
                    speeds[0] = zeros_of(value) if speeds[0] is None else speeds[0]
                    velocities[position] = lower.series(speeds)
            shorter: Sequence[Any] = [lower.series([out]) for out in outs]
            if order > 1 and _reads_results(row):
                shorter = several(call_row(row, values, settings))
            moved = pushed(row, values, velocities, settings, shorter)
            columns = []
            for tangent in moved:
                speeds = [None] * order if tangent is None else lower.coefficients(tangent, order - 1)
                columns.append([None if c is None else c / power for power, c in enumerate(speeds, 1)])
        return columns


def _reads_results(row: Row) -> bool:
    """Whether the forward rule of a row reads the row's results."""
    return bool(row.plan.saved_results) or not {"result", *row.outputs}.isdisjoint(row.tangent_names)


def jet(func: Callable[..., Any], primals: Sequence[Any], series: Sequence[Sequence[Any]]) -> tuple[Any, Any]:
    """The value of ``func`` and its derivatives along a curve, up to any order: ``(output, output_series)``.

    primals        the arguments: the curve's point
    series         for each of them the derivatives of the curve there, first, second, ...: all of one length n
    output_series  for each output the n derivatives of ``func`` along the curve

    With ``series`` ``([v, zeros, zeros],)`` the n-th derivative is that along the direction v.  Linear in the size of
    the function and cubic at most in n.  Errors: ValueError where primals and series do not fit.
    """
    primals, series = tuple(primals), tuple(tuple(terms) for terms in series)
    if len(primals) != len(series) or len({len(terms) for terms in series}) != 1:
        raise ValueError(
            f"jet: expected a list of derivatives for each of {len(primals)} primals, all of one length, but got "
            f"lengths {[len(terms) for terms in series]}"
        )
    for number, (primal, terms) in enumerate(zip(primals, series, strict=True)):
        for term in terms:
            if not isinstance(primal, Tensor) or not isinstance(term, Tensor) or term.shape != primal.shape:
                raise ValueError(f"jet: the derivatives of primal {number} must be Tensors of its shape")
    order = len(series[0])
    with entered(Taylor()) as level:
        inputs = [
            level.series([primal, *[term / factorial(power) for power, term in enumerate(terms, 1)]])
            for primal, terms in zip(primals, series, strict=True)
        ]
        outs, shape = arguments.tensors_of(func(*inputs), "jet(f, primals, series)")
        parts = [level.coefficients(levels.alive(out), order) for out in outs]
    values, derivatives = [], []
    for value, *coefficients in parts:
        values.append(value)
        derivatives.append(
            [zeros_of(value) if c is None else c * factorial(power) for power, c in enumerate(coefficients, 1)]
        )
    if len(outs) == 1 and tree_flatten(tree_unflatten(values, shape))[1].is_leaf():
        return values[0], derivatives[0]
    return tree_unflatten(values, shape), tree_unflatten(derivatives, shape)
