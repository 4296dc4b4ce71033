"""DataLoader with worker processes: order, seeds, errors, streams, the same as PyTorch's."""

import gc
import os
import random
import re
import signal
import subprocess
import sys
import time
from multiprocessing import resource_tracker
from pathlib import Path

import numpy as np
import pytest

import glassgrad
from tests.agreement import cases, check

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="these datasets reach the workers by fork")
FORK = {"multiprocessing_context": "fork"}
ROOT = Path(__file__).resolve().parents[3]
data = glassgrad.utils.data


def order(torch, show):
    D = torch.utils.data

    class Slow(D.Dataset):
        def __len__(self):
            return 9

        def __getitem__(self, index):
            time.sleep(0.02 * (index % 3 == 0))
            return torch.tensor(float(index)), index, str(index)

    for workers in (1, 2):
        torch.manual_seed(3)
        loader = D.DataLoader(Slow(), 2, True, num_workers=workers, **FORK)
        show(f"{workers} workers", [list(loader), list(loader), len(loader), torch.rand(2)])
    loose = D.DataLoader(Slow(), 2, num_workers=2, in_order=False, **FORK)
    show("loose", sorted(y.tolist() for _, y, _ in loose))
    show("single", list(D.DataLoader(Slow(), None, num_workers=2, **FORK)))
    show("deep", list(D.DataLoader(Slow(), 2, num_workers=2, prefetch_factor=4, **FORK)))
    own = torch.Generator().manual_seed(5)
    show("own", list(D.DataLoader(Slow(), 2, True, num_workers=2, generator=own, **FORK)))
    show("drawn of own", torch.rand(2, generator=own))


def tensors(torch, show):
    D = torch.utils.data
    samples = [
        {"a": torch.ones(300, 5), "b": [torch.tensor(2), "x"], "c": torch.zeros(2, dtype=torch.bfloat16)},
        {"a": torch.zeros(300, 5), "b": [torch.tensor(3), "y"], "c": torch.ones(2, dtype=torch.bfloat16)},
    ]
    (batch,) = D.DataLoader(samples, 2, num_workers=1, **FORK)
    show("batch", batch)
    batch["a"] += 1
    show("writable", batch["a"].sum())
    single = next(iter(D.DataLoader([torch.arange(6.0).view(2, 3).t()[1:]], None, num_workers=1, **FORK)))
    show("strided", single)
    parameter = next(iter(D.DataLoader([torch.nn.Parameter(torch.ones(2))], None, num_workers=1, **FORK)))
    show("parameter", [type(parameter).__name__, parameter.requires_grad, parameter])
    show("nothing", list(D.DataLoader([torch.ones(0, 3), None], None, num_workers=1, **FORK)))
    show("arrays", list(D.DataLoader([np.ones(700)], None, num_workers=1, collate_fn=lambda x: x, **FORK))[0].sum())


def seeds(torch, show):
    class Draws(torch.utils.data.Dataset):
        def __len__(self):
            return 8

        def __getitem__(self, index):
            info = torch.utils.data.get_worker_info()
            return (
                torch.randint(2**40, (2,)), torch.rand(2), torch.randn(2), random.random(), np.random.rand(), info.seed,
                info.id, info.num_workers, torch.initial_seed(), len(info.dataset),
            )  # fmt: skip

    for seed in (0, 123456789):
        torch.manual_seed(seed)
        loader = torch.utils.data.DataLoader(Draws(), 2, True, num_workers=2, **FORK)
        show(f"drawn {seed}", [list(loader), list(loader)])
        own = torch.Generator().manual_seed(seed)
        loader = torch.utils.data.DataLoader(Draws(), 4, num_workers=2, generator=own, **FORK)
        show(f"of a generator {seed}", list(loader))
        show(f"after {seed}", [torch.rand(1), torch.rand(1, generator=own)])
    torch.manual_seed(1)
    lasting = torch.utils.data.DataLoader(Draws(), 2, num_workers=2, persistent_workers=True, **FORK)
    show("lasting", [list(lasting), list(lasting)])
    iterator = iter(lasting)
    next(iterator)
    show("begun anew", list(lasting))
    show("after", torch.rand(1))
    del lasting, iterator


