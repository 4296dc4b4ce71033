"""Whole programs on small arrays as a tape: forward, backward and the optimizer's step without Python between them.

What an elementwise row computes is read from its formula. Functions that are no single instruction are NumPy's: there
the tape ends, and goes on when NumPy was called.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from itertools import product
from math import prod
from typing import Any

import numpy as np

from ..kernels.native import interpreter as do
from ..optim.sgd import SGD
from .formulas import given_to
from .program import Step, Value, is_number, is_numeric

MOST_ELEMENTS = 4096  # of one array: beyond, loops that keep to the cache and threads are quicker
MOST_TIMES = 4096  # multiplications of matrix products for each step: beyond, BLAS gains more than calls cost
ROOM = 0  # the base of what the tape makes and keeps for itself; others are numbered by their slots
MOST_COPIES = 64  # instructions that may gather one operand
_SIGNS: dict[Any, int] = {ast.Add: do.ADD, ast.Sub: do.SUB, ast.Mult: do.MUL, ast.Div: do.DIV}
_TESTS: dict[Any, tuple[int, bool]] = {  # and whether the sides change places
    ast.LtE: (do.LE, False), ast.Lt: (do.LT, False), ast.GtE: (do.LE, True), ast.Gt: (do.LT, True),
    ast.Eq: (do.EQ, False),
}  # fmt: skip
_SINGLE = {do.TIMES: 1, do.GATE: 2, do.LESS: 2}
#: Functions of formulas, and rows, that are one of NumPy's.
FUNCTIONS: dict[str, Any] = {
    "exp": np.exp, "log": np.log, "sin": np.sin, "cos": np.cos, "tanh": np.tanh, "sqrt": np.sqrt, "abs": np.absolute,
    "expm1": np.expm1, "log1p": np.log1p, "log2": np.log2, "log10": np.log10, "tan": np.tan, "asin": np.arcsin,
    "acos": np.arccos, "atan": np.arctan, "sinh": np.sinh, "cosh": np.cosh, "asinh": np.arcsinh, "acosh": np.arccosh,
    "atanh": np.arctanh,
}  # fmt: skip
_EXACT = {np.negative: do.NEG, np.absolute: do.ABS, np.sqrt: do.SQRT}  # those that are instructions
_LONGER = {"sigmoid": "one / (exp(-x) + one)"}  # of the argument
_SETTINGS = {"momentum": 0, "weight_decay": 0, "maximize": False, "differentiable": False}


class NotNative(Exception):  # noqa: N818  it is no error of the user's
    """Why a program is no tape."""


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
        """The places of what a row's kernel makes of this one: views."""
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


def _axes(dim: Any, count: int) -> set[int]:
    """The axes that are meant by one dimension or several; all by None."""
    return set(range(count)) if dim is None else {d % count for d in (dim if isinstance(dim, tuple) else (dim,))}


