"""Pooling beside torch: every layer, random windows in double precision, NaN, places, and the words of refusals."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import glassgrad
from tests.agreement import check
from tests.counts import generated
from tests.torch_reference import torch as reference

pytestmark = pytest.mark.torch

LINE, PLANE, CUBE = (2, 3, 9), (2, 3, 8, 7), (1, 2, 6, 5, 7)
LAYERS = [
    ("MaxPool1d", (2,), {}, LINE), ("MaxPool1d", (3, 2, 1, 2), {"ceil_mode": True}, (3, 9)),
    ("MaxPool2d", (2,), {}, PLANE), ("MaxPool2d", ((3, 2),), {"stride": (2, 1), "padding": (1, 0)}, PLANE),
    ("MaxPool2d", (3, 1), {"dilation": 2, "ceil_mode": True}, (3, 8, 7)), ("MaxPool3d", (2,), {}, CUBE),
    ("MaxPool3d", (3, (1, 2, 2), 1), {}, (2, 6, 5, 7)), ("AvgPool1d", (2,), {}, LINE),
    ("AvgPool1d", (3, 2, 1), {"ceil_mode": True, "count_include_pad": False}, (3, 9)), ("AvgPool2d", (2,), {}, PLANE),
    ("AvgPool2d", ((3, 2), (2, 1)), {"padding": (1, 0), "divisor_override": 4}, PLANE),
    ("AvgPool2d", (3,), {"padding": 1, "ceil_mode": True, "count_include_pad": False}, (3, 8, 7)),
    ("AvgPool3d", (2,), {}, CUBE), ("AvgPool3d", (3, 2, 1, True, False), {}, (2, 6, 5, 7)),
    ("AdaptiveAvgPool1d", (4,), {}, LINE), ("AdaptiveAvgPool2d", (1,), {}, PLANE),
    ("AdaptiveAvgPool2d", ((3, None),), {}, PLANE), ("AdaptiveAvgPool3d", ((2, 3, 4),), {}, CUBE),
    ("AdaptiveMaxPool1d", (4,), {}, LINE), ("AdaptiveMaxPool2d", ((5, None),), {}, (3, 8, 7)),
    ("AdaptiveMaxPool3d", (2,), {}, CUBE), ("FractionalMaxPool2d", (2, 3), {}, PLANE),
    ("FractionalMaxPool2d", ((2, 3),), {"output_ratio": 0.5}, (3, 8, 7)),
    ("FractionalMaxPool3d", (2, (2, 3, 3)), {}, CUBE),
    ("LPPool1d", (2, 3), {}, LINE), ("LPPool2d", (2, 2, 1), {"ceil_mode": True}, PLANE), ("LPPool3d", (2, 2), {}, CUBE),
    ("LocalResponseNorm", (3,), {"alpha": 0.5}, PLANE), ("LocalResponseNorm", (2, 0.3, 0.5, 2.0), {}, LINE),
    ("CrossMapLRN2d", (3, 0.5), {}, (2, 7, 3, 2)), ("CrossMapLRN2d", (5, 0.3, 0.6, 2.0), {}, (2, 6, 2, 2)),
]  # fmt: skip


@pytest.mark.parametrize(("name", "args", "kwargs", "shape"), LAYERS, ids=lambda part: str(part).replace(" ", ""))
def test_layer(name, args, kwargs, shape):
    def program(torch, show):
        torch.manual_seed(3)
        layer = getattr(torch.nn, name)(*args, **kwargs)
        show("repr", repr(layer))
        show("state", dict(layer.state_dict()))
        x = torch.randn(*shape, requires_grad=True)
        y = layer(x)
        show("y", y)
        with torch.no_grad():
            show("without gradients", layer.eval()(x))
        x = x.detach().double().requires_grad_()
        y = layer.train()(x)
        (y * torch.arange(1.0, y.numel() + 1).reshape(y.shape)).sum().backward()
        show("x.grad", x.grad)
        show("next draw", torch.rand(2))

    check(program)


@pytest.mark.parametrize("dims", [1, 2, 3])
def test_there_and_back(dims):
    def program(torch, show):
        nn = torch.nn
        shape = (2, 3, 6, 7, 8)[: dims + 2]
        pool = getattr(nn, f"MaxPool{dims}d")(3, 2, 1, return_indices=True)
        unpool = getattr(nn, f"MaxUnpool{dims}d")(3, 2, 1)
        show("repr", [repr(pool), repr(unpool)])
        torch.manual_seed(0)
        x = torch.randn(*shape, dtype=torch.float64, requires_grad=True)
        y, places = pool(x)
        show("y", [y, places])
        with torch.no_grad():
            show("known places", pool(x)[1])
        back = unpool(y, places, output_size=x.size())
        show("back", back)
        (back * back).sum().backward()
        show("x.grad", x.grad)
        adaptive = getattr(nn, f"AdaptiveMaxPool{dims}d")(3, return_indices=True)
        show("adaptive", [repr(adaptive), *adaptive(x)])
        if dims > 1:
            by_chance = getattr(nn, f"FractionalMaxPool{dims}d")(2, output_ratio=0.5, return_indices=True)
            show("by chance", [repr(by_chance), *by_chance(x)])
            samples = torch.full((2, 3, dims), 0.3, dtype=torch.float64)
            given = getattr(nn, f"FractionalMaxPool{dims}d")(2, 3, _random_samples=samples)
            show("samples given", [given(x), list(given.state_dict())])

    check(program)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "int64", "uint8", "int8"])
def test_other_dtypes(dtype):
    def program(torch, show):
        F = torch.nn.functional
        torch.manual_seed(0)
        x = (torch.randn(2, 2, 6, 6) * 20).to(getattr(torch, dtype))
        show("max", list(F.max_pool2d(x, 3, 2, 1, return_indices=True)))
        show.error(lambda: F.max_pool1d(x[0], 2))
        show.error(lambda: F.avg_pool2d(x, 2))
        show.error(lambda: F.adaptive_avg_pool2d(x, 4))
        show.error(lambda: F.adaptive_max_pool2d(x, 4))
        show.error(lambda: F.max_unpool2d(x, torch.zeros(x.shape, dtype=torch.int64), 2))

    check(program)


def test_not_a_number_wins_and_infinities_are_found():
    def program(torch, show):
        F = torch.nn.functional
        nan, inf = float("nan"), float("inf")
        x = torch.tensor([[[[1.0, nan, 2.0, 3.0], [nan, 5.0, -inf, -inf], [inf, 0.0, -inf, -inf], [1, 2, -inf, -inf]]]])
        for kernel, stride, padding in ((2, 2, 0), (2, 1, 1), (3, 1, 1), (4, 4, 0)):
            show(f"{kernel} {stride} {padding}", list(F.max_pool2d(x, kernel, stride, padding, return_indices=True)))
            show("values", F.max_pool2d(x, kernel, stride, padding))
            show("averages", F.avg_pool2d(x, kernel, stride, padding))
        show("adaptive", list(F.adaptive_max_pool2d(x, 3, return_indices=True)))
        show("whole", list(F.adaptive_max_pool2d(x, 1, return_indices=True)))

    check(program)


def test_graph_and_what_is_saved():
    def program(torch, show):
        F = torch.nn.functional
        line, plane, cube = (
            torch.arange(float(6**n * 2)).reshape(1, 2, *(6,) * n).requires_grad_() for n in (1, 2, 3)
        )
        for y in (
            F.max_pool2d(plane, 2), F.max_pool3d(cube, 2, 1), F.avg_pool2d(plane, 2), F.avg_pool3d(cube, 3, 2, 1),
            F.adaptive_max_pool2d(plane, 2), F.adaptive_avg_pool2d(plane, 4), F.adaptive_avg_pool3d(cube, (2, 3, 4)),
            F.fractional_max_pool2d(plane, 2, 3), F.max_unpool2d(plane, torch.zeros(1, 2, 6, 6).long(), 2),
        ):  # fmt: skip
            show.graph("graph", y)
            show.saved("saved", y)
        show.graph("line", F.max_pool1d(line, 2))
        show.graph("average of line", F.avg_pool1d(line, 2))
        x = plane * 1
        y = F.max_pool2d(x, 2).sum()
        x.add_(1)
        show.error(y.backward, words="at version 1")

    check(program)


# -- random windows ----------------------------------------------------------------------------------------------------


@st.composite
def windows(draw):
    """A kind of pooling with windows that fit."""
    dims = draw(st.integers(1, 3))
    sizes = tuple(draw(st.integers(2, 9 - dims)) for _ in range(dims))
    kernel = tuple(draw(st.integers(1, 4)) for _ in range(dims))
    stride = draw(st.none() | st.tuples(*[st.integers(1, 4)] * dims))
    padding = tuple(draw(st.integers(0, k // 2)) for k in kernel)
    dilation = tuple(draw(st.integers(1, 3)) for _ in range(dims))
    lead = draw(st.sampled_from([(2,), (2, 3), (1, 1)]))
    return dims, (*lead, *sizes), kernel, stride, padding, dilation, draw(st.booleans())


def both(shape, call, seed):
    """What a call on the same array gives in torch and here: the outcome, and the gradient of a weighted sum."""
    array = np.random.default_rng(seed).permutation(int(np.prod(shape))).reshape(shape) / 7.0
    found = []
    for engine in (reference, glassgrad):
        x = engine.from_numpy(array.copy()).requires_grad_()
        try:
            out = call(engine.nn.functional, x)
        except RuntimeError as error:
            found.append(str(error))
            continue
        values, *places = out if isinstance(out, tuple) else (out,)
        weights = engine.arange(1.0, values.numel() + 1, dtype=engine.float64).reshape(values.shape)
        (grad,) = engine.autograd.grad((values * weights).sum(), x)
        found.append([piece.detach().numpy() for piece in (values, grad, *places)])
    return found


def assert_same(found):
    """Both gave the same numbers, or the same words."""
    theirs, ours = found
    if isinstance(theirs, str):
        assert ours == theirs
        return
    for a, b in zip(ours, theirs, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)


def has_empty_window(case):
    """Whether taps a dilation apart step over a whole line: torch then reads outside of it."""
    dims, shape, kernel, stride, padding, dilation, _ = case
    for n, k, s, p, d in zip(shape[-dims:], kernel, stride or kernel, padding, dilation, strict=True):
        starts = range(-p, n, s)
        if any(not any(0 <= start + tap * d < n for tap in range(k)) for start in starts):
            return True
    return False


@generated(200)
@given(windows(), st.integers(0, 99))
def test_random_windows_of_the_largest(case, seed):
    dims, shape, kernel, stride, padding, dilation, ceil_mode = case
    assume(not has_empty_window(case))
    found = both(
        shape,
        lambda F, x: getattr(F, f"max_pool{dims}d")(
            x, kernel, stride, padding, dilation, ceil_mode, return_indices=True
        ),
        seed,
    )
    assert_same(found)


@generated(200)
@given(windows(), st.booleans(), st.none() | st.integers(1, 5), st.integers(0, 99))
def test_random_windows_of_averages(case, count_include_pad, divisor, seed):
    dims, shape, kernel, stride, padding, _, ceil_mode = case
    extra = () if dims == 1 else (divisor,)
    found = both(
        shape,
        lambda F, x: getattr(F, f"avg_pool{dims}d")(
            x, kernel, stride, padding, ceil_mode, count_include_pad, *extra
        ),
        seed,
    )
    assert_same(found)


@generated(150)
@given(st.integers(1, 3), st.data())
def test_random_windows_that_cover_everything(dims, data):
    shape = (2, 2, *[data.draw(st.integers(1, 8)) for _ in range(dims)])
    wanted = tuple(data.draw(st.integers(1, 9)) for _ in range(dims))
    if dims == 1:
        wanted = wanted[0]
    assert_same(both(shape, lambda F, x: getattr(F, f"adaptive_avg_pool{dims}d")(x, wanted), 0))
    assert_same(
        both(shape, lambda F, x: getattr(F, f"adaptive_max_pool{dims}d")(x, wanted, return_indices=True), 0)
    )


@generated(100)
@given(st.integers(2, 3), st.sampled_from(["float32", "float64"]), st.integers(0, 9999), st.data())
def test_windows_by_chance_are_drawn_alike(dims, dtype, seed, data):
    shape = (2, 2, *[data.draw(st.integers(4, 9)) for _ in range(dims)])
    kernel = tuple(data.draw(st.integers(1, 3)) for _ in range(dims))
    wanted = tuple(data.draw(st.integers(1, n - k + (dims == 2))) for n, k in zip(shape[2:], kernel, strict=True))
    array = np.random.default_rng(seed).normal(size=shape).astype(dtype)
    found = []
    for engine in (reference, glassgrad):
        engine.manual_seed(seed)
        pool = getattr(engine.nn.functional, f"fractional_max_pool{dims}d")
        values, places = pool(engine.from_numpy(array.copy()), kernel, wanted, return_indices=True)
        found.append((values.numpy(), places.numpy()))
    np.testing.assert_array_equal(found[0][0], found[1][0])
    np.testing.assert_array_equal(found[0][1], found[1][1])


# -- refusals ----------------------------------------------------------------------------------------------------------

REFUSALS = """
max_pool1d(ones(4), 2)
max_pool1d(ones(1, 1, 2, 4), 2)
max_pool1d(ones(2, 3, 4), 5)
max_pool1d(ones(2, 3, 4), 2, padding=2)
max_pool1d(ones(2, 3, 4), 0)
max_pool1d(ones(2, 3, 4), 2, 0)
max_pool1d(ones(2, 3, 4), 2, padding=-1)
max_pool1d(ones(2, 3, 4), 2, dilation=0)
max_pool1d(ones(2, 3, 4), 2, dilation=8)
max_pool1d(ones(2, 3, 4), (2, 2))
max_pool1d(ones(2, 3, 4), 2, (1, 1))
max_pool1d(ones(2, 3, 4), 2, 2, (1, 1))
max_pool1d(ones(2, 3, 4), 2, 2, 0, (1, 1))
max_pool1d(ones(2, 3, 4), 2.0)
max_pool1d(ones(2, 0, 4), 2)
max_pool1d(ones(4), 2, return_indices=True)
max_pool1d(ones(2, 3, 4), 5, return_indices=True)
max_pool1d(ones(2, 3, 4), (2, 2), return_indices=True)
max_pool1d(ones(2, 3, 4), 2.5, return_indices=True)
max_pool2d(ones(4, 4), 2)
max_pool2d(ones(1, 1, 1, 4, 4), 2)
max_pool2d(ones(2, 3, 4, 4), (2, 5))
max_pool2d(ones(2, 3, 4, 4), 3, padding=(1, 2))
max_pool2d(ones(2, 3, 9, 9), 2, 2, 2, 4)
max_pool2d(ones(2, 3, 4, 4), 0)
max_pool2d(ones(2, 3, 4, 4), 0, 1)
max_pool2d(ones(2, 3, 4, 4), -2)
max_pool2d(ones(2, 3, 4, 4), 2, -1)
max_pool2d(ones(2, 3, 4, 4), 2, dilation=0)
max_pool2d(ones(2, 3, 4, 4), 2, padding=-1)
max_pool2d(ones(2, 3, 4, 4), (2, 2, 2))
max_pool2d(ones(2, 3, 4, 4), 2, (1, 1, 1))
max_pool2d(ones(2, 3, 4, 4), 2, 2, (0, 0, 0))
max_pool2d(ones(2, 3, 4, 4), 2, 2, 0, (1, 1, 1))
max_pool2d(ones(2, 3, 4, 4), (2, 2.5))
max_pool2d(ones(2, 3, 4, 4), (2.5, 2))
max_pool2d(ones(2, 3, 4, 4), 2, 2, None)
max_pool2d(ones(2, 3, 4, 4), None)
max_pool2d(ones(2, 3, 4, 4), ())
max_pool2d(ones(2, 3, 4, 4), True)
max_pool2d(ones(2, 3, 4, 4), 2, ceil_mode=1)
max_pool2d([1], 2)
max_pool2d(ones(2, 0, 4, 4), 2)
max_pool3d(ones(3, 4, 4), 2)
max_pool3d(ones(1, 3, 4, 4, 4), 5)
max_pool3d(ones(3, 9, 9, 9), 2, 2, 2, 4)
max_pool3d(ones(1, 3, 4, 4, 4), 2, dilation=0)
max_pool3d(ones(1, 3, 4, 4, 4), (2, 2))
max_pool3d(ones(1, 0, 4, 4, 4), 2)
avg_pool1d(ones(4), 2)
avg_pool1d(ones(2, 3, 4), 5)
avg_pool1d(ones(2, 3, 4), 2, padding=2)
avg_pool1d(ones(2, 3, 4), (2, 2))
avg_pool1d(ones(2, 3, 4), 2, -1)
avg_pool1d(ones(2, 0, 4), 2)
avg_pool2d(ones(4, 4), 2)
avg_pool2d(ones(1, 1, 1, 4, 4), 2)
avg_pool2d(ones(2, 3, 4, 4), 5)
avg_pool2d(ones(2, 3, 4, 4), 2, divisor_override=0)
avg_pool2d(ones(2, 3, 4, 4), 2, divisor_override=2.5)
avg_pool2d(ones(2, 3, 4, 4), (2, 2, 2))
avg_pool2d(ones(2, 3, 4, 4), 2, None)
avg_pool3d(ones(3, 4, 4), 2)
avg_pool3d(ones(1, 3, 4, 4, 4), 5)
avg_pool3d(ones(1, 3, 4, 4, 4), (2, 2))
avg_pool3d(ones(1, 3, 0, 4, 4), 2)
adaptive_avg_pool1d(ones(4), 2)
adaptive_avg_pool1d(ones(2, 3, 4), (2, 2))
adaptive_avg_pool1d(ones(2, 3, 4), -1)
adaptive_avg_pool1d(ones(2, 3, 4), 0)
adaptive_avg_pool1d(ones(2, 3, 0), 2)
adaptive_avg_pool1d(ones(2, 3, 4), None)
adaptive_avg_pool2d(ones(4, 4), 2)
adaptive_avg_pool2d(ones(4, 4), (2, 2))
adaptive_avg_pool2d(ones(2, 3, 4, 4), (2, 2, 2))
adaptive_avg_pool2d(ones(2, 3, 4, 4), (-1, 2))
adaptive_avg_pool2d(ones(2, 3, 4, 4), (0, 2))
adaptive_avg_pool2d(ones(2, 3, 0, 4), 2)
adaptive_avg_pool2d(ones(2, 3, 4, 4), 2.5)
adaptive_avg_pool2d(ones(2, 3, 4, 4), (2, 2.5))
adaptive_avg_pool3d(ones(3, 4, 4), 2)
adaptive_avg_pool3d(ones(2, 3, 4, 4, 4), (2, -2, 2))
adaptive_max_pool1d(ones(4), 2)
adaptive_max_pool1d(ones(2, 3, 4), -1)
adaptive_max_pool1d(ones(2, 3, 0), 2)
adaptive_max_pool2d(ones(4, 4), 2)
adaptive_max_pool2d(ones(2, 3, 4, 4), (2, 2, 2))
adaptive_max_pool2d(ones(2, 3, 4, 4), (2,))
adaptive_max_pool2d(ones(2, 3, 4, 4), (0, 2))
adaptive_max_pool3d(ones(2, 3, 4, 0, 4), 2)
max_unpool1d(ones(4), zeros(4), 2)
max_unpool1d(ones(2, 3, 4), zeros(2, 3, 3), 2)
max_unpool1d(ones(2, 3, 4), zeros(2, 3, 4) + 99, 2)
max_unpool1d(ones(2, 3, 4), zeros(2, 3, 4), 2, output_size=(11,))
max_unpool1d(ones(2, 3, 4), zeros(2, 3, 4), 2, output_size=(11, 1))
max_unpool1d(ones(2, 3, 4), zeros(2, 3, 4), 2, padding=20)
max_unpool2d(ones(2, 3, 4, 4), zeros(2, 3, 4, 4).int(), 2)
max_unpool2d(ones(2, 3, 4, 4), zeros(2, 3, 4, 4) - 1, 2)
max_unpool2d(ones(2, 3, 0, 4), zeros(2, 3, 0, 4), 2)
max_unpool3d(ones(2, 3, 4, 4, 4), zeros(2, 3, 4, 4, 4).int(), 2)
max_unpool3d(ones(2, 3, 4, 4, 4), zeros(2, 3, 4, 4, 4), 2, 0)
max_unpool3d(ones(4, 4, 4), zeros(4, 4, 4), 2)
fractional_max_pool2d(ones(2, 3, 8, 8), 3)
fractional_max_pool2d(ones(2, 3, 8, 8), 3, output_ratio=(0.5, 0.5, 0.5))
fractional_max_pool2d(ones(2, 3, 8, 8), 3, output_size=(9, 2))
fractional_max_pool2d(ones(2, 3, 8, 8), 3, output_size=(6, 7))
fractional_max_pool2d(ones(8, 8), 3, output_size=1)
fractional_max_pool2d(ones(3, 8, 8), (3, 3, 3), output_size=2)
fractional_max_pool2d(ones(2, 3, 8, 8), 3, 2, _random_samples=ones(2, 3, 3))
fractional_max_pool2d(ones(2, 3, 8, 8), 3, 2, _random_samples=ones(2, 2, 2))
fractional_max_pool2d(ones(2, 3, 8, 8), 3, 2, _random_samples=ones(1, 3, 2))
fractional_max_pool2d(ones(2, 3, 8, 8), 3, 2, _random_samples=ones(2, 3, 2).double())
fractional_max_pool3d(ones(2, 3, 8, 8, 8), 3)
fractional_max_pool3d(ones(2, 3, 8, 8, 8), 3, output_size=(2, 9, 2))
fractional_max_pool3d(ones(2, 3, 8, 0, 8), 3, output_size=2)
lp_pool2d(ones(2, 3, 8, 8), 0, 2)
local_response_norm(ones(2, 3), 3)
local_response_norm(ones(2, 0, 3), 3)
"""


@pytest.mark.parametrize("call", REFUSALS.split("\n")[1:-1])
def test_refusals(call):
    def program(torch, show):
        names = {"ones": torch.ones, "zeros": lambda *sizes: torch.zeros(*sizes, dtype=torch.int64)}
        show.error(lambda: eval(f"F.{call}", {"F": torch.nn.functional, **names}))

    check(program)


def test_refusals_of_layers():
    def program(torch, show):
        nn = torch.nn
        for build in (
            lambda: nn.FractionalMaxPool2d(2), lambda: nn.FractionalMaxPool3d(2),
            lambda: nn.FractionalMaxPool2d(2, 3, 0.5), lambda: nn.FractionalMaxPool2d(2, output_ratio=(0.5, 1.5)),
            lambda: nn.FractionalMaxPool3d(0, 2), lambda: nn.FractionalMaxPool3d(2, output_ratio=0),
            lambda: nn.CrossMapLRN2d(3)(torch.ones(2, 3, 4)),
        ):  # fmt: skip
            show.error(build)

    check(program)


def test_on_meta():
    x = glassgrad.empty(2, 3, 64, 48, device="meta")
    F = glassgrad.nn.functional
    for made in (F.max_pool2d(x, 3, 2, 1), F.avg_pool2d(x, 3, 2, 1), F.max_pool2d(x, 3, 2, 1, return_indices=True)[1]):
        assert made.device.type == "meta" and tuple(made.shape) == (2, 3, 32, 24)
    assert tuple(F.adaptive_avg_pool2d(x, (5, 7)).shape) == (2, 3, 5, 7)
