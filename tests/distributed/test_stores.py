"""Stores and rendezvous: the same answers as PyTorch's, and what one process alone can ask."""

import datetime
import socket
import threading

import pytest

import glassgrad
from tests.agreement import cases, check


def tables(torch, show):
    import tempfile

    dist = torch.distributed
    tcp = dist.TCPStore("127.0.0.1", 0, 1, True)
    file = dist.FileStore(tempfile.mkdtemp() + "/store", 1)
    for name, store in {"hash": dist.HashStore(), "tcp": tcp, "file": file, "part": dist.PrefixStore("p", tcp)}.items():
        before = store.num_keys()
        show(name + " set", [store.set("a", "b"), store.get("a"), store.set("a", b"\x00\xff"), store.get("a")])
        show("add", [store.add("n", 3), store.add("n", -1), store.get("n"), store.num_keys() - before])
        show("check", [store.check(["a"]), store.check(["a", "z"]), store.wait(["a", "n"])])
        show("delete", [store.delete_key("a"), store.check(["a"])])
        show("again", store is file or store.delete_key("a"))  # PyTorch documents it for the other stores alone
        show("compare", [store.compare_set("k", "", "v"), store.compare_set("k", "v", "w")])
        show("other", [store.compare_set("k", "v", "x"), store.compare_set("m", "e", "x"), store.check(["m"])])
        store.set_timeout(datetime.timedelta(seconds=0.1))
        show("timeout", store.timeout.total_seconds())
        show.error(lambda store=store: store.get("never"))
        show.error(lambda store=store: store.wait(["never", "n"], datetime.timedelta(seconds=0.1)))
    show("part", [tcp.get("p/n"), dist.PrefixStore("p", tcp).underlying_store is tcp])


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
    show.error(lambda: dist.init_process_group("mpi"))
    show.error(lambda: dist.init_process_group("gloo", timeout=3))
    show.error(lambda: dist.init_process_group("gloo", init_method="abc://x", rank=0, world_size=1))
    show.error(lambda: dist.init_process_group("gloo", init_method="tcp://127.0.0.1:1"))
    show.error(lambda: dist.init_process_group("gloo", init_method="tcp://x:1", store=dist.HashStore()))
    show.error(lambda: dist.init_process_group("gloo", store=dist.HashStore()))
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
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


def test_a_store_over_tcp_serves_several():
    dist = glassgrad.distributed
    master = dist.TCPStore("127.0.0.1", 0, 3, True, wait_for_workers=False)
    others = [dist.TCPStore("localhost", master.port, 3) for _ in range(2)]
    found = []
    waiting = threading.Thread(target=lambda: found.append(others[0].get("late")))
    waiting.start()
    others[1].set("late", b"x" * 100_000)
    waiting.join(10)
    assert found == [b"x" * 100_000]
    threads = [threading.Thread(target=lambda s=s: [s.add("n", 1) for _ in range(50)]) for s in (master, *others)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert master.add("n", 0) == 150
    master.close()
    with pytest.raises(dist.DistNetworkError, match="went away"):
        others[0].get("n")


def test_strangers_are_turned_away():
    """Who does not know the group's token is not taken for a rank."""
    from glassgrad.distributed.mesh import _HELLO, Mesh

    store = glassgrad.distributed.HashStore()
    mesh = Mesh(store, "127.0.0.1", 0, 1, 5.0)
    with socket.create_connection(mesh.addresses[0], timeout=5) as stranger:
        stranger.sendall(_HELLO.pack(b"?" * 16, 0, 0, 1) + b"0")
        assert stranger.recv(1) == b""
    assert not mesh.incoming
    mesh.close()


@pytest.mark.parametrize("name", ["rpc", "fsdp", "tensor.parallel", "checkpoint.state_dict", "device_mesh"])
def test_parts_that_are_not_here_say_what_to_use(name):
    import importlib

    with glassgrad.alias(), pytest.raises(ImportError, match=rf"^torch\.distributed\.{name.split('.')[0]}.*: use "):
        importlib.import_module(f"torch.distributed.{name}")
