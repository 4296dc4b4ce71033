"""What families of a chance or its log-odds share: the choice of parameter and the other one derived."""

from __future__ import annotations

from typing import Any

from .distribution import Distribution
from .utils import ONE_OF_TWO, broadcast_all, lazy_property, logits_to_probs, probs_to_logits


class ByChance(Distribution):
    """A family with one chance for each member of the batch, given as ``probs`` or as ``logits``."""

    _parameters = {"probs": 0, "logits": 0, "_param": 0}
    _param: Any

    def _take(self, probs: Any, logits: Any, *others: Any) -> list[Any]:
        """Keep the one that is given, broadcast with the others, which are given back."""
        if (probs is None) == (logits is None):
            raise ValueError(ONE_OF_TWO)
        *others_, given = broadcast_all(*others, logits if probs is None else probs)
        setattr(self, "logits" if probs is None else "probs", given)
        self._param = given
        return [other.type_as(given) for other in others_]

    def _new(self, *args: Any, **kwargs: Any) -> Any:
        return self._param.new(*args, **kwargs)

    @lazy_property
    def logits(self) -> Any:
        """The logarithms of the odds."""
        return probs_to_logits(self.probs, is_binary=True)

    @lazy_property
    def probs(self) -> Any:
        """The chances."""
        return logits_to_probs(self.logits, is_binary=True)

    @property
    def param_shape(self) -> Any:
        """The shape of the chances."""
        return self._param.size()
