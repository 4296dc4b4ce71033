"""Orthogonal polynomials against NumPy's series."""

import numpy as np

from glassgrad.families.special import kernels as polynomial


def test_polynomials_are_numpys():
    """Legendre, Laguerre and Hermite against NumPy's series; Chebyshev of the first kind as a cosine."""
    x = np.linspace(-1.4, 1.4, 29)
    for n in range(12):
        unit, degree = [0] * n + [1], np.array(float(n))
        np.testing.assert_allclose(polynomial.legendre(x, degree), np.polynomial.legendre.legval(x, unit), rtol=1e-12)
        np.testing.assert_allclose(polynomial.laguerre(x, degree), np.polynomial.laguerre.lagval(x, unit), rtol=1e-11)
        np.testing.assert_allclose(
            polynomial.hermite_h(x, degree), np.polynomial.hermite.hermval(x, unit), rtol=1e-10, atol=1e-6
        )
        np.testing.assert_allclose(
            polynomial.chebyshev("t")(x, degree), np.polynomial.chebyshev.chebval(x, unit), rtol=1e-11, atol=1e-12
        )
