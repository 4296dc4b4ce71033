"""Collectives through which gradients flow: each gives new tensors, and its backward pass is the opposite one.

Source: https://docs.pytorch.org/docs/stable/distributed.html
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from typing import Any

from ...autograd.function import Function
from ...families.create.functions import empty_like, zeros_like
from ...ground.paths import house
from ...multiprocessing.reduce_op import ReduceOp
from .join import group_of

__all__ = [
    "all_gather", "all_reduce", "all_to_all", "all_to_all_single", "broadcast", "gather", "reduce", "reduce_scatter",
    "scatter",
]  # fmt: skip


class _Recorded(Function):
    """``there(*tensors)``, whose gradients take the way ``back``; both give a tensor or a tuple of them."""

    @staticmethod
    def forward(ctx: Any, there: Callable[..., Any], back: Callable[..., Any], *tensors: Any) -> Any:
        ctx.back = back
        out = there(*(tensor.detach().contiguous() for tensor in tensors))
        return tuple(out) if isinstance(out, list) else out

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        gradients = ctx.back(*grads)
        return (None, None, *(gradients if isinstance(gradients, tuple) else (gradients,)))


def _there() -> Any:
    # the floor above, which only a program in several processes needs
    return importlib.import_module("glassgrad.distributed")


def _filled(collective: str, out: Any, *arguments: Any) -> Any:
    """``out``, which a collective fills, whose first argument it is."""
    getattr(_there(), collective)(out, *arguments)
    return out


def _in_place(collective: str, *arguments: Any) -> Callable[[Any], Any]:
    """A function of a tensor that gives what a collective makes of a copy."""
    return lambda own: _filled(collective, own.clone(), *arguments)


def all_reduce(tensor: Any, op: Any = ReduceOp.SUM, group: Any = None) -> Any:
    """The reduction of all ranks' tensors."""
    there = _in_place("all_reduce", op, group)
    return _Recorded.apply(there, lambda grad: all_reduce(grad, op, group), tensor)


def broadcast(tensor: Any, src: int, group: Any = None) -> Any:
    """The tensor of rank ``src``."""

    def back(grad: Any) -> Any:
        total = reduce(grad, src, ReduceOp.SUM, group)
        return total if _there().get_rank() == src else zeros_like(total)

    return _Recorded.apply(_in_place("broadcast", src, group), back, tensor)


def reduce(tensor: Any, dst: int, op: Any = ReduceOp.SUM, group: Any = None) -> Any:
    """On rank ``dst`` the reduction of all ranks' tensors, elsewhere the own one."""
    there = _in_place("reduce", dst, op, group)
    return _Recorded.apply(there, lambda grad: broadcast(grad, dst, group), tensor)


def all_gather(tensor: Any, group: Any = None) -> Any:
    """The tensors of all ranks."""

    def there(own: Any) -> Any:
        return _filled("all_gather", [empty_like(own) for _ in range(group_of(group).size())], own, group)

    def back(*grads: Any) -> Any:
        return reduce_scatter(empty_like(grads[group_of(group).rank()]), grads, ReduceOp.SUM, group)

    return _Recorded.apply(there, back, tensor)


def gather(tensor: Any, dst: int = 0, group: Any = None) -> Any:
    """On rank ``dst`` the tensors of all ranks, elsewhere zeros."""

    def there(own: Any) -> Any:
        out = [zeros_like(own) for _ in range(group_of(group).size())]
        _there().gather(own, out if _there().get_rank() == dst else None, dst, group)
        return out

    return _Recorded.apply(there, lambda *grads: scatter(grads, dst, group), tensor)


def scatter(tensors: Any, src: int = 0, group: Any = None) -> Any:
    """Of the tensors of rank ``src``, the one of this rank."""
    _there().get_group_rank(group_of(group), src)  # an error where it is no member

    def there(*every: Any) -> Any:
        return _filled("scatter", zeros_like(every[0]), [*every] if _there().get_rank() == src else None, src, group)

    return _Recorded.apply(there, lambda grad: gather(grad, src, group), *tensors)


def reduce_scatter(output: Any, input_list: Any, op: Any = ReduceOp.SUM, group: Any = None) -> Any:
    """The reduction of what all ranks have for this one, of ``output``'s shape."""

    def there(*every: Any) -> Any:
        return _filled("reduce_scatter", empty_like(output), [*every], op, group)

    return _Recorded.apply(there, lambda grad: all_gather(grad, group), *input_list)


def _swap(shapes: list[Any], tensors: Any, group: Any) -> Any:
    """Of each rank what it has for this one, of these shapes."""
    sent = [tensor.shape for tensor in tensors]

    def there(*own: Any) -> Any:
        return _filled("all_to_all", [own[0].new_empty(shape) for shape in shapes], [*own], group)

    return _Recorded.apply(there, lambda *grads: _swap(sent, grads, group), *tensors)


def all_to_all(output_tensor_list: Any, input_tensor_list: Any, group: Any = None) -> Any:
    """What every rank has for this one, of the shapes of ``output_tensor_list``."""
    return _swap([tensor.shape for tensor in output_tensor_list], input_tensor_list, group)


def all_to_all_single(
    output: Any, input: Any, output_split_sizes: Any = None, input_split_sizes: Any = None, group: Any = None
) -> Any:
    """The same for parts of one tensor along dimension 0, equal ones where no sizes are given."""
    from ...families.join.functions import cat, split

    count = group_of(group).size()
    there = output_split_sizes or [output.shape[0] // count] * count
    here = input_split_sizes or [input.shape[0] // count] * count
    return cat(_swap([(size, *output.shape[1:]) for size in there], split(input, [*here]), group))


house(sys.modules[__name__])
