"""Random arrays, number for number PyTorch's on CPU: knows generators and arrays, no tensors.

Every function draws from a Generator in the order PyTorch draws and leaves it where PyTorch leaves it, so that the same
seed gives the same numbers from then on too. Whole numbers, uniform numbers and decisions are PyTorch's bit for bit;
where a float64 logarithm, tangent or exponential is involved the last bit or two may differ, as NumPy's functions and
the C library's do. (Measured with PyTorch 2.13 on processors with AVX2 or AVX512; its build for older ones rounds
``normal`` otherwise.) Results are fresh, row-major arrays of the shape and NumPy dtype asked for. Bad arguments raise
what PyTorch raises, before anything is drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, log1p, pi, prod
from typing import Any

import numpy as np

from glassgrad.ground.generator import Generator
from glassgrad.kernels.normal import log_normal, normal, normal_of
from glassgrad.kernels.uniform import (
    BARE_UNSIGNED,
    C_NAMES,
    FLOATS,
    MASK53,
    PIECE,
    SCALAR_NAMES,
    number,
    rounded,
    scaled,
    serving,
    uniform,
    unit32,
    unit64,
)
from glassgrad.kernels.whole import randint, random_, randperm

__all__ = [
    "bernoulli", "cauchy", "exponential", "geometric", "in_memory_order", "log_normal", "multinomial", "normal",
    "normal_of", "randint", "random_", "randperm", "uniform",
]  # fmt: skip

_CONTINUOUS = (
    "{0} distribution is a continuous probability distribution. dtype must be a floating point but you specified {1}"
)


def in_memory_order(array: np.ndarray) -> np.ndarray:
    """``array`` with its axes sorted by stride: writing draws into this view row by row is how PyTorch fills memory."""
    return array.transpose(sorted(range(array.ndim), key=lambda axis: -array.strides[axis]))


# --- continuous -------------------------------------------------------------------------------------------------------


def exponential(gen: Generator, shape: Sequence[int], dtype: Any = np.float32, lambd: float = 1.0) -> np.ndarray:
    """Waiting times of rate ``lambd``: ``-log1p(-u) / lambd``."""
    if not lambd > 0:
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={number(lambd)}")
    dtype = np.dtype(dtype)
    if dtype not in FLOATS:
        raise RuntimeError(_CONTINUOUS.format("Exponential", SCALAR_NAMES[dtype]))
    values = unit64(gen, prod(shape))
    np.log1p(np.negative(values, out=values), out=values)
    with np.errstate(over="ignore", divide="ignore"):
        values *= -1.0 / np.float64(lambd)
    return rounded(values, dtype).reshape(shape)


def cauchy(
    gen: Generator, shape: Sequence[int], dtype: Any = np.float32, median: float = 0.0, sigma: float = 1.0
) -> np.ndarray:
    """Numbers of the Cauchy distribution: ``median + sigma * tan(pi * (u - 1/2))``."""
    if not sigma > 0.0:
        raise RuntimeError(f"cauchy_ expects sigma > 0.0, but found sigma={number(sigma)}")
    dtype = np.dtype(dtype)
    if dtype not in FLOATS:
        name = "c10::complex<float>" if dtype.itemsize == 8 else "c10::complex<double>"
        raise RuntimeError(_CONTINUOUS.format("Cauchy", name if dtype.kind == "c" else C_NAMES[dtype.str[1:]]))
    values = unit64(gen, prod(shape))
    np.clip(values, 2.0**-52, 1.0 - 2.0**-52, out=values)
    values -= 0.5
    values *= pi
    np.tan(values, out=values)
    return rounded(scaled(values, sigma, median, exact=dtype.itemsize == 8), dtype).reshape(shape)


# --- decisions and counts ---------------------------------------------------------------------------------------------


def bernoulli(gen: Generator, p: float | np.ndarray, shape: Sequence[int], dtype: Any = np.float32) -> np.ndarray:
    """Ones with probability ``p`` and zeros otherwise; an array ``p`` is expanded to ``shape``.

    A number or a float64 array is compared with 53-bit draws, an array of a narrower type with 24-bit ones.
    """
    dtype = np.dtype(dtype)
    if isinstance(p, np.ndarray):
        if dtype.kind == "c" or dtype in BARE_UNSIGNED:
            raise NotImplementedError(f"\"bernoulli_tensor_cpu_self_\" not implemented for '{SCALAR_NAMES[dtype]}'")
        if p.dtype not in FLOATS:
            raise NotImplementedError(f"\"bernoulli_tensor_cpu_p_\" not implemented for '{SCALAR_NAMES[p.dtype]}'")
        chances = (p if p.shape == tuple(shape) else np.broadcast_to(p, tuple(shape))).reshape(-1)
        if not np.logical_and.reduce((chances >= 0) & (chances <= 1)):
            raise RuntimeError(
                "Expected p_in >= 0 && p_in <= 1 to be true, but got false.  (Could this error message be improved?  "
                "If so, please report an enhancement request to PyTorch.)"
            )
        if p.dtype.itemsize == 8:
            yes = unit64(gen, chances.size) < chances
        else:
            yes = unit32(gen, chances.size) < chances.astype(np.float32, copy=False)
    else:
        if not 0 <= p <= 1:
            raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={number(p)}")
        if dtype.kind == "c" or dtype in BARE_UNSIGNED:
            raise NotImplementedError(f"\"bernoulli_scalar_cpu_\" not implemented for '{SCALAR_NAMES[dtype]}'")
        yes = _below(gen, prod(shape), p)
    return yes.astype(dtype, copy=False).reshape(shape)


def geometric(gen: Generator, shape: Sequence[int], dtype: Any = np.float32, p: float = 0.5) -> np.ndarray:
    """The number of trials up to the first success: ``ceil(log(u) / log1p(-p))``, wrapped in narrow whole numbers."""
    if not 0 < p < 1:
        raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={number(p)}")
    dtype = np.dtype(dtype)
    if dtype.kind in "bc" or dtype in BARE_UNSIGNED:
        raise NotImplementedError(f"\"geometric_cpu\" not implemented for '{SCALAR_NAMES[dtype]}'")
    values = unit64(gen, prod(shape))
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        np.log(values, out=values)
        values /= log1p(-p)
        np.ceil(values, out=values)
        if dtype.kind in "iu" and dtype.itemsize < 8:  # by way of 32 bits, as C++ casts
            values = values.astype(np.int32)
    return rounded(values, dtype).reshape(shape)


# --- choices among several -------------------------------------------------------------------------------------------


def multinomial(gen: Generator, probs: np.ndarray, num_samples: int, replacement: bool = False) -> np.ndarray:
    """``num_samples`` categories for each row of ``probs``, by its unnormalised chances, as int64.

    One sample, or several without replacement: the largest quotients of chance and exponential draw. Equal quotients,
    such as those of categories without a chance, come in order of their place; PyTorch's own order of ties is that of
    an unstable selection and is not followed. With replacement: by bisection of the running sum.
    """
    if probs.ndim not in (1, 2):
        raise RuntimeError("prob_dist must be 1 or 2 dim")
    if probs.dtype not in FLOATS:
        raise RuntimeError(
            f"multinomial only supports floating-point dtypes for input, got: {SCALAR_NAMES[probs.dtype]}"
        )
    if num_samples <= 0:
        raise RuntimeError("cannot sample n_sample <= 0 samples")
    if not replacement and num_samples > probs.shape[-1]:
        raise RuntimeError("cannot sample n_sample > prob_dist.size(-1) samples without replacement")
    rows = np.ascontiguousarray(np.atleast_2d(probs))
    if not len(rows):
        return np.empty((0, num_samples), np.int64)
    if replacement and num_samples > 1:
        chosen = _by_bisection(gen, rows, num_samples)
    else:
        chosen = _by_race(gen, rows, num_samples)
    return chosen.reshape(*probs.shape[:-1], num_samples)


# --- how it is done ---------------------------------------------------------------------------------------------------


def _below(gen: Generator, n: int, p: float) -> np.ndarray:
    """Whether each of ``n`` 53-bit draws from [0, 1) is below ``p``."""
    yes = np.empty(n, np.bool_)
    bound = ceil(p * 2.0**53)
    with gen.lock:
        if (found := serving(gen, n)) is not None:
            found[0].below(found[1], bound, yes)
            return yes
        for start in range(0, n, PIECE):
            piece = yes[start : start + PIECE]
            draws = gen.random64(len(piece))
            draws &= MASK53
            np.less(draws, np.uint64(bound), out=piece)
    return yes


def _by_race(gen: Generator, rows: np.ndarray, num_samples: int) -> np.ndarray:
    if not rows.size:
        raise RuntimeError(
            "aminmax(): cannot compute aminmax over an empty dimension as the operation has no identity."
        )
    if not (rows.max() < np.inf and rows.min() >= 0):
        raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
    if not np.all(rows.any(axis=1)):
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        quotients = rows / exponential(gen, rows.shape, rows.dtype)
    if num_samples == 1:
        return quotients.argmax(axis=1)
    wide = quotients.astype(np.float64) if rows.dtype.itemsize < 4 else quotients
    return np.argsort(-wide, axis=1, kind="stable")[:, :num_samples]


def _by_bisection(gen: Generator, rows: np.ndarray, num_samples: int) -> np.ndarray:
    chances = rows.astype(np.float32) if rows.dtype.itemsize < 4 else rows
    if not chances.size:
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")
    sums = np.cumsum(chances, axis=1)
    for row, total in zip(chances, sums[:, -1], strict=True):
        strange = row[~((row >= 0) & (row < np.inf))]  # the first one decides what is said
        if strange.size:
            what = "probability entry = infinity or NaN" if strange[0] >= 0 else "probability entry < 0"
            raise RuntimeError(f"invalid multinomial distribution (encountering {what})")
        if not total > 0:
            raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")
    sums /= sums[:, -1:].copy()
    sums[:, -1] = 1
    draws = unit64(gen, len(rows) * num_samples).reshape(len(rows), num_samples)
    return np.stack([np.searchsorted(edges, row) for edges, row in zip(sums, draws, strict=True)])
