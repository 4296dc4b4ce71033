"""The collectives on tensors: every rank of a group calls the same one, in the same order."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import numpy as np

from .distributed_c10d import _rank_inside, _resolve
from .errors import DistBackendError, DistNetworkError
from .process_group import ProcessGroup
from .reduce_op import RedOpType, ReduceOp, checked
from .tensors import check_kind, check_list, check_sizes, check_tensor, dense, outside, room, store
from .work import Work

__all__ = [
    "all_gather", "all_gather_into_tensor", "all_gather_single", "all_reduce", "all_reduce_coalesced", "all_to_all",
    "all_to_all_single", "barrier", "broadcast", "gather", "monitored_barrier", "reduce", "reduce_scatter",
    "reduce_scatter_single", "reduce_scatter_tensor", "scatter",
]  # fmt: skip


def _begin(
    group: ProcessGroup, name: str, operands: str, steps: Callable[[], None], tensors: list[Any], async_op: bool
) -> Work | None:
    work = group.run(name, operands, steps, tensors, wait=not async_op)
    return work if async_op else None


def _averaged(array: np.ndarray, op: RedOpType, group: ProcessGroup) -> None:
    if op is RedOpType.AVG:
        np.divide(array, array.dtype.type(group.size()), out=array)


def _told(tensor: Any, *more: str) -> str:
    """What all ranks must agree about: a tensor's dtype and shape, and ``more``."""
    return " ".join((str(tensor.dtype).removeprefix("torch."), str(tensor._array.shape), *more))


def _root(group: ProcessGroup, given: int | None, inside: int | None, default: int | None, name: str) -> int:
    """The rank in ``group`` of a root, as :func:`_rank_inside`; RuntimeError where there is none."""
    root = _rank_inside(group, given, inside, default)
    if not 0 <= root < group.size():
        raise RuntimeError(f"ProcessGroupGloo::{name}: invalid root rank: {root}")
    return root


def all_reduce(tensor: Any, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False) -> Work | None:
    """Every rank's ``tensor`` becomes the reduction of all: the same bits everywhere.

    Source: https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.all_reduce
    """
    check_tensor(tensor, "tensor")
    if outside(group, "all_reduce"):
        return None
    whole = _resolve(group)
    way = checked(op, "all_reduce", tensor._array.dtype)

    def steps() -> None:
        array = room(tensor)
        whole.channel.all_reduce(array, way)
        _averaged(array, way, whole)
        store(tensor, array)

    return _begin(whole, "all_reduce", _told(tensor, way.name), steps, [tensor], async_op)


def all_reduce_coalesced(
    tensors: Any, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False
) -> Work | None:
    """:func:`all_reduce` of several tensors."""
    tensors = [tensors] if not isinstance(tensors, list) else tensors
    check_list(tensors, "tensors")
    if outside(group, "all_reduce_coalesced"):
        return None
    work = None
    for tensor in tensors:
        work = all_reduce(tensor, op, group, async_op)
    return work


def reduce(
    tensor: Any,
    dst: int | None = None,
    op: Any = ReduceOp.SUM,
    group: Any = None,
    async_op: bool = False,
    group_dst: int | None = None,
) -> Work | None:
    """The ``tensor`` of rank ``dst`` becomes the reduction of all; the others' stay.

    Source: https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.reduce
    """
    check_tensor(tensor, "tensor")
    if outside(group, "reduce"):
        return None
    whole = _resolve(group)
    root = _root(whole, dst, group_dst, None, "reduce")
    way = checked(op, "reduce", tensor._array.dtype)

    def steps() -> None:
        if whole.rank() != root:
            whole.channel.reduce(dense(tensor), root, way)
            return
        array = room(tensor)
        whole.channel.reduce(array, root, way)
        _averaged(array, way, whole)
        store(tensor, array)

    return _begin(whole, "reduce", _told(tensor, way.name, f"to rank {root}"), steps, [tensor], async_op)


def broadcast(
    tensor: Any, src: int | None = None, group: Any = None, async_op: bool = False, group_src: int | None = None
) -> Work | None:
    """Every rank's ``tensor`` becomes that of rank ``src``.

    Source: https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.broadcast
    """
    check_tensor(tensor, "tensor")
    if outside(group, "broadcast"):
        return None
    whole = _resolve(group)
    root = _root(whole, src, group_src, None, "broadcast")

    def steps() -> None:
        array = room(tensor)
        whole.channel.broadcast(array, root)
        store(tensor, array)

    return _begin(whole, "broadcast", _told(tensor, f"from rank {root}"), steps, [tensor], async_op)


