"""Products of two, three and many tensors, powers and inverses, as users call them; built of matrix rows."""

from __future__ import annotations

import math
from typing import Any

from ...core.tensor import Tensor
from ...ground import dtypes
from ...ground.listening import audible
from ...ground.runtime import warn
from ..autocast import low
from ..declare import COMPOSITES, composite
from ..primitive import batch as rows
from ..primitive.decompose import determinant, inverse_of, is_vector, solution
from ..primitive.matrix import c_name, dot, mm
from ..primitive.shape import axes_of, axis_of, permute, reshape, unsafe_view, unsqueeze, view
from .matrix import broadcast, demand, into, matmul


@composite(method=False)
def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """``input1 @ weight[k] @ input2 + bias[k]`` for each k, over the last dimensions of the inputs."""
    demand("bilinear", input1=input1, input2=input2, weight=weight)
    a, b, w = input1._array.shape, input2._array.shape, weight._array.shape
    if len(a) != len(b):
        raise RuntimeError(f"bilinear(): input dimensions do not match: got {len(a)} and {len(b)}")
    for dim, (n, m) in enumerate(zip(a[:-1], b[:-1], strict=True)):
        if n != m:
            raise RuntimeError(f"bilinear(): input batch dimensions do not match at dim {dim}: got {n} and {m}")
    for name, size, wanted in (("input1", a[-1], w[1]), ("input2", b[-1], w[2])):
        if size != wanted:
            raise RuntimeError(f"bilinear(): {name} size does not match weight size: got {size} but expected {wanted}")
    if bias is not None and bias._array.shape[0] != w[0]:
        raise RuntimeError(
            f"bilinear(): bias size does not match weight size: got {bias._array.shape[0]} but expected {w[0]}"
        )
    rows_ = math.prod(a[:-1])
    left, right = view(input1, (rows_, a[-1])), view(input2, (rows_, b[-1]))
    product = rows.trilinear(left, weight, right, (1, 3), (0,), (1, 2), (2, 3))
    product = reshape(product, (*a[:-1], w[0]))
    return product if bias is None else product + bias


# -- products of two --------------------------------------------------------------------------------------------------


@composite("ger")
def outer(input: Tensor, vec2: Tensor, *, out: Any = None) -> Tensor:
    """The product of each element of one vector with each of another."""
    demand("outer", input=input, vec2=vec2)
    for name, tensor in (("self", input), ("vec2", vec2)):
        if tensor._array.ndim != 1:
            raise RuntimeError(f"outer: Expected 1-D argument {name}, but got {tensor._array.ndim}-D")
    product = view(input, (input._array.shape[0], 1)) * vec2  # type: ignore[operator]
    return product if out is None else into("outer", (input, vec2), out, product)


@composite()
def inner(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor:
    """The product of vectors, summed over the last dimension of both."""
    demand("inner", input=input, other=other)
    a, b = input._array, other._array
    if not a.ndim or not b.ndim:
        product = input * other  # type: ignore[operator]
    elif a.shape[-1] != b.shape[-1]:
        raise RuntimeError(
            "inner() the last dimension must match on both input tensors but got shapes "
            f"{list(a.shape)} and {list(b.shape)}"
        )
    else:
        product = tensordot(input, other, [[-1], [-1]])
    return product if out is None else into("inner", (input, other), out, product)


@composite(method=False)
def tensordot(a: Tensor, b: Tensor, dims: Any = 2, out: Any = None) -> Tensor:
    """The sum of products over several dimensions of each.

    dims  how many of the last dimensions of ``a`` meet the first of ``b``, or two lists of dimensions.
    """
    if isinstance(dims, Tensor):
        dims = dims.tolist()  # type: ignore[attr-defined]
    if isinstance(dims, int):
        if dims < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
        if dims > min(a._array.ndim, b._array.ndim):
            raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}")
        first, second = list(range(-dims, 0)), list(range(dims))
    else:
        first, second = ([dim] if isinstance(dim, int) else list(dim) for dim in dims)
    if len(first) != len(second):
        raise RuntimeError("both dimension lists should have same length")
    if a._array.dtype != b._array.dtype:
        raise RuntimeError("both inputs should have same dtype")
    product = _contracted(a, b, axes_of(first, a._array.ndim), axes_of(second, b._array.ndim))
    return product if out is None else into("tensordot", (a, b), out, product)


