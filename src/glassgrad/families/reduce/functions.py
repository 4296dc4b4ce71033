"""PyTorch's signatures of reductions: dims given as it allows them, its errors, its choice of row."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core import call
from ...core.tensor import Tensor, number_of, wrap
from ...ground import dtypes, errors
from ...ground.dtypes import called, need_int
from ...ground.listening import asking
from ...ground.runtime import warn
from ...kernels.columns import not_implemented
from ...ops import return_types as results
from ...ops.declare import composite
from ...tensor.out import check_dtype
from ..compare.rows import maximum, minimum
from . import extreme as ext
from . import rows as red
from .extreme import max_all, max_dim, min_all, min_dim, out_of_range
from .rows import mean as mean_all
from .rows import mean_dim, sum_dim
from .rows import sum as sum_all

UNSET: Any = type("Unset", (), {"__repr__": lambda self: "<no value>", "__slots__": ()})()
_new = tuple.__new__


# -- arguments ---------------------------------------------------------------------------------------------------------


def one_dim(dim: Any, ndim: int, function: str = "", position: int = 2) -> int:
    """One dimension, counted from the front; PyTorch's error where it is not there."""
    if type(dim) is not int:
        if dim is UNSET:
            raise TypeError(f'{function}() missing 1 required positional arguments: "dim"')
        dim = need_int(function, "dim", position, dim)
    if 0 <= dim < ndim:
        return dim
    if -ndim <= dim < 0:
        return dim + ndim
    if ndim == 0 and (dim == 0 or dim == -1):
        return 0
    raise out_of_range(dim, ndim)


def some_dims(dim: Any, ndim: int, function: str = "") -> Any:
    """Dimensions as a tuple counted from the front; None where all are meant."""
    if dim is None:
        return None
    if type(dim) is int:
        return (one_dim(dim, ndim),)
    if hasattr(dim, "__index__") and not isinstance(dim, bool):
        return (one_dim(dim.__index__(), ndim),)
    if not isinstance(dim, (tuple, list)):
        raise TypeError(f"{function}(): argument 'dim' (position 2) must be tuple of ints, not {called(dim)}")
    axes = tuple([one_dim(d, ndim, function) for d in dim])
    if len(set(axes)) < len(axes):
        twice = next(d for i, d in enumerate(axes) if d in axes[:i])
        raise RuntimeError(f"dim {twice} appears multiple times in the list of dims")
    return axes or None


def real_dims(dim: Any, input: Any, function: str) -> Any:
    """``some_dims`` of a tensor; what is no tensor is left for the row to refuse."""
    if dim is None or not isinstance(input, Tensor):
        return None
    return some_dims(dim, input._array.ndim, function)


def numpy_dtype(dtype: Any, function: str, out: Any = None, words: str = errors.OUT_DTYPE) -> Any:
    """The NumPy dtype of ``dtype=``, or of ``out=`` where that is not given; None without either."""
    if dtype is None:
        return dtypes.of(out._array.dtype).numpy if isinstance(out, Tensor) else None
    dtype = dtypes.demand(dtype, function)
    if out is not None:
        check_dtype(function, out, dtype, words)
    return dtype.numpy


def check_keepdim(keepdim: Any, function: str, position: int = 2) -> None:
    """Raise PyTorch's error unless ``keepdim`` is a bool."""
    dtypes.need_bool(function, "keepdim", position, keepdim)


def invalid(function: str, types: str, *signatures: str) -> TypeError:
    """PyTorch's error where no signature fits."""
    listed = "\n".join(f" * ({signature})" for signature in signatures)
    return TypeError(
        f"{function}() received an invalid combination of arguments - got ({types}), but expected one of:\n{listed}\n"
    )


def check_tensor(input: Any, function: str) -> None:
    """Raise PyTorch's error unless ``input`` is a tensor."""
    if not isinstance(input, Tensor):
        raise TypeError(f"{function}(): argument 'input' (position 1) must be Tensor, not {called(input)}")


