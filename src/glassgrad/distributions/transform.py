"""The base of all transforms, and transforms made of others: inverse, in sequence, over more dimensions, in pieces."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Any, ClassVar

from ..ground.size import Size
from . import constraints
from .utils import _sum_rightmost, lazy_property
from .utils import functions as f

FEW_DIMS = "Too few dimensions on input"


class Transform:
    """A map ``_call`` from ``domain`` to ``codomain``, its inverse ``_inverse``, and ``log_abs_det_jacobian``.

    ``cache_size`` 1 keeps the last pair, so that inverting what was just computed costs nothing and loses nothing.
    A family that names its arguments in ``_settings`` needs no ``with_cache`` of its own.
    """

    bijective: Any = False
    domain: Any
    codomain: Any
    _settings: ClassVar[tuple[str, ...]] = ()

    def __init__(self, cache_size: int = 0) -> None:
        if cache_size not in (0, 1):
            raise ValueError("cache_size must be 0 or 1")
        self._cache_size = cache_size
        self._inv: Any = None
        self._cached_x_y: tuple[Any, Any] = (None, None)
        super().__init__()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_inv": None}

    @property
    def event_dim(self) -> int:
        """How many dimensions one value has, before and after."""
        if self.domain.event_dim == self.codomain.event_dim:
            return self.domain.event_dim  # type: ignore[no-any-return]
        raise ValueError("Please use either .domain.event_dim or .codomain.event_dim")

    @property
    def inv(self) -> Any:
        """The inverse map."""
        if self._inv is None:
            self._inv = _InverseTransform(self)
        return self._inv

    @property
    def sign(self) -> Any:
        """1 where the map rises, -1 where it falls."""
        raise NotImplementedError

    def with_cache(self, cache_size: int = 1) -> Any:
        """The same map with another size of cache."""
        if self._cache_size == cache_size:
            return self
        if type(self).__init__ is Transform.__init__:
            return type(self)(cache_size=cache_size)
        family: Any = next((c for c in type(self).__mro__ if "_settings" in c.__dict__), Transform)
        if family is Transform:
            raise NotImplementedError(f"{type(self)}.with_cache is not implemented")
        return family(*[getattr(self, name) for name in self._settings], cache_size=cache_size)

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = None  # type: ignore[assignment]  # as PyTorch's, of which some are equal by value

    def __call__(self, x: Any) -> Any:
        if not self._cache_size:
            return self._call(x)
        before, after = self._cached_x_y
        if x is not before or before is None:
            after = self._call(x)
            self._cached_x_y = x, after
        return after

    def _inv_call(self, y: Any) -> Any:
        if not self._cache_size:
            return self._inverse(y)
        before, after = self._cached_x_y
        if y is not after or after is None:
            before = self._inverse(y)
            self._cached_x_y = before, y
        return before

    def _call(self, x: Any) -> Any:
        raise NotImplementedError

    def _inverse(self, y: Any) -> Any:
        raise NotImplementedError

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """The logarithm of the absolute determinant of the slopes at ``x``, whose image is ``y``."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def forward_shape(self, shape: Any) -> Any:
        """The shape of the image of a tensor of a shape."""
        return shape

    def inverse_shape(self, shape: Any) -> Any:
        """The shape of what is mapped to a tensor of a shape."""
        return shape


class _InverseTransform(Transform):
    """A map read backwards; ``t.inv.inv`` is ``t``."""

    def __init__(self, transform: Transform) -> None:
        super().__init__(cache_size=transform._cache_size)
        self._inv = transform

    @constraints.dependent_property(is_discrete=False)
    def domain(self) -> Any:
        return self._inv.codomain

    @constraints.dependent_property(is_discrete=False)
    def codomain(self) -> Any:
        return self._inv.domain

    bijective = property(attrgetter("_inv.bijective"))
    sign = property(attrgetter("_inv.sign"))
    inv = property(attrgetter("_inv"))

    def with_cache(self, cache_size: int = 1) -> Any:
        return self.inv.with_cache(cache_size).inv

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _InverseTransform) and self._inv == other._inv

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._inv!r})"

    def __call__(self, x: Any) -> Any:
        return self._inv._inv_call(x)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return -self._inv.log_abs_det_jacobian(y, x)

    def forward_shape(self, shape: Any) -> Any:
        return self._inv.inverse_shape(shape)

    def inverse_shape(self, shape: Any) -> Any:
        return self._inv.forward_shape(shape)


