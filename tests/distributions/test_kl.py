"""Divergences: every registered pair against torch, those that are infinite, and which formula is chosen."""

import importlib
import itertools

import pytest

import glassgrad
from glassgrad import distributions as ours
from tests.agreement import check
from tests.distributions.families import Leaves
from tests.distributions.test_families import agree, slopes

MATRIX = [[2.0, 0.3], [0.3, 1.5]]

MEMBERS = {  # two of each family: the same one, or wider
    "Bernoulli": (lambda D, t: D.Bernoulli(t([0.2, 0.0, 1.0, 0.7])), lambda D, t: D.Bernoulli(t([0.5, 0.3, 0.0, 0.0]))),
    "Beta": (lambda D, t: D.Beta(t([0.5, 2.0]), t([1.5, 3.0])), lambda D, t: D.Beta(t([1.5, 0.3]), t([2.0, 0.9]))),
    "Binomial": (lambda D, t: D.Binomial(t([6.0, 7.0]).detach(), t([0.2, 0.5])),
                 lambda D, t: D.Binomial(6, t([0.3, 0.4]))),
    "Categorical": (lambda D, t: D.Categorical(t([[0.2, 0.5, 0.3], [0.0, 1.0, 0.0]])),
                    lambda D, t: D.Categorical(t([[0.6, 0.1, 0.3], [0.0, 0.5, 0.5]]))),
    "Cauchy": (lambda D, t: D.Cauchy(t([0.3, -1.0]), t([0.8, 2.0])), lambda D, t: D.Cauchy(t(0.1), t([1.8, 0.2]))),
    "ContinuousBernoulli": (lambda D, t: D.ContinuousBernoulli(t([0.2, 0.5])),
                            lambda D, t: D.ContinuousBernoulli(t([0.6, 0.9]))),
    "Dirichlet": (lambda D, t: D.Dirichlet(t([0.5, 2.0, 1.0])), lambda D, t: D.Dirichlet(t([[1.5, 0.3, 2.0]]))),
    "Exponential": (lambda D, t: D.Exponential(t([0.5, 2.0])), lambda D, t: D.Exponential(t([1.5, 0.7]))),
    "Gamma": (lambda D, t: D.Gamma(t([0.5, 2.0]), t([1.0, 3.0])), lambda D, t: D.Gamma(t([1.5, 0.7]), t([2.0, 0.4]))),
    "Geometric": (lambda D, t: D.Geometric(t([0.5, 0.2])), lambda D, t: D.Geometric(logits=t([0.7, -0.4]))),
    "Gumbel": (lambda D, t: D.Gumbel(t([0.3, -1.0]), t([0.8, 2.0])), lambda D, t: D.Gumbel(t(0.1), t([1.8, 0.2]))),
    "HalfNormal": (lambda D, t: D.HalfNormal(t([0.5, 2.0])), lambda D, t: D.HalfNormal(t([1.5, 0.7]))),
    "Independent": (lambda D, t: D.Independent(D.Normal(t([[0.3, -1.0]]), t([0.8, 2.0])), 1),
                    lambda D, t: D.Independent(D.Normal(t([[0.1, 0.4]]), t([1.8, 0.2])), 1)),
    "Laplace": (lambda D, t: D.Laplace(t([0.3, -1.0]), t([0.8, 2.0])), lambda D, t: D.Laplace(t(0.1), t([1.8, 0.2]))),
    "LowRankMultivariateNormal": (
        lambda D, t: D.LowRankMultivariateNormal(t([0.1, 0.2]), t([[0.5], [0.3]]), t([0.4, 0.9])),
        lambda D, t: D.LowRankMultivariateNormal(t([[0.4, 0.1], [0.0, 1.0]]), t([[0.7], [-0.3]]), t([0.7, 1.9]))),
    "MultivariateNormal": (
        lambda D, t: D.MultivariateNormal(t([0.1, 0.2]), t(MATRIX)),
        lambda D, t: D.MultivariateNormal(t([[0.4, 0.1], [0.0, 1.0]]), scale_tril=t([[1.2, 0.0], [-0.3, 0.8]]))),
    "Normal": (lambda D, t: D.Normal(t([0.3, -1.0]), t([0.8, 2.0])), lambda D, t: D.Normal(t(0.1), t([1.8, 0.2]))),
    "OneHotCategorical": (lambda D, t: D.OneHotCategorical(t([0.2, 0.5, 0.3])),
                          lambda D, t: D.OneHotCategorical(logits=t([0.6, 0.1, 0.3]))),
    "Pareto": (lambda D, t: D.Pareto(t([1.5, 0.4]), t([0.8, 3.0])),
               lambda D, t: D.Pareto(t([0.3, 0.5]), t([1.8, 2.0]))),
    "Poisson": (lambda D, t: D.Poisson(t([0.5, 2.0])), lambda D, t: D.Poisson(t([[1.5], [0.7]]))),
    "TransformedDistribution": (lambda D, t: D.LogNormal(t([0.3, -1.0]), t([0.8, 2.0])),
                                lambda D, t: D.LogNormal(t(0.1), t([1.8, 0.2]))),
    "Uniform": (lambda D, t: D.Uniform(t([0.2, 0.4]), t([0.7, 0.9])),
                lambda D, t: D.Uniform(t([0.1, 0.5]), t([0.8, 2.0]))),
    "ExponentialFamily": (lambda D, t: D.Wishart(t(4.0), t(MATRIX)),
                          lambda D, t: D.Wishart(t(5.0), t([[1.0, 0], [0, 2.0]]))),
}  # fmt: skip
PAIRS = sorted((p.__name__, q.__name__) for p, q in ours.kl._KL_REGISTRY)


