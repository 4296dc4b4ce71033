"""Checkpointing within a budget: which blocks of a sequence to compute again, from their measured bytes and times.

A block that is kept holds what its backward needs until the walk back has passed it. One that is computed again holds
its input until then, and what its backward needs for the moment of its own walk back, when all blocks behind it are
done. So what the first blocks hold, plus the whole of the block that is walked back, must stay within the budget.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from ..autograd.grad_mode import enable_grad, no_grad
from ..autograd.graph import saved_tensors_hooks
from ..core.tensor import LEAF, Tensor
from ..ground import modes
from ..ground.generator import default_generator
from ..ground.nested import mapped
from ..ground.window import owner_of
from .checkpoint import checkpoint

_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30}
#: So many states of the search are kept apart; where there are more, bytes are rounded up to parts of the budget.
_STATES, _FINENESS = 20_000, 4096


class Block(NamedTuple):
    """What one block was measured to need.

    inside   bytes that its backward needs, besides its input and its output
    input    bytes of its input, unless that is the caller's
    output   bytes of its output
    saves_input, saves_output   whether its backward needs these
    seconds  how long it computes
    """

    inside: int
    input: int
    output: int
    saves_input: bool
    saves_output: bool
    seconds: float


class CheckpointPlan(NamedTuple):
    """Which blocks are computed again, and what that was reckoned to need.

    recomputes  for each block, whether it is checkpointed
    nbytes      the most bytes that the graph holds at one time
    seconds     the time that backward takes longer
    blocks      what was measured
    """

    recomputes: tuple[bool, ...]
    nbytes: int
    seconds: float
    blocks: tuple[Block, ...]


# -- measured ---------------------------------------------------------------------------------------------------------


def _bytes_of(budget: Any) -> int:
    """A budget in bytes: a number, or one with a unit such as ``200MB`` or ``1.5 GiB``."""
    if isinstance(budget, str):
        match = re.fullmatch(r"\s*(\d+(?:\.\d*)?)\s*([A-Za-z]*)\s*", budget)
        if match is not None and match[2].upper() in _UNITS:
            return int(float(match[1]) * _UNITS[match[2].upper()])
    elif isinstance(budget, (int, float)) and not isinstance(budget, bool) and budget >= 0:
        return int(budget)
    raise ValueError(f"budget must be a number of bytes, or one with a unit such as '200MB', but got {budget!r}")


def _memories(tensors: Iterable[Any]) -> dict[int, int]:
    """The memories that tensors lie in, by identity, with their bytes."""
    owners = [owner_of(t._array) if isinstance(t._array, np.ndarray) else t._array for t in tensors]
    return {id(owner): owner.nbytes for owner in owners}


def _tensors(value: Any) -> list[Tensor]:
    return [each for each in (value if isinstance(value, (tuple, list)) else (value,)) if isinstance(each, Tensor)]


def _cut(value: Any) -> Any:
    """A value without its history, which requires gradients as before."""

    def cut(each: Any) -> Any:
        if not isinstance(each, Tensor):
            return each
        return each.detach().requires_grad_(each.requires_grad)  # type: ignore[attr-defined]

    return mapped(value, cut)


def _own(block: Any) -> list[Tensor]:
    """The parameters and buffers of a block, if it is a module."""
    return [*block.parameters(), *block.buffers()] if hasattr(block, "parameters") else []


def _measure_block(block: Callable[..., Any], value: Any, is_first: bool) -> tuple[Any, Block]:
    saved: list[Tensor] = []
    with saved_tensors_hooks(saved.append, lambda nothing: nothing):
        began = perf_counter()
        result = block(value)
        seconds = perf_counter() - began
    bases = [t if t._base is None else t._base for t in saved]
    outside = _memories([*_own(block), *(base for base in bases if base._edge is LEAF and base is not value)])
    before, after, needed = _memories(_tensors(value)), _memories(_tensors(result)), _memories(saved)
    inside = sum(size for key, size in needed.items() if key not in outside | before | after)
    return result, Block(
        inside, 0 if is_first else sum(before.values()), sum(after.values()), not needed.keys().isdisjoint(before),
        not needed.keys().isdisjoint(after), seconds,
    )  # fmt: skip


def _measured(blocks: Sequence[Callable[..., Any]], value: Any) -> tuple[Block, ...]:
    """Run each block apart, twice as the first call may prepare something; random stream and buffers are put back."""
    buffers = [buffer for block in blocks if hasattr(block, "buffers") for buffer in block.buffers()]
    before = [buffer.clone() for buffer in buffers]
    state = default_generator.get_state_bytes()
    measured = []
    try:
        with enable_grad():
            for position, block in enumerate(blocks):
                value = _cut(value)
                _measure_block(block, value, not position)
                result, block_ = _measure_block(block, value, not position)
                measured.append(block_)
                value = _cut(result)
    finally:
        default_generator.set_state_bytes(state)
        with no_grad():
            for buffer, value_before in zip(buffers, before, strict=True):
                buffer.copy_(value_before)
    return tuple(measured)


# -- chosen -----------------------------------------------------------------------------------------------------------


def _steps(block: Block, memory: int, has_input: bool) -> tuple[tuple[bool, int, int, bool], ...]:
    """The two ways of a block, where ``memory`` bytes are held before it and its input perhaps among them.

    Each is (whether it is computed again, the bytes held after it, the most held at one time, whether its output is
    among them).
    """
    entry = 0 if has_input else block.input
    whole = block.inside + (block.output if block.saves_output else 0)
    kept = memory + whole + (entry if block.saves_input else 0)
    return ((False, kept, kept, block.saves_output), (True, memory + entry, memory + entry + whole, False))


def _least(blocks: Sequence[Block]) -> int:
    """The least budget that some choice of blocks stays within."""
    low, high = 0, sum(block.inside + block.input + block.output for block in blocks)
    while low < high:
        budget = (low + high) // 2
        states = {False: 0}  # the least that can be held, by whether the next input is among it
        for block in blocks:
            following: dict[bool, int] = {}
            for has_input, memory in states.items():
                for _, after, most, has_output in _steps(block, memory, has_input):
                    if most <= budget:
                        following[has_output] = min(after, following.get(has_output, after))
            states = following
        low, high = (low, budget) if states else (budget + 1, high)
    return low


def choose(blocks: Sequence[Block], budget: int) -> CheckpointPlan:
    """The blocks to compute again so that the graph stays within ``budget`` bytes and backward takes least longer.

    By dynamic programming over what is held after each block: of two ways to hold as much, the slower one is dropped.
    RuntimeError, with the least budget, where none serves.
    """
    # by whether the next input is held: (bytes held, seconds added, most held, the way there as a linked list)
    fronts: dict[bool, list[Any]] = {False: [(0, 0.0, 0, None)]}
    for block in blocks:
        following: dict[bool, list[Any]] = {False: [], True: []}
        for has_input, front in fronts.items():
            for memory, seconds, most, way in front:
                for again, after, peak, has_output in _steps(block, memory, has_input):
                    if peak <= budget:
                        seconds_then = seconds + block.seconds * again
                        following[has_output].append((after, seconds_then, max(most, peak), (again, way)))
        fronts = {has_output: _front(states, budget) for has_output, states in following.items()}
    states = [state for front in fronts.values() for state in front]
    if not states:
        raise RuntimeError(
            f"checkpoint_sequential_within(): a budget of {budget} bytes cannot be met: the least that these "
            f"{len(blocks)} blocks can do with is {_least(blocks)} bytes"
        )
    _, seconds, most, way = min(states, key=lambda state: (state[1], state[2]))
    choices: list[bool] = []
    while way is not None:
        again, way = way
        choices.append(again)
    return CheckpointPlan(tuple(choices[::-1]), most, seconds, tuple(blocks))


def _front(states: list[Any], budget: int) -> list[Any]:
    """The states that no other beats in both bytes and seconds."""
    if len(states) > _STATES:
        part = max(budget // _FINENESS, 1)
        states = [(-(-memory // part) * part, *rest) for memory, *rest in states]
        states = [state for state in states if state[0] <= budget] or states
    front: list[Any] = []
    for state in sorted(states, key=lambda state: state[:3]):
        if not front or state[1] < front[-1][1]:
            front.append(state)
    return front


# -- as users call it -------------------------------------------------------------------------------------------------


def _blocks(functions: Any) -> list[Any]:
    return list(functions.children()) if hasattr(functions, "children") else list(functions)


def plan_checkpoints(functions: Any, input: Any, budget: Any) -> CheckpointPlan:
    """Which of a sequence of functions to compute again in backward, so that the graph keeps no more than ``budget``.

    Each function is called twice on the side, to measure the bytes that its backward needs and its time; the random
    stream and the buffers of modules stay as they are. ``budget`` is a number of bytes, or a string such as ``"200MB"``
    or ``"1.5GiB"``. It is for what the graph holds at one time, in forward and backward: not for parameters, their
    gradients, the input, and what an operation needs while it computes. RuntimeError, with the least possible number,
    where it cannot be met.
    """
    return choose(_measured(_blocks(functions), input), _bytes_of(budget))


def checkpoint_sequential_within(
    functions: Any, input: Any, budget: Any = None, *, plan: CheckpointPlan | None = None
) -> Any:
    """Call a sequence of functions so that its graph keeps no more than ``budget`` bytes, and backward is quickest.

    The blocks to compute again are those of :func:`plan_checkpoints`; hand its plan in as ``plan`` where the same
    sequence is called on inputs of the same sizes again, as measuring costs two forward passes. Gradients are those of
    the plain calls to the last bit.
    """
    blocks = _blocks(functions)
    if (budget is None) == (plan is None):
        raise ValueError("checkpoint_sequential_within(): give either a budget or a plan")
    if modes.grad_enabled():
        plan = plan or plan_checkpoints(blocks, input, budget)
        if len(plan.recomputes) != len(blocks):
            raise ValueError(f"the plan is for {len(plan.recomputes)} blocks, but there are {len(blocks)}")
    for position, block in enumerate(blocks):
        again = modes.grad_enabled() and plan is not None and plan.recomputes[position]
        input = checkpoint(block, input, use_reentrant=False) if again else block(input)
    return input
