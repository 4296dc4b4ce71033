"""Probability distributions: samples, log-densities, moments and divergences, as ``torch.distributions`` has them.

Source: https://docs.pytorch.org/docs/stable/distributions.html
"""

from ..ground.importing import load
from ..ground.paths import house, show, show_all
from . import constraints, transform, transforms, utils  # noqa: F401  the formulas register themselves
from .categories import Categorical, Multinomial, OneHotCategorical, OneHotCategoricalStraightThrough
from .composed import Independent, MixtureSameFamily, TransformedDistribution
from .constraint_registry import biject_to, transform_to
from .distribution import Distribution, ExponentialFamily
from .interval import Beta, Dirichlet, Uniform
from .kl import kl_divergence, register_kl
from .location import Cauchy, Laplace, Normal, StudentT, VonMises
from .multivariate import LKJCholesky, LowRankMultivariateNormal, MultivariateNormal, Wishart
from .positive import Chi2, Exponential, FisherSnedecor, Gamma, GeneralizedPareto
from .transformed import (
    Gumbel,
    HalfCauchy,
    HalfNormal,
    InverseGamma,
    Kumaraswamy,
    LogisticNormal,
    LogNormal,
    Pareto,
    RelaxedBernoulli,
    RelaxedOneHotCategorical,
    Weibull,
)
from .transforms import *  # noqa: F403
from .trials import Bernoulli, Binomial, ContinuousBernoulli, Geometric, NegativeBinomial, Poisson

__all__ = [
    "Bernoulli", "Beta", "Binomial", "Categorical", "Cauchy", "Chi2", "ContinuousBernoulli", "Dirichlet",
    "Distribution", "Exponential", "ExponentialFamily", "FisherSnedecor", "Gamma", "GeneralizedPareto", "Geometric",
    "Gumbel", "HalfCauchy", "HalfNormal", "Independent", "InverseGamma", "Kumaraswamy", "LKJCholesky", "Laplace",
    "LogNormal", "LogisticNormal", "LowRankMultivariateNormal", "MixtureSameFamily", "Multinomial",
    "MultivariateNormal", "NegativeBinomial", "Normal", "OneHotCategorical", "OneHotCategoricalStraightThrough",
    "Pareto", "RelaxedBernoulli", "RelaxedOneHotCategorical", "StudentT", "Poisson", "Uniform", "VonMises", "Weibull",
    "Wishart", "TransformedDistribution", "biject_to", "kl_divergence", "register_kl", "transform_to",
    *transforms.__all__,
]  # fmt: skip

_HOMES = {  # by file: PyTorch's files, and the families of each
    "categories": {
        "categorical": "Categorical", "multinomial": "Multinomial",
        "one_hot_categorical": "OneHotCategorical OneHotCategoricalStraightThrough",
        "relaxed_categorical": "ExpRelaxedCategorical",
    },
    "composed": {
        "independent": "Independent", "mixture_same_family": "MixtureSameFamily",
        "transformed_distribution": "TransformedDistribution",
    },
    "distribution": {"distribution": "Distribution", "exp_family": "ExponentialFamily"},
    "interval": {"beta": "Beta", "dirichlet": "Dirichlet", "uniform": "Uniform"},
    "location": {
        "cauchy": "Cauchy", "laplace": "Laplace", "normal": "Normal", "studentT": "StudentT", "von_mises": "VonMises",
    },
    "multivariate": {
        "lkj_cholesky": "LKJCholesky", "lowrank_multivariate_normal": "LowRankMultivariateNormal",
        "multivariate_normal": "MultivariateNormal", "wishart": "Wishart",
    },
    "positive": {
        "chi2": "Chi2", "exponential": "Exponential", "fishersnedecor": "FisherSnedecor", "gamma": "Gamma",
        "generalized_pareto": "GeneralizedPareto",
    },
    "transformed": {
        "gumbel": "Gumbel", "half_cauchy": "HalfCauchy", "half_normal": "HalfNormal", "inverse_gamma": "InverseGamma",
        "kumaraswamy": "Kumaraswamy", "log_normal": "LogNormal", "logistic_normal": "LogisticNormal",
        "pareto": "Pareto", "relaxed_bernoulli": "RelaxedBernoulli",
        "relaxed_categorical": "RelaxedOneHotCategorical", "weibull": "Weibull",
    },
    "trials": {
        "bernoulli": "Bernoulli", "binomial": "Binomial", "continuous_bernoulli": "ContinuousBernoulli",
        "geometric": "Geometric", "negative_binomial": "NegativeBinomial", "poisson": "Poisson",
        "relaxed_bernoulli": "LogitRelaxedBernoulli",
    },
}  # fmt: skip
show_all(__name__, _HOMES)
show(f"{__name__}.multivariate_normal", f"{__name__}.matrices",
     "_batch_mahalanobis=squared_distance _batch_mv=times _precision_to_scale_tril=factor_of_inverse")  # fmt: skip
for _file, _families in _HOMES.items():
    house(load(f"{__name__}.{_file}"), f"{__name__}.{next(iter(_families))}")
house(transform, f"{__name__}.transforms")
for _path in {_path for _families in _HOMES.values() for _path in _families}:
    load(f"{__name__}.{_path}")  # from then on an attribute
