"""``autograd.grad`` within compiled functions: gradients as values, and derivatives of derivatives."""

from functools import partial

import pytest

import glassgrad as torch
from glassgrad import nn
from glassgrad.kernels import compiled

from . import both_ways
from .both_ways import Cases, four, programs, reasons

case = Cases()


@case
def penalty(how, out):
    """A gradient penalty: the gradient of a network by its input is a part of the loss."""
    critic = nn.Sequential(nn.Linear(4, 8), nn.LeakyReLU(0.2), nn.Linear(8, 1))
    optimizer = torch.optim.Adam(critic.parameters(), lr=0.1)

    def step(real, fake, mix):
        between = mix * real + (1 - mix) * fake
        (slope,) = torch.autograd.grad(critic(between).sum(), between, create_graph=True)
        loss = critic(fake).mean() - critic(real).mean() + 10 * ((slope.norm(dim=1) - 1) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss, slope.detach()

    step = how(step)
    for _ in range(5):
        real = torch.randn(3, 4).requires_grad_()
        out += step(real, torch.randn(3, 4), torch.rand(3, 1))
    out += critic.parameters()


@case
def plain(how, out):
    """Gradients that are values: nothing is added to leaves."""
    w, b = torch.randn(3, 3, requires_grad=True), torch.zeros(3, requires_grad=True)

    @how
    def gradients(x):
        y = torch.tanh(x @ w + b)
        slopes = torch.autograd.grad(y.square().sum(), [w, b])
        return [slope * 2 for slope in slopes]

    for _ in range(5):
        out += gradients(torch.randn(2, 3))
    out += [w.grad, b.grad]


@case
def seeds_unused_and_twice(how, out):
    """Gradients to begin with, an input that is not used, and one that is asked for twice."""
    w, other = torch.randn(3, requires_grad=True), torch.randn(3, requires_grad=True)

    @how
    def gradients(x, seed):
        y = (x * w).exp()
        once, none, again = torch.autograd.grad(y, (w, other, w), grad_outputs=seed, allow_unused=True)
        return once + again, none

    for _ in range(5):
        out += gradients(torch.randn(3), torch.rand(3))


@case
def not_used(how, out):
    """The error for an input that is not used."""
    w, other = torch.randn(3, requires_grad=True), torch.randn(3, requires_grad=True)

    @how
    def gradients(x):
        try:
            return torch.autograd.grad((x * w).sum(), other)
        except RuntimeError as error:
            return str(error), x * 2

    for _ in range(4):
        out += gradients(torch.randn(3))


@case
def walked_twice(how, out):
    """A graph that was freed by the first walk, and one that was kept."""
    w = torch.randn(3, requires_grad=True)

    @how
    def gradients(x, keep):
        y = (x * w).tanh().sum()
        (once,) = torch.autograd.grad(y, w, retain_graph=keep)
        try:
            (again,) = torch.autograd.grad(y, w)
        except RuntimeError as error:
            return once, str(error)
        return once, again

    for keep in (True, False) * 3:
        out += gradients(torch.randn(3), keep)


@case
def thirds(how, out):
    """Derivatives of derivatives of derivatives; the graph of the last is walked outside."""
    w = torch.randn(4, requires_grad=True)

    @how
    def third(x):
        y = (x * w).sin().sum()
        for _ in range(3):
            (y,) = torch.autograd.grad(y, w, create_graph=True)
            y = y.sum()
        return y

    for i in range(5):
        y = third(four(i))
        y.backward()
        out += [y, w.grad.clone()]


@case
def hooked(how, out):
    """A hook that comes to a leaf between calls."""
    w = torch.randn(3, requires_grad=True)

    @how
    def gradient(x):
        (slope,) = torch.autograd.grad((w * x).square().sum(), w, create_graph=True)
        return slope.square().sum()

    for i in range(6):
        if i == 3:
            handle = w.register_hook(lambda grad: grad * 3)
        out.append(gradient(torch.randn(3)))
    handle.remove()
    out.append(gradient(torch.randn(3)))


@case
def written_between(how, out):
    """Gradients are written to by who gets them; the next call's are others."""
    w = torch.randn(3, requires_grad=True)

    @how
    def gradient(x):
        total = (w * x + w).sum()
        return torch.autograd.grad(total, w)[0]

    for i in range(5):
        slope = gradient(four(i)[:3])
        out.append(slope.clone())
        try:
            slope.mul_(100)
        except RuntimeError as error:
            out.append(str(error))
        out.append(slope)


@case
def of_steps_on_the_way(how, out):
    """Gradients with respect to what the function computed itself."""
    w = torch.randn(3, requires_grad=True)

    @how
    def gradients(x):
        h = (w * x).tanh()
        y = (h * h).sum()
        (inner,) = torch.autograd.grad(y, h, retain_graph=True)
        (outer,) = torch.autograd.grad(y, w)
        return inner, outer, h.detach()

    for _ in range(5):
        out += gradients(torch.randn(3))


@case
def backward_with_a_graph(how, out):
    """Gradients that have a way back, by ``backward``."""
    w = nn.Parameter(four())

    @how
    def step(x):
        w.grad = None
        (w * x).sin().sum().backward(create_graph=True)
        once, w.grad = w.grad, None
        (once * once).sum().backward()
        return once.detach(), w.grad.clone()

    for i in range(6):
        out += step(four(i))


@case
def hooked_within(how, out):
    """A hook that the function itself registers, each time."""
    w = nn.Parameter(four())

    @how
    def gradient(x):
        y = w * x
        y.register_hook(lambda grad: grad * 2)
        return torch.autograd.grad(y.sum(), w)

    for i in range(6):
        out += gradient(four(i))


@case
def a_leaf_made_within(how, out):
    """A view that becomes a leaf in the function."""

    @how
    def gradients(x):
        leaf = x.view(2, 2).requires_grad_()
        y = leaf.square().sum()
        (slope,) = torch.autograd.grad(y, leaf, create_graph=True)
        return y.detach(), slope.detach(), slope.sum().detach()

    for i in range(6):
        out += gradients(four(i))


@case
def a_gradient_that_stays(how, out):
    """A gradient that is added to, is looked at, and is taken away outside."""
    leaf = torch.linspace(0, 1, 4).reshape(2, 2).requires_grad_()

    @how
    def step(x):
        y = (leaf * x).square().sum()
        y.backward()
        return y.detach(), leaf.grad.clone()

    for i in range(12):
        if i == 5:
            handle = leaf.register_hook(lambda grad: grad * 3)
        if i == 8:
            handle.remove()
        if i in (7, 10):
            leaf.grad = None
        out += step(torch.tensor(2.0))


@pytest.mark.filterwarnings("ignore:Using backward")
@pytest.mark.parametrize("pure", [False, True], ids=["compared", "pure"])
@pytest.mark.parametrize("name", case)
def test_gradients_as_values(name, pure, monkeypatch):
    if pure and name in ("hooked", "walked_twice"):
        pytest.skip("hooks come and errors are caught, which the promise excludes")
    monkeypatch.setattr(both_ways, "compile", partial(torch.compile, pure=pure))
    with compiled.serving(compiled.NEVER):  # with Numba, small programs add in another order
        written, replayed = both_ways.both(case[name])
    assert replayed == written


@pytest.mark.replays
def test_a_step_with_second_derivatives_is_one_program():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x = torch.linspace(0, 1, 16).reshape(-1, 1).requires_grad_()  # a leaf that is a view

    @torch.compile(fullgraph=True, pure=True)
    def step():
        u = model(x)
        (slope,) = torch.autograd.grad(u.sum(), x, create_graph=True)
        (bend,) = torch.autograd.grad(slope.sum(), x, create_graph=True)
        loss = (bend + u).square().mean()
        optimizer.zero_grad()
        x.grad = None
        loss.backward()
        optimizer.step()
        return loss

    losses = [step().item() for _ in range(6)]
    assert losses == sorted(losses, reverse=True)
    assert len(programs(step)) == 1
    assert not reasons(step)


class Moving(nn.Module):
    """A layer that writes to a buffer, and then reads it."""

    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(4))

    def forward(self, x):
        with torch.no_grad():
            self.mean.lerp_(x.mean(0), 0.5)
        return x * (1 + self.mean.clone())


