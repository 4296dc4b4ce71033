"""Custom Functions while a function is transformed: the user's ``backward``, ``jvp`` and ``vmap``, at their levels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..autograd.forward_ad import DualLevel
from ..autograd.function import Function, context, finish, is_separate, with_saved
from ..core.tensor import Tensor, carries_gradients
from ..ground import modes
from ..ops.pytree import tree_flatten, tree_map, tree_unflatten
from ..tensor.lifted import Lifted
from . import levels
from .batching import Batch
from .levels import entered
from .tangents import Forward, apart, zeros_of
from .tracking import Reverse, edge_at
from .transforms import check_sizes
from .vmap import VmapInfo, spread

_MORE = "For more details, please see https://pytorch.org/docs/main/notes/extending.func.html"


def apply(cls: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """``cls.apply`` where an argument is lifted."""
    args = tuple(levels.alive(arg) for arg in args)
    level = levels.highest(args)
    if level is None:
        return cls.apply(*args, **kwargs)
    if not is_separate(cls) and not isinstance(level, DualLevel):
        raise RuntimeError(
            "In order to use an autograd.Function with functorch transforms (vmap, grad, jvp, jacrev, ...), it must "
            f"override the setup_context staticmethod. {_MORE}"
        )
    if isinstance(level, Batch):
        return _batched(cls, level, args)
    return _tracked(cls, level, args) if isinstance(level, Reverse) else _moved(cls, level, args)


def _raised(outputs: Any, raise_: Any) -> Any:
    """Outputs with each tensor as one of a level."""
    raised = tuple(raise_(out) if isinstance(out, Tensor) else out for out in levels.several(outputs))
    return raised if isinstance(outputs, tuple) else raised[0]


def _written(level: Any, args: tuple[Any, ...], out: Any) -> Any:
    """The argument at a level that an output is the value of, as it is where ``forward`` wrote into it; or None."""
    return next((arg for arg in args if isinstance(arg, Lifted) and arg.level is level and arg.value is out), None)


def _set_up(cls: Any, ctx: Any, args: tuple[Any, ...], outputs: Any) -> None:
    """Have the user's ``setup_context`` fill a context."""
    before = modes.local.grad
    try:
        modes.set_grad(False)
        cls.setup_context(ctx, args, outputs)
    finally:
        modes.off |= modes.local.me
        modes.local.grad = before
        modes.settle()


# -- reverse mode ------------------------------------------------------------------------------------------------------


def _tracked(cls: Any, level: Reverse, args: tuple[Any, ...]) -> Any:
    with level.outside():
        lowered = cls.apply(*[level.lower(arg) for arg in args])

    def raised(out: Any) -> Any:
        written = _written(level, args, out)
        return level.track(out) if written is None else written

    outputs = _raised(lowered, raised)
    tensors = [arg for arg in args if isinstance(arg, Tensor)]
    edges = tuple(edge_at(level, tensor) for tensor in tensors)
    if not level.records() or all(edge is None for edge in edges):
        return outputs
    ctx = context(cls, args, edges)
    _set_up(cls, ctx, args, outputs)
    return finish(ctx, tensors, outputs, True)


# -- forward mode ------------------------------------------------------------------------------------------------------


def _moved(cls: Any, level: Forward, args: tuple[Any, ...]) -> Any:
    values = tuple(level.lower(arg) for arg in args)
    if all(level.tangent(arg) is None for arg in args):
        lowered = cls.apply(*values)
        moveless = tuple(_dual(level, args, level.lower(out), None) for out in levels.several(lowered))
        return moveless if isinstance(lowered, tuple) else moveless[0]
    versions = [value._version if isinstance(value, Tensor) else None for value in values]
    if any(isinstance(value, Lifted) for value in values):
        outputs = cls.apply(*values)
        ctx = context(cls, values, ())
        _set_up(cls, ctx, values, outputs)
    else:
        ctx, outputs = cls._applied(values, {})
        if is_separate(cls):
            ctx = context(cls, values, ())
            _set_up(cls, ctx, values, outputs)
    kept = getattr(ctx, "saved_for_forward", None)
    tangents = []
    for arg, value in zip(args, values, strict=True):
        tangent = level.tangent(arg)
        if tangent is None and isinstance(value, Tensor) and ctx.materialize_grads:
            tangent = zeros_of(value)
        tangents.append(tangent)
    with_saved(ctx, kept or ())
    moved = levels.several(cls.jvp(ctx, *tangents))
    outs = levels.several(outputs)
    if len(moved) != len(outs):
        raise RuntimeError(
            f"Function's jvp returned an invalid number of forward gradients (expected {len(outs)} but got "
            f"{len(moved)})"
        )
    triples = zip(args, values, versions, strict=True)
    changed = tuple(arg for arg, value, version in triples if version is not None and value._version != version)
    for number, (out, tangent) in enumerate(zip(outs, moved, strict=True)):
        _check_tangent(number, out, tangent)
        if tangent is not None and isinstance(level, DualLevel) and _written(level, changed, out) is None:
            _check_views(out, tangent, [(arg.value, arg.tangent) for arg in args if level.tangent(arg) is not None])
    raised = tuple(
        _dual(level, changed, out, _own(out, tangent, values, tangents))
        for out, tangent in zip(outs, moved, strict=True)
    )
    return raised if isinstance(outputs, tuple) else raised[0]


