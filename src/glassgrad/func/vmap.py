"""``vmap``: a function of one example called on a batch.

Source: https://docs.pytorch.org/docs/stable/generated/torch.vmap.html
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ..core.row import TABLE
from ..core.tensor import Tensor
from ..ground.errors import ValuesHidden
from ..ground.generator import default_generator
from ..ops.pytree import SUPPORTED_NODES, tree_flatten, tree_leaves, tree_unflatten
from .arguments import like, name_of
from .batching import ITEM, Batch, all_alike
from .levels import entered


class VmapInfo(NamedTuple):
    """What the ``vmap`` of a custom Function is told of the vmap that calls it."""

    batch_size: int
    randomness: str


def vmap(
    func: Callable[..., Any], in_dims: Any = 0, out_dims: Any = 0, randomness: str = "error", *,
    chunk_size: int | None = None,
) -> Callable[..., Any]:  # fmt: skip
    """A function that calls ``func`` on all examples at once, which lie along ``in_dims`` of its arguments.

    in_dims     a dimension for each argument, or a tree of them; None for what all examples share
    out_dims    where the examples lie in the outputs; None for what is no batch
    randomness  of random operations: "error" refuses them, "same" draws once for all, "different" for each example
    chunk_size  how many examples are taken at once; all, where it is None
    Source: https://docs.pytorch.org/docs/stable/generated/torch.vmap.html
    """
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}")
    if not (chunk_size is None or chunk_size > 0):
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")
    name = name_of(func)

    @like(func)
    def mapped(*args: Any, **kwargs: Any) -> Any:
        _check_out_dims(out_dims, name)
        size, dims, parts, shape = _inputs(in_dims, args, name)
        if chunk_size is None or chunk_size >= size:
            return _call(func, size, dims, parts, shape, kwargs, out_dims, randomness, name)
        answers = []
        state = default_generator.get_state_bytes() if randomness == "same" else None
        for start in range(0, size, chunk_size):
            if state is not None:
                default_generator.set_state_bytes(state)
            length = min(chunk_size, size - start)
            some = [
                part if dim is None else part.narrow(dim, start, length) for part, dim in zip(parts, dims, strict=True)
            ]
            answers.append(_call(func, length, dims, some, shape, kwargs, out_dims, randomness, name))
        return _joined(answers, out_dims, name)

    return mapped


def _call(
    func: Callable[..., Any], size: int, dims: list[Any], parts: list[Any], shape: Any, kwargs: dict[str, Any],
    out_dims: Any, randomness: str, name: str,
) -> Any:  # fmt: skip
    with entered(Batch(size, randomness)) as level:
        examples = [
            part if dim is None else level.batch(part if dim == 0 else part.movedim(dim, 0), dim)
            for part, dim in zip(parts, dims, strict=True)
        ]
        try:
            answer = func(*tree_unflatten(examples, shape), **kwargs)
        except ValuesHidden as refusal:
            if str(refusal).endswith("(item)"):
                raise RuntimeError(ITEM) from refusal
            raise RuntimeError(
                f"vmap({name}, ...): {refusal} are asked for, which differ from example to example. Compute it outside "
                "of vmap, or with operations that do not look at values"
            ) from refusal
        outs, out_shape = tree_flatten(answer)
        places = _out_places(out_dims, answer, outs, out_shape, name)
        lowered = [_unbatched(level, out, dim, name) for out, dim in zip(outs, places, strict=True)]
    return tree_unflatten(lowered, out_shape)


# -- the inputs -------------------------------------------------------------------------------------------------------


def _inputs(in_dims: Any, args: tuple[Any, ...], name: str) -> tuple[int, list[Any], list[Any], Any]:
    """How many examples there are, the dimension of each leaf of the arguments, the leaves, and their tree's shape."""
    where = f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): "
    if not isinstance(in_dims, int | tuple):
        raise ValueError(
            f"{where}expected `in_dims` to be int or a (potentially nested) tuple matching the structure of inputs, "
            f"got: {type(in_dims)}."
        )
    if not args:
        raise ValueError(
            f"vmap({name})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are trying to vmap over a "
            "function with no inputs. The latter is unsupported."
        )
    parts, shape = tree_flatten(args)
    dims = spread(in_dims, shape)
    if dims is None:
        raise ValueError(
            f"{where}in_dims is not compatible with the structure of `inputs`. in_dims has structure "
            f"{tree_flatten(in_dims)[1]} but inputs has structure {shape}."
        )
    for number, (part, dim) in enumerate(zip(parts, dims, strict=True)):
        if dim is None:
            continue
        if not isinstance(dim, int):
            raise ValueError(
                f"{where}Got in_dim={dim} for an input but in_dim must be either an integer dimension or None."
            )
        if not isinstance(part, Tensor):
            raise ValueError(
                f"{where}Got in_dim={dim} for an input but the input is of type {type(part)}. We cannot vmap over "
                "non-Tensor arguments, please use None as the respective in_dim"
            )
        ndim = part._array.ndim
        if not -ndim <= dim < ndim:
            raise ValueError(
                f"{where}Got in_dim={dim} for some input, but that input is a Tensor of dimensionality {ndim} so "
                f"expected in_dim to satisfy -{ndim} <= in_dim < {ndim}."
            )
        dims[number] = dim % ndim
    sizes = [part._array.shape[dim] for part, dim in zip(parts, dims, strict=True) if dim is not None]
    if not sizes:
        raise ValueError("vmap: Expected at least one Tensor to vmap over")
    if any(size != sizes[0] for size in sizes):
        raise ValueError(
            "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes "
            f"{sizes} for the mapped dimension"
        )
    return sizes[0], dims, parts, shape


