"""How a tensor prints: turns an array and what is said about it into PyTorch's text; knows no Tensor and no graph."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from glassgrad.ground import dtypes
from glassgrad.ground.dtypes import dtype as DType  # noqa: N812  # ``dtype`` is a keyword argument here


@dataclass
class _Options:
    """What set_printoptions sets."""

    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None


_PROFILES: dict[str, dict[str, Any]] = {
    "default": {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80},
    "short": {"precision": 2, "threshold": 1000, "edgeitems": 2, "linewidth": 80},
    "full": {"precision": 4, "threshold": math.inf, "edgeitems": 3, "linewidth": 80},
}
_options = _Options()


def set_printoptions(
    precision: int | None = None, threshold: float | None = None, edgeitems: int | None = None,
    linewidth: int | None = None, profile: str | None = None, sci_mode: bool | None = None,
) -> None:  # fmt: skip
    """Set how tensors print; what is not given stays, except ``sci_mode``, which None makes automatic.

    precision  digits after the point      threshold  elements beyond which the middle is left out
    edgeitems  elements kept at each edge  linewidth  characters per line
    profile    'default', 'short' or 'full': values for the four above, which may be given as well
    """
    chosen = dict(_PROFILES.get(profile, {})) if profile is not None else {}
    arguments = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    chosen.update({name: value for name, value in arguments.items() if value is not None}, sci_mode=sci_mode)
    for name, value in chosen.items():
        setattr(_options, name, value)


def get_printoptions() -> dict[str, Any]:
    """The present options, as keyword arguments of ``set_printoptions``."""
    return asdict(_options)


@contextmanager
def printoptions(**kwargs: Any) -> Iterator[None]:
    """Other print options for the length of a ``with`` block; arguments as of ``set_printoptions``."""
    before = get_printoptions()
    set_printoptions(**kwargs)
    try:
        yield
    finally:
        set_printoptions(**before)


# --- one number -------------------------------------------------------------------------------------------------------


def _texts(numbers: np.ndarray[Any, Any]) -> tuple[list[str], int]:
    """Each number's text in order, and the width they share; a text may be wider (nan) or narrower (0.) at first."""
    if numbers.dtype.kind in "biu":
        texts = list(map(str, numbers.ravel().tolist()))
        return texts, max(map(len, texts), default=1)
    values: list[float] = numbers.astype(np.float64).ravel().tolist()
    counted = [value for value in values if value and math.isfinite(value)]  # only these decide style and width
    if not counted:
        return [_whole(value) for value in values], 1
    digits = _options.precision
    sizes = list(map(abs, counted))
    low, high = min(sizes), max(sizes)
    scientific = _options.sci_mode
    if scientific is None:
        scientific = high / low > 1000.0 or high > 1.0e8 or low < 1.0e-4
    if scientific:
        write: Callable[[float], str] = f"{{:.{digits}e}}".format
    elif all(map(float.is_integer, counted)):
        write = _whole
    else:
        write = f"{{:.{digits}f}}".format
    return list(map(write, values)), max(map(len, map(write, counted)))


def _whole(value: float) -> str:
    return f"{value:.0f}." if math.isfinite(value) else f"{value:.0f}"


def _columns(numbers: np.ndarray[Any, Any]) -> tuple[list[str], int]:
    """Each number's text padded to the column, and the width that line breaking reckons with."""
    if numbers.dtype.kind != "c":
        texts, width = _texts(numbers)
        return [text.rjust(width) for text in texts], width
    reals, width = _columns(numbers.real)
    imags, imag_width = _columns(numbers.imag)
    pairs = zip(reals, (imag.lstrip() for imag in imags), strict=True)
    return [f"{real}{'' if imag[0] in '+-' else '+'}{imag}j" for real, imag in pairs], width + imag_width + 1


# --- the block of numbers ---------------------------------------------------------------------------------------------


def _edges(array: np.ndarray[Any, Any], edge: int) -> np.ndarray[Any, Any]:
    """Only what a summary shows: the first and the last ``edge`` of every long dimension."""
    ends = [[*range(edge), *range(size - edge, size)] if size > 2 * edge else list(range(size)) for size in array.shape]
    return array[np.ix_(*ends)]  # one step for all dimensions, so that nothing else is copied