def _check_tangent(number: int, out: Any, tangent: Any) -> None:
    """PyTorch's errors where what ``jvp`` gives for an output cannot be its tangent."""
    if tangent is None:
        return
    if not isinstance(tangent, Tensor):
        raise RuntimeError(f"expected Variable or None (got {type(tangent).__name__}) for grad output {number}.")
    if not isinstance(out, Tensor) or not carries_gradients(out._array.dtype):
        raise RuntimeError(
            f"Function's jvp returned a gradient at position {number}, but  the corresponding forward output is not a "
            "differentiable Tensor.You should return None at that position instead."
        )
    check_sizes(out, tangent)


def _check_views(out: Any, tangent: Any, inputs: list[tuple[Any, Any]]) -> None:
    """PyTorch's error where an output lies on the memory of an input, and its tangent not on that of the input's."""
    for value, moved in inputs:
        if _lies_on(out, value) and not _lies_on(tangent, moved):
            raise RuntimeError(
                "A custom Function's forward is returning a view (or an input as-is) but the jvp is not returning a "
                "view."
            )


def _own(out: Any, tangent: Any, values: Sequence[Any], tangents: Sequence[Any]) -> Any:
    """The tangent of an output: of what does not lie on an input, none that an input has."""
    if tangent is None or any(_lies_on(out, value) for value in values if isinstance(value, Tensor)):
        return tangent
    return apart(tangent, tangents)


def _lies_on(tensor: Any, other: Any) -> bool:
    """Whether a tensor is another, or a view of it or of what that is a view of."""
    if tensor is other:
        return True
    base = tensor._base
    return base is not None and (base is other or base is other._base)


def _dual(level: Forward, changed: tuple[Any, ...], out: Any, tangent: Any) -> Any:
    """An output with the tangent that the user's ``jvp`` gives for it: the argument itself, where that was written."""
    if not isinstance(out, Tensor):
        return out
    written = _written(level, changed, out)
    if written is None:
        return level.dual(out, tangent)
    if written.tangent is not None and tangent is not written.tangent:
        raise RuntimeError(
            "An inplace custom Function is not modifying the forward mode gradients inplace. If the forward is "
            "modifying an input inplace, then the jvp function must modify the corresponding gradient inplace."
        )
    written.tangent = tangent
    return written


# -- vmap --------------------------------------------------------------------------------------------------------------


def _batched(cls: Any, level: Batch, args: tuple[Any, ...]) -> Any:
    has_own = cls.vmap is not Function.vmap
    if has_own and cls.generate_vmap_rule:
        raise RuntimeError(
            f"You tried to vmap over {cls.__name__}, but it has both generate_vmap_rule=True and an overridden vmap "
            "staticmethod. Please set generate_vmap_rule=False or delete the overridden vmap staticmethod to avoid "
            f"ambiguity. {_MORE}"
        )
    if cls.generate_vmap_rule:
        return _generated(cls, level, args)
    if not has_own:
        raise RuntimeError(
            f"You tried to vmap over {cls.__name__}, but it does not have vmap support. Please override and implement "
            f"the vmap staticmethod or set generate_vmap_rule=True. {_MORE}"
        )
    leaves, shape = tree_flatten(args)
    in_dims = tree_unflatten([0 if level.has(leaf) else None for leaf in leaves], shape)
    values = tree_map(level.lower, args)
    answer = cls.vmap(VmapInfo(level.size, level.randomness), in_dims, *values)
    if not (isinstance(answer, tuple) and len(answer) == 2):
        got = f"{len(answer)} returns" if isinstance(answer, tuple) else f"a {type(answer)}"
        raise RuntimeError(
            "Expected the vmap staticmethod to have two returns, an output and out_dims with pytree structure "
            f"compatible with the output. Got {got} instead"
        )
    outputs, out_dims = answer
    outs, out_shape = tree_flatten(outputs)
    dims = spread(out_dims, out_shape)
    if dims is None:
        raise RuntimeError(
            "The autograd.Function's vmap staticmethod returned an incompatible (output, out_dims) tuple. Expected "
            f"out_dims={out_dims} to be compatible with the structure of `output`. out_dims has structure "
            f"{tree_flatten(out_dims)[1]} but output has structure {out_shape}. {_MORE}"
        )
    raised = [
        out if dim is None else level.batch(out if dim == 0 else out.movedim(dim, 0))
        for out, dim in zip(outs, dims, strict=True)
    ]
    return tree_unflatten(raised, out_shape)


