"""Written by ``python -m glassgrad.ops.stub``: do not edit."""

# ruff: noqa
import builtins as _b
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any
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
from .ground.dtypes import strided as strided
from .ground.dtypes import uint8 as uint8
from .ground.dtypes import uint16 as uint16
from .ground.dtypes import uint32 as uint32
from .ground.dtypes import uint64 as uint64
from .ground.generator import Generator as Generator
from .ground.generator import default_generator as default_generator
from .ground.generator import initial_seed as initial_seed
from .ground.generator import manual_seed as manual_seed
from .ground.generator import seed as seed
from .ground.size import Size as Size
from .ops import catalogue as _catalogue
from .tensor.format import get_printoptions as get_printoptions
from .tensor.format import set_printoptions as set_printoptions
from .tensor.tensor import Tensor as Tensor

__version__: str
bool: dtype
int: dtype
float: dtype
from . import autograd as autograd
from . import explore as explore
from . import linalg as linalg
from . import nn as nn
from . import optim as optim
from . import random as random
from . import testing as testing
from . import utils as utils

def __getattr__(name: str) -> Any: ...
def __dir__() -> list[str]: ...
BFloat16Tensor: Any
BoolTensor: Any
ByteTensor: Any
CharTensor: Any
ComplexDoubleTensor: Any
ComplexFloatTensor: Any
DoubleTensor: Any
FloatTensor: Any
HalfTensor: Any
IntTensor: Any
LongTensor: Any
ShortTensor: Any
TypedStorage: Any
UntypedStorage: Any
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
def baddbmm(input: Tensor, batch1: Tensor, batch2: Tensor, beta: Any=1, alpha: Any=1, *, out: Any=None) -> Tensor:
    """``beta * self + alpha * (batch1 @ batch2)``; ``self`` broadcasts to the product."""
def baddbmm_(input: Tensor, batch1: Tensor, batch2: Tensor, beta: Any=1, alpha: Any=1) -> Tensor: ...
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
def copysign(input: Tensor, other: Any, *, out: Any=None) -> Tensor:
    """The sizes of ``input`` with the signs of ``other``, a tensor or a number."""
def copysign_(input: Tensor, other: Tensor) -> Tensor: ...
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
def cross(input: Tensor, other: Tensor, dim: _b.int | None=None, *, out: Any=None) -> Tensor:
    """The vectors perpendicular to those of both inputs, along ``dim`` or the first dimension of size 3."""
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
def diag(input: Tensor, diagonal: _b.int=0, *, out: Any=None) -> Tensor:
    """The diagonal of a matrix, or the matrix with a vector on its diagonal."""
def diag_embed(input: Tensor, offset: Any=0, dim1: Any=-2, dim2: Any=-1, *, out: Any=None) -> Tensor:
    """Matrices in the dimensions ``dim1`` and ``dim2`` that hold the last dimension on a diagonal."""
def diagflat(input: Tensor, offset: _b.int=0) -> Tensor:
    """The matrix with all elements on its diagonal."""
def diagonal(input: Tensor, offset: Any=0, dim1: Any=0, dim2: Any=1, *, out: Any=None) -> Tensor:
    """The view of the diagonal of two dimensions, as the last dimension."""
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
def dsplit(input: Tensor, indices_or_sections: Any) -> _b.tuple[Tensor, ...]:
    """Views of pieces behind each other."""
def dstack(tensors: Any, *, out: Any=None) -> Tensor:
    """The tensors behind each other: along the third dimension."""
def einsum(*args: Any) -> Tensor:
    """The sum of products that an equation such as ``"ij,jk->ik"`` describes, or lists of subscripts after operands."""
def embedding(weight: Any, indices: Any, padding_idx: _b.int=-1, scale_grad_by_freq: _b.bool=False, sparse: _b.bool=False) -> Tensor:
    """The rows of ``weight`` that ``indices`` names."""
def embedding_renorm_(self: Any, indices: Any, max_norm: _b.float, norm_type: _b.float) -> Any:
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
def from_dlpack(ext_tensor: Any, *, device: Any=None, copy: _b.bool | None=None) -> Tensor:
    """A tensor on the memory of an object that exports DLPack, or of a capsule."""
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
def ge(input: Tensor, other: Tensor | _b.int | _b.float | _b.complex, *, out: Any=None) -> Tensor:
    """Whether elements are at least those of ``other``."""
def ger(input: Tensor, vec2: Tensor, *, out: Any=None) -> Tensor:
    """The product of each element of one vector with each of another."""
def get_rng_state() -> Tensor:
    """The state of the default generator, as a tensor of bytes."""
def greater(input: Tensor, other: Tensor | _b.int | _b.float | _b.complex, *, out: Any=None) -> Tensor:
    """Whether elements are greater than those of ``other``."""
