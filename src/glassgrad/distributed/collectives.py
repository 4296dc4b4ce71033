"""The collectives: every rank of a group calls the same one, in the same order.

Each function says what it takes, and by its decorator which of that it reads and what a channel does with the arrays.
``_run`` does the rest for all: it checks, tells what the ranks must have alike, meets them, and writes the results.
Those on objects send pickles the same ways: only among processes that trust each other.
"""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable, Iterable
from datetime import timedelta
from itertools import cycle
from typing import Any, ParamSpec

import numpy as np

from ..multiprocessing.failures import DistBackendError, DistNetworkError
from ..multiprocessing.reduce_op import RedOpType, ReduceOp, checked
from .distributed_c10d import member, rank_inside
from .process_group import ProcessGroup, pickled
from .tensors import check, check_sizes, room, store, told
from .work import Work

__all__ = [
    "all_gather", "all_gather_into_tensor", "all_gather_object", "all_gather_single", "all_reduce",
    "all_reduce_coalesced", "all_to_all", "all_to_all_single", "barrier", "broadcast", "broadcast_object_list",
    "gather", "gather_object", "monitored_barrier", "reduce", "reduce_scatter", "reduce_scatter_single",
    "reduce_scatter_tensor", "scatter", "scatter_object_list",
]  # fmt: skip

_P = ParamSpec("_P")
_Arrays = list[np.ndarray]
_Given = dict[str, Any]
_Step = Callable[..., None]
_ENDS, _SPLITS = ("src", "dst", "group_src", "group_dst"), ("output_split_sizes", "input_split_sizes")
SUM = ReduceOp.SUM
#: Of those that send to each rank by itself: whether all ranks receive, and whether all send; else the root does.
_ROUTES = {"all_gather": (True, True), "gather": (False, True), "scatter": (True, False)}
#: What is said of lists that have not one tensor for each rank, and of tensors that are not as large as one of each.
_LENGTHS = {
    "all_gather": "ProcessGroupGloo::allgather: invalid output tensor list at index 0 (expected length {size}, got "
    "{got})",
    "gather": "ProcessGroupGloo::gather: Incorrect output list size {got}. Output list size should be {size}, same as "
    "size of the process group.",
    "scatter": "ProcessGroupGloo::scatter: Incorrect input list size {got}. Input list size should be {size}, same as "
    "size of the process group.",
    "reduce_scatter": "invalid input tensor list size, must be world size",
    "all_to_all": "Number of input and output tensors must be equal to the size of the process group",
    "all_gather_single": "output tensor size must be equal to world_size times input tensor size",
    "reduce_scatter_single": "input tensor must be the same size as output size times world size",
}


def _collective(
    step: _Step | None = None, reads: str = ""
) -> Callable[[Callable[_P, _Given]], Callable[_P, Work | None]]:
    """Make a collective of a function that gives its arguments by their names.

    step    what a channel does with the arrays to fill, those to read, the way to reduce and the root; None: it sends
            to each rank by itself, as ``_ROUTES`` says
    reads   the argument that is read; the other tensors are filled
    """

    def decorate(arguments: Callable[_P, _Given]) -> Callable[_P, Work | None]:
        name, taken = arguments.__name__, inspect.signature(arguments).parameters
        ends, splits = ([each for each in kind if each in taken] for kind in (_ENDS, _SPLITS))
        arguments.__annotations__["return"] = "Work | None"

        @functools.wraps(arguments)
        def collective(*args: _P.args, **kwargs: _P.kwargs) -> Work | None:
            bound = arguments(*args, **kwargs)
            end, sizes = [bound.pop(each) for each in ends], [bound.pop(each) for each in splits]
            return _run(name, step, reads, bound, end, sizes)

        return collective

    return decorate


