"""Written by ``python -m glassgrad.ops.stub``: do not edit."""

# ruff: noqa
import builtins as _b
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any
from .ground import process as _process
from .alias import alias as alias
from .autograd import api as _api
from .autograd.anomaly_mode import is_anomaly_check_nan_enabled as is_anomaly_check_nan_enabled
from .autograd.anomaly_mode import is_anomaly_enabled as is_anomaly_enabled
from .autograd.grad_mode import enable_grad as enable_grad
from .autograd.grad_mode import inference_mode as inference_mode
from .autograd.grad_mode import is_grad_enabled as is_grad_enabled
from .autograd.grad_mode import is_inference_mode_enabled as is_inference_mode_enabled
from .autograd.grad_mode import no_grad as no_grad
from .autograd.grad_mode import set_grad_enabled as set_grad_enabled
from .core.tensor import Tensor as Tensor
from .ground import absent as _absent
from .ground import dtypes as _dtypes
from .ground.device import device as device
from .ground.device import get_default_device as get_default_device
from .ground.device import set_default_device as set_default_device
from .ground.dtypes import bfloat16 as bfloat16
from .ground.dtypes import cdouble as cdouble
from .ground.dtypes import cfloat as cfloat
from .ground.dtypes import channels_last as channels_last
from .ground.dtypes import channels_last_3d as channels_last_3d
from .ground.dtypes import complex64 as complex64
from .ground.dtypes import complex128 as complex128
from .ground.dtypes import contiguous_format as contiguous_format
from .ground.dtypes import double as double
from .ground.dtypes import dtype as dtype
from .ground.dtypes import finfo as finfo
from .ground.dtypes import float16 as float16
from .ground.dtypes import float32 as float32
from .ground.dtypes import float64 as float64
from .ground.dtypes import get_default_dtype as get_default_dtype
from .ground.dtypes import half as half
from .ground.dtypes import iinfo as iinfo
from .ground.dtypes import int8 as int8
from .ground.dtypes import int16 as int16
from .ground.dtypes import int32 as int32
from .ground.dtypes import int64 as int64
from .ground.dtypes import layout as layout
from .ground.dtypes import long as long
from .ground.dtypes import memory_format as memory_format
from .ground.dtypes import preserve_format as preserve_format
from .ground.dtypes import promote_types as promote_types
from .ground.dtypes import set_default_dtype as set_default_dtype
from .ground.dtypes import short as short
from .ground.dtypes import sparse_coo as sparse_coo
from .ground.dtypes import sparse_csr as sparse_csr
from .ground.dtypes import strided as strided
from .ground.dtypes import uint8 as uint8
from .ground.dtypes import uint16 as uint16
from .ground.dtypes import uint32 as uint32
from .ground.dtypes import uint64 as uint64
from .ground.format import get_printoptions as get_printoptions
from .ground.format import set_printoptions as set_printoptions
from .ground.generator import Generator as Generator
from .ground.generator import default_generator as default_generator
from .ground.generator import initial_seed as initial_seed
from .ground.generator import manual_seed as manual_seed
from .ground.generator import seed as seed
from .ground.importing import load as _load
from .ground.runtime import are_deterministic_algorithms_enabled as are_deterministic_algorithms_enabled
from .ground.runtime import compiled_with_cxx11_abi as compiled_with_cxx11_abi
from .ground.runtime import get_deterministic_debug_mode as get_deterministic_debug_mode
from .ground.runtime import get_float32_matmul_precision as get_float32_matmul_precision
from .ground.runtime import get_num_interop_threads as get_num_interop_threads
from .ground.runtime import get_num_threads as get_num_threads
from .ground.runtime import is_deterministic_algorithms_warn_only_enabled as is_deterministic_algorithms_warn_only_enabled
from .ground.runtime import is_vulkan_available as is_vulkan_available
from .ground.runtime import is_warn_always_enabled as is_warn_always_enabled
from .ground.runtime import set_deterministic_debug_mode as set_deterministic_debug_mode
from .ground.runtime import set_float32_matmul_precision as set_float32_matmul_precision
from .ground.runtime import set_flush_denormal as set_flush_denormal
from .ground.runtime import set_num_interop_threads as set_num_interop_threads
from .ground.runtime import set_num_threads as set_num_threads
from .ground.runtime import set_warn_always as set_warn_always
from .ground.runtime import use_deterministic_algorithms as use_deterministic_algorithms
from .ground.size import Size as Size
from .ops import catalogue as _catalogue

__version__: str
bool: dtype
int: dtype
float: dtype
from . import _C as _C
from . import _dynamo as _dynamo
from . import _utils as _utils
from . import amp as amp
from . import autograd as autograd
from . import compiler as compiler
from . import distributed as distributed
from . import distributions as distributions
from . import explore as explore
from . import fft as fft
from . import func as func
from . import functional as functional
from . import futures as futures
from . import fx as fx
from . import hub as hub
from . import jit as jit
from . import linalg as linalg
from . import masked as masked
from . import multiprocessing as multiprocessing
from . import nn as nn
from . import optim as optim
from . import overrides as overrides
from . import profiler as profiler
from . import random as random
from . import return_types as return_types
from . import serialization as serialization
from . import signal as signal
from . import sparse as sparse
from . import special as special
from . import storage as storage
from . import testing as testing
from . import torch_version as torch_version
from . import types as types
from . import utils as utils
from . import version as version
from .absent import accelerator as accelerator
from .absent import backends as backends
from .absent import cpu as cpu
from .absent import cuda as cuda
from .absent import mps as mps
from .absent import onnx as onnx
from .absent import xpu as xpu
from .amp.grad_scaler import GradScaler as GradScaler
from .overrides import _assert as _assert
from .amp.autocast_mode import autocast as autocast
from .amp.autocast_mode import clear_autocast_cache as clear_autocast_cache
from .compiler.api import compile as compile
from .amp.autocast_mode import get_autocast_dtype as get_autocast_dtype
from .amp.autocast_mode import is_autocast_cache_enabled as is_autocast_cache_enabled
from .amp.autocast_mode import is_autocast_cpu_enabled as is_autocast_cpu_enabled
from .amp.autocast_mode import is_autocast_enabled as is_autocast_enabled
from .serialization import load as load
from .explore.dot import make_dot as make_dot
from .serialization import save as save
from .amp.autocast_mode import set_autocast_cache_enabled as set_autocast_cache_enabled
from .amp.autocast_mode import set_autocast_dtype as set_autocast_dtype
from .amp.autocast_mode import set_autocast_enabled as set_autocast_enabled
from .tensor.typename import typename as typename

def __getattr__(name: str) -> Any: ...
def __dir__() -> list[str]: ...
BFloat16Storage: Any
BFloat16Tensor: Any
BoolStorage: Any
BoolTensor: Any
ByteStorage: Any
ByteTensor: Any
CharStorage: Any
CharTensor: Any
ComplexDoubleStorage: Any
ComplexDoubleTensor: Any
ComplexFloatStorage: Any
ComplexFloatTensor: Any
DoubleStorage: Any
DoubleTensor: Any
FloatStorage: Any
FloatTensor: Any
HalfStorage: Any
HalfTensor: Any
IntStorage: Any
IntTensor: Any
LongStorage: Any
LongTensor: Any
ShortStorage: Any
ShortTensor: Any
TypedStorage: Any
UntypedStorage: Any
def _dirichlet_grad(x: Tensor, alpha: Tensor, total: Tensor, *, out: Any=None) -> Tensor:
    """How Dirichlet numbers move with their own concentration ``alpha``, over ``1 - x``."""
def _pack_padded_sequence(input: Any, lengths: Any, batch_first: _b.bool) -> _b.tuple[Tensor, Tensor]:
    """A padded batch without its padding, and the number of samples at each step."""
def _pad_packed_sequence(data: Any, batch_sizes: Any, batch_first: _b.bool, padding_value: Any, total_length: _b.int) -> _b.tuple[Tensor, Tensor]:
    """A packed batch with padding up to ``total_length`` steps, and the lengths of the samples."""
def _sample_dirichlet(input: Tensor, generator: Any=None, *, out: Any=None) -> Tensor:
    """Vectors of chances along the last dimension, of the concentrations that ``self`` holds."""
def _standard_gamma(input: Tensor, generator: Any=None, *, out: Any=None) -> Tensor:
    """Gamma numbers of the shape parameters that ``self`` holds and rate one."""
def _standard_gamma_grad(input: Tensor, output: Tensor, *, out: Any=None) -> Tensor:
    """How the gamma numbers ``output`` move with their shape parameters, at a fixed chance of smaller ones."""
def _weight_norm(v: Any, g: Any, dim: _b.int=0) -> Any:
    """``v`` with the norms ``g`` over all dimensions but ``dim``."""
def abs(input: Tensor, *, out: Any=None) -> Tensor:
    """The absolute value."""
def abs_(input: Tensor) -> Tensor: ...
def absolute(input: Tensor, *, out: Any=None) -> Tensor:
    """The absolute value."""
def absolute_(input: Tensor) -> Tensor: ...
def acos(input: Tensor, *, out: Any=None) -> Tensor:
    """The angle with this cosine."""
def acos_(input: Tensor) -> Tensor: ...
def acosh(input: Tensor, *, out: Any=None) -> Tensor:
    """The number, at least zero, with this hyperbolic cosine."""
def acosh_(input: Tensor) -> Tensor: ...
def adaptive_avg_pool1d(input: Any, output_size: Any) -> Tensor:
    """The averages of ``output_size`` windows that cover the last dimension evenly."""
def adaptive_max_pool1d(input: Any, output_size: Any) -> _b.tuple[Tensor, Tensor]:
    """The largest elements of ``output_size`` windows that cover the last dimension evenly, and their places."""
def add(input: Tensor, other: Tensor | _b.int | _b.float | _b.complex, alpha: Any=1, *, out: Any=None) -> Tensor:
    """The elementwise sum ``self + alpha * other``, with broadcasting."""
def add_(input: Tensor, other: Tensor | _b.int | _b.float | _b.complex, alpha: Any=1) -> Tensor: ...
def addbmm(input: Tensor, batch1: Tensor, batch2: Tensor, beta: Any=1, alpha: Any=1, *, out: Any=None) -> Tensor:
    """``beta * self + alpha * (batch1 @ batch2).sum(0)``; ``self`` broadcasts to the sum."""
def addbmm_(input: Tensor, batch1: Tensor, batch2: Tensor, beta: Any=1, alpha: Any=1) -> Tensor: ...
def addcdiv(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Any=1, out: Any=None) -> Tensor:
    """``input + value * tensor1 / tensor2``."""
def addcdiv_(input: Tensor, tensor1: Tensor | _b.int | _b.float | _b.complex, tensor2: Tensor | _b.int | _b.float | _b.complex, value: Any=1) -> Tensor: ...
def addcmul(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Any=1, out: Any=None) -> Tensor:
    """``input + value * tensor1 * tensor2``."""
def addcmul_(input: Tensor, tensor1: Tensor | _b.int | _b.float | _b.complex, tensor2: Tensor | _b.int | _b.float | _b.complex, value: Any=1) -> Tensor: ...
def addmm(input: Tensor, mat1: Tensor, mat2: Tensor, beta: Any=1, alpha: Any=1, *, out: Any=None) -> Tensor:
    """``beta * self + alpha * (mat1 @ mat2)``; ``self`` broadcasts to the product."""
def addmm_(input: Tensor, mat1: Tensor, mat2: Tensor, beta: Any=1, alpha: Any=1) -> Tensor: ...
def addmv(input: Tensor, mat: Tensor, vec: Tensor, beta: Any=1, alpha: Any=1, *, out: Any=None) -> Tensor:
    """``beta * self + alpha * (mat @ vec)``; ``self`` broadcasts to the product."""
def addmv_(input: Tensor, mat: Tensor, vec: Tensor, beta: Any=1, alpha: Any=1) -> Tensor: ...
def addr(input: Tensor, vec1: Tensor | _b.int | _b.float | _b.complex, vec2: Tensor | _b.int | _b.float | _b.complex, beta: Any=1, alpha: Any=1, *, out: Any=None) -> Tensor:
    """``beta * self + alpha * outer(vec1, vec2)``; ``self`` broadcasts to the outer product."""
def addr_(input: Tensor, vec1: Tensor | _b.int | _b.float | _b.complex, vec2: Tensor | _b.int | _b.float | _b.complex, beta: Any=1, alpha: Any=1) -> Tensor: ...
def adjoint(input: Tensor) -> Tensor:
    """The view with the last two dimensions exchanged, conjugated."""
def affine_grid_generator(theta: Any, size: Any, align_corners: _b.bool) -> Tensor:
    """The points that affine maps (N, d, d + 1) give a regular grid of ``size`` (N, C, *sizes): (N, *sizes, d)."""
def alias_copy(input: Any, *args: Any, out: Any=None, **kwargs: Any) -> Any:
    """The tensor, in memory of its own."""
def all(input: Any, dim: Any=None, keepdim: _b.bool=False, *, out: Any=None) -> Tensor:
    """Whether all elements are nonzero, of the tensor or along ``dim``."""
def allclose(input: Tensor, other: Tensor, rtol: _b.float=1e-05, atol: _b.float=1e-08, equal_nan: _b.bool=False) -> _b.bool:
    """Whether all elements are equal up to ``atol + rtol * abs(other)``."""
def alpha_dropout(input: Any, p: _b.float, train: _b.bool) -> Tensor:
    """Dropout that keeps mean and variance of standardised input."""
