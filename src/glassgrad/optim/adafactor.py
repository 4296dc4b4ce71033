"""Adafactor: keeps row and column means of squared gradients instead of all of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..ground import dtypes
from .settings import ByParameter, check_least, check_one_element, filled, number, scalar


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
        self,
        params: Iterable[Any],
        lr: Any = 1e-2,
        beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3),
        d: float = 1.0,
        weight_decay: float = 0.0,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
    ) -> None:
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
        lr, decay = number(group["lr"]), group["weight_decay"]
        eps, least = group["eps"]
        if eps is None:
            eps = dtypes.finfo(param.dtype).eps
        step = state["step"].item()
        fresh = step ** group["beta2_decay"]
        size = max(least, param.norm(2).item() / param.numel() ** 0.5) * min(lr, 1 / step**0.5)
        if decay != 0:
            param.mul_(1 - lr * decay)
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
        param.add_(way, alpha=-size / clip)
