"""What a capture notes of backward passes and of steps of optimizers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..autograd import api
from ..core import engine, leaf
from ..core.record import Record
from ..core.tensor import Tensor
from ..ground import modes
from .known import Known
from .program import NotCapturable, Step


class Passes(Known):
    """The steps that backward passes and optimizers become: the passes themselves go over tensors, to be heard."""

    def __init__(self, arguments: Sequence[Tensor], outside: set[int]) -> None:
        super().__init__(arguments, outside)
        self.reason: str | None = None  # why it ended early
        self._muted = False

    def give_up(self, reason: str) -> None:
        """Note no more; the first reason counts."""
        if self.reason is None:
            self.reason = reason

    def _backward(self, args: Any, kwargs: Any) -> None:
        names = ("tensors", "grad_tensors", "retain_graph", "create_graph", "inputs")
        arguments = dict(zip(names, args, strict=False)) | kwargs
        outputs = api._outputs(arguments.get("self", arguments.get("tensors")))
        seeds = arguments.get("gradient", arguments.get("grad_tensors"))
        if arguments.get("create_graph") or arguments.get("inputs") is not None:
            raise NotCapturable("backward(create_graph=True) and backward(inputs=...) are not followed")
        roots = api._roots(outputs, api._seeds(seeds, len(outputs)), True)
        for _, seed in roots:
            if seeds is None:
                self.new(seed, "constant", seed._array)
            self.operand(seed)
        leaves = self._leaves_below(roots)
        grads = self.walk(roots, leaves, bool(arguments.get("retain_graph")))
        for variable, grad in zip(leaves, grads, strict=True):
            if grad is not None:  # the graph is freed by now: the gradients are added, whether that can be noted or not
                there = variable._grad
                with leaf.adding:
                    leaf.accumulate(variable, grad._array)  # which copies, as the capture holds the array too
                try:
                    self._into(variable, grad, there)
                except NotCapturable as reason:
                    self.give_up(str(reason))

    def _leaves_below(self, roots: list[tuple[Any, Any]]) -> list[Any]:
        """The leaves below the roots of a graph that can be followed."""
        leaves = []
        for edge in engine.dependencies([edge for edge, _ in roots]):
            if getattr(edge, "_hooks", None) is not None:
                raise NotCapturable("a hook in the graph")
            if not isinstance(edge, Record):
                self.itself(edge)
                leaves.append(edge)
            elif edge.kind.lifted is edge.kind.run and edge.kind.row is None and edge.kind.name != "Output":
                raise NotCapturable(f"the graph has a {edge.kind.name}")
        return leaves

    def walk(self, roots: list[tuple[Any, Any]], edges: list[Any], retain_graph: bool, ends: bool = False) -> list[Any]:
        """The gradients that arrive at edges, as tensors."""
        before = modes.local.grad
        try:
            modes.set_grad(False)
            return engine.general(
                roots, retain_graph=retain_graph, lifted=True, inputs=edges, accumulate=False, ends=ends
            )
        finally:
            modes.local.grad = before
            modes.settle()

    def _into(self, variable: Tensor, grad: Tensor, there: Tensor | None) -> None:
        """Note what was added into the gradient of a leaf; ``there`` is what it had before."""
        target, value = self.itself(variable), self.operand(grad)
        step = Step("gradient", "set" if there is None else "add", variable, (target, value), acts=True)
        if there is None:
            step.results = (self.new(variable._grad, "made"),)
        else:
            step.operands += (self.find(there) or self.new(there, "gradient", variable),)
        self.steps.append(step)

    def _optimizer(self, function: Any, proceed: Callable[..., Any], args: Any) -> Any:
        (optimizer,) = args
        self._muted = True
        try:
            result = proceed(optimizer)
        finally:
            self._muted = False
        every = [p for group in optimizer.param_groups for p in group["params"] if p._grad is not None]
        try:
            places = tuple([(self.itself(p), self.operand(p._grad)) for p in every])
        except NotCapturable as reason:
            self.give_up(str(reason))
            return result
        self.steps.append(
            Step("optimizer", f"{type(optimizer).__name__}.step", optimizer, places, acts=True, call=function)
        )
        return result
