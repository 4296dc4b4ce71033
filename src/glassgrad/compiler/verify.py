"""``compile(verify=n)``: what a program gives and leaves behind is compared with its calls as they are written."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from itertools import zip_longest
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
        everything = [t for _, _, t in self._everything() if t is not None]
        self.memory = [(t, t._array, np.array(t._array), t._counter, version(t)) for t in everything]
        self.grads = [(t, t._grad) for t in self.tensors]
        self.kept = [(o, {key: dict(value) for key, value in o.state.items()}) for o in self.optimizers]
        self.stream = default_generator.get_state_bytes()

    def _everything(self) -> list[tuple[str, Any, Any]]:
        """What to call it, whose it is, and the tensor; of numbers that NumPy holds."""
        kept = [(o, t) for o in self.optimizers for one in o.state.values() for t in one.values()]
        pieces = [
            *[("the tensor it writes to", t, t) for t in self.tensors],
            *[("a gradient", t._grad, t._grad) for t in self.tensors],
            *[("what the optimizer keeps", o, t) for o, t in kept if isinstance(t, Tensor)],
        ]
        return [one for one in pieces if one[2] is None or type(one[2]._array).__module__ == "numpy"]

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

    def now(self) -> list[tuple[str, Any, Any]]:
        """The same with its numbers in the place of the tensor."""
        numbers = [(*which, None if t is None else np.array(t._array)) for *which, t in self._everything()]
        return [*numbers, ("the random stream", None, default_generator.get_state_bytes())]


def compared(
    compiled: Any, program: Any, inputs: Any, state: State, written: Callable[[], Any], began: Callable[..., str]
) -> Any:
    """Run a program, and then what is ``written``, which is given, from one state; a difference ends all replaying.

    ``began`` tells by the tensors and optimizers that differ at which operation it began.
    """

    def seen(result: Any) -> list[tuple[str, Any, Any]]:
        return [("its result", tensor, np.array(tensor._array)) for tensor in tensors_in(result)] + state.now()

    answer = program.run(*inputs)
    theirs = None if answer is MISS else seen(answer)
    state.restore()
    result = written()
    if theirs is not None:
        mine = seen(result)
        pairs = zip_longest(theirs, mine, fillvalue=("its result", None, None))
        wrong = [(name, thing) for (name, _, one), (_, thing, other) in pairs if not same(one, other)]
        if wrong:
            first, where = wrong[0][0], began([thing for _, thing in wrong])
            compiled.distrust(f"a program gave another result than its calls do as they are written: {first}{where}")
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