_SUM = ("*, torch.dtype dtype = None", "tuple of ints dim, bool keepdim = False, *, torch.dtype dtype = None")
_PROD = ("*, torch.dtype dtype = None", "int dim, bool keepdim = False, *, torch.dtype dtype = None")


def _refuse_out(function: str, out: Any, dtype: Any, whole: str, along: str) -> None:
    """Raise PyTorch's error for ``out=`` of the form that reduces everything."""
    if out is not None:
        if dtype is not None:
            raise TypeError(f'{function}() missing 1 required positional arguments: "dim"')
        signatures = f"Tensor input, {whole}", f"Tensor input, {along}, Tensor out = None"
        raise invalid(function, f"Tensor, out={called(out)}", *signatures)


def _fits(dim: Any) -> bool:
    return dim is None or isinstance(dim, (tuple, list)) or (hasattr(dim, "__index__") and type(dim) is not bool)


# -- sums and means ----------------------------------------------------------------------------------------------------


@composite(name="sum", page="torch")
def sum(input: Any, dim: Any = UNSET, keepdim: Any = False, *, dtype: Any = None, out: Any = None) -> Any:
    """The sum of all elements, or the sums along ``dim``; integers are summed in int64."""
    if dim is UNSET:
        if keepdim is not False:
            raise invalid("sum", "keepdim=bool, ", *_SUM)
        if dtype is None and out is None:
            return sum_all(input)
        _refuse_out("sum", out, dtype, *_SUM)
        return call.call(sum_all.row, (input,), (numpy_dtype(dtype, "sum"),))
    if keepdim is not False and keepdim is not True:
        check_keepdim(keepdim, "sum")
    if type(dim) is int and isinstance(input, Tensor) and 0 <= dim < input._array.ndim:
        dim = (dim,)
    elif not _fits(dim):
        raise invalid("sum", called(dim), *_SUM)
    else:
        dim = real_dims(dim, input, "sum")
    if dtype is None and out is None:
        return sum_dim(input, dim, keepdim)
    return call.call(sum_dim.row, (input,), (dim, keepdim, numpy_dtype(dtype, "sum", out)), out)


_OUT_MEAN = "mean.dtype_out(): input types can't be cast to the desired output type {Found}"
_OUT_NANSUM = "nansum: provided dtype must match dtype of result. Got {Found} and {Wanted}."


@composite()
def nansum(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None, out: Any = None) -> Any:
    """The sum along ``dim`` of what is not NaN."""
    check_tensor(input, "nansum")
    if input._array.dtype.kind == "c":
        raise RuntimeError("nansum on CPU does not support complex inputs")
    if input._array.dtype.kind in "bui":
        return sum(input, dim, keepdim, dtype=dtype, out=out)
    dim = some_dims(dim, input._array.ndim, "nansum")
    kind = numpy_dtype(dtype, "nansum", out, _OUT_NANSUM)
    if kind is not None and input._array.size and (kind.kind == "c" or (dtype is None and kind.kind in "bui")):
        call.refuse_gradients(red.nansum_dim.row, (input,), out)
        raise not_implemented("nansum_cpu", np.empty(0, kind))
    return call.call(red.nansum_dim.row, (input,), (dim, keepdim, kind), out)


def _mean_kind(input: Any, dtype: Any, function: str = "mean", out: Any = None) -> Any:
    """The input of a mean in the type asked for."""
    if dtype is not None:
        dtype = dtypes.demand(dtype, function)
        if not (dtype.is_floating_point or dtype.is_complex):
            raise RuntimeError(
                f"{function}(): could not infer output dtype. Optional dtype must be either a floating point or "
                f"complex dtype. Got: {dtype.scalar_name}"
            )
        numpy_dtype(dtype, function, out)
        return input.to(dtype)
    return input


