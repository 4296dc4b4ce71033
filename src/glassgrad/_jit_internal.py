"""Roof: the ``torch._jit_internal`` namespace: marks of what TorchScript would do, which is nothing here."""

from __future__ import annotations

from typing import Any, Optional, Union

from .jit import Final, Future, export, ignore, is_scripting, unused
from .jit import _overload as _overload
from .jit import _overload_method as _overload_method

__all__ = ["Final", "Future", "Optional", "Union", "export", "ignore", "is_scripting", "unused"]


def _copy_to_script_wrapper(fn: Any) -> Any:
    """The method as it is."""
    return fn


class BroadcastingListCls:
    """A list of numbers, or one number for all of them, in annotations."""

    def __getitem__(self, types: Any) -> None:
        return None


BroadcastingList1 = BroadcastingList2 = BroadcastingList3 = BroadcastingListCls()


def boolean_dispatch(
    arg_name: str, arg_index: int, default: bool, if_true: Any, if_false: Any, module_name: str, func_name: str
) -> Any:
    """A function that calls one of two, as an argument says."""

    def chosen(*args: Any, **kwargs: Any) -> Any:
        flag = kwargs.get(arg_name, args[arg_index] if arg_index < len(args) else default)
        return (if_true if flag else if_false)(*args, **kwargs)

    chosen.__name__, chosen.__module__ = func_name, module_name
    return chosen
