"""Puts tapes together: instructions for the interpreter, where their operands lie, and the memory that they need.

What is computed for each element is given as a formula. Functions that are no instruction are NumPy's: there the tape
ends, and goes on when NumPy was called.
"""

from __future__ import annotations

import ast
from array import array
from collections.abc import Callable, Sequence
from itertools import product
from math import prod
from typing import Any

import numpy as np

from . import interpreter as do
from .memory import address

ROOM = 0  # the base of what a tape makes and keeps for itself; others are numbered from one on
MOST_COPIES = 64  # instructions that may gather one operand
_SIGNS: dict[Any, int] = {ast.Add: do.ADD, ast.Sub: do.SUB, ast.Mult: do.MUL, ast.Div: do.DIV}
_TESTS: dict[Any, tuple[int, bool]] = {  # and whether the sides change places
    ast.LtE: (do.LE, False), ast.Lt: (do.LT, False), ast.GtE: (do.LE, True), ast.Gt: (do.LT, True),
    ast.Eq: (do.EQ, False),
}  # fmt: skip
_SINGLE = {do.TIMES: 1, do.GATE: 2, do.LESS: 2}
#: Functions that formulas may name, which are one of NumPy's.
FUNCTIONS: dict[str, Any] = {
    "exp": np.exp, "log": np.log, "sin": np.sin, "cos": np.cos, "tanh": np.tanh, "sqrt": np.sqrt, "abs": np.absolute,
    "expm1": np.expm1, "log1p": np.log1p, "log2": np.log2, "log10": np.log10, "tan": np.tan, "asin": np.arcsin,
    "acos": np.arccos, "atan": np.arctan, "sinh": np.sinh, "cosh": np.cosh, "asinh": np.arcsinh, "acosh": np.arccosh,
    "atanh": np.arctanh,
}  # fmt: skip
_EXACT = {np.negative: do.NEG, np.absolute: do.ABS, np.sqrt: do.SQRT}  # those that are instructions
_LONGER = {"sigmoid": "one / (exp(-x) + one)"}  # of the argument


class NotNative(Exception):  # noqa: N818  it is no error of the user's
    """Why something cannot be put on a tape."""


class Place:
    """Where a value lies: elements after the beginning of a base, and the steps between its elements."""

    __slots__ = ("base", "offset", "shape", "strides")

    def __init__(self, base: int, shape: tuple[int, ...], offset: int = 0, strides: Any = None) -> None:
        self.base, self.shape, self.offset = base, shape, offset
        self.strides: tuple[int, ...] = dense(shape) if strides is None else strides

    def over(self, shape: tuple[int, ...]) -> Place:
        """The same, broadcast."""
        if shape == self.shape:
            return self
        new = len(shape) - len(self.shape)
        steps = (0 if n == 1 else step for n, step in zip(self.shape, self.strides, strict=True))
        return Place(self.base, shape, self.offset, (0,) * new + tuple(steps))

    def seen(self, view: Callable[..., Any], settings: Sequence[Any]) -> list[Place]:
        """The places of what a function of NumPy arrays makes of this one: views."""
        reach = 1 + sum((n - 1) * step for n, step in zip(self.shape, self.strides, strict=True))
        base = np.empty(max(reach, 1), np.int8)
        result = view(np.lib.stride_tricks.as_strided(base, self.shape, self.strides), *settings)
        places = []
        for one in result if isinstance(result, (tuple, list)) else [result]:
            if not np.may_share_memory(one, base):
                raise NotNative("a view that is a copy")
            moved = one.__array_interface__["data"][0] - base.__array_interface__["data"][0]
            places.append(Place(self.base, one.shape, self.offset + moved, one.strides))
        return places

    def axes(self) -> list[tuple[int, int]]:
        """Sizes and steps of the fewest axes that lead through it in order."""
        axes: list[tuple[int, int]] = []
        for n, step in zip(self.shape, self.strides, strict=True):
            if n == 1:
                continue
            if axes and axes[-1][1] == n * step:
                axes[-1] = axes[-1][0] * n, step
            else:
                axes.append((n, step))
        return axes


def dense(shape: Sequence[int]) -> tuple[int, ...]:
    """The steps of an array without gaps."""
    return tuple(prod(shape[axis + 1 :]) for axis in range(len(shape)))


