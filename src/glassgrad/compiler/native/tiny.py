"""Whole programs on small arrays as one native function: forward, backward and the optimizer's step without Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numba
import numpy as np
from numba import types
from numba.extending import intrinsic

from ...optim.sgd import SGD
from ..formulas import given_to
from ..program import Step, Value
from .text import NotNative, Place, filled_in, functions_for, is_number, is_numeric

MOST_STEPS = 400
MOST_WORK = 1 << 17  # multiplications and elements in all: beyond, BLAS and wide loops are quicker
_HEAD = object.__basicsize__  # bytes of an object before what an array or a NumPy number holds


@intrinsic  # type: ignore[misc]
def number_at(typing: Any, address: Any, like: Any) -> Any:
    """What lies at an address, as numbers of a type."""
    pointer = types.CPointer(like.dtype)

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], context.get_value_type(pointer))

    return pointer(types.int64, like), code


@intrinsic  # type: ignore[misc]
def word_at(typing: Any, address: Any) -> Any:
    """The eight bytes at an address."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load(builder.inttoptr(arguments[0], context.get_value_type(types.CPointer(types.int64))))

    return types.int64(types.int64), code


class Tiny:
    """The text of such a function, put together step by step."""

    def __init__(self, steps: Sequence[Step], kept: Sequence[Value]) -> None:
        if len(steps) > MOST_STEPS:
            raise NotNative("too many steps")
        kinds = {value.dtype for step in steps for value in (*step.inputs, *step.results)}
        kinds = {kind for kind in kinds if kind.kind == "f"}
        if len(kinds) != 1 or next(iter(kinds)).str not in ("<f4", "<f8"):
            raise NotNative("not of one floating dtype")
        self.kind = next(iter(kinds))
        self.lines: list[str] = []
        self.places: dict[int, Place] = {}
        self.numbers: dict[int, str] = {}
        self.slots: list[tuple[str, Any]] = []  # what each of the ids is: ("value", Value), ("gradient", Step) ...
        self.room = 0
        self.work = 0
        self.rates: list[Any] = []  # optimizers whose learning rates are given at each call
        self.gradients: list[Step] = []
        self.written: list[Value] = []
        self.last = {value.number: value for value in kept}
        self._owned = {
            step.operands[1].number: step
            for step in steps
            if step.kind == "gradient" and step.name == "set" and step.named.get("own")
        }
        for step in steps:
            self._step(step)
            if self.work > MOST_WORK:
                raise NotNative("too much work")
        self.outs = [value for value in kept if is_number(value)]
        for place, value in enumerate(self.outs):
            self.lines.append(f"outs[{place}] = {self._number(value)}")

    # -- where values are -----------------------------------------------------------------------------------------

    def _slot(self, what: str, thing: Any, shape: tuple[int, ...]) -> Place:
        self.slots.append((what, thing))
        name = f"p{len(self.slots) - 1}"
        return Place(name, shape)

    def _place(self, value: Value) -> Place:
        """Where an array lies; those from outside are given by their ids."""
        known = self.places.get(value.number)
        if known is None:
            if value.source == "made":
                raise NotNative("a value that was not made here")
            if value.dtype is not self.kind and value.dtype != self.kind:
                raise NotNative("another dtype")
            if not value.dense or not value.is_array:
                raise NotNative("an array with gaps")
            known = self.places[value.number] = self._slot("value", value, value.shape)
        return known

    def _number(self, value: Value) -> str:
        known = self.numbers.get(value.number)
        if known is None:
            if value.source == "constant":
                known = f"number({value.held.item()!r})"
                if value.dtype != self.kind or not np.isfinite(value.held):
                    raise NotNative("a constant of another dtype")
            elif value.source == "made" or value.dtype != self.kind:
                raise NotNative("a number that was not made here")
            else:
                place = self._slot("value" if value.is_array or value.source == "outside" else "number", value, ())
                known = f"s{value.number}"
                self.lines.append(f"{known} = {place.name}[0]")
            self.numbers[value.number] = known
        return known

    def _new(self, value: Value) -> Place:
        """A place for a result: in a leaf's gradient, in an array that is handed out, or in the workspace."""
        if value.dtype != self.kind:
            raise NotNative("another dtype")
        step = self._owned.get(value.number)
        if step is not None:
            place = self._slot("gradient", step, value.shape)
        elif value.number in self.last:
            place = self._slot("output", value, value.shape)
        else:
            place = Place("room", value.shape, offset=self.room)
            self.room += value.size
        self.places[value.number] = place
        self.work += value.size
        return place

    # -- steps ----------------------------------------------------------------------------------------------------

    def _step(self, step: Step) -> None:
        if step.kind == "view":
            self._view(step)
        elif step.kind == "kernel":
            write: Callable[[Step, Sequence[Any]], None] | None = getattr(self, f"_{step.name}", None)
            if write is not None:
                write(step, step.operands)
            else:
                self._elementwise(step)
        elif step.kind == "gradient" and step.name == "set":
            self._gradient(step)
        elif step.kind == "optimizer":
            self._optimizer(step)
        elif step.kind != "clear":
            raise NotNative(f"a step of kind {step.kind}")

    def _view(self, step: Step) -> None:
        source, *settings = step.operands
        (result,) = step.results
        if step.several or any(isinstance(piece, Value) for piece in settings) or result.number in self.last:
            raise NotNative("a view that is handed out")
        if is_number(source):
            place = Place("single", (1,))
            name = self._number(source)
            if is_number(result):
                self.numbers[result.number] = name
                return
            place = Place("room", (), offset=self.room)
            self.room += 1
            self.lines.append(f"{place.at(())} = {name}")
        else:
            place = self._place(source)
        made = place.seen(step.function.kernel, settings)
        if is_number(result):
            self.numbers[result.number] = made.at(())
        else:
            self.places[result.number] = made

    def _read(self, value: Any, index: Sequence[str]) -> str:
        if not isinstance(value, Value):
            return f"number({value!r})"
        return self._number(value) if is_number(value) else self._place(value).at(index)

    def _loops(self, shape: Sequence[int], names: str = "ijkl") -> tuple[list[str], str]:
        """Open a loop over each axis; gives the index, and the indentation within."""
        if len(shape) > len(names):
            raise NotNative("too many dimensions")
        indent = ""
        for name, n in zip(names, shape, strict=False):
            self.lines.append(f"{indent}for {name} in range({n}):")
            indent += "    "
        return list(names[: len(shape)]), indent

    def _elementwise(self, step: Step) -> None:
        formula, given = given_to(step)
        if formula is None:
            raise NotNative(f"no loop for {step.name}")
        self._map(step.results[0], formula.text, given)

    def _map(self, result: Value, text: str, given: dict[str, Any]) -> None:
        """Write a formula of values for each element of a result."""
        if is_number(result):
            texts = {name: self._read(value, ()) for name, value in given.items() if is_numeric(value)}
            name = self.numbers[result.number] = f"s{result.number}"
            self.lines.append(f"{name} = {filled_in(text, texts)}")
            self.work += 1
            return
        for value in given.values():  # what is from outside is found before the loops begin
            if isinstance(value, Value):
                self._read(value, ["0"] * len(result.shape))
        place = self._new(result)
        index, indent = self._loops(result.shape)
        texts = {name: self._read(value, index) for name, value in given.items() if is_numeric(value)}
        self.lines.append(f"{indent}{place.at(index)} = {filled_in(text, texts)}")

    def _product(self, result: Value, a: Place, b: Place, bias: Any = None) -> None:
        """``a @ b``, and a bias for each column."""
        if len(a.shape) != 2 or len(b.shape) != 2:
            raise NotNative("a product of other than matrices")
        if bias is not None:
            self._read(bias, ["0", "0"])
        place = self._new(result)
        self.work += result.size * a.shape[1]
        _, indent = self._loops(result.shape)
        self.lines.append(f"{indent}total = zero")
        self.lines.append(f"{indent}for k in range({a.shape[1]}):")
        self.lines.append(f"{indent}    total += {a.at(['i', 'k'])} * {b.at(['k', 'j'])}")
        end = "" if bias is None else f" + {self._read(bias, ['i', 'j'])}"
        self.lines.append(f"{indent}{place.at(['i', 'j'])} = total{end}")

    def _mm(self, step: Step, operands: Sequence[Any]) -> None:
        self._product(step.results[0], self._place(operands[0]), self._place(operands[1]))

    def _linear_2d(self, step: Step, operands: Sequence[Any]) -> None:
        bias, x, weight = operands
        w = self._place(weight)
        turned = Place(w.name, w.shape[::-1], w.strides[::-1], w.offset)
        self._product(step.results[0], self._place(x), turned, bias)

    def _column_sums(self, step: Step, operands: Sequence[Any]) -> None:
        self._sums(step.results[0], operands[0], (0,), False)

    def _sum(self, step: Step, operands: Sequence[Any]) -> None:
        if len(operands) > 1 and operands[1] is not None:
            raise NotNative("a sum in another dtype")
        self._total(step.results[0], "value", {"value": operands[0]})

    def _mean(self, step: Step, operands: Sequence[Any]) -> None:
        self._total(step.results[0], "value", {"value": operands[0]}, operands[0].size)

    def _sum_dim(self, step: Step, operands: Sequence[Any]) -> None:
        source, dim, keepdim, *rest = operands
        if any(piece is not None for piece in rest):
            raise NotNative("a sum in another dtype")
        self._sums(step.results[0], source, dim, keepdim)

    def _mean_dim(self, step: Step, operands: Sequence[Any]) -> None:
        source, dim, keepdim = operands
        self._sums(step.results[0], source, dim, keepdim, True)

    def _sums(self, result: Value, source: Value, dim: Any, keepdim: bool, mean: bool = False) -> None:
        place = self._place(source)
        n = len(place.shape)
        axes = set(range(n)) if dim is None else {d % n for d in (dim if isinstance(dim, tuple) else (dim,))}
        names = "ijkl"[:n]
        if len(names) < n:
            raise NotNative("too many dimensions")
        kept = [a for a in range(n) if a not in axes]
        count = 1
        for a in axes:
            count *= place.shape[a]
        over = f" / number({count})" if mean else ""
        made = None if is_number(result) else self._new(result)
        indent = ""
        for a in kept:
            self.lines.append(f"{indent}for {names[a]} in range({place.shape[a]}):")
            indent += "    "
        self.lines.append(f"{indent}total = zero")
        inner = indent
        for a in sorted(axes):
            self.lines.append(f"{inner}for {names[a]} in range({place.shape[a]}):")
            inner += "    "
        self.lines.append(f"{inner}total += {place.at(list(names))}")
        self.work += source.size
        if made is None:
            name = self.numbers[result.number] = f"s{result.number}"
            self.lines.append(f"{name} = total{over}")
        else:
            index = ["0" if a in axes else names[a] for a in range(n) if keepdim or a not in axes]
            self.lines.append(f"{indent}{made.at(index)} = total{over}")

    def _total(self, result: Value, text: str, given: dict[str, Any], count: int = 1) -> None:
        """The sum of a formula over all elements."""
        shape = np.broadcast_shapes(*(value.shape for value in given.values()))
        for value in given.values():
            self._read(value, ["0"] * len(shape))
        self.lines.append("total = zero")
        index, indent = self._loops(shape)
        texts = {name: self._read(value, index) for name, value in given.items()}
        self.lines.append(f"{indent}total += {filled_in(text, texts)}")
        name = self.numbers[result.number] = f"s{result.number}"
        self.lines.append(f"{name} = total" + (f" / number({count})" if count != 1 else ""))
        self.work += max(int(np.prod(shape)), 1)

    def _mse_loss(self, step: Step, operands: Sequence[Any]) -> None:
        x, y, reduction = operands
        text = "(x - y) * (x - y)"
        if reduction == 0:
            self._map(step.results[0], text, {"x": x, "y": y})
        else:
            size = int(np.prod(np.broadcast_shapes(x.shape, y.shape)))
            self._total(step.results[0], text, {"x": x, "y": y}, size if reduction == 1 else 1)

    def _mse_loss_backward(self, step: Step, operands: Sequence[Any]) -> None:
        g, x, y, reduction = operands
        factor = 2 / max(step.results[0].size, 1) if reduction == 1 else 2.0
        self._map(step.results[0], f"(x - y) * (g * number({factor!r}))", {"g": g, "x": x, "y": y})

    def _spread(self, step: Step, operands: Sequence[Any]) -> None:
        source, _ = operands
        if not is_number(source):
            raise NotNative("an array of one element")
        self._map(step.results[0], "value", {"value": source})

    def _clone(self, step: Step, operands: Sequence[Any]) -> None:
        self._map(step.results[0], "value", {"value": operands[0]})

    def _gradient(self, step: Step) -> None:
        target, value = step.operands[:2]
        (made,) = step.results
        self.gradients.append(step)
        if is_number(value):
            place = self._slot("gradient", step, ())
            self.lines.append(f"{place.name}[0] = {self._number(value)}")
            self.numbers[made.number] = self._number(value)
        elif step.named.get("own"):
            self.places[made.number] = self.places[value.number]
        else:
            place = self._slot("gradient", step, target.shape)
            source = self._place(value)
            index, indent = self._loops(target.shape)
            self.lines.append(f"{indent}{place.at(index)} = {source.at(index)}")
            self.places[made.number] = place

    def _optimizer(self, step: Step) -> None:
        optimizer = step.function
        if type(optimizer) is not SGD or len(optimizer.param_groups) != 1:
            raise NotNative("another optimizer")
        group = optimizer.param_groups[0]
        plain = {"momentum": 0, "weight_decay": 0, "maximize": False, "differentiable": False}
        if any(group[name] != value for name, value in plain.items()) or type(group["lr"]) is not float:
            raise NotNative("an optimizer with settings")
        if optimizer._optimizer_step_pre_hooks or optimizer._optimizer_step_post_hooks:
            raise NotNative("an optimizer with hooks")
        rate = f"number(rate{len(self.rates)})"
        self.rates.append(optimizer)
        for param, grad in step.operands:
            self.written.append(param)
            if is_number(param):
                self._number(param)
                place = next(Place(f"p{n}", ()) for n, slot in enumerate(self.slots) if slot == ("value", param))
                self.lines.append(f"{place.name}[0] = {place.name}[0] - {self._number(grad)} * {rate}")
                self.numbers.pop(param.number)
                continue
            place, g = self._place(param), self._place(grad)
            index, indent = self._loops(param.shape)
            at = place.at(index)
            self.lines.append(f"{indent}{at} = {at} - {g.at(index)} * {rate}")

    # -- the function ---------------------------------------------------------------------------------------------

    def function(self) -> tuple[Any, str]:
        """The function ``(address of the ids, *rates)``, compiled, and its text.

        It takes plain numbers only: to hand over an array costs as much as the work. The last two ids are those of the
        array for single results and of the workspace.
        """
        rates = "".join(f", rate{n}" for n in range(len(self.rates)))
        lines = [f"def tiny(where{rates}):", "    ids = number_at(where, INDEX)"]
        for n, name in enumerate(("outs", "room"), len(self.slots)):
            lines.append(f"    {name} = number_at(word_at(ids[{n}] + HEAD), KIND)")
        for n, (what, _) in enumerate(self.slots):
            where = f"ids[{n}] + HEAD" if what == "number" else f"word_at(ids[{n}] + HEAD)"
            lines.append(f"    p{n} = number_at({where}, KIND)")
        lines += [f"    {line}" for line in self.lines]
        text = "\n".join(lines) + "\n"
        names = {
            **functions_for(self.kind), "word_at": word_at, "number_at": number_at, "HEAD": _HEAD,
            "KIND": types.float32 if self.kind.itemsize == 4 else types.float64, "INDEX": types.int64,
        }  # fmt: skip
        exec(compile(text, "<glassgrad native program>", "exec"), names)
        signature = types.void(types.int64, *[types.float64] * len(self.rates))
        made = numba.njit(signature, error_model="numpy")(names["tiny"])
        return made, text
