"""Values at the edges of operations: numbers that fit badly, zeros, infinities, nothing at all; beside PyTorch."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import glassgrad
from tests.torch_reference import torch

pytestmark = pytest.mark.torch


def both(program: Any) -> tuple[Any, Any]:
    """What a function of the engine gives in PyTorch and here: nested lists and text, or the error's type and words."""
    outcomes = []
    for engine in (torch, glassgrad):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                outcomes.append(plain(program(engine), engine))
        except (RuntimeError, ValueError, TypeError, IndexError, NotImplementedError) as error:
            outcomes.append(type(error).__name__)
    return outcomes[0], outcomes[1]


def plain(value: Any, engine: Any) -> Any:
    if isinstance(value, engine.Tensor):
        value = value.detach()
        numbers = value if value.dtype != engine.bfloat16 else value.double()
        return str(value.dtype).split(".")[1], tuple(value.shape), np.asarray(numbers.resolve_conj().tolist())
    if isinstance(value, list | tuple):
        return [plain(piece, engine) for piece in value]
    return value


def agree(pair: tuple[Any, Any], digits: float = 0.0) -> bool:
    wanted, actual = pair
    if isinstance(wanted, np.ndarray):
        return bool(np.allclose(actual, wanted, rtol=digits, atol=digits, equal_nan=True))
    if isinstance(wanted, list | tuple):
        return (
            isinstance(actual, list | tuple)
            and len(wanted) == len(actual)
            and all(agree(pieces, digits) for pieces in zip(wanted, actual, strict=True))
        )
    return bool(wanted == actual)


# -- ranges ------------------------------------------------------------------------------------------------------------

WHOLE = ("int64", "int32", "int16", "int8", "uint8")


@pytest.mark.parametrize("kind", [*WHOLE, "float16", "bfloat16"])
@pytest.mark.parametrize("name", ["linspace", "logspace"])
def test_numbers_between_two_ends_are_cut_off_where_pytorch_cuts_them(name, kind):
    draw = np.random.default_rng(len(kind))
    for _ in range(60):
        most = 6 if name == "logspace" else 120
        start, end = (float(v) if draw.random() < 0.4 else int(v) for v in draw.uniform(0, most, 2).round(2))
        steps = int(draw.choice([0, 1, 2, 3, 7, 10, 101]))
        more = {} if name == "linspace" else {"base": float(draw.choice([2, 10, 1.5, 0.5]))}
        pair = both(lambda t: getattr(t, name)(start, end, steps, dtype=getattr(t, kind), **more))  # noqa: B023
        assert agree(pair, 0 if name == "linspace" or kind in WHOLE else 2e-2), (name, start, end, steps, more, *pair)


@pytest.mark.parametrize("kind", WHOLE)
def test_whole_ranges_have_as_many_numbers_as_pytorch_counts(kind):
    draw = np.random.default_rng(len(kind))
    for _ in range(100):
        start, end, step = (float(v) if draw.random() < 0.5 else int(v) for v in draw.uniform(-20, 100, 3).round(2))
        step = step / 20 if end >= start else -abs(step / 20)
        pair = both(lambda t: t.arange(start, end, step, dtype=getattr(t, kind)))  # noqa: B023
        assert agree(pair), (start, end, step, *pair)


@pytest.mark.parametrize(
    "arguments", [(-5, 300, 3), (-1, 4, 3), (-1.4, 3, 3), (-1.4, 3, 1), (2.5, 1e30, 2), (-1, 4, 0)]
)
@pytest.mark.parametrize("name", ["linspace", "logspace"])
def test_ends_that_do_not_fit_are_refused(name, arguments):
    for kind in ("uint8", "int8", "int64"):
        assert agree(both(lambda t: getattr(t, name)(*arguments, dtype=getattr(t, kind)))), kind  # noqa: B023


# -- nothing at all ----------------------------------------------------------------------------------------------------

