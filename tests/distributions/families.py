"""One or more members of every family of distributions, each with values where its density is asked for."""

import importlib

MATRIX = [[2.0, 0.3, -0.4], [0.3, 1.5, 0.2], [-0.4, 0.2, 1.1]]
LOWER = [[1.2, 0.0, 0.0], [0.3, 0.9, 0.0], [-0.5, 0.2, 1.4]]
WIDE = [[0.5, -0.3], [0.1, 0.8], [-0.6, 0.4]]
CHANCES = [[0.2, 0.5, 0.3], [0.6, 0.1, 0.3]]
LEVELS = [[0.2, -0.5, 1.3], [0.6, 0.1, -0.3]]

# name: (maker of the distribution from the module and a maker of leaves, values)
FAMILIES = {
    "bernoulli": (lambda D, t: D.Bernoulli(t([0.2, 0.5, 0.9])), [1.0, 0.0, 1.0]),
    "bernoulli by logits": (lambda D, t: D.Bernoulli(logits=t([-0.3, 0.0, 1.4])), [1.0, 0.0, 1.0]),
    "bernoulli by a number": (lambda D, t: D.Bernoulli(0.3), 1.0),
    "beta": (lambda D, t: D.Beta(t([0.5, 2.0, 7.0]), t([1.5, 3.0, 8.0])), [0.2, 0.7, 0.4]),
    "beta by numbers": (lambda D, t: D.Beta(2.0, 3.0), 0.3),
    "binomial": (lambda D, t: D.Binomial(7, t([0.2, 0.5, 0.9])), [1.0, 4.0, 7.0]),
    "binomial by logits": (lambda D, t: D.Binomial(40, logits=t([-0.3, 0.0, 1.4])), [9.0, 20.0, 38.0]),
    "categorical": (lambda D, t: D.Categorical(t(CHANCES)), [2, 0]),
    "categorical by logits": (lambda D, t: D.Categorical(logits=t(LEVELS)), [1, 2]),
    "cauchy": (lambda D, t: D.Cauchy(t([0.3, -1.0]), t([0.8, 2.0])), [0.1, -3.0]),
    "chi2": (lambda D, t: D.Chi2(t([1.5, 4.0])), [0.7, 3.0]),
    "continuous bernoulli": (lambda D, t: D.ContinuousBernoulli(t([0.2, 0.4999, 0.9])), [0.1, 0.5, 0.8]),
    "continuous bernoulli by logits": (lambda D, t: D.ContinuousBernoulli(logits=t([-0.7, 1.2])), [0.1, 0.5]),
    "dirichlet": (lambda D, t: D.Dirichlet(t([[0.5, 2.0, 1.0], [7.0, 8.0, 9.0]])), [[0.2, 0.5, 0.3], [0.3, 0.3, 0.4]]),
    "dirichlet at corners": (lambda D, t: D.Dirichlet(t([0.5, 0.7, 0.2])), [0.2, 0.5, 0.3]),
    "exponential": (lambda D, t: D.Exponential(t([0.5, 2.0])), [0.3, 1.2]),
    "fisher snedecor": (lambda D, t: D.FisherSnedecor(t([3.0, 1.5]), t([5.0, 3.5])), [0.4, 1.9]),
    "gamma": (lambda D, t: D.Gamma(t([0.6, 2.0, 12.0]), t([1.0, 0.5, 3.0])), [0.3, 2.2, 5.0]),
    "gamma by numbers": (lambda D, t: D.Gamma(2.5, 1.5), 0.9),
    "generalized pareto": (lambda D, t: D.GeneralizedPareto(t([0.1, 0.0, 0.4]), t([1.0, 2.0, 0.7]),
                                                            t([0.3, 0.0, -0.4])), [0.8, 1.1, 0.9]),
    "geometric": (lambda D, t: D.Geometric(t([0.3, 0.8])), [2.0, 0.0]),
    "geometric by logits": (lambda D, t: D.Geometric(logits=t([-0.7, 0.8])), [2.0, 0.0]),
    "gumbel": (lambda D, t: D.Gumbel(t([0.3, -1.0]), t([0.8, 2.0])), [0.1, -3.0]),
    "half cauchy": (lambda D, t: D.HalfCauchy(t([0.8, 2.0])), [0.1, 3.0]),
    "half normal": (lambda D, t: D.HalfNormal(t([0.8, 2.0])), [0.1, 3.0]),
    "independent": (lambda D, t: D.Independent(D.Normal(t([[0.1, 0.2, 0.3]]), t([[1.0, 0.5, 2.0]])), 1),
                    [[0.3, 0.1, -0.7]]),
    "inverse gamma": (lambda D, t: D.InverseGamma(t([1.5, 3.0]), t([1.0, 0.5])), [0.7, 0.3]),
    "kumaraswamy": (lambda D, t: D.Kumaraswamy(t([1.5, 3.0]), t([1.2, 0.5])), [0.7, 0.3]),
    "laplace": (lambda D, t: D.Laplace(t([0.3, -1.0]), t([0.8, 2.0])), [0.1, -3.0]),
    "lkj": (lambda D, t: D.LKJCholesky(3, t([0.7, 2.0])), [[1.0, 0.0, 0.0], [0.6, 0.8, 0.0], [0.0, 0.28, 0.96]]),
    "log normal": (lambda D, t: D.LogNormal(t([0.3, -1.0]), t([0.8, 1.2])), [0.1, 3.0]),
    "logistic normal": (lambda D, t: D.LogisticNormal(t([0.3, -1.0]), t([0.8, 1.2])), [0.2, 0.5, 0.3]),
    "low rank normal": (lambda D, t: D.LowRankMultivariateNormal(t([0.1, 0.2, -0.4]), t(WIDE), t([0.5, 0.7, 1.2])),
                        [0.3, -0.2, 0.6]),
    "low rank normals": (lambda D, t: D.LowRankMultivariateNormal(t([[0.1, 0.2, -0.4], [0.0, 1.0, 2.0]]), t(WIDE),
                                                                  t([0.5, 0.7, 1.2])), [0.3, -0.2, 0.6]),
    "mixture of normals": (lambda D, t: D.MixtureSameFamily(
        D.Categorical(t(CHANCES)), D.Normal(t(LEVELS), t([[0.5, 1.0, 2.0]]))), [0.3, -0.2]),
    "mixture of vectors": (lambda D, t: D.MixtureSameFamily(
        D.Categorical(t([0.4, 0.6])), D.Independent(D.Normal(t(LEVELS), t([0.5, 1.0, 2.0])), 1)), [0.3, -0.2, 0.8]),
    "multinomial": (lambda D, t: D.Multinomial(6, t(CHANCES)), [[1.0, 3.0, 2.0], [4.0, 1.0, 1.0]]),
    "multinomial by logits": (lambda D, t: D.Multinomial(3, logits=t(LEVELS)), [[1.0, 0.0, 2.0], [3.0, 0.0, 0.0]]),
    "normal vectors": (lambda D, t: D.MultivariateNormal(t([0.1, 0.2, -0.4]), t(MATRIX)), [0.3, -0.2, 0.6]),
    "normal vectors by precision": (lambda D, t: D.MultivariateNormal(t([0.1, 0.2, -0.4]), precision_matrix=t(MATRIX)),
                                    [0.3, -0.2, 0.6]),
    "normal vectors by factor": (lambda D, t: D.MultivariateNormal(t([[0.1, 0.2, -0.4], [0.0, 1.0, 2.0]]),
                                                                   scale_tril=t(LOWER)), [0.3, -0.2, 0.6]),
    "negative binomial": (lambda D, t: D.NegativeBinomial(t([3.0, 5.5]), t([0.3, 0.7])), [2.0, 9.0]),
    "negative binomial by logits": (lambda D, t: D.NegativeBinomial(4, logits=t([0.3, -0.7])), [2.0, 9.0]),
    "normal": (lambda D, t: D.Normal(t([0.3, -1.2]), t([0.7, 2.0])), [[0.1, 0.5], [1.0, -2.0]]),
    "normal by numbers": (lambda D, t: D.Normal(0.5, 2.0), 0.7),
    "one hot": (lambda D, t: D.OneHotCategorical(t(CHANCES)), [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]),
    "one hot straight through": (lambda D, t: D.OneHotCategoricalStraightThrough(logits=t(LEVELS)),
                                 [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]),
    "pareto": (lambda D, t: D.Pareto(t([0.5, 1.5]), t([0.9, 3.0])), [0.8, 2.0]),
    "poisson": (lambda D, t: D.Poisson(t([0.7, 4.0, 30.0])), [0.0, 5.0, 28.0]),
    "relaxed bernoulli": (lambda D, t: D.RelaxedBernoulli(t(0.7), t([0.2, 0.6])), [0.3, 0.8]),
    "relaxed bernoulli by logits": (lambda D, t: D.RelaxedBernoulli(t([1.7]), logits=t([0.2, -0.6])), [0.3, 0.8]),
    "relaxed one hot": (lambda D, t: D.RelaxedOneHotCategorical(t(0.7), t(CHANCES)),
                        [[0.2, 0.5, 0.3], [0.3, 0.3, 0.4]]),
    "relaxed one hot by logits": (lambda D, t: D.RelaxedOneHotCategorical(t(1.5), logits=t(LEVELS)),
                                  [[0.2, 0.5, 0.3], [0.3, 0.3, 0.4]]),
    "student": (lambda D, t: D.StudentT(t([0.8, 1.5, 4.0]), t([0.1, 0.2, 0.3]), t([1.0, 2.0, 0.5])), [0.3, 1.1, -0.2]),
    "transformed": (lambda D, t: D.TransformedDistribution(
        D.Normal(t([0.1, 0.2]), t([1.0, 0.5])), [D.AffineTransform(0.5, t([[2.0], [-0.5]])), D.SigmoidTransform()]),
        [0.3, 0.8]),
    "uniform": (lambda D, t: D.Uniform(t([0.0, -1.0]), t([1.5, 2.0])), [0.3, 1.2]),
    "uniform by numbers": (lambda D, t: D.Uniform(-1, 2), 0.3),
    "von mises": (lambda D, t: D.VonMises(t([0.3, -2.0]), t([0.7, 6.0])), [0.2, -1.4]),
    "weibull": (lambda D, t: D.Weibull(t([0.5, 1.5]), t([0.9, 3.0])), [0.8, 2.0]),
    "wishart": (lambda D, t: D.Wishart(t([4.0, 5.5]), t(MATRIX)), [[1.5, 0.2, 0.1], [0.2, 2.0, 0.3], [0.1, 0.3, 0.9]]),
    "wishart by precision": (lambda D, t: D.Wishart(4.5, precision_matrix=t(MATRIX)),
                             [[1.5, 0.2, 0.1], [0.2, 2.0, 0.3], [0.1, 0.3, 0.9]]),
}  # fmt: skip

# made of numbers, or such that torch compares them with a number in single precision
SINGLE = {name for name in FAMILIES if "number" in name} | {"generalized pareto"}


class Leaves(list):
    """A maker of leaves of one dtype that remembers what it made."""

    def __init__(self, torch, dtype):
        super().__init__()
        self.torch, self.dtype = torch, getattr(torch, dtype)

    def __call__(self, values):
        self.append(self.torch.tensor(values, dtype=self.dtype, requires_grad=True))
        return self[-1]


def made(torch, name, dtype=None):
    """The distribution of a name, its leaves and its values, in double precision where that is possible."""
    make, values = FAMILIES[name]
    dtype = dtype or ("float32" if name in SINGLE else "float64")
    leaves = Leaves(torch, dtype)
    member = make(importlib.import_module(f"{torch.__name__}.distributions"), leaves)
    whole = isinstance(values, list) and isinstance(values[0], int)
    return member, leaves, torch.tensor(values, dtype=torch.int64 if whole else leaves.dtype)
