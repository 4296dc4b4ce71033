"""Layers that work on each element; PReLU is the one with a parameter."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from ...core.tensor import Tensor
from ...nn import functional as F
from ...nn.init import constant_
from ...nn.modules.module import Module
from ...nn.parameter import Parameter
from ..create.functions import empty
from .rows import relu


class _Elementwise(Module):
    """A function of each element: what it is made with is kept, and shown as ``shown`` lists it."""

    _shown: Sequence[str] = ()
    inplace: bool

    def __init_subclass__(cls, shown: str | None = None, **options: Any) -> None:
        super().__init_subclass__(**options)
        if shown is not None:
            cls._shown = shown.split()

    def _made_with(self, **settings: Any) -> None:
        super().__init__()
        for name, value in settings.items():
            setattr(self, name, value)

    def forward(self, input: Tensor) -> Tensor:
        """The function of each element."""
        raise NotImplementedError

    def extra_repr(self) -> str:
        """The settings; ``inplace`` only where it is meant."""
        shown = [(name, getattr(self, name)) for name in self._shown]
        shown = [(name, repr(value) if isinstance(value, str) else value) for name, value in shown]
        return ", ".join(f"{name}={value}" for name, value in shown if name != "inplace" or value)


class _Switch(_Elementwise, shown="inplace"):
    """A function whose only setting is ``inplace``."""

    def __init__(self, inplace: bool = False) -> None:
        self._made_with(inplace=inplace)


class ReLU(_Switch):
    """max(x, 0). Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.ReLU.html"""

    def forward(self, input: Tensor) -> Tensor:
        return F.relu(input, True) if self.inplace else relu(input)


class SiLU(_Switch):
    """x * sigmoid(x)."""

    def forward(self, input: Tensor) -> Tensor:
        return F.silu(input, self.inplace)


class Mish(_Switch):
    """x * tanh(softplus(x))."""

    def forward(self, input: Tensor) -> Tensor:
        return F.mish(input, self.inplace)


class SELU(_Switch):
    """scale * (max(0, x) + min(0, alpha * (exp(x) - 1))), with constants that keep mean and variance."""

    def forward(self, input: Tensor) -> Tensor:
        return F.selu(input, self.inplace)


class Hardswish(_Switch, shown=""):
    """x * relu6(x + 3) / 6."""

    def forward(self, input: Tensor) -> Tensor:
        return F.hardswish(input, self.inplace)


class Hardsigmoid(_Switch, shown=""):
    """relu6(x + 3) / 6."""

    def forward(self, input: Tensor) -> Tensor:
        return F.hardsigmoid(input, self.inplace)


class Sigmoid(_Elementwise):
    """1 / (1 + exp(-x))."""

    def forward(self, input: Tensor) -> Tensor:
        return input.sigmoid()  # type: ignore[attr-defined,no-any-return]


class Tanh(_Elementwise):
    """The hyperbolic tangent."""

    def forward(self, input: Tensor) -> Tensor:
        return input.tanh()  # type: ignore[attr-defined,no-any-return]


class LogSigmoid(_Elementwise):
    """log(sigmoid(x))."""

    def forward(self, input: Tensor) -> Tensor:
        return F.logsigmoid(input)


class Softsign(_Elementwise):
    """x / (1 + |x|)."""

    def forward(self, input: Tensor) -> Tensor:
        return F.softsign(input)


class Tanhshrink(_Elementwise):
    """x - tanh(x)."""

    def forward(self, input: Tensor) -> Tensor:
        return F.tanhshrink(input)


class Threshold(_Elementwise, shown="threshold value inplace"):
    """x where it is above ``threshold``, else ``value``."""

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        self._made_with(threshold=threshold, value=value, inplace=inplace)

    def forward(self, input: Tensor) -> Tensor:
        return F.threshold(input, self.threshold, self.value, self.inplace)


class RReLU(_Elementwise, shown="lower upper inplace"):
    """Leaky ReLU whose slope is drawn between ``lower`` and ``upper`` in training, and is their mean else."""

    def __init__(self, lower: float = 1.0 / 8, upper: float = 1.0 / 3, inplace: bool = False) -> None:
        self._made_with(lower=lower, upper=upper, inplace=inplace)

    def forward(self, input: Tensor) -> Tensor:
        return F.rrelu(input, self.lower, self.upper, self.training, self.inplace)


class Hardtanh(_Elementwise, shown="min_val max_val inplace"):
    """x, kept between ``min_val`` and ``max_val``."""

    def __init__(
        self, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False, min_value: float | None = None,
        max_value: float | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        for old, new, value in (("min_value", "min_val", min_value), ("max_value", "max_val", max_value)):
            if value is not None:
                warnings.warn(
                    f"keyword argument `{old}` is deprecated and renamed to `{new}`", FutureWarning, stacklevel=2
                )
        self.min_val = min_val if min_value is None else min_value
        self.max_val = max_val if max_value is None else max_value
        self.inplace = inplace
        if self.max_val <= self.min_val:
            raise AssertionError(f"max_val ({self.max_val}) must be greater than min_val ({self.min_val})")

    def forward(self, input: Tensor) -> Tensor:
        return F.hardtanh(input, self.min_val, self.max_val, self.inplace)


class ReLU6(Hardtanh, shown="inplace"):
    """min(max(x, 0), 6)."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(0.0, 6.0, inplace)


