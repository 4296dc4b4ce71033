"""Half precision as torch rounds it: factors beside it count in float32, layers compute in float32 and keep halves."""

import numpy as np
import pytest

import glassgrad

pytestmark = pytest.mark.torch
HALVES = pytest.mark.parametrize("kind", ["float16", "bfloat16"])
RNG = np.random.default_rng(5)
VALUES, OTHERS = RNG.normal(size=(2, 600)).astype("f4")

PROGRAMS = {
    "x * 0.1": lambda e, x, y: x * 0.1,
    "0.1 * x": lambda e, x, y: 0.1 * x,
    "x * 3": lambda e, x, y: x * 3,
    "x / 3.3": lambda e, x, y: x / 3.3,
    "3.3 / x": lambda e, x, y: 3.3 / x,
    "x * 0-d": lambda e, x, y: x * e.tensor(0.1),
    "0-d * number": lambda e, x, y: x[0] * 0.1,
    "x // 0.3": lambda e, x, y: x.detach() // 0.3,
    "div floor": lambda e, x, y: e.div(x, 0.3, rounding_mode="floor"),
    "mul_": lambda e, x, y: x.clone().mul_(0.1),
    "div_": lambda e, x, y: x.clone().div_(3.3),
    "lerp": lambda e, x, y: e.lerp(x, y, 0.3),
    "lerp beyond": lambda e, x, y: e.lerp(x, y, 0.7),
    "x + 0.1": lambda e, x, y: x + 0.1,
    "x ** 3": lambda e, x, y: x**3,
}


def numbers(engine, program, kind, create_graph=False):
    """The result and, where there is one, the gradient, both as float32."""
    x, y = (engine.from_numpy(v.copy()).to(getattr(engine, kind)) for v in (VALUES, OTHERS))
    x.requires_grad_()
    out = program(engine, x, y)
    found = [out.detach().float().numpy()]
    if out.requires_grad:
        (grad,) = engine.autograd.grad(out, x, (out * 0 + 0.7).detach(), create_graph=create_graph)
        assert grad.dtype is x.dtype
        found.append(grad.detach().float().numpy())
    return found


@HALVES
@pytest.mark.parametrize("name", PROGRAMS)
def test_numbers_beside_halves(name, kind):
    """To the last bit, forward and backward, on arrays and recorded."""
    from tests.torch_reference import torch

    for create_graph in (False, True):
        ours = numbers(glassgrad, PROGRAMS[name], kind, create_graph)
        theirs = numbers(torch, PROGRAMS[name], kind, create_graph)
        assert len(ours) == len(theirs)
        for a, b in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(a, b)


#: A little more than half way from one half to the next, which a float does not hold: what is rounded twice is less.
MIDDLE = 1 + 2**-11 + 2**-40
ROUNDED = {
    "to": lambda e: e.tensor([MIDDLE], dtype=e.float64).half(),
    "tensor": lambda e: e.tensor([MIDDLE, 1.0], dtype=e.float16),
    "tensor of one": lambda e: e.tensor(MIDDLE, dtype=e.float16),
    "from NumPy": lambda e: e.as_tensor(np.array([MIDDLE])).to(e.float16),
    "full": lambda e: e.full((2,), MIDDLE, dtype=e.float16),
    "fill_": lambda e: e.zeros(2, dtype=e.float16).fill_(MIDDLE),
    "a number beside zeros": lambda e: e.zeros(2, dtype=e.float16) + MIDDLE,
    "copy_": lambda e: e.zeros(1, dtype=e.float16).copy_(e.tensor([MIDDLE], dtype=e.float64)),
    "add_": lambda e: e.zeros(1, dtype=e.float16).add_(e.tensor([MIDDLE], dtype=e.float64)),
    "out": lambda e: e.add(e.tensor([MIDDLE], dtype=e.float64), 0, out=e.zeros(1, dtype=e.float16)),
    "masked_fill": lambda e: e.zeros(1, dtype=e.float16).masked_fill(e.tensor([True]), MIDDLE),
    "part": lambda e: e.slice_scatter(e.zeros(2), e.tensor([MIDDLE], dtype=e.float64).half().float(), 0, 0, 1),
}


