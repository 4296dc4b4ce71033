"""Scaling the loss so that small gradients survive half precision; knows optimizers by ``param_groups``."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from enum import Enum
from itertools import repeat
from operator import imul, setitem
from typing import Any

import numpy as np

from ..core.tensor import Tensor, share, wrap
from ..ground import dtypes
from ..ground.at_once import at_once


class OptState(Enum):
    """How far an optimizer has come in this iteration."""

    READY = 0
    UNSCALED = 1
    STEPPED = 2


class _Progress:
    """What is known of one optimizer in this iteration: its stage, and whether its gradients are finite."""

    __slots__ = ("stage", "found_inf", "checked")

    def __init__(self) -> None:
        self.stage = OptState.READY
        self.found_inf = False
        self.checked = False


class GradScaler:
    """Multiplies losses by a scale, divides gradients by it again, and skips steps whose gradients are not finite.

    init_scale       the scale at the start
    growth_factor    by what it grows after ``growth_interval`` steps without an infinity; above 1
    backoff_factor   by what it shrinks after a step with one; below 1
    enabled          False makes every method pass its argument through
    Source: https://docs.pytorch.org/docs/stable/amp.html#gradient-scaling
    """

    def __init__(
        self, device: str = "cuda", init_scale: float = 2.0**16, growth_factor: float = 2.0,
        backoff_factor: float = 0.5, growth_interval: int = 2000, enabled: bool = True,
    ) -> None:  # fmt: skip
        self._device = device
        self._enabled = enabled
        if enabled and device == "cuda":
            warnings.warn("torch.cuda.amp.GradScaler is enabled, but CUDA is not available.  Disabling.", stacklevel=2)
            self._enabled = False
        if not self._enabled:
            return
        if growth_factor <= 1.0:
            raise AssertionError("The growth factor must be > 1.0.")
        if backoff_factor >= 1.0:
            raise AssertionError("The backoff factor must be < 1.0.")
        self._init_scale = init_scale
        self._scale: Tensor | None = None  # made by the first loss that is scaled
        self._growth_factor, self._backoff_factor = growth_factor, backoff_factor
        self._growth_interval = growth_interval
        self._init_growth_tracker = 0
        self._growth_tracker: Tensor | None = None
        self._progress: dict[int, _Progress] = {}

    # -- the three calls of a training loop ---------------------------------------------------------------------------

    def scale(self, outputs: Any) -> Any:
        """A loss, or each of several, times the scale."""
        if not self._enabled:
            return outputs
        if isinstance(outputs, Tensor):
            if self._scale is None:
                self._scale = wrap(np.float32(self._init_scale))
                self._growth_tracker = wrap(np.int32(self._init_growth_tracker))
            product: Any = outputs * self._scale  # type: ignore[operator]
            return product
        if isinstance(outputs, Iterable):
            products = map(self.scale, outputs)
            return type(outputs)(products) if isinstance(outputs, (list, tuple)) else products  # type: ignore[call-arg]
        raise ValueError("outputs must be a Tensor or an iterable of Tensors")

    def unscale_(self, optimizer: Any) -> None:
        """Divide the optimizer's gradients by the scale, so that they can be clipped or looked at."""
        if not self._enabled:
            return
        scale, _ = self._begun("unscale_")
        progress = self._of(optimizer)
        if progress.stage is OptState.UNSCALED:
            raise RuntimeError("unscale_() has already been called on this optimizer since the last update().")
        if progress.stage is OptState.STEPPED:
            raise RuntimeError("unscale_() is being called after step().")
        _unscale(optimizer, np.float32(1.0 / float(scale._array)), progress)

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """``optimizer.step()``, unless a gradient is infinite or NaN; unscales first where that was not done."""
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        self._begun("step")
        progress = self._of(optimizer)
        if progress.stage is OptState.STEPPED:
            raise RuntimeError("step() has already been called since the last update().")
        if progress.stage is OptState.READY:
            self.unscale_(optimizer)
        if not progress.checked:
            raise AssertionError("No inf checks were recorded for this optimizer.")
        answer = None if progress.found_inf else optimizer.step(*args, **kwargs)
        progress.stage = OptState.STEPPED
        return answer

    def update(self, new_scale: Any = None) -> None:
        """Adapt the scale at the end of an iteration, or set it."""
        if not self._enabled:
            return
        scale, tracker = self._begun("update")
        if new_scale is not None:
            changes = {scale: self._checked_scale(new_scale)}
        else:
            checked = [progress for progress in self._progress.values() if progress.checked]
            if not checked:
                raise AssertionError("No inf checks were recorded prior to update.")
            changes = self._adapted(scale, tracker, any(progress.found_inf for progress in checked))
        at_once(*_puts(changes), map(setattr, [self], ["_progress"], [{}]))

    def _adapted(self, scale: Tensor, tracker: Tensor, found_inf: bool) -> dict[Tensor, Any]:
        """What the scale and the count of steps become."""
        if found_inf:
            return {scale: np.float32(float(scale._array) * self._backoff_factor), tracker: np.int32(0)}
        steps = int(tracker._array) + 1
        if steps < self._growth_interval:
            return {tracker: np.int32(steps)}
        grown = np.float32(float(scale._array) * self._growth_factor)
        return {scale: grown if np.isfinite(grown) else scale._array, tracker: np.int32(0)}

    def _checked_scale(self, new_scale: Any) -> np.float32:
        if isinstance(new_scale, float):
            return np.float32(new_scale)
        if (
            not isinstance(new_scale, Tensor)
            or str(new_scale.device) != self._device
            or new_scale._array.size != 1
            or new_scale.requires_grad
        ):
            raise AssertionError(
                "new_scale should be a float or a 1-element torch.cuda.FloatTensor or "
                "torch.FloatTensor with requires_grad=False."
            )
        return np.float32(np.reshape(new_scale._array, ())[()])

    def _begun(self, name: str) -> tuple[Tensor, Tensor]:
        why = "This may indicate your script did not use scaler.scale(loss or outputs) earlier in the iteration."
        if self._scale is None:
            raise AssertionError(f"Attempted {name} but _scale is None.  {why}")
        if self._growth_tracker is None:
            raise AssertionError(f"Attempted {name} but _growth_tracker is None.  {why}")
        return self._scale, self._growth_tracker

    def _of(self, optimizer: Any) -> _Progress:
        return self._progress.setdefault(id(optimizer), _Progress())

    # -- settings and state -------------------------------------------------------------------------------------------

    def is_enabled(self) -> bool:
        """Whether it does anything."""
        return self._enabled

    def get_scale(self) -> float:
        """The scale; 1.0 where it is disabled."""
        if not self._enabled:
            return 1.0
        return self._init_scale if self._scale is None else float(self._scale._array)

    def get_growth_factor(self) -> float:
        """By what the scale grows."""
        return self._growth_factor

    def set_growth_factor(self, new_factor: float) -> None:
        """Set by what the scale grows."""
        self._growth_factor = new_factor

    def get_backoff_factor(self) -> float:
        """By what the scale shrinks."""
        return self._backoff_factor

    def set_backoff_factor(self, new_factor: float) -> None:
        """Set by what the scale shrinks."""
        self._backoff_factor = new_factor

    def get_growth_interval(self) -> int:
        """After how many steps without an infinity the scale grows."""
        return self._growth_interval

    def set_growth_interval(self, new_interval: int) -> None:
        """Set after how many steps without an infinity the scale grows."""
        self._growth_interval = new_interval

    def _get_growth_tracker(self) -> int:
        if not self._enabled:
            return 0
        return self._init_growth_tracker if self._growth_tracker is None else int(self._growth_tracker._array)

    def state_dict(self) -> dict[str, Any]:
        """The scale, the factors and the count of steps; empty where it is disabled."""
        if not self._enabled:
            return {}
        return {
            "scale": self.get_scale(),
            "growth_factor": self._growth_factor,
            "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval,
            "_growth_tracker": self._get_growth_tracker(),
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what ``state_dict`` gave."""
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError(
                "The source state dict is empty, possibly because it was saved from a disabled instance of GradScaler."
            )
        self._init_scale = state_dict["scale"]
        self._growth_factor, self._backoff_factor = state_dict["growth_factor"], state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]
        self._init_growth_tracker = state_dict["_growth_tracker"]
        if self._scale is not None and self._growth_tracker is not None:
            changes: dict[Tensor, Any] = {self._scale: np.float32(self._init_scale)}
            changes[self._growth_tracker] = np.int32(self._init_growth_tracker)
            at_once(*_puts(changes))

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        if self._enabled:
            if self._progress:
                raise AssertionError(
                    "A GradScaler instance may only be pickled at the beginning of an iteration, "
                    "or at the end after scaler.update()."
                )
            state.update(_init_scale=self.get_scale(), _init_growth_tracker=self._get_growth_tracker())
            state.update(_scale=None, _growth_tracker=None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)


def _puts(changes: dict[Tensor, Any]) -> tuple[Iterable[Any], Iterable[Any]]:
    """What writes into tensors of one element, as ``fill_`` would, given to ``at_once``."""
    counters = [share(tensor) for tensor in changes]
    return map(setitem, [tensor._array for tensor in changes], repeat(...), changes.values()), _counting(counters)


def _counting(counters: Sequence[Any]) -> Iterable[Any]:
    """What counts a write to each tensor, given their version counters."""
    return map(setattr, counters, repeat("version"), [counter.version + 1 for counter in counters])


def _unscale(optimizer: Any, inverse: np.float32, progress: _Progress) -> None:
    """Multiply every gradient by ``inverse``, and note that, and whether one is not finite."""
    counters, arrays = [], []
    for group in optimizer.param_groups:
        for param in group["params"]:
            grad = param.grad
            if grad is None:
                continue
            if grad.dtype is dtypes.float16:
                raise ValueError("Attempting to unscale FP16 gradients.")
            progress.checked = True
            counters.append(share(grad))
            arrays.append(grad._array)
            if not np.isfinite(grad._array).all():
                progress.found_inf = True
    factors = [array.dtype.type(inverse) for array in arrays]
    noted = map(setattr, [progress], ["stage"], [OptState.UNSCALED])
    at_once(map(imul, arrays, factors), _counting(counters), noted)
