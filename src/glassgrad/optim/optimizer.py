"""What all optimizers share: groups of parameters with their settings, state for each parameter, hooks around steps."""

from __future__ import annotations

import functools
import math
import warnings
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable
from copy import deepcopy
from itertools import chain
from typing import Any, TypeAlias

from ..core.row import TABLE
from ..core.tensor import Tensor
from ..ground import dtypes, modes
from ..ground.listening import audible
from ..nn.modules.calls import Handle, _add
from ..tensor.typename import typename
from ..utils._foreach_utils import _group_tensors_by_device_and_dtype

_before_all: dict[int, Callable[..., Any]] = OrderedDict()  # hooks at the steps of every optimizer
_after_all: dict[int, Callable[..., Any]] = OrderedDict()

_HOOKS = (
    "_optimizer_step_pre_hooks", "_optimizer_step_post_hooks", "_optimizer_state_dict_pre_hooks",
    "_optimizer_state_dict_post_hooks", "_optimizer_load_state_dict_pre_hooks", "_optimizer_load_state_dict_post_hooks",
)  # fmt: skip


class _Required:
    """The default of a setting that every group must give."""

    def __repr__(self) -> str:
        return "<required parameter>"


required = _Required()
ParamsT: TypeAlias = Iterable[Tensor] | Iterable[dict[str, Any]] | Iterable[tuple[str, Tensor]]


