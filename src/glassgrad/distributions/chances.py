"""What families of a chance or its log-odds share, and those of the chances of several categories."""

from __future__ import annotations

from typing import Any

from . import constraints
from .categorical import Categorical
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


class ByCategories(Distribution):
    """A family of vectors with a place for each of several categories, whose chances are its parameters."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    _parts = ("_categorical",)

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        self._categorical = Categorical(probs, logits)
        super().__init__(
            self._categorical.batch_shape, self._categorical.param_shape[-1:], validate_args=validate_args
        )

    def _new(self, *args: Any, **kwargs: Any) -> Any:
        return self._categorical._new(*args, **kwargs)

    @property
    def probs(self) -> Any:
        """The chances, which sum to one."""
        return self._categorical.probs

    @property
    def logits(self) -> Any:
        """Logarithms of the chances."""
        return self._categorical.logits

    @property
    def param_shape(self) -> Any:
        """The shape of the chances."""
        return self._categorical.param_shape
