"""Samples of signs, sizes, complex parts and rounding."""

import numpy as np

from tests.samples import T, given, ints, mask, positive, sample, t

_AWAY = t(2, 3, away=0.1)
_COMPLEX = t(2, 3, kind="complex")

SAMPLES = [
    sample("abs", _AWAY, inplace=True),
    sample("abs", t()),
    sample("abs", ints(3, low=-3)),
    sample("abs", _COMPLEX),
    sample("absolute", _AWAY),
    sample("Tensor.__abs__", _AWAY),
    sample("sgn", _AWAY, inplace=True),
    sample("sgn", _COMPLEX),
    sample("sign", _AWAY, inplace=True),
    sample("sign", ints(3, low=-3)),
    sample("sign", mask(3)),
    sample("real", _COMPLEX),
    sample("imag", _COMPLEX),
    sample("real", t(3)),
    sample("row.real", _COMPLEX, reference=np.real),
    sample("row.conj", _COMPLEX, reference=np.conj),
    sample("conj", t(3)),
    sample("conj_physical", _COMPLEX, inplace=True),
    sample("row.conj_physical_inplace", _COMPLEX),
    sample("resolve_conj", _COMPLEX),
    sample("resolve_neg", _COMPLEX),
    sample("angle", _COMPLEX),
    sample("angle", _AWAY),
    sample("angle", ints(3, low=-2)),
    sample("complex", t(2, 3), t(2, 3)),
    sample("complex", t(2, 1), t(3)),
    sample("polar", positive(2, 3), t(2, 3)),
    sample("polar", positive(2, 1), t(3)),
    *(sample(name, _AWAY, inplace=True) for name in ("floor", "ceil", "trunc", "round", "frac", "fix")),
    *(sample(name, ints(3)) for name in ("floor", "ceil", "trunc", "round")),
    sample("round", given([0.5, 1.5, 2.5, -0.5], kind="float"), gradient=False),
    sample("round", T((2, 3), low=-20.0, high=20.0), decimals=1, inplace=True),
    sample("round", T((2, 3), low=-2000.0, high=2000.0), decimals=-2),
    sample("round", T((2, 3), low=-20.0, high=20.0), decimals=0),
]