def preparation(torch, show):
    D = torch.utils.data

    class Own(D.Dataset):
        label = "as made"

        def __len__(self):
            return 4

        def __getitem__(self, index):
            return self.label

    def prepare(number):
        info = D.get_worker_info()
        info.dataset.label = f"worker {number} of {info.num_workers}"

    show("prepared", list(D.DataLoader(Own(), 1, num_workers=2, worker_init_fn=prepare, **FORK)))

    show("here", D.get_worker_info())

    def told(number):
        try:
            D.get_worker_info().id = 5
        except Exception as error:  # noqa: BLE001
            D.get_worker_info().dataset.label = type(error).__name__

    show("frozen", list(D.DataLoader(Own(), 4, num_workers=1, worker_init_fn=told, **FORK)))


def streams(torch, show):
    D = torch.utils.data

    class Stream(D.IterableDataset):
        def __init__(self, n, shard=True):
            self.n, self.shard = n, shard

        def __iter__(self):
            info = D.get_worker_info()
            step, first = (info.num_workers, info.id) if self.shard else (1, 0)
            return iter(range(first, self.n, step))

        def __len__(self):
            return self.n

        def __repr__(self):
            return "Stream"

    for workers in (1, 2):
        for n in (0, 1, 7):
            loader = D.DataLoader(Stream(n), 2, num_workers=workers, **FORK)
            show(f"{workers} {n}", [list(loader), len(loader)])
    show("dropped", list(D.DataLoader(Stream(7), 2, num_workers=2, drop_last=True, **FORK)))
    show("single", list(D.DataLoader(Stream(3), None, num_workers=2, **FORK)))
    twice = D.DataLoader(Stream(3, False), 2, num_workers=2, **FORK)
    show("unsharded", list(twice))
    len(twice)
    show("too long", show.warnings(lambda: list(twice)))
    lasting = D.DataLoader(Stream(5), 2, num_workers=2, persistent_workers=True, **FORK)
    show("lasting", [list(lasting), list(lasting)])
    next(iter(lasting))
    show("begun anew", list(lasting))
    torch.manual_seed(2)
    loose = D.DataLoader(Stream(9), 2, num_workers=2, in_order=False, **FORK)
    show("loose", sorted(batch.tolist() for batch in loose))
    del lasting


@pytest.mark.torch
@pytest.mark.parametrize("program", cases(globals()).values(), ids=cases(globals()))
def test_agrees(program):
    check(program)


def _children():
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
                command = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if int(fields[1]) == os.getpid() and fields[0] != "Z" and b"resource_tracker" not in command:
                found.append(int(entry.name))
    return found


@pytest.fixture
def children():
    """A function that names the processes started since the test began and not ended."""
    gc.collect()
    resource_tracker.ensure_running()  # which shows what it is a moment after it was started
    before = set(_children())
    return lambda: [pid for pid in _children() if pid not in before]


class Deadly(data.Dataset):
    def __init__(self, how):
        self.how = how

    def __len__(self):
        return 6

    def __getitem__(self, index):
        if index == 3:
            self.how()
        return index


def raise_local():
    kind = type("Hidden", (Exception,), {})
    raise kind("somewhere")


@pytest.mark.parametrize(
    ("how", "cause"),
    [
        (lambda: os.kill(os.getpid(), signal.SIGKILL), r"worker \(pid \d+\) is killed by signal: Killed\. $"),
        (lambda: os.kill(os.getpid(), signal.SIGTERM), r"worker \(pid \d+\) is killed by signal: Terminated\. $"),
        (lambda: os._exit(3), r"worker \(pid \d+\) exited unexpectedly with exit code 3\. Details are lost"),
        (lambda: sys.exit(4), r"worker \(pid \d+\) exited unexpectedly with exit code 4\. Details are lost"),
    ],
)
def test_a_worker_that_dies_is_told(children, how, cause):
    iterator = iter(data.DataLoader(Deadly(how), num_workers=2, **FORK))
    assert next(iterator).tolist() == [0]
    with pytest.raises(RuntimeError, match=r"^DataLoader worker \(pid\(s\) \d+\) exited unexpectedly$") as caught:
        list(iterator)
    assert re.search(cause, str(caught.value.__cause__))
    assert {4} <= {batch.item() for batch in iterator} <= {1, 2, 4, 5}  # the other worker goes on
    assert not children()


class Odd(Exception):
    """Cannot be made of a text alone."""

    def __init__(self, a, b):
        super().__init__(a, b)


