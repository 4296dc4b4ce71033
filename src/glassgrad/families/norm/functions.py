"""Norms; normalisation of layers, groups, vectors and neighbouring channels; weights by length and direction."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, prod
from typing import Any

import numpy as np

from ...core import call
from ...core.tensor import Tensor, number_of
from ...ground import dtypes, errors, modes
from ...ground.dtypes import Number, called, finfo, float32, float64, need_float
from ...ground.layout import is_laid, suggested
from ...ground.listening import audible
from ...ground.runtime import warn_once
from ...ground.window import strides_of
from ...kernels import compiled
from ...kernels.columns import not_implemented
from ...ops.declare import composite, functional
from ...ops.unfold import FORMS, Form
from ..arithmetic.powers import pow_number
from ..arithmetic.rows import add_number
from ..cast.functions import copied
from ..distance.rows import linalg_vector_norm, norm_all, norm_dim, refuse_nothing
from ..linalg.spectra import linalg_svd
from ..matrix.functions import into
from ..pad.functions import pad
from ..pointwise.rows import rsqrt
from ..pooling.functions import avg_pool2d, avg_pool3d
from ..reduce.functions import amax, amin, check_tensor, numpy_dtype, one_dim, some_dims, sum
from ..reduce.rows import mean_dim
from ..shape.rows import permute, unsqueeze
from .rows import fused_rms_norm, native_group_norm, native_layer_norm, weight_norm_interface

# -- norms -------------------------------------------------------------------------------------------------------------


@audible
def vector_norm(
    input: Any, ord: Any = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None, out: Any = None
) -> Any:
    """The norm of order ``ord`` of all elements, or of those along ``dim``."""
    check_tensor(input, "linalg_vector_norm")
    if isinstance(ord, np.number):
        ord = ord.item()
    if not isinstance(ord, (int, float, complex)):
        raise TypeError(f"linalg_vector_norm(): argument 'ord' (position 2) must be Number, not {called(ord)}")
    kind = numpy_dtype(dtype, "linalg_vector_norm")
    if input._array.dtype.kind in "bui":
        raise RuntimeError(
            f"linalg.vector_norm: Expected a floating point or complex tensor as input. Got {input.dtype.scalar_name}"
        )
    if isinstance(ord, complex):
        raise RuntimeError("linalg.vector_norm: Expected a non-complex scalar as the order of norm.")
    axes = some_dims(dim, input._array.ndim, "linalg_vector_norm")
    if not input._array.size:
        if axes is None:
            refuse_nothing(ord)
        elif any_empty(input, axes):
            refuse_nothing(ord, dim if isinstance(dim, int) else dim[0])
    if dtype is not None:
        if input.dtype.is_complex and not dtype.is_complex:
            raise RuntimeError(
                f"linalg.vector_norm: dtype should be complex for complex inputs, but got {dtype.scalar_name}"
            )
        return call.call(linalg_vector_norm.row, (input,), (ord, axes, keepdim, kind), out)
    return linalg_vector_norm(input, ord, axes, keepdim, None, out=out)


def any_empty(x: Tensor, axes: tuple[int, ...]) -> bool:
    """Whether one of ``axes`` has no elements."""
    return 0 in [x._array.shape[i] for i in axes]


@audible
def matrix_norm(
    input: Any, ord: Number | str = "fro", dim: Any = (-2, -1), keepdim: bool = False, *, dtype: Any = None,
    out: Any = None,
) -> Any:  # fmt: skip
    """The norm of order ``ord`` of the matrices in two dimensions."""
    check_tensor(input, "linalg_matrix_norm")
    if isinstance(ord, complex):
        raise RuntimeError("linalg.matrix_norm: Expected a non-complex scalar as the order of norm.")
    size = {"fro": 0, "nuc": 2}.get(ord, ord) if isinstance(ord, str) else abs(ord)
    if size not in ((0, 2) if isinstance(ord, str) else (1, 2, inf)):
        name = ord if isinstance(ord, str) else f"{ord:g}"
        raise RuntimeError(f"linalg.matrix_norm: Order {name} not supported.")
    if input._array.ndim < 2:
        raise RuntimeError("linalg.matrix_norm: The input tensor A must have at least 2 dimensions.")
    if input._array.dtype.kind in "bui":
        raise RuntimeError(
            f"linalg.matrix_norm: Expected a floating point or complex tensor as input. Got {input.dtype.scalar_name}"
        )
    dims = (dim,) if isinstance(dim, int) else tuple(dim)
    if len(dims) != 2:
        raise RuntimeError(f"linalg.matrix_norm: dim must be a 2-tuple. Got {' '.join(map(str, dims))}")
    rows, columns = (one_dim(d, input._array.ndim) for d in dims)
    if rows == columns:
        raise RuntimeError(f"linalg.matrix_norm: dims must be different. Got ({rows}, {columns})")
    if size == 2:
        _no_halves(dtype or input.dtype)
    kind = (dtype or input.dtype).to_real()
    if isinstance(out, Tensor) and out.dtype is not kind:
        names = kind.scalar_name, out.dtype.scalar_name
        raise RuntimeError("linalg.matrix_norm expected out tensor dtype {} but got: {}".format(*names))
    if ord == "fro":
        return vector_norm(input, 2, (rows, columns), keepdim, dtype=dtype, out=out)
    if dtype is not None:
        input = input.to(dtype)
    if size == 2:
        norms = _spectral(input, ord, rows, columns, keepdim)
        return norms if out is None else into("linalg_matrix_norm", (input,), out, norms, errors.OUT_SAFELY, True)
    first, then = (rows, columns) if size == 1 else (columns, rows)
    if not keepdim and then > first:
        then -= 1
    sums = vector_norm(input, 1, first, keepdim)
    return _extreme(sums, ord == size, then, keepdim, out)


def _no_halves(kind: dtypes.dtype) -> None:
    """Raise PyTorch's error for norms of halves that are made of singular values."""
    if kind.is_floating_point and kind.itemsize == 2:
        raise RuntimeError(f"linalg.matrix_norm: Low precision dtypes not supported. Got {kind.scalar_name}")


