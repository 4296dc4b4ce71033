"""`paths`: products along paths, their sum, their number; on glassgrad's graphs and on torch's."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import glassgrad
from glassgrad.explore.paths import paths
from tests.counts import generated


@pytest.fixture(params=["glassgrad", pytest.param("torch", marks=pytest.mark.torch)])
def torch(request):
    if request.param == "glassgrad":
        return glassgrad
    from tests.torch_reference import torch

    return torch


def weights(torch):
    """The document's four lines with three weights: the names and tensors."""
    x1, x2 = torch.tensor(1.0), torch.tensor(2.0)
    w1, w2, w3 = (torch.tensor(value, requires_grad=True) for value in (1.0, 2.0, 3.0))
    x3, x4 = w1 * x1, w1 * x2
    x5 = w2 * x3 + w3 * x4
    return {"x1": x1, "x2": x2, "w1": w1, "w2": w2, "w3": w3, "x3": x3, "x4": x4, "x5": x5, "L": 1 - x5}


def test_the_document_s_weights(torch):
    names = weights(torch)
    assert str(paths(names["L"], names["w1"], names=names)) == (
        "dL/dw1: 2 paths from L back to w1\n"
        "  L -> RsubBackward1 -> AddBackward0 -> MulBackward0 #4 -> MulBackward0 #7 -> w1\n"
        "    -1 * 1 * w2 * x1 = -1 * 1 * 2 * 1 = -2\n"
        "  L -> RsubBackward1 -> AddBackward0 -> MulBackward0 #2 -> MulBackward0 #6 -> w1\n"
        "    -1 * 1 * w3 * x2 = -1 * 1 * 3 * 2 = -6\n"
        "  sum over 2 paths: -2 + -6 = -8"
    )


def test_it_changes_nothing(torch):
    names = weights(torch)
    before = paths(names["L"], names["w1"])
    assert names["w1"].grad is None
    assert not before.total.requires_grad
    names["L"].backward()
    assert names["w1"].grad == before.total


def test_a_result_in_between_can_be_the_end(torch):
    names = weights(torch)
    assert paths(names["L"], names["x3"], names=names).total.item() == -2
    assert paths(names["L"], names["x5"], names=names).total.item() == -1
    itself = paths(names["L"], names["L"], names=names)
    assert (itself.count, itself.total.item(), itself.paths[0].steps) == (1, 1, ())


def test_no_path(torch):
    names = weights(torch)
    apart = torch.tensor(1.0, requires_grad=True)
    for end in (apart, names["x1"], apart * 2):
        found = paths(names["L"], end, names={"L": names["L"], "apart": end})
        assert (found.count, found.paths, found.total) == (0, (), None)
        assert str(found) == "dL/dapart: no path leads from L back to apart"


def test_vectors_multiply_element_by_element(torch):
    x = torch.tensor([2.0, 3.0], requires_grad=True)
    z = torch.tensor([4.0, 5.0], requires_grad=True)
    y = x * z + x + z
    found = paths(y, x, names={"x": x, "y": y, "z": z})
    assert [path.value.tolist() for path in found.paths] == [[4, 5], [1, 1]]
    assert "[1, 1] * [1, 1] * z = [1, 1] * [1, 1] * [4, 5] = [4, 5]" in str(found)
    assert found.total.tolist() == [5, 6]


def test_broadcasts_and_matrix_products_are_carried(torch):
    torch.manual_seed(0)
    w = torch.randn(3, 2, requires_grad=True)
    b = torch.randn(3, requires_grad=True)
    x = torch.randn(4, 2)
    h = (x @ w.t() + b).relu()
    y = (h * h.sum(1, keepdim=True) / (1 + b.exp())).softmax(1)[:, 0].sum()
    expected = torch.autograd.grad(y, (w, b), retain_graph=True)
    for end, gradient in zip((w, b), expected, strict=True):
        found = paths(y, end)
        assert found.count == len(found.paths) > 1
        assert torch.allclose(found.total, gradient, atol=1e-6)
        assert all(path.value.shape == end.shape for path in found.paths)
    assert any(step.local is None for path in found.paths for step in path.steps)


def test_an_operation_with_several_outputs(torch):
    x = torch.tensor([2.0, 3.0], requires_grad=True)
    first, second = x.unbind()
    y = first * second + second
    found = paths(y, x)
    assert [path.value.tolist() for path in found.paths] == [[3, 0], [0, 2], [0, 1]]
    assert found.total.tolist() == [3, 3]
    assert paths(y, second).total.item() == 3
    assert paths(y, first).total.item() == 3