def alpha_dropout_(input: Any, p: _b.float, train: _b.bool) -> Tensor:
    """In-place :func:`alpha_dropout`."""
def amax(input: Any, dim: Any=..., keepdim: _b.bool=False, *, out: Any=None) -> Tensor:
    """The largest elements along ``dim``; equal ones share the gradient."""
def amin(input: Any, dim: Any=..., keepdim: _b.bool=False, *, out: Any=None) -> Tensor:
    """The smallest elements along ``dim``; equal ones share the gradient."""
def aminmax(input: Any, *, dim: Any=None, keepdim: _b.bool=False, out: Any=None) -> Any:
    """The smallest and the largest elements, along ``dim`` or of all."""
def angle(input: Tensor, *, out: Any=None) -> Tensor:
    """The angle of complex numbers in radians; of real ones, 0 or pi."""
def any(input: Any, dim: Any=None, keepdim: _b.bool=False, *, out: Any=None) -> Tensor:
    """Whether any element is nonzero, of the tensor or along ``dim``."""
def arange(*args: Any, start: Any=None, end: Any=None, step: Any=None, out: Any=None, dtype: Any=None, layout: Any=None, device: Any=None, requires_grad: _b.bool=False, pin_memory: _b.bool=False) -> Tensor:
    """The numbers from ``start`` up to, without, ``end``, in steps of ``step``."""
def arccos(input: Tensor, *, out: Any=None) -> Tensor:
    """The angle with this cosine."""
def arccos_(input: Tensor) -> Tensor: ...
def arccosh(input: Tensor, *, out: Any=None) -> Tensor:
    """The number, at least zero, with this hyperbolic cosine."""
def arccosh_(input: Tensor) -> Tensor: ...
def arcsin(input: Tensor, *, out: Any=None) -> Tensor:
    """The angle with this sine."""
def arcsin_(input: Tensor) -> Tensor: ...
def arcsinh(input: Tensor, *, out: Any=None) -> Tensor:
    """The number with this hyperbolic sine."""
def arcsinh_(input: Tensor) -> Tensor: ...
def arctan(input: Tensor, *, out: Any=None) -> Tensor:
    """The angle with this tangent."""
def arctan2(input: Tensor, other: Tensor, *, out: Any=None) -> Tensor:
    """The angle of the point (other, self), in (-pi, pi]."""
def arctan2_(input: Tensor, other: Tensor) -> Tensor: ...
def arctan_(input: Tensor) -> Tensor: ...
def arctanh(input: Tensor, *, out: Any=None) -> Tensor:
    """The number with this hyperbolic tangent."""
def arctanh_(input: Tensor) -> Tensor: ...
def argmax(input: Tensor, dim: Any=None, keepdim: _b.bool=False, *, out: Any=None) -> Tensor:
    """The place of the largest element, along ``dim`` or of all elements in row-major order."""
def argmin(input: Tensor, dim: Any=None, keepdim: _b.bool=False, *, out: Any=None) -> Tensor:
    """The place of the smallest element, along ``dim`` or of all elements in row-major order."""
def argsort(input: Tensor, dim: _b.int=-1, descending: _b.bool=False, stable: _b.bool | None=None) -> Tensor:
    """Where the elements are that come in order along ``dim``."""
def argwhere(input: Tensor) -> Tensor:
    """The indices of all elements that are not zero, one in a row."""
def as_strided(input: Tensor, size: Any, stride: Any, storage_offset: Any=None, *, out: Any=None) -> Tensor:
    """The view of the same memory with these sizes and strides, from an offset, all in elements."""
def as_strided_(self: Any, size: Any, stride: Any, storage_offset: _b.int | None=None) -> Tensor:
    """Make the tensor itself the view of its memory with these sizes and strides, from an offset, in elements."""
def as_strided_copy(input: Any, *args: Any, out: Any=None, **kwargs: Any) -> Any:
    """The elements at these sizes and strides, in memory of its own."""
def as_strided_scatter(input: Any, src: Any, size: Any, stride: Any, storage_offset: _b.int | None=None) -> Tensor:
    """A copy of ``input`` with ``src`` in the window of these sizes, strides and offset, in elements."""
def as_tensor(data: Any, dtype: Any=None, device: Any=None) -> Tensor:
    """``data`` as a tensor, sharing its memory where that is possible."""
def asarray(obj: Any, *, dtype: Any=None, device: Any=None, copy: _b.bool | None=None, requires_grad: _b.bool | None=None) -> Tensor:
    """``obj`` as a tensor: shared, or copied where asked or needed; ``copy=False`` refuses to copy."""
def asin(input: Tensor, *, out: Any=None) -> Tensor:
    """The angle with this sine."""
def asin_(input: Tensor) -> Tensor: ...
def asinh(input: Tensor, *, out: Any=None) -> Tensor:
    """The number with this hyperbolic sine."""
def asinh_(input: Tensor) -> Tensor: ...
def atan(input: Tensor, *, out: Any=None) -> Tensor:
    """The angle with this tangent."""
def atan2(input: Tensor, other: Tensor, *, out: Any=None) -> Tensor:
    """The angle of the point (other, self), in (-pi, pi]."""
def atan2_(input: Tensor, other: Tensor) -> Tensor: ...
def atan_(input: Tensor) -> Tensor: ...
def atanh(input: Tensor, *, out: Any=None) -> Tensor:
    """The number with this hyperbolic tangent."""
def atanh_(input: Tensor) -> Tensor: ...
def atleast_1d(*tensors: Any) -> Any:
    """Each tensor with at least one dimension."""
def atleast_2d(*tensors: Any) -> Any:
    """Each tensor with at least two dimensions; vectors become rows."""
def atleast_3d(*tensors: Any) -> Any:
    """Each tensor with at least three dimensions."""
def avg_pool1d(input: Any, kernel_size: Any, stride: Any=None, padding: Any=0, ceil_mode: _b.bool=False, count_include_pad: _b.bool=True) -> Tensor:
    """The average of each window of the last dimension."""
def baddbmm(input: Tensor, batch1: Tensor, batch2: Tensor, beta: Any=1, alpha: Any=1, *, out: Any=None) -> Tensor:
    """``beta * self + alpha * (batch1 @ batch2)``; ``self`` broadcasts to the product."""
def baddbmm_(input: Tensor, batch1: Tensor, batch2: Tensor, beta: Any=1, alpha: Any=1) -> Tensor: ...
def bartlett_window(window_length: _b.int, periodic: _b.bool=True, *, dtype: Any=None, layout: Any=None, **options: Any) -> Tensor:
    """The triangle from zero to one and back."""
def batch_norm(input: Any, weight: Any, bias: Any, running_mean: Any, running_var: Any, training: _b.bool, momentum: _b.float, eps: _b.float, cudnn_enabled: _b.bool=True) -> Any:
    """Each channel standardised over the batch (``training``) or by running statistics, which training updates."""
def bernoulli(input: Tensor, p: Any=None, *, generator: Any=None, out: Any=None) -> Tensor:
    """Ones with the chances that ``input`` holds (or with chance ``p`` throughout), else zeros."""
def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None=None) -> Tensor:
    """``input1 @ weight[k] @ input2 + bias[k]`` for each k, over the last dimensions of the inputs."""
def binary_cross_entropy_with_logits(input: Any, target: Any, weight: Any=None, pos_weight: Any=None, reduction: _b.int=1) -> Any:
    """Minus the log likelihood of ``target`` under the probabilities ``sigmoid(input)``."""
def bincount(input: Tensor, weights: Tensor | None=None, minlength: _b.int=0) -> Tensor:
    """How often each small integer occurs, or the sum of the weights where it does."""
def binomial(count: Tensor, prob: Tensor, generator: Any=None, *, out: Any=None) -> Tensor:
    """Numbers of successes among ``count`` trials, each of chance ``prob``; both floating and of one dtype."""
def bitwise_and(input: Tensor, other: Tensor | _b.int | _b.float | _b.complex, *, out: Any=None) -> Tensor:
    """The bits that are set in both."""
def bitwise_and_(input: Tensor, other: Tensor | _b.int | _b.float | _b.complex) -> Tensor: ...
def bitwise_left_shift(input: Tensor, other: Tensor | _b.int | _b.float | _b.complex, *, out: Any=None) -> Tensor:
    """The bits moved up by ``other`` places; zero where that is negative or as wide as the dtype."""
def bitwise_left_shift_(input: Tensor, other: Tensor | _b.int | _b.float | _b.complex) -> Tensor: ...
def bitwise_not(input: Tensor, *, out: Any=None) -> Tensor:
    """The bits that are not set."""
def bitwise_not_(input: Tensor) -> Tensor: ...
def bitwise_or(input: Tensor, other: Tensor | _b.int | _b.float | _b.complex, *, out: Any=None) -> Tensor:
    """The bits that are set in at least one."""
def bitwise_or_(input: Tensor, other: Tensor | _b.int | _b.float | _b.complex) -> Tensor: ...
def bitwise_right_shift(input: Tensor, other: Tensor | _b.int | _b.float | _b.complex, *, out: Any=None) -> Tensor:
    """The bits moved down by ``other`` places; only the sign is left where that is negative or too wide."""
def bitwise_right_shift_(input: Tensor, other: Tensor | _b.int | _b.float | _b.complex) -> Tensor: ...
def bitwise_xor(input: Tensor, other: Tensor | _b.int | _b.float | _b.complex, *, out: Any=None) -> Tensor:
    """The bits that are set in just one."""
def bitwise_xor_(input: Tensor, other: Tensor | _b.int | _b.float | _b.complex) -> Tensor: ...
def blackman_window(window_length: _b.int, periodic: _b.bool=True, *, dtype: Any=None, layout: Any=None, **options: Any) -> Tensor:
    """The window ``0.42 - 0.5 cos + 0.08 cos`` of one turn and of two."""
def block_diag(*tensors: Any) -> Tensor:
    """The matrix that holds the tensors as blocks on its diagonal."""
def bmm(input: Tensor, mat2: Tensor, *, out: Any=None) -> Tensor:
    """The product of each pair of matrices in two batches."""
def broadcast_shapes(*shapes: Any) -> Size:
    """The shape that these shapes broadcast to."""
def broadcast_tensors(*tensors: Any) -> _b.tuple[Tensor, ...]:
    """The tensors stretched to their common shape."""
def broadcast_to(input: Tensor, *size: Any, **named: Any) -> Tensor:
    """The view stretched to ``size``."""
def bucketize(input: Any, boundaries: Tensor, *, out_int32: _b.bool=False, right: _b.bool=False, out: Any=None) -> Tensor:
    """The number of the bucket between sorted boundaries that each value falls into."""
def can_cast(from_: dtype, to: dtype) -> _b.bool:
    """Whether an in-place operation with result ``from_`` may write into ``to``."""
def cartesian_prod(*tensors: Any) -> Tensor:
    """All combinations of one element of each vector, one in a row."""
def cat(tensors: Any, dim: _b.int=0, *, out: Any=None, axis: Any=None) -> Tensor:
    """The tensors one after the other along ``dim``."""
def cdist(x1: Any, x2: Any, p: _b.float=2.0, compute_mode: _b.str='use_mm_for_euclid_dist_if_necessary') -> Tensor:
    """The ``p``-norm distances of every row of ``x1`` from every row of ``x2``."""
def ceil(input: Tensor, *, out: Any=None) -> Tensor:
    """The least integer not below."""
def ceil_(input: Tensor) -> Tensor: ...
def celu(input: Tensor, alpha: _b.float=1.0, inplace: _b.bool=False) -> Tensor:
    """The elements, negative ones replaced by alpha (exp(x / alpha) - 1)."""
def celu_(input: Tensor, alpha: _b.float=1.0) -> Tensor:
    """In-place :func:`celu`."""
def chain_matmul(*matrices: Any, out: Any=None) -> Tensor:
    """The product of matrices in the order that costs least; the older name of ``linalg.multi_dot``."""
def channel_shuffle(input: Any, groups: _b.int) -> Tensor:
    """Channels dealt out: the first of each of ``groups`` groups, then the second of each."""
def cholesky(input: Tensor, upper: _b.bool=False, *, out: Any=None) -> Tensor:
    """The triangular roots of positive-definite matrices; the older name of ``linalg.cholesky``."""
def cholesky_inverse(input: Tensor, upper: _b.bool=False, *, out: Any=None) -> Tensor:
    """The inverses of the matrices that these triangles are the roots of."""
def cholesky_solve(input: Tensor, input2: Tensor, upper: _b.bool=False, *, out: Any=None) -> Tensor:
    """The solutions of ``A @ X = input``, where ``input2`` is the triangular root of ``A``."""
def chunk(input: Tensor, chunks: _b.int, dim: _b.int=0) -> _b.tuple[Tensor, ...]:
    """Views of at most ``chunks`` pieces of ``dim`` of one size; the last may be smaller."""
def clamp(input: Tensor, min: Any=None, max: Any=None, *, out: Any=None) -> Tensor:
    """The elements, limited to [min, max]; an end may be a number, a tensor or None."""
def clamp_(self: Tensor, min: Any=None, max: Any=None) -> Tensor:
    """In-place :func:`clamp`."""
def clamp_max(input: Tensor, max: Any, *, out: Any=None) -> Tensor:
    """The elements, at most ``max``, a number or a tensor."""
def clamp_max_(self: Tensor, max: Any) -> Tensor:
    """In-place :func:`clamp_max`."""
