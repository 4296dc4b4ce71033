"""DistributedDataParallel: one module in several processes, each with its own part of the data."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any

from ...autograd.function import Function
from ...core.tensor import Tensor
from ...func.module_state import functional_call
from ...ground import modes
from ..modules.module import Module
from ..parameter import UninitializedParameter
from .join import Join, JoinHook, group_of, total
from .reducer import Reducer

__all__ = ["DistributedDataParallel"]

_MB = 1024 * 1024


@dataclass
class _MixedPrecision:
    """The dtypes in which a wrapped module computes, sums its gradients, and keeps its buffers; None: as they are.

    Parameters, gradients and checkpoints stay in their own; sums are in ``param_dtype`` where ``reduce_dtype`` is None.
    """

    param_dtype: Any = None
    reduce_dtype: Any = None
    buffer_dtype: Any = None


def _cast(tensor: Any, kind: Any) -> Any:
    return tensor.to(kind) if tensor.is_floating_point() else tensor


class _DDPSink(Function):
    """What module outputs go through where unused parameters are looked for: backward starts here."""

    @staticmethod
    def forward(ctx: Any, owner: Any, *outputs: Any) -> Any:
        ctx.set_materialize_grads(False)
        ctx.owner = owner
        return tuple(output.clone() for output in outputs)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        ctx.owner(tuple(grad is not None for grad in grads))
        return (None, *grads)


class DistributedDataParallel(Module):
    """``module``, whose gradients are averaged over all processes of a group during backward.

    All start with rank 0's parameters and buffers; buffers follow rank 0 at every forward, unless
    ``forward_sync_buffers`` is False. Each process gives its own part of the batch.
    process_group           the default one where not given; ``device_mesh``: a line of ranks in its place
    bucket_cap_mb           how much is sent at once, 25 where not given
    find_unused_parameters  do not wait for gradients of parameters that no output depends on
    mixed_precision         the dtypes that parameters, sums of gradients and buffers have meanwhile
    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html
    """

    def __init__(
        self, module: Module, device_ids: Any = None, output_device: Any = None, dim: int = 0,
        broadcast_buffers: bool | None = None, init_sync: bool = True, process_group: Any = None,
        bucket_cap_mb: float | None = None, find_unused_parameters: bool = False, check_reduction: bool = False,
        gradient_as_bucket_view: bool = False, static_graph: bool = False, delay_all_reduce_named_params: Any = None,
        param_to_hook_all_reduce: Any = None, mixed_precision: _MixedPrecision | None = None, device_mesh: Any = None,
        skip_all_reduce_unused_params: bool = False, bucket_cap_mb_list: list[int] | None = None,
        batched_grad_copy: bool = False, forward_sync_buffers: bool | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        for name, value in (
            ("delay_all_reduce_named_params", delay_all_reduce_named_params),
            ("param_to_hook_all_reduce", param_to_hook_all_reduce),
        ):  # fmt: skip
            if value is not None:
                raise RuntimeError(f"DistributedDataParallel of glassgrad takes no {name}: pass a process_group")
        self.process_group = _group(process_group, device_mesh)
        self.parameters_to_ignore = set(getattr(module, "_ddp_params_and_buffers_to_ignore", ()))
        wanted = [(name, each) for name, each in module.named_parameters() if name not in self.parameters_to_ignore]
        _check(wanted, device_ids, output_device)
        self.device_ids = self.output_device = None
        self.device_type = "cpu"
        self.dim, self.module, self.device = dim, module, wanted[0][1].device
        self.find_unused_parameters, self.static_graph = find_unused_parameters, static_graph
        self.gradient_as_bucket_view, self.mixed_precision = gradient_as_bucket_view, mixed_precision
        self.require_backward_grad_sync = self.require_forward_param_sync = True
        if broadcast_buffers is not None:
            _tell_of_old_name(forward_sync_buffers)
        first = True if forward_sync_buffers is not None or broadcast_buffers is None else broadcast_buffers
        self.forward_sync_buffers = first if forward_sync_buffers is None else forward_sync_buffers
        if check_reduction:
            warnings.warn(
                "The `check_reduction` argument in `DistributedDataParallel` module is deprecated. Please avoid using "
                "it.",
                FutureWarning,
                stacklevel=2,
            )
        if bucket_cap_mb_list:
            bucket_cap_mb = max(bucket_cap_mb_list)
        self.bucket_bytes_cap_default = bucket_cap_mb is None
        self.bucket_bytes_cap = int((25 if bucket_cap_mb is None else bucket_cap_mb) * _MB)
        self._uneven: Any = None
        self._join: Any = None
        if mixed_precision is not None and mixed_precision.buffer_dtype is not None:
            for buffer in self._own_buffers():
                buffer.data = _cast(buffer, mixed_precision.buffer_dtype)
        if init_sync:
            self._agree_on_shapes()
            parameters = [each for _, each in wanted]
            self._follow(parameters + (self._own_buffers() if first else []))
        self._make_reducer()

    def _make_reducer(self) -> None:
        first = min(_MB, self.bucket_bytes_cap) if self.bucket_bytes_cap_default else self.bucket_bytes_cap
        mixed = self.mixed_precision
        self.reducer = Reducer(
            [each for _, each in self._named()], [name for name, _ in self._named()], self.process_group,
            (first, self.bucket_bytes_cap), self.find_unused_parameters or self.static_graph,
            None if mixed is None else mixed.reduce_dtype or mixed.param_dtype,
        )  # fmt: skip

    def _named(self) -> list[tuple[str, Any]]:
        """The parameters whose gradients are averaged, with their names."""
        return [
            (name, each)
            for name, each in self.module.named_parameters()
            if each.requires_grad and name not in self.parameters_to_ignore
        ]

    def _own_buffers(self) -> list[Any]:
        return [each for name, each in self.module.named_buffers() if name not in self.parameters_to_ignore]

    @property
    def broadcast_buffers(self) -> bool:
        """The former name of ``forward_sync_buffers``."""
        return self.forward_sync_buffers

    @broadcast_buffers.setter
    def broadcast_buffers(self, value: bool) -> None:
        self.forward_sync_buffers = value

    def _agree_on_shapes(self) -> None:
        """RuntimeError unless rank 0 has parameters of the same shapes."""
        group = self.process_group
        mine = [tuple(each._array.shape) for _, each in self._named()]
        first = group.from_rank(0, mine, "DistributedDataParallel's shapes")
        if len(first) != len(mine):
            raise RuntimeError(
                f"DDP expects same model across all ranks, but Rank {group.rank()} has {len(mine)} params, while rank "
                f"0 has inconsistent {len(first)} params."
            )
        for index, (theirs, ours) in enumerate(zip(first, mine, strict=True)):
            if theirs != ours:
                raise RuntimeError(
                    f"[{group.rank()}]: params[{index}] in this process with sizes {list(ours)} appears not to match "
                    "sizes of the same param in process 0."
                )

    def _follow(self, tensors: list[Any], root: int = 0) -> None:
        """Let tensors take the values that rank ``root`` has."""
        self.process_group.spread(tensors, root, "DistributedDataParallel's broadcast")

    # -- forward and backward --------------------------------------------------------------------------------------

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """What ``module`` gives; the backward pass through it averages gradients."""
        uneven = self._uneven if self._join is not None else None
        if uneven is not None:
            uneven.divide(self._join.notify_join_context(self))
        root = 0 if uneven is None else uneven.authority()
        if self.require_forward_param_sync and self.forward_sync_buffers and self.process_group.size() > 1:
            self._follow(self._own_buffers(), root)
        recorded = modes.grad_enabled() and self.require_backward_grad_sync
        if uneven is not None:
            uneven.announce(recorded)
        output = self._computed(inputs, kwargs)
        self.require_forward_param_sync = recorded
        if not recorded:
            self.reducer.armed = False
            return output
        self.reducer.prepare()
        return self._through_sink(output) if self.reducer.unused else output

    def _computed(self, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What ``module`` gives, of parameters and inputs in the lower precision where there is one."""
        low = None if self.mixed_precision is None else self.mixed_precision.param_dtype
        if low is None:
            return self.module(*inputs, **kwargs)
        lowered = {id(each): _cast(each, low) for each in _tensors((inputs, kwargs))}
        parameters = {
            name: _cast(each, low)
            for name, each in self.module.named_parameters()
            if name not in self.parameters_to_ignore
        }
        return functional_call(self.module, parameters, *_replaced((inputs, kwargs), lowered))

    def _through_sink(self, output: Any) -> Any:
        inner = [each for each in _tensors(output) if each.requires_grad]
        if not inner:
            return output
        reducer = self.reducer

        def begin(wanted: tuple[bool, ...]) -> None:
            if reducer.armed and not reducer.begun:
                reducer.mark_unused(each for each, used in zip(inner, wanted, strict=True) if used)

        outer = _DDPSink.apply(begin, *inner)
        return _replaced(output, {id(old): new for old, new in zip(inner, outer, strict=True)})

    @contextmanager
    def no_sync(self) -> Iterator[None]:
        """A block whose forward passes leave gradients as they are; the next one outside averages their sum."""
        before, self.require_backward_grad_sync = self.require_backward_grad_sync, False
        try:
            yield
        finally:
            self.require_backward_grad_sync = before

    def join(
        self, divide_by_initial_world_size: bool = True, enable: bool = True, throw_on_early_termination: bool = False
    ) -> AbstractContextManager[Any]:
        """A block in which processes may have different numbers of batches: those done first keep the others company.

        divide_by_initial_world_size  gradients are divided by the number of all ranks, not of those still at work
        throw_on_early_termination    raise RuntimeError everywhere as soon as one process is done
        """
        divide = {"divide_by_initial_world_size": divide_by_initial_world_size}
        return Join([self], enable, throw_on_early_termination, **divide)

    def join_hook(self, **kwargs: Any) -> UnevenSteps:
        """What this does in ``torch.distributed.algorithms.Join`` once its process is done."""
        self._uneven = UnevenSteps(self, kwargs.get("divide_by_initial_world_size", True))
        return self._uneven

    @property
    def join_device(self) -> Any:
        """Where the parameters are."""
        return self.device

    @property
    def join_process_group(self) -> Any:
        """The group whose ranks may do different numbers of steps."""
        return self.process_group

    def register_comm_hook(self, state: Any, hook: Callable[..., Any]) -> None:
        """Let ``hook(state, bucket)`` send a bucket of gradients; it gives a future of the tensor that came of it.

        The bucket's gradients are not divided by the number of processes.
        """
        if not callable(hook):
            raise TypeError("Communication hook must be callable.")
        if self.reducer.hook is not None:
            raise RuntimeError("register_comm_hook or register_builtin_comm_hook can only be called once.")
        self.reducer.hook = (state, hook)

    def will_sync_module_buffers(self) -> bool:
        """Whether the next forward takes over rank 0's buffers."""
        return self.require_forward_param_sync and self.forward_sync_buffers and bool(self._own_buffers())

    def _get_ddp_logging_data(self) -> dict[str, Any]:
        """How gradients are averaged, by the names that PyTorch gives it."""
        return {
            "world_size": self.process_group.size(), "rank": self.process_group.rank(),
            "module_name": type(self.module).__name__, "backend_name": self.process_group.name(),
            "bucket_cap_bytes": self.bucket_bytes_cap, "broadcast_buffers": self.forward_sync_buffers,
            "find_unused_parameters": self.find_unused_parameters, "static_graph": self.static_graph,
            "gradient_as_bucket_view": self.gradient_as_bucket_view,
            "can_set_static_graph": False,  # whether the graph stayed the same is not kept
        }  # fmt: skip

    def _set_static_graph(self) -> None:
        self.static_graph = self.reducer.unused = True

    def __getstate__(self) -> dict[str, Any]:
        if self.process_group is not group_of():
            raise RuntimeError(
                "DDP Pickling/Unpickling are only supported when using DDP with the default process group. That is, "
                "when you have called init_process_group and have not passed process_group argument to DDP constructor"
            )
        state = self.__dict__.copy()
        for name in ("process_group", "reducer", "_uneven", "_join"):
            del state[name]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.process_group = group_of()
        self.require_backward_grad_sync = self.require_forward_param_sync = True
        self._uneven = self._join = None
        self._make_reducer()

    @staticmethod
    def _set_params_and_buffers_to_ignore_for_model(module: Module, params_and_buffers_to_ignore: Any) -> None:
        module._ddp_params_and_buffers_to_ignore = params_and_buffers_to_ignore


