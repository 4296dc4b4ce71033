"""The ``torch.special`` namespace: it re-exports, and holds no logic of its own."""

from __future__ import annotations

from .families.special import functions as _composite
from .families.special import rows as _bessel
from .families.special import rows as _special
from .ground.later import cite as _cite
from .ops.catalogue import FUNCTIONS as _F

airy_ai = _bessel.special_airy_ai
bessel_j0, bessel_j1 = _bessel.special_bessel_j0, _bessel.special_bessel_j1
bessel_y0, bessel_y1 = _bessel.special_bessel_y0, _bessel.special_bessel_y1
i0, i0e, i1, i1e = _F["i0"], _bessel.special_i0e, _bessel.special_i1, _bessel.special_i1e
modified_bessel_i0, modified_bessel_i1 = _bessel.special_modified_bessel_i0, _bessel.special_modified_bessel_i1
modified_bessel_k0, modified_bessel_k1 = _bessel.special_modified_bessel_k0, _bessel.special_modified_bessel_k1
scaled_modified_bessel_k0 = _bessel.special_scaled_modified_bessel_k0
scaled_modified_bessel_k1 = _bessel.special_scaled_modified_bessel_k1
spherical_bessel_j0 = _bessel.special_spherical_bessel_j0

digamma = psi = _F["digamma"]
gammainc, gammaincc, gammaln = _F["igamma"], _F["igammac"], _F["lgamma"]
multigammaln, polygamma, zeta = _F["mvlgamma"], _F["polygamma"], _composite.special_zeta

erf, erfc, erfcx, erfinv = _F["erf"], _F["erfc"], _special.special_erfcx, _F["erfinv"]
log_ndtr, ndtr, ndtri = _special.special_log_ndtr, _composite.special_ndtr, _special.special_ndtri
entr, xlog1py, xlogy = _special.special_entr, _composite.special_xlog1py, _F["xlogy"]
exp2, expit, expm1, log1p, logit = _F["exp2"], _F["sigmoid"], _F["expm1"], _F["log1p"], _F["logit"]
log_softmax, logsumexp, round, sinc, softmax = (
    _F["log_softmax"], _F["logsumexp"], _composite.special_round, _F["sinc"], _F["softmax"],
)  # fmt: skip

chebyshev_polynomial_t = _composite.of_degree["chebyshev_polynomial_t"]
chebyshev_polynomial_u = _composite.of_degree["chebyshev_polynomial_u"]
chebyshev_polynomial_v = _composite.of_degree["chebyshev_polynomial_v"]
chebyshev_polynomial_w = _composite.of_degree["chebyshev_polynomial_w"]
hermite_polynomial_h = _composite.of_degree["hermite_polynomial_h"]
hermite_polynomial_he = _composite.of_degree["hermite_polynomial_he"]
laguerre_polynomial_l = _composite.of_degree["laguerre_polynomial_l"]
legendre_polynomial_p = _composite.of_degree["legendre_polynomial_p"]
shifted_chebyshev_polynomial_t = _composite.of_degree["shifted_chebyshev_polynomial_t"]
shifted_chebyshev_polynomial_u = _composite.of_degree["shifted_chebyshev_polynomial_u"]
shifted_chebyshev_polynomial_v = _composite.of_degree["shifted_chebyshev_polynomial_v"]
shifted_chebyshev_polynomial_w = _composite.of_degree["shifted_chebyshev_polynomial_w"]

__all__ = [
    "airy_ai", "bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1", "chebyshev_polynomial_t", "chebyshev_polynomial_u",
    "chebyshev_polynomial_v", "chebyshev_polynomial_w", "digamma", "entr", "erf", "erfc", "erfcx", "erfinv", "exp2",
    "expit", "expm1", "gammainc", "gammaincc", "gammaln", "hermite_polynomial_h", "hermite_polynomial_he", "i0", "i0e",
    "i1", "i1e", "laguerre_polynomial_l", "legendre_polynomial_p", "log1p", "log_ndtr", "log_softmax", "logit",
    "logsumexp", "modified_bessel_i0", "modified_bessel_i1", "modified_bessel_k0", "modified_bessel_k1",
    "multigammaln", "ndtr", "ndtri", "polygamma", "psi", "round", "scaled_modified_bessel_k0",
    "scaled_modified_bessel_k1", "shifted_chebyshev_polynomial_t", "shifted_chebyshev_polynomial_u",
    "shifted_chebyshev_polynomial_v", "shifted_chebyshev_polynomial_w", "sinc", "softmax", "spherical_bessel_j0",
    "xlog1py", "xlogy", "zeta",
]  # fmt: skip

for _name in __all__:
    _cite(globals()[_name], f"torch.special.{_name}")