class ELU(_Elementwise, shown="alpha inplace"):
    """x where positive, else alpha * (exp(x) - 1)."""

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        self._made_with(alpha=alpha, inplace=inplace)

    def forward(self, input: Tensor) -> Tensor:
        return F.elu(input, self.alpha, self.inplace)


class CELU(_Elementwise, shown="alpha inplace"):
    """x where positive, else alpha * (exp(x / alpha) - 1)."""

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        self._made_with(alpha=alpha, inplace=inplace)

    def forward(self, input: Tensor) -> Tensor:
        return F.celu(input, self.alpha, self.inplace)


class LeakyReLU(_Elementwise, shown="negative_slope inplace"):
    """x where positive, else negative_slope * x."""

    def __init__(self, negative_slope: float = 1e-2, inplace: bool = False) -> None:
        self._made_with(negative_slope=negative_slope, inplace=inplace)

    def forward(self, input: Tensor) -> Tensor:
        return F.leaky_relu(input, self.negative_slope, self.inplace)


class GELU(_Elementwise, shown="approximate"):
    """x * Phi(x), Phi being the normal distribution; or its tanh approximation."""

    def __init__(self, approximate: str = "none") -> None:
        self._made_with(approximate=approximate)

    def forward(self, input: Tensor) -> Tensor:
        return F.gelu(input, approximate=self.approximate)


class GLU(_Elementwise, shown="dim"):
    """The first half of ``dim`` times the sigmoid of the second."""

    def __init__(self, dim: int = -1) -> None:
        self._made_with(dim=dim)

    def forward(self, input: Tensor) -> Tensor:
        return F.glu(input, self.dim)


class Hardshrink(_Elementwise):
    """x outside of +-lambd, else 0."""

    def __init__(self, lambd: float = 0.5) -> None:
        self._made_with(lambd=lambd)

    def forward(self, input: Tensor) -> Tensor:
        return F.hardshrink(input, self.lambd)

    def extra_repr(self) -> str:
        return f"{self.lambd}"


class Softshrink(_Elementwise):
    """x moved towards 0 by lambd."""

    def __init__(self, lambd: float = 0.5) -> None:
        self._made_with(lambd=lambd)

    def forward(self, input: Tensor) -> Tensor:
        return F.softshrink(input, self.lambd)

    def extra_repr(self) -> str:
        return str(self.lambd)


class Softplus(_Elementwise, shown="beta threshold"):
    """log(1 + exp(beta * x)) / beta; x itself where beta * x is above ``threshold``."""

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        self._made_with(beta=beta, threshold=threshold)

    def forward(self, input: Tensor) -> Tensor:
        return F.softplus(input, self.beta, self.threshold)


class PReLU(_Elementwise, shown="num_parameters"):
    """x where positive, else weight * x, the weight being learned: one, or one for each channel."""

    weight: Parameter

    def __init__(self, num_parameters: int = 1, init: float = 0.25, device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        self.num_parameters, self.init = num_parameters, init
        self.weight = Parameter(empty(num_parameters, device=device, dtype=dtype))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set all slopes to the first value."""
        constant_(self.weight, self.init)

    def forward(self, input: Tensor) -> Tensor:
        return F.prelu(input, self.weight)
