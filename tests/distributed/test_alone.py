"""What one process alone can ask of torch.distributed: the same answers and errors as PyTorch's."""

import importlib
import inspect

import pytest

import glassgrad
from tests.agreement import cases, check

PAGE = "https://docs.pytorch.org/docs/stable/distributed.html"


def alone(torch, show):
    import os

    dist = torch.distributed
    names = ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
    kept = {name: os.environ.pop(name) for name in names if name in os.environ}
    show.error(dist.get_rank)
    show.error(lambda: dist.all_reduce(torch.ones(1)))
    show.error(dist.destroy_process_group)
    for name, value in zip(names, ("0", "1", "127.0.0.1", "no"), strict=True):
        show.error(lambda: dist.init_process_group("gloo"))
        os.environ[name] = value
    for name in names:
        del os.environ[name]
    os.environ.update(kept)
    show.error(lambda: dist.init_process_group("gloo", timeout=3))
    show.error(lambda: dist.init_process_group("gloo", init_method="abc://x", rank=0, world_size=1))
    show.error(lambda: dist.init_process_group("gloo", init_method="tcp://127.0.0.1:1"))
    dist.init_process_group("gloo", init_method="tcp://127.0.0.1:0", rank=0, world_size=1)
    show("is", [dist.is_available(), dist.is_initialized(), dist.get_rank(), dist.get_world_size(), dist.get_backend()])
    show("group", [dist.group.WORLD is dist.GroupMember.WORLD, dist.group.WORLD.size(), dist.group.WORLD.name()])
    show.error(lambda: dist.init_process_group("gloo"))
    x = torch.ones(2)
    dist.all_reduce(x)
    dist.broadcast(x, 0)
    rooms = [torch.zeros(2)]
    dist.all_gather(rooms, x)
    dist.gather(x, rooms)
    dist.scatter(x, rooms)
    dist.reduce(x, 0)
    dist.barrier()
    show("alone", [x, rooms[0]])
    show.error(lambda: dist.all_reduce(3))
    show.error(lambda: dist.all_reduce(torch.ones(2, dtype=torch.complex64), op=dist.ReduceOp.MAX))
    show.error(lambda: dist.all_gather([torch.zeros(3)], x))
    show.error(lambda: dist.all_gather([torch.zeros(2, dtype=torch.int64)], x))
    show.error(lambda: dist.all_gather(rooms * 2, x))
    show.error(lambda: dist.all_gather(x, x))
    show.error(lambda: dist.all_gather([1], x))
    show.error(lambda: dist.gather(x))
    show.error(lambda: dist.gather(x, rooms * 2))
    show.error(lambda: dist.scatter(x))
    show.error(lambda: dist.scatter(x, rooms * 2))
    show.error(lambda: dist.reduce_scatter(x, rooms * 2))
    show.error(lambda: dist.send(x, 0))
    show.error(lambda: dist.broadcast(x))
    show.error(lambda: dist.new_group([0, 1]))
    show.error(lambda: dist.new_group([0, 0]))
    show.error(lambda: dist.P2POp(dist.all_reduce, x, 0))
    show.error(lambda: dist.batch_isend_irecv([1]))
    show("ops", [repr(dist.ReduceOp.SUM), str(dist.ReduceOp.MAX), int(dist.ReduceOp.BXOR)])
    show("backends", [dist.Backend("GLOO"), dist.get_default_backend_for_device("cuda"), dist.is_nccl_available()])
    work = dist.all_reduce(x, async_op=True)
    show("work", [work.wait(), work.is_completed(), work.get_future().wait()])
    _wrapped(torch, show)
    dist.destroy_process_group()
    show("gone", dist.is_initialized())


