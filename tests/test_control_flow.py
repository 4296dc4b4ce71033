"""Control flow as functions of functions: ``torch.cond``, ``torch.while_loop`` and their kin, as PyTorch runs them."""

import importlib

import pytest

from tests.agreement import check

pytestmark = pytest.mark.torch


def _higher(torch):
    return importlib.import_module(f"{torch.__name__}._higher_order_ops")


def test_a_branch():
    def program(torch, show):
        for pred in (True, False, torch.tensor(True), torch.tensor([[0.0]])):
            x = torch.tensor([1.0, 2.0], requires_grad=True)
            result = torch.cond(pred, lambda a, b: a * b, lambda a, b: (a - b).sin(), (x, torch.tensor(3.0)))
            result.sum().backward()
            show(str(pred), [result.detach(), x.grad])
        show.error(lambda: torch.cond("yes", torch.sin, torch.cos, (x,)))
        show.error(lambda: torch.cond(torch.tensor([True, False]), torch.sin, torch.cos, (x,)), words=False)

    check(program)


def test_loops():
    def program(torch, show):
        start = (torch.tensor(0), torch.tensor([1.0, 2.0]))
        show("while", torch.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 2), start))
        show("never", torch.while_loop(lambda i, x: i < 0, lambda i, x: (i + 1, x * 2), start))
        xs, higher = torch.arange(6.0).reshape(2, 3), _higher(torch)
        show("map", higher.map(lambda x, y: x * y, xs, torch.tensor(2.0)))
        show("scan", higher.scan(lambda carry, x: (carry + x, carry * x), torch.ones(3), xs))
        show("back", higher.scan(lambda carry, x: (carry + x, carry * x), torch.ones(2), xs, dim=1, reverse=True))

        def combine(a, b):
            return {"scale": a["scale"] * b["scale"], "shift": a["shift"] * b["scale"] + b["shift"]}

        lines = {"scale": xs + 1, "shift": xs - 2}
        for reverse in (False, True):
            result = higher.associative_scan(combine, lines, 1, reverse, combine_mode="generic")
            show(f"associative {reverse}", [result["scale"], result["shift"]])
        show.error(lambda: higher.associative_scan(torch.add, xs, 0))
        show.error(lambda: higher.associative_scan(torch.add, xs, 0, combine_mode="other"), words=False)

    check(program)


def test_what_is_carried_keeps_its_number():
    import glassgrad

    with pytest.raises(RuntimeError, match="same number of outputs"):
        glassgrad.while_loop(lambda x: x < 1, lambda x: (x, x), (glassgrad.tensor(0),))
