"""Batch normalisation on arrays: (N, C, ...) seen as N lines of C channels; few passes, each over what caches hold.

Sums run over float32 lines in BLAS and are put together in float64.  Where a channel's mean is small beside its
deviation, as it nearly always is, everything is linear in the elements as they are; else they are centred first,
because then the short way would lose digits.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from ...core.row import FLOATS, op
from ...ground.meta import in_single
from ...kernels import compiled
from ..norm.rows import affine_twice, shaped, statistics_kind
from ..reduce.rows import F64, along, leading

_BLOCK = 65536  # elements worked on at a time: they stay in the cache from pass to pass
_LINE = 2048  # elements added up in float32 at most
_FAR = 2.0  # a mean of more deviations than this is centred


def channel_sizes(sizes: tuple[int, ...]) -> tuple[int, ...]:
    """The sizes of one number for each channel, broadcastable against ``sizes``."""
    return tuple([n if i == 1 else 1 for i, n in enumerate(sizes)])


class _Lines:
    """How arrays of one shape are worked on: as a matrix, block by block, with a number for each channel beside it.

    A matrix of few long lines has a line for each channel of each sample, else a line is a whole sample, because
    repeating the numbers along it once is cheaper than to broadcast them to every short line.
    """

    def __init__(self, sizes: tuple[int, ...]) -> None:
        self.n, self.c = sizes[:2]
        self.s = 1
        for size in sizes[2:]:
            self.s *= size
        self.count = self.n * self.s
        self.whole = self.n >= 4 or self.s < 512
        self.shape = (self.n, self.c * self.s) if self.whole else (self.n * self.c, self.s)
        rows, columns = self.shape
        height = max(_BLOCK // max(columns, 1), 1)
        self.blocks = [slice(i, i + height) for i in range(0, rows, height)]

    def meet(self, values: Any, kind: Any) -> Any:
        """One value for each channel, ready to meet the matrix."""
        values = values.astype(kind, copy=False)
        if self.whole:
            return values if self.s == 1 else values.repeat(self.s)
        return np.tile(values, self.n)[:, None]

    def part(self, met: Any, block: slice) -> Any:
        """What of the values made to meet the matrix meets one of its blocks."""
        return met if self.whole else met[block]

    def sums(self, a: Any, b: Any = None) -> Any:
        """The sums of each channel of ``a``, or of ``a * b``, in float64."""
        if self.s == 1:
            return along((a if b is None else a * b).reshape(self.n, self.c), 0).astype(F64, copy=False)
        rows = a.reshape(self.n * self.c, self.s)
        if b is None:
            sums = along(rows, 1) if self.s <= _LINE else np.add.reduce(rows, axis=1)  # which adds pairwise
        elif self.s <= _LINE:
            sums = np.einsum("ij,ij->i", rows, b.reshape(rows.shape))
        else:
            sums = _long_dots(rows, b.reshape(rows.shape))
        return np.add.reduce(sums.reshape(self.n, self.c), axis=0, dtype=F64)


def _long_dots(a: Any, b: Any) -> Any:
    """The sums of ``a * b`` along long lines: piece by piece, because errors grow with the length."""
    pieces = a.shape[1] // _LINE
    whole = pieces * _LINE
    shape = (len(a), pieces, _LINE)
    heads = np.einsum("ijk,ijk->ij", a[:, :whole].reshape(shape), b[:, :whole].reshape(shape))
    return np.add.reduce(heads, axis=1, dtype=F64) + np.einsum("ij,ij->i", a[:, whole:], b[:, whole:])


_lines = lru_cache(256)(_Lines)


def _near(means: Any, deviations: Any) -> bool:
    """Whether every mean is small beside its deviation."""
    return bool((np.abs(means) <= _FAR * deviations).all())


@op(
    auxiliary=("running_mean", "running_var"),
    outputs=("result0", "result1", "result2", "variance"),
    differentiable=("result0",),
    public=False,
    hidden=("input_sizes",),
    serves=(FLOATS, "batch_norm"),
    few=True,
    native=lambda input, weight=None, bias=None, running_mean=None, running_var=None, training=False, eps=1e-5: (
        compiled.batchnorm.forward(input, weight, bias, running_mean, running_var, training, eps)
    ),
    layout="only channels",
)
def native_batch_norm(
    input: Any, weight: Any = None, bias: Any = None, running_mean: Any = None, running_var: Any = None, /,
    training: bool = False, eps: float = 1e-5,
) -> Any:  # fmt: skip
    """Each channel standardised by the batch's statistics, or by running ones; and the statistics used."""
    a = in_single(input)
    kind = a.dtype
    lines = _lines(a.shape)
    x = a.reshape(lines.shape)
    out = np.empty(lines.shape, kind)
    centred = False
    if training:
        n = max(lines.count, 1)
        means = lines.sums(a) / n
        variance = lines.sums(a, a) / n - means * means
        if not _near(means, np.sqrt(np.maximum(variance, 0))):
            centred = True
            means = means.astype(kind)
            np.subtract(x, lines.meet(means, kind), out=out)
            variance = lines.sums(out, out) / n
    else:
        means, variance = running_mean.astype(F64), running_var.astype(F64)
    stored = statistics_kind(input, weight, bias, running_mean) if training and input.dtype.itemsize == 2 else kind
    halves = stored.itemsize == 2  # PyTorch computes with the statistics that it keeps
    spread = variance
    if halves:
        kept = means.astype(stored).astype(F64)
        if stored.kind == "V":  # in bfloat16 the sums are kept, too
            if lines.s == 1 or not input.flags.c_contiguous:  # of what is off the mean that is kept
                variance = variance + (kept - means) ** 2
            variance = (variance * n).astype(stored).astype(F64) / n
            spread = variance.astype(stored).astype(F64)
        means, centred = kept, False
    rstd = 1 / np.sqrt(spread + eps)
    if halves:
        rstd = rstd.astype(stored).astype(F64)
    scale = rstd if weight is None else rstd * weight.astype(F64, copy=False)
    steep = lines.meet(scale, kind)
    level = None if centred else -means * scale
    if bias is not None:
        level = bias if level is None else level + bias
    if level is not None:
        level = lines.meet(level, kind)
    for block in lines.blocks:
        target = out[block]
        np.multiply(target if centred else x[block], lines.part(steep, block), out=target)
        if level is not None:
            target += lines.part(level, block)
    return (
        out.reshape(a.shape).astype(input.dtype, copy=False),
        means.astype(stored, copy=False),
        rstd.astype(stored, copy=False),
        variance.astype(kind, copy=False),
    )