def _extreme(values: Any, is_largest: bool, dim: int, keepdim: bool, out: Any = None) -> Any:
    """The largest of the norms along ``dim``, zero where there are none; or the smallest."""
    if is_largest and not values._array.shape[dim]:
        return sum(values.detach(), dim, keepdim, out=out)
    return (amax if is_largest else amin)(values, dim, keepdim, out=out)


def _spectral(A: Tensor, ord: Any, rows: int, columns: int, keepdim: bool) -> Any:
    """Norms made of singular values."""
    order = [i for i in range(A._array.ndim) if i not in (rows, columns)] + [rows, columns]
    values = linalg_svd(permute(A, order))[1]
    answer = sum(values, -1, keepdim) if ord == "nuc" else _extreme(values, ord > 0, -1, keepdim)
    if keepdim:
        answer = permute(unsqueeze(answer, -1), [order.index(i) for i in range(A._array.ndim)])
    return answer


@audible
def linalg_norm(
    input: Any, ord: Any = None, dim: Any = None, keepdim: bool = False, *, out: Any = None, dtype: Any = None
) -> Any:
    """A vector or a matrix norm, as ``ord`` and ``dim`` say."""
    check_tensor(input, "linalg_norm")
    dims = None if dim is None else (dim,) if isinstance(dim, int) else tuple(dim)
    if isinstance(out, Tensor) and out.dtype is not (wanted := (dtype or input.dtype).to_real()):
        is_matrix = len(dims or ()) == 2 or (dims is None and input._array.ndim == 2)
        if is_matrix and ord in ("nuc", 2, -2):
            _no_halves(dtype or input.dtype)
        found = out.dtype.scalar_name
        raise RuntimeError(f"linalg.norm expected out tensor dtype {wanted.scalar_name} but got: {found}")
    if dims is not None and len(dims) not in (1, 2):
        raise RuntimeError(
            f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got [{', '.join(map(str, dims))}]"
        )
    if ord is None:
        return vector_norm(input, 2, dims, keepdim, dtype=dtype, out=out)
    if dims is None:
        if input._array.ndim not in (1, 2):
            raise RuntimeError(
                "linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. "
                f"Got {input._array.ndim}D."
            )
        if input._array.ndim == 2 or isinstance(ord, str):
            dims = (0, 1) if input._array.ndim == 2 else (-2, -1)
            return matrix_norm(input, ord, dims, keepdim, dtype=dtype, out=out)
    elif len(dims) == 2 or isinstance(ord, str):
        return matrix_norm(input, ord, dims, keepdim, dtype=dtype, out=out)
    return vector_norm(input, ord, dims, keepdim, dtype=dtype, out=out)


