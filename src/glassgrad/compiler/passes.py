"""What a capture notes of backward passes, optimizer steps and gradients that are taken away."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..autograd import api
from ..core import engine, leaf
from ..core.record import Record
from ..core.tensor import Tensor
from ..ground import modes
from ..optim.optimizer import Optimizer
from .calls import Calls
from .program import NotCapturable, Step

UNHEARD = "it writes to a tensor in a way that was not seen"


class Passes(Calls):
    """The steps that backward passes and optimizers become: the passes themselves go over tensors, to be heard."""

    def __init__(self, outside: Callable[[Tensor], bool]) -> None:
        super().__init__(outside)
        self.cleared: set[int] = set()  # leaves whose gradient was taken away, by identity
        self.graded: dict[int, bool] = {}  # leaves that received one: does that hang on what the call found there?
        self.scheduled = False  # whether a schedule made a step

    def _backward(self, args: Any, kwargs: Any) -> None:
        if modes.local.autocast is not None:
            raise NotCapturable("backward() within autocast is not followed")
        names = ("tensors", "grad_tensors", "retain_graph", "create_graph", "inputs")
        given = dict(zip(names, args, strict=False)) | kwargs
        given["tensors"] = given.pop("self", given.get("tensors"))
        seeds = given.get("gradient", given.get("grad_tensors"))
        if given.get("create_graph") or given.get("inputs") is not None:
            raise NotCapturable("backward(create_graph=True) and backward(inputs=...) are not followed")
        outputs = api._outputs(given["tensors"])
        roots = self._roots(outputs, seeds)
        below = self._checked(roots)
        leaves = [edge for edge in below if not isinstance(edge, Record)]
        for variable in leaves:
            if self.find(variable) is None:
                raise NotCapturable("a leaf whose making was not seen")
        found = self._walk(roots, leaves, bool(given.get("retain_graph")))
        for variable, grad in zip(leaves, found, strict=True):
            if grad is not None:  # the graph is freed by now: the gradients are added, whether that can be noted or not
                there = variable._grad
                with leaf.adding:
                    leaf.accumulate(variable, grad._array)  # which copies, as the capture holds the array too
                self._remember([variable._grad])
                if self.reason is None:
                    try:
                        self._into(variable, grad, there)
                    except NotCapturable as reason:
                        self.give_up(str(reason))

    def _walk(
        self, roots: list[tuple[Any, Any]], edges: list[Any], keep: bool, recorded: bool = False, ends: bool = False
    ) -> list[Any]:
        before = modes.local.grad
        try:
            modes.set_grad(recorded)
            return engine.general(roots, keep=keep, lifted=True, inputs=edges, accumulate=False, ends=ends)
        finally:
            modes.off |= modes.local.me
            modes.local.grad = before
            modes.settle()

    def _roots(self, outputs: Any, seeds: Any) -> list[tuple[Any, Any]]:
        """Where a backward pass starts, with gradients that are known: those given, or ones."""
        roots = api._roots(outputs, api._seeds(seeds, len(outputs)), True)
        for _, seed in roots:
            if self.find(seed) is None:
                if seeds is not None:
                    raise NotCapturable("a gradient whose making was not seen")
                self._value(seed, "constant", seed._array)
        return roots

    def _checked(self, roots: list[tuple[Any, Any]]) -> dict[Any, int]:
        """Everything below ``roots``; nothing may listen there."""
        below = engine.dependencies([edge for edge, _ in roots])
        for edge in below:
            if getattr(edge, "_hooks", None) is not None:
                raise NotCapturable("a hook in the graph")
            if isinstance(edge, Record) and edge.kind.lifted is edge.kind.run and edge.kind.row is None:
                name = edge.kind.name
                if name not in ("Output",):
                    raise NotCapturable(f"the graph has a {name}")
        return below

    def _into(self, variable: Tensor, grad: Tensor, there: Tensor | None) -> None:
        """Note what was added into the gradient of a leaf; ``there`` is what it had before."""
        target, value = self._operand(variable), self._operand(grad)
        theirs = self._is_outside(variable) or any(variable is piece for piece in self.given)
        if not theirs:  # a leaf made within the function, perhaps on memory of an argument
            if there is not None:
                raise NotCapturable("a leaf made within the function receives more than one gradient")
            self._add(Step("kernel", "own", leaf._own, (value, target), (self._value(variable._grad, "made"),)))
            return
        self._itself(variable)
        self.graded.setdefault(id(variable), there is None and id(variable) not in self.cleared)
        step = Step("gradient", "set" if there is None else "add", variable, (target, value), acts=True)
        if there is None:
            step.results = (self._value(variable._grad, "made"),)
        else:
            step.operands += (self.find(there) or self._value(there, "gradient", variable),)
        self._add(step)

    def _grad(
        self, outputs: Any, inputs: Any, grad_outputs: Any = None, retain_graph: bool | None = None,
        create_graph: bool = False, **settings: Any,
    ) -> Any:  # fmt: skip
        if any(settings.values()) or modes.local.autocast is not None:
            raise NotCapturable("autograd.grad() with other settings than create_graph, or autocast, is not followed")
        wanted = (inputs,) if api._is_single(inputs) else tuple(inputs)
        roots = self._roots(api._outputs(outputs), grad_outputs)
        edges = [api._edge(tensor) for tensor in wanted]
        if any(edge is None for edge in edges) or len(set(edges)) < len(edges):
            raise NotCapturable("autograd.grad() of an input without history, or given twice")
        self._checked(roots)
        keep = create_graph if retain_graph is None else bool(retain_graph)
        found = self._walk(roots, edges, keep, create_graph)
        if any(grad is None for grad in found):
            raise NotCapturable("autograd.grad() of an unused input")
        return tuple(found)

    def _optimizer(self, function: Any, proceed: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        optimizer = args[0]
        if len(args) > 1 or kwargs:
            raise NotCapturable("a closure is given to the optimizer")
        every = [p for group in optimizer.param_groups for p in group["params"]]
        if self.unheard([*every, *(p._grad for p in every if p._grad is not None)]):
            self.give_up(UNHEARD)
        self._muted += 1
        try:
            result = proceed(*args, **kwargs)
        finally:
            self._muted -= 1
        self._remember([*every, *(p._grad for p in every if p._grad is not None)])
        params = [p for group in optimizer.param_groups for p in group["params"] if p._grad is not None]
        places = []
        for p in params:
            if self.find(p) is None or self.find(p).source not in ("outside", "argument"):  # type: ignore[union-attr]
                self.give_up("an optimizer of parameters that the function does not reach")
                return result
            held = self.find(p._grad)
            if held is None:
                self.give_up("a parameter's gradient from before the call that the function does not reach")
                return result
            places.append((self._itself(p), held))
        step = Step("optimizer", f"{type(optimizer).__name__}.step", optimizer, tuple(places), acts=True)
        step.call = function
        self._add(step)
        return result

    def _schedule(self, function: Any, proceed: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """A step of a schedule of learning rates, which the program makes too."""
        if len(args) > 1 or kwargs:
            raise NotCapturable("a schedule's step is given an argument")
        self._muted += 1
        try:
            result = proceed(*args, **kwargs)
        finally:
            self._muted -= 1
        self.scheduled = True
        self._add(Step("optimizer", f"{type(args[0]).__name__}.step", args[0], (), acts=True, call=function))
        return result

    def without_gradient(self) -> list[Tensor]:
        """The parameters that optimizers passed over, as they had no gradient: they must have none again."""
        every = [step.function for step in self.steps if step.kind == "optimizer" and step.operands]
        params = [p for optimizer in every for group in optimizer.param_groups for p in group["params"]]
        return [p for p in params if id(p) not in self.graded and id(p) not in self.cleared and p._grad is None]

    def _clear(self, proceed: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        owner = args[0]
        if isinstance(owner, Optimizer):
            params = [p for group in owner.param_groups for p in group["params"]]
        else:
            params = list(owner.parameters())
        if not kwargs.get("set_to_none", args[1] if len(args) > 1 else True):
            self._zeroed(params, proceed, args, kwargs)
            return
        proceed(*args, **kwargs)
        self._cleared([p for p in params if p.requires_grad or self.find(p) is not None])

    def _zeroed(self, params: Sequence[Tensor], proceed: Callable[..., Any], args: Any, kwargs: Any) -> None:
        """Note that the gradients of some tensors were filled with zeros."""
        if any(p._grad is not None and (p._grad._edge is not None or not p._grad._array.shape) for p in params):
            raise NotCapturable("zero_grad(set_to_none=False) of a gradient of no dimension, or with a graph")
        held = [self._itself(p) for p in params]
        self._muted += 1
        try:
            proceed(*args, **kwargs)
        finally:
            self._muted -= 1
        self._remember([p._grad for p in params if p._grad is not None])
        self._add(Step("tensors", "zero_gradients", zero_gradients, tuple(held), acts=True))

    def _set_gradient(self, proceed: Callable[..., Any], variable: Tensor, value: Any) -> None:
        if value is not None:
            raise NotCapturable(".grad is set to a tensor")
        proceed(variable, value)
        self._cleared([variable])

    def _cleared(self, variables: Sequence[Tensor]) -> None:
        """Note that the gradients of some tensors were taken away."""
        places = tuple(self._itself(p) for p in variables)
        self.cleared.update(id(p) for p in variables)
        self._add(Step("clear", "zero_grad", None, places, acts=True))


def zero_gradients(*variables: Tensor) -> None:
    """Fill the gradients that tensors have with zeros."""
    for variable in variables:
        grad: Any = variable._grad
        if grad is not None:
            grad.zero_()
