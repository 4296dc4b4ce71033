"""Matrix products as users call them: ``matmul``, linear layers, ``addmm_``; chooses the row that serves the sizes."""

from __future__ import annotations

import math
from typing import Any

from ...core import write
from ...core.call import is_like_tensor
from ...core.tensor import Tensor, share, wrap
from ...ground import dtypes, errors, modes
from ...ground.listening import audible
from ...ground.runtime import warn, warn_once
from ...kernels.columns import not_implemented
from ...ops.autocast import low
from ...ops.declare import COMPOSITES, composite
from ...tensor import out as outs
from ...tensor import writable
from ...tensor.refusals import former
from ..arithmetic.rows import mul
from ..linalg.rows import determinant, inverse_of, same_kind
from ..shape.rows import (
    axes_of,
    axis_of,
    compact,
    expand,
    permute,
    reshape,
    squeeze_dim,
    t,
    transpose,
    unsafe_view,
    unsqueeze,
    view,
)
from . import batch as rows
from .batch import baddbmm, bmm
from .rows import addmm, addmv, addr, dot, linear_2d, mm, mv, squeezed_row, vdot


def demand(function: str, **tensors: Any) -> None:
    """Raise PyTorch's error for the first argument that is no tensor."""
    for position, (name, value) in enumerate(tensors.items(), 1):
        if not isinstance(value, Tensor):
            raise TypeError(
                f"{function}(): argument '{name}' (position {position}) must be Tensor, not {dtypes.called(value)}"
            )


_VECDOT_OUT = "linalg.vecdot: Expected out of dtype{Wanted} but found {Found}"


def into(
    function: str, inputs: Any, out: Any, result: Any, refusal: str = errors.OUT_DTYPE, castable: bool = False,
    copied: bool = False,
) -> Any:  # fmt: skip
    """The result of a function of several rows put into its ``out=``; gives ``out``."""
    return outs.into(outs.Composed(function, refusal, castable, copied), inputs, out, result)


# -- matmul -----------------------------------------------------------------------------------------------------------


@composite(page="torch")
def matmul(input: Any, other: Any, *, out: Any = None) -> Any:
    """The matrix product: of vectors, matrices, or broadcast batches of matrices."""
    try:
        n, m = input._array.ndim, other._array.ndim
    except AttributeError:
        demand("matmul", input=input, other=other)
        raise
    if n == 2 and m == 2 and out is None:
        return mm(input, other)
    if modes.watch:
        input, other = low(input, other)
    product = _matmul(input, other, n, m, out is not None)
    if out is None:
        return product
    words = errors.OUT_DTYPE if product._array.ndim else errors.OUT_MATCH
    if 1 in (n, m) and max(n, m) > 2 and _folds(input, other, n, m, True):
        words = "addmv input tensors must have the same dtype, but got {Found}, {Wanted}, and {Wanted}"
    return into("matmul", (input, other), out, product, words)


def _matmul(input: Tensor, other: Tensor, n: int, m: int, has_out: bool) -> Tensor:
    if not n or not m:
        raise RuntimeError(f"both arguments to matmul need to be at least 1D, but they are {n}D and {m}D")
    if n <= 2 and m <= 2:
        if m == 1:
            return dot(input, other) if n == 1 else mv(input, other)
        return squeezed_row(mm(unsqueeze(input, 0), other), 0) if n == 1 else mm(input, other)
    if _folds(input, other, n, m, has_out):
        return _folded(input, other, n, m)
    if n == m == 3 and len(input._array) != len(other._array):
        if len(input._array) == 1 and input.requires_grad:
            return _matmul(squeeze_dim(input, 0), other, 2, 3, has_out)
        if len(other._array) == 1 and other.requires_grad:
            return _matmul(input, squeeze_dim(other, 0), 3, 2, has_out)
    return _batched(input, other, n, m)