def clamp_min(input: Tensor, min: Any, *, out: Any=None) -> Tensor:
    """The elements, at least ``min``, a number or a tensor."""
def clamp_min_(self: Tensor, min: Any) -> Tensor:
    """In-place :func:`clamp_min`."""
def clip(input: Tensor, min: Any=None, max: Any=None, *, out: Any=None) -> Tensor:
    """The elements, limited to [min, max]; an end may be a number, a tensor or None."""
def clip_(self: Tensor, min: Any=None, max: Any=None) -> Tensor:
    """In-place :func:`clamp`."""
def clone(input: Tensor, *, memory_format: Any=None) -> Tensor:
    """A copy, through which gradients flow; dense memory keeps its order unless ``memory_format`` says otherwise."""
def column_stack(tensors: Any, *, out: Any=None) -> Tensor:
    """The tensors side by side, vectors as columns."""
def combinations(input: Tensor, r: _b.int=2, with_replacement: _b.bool=False) -> Tensor:
    """All choices of ``r`` elements of a vector, in the order they have in it, one in a row."""
def complex(real: Tensor, imag: Tensor, *, out: Any=None) -> Tensor:
    """The complex numbers of real and imaginary parts."""
def concat(tensors: Any, dim: _b.int=0, *, out: Any=None, axis: Any=None) -> Tensor:
    """The tensors one after the other along ``dim``."""
def concatenate(tensors: Any, dim: _b.int=0, *, out: Any=None, axis: Any=None) -> Tensor:
    """The tensors one after the other along ``dim``."""
def conj(input: Tensor) -> Tensor:
    """The complex conjugate; a real tensor itself."""
def conj_physical(input: Tensor, *, out: Any=None) -> Tensor:
    """The complex conjugate; a real tensor itself."""
def conj_physical_(input: Tensor) -> Tensor: ...
def constant_pad_nd(input: Tensor, pad: Any, value: Any=0, *, out: Any=None) -> Tensor:
    """The tensor within a border of one value; negative widths cut off.  ``pad`` counts from the last dimension."""
def conv1d(input: Any, weight: Any, bias: Any=None, stride: Any=1, padding: Any=0, dilation: Any=1, groups: _b.int=1) -> Any:
    """The products of the windows of ``input`` (n, c, l) or (c, l) with ``weight`` (o, c / groups, k), plus ``bias``."""
def conv2d(input: Any, weight: Any, bias: Any=None, stride: Any=1, padding: Any=0, dilation: Any=1, groups: _b.int=1) -> Any:
    """The products of the windows of images (n, c, h, w) or (c, h, w) with ``weight`` (o, c / groups, kh, kw)."""
def conv3d(input: Any, weight: Any, bias: Any=None, stride: Any=1, padding: Any=0, dilation: Any=1, groups: _b.int=1) -> Any:
    """The products of the windows of volumes (n, c, d, h, w) or (c, d, h, w) with ``weight`` (o, c / groups, *kernel)."""
def conv_tbc(input: Any, weight: Any, bias: Any, pad: _b.int=0) -> Any:
    """The convolution of ``input`` (time, batch, c) with ``weight`` (kernel, c, o) along the time, plus ``bias`` (o)."""
def conv_transpose1d(input: Any, weight: Any, bias: Any=None, stride: Any=1, padding: Any=0, output_padding: Any=0, groups: _b.int=1, dilation: Any=1) -> Any:
    """The adjoint of ``conv1d``: ``weight`` (c, o / groups, k) spread over the output by each element of ``input``."""
def conv_transpose2d(input: Any, weight: Any, bias: Any=None, stride: Any=1, padding: Any=0, output_padding: Any=0, groups: _b.int=1, dilation: Any=1) -> Any:
    """The adjoint of ``conv2d``: ``weight`` (c, o / groups, kh, kw) spread by each element of ``input``."""
def conv_transpose3d(input: Any, weight: Any, bias: Any=None, stride: Any=1, padding: Any=0, output_padding: Any=0, groups: _b.int=1, dilation: Any=1) -> Any:
    """The adjoint of ``conv3d``: ``weight`` (c, o / groups, *kernel) spread by each element of ``input``."""
def convolution(input: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, transposed: _b.bool, output_padding: Any, groups: _b.int) -> Any:
    """The convolution, plain or ``transposed``, of a batch; the weight tells how many dimensions there are."""
def copysign(input: Tensor, other: Any, *, out: Any=None) -> Tensor:
    """The sizes of ``input`` with the signs of ``other``, a tensor or a number."""
def copysign_(input: Tensor, other: Tensor) -> Tensor: ...
def corrcoef(input: Any) -> Tensor:
    """Pearson's correlations of the variables in the rows of ``input``, observed in its columns."""
def cos(input: Tensor, *, out: Any=None) -> Tensor:
    """The cosine."""
def cos_(input: Tensor) -> Tensor: ...
def cosh(input: Tensor, *, out: Any=None) -> Tensor:
    """The hyperbolic cosine."""
def cosh_(input: Tensor) -> Tensor: ...
def cosine_embedding_loss(input1: Any, input2: Any, target: Any, margin: _b.float=0.0, reduction: _b.int=1) -> Any:
    """How far pairs meant to be alike (1) are from parallel, and others (-1) from apart."""
def cosine_similarity(x1: Any, x2: Any, dim: _b.int=1, eps: _b.float=1e-08) -> Tensor:
    """The cosines of the angles between vectors along ``dim``."""
def count_nonzero(input: Any, dim: Any=None) -> Tensor:
    """How many elements are nonzero, in the tensor or along ``dim``."""
def cov(input: Any, *, correction: _b.int=1, fweights: Any=None, aweights: Any=None) -> Tensor:
    """The covariances of the variables in the rows of ``input``, observed in its columns."""
def cross(input: Tensor, other: Tensor, dim: _b.int | None=None, *, out: Any=None) -> Tensor:
    """The vectors perpendicular to those of both inputs, along ``dim`` or the first dimension of size 3."""
def ctc_loss(log_probs: Any, targets: Any, input_lengths: Any, target_lengths: Any, blank: _b.int=0, reduction: _b.int=0, zero_infinity: _b.bool=False) -> Any:
    """The connectionist temporal classification loss; ``reduction`` is 0 for none, 1 for mean, 2 for sum."""
def cummax(input: Any, dim: Any=..., *, out: Any=None) -> Any:
    """The largest of everything up to each place along ``dim``, and where it stands."""
def cummin(input: Any, dim: Any=..., *, out: Any=None) -> Any:
    """The smallest of everything up to each place along ``dim``, and where it stands."""
def cumprod(input: Any, dim: Any=..., *, dtype: Any=None, out: Any=None) -> Tensor:
    """The products of everything up to each place along ``dim``."""
def cumprod_(input: Tensor, dim: _b.int, dtype: Any=None) -> Tensor: ...
def cumsum(input: Any, dim: Any=..., *, dtype: Any=None, out: Any=None) -> Tensor:
    """The sums of everything up to each place along ``dim``."""
def cumsum_(input: Tensor, dim: _b.int, dtype: Any=None) -> Tensor: ...
def cumulative_trapezoid(y: Any, x: Any=None, *, dx: Any=1, dim: Any=-1) -> Tensor:
    """The areas under ``y`` up to each place along ``dim``."""
def deg2rad(input: Tensor, *, out: Any=None) -> Tensor:
    """Degrees as radians."""
def deg2rad_(input: Tensor) -> Tensor: ...
def det(input: Tensor) -> Tensor:
    """The determinant of a square matrix, or of each of a batch."""
def detach(input: Tensor) -> Tensor:
    """The same memory without history: gradients stop here."""
def detach_(self: Tensor) -> Tensor:
    """Forget the tensor's history; it is a leaf from now on."""
def detach_copy(input: Any, *args: Any, out: Any=None, **kwargs: Any) -> Any:
    """The tensor without its history, in memory of its own."""
def diag(input: Tensor, diagonal: _b.int=0, *, out: Any=None) -> Tensor:
    """The diagonal of a matrix, or the matrix with a vector on its diagonal."""
def diag_embed(input: Tensor, offset: Any=0, dim1: Any=-2, dim2: Any=-1, *, out: Any=None) -> Tensor:
    """Matrices in the dimensions ``dim1`` and ``dim2`` that hold the last dimension on a diagonal."""
def diagflat(input: Tensor, offset: _b.int=0) -> Tensor:
    """The matrix with all elements on its diagonal."""
def diagonal(input: Tensor, offset: Any=0, dim1: Any=0, dim2: Any=1, *, out: Any=None) -> Tensor:
    """The view of the diagonal of two dimensions, as the last dimension."""
def diagonal_copy(input: Any, *args: Any, out: Any=None, **kwargs: Any) -> Any:
    """The diagonal, in memory of its own."""
def diagonal_scatter(input: Tensor, src: Tensor, offset: Any=0, dim1: Any=0, dim2: Any=1, *, out: Any=None) -> Tensor:
    """``self`` with ``src`` on the diagonal of two dimensions."""
def diff(input: Any, n: _b.int=1, dim: Any=-1, prepend: Any=None, append: Any=None) -> Tensor:
    """The ``n``-th differences of neighbours along ``dim``."""
def digamma(input: Tensor, *, out: Any=None) -> Tensor:
    """The logarithmic derivative of the gamma function."""
def digamma_(input: Tensor) -> Tensor: ...
def dist(input: Tensor, other: Tensor | _b.int | _b.float | _b.complex, p: Any=2, *, out: Any=None) -> Tensor:
    """The ``p``-norm of the difference of two tensors."""
def div(input: Any, other: Any, *, rounding_mode: _b.str | None=None, out: Any=None) -> Tensor:
    """The quotient, rounded towards zero ("trunc") or down ("floor") if ``rounding_mode`` says so."""
def div_(input: Tensor, other: Tensor | _b.int | _b.float | _b.complex) -> Tensor: ...
def divide(input: Any, other: Any, *, rounding_mode: _b.str | None=None, out: Any=None) -> Tensor:
    """The quotient, rounded towards zero ("trunc") or down ("floor") if ``rounding_mode`` says so."""
def dot(input: Tensor, tensor: Tensor, *, out: Any=None) -> Tensor:
    """The sum of the products of two vectors' elements."""
def dropout(input: Any, p: _b.float, train: _b.bool) -> Tensor:
    """``input`` with each element zero with probability ``p``, the others divided by ``1 - p``."""
def dropout_(input: Any, p: _b.float, train: _b.bool) -> Tensor:
    """In-place :func:`dropout`."""
def dsmm(input: Any, mat2: Any) -> Any:
    """The product of a sparse matrix and a matrix."""
def dsplit(input: Tensor, indices_or_sections: Any) -> _b.tuple[Tensor, ...]:
    """Views of pieces behind each other."""
def dstack(tensors: Any, *, out: Any=None) -> Tensor:
    """The tensors behind each other: along the third dimension."""
def eig(*args: Any, **kwargs: Any) -> Any:
    """Removed from PyTorch: it raises what PyTorch raises, which names what to use instead."""
def einsum(*args: Any) -> Tensor:
    """The sum of products that an equation such as ``"ij,jk->ik"`` describes, or lists of subscripts after operands."""
def embedding(weight: Any, indices: Any, padding_idx: _b.int=-1, scale_grad_by_freq: _b.bool=False, sparse: _b.bool=False) -> Tensor:
    """The rows of ``weight`` that ``indices`` names."""
def embedding_bag(weight: Any, indices: Any, offsets: Any, scale_grad_by_freq: _b.bool=False, mode: _b.int=0, sparse: _b.bool=False, per_sample_weights: Any=None, include_last_offset: _b.bool=False, padding_idx: _b.int | None=None) -> Any:
    """The sum (``mode`` 0), mean (1) or maximum (2) of each bag of rows, and what PyTorch remembers of the bags."""
def embedding_renorm_(self: Tensor, indices: Any, max_norm: _b.float, norm_type: _b.float) -> Tensor:
    """Scale down, in place, the rows that ``indices`` names and that are longer than ``max_norm``."""
def empty(*size: Any, out: Any=None, dtype: Any=None, layout: Any=None, device: Any=None, pin_memory: _b.bool=False, requires_grad: _b.bool=False, **rest: Any) -> Tensor:
    """A tensor whose elements are whatever was in memory."""
def empty_like(input: Tensor, *, dtype: Any=None, layout: Any=None, device: Any=None, pin_memory: _b.bool=False, requires_grad: _b.bool=False, memory_format: Any=None) -> Tensor:
    """A tensor of the same size, dtype and layout, uninitialised."""
def empty_permuted(size: Any, physical_layout: Any, *, dtype: Any=None, layout: Any=None, device: Any=None, requires_grad: _b.bool=False, pin_memory: _b.bool=False) -> Tensor:
    """An uninitialised tensor whose dimensions lie in memory in the order ``physical_layout``."""
def empty_strided(size: Any, stride: Any, *, dtype: Any=None, layout: Any=None, device: Any=None, requires_grad: _b.bool=False, pin_memory: _b.bool=False) -> Tensor:
    """An uninitialised tensor of these sizes and strides, in elements."""
def eq(input: Tensor, other: Tensor | _b.int | _b.float | _b.complex, *, out: Any=None) -> Tensor:
    """Whether elements are equal."""
def equal(input: Tensor, other: Tensor) -> _b.bool:
    """Whether two tensors have the same sizes and elements."""
def erf(input: Tensor, *, out: Any=None) -> Tensor:
    """The error function."""
def erf_(input: Tensor) -> Tensor: ...
def erfc(input: Tensor, *, out: Any=None) -> Tensor:
    """One minus the error function."""
