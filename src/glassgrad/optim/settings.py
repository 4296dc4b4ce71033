"""Settings and state of optimizers: what a constructor declares, checked in PyTorch's words, and what is kept by it."""

from __future__ import annotations

from collections.abc import Callable
from itertools import repeat
from math import inf
from operator import setitem
from typing import Any, ClassVar

import numpy as np

from ..core.tensor import Tensor, share, wrap
from ..ground import dtypes, modes
from ..ground.at_once import at_once
from .optimizer import Optimizer, evaluated

F32, F64 = np.dtype("f4"), np.dtype("f8")

#: What errors call a setting, where it is not by its name; and the largest value of one that has such.
_WORDS = {"lr": "learning rate", "eps": "epsilon value"}
_LARGEST = {"rho": 1.0}
#: What a setting is to those who have not heard of it: False, but for these.
_UNHEARD = {"foreach": None, "fused": None, "grad_scale": None, "found_inf": None, "momentum": 0}


class WithSettings(Optimizer):
    """An optimizer whose constructor hands its arguments on: its signature declares the settings and their defaults.

    _checked  settings that have a range, in the order in which PyTorch looks at them
    _order    settings in the order that groups have, where it is not that of the signature
    _younger  settings that states of older versions lack, in the order in which PyTorch adds them
    _scalars  the numbers kept for each parameter
    """

    _checked: ClassVar[str] = ""
    _order: ClassVar[str] = ""
    _younger: ClassVar[str] = ""
    _scalars: ClassVar[tuple[str, ...]] = ()

    def _begin(self, arguments: dict[str, Any]) -> None:
        """Take on the groups, given the constructor's ``locals()``."""
        settings = {name: value for name, value in arguments.items() if name not in ("self", "params")}
        self._check(settings)
        names = self._order.split() or settings
        super().__init__(arguments["params"], {name: settings[name] for name in names})
        if settings.get("fused"):
            if settings["differentiable"]:
                raise RuntimeError("`fused` does not support `differentiable`")
            if settings["foreach"]:
                raise RuntimeError("`fused` and `foreach` cannot be `True` together.")

    def _check(self, settings: dict[str, Any]) -> None:
        """ValueError where a setting is out of its range."""
        for name in self._checked.split():
            check(name, settings[name])

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            for name in self._younger.split():
                group.setdefault(name, unheard(name))
            for param in group["params"]:  # older states hold plain numbers
                values = self.state.get(param, {})
                for name in self._scalars:
                    if values and not isinstance(values[name], Tensor):
                        values[name] = scalar(float(values[name]), group)


