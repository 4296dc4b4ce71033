"""Optimizers of matrices: Muon makes the step orthogonal, Adafactor keeps means of rows and columns."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from ..families.matrix.rows import addmm
from ..ground import dtypes
from .settings import ByParameter, check_least, check_one_element, filled, number, scalar


class Muon(ByParameter):
    """Steps along the nearest orthogonal matrix to the running mean of the gradients; for 2-d parameters only.

    weight_decay     shrink the parameters by ``lr * weight_decay``
    momentum         how much of the running mean stays at each step
    nesterov         look ahead: mix the gradient in once more
    ns_coefficients  the odd polynomial that is iterated ``ns_steps`` times (Newton and Schulz)
    adjust_lr_fn     "original" or "match_rms_adamw": how the rate depends on the shape
    Source: Jordan (2024); https://docs.pytorch.org/docs/stable/generated/torch.optim.Muon.html
    """

    _name = "Muon"

    def __init__(
        self, params: Iterable[Any], lr: Any = 1e-3, weight_decay: float = 0.1, momentum: float = 0.95,
        nesterov: bool = True, ns_coefficients: tuple[float, float, float] = (3.4445, -4.775, 2.0315),
        eps: float = 1e-7, ns_steps: int = 5, adjust_lr_fn: str | None = None,
    ) -> None:  # fmt: skip
        self._begin(locals())
        for group in self.param_groups:
            for param in group["params"]:
                if param.ndim != 2:
                    raise ValueError(
                        f"Muon only supports 2D parameters whereas we found a parameter with size: {param.size()}"
                    )

    def _check(self, settings: dict[str, Any]) -> None:
        check_one_element(settings["lr"], "lr")
        check_least("Learning rate", settings["lr"])
        check_least("momentum", settings["momentum"])
        check_least("weight decay", settings["weight_decay"])
        if settings["adjust_lr_fn"] not in (None, "original", "match_rms_adamw"):
            raise ValueError(f"Adjust learning rate function {settings['adjust_lr_fn']} is not supported")

    def _started(self, group: dict[str, Any], param: Any) -> dict[str, Any]:
        return {"momentum_buffer": filled(param.grad, 0)}

    def _step(self, group: dict[str, Any], state: dict[str, Any], param: Any) -> None:
        buffer = state["momentum_buffer"]
        grad, lr, momentum = param.grad, number(group["lr"]), group["momentum"]
        if grad.ndim != 2:
            raise ValueError("Param gradient must be a 2D matrix")
        buffer.lerp_(grad, 1 - momentum)
        way = grad.lerp(buffer, momentum) if group["nesterov"] else buffer
        way = orthogonal(way, group["ns_coefficients"], group["ns_steps"], group["eps"])
        rows, columns = param.shape
        if group["adjust_lr_fn"] == "match_rms_adamw":
            ratio = 0.2 * math.sqrt(max(rows, columns))
        else:
            ratio = math.sqrt(max(1, rows / columns))
        param.mul_(1 - lr * group["weight_decay"])
        param.add_(way, alpha=-lr * ratio)


def orthogonal(matrix: Any, coefficients: tuple[float, float, float], steps: int, eps: float) -> Any:
    """About the nearest orthogonal matrix, in bfloat16: singular values are brought near 1 by a polynomial."""
    if steps >= 100:
        raise ValueError("Number of steps must be less than 100 for computational efficiency")
    if len(coefficients) != 3:
        raise ValueError("Coefficients must be a tuple of exactly 3 values")
    a, b, c = coefficients
    tall = matrix.size(0) > matrix.size(1)
    x = matrix.bfloat16()
    x = x.T if tall else x
    x = x / x.norm().clamp(min=eps)
    for _ in range(steps):
        gram = x @ x.T
        x = addmm(x, addmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return x.T if tall else x


class Adafactor(ByParameter):
    """Adam's second running mean from little memory, clipped steps, and rates relative to the parameters.

    beta2_decay   the power by which the running means lengthen
    eps           (added to the means, by default the dtype's; the least size of a parameter)
    d             the root mean square beyond which a step is clipped
    weight_decay  shrink the parameters by ``lr * weight_decay``
    Source: Shazeer and Stern (2018); https://docs.pytorch.org/docs/stable/generated/torch.optim.Adafactor.html
    """

    _name = "Adafactor"
    _younger = "foreach"
    _scalars = ("step",)

    def __init__(
        self, params: Iterable[Any], lr: Any = 1e-2, beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3), d: float = 1.0, weight_decay: float = 0.0, *,
        foreach: bool | None = None, maximize: bool = False,
    ) -> None:  # fmt: skip
        self._begin(locals())

    def _check(self, settings: dict[str, Any]) -> None:
        check_one_element(settings["lr"], "lr")
        check_least("Learning rate", settings["lr"])
        if not 0.0 >= settings["beta2_decay"]:
            raise ValueError(f"beta2_decay should be <= 0 but is: {settings['beta2_decay']}")
        if settings["eps"][0] is not None:
            check_least("epsilon1", settings["eps"][0])
        check_least("epsilon2", settings["eps"][1])
        check_least("Clipping threshold d", settings["d"], 1)
        check_least("weight_decay", settings["weight_decay"])

    def _started(self, group: dict[str, Any], param: Any) -> dict[str, Any]:
        grad, step = param.grad, scalar(0.0, group)
        if grad.dim() < 2:
            return {"step": step, "variance": filled(grad, 0)}
        rows, columns = [*grad.shape[:-1], 1], [*grad.shape[:-2], 1, grad.shape[-1]]
        return {"step": step, "row_var": grad.new_zeros(rows), "col_var": grad.new_zeros(columns)}

    def _step(self, group: dict[str, Any], state: dict[str, Any], param: Any) -> None:
        grad = -param.grad if group["maximize"] else param.grad
        lr, decay = group["lr"], group["weight_decay"]
        eps, least = group["eps"]
        if eps is None:
            eps = dtypes.finfo(param.dtype).eps
        step = state["step"].item()
        fresh = step ** group["beta2_decay"]
        size = max(least, param.norm(2).item() / param.numel() ** 0.5) * min(lr, 1 / step**0.5)
        if decay != 0:
            param.mul_(number(1 - lr * decay))
        if grad.dim() > 1:
            for name, dim in (("row_var", -1), ("col_var", -2)):
                mean = grad.norm(dim=dim, keepdim=True).square_().div_(grad.size(dim))
                state[name].lerp_(mean, fresh)
            rows = state["row_var"]
            square = (rows @ state["col_var"]).div_(rows.mean(dim=-2, keepdim=True).clamp_(min=eps))
        else:
            square = state["variance"].lerp_(grad * grad, fresh).clone()
        way = square.clamp_(min=eps * eps).rsqrt_().mul_(grad)
        clip = max(1.0, way.norm(2).item() / (way.numel() ** 0.5 * group["d"]))
        param.add_(way, alpha=number(-size / clip))
