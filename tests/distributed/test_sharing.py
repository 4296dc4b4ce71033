"""What ranks share out: checkpoints written in part, meshes of ranks, uneven numbers of batches."""

import os

import numpy as np
import pytest

import glassgrad as gg
import glassgrad.distributed as dist
import glassgrad.distributed.checkpoint as dcp
from glassgrad.distributed.algorithms import Join
from glassgrad.distributed.optim import ZeroRedundancyOptimizer
from glassgrad.nn.parallel import DistributedDataParallel


def _rows(rank, count, whole=12):
    start, end = whole * rank // count, whole * (rank + 1) // count
    return start, end


def _written(rank, count, folder):
    net = DistributedDataParallel(gg.nn.Linear(3, 2))
    with gg.no_grad():
        net.module.weight.copy_(gg.arange(6.0).reshape(2, 3))
    step = gg.optim.SGD(net.parameters(), 0.1, momentum=0.9)
    net(gg.ones(1, 3)).sum().backward()
    step.step()
    start, end = _rows(rank, count)
    table = gg.arange(48.0).reshape(12, 4)[start:end]
    state = {"net": net, "step": step.state_dict(), "epoch": 7, "table": dcp.Shard(table, (start, 0), (12, 4))}
    dcp.save(state, checkpoint_id=folder)
    files = [name for name in os.listdir(folder) if name.endswith(".pt")]
    assert len(files) == count + 1  # one of each rank, and what is where
    dcp.save(state, checkpoint_id=folder)  # again, over the first
    assert len(os.listdir(folder)) == count + 1


def _read(rank, count, folder):
    net = gg.nn.Linear(3, 2)
    step = gg.optim.SGD(net.parameters(), 0.1, momentum=0.9)
    net(gg.ones(1, 3)).sum().backward()
    step.step()
    start, end = _rows(rank, count)
    part = gg.zeros(end - start, 4)
    state = {"net": {f"module.{name}": value for name, value in net.state_dict().items()}}
    state |= {"step": step.state_dict(), "epoch": 0}
    state["table"] = dcp.Shard(part, (start, 0), (12, 4))
    dcp.load(state, checkpoint_id=folder)
    assert state["epoch"] == 7 and part.equal(gg.arange(48.0).reshape(12, 4)[start:end])
    np.testing.assert_allclose(net.weight.detach().numpy(), np.arange(6.0).reshape(2, 3) - 0.1, rtol=1e-6)
    assert state["step"]["state"][0]["momentum_buffer"].tolist() == [[1, 1, 1], [1, 1, 1]]
    whole = {"table": gg.zeros(12, 4)}
    dcp.load(whole, checkpoint_id=folder)
    assert whole["table"].equal(gg.arange(48.0).reshape(12, 4))
    with pytest.raises(dcp.CheckpointException, match="rank 0: KeyError.*Missing key in checkpoint state_dict: other"):
        dcp.load({"other": gg.zeros(1)}, checkpoint_id=folder)
    with pytest.raises(dcp.CheckpointException, match=r"Size mismatch between saved \(12, 4\) and current: \(2,\)"):
        dcp.load({"table": gg.zeros(2)}, checkpoint_id=folder)


@pytest.mark.parametrize(("writers", "readers"), [(2, 3), (3, 2)])
def test_another_number_of_ranks_reads_what_some_wrote(together, tmp_path, writers, readers):
    together(_written, writers, f"{tmp_path}/checkpoint")
    together(_read, readers, f"{tmp_path}/checkpoint")
    if writers == 2:
        _read(0, 1, f"{tmp_path}/checkpoint")  # and one process without a group


def _later(rank, count, folder):
    x = gg.full((4,), float(rank))
    done = dcp.async_save({f"x{rank}": x, "y": gg.ones(2)}, checkpoint_id=folder)
    x.zero_()
    dist.all_reduce(gg.ones(3))
    done.result(20)
    state = {"x0": gg.zeros(4), "x1": gg.zeros(4)}
    dcp.load(state, checkpoint_id=folder)
    assert state["x1"].tolist() == [1, 1, 1, 1]


STRANGE = [None, -1, 7, "x", [], {}, [0], 1.5, True, gg.ones(2), "../x", "/dev/zero"]


