"""Trainings that once differed, line by line in both engines: what generators found, a cause each."""

import warnings

import numpy as np
import pytest

import glassgrad
from tests.property.random_training import TrainingRun, difference
from tests.torch_reference import torch

pytestmark = pytest.mark.torch

SPARSE = """
        def looked(w, **more): return torch.nn.functional.embedding(torch.tensor([[1, 2], [1, 4]]), w, **more)
        a = torch.nn.Parameter(torch.ones(6, 3)); looked(a, sparse=True).sum().backward()
"""
PROGRAMS = {
    "steps of recurrent networks in a checkpoint that are looked at": """
        model = torch.nn.Sequential(torch.nn.BatchNorm1d(3), torch.nn.LSTMCell(3, 3), torch.nn.GRUCell(3, 3))
        x = torch.arange(6.0).reshape(2, 3).requires_grad_()
        def f(x): return model[2](model[1](model[0](x))[0])
        z = torch.utils.checkpoint.checkpoint(f, x, use_reentrant=False)
        z.sum().backward()
    """,
    "losses of classes, and means of volumes, in autocast": """
        x, n, w = torch.arange(12.0).reshape(3, 4).bfloat16().requires_grad_(), torch.tensor([0, 1, 2]), torch.ones(4)
        v, F = x.detach().view(1, 3, 1, 2, 2), torch.nn.functional
        with torch.autocast("cpu", torch.bfloat16): a = F.nll_loss(x, n, w); a.backward()
        with torch.autocast("cpu", torch.bfloat16): b = F.nll_loss(x.mT[None], n[None], w)
        with torch.autocast("cpu", torch.bfloat16): c = F.nll_loss(x.mT[None, :, None], n[None, None], w)
        with torch.autocast("cpu", torch.bfloat16): d = F.nll_loss(x.float(), n, w.bfloat16())
        with torch.autocast("cpu", torch.bfloat16): e = F.adaptive_avg_pool3d(v, 1)
        with torch.autocast("cpu", torch.bfloat16): f = F.adaptive_avg_pool3d(v, (1, 2, 1))
    """,
    "counts beside halves": """
        a, n = torch.ones(3).half().requires_grad_(), torch.tensor([0, 2, 5])
        b = torch.nn.functional.poisson_nll_loss(a, n, full=True)
        c = torch.nn.functional.poisson_nll_loss(a, n.byte(), log_input=False, full=True, reduction="none")
        b.backward(); c.sum().backward()
        d = torch.func.vmap(lambda a: torch.nn.functional.poisson_nll_loss(a, n[0], full=True))(a)
        e = torch.nn.functional.poisson_nll_loss(a, n.double(), full=True)
    """,
    "dropout of what is expanded, and slopes that are drawn": """
        F = torch.nn.functional
        x = torch.arange(1.0, 7).reshape(3, 2).mT.expand(2, 2, 3)
        a = F.dropout(x, 0.5)
        b = F.alpha_dropout(x, 0.5, True)
        c = F.rrelu(-torch.arange(1.0, 99), training=True).view(torch.int32)
    """,
    "spectral norms within transforms": """
        l, x = torch.nn.Linear(3, 2), torch.randn(4, 3)
        m = torch.nn.utils.spectral_norm(torch.nn.Linear(3, 2))
        p, q = dict(parametrizations.spectral_norm(l).named_parameters()), dict(m.named_parameters())
        def f(p): return torch.func.functional_call(l, p, (x,)).square().sum()
        def g(p): return torch.func.functional_call(m, p, (x,)).square().sum()
        a = torch.func.grad(f)(p)["parametrizations.weight.original"]
        b = torch.func.grad(g)(q)["weight_orig"]
        u, v = l.parametrizations.weight[0]._u, m.weight_u
    """,
    "the slope of logit at minus zero": """
        a = torch.tensor([-0.0, 0.0, 1.0, 0.5]).requires_grad_()
        torch.logit(a).abs().sum().backward()
        torch.logit(a, 0.0).abs().sum().backward()
    """,
    "layers of halves over single numbers within autocast": """
        l = torch.nn.LSTM(4, 4, 2).bfloat16()
        x = torch.randn(3, 2, 4)
        with torch.autocast("cpu"): a = l(x)[0]; b = l(rnn.pack_sequence([*x]))[0].data; c = l(x, l(x)[1])[1][1]
        with torch.autocast("cpu"): d = l(rnn.pack_sequence([x[0], x[1][:1]]))[0].data
    """,
    "parameters are written from sparse gradients": """
        a = torch.nn.Parameter(torch.ones(4, 2))
        torch.nn.functional.embedding(torch.tensor([1, 1, 3]), a, sparse=True).sum().backward()
        g = a.grad
        with torch.no_grad(): a.add_(g, alpha=-0.1); a.sub_(g, alpha=0.1); a -= 0.1 * g; a += g
        b = torch.ones(8, 2); v = b[:4]; v.add_(g); v.mul_(g)
        b[:2].add_(g)
        b[:4].copy_(g)
        b[:4].div_(g)
    """,
    "parts that are set to numbers within transforms": """
        a = torch.arange(16.0).reshape(2, 2, 4)
        def f(x): o = x.clone(); o[0] = 2.0; o[1, 1:] = x[0, 0]; return o.sum()
        b = torch.func.vmap(torch.func.grad(f))(a)
        def g(x): return (x * 1).index_put_((torch.tensor([0]),), x[-1:]).sum()
        c = torch.func.jacfwd(g)(a[0])
        d = torch.func.vmap(g)(a)
        e = torch.func.hessian(lambda x: (x * x).index_put_((torch.tensor([0]),), x[-1:]).square().sum())(a[0, 0])
    """,
    "what pads a table gets no gradient, of NaN neither": """
        F = torch.nn.functional
        n = float("nan"); i = torch.tensor([0, 1, 1, 2]); b = torch.tensor([0, 1])
        a, g = torch.ones(4, 2).requires_grad_(), torch.tensor([[n, n], [1.0, 2], [3, 4], [5, 6]])
        F.embedding(i, a, padding_idx=0).backward(g)
        F.embedding(i, a, padding_idx=0, scale_grad_by_freq=True).backward(g)
        F.embedding_bag(i, a, b, padding_idx=0).backward(g[:2])
        F.embedding_bag(i, a, b, padding_idx=0, mode="mean").backward(g[:2])
        w = torch.tensor([1.0, 2, 3, 4]).requires_grad_()
        F.embedding_bag(i, a, b, padding_idx=0, mode="sum", per_sample_weights=w).backward(g[:2])
    """,
    "planes that were averaged to nothing have no way back": """
        a = torch.ones(2, 3, 4, 4).requires_grad_()
        torch.nn.functional.adaptive_avg_pool2d(a, (0, 2)).sum().backward()
        torch.nn.functional.adaptive_max_pool2d(a, (0, 2)).sum().backward()
        torch.nn.functional.interpolate(a, scale_factor=0.2, mode="area").sum().backward()
        torch.nn.functional.adaptive_avg_pool1d(a[0], 0).sum().backward()
        torch.nn.functional.adaptive_avg_pool2d(a[:0], 2).sum().backward()
    """,
    "halves of bilinear layers round between products": """
        a, b = torch.randn(4, 3).bfloat16().requires_grad_(), torch.randn(4, 2).bfloat16().requires_grad_()
        w = torch.randn(5, 3, 2).bfloat16().requires_grad_()
        c = torch.nn.functional.bilinear(a, b, w); c.square().sum().backward()
    """,
    "pooling of three dimensions whose first of four is a channel": """
        a = torch.randn(2, 2, 4, 4).contiguous(memory_format=torch.channels_last)
        b = torch.nn.functional.max_pool3d(a, 2, 1)
        b = torch.nn.functional.max_pool3d(a, 2, 1, return_indices=True)[0]
        b = torch.nn.functional.max_pool3d(a[None], 2, 1)
        b = torch.nn.functional.avg_pool3d(a, 2, 1)
    """,
    "losses of two dtypes within autocast are single": """
        a = torch.ones(2, 2).bfloat16()
        F = torch.nn.functional
        b = torch.full((2, 2), 0.5)
        with torch.autocast("cpu"): c = F.huber_loss(a, b)
        with torch.autocast("cpu"): d = F.soft_margin_loss(a, b)
        with torch.autocast("cpu"): e = F.binary_cross_entropy_with_logits(b, a * 0.5)
        with torch.autocast("cpu"): f = F.binary_cross_entropy_with_logits(a, a, pos_weight=b[0])
    """,
    "halves that lie on a limit": """
        F = torch.nn.functional
        def on(n, dtype): return torch.tensor([-n, n], dtype=dtype).requires_grad_()
        a = on(0.2, torch.bfloat16); b = F.hardshrink(a, 0.2); b.sum().backward()
        a = on(0.2, torch.bfloat16); b = F.softshrink(a, 0.2); b.sum().backward()
        a = on(0.2, torch.bfloat16); b = F.threshold(a, 0.2, 0.0); b.sum().backward()
        a = on(0.3, torch.float16); b = F.threshold(a, 0.3, 0.0); b.sum().backward()
        a = on(0.3, torch.float16); b = F.threshold_(a * 1, 0.3, 0.0); b.sum().backward()
        a = on(0.2, torch.float16); b = F.hardtanh(a, -0.2, 0.2); b.sum().backward()
    """,
    "attention that drops is single within autocast": """
        F = torch.nn.functional
        a = torch.randn(2, 3, 4, requires_grad=True)
        torch.manual_seed(0)
        with torch.autocast("cpu"): b = F.scaled_dot_product_attention(a, a, a, dropout_p=0.5)
        said = b.grad_fn.name(), b.grad_fn.next_functions[0][0].name(), b.tolist()
        b.sum().backward()
        l = torch.nn.MultiheadAttention(4, 2, 0.5)
        with torch.autocast("cpu"): c = l(a, a, a, need_weights=False)[0]
        c.sum().backward()
    """,
    "what is put together within autocast": """
        a = torch.randn(2, 3, requires_grad=True); b = a.detach().half().requires_grad_(); c = a.bfloat16()
        with torch.autocast("cpu"): torch.cat([c, b])
        with torch.autocast("cpu"): torch.cat([b, a])
        with torch.autocast("cpu"): d = torch.cat([a, b, c, a.double()])
        with torch.autocast("cpu", torch.float16): e = torch.stack([b, a]); f = torch.hstack([b, b])
        with torch.autocast("cpu", torch.float16): g = torch.index_copy(a, 0, torch.tensor([1]), b[:1])
        with torch.autocast("cpu", torch.float16): a.index_copy_(0, torch.tensor([1]), b[:1])
        (d.sum() + e.sum() + g.sum()).backward()
    """,
    "running statistics of instances are in the weights' dtype": """
        a = torch.randn(2, 2, 4).bfloat16()
        l = torch.nn.InstanceNorm1d(2, affine=True, track_running_stats=True)
        b = l(a)
        l.eval(); c = l(a)
        l.bfloat16(); l.running_mean = torch.zeros(2); d = l(a)
    """,
    "sequences are padded within transforms": """
        a = torch.randn(3, 4, 2)
        b = torch.func.jacrev(lambda a: rnn.pad_sequence([*a], padding_side="left"))(a)
        c = torch.func.jacrev(lambda a: rnn.pad_sequence([torch.ones(1, 2), a[0]], True))(a)
        d = torch.func.jacrev(lambda a: rnn.pack_sequence([*a]).data)(a)
    """,
    "results lie as the weights do, kernels of one element too": """
        a = torch.randn(2, 3, 4, 4)
        l = torch.nn.Conv2d(3, 4, 1).to(memory_format=torch.channels_last)
        k = torch.nn.Conv2d(3, 3, 2, groups=3).to(memory_format=torch.channels_last)
        said = l(a).stride(), l(a).stride(), k(a).stride(), k(a).stride()
        b = torch.nn.functional.dropout(l(a), 0.5)
    """,
    "a sixth in single precision": """
        a = torch.tensor([0.3, 4.0]).double().requires_grad_(); torch.nn.functional.hardsigmoid(a).sum().backward()
        said = a.grad.tolist()
    """,
    "what is overwritten within vmap is told": """
        torch.func.vmap(torch.func.grad(lambda x: torch.relu_(x.tanh()).sum()))(torch.ones(2, 3))
    """,
    "orthogonal halves are refused late, as PyTorch's right inverse of them is": """
        l = torch.nn.Linear(3, 3).bfloat16(); parametrizations.orthogonal(l)
        l.weight
        k = torch.nn.Linear(2, 4).half(); parametrizations.orthogonal(k, orthogonal_map="householder")
        k.weight
    """,
    "pruning what is not there": """
        l = torch.nn.BatchNorm2d(4, affine=False)
        prune.global_unstructured([(l, "weight")], prune.L1Unstructured, amount=0.4)
        torch.nn.utils.vector_to_parameters(torch.ones(2), [None])
    """,
    "a fused step takes no sparse gradients": SPARSE
    + """
        torch.optim.SGD([a], 0.1, fused=True).step()
        torch.optim.SGD([a], 0.1, fused=True, weight_decay=0.1).step()
        torch.optim.Adagrad([a], 0.1, fused=True).step()
    """,
    "sparse gradients are clipped by a norm that is known, and looked at for anomalies": SPARSE
    + """
        torch.nn.utils.clip_grads_with_norm_([a], 0.5, torch.tensor(2.0))
        b = a.detach().bfloat16(); b.grad = a.grad.bfloat16()
        torch.nn.utils.clip_grads_with_norm_([b], 0.5, torch.tensor(2.0))
        with torch.autograd.set_detect_anomaly(True): looked(a, sparse=True).sum().backward()
        with torch.autograd.set_detect_anomaly(True): (looked(a, sparse=True) * float("nan")).sum().backward()
    """,
    "a sparse gradient is summed over what was broadcast": SPARSE
    + """
        b = torch.tensor(2.0, requires_grad=True); looked(a * b, sparse=True).sum().backward()
        c = torch.ones(3, requires_grad=True); looked(a + c, sparse=True).sum().backward()
        d = torch.ones(6, 1, requires_grad=True); looked(a.detach() * d, sparse=True).sum().backward()
        e = torch.ones(1, 1, requires_grad=True); looked(a - e, sparse=True).sum().backward()
        looked(a - a.mean(), sparse=True).square().sum().backward()
        f = torch.nn.Embedding(6, 3, sparse=True); parametrizations.spectral_norm(f)
        g = f(torch.tensor([1, 2])); g.square().sum().backward(); h = f.parametrizations.weight.original
    """,
    "sparse steps that are differentiable, or half dense": SPARSE
    + """
        torch.optim.SGD([a], 0.1, differentiable=True).step()
        torch.optim.Adagrad([a], 0.1, differentiable=True).step()
        b = torch.nn.Parameter(torch.ones(2)); b.grad = torch.ones(2)
        opt = torch.optim.SparseAdam([a, b]); opt.step()
    """,
    "rectified within autocast, with parameters": """
        a = torch.randn(2, 4, requires_grad=True)
        l = torch.nn.PReLU(4)
        with torch.autocast("cpu"): b = l(a.bfloat16())
        with torch.autocast("cpu"): c = torch.prelu(a, l.weight[:1])
        (b.sum() + c.sum()).backward()
        with torch.autocast("cpu"): l(a.double())
    """,
    "what is linearized are numbers that have slopes, and groups are told apart": """
        torch.func.linearize(lambda x: x * 2, torch.tensor([1, 2]))
        said = repr(torch.optim.SGD([{"params": [torch.ones(1)]}, {"params": [torch.ones(1)], "lr": 0.5}], 0.1))
    """,
    "steps by signs pass NaN by": """
        a = torch.nn.Parameter(torch.ones(3))
        opt = torch.optim.Rprop([a], 0.1)
        a.grad = torch.tensor([float("nan"), 1.0, -1.0]); opt.step()
        a.grad = torch.tensor([1.0, float("nan"), 1.0]); opt.step()
        a.grad = torch.tensor([1.0, 1.0, 1.0]); opt.step()
    """,
    "steps by signs know no weight decay": """
        a = torch.nn.Parameter(torch.ones(3))
        opt = torch.optim.Rprop([a], 0.1)
        opt.param_groups[0]["weight_decay"] = 10.0
        a.grad = -torch.ones(3); opt.step()
    """,
    "a line search over what is no number": """
        a = torch.nn.Parameter(torch.ones(2).double())
        opt = torch.optim.LBFGS([a], 3.0, max_iter=1, max_eval=4, line_search_fn="strong_wolfe")
        def loss(): opt.zero_grad(); value = a.sqrt().sum() * 9; value.backward(); return value
        opt.step(loss)
    """,
    "first values of what is none, or has too few dimensions": """
        torch.nn.init.eye_(None)
        torch.nn.init.trunc_normal_(None)
        torch.nn.init.dirac_(None)
        torch.nn.init.orthogonal_(None)
        torch.nn.init.sparse_(None, 0.5)
        torch.nn.init.xavier_normal_(None)
        torch.nn.init.kaiming_uniform_(torch.nn.Parameter(torch.ones(3)))
        torch.nn.init.orthogonal_(torch.ones(2, 2).bfloat16())
    """,
    "no gradients": """
        torch.nn.utils.clip_grad_value_([torch.nn.Parameter(torch.ones(2))], 0.1)
        torch.nn.utils.get_total_norm([None])
        torch.autograd.grad(torch.ones(2), [])
        l = torch.nn.Linear(2, 2, False); prune.identity(l, "bias")
    """,
    "a step of halves by a sparse gradient": """
        l = torch.nn.Embedding(6, 4, sparse=True).to(torch.bfloat16)
        opt = torch.optim.SGD(l.parameters(), lr=0.5)
        l(torch.tensor([[1, 2, 3], [0, 1, 1]])).sum().backward()
        opt.step()
        a = l.weight * 1
    """,
    "fused steps of halves round once": """
        p = torch.nn.Parameter(torch.tensor([1.0, -0.5, 2.0]).half())
        opt = torch.optim.AdamW([p], lr=0.1, fused=True)
        p.grad = torch.tensor([1.0, 0.0, 1e-4]).half()
        opt.step()
        opt.step()
        z = (p.detach().float() * 4096).int()
        y = (opt.state[p]['exp_avg_sq'].float() * 2**24).int()
    """,
    "fused steps on states of another dtype": """
        l = torch.nn.Linear(2, 2)
        l(torch.ones(1, 2)).sum().backward()
        adam = torch.optim.Adam(l.parameters(), fused=True)
        adagrad = torch.optim.Adagrad(l.parameters(), fused=True)
        sgd = torch.optim.SGD(l.parameters(), momentum=0.9, fused=True)
        adam.step(); adagrad.step(); sgd.step()
        z = l.half()(torch.ones(1, 2).half())
        adam.step()
        adagrad.step()
        sgd.step()
        opt = torch.optim.Adam(l.parameters(), fused=True)
        opt.step()
        z = l.double()(torch.ones(1, 2).double())
        opt.step()
    """,
    "batches of halves beside running statistics in float32": """
        torch.manual_seed(0)
        x = (torch.randn(4, 4) * 0.2 + 0.3).bfloat16()
        l = torch.nn.BatchNorm1d(4, affine=False)
        z = (l(x).float() * 1024).int()
    """,
    "classes that are listed twice": """
        x = torch.tensor([[0.5, 2.0, -1.0]], requires_grad=True)
        z = torch.nn.MultiLabelMarginLoss()(x, torch.tensor([[1, 1, -1]]))
        z.backward()
        z = torch.nn.MultiLabelMarginLoss()(torch.tensor([[0.5, float('inf'), -1.0]]), torch.tensor([[1, 1, -1]]))
    """,
    "what saves other than tensors": """
        class Saves(torch.autograd.Function): forward = lambda ctx, *x: (ctx.save_for_backward(*x), x[0] * 2)[1]
        z = Saves.apply(torch.ones(2), 3)
        z = Saves.apply(torch.ones(2, requires_grad=True), 3)
        with torch.no_grad(): z = Saves.apply(torch.ones(2, requires_grad=True), 3)
    """,
    "recurrent layers in halves": """
        l = torch.nn.LSTM(3, 2, 2, bidirectional=True)
        x = torch.ones(4, 2, 3).requires_grad_()
        with torch.autocast('cpu', torch.bfloat16): z = l(x)[0]
        z.float().sum().backward()
        p = torch.nn.utils.rnn.pack_padded_sequence(x, torch.tensor([4, 4]))
        with torch.autocast('cpu', torch.bfloat16): z = l(p)[0].data
        z.float().sum().backward()
        z = l(p)[0].data
        z.sum().backward()
        p = torch.nn.utils.rnn.pack_padded_sequence(x, torch.tensor([4, 2]))
        with torch.autocast('cpu', torch.bfloat16): z = l(p)[0].data
        z.sum().backward()
    """,
    "the refusals of layers": """
        torch.nn.GroupNorm(2, 2)(torch.ones(1, 2))
        torch.nn.BatchNorm1d(2)(torch.ones(1, 2))
        l = torch.nn.Bilinear(2, 2, 3); l.weight = torch.nn.Parameter(torch.ones(2, 3))
        l(torch.ones(1, 2), torch.ones(1, 2))
        l(torch.ones(1, 3), torch.ones(1, 2))
        torch.nn.functional.bilinear(torch.ones(1, 3), torch.ones(1, 2), torch.ones(2, 3, 2, 1))
        torch.nn.Embedding(6, 2, max_norm=1.0)(torch.ones(2).half())
        torch.nn.Embedding(6, 2, max_norm=1.0)(torch.ones(2, dtype=torch.int16))
    """,
}


