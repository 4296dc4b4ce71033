"""DistributedDataParallel: equal to one process with the whole batch, and to PyTorch's own; the launcher around it."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import glassgrad as gg
import glassgrad.distributed as dist
import glassgrad.nn.functional as F
from glassgrad.distributed import run as launcher
from glassgrad.nn.parallel import DistributedDataParallel
from glassgrad.nn.parallel.distributed import _MixedPrecision

from .conftest import free_port

SCRIPT = str(Path(__file__).with_name("train.py"))


def _net():
    gg.manual_seed(5)
    return gg.nn.Sequential(gg.nn.Linear(3, 40), gg.nn.ReLU(), gg.nn.Linear(40, 30), gg.nn.Tanh(), gg.nn.Linear(30, 2))


def _train(net, model, part, batches=6):
    step = gg.optim.Adam(net.parameters(), 0.01)
    draw = gg.Generator().manual_seed(9)
    losses = []
    for _ in range(batches):
        x = gg.randn(12, 3, generator=draw, dtype=gg.float64)
        y = x.sin()[:, :2]
        step.zero_grad()
        loss = F.mse_loss(model(x[part]), y[part])
        loss.backward()
        step.step()
        losses.append(loss.item())
    return losses, np.concatenate([p.detach().numpy().ravel() for p in net.parameters()])


def _whole_batch(rank, count, cap):
    net = _net().double()
    if rank:
        for parameter in net.parameters():  # those of rank 0 are taken over
            parameter.data.zero_()
    model = DistributedDataParallel(net, bucket_cap_mb=cap)
    size = 12 // count
    losses, found = _train(net, model, slice(rank * size, (rank + 1) * size))
    mean = gg.tensor(losses, dtype=gg.float64)
    dist.all_reduce(mean, dist.ReduceOp.AVG)
    alone = _net().double()
    wanted_losses, wanted = _train(alone, alone, slice(None))
    np.testing.assert_allclose(mean.numpy(), wanted_losses, rtol=1e-12)
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("count", "cap"), [(2, None), (4, 0.001)])
def test_equal_to_one_process_with_the_whole_batch(together, count, cap):
    together(_whole_batch, count, cap)


def _refusals(rank, count):
    model = DistributedDataParallel(gg.nn.ModuleDict({"a": gg.nn.Linear(1, 1), "b": gg.nn.Linear(1, 1)}))
    model.module.forward = lambda x: model.module["a"](x)
    model(gg.ones(1, 1)).sum().backward()
    with pytest.raises(RuntimeError, match=rf"find_unused_parameters=True(?s:.)*for rank {rank}: 2 3"):
        model(gg.ones(1, 1))
    with pytest.raises(RuntimeError, match=r"sizes \[1, 3\] appears not to match" if rank else "."):
        DistributedDataParallel(gg.nn.Linear(2 + rank, 1))
        assert rank == 0
        raise RuntimeError(".")


def test_refusals(together):
    together(_refusals, 2)


def _hooks(rank, count):
    seen = []

    def halves(state, bucket):
        seen.append((bucket.index(), bucket.is_last(), len(bucket.parameters())))
        tensor = bucket.buffer().to(gg.bfloat16)
        future = dist.all_reduce(tensor, async_op=True).get_future()
        return future.then(lambda done: done.value()[0].float() / state)

    model = DistributedDataParallel(gg.nn.Linear(2, 1))
    model.register_comm_hook(count, halves)
    model(gg.ones(1, 2) * (rank + 1)).sum().backward()
    assert model.module.weight.grad.tolist() == [[1.5, 1.5]] and seen == [(0, True, 2)]


def test_communication_hooks(together):
    together(_hooks, 2)


def _mixed(rank, count):
    """What is computed in bfloat16, sent in another dtype, and kept in float32."""
    x = gg.randn(4, 3, generator=gg.Generator().manual_seed(1))

    def slopes(net, part):
        low = {name: each.to(gg.bfloat16) for name, each in net.named_parameters()}
        out = gg.func.functional_call(net, low, (part.to(gg.bfloat16),))
        return gg.autograd.grad(out.float().pow(2).sum(), list(net.parameters()))

    for reduce in (None, gg.float32):
        net = _net()
        net.register_buffer("scale", gg.ones(2))
        precision = _MixedPrecision(param_dtype=gg.bfloat16, reduce_dtype=reduce, buffer_dtype=gg.float16)
        model = DistributedDataParallel(net, mixed_precision=precision)
        out = model(x[2 * rank : 2 * rank + 2])
        assert out.dtype is gg.bfloat16 and net.scale.dtype is gg.float16
        out.float().pow(2).sum().backward()
        kind = gg.bfloat16 if reduce is None else reduce
        every = [[grad.div(2).to(kind) for grad in slopes(net, x[2 * each : 2 * each + 2])] for each in range(2)]
        for parameter, one, other in zip(net.parameters(), *every, strict=True):
            assert parameter.dtype is parameter.grad.dtype is gg.float32
            assert parameter.grad.equal((one + other).float())


def test_mixed_precision(together):
    together(_mixed, 2)


def _zero(rank, count):
    from glassgrad.distributed.optim import ZeroRedundancyOptimizer

    def trained(optimizer, net):
        for turn in range(4):
            optimizer.zero_grad()
            net(gg.ones(2, 3) * turn).pow(2).sum().backward()
            optimizer.step()
        return [p.detach().numpy() for p in net.parameters()]

    alone, net = _net(), _net()
    plain = gg.optim.Adam(alone.parameters(), lr=0.01)
    zero = ZeroRedundancyOptimizer(net.parameters(), gg.optim.Adam, lr=0.01)
    assert 0 < len(zero.optim.param_groups[0]["params"]) < 6
    for found, wanted in zip(trained(zero, net), trained(plain, alone), strict=True):
        np.testing.assert_array_equal(found, wanted)
    with pytest.raises(RuntimeError, match="has not been consolidated on this rank"):
        zero.state_dict()
    zero.consolidate_state_dict(to=0)
    state = [zero.state_dict() if rank == 0 else None]
    dist.broadcast_object_list(state)
    again = ZeroRedundancyOptimizer(net.parameters(), gg.optim.Adam, lr=0.5)
    again.load_state_dict(state[0])
    assert [*state[0]["state"]] == list(range(6)) and again.param_groups[0]["lr"] == 0.01
    for found, wanted in zip(trained(again, net), trained(plain, alone), strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_state_shared_out(together):
    together(_zero, 2)


def _recorded(rank, count):
    import glassgrad.distributed.nn as through

    own = gg.tensor([1.0 + rank, 2.0], dtype=gg.float64, requires_grad=True)
    weight = gg.tensor([3.0, 5.0], dtype=gg.float64) * (rank + 1)

    def slope(value):
        (grad,) = gg.autograd.grad(value, own)
        return grad.tolist()

    total = [9.0, 15.0]  # the weights of both ranks
    assert slope((through.all_reduce(own) * weight).sum()) == total
    assert slope((through.broadcast(own, 1) * weight).sum()) == (total if rank == 1 else [0.0, 0.0])
    assert slope((through.reduce(own, 1) * weight).sum()) == [6.0, 10.0]
    assert slope((gg.stack(through.all_gather(own)) * weight).sum()) == total
    assert slope((gg.stack(through.gather(own, 1)) * weight).sum()) == [6.0, 10.0]
    assert slope((through.scatter([own, own * 2], 0) * weight).sum()) == ([15.0, 25.0] if rank == 0 else [0.0, 0.0])
    assert slope((through.reduce_scatter(own, [own, own * 2]) * weight).sum()) == [15.0, 25.0]
    came = through.all_to_all([own, own], [own, own * 2])
    assert came[0].tolist() == [1.0 + rank, 2.0 * (rank + 1)] and slope((came[0] * weight).sum()) == (
        [15.0, 25.0] if rank == 0 else [0.0, 0.0]
    )
    single = through.all_to_all_single(own, own)
    assert slope((single * weight).sum()) == ([3.0, 6.0] if rank == 0 else [5.0, 10.0])


def test_gradients_through_collectives(together):
    together(_recorded, 2)


def _launched(arguments, **environment):
    command = [sys.executable, "-m", "glassgrad", "run", "-m", *arguments]
    clean = {name: value for name, value in os.environ.items() if name not in ("RANK", "WORLD_SIZE", "LOCAL_RANK")}
    return subprocess.run(command, capture_output=True, text=True, timeout=100, env={**clean, **environment})


@pytest.mark.mpi
@pytest.mark.torch
def test_the_script_gives_what_torch_gives(tmp_path):
    """One script: in PyTorch over gloo, and launched by ``glassgrad run -m torch.distributed.run``."""
    pytest.importorskip("torch")
    ours, theirs = str(tmp_path / "ours.json"), str(tmp_path / "theirs.json")
    port = str(free_port())
    place = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "WORLD_SIZE": "2", "OMP_NUM_THREADS": "1"}
    started = [
        subprocess.Popen([sys.executable, SCRIPT, theirs], env={**os.environ, **place, "RANK": str(rank)})
        for rank in range(2)
    ]
    done = _launched(["torch.distributed.run", "--standalone", "--nproc-per-node=2", SCRIPT, ours])
    assert done.returncode == 0, done.stderr
    # PyTorch's processes abort now and then as gloo ends, when all is written.
    assert {process.wait(60) for process in started} <= {0, -signal.SIGABRT}
    (found, names), (wanted, names_wanted) = (json.loads(Path(path).read_text()) for path in (ours, theirs))
    assert names == [[rank, "torch", keys] for rank, _, keys in names_wanted]
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(found[:6], wanted[:6], rtol=1e-6)


@pytest.mark.mpi
def test_the_launcher_restarts_tells_and_writes(tmp_path):
    script = tmp_path / "fails.py"
    script.write_text(
        "import os, sys, time\n"
        "print('args', sys.argv[1:], 'turn', os.environ['TORCHELASTIC_RESTART_COUNT'])\n"
        "if os.environ['RANK'] == '1' and os.environ['TORCHELASTIC_RESTART_COUNT'] != sys.argv[-1]: sys.exit(3)\n"
        "if os.environ['RANK'] == '0' and os.environ['TORCHELASTIC_RESTART_COUNT'] != sys.argv[-1]: time.sleep(30)\n"
    )
    common = ["--master-port", "1", "--nproc_per_node", "2", "--redirects", "1", "--log-dir", str(tmp_path / "logs")]
    done = _launched(["torch.distributed.launch", "--max-restarts", "1", *common, str(script), "1"])
    assert done.returncode == 0, done.stderr
    assert "torch.distributed.launch is deprecated" in done.stderr
    written = (tmp_path / "logs/none/attempt_1/1/stdout.log").read_text()
    assert written == "args ['--local-rank=1', '1'] turn 1\n"
    options = launcher.parse_args(["--no-python", *common, sys.executable, str(script), "1"])
    with pytest.raises(launcher.ChildFailedError, match=r"rank      : 1 \(local_rank: 1\)\n  exitcode  : 3"):
        launcher.run(options)
