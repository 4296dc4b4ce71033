"""Random arrays, number for number PyTorch's on CPU: knows generators and arrays, no tensors.

Every function draws from a Generator in the order PyTorch draws and leaves it where PyTorch leaves it, so that the same
seed gives the same numbers from then on too. Whole numbers, uniform numbers and decisions are PyTorch's bit for bit;
where a float64 logarithm, tangent or exponential is involved the last bit or two may differ, as NumPy's functions and
the C library's do. (Measured with PyTorch 2.13 on processors with AVX2 or AVX512; its build for older ones rounds
``normal`` otherwise.) Results are fresh, row-major arrays of the shape and NumPy dtype asked for. Bad arguments raise
what PyTorch raises, before anything is drawn; the dtype of nothing is not looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, cos, log1p, pi, prod, sin, sqrt
from typing import Any

import numpy as np

from glassgrad.families.random.uniform import (
    BARE_UNSIGNED,
    C_NAMES,
    COMPLEX,
    FLOATS,
    MASK53,
    PIECE,
    SCALAR_NAMES,
    number,
    randint,
    random_,
    randperm,
    rounded,
    scaled,
    serving,
    uniform,
    unit32,
    unit64,
)
from glassgrad.ground.generator import Generator
from glassgrad.kernels import compiled

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
    if dtype not in FLOATS and 0 not in shape:
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
    if 0 in shape and (isinstance(p, np.ndarray) or 0 <= p <= 1):
        return np.empty(shape, dtype)
    if isinstance(p, np.ndarray):
        if dtype.kind == "c" or dtype in BARE_UNSIGNED:
            raise NotImplementedError(f"\"bernoulli_tensor_cpu_self_\" not implemented for '{SCALAR_NAMES[dtype]}'")
        if p.dtype not in FLOATS:
            raise NotImplementedError(f"\"bernoulli_tensor_cpu_p_\" not implemented for '{SCALAR_NAMES[p.dtype]}'")
        chances = (p if p.shape == tuple(shape) else np.broadcast_to(p, tuple(shape))).reshape(-1)
        unit = unit64 if p.dtype.itemsize == 8 else unit32
        possible = (chances >= 0) & (chances <= 1)
        if not np.logical_and.reduce(possible):
            unit(gen, int(possible.argmin()))  # PyTorch draws until it meets the first that is none
            raise RuntimeError(
                "Expected p_in >= 0 && p_in <= 1 to be true, but got false.  (Could this error message be improved?  "
                "If so, please report an enhancement request to PyTorch.)"
            )
        yes = unit(gen, chances.size) < (chances if unit is unit64 else chances.astype(np.float32, copy=False))
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
    if (dtype.kind in "bc" or dtype in BARE_UNSIGNED) and 0 not in shape:
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
        by_columns = probs.flags.f_contiguous and not probs.flags.c_contiguous  # draws come as the chances lie
        chosen = _by_race(gen, rows, num_samples, by_columns)
    return chosen.copy().reshape(*probs.shape[:-1], num_samples)


# --- how it is done ---------------------------------------------------------------------------------------------------


def _below(gen: Generator, n: int, p: float) -> np.ndarray:
    """Whether each of ``n`` 53-bit draws from [0, 1) is below ``p``."""
    yes = np.empty(n, np.bool_)
    bound = ceil(p * 2.0**53)
    with gen.lock:
        if (native := serving(gen, n)) is not None:
            native[0].below(native[1], bound, yes)
            return yes
        for start in range(0, n, PIECE):
            piece = yes[start : start + PIECE]
            draws = gen.random64(len(piece))
            draws &= MASK53
            np.less(draws, np.uint64(bound), out=piece)
    return yes


def _by_race(gen: Generator, rows: np.ndarray, num_samples: int, by_columns: bool) -> np.ndarray:
    if not rows.size:
        raise RuntimeError(
            "aminmax(): cannot compute aminmax over an empty dimension as the operation has no identity."
        )
    if not (rows.max() < np.inf and rows.min() >= 0):
        raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
    if not np.all(rows.any(axis=1)):
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        waits = exponential(gen, rows.shape[::-1] if by_columns else rows.shape, rows.dtype)
        quotients = rows / (waits.T if by_columns else waits)
    if num_samples == 1:
        return quotients.argmax(axis=1).astype(np.int64, copy=False)
    wide = quotients.astype(np.float64) if rows.dtype.itemsize < 4 else quotients
    return np.argsort(-wide, axis=1, kind="stable")[:, :num_samples].astype(np.int64, copy=False)


def _by_bisection(gen: Generator, rows: np.ndarray, num_samples: int) -> np.ndarray:
    chances = rows.astype(np.float32) if rows.dtype.itemsize < 4 else rows
    if not chances.size:
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")
    sums = np.add.accumulate(chances, axis=1)
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
    return np.stack([np.searchsorted(edges, row) for edges, row in zip(sums, draws, strict=True)], dtype=np.int64)


# -- Bell-shaped numbers as PyTorch's CPU kernels draw them: knows generators and arrays, no tensors.
#
# Fewer than sixteen numbers, or memory with gaps, are drawn one pair at a time in float64; more, sixteen at a time, and
# for float32 and narrower with the single-precision logarithm, sine and cosine of Moshier's Cephes library, each step
# rounded where PyTorch's AVX2 and AVX512 builds round it, so that the results are theirs bit for bit. float64 results
# are within two units in the last place: its logarithm, sine and cosine are NumPy's here.

_PAIRS_IN_PYTHON = 16  # more pairs than this are computed by NumPy
_ROWS = 2048  # of sixteen numbers each, worked on at a time: what they need stays in the cache
_OFTEN = 500  # so many small arrays take as long as to load the compiled form
_asked = 0
_F32 = np.dtype(np.float32)
_U53 = 2.0**-53
_MASK53 = 2**53 - 1


def normal(
    gen: Generator, shape: Sequence[int], dtype: Any = np.float32, mean: float = 0.0, std: float = 1.0,
    contiguous: bool = True,
) -> np.ndarray:  # fmt: skip
    """Normal numbers of mean ``mean`` and deviation ``std`` in a fresh array of ``shape`` and ``dtype``.

    ``contiguous`` False draws what PyTorch draws into memory with gaps or in another order. Complex numbers get half
    the variance in each part. RuntimeError for a negative ``std``, NotImplementedError for other than floating types.
    """
    if not std >= 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {number(std)}")
    dtype = np.dtype(dtype)
    if dtype == _F32 and (size := prod(shape)) < 16:
        return _few32(gen, size, float(mean), float(std)).reshape(shape)
    part = COMPLEX.get(dtype)
    if part is not None:
        parts = normal(gen, (*shape, 2), part, mean, std / sqrt(2), contiguous)
        return parts.view(dtype).reshape(shape)
    if dtype not in FLOATS and 0 not in shape:
        raise NotImplementedError(f"\"normal_kernel_cpu\" not implemented for '{SCALAR_NAMES[dtype]}'")
    size = prod(shape)
    if size < 16 or not contiguous:
        values = rounded(scaled(_by_pairs(gen, size), std, mean, exact=dtype.itemsize == 8), dtype)
    elif dtype.itemsize == 8:
        values = _by_sixteen64(gen, size, mean, std)
    else:
        values = _by_sixteen32(gen, size, mean, std, dtype)
    return values.reshape(shape)


def check_deviations(std: np.ndarray) -> None:
    """Raise PyTorch's error unless these may be deviations."""
    if std.dtype.kind == "c":
        raise RuntimeError("normal expects standard deviation to be non-complex")
    if not np.all(std >= 0):
        raise RuntimeError("normal expects all elements of std >= 0.0")


