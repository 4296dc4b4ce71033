"""The process groups of this process: starting, asking, making smaller ones, ending."""

from __future__ import annotations

import atexit
import importlib.util
import os
import warnings
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from ..ground import launched
from ..ground.device import device as _device
from ..multiprocessing.failures import DistBackendError, DistError, DistNetworkError, DistStoreError
from ..multiprocessing.mpi import finalize
from ..multiprocessing.reduce_op import ReduceOp
from ..multiprocessing.stores import Store
from .process_group import ProcessGroup
from .start import connect
from .work import Work

__all__ = [
    "Backend", "DistBackendError", "DistError", "DistNetworkError", "DistStoreError", "GroupMember", "ProcessGroup",
    "ReduceOp", "Work", "default_pg_timeout", "destroy_process_group", "get_backend", "get_backend_config",
    "get_default_backend_for_device", "get_global_rank", "get_group_rank", "get_node_local_rank", "get_pg_count",
    "get_process_group_ranks", "get_rank", "get_world_size", "group", "init_process_group", "is_backend_available",
    "is_gloo_available", "is_initialized", "is_mpi_available", "is_nccl_available", "is_torchelastic_launched",
    "is_ucc_available", "is_xccl_available", "new_group", "new_subgroups", "new_subgroups_by_enumeration",
]  # fmt: skip

default_pg_timeout = timedelta(minutes=30)
_groups: dict[str, ProcessGroup] = {}  # by name; "0" is the default one
_state: dict[str, Any] = {"begun": 0, "named": 0, "backend": "", "ended well": True}


class Backend(str):
    """The lower-case name of what carries messages; ``gloo`` and ``mpi`` mean the same here."""

    UNDEFINED, GLOO, NCCL, UCC, MPI, XCCL, FAKE = "undefined", "gloo", "nccl", "ucc", "mpi", "xccl", "fake"
    backend_list = [UNDEFINED, GLOO, NCCL, XCCL, UCC, MPI, FAKE]  # noqa: RUF012 - a class attribute of PyTorch's
    default_device_backend_map = {"cpu": GLOO, "cuda": NCCL, "xpu": XCCL, "mps": GLOO}  # noqa: RUF012

    def __new__(cls, name: str) -> Backend:
        if not isinstance(name, str):
            raise ValueError("Backend constructor parameter must be string-ish")
        return super().__new__(cls, name.lower())


class _World(type):
    """Lets a class have the default group, or None, as an attribute."""

    WORLD = property(lambda cls: _groups.get("0"), lambda cls, value: _groups.update({"0": value}))


class group(metaclass=_World):
    """``group.WORLD``: the default group."""


class GroupMember(metaclass=_World):
    """``GroupMember.WORLD``: the default group; ``NON_GROUP_MEMBER``: what others than members get as their group."""

    NON_GROUP_MEMBER = -100


def _get_default_group() -> ProcessGroup:
    if not is_initialized():
        raise ValueError("Default process group has not been initialized, please make sure to call init_process_group.")
    return _groups["0"]


def _resolve(group: Any) -> ProcessGroup:
    return _get_default_group() if group is None else group


def _rank_not_in_group(group: Any) -> bool:
    return group == GroupMember.NON_GROUP_MEMBER


def member(group: Any, name: str) -> ProcessGroup | None:
    """The group, or for None the default one; None, and a warning, where this process is none of its members."""
    if _rank_not_in_group(group):
        words = f"Running {name} on global rank {get_rank()} which does not belong to the given group."
        warnings.warn(words, stacklevel=4)  # of a collective's caller
        return None
    return _resolve(group)


# -- beginning and ending ---------------------------------------------------------------------------------------------


