"""The team of native threads: who does a part makes no difference, and nothing of the process gets in its way."""

import os
import signal
import threading
import time

import numpy as np
import pytest

pytest.importorskip("numba", reason="compiled kernels need Numba")

from glassgrad.ground import runtime  # noqa: E402
from glassgrad.kernels import compiled  # noqa: E402
from glassgrad.kernels.native import binding  # noqa: E402

from .test_binding import ran  # noqa: E402

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the team's threads sleep as POSIX has it")
MUCH = 100 * binding.WORTH_SHARING


@pytest.fixture
def threads(monkeypatch):
    """A function that sets how many threads there are to be."""
    return lambda count: monkeypatch.setattr(runtime, "get_num_threads", lambda: count)


@binding.kernel
def _count(first, last, seen, starts):
    starts[first] = last
    for i in range(first, last):
        seen[i] += 1


def test_every_row_is_done_once(threads):
    """Whatever the number of rows, of threads and the grain; parts begin at multiples of it."""
    for count in (1, 2, 3, 7):
        threads(count)
        for rows, grain in ((1, 1), (2, 1), (7, 2), (64, 16), (100, 16), (5, 8), (5000, 1), (70000, 3)):
            seen, starts = np.zeros(rows, int), np.zeros(rows + 1, int)
            binding.shared_out(_count, rows, MUCH, seen, starts, grain=grain)
            assert (seen == 1).all()
            begun = np.flatnonzero(starts)
            assert not (begun % grain).any() and len(begun) <= max(count * binding.PARTS, 1)
            assert starts[begun].tolist() == [*begun[1:], rows]


def test_more_threads_than_parts_can_be_counted(threads):
    """Each row is done once all the same."""
    threads(100_000)
    seen = np.zeros(9000, int)
    binding.shared_out(_once, len(seen), 1 << 50, seen)
    assert (seen == 1).all()


@binding.kernel
def _once(first, last, seen):
    for i in range(first, last):
        seen[i] += 1


@binding.kernel
def _meet(first, last, there, met):
    """Wait, not for ever, until somebody is at another part."""
    there[first * 8] = 1
    tries = 0
    while there[0] + there[8] + there[16] + there[24] < 2 and tries < 1 << 30:
        tries += 1
        there[first * 8] = 1
    met[first] = there[0] + there[8] + there[16] + there[24]


@pytest.mark.skipif(runtime.cores() < 2, reason="one core has no helper")
@pytest.mark.parametrize("rest", [0, 0.02], ids=["awake", "asleep"])
def test_two_threads_work_at_the_same_time(threads, rest):
    """A helper comes, whether it was looking or asleep."""
    threads(2)
    for _ in range(5):
        time.sleep(rest)
        there, met = np.zeros(64, int), np.zeros(8, int)
        binding.shared_out(_meet, 4, MUCH, there, met)
        assert met[0] >= 2