@composite(page="torch")
def mean(input: Any, dim: Any = UNSET, keepdim: Any = False, *, dtype: Any = None, out: Any = None) -> Any:
    """The mean of all elements, or the means along ``dim``."""
    if type(input) is not Tensor or dtype is not None or input._array.dtype.kind != "f":
        input = _mean_kind(input, dtype, "mean", out)
    if dim is UNSET:
        return mean_all(input) if out is None else _into_castable(mean_all, input, out, _OUT_MEAN)
    if keepdim is not False and keepdim is not True:
        check_keepdim(keepdim, "mean", 3)
    dim = (dim,) if type(dim) is int and 0 <= dim < input._array.ndim else real_dims(dim, input, "mean")
    if out is None:
        return mean_dim(input, dim, keepdim)
    if input._array.dtype.kind in "fcV" and out._array.dtype.kind not in "fcV":  # whose sums PyTorch would divide
        raise RuntimeError(f"result type Float can't be cast to the desired output type {out.dtype.scalar_name}")
    return mean_dim(input, dim, keepdim, out=out)


@composite()
def nanmean(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None, out: Any = None) -> Any:
    """The mean along ``dim`` of what is not NaN."""
    if input._array.dtype.kind not in "fcV":
        if out is not None:
            raise RuntimeError(
                "nanmean(): integral types and 'Bool' are not supported for nanmean, even for empty tensors."
            )
        raise RuntimeError(
            f"nanmean(): expected input to have floating point or complex dtype but got {input.dtype.scalar_name}"
        )
    _mean_kind(input, dtype, "nanmean")
    numbers = sum(input == input, dim, keepdim)
    return nansum(input, dim, keepdim, dtype=dtype, out=out).div(numbers, out=out)


@composite(name="prod")
def prod(input: Any, dim: Any = UNSET, keepdim: bool = False, *, dtype: Any = None, out: Any = None) -> Any:
    """The product of all elements, or the products along ``dim``."""
    if dim is UNSET:
        _refuse_out("prod", out, dtype, *_PROD)
    kind = None if dtype is None and out is None else numpy_dtype(dtype, "prod", out)
    if dim is UNSET:
        return red.prod_all(input, None) if kind is None else call.call(red.prod_all.row, (input,), (kind,))
    check_tensor(input, "prod")
    if isinstance(dim, (tuple, list)):
        raise invalid("prod", called(dim), *_PROD)
    if keepdim is not False and keepdim is not True:
        check_keepdim(keepdim, "prod", 3)
    dim = one_dim(dim, input._array.ndim, "prod")
    if kind is None:
        return red.prod_dim(input, dim, keepdim, None, out=out)
    return call.call(red.prod_dim.row, (input,), (dim, keepdim, kind), out)


# -- variances ---------------------------------------------------------------------------------------------------------


_SPREAD = (
    "Tensor input, tuple of ints dim, bool unbiased = True, bool keepdim = False",
    "Tensor input, tuple of ints dim = None, *, Number correction = None, bool keepdim = False",
    "Tensor input, bool unbiased = True",
)


def _spread_arguments(
    function: str, input: Any, dim: Any, unbiased: Any, keepdim: bool, correction: Any
) -> tuple[Any, Any, bool]:
    """The dims, the correction and keepdim of the overloads of ``var`` and ``std``."""
    check_tensor(input, function)
    if type(keepdim) is not bool:
        raise invalid(function, f"keepdim={called(keepdim)}", *_SPREAD)
    if isinstance(correction, Tensor) and (correction._array.ndim or correction.requires_grad):
        raise invalid(function, "correction=Tensor", *_SPREAD)
    if type(dim) is bool:
        if unbiased is not UNSET or correction is not UNSET:
            raise TypeError(f"{function}(): argument 'dim' (position 2) must be tuple of ints, not bool")
        unbiased, dim = dim, None
    if unbiased is not UNSET and type(unbiased) is not bool:
        raise TypeError(f"{function}(): argument 'unbiased' must be bool, not {called(unbiased)}")
    if unbiased is not UNSET and correction is UNSET:
        correction = int(unbiased)
    elif correction is UNSET:
        correction = None if dim is None else 1
    if input._array.dtype.kind in "bui":
        name = "std and var" if function in ("std", "var") else function
        raise RuntimeError(f"{name} only support floating point and complex dtypes")
    axes = some_dims(dim, input._array.ndim, function)
    sizes = input._array.shape
    if red.freedom(sizes if input._array.size else (0,) * len(sizes), axes, correction) <= 0:
        warn(
            f"{function}(): degrees of freedom is <= 0. Correction should be strictly less than the reduction factor "
            "(input numel divided by output numel). (Triggered internally at "
            "/__w/pytorch/pytorch/aten/src/ATen/native/ReduceOps.cpp:1861.)"
        )
    return axes, correction, keepdim


