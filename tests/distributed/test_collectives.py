"""Every collective and message, against NumPy, in groups of two and three processes."""

import datetime

import numpy as np
import pytest

import glassgrad as gg
import glassgrad.distributed as dist

pytestmark = pytest.mark.parametrize("count", [2, 3])


def _values(rank, shape, seed=0):
    return np.random.default_rng(100 * seed + rank).integers(-4, 5, shape)


KINDS = [gg.float32, gg.float64, gg.float16, gg.bfloat16, gg.int64, gg.uint8, gg.complex64]
WAYS = {
    dist.ReduceOp.SUM: np.add, dist.ReduceOp.PRODUCT: np.multiply, dist.ReduceOp.MIN: np.minimum,
    dist.ReduceOp.MAX: np.maximum, dist.ReduceOp.BAND: np.bitwise_and, dist.ReduceOp.BOR: np.bitwise_or,
    dist.ReduceOp.BXOR: np.bitwise_xor,
}  # fmt: skip


def _reductions(rank, count):
    for kind in KINDS:
        for shape in [(), (5,), (0,), (7, 1201)] if kind in (gg.float32, gg.int64) else [(2, 3)]:
            every = [abs(_values(each, shape)) for each in range(count)]
            tensor = gg.tensor(every[rank]).to(kind)
            assert dist.all_reduce(tensor) is None
            assert tensor.dtype is kind and np.array_equal(tensor.to(gg.complex128).numpy(), sum(every) + 0j)
    every = [_values(each, (3, 4), 1) for each in range(count)]
    for op, way in WAYS.items():
        wanted = every[0]
        for other in every[1:]:
            wanted = way(wanted, other)
        tensor = gg.tensor(every[rank])
        dist.all_reduce(tensor, op)
        assert np.array_equal(tensor.numpy(), wanted), op
        for root in range(count):
            tensor = gg.tensor(every[rank])
            dist.reduce(tensor, root, op)
            assert np.array_equal(tensor.numpy(), wanted if rank == root else every[rank]), (op, root)
    mean = gg.tensor(every[rank], dtype=gg.float64)
    dist.all_reduce(mean, dist.ReduceOp.AVG)
    assert np.allclose(mean.numpy(), np.mean(every, axis=0), rtol=1e-15)
    odd = gg.tensor(every[rank]).t()  # rows are not behind each other
    dist.all_reduce(odd)
    assert np.array_equal(odd.numpy(), sum(every).T)
    # all ranks have the same bits, also where the order of additions matters
    noise = gg.tensor(np.random.default_rng(rank).standard_normal(20_011))
    dist.all_reduce(noise)
    found = [None] * count
    dist.all_gather_object(found, noise.numpy().tobytes())
    assert len(set(found)) == 1
    with pytest.raises(RuntimeError, match=r"Cannot use ReduceOp.BOR with non-integral dtype"):
        dist.all_reduce(gg.ones(2), dist.ReduceOp.BOR)
    leaf = gg.ones(2, requires_grad=True)
    dist.all_reduce(leaf)
    assert leaf.tolist() == [count, count] and leaf._version == 0 and leaf.is_leaf


def test_reductions(together, count):
    together(_reductions, count)


