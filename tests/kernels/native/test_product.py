"""Large eager products in register tiles: which they are, and that they are BLAS's to rounding."""

import threading

import numpy as np
import pytest

import glassgrad as torch
from glassgrad.ground import runtime
from glassgrad.kernels import compiled

pytest.importorskip("numba", reason="Numba is not installed: no product is compiled")
product = pytest.importorskip("glassgrad.families.matrix.native")
wide = pytest.mark.skipif(product.HEIGHT != 8, reason="vectors of this processor are narrow: BLAS has all products")
RNG = np.random.default_rng(0)


@wide
def test_large_products_are_served_and_others_left():
    a, b = RNG.standard_normal((256, 200)).astype("f4"), RNG.standard_normal((200, 128)).astype("f4")
    line = RNG.standard_normal(128).astype("f4")
    with compiled.serving(compiled.LEAST):
        np.testing.assert_allclose(product.served(a, b, line), a @ b + line, atol=1e-4)
        assert product.served(a, b, line.astype("f8")) is None
        np.testing.assert_allclose(product.served(a[:48], b), a[:48] @ b, atol=1e-4)
        assert product.served(a[:12], b) is None and product.served(a, b[:, :60]) is None
        np.testing.assert_allclose(product.served(a, b[:, :121], line[:121]), a @ b[:, :121] + line[:121], atol=1e-4)
        room = np.empty((256, 128), "f4")
        assert product.dot(a, b, room) is room and np.allclose(room, a @ b, atol=1e-4)
        assert product.served(a, b[:, :121], out=room[:, :121]) is None  # whole vectors only
        assert product.served(a[:16, :64], b[:64]) is None  # fewer multiplications than a million
        assert product.served(a, b.T) is None and product.served(a.astype("c8"), b.astype("c8")) is None


def test_gradients_of_a_linear_layer_are_those_of_blas():
    found = []
    for least in (compiled.LEAST, compiled.NEVER):
        torch.manual_seed(0)
        layer, x = torch.nn.Linear(256, 128), torch.randn(8, 40, 256, requires_grad=True)
        with compiled.serving(least):
            for _ in range(2):
                layer(x).square().sum().backward()
        assert layer.weight.grad.stride() == layer.weight.stride()
        found.append([p.grad.numpy() for p in (x, layer.weight, layer.bias)])
    for ours, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-2)


SIZES = [(1, 1, 1), (97, 193, 65), (130, 385, 150), (515, 70, 17), (33, 1, 31), (256, 128, 512)]


@pytest.mark.parametrize("kind", ["f4", "f8"])
@pytest.mark.parametrize("turned", [(False, False), (True, False), (False, True)], ids=["plain", "left", "right"])
def test_bits_do_not_depend_on_the_number_of_threads(kind, turned, monkeypatch):
    """Into how many blocks a product is cut does; its sums do not."""
    for rows, depth, columns in SIZES:
        a, b, line = (RNG.standard_normal(shape).astype(kind) for shape in ((rows, depth), (depth, columns), columns))
        left, right = (np.asfortranarray(x) if order else x for x, order in zip((a, b), turned, strict=True))
        found = []
        for count in (1, 2, 3, 16):
            monkeypatch.setattr(runtime, "get_num_threads", lambda count=count: count)
            found.append(product.product(left, right, bias=line))
        assert all((one == found[0]).all() for one in found)
        right_one = a.astype("f8") @ b.astype("f8") + line
        np.testing.assert_allclose(found[0], right_one, rtol=0, atol=depth * np.finfo(kind).eps * 10)


def test_lines_with_gaps_between_them_are_read_where_they_lie():
    wide, b = RNG.standard_normal((200, 300)).astype("f4"), RNG.standard_normal((100, 64)).astype("f4")
    for a in (wide[::2, 50:150], wide.T[50:150, ::2]):
        np.testing.assert_allclose(product.product(a, b), a @ b, atol=1e-4)
    assert product.product(wide[:, ::3], b) is None


def test_a_product_of_matrices_with_gaps_is_left_to_others():
    a = np.ones((32, 64), "f4")[:, ::2]
    assert product.product(a, np.ones((32, 16), "f4")) is None
    rows = np.ones((64, 32), "f4")[::2]
    assert (product.product(rows, np.ones((32, 16), "f4")) == 32).all()


def test_nan_and_infinity_go_where_they_go():
    a, b = np.ones((40, 32), "f4"), np.ones((32, 48), "f4")
    a[3, 5], a[7, 0], b[2, 20] = np.nan, np.inf, -np.inf
    with np.errstate(all="ignore"):
        assert np.array_equal(product.product(a, b), a @ b, equal_nan=True)


@pytest.mark.parametrize("sizes", [(1, 1, 1), (8, 16, 32), (9, 300, 17), (257, 65, 128), (40, 600, 65)])
@pytest.mark.parametrize("turned", [(False, False), (False, True), (True, False), (True, True)])
@pytest.mark.parametrize("kind", ["f4", "f8"])
def test_products_are_products(sizes, turned, kind):
    rows, depth, columns = sizes
    a, b = RNG.standard_normal((rows, depth)).astype(kind), RNG.standard_normal((depth, columns)).astype(kind)
    a, b = (np.asfortranarray(x) if order else x for x, order in zip((a, b), turned, strict=True))
    exact = a.astype("f8") @ b.astype("f8")
    bound = (np.abs(a).astype("f8") @ np.abs(b).astype("f8")) * np.finfo(kind).eps * 16
    made = product.product(a, b)
    assert made.dtype == kind and made.flags.c_contiguous
    assert (np.abs(made - exact) <= bound).all()


def test_two_threads_may_multiply_at_once():
    pairs = [(RNG.standard_normal((200, 64 * n)), RNG.standard_normal((64 * n, 48))) for n in (1, 2, 3, 4)]
    expected, wrong = [product.product(*pair).tobytes() for pair in pairs], []

    def work(n):
        for _ in range(100):
            if product.product(*pairs[n]).tobytes() != expected[n]:
                wrong.append(n)

    at_work = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in at_work:
        thread.start()
    for thread in at_work:
        thread.join()
    assert not wrong
