"""PyTorch's signatures of convolutions, with its checks of sizes, dtypes and settings."""

from __future__ import annotations

from typing import Any

from ...core.tensor import Tensor, number_of
from ...ground import modes
from ...ground.dtypes import called
from ...ground.listening import audible
from ...ground.runtime import warn_once
from ...ops.autocast import low
from ...ops.declare import composite, named
from ...tensor.overwritten import type_name
from ..arithmetic.functions import need_tensor
from ..matrix.functions import demand
from ..matrix.rows import c_name
from ..pad.rows import constant_pad_nd
from ..shape.rows import squeeze_dim, unsqueeze
from . import rows
from .rows import col2im, im2col

_PLAIN = (
    "Tensor input, Tensor weight, Tensor bias = None, tuple of ints stride = 1, {padding}, tuple of ints dilation = 1, "
    "int groups = 1"
)
_SIGNATURES = [_PLAIN.format(padding=kind) for kind in ("tuple of ints padding = 0", 'str padding = "valid"')]
_EVEN = (
    "Using padding='same' with even kernel lengths and odd dilation may require a zero-padded copy of the input be "
    "created (Triggered internally at /__w/pytorch/pytorch/aten/src/ATen/native/Convolution.cpp:1101.)"
)


# -- arguments ---------------------------------------------------------------------------------------------------------


def numbers(value: Any, ndim: int) -> tuple[int, ...] | None:
    """An integer for each of ``ndim`` dimensions, or the integers given; None for anything else."""
    if type(value) is int:
        return (value,) * ndim
    if isinstance(value, (tuple, list)):
        if all(type(n) is int for n in value):
            return tuple(value)
        integers = [one_number(n) for n in value]
        return None if None in integers else tuple(integers)  # type: ignore[arg-type]
    single = one_number(value)
    return None if single is None else (single,) * ndim


def one_number(value: Any) -> int | None:
    """What stands for an integer, as such; None for anything else."""
    if isinstance(value, (bool, float, str)) or not hasattr(value, "__index__"):
        return None
    if isinstance(value, Tensor) and (value.is_floating_point() or value.dim()):  # type: ignore[attr-defined]
        return None
    return int(value.__index__())


def _no_match(function: str, positional: tuple[Any, ...], named: dict[str, Any]) -> TypeError:
    """PyTorch's error for arguments of a wrong type.  What comes after a default is taken for given by name.

    Layers give all by position; then PyTorch says of both signatures that they do not match.
    """
    mismatch = ""
    if type(named["stride"]) is type(named["dilation"]) is tuple and type(named["padding"]) in (tuple, str):
        positional, named = (*positional, *named.values()), {}
        kinds = ", ".join(f"!{_detailed(value)}!" for value in positional)
        mismatch = f"      didn't match because some of the arguments have invalid types: ({kinds})\n"
    words = [called(value) for value in positional]
    defaults = {"bias": None, "stride": 1, "padding": 0, "dilation": 1, "groups": 1}
    gap = False
    for name, value in named.items():
        if value is defaults[name] or (type(value) is int and value == defaults[name]):
            gap = True
        else:
            words.append(f"{name}={called(value)}" if gap else called(value))
    listed = "".join(f" * ({signature})\n{mismatch}" for signature in _SIGNATURES)
    got = ", ".join(words)
    return TypeError(
        f"{function}() received an invalid combination of arguments - got ({got}), but expected one of:\n{listed}"
    )


def _detailed(value: Any) -> str:
    """The name of a type, for lists and tuples with those of their elements: 'tuple of (int, int)'."""
    if isinstance(value, tuple):
        inner = ", ".join(called(n) for n in value)
        return f"tuple of ({inner}{',' if len(value) == 1 else ''})"
    if isinstance(value, list):
        return f"list of [{', '.join(called(n) for n in value)}]"
    return called(value)


def _expanded(name: str, values: tuple[int, ...], ndim: int) -> tuple[int, ...]:
    """One value for each dimension."""
    if len(values) == ndim:
        return values
    if len(values) == 1:
        return values * ndim
    raise RuntimeError(
        f"expected {name} to be a single integer value or a list of {ndim} values to match the convolution dimensions, "
        f"but got {name}={list(values)}"
    )


# -- checks ------------------------------------------------------------------------------------------------------------


def _by(sizes: Any) -> str:
    return f"({' x '.join(map(str, sizes))})"


