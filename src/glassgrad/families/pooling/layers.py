"""Layers that pool: the largest, the average or the power average of windows; and back to where elements came from."""

from __future__ import annotations

from typing import Any

from ...core.tensor import Tensor
from ...nn import functional as F
from ...nn.modules.dimensions import Dimensional
from .functions import repeated

# -- the largest -------------------------------------------------------------------------------------------------------


class _MaxPool(Dimensional):
    """The largest element of each window: from (N, C, {sizes}) to {windows}; N may be missing."""

    __constants__ = ["kernel_size", "stride", "padding", "dilation", "return_indices", "ceil_mode"]
    return_indices: bool
    ceil_mode: bool
    _functions = (F.max_pool1d, F.max_pool2d, F.max_pool3d)

    def __init__(
        self, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1,
        return_indices: bool = False, ceil_mode: bool = False,
    ) -> None:  # fmt: skip
        super().__init__()
        self.kernel_size, self.stride = kernel_size, kernel_size if stride is None else stride
        self.padding, self.dilation = padding, dilation
        self.return_indices, self.ceil_mode = return_indices, ceil_mode

    def forward(self, input: Tensor) -> Any:
        """The largest elements, and their places with ``return_indices``."""
        return self._function(
            input, self.kernel_size, self.stride, self.padding, self.dilation, self.ceil_mode, self.return_indices
        )

    def extra_repr(self) -> str:
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, dilation={self.dilation}, "
            f"ceil_mode={self.ceil_mode}"
        )


class MaxPool1d(_MaxPool, dims=1): ...


class MaxPool2d(_MaxPool, dims=2): ...


class MaxPool3d(_MaxPool, dims=3): ...


class _MaxUnpool(Dimensional):
    """Each element at the place that ``MaxPool{dims}d`` found it at, zeros around it."""

    _functions = (F.max_unpool1d, F.max_unpool2d, F.max_unpool3d)

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        super().__init__()
        self.kernel_size = repeated(kernel_size, self._dims)
        self.stride = repeated(kernel_size if stride is None else stride, self._dims)
        self.padding = repeated(padding, self._dims)

    def forward(self, input: Tensor, indices: Tensor, output_size: Any = None) -> Tensor:
        """The elements at ``indices``, in planes as large as before pooling or of ``output_size``."""
        return self._function(  # type: ignore[no-any-return]
            input, indices, self.kernel_size, self.stride, self.padding, output_size
        )

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxUnpool1d(_MaxUnpool, dims=1): ...


class MaxUnpool2d(_MaxUnpool, dims=2): ...


class MaxUnpool3d(_MaxUnpool, dims=3): ...