def greater_equal(input: Tensor, other: Tensor | _b.int | _b.float | _b.complex, *, out: Any=None) -> Tensor:
    """Whether elements are at least those of ``other``."""
def group_norm(input: Any, num_groups: _b.int, weight: Any=None, bias: Any=None, eps: _b.float=1e-05, cudnn_enabled: _b.bool=True) -> Any:
    """Each group of channels of each sample standardised, each channel scaled and shifted."""
def gt(input: Tensor, other: Tensor | _b.int | _b.float | _b.complex, *, out: Any=None) -> Tensor:
    """Whether elements are greater than those of ``other``."""
def hardshrink(input: Tensor, lambd: _b.float=0.5) -> Tensor:
    """The elements, those within ``lambd`` of zero replaced by zero."""
def heaviside(input: Tensor, values: Tensor, *, out: Any=None) -> Tensor:
    """The step: zero below zero, one above, ``values`` at zero; not differentiable."""
def heaviside_(input: Tensor, values: Tensor) -> Tensor: ...
def hinge_embedding_loss(input: Any, target: Any, margin: _b.float=1.0, reduction: _b.int=1) -> Any:
    """``input`` where ``target`` is 1; what it lacks of ``margin`` where it is -1."""
def histc(input: Tensor, bins: Any=100, min: Any=0, max: Any=0, *, out: Any=None) -> Tensor:
    """How many elements fall into each of ``bins`` equal parts of the range from ``min`` to ``max``."""
def hsplit(input: Tensor, indices_or_sections: Any) -> _b.tuple[Tensor, ...]:
    """Views of pieces side by side."""
def hstack(tensors: Any, *, out: Any=None) -> Tensor:
    """The tensors side by side: along the second dimension, vectors along the first."""
def hypot(input: Tensor, other: Tensor, *, out: Any=None) -> Tensor:
    """The length of the hypotenuse over two sides."""
def hypot_(input: Tensor, other: Tensor) -> Tensor: ...
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
def is_floating_point(input: Tensor) -> _b.bool:
    """Whether the elements are real floating point numbers."""
def is_inference(input: Tensor) -> _b.bool:
    """Whether the tensor was made in inference mode."""
def is_neg(input: Tensor) -> _b.bool:
    """False: negations are never left for later here."""
def is_nonzero(input: Tensor) -> _b.bool:
    """Whether the only element is not zero."""
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
def kl_div(input: Any, target: Any, reduction: _b.int=1, *, log_target: _b.bool=False) -> Any:
    """The Kullback-Leibler divergence of ``target`` from the log probabilities ``input``, elementwise, reduced."""
def kron(input: Tensor, other: Tensor, *, out: Any=None) -> Tensor:
    """The Kronecker product: ``other`` in place of each element of ``input``, times that element."""
def kthvalue(input: Any, k: _b.int, dim: _b.int=-1, keepdim: _b.bool=False, *, out: Any=None) -> Any:
    """The ``k``-th smallest elements along ``dim``, and where they stand."""
def layer_norm(input: Any, normalized_shape: Any, weight: Any=None, bias: Any=None, eps: _b.float=1e-05, cudnn_enable: _b.bool=True) -> Tensor:
    """Each sample standardised over its last dimensions, scaled by ``weight`` and shifted by ``bias``."""
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
def lt(input: Tensor, other: Tensor | _b.int | _b.float | _b.complex, *, out: Any=None) -> Tensor:
    """Whether elements are less than those of ``other``."""
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
def matrix_power(input: Tensor, n: _b.int, *, out: Any=None) -> Tensor:
    """A square matrix, or a batch of them, multiplied with itself ``n`` times; its inverse where ``n`` is negative."""
def max(input: Any, dim: Any=..., keepdim: _b.bool=False, *, out: Any=None, other: Any=None) -> Any:
    """The largest element; or along ``dim`` the largest and their places; or the larger of two tensors, elementwise."""
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
def ne(input: Tensor, other: Tensor | _b.int | _b.float | _b.complex, *, out: Any=None) -> Tensor:
    """Whether elements differ."""
def neg(input: Tensor, *, out: Any=None) -> Tensor:
    """The elements with the other sign."""
def neg_(input: Tensor) -> Tensor: ...
def negative(input: Tensor, *, out: Any=None) -> Tensor:
    """The elements with the other sign."""
def negative_(input: Tensor) -> Tensor: ...
def nonzero(input: Tensor, *, out: Any=None, as_tuple: _b.bool=False) -> Any:
    """The indices of all elements that are not zero: one in a row, or a vector for each dimension."""
