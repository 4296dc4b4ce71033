"""Gradient descent: with momentum, with the mean of where it was, and by the gradients' signs alone."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ..core.tensor import Tensor, share
from ..ground import dtypes
from ..ground.paths import house
from ..kernels import compiled
from ..tensor.sparse import SparseTensor
from ..tensor.writable import check_writable
from .elementwise import Elementwise, direction, functional
from .optimizer import evaluated
from .settings import F32, F64, check_one_element, filled, invalid, number

subtract = np.subtract


class SGD(Elementwise):
    """``p -= lr * grad``; with momentum, ``buf = momentum * buf + (1 - dampening) * grad; p -= lr * buf``.

    nesterov      look ahead: ``p -= lr * (grad + momentum * buf)``
    weight_decay  how much of the parameter is added to its gradient
    maximize      climb instead
    Source: https://docs.pytorch.org/docs/stable/generated/torch.optim.SGD.html
    """

    _younger = "nesterov maximize foreach differentiable"
    _scalars = ()
    _arrays = ("momentum_buffer",)
    _only = {"momentum_buffer": "momentum"}

    def __init__(
        self, params: Iterable[Any], lr: Any = 1e-3, momentum: float = 0, dampening: float = 0, weight_decay: Any = 0,
        nesterov: bool = False, *, maximize: bool = False, foreach: bool | None = None, differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:  # fmt: skip
        self._begin(locals())

    def _check(self, settings: dict[str, Any]) -> None:
        check_one_element(settings["lr"], "lr")
        for name in ("lr", "momentum", "weight_decay"):
            if settings[name] < 0.0:  # NaN may pass, as in PyTorch
                raise invalid(name, settings[name])
        if settings["nesterov"] and (settings["momentum"] <= 0 or settings["dampening"] != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            group.setdefault("fused", False)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change the parameters once; gives the loss that ``closure`` computed."""
        loss = None if closure is None else evaluated(closure)
        for group in self.param_groups:
            lr = group["lr"]
            if (
                group["momentum"] != 0
                or type(lr) is not float
                or group["maximize"]
                or group["fused"]
                or group["differentiable"]
                or type(group["weight_decay"]) is Tensor
                or group["weight_decay"] != 0
            ):
                self._step_with_settings(group)
                continue
            dtype: Any = None
            least = compiled.least
            large: list[Any] = []
            for param in group["params"]:  # the everyday step: as little as possible for each parameter
                grad = param._grad
                if grad is None:
                    continue
                data = param._array
                if data.dtype is not dtype:
                    dtype = data.dtype
                    if dtype is not F32 and dtype is not F64:
                        dtype = None
                        if isinstance(grad, SparseTensor):
                            self._step_sparse(group, param, grad)
                        else:
                            self._step_all([(group, [(param, grad, {})])])
                        continue
                    rate = np.array(lr, dtype)  # of the right dtype: NumPy need not convert it each time
                if data.size >= least and not isinstance(grad, SparseTensor):
                    large.append((param, grad, {}))
                    continue
                version = param._counter
                if version is None:
                    version = share(param)
                    data = param._array
                subtract(data, grad._array * rate, data)
                version.version += 1
            if large:
                self._step_all([(group, large)])
        return loss

    def _step_with_settings(self, group: dict[str, Any]) -> None:
        """One step of a group, whatever its settings."""
        moved = group["momentum"] != 0
        fresh: list[Any] = []  # parameters that have no buffer yet
        known: list[Any] = []
        for param in group["params"]:
            grad = param._grad
            if grad is None:
                continue
            if type(grad) is not Tensor and isinstance(grad, SparseTensor):
                self._step_sparse(group, param, grad)
                continue
            state = self.state[param] if moved else {}
            if moved and state.get("momentum_buffer") is None:
                fresh.append((param, grad, {"momentum_buffer": filled(param, 0)}))
            else:
                known.append((param, grad, state))
        self._step_all([({**group, "fresh": True}, fresh), (group, known)])
        for param, _, state in fresh:  # a buffer is one after its first step
            self.state[param].update(state)

    def _step_sparse(self, group: dict[str, Any], param: Any, grad: Any) -> None:
        if group["fused"]:
            raise RuntimeError("`_fused_sgd` does not support sparse gradients")
        g = grad.detach()
        if group["maximize"]:
            g = -g
        if number(group["weight_decay"]) != 0:
            g = g.add(param.detach(), alpha=number(group["weight_decay"]))  # which raises: no sparse sum has it all
        if group["momentum"] != 0:
            state = self.state[param]
            buffer = state.get("momentum_buffer")
            if buffer is None:
                buffer = state["momentum_buffer"] = g.clone()
            else:
                buffer.mul_(group["momentum"]).add_(g, alpha=1 - group["dampening"])
            g = g.add(buffer, alpha=group["momentum"]) if group["nesterov"] else buffer
        if group["differentiable"]:
            check_writable(param, True)
        version = share(param)
        subtract(param._array, g._array * np.array(number(group["lr"]), param._array.dtype), param._array)
        version.version += 1

    def _advance(self, group: dict[str, Any], *scalars: Any) -> tuple[tuple[Any, ...], Any]:
        return (), group["lr"] if group["differentiable"] else number(group["lr"])

    def _compiled(self, group: dict[str, Any], numbers: Any) -> tuple[Any, ...] | None:
        sign, decay = direction(group)
        momentum, part = (0.0, 1.0) if group.get("fresh") else (group["momentum"], 1 - group["dampening"])
        constants = (sign, decay, momentum, part, group["momentum"], numbers)
        return "descend", 1, constants, decay != 0, bool(group["nesterov"])

    def _rule(self, group: dict[str, Any], numbers: Any, p: Any, g: Any, *kept: Any) -> None:
        lr, momentum = numbers, group["momentum"]
        if momentum != 0:
            (buffer,) = kept
            if group.get("fresh"):
                buffer.copy_(g.detach())
            else:
                buffer.mul_(momentum).add_(g, alpha=1 - group["dampening"])
            g = g.add(buffer, alpha=momentum) if group["nesterov"] else buffer
        if isinstance(lr, Tensor):
            p.sub_(g * lr)
        else:
            p.add_(g, alpha=-lr)