class Optimizer:
    """The base of all optimizers; a subclass has a ``step``.

    params    tensors, pairs of name and tensor, or dictionaries: groups with settings of their own
    defaults  the settings of groups that do not say otherwise
    Source: https://docs.pytorch.org/docs/stable/optim.html
    """

    defaults: dict[str, Any]
    state: defaultdict[Any, Any]
    param_groups: list[dict[str, Any]]
    _repeats = False  # whether a group has a parameter twice
    _optimizer_step_pre_hooks: OrderedDict[int, Callable[..., Any]]
    _optimizer_step_post_hooks: OrderedDict[int, Callable[..., Any]]
    _optimizer_state_dict_pre_hooks: OrderedDict[int, Callable[..., Any]]
    _optimizer_state_dict_post_hooks: OrderedDict[int, Callable[..., Any]]
    _optimizer_load_state_dict_pre_hooks: OrderedDict[int, Callable[..., Any]]
    _optimizer_load_state_dict_post_hooks: OrderedDict[int, Callable[..., Any]]

    def __init__(self, params: Iterable[Any], defaults: dict[str, Any]) -> None:
        self.defaults = defaults
        self._patch_step_function()
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, but got "
                + typename(params)
            )
        self.state = defaultdict(dict)
        self.param_groups = []
        groups: list[Any] = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    def _patch_step_function(self) -> None:
        """Give the instance its hooks, and let the ``step`` of its class mind them."""
        for name in _HOOKS:
            self.__dict__.setdefault(name, OrderedDict())
        cls: Any = type(self)
        if not getattr(cls.step, "hooked", False):
            cls.step = audible(_minding_hooks(cls.step), asks=False)

    def __getstate__(self) -> dict[str, Any]:
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._repeats = any(map(_has_repeats, self.param_groups))
        self._patch_step_function()
        self.defaults.setdefault("differentiable", False)

    def __repr__(self) -> str:
        text = f"{type(self).__name__} ("
        for number, group in enumerate(self.param_groups):
            text += f"\nParameter Group {number}\n"
            text += "".join(f"    {key}: {group[key]}\n" for key in sorted(group) if key != "params")
        return text + ")"

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change the parameters once; ``closure`` computes the loss anew, which is then returned."""
        raise NotImplementedError

    @audible
    def zero_grad(self, set_to_none: bool = True) -> None:
        """Take the gradients of all parameters away, or fill them with zeros."""
        for group in self.param_groups:
            for parameter in group["params"]:
                grad = parameter._grad
                if grad is None:
                    continue
                if set_to_none:
                    parameter._grad = None
                else:
                    if grad.grad_fn is not None:
                        grad.detach_()
                    else:
                        grad.requires_grad_(False)
                    grad.zero_()

    # -- groups ---------------------------------------------------------------------------------------------------

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Take on one more group: a dictionary of ``params`` and settings."""
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        entries = param_group["params"]
        if isinstance(entries, set):
            raise TypeError(
                "optimizer parameters need to be organized in ordered collections, but the ordering of tensors in sets "
                "will change between runs. Please use a list instead."
            )
        entries = [entries] if isinstance(entries, Tensor) else list(entries)
        names = [pair[0] for pair in entries if isinstance(pair, tuple)]
        params = [pair[1] if isinstance(pair, tuple) else pair for pair in entries]
        param_group["params"] = params
        if names:
            if len(names) != len(params):
                raise ValueError("all optimizer params should be with/without names. Some param names are missing")
            param_group["param_names"] = names
        for param in params:
            if not isinstance(param, Tensor):
                raise TypeError(f"optimizer can only optimize Tensors, but one of the params is {typename(param)}")
            if not self.defaults.get("differentiable") and not (param.is_leaf or param.retains_grad):
                raise ValueError("can't optimize a non-leaf Tensor")
        for name, default in self.defaults.items():
            if default is required and name not in param_group:
                raise ValueError(f"parameter group didn't specify a value of required optimization parameter {name}")
            param_group.setdefault(name, default)
        if _has_repeats(param_group):
            self._repeats = True
            warnings.warn(
                "optimizer contains a parameter group with duplicate parameters; in future, this will cause an error; "
                "see github.com/pytorch/pytorch/issues/40967 for more information",
                stacklevel=3,
            )
        named = "param_names" in param_group
        known: set[Tensor] = set()
        for group in self.param_groups:
            known.update(group["params"])
            if named != ("param_names" in group):
                raise ValueError(
                    "all optimizer param groups should be with/without names. cannot add param group "
                    f"{'with' if named else 'without'} names to the optimizer"
                )
        if not known.isdisjoint(params):
            raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append(param_group)

    # -- state ----------------------------------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """The state by number of parameter, and the groups, with numbers in place of parameters."""
        for hook in self._optimizer_state_dict_pre_hooks.values():
            hook(self)
        numbers: dict[int, int] = {}
        groups = []
        start = 0
        for group in self.param_groups:
            params = group["params"]
            for number, param in enumerate(params, start):
                numbers.setdefault(id(param), number)
            start += len(params)
            packed = {key: value for key, value in group.items() if key != "params"}
            packed["params"] = [numbers[id(param)] for param in params]
            groups.append(packed)
        state = {numbers[id(key)] if isinstance(key, Tensor) else key: value for key, value in self.state.items()}
        whole: dict[str, Any] = {"state": state, "param_groups": groups}
        for hook in self._optimizer_state_dict_post_hooks.values():
            answer = hook(self, whole)
            whole = whole if answer is None else answer
        return whole

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what ``state_dict`` gave, here or elsewhere; ValueError where the groups differ in size."""
        state_dict = state_dict.copy()
        for hook in self._optimizer_load_state_dict_pre_hooks.values():
            answer = hook(self, state_dict)
            state_dict = state_dict if answer is None else answer
        groups, saved = self.param_groups, deepcopy(state_dict["param_groups"])
        if len(groups) != len(saved):
            raise ValueError("loaded state dict has a different number of parameter groups")
        if any(len(ours["params"]) != len(theirs["params"]) for ours, theirs in zip(groups, saved, strict=True)):
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the size of optimizer's group"
            )
        by_number: dict[Any, Any] = {}
        as_float32 = set()  # numbers of parameters whose step count must be float32
        for ours, theirs in zip(groups, saved, strict=True):
            by_number.update(zip(theirs["params"], ours["params"], strict=True))
            if theirs.get("capturable") or theirs.get("fused"):
                as_float32.update(theirs["params"])
        state: defaultdict[Any, Any] = defaultdict(dict)
        for key, value in state_dict["state"].items():
            if key in by_number:
                state[by_number[key]] = _fitted(value, by_number[key], key in as_float32, None)
            else:
                state[key] = value
        for ours, theirs in zip(groups, saved, strict=True):
            theirs["params"] = ours["params"]
            if "param_names" in ours:
                theirs.setdefault("param_names", ours["param_names"])
        self.__setstate__({"state": state, "param_groups": saved})
        for hook in self._optimizer_load_state_dict_post_hooks.values():
            hook(self)

    # -- hooks ----------------------------------------------------------------------------------------------------

    _group_tensors_by_device_and_dtype = staticmethod(_group_tensors_by_device_and_dtype)

    def register_step_pre_hook(self, hook: Callable[..., Any]) -> Handle:
        """Call ``hook(optimizer, args, kwargs)`` before each step; what it returns replaces the arguments."""
        return _add(self._optimizer_step_pre_hooks, hook)

    def register_step_post_hook(self, hook: Callable[..., Any]) -> Handle:
        """Call ``hook(optimizer, args, kwargs)`` after each step."""
        return _add(self._optimizer_step_post_hooks, hook)

    def register_state_dict_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> Handle:
        """Call ``hook(optimizer)`` before the state is collected."""
        return _add(self._optimizer_state_dict_pre_hooks, hook, prepend=prepend)

    def register_state_dict_post_hook(self, hook: Callable[..., Any], prepend: bool = False) -> Handle:
        """Call ``hook(optimizer, state_dict)`` when the state is collected; what it returns replaces it."""
        return _add(self._optimizer_state_dict_post_hooks, hook, prepend=prepend)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> Handle:
        """Call ``hook(optimizer, state_dict)`` before a state is loaded; what it returns replaces it."""
        return _add(self._optimizer_load_state_dict_pre_hooks, hook, prepend=prepend)

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any], prepend: bool = False) -> Handle:
        """Call ``hook(optimizer)`` when a state is loaded."""
        return _add(self._optimizer_load_state_dict_post_hooks, hook, prepend=prepend)


def _has_repeats(group: dict[str, Any]) -> bool:
    return len(set(group["params"])) < len(group["params"])


def _default_to_fused_or_foreach(params: Any, differentiable: bool, use_fused: bool = False) -> tuple[bool, bool]:
    """Whether an optimizer of one's own had better be fused, or compute all parameters at once: neither, on the CPU."""
    return False, False


