"""The parts of torch.distributed that are not here, and what to use in their place."""

from __future__ import annotations

from ..ground.absent import stand_ins

_MEETING = "processes meet by init_method or MPI; broadcast_object_list and all_gather_object carry what a store would"
#: Classes that packages import beside what they use.
STORES = stand_ins(_MEETING, "Store TCPStore FileStore HashStore PrefixStore")
ABSENT = {
    "autograd": "it belongs to torch.distributed.rpc; use torch.distributed.nn.functional, whose collectives are "
    "differentiable",
    "fsdp": "use torch.nn.parallel.DistributedDataParallel, where every process holds the whole model",
    "tensor": "use torch.nn.parallel.DistributedDataParallel, where every process holds the whole model",
    "_tensor": "use torch.nn.parallel.DistributedDataParallel, where every process holds the whole model",
    "_composable": "use torch.nn.parallel.DistributedDataParallel, where every process holds the whole model",
    "pipelining": "use send and recv between the processes",
    "pipeline": "use send and recv between the processes",
    "_shard": "use torch.nn.parallel.DistributedDataParallel, where every process holds the whole model",
    "_functional_collectives": "use torch.distributed.nn.functional",
    **dict.fromkeys(("rendezvous", "register_rendezvous_handler"), _MEETING),
    "remote_device": "use process groups between the processes: send and recv, broadcast, all_reduce",
}


def hint(name: str) -> str:
    """What to use instead of ``torch.distributed.<name>``, with a colon before it; empty for what is not known."""
    words = ABSENT.get(name.partition(".")[0])
    return f": {words}" if words else ""
