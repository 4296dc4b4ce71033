"""The collectives on tensors: every rank of a group calls the same one, in the same order.

Each says what it refuses, what all ranks must agree about, which tensors change, and what its channel does to the
arrays of those (``out``) and of what it reads (``own``).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from typing import Any

import numpy as np

from .distributed_c10d import member, rank_inside
from .errors import DistBackendError, DistNetworkError
from .process_group import ProcessGroup
from .reduce_op import RedOpType, ReduceOp, checked
from .tensors import check, check_sizes, dense, room, store, told
from .work import Work

__all__ = [
    "all_gather", "all_gather_into_tensor", "all_gather_single", "all_reduce", "all_reduce_coalesced", "all_to_all",
    "all_to_all_single", "barrier", "broadcast", "gather", "monitored_barrier", "reduce", "reduce_scatter",
    "reduce_scatter_single", "reduce_scatter_tensor", "scatter",
]  # fmt: skip

_Step = Callable[[Any, list[np.ndarray], list[np.ndarray]], None]  # of the channel, the arrays to fill, those to read


def _run(
    group: ProcessGroup, name: str, operands: str, step: _Step, changed: Sequence[Any], read: Sequence[Any] = (),
    *, op: RedOpType | None = None, async_op: bool = False,
) -> Work | None:  # fmt: skip
    """Have all ranks, which agree about ``operands``, do ``step``, whose results ``changed`` holds then."""

    def steps() -> None:
        out, own = [room(each) for each in changed], [dense(each) for each in read]
        if len(own) == 1 and any(np.may_share_memory(own[0], each) for each in out):
            own = [own[0].copy()]
        step(group.channel, out, own)
        for tensor, array in zip(changed, out, strict=True):
            if op is RedOpType.AVG:
                np.divide(array, array.dtype.type(group.size()), out=array)
            store(tensor, array)

    work = group.run(name, operands, steps, list(changed), wait=not async_op)
    return work if async_op else None


def _ranked(arrays: Iterable[np.ndarray]) -> dict[int, np.ndarray]:
    """Arrays by the rank that each is from or for."""
    return dict(enumerate(arrays))


def all_reduce(tensor: Any, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False) -> Work | None:
    """Every rank's ``tensor`` becomes the reduction of all: the same bits everywhere.

    Source: https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.all_reduce
    """
    check(tensor=tensor)
    if (whole := member(group, "all_reduce")) is None:
        return None
    way = checked(op, "all_reduce", tensor._array.dtype)
    step: _Step = lambda channel, out, own: channel.all_reduce(out[0], way)  # noqa: E731
    return _run(whole, "all_reduce", told(tensor, way.name), step, [tensor], op=way, async_op=async_op)


def all_reduce_coalesced(
    tensors: Any, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False
) -> Work | None:
    """:func:`all_reduce` of several tensors."""
    tensors = tensors if isinstance(tensors, list) else [tensors]
    check(tensors=tensors)
    if member(group, "all_reduce_coalesced") is None:
        return None
    return [all_reduce(tensor, op, group, async_op) for tensor in tensors][-1]


def reduce(
    tensor: Any, dst: int | None = None, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False,
    group_dst: int | None = None,
) -> Work | None:  # fmt: skip
    """The ``tensor`` of rank ``dst`` becomes the reduction of all; the others' stay.

    Source: https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.reduce
    """
    check(tensor=tensor)
    if (whole := member(group, "reduce")) is None:
        return None
    root, way = rank_inside(whole, dst, group_dst, None, "reduce"), checked(op, "reduce", tensor._array.dtype)
    changed, read = ([tensor], []) if whole.rank() == root else ([], [tensor])
    step: _Step = lambda channel, out, own: channel.reduce((out + own)[0], root, way)  # noqa: E731
    operands = told(tensor, way.name, f"to rank {root}")
    return _run(whole, "reduce", operands, step, changed, read, op=way, async_op=async_op)


def broadcast(
    tensor: Any, src: int | None = None, group: Any = None, async_op: bool = False, group_src: int | None = None
) -> Work | None:
    """Every rank's ``tensor`` becomes that of rank ``src``.

    Source: https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.broadcast
    """
    check(tensor=tensor)
    if (whole := member(group, "broadcast")) is None:
        return None
    root = rank_inside(whole, src, group_src, None, "broadcast")
    step: _Step = lambda channel, out, own: channel.broadcast(out[0], root)  # noqa: E731
    return _run(whole, "broadcast", told(tensor, f"from rank {root}"), step, [tensor], async_op=async_op)


def all_gather(tensor_list: Any, tensor: Any, group: Any = None, async_op: bool = False) -> Work | None:
    """``tensor_list`` becomes the tensors of all ranks, equal in shape.

    Source: https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.all_gather
    """
    check(tensor_list=tensor_list, tensor=tensor)
    if (whole := member(group, "all_gather")) is None:
        return None
    if len(tensor_list) != whole.size():
        raise RuntimeError(
            f"ProcessGroupGloo::allgather: invalid output tensor list at index 0 (expected length {whole.size()}, "
            f"got {len(tensor_list)})"
        )
    check_sizes(tensor_list, tensor, "allgather")
    step: _Step = lambda channel, out, own: channel.exchange(_ranked(out), _ranked(own * len(out)))  # noqa: E731
    return _run(whole, "all_gather", told(tensor), step, tensor_list, [tensor], async_op=async_op)


def all_gather_single(output_tensor: Any, input_tensor: Any, group: Any = None, async_op: bool = False) -> Work | None:
    """``output_tensor`` becomes the tensors of all ranks behind each other, or stacked."""
    check(output_tensor=output_tensor, input_tensor=input_tensor)
    if (whole := member(group, "all_gather_single")) is None:
        return None
    if output_tensor._array.size != input_tensor._array.size * whole.size():
        raise ValueError("output tensor size must be equal to world_size times input tensor size")
    step: _Step = lambda channel, out, own: channel.all_gather(out[0], own[0])  # noqa: E731
    read = [input_tensor]
    return _run(whole, "all_gather_single", told(input_tensor), step, [output_tensor], read, async_op=async_op)


def _renamed(old: str, new: str) -> None:
    warnings.warn(
        f"`torch.distributed.{old}` is deprecated. Please use `torch.distributed.{new}` instead.",
        FutureWarning,
        stacklevel=3,
    )


def all_gather_into_tensor(
    output_tensor: Any, input_tensor: Any, group: Any = None, async_op: bool = False
) -> Work | None:
    """The former name of :func:`all_gather_single`."""
    _renamed("all_gather_into_tensor", "all_gather_single")
    return all_gather_single(output_tensor, input_tensor, group, async_op)


def _check_root_list(group: ProcessGroup, root: int, given: Any, tensor: Any, name: str) -> None:
    """Errors for a list of tensors, one for each rank, that the root must have, and no other rank may have."""
    place, word = ("destination", "output") if name == "gather" else ("source", "input")
    if group.rank() != root and given:
        raise ValueError(f"Argument ``{name}_list`` must NOT be specified on non-{place} ranks.")
    if group.rank() == root and not given:
        raise ValueError(f"Argument ``{name}_list`` must be specified on {place} rank.")
    if given and len(given) != group.size():
        raise RuntimeError(
            f"ProcessGroupGloo::{name}: Incorrect {word} list size {len(given)}. {word.title()} list size should be "
            f"{group.size()}, same as size of the process group."
        )
    check_sizes(given, tensor, name)


def gather(
    tensor: Any, gather_list: Any = None, dst: int | None = None, group: Any = None, async_op: bool = False,
    group_dst: int | None = None,
) -> Work | None:  # fmt: skip
    """``gather_list`` on rank ``dst`` (0 where not given) becomes the tensors of all ranks.

    Source: https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.gather
    """
    rooms = gather_list or []
    check(tensor=tensor, gather_list=rooms)
    if (whole := member(group, "gather")) is None:
        return None
    root = rank_inside(whole, dst, group_dst, 0, "gather")
    _check_root_list(whole, root, rooms, tensor, "gather")
    step: _Step = lambda channel, out, own: channel.exchange(_ranked(out), {root: own[0]})  # noqa: E731
    return _run(whole, "gather", told(tensor, f"to rank {root}"), step, rooms, [tensor], async_op=async_op)


def scatter(
    tensor: Any, scatter_list: Any = None, src: int | None = None, group: Any = None, async_op: bool = False,
    group_src: int | None = None,
) -> Work | None:  # fmt: skip
    """Every rank's ``tensor`` becomes its own of ``scatter_list`` on rank ``src`` (0 where not given).

    Source: https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.scatter
    """
    parts = scatter_list or []
    check(tensor=tensor, scatter_list=parts)
    if (whole := member(group, "scatter")) is None:
        return None
    root = rank_inside(whole, src, group_src, 0, "scatter")
    _check_root_list(whole, root, parts, tensor, "scatter")
    step: _Step = lambda channel, out, own: channel.exchange({root: out[0]}, _ranked(own))  # noqa: E731
    return _run(whole, "scatter", told(tensor, f"from rank {root}"), step, [tensor], parts, async_op=async_op)


def reduce_scatter(
    output: Any, input_list: Any, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False
) -> Work | None:
    """``output`` becomes the reduction of what all ranks have for this one in ``input_list``.

    Source: https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.reduce_scatter
    """
    check(output=output, input_list=input_list)
    if (whole := member(group, "reduce_scatter")) is None:
        return None
    if len(input_list) != whole.size():
        raise RuntimeError("invalid input tensor list size, must be world size")
    check_sizes([output], input_list[whole.rank()], "reduce_scatter")
    way = checked(op, "reduce_scatter", output._array.dtype)

    def step(channel: Any, out: list[np.ndarray], own: list[np.ndarray]) -> None:
        parts = [each.reshape(-1) for each in own]
        channel.reduce_scatter(out[0], np.concatenate(parts), [part.size for part in parts], way)

    operands = " ".join((*(told(each) for each in input_list), way.name))
    return _run(whole, "reduce_scatter", operands, step, [output], input_list, op=way, async_op=async_op)


def reduce_scatter_single(
    output: Any, input: Any, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False
) -> Work | None:
    """``output`` becomes the reduction of all ranks' parts of ``input`` that belong to this one."""
    check(output=output, input=input)
    if (whole := member(group, "reduce_scatter_single")) is None:
        return None
    if output._array.size * whole.size() != input._array.size:
        raise ValueError("input tensor must be the same size as output size times world size")
    way = checked(op, "reduce_scatter_single", output._array.dtype)
    counts = [output._array.size] * whole.size()
    step: _Step = lambda channel, out, own: channel.reduce_scatter(out[0], own[0].reshape(-1), counts, way)  # noqa: E731
    name, operands = "reduce_scatter_single", told(output, way.name)
    return _run(whole, name, operands, step, [output], [input], op=way, async_op=async_op)


