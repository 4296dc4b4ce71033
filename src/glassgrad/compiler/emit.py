"""Writes a program as Python: one line for each step, and a check of everything it takes for granted before them."""

from __future__ import annotations

from functools import cache
from itertools import count
from sys import getrefcount
from typing import Any

import numpy as np

from ..core import leaf
from ..core.tensor import Tensor, share, wrap
from ..ground import modes, source_text
from .memory_plan import Plan
from .program import Step, Value

_numbers = count(1).__next__
#: What programs call their own: a kernel of such a name, or an object of such a class, is called otherwise.
_OWN = "another back context contexts empty entries g grads ids native others record rest room run saved where"


class Text(source_text.Text):
    """Lines of a program, and what its names stand for."""

    def __init__(self) -> None:
        names = {
            "__name__": __name__,  # by which warnings know it
            "Tensor": Tensor, "wrap": wrap, "np": np, "asarray": np.asarray, "copyto": np.copyto, "ndarray": np.ndarray,
        }  # fmt: skip
        super().__init__(names, _OWN.split(), r"[vatog]\d+")  # values and arguments are called so
        self.looks_at: dict[int, Value] = {}  # what came from outside, by the views of it

    def operand(self, thing: Any, as_tensor: bool = False) -> str:
        """How the text writes an operand."""

        def leaf(piece: Any) -> str:
            if not isinstance(piece, Value):
                return self.literal(piece)
            if not as_tensor:
                return piece.name
            if piece.holder:
                return piece.holder
            if piece.source not in ("outside", "argument"):
                return f"wrap({piece.name})"
            return self.name(piece.held, "outside") if piece.source == "outside" else f"a{piece.held}"

        return self.tree(thing, leaf)

    def unless(self, tests: list[str]) -> None:
        """The lines that answer MISS where one of some tests is true."""
        for start in range(0, len(tests), 8):
            self.add(f"    if {' or '.join(tests[start : start + 8])}:")
            self.add("        return MISS")

    def compiled(self, title: str) -> tuple[dict[str, Any], str]:
        """Run the text; gives what it defines, and the text."""
        text = "\n".join(self.lines) + "\n"
        source_text.run_text(text, f"<glassgrad program {_numbers()}: {title}>", self.names)
        return self.names, text


class Resized(RuntimeError):
    """A call of a pure function gave a tensor of another shape than in the trace."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"compile(pure=True): {name}() gave another shape than when the function was traced; where values say how "
            "large tensors are, leave pure=True out"
        )


def write_steps(text: Text, plan: Plan) -> None:
    """The lines of a plan's steps."""
    for place, step in enumerate(plan.steps):
        text.lines += ["    " + line for line in _lines(text, step)]
        dead = plan.ends(place)
        if dead:
            text.add(f"    del {', '.join(value.name for value in dead)}")


def _lines(text: Text, step: Step) -> list[str]:
    results = ", ".join(value.name for value in step.results) + ("," if step.several and len(step.results) == 1 else "")
    if step.kind in ("kernel", "view"):
        doc = getattr(step.function, "__doc__", None) or ""
        remark = f"  # {doc.partition(': ')[2].removesuffix('.')}" if doc.startswith("One loop") else ""
        return [f"{results} = {_call(text, step)}{remark}"]
    if step.kind == "tensors":
        return _tensor_lines(text, step, results)
    if step.kind == "gradient":
        return _gradient_lines(text, step)
    if step.kind == "optimizer":
        owner = text.name(step.function, type(step.function).__name__.lower())
        return [f"{text.name(step.call, 'step')}({owner})", *_reloaded(text, step)]
    raise AssertionError(step.kind)


def _call(text: Text, step: Step) -> str:
    kernel = step.function
    if hasattr(kernel, "kernel"):
        is_plain = kernel.layout in ("plain", "elementwise")  # of which dense operands give a dense result
        everyday = kernel.laid is None or is_plain and all(value.dense for value in step.inputs)
        kernel = kernel.kernel if everyday else lying(kernel)
    name = text.name(kernel, step.name)
    arguments = [text.operand(piece) for piece in step.operands]
    if step.kind == "view" and isinstance(step.operands[0], Value) and not step.operands[0].is_array:
        arguments[0] = f"asarray({arguments[0]})"
    return f"{name}({', '.join(arguments)})"


