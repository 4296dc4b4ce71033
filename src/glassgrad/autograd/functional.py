"""Derivatives of functions as values: Jacobians, Hessians, and their products with vectors.

Source: https://docs.pytorch.org/docs/stable/autograd.html#functional-higher-level-api
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.row import TABLE
from ..core.tensor import Tensor
from ..families.create.functions import ones_like, zeros_like
from ..func.tangents import zeros_of
from ..func.transforms import basis, pullback
from ..func.vmap import vmap
from ..ops.declare import COMPOSITES
from .api import grad
from .forward_ad import dual_level, make_dual, unpack_dual
from .grad_mode import enable_grad

Tensors = tuple[Tensor, ...]


def _function(name: str) -> Callable[..., Any]:
    return COMPOSITES[name].function if name in COMPOSITES else TABLE[name].caller


def _tuple(value: Any, what: str, function: str) -> tuple[Tensors, bool]:
    """The tensors of an argument, and whether it was a tuple."""
    was_tuple = isinstance(value, tuple)
    tensors = value if was_tuple else (value,)
    for index, tensor in enumerate(tensors):
        if not isinstance(tensor, Tensor):
            which = f"the value at index {index}" if was_tuple else f"the given {what}"
            raise TypeError(
                f"The {what} given to {function} must be either a Tensor or a tuple of Tensors but {which} has type "
                f"{type(tensor)}."
            )
    return tensors, was_tuple


def _prepared(inputs: Tensors, create_graph: bool) -> Tensors:
    """The inputs as places to differentiate at: still on the caller's graph only where that is wanted."""
    points = []
    for tensor in inputs:
        if create_graph:
            points.append(tensor.view_as(tensor))  # type: ignore[attr-defined]
        else:
            points.append(tensor.detach().requires_grad_())  # type: ignore[attr-defined]
    if create_graph:
        points = [point if point.requires_grad else point.requires_grad_() for point in points]
    return tuple(points)


def _finished(value: Any, create_graph: bool) -> Any:
    """Results cut from the graph, unless it is wanted."""
    if create_graph:
        return value
    if isinstance(value, tuple):
        return tuple(_finished(item, create_graph) for item in value)
    return value.detach()


def _check_outputs(outputs: Tensors, inputs: Tensors, strict: bool) -> None:
    if not strict:
        return
    for index, output in enumerate(outputs):
        if not output.requires_grad:
            raise RuntimeError(
                f"Output {index} of the user-provided function does not require gradients. The outputs must be "
                "computed in a differentiable manner from the input when running in strict mode."
            )


def _check_v(v: Any, other: Tensors, is_other_tuple: bool, function: str) -> Tensors:
    """The vector(s), checked to fit ``other``."""
    vectors, _ = _tuple(v, "v", function)
    if len(other) > 1 or is_other_tuple:
        if len(vectors) != len(other):
            raise RuntimeError(f"v is a tuple of invalid length: should be {len(other)} but got {len(vectors)}.")
    elif len(vectors) != 1:
        raise RuntimeError("The given v should contain a single Tensor.")
    for index, (vector, matching) in enumerate(zip(vectors, other, strict=True)):
        if vector.shape != matching.shape:
            prefix = f"Entry {index} in " if len(other) > 1 or is_other_tuple else ""
            raise RuntimeError(f"{prefix}v has invalid size: should be {matching.shape} but got {vector.shape}.")
    return vectors


def _grads(
    outputs: Tensors, inputs: Tensors, weights: Any = None, create_graph: bool = False, retain_graph: bool | None = None
) -> tuple[Any, ...]:
    """``grad`` that leaves out outputs without history; None for every input where none is left."""
    weights = (None,) * len(outputs) if weights is None else weights
    pairs = [(output, weight) for output, weight in zip(outputs, weights, strict=True) if output.requires_grad]
    if not pairs:
        return (None,) * len(inputs)
    chosen, cotangents = zip(*pairs, strict=True)
    return grad(chosen, inputs, cotangents, allow_unused=True, create_graph=create_graph, retain_graph=retain_graph)


def _filled(grads: Any, inputs: Tensors, strict: bool, stage: str) -> Tensors:
    """Gradients with zeros for the missing ones; in strict mode, PyTorch's errors instead."""
    gradients = []
    for index, (g, tensor) in enumerate(zip(grads, inputs, strict=True)):
        if g is None:
            if strict:
                raise RuntimeError(_missing(stage, index))
            g = zeros_like(tensor)
        gradients.append(g)
    return tuple(gradients)