def _run(
    name: str, step: _Step | None, reads: str, bound: _Given, end: list[int | None], sizes: list[Any]
) -> Work | None:
    """Do a collective: None, or with ``async_op`` what to wait for."""
    given_group, async_op, op = bound.pop("group"), bound.pop("async_op"), bound.pop("op", None)
    check(**bound)
    if (group := member(given_group, name)) is None:
        return None
    own = _listed(bound.pop(reads, []))
    out = [each for value in bound.values() for each in _listed(value)]
    root = rank_inside(group, end[0], end[1], 0 if reads else None, name) if end else None  # 0 where there is a list
    if name in _LENGTHS:
        _check_sizes(name, group, out, own, root)
    way = None if op is None else checked(op, name, out[0]._array.dtype)
    cuts = [_cut(*each, group) for each in zip(out + own, sizes)] if sizes else []
    sources, targets = _route(name, group, root) if step is None else ([], [])

    def steps() -> None:
        rooms, contents = [room(each) for each in out], [np.ascontiguousarray(each._array) for each in own]
        if len(contents) == 1 and any(np.may_share_memory(contents[0], each) for each in rooms):
            contents = [contents[0].copy()]
        if step is None:
            group.channel.exchange(dict(zip(sources, rooms)), dict(zip(targets, cycle(contents))))
        elif cuts:
            step(group.channel, np.split(rooms[0], cuts[0]), np.split(contents[0], cuts[1]), way, root)
        else:
            step(group.channel, rooms, contents, way, root)
        for tensor, array in zip(out, rooms, strict=True):
            if way is RedOpType.AVG and root in (None, group.rank()):
                np.divide(array, array.dtype.type(group.size()), out=array)
            store(tensor, array)

    call = group.call(name, _alike(name, out, own, way, root))
    work = group.run(call, steps, out, not async_op)
    return work if async_op else None


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _alike(name: str, out: list[Any], own: list[Any], way: RedOpType | None, root: int | None) -> str:
    """What all ranks must agree about; scatter's list is the root's alone, and what all send to all has any shape."""
    words = [told(each) for each in (own if own and name != "scatter" else out)]
    if name.startswith("all_to_all"):
        words = [words[0].partition(" ")[0]]
    words += [] if way is None else [way.name]
    words += [] if root is None else [f"{'to' if name in ('gather', 'reduce') else 'from'} rank {root}"]
    return " ".join(words)


def _check_sizes(name: str, group: ProcessGroup, out: list[Any], own: list[Any], root: int | None) -> None:
    """Errors for lists that have not one tensor for each rank, tensors of other shapes, or are for the root alone."""
    many, few = (out, own) if "gather" in name else (own, out)
    wrong = len(many) != group.size() or name == "all_to_all" and len(few) != group.size()
    if name.endswith("single"):
        if many[0]._array.size != few[0]._array.size * group.size():
            raise ValueError(_LENGTHS[name])
        return
    if root is not None:
        _check_list_of_root(name, many, group.rank() == root)
        wrong = wrong and bool(many)
    if wrong:
        raise RuntimeError(_LENGTHS[name].format(size=group.size(), got=len(many)))
    if name == "reduce_scatter":
        check_sizes(few, many[group.rank()], name)
    elif name != "all_to_all":
        check_sizes(many, few[0], name.replace("_", ""))


def _check_list_of_root(name: str, argument: Any, here: bool) -> None:
    role = "destination" if name == "gather" else "source"
    if here and not argument:
        raise ValueError(f"Argument ``{name}_list`` must be specified on {role} rank.")
    if argument and not here:
        raise ValueError(f"Argument ``{name}_list`` must NOT be specified on non-{role} ranks.")