def _contracted(a: Tensor, b: Tensor, first: tuple[int, ...], second: tuple[int, ...]) -> Tensor:
    n, m = a._array.shape, b._array.shape
    summed_a, summed_b = [], []
    for i, j in zip(first, second, strict=True):
        if m[j] == 1:
            summed_a.append(i)
        elif n[i] == 1:
            summed_b.append(j)
        elif n[i] != m[j]:
            raise RuntimeError(
                f"contracted dimensions need to match, but first has size {n[i]} in dim {i} and second has size "
                f"{m[j]} in dim {j}"
            )
    if summed_a:
        a = a.sum(summed_a, keepdim=True)  # type: ignore[attr-defined]
    if summed_b:
        b = b.sum(summed_b, keepdim=True)  # type: ignore[attr-defined]
    n, m = a._array.shape, b._array.shape
    free_a = [i for i in range(len(n)) if i not in first]
    free_b = [j for j in range(len(m)) if j not in second]
    length = math.prod(n[i] for i in first)
    left, right = permute(a, (*free_a, *first)), permute(b, (*second, *free_b))
    height, width = math.prod(n[i] for i in free_a), math.prod(m[j] for j in free_b)
    if first and not free_a and not free_b:
        product = dot(left, right) if len(n) == 1 else dot(reshape(left, (length,)), reshape(right, (length,)))
    else:
        product = mm(reshape(left, (height, length)), reshape(right, (length, width)))
    return reshape(product, (*(n[i] for i in free_a), *(m[j] for j in free_b)))


