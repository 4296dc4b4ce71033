"""Jacobians and Hessians that are mostly zeros: as many products as colours, not as many as rows or columns.

Which outputs depend on which inputs is read off the graph of one call, record by record, generously.

Rows that share no column can be computed by one product, their sum: entries are told apart by where they stand.  So the
rows are coloured, rows in conflict differently (or the columns, where that takes fewer colours).  Of a Hessian, which
is symmetric, each entry may be read on either side of the diagonal: a star colouring takes fewer still.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from ..core import engine
from ..core.record import OUTPUT, Bundle, Record
from ..core.row import TABLE
from ..core.tensor import Tensor, edge_of, wrap
from ..families.sparse.functions import sparse_coo_tensor
from ..ground import modes
from ..tensor.lifted import Lifted
from . import arguments
from .per_sample import MOVES, POINTWISE
from .transforms import grad, pullback, pushforward


def jacobian_diagonal(func: Callable[..., Any], argnums: int = 0) -> Callable[..., Any]:
    """A function that gives the diagonal of the Jacobian of ``func``, which works element by element, by one product.

    The result has the sizes of the argument.  A second product, by random numbers, sees whether the Jacobian is
    diagonal; RuntimeError where it is not.
    """

    @arguments.like(func)
    def diagonal(*args: Any) -> Any:
        x = _argument(args, argnums, "jacobian_diagonal")
        output, pull = _pulled(func, args, argnums, "jacobian_diagonal")
        if output._array.shape != x._array.shape:
            raise RuntimeError(
                f"jacobian_diagonal: func works element by element, but made sizes {list(output._array.shape)} of "
                f"{list(x._array.shape)}"
            )
        values = pull(TABLE["fill_number"].caller(output.detach(), 1))
        weights = _weights(output)
        _check(pull(weights), values * weights, values, "jacobian_diagonal: the Jacobian is not diagonal")
        return values

    return diagonal


def hessian_diagonal(func: Callable[..., Any], argnums: int = 0) -> Callable[..., Any]:
    """A function that gives the diagonal of the Hessian of ``func``, a sum of functions of one element each.

    RuntimeError where the Hessian is not diagonal, as :func:`jacobian_diagonal` sees by a second product.
    """
    return arguments.like(func)(jacobian_diagonal(grad(func, argnums), argnums))


def sparse_jacobian(func: Callable[..., Any], sparsity: Any = None, argnums: int = 0) -> Callable[..., Any]:
    """A function that gives the Jacobian of ``func`` as a sparse COO tensor, of the sizes that ``jacrev`` gives.

    ``sparsity`` is a tensor of these sizes, or a matrix, that is nought where the Jacobian always is; without it, the
    entries that may differ from nought are read off the graph of one call, generously.  A product by random numbers
    sees whether the pattern misses entries: RuntimeError then.
    """

    @arguments.like(func)
    def jacobian(*args: Any) -> Any:
        x = _argument(args, argnums, "sparse_jacobian")
        output, pull = _pulled(func, args, argnums, "sparse_jacobian")
        sizes = (math.prod(output._array.shape), math.prod(x._array.shape))
        if sparsity is None:
            rows, columns = pattern_of(lambda y: func(*arguments.replaced(args, argnums, y)), x)
        else:
            rows, columns = _pattern(sparsity, sizes, "sparse_jacobian")
        by_row, row_colours = _coloured(rows, columns, sizes[0])
        by_column, column_colours = _coloured(columns, rows, sizes[1])
        if row_colours <= column_colours:
            products = [pull(seed) for seed in _seeds(by_row, row_colours, output)]
            values = _picked(products, by_row[rows], columns, x)
        else:
            products = [pushforward(func, args, seed, argnums)[1] for seed in _seeds(by_column, column_colours, x)]
            values = _picked(products, by_column[columns], rows, output)
        _verify(pull, rows, columns, values, output, x, "sparse_jacobian")
        return _sparse(rows, columns, values, output, x)

    return jacobian


def sparse_hessian(func: Callable[..., Any], sparsity: Any = None, argnums: int = 0) -> Callable[..., Any]:
    """A function that gives the Hessian of ``func`` as a sparse COO tensor, of the sizes that ``hessian`` gives.

    ``sparsity`` is as for :func:`sparse_jacobian`; what it says on one side of the diagonal holds on the other.
    """

    @arguments.like(func)
    def hessian(*args: Any) -> Any:
        x = _argument(args, argnums, "sparse_hessian")
        gradient, pull = _pulled(grad(func, argnums), args, argnums, "sparse_hessian")
        size = math.prod(x._array.shape)
        if sparsity is None:
            rows, columns = pattern_of(lambda y: func(*arguments.replaced(args, argnums, y)), x, of_gradient=True)
        else:
            rows, columns = _pattern(sparsity, (size, size), "sparse_hessian")
        keys = np.unique(np.concatenate([rows * size + columns, columns * size + rows]))
        rows, columns = keys // max(size, 1), keys % max(size, 1)
        colours = star_colours(rows, columns, size)
        products = [pull(seed) for seed in _seeds(colours, int(colours.max(initial=-1)) + 1, gradient)]
        # entry (row, column) is in the product of the column's colour, if no other column of that colour is in the row
        shared = rows * (size + 1) + colours[columns]
        _, first, repeats = np.unique(shared, return_inverse=True, return_counts=True)
        alone = repeats[first] == 1
        values = _picked(products, np.where(alone, colours[columns], colours[rows]), np.where(alone, rows, columns), x)
        _verify(pull, rows, columns, values, gradient, x, "sparse_hessian")
        return _sparse(rows, columns, values, x, x)

    return hessian


# -- colours ----------------------------------------------------------------------------------------------------------


def _coloured(lines: Any, across: Any, count: int) -> tuple[Any, int]:
    """A colour for each line, so that no two of a colour meet in one place ``across``; greedily, the fullest first."""
    of_line, of_place = _groups(lines, across), _groups(across, lines)
    colours = np.full(count, -1)
    used = 0
    for line in sorted(of_line, key=lambda line: -len(of_line[line])):
        taken = {int(colours[other]) for place in of_line[line] for other in of_place[place]}
        colour = 0
        while colour in taken:
            colour += 1
        colours[line] = colour
        used = max(used, colour + 1)
    return colours, used


def _groups(keys: Any, values: Any) -> dict[int, list[int]]:
    """The values of each key."""
    groups: dict[int, list[int]] = {}
    for key, value in zip(keys.tolist(), values.tolist(), strict=True):
        groups.setdefault(key, []).append(value)
    return groups


def star_colours(rows: Any, columns: Any, count: int) -> Any:
    """A star colouring of a symmetric pattern: neighbours differ, and each path of four has three colours at least.

    Greedily, as in Gebremedhin, Manne and Pothen, "What color is your Jacobian?", SIAM Review 47 (2005).
    """
    if 2 * len(rows) > count * count:  # hardly any two may share a colour, and to look for them takes long
        return np.arange(count)
    neighbours: list[list[int]] = [[] for _ in range(count)]
    for row, column in zip(rows.tolist(), columns.tolist(), strict=True):
        if row != column:
            neighbours[row].append(column)
    colours = [-1] * count
    for vertex in range(count):
        taken = set()
        for near in neighbours[vertex]:
            taken.add(colours[near])
            for far in neighbours[near]:
                if far == vertex or colours[far] < 0:
                    continue
                if colours[near] < 0 or any(
                    other != near and colours[other] == colours[near] for other in neighbours[far]
                ):
                    taken.add(colours[far])
        colour = 0
        while colour in taken:
            colour += 1
        colours[vertex] = colour
    return np.array(colours, int)


# -- products ---------------------------------------------------------------------------------------------------------


def _argument(args: tuple[Any, ...], argnums: Any, name: str) -> Any:
    number = arguments.numbers(argnums, len(args))
    if not isinstance(number, int):
        raise RuntimeError(f"{name}: argnums must be one int, got {argnums}")
    if not isinstance(args[number], Tensor) or args[number].is_complex():
        raise RuntimeError(f"{name}: expected a real Tensor as argument {number}")
    return args[number]


def _pulled(func: Callable[..., Any], args: tuple[Any, ...], argnums: int, name: str) -> tuple[Any, Any]:
    """The output of a function, and what gives the product of a tensor of its sizes with the Jacobian."""
    output, vjp_fn = pullback(func, args, argnums, False)
    if not isinstance(output, Tensor) or output.is_complex():
        raise RuntimeError(f"{name}: expected func to return one real Tensor, got {type(output).__name__}")
    return output, vjp_fn


def _seeds(colours: Any, count: int, like: Any) -> list[Any]:
    """For each colour a tensor that is one where the colour is."""
    shape, kind = like._array.shape, like._array.dtype
    return [wrap((colours == colour).reshape(shape).astype(kind)) for colour in range(count)]


def _picked(products: Sequence[Any], numbers: Any, places: Any, like: Any) -> Any:
    """The elements at ``places`` of the products that ``numbers`` tells."""
    if not products:
        return wrap(np.zeros(0, like._array.dtype))
    flat = TABLE["cat"].caller([product.reshape(-1) for product in products], 0)
    length = math.prod(products[0]._array.shape)
    return flat.index_select(0, wrap(np.asarray(numbers * length + places, np.int64)))


def _pattern(sparsity: Any, sizes: tuple[int, int], name: str) -> tuple[Any, Any]:
    """Rows and columns of the entries that a user's pattern allows."""
    if not isinstance(sparsity, Tensor):
        raise TypeError(f"{name}: sparsity must be a Tensor, got {type(sparsity).__name__}")
    dense = sparsity.to_dense() if sparsity.is_sparse else sparsity
    if dense.numel() != sizes[0] * sizes[1]:
        raise RuntimeError(f"{name}: sparsity has sizes {list(dense.shape)}, but the matrix is {sizes[0]}x{sizes[1]}")
    rows, columns = np.nonzero(np.asarray(dense._array).reshape(sizes))
    return rows.astype(np.int64), columns.astype(np.int64)