@pytest.mark.parametrize("layer", [lambda: nn.Dropout(0.5), lambda: nn.BatchNorm1d(4), Moving])
def test_second_derivatives_draw_and_write_no_more(layer):
    """The calls that are made again for them have the numbers that were drawn, and write to copies."""
    found = []
    for how in (lambda model: model, torch.compile):
        torch.manual_seed(0)
        model = nn.Sequential(nn.Linear(3, 4), layer(), nn.Tanh(), nn.Linear(4, 1))
        call, seen = how(model), []
        for turn in range(6):
            out = call(torch.randn(5, 3))
            if turn > 2:
                (slope,) = torch.autograd.grad(out.sum(), model[0].weight, create_graph=True)
                slope.square().sum().backward()
                seen += [slope.detach(), model[0].weight.grad.clone()]
            seen += [out.detach(), torch.get_rng_state(), *(buffer.clone() for buffer in model.buffers())]
        found.append(seen)
    for mine, theirs in zip(*found, strict=True):
        torch.testing.assert_close(theirs, mine, rtol=1e-6, atol=1e-6)  # first and second ones are added up apart


def test_graphs_are_those_of_the_calls():
    """What is differentiated twice goes through its own graph, bit for bit."""
    w = torch.randn(4, 4, requires_grad=True)
    call, found = torch.compile(lambda x: (x @ w).tanh() * 2 @ w), []
    for function in (call, lambda x: (x @ w).tanh() * 2 @ w):
        for turn in range(5):
            with compiled.serving(compiled.NEVER):  # whose loops have a tangent of their own
                total = function(torch.arange(8.0).reshape(2, 4) / 8).sum()
            (once,) = torch.autograd.grad(total, w, create_graph=True)
            (twice,) = torch.autograd.grad((total + once.square().sum()) if turn > 2 else once.sum(), w)
        found.append(both_ways.bits(twice))
    assert found[0] == found[1]


def test_a_step_and_a_result_with_a_way_back_are_no_program():
    """Second derivatives would have to take the step again."""
    w = torch.ones(3, requires_grad=True)
    optimizer = torch.optim.SGD([w], 0.1)

    @torch.compile
    def step(x):
        loss = (w * x).sum()
        loss.backward(retain_graph=True)
        optimizer.step()
        return (w * x).square().sum()

    for _ in range(4):
        total = step(torch.arange(3.0))
    before = w.detach().clone()
    (once,) = torch.autograd.grad(total, w, create_graph=True)
    torch.autograd.grad(once.sum(), w)
    assert torch.equal(before, w)