def reduce_scatter_tensor(
    output: Any, input: Any, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False
) -> Work | None:
    """The former name of :func:`reduce_scatter_single`."""
    _renamed("reduce_scatter_tensor", "reduce_scatter_single")
    return reduce_scatter_single(output, input, op, group, async_op)


def all_to_all(
    output_tensor_list: Any, input_tensor_list: Any, group: Any = None, async_op: bool = False
) -> Work | None:
    """``output_tensor_list[i]`` becomes what rank i has for this rank in its ``input_tensor_list``.

    Source: https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.all_to_all
    """
    check(output_tensor_list=output_tensor_list, input_tensor_list=input_tensor_list)
    if (whole := member(group, "all_to_all")) is None:
        return None
    if len(output_tensor_list) != whole.size() or len(input_tensor_list) != whole.size():
        raise RuntimeError("Number of input and output tensors must be equal to the size of the process group")
    kind = str(input_tensor_list[0].dtype).removeprefix("torch.")
    return _run(whole, "all_to_all", kind, _swap, output_tensor_list, input_tensor_list, async_op=async_op)


def _swap(channel: Any, out: list[np.ndarray], own: list[np.ndarray]) -> None:
    """Send every rank its array, once it is clear that each is as large as the room for it."""
    sizes, rooms = (np.array([array.size for array in arrays]) for arrays in (own, out))
    coming = np.empty_like(sizes)
    channel.exchange(_ranked(coming.reshape(-1, 1)), _ranked(sizes.reshape(-1, 1)))
    wrong = np.flatnonzero(coming != rooms)
    if not channel.agreed(not wrong.size):
        told = [f"rank {rank} sends {coming[rank]} elements for {rooms[rank]}" for rank in wrong]
        told = told or ["another rank was sent what does not fit"]
        raise DistBackendError(f"Sizes differ between ranks in all_to_all: {'; '.join(told)}")
    channel.exchange(_ranked(out), _ranked(own))