def erfc_(input: Tensor) -> Tensor: ...
def erfinv(input: Tensor, *, out: Any=None) -> Tensor:
    """The inverse of the error function."""
def erfinv_(input: Tensor) -> Tensor: ...
def exp(input: Tensor, *, out: Any=None) -> Tensor:
    """The exponential."""
def exp2(input: Tensor, *, out: Any=None) -> Tensor:
    """Two to the power of each element."""
def exp2_(input: Tensor) -> Tensor: ...
def exp_(input: Tensor) -> Tensor: ...
def expand_copy(input: Any, *args: Any, out: Any=None, **kwargs: Any) -> Any:
    """The tensor repeated along dimensions of size one, in memory of its own."""
def expm1(input: Tensor, *, out: Any=None) -> Tensor:
    """The exponential minus one, exact near zero."""
def expm1_(input: Tensor) -> Tensor: ...
def eye(n: Any, m: Any=None, *, out: Any=None, dtype: Any=None, layout: Any=None, device: Any=None, requires_grad: _b.bool=False, pin_memory: _b.bool=False) -> Tensor:
    """Ones on the diagonal, zeros elsewhere."""
def feature_alpha_dropout(input: Any, p: _b.float, train: _b.bool) -> Any:
    """``alpha_dropout`` of whole channels."""
def feature_alpha_dropout_(input: Any, p: _b.float, train: _b.bool) -> Any:
    """In-place :func:`feature_alpha_dropout`."""
def feature_dropout(input: Any, p: _b.float, train: _b.bool) -> Any:
    """``dropout`` of whole channels."""
def feature_dropout_(input: Any, p: _b.float, train: _b.bool) -> Any:
    """In-place :func:`feature_dropout`."""
def fill(input: Tensor, value: Any) -> Tensor:
    """A tensor of the same shape and dtype, filled with ``value``, a number or a 0-d tensor."""
def fill_(self: Tensor, value: Any) -> Tensor:
    """Fill the tensor with ``value``, a number or a 0-d tensor."""
def fix(input: Tensor, *, out: Any=None) -> Tensor:
    """The integer part."""
def fix_(input: Tensor) -> Tensor: ...
def flatten(input: Tensor, start_dim: _b.int=0, end_dim: _b.int=-1) -> Tensor:
    """The tensor with the dimensions from ``start_dim`` to ``end_dim`` made one."""
def flip(input: Tensor, *dims: Any, **named: Any) -> Tensor:
    """The tensor mirrored along ``dims``."""
def fliplr(input: Tensor) -> Tensor:
    """The matrix mirrored from left to right."""
def flipud(input: Tensor) -> Tensor:
    """The tensor mirrored along its first dimension."""
def float_power(input: Any, exponent: Any, *, out: Any=None) -> Tensor:
    """``input`` to the power ``exponent`` in float64, or complex128 if one is complex."""
def floor(input: Tensor, *, out: Any=None) -> Tensor:
    """The greatest integer not above."""
def floor_(input: Tensor) -> Tensor: ...
def floor_divide(input: Any, other: Any, *, out: Any=None) -> Tensor:
    """The quotient rounded down; not differentiable."""
def floor_divide_(input: Tensor, other: Tensor | _b.int | _b.float | _b.complex) -> Tensor: ...
def fmax(input: Tensor, other: Tensor, *, out: Any=None) -> Tensor:
    """The greater of two elements; the other one where one is NaN."""
def fmin(input: Tensor, other: Tensor, *, out: Any=None) -> Tensor:
    """The lesser of two elements; the other one where one is NaN."""
def fmod(input: Tensor, other: Any, *, out: Any=None) -> Tensor:
    """What division leaves, with the sign of the dividend."""
def fmod_(input: Tensor, other: Tensor | _b.int | _b.float | _b.complex) -> Tensor: ...
def frac(input: Tensor, *, out: Any=None) -> Tensor:
    """The part behind the point, with the sign of the number."""
def frac_(input: Tensor) -> Tensor: ...
def frexp(input: Tensor, *, out: Any=None) -> Any:
    """Mantissas from a half to one, and the powers of two that they are to be multiplied with."""
def frobenius_norm(input: Any, dim: Any=None, keepdim: _b.bool=False, *, out: Any=None) -> Tensor:
    """The square roots of the sums of squares along ``dim``."""
def from_dlpack(ext_tensor: Any, *, device: Any=None, copy: _b.bool | None=None) -> Tensor:
    """A tensor on the memory of an object that exports DLPack, or of a capsule."""
def from_file(filename: _b.str, shared: _b.bool | None=False, size: _b.int | None=0, *, dtype: Any=None, **options: Any) -> Tensor:
    """A tensor of ``size`` numbers that are the content of a file; ``shared`` writes go into the file."""
def from_numpy(ndarray: Any) -> Tensor:
    """A tensor on the memory of a NumPy array."""
def frombuffer(buffer: Any, *, dtype: Any, count: _b.int=-1, offset: _b.int=0, requires_grad: _b.bool=False) -> Tensor:
    """A 1-d tensor on the memory of an object with Python's buffer interface."""
def full(size: Any, fill_value: Any, *, out: Any=None, dtype: Any=None, layout: Any=None, device: Any=None, requires_grad: _b.bool=False, pin_memory: _b.bool=False) -> Tensor:
    """A tensor filled with one value; its dtype is the value's unless told."""
def full_like(input: Tensor, fill_value: Any, *, dtype: Any=None, layout: Any=None, device: Any=None, pin_memory: _b.bool=False, requires_grad: _b.bool=False, memory_format: Any=None) -> Tensor:
    """The same size, dtype and layout, filled with one value."""
def gather(input: Tensor, dim: _b.int, index: Tensor, *, sparse_grad: _b.bool=False, out: Any=None) -> Tensor:
    """The elements that ``index`` names along ``dim``, in the shape of ``index``."""
def gcd(input: Tensor, other: Tensor, *, out: Any=None) -> Tensor:
    """The greatest common divisor; zero of two zeros."""
def gcd_(input: Tensor, other: Tensor) -> Tensor: ...
def ge(input: Tensor, other: Tensor | _b.int | _b.float | _b.complex, *, out: Any=None) -> Tensor:
    """Whether elements are at least those of ``other``."""
def geqrf(input: Tensor, *, out: Any=None) -> Any:
    """The triangle and the reflections that QR is made of, in one matrix, and the reflections' factors."""
def ger(input: Tensor, vec2: Tensor, *, out: Any=None) -> Tensor:
    """The product of each element of one vector with each of another."""
def get_device(self: Tensor) -> _b.int:
    """-1: the number of no accelerator."""
def get_rng_state() -> Tensor:
    """The state of the default generator, as a tensor of bytes."""
def gradient(input: Any, *, spacing: Any=None, dim: Any=None, edge_order: _b.int=1) -> _b.tuple[Tensor, ...]:
    """The slopes of sampled values along each of ``dim``: central differences, one-sided at the ends."""
def greater(input: Tensor, other: Tensor | _b.int | _b.float | _b.complex, *, out: Any=None) -> Tensor:
    """Whether elements are greater than those of ``other``."""
def greater_equal(input: Tensor, other: Tensor | _b.int | _b.float | _b.complex, *, out: Any=None) -> Tensor:
    """Whether elements are at least those of ``other``."""
def grid_sampler(input: Any, grid: Any, interpolation_mode: _b.int, padding_mode: _b.int, align_corners: _b.bool) -> Tensor:
    """Images or volumes at the points of a grid; modes as numbers: bilinear, nearest, bicubic."""
def grid_sampler_2d(input: Any, grid: Any, interpolation_mode: _b.int, padding_mode: _b.int, align_corners: _b.bool) -> Tensor:
    """Images at the points of a grid; modes as numbers."""
def grid_sampler_3d(input: Any, grid: Any, interpolation_mode: _b.int, padding_mode: _b.int, align_corners: _b.bool) -> Tensor:
    """Volumes at the points of a grid; modes as numbers."""
def group_norm(input: Any, num_groups: _b.int, weight: Any=None, bias: Any=None, eps: _b.float=1e-05, cudnn_enabled: _b.bool=True) -> Any:
    """Each group of channels of each sample standardised, each channel scaled and shifted."""
def gru(*args: Any, **kwargs: Any) -> _b.tuple[Tensor, Tensor]:
    """Gated recurrent units over a padded or packed batch: output, last states."""
def gru_cell(input: Any, hx: Any, w_ih: Any, w_hh: Any, b_ih: Any=None, b_hh: Any=None) -> Tensor:
    """One step of a GRU: the next state."""
def gt(input: Tensor, other: Tensor | _b.int | _b.float | _b.complex, *, out: Any=None) -> Tensor:
    """Whether elements are greater than those of ``other``."""
def hamming_window(window_length: _b.int, periodic: _b.bool=True, alpha: _b.float=0.54, beta: _b.float=0.46, *, dtype: Any=None, layout: Any=None, **options: Any) -> Tensor:
    """The window ``alpha - beta cos``."""
def hann_window(window_length: _b.int, periodic: _b.bool=True, *, dtype: Any=None, layout: Any=None, **options: Any) -> Tensor:
    """The window ``0.5 - 0.5 cos``: one bell, zero at its foot."""
def hardshrink(input: Tensor, lambd: _b.float=0.5) -> Tensor:
    """The elements, those within ``lambd`` of zero replaced by zero."""
def heaviside(input: Tensor, values: Tensor, *, out: Any=None) -> Tensor:
    """The step: zero below zero, one above, ``values`` at zero; not differentiable."""
def heaviside_(input: Tensor, values: Tensor) -> Tensor: ...
def hinge_embedding_loss(input: Any, target: Any, margin: _b.float=1.0, reduction: _b.int=1) -> Any:
    """``input`` where ``target`` is 1; what it lacks of ``margin`` where it is -1."""
def histc(input: Tensor, bins: Any=100, min: Any=0, max: Any=0, *, out: Any=None) -> Tensor:
    """How many elements fall into each of ``bins`` equal parts of the range from ``min`` to ``max``."""
def histogram(input: Any, bins: Any=100, *, range: Any=None, weight: Any=None, density: _b.bool=False, out: Any=None) -> Any:
    """How many elements fall into each bin, and the bins' edges: ``bins`` equal ones within ``range``, or as given."""
def histogramdd(input: Any, bins: Any, range: Any=None, weight: Any=None, density: _b.bool=False, *, out: Any=None) -> Any:
    """How many points fall into each cell of a grid: coordinates lie along the last dimension of ``input``."""
def hsplit(input: Tensor, indices_or_sections: Any) -> _b.tuple[Tensor, ...]:
    """Views of pieces side by side."""
def hstack(tensors: Any, *, out: Any=None) -> Tensor:
    """The tensors side by side: along the second dimension, vectors along the first."""
def hypot(input: Tensor, other: Tensor, *, out: Any=None) -> Tensor:
    """The length of the hypotenuse over two sides."""
def hypot_(input: Tensor, other: Tensor) -> Tensor: ...
def i0(input: Tensor, *, out: Any=None) -> Tensor:
    """The modified Bessel function of the first kind, order 0."""
def i0_(input: Tensor) -> Tensor: ...
def igamma(input: Tensor, other: Tensor, *, out: Any=None) -> Tensor:
    """The regularised lower incomplete gamma function of the parameter ``self`` at ``other``."""
def igamma_(input: Tensor, other: Tensor) -> Tensor: ...
def igammac(input: Tensor, other: Tensor, *, out: Any=None) -> Tensor:
    """The regularised upper incomplete gamma function of the parameter ``self`` at ``other``."""
def igammac_(input: Tensor, other: Tensor) -> Tensor: ...
def imag(input: Tensor) -> Tensor:
    """The imaginary part, a view."""
def index_add(input: Tensor, dim: _b.int, index: Tensor, source: Tensor, *, alpha: Any=1, out: Any=None) -> Tensor:
    """The tensor with ``alpha`` times the slices of ``source`` added where ``index`` says."""
def index_copy(input: Tensor, dim: _b.int, index: Tensor, source: Tensor, *, out: Any=None) -> Tensor:
    """The tensor with its slices replaced by those of ``source`` where ``index`` says."""
def index_fill(input: Tensor, dim: _b.int, index: Tensor, value: Any) -> Tensor:
    """The tensor with the slices that ``index`` names filled with one value."""
def index_put(input: Tensor, indices: Any, values: Tensor, accumulate: _b.bool=False) -> Tensor:
    """The tensor with ``values`` put, or added, where the index tensors point."""
def index_put_(input: Tensor, indices: Any, values: Tensor, accumulate: _b.bool=False) -> Tensor:
    """In-place :func:`index_put`."""
def index_reduce(input: Tensor, dim: _b.int, index: Tensor, source: Tensor, reduce: _b.str, *, include_self: _b.bool=True, out: Any=None) -> Tensor:
    """The tensor with the slices of ``source`` reduced into those that ``index`` names."""
def index_select(input: Tensor, dim: _b.int, index: Tensor, *, out: Any=None) -> Tensor:
    """The slices of ``dim`` that ``index`` names."""
def inner(input: Tensor, other: Tensor, *, out: Any=None) -> Tensor:
    """The product of vectors, summed over the last dimension of both."""
def instance_norm(input: Any, weight: Any, bias: Any, running_mean: Any, running_var: Any, use_input_stats: _b.bool, momentum: _b.float, eps: _b.float, cudnn_enabled: _b.bool=True) -> Any:
    """Each channel of each sample standardised by itself, or by running statistics."""
