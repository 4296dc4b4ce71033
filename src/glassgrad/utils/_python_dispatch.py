"""The ``torch.utils._python_dispatch`` namespace: nothing is dispatched below autograd."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Any

from ..ground.absent import answer


class TorchDispatchMode:
    """The base of modes that hear operations below autograd; a block of one is refused.

    Source: https://docs.pytorch.org/docs/stable/torch.overrides.html
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass

    def __enter__(self) -> Any:
        raise RuntimeError(
            f"{type(self).__name__}: operations are not dispatched below autograd; torch.overrides.TorchFunctionMode "
            "hears what a program calls, and torch.profiler.profile what it costs"
        )

    def __exit__(self, *exception: object) -> None:
        return None

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """What a subclass answers."""
        raise NotImplementedError


class BaseTorchDispatchMode(TorchDispatchMode):
    """A mode that changes nothing."""


is_in_torch_dispatch_mode = any_torch_dispatch_mode_on_stack = answer(
    "(include_infra_modes: bool = True) -> bool", False, "False: there are no modes of this kind."
)
_get_current_dispatch_mode = answer("() -> None", None, "None.")
_get_current_dispatch_mode_stack = answer("() -> list[Any]", list[Any](), "Empty.")


def is_traceable_wrapper_subclass(t: Any) -> bool:
    """Whether an object is a tensor made of others, which it names in ``__tensor_flatten__``."""
    return is_traceable_wrapper_subclass_type(type(t))


def is_traceable_wrapper_subclass_type(t: Any) -> bool:
    """The same of a class."""
    return hasattr(t, "__tensor_flatten__") and hasattr(t, "__tensor_unflatten__")


def return_and_correct_aliasing(func: Any, args: Any, kwargs: Any, out: Any) -> Any:
    """``out``: views share memory as they are made."""
    return out


@contextmanager
def _disable_current_modes() -> Any:
    """A block without modes, of which there are none."""
    yield []
