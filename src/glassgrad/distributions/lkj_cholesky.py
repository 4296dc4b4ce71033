"""The LKJ distribution of correlation matrices, by their Cholesky factors."""

from __future__ import annotations

import math
from typing import Any

from ..autograd.grad_mode import no_grad
from ..ground import dtypes
from ..ground.size import Size
from . import constraints
from .beta import Beta
from .distribution import Distribution
from .functions import functions as f
from .matrices import log_multigamma
from .utils import broadcast_all

__all__ = ["LKJCholesky"]


class LKJCholesky(Distribution):
    """Cholesky factors (*, dim, dim) of correlation matrices; ``concentration`` 1 is uniform, more is nearer to one.

    Source: Lewandowski, Kurowicka and Joe, Generating random correlation matrices (2009), the onion method
    """

    arg_constraints = {"concentration": constraints.positive}
    support = constraints.corr_cholesky
    _parameters = {"concentration": 0}
    _constants = ("dim",)

    def __init__(self, dim: int, concentration: Any = 1.0, validate_args: bool | None = None) -> None:
        if dim < 2:
            raise ValueError(f"Expected dim to be an integer greater than or equal to 2. Found dim={dim}.")
        self.dim = dim
        (self.concentration,) = broadcast_all(concentration)
        row = f.arange(dim - 1, dtype=self.concentration.dtype, device=self.concentration.device)
        row = f.cat([row.new_zeros((1,)), row])
        rest = self.concentration + 0.5 * (dim - 2)
        self._beta = Beta(row + 0.5, rest.unsqueeze(-1) - 0.5 * row)
        super().__init__(self.concentration.size(), Size((dim, dim)), validate_args)

    def _expand_inner(self, new: Any, batch_shape: Size) -> None:
        new._beta = self._beta.expand((*batch_shape, self.dim))

    def sample(self, sample_shape: Any = Size()) -> Any:  # noqa: B008
        """Each row: a direction, the squared length of what lies below the diagonal, the rest on it."""
        with no_grad():
            share = self._beta.sample(sample_shape).unsqueeze(-1)
            way = f.randn(self._extended_shape(sample_shape), dtype=share.dtype, device=share.device).tril(-1)
            way = way / way.norm(dim=-1, keepdim=True)
            way[..., 0, :].fill_(0.0)
            below = share.sqrt() * way
            rest = (1 - (below**2).sum(-1)).clamp(min=dtypes.finfo(below.dtype).tiny)
            return below + rest.sqrt().diag_embed()

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density over the factors."""
        if self._validate_args:
            self._validate_sample(value)
        n = self.dim - 1
        diagonal = value.diagonal(dim1=-1, dim2=-2)[..., 1:]
        order = 2 * (self.concentration - 1).unsqueeze(-1) + self.dim
        order = order - f.arange(2, self.dim + 1, device=self.concentration.device)
        alpha = self.concentration + 0.5 * n
        level = 0.5 * n * math.log(math.pi) + log_multigamma(alpha - 0.5, n) - alpha.lgamma() * n
        return (order * diagonal.log()).sum(-1) - level
