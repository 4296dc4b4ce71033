"""Selective checkpointing: a policy says of each operation whether its result is kept or computed again.

Both computations are heard (``ground/listening.py``).  The first asks the policy and keeps results; in the second, a
row whose result was kept is called with that in the place of its kernel, so that all is recorded as it was.
"""

from __future__ import annotations

import copy
import enum
import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

from ..core import call
from ..core.row import Row
from ..core.tensor import Tensor
from ..ground import listening
from ..ops.bind import table_functions
from ..ops.namespace import OpOverload, OpOverloadPacket, operation_of
from ._pytree import tree_map


class CheckpointPolicy(enum.Enum):
    """What is to become of an operation's result; what is to be moved to the CPU is computed again."""

    MUST_SAVE = 0
    PREFER_SAVE = 1
    MUST_RECOMPUTE = 2
    PREFER_RECOMPUTE = 3
    MUST_CPU_OFFLOAD = 4
    PREFER_CPU_OFFLOAD = 5


class SelectiveCheckpointContext:
    """What a policy is told besides the call: ``op_output``; it is asked in the first computation only."""

    def __init__(self, *, is_recompute: bool, op_output: Any = None) -> None:
        self.is_recompute, self.op_output = is_recompute, op_output


_MISMATCH = (
    "This can happen if the operations in the checkpointed region are nondeterministic or depend on global state that "
    "changed between forward and backward."
)
_RECOMPUTE, _CONSUMED = object(), object()
_SAVE = (CheckpointPolicy.MUST_SAVE, CheckpointPolicy.PREFER_SAVE)
_IGNORED = {"detach", "detach_copy", "alias"}


class _Kept:
    """A result, cut from its history, and the version that it had."""

    def __init__(self, result: Any) -> None:
        self.result = result
        self.version = result._version if isinstance(result, Tensor) else None

    def get(self, may_have_changed: bool) -> Any:
        if self.version is not None and not may_have_changed and self.result._version != self.version:
            raise RuntimeError("Tensor cached during selective activation checkpoint has been mutated")
        return self.result


class _Computation:
    """A block in which the operations of this thread are heard one by one, each by its name and number."""

    def __init__(self, entries: dict[tuple[OpOverload, int], Any]) -> None:
        self.entries = entries
        self.counts: Counter[OpOverload] = Counter()
        self.thread: int | None = None  # whose operations are heard; None while the policy itself computes

    def __enter__(self) -> None:
        self.counts.clear()
        self.thread = threading.get_ident()
        listening.start(self._hear, table_functions())

    def __exit__(self, *error: object) -> None:
        listening.stop(self._hear)

    def _hear(self, function: Any, proceed: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        row = getattr(function, "row", None)
        # A fused row is the composition that it is a faster form of, while hooks see what is saved.
        if type(row) is not Row or row.fallback is not None or self.thread != threading.get_ident():
            return proceed(*args, **kwargs)
        if row.name in _IGNORED or function is not row.caller and function is not getattr(row, "operate", None):
            return proceed(*args, **kwargs)
        operation = operation_of(row, args)
        number = self.counts[operation]
        self.counts[operation] += 1
        return self._operation(row, (operation, number), proceed, args, kwargs)

    def _operation(self, row: Row, key: tuple[OpOverload, int], proceed: Any, args: Any, kwargs: Any) -> Any:
        raise NotImplementedError


class _First(_Computation):
    """The first computation: the policy is asked after each operation."""

    def __init__(self, policy: Callable[..., Any], entries: dict[tuple[OpOverload, int], Any]) -> None:
        super().__init__(entries)
        self.policy = policy

    def _operation(self, row: Row, key: tuple[OpOverload, int], proceed: Any, args: Any, kwargs: Any) -> Any:
        result = proceed(*args, **kwargs)
        if result is NotImplemented:
            self.counts[key[0]] -= 1
            return result
        thread, self.thread = self.thread, None
        try:
            detached = tree_map(lambda value: value.detach() if isinstance(value, Tensor) else value, result)
            context = SelectiveCheckpointContext(is_recompute=False, op_output=detached)
            policy = self.policy(context, key[0], *args, **kwargs)
        finally:
            self.thread = thread
        kept = policy if isinstance(policy, bool) else policy in _SAVE
        self.entries[key] = tree_map(_Kept, detached) if kept else _RECOMPUTE
        return result


class _Second(_Computation):
    """The second computation: what was kept stands for what kernels would give."""

    def __init__(self, entries: dict[tuple[OpOverload, int], Any], may_have_changed: bool) -> None:
        super().__init__(entries)
        self.may_have_changed = may_have_changed

    def _operation(self, row: Row, key: tuple[OpOverload, int], proceed: Any, args: Any, kwargs: Any) -> Any:
        operation, number = key
        entry = self.entries.get(key)
        if entry is None:
            which = operation if (operation, 0) not in self.entries else f"{operation} invocation index {number}"
            raise RuntimeError(f"{which} encountered during backward but not found in storage. {_MISMATCH}")
        if entry is _CONSUMED:
            raise RuntimeError(
                "Trying to backward an extra time. You are only allowed to backward once on any region computed under "
                "selective activation checkpoint."
            )
        if entry is _RECOMPUTE:
            return proceed(*args, **kwargs)
        self.entries[key] = _CONSUMED
        kept = tree_map(lambda value: value.get(self.may_have_changed), entry)
        if row.view:  # which computes nothing
            return proceed(*args, **kwargs)
        return call.call(_giving(row, kept), *call.arguments(row, args, kwargs))


def _giving(row: Row, results: Any) -> Row:
    """A row like ``row``, whose kernel gives what was kept."""
    arrays = tree_map(lambda tensor: tensor._array, results)
    like = copy.copy(row)
    like.kernel, like.laid = lambda *operands: arrays, None
    return like


def create_selective_checkpoint_contexts(
    policy_fn_or_list: Any, allow_cache_entry_mutation: bool = False
) -> tuple[_First, _Second]:
    """The two blocks for ``checkpoint(..., context_fn=)`` that keep the results which a policy, or a list, names.

    Source: https://docs.pytorch.org/docs/stable/checkpoint.html
    """
    policy = policy_fn_or_list
    if isinstance(policy_fn_or_list, list):
        for op in policy_fn_or_list:
            if not isinstance(op, OpOverload):
                advice = (
                    "Please update the OpOverloadPacket to a specific OpOverload.For example, if you have "
                    "`torch.ops.aten.mm`, change it to `torch.ops.aten.mm.default`."
                )
                raise ValueError(
                    f"Expected op in `op_list` to be an OpOverload but got: {op} of type {type(op)}. "
                    f"{advice if isinstance(op, OpOverloadPacket) else ''}"
                )

        def policy(context: Any, operation: OpOverload, *args: Any, **kwargs: Any) -> bool:
            return operation in policy_fn_or_list

    elif not callable(policy_fn_or_list):
        raise TypeError("policy_fn_or_list must be either a function or a list of ops.")
    entries: dict[tuple[OpOverload, int], Any] = {}
    return _First(policy, entries), _Second(entries, allow_cache_entry_mutation)