def normal_of(gen: Generator, mean: Any, std: Any) -> np.ndarray:
    """Normal numbers, each with its own mean or deviation: ``torch.normal`` where either or both are arrays.

    The result has the type of ``mean``, or of ``std`` if only that is an array, and their broadcast shape.
    """
    if isinstance(std, np.ndarray):
        check_deviations(std)
        if isinstance(mean, np.ndarray):
            values = normal(gen, np.broadcast_shapes(mean.shape, std.shape), mean.dtype)
        else:
            values = normal(gen, std.shape, std.dtype)
        np.multiply(values, std, out=values, casting="same_kind")
    else:
        values = normal(gen, mean.shape, mean.dtype, 0.0, std)
    if values.size:
        np.add(values, mean, out=values, casting="same_kind")
    return values


def log_normal(
    gen: Generator, shape: Sequence[int], dtype: Any = np.float32, mean: float = 1.0, std: float = 2.0
) -> np.ndarray:
    """Exponentials of normal numbers, the normal ones having ``mean`` and ``std``; drawn in pairs at every size."""
    if not std > 0:
        raise RuntimeError(f"log_normal_ expects std > 0.0, but found std={number(std)}")
    dtype = np.dtype(dtype)
    if dtype not in FLOATS and 0 not in shape:
        raise NotImplementedError(f"\"log_normal_cpu\" not implemented for '{SCALAR_NAMES[dtype]}'")
    values = scaled(_by_pairs(gen, prod(shape)), std, mean, exact=dtype.itemsize == 8)
    with np.errstate(over="ignore"):
        return rounded(np.exp(values, out=values), dtype).reshape(shape)


