"""Modules that hold modules: Sequential, ModuleList, ModuleDict."""

from __future__ import annotations

import operator
import warnings
from collections import OrderedDict
from collections.abc import ItemsView, Iterable, Iterator, KeysView, Mapping, ValuesView
from itertools import chain, islice
from typing import Any

from ...ground.later import later
from .module import Module, indented


class Container(Module):
    """Deprecated: modules by name; Module itself holds them."""

    def __init__(self, **kwargs: Any) -> None:
        warnings.warn(
            "`nn.Container` is deprecated. All of its functionality is now implemented in `nn.Module`. Subclass that "
            "instead.",
            FutureWarning,
            stacklevel=2,
        )
        super().__init__()
        for name, module in kwargs.items():
            self.add_module(name, module)


class _Numbered(Module):
    """What containers share whose members are counted from nought."""

    _modules: dict[str, Module]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Module]:
        return iter(self._modules.values())

    def __delitem__(self, idx: int | slice) -> None:
        names = self._names(idx)
        for name in names:
            delattr(self, name)
        self._modules = {str(index): module for index, module in enumerate(self._modules.values())}

    def _names(self, idx: int | slice) -> list[str]:
        if isinstance(idx, slice):
            return list(self._modules)[idx]
        return [next(islice(self._modules, self._position(idx), None))]

    def _position(self, idx: Any) -> int:
        size = len(self)
        idx = operator.index(idx)
        if not -size <= idx < size:
            raise IndexError(f"index {idx} is out of range")
        return idx % size

    def append(self, module: Module) -> Any:
        """Add ``module`` at the end."""
        self.add_module(str(len(self)), module)
        return self

    def pop(self, key: int | slice) -> Any:
        """Take the member at ``key`` out, and give it."""
        member = self[key]  # type: ignore[index]
        del self[key]
        return member

    def _shift(self, index: int, module: Module) -> None:
        for position in range(len(self._modules), index, -1):
            self._modules[str(position)] = self._modules[str(position - 1)]
        self._modules[str(index)] = module


class Sequential(_Numbered):
    """Modules called one after the other, each on what the one before gave.

    Takes modules, or one OrderedDict of named modules.
    """

    def __init__(self, *args: Any) -> None:
        super().__init__()
        if len(args) == 1 and isinstance(args[0], OrderedDict):
            for name, module in args[0].items():
                self.add_module(name, module)
        else:
            for index, module in enumerate(args):
                self.add_module(str(index), module)

    def forward(self, input: Any) -> Any:
        """The output of the last module."""
        for module in self._modules.values():
            input = module(input)
        return input

    def __getitem__(self, idx: int | slice) -> Any:
        if isinstance(idx, slice):
            return type(self)(OrderedDict(list(self._modules.items())[idx]))
        return next(islice(self._modules.values(), self._position(idx), None))

    def __setitem__(self, idx: int, module: Module) -> None:
        setattr(self, self._names(self._position(idx))[0], module)

    def __add__(self, other: Any) -> Sequential:
        _check_sequential(other)
        joined = Sequential()
        for module in chain(self, other):
            joined.append(module)
        return joined

    def __iadd__(self, other: Any) -> Any:
        _check_sequential(other)
        for index, module in enumerate(list(other), len(self)):
            self.add_module(str(index), module)
        return self

    def __mul__(self, other: int) -> Sequential:
        self._check_factor(other)
        repeated = Sequential()
        for module in list(self) * other:
            repeated.append(module)
        return repeated

    __rmul__ = __mul__

    def __imul__(self, other: int) -> Any:
        self._check_factor(other)
        for module in list(self) * (other - 1):
            self.append(module)
        return self

    def _check_factor(self, other: Any) -> None:
        if not isinstance(other, int):
            raise TypeError(f"unsupported operand type(s) for *: {type(self)} and {type(other)}")
        if other <= 0:
            raise ValueError(f"Non-positive multiplication factor {other} for {type(self)}")

    def insert(self, index: int, module: Module) -> Any:
        """Put ``module`` before the one at ``index``."""
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}")
        size = len(self)
        if not -size <= index <= size:
            raise IndexError(f"Index out of range: {index}")
        self._shift(index + size if index < 0 else index, module)
        return self

    def extend(self, sequential: Iterable[Module]) -> Any:
        """Add all modules of another Sequential, or of any iterable, at the end."""
        for module in sequential:
            self.append(module)
        return self


