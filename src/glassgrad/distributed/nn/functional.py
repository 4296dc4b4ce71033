"""Collectives that are recorded: their backward is the collective that takes gradients the other way.

All ranks must take part in the backward pass too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...autograd.function import Function
from ...families.create.functions import empty_like, zeros_like
from .. import collectives
from ..distributed_c10d import _resolve, get_group_rank, get_rank, get_world_size
from ..reduce_op import ReduceOp

__all__ = [
    "all_gather", "all_reduce", "all_to_all", "all_to_all_single", "broadcast", "gather", "reduce", "reduce_scatter",
    "scatter",
]  # fmt: skip


class _Collective(Function):
    """``there(*tensors)``, whose gradients take the way ``back``; both give a tensor or a tuple of them."""

    @staticmethod
    def forward(ctx: Any, there: Callable[..., Any], back: Callable[..., Any], *tensors: Any) -> Any:
        ctx.back = back
        return there(*(tensor.detach().contiguous() for tensor in tensors))

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        found = ctx.back(*grads)
        return (None, None, *(found if isinstance(found, tuple) else (found,)))


def all_reduce(tensor: Any, op: Any = ReduceOp.SUM, group: Any = None) -> Any:
    """The reduction of all ranks' tensors.

    Source: https://docs.pytorch.org/docs/stable/distributed.html
    """

    def there(own: Any) -> Any:
        out = own.clone()
        collectives.all_reduce(out, op, group)
        return out

    return _Collective.apply(there, lambda grad: all_reduce(grad, op, group), tensor)


def broadcast(tensor: Any, src: int, group: Any = None) -> Any:
    """The tensor of rank ``src``."""

    def there(own: Any) -> Any:
        out = own.clone()
        collectives.broadcast(out, src, group)
        return out

    def back(grad: Any) -> Any:
        found = reduce(grad, src, ReduceOp.SUM, group)
        return found if get_rank() == src else zeros_like(found)

    return _Collective.apply(there, back, tensor)


def reduce(tensor: Any, dst: int, op: Any = ReduceOp.SUM, group: Any = None) -> Any:
    """On rank ``dst`` the reduction of all ranks' tensors, elsewhere the own one."""

    def there(own: Any) -> Any:
        out = own.clone()
        collectives.reduce(out, dst, op, group)
        return out

    return _Collective.apply(there, lambda grad: broadcast(grad, dst, group), tensor)


def all_gather(tensor: Any, group: Any = None) -> tuple[Any, ...]:
    """The tensors of all ranks."""

    def there(own: Any) -> Any:
        out = [empty_like(own) for _ in range(get_world_size(group))]
        collectives.all_gather(out, own, group)
        return tuple(out)

    def back(*grads: Any) -> Any:
        return reduce_scatter(empty_like(grads[get_rank(group)]), grads, ReduceOp.SUM, group)

    out: tuple[Any, ...] = _Collective.apply(there, back, tensor)
    return out


def gather(tensor: Any, dst: int = 0, group: Any = None) -> tuple[Any, ...]:
    """On rank ``dst`` the tensors of all ranks, elsewhere zeros."""

    def there(own: Any) -> Any:
        out = [zeros_like(own) for _ in range(get_world_size(group))]
        collectives.gather(own, out if get_rank() == dst else None, dst, group)
        return tuple(out)

    out: tuple[Any, ...] = _Collective.apply(there, lambda *grads: scatter(grads, dst, group), tensor)
    return out


def scatter(tensors: Any, src: int = 0, group: Any = None) -> Any:
    """Of the tensors of rank ``src``, the one of this rank."""
    get_group_rank(_resolve(group), src)  # an error where it is no member

    def there(*every: Any) -> Any:
        out = zeros_like(every[0])
        collectives.scatter(out, list(every) if get_rank() == src else None, src, group)
        return out

    return _Collective.apply(there, lambda grad: gather(grad, src, group), *tensors)


def reduce_scatter(output: Any, input_list: Any, op: Any = ReduceOp.SUM, group: Any = None) -> Any:
    """The reduction of what all ranks have for this one, of ``output``'s shape."""

    def there(*every: Any) -> Any:
        out = empty_like(output)
        collectives.reduce_scatter(out, list(every), op, group)
        return out

    return _Collective.apply(there, lambda grad: all_gather(grad, group), *input_list)


def _swap(shapes: list[Any], tensors: Any, group: Any) -> tuple[Any, ...]:
    """Of each rank what it has for this one, of these shapes."""

    def there(*every: Any) -> Any:
        out = [every[0].new_empty(shape) for shape in shapes]
        collectives.all_to_all(out, list(every), group)
        return tuple(out)

    sent = [tensor.shape for tensor in tensors]
    out: tuple[Any, ...] = _Collective.apply(there, lambda *grads: _swap(sent, grads, group), *tensors)
    return out


def all_to_all(output_tensor_list: Any, input_tensor_list: Any, group: Any = None) -> tuple[Any, ...]:
    """What every rank has for this one, of the shapes of ``output_tensor_list``."""
    return _swap([tensor.shape for tensor in output_tensor_list], input_tensor_list, group)


def all_to_all_single(
    output: Any, input: Any, output_split_sizes: Any = None, input_split_sizes: Any = None, group: Any = None
) -> Any:
    """The same for parts of one tensor along dimension 0, equal ones where no sizes are given."""
    from ...families.join.functions import cat, split

    count = get_world_size(group)
    there = list(output_split_sizes or [output.shape[0] // count] * count)
    here = list(input_split_sizes or [input.shape[0] // count] * count)
    return cat(_swap([(size, *output.shape[1:]) for size in there], split(input, here), group))
