"""Spectral normalisation by a hook before ``forward``: the older of two forms, kept for the keys in its states."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from ...autograd.grad_mode import no_grad
from ...core.tensor import wrap
from ...ground.hidden import Hidden
from ...tensor.lifted import Lifted
from .. import functional as F
from ..modules import Module
from ..parameter import Parameter, UninitializedParameter

T = TypeVar("T", bound=Module)


def output_dim(module: Module) -> int:
    """The dimension of a weight that counts outputs: the second one in transposed convolutions."""
    return 1 if type(module).__name__.startswith(("ConvTranspose", "LazyConvTranspose")) else 0


def settled(matrix: Any) -> Any:
    """A matrix for power iteration, which writes buffers: as it is below transforms that differentiate."""
    if isinstance(matrix, Lifted) and not isinstance(matrix._array, Hidden):
        return wrap(matrix._array)
    return matrix


class SpectralNorm:
    """The hook: divides the weight ``<name>_orig`` by its largest singular value, followed by power iteration.

    Source: Miyato et al. (2018), Spectral Normalization for Generative Adversarial Networks.
    """

    _version = 1

    def __init__(self, name: str = "weight", n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        if n_power_iterations <= 0:
            raise ValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
            )
        self.name, self.dim, self.n_power_iterations, self.eps = name, dim, n_power_iterations, eps

    def reshape_weight_to_matrix(self, weight: Any) -> Any:
        """The weight as a matrix, with a row for each output."""
        if self.dim != 0:
            weight = weight.permute(self.dim, *[axis for axis in range(weight.dim()) if axis != self.dim])
        return weight.reshape(weight.shape[0], -1)

    def compute_weight(self, module: Module, do_power_iteration: bool) -> Any:
        """The weight divided by its spectral norm; iterating writes the vectors of the module anew."""
        weight = getattr(module, f"{self.name}_orig")
        u, v = getattr(module, f"{self.name}_u"), getattr(module, f"{self.name}_v")
        matrix = self.reshape_weight_to_matrix(weight)
        if do_power_iteration:
            with no_grad():
                fixed = settled(matrix)
                for _ in range(self.n_power_iterations):
                    v.copy_(F.normalize(fixed.t().mv(u), dim=0, eps=self.eps))
                    u.copy_(F.normalize(fixed.mv(v), dim=0, eps=self.eps))
                u, v = u.clone(), v.clone()  # the next iteration writes over what this one's graph needs
        return weight / u.dot(matrix.mv(v))

    @staticmethod
    def apply(module: Module, name: str, n_power_iterations: int, dim: int, eps: float) -> SpectralNorm:
        """Move a parameter of ``module`` to ``<name>_orig``, draw the vectors, and register the hooks."""
        for hook in module._forward_pre_hooks.values():
            if isinstance(hook, SpectralNorm) and hook.name == name:
                raise RuntimeError(f"Cannot register two spectral_norm hooks on the same parameter {name}")
        norm = SpectralNorm(name, n_power_iterations, dim, eps)
        weight: Any = module._parameters[name]
        if weight is None:
            raise ValueError(f"`SpectralNorm` cannot be applied as parameter `{name}` is None")
        if isinstance(weight, UninitializedParameter):
            raise ValueError(
                "The module passed to `SpectralNorm` can't have uninitialized parameters. Make sure to run the dummy "
                "forward before applying spectral normalization"
            )
        with no_grad():
            height, width = norm.reshape_weight_to_matrix(weight).shape
            u, v = (F.normalize(weight.new_empty(count).normal_(0, 1), dim=0, eps=eps) for count in (height, width))
        delattr(module, name)
        module.register_parameter(f"{name}_orig", weight)
        setattr(module, name, weight.data)  # what the network holds before its first forward
        module.register_buffer(f"{name}_u", u)
        module.register_buffer(f"{name}_v", v)
        module.register_forward_pre_hook(norm)
        module._register_state_dict_hook(SpectralNormStateDictHook(norm))
        module._register_load_state_dict_pre_hook(SpectralNormLoadStateDictPreHook(norm))
        return norm

    def remove(self, module: Module) -> None:
        """Make the normalised weight a parameter again."""
        with no_grad():
            weight = self.compute_weight(module, do_power_iteration=False)
        for suffix in ("", "_u", "_v", "_orig"):
            delattr(module, self.name + suffix)
        module.register_parameter(self.name, Parameter(weight.detach()))

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module, do_power_iteration=module.training))


class SpectralNormStateDictHook:
    """Notes in a state which version of spectral normalisation it holds."""

    def __init__(self, fn: SpectralNorm) -> None:
        self.fn = fn

    def __call__(self, module: Module, state_dict: Any, prefix: str, local_metadata: dict[str, Any]) -> None:
        noted = local_metadata.setdefault("spectral_norm", {})
        key = f"{self.fn.name}.version"
        if key in noted:
            raise RuntimeError(f"Unexpected key in metadata['spectral_norm']: {key}")
        noted[key] = self.fn._version


class SpectralNormLoadStateDictPreHook:
    """Makes what versions before 1 saved, the weight instead of its right vector, loadable."""

    def __init__(self, fn: SpectralNorm) -> None:
        self.fn = fn

    def __call__(
        self, state_dict: dict[str, Any], prefix: str, local_metadata: dict[str, Any], strict: bool,
        missing_keys: list[str], unexpected_keys: list[str], error_msgs: list[str],
    ) -> None:  # fmt: skip
        fn = self.fn
        version = local_metadata.get("spectral_norm", {}).get(f"{fn.name}.version", None)
        if version is not None and version >= 1:
            return
        key = prefix + fn.name
        if version is None and key not in state_dict and all(key + end in state_dict for end in ("_orig", "_u", "_v")):
            return  # a state of this version, whose note was lost
        missing = [key + end for end in ("_orig", "", "_u") if key + end not in state_dict]
        if missing:
            if strict:
                missing_keys.extend(missing)
            return
        with no_grad():
            original, weight = state_dict[f"{key}_orig"], state_dict.pop(key)
            sigma = (original / weight).mean()
            matrix, u = fn.reshape_weight_to_matrix(original), state_dict[f"{key}_u"]
            gram = matrix.t().mm(matrix)
            v = _pseudo_inverse(gram).mm(matrix.t()).mv(u)
            state_dict[f"{key}_v"] = v.mul_(sigma / u.dot(matrix.mv(v)))


def _pseudo_inverse(matrix: Any) -> Any:
    return matrix.new_tensor(np.linalg.pinv(matrix.detach().numpy()))


def spectral_norm(
    module: T, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> T:
    """Divide a parameter by its largest singular value, as a matrix with a row for each output; gives ``module``."""
    SpectralNorm.apply(module, name, n_power_iterations, output_dim(module) if dim is None else dim, eps)
    return module


def remove_spectral_norm(module: T, name: str = "weight") -> T:
    """Undo :func:`spectral_norm`; ValueError where there is none."""
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, SpectralNorm) and hook.name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            break
    else:
        raise ValueError(f"spectral_norm of '{name}' not found in {module}")
    homes = (
        (module._state_dict_hooks, SpectralNormStateDictHook),
        (module._load_state_dict_pre_hooks, SpectralNormLoadStateDictPreHook),
    )
    for hooks, kind in homes:
        for key, hook in hooks.items():
            hook = getattr(hook, "hook", hook)
            if isinstance(hook, kind) and hook.fn.name == name:
                del hooks[key]
                break
    return module


__all__ = [
    "SpectralNorm", "SpectralNormLoadStateDictPreHook", "SpectralNormStateDictHook", "remove_spectral_norm",
    "spectral_norm",
]  # fmt: skip
