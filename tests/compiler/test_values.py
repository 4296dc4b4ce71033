"""Values of tensors that decide what runs: gradients of leaves made on the way, sizes, indices, masks, branches."""

import copy

import numpy as np
import pytest

import glassgrad as torch
import glassgrad.nn.functional as F
from glassgrad import nn
from glassgrad.kernels import compiled

from .both_ways import Cases, both
from .both_ways import four as X  # noqa: N812

case = Cases()


@case
def local_leaf_grad_written(how, out):
    def g(x):
        v = x.clone().requires_grad_()
        (v * v).sum().backward()
        v.grad.add_(1)
        a = v.grad * 2
        return a, v.grad.detach()

    f = how(g)
    for i in range(5):
        out += list(f(X(i)))


@case
def local_leaf_step(how, out):
    def g(x):
        v = x.clone().requires_grad_()
        o = torch.optim.SGD([v], 0.1)
        for _ in range(3):
            o.zero_grad()
            (v * v).sum().backward()
            o.step()
        return v.detach()

    f = how(g)
    for i in range(5):
        out.append(f(X(i)))


@case
def tensor_index_item(how, out):
    f = how(lambda x, i: x[i] * 2)
    for i in (0, 1, 2, 3, 1):
        out.append(f(X(), torch.tensor(i)))


@case
def slice_by_tensor(how, out):
    f = how(lambda x, i: x[:i].sum())
    for i in (0, 1, 2, 3, 1):
        out.append(f(X(), torch.tensor(i)))


@case
def range_by_tensor(how, out):
    f = how(lambda x, i: torch.arange(i).sum() + torch.zeros(int(i)).numel() + x)
    for i in (0, 1, 2, 3, 1):
        out.append(f(X(), torch.tensor(i)))


@case
def full_by_tensor(how, out):
    f = how(lambda x, i: torch.full((2,), i) + x[0])
    for i in (0.0, 1.0, 2.0, 3.0, 1.0):
        out.append(f(X(), torch.tensor(i)))


@case
def alpha_by_tensor(how, out):
    f = how(lambda x, i: torch.add(x, x, alpha=i))
    for i in (0.0, 1.0, 2.0, 3.0, 1.0):
        out.append(f(X(), torch.tensor(i)))


@case
def where_it_holds(how, out):
    f = how(lambda x, least: torch.where(x > least))
    for least in (0, 0, 0, 1, 2, 3):
        out.append(f(X(), torch.tensor(float(least))))


@case
def clamp_by_tensor(how, out):
    f = how(lambda x, i: torch.clamp(x, max=i) + x.clamp(min=float(1)).masked_fill(x > 2, i))
    for i in (0.0, 1.0, 2.0, 3.0, 1.0):
        out.append(f(X(), torch.tensor(i)))


@case
def tensor_of_tensors(how, out):
    f = how(lambda x, i: torch.tensor([i, i * 2]) + x[0])
    for i in (0.0, 1.0, 2.0, 3.0, 1.0):
        out.append(f(X(), torch.tensor(i)))


@case
def pow_by_tensor(how, out):
    f = how(lambda x, i: x**i + torch.roll(x, 1) + x.repeat(2).sum() + torch.linspace(0, i, 4))
    for i in (0.0, 1.0, 2.0, 3.0, 1.0):
        out.append(f(X(), torch.tensor(i)))


@case
def lengths_ctc(how, out):
    lp = torch.randn(6, 2, 4).log_softmax(-1)
    f = how(lambda loss: F.ctc_loss(lp, torch.tensor([[1, 2], [1, 3]]), loss, torch.tensor([2, 1])))
    for i in (6, 5, 4, 3, 6):
        out.append(f(torch.tensor([i, i])))


@case
def packed_outside(how, out):
    g = nn.GRU(2, 3)

    def h(p):
        return g(p)[1]

    f = how(h)
    for loss in ([3, 2], [3, 2], [3, 2], [3, 1], [2, 2]):
        out.append(f(torch.nn.utils.rnn.pack_padded_sequence(torch.ones(3, 2, 2), torch.tensor(loss))))


@case
def mha_mask(how, out):
    m = nn.MultiheadAttention(4, 2, batch_first=True).eval()
    f = how(lambda x, k: m(x, x, x, key_padding_mask=k, need_weights=False)[0])
    with torch.no_grad():
        for i in range(6):
            out.append(f(torch.ones(1, 3, 4) * i, torch.tensor([[False, i > 3, i > 2]])))


