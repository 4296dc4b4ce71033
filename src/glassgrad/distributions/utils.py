"""What ``torch.distributions.utils`` holds: parameters made alike, chances and log-odds, properties kept once known."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from typing import Any

from ..autograd.grad_mode import enable_grad
from ..core.tensor import Tensor
from ..ground import dtypes
from ..ops.catalogue import FUNCTIONS

__all__ = [
    "broadcast_all", "logits_to_probs", "clamp_probs", "probs_to_logits", "lazy_property", "tril_matrix_to_vec",
    "vec_to_tril_matrix",
]  # fmt: skip


class _Functions:
    """Has each function as an attribute once it was asked for."""

    def __getattr__(self, name: str) -> Any:
        if name not in FUNCTIONS:
            raise AttributeError(f"no function of the catalogue is named {name!r}")
        function = self.__dict__[name] = FUNCTIONS[name]
        return function


functions: Any = _Functions()


euler_constant = 0.57721566490153286060
NUMBERS = (int, float, bool)
_UNLIKE = "Input arguments must all be instances of Number, torch.Tensor or objects implementing __torch_function__."
ONE_OF_TWO = "Either `probs` or `logits` must be specified, but not both."


def _like_tensor(value: Any) -> bool:
    return isinstance(value, Tensor) or hasattr(type(value), "__torch_function__")


def broadcast_all(*values: Any) -> tuple[Any, ...]:
    """The values as tensors of one shape; numbers take the dtype of the first tensor, or the default one.

    Raises ValueError where one is neither a number nor a tensor.
    """
    if all([isinstance(value, Tensor) for value in values]):
        return tuple(functions.broadcast_tensors(*values))
    if not all(_like_tensor(value) or isinstance(value, NUMBERS) for value in values):
        raise ValueError(_UNLIKE)
    first = next((value for value in values if isinstance(value, Tensor)), None)
    kind = dtypes.get_default_dtype() if first is None else first.dtype
    tensors = [value if _like_tensor(value) else functions.tensor(value, dtype=kind) for value in values]
    return tuple(functions.broadcast_tensors(*tensors))


def overwritten(tensor: Any, where: Any, number: float) -> Any:
    """The tensor itself, with a number written where a condition holds."""
    tensor[where] = number
    return tensor


def _standard_normal(shape: Any, dtype: Any, device: Any = None) -> Any:
    return functions.empty(shape, dtype=dtype, device=device).normal_()


def _sum_rightmost(value: Any, dim: int) -> Any:
    """``value`` summed over its last ``dim`` dimensions."""
    return value.reshape((*value.shape[:-dim], -1)).sum(-1) if dim else value


def logits_to_probs(logits: Any, is_binary: bool = False) -> Any:
    """Chances from log-odds; unless binary, from logarithms of chances along the last dimension."""
    return logits.sigmoid() if is_binary else logits.softmax(-1)


def clamp_probs(probs: Any) -> Any:
    """Chances kept as far from 0 and 1 as the dtype tells 1 from its neighbour."""
    eps = dtypes.finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def probs_to_logits(probs: Any, is_binary: bool = False) -> Any:
    """Log-odds from chances; unless binary, their logarithms."""
    kept = clamp_probs(probs)
    return kept.log() - (-kept).log1p() if is_binary else kept.log()


class lazy_property:  # PyTorch's name
    """A property computed when first read, with gradients recorded, and from then on an attribute of the object."""

    def __init__(self, wrapped: Callable[[Any], Any]) -> None:
        self.wrapped = wrapped
        update_wrapper(self, wrapped)  # type: ignore[arg-type]

    def __get__(self, instance: Any, obj_type: Any = None) -> Any:
        if instance is None:
            return _SeenFromClass(self.wrapped)
        with enable_grad():
            value = self.wrapped(instance)
        setattr(instance, self.wrapped.__name__, value)
        return value


class _SeenFromClass(lazy_property, property):
    """A lazy property looked up on its class: a property to those who ask for one."""

    def __init__(self, wrapped: Callable[[Any], Any]) -> None:
        property.__init__(self, wrapped)


def _lower(n: int, diag: int) -> Any:
    columns = functions.arange(n)
    return columns < columns.view(-1, 1) + (diag + 1)


def tril_matrix_to_vec(mat: Any, diag: int = 0) -> Any:
    """The elements on and below a diagonal of square matrices, row by row: (*, n, n) to (*, k)."""
    n = mat.shape[-1]
    if not -n <= diag < n:
        raise ValueError(f"diag ({diag}) provided is outside [{-n}, {n - 1}].")
    return mat[..., _lower(n, diag)]


def vec_to_tril_matrix(vec: Any, diag: int = 0) -> Any:
    """Lower triangular matrices from their elements row by row: (*, k) to (*, n, n)."""
    size, lead = vec.shape[-1], 1 + 2 * diag
    n = ((lead**2 + 8 * size + 4 * abs(diag) * (diag + 1)) ** 0.5 - lead) / 2
    if round(n) - n > dtypes.finfo(vec.dtype).eps:
        raise ValueError(
            f"The size of last dimension is {size} which cannot be expressed as the lower triangular part of a "
            "square D x D matrix."
        )
    whole = round(n)
    mat = vec.new_zeros((*vec.shape[:-1], whole, whole))
    mat[..., _lower(whole, diag)] = vec
    return mat
