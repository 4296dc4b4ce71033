"""``vmap`` beside PyTorch's: its documented examples, nests, trees, dimensions, randomness, refusals."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import glassgrad
from tests.laws import array, flat

pytestmark = pytest.mark.torch


def x(engine):
    """Two examples of three numbers."""
    return engine.arange(6.0).reshape(2, 3)


def written(v, at, value):
    """``v`` with ``value`` put at ``at``."""
    v = v.clone()
    v[at] = value
    return v


def in_a_view(v):
    """A write into a view is seen."""
    v = v.clone()
    v[0].fill_(9)
    v.unsqueeze(0)[0, 1] = 7
    return v


#: name -> what is called with an engine and its ``vmap``; both engines give the same, or the same refusal
PROGRAMS = {
    "dot": lambda e, vmap: vmap(e.dot)(x(e), x(e)),
    "nested": lambda e, vmap: vmap(vmap(e.dot))(e.ones(2, 3, 5), e.ones(2, 3, 5)),
    "out_dims": lambda e, vmap: vmap(lambda v: v**2, out_dims=1)(x(e)),
    "in_dims": lambda e, vmap: vmap(e.dot, in_dims=1)(x(e), x(e)),
    "in_dims negative": lambda e, vmap: vmap(e.dot, in_dims=(-1, 1))(x(e), x(e)),
    "shared": lambda e, vmap: vmap(e.dot, in_dims=(0, None))(x(e), x(e)[0]),
    "tree": lambda e, vmap: vmap(lambda d: e.dot(d["x"], d["y"]), in_dims=({"x": 0, "y": None},))(
        {"x": x(e), "y": x(e)[0]}
    ),
    "two outputs": lambda e, vmap: vmap(lambda v: (v.sin(), v.cos()), out_dims=(0, 1))(x(e)),
    "tree of outputs": lambda e, vmap: vmap(lambda v: {"a": v.sin()})(x(e))["a"],
    "chunks": lambda e, vmap: vmap(lambda v: v.sum(), chunk_size=1)(x(e)),
    "keywords are shared": lambda e, vmap: vmap(lambda v, w=None: v * w)(x(e), w=e.ones(2, 3)),
    "no examples": lambda e, vmap: vmap(e.sin)(e.ones(0, 3)),
    "gather by a batch": lambda e, vmap: vmap(lambda v, i: v[i])(x(e), e.tensor([[0, 1], [2, 0]])),
    "plain by a batch": lambda e, vmap: vmap(lambda i: x(e)[:, i])(e.tensor([[0, 1], [2, 0]])),
    "put by a batch": lambda e, vmap: vmap(lambda v, i: written(v, i, 7))(x(e), e.tensor([[0], [2]])),
    "in a view": lambda e, vmap: vmap(in_a_view)(x(e)),
    "unsqueeze_": lambda e, vmap: vmap(lambda v: v.clone().unsqueeze_(0))(x(e)),
    "t_": lambda e, vmap: vmap(lambda v: v.clone().t_())(e.arange(12.0).reshape(2, 3, 2)),
    "layout": lambda e, vmap: vmap(
        lambda v: v * 0 + e.tensor([*v.shape, *v.stride(), v.dim(), len(v), v.numel(), float(v.is_contiguous())]).sum()
    )(e.arange(12.0).reshape(2, 3, 2)),
    "iteration": lambda e, vmap: vmap(lambda v: sum(p for p in v))(x(e)),
    "out_dims None": lambda e, vmap: vmap(lambda v: e.ones(2), out_dims=None)(x(e)),
    # what is refused
    "item": lambda e, vmap: vmap(lambda v: v.sum().item())(x(e)),
    "float": lambda e, vmap: vmap(lambda v: float(v.sum()))(x(e)),
    "bool": lambda e, vmap: vmap(lambda v: v if v.sum() > 0 else v)(x(e)),
    "tolist": lambda e, vmap: vmap(lambda v: v.tolist())(x(e)),
    "numpy": lambda e, vmap: vmap(lambda v: v.numpy())(x(e)),
    "data": lambda e, vmap: vmap(lambda v: v.data)(x(e)),
    "equal": lambda e, vmap: vmap(lambda v: e.equal(v, v))(x(e)),
    "allclose": lambda e, vmap: vmap(lambda v: e.allclose(v, v))(x(e)),
    "nonzero": lambda e, vmap: vmap(lambda v: v.nonzero())(x(e)),
    "unique": lambda e, vmap: vmap(e.unique)(x(e)),
    "masked_select": lambda e, vmap: vmap(lambda v: v.masked_select(v > 0))(x(e)),
    "mask as index": lambda e, vmap: vmap(lambda v: v[v > 0])(x(e)),
    "sizes differ": lambda e, vmap: vmap(e.mul)(x(e), e.ones(3, 3)),
    "nothing to map": lambda e, vmap: vmap(e.mul, in_dims=(None, None))(x(e), x(e)),
    "in_dims a list": lambda e, vmap: vmap(e.sin, in_dims=[0])(x(e)),
    "in_dims too many": lambda e, vmap: vmap(e.sin, in_dims=(0, 0))(x(e)),
    "in_dims out of range": lambda e, vmap: vmap(e.sin, in_dims=5)(x(e)),
    "in_dims a word": lambda e, vmap: vmap(e.sin, in_dims="a")(x(e)),
    "in_dim of a number": lambda e, vmap: vmap(lambda a, b: a, in_dims=(0, 0))(x(e), 2),
    "no inputs": lambda e, vmap: vmap(lambda: 1)(),
    "gives a number": lambda e, vmap: vmap(lambda v: 1)(x(e)),
    "gives nothing": lambda e, vmap: vmap(lambda v: None)(x(e)),
    "out_dims a word": lambda e, vmap: vmap(lambda v: v, out_dims="a")(x(e)),
    "out_dims too many": lambda e, vmap: vmap(lambda v: v, out_dims=(0, 0))(x(e)),
    "out_dims out of range": lambda e, vmap: vmap(lambda v: v, out_dims=5)(x(e)),
    "out_dims None of a batch": lambda e, vmap: vmap(lambda v: v, out_dims=None)(x(e)),
    "randomness": lambda e, vmap: vmap(e.sin, randomness="foo"),
    "chunk_size": lambda e, vmap: vmap(e.sin, chunk_size=0)(x(e)),
    "into what is no batch": lambda e, vmap: vmap(lambda a, b: a.mul_(b), in_dims=(None, 0))(e.ones(3), x(e)),
}

#: Draws of each example; run where draws are refused, the same for all, different for each.
DRAWS = {
    "rand": lambda e, v: v * 0 + e.rand(3),
    "randn": lambda e, v: v.sum() + e.randn(20),
    "randint": lambda e, v: v * 0 + e.randint(0, 10, (3,)),
    "randperm": lambda e, v: v * 0 + e.randperm(3),
    "rand_like": lambda e, v: e.rand_like(v),
    "rand_like plain": lambda e, v: e.rand_like(e.ones(3)),
    "uniform_": lambda e, v: v.clone().uniform_(),
    "uniform_ plain": lambda e, v: e.ones(3).uniform_(),
    "bernoulli": lambda e, v: e.bernoulli(v * 0 + 0.5),
    "bernoulli plain": lambda e, v: e.bernoulli(e.ones(3) * 0.5),
    "bernoulli_": lambda e, v: v.clone().bernoulli_(0.5),
    "bernoulli_ by tensor": lambda e, v: v.clone().bernoulli_(e.ones(3) * 0.5),
    "dropout": lambda e, v: e.nn.functional.dropout(v * 0 + 1, 0.5),
    "dropout plain": lambda e, v: e.nn.functional.dropout(e.ones(3), 0.5),
    "dropout2d": lambda e, v: e.nn.functional.dropout2d(v.reshape(1, 3, 1, 1) * 0 + 1, 0.5),
    "multinomial": lambda e, v: e.multinomial(v + 1, 2),
    "multinomial plain": lambda e, v: e.multinomial(e.ones(3), 2),
    "normal": lambda e, v: e.normal(v, 1.0),
    "poisson": lambda e, v: e.poisson(v),
    "gumbel_softmax": lambda e, v: e.nn.functional.gumbel_softmax(v),
}


def outcome(program, *args):
    """The arrays that a program gives, or its refusal: the error's class and the beginning of its message."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return [array(part) for part in flat(program(*args))]
        except (RuntimeError, ValueError, IndexError) as error:
            return type(error).__name__, str(error).strip().split("\n")[0][:120]


