"""What tensors are called, floor 8: by the caller's names, by its variables, and by the recorded lines."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from types import FrameType
from typing import Any

from .read import behind, is_tensor
from .source import assigned, is_users, operands

MOST = 10_000  # variables of the caller's that are looked through
FEW = 64  # entries of a list or a dict whose tensors are named by their place

__all__ = ["Names", "callers_variables", "caller_names", "pairs"]


def pairs(names: Any, caller: str, word: str = "params") -> list[tuple[str, Any]]:
    """Names and tensors out of a mapping (``locals()`` too) or of pairs; TypeError where no value is a tensor."""
    if names is None:
        return []
    try:
        items = list(names.items() if isinstance(names, Mapping) else names)
        known = [(str(name), value) for name, value in items]
    except (TypeError, ValueError):
        kind = type(names).__name__
        raise TypeError(f"{caller}(): {word} must be a dict of names and tensors, but got {kind}") from None
    tensors = [(name, behind(value)) for name, value in known if is_tensor(value)]
    if known and not tensors and not any(hasattr(type(value), "named_parameters") for _, value in known):
        name, value = known[0]
        raise TypeError(f"{caller}(): {word}[{name!r}] must be a tensor, but got {type(value).__name__}")
    return tensors + list(_inside(known))


def caller_names(names: Any, params: Any, caller: str) -> list[tuple[str, Any]]:
    """The caller's ``names=`` and ``params=``, which are one argument by two names."""
    return [*pairs(names, caller, "names"), *pairs(params, caller)]


def callers_variables() -> list[tuple[str, Any]]:
    """The tensors among the variables of the user's function that is asking: its own, then the globals it reads."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and not is_users(frame.f_code):
        frame = frame.f_back
    if frame is None:
        return []
    read = {name: frame.f_globals[name] for name in frame.f_code.co_names if name in frame.f_globals}
    visible = {**frame.f_locals, **{name: value for name, value in read.items() if name not in frame.f_locals}}
    variables = [(n, v) for n, v in visible.items() if n.isidentifier() and not n.startswith("_")][:MOST]
    return [(n, behind(v)) for n, v in variables if is_tensor(v)] + list(_inside(variables))


def _inside(variables: Iterable[tuple[str, Any]]) -> Iterable[tuple[str, Any]]:
    """The tensors in the lists, dicts and modules among some variables."""
    for name, value in variables:
        if isinstance(value, (list, tuple)) and len(value) <= FEW:
            yield from ((f"{name}[{i}]", piece) for i, piece in enumerate(value) if is_tensor(piece))
        elif isinstance(value, dict) and len(value) <= FEW:
            yield from ((f"{name}[{key!r}]", piece) for key, piece in value.items() if is_tensor(piece))
        elif not isinstance(value, type) and hasattr(type(value), "named_parameters"):
            yield from ((f"{name}.{path}", tensor) for path, tensor in value.named_parameters())


class Names:
    """The names of tensors: given ones first, then the model's, the caller's variables, and those of recorded lines."""

    def __init__(self, named: Iterable[tuple[str, Any]] = (), record: Any = None) -> None:
        self.pairs = list(named)
        self.record = record
        self.by_id: dict[int, str] = {}
        for name, tensor in self.pairs:
            self.by_id.setdefault(id(tensor), name)
        self._outside: dict[int, str] | None = None
        self._assigned: dict[tuple[int, int], str | None] = {}  # by the code's identity: codes hash slowly

    def of(self, tensor: Any, otherwise: str = "") -> str:
        """What ``tensor`` is called; ``otherwise`` where nothing tells."""
        name = self.by_id.get(id(tensor))
        if name is None:
            name = self._recorded(tensor)
            if name in self.by_id.values():  # a name that stands for another tensor by now
                name = ""
        return name or otherwise

    def of_call(self, index: int) -> str:
        """What the result of a recorded call is called, or a tensor from outside that calls were given."""
        call = self.record.calls[index]
        tensor = call.ref() if call.ref is not None else None
        known = self.by_id.get(id(tensor)) if tensor is not None else None
        if known:
            return known
        if call.name:
            code, at = call.user
            if code is not None and call.seat[1] is code:
                place = id(code), at
                if place not in self._assigned:
                    self._assigned[place] = assigned(code, at)
                if name := self._assigned[place]:
                    return name
        if self._outside is None:
            self._outside = dict(self._operands())
        return self._outside.get(index, "")

    def _recorded(self, tensor: Any) -> str:
        call = self.record.producer(tensor) if self.record is not None else None
        return "" if call is None else self.of_call(call.index)

    def _operands(self) -> Iterable[tuple[int, str]]:
        """The names that recorded lines have for tensors from outside, the first line's last."""
        calls = self.record.calls
        for call in reversed(calls):
            code, step = call.user if call.name else (None, -1)
            if code is not None and call.seat[1] is code:
                for at, name in zip(call.inputs, operands(code, step, len(call.inputs)), strict=False):
                    if name:
                        yield at, name
