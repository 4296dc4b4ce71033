"""Saved tensors as the user's ``saved_tensors_hooks`` packed them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core import plan, saved
from ..core.record import Record, VersionCounter, freed
from ..core.tensor import Tensor, edge_of, share, wrap
from ..ground import errors, modes
from .node import saved_value


class Hooked(saved.Packed):
    """A saved tensor as a pair of the user's hooks packed it."""

    __slots__ = ("payload", "unpack")

    def __init__(self, pack: Any, unpack: Any, tensor: Tensor, edge: Any, is_result: bool) -> None:
        self.unpack = unpack
        counter = share(tensor)
        version = counter.version
        before = modes.local.grad
        try:
            modes.set_grad(False)
            self.payload = pack(tensor)
        finally:
            modes.local.grad = before
            modes.settle()
        self.edge, self.is_result = edge, is_result
        if is_result and self.payload is tensor:  # whose history is the record that keeps this: a cycle
            self.payload = Bare(tensor)
        if counter.version != version:
            raise RuntimeError(
                "A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook "
                "cannot be modified by in-place operations as this can lead to unexpected side-effects. Please open an "
                "issue if you need to perform in-place operations on the input to a pack hook."
            )

    def open(self, edge: Any) -> Tensor:
        """The tensor that the user's unpack hook gives, with ``edge`` as its history."""
        payload = self.payload
        tensor = self.unpack(lend(payload, edge) if type(payload) is Bare else payload)
        if not isinstance(tensor, Tensor):
            raise TypeError(
                "Output of saved tensor unpack_hook expected to be a Tensor but got result of type "
                f"{type(tensor).__name__}"
            )
        return lend(tensor, edge)


class Bare:
    """The data and version of a result that a pack hook gave back as it was."""

    __slots__ = ("_array", "_counter")

    def __init__(self, tensor: Tensor) -> None:
        self._array, self._counter = tensor._array, tensor._counter


def lend(tensor: Any, edge: Any) -> Tensor:
    """A tensor on the same data whose history is ``edge``: a record, or the leaf that it stands for."""
    if tensor is edge:
        return edge
    out = wrap(tensor._array)
    out._edge, out._counter = edge, tensor._counter or VersionCounter()  # no other's, that of the record's result
    return out


class SavedTensor:
    """A saved tensor before it is unpacked: ``data`` is what is held, ``unpack_hook`` the user's hook, if any."""

    _record: Record
    _how: str
    _slot: int

    def __init__(self, *args: Any) -> None:
        raise RuntimeError("Trying to create a SavedTensor object from Python is forbidden.")

    def _content(self) -> Any:
        if self._record.run is freed:
            raise RuntimeError(errors.FREED)
        return self._record.saved[2 * self._slot]

    @property
    def unpack_hook(self) -> Any:
        """The hook that will unpack it; None where none packed it."""
        return getattr(self._content(), "unpack", None)

    def register_hooks(self, pack_hook: Callable[[Any], Any], unpack_hook: Callable[[Any], Any]) -> None:
        """Pack what is saved now, and unpack it with ``unpack_hook`` when it is read."""
        if self.unpack_hook is not None:
            raise RuntimeError(
                "Calling register_hooks on a saved tensor whose hooks have already been set. Hint: only one pair of "
                "hooks is allowed at a time."
            )
        _repack(self._record, self._how, self._slot, pack_hook, unpack_hook)

    @property
    def data(self) -> Any:
        """What is held: a packed object, or the tensor."""
        content = self._content()
        return getattr(
            content,
            "payload",
            content if hasattr(content, "requires_grad") else saved_value(self._record, self._how, self._slot),
        )


def raw_saved(record: Record, how: str, slot: int) -> SavedTensor:
    """What a node has as ``_raw_saved_`` name."""
    raw = object.__new__(SavedTensor)
    raw._record, raw._how, raw._slot = record, how, slot
    return raw


def _repack(record: Record, source: str, slot: int, pack: Any, unpack: Any) -> None:
    """Pack what was saved at ``slot`` with the user's hooks, after the fact."""
    tensor = saved.read(record, source, slot)
    if tensor is not None:
        entries = list(record.saved)
        entries[2 * slot] = Hooked(pack, unpack, tensor, edge_of(tensor), source == "result")
        record.saved = tuple(entries)
        hooks = getattr(record, "_hooks", None)  # what is printed for speed knows nothing of packed values
        if hooks is not None and hooks.inner is not None:  # hooks stand before it
            hooks.inner = plan.gradients
        else:
            record.run = plan.gradients
