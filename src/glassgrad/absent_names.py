"""Roof: public names of PyTorch that are not here, each with a sentence that says why, or what to use instead.

``tests/test_public_names.py`` compares PyTorch's namespaces with ours: a name is there, stands here, or fails the test.
Modules of devices, whose names all give answers, are in ``absent.py``.
"""

from __future__ import annotations

import functools

_JIT = "scripts are not compiled to TorchScript: torch.jit.script and torch.jit.trace give back what they are given"
_C = "it belongs to PyTorch's C++ library, which is not here"
_QUANTIZED = "there are no quantized tensors: compute in float32, or in float16 to save memory"
_SMALL = "no tensor has this dtype, with which PyTorch itself computes nothing on the CPU"
_COMPRESSED = "only sparse tensors have places"
_SPARSE = "of sparse tensors there are products with dense ones, sums and conversions: compute with to_dense()"
_GPU = "it is for GPUs, and tensors live on the CPU"
_KERNEL = "it is a kernel of one library or device: use the function of torch.nn.functional, which chooses its own"
_DISPATCHER = "there is no dispatcher: torch.autograd.Function defines an operation with its derivative"
_COMPILER = "compiled functions are not kept between processes, and have no guards to be skipped"
_SYMBOLIC = "sizes are numbers, and never symbols"
_RETIRED = "PyTorch keeps it for older programs, and it has no effect there"
_PIPES = "datapipes check no types: torch.utils.data.IterDataPipe and MapDataPipe are as plain classes"
_PROFILER = "torch.profiler.profile tells times, shapes and memory of what runs on the CPU"

