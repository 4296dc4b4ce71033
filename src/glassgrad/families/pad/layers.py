"""Layers that put a border around their input: of one value, mirrored, repeated, or from the other side."""

from __future__ import annotations

from typing import Any

from ...core.tensor import Tensor
from ...nn import functional as F
from ...nn.modules.module import Module
from ..pooling.functions import repeated


class _Padded(Module):
    """What they share: widths before and after each dimension, from the last one on; one width stands for all."""

    __constants__ = ["padding"]
    padding: tuple[int, ...]
    _dims: int
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
    """A border of one value."""

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
    """A border of zeros."""

    def __init__(self, padding: Any) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class _ReflectionPad(_Padded):
    """A border of the mirror image of what lies next to it."""

    _mode = "reflect"


class _ReplicationPad(_Padded):
    """A border of the outermost elements."""

    _mode = "replicate"


class _CircularPad(_Padded):
    """A border of what lies at the other side."""

    _mode = "circular"

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() not in (self._dims + 1, self._dims + 2):
            raise ValueError(f"expected {self._dims + 1}D or {self._dims + 2}D input (got {input.dim()}D input)")

    def forward(self, input: Tensor) -> Tensor:
        """The input within its border."""
        self._check_input_dim(input)
        return super().forward(input)


class ConstantPad1d(_ConstantPad):
    """A border of ``value`` around the last dimension.

    padding  one width, or (left, right)
    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.ConstantPad1d.html
    """

    _dims = 1


class ConstantPad2d(_ConstantPad):
    """A border of ``value`` around the last two dimensions.

    padding  one width, or (left, right, top, bottom)
    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.ConstantPad2d.html
    """

    _dims = 2


class ConstantPad3d(_ConstantPad):
    """A border of ``value`` around the last three dimensions.

    padding  one width, or (left, right, top, bottom, front, back)
    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.ConstantPad3d.html
    """

    _dims = 3


class ReflectionPad1d(_ReflectionPad):
    """A border of its mirror image around the last dimension, without its edge.

    padding  one width, or (left, right)
    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.ReflectionPad1d.html
    """

    _dims = 1


class ReflectionPad2d(_ReflectionPad):
    """A border of its mirror image around the last two dimensions, without its edge.

    padding  one width, or (left, right, top, bottom)
    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.ReflectionPad2d.html
    """

    _dims = 2


class ReflectionPad3d(_ReflectionPad):
    """A border of its mirror image around the last three dimensions, without its edge.

    padding  one width, or (left, right, top, bottom, front, back)
    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.ReflectionPad3d.html
    """

    _dims = 3


class ReplicationPad1d(_ReplicationPad):
    """A border of its outermost elements around the last dimension.

    padding  one width, or (left, right)
    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.ReplicationPad1d.html
    """

    _dims = 1


class ReplicationPad2d(_ReplicationPad):
    """A border of its outermost elements around the last two dimensions.

    padding  one width, or (left, right, top, bottom)
    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.ReplicationPad2d.html
    """

    _dims = 2


class ReplicationPad3d(_ReplicationPad):
    """A border of its outermost elements around the last three dimensions.

    padding  one width, or (left, right, top, bottom, front, back)
    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.ReplicationPad3d.html
    """

    _dims = 3


class CircularPad1d(_CircularPad):
    """A border of its other side around the last dimension.

    padding  one width, or (left, right)
    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.CircularPad1d.html
    """

    _dims = 1


class CircularPad2d(_CircularPad):
    """A border of its other side around the last two dimensions.

    padding  one width, or (left, right, top, bottom)
    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.CircularPad2d.html
    """

    _dims = 2


class CircularPad3d(_CircularPad):
    """A border of its other side around the last three dimensions.

    padding  one width, or (left, right, top, bottom, front, back)
    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.CircularPad3d.html
    """

    _dims = 3


class ZeroPad1d(_ZeroPad, ConstantPad1d):
    """A border of zeros around the last dimension.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.ZeroPad1d.html
    """


class ZeroPad2d(_ZeroPad, ConstantPad2d):
    """A border of zeros around the last two dimensions.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.ZeroPad2d.html
    """


class ZeroPad3d(_ZeroPad, ConstantPad3d):
    """A border of zeros around the last three dimensions.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.ZeroPad3d.html
    """