def test_a_custom_function(torch):
    class Cube(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x * x

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return grad * 3 * x * x

    x = torch.tensor(2.0, requires_grad=True)
    found = paths(Cube.apply(x) + x, x)
    assert [path.value.item() for path in found.paths] == [12, 1]


def test_two_to_the_hundred_paths_are_counted_not_walked(torch):
    x = torch.tensor(1.0, requires_grad=True)
    y = x
    for _ in range(100):
        y = y * 0.25 + y * 0.75
    found = paths(y, x, limit=102)
    assert found.count == 2**100 and found.ranked
    assert found.total.item() == pytest.approx(1)
    values = [path.value.item() for path in found.paths]
    assert values[0] == pytest.approx(0.75**100)
    assert values[1:101] == pytest.approx([0.75**99 * 0.25] * 100)
    assert values[101] == pytest.approx(0.75**98 * 0.25**2)
    assert len({path.steps for path in found.paths}) == 102
    assert "about 10^30 paths from y back to x, the largest 102 shown" in str(found)


def test_two_to_the_forty_paths_of_matrices(torch):
    w = torch.eye(2).requires_grad_()
    mix = torch.tensor([[0.5, 0.1], [0.2, 0.4]])
    y = w
    for _ in range(40):
        y = y @ mix + y * 0.5
    total = y.sum()
    found = paths(total, w, limit=2)
    (expected,) = torch.autograd.grad(total, w)
    assert found.count == 2**40 and len(found.paths) == 2 and not found.ranked
    assert torch.allclose(found.total, expected, rtol=1e-4)
    assert all(path.value.shape == (2, 2) for path in found.paths)
    assert "the first 2 shown" in str(found) and "norm" in str(found)
    assert found._repr_html_().startswith("<pre>d")


def test_equal_paths_do_not_slow_the_search(torch):
    x = torch.tensor(1.0, requires_grad=True)
    y = x
    for _ in range(300):
        y = y + y
    found = paths(y, x, limit=5)
    assert found.count == 2**300
    assert [path.value.item() for path in found.paths] == [1] * 5


def test_zero_and_infinite_slopes(torch):
    x = torch.tensor(0.0, requires_grad=True)
    y = x * 0.0 + x.sqrt() + x * 2
    found = paths(y, x, limit=2)
    assert found.count == 3 and found.total.item() == math.inf
    assert [path.value.item() for path in found.paths] == [math.inf, 2]


@pytest.mark.parametrize("limit", [0, 1])
def test_limits(torch, limit):
    x = torch.tensor(3.0, requires_grad=True)
    found = paths(x * x, x, limit=limit)
    assert (found.count, len(found.paths), found.total.item()) == (2, limit, 6)


def test_a_long_chain(torch):
    x = torch.tensor(1.0, requires_grad=True)
    y = x
    for _ in range(20_000):
        y = y * 1.0
    found = paths(y, x)
    assert len(found.paths[0].steps) == 20_000 and found.total.item() == 1
    assert "... 19,994 more ..." in str(found)


def test_a_freed_graph_says_so(torch):
    x = torch.tensor(2.0, requires_grad=True)
    y = x * x
    y.backward()
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        paths(y, x)


def test_wrong_arguments(torch):
    x = torch.tensor(2.0, requires_grad=True)
    with pytest.raises(RuntimeError, match="element 0 of tensors does not require grad and does not have a grad_fn"):
        paths(torch.tensor(2.0), x)
    with pytest.raises(TypeError, match=r"paths\(\): expected a tensor"):
        paths(2.0, x)
    with pytest.raises(TypeError, match=r"names\(\): expected a tensor|but got float"):
        paths(x * 2, x, names={"a": 1.0})


@generated(60)
@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30), st.sampled_from("+-*")), min_size=1, max_size=9))
def test_random_graphs(program):
    """Paths, listed one by one, add up to what exact arithmetic and backward say."""
    leaf = glassgrad.tensor(2.0, dtype=glassgrad.float64, requires_grad=True)
    values, exact, ways = [leaf], [(Fraction(2), Fraction(1))], [1]
    for i, j, sign in program:
        i, j = i % len(values), j % len(values)
        (a, da), (b, db) = exact[i], exact[j]
        if abs(a) > 1000 or abs(b) > 1000:
            continue
        if sign == "*":
            values.append(values[i] * values[j])
            exact.append((a * b, da * b + a * db))
        else:
            values.append(values[i] + values[j] if sign == "+" else values[i] - values[j])
            exact.append((a + b, da + db) if sign == "+" else (a - b, da - db))
        ways.append(ways[i] + ways[j])
    found = paths(values[-1], leaf, limit=2000)
    assert found.count == ways[-1] == len(found.paths)
    assert found.total.item() == exact[-1][1] == sum(path.value.item() for path in found.paths)


def test_a_path_through_one_of_three_parts(engine):
    x = engine.ones(6, requires_grad=True)
    for parts in (x.split(2), x.reshape(3, 2).unbind(0)):
        assert paths(parts[0].sum() * parts[2].sum(), x).total.tolist() == [2, 2, 0, 0, 2, 2]
