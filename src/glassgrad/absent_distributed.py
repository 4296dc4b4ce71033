"""Roof: the parts of ``torch.distributed`` that shard models and speak between machines, as a table of answers.

Packages import their names and ask whether something is a DTensor: nothing is. What would do the work says what to use.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .ground.absent import Namespace, answer, block, choices, gone, stand_ins
from .nn.modules.module import Module
from .utils.checkpoint import checkpoint as _checkpoint

_WHOLE = "every process holds the whole model here: use torch.nn.parallel.DistributedDataParallel"
_SAVED = "use torch.save on one rank and torch.load on all"
_PLAIN = "use torch.distributed.nn.functional, whose collectives are differentiable"
_RPC = "use process groups between the processes: send and recv, broadcast, all_reduce"
_HOOKS = "DistributedDataParallel averages gradients as they are: all_reduce them in a hook of your own"
_STAGES = "use send and recv between the processes"
_STATE = "use state_dict() and load_state_dict() of the model and the optimizer"


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
_DTENSOR = gone(_WHOLE, "DTensor DTensorSpec TensorMeta") | _PLACEMENTS
_MESH = gone(_WHOLE, "DeviceMesh")
_FULLY = gone(_WHOLE, "FSDPModule MixedPrecisionPolicy OffloadPolicy CPUOffloadPolicy fully_shard "
                      "register_fsdp_forward_method")  # fmt: skip
_FSDP = {  # what ``torch.distributed.fsdp`` has, and three modules in it
    "ShardingStrategy": choices(
        "ShardingStrategy", "FULL_SHARD SHARD_GRAD_OP NO_SHARD HYBRID_SHARD _HYBRID_SHARD_ZERO2"
    ),
    "BackwardPrefetch": choices("BackwardPrefetch", "BACKWARD_PRE BACKWARD_POST"),
    "StateDictType": choices("StateDictType", "FULL_STATE_DICT LOCAL_STATE_DICT SHARDED_STATE_DICT"),
    "OptimStateKeyType": choices("OptimStateKeyType", "PARAM_NAME PARAM_ID"),
    **_FULLY,
    **gone(_WHOLE, """
        FullyShardedDataParallel UnshardHandle CPUOffload MixedPrecision StateDictConfig FullStateDictConfig
        LocalStateDictConfig ShardedStateDictConfig OptimStateDictConfig FullOptimStateDictConfig
        LocalOptimStateDictConfig ShardedOptimStateDictConfig StateDictSettings FlatParameter DataParallelMeshDims
        share_comm_ctx"""),
}  # fmt: skip


def _replication() -> dict[str, Any]:
    return {"implicit_replication": block("A block in which plain tensors are taken for replicated ones, as all are.")}


class distributed(Namespace):
    """What ``torch.distributed`` has beside ``distributed/``, where groups, collectives and stores are."""

    parts = {
        "_functional_collectives": gone(_PLAIN, """
            AsyncCollectiveTensor all_gather_tensor all_gather_tensor_autograd all_reduce all_reduce_coalesced
            all_to_all_single all_to_all_single_autograd broadcast permute_tensor reduce_scatter_tensor
            reduce_scatter_tensor_autograd wait_tensor"""),
    }  # fmt: skip

    class utils(Namespace):
        more = gone(_WHOLE, "_verify_param_shape_across_processes _to_kwargs _alloc_storage _free_storage")

        @staticmethod
        def _sync_module_states(
            module: Any, process_group: Any, broadcast_bucket_size: int, src: int, params_and_buffers_to_ignore: Any,
            broadcast_buffers: bool = True,
        ) -> None:  # fmt: skip
            """Every rank's parameters and buffers take the values of those of rank ``src``."""
            named = [*module.named_parameters(), *(module.named_buffers() if broadcast_buffers else ())]
            tensors = [each for name, each in named if name not in params_and_buffers_to_ignore]
            process_group.spread(tensors, src, "_sync_module_states")

    class tensor(Namespace):
        """The ``torch.distributed.tensor`` namespace: no tensor is spread over processes."""

        more = _DTENSOR | _MESH | gone(
            _WHOLE, "distribute_tensor distribute_module zeros ones full empty rand randn init_device_mesh"
        )
        parts = {
            "placement_types": _DTENSOR,
            "parallel": gone(_WHOLE, """
                ParallelStyle ColwiseParallel RowwiseParallel SequenceParallel PrepareModuleInput PrepareModuleOutput
                PrepareModuleInputOutput parallelize_module loss_parallel"""),
            "_utils": gone(_WHOLE, "compute_local_shape_and_global_offset compute_local_shape"),
            "device_mesh": _MESH | gone("use new_group for the rows and columns of a mesh", "init_device_mesh"),
        }  # fmt: skip

        class experimental(Namespace):
            more = gone(_WHOLE, "context_parallel local_map register_sharding") | _replication()
            parts = {"_attention": gone(_WHOLE, "context_parallel set_rotate_method context_parallel_unshard")}

    class _tensor(Namespace):
        """The ``torch.distributed._tensor`` namespace: the former name of ``torch.distributed.tensor``."""

        more = _DTENSOR | _MESH | gone(_WHOLE, "distribute_tensor distribute_module")
        parts = {"experimental": _replication()}

    class fsdp(Namespace):
        """The ``torch.distributed.fsdp`` namespace: models are not sharded."""

        more = _FSDP
        parts = {
            "api": _FSDP, "fully_sharded_data_parallel": _FSDP, "_fully_shard": _FSDP,
            "sharded_grad_scaler": gone(f"{_WHOLE}, with torch.amp.GradScaler", "ShardedGradScaler"),
        }  # fmt: skip

        class wrap(Namespace):
            """The ``torch.distributed.fsdp.wrap`` namespace: which modules would be sharded by themselves."""

            more = gone(_WHOLE, """
                ModuleWrapPolicy CustomPolicy _Policy _or_policy always_wrap_policy lambda_auto_wrap_policy
                size_based_auto_wrap_policy transformer_auto_wrap_policy enable_wrap wrap
                _recursive_wrap""")  # fmt: skip

    class _composable(Namespace):
        more = gone(_WHOLE, "contract replicate checkpoint")
        parts = {"fsdp": _FULLY}

    class checkpoint(Namespace):
        """What ``torch.distributed.checkpoint`` has beside its own file, where checkpoints are saved and loaded."""

        parts = {
            "default_planner": gone(_SAVED, "DefaultLoadPlanner DefaultSavePlanner"),
            "format_utils": gone(_SAVED, """
                _EmptyStateDictLoadPlanner _load_state_dict dcp_to_torch_save torch_save_to_dcp"""),
            "hf_storage": gone(_SAVED, "HuggingFaceStorageReader HuggingFaceStorageWriter"),
            "_consolidate_hf_safetensors": gone(_SAVED, "consolidate_safetensors_files"),
            "optimizer": gone(_SAVED, "load_sharded_optimizer_state_dict"),
            "state_dict": gone(_SAVED, "StateDictOptions") | gone(_STATE, """
                get_model_state_dict get_optimizer_state_dict get_state_dict set_model_state_dict
                set_optimizer_state_dict set_state_dict"""),
            "state_dict_loader": gone(_SAVED, "load load_state_dict _load_state_dict"),
            "filesystem": gone(_SAVED, "FileSystemReader FileSystemWriter"),
            "metadata": gone(_SAVED, "Metadata TensorStorageMetadata BytesStorageMetadata"),
        }  # fmt: skip

        class stateful(Namespace):
            class Stateful:
                """What has ``state_dict`` and ``load_state_dict``."""

    class algorithms(Namespace):
        """What ``torch.distributed.algorithms`` has beside its own folder, where ``Join`` is."""

        class _checkpoint(Namespace):
            class checkpoint_wrapper(Namespace):
                """The ``torch.distributed.algorithms._checkpoint.checkpoint_wrapper`` namespace: modules run again."""

                CheckpointImpl = choices("CheckpointImpl", "REENTRANT NO_REENTRANT")
                more = gone("use torch.autograd.graph.save_on_cpu", "offload_wrapper")

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
            parts = {
                "default_hooks": gone(_HOOKS, """
                    allreduce_hook bf16_compress_hook bf16_compress_wrapper fp16_compress_hook
                    fp16_compress_wrapper"""),
                "powerSGD_hook": gone(_HOOKS, "PowerSGDState powerSGD_hook batched_powerSGD_hook"),
                "post_localSGD_hook": gone(_HOOKS, "PostLocalSGDState post_localSGD_hook"),
            }  # fmt: skip

        class model_averaging(Namespace):
            parts = {
                "averagers": gone("all_reduce the parameters every few steps", "ModelAverager PeriodicModelAverager"),
            }

    class autograd(Namespace):
        """The ``torch.distributed.autograd`` namespace: no gradients are sent between machines."""

        is_available = answer("() -> bool", False, "False.")
        more = stand_ins(_PLAIN, "context") | gone(_PLAIN, "DistAutogradContext backward get_gradients")

    class rpc(Namespace):
        """The ``torch.distributed.rpc`` namespace: no function is called on another machine."""

        is_available = answer("() -> bool", False, "False.")
        more = gone(_RPC, """
            RRef WorkerInfo RpcBackendOptions TensorPipeRpcBackendOptions PyRRef BackendType
            init_rpc rpc_sync rpc_async remote shutdown get_worker_info""")  # fmt: skip

        class api(Namespace):
            UNSET_RPC_TIMEOUT = -1.0
            more = gone(_RPC, "_all_gather _barrier")

            @staticmethod
            def _require_initialized(func: Any) -> Any:
                """A decorator that leaves a function as it is: what it calls refuses by itself."""
                return func

    class pipelining(Namespace):
        """The ``torch.distributed.pipelining`` namespace: models are not cut into stages."""

        SplitPoint = choices("SplitPoint", "BEGINNING END")
        more = gone(_STAGES, """
            PipelineStage Schedule1F1B ScheduleGPipe ScheduleInterleaved1F1B Pipe pipeline pipe_split""")  # fmt: skip

    class launcher(Namespace):
        """The ``torch.distributed.launcher`` namespace: ``glassgrad run -m torch.distributed.run`` starts processes."""

        parts = {"api": stand_ins("python -m torch.distributed.run and torch.multiprocessing.spawn start processes",
                                  "LaunchConfig elastic_launch")}  # fmt: skip

    class _shard(Namespace):
        parts = {"sharded_tensor": gone(_WHOLE, "ShardedTensor Shard")}
