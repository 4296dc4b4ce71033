"""What might tell a deferred call from one that is made where it stands: state, graphs, identity, errors, warnings."""

import copy
import functools
import io
import warnings

import pytest

import glassgrad as torch
import glassgrad.nn.functional as F
from glassgrad import nn
from glassgrad.kernels import compiled

from .both_ways import Cases, tree

case = Cases()


def V(i=0):
    return torch.arange(4.0) + i


@case
def deep(how, out):
    m = nn.Linear(4, 2)

    def f(x):
        m.zero_grad()
        m(x).sum().backward()
        c = copy.deepcopy(m)
        out.append([p.grad for p in c.parameters()])
        return m(x)

    g = how(f)
    for i in range(5):
        out.append(g(V(i)))


@case
def delgrad(how, out):
    w = nn.Parameter(V())

    def f(x):
        (w * x).sum().backward()
        g = w.grad
        del w.grad
        out.append(w.grad is None)
        (w * x * 2).sum().backward()
        return g, w.grad.clone()

    g = how(f)
    for i in range(5):
        w.grad = None
        out.append(g(V(i)))


@case
def setgrad(how, out):
    w = nn.Parameter(V())
    o = torch.optim.SGD([w], 0.1)

    def f(x):
        o.zero_grad()
        (w * x).sum().backward()
        w.grad = w.grad * 2
        o.step()
        return w.sum()

    g = how(f)
    for i in range(6):
        out.append(g(V(i)))


@case
def raises(how, out):
    w = nn.Parameter(V())
    keep = []

    def f(x):
        y = (w * x).tanh()
        keep.append(y)
        if x[0] > 2:
            raise ValueError("no")
        return y

    g = how(f)
    for i in range(6):
        try:
            out.append(g(V(i)))
        except ValueError as e:
            out.append(str(e))
    out.append(keep)


@case
def save(how, out):
    m = nn.Linear(4, 2)

    def f(x):
        y = m(x)
        b = io.BytesIO()
        torch.save(y, b)
        b.seek(0)
        out.append(torch.load(b))
        return y

    g = how(f)
    for i in range(5):
        out.append(g(V(i)))


@case
def userop(how, out):
    class My(torch.optim.Optimizer):
        def __init__(s, p):
            super().__init__(p, {"lr": 0.1})

        def step(s):
            for g in s.param_groups:
                for p in g["params"]:
                    p.data.add_(p.grad, alpha=-g["lr"])

    w = nn.Parameter(V())
    o = My([w])

    def f(x):
        o.zero_grad()
        loss = (w * x).sum()
        loss.backward()
        o.step()
        return loss

    g = how(f)
    for i in range(6):
        out.append(g(V(i)))


@case
def swa(how, out):
    w = nn.Parameter(V())
    e = V() * 0

    def f(x):
        w.grad = None
        (w * x).sum().backward()
        with torch.no_grad():
            w.sub_(0.1 * w.grad)
            e.lerp_(w, 0.5)
        return w * 1

    g = how(f)
    for i in range(6):
        out.append(g(V(i)))
        out.append(e)


@case
def gener(how, out):
    w = nn.Parameter(V())

    def f(x):
        y = sum(a * w for a in [x, x * 2])
        z = [t for t in y.unbind()]
        return z, {"k": (y,), "l": [y.detach()]}

    g = how(f)
    for i in range(5):
        out.append(g(V(i)))


@case
def retain(how, out):
    w = nn.Parameter(V())

    def f(x):
        h = w * x
        h.retain_grad()
        h.tanh().sum().backward()
        return h.grad, w.grad.clone()

    g = how(f)
    for i in range(5):
        w.grad = None
        out.append(g(V(i)))


@case
def ckpt(how, out):
    from glassgrad.utils.checkpoint import checkpoint

    m = nn.Linear(4, 4)

    def f(x):
        m.zero_grad()
        y = checkpoint(lambda t: m(t).tanh(), x, use_reentrant=False)
        y.sum().backward()
        return y

    g = how(f)
    for i in range(5):
        out.append(g(V(i)))
        out.append(m.weight.grad)


