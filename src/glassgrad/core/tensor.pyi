"""Written by ``python -m glassgrad.ops.stub``: do not edit."""

# ruff: noqa
import builtins as _b
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Callable
from typing import Any
import numpy as np
from ..ground import dtypes, errors
from ..ground import format as formatting
from ..ground.counter import VersionCounter
from ..ground.device import device
from ..ground.listening import audible
from ..ground.size import Size, unchecked
from . import hooks, leaf
from .node import Node, node_of, pair_of
from .record import OUTPUT, Record, about
from ..ground.device import device as _device
new: Any

class _Leaf:
    def __repr__(self) -> str: ...
LEAF: Any

class View:
    base: Tensor
    edge: Any
    seen: int
    made: str | None
reread: Callable[[Tensor, View], Any]
carried_by: dict[type, type[Tensor]]
construct: Callable[..., Any]
def edge_of(tensor: Tensor) -> Any:
    """The edge that gradients of ``tensor`` take: None, a record, or the leaf itself."""
def share(tensor: Tensor) -> VersionCounter:
    """The version of a tensor's buffer; from now on its data is an array that aliases can see."""
def wrap(array: Any) -> Tensor:
    """A tensor of ``array``, without history."""
def alias(tensor: Tensor) -> Tensor:
    """A tensor on the same memory and version, without history: what ``detach`` gives."""