def check_numbers(
    stride: tuple[int, ...], padding: tuple[int, ...], dilation: tuple[int, ...], extra: tuple[int, ...]
) -> None:
    """Raise PyTorch's errors for settings that are too small."""
    if min(padding) < 0:
        raise RuntimeError("negative padding is not supported")
    if min(extra) < 0:
        raise RuntimeError("negative output_padding is not supported")
    if min(stride) <= 0:
        raise RuntimeError("non-positive stride is not supported")
    if min(dilation) < 0:
        raise RuntimeError("dilation should be greater than zero")
    if not min(dilation):
        raise RuntimeError("non-positive dilation is not supported")


def check_sizes(
    input: tuple[int, ...], weight: tuple[int, ...], bias: Any, padding: tuple[int, ...], dilation: tuple[int, ...],
    transposed: bool, groups: int,
) -> None:  # fmt: skip
    """Raise PyTorch's errors where input, weight and bias do not fit each other."""
    ndim = len(weight)
    shown = list(weight)
    if len(input) != ndim:
        raise RuntimeError(
            f"Expected {ndim}-dimensional input for {ndim}-dimensional weight {shown}, but got "
            f"{len(input)}-dimensional input of size {list(input)} instead"
        )
    if weight[0] < groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be at least {groups} at dimension 0, but got weight of size "
            f"{shown} instead"
        )
    if weight[0] % groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be divisible by {groups} at dimension 0, but got weight of "
            f"size [{shown}] instead"
        )
    start = f"Given transposed={1 if transposed else 0}" if transposed else f"Given groups={groups}"
    channels = weight[0] if transposed else weight[1] * groups
    if input[1] != channels:
        raise RuntimeError(
            f"{start}, weight of size {shown}, expected input{list(input)} to have {channels} channels, but got "
            f"{input[1]} channels instead"
        )
    outputs = weight[1] * groups if transposed else weight[0]
    if bias is not None and bias._array.shape != (outputs,):
        start = "Given transposed=1, weight" if transposed else "Given weight"
        raise RuntimeError(
            f"{start} of size {shown}, expected bias to be 1-dimensional with {outputs} elements, but got bias of size "
            f"{list(bias._array.shape)} instead"
        )
    if transposed:
        return
    padded = [n + 2 * p for n, p in zip(input[2:], padding, strict=True)]
    spread = [d * (k - 1) + 1 for k, d in zip(weight[2:], dilation, strict=True)]
    for n, k in zip(padded, spread, strict=True):
        if n < k:
            raise RuntimeError(
                f"Calculated padded input size per channel: {_by(padded)}. Kernel size: {_by(spread)}. Kernel size "
                "can't be greater than actual input size"
            )


_AXES = ("depth", "height", "width")


