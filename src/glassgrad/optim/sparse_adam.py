"""SparseAdam: Adam that steps only the elements which a sparse gradient names."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from itertools import repeat
from operator import setitem
from typing import Any

import numpy as np

from ..core.tensor import share
from ..families.sparse.kernels import coalesced
from ..ground.at_once import at_once
from ..tensor.sparse import CooTensor
from .optimizer import evaluated
from .settings import WithSettings, check, check_one_element, filled, invalid, writable


class SparseAdam(WithSettings):
    """Adam for sparse gradients: the moments of elements without a gradient, and the elements, stay as they are.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.optim.SparseAdam.html
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: Any = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        maximize: bool = False,
    ) -> None:
        self._begin(locals())
        self._refuse("is_sparse", "Sparse", "requires dense parameter tensors")
        self._refuse("is_complex", "Complex", "does not support complex parameters")

    def _check(self, settings: dict[str, Any]) -> None:
        check_one_element(settings["lr"], "lr")
        for name in ("lr", "eps"):
            if not 0.0 < settings[name]:
                raise invalid(name, settings[name])
        check("betas", settings["betas"])

    def _refuse(self, question: str, kind: str, requirement: str) -> None:
        def holds(param: Any) -> bool:
            answer = getattr(param, question)
            return bool(answer() if callable(answer) else answer)

        indices = [
            [number, position]
            for number, group in enumerate(self.param_groups)
            for position, param in enumerate(group["params"])
            if holds(param)
        ]
        if indices:
            raise ValueError(f"{kind} params at indices {indices}: SparseAdam {requirement}")

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change the elements that have gradients once; gives the loss that ``closure`` computed."""
        loss = evaluated(closure)
        work: list[Any] = []
        for group in self.param_groups:
            todo = [param for param in group["params"] if param._grad is not None]
            if not all(isinstance(param._grad, CooTensor) for param in todo):
                raise RuntimeError("SparseAdam does not support dense gradients, please consider Adam instead")
            for param in todo:
                state = self.state[param]
                if not state:
                    state.update(step=0, exp_avg=filled(param, 0), exp_avg_sq=filled(param, 0))
                work.append((group, param, param._grad._array, state))
        states = [state for _, _, _, state in work]
        at_once(map(setitem, states, repeat("step"), [state["step"] + 1 for state in states]))
        for arguments in work:
            _step(*arguments)
        return loss


def _step(group: dict[str, Any], param: Any, grad: Any, state: dict[str, Any]) -> None:
    """One step of the elements that a gradient names."""
    grad = coalesced(-grad if group["maximize"] else grad)
    if not grad.values.size:
        return
    (beta1, beta2), indices, g = group["betas"], tuple(grad.indices), grad.values
    mean, square = writable(state["exp_avg"]), writable(state["exp_avg_sq"])
    old = mean[indices]
    m = (g - old) * (1 - beta1) + old
    mean[indices] = m
    old = square[indices]
    v = (g * g - old) * (1 - beta2) + old
    square[indices] = v
    step = state["step"]
    rate = float(group["lr"]) * math.sqrt(1 - beta2**step) / (1 - beta1**step)
    version = share(param)
    param._array[indices] -= (rate * (m / (np.sqrt(v) + group["eps"]))).astype(g.dtype, copy=False)
    version.version += 1
