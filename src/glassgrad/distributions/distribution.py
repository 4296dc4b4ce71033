"""The base of all distributions: shapes, checks of parameters and samples, what each family may answer."""

from __future__ import annotations

import warnings
from operator import attrgetter
from typing import Any

from ..autograd.api import grad
from ..autograd.grad_mode import no_grad
from ..core.tensor import Tensor
from ..ground.names import home_of
from ..ground.size import Size
from ..tensor.lifted import Lifted, all_values
from . import constraints
from .utils import lazy_property

__all__ = ["Distribution"]


def all_true(valid: Any) -> bool:
    """Whether every element of a tensor of decisions is true, of all examples where it is a batch."""
    return bool(all_values(valid).all() if isinstance(valid, Lifted) or type(valid) is Tensor else valid.all())


def kind_of(value: Any) -> str:
    """What messages call the type of a tensor: Tensor, also within a transform."""
    return "Tensor" if isinstance(value, Lifted) else type(value).__name__


_HERE = f"{__name__.rpartition('.')[0]}."  # the families' modules


class Distribution:
    """A batch of probability distributions of one family: samples, log-densities, moments.

    batch_shape    the shape over which parameters differ
    event_shape    the shape of one sample of one member of the batch
    validate_args  whether parameters and values are checked; as ``set_default_validate_args`` says where None

    A family writes its mathematics in ``_log_prob`` and ``_cdf``; values are checked here. It needs no ``expand`` of
    its own where its state is its parameters, the tensors and inner distributions over the same batch that it names in
    ``_batched``, and what every batch shares, named in ``_constants``.
    Source: https://docs.pytorch.org/docs/stable/distributions.html
    """

    has_rsample = False
    has_enumerate_support = False
    _validate_args = __debug__
    _batched: tuple[str, ...] = ()
    _constants: tuple[str, ...] = ()
    _log_prob: Any = None
    _cdf: Any = None

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Say whether distributions made from now on check what they are given."""
        if value not in (True, False):
            raise ValueError
        Distribution._validate_args = value

    def __init__(self, batch_shape: Any = Size(), event_shape: Any = Size(), validate_args: bool | None = None) -> None:
        self._batch_shape = batch_shape
        self._event_shape = event_shape
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._check_parameters()
        super().__init__()

    def _check_parameters(self) -> None:
        try:
            wanted = self.arg_constraints
        except NotImplementedError:
            warnings.warn(
                f"{self.__class__} does not define `arg_constraints`. Please set `arg_constraints = {{}}` or "
                "initialize the distribution with `validate_args=False` to turn off validation.",
                stacklevel=3,
            )
            return
        for name, constraint in wanted.items():
            if constraints.is_dependent(constraint):
                continue
            if name not in self.__dict__ and isinstance(getattr(type(self), name), lazy_property):
                continue  # computed from one that is checked
            value = getattr(self, name)
            if not all_true(constraint.check(value)):
                raise ValueError(
                    f"Expected parameter {name} ({kind_of(value)} of shape {tuple(value.shape)}) of distribution "
                    f"{self!r} to satisfy the constraint {constraint!r}, but found invalid values:\n{value}"
                )

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The same distributions over a larger batch shape; parameters are expanded views, nothing is checked anew."""
        family: Any = next(c for c in type(self).__mro__ if home_of(c).startswith(_HERE))
        if family is Distribution:
            raise NotImplementedError
        new = self._get_checked_instance(family, _instance)
        batch_shape = Size(batch_shape)
        parameters = family.arg_constraints  # what a class of the user's adds to them it expands itself
        if isinstance(parameters, property):
            parameters = self.arg_constraints
        for name in (*parameters, *self._batched):
            if name in self.__dict__:  # not what is computed from others
                value = self.__dict__[name]
                shape = value.batch_shape if isinstance(value, Distribution) else value.shape
                setattr(new, name, value.expand(batch_shape + shape[len(self._batch_shape) :]))
        for name in self._constants:
            setattr(new, name, getattr(self, name))
        Distribution.__init__(new, batch_shape, self._event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    batch_shape = property(attrgetter("_batch_shape"), doc="The shape over which parameters differ.")
    event_shape = property(attrgetter("_event_shape"), doc="The shape of one sample of one member of the batch.")

    @property
    def arg_constraints(self) -> dict[str, constraints.Constraint]:
        """What each parameter must satisfy, by its name."""
        raise NotImplementedError

    @property
    def support(self) -> Any:
        """The constraint that samples satisfy."""
        raise NotImplementedError

    @property
    def mean(self) -> Any:
        """The mean, of batch and event shape."""
        raise NotImplementedError

    @property
    def mode(self) -> Any:
        """The value of the highest density, of batch and event shape."""
        raise NotImplementedError(f"{self.__class__} does not implement mode")

    @property
    def variance(self) -> Any:
        """The variance, of batch and event shape."""
        raise NotImplementedError

    @property
    def stddev(self) -> Any:
        """The root of the variance."""
        return self.variance.sqrt()

    def sample(self, sample_shape: Any = Size()) -> Any:
        """Samples without a gradient: of ``sample_shape``, then batch shape, then event shape."""
        with no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Any = Size()) -> Any:
        """Samples as a differentiable function of the parameters."""
        raise NotImplementedError

    def sample_n(self, n: int) -> Any:
        """``sample((n,))``, the old name."""
        warnings.warn("`sample_n(n)` will be deprecated. Use `sample((n,))` instead.", FutureWarning, stacklevel=2)
        return self.sample(Size((n,)))

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density, or of the chance, at ``value``."""
        return self._checked(self._log_prob, value)

    def cdf(self, value: Any) -> Any:
        """The chance of at most ``value``."""
        return self._checked(self._cdf, value)

    def _checked(self, formula: Any, value: Any) -> Any:
        """A formula of the family's at ``value``, which must be possible."""
        if formula is None:
            raise NotImplementedError
        if self._validate_args:
            self._validate_sample(value)
        return formula(value)

    def icdf(self, value: Any) -> Any:
        """The number below which a sample falls with chance ``value``."""
        raise NotImplementedError

    def enumerate_support(self, expand: bool = True) -> Any:
        """All values of a discrete distribution along a new first dimension; ``expand`` fills the batch shape."""
        raise NotImplementedError

    def _enumerated(self, values: Any, expand: bool) -> Any:
        """A list of values along the first dimension, in the batch's number of dimensions."""
        values = values.view((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1, *self._batch_shape)) if expand else values

    def entropy(self) -> Any:
        """The entropy in nats, of batch shape."""
        raise NotImplementedError

    def perplexity(self) -> Any:
        """The exponential of the entropy."""
        return self.entropy().exp()

    def _extended_shape(self, sample_shape: Any = Size()) -> Size:
        """The shape of samples: ``sample_shape``, batch shape, event shape."""
        if not isinstance(sample_shape, Size):
            sample_shape = Size(sample_shape)
        return Size(sample_shape + self._batch_shape + self._event_shape)

    def _validate_sample(self, value: Any) -> None:
        """Raise ValueError unless ``value`` is a tensor of fitting shape within the support."""
        if not isinstance(value, Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        sizes: Size = value.shape
        if sizes[len(sizes) - len(self._event_shape) :] != self._event_shape:
            raise ValueError(f"The right-most size of value must match event_shape: {sizes} vs {self._event_shape}.")
        own = self._batch_shape + self._event_shape
        if sizes != own:
            for i, j in zip(reversed(sizes), reversed(own), strict=False):
                if i != 1 and j != 1 and i != j:
                    raise ValueError(f"Value is not broadcastable with batch_shape+event_shape: {sizes} vs {own}.")
        try:
            support = self.support
        except NotImplementedError:
            warnings.warn(
                f"{self.__class__} does not define `support` to enable sample validation. Please initialize the "
                "distribution with `validate_args=False` to turn off validation.",
                stacklevel=3,
            )
            return
        assert support is not None
        if not all_true(support.check(value)):
            raise ValueError(
                f"Expected value argument ({kind_of(value)} of shape {tuple(sizes)}) to be within the support "
                f"({support!r}) of the distribution {self!r}, but found invalid values:\n{value}"
            )

    def _get_checked_instance(self, cls: type, _instance: Any = None) -> Any:
        if _instance is None and type(self).__init__ != cls.__init__:  # type: ignore[misc]
            raise NotImplementedError(
                f"Subclass {self.__class__.__name__} of {cls.__name__} that defines a custom __init__ method must "
                "also define a custom .expand() method."
            )
        return self.__new__(type(self)) if _instance is None else _instance

    def __repr__(self) -> str:
        shown = []
        for name in self.arg_constraints:
            if name in self.__dict__:
                value = self.__dict__[name]
                shown.append(f"{name}: {value if value.numel() == 1 else value.size()}")
        return f"{self.__class__.__name__}({', '.join(shown)})"


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
        measure = self._mean_carrier_measure
        natural, level, means = self._normalized()  # and by these, Bregman's divergence of the log-normalizer
        entropy = -measure + level
        for parameter, mean in zip(natural, means, strict=True):
            entropy = entropy - (parameter * mean).reshape((*self._batch_shape, -1)).sum(-1)
        return entropy
