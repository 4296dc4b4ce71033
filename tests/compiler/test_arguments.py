"""What compiled functions are given and share memory with: containers, aliases, generators, errors on the way."""

import collections
import dataclasses

import pytest

import glassgrad as torch
from glassgrad import nn
from glassgrad.kernels import compiled

from .both_ways import Cases, both
from .both_ways import four as X  # noqa: N812

case = Cases()


@case
def dict_mutated(how, out):
    f = how(lambda b: (b.update(z=b["x"] * 2), b["x"] + 1)[1])
    for i in range(5):
        b = {"x": X(i)}
        out += [f(b), b]


@case
def dict_popped(how, out):
    f = how(lambda b: b.pop("x") * 2)
    for i in range(5):
        b = {"x": X(i), "y": 1}
        out += [f(b), b]


@case
def dict_returned(how, out):
    f = how(lambda b: b)
    for i in range(5):
        b = {"x": X(i)}
        r = f(b)
        out += [r is b, r]


@case
def list_returned_new(how, out):
    f = how(lambda b: [b[0], b[0] * 2])
    for i in range(5):
        b = [X(i)]
        r = f(b)
        out += [r is b, r[0] is b[0], r]


@case
def nested_kw(how, out):
    f = how(lambda b, k=None: b["x"] * b["n"] + (k[0] if k else 0))
    for i in range(8):
        out.append(f({"x": X(i), "n": 2}, k=(X(i),) if i % 3 == 0 else None))


@case
def same_list_twice(how, out):
    f = how(lambda a, b: a[0] * 2 if a is b else a[0] + b[0])
    for i in range(8):
        a = [X(i)]
        out.append(f(a, a if i % 2 else [X(i)]))


@case
def same_tensor_in_containers(how, out):
    f = how(lambda a, b: a["x"].mul(1).add_(b["x"]))
    for i in range(8):
        x = X(i)
        out.append(f({"x": x}, {"x": x if i % 2 else X(3)}))


@case
def write_in_container(how, out):
    f = how(lambda b: b["x"].add_(1).sum())
    for i in range(6):
        b = {"x": X(i)}
        out += [f(b), b, b["x"]._version]


@case
def key_order(how, out):
    f = how(lambda b: torch.stack(list(b.values())))
    for i in range(8):
        out.append(f({"a": X(1), "b": X(2)} if i % 2 else {"b": X(2), "a": X(1)}))


@case
def types_of_keys(how, out):
    f = how(lambda b: b[1] * len([k for k in b if isinstance(k, bool)]))
    for i in range(8):
        out.append(f({1: X(1)} if i < 4 else {True: X(2)}))


@case
def subclass_of_dict(how, out):
    f = how(lambda b: b["x"] * b["y"])

    class D(dict):
        def __missing__(s, k):
            return 5.0

    for i in range(8):
        out.append(f(D(x=X(i)) if i > 3 else collections.defaultdict(lambda: 3.0, x=X(i))))


@dataclasses.dataclass
class B:
    x: object
    n: int = 1

    @property
    def twice(s):
        return s.x * 2


