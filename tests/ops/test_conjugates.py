"""Conjugates follow the tensors that they were made of, as views do in PyTorch."""

import gc

import pytest

import glassgrad
from glassgrad.families.cast import conjugates
from tests.outcome import outcome
from tests.torch_reference import torch

pytestmark = pytest.mark.torch

WRITES = """
x.fill_(2 + 3j)|x.mul_(2)|x[0].zero_()|x.__setitem__(0, 7j)|x.real.add_(1)|torch.view_as_real(x).mul_(2)|x.copy_(x * 2)
torch.view_as_real(x).__setitem__((0, 0, 1), 5)|x.index_put_((torch.tensor([0]),), torch.tensor(1j))|x.t().mul_(1j)
torch.add(x, 1, out=x)|x.masked_fill_(x.real > 2, 1j)|x.detach().zero_()|torch.nn.init.constant_(x, 2)|x.neg_()
""".replace("\n", "|").strip("|").split("|")
MADE = ["x.conj()", "x.mH", "x[1].conj()", "x.conj().imag", "x.conj().conj()", "x.adjoint()[0]"]
OF_THEIR_OWN = ["x.conj().resolve_conj()", "x.conj().clone()", "x.conj() + 0", "x.conj_physical()"]


@pytest.mark.parametrize("write", WRITES)
def test_is_computed_again(write):
    for made in (*MADE, *OF_THEIR_OWN):
        expression = f"(lambda x: (lambda c: [{write}, c + 0, x])({made}))(torch.tensor([[1 + 1j, 2], [3, 4j]]))"
        assert outcome(expression, glassgrad) == outcome(expression, torch), expression


@pytest.mark.parametrize("call", ["c.abs().sum()", "(c * c).abs().sum()", "(c.imag * c.real).sum()"])
def test_has_the_gradient_of_what_it_is_now(call):
    def gradient(engine):
        x = engine.tensor([1 + 2j, 3j], requires_grad=True)
        c = x.conj()
        with engine.no_grad():
            x.mul_(2)
        eval(call, {"c": c}).backward()  # noqa: S307  the expressions are the test's own
        return x.grad.tolist()

    assert gradient(glassgrad) == pytest.approx(gradient(torch))


def test_saved_values_that_were_overwritten_are_refused():
    x = glassgrad.tensor([1 + 2j, 3j], requires_grad=True)
    c = x.conj()
    y = (c * c).abs().sum()
    with glassgrad.no_grad():
        x.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


def test_a_recorded_write_leaves_no_wrong_gradient():
    a, w = glassgrad.tensor([1 + 1j], requires_grad=True), glassgrad.ones(1, requires_grad=True)
    for x in (a * 1, glassgrad.tensor([1 + 1j])):
        c = x.conj()
        x.mul_(w * 2)
        assert c.tolist() == [2 - 2j] and c.requires_grad
        with pytest.raises(RuntimeError, match="Call conj\\(\\) after the write"):
            c.abs().sum().backward()
        x.conj().abs().sum().backward()


def test_nothing_is_kept():
    x = glassgrad.tensor([1 + 1j])
    for _ in range(3):
        x.conj()
        x.mul_(1j)
    assert not conjugates._followers[x._counter]
    before = len(conjugates._followers)
    del x
    gc.collect()
    assert len(conjugates._followers) == before - 1