@native_batch_norm.derivative("input", "weight", "bias")
def _batch_norm_rule(
    grad: Any, input: Any, weight: Any, result1: Any, result2: Any, input_sizes: Any, training: Any, needs: Any
) -> Any:
    gradients = native_batch_norm_backward(grad, input, result1, result2, weight, training, tuple(needs))
    return tuple([gradient if need else None for gradient, need in zip(gradients, needs, strict=True)])


def _backward_of_many(
    grad_output: Any, input: Any, mean: Any, rstd: Any, weight: Any = None, training: bool = True, wanted: Any = ()
) -> Any:
    """``native_batch_norm_backward`` by its compiled kernel."""
    parts = compiled.batchnorm.backward(grad_output, input, mean, rstd, weight, training, wanted)
    if parts is None:
        return None
    return tuple([part if want else np.empty(0, input.dtype) for part, want in zip(parts, wanted, strict=True)])


@op(
    auxiliary=("mean", "rstd"),
    outputs=("result0", "result1", "result2"),
    public=False,
    hidden=("input_sizes",),
    few=True,
    native=_backward_of_many,
)
def native_batch_norm_backward(
    grad_output: Any, input: Any, mean: Any, rstd: Any, weight: Any = None, /, training: bool = True, wanted: Any = ()
) -> Any:
    """The gradients of input, weight and bias; those not ``wanted`` are empty."""
    a, g = in_single(input), in_single(grad_output)
    kind = a.dtype
    lines = _lines(a.shape)
    deviation_like, n = 1 / rstd.astype(F64), max(lines.count, 1)
    x, g = a.reshape(lines.shape), g.reshape(lines.shape)
    none = np.empty(0, kind)
    stored = rstd.dtype if weight is None else weight.dtype
    back = dots = none
    sums = lines.sums(g)
    off = x
    centred = False
    if training and wanted[0] or wanted[1]:
        centred = not _near(mean, deviation_like)
        if centred:
            off = np.subtract(x, lines.meet(mean, kind))
        dots = lines.sums(g, off)
        if not centred:
            dots = dots - mean * sums
    if wanted[0]:
        steep = lines.meet(rstd if weight is None else rstd * weight.astype(kind, copy=False), kind)
        back = np.empty(lines.shape, kind)
        if not training:
            for block in lines.blocks:
                np.multiply(g[block], lines.part(steep, block), out=back[block])
        else:
            slope = -dots * rstd.astype(F64) ** 2 / n
            level = -sums / n
            if not centred:
                level = level - mean * slope
            slope, level = lines.meet(slope, kind), lines.meet(level, kind)
            for block in lines.blocks:
                target = back[block]
                np.multiply(off[block], lines.part(slope, block), out=target)
                target += lines.part(level, block)
                target += g[block]
                target *= lines.part(steep, block)
        back = back.reshape(a.shape).astype(input.dtype, copy=False)
    return back, (dots * rstd).astype(stored) if wanted[1] else none, sums.astype(stored) if wanted[2] else none


@native_batch_norm_backward.derivative("grad_output", "input", "weight")
def _batch_norm_backward_rule(
    grads: Any, grad_output: Any, input: Any, weight: Any, mean: Any, rstd: Any, input_sizes: Any, training: Any
) -> Any:
    dims, channels = leading(input_sizes, 1), channel_sizes(input_sizes)
    of_input, *others = grads
    came = (of_input, *[None if part is None else shaped(part, channels) for part in others])
    scale = None if weight is None else shaped(weight, channels)
    return affine_twice(came, grad_output, scale, dims, input, input, mean, rstd, input_sizes, dims, fixed=not training)