def inverse(input: Tensor, *, out: Any=None) -> Tensor:
    """The inverse of a square matrix, or of each of a batch."""
def is_complex(input: Tensor) -> _b.bool:
    """Whether the elements are complex."""
def is_conj(input: Tensor) -> _b.bool:
    """Whether the tensor came from ``conj``, which PyTorch leaves for later; here it is done already."""
def is_distributed(input: Tensor) -> _b.bool:
    """False: every tensor is of this process."""
def is_floating_point(input: Tensor) -> _b.bool:
    """Whether the elements are real floating point numbers."""
def is_inference(input: Tensor) -> _b.bool:
    """Whether the tensor was made in inference mode."""
def is_neg(input: Tensor) -> _b.bool:
    """False: negations are never left for later here."""
def is_nonzero(input: Tensor) -> _b.bool:
    """Whether the only element is not zero."""
def is_same_size(self: Tensor, other: Tensor) -> _b.bool:
    """Whether two tensors have the same shape."""
def is_signed(input: Tensor) -> _b.bool:
    """Whether the elements can be negative."""
def is_storage(obj: Any) -> _b.bool:
    """Whether ``obj`` is a storage."""
def is_tensor(obj: Any) -> _b.bool:
    """Whether ``obj`` is a tensor."""
def isclose(input: Tensor, other: Tensor, rtol: _b.float=1e-05, atol: _b.float=1e-08, equal_nan: _b.bool=False) -> Tensor:
    """Whether elements are equal up to ``atol + rtol * abs(other)``."""
def isfinite(input: Tensor, *, out: Any=None) -> Tensor:
    """Whether elements are finite numbers."""
def isin(elements: Any, test_elements: Any, *, assume_unique: _b.bool=False, invert: _b.bool=False) -> Tensor:
    """Whether each element is among the test elements."""
def isinf(input: Tensor, *, out: Any=None) -> Tensor:
    """Whether elements are infinite."""
def isnan(input: Tensor, *, out: Any=None) -> Tensor:
    """Whether elements are not a number."""
def isneginf(input: Tensor, *, out: Any=None) -> Tensor:
    """Whether elements are negative infinity."""
def isposinf(input: Tensor, *, out: Any=None) -> Tensor:
    """Whether elements are positive infinity."""
def isreal(input: Tensor, *, out: Any=None) -> Tensor:
    """Whether elements have no imaginary part."""
def istft(input: Any, n_fft: _b.int, hop_length: _b.int | None=None, win_length: _b.int | None=None, window: Any=None, center: _b.bool=True, normalized: _b.bool=False, onesided: _b.bool | None=None, length: _b.int | None=None, return_complex: _b.bool=False) -> Tensor:
    """The signal that is nearest to one with these transforms of frames: overlaps are added, windows divided out."""
def kaiser_window(window_length: _b.int, periodic: _b.bool=True, beta: _b.float=12.0, *, dtype: Any=None, layout: Any=None, **options: Any) -> Tensor:
    """The window by the modified Bessel function of a half circle of height ``beta``."""
def kl_div(input: Any, target: Any, reduction: _b.int=1, *, log_target: _b.bool=False) -> Any:
    """The Kullback-Leibler divergence of ``target`` from the log probabilities ``input``, elementwise, reduced."""
def kron(input: Tensor, other: Tensor, *, out: Any=None) -> Tensor:
    """The Kronecker product: ``other`` in place of each element of ``input``, times that element."""
def kthvalue(input: Any, k: _b.int, dim: _b.int=-1, keepdim: _b.bool=False, *, out: Any=None) -> Any:
    """The ``k``-th smallest elements along ``dim``, and where they stand."""
def layer_norm(input: Any, normalized_shape: Any, weight: Any=None, bias: Any=None, eps: _b.float=1e-05, cudnn_enable: _b.bool=True) -> Tensor:
    """Each sample standardised over its last dimensions, scaled by ``weight`` and shifted by ``bias``."""
def lcm(input: Tensor, other: Tensor, *, out: Any=None) -> Tensor:
    """The least common multiple; zero beside a zero."""
def lcm_(input: Tensor, other: Tensor) -> Tensor: ...
def ldexp(input: Tensor, other: Tensor, *, out: Any=None) -> Tensor:
    """``self`` times two to the power ``other``."""
def ldexp_(input: Tensor, other: Tensor) -> Tensor: ...
def le(input: Tensor, other: Tensor | _b.int | _b.float | _b.complex, *, out: Any=None) -> Tensor:
    """Whether elements are at most those of ``other``."""
def lerp(input: Tensor, end: Tensor, weight: Any, *, out: Any=None) -> Tensor:
    """The point between ``input`` and ``end`` at ``weight``, a number or a tensor."""
def lerp_(input: Tensor, end: Tensor | _b.int | _b.float | _b.complex, weight: Tensor | _b.int | _b.float | _b.complex) -> Tensor: ...
def less(input: Tensor, other: Tensor | _b.int | _b.float | _b.complex, *, out: Any=None) -> Tensor:
    """Whether elements are less than those of ``other``."""
def less_equal(input: Tensor, other: Tensor | _b.int | _b.float | _b.complex, *, out: Any=None) -> Tensor:
    """Whether elements are at most those of ``other``."""
def lgamma(input: Tensor, *, out: Any=None) -> Tensor:
    """The logarithm of the absolute value of the gamma function."""
def lgamma_(input: Tensor) -> Tensor: ...
def linspace(start: Any, end: Any, steps: Any=None, *, out: Any=None, dtype: Any=None, layout: Any=None, device: Any=None, requires_grad: _b.bool=False, pin_memory: _b.bool=False) -> Tensor:
    """``steps`` numbers evenly spaced from ``start`` to ``end``, both included."""
def lobpcg(A: Any, *args: Any, **kwargs: Any) -> Any:
    """Some eigenvalues of a large sparse matrix: not here, where matrices are dense."""
def log(input: Tensor, *, out: Any=None) -> Tensor:
    """The natural logarithm."""
def log10(input: Tensor, *, out: Any=None) -> Tensor:
    """The logarithm to base 10."""
def log10_(input: Tensor) -> Tensor: ...
def log1p(input: Tensor, *, out: Any=None) -> Tensor:
    """The logarithm of one plus each element, exact near zero."""
def log1p_(input: Tensor) -> Tensor: ...
def log2(input: Tensor, *, out: Any=None) -> Tensor:
    """The logarithm to base 2."""
def log2_(input: Tensor) -> Tensor: ...
def log_(input: Tensor) -> Tensor: ...
def log_softmax(input: Any, dim: Any=..., dtype: Any=None, *, out: Any=None) -> Tensor:
    """The logarithm of ``softmax``, without its rounding."""
def logaddexp(input: Tensor, other: Tensor, *, out: Any=None) -> Tensor:
    """The logarithm of the sum of two exponentials."""
def logaddexp2(input: Tensor, other: Tensor, *, out: Any=None) -> Tensor:
    """The logarithm to base 2 of the sum of two powers of two."""
def logcumsumexp(input: Any, dim: Any=..., *, out: Any=None) -> Tensor:
    """The logarithms of the running sums of exponentials along ``dim``."""
def logdet(input: Tensor) -> Tensor:
    """The logarithms of the determinants; NaN where one is negative."""
def logical_and(input: Tensor, other: Tensor, *, out: Any=None) -> Tensor:
    """Whether both elements are nonzero."""
def logical_and_(input: Tensor, other: Tensor) -> Tensor: ...
def logical_not(input: Tensor, *, out: Any=None) -> Tensor:
    """Whether elements are zero."""
def logical_not_(input: Tensor) -> Tensor: ...
def logical_or(input: Tensor, other: Tensor, *, out: Any=None) -> Tensor:
    """Whether at least one of the elements is nonzero."""
def logical_or_(input: Tensor, other: Tensor) -> Tensor: ...
def logical_xor(input: Tensor, other: Tensor, *, out: Any=None) -> Tensor:
    """Whether just one of the elements is nonzero."""
def logical_xor_(input: Tensor, other: Tensor) -> Tensor: ...
def logit(input: Tensor, eps: Any=None, *, out: Any=None) -> Tensor:
    """The logarithm of the odds p / (1 - p), p first clamped to [eps, 1 - eps]."""
def logit_(input: Tensor, eps: Any=None) -> Tensor: ...
def logspace(start: Any, end: Any, steps: Any=None, base: _b.float=10.0, *, out: Any=None, dtype: Any=None, layout: Any=None, device: Any=None, requires_grad: _b.bool=False, pin_memory: _b.bool=False) -> Tensor:
    """``steps`` numbers from ``base ** start`` to ``base ** end``, evenly spaced in the exponent."""
def logsumexp(input: Any, dim: Any=..., keepdim: _b.bool=False, *, out: Any=None) -> Tensor:
    """The logarithms of the sums of exponentials along ``dim``; integers become floats."""
def lstm(*args: Any, **kwargs: Any) -> _b.tuple[Tensor, Tensor, Tensor]:
    """Long short-term memory over a padded or packed batch: output, last hidden states, last cell states."""
def lstm_cell(input: Any, hx: Any, w_ih: Any, w_hh: Any, b_ih: Any=None, b_hh: Any=None) -> _b.tuple[Tensor, Tensor]:
    """One step of an LSTM: the next hidden and cell state."""
def lstsq(*args: Any, **kwargs: Any) -> Any:
    """Removed from PyTorch: it raises what PyTorch raises, which names what to use instead."""
def lt(input: Tensor, other: Tensor | _b.int | _b.float | _b.complex, *, out: Any=None) -> Tensor:
    """Whether elements are less than those of ``other``."""
def lu(A: Tensor, pivot: _b.bool=True, get_infos: _b.bool=False, out: Any=None) -> Any:
    """Packed triangles and swapped rows; the older name of ``linalg.lu_factor``, which says nothing of zero pivots."""
def lu_solve(input: Tensor, LU_data: Tensor, LU_pivots: Tensor, *, out: Any=None) -> Tensor:
    """The solutions of factored equations; the older name of ``linalg.lu_solve``, with ``B`` first."""
def lu_unpack(LU_data: Tensor, LU_pivots: Tensor, unpack_data: _b.bool=True, unpack_pivots: _b.bool=True, *, out: Any=None) -> Any:
    """The permutation and the two triangles that ``linalg.lu_factor`` packed."""
def margin_ranking_loss(input1: Any, input2: Any, target: Any, margin: _b.float=0.0, reduction: _b.int=1) -> Any:
    """By how much pairs miss the order that ``target`` (1 or -1) wants."""
def masked_fill(input: Tensor, mask: Tensor, value: Any) -> Tensor:
    """The tensor with ``value`` where ``mask`` holds."""
def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """The tensor with the elements of ``source``, in order, where ``mask`` holds."""
def masked_select(input: Tensor, mask: Tensor, *, out: Any=None) -> Tensor:
    """The elements where ``mask`` holds, in a row."""
def matmul(input: Any, other: Any, *, out: Any=None) -> Tensor:
    """The matrix product: of vectors, matrices, or broadcast batches of matrices."""
def matrix_exp(input: Tensor) -> Tensor:
    """The exponentials of square matrices."""
def matrix_power(input: Tensor, n: _b.int, *, out: Any=None) -> Tensor:
    """A square matrix, or a batch of them, multiplied with itself ``n`` times; its inverse where ``n`` is negative."""
def matrix_rank(*args: Any, **kwargs: Any) -> Any:
    """Removed from PyTorch: it raises what PyTorch raises, which names what to use instead."""
def max(input: Any, dim: Any=..., keepdim: _b.bool=False, *, out: Any=None, other: Any=None) -> Any:
    """The largest element; or along ``dim`` the largest and their places; or the larger of two tensors, elementwise."""
def max_pool1d(input: Any, kernel_size: Any, stride: Any=None, padding: Any=0, dilation: Any=1, ceil_mode: _b.bool=False) -> Tensor:
    """The largest element of each window of the last dimension."""
def max_pool1d_with_indices(input: Any, kernel_size: Any, stride: Any=None, padding: Any=0, dilation: Any=1, ceil_mode: _b.bool=False) -> _b.tuple[Tensor, Tensor]:
    """The largest element of each window of the last dimension, and its place in its line."""
def max_pool2d(input: Any, kernel_size: Any, stride: Any=None, padding: Any=0, dilation: Any=1, ceil_mode: _b.bool=False) -> Tensor:
    """The largest element of each window of the last two dimensions; windows lie side by side without a ``stride``."""
def max_pool3d(input: Any, kernel_size: Any, stride: Any=None, padding: Any=0, dilation: Any=1, ceil_mode: _b.bool=False) -> Tensor:
    """The largest element of each window of the last three dimensions."""
def maximum(input: Tensor, other: Tensor, *, out: Any=None) -> Tensor:
    """The greater of two elements; NaN if one is."""
def mean(input: Any, dim: Any=..., keepdim: Any=False, *, dtype: Any=None, out: Any=None, axis: Any=..., keepdims: Any=...) -> Tensor:
    """The mean of all elements, or the means along ``dim``."""
def median(input: Any, dim: Any=..., keepdim: _b.bool=False, *, out: Any=None) -> Any:
    """The lower median of all elements, or along ``dim`` the medians and their places."""
def meshgrid(*tensors: Any, indexing: _b.str | None=None) -> _b.tuple[Tensor, ...]:
    """The coordinates of all points of the grid that vectors span, one tensor for each vector."""