def all_gather(tensor_list: Any, tensor: Any, group: Any = None, async_op: bool = False) -> Work | None:
    """``tensor_list`` becomes the tensors of all ranks, equal in shape.

    Source: https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.all_gather
    """
    check_list(tensor_list, "tensor_list")
    check_tensor(tensor, "tensor")
    check_kind(tensor_list, tensor)
    if outside(group, "all_gather"):
        return None
    whole = _resolve(group)
    if len(tensor_list) != whole.size():
        raise RuntimeError(
            f"ProcessGroupGloo::allgather: invalid output tensor list at index 0 (expected length {whole.size()}, "
            f"got {len(tensor_list)})"
        )
    check_sizes(tensor_list, tensor, "allgather")

    def steps() -> None:
        arrays, own = [room(each) for each in tensor_list], dense(tensor)
        whole.channel.exchange(dict(enumerate(arrays)), dict.fromkeys(range(whole.size()), own))
        for each, array in zip(tensor_list, arrays, strict=True):
            store(each, array)

    return _begin(whole, "all_gather", _told(tensor), steps, list(tensor_list), async_op)


def all_gather_single(output_tensor: Any, input_tensor: Any, group: Any = None, async_op: bool = False) -> Work | None:
    """``output_tensor`` becomes the tensors of all ranks behind each other, or stacked."""
    check_tensor(input_tensor, "input_tensor")
    check_tensor(output_tensor, "output_tensor")
    check_kind(output_tensor, input_tensor)
    if outside(group, "all_gather_into_tensor"):
        return None
    whole = _resolve(group)
    if output_tensor._array.size != input_tensor._array.size * whole.size():
        raise ValueError("output tensor size must be equal to world_size times input tensor size")

    def steps() -> None:
        array, own = room(output_tensor), dense(input_tensor)
        whole.channel.all_gather(array, own.copy() if np.may_share_memory(array, own) else own)
        store(output_tensor, array)

    return _begin(whole, "all_gather_single", _told(input_tensor), steps, [output_tensor], async_op)


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


def gather(
    tensor: Any,
    gather_list: Any = None,
    dst: int | None = None,
    group: Any = None,
    async_op: bool = False,
    group_dst: int | None = None,
) -> Work | None:
    """``gather_list`` on rank ``dst`` (0 where not given) becomes the tensors of all ranks.

    Source: https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.gather
    """
    check_tensor(tensor, "tensor")
    if gather_list:
        check_list(gather_list, "gather_list")
        check_kind(tensor, gather_list)
    if outside(group, "gather"):
        return None
    whole = _resolve(group)
    root = _root(whole, dst, group_dst, 0, "gather")
    _check_root_list(whole, root, gather_list, "gather", "output")
    check_sizes(gather_list or [], tensor, "gather")

    def steps() -> None:
        arrays = [room(each) for each in gather_list or ()]
        whole.channel.exchange(dict(enumerate(arrays)), {root: dense(tensor)})
        for each, array in zip(gather_list or (), arrays, strict=True):
            store(each, array)

    return _begin(whole, "gather", _told(tensor, f"to rank {root}"), steps, list(gather_list or ()), async_op)


def _check_root_list(group: ProcessGroup, root: int, given: Any, name: str, word: str) -> None:
    place = "destination" if name == "gather" else "source"
    if group.rank() != root:
        if given:
            raise ValueError(f"Argument ``{name}_list`` must NOT be specified on non-{place} ranks.")
        return
    if not given:
        raise ValueError(f"Argument ``{name}_list`` must be specified on {place} rank.")
    if len(given) != group.size():
        raise RuntimeError(
            f"ProcessGroupGloo::{name}: Incorrect {word} list size {len(given)}. {word.title()} list size should be "
            f"{group.size()}, same as size of the process group."
        )


def scatter(
    tensor: Any,
    scatter_list: Any = None,
    src: int | None = None,
    group: Any = None,
    async_op: bool = False,
    group_src: int | None = None,
) -> Work | None:
    """Every rank's ``tensor`` becomes its own of ``scatter_list`` on rank ``src`` (0 where not given).

    Source: https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.scatter
    """
    check_tensor(tensor, "tensor")
    if scatter_list:
        check_list(scatter_list, "scatter_list")
        check_kind(tensor, scatter_list)
    if outside(group, "scatter"):
        return None
    whole = _resolve(group)
    root = _root(whole, src, group_src, 0, "scatter")
    _check_root_list(whole, root, scatter_list, "scatter", "input")
    check_sizes(scatter_list or [], tensor, "scatter")

    def steps() -> None:
        own = room(tensor)
        whole.channel.exchange({root: own}, dict(enumerate(dense(each) for each in scatter_list or ())))
        store(tensor, own)

    return _begin(whole, "scatter", _told(tensor, f"from rank {root}"), steps, [tensor], async_op)


def reduce_scatter(
    output: Any, input_list: Any, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False
) -> Work | None:
    """``output`` becomes the reduction of what all ranks have for this one in ``input_list``.

    Source: https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.reduce_scatter
    """
    check_tensor(output, "output")
    check_list(input_list, "input_list")
    check_kind(output, input_list)
    if outside(group, "reduce_scatter"):
        return None
    whole = _resolve(group)
    if len(input_list) != whole.size():
        raise RuntimeError("invalid input tensor list size, must be world size")
    if input_list[whole.rank()]._array.shape != output._array.shape:
        check_sizes([output], input_list[whole.rank()], "reduce_scatter")
    way = checked(op, "reduce_scatter", output._array.dtype)

    def steps() -> None:
        own = room(output)
        parts = np.concatenate([dense(each).reshape(-1) for each in input_list])
        whole.channel.reduce_scatter(own, parts, [each._array.size for each in input_list], way)
        _averaged(own, way, whole)
        store(output, own)

    shapes = " ".join(str(each._array.shape) for each in input_list)
    operands = f"{str(output.dtype).removeprefix('torch.')} {shapes} {way.name}"
    return _begin(whole, "reduce_scatter", operands, steps, [output], async_op)


