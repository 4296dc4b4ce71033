"""What stands around compiled functions, and in them: modes, threads, NumPy arrays, caught errors, schedules."""

import contextlib
import threading

import numpy as np
import pytest

import glassgrad as torch
import glassgrad.nn.functional as F
from glassgrad import nn
from glassgrad.kernels import compiled
from glassgrad.overrides import TorchFunctionMode

from .both_ways import Cases, both
from .both_ways import four as X  # noqa: N812

case = Cases()


@case
def saved_hooks_around(how, out):
    w = torch.ones(4, requires_grad=True)
    f = how(lambda x: (x * w * w).sum())
    log = []
    for i in range(6):
        if i >= 4:
            with torch.autograd.graph.saved_tensors_hooks(lambda t: (log.append(1), t)[1], lambda t: t):
                loss = f(X(i))
        else:
            loss = f(X(i))
        loss.backward()
        out.append(w.grad.clone())
    out.append(len(log) > 0)


@case
def function_mode(how, out):
    class M(TorchFunctionMode):
        def __torch_function__(s, fn, types, args=(), kwargs=None):
            r = fn(*args, **(kwargs or {}))
            out.append(1) if isinstance(r, torch.Tensor) and False else None
            return r * 2 if isinstance(r, torch.Tensor) and fn is torch.Tensor.sin else r

    f = how(lambda x: x.sin())
    for i in range(8):
        with M() if i >= 4 else contextlib.nullcontext():
            out.append(f(X(i)))


@case
def tensor_subclass(how, out):
    class T(torch.Tensor):
        pass

    f = how(lambda x: x * 2)
    for i in range(8):
        out.append(type(f(X(i) if i < 4 else X(i).as_subclass(T))).__name__)


@case
def autocast_around(how, out):
    lin = nn.Linear(4, 4)
    f = how(lambda x: lin(x))
    for i in range(8):
        with torch.autocast("cpu") if i >= 4 else contextlib.nullcontext():
            out.append(str(f(X(i)).dtype))


@case
def autocast_dtype(how, out):
    lin = nn.Linear(4, 4)
    k = [torch.bfloat16]

    def g(x):
        with torch.autocast("cpu", dtype=k[0]):
            return lin(x)

    f = how(g)
    for i in range(8):
        if i == 4:
            k[0] = torch.float16
        out.append(str(f(X(i)).dtype))


@case
def autocast_default_dtype(how, out):
    lin = nn.Linear(4, 4)

    def g(x):
        with torch.autocast("cpu"):
            return lin(x)

    f = how(g)
    try:
        for i in range(8):
            if i == 4:
                torch.set_autocast_dtype("cpu", torch.float16)
            out.append(str(f(X(i)).dtype))
    finally:
        torch.set_autocast_dtype("cpu", torch.bfloat16)