@pytest.mark.parametrize("name", ROUNDED)
def test_doubles_become_halves_by_way_of_floats(name):
    from tests.torch_reference import torch

    assert ROUNDED[name](glassgrad).tolist() == ROUNDED[name](torch).tolist()
    assert ROUNDED[name](torch).max() == 1.0


LAYERS = {
    "layer_norm": lambda F, x, w, b: F.layer_norm(x, (6,), w, b),
    "group_norm": lambda F, x, w, b: F.group_norm(x.transpose(1, 2).contiguous(), 2, w, b),
    "batch_norm": lambda F, x, w, b: F.batch_norm(x.transpose(1, 2).contiguous(), None, None, w, b, True),
    "rms_norm": lambda F, x, w, b: F.rms_norm(x, (6,), w),
}


@HALVES
@pytest.mark.filterwarnings("ignore:Mismatch dtype")
@pytest.mark.parametrize("weights", ["same", "float32", None])
@pytest.mark.parametrize("name", LAYERS)
def test_normalisation_of_halves(name, weights, kind):
    """Results and the input's gradients to the last bit (but for ties), dtypes of all gradients."""
    from tests.torch_reference import torch

    values = np.random.default_rng(1).normal(size=(4, 5, 6)).astype("f4")
    steps = np.random.default_rng(3).normal(size=(4, 5, 6)).astype("f4")
    scale = np.random.default_rng(2).normal(size=6).astype("f4")
    found = []
    for engine in (glassgrad, torch):
        x = engine.from_numpy(values.copy()).to(getattr(engine, kind)).requires_grad_()
        w = b = None
        if weights is not None:
            own = getattr(engine, kind if weights == "same" else weights)
            w, b = (engine.from_numpy(v.copy()).to(own).requires_grad_() for v in (scale, scale[::-1]))
        out = LAYERS[name](engine.nn.functional, x, w, b)
        leaves = [leaf for leaf in (x, w, b) if leaf is not None][: 2 if name == "rms_norm" else 3]
        towards = engine.from_numpy(steps.reshape(tuple(out.shape)).copy()).to(out.dtype)
        grads = engine.autograd.grad(out, leaves, towards)
        found.append([out, *grads])
    ours, theirs = found
    unit = 2.0 ** (-10 if kind == "float16" else -7)
    for place, (a, b) in enumerate(zip(ours, theirs, strict=True)):
        assert str(a.dtype) == str(b.dtype)
        a, b = a.detach().float().numpy(), b.detach().float().numpy()
        if place < 2:  # the result, the gradient of the input; a mean at a tie may round either way
            assert np.mean(a != b) < 0.35 if name == "batch_norm" else np.mean(a != b) < 0.02
        np.testing.assert_allclose(a, b, rtol=8 * unit, atol=8 * unit * np.abs(b).max())


@pytest.mark.parametrize(
    "write",
    [
        lambda e, x: x.fill_(2),
        lambda e, x: x.zero_(),
        lambda e, x: x.masked_fill_(e.tensor([[True, False], [False, False], [False, True]]), 3.0),
        lambda e, x: x.masked_fill_(e.tensor([[True], [False], [True]]), e.tensor(3.0)),
        lambda e, x: e.nn.init.constant_(x, 1.5),
    ],
    ids=["fill_", "zero_", "masked_fill_", "masked_fill_ tensor", "init"],
)
@pytest.mark.filterwarnings("ignore:Use of masked_fill_")
def test_one_value_may_be_written_over_expanded_tensors(write):
    """As torch allows: elements that share memory get the same."""
    from tests.torch_reference import torch

    found = [write(e, e.arange(3.0).view(3, 1).expand(3, 2)) for e in (glassgrad, torch)]
    assert found[0].tolist() == found[1].tolist()
    with pytest.raises(RuntimeError, match="single memory location"):
        glassgrad.zeros(3, 1).expand(3, 2).add_(1)
    with pytest.raises(RuntimeError, match="single memory location"):
        glassgrad.zeros(3, 1).expand(3, 2).fill_(glassgrad.tensor(1.0))