EMPTY = """
F.softmax(x, -1)
F.log_softmax(x, 0)
F.layer_norm(x, x.shape[-1:])
F.layer_norm(x, x.shape, t.ones(x.shape), t.ones(x.shape))
F.batch_norm(x, None, None, training=True)
F.batch_norm(x, t.zeros(x.shape[0]), t.ones(x.shape[0]))
F.instance_norm(x)
F.group_norm(x, 2)
F.adaptive_avg_pool1d(x.detach(), 3)
F.adaptive_max_pool1d(x, 3)
F.interpolate(x, size=3, mode="linear")
F.cross_entropy(x, t.zeros(x.shape[0]).long())
t.gather(x, 0, t.zeros(x.shape).to(t.uint8))
t.searchsorted(x, x)
t.unique_consecutive(x.detach(), dim=0)
t.unique(x.detach(), dim=-1)
t.median(x.long())
t.mode(x)
t.kthvalue(x, 1)
t.cumulative_trapezoid(x)
t.masked.softmax(x, -1, mask=x > 0)
t.diff(x, 0, 0, t.zeros(x.shape))
"""
SIZES = [(0, 4, 6), (2, 0, 6), (2, 4, 0), (0, 6), (4, 0), (0,), (0, 0)]
VOLUMES = """
F.adaptive_avg_pool3d(x, (5, 7, 4))
F.adaptive_max_pool3d(x, 3)
F.interpolate(x, scale_factor=2, mode="trilinear")
F.grid_sample(x, t.zeros(x.shape[0], 3, 3, 3, 3), align_corners=False)
F.conv3d(x, t.ones(2, 4, 3, 3, 3))
"""


@pytest.mark.parametrize(
    ("expression", "sizes"),
    [(line, sizes) for line in EMPTY.strip().splitlines() for sizes in SIZES]
    + [(line, sizes) for line in VOLUMES.strip().splitlines() for sizes in [(0, 4, 6, 6, 6), (2, 0, 6, 6, 6)]],
)
def test_of_nothing_is_made_what_pytorch_makes(expression, sizes):
    def program(t: Any) -> Any:
        x = t.zeros(sizes, requires_grad=True)
        value = eval(expression, {"t": t, "F": t.nn.functional, "x": x})  # noqa: S307  the expressions are the tests' own
        if isinstance(value, t.Tensor) and value.requires_grad:
            return value, t.autograd.grad(value.sum(), x)[0]
        return value

    pair = both(program)
    assert agree(pair), pair


# -- integers ----------------------------------------------------------------------------------------------------------

INTEGERS = """
F.l1_loss(x, y)
F.smooth_l1_loss(x, y)
F.mse_loss(x, y)
F.kl_div(x, y)
F.soft_margin_loss(x, y)
F.binary_cross_entropy_with_logits(x, y)
F.hinge_embedding_loss(x, y.sign())
F.margin_ranking_loss(x, y, y.sign(), margin=1)
F.cosine_embedding_loss(x, y, y[:, 0].sign())
F.triplet_margin_loss(x, y, x + y, margin=1)
F.poisson_nll_loss(x, y, full=True)
F.nll_loss(x, y[:, 0])
F.multi_margin_loss(x, y[:, 0])
F.pairwise_distance(x, y)
F.pdist(x)
F.prelu(x, x[0])
F.rms_norm(x, (4,))
t.cdist(x, y)
t.dist(x, y, 1)
t.trapezoid(x)
t.trapezoid(x, y)
t.trapezoid(x, dx=2)
t.cumulative_trapezoid(x, dx=0.5)
t.mean(x)
t.logit(x)
"""


@pytest.mark.parametrize("kind", ["int64", "uint8"])
@pytest.mark.parametrize("expression", INTEGERS.strip().splitlines())
def test_integers_become_the_default_dtype_or_are_refused(expression, kind):
    def program(t: Any) -> Any:
        x = t.tensor([[1, 2, 3, 4], [0, 5, 2, 2], [3, 3, 1, 7]], dtype=getattr(t, kind))
        y = t.tensor([[2, 0, 1, 1], [4, 5, 2, 0], [1, 1, 1, 6]], dtype=getattr(t, kind))
        return eval(expression, {"t": t, "F": t.nn.functional, "x": x, "y": y})  # noqa: S307  the tests' own

    pair = both(program)
    assert agree(pair, 1e-5), pair


# -- infinite and complex ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "expression", ["x**y", "x.clone().pow_(y)", "x**4", "x**0", "1**x", "x.exp2()", "x.sgn()", "x.log1p()"]
)
def test_complex_functions_of_huge_and_tiny_numbers(expression):
    parts = [0.0, -0.0, 1.0, -3.0, 1e-30, 1e20, 88.0, -90.0]
    numbers = np.array([complex(a, b) for a in parts for b in parts], np.complex64)
    exponents = np.random.default_rng(3).permutation(numbers)
    wanted, actual = both(lambda t: eval(expression, {"x": t.tensor(numbers), "y": t.tensor(exponents)}))  # noqa: S307
    for part in ("real", "imag"):
        np.testing.assert_allclose(getattr(actual[2], part), getattr(wanted[2], part), rtol=1e-4)


