"""Functions of functions: gradients, products with Jacobians, whole Jacobians and Hessians.

Source: https://docs.pytorch.org/docs/stable/func.api.html
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..core.row import TABLE
from ..core.tensor import LEAF, Tensor, carries_gradients, wrap
from ..ground import errors
from ..ground.later import cite_all
from ..ops.pytree import tree_flatten, tree_map, tree_unflatten, treespec_pprint
from . import arguments
from .levels import entered
from .tangents import Forward, laid, zeros_of
from .tracking import Linear, Reverse, gradients, recording
from .vmap import vmap

Argnums = int | tuple[int, ...]


def grad(func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False) -> Callable[..., Any]:
    """A function that gives the gradient of ``func``, which gives one number, by the arguments that ``argnums`` names.

    With ``has_aux``, ``func`` gives ``(output, aux)``, and the function ``(gradient, aux)``.
    """

    @arguments.like(func)
    def gradient(*args: Any, **kwargs: Any) -> Any:
        answer, value = _grad_and_value(func, args, kwargs, argnums, has_aux)
        return (answer, value[1]) if has_aux else answer

    return gradient


def grad_and_value(func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False) -> Callable[..., Any]:
    """A function that gives the gradient of ``func`` and its value: ``(gradient, value)``.

    With ``has_aux`` that is ``(gradient, (value, aux))``.
    """

    @arguments.like(func)
    def both(*args: Any, **kwargs: Any) -> Any:
        return _grad_and_value(func, args, kwargs, argnums, has_aux)

    return both


def _grad_and_value(
    func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], argnums: Any, has_aux: bool
) -> tuple[Any, Any]:
    name = "grad_and_value(f)(*args)"
    where = arguments.numbers(argnums, len(args))
    with recording() as level:
        wrapped, leaves, shape = _leaves(level, args, where)
        output, aux = arguments.with_aux(func(*wrapped, **tracked(level, kwargs)), has_aux, name)
        if not isinstance(output, Tensor):
            raise RuntimeError(f"{name}: Expected f(*args) to return a Tensor, got {type(output)}")
        if output._array.ndim:
            raise RuntimeError(
                f"{name}: Expected f(*args) to return a scalar Tensor, got tensor with {output._array.ndim} dims. "
                "Maybe you wanted to use the vjp or jacrev APIs instead?"
            )
        if output._array.dtype.kind == "c":
            raise RuntimeError(f"grad can be implicitly created only for real scalar outputs but got {output.dtype}")
        value, aux = lowered(level, output), auxiliary(level, aux, has_aux)
    answers = gradients(level, [output], [_ones(value)], leaves)
    answer = tree_unflatten(_filled(answers, leaves, level), shape)
    return answer, (value, aux) if has_aux else value


def vjp(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """The value of ``func`` and a function that gives its vector-Jacobian product: ``(output, vjp_fn)``.

    ``vjp_fn(cotangents)`` gives a tuple of the products by each primal.  With ``has_aux``: ``(output, vjp_fn, aux)``.
    """
    return pullback(func, primals, None, has_aux)


def pullback(
    func: Callable[..., Any], primals: tuple[Any, ...], argnums: Any, has_aux: bool, kind: type[Reverse] = Reverse
) -> Any:
    """:func:`vjp` by the arguments that ``argnums`` names; by all, as a tuple, where it is None."""
    where = tuple(range(len(primals))) if argnums is None else arguments.numbers(argnums, len(primals))
    with recording(kind) as level:
        wrapped, leaves, shape = _leaves(level, primals, where)
        output, aux = arguments.with_aux(func(*wrapped), has_aux, "vjp(f, *primals)")
        outs, out_shape = arguments.tensors_of(output, "vjp(f, *primals)")
        for out in outs:
            if not carries_gradients(out._array.dtype):
                raise RuntimeError(
                    "vjp(f, ...): All outputs of f must be floating-point or complex Tensors, got Tensor with dtype "
                    f"{out.dtype}"
                )
        values, aux = lowered(level, output), auxiliary(level, aux, has_aux)

    def vjp_fn(cotangents: Any, retain_graph: bool = True, create_graph: bool | None = None) -> Any:
        seeds, seeds_shape = tree_flatten(cotangents)
        if seeds_shape != out_shape:
            raise RuntimeError(
                "Expected pytree structure of cotangents to be the same as pytree structure of outputs to the "
                f"function. cotangents: {treespec_pprint(seeds_shape)}, primal output: {treespec_pprint(out_shape)}"
            )
        for number, (seed, out) in enumerate(zip(seeds, outs, strict=True)):
            if seed._array.shape != out._array.shape:
                raise RuntimeError(
                    f"Mismatch in shape: grad_output[{number}] has a shape of {seed.shape} and output[{number}] has a "
                    f"shape of {out.shape}."
                )
            if (seed._array.dtype.kind == "c") != (out._array.dtype.kind == "c"):
                raise RuntimeError(errors.MIXED_SEED.format(index=number, seed=seed, output=out))
        answers = gradients(level, outs, seeds, leaves, retain_graph=retain_graph)
        return tree_unflatten(_filled(answers, leaves, level), shape)

    return (values, vjp_fn, aux) if has_aux else (values, vjp_fn)


def jvp(func: Callable[..., Any], primals: Any, tangents: Any, *, strict: bool = False, has_aux: bool = False) -> Any:
    """The value of ``func`` and its Jacobian-vector product along ``tangents``: ``(output, jvp_out)``.

    ``strict`` raises RuntimeError where an output does not depend on the primals.  With ``has_aux``: ``(.., .., aux)``.
    """
    return pushforward(func, primals, tangents, None, strict, has_aux)


_JVP = "jvp(f, primals, tangents)"


def pushforward(
    func: Callable[..., Any], primals: Any, tangents: Any, argnums: Any, strict: bool = False, has_aux: bool = False
) -> Any:
    """:func:`jvp` by the arguments that ``argnums`` names; by all where it is None."""
    if not isinstance(primals, tuple):
        raise RuntimeError(f"{_JVP}: Expected primals to be a tuple. E.g. it should be valid to call f(*primals).")
    where = None if argnums is None else arguments.numbers(argnums, len(primals))
    parts, shape = tree_flatten(primals if where is None else arguments.chosen(primals, where))
    moves, moves_shape = tree_flatten(tangents)
    if shape != moves_shape:
        raise RuntimeError(
            f"{_JVP}: Expected primals and tangents to have the same python structure. For example, if primals is a "
            f"tuple of 3 tensors, tangents also must be. Got primals with structure {shape} and tangents with "
            f"structure {moves_shape}"
        )
    arguments.check_tensors(parts, _JVP, "primals")
    arguments.check_tensors(moves, _JVP, "tangents")
    with entered(Forward()) as level:
        for part, move in zip(parts, moves, strict=True):
            check_tangent(part, move)
        lifted = [level.dual(part, laid(move, part)) for part, move in zip(parts, moves, strict=True)]
        duals = tree_unflatten(lifted, shape)
        args = duals if where is None else arguments.replaced(primals, where, duals)
        output, aux = arguments.with_aux(func(*args), has_aux, _JVP)
        outs, out_shape = arguments.tensors_of(output, _JVP)
        if strict and any(level.tangent(out) is None for out in outs):
            raise RuntimeError(
                "jvp(f, primals, tangents, strict=True): The output of f is independent of the inputs. This is not "
                "allowed with strict=True."
            )
        values = tree_unflatten([level.lower(out) for out in outs], out_shape)
        moved = [level.tangent(out) for out in outs]
        aux = auxiliary(level, aux, has_aux)
        pushed = [zeros_of(level.lower(out)) if t is None else t for out, t in zip(outs, moved, strict=True)]
    answer = (values, tree_unflatten(pushed, out_shape))
    return (*answer, aux) if has_aux else answer


def check_tangent(primal: Any, tangent: Any) -> None:
    """PyTorch's errors where a tangent cannot be one of ``primal``."""
    for name, tensor in (("primal", primal), ("tangent", tangent)):
        if not isinstance(tensor, Tensor):
            raise AttributeError(f"{type(tensor).__name__!r} object has no attribute 'is_floating_point'")
        if not carries_gradients(tensor._array.dtype):
            raise ValueError(f"Expected {name} to be floating point or complex, but got: {tensor.dtype}")
    check_sizes(primal, tangent)