def _check(backend: str | None, device_id: Any, timeout: Any) -> None:
    """Errors for a backend as ``gloo`` or ``cpu:gloo,cuda:nccl`` that is not here, and for a timeout that is none."""
    if not isinstance(timeout, timedelta):
        raise TypeError(f"Expected timeout argument to be of type datetime.timedelta, got {timeout}")
    if backend is None and device_id is not None:
        get_default_backend_for_device(device_id)
    name, pairs = (backend or "undefined").lower(), dict[str, str]()
    for pair in name.split(",") if ":" in name else ():
        device, colon, carrier = pair.partition(":")
        if not colon:
            raise ValueError(f"Invalid device:backend pairing: {pair} in backend {backend}")
        if device in pairs:
            raise ValueError(f"Duplicate device type {device} in backend string: {backend}")
        pairs[device] = carrier
    name = pairs.get("cpu", next(iter(pairs.values()), name))
    if name in ("nccl", "ucc", "xccl"):
        raise RuntimeError(
            f"Distributed package doesn't have {name.upper()} built in: it carries tensors between GPUs, and tensors "
            "are on the CPU here; use 'gloo' or 'mpi'"
        )
    if name not in ("gloo", "mpi", "undefined"):
        raise AssertionError(f"Unknown backend type {name}")


def init_process_group(
    backend: str | None = None, init_method: str | None = None, timeout: timedelta | None = None, world_size: int = -1,
    rank: int = -1, store: Any = None, group_name: str = "", pg_options: Any | None = None, device_id: Any = None,
    **kwargs: Any,
) -> None:  # fmt: skip
    """Join the other processes in the default group; returns once all are there.

    Processes that mpiexec, srun or ``glassgrad launch`` started are joined by MPI; others meet on this machine.
    backend            "gloo", "mpi" or None, which mean the same
    init_method        ``env://`` (RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT), ``tcp://host:port``, ``file://path``
    store              a FileStore or TCPStore in its place: its file or address
    timeout            of every collective; 30 minutes where not given
    """
    if is_initialized():
        raise ValueError("trying to initialize the default process group twice!")
    if store is not None and init_method is not None:
        raise AssertionError("Cannot specify both init_method and store.")
    limit = default_pg_timeout if timeout is None else timeout
    chosen = Backend("undefined" if backend is None else backend)
    _check(backend, device_id, limit)
    if not (isinstance(rank, int) and isinstance(world_size, int)):
        raise RuntimeError(f"`rank` and `world_size` must be integers. {rank} {world_size}")
    if not isinstance(store, (Store, type(None))):
        raise TypeError(f"store: expected a FileStore or a TCPStore, where processes can meet, got {type(store)}")
    _state["begun"] += 1
    url = (init_method or "env://") if store is None else store.meeting
    if chosen == "mpi" and url == "env://" and rank == -1 and "RANK" not in os.environ and launched.place() is None:
        url, rank, world_size = "tcp://127.0.0.1:0", 0, 1  # nothing is said: a world of its own
    channel, rank, size = connect(url, rank, world_size, limit.total_seconds(), f"{_state['begun']}:0")
    _groups["0"] = ProcessGroup(channel, "0", range(size), rank, limit)
    _state.update(named=0, backend=chosen)


def destroy_process_group(group: ProcessGroup | None = None) -> None:
    """End a group; with None, all of them."""
    if _rank_not_in_group(group):
        return
    whole = _groups.get("0")
    group = whole if group is None else group
    if group is None or whole is None:
        raise AssertionError("Process group cannot be None")
    if _groups.get(group.group_name) is not group:
        raise ValueError("Invalid process group specified")
    if group is not whole:
        _groups.pop(group.group_name).close()
        return
    usable = all(each.broken is None and not each.pending for each in _groups.values()) and whole.owned()
    for name in [*_groups][1:]:
        _groups.pop(name).close()
    if whole.owned():
        whole.channel.leave(usable)
    whole.close()
    _groups.clear()
    _state["ended well"] = _state["ended well"] and usable


@atexit.register
def _at_exit() -> None:
    if is_initialized() and _groups["0"].owned():
        destroy_process_group()
    finalize(_state["ended well"])  # else MPI would wait for some ranks in vain


# -- asking -----------------------------------------------------------------------------------------------------------


def is_gloo_available() -> bool:
    """True."""
    return True


def is_nccl_available() -> bool:
    """False: there is no GPU support."""
    return False


is_ucc_available = is_xccl_available = is_nccl_available