def _contents(array: np.ndarray[Any, Any], indent: int) -> str:
    """The numbers in brackets, rows under each other, the first bracket at column ``indent``."""
    sizes = array.shape
    edge = _options.edgeitems
    summarise = array.size > _options.threshold
    if array.size == 0:
        return "[]"
    if summarise and sizes:
        if not edge:
            return "[...]"
        array = _edges(array, edge)
    texts, width = _columns(array)
    if not sizes:
        return texts[0]

    cut = [summarise and size > 2 * edge for size in sizes]
    row = array.shape[-1]
    inner = indent + len(sizes)  # the column after the innermost bracket
    per_line = max(1, math.floor((_options.linewidth - inner + 1) / (width + 2)))
    blocks = []
    for start in range(0, len(texts), row):
        items = texts[start : start + row]
        if cut[-1]:
            items.insert(row // 2, " ...")
        lines = [", ".join(items[at : at + per_line]) for at in range(0, len(items), per_line)]
        blocks.append("[" + (",\n" + " " * inner).join(lines) + "]")
    for axis in reversed(range(len(sizes) - 1)):  # inside out: join the rows, then the planes, ...
        count = array.shape[axis]
        between = "," + "\n" * (len(sizes) - axis - 1) + " " * (indent + axis + 1)
        groups = [blocks[start : start + count] for start in range(0, len(blocks), count)]
        if cut[axis]:
            for group in groups:
                group.insert(count // 2, "...")
        blocks = ["[" + between.join(group) + "]" for group in groups]
    return blocks[0]


# --- the whole text ---------------------------------------------------------------------------------------------------


def tensor_repr(
    array: Any, *, dtype: DType | None = None, device: object = "cpu", requires_grad: bool = False,
    grad_fn_name: str | None = None, is_parameter: bool = False, name: str = "tensor",
    tensor_contents: str | None = None,
) -> str:  # fmt: skip
    """The text of a tensor with the numbers of ``array``, exactly as PyTorch prints it.

    array            NumPy array or scalar; of a meta tensor only the shape is looked at
    dtype            the tensor's (None: the array's)
    grad_fn_name     the name of the node it came from, as ``grad_fn=<...>``
    is_parameter     whether it is an nn.Parameter
    name             'tensor', or the name of a subclass
    tensor_contents  what stands in place of the numbers
    """
    array = np.asarray(array)
    dtype = dtypes.of(array.dtype) if dtype is None else dtype
    prefix = name + "("
    device_name = str(device)
    default = dtypes.default()
    complex_default = dtypes.complex128 if default is dtypes.float64 else dtypes.complex64
    plain = dtype in (default, complex_default, dtypes.int64, dtypes.bool)
    suffixes = []
    if device_name == "meta" or array.size == 0:
        if device_name == "meta":
            suffixes.append("device='meta'")
        if device_name == "meta" or array.ndim != 1:
            suffixes.append(f"size={array.shape}")
        plain = dtype is default  # no numbers from which an integer could be told
    elif not _options.edgeitems:
        suffixes.append(f"size={array.shape}")
    if not plain:
        suffixes.append(f"dtype={dtype}")
    if grad_fn_name is not None:
        suffixes.append(f"grad_fn=<{grad_fn_name}>")
    elif requires_grad:
        suffixes.append("requires_grad=True")
    if tensor_contents is None:
        tensor_contents = "..." if device_name == "meta" else _contents(array, len(prefix))
    text = with_suffixes(prefix + tensor_contents, suffixes, len(prefix))
    if not is_parameter:
        return text
    return f"Parameter containing:\n{text}" if name == "tensor" else f"Parameter({text})"


def sparse_repr(
    parts: dict[str, Any], *, shape: tuple[int, ...], nnz: int, layout: str, force_newline: bool, requires_grad: bool,
    grad_fn_name: str | None,
) -> str:  # fmt: skip
    """The text of a sparse tensor, exactly as PyTorch prints it.

    parts          the arrays it is made of, by name, the values last
    force_newline  whether what follows them begins a line
    """
    indent = len("tensor(")
    lines = []
    for name, array in parts.items():
        text = f"{name}=tensor(" + _contents(array, indent + len(name) + 8)
        lines.append(text + (f", size={array.shape})" if array.size == 0 else ")"))
    kind = dtypes.of(parts["values"].dtype)
    default = dtypes.default()
    complex_default = dtypes.complex128 if default is dtypes.float64 else dtypes.complex64
    suffixes = [f"size={shape}", f"nnz={nnz}"]
    if kind not in (default, complex_default, dtypes.int64, dtypes.bool):
        suffixes.append(f"dtype={kind}")
    suffixes.append(f"layout={layout}")
    if grad_fn_name is not None:
        suffixes.append(f"grad_fn=<{grad_fn_name}>")
    elif requires_grad:
        suffixes.append("requires_grad=True")
    text = "tensor(" + (",\n" + " " * indent).join(lines)
    return with_suffixes(text, suffixes, indent, force_newline)


def with_suffixes(text: str, suffixes: list[str], indent: int, force_newline: bool = False) -> str:
    """The text with its suffixes, each on a new line when the present one is full."""
    column = len(text) - text.rfind("\n") + 1
    for suffix in suffixes:
        if force_newline or column + len(suffix) + 2 > _options.linewidth:
            force_newline = False
            text += ",\n" + " " * indent + suffix
            column = indent + len(suffix)
        else:
            text += ", " + suffix
            column += len(suffix) + 2
    return text + ")"


def format_scalar(value: Any, dtype: DType | None = None, spec: str = "") -> str:
    """``format(tensor, spec)``: a 0-d tensor's as its Python number; others take no ``spec`` (TypeError).

    value  NumPy array or scalar
    """
    array = np.asarray(value)
    if array.ndim == 0:
        return format(array.item() if array.dtype.kind in "biufc" else float(array), spec)
    if spec:
        raise TypeError("unsupported format string passed to Tensor.__format__")
    return tensor_repr(array, dtype=dtype)
