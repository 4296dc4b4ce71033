"""Roof: the modules of PyTorch's compilers, exporters and quantizers, as a table of answers."""

from __future__ import annotations

from typing import Any

from .ground.absent import Namespace, answer, block, choices, gone, refuse

_EXPORT = "models are not exported: torch.fx.symbolic_trace(model).code shows a model's operations"
_FLOAT = "there are no quantized tensors: compute in float32, or in float16 to save memory"
_ONNX = (
    "models are not exported to ONNX here: torch.save(model.state_dict(), path) writes a file that PyTorch reads, "
    "whose torch.onnx.export makes an ONNX file of it; torch.fx.symbolic_trace(model).code shows a model's operations"
)
_NUMBERS = "sizes are numbers, and never symbols"
_PADDED = "tensors of different lengths are padded or packed: torch.nn.utils.rnn.pad_sequence, pack_sequence"
_STATE = "torch.func.functional_call and stack_module_state take a module's parameters from outside"
_FAKE = "use torch.device('meta'), whose tensors have shapes and no values"


class ao(Namespace):
    """The ``torch.ao`` namespace: tensors are not quantized."""

    class nn(Namespace):
        parts = {
            "quantized": gone(_FLOAT, "FloatFunctional QFunctional Linear Conv2d"),
            "qat": gone(_FLOAT, "Linear Conv2d Embedding"),
        }

    class quantization(Namespace):
        more = gone(_FLOAT, """
            QConfig QConfigMapping FakeQuantize FakeQuantizeBase ObserverBase MinMaxObserver HistogramObserver
            MovingAverageMinMaxObserver PerChannelMinMaxObserver QuantWrapper default_observer default_weight_observer
            default_per_channel_weight_observer convert prepare prepare_qat quantize quantize_dynamic quantize_qat
            fuse_modules fuse_modules_qat get_default_qconfig get_default_qat_qconfig""")  # fmt: skip
        parts = {
            "observer": gone(_FLOAT, "ObserverBase MinMaxObserver HistogramObserver MovingAverageMinMaxObserver"),
            "quantize_fx": gone(_FLOAT, "prepare_fx prepare_qat_fx convert_fx fuse_fx"),
        }

        class QuantStub:
            """The place in a model at which its input would be quantized."""

            def __init__(self, qconfig: Any = None) -> None:
                raise RuntimeError(_FLOAT)

        class DeQuantStub(QuantStub):
            """The place in a model at which its output would be a float again."""


class export(Namespace):
    """The ``torch.export`` namespace: models are not exported."""

    more = gone(_EXPORT, """
        ExportedProgram ExportGraphSignature ModuleCallSignature ShapesCollection UnflattenedModule AdditionalInputs
        export export_for_training load save dims register_dataclass unflatten draft_export""")  # fmt: skip
    parts = {"decomp_utils": gone(_EXPORT, "CustomDecompTable")}

    class Dim:
        """A size that would be left open."""

        AUTO = DYNAMIC = STATIC = None

        def __init__(self, name: str, *, min: int | None = None, max: int | None = None) -> None:  # noqa: A002
            self.__name__, self.min, self.max = name, min, max


class nested(Namespace):
    """The ``torch.nested`` namespace: tensors have a size in every dimension."""

    more = gone(_PADDED, """
        nested_tensor as_nested_tensor to_padded_tensor nested_tensor_from_jagged narrow masked_select""")  # fmt: skip

    class _internal(Namespace):
        parts = {"nested_tensor": gone(_PADDED, "NestedTensor")}


class numa(Namespace):
    """The ``torch.numa`` namespace: to which memory processes are bound."""

    class binding(Namespace):
        AffinityMode = choices("AffinityMode", {"NODE": "node", "SOCKET": "socket", "EXCLUSIVE": "exclusive",
                                                  "CORE_COMPLEX": "core-complex"})  # fmt: skip
        more = gone("numactl binds a program to a part of the machine", "NumaOptions")


