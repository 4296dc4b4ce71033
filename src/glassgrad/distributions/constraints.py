"""Constraints: the regions where parameters and samples of distributions lie, each with a check.

``check(value)`` gives a tensor of decisions with the last ``event_dim`` dimensions of ``value`` taken away.
Source: https://docs.pytorch.org/docs/stable/distributions.html#module-torch.distributions.constraints
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from ..ground import dtypes
from .matrices import has_factor, smallest_eigenvalues
from .utils import functions as f

__all__ = [
    "Constraint", "boolean", "cat", "corr_cholesky", "dependent", "dependent_property", "greater_than",
    "greater_than_eq", "independent", "integer_interval", "interval", "half_open_interval", "is_dependent",
    "less_than", "lower_cholesky", "lower_triangular", "MixtureSameFamilyConstraint", "multinomial", "nonnegative",
    "nonnegative_integer", "one_hot", "positive", "positive_semidefinite", "positive_definite", "positive_integer",
    "real", "real_vector", "simplex", "square", "stack", "symmetric", "unit_interval",
]  # fmt: skip


class Constraint:
    """A region of numbers, vectors or matrices.

    is_discrete  whether its values are apart from each other
    event_dim    how many dimensions one value has
    """

    is_discrete: Any = False
    event_dim: Any = 0
    _shown: ClassVar[tuple[str, ...]] = ()

    def check(self, value: Any) -> Any:
        """Whether each value lies within."""
        raise NotImplementedError

    def __repr__(self) -> str:
        inside = ", ".join(f"{name}={getattr(self, name)}" for name in self._shown)
        return f"{type(self).__name__[1:]}({inside})"


# -- what depends on other values -------------------------------------------------------------------------------------


class _Dependent(Constraint):
    """A region known only together with other parameters; what is known beforehand may be given."""

    def __init__(self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented) -> None:
        self._is_discrete, self._event_dim = is_discrete, event_dim
        super().__init__()

    @property
    def is_discrete(self) -> bool:  # type: ignore[override]
        if self._is_discrete is NotImplemented:
            raise NotImplementedError(".is_discrete cannot be determined statically")
        return self._is_discrete  # type: ignore[no-any-return]

    @property
    def event_dim(self) -> int:  # type: ignore[override]
        if self._event_dim is NotImplemented:
            raise NotImplementedError(".event_dim cannot be determined statically")
        return self._event_dim  # type: ignore[no-any-return]

    def __call__(self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented) -> Any:
        return _Dependent(
            is_discrete=self._is_discrete if is_discrete is NotImplemented else is_discrete,
            event_dim=self._event_dim if event_dim is NotImplemented else event_dim,
        )

    def check(self, x: Any) -> Any:
        raise ValueError("Cannot determine validity of dependent constraint")


def is_dependent(constraint: Any) -> bool:
    """Whether a constraint is known only together with other values."""
    return isinstance(constraint, _Dependent)


class _DependentProperty(property, _Dependent):
    """A property of objects that is a dependent constraint when looked up on the class."""

    def __init__(
        self, fn: Callable[..., Any] | None = None, *, is_discrete: Any = NotImplemented,
        event_dim: Any = NotImplemented,
    ) -> None:  # fmt: skip
        super().__init__(fn)
        self._is_discrete, self._event_dim = is_discrete, event_dim

    def __call__(self, fn: Callable[..., Any]) -> _DependentProperty:  # type: ignore[override]
        return _DependentProperty(fn, is_discrete=self._is_discrete, event_dim=self._event_dim)


# -- made of others ---------------------------------------------------------------------------------------------------


def _need_constraint(base: Any) -> None:
    if not isinstance(base, Constraint):
        raise AssertionError(f"base_constraint must be a Constraint, got {type(base).__name__}")


def _all_after(decisions: Any, kept: int) -> Any:
    """Decisions of all dimensions but the first ``kept`` taken together."""
    return decisions.reshape((*decisions.shape[:kept], -1)).all(-1)


class _Around(Constraint):
    """A constraint that passes on what another says of itself."""

    base_constraint: Constraint

    @property
    def is_discrete(self) -> bool:  # type: ignore[override]
        return self.base_constraint.is_discrete  # type: ignore[no-any-return]

    @property
    def event_dim(self) -> int:  # type: ignore[override]
        return self.base_constraint.event_dim  # type: ignore[no-any-return]


class _IndependentConstraint(_Around):
    """Another constraint, all decisions over the last dimensions of the batch taken together."""

    def __init__(self, base_constraint: Any, reinterpreted_batch_ndims: Any) -> None:
        _need_constraint(base_constraint)
        n = reinterpreted_batch_ndims
        if not isinstance(n, int):
            raise AssertionError(f"reinterpreted_batch_ndims must be an int, got {type(n).__name__}")
        if n < 0:
            raise AssertionError(f"reinterpreted_batch_ndims must be >= 0, got {n}")
        self.base_constraint, self.reinterpreted_batch_ndims = base_constraint, n
        super().__init__()

    @property
    def event_dim(self) -> int:  # type: ignore[override]
        return self.base_constraint.event_dim + self.reinterpreted_batch_ndims  # type: ignore[no-any-return]

    def check(self, value: Any) -> Any:
        decisions = self.base_constraint.check(value)
        if decisions.dim() < self.reinterpreted_batch_ndims:
            raise ValueError(f"Expected value.dim() >= {self.event_dim} but got {value.dim()}")
        return _all_after(decisions, decisions.dim() - self.reinterpreted_batch_ndims)

    def __repr__(self) -> str:
        return f"{type(self).__name__[1:]}({self.base_constraint!r}, {self.reinterpreted_batch_ndims})"


class MixtureSameFamilyConstraint(_Around):
    """The support of a mixture: that of its components, whose batch has one dimension more."""

    def __init__(self, base_constraint: Any) -> None:
        _need_constraint(base_constraint)
        self.base_constraint = base_constraint
        super().__init__()

    def check(self, value: Any) -> Any:
        """Whether each value is possible for all components."""
        decisions = self.base_constraint.check(value.unsqueeze(-1 - self.event_dim))
        if value.dim() < self.event_dim:
            raise ValueError(f"Expected value.dim() >= {self.event_dim} but got {value.dim()}")
        return _all_after(decisions, value.dim() - self.event_dim)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_constraint!r})"


class _Several(Constraint):
    """Constraints for the parts of a tensor along a dimension."""

    def __init__(self, cseq: Sequence[Constraint], dim: int = 0) -> None:
        if not all(isinstance(c, Constraint) for c in cseq):
            raise AssertionError("All elements of cseq must be Constraint instances")
        self.cseq, self.dim = list(cseq), dim
        super().__init__()

    is_discrete = property(lambda self: any(c.is_discrete for c in self.cseq))  # type: ignore[override]

    @property
    def event_dim(self) -> int:  # type: ignore[override]
        return max(c.event_dim for c in self.cseq)  # type: ignore[no-any-return]

    def _need_dim(self, value: Any) -> None:
        if not -value.dim() <= self.dim < value.dim():
            raise AssertionError(f"dim {self.dim} out of range for value with {value.dim()} dimensions")


class _Cat(_Several):
    """Constraints for pieces joined along ``dim``, of ``lengths`` each."""

    def __init__(self, cseq: Sequence[Constraint], dim: int = 0, lengths: Any = None) -> None:
        super().__init__(cseq, dim)
        self.lengths = [1] * len(self.cseq) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.cseq):
            raise AssertionError(f"lengths ({len(self.lengths)}) must match cseq ({len(self.cseq)})")

    def check(self, value: Any) -> Any:
        self._need_dim(value)
        pieces = value.split(self.lengths, self.dim)
        return f.cat([c.check(piece) for c, piece in zip(self.cseq, pieces, strict=True)], self.dim)


class _Stack(_Several):
    """Constraints for slices stacked along ``dim``."""

    @property
    def event_dim(self) -> int:  # type: ignore[override]
        dim = max(c.event_dim for c in self.cseq)
        return dim + 1 if self.dim + dim < 0 else dim  # type: ignore[no-any-return]

    def check(self, value: Any) -> Any:
        self._need_dim(value)
        slices = value.unbind(self.dim)
        return f.stack([c.check(piece) for c, piece in zip(self.cseq, slices, strict=False)], self.dim)


# -- numbers ----------------------------------------------------------------------------------------------------------


class _Boolean(Constraint):
    """Zero or one."""

    is_discrete = True

    def check(self, value: Any) -> Any:
        return (value == 0) | (value == 1)


class _Above(Constraint):
    """Regions with a lower end."""

    _shown = ("lower_bound",)

    def __init__(self, lower_bound: Any) -> None:
        self.lower_bound = lower_bound
        super().__init__()


class _Below(Constraint):
    """Regions with an upper end."""

    _shown = ("upper_bound",)

    def __init__(self, upper_bound: Any) -> None:
        self.upper_bound = upper_bound
        super().__init__()


class _Between(Constraint):
    """Regions with two ends."""

    _shown = ("lower_bound", "upper_bound")

    def __init__(self, lower_bound: Any, upper_bound: Any) -> None:
        self.lower_bound, self.upper_bound = lower_bound, upper_bound
        super().__init__()


class _IntegerInterval(_Between):
    """Whole numbers between two, both included."""

    is_discrete = True

    def check(self, value: Any) -> Any:
        return (value % 1 == 0) & (self.lower_bound <= value) & (value <= self.upper_bound)


class _IntegerLessThan(_Below):
    """Whole numbers up to one."""

    is_discrete = True

    def check(self, value: Any) -> Any:
        return (value % 1 == 0) & (value <= self.upper_bound)


class _IntegerGreaterThan(_Above):
    """Whole numbers from one up."""

    is_discrete = True

    def check(self, value: Any) -> Any:
        return (value % 1 == 0) & (value >= self.lower_bound)


class _Real(Constraint):
    """All but NaN."""

    def check(self, value: Any) -> Any:
        return value == value  # NaN differs from itself


class _GreaterThan(_Above):
    """Numbers above a bound."""

    def check(self, value: Any) -> Any:
        return self.lower_bound < value


class _GreaterThanEq(_Above):
    """Numbers from a bound up."""

    def check(self, value: Any) -> Any:
        return self.lower_bound <= value


class _LessThan(_Below):
    """Numbers below a bound."""

    def check(self, value: Any) -> Any:
        return value < self.upper_bound


class _Interval(_Between):
    """Numbers between two, both included."""

    def check(self, value: Any) -> Any:
        return (self.lower_bound <= value) & (value <= self.upper_bound)


class _HalfOpenInterval(_Between):
    """Numbers between two, the upper excluded."""

    def check(self, value: Any) -> Any:
        return (self.lower_bound <= value) & (value < self.upper_bound)


# -- vectors ----------------------------------------------------------------------------------------------------------


class _OneHot(Constraint):
    """Vectors of one one and else zeros."""

    is_discrete = True
    event_dim = 1

    def check(self, value: Any) -> Any:
        return boolean.check(value).all(-1) & value.sum(-1).eq(1)


class _Simplex(Constraint):
    """Vectors of chances that sum to one, to within a millionth."""

    event_dim = 1

    def check(self, value: Any) -> Any:
        return (value >= 0).all(-1) & ((value.sum(-1) - 1).abs() < 1e-6)


class _Multinomial(Constraint):
    """Vectors of counts of at most ``upper_bound`` together."""

    is_discrete = True
    event_dim = 1

    def __init__(self, upper_bound: Any) -> None:
        self.upper_bound = upper_bound

    def check(self, x: Any) -> Any:
        return (x >= 0).all(dim=-1) & (x.sum(dim=-1) <= self.upper_bound)


# -- matrices ---------------------------------------------------------------------------------------------------------


class _LowerTriangular(Constraint):
    """Matrices of zeros above the diagonal."""

    event_dim = 2

    def check(self, value: Any) -> Any:
        return _all_after(value.tril() == value, value.dim() - 2)


class _LowerCholesky(Constraint):
    """Lower triangular matrices of positive diagonals."""

    event_dim = 2

    def check(self, value: Any) -> Any:
        return lower_triangular.check(value) & (value.diagonal(dim1=-2, dim2=-1) > 0).all(-1)


class _CorrCholesky(Constraint):
    """Lower triangular matrices of positive diagonals and rows of length one: factors of correlations."""

    event_dim = 2

    def check(self, value: Any) -> Any:
        slack = dtypes.finfo(value.dtype).eps * value.size(-1) * 10
        lengths = value.detach().square().sum(-1).sqrt()
        return lower_cholesky.check(value) & (lengths - 1.0).abs().le(slack).all(dim=-1)


class _Square(Constraint):
    """Matrices with as many rows as columns."""

    event_dim = 2

    def check(self, value: Any) -> Any:
        return f.full(value.shape[:-2], value.shape[-2] == value.shape[-1], dtype=dtypes.bool, device=value.device)


class _Symmetric(_Square):
    """Square matrices that are their own transposes, to within a millionth."""

    def check(self, value: Any) -> Any:
        fitting = super().check(value)
        if not fitting.all():
            return fitting
        return f.isclose(value, value.mT, atol=1e-6).all(-2).all(-1)


class _PositiveSemidefinite(_Symmetric):
    """Symmetric matrices without negative eigenvalues."""

    def check(self, value: Any) -> Any:
        fitting = super().check(value)
        if not fitting.all():
            return fitting
        return smallest_eigenvalues(value).ge(0)


class _PositiveDefinite(_Symmetric):
    """Symmetric matrices that have a Cholesky factor."""

    def check(self, value: Any) -> Any:
        fitting = super().check(value)
        if not fitting.all():
            return fitting
        return has_factor(value)


dependent = _Dependent()
dependent_property = _DependentProperty
independent = _IndependentConstraint
boolean = _Boolean()
one_hot = _OneHot()
nonnegative_integer = _IntegerGreaterThan(0)
positive_integer = _IntegerGreaterThan(1)
integer_interval = _IntegerInterval
real = _Real()
real_vector = independent(real, 1)
positive = _GreaterThan(0.0)
nonnegative = _GreaterThanEq(0.0)
greater_than = _GreaterThan
greater_than_eq = _GreaterThanEq
less_than = _LessThan
multinomial = _Multinomial
unit_interval = _Interval(0.0, 1.0)
interval = _Interval
half_open_interval = _HalfOpenInterval
simplex = _Simplex()
lower_triangular = _LowerTriangular()
lower_cholesky = _LowerCholesky()
corr_cholesky = _CorrCholesky()
square = _Square()
symmetric = _Symmetric()
positive_semidefinite = _PositiveSemidefinite()
positive_definite = _PositiveDefinite()
cat = _Cat
stack = _Stack