def min(input: Any, dim: Any=..., keepdim: _b.bool=False, *, out: Any=None, other: Any=None) -> Any:
    """The smallest element; or along ``dim`` the smallest and their places; or the smaller of two tensors."""
def minimum(input: Tensor, other: Tensor, *, out: Any=None) -> Tensor:
    """The lesser of two elements; NaN if one is."""
def mm(input: Tensor, mat2: Tensor, *, out: Any=None) -> Tensor:
    """The product of two matrices."""
def mode(input: Any, dim: _b.int=-1, keepdim: _b.bool=False, *, out: Any=None) -> Any:
    """The most frequent elements along ``dim``, and where they stand."""
def moveaxis(input: Tensor, source: Any, destination: Any) -> Tensor:
    """The view with the dimensions ``source`` at the places ``destination``, the others in their order."""
def movedim(input: Tensor, source: Any, destination: Any) -> Tensor:
    """The view with the dimensions ``source`` at the places ``destination``, the others in their order."""
def msort(input: Tensor, *, out: Any=None) -> Tensor:
    """The elements in order along the first dimension."""
def mul(input: Tensor, other: Tensor | _b.int | _b.float | _b.complex, *, out: Any=None) -> Tensor:
    """The elementwise product, with broadcasting."""
def mul_(input: Tensor, other: Tensor | _b.int | _b.float | _b.complex) -> Tensor: ...
def multinomial(input: Tensor, num_samples: _b.int, replacement: _b.bool=False, *, generator: Any=None, out: Any=None) -> Tensor:
    """Categories drawn by the unnormalised chances in each row of ``input``, as int64."""
def multiply(input: Tensor, other: Tensor | _b.int | _b.float | _b.complex, *, out: Any=None) -> Tensor:
    """The elementwise product, with broadcasting."""
def multiply_(input: Tensor, other: Tensor | _b.int | _b.float | _b.complex) -> Tensor: ...
def mv(input: Tensor, vec: Tensor, *, out: Any=None) -> Tensor:
    """The product of a matrix and a vector."""
def mvlgamma(input: Tensor, p: Any, *, out: Any=None) -> Tensor:
    """The logarithm of the gamma function of dimension ``p``."""
def mvlgamma_(input: Tensor, p: Any) -> Tensor: ...
def nan_to_num(input: Tensor, nan: Any=None, posinf: Any=None, neginf: Any=None, *, out: Any=None) -> Tensor:
    """The elements, NaN and the infinities replaced by numbers: zero and the dtype's limits, unless given."""
def nan_to_num_(input: Tensor, nan: Any=None, posinf: Any=None, neginf: Any=None) -> Tensor: ...
def nanmean(input: Any, dim: Any=None, keepdim: _b.bool=False, *, dtype: Any=None, out: Any=None) -> Tensor:
    """The mean along ``dim`` of what is not NaN."""
def nanmedian(input: Any, dim: Any=..., keepdim: _b.bool=False, *, out: Any=None) -> Any:
    """The lower median of what is not NaN, or along ``dim`` the medians and their places."""
def nanquantile(input: Any, q: Any, dim: Any=None, keepdim: _b.bool=False, *, interpolation: _b.str='linear', out: Any=None) -> Tensor:
    """``quantile`` of what is not NaN."""
def nansum(input: Any, dim: Any=None, keepdim: _b.bool=False, *, dtype: Any=None, out: Any=None) -> Tensor:
    """The sum along ``dim`` of what is not NaN."""
def narrow(input: Tensor, dim: _b.int, start: Any, length: _b.int) -> Tensor:
    """The view of ``length`` indices of ``dim`` from ``start`` on."""
def narrow_copy(input: Tensor, dim: _b.int, start: Any, length: _b.int, *, out: Any=None) -> Tensor:
    """What ``narrow`` gives, in memory of its own."""
def native_batch_norm(input: Any, weight: Any, bias: Any, running_mean: Any, running_var: Any, training: _b.bool, momentum: _b.float, eps: _b.float) -> _b.tuple[Tensor, Tensor, Tensor]:
    """What ``batch_norm`` gives, with means and inverse deviations; these are empty unless ``training``."""
def native_channel_shuffle(input: Any, groups: _b.int) -> Tensor:
    """``channel_shuffle`` without a derivative, as PyTorch's own kernel for it."""
def native_dropout(input: Any, p: _b.float, train: _b.bool | None) -> _b.tuple[Tensor, Tensor]:
    """``input`` with elements dropped with probability ``p``, and the mask of those that stay."""
def native_group_norm(input: Any, weight: Any, bias: Any, N: _b.int, C: _b.int, HxW: _b.int, group: _b.int, eps: _b.float) -> _b.tuple[Tensor, Tensor, Tensor]:
    """What ``group_norm`` gives for N samples of C channels of HxW elements, with means and inverse deviations."""
def native_layer_norm(input: Any, normalized_shape: Any, weight: Any, bias: Any, eps: _b.float) -> _b.tuple[Tensor, Tensor, Tensor]:
    """What ``layer_norm`` gives, with the means and the inverse deviations."""
def ne(input: Tensor, other: Tensor | _b.int | _b.float | _b.complex, *, out: Any=None) -> Tensor:
    """Whether elements differ."""
def neg(input: Tensor, *, out: Any=None) -> Tensor:
    """The elements with the other sign."""
def neg_(input: Tensor) -> Tensor: ...
def negative(input: Tensor, *, out: Any=None) -> Tensor:
    """The elements with the other sign."""
def negative_(input: Tensor) -> Tensor: ...
def nextafter(input: Tensor, other: Tensor, *, out: Any=None) -> Tensor:
    """The float next to each element in the direction of ``other``."""
def nextafter_(input: Tensor, other: Tensor) -> Tensor: ...
def nonzero(input: Tensor, *, out: Any=None, as_tuple: _b.bool=False) -> Any:
    """The indices of all elements that are not zero: one in a row, or a vector for each dimension."""
def nonzero_static(input: Any, *, size: _b.int, fill_value: _b.int=-1, out: Any=None) -> Tensor:
    """The indices of elements that are not zero, one in a row: the first ``size``, or filled up with ``fill_value``."""
def norm(input: Any, p: Any='fro', dim: Any=None, keepdim: _b.bool=False, out: Any=None, dtype: Any=None) -> Tensor:
    """The ``p``-norm of all elements or along ``dim``; "fro" and "nuc" are norms of matrices."""
def norm_except_dim(v: Any, pow: _b.int=2, dim: _b.int=0) -> Any:
    """The norms of order ``pow`` over all dimensions of ``v`` but ``dim``, which are kept; with ``dim`` -1 over all."""
def normal(mean: Any=0.0, std: Any=1.0, size: Any=None, *, generator: Any=None, out: Any=None, dtype: Any=None, layout: Any=None, device: Any=None, pin_memory: _b.bool=False, requires_grad: _b.bool=False) -> Tensor:
    """Normal numbers of a mean and a deviation: numbers with a ``size``, or tensors of them."""
def not_equal(input: Tensor, other: Tensor | _b.int | _b.float | _b.complex, *, out: Any=None) -> Tensor:
    """Whether elements differ."""
def nuclear_norm(input: Any, dim: Any=None, keepdim: _b.bool=False, *, out: Any=None) -> Tensor:
    """The sums of the singular values of matrices."""
def numel(input: Tensor) -> _b.int:
    """The number of elements."""
def ones(*size: Any, out: Any=None, dtype: Any=None, layout: Any=None, device: Any=None, pin_memory: _b.bool=False, requires_grad: _b.bool=False, **rest: Any) -> Tensor:
    """A tensor of ones."""
def ones_like(input: Tensor, *, dtype: Any=None, layout: Any=None, device: Any=None, pin_memory: _b.bool=False, requires_grad: _b.bool=False, memory_format: Any=None) -> Tensor:
    """Ones of the same size, dtype and layout."""
def orgqr(input: Tensor, input2: Tensor, *, out: Any=None) -> Tensor:
    """The first columns of a product of reflections; the older name of ``linalg.householder_product``."""
def ormqr(input: Tensor, input2: Tensor, input3: Tensor, left: _b.bool=True, transpose: _b.bool=False, *, out: Any=None) -> Tensor:
    """The product of the reflections in ``input``, with factors ``input2``, times ``input3``; or what undoes it."""
def outer(input: Tensor, vec2: Tensor, *, out: Any=None) -> Tensor:
    """The product of each element of one vector with each of another."""
def pairwise_distance(x1: Any, x2: Any, p: _b.float=2.0, eps: _b.float=1e-06, keepdim: _b.bool=False) -> Tensor:
    """The ``p``-norms of the differences of corresponding vectors."""
def pca_lowrank(A: Any, q: _b.int | None=None, center: _b.bool=True, niter: _b.int=2) -> Any:
    """The ``q`` first principal components of the rows of ``A``, nearly: ``U``, ``S`` and ``V``."""
def pdist(input: Any, p: _b.float=2.0) -> Tensor:
    """The ``p``-norm distances of all pairs of rows."""
def permute(input: Tensor, *dims: Any, **named: Any) -> Tensor:
    """The view with the dimensions in another order."""
def permute_copy(input: Any, *args: Any, out: Any=None, **kwargs: Any) -> Any:
    """The dimensions in another order, in memory of its own."""
def pinverse(input: Tensor, rcond: _b.float=1e-15) -> Tensor:
    """The pseudoinverses; singular values up to ``rcond`` times the largest count as zero."""
def pixel_shuffle(input: Any, upscale_factor: _b.int) -> Tensor:
    """Channels laid out as squares of elements: (*, C r r, H, W) as (*, C, H r, W r)."""
def pixel_unshuffle(input: Any, downscale_factor: _b.int) -> Tensor:
    """Squares of elements gathered into channels: (*, C, H r, W r) as (*, C r r, H, W)."""
def poisson(input: Tensor, generator: Any=None, *, out: Any=None) -> Tensor:
    """Counts of events whose mean numbers ``self`` holds."""
def poisson_nll_loss(input: Any, target: Any, log_input: _b.bool, full: _b.bool, eps: _b.float, reduction: _b.int) -> Any:
    """Minus the log likelihood of counts under Poisson distributions."""
def polar(abs: Tensor, angle: Tensor, *, out: Any=None) -> Tensor:
    """The complex numbers of sizes and angles."""
def polygamma(n: _b.int, input: Tensor, *, out: Any=None) -> Tensor:
    """The derivative of digamma of order ``n``."""
def positive(input: Tensor) -> Tensor:
    """The tensor itself."""
def pow(input: Any, exponent: Any, *, out: Any=None) -> Tensor:
    """``input`` to the power ``exponent``; one of them may be a number."""
def pow_(input: Tensor, exponent: Tensor | _b.int | _b.float | _b.complex) -> Tensor: ...
def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """The elements, those not positive times ``weight``: one number, or one for each channel (dimension 1)."""
def prod(input: Any, dim: Any=..., keepdim: _b.bool=False, *, dtype: Any=None, out: Any=None, axis: Any=..., keepdims: Any=...) -> Tensor:
    """The product of all elements, or the products along ``dim``."""
def put(input: Tensor, index: Tensor, source: Tensor, accumulate: _b.bool=False) -> Tensor:
    """The tensor with ``source`` put, or added, where ``index`` says, counted as if in one row."""
def qr(input: Tensor, some: _b.bool=True, *, out: Any=None) -> Any:
    """Orthonormal columns and an upper triangle; the older name of ``linalg.qr``."""
def quantile(input: Any, q: Any, dim: Any=None, keepdim: _b.bool=False, *, interpolation: _b.str='linear', out: Any=None) -> Tensor:
    """The values below which fractions ``q`` of the elements lie, of all or along ``dim``."""
def rad2deg(input: Tensor, *, out: Any=None) -> Tensor:
    """Radians as degrees."""
def rad2deg_(input: Tensor) -> Tensor: ...
def rand(*size: Any, generator: Any=None, out: Any=None, dtype: Any=None, layout: Any=None, device: Any=None, pin_memory: _b.bool=False, requires_grad: _b.bool=False, **rest: Any) -> Tensor:
    """Numbers spread evenly over [0, 1)."""
def rand_like(input: Tensor, *, generator: Any=None, dtype: Any=None, layout: Any=None, device: Any=None, pin_memory: _b.bool=False, requires_grad: _b.bool=False, memory_format: Any=None) -> Tensor:
    """Numbers over [0, 1) in the size of another tensor."""
def randint(*args: Any, low: Any=None, high: Any=None, size: Any=None, generator: Any=None, out: Any=None, dtype: Any=None, layout: Any=None, device: Any=None, pin_memory: _b.bool=False, requires_grad: _b.bool=False) -> Tensor:
    """Whole numbers from ``low`` (0 unless told) to ``high - 1``, of a size; int64 unless told."""
def randint_like(input: Tensor, *args: Any, low: Any=None, high: Any=None, dtype: Any=None, layout: Any=None, device: Any=None, pin_memory: _b.bool=False, requires_grad: _b.bool=False, memory_format: Any=None, generator: Any=None) -> Tensor:
    """Whole numbers from ``low`` (0 unless told) to ``high - 1`` in the size of another tensor."""
def randn(*size: Any, generator: Any=None, out: Any=None, dtype: Any=None, layout: Any=None, device: Any=None, pin_memory: _b.bool=False, requires_grad: _b.bool=False, **rest: Any) -> Tensor:
    """Normal numbers of mean 0 and deviation 1."""