def _weights(like: Any) -> Any:
    """Random numbers of either sign, none near nought; the user's streams of random numbers stay as they are."""
    generator = np.random.default_rng()
    shape, kind = like._array.shape, like._array.dtype
    return wrap(((0.5 + generator.random(shape)) * generator.choice((-1.0, 1.0), shape)).astype(kind))


def _verify(pull: Any, rows: Any, columns: Any, values: Any, output: Any, x: Any, name: str) -> None:
    """Compare one product with what the entries give."""
    weights = _weights(output)
    entries = values.detach() * wrap(weights._array.reshape(-1)[rows])
    expected = wrap(np.zeros(math.prod(x._array.shape), x._array.dtype)).index_add(0, wrap(columns), entries)
    _check(pull(weights).reshape(-1), expected, values, f"{name}: the pattern misses entries of the matrix")


def _check(product: Any, expected: Any, values: Any, sentence: str) -> None:
    """RuntimeError unless two products agree, but for what rounding explains."""
    product, expected, values = _plain(product), _plain(expected), _plain(values)
    if not product.size:
        return
    difference = np.abs(product - expected)
    largest = np.abs(values).max() if values.size else 0
    if (difference > 64 * np.finfo(expected.dtype).eps ** 0.75 * (np.abs(expected) + largest)).any():
        raise RuntimeError(
            f"{sentence}: a product by random numbers differs from that of the entries by {difference.max():.3g}"
        )