@cache
def lying(row: Any) -> Any:
    """The kernel of a row whose results lie where its calls lay them."""
    return lambda *operands: row.laid(row.kernel(*operands), *operands[: len(row.inputs)])


def _tensor_lines(text: Text, step: Step, results: str) -> list[str]:
    """A call of a function of tensors; what it writes to keeps its name."""
    guarded = any(v.source == "argument" or v.source == "outside" and v.held._edge is not None for v in step.inputs)
    name = text.name(unrecorded(step.function) if guarded else step.function, step.name)
    arguments = [text.operand(piece, True) for piece in step.operands]
    arguments += [f"{key}={text.operand(piece, True)}" for key, piece in step.named.items()]
    lines = []
    fixed = ("outside", "argument", "constant")  # the first two are written to as tensors that have names already
    loose = [value for value in step.inputs if value.source not in fixed and not value.holder]
    written = loose if step.acts else []
    for value in dict.fromkeys(written):
        lines.append(f"t{value.number} = wrap({value.name})")
        if value.number in text.looks_at:  # its writes count for the tensor on whose memory it lies
            owner = text.operand(text.looks_at[value.number], True)
            lines.append(f"t{value.number}._counter = {text.name(share, 'share')}({owner})")
        arguments = [piece.replace(f"wrap({value.name})", f"t{value.number}") for piece in arguments]
    call = f"{name}({', '.join(arguments)})"
    new = [value for value in step.results if value not in step.inputs]
    if not new:
        lines.append(call)
    elif step.several:
        lines.append(f"{results} = [piece._array for piece in {call}]")
    else:
        lines.append(f"{results} = {call}._array")
    for value in new if step.acts and step.draws else ():  # nothing is known of the function
        resized = f"raise {text.name(Resized, 'Resized')}({step.name!r})"
        lines.append(f"if {value.name}.shape != {value.shape}: {resized}")
    lines += [f"{value.name} = t{value.number}._array" for value in dict.fromkeys(written) if value.shape == ()]
    if step.acts:
        lines += _reloaded(text, step)
    return lines


@cache
def unrecorded(function: Any) -> Any:
    """A function whose calls record no gradients: the program has a way back of its own."""

    def call(*args: Any, **kwargs: Any) -> Any:
        before = modes.local.grad
        try:
            modes.set_grad(False)
            return function(*args, **kwargs)
        finally:
            modes.local.grad = before
            modes.settle()

    return call


def _reloaded(text: Text, step: Step) -> list[str]:
    """Tensors from outside may hold another array after a step that writes to them."""
    every = dict.fromkeys(step.inputs)
    kept = [value for value in every if value.source in ("outside", "argument") or value.holder]
    return [f"{value.name} = {text.operand(value, True)}._array" for value in kept if value.shape == ()]


def _gradient_lines(text: Text, step: Step) -> list[str]:
    owner = text.operand(step.operands[0], True)
    if step.name == "clear":
        return [f"{owner}._grad = None"]
    target, value, *there = step.operands
    if step.name == "add":
        lines = [f"{text.name(add_into, 'add_into')}({owner}, {value.name})"]
        return lines + [f"{total.name} = {total.holder}._array" for total in there if total.shape == ()]
    (grad,) = step.results
    array = value.name
    if not step.named.get("own"):
        own = text.name(taken, "taken") if step.named.get("taken") else text.name(leaf._own, "own")
        array = f"{own}({array}, {target.name})"
    return [f"{grad.name} = {array}", f"{grad.holder} = {owner}._grad = wrap({grad.name})"]


def taken(grad: Any, data: Any) -> Any:
    """A kernel's result as a leaf's gradient: itself, where only one variable of the caller holds it, or a copy."""
    if type(grad) is np.ndarray and getrefcount(grad) <= leaf._OURS and grad.base is None and grad.dtype is data.dtype:
        if type(data) is np.ndarray and grad.shape == data.shape and grad.strides == data.strides:
            return grad
    return leaf._own(grad, data)


def add_into(variable: Any, grad: Any) -> None:
    """Add an array into the gradient that a leaf has."""
    with leaf.adding:
        leaf.accumulate(variable, grad)
