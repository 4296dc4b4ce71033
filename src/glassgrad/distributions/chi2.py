"""The chi-squared distribution: sums of squares of normal numbers."""

from __future__ import annotations

from typing import Any

from . import constraints
from .gamma import Gamma

__all__ = ["Chi2"]


class Chi2(Gamma):
    """Sums of the squares of ``df`` standard normal numbers; ``df`` need not be whole.

    Source: https://docs.pytorch.org/docs/stable/distributions.html#chi2
    """

    arg_constraints = {"df": constraints.positive}
    _parameters = Gamma._parameters

    def __init__(self, df: Any, validate_args: bool | None = None) -> None:
        super().__init__(0.5 * df, 0.5, validate_args=validate_args)

    @property
    def df(self) -> Any:
        """How many squares are summed."""
        return self.concentration * 2