@case
def dataclass_property(how, out):
    f = how(lambda b: b.twice * b.n)
    for i in range(8):
        if i == 5:
            B.twice = property(lambda s: s.x * 3)
        out.append(f(B(X(i), n=i // 4)))
    B.twice = property(lambda s: s.x * 2)


@case
def dataclass_written(how, out):
    def g(b):
        b.n += 1
        return b.x * b.n

    f = how(g)
    for i in range(6):
        b = B(X(i))
        out += [f(b), b.n]


@case
def dataclass_extra(how, out):
    f = how(lambda b: b.x * getattr(b, "more", 1))
    for i in range(8):
        b = B(X(i))
        if i > 4:
            b.more = 7
        out.append(f(b))


@case
def generator_arg(how, out):
    f = how(lambda x, g: x + torch.rand(4, generator=g))
    g = torch.Generator()
    g.manual_seed(1)
    for i in range(5):
        out.append(f(X(), g))
    g.manual_seed(1)
    out.append(f(X(), g))
    out.append(torch.rand(2, generator=g))


@case
def generator_closure(how, out):
    g = torch.Generator()
    g.manual_seed(1)
    f = how(lambda x: x * torch.randn(4, generator=g))
    for i in range(5):
        out.append(f(X()))
    g.manual_seed(1)
    out.append(f(X()))


@case
def result_written(how, out):
    h = []
    f = how(lambda x: x * 2)
    for i in range(6):
        r = f(X(i))
        r.add_(1)
        h.append(r)
    out += h


@case
def result_is_view_of_result(how, out):
    def g(x):
        y = x * 2
        return y, y[0]

    f = how(g)
    for i in range(6):
        a, b = f(X(i))
        b.add_(10)
        out += [a, b]


@case
def arg_kept_then_changed(how, out):
    f = how(lambda x: (x * x).sum())
    x = torch.ones(4, requires_grad=True)
    ls = [f(x) for _ in range(4)]
    with torch.no_grad():
        x.mul_(2)
    for loss in ls:
        try:
            loss.backward()
            out.append(x.grad.clone())
        except RuntimeError as e:
            out.append(str(e)[:40])


@case
def arg_needs_grad_changes(how, out):
    f = how(lambda x: x * 2)
    for i in range(8):
        x = X(i)
        if i % 2:
            x.requires_grad_()
        out.append(f(x))


@case
def arg_view_overlap(how, out):
    f = how(lambda x, y: (x.add_(1), y * 2)[1])
    for i in range(8):
        b = X(i)
        out.append(f(b, b[:] if i >= 4 else X(i)))


@case
def arg_overlap_outside(how, out):
    w = X(5)
    f = how(lambda x: (x.add_(1), w * 2)[1])
    for i in range(8):
        out.append(f(X(i) if i < 4 else w[:]))


@case
def arg_is_outside(how, out):
    w = X(5)
    f = how(lambda x: (x.add_(1), w * 2)[1])
    for i in range(8):
        out.append(f(X(i) if i < 4 else w))


@case
def arg_is_a_leaf_from_outside(how, out):
    w = torch.ones(3, requires_grad=True)

    def function(x):
        ((x * 2).sum() + (w * 3).sum()).backward()
        return x.grad is w.grad

    f = how(function)
    for i in range(8):
        x = w if i == 6 else torch.ones(3, requires_grad=True)
        w.grad = None
        out += [f(x), x.grad, w.grad]


@case
def outside_overlap_later(how, out):
    a, b = X(1), X(2)

    def g():
        a.add_(1)
        return b * 2

    f = how(g)
    for i in range(8):
        if i == 4:
            b.data = a.data
        out.append(f())


@case
def outside_views(how, out):
    base = torch.zeros(2, 4)
    a, b = base[0], torch.ones(4)

    def g():
        a.add_(1)
        return b * 2

    f = how(g)
    for i in range(8):
        if i == 4:
            b.data = base[0].data[:]
        out.append(f())


@case
def expand_arg(how, out):
    f = how(lambda x: x + 1)
    for i in range(8):
        out.append(f(torch.ones(3, 4) if i < 4 else torch.ones(4).expand(3, 4)))


@case
def interrupt(how, out):
    lin = nn.Linear(4, 4)
    opt = torch.optim.SGD(lin.parameters(), 0.1)

    def g(x):
        opt.zero_grad()
        loss = lin(x).sum()
        loss.backward()
        opt.step()
        return loss

    f = how(g)
    for i in range(4):
        out.append(f(X(i)))
    try:
        f(torch.ones(5))
    except RuntimeError:
        out.append("err")
    for i in range(3):
        out.append(f(X(i)))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", case.values(), ids=case)
def test_the_results_are_the_functions(case):
    with compiled.serving(compiled.NEVER):
        written, replayed = both(case)
    assert written == replayed


def test_single_rows_have_strides_of_their_own():
    """Memory without gaps has the strides of its sizes only where no dimension is of size 1."""

    def function(x):
        return x.stride(), (x * 2).stride(), x.contiguous().stride(), x.view(1, 12).stride()

    call = torch.compile(function)
    for _ in range(3):
        for x in (torch.zeros(1, 12), torch.zeros(12, 1).t().clone()):
            assert call(x) == function(x)