def randn_like(input: Tensor, *, generator: Any=None, dtype: Any=None, layout: Any=None, device: Any=None, pin_memory: _b.bool=False, requires_grad: _b.bool=False, memory_format: Any=None) -> Tensor:
    """Normal numbers in the size of another tensor."""
def randperm(n: Any, *, generator: Any=None, out: Any=None, dtype: Any=None, layout: Any=None, device: Any=None, pin_memory: _b.bool=False, requires_grad: _b.bool=False) -> Tensor:
    """The numbers 0 to ``n - 1`` in random order; int64 unless told."""
def range(start: Any, end: Any=None, step: Any=1, *, out: Any=None, dtype: Any=None, layout: Any=None, device: Any=None, requires_grad: _b.bool=False, pin_memory: _b.bool=False) -> Tensor:
    """The numbers from ``start`` to ``end``, both included, in steps of ``step``; deprecated for ``arange``."""
def ravel(input: Tensor) -> Tensor:
    """The view, or copy, in one dimension."""
def real(input: Tensor) -> Tensor:
    """The real part: a view of a complex tensor, a real tensor itself."""
def reciprocal(input: Tensor, *, out: Any=None) -> Tensor:
    """One over each element."""
def reciprocal_(input: Tensor) -> Tensor: ...
def relu(input: Tensor, *, out: Any=None) -> Tensor:
    """The elements, negative ones replaced by zero."""
def relu_(input: Tensor) -> Tensor: ...
def remainder(input: Any, other: Any, *, out: Any=None) -> Tensor:
    """What division leaves, with the sign of the divisor."""
def remainder_(input: Tensor, other: Tensor | _b.int | _b.float | _b.complex) -> Tensor: ...
def renorm(input: Tensor, p: Any, dim: Any, maxnorm: Any, *, out: Any=None) -> Tensor:
    """Each slice along ``dim`` whose ``p``-norm is more than ``maxnorm``, scaled down to that."""
def renorm_(input: Tensor, p: Any, dim: Any, maxnorm: Any) -> Tensor: ...
def repeat_interleave(input: Tensor, repeats: Any=None, dim: _b.int | None=None, *, output_size: _b.int | None=None) -> Tensor:
    """Each element, or slice of ``dim``, so often in a row; of one tensor alone, its indices as often as it says."""
def reshape(input: Tensor, *shape: Any, **named: Any) -> Tensor:
    """The tensor with other sizes: a view where there can be one, else a copy."""
def resize_as_(input: Any, the_template: Any, *, memory_format: Any=None) -> Tensor:
    """Give the tensor the sizes of another."""
def resolve_conj(input: Tensor) -> Tensor:
    """The same tensor, no longer said to be a conjugate."""
def resolve_neg(input: Tensor) -> Tensor:
    """The tensor itself: negations are never left for later here."""
def result_type(tensor1: Any, tensor2: Any) -> dtype:
    """The dtype of an arithmetic operation on the two."""
def rms_norm(input: Any, normalized_shape: Any, weight: Any=None, eps: _b.float | None=None) -> Any:
    """Each sample divided by the root mean square of its last dimensions, scaled by ``weight``."""
def rnn_relu(*args: Any, **kwargs: Any) -> _b.tuple[Tensor, Tensor]:
    """Recurrent ReLU units over a padded or packed batch: output, last states."""
def rnn_relu_cell(input: Any, hx: Any, w_ih: Any, w_hh: Any, b_ih: Any=None, b_hh: Any=None) -> Tensor:
    """One step of recurrent ReLU units: the next state."""
def rnn_tanh(*args: Any, **kwargs: Any) -> _b.tuple[Tensor, Tensor]:
    """Recurrent tanh units over a padded or packed batch: output, last states."""
def rnn_tanh_cell(input: Any, hx: Any, w_ih: Any, w_hh: Any, b_ih: Any=None, b_hh: Any=None) -> Tensor:
    """One step of recurrent tanh units: the next state."""
def roll(input: Tensor, shifts: Any, dims: Any=...) -> Tensor:
    """The tensor with elements moved on along ``dims``, those that fall off coming back at the other end."""
def rot90(input: Tensor, k: _b.int=1, dims: Any=...) -> Tensor:
    """The tensor turned ``k`` times by 90 degrees in the plane of two dimensions."""
def round(input: Tensor, *, decimals: _b.int | None=None, out: Any=None) -> Tensor:
    """The nearest integer, or multiple of a power of ten; halves go to the even one."""
def round_(self: Tensor, *, decimals: _b.int | None=None) -> Tensor:
    """In-place :func:`round`."""
def row_stack(tensors: Any, *, out: Any=None) -> Tensor:
    """The tensors on top of each other: along the first dimension, vectors as rows."""
def rrelu(input: Tensor, lower: _b.float=0.125, upper: _b.float=0.3333333333333333, training: _b.bool=False, inplace: _b.bool=False) -> Tensor:
    """The elements, negative ones times a random slope from [lower, upper] while training, their mean otherwise."""
def rrelu_(input: Tensor, lower: _b.float=0.125, upper: _b.float=0.3333333333333333, training: _b.bool=False) -> Tensor:
    """In-place :func:`rrelu`."""
def rsqrt(input: Tensor, *, out: Any=None) -> Tensor:
    """One over the square root."""
def rsqrt_(input: Tensor) -> Tensor: ...
def rsub(input: Tensor, other: Any, *, alpha: Any=1, out: Any=None) -> Tensor:
    """``other - alpha * input``."""
def scalar_tensor(s: Any, *, dtype: Any=None, layout: Any=None, device: Any=None, pin_memory: _b.bool=False, requires_grad: _b.bool=False) -> Tensor:
    """A 0-d tensor of a number, in the default dtype unless told."""
def scatter(input: Tensor, dim: _b.int, index: Tensor, src: Any=None, *, value: Any=None, reduce: Any=None, out: Any=None) -> Tensor:
    """The tensor with ``src``, or a number, where ``index`` points along ``dim``."""
def scatter_add(input: Tensor, dim: _b.int, index: Tensor, src: Tensor, *, out: Any=None) -> Tensor:
    """The tensor with ``src`` added where ``index`` points along ``dim``."""
def scatter_reduce(input: Tensor, dim: _b.int, index: Tensor, src: Tensor, reduce: _b.str, *, include_self: _b.bool=True, out: Any=None) -> Tensor:
    """The tensor with what ``src`` sends to each place reduced into it."""
def searchsorted(sorted_sequence: Tensor, input: Any, *, out_int32: _b.bool=False, right: _b.bool=False, side: _b.str | None=None, sorter: Tensor | None=None, out: Any=None) -> Tensor:
    """Where each value would be put into sorted rows so that they stay sorted."""
def segment_reduce(data: Any, reduce: _b.str, *, lengths: Any=None, indices: Any=None, offsets: Any=None, axis: _b.int=0, unsafe: _b.bool=False, initial: Any=None) -> Tensor:
    """The sum, mean, product, maximum or minimum of each segment of ``axis``, told by lengths or by offsets."""
def select(input: Tensor, dim: Any, index: Any, *, out: Any=None) -> Tensor:
    """The view at ``index`` of ``dim``, that dimension dropped."""
def select_copy(input: Any, *args: Any, out: Any=None, **kwargs: Any) -> Any:
    """One index of a dimension, in memory of its own."""
def select_scatter(input: Tensor, src: Tensor, dim: Any, index: Any, *, out: Any=None) -> Tensor:
    """``self`` with ``src`` at ``index`` of ``dim``."""
def selu(input: Tensor, inplace: _b.bool=False) -> Tensor:
    """The scaled exponential unit that keeps mean and variance."""
def selu_(input: Tensor) -> Tensor:
    """In-place :func:`selu`."""
def set_anomaly_enabled(enabled: _b.bool, check_nan: _b.bool=True) -> None:
    """Switch anomaly detection of the thread."""
def set_default_tensor_type(t: Any) -> None:
    """Make the dtype of an old tensor type the default; deprecated in favour of ``set_default_dtype``."""
def set_rng_state(new_state: Tensor) -> None:
    """Let the default generator continue from a state."""
def sgn(input: Tensor, *, out: Any=None) -> Tensor:
    """The sign; of a complex number, the unit number of the same direction."""
def sgn_(input: Tensor) -> Tensor: ...
def sigmoid(input: Tensor, *, out: Any=None) -> Tensor:
    """The logistic function 1 / (1 + exp(-x))."""
def sigmoid_(input: Tensor) -> Tensor: ...
def sign(input: Tensor, *, out: Any=None) -> Tensor:
    """The sign: -1, 0 or 1."""
def sign_(input: Tensor) -> Tensor: ...
def signbit(input: Tensor, *, out: Any=None) -> Tensor:
    """Whether the sign bit is set: negative numbers and -0.0."""
def sin(input: Tensor, *, out: Any=None) -> Tensor:
    """The sine."""
def sin_(input: Tensor) -> Tensor: ...
def sinc(input: Tensor, *, out: Any=None) -> Tensor:
    """sin(pi x) / (pi x), one at zero."""
def sinc_(input: Tensor) -> Tensor: ...
def sinh(input: Tensor, *, out: Any=None) -> Tensor:
    """The hyperbolic sine."""
def sinh_(input: Tensor) -> Tensor: ...
def slice_copy(input: Any, *args: Any, out: Any=None, **kwargs: Any) -> Any:
    """Part of a dimension, in memory of its own."""
def slice_inverse(input: Any, src: Any, dim: _b.int=0, start: Any=None, end: Any=None, step: _b.int=1) -> Tensor:
    """The view of ``input``'s memory that has the sizes and strides of ``src``."""
def slice_scatter(input: Tensor, src: Tensor, dim: Any=0, start: Any=None, end: Any=None, step: Any=1, *, out: Any=None) -> Tensor:
    """``self`` with ``src`` at a slice of ``dim``."""
def slogdet(input: Tensor, *, out: Any=None) -> Any:
    """The signs of the determinants and the logarithms of their sizes."""
def softmax(input: Any, dim: Any=..., dtype: Any=None, *, out: Any=None) -> Tensor:
    """Exponentials along ``dim``, scaled to sum to one."""
def solve(*args: Any, **kwargs: Any) -> Any:
    """Removed from PyTorch: it raises what PyTorch raises, which names what to use instead."""
def sort(input: Tensor, dim: Any=-1, descending: _b.bool=False, *, stable: _b.bool | None=None, out: Any=None) -> Any:
    """The elements in order along ``dim``, and where they were."""
def sparse_coo_tensor(indices: Any=None, values: Any=None, size: Any=None, *, dtype: Any=None, device: Any=None, requires_grad: _b.bool=False, check_invariants: _b.bool | None=None, is_coalesced: _b.bool | None=None, pin_memory: _b.bool=False) -> Any:
    """The tensor whose elements at ``indices`` (dimensions by count) are ``values``, and nought elsewhere."""
def sparse_csr_tensor(crow_indices: Any, col_indices: Any, values: Any, size: Any=None, *, dtype: Any=None, device: Any=None, requires_grad: _b.bool=False, check_invariants: _b.bool | None=None, pin_memory: _b.bool=False) -> Any:
    """The matrix whose row ``i`` has the values from ``crow_indices[i]`` to ``crow_indices[i + 1]``, in these columns."""
def split(tensor: Tensor, split_size_or_sections: Any=None, dim: _b.int=0, *, split_size: Any=None) -> _b.tuple[Tensor, ...]:
    """Views of pieces of ``dim``: of one size (the last may be smaller), or of the sizes listed."""
def split_copy(input: Any, *args: Any, out: Any=None, **kwargs: Any) -> Any:
    """The pieces of a dimension, in memory of its own."""
def split_with_sizes(input: Tensor, split_sizes: Any, dim: _b.int=0) -> _b.tuple[Tensor, ...]:
    """Views of pieces of ``dim`` of the sizes listed."""
def split_with_sizes_copy(input: Any, *args: Any, out: Any=None, **kwargs: Any) -> Any:
    """The pieces of a dimension of the sizes listed, in memory of its own."""
def spmm(input: Any, mat2: Any) -> Any:
    """The product of a sparse matrix and a matrix."""
def sqrt(input: Tensor, *, out: Any=None) -> Tensor:
    """The square root."""
def sqrt_(input: Tensor) -> Tensor: ...
def square(input: Tensor, *, out: Any=None) -> Tensor:
    """The second power."""
def square_(self: Tensor) -> Tensor:
    """In-place :func:`square`."""
def squeeze(input: Tensor, *dim: Any, **named: Any) -> Tensor:
    """The view without dimensions of size 1: all, or those named."""
def squeeze_copy(input: Any, *args: Any, out: Any=None, **kwargs: Any) -> Any:
    """The tensor without dimensions of size one, in memory of its own."""
def stack(tensors: Any, dim: _b.int=0, *, out: Any=None) -> Tensor:
    """The tensors, all of one shape, along a new dimension."""
def std(input: Any, dim: Any=None, unbiased: Any=..., keepdim: _b.bool=False, *, correction: Any=..., out: Any=None) -> Tensor:
    """The standard deviation: the square root of ``var``."""
def std_mean(input: Any, dim: Any=None, unbiased: Any=..., keepdim: _b.bool=False, *, correction: Any=...) -> Any:
    """The standard deviation and the mean."""
def stft(input: Any, n_fft: _b.int, hop_length: _b.int | None=None, win_length: _b.int | None=None, window: Any=None, center: _b.bool=True, pad_mode: _b.str='reflect', normalized: _b.bool=False, onesided: _b.bool | None=None, return_complex: _b.bool | None=None, align_to_window: _b.bool | None=None) -> Tensor:
    """The Fourier transforms of frames of a signal: sizes (batch, frequencies, frames)."""
