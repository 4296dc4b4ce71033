"""Checkpointing: keep the inputs of a part of the model, and compute its inside again in backward.

Source: https://docs.pytorch.org/docs/stable/checkpoint.html
"""

from __future__ import annotations

import contextlib
import itertools
import threading
import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from typing import Any, NoReturn

from ..amp import autocast_mode
from ..autograd.api import backward
from ..autograd.function import Function
from ..autograd.grad_mode import enable_grad, no_grad
from ..autograd.graph import captures_inputs, current_task, saved_tensors_hooks
from ..core.tensor import Tensor, alias
from ..families.create.functions import empty
from ..ground import modes
from ..ground.generator import default_generator
from ..tensor.hooks import count_on_leaf
from . import checkpoint_log
from .selective import CheckpointPolicy, SelectiveCheckpointContext, create_selective_checkpoint_contexts


class CheckpointError(RuntimeError):
    """What is raised when the second computation differs from the first."""


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
_EXPLICIT_SEQUENCE = (
    "torch.utils.checkpoint.checkpoint_sequential: the use_reentrant parameter should be passed explicitly. In version "
    "2.9 we will raise an exception if use_reentrant is not passed. use_reentrant=False is recommended, but if you "
    "need to preserve the current default behavior, you can pass use_reentrant=True. Refer to docs for more details on "
    "the differences between the two variants."
)
_TIP = (
    "\n\nTip: To see a more detailed error message, either pass `debug=True` to\n`torch.utils.checkpoint.checkpoint"
    "(...)` or wrap the code block\nwith `with torch.utils.checkpoint.set_checkpoint_debug_enabled(True):` to\nenable "
    "checkpoint‑debug mode globally.\n"
)
_UNPACKED = (
    "torch.utils.checkpoint: Unpack is being triggered for a tensor that was already unpacked once. {group}If you are "
    "calling ctx.saved_tensors in backward, make sure to do so only once. Otherwise please open an issue with details "
    "on your use case."
)
_OVERLAP = (
    "Performing two backward calls that overlap (i.e. require the same saved activation in order to compute gradients) "
    "is not allowed while under the torch.utils.checkpoint.GraphExecGroup context. "
)


def check_backward_validity(inputs: Iterable[Any]) -> None:
    """Warn where no input requires gradients, so that none would flow."""
    if not any(isinstance(i, Tensor) and i.requires_grad for i in inputs):
        warnings.warn("None of the inputs have requires_grad=True. Gradients will be None", UserWarning, stacklevel=3)


