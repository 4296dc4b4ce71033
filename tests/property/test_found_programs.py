"""Programs that once differed, line by line in both engines: what generators found, a cause each."""

import pytest

import glassgrad
from tests.property.random_programs import Run, difference
from tests.torch_reference import torch

pytestmark = pytest.mark.torch

PROGRAMS = {
    "a view of several is read without recording": """
        a = torch.ones(2, requires_grad=True)
        b = a * 2
        c = b.unbind(0)[0]
        b.mul_(3)
        with torch.no_grad(): b[(b.detach() > 0)] = c
    """,
    "means of truth values, and a number that is saved and written": """
        torch.ones(2, dtype=torch.bool).scatter_reduce(0, torch.tensor([0, 1]), torch.ones(2, dtype=torch.bool), "mean")
        a, b = torch.ones(2, requires_grad=True), torch.ones((), dtype=torch.float64)
        c = torch.func.vjp(lambda t: t * b, a)[1](a)[0]
        b.copy_(b)
        c.sum().backward()
    """,
    "determinants of which some are zero and some are none": """
        a = torch.tensor([[[float("nan"), 1], [0, 1]], [[1, 1], [1, 1]], [[2, 1], [0, 3]]], requires_grad=True)
        b = torch.autograd.grad(torch.linalg.det(a).sum(), a, create_graph=True)[0].detach()
        c = torch.nn.functional.instance_norm(torch.ones(0), a[1, 0].detach(), a[1, 0].detach(), use_input_stats=False)
    """,
    "a bias of another dtype": """
        a, b = torch.ones(1, 3, 5).mT, torch.ones(4, 3)
        c = torch.nn.functional.linear(a, b, torch.ones(4, dtype=torch.float64))
        torch.nn.functional.linear(a, b, torch.ones(4, dtype=torch.complex64))
    """,
    "tables and matrices without elements": """
        a = torch.ones(4, 0, requires_grad=True)
        b = torch.nn.functional.embedding(torch.zeros(3, dtype=torch.int64), a)
        b.sum().backward()
        c = torch.linalg.pinv(torch.ones(0, 3), hermitian=True)
    """,
    "second slopes of NaN": """
        a = torch.tensor([float("nan"), 1.0, -1.0, 30.0], requires_grad=True)
        b = torch.autograd.grad(torch.nn.functional.softplus(a).sum(), a, create_graph=True)[0]
        c = torch.autograd.grad(b.sum(), a)[0]
    """,
    "nothing is asked of what has no elements": """
        a = torch.zeros(0, requires_grad=True)
        b = torch.cat([a, a], 5)
        b.sum().backward()
        c = torch.zeros(3, 0).index_fill(0, torch.tensor([4]), 1)
        torch.ones(0, 3).fill_diagonal_(1, True)
    """,
    "gradients of what has no derivative, asked for by itself": """
        a = torch.tensor([1.0, 2.0, 2.0], requires_grad=True)
        b, c = a.unique(), a.unique()
        b.backward(torch.ones_like(b), inputs=[b])
        c.sum().backward(inputs=[c])
    """,
    "whole numbers of a view whose history is refused": """
        a = torch.ones(2, 2, requires_grad=True)
        b = a.split(1)[-1]
        with torch.no_grad(): b.add_(1)
        c, d = b.long(), b.to(torch.bool)
        e = b.double()
    """,
    "gradients of what a Function writes, and spreads of complex numbers without degrees of freedom": """
        a = torch.ones(3, requires_grad=True)
        b, c = a * 3, torch.zeros(3)
        b.grad, c.grad = torch.ones(3), torch.ones(3)
        Dirty.apply(b); Dirty.apply(c)
        d = torch.arange(6.0).reshape(2, 3) + 0j
        e = torch.cat([torch.var(d, n, correction=3).nan_to_num(7.0, 8.0) for n in (-1, 0)])
        f = torch.std(d, correction=6).nan_to_num(7.0, 8.0)
    """,
    "slopes by targets where chances are none": """
        a = torch.tensor([0.0, -0.0, 1.0, 0.5, 0.25], requires_grad=True)
        b = torch.tensor([1.0, 0.0, 0.5, 1.0, 0.5], requires_grad=True)
        c = torch.nn.functional.binary_cross_entropy(a, b, reduction="none")
        c.sum().backward()
        d = torch.nn.functional.multi_margin_loss(b[None], torch.tensor(1), reduction="none")
        e = torch.nn.functional.multi_margin_loss(b, torch.tensor([1]), reduction="none")
        (d * 2 + e * 3).sum().backward()
    """,
    "second slopes through what changes their dtype, called again": """
        a = torch.arange(24.0, dtype=torch.float64).reshape(4, 2, 3).requires_grad_()
        b = a.detach().reshape(2, 3, 4).clone().requires_grad_()
        c = torch.ones(4, dtype=torch.complex64, requires_grad=True)
        d = torch.conv_tbc(a, b, c)
        def slope(): return torch.autograd.grad((d * d).abs().sum(), c, create_graph=True)[0]
        slope().abs().sum().backward(retain_graph=True)
        slope().abs().sum().backward(retain_graph=True)
        slope().abs().sum().backward(retain_graph=True)
    """,
    "products with what is infinite": """
        a = torch.tensor([[-0.5, 1.75, 1.75]], requires_grad=True)
        b = torch.tensor([[float("inf"), -1.0, 3.0]], requires_grad=True)
        c = torch.scatter_reduce(a, 1, torch.tensor([[0, 0, 1]]), b, "prod")
        c.abs().sum().backward()
    """,
    "tables without columns": """
        a = torch.nn.functional.embedding(torch.tensor([2, 4, -1]), torch.zeros(3, 0))
        b = torch.nn.functional.embedding(torch.tensor(5), torch.zeros(3, 0))
        c = torch.nn.functional.embedding(torch.tensor([2, 0]), torch.zeros(3, 0))
        d = torch.nn.functional.embedding(torch.tensor([2, 4]), torch.zeros(3, 2))
    """,
    "slopes of what singular matrices solve": """
        a = torch.tensor([[1.0, 2.0], [2.0, 4.0]], requires_grad=True)
        b = torch.arange(4.0).reshape(2, 2).requires_grad_()
        c = torch.linalg.solve_ex(a, b)[0]
        c.abs().sum().backward()
    """,
    "hooks on what a checkpoint computes again of a tensor written since": """
        a = torch.tensor([1.25, 2.0, -0.25], requires_grad=True)
        b = a * 2
        def once(): return torch.utils.checkpoint.checkpoint(lambda a, b: (a * b).sin(), b, a, use_reentrant=False)
        with torch.autograd.graph.saved_tensors_hooks(packed, packed): c = once()
        b[b.detach() > 0] = 1.0
        c.abs().sum().backward(retain_graph=True)
        d = torch.special.round(a)
    """,
    "slopes of small norms of halves": """
        a = torch.full((2, 4), 1e-6, dtype=torch.float16).requires_grad_()
        b = torch.linalg.vector_norm(a, 2, -1)
        b.sum().backward()
        c = torch.nn.functional.pairwise_distance(a, a.detach())
        c.sum().backward()
    """,
    "second slopes of what is written with copies kept of it": """
        a = torch.tensor([[1.25, -0.75], [2.0, 3.0]], requires_grad=True)
        b = a.square()
        with torch.autograd.graph.saved_tensors_hooks(packed, packed): b.abs_()
        c = torch.autograd.grad(b.t().abs().sum(), a, create_graph=True)[0]
        c.abs().sum().backward()
    """,
    "powers that are roots, and those that are none": """
        a = torch.tensor([-float("inf"), -0.0, 4.0, -1.0])
        b = torch.cat([a.to(d) ** e for d in (torch.half, torch.float, torch.double) for e in (0.5, -0.5)])
        c = torch.cat([a.to(d).pow_(e) for d in (torch.half, torch.float, torch.double) for e in (0.5, -0.5)])
        d = torch.cat([a ** torch.tensor(e) for e in (0.5, -0.5)])
        e = a.double() ** torch.tensor([0.5], dtype=torch.double)
        f = a ** torch.full((4,), 0.5)
        g = a[:, None] ** torch.tensor([[0.5], [3.0], [1.0], [0.5]])
        h = a[0] ** torch.tensor(0.5)
        i = a[0].half() ** 0.5
        j = a[:0] ** torch.tensor(0.5)
        k = a.half() ** torch.tensor(0.5)
        l = a[:, None] ** torch.tensor([0.5, 2.0])
    """,
    "sums as truth values": """
        a = torch.tensor([[3, -2], [-3, 1]], dtype=torch.int16)
        b = a.sum(0, dtype=torch.bool)
        torch.sum(a, 0, out=b)
        c = a.sum(1, dtype=torch.int8)
    """,
    "elements of two dtypes that are among others": """
        a = torch.tensor([0, 1, 3])
        b = torch.cat([torch.isin(a.bfloat16(), other) for other in (a[1:].half(), a[1:], a[1:].float(), a[:1].byte())])
        c = torch.cat([torch.isin(a, a[1:].bfloat16()), torch.isin(a + 2**24, (a + 2**24).float()), torch.isin(a, 3.5)])
        d = torch.cat([torch.isin(a.half(), 3), torch.isin(3, a.bfloat16())[None], torch.isin(a, a[:0].half())])
        e = torch.cat([torch.isin(0.1, a.half() / 30)[None], torch.isin(a.half() / 30, 0.1)])
        f = torch.isin(a.repeat(20).half(), torch.arange(90).bfloat16())
    """,
    "the dtype that lerp refuses": """
        a = torch.tensor([True, False])
        b = torch.lerp(a, a, torch.tensor(2))
        c = torch.lerp(a.int(), a.int(), torch.tensor(2))
    """,
    "transforms of no examples, each a number": """
        a = torch.zeros(0)
        b = torch.cat([torch.func.vmap(f)(a) for f in (lambda x: x.cumsum(-1), lambda x: x.sum(0), torch.var)])
        c = torch.cat([torch.func.vmap(f)(a) for f in (lambda x: x.sort(0)[0], lambda x: x.topk(1, 0)[0])])
    """,
    "distances of no halves": """
        a = torch.zeros(0, 3, dtype=torch.float16, requires_grad=True)
        b = torch.cdist(a, torch.zeros(2, 3).half())
        b.sum().backward()
        c = torch.cdist(torch.zeros(2, 0).half(), torch.zeros(3, 0).half())
        d = torch.cdist(torch.zeros(1, 2).half(), torch.zeros(1, 2).half())
    """,
    "no kernel looks at the dtype of nothing": """
        d = torch.zeros(0, 3, dtype=torch.complex64)
        e = d.log_softmax(0)
        f = torch.softmax(d.real.long(), 1)
        h = torch.cat([torch.bernoulli(d), d.clone().bernoulli_(d), d.clone().bernoulli_(0.5)])
        h = d.clone().exponential_()
        i = torch.cat([torch.bernoulli(d.real.bool()), d.clone().random_().bool()])
        j = d.clone().bernoulli_(1.5)
        g = torch.zeros(0, dtype=torch.int64)
        k = torch.cat([torch.normal(g, 1.0), torch.normal(1.0, g), torch.normal(g, g), torch.randn_like(g)])
        l = torch.cat([g.clone().normal_(), g.clone().log_normal_(), g.clone().exponential_()])
        m = g.bool().geometric_(0.5)
        j = g.clone().cauchy_()
        k = torch.nn.functional.cross_entropy(g.bool(), torch.tensor(0))
    """,
    "a gradient that is kept, of what a custom function writes": """
        a = torch.ones(2, requires_grad=True)
        b = a * 3
        b.retain_grad()
        Dirty.apply(b)
        b.abs().sum().backward()
    """,
    "sizes of a subclass": """
        a = torch.ones(2, requires_grad=True)
        b = Subclass(a) * 1
        c = a.expand_as(b)
        d = a.view_as(b)
        e = a.reshape_as(b)
    """,
    "powers of zero by complex exponents": """
        a = torch.tensor([0.25, 0.75, 0.0, -1.0], requires_grad=True)
        b = a - a * torch.tensor([1j, 0, 0, 0])
        c = torch.where(b.detach().abs() > 2, 0 ** b, b)
        d = torch.zeros(4, dtype=torch.complex64) ** b
        c.abs().sum().backward(retain_graph=True)
        d.abs().sum().backward()
    """,
    "requires_grad of a result is not set, and may be asked for": """
        a = torch.ones(2, requires_grad=True)
        b = a * 2
        b.requires_grad_()
        b.requires_grad = True
        a[:1].requires_grad = True
        b.requires_grad = False
        a.requires_grad = True
    """,
    "as_strided_ is a node of its own": """
        a = torch.ones(4, requires_grad=True)
        b = a * 2
        b.as_strided_((2, 2), (1, 1), 1)
        (b * b).sum().backward()
    """,
    "views of a tensor that was set to nothing": """
        a = torch.ones(2, 2)
        b = a.detach()
        a.set_()
        c = a.expand(2, -1)
        d = a.unsqueeze(0)
        e = a[::2]
    """,
    "integers that repeat, beside other dtypes": """
        a = torch.arange(4).expand(2, 4)
        b = a * torch.arange(4.0)
        c = a / 2
        d = a.sqrt()
        e = torch.ones(2, 4, dtype=torch.int64).t().floor()
        f = torch.ones(4, dtype=torch.bfloat16).expand(2, 4).reciprocal()
        g = torch.softmax(torch.ones(3).expand(2, 3), 1, dtype=torch.float64)
    """,
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
    "extremes of one truth value are a copy": """
        a = torch.tensor(True)
        b = a.cummax(0)[0]
        c = a.cummin(0)[0]
        b.logical_not_()
        c.logical_not_()
    """,
    "an angle at the origin": """
        a = torch.zeros(2, requires_grad=True)
        b = torch.zeros(2, requires_grad=True)
        torch.atan2(a, b).backward(torch.tensor([float("inf"), 1.0]))
    """,
    "a loss in the dtype that it is written into": """
        a = torch.tensor([0.5, -1.0], dtype=torch.float64, requires_grad=True)
        b = torch.tensor([1.0, 0.25], requires_grad=True)
        c = torch.nn.functional.binary_cross_entropy_with_logits(a, b)
        d = torch.nn.functional.binary_cross_entropy_with_logits(b, b.detach(), torch.ones(2, dtype=torch.float64))
        e = torch.nn.functional.huber_loss(b, a, reduction="none")
        f = torch.nn.functional.soft_margin_loss(b, a)
        (c + d + e.sum() + f).backward()
    """,
    "a loss has weights of the sizes of what is given": """
        a = torch.arange(6.0).view(2, 3)
        b = torch.nn.functional.mse_loss(a, torch.ones(1, 2, 3), weight=a)
        c = torch.nn.functional.l1_loss(torch.ones(3), a, weight=torch.ones(3))
        d = torch.nn.functional.huber_loss(torch.ones(3), a, weight=torch.ones(2, 3))
    """,
    "a product that lies in order": """
        a = torch.ones(1, 3, requires_grad=True)
        b = torch.matmul(a, torch.ones(2, 3, 4))
        c = torch.matmul(a, torch.ones(2, 3, 1))
    """,
    "norms of what does not lie in order, and of whole numbers": """
        a = torch.ones(2, 3, 4).transpose(0, 1)
        b = torch.norm_except_dim(a, 2, 0)
        c = torch.norm_except_dim(a, 2, 2)
        d = torch.norm_except_dim(a.long(), 2, -1)
    """,
    "slopes at complex distances": """
        a = torch.arange(5.0, requires_grad=True)
        b = torch.gradient(a, spacing=1j)[0]
        b.abs().sum().backward()
    """,
    "distances and settings that are none": """
        a = torch.eye(3)
        b = torch.trapezoid(a, dx=True)
        c = torch.cumulative_trapezoid(a, dx=1j)
        d = torch.lu(a, get_infos=-1)[2]
        e = torch.linalg.cond(a, True)
        f = torch.nonzero(a, as_tuple=True, out=torch.zeros(0, dtype=torch.int64))
        g = torch.linalg.lstsq(torch.ones(2, 3, 3), torch.ones(3))
        h = torch.histogram(torch.ones(4, 5), 3, weight=torch.ones(5, 4))[0]
        i = torch.repeat_interleave(torch.tensor([1, 0, 2], dtype=torch.int32))
        j = torch.nn.functional.cosine_similarity(torch.tensor(2j, dtype=torch.complex128), torch.ones(3))
    """,
    "a number that fills its own tensor": """
        a = torch.arange(3.0)
        a.index_fill_(0, torch.tensor([0]), a[2])
    """,
    "a factor of bytes wraps round": """
        a = torch.tensor([True, False])
        b = torch.tensor([1, 3], dtype=torch.uint8)
        c = torch.addcmul(a, b, b, value=-1)
    """,
    "pairs in order in dimensions of one": """
        a = torch.arange(8.0).view(2, 2, 2).unfold(-1, 2, 1)
        b = torch.view_as_complex(a)
        b.mul_(2)
    """,
    "chances have weights of any dtype": """
        a = torch.arange(6.0, dtype=torch.float64, requires_grad=True).view(2, 3)
        b = torch.nn.functional.cross_entropy(a, a.detach().softmax(1), torch.tensor([1, 2, 3], dtype=torch.uint8))
        c = torch.nn.functional.cross_entropy(a, a.float().softmax(1).detach(), torch.tensor([1.0, 2.0, 3.0]))
        (b + c).backward()
    """,
    "another memory of another size": """
        a = torch.ones(2, 2, 2, requires_grad=True)
        b = a.unbind(0)[0]
        b.data = torch.full((3, 2, 2), 2.0)
        c = a.select(0, 1)
        c.data = a
        d = (a * 2).view(4, 2)
        (b.sum() + c.abs().sum()).backward()
    """,
    "gradients of pairs that lie apart": """
        a = torch.ones(2, 3, dtype=torch.complex64, requires_grad=True)
        b = torch.view_as_real(a)
        (b.mT @ torch.ones(3, 2)).sum().backward()
        torch.autograd.backward(b, torch.ones(2, 2, 3).mT)
    """,
    "a real seed of a complex result": """
        a = torch.ones(2)
        b = torch.func.vjp(lambda t: t * 1j, a)[1](a)
    """,
    "sizes that stay are no write": """
        a = torch.ones(2, 3)
        a.resize_as_(torch.zeros(2, 3))
        a.resize_(2, 3)
        b = torch.nn.functional.alpha_dropout(a.long(), 0.3, True)
        c = torch.autograd.functional.jacobian(lambda t: t * 2.0, a.long())
        d = torch.autograd.functional.vjp(lambda t: t * 2.0, a > 0, a)[1]
    """,
    "a root mean square in the dtype of what is given": """
        a = torch.ones(2, 3, requires_grad=True)
        b = torch.nn.functional.rms_norm(a, (3,), torch.ones(3, dtype=torch.float64))
        c = torch.nn.functional.rms_norm(torch.arange(6.0).view(2, 3).mT.contiguous().mT, (3,))
        b.sum().backward()
    """,
    "margins of what is not a number": """
        a = torch.tensor([[float("nan"), 1.0, 2.0], [1.0, float("nan"), 3.0]], requires_grad=True)
        b = torch.nn.functional.multi_margin_loss(a, torch.tensor([1, 0]), p=2)
        c = torch.nn.functional.multilabel_margin_loss(a, torch.tensor([[1, -1, 0], [0, 1, 2]]))
        (b + c).backward()
    """,
    "other memory for a result": """
        a = torch.ones(2, requires_grad=True)
        b = a * 2
        b.set_(torch.zeros(2))
    """,
    "statistics in another dtype": """
        a = torch.arange(16.0).view(2, 2, 4)
        b = torch.zeros(2, dtype=torch.float64)
        c = torch.ones(2, dtype=torch.float64)
        d = torch.nn.functional.instance_norm(a, b, c)
        e = torch.nn.functional.instance_norm(a, b, c, use_input_stats=False)
    """,
    "pieces of nothing": "a = torch.unsafe_chunk(torch.ones(0, 2), 2)[1]",
    "limits that cross, steps backwards": """
        c = torch.unsafe_chunk(torch.ones(3, requires_grad=True), 2)[1]
        torch.nn.functional.hardtanh_(torch.ones(3), 2, 0.5)
        d = torch.slice_scatter(torch.ones(3), torch.ones(2), 0, None, None, -2)
        e = torch.linalg.pinv(torch.eye(2), atol=torch.tensor(1.0, requires_grad=True))
        f = torch.triu_indices(2, 3, dtype=None)
    """,
    "products of three in half precision": """
        a = torch.arange(6.0, dtype=torch.bfloat16, requires_grad=True).view(2, 3)
        b = torch.nn.functional.bilinear(a, a, torch.ones(2, 3, 3, dtype=torch.bfloat16))
        c = torch.nn.functional.bilinear(a.half(), a.half(), torch.ones(2, 3, 3, dtype=torch.float16))
        (b + c).sum().backward()
    """,
    "refusals are of their types": """
        a = torch.tensor(1.0, requires_grad=True)
        b = torch.nn.functional.embedding(torch.tensor([0]), a)
        torch.cat([torch.ones(2), torch.ones(2)], out=torch.zeros(4, dtype=torch.int64))
        torch.stack([torch.ones(2), torch.ones(2)], out=torch.zeros(4, dtype=torch.bool))
        torch.tensor([True]).pow_(-1)
        c = torch.nn.functional.binary_cross_entropy_with_logits(torch.ones(2) * 1j, torch.ones(2))
    """,
    "pieces, and elements, by every name": """
        a = torch.arange(4)
        b = torch.tensor_split(a, tensor_indices_or_sections=torch.tensor(2))[1]
        b = torch.hsplit(a, sections=2)[1]
        b = torch.hsplit(a, indices=(1,))[1]
        torch.tensor_split(a)
        torch.vsplit(a.view(2, 2))
        torch.hsplit(a, 2, sections=2)
        torch.hsplit(a, True)
        torch.repeat_interleave()
        b = torch.repeat_interleave(repeats=a, output_size=6)
        torch.repeat_interleave(a, output_size=4)
        b = torch.isin(element=1, test_elements=a)
        torch.isin(a, [1])
        torch.isin(a, True)
        torch.isin(a, 1j)
        torch.isin(1, 2)
    """,
    "pairs of halves that are none": "a = torch.view_as_complex(torch.zeros(3, dtype=torch.float16))",
    "other memory, of one that requires gradients or has another dtype": """
        a = torch.ones(2, requires_grad=True)
        b = a * 2
        b.set_(torch.zeros(2))
        b.sum().backward()
        c = torch.zeros(3)
        c.set_(a)
        c.sum().backward()
        with torch.no_grad(): b.set_(a)
        a.set_(torch.ones(2, dtype=torch.float64))
    """,
    "what fits is told before the dtype": """
        a = torch.zeros(2, dtype=torch.bool)
        a.index_reduce_(0, torch.tensor([0, 1]), torch.ones(2), "mean")
        a.index_reduce_(0, torch.tensor([0]), a, "mean")
        a.index_reduce_(0, torch.tensor([0, 1]), a, "mean")
        b = torch.nn.functional.alpha_dropout(a, 0.3, True)
        c = torch.ones(2, 2, 2, dtype=torch.bool) @ torch.ones(2, 2, 2)
        d = torch.linalg.cross(torch.ones(3, dtype=torch.bool), torch.ones(3))
        e = torch.tensor([2, 3]).expand(2, 2)
        e.pow_(-1)
    """,
    "an input that is given back lies as a view of it": """
        a = torch.arange(3.0).view(3, 1).t()
        b = Same.apply(a)
        c = Same.apply(torch.ones(1, 3).split(2, -1)[-1])
        d = Same.apply(torch.ones(2, 3).t())
    """,
    "a view of a view that is a leaf": """
        a = torch.arange(3.0).view(1, 3).mT.contiguous().mT
        a.requires_grad_()
        b = a.flatten()
        c = Dirty.apply(b)
    """,
    "a subclass that a batch is multiplied by": """
        a = Subclass(torch.ones(2, 3))
        b = torch.func.vmap(torch.mul, (None, 0))(a, torch.ones(4, 3))
    """,
    "sizes of complex numbers are not written over them": """
        a = torch.tensor([1j, 2j])
        a.abs_()
        a.absolute_()
        a.sgn_()
        a.requires_grad_()
        (a * 1).abs_()
        a.abs_()
    """,
    "layers that write where they are told": """
        a = torch.tensor([[-1.0, 0.25, 2.0], [0.5, -0.25, 25.0]])
        b = torch.zeros(2, 3)
        torch.nn.functional.gelu(a, out=b)
        torch.nn.functional.softplus(a, 2, out=b)
        torch.nn.functional.hardshrink(a, out=b)
        torch.nn.functional.softshrink(a, out=b)
        torch.nn.functional.logsigmoid(a, out=b)
        torch.threshold(a, 0, 1, out=b)
        torch.nn.functional.gelu(a, approximate="tanh", out=a)
        c = torch.zeros(1, 1, 1)
        torch.nn.functional.avg_pool2d(a[None], 2, out=c)
        torch.nn.functional.avg_pool3d(torch.ones(1, 2, 2, 2), 2, out=torch.zeros(1, 1, 1, 1))
        torch.diff(a, out=torch.zeros(2, 2))
        torch.diff(a, n=2, prepend=a, out=torch.zeros(2, 4, dtype=torch.float64))
        torch.diff(a > 0, out=torch.zeros(2, 2))
        torch.isin(a, torch.tensor([2.0]), out=torch.zeros(2, 3, dtype=torch.bool))
    """,
    "what is copied into out= may not lie partly on it": """
        m = torch.arange(1.0, 40.0)
        torch.addmm(m[0:8].view(2, 4), m[10:16].view(2, 3), m[20:32].view(3, 4), out=m[1:9].view(2, 4))
        torch.addmv(m[0:2], m[10:16].view(2, 3), m[20:23], out=m[1:3])
        torch.addr(m[20:26].view(2, 3), m[0:2], m[20:23], out=m[1:7].view(2, 3))
        torch.cumsum(m[0:4], 0, out=m[1:5])
        torch.cumprod(m[0:4], 0, out=m[1:5])
        torch.scatter(m[0:4], 0, torch.tensor([0]), m[20:21], out=m[1:5])
        torch.index_add(m[0:4], 0, torch.tensor([0]), m[20:21], out=m[1:5])
        torch.addmm(m[20:28].view(2, 4), m[0:6].view(2, 3), m[20:32].view(3, 4), out=m[8:16].view(2, 4))
        torch.addmm(m[0:4], m[10:16].view(2, 3), m[20:32].view(3, 4), out=m[32:40].view(2, 4)[:, :4])
    """,
    "layers that do not write just anywhere": """
        a = torch.tensor([-1.0, 0.25, 2.0, 0.5])
        b = torch.zeros(4, dtype=torch.float64)
        torch.nn.functional.gelu(a, out=b)
        torch.nn.functional.softplus(a, out=b)
        torch.nn.functional.hardshrink(a, out=b)
        torch.nn.functional.softshrink(a, out=b)
        torch.nn.functional.logsigmoid(a, out=b)
        torch.threshold(a, 0, 1, out=b.int())
        torch.nn.functional.avg_pool2d(a.view(1, 2, 2), 2, out=b.view(1, 2, 2))
        torch.diff(a, n=0, out=b)
        torch.diff(a, out=b.int())
        torch.isin(a, a, out=b)
        torch.nn.functional.gelu(a[:3], out=a[1:])
        torch.nn.functional.softplus(a[:3], out=a[1:])
        torch.nn.functional.hardshrink(a[:3], out=a[1:])
        torch.nn.functional.softshrink(a[:3], out=a[1:])
        a.requires_grad_()
        torch.nn.functional.gelu(a, out=torch.zeros(4))
        torch.nn.functional.logsigmoid(a, out=torch.zeros(4))
        torch.nn.functional.avg_pool2d(a.view(1, 2, 2), 2, out=torch.zeros(1, 1, 1))
        torch.diff(a, out=torch.zeros(3))
        c = torch.diff(a, n=0, out=torch.zeros(4))
        c.sum().backward()
    """,
    "one output that two ways back unpack": """
        a = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 7.0]], requires_grad=True)
        b, c = torch.std_mean(a, (0, 1), keepdim=True)
        d = torch.autograd.grad((b * b).sum(), a, create_graph=True)[0]
        b.sum().backward(retain_graph=True)
        d.abs().sum().backward()
    """,
    "losses of torch's own are not reduced": """
        a = torch.tensor([[0.5, 0.25], [0.125, 1.0]])
        b = torch.tensor([[0.25, 0.75], [1.0, 0.0]])
        c = torch.tensor([1.0, -1.0])
        d = torch.kl_div(a, b)
        e = torch.cosine_embedding_loss(a, b, c)
        f = torch.hinge_embedding_loss(a, b)
        g = torch.margin_ranking_loss(a[0], b[0], c)
        h = torch.triplet_margin_loss(a, b, a + 1)
        i = torch.binary_cross_entropy_with_logits(a, b)
    """,
    "the norm of all weights": """
        a = torch.tensor([[1.0, 2.0], [-3.0, 0.5]], requires_grad=True)
        b = torch.norm_except_dim(a, 3, -1)
        b.backward()
    """,
    "running statistics that repeat": """
        a = torch.arange(16.0).view(2, 2, 4)
        b = torch.zeros(1).expand(2)
        c = torch.ones(2)
        d = torch.nn.functional.instance_norm(a, b, c)
        e = torch.nn.functional.instance_norm(a, c * 0, c)
    """,
    "deviations whose squares are too large": """
        a = torch.tensor([[1e30, 2.0], [3.0, -1e30]], requires_grad=True)
        b = a.std(1)
        c, d = torch.std_mean(a)
        (b.sum() + c).backward()
    """,
    "matrices of what is no number": """
        a = torch.tensor([[float("nan"), 1.0], [1.0, 2.0]])
        b = torch.cholesky(a)
        d = torch.linalg.cholesky_ex(a.flip(0, 1))[1]
        e = torch.tensor([[float("-inf"), -1.0, 1.0], [2.0, 1.0, 0.3], [-1e-30, 0.9, 0.5]])
        f = torch.linalg.svdvals(torch.stack([e, e.clamp(-1)]))
        g = torch.linalg.cond(e)
        h = torch.linalg.svdvals(e * 0)
    """,
    "truth values that scale numbers": """
        a = torch.ones(3, 2)
        b = torch.addr(a, torch.ones(3), torch.ones(2), beta=True)
        c = torch.addr(a, torch.ones(3), torch.ones(2), alpha=True)
        d = torch.addr(a > 0, torch.ones(3) > 0, torch.ones(2) > 0, alpha=True)
    """,
    "norms of several matrices": """
        a = torch.arange(12.0).view(2, 2, 3)
        b = torch.nuclear_norm(a)
    """,
    "normal numbers into memory of another size": """
        a = torch.zeros(0)
        b = torch.normal(torch.ones(4), 2.0, out=a)
        c = torch.zeros(3, 4)
        d = torch.normal(torch.ones(4), 2.0, out=c)
        e = torch.binomial(torch.ones(2, 3), torch.ones(2, 0))
    """,
    "extremes over what they are read of": """
        a = torch.arange(12.0).view(3, 4)
        b = torch.aminmax(a, dim=0, out=(a[0], a[1]))
    """,
    "frequencies without a step": """
        a = torch.fft.rfftfreq(5, 0.0)
        b = torch.fft.fftfreq(4, 0.0)
        c = torch.fft.rfftfreq(-1)
        d = torch.fft.fftfreq(-1)
    """,
    "classes that are none": """
        a = torch.nn.functional.multi_margin_loss(torch.ones(2, 3, 4), torch.tensor([1]))
        b = torch.nn.functional.multilabel_margin_loss(torch.ones(2, 0), torch.ones(2, 0).long())
    """,
    "sizes, parts and dimensions that are none": """
        a = torch.ones(2, 3)
        b = torch.linalg.tensorinv(torch.tensor(1.0), 2)
        c = torch.slice_copy(torch.tensor(1.0), 0, 1, 3)
        d = torch.as_strided_scatter(a, torch.ones(2), (2,), ())
        e = torch.constant_pad_nd(torch.tensor(1.0), (1, 2))
        f = torch.svd(torch.ones(3))
        g = torch.broadcast_shapes((2,), 1.5)
        h = torch.broadcast_shapes((2,), None)
        i = torch.baddbmm(torch.ones(1, 2, 2).half(), torch.ones(1, 2, 2), torch.ones(1, 2, 2))
        j = torch.fft.ifft2(a, out=torch.zeros(0))
        k = torch.nn.functional.gumbel_softmax(torch.tensor(1.0), hard=True)
    """,
    "unsigned numbers beyond bytes": """
        a = torch.tensor([1, 2, 65535], dtype=torch.uint16)
        b = a < a
        c = a >= 3
        d = a.maximum(a)
        e = a % 2
        f = a == 2
        g = torch.searchsorted(a, a)
        a.lt_(2)
    """,
    "one element of half precision that is too large": """
        a = torch.full((1,), 1e40, dtype=torch.float16)
        b = torch.full((2,), 1e40, dtype=torch.float16)
        c = torch.scalar_tensor(1e40, dtype=torch.bfloat16)
        d = torch.full_like(a, 1j)
        e = torch.zeros(2, dtype=torch.bfloat16)
        e[0] = -1e40
        e[:] = 70000
        e.fill_(1e40)
        f = torch.zeros(()).fill_(1e40)
        g = torch.where(a > 0, 1e40, a)
    """,
    "other memory for a view": """
        a = torch.ones(3, requires_grad=True)
        b = a * 2
        c = b[1:]
        c.set_(torch.zeros(2))
        c.sum().backward()
        b.sum().backward()
        d = torch.zeros(3)
        e = d[1:]
        e.set_(a)
    """,
    "other memory for a view, unseen": """
        a = torch.ones(3, requires_grad=True)
        b = a.abs()
        c = b[1:]
        c.data = c * 2
        b.normal_()
    """,
    "other memory of another dtype": """
        a = torch.zeros(3, requires_grad=True)
        b = a * 2
        b.data = torch.zeros(3, dtype=torch.float64)
        b.sum().backward()
    """,
    "subclasses that no row meets": """
        a = torch.ones(2, requires_grad=True)
        b = Subclass(a) * 1
        c, d = torch.broadcast_tensors(a, b)
        e, f = torch.atleast_1d(a, b)
        g = a.type_as(b)
        h = a.to(b)
    """,
    "numbers that are drawn into another tensor": """
        a = torch.zeros(2, dtype=torch.int64)
        torch.bernoulli(torch.tensor([0.5, 0.5]), out=a)
        torch.normal(torch.zeros(2), 1.0, out=a)
        b = torch.zeros(2, dtype=torch.complex64)
        torch.normal(torch.zeros(2), 1.0, out=b)
        c = torch.zeros(40)[::2]
        torch.normal(torch.arange(20.0), torch.ones(20), out=c)
        d = torch.normal(torch.zeros(2), 1.0, out=torch.ones(2, requires_grad=True))
        e = torch.rand(2)
    """,
    "chances in another order than memory": """
        a = torch.zeros(3, 2).t()
        a.bernoulli_(torch.tensor([[0.5, 0.25, 0.75], [0.5, 0.5, 0.5]]))
        b = torch.bernoulli(torch.tensor([0.5, 0.5, 2.0]))
        c = torch.rand(2)
    """,
    "truth values are refused before memory": """
        a = torch.tensor([True]).expand(2)
        a.neg_()
        a.sub_(True)
        torch.arange(4).expand(2, 4).sub_(a[:1])
        b = torch.tensor([True, False])
        b -= b[:1]
    """,
    "a source without dimensions": """
        a = torch.zeros(2, 2, 2)
        a.index_add_(-1, torch.tensor([0, 0]), torch.tensor(1.0))
        a.index_reduce_(2, torch.tensor([0, 0]), torch.tensor(1.0), "mean")
        a.index_add_(0, torch.tensor([0, 0]), torch.tensor(1.0))
    """,
    "powers of zero that go on to infinity": """
        a = torch.tensor([0.0, 1.0, 2.0], requires_grad=True)
        (0 ** a).rsqrt().sum().backward()
    """,
    "frequencies of no samples, copies that are no views, places that are written": """
        a = torch.fft.rfftfreq(0)
        b = torch.view_copy(torch.arange(6).view(2, 3).t(), (6,))
        c = torch.tensor([0, 1, 0])
        torch.gather(torch.tensor([5, 6, 7]), 0, c, out=c)
    """,
    "a gradient of other data": """
        a = torch.zeros(2, requires_grad=True)
        a.sum().backward()
        a.data = torch.zeros(3)
        (a * 2).sum().backward()
        a.data = torch.zeros(2, 2)
        (a * 2).sum().backward()
        b = torch.zeros((), requires_grad=True)
        b.sum().backward()
        b.data = torch.zeros(2)
        (b * 2).sum().backward()
    """,
    "a view that a Function writes": """
        a = torch.tensor([1.5, 2.5], requires_grad=True)
        b = (a * 1)[:]
        Dirty.apply(b)
        b.abs().sum().backward()
        c = Subclass(a) * 1
        Dirty.apply(c)
        c.abs().sum().backward()
    """,
    "contractions to one element": """
        a = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
        b = torch.inner(a[:1], a[:1])
        c = torch.inner(a[:, 0], a[:, 1])
        d = torch.tensordot(a, a.t(), 2)
        e = torch.inner(a > 1, a > 2)
        f = torch.inner(a[:, 0] > 1, a[:, 1] > 2)
        g = torch.inner(a[:1] > 1, a[:1] > 2)
        (b + c + d).sum().backward()
    """,
    "a tensor that becomes a window of itself": """
        a = torch.arange(24.0).view(2, 3, 2, 2).to(memory_format=torch.channels_last).requires_grad_()
        b = torch.nn.functional.adaptive_avg_pool2d(a, 1)
        b.pow(2).sum().backward()
        c = a * 1
        c.as_strided_((2, 2), (1, 2))
    """,
    "what keeps nothing goes back twice": """
        a = torch.tensor([1.5, 2.5], requires_grad=True)
        b = torch.tensor([0.75, 2.0])
        c = a.fmod(b)
        c.sum().backward()
        c.sum().backward()
        d = a.index_add(0, torch.tensor([0, 1]), b)
        d.sum().backward()
        d.sum().backward()
        e = b.addcmul(a, b)
        e.sum().backward()
        e.sum().backward()
        f = a.addcdiv(b, b)
        b.mul_(2)
        f.sum().backward()
    """,
    "a diagonal that is none to be written": """
        a = torch.ones(2, 2, requires_grad=True)
        a.fill_diagonal_(1)
        b = torch.ones(2, requires_grad=True)
        b.fill_diagonal_(1)
        c = torch.ones(2, 3, 2, requires_grad=True)
        c.fill_diagonal_(1)
    """,
    "data of another kind": """
        a = torch.ones(2)
        a.data = torch.ones(2, device="meta")
        a.data = torch.ones(2).to_sparse()
        b = torch.istft(torch.ones(3, 2) * 1j, 4, length=0, window=torch.ones(4))
    """,
    "what named results are made of": """
        a = torch.ones(2)
        b = torch.return_types.max((a,))
        c = torch.return_types.max((a, a), {})
        d, e = torch.return_types.max(sequence=iter([a, a]))
        f = torch.return_types.max(3)
    """,
    "arrays of NumPy's are no tensors": """
        import numpy as np
        a = np.ones((2, 3), np.float32)
        torch.relu(a)
        torch.add(a, torch.ones(3))
        torch.add(torch.ones(3), a)
        torch.amax(a, 1)
        torch.select(a, 0, 1)
        torch.argmax(a)
        b = torch.ones(3) + a
        c = a * torch.ones(3)
        d = torch.add(torch.ones(3), a[0, 0])
    """,
    "settings of another type are told of before what they mean": """
        a = torch.ones(2, 3)
        torch.linalg.eigh(a[:, :2], -2)
        torch.fft.ifft2(a, norm=3)
        torch.index_reduce(a, 0, torch.tensor([0, 1]), a, 5)
        torch.index_select(a, torch.tensor(0.5), torch.tensor([0]))
        torch.stack([a, None])
        torch.cat([None, a])
    """,
    "whole numbers beyond 64 bits": """
        a = torch.ones(2, 3)
        torch.select_copy(a, 0, 2**63)
        a.sum(2**63)
        a.sum((2**63,))
        a.softmax(-(2**63) - 1)
        torch.cat([a, a], 2**63)
        torch.nn.functional.glu(a, 2**63)
        a.reshape(2**63)
    """,
    "what is put into several places has its names": """
        a = torch.tensor([[2.0, 1.0], [0.0, 1.0]])
        b, c = torch.zeros(2), torch.zeros(2, 2)
        torch.linalg.eig(a, out=(b, c))
        torch.linalg.eig(a, out=(b + 0j, c))
        d, e = torch.zeros(2, dtype=torch.complex128), torch.zeros(2, 2, dtype=torch.complex128)
        torch.linalg.eig(a, out=(d, e))
        d.abs_()
    """,
    "medians that are not NaN go into their own dtype": """
        a = torch.ones(2, 3)
        b, c = torch.zeros(2, dtype=torch.float64), torch.zeros(2, dtype=torch.int64)
        torch.nanmedian(a, 1, out=(b, c))
    """,
    "numbers are drawn as they will lie": """
        a = torch.arange(6.0).reshape(2, 3)
        b = torch.zeros(2, 3, 2)[..., 1].mT.contiguous().mT
        torch.normal(1.0, a, out=b)
        c = torch.zeros(5, 5, 2, dtype=torch.float64)[..., 1]
        torch.normal(torch.ones(5, 5, dtype=torch.float64), 2.0, out=c)
        torch.normal(a, a, out=b)
    """,
    "refusals of sizes and bounds": """
        a, i = torch.ones(2, 3), torch.tensor([1, 0])
        torch.renorm(torch.zeros(2, 0, 3), float("inf"), 2, 0.5)
        b = torch.renorm(torch.zeros(2, 0, 3), float("inf"), 1, 0.5)
        torch.nn.functional.softshrink(a.double(), -1.5)
        torch.nn.functional.softshrink(a.half(), 1e5)
        c = torch.nn.functional.softshrink(a.double(), 1e39)
        torch.nanquantile(torch.zeros(0), 0.5)
        torch.quantile(a, torch.tensor([5.0]), dim=5)
        torch.quantile(a, torch.tensor([5.0]), dim=1)
        torch.nn.functional.one_hot(i, -2)
        torch.fill(a, a)
        torch.linalg.householder_product(torch.zeros(0, 3, 3), torch.zeros(2, 3))
        torch.frobenius_norm(a, (0, 1, 1))
        torch.tensordot(torch.tensor(1.0), torch.tensor(1.0), dims=([0], [0]))
        torch.histogram(i, i)
        torch.histogram(i, torch.tensor([0.0, 1.0]))
        torch.randint_like(a, a)
    """,
    "what is copied may lie in any order": """
        a = torch.arange(6.0).reshape(2, 3).mT.contiguous().mT
        b = torch.view_copy(a, (3, 2))
        c = torch.ones(8).as_strided((2, 4, 2), (1, 1, 1))
        d = torch.nn.functional.bilinear(c, torch.ones(2, 4, 3), torch.ones(5, 2, 3))
    """,
    "the slope at a zero below zero": """
        a = torch.tensor([-0.0, 0.0], requires_grad=True)
        b = torch.mvlgamma(a, 2)
        b.sum().backward()
    """,
    "None is no number": """
        a, i = torch.ones(2, 2), torch.tensor([0, 1])
        torch.add(a, a, alpha=None)
        a.clone().sub_(a, alpha=None)
        torch.rsub(a, 3, alpha=None)
        torch.addmm(a, a, a, beta=None)
        torch.addmv(a[0], a, a[0], alpha=None)
        torch.baddbmm(a[None], a[None], a[None], alpha=None)
        torch.index_add(a, 0, i, a, alpha=None)
        torch.logspace(0, 1, 3, None)
        torch.nn.functional.hardtanh_(a, None, 0.5)
        torch.nn.functional.softplus(a, None)
        torch.select(a, 0, None)
        torch.select(a, 0, [1])
        b = torch.select(a, 0, torch.tensor(1))
        torch.resolve_conj(None)
        torch.is_neg(2)
    """,
    "complex numbers are no settings": """
        a = torch.ones(2, 2)
        torch.nn.functional.softplus(a, 1j, 3.0)
        torch.nn.functional.softplus(a, 2.0, 1j)
        torch.nn.functional.threshold(a, 1j, 0.7)
        torch.nn.functional.threshold_(a, 1j, 0.7)
        torch.renorm(a, 1j, 0, 1j)
        torch.renorm(a, 2, 0, 1j)
        torch.celu(a, 1j)
        torch.var(a, 0, correction=1j)
        torch.linalg.cond(a, 0.0)
        torch.repeat_interleave(a, torch.tensor([1, 2, 3]), -1)
    """,
    "whole numbers of NumPy's": """
        import numpy as np
        a, n = torch.arange(12.0).reshape(3, 4), np.int64(1)
        b = torch.as_strided(a, (2, 2), (4, 1), n)
        c = torch.as_strided_scatter(a, torch.zeros(2, 2), (2, 2), (4, 1), n)
        d = torch.movedim(a, n, np.int64(0))
        e = torch.fft.ifftshift(a, n)
        f = torch.fft.fft2(a.double(), dim=n)
        g = torch.linalg.vector_norm(a, np.int64(2), 0)
        h = torch.histogram(a, np.int64(3))[0]
        i = torch.nn.functional.interpolate(a[None], scale_factor=np.int64(2))
        j = torch.bernoulli(a / 12, torch.tensor(0.3))
    """,
    "floats of NumPy's are numbers": """
        import numpy as np
        a, m = torch.arange(6.0).reshape(2, 3) / 6, np.float64(0.5)
        b = torch.nn.functional.margin_ranking_loss(a, a, a, m)
        c = torch.nn.functional.cosine_embedding_loss(a, a, a[:, 0], m)
        d = torch.nn.functional.triplet_margin_loss(a, a + 1, a, m)
        e = torch.nn.functional.cross_entropy(a, torch.tensor([0, 1]), label_smoothing=m)
        f = torch.nn.functional.pairwise_distance(a, a + 1, 2.0, m)
        g = torch.dist(a, a + 1, m)
    """,
    "what lies before the memory": """
        a = torch.arange(12.0)[4:]
        torch.as_strided(a, (2, 2), (2, 1), -1)
        torch.as_strided_scatter(a, torch.zeros(2, 2), (2, 2), (2, 1), -1)
        torch.cdist(a[None], a[None], float("nan"))
        torch.renorm(a.reshape(2, 4), 2, 0, float("nan"))
        torch.fft.hfft2(torch.tensor(1.0))
        torch.fft.hfftn(torch.tensor(1.0))
    """,
    "chances are drawn as they will lie": """
        a = torch.full((3, 4), 0.4, dtype=torch.float64)
        b = torch.zeros((3, 4, 2), dtype=torch.float64)[..., 1].mT.contiguous().mT
        torch.bernoulli(a, out=b)
        c = torch.zeros((3, 4, 2))[..., 1]
        torch.bernoulli(a, out=c)
    """,
    "frequencies of nothing": """
        a = torch.fft.rfftfreq(0)
        b = torch.fft.fftfreq(0)
    """,
    "places out of range, by the dimension that they are in": """
        a = torch.ones(2, 1, 3)
        a.index_add(1, torch.tensor([1]), a)
        a.index_add(0, torch.tensor([0, 2]), a)
        a.index_reduce(0, torch.tensor([0, 2]), a, "mean")
        torch.zeros(0).put_(torch.tensor([0]), torch.ones(1))
        torch.tensor(1.0).unbind(-1)
    """,
    "a parameter of a subclass of whole numbers": """
        a = Subclass(torch.ones(2, dtype=torch.int64)) * 1
        b = torch.nn.Parameter(a)
        c = torch.nn.Parameter(torch.ones(2, dtype=torch.int64))
    """,
    "other memory of another size, without recording": """
        a = torch.ones((), requires_grad=True)
        b = a * 2
        with torch.no_grad(): b.set_(torch.ones(2))
        (b * b).sum().backward()
    """,
    "losses of probabilities where there are no classes": """
        a = torch.ones(3, 0, requires_grad=True)
        b = torch.nn.functional.cross_entropy(a, a.detach(), label_smoothing=0.1)
        c = torch.nn.functional.cross_entropy(a, a.detach(), label_smoothing=0.1, reduction="none")
        d = torch.nn.functional.cross_entropy(torch.ones(0, 0), torch.ones(0, dtype=torch.int64), label_smoothing=0.1)
        b.backward()
    """,
    "distances of halves": """
        a = torch.cdist(torch.ones(2, 3).bfloat16(), torch.ones(2, 3))
        b = torch.cdist(torch.ones(2, 3).half(), torch.ones(2, 3).half())
    """,
    "what lies on itself is told before what it is given": """
        a = torch.ones(1, 3).expand(2, 3)
        a.index_copy_(0, torch.tensor([1, 0]), a)
    """,
    "the nuclear norm into a tensor": """
        a = torch.arange(9.0).reshape(3, 3)
        b = torch.zeros(1, 1)
        c = torch.nuclear_norm(a, True, out=b)
        d = torch.zeros(2, 1, 1)
        e = torch.linalg.matrix_norm(torch.arange(12.0).reshape(2, 2, 3), 2, keepdim=True, out=d)
    """,
    "a border of less than nothing": """
        a = torch.arange(24.0).reshape(4, 2, 3).requires_grad_()
        b = torch.conv_tbc(a, torch.ones(2, 3, 2), torch.ones(2), -1)
        b.square().sum().backward()
        c = torch.conv_tbc(a, torch.ones(2, 3, 2), torch.ones(2), -2)
    """,
    "windows by chance are of one size or of all": """
        a = torch.arange(25.0).reshape(1, 5, 5)
        b = torch.nn.functional.fractional_max_pool2d(a, 2, 2)
        c = torch.nn.functional.fractional_max_pool2d(a, (2,), 2)
        d = torch.nn.functional.fractional_max_pool2d(a, 2, (2,))
        e = torch.nn.functional.fractional_max_pool2d(a, 2, -1)
    """,
    "a number that lies on what a mask fills with it": """
        a = torch.tensor(2.0, requires_grad=True)
        b = a.view(1, 1)
        with torch.no_grad(): b[b > 0] = a
        with torch.no_grad(): b[0] = a
        c = a.detach().view(1)
        c[c > 0] = a
        c.sum().backward()
        d = torch.ones(1, 1)
        d.index_put_((d > 0,), torch.full((1, 1, 1), 3.0))
    """,
    "slices are reduced of more than real numbers": """
        a = torch.arange(6.0).reshape(2, 3) * (1 + 1j)
        b = a.index_reduce(1, torch.tensor([0, 2, 2]), a + 1, "mean")
        c = a.index_reduce(0, torch.tensor([1, 1]), a + 1, "prod")
        d = (a.real > 2).index_reduce(0, torch.tensor([1, 1]), a.real > 3, "amax")
        e = a.index_reduce(0, torch.tensor([1, 1]), a, "amin")
        f = a.index_reduce(0, torch.tensor([1, 1]), a, "mean", include_self=False)
        g = a[0].index_reduce(0, torch.tensor([1, 1]), a[0, :2], "mean")
    """,
    "a write with a subclass gives the subclass": """
        a = torch.ones(3, requires_grad=True) * 1
        b = Subclass(torch.ones(3)) * 1
        c = a.mul_(b)
        torch.nn.init.constant_(c, 1 + isinstance(c, Subclass))
        a += b
        a.sum().backward()
        with torch.no_grad(): c *= b
        d = torch.nn.Parameter(b.as_subclass(torch.Tensor) + 0).data
        d -= b
        class Other(torch.Tensor): pass
        Other(torch.ones(3)).add_(b)
    """,
    "logarithms of complex sums keep the turns of the larger": """
        a = torch.tensor([1 + 10j, 2 + 1j, 20 + 50j, -3 + 0j, 20 - 7.5j])
        b = a.logcumsumexp(0)
        c = torch.logaddexp(a, a.flip(0))
        d = torch.tensor([complex(float("-inf"), 2), 1j - 40]).logcumsumexp(0)
        e = torch.logaddexp(d, d)
    """,
    "what is no tensor lacks the attribute that PyTorch's function asks for": """
        torch.nn.init.constant_(None, 1.0)
        torch.nn.init.kaiming_uniform_(None)
        torch.nn.functional.mse_loss(torch.ones(2), None)
        torch.nn.functional.group_norm(None, 2)
        torch.nn.functional.multilabel_margin_loss(None, torch.ones(2))
    """,
    "places beyond what was expanded": """
        a = torch.ones(1, 3).expand(2, -1)
        a[torch.tensor([3])] = -1
        a[:, torch.tensor([5])] = -1
        a[torch.tensor([0, 1]), torch.tensor([1, 2, 0])] = 1
        a.index_fill_(1, torch.tensor([0, 3]), 1)
    """,
    "whether a gradient is there is no question about the history": """
        a = torch.ones(2, 3, requires_grad=True)
        b = a.unbind(0)[0]
        with torch.no_grad(): b.mul_(2)
        c = b.grad
        d = torch.tensor(b.retains_grad)
        e = b.is_leaf
    """,
    "nothing is rolled along any dimension": """
        a = torch.ones(0, 2).roll((1, 2), (5, 6))
        b = torch.ones(()).roll((1, 2), (-1, 0))
    """,
    "leaves that were given a history take no gradient": """
        a = torch.ones(3, requires_grad=True)
        b = torch.ones(1, requires_grad=True)
        c = (a * b).sum() + b
        a.requires_grad_(False)
        a.mul_(c)
        torch.autograd.grad(a.sum(), b, retain_graph=True)
        a.sum().backward(retain_graph=True)
        c.sum().backward(retain_graph=True)
        d = torch.ones(1, 3).view(3).requires_grad_()
        e = d.sum() * b
        d.requires_grad_(False)
        d[...] = e
        e.backward(retain_graph=True)
        d.sum().backward(inputs=[b], retain_graph=True)
        d.sum().backward(create_graph=True)
    """,
    "slopes of slopes at zero, of what bends there, and of determinants that are no numbers": """
        a = torch.tensor([1.0, 0.0, -1.0, -0.0], requires_grad=True)
        b = torch.tensor([0.25], requires_grad=True)
        c = torch.prelu(a, b)
        d = torch.autograd.grad(c.square().sum(), (a, b), create_graph=True)
        e = torch.autograd.grad(d[0].sum() + d[1].sum(), (a, b))
        f = torch.func.jvp(torch.prelu, (a.detach(), b.detach()), (torch.ones(4), torch.ones(1)))[1]
        g = torch.func.hessian(lambda t: torch.prelu(t, b.detach()).square().sum())(a.detach())
        i = torch.func.jvp(lambda t: torch.fmax(t, t * 0), (a.detach(),), (torch.ones(4),))[1]
        j = torch.func.jvp(torch.fmax, (a.detach(), a.detach().abs()), (torch.ones(4), torch.zeros(4)))[1]
        k = torch.func.jvp(torch.fmin, (a.detach(), a.detach().abs()), (torch.ones(4), torch.zeros(4)))[1]
        h = torch.tensor([[float("inf"), -0.5], [0.0, 0.0]], requires_grad=True)
        torch.linalg.det(h).backward()
    """,
    "numbers that are not there": """
        a = torch.arange(6.0).view(2, 3)
        m, i = lambda: torch.ones(2, 3, device="meta"), lambda: torch.tensor(1, device="meta")
        a[i()]
        m()[i()]
        a[0:i()]
        a[m() > 0]
        m()[m() > 0]
        a[i() > 0]
        a[i()] = 1.0
        a[i() > 0] = 1.0
        b = torch.tensor([m()[0, 0], 1.0])
        b, c = torch.tensor(m()).device, torch.ones(2, device="meta").new_tensor(m()).device
        torch.tensor(m(), device="cpu")
        a.new_tensor(m())
        b, c = a.type_as(m()).device, m()[0:0].device
        m().type_as(a)
        torch.arange(i())
        torch.full((2,), i())
        a.narrow(0, i(), 1)
        a.repeat(i(), i())
        range(i())
        torch.meshgrid(a[0], m()[0], indexing="ij")
        torch.tensor_split(a, torch.ones(1, dtype=torch.int64, device="meta"))
        torch.stft(torch.ones(2, 8, device="meta"), 4, window=torch.ones(4), return_complex=True)
        torch.istft(torch.ones(2, 3, 11, dtype=torch.complex64), 4, window=torch.ones(4, device="meta"))
        torch.histogramdd(a, [2, 2, 2], weight=m()[:, 0])
        torch.histogram(a, 3, weight=m())
        torch.cov(a, fweights=torch.ones(3, dtype=torch.int64, device="meta"))
        torch.repeat_interleave(i()[None])
        b = torch.repeat_interleave(i()[None], output_size=4).device
        torch.nn.functional.ctc_loss(torch.ones(3, 2, 4), torch.ones(2, 2).long(), i().expand(2), torch.ones(2).long())
        b = m().as_strided((2, 2), (0, 0)).device
    """,
    "gradients that are nowhere, or of what is nowhere": """
        a, b = torch.ones(2, requires_grad=True), lambda: torch.ones(2, requires_grad=True, device="meta")
        m = lambda: torch.ones(2, device="meta")
        (a * 2).backward(m())
        (b() * 2).backward(torch.ones(2))
        torch.autograd.grad(a * 2, a, m())
        a.grad = m()
        torch.ones(2, device="meta").grad = torch.ones(2)
        c = a * 2; h = c.register_hook(lambda g: m()); c.sum().backward()
        c = a * 2; h = c.grad_fn.register_prehook(lambda g: (m(),)); c.sum().backward()
        F = type("F", (torch.autograd.Function,), {"forward": lambda ctx, x: x * 2, "backward": lambda ctx, g: m()})
        F.apply(a).sum().backward()
        torch.ones(2).set_(m())
        c = m().type()
    """,
    "complex products begin with one": """
        a = torch.tensor([complex(-0.0, -0.0), complex(float("inf"), 0.0), complex(1.0, 2.0)])
        b, c = a.cumprod(0), a[1:].cumprod(0)
    """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_same_as_torch(name):
    yours, ours = Run(torch), Run(glassgrad)
    for line in PROGRAMS[name].strip().split("\n"):
        assert difference(yours, ours, line.strip()) is None, line


def test_what_is_laid_by_channels_is_normalised_so():
    laid = glassgrad.ones(2, 3, 2, 2).to(memory_format=glassgrad.channels_last)
    assert glassgrad.nn.functional.rms_norm(laid, (2,)).stride() == (12, 1, 6, 3)


def test_other_memory_has_no_gradient():
    leaf = glassgrad.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="set_ is not implemented"):
        (leaf * 2).set_(glassgrad.zeros(2)).sum().backward()
    assert leaf.grad is None