class Failing(data.Dataset):
    def __init__(self, error):
        self.error = error

    def __len__(self):
        return 4

    def __getitem__(self, index):
        if index == 1:
            raise self.error
        return index


@pytest.mark.parametrize("error", [ValueError("bad"), KeyError("a key"), IndexError(3), Odd(1, 2), StopIteration(4)])
def test_errors_come_home(children, error):
    """The same type, or RuntimeError where it cannot be made of a text; the epoch can go on after it."""
    name, known = type(error).__name__, not isinstance(error, Odd)
    iterator = iter(data.DataLoader(Failing(error), 1, num_workers=2, **FORK))
    assert next(iterator).tolist() == [0]
    with pytest.raises(type(error) if known else RuntimeError) as caught:
        next(iterator)
    first, second, *_, last = str(caught.value).rstrip().splitlines()
    assert first == f"Caught {name} in DataLoader worker process 1."
    assert second == "Original Traceback (most recent call last):"
    assert last.startswith(name if known else f"{__name__}.Odd") and last.endswith(str(error))
    assert [batch.item() for batch in iterator] == [2, 3]
    assert not children()


def test_nothing_ahead_is_refused():
    with pytest.raises(AssertionError, match="prefetch_factor must be greater than 0"):
        iter(data.DataLoader(range(3), num_workers=2, prefetch_factor=0, **FORK))


def test_an_error_of_preparation_is_the_first_batch():
    def fail(number):
        raise ValueError("not ready")

    loader = data.DataLoader(range(3), num_workers=1, worker_init_fn=fail, **FORK)
    with pytest.raises(ValueError, match="^Caught ValueError in DataLoader worker process 0.\nOriginal Traceback"):
        list(loader)


def test_errors_without_a_name_and_batches_without_a_pickle(children):
    with pytest.raises(RuntimeError, match=r"Caught RuntimeError in DataLoader worker process 1.*\n(.*\n)*.*Hidden"):
        list(data.DataLoader(Deadly(raise_local), num_workers=2, **FORK))
    loader = data.DataLoader(range(3), num_workers=1, collate_fn=lambda batch: lambda: 0, **FORK)
    with pytest.raises((AttributeError, RuntimeError), match="Caught .* in DataLoader worker process 0"):
        list(loader)
    recorded = data.DataLoader([glassgrad.ones(2, requires_grad=True) * 2], None, num_workers=1, **FORK)
    with pytest.raises(RuntimeError, match="Cowardly refusing to serialize non-leaf tensor"):
        list(recorded)
    gc.collect()  # tracebacks hold the iterators
    assert not children()


def test_time_runs_out():
    loader = data.DataLoader(Deadly(lambda: time.sleep(600)), num_workers=2, timeout=0.3, **FORK)
    iterator = iter(loader)
    with pytest.raises(RuntimeError, match="^DataLoader timed out after 0.3 seconds$"):
        list(iterator)
    del iterator


def test_no_process_is_left(children):
    loader = data.DataLoader(range(100), num_workers=2, **FORK)
    for batch in loader:
        break
    assert not children()  # nobody holds the iterator
    held = iter(loader)
    next(held)
    assert len(children()) == 2
    del held
    assert not children()
    assert sum(1 for _ in loader) == 100
    assert not children()
    lasting = data.DataLoader(range(6), num_workers=2, persistent_workers=True, **FORK)
    first = (list(lasting), children())
    again = (list(lasting), children())
    assert [b.tolist() for b in first[0]] == [b.tolist() for b in again[0]] == [[i] for i in range(6)]
    assert first[1] == again[1] and len(first[1]) == 2
    del lasting
    assert not children()


def test_descriptors_are_given_back():
    def held():
        return len(os.listdir("/proc/self/fd"))

    list(data.DataLoader(range(4), num_workers=2, **FORK))
    before = held()
    for _ in range(3):
        list(data.DataLoader(range(4), num_workers=2, **FORK))
        next(iter(data.DataLoader(range(4), num_workers=2, **FORK)))
    assert held() == before


