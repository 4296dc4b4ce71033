"""A derivative as a sum over paths, floor 8: multiply along each path, add over the paths; glassgrad's or torch's.

It asks each node for its local derivative by calling it, as a backward pass does, and never touches ``.grad``.
"""

from __future__ import annotations

import html
import math
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from os import PathLike
from os.path import splitext
from typing import Any, NamedTuple

from ..ground.output import write
from .labels import Labels, NamedTensors, as_text, caller_names, callers_variables, metadata_of, output_counts
from .read import as_loss, as_tensors
from .walk import SINK, Walk, collector_at_rest, engine_of, family, in_words, is_opaque, remedy, walk

__all__ = ["Path", "PathSum", "Step", "paths"]

NO_GRADIENT = "element 0 of tensors does not require grad and does not have a grad_fn"
STEPS = 12  # a longer path is printed with its middle left out
FINE = 2**20  # logarithms become whole numbers of this fineness, so that equal products compare as equal
ENDLESS = 2**50
#: Operations on each element alone, where none is broadcast: they are not tried.
ELEMENTWISE = frozenset(
    "Abs Add Cos Cosh Div Exp Log Mul Neg Pow Reciprocal Relu Rsqrt Sigmoid Sin Sinh Sqrt Sub Tan Tanh".split()
)

Place = tuple[int, int]  # an operation, by its position in the walk, and which of its outputs


@dataclass(frozen=True)
class Step:
    """One operation on a path, passed backward.

    ``local`` is what the gradient is multiplied by, elementwise; None where the operation does more than multiply, as a
    matrix product or a broadcast does.  ``symbol`` is ``local`` by name.
    """

    operation: str
    local: Any
    symbol: str | None

    def __str__(self) -> str:
        return f"<{self.operation}>" if self.local is None else as_text(self.local)


@dataclass(frozen=True)
class Path:
    """One way back from the root to the tensor: its ``steps``, and the ``value`` it adds to the derivative."""

    steps: tuple[Step, ...]
    value: Any

    def lines(self, root: str, end: str) -> list[str]:
        """The route, and under it the product."""
        names = [step.operation for step in self.steps]
        numbers = " * ".join(_shortened([str(step) for step in self.steps])) or "1"
        value = value_text(self.value)
        product = [numbers, value] if numbers != value else [numbers]
        if any(step.symbol for step in self.steps):
            product.insert(0, " * ".join(_shortened([step.symbol or str(step) for step in self.steps])))
        return [" -> ".join(_shortened([root, *names, end])), f"  {' = '.join(product)}"]


@dataclass(frozen=True)
class PathSum:
    """The derivative of ``root`` by ``end``: how many paths there are, the ``paths`` listed, and the ``total`` of all.

    ``total`` is None where no path leads back.  ``ranked`` says whether the paths listed are the largest ones.
    """

    root: str
    end: str
    count: int
    paths: tuple[Path, ...]
    total: Any
    ranked: bool

    def __str__(self) -> str:
        derivative = "/".join(f"d({name})" if " " in name else f"d{name}" for name in (self.root, self.end))
        if not self.count:
            return f"{derivative}: no path leads from {self.root} back to {self.end}"
        lines = [f"{derivative}: {_paths(self.count)} from {self.root} back to {self.end}"]
        if self.count > len(self.paths):
            lines[0] += f", {'the largest' if self.ranked else 'the first'} {len(self.paths)} shown"
        for path in self.paths:
            lines += [f"  {line}" for line in path.lines(self.root, self.end)]
        values = " + ".join(value_text(path.value) for path in self.paths)
        few = 1 < self.count == len(self.paths) <= STEPS
        if self.count > 1:
            lines.append(f"  sum over {_paths(self.count)}: {f'{values} = ' if few else ''}{value_text(self.total)}")
        return "\n".join(lines)

    __repr__ = __str__

    @property
    def tex(self) -> str:
        """The sum as LaTeX, an ``align*`` of amsmath: by the names of its factors, by their numbers, its value."""
        from .page.tex import of_paths

        return of_paths(self)

    def save(self, path: str | PathLike[str]) -> str:
        """Write the sum to ``path``, as a LaTeX file (``.tex``) or as text (``.txt``), and return the path.

        ValueError for another ending.
        """
        from .page.tex import document

        suffix = splitext(path)[1]
        if suffix.lower() not in (".tex", ".txt"):
            raise ValueError(f"unknown ending {suffix!r}: it must be .tex or .txt")
        return write(path, document(self.tex) if suffix.lower() == ".tex" else f"{self}\n")

    def _repr_html_(self) -> str:
        """The sum as a block for notebooks."""
        return f"<pre>{html.escape(str(self))}</pre>"