def test_a_gradient_of_a_shape_that_was_changed_without_recording_is_refused():
    leaf = glassgrad.tensor([[1.0, 2.0, 3.0]], requires_grad=True)
    result = leaf * leaf
    with glassgrad.no_grad():
        result.t_()
    with pytest.raises(RuntimeError, match=r"invalid gradient.*\[3, 1\].*\[1, 3\]"):
        result.sum().backward()


def test_what_is_kept_of_a_result_is_what_it_was():
    """PyTorch's rule reads what the result was given since."""
    for _ in range(3):  # the second call is printed
        leaf = glassgrad.ones(2, requires_grad=True)
        middle = leaf * 3
        result = middle.square()
        middle.data = glassgrad.zeros(2)
        result.sum().backward()
        assert leaf.grad.tolist() == [18, 18]


@pytest.mark.filterwarnings("ignore:An output with one or more elements")
def test_a_view_that_got_another_size_is_none():
    """PyTorch writes, and then refuses the gradient: its base has too little memory."""
    leaf = glassgrad.ones(2, 2, requires_grad=True)
    view = glassgrad.tensor([-0.5]).reshape(())
    glassgrad.eq(leaf, leaf, out=view)
    view -= leaf
    view.sum().backward()
    assert view.tolist() == [[0, 0], [0, 0]] and leaf.grad.tolist() == [[-1, -1], [-1, -1]]


