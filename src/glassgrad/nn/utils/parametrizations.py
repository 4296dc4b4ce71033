"""Parametrizations ready to use: orthogonal matrices, weights of unit spectral norm, weights split in two."""

from __future__ import annotations

import enum
from typing import Any

import numpy as np

from ...autograd.grad_mode import no_grad
from ...core.tensor import Tensor, wrap
from ...families.join.rows import cat
from ...families.linalg.equations import matrix_exp
from ...families.linalg.functions import householder_product, linalg_solve
from ...families.linalg.outside import geqrf
from ...families.matrix.functions import matmul
from ...families.norm.functions import _weight_norm as weight_of
from ...families.norm.functions import norm_except_dim
from ...families.random.functions import randn
from ...ground.dtypes import finfo
from .. import functional as F
from ..modules import Module
from .parametrize import register_parametrization
from .spectral_norm import output_dim, settled


class _OrthMaps(enum.Enum):
    matrix_exp = enum.auto()
    cayley = enum.auto()
    householder = enum.auto()


def _is_orthogonal(matrix: Any) -> bool:
    """Whether the columns are at right angles, and of length one."""
    rows, columns = matrix.shape[-2:]
    tolerance = 10.0 * rows * finfo(matrix.dtype).eps
    return bool(np.allclose(matmul(matrix.mH, matrix)._array, np.eye(columns), atol=tolerance))


def _orthogonalized(matrix: Any) -> Any:
    """The orthogonal factor of each matrix, with a positive diagonal of the other one."""
    reflections, factors = geqrf(matrix)
    return householder_product(reflections, factors) * reflections.diagonal(dim1=-2, dim2=-1).sgn().unsqueeze(-2)


class _Orthogonal(Module):
    """Orthogonal matrices: of a free one, by one of three maps.

    Source: Lezcano-Casado (2019), Trivializations for gradient-based optimization on manifolds.
    """

    base: Any

    def __init__(self, weight: Any, orthogonal_map: _OrthMaps, *, use_trivialization: bool = True) -> None:
        super().__init__()
        if weight.is_complex() and orthogonal_map is _OrthMaps.householder:
            raise ValueError("The householder parametrization does not support complex tensors.")
        self.shape = weight.shape
        self.orthogonal_map = orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, X: Any) -> Any:
        """The orthogonal matrix."""
        rows, columns = X.shape[-2:]
        turned = rows < columns
        if turned:
            X, rows, columns = X.mT, columns, rows
        if self.orthogonal_map is _OrthMaps.householder:
            below = X.tril(-1)
            matrix = householder_product(below, 2.0 / (1.0 + (below * below).sum(-2)))
            matrix = matrix * X.diagonal(dim1=-2, dim2=-1).int().unsqueeze(-2)
        else:
            matrix = self._of_skew(X.tril(), rows, columns)
        if hasattr(self, "base"):
            matrix = self.base @ matrix
        return matrix.mT if turned else matrix

    def _of_skew(self, lower: Any, rows: int, columns: int) -> Any:
        """The first columns of the orthogonal matrix of a skew one, whose lower triangle this is."""
        if rows != columns:
            empty = lower.new_zeros(rows, rows - columns).expand(*lower.shape[:-2], -1, -1)
            lower = cat([lower, empty], -1)
        skew = lower - lower.mH
        if self.orthogonal_map is _OrthMaps.matrix_exp:
            matrix = matrix_exp(skew)
        else:
            one = wrap(np.eye(rows, dtype=skew._array.dtype))
            matrix = linalg_solve(one - skew * 0.5, one + skew * 0.5)
        return matrix if rows == columns else matrix[..., :columns]

    @no_grad()
    def right_inverse(self, Q: Any) -> Any:
        """The free matrix of an orthogonal one; what is not orthogonal is made so first."""
        if Q.shape != self.shape:
            raise ValueError(
                f"Expected a matrix or batch of matrices of shape {self.shape}. Got a tensor of shape {Q.shape}."
            )
        first = Q
        rows, columns = Q.shape[-2:]
        turned = rows < columns
        if turned:
            Q, rows, columns = Q.mT, columns, rows
        if not hasattr(self, "base"):
            if self.orthogonal_map is not _OrthMaps.householder:
                raise NotImplementedError(
                    "It is not possible to assign to the matrix exponential or the Cayley parametrizations when "
                    "use_trivialization=False."
                )
            reflections = _reflections(Q)
            return reflections.mT if turned else reflections
        if rows == columns:
            self.base = Q.clone() if _is_orthogonal(Q) else _orthogonalized(Q)
        else:
            drawn = randn(*Q.shape[:-2], rows, rows - columns, dtype=Q.dtype)
            self.base = _orthogonalized(cat([Q, drawn], -1))
        minus = np.zeros(first.shape, first._array.dtype)
        diagonal = np.arange(columns)
        minus[..., diagonal, diagonal] = -1.0
        return wrap(minus)