def _plain(tensor: Any) -> Any:
    """The array below all levels of transforms."""
    while isinstance(tensor, Lifted):
        tensor = tensor.value
    return np.asarray(tensor._array)


def _sparse(rows: Any, columns: Any, values: Any, output: Any, x: Any) -> Any:
    """The matrix of entries, of the sizes of both."""
    shape, inner = output._array.shape, x._array.shape
    parts = [*np.unravel_index(rows, shape)] if shape else []
    parts += [*np.unravel_index(columns, inner)] if inner else []
    indices = np.stack(parts) if parts else np.zeros((0, len(rows)), np.int64)
    return sparse_coo_tensor(wrap(indices), values, (*shape, *inner), is_coalesced=True)


# -- which outputs of a function depend on which inputs ----------------------------------------------------------------
# Read off the graph of one call, record by record, generously. For each place of the graph a set of pairs is kept, of
# an output and an element there on which it depends. Rows that work element by element, move elements or add them up
# along dimensions hand the pairs on one by one; of any other row, each element of the result may depend on every
# element of each input.

#: Rows that join tensors, move their elements or add them up: each goes to one place of the result, or to none.
JOINS = MOVES | {"cat", "stack", "flip", "roll", "slice_backward", "select_backward", "sum_dim", "sum"}
#: Rows that work element by element, on tensors that are broadcast.
BROADCAST = POINTWISE | frozenset(
    """expand pow where add_number sub_number rsub_number mul_number div_number sgn sign sigmoid_backward tanh_backward
    softplus_backward gelu_backward silu_backward leaky_relu_backward elu_backward threshold_backward""".split()
)


class Pairs(NamedTuple):
    """Which outputs depend on which elements of a tensor of ``shape``."""

    outputs: Any
    elements: Any
    shape: tuple[int, ...]


def pattern_of(func: Callable[..., Any], x: Any, of_gradient: bool = False) -> tuple[Any, Any]:
    """Rows and columns of the entries of the Jacobian of ``func``, or of its gradient, that may differ from nought."""
    from ..autograd.api import grad

    if isinstance(x, Lifted):
        raise RuntimeError("the pattern of a sparse matrix cannot be read off while a function is transformed: give it")
    before = modes.local.grad
    try:
        modes.set_grad(True)
        leaf = x.detach().requires_grad_()
        output = func(leaf)
        if of_gradient:
            (output,) = grad(output, leaf, create_graph=True, allow_unused=True, materialize_grads=True)
    finally:
        modes.off |= modes.local.me
        modes.local.grad = before
        modes.settle()
    edge = edge_of(output)
    if edge is None:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    numbers = np.arange(output._array.size)
    pairs = _walk(edge, Pairs(numbers, numbers, output._array.shape), leaf, output._array.dtype)
    return pairs.outputs.astype(np.int64), pairs.elements.astype(np.int64)


