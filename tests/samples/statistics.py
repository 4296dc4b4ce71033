"""Samples of covariances, histograms, slopes of sampled functions, and Vandermonde's matrix."""

from tests.samples import T, given, ints, positive, sample, t

_UNITS = given([0.0, 1.0, 3.0, 3.5], "float", grad=False)
_WEIGHT = positive(4, grad=False)
_INT = {"only": ("float32",)}

SAMPLES = [
    sample("cov", t(3, 4)),
    sample("cov", t(4)),
    sample("cov", t(3, 4), correction=0),
    sample("cov", t(3, 4), fweights=ints(4, low=1, high=4)),
    sample("cov", t(3, 4), aweights=_WEIGHT),
    sample("cov", t(3, 4), fweights=ints(4, low=1, high=4), aweights=_WEIGHT, names=False),
    sample("cov", t(2, 3, kind="complex"), names=False),
    sample("cov", ints(2, 4), **_INT),
    sample("corrcoef", t(3, 5)),
    sample("corrcoef", t(2, 5, kind="complex"), second=False, names=False),
    sample("corrcoef", t(4), gradient=False),
    sample("gradient", t(3, 4)),
    sample("gradient", t(5), spacing=0.5),
    sample("gradient", t(3, 4), spacing=[2.0], dim=1),
    sample("gradient", t(3, 4), spacing=(2.0, 0.25), dim=(1, 0)),
    sample("gradient", t(3, 5), edge_order=2, names=False),
    sample("gradient", t(4, 2), spacing=(_UNITS,), dim=0, label="uneven", names=False),
    sample("gradient", t(4, 2), spacing=(_UNITS,), dim=0, edge_order=2, label="uneven,2", names=False),
    sample("gradient", t(3, kind="complex"), names=False),
    sample("gradient", ints(4), **_INT),
    sample("histogram", t(20), 5, gradient=False),
    sample("histogram", t(4, 5), 4, range=(-1.0, 1.0), gradient=False),
    sample("histogram", t(20), given([-1.5, -0.5, 0.1, 2.0], "float"), gradient=False),
    sample("histogram", t(20), 3, weight=t(20), density=True, gradient=False),
    sample("histogramdd", t(20, 2), [3, 4], gradient=False),
    sample("histogramdd", t(20, 2), [3, 4], range=[-1.0, 1.0, -2.0, 0.5], weight=t(20), gradient=False),
    sample("histogramdd", t(20, 2), [3, 4], density=True, gradient=False),
    sample("vander", t(4), gradient=False),  # torch's own loses its gradient
    sample("vander", t(4), 3, increasing=True, gradient=False),
    sample("vander", ints(3)),
    sample("nonzero_static", T((3, 4), kind="bool"), size=8),
    sample("nonzero_static", ints(4), size=2, fill_value=7),
]