@case
def outs(how, out):
    buf = torch.zeros(4)

    def f(x):
        torch.add(x, 1, out=buf)
        y = buf * 2
        torch.mul(y, 3, out=y)
        return y

    g = how(f)
    for i in range(5):
        out.append(g(V(i)))
        out.append(buf)


@case
def vmapd(how, out):
    def f(x):
        return torch.func.vmap(lambda t: t * 2 + 1)(x * 1), torch.func.grad(lambda t: (t * t).sum())(x * 2)

    g = how(f)
    for i in range(5):
        out.append(g(V(i)))


@case
def argmod(how, out):
    def f(x):
        x.add_(1)
        y = x * 2
        x.mul_(y)
        return x, y

    g = how(f)
    for i in range(5):
        x = V(i)
        out.append(g(x))
        out.append(x)
        out.append(x._version)


@case
def lbfgs(how, out):
    w = nn.Parameter(V())
    o = torch.optim.LBFGS([w], max_iter=3)

    def f(x):
        def c():
            o.zero_grad()
            loss = ((w - x) ** 2).sum()
            loss.backward()
            return loss

        return o.step(c)

    g = how(f)
    for i in range(4):
        out.append(g(V(i)))


@case
def amp(how, out):
    w = nn.Linear(4, 4)

    def f(x):
        a = w(x)
        with torch.autocast("cpu", torch.bfloat16):
            b = w(x)
        return a, b.float(), (a * 2).sum()

    g = how(f)
    for i in range(5):
        out.append(g(V(i)))


@case
def warns(how, out):
    def f(x):
        with warnings.catch_warnings(record=True) as w:
            warnings.simplefilter("always")
            y = F.mse_loss(x, x.view(4, 1) * 1)
        out.append([str(i.message)[:40] for i in w])
        return y

    g = how(f)
    for i in range(5):
        out.append(g(V(i)))


@case
def defdt(how, out):
    def f(x):
        a = torch.ones(2) * x[0]
        torch.set_default_dtype(torch.float64)
        try:
            b = torch.ones(2) * 3
        finally:
            torch.set_default_dtype(torch.float32)
        return a, b, torch.zeros(2)

    g = how(f)
    for i in range(5):
        out.append(g(V(i)))


@case
def datawrite(how, out):
    w = nn.Parameter(V())

    def f(x):
        y = x * w
        w.data.mul_(2)
        z = x * w
        w.data = V(3)
        return y, z, x * w

    g = how(f)
    for i in range(5):
        out.append(g(V(i)))


@case
def embed(how, out):
    e = nn.Embedding(5, 3, max_norm=1.0)
    e2 = nn.Embedding(5, 3, padding_idx=0)

    def f(i):
        return e(i) * 2, e2(i).sum()

    g = how(f)
    for i in range(5):
        out.append(g(torch.tensor([i, 0, 1])))
        out.append(e.weight)


@case
def bn(how, out):
    m = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Dropout(0.3))
    o = torch.optim.AdamW(m.parameters(), 0.1)

    def f(x):
        o.zero_grad()
        loss = m(x).square().mean()
        loss.backward()
        nn.utils.clip_grad_norm_(m.parameters(), 0.1)
        o.step()
        return loss

    g = how(f)
    for i in range(7):
        if i == 4:
            m.eval()
        out.append(g(torch.randn(6, 4)))
        out.append(dict(m.state_dict()))


@case
def accum(how, out):
    m = nn.Linear(4, 2)
    o = torch.optim.SGD(m.parameters(), 0.1, momentum=0.9)

    def f(x, k):
        loss = m(x).sum() / 2
        loss.backward()
        if k % 2:
            o.step()
            o.zero_grad()
        return loss

    g = how(f)
    for i in range(9):
        out.append(g(V(i), i))
        out.append([p.grad for p in m.parameters()])


