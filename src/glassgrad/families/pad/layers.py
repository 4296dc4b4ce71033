"""Layers that put a border around their input: of one value, mirrored, repeated, or from the other side."""

from __future__ import annotations

from typing import Any

from ...core.tensor import Tensor
from ...nn import functional as F
from ...nn.modules.dimensions import Dimensional
from ..pooling.functions import repeated


class _Padded(Dimensional):
    """What they share: widths before and after each dimension, from the last one on; one width stands for all."""

    __constants__ = ["padding"]
    padding: tuple[int, ...]
    _mode: str

    def __init__(self, padding: Any) -> None:
        super().__init__()
        self.padding = repeated(padding, 2 * self._dims)

    def forward(self, input: Tensor) -> Tensor:
        """The input within its border."""
        return F.pad(input, self.padding, self._mode)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class _ConstantPad(_Padded):
    """A border of ``value`` around {last}.

    padding  one width, or {edges}
    """

    __constants__ = ["padding", "value"]
    value: float

    def __init__(self, padding: Any, value: float) -> None:
        super().__init__(padding)
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        """The input within its border."""
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


class _ZeroPad(_ConstantPad):
    """A border of zeros around {last}."""

    def __init__(self, padding: Any) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class _ReflectionPad(_Padded):
    """A border of its mirror image around {last}, without its edge.

    padding  one width, or {edges}
    """

    _mode = "reflect"


class _ReplicationPad(_Padded):
    """A border of its outermost elements around {last}.

    padding  one width, or {edges}
    """

    _mode = "replicate"


class _CircularPad(_Padded):
    """A border of its other side around {last}.

    padding  one width, or {edges}
    """

    _mode = "circular"

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() not in (self._dims + 1, self._dims + 2):
            raise ValueError(f"expected {self._dims + 1}D or {self._dims + 2}D input (got {input.dim()}D input)")

    def forward(self, input: Tensor) -> Tensor:
        """The input within its border."""
        self._check_input_dim(input)
        return super().forward(input)


class ConstantPad1d(_ConstantPad, dims=1): ...


class ConstantPad2d(_ConstantPad, dims=2): ...


class ConstantPad3d(_ConstantPad, dims=3): ...


class ReflectionPad1d(_ReflectionPad, dims=1): ...


class ReflectionPad2d(_ReflectionPad, dims=2): ...


class ReflectionPad3d(_ReflectionPad, dims=3): ...


class ReplicationPad1d(_ReplicationPad, dims=1): ...


class ReplicationPad2d(_ReplicationPad, dims=2): ...


class ReplicationPad3d(_ReplicationPad, dims=3): ...


class CircularPad1d(_CircularPad, dims=1): ...


class CircularPad2d(_CircularPad, dims=2): ...


class CircularPad3d(_CircularPad, dims=3): ...


class ZeroPad1d(_ZeroPad, ConstantPad1d, dims=1): ...


class ZeroPad2d(_ZeroPad, ConstantPad2d, dims=2): ...


class ZeroPad3d(_ZeroPad, ConstantPad3d, dims=3): ...
