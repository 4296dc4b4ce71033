"""The process groups of this process: starting, asking, making smaller ones, ending."""

from __future__ import annotations

import atexit
import importlib.util
import os
import sys
import warnings
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from ..ground.device import device as _device
from .errors import DistBackendError, DistError, DistNetworkError, DistStoreError
from .process_group import ProcessGroup
from .reduce_op import ReduceOp
from .start import connect
from .stores import Store
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
_UNINITIALIZED = "Default process group has not been initialized, please make sure to call init_process_group."
_NOT_BUILT = {
    name: f"Distributed package doesn't have {name.upper()} built in: it carries tensors between GPUs, and tensors "
    "are on the CPU here; use 'gloo' or 'mpi'"
    for name in ("nccl", "ucc", "xccl")
}


class Backend(str):
    """The lower-case name of what carries messages; ``gloo`` and ``mpi`` mean the same here.

    Source: https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.Backend
    """

    UNDEFINED = "undefined"
    GLOO = "gloo"
    NCCL = "nccl"
    UCC = "ucc"
    MPI = "mpi"
    XCCL = "xccl"
    FAKE = "fake"
    backend_list = [UNDEFINED, GLOO, NCCL, XCCL, UCC, MPI, FAKE]  # noqa: RUF012 - a class attribute of PyTorch's
    default_device_backend_map = {"cpu": GLOO, "cuda": NCCL, "xpu": XCCL, "mps": GLOO}  # noqa: RUF012

    def __new__(cls, name: str) -> Backend:
        if not isinstance(name, str):
            raise ValueError("Backend constructor parameter must be string-ish")
        return super().__new__(cls, name.lower())


class _World(type):
    """Lets a class have the default group as an attribute."""

    _default: ProcessGroup | None = None

    @property
    def WORLD(cls) -> ProcessGroup | None:
        """The default group; None where there is none."""
        return _World._default

    @WORLD.setter
    def WORLD(cls, value: ProcessGroup | None) -> None:
        _World._default = value


class group(metaclass=_World):
    """``group.WORLD``: the default group."""


class GroupMember(metaclass=_World):
    """``GroupMember.WORLD``: the default group; ``NON_GROUP_MEMBER``: what others than members get as their group."""

    NON_GROUP_MEMBER = -100


_groups: dict[str, ProcessGroup] = {}
_counts = {"begun": 0, "named": 0}
_backend = ""


def is_gloo_available() -> bool:
    """True."""
    return True


def is_mpi_available() -> bool:
    """Whether mpi4py is installed."""
    return importlib.util.find_spec("mpi4py") is not None


def is_nccl_available() -> bool:
    """False: there is no GPU support."""
    return False


is_ucc_available = is_xccl_available = is_nccl_available


def is_backend_available(backend: str) -> bool:
    """Whether process groups can be made with ``backend``."""
    return backend.lower() == "gloo" or (backend.lower() == "mpi" and is_mpi_available())


def is_initialized() -> bool:
    """Whether there is a default group."""
    return _World._default is not None


def is_torchelastic_launched() -> bool:
    """Whether ``torch.distributed.run`` started this process."""
    return os.environ.get("TORCHELASTIC_RUN_ID") is not None


def _get_default_group() -> ProcessGroup:
    if _World._default is None:
        raise ValueError(_UNINITIALIZED)
    return _World._default


def _resolve(given: Any) -> ProcessGroup:
    return _get_default_group() if given is None else given


def member(given: Any, name: str) -> ProcessGroup | None:
    """The group ``given``, or the default one; None, and a warning, where this process is none of its members."""
    if _rank_not_in_group(given):
        words = f"Running {name} on global rank {get_rank()} which does not belong to the given group."
        warnings.warn(words, stacklevel=3)
        return None
    return _resolve(given)


def _rank_not_in_group(given: Any) -> bool:
    return given == GroupMember.NON_GROUP_MEMBER


