"""What a capture notes of backward passes and of steps of optimizers."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..autograd import api
from ..core import engine
from ..core.record import Record
from ..core.tensor import Tensor
from ..ground import modes
from .advice import place
from .known import Known
from .operations import without_gradients
from .program import NotCapturable, Step

_GRAD = inspect.signature(api.grad)


class Passes(Known):
    """The steps that backward passes and optimizers become: the passes themselves go over tensors, to be heard."""

    def __init__(self, arguments: Sequence[Tensor], stays: Callable[[Any], bool], gradients: dict[int, Any]) -> None:
        super().__init__(arguments, stays, gradients)
        self.reason: str | None = None  # why it ended early
        self._muted = False
        self._depth = 0  # calls around the present one

    def give_up(self, reason: str) -> None:
        """Note no more; the first reason counts."""
        if self.reason is None:
            self.reason = reason + place()

    def _opaque(self, function: Any, proceed: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        raise NotImplementedError

    def _backward(self, function: Any, proceed: Callable[..., Any], args: Any, kwargs: Any) -> None:
        names = ("tensors", "grad_tensors", "retain_graph", "create_graph", "inputs")
        arguments = dict(zip(names, args, strict=False)) | kwargs
        outputs = api._outputs(arguments.get("self", arguments.get("tensors")))
        seeds = arguments.get("gradient", arguments.get("grad_tensors"))
        if arguments.get("create_graph") or arguments.get("inputs") is not None:
            raise NotCapturable("backward(create_graph=True) and backward(inputs=...) are not followed")
        roots = self._roots(outputs, seeds)
        leaves = self._leaves_below(roots)
        grads = self.walk(roots, leaves)
        there = [variable._grad for variable in leaves]
        self._really(proceed, args, kwargs)
        try:
            for variable, grad, before in zip(leaves, grads, there, strict=True):
                if grad is not None:
                    self._into(variable, grad, before)
        except NotCapturable as reason:
            self.give_up(str(reason))

    def _really(self, proceed: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """Make a call of which the steps are noted already."""
        self._muted = True
        try:
            return proceed(*args, **kwargs)
        finally:
            self._muted = False

    def _grad(self, function: Any, proceed: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        arguments = _GRAD.bind(*args, **kwargs).arguments
        outputs, wanted = api._outputs(arguments["outputs"]), arguments["inputs"]
        wanted = (wanted,) if isinstance(wanted, Tensor) else tuple(wanted)
        create = bool(arguments.get("create_graph", False))
        if arguments.get("is_grads_batched") or arguments.get("materialize_grads"):
            raise NotCapturable("grad(is_grads_batched=True) and grad(materialize_grads=True) are not followed")
        roots = self._roots(outputs, arguments.get("grad_outputs"))
        self._leaves_below(roots)
        edges = [api._target(tensor, roots) for tensor in wanted]
        if any(edge is None for edge in edges):
            raise NotCapturable("it asks for the gradient of a tensor that has none")
        unique = list(dict.fromkeys(edges))
        by_edge = dict(zip(unique, self.walk(roots, unique, create=create), strict=True))
        grads = [by_edge[edge] for edge in edges]
        if create and None not in grads and arguments.get("retain_graph") is not False:
            return tuple(grads)  # which have a way back that was heard
        if create:
            raise NotCapturable("a gradient is missing, or the graph is freed that it goes back to")
        result = self._really(proceed, args, kwargs)
        try:
            for tensor, grad in zip(result, grads, strict=True):
                if tensor is not None:
                    self.same(tensor, grad)
        except NotCapturable as reason:
            self.give_up(str(reason))
        return result

    def _roots(self, outputs: Sequence[Tensor], seeds: Any) -> list[tuple[Any, Any]]:
        """The edges at which a walk begins, and the gradients with which it does."""
        roots = api._roots(outputs, api._seeds(seeds, len(outputs)), True)
        for _, seed in roots:
            if seeds is None:
                self.new(seed, "constant", seed._array)
            self.operand(seed)
        return roots

    def _leaves_below(self, roots: list[tuple[Any, Any]]) -> list[Any]:
        """The leaves below the roots of a graph that can be followed."""
        leaves = []
        for edge in engine.dependencies([edge for edge, _ in roots]):
            if getattr(edge, "_hooks", None) is not None:
                raise NotCapturable("a hook in the graph")
            if not isinstance(edge, Record):
                if "_post_accumulate" in edge.__dict__:
                    raise NotCapturable("a hook waits for a gradient")
                self.itself(edge)
                leaves.append(edge)
            elif edge.kind.lifted is edge.kind.run and edge.kind.row is None and edge.kind.name != "Output":
                raise NotCapturable(f"the graph has a {edge.kind.name}")
        return leaves

    def walk(self, roots: list[tuple[Any, Any]], edges: list[Any], create: bool = False) -> list[Any]:
        """The gradients that arrive at edges, as tensors; ``create``: with a way back of their own. The graph stays."""
        if self.has_halves:
            raise NotCapturable("derivatives in half precision, which walks over arrays round less often")
        before, depth = modes.local.grad, self._depth
        try:
            modes.set_grad(create)
            self._depth = 1  # what the rules call is a part of the walk
            return engine.general(roots, retain_graph=True, lifted=True, inputs=edges, accumulate=False)
        except Exception as error:  # noqa: BLE001  arrays may go where tensors do not: nothing has happened yet
            raise NotCapturable(f"a rule raises {type(error).__name__}") from None
        finally:
            self._depth = depth
            modes.off |= modes.local.me
            modes.local.grad = before
            modes.settle()

    def _into(self, variable: Tensor, grad: Tensor, there: Tensor | None) -> None:
        """Note what was added into the gradient of a leaf; ``there`` is what it had before."""
        target, value = self.itself(variable), self.operand(grad)
        if there is None and not np.array_equal(variable._grad._array, grad._array, equal_nan=True):
            raise NotCapturable("gradients are others where tensors are walked over")
        step = Step("gradient", "set" if there is None else "add", variable, (target, value), acts=True)
        if there is None:
            step.results = (self.new(variable._grad, "made"),)
            step.results[0].holder = f"g{step.results[0].number}"
        else:
            step.operands += (self.operand(there),)
        self.steps.append(step)

    def _clear(self, function: Any, proceed: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """Note that gradients are taken away."""
        leaves = without_gradients(function, args, kwargs)
        if leaves is None:
            if len(args) > 1 and isinstance(args[0], Tensor):
                raise NotCapturable("a gradient is set")
            return self._opaque(function, proceed, args, kwargs)
        result = proceed(*args, **kwargs)
        try:
            for leaf in leaves:
                self.steps.append(Step("gradient", "clear", leaf, (self.itself(leaf),), acts=True))
        except NotCapturable as reason:
            self.give_up(str(reason))
        return result

    def _optimizer(self, function: Any, proceed: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        if len(args) != 1 or kwargs:
            raise NotCapturable("an optimizer is given a closure")
        (optimizer,) = args
        result = self._really(proceed, args, kwargs)
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