class ByParameter(WithSettings):
    """An optimizer whose ``_step`` changes one parameter, given its group and its state; it refuses complex ones."""

    _name: ClassVar[str]  # as errors have it, of subclasses too

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change the parameters once; gives the loss that ``closure`` computed."""
        loss = evaluated(closure)
        before = modes.local.grad
        try:
            modes.set_grad(False)
            todo = []
            for group in self.param_groups:
                for param in group["params"]:
                    if param.grad is None:
                        continue
                    if param.is_complex():
                        raise RuntimeError(f"{self._name} does not support complex parameters")
                    if param.grad.is_sparse:
                        raise RuntimeError(f"{self._name} does not support sparse gradients")
                    state = self.state[param]
                    if not state:
                        state.update(self._started(group, param))
                    todo.append((group, state, param))
            counts = Counts()
            for _, state, _ in todo:
                for count in map(state.get, self._scalars):
                    steps = count._array[()]
                    counts.add(count, type(steps)(steps + 1))
            counts.change()
            for group, state, param in todo:
                self._step(group, state, param)
        finally:
            modes.local.grad = before
            modes.settle()
        return loss

    def _started(self, group: dict[str, Any], param: Any) -> dict[str, Any]:
        """The state of a parameter before its first step."""
        raise NotImplementedError

    def _step(self, group: dict[str, Any], state: dict[str, Any], param: Any) -> None:
        raise NotImplementedError


def unheard(name: str) -> Any:
    """The value of a setting where nobody gave it."""
    return _UNHEARD.get(name, False)


def check(name: str, value: Any) -> None:
    """ValueError where a setting is out of the range that it has in every optimizer which has it."""
    if name == "lr":
        check_one_element(value, name)
    if name == "betas":
        for index in (0, 1):
            if not 0.0 <= value[index] < 1.0:
                raise ValueError(f"Invalid beta parameter at index {index}: {value[index]}")
    elif not 0.0 <= value <= _LARGEST.get(name, inf):
        raise invalid(name, value)


def invalid(name: str, value: Any) -> ValueError:
    """The error where a setting is out of its range."""
    return ValueError(f"Invalid {_WORDS.get(name, f'{name} value')}: {value}")


def check_least(words: str, value: Any, least: int = 0) -> None:
    """ValueError where a setting is too small; ``words`` are what the error calls it."""
    if not float(least) <= value:
        raise ValueError(f"{words} should be >= {least} but is: {value}")


def check_one_element(setting: Any, name: str) -> None:
    """ValueError where a setting is a tensor of several elements."""
    if isinstance(setting, Tensor) and setting._array.size != 1:
        raise ValueError(f"Tensor {name} must be 1-element")


def number(setting: Any) -> float:
    """A setting as a Python number; one may be a tensor of one element."""
    return setting.item() if isinstance(setting, Tensor) else setting  # type: ignore[attr-defined,no-any-return]


# -- state ------------------------------------------------------------------------------------------------------------


def of_two_dtypes(parameter: Any, kept: Any) -> RuntimeError:
    """What is wrong about a fused step that finds its state in another dtype than the parameter."""
    if kept == np.float16:
        return RuntimeError(
            "Tensors of the same index must be on the same device and the same dtype except `step` tensors that can "
            "be CPU and float32/64, and optimizer states that can be bfloat16 for mixed-precision training"
        )
    wanted, found = (dtypes.of(kind).scalar_name for kind in (parameter, kept))
    return RuntimeError(f"expected scalar type {wanted} but found {found}")


def scalar(value: float, group: dict[str, Any]) -> Tensor:
    """A number of the state: a tensor of the default dtype, but float32 where that is narrower or the step is fused."""
    wide = dtypes.get_default_dtype() is dtypes.float64 and not group.get("fused")
    return wrap(np.float64(value) if wide else np.float32(value))


class Counts:
    """Numbers of the state, and what they become: all of them or none, wherever Ctrl-C comes."""

    __slots__ = ("plain", "numbers", "shared", "written")

    def __init__(self) -> None:
        self.plain: list[Tensor] = []  # tensors that get other numbers
        self.numbers: list[Any] = []
        self.shared: list[Tensor] = []  # those whose memory others see
        self.written: list[Any] = []

    def add(self, count: Tensor, value: Any) -> None:
        """Have a tensor become another number."""
        tensors, numbers = (self.plain, self.numbers) if count._counter is None else (self.shared, self.written)
        tensors.append(count)
        numbers.append(value)

    def change(self) -> None:
        """Make the changes."""
        if not self.shared:
            at_once(map(setattr, self.plain, repeat("_array"), self.numbers))
            return
        counters: list[Any] = [count._counter for count in self.shared]
        at_once(
            map(setattr, self.plain, repeat("_array"), self.numbers),
            map(setitem, [count._array for count in self.shared], repeat(...), self.written),
            map(setattr, counters, repeat("version"), [counter.version + 1 for counter in counters]),
        )


def filled(param: Tensor, value: Any) -> Tensor:
    """A tensor like a parameter, in shape, dtype and layout, of one value: in both parts of a complex one."""
    array = np.empty_like(param._array)
    array[...] = complex(value, value) if array.dtype.kind == "c" else value
    return wrap(array)


def writable(tensor: Tensor) -> Any:
    """The data of a state tensor, an array to write to; the write is counted where anybody could notice."""
    if type(tensor._array) is not np.ndarray:
        share(tensor)
    if tensor._counter is not None:
        tensor._counter.version += 1
    return tensor._array
