"""Exponential families: what follows from natural parameters and the log-normalizer alone."""

from __future__ import annotations

from typing import Any

from ..autograd.api import grad
from .distribution import Distribution

__all__ = ["ExponentialFamily"]


class ExponentialFamily(Distribution):
    """Densities ``exp(<t(x), natural parameters> - log-normalizer + carrier(x))``.

    Source: F. Nielsen and R. Nock, Entropies and cross-entropies of exponential families (2010)
    """

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        raise NotImplementedError

    def _log_normalizer(self, *natural_params: Any) -> Any:
        raise NotImplementedError

    @property
    def _mean_carrier_measure(self) -> Any:
        raise NotImplementedError

    def _normalized(self) -> tuple[list[Any], Any, Any]:
        """Natural parameters as leaves, the log-normalizer, and its slopes: the means of the sufficient statistics."""
        natural = [p.detach().requires_grad_() for p in self._natural_params]
        level = self._log_normalizer(*natural)
        return natural, level, grad(level.sum(), natural, create_graph=True)

    def entropy(self) -> Any:
        """The entropy by Bregman's divergence of the log-normalizer."""
        measure = self._mean_carrier_measure
        natural, level, means = self._normalized()
        found = -measure + level
        for parameter, mean in zip(natural, means, strict=True):
            found = found - (parameter * mean).reshape((*self._batch_shape, -1)).sum(-1)
        return found
