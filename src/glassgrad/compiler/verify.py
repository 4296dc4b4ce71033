"""``compile(verify=n)``: what a program gives and leaves behind is compared with its calls as they are written."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.tensor import Tensor
from ..ground.generator import default_generator
from ..optim.lr_scheduler.base import LRScheduler
from ..optim.optimizer import Optimizer
from .program import MISS, tensors_in, version

CLOSE = 1e-4  # compiled kernels add in another order


class State:
    """What a program may change: tensors from outside, their gradients, optimizers, the random stream."""

    def __init__(self, tensors: list[Any], owners: list[Any]) -> None:
        self.tensors = tensors
        self.optimizers = [owner for owner in owners if isinstance(owner, Optimizer)]
        schedules = [owner for owner in owners if isinstance(owner, LRScheduler)]
        for schedule in schedules:
            schedules += getattr(schedule, "_schedulers", ())
        named: list[dict[str, Any]] = [*map(vars, schedules)]  # learning rates and the like
        named += [group for optimizer in self.optimizers for group in optimizer.param_groups]
        self.settings = [(settings, dict(settings)) for settings in named]
        self.memory = [(t, t._array, np.array(t._array), t._counter, version(t)) for t in self._all()]
        self.grads = [(t, t._grad) for t in self.tensors]
        self.kept = [(o, {key: dict(value) for key, value in o.state.items()}) for o in self.optimizers]
        self.stream = default_generator.get_state_bytes()

    def _all(self) -> list[Any]:
        grads = [t._grad for t in self.tensors if t._grad is not None and hasattr(t._grad, "_array")]
        tensors = [*self.tensors, *grads]
        for optimizer in self.optimizers:
            tensors += [v for kept in optimizer.state.values() for v in kept.values() if isinstance(v, Tensor)]
        return [t for t in tensors if type(t._array).__module__ == "numpy"]

    def restore(self) -> None:
        """Make everything what it was."""
        for tensor, array, content, counter, count in self.memory:
            if type(array) is np.ndarray:
                np.copyto(array, content)
            tensor._array, tensor._counter = array, counter  # a single number has no counter until its memory is shared
            if counter is not None:
                counter.version = count
        for tensor, grad in self.grads:
            tensor._grad = grad
        for settings, before in self.settings:
            settings.update(before)
        for optimizer, kept in self.kept:
            for key in [*optimizer.state]:
                if key in kept:
                    optimizer.state[key].clear()
                    optimizer.state[key].update(kept[key])
                else:
                    del optimizer.state[key]
        default_generator.set_state_bytes(self.stream)

    def now(self) -> list[tuple[str, Any]]:
        """What everything is now, by what it is."""
        shown: list[tuple[str, Any]] = [("the tensor it writes to", np.array(t._array)) for t in self.tensors]
        shown += [("a gradient", None if t._grad is None else np.array(t._grad._array)) for t in self.tensors]
        for optimizer in self.optimizers:
            shown += [("what the optimizer keeps", np.array(v._array))
                      for kept in optimizer.state.values() for v in kept.values() if isinstance(v, Tensor)]  # fmt: skip
        return [*shown, ("the random stream", default_generator.get_state_bytes())]


def compared(
    compiled: Any, program: Any, inputs: Any, state: State, written: Callable[[], Any]
) -> Any:  # fmt: skip
    """Run a program, and then what is ``written``, which is given, from one state; a difference ends all replaying."""

    def seen(result: Any) -> list[tuple[str, Any]]:
        return [("its result", np.array(tensor._array)) for tensor in tensors_in(result)] + state.now()

    answer = program.run(*inputs)
    theirs = None if answer is MISS else seen(answer)
    state.restore()
    result = written()
    if theirs is not None:
        mine = seen(result)
        wrong = [name for (name, one), (_, other) in zip(theirs, mine, strict=False) if not same(one, other)]
        if len(theirs) != len(mine):
            wrong.append("its result")
        if wrong:
            compiled.distrust(f"a program gave another result than its calls do as they are written, from {wrong[0]}")
    return result


def same(one: Any, other: Any) -> bool:
    """Whether two arrays are equal, but for how compiled kernels round."""
    if one is None or other is None:
        return one is other
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    if one.tobytes() == other.tobytes():
        return True
    if one.dtype.kind not in "fcV":
        return False
    one, other = (array.astype("f8" if array.dtype.kind != "c" else "c16") for array in (one, other))
    scale = np.max(np.abs(other), initial=0.0, where=np.isfinite(other))
    return bool(np.allclose(one, other, rtol=CLOSE, atol=CLOSE * max(float(scale), 1e-30), equal_nan=True))


def warn(message: str) -> None:
    """Warn of a difference."""
    warnings.warn(f"compile: {message}; it runs as it is written from now on", RuntimeWarning, stacklevel=2)