def _cut(tensor: Any, sizes: Any, group: ProcessGroup) -> np.ndarray:
    """Where a tensor is cut into a part for each rank: parts of these sizes, or equal ones."""
    length = tensor._array.shape[0] if tensor._array.ndim else 1
    if not sizes:
        if length % group.size():
            raise RuntimeError("Tensor's dim 0 does not divide equally across group size")
        sizes = [length // group.size()] * group.size()
    elif len(sizes) != group.size():
        raise RuntimeError("Number of tensor splits not equal to group size")
    elif sum(sizes) != length:
        raise RuntimeError("Split sizes doesn't match total dim 0 size")
    return np.cumsum(sizes)[:-1]


def _route(name: str, group: ProcessGroup, root: int | None) -> tuple[Iterable[Any], Iterable[Any]]:
    """The ranks that this one receives from, and those that it sends to."""
    (all_receive, all_send), every, here = _ROUTES[name], range(group.size()), group.rank() == root
    sources, targets = (every if all_ranks else [root] for all_ranks in (all_send, all_receive))
    return sources if all_receive or here else [], targets if all_send or here else []


def _reduce_parts(channel: Any, out: _Arrays, own: _Arrays, op: RedOpType, root: Any) -> None:
    parts = [each.reshape(-1) for each in own]
    whole = np.concatenate(parts) if len(parts) > 1 else parts[0]
    counts = [part.size for part in parts] if len(parts) == channel.size else [out[0].size] * channel.size
    channel.reduce_scatter(out[0], whole, counts, op)


def _swap(channel: Any, out: _Arrays, own: _Arrays, *_: Any) -> None:
    """Send every rank its array, once it is clear that each is as large as the room for it."""
    sizes, rooms = (np.array([array.size for array in arrays]) for arrays in (own, out))
    coming = np.empty_like(sizes)
    channel.exchange(dict(enumerate(coming.reshape(-1, 1))), dict(enumerate(sizes.reshape(-1, 1))))
    wrong = np.flatnonzero(coming != rooms)
    fine = np.array([not wrong.size], np.int32)
    channel.all_reduce(fine, RedOpType.MIN)
    if not fine[0]:
        words = "; ".join(f"rank {rank} sends {coming[rank]} elements for {rooms[rank]}" for rank in wrong)
        words = words or "another rank was sent what does not fit"
        raise DistBackendError(f"Sizes differ between ranks in all_to_all: {words}")
    channel.exchange(dict(enumerate(out)), dict(enumerate(own)))


# -- on tensors -------------------------------------------------------------------------------------------------------


@_collective(lambda channel, out, own, op, root: channel.all_reduce(out[0], op))
def all_reduce(tensor: Any, op: Any = SUM, group: Any = None, async_op: bool = False) -> _Given:
    """Every rank's ``tensor`` becomes the reduction of all: the same bits everywhere."""
    return locals()


def all_reduce_coalesced(tensors: Any, op: Any = SUM, group: Any = None, async_op: bool = False) -> Work | None:
    """:func:`all_reduce` of several tensors."""
    tensors = _listed(tensors)
    check(tensors=tensors)
    return [all_reduce(tensor, op, group, async_op) for tensor in tensors][-1]


@_collective(lambda channel, out, own, op, root: channel.reduce(out[0], root, op))
def reduce(
    tensor: Any, dst: int | None = None, op: Any = SUM, group: Any = None, async_op: bool = False,
    group_dst: int | None = None,
) -> _Given:  # fmt: skip
    """The ``tensor`` of rank ``dst`` becomes the reduction of all; the others' stay."""
    return locals()


@_collective(lambda channel, out, own, op, root: channel.broadcast(out[0], root))
def broadcast(
    tensor: Any, src: int | None = None, group: Any = None, async_op: bool = False, group_src: int | None = None
) -> _Given:
    """Every rank's ``tensor`` becomes that of rank ``src``."""
    return locals()


@_collective(reads="tensor")
def all_gather(tensor_list: Any, tensor: Any, group: Any = None, async_op: bool = False) -> _Given:
    """``tensor_list`` becomes the tensors of all ranks, equal in shape."""
    return locals()


@_collective(lambda channel, out, own, op, root: channel.all_gather(out[0], own[0]), "input_tensor")
def all_gather_single(output_tensor: Any, input_tensor: Any, group: Any = None, async_op: bool = False) -> _Given:
    """``output_tensor`` becomes the tensors of all ranks behind each other, or stacked."""
    return locals()


@_collective(reads="tensor")
def gather(
    tensor: Any, gather_list: Any = None, dst: int | None = None, group: Any = None, async_op: bool = False,
    group_dst: int | None = None,
) -> _Given:  # fmt: skip
    """``gather_list`` on rank ``dst`` (0 where not given) becomes the tensors of all ranks."""
    gather_list = gather_list or []
    return locals()


@_collective(reads="scatter_list")
def scatter(
    tensor: Any, scatter_list: Any = None, src: int | None = None, group: Any = None, async_op: bool = False,
    group_src: int | None = None,
) -> _Given:  # fmt: skip
    """Every rank's ``tensor`` becomes its own of ``scatter_list`` on rank ``src`` (0 where not given)."""
    scatter_list = scatter_list or []
    return locals()


@_collective(_reduce_parts, "input_list")
def reduce_scatter(output: Any, input_list: Any, op: Any = SUM, group: Any = None, async_op: bool = False) -> _Given:
    """``output`` becomes the reduction of what all ranks have for this one in ``input_list``."""
    return locals()


@_collective(_reduce_parts, "input")
def reduce_scatter_single(output: Any, input: Any, op: Any = SUM, group: Any = None, async_op: bool = False) -> _Given:
    """``output`` becomes the reduction of all ranks' parts of ``input`` that belong to this one."""
    return locals()


@_collective(_swap, "input_tensor_list")
def all_to_all(output_tensor_list: Any, input_tensor_list: Any, group: Any = None, async_op: bool = False) -> _Given:
    """``output_tensor_list[i]`` becomes what rank i has for this rank in its ``input_tensor_list``."""
    return locals()


@_collective(_swap, "input")
def all_to_all_single(
    output: Any, input: Any, output_split_sizes: Any = None, input_split_sizes: Any = None, group: Any = None,
    async_op: bool = False,
) -> _Given:  # fmt: skip
    """The same for parts of one tensor along dimension 0, equal ones where no sizes are given."""
    return locals()


@_collective(lambda channel, out, own, op, root: None)  # to meet is all
def barrier(group: Any = None, async_op: bool = False, device_ids: Any = None) -> _Given:
    """Return once all ranks of the group are here."""
    if device_ids is not None and not isinstance(device_ids, list):
        raise TypeError("Invalid function argument: device_ids type should be List[int]")
    return {"group": group, "async_op": async_op}


def monitored_barrier(group: Any = None, timeout: timedelta | None = None, wait_all_ranks: bool = False) -> None:
    """The same, rank 0 telling who is missing after ``timeout``; all of them with ``wait_all_ranks``."""
    if (whole := member(group, "monitored_barrier")) is None:
        return
    seconds = (whole.timeout if timeout is None else timeout).total_seconds()
    try:
        whole.run(whole.call("monitored_barrier", "", seconds), lambda: None)
    except DistNetworkError as error:
        if whole.rank() or not error.missing:
            raise
        late = error.missing if wait_all_ranks else error.missing[:1]
        who = f"Rank{'s' * (len(late) > 1)} {', '.join(map(str, late))}"
        words = f"[Rank 0]: {who} failed to pass monitoredBarrier in {seconds * 1000:.0f} ms"
        raise DistNetworkError(words, late) from None


def _former(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """A function by a name that it had before, which warns."""

    @functools.wraps(function)
    def renamed(*args: Any, **kwargs: Any) -> Any:
        words = f"`torch.distributed.{name}` is deprecated. Please use `torch.distributed.{function.__name__}` instead."
        warnings.warn(words, FutureWarning, stacklevel=2)
        return function(*args, **kwargs)

    renamed.__name__ = renamed.__qualname__ = name
    renamed.__doc__ = f"The former name of :func:`{function.__name__}`."
    return renamed


all_gather_into_tensor = _former("all_gather_into_tensor", all_gather_single)
reduce_scatter_tensor = _former("reduce_scatter_tensor", reduce_scatter_single)


# -- on objects -------------------------------------------------------------------------------------------------------


def _send_objects(
    name: str, given: Any, fill: list[Any] | None, values: list[Any], end: tuple[int | None, ...] = ()
) -> None:
    """Pickle ``values``, one for each rank or one for all, and fill a list with the objects that come."""
    if (group := member(given, name)) is None:
        return
    kind = name.partition("_object")[0]
    root = rank_inside(group, end[0], end[1], 0, kind) if end else None
    if kind == "gather":
        _check_list_of_root(kind, fill if fill is None or group.rank() != root else True, group.rank() == root)
    sources, targets = _route(kind, group, root)
    if kind == "scatter" and group.rank() == root and len(values) != group.size():
        raise ValueError(f"scatter_object_input_list must have {group.size()} items on the source rank")
    contents = [pickled(value) for value in values] if targets else []
    call = group.call(name, _alike(kind, [], [], None, root))
    objects = group.exchange(call, sources, dict(zip(targets, cycle(contents))))
    if fill is not None:
        fill[: len(objects)] = objects


def all_gather_object(object_list: list[Any], obj: Any, group: Any = None) -> None:
    """``object_list`` becomes the objects of all ranks."""
    _send_objects("all_gather_object", group, object_list, [obj])


def gather_object(
    obj: Any, object_gather_list: list[Any] | None = None, dst: int | None = None, group: Any = None,
    group_dst: int | None = None,
) -> None:  # fmt: skip
    """``object_gather_list`` on rank ``dst`` (0 where not given) becomes the objects of all ranks."""
    _send_objects("gather_object", group, object_gather_list, [obj], (dst, group_dst))


def broadcast_object_list(
    object_list: list[Any], src: int | None = None, group: Any = None, device: Any = None,
    group_src: int | None = None,
) -> None:  # fmt: skip
    """Every rank's ``object_list`` becomes that of rank ``src`` (0 where not given)."""
    if (whole := member(group, "broadcast_object_list")) is not None:
        root = rank_inside(whole, src, group_src, 0, "broadcast")
        objects = whole.from_rank(root, [*object_list], "broadcast_object_list")
        object_list[: len(objects)] = objects


def scatter_object_list(
    scatter_object_output_list: list[Any], scatter_object_input_list: list[Any] | None = None,
    src: int | None = None, group: Any = None, group_src: int | None = None,
) -> None:  # fmt: skip
    """The first item of every rank's output list becomes its own of the input list on rank ``src``."""
    if not isinstance(scatter_object_output_list, list) or len(scatter_object_output_list) < 1:
        raise ValueError("Expected argument scatter_object_output_list to be a list of size at least 1.")
    values = scatter_object_input_list or []
    _send_objects("scatter_object_list", group, scatter_object_output_list, values, (src, group_src))