def _group(group: Any, mesh: Any) -> Any:
    """The group whose ranks average gradients: the one given, that of a line of ranks, or the default one."""
    if group is not None and mesh is not None:
        raise RuntimeError("Cannot specify both process_group and device_mesh arguments.")
    if mesh is None:
        return group_of(group)
    if mesh.ndim != 1:
        raise RuntimeError(f"Only 1D device mesh is supported, but got {mesh}.")
    return mesh.get_group(mesh_dim=0)


def _check(parameters: list[tuple[str, Any]], device_ids: Any, output_device: Any) -> None:
    """PyTorch's errors for what cannot be wrapped."""
    if any(isinstance(each, UninitializedParameter) for _, each in parameters):
        raise RuntimeError(
            "Modules with uninitialized parameters can't be used with `DistributedDataParallel`. Run a dummy forward "
            "pass to correctly initialize the modules"
        )
    if not any(each.requires_grad for _, each in parameters):
        raise RuntimeError(
            "DistributedDataParallel is not needed when a module doesn't have any parameter that requires a gradient."
        )
    if device_ids is not None and len(device_ids) > 1:
        raise ValueError("device_ids can only be None or contain a single element.")
    if device_ids:
        devices = {each.device for _, each in parameters}
        raise ValueError(
            "DistributedDataParallel device_ids and output_device arguments only work with "
            f"single-device/multiple-device GPU modules or CPU modules, but got device_ids {device_ids}, output_device "
            f"{output_device}, and module parameters {devices}."
        )


