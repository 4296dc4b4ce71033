"""Samples of the incomplete gamma functions, the multivariate one and the zeta function."""

from tests.samples import T, ints, positive, sample

_PARAMETER = T((2, 3), low=0.3, high=6.0, grad=False)
_LARGE = T((2, 3), low=210.0, high=260.0, grad=False)
_OVER = T((2, 3), low=190.0, high=280.0)
_EXPONENT = T((2, 3), low=1.3, high=6.0, grad=False)
_ABOVE = T((2, 3), low=2.2, high=5.0)
_TRIGAMMA = {"rtol": 1e-8, "why": "torch's trigamma is good to nine digits"}

SAMPLES = [
    sample("igamma", _PARAMETER, positive(2, 3)),
    sample("igamma", _PARAMETER, positive(3)),
    sample("igamma", _PARAMETER, T((2, 3), low=3.0, high=12.0)),
    sample("igamma", _LARGE, _OVER, rtol=2e-5, why="float32 sums of many terms in torch", only=("float32",)),
    sample("igamma", _LARGE, _OVER, rtol=1e-9, why="torch's own is good to nine digits here", only=("float64",)),
    sample("igamma", _PARAMETER, T((2, 3), low=0.2, high=4.0, grad=False), inplace=True, label="in place"),
    sample("igammac", _PARAMETER, positive(2, 3)),
    sample("igammac", _PARAMETER, positive(3)),
    sample("igammac", _PARAMETER, T((2, 3), low=3.0, high=12.0)),
    sample("special.gammainc", _PARAMETER, positive(2, 3)),
    sample("special.gammaincc", _PARAMETER, positive(2, 3)),
    sample("special.zeta", _EXPONENT, positive(2, 3)),
    sample("special.zeta", _EXPONENT, positive(3)),
    sample("special.zeta", 2.5, positive(2, 3)),
    sample("special.zeta", T((3,), low=1.5, high=4.0, grad=False), 0.7),
    sample("special.zeta", ints(3, low=2, high=6), 2, only=("float32",)),
    sample("mvlgamma", _ABOVE, 1, inplace=True, **_TRIGAMMA),
    sample("mvlgamma", _ABOVE, 3, inplace=True, **_TRIGAMMA),
    sample("mvlgamma", _ABOVE, 5, **_TRIGAMMA),
    sample("special.multigammaln", _ABOVE, 2, **_TRIGAMMA),
    sample("mvlgamma", ints(3, low=2, high=6), 2, only=("float32",)),
]