def is_mpi_available() -> bool:
    """Whether mpi4py is installed."""
    return importlib.util.find_spec("mpi4py") is not None


def is_backend_available(backend: str) -> bool:
    """Whether process groups can be made with ``backend``."""
    return backend.lower() == "gloo" or (backend.lower() == "mpi" and is_mpi_available())


def is_initialized() -> bool:
    """Whether there is a default group."""
    return _groups.get("0") is not None


def is_torchelastic_launched() -> bool:
    """Whether ``torch.distributed.run`` started this process."""
    return os.environ.get("TORCHELASTIC_RUN_ID") is not None


def get_rank(group: ProcessGroup | None = None) -> int:
    """The rank of this process in a group; -1 where it is no member."""
    return -1 if _rank_not_in_group(group) else _resolve(group).rank()


def get_world_size(group: ProcessGroup | None = None) -> int:
    """The number of ranks of a group; -1 where this process is no member."""
    return -1 if _rank_not_in_group(group) else _resolve(group).size()


def get_backend(group: ProcessGroup | None = None) -> Backend:
    """The name of a group's backend."""
    if _rank_not_in_group(whole := _resolve(group)):
        raise ValueError("Invalid process group specified")
    backend: Backend = _state["backend"]
    return backend if whole.group_name == "0" or backend == "mpi" else Backend("gloo")


def get_backend_config(group: ProcessGroup | None = None) -> str:
    """Which backend serves which kind of device."""
    _resolve(group)
    return "cpu:gloo"


def get_default_backend_for_device(device: Any) -> str:
    """The backend for tensors on a device: "gloo" for the CPU, "nccl" (which is not here) for GPUs."""
    kind = device.type if isinstance(device, _device) else _device(device).type
    if kind not in Backend.default_device_backend_map:
        raise ValueError(f"Default backend not registered for device : {device}")
    return Backend.default_device_backend_map[kind]


def get_pg_count() -> int:
    """How many groups there are."""
    return len(_groups)


def get_process_group_ranks(group: ProcessGroup | None) -> list[int]:
    """The global ranks of a group's members, by rank in the group."""
    return list(_resolve(group).ranks)


def _ranks_of(group: ProcessGroup) -> list[int]:
    if _groups.get(getattr(group, "group_name", "")) is not group:
        raise ValueError(f"Group {group} is not registered, please create group with torch.distributed.new_group API")
    return group.ranks


def get_group_rank(group: ProcessGroup, global_rank: int) -> int:
    """The rank in ``group`` of the process with ``global_rank``."""
    if group is _groups.get("0"):
        return global_rank
    if global_rank not in (ranks := _ranks_of(group)):
        raise ValueError(f"Global rank {global_rank} is not part of group {group}")
    return ranks.index(global_rank)


def get_global_rank(group: ProcessGroup, group_rank: int) -> int:
    """The global rank of the process with ``group_rank`` in ``group``."""
    if group is _groups.get("0"):
        return group_rank
    if not 0 <= group_rank < len(ranks := _ranks_of(group)):
        raise ValueError(f"Group rank {group_rank} is not part of group {group}")
    return ranks[group_rank]


def rank_inside(
    group: ProcessGroup, global_rank: int | None, inside: int | None, default: int | None, name: str, role: str = "root"
) -> int:
    """The rank in ``group`` of a process that is given by its global rank or by that in the group."""
    if global_rank is not None and inside is not None:
        raise ValueError("Can't specify both group_rank and global_rank")
    global_rank = default if global_rank is None else global_rank
    if global_rank is None and inside is None:
        raise ValueError("Must specify global_rank or group_rank")
    root = get_group_rank(group, global_rank) if inside is None else inside  # type: ignore[arg-type]
    if not 0 <= root < group.size():
        raise RuntimeError(f"ProcessGroupGloo::{name}: invalid {role} rank: {root}")
    return root


def get_node_local_rank(fallback_rank: int | None = None) -> int:
    """The rank among the processes of this machine, from LOCAL_RANK."""
    rank = os.environ.get("LOCAL_RANK", fallback_rank)
    if rank is None:
        raise RuntimeError(
            "LOCAL_RANK is not in the environment. Consider passing fallback_rank to allow `get_node_local_rank` to "
            "work, assuming you are not running in a multi-device context and want the code to run locally instead."
        )
    return int(rank)