def norm(input: Any, p: Any='fro', dim: Any=None, keepdim: _b.bool=False, out: Any=None, dtype: Any=None) -> Tensor:
    """The ``p``-norm of all elements or along ``dim``; "fro" and "nuc" are norms of matrices."""
def normal(mean: Any=0.0, std: Any=1.0, size: Any=None, *, generator: Any=None, out: Any=None, dtype: Any=None, layout: Any=None, device: Any=None, pin_memory: _b.bool=False, requires_grad: _b.bool=False) -> Tensor:
    """Normal numbers of a mean and a deviation: numbers with a ``size``, or tensors of them."""
def not_equal(input: Tensor, other: Tensor | _b.int | _b.float | _b.complex, *, out: Any=None) -> Tensor:
    """Whether elements differ."""
def numel(input: Tensor) -> _b.int:
    """The number of elements."""
def ones(*size: Any, out: Any=None, dtype: Any=None, layout: Any=None, device: Any=None, pin_memory: _b.bool=False, requires_grad: _b.bool=False, **rest: Any) -> Tensor:
    """A tensor of ones."""
def ones_like(input: Tensor, *, dtype: Any=None, layout: Any=None, device: Any=None, pin_memory: _b.bool=False, requires_grad: _b.bool=False, memory_format: Any=None) -> Tensor:
    """Ones of the same size, dtype and layout."""
def outer(input: Tensor, vec2: Tensor, *, out: Any=None) -> Tensor:
    """The product of each element of one vector with each of another."""
def pairwise_distance(x1: Any, x2: Any, p: _b.float=2.0, eps: _b.float=1e-06, keepdim: _b.bool=False) -> Tensor:
    """The ``p``-norms of the differences of corresponding vectors."""
def pdist(input: Any, p: _b.float=2.0) -> Tensor:
    """The ``p``-norm distances of all pairs of rows."""
def permute(input: Tensor, *dims: Any, **named: Any) -> Tensor:
    """The view with the dimensions in another order."""
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
def repeat_interleave(input: Tensor, repeats: Any=None, dim: _b.int | None=None, *, output_size: _b.int | None=None) -> Tensor:
    """Each element, or slice of ``dim``, so often in a row; of one tensor alone, its indices as often as it says."""
def reshape(input: Tensor, *shape: Any, **named: Any) -> Tensor:
    """The tensor with other sizes: a view where there can be one, else a copy."""
def resolve_conj(input: Tensor) -> Tensor:
    """The same tensor, no longer said to be a conjugate."""
def resolve_neg(input: Tensor) -> Tensor:
    """The tensor itself: negations are never left for later here."""
def result_type(tensor1: Any, tensor2: Any) -> dtype:
    """The dtype of an arithmetic operation on the two."""
def rms_norm(input: Any, normalized_shape: Any, weight: Any=None, eps: _b.float | None=None) -> Any:
    """Each sample divided by the root mean square of its last dimensions, scaled by ``weight``."""
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
def select(input: Tensor, dim: Any, index: Any, *, out: Any=None) -> Tensor:
    """The view at ``index`` of ``dim``, that dimension dropped."""
def select_scatter(input: Tensor, src: Tensor, dim: Any, index: Any, *, out: Any=None) -> Tensor:
    """``self`` with ``src`` at ``index`` of ``dim``."""
def selu(input: Tensor, inplace: _b.bool=False) -> Tensor:
    """The scaled exponential unit that keeps mean and variance."""
def selu_(input: Tensor) -> Tensor:
    """In-place :func:`selu`."""
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
def slice_scatter(input: Tensor, src: Tensor, dim: Any=0, start: Any=None, end: Any=None, step: Any=1, *, out: Any=None) -> Tensor:
    """``self`` with ``src`` at a slice of ``dim``."""
def softmax(input: Any, dim: Any=..., dtype: Any=None, *, out: Any=None) -> Tensor:
    """Exponentials along ``dim``, scaled to sum to one."""
def sort(input: Tensor, dim: Any=-1, descending: _b.bool=False, *, stable: _b.bool | None=None, out: Any=None) -> Any:
    """The elements in order along ``dim``, and where they were."""
def split(tensor: Tensor, split_size_or_sections: Any=None, dim: _b.int=0, *, split_size: Any=None) -> _b.tuple[Tensor, ...]:
    """Views of pieces of ``dim``: of one size (the last may be smaller), or of the sizes listed."""
def split_with_sizes(input: Tensor, split_sizes: Any, dim: _b.int=0) -> _b.tuple[Tensor, ...]:
    """Views of pieces of ``dim`` of the sizes listed."""
def sqrt(input: Tensor, *, out: Any=None) -> Tensor:
    """The square root."""
def sqrt_(input: Tensor) -> Tensor: ...
def square(input: Tensor, *, out: Any=None) -> Tensor:
    """The second power."""
