"""ReduceOp: how values of several ranks become one, and the NumPy function for each way."""

from __future__ import annotations

import enum
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["ReduceOp", "reduce_op"]


class RedOpType(enum.IntEnum):
    """The ways to reduce."""

    SUM, AVG, PRODUCT, MIN, MAX, BAND, BOR, BXOR, PREMUL_SUM = range(9)

    def __str__(self) -> str:
        return f"RedOpType.{self.name}"

    def __repr__(self) -> str:
        return f"<RedOpType.{self.name}: {self.value}>"


class ReduceOp:
    """How values of several ranks become one: SUM, AVG, PRODUCT, MIN, MAX, BAND, BOR, BXOR."""

    RedOpType = RedOpType
    SUM, AVG, PRODUCT, MIN, MAX, BAND, BOR, BXOR, PREMUL_SUM = RedOpType

    def __init__(self, op: Any) -> None:
        if not isinstance(op, RedOpType):
            raise TypeError(
                "__init__(): incompatible constructor arguments. The following argument types are supported:\n"
                "    1. torch._C._distributed_c10d.ReduceOp(arg0: c10d::ReduceOp::RedOpType)\n\n"
                f"Invoked with: {op!r}"
            )
        self.op = op

    def __eq__(self, other: object) -> bool:
        return self.op == (other.op if isinstance(other, ReduceOp) else other)

    def __hash__(self) -> int:
        return hash(self.op)


class _ReduceOp:
    """The old name."""

    def __getattribute__(self, name: str) -> Any:
        words = "`torch.distributed.reduce_op` is deprecated, please use `torch.distributed.ReduceOp` instead"
        warnings.warn(words, FutureWarning, stacklevel=2)
        return getattr(ReduceOp, name)


reduce_op = _ReduceOp()
_FUNCTIONS: tuple[Callable[..., Any], ...] = (  # in the order of the ways
    np.add, np.add, np.multiply, np.minimum, np.maximum, np.bitwise_and, np.bitwise_or, np.bitwise_xor,
)  # fmt: skip


def function_of(op: RedOpType) -> Callable[..., Any]:
    """NumPy's function of two arrays for ``op``; of AVG, the sum."""
    return _FUNCTIONS[op]


def checked(op: Any, name: str, kind: np.dtype[Any]) -> RedOpType:
    """``op`` where it can reduce arrays of a dtype, and an error where not."""
    plain = op.op if isinstance(op, ReduceOp) else op
    if not isinstance(plain, RedOpType):
        raise TypeError(f"{name}(): op must be a torch.distributed.ReduceOp, got {type(op).__name__}")
    if plain is RedOpType.PREMUL_SUM:
        raise RuntimeError("Cannot use ReduceOp.PREMUL_SUM with Gloo")
    if kind.kind == "c" and plain not in (RedOpType.SUM, RedOpType.AVG, RedOpType.PRODUCT):
        raise ValueError(f"{name} does not support {plain} on complex tensors")
    if plain in (RedOpType.BAND, RedOpType.BOR, RedOpType.BXOR) and kind.kind not in "iub":
        raise RuntimeError(f"Cannot use ReduceOp.{plain.name} with non-integral dtype")
    if plain is RedOpType.AVG and kind.kind in "iub":
        from ..ground import dtypes

        raise RuntimeError(f"result type Float can't be cast to the desired output type {dtypes.of(kind).scalar_name}")
    return plain
