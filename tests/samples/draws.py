"""Samples of random numbers whose parameters are tensors: with the same seed they are PyTorch's."""

from __future__ import annotations

from . import given, positive, sample, t

FEW = {"low": 0.1, "high": 0.9}
_FEW = t(3, 4, grad=False, **FEW)

# second=False: torch has no second derivative there
SAMPLES = [
    sample("_standard_gamma", positive(3, 4), second=False, only=("float32",)),  # the slope is not that of the draws
    sample("_standard_gamma", positive(3, 4), gradient=False),
    sample("_standard_gamma", t(200, low=0.05, high=40), gradient=False, label="many"),
    sample("_standard_gamma", t(low=2, high=3), second=False, only=("float32",)),
    sample("_standard_gamma_grad", positive(3, 4, grad=False), positive(3, 4, grad=False)),
    sample("_standard_gamma_grad", t(60, low=8.5, high=90, grad=False), t(60, low=1, high=120, grad=False)),
    sample("_sample_dirichlet", positive(3, 4, grad=False)),
    sample("_sample_dirichlet", t(40, 5, low=0.05, high=30, grad=False), label="many"),
    sample("_dirichlet_grad", _FEW, positive(3, 4, grad=False), t(3, 4, low=3, high=6, grad=False)),
    sample("binomial", given([[3.0, 40.0, 7.0], [1000.0, 90.0, 0.0]], "float", grad=False), t(2, 3, grad=False, **FEW)),
    sample("binomial", given([[3.0], [80.0]], "float", grad=False), t(3, grad=False, **FEW), only=("float64",)),
]
