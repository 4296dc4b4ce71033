"""What dropout divides by, in half precision too: PyTorch's numbers for every probability."""

import pytest

import glassgrad
from tests.torch_reference import torch

KINDS = ["bfloat16", "float16", "float32", "float64"]


def outcome(t, kind, p):
    """The values and gradients of each kind of dropout."""
    F, dtype, numbers = t.nn.functional, getattr(t, kind), []
    for call, shape in (
        (F.dropout, (64,)), (F.dropout1d, (4, 8, 2)), (F.dropout2d, (4, 8, 2, 2)), (F.alpha_dropout, (64,)),
        (F.feature_alpha_dropout, (4, 8, 2)), (t.dropout, (64,)),
    ):  # fmt: skip
        t.manual_seed(0)
        x = (t.arange(t.Size(shape).numel()) % 7 - 3).reshape(shape).to(dtype).requires_grad_()
        y = call(x, p, True)
        y.sum().backward()
        numbers += [y.tolist(), x.grad.tolist()]
    return numbers


@pytest.mark.torch
@pytest.mark.parametrize("kind", KINDS)
def test_every_probability(kind):
    wrong = [p for p in (i / 40 for i in range(40)) if outcome(glassgrad, kind, p) != outcome(torch, kind, p)]
    assert not wrong