def detach_variable(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """The inputs with each tensor cut from its history; it requires gradients as before."""
    if not isinstance(inputs, tuple):
        raise RuntimeError(f"Only tuple of tensors is supported. Got Unsupported input type: {type(inputs).__name__}")
    cut = [value.detach() if isinstance(value, Tensor) else value for value in inputs]  # type: ignore[attr-defined]
    for value, before in zip(cut, inputs, strict=True):
        if isinstance(before, Tensor):
            value.requires_grad = before.requires_grad
    return tuple(cut)


def get_device_states(*args: Any) -> tuple[list[int], list[Tensor]]:
    """The random states of the accelerators that the tensors are on: there are none."""
    return [], []


def set_device_states(devices: Any, states: Any, *, device_type: str | None = None) -> None:
    """Accepted without effect: there are no accelerators."""


class DefaultDeviceType:
    """The kind of device that is taken where tensors are on none."""

    _kind = "cpu"

    @staticmethod
    def set_device_type(device: str = "cuda") -> None:
        """Set it."""
        DefaultDeviceType._kind = device

    @staticmethod
    def get_device_type() -> str:
        """The kind of device."""
        return DefaultDeviceType._kind


def noop_context_fn() -> tuple[AbstractContextManager[None], AbstractContextManager[None]]:
    """Two blocks that change nothing, for the first computation and for the second."""
    return contextlib.nullcontext(), contextlib.nullcontext()


class _Surroundings:
    """The random stream and autocast of the first computation, to be put back for the second."""

    def __init__(self, keep_stream: bool) -> None:
        self.state = default_generator.get_state_bytes() if keep_stream else None
        self.enabled = autocast_mode.is_autocast_enabled("cpu")
        self.dtype = autocast_mode.get_autocast_dtype("cpu")
        self.caches = autocast_mode.is_autocast_cache_enabled()

    @contextlib.contextmanager
    def again(self) -> Iterator[None]:
        """Inside, random numbers are those of the first computation; the stream goes on afterwards as before."""
        now = default_generator.get_state_bytes()
        if self.state is not None:
            default_generator.set_state_bytes(self.state)
        try:
            with autocast_mode.autocast("cpu", self.dtype, self.enabled, self.caches):
                yield
        finally:
            if self.state is not None:
                default_generator.set_state_bytes(now)


# -- with a backward within backward -----------------------------------------------------------------------------------


class CheckpointFunction(Function):
    """The part of the model as one node, whose backward runs it again and differentiates that."""

    @staticmethod
    def forward(ctx: Any, run_function: Callable[..., Any], preserve_rng_state: bool, *args: Any) -> Any:
        check_backward_validity(args)
        ctx.run_function, ctx.surroundings = run_function, _Surroundings(preserve_rng_state)
        ctx.inputs = [None if isinstance(a, Tensor) else a for a in args]
        ctx.tensor_indices = [i for i, a in enumerate(args) if isinstance(a, Tensor)]
        ctx.save_for_backward(*(args[i] for i in ctx.tensor_indices))
        with no_grad():
            return run_function(*args)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        if captures_inputs():
            raise RuntimeError(_REENTRANT)
        args = list(ctx.inputs)
        for index, tensor in zip(ctx.tensor_indices, ctx.saved_tensors, strict=True):
            args[index] = tensor
        args = list(detach_variable(tuple(args)))
        with enable_grad(), ctx.surroundings.again():
            outputs = ctx.run_function(*args)
        outputs = (outputs,) if isinstance(outputs, Tensor) else tuple(outputs)
        pairs = [
            (out, g) for out, g in zip(outputs, grads, strict=True) if isinstance(out, Tensor) and out.requires_grad
        ]
        if not pairs:
            raise RuntimeError("none of output has requires_grad=True, this checkpoint() is not necessary")
        backward([out for out, _ in pairs], [g for _, g in pairs])
        return (None, None, *(a.grad if isinstance(a, Tensor) else None for a in args))


# -- with hooks on saved tensors ---------------------------------------------------------------------------------------


class _Enough(Exception):
    """Everything that backward needs has been computed again."""


class _Inputs(Function):
    """The node that saves a part's inputs, packed by the hooks of a checkpoint around it: they need not stay."""

    @staticmethod
    def forward(ctx: Any, dummy: Any, *tensors: Any) -> Any:
        ctx.save_for_backward(*tensors)
        return empty((0,))

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        raise AssertionError("Did not expect to backward on this graph")


class _Place:
    """What stands for a tensor saved in the first computation: by backward call, what the second gave for it."""

    __slots__ = ("tensors", "__weakref__")

    def __init__(self) -> None:
        self.tensors: dict[Any, Tensor | None] = {}


class _Part:
    """One checkpointed call: what it saved, and how to compute that again."""

    def __init__(self, function: Callable[..., Any], args: tuple[Any, ...], early_stop: bool, describe: Any) -> None:
        self.function, self.early_stop, self.describe = function, early_stop, describe
        self.places: list[weakref.ref[_Place]] = []
        self.descriptions: list[Any] = []
        self.counts: dict[Any, int] = {}  # by backward call, what the second computation saved
        self.is_complete = False
        self.saves_more = False
        self.args = [None if isinstance(arg, Tensor) else arg for arg in args]
        self.positions = [index for index, arg in enumerate(args) if isinstance(arg, Tensor)]
        saver: Any = _Inputs.apply(empty((0,), requires_grad=True), *(args[index] for index in self.positions))
        self.inputs = saver.grad_fn
        count_on_leaf(self)  # it asks which backward call runs

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a graph with a checkpointed part, which is to be computed again, can neither be copied nor pickled"
        )

    def pack(self, tensor: Tensor) -> _Place:
        """Remember only that something was saved, and of what kind."""
        place = _Place()
        self.places.append(weakref.ref(place))
        with no_grad():
            self.descriptions.append(self.describe(tensor))
        return place

    def unpack(self, place: _Place) -> Tensor:
        """Run the part again at the first request of a backward call; each tensor is given out once for each."""
        call: Any = _groups.current or current_task()
        if call == -1:
            call = f"outside {next(_outside)}"
        if call not in self.counts:
            self._compute(call)
            self._compare(call)
        tensor = place.tensors.get(call)
        if tensor is None:
            raise CheckpointError(_UNPACKED.format(group=_OVERLAP if _groups.current else ""))
        place.tensors[call] = None
        return tensor

    def _compute(self, call: Any) -> None:
        args = list(self.args)
        for position, tensor in zip(self.positions, self.inputs.saved_tensors, strict=True):
            args[position] = tensor
        self.counts[call] = 0

        def pack(tensor: Tensor) -> Tensor:
            tensor = alias(tensor)  # it may be a result, whose history keeps this
            index = self.counts[call]
            self.counts[call] += 1
            if index >= len(self.places):
                if not self.is_complete:  # the part differentiates something itself, while it is run first
                    self.saves_more = True
                    return tensor
                raise CheckpointError(
                    "torch.utils.checkpoint: trying to save more tensors during recomputation than during the original "
                    f"forward pass.{_TIP}"
                )
            place = self.places[index]()
            if place is not None:
                place.tensors[call] = tensor
            if self.early_stop and self.counts[call] == len(self.places):
                raise _Enough
            return tensor

        try:
            with saved_tensors_hooks(pack, lambda tensor: tensor), enable_grad():
                self.function(*args)
        except _Enough:
            pass
        except BaseException:
            del self.counts[call]
            raise

    def _compare(self, call: Any) -> None:
        if self.saves_more:
            return
        if self.counts[call] != len(self.places):
            raise CheckpointError(
                "torch.utils.checkpoint: A different number of tensors was saved during the original forward and "
                f"recomputation.\nNumber of tensors saved during forward: {len(self.places)}\nNumber of tensors saved "
                f"during recomputation: {self.counts[call]}.{_TIP}"
            )
        differing = ""
        for position, (reference, before) in enumerate(zip(self.places, self.descriptions, strict=True)):
            place = reference()
            if place is not None and (now := self.describe(place.tensors[call])) != before:
                differing += f"tensor at position {position}:\nsaved metadata: {before}\nrecomputed metadata: {now}\n"
        if differing:
            raise CheckpointError(
                "torch.utils.checkpoint: Recomputed values for the following tensors have different metadata than "
                f"during the forward pass.\n{differing}.{_TIP}"
            )