# -- made of others ---------------------------------------------------------------------------------------------------


def _lifted(constraint: Any, event_dim: int) -> Any:
    """A constraint whose values have ``event_dim`` dimensions."""
    more = event_dim - constraint.event_dim
    return constraints.independent(constraint, more) if more else constraint


class ComposeTransform(Transform):
    """Several maps, one after the other."""

    def __init__(self, parts: list[Any], cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.parts = [part.with_cache(cache_size) for part in parts] if cache_size else parts

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ComposeTransform) and self.parts == other.parts

    __hash__ = None  # type: ignore[assignment]

    @constraints.dependent_property(is_discrete=False)
    def domain(self) -> Any:
        """Where the first one starts, in the dimensions that all of them need."""
        if not self.parts:
            return constraints.real
        dims = self.parts[-1].codomain.event_dim
        for part in reversed(self.parts):
            dims = max(dims + part.domain.event_dim - part.codomain.event_dim, part.domain.event_dim)
        return _lifted(self.parts[0].domain, dims)

    @constraints.dependent_property(is_discrete=False)
    def codomain(self) -> Any:
        """Where the last one ends, in the dimensions that all of them need."""
        if not self.parts:
            return constraints.real
        dims = self.parts[0].domain.event_dim
        for part in self.parts:
            dims = max(dims + part.codomain.event_dim - part.domain.event_dim, part.codomain.event_dim)
        return _lifted(self.parts[-1].codomain, dims)

    @lazy_property
    def bijective(self) -> Any:
        """Whether all of them are."""
        return all(part.bijective for part in self.parts)

    @lazy_property
    def sign(self) -> Any:
        """The product of their signs."""
        sign = 1
        for part in self.parts:
            sign = sign * part.sign
        return sign

    @property
    def inv(self) -> Any:
        """Their inverses in the other order."""
        if self._inv is None:
            self._inv = ComposeTransform([part.inv for part in reversed(self.parts)])
            self._inv._inv = self
        return self._inv

    def with_cache(self, cache_size: int = 1) -> Any:
        """The same maps with another size of cache."""
        return self if self._cache_size == cache_size else ComposeTransform(self.parts, cache_size=cache_size)

    def __call__(self, x: Any) -> Any:
        for part in self.parts:
            x = part(x)
        return x

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """The sum of theirs."""
        if not self.parts:
            return f.zeros_like(x)
        log_det: Any = None
        dims = self.domain.event_dim
        for i, part in enumerate(self.parts, 1):
            image = y if i == len(self.parts) else part(x)
            term = _sum_rightmost(part.log_abs_det_jacobian(x, image), dims - part.domain.event_dim)
            log_det = term if log_det is None else log_det + term
            dims += part.codomain.event_dim - part.domain.event_dim
            x = image
        return log_det

    def forward_shape(self, shape: Any) -> Any:
        """The shape after all of them."""
        for part in self.parts:
            shape = part.forward_shape(shape)
        return shape

    def inverse_shape(self, shape: Any) -> Any:
        """The shape before all of them."""
        for part in reversed(self.parts):
            shape = part.inverse_shape(shape)
        return shape

    def __repr__(self) -> str:
        inside = ",\n    ".join(repr(part) for part in self.parts)
        return f"{type(self).__name__}(\n    {inside}\n)"


identity_transform = ComposeTransform([])


