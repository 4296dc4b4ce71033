"""What modules share that learn the shapes of their parameters from their first input: LazyModuleMixin."""

from __future__ import annotations

from itertools import chain
from typing import Any

from ..parameter import is_lazy


class LazyModuleMixin:
    """Makes of a Module class one whose parameters may be uninitialized until the first call.

    A subclass names the class it turns into, ``cls_to_become``, and has ``initialize_parameters(*args, **kwargs)``,
    which is given the arguments of the first call and materializes all parameters and buffers.
    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.modules.lazy.LazyModuleMixin.html
    """

    cls_to_become: type[Any] | None = None

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[misc]
        self._load_hook = self._register_load_state_dict_pre_hook(self._lazy_load_hook)
        self._initialize_hook = self.register_forward_pre_hook(self._infer_parameters, with_kwargs=True)

    def _save_to_state_dict(self: Any, destination: Any, prefix: str, keep_vars: bool) -> None:
        passing = self._non_persistent_buffers_set
        buffers = [(name, buffer) for name, buffer in self._buffers.items() if name not in passing]
        for name, tensor in chain(self._parameters.items(), buffers):
            if tensor is not None:
                destination[prefix + name] = tensor if keep_vars or is_lazy(tensor) else tensor.detach()

    def _lazy_load_hook(
        self: Any, state_dict: Any, prefix: str, local_metadata: Any, strict: bool, missing_keys: list[str],
        unexpected_keys: list[str], error_msgs: list[str],
    ) -> None:  # fmt: skip
        """Give what is uninitialized here, and not in ``state_dict``, the shape it has there."""
        for name, tensor in chain(self._parameters.items(), self._buffers.items()):
            loaded = state_dict.get(prefix + name)
            if loaded is not None and is_lazy(tensor) and not is_lazy(loaded):
                tensor.materialize(loaded.shape)

    def initialize_parameters(self, *args: Any, **kwargs: Any) -> None:
        """Materialize all parameters and buffers for a call with these arguments; every subclass has its own."""
        raise NotImplementedError(f"initialize_parameters is not implemented for {type(self).__name__}")

    def has_uninitialized_params(self: Any) -> bool:
        """Whether a parameter or buffer of this very module has no shape yet."""
        return any(is_lazy(tensor) for tensor in chain(self._parameters.values(), self._buffers.values()))

    def _infer_parameters(self: Any, module: Any, args: Any, kwargs: Any = None) -> None:
        """The hook before the first call: initialize, then become the class that is not lazy."""
        module.initialize_parameters(*args, **(kwargs or {}))
        if module.has_uninitialized_params():
            raise RuntimeError(f"module {self._get_name()} has not been fully initialized")
        module._initialize_hook.remove()
        module._load_hook.remove()
        del module._initialize_hook, module._load_hook
        if not module._listens():
            module.__dict__["_hooked"] = False  # later calls go straight to ``forward`` again
        if module.cls_to_become is not None:
            module.__class__ = module.cls_to_become

    def _replicate_for_data_parallel(self) -> Any:
        raise RuntimeError(
            "Modules with uninitialized parameters can't be used with `DataParallel`. Run a dummy forward pass to "
            "correctly initialize the modules"
        )


__all__ = ["LazyModuleMixin"]
