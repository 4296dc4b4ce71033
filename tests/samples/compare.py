"""Samples of comparisons, logic and choices."""

from tests.samples import given, ints, mask, positive, sample, t

_AWAY = t(2, 3, away=0.1)
_OTHER = t(2, 3, low=-1.9, high=2.1, away=0.1)
_ROW = t(3, low=-1.9, high=2.1, away=0.1)
_TIED = given([1.0, 2.0, -1.0], kind="float"), given([1.0, -2.0, 3.0], kind="float")
_ODD = given([float("nan"), float("inf"), float("-inf"), 1.5, -0.0], kind="float", grad=False)
_COMPLEX = t(2, 3, kind="complex")
_PLAIN = t(2, 3, grad=False)
_LONG = {"eq": "eq", "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal"}

SAMPLES = [
    *(
        sample(name, a, b, inplace=place, gradient=False)
        for name in _LONG
        for a, b, place in (
            (_AWAY, _OTHER, True), (_AWAY, _ROW, True), (_AWAY, 0.5, True), (_AWAY, 1, True), (ints(4), ints(4), True),
            (ints(4), 1.5, False), (t(), t(), False), (ints(4), positive(4), False), (mask(4), mask(4), True),
        )
    ),
    *(
        sample(f"Tensor.{name}_", _PLAIN, other)
        for name in _LONG
        for other in (1.5, t(3, grad=False), 1)
    ),
    *(sample(long, _AWAY, _OTHER, gradient=False) for long in _LONG.values() if long != "eq"),
    sample("eq", _COMPLEX, _COMPLEX, gradient=False),
    sample("ne", _COMPLEX, 1j, gradient=False),
    *(
        sample(name, a, b, inplace=True)
        for name in ("logical_and", "logical_or", "logical_xor")
        for a, b in ((mask(4), mask(4)), (ints(4), ints(4)), (t(2, 3, grad=False), ints(3)))
    ),
    sample("logical_not", mask(4), inplace=True),
    sample("logical_not", ints(4)),
    *(
        sample(name, a, gradient=False)
        for name in ("isnan", "isinf", "isfinite", "isposinf", "isneginf", "isreal", "signbit")
        for a in (_ODD, ints(3, low=-2), t())
    ),
    sample("isreal", _COMPLEX, gradient=False),
    sample("isinf", _COMPLEX, gradient=False),
    sample("isclose", _AWAY, _AWAY, gradient=False),
    sample("isclose", _ODD, _ODD, equal_nan=True),
    sample("isclose", ints(4), ints(4), atol=1.0),
    sample("allclose", _AWAY, _OTHER, gradient=False),
    sample("equal", _AWAY, _OTHER, gradient=False),
    sample("where", mask(2, 3), _AWAY, _OTHER),
    sample("where", mask(2, 3), _AWAY, _ROW),
    sample("where", mask(3), _AWAY, t()),
    sample("where", mask(2, 1), t(2, 3), 0.5),
    sample("where", mask(2, 3), 0.5, t(2, 3)),
    sample("where", mask(2, 3), 1, 2.5),
    sample("where", mask(2, 3), ints(2, 3), 2.5),
    sample("where", mask(3000), t(3000), t(3000)),
    sample("where", mask(2, 3), _COMPLEX, t(2, 3, grad=False)),
    sample("Tensor.where", _AWAY, mask(2, 3), _OTHER),
    *(
        sample(name, a, b)
        for name in ("maximum", "minimum", "fmax", "fmin")
        for a, b in ((_AWAY, _OTHER), (_AWAY, _ROW), (ints(4), ints(4)), (t(), t(3)), (mask(3), mask(3)))
    ),
    *(sample(name, *_TIED) for name in ("maximum", "minimum")),
    *(sample(name, *_TIED, gradient=False) for name in ("fmax", "fmin")),
    *(sample(name, _ODD, t(5, grad=False)) for name in ("maximum", "minimum", "fmax", "fmin")),
]
