"""Collectives that are recorded: their backward is the collective that takes gradients the other way.

All ranks must take part in the backward pass too.
"""

from __future__ import annotations

from typing import Any

from ...autograd.function import Function
from ...families.create.functions import empty_like, zeros_like
from .. import collectives
from ..distributed_c10d import get_group_rank, get_rank, get_world_size
from ..distributed_c10d import group as _groups
from ..reduce_op import ReduceOp

__all__ = [
    "all_gather", "all_reduce", "all_to_all", "all_to_all_single", "broadcast", "gather", "reduce", "reduce_scatter",
    "scatter",
]  # fmt: skip


def _found(group: Any) -> Any:
    return _groups.WORLD if group is None else group


class _AllReduce(Function):
    @staticmethod
    def forward(ctx: Any, op: Any, group: Any, tensor: Any) -> Any:
        ctx.op, ctx.group = op, group
        out = tensor.detach().clone()
        collectives.all_reduce(out, op, group)
        return out

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return None, None, _AllReduce.apply(ctx.op, ctx.group, grad)


class _Broadcast(Function):
    @staticmethod
    def forward(ctx: Any, src: int, group: Any, tensor: Any) -> Any:
        ctx.src, ctx.group = src, group
        out = tensor.detach().clone()
        collectives.broadcast(out, src, group)
        return out

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        found = _Reduce.apply(ctx.src, ReduceOp.SUM, ctx.group, grad)
        return None, None, found if get_rank() == ctx.src else zeros_like(found)


class _Reduce(Function):
    @staticmethod
    def forward(ctx: Any, dst: int, op: Any, group: Any, tensor: Any) -> Any:
        ctx.dst, ctx.group = dst, group
        out = tensor.detach().clone()
        collectives.reduce(out, dst, op, group)
        return out

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return None, None, None, _Broadcast.apply(ctx.dst, ctx.group, grad)


class _AllGather(Function):
    @staticmethod
    def forward(ctx: Any, group: Any, tensor: Any) -> Any:
        ctx.group = group
        own = tensor.detach().contiguous()
        out = [empty_like(own) for _ in range(get_world_size(group))]
        collectives.all_gather(out, own, group)
        return tuple(out)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        own = grads[get_rank(ctx.group)]
        return None, _ReduceScatter.apply(ReduceOp.SUM, ctx.group, empty_like(own), *grads)


class _ReduceScatter(Function):
    @staticmethod
    def forward(ctx: Any, op: Any, group: Any, room: Any, *tensors: Any) -> Any:
        ctx.group = group
        out = empty_like(room)
        collectives.reduce_scatter(out, [tensor.detach() for tensor in tensors], op, group)
        return out

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return (None, None, None, *_AllGather.apply(ctx.group, grad))


class _Gather(Function):
    @staticmethod
    def forward(ctx: Any, dst: int, group: Any, tensor: Any) -> Any:
        ctx.dst, ctx.group = dst, group
        own = tensor.detach().contiguous()
        out = [zeros_like(own) for _ in range(get_world_size(group))]
        collectives.gather(own, out if get_rank() == dst else None, dst, group)
        return tuple(out)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return None, None, _Scatter.apply(ctx.dst, ctx.group, *grads)


class _Scatter(Function):
    @staticmethod
    def forward(ctx: Any, src: int, group: Any, *tensors: Any) -> Any:
        ctx.src, ctx.group = src, group
        out = zeros_like(tensors[0])
        mine = [tensor.detach() for tensor in tensors] if get_rank() == src else None
        collectives.scatter(out, mine, src, group)
        return out

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return (None, None, *_Gather.apply(ctx.src, ctx.group, grad))


class _AllToAll(Function):
    @staticmethod
    def forward(ctx: Any, group: Any, shapes: Any, *tensors: Any) -> Any:
        ctx.group, ctx.shapes = group, [tuple(tensor.shape) for tensor in tensors]
        out = [tensors[0].new_empty(shape) for shape in shapes]
        collectives.all_to_all(out, [tensor.detach() for tensor in tensors], group)
        return tuple(out)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return (None, None, *_AllToAll.apply(ctx.group, ctx.shapes, *grads))


def all_reduce(tensor: Any, op: Any = ReduceOp.SUM, group: Any = None) -> Any:
    """The reduction of all ranks' tensors.

    Source: https://docs.pytorch.org/docs/stable/distributed.html
    """
    return _AllReduce.apply(op, _found(group), tensor)


def broadcast(tensor: Any, src: int, group: Any = None) -> Any:
    """The tensor of rank ``src``."""
    return _Broadcast.apply(src, _found(group), tensor)


def reduce(tensor: Any, dst: int, op: Any = ReduceOp.SUM, group: Any = None) -> Any:
    """On rank ``dst`` the reduction of all ranks' tensors, elsewhere the own one."""
    return _Reduce.apply(dst, op, _found(group), tensor)


def all_gather(tensor: Any, group: Any = None) -> tuple[Any, ...]:
    """The tensors of all ranks."""
    out: tuple[Any, ...] = _AllGather.apply(_found(group), tensor)
    return out


def gather(tensor: Any, dst: int = 0, group: Any = None) -> tuple[Any, ...]:
    """On rank ``dst`` the tensors of all ranks, elsewhere noughts."""
    out: tuple[Any, ...] = _Gather.apply(dst, _found(group), tensor)
    return out


def scatter(tensors: Any, src: int = 0, group: Any = None) -> Any:
    """Of the tensors of rank ``src``, the one of this rank."""
    get_group_rank(_found(group), src)  # an error where it is no member
    return _Scatter.apply(src, _found(group), *tensors)


def reduce_scatter(output: Any, input_list: Any, op: Any = ReduceOp.SUM, group: Any = None) -> Any:
    """The reduction of what all ranks have for this one, of ``output``'s shape."""
    return _ReduceScatter.apply(op, _found(group), output, *input_list)


def all_to_all(output_tensor_list: Any, input_tensor_list: Any, group: Any = None) -> tuple[Any, ...]:
    """What every rank has for this one, of the shapes of ``output_tensor_list``."""
    shapes = [tuple(tensor.shape) for tensor in output_tensor_list]
    out: tuple[Any, ...] = _AllToAll.apply(_found(group), shapes, *input_tensor_list)
    return out


def all_to_all_single(
    output: Any,
    input: Any,
    output_split_sizes: Any = None,
    input_split_sizes: Any = None,
    group: Any = None,
) -> Any:
    """The same for parts of one tensor along dimension 0, equal ones where no sizes are given."""
    from ...families.join.functions import cat, split

    count = get_world_size(group)
    there = list(output_split_sizes or [output.shape[0] // count] * count)
    here = list(input_split_sizes or [input.shape[0] // count] * count)
    shapes = [(size, *output.shape[1:]) for size in there]
    return cat(_AllToAll.apply(_found(group), shapes, *split(input, here)))