@case
def autocast_grads(how, out):
    lin = nn.Linear(4, 4)
    ln = nn.LayerNorm(4)

    def g(x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return F.softmax(ln(lin(x) @ lin.weight), -1).float().square().mean() + (lin(x) * lin(x)).sum()

    f = how(g)
    for i in range(6):
        loss = f(X(i))
        loss.backward()
        out += [loss, lin.weight.grad.clone(), ln.weight.grad.clone()]


@case
def inference_around(how, out):
    lin = nn.Linear(4, 4)
    f = how(lambda x: lin(x))
    for i in range(8):
        with torch.inference_mode() if i >= 4 else contextlib.nullcontext():
            r = f(X(i))
            out.append((r.is_inference(), r.requires_grad))


@case
def threads(how, out):
    lin = nn.Linear(4, 4)
    f = how(lambda x: lin(x).tanh().sum())
    for i in range(3):
        f(X(i))
    res = [None] * 8

    def work(n):
        for _ in range(50):
            res[n] = f(X(n))

    ts = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    [t.start() for t in ts]
    [t.join() for t in ts]
    out += res


@case
def numpy_setting_changes(how, out):
    w = np.ones(4, np.float32)
    f = how(lambda x: x * float(w[0]) + torch.tensor(w))
    for i in range(8):
        if i == 4:
            w[0] = 5
        if i == 6:
            w[1] = 7
        out.append(f(X(i)))


@case
def numpy_changed_inside(how, out):
    w = np.ones(4, np.float32)

    def g(x):
        v = w.copy()
        v[0] = 3
        t = torch.tensor(v)
        v[0] = 9
        return x + t

    f = how(g)
    for i in range(5):
        out.append(f(X(i)))


@case
def numpy_counter(how, out):
    w = np.ones(4, np.float32)

    def g(x):
        w[0] += 1
        return x + float(w[0])

    f = how(g)
    for i in range(5):
        out.append(f(X(i)))


@case
def numpy_shape(how, out):
    w = np.ones((2, 2), np.float32)
    f = how(lambda x: x * w.shape[0])
    for i in range(8):
        if i == 4:
            w.shape = (4,)
        out.append(f(X(i)))


@case
def caught_value(how, out):
    e = nn.Embedding(5, 4)

    def g(i):
        try:
            return e(i)
        except IndexError:
            return torch.zeros(1)

    f = how(g)
    for i in (1, 2, 3, 7, 2):
        out.append(f(torch.tensor([i])))


@case
def caught_other(how, out):
    e = nn.Embedding(5, 4)

    def g(i):
        try:
            return e(i)
        except RuntimeError:
            return torch.zeros(1)

    f = how(g)
    for i in (1, 2, 3, 7, 2):
        try:
            out.append(f(torch.tensor([i])))
        except IndexError:
            out.append("index")


@case
def caught_division(how, out):
    def g(a, b):
        try:
            return a // b
        except ZeroDivisionError:
            return a
        except RuntimeError:
            return a * 0

    f = how(g)
    for i in (1, 2, 3, 0, 2):
        out.append(f(torch.tensor([4]), torch.tensor([i])))


@case
def caught_in_capture(how, out):
    def g(x):
        try:
            return torch.linalg.inv(x)
        except KeyError:
            return x
        except Exception:
            return x * 0

    f = how(g)
    for i in (1, 0, 1, 0, 1):
        out.append(f(torch.eye(3) * i))


@case
def key_error(how, out):
    d = {}

    def g(x):
        try:
            return x * d["k"]
        except KeyError:
            return x

    f = how(g)
    for i in range(8):
        if i == 4:
            d["k"] = 3
        if i == 6:
            del d["k"]
        out.append(f(X(i)))


@case
def attr_error(how, out):
    class Held:
        pass

    o = Held()

    def g(x):
        try:
            return x * o.k
        except AttributeError:
            return x

    f = how(g)
    for i in range(8):
        if i == 4:
            o.k = 3
        out.append(f(X(i)))


@case
def schedule_replaced(how, out):
    p = nn.Parameter(torch.ones(4))
    o = torch.optim.SGD([p], 0.1)
    w = type("W", (), {})()
    w.s = torch.optim.lr_scheduler.ExponentialLR(o, 0.5)

    def g():
        o.zero_grad()
        (p * p).sum().backward()
        o.step()
        w.s.step()

    f = how(g)
    for i in range(10):
        if i == 4:
            w.s.gamma = 0.9
        if i == 6:
            w.s = torch.optim.lr_scheduler.ExponentialLR(o, 0.3)
        if i == 8:
            w.s.load_state_dict({**w.s.state_dict(), "gamma": 0.7})
        f()
        out += [p, o.param_groups[0]["lr"], w.s.last_epoch, w.s.get_last_lr()]


@case
def schedule_lambda(how, out):
    p = nn.Parameter(torch.ones(4))
    o = torch.optim.Adam([p], 0.1)
    k = [2]
    s = torch.optim.lr_scheduler.LambdaLR(o, lambda e: 1 / (e + k[0]))

    def g():
        o.zero_grad()
        (p * p).sum().backward()
        o.step()
        s.step()
        return p.sum() * o.param_groups[0]["lr"]

    f = how(g)
    for i in range(10):
        if i == 5:
            k[0] = 9
        out += [f(), p, o.param_groups[0]["lr"]]


@case
def schedule_chain(how, out):
    p = nn.Parameter(torch.ones(4))
    o = torch.optim.SGD([p], 0.1, momentum=0.9)
    s = torch.optim.lr_scheduler.SequentialLR(
        o,
        [torch.optim.lr_scheduler.LinearLR(o, 0.1, total_iters=3), torch.optim.lr_scheduler.CosineAnnealingLR(o, 5)],
        [3],
    )

    def g():
        o.zero_grad()
        (p * p).sum().backward()
        o.step()
        s.step()

    f = how(g)
    for i in range(10):
        f()
        out += [p, o.param_groups[0]["lr"]]


@case
def one_cycle(how, out):
    p = nn.Parameter(torch.ones(4))
    o = torch.optim.AdamW([p], 0.1)
    s = torch.optim.lr_scheduler.OneCycleLR(o, 0.1, total_steps=12)

    def g():
        o.zero_grad()
        (p * p).sum().backward()
        o.step()
        s.step()

    f = how(g)
    for i in range(10):
        f()
        out += [p, o.param_groups[0]["lr"], o.param_groups[0]["betas"]]


@case
def last_lr_read(how, out):
    p = nn.Parameter(torch.ones(4))
    o = torch.optim.SGD([p], 0.1)
    s = torch.optim.lr_scheduler.ExponentialLR(o, 0.5)

    def g(x):
        o.zero_grad()
        (p * p).sum().backward()
        o.step()
        s.step()
        return x * s.get_last_lr()[0]

    f = how(g)
    for i in range(8):
        out.append(f(X(i)))


@case
def scalar_grad_zeroed(how, out):
    p = nn.Parameter(torch.tensor(2.0))
    q = nn.Parameter(torch.ones(4))
    o = torch.optim.SGD([p, q], 0.1)

    def g():
        o.zero_grad(set_to_none=False)
        (p * q).sum().backward()
        o.step()

    f = how(g)
    for i in range(8):
        if i == 5:
            p.grad = None
        if i == 6:
            q.grad = torch.ones(4) * 7
        f()
        out += [p, q, p.grad.clone(), q.grad.clone()]


@case
def zeroed_held(how, out):
    q = nn.Parameter(torch.ones(4))
    o = torch.optim.SGD([q], 0.1)
    held = []

    def g(x):
        o.zero_grad(set_to_none=False)
        (x * q).sum().backward()
        o.step()

    f = how(g)
    for i in range(8):
        f(X(i))
        held.append(q.grad)
        out.append(q)
        if i == 5:
            q.grad = None
    out += held


@case
def unused_then_used(how, out):
    p, q = nn.Parameter(torch.ones(4)), nn.Parameter(torch.ones(4))
    o = torch.optim.SGD([p, q], 0.1)
    flag = [False]

    def g(x):
        o.zero_grad(set_to_none=False)
        ((x * q).sum() + ((p * x).sum() if flag[0] else 0)).backward()
        o.step()

    f = how(g)
    for i in range(10):
        flag[0] = i in (4, 5)
        f(X(i))
        out += [p, q, p.grad is not None and p.grad.clone()]


@case
def penalty_then_more(how, out):
    w = nn.Parameter(torch.ones(4))
    o = torch.optim.SGD([w], 0.01)

    def g(x):
        o.zero_grad()
        x = x.clone().requires_grad_()
        y = (x * w).tanh().sum()
        (d,) = torch.autograd.grad(y, x, create_graph=True)
        loss = y + d.square().sum()
        loss.backward()
        o.step()
        return loss, d.detach(), x.grad * 1

    f = how(g)
    for i in range(6):
        out += list(f(X(i))) + [w]


@case
def local_leaf_twice(how, out):
    def g(x):
        v = x.clone().requires_grad_()
        (v * v).sum().backward()
        (v * 3).sum().backward()
        return v.grad * 1

    f = how(g)
    for i in range(5):
        out.append(f(X(i)))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", case.values(), ids=case)
def test_the_results_are_the_functions(case):
    with compiled.serving(compiled.NEVER):
        written, replayed = both(case)
    assert written == replayed