def test_the_pairs_are_torchs():
    torch_kl = importlib.import_module("tests.torch_reference").torch.distributions.kl
    assert sorted((p.__name__, q.__name__) for p, q in torch_kl._KL_REGISTRY) == PAIRS
    assert {name for pair in PAIRS for name in pair} == set(MEMBERS)


@pytest.mark.torch
@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_divergence(pair):
    def program(torch, show):
        module = importlib.import_module(f"{torch.__name__}.distributions")
        leaves = Leaves(torch, "float64")
        p, q = MEMBERS[pair[0]][0](module, leaves), MEMBERS[pair[1]][1](module, leaves)
        found = module.kl_divergence(p, q)
        show("divergence", [list(found.shape), found.requires_grad, found.tolist()])
        if pair[0] != "ExponentialFamily":
            slopes(torch, show, "slopes", found.where(found.isfinite(), torch.zeros_like(found)), leaves)

    agree(program)


def refused(torch, show):
    D = importlib.import_module(f"{torch.__name__}.distributions")
    show.error(lambda: D.kl_divergence(D.Cauchy(0.0, 1.0), D.Normal(0.0, 1.0)))
    show.error(lambda: D.kl_divergence(D.Poisson(1.0), D.Exponential(1.0)), words=False)
    show.error(lambda: D.kl_divergence(D.Binomial(3, torch.tensor(0.2)), D.Binomial(5, torch.tensor(0.2))))
    show.error(lambda: D.kl_divergence(
        D.Independent(D.Normal(torch.zeros(2, 3), 1.0), 1), D.Independent(D.Normal(torch.zeros(2, 3), 1.0), 2)))
    show.error(lambda: D.kl_divergence(
        D.MultivariateNormal(torch.zeros(2), torch.eye(2)), D.MultivariateNormal(torch.zeros(3), torch.eye(3))))


def chosen_formulas(torch, show):
    D = importlib.import_module(f"{torch.__name__}.distributions")

    class Mine(D.Normal):
        pass

    p, q = Mine(0.0, 1.0), D.Normal(1.0, 2.0)
    show("inherited", D.kl_divergence(p, q))
    registry = D.kl._KL_REGISTRY
    try:
        D.register_kl(Mine, D.Normal)(lambda p, q: torch.tensor(1.0))
        show("nearest", D.kl_divergence(p, q))
        D.register_kl(D.Normal, Mine)(lambda p, q: torch.tensor(2.0))
        show("which", show.warnings(lambda: D.kl_divergence(p, p)))
        D.register_kl(Mine, Mine)(lambda p, q: torch.tensor(3.0))
        show("told", D.kl_divergence(p, p))
    finally:
        for pair in itertools.product((Mine, D.Normal), repeat=2):
            if Mine in pair:
                registry.pop(pair, None)
        D.kl._KL_MEMOIZE.clear()


@pytest.mark.torch
@pytest.mark.parametrize("program", [refused, chosen_formulas])
def test_program(program):
    check(program)


def test_divergence_is_the_mean_log_ratio():
    """By a hundred thousand draws, where the formula is long: within four standard errors."""
    glassgrad.manual_seed(1)
    p, q = ours.Gamma(2.0, 3.0), ours.Gumbel(0.4, 0.5)
    x = p.sample((100_000,))
    ratio = p.log_prob(x) - q.log_prob(x)
    assert abs(float(ratio.mean()) - float(ours.kl_divergence(p, q))) < 4 * float(ratio.std()) / 100_000**0.5
