"""Threads: each its own graph, or all the same one; each its own modes; the numbers are right."""

import contextlib
import os
import signal
import subprocess
import sys
import threading

import pytest

import glassgrad as torch
from glassgrad.core import leaf
from glassgrad.ground import modes


@pytest.fixture(autouse=True)
def often():
    """Threads change places as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def together(count, act):
    """Run ``act(number)`` in that many threads, all at once; raise what the first failing one raised."""
    start, failed = threading.Barrier(count), []

    def run(number):
        try:
            start.wait()
            act(number)
        except BaseException as error:  # noqa: BLE001
            failed.append(error)

    threads = [threading.Thread(target=run, args=(number,), daemon=True) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        raise failed[0]


several = pytest.mark.parametrize("count", [2, 4])


@several
def test_different_graphs(count):
    """Built and differentiated at once, by both loops of the engine."""

    def act(number):
        for turn in range(60):
            x = torch.full((3,), 1.0 + number, requires_grad=True)
            y = x
            for _ in range(20):
                y = y * x
            if turn % 3 == 0:
                (found,) = torch.autograd.grad(y.sum(), x)
            elif turn % 3 == 1:
                (found,) = torch.autograd.grad(y.sum(), x, create_graph=True)
            else:
                y.sum().backward()
                found = x.grad
            assert found.tolist() == pytest.approx([21 * (1.0 + number) ** 20] * 3, rel=1e-5)

    together(count, act)


@several
def test_the_same_retained_graph(count):
    """Every thread asks for its gradients; no two walks mix."""
    x = torch.full((3,), 2.0, requires_grad=True)
    y = x
    for _ in range(30):
        y = (y * x) * 0.5
    y = y.sum()

    def act(number):
        for _ in range(40):
            (found,) = torch.autograd.grad(y, x, torch.tensor(1.0 + number), retain_graph=True)
            assert found.tolist() == pytest.approx([31 * (1.0 + number)] * 3, rel=1e-6)

    together(count, act)
    assert x.grad is None


@several
def test_backward_through_the_same_graph_to_leaves_of_one_thread_each(count):
    """Backward calls overlap, each into a leaf of its own, over a shared retained part."""
    shared = torch.ones(3, requires_grad=True)
    trunk = shared
    for _ in range(20):
        trunk = trunk * 1.0

    def act(number):
        for _ in range(30):
            own = torch.full((3,), 2.0, requires_grad=True)
            (trunk.detach() * own).sum().backward()
            assert own.grad.tolist() == [1.0] * 3
            (found,) = torch.autograd.grad((trunk * own).sum(), shared, retain_graph=True)
            assert found.tolist() == [2.0] * 3

    together(count, act)


@several
@pytest.mark.parametrize("size", [2, 100_000])
def test_sums_into_one_leaf_keep_every_term(count, size):
    """Backward calls of different threads into the same leaves, over graphs of their own and over a shared one."""
    x, w = torch.zeros(size, requires_grad=True), torch.zeros(size, requires_grad=True)
    shared = (x * 2.0 + w).sum()

    def act(number):
        for turn in range(40):
            if turn % 4 == 0:
                (x * 2.0 + w).sum().backward()
            elif turn % 4 == 1:
                shared.backward(inputs=[x, w], retain_graph=True)
            else:
                shared.backward(retain_graph=True)

    together(count, act)
    assert set(x.grad.tolist()) == {80.0 * count}
    assert set(w.grad.tolist()) == {40.0 * count}


@several
def test_the_first_gradients_of_a_leaf(count):
    """Many threads find no gradient there yet; every term is kept."""
    for _ in range(60):
        x = torch.zeros(3, requires_grad=True)
        roots = [(x * float(number + 1)).sum() for number in range(count)]
        together(count, lambda number: roots[number].backward())  # noqa: B023
        assert x.grad.tolist() == [count * (count + 1) / 2] * 3


@contextlib.contextmanager
def elsewhere(act):
    """Another thread runs the generator ``act``: up to its yield before the block, the rest after it."""
    inside, seen = threading.Event(), threading.Event()

    def run():
        for _ in act():
            inside.set()
            seen.wait()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    inside.wait()
    try:
        yield
    finally:
        seen.set()
        thread.join()


def test_no_grad_is_not_seen_elsewhere():
    found = {}

    def quiet():
        with torch.no_grad():
            yield
            found["here"] = (torch.ones(1, requires_grad=True) * 2).requires_grad

    with elsewhere(quiet):
        assert len(modes.off) == 1
        assert torch.is_grad_enabled()
        x = torch.ones(2, requires_grad=True)
        y = x * 2
        y += 1
        z = y[0]
        assert y.requires_grad and z.requires_grad
        z.backward()
        assert x.grad.tolist() == [2.0, 0.0]
    assert found == {"here": False}
    assert not modes.off


def test_modes_of_every_kind_stay_in_their_thread():
    packed = []

    def unusual():
        with (
            torch.inference_mode(),
            torch.autograd.graph.saved_tensors_hooks(lambda t: packed.append(t) or t, lambda t: t),
        ):
            yield

    with elsewhere(unusual):
        x = torch.ones(2, requires_grad=True)
        y = (x * x).exp()
        assert not y.is_inference()
        y.sum().backward()
        assert packed == []
    assert not modes.watch


def test_a_new_thread_starts_with_recording_on():
    found = []
    with torch.no_grad():
        thread = threading.Thread(target=lambda: found.append(torch.is_grad_enabled()))
        thread.start()
        thread.join()
    assert found == [True]


def test_a_graph_may_cross_threads():
    """Built here, differentiated there."""
    x = torch.ones(2, requires_grad=True)
    y = (x * 3.0).sum()
    thread = threading.Thread(target=y.backward)
    thread.start()
    thread.join()
    assert x.grad.tolist() == [3.0, 3.0]


@several
def test_hooks_run_in_the_thread_that_differentiates(count):
    def act(number):
        mine = threading.get_ident()
        for _ in range(30):
            seen = []
            x = torch.ones(2, requires_grad=True)
            y = x * 2.0
            y.register_hook(lambda grad: seen.append(threading.get_ident()))  # noqa: B023
            x.register_hook(lambda grad: seen.append(threading.get_ident()))  # noqa: B023
            y.sum().backward()
            assert seen == [mine, mine]
            assert x.grad.tolist() == [2.0, 2.0]

    together(count, act)


@pytest.mark.fast
@several
def test_first_use_of_an_operation_by_several_threads(count):
    """Callers are printed at their second call: several of them at once do no harm."""
    from glassgrad.core.row import TABLE
    from glassgrad.fast import generate

    row = TABLE["atan2"]
    results = []

    def act(number):
        for _ in range(20):
            x = torch.ones(2, requires_grad=True)
            torch.atan2(x, torch.ones(2)).sum().backward()
            results.append(x.grad.tolist())
            generate.ready(row)

    together(count, act)
    assert results == [[0.5, 0.5]] * len(results)


HELD = """
import os, threading
import glassgrad as torch
from glassgrad.fast import generate

held, done = threading.Event(), threading.Event()


def hold():
    with generate._making:
        held.set()
        done.wait(60)


threading.Thread(target=hold, daemon=True).start()
held.wait()
child = os.fork()
if not child:
    for _ in range(2):  # interpreted, and then printed
        torch.digamma(torch.ones(3))
    os._exit(0)
found = os.waitpid(child, 0)[1]
done.set()
assert found == 0
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_fork_while_another_thread_makes_an_operation_ready():
    """The child waits for nobody who is not there."""
    done = subprocess.run([sys.executable, "-c", HELD], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_does_not_wait_for_a_thread_that_it_does_not_have():
    """While that thread adds to a leaf's gradient."""
    x = torch.tensor(2.0, requires_grad=True)
    held, done = threading.Event(), threading.Event()

    def add():
        with leaf.adding:
            held.set()
            done.wait()

    thread = threading.Thread(target=add)
    thread.start()
    held.wait()
    child = os.fork()
    if not child:
        signal.alarm(30)
        for grad in (2.0, 4.0):
            (x * x).backward(torch.tensor(grad / 2))
        os._exit(x.grad.item() != 12.0)
    done.set()
    thread.join()
    assert os.waitpid(child, 0)[1] == 0
