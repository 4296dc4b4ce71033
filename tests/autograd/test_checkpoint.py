"""Checkpointing: same gradients, less kept, the inside computed again; PyTorch's words where that goes wrong."""

import pytest

import glassgrad
from tests.autograd.both import both


def both_ways(torch, show):
    checkpoint = torch.utils.checkpoint.checkpoint
    for reentrant in (True, False):
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        w = torch.tensor(3.0, requires_grad=True)
        calls = []

        def part(t, number, *, shift=0.0, calls=calls, w=w):
            calls.append(torch.is_grad_enabled())
            return (t * w + number).sin() + shift

        y = checkpoint(part, x, 2, use_reentrant=reentrant)
        show("name", y.grad_fn.name())
        y.sum().backward()
        show("gradients", [x.grad, w.grad, calls])
        show.warnings(lambda: checkpoint(part, x.detach(), 2, use_reentrant=reentrant))  # noqa: B023
        show.error(lambda: torch.autograd.grad(checkpoint(part, x, 2, use_reentrant=reentrant).sum(), x))  # noqa: B023
        show.error(lambda: checkpoint(part, x, 2, use_reentrant=reentrant, shift=1.0))  # noqa: B023


def differing_recomputation(torch, show):
    checkpoint = torch.utils.checkpoint.checkpoint
    kinds = {
        "fewer": (lambda t: (t * t).sin().exp(), lambda t: t * t),
        "more": (lambda t: t * t, lambda t: (t * t).sin()),
        "another shape": (lambda t: (t * t).exp(), lambda t: (torch.cat([t, t]) * torch.cat([t, t])).exp()),
    }
    for name, functions in kinds.items():
        x = torch.ones(2, requires_grad=True)
        turns = iter(functions)
        y = checkpoint(lambda t: next(turns)(t), x, use_reentrant=False)  # noqa: B023
        show.error(lambda: y.sum().backward(), name, words="recomputation: 2." if name == "fewer" else "forward pass.")  # noqa: B023


test_same_as_torch = both(both_ways)


def test_a_differing_recomputation_is_found():
    """PyTorch's sentences; its advice about torch.compile, which follows them there, is left out."""
    from glassgrad.utils.checkpoint import CheckpointError, checkpoint

    kinds = [
        (lambda t: (t * t).sin().exp(), lambda t: t * t, "A different number of tensors was saved during the original"),
        (
            lambda t: (t * t).exp(),
            lambda t: (glassgrad.cat([t, t]) * glassgrad.cat([t, t])).exp(),
            "Recomputed values for the following tensors have different metadata than during the forward pass.",
        ),
    ]
    for first, second, words in kinds:
        x = glassgrad.ones(2, requires_grad=True)
        turns = iter((first, second))
        y = checkpoint(lambda t: next(turns)(t), x, use_reentrant=False)  # noqa: B023
        with pytest.raises(CheckpointError, match=words):
            y.sum().backward()
        assert x.grad is None


@pytest.mark.parametrize("reentrant", [True, False])
def test_random_numbers_are_drawn_again(reentrant):
    from glassgrad.utils.checkpoint import checkpoint

    x = glassgrad.ones(8, requires_grad=True)
    masks = []

    def part(t):
        masks.append(glassgrad.rand(8))
        return t * masks[-1]

    glassgrad.manual_seed(1)
    y = checkpoint(part, x, use_reentrant=reentrant)
    after = glassgrad.rand(1).item()
    y.sum().backward()
    assert masks[0].tolist() == masks[1].tolist() == x.grad.tolist()
    glassgrad.manual_seed(1)
    glassgrad.rand(8)
    assert glassgrad.rand(1).item() == after


def test_what_is_kept():
    """Inside a checkpoint nothing is saved: the inner results are gone after the call."""
    import weakref

    from glassgrad.utils.checkpoint import checkpoint

    inner = []

    def part(t):
        middle = t.exp()
        inner.append(weakref.ref(middle))
        return middle * middle

    x = glassgrad.ones(3, requires_grad=True)
    y = checkpoint(part, x, use_reentrant=False)
    assert inner[0]() is None
    y.sum().backward()
    assert len(inner) == 2
    assert x.grad.tolist() == pytest.approx([2 * 7.389056] * 3)