@case
def encoder_causal(how, out):
    m = nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8, 0.0, batch_first=True), 1)
    f = how(lambda x, k: m(x, mask=k))
    c = nn.Transformer.generate_square_subsequent_mask(3)
    for i in range(6):
        out.append(f(torch.arange(12.0).view(1, 3, 4) * i, c if i < 4 else c * 0))


@case
def allclose_branch(how, out):
    f = how(lambda x: x * 2 if torch.allclose(x, x.round()) else x)
    for i in (0.0, 1.0, 2.0, 0.5, 0.3):
        out.append(f(X(i)))


@case
def equal_branch(how, out):
    f = how(lambda x: x * 2 if torch.equal(x, x.round()) else x)
    for i in (0.0, 1.0, 2.0, 0.5, 0.3):
        out.append(f(X(i)))


@case
def loop_over_tensor(how, out):
    f = how(lambda x: sum(v * 2 for v in x))
    for i in range(5):
        out.append(f(X(i)))


@case
def global_float(how, out):
    global G
    G = 1.0
    f = how(lambda x: x * G)
    for i in range(8):
        if i == 4:
            G = 2.0
        out.append(f(X(i)))


@case
def dropout_stream(how, out):
    d = nn.Dropout(0.5)
    f = how(lambda x: d(x))
    for i in range(6):
        out += [f(X(i)), torch.rand(1)]


@case
def manual_seed_between(how, out):
    f = how(lambda x: x + torch.rand(4))
    for i in range(6):
        torch.manual_seed(i // 2)
        out.append(f(X(i)))


@case
def compiled_copied(how, out):
    f = how(lambda x: x * 2)
    for i in range(3):
        f(X(i))
    out.append(copy.copy(f)(X(4)))
    m = nn.Linear(4, 4)
    c = how(m)
    for i in range(3):
        c(X(i))
    d = copy.deepcopy(c)
    with torch.no_grad():
        m.weight.zero_()
    out += [d(X(1)), c(X(1)), d(X(2)), c(X(2)), d(X(2))]


@case
def record_active(how, out):
    f = how(lambda x: (x * 2).sum())
    for i in range(4):
        f(X(i))

    out.append(f(X(4)))


@case
def profiler_active(how, out):
    f = how(lambda x: (x * 2).sum())
    for i in range(4):
        f(X(i))
    with torch.profiler.profile():
        out.append(f(X(4)))


@case
def reentrant(how, out):
    f = how(lambda x: x * 2)
    g = how(lambda x: f(x) + f(x + 1))
    for i in range(6):
        out.append(g(X(i)))


@case
def recursion(how, out):
    def r(x, n):
        return x if n == 0 else h(x * 2, n - 1)

    h = how(r)
    for i in range(6):
        out.append(h(X(i), 3))


@case
def number_types(how, out):
    f = how(lambda x, n: x * n)
    for n in (1, True, 1.0, np.float32(1.5), np.int64(2), 1, True, 1.0, np.float32(2.5), np.int64(3)):
        out.append(f(torch.arange(4), n))


@case
def nan_number(how, out):
    f = how(lambda x, n: x * n)
    for n in (float("nan"),) * 3 + (0.0, -0.0, 0.0, -0.0):
        out.append(f(X(), n))


@case
def set_item_closure(how, out):
    buf = torch.zeros(6, 4)

    def g(i, x):
        buf[i] = x
        return buf.sum()

    f = how(g)
    for i in range(6):
        out += [f(i % 2, X(i)), buf.clone()]


@case
def queue_like(how, out):
    q = torch.zeros(4, 4)
    ptr = torch.zeros(1, dtype=torch.long)

    def g(x):
        k = int(ptr)
        q[k] = x
        ptr[0] = (k + 1) % 4
        return q.sum()

    f = how(g)
    for i in range(8):
        out += [f(X(i)), q.clone()]


@case
def leaf_on_an_argument(how, out):
    def function(x):
        leaf = x.detach().requires_grad_(True)
        (leaf * leaf).sum().backward()
        return (x + leaf.grad.sign()).detach()

    call = how(function)
    for i in range(5):
        x = X(i)
        out += [call(x), x.grad is None]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", case.values(), ids=case)
def test_the_results_are_the_functions(case):
    with compiled.serving(compiled.NEVER):
        written, replayed = both(case)
    assert written == replayed