@composite(page="torch")
def var(
    input: Any, dim: Any = None, unbiased: bool = UNSET, keepdim: bool = False, *, correction: Any = UNSET,
    out: Any = None,
) -> Any:  # fmt: skip
    """The variance: squared deviations from the mean, summed and divided by ``n - correction``."""
    settings = _spread_arguments("var", input, dim, unbiased, keepdim, correction)
    return red.var_dim(input, *settings, out=out)


@composite()
def std(
    input: Any, dim: Any = None, unbiased: bool = UNSET, keepdim: bool = False, *, correction: Any = UNSET,
    out: Any = None,
) -> Any:  # fmt: skip
    """The standard deviation: the square root of ``var``."""
    settings = _spread_arguments("std", input, dim, unbiased, keepdim, correction)
    return red.std_dim(input, *settings, out=out)


@composite(method=False)
def var_mean(
    input: Any, dim: Any = None, unbiased: bool = UNSET, keepdim: bool = False, *, correction: Any = UNSET
) -> Any:
    """The variance and the mean."""
    return red.var_mean_dim(input, *_spread_arguments("var_mean", input, dim, unbiased, keepdim, correction))


@composite(method=False)
def std_mean(
    input: Any, dim: Any = None, unbiased: bool = UNSET, keepdim: bool = False, *, correction: Any = UNSET
) -> Any:
    """The standard deviation and the mean."""
    return red.std_mean_dim(input, *_spread_arguments("std_mean", input, dim, unbiased, keepdim, correction))


# -- extremes ----------------------------------------------------------------------------------------------------------


def _extreme(
    name: str, pair: Any, along: Any, elementwise: Any, input: Any, dim: Any, keepdim: bool, out: Any, other: Any
) -> Any:
    """What ``max`` and ``min`` give where there is more than a tensor: along a dimension, or of two tensors."""
    if type(dim) is int and isinstance(input, Tensor):
        if not 0 <= dim < input._array.ndim:
            dim = one_dim(dim, input._array.ndim)
        if out is None:
            return _new(pair, along(input, dim, keepdim))
        return _new(pair, along(input, dim, keepdim, out=out))
    if dim is UNSET and (other is None or keepdim is not False):
        forms = "Tensor input, *, Tensor out = None", "Tensor input, int dim, bool keepdim = False"
        raise invalid(name, f"keepdim={called(keepdim)}", *forms)
    if isinstance(dim, Tensor) and keepdim:  # then it is a number
        dim = number_of(dim)
    if other is not None or isinstance(dim, Tensor):
        return elementwise(input, dim if other is None else other, out=out)
    check_tensor(input, name)
    return _new(pair, along(input, one_dim(dim, input._array.ndim, name), keepdim, out=out))


_OUT_EXTREME = errors.ASSERTED.format("canCast( typeMetaToScalarType(self.dtype()), typeMetaToScalarType(out.dtype()))")


def _into_castable(row: Any, input: Any, out: Any, words: str = _OUT_EXTREME) -> Any:
    """What a row makes of all elements put into ``out=``, whose dtype PyTorch looks at first."""
    call.refuse_gradients(row.row, (input,), out)
    check_dtype(row.row.name, out, input.dtype, words, True)
    return row(input, out=out)


