"""Gradients of large elementwise operations: what the same operation gives for small pieces, bit for bit."""

import contextlib
import math

import numpy as np
import pytest

import glassgrad as torch
from glassgrad.core.row import TABLE
from glassgrad.fast import generate, large

PIECE = 33_003  # whose kernels are those of large arrays
MANY = PIECE * (large.LARGE // PIECE + 2)
ROWS = sorted(name for name, row in TABLE.items() if row.ufunc is not None)
SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 1e-40]


def _numbers(seed, kind):
    draw = np.random.default_rng(seed)
    found = draw.normal(size=MANY)
    found[:64] = np.resize(SPECIAL, 64) if seed % 2 else np.repeat(SPECIAL, 8)
    return found.astype(kind)


def _gradients(function, arrays, weight):
    inputs = [torch.from_numpy(array.copy()).requires_grad_() for array in arrays]
    function(*inputs).backward(torch.from_numpy(weight.copy()))
    return [tensor.grad.numpy() for tensor in inputs]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("kind", ["f4", "f8"])
@pytest.mark.parametrize("name", ROWS)
def test_pieces_give_the_same_gradients(name, kind, threads):
    """Of every row that goes this way, at special values too."""
    function, count = getattr(torch, name), len(TABLE[name].inputs)
    arrays, weight = [_numbers(seed, kind) for seed in range(count)], _numbers(9, kind)
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        whole = _gradients(function, arrays, weight)
    finally:
        torch.set_num_threads(before)
    pieces = [
        _gradients(function, [array[n : n + PIECE] for array in arrays], weight[n : n + PIECE])
        for n in range(0, MANY, PIECE)
    ]
    for found, parts in zip(whole, zip(*pieces, strict=True), strict=True):
        np.testing.assert_array_equal(found, np.concatenate(parts))


def test_operands_and_gradients_stay_as_they_are():
    """A rule writes over what it has made alone: not over gradients, not over what records keep."""
    x, y, g = (torch.from_numpy(_numbers(seed, "f4")) for seed in (2, 4, 6))
    x.requires_grad_(), y.requires_grad_()
    kept = [tensor.detach().numpy().copy() for tensor in (x, y, g)]
    made = (x * y) / y - x
    copy = made.detach().numpy().copy()
    made.backward(g, retain_graph=True)
    once = [tensor.grad.numpy().copy() for tensor in (x, y)]
    x.grad = y.grad = None
    made.backward(g)
    for tensor, before in zip((x, y, g), kept, strict=True):
        np.testing.assert_array_equal(tensor.detach().numpy(), before)
    np.testing.assert_array_equal(made.detach().numpy(), copy)
    for tensor, before in zip((x, y), once, strict=True):
        np.testing.assert_array_equal(tensor.grad.numpy(), before)


@pytest.mark.parametrize(
    "function",
    [
        lambda x, row: (x * row).sum(),  # an expanded gradient
        lambda x, row: (x.T / (row.T + 3)).exp().sum(),
        lambda x, row: ((2.0 - x) * 3 + row / 7).tanh().mean(),
        lambda x, row: (x[:, ::2] * row[:, ::2]).sqrt().nansum(),
    ],
)
def test_broadcast_and_strided(function):
    """Shapes and layouts that the threads do not take are NumPy's; double precision says how near."""
    draw = np.random.default_rng(0)
    rows = MANY // 100 + 1
    arrays = draw.uniform(0.5, 1.5, (rows, 200)), draw.uniform(0.5, 1.5, (1, 200))
    found = []
    for kind in ("f4", "f8"):
        inputs = [torch.from_numpy(array.astype(kind)).requires_grad_() for array in arrays]
        function(*inputs).backward()
        found.append([tensor.grad.numpy() for tensor in inputs])
    for single, double in zip(*found, strict=True):
        np.testing.assert_allclose(single, double, rtol=2e-4, atol=1e-6 * np.abs(double).max())


def test_second_derivatives_and_words():
    """Rules on tensors are the same; a record that was freed says so."""
    x = torch.from_numpy(_numbers(2, "f8")[64:]).requires_grad_()
    (slope,) = torch.autograd.grad((x * x * x).sum(), x, create_graph=True)
    slope.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), 6 * x.detach().numpy(), rtol=1e-12)
    y = x.exp()
    y.sum().backward()
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        y.sum().backward()


@pytest.mark.parametrize("name", [name for name in ROWS if TABLE[name].settings])
def test_a_tensor_without_dimensions_is_read_as_a_number(name):
    """Among the settings, as in calls of small arrays; what is no number is refused in the same words."""
    x, y = (torch.from_numpy(_numbers(seed, "f4")) for seed in (2, 4))
    function = getattr(torch, name)
    function(x, y), function(x, y)  # the first call does not print the row's code
    for setting in TABLE[name].settings:
        given = function(x, y, **{setting: torch.tensor(2.0)}).numpy()
        np.testing.assert_array_equal(given, function(x, y, **{setting: 2.0}).numpy())
        with pytest.raises(TypeError, match="must be Number, not str"):
            function(x, y, **{setting: "two"})


