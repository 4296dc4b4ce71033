"""PyTorch's signatures of norms, distances, and normalisation of layers, groups, batches and instances."""

from __future__ import annotations

from math import inf, prod
from typing import Any

import numpy as np

from ...core import call, write
from ...core.tensor import Tensor, wrap
from ...ground import modes
from ...ground.dtypes import called, finfo, float32, float64
from ...ground.listening import audible
from ...kernels import compiled
from ...ops.declare import composite, unit
from ...ops.unfold import FORMS, Form
from ..arithmetic.rows import add_number, pow_number
from ..batchnorm.rows import native_batch_norm
from ..cast.rows import clone
from ..distance.rows import cdist_forward, linalg_vector_norm, norm_dim
from ..linalg.singular import linalg_svd
from ..pointwise.rows import rsqrt
from ..reduce.functions import amax, amin, check_tensor, given_kind, one_dim, some_dims, sum
from ..reduce.rows import mean_dim, sum_dim
from ..shape.rows import expand, permute, unsqueeze
from .rows import fused_rms_norm, native_group_norm, native_layer_norm, weight_norm_interface

# -- norms -------------------------------------------------------------------------------------------------------------


@audible
def vector_norm(
    x: Any, ord: Any = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None, out: Any = None
) -> Any:
    """The norm of order ``ord`` of all elements, or of those along ``dim``.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.linalg.vector_norm.html
    """
    check_tensor(x, "linalg_vector_norm")
    if isinstance(ord, (str, bool)) or not isinstance(ord, (int, float)):
        raise TypeError(f"linalg_vector_norm(): argument 'ord' (position 2) must be Number, not {called(ord)}")
    if x._array.dtype.kind in "bui":
        raise RuntimeError(
            f"linalg.vector_norm: Expected a floating point or complex tensor as input. Got {x.dtype.scalar_name}"
        )
    axes = some_dims(dim, x._array.ndim, "linalg_vector_norm")
    if not x._array.size and (ord < 0 or ord == inf):
        name = ord if isinstance(ord, int) else "inf" if ord == inf else "-inf" if ord == -inf else f"{ord:g}"
        if axes is None:
            raise RuntimeError(
                f"linalg.vector_norm cannot compute the {name} norm on an empty tensor because the operation does not "
                "have an identity"
            )
        if any_empty(x, axes):
            raise RuntimeError(
                f"linalg.vector_norm cannot compute the {name} norm on the dimension {axes[0]} because this dimension "
                "is empty and the operation does not have an identity"
            )
    if dtype is not None:
        return call.call(linalg_vector_norm.row, (x,), (ord, axes, keepdim, given_kind(dtype, "vector_norm")), out)
    return linalg_vector_norm(x, ord, axes, keepdim, None, out=out)


def any_empty(x: Tensor, axes: tuple[int, ...]) -> bool:
    """Whether one of ``axes`` has no elements."""
    return 0 in [x._array.shape[i] for i in axes]


@audible
def matrix_norm(
    A: Any, ord: Any = "fro", dim: Any = (-2, -1), keepdim: bool = False, *, dtype: Any = None, out: Any = None
) -> Any:
    """The norm of order ``ord`` of the matrices in two dimensions.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.linalg.matrix_norm.html
    """
    check_tensor(A, "linalg_matrix_norm")
    if A._array.ndim < 2:
        raise RuntimeError("linalg.matrix_norm: The input tensor A must have at least 2 dimensions.")
    if A._array.dtype.kind in "bui":
        raise RuntimeError(
            f"linalg.matrix_norm: Expected a floating point or complex tensor as input. Got {A.dtype.scalar_name}"
        )
    dims = (dim,) if isinstance(dim, int) else tuple(dim)
    if len(dims) != 2:
        raise RuntimeError(f"linalg.matrix_norm: dim must be a 2-tuple. Got {' '.join(map(str, dims))}")
    rows, columns = (one_dim(d, A._array.ndim) for d in dims)
    if rows == columns:
        raise RuntimeError(f"linalg.matrix_norm: dims must be different. Got ({dims[0]}, {dims[1]})")
    if ord == "fro":
        return vector_norm(A, 2, (rows, columns), keepdim, dtype=dtype, out=out)
    if dtype is not None:
        A = A.to(dtype)
    if isinstance(ord, str) and ord != "nuc":
        raise RuntimeError(f"linalg.matrix_norm: Order {ord} not supported.")
    if ord == "nuc" or abs(ord) == 2:
        return _spectral(A, ord, rows, columns, keepdim, out)
    if abs(ord) not in (1, inf):
        raise RuntimeError(f"linalg.matrix_norm: Order {ord:g} not supported.")
    first, then = (rows, columns) if abs(ord) == 1 else (columns, rows)
    if not keepdim and then > first:
        then -= 1
    sums = vector_norm(A, 1, first, keepdim)
    return (amax if ord > 0 else amin)(sums, then, keepdim, out=out)


