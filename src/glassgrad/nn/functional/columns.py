"""Images as columns of windows, and back: ``unfold``, ``fold``, with PyTorch's checks."""

from __future__ import annotations

from typing import Any

from ...core.tensor import Tensor
from ...ground.dtypes import called
from ...ground.listening import audible
from ...ops.composite.convolution import numbers
from ...ops.composite.matrix import demand
from ...ops.primitive.convolution import col2im, im2col


def _pair(function: str, name: str, position: int, value: Any) -> tuple[int, ...]:
    """Two integers of a setting that is one number or two."""
    found = numbers(value, 2)
    if found is None:
        first = value[0] if isinstance(value, (tuple, list)) and value else value
        raise TypeError(
            f"{function}(): argument '{name}' (position {position}) must be tuple of ints, but found element of type "
            f"{called(first)} at pos 0"
        )
    return found


def _check(**settings: tuple[int, ...]) -> None:
    """Raise PyTorch's errors for settings of a wrong length or too small."""
    for name, values in settings.items():
        if len(values) != 2:
            raise RuntimeError(f"It is expected {name} equals to 2, but got size {len(values)}")
    texts = (("kernel_size", "kernel size", "kernel"), ("dilation", "dilation", "dilation"))
    for name, spoken, short in (*texts, ("padding", "padding", "pad"), ("stride", "stride", "stride")):
        high, wide = settings[name]
        if high < 0 or wide < 0 or (name != "padding" and (not high or not wide)):
            wanted = "non-negative" if name == "padding" else "greater than zero"
            raise RuntimeError(f"{spoken} should be {wanted}, but got {short}_height: {high} {short}_width: {wide}")


@audible
def unfold(input: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Tensor:
    """The windows of images (n, c, h, w) or (c, h, w) as columns: (n, c * kernel, windows).

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.unfold.html
    """
    demand("im2col", input=input)
    given = {"kernel_size": kernel_size, "dilation": dilation, "padding": padding, "stride": stride}
    settings = {name: _pair("im2col", name, place, value) for place, (name, value) in enumerate(given.items(), 2)}
    sizes = input._array.shape
    if len(sizes) < 3:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-len(sizes)}, {len(sizes) - 1}], but got 2)"
        )
    _check(**settings)
    if len(sizes) > 4 or 0 in sizes[-3:]:
        raise RuntimeError(
            "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, "
            f"but got: {list(sizes)}"
        )
    counts = _counts(sizes[-2:], **settings)
    if min(counts) < 1:
        raise RuntimeError(
            f"Given input with spatial size {sizes[-2:]}, kernel_size={settings['kernel_size']}, "
            f"dilation={settings['dilation']}, padding={settings['padding']}, calculated shape of the array of sliding "
            f"blocks as {counts}, but its components must be at least one."
        )
    return im2col(input, *settings.values())  # type: ignore[no-any-return]


def _counts(sizes: Any, kernel_size: Any, dilation: Any, padding: Any, stride: Any) -> tuple[int, ...]:
    """How many windows there are in each direction."""
    return tuple(
        (n + 2 * p - d * (k - 1) - 1) // s + 1
        for n, k, d, p, s in zip(sizes, kernel_size, dilation, padding, stride, strict=True)
    )


@audible
def fold(
    input: Any, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> Tensor:
    """Images of ``output_size`` in which each element is the sum of its places in columns (n, c * kernel, windows).

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.fold.html
    """
    demand("col2im", input=input)
    given = {"kernel_size": kernel_size, "dilation": dilation, "padding": padding, "stride": stride}
    wanted = _pair("col2im", "output_size", 2, output_size)
    settings = {name: _pair("col2im", name, place, value) for place, (name, value) in enumerate(given.items(), 3)}
    _check(**settings, output_size=wanted)
    sizes = input._array.shape
    if len(sizes) not in (2, 3) or 0 in sizes[-2:]:
        raise RuntimeError(
            "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and non-zero dimensions for "
            f"input, but got: {list(sizes)}"
        )
    high, wide = settings["kernel_size"]
    if sizes[-2] % (high * wide):
        raise RuntimeError(
            "Expected size of input's dimension 1 to be divisible by the product of kernel_size, but got "
            f"input.size(1)={sizes[-2]} and kernel_size={settings['kernel_size']}."
        )
    counts = _counts(wanted, **settings)
    if sizes[-1] != counts[0] * counts[1]:
        shown = ", ".join(f"{name}={value}" for name, value in settings.items())
        raise RuntimeError(
            f"Given output_size={wanted}, {shown}, expected size of input's dimension 2 to match the calculated number "
            f"of sliding blocks {counts[0]} * {counts[1]} = {counts[0] * counts[1]}, but got input.size(2)={sizes[-1]}."
        )
    if min(wanted) < 1:
        raise RuntimeError(
            f"Expected output spatial size to be positive, but got: output_size=({wanted[0]}, {wanted[1]})"
        )
    return col2im(input, wanted, *settings.values())  # type: ignore[no-any-return]