def _tell_of_old_name(new: bool | None) -> None:
    if new is not None:
        message = (
            "Both `broadcast_buffers` and `forward_sync_buffers` were specified. `broadcast_buffers` is deprecated and "
            "its value is ignored when `forward_sync_buffers` is provided."
        )
    else:
        message = (
            "`broadcast_buffers` is deprecated. Use `forward_sync_buffers` instead. IMPORTANT: unlike "
            "`broadcast_buffers=False`, `forward_sync_buffers=False` still syncs buffers at init. If you rely on "
            "buffers NOT being synced at init (e.g. rank-local buffers), keep using `broadcast_buffers=False` until "
            "`init_sync_buffers` is available."
        )
    warnings.warn(message, FutureWarning, stacklevel=3)


def _tensors(value: Any) -> Iterator[Any]:
    """The tensors in tuples, lists and dictionaries."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, (tuple, list)):
        for each in value:
            yield from _tensors(each)
    elif isinstance(value, dict):
        for each in value.values():
            yield from _tensors(each)


def _replaced(value: Any, others: dict[int, Any]) -> Any:
    """The same with other tensors."""
    if isinstance(value, Tensor):
        return others.get(id(value), value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_replaced(each, others) for each in value))
    if isinstance(value, (tuple, list)):
        return type(value)(_replaced(each, others) for each in value)
    if isinstance(value, dict):
        return type(value)((name, _replaced(each, others)) for name, each in value.items())
    return value


# -- DistributedDataParallel among processes with different numbers of batches -----------------------------------------
# Those done answer the others.


class UnevenSteps(JoinHook):
    """What a wrapped module says to the others in each forward pass, and answers once this process is done.

    It is the hook of ``torch.distributed.algorithms.join``: whose buffers count, whether backward averages.
    """

    def __init__(self, owner: Any, divide_by_all: bool) -> None:
        self.owner, self.divide_by_all = owner, divide_by_all
        self.before = owner.reducer.divisor

    def _largest(self, value: int) -> int:
        return total(self.owner.process_group, value, "MAX")

    def divide(self, at_work: int) -> None:
        """Gradients are averaged over those at work, unless over all."""
        if not self.divide_by_all:
            self.owner.reducer.divisor = at_work

    def authority(self) -> int:
        """The rank at work whose buffers all take over."""
        return self._largest(self.owner.process_group.rank())

    def announce(self, averaging: bool) -> None:
        """Say whether the coming backward pass averages gradients."""
        self._largest(int(averaging))

    def main_hook(self) -> None:
        """This process is done: answer one step of the others."""
        owner = self.owner
        root = self._largest(-1)
        if owner.require_forward_param_sync and owner.forward_sync_buffers and owner.process_group.size() > 1:
            owner._follow(owner._own_buffers(), root)
        owner.require_forward_param_sync = averaging = bool(self._largest(0))
        if averaging:
            owner.reducer.shadow()

    def post_hook(self, is_last_joiner: bool) -> None:
        """All take over the model of a process that was at work to the end."""
        owner = self.owner
        root = self._largest(owner.process_group.rank() if is_last_joiner else -1)
        owner._follow([*owner.module.parameters(), *owner._own_buffers()], root)
        owner.reducer.divisor = self.before
