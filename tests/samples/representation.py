"""Samples of divisors, mantissas and neighbours."""

from tests.samples import T, given, ints, sample, t

_APART = T((2, 3), low=-3.0, high=-2.2)

SAMPLES = [
    sample("gcd", ints(3, 4, low=-20, high=20), ints(4, low=-20, high=20), inplace=True),
    sample("gcd", given([0, 0, 6]), given([0, 5, 0])),
    sample("lcm", ints(3, 4, low=-20, high=20), ints(4, low=-20, high=20), inplace=True),
    sample("lcm", given([0, 0, 6]), given([0, 5, 0])),
    sample("frexp", t(2, 3)),
    sample("frexp", given([0.0, 1.0, -0.5, 1e30, float("inf"), float("nan")], "float"), gradient=False),
    sample("nextafter", t(2, 3), _APART, inplace=True),
    sample("nextafter", given([1.0, 2.0, 0.0], "float"), given([3.0, 2.0, -1.0], "float"), label="equal", slope=False),
]
