"""Shapes that do not fit, and in which words that is said."""

import numpy


def broadcasting(torch, show):
    """Trailing dimensions must be equal or one."""
    a, b = torch.ones(2, 3), torch.ones(2)
    for name in ("add", "sub", "mul", "div", "pow", "maximum", "eq", "atan2", "fmod"):
        show.error(lambda name=name: getattr(torch, name)(a, b), name)
    show.error(lambda: a + b)
    show.error(lambda: torch.where(torch.ones(4) > 0, a, a))
    show.error(lambda: torch.lerp(a, b, 0.5))
    show.error(lambda: torch.addcmul(a, b, b))
    show("fits", [(torch.ones(3, 1) + torch.ones(4)).shape, (torch.ones(0, 3) + torch.ones(1, 3)).shape])
    show.error(lambda: torch.broadcast_tensors(a, b))
    show.error(lambda: torch.broadcast_shapes((2, 3), (2,)))
    show("shapes", torch.broadcast_shapes((2, 1), (1, 3), (3,)))


def matrix_products(torch, show):
    """mm, mv, dot, bmm, matmul, addmm, linear."""
    a, b = torch.ones(2, 3), torch.ones(4, 5)
    show.error(lambda: a @ b)
    show.error(lambda: a.mm(b))
    show.error(lambda: a.mm(torch.ones(3)))
    show.error(lambda: a.mv(torch.ones(4)))
    show.error(lambda: a @ torch.ones(4))
    show.error(lambda: torch.ones(3) @ torch.ones(4))
    show.error(lambda: torch.ones(3).dot(torch.ones(4)))
    show.error(lambda: torch.ones(2, 3).dot(torch.ones(3)))
    show.error(lambda: torch.ones(2, 3, 4).bmm(torch.ones(2, 3, 4)))
    show.error(lambda: torch.ones(2, 3, 4).bmm(torch.ones(3, 4, 5)))
    show.error(lambda: torch.ones(2, 3).bmm(torch.ones(2, 3)))
    show.error(lambda: torch.ones(2, 3, 4) @ torch.ones(3, 4, 5))
    show.error(lambda: torch.tensor(1.0) @ torch.ones(2))
    show.error(lambda: torch.addmm(torch.ones(7), a, a.t()))
    show.error(lambda: torch.addmm(torch.ones(2), a, b))
    show.error(lambda: torch.nn.functional.linear(a, b))
    show.error(lambda: torch.nn.functional.linear(a, torch.ones(4, 3), torch.ones(3)))
    show.error(lambda: torch.nn.Linear(4, 2)(a))
    show.error(lambda: torch.outer(a, a))


def einsum(torch, show):
    """Equations that make no sense."""
    a, b = torch.ones(2, 3), torch.ones(4, 5)
    show.error(lambda: torch.einsum("ij,jk->ik", a, b))
    show.error(lambda: torch.einsum("ijk->i", a))
    show.error(lambda: torch.einsum("ij->k", a))
    show.error(lambda: torch.einsum("ij,jk", a))
    show.error(lambda: torch.einsum("i1->i", a))
    show.error(lambda: torch.einsum("ij->ii", a))


def joining(torch, show):
    """cat and stack of tensors that do not fit."""
    show.error(lambda: torch.cat([torch.ones(2, 3), torch.ones(2, 4)]))
    show.error(lambda: torch.cat([torch.ones(2, 3), torch.ones(3)]))
    show.error(lambda: torch.cat([]))
    show.error(lambda: torch.cat([torch.tensor(1.0), torch.tensor(2.0)]))
    show.error(lambda: torch.cat([torch.ones(2), 3.0]))
    show.error(lambda: torch.cat([torch.ones(2)], 1))
    show.error(lambda: torch.cat(torch.ones(2)), words=False)
    show.error(lambda: torch.stack([torch.ones(2), torch.ones(3)]))
    show.error(lambda: torch.stack([]))
    show.error(lambda: torch.stack([torch.ones(2)], 3))
    show("empty piece", torch.cat([torch.empty(0), torch.ones(2, 3)]))


def reductions(torch, show):
    """Dimensions that are not there, nothing to reduce."""
    x = torch.ones(2, 3)
    show.error(lambda: x.sum(2))
    show.error(lambda: x.mean(-3))
    show.error(lambda: x.sum((0, 0)))
    show.error(lambda: x.prod(5))
    show.error(lambda: x.max(2))
    show.error(lambda: x.softmax(2))
    show.error(lambda: x.cumsum(2))
    show.error(lambda: torch.empty(0).max())
    show.error(lambda: torch.empty(0, 3).max(0))
    show.error(lambda: torch.empty(0).argmax())
    show.error(lambda: torch.empty(0).amax())
    show("empty", [torch.empty(0).sum(), torch.empty(0).mean(), torch.empty(0).prod()])
    show("single", show.warnings(lambda: torch.ones(1).std()))
    show("0-d", [torch.tensor(3.0).sum(0), torch.tensor(3.0).max(0)])
    show.error(lambda: torch.tensor(3.0).sum(1))