@pytest.mark.parametrize("kind", ["float32", "float64"])
@pytest.mark.parametrize("features", [3, 40])
def test_what_a_rectified_unit_cuts_off_stays_zero(features, kind):
    """As of the root of zero: also in the kernels of large layers."""
    found = []
    for engine in (torch, glassgrad):
        engine.manual_seed(0)
        layer = engine.nn.RNN(8, features, 2, nonlinearity="relu").to(getattr(engine, kind))
        x = engine.randn(5, 20, 8).to(getattr(engine, kind)).requires_grad_()
        layer(x)[0].sqrt().sum().backward()
        found.append([tensor.grad.numpy() for tensor in (x, *layer.parameters())])
    for theirs, mine in zip(*found, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-3, atol=1e-4 * abs(theirs).max())


@pytest.mark.parametrize("name", PROGRAMS)
def test_same_as_torch(name):
    yours, ours = TrainingRun(torch), TrainingRun(glassgrad)
    for line in PROGRAMS[name].strip().split("\n"):
        assert difference(yours, ours, line.strip()) is None, line


@pytest.mark.parametrize("recorded", [True, False])
def test_who_reads_a_number_without_recording_is_not_warned(recorded):
    """As LBFGS reads its losses: in its ``step``, which records nothing."""

    def warned(engine, read):
        leaf = engine.ones((), requires_grad=True)
        with pytest.warns() as seen, engine.set_grad_enabled(recorded):
            engine.set_warn_always(True)
            read(engine, leaf)
            engine.set_warn_always(False)
            warnings.warn("the end", stacklevel=1)
        return [str(each.message).split("\n")[0] for each in seen]

    for read in (
        lambda _, x: float(x), lambda _, x: int(x), lambda _, x: complex(x), lambda engine, x: engine.tensor([x]),
    ):  # fmt: skip
        assert warned(torch, read) == warned(glassgrad, read)