def _generated(cls: Any, level: Batch, args: tuple[Any, ...]) -> Any:
    """A Function below the level whose ``forward``, ``backward`` and ``jvp`` are those of ``cls``, each under vmap."""
    size, randomness = level.size, level.randomness
    is_batch = [level.has(arg) for arg in args]
    notes: dict[str, Any] = {}

    def seen(inner: Batch, tensors: Any, flags: Any) -> tuple[Any, ...]:
        return tuple(inner.batch(t) if flag and t is not None else t for t, flag in zip(tensors, flags, strict=True))

    class Vmapped(Function):
        generate_vmap_rule = True  # for a vmap around this one

        @staticmethod
        def forward(*values: Any) -> Any:
            with entered(Batch(size, randomness)) as inner:
                outputs = cls.forward(*seen(inner, values, is_batch))
                outs = levels.several(outputs)
                notes["outputs"] = [inner.has(out) for out in outs]
                lowered = tuple(inner.lower(out) for out in outs)
            return lowered if isinstance(outputs, tuple) else lowered[0]

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            with entered(Batch(size, randomness)) as inner:
                outs = seen(inner, levels.several(output), notes["outputs"])
                own = notes["context"] = context(cls, inputs, ())
                cls.setup_context(own, seen(inner, inputs, is_batch), outs if isinstance(output, tuple) else outs[0])
                for name in ("to_save", "saved_for_forward"):
                    tensors = getattr(own, name) or ()
                    notes[name] = [inner.has(tensor) for tensor in tensors]
                    setattr(own, name, None)
                    notes[f"{name} values"] = tuple(inner.lower(tensor) for tensor in tensors)
            ctx.save_for_backward(*notes["to_save values"])
            ctx.save_for_forward(*notes["saved_for_forward values"])
            ctx.set_materialize_grads(own.materialize_grads)

        @staticmethod
        def backward(ctx: Any, *grads: Any) -> Any:
            with entered(Batch(size, randomness)) as inner:
                own = with_saved(notes["context"], seen(inner, ctx.saved_tensors, notes["to_save"]))
                own.needs_input_grad = ctx.needs_input_grad
                rule = cls.backward if cls.vjp is Function.vjp else cls.vjp
                answers = levels.several(rule(own, *seen(inner, grads, notes["outputs"])))
                lowered = []
                for answer, flag in zip(answers, is_batch, strict=False):
                    if inner.has(answer):
                        answer = answer.value if flag else answer.value.sum(0)
                    elif flag and isinstance(answer, Tensor):
                        answer = answer.expand((size, *answer.shape))
                    lowered.append(answer)
            return tuple(lowered)

        @staticmethod
        def jvp(ctx: Any, *tangents: Any) -> Any:
            with entered(Batch(size, randomness)) as inner:
                own = with_saved(notes["context"], seen(inner, ctx.saved_tensors, notes["saved_for_forward"]))
                moved = cls.jvp(own, *seen(inner, tangents, is_batch))
                lowered = tuple(
                    t.expand((size, *t.shape))
                    if flag and isinstance(t, Tensor) and not inner.has(t)
                    else inner.lower(t)
                    for t, flag in zip(levels.several(moved), notes["outputs"], strict=True)
                )
            return lowered if isinstance(moved, tuple) else lowered[0]

    Vmapped.__name__ = Vmapped.__qualname__ = cls.__name__
    outputs = Vmapped.apply(*[level.lower(arg) for arg in args])
    raised = tuple(
        level.batch(out) if flag else out for out, flag in zip(levels.several(outputs), notes["outputs"], strict=True)
    )
    return raised if isinstance(outputs, tuple) else raised[0]