def _folds(input: Tensor, other: Tensor, n: int, m: int, has_out: bool) -> bool:
    """Whether the batch of the larger tensor can join its rows, so that one product of matrices serves."""
    large, small = (input, other) if n >= m else (other, input)
    if min(n, m) > 2:
        return False
    if small.requires_grad and not has_out:
        return True  # else its gradient would be a batch first, then a sum
    if n == 2:
        return False
    array = large._array if n >= m else large._array.swapaxes(-1, -2)
    return not array.size or all(
        array.strides[i] == array.strides[i + 1] * array.shape[i + 1] for i in range(array.ndim - 2)
    )


def _folded(input: Tensor, other: Tensor, n: int, m: int) -> Tensor:
    turned = m > n
    large, small = (transpose(other, -1, -2), input) if turned else (input, other)
    if turned and n == 2:
        small = t(small)
    sizes = large._array.shape
    flat = reshape(large, (math.prod(sizes[:-1]), sizes[-1]))
    if small._array.ndim == 1:
        return unsafe_view(mv(flat, small), sizes[:-1])
    product = unsafe_view(mm(flat, small), (*sizes[:-1], small._array.shape[1]))
    if not turned:
        return product
    product = transpose(product, -1, -2)
    return product if product._array.flags.c_contiguous else compact(product)


def _batched(input: Tensor, other: Tensor, n: int, m: int) -> Tensor:
    a, b = input._array.shape, other._array.shape
    rows_, inner = (a[-2] if n > 1 else 1), a[-1]
    length, columns = (b[-2], b[-1]) if m > 1 else (b[0], 1)
    batch = broadcast(a[:-2], b[:-2])
    count = math.prod(batch)
    silent = (input._edge is None and other._edge is None) or (modes.off and not modes.grad_enabled())
    if silent and not (modes.unusual or modes.transforming) and n == m and a[:-2] == b[:-2]:
        left, right = (
            wrap(input._array.reshape(count, rows_, inner)),
            wrap(other._array.reshape(count, length, columns)),
        )
        product = bmm(left, right)
        product._array = product._array.reshape(*batch, rows_, columns)
        return product
    left = reshape(expand(input, (*batch, rows_, inner)), (count, rows_, inner))
    sizes = batch
    if n > 1:
        sizes = (*sizes, rows_)
    if m == 1:
        right = unsqueeze(reshape(expand(other, (*batch, length)), (count, length)), 2)
        return unsafe_view(squeeze_dim(bmm(left, right), -1), sizes)
    right = reshape(expand(other, (*batch, length, columns)), (count, length, columns))
    return unsafe_view(bmm(left, right), (*sizes, columns))