def _kind(tensor: Any) -> dict[str, Any]:
    return {"shape": tensor.shape, "dtype": tensor.dtype, "device": tensor.device}


_CHECKS: dict[str, Callable[[Any], Any]] = {"default": _kind, "none": lambda tensor: None}
_outside = itertools.count()


class _Groups(threading.local):
    current: GraphExecGroup | None = None


_groups = _Groups()


class GraphExecGroup:
    """A block whose backward calls run a checkpointed part again once for all of them."""

    def __enter__(self) -> GraphExecGroup:
        if _groups.current is not None:
            raise RuntimeError(f"GraphExecGroup contexts cannot be nested. Already inside group {_groups.current}")
        _groups.current = self
        return self

    def __exit__(self, *exc: object) -> None:
        _groups.current = None


class _Settings:
    early_stop: bool | None = None
    debug: bool | None = None


_settings = _Settings()


@contextlib.contextmanager
def set_checkpoint_early_stop(enable: bool) -> Iterator[None]:
    """Inside, whether the second computation stops once everything needed is there."""
    before, _settings.early_stop = _settings.early_stop, enable
    try:
        yield
    finally:
        _settings.early_stop = before


@contextlib.contextmanager
def set_checkpoint_debug_enabled(enabled: bool | None) -> Iterator[None]:
    """Inside, whether errors list what was computed; None leaves that to each call's ``debug``."""
    before, _settings.debug = _settings.debug, enabled
    try:
        yield
    finally:
        _settings.debug = before


def checkpoint(
    function: Callable[..., Any], *args: Any, use_reentrant: bool | None = None,
    context_fn: Callable[[], tuple[Any, Any]] = noop_context_fn, determinism_check: str = "default",
    debug: bool = False, early_stop: bool = True, **kwargs: Any,
) -> Any:  # fmt: skip
    """Call ``function`` keeping only its inputs; its inside is computed again when backward needs it.

    Source: https://docs.pytorch.org/docs/stable/checkpoint.html#torch.utils.checkpoint.checkpoint
    """
    if use_reentrant is None:
        warnings.warn(_EXPLICIT, UserWarning, stacklevel=2)
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if use_reentrant:
        if kwargs:
            raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
        if context_fn is not noop_context_fn or debug is not False:
            raise ValueError("Passing `context_fn` or `debug` is only supported when use_reentrant=False.")
        return CheckpointFunction.apply(function, preserve, *args)
    log = None
    if debug if _settings.debug is None else _settings.debug:
        if context_fn is not noop_context_fn:
            raise ValueError("debug=True is incompatible with non-default context_fn")
        log = checkpoint_log.Log()
        context_fn = log.blocks
    if determinism_check not in _CHECKS:
        raise ValueError(f"determinism_check should be one of {list(_CHECKS)}, but got {determinism_check}")
    first, second = context_fn()
    if not modes.grad_enabled():
        return function(*args, **kwargs)
    surroundings = _Surroundings(preserve)

    def again(*args: Any) -> None:
        with surroundings.again(), second:
            function(*args, **kwargs)

    stops = early_stop if _settings.early_stop is None else _settings.early_stop
    part = _Part(again, args, stops, _CHECKS[determinism_check])
    unpack = part.unpack if log is None else log.explaining(part.unpack, CheckpointError)
    with saved_tensors_hooks(part.pack, unpack), first:
        outputs = function(*args, **kwargs)
    part.is_complete = True
    return outputs


def checkpoint_sequential(
    functions: Any, segments: int, input: Any, use_reentrant: bool | None = None, **kwargs: Any
) -> Any:
    """A sequence of functions in ``segments`` parts, all but the last checkpointed.

    Source: https://docs.pytorch.org/docs/stable/checkpoint.html#torch.utils.checkpoint.checkpoint_sequential
    """
    if use_reentrant is None:
        warnings.warn(_EXPLICIT_SEQUENCE, stacklevel=2)
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
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


__all__ = [
    "CheckpointError", "CheckpointFunction", "CheckpointPolicy", "DefaultDeviceType", "GraphExecGroup",
    "SelectiveCheckpointContext", "check_backward_validity", "checkpoint", "checkpoint_sequential",
    "create_selective_checkpoint_contexts", "detach_variable", "get_device_states", "noop_context_fn",
    "set_checkpoint_debug_enabled", "set_checkpoint_early_stop", "set_device_states",
]  # fmt: skip