@composite(page="torch")
def norm(input: Any, p: Any = "fro", dim: Any = None, keepdim: bool = False, out: Any = None, dtype: Any = None) -> Any:
    """The ``p``-norm of all elements or along ``dim``; "fro" and "nuc" are norms of matrices."""
    dims = (dim,) if isinstance(dim, int) else dim
    if isinstance(p, str):
        if p == "fro" and (dims is None or len(dims) <= 2):
            return vector_norm(input, 2, dims, keepdim, dtype=dtype, out=out)
        return matrix_norm(input, p, range(input._array.ndim) if dims is None else dims, keepdim, dtype=dtype, out=out)
    return vector_norm(input, 2.0 if p is None else p, dims, keepdim, dtype=dtype, out=out)


_LEFT = (
    "at::{} is deprecated and it is just left for JIT compatibility. It will be removed in a future PyTorch release. "
    "Please use `linalg.{}` instead (Triggered internally at "
    "/__w/pytorch/pytorch/aten/src/ATen/native/LinearAlgebra.cpp:{}.)"
)


@composite(method=False)
def frobenius_norm(input: Any, dim: Any, keepdim: bool = False, *, out: Any = None) -> Tensor:
    """The square roots of the sums of squares along ``dim``.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.norm.html
    """
    if isinstance(dim, (list, tuple)) and len(dim) > 2:
        raise RuntimeError(f"Expected at most 2 dimensions, but got {len(dim)} dimensions instead.")
    dims = some_dims(dim, input._array.ndim, "frobenius_norm")
    warn_once(_LEFT.format("frobenius_norm", "vector_norm(A, 2., dim, keepdim)", 3175 if out is None else 3195))
    if isinstance(out, Tensor) and out.dtype is not (wanted := input.dtype.to_real()):
        raise RuntimeError(errors.OUT_DTYPE.format(wanted=dtypes.c_name(wanted), found=dtypes.c_name(out.dtype)))
    return norm_dim(input, 2.0, dims, keepdim, out=out)  # type: ignore[no-any-return]


@composite(method=False)
def nuclear_norm(input: Any, dim: Any = None, keepdim: bool = False, *, out: Any = None) -> Tensor:
    """The sums of the singular values of matrices.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.norm.html
    """
    if type(dim) is bool:  # ``(input, keepdim)`` is an overload of its own
        dim, keepdim = None, dim
    warn_once(_LEFT.format("nuclear_norm", "matrix_norm(A, 'nuc', dim, keepdim)", 3229 if out is None else 3217))
    if dim is None and input._array.ndim > 2:
        dim = -2, -1
    return norm(input, "nuc", dim, keepdim, out=out)  # type: ignore[no-any-return]


# -- normalisation -----------------------------------------------------------------------------------------------------


def check_normalized(input: Any, normalized_shape: tuple[int, ...], weight: Any, bias: Any, star: str = "*, ") -> None:
    """Raise PyTorch's errors where sizes do not fit ``normalized_shape``."""
    if normalized_shape and isinstance(normalized_shape[0], bool):
        raise TypeError("argument 'normalized_shape' must be tuple of ints, but found element of type bool at pos 0")
    if not normalized_shape:
        raise RuntimeError(
            "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but got "
            "normalized_shape = []"
        )
    sizes = list(normalized_shape)
    for name, tensor in (("weight", weight), ("bias", bias)):
        if tensor is not None and list(tensor._array.shape) != sizes:
            raise RuntimeError(
                f"Expected {name} to be of same shape as normalized_shape, but got {name} of shape "
                f"{list(tensor._array.shape)} and normalized_shape = {sizes}"
            )
    if list(input._array.shape[max(input._array.ndim - len(sizes), 0) :]) != sizes:
        raise RuntimeError(
            f"Given normalized_shape={sizes}, expected input with shape [{star}{', '.join(map(str, sizes))}], but got "
            f"input of size{list(input._array.shape)}"
        )


def check_kinds(input: Any, *parameters: Any) -> None:
    """Raise PyTorch's error for dtypes that do not go together: all are one, or halves among float32 parameters."""
    kind = input._array.dtype
    kinds = [tensor._array.dtype for tensor in parameters if tensor is not None]
    odd = next((other for other in kinds if other != kind), None)
    if odd is None:
        return
    if kinds[0] != kind:
        if any(other != np.float32 for other in kinds):
            raise RuntimeError("mixed dtype (CPU): expect parameter to have scalar type of Float")
        if kind != np.float16 and kind.kind != "V":
            raise RuntimeError("mixed dtype (CPU): all inputs must share same datatype.")
    elif kind.kind in "fV":  # what else there is, the kernel refuses
        names = dtypes.of(kind).scalar_name, dtypes.of(odd).scalar_name
        raise RuntimeError("expected scalar type {} but found {}".format(*names))