class Tensor:
    __array_priority__: Any
    _array: Any
    _edge: Any
    _counter: VersionCounter | None
    _gathered: Any
    _grad: Any
    _about: Any
    _inference: Any
    def __new__(cls, *args: Any, **kwargs: Any) -> Any: ...
    @property
    def shape(self) -> Size:
        """The sizes of all dimensions."""
    @property
    def dtype(self) -> dtypes.dtype:
        """The type of the elements."""
    @property
    def device(self) -> _device:
        """Where the data lives: ``cpu``, or ``meta`` for shapes only."""
    @property
    def ndim(self) -> _b.int:
        """The number of dimensions."""
    @property
    def itemsize(self) -> _b.int:
        """The size of one element in bytes."""
    @property
    def nbytes(self) -> _b.int:
        """The size of all elements in bytes."""
    @property
    def layout(self) -> Any:
        """How elements are stored: always ``strided``."""
    @property
    def requires_grad(self) -> _b.bool:
        """Whether operations on this tensor are recorded."""
    @requires_grad.setter
    def requires_grad(self, value: _b.bool) -> None: ...
    @property
    def is_leaf(self) -> _b.bool:
        """Whether the user made this tensor, rather than a recorded operation."""
    @property
    def grad_fn(self) -> Node | None:
        """The node that made this tensor; None for a leaf."""
    @property
    def output_nr(self) -> _b.int:
        """Which output of its ``grad_fn`` this tensor is."""
    @property
    def grad(self) -> Tensor | None:
        """The gradient accumulated so far; None until a backward call reaches this leaf."""
    @grad.setter
    @audible
    def grad(self, value: Tensor | None) -> None: ...
    @grad.deleter
    def grad(self) -> None: ...
    @property
    def retains_grad(self) -> _b.bool:
        """Whether this tensor is not a leaf and keeps its gradient."""
    @property
    def _version(self) -> _b.int: ...
    @property
    def _base(self) -> Tensor | None: ...
    @property
    def _backward_hooks(self) -> _b.dict[_b.int, Any] | None: ...
    def _is_view(self) -> _b.bool: ...
    @property
    @audible
    def data(self) -> Tensor:
        """The same memory without history, and with a version of its own: writes through it go unnoticed."""
    @data.setter
    @audible
    def data(self, value: Tensor) -> None: ...
    def retain_grad(self) -> None:
        """Keep the gradient of this non-leaf in ``.grad``."""
    def register_hook(self, hook: Callable[[Tensor], Tensor | None]) -> hooks.RemovableHandle:
        """Call ``hook(grad)`` whenever a gradient of this tensor is computed; what it returns replaces it."""
    def register_post_accumulate_grad_hook(self, hook: Callable[[Tensor], None]) -> hooks.RemovableHandle:
        """Call ``hook(tensor)`` after a gradient was added into this leaf's ``.grad``."""
    def requires_grad_(self, requires_grad: _b.bool=True) -> Tensor:
        """Set ``requires_grad`` in place."""
    def __repr__(self, *args: Any, **kwargs: Any) -> _b.str: ...
    def __setstate__(self, state: Any) -> None: ...
    def __dir__(self) -> _b.list[_b.str]: ...
    @property
    def H(self) -> Tensor: ...
    @property
    def T(self) -> Tensor: ...
    def __abs__(self) -> Tensor:
        """``abs(input)``."""
    def __add__(self, other: Tensor | _b.int | _b.float | _b.complex) -> Tensor: ...
    def __and__(self, other: Tensor | _b.int | _b.float | _b.complex) -> Tensor: ...
    def __array__(self, dtype: Any=None, copy: _b.bool | None=None) -> Any:
        """What ``np.asarray(tensor)`` gives: the same memory, unless another dtype or a copy is asked for."""
    def __array_wrap__(self, array: Any, context: Any=None, return_scalar: _b.bool=False) -> Tensor:
        """What a NumPy function gives for tensors: a tensor; truth values as bytes, as in PyTorch."""
    def __bool__(self) -> _b.bool:
        """Whether the only element is not zero."""
    def __complex__(self) -> _b.complex:
        """The only element as a complex number."""
    def __contains__(self, element: Any) -> _b.bool:
        """Whether some element equals ``element``."""
    def __deepcopy__(self, memo: _b.dict[_b.int, Any]) -> Tensor:
        """A copy of a leaf, its memory, gradient and attributes; memory that several tensors share is copied once."""
    def __delitem__(self, key: Any) -> None:
        """Refused: a tensor keeps its size."""
    def __dlpack__(self, *, stream: Any=None, max_version: Any=None, dl_device: Any=None, copy: _b.bool | None=None) -> Any:
        """A capsule of the tensor's memory for any library that reads DLPack. Source: https://dmlc.github.io/dlpack"""
    def __dlpack_device__(self) -> _b.tuple[_b.int, _b.int]:
        """The number of the device type, 1 for main memory, and of the device."""
    def __eq__(self, other: Tensor | _b.int | _b.float | _b.complex) -> Tensor: ...  # type: ignore[override]
    def __float__(self) -> _b.float:
        """The only element as a float."""
    def __floordiv__(self, other: Any) -> Tensor:
        """The quotient rounded down; not differentiable."""
    def __format__(self, format_spec: _b.str) -> _b.str:
        """The number of a 0-d tensor as the format says; any other tensor as it prints."""
    def __ge__(self, other: Tensor | _b.int | _b.float | _b.complex) -> Tensor: ...
    def __getitem__(self, key: Any) -> Tensor:
        """The part of a tensor that ``key`` names: a view, or a copy where index tensors choose."""
    def __gt__(self, other: Tensor | _b.int | _b.float | _b.complex) -> Tensor: ...
    def __iadd__(self, other: Tensor | _b.int | _b.float | _b.complex) -> Tensor: ...
    def __iand__(self, other: Tensor | _b.int | _b.float | _b.complex) -> Tensor: ...
    def __ifloordiv__(self, other: Any) -> Tensor:
        """In-place :func:`floor_divide`."""
    def __ilshift__(self, other: Tensor | _b.int | _b.float | _b.complex) -> Tensor: ...
    def __imod__(self, other: Any) -> Tensor:
        """In-place :func:`remainder`."""
    def __imul__(self, other: Tensor | _b.int | _b.float | _b.complex) -> Tensor: ...
    def __index__(self) -> _b.int:
        """The only element of an integer tensor, where Python wants an index."""
    def __ineg__(self, other: Any) -> Any: ...
    def __int__(self) -> _b.int:
        """The only element as an int, cut off."""
    def __invert__(self) -> Tensor:
        """``~input``."""
    def __ior__(self, other: Tensor | _b.int | _b.float | _b.complex) -> Tensor: ...
    def __ipow__(self, other: Any) -> Tensor:
        """In-place :func:`pow`."""
    def __irshift__(self, other: Tensor | _b.int | _b.float | _b.complex) -> Tensor: ...
    def __isub__(self, other: Tensor | _b.int | _b.float | _b.complex) -> Tensor: ...
    def __iter__(self) -> Iterator[Tensor]:
        """The views at every index of the first dimension, in turn."""
    def __itruediv__(self, other: Tensor | _b.int | _b.float | _b.complex) -> Tensor: ...
    def __ixor__(self, other: Tensor | _b.int | _b.float | _b.complex) -> Tensor: ...
    def __le__(self, other: Tensor | _b.int | _b.float | _b.complex) -> Tensor: ...
    def __len__(self) -> _b.int:
        """The size of the first dimension."""
    def __lshift__(self, other: Tensor | _b.int | _b.float | _b.complex) -> Tensor: ...
    def __lt__(self, other: Tensor | _b.int | _b.float | _b.complex) -> Tensor: ...
    def __matmul__(self, other: Any) -> Tensor:
        """``self @ other``; where that is no tensor, Python asks the other operand."""
    def __mod__(self, other: Any) -> Tensor:
        """What division leaves, with the sign of the divisor."""
    def __mul__(self, other: Tensor | _b.int | _b.float | _b.complex) -> Tensor: ...
    def __ne__(self, other: Tensor | _b.int | _b.float | _b.complex) -> Tensor: ...  # type: ignore[override]
    def __neg__(self) -> Tensor: ...
    def __or__(self, other: Tensor | _b.int | _b.float | _b.complex) -> Tensor: ...
    def __pos__(self) -> Tensor:
        """``+input``: the tensor itself."""
    def __pow__(self, exponent: Any) -> Tensor:
        """``input ** exponent``."""
    def __radd__(self, other: Tensor | _b.int | _b.float | _b.complex) -> Tensor: ...
    def __rand__(self, other: Tensor | _b.int | _b.float | _b.complex) -> Tensor: ...
    def __rdiv__(self, other: Any) -> Any:
        """``other / input``, as PyTorch computes it: times the reciprocal."""
    def __reduce_ex__(self, protocol: Any) -> _b.tuple[Any, ...]:
        """What pickles and ``copy.copy`` keep: data, strides, ``requires_grad``, attributes; no history."""
    def __reversed__(self) -> Tensor:
        """The tensor mirrored along its first dimension."""
    def __rfloordiv__(self, other: Any) -> Tensor:
        """The quotient rounded down; not differentiable."""
    def __rlshift__(self, other: Any) -> Tensor:
        """The bits moved up by ``other`` places; zero where that is negative or as wide as the dtype."""
    def __rmatmul__(self, other: Any) -> Tensor:
        """``other @ self``: for tensors only."""
    def __rmod__(self, other: Any) -> Tensor:
        """What division leaves, with the sign of the divisor."""
    def __rmul__(self, other: Tensor | _b.int | _b.float | _b.complex) -> Tensor: ...
    def __ror__(self, other: Tensor | _b.int | _b.float | _b.complex) -> Tensor: ...
    def __rpow__(self, other: Any) -> Tensor:
        """``input`` to the power ``exponent``; one of them may be a number."""
    def __rrshift__(self, other: Any) -> Tensor:
        """The bits moved down by ``other`` places; only the sign is left where that is negative or too wide."""
    def __rshift__(self, other: Tensor | _b.int | _b.float | _b.complex) -> Tensor: ...
    def __rsub__(self, other: Any) -> Tensor:
        """``other - input``."""
    def __rtruediv__(self, other: Any) -> Tensor:
        """``other / input``, as PyTorch computes it: times the reciprocal."""
    def __rxor__(self, other: Tensor | _b.int | _b.float | _b.complex) -> Tensor: ...
    def __setitem__(self, key: Any, value: Any) -> None:
        """Write ``value`` into the part of a tensor that ``key`` names."""
    def __sub__(self, other: Tensor | _b.int | _b.float | _b.complex) -> Tensor: ...
    def __truediv__(self, other: Tensor | _b.int | _b.float | _b.complex) -> Tensor: ...
    def __xor__(self, other: Tensor | _b.int | _b.float | _b.complex) -> Tensor: ...
    def _sample_dirichlet(self, generator: Any=None, *, out: Any=None) -> Tensor:
        """Vectors of chances along the last dimension, of the concentrations that ``self`` holds."""
    def _standard_gamma(self, generator: Any=None, *, out: Any=None) -> Tensor:
        """Gamma numbers of the shape parameters that ``self`` holds and rate one."""
    def _standard_gamma_grad(self, output: Tensor, *, out: Any=None) -> Tensor:
        """How the gamma numbers ``output`` move with their shape parameters, at a fixed chance of smaller ones."""
    def _typed_storage(self) -> Any:
        """The memory of the tensor as numbers."""
    def abs(self, *, out: Any=None) -> Tensor:
        """The absolute value."""
    def abs_(self) -> Tensor: ...
    def absolute(self, *, out: Any=None) -> Tensor:
        """The absolute value."""
    def absolute_(self) -> Tensor: ...
    def acos(self, *, out: Any=None) -> Tensor:
        """The angle with this cosine."""
    def acos_(self) -> Tensor: ...
    def acosh(self, *, out: Any=None) -> Tensor:
        """The number, at least zero, with this hyperbolic cosine."""
    def acosh_(self) -> Tensor: ...
    def add(self, other: Tensor | _b.int | _b.float | _b.complex, alpha: Any=1, *, out: Any=None) -> Tensor:
        """The elementwise sum ``self + alpha * other``, with broadcasting."""
    def add_(self, other: Tensor | _b.int | _b.float | _b.complex, alpha: Any=1) -> Tensor: ...
    def addbmm(self, batch1: Tensor, batch2: Tensor, beta: Any=1, alpha: Any=1, *, out: Any=None) -> Tensor:
        """``beta * self + alpha * (batch1 @ batch2).sum(0)``; ``self`` broadcasts to the sum."""
    def addbmm_(self, batch1: Tensor, batch2: Tensor, beta: Any=1, alpha: Any=1) -> Tensor: ...
    def addcdiv(self, tensor1: Tensor, tensor2: Tensor, *, value: Any=1, out: Any=None) -> Tensor:
        """``input + value * tensor1 / tensor2``."""
    def addcdiv_(self, tensor1: Tensor, tensor2: Tensor, *, value: Any=1) -> Tensor:
        """In-place :func:`addcdiv`."""
    def addcmul(self, tensor1: Tensor, tensor2: Tensor, *, value: Any=1, out: Any=None) -> Tensor:
        """``input + value * tensor1 * tensor2``."""
    def addcmul_(self, tensor1: Tensor, tensor2: Tensor, *, value: Any=1) -> Tensor:
        """In-place :func:`addcmul`."""
    def addmm(self, mat1: Tensor, mat2: Tensor, beta: Any=1, alpha: Any=1, *, out: Any=None) -> Tensor:
        """``beta * self + alpha * (mat1 @ mat2)``; ``self`` broadcasts to the product."""
    def addmm_(self, first: Tensor, second: Tensor, *, beta: Any=1, alpha: Any=1) -> Tensor:
        """In-place :func:`addmm`."""
    def addmv(self, mat: Tensor, vec: Tensor, beta: Any=1, alpha: Any=1, *, out: Any=None) -> Tensor:
        """``beta * self + alpha * (mat @ vec)``; ``self`` broadcasts to the product."""
    def addmv_(self, mat: Tensor, vec: Tensor, beta: Any=1, alpha: Any=1) -> Tensor: ...
    def addr(self, vec1: Tensor | _b.int | _b.float | _b.complex, vec2: Tensor | _b.int | _b.float | _b.complex, beta: Any=1, alpha: Any=1, *, out: Any=None) -> Tensor:
        """``beta * self + alpha * outer(vec1, vec2)``; ``self`` broadcasts to the outer product."""
    def addr_(self, vec1: Tensor | _b.int | _b.float | _b.complex, vec2: Tensor | _b.int | _b.float | _b.complex, beta: Any=1, alpha: Any=1) -> Tensor: ...
    def adjoint(self) -> Tensor:
        """The view with the last two dimensions exchanged, conjugated."""
    def all(self, dim: Any=None, keepdim: _b.bool=False, *, out: Any=None) -> Tensor:
        """Whether all elements are nonzero, of the tensor or along ``dim``."""
    def allclose(self, other: Tensor, rtol: _b.float=1e-05, atol: _b.float=1e-08, equal_nan: _b.bool=False) -> _b.bool:
        """Whether all elements are equal up to ``atol + rtol * abs(other)``."""
    def amax(self, dim: Any=..., keepdim: _b.bool=False, *, out: Any=None) -> Tensor:
        """The largest elements along ``dim``; equal ones share the gradient."""
    def amin(self, dim: Any=..., keepdim: _b.bool=False, *, out: Any=None) -> Tensor:
        """The smallest elements along ``dim``; equal ones share the gradient."""
    def aminmax(self, *, dim: Any=None, keepdim: _b.bool=False, out: Any=None) -> Any:
        """The smallest and the largest elements, along ``dim`` or of all."""
    def angle(self, *, out: Any=None) -> Tensor:
        """The angle of complex numbers in radians; of real ones, 0 or pi."""
    def any(self, dim: Any=None, keepdim: _b.bool=False, *, out: Any=None) -> Tensor:
        """Whether any element is nonzero, of the tensor or along ``dim``."""
    def apply_(self, callable: Callable[[Any], Any]) -> Tensor:
        """Replace each element by what a Python function makes of it; slow."""
    def arccos(self, *, out: Any=None) -> Tensor:
        """The angle with this cosine."""
    def arccos_(self) -> Tensor: ...
    def arccosh(self, *, out: Any=None) -> Tensor:
        """The number, at least zero, with this hyperbolic cosine."""
    def arccosh_(self) -> Tensor: ...
    def arcsin(self, *, out: Any=None) -> Tensor:
        """The angle with this sine."""
    def arcsin_(self) -> Tensor: ...
    def arcsinh(self, *, out: Any=None) -> Tensor:
        """The number with this hyperbolic sine."""
    def arcsinh_(self) -> Tensor: ...
    def arctan(self, *, out: Any=None) -> Tensor:
        """The angle with this tangent."""
    def arctan2(self, other: Tensor, *, out: Any=None) -> Tensor:
        """The angle of the point (other, self), in (-pi, pi]."""
    def arctan2_(self, other: Tensor) -> Tensor: ...
    def arctan_(self) -> Tensor: ...
    def arctanh(self, *, out: Any=None) -> Tensor:
        """The number with this hyperbolic tangent."""
    def arctanh_(self) -> Tensor: ...
    def argmax(self, dim: Any=None, keepdim: _b.bool=False, *, out: Any=None) -> Tensor:
        """The place of the largest element, along ``dim`` or of all elements in row-major order."""
    def argmin(self, dim: Any=None, keepdim: _b.bool=False, *, out: Any=None) -> Tensor:
        """The place of the smallest element, along ``dim`` or of all elements in row-major order."""
    def argsort(self, dim: _b.int=-1, descending: _b.bool=False, stable: _b.bool | None=None) -> Tensor:
        """Where the elements are that come in order along ``dim``."""
    def argwhere(self) -> Tensor:
        """The indices of all elements that are not zero, one in a row."""
    def as_strided(self, size: Any, stride: Any, storage_offset: Any=None, *, out: Any=None) -> Tensor:
        """The view of the same memory with these sizes and strides, from an offset, all in elements."""
    def as_strided_(self, size: Any, stride: Any, storage_offset: _b.int | None=None) -> Tensor:
        """Make the tensor itself the view of its memory with these sizes and strides, from an offset, in elements."""
    def as_strided_scatter(self, src: Any, size: Any, stride: Any, storage_offset: _b.int | None=None) -> Tensor:
        """A copy of ``input`` with ``src`` in the window of these sizes, strides and offset, in elements."""
    def as_subclass(self, cls: Any) -> Any:
        """The same data and history as an instance of ``cls``, a subclass of Tensor."""
    def asin(self, *, out: Any=None) -> Tensor:
        """The angle with this sine."""
    def asin_(self) -> Tensor: ...
    def asinh(self, *, out: Any=None) -> Tensor:
        """The number with this hyperbolic sine."""
    def asinh_(self) -> Tensor: ...
    def atan(self, *, out: Any=None) -> Tensor:
        """The angle with this tangent."""
    def atan2(self, other: Tensor, *, out: Any=None) -> Tensor:
        """The angle of the point (other, self), in (-pi, pi]."""
    def atan2_(self, other: Tensor) -> Tensor: ...
    def atan_(self) -> Tensor: ...
    def atanh(self, *, out: Any=None) -> Tensor:
        """The number with this hyperbolic tangent."""
    def atanh_(self) -> Tensor: ...
    def backward(self, gradient: Tensor | None=None, retain_graph: _b.bool | None=None, create_graph: _b.bool=False, inputs: Any=None) -> None:
        """Compute the gradients of this tensor with respect to the graph's leaves and add them into their ``.grad``."""
    def baddbmm(self, batch1: Tensor, batch2: Tensor, beta: Any=1, alpha: Any=1, *, out: Any=None) -> Tensor:
        """``beta * self + alpha * (batch1 @ batch2)``; ``self`` broadcasts to the product."""
    def baddbmm_(self, first: Tensor, second: Tensor, *, beta: Any=1, alpha: Any=1) -> Tensor:
        """In-place :func:`baddbmm`."""
    def bernoulli(self, p: Any=None, *, generator: Any=None, out: Any=None) -> Tensor:
        """Ones with the chances that ``input`` holds (or with chance ``p`` throughout), else zeros."""
    def bernoulli_(self, p: Any=0.5, *, generator: Any=None) -> Tensor:
        """Fill with ones of chance ``p``, a number or a tensor of chances, and zeros."""
    def bfloat16(self, memory_format: Any=None) -> Tensor:
        """The tensor as torch.bfloat16."""
    def bincount(self, weights: Tensor | None=None, minlength: _b.int=0) -> Tensor:
        """How often each small integer occurs, or the sum of the weights where it does."""
    def bitwise_and(self, other: Tensor | _b.int | _b.float | _b.complex, *, out: Any=None) -> Tensor:
        """The bits that are set in both."""
    def bitwise_and_(self, other: Tensor | _b.int | _b.float | _b.complex) -> Tensor: ...
    def bitwise_left_shift(self, other: Tensor | _b.int | _b.float | _b.complex, *, out: Any=None) -> Tensor:
        """The bits moved up by ``other`` places; zero where that is negative or as wide as the dtype."""
    def bitwise_left_shift_(self, other: Tensor | _b.int | _b.float | _b.complex) -> Tensor: ...
    def bitwise_not(self, *, out: Any=None) -> Tensor:
        """The bits that are not set."""
    def bitwise_not_(self) -> Tensor: ...
    def bitwise_or(self, other: Tensor | _b.int | _b.float | _b.complex, *, out: Any=None) -> Tensor:
        """The bits that are set in at least one."""
    def bitwise_or_(self, other: Tensor | _b.int | _b.float | _b.complex) -> Tensor: ...
    def bitwise_right_shift(self, other: Tensor | _b.int | _b.float | _b.complex, *, out: Any=None) -> Tensor:
        """The bits moved down by ``other`` places; only the sign is left where that is negative or too wide."""
    def bitwise_right_shift_(self, other: Tensor | _b.int | _b.float | _b.complex) -> Tensor: ...
    def bitwise_xor(self, other: Tensor | _b.int | _b.float | _b.complex, *, out: Any=None) -> Tensor:
        """The bits that are set in just one."""
    def bitwise_xor_(self, other: Tensor | _b.int | _b.float | _b.complex) -> Tensor: ...
    def bmm(self, mat2: Tensor, *, out: Any=None) -> Tensor:
        """The product of each pair of matrices in two batches."""
    def bool(self, memory_format: Any=None) -> Tensor:
        """The tensor as torch.bool."""
    def broadcast_to(self, *size: Any, **named: Any) -> Tensor:
        """The view stretched to ``size``."""
    def byte(self, memory_format: Any=None) -> Tensor:
        """The tensor as torch.uint8."""
    def cauchy_(self, median: _b.float=0.0, sigma: _b.float=1.0, *, generator: Any=None) -> Tensor:
        """Fill with numbers of the Cauchy distribution."""
    def cdouble(self, memory_format: Any=None) -> Tensor:
        """The tensor as torch.complex128."""
    def ceil(self, *, out: Any=None) -> Tensor:
        """The least integer not below."""
    def ceil_(self) -> Tensor: ...
    def cfloat(self, memory_format: Any=None) -> Tensor:
        """The tensor as torch.complex64."""
    def char(self, memory_format: Any=None) -> Tensor:
        """The tensor as torch.int8."""
    def cholesky(self, upper: _b.bool=False, *, out: Any=None) -> Tensor:
        """The triangular roots of positive-definite matrices; the older name of ``linalg.cholesky``."""
    def cholesky_inverse(self, upper: _b.bool=False, *, out: Any=None) -> Tensor:
        """The inverses of the matrices that these triangles are the roots of."""
    def cholesky_solve(self, input2: Tensor, upper: _b.bool=False, *, out: Any=None) -> Tensor:
        """The solutions of ``A @ X = input``, where ``input2`` is the triangular root of ``A``."""
    def chunk(self, chunks: _b.int, dim: _b.int=0) -> _b.tuple[Tensor, ...]:
        """Views of at most ``chunks`` pieces of ``dim`` of one size; the last may be smaller."""
    def clamp(self, min: Any=None, max: Any=None, *, out: Any=None) -> Tensor:
        """The elements, limited to [min, max]; an end may be a number, a tensor or None."""
    def clamp_(self, min: Any=None, max: Any=None) -> Tensor:
        """In-place :func:`clamp`."""
    def clamp_max(self, max: Any, *, out: Any=None) -> Tensor:
        """The elements, at most ``max``, a number or a tensor."""
    def clamp_max_(self, max: Any) -> Tensor:
        """In-place :func:`clamp_max`."""
    def clamp_min(self, min: Any, *, out: Any=None) -> Tensor:
        """The elements, at least ``min``, a number or a tensor."""
    def clamp_min_(self, min: Any) -> Tensor:
        """In-place :func:`clamp_min`."""
    def clip(self, min: Any=None, max: Any=None, *, out: Any=None) -> Tensor:
        """The elements, limited to [min, max]; an end may be a number, a tensor or None."""
    def clip_(self, min: Any=None, max: Any=None) -> Tensor:
        """In-place :func:`clamp`."""
    def clone(self, *, memory_format: Any=None) -> Tensor:
        """A copy, through which gradients flow; dense memory keeps its order unless ``memory_format`` says otherwise."""
    def coalesce(self, *args: Any) -> Any:
        """PyTorch's refusal: the tensor is not sparse."""
    def combinations(self, r: _b.int=2, with_replacement: _b.bool=False) -> Tensor:
        """All choices of ``r`` elements of a vector, in the order they have in it, one in a row."""
    def conj(self) -> Tensor:
        """The complex conjugate; a real tensor itself."""
    def conj_physical(self, *, out: Any=None) -> Tensor:
        """The complex conjugate; a real tensor itself."""
    def conj_physical_(self) -> Tensor: ...
    def const_data_ptr(self) -> _b.int:
        """The address of the first element, for reading."""
    def constant_pad_nd(self, pad: Any, value: Any=0, *, out: Any=None) -> Tensor:
        """The tensor within a border of one value; negative widths cut off.  ``pad`` counts from the last dimension."""
    def contiguous(self, memory_format: Any=None) -> Tensor:
        """The tensor itself if its elements lie row by row (or as ``memory_format`` says), else such a copy."""
    def copy_(self, src: Any, non_blocking: _b.bool=False) -> Tensor:
        """Write the elements of ``src``, broadcast and cast, into the tensor."""
    def copysign(self, other: Any, *, out: Any=None) -> Tensor:
        """The sizes of ``input`` with the signs of ``other``, a tensor or a number."""
    def copysign_(self, other: Any) -> Tensor:
        """In-place :func:`copysign`."""
    def corrcoef(self) -> Tensor:
        """Pearson's correlations of the variables in the rows of ``input``, observed in its columns."""
    def cos(self, *, out: Any=None) -> Tensor:
        """The cosine."""
    def cos_(self) -> Tensor: ...
    def cosh(self, *, out: Any=None) -> Tensor:
        """The hyperbolic cosine."""
    def cosh_(self) -> Tensor: ...
    def count_nonzero(self, dim: Any=None) -> Tensor:
        """How many elements are nonzero, in the tensor or along ``dim``."""
    def cov(self, *, correction: _b.int=1, fweights: Any=None, aweights: Any=None) -> Tensor:
        """The covariances of the variables in the rows of ``input``, observed in its columns."""
    def cpu(self, memory_format: Any=None) -> Tensor:
        """The tensor in main memory."""
    def cross(self, other: Tensor, dim: _b.int | None=None, *, out: Any=None) -> Tensor:
        """The vectors perpendicular to those of both inputs, along ``dim`` or the first dimension of size 3."""
    def cuda(self, device: Any=None, non_blocking: _b.bool=False, memory_format: Any=None) -> Tensor:
        """PyTorch's refusal: there is no CUDA here."""
    def cummax(self, dim: Any=..., *, out: Any=None) -> Any:
        """The largest of everything up to each place along ``dim``, and where it stands."""
    def cummin(self, dim: Any=..., *, out: Any=None) -> Any:
        """The smallest of everything up to each place along ``dim``, and where it stands."""
    def cumprod(self, dim: Any=..., *, dtype: Any=None, out: Any=None) -> Tensor:
        """The products of everything up to each place along ``dim``."""
    def cumprod_(self, dim: Any=..., *, dtype: Any=None) -> Tensor:
        """In-place :func:`cumprod`."""
    def cumsum(self, dim: Any=..., *, dtype: Any=None, out: Any=None) -> Tensor:
        """The sums of everything up to each place along ``dim``."""
    def cumsum_(self, dim: Any=..., *, dtype: Any=None) -> Tensor:
        """In-place :func:`cumsum`."""
    def data_ptr(self) -> _b.int:
        """The address of the first element; 0 where there is none."""
    def deg2rad(self, *, out: Any=None) -> Tensor:
        """Degrees as radians."""
    def deg2rad_(self) -> Tensor: ...
    def dense_dim(self) -> _b.int:
        """The number of dimensions, all dense."""
    def det(self) -> Tensor:
        """The determinant of a square matrix, or of each of a batch."""
    def detach(self) -> Tensor:
        """The same memory without history: gradients stop here."""
    def detach_(self) -> Tensor:
        """Forget the tensor's history; it is a leaf from now on."""
    def diag(self, diagonal: _b.int=0, *, out: Any=None) -> Tensor:
        """The diagonal of a matrix, or the matrix with a vector on its diagonal."""
    def diag_embed(self, offset: Any=0, dim1: Any=-2, dim2: Any=-1, *, out: Any=None) -> Tensor:
        """Matrices in the dimensions ``dim1`` and ``dim2`` that hold the last dimension on a diagonal."""
    def diagflat(self, offset: _b.int=0) -> Tensor:
        """The matrix with all elements on its diagonal."""
    def diagonal(self, offset: Any=0, dim1: Any=0, dim2: Any=1, *, out: Any=None) -> Tensor:
        """The view of the diagonal of two dimensions, as the last dimension."""
    def diagonal_scatter(self, src: Tensor, offset: Any=0, dim1: Any=0, dim2: Any=1, *, out: Any=None) -> Tensor:
        """``self`` with ``src`` on the diagonal of two dimensions."""
    def diff(self, n: _b.int=1, dim: Any=-1, prepend: Any=None, append: Any=None) -> Tensor:
        """The ``n``-th differences of neighbours along ``dim``."""
    def digamma(self, *, out: Any=None) -> Tensor:
        """The logarithmic derivative of the gamma function."""
    def digamma_(self) -> Tensor: ...
    def dim(self) -> _b.int:
        """The number of dimensions."""
    def dim_order(self, *, ambiguity_check: Any=False) -> _b.tuple[_b.int, ...]:
        """The dimensions from the widest steps in memory to the narrowest."""
    def dist(self, other: Tensor | _b.int | _b.float | _b.complex, p: Any=2, *, out: Any=None) -> Tensor:
        """The ``p``-norm of the difference of two tensors."""
    def div(self, other: Any, *, rounding_mode: _b.str | None=None, out: Any=None) -> Tensor:
        """The quotient, rounded towards zero ("trunc") or down ("floor") if ``rounding_mode`` says so."""
    def div_(self, other: Any, *, rounding_mode: _b.str | None=None) -> Tensor:
        """In-place :func:`div`."""
    def divide(self, other: Any, *, rounding_mode: _b.str | None=None, out: Any=None) -> Tensor:
        """The quotient, rounded towards zero ("trunc") or down ("floor") if ``rounding_mode`` says so."""
    def divide_(self, other: Any, *, rounding_mode: _b.str | None=None) -> Tensor:
        """In-place :func:`div`."""
    def dot(self, tensor: Tensor, *, out: Any=None) -> Tensor:
        """The sum of the products of two vectors' elements."""
    def double(self, memory_format: Any=None) -> Tensor:
        """The tensor as torch.float64."""
    def dsplit(self, indices_or_sections: Any) -> _b.tuple[Tensor, ...]:
        """Views of pieces behind each other."""
    def eig(self, *args: Any, **kwargs: Any) -> Any:
        """Removed from PyTorch: it raises what PyTorch raises, which names what to use instead."""
    def element_size(self) -> _b.int:
        """The size of one element in bytes."""
    def eq(self, other: Tensor | _b.int | _b.float | _b.complex, *, out: Any=None) -> Tensor:
        """Whether elements are equal."""
    def eq_(self, other: Any) -> Tensor:
        """In-place :func:`eq`."""
    def equal(self, other: Tensor) -> _b.bool:
        """Whether two tensors have the same sizes and elements."""
    def erf(self, *, out: Any=None) -> Tensor:
        """The error function."""
    def erf_(self) -> Tensor: ...
    def erfc(self, *, out: Any=None) -> Tensor:
        """One minus the error function."""
    def erfc_(self) -> Tensor: ...
    def erfinv(self, *, out: Any=None) -> Tensor:
        """The inverse of the error function."""
    def erfinv_(self) -> Tensor: ...
    def exp(self, *, out: Any=None) -> Tensor:
        """The exponential."""
    def exp2(self, *, out: Any=None) -> Tensor:
        """Two to the power of each element."""
    def exp2_(self) -> Tensor: ...
    def exp_(self) -> Tensor: ...
    def expand(self, *size: Any, **named: Any) -> Tensor:
        """The view with dimensions of size 1 stretched; -1 keeps a size."""
    def expand_as(self, other: Tensor) -> Tensor:
        """The view stretched to the sizes of ``other``."""
    def expm1(self, *, out: Any=None) -> Tensor:
        """The exponential minus one, exact near zero."""
    def expm1_(self) -> Tensor: ...
    def exponential_(self, lambd: _b.float=1.0, *, generator: Any=None) -> Tensor:
        """Fill with waiting times of rate ``lambd``."""
    def fill(self, value: Any) -> Tensor:
        """A tensor of the same shape and dtype, filled with ``value``, a number or a 0-d tensor."""
    def fill_(self, value: Any) -> Tensor:
        """Fill the tensor with ``value``, a number or a 0-d tensor."""
    def fill_diagonal_(self, fill_value: Any, wrap: _b.bool=False) -> Tensor:
        """Write a number onto the main diagonal; with ``wrap``, of a tall matrix, again after each square."""
    def fix(self, *, out: Any=None) -> Tensor:
        """The integer part."""
    def fix_(self) -> Tensor: ...
    def flatten(self, start_dim: _b.int=0, end_dim: _b.int=-1) -> Tensor:
        """The tensor with the dimensions from ``start_dim`` to ``end_dim`` made one."""
    def flip(self, *dims: Any, **named: Any) -> Tensor:
        """The tensor mirrored along ``dims``."""
    def fliplr(self) -> Tensor:
        """The matrix mirrored from left to right."""
    def flipud(self) -> Tensor:
        """The tensor mirrored along its first dimension."""
    def float(self, memory_format: Any=None) -> Tensor:
        """The tensor as torch.float32."""
    def float_power(self, exponent: Any, *, out: Any=None) -> Tensor:
        """``input`` to the power ``exponent`` in float64, or complex128 if one is complex."""
    def float_power_(self, exponent: Any) -> Tensor:
        """In-place :func:`float_power`."""
    def floor(self, *, out: Any=None) -> Tensor:
        """The greatest integer not above."""
    def floor_(self) -> Tensor: ...
    def floor_divide(self, other: Any, *, out: Any=None) -> Tensor:
        """The quotient rounded down; not differentiable."""
    def floor_divide_(self, other: Any) -> Tensor:
        """In-place :func:`floor_divide`."""
    def fmax(self, other: Tensor, *, out: Any=None) -> Tensor:
        """The greater of two elements; the other one where one is NaN."""
    def fmin(self, other: Tensor, *, out: Any=None) -> Tensor:
        """The lesser of two elements; the other one where one is NaN."""
    def fmod(self, other: Any, *, out: Any=None) -> Tensor:
        """What division leaves, with the sign of the dividend."""
    def fmod_(self, other: Any) -> Tensor:
        """In-place :func:`fmod`."""
    def frac(self, *, out: Any=None) -> Tensor:
        """The part behind the point, with the sign of the number."""
    def frac_(self) -> Tensor: ...
    def frexp(self, *, out: Any=None) -> Any:
        """Mantissas from a half to one, and the powers of two that they are to be multiplied with."""
    def gather(self, dim: _b.int, index: Tensor, *, sparse_grad: _b.bool=False, out: Any=None) -> Tensor:
        """The elements that ``index`` names along ``dim``, in the shape of ``index``."""
    def gcd(self, other: Tensor, *, out: Any=None) -> Tensor:
        """The greatest common divisor; zero of two zeros."""
    def gcd_(self, other: Tensor) -> Tensor: ...
    def ge(self, other: Tensor | _b.int | _b.float | _b.complex, *, out: Any=None) -> Tensor:
        """Whether elements are at least those of ``other``."""
    def ge_(self, other: Any) -> Tensor:
        """In-place :func:`ge`."""
    def geometric_(self, p: _b.float, *, generator: Any=None) -> Tensor:
        """Fill with numbers of trials up to the first success of chance ``p``."""
    def geqrf(self, *, out: Any=None) -> Any:
        """The triangle and the reflections that QR is made of, in one matrix, and the reflections' factors."""
    def ger(self, vec2: Tensor, *, out: Any=None) -> Tensor:
        """The product of each element of one vector with each of another."""
    def get_device(self) -> _b.int:
        """-1: the number of no accelerator."""
    def greater(self, other: Tensor | _b.int | _b.float | _b.complex, *, out: Any=None) -> Tensor:
        """Whether elements are greater than those of ``other``."""
    def greater_(self, other: Any) -> Tensor:
        """In-place :func:`gt`."""
    def greater_equal(self, other: Tensor | _b.int | _b.float | _b.complex, *, out: Any=None) -> Tensor:
        """Whether elements are at least those of ``other``."""
    def greater_equal_(self, other: Any) -> Tensor:
        """In-place :func:`ge`."""
    def gt(self, other: Tensor | _b.int | _b.float | _b.complex, *, out: Any=None) -> Tensor:
        """Whether elements are greater than those of ``other``."""
    def gt_(self, other: Any) -> Tensor:
        """In-place :func:`gt`."""
    def half(self, memory_format: Any=None) -> Tensor:
        """The tensor as torch.float16."""
    def hardshrink(self, lambd: _b.float=0.5) -> Tensor:
        """The elements, those within ``lambd`` of zero replaced by zero."""
    def heaviside(self, values: Tensor, *, out: Any=None) -> Tensor:
        """The step: zero below zero, one above, ``values`` at zero; not differentiable."""
    def heaviside_(self, values: Tensor) -> Tensor: ...
    def histc(self, bins: Any=100, min: Any=0, max: Any=0, *, out: Any=None) -> Tensor:
        """How many elements fall into each of ``bins`` equal parts of the range from ``min`` to ``max``."""
    def histogram(self, bins: Any=100, *, range: Any=None, weight: Any=None, density: _b.bool=False, out: Any=None) -> Any:
        """How many elements fall into each bin, and the bins' edges: ``bins`` equal ones within ``range``, or as given."""
    def hsplit(self, indices_or_sections: Any) -> _b.tuple[Tensor, ...]:
        """Views of pieces side by side."""
    def hypot(self, other: Tensor, *, out: Any=None) -> Tensor:
        """The length of the hypotenuse over two sides."""
    def hypot_(self, other: Tensor) -> Tensor: ...
    def i0(self, *, out: Any=None) -> Tensor:
        """The modified Bessel function of the first kind, order 0."""
    def i0_(self) -> Tensor: ...
    def igamma(self, other: Tensor, *, out: Any=None) -> Tensor:
        """The regularised lower incomplete gamma function of the parameter ``self`` at ``other``."""
    def igamma_(self, other: Tensor) -> Tensor: ...
    def igammac(self, other: Tensor, *, out: Any=None) -> Tensor:
        """The regularised upper incomplete gamma function of the parameter ``self`` at ``other``."""
    def igammac_(self, other: Tensor) -> Tensor: ...
    @property
    def imag(self) -> Tensor: ...
    def index_add(self, dim: _b.int, index: Tensor, source: Tensor, *, alpha: Any=1, out: Any=None) -> Tensor:
        """The tensor with ``alpha`` times the slices of ``source`` added where ``index`` says."""
    def index_add_(self, dim: _b.int, index: Tensor, source: Tensor, *, alpha: Any=1) -> Tensor:
        """In-place :func:`index_add`."""
    def index_copy(self, dim: _b.int, index: Tensor, source: Tensor, *, out: Any=None) -> Tensor:
        """The tensor with its slices replaced by those of ``source`` where ``index`` says."""
    def index_copy_(self, dim: _b.int, index: Tensor, source: Tensor) -> Tensor:
        """In-place :func:`index_copy`."""
    def index_fill(self, dim: _b.int, index: Tensor, value: Any) -> Tensor:
        """The tensor with the slices that ``index`` names filled with one value."""
    def index_fill_(self, dim: _b.int, index: Tensor, value: Any) -> Tensor:
        """In-place :func:`index_fill`."""
    def index_put(self, indices: Any, values: Tensor, accumulate: _b.bool=False) -> Tensor:
        """The tensor with ``values`` put, or added, where the index tensors point."""
    def index_put_(self, indices: Any, values: Tensor, accumulate: _b.bool=False) -> Tensor:
        """In-place :func:`index_put`."""
    def index_reduce(self, dim: _b.int, index: Tensor, source: Tensor, reduce: _b.str, *, include_self: _b.bool=True, out: Any=None) -> Tensor:
        """The tensor with the slices of ``source`` reduced into those that ``index`` names."""
    def index_reduce_(self, dim: _b.int, index: Tensor, source: Tensor, reduce: _b.str, *, include_self: _b.bool=True) -> Tensor:
        """In-place :func:`index_reduce`."""
    def index_select(self, dim: _b.int, index: Tensor, *, out: Any=None) -> Tensor:
        """The slices of ``dim`` that ``index`` names."""
    def indices(self, *args: Any) -> Any:
        """PyTorch's refusal: the tensor is not sparse."""
    def inner(self, other: Tensor, *, out: Any=None) -> Tensor:
        """The product of vectors, summed over the last dimension of both."""
    def int(self, memory_format: Any=None) -> Tensor:
        """The tensor as torch.int32."""
    def inverse(self, *, out: Any=None) -> Tensor:
        """The inverse of a square matrix, or of each of a batch."""
    def is_coalesced(self, *args: Any) -> Any:
        """PyTorch's refusal: the tensor is not sparse."""
    def is_complex(self) -> _b.bool:
        """Whether the elements are complex."""
    def is_conj(self) -> _b.bool:
        """Whether the tensor came from ``conj``, which PyTorch leaves for later; here it is done already."""
    def is_contiguous(self, memory_format: Any=None) -> _b.bool:
        """Whether the elements lie row by row, or as ``memory_format`` says."""
    @property
    def is_cpu(self) -> Any: ...
    @property
    def is_cuda(self) -> Any: ...
    def is_distributed(self) -> _b.bool:
        """False: every tensor is of this process."""
    def is_floating_point(self) -> _b.bool:
        """Whether the elements are real floating point numbers."""
    def is_inference(self) -> _b.bool:
        """Whether the tensor was made in inference mode."""
    @property
    def is_ipu(self) -> Any: ...
    @property
    def is_maia(self) -> Any: ...
    @property
    def is_meta(self) -> Any: ...
    @property
    def is_mkldnn(self) -> Any: ...
    @property
    def is_mps(self) -> Any: ...
    @property
    def is_mtia(self) -> Any: ...
    def is_neg(self) -> _b.bool:
        """False: negations are never left for later here."""
    @property
    def is_nested(self) -> Any: ...
    def is_nonzero(self) -> _b.bool:
        """Whether the only element is not zero."""
    def is_pinned(self, device: Any=None) -> _b.bool:
        """False: no memory is pinned."""
    @property
    def is_quantized(self) -> Any: ...
    def is_same_size(self, other: Tensor) -> _b.bool:
        """Whether two tensors have the same shape."""
    def is_set_to(self, tensor: Tensor) -> _b.bool:
        """Whether both look at the same memory with the same sizes and strides."""
    def is_shared(self) -> _b.bool:
        """Whether other processes can see the tensor's memory."""
    def is_signed(self) -> _b.bool:
        """Whether the elements can be negative."""
    @property
    def is_sparse(self) -> Any: ...
    @property
    def is_sparse_csr(self) -> Any: ...
    @property
    def is_vulkan(self) -> Any: ...
    @property
    def is_xla(self) -> Any: ...
    @property
    def is_xpu(self) -> Any: ...
    def isclose(self, other: Tensor, rtol: _b.float=1e-05, atol: _b.float=1e-08, equal_nan: _b.bool=False) -> Tensor:
        """Whether elements are equal up to ``atol + rtol * abs(other)``."""
    def isfinite(self, *, out: Any=None) -> Tensor:
        """Whether elements are finite numbers."""
    def isin(self, test_elements: Any, *, assume_unique: _b.bool=False, invert: _b.bool=False) -> Tensor:
        """Whether each element is among the test elements."""
    def isinf(self, *, out: Any=None) -> Tensor:
        """Whether elements are infinite."""
    def isnan(self, *, out: Any=None) -> Tensor:
        """Whether elements are not a number."""
    def isneginf(self, *, out: Any=None) -> Tensor:
        """Whether elements are negative infinity."""
    def isposinf(self, *, out: Any=None) -> Tensor:
        """Whether elements are positive infinity."""
    def isreal(self, *, out: Any=None) -> Tensor:
        """Whether elements have no imaginary part."""
    def istft(self, n_fft: _b.int, hop_length: _b.int | None=None, win_length: _b.int | None=None, window: Any=None, center: _b.bool=True, normalized: _b.bool=False, onesided: _b.bool | None=None, length: _b.int | None=None, return_complex: _b.bool=False) -> Tensor:
        """The signal that is nearest to one with these transforms of frames: overlaps are added, windows divided out."""
    def item(self) -> Any:
        """The only element as a Python number."""
    def kron(self, other: Tensor, *, out: Any=None) -> Tensor:
        """The Kronecker product: ``other`` in place of each element of ``input``, times that element."""
    def kthvalue(self, k: _b.int, dim: _b.int=-1, keepdim: _b.bool=False, *, out: Any=None) -> Any:
        """The ``k``-th smallest elements along ``dim``, and where they stand."""
    def lcm(self, other: Tensor, *, out: Any=None) -> Tensor:
        """The least common multiple; zero beside a zero."""
    def lcm_(self, other: Tensor) -> Tensor: ...
    def ldexp(self, other: Tensor, *, out: Any=None) -> Tensor:
        """``self`` times two to the power ``other``."""
    def ldexp_(self, other: Tensor) -> Tensor: ...
    def le(self, other: Tensor | _b.int | _b.float | _b.complex, *, out: Any=None) -> Tensor:
        """Whether elements are at most those of ``other``."""
    def le_(self, other: Any) -> Tensor:
        """In-place :func:`le`."""
    def lerp(self, end: Tensor, weight: Any, *, out: Any=None) -> Tensor:
        """The point between ``input`` and ``end`` at ``weight``, a number or a tensor."""
    def lerp_(self, end: Tensor, weight: Any) -> Tensor:
        """In-place :func:`lerp`."""
    def less(self, other: Tensor | _b.int | _b.float | _b.complex, *, out: Any=None) -> Tensor:
        """Whether elements are less than those of ``other``."""
    def less_(self, other: Any) -> Tensor:
        """In-place :func:`lt`."""
    def less_equal(self, other: Tensor | _b.int | _b.float | _b.complex, *, out: Any=None) -> Tensor:
        """Whether elements are at most those of ``other``."""
    def less_equal_(self, other: Any) -> Tensor:
        """In-place :func:`le`."""
    def lgamma(self, *, out: Any=None) -> Tensor:
        """The logarithm of the absolute value of the gamma function."""
    def lgamma_(self) -> Tensor: ...
    def log(self, *, out: Any=None) -> Tensor:
        """The natural logarithm."""
    def log10(self, *, out: Any=None) -> Tensor:
        """The logarithm to base 10."""
    def log10_(self) -> Tensor: ...
    def log1p(self, *, out: Any=None) -> Tensor:
        """The logarithm of one plus each element, exact near zero."""
    def log1p_(self) -> Tensor: ...
    def log2(self, *, out: Any=None) -> Tensor:
        """The logarithm to base 2."""
    def log2_(self) -> Tensor: ...
    def log_(self) -> Tensor: ...
    def log_normal_(self, mean: _b.float=1.0, std: _b.float=2.0, *, generator: Any=None) -> Tensor:
        """Fill with exponentials of normal numbers; ``mean`` and ``std`` are those of the normal ones."""
    def log_softmax(self, dim: Any=..., dtype: Any=None, *, out: Any=None) -> Tensor:
        """The logarithm of ``softmax``, without its rounding."""
    def logaddexp(self, other: Tensor, *, out: Any=None) -> Tensor:
        """The logarithm of the sum of two exponentials."""
    def logaddexp2(self, other: Tensor, *, out: Any=None) -> Tensor:
        """The logarithm to base 2 of the sum of two powers of two."""
    def logcumsumexp(self, dim: Any=..., *, out: Any=None) -> Tensor:
        """The logarithms of the running sums of exponentials along ``dim``."""
    def logdet(self) -> Tensor:
        """The logarithms of the determinants; NaN where one is negative."""
    def logical_and(self, other: Tensor, *, out: Any=None) -> Tensor:
        """Whether both elements are nonzero."""
    def logical_and_(self, other: Tensor) -> Tensor: ...
    def logical_not(self, *, out: Any=None) -> Tensor:
        """Whether elements are zero."""
    def logical_not_(self) -> Tensor: ...
    def logical_or(self, other: Tensor, *, out: Any=None) -> Tensor:
        """Whether at least one of the elements is nonzero."""
    def logical_or_(self, other: Tensor) -> Tensor: ...
    def logical_xor(self, other: Tensor, *, out: Any=None) -> Tensor:
        """Whether just one of the elements is nonzero."""
    def logical_xor_(self, other: Tensor) -> Tensor: ...
    def logit(self, eps: Any=None, *, out: Any=None) -> Tensor:
        """The logarithm of the odds p / (1 - p), p first clamped to [eps, 1 - eps]."""
    def logit_(self, eps: Any=None) -> Tensor: ...
    def logsumexp(self, dim: Any=..., keepdim: _b.bool=False, *, out: Any=None) -> Tensor:
        """The logarithms of the sums of exponentials along ``dim``; integers become floats."""
    def long(self, memory_format: Any=None) -> Tensor:
        """The tensor as torch.int64."""
    def lstsq(self, *args: Any, **kwargs: Any) -> Any:
        """Removed from PyTorch: it raises what PyTorch raises, which names what to use instead."""
    def lt(self, other: Tensor | _b.int | _b.float | _b.complex, *, out: Any=None) -> Tensor:
        """Whether elements are less than those of ``other``."""
    def lt_(self, other: Any) -> Tensor:
        """In-place :func:`lt`."""
    def lu(self, pivot: _b.bool=True, get_infos: _b.bool=False, out: Any=None) -> Any:
        """Packed triangles and swapped rows; the older name of ``linalg.lu_factor``, which says nothing of zero pivots."""
    def lu_solve(self, LU_data: Tensor, LU_pivots: Tensor, *, out: Any=None) -> Tensor:
        """The solutions of factored equations; the older name of ``linalg.lu_solve``, with ``B`` first."""
    @property
    def mH(self) -> Tensor: ...
    @property
    def mT(self) -> Tensor: ...
    def map2_(self, x: Tensor, y: Tensor, callable: Callable[[Any, Any, Any], Any]) -> Tensor:
        """Replace each element by what a Python function makes of it and two other tensors' elements; slow."""
    def map_(self, tensor: Tensor, callable: Callable[[Any, Any], Any]) -> Tensor:
        """Replace each element by what a Python function makes of it and another tensor's element; slow."""
    def masked_fill(self, mask: Tensor, value: Any) -> Tensor:
        """The tensor with ``value`` where ``mask`` holds."""
    def masked_fill_(self, mask: Tensor, value: Any) -> Tensor:
        """In-place :func:`masked_fill`."""
    def masked_scatter(self, mask: Tensor, source: Tensor) -> Tensor:
        """The tensor with the elements of ``source``, in order, where ``mask`` holds."""
    def masked_scatter_(self, mask: Tensor, source: Tensor) -> Tensor:
        """In-place :func:`masked_scatter`."""
    def masked_select(self, mask: Tensor, *, out: Any=None) -> Tensor:
        """The elements where ``mask`` holds, in a row."""
    def matmul(self, other: Any, *, out: Any=None) -> Tensor:
        """The matrix product: of vectors, matrices, or broadcast batches of matrices."""
    def matrix_exp(self) -> Tensor:
        """The exponentials of square matrices."""
    def matrix_power(self, n: _b.int, *, out: Any=None) -> Tensor:
        """A square matrix, or a batch of them, multiplied with itself ``n`` times; its inverse where ``n`` is negative."""
    def max(self, dim: Any=..., keepdim: _b.bool=False, *, out: Any=None, other: Any=None) -> Any:
        """The largest element; or along ``dim`` the largest and their places; or the larger of two tensors, elementwise."""
    def maximum(self, other: Tensor, *, out: Any=None) -> Tensor:
        """The greater of two elements; NaN if one is."""
    def mean(self, dim: Any=..., keepdim: Any=False, *, dtype: Any=None, out: Any=None, axis: Any=..., keepdims: Any=...) -> Tensor:
        """The mean of all elements, or the means along ``dim``."""
    def median(self, dim: Any=..., keepdim: _b.bool=False, *, out: Any=None) -> Any:
        """The lower median of all elements, or along ``dim`` the medians and their places."""
    def min(self, dim: Any=..., keepdim: _b.bool=False, *, out: Any=None, other: Any=None) -> Any:
        """The smallest element; or along ``dim`` the smallest and their places; or the smaller of two tensors."""
    def minimum(self, other: Tensor, *, out: Any=None) -> Tensor:
        """The lesser of two elements; NaN if one is."""
    def mm(self, mat2: Tensor, *, out: Any=None) -> Tensor:
        """The product of two matrices."""
    def mode(self, dim: _b.int=-1, keepdim: _b.bool=False, *, out: Any=None) -> Any:
        """The most frequent elements along ``dim``, and where they stand."""
    def moveaxis(self, source: Any, destination: Any) -> Tensor:
        """The view with the dimensions ``source`` at the places ``destination``, the others in their order."""
    def movedim(self, source: Any, destination: Any) -> Tensor:
        """The view with the dimensions ``source`` at the places ``destination``, the others in their order."""
    def msort(self, *, out: Any=None) -> Tensor:
        """The elements in order along the first dimension."""
    def mul(self, other: Tensor | _b.int | _b.float | _b.complex, *, out: Any=None) -> Tensor:
        """The elementwise product, with broadcasting."""
    def mul_(self, other: Tensor | _b.int | _b.float | _b.complex) -> Tensor: ...
    def multinomial(self, num_samples: _b.int, replacement: _b.bool=False, *, generator: Any=None, out: Any=None) -> Tensor:
        """Categories drawn by the unnormalised chances in each row of ``input``, as int64."""
    def multiply(self, other: Tensor | _b.int | _b.float | _b.complex, *, out: Any=None) -> Tensor:
        """The elementwise product, with broadcasting."""
    def multiply_(self, other: Tensor | _b.int | _b.float | _b.complex) -> Tensor: ...
    def mv(self, vec: Tensor, *, out: Any=None) -> Tensor:
        """The product of a matrix and a vector."""
    def mvlgamma(self, p: Any, *, out: Any=None) -> Tensor:
        """The logarithm of the gamma function of dimension ``p``."""
    def mvlgamma_(self, p: Any) -> Tensor: ...
    @property
    def name(self) -> Any: ...
    def nan_to_num(self, nan: Any=None, posinf: Any=None, neginf: Any=None, *, out: Any=None) -> Tensor:
        """The elements, NaN and the infinities replaced by numbers: zero and the dtype's limits, unless given."""
    def nan_to_num_(self, nan: Any=None, posinf: Any=None, neginf: Any=None) -> Tensor: ...
    def nanmean(self, dim: Any=None, keepdim: _b.bool=False, *, dtype: Any=None, out: Any=None) -> Tensor:
        """The mean along ``dim`` of what is not NaN."""
    def nanmedian(self, dim: Any=..., keepdim: _b.bool=False, *, out: Any=None) -> Any:
        """The lower median of what is not NaN, or along ``dim`` the medians and their places."""
    def nanquantile(self, q: Any, dim: Any=None, keepdim: _b.bool=False, *, interpolation: _b.str='linear', out: Any=None) -> Tensor:
        """``quantile`` of what is not NaN."""
    def nansum(self, dim: Any=None, keepdim: _b.bool=False, *, dtype: Any=None, out: Any=None) -> Tensor:
        """The sum along ``dim`` of what is not NaN."""
    def narrow(self, dim: _b.int, start: Any, length: _b.int) -> Tensor:
        """The view of ``length`` indices of ``dim`` from ``start`` on."""
    def narrow_copy(self, dim: _b.int, start: Any, length: _b.int, *, out: Any=None) -> Tensor:
        """What ``narrow`` gives, in memory of its own."""
    def ndimension(self) -> _b.int:
        """The number of dimensions."""
    def ne(self, other: Tensor | _b.int | _b.float | _b.complex, *, out: Any=None) -> Tensor:
        """Whether elements differ."""
    def ne_(self, other: Any) -> Tensor:
        """In-place :func:`ne`."""
    def neg(self, *, out: Any=None) -> Tensor:
        """The elements with the other sign."""
    def neg_(self) -> Tensor: ...
    def negative(self, *, out: Any=None) -> Tensor:
        """The elements with the other sign."""
    def negative_(self) -> Tensor: ...
    def nelement(self) -> _b.int:
        """The number of elements."""
    def new(self, *args: Any, **kwargs: Any) -> Tensor:
        """A tensor of the same dtype, made as by the old constructors."""
    def new_empty(self, *size: Any, dtype: Any=None, layout: Any=None, device: Any=None, pin_memory: _b.bool=False, requires_grad: _b.bool=False, **rest: Any) -> Tensor:
        """An uninitialised tensor of a size, with this tensor's dtype unless told."""
    def new_empty_strided(self, size: Any, stride: Any, *, dtype: Any=None, layout: Any=None, device: Any=None, pin_memory: _b.bool=False, requires_grad: _b.bool=False) -> Tensor:
        """An uninitialised tensor of these sizes and strides, with this one's dtype unless told."""
    def new_full(self, size: Any, fill_value: Any, *, dtype: Any=None, layout: Any=None, device: Any=None, pin_memory: _b.bool=False, requires_grad: _b.bool=False) -> Tensor:
        """A tensor of a size filled with one value, with this one's dtype unless told."""
    def new_legacy(self, *args: Any, **kwargs: Any) -> Tensor:
        """A tensor of the same dtype, made as by the old constructors."""
    def new_ones(self, *size: Any, dtype: Any=None, layout: Any=None, device: Any=None, pin_memory: _b.bool=False, requires_grad: _b.bool=False, **rest: Any) -> Tensor:
        """Ones of a size, with this tensor's dtype unless told."""
    def new_tensor(self, data: Any, *, dtype: Any=None, layout: Any=None, device: Any=None, pin_memory: _b.bool=False, requires_grad: _b.bool=False) -> Tensor:
        """A tensor of ``data``, with this one's dtype unless told."""
    def new_zeros(self, *size: Any, dtype: Any=None, layout: Any=None, device: Any=None, pin_memory: _b.bool=False, requires_grad: _b.bool=False, **rest: Any) -> Tensor:
        """Zeros of a size, with this tensor's dtype unless told."""
    def nextafter(self, other: Tensor, *, out: Any=None) -> Tensor:
        """The float next to each element in the direction of ``other``."""
    def nextafter_(self, other: Tensor) -> Tensor: ...
    def nonzero(self, *, out: Any=None, as_tuple: _b.bool=False) -> Any:
        """The indices of all elements that are not zero: one in a row, or a vector for each dimension."""
    def nonzero_static(self, *, size: _b.int, fill_value: _b.int=-1, out: Any=None) -> Tensor:
        """The indices of elements that are not zero, one in a row: the first ``size``, or filled up with ``fill_value``."""
    def norm(self, p: Any='fro', dim: Any=None, keepdim: _b.bool=False, out: Any=None, dtype: Any=None) -> Tensor:
        """The ``p``-norm of all elements or along ``dim``; "fro" and "nuc" are norms of matrices."""
    def normal_(self, mean: _b.float=0.0, std: _b.float=1.0, *, generator: Any=None) -> Tensor:
        """Fill with normal numbers."""
    def not_equal(self, other: Tensor | _b.int | _b.float | _b.complex, *, out: Any=None) -> Tensor:
        """Whether elements differ."""
    def not_equal_(self, other: Any) -> Tensor:
        """In-place :func:`ne`."""
    def numel(self) -> _b.int:
        """The number of elements."""
    def numpy(self, *, force: _b.bool=False) -> Any:
        """The tensor as a NumPy array on the same memory; ``force`` does without the history."""
    def orgqr(self, input2: Tensor, *, out: Any=None) -> Tensor:
        """The first columns of a product of reflections; the older name of ``linalg.householder_product``."""
    def ormqr(self, input2: Tensor, input3: Tensor, left: _b.bool=True, transpose: _b.bool=False, *, out: Any=None) -> Tensor:
        """The product of the reflections in ``input``, with factors ``input2``, times ``input3``; or what undoes it."""
    def outer(self, vec2: Tensor, *, out: Any=None) -> Tensor:
        """The product of each element of one vector with each of another."""
    def permute(self, *dims: Any, **named: Any) -> Tensor:
        """The view with the dimensions in another order."""
    def pin_memory(self, device: Any=None) -> Tensor:
        """PyTorch's refusal: there is no accelerator to pin memory for."""
    def pinverse(self, rcond: _b.float=1e-15) -> Tensor:
        """The pseudoinverses; singular values up to ``rcond`` times the largest count as zero."""
    def poisson(self, generator: Any=None, *, out: Any=None) -> Tensor:
        """Counts of events whose mean numbers ``self`` holds."""
    def polygamma(self, n: _b.int) -> Tensor:
        """The derivative of digamma of order ``n``."""
    def polygamma_(self, n: _b.int) -> Tensor:
        """In-place :func:`polygamma`."""
    def positive(self) -> Tensor:
        """The tensor itself."""
    def pow(self, exponent: Any, *, out: Any=None) -> Tensor:
        """``input`` to the power ``exponent``; one of them may be a number."""
    def pow_(self, exponent: Any) -> Tensor:
        """In-place :func:`pow`."""
    def prelu(self, weight: Tensor) -> Tensor:
        """The elements, those not positive times ``weight``: one number, or one for each channel (dimension 1)."""
    def prod(self, dim: Any=..., keepdim: _b.bool=False, *, dtype: Any=None, out: Any=None, axis: Any=..., keepdims: Any=...) -> Tensor:
        """The product of all elements, or the products along ``dim``."""
    def put(self, index: Tensor, source: Tensor, accumulate: _b.bool=False) -> Tensor:
        """The tensor with ``source`` put, or added, where ``index`` says, counted as if in one row."""
    def put_(self, index: Tensor, source: Tensor, accumulate: _b.bool=False) -> Tensor:
        """In-place :func:`put`."""
    def qr(self, some: _b.bool=True, *, out: Any=None) -> Any:
        """Orthonormal columns and an upper triangle; the older name of ``linalg.qr``."""
    def quantile(self, q: Any, dim: Any=None, keepdim: _b.bool=False, *, interpolation: _b.str='linear', out: Any=None) -> Tensor:
        """The values below which fractions ``q`` of the elements lie, of all or along ``dim``."""
    def rad2deg(self, *, out: Any=None) -> Tensor:
        """Radians as degrees."""
    def rad2deg_(self) -> Tensor: ...
    def random_(self, *bounds: Any, generator: Any=None, **named: Any) -> Tensor:
        """Fill with whole numbers: of all the dtype counts, or below ``to``, or from ``from`` to ``to - 1``."""
    def ravel(self) -> Tensor:
        """The view, or copy, in one dimension."""
    @property
    def real(self) -> Tensor: ...
    def reciprocal(self, *, out: Any=None) -> Tensor:
        """One over each element."""
    def reciprocal_(self) -> Tensor: ...
    def relu(self, *, out: Any=None) -> Tensor:
        """The elements, negative ones replaced by zero."""
    def relu_(self) -> Tensor: ...
    def remainder(self, other: Any, *, out: Any=None) -> Tensor:
        """What division leaves, with the sign of the divisor."""
    def remainder_(self, other: Any) -> Tensor:
        """In-place :func:`remainder`."""
    def renorm(self, p: Any, dim: Any, maxnorm: Any, *, out: Any=None) -> Tensor:
        """Each slice along ``dim`` whose ``p``-norm is more than ``maxnorm``, scaled down to that."""
    def renorm_(self, p: Any, dim: Any, maxnorm: Any) -> Tensor: ...
    def repeat(self, *repeats: Any, **named: Any) -> Tensor:
        """The tensor beside itself, so many times along every dimension."""
    def repeat_interleave(self, repeats: Any=None, dim: _b.int | None=None, *, output_size: _b.int | None=None) -> Tensor:
        """Each element, or slice of ``dim``, so often in a row; of one tensor alone, its indices as often as it says."""
    def reshape(self, *shape: Any, **named: Any) -> Tensor:
        """The tensor with other sizes: a view where there can be one, else a copy."""
    def reshape_as(self, other: Tensor) -> Tensor:
        """The tensor with the sizes of ``other``."""
    def resize(self, *sizes: Any) -> Tensor:
        """The same number of elements under other sizes; deprecated for ``view`` and ``reshape``."""
    def resize_(self, *sizes: Any, memory_format: Any=None) -> Tensor:
        """Give the tensor other sizes over the same memory, or over more of it; what is new has no particular value."""
    def resize_as(self, tensor: Any) -> Tensor:
        """The same number of elements under the sizes of another tensor; deprecated for ``view_as``."""
    def resize_as_(self, the_template: Tensor, *, memory_format: Any=None) -> Tensor:
        """Give the tensor the sizes of another."""
    def resolve_conj(self) -> Tensor:
        """The same tensor, no longer said to be a conjugate."""
    def resolve_neg(self) -> Tensor:
        """The tensor itself: negations are never left for later here."""
    def roll(self, shifts: Any, dims: Any=...) -> Tensor:
        """The tensor with elements moved on along ``dims``, those that fall off coming back at the other end."""
    def rot90(self, k: _b.int=1, dims: Any=...) -> Tensor:
        """The tensor turned ``k`` times by 90 degrees in the plane of two dimensions."""
    def round(self, *, decimals: _b.int | None=None, out: Any=None) -> Tensor:
        """The nearest integer, or multiple of a power of ten; halves go to the even one."""
    def round_(self, *, decimals: _b.int | None=None) -> Tensor:
        """In-place :func:`round`."""
    def rsqrt(self, *, out: Any=None) -> Tensor:
        """One over the square root."""
    def rsqrt_(self) -> Tensor: ...
    def rsub(self, other: Tensor | _b.int | _b.float | _b.complex, alpha: Any=1, *, out: Any=None) -> Tensor:
        """The elementwise difference ``other - alpha * self``, with broadcasting."""
    def scatter(self, dim: _b.int, index: Tensor, src: Any=None, *, value: Any=None, reduce: Any=None, out: Any=None) -> Tensor:
        """The tensor with ``src``, or a number, where ``index`` points along ``dim``."""
    def scatter_(self, dim: _b.int, index: Tensor, src: Any=None, *, value: Any=None, reduce: Any=None) -> Tensor:
        """In-place :func:`scatter`."""
    def scatter_add(self, dim: _b.int, index: Tensor, src: Tensor, *, out: Any=None) -> Tensor:
        """The tensor with ``src`` added where ``index`` points along ``dim``."""
    def scatter_add_(self, dim: _b.int, index: Tensor, src: Tensor) -> Tensor:
        """In-place :func:`scatter_add`."""
    def scatter_reduce(self, dim: _b.int, index: Tensor, src: Tensor, reduce: _b.str, *, include_self: _b.bool=True, out: Any=None) -> Tensor:
        """The tensor with what ``src`` sends to each place reduced into it."""
    def scatter_reduce_(self, dim: _b.int, index: Tensor, src: Tensor, reduce: _b.str, *, include_self: _b.bool=True) -> Tensor:
        """In-place :func:`scatter_reduce`."""
    def select(self, dim: Any, index: Any, *, out: Any=None) -> Tensor:
        """The view at ``index`` of ``dim``, that dimension dropped."""
    def select_scatter(self, src: Tensor, dim: Any, index: Any, *, out: Any=None) -> Tensor:
        """``self`` with ``src`` at ``index`` of ``dim``."""
    def set_(self, source: Any=None, storage_offset: Any=0, size: Any=None, stride: Any=None) -> Tensor:
        """Make the tensor look at other memory: a storage's or another tensor's; sizes and strides in elements."""
    def sgn(self, *, out: Any=None) -> Tensor:
        """The sign; of a complex number, the unit number of the same direction."""
    def sgn_(self) -> Tensor: ...
    def share_memory_(self) -> Tensor:
        """The tensor itself, its memory moved to where other processes see it: writes in one are seen in all."""
    def short(self, memory_format: Any=None) -> Tensor:
        """The tensor as torch.int16."""
    def sigmoid(self, *, out: Any=None) -> Tensor:
        """The logistic function 1 / (1 + exp(-x))."""
    def sigmoid_(self) -> Tensor: ...
    def sign(self, *, out: Any=None) -> Tensor:
        """The sign: -1, 0 or 1."""
    def sign_(self) -> Tensor: ...
    def signbit(self, *, out: Any=None) -> Tensor:
        """Whether the sign bit is set: negative numbers and -0.0."""
    def sin(self, *, out: Any=None) -> Tensor:
        """The sine."""
    def sin_(self) -> Tensor: ...
    def sinc(self, *, out: Any=None) -> Tensor:
        """sin(pi x) / (pi x), one at zero."""
    def sinc_(self) -> Tensor: ...
    def sinh(self, *, out: Any=None) -> Tensor:
        """The hyperbolic sine."""
    def sinh_(self) -> Tensor: ...
    def size(self, dim: _b.int | None=None) -> Size | _b.int:
        """The sizes of all dimensions, or of one."""
    def slice_scatter(self, src: Tensor, dim: Any=0, start: Any=None, end: Any=None, step: Any=1, *, out: Any=None) -> Tensor:
        """``self`` with ``src`` at a slice of ``dim``."""
    def slogdet(self, *, out: Any=None) -> Any:
        """The signs of the determinants and the logarithms of their sizes."""
    def softmax(self, dim: Any=..., dtype: Any=None, *, out: Any=None) -> Tensor:
        """Exponentials along ``dim``, scaled to sum to one."""
    def solve(self, *args: Any, **kwargs: Any) -> Any:
        """Removed from PyTorch: it raises what PyTorch raises, which names what to use instead."""
    def sort(self, dim: Any=-1, descending: _b.bool=False, *, stable: _b.bool | None=None, out: Any=None) -> Any:
        """The elements in order along ``dim``, and where they were."""
    def sparse_dim(self) -> _b.int:
        """0: no dimension is sparse."""
    def sparse_mask(self, mask: Any) -> Any:
        """The values of a tensor where the sparse tensor ``mask`` has some."""
    def split(self, split_size_or_sections: Any=None, dim: _b.int=0, *, split_size: Any=None) -> _b.tuple[Tensor, ...]:
        """Views of pieces of ``dim``: of one size (the last may be smaller), or of the sizes listed."""
    def split_with_sizes(self, split_sizes: Any, dim: _b.int=0) -> _b.tuple[Tensor, ...]:
        """Views of pieces of ``dim`` of the sizes listed."""
    def sqrt(self, *, out: Any=None) -> Tensor:
        """The square root."""
    def sqrt_(self) -> Tensor: ...
    def square(self, *, out: Any=None) -> Tensor:
        """The second power."""
    def square_(self) -> Tensor:
        """In-place :func:`square`."""
    def squeeze(self, *dim: Any, **named: Any) -> Tensor:
        """The view without dimensions of size 1: all, or those named."""
    def squeeze_(self, *dim: Any, **named: Any) -> Tensor:
        """In-place :func:`squeeze`."""
    def std(self, dim: Any=None, unbiased: Any=..., keepdim: _b.bool=False, *, correction: Any=..., out: Any=None) -> Tensor:
        """The standard deviation: the square root of ``var``."""
    def stft(self, n_fft: _b.int, hop_length: _b.int | None=None, win_length: _b.int | None=None, window: Any=None, center: _b.bool=True, pad_mode: _b.str='reflect', normalized: _b.bool=False, onesided: _b.bool | None=None, return_complex: _b.bool | None=None, align_to_window: _b.bool | None=None) -> Tensor:
        """The Fourier transforms of frames of a signal: sizes (batch, frequencies, frames)."""
    def storage(self) -> Any:
        """The memory of the tensor as numbers; deprecated for ``untyped_storage``."""
    def storage_offset(self) -> _b.int:
        """How many elements of its memory lie before the first element."""
    def storage_type(self) -> Any:
        """The old class of the tensor's storage, such as FloatStorage."""
    def stride(self, dim: _b.int | None=None) -> _b.tuple[_b.int, ...] | _b.int:
        """How far apart neighbours along all dimensions (or one) lie, in elements."""
    def sub(self, other: Tensor | _b.int | _b.float | _b.complex, alpha: Any=1, *, out: Any=None) -> Tensor:
        """The elementwise difference ``self - alpha * other``, with broadcasting."""
    def sub_(self, other: Tensor | _b.int | _b.float | _b.complex, alpha: Any=1) -> Tensor: ...
    def subtract(self, other: Tensor | _b.int | _b.float | _b.complex, alpha: Any=1, *, out: Any=None) -> Tensor:
        """The elementwise difference ``self - alpha * other``, with broadcasting."""
    def subtract_(self, other: Tensor | _b.int | _b.float | _b.complex, alpha: Any=1) -> Tensor: ...
    def sum(self, dim: Any=..., keepdim: Any=False, *, dtype: Any=None, out: Any=None, axis: Any=..., keepdims: Any=...) -> Tensor:
        """The sum of all elements, or the sums along ``dim``; integers are summed in int64."""
    def sum_to_size(self, *size: Any, **named: Any) -> Tensor:
        """The tensor summed to ``size``, which must broadcast to its own shape."""
    def svd(self, some: _b.bool=True, compute_uv: _b.bool=True, *, out: Any=None) -> Any:
        """Orthonormal columns ``U``, falling values ``S``, orthonormal columns ``V``: ``U @ diag(S) @ V.mH = input``."""
    def swapaxes(self, dim0: Any, dim1: Any, *, out: Any=None) -> Tensor:
        """The view with two dimensions exchanged."""
    def swapaxes_(self, dim0: _b.int, dim1: _b.int) -> Tensor:
        """In-place :func:`transpose`."""
    def swapdims(self, dim0: Any, dim1: Any, *, out: Any=None) -> Tensor:
        """The view with two dimensions exchanged."""
    def swapdims_(self, dim0: _b.int, dim1: _b.int) -> Tensor:
        """In-place :func:`transpose`."""
    def symeig(self, *args: Any, **kwargs: Any) -> Any:
        """Removed from PyTorch: it raises what PyTorch raises, which names what to use instead."""
    def t(self, *, out: Any=None) -> Tensor:
        """The transposed view of a matrix; vectors and scalars as they are."""
    def t_(self) -> Tensor:
        """In-place :func:`t`."""
    def take(self, index: Tensor, *, out: Any=None) -> Tensor:
        """The elements that ``index`` names, counted as if the tensor were one row."""
    def take_along_dim(self, indices: Tensor, dim: _b.int | None=None, *, out: Any=None) -> Tensor:
        """The elements that ``indices`` name along ``dim``, with broadcasting; negative indices count from the end."""
    def tan(self, *, out: Any=None) -> Tensor:
        """The tangent."""
    def tan_(self) -> Tensor: ...
    def tanh(self, *, out: Any=None) -> Tensor:
        """The hyperbolic tangent."""
    def tanh_(self) -> Tensor: ...
    def tensor_split(self, indices_or_sections: Any=None, dim: _b.int=0, *, indices: Any=None, sections: Any=None) -> _b.tuple[Tensor, ...]:
        """Views of pieces of ``dim``: so many of nearly one size, or those between the indices listed."""
    def tile(self, *dims: Any, **named: Any) -> Tensor:
        """The tensor beside itself, so many times along the last dimensions."""
    def to(self, *args: Any, **kwargs: Any) -> Tensor:
        """The tensor in another dtype or on another device; itself where nothing changes."""
    def to_dense(self, dtype: Any=None, *, masked_grad: _b.bool | None=None) -> Tensor:
        """The tensor itself, which is dense, or a copy of another dtype."""
    def to_sparse(self, sparse_dim: _b.int | None=None, *, layout: Any=None, **blocks: Any) -> Any:
        """What is not nought: ``sparse_dim`` leading dimensions sparse (all, unless told), or in a ``layout``."""
    def to_sparse_coo(self) -> Any:
        """What is not nought, by coordinates."""
    def to_sparse_csr(self, dense_dim: _b.int | None=None) -> Any:
        """What of a matrix is not nought, by compressed rows."""
    def tolist(self) -> Any:
        """The elements as nested lists; of a 0-d tensor, its number."""
    def topk(self, k: _b.int, dim: _b.int=-1, largest: _b.bool=True, sorted: _b.bool=True, *, out: Any=None) -> Any:
        """The ``k`` largest (or smallest) elements along ``dim``, and where they are."""
    def trace(self, *, out: Any=None) -> Tensor:
        """The sum of a matrix's diagonal; integers add up as int64."""
    def transpose(self, dim0: Any, dim1: Any, *, out: Any=None) -> Tensor:
        """The view with two dimensions exchanged."""
    def transpose_(self, dim0: _b.int, dim1: _b.int) -> Tensor:
        """In-place :func:`transpose`."""
    def triangular_solve(self, A: Tensor, upper: _b.bool=True, transpose: _b.bool=False, unitriangular: _b.bool=False, *, out: Any=None) -> Any:
        """The solutions of triangular equations, and a copy of ``A``; an older form of ``linalg.solve_triangular``."""
    def tril(self, diagonal: Any=0, *, out: Any=None) -> Tensor:
        """Matrices with zeros above a diagonal."""
    def tril_(self, diagonal: Any=0) -> Tensor: ...
    def triu(self, diagonal: Any=0, *, out: Any=None) -> Tensor:
        """Matrices with zeros below a diagonal."""
    def triu_(self, diagonal: Any=0) -> Tensor: ...
    def true_divide(self, other: Tensor | _b.int | _b.float | _b.complex, *, out: Any=None) -> Tensor:
        """The elementwise quotient, with broadcasting."""
    def true_divide_(self, other: Tensor | _b.int | _b.float | _b.complex) -> Tensor: ...
    def trunc(self, *, out: Any=None) -> Tensor:
        """The integer part."""
    def trunc_(self) -> Tensor: ...
    def type(self, dtype: Any=None, non_blocking: _b.bool=False, **kwargs: Any) -> Any:
        """The legacy name of the tensor's type, such as ``torch.FloatTensor``; or the tensor as another type."""
    def type_as(self, other: Tensor) -> Tensor:
        """The tensor in the dtype of another."""
    def unbind(self, dim: Any=0, *, out: Any=None) -> _b.tuple[Tensor, ...]:
        """The views at every index of ``dim``, that dimension dropped."""
    def unflatten(self, dim: _b.int, sizes: Any) -> Tensor:
        """The view in which one dimension is laid out as several."""
    def unfold(self, dimension: Any, size: Any, step: Any, *, out: Any=None) -> Tensor:
        """The view of all windows of ``size`` along ``dimension``, ``step`` apart, as a new last dimension."""
    def uniform_(self, *bounds: Any, generator: Any=None, **named: Any) -> Tensor:
        """Fill with numbers spread evenly over [from, to); over [0, 1) unless told."""
    def unique(self, sorted: _b.bool=True, return_inverse: _b.bool=False, return_counts: _b.bool=False, dim: _b.int | None=None) -> Any:
        """The different elements, or slices of ``dim``, in order; on request where each element went, and how often."""
    def unique_consecutive(self, return_inverse: _b.bool=False, return_counts: _b.bool=False, dim: _b.int | None=None) -> Any:
        """The first of every run of equal elements, or slices of ``dim``; on request each element's run, and its length."""
    def unsafe_chunk(self, chunks: _b.int, dim: _b.int=0) -> _b.tuple[Tensor, ...]:
        """What ``chunk`` gives, for whoever promises not to write into the pieces."""
    def unsafe_split(self, split_size: _b.int, dim: _b.int=0) -> _b.tuple[Tensor, ...]:
        """What ``split`` gives, for whoever promises not to write into the pieces: not tracked as views."""
    def unsafe_split_with_sizes(self, split_sizes: Any, dim: _b.int=0) -> Any:
        """What ``split_with_sizes`` gives, for whoever promises not to write into the pieces: not tracked as views."""
    def unsqueeze(self, dim: Any, *, out: Any=None) -> Tensor:
        """The view with a dimension of size 1 put in at ``dim``."""
    def unsqueeze_(self, dim: _b.int) -> Tensor:
        """In-place :func:`unsqueeze`."""
    def untyped_storage(self) -> Any:
        """The memory of the tensor, which its views share."""
    def values(self, *args: Any) -> Any:
        """PyTorch's refusal: the tensor is not sparse."""
    def var(self, dim: Any=None, unbiased: Any=..., keepdim: _b.bool=False, *, correction: Any=..., out: Any=None) -> Tensor:
        """The variance: squared deviations from the mean, summed and divided by ``n - correction``."""
    def vdot(self, other: Tensor, *, out: Any=None) -> Tensor:
        """The sum of the products of two vectors' elements, the first conjugated."""
    def view(self, *size: Any, **named: Any) -> Tensor:
        """The view with other sizes, or of the same bytes as another dtype."""
    def view_as(self, other: Tensor) -> Tensor:
        """The view with the sizes of ``other``."""
    def view_as_complex(self) -> Tensor:
        """The view of pairs along the last dimension as complex numbers."""
    def view_as_real(self) -> Tensor:
        """The view of complex numbers as pairs along a new last dimension."""
    @property
    def volatile(self) -> Any: ...
    def vsplit(self, indices_or_sections: Any) -> _b.tuple[Tensor, ...]:
        """Views of pieces on top of each other."""
    def where(self, condition: Tensor, other: Any) -> Any:
        """``self`` where ``condition`` holds, ``other`` elsewhere."""
    def xlogy(self, other: Any, *, out: Any=None) -> Tensor:
        """``input * log(other)``, zero where ``input`` is zero; one of them may be a number."""
    def xlogy_(self, other: Any) -> Tensor:
        """In-place :func:`xlogy`."""
    def zero_(self) -> Tensor:
        """Fill the tensor with zeros."""
def carries_gradients(kind: np.dtype[Any]) -> bool:
    """Whether tensors of this dtype can carry gradients: floating point (bfloat16 is NumPy's kind V) and complex."""
def require_grad(tensor: Tensor, value: bool, refusal: str=errors.ONLY_FLOATS) -> None:
    """Set ``requires_grad`` of a leaf, or raise as PyTorch does."""
_C_NAMES: Any
def _check_grad(tensor: Tensor, value: Any) -> None: ...
