"""Samples of Bessel's and Airy's functions."""

from tests.samples import T, given, ints, positive, sample, t

_WIDE = T((7,), low=-12.0, high=12.0, away=0.05)
_FEW = T((2, 3), low=0.3, high=7.5)
_SEVEN = T((9,), low=-7.0, high=7.0, away=0.05)
_NULL = given([0.0, 1.0, -1.0], kind="float")
_J = {"rtol": 1e-5, "why": "torch's own are good to six digits in float64 too"}

SAMPLES = [
    sample("i0", t(2, 3), inplace=True),
    sample("i0", _WIDE),
    sample("i0", _NULL, label="zero"),
    sample("i0", ints(3), only=("float32",)),
    sample("special.i0e", t(2, 3)),
    sample("special.i0e", _WIDE),
    sample("special.i0e", _NULL, label="zero", second=False),
    sample("special.i1", t(2, 3)),
    sample("special.i1", _WIDE),
    sample("special.i1", _NULL, label="zero", second=False),
    sample("special.i1e", t(2, 3)),
    sample("special.i1e", _WIDE),
    sample("special.i1e", _NULL, label="zero", second=False),
    sample("special.bessel_j0", _FEW, **_J),
    sample("special.bessel_j0", _WIDE, **_J),
    sample("special.bessel_j1", _FEW, **_J),
    sample("special.bessel_j1", _WIDE, **_J),
    sample("special.bessel_y0", _FEW, **_J),
    sample("special.bessel_y1", _FEW, **_J),
    sample("special.modified_bessel_i0", _WIDE),
    sample("special.modified_bessel_i1", _WIDE),
    sample("special.modified_bessel_k0", positive(2, 3)),
    sample("special.modified_bessel_k1", positive(2, 3)),
    sample("special.scaled_modified_bessel_k0", positive(2, 3)),
    sample("special.scaled_modified_bessel_k1", _FEW),
    sample("special.spherical_bessel_j0", _WIDE),
    sample("special.spherical_bessel_j0", ints(3), only=("float32",)),
    sample("special.airy_ai", _SEVEN, rtol=1e-7, why="torch's own is good to eight digits"),
]
