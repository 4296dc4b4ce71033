"""Samples of random tensors: with the same seed they are PyTorch's."""

from __future__ import annotations

from . import ints, positive, sample, t

CHANCES = {"low": 0.05, "high": 0.95}


def flat(*shape: int, **how: object):
    """A tensor that carries no gradient."""
    return t(*shape, grad=False, **how)


SAMPLES = [
    sample("rand", 3),
    sample("rand", (4, 5)),
    sample("rand", 2, 3, dtype="dtype:float64"),
    sample("randn", 15),
    sample("randn", 16),
    sample("randn", 17, dtype="dtype:float64"),
    sample("randn", 4, 9),
    sample("randint", 7, (4, 5)),
    sample("randint", -3, 6, (5,), dtype="dtype:float32"),
    sample("randint", 2**40, (5,)),
    sample("randperm", 12),
    sample("randperm", 300),
    sample("normal", 2.0, 0.5, (3, 4)),
    sample("normal", flat(4), positive(4, grad=False)),
    sample("normal", flat(4), 2.0),
    sample("normal", 1.0, positive(2, 3, grad=False)),
    sample("normal", flat(2, 1), positive(3, grad=False)),
    sample("rand_like", flat(3, 4)),
    sample("rand_like", flat(3, 4, layout="transposed"), label="transposed"),
    sample("randn_like", flat(4, 5)),
    sample("randn_like", flat(4, 5, layout="transposed"), label="transposed"),
    sample("randn_like", flat(4, 6, layout="strided"), label="strided"),
    sample("randint_like", flat(3, 4), 9),
    sample("randint_like", flat(3, 4), 2, 9),
    sample("bernoulli", t(3, 4, **CHANCES)),
    sample("bernoulli", t(3, 4, layout="transposed", **CHANCES), label="transposed"),
    sample("bernoulli", flat(3, 4), 0.3),
    sample("multinomial", positive(5, grad=False), 3),
    sample("multinomial", positive(3, 5, grad=False), 7, True),
    sample("poisson", t(4, low=0.5, high=30)),
    sample("Tensor.normal_", flat(3, 4)),
    sample("Tensor.normal_", flat(4, 5), 2.0, 0.5),
    sample("Tensor.normal_", flat(4, 5, layout="transposed"), label="transposed"),
    sample("Tensor.normal_", flat(4, 10, layout="strided"), label="strided"),
    sample("Tensor.uniform_", flat(3, 4)),
    sample("Tensor.uniform_", flat(3, 4, layout="transposed"), -1, 3, label="transposed"),
    sample("Tensor.random_", flat(3, 4)),
    sample("Tensor.random_", ints(3, 4)),
    sample("Tensor.random_", flat(3, 4), 20),
    sample("Tensor.random_", ints(3, 4), 5, 20),
    sample("Tensor.random_", ints(3, 4), 5, None),
    sample("Tensor.bernoulli_", flat(3, 4)),
    sample("Tensor.bernoulli_", flat(3, 4), 0.2),
    sample("Tensor.bernoulli_", flat(3, 4), flat(4, **CHANCES)),
    sample("Tensor.exponential_", flat(3, 4), 2.0),
    sample("Tensor.geometric_", flat(3, 4), 0.3),
    sample("Tensor.cauchy_", flat(3, 4), 1.0, 2.0),
    sample("Tensor.log_normal_", flat(3, 4), 0.0, 0.5),
]
