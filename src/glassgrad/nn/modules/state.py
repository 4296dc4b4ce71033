"""The state of a module as a dictionary: ``state_dict``, ``load_state_dict``, and the hooks at both."""

from __future__ import annotations

import warnings
import weakref
from collections import OrderedDict, namedtuple
from collections.abc import Callable, Mapping
from typing import Any

from ...core.tensor import Tensor
from ...ground import modes
from ...utils.swap import swap_tensors
from ..parameter import Parameter, is_lazy
from .calls import Handle, _add
from .conversion import flags

_EXTRA = "_extra_state"
_NEVER = (
    "Reached a code path in Module.{name}() that should never be called. Please file an issue at "
    "https://github.com/pytorch/pytorch/issues/new?template=bug-report.yml to report this bug."
)


class _IncompatibleKeys(namedtuple("IncompatibleKeys", ["missing_keys", "unexpected_keys"])):
    """What ``load_state_dict`` reports: keys that the state lacked, and keys that the module lacks."""

    __slots__ = ()

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return super().__repr__()

    __str__ = __repr__


class _OfModule:
    """A hook that is given its module, which it does not keep alive; copied and pickled with it."""

    def __init__(self, hook: Callable[..., Any], module: Any) -> None:
        self.hook, self.module = hook, weakref.ref(module)

    def __call__(self, *args: Any) -> Any:
        module = self.module()
        if module is None:
            raise RuntimeError("You are trying to call the hook of a dead Module!")
        return self.hook(module, *args)

    def __getstate__(self) -> tuple[Callable[..., Any], Any]:
        return self.hook, self.module()

    def __setstate__(self, state: tuple[Callable[..., Any], Any]) -> None:
        self.hook = state[0]
        if state[1] is None:
            raise RuntimeError("You are trying to revive the hook of a dead Module!")
        self.module = weakref.ref(state[1])