def moving(torch, show):
    """repeat, roll, flip, tril, diag, pad, topk, sort."""
    x = torch.ones(2, 3)
    show.error(lambda: x.repeat(2))
    show.error(lambda: x.repeat(2, -1))
    show.error(lambda: x.roll((1, 2), 0))
    show.error(lambda: x.flip(0, 0))
    show.error(lambda: x.flip(2))
    show.error(lambda: torch.ones(3).tril())
    show.error(lambda: torch.ones(2, 2, 2).diag())
    show.error(lambda: torch.nn.functional.pad(x, (1,)))
    show.error(lambda: torch.nn.functional.pad(x, (1, 1), mode="strange"))
    show.error(lambda: torch.nn.functional.pad(x, (5, 5), mode="reflect"))
    show.error(lambda: torch.nn.functional.pad(x, (-4, 0)))
    show.error(lambda: x.topk(4))
    show.error(lambda: x.sort(2))
    show.error(lambda: torch.repeat_interleave(x, torch.tensor([1, 2]), dim=1))


def losses(torch, show):
    """Targets that do not fit."""
    functional = torch.nn.functional
    x = torch.ones(2, 3)
    show.error(lambda: functional.cross_entropy(x, torch.tensor([0])))
    show.error(lambda: functional.cross_entropy(x, torch.tensor([0, 3])))
    show.error(lambda: functional.cross_entropy(x, torch.tensor([0.0, 1.0])))
    show.error(lambda: functional.cross_entropy(x, torch.ones(2, 4)))
    show.error(lambda: functional.nll_loss(x, torch.tensor([0, -1])))
    show.error(lambda: functional.nll_loss(torch.ones(3), torch.tensor([0])))
    show.error(lambda: functional.binary_cross_entropy(x * 2, x))
    show.error(lambda: functional.binary_cross_entropy(x, torch.ones(3)))
    show.error(lambda: functional.binary_cross_entropy_with_logits(x, torch.ones(3)))
    show.error(lambda: functional.mse_loss(x, torch.ones(2)))
    show.error(lambda: functional.mse_loss(x, x, reduction="most"))
    show("broadcast", show.warnings(lambda: functional.mse_loss(x, torch.ones(3))))
    show.error(lambda: functional.layer_norm(x, (2,)))
    show.error(lambda: functional.dropout(x, 1.5))
    show.error(lambda: functional.embedding(torch.tensor([0.5]), x))


def wrong_arguments(torch, show):
    """Not a tensor, not a number, too many, too few."""
    x = torch.ones(2)
    show.error(lambda: x + "a")
    show.error(lambda: "a" + x)
    show.error(lambda: x + None)
    show.error(lambda: x + [1, 2])
    show.error(lambda: x @ 2)
    show.error(lambda: torch.add(x), words=False)
    show.error(lambda: torch.add("a", x), words=False)
    show.error(lambda: torch.sin(1.0))
    show.error(lambda: torch.exp("a"))
    show.error(lambda: torch.mm(x, 2), words=False)
    show.error(lambda: x.sum("a"), words=False)
    show.error(lambda: x.view("a"), words=False)
    show.error(lambda: torch.zeros("a"), words=False)
    show.error(lambda: torch.zeros(-1))
    show.error(lambda: torch.softmax(x), words=False)
    show.error(lambda: torch.stack(x, 0), words=False)
    show.error(lambda: x.add(1, 2, 3), words=False)
    show.error(lambda: torch.relu(x, nope=1), words=False)
    show.error(lambda: torch.clamp(x))
    show.error(lambda: x.transpose(0), words=False)


def numpy_operands(torch, show):
    """An array on either side."""
    x = torch.ones(2)
    show("tensor + array", x + torch.from_numpy(numpy.ones(2)))
    show("tensor * scalar", x * numpy.float32(2))
    show("tensor + numpy int", x + numpy.int64(2))


def comparisons(torch, show):
    """== of shapes that do not broadcast, and with other things."""
    x = torch.ones(2)
    show.error(lambda: x == torch.ones(3))
    show("equal", [torch.equal(x, torch.ones(3)), torch.equal(x, torch.ones(2).double().float())])
    show("other", [x == "a", x != "a"])
    show.error(lambda: x < "a")
    show.error(lambda: x < None)
    show("allclose", torch.allclose(x, x + 1e-9))
    show.error(lambda: torch.allclose(x, torch.ones(3)))
    show.error(lambda: torch.allclose(x, x.double()))
    show("isclose", torch.isclose(torch.tensor([1.0, float("nan")]), torch.tensor([1.0, float("nan")]), equal_nan=True))


def huge_allocations(torch, show):
    """More memory than there is."""
    show.error(lambda: torch.empty(2**60), words=False)
    show.error(lambda: torch.zeros(2**40, 2**40), words=False)