class Tape:
    """A tape, put together step by step; NotNative where a step is not known, or too large to gain."""

    def __init__(self, steps: Sequence[Step], kept: Sequence[Value]) -> None:
        kinds = {value.dtype for step in steps for value in (*step.inputs, *step.results)}
        kinds = {kind for kind in kinds if kind.kind == "f"}
        if len(kinds) != 1 or next(iter(kinds)).str not in ("<f4", "<f8"):
            raise NotNative("not of one floating dtype")
        self.kind = next(iter(kinds))
        self.code: list[int] = []
        self.count = 0  # instructions
        self.slots: list[tuple[str, Any]] = []  # what lies outside: the "array" or the "gradient" of a value
        self.given: list[tuple[Value, Place]] = []  # arguments, which are copied into the room,
        self.handed: list[tuple[Value, Place]] = []  # and results, which are copied out of it
        self.calls: list[tuple[Any, Place, Place, int]] = []  # functions of NumPy's, and where the tape goes on then
        self.places: dict[int, Place] = {}
        self.table: dict[tuple[Any, int], int] = {(ROOM, 0): 0}  # bases with offsets, and addresses
        self.room = 1  # numbers; what is given at each call comes first
        self.constants: dict[str, Place] = {}  # by their hexadecimal text, which tells the zeros apart
        self.rates: list[tuple[int, Any]] = []  # where in the room an optimizer's learning rate is put before each run
        self.gradients: dict[int, tuple[Value, Place]] = {}  # what leaves have in the end
        self.written: list[Value] = []
        self._gathered: dict[Any, int] = {}
        self._kept = {value.number for value in kept}
        self._owned = {
            step.operands[1].number
            for step in steps
            if step.kind == "gradient" and step.name == "set" and step.named.get("own")
        }
        self.times = 0  # multiplications in matrix products
        if max(value.size for step in steps for value in (*step.inputs, *step.results)) > MOST_ELEMENTS:
            raise NotNative("large arrays")
        for place, step in enumerate(steps):
            if step.kind == "gradient" and step.name == "clear":
                self._cleared(step, steps[place:])
            else:
                self._step(step)
        if self.times > MOST_TIMES * len(steps):
            raise NotNative("large products")
        self.outs: list[tuple[Value, int]] = []  # single numbers that are given back, and where in the room they are
        for value in kept:
            if is_number(value):
                self.outs.append((value, self._in_room(self._place(value))))
            elif not any(value is one for one, _ in self.handed):
                raise NotNative("it gives back an array that it did not make")
        self.code.append(do.END)
        self.steps = steps

    # -- instructions ---------------------------------------------------------------------------------------------

    def _emit(self, what: int, out: Place, n: int, a: int, b: int = 0, *more: int) -> Place:
        numbers = [what, self._at(out), n, a, b, *more]
        size = do.SHORT if what < do.GATHER else do.LONG
        self.code += numbers + [0] * (size - len(numbers))
        self.count += 1
        return out

    def _at(self, place: Place) -> int:
        """The number of a place in the table of addresses."""
        return self._entry(place.base, place.offset)

    def _entry(self, base: Any, offset: int) -> int:
        return self.table.setdefault((base, offset), len(self.table))

    def _fresh(self, shape: tuple[int, ...]) -> Place:
        place = Place(ROOM, shape, self.room)
        self.room += max(prod(shape), 1)
        return place

    def _constant(self, number: float) -> Place:
        key = float(self.kind.type(number)).hex()
        place = self.constants.get(key)
        if place is None:
            place = self.constants[key] = self._fresh(())
        return place

    def _flat(self, place: Place, shape: tuple[int, ...]) -> int:
        """The entry of a place's elements, broadcast to a shape, where they lie one after another."""
        seen = place.over(shape)
        axes = seen.axes()
        if not axes or axes[0][1] == 1 and len(axes) == 1:
            return self._at(seen)
        key = (seen.base, seen.offset, *axes)
        known = self._gathered.get(key)
        if known is None:
            known = self._gathered[key] = self._at(self._copied(seen, self._fresh(shape)))
        return known

    def _copied(self, place: Place, out: Place) -> Place:
        """Write the elements of a place to another one, which has no gaps."""
        axes = place.over(out.shape).axes()
        if not axes or axes[0][1] == 1 and len(axes) == 1:
            return self._emit(do.COPY, out, prod(out.shape), self._at(place))
        (rows, ar), (n, ac) = axes[-2] if len(axes) > 1 else (1, 0), axes[-1]
        if prod(size for size, _ in axes[:-2]) > MOST_COPIES:
            raise NotNative("an operand that lies in too many pieces")
        offset = out.offset
        for index in product(*(range(size) for size, _ in axes[:-2])):
            begin = place.offset + sum(i * step for i, (_, step) in zip(index, axes, strict=False))
            self._emit(do.GATHER, Place(out.base, (), offset), n, self._entry(place.base, begin), 0, 0, rows, ar, ac)
            offset += rows * n
        return out

    def _in_room(self, place: Place) -> int:
        """Where in the room a single number is, which stays as it is now."""
        return (place if place.base == ROOM else self._copied(place, self._fresh(()))).offset

    # -- where values are -----------------------------------------------------------------------------------------

    def _slot(self, what: str, thing: Any, shape: tuple[int, ...]) -> Place:
        self.slots.append((what, thing))
        return Place(len(self.slots), shape)

    def _place(self, value: Value) -> Place:
        """Where a value lies."""
        known = self.places.get(value.number)
        if known is None:
            if value.dtype != self.kind or not value.size:
                raise NotNative("another dtype, or nothing")
            if value.source == "constant" and is_number(value):
                known = self._constant(value.held.item())
            elif value.source not in ("argument", "outside", "constant"):
                raise NotNative("a value that was not made here")
            elif not value.dense:
                raise NotNative("an array with gaps")
            elif value.source == "argument":
                known = self._fresh(value.shape)
                self.given.append((value, known))
            else:
                known = self._slot("array", value, value.shape)
            self.places[value.number] = known
        return known

    def _new(self, value: Value) -> Place:
        """A place for a result: in a leaf's gradient, or in the room."""
        if value.dtype != self.kind or not value.size:
            raise NotNative("another dtype, or nothing")
        if is_number(value):
            place = self._fresh(())
        elif value.number in self._owned:
            place = self._slot("gradient", value, value.shape)
        else:
            place = self._fresh(value.shape)
            if value.number in self._kept:
                self.handed.append((value, place))
        self.places[value.number] = place
        return place

    # -- formulas -------------------------------------------------------------------------------------------------

    def _map(self, result: Value, formula: str, bindings: dict[str, Any]) -> None:
        """Compute a formula for each element of a result."""
        places = {
            name: self._place(operand) if isinstance(operand, Value) else self._constant(operand)
            for name, operand in bindings.items()
            if is_numeric(operand)
        }
        out = self._new(result)
        place = self._formula(formula, places, out)
        if place is not out:
            self._copied(place, out)

    def _formula(self, formula: str, places: dict[str, Place], out: Place | None = None) -> Place:
        places = {"zero": self._constant(0.0), "one": self._constant(1.0), **places}
        return self._computed(ast.parse(formula, mode="eval").body, places, out)

    def _computed(self, node: ast.expr, places: dict[str, Place], out: Place | None = None) -> Place:
        """Where the value of an expression is: in ``out`` if it is an operation with a result of that shape."""
        match node:
            case ast.Name(id=name) if name in places:
                return places[name]
            case ast.BinOp(left=left, op=sign, right=right) if type(sign) in _SIGNS:
                sides = [self._computed(side, places) for side in (left, right)]
                return self._on_all(_SIGNS[type(sign)], sides, out)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self._called(np.negative, [operand], places, out)
            case ast.Call(func=ast.Name(id="number"), args=[ast.Constant(value=int() | float() as number)]):
                return self._constant(number)
            case ast.Call(func=ast.Name(id=name), args=arguments) if name in FUNCTIONS:
                return self._called(FUNCTIONS[name], arguments, places, out)
            case ast.Call(func=ast.Name(id=name), args=[argument]) if name in _LONGER:
                return self._formula(_LONGER[name], {"x": self._computed(argument, places)}, out)
            case ast.IfExp(test=ast.Compare(left=left, ops=[test], comparators=[right])) if type(test) in _TESTS:
                what, turned = _TESTS[type(test)]
                sides = [self._computed(side, places) for side in ((right, left) if turned else (left, right))]
                parts = [self._computed(part, places) for part in (node.body, node.orelse)]
                if what == do.LE and not sides[1].shape and parts[0] is self._constant(0.0):
                    return self._on_all(do.GATE, [sides[0], parts[1], sides[1]], out)
                return self._on_all(do.SELECT, [self._on_all(what, sides, None), *parts], out)
        raise NotNative(f"no instruction for {ast.unparse(node)}")

    def _on_all(self, what: int, operands: Sequence[Place], out: Place | None) -> Place:
        """One elementwise instruction; the operands are broadcast."""
        shape = np.broadcast_shapes(*(operand.shape for operand in operands))
        if out is None or out.shape != shape:
            out = self._fresh(shape)
        if what == do.MUL and shape and () in (operands[0].shape, operands[1].shape):
            what, operands = do.TIMES, sorted(operands, key=lambda operand: not operand.shape)
        single = _SINGLE.get(what)  # the operand that is one number
        entries = [
            self._at(operand) if n == single else self._flat(operand, shape) for n, operand in enumerate(operands)
        ]
        return self._emit(what, out, prod(shape), *entries)

    def _called(
        self, function: Any, operands: Sequence[ast.expr], places: dict[str, Place], out: Place | None
    ) -> Place:
        """A function of NumPy's, of one operand: an instruction, or called when the tape has come so far."""
        (operand,) = [self._computed(operand, places) for operand in operands]
        if function in _EXACT:
            return self._on_all(_EXACT[function], [operand], out)
        if operand.base != ROOM or operand.strides != dense(operand.shape):
            operand = self._copied(operand, self._fresh(operand.shape))
        if out is None or out.base != ROOM or out.shape != operand.shape:
            out = self._fresh(operand.shape)
        self.code.append(do.END)
        self.count += 1
        self.calls.append((function, operand, out, len(self.code)))
        return out

    # -- steps ----------------------------------------------------------------------------------------------------

    def _step(self, step: Step) -> None:
        if step.kind == "view":
            self._view(step)
        elif step.kind == "kernel":
            write = ROWS.get(step.name)
            if write is not None:
                write(self, step, *step.operands)
            elif step.name in FUNCTIONS:
                self._map(step.results[0], f"{step.name}(self)", {"self": step.operands[0]})
            else:
                formula, bindings = given_to(step)
                if formula is None or len(step.results) != 1:
                    raise NotNative(f"no instruction for {step.name}")
                self._map(step.results[0], formula.text, bindings)
        elif step.kind == "tensors" and step.name == "detach" and len(step.inputs) == 1:
            self.places[step.results[0].number] = self._place(step.inputs[0])
        elif step.kind == "gradient" and step.name == "set":
            self._gradient(step)
        elif step.kind == "optimizer":
            self._optimizer(step)
        else:
            raise NotNative(f"a step of kind {step.kind}")

    def _view(self, step: Step) -> None:
        source, *settings = step.operands
        if any(isinstance(piece, Value) for piece in settings) or not isinstance(source, Value):
            raise NotNative("a view that depends on a tensor")
        for result, place in zip(step.results, self._place(source).seen(step.function.kernel, settings), strict=True):
            self.places[result.number] = place

    def _cleared(self, step: Step, rest: Sequence[Step]) -> None:
        """Nothing is to be done where a leaf gets another gradient afterwards."""
        later = (s.operands[0] for s in rest if s.kind == "gradient" and s.name == "set")
        if step.operands[0] not in later:
            raise NotNative("a gradient that is taken away")

    def _gradient(self, step: Step) -> None:
        target, value = step.operands[:2]
        (grad,) = step.results
        if target.dtype != self.kind or not target.dense:
            raise NotNative("a gradient of another dtype or with gaps")
        place = self._place(value)
        if is_number(target):
            place = Place(ROOM, (), self._in_room(place))
        elif not step.named.get("own"):
            place = self._copied(place, self._slot("gradient", grad, target.shape))
        self.places[grad.number] = place
        self.gradients[target.number] = target, place

    def _optimizer(self, step: Step) -> None:
        optimizer = step.function
        if type(optimizer) is not SGD or len(optimizer.param_groups) != 1:
            raise NotNative("another optimizer")
        group = optimizer.param_groups[0]
        if any(group[name] != value for name, value in _SETTINGS.items()) or type(group["lr"]) is not float:
            raise NotNative("an optimizer with settings")
        if optimizer._optimizer_step_pre_hooks or optimizer._optimizer_step_post_hooks:
            raise NotNative("an optimizer with hooks")
        rate = self._fresh(()) if self.rates else Place(ROOM, ())
        self.rates.append((rate.offset, optimizer))
        for param, grad in step.operands:
            if param.source != "outside":
                raise NotNative("a parameter that is given")
            self.written.append(param)
            place = self._place(param)
            self._on_all(do.LESS, [place, self._place(grad), rate], place)  # place - grad * rate
        self._gathered.clear()  # which were of what was there before

    # -- rows that are not elementwise ----------------------------------------------------------------------------

    def _product(self, result: Value, a: Place, b: Place, bias: Value | None = None) -> None:
        """``a @ b``, and a bias added."""
        if len(a.shape) != 2 or len(b.shape) != 2:
            raise NotNative("a product of other than matrices")
        out = self._new(result)
        unbiased = self._times(a, b, out if bias is None else self._fresh(result.shape))
        if bias is not None:
            self._on_all(do.ADD, [unbiased, self._place(bias)], out)

    def _times(self, a: Place, b: Place, out: Place) -> Place:
        (rows, depth), n = a.shape, b.shape[1]
        self.times += rows * depth * n
        return self._emit(do.PRODUCT, out, n, self._at(a), self._flat(b, b.shape), 0, rows, *a.strides, depth)

    def _mm(self, step: Step, a: Value, b: Value) -> None:
        self._product(step.results[0], self._place(a), self._place(b))

    def _linear_2d(self, step: Step, bias: Value, x: Value, weight: Value) -> None:
        w = self._place(weight)
        turned = Place(w.base, w.shape[::-1], w.offset, w.strides[::-1])
        self._product(step.results[0], self._place(x), turned, bias)

    def _sums(self, result: Value, place: Place, dim: Any, mean: bool = False) -> None:
        """The sums over some axes, or all; of a place."""
        n = len(place.shape)
        axes = _axes(dim, n)
        order = [*sorted(axes), *(axis for axis in range(n) if axis not in axes)]
        shape = tuple(place.shape[axis] for axis in order)
        turned = Place(place.base, shape, place.offset, tuple(place.strides[axis] for axis in order))
        count = prod(shape[: len(axes)])
        out = self._new(result)
        sums = self._fresh(result.shape) if mean else out
        entry = self._flat(turned, shape)
        if prod(result.shape) == 1:
            self._emit(do.TOTAL, sums, count, entry)
        else:  # ones times the matrix
            one = self._at(self._constant(1.0))
            self._emit(do.PRODUCT, sums, prod(result.shape), one, entry, 0, 1, 0, 0, count)
        if mean:
            self._on_all(do.DIV, [sums, self._constant(count)], out)

    def _reduced(self, step: Step, source: Value, *settings: Any) -> None:
        """A sum or a mean: over dimensions that are given, over the rows of a matrix, or over everything."""
        dim: Any = (0,) if step.name == "column_sums" else None
        if step.name.endswith("_dim"):
            dim, _, *settings = settings  # type: ignore[assignment]
        if any(piece is not None for piece in settings):
            raise NotNative("a sum in another dtype")
        self._sums(step.results[0], self._place(source), dim, step.name.startswith("mean"))

    def _mse_loss(self, step: Step, x: Value, y: Value, reduction: int) -> None:
        if reduction == 0:
            self._map(step.results[0], "(x - y) * (x - y)", {"x": x, "y": y})
            return
        off = self._formula("x - y", {"x": self._place(x), "y": self._place(y)})
        self._sums(step.results[0], self._formula("x * x", {"x": off}), None, reduction == 1)

    def _mse_loss_backward(self, step: Step, grad: Value, x: Value, y: Value, reduction: int) -> None:
        size = step.results[0].size
        factor = 2 / size if reduction == 1 else 2.0
        self._map(step.results[0], f"(x - y) * (grad * number({factor!r}))", {"grad": grad, "x": x, "y": y})

    def _spread_dim(self, step: Step, source: Value, sizes: Any, dim: Any, keepdim: bool) -> None:
        place = self._place(source)
        if sizes and not keepdim:
            axes = _axes(dim, len(sizes))
            kept = iter(zip(place.shape, place.strides, strict=True))
            pairs = [(1, 0) if axis in axes else next(kept) for axis in range(len(sizes))]
            place = Place(place.base, tuple(n for n, _ in pairs), place.offset, tuple(step for _, step in pairs))
        self._copied(place, self._new(step.results[0]))

    def _copy(self, step: Step, source: Value, *settings: Any) -> None:
        self._copied(self._place(source), self._new(step.results[0]))


#: Rows that have instructions of their own, and those that put them down.
ROWS: dict[str, Callable[..., None]] = {
    "mm": Tape._mm, "linear_2d": Tape._linear_2d, "mse_loss": Tape._mse_loss,
    "mse_loss_backward": Tape._mse_loss_backward, "spread": Tape._copy, "clone": Tape._copy,
    "spread_dim": Tape._spread_dim,
    **dict.fromkeys(("sum", "mean", "sum_dim", "mean_dim", "column_sums"), Tape._reduced),
}  # fmt: skip
