"""Probability distributions: samples, log-densities, moments and divergences, as ``torch.distributions`` has them.

Source: https://docs.pytorch.org/docs/stable/distributions.html
"""

from . import constraints, utils
from .categorical import Categorical
from .distribution import Distribution
from .exp_family import ExponentialFamily
from .normal import Normal

__all__ = ["Categorical", "Distribution", "ExponentialFamily", "Normal", "constraints", "utils"]