# --- one pair at a time -----------------------------------------------------------------------------------------------


def _by_pairs(gen: Generator, size: int) -> np.ndarray:
    """Standard normals by Box and Muller's method, a left-over second number staying in the generator."""
    with gen.lock:
        kept = gen.next_normal
        if kept is not None and size:
            gen.next_normal = None
            size -= 1
        else:
            kept = None
        pairs = (size + 1) // 2
        native = serving(gen, size) if pairs <= _PAIRS_IN_PYTHON or size >= compiled.least else None
        if native is not None:
            values = np.empty(2 * pairs)
            native[0].normals(native[1], np.zeros(2), values)
        else:
            values = _few_pairs(gen, pairs) if pairs <= _PAIRS_IN_PYTHON else _many_pairs(gen, pairs)
        if size % 2:
            gen.next_normal = float(values[-1])
            values = values[:-1]
    if kept is not None:
        values = np.concatenate(([kept], values))
    return values


def _few32(gen: Generator, size: int, mean: float, std: float) -> np.ndarray:
    """The same for less than sixteen numbers in float32."""
    with gen.lock:
        native = serving(gen, size)
        if native is None:
            return rounded(scaled(_by_pairs(gen, size), std, mean, exact=False), _F32)
        kept, values = np.zeros(2), np.empty(size, _F32)
        if gen.next_normal is not None:
            kept[:] = 1, gen.next_normal
        native[0].few32(native[1], kept, values, mean, std)
        gen.next_normal = kept.item(1) if kept[0] else None
    return values


def _few_pairs(gen: Generator, pairs: int) -> np.ndarray:
    words = iter(gen.random32(4 * pairs).tolist())
    values: list[float] = []
    for high, low, upper, lower in zip(words, words, words, words, strict=True):
        angle = 2.0 * pi * (((high << 32 | low) & _MASK53) * _U53)
        radius = sqrt(-2.0 * log1p(-(((upper << 32 | lower) & _MASK53) * _U53)))
        values += (radius * cos(angle), radius * sin(angle))
    return np.array(values, np.float64)


def _many_pairs(gen: Generator, pairs: int) -> np.ndarray:
    uniform = unit64(gen, 2 * pairs).reshape(pairs, 2)
    angle = 2.0 * pi * uniform[:, 0]
    radius = np.sqrt(-2.0 * np.log1p(-uniform[:, 1]))
    np.multiply(radius, np.cos(angle), out=uniform[:, 0])
    np.multiply(radius, np.sin(angle), out=uniform[:, 1])
    return uniform.reshape(-1)


# --- sixteen at a time ------------------------------------------------------------------------------------------------


def _by_sixteen64(gen: Generator, size: int, mean: float, std: float) -> np.ndarray:
    with gen.lock:
        values = unit64(gen, size)
        last = unit64(gen, 16) if size % 16 else None  # the last sixteen are then drawn anew
    whole = size // 16 * 16
    _sixteens64(values[:whole])
    if last is not None:
        _sixteens64(last)
        values[-16:] = last
    return scaled(values, std, mean, exact=True)


def _sixteens64(values: np.ndarray) -> None:
    rows = values.reshape(-1, 2, 8)
    for start in range(0, len(rows), _ROWS):
        block = rows[start : start + _ROWS]
        radius = np.sqrt(-2.0 * np.log(1.0 - block[:, 0]))
        angle = 2.0 * pi * block[:, 1]
        np.multiply(radius, np.cos(angle), out=block[:, 0])
        np.multiply(radius, np.sin(angle), out=block[:, 1])


def _by_sixteen32(gen: Generator, size: int, mean: float, std: float, dtype: np.dtype[Any]) -> np.ndarray:
    global _asked
    whole = size // 16 * 16
    with gen.lock:
        _asked += size < compiled.least
        native = serving(gen, size if _asked < _OFTEN else compiled.least) if size else None
        if native is not None and dtype.itemsize == 4:
            values = np.empty(size, np.float32)
            with np.errstate(over="ignore"):
                native[0].normal32(native[1], values, _F(mean), _F(std))
            return values
        values = unit32(gen, size if dtype.itemsize == 4 else whole)  # narrower types skip the draws they would lose
        last = unit32(gen, 16) if size % 16 else None
    _sixteens32(values[:whole], mean, std)
    if last is not None:
        _sixteens32(last, mean, std)
        if len(values) < size:
            values = np.concatenate((values, last[16 - (size - whole) :]))
        values[-16:] = last
    return rounded(values, dtype)


