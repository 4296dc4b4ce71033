"""Samples of sums, products, quotients, remainders and powers."""

import numpy as np

from tests.samples import given, ints, mask, positive, sample, t

_A, _B = t(2, 3), t(2, 3)
_ROW, _COLUMN, _SCALAR = t(3), t(2, 1), t()
_AWAY = t(2, 3, away=0.1)
_DIVISOR = t(2, 3, low=0.4, high=2.4, away=0.1)
_COMPLEX = t(2, 3, kind="complex")
_NUMBER = given(0.75, kind="float")

SAMPLES = [
    *(
        sample(name, a, b, inplace=place)
        for name in ("add", "sub", "mul")
        for a, b, place in (
            (_A, _B, True), (_A, _ROW, True), (_COLUMN, _ROW, False), (_SCALAR, _A, False), (_A, 2.5, True),
            (_A, 2, True), (_SCALAR, _SCALAR, True), (t(0, 3), _ROW, True), (_A, ints(2, 3, low=1), True),
            (_COMPLEX, _COMPLEX, True), (_A, _COMPLEX, False), (_COMPLEX, 1.5, True), (_A, 2j, False),
            (t(3, 2, layout="transposed"), t(3, 2, layout="strided"), False), (ints(3), ints(3), True),
            (ints(3), 2, True), (ints(3), 2.5, False), (t(2, 3, layout="expanded", grad=False), _A, False),
        )
    ),
    sample("add", mask(3), mask(3)),
    sample("mul", mask(3), mask(3)),
    sample("mul", ints(3), mask(3)),
    sample("add", _A, _B, alpha=2.5, inplace=True),
    sample("add", _A, _ROW, alpha=-1),
    sample("add", ints(3), ints(3), alpha=3),
    sample("sub", _A, _B, alpha=0.5, inplace=True),
    sample("add", 2.0, _A),
    sample("sub", 2.0, _A),
    sample("mul", 2.0, _A),
    sample("subtract", _A, _B),
    sample("multiply", _A, _B),
    sample("rsub", _A, _B),
    sample("rsub", _A, _ROW, alpha=2),
    sample("rsub", _A, 3),
    sample("rsub", _A, 3.0, alpha=2),
    sample("Tensor.__rsub__", _A, 2),
    sample("Tensor.__rsub__", ints(3), 2.5),
    sample("Tensor.__radd__", _A, 2),
    sample("Tensor.__rmul__", _A, 2),
    *(
        sample("div", a, b, inplace=place)
        for a, b, place in (
            (_A, _DIVISOR, True), (_A, positive(3), True), (_SCALAR, positive(), True), (_A, 4, True),
            (ints(3), 2, False), (ints(3), ints(3, low=1), False), (_COMPLEX, _COMPLEX, True),
            (1.5, positive(3), False), (mask(3), mask(3), False), (ints(3), positive(3), False),
        )
    ),
    sample("div", given([1.0, -1.0, 0.0], kind="float"), 0, rounding_mode="floor", gradient=False),
    sample("div", given([1.0, -1.0, 0.0], kind="float"), 0, rounding_mode="trunc", gradient=False),
    sample("true_divide", _A, _DIVISOR),
    sample("divide", _A, _DIVISOR),
    sample("divide", _AWAY, _DIVISOR, rounding_mode="floor"),
    *(
        sample("div", a, b, rounding_mode=mode, inplace=place)
        for mode in ("floor", "trunc")
        for a, b, place in (
            (_AWAY, _DIVISOR, True), (_AWAY, 0.7, True), (ints(6, low=-7, high=8), ints(6, low=1, high=4), True),
            (ints(6, low=-7, high=8), -3, True), (ints(3), 2.5, False),
        )
    ),
    sample("Tensor.__rtruediv__", positive(2, 3), 2),
    sample("Tensor.__rtruediv__", ints(3, low=1), 2),
    sample("floor_divide", ints(6, low=-7, high=8), ints(6, low=1, high=4), inplace=True),
    sample("floor_divide", ints(6, low=-7, high=8), 3, inplace=True),
    sample("floor_divide", _AWAY, _DIVISOR, gradient=False, inplace=True),
    sample("floor_divide", _AWAY, 0.7, gradient=False),
    sample("floor_divide", 7, ints(3, low=1)),
    sample("Tensor.__floordiv__", _AWAY, 0.7, gradient=False),
    sample("Tensor.__rfloordiv__", ints(3, low=1), 7),
    *(
        sample(name, a, b, inplace=place)
        for name in ("remainder", "fmod")
        for a, b, place in (
            (_AWAY, _DIVISOR, True), (_AWAY, t(3, low=0.4, high=2.4, away=0.1), True), (_AWAY, 0.7, True),
            (_AWAY, -0.7, True), (ints(6, low=-7, high=8), 3, True), (ints(6, low=-7, high=8), -3, True),
            (ints(6, low=-7, high=8), ints(6, low=1, high=4), True), (ints(3), 2.5, False),
        )
    ),
    sample("remainder", 7.5, positive(3), gradient=False),
    sample("row.remainder_of_number", positive(3), 7.5, gradient=False, reference=lambda a, b: np.remainder(b, a)),
    sample("row.floor_divide_number", _AWAY, 0.7, gradient=False, reference=np.floor_divide),
    sample("Tensor.__mod__", _AWAY, 0.7),
    sample("Tensor.__rmod__", ints(3, low=1), 7),
    sample("neg", _A, inplace=True),
    sample("neg", _SCALAR),
    sample("neg", ints(3), inplace=True),
    sample("neg", _COMPLEX),
    sample("negative", _A),
    sample("positive", _A),
    sample("reciprocal", positive(2, 3), inplace=True),
    sample("reciprocal", positive()),
    sample("reciprocal", ints(3, low=1)),
    sample("reciprocal", _COMPLEX, inplace=True),
    *(
        sample("pow", positive(2, 3), exponent, inplace=True)
        for exponent in (2, 3, 1, 0, 4, 7, -1, -2, 0.5, 2.5, -0.5, 2.0)
    ),
    sample("pow", _A, 2),
    sample("pow", _A, 3),
    sample("pow", _SCALAR, 2),
    sample("pow", _COMPLEX, 2),
    sample("pow", _COMPLEX, 1.5),
    sample("pow", _COMPLEX, 3),
    sample("pow", positive(3), 1.5j, names=False),
    sample("pow", ints(4, low=-3, high=4), 3, inplace=True),
    sample("pow", ints(4, low=-3, high=4), 2),
    sample("pow", ints(4), 0.5),
    sample("pow", ints(4), ints(4), inplace=True),
    sample("pow", given([1, -1, 2, -1]), given([-1, -3, -2, -2])),
    sample("pow", mask(4), 2),
    sample("pow", positive(2, 3), positive(2, 3), inplace=True),
    sample("pow", positive(2, 3), t(3), inplace=True),
    sample("pow", positive(), t(3)),
    sample("pow", positive(2, 3), ints(2, 3)),
    sample("pow", _COMPLEX, _COMPLEX),
    sample("pow", given([0.0, 0.0, 2.0], kind="float"), given([0.0, 2.0, 0.0], kind="float"), gradient=False),
    sample("pow", 2, t(3)),
    sample("pow", 2.5, t(3)),
    sample("pow", 0.0, positive(3), label="zero", second=False),
    sample("pow", 2, ints(3)),
    sample("pow", 1.5, ints(3)),
    sample("pow", 1 + 1j, _COMPLEX),
    sample("Tensor.__pow__", _A, 2),
    sample("Tensor.__rpow__", _A, 2),
    sample("square", _A, inplace=True),
    sample("square", ints(3)),
    sample("square", _COMPLEX),
    sample("float_power", positive(3), 2),
    sample("float_power", positive(3), positive(3)),
    sample("float_power", 2, positive(3)),
    sample("float_power", ints(3), 2),
    sample("addcmul", _A, _B, t(2, 3), inplace=True),
    sample("addcmul", _A, _COLUMN, _ROW, value=2.5, inplace=True),
    sample("addcmul", ints(3), ints(3), ints(3), value=2),
    sample("addcmul", _COMPLEX, _COMPLEX, _COMPLEX, value=2),
    sample("addcdiv", _A, _B, _DIVISOR, inplace=True),
    sample("addcdiv", _A, _COLUMN, positive(3), value=-0.5, inplace=True),
    sample("addcdiv", _COMPLEX, _COMPLEX, _COMPLEX),
    sample("lerp", _A, _B, 0.25, inplace=True),
    sample("lerp", _A, _ROW, 0.75, inplace=True),
    sample("lerp", _A, _B, 1),
    sample("lerp", _A, _B, t(2, 3), inplace=True),
    sample("lerp", _A, _ROW, _NUMBER),
    sample("lerp", _COMPLEX, _COMPLEX, 0.25),
    sample("lerp", _COMPLEX, _COMPLEX, _COMPLEX),
]
