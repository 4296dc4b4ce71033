"""``as_strided`` of views and of leaves whose elements share memory: torch's values, first and second derivatives."""

import random

import pytest

import glassgrad
from tests.counts import seeds
from tests.torch_reference import torch

pytestmark = pytest.mark.torch

SOURCES = ["x", "x[1:]", "x[::2]", "x.expand(2, 4)", "x[1:2].expand(3)", "x.as_strided((3, 2), (1, 1), 0)"]
SOURCES += ["x.view(2, 2).t()", "x.view(2, 2)[:, 1].expand(2, 2)", "x[1:].unfold(0, 2, 1)"]


def derivatives(engine, source, is_leaf, window):
    """What a window shows, and its first and second derivatives; or the words of a refusal."""
    first = engine.tensor([1.0, 2.0, 3.0, 4.0], dtype=engine.float64, requires_grad=True)
    part = eval(source, {"x": first * 1})
    if is_leaf:
        first = part = part.detach().requires_grad_()
    try:
        seen = part.as_strided(*window)
    except RuntimeError as error:
        return str(error)
    weights = engine.arange(1.0, 1 + seen.numel(), dtype=engine.float64).view(seen.shape)
    (grad,) = engine.autograd.grad((seen * weights).pow(3).sum(), first, create_graph=True)
    weights = engine.arange(1.0, 1 + grad.numel(), dtype=engine.float64).view(grad.shape)
    (second,) = engine.autograd.grad((grad * grad * weights).sum(), first)
    return seen.tolist(), grad.tolist(), second.tolist()


def flat(lists):
    return [number for part in lists for number in flat(part)] if isinstance(lists, (list, tuple)) else [lists]


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("is_leaf", [False, True])
def test_same_as_torch(source, is_leaf):
    for seed in seeds(30):
        chance = random.Random(seed)
        sizes = [chance.randint(1, 3) for _ in range(chance.randint(0, 3))]
        window = sizes, [chance.randint(0, 2) for _ in sizes], chance.randint(0, 2)
        expected, actual = (derivatives(engine, source, is_leaf, window) for engine in (torch, glassgrad))
        assert type(actual) is type(expected), (window, expected, actual)
        if isinstance(expected, tuple):
            assert flat(actual) == pytest.approx(flat(expected)), (window, expected, actual)


WRITES = ["v[..., ::1] = v", "v.mul_(2)", "v[0] = 3"]


@pytest.mark.parametrize("view", ["w[:]", "w[1:]", "w.mT", "w.expand(2, 3, 2)", "w.diagonal()"])
@pytest.mark.parametrize("write", WRITES)
def test_a_view_of_an_expanded_leaf_that_was_written_without_recording(view, write):
    def gradient(engine):
        leaf = engine.tensor([1.0, 2.0]).expand(3, 2).detach().requires_grad_()
        scope = {"w": leaf}
        scope["v"] = eval(view, scope)
        with engine.no_grad():
            try:
                exec(write, scope)
            except RuntimeError as error:
                return str(error)
        (scope["v"] * scope["v"]).sum().backward()
        return leaf.grad.tolist()

    expected, actual = gradient(torch), gradient(glassgrad)
    assert actual == expected if isinstance(expected, str) else flat(actual) == pytest.approx(flat(expected))