def _get_capturable_supported_devices(supports_xla: bool = True) -> list[str]:
    """The devices on which a step can be captured: none that is here."""
    return ["cuda", "xpu", "hpu", *(["xla"] if supports_xla else [])]


def _get_value(x: Any) -> Any:
    """The number of a tensor of one element; a number as it is."""
    return x.item() if isinstance(x, Tensor) else x


def _stack_if_compiling(x: Any) -> Any:
    """``x`` as it is."""
    return x


def _dispatch_sqrt(x: float) -> float:
    """The square root of a number."""
    return math.sqrt(x)


def _view_as_real(params: Any, *state_and_grads: Any) -> None:
    """Replace complex tensors of these lists by views of their real and imaginary parts."""
    for index, param in enumerate(params):
        if param.is_complex():
            params[index] = TABLE["view_as_real"].caller(param)
            for others in state_and_grads:
                others[index] = TABLE["view_as_real"].caller(others[index])


def register_optimizer_step_pre_hook(hook: Callable[..., Any]) -> Handle:
    """Call ``hook(optimizer, args, kwargs)`` before each step of every optimizer."""
    return _add(_before_all, hook)


def register_optimizer_step_post_hook(hook: Callable[..., Any]) -> Handle:
    """Call ``hook(optimizer, args, kwargs)`` after each step of every optimizer."""
    return _add(_after_all, hook)


def _minding_hooks(step: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(step)
    def hooked(self: Optimizer, /, *args: Any, **kwargs: Any) -> Any:
        before, after = self._optimizer_step_pre_hooks, self._optimizer_step_post_hooks
        if not (before or after or _before_all or _after_all):
            return step(self, *args, **kwargs) if args or kwargs else step(self)
        args = (self, *args)
        for hook in list(chain(_before_all.values(), before.values())):
            answer = hook(self, args, kwargs)
            if answer is None:
                continue
            if not isinstance(answer, tuple) or len(answer) != 2:
                raise RuntimeError(f"{step} must return None or a tuple of (new_args, new_kwargs), but got {answer}.")
            args, kwargs = answer
        out = step(*args, **kwargs)
        for hook in list(chain(after.values(), _after_all.values())):
            hook(self, args, kwargs)
        return out

    hooked.hooked = True  # type: ignore[attr-defined]
    return hooked


def _use_grad_for_differentiable(step: Callable[..., Any]) -> Callable[..., Any]:
    """Have a step of an optimizer's own record only where ``differentiable`` is among its defaults, and true."""

    @functools.wraps(step)
    def recorded_if_asked(self: Optimizer, *args: Any, **kwargs: Any) -> Any:
        before = modes.local.grad
        try:
            modes.set_grad(bool(self.defaults["differentiable"]))
            return step(self, *args, **kwargs)
        finally:
            modes.off |= modes.local.me
            modes.local.grad = before
            modes.settle()

    return recorded_if_asked


def evaluated(closure: Callable[[], Any] | None) -> Any:
    """The loss that ``closure`` computes, recorded whatever the mode; None without one."""
    if closure is None:
        return None
    before = modes.local.grad
    try:
        modes.set_grad(True)
        return closure()
    finally:
        modes.off |= modes.local.me
        modes.local.grad = before
        modes.settle()


def _fitted(value: Any, param: Tensor, as_float32: bool, key: Any) -> Any:
    """A loaded value in the dtype and on the device of its parameter; step counts keep theirs."""
    if isinstance(value, Tensor):
        movable: Any = value
        if key == "step":
            return movable.to(dtype=dtypes.float32, device=param.device) if as_float32 else value
        if param.dtype.is_floating_point:
            return movable.to(dtype=param.dtype, device=param.device)
        return movable.to(device=param.device)
    if isinstance(value, dict):
        return {name: _fitted(piece, param, as_float32, name) for name, piece in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, str):
        return type(value)(_fitted(piece, param, as_float32, None) for piece in value)  # type: ignore[call-arg]
    return value