class ModuleList(_Numbered):
    """Modules in a list, all of them registered."""

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def __getitem__(self, idx: int | slice) -> Any:
        if isinstance(idx, slice):
            return type(self)(list(self._modules.values())[idx])
        return self._modules[str(self._position(idx))]

    def __setitem__(self, idx: int, module: Module) -> None:
        setattr(self, str(self._position(idx)), module)

    def __iadd__(self, modules: Iterable[Module]) -> Any:
        return self.extend(modules)

    def __add__(self, other: Iterable[Module]) -> ModuleList:
        return ModuleList(chain(self, other))

    def insert(self, index: int, module: Module) -> None:
        """Put ``module`` before the one at ``index``."""
        self._shift(index, module)

    def extend(self, modules: Iterable[Module]) -> Any:
        """Add all modules of an iterable at the end."""
        if not isinstance(modules, Iterable):
            raise TypeError(f"ModuleList.extend should be called with an iterable, but got {type(modules).__name__}")
        for index, module in enumerate(modules, len(self)):
            self.add_module(str(index), module)
        return self

    def __repr__(self) -> str:
        blocks: list[list[Any]] = []  # first index, last index, text: equal neighbours are printed once
        for index, text in enumerate(map(repr, self)):
            if blocks and blocks[-1][2] == text:
                blocks[-1][1] = index
            else:
                blocks.append([index, index, text])
        if not blocks:
            return f"{self._get_name()}()"
        lines = []
        for first, last, text in blocks:
            shown = f"({first}): {text}" if first == last else f"({first}-{last}): {last - first + 1} x {text}"
            lines.append(indented(shown))
        return f"{self._get_name()}(\n  " + "\n  ".join(lines) + "\n)"


class ModuleDict(Module):
    """Modules by name, in the order in which they came."""

    _modules: dict[str, Module]

    def __init__(self, modules: Any = None) -> None:
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key: str) -> Any:
        return self._modules[key]

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: object) -> bool:
        return key in self._modules

    def clear(self) -> None:
        """Take all modules out."""
        self._modules.clear()

    def pop(self, key: str) -> Module:
        """Take the module at ``key`` out, and give it."""
        return self._modules.pop(key)

    def keys(self) -> KeysView[str]:
        """The names."""
        return self._modules.keys()

    def items(self) -> ItemsView[str, Module]:
        """The pairs of name and module."""
        return self._modules.items()

    def values(self) -> ValuesView[Module]:
        """The modules."""
        return self._modules.values()

    def update(self, modules: Any) -> None:
        """Add the modules of a mapping, or of an iterable of pairs."""
        for name, module in pairs_of(modules, "ModuleDict", "ModuleDict"):
            self[name] = module


def pairs_of(members: Any, kind: str, called: str) -> Iterable[tuple[Any, Any]]:
    """The pairs that a mapping or an iterable of pairs holds; PyTorch's errors for anything else."""
    if isinstance(members, Mapping) or (isinstance(members, Iterable) and hasattr(members, "items")):
        return list(members.items())
    if not isinstance(members, Iterable):
        raise TypeError(
            f"{called}.update should be called with an iterable of key/value pairs, but got {type(members).__name__}"
        )
    return _checked_pairs(members, kind)


def _checked_pairs(members: Iterable[Any], kind: str) -> Iterator[tuple[Any, Any]]:
    for index, pair in enumerate(members):
        where = f"{kind} update sequence element #{index}"
        if not isinstance(pair, Iterable):
            raise TypeError(f"{where} should be Iterable; is{type(pair).__name__}")
        if len(pair) != 2:  # type: ignore[arg-type]
            raise ValueError(f"{where} has length {len(pair)}; 2 is required")  # type: ignore[arg-type]
        name, member = pair
        yield name, member


def _check_sequential(other: Any) -> None:
    if not isinstance(other, Sequential):
        raise ValueError(f"add operator supports only objects of Sequential class, but {type(other)} is given.")


__getattr__, __dir__ = later(  # PyTorch has these here too
    globals(), "torch.nn.modules.container", {".parameters": "ParameterDict ParameterList"}
)