def _movements(rank, count):
    every = [gg.tensor(_values(each, (2, 3))) for each in range(count)]
    own = every[rank]
    for root in range(count):
        tensor = own.clone()
        dist.broadcast(tensor, root)
        assert tensor.equal(every[root])
        rooms = [gg.zeros_like(own) for _ in range(count)] if rank == root else None
        dist.gather(own, rooms, dst=root)
        assert rank != root or all(map(gg.equal, rooms, every))
        tensor = gg.zeros_like(own)
        dist.scatter(tensor, every if rank == root else None, src=root)
        assert tensor.equal(own)
    rooms = [gg.zeros_like(own) for _ in range(count)]
    dist.all_gather(rooms, own)
    assert all(map(gg.equal, rooms, every))
    whole = gg.zeros(2 * count, 3, dtype=gg.int64)
    dist.all_gather_single(whole, own)
    assert whole.equal(gg.cat(every))
    part = gg.zeros(2, dtype=gg.float64)
    lists = [[gg.tensor(_values(a, 2, b + 1), dtype=gg.float64) for b in range(count)] for a in range(count)]
    dist.reduce_scatter(part, lists[rank])
    assert part.equal(sum(lists[each][rank] for each in range(count)))
    dist.reduce_scatter_single(part, gg.cat(lists[rank]), op=dist.ReduceOp.AVG)
    assert gg.allclose(part, sum(lists[each][rank] for each in range(count)) / count)
    rooms = [gg.zeros(2, dtype=gg.float64) for _ in range(count)]
    dist.all_to_all(rooms, lists[rank])
    assert all(map(gg.equal, rooms, (lists[each][rank] for each in range(count))))
    sent = gg.arange(count * (count + 1) // 2) + 100 * rank  # rank i gets i + 1 of them
    came = gg.zeros((rank + 1) * count, dtype=gg.int64)
    dist.all_to_all_single(came, sent, [rank + 1] * count, list(range(1, count + 1)))
    start = rank * (rank + 1) // 2
    assert came.tolist() == [100 * each + start + i for each in range(count) for i in range(rank + 1)]
    large = gg.full((300_000,), float(rank))
    dist.broadcast(large, count - 1)
    assert (large == count - 1).all()


def test_movements(together, count):
    together(_movements, count)


def _messages(rank, count):
    follow, before = (rank + 1) % count, (rank - 1) % count
    sends = [dist.isend(gg.full((2,), 10.0 * rank + tag), follow, tag=tag) for tag in range(3)]
    rooms = [gg.zeros(2) for _ in range(3)]
    receipts = [dist.irecv(rooms[tag], before, tag=tag) for tag in (2, 0, 1)]
    assert all(work.wait() for work in sends + receipts)
    assert [room.tolist() for room in rooms] == [[10.0 * before + tag] * 2 for tag in range(3)]
    if rank == 0:
        found = {dist.recv(room := gg.zeros(()), None, tag=7): room.item() for _ in range(count - 1)}
        assert found == {each: float(each) for each in range(1, count)}
        dist.send_object_list([{"a": 1}, (2, "b")], 1)
    else:
        dist.send(gg.tensor(float(rank)), 0, tag=7)
    if rank == 1:
        found = [None, None]
        assert dist.recv_object_list(found, 0) == 0
        assert found == [{"a": 1}, (2, "b")]
    large, room = gg.ones(500_000) * rank, gg.empty(500_000)  # more than the system's buffers hold, both ways
    ops = [dist.P2POp(dist.isend, large, follow), dist.P2POp(dist.irecv, room, before)]
    for work in dist.batch_isend_irecv(ops):
        work.wait()
    assert (room == before).all()
    with pytest.raises(ValueError, match="destination rank should not be the same as the rank"):
        dist.send(large, rank)


def test_messages(together, count):
    together(_messages, count)


def _objects_and_groups(rank, count):
    found = [None] * count
    dist.all_gather_object(found, {"rank": rank, "long": "x" * (1000 * rank)})
    assert [len(each["long"]) for each in found] == [1000 * each for each in range(count)]
    own = {"of": rank}
    values = [own, str(rank)]
    dist.broadcast_object_list(values, src=1)
    assert values == [{"of": 1}, "1"] and (values[0] is own) is (rank == 1)
    dist.gather_object(rank, found if rank == 0 else None)
    assert rank or found == list(range(count))
    own = [None]
    dist.scatter_object_list(own, [f"for {each}" for each in range(count)] if rank == 1 else None, src=1)
    assert own == [f"for {rank}"]
    group = dist.new_group([0, count - 1])
    if rank in (0, count - 1):
        assert dist.get_world_size(group) == 2 and dist.get_rank(group) == (0 if rank == 0 else 1)
        assert dist.get_process_group_ranks(group) == [0, count - 1]
        tensor = gg.tensor([1.0 + rank])
        dist.all_reduce(tensor, group=group)
        assert tensor.item() == count + 1
        dist.broadcast(tensor.fill_(float(rank)), src=count - 1, group=group)
        assert tensor.item() == count - 1
    else:
        assert group == dist.GroupMember.NON_GROUP_MEMBER and dist.get_rank(group) == -1
        with pytest.warns(UserWarning, match="Running all_reduce on global rank 1 which does not belong to"):
            assert dist.all_reduce(gg.ones(1), group=group) is None
    works, tensors = [], [gg.full((3,), float(rank + step)) for step in range(5)]
    for tensor in tensors:
        works.append(dist.all_reduce(tensor, async_op=True))
    dist.barrier()  # after all that was begun
    assert all(work.is_completed() and work.wait() and work.exception() is None for work in works)
    assert works[0].get_future().then(lambda f: f.value()[0] * 2).wait().tolist() == [count * (count - 1.0)] * 3
    assert [tensor[0].item() for tensor in tensors] == [count * (count - 1) / 2 + count * step for step in range(5)]
    dist.monitored_barrier()


def test_objects_and_groups(together, count):
    together(_objects_and_groups, count)


def _disagreement(rank, count):
    with pytest.raises(dist.DistError) as caught:  # one rank sees it and tells the others
        if rank == 0:
            dist.barrier()
        else:
            dist.broadcast(gg.ones(3), src=0)
        dist.barrier()
        dist.barrier()
    assert "different things" in str(caught.value)
    with pytest.raises(dist.DistBackendError, match="failed before"):
        dist.all_reduce(gg.ones(1))


def test_ranks_that_do_different_things(together, count):
    together(_disagreement, count)


def _missing(rank, count):
    group = dist.new_group()
    if rank != 1:
        short = datetime.timedelta(seconds=0.5)
        words = "Rank 1 failed to pass monitoredBarrier in 500 ms" if rank == 0 else "."
        with pytest.raises(RuntimeError, match=words):
            dist.monitored_barrier(group, timeout=short)
    dist.barrier()  # until when rank 1 is there, and silent


def test_a_missing_rank_is_named(together, count):
    together(_missing, count)