def _backends(given: str | None, device_id: Any) -> str:
    """The backend that CPU tensors get, from ``gloo``, ``cpu:gloo,cuda:nccl`` or None; errors for what is not here."""
    if given is None and device_id is not None:
        get_default_backend_for_device(device_id)
    name = (given or "undefined").lower()
    pairs: dict[str, str] = {}
    for pair in name.split(",") if ":" in name else ():
        place, colon, carrier = pair.partition(":")
        if not colon:
            raise ValueError(f"Invalid device:backend pairing: {pair} in backend {given}")
        if place in pairs:
            raise ValueError(f"Duplicate device type {place} in backend string: {given}")
        pairs[place] = carrier
    name = pairs.get("cpu", next(iter(pairs.values()), name))
    if name == "undefined":
        return "gloo"
    if name in _NOT_BUILT:
        raise RuntimeError(_NOT_BUILT[name])
    if name not in ("gloo", "mpi"):
        raise AssertionError(f"Unknown backend type {name}")
    return name


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
    Source: https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.init_process_group
    """
    global _backend
    if _World._default is not None:
        raise ValueError("trying to initialize the default process group twice!")
    if store is not None and init_method is not None:
        raise AssertionError("Cannot specify both init_method and store.")
    limit = default_pg_timeout if timeout is None else timeout
    _check_timeout(limit)
    told = Backend(backend) if backend is not None else Backend("undefined")
    _backends(backend, device_id)
    if not (isinstance(rank, int) and isinstance(world_size, int)):
        raise RuntimeError(f"`rank` and `world_size` must be integers. {rank} {world_size}")
    _counts["begun"] += 1
    if store is not None:
        if not isinstance(store, Store):
            raise TypeError(f"store: expected a FileStore or a TCPStore, where processes can meet, got {type(store)}")
        init_method = store.meeting
    url = "env://" if init_method is None else init_method
    alone = told == "mpi" and init_method is None
    channel, rank, world_size = connect(url, rank, world_size, limit.total_seconds(), f"{_counts['begun']}:0", alone)
    _World._default = _groups["0"] = ProcessGroup(channel, "0", range(world_size), rank, limit)
    _counts["named"] = 0
    _backend = told


def _check_timeout(timeout: Any) -> None:
    if not isinstance(timeout, timedelta):
        raise TypeError(f"Expected timeout argument to be of type datetime.timedelta, got {timeout}")


def destroy_process_group(group: ProcessGroup | None = None) -> None:
    """End a group; with None, all of them.

    Source: https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.destroy_process_group
    """
    if _rank_not_in_group(group):
        return
    whole = _World._default
    if group is None:
        group = whole
    if group is None:
        raise AssertionError("Process group cannot be None")
    if _groups.get(group.group_name) is not group:
        raise ValueError("Invalid process group specified")
    if group is not whole:
        group.close()
        del _groups[group.group_name]
        return
    usable = all(each.broken is None and each.idle() for each in _groups.values()) and group.owned()
    for each in _groups.values():
        if each is not whole:
            each.close()
    if group.owned():
        group.channel.leave(usable)
    group.close()
    _groups.clear()
    _World._default = None
    _ended["well"] = _ended["well"] and usable


_ended = {"well": True}  # whether MPI may end with all ranks, or some would be waited for in vain


def _at_exit() -> None:
    if _World._default is not None and _World._default.owned():
        destroy_process_group()
    mpi = sys.modules.get(f"{__package__}.mpi")
    if mpi is not None:
        mpi.finalize(_ended["well"])


atexit.register(_at_exit)


# -- asking -----------------------------------------------------------------------------------------------------------


def get_rank(group: ProcessGroup | None = None) -> int:
    """The rank of this process in a group; -1 where it is no member."""
    if _rank_not_in_group(group):
        return -1
    return _resolve(group).rank()


def get_world_size(group: ProcessGroup | None = None) -> int:
    """The number of ranks of a group; -1 where this process is no member."""
    if _rank_not_in_group(group):
        return -1
    return _resolve(group).size()


def get_backend(group: ProcessGroup | None = None) -> Backend:
    """The name of a group's backend."""
    whole = _resolve(group)
    if _rank_not_in_group(whole):
        raise ValueError("Invalid process group specified")
    return Backend(_backend if whole.group_name == "0" or _backend == "mpi" else "gloo")


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


def _registered(group: ProcessGroup) -> ProcessGroup:
    if _groups.get(getattr(group, "group_name", "")) is not group:
        raise ValueError(f"Group {group} is not registered, please create group with torch.distributed.new_group API")
    return group