def _spectral(A: Tensor, ord: Any, rows: int, columns: int, keepdim: bool, out: Any) -> Any:
    """Norms made of singular values."""
    order = [i for i in range(A._array.ndim) if i not in (rows, columns)] + [rows, columns]
    values = linalg_svd(permute(A, order))[1]
    if ord == "nuc":
        answer = sum(values, -1, keepdim, out=out)
    else:
        answer = (amax if ord > 0 else amin)(values, -1, keepdim, out=out)
    if keepdim:
        answer = permute(unsqueeze(answer, -1), [order.index(i) for i in range(A._array.ndim)])
    return answer


@audible
def linalg_norm(
    A: Any, ord: Any = None, dim: Any = None, keepdim: bool = False, *, out: Any = None, dtype: Any = None
) -> Any:
    """A vector or a matrix norm, as ``ord`` and ``dim`` say.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.linalg.norm.html
    """
    check_tensor(A, "linalg_norm")
    dims = None if dim is None else (dim,) if isinstance(dim, int) else tuple(dim)
    if dims is not None and len(dims) not in (1, 2):
        raise RuntimeError(
            f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got [{', '.join(map(str, dims))}]"
        )
    if ord is None:
        return vector_norm(A, 2, dims, keepdim, dtype=dtype, out=out)
    if dims is None:
        if A._array.ndim not in (1, 2):
            raise RuntimeError(
                f"linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got {A._array.ndim}D."
            )
        if A._array.ndim == 2 or isinstance(ord, str):
            return matrix_norm(A, ord, (0, 1) if A._array.ndim == 2 else (-2, -1), keepdim, dtype=dtype, out=out)
    elif len(dims) == 2 or isinstance(ord, str):
        return matrix_norm(A, ord, dims, keepdim, dtype=dtype, out=out)
    return vector_norm(A, ord, dims, keepdim, dtype=dtype, out=out)


@composite()
def norm(input: Any, p: Any = "fro", dim: Any = None, keepdim: bool = False, out: Any = None, dtype: Any = None) -> Any:
    """The ``p``-norm of all elements or along ``dim``; "fro" and "nuc" are norms of matrices.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.norm.html
    """
    dims = (dim,) if isinstance(dim, int) else dim
    if isinstance(p, str):
        if p == "fro" and (dims is None or len(dims) <= 2):
            return vector_norm(input, 2, dims, keepdim, dtype=dtype, out=out)
        return matrix_norm(input, p, range(input._array.ndim) if dims is None else dims, keepdim, dtype=dtype, out=out)
    return vector_norm(input, 2.0 if p is None else p, dims, keepdim, dtype=dtype, out=out)


# -- distances ---------------------------------------------------------------------------------------------------------


@composite(method=False)
def cdist(x1: Any, x2: Any, p: float = 2.0, compute_mode: str = "use_mm_for_euclid_dist_if_necessary") -> Any:
    """The ``p``-norm distances of every row of ``x1`` from every row of ``x2``."""
    check_tensor(x1, "cdist")
    check_tensor(x2, "cdist")
    for name, x in (("X1", x1), ("X2", x2)):
        if x._array.ndim < 2:
            raise RuntimeError(f"cdist only supports at least 2D tensors, {name} got: {x._array.ndim}D")
    if x1._array.shape[-1] != x2._array.shape[-1]:
        raise RuntimeError(
            f"X1 and X2 must have the same number of columns. X1: {x1._array.shape[-1]} X2: {x2._array.shape[-1]}"
        )
    if p < 0:
        raise RuntimeError("cdist only supports non-negative p values")
    modes = ("use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist")
    if compute_mode not in modes:
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode")
    return cdist_forward(x1, x2, float(p))


