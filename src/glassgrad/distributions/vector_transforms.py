"""Transforms of vectors and matrices: onto chances, triangular factors, and piece by piece."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..ground import dtypes
from ..nn.functional import logsigmoid, pad, softplus
from . import constraints
from .functions import functions as f
from .matrices import cholesky
from .transform import FEW_DIMS, Transform
from .utils import _sum_rightmost, lazy_property, tril_matrix_to_vec, vec_to_tril_matrix


def _clipped_sigmoid(x: Any) -> Any:
    limits = dtypes.finfo(x.dtype)
    return x.sigmoid().clamp(min=limits.tiny, max=1.0 - limits.eps)


def _need_dims(shape: Any, n: int) -> None:
    if len(shape) < n:
        raise ValueError(FEW_DIMS)


class _Alike(Transform):
    """Maps without settings: equal to all of their kind."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self))

    __hash__ = None  # type: ignore[assignment]


# -- chances ----------------------------------------------------------------------------------------------------------


class SoftmaxTransform(_Alike):
    """Real vectors to chances by exponentials over their sum; the inverse, logarithms, forgets an offset."""

    domain = constraints.real_vector
    codomain = constraints.simplex

    def _call(self, x: Any) -> Any:
        raised = (x - x.max(-1, True)[0]).exp()
        return raised / raised.sum(-1, True)

    def _inverse(self, y: Any) -> Any:
        return y.log()

    def forward_shape(self, shape: Any) -> Any:
        """The same."""
        _need_dims(shape, 1)
        return shape

    inverse_shape = forward_shape


class StickBreakingTransform(_Alike):
    """Real vectors (*, K - 1) to chances (*, K): each number breaks its part off what is left of a stick.

    Source: Stan reference manual, unit simplex transform
    """

    domain = constraints.real_vector
    codomain = constraints.simplex
    bijective = True

    @staticmethod
    def _pieces(like: Any, size: int) -> Any:
        """How many pieces are still to come at each of ``size`` places, the present one not counted."""
        return size + 1 - like.new_ones(size).cumsum(-1)

    def _call(self, x: Any) -> Any:
        share = _clipped_sigmoid(x - self._pieces(x, x.shape[-1]).log())
        left = (1 - share).cumprod(-1)
        return pad(share, [0, 1], value=1) * pad(left, [1, 0], value=1)

    def _inverse(self, y: Any) -> Any:
        most = y[..., :-1]
        left = (1 - most.cumsum(-1)).clamp(min=dtypes.finfo(y.dtype).tiny)
        return most.log() - left.log() + self._pieces(y, most.shape[-1]).log()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """The sum over the places of the logarithms of share and rest."""
        x = x - self._pieces(x, x.shape[-1]).log()
        return (-x + logsigmoid(x) + y[..., :-1].log()).sum(-1)

    def forward_shape(self, shape: Any) -> Any:
        """One more at the end."""
        _need_dims(shape, 1)
        return shape[:-1] + (shape[-1] + 1,)  # noqa: RUF005  a Size stays one

    def inverse_shape(self, shape: Any) -> Any:
        """One less at the end."""
        _need_dims(shape, 1)
        return shape[:-1] + (shape[-1] - 1,)  # noqa: RUF005  a Size stays one


# -- triangular factors -----------------------------------------------------------------------------------------------