@composite(name="max", page="torch")
def max(input: Any, dim: Any = UNSET, keepdim: bool = False, *, out: Any = None, other: Any = None) -> Any:
    """The largest element; or along ``dim`` the largest and their places; or the larger of two tensors, elementwise."""
    if dim is UNSET and other is None and keepdim is False:
        return max_all(input) if out is None else _into_castable(max_all, input, out)
    return _extreme("max", results.max, max_dim, maximum, input, dim, keepdim, out, other)


@composite(name="min")
def min(input: Any, dim: Any = UNSET, keepdim: bool = False, *, out: Any = None, other: Any = None) -> Any:
    """The smallest element; or along ``dim`` the smallest and their places; or the smaller of two tensors."""
    if dim is UNSET and other is None and keepdim is False:
        return min_all(input) if out is None else _into_castable(min_all, input, out)
    return _extreme("min", results.min, min_dim, minimum, input, dim, keepdim, out, other)


def _dims_with_elements(dim: Any, input: Any, function: str) -> Any:
    """``real_dims``; PyTorch's error, which names them as they were given, where one is empty."""
    if isinstance(input, Tensor) and not input._array.size and dim is not None:
        for each in dim if isinstance(dim, (tuple, list)) else (dim,):
            one_dim(each, input._array.ndim, function)
            ext.refuse_empty(function, input._array, (each,))
    return real_dims(dim, input, function)


@composite()
def amax(input: Any, dim: Any = (), keepdim: bool = False, *, out: Any = None) -> Any:
    """The largest elements along ``dim``; equal ones share the gradient."""
    if keepdim is not False and keepdim is not True:
        check_keepdim(keepdim, "amax", 3)
    return ext.amax_dim(input, _dims_with_elements(dim, input, "amax"), keepdim, out=out)


@composite()
def amin(input: Any, dim: Any = (), keepdim: bool = False, *, out: Any = None) -> Any:
    """The smallest elements along ``dim``; equal ones share the gradient."""
    if keepdim is not False and keepdim is not True:
        check_keepdim(keepdim, "amin", 3)
    return ext.amin_dim(input, _dims_with_elements(dim, input, "amin"), keepdim, out=out)


@composite()
def aminmax(input: Any, *, dim: Any = None, keepdim: bool = False, out: Any = None) -> Any:
    """The smallest and the largest elements, along ``dim`` or of all."""
    check_tensor(input, "aminmax")
    axis = None if dim is None else one_dim(dim, input._array.ndim, "aminmax")
    return _new(results.aminmax, ext.aminmax_dim(input, axis, keepdim, out=out))


def _need_dim(function: str, out: Any) -> None:
    if out is not None:
        raise TypeError(f'{function}() missing 1 required positional arguments: "dim"')


@composite()
def median(input: Any, dim: Any = UNSET, keepdim: bool = False, *, out: Any = None) -> Any:
    """The lower median of all elements, or along ``dim`` the medians and their places."""
    check_tensor(input, "median")
    if input._array.dtype.kind in "bc":
        kernel = "median_cpu" if dim is UNSET else "median_out"
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{input.dtype.scalar_name}'")
    if dim is UNSET:
        _need_dim("median", out)
        return ext.median_all(input)
    pair = ext.median_dim(input, one_dim(dim, input._array.ndim, "median"), keepdim, out=out)
    return _new(results.median, pair)


@composite()
def nanmedian(input: Any, dim: Any = UNSET, keepdim: bool = False, *, out: Any = None) -> Any:
    """The lower median of what is not NaN, or along ``dim`` the medians and their places."""
    if dim is UNSET:
        _need_dim("nanmedian", out)
        return ext.nanmedian_all(input)
    check_tensor(input, "nanmedian")
    pair = ext.nanmedian_dim(input, one_dim(dim, input._array.ndim, "nanmedian"), keepdim, out=out)
    return _new(results.nanmedian, pair)


