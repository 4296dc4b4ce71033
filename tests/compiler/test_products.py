"""Large products in compiled programs: the kernel, and what it takes along."""

import threading

import numpy as np
import pytest

import glassgrad as torch
from glassgrad import nn
from glassgrad.compiler.products import _multiplied
from glassgrad.kernels import compiled

from .both_ways import programs, training

pytest.importorskip("numba", reason="Numba is not installed: no product is compiled")
tiles = pytest.importorskip("glassgrad.kernels.native.tiles")
RNG = np.random.default_rng(0)
wide = pytest.mark.skipif(tiles.HEIGHT != 8, reason="vectors of this processor are narrow: products are left to BLAS")


def matrix(rows, columns, kind, turned):
    made = RNG.standard_normal((columns, rows) if turned else (rows, columns)).astype(kind)
    return made.T if turned else made


@pytest.fixture(params=[1, 2])
def threads(request):
    before = torch.get_num_threads()
    torch.set_num_threads(request.param)
    yield request.param
    torch.set_num_threads(before)


@pytest.mark.parametrize("sizes", [(1, 1, 1), (8, 16, 32), (9, 300, 17), (257, 65, 128), (40, 600, 65)])
@pytest.mark.parametrize("turned", [(False, False), (False, True), (True, False), (True, True)])
@pytest.mark.parametrize("kind", ["f4", "f8"])
def test_products_are_products(sizes, turned, kind, threads):
    from glassgrad.families.matrix.native import product

    rows, depth, columns = sizes
    a, b = matrix(rows, depth, kind, turned[0]), matrix(depth, columns, kind, turned[1])
    exact = a.astype("f8") @ b.astype("f8")
    bound = (np.abs(a).astype("f8") @ np.abs(b).astype("f8")) * np.finfo(kind).eps * 16
    made = product(a, b)
    assert made.dtype == kind and made.flags.c_contiguous
    assert (np.abs(made - exact) <= bound).all()


def test_a_product_of_matrices_with_gaps_is_left_to_others():
    from glassgrad.families.matrix.native import product

    a = np.ones((32, 64), "f4")[:, ::2]
    assert product(a, np.ones((32, 16), "f4")) is None
    assert (_multiplied(a, np.ones((32, 16), "f4"), np.ones(16, "f4")) == 33).all()
    rows = np.ones((64, 32), "f4")[::2]
    assert (product(rows, np.ones((32, 16), "f4")) == 32).all()


def test_nan_and_infinity_go_where_they_go():
    from glassgrad.families.matrix.native import product

    a, b = np.ones((40, 32), "f4"), np.ones((32, 48), "f4")
    a[3, 5], a[7, 0], b[2, 20] = np.nan, np.inf, -np.inf
    with np.errstate(all="ignore"):
        assert np.array_equal(product(a, b), a @ b, equal_nan=True)


def test_bits_do_not_depend_on_threads():
    from glassgrad.families.matrix.native import product
    from glassgrad.families.reduce.native import columns

    a, b = matrix(777, 300, "f4", False), matrix(300, 160, "f4", True)
    before, found = torch.get_num_threads(), []
    for count in (1, 2):
        torch.set_num_threads(count)
        found.append([part.tobytes() for part in (product(a, b), columns(a))])
    torch.set_num_threads(before)
    assert found[0] == found[1]
    np.testing.assert_allclose(columns(a), a.sum(0, dtype="f8"), atol=1e-3)


def test_two_threads_may_multiply_at_once():
    from glassgrad.families.matrix.native import product

    pairs = [(matrix(200, 64 * n, "f4", False), matrix(64 * n, 48, "f4", True)) for n in (1, 2, 3, 4)]
    expected, wrong = [product(*pair).tobytes() for pair in pairs], []

    def work(n):
        for _ in range(100):
            if product(*pairs[n]).tobytes() != expected[n]:
                wrong.append(n)

    at_work = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in at_work:
        thread.start()
    for thread in at_work:
        thread.join()
    assert not wrong


class Layers(nn.Module):
    """Products with all that they take along: a bias, gelu, a sum; a head of no whole vectors."""

    def __init__(self, approximate, across):
        super().__init__()
        self.up, self.down = nn.Linear(64, 128), nn.Linear(128, 64, bias=False)
        self.norm, self.head, self.approximate = nn.LayerNorm(64), nn.Linear(64, across), approximate

    def forward(self, x):
        inner = nn.functional.gelu(self.up(self.norm(x)), approximate=self.approximate)
        return self.head(torch.tanh(x + self.down(inner)) * 0.5 + x)


def close(written, replayed):
    np.testing.assert_allclose(replayed["losses"], written["losses"], rtol=1e-5)
    for part in ("state", "gradients"):
        for name, value in written[part].items():
            np.testing.assert_allclose(replayed[part][name], value, rtol=1e-3, atol=2e-6, err_msg=name)


def both(model, shape, targets):
    with compiled.serving(compiled.LEAST):
        return training(
            model, lambda: (torch.randn(shape), torch.randn(targets)),
            lambda model, x, y: nn.functional.mse_loss(model(x), y), lambda p: torch.optim.SGD(p, 0.1),
            seen=lambda tensor: tensor.detach().numpy().copy(),
        )  # fmt: skip


@wide
@pytest.mark.parametrize(("approximate", "across"), [("tanh", 65), ("none", 64)])
def test_steps_with_products(approximate, across):
    written, replayed, step = both(lambda: Layers(approximate, across), (10, 100, 64), (10, 100, across))
    close(written, replayed)
    (program,) = programs(step)
    assert any(step.name == "product" for step in program.steps)
    assert not any(step.name in ("mm", "addmm") for step in program.steps)


@wide
def test_what_is_read_later_is_kept():
    """The product itself, views of it and what is made of it are given back, each with its own memory."""
    weight = torch.randn(64, 64)

    def function(x):
        product = x @ weight
        seen = product.view(4, 100, 64)
        more = seen * 2.0 + 1.0
        return product, more, (more.exp() * 0.1).sum()

    x = torch.randn(400, 64)
    with compiled.serving(compiled.LEAST):
        replayed = torch.compile(function)
        made = [replayed(x) for _ in range(4)]
    assert any(step.name == "product" for step in programs(replayed)[0].steps)
    for one, other in zip(made[-1], function(x), strict=True):
        np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=2e-3, atol=1e-4)
    made[2][0].zero_()
    assert made[3][0].abs().sum() > 0 and made[3][1].abs().sum() > 0


@wide
def test_a_program_with_a_small_batch_is_left_to_blas():
    step = torch.compile(nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 10)))
    with compiled.serving(compiled.LEAST), torch.no_grad():
        for _ in range(3):
            step(torch.randn(64, 784))
    assert not any(step.name == "product" for program in programs(step) for step in program.steps)
