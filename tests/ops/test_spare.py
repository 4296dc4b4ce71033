"""Memory that a large result may take over from its operand: only what nobody can see again is written over."""

import functools
import operator
import subprocess
import sys

import numpy as np
import pytest

import glassgrad as torch
from glassgrad.fast.generate import source
from glassgrad.fast.large import LARGE
from glassgrad.ops import spare

MANY = max(LARGE, 1 << 10)
known = pytest.mark.skipif(not spare.known()[1], reason="references and frames of this Python are not known")
alone = pytest.mark.skipif(sys.gettrace() is not None, reason="whoever traces may keep what operations are given")


def data():
    return torch.arange(MANY, dtype=torch.float32) / MANY + 1


def address(tensor):
    return tensor._array.ctypes.data


def taken(function):
    """Whether what ``function`` gives lies where its operand, which it makes, lay."""
    seen = []

    def made():
        x = data()
        seen.append(address(x))
        return x

    function(made)  # an operation's first call writes its short path
    return address(function(made)) in seen[1:]


@known
@alone
@pytest.mark.parametrize(
    "function",
    [
        lambda made: made().exp(),
        lambda made: torch.exp(made()),
        lambda made: made() + 1.0,
        lambda made: made() * data(),
        lambda made: [0, (made() - 1.0)][1],
        lambda made: {"a": 1, "b": made() / 2.0}["b"],
        lambda made: ((made() + 1.0).exp() - 1.0).tanh(),
        lambda made: next(made() * 2.0 for _ in range(1)),
        lambda made: [made() * 2.0 for _ in range(1)][0],
    ],
)
def test_what_is_spent_is_written_over(function):
    """A temporary's memory takes the result, of functions, methods and operators."""
    assert taken(function)


class Holds:
    """Keeps what it is given."""

    def __init__(self, value):
        self.value = value

    def __add__(self, other):
        return self.value + other


def _in_a_cell(x):
    return lambda: x + 1.0


HELD = {
    "a name": lambda x: x + 1.0,
    "a method of a name": lambda x: x.exp(),
    "a list": lambda x: [x][0] + 1.0,
    "an attribute": lambda x: Holds(x).value + 1.0,
    "another operator": lambda x: Holds(x) + 1.0,
    "a cell": lambda x: _in_a_cell(x)(),
    "a view": lambda x: x.view(-1) + 1.0,
    "a detached alias": lambda x: x.detach().exp(),
    "an array": lambda x: torch.from_numpy(x.numpy()).exp(),
    "a map": lambda x: next(map(torch.exp, [x])),
    "a partial": lambda x: functools.partial(torch.exp, x)(),
    "operator.add": lambda x: operator.add(x, 1.0),
    "a star": lambda x: torch.exp(*[x]),
    "a keyword": lambda x: torch.exp(input=x),
    "itself": lambda x: x * x,
    "a branch": lambda x: (x if x.numel() else None) + 1.0,
    "after an exception": lambda x: _after_an_exception(x),
}  # fmt: skip


def _after_an_exception(x):
    try:
        raise ValueError
    except ValueError:
        return x + 1.0


@pytest.mark.parametrize("how", HELD)
def test_what_is_held_stays(how):
    """An operand that a name, a container or an alias holds keeps its numbers."""
    x = data()
    before = x.numpy().copy()
    HELD[how](x)
    assert np.array_equal(x.numpy(), before)


@pytest.mark.parametrize("times", [1, 2])
def test_an_array_of_objects_keeps_its_elements(times):
    """NumPy's loops over objects hand out references that are not counted; the elements stay as they are."""
    held = np.empty(1, object)
    held[0] = data()
    before = held[0].numpy().copy()
    for _ in range(times):
        held + 1.0
        1.0 + held
        held * held
        (lambda: held)() + 1.0
    assert np.array_equal(held[0].numpy(), before)


def test_what_a_rule_reads_stays():
    """An operand that backward needs keeps its numbers, though nobody else holds it."""
    w = torch.ones(MANY, requires_grad=True)
    (data() * w).sum().backward()
    assert np.array_equal(w.grad.numpy(), data().numpy())
    x = data().requires_grad_()
    ((x * 2.0).exp().log() * 1.0).sum().backward()
    assert np.allclose(x.grad.numpy(), 2, atol=1e-4)