def get_group_rank(group: ProcessGroup, global_rank: int) -> int:
    """The rank in ``group`` of the process with ``global_rank``."""
    if group is _World._default:
        return global_rank
    if global_rank not in _registered(group).ranks:
        raise ValueError(f"Global rank {global_rank} is not part of group {group}")
    return group.ranks.index(global_rank)


def rank_inside(
    group: ProcessGroup, given: int | None, inside: int | None, default: int | None, name: str, role: str = "root"
) -> int:
    """The rank in ``group`` of a process that is given by its global rank or by that in the group."""
    if given is not None and inside is not None:
        raise ValueError("Can't specify both group_rank and global_rank")
    given = default if given is None else given
    if given is None and inside is None:
        raise ValueError("Must specify global_rank or group_rank")
    root = get_group_rank(group, given) if inside is None else inside  # type: ignore[arg-type]
    if not 0 <= root < group.size():
        raise RuntimeError(f"ProcessGroupGloo::{name}: invalid {role} rank: {root}")
    return root


def get_global_rank(group: ProcessGroup, group_rank: int) -> int:
    """The global rank of the process with ``group_rank`` in ``group``."""
    if group is _World._default:
        return group_rank
    if not 0 <= group_rank < len(_registered(group).ranks):
        raise ValueError(f"Group rank {group_rank} is not part of group {group}")
    return group.ranks[group_rank]


def get_node_local_rank(fallback_rank: int | None = None) -> int:
    """The rank among the processes of this machine, from LOCAL_RANK."""
    if "LOCAL_RANK" in os.environ:
        return int(os.environ["LOCAL_RANK"])
    if fallback_rank is not None:
        return int(fallback_rank)
    raise RuntimeError(
        "LOCAL_RANK is not in the environment. Consider passing fallback_rank to allow `get_node_local_rank` to "
        "work, assuming you are not running in a multi-device context and want the code to run locally instead."
    )


# -- smaller groups ---------------------------------------------------------------------------------------------------


def new_group(
    ranks: Sequence[int] | None = None, timeout: timedelta | None = None, backend: str | None = None,
    pg_options: Any | None = None, use_local_synchronization: bool = False, group_desc: str | None = None,
    device_id: Any = None, sort_ranks: bool = True,
) -> Any:  # fmt: skip
    """A group of some of the processes; all must call this, in one order. Others than members get a mark.

    Source: https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.new_group
    """
    whole = _get_default_group()
    limit = whole.timeout if timeout is None else timeout
    _check_timeout(limit)
    _backends(backend, device_id)
    chosen = list(range(whole.size())) if ranks is None else list(ranks)
    if len(set(chosen)) != len(chosen):
        raise ValueError(f"ranks list must not contain duplicate entries, got {chosen}")
    if len(chosen) > whole.size():
        raise ValueError(
            "the new group's world size should be less or equal to the world size set by init_process_group"
        )
    if any(not 0 <= rank < whole.size() for rank in chosen):
        raise ValueError("The new group's rank should be within the world_size set by init_process_group")
    if sort_ranks:
        chosen.sort()
    if use_local_synchronization:  # only members call, so a count of all calls would differ between ranks
        same = f"local:{','.join(map(str, chosen))}:"
        name = same + str(sum(key.startswith(same) for key in _groups))
    else:
        _counts["named"] += 1
        name = str(_counts["named"])
    if whole.rank() not in chosen:
        return GroupMember.NON_GROUP_MEMBER
    channel = whole.channel.narrow(chosen, f"{_counts['begun']}:{name}")
    made = ProcessGroup(channel, name, chosen, chosen.index(whole.rank()), limit)
    if group_desc is not None:
        made.group_desc = group_desc
    _groups[name] = made
    return made


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
        made = new_group(ranks, timeout, backend, pg_options, group_desc=group_desc)
        every.append(made)
        for rank in ranks:
            if rank in seen:
                raise ValueError(f"Rank {rank} has appeared in both subgroup {seen[rank]} and {ranks}")
            seen[rank] = ranks
            if get_rank() == rank:
                current = made
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