def _check_tracked(gradients: Tensors, reason: str) -> None:
    """Raise PyTorch's error for strict mode unless each of the gradients can be differentiated in its turn."""
    for index, g in enumerate(gradients):
        if not g.requires_grad:
            raise RuntimeError(reason.format(index=index))


_CONSTANT_JACOBIAN = (
    "The jacobian of the user-provided function is independent of input {index}. This is not allowed in strict mode "
    "when create_graph=True."
)
_NO_HESSIAN = (
    "While computing the hessian, found that the jacobian of the user-provided function with respect to input {index} "
    "is independent of the input. This is not allowed in strict mode. You should ensure that your function is twice "
    "differentiable and that the jacobian depends on the inputs (this would be violated by a linear function for "
    "example)."
)


def _missing(stage: str, index: int) -> str:
    if stage == "double_back":
        return (
            f"The hessian of the user-provided function is independent of entry {index} in the grad_jacobian. This is "
            "not allowed in strict mode as it prevents from using the double backward trick to replace forward mode AD."
        )
    if stage == "double_back_trick":
        return (
            f"The gradient with respect to the input is independent of entry {index} in the grad_outputs when using "
            "the double backward trick to compute forward mode gradients. This is not allowed in strict mode."
        )
    return (
        f"The output of the user-provided function is independent of input {index}. This is not allowed in strict mode."
    )


def _shape_back(tensors: Tensors, was_tuple: bool) -> Any:
    return tensors if was_tuple else tensors[0]


def vjp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """The outputs of ``func``, and the product of the vector ``v`` with its Jacobian."""
    with enable_grad():
        tensors, inputs_tuple = _tuple(inputs, "inputs", "vjp")
        at = _prepared(tensors, create_graph)
        outputs, outputs_tuple = _tuple(func(*at), "outputs of the user-provided function", "vjp")
        _check_outputs(outputs, at, strict)
        weights: Any
        if v is not None:
            weights = _check_v(_detached(v, create_graph), outputs, outputs_tuple, "vjp")
        elif len(outputs) != 1 or outputs[0].numel() != 1:  # type: ignore[attr-defined]
            raise RuntimeError(
                "The vector v can only be None if the user-provided function returns a single Tensor with a single "
                "element."
            )
        else:
            weights = None
        products = _filled(_grads(outputs, at, weights, create_graph=create_graph), at, strict, "back")
        if strict and create_graph:
            _check_tracked(products, _CONSTANT_JACOBIAN)
    return (
        _finished(_shape_back(outputs, outputs_tuple), create_graph),
        _finished(_shape_back(products, inputs_tuple), create_graph),
    )


def _detached(v: Any, create_graph: bool) -> Any:
    if isinstance(v, tuple):
        return _prepared(_tuple(v, "v", "vjp")[0], create_graph) if create_graph else v
    return v


def jvp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """The outputs of ``func``, and the product of its Jacobian with the vector ``v`` (by differentiating twice)."""
    with enable_grad():
        tensors, inputs_tuple = _tuple(inputs, "inputs", "jvp")
        at = _prepared(tensors, create_graph)
        if v is not None:
            towards = _check_v(v, at, inputs_tuple, "jvp")
        elif len(at) != 1 or at[0].numel() != 1:  # type: ignore[attr-defined]
            raise RuntimeError(
                "The vector v can only be None if the input to the user-provided function is a single Tensor with a "
                "single element."
            )
        else:
            towards = None  # type: ignore[assignment]
        outputs, outputs_tuple = _tuple(func(*at), "outputs of the user-provided function", "jvp")
        _check_outputs(outputs, at, strict)
        weights = tuple(zeros_like(out, requires_grad=True) for out in outputs)
        back = _filled(_grads(outputs, at, weights, create_graph=True), at, strict, "back")
        moved = _grads(back, weights, towards, create_graph=create_graph)
        products = _filled(moved, outputs, strict, "double_back_trick")
        if strict and create_graph:
            _check_tracked(products, _CONSTANT_JACOBIAN)
    return (
        _finished(_shape_back(outputs, outputs_tuple), create_graph),
        _finished(_shape_back(products, outputs_tuple), create_graph),
    )