def sgd(
    params: list[Any], d_p_list: list[Any], momentum_buffer_list: list[Any], has_sparse_grad: bool = False,
    foreach: bool | None = None, fused: bool | None = None, grad_scale: Any = None, found_inf: Any = None, *,
    weight_decay: float, momentum: float, lr: Any, dampening: float, nesterov: bool, maximize: bool,
) -> None:  # fmt: skip
    """One step of SGD, given the buffers as a list, where None is replaced."""
    group = {
        "weight_decay": weight_decay, "momentum": momentum, "lr": lr, "dampening": dampening, "nesterov": nesterov,
        "maximize": maximize, "differentiable": False,
    }  # fmt: skip
    stepper = SGD.__new__(SGD)
    for index, (param, grad) in enumerate(zip(params, d_p_list, strict=True)):
        fresh = momentum != 0 and momentum_buffer_list[index] is None
        if fresh:
            momentum_buffer_list[index] = filled(param, 0)
        state = {"momentum_buffer": momentum_buffer_list[index]} if momentum != 0 else {}
        stepper._step_all([({**group, "fresh": fresh}, [(param, grad, state)])])


class ASGD(Elementwise):
    """Gradient descent with a rate that falls; ``state[p]["ax"]`` is the mean of the parameters after ``t0`` steps.

    lambd         how fast parameters decay, and the rate falls
    alpha         the power by which the rate falls
    t0            the step from which on the mean is taken
    weight_decay  how much of the parameter is added to its gradient
    Source: Polyak and Juditsky (1992); https://docs.pytorch.org/docs/stable/generated/torch.optim.ASGD.html
    """

    _scalars = ("step", "eta", "mu")
    _arrays = ("ax",)
    _placed = ("params, mus, etas, and state_steps", ", 'xla'")

    _checked = "lr weight_decay"
    _first = {"eta": "lr", "mu": 1.0}

    def __init__(
        self, params: Iterable[Any], lr: Any = 1e-2, lambd: float = 1e-4, alpha: float = 0.75, t0: float = 1e6,
        weight_decay: float = 0, foreach: bool | None = None, maximize: bool = False, differentiable: bool = False,
        capturable: bool = False,
    ) -> None:  # fmt: skip
        self._begin(locals())

    def _advance(self, group: dict[str, Any], *scalars: Any) -> tuple[tuple[Any, ...], Any]:
        step, eta, mu = float(scalars[0]) + 1, float(scalars[1]), float(scalars[2])
        lr = number(group["lr"])
        after = lr / ((1 + group["lambd"] * lr * step) ** group["alpha"])
        rounded = dtypes.get_default_dtype().numpy.type  # as tensors of a number are, whatever the state's own type
        scalars = step, float(rounded(after)), float(rounded(1 / max(1, step - group["t0"])))
        return scalars, (1 - group["lambd"] * eta, eta, mu)

    def _rule(self, group: dict[str, Any], numbers: Any, p: Any, g: Any, *kept: Any) -> None:
        shrink, eta, mu = numbers
        (mean,) = kept
        p.mul_(shrink)
        p.add_(g, alpha=-eta)
        if mu == 1:
            mean.copy_(p)
        else:
            mean.add_((p - mean) * mu)


asgd = functional(
    ASGD,
    "axs mus etas state_steps",
    "foreach maximize differentiable capturable has_complex",
    "lambd lr t0 alpha weight_decay",
)


class Rprop(Elementwise):
    """Steps against the gradient's sign; each element's step grows while the sign stays, and shrinks when it turns.

    etas        by how much steps shrink and grow
    step_sizes  the smallest and the largest step
    Source: Riedmiller and Braun (1993); https://docs.pytorch.org/docs/stable/generated/torch.optim.Rprop.html
    """

    _arrays = ("prev", "step_size")
    _decays = False

    _checked = "lr"
    _order = "lr etas step_sizes foreach maximize differentiable capturable"
    _first = {"step_size": "lr"}

    def __init__(
        self, params: Iterable[Any], lr: Any = 1e-2, etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50), *, capturable: bool = False, foreach: bool | None = None,
        maximize: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        self._begin(locals())

    def _check(self, settings: dict[str, Any]) -> None:
        super()._check(settings)
        etas = settings["etas"]
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")

    def _advance(self, group: dict[str, Any], *scalars: Any) -> tuple[tuple[Any, ...], Any]:
        return (float(scalars[0]) + 1,), (*group["etas"], *group["step_sizes"])

    def _rule(self, group: dict[str, Any], numbers: Any, p: Any, g: Any, *kept: Any) -> None:
        less, more, least, most = numbers
        before, size = kept
        factor = (g * (before.clone() if group["differentiable"] else before)).sign()
        factor.masked_fill_(factor.gt(0), more).masked_fill_(factor.lt(0), less).masked_fill_(factor.eq(0), 1)
        size.mul_(factor).clamp_(least, most)
        g = g.clone().masked_fill_(factor.eq(less), 0)  # where the sign turned: no step this time
        before.copy_(g)
        p.addcmul_(g.sign(), size, value=-1)


rprop = functional(
    Rprop,
    "prevs step_sizes state_steps",
    "foreach capturable maximize differentiable has_complex",
    "step_size_min step_size_max etaminus etaplus",
)


house(sys.modules[__name__])
