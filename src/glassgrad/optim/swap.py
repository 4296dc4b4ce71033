"""A block in which an optimizer steps other parameters, by another state."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..core.tensor import Tensor
from .optimizer import Optimizer

_NAME = "swap_in_optimizer_params_and_state requires "


@contextmanager
def swap_in_optimizer_params_and_state(
    optimizer: Optimizer, swapin_parameters: dict[str, Any], swapin_optim_state: dict[str, Any]
) -> Iterator[None]:
    """A block in which an optimizer has other parameters and another state, of the form that ``state_dict`` gives.

    ``swapin_parameters`` are in the order of the groups. Groups and state are as before afterwards; what was stepped in
    the block are the given tensors. RuntimeError where the given does not fit the optimizer.
    Source: https://docs.pytorch.org/docs/stable/optim.html
    """
    state, swaps = _checked(optimizer, swapin_parameters, swapin_optim_state)
    old_state, old_groups = optimizer.state, [dict(group) for group in optimizer.param_groups]
    try:
        new: defaultdict[Any, Any] = defaultdict(dict)
        for group, new_group, params in swaps:
            group.update(new_group, params=params)
            for param, number in zip(params, new_group["params"], strict=True):
                new[param] = dict(state.get(number, {}))
        optimizer.state = new
        yield
    finally:
        for group, old in zip(optimizer.param_groups, old_groups, strict=True):
            group.clear()
            group.update(old)
        optimizer.state = old_state


def _checked(optimizer: Optimizer, parameters: dict[str, Any], whole: Any) -> tuple[dict[Any, Any], list[Any]]:
    """The state, and for each group: itself, what is given for it, and the parameters it shall have."""
    if not optimizer.state:
        raise RuntimeError(_NAME + "initialized optimizer state.")
    if not isinstance(whole, dict):
        raise RuntimeError(_NAME + "a DCP-style optimizer state_dict.")
    state, groups = whole.get("state"), whole.get("param_groups")
    if not isinstance(state, dict):
        raise RuntimeError(
            f"{_NAME}swapin_optim_state['state'] to be a dict mapping packed parameter ids to per-param state dicts, "
            f"got {type(state).__name__}."
        )
    if any(isinstance(key, Tensor) for key in state):
        raise RuntimeError(_NAME + "optimizer.state_dict()-style state keyed by packed parameter ids.")
    if any(isinstance(key, int) and not isinstance(value, dict) for key, value in state.items()):
        raise RuntimeError(_NAME + "per-parameter optimizer state entries to be dictionaries.")
    if not isinstance(groups, list):
        raise RuntimeError(
            f"{_NAME}swapin_optim_state['param_groups'] to be a list of param-group dicts, got {type(groups).__name__}."
        )
    if len(optimizer.param_groups) != len(groups):
        raise RuntimeError("swapin_optim_state has a different number of parameter groups than the live optimizer.")
    tensors = list(parameters.values())
    swaps, known, start = [], set(), 0
    for index, (group, new_group) in enumerate(zip(optimizer.param_groups, groups, strict=True)):
        numbers = _checked_group(index, group, new_group)
        known.update(numbers)
        stop = start + len(numbers)
        if stop > len(tensors):
            raise RuntimeError(_NAME + "the explicit parameter state to match optimizer.param_groups ordering.")
        swaps.append((group, new_group, tensors[start:stop]))
        start = stop
    extra = [key for key in state if key not in known]
    if extra:
        raise RuntimeError(
            f"{_NAME}swapin_optim_state['state'] to be keyed only by packed parameter ids from "
            f"param_groups[*]['params']; got extra keys {extra!r}."
        )
    return state, swaps


def _checked_group(index: int, group: dict[str, Any], new_group: Any) -> list[int]:
    """The numbers of the parameters of a given group, which must be like the optimizer's own."""
    if not isinstance(new_group, dict):
        raise RuntimeError(_NAME + "each optimizer param group to be a dictionary.")
    numbers = new_group.get("params")
    if not isinstance(numbers, list) or not all(isinstance(number, int) for number in numbers):
        raise RuntimeError(
            _NAME + "optimizer.state_dict()-style param_groups[*]['params'] entries keyed by packed parameter ids."
        )
    if len(group["params"]) != len(numbers):
        raise RuntimeError(
            f"swapin_optim_state param group {index} has a different number of params than the live "
            "optimizer param group."
        )
    more, less = [key for key in new_group if key not in group], [key for key in group if key not in new_group]
    if more or less:
        raise RuntimeError(
            f"{_NAME}optimizer.state_dict()-style param group keys to exactly match the live optimizer group keys for "
            f"group {index}. Keys only in swap-in: {more}. Keys only in live: {less}."
        )
    return numbers