def _walk(root: Any, start: Pairs, leaf: Any, kind: Any) -> Pairs:
    owed = engine.dependencies([root])
    inbox: dict[Any, list[Any]] = {root: [start]}
    order = count()
    ready: list[tuple[float, int, Any]] = [(0.0, next(order), root)]
    while ready:
        edge = heappop(ready)[2]
        arrived = inbox.pop(edge, [])
        if edge is leaf:
            return _joined(arrived) if arrived else Pairs(np.zeros(0, int), np.zeros(0, int), leaf._array.shape)
        if not isinstance(edge, Record):
            continue
        outgoing = _through(edge, arrived, kind) if arrived else [None] * len(edge.edges)
        for onward, pairs in zip(edge.edges, outgoing, strict=True):
            if onward is not None:
                if pairs is not None:
                    inbox.setdefault(onward, []).append(pairs)
                owed[onward] -= 1
                if not owed[onward]:
                    first = -onward.sequence if isinstance(onward, Record) else float("-inf")
                    heappush(ready, (first, next(order), onward))
    return Pairs(np.zeros(0, int), np.zeros(0, int), leaf._array.shape)


def _joined(arrived: Sequence[Pairs]) -> Pairs:
    """All pairs, each once."""
    shape = arrived[0].shape
    size = max(int(np.prod(shape)), 1)
    keys = np.unique(np.concatenate([pairs.outputs * size + pairs.elements for pairs in arrived]))
    return Pairs(keys // size, keys % size, shape)


def _through(record: Record, arrived: Sequence[Any], kind: Any) -> list[Any]:
    """The pairs at each input of a record."""
    if record.kind is OUTPUT:
        number, total = record.constants
        return [(number, total, _joined(arrived))]
    if type(arrived[0]) is tuple:  # results of a record with several
        total = arrived[0][1]
        by_number: list[Any] = [None] * total
        for number, _, pairs in arrived:
            by_number[number] = pairs
        grads: list[Any] = [None if pairs is None else np.ones(pairs.shape, kind) for pairs in by_number]
        outputs = np.unique(np.concatenate([pairs.outputs for pairs in by_number if pairs is not None]))
        shapes = _shapes(record, Bundle(grads))
        return [None if shape is None else _all(outputs, shape) for shape in shapes]
    pairs = _joined(arrived)
    row = record.kind.row
    shapes = _shapes(record, np.ones(pairs.shape, kind))
    if row is not None and (row.ufunc is not None or row.batched == "point" or row.name in BROADCAST):
        return [None if shape is None else _spread(pairs, shape) for shape in shapes]
    if row is not None and row.name in JOINS:
        numbers = np.arange(1.0, 1 + max(int(np.prod(pairs.shape)), 1)).reshape(pairs.shape)
        if numbers.size < 2**24:  # which float32 tells apart
            moved = engine.bare(record, numbers, True, False)
            return [None if shape is None else _moved(pairs, m) for shape, m in zip(shapes, moved, strict=True)]
    return [None if shape is None else _all(np.unique(pairs.outputs), shape) for shape in shapes]


def _shapes(record: Record, grad: Any) -> list[Any]:
    """The sizes of a record's inputs, as its rules tell; None where no gradient goes on."""
    outgoing = engine.bare(record, grad, True, False)
    return [
        None if edge is None or part is None else np.shape(part)
        for edge, part in zip(record.edges, outgoing, strict=True)
    ]


def _all(outputs: Any, shape: tuple[int, ...]) -> Pairs:
    """Each output with every element."""
    size = int(np.prod(shape))
    return Pairs(np.repeat(outputs, size), np.tile(np.arange(size), len(outputs)), shape)


def _spread(pairs: Pairs, shape: tuple[int, ...]) -> Pairs:
    """Through a row whose results have the elements that broadcasting puts there."""
    used = np.broadcast_to(np.arange(int(np.prod(shape))).reshape(shape), pairs.shape).reshape(-1)
    return Pairs(pairs.outputs, used[pairs.elements], shape)


def _moved(pairs: Pairs, moved: Any) -> Pairs:
    """Through a row that moved the elements whose numbers, from one, came back."""
    numbers = np.asarray(moved).reshape(-1).astype(np.int64)
    order = np.argsort(pairs.elements, kind="stable")
    elements = pairs.elements[order]
    first, last = np.searchsorted(elements, numbers - 1), np.searchsorted(elements, numbers - 1, side="right")
    lengths = last - first
    total = int(lengths.sum())
    at = np.repeat(first - np.concatenate(([0], np.cumsum(lengths)[:-1])), lengths) + np.arange(total)
    return Pairs(pairs.outputs[order][at], np.repeat(np.arange(len(numbers)), lengths), np.shape(moved))