def assert_same(ours, theirs):
    """Both gave the same values, or refused in the same words."""
    if isinstance(ours, tuple) or isinstance(theirs, tuple):
        assert ours == theirs
        return
    assert len(ours) == len(theirs)
    for a, b in zip(ours, theirs, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", PROGRAMS)
def test_as_torch(name):
    """Values, or refusals, are torch's."""
    from tests.torch_reference import torch

    program = PROGRAMS[name]
    assert_same(outcome(program, glassgrad, glassgrad.func.vmap), outcome(program, torch, torch.func.vmap))


@pytest.mark.parametrize("randomness", ["error", "same", "different"])
@pytest.mark.parametrize("name", DRAWS)
def test_draws_are_torchs(name, randomness):
    """The stream of numbers is torch's, and so is what is refused."""
    from tests.torch_reference import torch

    def drawn(engine):
        engine.manual_seed(0)
        return engine.func.vmap(lambda v: DRAWS[name](engine, v), randomness=randomness)(x(engine))

    assert_same(outcome(drawn, glassgrad), outcome(drawn, torch))


def test_it_prints_as_torch():
    """A batch prints as PyTorch's does, and so does a batch of batches."""
    from tests.torch_reference import torch

    printed = {engine: [] for engine in (glassgrad, torch)}
    for engine, texts in printed.items():
        engine.func.vmap(lambda v, texts=texts: (texts.append(repr(v)), v)[1])(x(engine))
        inner = engine.func.vmap(lambda v, texts=texts: (texts.append(repr(v)), v)[1])
        engine.func.vmap(inner)(x(engine))
    assert printed[glassgrad] == printed[torch]


#: Keys of which a part differs among the examples: ``i`` and ``j`` are numbers, ``t`` a row of them, others are alike.
KEYS = ["i", "ij", ":i", "i:j", "ei", "ie", "tei", "i:t", "t:i", ":it", "ni:", "csi", "iu", "u:j", "mi", ":jm", "s:ji"]


@pytest.mark.parametrize("parts", KEYS)
def test_numbers_of_each_example_point_as_those_of_one(parts):
    """What is read and what is written, where a number among the keys differs from example to example."""
    draw = np.random.default_rng(len(parts))
    values = glassgrad.arange(2 * 81.0).reshape(2, 3, 3, 3, 3)
    i, j, t = (glassgrad.from_numpy(draw.integers(-3, 3, sizes)) for sizes in (2, 2, (2, 2)))
    alike = {
        ":": slice(None), "s": slice(1, 3), "n": None, "e": ..., "c": 2, "u": glassgrad.tensor([2, 0]),
        "m": glassgrad.tensor([True, False, True]),
    }  # fmt: skip

    def both(v, i, j, t):
        key = tuple({**alike, "i": i, "j": j, "t": t}[part] for part in parts)
        there = v[key]
        new = glassgrad.arange(float(there.numel())).reshape(there.shape)
        return there, written(v, key, -1.0), written(v, key, there * 0 + new)

    together = glassgrad.func.vmap(both)(values, i, j, t)
    for number in range(2):
        for out, alone in zip(together, both(values[number], i[number], j[number], t[number]), strict=True):
            np.testing.assert_array_equal(array(out[number]), array(alone))


def test_gradients_of_each_example():
    """Per-sample gradients of a network with convolutions are those of the examples taken one by one."""
    func, nn = glassgrad.func, glassgrad.nn
    glassgrad.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(1, 3, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(27, 4))
    parameters = {name: value.detach() for name, value in model.named_parameters()}
    images, classes = glassgrad.randn(5, 1, 8, 8), glassgrad.randint(0, 4, (5,))

    def loss(parameters, image, label):
        scores = func.functional_call(model, parameters, (image.unsqueeze(0),))
        return nn.functional.cross_entropy(scores, label.unsqueeze(0))

    with warnings.catch_warnings():
        warnings.simplefilter("error")  # nothing is called example by example
        together = func.vmap(func.grad(loss), in_dims=(None, 0, 0))(parameters, images, classes)
    for number in range(5):
        alone = func.grad(loss)(parameters, images[number], classes[number])
        for name, gradient in alone.items():
            np.testing.assert_allclose(array(together[name][number]), array(gradient), rtol=1e-5, atol=1e-6)
