"""Where the system starts no threads or processes, everything goes on without them."""

import subprocess
import sys

import pytest

LOADER = """
import os, sys, warnings
import glassgrad as torch
from glassgrad.utils import data

how = sys.argv[1]


def refuse(*args):
    raise BlockingIOError(11, "Resource temporarily unavailable")


def no_thread(*args, **kwargs):
    raise RuntimeError("can't start new thread")


if how == "no fork":
    del os.fork
elif how == "no process":
    os.fork = refuse
elif how == "no multiprocessing":
    sys.modules["multiprocessing"] = sys.modules["multiprocessing.connection"] = None
elif how == "no thread":
    import _thread, threading
    _thread.start_new_thread = threading._start_new_thread = threading._start_joinable_thread = no_thread

torch.manual_seed(0)
dataset = data.TensorDataset(torch.arange(10.0))


def epoch(workers):
    torch.manual_seed(1)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        batches = [batch.tolist() for (batch,) in data.DataLoader(dataset, 3, shuffle=True, num_workers=workers)]
    return batches, [str(warning.message) for warning in caught]


here, _ = epoch(0)
there, said = epoch(2)
assert here == there, (here, there)
assert how == "no thread" or any("it loads in this process" in words for words in said), said

x = torch.ones(400, 400, requires_grad=True)
for _ in range(2):
    loss = torch.softmax((x @ x).exp().log(), 1).sum() + torch.nn.functional.gelu(x).sum()
    loss.backward()
path = sys.argv[2]
torch.save(x, path)
assert torch.load(path).shape == (400, 400)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no fork there to be without")
@pytest.mark.parametrize("how", ["no fork", "no process", "no multiprocessing", "no thread"])
def test_goes_on(how, tmp_path):
    command = [sys.executable, "-c", LOADER, how, str(tmp_path / "x.pt")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