def check_sizes(primal: Any, tangent: Any) -> None:
    """PyTorch's error where a tangent has another size than ``primal``."""
    if tangent._array.shape != primal._array.shape:
        raise RuntimeError(
            "Trying to set a forward gradient that has a different size than that of the original Tensor, this is not "
            f"supported. Tensor is of size {list(primal._array.shape)} while the given forward gradient is of size "
            f"{list(tangent._array.shape)}."
        )


def linearize(func: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """The value of ``func``, called once, and a function that gives its Jacobian-vector products there."""
    parts, shape = tree_flatten(primals)
    for part in parts:
        if isinstance(part, Tensor) and not (part.is_floating_point() or part.is_complex()):
            raise ValueError(f"Expected primal to be floating point or complex, but got: {part.dtype}")
    output, vjp_fn = pullback(func, primals, None, False, Linear)
    outs, out_shape = tree_flatten(output)
    with recording() as level:
        seeds = [level.track(zeros_of(out), LEAF) for out in outs]
        pulled, _ = tree_flatten(vjp_fn(tree_unflatten(seeds, out_shape)))

    def jvp_fn(*tangents: Any) -> Any:
        moves, moves_shape = tree_flatten(tangents)
        if moves_shape != shape:
            raise RuntimeError(f"Expected the tangents {moves_shape} to have the same argspec as the primals {shape}")
        for number, (part, move) in enumerate(zip(parts, moves, strict=True)):
            for what in ("shape", "device", "dtype"):
                if getattr(part, what) != getattr(move, what):
                    raise RuntimeError(
                        f"tangent:{number} with {what} {getattr(move, what)} in flattened pytree doesn't match the "
                        f"{what} {getattr(part, what)} of the corresponding primal."
                    )
        answers = gradients(level, pulled, moves, seeds, retain_graph=True)
        return tree_unflatten(_filled(answers, seeds, level), out_shape)

    return output, jvp_fn


def functionalize(func: Callable[..., Any], *, remove: str = "mutations") -> Callable[..., Any]:
    """``func`` as it is: what PyTorch rewrites before it traces is computed here as written, with the same results."""
    if remove not in ("mutations", "mutations_and_views"):
        raise RuntimeError(
            f"functionalize(f, remove='mutations'): received invalid argument for remove={remove}. Valid options are:\n"
            "     remove='mutations': all inplace and out= operators will be removed from the program, and replaced "
            "with their out-of-place equivalents.\n     remove='mutations_and_views': In addition to the above, all "
            "aliasing operators {view} will be replaced with their non-aliasing counterparts, {view}_copy.\n"
        )

    @arguments.like(func)
    def call(*args: Any, **kwargs: Any) -> Any:
        return func(*args, **kwargs)

    return call


# -- what they share --------------------------------------------------------------------------------------------------


def _leaves(level: Reverse, args: tuple[Any, ...], where: Any) -> tuple[tuple[Any, ...], list[Any], Any]:
    """Arguments as the function sees them at ``level``; the leaves among those it is differentiated by, as a tree."""
    parts, shape = tree_flatten(arguments.chosen(args, where))
    leaves = []
    for part in parts:
        if not isinstance(part, Tensor):
            raise ValueError(f"Thing passed to transform API must be Tensor, got {type(part)}")
        if not carries_gradients(part._array.dtype):
            raise RuntimeError(errors.ONLY_FLOATS_IN_PLACE)
        leaves.append(level.track(part, LEAF))
    wrapped = [tracked(level, arg) for arg in args]
    return arguments.replaced(wrapped, where, tree_unflatten(leaves, shape)), leaves, shape


def tracked(level: Reverse, tree: Any) -> Any:
    """A tree whose tensors are constants at ``level``."""
    return tree_map(lambda leaf: level.track(leaf) if isinstance(leaf, Tensor) else leaf, tree)


def lowered(level: Any, tree: Any) -> Any:
    """A tree whose tensors are what they stand for below ``level``."""
    return tree_map(lambda leaf: level.lower(leaf) if isinstance(leaf, Tensor) else leaf, tree)


def auxiliary(level: Any, tree: Any, has_aux: bool) -> Any:
    """What a function gives beside its output, below ``level``; RuntimeError where that is not tensors."""
    for leaf in tree_flatten(tree)[0] if has_aux else ():
        if not isinstance(leaf, Tensor):
            raise RuntimeError(f"Expected tensors, got unsupported type {type(leaf)}")
    return lowered(level, tree)


def _ones(value: Any) -> Any:
    return TABLE["fill_number"].caller(value.detach(), 1)


def _filled(answers: list[Any], leaves: list[Any], level: Any) -> list[Any]:
    """Gradients, with zeros for leaves that none reached."""
    return [
        zeros_of(level.lower(leaf)) if answer is None else answer for answer, leaf in zip(answers, leaves, strict=True)
    ]


# -- Jacobians and Hessians --------------------------------------------------------------------------------------------
# Products by every direction of a basis, taken together by ``vmap``.


def jacrev(
    func: Callable[..., Any], argnums: Argnums = 0, *, has_aux: bool = False, chunk_size: int | None = None,
    _preallocate_and_copy: bool = False,
) -> Callable[..., Any]:  # fmt: skip
    """A function that gives the Jacobian of ``func``, by reverse mode: row by row, ``chunk_size`` rows at once."""
    if not (chunk_size is None or chunk_size > 0):
        raise ValueError("jacrev: `chunk_size` should be greater than 0.")

    @arguments.like(func)
    def jacobian(*args: Any) -> Any:
        _refuse_complex("jacrev", args, "inputs")
        answer = pullback(func, args, argnums, has_aux)
        output, vjp_fn = answer[0], answer[1]
        _refuse_complex("jacrev", output, "outputs")
        outs, out_shape = tree_flatten(output)
        sizes = [math.prod(out._array.shape) for out in outs]
        parts, shape = tree_flatten(arguments.chosen(args, arguments.numbers(argnums, len(args))))
        rows = [[wrap(np.zeros((0, *part._array.shape), part._array.dtype)) for part in parts]]
        if sum(sizes):
            pulled = vmap(lambda *seeds: vjp_fn(tree_unflatten(list(seeds), out_shape)))
            rows = [tree_flatten(pulled(*seeds))[0] for seeds in basis(outs, sizes, chunk_size)]
        by_part = [column[0] if len(column) == 1 else TABLE["cat"].caller(list(column), 0)
                   for column in zip(*rows, strict=True)]  # fmt: skip
        jacobians = []
        start = 0
        for out, size in zip(outs, sizes, strict=True):
            block = [
                whole.narrow(0, start, size).reshape((*out._array.shape, *part._array.shape))
                for whole, part in zip(by_part, parts, strict=True)
            ]
            jacobians.append(tree_unflatten(block, shape))
            start += size
        result = tree_unflatten(jacobians, out_shape)
        return (result, answer[2]) if has_aux else result

    return jacobian


def jacfwd(
    func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False, *, randomness: str = "error"
) -> Callable[..., Any]:
    """A function that gives the Jacobian of ``func``, by forward mode: all columns at once."""

    @arguments.like(func)
    def jacobian(*args: Any) -> Any:
        _refuse_complex("jacfwd", args, "inputs")
        primals = arguments.chosen(args, arguments.numbers(argnums, len(args)))
        parts, shape = tree_flatten(primals)
        sizes = [math.prod(part._array.shape) for part in parts]
        directions = next(basis(parts, sizes))
        kept: list[Any] = []

        def along(*moves: Any) -> Any:
            answer = pushforward(func, args, tree_unflatten(list(moves), shape), argnums, has_aux=has_aux)
            _refuse_complex("jacfwd", answer[0], "outputs")
            return (answer[1], answer[2]) if has_aux else answer[1]

        pushed = vmap(along, randomness=randomness)(*directions)
        if has_aux:
            pushed, aux = pushed
            kept.append(tree_map(lambda leaf: leaf.select(0, 0), aux))
        outs, out_shape = tree_flatten(pushed)
        jacobians = []
        for out in outs:
            block = []
            start = 0
            for part, size in zip(parts, sizes, strict=True):
                columns = out.narrow(0, start, size).movedim(0, -1)
                block.append(columns.reshape((*out._array.shape[1:], *part._array.shape)))
                start += size
            jacobians.append(tree_unflatten(block, shape))
        result = tree_unflatten(jacobians, out_shape)
        return (result, kept[0]) if has_aux else result

    return jacobian


def hessian(func: Callable[..., Any], argnums: Argnums = 0) -> Callable[..., Any]:
    """A function that gives the Hessian of ``func``: forward mode over reverse mode."""
    return jacfwd(jacrev(func, argnums), argnums)


def basis(tensors: Sequence[Any], sizes: list[int], chunk_size: int | None = None) -> Iterator[list[Any]]:
    """The unit vectors of the space that ``tensors`` span together, along a first dimension; in chunks."""
    total = sum(sizes)
    step = chunk_size or max(total, 1)
    for first in range(0, max(total, 1), step):
        length = min(step, total - first)
        vectors = []
        start = 0
        for tensor, size in zip(tensors, sizes, strict=True):
            block = np.eye(length, size, first - start, tensor._array.dtype)
            vectors.append(wrap(block.reshape((length, *tensor._array.shape))))
            start += size
        yield vectors


def _refuse_complex(name: str, tree: Any, what: str) -> None:
    for number, leaf in enumerate(tree_flatten(tree)[0]):
        if hasattr(leaf, "is_complex") and leaf.is_complex():
            raise RuntimeError(
                f"{name}: Expected all {what} to be real but received complex tensor at flattened input idx: {number}"
            )


cite_all(globals(), "torch.func", "grad grad_and_value vjp jvp linearize functionalize jacrev jacfwd hessian")