def _sixteens32(values: np.ndarray, mean: float, std: float) -> None:
    """Uniform numbers turned normal where they stand, the first eight of each sixteen giving the radii."""
    rows = values.reshape(-1, 2, 8)
    plain = std == 1.0 and mean == 0.0
    with np.errstate(over="ignore"):
        wide_std, wide_mean = float(np.float32(std)), float(np.float32(mean))
    for start in range(0, len(rows), _ROWS):
        block = rows[start : start + _ROWS]
        radius = np.sqrt(_MINUS_TWO * _log(_ONE - block[:, 0]))
        sine, cosine = _sine_cosine(_TWO_PI * block[:, 1])
        for part, wave in ((block[:, 0], cosine), (block[:, 1], sine)):
            wave *= radius
            if plain:
                np.add(wave, _ZERO, out=part)
            else:
                with np.errstate(over="ignore", invalid="ignore"):
                    part[...] = _fused(wave.astype(np.float64), wide_std, wide_mean)


# --- single-precision functions ---------------------------------------------------------------------------------------

_F = np.float32
_ZERO, _ONE, _HALF, _MINUS_TWO, _TWO_PI = _F(0), _F(1), _F(0.5), _F(-2), _F(2 * pi)
ROOT_HALF = np.int32(0x3F3504F3)  # the bits of the square root of one half
LOG = [
    float(_F(c))
    for c in (
        7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1,
        -1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1,
    )
]  # fmt: skip
LN2_LOW, LN2_HIGH = _F(-2.12194440e-4), _F(0.693359375)
QUARTERS = _F(1.27323954473516)  # 4 / pi
TURN_HIGH, TURN_MIDDLE = _F(-0.78515625), _F(-2.4187564849853515625e-4)  # the two parts whose products are exact
TURN_LOW = float(_F(-3.77489497744594108e-8))
COS = [float(_F(c)) for c in (2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2)]
SIN = [float(_F(c)) for c in (-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1)]


def _fused(a: np.ndarray, b: Any, c: Any) -> np.ndarray:
    """float32 of ``a * b + c`` rounded once, as a fused multiply-add; ``a``, float64 holding float32s, is used up."""
    a *= b
    a += c
    return a.astype(_F)


def _polynomial(coefficients: list[float], x: np.ndarray) -> np.ndarray:
    """float32 of Horner's scheme, rounded after each step; ``x`` is float64 holding float32s."""
    step = x * coefficients[0]
    step += coefficients[1]
    value = step.astype(_F)
    for c in coefficients[2:]:
        np.multiply(value, x, out=step)
        step += c
        value[...] = step
    return value


def _log(x: np.ndarray) -> np.ndarray:
    """The natural logarithm of float32 numbers in (0, 1], in their memory. Source: Cephes, logf."""
    bits = x.view(np.int32)
    bits -= ROOT_HALF
    exponent = (bits >> 23).astype(_F)
    bits &= 0x7FFFFF
    bits += ROOT_HALF
    x -= _ONE  # from [1/sqrt 2, sqrt 2)
    square = x * x
    value = _polynomial(LOG, x.astype(np.float64))
    value *= x
    value = _fused(value.astype(np.float64), square, exponent * LN2_LOW)
    square *= _HALF
    value -= square
    x += value
    exponent *= LN2_HIGH
    x += exponent
    return x


def _sine_cosine(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The sine and cosine of float32 angles in [0, 2 pi]. Source: Cephes, sinf."""
    eighth = (x * QUARTERS).astype(np.int32)
    eighth += 1
    eighth &= -2
    turns = eighth.astype(_F)
    x += turns * TURN_HIGH
    x += turns * TURN_MIDDLE
    x = _fused(turns.astype(np.float64), TURN_LOW, x)
    square = x * x
    wide = square.astype(np.float64)
    sine = _polynomial(SIN, wide)
    cosine = _polynomial(COS, wide)
    sine *= square
    cosine *= square
    square *= _HALF
    cosine = _fused(cosine.astype(np.float64), wide, -square)
    cosine += _ONE
    wide = x.astype(np.float64)
    sine = _fused(sine.astype(np.float64), wide, wide)
    waves = sine.view(np.int32), cosine.view(np.int32)
    swapped = (eighth << 30) >> 31  # all ones where the angle lies nearer to a quarter turn than to a half
    swapped &= waves[0] ^ waves[1]
    for bits, ahead in zip(waves, (0, 2), strict=True):
        bits ^= swapped
        bits ^= ((eighth + ahead) & 4) << 29  # the sign
    return sine, cosine
