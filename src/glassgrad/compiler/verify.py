"""``compile(verify=n)``: what a program gives and leaves behind is compared with its calls as they are written."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ..core.tensor import Tensor
from ..ground.generator import default_generator
from ..optim.optimizer import Optimizer
from .heard import version

CLOSE = 1e-4  # compiled kernels add in another order


class State:
    """What the calls of a segment may change: tensors from outside, their gradients, optimizers, the random stream."""

    def __init__(self, run: Any, pending: Any) -> None:
        self.tensors = [tensor for tensor, *_ in run.outside]
        self.optimizers = [args[0] for _, _, _, args, *_ in pending if args and isinstance(args[0], Optimizer)]
        self.memory = [(t, t._array, np.array(t._array), t._counter, version(t)) for t in self._all()]
        self.grads = [(t, t._grad) for t in self.tensors]
        self.kept = [(o, {key: dict(value) for key, value in o.state.items()}) for o in self.optimizers]
        self.stream = default_generator.get_state_bytes()

    def _all(self) -> list[Any]:
        found = [*self.tensors, *(t._grad for t in self.tensors if t._grad is not None and hasattr(t._grad, "_array"))]
        for optimizer in self.optimizers:
            found += [v for kept in optimizer.state.values() for v in kept.values() if isinstance(v, Tensor)]
        return [t for t in found if type(t._array).__module__ == "numpy"]

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


def verified(run: Any, program: Any, pending: Any, alive: tuple[int, ...], miss: Any) -> None:
    """Run a program, and then the calls as they are written, from the same state; a difference ends all replaying."""
    things = run.things
    owed = [(leaf, leaf._grad) for leaf, _ in run.graded]
    for leaf, _ in owed:
        leaf._grad = None
    state = State(run, pending)
    answer = program.run(*run.given[: run.count])
    theirs: list[Any] = []
    if answer is not miss:
        made = {entry_base + n: entry.function.__name__ + "()"
                for entry, *_, entry_base, _ in pending for n in range(len(entry.metas))}  # fmt: skip
        theirs = [(made[number], np.array(real._array)) for number, real in zip(alive, answer, strict=True)]
        theirs += state.now()
    state.restore()
    for leaf, grad in owed:
        leaf._grad = grad
    run.carry_out(pending, ())
    if answer is miss:
        return
    mine = [np.array(things[number]._array) for number in alive] + [value for _, value in state.now()]
    for (name, one), other in zip(theirs, mine, strict=True):
        if not _same(one, other):
            run.state.distrust(f"a program gave another result than its calls do as they are written, from {name}")
            return


def _same(one: Any, other: Any) -> bool:
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


def tell(message: str) -> None:
    """Warn of a difference."""
    warnings.warn(f"compile: {message}; it runs as it is written from now on", RuntimeWarning, stacklevel=2)