class State:
    """What gives a Module its ``state_dict``."""

    _version: int = 1
    _parameters: dict[str, Parameter | None]
    _buffers: dict[str, Tensor | None]
    _non_persistent_buffers_set: set[str]
    _modules: dict[str, Any]
    _state_dict_hooks: OrderedDict[int, Callable[..., Any]]
    _state_dict_pre_hooks: OrderedDict[int, Callable[..., Any]]
    _load_state_dict_pre_hooks: OrderedDict[int, Callable[..., Any]]
    _load_state_dict_post_hooks: OrderedDict[int, Callable[..., Any]]

    def get_extra_state(self) -> Any:
        """What else belongs in the ``state_dict``; for subclasses, with :meth:`set_extra_state`."""
        raise RuntimeError(_NEVER.format(name="get_extra_state"))

    def set_extra_state(self, state: Any) -> None:
        """Take back what :meth:`get_extra_state` gave."""
        raise RuntimeError(_NEVER.format(name="set_extra_state"))

    # -- giving ---------------------------------------------------------------------------------------------------

    def state_dict(self, *args: Any, destination: Any = None, prefix: str = "", keep_vars: bool = False) -> Any:
        """All parameters and persistent buffers by name, as an OrderedDict of tensors on the same memory.

        destination  a dictionary to fill
        prefix       what all names begin with
        keep_vars    give the parameters themselves instead of detached tensors
        Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html
        """
        if args:
            warnings.warn(
                "Positional args are being deprecated, use kwargs instead. Refer to "
                "https://pytorch.org/docs/main/generated/torch.nn.Module.html#torch.nn.Module.state_dict for details.",
                FutureWarning,
                stacklevel=2,
            )
            destination = args[0] if destination is None else destination
            prefix = args[1] if len(args) > 1 and not prefix else prefix
            keep_vars = args[2] if len(args) > 2 and keep_vars is False else keep_vars
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        facts = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = facts
        for hook in self._state_dict_pre_hooks.values():
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        for hook in self._state_dict_hooks.values():
            answer = hook(self, destination, prefix, facts)
            if answer is None:
                continue
            if getattr(hook, "_from_public_api", False):
                raise RuntimeError("state_dict post-hook must return None")
            destination = answer
        return destination

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        for name, parameter in self._parameters.items():
            if parameter is not None:
                destination[prefix + name] = parameter if keep_vars else parameter.detach()  # type: ignore[attr-defined]
        for name, buffer in self._buffers.items():
            if buffer is not None and name not in self._non_persistent_buffers_set:
                destination[prefix + name] = buffer if keep_vars else buffer.detach()  # type: ignore[attr-defined]
        if type(self).get_extra_state is not State.get_extra_state:
            destination[prefix + _EXTRA] = self.get_extra_state()

    def register_state_dict_pre_hook(self, hook: Callable[..., Any]) -> Handle:
        """Call ``hook(module, prefix, keep_vars)`` before the state is collected."""
        return _add(self._state_dict_pre_hooks, hook)

    def register_state_dict_post_hook(self, hook: Any) -> Handle:
        """Call ``hook(module, state_dict, prefix, local_metadata)`` when the state is collected; returns None."""
        hook._from_public_api = True
        return _add(self._state_dict_hooks, hook)

    def _register_state_dict_hook(self, hook: Callable[..., Any]) -> Handle:
        if getattr(hook, "_from_public_api", False):
            raise RuntimeError(
                "Cannot register the same function as the state dict post hook that was previously registered via "
                "register_state_dict_post_hook"
            )
        return _add(self._state_dict_hooks, hook)

    # -- taking ---------------------------------------------------------------------------------------------------

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False) -> Any:
        """Copy parameters and buffers from ``state_dict``; gives the keys that were missing or unexpected.

        strict  raise RuntimeError where keys are missing or unexpected
        assign  put the given tensors in place of the module's own instead of copying their values
        Whatever does not fit in shape is a RuntimeError in any case; what fits is loaded all the same.
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {_shown(type(state_dict))}.")
        missing: list[str] = []
        unexpected: list[str] = []
        errors: list[str] = []
        metadata = getattr(state_dict, "_metadata", None)
        whole: Any = OrderedDict(state_dict)
        if metadata is not None:
            whole._metadata = metadata
        _load(self, whole, "", metadata, assign, missing, unexpected, errors)
        if strict:
            for kind, keys in (("Unexpected", unexpected), ("Missing", missing)):
                if keys:
                    listed = ", ".join(f'"{key}"' for key in keys)
                    errors.insert(0, f"{kind} key(s) in state_dict: {listed}. ")
        if errors:
            listed = "\n\t".join(errors)
            raise RuntimeError(f"Error(s) in loading state_dict for {type(self).__name__}:\n\t{listed}")
        return _IncompatibleKeys(missing, unexpected)

    def _load_from_state_dict(
        self, state_dict: Any, prefix: str, local_metadata: dict[str, Any], strict: bool, missing_keys: list[str],
        unexpected_keys: list[str], error_msgs: list[str],
    ) -> None:  # fmt: skip
        """Take what belongs to this very module, not to its children; subclasses may do it their own way."""
        for hook in self._load_state_dict_pre_hooks.values():
            hook(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
        own: dict[str, Any] = {name: tensor for name, tensor in self._parameters.items() if tensor is not None}
        for name, buffer in self._buffers.items():
            if buffer is not None and name not in self._non_persistent_buffers_set:
                own[name] = buffer
        assign = local_metadata.get("assign_to_params_buffers", False)
        for name, tensor in own.items():
            key = prefix + name
            if key in state_dict:
                self._take(name, tensor, key, state_dict[key], assign, error_msgs)
            elif strict:
                missing_keys.append(key)
        extra = prefix + _EXTRA
        if type(self).set_extra_state is not State.set_extra_state:
            if extra in state_dict:
                self.set_extra_state(state_dict[extra])
            elif strict:
                missing_keys.append(extra)
        elif strict and extra in state_dict:
            unexpected_keys.append(extra)
        if strict:
            for key in state_dict:
                if key.startswith(prefix) and key != extra:
                    name, dot, _ = key[len(prefix) :].partition(".")
                    if name not in (self._modules if dot else own):
                        unexpected_keys.append(key)

    def _take(self, name: str, current: Any, key: str, loaded: Any, assign: bool, errors: list[str]) -> None:
        """Copy or assign one tensor, or say what is wrong with it."""
        if not (isinstance(loaded, Tensor) or hasattr(loaded, "__torch_function__")):
            errors.append(
                f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like object from '
                f"checkpoint but received {type(loaded)}"
            )
            return
        lazy = is_lazy(current)
        if not lazy and len(current.shape) == 0 and tuple(loaded.shape) == (1,):  # how very old files hold scalars
            loaded = loaded[0]
        if not lazy and loaded.shape != current.shape:
            errors.append(
                f"size mismatch for {key}: copying a param with shape {loaded.shape} from checkpoint, the shape in "
                f"current model is {current.shape}."
            )
            return
        if current.device.type == "meta" and loaded.device.type != "meta" and not assign:
            warnings.warn(
                f"for {key}: copying from a non-meta parameter in the checkpoint to a meta parameter in the current "
                "model, which is a no-op. (Did you mean to pass `assign=True` to assign items in the state dictionary "
                "to their corresponding key in the module instead of copying them in place?)",
                stacklevel=2,
            )
        before = modes.local.grad
        try:
            modes.set_grad(False)
            if flags.swap:
                self._exchange(name, current, loaded, assign)
            elif not assign:
                current.copy_(loaded)
            else:
                if isinstance(current, Parameter):
                    if isinstance(loaded, Parameter):
                        loaded.requires_grad_(current.requires_grad)
                    else:
                        loaded = Parameter(loaded, requires_grad=current.requires_grad)
                setattr(self, name, loaded)
        except Exception as error:  # noqa: BLE001  reported with the others
            errors.append(
                f'While copying the parameter named "{key}", whose dimensions in the model are {current.shape} and '
                f"whose dimensions in the checkpoint are {loaded.shape}, an exception occurred : {error.args}."
            )
        finally:
            modes.local.grad = before
            modes.settle()

    def _exchange(self, name: str, current: Any, loaded: Any, assign: bool) -> None:
        """Exchange a tensor with what ``module_load`` makes of the loaded one."""
        new = current.module_load(loaded, assign=assign)
        if new is current or new is loaded:
            raise RuntimeError(
                "module_load returned one of self or other, please .detach() the result if returning one of the inputs "
                "in module_load"
            )
        if isinstance(current, Parameter):
            new = Parameter(new, requires_grad=current.requires_grad)
        swap_tensors(current, new)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any]) -> Handle:
        """Call ``hook(module, state_dict, prefix, local_metadata, strict, missing, unexpected, errors)`` first."""
        return self._register_load_state_dict_pre_hook(hook, with_module=True)

    def _register_load_state_dict_pre_hook(self, hook: Callable[..., Any], with_module: bool = False) -> Handle:
        return _add(self._load_state_dict_pre_hooks, _OfModule(hook, self) if with_module else hook)

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any]) -> Handle:
        """Call ``hook(module, incompatible_keys)`` when the state is loaded; it may change the keys in place."""
        return _add(self._load_state_dict_post_hooks, hook)


def _load(
    module: Any, state: Any, prefix: str, metadata: Any, assign: bool, missing: list[str], unexpected: list[str],
    errors: list[str],
) -> None:  # fmt: skip
    facts = {} if metadata is None else metadata.get(prefix[:-1], {})
    if assign:
        facts["assign_to_params_buffers"] = assign
    module._load_from_state_dict(state, prefix, facts, True, missing, unexpected, errors)
    for name, child in module._modules.items():
        if child is not None:
            start = f"{prefix}{name}."
            part = {key: value for key, value in state.items() if key.startswith(start)}
            _load(child, part, start, metadata, assign, missing, unexpected, errors)
    keys = _IncompatibleKeys(missing, unexpected)
    for hook in module._load_state_dict_post_hooks.values():
        if hook(module, keys) is not None:
            raise AssertionError(
                "Hooks registered with ``register_load_state_dict_post_hook`` are not expected to return new values, "
                "if incompatible_keys need to be modified, it should be done inplace."
            )


def _shown(kind: type) -> str:
    return repr(kind).replace("'glassgrad.", "'torch.")