@composite()
def kron(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor:
    """The Kronecker product: ``other`` in place of each element of ``input``, times that element."""
    demand("kron", input=input, other=other)
    ndim = max(input._array.ndim, other._array.ndim)
    a, b = ((1,) * (ndim - x._array.ndim) + x._array.shape for x in (input, other))
    left = unsafe_view(input, tuple(n for size in a for n in (size, 1)))
    right = unsafe_view(other, tuple(n for size in b for n in (1, size)))
    product = unsafe_view(left * right, tuple(n * m for n, m in zip(a, b, strict=True)))  # type: ignore[operator]
    return product if out is None else into("kron", (input, other), out, product)


@composite()
def cross(input: Tensor, other: Tensor, dim: int | None = None, *, out: Any = None) -> Tensor:
    """The vectors perpendicular to those of both inputs, along ``dim`` or the first dimension of size 3."""
    demand("cross", input=input, other=other)
    if dim is None:
        if input._array.ndim == other._array.ndim:
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
    axis = axis_of(dim, a.ndim)
    if a.shape[axis] != 3 or b.shape[axis] != 3:
        raise RuntimeError(
            f"linalg.cross: inputs dimension {dim} must have length 3. Got {a.shape[axis]} and {b.shape[axis]}"
        )
    broadcast(a.shape, b.shape)
    if a.dtype != b.dtype:
        names = (dtypes.of(x.dtype).scalar_name for x in (a, b))
        raise RuntimeError("expected scalar type {} but found {}".format(*names))
    product = rows.linalg_cross(input, other, dim)
    return product if out is None else into("linalg_cross", (input, other), out, product)


# -- products of many -------------------------------------------------------------------------------------------------


@audible
def multi_dot(tensors: Any, *, out: Any = None) -> Tensor:
    """The product of two or more matrices, in the order that costs least; first and last may be vectors."""
    tensors = list(tensors)
    _check_multi(tensors)
    first, last = tensors[0]._array.ndim == 1, tensors[-1]._array.ndim == 1
    if first:
        tensors[0] = unsqueeze(tensors[0], 0)
    if last:
        tensors[-1] = unsqueeze(tensors[-1], 1)
    for index, (a, b) in enumerate(zip(tensors, tensors[1:], strict=False)):
        if a._array.shape[1] != b._array.shape[0]:
            raise RuntimeError(
                f"multi_dot(): tensors {index} and {index + 1} with shapes {list(a._array.shape)} and "
                f"{list(b._array.shape)} cannot be multiplied"
            )
    sizes = (() if first else (tensors[0]._array.shape[0],)) + (() if last else (tensors[-1]._array.shape[1],))
    product = view(_multiplied(tensors), sizes)
    return product if out is None else into("multi_dot", tensors, out, product)


def _check_multi(tensors: list[Any]) -> None:
    count = len(tensors)
    if count < 2:
        raise RuntimeError(f"multi_dot(): expected at least 2 tensors but got {count}")
    for index, tensor in enumerate(tensors):
        ndim = tensor._array.ndim
        if 0 < index < count - 1:
            if ndim != 2:
                raise RuntimeError(f"multi_dot(): tensor {index} must be 2D but got {ndim}D")
        elif ndim not in (1, 2):
            end = "last" if index else "first"
            raise RuntimeError(f"multi_dot(): the {end} tensor must be 1D or 2D but got {ndim}D")
    kinds = [str(tensor.dtype).removeprefix("torch.") for tensor in tensors]
    for index, tensor in enumerate(tensors):
        if kinds[index] != kinds[0]:
            raise RuntimeError(
                "multi_dot(): all tensors must have be the same dtype but tensor 0 is "
                f"{c_name(tensors[0]._array)} and tensor {index} {c_name(tensor._array)}"
            )


def _multiplied(tensors: list[Tensor]) -> Tensor:
    """The product by the cheapest bracketing. Source: Cormen et al., Introduction to Algorithms, 15.2."""
    count = len(tensors)
    sizes = [*(tensor._array.shape[0] for tensor in tensors), tensors[-1]._array.shape[1]]
    cost = {(i, i): (0, i) for i in range(count)}
    for length in range(1, count):
        for i in range(count - length):
            j = i + length
            cost[i, j] = min(
                (cost[i, k][0] + cost[k + 1, j][0] + sizes[i] * sizes[k + 1] * sizes[j + 1], k) for k in range(i, j)
            )
    done: dict[tuple[int, int], Tensor] = {(i, i): tensor for i, tensor in enumerate(tensors)}
    stack = [(0, count - 1)]
    while stack:
        i, j = stack[-1]
        k = cost[i, j][1]
        missing = [part for part in ((i, k), (k + 1, j)) if part not in done]
        if missing:
            stack += missing
        else:
            stack.pop()
            if (i, j) not in done:
                done[i, j] = mm(done[i, k], done[k + 1, j])
    return done[0, count - 1]


@composite(method=False)
def chain_matmul(*matrices: Any, out: Any = None) -> Tensor:
    """The product of matrices in the order that costs least; the older name of ``linalg.multi_dot``."""
    warn(
        "torch.chain_matmul is deprecated and will be removed in a future PyTorch release. Use torch.linalg.multi_dot "
        "instead, which accepts a list of two or more tensors rather than multiple parameters."
    )
    if len(matrices) == 1 and isinstance(matrices[0], (list, tuple)):
        matrices = tuple(matrices[0])
    for tensor in matrices:
        if tensor._array.ndim != 2:
            raise RuntimeError(f"Tensor dimension is {tensor._array.ndim}, expected 2 instead.")
    return matrices[0].clone() if len(matrices) == 1 else multi_dot(matrices, out=out)


# -- inverses ---------------------------------------------------------------------------------------------------------


def _square(function: str, A: Any) -> None:  # noqa: N803  PyTorch's name
    demand(function.replace(".", "_"), A=A)
    sizes = A._array.shape
    if len(sizes) < 2:
        raise RuntimeError(f"{function}: The input tensor A must have at least 2 dimensions.")
    if sizes[-1] != sizes[-2]:
        raise RuntimeError(
            f"{function}: A must be batches of square matrices, but they are {sizes[-2]} by {sizes[-1]} matrices"
        )
    if A._array.dtype.kind not in "fc":
        name = A.dtype.scalar_name
        if A.dtype.is_floating_point:
            raise RuntimeError(f"{function}: Low precision dtypes not supported. Got {name}")
        raise RuntimeError(f"{function}: Expected a floating point or complex tensor as input. Got {name}")


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


def check_equation(A: Tensor, B: Tensor, left: bool) -> None:  # noqa: N803
    """Raise PyTorch's error unless the two sides of an equation fit."""
    _square("linalg.solve", A)
    demand("linalg_solve", A=A, B=B)
    n, m = A._array.shape, B._array.shape
    vector = is_vector(n, m)
    if m[-1 if vector or not left else -2] != n[-1]:
        rows_, columns = (m[-1], 1) if vector else m[-2:]
        equation, first, second = ("AX = B", n[-2:], (rows_, columns)) if left else ("XA = B", (rows_, columns), n[-2:])
        raise RuntimeError(
            f"linalg.solve: Incompatible shapes of A and B for the equation {equation} ({first[0]}x{first[1]} and "
            f"{second[0]}x{second[1]})"
        )


@audible
def linalg_solve(A: Tensor, B: Tensor, *, left: bool = True, out: Any = None) -> Tensor:  # noqa: N803
    """What ``A`` must be multiplied with to give ``B``; with ``left=False``, what is to be multiplied with ``A``."""
    check_equation(A, B, left)
    solved = solution(A, B, left)
    return solved if out is None else into("linalg_solve", (A, B), out, solved)


@audible
def vecdot(x: Tensor, y: Tensor, *, dim: int = -1, out: Any = None) -> Tensor:
    """The sum along ``dim`` of the products of elements, the first conjugated."""
    demand("linalg_vecdot", x=x, y=y)
    x, y = low(x, y)
    first = x.conj() if x.dtype.is_complex else x  # type: ignore[attr-defined]
    sums = (first * y).sum(dim)  # type: ignore[operator]
    return sums if out is None else into("linalg_vecdot", (x, y), out, sums)


@composite()
def matrix_power(input: Tensor, n: int, *, out: Any = None) -> Tensor:
    """A square matrix, or a batch of them, multiplied with itself ``n`` times; its inverse where ``n`` is negative."""
    sizes = input._array.shape
    if len(sizes) < 2:
        raise RuntimeError("linalg.matrix_power: The input tensor A must have at least 2 dimensions.")
    if sizes[-1] != sizes[-2]:
        raise RuntimeError(
            "linalg.matrix_power: A must be batches of square matrices, but they are "
            f"{sizes[-2]} by {sizes[-1]} matrices"
        )
    power = _power(input, n)
    return power if out is None else into("matrix_power", (input,), out, power)


def _power(input: Any, n: int) -> Any:
    if n == 0:
        return input.clone().copy_(COMPOSITES["eye"].function(input._array.shape[-1], dtype=input.dtype))
    if n == 1:
        return input.clone()
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