def _wrapped(torch, show):
    nn = torch.nn
    wrap = nn.parallel.DistributedDataParallel
    show.error(lambda: wrap(nn.Linear(1, 1), device_ids=[0]))
    show.error(lambda: wrap(nn.Linear(1, 1), device_ids=[0, 1]))
    show.error(lambda: wrap(nn.ReLU()))
    show.error(lambda: wrap(nn.LazyLinear(2)))
    net = wrap(nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2)))
    show("repr", repr(net))
    show("names", [*net.state_dict()])
    show("settings", [net.device_ids, net.output_device, net.broadcast_buffers, net.require_backward_grad_sync])
    show.error(lambda: net.weight)
    plain = nn.DataParallel(net.module, device_ids=[0])
    show("plain", [repr(plain), [*plain.state_dict()], plain.device_ids])
    show.error(lambda: nn.parallel.data_parallel(net.module, torch.ones(2, 2)))
    show.error(lambda: nn.parallel.scatter(torch.ones(2), ["cpu"]))
    show.error(lambda: nn.parallel.gather([torch.ones(2)], "cpu"))


@pytest.mark.torch
@pytest.mark.parametrize("program", cases(globals()).values(), ids=lambda program: program.__name__)
def test_like_torch(program):
    check(program)


def test_functions_have_signatures_and_say_where_they_are_described():
    dist = glassgrad.distributed
    for name in ("all_reduce", "send", "gather_object", "new_group", "P2POp", "TCPStore"):
        assert getattr(dist, name).__doc__.endswith(f"Source: {PAGE}#torch.distributed.{name}")
    wanted = "(tensor_list: 'Any', tensor: 'Any', group: 'Any' = None, async_op: 'bool' = False) -> 'Work | None'"
    assert str(inspect.signature(dist.all_gather)) == wanted
    with pytest.raises(TypeError, match=r"all_gather\(\) missing 1 required positional argument: 'tensor'"):
        dist.all_gather([])


@pytest.mark.torch
@pytest.mark.parametrize(
    "path",
    [
        "algorithms.join.Join", "elastic.multiprocessing.errors.ChildFailedError",
        "elastic.multiprocessing.errors.record", "nn.functional.all_reduce",
        "optim.zero_redundancy_optimizer.ZeroRedundancyOptimizer",
    ],
)  # fmt: skip
def test_what_lies_elsewhere_is_at_torchs_paths_and_says_so(path):
    home, _, name = path.rpartition(".")
    package = home.rpartition(".")[0]
    theirs = getattr(importlib.import_module(f"torch.distributed.{home}"), name)
    with glassgrad.alias():
        ours = getattr(importlib.import_module(f"torch.distributed.{home}"), name)
        assert ours.__module__ == theirs.__module__
        assert getattr(importlib.import_module(f"torch.distributed.{package}"), name) is ours


def test_nccl_says_why_it_is_not_here():
    with pytest.raises(RuntimeError, match="doesn't have NCCL built in: it carries tensors between GPUs"):
        glassgrad.distributed.init_process_group("nccl", init_method="tcp://127.0.0.1:0", rank=0, world_size=1)


def test_a_store_is_where_processes_meet(tmp_path):
    dist = glassgrad.distributed
    file, tcp = tmp_path / "file", dist.TCPStore("127.0.0.1", 0, 1)
    file.write_text("left as it is")
    for store in (dist.FileStore(str(file), 1), dist.PrefixStore("part", tcp)):
        dist.init_process_group("gloo", store=store, rank=0, world_size=1)
        total = glassgrad.ones(2)
        dist.all_reduce(total)
        assert dist.get_world_size() == 1 and total.tolist() == [1.0, 1.0]
        dist.destroy_process_group()
        with pytest.raises(RuntimeError, match="keeps no values here.*broadcast_object_list"):
            store.set("key", "value")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["left as it is"]
    with pytest.raises(RuntimeError, match="there is no HashStore"):
        dist.HashStore()
    with pytest.raises(TypeError, match="expected a FileStore or a TCPStore"):
        dist.init_process_group("gloo", store=object(), rank=0, world_size=1)


@pytest.mark.parametrize(
    "part, name",
    [("rpc", "init_rpc"), ("fsdp", "FullyShardedDataParallel"), ("tensor.parallel", "parallelize_module")],
)
def test_parts_that_are_not_here_say_what_to_use(part, name):
    with glassgrad.alias():
        here = importlib.import_module(f"torch.distributed.{part}")
        with pytest.raises(RuntimeError, match=": use "):
            getattr(here, name)()
        with pytest.raises(AttributeError, match="nonsense"):
            here.nonsense  # noqa: B018