def sub(input: Tensor, other: Tensor | _b.int | _b.float | _b.complex, alpha: Any=1, *, out: Any=None) -> Tensor:
    """The elementwise difference ``self - alpha * other``, with broadcasting."""
def sub_(input: Tensor, other: Tensor | _b.int | _b.float | _b.complex, alpha: Any=1) -> Tensor: ...
def subtract(input: Tensor, other: Tensor | _b.int | _b.float | _b.complex, alpha: Any=1, *, out: Any=None) -> Tensor:
    """The elementwise difference ``self - alpha * other``, with broadcasting."""
def subtract_(input: Tensor, other: Tensor | _b.int | _b.float | _b.complex, alpha: Any=1) -> Tensor: ...
def sum(input: Any, dim: Any=..., keepdim: Any=False, *, dtype: Any=None, out: Any=None, axis: Any=..., keepdims: Any=...) -> Tensor:
    """The sum of all elements, or the sums along ``dim``; integers are summed in int64."""
def svd(input: Tensor, some: _b.bool=True, compute_uv: _b.bool=True, *, out: Any=None) -> Any:
    """Orthonormal columns ``U``, falling values ``S``, orthonormal columns ``V``: ``U @ diag(S) @ V.mH = input``."""
def svd_lowrank(A: Any, q: _b.int | None=6, niter: _b.int | None=2, M: Any=None) -> Any:
    """The ``q`` largest singular values of ``A - M``, nearly, and their vectors: ``U``, ``S`` and ``V``."""
def swapaxes(input: Tensor, dim0: Any, dim1: Any, *, out: Any=None) -> Tensor:
    """The view with two dimensions exchanged."""
def swapdims(input: Tensor, dim0: Any, dim1: Any, *, out: Any=None) -> Tensor:
    """The view with two dimensions exchanged."""
def sym_constrain_range(size: Any, *, min: _b.int | None=None, max: _b.int | None=None) -> None:
    """Raise RuntimeError unless a number lies between ``min`` and ``max``."""
def sym_constrain_range_for_size(size: Any, *, min: _b.int | None=None, max: _b.int | None=None) -> None:
    """Raise RuntimeError unless a size lies between ``min`` and ``max``."""
def sym_float(a: Any) -> Any:
    """A number as a float."""
def sym_int(a: Any) -> Any:
    """The integer part of a number."""
def sym_ite(b: Any, t: Any, f: Any) -> Any:
    """``t`` or ``f``, which have one type, as the truth value ``b`` says."""
def sym_max(a: Any, b: Any) -> Any:
    """The larger of two numbers; a float if one of them is."""
def sym_min(a: Any, b: Any) -> Any:
    """The smaller of two numbers; a float if one of them is."""
def sym_not(a: Any) -> _b.bool:
    """Whether a truth value is false."""
def sym_sqrt(a: Any) -> _b.float:
    """The square root of a number."""
def sym_sum(args: Any) -> Any:
    """The sum of numbers."""
def symeig(*args: Any, **kwargs: Any) -> Any:
    """Removed from PyTorch: it raises what PyTorch raises, which names what to use instead."""
def t(input: Tensor, *, out: Any=None) -> Tensor:
    """The transposed view of a matrix; vectors and scalars as they are."""
def t_copy(input: Any, *args: Any, out: Any=None, **kwargs: Any) -> Any:
    """The transposed matrix, in memory of its own."""
def take(input: Tensor, index: Tensor, *, out: Any=None) -> Tensor:
    """The elements that ``index`` names, counted as if the tensor were one row."""
def take_along_dim(input: Tensor, indices: Tensor, dim: _b.int | None=None, *, out: Any=None) -> Tensor:
    """The elements that ``indices`` name along ``dim``, with broadcasting; negative indices count from the end."""
def tan(input: Tensor, *, out: Any=None) -> Tensor:
    """The tangent."""
def tan_(input: Tensor) -> Tensor: ...
def tanh(input: Tensor, *, out: Any=None) -> Tensor:
    """The hyperbolic tangent."""
def tanh_(input: Tensor) -> Tensor: ...
def tensor(data: Any, *, dtype: Any=None, device: Any=None, requires_grad: _b.bool=False, pin_memory: _b.bool=False) -> Tensor:
    """A tensor that holds a copy of ``data``: numbers, nested sequences, NumPy arrays or a tensor."""
def tensor_split(input: Tensor, indices_or_sections: Any=None, dim: _b.int=0, *, indices: Any=None, sections: Any=None) -> _b.tuple[Tensor, ...]:
    """Views of pieces of ``dim``: so many of nearly one size, or those between the indices listed."""
def tensordot(a: Tensor, b: Tensor, dims: Any=2, out: Any=None) -> Tensor:
    """The sum of products over several dimensions of each."""
def threshold(input: Tensor, threshold: _b.float, value: _b.float, inplace: _b.bool=False) -> Tensor:
    """The elements above ``threshold``, ``value`` for the others."""
def threshold_(input: Tensor, threshold: _b.float, value: _b.float) -> Tensor:
    """In-place :func:`threshold`."""
def tile(input: Tensor, *dims: Any, **named: Any) -> Tensor:
    """The tensor beside itself, so many times along the last dimensions."""
def to_dlpack(tensor: Tensor) -> Any:
    """A capsule of the tensor's memory."""
def topk(input: Tensor, k: _b.int, dim: _b.int=-1, largest: _b.bool=True, sorted: _b.bool=True, *, out: Any=None) -> Any:
    """The ``k`` largest (or smallest) elements along ``dim``, and where they are."""
def trace(input: Tensor, *, out: Any=None) -> Tensor:
    """The sum of a matrix's diagonal; integers add up as int64."""
def transpose(input: Tensor, dim0: Any, dim1: Any, *, out: Any=None) -> Tensor:
    """The view with two dimensions exchanged."""
def transpose_copy(input: Any, *args: Any, out: Any=None, **kwargs: Any) -> Any:
    """The tensor with two dimensions exchanged, in memory of its own."""
def trapezoid(y: Any, x: Any=None, *, dx: Any=1, dim: Any=-1) -> Tensor:
    """The area under ``y`` along ``dim`` by trapezoids, sampled at ``x`` or every ``dx``."""
def trapz(y: Any, x: Any=None, *, dx: Any=1, dim: Any=-1) -> Any:
    """The area under ``y`` along ``dim`` by trapezoids, sampled at ``x`` or every ``dx``."""
def triangular_solve(input: Tensor, A: Tensor, upper: _b.bool=True, transpose: _b.bool=False, unitriangular: _b.bool=False, *, out: Any=None) -> Any:
    """The solutions of triangular equations, and a copy of ``A``; an older form of ``linalg.solve_triangular``."""
def tril(input: Tensor, diagonal: Any=0, *, out: Any=None) -> Tensor:
    """Matrices with zeros above a diagonal."""
def tril_(input: Tensor, diagonal: Any=0) -> Tensor: ...
def tril_indices(row: _b.int, col: _b.int, offset: _b.int=0, *, dtype: Any=..., device: Any=None, layout: Any=None) -> Tensor:
    """The indices of the elements of a matrix on and below a diagonal, as two rows."""
def triplet_margin_loss(anchor: Any, positive: Any, negative: Any, margin: _b.float=1.0, p: _b.float=2, eps: _b.float=1e-06, swap: _b.bool=False, reduction: _b.int=1) -> Any:
    """How much nearer than ``margin`` the negative is to the anchor than the positive."""
def triu(input: Tensor, diagonal: Any=0, *, out: Any=None) -> Tensor:
    """Matrices with zeros below a diagonal."""
def triu_(input: Tensor, diagonal: Any=0) -> Tensor: ...
def triu_indices(row: _b.int, col: _b.int, offset: _b.int=0, *, dtype: Any=..., device: Any=None, layout: Any=None) -> Tensor:
    """The indices of the elements of a matrix on and above a diagonal, as two rows."""
def true_divide(input: Tensor, other: Tensor | _b.int | _b.float | _b.complex, *, out: Any=None) -> Tensor:
    """The elementwise quotient, with broadcasting."""
def true_divide_(input: Tensor, other: Tensor | _b.int | _b.float | _b.complex) -> Tensor: ...
def trunc(input: Tensor, *, out: Any=None) -> Tensor:
    """The integer part."""
def trunc_(input: Tensor) -> Tensor: ...
def unbind(input: Tensor, dim: Any=0, *, out: Any=None) -> _b.tuple[Tensor, ...]:
    """The views at every index of ``dim``, that dimension dropped."""
def unbind_copy(input: Any, *args: Any, out: Any=None, **kwargs: Any) -> Any:
    """All indices of a dimension, in memory of its own."""
def unflatten(input: Tensor, dim: _b.int, sizes: Any) -> Tensor:
    """The view in which one dimension is laid out as several."""
def unfold_copy(input: Any, *args: Any, out: Any=None, **kwargs: Any) -> Any:
    """All windows along a dimension, in memory of its own."""
def unique(input: Tensor, sorted: _b.bool=True, return_inverse: _b.bool=False, return_counts: _b.bool=False, dim: _b.int | None=None) -> Any:
    """The different elements, or slices of ``dim``, in order; on request where each element went, and how often."""
def unique_consecutive(input: Tensor, return_inverse: _b.bool=False, return_counts: _b.bool=False, dim: _b.int | None=None) -> Any:
    """The first of every run of equal elements, or slices of ``dim``; on request each element's run, and its length."""
def unravel_index(indices: Tensor, shape: Any) -> _b.tuple[Tensor, ...]:
    """The coordinates of flat indices in an array of ``shape``: one tensor for each dimension."""
def unsafe_chunk(input: Tensor, chunks: _b.int, dim: _b.int=0) -> _b.tuple[Tensor, ...]:
    """What ``chunk`` gives, for whoever promises not to write into the pieces."""
def unsafe_split(input: Tensor, split_size: _b.int, dim: _b.int=0) -> _b.tuple[Tensor, ...]:
    """What ``split`` gives, for whoever promises not to write into the pieces: not tracked as views."""
def unsafe_split_with_sizes(input: Any, split_sizes: Any, dim: _b.int=0) -> Any:
    """What ``split_with_sizes`` gives, for whoever promises not to write into the pieces: not tracked as views."""
def unsqueeze(input: Tensor, dim: Any, *, out: Any=None) -> Tensor:
    """The view with a dimension of size 1 put in at ``dim``."""
def unsqueeze_copy(input: Any, *args: Any, out: Any=None, **kwargs: Any) -> Any:
    """The tensor with one more dimension, in memory of its own."""
def vander(x: Tensor, N: _b.int | None=None, increasing: _b.bool=False) -> Tensor:
    """The powers of the elements of a vector, falling from ``N - 1`` to zero, or rising, as columns."""
def var(input: Any, dim: Any=None, unbiased: Any=..., keepdim: _b.bool=False, *, correction: Any=..., out: Any=None) -> Tensor:
    """The variance: squared deviations from the mean, summed and divided by ``n - correction``."""
def var_mean(input: Any, dim: Any=None, unbiased: Any=..., keepdim: _b.bool=False, *, correction: Any=...) -> Any:
    """The variance and the mean."""
def vdot(input: Tensor, other: Tensor, *, out: Any=None) -> Tensor:
    """The sum of the products of two vectors' elements, the first conjugated."""
def view_as_complex(input: Tensor) -> Tensor:
    """The view of pairs along the last dimension as complex numbers."""
def view_as_complex_copy(input: Any, *args: Any, out: Any=None, **kwargs: Any) -> Any:
    """Pairs of real numbers as complex ones, in memory of its own."""
def view_as_real(input: Tensor) -> Tensor:
    """The view of complex numbers as pairs along a new last dimension."""
def view_as_real_copy(input: Any, *args: Any, out: Any=None, **kwargs: Any) -> Any:
    """Complex numbers as pairs of real ones, in memory of its own."""
def view_copy(input: Any, *args: Any, out: Any=None, **kwargs: Any) -> Any:
    """The same elements under other sizes, or as another dtype, in memory of its own."""
def vsplit(input: Tensor, indices_or_sections: Any) -> _b.tuple[Tensor, ...]:
    """Views of pieces on top of each other."""
def vstack(tensors: Any, *, out: Any=None) -> Tensor:
    """The tensors on top of each other: along the first dimension, vectors as rows."""
def where(condition: Tensor, input: Any=None, other: Any=None, *, out: Any=None) -> Any:
    """``input`` where ``condition`` holds, ``other`` elsewhere; with one argument, where it is nonzero."""
def xlogy(input: Any, other: Any, *, out: Any=None) -> Tensor:
    """``input * log(other)``, zero where ``input`` is zero; one of them may be a number."""
def xlogy_(input: Tensor, other: Tensor) -> Tensor: ...
def zero_(self: Tensor) -> Tensor:
    """Fill the tensor with zeros."""
def zeros(*size: Any, out: Any=None, dtype: Any=None, layout: Any=None, device: Any=None, pin_memory: _b.bool=False, requires_grad: _b.bool=False, **rest: Any) -> Tensor:
    """A tensor of zeros."""
def zeros_like(input: Tensor, *, dtype: Any=None, layout: Any=None, device: Any=None, pin_memory: _b.bool=False, requires_grad: _b.bool=False, memory_format: Any=None) -> Tensor:
    """Zeros of the same size, dtype and layout."""