class CorrCholeskyTransform(Transform):
    """Real vectors of D (D - 1) / 2 numbers to Cholesky factors (D, D) of correlation matrices.

    The numbers' hyperbolic tangents are shares of what is left of each row's unit length.
    Source: Stan reference manual, Cholesky factors of correlation matrices
    """

    domain = constraints.real_vector
    codomain = constraints.corr_cholesky
    bijective = True

    def _call(self, x: Any) -> Any:
        x = x.tanh()
        eps = dtypes.finfo(x.dtype).eps
        share = vec_to_tril_matrix(x.clamp(min=-1 + eps, max=1 - eps), diag=-1)
        left = (1 - share**2).sqrt().cumprod(-1)
        share = share + f.eye(share.shape[-1], dtype=share.dtype, device=share.device)
        return share * pad(left[..., :-1], [1, 0], value=1)

    def _inverse(self, y: Any) -> Any:
        left = pad((1 - (y * y).cumsum(-1))[..., :-1], [1, 0], value=1)
        share = tril_matrix_to_vec(y, diag=-1) / tril_matrix_to_vec(left, diag=-1).sqrt()
        return (share.log1p() - share.neg().log1p()) / 2

    def log_abs_det_jacobian(self, x: Any, y: Any, intermediates: Any = None) -> Any:
        """That of breaking the rows and that of the hyperbolic tangent."""
        left = tril_matrix_to_vec(1 - (y * y).cumsum(dim=-1), diag=-2)
        return 0.5 * left.log().sum(-1) + -2 * (x + softplus(-2 * x) - math.log(2.0)).sum(dim=-1)

    def forward_shape(self, shape: Any) -> Any:
        """(N,) to (D, D)."""
        _need_dims(shape, 1)
        n = shape[-1]
        d = round((0.25 + 2 * n) ** 0.5 + 0.5)
        if d * (d - 1) // 2 != n:
            raise ValueError("Input is not a flattened lower-diagonal number")
        return shape[:-1] + (d, d)  # noqa: RUF005

    def inverse_shape(self, shape: Any) -> Any:
        """(D, D) to (N,)."""
        _need_dims(shape, 2)
        if shape[-2] != shape[-1]:
            raise ValueError("Input is not square")
        d = shape[-1]
        return shape[:-2] + (d * (d - 1) // 2,)  # noqa: RUF005


class LowerCholeskyTransform(_Alike):
    """Square matrices to lower triangular ones of positive diagonals, by its exponential."""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.lower_cholesky

    def _call(self, x: Any) -> Any:
        return x.tril(-1) + x.diagonal(dim1=-2, dim2=-1).exp().diag_embed()

    def _inverse(self, y: Any) -> Any:
        return y.tril(-1) + y.diagonal(dim1=-2, dim2=-1).log().diag_embed()


class PositiveDefiniteTransform(_Alike):
    """Square matrices to positive definite ones, by their triangular factors."""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.positive_definite

    def _call(self, x: Any) -> Any:
        factor = LowerCholeskyTransform()(x)
        return factor @ factor.mT

    def _inverse(self, y: Any) -> Any:
        return LowerCholeskyTransform().inv(cholesky(y))


# -- piece by piece ---------------------------------------------------------------------------------------------------


class _Pieces(Transform):
    """Several maps for the pieces of a tensor along ``dim``."""

    def __init__(self, tseq: Sequence[Any], dim: int = 0, cache_size: int = 0) -> None:
        if not all(isinstance(t, Transform) for t in tseq):
            raise AssertionError("All elements of tseq must be Transform instances")
        super().__init__(cache_size=cache_size)
        self.transforms = [t.with_cache(cache_size) for t in tseq] if cache_size else list(tseq)
        self.dim = dim

    @property
    def bijective(self) -> Any:
        """Whether all of them are."""
        return all(t.bijective for t in self.transforms)

    def _split(self, name: str, value: Any, size: int, what: str) -> Any:
        if not -value.dim() <= self.dim < value.dim():
            found = "tensor" if what.startswith("=") else name
            raise AssertionError(f"dim {self.dim} out of range for {found} with {value.dim()} dimensions")
        if value.size(self.dim) != size:
            found = f"{name}.size({self.dim}) = {value.size(self.dim)}"
            raise AssertionError(f"{found} must equal {what.lstrip('=')} {size}")
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
        found = [
            _sum_rightmost(t.log_abs_det_jacobian(a, b), self.event_dim - t.event_dim)
            for t, a, b in zip(self.transforms, before, after, strict=True)
        ]
        dim = (self.dim - x.dim() if self.dim >= 0 else self.dim) + self.event_dim
        return f.cat(found, dim=dim) if dim < 0 else sum(found)


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
        found = [t.log_abs_det_jacobian(a, b) for t, a, b in zip(self.transforms, before, after, strict=True)]
        return f.stack(found, dim=self.dim)
