"""Roof: the modules of devices and libraries that are not here, as one table: what each of their names answers.

A Namespace is a module: ``class cuda`` is ``glassgrad.cuda``, and ``class amp`` in it is ``glassgrad.cuda.amp``. Their
functions, classes and constants are the module's. ``ground/absent.py`` makes the module when it is imported.
"""

from __future__ import annotations

import sys
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from .amp import autocast_mode
from .amp.former import former_autocast, former_scaler
from .ground import dtypes, errors, processor
from .ground.absent import Namespace, answer, refuse, refuse_all
from .ground.device import device as _device
from .ground.generator import Generator

NO_CUDA = "Torch not compiled with CUDA enabled"
NO_NVTX = "NVTX functions not installed. Are you sure you have a CUDA build?"
NO_NCCL = "NCCL is not available: there is no CUDA support; use the 'gloo' backend"
NO_ACCELERATOR = "Cannot access accelerator device when none is available."


def no(doc: str = "False.") -> Callable[..., bool]:
    """A function without arguments that gives False."""
    return answer("() -> bool", False, doc)


def nothing(signature: str = "() -> None", doc: str = "Accepted without effect.") -> Callable[..., None]:
    """A function that gives None."""
    return answer(signature, None, doc)


class Unchanged:
    """A block that changes nothing."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, *exception: object) -> None:
        return None


def seeding() -> Callable[..., None]:
    """``manual_seed`` of a device that has no generators."""

    def manual_seed(seed: int) -> None:
        """Accepted without effect: there are no GPU generators."""
        int(seed)

    manual_seed.__module__ = Namespace.__module__  # it is not this table's: modules take it
    return manual_seed


def no_tensors(kind: str) -> type:
    """The class of tensors of one type on a GPU, of which there are none."""

    def refuse_to_make(self: Any, *args: Any, **kwargs: Any) -> None:
        raise TypeError(
            f"type torch.cuda.{kind}Tensor not available. Torch not compiled with CUDA enabled."
        )

    doc = "Tensors of this type on a GPU: there are none."
    return type(f"{kind}Tensor", (), {"__init__": refuse_to_make, "__doc__": doc, "__module__": __name__})


# -- flags: kept, and without effect -----------------------------------------------------------------------------------


def attention() -> Any:
    """The file of attention, whose flags have their effect."""
    from .families.attention import functions as attention

    return attention


def kernel(name: str) -> Any:
    """Two functions: one that asks whether attention may use a kernel, and one that lets it."""

    def enabled() -> bool:
        """Whether the flag is set."""
        return attention().allowed[name]  # type: ignore[no-any-return]

    def enable(enabled: bool) -> None:
        """Set the flag."""
        attention().allowed[name] = bool(enabled)

    return staticmethod(enabled), staticmethod(enable)


def set_to(module: str, **values: Any) -> tuple[Any, ...]:
    """Set the flags of a module that are not None; the tuple of what all of them were before."""
    space = vars(sys.modules[f"{__name__.partition('.')[0]}.{module}"])
    before = tuple(space[name] for name in values)
    space.update({name: value for name, value in values.items() if value is not None})
    return before


@contextmanager
def block_with(module: str, **values: Any) -> Iterator[None]:
    """A block with other flags of a module."""
    before = set_to(module, **values)
    try:
        yield
    finally:
        set_to(module, **dict(zip(values, before, strict=True)))


# -- the table ---------------------------------------------------------------------------------------------------------


class accelerator(Namespace):  # noqa: N801  PyTorch's names, here and below
    """The ``torch.accelerator`` namespace as PyTorch has it on a machine without an accelerator."""

    is_available = no("False: tensors live on the CPU.")
    current_accelerator = answer("(check_available: bool = False) -> device | None", None, "None.")
    device_count = answer("() -> int", 0, "0.")

    class device_index(Unchanged):
        """A block with another current accelerator; with None, nothing changes."""

        def __init__(self, device: int | None, /) -> None:
            self.idx = device

        def __enter__(self) -> None:
            if self.idx is not None:
                raise RuntimeError(NO_ACCELERATOR)

    more = refuse_all(RuntimeError, NO_ACCELERATOR, """
        current_device_index current_device_idx set_device_index set_device_idx current_stream set_stream synchronize
        get_device_capability empty_cache memory_stats memory_allocated max_memory_allocated memory_reserved
        max_memory_reserved reset_accumulated_memory_stats reset_peak_memory_stats get_memory_info""")  # fmt: skip


@contextmanager
def _flags_may_be_set() -> Iterator[None]:
    """A block in which flags may be set, as they may everywhere."""
    yield


class backends(Namespace):
    """The ``torch.backends`` namespace: flags of libraries that PyTorch may use, kept for the scripts that set them."""

    more = {"__allow_nonbracketed_mutation": _flags_may_be_set}

    class cpu(Namespace):
        """The ``torch.backends.cpu`` namespace: what the processor can do."""

        @staticmethod
        def get_cpu_capability() -> str:
            """The widest vector instructions that NumPy found: "AVX512", "AVX2" or "DEFAULT"."""
            import numpy

            try:
                extensions = numpy.show_config(mode="dicts")["SIMD Extensions"]["found"]  # type: ignore[call-overload,index]
            except (KeyError, TypeError):
                return "DEFAULT"
            names = " ".join(extensions)
            if "AVX512" in names or "X86_V4" in names:
                return "AVX512"
            return "AVX2" if "AVX2" in names or "X86_V3" in names else "DEFAULT"

    class cuda(Namespace):
        """The ``torch.backends.cuda`` flags: those of attention have their effect, the others none: there is no GPU."""

        class _Matmul:
            """``torch.backends.cuda.matmul``: how matrix products would be rounded."""

            allow_tf32 = False
            allow_fp16_reduced_precision_reduction = True
            allow_bf16_reduced_precision_reduction = True
            allow_fp16_accumulation = False
            fp32_precision = "none"

        class _PlanCache:
            """``torch.backends.cuda.cufft_plan_cache``: an empty cache."""

            size = 0
            max_size = 0

            def clear(self) -> None:
                """Accepted without effect."""

            def __getitem__(self, device: Any) -> Any:
                return self

        matmul, cufft_plan_cache = _Matmul(), _PlanCache()
        is_built, is_flash_attention_available = no(), no()
        can_use_flash_attention = can_use_efficient_attention = can_use_cudnn_attention = answer(
            "(params: Any, debug: bool = False) -> bool", False, "False: it asks for a kernel of a GPU."
        )
        flash_sdp_enabled, enable_flash_sdp = kernel("flash")
        mem_efficient_sdp_enabled, enable_mem_efficient_sdp = kernel("mem_efficient")
        math_sdp_enabled, enable_math_sdp = kernel("math")
        cudnn_sdp_enabled, enable_cudnn_sdp = kernel("cudnn")
        preferred_linalg_library = preferred_blas_library = answer(
            "(backend: Any = None) -> str", "default",
            '``"default"``: the choice between libraries of a GPU has no effect.',
        )  # fmt: skip

        class SDPAParams:
            """What a kernel of attention would be chosen by."""

            def __init__(self, *inputs: Any) -> None:
                self.inputs = inputs

        @staticmethod
        @contextmanager
        def sdp_kernel(
            enable_flash: bool = True,
            enable_math: bool = True,
            enable_mem_efficient: bool = True,
            enable_cudnn: bool = True,
        ) -> Iterator[None]:
            """A block with other flags of attention."""
            allowed = attention().allowed
            before = dict(allowed)
            allowed.update(flash=enable_flash, math=enable_math, mem_efficient=enable_mem_efficient, cudnn=enable_cudnn)
            try:
                yield
            finally:
                allowed.update(before)

    class cudnn(Namespace):
        """The ``torch.backends.cudnn`` flags: kept, and without effect, as there is no GPU."""

        class _Rnn:
            """``torch.backends.cudnn.rnn`` and ``conv``: a flag."""

            fp32_precision = "none"

        enabled, benchmark, deterministic, allow_tf32 = True, False, False, True
        benchmark_limit: int | None = None
        fp32_precision = "none"
        rnn, conv = _Rnn(), _Rnn()
        CUDNN_TENSOR_DTYPES: dict[Any, Any] = {}
        is_available = no()
        version = answer("() -> int | None", None, "None: cuDNN is not there.")
        is_acceptable = answer("(tensor: Any) -> bool", False, "False.")

        @staticmethod
        def set_flags(
            _enabled: bool | None = None,
            _benchmark: bool | None = None,
            _benchmark_limit: int | None = None,
            _deterministic: bool | None = None,
            _allow_tf32: bool | None = None,
            _fp32_precision: str = "none",
        ) -> tuple[Any, ...]:
            """Set the flags that are given; the tuple of what all of them were before."""
            return set_to(
                "backends.cudnn", enabled=_enabled, benchmark=_benchmark, benchmark_limit=_benchmark_limit,
                deterministic=_deterministic, allow_tf32=_allow_tf32, fp32_precision=_fp32_precision,
            )  # fmt: skip

        @staticmethod
        def flags(
            enabled: bool = False,
            benchmark: bool = False,
            benchmark_limit: int = 10,
            deterministic: bool = False,
            allow_tf32: bool = True,
            fp32_precision: str = "none",
        ) -> AbstractContextManager[None]:
            """A block with other flags."""
            return block_with(
                "backends.cudnn", enabled=enabled, benchmark=benchmark, benchmark_limit=benchmark_limit,
                deterministic=deterministic, allow_tf32=allow_tf32, fp32_precision=fp32_precision,
            )  # fmt: skip

    class mha(Namespace):
        """The ``torch.backends.mha`` flag: whether attention layers may take their fast path in inference."""

        @staticmethod
        def get_fastpath_enabled() -> bool:
            """The flag."""
            return attention().switches["mha_fastpath"]  # type: ignore[no-any-return]

        @staticmethod
        def set_fastpath_enabled(value: bool) -> None:
            """Set the flag."""
            attention().switches["mha_fastpath"] = value

    class mkl(Namespace):
        """The ``torch.backends.mkl`` namespace: NumPy brings its own linear algebra library."""

        VERBOSE_OFF, VERBOSE_ON = 0, 1
        is_available = no("False: matrix products go to the library that NumPy was built with.")

        class verbose:
            """A block in which the library would print; without effect."""

            def __init__(self, enable: int) -> None:
                self.enable = enable

            def __enter__(self) -> Any:
                return self

            def __exit__(self, *exception: object) -> None:
                return None

    class mkldnn(Namespace):
        """The ``torch.backends.mkldnn`` flags: kept, and without effect."""

        enabled, deterministic, allow_tf32 = True, False, False
        fp32_precision = "none"
        is_available = no("False: oneDNN is not there.")

        @staticmethod
        def flags(
            enabled: bool = False, deterministic: bool = False, allow_tf32: bool = True, fp32_precision: str = "none"
        ) -> AbstractContextManager[None]:
            """A block with other flags."""
            return block_with(
                "backends.mkldnn", enabled=enabled, deterministic=deterministic, allow_tf32=allow_tf32,
                fp32_precision=fp32_precision,
            )  # fmt: skip

    class mps(Namespace):
        """The ``torch.backends.mps`` namespace: Apple's GPU is not used."""

        is_available, is_built = no(), no()
        is_macos13_or_newer = is_macos_or_newer = answer("(minor: int = 0) -> bool", False, "False.")

    class nnpack(Namespace):
        """The ``torch.backends.nnpack`` flags: kept, and without effect."""

        enabled = True
        is_available = no()

        @staticmethod
        def set_flags(_enabled: bool) -> tuple[Any, ...]:
            """Set the flag; what it was before."""
            return set_to("backends.nnpack", enabled=_enabled)

        @staticmethod
        def flags(enabled: bool = False) -> AbstractContextManager[None]:
            """A block with another flag."""
            return block_with("backends.nnpack", enabled=enabled)

    class openmp(Namespace):
        """The ``torch.backends.openmp`` namespace."""

        is_available = no("False: threads are those of NumPy's linear algebra library.")

    class opt_einsum(Namespace):
        """The ``torch.backends.opt_einsum`` flags: operands of ``einsum`` are multiplied from left to right."""

        enabled, strategy = False, None
        is_available = no()

    class quantized(Namespace):
        """The ``torch.backends.quantized`` namespace: there are no quantized tensors."""

        engine, supported_engines = "none", ["none"]