def _single(outputs: Tensors, outputs_tuple: bool, function: str) -> Tensor:
    if outputs_tuple or not isinstance(outputs[0], Tensor):
        raise RuntimeError(f"The function given to {function} should return a single Tensor")
    if outputs[0].numel() != 1:  # type: ignore[attr-defined]
        raise RuntimeError(f"The Tensor returned by the function given to {function} should contain a single element")
    return outputs[0]


def vhp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """The output of a scalar ``func``, and the product of the vector ``v`` with its Hessian."""
    return _hessian_product("vhp", func, inputs, v, create_graph, strict)


def hvp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """The output of a scalar ``func``, and the product of its Hessian with the vector ``v``."""
    return _hessian_product("hvp", func, inputs, v, create_graph, strict)


def _hessian_product(name: str, func: Callable[..., Any], inputs: Any, v: Any, create_graph: bool, strict: bool) -> Any:
    with enable_grad():
        tensors, inputs_tuple = _tuple(inputs, "inputs", name)
        at = _prepared(tensors, create_graph)
        if v is not None:
            towards: Any = _check_v(v, at, inputs_tuple, name)
        elif len(at) != 1 or at[0].numel() != 1:  # type: ignore[attr-defined]
            raise RuntimeError(
                "The vector v can only be None if the input to the user-provided function is a single Tensor with a "
                "single element."
            )
        else:
            towards = None
        outputs, outputs_tuple = _tuple(func(*at), "outputs of the user-provided function", name)
        _check_outputs(outputs, at, strict)
        output = _single(outputs, outputs_tuple, name)
        slope = _filled(_grads((output,), at, create_graph=True), at, strict, "back")
        if strict:
            _check_tracked(slope, _NO_HESSIAN)
        result = _filled(_grads(slope, at, towards, create_graph=create_graph), at, strict, "double_back")
    return _finished(output, create_graph), _finished(_shape_back(result, inputs_tuple), create_graph)


