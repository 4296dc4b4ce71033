"""``autograd.grad`` and ``backward`` from tensors of a level: by its graph, or by values and tangents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..autograd import api
from ..core import engine
from ..core.tensor import Tensor
from ..ground import errors, modes
from ..tensor.lifted import Lifted
from . import levels
from .tangents import Forward, zeros_of
from .tracking import Reverse, edge_at


def grad(
    outputs: Sequence[Any],
    inputs: Sequence[Any],
    seeds: Sequence[Any],
    keep: bool,
    create_graph: bool,
    allow_unused: bool,
) -> tuple[Any, ...]:
    """The gradients of outputs by inputs, where one of these is lifted; None for those that are not reached."""
    outputs, inputs = [levels.alive(out) for out in outputs], [levels.alive(tensor) for tensor in inputs]
    level = levels.highest(outputs)
    if isinstance(level, Reverse):
        return _in_graph(level, outputs, inputs, seeds, keep, create_graph, allow_unused)
    if isinstance(level, Forward):
        return _with_tangents(level, outputs, inputs, seeds, keep, create_graph, allow_unused)
    if level is not None:
        raise RuntimeError(errors.NO_GRAD.format(index=0))
    values = [tensor.value if isinstance(tensor, Lifted) else tensor for tensor in inputs]
    return api.grad(outputs, values, seeds, keep, create_graph, allow_unused=allow_unused)  # type: ignore[no-any-return]


def _in_graph(
    level: Reverse,
    outputs: Sequence[Any],
    inputs: Sequence[Any],
    seeds: Sequence[Any],
    keep: bool,
    create_graph: bool,
    allow_unused: bool,
) -> tuple[Any, ...]:
    """By the graph of a level of reverse mode."""
    roots = []
    for index, (out, seed) in enumerate(zip(outputs, seeds, strict=True)):
        edge = edge_at(level, out)
        if edge is None:
            raise RuntimeError(errors.NO_GRAD.format(index=index))
        roots.append((edge, _seed(out) if seed is None else seed))
    edges = [edge_at(level, tensor) for tensor in inputs]
    wanted = [edge for edge in edges if edge is not None]
    before = modes.local.grad
    try:
        modes.set_grad(create_graph)
        answers = engine.general(roots, keep=keep, lifted=True, inputs=wanted, accumulate=False)
    finally:
        modes.off |= modes.local.me
        modes.local.grad = before
        modes.settle()
    by_edge = dict(zip(wanted, answers, strict=True))
    gradients = tuple(None if edge is None else by_edge[edge] for edge in edges)
    if not allow_unused and any(gradient is None for gradient in gradients):
        raise RuntimeError(errors.UNUSED.format(index=gradients.index(None)))
    return gradients


def _seed(out: Any) -> Any:
    if out._array.size != 1:
        raise RuntimeError(errors.SCALAR_ONLY)
    return zeros_of(out) + 1


def _with_tangents(
    level: Forward,
    outputs: Sequence[Any],
    inputs: Sequence[Any],
    seeds: Sequence[Any],
    keep: bool,
    create_graph: bool,
    allow_unused: bool,
) -> tuple[Any, ...]:
    """Below a level of forward mode: the gradients of the values, and of the tangents, which are theirs."""
    values = [level.lower(out) for out in outputs]
    moved = [level.tangent(out) for out in outputs]
    inputs = [level.lower(tensor) for tensor in inputs]
    weights = [None if seed is None else level.lower(seed) for seed in seeds]
    firsts = api.grad(values, inputs, weights, True, create_graph, allow_unused=allow_unused)
    seconds: list[Any] = [None] * len(inputs)
    terms = [
        (tangent, _seed(value) if weight is None else weight)
        for tangent, value, weight in zip(moved, values, weights, strict=True)
    ]
    terms += [(value, level.tangent(seed)) for value, seed in zip(values, seeds, strict=True)]
    for term, weight in terms:
        if isinstance(term, Tensor) and weight is not None and term.requires_grad:
            parts = api.grad([term], inputs, [weight], True, create_graph, allow_unused=True)
            seconds = [b if a is None else a if b is None else a + b for a, b in zip(seconds, parts, strict=True)]
    return tuple(
        None if first is None else level.dual(first, second) for first, second in zip(firsts, seconds, strict=True)
    )


def backward(tensors: Sequence[Any]) -> list[Any]:
    """What ``backward`` starts from: below a block of forward mode its values; RuntimeError within a transform."""
    for level in levels.levels():
        if level.has_function:
            raise RuntimeError(
                "backward() called inside a functorch transform. This is not supported, please use functorch.grad or "
                "functorch.vjp instead or call backward() outside of functorch transforms."
            )
    return [tensor.value if isinstance(tensor, Lifted) else tensor for tensor in map(levels.alive, tensors)]
