"""Reductions and normalisations of the elements that a mask holds: ``torch.masked``, for dense tensors.

A masked-out element counts as what leaves the others as they are: zero for a sum, one for a product.
Source: https://docs.pytorch.org/docs/stable/masked.html
"""

from __future__ import annotations

from typing import Any

from .core.tensor import Tensor
from .families.norm.functions import vector_norm as _vector_norm
from .ground import dtypes
from .ops.catalogue import FUNCTIONS as _F

_INF = float("inf")
_SMALL = (dtypes.uint8, dtypes.bool, dtypes.int8, dtypes.int16, dtypes.int32)
_NO_CLASS = "torch.masked.{} is not in glassgrad: use a tensor with mask= of the functions of torch.masked instead"


def _dims(dim: Any, ndim: int) -> tuple[int, ...]:
    """Dimensions in order, counted from the front; all of them for None and ()."""
    if dim is None or dim == ():
        return tuple(range(ndim))
    span = max(ndim, 1)
    dims: list[int] = []
    for one in (dim,) if isinstance(dim, int) else dim:
        if one in dims:
            raise RuntimeError(f"dim={one} appears multiple times in the list of dims")
        if not -span <= one < span:
            raise IndexError(
                f"Dimension out of range (expected to be in range of [{-span}, {span - 1}], but got {one})"
            )
        dims.append(one % span)
    return tuple(sorted(dims))


def _mask_of(input: Any, mask: Any) -> Any:
    """The mask as booleans of the shape of ``input``."""
    if mask.shape != input.shape:
        if mask.ndim > input.ndim:
            raise IndexError(
                "_input_mask expected broadcastable mask (got mask dimensionality higher than of the input)"
            )
        mask = mask.expand(input.shape)
    return mask.to(dtypes.bool)


def _least(dtype: Any) -> Any:
    return -_INF if dtype.is_floating_point else dtypes.iinfo(dtype).min


def _most(dtype: Any) -> Any:
    return _INF if dtype.is_floating_point else dtypes.iinfo(dtype).max


def _filled(name: str, input: Any, mask: Any, value: Any) -> Any:
    """``input`` with ``value``, or what it gives for the dtype, where it is masked out."""
    if not isinstance(input, Tensor):
        raise TypeError(f"masked {name} expects a tensor, not {type(input).__name__}")
    if mask is None:
        return input
    if callable(value):
        if input.dtype.is_complex or input.dtype is dtypes.bool:
            raise NotImplementedError(f"identity of {name} on {input.dtype!r} input")
        value = value(input.dtype)
    return _F["where"](_mask_of(input, mask), input, _F["tensor"](value, dtype=input.dtype))


def _dtype(input: Any, dtype: Any) -> Any:
    return input.dtype if dtype is None else dtype


def _total_dtype(input: Any, dtype: Any) -> Any:
    return dtypes.int64 if dtype is None and input.dtype in _SMALL else _dtype(input, dtype)


# -- reductions --------------------------------------------------------------------------------------------------------


def sum(input: Any, dim: Any = None, *, keepdim: bool | None = False, dtype: Any = None, mask: Any = None) -> Tensor:
    """The sums of the elements held along ``dim``; zero where there are none."""
    filled = _filled("sum", input, mask, 0)
    return _F["sum"](filled, _dims(dim, input.ndim), bool(keepdim), dtype=_total_dtype(input, dtype))  # type: ignore[no-any-return]


def prod(input: Any, dim: Any = None, *, keepdim: bool | None = False, dtype: Any = None, mask: Any = None) -> Tensor:
    """The products of the elements held along ``dim``; one where there are none."""
    products = _filled("prod", input, mask, 1).to(_total_dtype(input, dtype))
    for one in reversed(_dims(dim, input.ndim)):
        products = products.prod(one, bool(keepdim))
    return products  # type: ignore[no-any-return]


def cumsum(input: Any, dim: int, *, dtype: Any = None, mask: Any = None) -> Tensor:
    """The running sums along ``dim`` of the elements held."""
    dtype = _dtype(input, dtype)
    return _F["cumsum"](_filled("cumsum", input, mask, 0), _dims(dim, input.ndim)[0], dtype=dtype).to(dtype)  # type: ignore[no-any-return]


def cumprod(input: Any, dim: int, *, dtype: Any = None, mask: Any = None) -> Tensor:
    """The running products along ``dim`` of the elements held."""
    dtype = _dtype(input, dtype)
    return _F["cumprod"](_filled("cumprod", input, mask, 1), _dims(dim, input.ndim)[0], dtype=dtype).to(dtype)  # type: ignore[no-any-return]