def _no_window(sizes: Any, axes: Any, dilation: Any, transposed: bool, groups: int) -> RuntimeError:
    """The error for windows of nothing, as the kernel has it that PyTorch would choose."""
    shown = [1] * (len(axes) - len(sizes) + 2) + list(sizes[2:])
    said = " " + " ".join(f"kernel_{axis}: {k}" for axis, k in zip(axes, shown, strict=True))
    if transposed and len(sizes) == 5:
        planes = "n_output_plane x n_input_plane x kernel_depth x kernel_height x kernel_width"
        part = [sizes[0] // groups, *sizes[1:]]
        return RuntimeError(f"non-empty 5D ({planes}) tensor expected for weight, but got: {part}")
    if max(dilation) > 1 and not transposed:
        said = f" {shown}"
    elif len(sizes) == 5:
        said = f": {' x '.join(map(str, shown))} (TxHxW)"
    return RuntimeError(f"kernel size should be greater than zero, but got{said}")


def _check_rest(
    input: Any, weight: Any, stride: tuple[int, ...], padding: tuple[int, ...], dilation: tuple[int, ...],
    transposed: bool, extra: tuple[int, ...], groups: int,
) -> None:  # fmt: skip
    """Raise PyTorch's errors where sizes vanish, output padding is too large or dtypes differ."""
    sizes, inner = input.shape[2:], weight.shape[2:]
    if 0 in sizes and input.shape[0] and input.shape[1]:
        raise RuntimeError(
            "Only zero batch or zero channel inputs are supported, but got input shape: "
            f"{[*input.shape[:2], *(1,) * (input.ndim == 3), *sizes]}"
        )
    if not input.size:
        return
    flat = len(sizes) < 2
    axes = _AXES[-max(len(sizes), 2) :]
    if 0 in inner:
        raise _no_window(weight.shape, axes, dilation, transposed, groups)
    if transposed:
        if any(e >= s and e >= d for e, s, d in zip(extra, stride, dilation, strict=True)):
            parts = []
            for name, values in (("output_padding", extra), ("stride", stride), ("dilation", dilation)):
                shown = [0 if name == "output_padding" else 1, *values] if flat else values
                parts += [f"{name}_{axis}: {n}" for axis, n in zip(axes, shown, strict=True)]
            raise RuntimeError(
                f"output padding must be smaller than either stride or dilation, but got {' '.join(parts)}"
            )
        result = rows.result_sizes(input, weight, stride, padding, dilation, True, extra)
        if min(result) < (0 if rows.scalar_name(input) in ("Float", "BFloat16", "ComplexFloat") else 1):
            before = [1, *sizes] if flat else sizes
            after = [1, *result] if flat else result
            raise RuntimeError(
                f"Given input size per channel: {_by(before)}. Calculated output size per channel: {_by(after)}. "
                "Output size is too small"
            )
    if weight.dtype != input.dtype:
        raise _other_dtype(input, weight, transposed, dilation)


def _other_dtype(input: Any, weight: Any, transposed: bool, dilation: tuple[int, ...]) -> Exception:
    name = rows.scalar_name(input)
    if name in ("Float", "Half", "BFloat16") or input.dtype.kind == "c":
        text = f"Input type ({type_name(input)}) and weight type ({type_name(weight)}) should be the same"
        if input.dtype.kind != "c":
            text += " or input should be a MKLDNN tensor and weight is a dense tensor"
        return RuntimeError(text)
    try:
        rows.refuse_kinds(input, transposed, dilation)
    except NotImplementedError as refused:
        return refused
    return RuntimeError(f"expected scalar type {name} but found {rows.scalar_name(weight)}")


def _checked(
    input: Tensor, weight: Tensor, bias: Tensor | None, stride: tuple[int, ...], padding: tuple[int, ...],
    dilation: tuple[int, ...], transposed: bool, extra: tuple[int, ...], groups: int,
) -> Any:  # fmt: skip
    """The convolution of a batch, after all checks."""
    ndim = weight._array.ndim - 2
    if ndim < 1:
        raise RuntimeError("weight should have at least three dimensions")
    if groups <= 0:
        raise RuntimeError("non-positive groups is not supported")
    stride, padding = _expanded("stride", stride, ndim), _expanded("padding", padding, ndim)
    dilation, extra = _expanded("dilation", dilation, ndim), _expanded("output_padding", extra, ndim)
    check_numbers(stride, padding, dilation, extra)
    check_sizes(input._array.shape, weight._array.shape, bias, padding, dilation, transposed, groups)
    _check_rest(input._array, weight._array, stride, padding, dilation, transposed, extra, groups)
    if transposed:
        _check_bias(input, bias, True)
    return rows.convolution(input, weight, bias, stride, padding, dilation, transposed, extra, groups)


def _check_bias(input: Any, bias: Any, transposed: bool = False) -> None:
    if bias is not None and bias._array.dtype != input._array.dtype:
        if transposed:  # whose kernel comes first
            rows.refuse_kinds(input._array, True, ())
        raise RuntimeError(
            f"Input type ({c_name(input._array)}) and bias type ({c_name(bias._array)}) should be the same"
        )


def _check_rank(function: str, input: Any, ndim: int) -> bool:
    """Whether the input is a batch; PyTorch's error where it is neither that nor one sample."""
    rank = input._array.ndim
    if rank == ndim + 2:
        return True
    if rank != ndim + 1:
        raise RuntimeError(
            f"Expected {ndim + 1}D (unbatched) or {ndim + 2}D (batched) input to {function}, but got input of size: "
            f"{list(input._array.shape)}"
        )
    return False


# -- the functions -----------------------------------------------------------------------------------------------------


def _forward(
    function: str, ndim: int, input: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, groups: Any
) -> Any:
    steps, spread = numbers(stride, ndim), numbers(dilation, ndim)
    around = padding if isinstance(padding, str) else numbers(padding, ndim)
    if (
        not isinstance(input, Tensor)
        or not isinstance(weight, Tensor)
        or not (bias is None or isinstance(bias, Tensor))
        or steps is None or spread is None or around is None or one_number(groups) is None
    ):  # fmt: skip
        named = {"bias": bias, "stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
        raise _no_match(function, (input, weight), named)
    if modes.watch:
        input, weight, bias = low(input, weight, bias)
    _check_bias(input, bias)
    batched = _check_rank(function, input, ndim)
    if not batched:
        input = unsqueeze(input, 0)
    if isinstance(around, str):
        input, around = _named_padding(input, weight, steps, around, spread, groups)
    out = _checked(input, weight, bias, steps, around, spread, False, (0,), groups)
    return out if batched else squeeze_dim(out, 0)


def _named_padding(
    input: Any, weight: Any, stride: tuple[int, ...], padding: str, dilation: tuple[int, ...], groups: int
) -> tuple[Any, tuple[int, ...]]:
    """The input, padded by one more where both sides differ, and the padding that is the same on both sides."""
    if padding == "valid":
        return input, (0,)
    if padding != "same":
        raise RuntimeError(f"Invalid padding string: '{padding}'")
    sizes = weight._array.shape
    ndim = len(sizes) - 2
    if ndim < 1:
        raise RuntimeError("weight should have at least three dimensions")
    if groups <= 0:
        raise RuntimeError("non-positive groups is not supported")
    if input._array.ndim != len(sizes):
        raise RuntimeError(
            f"Expected {ndim + 2}-dimensional input for {ndim + 2}-dimensional weight{list(sizes)}, but got "
            f"{input._array.ndim}-dimensional input of size {list(input._array.shape)} instead"
        )
    for name, values in (("stride", stride), ("dilation", dilation)):
        if len(values) not in (1, ndim):
            raise RuntimeError(f"{name} cannot broadcast to {ndim} dimensions")
    if any(n != 1 for n in stride):
        raise RuntimeError("padding='same' is not supported for strided convolutions")
    totals = [d * (k - 1) for k, d in zip(sizes[2:], _expanded("dilation", dilation, ndim), strict=True)]
    if any(total % 2 for total in totals):
        warn_once(_EVEN)
        more = [n for total in reversed(totals) for n in (0, total % 2)]
        input = constant_pad_nd(input, tuple(more), 0)
    return input, tuple(total // 2 for total in totals)


def _transposed(
    function: str, ndim: int, input: Any, weight: Any, bias: Any, stride: Any, padding: Any, output_padding: Any,
    groups: Any, dilation: Any,
) -> Any:  # fmt: skip
    demand(function, input=input, weight=weight)
    if bias is not None and not isinstance(bias, Tensor):
        raise TypeError(f"{function}(): argument 'bias' must be Tensor, not {called(bias)}")
    settings = []
    named = (("stride", stride), ("padding", padding), ("output_padding", output_padding), ("dilation", dilation))
    for name, value in named:
        integers = numbers(value, ndim)
        if integers is None:
            raise TypeError(f"{function}(): argument '{name}' must be tuple of ints, not {called(value)}")
        settings.append(integers)
    if one_number(groups) is None:
        raise TypeError(f"{function}(): argument 'groups' must be int, not {called(groups)}")
    if modes.watch:
        input, weight, bias = low(input, weight, bias)
    batched = _check_rank(function, input, ndim)
    if not batched:
        input = unsqueeze(input, 0)
    steps, around, extra, spread = settings
    out = _checked(input, weight, bias, steps, around, spread, True, extra, groups)
    return out if batched else squeeze_dim(out, 0)


def _conv(dims: int, input: str, sizes: str, kernel: str, settings: str) -> Any:
    function = f"conv{dims}d"

    @composite(method=False, page="torch.nn.functional")
    @named(function, input=input, sizes=sizes, kernel=kernel, settings=settings)
    def conv(
        input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
    ) -> Any:
        """The products of windows of {input} (n, c, {sizes}) or (c, {sizes}) with ``weight`` (o, c / groups, {kernel}).

        Settings are {settings}; ``padding`` is a number of zeros on both sides, or 'valid' (none) or 'same' (so that
        sizes stay).  ``bias`` (o) is added.
        """
        return _forward(function, dims, input, weight, bias, stride, padding, dilation, groups)

    return conv


def _conv_transpose(dims: int, kernel: str) -> Any:
    function = f"conv_transpose{dims}d"

    @composite(method=False, page="torch.nn.functional")
    @named(function, plain=f"conv{dims}d", kernel=kernel)
    def conv(
        input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, output_padding: Any = 0,
        groups: int = 1, dilation: Any = 1,
    ) -> Any:  # fmt: skip
        """The adjoint of ``{plain}``: ``weight`` (c, o / groups, {kernel}) spread by each element of ``input``.

        ``output_padding`` makes the output larger at its end.
        """
        return _transposed(function, dims, input, weight, bias, stride, padding, output_padding, groups, dilation)

    return conv


conv1d = _conv(1, "sequences", "l", "k", "one number")
conv2d = _conv(2, "images", "h, w", "kh, kw", "one number or two")
conv3d = _conv(3, "volumes", "d, h, w", "*kernel", "one number or three")
conv_transpose1d, conv_transpose2d = _conv_transpose(1, "k"), _conv_transpose(2, "kh, kw")
conv_transpose3d = _conv_transpose(3, "*kernel")


@composite(method=False)
def convolution(
    input: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, transposed: bool,
    output_padding: Any, groups: int,
) -> Any:  # fmt: skip
    """The convolution, plain or ``transposed``, of a batch; the weight tells how many dimensions there are."""
    need_tensor("convolution", "input", 1, input)
    need_tensor("convolution", "weight", 2, weight)
    settings = []
    for index, (name, value) in enumerate(
        [("stride", stride), ("padding", padding), ("dilation", dilation), ("output_padding", output_padding)]
    ):
        integers = numbers(value, 1) if isinstance(value, (tuple, list)) else None
        if integers is None:
            position = 4 + index + (name == "output_padding")
            raise TypeError(
                f"convolution(): argument '{name}' (position {position}) must be tuple of ints, not {called(value)}"
            )
        settings.append(integers)
    if modes.watch:
        input, weight, bias = low(input, weight, bias)
    if not transposed:
        _check_bias(input, bias)
    steps, around, spread, extra = settings
    return _checked(input, weight, bias, steps, around, spread, bool(transposed), extra, groups)


@composite(method=False, page="torch.nn.functional")
def conv_tbc(input: Any, weight: Any, bias: Any, pad: int = 0) -> Any:
    """The convolution of ``input`` (time, batch, c) with ``weight`` (kernel, c, o) along the time, plus ``bias`` (o).
    """
    if modes.watch:
        input, weight, bias = low(input, weight, bias)
    sizes, inner = input._array.shape, weight._array.shape
    if len(sizes) != 3:
        raise RuntimeError("Input must have 3 dims: time, batch, in_channel")
    if len(inner) != 3:
        raise RuntimeError("Weight tensor must have 3 dims: kernel_width, in_channels, out_channels.")
    if bias._array.ndim != 1:
        raise RuntimeError("Bias must be 1-D")
    if sizes[2] != inner[1]:
        raise RuntimeError("Input dim 2 (input channels) is not == dim 1 in the weight tensor")
    if bias._array.shape[0] != inner[2]:
        raise RuntimeError("Bias size must equal dim 2 in the weight tensor (output channels).")
    wanted = [sizes[0] + 2 * pad - inner[0] + 1, sizes[1], inner[2]]
    if wanted[0] < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {wanted[0]}: {wanted}")
    if pad < 0:  # which leaves out the ends
        input, pad = constant_pad_nd(input, (0, 0, 0, 0, pad, pad), 0), 0
    return rows.conv_tbc(input, weight, bias, pad)


# -- Images as columns of windows, and back: ``unfold``, ``fold``, with PyTorch's checks.


def _pair(function: str, name: str, position: int, value: Any) -> tuple[int, ...]:
    """Two integers of a setting that is one number or two."""
    if not isinstance(value, (tuple, list)) and getattr(value, "ndim", False):
        value = tuple(value)  # as a function in Python reads it
    if isinstance(value, (tuple, list)):
        value = tuple([number_of(part) for part in value])
    pair = numbers(value, 2)
    if pair is None:
        first = value[0] if isinstance(value, (tuple, list)) and value else value
        raise TypeError(
            f"{function}(): argument '{name}' (position {position}) must be tuple of ints, but found element of type "
            f"{called(first)} at pos 0"
        )
    if any(not -(2**63) <= n < 2**63 for n in pair):
        words = 'failed to unpack the object at pos 1 with error "Overflow when unpacking long long"'
        raise TypeError(f"{function}(): argument '{name}' {words}")
    return pair


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
    """The windows of images (n, c, h, w) or (c, h, w) as columns: (n, c * kernel, windows)."""
    demand("im2col", input=input)
    arguments = {"kernel_size": kernel_size, "dilation": dilation, "padding": padding, "stride": stride}
    settings = {name: _pair("im2col", name, place, value) for place, (name, value) in enumerate(arguments.items(), 2)}
    sizes = input._array.shape
    if len(sizes) < 3 and input.requires_grad and modes.grad_enabled():  # then the rule looks first
        _ = input.size(-1), input.size(-2)
    _check(**settings)
    if len(sizes) < 3:
        _ = input.size(1), input.size(2)  # one of which is not there
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
    """Images of ``output_size`` in which each element is the sum of its places in columns (n, c * kernel, windows)."""
    demand("col2im", input=input)
    arguments = {"kernel_size": kernel_size, "dilation": dilation, "padding": padding, "stride": stride}
    wanted = _pair("col2im", "output_size", 2, output_size)
    settings = {name: _pair("col2im", name, place, value) for place, (name, value) in enumerate(arguments.items(), 3)}
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