@pytest.mark.parametrize("strange", STRANGE, ids=repr)
def test_a_checkpoint_that_was_damaged_is_refused_on_all_ranks(strange, tmp_path):
    """In its index or in a file: nothing beside the folder is read, and nobody waits for who has failed."""
    dcp.save({"x": gg.ones(2)}, checkpoint_id=tmp_path)
    (file,) = tmp_path.glob("0-*.pt")
    index = gg.load(tmp_path / "index.pt")
    for changed in ({**index, "files": [strange]}, {**index, "index": {"x": [strange]}}, strange):
        gg.save(changed, tmp_path / "index.pt")
        with pytest.raises(dcp.CheckpointException, match="could not be read"):
            dcp.load({"x": gg.zeros(2)}, checkpoint_id=tmp_path)
    gg.save(index, tmp_path / "index.pt")
    for content in (b"", b"x" * 100, file.read_bytes()[:-50]):
        file.write_bytes(content)
        with pytest.raises(dcp.CheckpointException, match="could not be read"):
            dcp.load({"x": gg.zeros(2)}, checkpoint_id=tmp_path)


def test_a_checkpoint_reads_nothing_beside_its_folder(tmp_path):
    gg.save({"x": gg.ones(2)}, tmp_path / "other.pt")
    dcp.save({"x": gg.zeros(2)}, checkpoint_id=tmp_path / "it")
    index = gg.load(tmp_path / "it" / "index.pt")
    for name in ("../other.pt", str(tmp_path / "other.pt")):
        gg.save({**index, "files": [name]}, tmp_path / "it" / "index.pt")
        with pytest.raises(dcp.CheckpointException, match="names files that are not beside it"):
            dcp.load({"x": gg.zeros(2)}, checkpoint_id=tmp_path / "it")


def test_a_checkpoint_is_written_while_the_program_goes_on(together, tmp_path):
    together(_later, 2, f"{tmp_path}/checkpoint")


def _mesh(rank, count):
    mesh = dist.init_device_mesh("cpu", (2, 2), mesh_dim_names=("data", "model"))
    assert mesh.shape == (2, 2) and mesh.get_coordinate() == [rank // 2, rank % 2]
    assert repr(mesh) == "DeviceMesh((data=2, model=2), 'cpu')"
    for name, wanted in (("data", 2 * (rank % 2) + 2), ("model", 4 * (rank // 2) + 1)):
        x = gg.tensor(float(rank))
        dist.all_reduce(x, group=mesh.get_group(name))
        assert x.item() == wanted and mesh[name].size() == 2
        assert mesh[name].get_group() is mesh.get_group(name)
        assert mesh.get_local_rank(name) == (rank // 2 if name == "data" else rank % 2)
    with pytest.raises(RuntimeError, match="Found the DeviceMesh have 2 dimensions"):
        mesh.get_group()
    model = DistributedDataParallel(gg.nn.Linear(1, 1, bias=False), device_mesh=mesh["data"])
    model(gg.full((1, 1), float(rank))).sum().backward()
    assert model.module.weight.grad.item() == rank % 2 + 1  # the mean of ranks 0 and 2, or 1 and 3
    with pytest.raises(RuntimeError, match="Only 1D device mesh is supported, but got DeviceMesh"):
        DistributedDataParallel(gg.nn.Linear(1, 1), device_mesh=mesh)
    with pytest.raises(RuntimeError, match="Cannot specify both process_group and device_mesh arguments"):
        DistributedDataParallel(gg.nn.Linear(1, 1), process_group=mesh.get_group("data"), device_mesh=mesh["data"])


def test_a_mesh_has_a_group_for_each_row_and_column(together):
    together(_mesh, 4)


def _uneven(rank, count):
    """Two processes with 2 and 4 batches end with one model: the optimizer's state lies on both."""
    gg.manual_seed(1)
    net = DistributedDataParallel(gg.nn.Linear(3, 2).double())
    zero = ZeroRedundancyOptimizer(net.parameters(), gg.optim.SGD, lr=0.1, momentum=0.9)
    data = gg.randn(4, 2, 5, 3, generator=gg.Generator().manual_seed(2), dtype=gg.float64)
    with Join([net, zero]):
        for turn in range(2 + 2 * rank):
            zero.zero_grad()
            net(data[turn, rank]).pow(2).sum().backward()
            zero.step()
    alone = gg.nn.Linear(3, 2)
    gg.manual_seed(1)
    alone.reset_parameters()
    alone = alone.double()
    step = gg.optim.SGD(alone.parameters(), lr=0.1, momentum=0.9)
    for turn in range(4):
        step.zero_grad()
        sum(alone(data[turn, each]).pow(2).sum() for each in range(2) if turn < 2 + 2 * each).div(2).backward()
        step.step()
    for mine, wanted in zip(net.parameters(), alone.parameters(), strict=True):
        np.testing.assert_allclose(mine.detach().numpy(), wanted.detach().numpy(), rtol=1e-6)
    with pytest.raises(RuntimeError, match="Detected at least one rank that exhausted inputs"):
        with net.join(throw_on_early_termination=True):
            for turn in range(1 + rank):
                net(data[turn, rank]).sum().backward()


def test_uneven_numbers_of_batches_with_a_shared_out_optimizer(together):
    together(_uneven, 2)
