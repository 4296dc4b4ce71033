"""Softmax and its kin with ``torch.nn.functional``'s signatures."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.tensor import Tensor, wrap
from ...ground.generator import default_generator
from ...ground.listening import audible
from ...ground.runtime import warn
from ..arithmetic.rows import neg
from ..random.kernels import exponential
from ..scan import functions as scan


def _implicit_dim(name: str, ndim: int) -> int:
    warn(f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an argument.")
    return 0 if ndim in (0, 1, 3) else 1


@audible
def softmax(input: Any, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """Exponentials along ``dim``, scaled to sum to one.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.softmax.html
    """
    if dim is None:
        dim = _implicit_dim("softmax", input.dim())
    return scan.softmax(input, dim, dtype)


@audible
def softmin(input: Any, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """``softmax`` of ``-input``."""
    if dim is None:
        dim = _implicit_dim("softmin", input.dim())
    return scan.softmax(neg(input), dim, dtype)


@audible
def log_softmax(input: Any, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """The logarithm of ``softmax``, without its rounding."""
    if dim is None:
        dim = _implicit_dim("log_softmax", input.dim())
    return scan.log_softmax(input, dim, dtype)


@audible
def gumbel_softmax(logits: Any, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1) -> Tensor:
    """A random choice of one of each line's classes, softened by ``tau``; ``hard`` makes it a choice going forward."""
    if eps != 1e-10:
        warn("`eps` parameter is deprecated and has no effect.")
    noise = -np.log(exponential(default_generator, logits._array.shape, logits._array.dtype))
    soft = scan.softmax((logits + wrap(noise)) / tau, dim)
    if not hard:
        return soft
    chosen = np.zeros_like(soft._array)
    np.put_along_axis(chosen, np.expand_dims(soft._array.argmax(dim), dim), 1, dim)
    return wrap(chosen) - soft.detach() + soft
