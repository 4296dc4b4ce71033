"""What optimizers share that step whole parameters, one after the other, by ordinary operations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from ..ground import modes
from .optimizer import evaluated
from .settings import WithSettings


class ByParameter(WithSettings):
    """An optimizer whose ``_step`` changes one parameter, given its group and its state; it refuses complex ones."""

    _name: ClassVar[str]  # as errors have it, of subclasses too

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change the parameters once; gives the loss that ``closure`` computed."""
        loss = evaluated(closure)
        before = modes.set_grad(False)
        try:
            for group in self.param_groups:
                for param in group["params"]:
                    if param.grad is None:
                        continue
                    if param.is_complex():
                        raise RuntimeError(f"{self._name} does not support complex parameters")
                    if param.grad.is_sparse:
                        raise RuntimeError(f"{self._name} does not support sparse gradients")
                    self._step(group, self.state[param], param)
        finally:
            modes.set_grad(before)
        return loss

    def _step(self, group: dict[str, Any], state: dict[str, Any], param: Any) -> None:
        raise NotImplementedError


def check_least(words: str, value: Any, least: int = 0) -> None:
    """ValueError where a setting is too small; ``words`` are what the error calls it."""
    if not float(least) <= value:
        raise ValueError(f"{words} should be >= {least} but is: {value}")