def test_many_threads_of_python_call_at_once(threads):
    """One has the team, the others do without, and all have what is right."""
    threads(2)
    x = np.random.default_rng(0).normal(size=(300, 400)).astype("f4")
    right, wrong = compiled.softmax.forward(x, 1), []

    def call(seed):
        drawn = np.random.default_rng(seed)
        for rows in drawn.integers(1, 300, 100).tolist():
            if not np.array_equal(compiled.softmax.forward(x[:rows], 1), right[:rows]):
                wrong.append(rows)

    callers = [threading.Thread(target=call, args=(seed,)) for seed in range(4)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert not wrong


@binding.kernel
def _fail(first, last, bad, out):
    for i in range(first, last):
        if i == bad:
            raise ZeroDivisionError("row")
        out[i] = 1


@pytest.mark.parametrize("bad", [0, 50, 99])
def test_what_a_part_raises_is_raised(threads, bad):
    """In whichever thread it happened; the next call is none the worse."""
    threads(2)
    out = np.zeros(100)
    with pytest.raises(ZeroDivisionError, match="row"):
        binding.shared_out(_fail, 100, MUCH, bad, out)
    binding.shared_out(_fail, 100, MUCH, -1, out)
    assert (out == 1).all()


@binding.kernel
def _gives(first, last, out):
    for i in range(first, last):
        out[i] += 1
    return last


def test_a_function_with_a_result_goes_the_other_way(threads):
    """Native parts have nowhere to put one."""
    threads(2)
    out = np.zeros(1000)
    binding.shared_out(_gives, 1000, MUCH, out)
    assert (out == 1).all()


def test_arguments_of_all_kinds(threads):
    """Arrays of several kinds and layouts, read only ones, numbers, truths, tuples, nothing."""

    @binding.kernel
    def mixed(first, last, a, b, whole, number, truth, pair, nothing, out):
        for i in range(first, last):
            out[i] = a[i, 0] + b[0, i] + whole + number + pair[0] * pair[1][i]
            if truth and nothing is None:
                out[i] += 1

    threads(2)
    n = 500
    a, b = np.arange(2.0 * n).reshape(n, 2)[:, ::-1], np.asfortranarray(np.arange(3.0 * n, dtype="f4").reshape(3, n))
    a.flags.writeable = False
    found = [np.zeros(n), np.zeros(n)]
    rest = 3, np.float32(0.5), True, (2, np.ones(n, np.int32)), None
    binding.shared_out(mixed, n, MUCH, a, b, *rest, found[0])
    mixed(0, n, a, b, *rest, found[1])
    assert np.array_equal(*found) and found[0].all()


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timer here")
def test_an_interruption_leaves_the_team_whole(threads):
    """Wherever KeyboardInterrupt falls."""
    threads(2)
    x = np.random.default_rng(0).normal(size=(256, 256)).astype("f4")
    right = compiled.softmax.forward(x, 1)

    def interrupt(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        for n in range(20):
            with pytest.raises(KeyboardInterrupt):
                signal.setitimer(signal.ITIMER_REAL, 0.001 + 0.0001 * n)
                while True:
                    compiled.softmax.forward(x, 1)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert np.array_equal(compiled.softmax.forward(x, 1), right)


PROGRAM = """
import os, sys, threading, time
import numpy as np
from glassgrad.ground import runtime
from glassgrad.kernels import compiled
runtime._set.threads = 2
x = np.random.default_rng(0).normal(size=(512, 512)).astype("f4")
right = compiled.softmax.forward(x, 1)
def work():
    while True:
        assert (compiled.softmax.forward(x, 1) == right).all()
"""
ENDS = {
    "at once": "",
    "by exit": "sys.exit()",
    "while another thread computes": "threading.Thread(target=work, daemon=True).start(); time.sleep(0.1)",
    "with a call at the very end": "import atexit; atexit.register(lambda: compiled.softmax.forward(x, 1))",
    "after a call when the team is gone": "import atexit; atexit.register(compiled.softmax.forward, x, 1); "
    "from glassgrad.kernels.native import binding; binding._team.close(); compiled.softmax.forward(x, 1)",
}


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS.keys())
def test_the_process_ends(end):
    """Whatever goes on: no hanging, no crash, no word."""
    assert ran(f"{PROGRAM}\n{end}") == []


SETTINGS = {
    "a system that gives no threads": """
def refuse(thread):
    raise RuntimeError("can't start new thread")
threading.Thread.start = refuse
""",
    "a signal while the team is made": """
import signal
from glassgrad.kernels.native import team
class Interrupted(team.Team):
    def __init__(self, cores):
        signal.raise_signal(signal.SIGUSR1)
        super().__init__(cores)
team.Team = Interrupted
heard = []
signal.signal(signal.SIGUSR1, lambda *_: heard.append((compiled.softmax.forward(x, 1) == right).all()))
""",
}


@pytest.mark.parametrize("setting", SETTINGS.values(), ids=SETTINGS.keys())
def test_the_team_is_made(setting):
    """Or not, and the work is done without one."""
    program = f"""{PROGRAM}
from glassgrad.kernels.native import binding
binding._team = None
{setting}
assert (compiled.softmax.forward(x, 1) == right).all()
print(*globals().get("heard", ()))
"""
    assert set(ran(program)) <= {"True"}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.parametrize("end", ["os._exit(0)", "sys.exit(0)"])
def test_forks_while_others_compute(end):
    """A child has a team of its own, even if its parent's was at work; and it ends, in either way."""
    program = f"""{PROGRAM}
threading.Thread(target=work, daemon=True).start()
for _ in range(3):
    child = os.fork()
    if not child:
        assert (compiled.softmax.forward(x, 1) == right).all()
        {end}
    assert os.waitpid(child, 0)[1] == 0
"""
    assert ran(program) == []
