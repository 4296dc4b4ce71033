"""Samples of reductions of segments."""

from tests.samples import given, sample, t

_L = given([1, 0, 3])
_ROWS = given([[1, 2, 1], [0, 2, 2]])
_NULLS = given([[0.0, 2.0], [0.0, 3.0], [5.0, 0.0], [4.0, 1.5]], "float")
_EQUAL = given([2.0, 2.0, 1.0, 3.0], "float")
_ONCE = {"second": False}  # torch has no second derivative

SAMPLES = [
    sample("segment_reduce", t(4, 3), reduce="sum", lengths=_L, **_ONCE),
    sample("segment_reduce", t(4), reduce="sum", lengths=_L, **_ONCE),
    sample("segment_reduce", t(2, 4), reduce="sum", lengths=_ROWS, axis=1, **_ONCE),
    sample("segment_reduce", t(2, 4), reduce="mean", lengths=_ROWS, axis=1, initial=1.5, gradient=False),
    sample("segment_reduce", t(4, 3), reduce="mean", lengths=given([1, 3]), **_ONCE),
    sample("segment_reduce", t(4, 3), reduce="max", lengths=given([1, 3]), **_ONCE),
    sample("segment_reduce", t(4, 3), reduce="min", lengths=given([1, 3]), **_ONCE),
    sample("segment_reduce", t(4, 3), reduce="prod", lengths=_L, **_ONCE),
    sample("segment_reduce", _NULLS, reduce="prod", lengths=given([2, 2]), label="zeros", **_ONCE),
    sample("segment_reduce", _EQUAL, reduce="max", lengths=given([3, 1]), label="equal", slope=False, **_ONCE),
    sample("segment_reduce", t(4, 3), reduce="sum", offsets=given([0, 1, 4]), **_ONCE),
    sample("segment_reduce", t(4, 3), reduce="max", lengths=_L, initial=0.5, gradient=False),
]