#: For each namespace, what there is to say and the names of which it is said.
NAMES: dict[str, dict[str, str]] = {
    "torch": {
        _JIT: "AliasDb Argument ArgumentSpec Block CallStack Code CompilationUnit CompleteArgumentSpec "
        "ConcreteModuleType ConcreteModuleTypeBuilder DeepCopyMemoTable ErrorReport ExecutionPlan FileCheck "
        "FunctionSchema Gradient GraphExecutorState IODescriptor JITException LiteScriptModule Node "
        "ScriptClass ScriptClassFunction ScriptDict ScriptDictIterator ScriptDictKeyIterator ScriptList "
        "ScriptListIterator ScriptMethod ScriptModuleSerializer ScriptObjectProperty StaticModule "
        "TracingState Use BufferDict ModuleDict ParameterDict cpp classes import_ir_module "
        "import_ir_module_from_buffer merge_type_from_type_comment parse_ir parse_schema parse_type_comment "
        "unify_type_list",
        _C: "AVG AggregationType BenchmarkConfig BenchmarkExecutionStats Capsule DeserializationStorageContext "
        "FatalError LockingLogger LoggerBase NoopLogger OperatorInfo SUM "
        "SerializationStorageContext ThroughputBenchmark PRIVATE_OPS USE_GLOBAL_DEPS "
        "USE_RTLD_GLOBAL_WITH_LIBTORCH get_file_path prepare_multiprocessing_environment thread_safe_generator monitor",
        _DISPATCHER: "ExcludeDispatchKeyGuard Tag DisableTorchFunction "
        "DisableTorchFunctionSubclass",
        _GPU: "batch_norm_backward_elemt batch_norm_backward_reduce batch_norm_elemt "
        "batch_norm_gather_stats batch_norm_gather_stats_with_counts batch_norm_stats batch_norm_update_stats "
        "cudnn_affine_grid_generator cudnn_batch_norm cudnn_convolution cudnn_convolution_add_relu "
        "cudnn_convolution_relu cudnn_convolution_transpose cudnn_grid_sampler cudnn_is_acceptable miopen_batch_norm "
        "miopen_convolution miopen_convolution_add_relu miopen_convolution_relu miopen_convolution_transpose "
        "miopen_ctc_loss miopen_depthwise_convolution miopen_rnn "
        "profiler_allow_cudagraph_cupti_lazy_reinit_cuda12",
        _KERNEL: "mkldnn_adaptive_avg_pool2d mkldnn_convolution mkldnn_linear_backward_weights mkldnn_max_pool2d "
        "mkldnn_max_pool3d mkldnn_rnn_layer fbgemm_linear_fp16_weight fbgemm_linear_fp16_weight_fp32_activation "
        "fbgemm_linear_int8_weight fbgemm_linear_int8_weight_fp32_activation fbgemm_linear_quantize_weight "
        "fbgemm_pack_gemm_matrix_fp16 fbgemm_pack_quantized_matrix",
        _QUANTIZED: "QInt32Storage QInt8Storage QUInt2x4Storage QUInt4x2Storage QUInt8Storage "
        "choose_qparams_optimized dequantize empty_quantized fake_quantize_per_channel_affine "
        "fake_quantize_per_tensor_affine fused_moving_avg_obs_fake_quant int_repr per_channel_affine "
        "per_channel_affine_float_qparams per_channel_symmetric per_tensor_affine per_tensor_symmetric "
        "q_per_channel_axis q_per_channel_scales q_per_channel_zero_points q_scale q_zero_point qscheme "
        "quantization quantize_per_channel quantize_per_tensor quantize_per_tensor_dynamic quantized_batch_norm "
        "quantized_gru quantized_gru_cell quantized_lstm quantized_lstm_cell quantized_max_pool1d "
        "quantized_max_pool2d quantized_max_pool3d quantized_rnn_relu_cell quantized_rnn_tanh_cell",
        _SMALL: "bit bits16 bits1x8 bits2x4 bits4x2 bits8 float4_e2m1fn_x2 int1 int2 int3 int4 int5 int6 int7 uint1 "
        "uint2 uint3 uint4 uint5 uint6 uint7",
        _COMPRESSED: "ccol_indices_copy col_indices_copy crow_indices_copy row_indices_copy indices_copy values_copy",
        _SPARSE: "hsmm hspmm native_norm resize_as_sparse_ saddmm smm sspaddmm",
        _SYMBOLIC: "sym_fresh_size",
        _RETIRED: "Storage init_num_threads",
        "it is a function of PyTorch's own source": "classproperty",
        "it is torch.signal.windows": "windows",
    },
    "torch.Tensor": {
        _COMPRESSED: "ccol_indices col_indices crow_indices row_indices",
        _SPARSE: "resize_as_sparse_ smm sparse_resize_ sparse_resize_and_clear_ sspaddmm",
        _QUANTIZED: "dequantize int_repr q_per_channel_axis q_per_channel_scales q_per_channel_zero_points q_scale "
        "q_zero_point qscheme",
        _GPU: "ipu mtia xpu record_stream",
        _KERNEL: "to_mkldnn",
        "a leaf's gradient has its dtype": "grad_dtype",
        "tensors have a size in every dimension: use torch.nn.utils.rnn.pad_sequence": "to_padded_tensor",
        "x[...] indexes; torch.index_select names the dimension": "index",
        "use torch.distributions, whose log_prob gives the loss": "reinforce",
        "it undoes a slice within PyTorch's compiler": "slice_inverse",
    },
    "torch.nn.functional": {
        _GPU: "ScalingType SwizzleType grouped_mm scaled_grouped_mm scaled_mm",
        _JIT: "assert_int_or_pair",
    },
    "torch.nn.attention": {
        _KERNEL: "register_flash_attention_impl activate_flash_attention_impl list_flash_attention_impls "
        "current_flash_attention_impl restore_flash_attention_impl",
    },
    "torch.autograd": {
        "use torch.autograd.Function, whose forward takes lists and dictionaries too": "NestedIOFunction",
        "gradients lie in memory as their leaves do": "enforce_grad_layout_policy",
    },
    "torch.autograd.function": {
        "use torch.autograd.Function, whose forward takes lists and dictionaries too": "NestedIOFunction",
    },
    "torch.autograd.grad_mode": {"gradients lie in memory as their leaves do": "enforce_grad_layout_policy"},
    "torch.autograd.gradcheck": {
        "PyTorch says that it is no part of its interface: use gradcheck": "get_numerical_jacobian "
        "get_analytical_jacobian get_numerical_jacobian_wrt_specific_input",
    },
    "torch.autograd.profiler": {
        _GPU: "load_nvprof EnforceUnique parse_nvprof_trace",
        _PROFILER: "KinetoStepTracker MemRecordsAcc",
    },
    "torch.profiler": {_PROFILER: "DeviceType"},
    "torch.utils": {
        "it is a function of PyTorch's own source": "set_module",
    },
    "torch.utils.data": {
        "frames of data are read by the library that makes them": "DataChunk",
        _PIPES: "argument_validation guaranteed_datapipes_determinism non_deterministic runtime_validation "
        "runtime_validation_disabled",
    },
    "torch.utils.checkpoint": {"detach is never given to a policy": "SAC_IGNORED_OPS"},
    "torch.utils.hooks": {"torch.nn.Module.register_full_backward_hook makes them": "BackwardHook"},
    "torch.fft": {"it is torch.Tensor": "Tensor"},
    "torch.overrides": {
        _DISPATCHER: "redispatch_function",
    },
    "torch.serialization": {
        "use tempfile.TemporaryDirectory": "mkdtemp",
        "PyTorch keeps it for files of its first versions": "check_module_version_greater_or_equal "
        "normalize_storage_type storage_to_tensor_type",
    },
    "torch.sparse": {
        _SPARSE: "as_sparse_gradcheck sampled_addmm spsolve",
        _GPU: "SparseSemiStructuredTensor SparseSemiStructuredTensorCUTLASS SparseSemiStructuredTensorCUSPARSELT "
        "to_sparse_semi_structured",
    },
    "torch.jit": {_JIT: "export_opnames"},
    "torch.compiler": {
        _COMPILER: "config substitute_in_graph set_enable_guard_collectives load_compiled_function "
        "save_cache_artifacts load_cache_artifacts keep_portable_guards_unsafe skip_guard_on_inbuilt_nn_modules_unsafe "
        "skip_guard_on_all_nn_modules_unsafe keep_tensor_guards_unsafe skip_guard_on_globals_unsafe "
        "skip_all_guards_unsafe",
    },
    "torch.distributed": {
        "use breakpoint() in the process that is to stop": "breakpoint",
        "processes meet by init_method or MPI": "rendezvous register_rendezvous_handler",
        "use process groups between the processes: send and recv, broadcast, all_reduce": "remote_device",
    },
    "torch.accelerator": {_GPU: "Graph empty_host_cache"},
}
_WHOLE = "use torch.nn.parallel.DistributedDataParallel, where every process holds the whole model"
_STAGES = "use send and recv between the processes"
#: Modules that are not here, or answer that nothing is sharded: what is said of them, and of all within.
PARTS = {
    "torch.distributed._functional_collectives": "use torch.distributed.nn.functional",
    **{f"torch.distributed.{name}": _WHOLE for name in ("fsdp", "tensor", "_tensor", "_composable", "_shard")},
    **{f"torch.distributed.{name}": _STAGES for name in ("pipelining", "pipeline")},
}


@functools.cache
def _sentences() -> dict[str, str]:
    return {
        f"{namespace}.{name}": sentence
        for namespace, sentences in NAMES.items()
        for sentence, names in sentences.items()
        for name in names.split()
    }


def hint(name: str) -> str:
    """What there is to say of a name that is not here, ``torch.vmap``, with a colon before it; else nothing."""
    sentence = _sentences().get(name) or PARTS.get(".".join(name.split(".")[:3]))
    return f": {sentence}" if sentence else ""