@pytest.mark.parametrize("rows", [6, 60_000])
@pytest.mark.parametrize(
    "function",
    [lambda w, s: w * s, lambda w, s: s / 4 - w * 2, lambda w, s: w - s, lambda w, s: (w + 2 * s).exp().tanh()],
)
def test_gradients_that_are_sparse(function, rows):
    """Of what a large table is made of: as those of a small one."""
    for _ in range(2):  # the first call does not print the row's code
        table, scale = torch.full((rows, 3), 2.0, requires_grad=True), torch.ones(rows, 1, requires_grad=True)
        looked = torch.nn.functional.embedding(torch.tensor([[1, 2], [1, 4]]), function(table, scale), sparse=True)
        looked.sum().backward()
    dense = [tensor.detach()[:6].clone().requires_grad_() for tensor in (table, scale)]
    torch.nn.functional.embedding(torch.tensor([[1, 2], [1, 4]]), function(*dense)).sum().backward()
    for tensor, wanted in zip((table, scale), dense, strict=True):
        np.testing.assert_allclose(tensor.grad.to_dense()[:6].numpy(), wanted.grad.numpy(), rtol=1e-6)


def test_rules_with_names_of_their_own_are_refused():
    """A name might read twice what is written over."""

    def rule(grad):
        twice = grad + grad
        return twice * 2 + twice

    with pytest.raises(TypeError, match="names of its own"):
        large.on_large(rule, rule)
    assert "mul_run_large" in generate.source("mul")


# -- in place ----------------------------------------------------------------------------------------------------------

MIDDLE = 5000  # elements that a ufunc writes over its operand without threads


@pytest.mark.parametrize("size", [100, MIDDLE, MANY])
@pytest.mark.parametrize("kind", ["f4", "f8"])
@pytest.mark.parametrize("name", [name for name in ROWS if hasattr(torch.Tensor, name + "_")])
def test_in_place_gives_the_bits_of_the_function(name, kind, size):
    """Of tensors and of numbers, and of a tensor with itself."""
    numbers = [_numbers(seed, kind)[:size] for seed in range(len(TABLE[name].inputs))]
    cases = [numbers] if len(numbers) == 1 else [numbers, [numbers[0], 3.0], [numbers[0], numbers[1][:1]]]
    for x, *others in cases:
        others = [torch.from_numpy(other.copy()) if type(other) is np.ndarray else other for other in others]
        tensor = torch.from_numpy(x.copy())
        expected = getattr(torch, name)(tensor, *others).numpy()
        assert getattr(tensor, name + "_")(*others) is tensor and tensor._version == 1
        assert tensor.numpy().tobytes() == expected.tobytes()
    if len(numbers) == 2:
        tensor = torch.from_numpy(numbers[0].copy())
        expected = getattr(torch, name)(tensor, tensor).numpy()
        assert getattr(tensor, name + "_")(tensor).numpy().tobytes() == expected.tobytes()


@pytest.mark.parametrize("size", [MIDDLE, MANY])
@pytest.mark.parametrize("begin", [0, 1])
def test_operands_on_the_same_memory(begin, size):
    """Two tensors made of one array, of which the graph knows nothing."""
    array = np.arange(size + 1, dtype=np.float32)
    expected = array[:size] + array[begin : begin + size]
    torch.from_numpy(array[:size]).add_(torch.from_numpy(array[begin : begin + size]))
    np.testing.assert_array_equal(array[:size], expected)


@pytest.mark.parametrize("size", [MIDDLE, MANY])
def test_a_refused_write_changes_nothing(size):
    """Operands of other sizes and errors that NumPy was asked for; nor does a write to what is no whole array fail."""
    x = torch.ones(size)
    with pytest.raises(RuntimeError, match="broadcast shape|match the size"):
        x.add_(torch.ones(3, size))
    with pytest.raises(RuntimeError, match="must match the size"):
        x.add_(torch.ones(size - 1))
    assert x._version == 0 and (x == 1).all()
    with np.errstate(all="raise"), contextlib.suppress(FloatingPointError):
        x.div_(0.0)
    assert (x._version, x[0].item()) in [(0, 1.0), (1, math.inf)] and (x == x[0]).all()  # written whole, or not at all
    wide = torch.zeros(size, 2)
    wide[:, 0].add_(1.0)
    wide.t().mul_(3.0)
    assert (wide[:, 0] == 3).all() and (wide[:, 1] == 0).all()