def test_a_frame_is_read_at_its_own_operator():
    """The left operand is found among others on the stack, and not where another operator is at work."""
    if not spare.known()[1]:
        pytest.skip("the frames of this Python are not known")

    class Looks:
        def __add__(self, other):
            frame = sys._getframe(1)
            return spare.left_operand(frame, self, self.classes), spare.left_operand(frame, other, self.classes)

    one, other = Looks(), Looks()
    Looks.classes = frozenset([id(Looks)])
    assert one + other == (True, False)
    assert [1, 2, (3, one + other)][2][1] == (True, False)
    assert sum([other], one) == (False, False)
    assert one + 1 == (False, False)
    Looks.classes = frozenset([id(int)])
    assert one + other == (False, False)
    assert one + 1 == (True, False)


ASKS_TWICE = """
import ctypes
import numba
import numpy as np
import glassgrad as torch

add = numba.types.ExternalFunction("PyNumber_Add", numba.int64(numba.int64, numba.int64))
number = id(one := 1.0)


@numba.cfunc(numba.int64(numba.int64, numba.int64))
def twice(left, right):
    add(left, number)
    return add(left, number)


class Extension:
    def __radd__(self, other):
        raise AssertionError


word = ctypes.c_size_t.from_address
word(word(id(Extension) + 96).value).value = twice.address  # its tp_as_number's nb_add
for _ in range(3):
    made = torch.ones(MANY) * 2.0 + Extension()
    assert (made.numpy() == 3).all(), made
"""


def test_a_right_operand_in_c_may_ask_twice():
    """A class of an extension is lent the left operand, and may add to it once more."""
    pytest.importorskip("numba", reason="it compiles the addition of such a class")
    program = ASKS_TWICE.replace("MANY", str(MANY))
    assert not subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stderr


@pytest.mark.parametrize("watch", [sys.settrace, sys.setprofile])
def test_whoever_traces_may_keep_operands(watch):
    """Frames of operations, which show what they were given, as it was given."""
    frames, before = [], sys.gettrace()

    def keep(frame, event, _):
        if event == "call" and frame.f_code.co_filename.startswith("<glassgrad operation"):
            frames.append(frame)

    x = data()
    ((x + 1.0).expm1() * 2.0).tanh()
    watch(keep)
    try:
        ((x + 1.0).expm1() * 2.0).tanh()
    finally:
        watch(before if watch is sys.settrace else None)
    first = x.numpy()
    shown = [first, first + 1, np.expm1(first + 1), np.expm1(first + 1) * 2]
    called = [frame for frame in frames if not frame.f_code.co_name.endswith("_large")]
    assert len(called) == len(shown)
    for frame, right in zip(called, shown, strict=True):
        assert np.array_equal(frame.f_locals["input"].numpy(), right)


def test_the_tensor_is_counted_before_its_array():
    """Else another thread, which has the tensor while the array is counted, could take that and leave the tensor."""
    text = source("exp")
    assert text.index("input.__weakref__") < text.index("getrefcount(input)") < text.index("getrefcount(a0)")


@pytest.mark.parametrize("layout", ["plain", "reversed", "transposed", "number", "row"])
def test_bits_are_numpys(layout):
    """Large operations that NumPy's loops compute give NumPy's bits, whatever the layout, for one and two threads."""
    a = np.random.default_rng(0).random((512, MANY // 256)).astype("f4")
    x = torch.from_numpy(a)
    b = {"reversed": a[::-1].copy(), "transposed": a, "number": np.float32(2), "row": a[:1].copy()}.get(layout, a + 1)
    if layout == "transposed":
        a, x = a.T, x.t()
        b = a
    y = 2.0 if layout == "number" else x if layout == "transposed" else torch.from_numpy(b)
    threads = torch.get_num_threads()
    try:
        for count in (1, 2):
            torch.set_num_threads(count)
            assert np.array_equal((x * y).numpy(), a * b)
            assert np.array_equal(((x - y) * 0.5).numpy(), (a - b) * np.float32(0.5))
            assert np.array_equal(x.atan().exp2().log1p().tanh().numpy(), np.tanh(np.log1p(np.exp2(np.arctan(a)))))
            assert np.array_equal((x.double() / 3.0).sqrt().numpy(), np.sqrt(a.astype("f8") / 3.0))
    finally:
        torch.set_num_threads(threads)
