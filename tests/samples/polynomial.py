"""Samples of the orthogonal polynomials."""

from tests.samples import T, given, ints, sample, t

_DEGREES = given([0, 1, 2, 5, 9, 12])
_INSIDE = T((2, 1), low=-0.9, high=0.9)
_KINDS = (
    "chebyshev_polynomial_t", "chebyshev_polynomial_u", "chebyshev_polynomial_v", "chebyshev_polynomial_w",
    "shifted_chebyshev_polynomial_t", "shifted_chebyshev_polynomial_u", "shifted_chebyshev_polynomial_v",
    "shifted_chebyshev_polynomial_w", "hermite_polynomial_h", "hermite_polynomial_he", "laguerre_polynomial_l",
    "legendre_polynomial_p",
)  # fmt: skip
_STEPS = {"rtol": 2e-5, "why": "recurrences cancel in float32", "only": ("float32",)}

SAMPLES = [
    piece
    for name in _KINDS
    for piece in (
        sample(f"special.{name}", _INSIDE, _DEGREES, only=("float64",)),
        sample(f"special.{name}", _INSIDE, _DEGREES, **_STEPS),
        sample(f"special.{name}", t(3), 3),
        sample(f"special.{name}", 0.4, ints(4, high=7), only=("float32",)),
        sample(f"special.{name}", given([1.0, -1.0, 0.0, 2.0], "float"), 3.7, label="ends"),
    )
]