@case
def views(how, out):
    base = torch.zeros(4, 4)

    def f(x):
        r = base[1]
        r.add_(x)
        t = base.t()
        y = t * 2
        v = y[0]
        v.zero_()
        return y, v, r, t

    g = how(f)
    for i in range(5):
        out.append(g(V(i)))
        out.append(base)


@case
def ident(how, out):
    def f(x):
        a = x.contiguous()
        b = x.float()
        c = F.dropout(x, 0.5, training=False)
        d = x.view(4)
        return a is x, b is x, c is x, d._base is x, a, (a, a)[0] is (a, a)[1]

    g = how(f)
    for i in range(5):
        out.append(g(V(i)))


@case
def dup(how, out):
    def f(x):
        y = x * 2
        return y, y, [y], {"a": y}

    g = how(f)
    for i in range(5):
        r = g(V(i))
        out.append(r[0] is r[1] and r[2][0] is r[0])
        out.append(r)


@case
def retained(how, out):
    w = nn.Parameter(V())

    def f(x):
        loss = (w * x).tanh().sum()
        loss.backward(retain_graph=True)
        loss.backward()
        return loss

    g = how(f)
    for i in range(5):
        w.grad = None
        out.append(g(V(i)))
        out.append(w.grad)


@case
def twobw(how, out):
    w = nn.Parameter(V())
    u = nn.Parameter(V(2))

    def f(x):
        w.grad = u.grad = None
        (w * x).sum().backward()
        (u * x).sum().backward()
        return w.grad + u.grad

    g = how(f)
    for i in range(5):
        out.append(g(V(i)))
        out.append([w.grad, u.grad])


@case
def freedtwice(how, out):
    w = nn.Parameter(V())

    def f(x):
        loss = (w * x).tanh().sum()
        loss.backward()
        try:
            loss.backward()
        except RuntimeError as e:
            out.append(str(e)[:60])
        return loss

    g = how(f)
    for i in range(5):
        w.grad = None
        loss = g(V(i))
        out.append(loss)


@case
def infer(how, out):
    w = nn.Parameter(V())

    def f(x):
        with torch.inference_mode():
            y = x * w
        with torch.no_grad():
            z = x * w
        return y, z, z.requires_grad, x * w

    g = how(f)
    for i in range(5):
        out.append(g(V(i)))


@case
def unused(how, out):
    w = nn.Parameter(V())
    u = nn.Parameter(V())
    o = torch.optim.Adam([w, u], 0.1)

    def f(x, k):
        o.zero_grad()
        loss = (w * x).sum() + ((u * x).sum() if k % 3 else 0)
        loss.backward()
        o.step()
        return loss

    g = how(f)
    for i in range(8):
        out.append(g(V(i), i))
        out.append([w, u, u.grad])


@case
def sparse(how, out):
    e = nn.Embedding(5, 3, sparse=True)
    o = torch.optim.SGD(e.parameters(), 0.1)

    def f(i):
        o.zero_grad()
        loss = e(i).sum()
        loss.backward()
        o.step()
        return loss

    g = how(f)
    for i in range(5):
        out.append(g(torch.tensor([i, 0])))
        out.append(e.weight)


@case
def numbers_before_tensors(how, out):
    def f(x):
        return torch.add(x, 2, x), (x * 2).sub(3, x), torch.add(x, x, alpha=x[2])

    g = how(f)
    for i in range(5):
        out.append(g(V(i)))


@case
def sparse_rows(how, out):
    def f(s):
        return (torch.sparse.softmax(s, 1).to_dense() * 2).sum()

    g = how(f)
    for i in range(5):
        out.append(g(torch.diag(V(i)).to_sparse()))


@pytest.mark.parametrize("name", case)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_deferred_call_is_as_good_as_any(name):
    found = []
    with compiled.serving(compiled.NEVER):
        for how in (lambda f: f, torch.compile, functools.partial(torch.compile, verify=1)):
            torch.manual_seed(0)
            out = []
            case[name](how, out)
            found.append(repr(tree(out)))
    assert found[0] == found[1] == found[2]