@collector_at_rest()
def paths(y: Any, x: Any, *, names: NamedTensors = None, params: NamedTensors = None, limit: int = 10) -> PathSum:
    """The derivative of ``y`` (of its sum, where it has several elements) by ``x``, as a sum over paths.

    Every path is counted; the ``limit`` largest are listed where every operation multiplies one number, else the
    first ``limit``.  ``names`` (or ``params``) names tensors, and the caller's variables are known.
    A value has the shape of ``x``.  The graph must still hold its saved values: call this before
    ``backward()``, or use ``retain_graph=True``; a freed graph raises its own error.  RuntimeError where ``y`` requires
    no gradient, TypeError for anything but tensors.
    """
    variables = callers_variables()
    y = as_loss(y, "paths")
    (x,) = as_tensors((x,), "paths")
    if not y.requires_grad:
        raise RuntimeError(NO_GRADIENT)
    engine = sys.modules[engine_of([y])]
    walked = walk([y])
    labels = Labels(walked, [*caller_names(names, params, "paths"), *variables])
    root, end = labels.name_of(y, "the result"), labels.name_of(x, "the tensor")
    with engine.no_grad():
        ones = engine.ones_like(y.detach())
        if y is x:
            return PathSum(root, end, 1, (Path((), ones),), ones, True)
        start, goal = _position(walked, y), _position(walked, x)
        if start is None or goal is None:
            return PathSum(root, end, 0, (), None, True)
        slopes = _Slopes(walked, labels, engine, output_counts(walked, (y,)))
        count, total = slopes.measure(start, goal, ones)
        ranked = slopes.ranked
        routes = list(slopes.best(start, goal, limit))
        if len(routes) == count:
            routes.sort(key=lambda route: [edge.slot for edge in route])  # first operands first, as in the formula
        if count == 1 and routes:  # what was measured is what this path gives
            values = [total]
        else:
            values = [slopes.along(route, ones) for route in routes]
        listed = [
            Path(tuple([edge.step for edge in route]), value) for route, value in zip(routes, values, strict=True)
        ]
        if listed and len(listed) == count:
            total = sum((path.value for path in listed[1:]), listed[0].value)
    return PathSum(root, end, count, tuple(listed), total, ranked)


class _Edge(NamedTuple):
    """A step with what is needed to take it: from output ``source`` to input ``slot`` of the node, on to ``target``."""

    step: Step
    source: Place
    slot: int
    target: Place
    weight: int


