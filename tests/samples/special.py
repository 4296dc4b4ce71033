"""Samples of the special functions."""

from tests.samples import T, given, ints, positive, sample, t

_UNIT = T((2, 3), low=-0.9, high=0.9)
_TRIGAMMA = {"rtol": 1e-8, "why": "torch's trigamma is good to nine digits"}
_LARGE = t(600, low=-5.0, high=5.0)

SAMPLES = [
    sample("erf", t(2, 3), inplace=True),
    sample("erf", t()),
    sample("erf", t(0)),
    sample("erf", _LARGE, rtol=1e-6, why="seven units in the last place in float32"),
    sample("erf", ints(3)),
    sample("erfc", t(2, 3), inplace=True),
    sample("erfc", _LARGE),
    sample("erfinv", _UNIT, inplace=True),
    sample("erfinv", given([1.0, -1.0, 0.0], kind="float"), gradient=False),
    sample("lgamma", positive(2, 3), inplace=True, **_TRIGAMMA),
    sample("lgamma", T((5,), low=-3.8, high=3.8, away=0.1), **_TRIGAMMA),
    sample("lgamma", ints(3)),
    sample("digamma", positive(2, 3), inplace=True, **_TRIGAMMA),
    sample("digamma", T((5,), low=-3.8, high=3.8, away=0.1), **_TRIGAMMA),
    sample("polygamma", 0, positive(2, 3), **_TRIGAMMA),
    sample("polygamma", 1, positive(2, 3), **_TRIGAMMA),
    sample("polygamma", 2, positive(2, 3)),
    sample("polygamma", 3, positive(2, 3)),
    sample("Tensor.polygamma", positive(3), 1, **_TRIGAMMA),
    sample("Tensor.polygamma_", T((3,), low=0.5, high=2.0, grad=False), 1, **_TRIGAMMA),
    sample("sinc", t(2, 3), inplace=True),
    sample("sinc", given([0.0, 1.0, 0.5], kind="float"), second=False),
    sample("special.entr", positive(2, 3)),
    sample("special.entr", given([0.0, -1.0, 2.0], kind="float"), gradient=False),
    sample("special.erfcx", t(2, 3)),
    sample("special.erfcx", T((5,), low=-5.0, high=30.0), only=("float64",)),  # in float32 the slope is rounding
    sample("special.ndtr", t(2, 3)),
    sample("special.ndtr", ints(3), only=("float32",)),
    sample("special.log_ndtr", t(2, 3)),
    sample("special.log_ndtr", T((6,), low=-30.0, high=5.0), only=("float64",)),  # as above
    sample("special.ndtri", T((2, 3), low=0.02, high=0.98)),
    sample("special.ndtri", given([0.0, 1.0, 0.5, 2.0, 1e-20], kind="float"), gradient=False),
    sample("special.xlog1py", t(2, 3), positive(2, 3)),
    sample("special.xlog1py", t(2, 3), positive(3)),
    sample("special.xlog1py", t(2, 3), 2.5),
    sample("special.xlog1py", t(2, 3), -1.0, label="pole", gradient=False),
    sample("special.xlog1py", 2.5, positive(3)),
    sample(
        "special.xlog1py", given([0.0, 0.0, 1.0], kind="float"), given([-1.0, 2.0, 3.0], kind="float"), gradient=False
    ),
    sample("special.expit", t(3)),
    sample("special.gammaln", positive(3), **_TRIGAMMA),
    sample("special.psi", positive(3), **_TRIGAMMA),
    sample("special.softmax", t(2, 3), 1),
    sample("special.logsumexp", t(2, 3), 1),
]
