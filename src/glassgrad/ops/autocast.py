"""What precision operations run in within an ``autocast`` block: a row's column says whether it is cast, and how."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..core.tensor import LEAF, Tensor
from ..families.cast.rows import to_copy
from ..ground import dtypes, modes

_CAST = (dtypes.float32.numpy, dtypes.float16.numpy, dtypes.bfloat16.numpy)
#: Functions that are computed in float32 in a block, and that halves reach as they are: no row of theirs has a column.
_SINGLE = frozenset(
    "fft ifft fft2 ifft2 fftn ifftn rfft irfft rfft2 irfft2 rfftn irfftn hfft ihfft stft linalg_inv inv_ex "
    "inverse pinverse cond matrix_rank solve linalg_solve cholesky cholesky_ex cholesky_inverse cholesky_solve "
    "svd svdvals eig eigvals eigh eigvalsh qr geqrf lstsq tensorinv tensorsolve householder_product orgqr ormqr "
    "triangular_solve quantile nanquantile cdist polar view_as_complex ctc_loss".split()
)


class Policy:
    """One autocast block: the dtype of products, and the weights already cast in it."""

    __slots__ = ("dtype", "cache", "keeps")

    def __init__(self, dtype: Any, keeps: bool, outer: Policy | None) -> None:
        self.dtype, self.keeps = dtype, keeps
        self.cache: dict[int, tuple[Tensor, Tensor]] = {} if outer is None or outer.dtype is not dtype else outer.cache

    def cast(self, precision: str, tensors: Sequence[Any]) -> tuple[Any, ...]:
        """Inputs of a row in the precision that its column names: "low", "single" or "widest"."""
        if precision == "widest":
            return self._widest(tensors)
        return self.low(*tensors) if precision == "low" else single(*tensors)

    def of_call(self, name: str, args: Any, kwargs: Any) -> tuple[Any, Any]:
        """The arguments of a call of a function of this name, in the precision that it is computed in."""
        if name not in _SINGLE:
            return args, kwargs
        return single(*args), dict(zip(kwargs, single(*kwargs.values()), strict=True))

    def outside(self, function: Any, *args: Any) -> Any:
        """A call as it is outside of the block: what has ``out=``, PyTorch casts nothing for."""
        with cast_already():
            return function(*args)

    def _widest(self, tensors: Sequence[Any]) -> tuple[Any, ...]:
        """Tensors in the block's dtype, in float32 if one of them is; float64 and integers stay."""
        widest = self.dtype
        for tensor in tensors:
            if isinstance(tensor, Tensor) and tensor._array.dtype in _CAST:
                if dtypes.float32 in (widest, tensor.dtype):
                    widest = dtypes.float32
                elif tensor.dtype is not widest:
                    raise RuntimeError("Unexpected floating ScalarType in at::autocast::prioritize")
        return tuple(lowered(tensor, widest) if isinstance(tensor, Tensor) else tensor for tensor in tensors)

    def low(self, *tensors: Any) -> tuple[Any, ...]:
        """Tensors in the block's dtype; float64 and integers stay."""
        return tuple(self._low(tensor) for tensor in tensors)

    def _low(self, tensor: Any) -> Any:
        if not isinstance(tensor, Tensor) or tensor._array.dtype not in _CAST or tensor.dtype is self.dtype:
            return tensor
        if not self.keeps or tensor._edge is not LEAF or not modes.grad_enabled() or tensor.dtype is not dtypes.float32:
            return _cast(tensor, self.dtype)
        entry = self.cache.get(id(tensor))
        if entry is None:
            entry = self.cache[id(tensor)] = (tensor, _cast(tensor, self.dtype))
        return entry[1]


def low(*tensors: Any) -> tuple[Any, ...]:
    """Tensors in the dtype of this thread's block; as they are outside of one."""
    policy = modes.local.autocast
    return tensors if policy is None else policy.low(*tensors)


@contextmanager
def cast_already() -> Iterator[None]:
    """Rows as they are outside of a block: for a function that PyTorch casts the inputs of, and nothing within."""
    before, modes.local.autocast = modes.local.autocast, None
    try:
        yield
    finally:
        modes.local.autocast = before
        if before is not None:
            modes.expect_unusual()  # a block within that ended may have settled it


def single(*tensors: Any) -> tuple[Any, ...]:
    """Half tensors in float32 within a block; as they are outside of one."""
    if modes.local.autocast is None:
        return tensors
    return tuple(lowered(tensor, dtypes.float32) if isinstance(tensor, Tensor) else tensor for tensor in tensors)


def lowered(tensor: Tensor, dtype: Any) -> Tensor:
    """A floating tensor in another floating dtype; float64 and integers stay."""
    if tensor._array.dtype not in _CAST or tensor.dtype is dtype:
        return tensor
    return _cast(tensor, dtype)


def _cast(tensor: Tensor, dtype: Any) -> Tensor:
    cast: Tensor = to_copy(tensor, dtype.numpy, tensor._array.dtype)
    return cast