class _Slopes:
    """The local derivatives of the part of a graph that lies between a root and a goal."""

    def __init__(self, walked: Walk, labels: Labels, engine: Any, outputs: list[int]) -> None:
        self.outputs = outputs
        self.walked, self.labels, self.engine = walked, labels, engine
        self.edges: dict[Place, list[_Edge]] = defaultdict(list)
        self.ranked = True
        self._tried: dict[tuple[Any, ...], tuple[Any, Any]] = {}
        self._route: list[tuple[_Edge, Any]] = []

    def measure(self, start: Place, goal: Place, ones: Any) -> tuple[int, Any]:
        """How many paths lead from ``start`` to ``goal``, and the sum of their values: one pass, root first."""
        leads = self._leading_to(goal)
        counts: dict[Place, int] = defaultdict(int, {start: 1})
        grads: dict[Place, Any] = {start: ones}
        waiting: dict[int, list[Place]] = defaultdict(list, {start[0]: [start]})
        for i in range(start[0], goal[0]):
            for place in waiting.pop(i, ()):
                if place not in leads:
                    continue
                count, grad = counts.pop(place), grads.pop(place)
                results = self._back(place, grad)
                ones = self._asked_with(grad)[0]
                slopes = self._back(place, ones)
                for slot, target in enumerate(self.walked.inputs[i]):
                    if target is None or target not in leads or results[slot] is None:
                        continue
                    self._record(place, slot, target, slopes[slot], ones)
                    if target not in grads:
                        waiting[target[0]].append(target)
                    counts[target] += count
                    arrived = self._fitted(results[slot], target)
                    grads[target] = arrived if target not in grads else grads[target] + arrived
        return counts.get(goal, 0), grads.get(goal)

    def _asked_with(self, like: Any) -> tuple[Any, Any]:
        """What nodes are asked with: ones, and numbers from 1 to 2, of the shape and dtype of ``like``."""
        key = tuple(like.shape), like.dtype, like.device
        if key not in self._tried:
            ones = self.engine.ones_like(like)
            trial = self.engine.linspace(1, 2, like.numel()).to(like.dtype).reshape(like.shape).to(like.device)
            self._tried[key] = ones, trial
        return self._tried[key]

    def along(self, route: Sequence[_Edge], grad: Any) -> Any:
        """What is left of ``grad`` at the end of a path; the way it shares with the path before is not gone again."""
        shared = 0
        for (edge, _), own in zip(self._route, route, strict=False):
            if edge is not own:
                break
            shared += 1
        del self._route[shared:]
        grad = self._route[-1][1] if shared else grad
        for edge in route[shared:]:
            grad = self._fitted(self._back(edge.source, grad)[edge.slot], edge.target)
            self._route.append((edge, grad))
        return grad

    def best(self, start: Place, goal: Place, limit: int) -> Iterable[list[_Edge]]:
        """The ``limit`` paths of largest product, largest first, found without looking at the others.

        The best product from each place on to the goal is known beforehand, so the search never leaves the best path
        that is still open; among equals it follows the newest, which is depth first.
        """
        onward: dict[Place, int] = {goal: 0}
        for place in sorted(self.edges, reverse=True):
            onward[place] = max(self._weight(edge) + onward[edge.target] for edge in self.edges[place])
        if start not in onward:
            return
        age = 0
        heap: list[tuple[int, int, int, Place, Any]] = [(-onward[start], age, 0, start, None)]
        while heap and limit > 0:
            _, _, so_far, place, trail = heappop(heap)
            if place == goal:
                limit -= 1
                route = []
                while trail is not None:
                    trail, edge = trail
                    route.append(edge)
                yield route[::-1]
                continue
            for edge in reversed(self.edges[place]):
                age -= 1
                reached = so_far + self._weight(edge)
                heappush(heap, (-(reached + onward[edge.target]), age, reached, edge.target, (trail, edge)))

    def _weight(self, edge: _Edge) -> int:
        return edge.weight if self.ranked else 0

    def _leading_to(self, goal: Place) -> set[Place]:
        """The places from which some path reaches ``goal``."""
        leads, nodes = {goal}, {goal[0]}
        outputs: dict[int, set[int]] = defaultdict(lambda: {0})
        for below in self.walked.inputs:
            for edge in below:
                if edge is not None and edge[1]:
                    outputs[edge[0]].add(edge[1])
        for i in range(goal[0] - 1, -1, -1):
            if any(edge in leads for edge in self.walked.inputs[i] if edge is not None and edge[0] in nodes):
                nodes.add(i)
                leads.update((i, output) for output in outputs[i])
        return leads

    def _back(self, place: Place, grad: Any) -> Sequence[Any]:
        """The gradients of the node's inputs when only this output has one."""
        position, output = place
        node = self.walked.nodes[position]
        if is_opaque(node):  # asked for its derivative it would add to .grad
            raise RuntimeError(f"paths(): {in_words(node)} {remedy(node)}")
        grads = [None] * self.outputs[position]
        grads[output] = grad
        call = node if callable(node) else node.apply  # torch's node of a custom Function has only apply
        results = call(*grads)
        results = results if isinstance(results, (tuple, list)) else (results,)
        return [None if result is None else result.detach() for result in results]

    def _fitted(self, grad: Any, target: Place) -> Any:
        """``grad`` summed over what broadcasting had added to the target."""
        shape = self._shape(target)
        if shape is None or grad.shape == shape:
            return grad
        while grad.dim() > len(shape):
            grad = grad.sum(0)
        for dim, size in enumerate(shape):
            if size == 1 != grad.shape[dim]:
                grad = grad.sum(dim, keepdim=True)
        return grad

    def _shape(self, place: Place) -> tuple[int, ...] | None:
        """The shape of a node's output, where the node tells it."""
        node = self.walked.nodes[place[0]]
        if self.walked.ops[place[0]] == SINK:
            return tuple(node.variable.shape)
        known = metadata_of(node)
        return tuple(known[place[1]].shape) if known else None

    def _record(self, place: Place, slot: int, target: Place, slope: Any, ones: Any) -> None:
        node = self.walked.nodes[place[0]]
        whole = slope.shape == ones.shape == self._fitted(slope, target).shape
        local = slope if whole and self._multiplies(place, slot, slope) else None
        symbol = None
        if local is not None and family(self.walked.ops[place[0]]) == "Mul":
            symbol = self.labels.named_operand(node, 1 - slot)
        if local is None or slope.numel() != 1:
            self.ranked = False
        weight = 0 if local is None or slope.numel() != 1 else _logarithm(_size(slope))
        self.edges[place].append(_Edge(Step(self.labels[node], local, symbol), place, slot, target, weight))

    def _multiplies(self, place: Place, slot: int, slope: Any) -> bool:
        """Whether the step, from a shape to the same shape, multiplies each element by ``slope``: tried on others."""
        if slope.numel() <= 1 or family(self.walked.ops[place[0]]) in ELEMENTWISE and not slope.is_complex():
            return True
        trial = self._asked_with(slope)[1]
        got = self._back(place, trial)[slot]
        error, size = _size(got - trial * slope), _size(got)
        return error <= 1e-3 * size or (math.isnan(size) and math.isnan(_size(slope)))