@composite(method=False, page="torch.nn.functional")
def layer_norm(
    input: Any, normalized_shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5,
    cudnn_enable: bool = True,
) -> Any:  # fmt: skip
    """Each sample standardised over its last dimensions, scaled by ``weight`` and shifted by ``bias``."""
    if type(normalized_shape) is not tuple:
        if not isinstance(normalized_shape, (list, tuple)):
            raise TypeError(
                "layer_norm(): argument 'normalized_shape' (position 2) must be tuple of ints, not "
                f"{called(normalized_shape)}"
            )
        normalized_shape = tuple(normalized_shape)
    if normalized_shape and type(normalized_shape[0]) is not int:
        normalized_shape = tuple([number_of(size) for size in normalized_shape])
        if not hasattr(normalized_shape[0], "__index__"):
            raise TypeError(
                "layer_norm(): argument 'normalized_shape' (position 2) must be tuple of ints, but found element of "
                f"type {called(normalized_shape[0])} at pos 0"
            )
    check_tensor(input, "layer_norm")
    if type(eps) is not float:
        need_float("layer_norm", "eps", 5, eps)
    check_normalized(input, normalized_shape, weight, bias)
    check_kinds(input, weight, bias)
    return native_layer_norm(input, weight, bias, normalized_shape, eps)[0]


@functional
def functional_layer_norm(
    input: Any, normalized_shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5
) -> Tensor:
    """Each sample standardised over its last dimensions, scaled and shifted."""
    return layer_norm(input, normalized_shape, weight, bias, eps)


@composite(method=False)
def rms_norm(input: Any, normalized_shape: Sequence[int], weight: Any = None, eps: float | None = None) -> Any:
    """Each sample divided by the root mean square of its last dimensions, scaled by ``weight``."""
    check_tensor(input, "rms_norm")
    if eps is not None:
        need_float("rms_norm", "eps", 4, eps)
    normalized_shape = tuple(normalized_shape)
    if input._array.ndim < len(normalized_shape):
        raise ValueError(
            f"Input tensor must have at least {len(normalized_shape)} dimensions, but got {input._array.ndim}"
        )
    check_normalized(input, normalized_shape, weight, None, "*")
    kind = input.dtype
    if input._array.dtype.kind in "bui":
        raise not_implemented("rms_norm", input._array)
    if kind.itemsize == 2:
        input = input.to(float32)
    if eps is None:
        eps = finfo(input.dtype).eps
    tensors = [input] if weight is None else [input, weight]
    large = input._array.size >= min(compiled.least, compiled.LEAST) and input._array.size
    large = large and not modes.unusual and type(input) is Tensor
    large = large and input._array.flags.c_contiguous  # what lies otherwise PyTorch copies at the end
    if large and (input.dtype is float32 or input.dtype is float64) and tensors[-1]._array.dtype is input._array.dtype:
        return fused_rms_norm(tensors, normalized_shape, eps)[0]
    scaled = _by_root_mean_square(*tensors, normalized_shape, eps)[0]
    layout = suggested(input._array.shape, strides_of(input._array))
    if not is_laid(scaled._array, layout):
        scaled = copied(scaled, layout)
    return scaled if scaled.dtype is kind else scaled.to(kind)


def _by_root_mean_square(input: Any, *others: Any) -> tuple[Any]:
    """What ``rms_norm`` is, from the input, the weight if there is one, the normalised shape, and eps."""
    *weight, normalized_shape, eps = others
    first = input._array.ndim - len(normalized_shape)
    squares = mean_dim(pow_number(input, 2), tuple(range(first, input._array.ndim)), True)
    scaled = input * rsqrt(add_number(squares, eps))
    return (scaled * weight[0] if weight else scaled,)


FORMS["rms_norm"] = Form(_by_root_mean_square, 1)


@composite(method=False)
def group_norm(
    input: Any, num_groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5, cudnn_enabled: bool = True
) -> Any:
    """Each group of channels of each sample standardised, each channel scaled and shifted."""
    check_tensor(input, "group_norm")
    need_float("group_norm", "eps", 5, eps)
    sizes = input._array.shape
    if len(sizes) < 2:
        raise RuntimeError(f"Expected at least 2 dimensions for input tensor but received {len(sizes)}")
    if num_groups <= 0:
        raise RuntimeError(f"Expected num groups to be greater than 0, got {num_groups}")
    if sizes[1] % num_groups:
        raise RuntimeError(
            "Expected number of channels in input to be divisible by num_groups, but got input of shape "
            f"{list(sizes)} and num_groups={num_groups}"
        )
    for name, tensor in (("weight", weight), ("bias", bias)):
        if tensor is not None and tensor._array.shape != (sizes[1],):
            raise RuntimeError(
                f"Expected {name} to be a vector of size equal to the number of channels in input, but got {name} of "
                f"shape {list(tensor._array.shape)} and input of shape {list(sizes)}"
            )
    check_kinds(input, weight, bias)
    array = input._array
    if not array.flags.c_contiguous and not is_laid(array, suggested(sizes, strides_of(array))):
        input = input.contiguous()
    return native_group_norm(input, weight, bias, sizes[0], sizes[1], prod(sizes[2:]), num_groups, eps)[0]


