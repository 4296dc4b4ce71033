"""Checkpointing: keep the inputs of a part of the model, and compute its inside again in backward.

Source: https://docs.pytorch.org/docs/stable/checkpoint.html
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterable
from typing import Any

from ..autograd.api import backward
from ..autograd.function import Function
from ..autograd.grad_mode import enable_grad, no_grad
from ..autograd.graph import saved_tensors_hooks
from ..core import engine
from ..core.tensor import Tensor
from ..ground import modes
from ..ground.generator import default_generator


class CheckpointError(RuntimeError):
    """What is raised when the second computation differs from the first."""


def check_backward_validity(inputs: Iterable[Any]) -> None:
    """Warn where no input requires gradients, so that none would flow."""
    if not any(isinstance(i, Tensor) and i.requires_grad for i in inputs):
        warnings.warn("None of the inputs have requires_grad=True. Gradients will be None", UserWarning, stacklevel=3)


class _Stream:
    """The state of the random stream, to be put back for the second computation."""

    def __init__(self, keep: bool) -> None:
        self.state = default_generator.get_state_bytes() if keep else None

    @contextlib.contextmanager
    def again(self) -> Any:
        """Inside, random numbers are those of the first computation; the stream goes on afterwards as before."""
        if self.state is None:
            yield
            return
        now = default_generator.get_state_bytes()
        default_generator.set_state_bytes(self.state)
        try:
            yield
        finally:
            default_generator.set_state_bytes(now)


class CheckpointFunction(Function):
    """The part of the model as one node, whose backward runs it again and differentiates that."""

    @staticmethod
    def forward(ctx: Any, function: Callable[..., Any], preserve: bool, *args: Any) -> Any:
        check_backward_validity(args)
        ctx.function, ctx.stream = function, _Stream(preserve)
        ctx.inputs = [None if isinstance(a, Tensor) else a for a in args]
        ctx.tensor_indices = [i for i, a in enumerate(args) if isinstance(a, Tensor)]
        ctx.save_for_backward(*(args[i] for i in ctx.tensor_indices))
        with no_grad():
            return function(*args)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        if engine.captures_inputs():
            raise RuntimeError(_REENTRANT)
        args = list(ctx.inputs)
        for index, tensor in zip(ctx.tensor_indices, ctx.saved_tensors, strict=True):
            cut = tensor.detach()
            cut.requires_grad = tensor.requires_grad
            args[index] = cut
        with enable_grad(), ctx.stream.again():
            outputs = ctx.function(*args)
        outputs = (outputs,) if isinstance(outputs, Tensor) else tuple(outputs)
        pairs = [
            (out, g)
            for out, g in zip(outputs, grads, strict=True)
            if isinstance(out, Tensor) and out.requires_grad
        ]
        if not pairs:
            raise RuntimeError("none of output has requires_grad=True, this checkpoint() is not necessary")
        backward([out for out, _ in pairs], [g for _, g in pairs])
        return (None, None, *(a.grad if isinstance(a, Tensor) else None for a in args))


_REENTRANT = (
    "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or passing an `inputs` parameter to "
    ".backward(). To resolve this error, you can either set use_reentrant=False, or call .backward() without passing "
    "the `inputs` argument."
)


_EXPLICIT = (
    "torch.utils.checkpoint: the use_reentrant parameter should be passed explicitly. Starting in PyTorch 2.9, calling "
    "checkpoint without use_reentrant will raise an exception. use_reentrant=False is recommended, but if you need to "
    "preserve the current default behavior, you can pass use_reentrant=True. Refer to docs for more details on the "
    "differences between the two variants."
)


class _Recomputed:
    """What one checkpointed call saved: places on the first run, tensors after the second."""

    def __init__(self, again: Callable[[], None], early_stop: bool) -> None:
        self.again, self.early_stop = again, early_stop
        self.count = 0
        self.metas: list[Any] = []
        self.tensors: dict[int, Tensor] | None = None

    def pack(self, tensor: Tensor) -> int:
        """Remember only that something was saved, and its shape."""
        self.metas.append(_meta(tensor))
        self.count += 1
        return self.count - 1

    def unpack(self, position: int) -> Tensor:
        """Run the part again at the first request; each tensor is given out once for each backward."""
        if self.tensors is None or position not in self.tensors:
            self.tensors = self._compute()
        if position not in self.tensors:
            raise CheckpointError(
                "torch.utils.checkpoint: A different number of tensors was saved during the original forward and "
                f"recomputation.\nNumber of tensors saved during forward: {self.count}\nNumber of tensors saved during "
                f"recomputation: {len(self.tensors)}."
            )
        return self.tensors.pop(position)

    def _compute(self) -> dict[int, Tensor]:
        saved: dict[int, Tensor] = {}

        def pack(tensor: Tensor) -> Tensor:
            saved[len(saved)] = bare = tensor.detach()  # type: ignore[attr-defined]
            if self.early_stop and len(saved) == self.count:
                raise _Enough
            return bare  # the tensor itself may be a result, whose history keeps what is packed here

        with enable_grad(), saved_tensors_hooks(pack, lambda tensor: tensor), contextlib.suppress(_Enough):
            self.again()
        self._compare(saved)
        return saved

    def _compare(self, saved: dict[int, Tensor]) -> None:
        if len(saved) != self.count:
            raise CheckpointError(
                "torch.utils.checkpoint: A different number of tensors was saved during the original forward and "
                f"recomputation.\nNumber of tensors saved during forward: {self.count}\nNumber of tensors saved during "
                f"recomputation: {len(saved)}."
            )
        differing = "".join(
            f"tensor at position {position}:\nsaved metadata: {before}\nrecomputed metadata: {_meta(saved[position])}\n"
            for position, before in enumerate(self.metas)
            if before != _meta(saved[position])
        )
        if differing:
            raise CheckpointError(
                "torch.utils.checkpoint: Recomputed values for the following tensors have different metadata than "
                f"during the forward pass.\n{differing}.\n"
            )


def _meta(tensor: Tensor) -> dict[str, Any]:
    return {"shape": tensor.shape, "dtype": tensor.dtype, "device": tensor.device}


class _Enough(Exception):
    """Everything that backward needs has been computed again."""


_early_stop = True


class set_checkpoint_early_stop:
    """Inside, whether the second computation stops once everything needed is there."""

    def __init__(self, enable: bool) -> None:
        self.enable = enable

    def __enter__(self) -> None:
        global _early_stop
        self.before, _early_stop = _early_stop, self.enable

    def __exit__(self, *exc: object) -> None:
        global _early_stop
        _early_stop = self.before


def checkpoint(
    function: Callable[..., Any],
    *args: Any,
    use_reentrant: bool | None = None,
    context_fn: Callable[[], Any] | None = None,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    **kwargs: Any,
) -> Any:
    """Call ``function`` keeping only its inputs; its inside is computed again when backward needs it."""
    preserve = kwargs.pop("preserve_rng_state", True)
    if use_reentrant is None:
        warnings.warn(_EXPLICIT, UserWarning, stacklevel=2)
        use_reentrant = True
    if use_reentrant:
        if kwargs:
            raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
        if context_fn is not None or debug:
            raise ValueError("Passing `context_fn` or `debug` is only supported when use_reentrant=False.")
        return CheckpointFunction.apply(function, preserve, *args)
    first, second = context_fn() if context_fn is not None else (contextlib.nullcontext(), contextlib.nullcontext())
    stream = _Stream(preserve)

    def again() -> None:
        with stream.again(), second:
            function(*args, **kwargs)

    if not modes.grad_enabled():
        return function(*args, **kwargs)
    recomputed = _Recomputed(again, early_stop and _early_stop)
    with saved_tensors_hooks(recomputed.pack, recomputed.unpack), first:
        return function(*args, **kwargs)


def checkpoint_sequential(
    functions: Any, segments: int, input: Any, use_reentrant: bool | None = None, **kwargs: Any
) -> Any:
    """A sequence of functions in ``segments`` parts, all but the last checkpointed."""
    preserve = kwargs.pop("preserve_rng_state", True)
    parts = list(functions.children()) if hasattr(functions, "children") else list(functions)

    def run(start: int, end: int) -> Callable[[Any], Any]:
        def forward(value: Any) -> Any:
            for part in parts[start : end + 1]:
                value = part(value)
            return value

        return forward

    size = len(parts) // segments
    end = -1
    for start in range(0, size * (segments - 1), size):
        end = start + size - 1
        input = checkpoint(run(start, end), input, use_reentrant=use_reentrant, preserve_rng_state=preserve)
    return run(end + 1, len(parts) - 1)(input)