class package(Namespace):
    """The ``torch.package`` namespace: models are not packed with their code."""

    more = gone(
        "models are saved with torch.save, and their code is Python's to find", "PackageExporter PackageImporter"
    )


class _inductor(Namespace):
    """The ``torch._inductor`` namespace: settings of a compiler that is not here; ``torch.compile`` has its own."""

    parts = {"utils": gone("kernels are compiled by Numba here, and need no timer of their own", "do_bench")}
    cudagraph_mark_step_begin = answer("() -> None", None, "Accepted without effect.")
    list_options = answer("() -> list[str]", list[str](), "No options.")
    list_mode_options: Any = answer(
        "(mode: str | None = None, dynamic: bool | None = None) -> dict[str, Any]",
        {"default": {}, "reduce-overhead": {}, "max-autotune-no-cudagraphs": {}, "max-autotune": {}},
        "For each mode of ``torch.compile``, no options.",
    )

    class config(Namespace):
        """The ``torch._inductor.config`` settings: kept, and without effect."""

        debug = max_autotune = coordinate_descent_tuning = epilogue_fusion = fx_graph_cache = freezing = False
        conv_1x1_as_mm = force_fuse_int_mm_with_mul = use_mixed_mm = cpp_wrapper = shape_padding = False

        class cpp(Namespace):
            """The ``torch._inductor.config.cpp`` settings."""

            threads, simdlen, enable_kernel_profile = -1, None, False

        class triton(Namespace):
            """The ``torch._inductor.config.triton`` settings."""

            cudagraphs = cudagraph_trees = unique_kernel_names = False


class _prims_common(Namespace):
    @staticmethod
    def is_contiguous_or_false(a: Any, memory_format: Any = None) -> bool:
        """Whether a tensor lies in memory as its dimensions stand."""
        return bool(a.is_contiguous())

    is_contiguous = is_contiguous_or_false
    alert_not_deterministic = answer("(caller: str) -> None", None, "Accepted without effect: all operations are.")


class _subclasses(Namespace):
    """The ``torch._subclasses`` namespace: no tensor is a fake one."""

    more = gone(_FAKE, "FakeTensor FakeTensorMode UnsupportedFakeTensorException DynamicOutputShapeException")
    parts = {
        "fake_tensor": {
            **gone(_FAKE, """
                FakeTensor FakeTensorMode FakeTensorConverter DataDependentOutputException DynamicOutputShapeException
                UnsupportedFakeTensorException"""),
            "unset_fake_temporarily": block(),
            "maybe_get_fake_mode": answer("(t: Any) -> None", None, "None."),
            "is_fake": answer("(x: Any) -> bool", False, "False."),
        },
        "functional_tensor": gone(_FAKE, "FunctionalTensor FunctionalTensorMode"),
    }  # fmt: skip


class _guards(Namespace):
    """The ``torch._guards`` namespace: nothing is traced."""

    more = {name: answer("(inputs: Any = None) -> None", None, "None.") for name in
            ("active_fake_mode", "detect_fake_mode")}  # fmt: skip


class _functorch(Namespace):
    """The ``torch._functorch`` namespace: ``torch.func`` has the transforms."""

    parts = {"make_functional": gone(_STATE, """
        FunctionalModule FunctionalModuleWithBuffers combine_state_for_ensemble make_functional
        make_functional_with_buffers""")}  # fmt: skip

    class config(Namespace):
        """The ``torch._functorch.config`` settings: kept, and without effect."""

        activation_memory_budget = 1.0
        donated_buffer = functionalize_rng_ops = False


