"""Writes in place, short path and careful path: values, versions, refusals and histories as torch's."""

import numpy as np
import pytest

import glassgrad
from glassgrad.tensor import writable
from tests.agreement import check

pytestmark = pytest.mark.torch

WRITES = """
x.add_(y) | x.add_(2) | x.add_(y,alpha=0.5) | x.add_(1.5) | x.sub_(y) | x.mul_(y) | x.mul_(3) | x.div_(y) | x.div_(2)
x.copy_(y) | x.copy_(y[0]) | x.copy_(2.5) | x.zero_() | x.fill_(3) | x.fill_(2.5) | x.fill_(float("nan"))
x.fill_(torch.tensor(4.0)) | x.clamp_(0,1) | x.clamp_(min=0.5) | x.relu_() | x.exp_() | x.neg_() | x.abs_() | x.pow_(2)
x.addcmul_(y,y,value=0.5) | x.addcdiv_(y,y+2) | x.lerp_(y,0.25) | x.lerp_(y,y) | x.masked_fill_(x>0,1.5)
x.scatter_(1,index,0.5) | x.scatter_add_(1,index,y) | x.add_(x) | x.mul_(x.t().t()) | x.add_(True) | x.t().mul_(2)
x[0].add_(1) | x[:,1:].zero_() | x.add_(y[0]) | x.sqrt_() | x.add_(y.double()) | x.add_(index)
x.bernoulli_(0) | x.fill_diagonal_(0.5) | x.sigmoid_() | x.add_(np.float32(2)) | x.copy_(y.double()) | x.add_(y.t())
x.mul_(torch.tensor(2.0))
""".replace("\n", " | ").split(" | ")


@pytest.mark.parametrize("kind", ["float32", "float64", "int64", "float16"])
@pytest.mark.parametrize("grad", [True, False])
def test_writes(grad, kind):
    def program(torch, show):
        start = (torch.arange(9).view(3, 3) - 3).to(getattr(torch, kind))
        with torch.set_grad_enabled(grad):
            for line in filter(None, map(str.strip, WRITES)):
                names = {"torch": torch, "np": np, "index": torch.tensor([[0, 1], [2, 0]])}
                names["x"], names["y"] = x, y = start.clone(), start.clone() * 2 + 5
                try:
                    eval(line, names)
                except (RuntimeError, TypeError) as error:
                    show(line, [type(error).__name__, x._version])
                else:
                    show(line, [x, x._version, y, y._version])

    check(program)


REFUSED = [
    "torch.ones(3).expand(2, 3).add_(1)",
    "torch.ones(1, requires_grad=True).add_(1)",
    "torch.ones(2, requires_grad=True)[0].zero_()",
    "torch.ones(2).add_(torch.ones(3))",
    "torch.ones(2).copy_(torch.ones(3))",
    "torch.ones(2, dtype=torch.long).add_(1.5)",
    "torch.ones(2, dtype=torch.long).div_(2)",
    "torch.ones(2, dtype=torch.bool).sub_(1)",
    "torch.ones(2).add_('a')",
]


@pytest.mark.parametrize("line", REFUSED)
def test_refusals(line):
    check(lambda torch, show: show.error(lambda: eval(line, {"torch": torch}), line))


def test_what_was_saved_is_guarded():
    def program(torch, show):
        x, w = torch.ones(3), torch.full((3,), 2.0, requires_grad=True)
        out = (x * w).sum()
        x.add_(1)
        show.error(out.backward, "written since")
        out = (w * 3).exp()
        with torch.no_grad():
            out.mul_(2)
        show.error(out.sum().backward, "result written")
        w = torch.full((3,), 2.0, requires_grad=True)
        with torch.no_grad():
            w.sub_(0.5)
            w -= 1
            w[1:].zero_()
        show("leaf", [w, w._version, w.is_leaf])
        (w * w).sum().backward()
        show("after", w.grad)
        total = torch.tensor(0.0)
        for _ in range(3):
            total += w.detach().sum()
        show("sum", [total, total._version])
        seen = total.view(1)
        total.mul_(2)
        show("alias", seen)
        base = torch.zeros(2, 2)
        base[0].copy_(w.detach()[:2])
        base.t().add_(1)
        show("views", [base, base._version])

    check(program)


@pytest.mark.fast
def test_everyday_writes_take_the_short_path(monkeypatch):
    def no(*args):
        raise AssertionError("the careful path")

    monkeypatch.setattr(writable, "check_writable", no)
    x, y = glassgrad.ones(2, 3), glassgrad.ones(3)
    x.add_(y).mul_(2).sub_(y, alpha=2).zero_().fill_(2.0).copy_(x.clone()).masked_fill_(x > 1, 0.0)
    x += 1
    with glassgrad.no_grad():
        weight = glassgrad.nn.Parameter(glassgrad.ones(2))
        weight.add_(glassgrad.ones(2))
        weight -= 0.5
    with pytest.raises(AssertionError, match="careful"):
        x.double().add_(y)


@pytest.mark.parametrize("call", ["masked_fill(x > 3, v)", "index_fill(0, torch.tensor([1, 1]), v)"])
@pytest.mark.parametrize("kinds", [("float64", "float32"), ("float32", "float16")])
def test_gradients_of_filling_values_have_their_dtype(call, kinds):
    def program(torch, show):
        x, v = torch.arange(6.0).view(2, 3), torch.tensor(0.5, dtype=getattr(torch, kinds[1]), requires_grad=True)
        for name in (f"y.{call}", f"(y + 0).{call.replace('(', '_(', 1)}"):
            y = x.to(getattr(torch, kinds[0])).requires_grad_()
            eval(name, {"torch": torch, "x": x, "y": y, "v": v}).abs().sum().backward()
            show(name, [y.grad, v.grad])

    check(program)


@pytest.mark.parametrize("name", ["scatter", "scatter_add"])
def test_what_an_empty_index_takes_nothing_of_has_a_gradient_of_zeros(name):
    """PyTorch gives one of no elements, which it then refuses."""
    x, source = (glassgrad.ones(*sizes, requires_grad=True) for sizes in ((1, 2, 2), (2, 2, 2)))
    y = getattr(x, name)(-1, glassgrad.tensor([], dtype=glassgrad.int64), source)
    (first,) = glassgrad.autograd.grad((y * y).sum(), source, create_graph=True)
    assert first.tolist() == glassgrad.zeros(2, 2, 2).tolist()
    assert not first.requires_grad or not glassgrad.autograd.grad(first.sum(), source)[0].any()


PARTS = ["y[0] += 1", "y[-2:] *= -1.5", "y[...] -= 2", "y[:, 1] /= 4", "y.t()[0] += 1", "y[y.detach() > 0] *= 3"]


@pytest.mark.parametrize("kind", ["float32", "float64", "float16", "complex64"])
@pytest.mark.parametrize("of", ["a leaf", "a result", "a part"])
def test_parts_of_what_has_a_history_are_written_without_recording(of, kind):
    def program(torch, show):
        for line in PARTS[: -1 if kind == "complex64" else None]:
            x = (torch.arange(9).view(3, 3) - 3).to(getattr(torch, kind)).requires_grad_()
            y = {"a leaf": x, "a result": x * 2, "a part": (x * 2)[1:]}[of]

            def act(line=line, y=y, x=x):
                with torch.no_grad():
                    exec(line, {"y": y, "torch": torch})
                y.sum().abs().backward()
                return x.grad, y.detach(), y._version

            show.error(act, line)

    check(program)
