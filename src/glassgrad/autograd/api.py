"""``backward`` and ``grad``: arguments checked as PyTorch checks them, then handed to the engine."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core import engine, leaf
from ..core.call import ORDINARY
from ..core.record import OUTPUT, Record, output_number, output_of
from ..core.row import TABLE
from ..core.tensor import Tensor, edge_of, wrap
from ..ground import dtypes, errors, listening, modes
from ..ground.listening import audible
from ..ground.runtime import warn
from ..tensor.node import AccumulateGrad, Node

ndarray = np.ndarray
_ONE = np.float32(1)


def tensor_backward(
    self: Tensor,
    gradient: Tensor | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Any = None,
) -> None:
    """Compute the gradients of this tensor with respect to the graph's leaves and add them into their ``.grad``.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.Tensor.backward.html
    """
    edge = self._edge
    if gradient is None and inputs is None and not create_graph and type(edge) is Record:
        data = self._array
        if type(data) is np.float32 and not modes.transforming:  # the everyday call: the loss of a training step
            engine.backward([(edge, _ONE)], retain_graph=bool(retain_graph))
            return
    _backward(self, gradient, retain_graph, create_graph, inputs=inputs)


def backward(
    tensors: Tensor | Sequence[Tensor], grad_tensors: Any = None, retain_graph: bool | None = None,
    create_graph: bool = False, grad_variables: Any = None, inputs: Any = None,
) -> None:  # fmt: skip
    """Compute the sum of gradients of ``tensors`` with respect to the graph's leaves, into their ``.grad``.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.autograd.backward.html
    """
    if grad_variables is not None:
        warnings.warn("`grad_variables` is deprecated. Use `grad_tensors` instead.", FutureWarning, stacklevel=2)
        if grad_tensors is not None:
            raise RuntimeError(
                "`grad_tensors` and `grad_variables` (deprecated) arguments both passed to `backward()`. Please only "
                "use `grad_tensors`."
            )
        grad_tensors = grad_variables
    if inputs is not None:
        inputs = (inputs,) if _is_single(inputs) else tuple(inputs)
        if not inputs:
            raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    outputs = _outputs(tensors)
    if modes.transforming and modes.transforming >= modes.local.me:
        from ..func.nested import backward as roots_of

        outputs = tuple(roots_of(outputs))
    seeds = _seeds(grad_tensors, len(outputs))
    retain_graph = create_graph if retain_graph is None else retain_graph
    lifted = create_graph or _on_meta(outputs)
    roots = _roots(outputs, seeds, lifted)
    if inputs is not None:
        for tensor in inputs:
            if isinstance(tensor, Tensor):
                tensor.retain_grad()
            elif not _is_single(tensor):
                raise RuntimeError(_NO_PLACE.format(name=type(tensor).__name__))
    if create_graph:
        warn(errors.CREATE_GRAPH)
    before = modes.local.grad
    try:
        modes.set_grad(create_graph)
        if inputs is None and not lifted:
            engine.backward(roots, retain_graph=retain_graph)
        else:
            wanted = None if inputs is None else [_target(tensor, roots) for tensor in inputs]
            engine.general(roots, retain_graph=retain_graph, lifted=lifted, inputs=wanted)
    finally:
        modes.off |= modes.local.me
        modes.local.grad = before
        modes.settle()


_backward = backward  # who hears ``Tensor.backward`` need not hear this too
backward = audible(backward)


@audible
def grad(
    outputs: Any, inputs: Any, grad_outputs: Any = None, retain_graph: bool | None = None, create_graph: bool = False,
    only_inputs: bool = True, allow_unused: bool | None = None, is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Tensor | None, ...]:  # fmt: skip
    """The sum of gradients of ``outputs`` with respect to ``inputs``; no ``.grad`` is touched.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.autograd.grad.html
    """
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False."
        )
    if allow_unused is None:
        allow_unused = materialize_grads
    if not only_inputs:
        warnings.warn(
            "only_inputs argument is deprecated and is ignored now (defaults to True). To accumulate gradient for "
            "other parts of the graph, please use torch.autograd.backward.",
            FutureWarning,
            stacklevel=2,
        )
    wanted = (inputs,) if _is_single(inputs) else tuple(inputs)
    if not wanted:
        raise RuntimeError("`inputs` argument to `grad()` cannot be empty.")
    outputs = _outputs(outputs)
    for place in (*outputs, *wanted):
        if type(place) not in ORDINARY:
            listening.ask_first((outputs, wanted), None)
            break
    seeds = _seeds(grad_outputs, len(outputs))
    if is_grads_batched:
        return _batched(outputs, wanted, seeds, retain_graph, create_graph, allow_unused, materialize_grads)
    retain_graph = create_graph if retain_graph is None else retain_graph
    if _is_lifted((*outputs, *wanted)):
        from ..func.nested import grad as nested

        gradients = nested(outputs, wanted, seeds, retain_graph, create_graph, allow_unused)
        if materialize_grads:
            return tuple(t * 0 if g is None else g for g, t in zip(gradients, wanted, strict=True))
        return gradients
    lifted = create_graph or _on_meta(outputs) or _is_lifted(seeds)
    roots = _roots(outputs, seeds, lifted)
    edges = []
    for tensor in wanted:
        edge = _target(tensor, roots)
        if edge is None:
            raise RuntimeError(errors.INPUT_NO_GRAD)
        edges.append(edge)
    before = modes.local.grad
    try:
        modes.set_grad(create_graph)
        unique = list(dict.fromkeys(edges))
        answers = engine.general(roots, retain_graph=retain_graph, lifted=lifted, inputs=unique, accumulate=False)
    finally:
        modes.off |= modes.local.me
        modes.local.grad = before
        modes.settle()
    by_edge = dict(zip(unique, answers, strict=True))
    result: list[Tensor | None] = []
    shown: set[int] = set()
    for index, (tensor, edge) in enumerate(zip(wanted, edges, strict=True)):
        answer = by_edge[edge]
        if answer is None:
            if not allow_unused:
                raise RuntimeError(errors.UNUSED.format(index=index))
            if materialize_grads and not isinstance(tensor, Tensor):
                raise RuntimeError("materialize_grads cannot be used when the given input is a GradientEdge")
            result.append(_zeros(tensor, create_graph) if materialize_grads else None)
            continue
        if not isinstance(answer, Tensor):
            answer = wrap(_own(answer, shown))
        result.append(answer)
    return tuple(result)


def _is_single(value: Any) -> bool:
    """Whether this is one place of the graph (a tensor or a ``GradientEdge``), not a sequence of them."""
    return isinstance(value, Tensor) or hasattr(value, "ownership_token")


def _outputs(value: Any) -> tuple[Any, ...]:
    """The outputs of a call; what a ``GradientEdge`` holds in its place."""
    if isinstance(value, Tensor):
        return (value,)
    outputs = (value,) if _is_single(value) else tuple(value)
    return tuple(output if (token := getattr(output, "ownership_token", None)) is None else token for output in outputs)


def _edge(place: Any) -> Any:
    """The edge of a tensor, or the one that a ``GradientEdge`` means, as a place to start from."""
    if isinstance(place, Tensor):
        return edge_of(place)
    if place.ownership_token is not None:
        return edge_of(place.ownership_token)
    record = _record(place.node)
    if isinstance(record, Record) and record.kind.outputs > 1:
        return output_of(record, place.output_nr, record.kind.outputs)
    return record


def _target(place: Any, roots: Sequence[tuple[Any, Any]]) -> Any:
    """The edge of an input: where a ``GradientEdge`` names one of several outputs, the edge that the graph has."""
    if not (isinstance(place, Tensor) or _is_single(place)):
        raise RuntimeError(_NO_PLACE.format(name=type(place).__name__))
    edge = _edge(place)
    if isinstance(place, Tensor) or place.ownership_token is not None or not isinstance(edge, Record):
        return edge
    if edge.kind is OUTPUT:
        record, number = edge.edges[0], place.output_nr
        for other in engine.dependencies([root for root, _ in roots]):
            if isinstance(other, Record) and other.kind is OUTPUT and other.edges[0] is record:
                if output_number(other) == number:
                    return other
    return edge


def _record(node: Any) -> Any:
    """The record, or the leaf, that a node shows."""
    if not isinstance(node, Node):
        raise RuntimeError(f"GradientEdge's first object must be an autograd.graph.Node but got {type(node).__name__}")
    if isinstance(node, Record):  # the context of a custom Function
        return node
    return node.variable if isinstance(node, AccumulateGrad) else node._record


_NO_PLACE = "all inputs have to be Tensors or GradientEdges, but got {name}"


def _own(array: Any, shown: set[int]) -> Any:
    """The array, copied if it was given out before."""
    if type(array) is ndarray and id(array) in shown:
        array = array.copy()
    shown.add(id(array))
    return array


def _zeros(tensor: Tensor, create_graph: bool) -> Tensor:
    zeros = wrap(np.zeros_like(tensor._array))
    if create_graph:
        zeros.requires_grad_()
    return zeros


def _seeds(seeds: Any, count: int) -> tuple[Any, ...]:
    if seeds is None:
        return (None,) * count
    seeds = (seeds,) if isinstance(seeds, Tensor) else tuple(seeds)
    if len(seeds) < count:
        raise RuntimeError(f"got {count} tensors and {len(seeds)} gradients")
    return seeds


def _on_meta(outputs: Sequence[Any]) -> bool:
    """Whether gradients are shapes only: rules must then see Tensors, which know that."""
    for output in outputs:  # in half the time of any()
        if isinstance(output, Tensor) and output._array.dtype.metadata is not None:
            return True
    return False


def _is_lifted(values: Sequence[Any]) -> bool:
    """Whether a tensor among ``values`` stands for another while a function is transformed."""
    return bool(modes.transforming) and any(getattr(value, "_lifted", False) for value in values)


def _roots(outputs: Sequence[Any], seeds: Sequence[Any], lifted: bool) -> list[tuple[Any, Any]]:
    """The edges to start from, each with its gradient."""
    gradients = [_seed(index, output, seed) for index, (output, seed) in enumerate(zip(outputs, seeds, strict=False))]
    _check_kinds(seeds)
    roots = []
    for index, (output, seed) in enumerate(zip(outputs, gradients, strict=True)):
        edge = _edge(output)
        if edge is None:
            raise RuntimeError(errors.NO_GRAD.format(index=index))
        roots.append((edge, seed if lifted else seed._array))
    return roots


def _check_kinds(seeds: Sequence[Any]) -> None:
    for seed in seeds:
        if seed is not None and not isinstance(seed, Tensor):
            raise TypeError(f"gradients can be either Tensors or None, but got {type(seed).__name__}")


def _seed(index: int, output: Any, seed: Any) -> Tensor:
    """The gradient to start with at one output: what the user gave, checked, or one for a scalar."""
    if seed is None:
        if not isinstance(output, Tensor):
            raise AssertionError("Expected output to be a torch.Tensor")
        if not output.requires_grad:
            raise RuntimeError(errors.NO_GRAD.format(index=index))
        if output._array.size != 1:
            raise RuntimeError(errors.SCALAR_ONLY)
        if output._array.dtype.kind == "c":
            raise RuntimeError(f"grad can be implicitly created only for real scalar outputs but got {output.dtype}")
        return wrap(output._array if output._array.dtype.metadata is not None else np.ones_like(output._array)[()])
    if not isinstance(seed, Tensor):
        raise TypeError(f"gradients can be either Tensors or None, but got {type(seed).__name__}")
    if not isinstance(output, Tensor):  # a node that somebody named; it does not know its sizes
        return seed
    if seed._array.shape != output._array.shape:
        raise RuntimeError(
            f"Mismatch in shape: grad_output[{index}] has a shape of {seed.shape} and output[{index}] has a shape of "
            f"{output.shape}."
        )
    if not dtypes.on_one_device(seed._array.dtype, output._array.dtype):
        wanted, got = output.device, seed.device
        raise RuntimeError(f"invalid gradient at index {index} - expected device {wanted} but got {got}")
    if (seed._array.dtype.kind == "c") != (output._array.dtype.kind == "c"):
        raise RuntimeError(errors.MIXED_SEED.format(index=index, seed=seed, output=output))
    if seed._array.dtype is not output._array.dtype:
        return TABLE["to_copy"].caller(seed, output._array.dtype, seed._array.dtype)
    return seed


def _batched(
    outputs: Sequence[Tensor], inputs: Sequence[Tensor], seeds: Sequence[Any], retain_graph: bool | None,
    create_graph: bool, allow_unused: bool, materialize_grads: bool,
) -> tuple[Tensor | None, ...]:  # fmt: skip
    """The gradients for each first index of the seeds, by one walk under ``vmap``."""
    if all(seed is None for seed in seeds):
        raise RuntimeError(errors.SCALAR_ONLY)
    for index, (output, seed) in enumerate(zip(outputs, seeds, strict=True)):
        # PyTorch tells the shape without two dimensions
        if seed is not None and seed._array.shape[1:] != output._array.shape:
            raise RuntimeError(
                f"If `is_grads_batched=True`, we interpret the first dimension of each grad_output as the batch "
                f"dimension. The sizes of the remaining dimensions are expected to match the shape of corresponding "
                f"output, but a mismatch was detected: grad_output[{index}] has a shape of "
                f"{seed.shape[2:]} and output[{index}] has a shape of {output.shape}. If you only want some tensors in "
                "`grad_output` to be considered batched, consider using vmap."
            )
    from ..func.tangents import zeros_of
    from ..func.vmap import vmap

    reached: list[int] = []

    def pulled(*some: Any) -> tuple[Any, ...]:
        parts = iter(some)
        answers = grad(
            outputs,
            inputs,
            [None if seed is None else next(parts) for seed in seeds],
            retain_graph,
            create_graph,
            allow_unused=allow_unused,
        )
        reached[:] = [index for index, answer in enumerate(answers) if answer is not None]
        return tuple(answers[index] for index in reached)

    answers = vmap(pulled)(*[seed for seed in seeds if seed is not None])
    batches = dict(zip(reached, answers, strict=True))
    return tuple(
        batches.get(index, zeros_of(tensor) if materialize_grads else None) for index, tensor in enumerate(inputs)
    )


def _copied(grad: Tensor) -> Tensor:
    """A recorded copy of a gradient."""
    if grad._array.dtype.metadata is not None:
        return wrap(grad._array)
    copy = wrap(np.empty_like(grad._array) if type(grad._array) is ndarray else np.empty((), grad._array.dtype))
    return copy.copy_(grad)  # type: ignore[attr-defined,no-any-return]


leaf.copied = _copied
tensor_backward.__name__, tensor_backward.__qualname__ = "backward", "Tensor.backward"
tensor_backward = audible(tensor_backward)  # which takes the names over, and the function keeps them for its errors
Tensor.backward = tensor_backward  # type: ignore[attr-defined,method-assign]
