"""Forward mode as users call it: dual tensors within a block.

Source: https://docs.pytorch.org/docs/stable/autograd.html#forward-mode-automatic-differentiation
"""

from __future__ import annotations

from contextlib import ContextDecorator
from typing import Any, NamedTuple

from ..core.row import Row
from ..core.tensor import Tensor
from ..func import levels
from ..func.tangents import Dual, Forward, laid
from ..func.transforms import check_tangent
from ..ground.dtypes import called
from ..ground.format import with_suffixes
from ..ground.later import cite_all

__all__ = ["UnpackedDualTensor", "dual_level", "enter_dual_level", "exit_dual_level", "make_dual", "unpack_dual"]


class UnpackedDualTensor(NamedTuple):
    """What :func:`unpack_dual` gives."""

    primal: Tensor
    tangent: Tensor | None


class DualLevel(Forward):
    """The level of one block of :class:`dual_level`."""

    has_function = False

    def require(self, tensor: Any, value: bool) -> None:
        tensor.value.requires_grad_(value)

    def captured(self, row: Row) -> str:
        return (
            f"forward mode: {row.name}_ of a dual tensor into a tensor that was made before the block of dual_level is "
            "not taken: clone that within the block, and write into the clone"
        )

    def memory(self, tensor: Any) -> Any:
        return tensor.value

    def shown(self, dual: Dual) -> str:
        """A dual tensor as it prints here: with its tangent beside it."""
        text = repr(dual.value)
        if dual.tangent is None or not self.is_alive:
            return text
        return with_suffixes(text[:-1], [f"tangent={dual.tangent}"], len("tensor("))


def _level() -> DualLevel | None:
    """The level of the block that this thread is in."""
    return next((level for level in levels.levels() if isinstance(level, DualLevel)), None)


def enter_dual_level() -> int:
    """Begin forward mode: from now on dual tensors can be made.  RuntimeError if it has begun already."""
    if _level() is not None:
        raise RuntimeError("Nested forward mode AD is not supported at the moment")
    levels.begin(DualLevel())
    return 0


def exit_dual_level(*, level: int | None = None) -> None:
    """End forward mode: dual tensors are plain ones from now on."""
    current = _level()
    if level is None and current is None:
        raise RuntimeError("Dual level must be a positive number.")
    if level not in (None, 0) or current is None:
        raise RuntimeError(
            "Trying to exit a forward AD level that was not the last one that was created. This is not supported."
        )
    levels.end(current)


class dual_level(ContextDecorator):  # noqa: N801  PyTorch's name
    """A block in which forward mode is on; also a decorator."""

    def __enter__(self) -> int:
        return enter_dual_level()

    def __exit__(self, *exc: object) -> None:
        exit_dual_level()


def make_dual(tensor: Any, tangent: Any, *, level: int | None = None) -> Any:
    """A dual tensor on the memory of ``tensor``, to be differentiated along ``tangent``."""
    current = _level()
    if current is None or (level is not None and level < 0):
        raise RuntimeError(
            "Trying to create a dual Tensor for forward AD but no level exists, make sure to enter_dual_level() first."
        )
    if level not in (None, 0):
        raise RuntimeError("Invalid level given to _make_dual")
    if current.tangent(tensor) is not None:
        raise RuntimeError(
            "Making a dual Tensor based on a Tensor that already has a forward gradient at the same level 0 is not "
            "supported."
        )
    check_tangent(tensor, tangent)
    primal = levels.alive(current.lower(tensor))
    return current.dual(primal.view_as(primal), laid(current.lower(tangent), primal))


def unpack_dual(tensor: Any, *, level: int | None = None) -> UnpackedDualTensor:
    """The value of a tensor, and its tangent; None where it has none."""
    current = _level()
    if not isinstance(tensor, Tensor):
        raise TypeError(f"_unpack_dual(): argument 'dual' (position 1) must be Tensor, not {called(tensor)}")
    tensor = levels.alive(tensor)
    if current is None or not isinstance(tensor, Dual) or tensor.level is not current:
        return UnpackedDualTensor(tensor, None)
    return UnpackedDualTensor(tensor.value, tensor.tangent)


cite_all(globals(), "torch.autograd.forward_ad", "dual_level make_dual unpack_dual")
