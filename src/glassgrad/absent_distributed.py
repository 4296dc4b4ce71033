"""Roof: the parts of ``torch.distributed`` that shard models and speak between machines, as a table of answers.

Packages import their names and ask whether something is a DTensor: nothing is. What would do the work says what to use.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from .ground.absent import Namespace, answer, choices, refuse_all, stand_ins
from .nn.modules.module import Module
from .utils.checkpoint import checkpoint as _checkpoint

_WHOLE = "every process holds the whole model here: use torch.nn.parallel.DistributedDataParallel"
_SAVED = "use torch.save on one rank and torch.load on all"
_PLAIN = "use torch.distributed.nn.functional, whose collectives are differentiable"
_RPC = "use process groups between the processes: send and recv, broadcast, all_reduce"
_HOOKS = "DistributedDataParallel averages gradients as they are: all_reduce them in a hook of your own"
_STAGES = "use send and recv between the processes"
_REFUSED = "Refused, with a sentence that names what to use instead."


def _refuse(words: str, names: str) -> dict[str, Any]:
    return refuse_all(RuntimeError, f"it is not in glassgrad: {words}", names, _REFUSED)


@dataclass(frozen=True)
class Placement:
    """How a tensor would lie on a dimension of a mesh: a value that packages make and compare."""

    def is_shard(self, dim: int | None = None) -> bool:
        """Whether each process would hold a part along a dimension."""
        return isinstance(self, Shard) and dim in (None, self.dim)

    def is_replicate(self) -> bool:
        """Whether each process would hold all of it."""
        return isinstance(self, Replicate)

    def is_partial(self, reduce_op: str | None = None) -> bool:
        """Whether each process would hold a summand."""
        return isinstance(self, Partial) and reduce_op in (None, self.reduce_op)


@dataclass(frozen=True)
class Shard(Placement):
    """A part along a dimension in each process."""

    dim: int


@dataclass(frozen=True)
class _StridedShard(Shard):
    """Parts of parts."""

    split_factor: int = 1


@dataclass(frozen=True)
class Replicate(Placement):
    """All of it in each process."""


@dataclass(frozen=True)
class Partial(Placement):
    """A summand in each process."""

    reduce_op: str = "sum"


_PLACEMENTS = {kind.__name__: kind for kind in (Placement, Shard, _StridedShard, Replicate, Partial)}
_DTENSOR = stand_ins(_WHOLE, "DTensor DTensorSpec TensorMeta")
_MESH = stand_ins(_WHOLE, "DeviceMesh")
_STYLES = stand_ins(
    _WHOLE, "ParallelStyle ColwiseParallel RowwiseParallel SequenceParallel PrepareModuleInput PrepareModuleOutput "
    "PrepareModuleInputOutput",
)  # fmt: skip


class _FSDP:
    """The names of ``torch.distributed.fsdp``, which three modules show."""

    ShardingStrategy = choices(
        "ShardingStrategy", "FULL_SHARD SHARD_GRAD_OP NO_SHARD HYBRID_SHARD _HYBRID_SHARD_ZERO2"
    )
    BackwardPrefetch = choices("BackwardPrefetch", "BACKWARD_PRE BACKWARD_POST")
    StateDictType = choices("StateDictType", "FULL_STATE_DICT LOCAL_STATE_DICT SHARDED_STATE_DICT")
    OptimStateKeyType = choices("OptimStateKeyType", "PARAM_NAME PARAM_ID")
    more = {
        **stand_ins(_WHOLE, """
            FullyShardedDataParallel FSDPModule UnshardHandle CPUOffload CPUOffloadPolicy OffloadPolicy MixedPrecision
            MixedPrecisionPolicy StateDictConfig FullStateDictConfig LocalStateDictConfig ShardedStateDictConfig
            OptimStateDictConfig FullOptimStateDictConfig LocalOptimStateDictConfig ShardedOptimStateDictConfig
            StateDictSettings FlatParameter DataParallelMeshDims"""),
        **_refuse(_WHOLE, "fully_shard register_fsdp_forward_method share_comm_ctx"),
    }  # fmt: skip
    every = {
        "ShardingStrategy": ShardingStrategy, "BackwardPrefetch": BackwardPrefetch, "StateDictType": StateDictType,
        "OptimStateKeyType": OptimStateKeyType, **more,
    }  # fmt: skip


class distributed(Namespace):  # noqa: N801  PyTorch's names, here and below
    """What ``torch.distributed`` has beside ``distributed/``, where groups, collectives and stores are."""

    class utils(Namespace):
        """The ``torch.distributed.utils`` namespace."""

        @staticmethod
        def _sync_module_states(
            module: Any, process_group: Any, broadcast_bucket_size: int, src: int, params_and_buffers_to_ignore: Any,
            broadcast_buffers: bool = True,
        ) -> None:  # fmt: skip
            """Every rank's parameters and buffers take the values of those of rank ``src``."""
            named = [*module.named_parameters(), *(module.named_buffers() if broadcast_buffers else ())]
            tensors = [each for name, each in named if name not in params_and_buffers_to_ignore]
            process_group.spread(tensors, src, "_sync_module_states")

        more = _refuse(_WHOLE, "_verify_param_shape_across_processes _to_kwargs _alloc_storage _free_storage")

    class tensor(Namespace):
        """The ``torch.distributed.tensor`` namespace: no tensor is spread over processes."""

        more = {
            **_DTENSOR, **_PLACEMENTS, **_MESH,
            **_refuse(_WHOLE, "distribute_tensor distribute_module zeros ones full empty rand randn init_device_mesh"),
        }  # fmt: skip

        class placement_types(Namespace):
            """The ``torch.distributed.tensor.placement_types`` namespace."""

            more = {**_PLACEMENTS, **_DTENSOR}

        class parallel(Namespace):
            """The ``torch.distributed.tensor.parallel`` namespace."""

            more = {**_STYLES, **_refuse(_WHOLE, "parallelize_module loss_parallel")}

        class experimental(Namespace):
            """The ``torch.distributed.tensor.experimental`` namespace."""

            more = _refuse(_WHOLE, "context_parallel local_map register_sharding")

            @staticmethod
            @contextmanager
            def implicit_replication() -> Any:
                """A block in which plain tensors are taken for replicated ones, as all are."""
                yield

            class _attention(Namespace):
                """The ``torch.distributed.tensor.experimental._attention`` namespace."""

                more = _refuse(_WHOLE, "context_parallel set_rotate_method context_parallel_unshard")

        class _utils(Namespace):
            """The ``torch.distributed.tensor._utils`` namespace."""

            more = _refuse(_WHOLE, "compute_local_shape_and_global_offset compute_local_shape")

        class device_mesh(Namespace):
            """The ``torch.distributed.tensor.device_mesh`` namespace."""

            more = {**_MESH, **_refuse("use new_group for the rows and columns of a mesh", "init_device_mesh")}

    class _tensor(Namespace):
        """The ``torch.distributed._tensor`` namespace: the former name of ``torch.distributed.tensor``."""

        more = {**_DTENSOR, **_PLACEMENTS, **_MESH, **_refuse(_WHOLE, "distribute_tensor distribute_module")}

        class experimental(Namespace):
            """The ``torch.distributed._tensor.experimental`` namespace."""

            @staticmethod
            @contextmanager
            def implicit_replication() -> Any:
                """A block in which plain tensors are taken for replicated ones, as all are."""
                yield

    class fsdp(Namespace):
        """The ``torch.distributed.fsdp`` namespace: models are not sharded."""

        more = _FSDP.every

        class api(Namespace):
            """The ``torch.distributed.fsdp.api`` namespace."""

            more = _FSDP.every

        class fully_sharded_data_parallel(Namespace):
            """The ``torch.distributed.fsdp.fully_sharded_data_parallel`` namespace."""

            more = _FSDP.every

        class _fully_shard(Namespace):
            """The ``torch.distributed.fsdp._fully_shard`` namespace."""

            more = _FSDP.every

        class sharded_grad_scaler(Namespace):
            """The ``torch.distributed.fsdp.sharded_grad_scaler`` namespace."""

            more = stand_ins(f"{_WHOLE}, with torch.amp.GradScaler", "ShardedGradScaler")

        class wrap(Namespace):
            """The ``torch.distributed.fsdp.wrap`` namespace: which modules would be sharded by themselves."""

            more = {
                **stand_ins(_WHOLE, "ModuleWrapPolicy CustomPolicy _Policy"),
                **_refuse(_WHOLE, "_or_policy always_wrap_policy lambda_auto_wrap_policy size_based_auto_wrap_policy "
                                  "transformer_auto_wrap_policy enable_wrap wrap _recursive_wrap"),
            }  # fmt: skip

    class _composable(Namespace):
        """The ``torch.distributed._composable`` namespace."""

        more = _refuse(_WHOLE, "contract replicate checkpoint")

        class fsdp(Namespace):
            """The ``torch.distributed._composable.fsdp`` namespace."""

            more = {name: _FSDP.every[name] for name in (
                "FSDPModule", "MixedPrecisionPolicy", "OffloadPolicy", "CPUOffloadPolicy", "fully_shard",
                "register_fsdp_forward_method")}  # fmt: skip

    class checkpoint(Namespace):
        """What ``torch.distributed.checkpoint`` has beside its own file, where checkpoints are saved and loaded."""

        class default_planner(Namespace):
            """The ``torch.distributed.checkpoint.default_planner`` namespace."""

            more = stand_ins(_SAVED, "DefaultLoadPlanner DefaultSavePlanner")

        class format_utils(Namespace):
            """The ``torch.distributed.checkpoint.format_utils`` namespace."""

            more = {
                **stand_ins(_SAVED, "_EmptyStateDictLoadPlanner"),
                **_refuse(_SAVED, "_load_state_dict dcp_to_torch_save torch_save_to_dcp"),
            }

        class hf_storage(Namespace):
            """The ``torch.distributed.checkpoint.hf_storage`` namespace."""

            more = stand_ins(_SAVED, "HuggingFaceStorageReader HuggingFaceStorageWriter")

        class _consolidate_hf_safetensors(Namespace):
            """The ``torch.distributed.checkpoint._consolidate_hf_safetensors`` namespace."""

            more = _refuse(_SAVED, "consolidate_safetensors_files")

        class optimizer(Namespace):
            """The ``torch.distributed.checkpoint.optimizer`` namespace."""

            more = _refuse(_SAVED, "load_sharded_optimizer_state_dict")

        class state_dict(Namespace):
            """The ``torch.distributed.checkpoint.state_dict`` namespace."""

            more = {
                **stand_ins(_SAVED, "StateDictOptions"),
                **_refuse("use state_dict() and load_state_dict() of the model and the optimizer", """
                    get_model_state_dict get_optimizer_state_dict get_state_dict set_model_state_dict
                    set_optimizer_state_dict set_state_dict"""),
            }  # fmt: skip

        class state_dict_loader(Namespace):
            """The ``torch.distributed.checkpoint.state_dict_loader`` namespace."""

            more = _refuse(_SAVED, "load load_state_dict _load_state_dict")

        class stateful(Namespace):
            """The ``torch.distributed.checkpoint.stateful`` namespace."""

            class Stateful:
                """What has ``state_dict`` and ``load_state_dict``."""

        class filesystem(Namespace):
            """The ``torch.distributed.checkpoint.filesystem`` namespace."""

            more = stand_ins(_SAVED, "FileSystemReader FileSystemWriter")

        class metadata(Namespace):
            """The ``torch.distributed.checkpoint.metadata`` namespace."""

            more = stand_ins(_SAVED, "Metadata TensorStorageMetadata BytesStorageMetadata")

    class algorithms(Namespace):
        """What ``torch.distributed.algorithms`` has beside its own folder, where ``Join`` is."""

        class _checkpoint(Namespace):
            """The ``torch.distributed.algorithms._checkpoint`` namespace."""

            class checkpoint_wrapper(Namespace):
                """The ``torch.distributed.algorithms._checkpoint.checkpoint_wrapper`` namespace: modules run again."""

                CheckpointImpl = choices("CheckpointImpl", "REENTRANT NO_REENTRANT")
                more = _refuse("use torch.autograd.graph.save_on_cpu", "offload_wrapper")

                class CheckpointWrapper(Module):
                    """A module whose activations are computed again in the backward pass."""

                    def __init__(self, mod: Module, impl: Any = None, fn: Any = None, **settings: Any) -> None:
                        super().__init__()
                        self._checkpoint_wrapped_module = mod
                        if fn is None:
                            settings.setdefault("use_reentrant", getattr(impl, "name", "") == "REENTRANT")
                        self._again, self._settings = fn or _checkpoint, settings

                    def __getattr__(self, name: str) -> Any:
                        try:
                            return super().__getattr__(name)
                        except AttributeError:
                            return getattr(self._checkpoint_wrapped_module, name)

                    def forward(self, *args: Any, **kwargs: Any) -> Any:
                        """What the module gives."""
                        return self._again(self._checkpoint_wrapped_module, *args, **self._settings, **kwargs)

                @staticmethod
                def checkpoint_wrapper(module: Module, checkpoint_impl: Any = None, checkpoint_fn: Any = None,
                                       **settings: Any) -> Any:  # fmt: skip
                    """A module that computes its activations again in the backward pass."""
                    inner = distributed.algorithms._checkpoint.checkpoint_wrapper
                    return inner.CheckpointWrapper(module, checkpoint_impl, checkpoint_fn, **settings)

                @staticmethod
                def apply_activation_checkpointing(
                    model: Module, checkpoint_wrapper_fn: Any = None, check_fn: Any = lambda module: True,
                    auto_wrap_policy: Any = None,
                ) -> None:  # fmt: skip
                    """Wrap the modules of a model that ``check_fn`` chooses, outermost last."""
                    inner = distributed.algorithms._checkpoint.checkpoint_wrapper
                    wrap = checkpoint_wrapper_fn or inner.checkpoint_wrapper
                    for module in [*model.modules()][::-1]:
                        for name, child in [*module.named_children()]:
                            if check_fn(child):
                                setattr(module, name, wrap(child))

        class ddp_comm_hooks(Namespace):
            """The ``torch.distributed.algorithms.ddp_comm_hooks`` namespace."""

            class default_hooks(Namespace):
                """The ``torch.distributed.algorithms.ddp_comm_hooks.default_hooks`` namespace."""

                more = _refuse(_HOOKS, "allreduce_hook bf16_compress_hook bf16_compress_wrapper fp16_compress_hook "
                                       "fp16_compress_wrapper")  # fmt: skip

            class powerSGD_hook(Namespace):  # noqa: N801
                """The ``torch.distributed.algorithms.ddp_comm_hooks.powerSGD_hook`` namespace."""

                more = {**stand_ins(_HOOKS, "PowerSGDState"), **_refuse(_HOOKS, "powerSGD_hook batched_powerSGD_hook")}

            class post_localSGD_hook(Namespace):  # noqa: N801
                """The ``torch.distributed.algorithms.ddp_comm_hooks.post_localSGD_hook`` namespace."""

                more = {**stand_ins(_HOOKS, "PostLocalSGDState"), **_refuse(_HOOKS, "post_localSGD_hook")}

        class model_averaging(Namespace):
            """The ``torch.distributed.algorithms.model_averaging`` namespace."""

            class averagers(Namespace):
                """The ``torch.distributed.algorithms.model_averaging.averagers`` namespace."""

                more = stand_ins("all_reduce the parameters every few steps", "ModelAverager PeriodicModelAverager")

    class _functional_collectives(Namespace):
        """The ``torch.distributed._functional_collectives`` namespace."""

        more = {
            **stand_ins(_PLAIN, "AsyncCollectiveTensor"),
            **_refuse(_PLAIN, """
                all_gather_tensor all_gather_tensor_autograd all_reduce all_reduce_coalesced all_to_all_single
                all_to_all_single_autograd broadcast permute_tensor reduce_scatter_tensor
                reduce_scatter_tensor_autograd wait_tensor"""),
        }  # fmt: skip

    class autograd(Namespace):
        """The ``torch.distributed.autograd`` namespace: no gradients are sent between machines."""

        is_available = answer("() -> bool", False, "False.")
        more = {**stand_ins(_PLAIN, "context DistAutogradContext"), **_refuse(_PLAIN, "backward get_gradients")}

    class rpc(Namespace):
        """The ``torch.distributed.rpc`` namespace: no function is called on another machine."""

        is_available = answer("() -> bool", False, "False.")
        more = {
            **stand_ins(_RPC, "RRef WorkerInfo RpcBackendOptions TensorPipeRpcBackendOptions PyRRef BackendType"),
            **_refuse(_RPC, "init_rpc rpc_sync rpc_async remote shutdown get_worker_info"),
        }

        class api(Namespace):
            """The ``torch.distributed.rpc.api`` namespace."""

            UNSET_RPC_TIMEOUT = -1.0
            more = _refuse(_RPC, "_all_gather _barrier")

            @staticmethod
            def _require_initialized(func: Any) -> Any:
                """A decorator that leaves a function as it is: what it calls refuses by itself."""
                return func

    class pipelining(Namespace):
        """The ``torch.distributed.pipelining`` namespace: models are not cut into stages."""

        SplitPoint = choices("SplitPoint", "BEGINNING END")
        more = {
            **stand_ins(_STAGES, "PipelineStage Schedule1F1B ScheduleGPipe ScheduleInterleaved1F1B Pipe"),
            **_refuse(_STAGES, "pipeline pipe_split"),
        }

    class launcher(Namespace):
        """The ``torch.distributed.launcher`` namespace: ``glassgrad run -m torch.distributed.run`` starts processes."""

        class api(Namespace):
            """The ``torch.distributed.launcher.api`` namespace."""

            more = stand_ins(
                "python -m torch.distributed.run and torch.multiprocessing.spawn start processes",
                "LaunchConfig elastic_launch",
            )

    class _shard(Namespace):
        """The ``torch.distributed._shard`` namespace."""

        class sharded_tensor(Namespace):
            """The ``torch.distributed._shard.sharded_tensor`` namespace."""

            more = stand_ins(_WHOLE, "ShardedTensor Shard")