def reduce_scatter_single(
    output: Any, input: Any, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False
) -> Work | None:
    """``output`` becomes the reduction of all ranks' parts of ``input`` that belong to this one."""
    check_tensor(output, "output")
    check_tensor(input, "input")
    check_kind(output, input)
    if outside(group, "reduce_scatter_tensor"):
        return None
    whole = _resolve(group)
    if output._array.size * whole.size() != input._array.size:
        raise ValueError("input tensor must be the same size as output size times world size")
    way = checked(op, "reduce_scatter_tensor", output._array.dtype)

    def steps() -> None:
        own, parts = room(output), dense(input)
        parts = parts.copy() if np.may_share_memory(own, parts) else parts
        whole.channel.reduce_scatter(own, parts.reshape(-1), [own.size] * whole.size(), way)
        _averaged(own, way, whole)
        store(output, own)

    return _begin(whole, "reduce_scatter_single", _told(output, way.name), steps, [output], async_op)


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
    check_list(output_tensor_list, "output_tensor_list")
    check_list(input_tensor_list, "input_tensor_list")
    check_kind(output_tensor_list, input_tensor_list)
    if outside(group, "all_to_all"):
        return None
    whole = _resolve(group)
    if len(output_tensor_list) != whole.size() or len(input_tensor_list) != whole.size():
        raise RuntimeError("Number of input and output tensors must be equal to the size of the process group")

    def steps() -> None:
        outputs = [room(each) for each in output_tensor_list]
        inputs = [dense(each).reshape(-1) for each in input_tensor_list]
        _swap(whole, outputs, inputs)
        for each, array in zip(output_tensor_list, outputs, strict=True):
            store(each, array)

    kind = str(input_tensor_list[0].dtype).removeprefix("torch.")
    return _begin(whole, "all_to_all", kind, steps, list(output_tensor_list), async_op)


def _swap(group: ProcessGroup, outputs: list[np.ndarray], inputs: list[np.ndarray]) -> None:
    """Send every rank its array, once it is clear that each is as large as the room for it."""
    sizes = np.array([array.size for array in inputs])
    rooms = np.empty_like(sizes)
    pieces = [dict(enumerate(array.reshape(-1, 1))) for array in (rooms, sizes)]
    group.channel.exchange(*pieces)
    wrong = [rank for rank, room in enumerate(outputs) if room.size != rooms[rank]]
    if not group.channel.agreed(not wrong):
        told = "another rank was sent what does not fit" if not wrong else "; ".join(
            f"rank {rank} sends {rooms[rank]} elements for {outputs[rank].size}" for rank in wrong
        )
        raise DistBackendError(f"Sizes differ between ranks in all_to_all: {told}")
    group.channel.exchange(dict(enumerate(outputs)), dict(enumerate(inputs)))


def all_to_all_single(
    output: Any,
    input: Any,
    output_split_sizes: Any = None,
    input_split_sizes: Any = None,
    group: Any = None,
    async_op: bool = False,
) -> Work | None:
    """The same for parts of one tensor along dimension 0, equal ones where no sizes are given.

    Source: https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.all_to_all_single
    """
    check_tensor(output, "output")
    check_tensor(input, "input")
    check_kind(output, input)
    if outside(group, "all_to_all_single"):
        return None
    whole = _resolve(group)
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

    def steps() -> None:
        array = room(output)
        outputs, inputs = np.split(array, splits[0]), np.split(dense(input), splits[1])
        _swap(whole, outputs, inputs)
        store(output, array)

    kind = str(output.dtype).removeprefix("torch.")
    return _begin(whole, "all_to_all_single", kind, steps, [output], async_op)


def barrier(group: Any = None, async_op: bool = False, device_ids: Any = None) -> Work | None:
    """Return once all ranks of the group are here.

    Source: https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.barrier
    """
    if outside(group, "barrier"):
        return None
    whole = _resolve(group)
    if device_ids is not None and not isinstance(device_ids, list):
        raise TypeError("Invalid function argument: device_ids type should be List[int]")
    return _begin(whole, "barrier", "", lambda: None, [], async_op)  # to meet is all


def monitored_barrier(group: Any = None, timeout: timedelta | None = None, wait_all_ranks: bool = False) -> None:
    """The same, rank 0 telling who is missing after ``timeout``; all of them with ``wait_all_ranks``.

    Source: https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.monitored_barrier
    """
    if outside(group, "monitored_barrier"):
        return
    whole = _resolve(group)
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