def test_large_batches_and_long_indices():
    big = glassgrad.arange(3_000_000.0).view(3, -1)
    loader = data.DataLoader(data.TensorDataset(big), 2, num_workers=2, **FORK)
    found = [batch for (batch,) in loader]
    assert [tuple(batch.shape) for batch in found] == [(2, 1_000_000), (1, 1_000_000)]
    assert (found[0] == big[:2]).all() and (found[1] == big[2:]).all()
    loader = data.DataLoader(range(120_000), 40_000, num_workers=2, **FORK)
    assert [len(batch) for batch in loader] == [40_000] * 3


SCRIPT = """
import os, signal, sys, time
import glassgrad as torch
from glassgrad.utils.data import DataLoader, Dataset

class Slow(Dataset):
    def __len__(self):
        return 50
    def __getitem__(self, index):
        time.sleep(float(sys.argv[2]) if index > 3 else 0)
        return index

if __name__ == "__main__":
    iterator = iter(DataLoader(Slow(), num_workers=2, persistent_workers=sys.argv[1] == "lasting"))
    next(iterator)
    print(*[worker.process.pid for worker in iterator._workers], flush=True)
    if sys.argv[1] == "interrupt":
        try:
            for _ in iterator:
                pass
        except KeyboardInterrupt:
            print("interrupted", flush=True)
            sys.exit(7)
    if sys.argv[1] == "error":
        raise ValueError("in the main process")
    if sys.argv[1] == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
"""


def gone(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except OSError:
        return True


@pytest.mark.parametrize(("how", "code"), [("end", 0), ("lasting", 0), ("error", 1), ("kill", -9), ("interrupt", 7)])
def test_workers_end_with_the_program(tmp_path, how, code):
    """However the main process ends, at its end or soon after nothing of it runs; a Ctrl-C prints no noise."""
    script = tmp_path / "program.py"
    script.write_text(SCRIPT)
    process = subprocess.Popen(
        [sys.executable, str(script), how, "0.2"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True, env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )  # fmt: skip
    try:
        workers = [int(pid) for pid in process.stdout.readline().split()]
        if how == "interrupt":
            time.sleep(0.3)
            os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=30)
        assert process.returncode == code, err
        assert ("ValueError: in the main process" in err) if how == "error" else not err
        assert out == ("interrupted\n" if how == "interrupt" else "")
        assert len(workers) == 2
        deadline = time.monotonic() + 60
        while not all(map(gone, workers)) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert all(map(gone, workers))
    finally:
        process.kill()


ALIASED = """
import sys
import glassgrad
sys.path.insert(0, sys.argv[2])

def main():
    from tests.utils.data.datasets import Squares
    loader = glassgrad.utils.data.DataLoader(Squares(5), 2, num_workers=2, multiprocessing_context=sys.argv[1])
    for batch in loader:
        print(batch)

if __name__ == "__main__":
    with glassgrad.alias():
        main()
"""
RUN = """
import sys
import torch
sys.path.insert(0, sys.argv[2])

class Mine(torch.utils.data.Dataset):
    def __len__(self):
        return 5
    def __getitem__(self, index):
        info = torch.utils.data.get_worker_info()
        return torch.tensor(index * index), torch.__name__, info.id

if __name__ == "__main__":
    for batch in torch.utils.data.DataLoader(Mine(), 2, num_workers=2, multiprocessing_context=sys.argv[1]):
        print(batch)
"""


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
@pytest.mark.parametrize("script", [ALIASED, RUN], ids=["alias", "run"])
def test_torch_means_the_same_in_workers(tmp_path, script, method):
    path = tmp_path / "program.py"
    path.write_text(script)
    start = [] if script is ALIASED else ["-m", "glassgrad", "run"]
    done = subprocess.run(
        [sys.executable, *start, str(path), method, str(ROOT)], capture_output=True, text=True, timeout=50, check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )  # fmt: skip
    assert not done.stderr
    assert done.stdout.splitlines() == [
        "[tensor([0, 1]), ('torch', 'torch'), tensor([0, 0])]",
        "[tensor([4, 9]), ('torch', 'torch'), tensor([1, 1])]",
        "[tensor([16]), ('torch',), tensor([0])]",
    ]


def test_what_cannot_be_sent_is_told(children):
    loader = data.DataLoader(range(3), num_workers=1, collate_fn=lambda batch: 0, multiprocessing_context="spawn")
    with pytest.warns(UserWarning, match="^Got pickle error when attempting to start a worker"):
        with pytest.raises((AttributeError, TypeError, Exception), match="(?i)pickle"):
            iter(loader)
    assert not children()
