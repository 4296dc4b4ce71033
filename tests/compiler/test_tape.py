"""Tapes: each instruction against its row, programs of any length, memory that is shared, and threads."""

import gc
import threading

import numpy as np
import pytest

import glassgrad as torch
import glassgrad.nn.functional as F
from glassgrad import nn
from glassgrad.kernels import compiled

from .both_ways import bits, programs, pure, reasons

pytest.importorskip("numba", reason="Numba is not installed: there is no tape")

SPECIAL = [0.0, -0.0, float("inf"), float("-inf"), float("nan"), 1.5, -2.5, 1e-30, 30.0, -30.0, 3.0, 0.1, 1.0]
ELEMENTWISE = {
    "add": lambda x, y: x + y, "sub": lambda x, y: x - y, "mul": lambda x, y: x * y, "div": lambda x, y: x / y,
    "neg": lambda x, y: -x, "abs": lambda x, y: x.abs(), "sqrt": lambda x, y: x.sqrt(), "exp": lambda x, y: x.exp(),
    "log": lambda x, y: x.log(), "sin": lambda x, y: x.sin(), "cos": lambda x, y: x.cos(),
    "tanh": lambda x, y: x.tanh(), "sigmoid": lambda x, y: x.sigmoid(), "relu": lambda x, y: F.relu(x),
    "reciprocal": lambda x, y: x.reciprocal(), "rsqrt": lambda x, y: x.rsqrt(), "square": lambda x, y: x**2,
    "cube": lambda x, y: x**3, "number": lambda x, y: (x + 0.1) * 0.3 - 7.0, "from": lambda x, y: 2.0 - x,
    "scaled": lambda x, y: 3 * x,
    **{
        name: lambda x, y, name=name: getattr(x, name)()
        for name in "log2 log10 log1p expm1 tan asin acos atan sinh cosh asinh acosh atanh".split()
    },
}  # fmt: skip
REDUCED = {
    "sum": lambda x: x.sum(), "mean": lambda x: x.mean(), "rows": lambda x: x.sum(-1), "columns": lambda x: x.sum(0),
    "kept": lambda x: x.mean(0, keepdim=True), "both": lambda x: x.sum((0, -1)), "mse": lambda x: F.mse_loss(x, x * 2),
    "mse sum": lambda x: F.mse_loss(x, x * 2, reduction="sum"),
    "mse none": lambda x: F.mse_loss(x, x * 2, reduction="none"),
}  # fmt: skip
SHAPES = [(), (1,), (8,), (3, 5), (2, 3, 4), (2, 1, 3, 2)]


def both(function, *inputs, calls=5, tape=True):
    """What a function gives, and its inputs' gradients: as it is written, by NumPy alone, and as a tape."""
    found = []
    for how, least in ((lambda step: step, compiled.NEVER), (pure, compiled.LEAST)):
        leaves = [x.detach().clone().requires_grad_() for x in inputs]

        def step(*leaves):
            for leaf in leaves:
                leaf.grad = None
            made = function(*leaves)
            made.sum().backward()
            return made.detach().clone()

        call = how(step)
        with compiled.serving(least):
            for _ in range(calls):
                made = call(*leaves)
        found.append([made, *(leaf.grad for leaf in leaves)])
    if tape:
        assert programs(call) and programs(call)[0].native, reasons(call)
    return found


def close(found, exact=False, ulps=8):
    written, replayed = found
    for a, b in zip(written, replayed, strict=True):
        assert (a is None) == (b is None)
        if a is None:
            continue
        assert a.shape == b.shape and a.dtype is b.dtype
        if exact:
            assert bits(a) == bits(b)
        else:
            tolerance = ulps * (1.2e-7 if a.dtype is torch.float32 else 2.3e-16)
            np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("kind", [torch.float32, torch.float64])
@pytest.mark.parametrize("name", ELEMENTWISE)
def test_an_elementwise_instruction_gives_the_bits_of_its_row(name, kind):
    x = torch.tensor([a for a in SPECIAL for _ in SPECIAL], dtype=kind)
    y = torch.tensor([b for _ in SPECIAL for b in SPECIAL], dtype=kind)
    with np.errstate(all="ignore"):
        found = both(lambda x, y: ELEMENTWISE[name](x, y) + y * 0, x, y)
    for written, replayed in zip(*found, strict=True):
        nan = written.isnan() & ~y.isfinite()
        assert not (nan & ~replayed.isnan()).any()
        # y * 0 is a NaN there. Where NaNs of either sign meet, NumPy's sum has the one's or the other's, by the number
        # of elements and by its version.
        written.detach()[nan], replayed.detach()[nan] = 0.0, 0.0
    close(found, exact=True)