class cpu(Namespace):
    """The ``torch.cpu`` namespace: the one device there is, asked for as accelerators are."""

    is_available = answer("() -> bool", True, "True.")
    is_initialized = answer("() -> bool", True, "True.")
    device_count = answer("() -> int", 1, "1.")
    current_device = answer("() -> str", "cpu", '``"cpu"``.')
    set_device = nothing("(device: Any) -> None", "Accepted without effect: there is one device.")
    synchronize = nothing(
        "(device: Any = None) -> None", "Accepted without effect: operations have ended when they return."
    )

    class Stream:
        """A queue of work, which on the CPU is the program itself."""

        def __init__(self, priority: int = -1) -> None:
            self.priority = priority

        wait_stream = nothing("(self, stream: Any) -> None")
        record_event = nothing("(self) -> None")
        wait_event = nothing("(self, event: Any) -> None")

    class Event:
        """A mark in a stream, which has come when it is made."""

        query = answer("(self) -> bool", True, "True: the work before it has ended.")
        record = wait = nothing("(self, stream: Any = None) -> None")
        synchronize = nothing("(self) -> None")

    class StreamContext(Unchanged):
        """A block on another stream, which changes nothing."""

        def __init__(self, stream: Any) -> None:
            self.stream = stream

    _only = Stream()

    @staticmethod
    def stream(stream: Any) -> StreamContext:
        """A block on a stream, which changes nothing."""
        return cpu.StreamContext(stream)

    @staticmethod
    def current_stream(device: Any = None) -> Stream:
        """The one stream there is."""
        return cpu._only

    @staticmethod
    def get_capabilities() -> Mapping[str, Any]:
        """What the processor is and can do, as its system tells; empty where that tells nothing."""
        return processor.capabilities()

    class amp(Namespace):
        """The ``torch.cpu.amp`` namespace: the older names of automatic mixed precision on the CPU."""

        autocast, GradScaler = former_autocast("cpu", dtypes.bfloat16), former_scaler("cpu")


