"""Which transform leads from all real numbers to a constraint: ``biject_to`` and ``transform_to``.

Source: https://docs.pytorch.org/docs/stable/distributions.html#module-torch.distributions.constraint_registry
"""

from __future__ import annotations

from typing import Any

from . import constraints, transforms
from .utils import NUMBERS

__all__ = ["ConstraintRegistry", "biject_to", "transform_to"]


class ConstraintRegistry:
    """Makers of transforms by the class of constraint; called with a constraint, it gives its transform."""

    def __init__(self) -> None:
        self._registry: dict[type, Any] = {}
        super().__init__()

    def register(self, constraint: Any, factory: Any = None) -> Any:
        """Name the maker for a class of constraint, or that of one; without a maker, a decorator of it."""
        if factory is None:
            return lambda factory: self.register(constraint, factory)
        if isinstance(constraint, constraints.Constraint):
            constraint = type(constraint)
        if not isinstance(constraint, type) or not issubclass(constraint, constraints.Constraint):
            raise TypeError(f"Expected constraint to be either a Constraint subclass or instance, but got {constraint}")
        self._registry[constraint] = factory
        return factory

    def __call__(self, constraint: Any) -> Any:
        """The transform to a constraint; NotImplementedError where none is known."""
        factory = self._registry.get(type(constraint))
        if factory is None:
            raise NotImplementedError(f"Cannot transform {type(constraint).__name__} constraints")
        return factory(constraint)


biject_to = ConstraintRegistry()
transform_to = ConstraintRegistry()
_BOTH = (biject_to, transform_to)


def _from(bound: Any, direction: int) -> Any:
    return transforms.ComposeTransform([transforms.ExpTransform(), transforms.AffineTransform(bound, direction)])


def _between(constraint: Any) -> Any:
    low, high = constraint.lower_bound, constraint.upper_bound
    squash = transforms.SigmoidTransform()
    if isinstance(low, NUMBERS) and low == 0 and isinstance(high, NUMBERS) and high == 1:
        return squash
    return transforms.ComposeTransform([squash, transforms.AffineTransform(low, high - low)])


def _by_class(registries: Any, makers: dict[Any, Any]) -> None:
    for registry in registries:
        for constraint, maker in makers.items():
            registry.register(constraint, maker)


_by_class(_BOTH, {
    constraints.real: lambda _: transforms.identity_transform,
    constraints.corr_cholesky: lambda _: transforms.CorrCholeskyTransform(),
    constraints.less_than: lambda constraint: _from(constraint.upper_bound, -1),
    constraints.interval: _between,
    constraints.half_open_interval: _between,
    constraints.greater_than: lambda constraint: _from(constraint.lower_bound, 1),
    constraints.greater_than_eq: lambda constraint: _from(constraint.lower_bound, 1),
})  # fmt: skip
_by_class((biject_to,), {constraints.simplex: lambda _: transforms.StickBreakingTransform()})
_by_class((transform_to,), {
    constraints.simplex: lambda _: transforms.SoftmaxTransform(),
    constraints.lower_cholesky: lambda _: transforms.LowerCholeskyTransform(),
    constraints.positive_definite: lambda _: transforms.PositiveDefiniteTransform(),
    constraints.positive_semidefinite: lambda _: transforms.PositiveDefiniteTransform(),
})  # fmt: skip


def _of_others(registry: ConstraintRegistry) -> dict[Any, Any]:
    return {
        constraints.independent: lambda constraint: transforms.IndependentTransform(
            registry(constraint.base_constraint), constraint.reinterpreted_batch_ndims
        ),
        constraints.cat: lambda constraint: transforms.CatTransform(
            [registry(c) for c in constraint.cseq], constraint.dim, constraint.lengths
        ),
        constraints.stack: lambda constraint: transforms.StackTransform(
            [registry(c) for c in constraint.cseq], constraint.dim
        ),
    }


for _registry in _BOTH:
    _by_class((_registry,), _of_others(_registry))