@pytest.mark.parametrize("shapes", [
    ((), (3,)), ((3,), ()), ((3, 4), (4,)), ((3, 1), (3, 4)), ((1, 4), (3, 1)), ((2, 3, 4), (3, 1)),
    ((2, 1, 4, 1), (3, 1, 5)), ((1,), (1,)), ((1,), ()), ((5, 1), (1, 1)),
], ids=str)  # fmt: skip
def test_operands_are_broadcast(shapes):
    torch.manual_seed(1)
    x, y = (torch.randn(shape) for shape in shapes)
    close(both(lambda x, y: (x * y - y) / (x * x + 1), x, y))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", REDUCED)
def test_sums(name, shape):
    if name in ("rows", "columns", "kept", "both") and len(shape) < 2:
        return
    torch.manual_seed(2)
    close(both(REDUCED[name], torch.randn(shape)))


VIEWS = {
    "t": lambda x: x.t(), "turned": lambda x: x.t() * 2, "part": lambda x: x[1:, ::2], "row": lambda x: x[0],
    "flat": lambda x: x.reshape(-1), "flat turned": lambda x: x.t().reshape(-1),
    "wide": lambda x: x[:, :1].expand(4, 6),
    "diagonal": lambda x: x.diagonal(), "swapped": lambda x: x.view(2, 2, 6).permute(2, 0, 1),
    "halves": lambda x: x.chunk(2)[1], "bound": lambda x: x.unbind()[2], "single": lambda x: x[1, 2],
}  # fmt: skip


@pytest.mark.parametrize("name", VIEWS)
def test_views(name):
    torch.manual_seed(3)
    close(both(lambda x: VIEWS[name](x) * 3.0, torch.randn(4, 6), tape=False))


@pytest.mark.parametrize(
    "sizes", [(1, 1, 1), (3, 2, 4), (10, 2, 3), (2, 9, 17), (8, 8, 8), (5, 16, 1), (1, 30, 12)], ids=str
)
def test_products(sizes):
    m, k, n = sizes
    torch.manual_seed(4)
    a, b, bias = torch.randn(m, k), torch.randn(n, k), torch.randn(n)
    close(both(lambda a, b, bias: F.linear(a, b, bias) @ b, a, b, bias), ulps=100)


@pytest.mark.parametrize("length", [1, 2, 7, 100, 700])
@pytest.mark.parametrize("shape", [(), (8,)], ids=str)
def test_programs_of_any_length(length, shape):
    def chain(x, z):
        for _ in range(length):
            x = x * z
        return x

    x, z = torch.full(shape, 1.1), torch.full(shape, 1.001)
    close(both(chain, x, z), exact=True)


def small():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))


def ordered(model, optimizer, order):
    def step(x, y):
        if "first" in order:
            optimizer.zero_grad()
        loss = F.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        if "last" in order:
            optimizer.zero_grad()
        return loss

    return step


@pytest.mark.parametrize("order", ["first", "last", "first and last"])
def test_gradients_are_taken_away_where_the_step_does_it(order):
    found = []
    for how in (lambda step: step, pure):
        model = small()
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        with compiled.serving(compiled.LEAST):
            step = how(ordered(model, optimizer, order))
            losses = [step(torch.ones(4, 2), torch.zeros(4, 1)).item() for _ in range(6)]
        found.append((losses, [p.grad is None for p in model.parameters()], model[0].weight._version))
    assert programs(step)[0].native
    assert found[0][0] == pytest.approx(found[1][0], rel=1e-5) and found[0][1:] == found[1][1:]


def change_data(grad):
    grad.data = torch.full((3,), 7.0)


CHANGES = {
    "held": lambda grad: HELD.append(grad), "aliased": lambda grad: HELD.append(grad.detach()),
    "as an array": lambda grad: HELD.append(grad.numpy()), "a view": lambda grad: HELD.append(grad[1:]),
    "requires_grad": lambda grad: grad.requires_grad_(), "an attribute": lambda grad: setattr(grad, "note", 1),
    "its gradient": lambda grad: setattr(grad, "grad", torch.ones(3)), "other data": change_data,
    "written": lambda grad: grad.mul_(0), "resized": lambda grad: grad.resize_(100),
}  # fmt: skip
HELD = []