class cuda(Namespace):
    """The ``torch.cuda`` namespace as PyTorch has it without a GPU: questions are answered, work is refused."""

    has_half = has_magma = False
    default_generators: tuple[Generator, ...] = ()
    is_available = no("False: there is no GPU support.")
    is_initialized = no("False: there is nothing to initialise.")
    device_count = answer("() -> int", 0, "0.")
    is_bf16_supported = answer(
        "(including_emulation: bool = True) -> bool", False, "False: no device computes in bfloat16."
    )
    is_tf32_supported, is_current_stream_capturing = no(), no()
    get_arch_list = answer("() -> list[str]", list[str](), "No architectures.")
    get_gencode_flags = answer("() -> str", "", "No compiler flags.")
    can_device_access_peer = refuse(
        "(device: Any, peer_device: Any) -> NoReturn", AssertionError, NO_CUDA, "Refused: there is no GPU."
    )
    manual_seed = manual_seed_all = seeding()
    seed = seed_all = nothing(doc="Accepted without effect: there are no GPU generators.")
    get_rng_state_all = answer("() -> list[Any]", list[Any](), "No states: there are no devices.")
    empty_cache = nothing()
    memory_stats = answer("(device: Any = None) -> OrderedDict[str, Any]", OrderedDict[str, Any](), "Empty.")
    memory_allocated = max_memory_allocated = memory_reserved = max_memory_reserved = memory_cached = \
        max_memory_cached = answer("(device: Any = None) -> int", 0, "0: no memory of a GPU is in use.")  # fmt: skip

    OutOfMemoryError, AcceleratorError = errors.OutOfMemoryError, errors.AcceleratorError

    class Stream:
        """A queue of GPU work, which there is none of."""

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            raise RuntimeError("torch.cuda.Stream requires CUDA support")

    class Event:
        """A mark in a GPU's work, which there is none of."""

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            raise RuntimeError("Tried to instantiate dummy base class Event")

    class CUDAGraph:
        """A GPU's work, recorded; there is none of it."""

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            raise RuntimeError("Tried to instantiate dummy base class CUDAGraph")

    class stream(Unchanged):
        """A block on another stream; with None, nothing changes."""

        def __init__(self, stream: Any) -> None:
            self.stream = stream

    class StreamContext(stream):
        """The class of blocks on another stream."""

    FloatTensor, DoubleTensor, HalfTensor, BFloat16Tensor, LongTensor, IntTensor, ShortTensor, CharTensor, ByteTensor, \
        BoolTensor = map(no_tensors, "Float Double Half BFloat16 Long Int Short Char Byte Bool".split())
    _lazy_call = nothing("(callable: Any, **kwargs: Any) -> None", "Accepted without effect: nothing is initialised.")
    _lazy_init = refuse("() -> NoReturn", AssertionError, NO_CUDA, "Refused: there is no GPU.")
    _initialized = False

    class device(Unchanged):
        """A block with another current GPU: without GPUs it changes nothing."""

        def __init__(self, device: Any) -> None:
            self.idx = device.index if isinstance(device, _device) else device

        def __enter__(self) -> None:
            if isinstance(self.idx, int) and self.idx >= 0:
                raise AssertionError(NO_CUDA)

    class device_of(device):
        """A block on the device of a tensor; of a tensor on the CPU, without effect."""

        def __init__(self, obj: Any) -> None:
            super().__init__(-1)

    @staticmethod
    def set_device(device: Any) -> None:
        """Refused for any GPU; a negative index is accepted, as in PyTorch, and changes nothing."""
        if not isinstance(device, int) or device >= 0:
            raise AssertionError(NO_CUDA)

    @staticmethod
    def set_rng_state_all(new_states: Any) -> None:
        """Accepted where there is nothing to set; refused for states of devices that do not exist."""
        for _ in new_states:
            raise AssertionError(NO_CUDA)

    more = refuse_all(AssertionError, NO_CUDA, """
        current_device get_device_name get_device_capability get_device_properties synchronize init get_rng_state
        set_rng_state current_stream default_stream set_stream ipc_collect mem_get_info initial_seed memory_summary
        memory_snapshot reset_peak_memory_stats reset_max_memory_allocated reset_max_memory_cached
        reset_accumulated_memory_stats set_per_process_memory_fraction utilization temperature power_draw clock_rate
        memory_usage current_blas_handle cudart graph make_graphed_callables graph_pool_handle
        list_gpu_processes get_sync_debug_mode set_sync_debug_mode caching_allocator_alloc caching_allocator_delete
        """)  # fmt: skip

    class amp(Namespace):
        """The ``torch.cuda.amp`` namespace: the older names of mixed precision, disabled where there is no GPU."""

        class autocast_mode(Namespace):
            autocast = former_autocast("cuda", dtypes.float16)

            @staticmethod
            def custom_fwd(fwd: Any = None, *, cast_inputs: Any = None) -> Any:
                """``torch.amp.custom_fwd`` for ``device_type="cuda"``."""
                return autocast_mode.custom_fwd(fwd, device_type="cuda", cast_inputs=cast_inputs)

            @staticmethod
            def custom_bwd(bwd: Any) -> Any:
                """``torch.amp.custom_bwd`` for ``device_type="cuda"``."""
                return autocast_mode.custom_bwd(bwd, device_type="cuda")

        class grad_scaler(Namespace):
            GradScaler = former_scaler("cuda")

        autocast, GradScaler = autocast_mode.autocast, grad_scaler.GradScaler
        custom_fwd, custom_bwd = staticmethod(autocast_mode.custom_fwd), staticmethod(autocast_mode.custom_bwd)

        class common(Namespace):
            amp_definitely_not_available = answer("() -> bool", True, "True: there is no GPU.")

    class comm(Namespace):
        """The ``torch.cuda.comm`` namespace: tensors are not spread over several GPUs."""

        more = refuse_all(
            AssertionError, NO_CUDA, "broadcast broadcast_coalesced gather reduce_add reduce_add_coalesced scatter"
        )

    class nccl(Namespace):
        """The ``torch.cuda.nccl`` namespace where there is no NCCL: asking for it is refused."""

        version = refuse(
            "() -> NoReturn", RuntimeError, NO_NCCL, "Refused: GPUs' own communication library is not there."
        )
        is_available = answer("(tensors: Any) -> bool", False, "False.")

    class profiler(Namespace):
        """The ``torch.cuda.profiler`` namespace where there is no GPU."""

        init = start = stop = refuse("() -> NoReturn", AssertionError, NO_CUDA, "Refused: there is no GPU.")

        @staticmethod
        @contextmanager
        def profile() -> Iterator[None]:
            """Refused when entered."""
            raise AssertionError(NO_CUDA)
            yield

    class random(Namespace):
        """The ``torch.cuda.random`` namespace: there are no GPU generators."""

        manual_seed = manual_seed_all = seeding()
        seed = seed_all = nothing(doc="Accepted without effect: there are no GPU generators.")
        get_rng_state_all = answer("() -> list[Any]", list[Any](), "No states: there are no devices.")
        more = refuse_all(AssertionError, NO_CUDA, "get_rng_state set_rng_state initial_seed")

    class sparse(Namespace):
        """The ``torch.cuda.sparse`` namespace: classes of sparse tensors on a GPU, of which there are none."""

        FloatTensor, DoubleTensor, HalfTensor = map(no_tensors, ("Float", "Double", "Half"))

    class nvtx(Namespace):
        """The ``torch.cuda.nvtx`` namespace where there is no NVTX: marks for a GPU's profiler are refused."""

        mark = refuse("(msg: str) -> NoReturn", RuntimeError, NO_NVTX, "Refused, as in a PyTorch without CUDA.")
        range_push = refuse("(msg: str) -> NoReturn", RuntimeError, NO_NVTX, "Refused, as in a PyTorch without CUDA.")
        range_pop = refuse("() -> NoReturn", RuntimeError, NO_NVTX, "Refused, as in a PyTorch without CUDA.")

        @staticmethod
        @contextmanager
        def range(msg: str, *args: Any, **kwargs: Any) -> Iterator[None]:
            """Refused when entered, as in a PyTorch without CUDA."""
            raise RuntimeError(NO_NVTX)
            yield