def together(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """Two tensors expanded to their common sizes."""
    if a._array.shape == b._array.shape:
        return a, b
    try:
        sizes = np.broadcast_shapes(a._array.shape, b._array.shape)
    except ValueError:
        raise RuntimeError(unequal(a._array.shape, b._array.shape)) from None
    return (
        a if a._array.shape == sizes else expand(a, sizes),
        b if b._array.shape == sizes else expand(b, sizes),
    )


def unequal(a: tuple[int, ...], b: tuple[int, ...]) -> str:
    """PyTorch's sentence for sizes that cannot be broadcast."""
    for dim in range(-1, -min(len(a), len(b)) - 1, -1):
        if a[dim] != b[dim] and 1 not in (a[dim], b[dim]):
            at = max(len(a), len(b)) + dim
            return (
                f"The size of tensor a ({a[dim]}) must match the size of tensor b ({b[dim]}) at non-singleton "
                f"dimension {at}"
            )
    return "sizes cannot be broadcast"


@composite(method=False)
def cosine_similarity(x1: Any, x2: Any, dim: int = 1, eps: float = 1e-8) -> Any:
    """The cosines of the angles between vectors along ``dim``."""
    check_tensor(x1, "cosine_similarity")
    check_tensor(x2, "cosine_similarity")
    if x1._array.dtype.kind in "bui" and x2._array.dtype.kind in "bui":
        raise RuntimeError(f"expected common dtype to be floating point, yet common dtype is {x1.dtype.scalar_name}")
    if x1.dtype is not x2.dtype:
        common = x1.dtype if x2._array.dtype.kind in "bui" else np.promote_types(x1._array.dtype, x2._array.dtype)
        x1, x2 = x1.to(_ours(common)), x2.to(_ours(common))
    if x1._array.shape != x2._array.shape:
        sizes = together(x1, x2)[0]._array.shape
        x1, x2 = x1.expand(sizes), x2.expand(sizes)
    axis = one_dim(dim, x1._array.ndim)
    return sum_dim((x1 / _length(x1, axis, eps)) * (x2 / _length(x2, axis, eps)), (axis,), False)


def _ours(kind: Any) -> Any:
    from ...ground.dtypes import dtype, of

    return kind if isinstance(kind, dtype) else of(kind)


def _length(x: Tensor, axis: int, eps: float) -> Tensor:
    """Norms along ``axis``, at least ``eps``; their gradient knows no bound."""
    length = clone(linalg_vector_norm(x, 2, (axis,), True))
    write.store(length, np.maximum(length._array, length._array.dtype.type(eps)))
    return length


@composite(method=False)
def pairwise_distance(x1: Any, x2: Any, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> Any:
    """The ``p``-norms of the differences of corresponding vectors."""
    apart = add_number(x1 - x2, eps)
    return norm_dim(apart, float(p), (max(x1._array.ndim, x2._array.ndim) - 1,), keepdim)


@composite(method=False)
def pdist(input: Any, p: float = 2.0) -> Any:
    """The ``p``-norm distances of all pairs of rows."""
    check_tensor(input, "pdist")
    if input._array.ndim != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {input._array.ndim}D")
    if p < 0:
        raise RuntimeError("pdist only supports non-negative p values")
    first, second = np.triu_indices(len(input._array), 1)

    return norm_dim(input.index_select(0, wrap(first)) - input.index_select(0, wrap(second)), float(p), (1,), False)


# -- normalisation -----------------------------------------------------------------------------------------------------


def check_normalized(input: Any, normalized_shape: tuple[int, ...], weight: Any, bias: Any, star: str = "*, ") -> None:
    """Raise PyTorch's errors where sizes do not fit ``normalized_shape``."""
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
    """Raise PyTorch's error where weights are of another type than the input."""
    kind = input._array.dtype
    kinds = [tensor._array.dtype for tensor in parameters if tensor is not None]
    if kind.itemsize == 2 and kind.kind in "fV" and kinds and all(other == np.float32 for other in kinds):
        return  # halves may have parameters in float32
    for other in kinds:
        if other != kind:
            raise RuntimeError("mixed dtype (CPU): expect parameter to have scalar type of Float")


@composite(method=False)
def layer_norm(
    input: Any, normalized_shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5,
    cudnn_enable: bool = True,
) -> Any:  # fmt: skip
    """Each sample standardised over its last dimensions, scaled by ``weight`` and shifted by ``bias``.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.layer_norm.html
    """
    if type(normalized_shape) is not tuple:
        if not isinstance(normalized_shape, (list, tuple)):
            raise TypeError(
                "layer_norm(): argument 'normalized_shape' (position 2) must be tuple of ints, not "
                f"{called(normalized_shape)}"
            )
        normalized_shape = tuple(normalized_shape)
    check_tensor(input, "layer_norm")
    check_normalized(input, normalized_shape, weight, bias)
    check_kinds(input, weight, bias)
    return native_layer_norm(input, weight, bias, normalized_shape, eps)[0]


@composite(method=False)
def rms_norm(input: Any, normalized_shape: Any, weight: Any = None, eps: float | None = None) -> Any:
    """Each sample divided by the root mean square of its last dimensions, scaled by ``weight``."""
    check_tensor(input, "rms_norm")
    normalized_shape = tuple(normalized_shape)
    check_normalized(input, normalized_shape, weight, None, "*")
    kind = input.dtype
    if kind.itemsize == 2:
        input = input.to(float32)
    if eps is None:
        eps = finfo(input.dtype).eps
    tensors = [input] if weight is None else [input, weight]
    large = input._array.size >= min(compiled.least, compiled.LEAST) and input._array.size
    large = large and not modes.unusual and type(input) is Tensor
    if large and (input.dtype is float32 or input.dtype is float64) and tensors[-1]._array.dtype is input._array.dtype:
        return fused_rms_norm(tensors, normalized_shape, eps)[0]
    scaled = _by_root_mean_square(*tensors, normalized_shape, eps)[0]
    return scaled.to(kind) if kind.itemsize == 2 else scaled


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
    return native_group_norm(input, weight, bias, sizes[0], sizes[1], prod(sizes[2:]), num_groups, eps)[0]


@composite(method=False)
def batch_norm(
    input: Any, weight: Any, bias: Any, running_mean: Any, running_var: Any, training: bool, momentum: float,
    eps: float, cudnn_enabled: bool = True,
) -> Any:  # fmt: skip
    """Each channel standardised over the batch (``training``) or by running statistics, which training updates."""
    return with_statistics(input, weight, bias, running_mean, running_var, training, momentum, eps)[0]


def with_statistics(
    input: Any, weight: Any, bias: Any, running_mean: Any, running_var: Any, training: bool, momentum: float, eps: float
) -> tuple[Any, Any, Any]:
    """What ``batch_norm`` gives, with the means and the inverse deviations that it used."""
    check_tensor(input, "batch_norm")
    sizes = input._array.shape
    if len(sizes) < 2:
        bounds = f"[{-max(len(sizes), 1)}, {max(len(sizes), 1) - 1}]"
        raise IndexError(f"Dimension out of range (expected to be in range of {bounds}, but got 1)")
    channels = sizes[1]
    if not training:
        for name, tensor in (("running_mean", running_mean), ("running_var", running_var)):
            if tensor is None:
                raise RuntimeError(f"{name} must be defined in evaluation mode")
    running = (("running_mean", running_mean), ("running_var", running_var))
    for name, tensor in (*running, ("weight", weight), ("bias", bias)):
        if tensor is not None and tensor._array.size != channels:
            raise RuntimeError(f"{name} should contain {channels} elements not {tensor._array.size}")
    if (running_mean is None) is not (running_var is None):
        raise ValueError("running_mean and running_var must either both be None or neither be None")
    for name, tensor in running:
        if tensor is not None and tensor._edge is not None and modes.grad_enabled() and tensor.requires_grad:
            raise RuntimeError(
                f"The function 'native_batch_norm' is not differentiable with respect to argument '{name}'. This "
                "input cannot have requires_grad True."
            )
    _check_parameters(input, [tensor for tensor in (weight, bias, running_mean, running_var) if tensor is not None])
    out, mean, deviation, variance = native_batch_norm(input, weight, bias, running_mean, running_var, training, eps)
    if training and running_mean is not None and input._array.size:
        move_statistics(running_mean, running_var, mean, variance, momentum, input._array.size // channels)
    return out, mean, deviation


@unit
def move_statistics(
    running_mean: Tensor, running_var: Tensor, mean: Tensor, variance: Tensor, momentum: float, count: int
) -> None:
    """Move running statistics towards those of a batch; the memory is written without a new version, as in PyTorch."""
    unbiased = variance._array * (count / (count - 1)) if count > 1 else variance._array * np.nan
    for tensor, statistic in ((running_mean, mean._array.astype(unbiased.dtype, copy=False)), (running_var, unbiased)):
        running = tensor._array
        if not running.dtype.metadata:
            if running.dtype.kind == "V":  # PyTorch rounds every step to bfloat16, and to float16 only the last
                rate, rest = running.dtype.type(momentum), running.dtype.type(1 - momentum)
                running[...] = rate * statistic.astype(running.dtype) + rest * running
            else:
                old = running.astype(statistic.dtype) if running.dtype.itemsize == 2 else running
                np.copyto(running, old * (1 - momentum) + momentum * statistic, casting="unsafe")


def _check_parameters(input: Tensor, parameters: list[Tensor]) -> None:
    """Raise PyTorch's error for dtypes that do not go together: all are one, or halves among float32 parameters."""
    kind = input._array.dtype
    if all([parameter._array.dtype is kind for parameter in parameters]) or kind.kind in "bui" or not parameters:
        return
    if parameters[0].dtype is input.dtype:
        for parameter in parameters:
            if parameter.dtype is not input.dtype:
                names = input.dtype.scalar_name, parameter.dtype.scalar_name
                raise RuntimeError("expected scalar type {} but found {}".format(*names))
        return
    if any(parameter.dtype is not float32 for parameter in parameters):
        raise RuntimeError("mixed dtype (CPU): expect parameter to have scalar type of Float")
    if kind != np.float16 and kind.kind != "V":
        raise RuntimeError("mixed dtype (CPU): all inputs must share same datatype.")


@composite(method=False)
def instance_norm(
    input: Any, weight: Any, bias: Any, running_mean: Any, running_var: Any, use_input_stats: bool, momentum: float,
    eps: float, cudnn_enabled: bool = True,
) -> Any:  # fmt: skip
    """Each channel of each sample standardised by itself, or by running statistics."""
    check_tensor(input, "instance_norm")
    if not use_input_stats and (running_mean is None or running_var is None):
        raise RuntimeError("Expected running_mean and running_var to be defined when use_input_stats is false")
    sizes = input._array.shape
    batch, channels = sizes[0], sizes[1]
    if weight is not None:
        weight = weight.repeat(batch)
    if bias is not None:
        bias = bias.repeat(batch)
    means: Any = running_mean.repeat(batch) if running_mean is not None else None
    variances: Any = running_var.repeat(batch) if running_var is not None else None
    merged = input.contiguous().view(1, batch * channels, *sizes[2:])
    out = batch_norm(merged, weight, bias, means, variances, use_input_stats, momentum, eps)
    for running, repeated in ((running_mean, means), (running_var, variances)):
        if running is not None and use_input_stats:
            write.store(running, repeated._array.reshape(batch, channels).mean(0))
    return out.view(sizes)


# -- Norms of weights over all dimensions but one, and weights that are given such norms.


@composite(method=False)
def norm_except_dim(v: Any, pow: int = 2, dim: int = 0) -> Any:
    """The norms of order ``pow`` over all dimensions of ``v`` but ``dim``, which are kept; with ``dim`` -1 over all."""
    shape = v._array.shape
    if dim == -1:
        return linalg_vector_norm(v, pow, None, False)
    if dim == 0:
        return norm_dim(v.view(shape[0], -1), pow, (1,)).view(shape[0], *(1,) * (len(shape) - 1))
    if dim == len(shape) - 1:
        return norm_dim(v.view(-1, shape[-1]), pow, (0,)).view(*(1,) * (len(shape) - 1), shape[-1])
    return norm_except_dim(v.transpose(0, dim).contiguous(), pow, 0).transpose(0, dim)


@composite(method=False)
def _weight_norm(v: Any, g: Any, dim: int = 0) -> Any:
    """``v`` with the norms ``g`` over all dimensions but ``dim``.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.utils.parametrizations.weight_norm.html
    """
    if dim == 0 or dim == v._array.ndim - 1:
        return weight_norm_interface(v.contiguous(), g.contiguous(), dim)[0]
    return v * (g / norm_except_dim(v, 2, dim))