class _FractionalMaxPool(Dimensional):
    """The largest elements of windows at random distances: as many windows as ``output_size`` or ``output_ratio`` says.
    """

    __constants__ = ["kernel_size", "return_indices", "output_size", "output_ratio"]
    _random_samples: Tensor | None
    _functions = (None, F.fractional_max_pool2d, F.fractional_max_pool3d)

    def __init__(
        self, kernel_size: Any, output_size: Any = None, output_ratio: Any = None, return_indices: bool = False,
        _random_samples: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        dims = self._dims
        if dims == 3 and min(repeated(kernel_size, 1)) <= 0:
            raise ValueError(f"kernel_size must be greater than 0, but got {kernel_size}")
        self.kernel_size, self.return_indices = repeated(kernel_size, dims), return_indices
        self.register_buffer("_random_samples", _random_samples)
        self.output_size = None if output_size is None else repeated(output_size, dims)
        self.output_ratio = None if output_ratio is None else repeated(output_ratio, dims)
        if output_size is None and output_ratio is None:
            raise ValueError(f"FractionalMaxPool{dims}d requires specifying either an output size, or a pooling ratio")
        if output_size is not None and output_ratio is not None:
            raise ValueError("only one of output_size and output_ratio may be specified")
        if self.output_ratio is not None and not all(0 < part < 1 for part in self.output_ratio):
            raise ValueError(f"output_ratio must be between 0 and 1 (got {output_ratio})")

    def forward(self, input: Tensor) -> Any:
        """The largest elements, and their places with ``return_indices``."""
        return self._function(
            input, self.kernel_size, self.output_size, self.output_ratio, self.return_indices,
            _random_samples=self._random_samples,
        )  # fmt: skip


class FractionalMaxPool2d(_FractionalMaxPool, dims=2): ...


class FractionalMaxPool3d(_FractionalMaxPool, dims=3): ...


# -- averages ----------------------------------------------------------------------------------------------------------


class _AvgPool(Dimensional):
    """The average of each window; windows lie side by side without a ``stride``."""

    __constants__ = ["kernel_size", "stride", "padding", "ceil_mode", "count_include_pad"]
    ceil_mode: bool
    count_include_pad: bool

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AvgPool1d(_AvgPool):
    """The average of each window: from (N, C, L) to (N, C, windows); N may be missing."""

    def __init__(
        self, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:  # fmt: skip
        super().__init__()
        self.kernel_size = repeated(kernel_size, 1)
        self.stride = repeated(kernel_size if stride is None else stride, 1)
        self.padding = repeated(padding, 1)
        self.ceil_mode, self.count_include_pad = ceil_mode, count_include_pad

    def forward(self, input: Tensor) -> Tensor:
        """The averages."""
        return F.avg_pool1d(input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad)


class _AvgPoolWide(_AvgPool):
    """The average of each window: from (N, C, {sizes}) to {windows}; N may be missing."""

    __constants__ = [*_AvgPool.__constants__, "divisor_override"]
    divisor_override: int | None
    _functions = (None, F.avg_pool2d, F.avg_pool3d)

    def __init__(
        self, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
        count_include_pad: bool = True, divisor_override: int | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.kernel_size, self.stride = kernel_size, kernel_size if stride is None else stride
        self.padding, self.ceil_mode, self.count_include_pad = padding, ceil_mode, count_include_pad
        self.divisor_override = divisor_override

    def forward(self, input: Tensor) -> Tensor:
        """The averages."""
        return self._function(  # type: ignore[no-any-return]
            input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad,
            self.divisor_override,
        )  # fmt: skip


class AvgPool2d(_AvgPoolWide, dims=2): ...


class AvgPool3d(_AvgPoolWide, dims=3):
    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for name, value in (("padding", 0), ("ceil_mode", False), ("count_include_pad", True)):
            self.__dict__.setdefault(name, value)


class _LPPool(Dimensional):
    """The ``norm_type``-norm of each window: from (N, C, {sizes}) to {windows}."""

    __constants__ = ["norm_type", "kernel_size", "stride", "ceil_mode"]
    norm_type: float
    ceil_mode: bool
    _functions = (F.lp_pool1d, F.lp_pool2d, F.lp_pool3d)

    def __init__(self, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> None:
        super().__init__()
        self.norm_type, self.kernel_size, self.stride, self.ceil_mode = norm_type, kernel_size, stride, ceil_mode

    def forward(self, input: Tensor) -> Tensor:
        """The norms."""
        return self._function(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)  # type: ignore[no-any-return]

    def extra_repr(self) -> str:
        return (
            f"norm_type={self.norm_type}, kernel_size={self.kernel_size}, stride={self.stride}, "
            f"ceil_mode={self.ceil_mode}"
        )


class LPPool1d(_LPPool, dims=1): ...


class LPPool2d(_LPPool, dims=2): ...


class LPPool3d(_LPPool, dims=3): ...


# -- windows that cover everything -------------------------------------------------------------------------------------


class _AdaptiveMaxPool(Dimensional):
    """The largest elements of windows that cover {last} evenly; None keeps a dimension's size."""

    __constants__ = ["output_size", "return_indices"]
    return_indices: bool
    _functions = (F.adaptive_max_pool1d, F.adaptive_max_pool2d, F.adaptive_max_pool3d)

    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__()
        self.output_size, self.return_indices = output_size, return_indices

    def forward(self, input: Tensor) -> Any:
        """The largest elements, and their places with ``return_indices``."""
        return self._function(input, self.output_size, self.return_indices)

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class AdaptiveMaxPool1d(_AdaptiveMaxPool, dims=1):
    """The largest elements of ``output_size`` windows that cover the last dimension evenly."""


class AdaptiveMaxPool2d(_AdaptiveMaxPool, dims=2): ...


class AdaptiveMaxPool3d(_AdaptiveMaxPool, dims=3): ...


class _AdaptiveAvgPool(Dimensional):
    """The averages of windows that cover {last} evenly; None keeps a dimension's size."""

    __constants__ = ["output_size"]
    _functions = (F.adaptive_avg_pool1d, F.adaptive_avg_pool2d, F.adaptive_avg_pool3d)

    def __init__(self, output_size: Any) -> None:
        super().__init__()
        self.output_size = output_size

    def forward(self, input: Tensor) -> Tensor:
        """The averages."""
        return self._function(input, self.output_size)  # type: ignore[no-any-return]

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class AdaptiveAvgPool1d(_AdaptiveAvgPool, dims=1):
    """The averages of ``output_size`` windows that cover the last dimension evenly."""


class AdaptiveAvgPool2d(_AdaptiveAvgPool, dims=2): ...


class AdaptiveAvgPool3d(_AdaptiveAvgPool, dims=3): ...