@pytest.mark.parametrize("kind", ["bfloat16", "float16", "float32", "int32"])
def test_powers_of_two_are_rounded_as_their_exponents_are(kind):
    def program(t: Any) -> Any:
        x = t.tensor([1.0, -3.0, 1.2345], dtype=t.float32)[:, None]
        return t.ldexp(x, t.tensor([0, 3, 127, -126, 9, -9] * 3).reshape(3, 6).to(getattr(t, kind)))

    assert agree(both(program))
    if kind != "int32":
        fractions = both(lambda t: t.ldexp(t.ones(2), t.tensor([2.5, -3.25], dtype=getattr(t, kind))))
        assert agree(fractions, 1e-6), fractions


@pytest.mark.parametrize("kind", ["int64", "int8", "float32"])
def test_second_slopes_of_products_with_powers_of_two(kind):
    """Of negative whole exponents too, whose powers PyTorch takes for zero."""
    x = glassgrad.tensor([0.5, 1.5, -2.0], requires_grad=True)
    exponents = [-3, 1, 4]
    product = glassgrad.ldexp(x, glassgrad.tensor(exponents, dtype=getattr(glassgrad, kind)))
    (slope,) = glassgrad.autograd.grad((product * product).sum(), x, create_graph=True)
    slope.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), [2.0 * 4.0**n for n in exponents], rtol=1e-6)


@pytest.mark.parametrize("name", ["i0", "i1", "i0e", "i1e"])
@pytest.mark.parametrize("at", [0.0, 1.5, -30.0])
def test_bessel_functions_of_one_number_have_second_derivatives(name, at):
    pytest.importorskip("scipy")

    def program(t: Any) -> Any:
        x = t.tensor(at, dtype=t.float64, requires_grad=True)
        (slope,) = t.autograd.grad(getattr(t.special, name)(x), x, create_graph=True)
        return slope, t.autograd.grad(slope, x)[0]

    pair = both(program)
    assert agree(pair, 1e-9), pair


@pytest.mark.parametrize("sizes", [(3, 5, 2), (3, 20, 1), (5, 3, 1), (4, 4, 2), (4, 4, 4)])
def test_pseudoinverses_of_matrices_that_lack_rank(sizes):
    rows, columns, rank = sizes
    draw = np.random.default_rng(0)
    left, right = draw.normal(size=(rows, rank)), draw.normal(size=(columns, rank))

    def program(t: Any) -> Any:
        a, b = (t.tensor(factor, requires_grad=True) for factor in (left, right))
        inverse = t.linalg.pinv(a @ b.mT)
        weights = t.linspace(-1, 1, rows * columns, dtype=t.float64).reshape(columns, rows)
        return inverse, *t.autograd.grad((inverse * weights).sum(), (a, b))

    assert agree(both(program), 1e-9)


@pytest.mark.parametrize(
    "size,stride,offset", [((2,), (0,), 1), ((3,), (1,), None), ((3, 3), (1, 1), 0), ((2, 3), (3, 1), 2)]
)
@pytest.mark.parametrize("base", ["x.reshape(2, 6).t()", "x[2:].reshape(2, 5)", "x.reshape(3, 4)", "x.expand(2, 12)"])
def test_gradients_of_windows_lie_where_the_memory_says(base, size, stride, offset):
    def program(t: Any) -> Any:
        x = t.arange(12.0, dtype=t.float64).requires_grad_()
        seen = eval(base, {"x": x}).as_strided(size, stride, offset)  # noqa: S307
        weights = t.arange(1.0, seen.numel() + 1, dtype=t.float64).reshape(seen.shape)
        (slope,) = t.autograd.grad((seen**3 * weights).sum(), x, create_graph=True)
        return seen, slope, t.autograd.grad((slope**2).sum(), x)[0]

    pair = both(program)
    assert agree(pair, 1e-9), pair


# -- products with one element ---------------------------------------------------------------------------------------


ONE_ZERO = """
a @ z|a @ z[0]|z @ a.T|t.mm(a, z)|t.mv(a, z[0])|t.addmm(z, a, z)|t.tensordot(a, z[0], 1)|t.inner(a, z)
t.nn.functional.linear(a, z, z[0])|t.nn.functional.linear(a, z)|t.einsum('ij,jk', a, z)
""".strip().replace("\n", "|").split("|")


@pytest.mark.parametrize("kind", ["float32", "float64", "float16", "complex64"])
@pytest.mark.parametrize("expression", ONE_ZERO)
def test_what_is_no_number_stays_so_in_products_with_one_zero(expression, kind):
    def program(t: Any) -> Any:
        a = t.tensor([[float("nan")], [float("inf")], [1.0]]).to(getattr(t, kind))
        return eval(expression, {"t": t, "a": a, "z": t.zeros(1, 1, dtype=a.dtype)})  # noqa: S307  the tests' own

    pair = both(program)
    assert agree(pair), pair