def test_what_lies_on_out_is_read_first():
    """PyTorch takes these calls, and reads what it has overwritten."""
    m = glassgrad.arange(6.0)
    glassgrad.sum(m.view(2, 3), 0, out=m[1:4])
    assert m.tolist() == [0, 3, 5, 7, 4, 5]
    glassgrad.addmv(m[4:6], m[:4].view(2, 2), m[1:3], out=m[2:4])
    assert m.tolist() == [0, 3, 4 + 15, 5 + 15 + 35, 4, 5]
    glassgrad.cummax(m[:3], 0, out=(m[1:4], glassgrad.zeros(3, dtype=glassgrad.int64)))
    assert m.tolist() == [0, 0, 3, 19, 4, 5]


def test_circles_of_nothing_are_refused():
    """Where PyTorch gives memory as it finds it."""
    for padding in ((-3, 3), (3, -3), (-3, 2)):
        with pytest.raises(RuntimeError, match="leaves none to go around"):
            glassgrad.nn.functional.pad(glassgrad.ones(2, 3), padding, "circular")
    assert glassgrad.nn.functional.pad(glassgrad.ones(2, 3), (-3, 0), "circular").shape == (2, 0)


def test_windows_of_nothing_are_refused():
    """Of which PyTorch says minus infinity, at a place beyond the end."""
    with pytest.raises(RuntimeError, match="must be positive"):
        glassgrad.nn.functional.fractional_max_pool2d(glassgrad.ones(1, 3, 3), 0, 2)


def test_slopes_of_sums_have_no_strides_backwards():
    sums = glassgrad.func.jacrev(lambda x: x.cumsum(0))(glassgrad.ones(1))
    assert sums.stride() == (1, 1)


def test_powers_of_matrices_lie_row_by_row():
    laid = glassgrad.ones(2, 3, 2, 2).to(memory_format=glassgrad.channels_last)
    assert [laid.matrix_power(n).stride() for n in range(3)] == [(12, 4, 2, 1)] * 3


def test_what_lapack_solves_lies_by_columns():
    matrix, values = 4 * glassgrad.eye(3), glassgrad.ones(3, 2)
    for solution in (
        glassgrad.linalg.lstsq(matrix, values).solution, glassgrad.cholesky_solve(values, matrix),
        glassgrad.cholesky_inverse(matrix),
    ):  # fmt: skip
        theirs = torch.linalg.solve(torch.eye(3), torch.ones(3, solution.shape[1]))
        assert solution.stride() == theirs.stride() == (1, 3)