class Assembler:
    """A tape in the making, for numbers of one dtype; NotNative where something is no instruction.

    code       the instructions, of which there are ``count``
    table      the entries of the table of addresses, by bases with offsets
    room       how many numbers the tape needs for itself; the first is given at each run
    constants  the places of numbers, by their hexadecimal text, which tells the zeros apart
    calls      NumPy's functions, operands and results, and where the tape goes on then
    times      how many multiplications the matrix products take
    """

    def __init__(self, kind: np.dtype[Any]) -> None:
        self.kind = kind
        self.code: list[int] = []
        self.count = self.times = 0
        self.table: dict[tuple[int, int], int] = {(ROOM, 0): 0}
        self.room = 1
        self.constants: dict[str, Place] = {}
        self.calls: list[tuple[Any, Place, Place, int]] = []
        self._gathered: dict[Any, int] = {}

    # -- places ---------------------------------------------------------------------------------------------------

    def entry(self, base: int, offset: int) -> int:
        """The number of an address in the table."""
        return self.table.setdefault((base, offset), len(self.table))

    def at(self, place: Place) -> int:
        """The number of a place's beginning."""
        return self.entry(place.base, place.offset)

    def fresh(self, shape: tuple[int, ...]) -> Place:
        """A new place in the room."""
        place = Place(ROOM, shape, self.room)
        self.room += max(prod(shape), 1)
        return place

    def constant(self, number: float) -> Place:
        """The place of a number that stays."""
        key = float(self.kind.type(number)).hex()
        place = self.constants.get(key)
        if place is None:
            place = self.constants[key] = self.fresh(())
        return place

    def flat(self, place: Place, shape: tuple[int, ...]) -> int:
        """The entry of a place's elements, broadcast to a shape, where they lie one after another."""
        seen = place.over(shape)
        axes = seen.axes()
        if not axes or axes[0][1] == 1 and len(axes) == 1:
            return self.at(seen)
        key = (seen.base, seen.offset, *axes)
        known = self._gathered.get(key)
        if known is None:
            known = self._gathered[key] = self.at(self.copied(seen, self.fresh(shape)))
        return known

    def forget(self) -> None:
        """What was gathered counts no more, as something is written to."""
        self._gathered.clear()

    # -- instructions ---------------------------------------------------------------------------------------------

    def emit(self, what: int, out: Place, n: int, a: int, b: int = 0, *more: int) -> Place:
        """One instruction; its result is in ``out``."""
        numbers = [what, self.at(out), n, a, b, *more]
        size = do.SHORT if what < do.GATHER else do.LONG
        self.code += numbers + [0] * (size - len(numbers))
        self.count += 1
        return out

    def end(self) -> int:
        """An end, where one run of the tape stops; the number at which the next may begin."""
        self.code.append(do.END)
        return len(self.code)

    def copied(self, place: Place, out: Place) -> Place:
        """Write the elements of a place to another one, which has no gaps."""
        axes = place.over(out.shape).axes()
        if not axes or axes[0][1] == 1 and len(axes) == 1:
            return self.emit(do.COPY, out, prod(out.shape), self.at(place))
        (rows, ar), (n, ac) = axes[-2] if len(axes) > 1 else (1, 0), axes[-1]
        if prod(size for size, _ in axes[:-2]) > MOST_COPIES:
            raise NotNative("an operand that lies in too many pieces")
        offset = out.offset
        for index in product(*(range(size) for size, _ in axes[:-2])):
            begin = place.offset + sum(i * step for i, (_, step) in zip(index, axes, strict=False))
            self.emit(do.GATHER, Place(out.base, (), offset), n, self.entry(place.base, begin), 0, 0, rows, ar, ac)
            offset += rows * n
        return out

    def on_all(self, what: int, operands: Sequence[Place], out: Place | None = None) -> Place:
        """One elementwise instruction; the operands are broadcast."""
        shape = np.broadcast_shapes(*(operand.shape for operand in operands))
        if out is None or out.shape != shape:
            out = self.fresh(shape)
        if what == do.MUL and shape and () in (operands[0].shape, operands[1].shape):
            what, operands = do.TIMES, sorted(operands, key=lambda operand: not operand.shape)
        single = _SINGLE.get(what)  # the operand that is one number
        entries = [self.at(place) if n == single else self.flat(place, shape) for n, place in enumerate(operands)]
        return self.emit(what, out, prod(shape), *entries)

    def product(self, a: Place, b: Place, out: Place) -> Place:
        """A product of matrices."""
        (rows, depth), n = a.shape, b.shape[1]
        self.times += rows * depth * n
        return self.emit(do.PRODUCT, out, n, self.at(a), self.flat(b, b.shape), 0, rows, *a.strides, depth)

    def sums(self, place: Place, axes: set[int], out: Place, is_mean: bool = False) -> Place:
        """Sums over some axes, or means."""
        order = [*sorted(axes), *(axis for axis in range(len(place.shape)) if axis not in axes)]
        shape = tuple(place.shape[axis] for axis in order)
        turned = Place(place.base, shape, place.offset, tuple(place.strides[axis] for axis in order))
        count = prod(shape[: len(axes)])
        sums = self.fresh(out.shape) if is_mean else out
        entry = self.flat(turned, shape)
        if prod(out.shape) == 1:
            self.emit(do.TOTAL, sums, count, entry)
        else:  # ones times the matrix
            one = self.at(self.constant(1.0))
            self.emit(do.PRODUCT, sums, prod(out.shape), one, entry, 0, 1, 0, 0, count)
        return self.on_all(do.DIV, [sums, self.constant(count)], out) if is_mean else out

    # -- formulas -------------------------------------------------------------------------------------------------

    def formula(self, formula: str, places: dict[str, Place], out: Place | None = None) -> Place:
        """Where the values of a formula are: in ``out`` if it is an operation with results of that shape."""
        places = {"zero": self.constant(0.0), "one": self.constant(1.0), **places}
        return self._computed(ast.parse(formula, mode="eval").body, places, out)

    def _computed(self, node: ast.expr, places: dict[str, Place], out: Place | None = None) -> Place:
        match node:
            case ast.Name(id=name) if name in places:
                return places[name]
            case ast.BinOp(left=left, op=sign, right=right) if type(sign) in _SIGNS:
                return self.on_all(_SIGNS[type(sign)], [self._computed(side, places) for side in (left, right)], out)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self._called(np.negative, self._computed(operand, places), out)
            case ast.Call(func=ast.Name(id="number"), args=[ast.Constant(value=int() | float() as number)]):
                return self.constant(number)
            case ast.Call(func=ast.Name(id=name), args=[argument]) if name in FUNCTIONS:
                return self._called(FUNCTIONS[name], self._computed(argument, places), out)
            case ast.Call(func=ast.Name(id=name), args=[argument]) if name in _LONGER:
                return self.formula(_LONGER[name], {"x": self._computed(argument, places)}, out)
            case ast.IfExp(test=ast.Compare(left=left, ops=[test], comparators=[right])) if type(test) in _TESTS:
                what, is_turned = _TESTS[type(test)]
                sides = [self._computed(side, places) for side in ((right, left) if is_turned else (left, right))]
                parts = [self._computed(part, places) for part in (node.body, node.orelse)]
                if what == do.LE and not sides[1].shape and parts[0] is self.constant(0.0):
                    return self.on_all(do.GATE, [sides[0], parts[1], sides[1]], out)
                return self.on_all(do.SELECT, [self.on_all(what, sides), *parts], out)
        raise NotNative(f"no instruction for {ast.unparse(node)}")

    def _called(self, function: Any, operand: Place, out: Place | None) -> Place:
        """A function of NumPy's: an instruction, or called when the tape has come so far."""
        if function in _EXACT:
            return self.on_all(_EXACT[function], [operand], out)
        if operand.base != ROOM or operand.strides != dense(operand.shape):
            operand = self.copied(operand, self.fresh(operand.shape))
        if out is None or out.base != ROOM or out.shape != operand.shape:
            out = self.fresh(operand.shape)
        self.count += 1
        self.calls.append((function, operand, out, self.end()))
        return out

    # -- memory ---------------------------------------------------------------------------------------------------

    def memory(self, fixed: dict[int, int], cells: Sequence[Place]) -> Callable[[], Any]:
        """A function that makes the memory for one run, of what is ready: several runs may go on at a time.

        fixed  the addresses of entries outside of the room, where they are known
        cells  places of the room that are looked at from outside
        Gives the table of addresses, the room, arrays that see the cells, the address for the interpreter, and what is
        kept alive.
        """
        code = np.array(self.code, np.int32)
        whole = np.zeros(self.room, self.kind)
        for number, place in self.constants.items():
            whole[place.offset] = float.fromhex(number)

        def another() -> Any:
            room = whole.copy()
            views = [room[cell.offset : cell.offset + prod(cell.shape)].reshape(cell.shape) for cell in cells]
            start = address(room)
            entries = array("q", [start + offset * self.kind.itemsize for _, offset in self.table])
            for entry, place in fixed.items():
                entries[entry] = place
            head = array("q", [address(code), entries.buffer_info()[0]])
            return entries, room, views, head.buffer_info()[0], (code, head)

        return another