def several_values(sizes: Any, shown: str) -> None:
    """Raise PyTorch's error where a channel has one value only."""
    if sizes[0] * prod(sizes[2:]) == 1:
        raise ValueError(f"Expected more than 1 value per channel when training, got input size {shown}")


@functional
def functional_group_norm(
    input: Any, num_groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5
) -> Tensor:
    """Each group of channels of each sample standardised, each channel scaled and shifted."""
    if input.dim() > 1 and not num_groups < 0:  # what else is wrong is said below
        sizes = tuple(input.shape)
        sizes = sizes[0] * sizes[1] // num_groups, num_groups, *sizes[2:]
        several_values(sizes, f"{list(sizes)}")
    return group_norm(input, num_groups, weight, bias, eps)


@audible
def normalize(input: Any, p: float = 2.0, dim: Any = 1, eps: float = 1e-12, out: Any = None) -> Tensor:
    """The vectors along ``dim`` divided by their ``p``-norms, or by ``eps`` where that is larger."""
    length = norm(input, p, dim, True)
    if out is None:
        return input / length.clamp_min(eps).expand_as(input)
    length.clamp_min_(eps)
    return input.div(length.expand_as(input), out=out)


# -- Normalisation by neighbouring channels, with ``torch.nn.functional``'s signature.


@audible
def local_response_norm(input: Any, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> Tensor:
    """Each element divided by ``(k + alpha * mean of squares) ** beta``, over ``size`` neighbouring channels."""
    dims = input.dim()
    if dims < 3:
        gap = " " * 26
        raise ValueError(f"Expected 3D or higher dimensionality{gap[1:]} input (got {dims} dimensions)")
    if input.numel() == 0:
        return input  # type: ignore[no-any-return]
    squares = input.mul(input)
    before, after = size // 2, (size - 1) // 2
    mean: Any
    if dims == 3:
        wide = pad(squares.unsqueeze(1), (0, 0, before, after))
        mean = avg_pool2d(wide, (size, 1), stride=1)
        mean = mean.squeeze(1)
    else:
        sizes = input.size()
        wide = pad(squares.view(sizes[0], 1, sizes[1], sizes[2], -1), (0, 0, 0, 0, before, after))
        mean = avg_pool3d(wide, (size, 1, 1), stride=1)
        mean = mean.squeeze(1).view(sizes)
    return input / mean.mul(alpha).add(k).pow(beta)  # type: ignore[no-any-return]


# -- Norms of weights over all dimensions but one, and weights that are given such norms.


@composite(method=False)
def norm_except_dim(v: Any, pow: int = 2, dim: int = 0) -> Any:
    """The norms of order ``pow`` over all dimensions of ``v`` but ``dim``, which are kept; with ``dim`` -1 over all."""
    shape = v._array.shape
    if dim == -1:
        return norm_all(v, pow)
    if dim == 0:
        return norm_dim(v.reshape(shape[0], -1), pow, (1,)).view(shape[0], *(1,) * (len(shape) - 1))
    if dim == len(shape) - 1:
        return norm_dim(v.reshape(-1, shape[-1]), pow, (0,)).view(*(1,) * (len(shape) - 1), shape[-1])
    return norm_except_dim(v.transpose(0, dim).contiguous(), pow, 0).transpose(0, dim)


@composite(method=False)
def _weight_norm(v: Any, g: Any, dim: int = 0) -> Any:
    """``v`` with the norms ``g`` over all dimensions but ``dim``.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.utils.parametrizations.weight_norm.html
    """
    if dim == 0 or dim == v._array.ndim - 1:
        if g.dtype is not v.dtype:
            raise RuntimeError(f"expected scalar type {v.dtype.scalar_name} but found {g.dtype.scalar_name}")
        return weight_norm_interface(v.contiguous(), g.contiguous(), dim)[0]
    return v * (g / norm_except_dim(v, 2, dim))