class fx(Namespace):
    """What ``torch.fx`` has beside ``fx/``, where models are traced."""

    class experimental(Namespace):
        """The ``torch.fx.experimental`` namespace: sizes that are not known."""

        parts = {
            "proxy_tensor": {
                **gone(_EXPORT, "ProxyTorchDispatchMode make_fx"),
                "maybe_disable_fake_tensor_mode": block(),
                "get_proxy_mode": answer("() -> None", None, "None."),
            },
        }

        class symbolic_shapes(Namespace):
            more = gone(_NUMBERS, "GuardOnDataDependentSymNode ShapeEnv ConstraintViolationError")
            free_symbols = free_unbacked_symbols = answer("(val: Any) -> set[Any]", set[Any](), "None: an empty set.")
            is_symbolic = has_free_symbols = answer("(val: Any) -> bool", False, "False.")

            @staticmethod
            def guard_or_false(a: Any) -> bool:
                """The truth value itself."""
                return bool(a)

            guard_or_true = statically_known_true = guard_size_oblivious = definitely_true = guard_or_false

        class _config(Namespace):
            """The ``torch.fx.experimental._config`` settings: kept, and without effect."""

            meta_nonzero_assume_all_nonzero = backed_size_oblivious = False


class onnx(Namespace):
    """The ``torch.onnx`` namespace: models are not exported to ONNX, and its functions say what to do instead."""

    class OnnxExporterError(RuntimeError):
        """A model could not be exported."""

    class ONNXProgram:
        """What an export would give."""

    TrainingMode = choices("TrainingMode", {"EVAL": 0, "PRESERVE": 1, "TRAINING": 2})
    OperatorExportTypes = choices(
        "OperatorExportTypes", {"ONNX": 0, "ONNX_ATEN": 1, "ONNX_ATEN_FALLBACK": 2, "ONNX_FALLTHROUGH": 3}
    )
    TensorProtoDataType = choices("TensorProtoDataType", {
        "UNDEFINED": 0, "FLOAT": 1, "UINT8": 2, "INT8": 3, "UINT16": 4, "INT16": 5, "INT32": 6, "INT64": 7, "STRING": 8,
        "BOOL": 9, "FLOAT16": 10, "DOUBLE": 11, "UINT32": 12, "UINT64": 13, "COMPLEX64": 14, "COMPLEX128": 15,
        "BFLOAT16": 16,
    })  # fmt: skip
    export = dynamo_export = select_model_mode_for_export = refuse(
        "(*args: Any, **kwargs: Any) -> NoReturn", OnnxExporterError, _ONNX, "An error: it says what to use instead."
    )
    register_custom_op_symbolic = unregister_custom_op_symbolic = answer(
        "(symbolic_name: str, symbolic_fn: Any = None, opset_version: int = 0, custom_opsets: Any = None) -> None",
        None,
        "Accepted without effect: nothing is exported.",
    )
    is_in_onnx_export = is_onnxrt_backend_supported = answer("() -> bool", False, "False.")

    parts = {
        "symbolic_opset9": gone(_ONNX, "masked_fill softmax select squeeze unsqueeze dropout view linear relu"),
        "symbolic_opset11": gone(_ONNX, "select squeeze unsqueeze pad cat arange"),
        "symbolic_opset12": gone(_ONNX, "dropout einsum argmax"),
    }

    class _internal(Namespace):
        parts = {"exporter": {}}

    class symbolic_helper(Namespace):
        """The ``torch.onnx.symbolic_helper`` namespace: packages decorate with it what an export would call."""

        more = gone(_ONNX, "_get_tensor_dim_size _unimplemented _maybe_get_const _slice_helper")
        cast_pytorch_to_onnx: dict[str, Any] = {}

        @staticmethod
        def parse_args(*arg_descriptors: str) -> Any:
            """A decorator that leaves a function as it is."""
            return lambda function: function

        quantized_args = parse_args

    class operators(Namespace):
        @staticmethod
        def shape_as_tensor(x: Any) -> Any:
            """The sizes of a tensor, as a tensor."""
            from .families.create.construct import tensor

            return tensor(list(x.shape))

        @staticmethod
        def reshape_from_tensor_shape(x: Any, shape: Any) -> Any:
            """A tensor in the sizes that a tensor holds."""
            return x.reshape(shape.tolist())