class IndependentTransform(Transform):
    """Another map, the last dimensions of its batch taken as parts of one value."""

    _settings = ("base_transform", "reinterpreted_batch_ndims")

    def __init__(self, base_transform: Any, reinterpreted_batch_ndims: int, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.base_transform = base_transform.with_cache(cache_size)
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    @constraints.dependent_property(is_discrete=False)
    def domain(self) -> Any:
        """The other's, in more dimensions."""
        return constraints.independent(self.base_transform.domain, self.reinterpreted_batch_ndims)

    @constraints.dependent_property(is_discrete=False)
    def codomain(self) -> Any:
        """The other's, in more dimensions."""
        return constraints.independent(self.base_transform.codomain, self.reinterpreted_batch_ndims)

    bijective = property(attrgetter("base_transform.bijective"), doc="Whether the other is.")
    sign = property(attrgetter("base_transform.sign"), doc="The other's.")

    def _call(self, x: Any) -> Any:
        if x.dim() < self.domain.event_dim:
            raise ValueError(FEW_DIMS)
        return self.base_transform(x)

    def _inverse(self, y: Any) -> Any:
        if y.dim() < self.codomain.event_dim:
            raise ValueError(FEW_DIMS)
        return self.base_transform.inv(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """The other's, summed over the dimensions taken."""
        return _sum_rightmost(self.base_transform.log_abs_det_jacobian(x, y), self.reinterpreted_batch_ndims)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_transform!r}, {self.reinterpreted_batch_ndims})"

    def forward_shape(self, shape: Any) -> Any:
        """As the other's."""
        return self.base_transform.forward_shape(shape)

    def inverse_shape(self, shape: Any) -> Any:
        """As the other's."""
        return self.base_transform.inverse_shape(shape)


class ReshapeTransform(Transform):
    """The last dimensions in another shape."""

    bijective = True
    _settings = ("in_shape", "out_shape")

    def __init__(self, in_shape: Any, out_shape: Any, cache_size: int = 0) -> None:
        self.in_shape, self.out_shape = Size(in_shape), Size(out_shape)
        if self.in_shape.numel() != self.out_shape.numel():
            raise ValueError("in_shape, out_shape have different numbers of elements")
        super().__init__(cache_size=cache_size)

    @constraints.dependent_property
    def domain(self) -> Any:
        """Real numbers in the first shape's dimensions."""
        return constraints.independent(constraints.real, len(self.in_shape))

    @constraints.dependent_property
    def codomain(self) -> Any:
        """Real numbers in the second shape's dimensions."""
        return constraints.independent(constraints.real, len(self.out_shape))

    def _call(self, x: Any) -> Any:
        return x.reshape(x.shape[: x.dim() - len(self.in_shape)] + self.out_shape)

    def _inverse(self, y: Any) -> Any:
        return y.reshape(y.shape[: y.dim() - len(self.out_shape)] + self.in_shape)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """Zeros."""
        return x.new_zeros(x.shape[: x.dim() - len(self.in_shape)])

    @staticmethod
    def _swapped(shape: Any, old: Size, new: Size) -> Any:
        if len(shape) < len(old):
            raise ValueError(FEW_DIMS)
        cut = len(shape) - len(old)
        if shape[cut:] != old:
            raise ValueError(f"Shape mismatch: expected {shape[cut:]} but got {old}")
        return shape[:cut] + new

    def forward_shape(self, shape: Any) -> Any:
        """The shape with its end exchanged."""
        return self._swapped(shape, self.in_shape, self.out_shape)

    def inverse_shape(self, shape: Any) -> Any:
        """The shape with its end exchanged back."""
        return self._swapped(shape, self.out_shape, self.in_shape)


# -- piece by piece ---------------------------------------------------------------------------------------------------


class _Pieces(Transform):
    """Several maps for the pieces of a tensor along ``dim``."""

    def __init__(self, tseq: Sequence[Any], dim: int = 0, cache_size: int = 0) -> None:
        if not all(isinstance(t, Transform) for t in tseq):
            raise AssertionError("All elements of tseq must be Transform instances")
        super().__init__(cache_size=cache_size)
        self.transforms = [t.with_cache(cache_size) for t in tseq] if cache_size else list(tseq)
        self.dim = dim

    bijective = property(lambda self: all(t.bijective for t in self.transforms), doc="Whether all of them are.")

    def _split(self, name: str, value: Any, size: int, what: str) -> Any:
        if not -value.dim() <= self.dim < value.dim():
            subject = "tensor" if what.startswith("=") else name
            raise AssertionError(f"dim {self.dim} out of range for {subject} with {value.dim()} dimensions")
        if value.size(self.dim) != size:
            size_there = f"{name}.size({self.dim}) = {value.size(self.dim)}"
            raise AssertionError(f"{size_there} must equal {what.lstrip('=')} {size}")
        return self._cut(value)

    def _cut(self, value: Any) -> Any:
        raise NotImplementedError


