"""Random arrays, number for number PyTorch's on CPU: knows generators and arrays, no tensors.

Every function draws from a Generator in the order PyTorch draws and leaves it where PyTorch leaves it, so that the same
seed gives the same numbers from then on too. Whole numbers, uniform numbers and decisions are PyTorch's bit for bit;
where a float64 logarithm, tangent or exponential is involved the last bit or two may differ, as NumPy's functions and
the C library's do. Results are fresh, row-major arrays of the shape and NumPy dtype asked for. Bad arguments raise what
PyTorch raises, before anything is drawn.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from math import log1p, pi, prod
from typing import Any

import numpy as np

from glassgrad.ground.generator import Generator
from glassgrad.kernels.normal import log_normal, normal, normal_of
from glassgrad.kernels.uniform import FLOATS, SCALAR_NAMES, number, rounded, scaled, uniform, unit32, unit64

__all__ = [
    "bernoulli", "cauchy", "exponential", "geometric", "in_memory_order", "log_normal", "multinomial", "normal",
    "normal_of", "randint", "random_", "randperm", "uniform",
]  # fmt: skip

_WIDE_RANGE = 2**28  # from here on whole numbers take 64-bit draws
_C_NAMES = {
    "b1": "bool", "u1": "unsigned char", "i1": "signed char", "i2": "short", "i4": "int", "i8": "long",
    "u2": "short unsigned int", "u4": "unsigned int", "u8": "long unsigned int",
}  # fmt: skip
_CONTINUOUS = "{0} distribution is a continuous probability distribution. dtype must be a floating point but you specified {1}"


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
        raise RuntimeError(_CONTINUOUS.format("Cauchy", name if dtype.kind == "c" else _C_NAMES[dtype.str[1:]]))
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
        if p.dtype not in FLOATS:
            raise NotImplementedError(f"\"bernoulli_tensor_cpu_p_\" not implemented for '{SCALAR_NAMES[p.dtype]}'")
        if dtype.kind == "c" or dtype.str[1:] in ("u2", "u4", "u8"):
            raise NotImplementedError(f"\"bernoulli_tensor_cpu_self_\" not implemented for '{SCALAR_NAMES[dtype]}'")
        chances = np.broadcast_to(p, tuple(shape)).reshape(-1)
        if not np.all((chances >= 0) & (chances <= 1)):
            raise RuntimeError(
                "Expected p_in >= 0 && p_in <= 1 to be true, but got false.  (Could this error message be improved?  "
                "If so, please report an enhancement request to PyTorch.)"
            )
        if p.dtype.itemsize == 8:
            yes = unit64(gen, chances.size) < chances
        else:
            yes = unit32(gen, chances.size) < chances.astype(np.float32)
    else:
        if not 0 <= p <= 1:
            raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={number(p)}")
        if dtype.kind == "c" or dtype.str[1:] in ("u2", "u4", "u8"):
            raise NotImplementedError(f"\"bernoulli_scalar_cpu_\" not implemented for '{SCALAR_NAMES[dtype]}'")
        yes = unit64(gen, prod(shape)) < p
    return yes.astype(dtype, copy=False).reshape(shape)


def geometric(gen: Generator, shape: Sequence[int], dtype: Any = np.float32, p: float = 0.5) -> np.ndarray:
    """The number of trials up to the first success: ``ceil(log(u) / log1p(-p))``, wrapped in narrow whole numbers."""
    if not 0 < p < 1:
        raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={number(p)}")
    dtype = np.dtype(dtype)
    if dtype.kind in "bc" or dtype.str[1:] in ("u2", "u4", "u8"):
        raise NotImplementedError(f"\"geometric_cpu\" not implemented for '{SCALAR_NAMES[dtype]}'")
    values = unit64(gen, prod(shape))
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        np.log(values, out=values)
        values /= log1p(-p)
        np.ceil(values, out=values)
        if dtype.kind in "iu" and dtype.itemsize < 8:  # by way of 32 bits, as C++ casts
            values = values.astype(np.int32)
    return rounded(values, dtype).reshape(shape)


# --- whole numbers ----------------------------------------------------------------------------------------------------


def randint(gen: Generator, shape: Sequence[int], dtype: Any = np.int64, low: int = 0, high: int = 2) -> np.ndarray:
    """Whole numbers from ``low`` to ``high - 1``: the draw's remainder, so very wide ranges are not quite even.

    RuntimeError for an empty range or one that ``dtype`` does not hold, ValueError beyond 64 bits; a warning if a
    floating type does not hold every number of the range.
    """
    dtype = np.dtype(dtype)
    if not (-(2**63) <= low < 2**63 and -(2**63) <= high < 2**63):
        raise ValueError("Overflow when unpacking long long")
    _check_order("", low, high)
    facts = FLOATS.get(dtype)
    if facts is not None:
        low, high = _first_exact(low, dtype, facts.digits), _last_exact(high, dtype, facts.digits)
        _check_order(" casted to dtype", low, high)
    _check_range(dtype, low, high - 1)
    return _whole(gen, prod(shape), high - low, low, dtype).reshape(shape)


def random_(
    gen: Generator, shape: Sequence[int], dtype: Any = np.float32, low: int | None = None, high: int | None = None
) -> np.ndarray:
    """Whole numbers over all that ``dtype`` holds: from ``low`` up to its largest, or without ``low`` from 0.

    Floating types count as far as they hold every number. With ``high`` too this is ``randint``.
    """
    dtype = np.dtype(dtype)
    if high is not None:
        return randint(gen, shape, dtype, 0 if low is None else low, high)
    facts = FLOATS.get(dtype)
    if low is None:
        if dtype.kind == "c" or dtype.str[1:] in ("u2", "u4", "u8"):
            raise NotImplementedError(f"\"random_kernel_cpu\" not implemented for '{SCALAR_NAMES[dtype]}'")
        span = 2 if dtype.kind == "b" else 2**facts.digits + 1 if facts else int(np.iinfo(dtype).max) + 1
        draws = gen.random64(prod(shape)) if dtype.itemsize == 8 else gen.random32(prod(shape))
        return _reduced(draws, span, 0, dtype).reshape(shape)
    if not -(2**63) <= low < 2**63:
        raise ValueError("Overflow when unpacking long long")
    if dtype.kind == "c":
        raise RuntimeError("random_from_to_impl handles only integral, floating-point and boolean types")
    if facts is not None:
        last = 2**facts.digits
        low = _first_exact(low, dtype, facts.digits)
        if low > last and abs(low) <= facts.largest:
            raise RuntimeError(
                "random_ expects 'from' casted to dtype to be less than or equal to 'to_inc' casted to dtype, but got "
                f"from={low} > to_inc={last}"
            )
    else:
        last = 1 if dtype.kind == "b" else int(np.iinfo(dtype).max)
        last = -1 if last > 2**63 else last  # uint64: PyTorch's count is signed, and refuses
    _check_range(dtype, low, last)
    return _whole(gen, prod(shape), last - low + 1, low, dtype).reshape(shape)


def randperm(gen: Generator, n: int, dtype: Any = np.int64) -> np.ndarray:
    """The numbers 0 to ``n - 1`` in random order: each place in turn is swapped with itself or a later one.

    RuntimeError for a negative ``n`` or one whose numbers ``dtype`` does not hold.
    """
    dtype = np.dtype(dtype)
    if n < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {n}: [{n}]")
    _check_permutation(dtype, n)
    if n < 2:
        return np.zeros(n, dtype)
    partner = np.arange(n - 1)
    partner += gen.random32(n - 1) % np.arange(n, 1, -1, dtype=np.uint32)
    if n < 256:
        order = list(range(n))
        for place, other in enumerate(partner.tolist()):
            order[place], order[other] = order[other], order[place]
        return np.array(order, np.int64).astype(dtype)
    return _swapped(partner).astype(dtype, copy=False)


def multinomial(gen: Generator, probs: np.ndarray, num_samples: int, replacement: bool = False) -> np.ndarray:
    """``num_samples`` categories for each row of ``probs``, by its unnormalised chances, as int64.

    One sample, or several without replacement: the largest quotients of chance and exponential draw. Equal quotients,
    such as those of categories without a chance, come in order of their place; PyTorch's own order of ties is that of
    an unstable selection and is not followed. With replacement: by bisection of the running sum.
    """
    facts = FLOATS.get(probs.dtype)
    if facts is None:
        raise RuntimeError(
            f"multinomial only supports floating-point dtypes for input, got: {SCALAR_NAMES[probs.dtype]}"
        )
    if probs.ndim not in (1, 2):
        raise RuntimeError("prob_dist must be 1 or 2 dim")
    if num_samples <= 0:
        raise RuntimeError("cannot sample n_sample <= 0 samples")
    if not replacement and num_samples > probs.shape[-1]:
        raise RuntimeError("cannot sample n_sample > prob_dist.size(-1) samples without replacement")
    rows = np.ascontiguousarray(probs).reshape(-1, probs.shape[-1])
    if rows.size == 0:
        return np.empty((*probs.shape[:-1], num_samples), np.int64)
    if replacement and num_samples > 1:
        chosen = _by_bisection(gen, rows, num_samples)
    else:
        chosen = _by_race(gen, rows, num_samples)
    return chosen.reshape(*probs.shape[:-1], num_samples)


# --- how it is done ---------------------------------------------------------------------------------------------------


def _whole(gen: Generator, n: int, span: int, low: int, dtype: np.dtype[Any]) -> np.ndarray:
    draws = gen.random64(n) if span >= _WIDE_RANGE else gen.random32(n)
    return _reduced(draws, span, low, dtype)


def _reduced(draws: np.ndarray, span: int, low: int, dtype: np.dtype[Any]) -> np.ndarray:
    """The remainders of ``draws`` by ``span``, counted from ``low``, as ``dtype``; uses up ``draws``."""
    if not span & (span - 1):
        if span < 2 ** (8 * draws.itemsize):
            draws &= draws.dtype.type(span - 1)
    elif draws.size < 64:
        draws %= draws.dtype.type(span)
    else:  # NumPy divides by a constant much faster than it takes a remainder
        whole = draws // draws.dtype.type(span)
        whole *= draws.dtype.type(span)
        draws -= whole
    values = draws.view(np.int64) if draws.itemsize == 8 else draws.astype(np.int64)
    if low:
        values += low  # wraps as in C++
    if dtype in FLOATS and dtype.itemsize < 4:
        return values.astype(np.float32).astype(dtype)
    return values.astype(dtype, copy=False)


def _swapped(partner: np.ndarray) -> np.ndarray:
    """What swapping place t with place ``partner[t]``, for t from 0 on, makes of 0, 1, 2...

    Without a loop over the swaps: step t takes the number that the last earlier step naming the same place left there,
    and what a step leaves is what an earlier step left at its own place, and so on back to a number never moved.
    """
    n = len(partner) + 1
    steps = np.arange(n - 1)
    origin = np.arange(n)  # of what stands at place t when step t comes
    moving = partner != steps
    origin[partner[moving]] = steps[moving]  # of several steps the last one counts
    while True:
        further = origin[origin]
        if np.array_equal(further, origin):
            break
        origin = further
    order = np.sort(partner * n + steps)  # by place named, then by time
    place, time = np.divmod(order, n)
    taken = place.copy()
    again = np.flatnonzero(place[1:] == place[:-1]) + 1
    taken[again] = origin[time[again - 1]]
    result = np.empty(n, np.int64)
    result[time] = taken
    result[-1] = origin[-1]
    return result


def _by_race(gen: Generator, rows: np.ndarray, num_samples: int) -> np.ndarray:
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


# --- checks -----------------------------------------------------------------------------------------------------------


def _check_order(casted: str, low: int, high: int) -> None:
    if low >= high:
        raise RuntimeError(
            f"random_ expects 'from'{casted} to be less than 'to'{casted}, but got from={low} >= to={high}"
        )


def _check_range(dtype: np.dtype[Any], low: int, last: int) -> None:
    """Refuse, or warn of, a range from ``low`` to ``last`` that is beyond the numbers of ``dtype``."""
    facts = FLOATS.get(dtype)
    if facts is not None:
        least, most, c_name = -facts.largest, facts.largest, facts.c_name
    elif dtype.kind == "c":
        raise RuntimeError("check_random_bounds handles only integral, floating-point and boolean types")
    else:
        least, most = (0, 1) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
        c_name = _C_NAMES[dtype.str[1:]]
    for name, bound in (("from", low), ("to - 1", last)):
        if not least <= bound <= most:
            raise RuntimeError(f"{name} is out of bounds for {c_name}")
    if facts is not None:
        for name, bound in (("from", low), ("to - 1", last)):
            if abs(bound) > 2**facts.digits:
                reach = f"[-(2^{facts.digits}), 2^{facts.digits}]"
                warnings.warn(
                    f"{name} is out of bounds {reach}. Due to precision limitations {c_name} can support discrete "
                    "uniform distribution only within this range. This warning will become an error in version 1.7 "
                    "release, please fix the code in advance",
                    stacklevel=4,
                )


def _check_permutation(dtype: np.dtype[Any], n: int) -> None:
    if dtype.kind in "bc" or dtype.str[1:] in ("u2", "u4", "u8"):
        raise NotImplementedError(f"\"randperm\" not implemented for '{SCALAR_NAMES[dtype]}'")
    facts = FLOATS.get(dtype)
    if facts is None:
        if n and n - 1 > np.iinfo(dtype).max:
            raise RuntimeError(f"value cannot be converted to type {dtype.name}_t without overflow")
    elif facts.digits in (11, 24, 53) and n > 2**facts.digits + 1:  # bfloat16 is not checked
        most = "2049" if facts.digits == 11 else f"2^{facts.digits}+1"
        raise RuntimeError(f"n cannot be greater than {most} for {facts.scalar_name} type.")


def _cast(x: int, dtype: np.dtype[Any]) -> int:
    with np.errstate(over="ignore"):
        value = float(np.float64(x) if dtype.itemsize == 8 else np.float32(x).astype(dtype))
    if not abs(value) < 2.0**63:
        return -(2**63)  # what the processor makes of it
    return int(value)


def _first_exact(low: int, dtype: np.dtype[Any], digits: int) -> int:
    """``low``, or the next number the type holds if rounding would fall below it."""
    above = _cast(low + 1, dtype)
    if above < low:
        low = above + (1 << (abs(low + 1).bit_length() - digits))
    return low


def _last_exact(high: int, dtype: np.dtype[Any], digits: int) -> int:
    """``high``, or one less far if rounding would reach it."""
    below = _cast(high - 1, dtype)
    if below >= high:
        high = below - (1 << (abs(high - 1).bit_length() - digits))
    return high
