"""Programs that once differed, line by line in both engines: what generators found, a cause each."""

import pytest

import glassgrad
from tests.property.random_programs import Run, difference
from tests.torch_reference import torch

pytestmark = pytest.mark.torch

PROGRAMS = {
    "a factor of truth values is a truth value": """
        a = torch.tensor([True, False, True])
        b = torch.add(a, a, alpha=-1)
        c = torch.add(a, True, alpha=False)
        a.add_(b, alpha=-1)
    """,
    "powers of truth values": """
        a = torch.tensor([True, False])
        b = a.pow(False)
        c = torch.pow(a, True)
        d = a ** False
        e = torch.pow(a, a)
        a.pow_(True)
    """,
    "one number into one number": """
        a = torch.tensor(-0.5, requires_grad=True)
        b = a.scatter_add(0, torch.tensor([0]), a)
        c = torch.autograd.grad((b * b).sum(), a, create_graph=True)[0]
        c.abs().sum().backward()
    """,
    "what has no gradient may be written into one of several views": """
        a = torch.ones(2, 2, requires_grad=True)
        b = a.detach() * 1
        a.unbind()[0].logical_not_()
        (a * 1).split(1)[0].eq_(1)
        a.unbind()[0].add_(1)
    """,
    "a vector of weights with a vector of biases": """
        a = torch.ones(3)
        b = torch.nn.functional.linear(a, a, torch.ones(4))
        c = torch.nn.functional.linear(a, a, torch.tensor(1.0))
        d = torch.nn.functional.linear(torch.ones(4, 2, 3), torch.ones(5, 3), torch.ones(2, 5))
    """,
    "sizes that do not go together": """
        a = torch.tensor([1]).broadcast_to((2, -1))
        a.masked_fill_(torch.tensor([True, False]), 2)
        b = torch.zeros(1, 3)
        b.masked_fill_(torch.ones(2, 3) > 0, 2)
        c = torch.nn.functional.embedding(torch.tensor([0]), torch.tensor(1.0))
        d = torch.linalg.solve(torch.eye(2).expand(1, 2, 2, 2), torch.ones(1, 4, 2, 2))
    """,
    "a norm into an empty tensor": """
        a = torch.arange(6.0).view(2, 3)
        b = torch.nuclear_norm(a, out=torch.zeros(0))
        c = torch.zeros(4)
        torch.nuclear_norm(a, (0, 1), out=c)
    """,
    "no dimensions to roll": """
        a = torch.arange(6).view(2, 3)
        b = torch.roll(a, 4, None)
    """,
    "a deviation of zero": """
        a = torch.tensor([-0.5, -0.5, -0.5], requires_grad=True)
        a.std().log().backward()
    """,
    "running sums of one truth value": """
        a = torch.tensor(True)
        a.cumsum_(0)
        a.cumprod_(-1)
        b = torch.zeros(1, 0, dtype=torch.bool)
        b.cumsum_(0)
        c = torch.tensor([True])
        c.cumsum_(0)
    """,
    "one number of another dtype, by index tensors": """
        a = torch.zeros(3)
        a[torch.tensor([1, 0])] = torch.tensor(2.0)
        a[torch.tensor([1, 0])] = torch.tensor(2)
        a[torch.tensor([True, False, True])] = torch.tensor(2)
        a[torch.tensor([1, 0])] = torch.tensor(1j)
        a[torch.tensor([True, False, True])] = torch.tensor(1j)
        b = torch.zeros(3, dtype=torch.complex64)
        b[torch.tensor([1, 0])] = torch.tensor(True)
    """,
    "a table beside infinities": """
        a = torch.tensor([[0.0, 1.5], [0.75, 2.0], [1.0, 2.0]], requires_grad=True)
        b = torch.nn.functional.embedding(torch.tensor([0, 1, 0]), a).log()
        b.sum().backward()
    """,
    "targets of another dtype": """
        a = torch.tensor([0.5, -1.0], dtype=torch.float64)
        b = torch.tensor([0.0, 1.0])
        c = torch.nn.functional.binary_cross_entropy_with_logits(a, b)
        d = torch.nn.functional.binary_cross_entropy_with_logits(a, b, reduction="none")
        e = torch.nn.functional.binary_cross_entropy_with_logits(a, b.long())
        f = torch.nn.functional.binary_cross_entropy_with_logits(a, b.bool())
        g = torch.nn.functional.huber_loss(b, a, weight=b)
        h = torch.nn.functional.huber_loss(b.long(), a)
        i = torch.nn.functional.soft_margin_loss(b, a, reduction="none")
        j = torch.nn.functional.soft_margin_loss(b.int(), b)
    """,
    "what has no gradient says so": """
        a = torch.tensor([1.0, 2.0], requires_grad=True)
        b = torch.bincount(torch.tensor([0, 1]), a)
        b.sum().backward()
        c, d = torch.histogram(a, 3)
        c.sum().backward()
        d.sum().backward()
        e, f = torch.histogramdd(a[None], [2, 2])
        e.sum().backward()
        g = torch.nn.functional.binary_cross_entropy(torch.tensor([0.5, 0.5]), torch.ones(2), weight=a)
        h = torch.nn.functional.multi_margin_loss(torch.tensor([0.5, 0.5]), torch.tensor(1), weight=a)
    """,
    "another shape without recording": """
        a = torch.tensor([[1.0, 2.0, 3.0]], requires_grad=True)
        b = a * a
        with torch.no_grad(): b.unsqueeze_(0)
        (b * b).sum().backward()
        c = a.sum(0)
        d = c.view_as(c)
        with torch.no_grad(): c.unsqueeze_(0)
        (d * d).sum().backward()
    """,
    "the gradient of a view is retained": """
        a = torch.ones(2, 2, requires_grad=True)
        b = a * 1
        c = b[0]
        c.retain_grad()
        b.mul_(2)
        (c * c).sum().backward(retain_graph=True)
        with torch.no_grad(): c.mul_(2)
        (c * c).sum().backward()
    """,
    "the gradient of what a view changes is retained": """
        a = torch.ones(2, 2, requires_grad=True)
        b = a * 1
        b.retain_grad()
        c = b[0]
        d = b[1]
        d.retain_grad()
        c.mul_(3)
        (b.sum() + d.sum()).backward(retain_graph=True)
        d.mul_(2)
        (b * b).sum().backward()
    """,
    "a part of what repeats": """
        a = torch.tensor([1.0, 2.0, 3.0, 4.0]).expand(3, 4)
        b = torch.as_strided_scatter(a, torch.tensor([5.0, 6.0]), (2,), (3,))
        c = torch.arange(14.0)
        d = torch.as_strided_scatter(c[2:].view(3, 4), torch.ones(2, 2), (2, 2), (4, 1), 1) + 0
        e = torch.as_strided_scatter(c[2:5], torch.ones(3), (3,), (2,), 3) + 0
        f = torch.as_strided_scatter(c[2:5], torch.ones(3), (3,), (2,), 10)
    """,
    "weights of other sizes": """
        a = torch.rand(3, 4)
        b = torch.tensor([1, 3, 0])
        c = torch.nn.functional.multi_margin_loss(a, b, weight=torch.ones(5))
        d = torch.nn.functional.multi_margin_loss(a, b, weight=torch.ones(4).double())
        e = torch.nn.functional.multi_margin_loss(a, b, weight=torch.arange(4.0))
        f = torch.nn.functional.soft_margin_loss(a[:1], a)
        g = torch.nn.functional.soft_margin_loss(a, a[:1])
        h = torch.nn.functional.soft_margin_loss(a, a[:, :3])
    """,
    "numbers that are too large": """
        a = torch.tensor([2**70, -(2**63)], dtype=torch.bfloat16)
        b = torch.full((2,), 1e40, dtype=torch.complex64)
        c = torch.zeros(2, dtype=torch.complex64)
        c.fill_(complex(1, -1e300))
        c[0] = 1e40
        c.fill_(complex(1, float("inf")))
        c.fill_(-(2**70))
    """,
    "one number in a tensor": """
        a = torch.ones(2)
        b = torch.tensor([True, False])
        a.masked_fill_(b, torch.tensor(1j))
        c = a.masked_fill(b, torch.tensor(1e40, dtype=torch.float64))
        a.index_fill_(0, torch.tensor([0]), torch.tensor(1j))
        d = a.long().index_fill(0, torch.tensor([0]), torch.tensor(1e40))
        e = a.masked_fill(b, torch.tensor(complex(2, 0)))
    """,
    "another memory for a view of a leaf": """
        a = torch.ones(2, requires_grad=True)
        b = a[:]
        b.set_(torch.zeros(3))
    """,
    "pairs of halves that are none": "a = torch.view_as_complex(torch.zeros(3, dtype=torch.float16))",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_same_as_torch(name):
    yours, ours = Run(torch), Run(glassgrad)
    for line in PROGRAMS[name].strip().split("\n"):
        assert difference(yours, ours, line.strip()) is None, line


def test_a_gradient_of_a_shape_that_was_changed_without_recording_is_refused():
    leaf = glassgrad.tensor([[1.0, 2.0, 3.0]], requires_grad=True)
    result = leaf * leaf
    with glassgrad.no_grad():
        result.t_()
    with pytest.raises(RuntimeError, match=r"invalid gradient.*\[3, 1\].*\[1, 3\]"):
        result.sum().backward()
    assert leaf.grad is None


@pytest.mark.filterwarnings("ignore:An output with one or more elements")
def test_a_view_that_got_another_size_is_none():
    """PyTorch writes, and then refuses the gradient: its base has too little memory."""
    leaf = glassgrad.ones(2, 2, requires_grad=True)
    view = glassgrad.tensor([-0.5]).reshape(())
    glassgrad.eq(leaf, leaf, out=view)
    view -= leaf
    view.sum().backward()
    assert view.tolist() == [[0, 0], [0, 0]] and leaf.grad.tolist() == [[-1, -1], [-1, -1]]