def amax(input: Any, dim: Any = None, *, keepdim: bool | None = False, dtype: Any = None, mask: Any = None) -> Tensor:
    """The largest of the elements held along ``dim``; the dtype's least number where there are none."""
    filled = _filled("amax", input, mask, _least)
    return _F["amax"](filled, _dims(dim, input.ndim), bool(keepdim)).to(_dtype(input, dtype))  # type: ignore[no-any-return]


def amin(input: Any, dim: Any = None, *, keepdim: bool | None = False, dtype: Any = None, mask: Any = None) -> Tensor:
    """The smallest of the elements held along ``dim``; the dtype's greatest number where there are none."""
    filled = _filled("amin", input, mask, _most)
    return _F["amin"](filled, _dims(dim, input.ndim), bool(keepdim)).to(_dtype(input, dtype))  # type: ignore[no-any-return]


def argmax(
    input: Any, dim: int | None = None, *, keepdim: bool | None = False, dtype: Any = None, mask: Any = None
) -> Tensor:
    """Where the largest of the elements held stands; in the dtype of ``input``, as in PyTorch, unless told."""
    filled = _filled("argmax", input, mask, _least)
    return _F["argmax"](filled, dim, bool(keepdim)).to(_dtype(input, dtype))  # type: ignore[no-any-return]


def argmin(
    input: Any, dim: int | None = None, *, keepdim: bool | None = False, dtype: Any = None, mask: Any = None
) -> Tensor:
    """Where the smallest of the elements held stands; in the dtype of ``input``, as in PyTorch, unless told."""
    filled = _filled("argmin", input, mask, _most)
    return _F["argmin"](filled, dim, bool(keepdim)).to(_dtype(input, dtype))  # type: ignore[no-any-return]


def _counted(input: Any, dim: Any, keepdim: bool, mask: Any) -> Any:
    if mask is None:
        return sum(_F["ones"](input.shape, dtype=dtypes.int64), dim, keepdim=keepdim)
    return _mask_of(input, mask).sum(dim, keepdim)


def mean(input: Any, dim: Any = None, *, keepdim: bool | None = False, dtype: Any = None, mask: Any = None) -> Tensor:
    """The means of the elements held along ``dim``; NaN where there are none."""
    result_dtype = _dtype(input, dtype)
    if not (result_dtype.is_floating_point or result_dtype.is_complex):
        raise ValueError(
            f"mean(): Could not infer output dtype. {'Input' if dtype is None else 'Optional'} dtype must be either "
            f"a floating point or complex dtype. Got: {result_dtype}"
        )
    count = _counted(input, dim, bool(keepdim), mask)
    return sum(input, dim, keepdim=keepdim, dtype=result_dtype, mask=mask) / count  # type: ignore[no-any-return, operator]


def median(input: Any, dim: int = -1, *, keepdim: bool = False, dtype: Any = None, mask: Any = None) -> Tensor:
    """The medians of the elements held along ``dim``; NaN where there are none, ValueError for integers."""
    floating = input.dtype.is_floating_point
    wide = input if floating else input.to(dtypes.float32)
    filled = _filled("median", wide, mask, float("nan"))
    medians = _F["nanmedian"](filled, _dims(dim, input.ndim)[0], keepdim).values
    if floating:
        return medians  # type: ignore[no-any-return]
    if medians.isnan().any():
        raise ValueError("masked median expects no fully masked out rows if dtype is not floating point")
    return medians.to(_dtype(input, dtype))  # type: ignore[no-any-return]


def logsumexp(input: Any, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None) -> Tensor:
    """The logarithms of the sums of exponentials of the elements held along ``dim``."""
    filled = _filled("logsumexp", input, mask, _least)
    return _F["logsumexp"](filled, _dims(dim, input.ndim), keepdim=keepdim).to(_dtype(input, dtype))  # type: ignore[no-any-return]


def logaddexp(
    input: Any, other: Any, *, dtype: Any = None, input_mask: Any = None, other_mask: Any = None
) -> Tensor:  # fmt: skip
    """The logarithms of the sums of two exponentials, each with a mask of its own."""
    one, two = _filled("logaddexp", input, input_mask, _least), _filled("logaddexp", other, other_mask, _least)
    return _F["logaddexp"](one, two).to(_dtype(input, dtype))  # type: ignore[no-any-return]


def norm(
    input: Any, ord: float | None = 2.0, dim: Any = None, *, keepdim: bool | None = False, dtype: Any = None,
    mask: Any = None,
) -> Tensor:  # fmt: skip
    """The vector norms of order ``ord`` of the elements held along ``dim``."""
    filled = _filled("norm", input, mask, _INF if ord == -_INF else 0)
    return _vector_norm(filled, ord, _dims(dim, input.ndim), bool(keepdim), dtype=_dtype(input, dtype))  # type: ignore[no-any-return]