def all_to_all_single(
    output: Any, input: Any, output_split_sizes: Any = None, input_split_sizes: Any = None, group: Any = None,
    async_op: bool = False,
) -> Work | None:  # fmt: skip
    """The same for parts of one tensor along dimension 0, equal ones where no sizes are given.

    Source: https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.all_to_all_single
    """
    check(output=output, input=input)
    if (whole := member(group, "all_to_all_single")) is None:
        return None
    splits = []
    for tensor, given in ((output, output_split_sizes), (input, input_split_sizes)):
        length = tensor._array.shape[0] if tensor._array.ndim else 1
        if not given:
            if length % whole.size():
                raise RuntimeError("Tensor's dim 0 does not divide equally across group size")
            given = [length // whole.size()] * whole.size()
        elif len(given) != whole.size():
            raise RuntimeError("Number of tensor splits not equal to group size")
        elif sum(given) != length:
            raise RuntimeError("Split sizes doesn't match total dim 0 size")
        splits.append(np.cumsum(given)[:-1])

    def step(channel: Any, out: list[np.ndarray], own: list[np.ndarray]) -> None:
        _swap(channel, np.split(out[0], splits[0]), np.split(own[0], splits[1]))

    kind = str(output.dtype).removeprefix("torch.")
    return _run(whole, "all_to_all_single", kind, step, [output], [input], async_op=async_op)


def barrier(group: Any = None, async_op: bool = False, device_ids: Any = None) -> Work | None:
    """Return once all ranks of the group are here.

    Source: https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.barrier
    """
    if (whole := member(group, "barrier")) is None:
        return None
    if device_ids is not None and not isinstance(device_ids, list):
        raise TypeError("Invalid function argument: device_ids type should be List[int]")
    return _run(whole, "barrier", "", lambda channel, out, own: None, [], async_op=async_op)  # to meet is all


def monitored_barrier(group: Any = None, timeout: timedelta | None = None, wait_all_ranks: bool = False) -> None:
    """The same, rank 0 telling who is missing after ``timeout``; all of them with ``wait_all_ranks``.

    Source: https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.monitored_barrier
    """
    if (whole := member(group, "monitored_barrier")) is None:
        return
    seconds = (whole.timeout if timeout is None else timeout).total_seconds()
    try:
        whole.run("monitored_barrier", "", lambda: None, timeout=seconds)
    except DistNetworkError as error:
        if whole.rank() or not error.missing:
            raise
        late = error.missing if wait_all_ranks else error.missing[:1]
        some = "Ranks " + ", ".join(map(str, late)) if len(late) > 1 else f"Rank {late[0]}"
        raise DistNetworkError(
            f"[Rank 0]: {some} failed to pass monitoredBarrier in {seconds * 1000:.0f} ms", late
        ) from None