def square_(self: Tensor) -> Tensor:
    """In-place :func:`square`."""
def squeeze(input: Tensor, *dim: Any, **named: Any) -> Tensor:
    """The view without dimensions of size 1: all, or those named."""
def stack(tensors: Any, dim: _b.int=0, *, out: Any=None) -> Tensor:
    """The tensors, all of one shape, along a new dimension."""
def std(input: Any, dim: Any=None, unbiased: Any=..., keepdim: _b.bool=False, *, correction: Any=..., out: Any=None) -> Tensor:
    """The standard deviation: the square root of ``var``."""
def std_mean(input: Any, dim: Any=None, unbiased: Any=..., keepdim: _b.bool=False, *, correction: Any=...) -> Any:
    """The standard deviation and the mean."""
def sub(input: Tensor, other: Tensor | _b.int | _b.float | _b.complex, alpha: Any=1, *, out: Any=None) -> Tensor:
    """The elementwise difference ``self - alpha * other``, with broadcasting."""
def sub_(input: Tensor, other: Tensor | _b.int | _b.float | _b.complex, alpha: Any=1) -> Tensor: ...
def subtract(input: Tensor, other: Tensor | _b.int | _b.float | _b.complex, alpha: Any=1, *, out: Any=None) -> Tensor:
    """The elementwise difference ``self - alpha * other``, with broadcasting."""
def subtract_(input: Tensor, other: Tensor | _b.int | _b.float | _b.complex, alpha: Any=1) -> Tensor: ...
def sum(input: Any, dim: Any=..., keepdim: Any=False, *, dtype: Any=None, out: Any=None, axis: Any=..., keepdims: Any=...) -> Tensor:
    """The sum of all elements, or the sums along ``dim``; integers are summed in int64."""
def swapaxes(input: Tensor, dim0: Any, dim1: Any, *, out: Any=None) -> Tensor:
    """The view with two dimensions exchanged."""
def swapdims(input: Tensor, dim0: Any, dim1: Any, *, out: Any=None) -> Tensor:
    """The view with two dimensions exchanged."""
def t(input: Tensor, *, out: Any=None) -> Tensor:
    """The transposed view of a matrix; vectors and scalars as they are."""
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
def trapezoid(y: Any, x: Any=None, *, dx: Any=1, dim: Any=-1) -> Tensor:
    """The area under ``y`` along ``dim`` by trapezoids, sampled at ``x`` or every ``dx``."""
def trapz(y: Any, x: Any=None, *, dx: Any=1, dim: Any=-1) -> Any:
    """The area under ``y`` along ``dim`` by trapezoids, sampled at ``x`` or every ``dx``."""
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
def unflatten(input: Tensor, dim: _b.int, sizes: Any) -> Tensor:
    """The view in which one dimension is laid out as several."""
def unique(input: Tensor, sorted: _b.bool=True, return_inverse: _b.bool=False, return_counts: _b.bool=False, dim: _b.int | None=None) -> Any:
    """The different elements, or slices of ``dim``, in order; on request where each element went, and how often."""
def unique_consecutive(input: Tensor, return_inverse: _b.bool=False, return_counts: _b.bool=False, dim: _b.int | None=None) -> Any:
    """The first of every run of equal elements, or slices of ``dim``; on request each element's run, and its length."""
def unsafe_chunk(input: Tensor, chunks: _b.int, dim: _b.int=0) -> _b.tuple[Tensor, ...]:
    """What ``chunk`` gives, for whoever promises not to write into the pieces."""
def unsafe_split(input: Tensor, split_size: _b.int, dim: _b.int=0) -> _b.tuple[Tensor, ...]:
    """What ``split`` gives, for whoever promises not to write into the pieces: not tracked as views."""
def unsqueeze(input: Tensor, dim: Any, *, out: Any=None) -> Tensor:
    """The view with a dimension of size 1 put in at ``dim``."""
def var(input: Any, dim: Any=None, unbiased: Any=..., keepdim: _b.bool=False, *, correction: Any=..., out: Any=None) -> Tensor:
    """The variance: squared deviations from the mean, summed and divided by ``n - correction``."""
def var_mean(input: Any, dim: Any=None, unbiased: Any=..., keepdim: _b.bool=False, *, correction: Any=...) -> Any:
    """The variance and the mean."""
def vdot(input: Tensor, other: Tensor, *, out: Any=None) -> Tensor:
    """The sum of the products of two vectors' elements, the first conjugated."""
def view_as_complex(input: Tensor) -> Tensor:
    """The view of pairs along the last dimension as complex numbers."""
def view_as_real(input: Tensor) -> Tensor:
    """The view of complex numbers as pairs along a new last dimension."""
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
