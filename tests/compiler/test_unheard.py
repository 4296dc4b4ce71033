"""Writes, draws and backward passes that come from elsewhere while an operation is pending: it runs before them."""

import copy
import pickle
import queue
import threading
import warnings

import numpy as np
import pytest

import glassgrad as torch
from glassgrad import nn
from glassgrad.kernels import compiled

from .both_ways import both, four


@pytest.fixture(autouse=True)
def _kernels_of_numpy():
    with compiled.serving(compiled.NEVER):
        yield


def in_a_thread(function):
    thread = threading.Thread(target=function)
    thread.start()
    thread.join()


def put(x):
    x[0] = 9


def backward(w):
    (w * 3).sum().backward()


#: What happens between a deferred operation on ``x`` and on the gradient of ``w``, and the end of the call.
BETWEEN = {
    "a write in a thread": lambda x, w: in_a_thread(lambda: x.add_(1)),
    "a write by a view": lambda x, w: in_a_thread(lambda: x[1:].mul_(2)),
    "an item in a thread": lambda x, w: in_a_thread(lambda: put(x)),
    "out= in a thread": lambda x, w: in_a_thread(lambda: torch.add(x, 1, out=x)),
    "a step in a thread": lambda x, w: in_a_thread(torch.optim.SGD([w], 0.1).step),
    "backward in a thread": lambda x, w: in_a_thread(lambda: backward(w)),
    "a draw in a thread": lambda x, w: in_a_thread(lambda: torch.rand(3)),
    "a seed in a thread": lambda x, w: in_a_thread(lambda: torch.manual_seed(3)),
    "clipping norms": lambda x, w: nn.utils.clip_grad_norm_([w], 0.1),
    "clipping values": lambda x, w: nn.utils.clip_grad_value_([w], 0.1),
    "a version counted up": lambda x, w: torch.autograd.graph.increment_version([x, w.grad]),
}


@pytest.mark.parametrize("between", BETWEEN.values(), ids=BETWEEN)
def test_what_is_pending_runs_before(between):
    def case(how, out):
        w, grad = nn.Parameter(torch.ones(4)), four(1)

        def function(x):
            w.grad = grad
            results = x * 2, w.grad * 3, w * x, torch.nn.functional.dropout(x, 0.5)
            between(x, w)
            return [one.detach() for one in results], torch.rand(2)

        call = how(function)
        for n in range(6):
            x = four(n)
            out.append((call(x), x, w, w.grad))

    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="compile: ")
        written, replayed = both(case)
    assert len(written) == 6 and written == replayed


def test_a_thread_is_handed_what_is_pending_while_its_maker_goes_on():
    asked, answers = queue.Queue(), queue.Queue()

    def answer():
        while (tensor := asked.get()) is not None:
            answers.put(tensor.sum().item())

    thread = threading.Thread(target=answer, daemon=True)
    thread.start()

    def function(x):
        for n in range(20):
            x = x + 1
            asked.put(x)
        return x * 2

    call = torch.compile(function)
    try:
        for n in range(30):
            assert call(four(n)).tolist() == (four(n + 20) * 2).tolist()
            assert [answers.get(timeout=60) for _ in range(20)] == [four(n + k).sum().item() for k in range(1, 21)]
    finally:
        asked.put(None)
        thread.join()


#: Ways to read the running statistics of a layer, which its pending call moves without a new version.
READS = {
    "printed": lambda layer: repr(layer.running_mean),
    "formatted": lambda layer: f"{layer.running_mean[0]:.5f} {layer.running_mean}",
    "listed": lambda layer: layer.running_mean.tolist(),
    "numpy": lambda layer: layer.running_mean.numpy().tobytes(),
    "asarray": lambda layer: np.asarray(layer.running_mean).tobytes(),
    "dlpack": lambda layer: np.from_dlpack(layer.running_mean).tobytes(),
    "copied": lambda layer: copy.deepcopy(layer).running_mean.tolist(),
    "pickled": lambda layer: pickle.loads(pickle.dumps(layer)).running_mean.tolist(),
    "storage": lambda layer: layer.running_mean.untyped_storage().tolist(),
    "data": lambda layer: layer.running_mean.data.tolist(),
    "parameter": lambda layer: nn.Parameter(layer.running_mean).tolist(),
    "equal": lambda layer: torch.equal(layer.running_mean, torch.zeros(4)),
}


@pytest.mark.parametrize("name", READS)
def test_running_statistics_are_those_of_the_call_whoever_reads_them(name):
    def case(how, out):
        layer = nn.BatchNorm1d(4)

        @how
        def step(x):
            y = layer(x)
            out.append(READS[name](layer))
            return y.sum()

        for _ in range(5):
            out.append(step(torch.randn(3, 4)))

    mine, theirs = both(case)
    assert mine == theirs and not isinstance(mine[-1][0], str)
