"""The CTC loss: values, gradients and refusals as in torch; every alignment counted once."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import glassgrad
from tests.agreement import check
from tests.counts import generated

pytestmark = pytest.mark.torch


def test_values_and_gradients():
    def program(torch, show):
        F = torch.nn.functional
        torch.manual_seed(0)
        for dtype in (torch.float32, torch.float64):
            scores = torch.randn(12, 4, 6, dtype=dtype, requires_grad=True)
            logs = scores.log_softmax(2)
            padded = torch.tensor([[1, 2, 2, 5], [3, 0, 0, 0], [4, 1, 4, 0], [0, 0, 0, 0]])
            inputs, labels = torch.tensor([12, 9, 5, 3]), torch.tensor([4, 1, 3, 0])
            line = torch.cat([row[:n] for row, n in zip(padded, labels)])
            for targets in (padded, line, line.int()):
                for reduction in ("none", "mean", "sum"):
                    loss = F.ctc_loss(logs, targets, inputs, labels, reduction=reduction)
                    show(reduction, loss)
                    show("gradient", torch.autograd.grad(loss.sum(), scores, retain_graph=True))
            show("numbers", F.ctc_loss(logs, padded, (12, 9, 5, 3), (4, 1, 3, 0), blank=3))
            single = F.ctc_loss(logs[:, 0], padded[0], torch.tensor(12), torch.tensor(4), reduction="none")
            show("one", single)

    check(program)


def test_targets_that_do_not_fit():
    def program(torch, show):
        torch.manual_seed(0)
        scores = torch.randn(6, 3, 5, requires_grad=True)
        targets, labels = torch.tensor([[1, 2, 2], [3, 0, 0], [4, 1, 0]]), torch.tensor([3, 1, 2])
        for zero_infinity in (False, True):
            for inputs in ([3, 5, 4], [0, 1, 2]):
                loss = torch.nn.functional.ctc_loss(
                    scores.log_softmax(2), targets, torch.tensor(inputs), labels, reduction="none",
                    zero_infinity=zero_infinity,
                )  # fmt: skip
                show("loss", loss)
                show("gradient", torch.autograd.grad(loss.sum(), scores, retain_graph=True))

    check(program)


def test_layer():
    def program(torch, show):
        torch.manual_seed(0)
        for kwargs in ({}, {"blank": 4, "reduction": "sum"}, {"zero_infinity": True, "reduction": "none"}):
            layer = torch.nn.CTCLoss(**kwargs)
            show("repr", [repr(layer), layer.blank, layer.reduction, layer.zero_infinity])
            logs = torch.randn(7, 2, 5).log_softmax(2).requires_grad_()
            loss = layer(logs, torch.tensor([[1, 2], [3, 3]]), torch.tensor([7, 6]), torch.tensor([2, 2]))
            show("loss", loss)
            loss.sum().backward()
            show("gradient", logs.grad)

    check(program)


def test_refusals():
    def program(torch, show):
        F = torch.nn.functional
        logs = torch.randn(6, 3, 5).log_softmax(2).requires_grad_()
        targets, inputs, labels = torch.ones(3, 3).long(), torch.tensor([6, 5, 4]), torch.tensor([3, 1, 2])

        def loss(*args, **kwargs):
            return lambda: F.ctc_loss(*args, **kwargs)

        show.error(loss(logs, targets, inputs + 1, labels))
        show.error(loss(logs, targets, inputs - 5, labels))
        show.error(loss(logs, targets, inputs, labels + 1))
        show.error(loss(logs, targets, inputs, labels - 2))
        show.error(loss(logs, targets, inputs[:2], labels))
        show.error(loss(logs, targets, inputs, labels[:2]))
        show.error(loss(logs, targets, inputs, labels, blank=5))
        show.error(loss(logs, targets, inputs.float(), labels))
        show.error(loss(logs, targets[:2], inputs, labels))
        show.error(loss(logs, targets.view(-1), inputs, labels))
        show.error(loss(logs, targets[0, 0], inputs, labels))
        show.error(loss(logs, targets, inputs, labels, reduction="all"))
        show.error(loss(logs.half(), targets, inputs, labels))
        show.error(loss(logs[:0], targets, inputs * 0, labels * 0))
        gradient = torch.autograd.grad(F.ctc_loss(logs, targets, inputs, labels), logs, create_graph=True)[0]
        show.error(lambda: gradient.sum().backward())

    check(program)


def collapsed(path):
    """What a path spells: repeats once, then without blanks."""
    return tuple(label for label, _ in itertools.groupby(path) if label)


@generated(30)
@given(times=st.integers(1, 5), target=st.lists(st.integers(1, 2), max_size=3), seed=st.integers(0, 99))
def test_every_alignment_is_counted_once(times, target, seed):
    """Against the sum over all 3 ** T paths."""
    scores = np.random.default_rng(seed).standard_normal((times, 3))
    logs = scores - np.log(np.exp(scores).sum(1, keepdims=True))
    paths = [p for p in itertools.product(range(3), repeat=times) if collapsed(p) == tuple(target)]
    likelihood = sum(np.exp(sum(logs[t, label] for t, label in enumerate(path))) for path in paths)
    found = glassgrad.nn.functional.ctc_loss(
        glassgrad.tensor(logs[:, None]), glassgrad.tensor([target], dtype=glassgrad.int64).reshape(1, -1), (times,),
        (len(target),), reduction="sum",
    )  # fmt: skip
    if not paths:
        assert found.item() == np.inf
    else:
        np.testing.assert_allclose(found.item(), -np.log(likelihood), rtol=1e-10, atol=1e-12)