# -- smaller groups ---------------------------------------------------------------------------------------------------


def new_group(
    ranks: Sequence[int] | None = None, timeout: timedelta | None = None, backend: str | None = None,
    pg_options: Any | None = None, use_local_synchronization: bool = False, group_desc: str | None = None,
    device_id: Any = None, sort_ranks: bool = True,
) -> Any:  # fmt: skip
    """A group of some of the processes; all must call this, in one order. Others than members get a mark."""
    whole = _get_default_group()
    limit = whole.timeout if timeout is None else timeout
    _check(backend, device_id, limit)
    chosen = list(range(whole.size())) if ranks is None else list(ranks)
    if len(set(chosen)) != len(chosen):
        raise ValueError(f"ranks list must not contain duplicate entries, got {chosen}")
    if len(chosen) > whole.size():
        words = "the new group's world size should be less or equal to the world size set by init_process_group"
        raise ValueError(words)
    if any(not 0 <= rank < whole.size() for rank in chosen):
        raise ValueError("The new group's rank should be within the world_size set by init_process_group")
    if sort_ranks:
        chosen.sort()
    if use_local_synchronization:  # only members call, so a count of all calls would differ between ranks
        same = f"local:{','.join(map(str, chosen))}:"
        name = same + str(sum(key.startswith(same) for key in _groups))
    else:
        _state["named"] += 1
        name = str(_state["named"])
    if whole.rank() not in chosen:
        return GroupMember.NON_GROUP_MEMBER
    channel = whole.channel.narrow(chosen, f"{_state['begun']}:{name}")
    process_group = _groups[name] = ProcessGroup(channel, name, chosen, chosen.index(whole.rank()), limit)
    process_group.group_desc = process_group.group_desc if group_desc is None else group_desc
    return process_group


def new_subgroups_by_enumeration(
    ranks_per_subgroup_list: Sequence[Sequence[int]], timeout: timedelta | None = None, backend: str | None = None,
    pg_options: Any | None = None, group_desc: str | None = None,
) -> tuple[Any, list[Any]]:  # fmt: skip
    """A group for each list of ranks: the one this process is in (or None), and all."""
    if not ranks_per_subgroup_list:
        raise ValueError("The arg 'ranks_per_subgroup_list' cannot be empty")
    seen: dict[int, Any] = {}
    current, every = None, []
    for ranks in ranks_per_subgroup_list:
        every.append(new_group(ranks, timeout, backend, pg_options, group_desc=group_desc))
        for rank in ranks:
            if rank in seen:
                raise ValueError(f"Rank {rank} has appeared in both subgroup {seen[rank]} and {ranks}")
            seen[rank] = ranks
        current = every[-1] if get_rank() in ranks else current
    return current, every


def new_subgroups(
    group_size: int | None = None, group: ProcessGroup | None = None, timeout: timedelta | None = None,
    backend: str | None = None, pg_options: Any | None = None, group_desc: str | None = None,
) -> tuple[Any, list[Any]]:  # fmt: skip
    """Groups of ``group_size`` neighbours each: the one this process is in, and all."""
    if group_size is None:
        raise ValueError("Default group size only takes effect when CUDA is available: pass group_size")
    if group_size <= 0:
        raise ValueError(f"The arg 'group_size' ({group_size}) must be positive")
    whole = get_world_size()
    if whole < group_size:
        raise ValueError(f"The arg 'group_size' ({group_size}) must not exceed the world size ({whole})")
    if whole % group_size:
        raise ValueError(f"The world size ({whole}) must be divisible by '{group_size=}'")
    if group is not None:
        warnings.warn("subgroups of a subgroup are made of the ranks of the default group", stacklevel=2)
    parts = [list(range(start, start + group_size)) for start in range(0, whole, group_size)]
    return new_subgroups_by_enumeration(parts, timeout, backend, pg_options, group_desc)
