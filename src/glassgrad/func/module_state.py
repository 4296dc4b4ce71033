"""Calling a module with other parameters than its own, and stacking those of many; knows modules by what they offer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..core.tensor import Tensor
from ..families.join.functions import stack

_ABSENT = object()


def functional_call(
    module: Any, parameter_and_buffer_dicts: dict[str, Tensor] | Sequence[dict[str, Tensor]], args: Any = None,
    kwargs: dict[str, Any] | None = None, *, tie_weights: bool = True, strict: bool = False,
) -> Any:  # fmt: skip
    """``module(*args, **kwargs)`` with the given tensors in place of parameters and buffers, which come back after it.

    tie_weights  what the module holds under several names is replaced under all of them
    strict       RuntimeError where names are missing or unknown
    Source: https://docs.pytorch.org/docs/stable/generated/torch.func.functional_call.html
    """
    dicts = parameter_and_buffer_dicts
    if isinstance(dicts, dict):
        replaced = dicts
    elif isinstance(dicts, (list, tuple)):
        if not all(isinstance(part, dict) for part in dicts):
            raise ValueError("Expected all elements of parameter_and_buffer_dicts to be dictionaries")
        names = [name for part in dicts for name in part]
        repeated = [name for name in dict.fromkeys(names) if names.count(name) > 1]
        if repeated:
            raise ValueError(f"{repeated} appeared in multiple dictionaries; behavior of functional call is ambiguous")
        replaced = {name: tensor for part in dicts for name, tensor in part.items()}
    else:
        raise ValueError(
            f"Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got {type(dicts)}"
        )
    args = () if args is None else args if isinstance(args, tuple) else (args,)
    with replacing(module, replaced, tie_weights=tie_weights, strict=strict):
        return module(*args, **(kwargs or {}))


@contextmanager
def replacing(
    module: Any, tensors: dict[str, Tensor], *, tie_weights: bool = False, strict: bool = False
) -> Iterator[None]:
    """A block in which ``module`` holds ``tensors`` under their names; what it changed of them is in them then."""
    wanted = _untied(module, tensors) if tie_weights else tensors
    if strict:
        _check_names(module, wanted)
    before: dict[str, Any] = {}
    try:
        for name, tensor in wanted.items():
            before[name] = _swap(module, name, tensor)
        yield
    finally:
        after = {name: _swap(module, name, tensor) for name, tensor in before.items()}
        tensors.update({name: after[name] for name in tensors if name in after})


def _named(module: Any) -> dict[str, Tensor]:
    return {
        **dict(module.named_parameters(remove_duplicate=False)),
        **dict(module.named_buffers(remove_duplicate=False)),
    }


def _untied(module: Any, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """``tensors`` under all names that the module has for what they replace."""
    groups: dict[int, list[str]] = {}
    for name, tensor in _named(module).items():
        groups.setdefault(id(tensor), []).append(name)
    untied = dict(tensors)
    for names in groups.values():
        present = [name for name in names if name in tensors]
        if len(names) == 1 or not present:
            continue
        if len({id(tensors[name]) for name in present}) > 1:
            raise ValueError(
                f"functional_call got multiple values for keys {sorted(names)}, which are tied. Consider using "
                "tie_weights=False"
            )
        for name in names:
            untied[name] = tensors[present[0]]
    return untied


def _check_names(module: Any, tensors: dict[str, Tensor]) -> None:
    members = _named(module)
    errors = []
    for kind, names in (
        ("Unexpected", [name for name in tensors if name not in members]),
        ("Missing", [name for name in members if name not in tensors]),
    ):
        if names:
            errors.append(f"{kind} key(s): {', '.join(map(repr, sorted(names)))}.")
    if errors:
        listed = "\n\t".join(errors)
        raise RuntimeError(f"Error(s) in reparametrizing for {module._get_name()}:\n\t{listed}")


def _swap(module: Any, path: str, tensor: Any) -> Any:
    """Put a tensor, or nothing, where ``path`` names; what was there before."""
    parent, _, name = path.rpartition(".")
    owner = module.get_submodule(parent)
    if tensor is not _ABSENT and tensor is not None and not isinstance(tensor, Tensor):
        raise TypeError(f"{tensor} is not an instance of torch.Tensor")
    for members in (owner._parameters, owner._buffers):
        if name in members:
            old = members[name]
            members[name] = tensor
            return old
    old = getattr(owner, name, _ABSENT)
    if old is not _ABSENT and old is not None and not isinstance(old, Tensor):
        raise TypeError(f"attribute `{name}`: {old} is not an instance of torch.Tensor")
    if tensor is not _ABSENT:
        setattr(owner, name, tensor)
    elif old is not _ABSENT:
        delattr(owner, name)
    return old


def stack_module_state(models: Any) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """The parameters and the buffers of several modules of one class, stacked along a new first dimension.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.func.stack_module_state.html
    """
    models = list(models)
    if not models:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if len({bool(model.training) for model in models}) > 1:
        raise RuntimeError("stack_module_state: Expected all models to have the same training/eval mode.")
    if len({type(model) for model in models}) > 1:
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")
    stacked = []
    for kind in ("named_parameters", "named_buffers"):
        all_of = [dict(getattr(model, kind)()) for model in models]
        stacked.append({name: _stacked_leaf([state[name] for state in all_of], name) for name in all_of[0]})
    return stacked[0], stacked[1]


def _stacked_leaf(tensors: list[Any], name: str) -> Any:
    wanting = {t.requires_grad for t in tensors}
    if len(wanting) > 1:
        raise RuntimeError(f"Expected {name} from each model to have the same .requires_grad")
    stacked = stack(tensors)
    return stacked.detach().requires_grad_() if wanting == {True} else stacked


__all__ = ["functional_call", "stack_module_state"]


def replace_all_batch_norm_modules_(root: Any) -> Any:
    """Have each batch normalization of a module keep no running statistics, and return the module.

    Source: https://docs.pytorch.org/docs/stable/func.batch_norm.html
    """
    for module in root.modules():
        names = {kind.__name__ for kind in type(module).__mro__}
        if "_BatchNorm" in names and module.track_running_stats:
            module.running_mean = module.running_var = module.num_batches_tracked = None
            module.track_running_stats = False
    return root
