"""Samples of the elementary functions and of the logistic one."""

from tests.samples import T, ints, positive, sample, t

_UNIT = T((2, 3), low=-0.9, high=0.9)
_ABOVE = T((2, 3), low=1.1, high=3.0)
_COMPLEX = t(2, 3, kind="complex")
_EVERYWHERE = ("exp", "exp2", "expm1", "sin", "cos", "tan", "atan", "sinh", "cosh", "tanh", "asinh", "sigmoid")
_POSITIVE = ("log", "log2", "log10", "log1p", "sqrt", "rsqrt")
_INSIDE = ("asin", "acos", "atanh")

SAMPLES = [
    *(sample(name, t(2, 3, low=-1.2, high=1.2), inplace=True) for name in _EVERYWHERE),
    *(sample(name, positive(2, 3), inplace=True) for name in _POSITIVE),
    *(sample(name, _UNIT, inplace=True) for name in _INSIDE),
    sample("acosh", _ABOVE, inplace=True),
    *(sample(name, positive()) for name in (*_EVERYWHERE, *_POSITIVE)),
    *(sample(name, t(0, 3)) for name in (*_EVERYWHERE, *_POSITIVE)),
    *(sample(name, positive(3, 2, layout="transposed")) for name in (*_EVERYWHERE, *_POSITIVE)),
    *(sample(name, ints(3, low=1), only=("float32",)) for name in (*_EVERYWHERE, *_POSITIVE, *_INSIDE, "acosh")),
    *(
        sample(name, _COMPLEX)
        for name in (
            "exp", "exp2", "expm1", "sin", "cos", "tan", "atan", "sinh", "cosh", "tanh", "asinh", "sigmoid", "log",
            "log2", "log10", "log1p", "sqrt", "rsqrt", "asin", "acos", "atanh", "acosh",
        )
    ),
    *(
        sample(name, T((2, 3), low=-0.9, high=0.9))
        for name in ("arcsin", "arccos", "arctan", "arcsinh", "arctanh")
    ),
    sample("arccosh", _ABOVE),
    sample("sigmoid", t(2, 3, low=-90.0, high=90.0), label="wide"),
    sample("sigmoid", t(5000, low=-6.0, high=6.0), label="many"),
    sample("sigmoid", t(5000, low=-60.0, high=60.0), label="many,wide"),
    sample("logit", T((2, 3), low=0.1, high=0.9), inplace=True),
    sample("logit", T((2, 3), low=0.3, high=0.7), eps=0.25),
    sample("logit", T((2, 3), low=0.02, high=0.2), eps=0.25),
]