@pytest.mark.parametrize("name", CHANGES)
def test_a_gradient_that_was_given_away_is_left_alone(name):
    w = torch.ones(3, requires_grad=True)

    @torch.compile(pure=True)
    def step(x):
        w.grad = None
        (x * w).sum().backward()

    with compiled.serving(compiled.LEAST):
        for turn in range(6):
            step(torch.full((3,), float(turn)))
            grad = w.grad
            assert grad.tolist() == [float(turn)] * 3
            assert not grad.requires_grad and grad.grad is None and not hasattr(grad, "note") and grad.is_leaf
            HELD.clear()
            CHANGES[name](grad)
            before = [
                np.asarray(thing).copy()
                for thing in (t.detach().numpy() if isinstance(t, torch.Tensor) else t for t in HELD)
            ]
            del grad
            gc.collect()
            step(torch.full((3,), -1.0))
            after = [t.detach().numpy() if isinstance(t, torch.Tensor) else t for t in HELD]
            for a, b in zip(before, after, strict=True):
                assert np.array_equal(a, b)
            assert w.grad.tolist() == [-1.0] * 3
    assert programs(step)[0].native


def test_a_gradient_may_be_the_next_argument():
    w = torch.ones(3, requires_grad=True)

    @torch.compile(pure=True)
    def step(x):
        w.grad = None
        (x * x * w).sum().backward()

    with compiled.serving(compiled.LEAST):
        step(torch.full((3,), 2.0))
        for turn in range(4):
            expected = (w.grad**2).tolist()
            step(w.grad)
            assert w.grad.tolist() == expected
            step(torch.full((3,), 1.0 + turn))


def test_parameters_that_share_memory():
    """What is read through one tensor was written through another."""
    found = []
    for how in (lambda step: step, pure):
        w = torch.ones(3, requires_grad=True)
        alias, part = w.detach(), w.detach()[:1]
        optimizer = torch.optim.SGD([w], 0.5)

        def step(x, w=w, alias=alias, part=part, optimizer=optimizer):
            before = (x * alias * part).sum()
            optimizer.zero_grad()
            (w * x).sum().backward()
            optimizer.step()
            return before, (x * alias * part).sum(), part * 2

        with compiled.serving(compiled.LEAST):
            step = how(step)
            found.append([[t.tolist() for t in step(torch.arange(3.0))] for _ in range(5)])
    assert found[0] == found[1]


def test_numbers_that_are_given_back():
    u, v = torch.ones(1), torch.tensor(2.0)

    @torch.compile(pure=True)
    def step(x):
        return (x * 2).sum(), u.item(), float(v)

    with compiled.serving(compiled.LEAST):
        for turn in range(5):
            u.fill_(turn + 0.5)
            v.fill_(turn + 0.25)
            made, first, second = step(torch.ones(3))
            assert (made.item(), first, second) == (6.0, turn + 0.5, turn + 0.25)


def test_constants_keep_their_bits():
    x = torch.tensor([1.0, -1.0, 0.0])
    for number in (0.0, -0.0, 1e-45, 0.1, float("inf"), 1e30):
        close(both(lambda x, number=number: x * number + (x + number) * 0, x), exact=True)


def test_threads_may_run_one_program_at_once():
    w = torch.ones(4)
    step = torch.compile(lambda x: (x * w * 2).exp().sum(0) + x, pure=True)
    inputs = [torch.full((4,), number / 8) for number in range(4)]
    with compiled.serving(compiled.LEAST):
        for _ in range(3):
            step(inputs[0])
        expected = [bits(step(x)) for x in inputs]
        wrong = []

        def work(number):
            wrong.extend(number for _ in range(400) if bits(step(inputs[number])) != expected[number])

        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(programs(step)) == 1 and programs(step)[0].native and not wrong


def test_a_program_may_be_called_while_it_runs():
    """A finalizer of the last gradient's holder may call the very step that takes it away."""
    w = torch.ones(3, requires_grad=True)

    @torch.compile(pure=True)
    def step(x):
        w.grad = None
        (x * w).sum().backward()
        return x * w

    class Last:
        def __del__(self):
            made.append(step(torch.full((3,), 5.0)).tolist())

    made = []
    with compiled.serving(compiled.LEAST):
        for _ in range(3):
            step(torch.ones(3))
        w.grad.holder = Last()
        assert step(torch.full((3,), 2.0)).tolist() == [2.0] * 3
    assert made == [[5.0] * 3]


def test_what_is_too_large_is_left_to_blas():
    step = torch.compile(lambda a, b: a @ b, pure=True)
    a = torch.randn(200, 200)
    with compiled.serving(compiled.LEAST):
        for _ in range(3):
            step(a, a)
    assert programs(step) and not programs(step)[0].native