def broadcast(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    """The sizes that two shapes broadcast to; PyTorch's error where they do not."""
    ndim = max(len(a), len(b))
    sizes = []
    for dim in range(ndim - 1, -1, -1):
        n, m = (shape[dim - ndim] if dim - ndim >= -len(shape) else 1 for shape in (a, b))
        if n != m and n != 1 and m != 1:
            raise RuntimeError(
                f"The size of tensor a ({n}) must match the size of tensor b ({m}) at non-singleton dimension {dim}"
            )
        sizes.append(m if n == 1 else n)
    return tuple(reversed(sizes))


@composite(function=False, name="__matmul__")
def _matmul_operator(self: Tensor, other: Any) -> Any:
    """``self @ other``; where that is no tensor, Python asks the other operand."""
    return matmul(self, other) if is_like_tensor(other) else NotImplemented


@composite(function=False, name="__rmatmul__")
def _reflected_matmul(self: Tensor, other: Any) -> Any:
    """``other @ self``: for tensors only."""
    return matmul(other, self) if is_like_tensor(other) else NotImplemented


# -- linear maps ------------------------------------------------------------------------------------------------------


@audible
def linear(input: Any, weight: Any, bias: Any = None) -> Any:
    """``input @ weight.T + bias``, over the last dimension of ``input``."""
    if modes.watch:
        input, weight, bias = low(input, weight, bias)
    try:
        n, m = input._array.ndim, weight._array.ndim
        if n == 2 == m and bias is not None and bias._array.shape == weight._array.shape[:1]:
            return linear_2d(bias, input, weight)
    except AttributeError:
        demand("linear", input=input, weight=weight)
        raise
    if not n or not m:
        raise RuntimeError(f"both arguments to linear need to be at least 1D, but they are {n}D and {m}D")
    if bias is None:
        return matmul(input, t(weight))
    if n == 2:
        return addmm(bias, input, t(weight))
    array, sizes = input._array, bias._array.shape
    is_line = len(sizes) == 1 or sum(size != 1 for size in sizes) == 1
    if m < 3 and is_line and array.flags.c_contiguous and bias._array.flags.c_contiguous:
        if m == 1:
            raise RuntimeError("mat2 must be a matrix, got 1-D tensor")
        lines = reshape(input, (math.prod(array.shape[:-1]), array.shape[-1]))
        is_vector = sizes == weight._array.shape[:1]
        product = linear_2d(bias, lines, weight) if is_vector else addmm(bias, lines, t(weight))
        return view(product, (*array.shape[:-1], product._array.shape[1]))
    product = matmul(input, t(weight))
    result = product + bias
    writable.check_fits(product, result._array.shape)
    writable.check_cast(result._array.dtype, product)  # PyTorch adds the bias in place
    return result if result._array.dtype == product._array.dtype else result.to(product.dtype)


# -- in place ---------------------------------------------------------------------------------------------------------


def _in_place(row: Any, check: Any, function: bool = False) -> None:
    """Publish ``name_`` for a row, with a check of arrays that asks whether ``self`` has the size of the result."""
    name = row.name

    def method(self: Tensor, *values: Any, beta: Any = 1, alpha: Any = 1, **named: Any) -> Tensor:
        values = (*values, *[named.pop(each) for each in row.inputs[1 + len(values) :] if each in named])
        if named or len(values) < 2:
            raise TypeError(f"{name}_() takes {' and '.join(row.inputs[1:])}, beta and alpha, but got {[*named]}")
        first, second, *more = values
        if more:
            (_, first, second), (beta, alpha) = former(row, (self, *values), True)
        writable.check_writable(self, False)
        check(self._array, first._array, second._array)
        return write.in_place(row, self, (first, second), (beta, alpha))

    method.__name__ = method.__qualname__ = f"{name}_"
    method.__doc__ = f"In-place :func:`{name}`."
    composite(function=function, name=f"{name}_")(method)


def _has_sizes(dims: tuple[int, int, int]) -> Any:
    """A check that a product of so many dimensions, of factors of so many, has the sizes of what is written."""

    def check(self: Any, a: Any, b: Any) -> None:
        if (a.ndim, b.ndim) != dims[1:] or a.shape[-1] != b.shape[max(b.ndim - 2, 0)]:
            return  # which is told first, as are the dtypes
        sizes = [*a.shape[:-1], *b.shape[b.ndim - 1 :]][: dims[0]]
        if dims[0] > 2 and not _stretches(self.shape, sizes):
            return
        if self.dtype == a.dtype == b.dtype and sizes != [*self.shape] and (dims[0] > 1 or self.size == 1):
            raise RuntimeError(
                f"Bad in-place call: input tensor size {list(self.shape)} and output tensor size {sizes} should match"
            )

    return check


def _stretches(sizes: tuple[int, ...], wanted: list[int]) -> bool:
    pairs = zip(sizes[::-1], wanted[::-1], strict=False)
    return len(sizes) <= len(wanted) and all(size in (1, other) for size, other in pairs)


def _check_addr(self: Any, a: Any, b: Any) -> None:
    if a.ndim == b.ndim == 1 and self.ndim != 2:
        raise RuntimeError(f"2D tensor expected, got {self.ndim}D tensor for input")
    if a.ndim == b.ndim == 1 and self.shape != (*a.shape, *b.shape):
        sizes = [*map(list, (self.shape, a.shape, b.shape))]
        raise RuntimeError("size mismatch, input: {}, v1: {}, v2: {}".format(*sizes))


_in_place(addmm.row, _has_sizes((2, 2, 2)))
_in_place(baddbmm.row, _has_sizes((3, 3, 3)))
_in_place(addmv.row, _has_sizes((1, 2, 1)), True)
_in_place(addr.row, _check_addr)


# -- Products of two, three and many tensors, powers and inverses, as users call them; built of matrix rows.


@composite(method=False)
def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """``input1 @ weight[k] @ input2 + bias[k]`` for each k, over the last dimensions of the inputs."""
    tensors = {"input1": input1, "input2": input2, "weight": weight, **({} if bias is None else {"bias": bias})}
    if len({tensor.dtype for tensor in tensors.values()}) > 1:
        names = ", ".join(f"{name}: {dtypes.c_name(tensor.dtype)}" for name, tensor in tensors.items())
        raise RuntimeError(f"All tensors must have the same dtype, got {names}")
    a, b, w = input1._array.shape, input2._array.shape, weight._array.shape
    if len(a) != len(b):
        raise RuntimeError(f"bilinear(): input dimensions do not match: got {len(a)} and {len(b)}")
    for dim, (n, m) in enumerate(zip(a[:-1], b[:-1], strict=True)):
        if n != m:
            raise RuntimeError(f"bilinear(): input batch dimensions do not match at dim {dim}: got {n} and {m}")
    for name, size, dim in (("input1", input1.size(-1), 1), ("input2", input2.size(-1), 2)):
        wanted = weight.size(dim)  # which refuses a weight of too few dimensions
        if size != wanted:
            raise RuntimeError(f"bilinear(): {name} size does not match weight size: got {size} but expected {wanted}")
    if bias is not None and bias._array.shape[0] != w[0]:
        raise RuntimeError(
            f"bilinear(): bias size does not match weight size: got {bias._array.shape[0]} but expected {w[0]}"
        )
    if len(w) != 3:
        raise RuntimeError("number of dimensions must match")
    rows_ = math.prod(a[:-1])
    left, right = reshape(input1, (rows_, a[-1])), reshape(input2, (rows_, b[-1]))
    left, weight, right = low(left, weight, right)
    product = rows.trilinear(left, weight, right, (1, 3), (0,), (1, 2), (2, 3)).to(input1.dtype)
    product = reshape(product, (*a[:-1], w[0]))
    return product if bias is None else product + bias


# -- products of two --------------------------------------------------------------------------------------------------


@composite()
def outer(input: Tensor, vec2: Tensor, *, out: Any = None) -> Tensor:
    """The product of each element of one vector with each of another."""
    for name, tensor in (("self", input), ("vec2", vec2)):
        if tensor._array.ndim != 1:
            raise RuntimeError(f"outer: Expected 1-D argument {name}, but got {tensor._array.ndim}-D")
    product = view(input, (input._array.shape[0], 1)) * vec2  # type: ignore[operator]
    return product if out is None else into("outer", (input, vec2), out, product, "")


@composite()
def ger(input: Tensor, vec2: Tensor, *, out: Any = None) -> Tensor:
    """:func:`outer` by its former name."""
    if out is not None:
        warn_once(
            "torch.ger is deprecated and will be removed in a future PyTorch release. Use torch.outer instead. "
            "(Triggered internally at /__w/pytorch/pytorch/aten/src/ATen/native/LinearAlgebra.cpp:1270.)"
        )
    return outer(input, vec2, out=out)


@composite()
def inner(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor:
    """The product of vectors, summed over the last dimension of both."""
    a, b = input._array, other._array
    if not a.ndim or not b.ndim:
        return mul(input, other, out=out)  # type: ignore[no-any-return]
    if a.shape[-1] != b.shape[-1]:
        raise RuntimeError(
            "inner() the last dimension must match on both input tensors but got shapes "
            f"{list(a.shape)} and {list(b.shape)}"
        )
    product = tensordot(input, other, [[-1], [-1]])
    return product if out is None else into("inner", (input, other), out, product, errors.OUT_TENSORDOT, False, True)


@composite(method=False)
def tensordot(a: Tensor, b: Tensor, dims: Any = 2, out: Any = None) -> Tensor:
    """The sum of products over several dimensions of each.

    dims  how many of the last dimensions of ``a`` meet the first of ``b``, or two lists of dimensions.
    """
    if isinstance(dims, Tensor):
        if dims._array.size > 1 and dims._array.shape[0] != 2:
            raise AssertionError(f"dims tensor must have size 2 in first dimension, got {dims._array.shape[0]}")
        dims = dims.tolist() if dims._array.size > 1 else int(dims.item())  # type: ignore[attr-defined]
    if isinstance(dims, int):
        if dims < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
        if dims > min(a._array.ndim, b._array.ndim):
            raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}")
        first, second = list(range(-dims, 0)), list(range(dims))
    elif not isinstance(dims, (list, tuple)):
        kinds = "int or tuple[list[int], list[int]] or list[list[int]] containing two lists"
        raise RuntimeError(f"tensordot expects dims to be {kinds}, but got dims={dims}")
    else:
        first, second = dims
        for position, (name, each) in enumerate((("dims_self", first), ("dims_other", second)), 3):
            words = f"tensordot(): argument '{name}' (position {position}) must be tuple of ints"
            if not isinstance(each, (list, tuple)):
                raise TypeError(f"{words}, not {dtypes.called(each)}")
            if each and not (dtypes.is_int(each[0]) or isinstance(each[0], Tensor)):
                raise TypeError(f"{words}, but found element of type {dtypes.called(each[0])} at pos 0")
    if len(first) != len(second):
        raise RuntimeError("both dimension lists should have same length")
    if a._array.dtype != b._array.dtype:
        raise RuntimeError("both inputs should have same dtype")
    product = _contracted(a, b, tuple(first), tuple(second))
    return product if out is None else into("tensordot", (a, b), out, product, errors.OUT_TENSORDOT, False, True)


def _contracted(a: Tensor, b: Tensor, named: tuple[int, ...], theirs: tuple[int, ...]) -> Tensor:
    n, m = a._array.shape, b._array.shape
    if named and not (n and m):
        raise IndexError(f"Dimension specified as {(theirs if n else named)[0]} but tensor has no dimensions")
    first, second = list[int](), list[int]()
    summed_a, summed_b = [], []
    for own, other in zip(named, theirs, strict=True):
        i, j = axis_of(own, len(n)), axis_of(other, len(m))
        first.append(i)
        second.append(j)
        if m[j] == 1:
            summed_a.append(i)
        elif n[i] == 1:
            summed_b.append(j)
        elif n[i] != m[j]:
            raise RuntimeError(
                f"contracted dimensions need to match, but first has size {n[i]} in dim {own} and second has "
                f"size {m[j]} in dim {other}"
            )
    axes_of(named, len(n)), axes_of(theirs, len(m))  # none twice
    if summed_a:
        a = a.sum(summed_a, keepdim=True, dtype=a.dtype)  # type: ignore[attr-defined]
    if summed_b:
        b = b.sum(summed_b, keepdim=True, dtype=b.dtype)  # type: ignore[attr-defined]
    n, m = a._array.shape, b._array.shape
    free_a = [i for i in range(len(n)) if i not in first]
    free_b = [j for j in range(len(m)) if j not in second]
    length = math.prod(n[i] for i in first)
    left, right = permute(a, (*free_a, *first)), permute(b, (*second, *free_b))
    height, width = math.prod(n[i] for i in free_a), math.prod(m[j] for j in free_b)
    if height == width == 1 and left.is_contiguous() and right.is_contiguous():  # type: ignore[attr-defined]
        product = dot(*(each if each._array.ndim == 1 else reshape(each, (length,)) for each in (left, right)))
    elif height == width == 1:
        product = (left.squeeze() * right.squeeze()).sum(dtype=left.dtype)  # type: ignore[attr-defined]
    else:
        product = mm(reshape(left, (height, length)), reshape(right, (length, width)))
    return reshape(product, (*(n[i] for i in free_a), *(m[j] for j in free_b)))


def _stretched(tensor: Tensor, sizes: tuple[int, ...]) -> Tensor:
    """``unsafe_view`` of a tensor that others hold, whose writes are noticed."""
    stretched = unsafe_view(tensor, sizes)
    if not modes.transforming:
        stretched._counter = share(tensor)
    return stretched


@composite()
def kron(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor:
    """The Kronecker product: ``other`` in place of each element of ``input``, times that element."""
    ndim = max(input._array.ndim, other._array.ndim)
    a, b = ((1,) * (ndim - x._array.ndim) + x._array.shape for x in (input, other))
    left = _stretched(input, tuple(n for size in a for n in (size, 1)))
    right = _stretched(other, tuple(n for size in b for n in (1, size)))
    product = unsafe_view(left * right, tuple(n * m for n, m in zip(a, b, strict=True)))  # type: ignore[operator]
    return product if out is None else into("kron", (input, other), out, product, "")


@composite()
def cross(input: Tensor, other: Tensor, dim: int | None = None, *, out: Any = None) -> Tensor:
    """The vectors perpendicular to those of both inputs, along ``dim`` or the first dimension of size 3."""
    demand("cross", input=input, other=other)
    if dim is None:
        if input._array.ndim == other._array.ndim and out is None:
            warn(
                "Using torch.cross without specifying the dim arg is deprecated.\nPlease either pass the dim "
                "explicitly or simply use torch.linalg.cross.\nThe default value of dim will change to agree with "
                "that of linalg.cross in a future release."
            )
        dim = next((i for i, size in enumerate(input._array.shape) if size == 3), None)
        if dim is None:
            raise RuntimeError("no dimension of size 3 in input")
    return linalg_cross(input, other, dim=dim, out=out)


@audible
def linalg_cross(input: Tensor, other: Tensor, *, dim: int = -1, out: Any = None) -> Tensor:
    """The vectors perpendicular to those of both inputs along ``dim``; sizes of 1 broadcast."""
    a, b = input._array, other._array
    if a.ndim != b.ndim:
        raise RuntimeError("linalg.cross: inputs must have the same number of dimensions.")
    if not a.ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    axis = axis_of(dim, a.ndim)
    if a.shape[axis] != 3 or b.shape[axis] != 3:
        raise RuntimeError(
            f"linalg.cross: inputs dimension {dim} must have length 3. Got {a.shape[axis]} and {b.shape[axis]}"
        )
    broadcast(a.shape, b.shape)
    if a.dtype != b.dtype and a.dtype.kind != "b":  # of which the row has no kernel
        names = (dtypes.of(x.dtype).scalar_name for x in (a, b))
        raise RuntimeError("expected scalar type {} but found {}".format(*names))
    return rows.linalg_cross(input, other, dim, out=out)


# -- inverses ---------------------------------------------------------------------------------------------------------


def _matrices(function: str, A: Any) -> None:  # noqa: N803  PyTorch's name
    sizes = A._array.shape
    if len(sizes) < 2:
        raise RuntimeError(f"{function}: The input tensor A must have at least 2 dimensions.")
    if sizes[-1] != sizes[-2]:
        raise RuntimeError(
            f"{function}: A must be batches of square matrices, but they are {sizes[-2]} by {sizes[-1]} matrices"
        )


def _fractional(function: str, kind: Any) -> None:
    if not (kind.is_floating_point or kind.is_complex):
        raise RuntimeError(f"{function}: Expected a floating point or complex tensor as input. Got {kind.scalar_name}")


def _square(function: str, A: Any) -> None:  # noqa: N803
    demand(function.replace(".", "_"), A=A)
    _matrices(function, A)
    _fractional(function, A.dtype)
    if A._array.dtype.char not in "fdFD":
        low_precision = f"{function}: Low precision dtypes not supported. Got {A.dtype.scalar_name}"
        raise RuntimeError(low_precision) if function == "linalg.inv" else not_implemented("lu_cpu", A._array)


@audible
def linalg_inv(A: Tensor, *, out: Any = None) -> Tensor:  # noqa: N803
    """The inverse of a square matrix, or of each of a batch."""
    _square("linalg.inv", A)
    inverted = inverse_of(A)
    return inverted if out is None else into("linalg_inv", (A,), out, inverted)


@composite()
def inverse(input: Tensor, *, out: Any = None) -> Tensor:
    """The inverse of a square matrix, or of each of a batch."""
    return linalg_inv(input, out=out)


@audible
def linalg_det(A: Tensor, *, out: Any = None) -> Tensor:  # noqa: N803
    """The determinant of a square matrix, or of each of a batch."""
    _square("linalg.det", A)
    value = determinant(A)
    return value if out is None else into("linalg_det", (A,), out, value)


@composite()
def det(input: Tensor) -> Tensor:
    """The determinant of a square matrix, or of each of a batch."""
    return linalg_det(input)


@audible
def vecdot(x: Tensor, y: Tensor, *, dim: int = -1, out: Any = None) -> Tensor:
    """The sum along ``dim`` of the products of elements, the first conjugated."""
    demand("linalg_vecdot", x=x, y=y)
    _fractional("linalg.vecdot", x.dtype)
    x, y = low(x, y)
    same_kind("linalg.vecdot", x=x, y=y)
    outs.check_dtype("", out, x.dtype, _VECDOT_OUT)
    if out is None and x.ndim == y.ndim == 1 and dim in (0, -1):
        return vdot(x, y)  # type: ignore[no-any-return]
    first = x.conj() if x.dtype.is_complex else x  # type: ignore[attr-defined]
    sums = (first * y).sum(dim)  # type: ignore[operator]
    return sums if out is None else into("vdot" if x.ndim == y.ndim == 1 else "sum", (x, y), out, sums)  # its last step


@composite(method=False)
def _int_mm(input: Tensor, mat2: Tensor) -> Tensor:
    """The product of two matrices of int8, in int32."""
    for tensor in (input, mat2):
        if tensor.dtype is not dtypes.int8:
            raise RuntimeError(f"expected scalar type Char but found {tensor.dtype.scalar_name}")
    return mm(*(tensor.to(dtypes.int32) for tensor in (input, mat2)))  # type: ignore[attr-defined, no-any-return]


@composite()
def matrix_power(input: Tensor, n: int, *, out: Any = None) -> Tensor:
    """A square matrix, or a batch of them, multiplied with itself ``n`` times; its inverse where ``n`` is negative."""
    _matrices("linalg.matrix_power", input)
    if out is None:
        return _power(input, n)
    outs.check_dtype("matrix_power", out, input.dtype, errors.OUT_SAFELY, True)
    if n in (0, 1):
        input = input if n else input.detach()
        if n:
            outs.check_apart(out, input)
        return into("matrix_power", (input,), out, _power(input, n), errors.OUT_SAFELY, True, copied=True)
    return into("linalg_inv_ex" if n == -1 else "matmul", (input,), out, _power(input, n))  # type: ignore[no-any-return]


def _rows_of(input: Any) -> Any:
    return input.clone(memory_format=dtypes.contiguous_format)


def _power(input: Any, n: int) -> Any:
    if n == 0:
        one = COMPOSITES["eye"].function(input._array.shape[-1], dtype=input.dtype, device=input.device)
        return _rows_of(input).copy_(one)
    if n == 1:
        return _rows_of(input)
    if n < 0:
        input, n = linalg_inv(input), -n
    if n == 1:
        return input
    if n == 3:
        return matmul(matmul(input, input), input)
    square, power = None, None
    while n:
        square = input if square is None else matmul(square, square)
        if n & 1:
            power = square if power is None else matmul(power, square)
        n >>= 1
    return power