def _spread(
    input: Any, dim: Any, unbiased: bool | None, correction: Any, keepdim: Any, dtype: Any, mask: Any
) -> Any:  # fmt: skip
    if unbiased is not None and correction is not None:
        raise AssertionError("Only one of unbiased and correction may be given")
    less = float(correction) if correction is not None else 0.0 if unbiased is False else 1.0
    result_dtype = _dtype(input, dtype)
    inexact = result_dtype.is_floating_point or result_dtype.is_complex
    if dtype is None and not inexact:
        result_dtype, inexact = dtypes.float32, True
    work = result_dtype if inexact else dtypes.float32
    count = _counted(input, dim, True, mask)
    off = input - sum(input, dim, keepdim=True, dtype=result_dtype, mask=mask) / count
    total: Any = sum(off * off.conj(), dim, keepdim=keepdim, dtype=work, mask=mask)
    if not keepdim:
        count = count.reshape(total.shape)
    if less:
        count = (count.to(work.to_real()) - less).clamp_min(0)
    return (total / count).to(result_dtype)


def var(
    input: Any, dim: Any = None, unbiased: bool | None = None, *, correction: float | None = None,
    keepdim: bool | None = False, dtype: Any = None, mask: Any = None,
) -> Tensor:  # fmt: skip
    """The variances of the elements held along ``dim``; NaN where there are none."""
    return _spread(input, dim, unbiased, correction, keepdim, dtype, mask)  # type: ignore[no-any-return]


def std(
    input: Any, dim: Any = None, unbiased: bool | None = None, *, correction: int | None = None,
    keepdim: bool | None = False, dtype: Any = None, mask: Any = None,
) -> Tensor:  # fmt: skip
    """The standard deviations of the elements held along ``dim``; NaN where there are none."""
    return _spread(input, dim, unbiased, correction, keepdim, dtype, mask).sqrt()  # type: ignore[no-any-return]


# -- normalisations ----------------------------------------------------------------------------------------------------


def softmax(input: Any, dim: int, *, dtype: Any = None, mask: Any = None) -> Tensor:
    """The softmax along ``dim`` of the elements held; zero elsewhere."""
    filled = _filled("softmax", input, mask, _least)
    return _F["softmax"](filled, _dims(dim, input.ndim)[0], dtype=_dtype(input, dtype))  # type: ignore[no-any-return]


def log_softmax(input: Any, dim: int, *, dtype: Any = None, mask: Any = None) -> Tensor:
    """The logarithm of ``softmax``."""
    filled = _filled("log_softmax", input, mask, _least)
    return _F["log_softmax"](filled, _dims(dim, input.ndim)[0], dtype=_dtype(input, dtype))  # type: ignore[no-any-return]


def softmin(input: Any, dim: int, *, dtype: Any = None, mask: Any = None) -> Tensor:
    """The softmax of the negative elements held along ``dim``."""
    filled = _filled("softmin", input, mask, _most)
    return _F["softmax"](-filled, _dims(dim, input.ndim)[0], dtype=_dtype(input, dtype))  # type: ignore[no-any-return]


def normalize(
    input: Any, ord: float, dim: int, *, eps: float = 1e-12, dtype: Any = None, mask: Any = None
) -> Tensor:  # fmt: skip
    """The elements held over their norm along ``dim``, but at least over ``eps``; zero elsewhere."""
    length: Any = norm(input, ord, dim, keepdim=True, dtype=dtype, mask=mask)
    return _filled("normalize", input, mask, 0) / _F["maximum"](length, length.new_full([], eps))  # type: ignore[no-any-return]


# -- masked tensors ----------------------------------------------------------------------------------------------------


def is_masked_tensor(obj: Any, /) -> bool:
    """Whether ``obj`` is a masked tensor: there are none here."""
    return False


def masked_tensor(data: Any, mask: Any, requires_grad: bool = False) -> Any:
    """Raise NotImplementedError: the class is not here, the functions with ``mask=`` are."""
    raise NotImplementedError(_NO_CLASS.format("masked_tensor"))


def as_masked_tensor(data: Any, mask: Any) -> Any:
    """Raise NotImplementedError: the class is not here, the functions with ``mask=`` are."""
    raise NotImplementedError(_NO_CLASS.format("as_masked_tensor"))


class MaskedTensor:
    """A name for isinstance checks: nothing is one, and making one raises NotImplementedError."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError(_NO_CLASS.format("MaskedTensor"))


__all__ = [
    "MaskedTensor", "amax", "amin", "argmax", "argmin", "as_masked_tensor", "cumprod", "cumsum", "is_masked_tensor",
    "log_softmax", "logaddexp", "logsumexp", "masked_tensor", "mean", "median", "norm", "normalize", "prod", "softmax",
    "softmin", "std", "sum", "var",
]  # fmt: skip
