"""Views of complex numbers as real ones, or the other way round: written and read, they have torch's gradients."""

import itertools

import numpy as np
import pytest

import glassgrad
from tests.torch_reference import torch

pytestmark = pytest.mark.torch

COMPLEX = [[1 + 2j, 3 - 1j], [2j, 1 + 1j]]
REAL = [[1.0, 2.0], [3.0, 4.0]]
OF_COMPLEX = {
    "pairs": lambda e, b: e.view_as_real(b),
    "real": lambda e, b: b.real,
    "imag": lambda e, b: b.imag,
    "turned imag": lambda e, b: b.T.imag,
    "row of pairs": lambda e, b: e.view_as_real(b)[1],
    "pairs of a row": lambda e, b: e.view_as_real(b[1]),
    "there and back": lambda e, b: e.view_as_complex(e.view_as_real(b))[0],
}
OF_REAL = {
    "complex": lambda e, b: e.view_as_complex(b),
    "one of them": lambda e, b: e.view_as_complex(b)[1],
    "of a row": lambda e, b: e.view_as_complex(b[:1]),
    "its imag": lambda e, b: e.view_as_complex(b).imag,
}
WRITES = {
    "base": lambda b, v: b.mul_(b.detach() + 1),
    "part of the base": lambda b, v: b[0].mul_(2),
    "view": lambda b, v: v.mul_(v.detach() + 1),
    "view by a number": lambda b, v: v.add_(1),
    "view and base": lambda b, v: (v.mul_(3), b.mul_(2)),
    "view by the base": lambda b, v: v.copy_(v.detach() * b.detach().abs().sum()),
}
CASES = [*itertools.product([COMPLEX], OF_COMPLEX.values(), WRITES.values())]
CASES += [*itertools.product([REAL], OF_REAL.values(), WRITES.values())]


def gradients(engine, numbers, view, write, has_history):
    """First- and second-order gradients of what a view and its base show after a write."""
    leaf = engine.tensor(numbers, requires_grad=True)
    base = leaf * 1 if has_history else leaf.detach().clone()
    part = view(engine, base)
    if not has_history:
        base.mul_(leaf)  # the view is there before the history is
    write(base, part) if has_history else base.mul_(2)
    total = (part * part).abs().sum() + base.abs().pow(3).sum()
    (first,) = engine.autograd.grad(total, leaf, create_graph=True)
    (second,) = engine.autograd.grad(first.abs().pow(2).sum(), leaf)
    return [str(first.dtype), str(second.dtype)], [first.detach().tolist(), second.tolist()]


@pytest.mark.parametrize("number", range(len(CASES)))
@pytest.mark.parametrize("has_history", [True, False])
def test_written_views(number, has_history):
    wanted, ours = (gradients(engine, *CASES[number], has_history) for engine in (torch, glassgrad))
    assert ours[0] == wanted[0]
    for mine, theirs in zip(ours[1], wanted[1], strict=True):
        assert np.allclose(mine, theirs, rtol=1e-5)


def test_of_meta_tensors():
    for engine in (torch, glassgrad):
        parts = engine.ones(2, 3, dtype=engine.complex64, device="meta").imag
        assert (parts.device.type, tuple(parts.shape), str(parts.dtype)) == ("meta", (2, 3), "torch.float32")


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32"])
def test_ranks_among_nan(dtype):
    """NaN is the largest, in dtypes that NumPy cannot order too."""
    numbers = [0.0, 1.0, float("nan"), -float("inf"), float("nan"), 2.0, float("inf")]
    for rank in range(1, 8):
        found = [e.tensor(numbers, dtype=getattr(e, dtype)).kthvalue(rank).indices.item() for e in (torch, glassgrad)]
        assert found[0] == found[1] or rank > 5  # which of two NaN is free
    middle = [e.tensor(numbers, dtype=getattr(e, dtype)).nanmedian().item() for e in (torch, glassgrad)]
    assert middle[0] == middle[1] == 1.0