def spread(prefix: Any, shape: Any) -> list[Any] | None:
    """One entry of ``prefix`` for each leaf of a tree; None where it is no beginning of such a tree."""
    if shape.is_leaf():
        return None if tree_flatten(prefix)[1].type is not None else [prefix]
    leaves, own = tree_flatten(prefix)
    if prefix is None or own.is_leaf():
        return [prefix] * shape.num_leaves
    if own.type is not shape.type or own.num_children != shape.num_children or own.context != shape.context:
        return None
    children = _children(prefix, own)
    entries: list[Any] = []
    for child, part in zip(children, shape.children_specs, strict=True):
        some = spread(child, part)
        if some is None:
            return None
        entries += some
    return entries


def _children(tree: Any, shape: Any) -> list[Any]:
    """The children of a tree whose shape is known."""
    return list(SUPPORTED_NODES[shape.type].flatten_fn(tree)[0])


# -- the outputs ------------------------------------------------------------------------------------------------------


def _check_out_dims(out_dims: Any, name: str) -> None:
    for dim in tree_leaves(out_dims):
        if not (dim is None or isinstance(dim, int)):
            raise ValueError(
                f"vmap({name}, ..., out_dims={out_dims}): `out_dims` must be an int, None or a python collection of "
                "ints representing where in the outputs the vmapped dimension should appear."
            )


def _out_places(out_dims: Any, answer: Any, outs: list[Any], shape: Any, name: str) -> list[Any]:
    """Where the examples are to lie in each output."""
    if isinstance(answer, Tensor):
        if isinstance(out_dims, tuple) and len(out_dims) == 1:
            return list(out_dims)
        places = [out_dims] if out_dims is None or isinstance(out_dims, int) else None
    else:
        places = spread(out_dims, shape)
    if places is None:
        raise ValueError(
            f"vmap({name}, ..., out_dims={out_dims})(<inputs>): out_dims is not compatible with the structure of "
            f"`outputs`. out_dims has structure {tree_flatten(out_dims)[1]} but outputs has structure {shape}."
        )
    return places


def _unbatched(level: Batch, out: Any, dim: int | None, name: str) -> Any:
    """An output below the level of ``vmap``: all examples, along ``dim``."""
    if dim is None:
        if level.has(out):
            raise ValueError(f"vmap({name}, ...): `{name}` can not return a BatchedTensor when out_dim is None")
        return out
    if not isinstance(out, Tensor):
        raise ValueError(
            f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(out)}. Did you mean to set out_dims"
            "= to None for output?"
        )
    value: Any = level.lower(out) if level.has(out) else all_alike(out, level.size)
    ndim = value._array.ndim
    if not -ndim <= dim < ndim:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-ndim}, {ndim - 1}], but got {dim})")
    return value if dim % ndim == 0 else value.movedim(0, dim)


def _joined(answers: list[Any], out_dims: Any, name: str) -> Any:
    """The outputs of several chunks, one behind the other."""
    columns = []
    shape: Any = None
    for answer in answers:
        outs, shape = tree_flatten(answer)
        columns.append(outs)
    places = _out_places(out_dims, answers[0], columns[0], shape, name)
    joined = [
        parts[0] if dim is None else TABLE["cat"].caller(list(parts), dim)
        for parts, dim in zip(zip(*columns, strict=True), places, strict=True)
    ]
    return tree_unflatten(joined, shape)
