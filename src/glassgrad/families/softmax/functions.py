"""Softmax and its kin: the package's functions, and ``torch.nn.functional``'s, which may be called without ``dim``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core import call
from ...core.tensor import Tensor, wrap
from ...ground import modes
from ...ground.dtypes import get_default_dtype
from ...ground.generator import default_generator
from ...ground.listening import asking, audible
from ...ground.meta import blank
from ...ground.runtime import warn
from ...ops.declare import composite
from ...tensor import lifted
from ..arithmetic.rows import neg
from ..random.kernels import exponential
from ..reduce.functions import UNSET, check_tensor, numpy_dtype, one_dim, some_dims
from . import rows


def _soft(row: Any, name: str, input: Any, dim: Any, dtype: Any, out: Any) -> Any:
    if type(dim) is int and dtype is None and isinstance(input, Tensor):
        ndim = input._array.ndim
        if -ndim <= dim < ndim:
            dim = dim + ndim if dim < 0 else dim
            return row(input, dim) if out is None else row(input, dim, out=out)
    else:
        check_tensor(input, name)
        if dtype is not None:
            numpy_dtype(dtype, name)
            input = input.to(dtype)
    return row(input, one_dim(dim, input._array.ndim, name, 1), out=out)


@composite(name="softmax", page="torch.nn.functional")
def softmax_along(input: Any, dim: Any = UNSET, dtype: Any = None, *, out: Any = None) -> Any:
    """Exponentials along ``dim``, scaled to sum to one."""
    return _soft(rows.softmax, "softmax", input, dim, dtype, out)


@composite(name="log_softmax")
def log_softmax_along(input: Any, dim: Any = UNSET, dtype: Any = None, *, out: Any = None) -> Any:
    """The logarithm of ``softmax``, without its rounding."""
    return _soft(rows.log_softmax, "log_softmax", input, dim, dtype, out)


@composite()
def logsumexp(input: Any, dim: int | Sequence[int] = UNSET, keepdim: bool = False, *, out: Any = None) -> Any:
    """The logarithms of the sums of exponentials along ``dim``; integers become floats."""
    check_tensor(input, "logsumexp")
    if isinstance(out, Tensor) and not (out.dtype.is_floating_point or out.dtype.is_complex):
        call.refuse_gradients(rows.logsumexp_dim.row, (input,), out)
        name = out.dtype.scalar_name
        raise RuntimeError(f"logsumexp(): Expected floating point type for result tensor, but got: {name}")
    if input._array.dtype.kind in "bui":
        input = input.to(get_default_dtype())
    return rows.logsumexp_dim(input, some_dims(dim, input._array.ndim, "logsumexp"), keepdim, out=out)


# -- torch.nn.functional's ---------------------------------------------------------------------------------------------


def _implicit_dim(name: str, ndim: int) -> int:
    warn(f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an argument.")
    return 0 if ndim in (0, 1, 3) else 1


@audible
def softmax(input: Any, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """Exponentials along ``dim``, scaled to sum to one."""
    if dim is None:
        dim = _implicit_dim("softmax", input.dim())
    return softmax_along(input, dim, dtype)


@audible
def softmin(input: Any, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """``softmax`` of ``-input``."""
    if dim is None:
        dim = _implicit_dim("softmin", input.dim())
    return softmax_along(neg(input), dim, dtype)


@audible
def log_softmax(input: Any, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """The logarithm of ``softmax``, without its rounding."""
    if dim is None:
        dim = _implicit_dim("log_softmax", input.dim())
    return log_softmax_along(input, dim, dtype)


@audible
@asking
def gumbel_softmax(logits: Any, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1) -> Tensor:
    """A random choice of one of each line's classes, softened by ``tau``; ``hard`` makes it a choice going forward."""
    if eps != 1e-10:
        warn("`eps` parameter is deprecated and has no effect.")
    kind = logits._array.dtype

    def drawn(sizes: tuple[int, ...]) -> Tensor:
        if kind.metadata is not None:
            return wrap(blank(sizes, kind))
        noise = -np.log(exponential(default_generator, sizes, kind))
        return wrap(noise if kind.kind in "fcV" else noise.astype(get_default_dtype().numpy))  # of whole numbers: none

    sizes = logits._array.shape
    noise = lifted.drawn(drawn, sizes) if modes.transforming else drawn(sizes)
    soft = softmax_along((logits + noise) / tau, dim)
    if not hard:
        return soft
    return rows.hardened(soft, dim % max(soft._array.ndim, 1)) - soft.detach() + soft  # type: ignore[attr-defined, no-any-return]


@composite(method=False)
def _softmax_backward_data(grad_output: Tensor, output: Tensor, dim: int, input_dtype: Any) -> Tensor:
    """The gradient of ``softmax`` by its result, in a dtype."""
    return rows.softmax_backward(grad_output, output, dim).to(input_dtype)


@composite(method=False)
def _log_softmax_backward_data(grad_output: Tensor, output: Tensor, dim: int, input_dtype: Any) -> Tensor:
    """The gradient of ``log_softmax`` by its result, in a dtype."""
    return rows.log_softmax_backward(grad_output, output, dim).to(input_dtype)
