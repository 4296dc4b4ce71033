"""The parts of torch.distributed that are not here, and what to use in their place."""

from __future__ import annotations

ABSENT = {
    "rpc": "use process groups between the processes: send and recv, broadcast, all_reduce",
    "autograd": "it belongs to torch.distributed.rpc; use torch.distributed.nn.functional, whose collectives are "
    "differentiable",
    "fsdp": "use torch.nn.parallel.DistributedDataParallel, where every process holds the whole model",
    "tensor": "use torch.nn.parallel.DistributedDataParallel, where every process holds the whole model",
    "_tensor": "use torch.nn.parallel.DistributedDataParallel, where every process holds the whole model",
    "device_mesh": "use new_group for the rows and columns of a mesh",
    "init_device_mesh": "use new_group for the rows and columns of a mesh",
    "DeviceMesh": "use new_group for the rows and columns of a mesh",
    "_composable": "use torch.nn.parallel.DistributedDataParallel, where every process holds the whole model",
    "pipelining": "use send and recv between the processes",
    "pipeline": "use send and recv between the processes",
    "checkpoint": "use torch.save on one rank and torch.load on all",
    "_shard": "use torch.nn.parallel.DistributedDataParallel, where every process holds the whole model",
    "algorithms": "use DistributedDataParallel's own join() and no_sync(), or all_reduce",
    "_functional_collectives": "use torch.distributed.nn.functional",
    "remote_device": "use process groups between the processes: send and recv, broadcast, all_reduce",
}


def hint(name: str) -> str:
    """What to use instead of ``torch.distributed.<name>``, with a colon before it; empty for what is not known."""
    words = ABSENT.get(name.partition(".")[0])
    return f": {words}" if words else ""