@composite()
def mode(input: Any, dim: int = -1, keepdim: bool = False, *, out: Any = None) -> Any:
    """The most frequent elements along ``dim``, and where they stand."""
    check_tensor(input, "mode")
    return _new(results.mode, ext.mode_dim(input, one_dim(dim, input._array.ndim, "mode"), keepdim, out=out))


@composite()
def kthvalue(input: Any, k: int, dim: int = -1, keepdim: bool = False, *, out: Any = None) -> Any:
    """The ``k``-th smallest elements along ``dim``, and where they stand."""
    check_tensor(input, "kthvalue")
    k = need_int("kthvalue", "k", 2, k)
    dim = one_dim(dim, input._array.ndim, "kthvalue", 3)
    size = input._array.shape[dim] if input._array.ndim else 1
    ext.refuse_empty("kthvalue", input._array, dim)
    if not 1 <= k <= size:
        raise RuntimeError(f"kthvalue(): selected number k out of range for dimension {dim}")
    return _new(results.kthvalue, ext.kthvalue_dim(input, k, dim, keepdim, out=out))


# -- truth and counts --------------------------------------------------------------------------------------------------


def _truth(row: Any, name: str, input: Any, dim: Any, keepdim: bool, out: Any) -> Any:
    check_tensor(input, name)
    no_dim = isinstance(dim, (tuple, list)) and not dim  # each element by itself
    dim = () if no_dim else some_dims(dim, input._array.ndim, name)
    if isinstance(out, Tensor) and out._array.dtype.char in "?B":  # into either
        return call.call(row.row, (input,), (dim, keepdim, out._array.dtype), out)
    return row(input, dim, keepdim, out=out)


@composite(name="all")
def all(input: Any, dim: Any = None, keepdim: bool = False, *, out: Any = None) -> Any:
    """Whether all elements are nonzero, of the tensor or along ``dim``."""
    if keepdim is not False and keepdim is not True:
        check_keepdim(keepdim, "all", 3)
    return _truth(ext.all_dim, "all", input, dim, keepdim, out)


@composite(name="any")
def any(input: Any, dim: Any = None, keepdim: bool = False, *, out: Any = None) -> Any:
    """Whether any element is nonzero, of the tensor or along ``dim``."""
    if keepdim is not False and keepdim is not True:
        check_keepdim(keepdim, "any", 3)
    return _truth(ext.any_dim, "any", input, dim, keepdim, out)


@composite()
def count_nonzero(input: Any, dim: Any = None) -> Any:
    """How many elements are nonzero, in the tensor or along ``dim``."""
    return ext.count_nonzero_dim(input, real_dims(dim, input, "count_nonzero"))


@composite(page="torch")
@asking
def hash_tensor(input: Tensor, dim: Any = (), *, keepdim: bool = False, mode: int = 0) -> Tensor:
    """The bits of all elements, as 64-bit numbers, combined by exclusive or: of all, or along ``dim``."""
    if mode != 0:
        raise RuntimeError(f"Unknown hash_tensor mode: {mode}")
    data = np.asarray(input._array)
    dims = (dim,) if isinstance(dim, int) else tuple(dim or ())
    if not dims and not data.size:
        raise RuntimeError(
            "hash_tensor: Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim "
            "with the 'dim' argument."
        )
    axes = tuple(one_dim(d, data.ndim) for d in dims) or None
    for d, axis in zip(dims, axes or (), strict=True):
        if not data.size and not data.shape[axis]:
            raise IndexError(f"hash_tensor: Expected reduction dim {d} to have non-zero size.")
    if data.dtype.kind == "c":
        raise NotImplementedError(f"\"xor_sum_cpu\" not implemented for '{input.dtype.scalar_name}'")
    bits = data.astype(np.float64 if data.dtype.kind in "fV" else np.int64).view(np.uint64)
    combined: Any = np.bitwise_xor.reduce(bits, axis=axes if data.ndim else None, keepdims=keepdim)  # type: ignore[call-overload]
    return wrap(np.asarray(combined))
