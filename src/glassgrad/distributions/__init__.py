"""Probability distributions: samples, log-densities, moments and divergences, as ``torch.distributions`` has them.

Source: https://docs.pytorch.org/docs/stable/distributions.html
"""

from . import constraints, utils
from .bernoulli import Bernoulli
from .beta import Beta
from .binomial import Binomial
from .categorical import Categorical
from .dirichlet import Dirichlet
from .distribution import Distribution
from .exp_family import ExponentialFamily
from .gamma import Gamma
from .multinomial import Multinomial
from .normal import Normal
from .uniform import Uniform