def _position(walked: Walk, tensor: Any) -> Place | None:
    """Where the tensor's gradient arrives; None where it is not in the graph."""
    maker = tensor.grad_fn
    for i, node in enumerate(walked.nodes):
        if node is maker or (maker is None and walked.ops[i] == SINK and node.variable is tensor):
            return i, tensor.output_nr
    return None


def _size(value: Any) -> float:
    """The largest magnitude in ``value``; 0 where it is empty."""
    return float(value.abs().max().item()) if value.numel() else 0.0


def _logarithm(size: float) -> int:
    if math.isnan(size) or math.isinf(size):
        return ENDLESS
    return round(math.log2(size) * FINE) if size else -ENDLESS


def value_text(value: Any) -> str:
    """A value on a path as text: numbers where there are few, else the shape and the Euclidean norm."""
    text = as_text(value)
    return f"{text[:-1]}, norm {_norm(value):.4g})" if text.startswith("(shape") else text


def _norm(value: Any) -> float:
    numbers = value.detach().abs()
    return float((numbers * numbers).sum().sqrt().item())


def _shortened(words: list[str]) -> list[str]:
    if len(words) <= STEPS:
        return words
    return [*words[:4], f"... {len(words) - 8:,} more ...", *words[-4:]]


def _paths(count: int) -> str:
    if count == 1:
        return "one path"
    return f"{count:,} paths" if count < 10**15 else f"about 10^{math.log10(count):.0f} paths"