class CatTransform(_Pieces):
    """Maps for pieces of ``lengths`` joined along ``dim``."""

    _settings = ("transforms", "dim", "lengths")

    def __init__(self, tseq: Sequence[Any], dim: int = 0, lengths: Any = None, cache_size: int = 0) -> None:
        super().__init__(tseq, dim, cache_size)
        self.lengths = [1] * len(self.transforms) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.transforms):
            raise AssertionError(f"lengths ({len(self.lengths)}) must match transforms ({len(self.transforms)})")

    @lazy_property
    def event_dim(self) -> Any:
        """The most dimensions that one of them needs."""
        return max(t.event_dim for t in self.transforms)

    @lazy_property
    def length(self) -> Any:
        """All lengths together."""
        return sum(self.lengths)

    @constraints.dependent_property
    def domain(self) -> Any:
        """Their domains."""
        return constraints.cat([t.domain for t in self.transforms], self.dim, self.lengths)

    @constraints.dependent_property
    def codomain(self) -> Any:
        """Their codomains."""
        return constraints.cat([t.codomain for t in self.transforms], self.dim, self.lengths)

    def _cut(self, value: Any) -> Any:
        return value.split(self.lengths, self.dim)

    def _call(self, x: Any) -> Any:
        pieces = self._split("x", x, self.length, "=length")
        return f.cat([t(piece) for t, piece in zip(self.transforms, pieces, strict=True)], dim=self.dim)

    def _inverse(self, y: Any) -> Any:
        pieces = self._split("y", y, self.length, "=length")
        return f.cat([t.inv(piece) for t, piece in zip(self.transforms, pieces, strict=True)], dim=self.dim)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """Theirs, joined; summed where ``dim`` is one of a value's own."""
        before, after = (self._split(name, v, self.length, "length") for name, v in (("x", x), ("y", y)))
        log_dets = [
            _sum_rightmost(t.log_abs_det_jacobian(a, b), self.event_dim - t.event_dim)
            for t, a, b in zip(self.transforms, before, after, strict=True)
        ]
        dim = (self.dim - x.dim() if self.dim >= 0 else self.dim) + self.event_dim
        return f.cat(log_dets, dim=dim) if dim < 0 else sum(log_dets)


class StackTransform(_Pieces):
    """Maps for slices stacked along ``dim``."""

    _settings = ("transforms", "dim")

    @constraints.dependent_property
    def domain(self) -> Any:
        """Their domains."""
        return constraints.stack([t.domain for t in self.transforms], self.dim)

    @constraints.dependent_property
    def codomain(self) -> Any:
        """Their codomains."""
        return constraints.stack([t.codomain for t in self.transforms], self.dim)

    def _cut(self, value: Any) -> Any:
        return value.unbind(self.dim)

    def _call(self, x: Any) -> Any:
        pieces = self._split("x", x, len(self.transforms), "=len(transforms)")
        return f.stack([t(piece) for t, piece in zip(self.transforms, pieces, strict=True)], dim=self.dim)

    def _inverse(self, y: Any) -> Any:
        pieces = self._split("y", y, len(self.transforms), "=len(transforms)")
        return f.stack([t.inv(piece) for t, piece in zip(self.transforms, pieces, strict=True)], dim=self.dim)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """Theirs, stacked."""
        n = len(self.transforms)
        before, after = (self._split(name, v, n, "len(transforms)") for name, v in (("x", x), ("y", y)))
        log_dets = [t.log_abs_det_jacobian(a, b) for t, a, b in zip(self.transforms, before, after, strict=True)]
        return f.stack(log_dets, dim=self.dim)