def jacobian(
    func: Callable[..., Any], inputs: Any, create_graph: bool = False, strict: bool = False, vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:  # fmt: skip
    """The Jacobian of ``func``: of shape ``output.shape + input.shape``, in tuples where there are several."""
    if strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError(
            'Expected strategy to be either "forward-mode" or "reverse-mode". Hint: If your function has more outputs '
            'than inputs, "forward-mode" tends to be more performant. Otherwise, prefer to use "reverse-mode".'
        )
    if strategy == "forward-mode":
        if create_graph:
            raise NotImplementedError(
                'torch.autograd.functional.jacobian: `create_graph=True` and `strategy="forward-mode"` are not '
                'supported together (yet). Please either set `create_graph=False` or `strategy="reverse-mode"`.'
            )
        if strict:
            raise RuntimeError(
                'torch.autograd.functional.jacobian: `strict=True` and `strategy="forward-mode"` are not supported '
                'together (yet). Please either set `strict=False` or `strategy="reverse-mode"`.'
            )
        if not vectorize:
            raise NotImplementedError(
                "Computing Jacobian using forward-AD or forward-over-reverse Hessian isonly implemented for "
                "`vectorize=True`."
            )
        return _by_columns(func, inputs)
    if vectorize and strict:
        raise RuntimeError(
            "torch.autograd.functional.jacobian: `strict=True` and `vectorized=True` are not supported together. "
            "Please either set `strict=False` or `vectorize=False`."
        )
    stack = _function("stack")
    with enable_grad():
        tensors, inputs_tuple = _tuple(inputs, "inputs", "jacobian")
        at = _prepared(tensors, create_graph)
        outputs, outputs_tuple = _tuple(func(*at), "outputs of the user-provided function", "jacobian")
        _check_outputs(outputs, at, strict)
        blocks = _rows_together(outputs, at, create_graph) if vectorize else []
        for number, output in enumerate(() if vectorize else outputs):
            columns: list[list[Tensor]] = [[] for _ in at]
            flat = output.reshape(-1)  # type: ignore[attr-defined]
            for element in range(flat.numel()):
                grads = _grads((flat[element],), at, create_graph=create_graph, retain_graph=True)
                for index, (column, g, tensor) in enumerate(zip(columns, grads, at, strict=True)):
                    if g is None and strict:
                        raise RuntimeError(
                            f"Output {number} of the user-provided function is independent of input {index}. This is "
                            "not allowed in strict mode."
                        )
                    if g is not None and strict and create_graph and not g.requires_grad:
                        raise RuntimeError(_CONSTANT_JACOBIAN.format(index=index))
                    column.append(zeros_like(tensor) if g is None else g)
            blocks.append(
                tuple(
                    stack(column, 0).view((*output.shape, *tensor.shape))
                    if column
                    else tensor.new_zeros((*output.shape, *tensor.shape))  # type: ignore[attr-defined]
                    for column, tensor in zip(columns, at, strict=True)
                )
            )
    finished = tuple(_finished(block, create_graph) for block in blocks)
    shaped = tuple(_shape_back(block, inputs_tuple) for block in finished)
    return shaped if outputs_tuple else shaped[0]


def _rows_together(outputs: Tensors, at: Tensors, create_graph: bool) -> list[Tensors]:
    """For each output its Jacobian by each input: all rows by one walk back."""
    sizes = [output.numel() for output in outputs]  # type: ignore[attr-defined]
    tracked = [pair for pair in zip(outputs, next(basis(outputs, sizes)), strict=True) if pair[0].requires_grad]
    grads: Any = (None,) * len(at)
    if tracked and sum(sizes):
        roots, seeds = zip(*tracked, strict=True)
        grads = grad(roots, at, seeds, create_graph=create_graph, allow_unused=True, is_grads_batched=True)
    blocks = []
    start = 0
    for output, size in zip(outputs, sizes, strict=True):
        shapes = [(*output.shape, *tensor.shape) for tensor in at]
        blocks.append(
            tuple(
                tensor.new_zeros(shape) if g is None else g.narrow(0, start, size).reshape(shape)  # type: ignore[attr-defined]
                for g, tensor, shape in zip(grads, at, shapes, strict=True)
            )
        )
        start += size
    return blocks


def _by_columns(func: Callable[..., Any], inputs: Any) -> Any:
    """The Jacobian by forward mode: all columns together."""
    tensors, inputs_tuple = _tuple(inputs, "inputs", "jacobian")
    sizes = [tensor.numel() for tensor in tensors]  # type: ignore[attr-defined]
    notes = []

    def along(*moves: Any) -> Tensors:
        with dual_level():
            answer = func(*[make_dual(tensor, move) for tensor, move in zip(tensors, moves, strict=True)])
            outputs, outputs_tuple = _tuple(answer, "outputs of the user-provided function", "jacobian")
            notes.append(outputs_tuple)
            parts = [unpack_dual(output) for output in outputs]
            return tuple(zeros_of(part.primal) if part.tangent is None else part.tangent for part in parts)

    blocks = []
    for moved in vmap(along)(*next(basis(tensors, sizes))):
        columns = moved.movedim(0, -1).split(sizes, -1)
        shapes = [(*moved.shape[1:], *tensor.shape) for tensor in tensors]
        block = tuple(column.reshape(shape) for column, shape in zip(columns, shapes, strict=True))
        blocks.append(_shape_back(block, inputs_tuple))
    return tuple(blocks) if notes[0] else blocks[0]


def hessian(
    func: Callable[..., Any], inputs: Any, create_graph: bool = False, strict: bool = False, vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:  # fmt: skip
    """The Hessian of a scalar ``func``: of shape ``input.shape + input.shape``, in nested tuples for several inputs."""
    tensors, inputs_tuple = _tuple(inputs, "inputs", "hessian")
    if outer_jacobian_strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError('Expected strategy to be either "forward-mode" or "reverse-mode".')

    def checked(*at: Tensor) -> Tensor:
        outputs, outputs_tuple = _tuple(func(*at), "outputs of the user-provided function", "hessian")
        _check_outputs(outputs, at, strict)
        return _single(outputs, outputs_tuple, "hessian")

    def slope(*at: Any) -> Any:
        if outer_jacobian_strategy == "forward-mode":
            output, pull = pullback(checked, at, None, False)
            return pull(ones_like(output))
        gradients = jacobian(checked, at, create_graph=True)
        if strict:
            _check_tracked(gradients, _NO_HESSIAN)
        return gradients

    blocks = jacobian(slope, tensors, create_graph, strict, vectorize, outer_jacobian_strategy)
    return blocks if inputs_tuple else blocks[0][0]