def _reflections(matrix: Any) -> Any:
    """The reflections that matrices factor into; on the diagonal the signs that belong to them."""
    reflections, factors = geqrf(matrix)
    diagonal = reflections.diagonal(dim1=-2, dim2=-1)
    diagonal.sign_()[factors == 0] *= -1
    return reflections


def orthogonal(
    module: Any, name: str = "weight", orthogonal_map: str | None = None, *, use_trivialization: bool = True
) -> Any:
    """Keep a matrix of ``module`` orthogonal: its columns, or rows where these are fewer, at right angles.

    orthogonal_map  "matrix_exp", "cayley" or "householder": how free numbers become such a matrix
    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.utils.parametrizations.orthogonal.html
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    matrix: Any = weight
    if matrix.ndim < 2:
        raise ValueError(f"Expected a matrix or batch of matrices. Got a tensor of {matrix.ndim} dimensions.")
    if orthogonal_map is None:
        square = matrix.shape[-2] == matrix.shape[-1]
        orthogonal_map = "matrix_exp" if square or matrix.is_complex() else "householder"
    kind = getattr(_OrthMaps, orthogonal_map, None)
    if kind is None:
        raise ValueError(
            f'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". Got: {orthogonal_map}'
        )
    parametrization = _Orthogonal(weight, kind, use_trivialization=use_trivialization)
    return register_parametrization(module, name, parametrization, unsafe=True)


class _WeightNorm(Module):
    """A weight of its norms over all dimensions but one, and of its direction."""

    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Any, weight_v: Any) -> Any:
        """The weight."""
        return weight_of(weight_v, weight_g, self.dim)

    def right_inverse(self, weight: Any) -> tuple[Any, Any]:
        """Norms and direction."""
        return norm_except_dim(weight, 2, self.dim), weight


def weight_norm(module: Any, name: str = "weight", dim: int = 0) -> Any:
    """Split a weight into its norms over all dimensions but ``dim`` and its direction; gives ``module``.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.utils.parametrizations.weight_norm.html
    """
    register_parametrization(module, name, _WeightNorm(dim), unsafe=True)

    def from_older(state_dict: Any, prefix: str, *rest: Any) -> None:
        """Load what the older form of weight normalisation saved."""
        old = [f"{prefix}{name}_g", f"{prefix}{name}_v"]
        if all(key in state_dict for key in old):
            for index, value in enumerate([state_dict.pop(key) for key in old]):
                state_dict[f"{prefix}parametrizations.{name}.original{index}"] = value

    module._register_load_state_dict_pre_hook(from_older)
    return module


class _SpectralNorm(Module):
    """A weight divided by its largest singular value, which power iteration follows."""

    _u: Any
    _v: Any

    def __init__(self, weight: Any, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        super().__init__()
        ndim = weight.ndim
        if not -ndim <= dim < ndim:
            raise IndexError(f"Dimension out of range (expected to be in range of [-{ndim}, {ndim - 1}] but got {dim})")
        if n_power_iterations <= 0:
            raise ValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
            )
        self.dim = dim if dim >= 0 else dim + ndim
        self.eps = eps
        if ndim > 1:
            self.n_power_iterations = n_power_iterations
            matrix = self._reshape_weight_to_matrix(weight)
            u, v = (matrix.new_empty(count).normal_(0, 1) for count in matrix.shape)
            self.register_buffer("_u", F.normalize(u, dim=0, eps=eps))
            self.register_buffer("_v", F.normalize(v, dim=0, eps=eps))
            self._power_method(matrix, 15)

    def _reshape_weight_to_matrix(self, weight: Any) -> Any:
        if self.dim != 0:
            weight = weight.permute(self.dim, *[axis for axis in range(weight.dim()) if axis != self.dim])
        return weight.flatten(1)

    @no_grad()
    def _power_method(self, weight_mat: Any, n_power_iterations: int) -> None:
        weight_mat = settled(weight_mat)
        for _ in range(n_power_iterations):
            self._u.copy_(F.normalize(weight_mat.mv(self._v), dim=0, eps=self.eps))
            self._v.copy_(F.normalize(weight_mat.mH.mv(self._u), dim=0, eps=self.eps))

    def forward(self, weight: Any) -> Any:
        """The weight of unit spectral norm; in training, one more step of power iteration."""
        if weight.ndim == 1:
            return F.normalize(weight, dim=0, eps=self.eps)
        matrix = self._reshape_weight_to_matrix(weight)
        if self.training:
            self._power_method(matrix, self.n_power_iterations)
        u, v = self._u.clone(), self._v.clone()  # a later step writes over what this one's graph needs
        return weight / u.vdot(matrix.mv(v))

    def right_inverse(self, value: Any) -> Any:
        """The weight itself: it is not looked whether its norm is one."""
        return value


def spectral_norm(
    module: Any, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Any:
    """Divide a weight, as a matrix with a row for each output, by its largest singular value; gives ``module``.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.utils.parametrizations.spectral_norm.html
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    parametrization = _SpectralNorm(weight, n_power_iterations, output_dim(module) if dim is None else dim, eps)
    return register_parametrization(module, name, parametrization)


__all__ = ["orthogonal", "spectral_norm", "weight_norm"]
