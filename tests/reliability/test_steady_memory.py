"""Ten thousand training steps leave the memory as the first hundred left it."""

import gc
import tracemalloc

import numpy as np

import glassgrad as torch

NOISE = 30_000  # what Python's own free lists come and go by; one object left by each step would be twice as much


def training():
    """A linear model trained on raw tensors, weights updated in place under no_grad; gives the step."""
    rng = np.random.default_rng(0)
    x = torch.from_numpy(rng.standard_normal((16, 8)).astype("float32"))
    y = x @ torch.from_numpy(rng.standard_normal((8, 1)).astype("float32"))
    w = torch.zeros(8, 1, requires_grad=True)
    b = torch.zeros(1, requires_grad=True)

    def step():
        loss = ((x @ w + b - y) ** 2).mean()
        loss.backward()
        with torch.no_grad():
            for p in (w, b):
                p -= 0.01 * p.grad
                p.grad = None
        return loss.item()

    return step


def module_training():
    """The same with modules, a loss and an optimizer with momentum."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    loss_of = torch.nn.MSELoss()
    x = torch.randn(16, 8)
    y = x.sum(1, keepdim=True)

    def step():
        optimizer.zero_grad()
        loss = loss_of(model(x), y)
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


def steps_of_many_kinds():
    """A step that also uses views, writes, hooks, a custom Function, create_graph and saved-tensor hooks."""
    w = torch.ones(4, requires_grad=True)

    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    def step():
        y = w * 1.0
        y[:2].mul_(0.5)
        y.register_hook(lambda grad: grad)
        z = Double.apply(y)
        z.retain_grad()
        with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
            z = z.exp() * z
        (slope,) = torch.autograd.grad(z.sum(), w, create_graph=True)
        handle = w.register_hook(lambda grad: grad)
        slope.sum().backward()
        handle.remove()
        w.grad = None
        return 0.0

    return step


def growth(step, warm, count):
    """Bytes that ``count`` steps add to what ``warm`` steps left."""
    for _ in range(warm):
        step()
    gc.collect()
    tracemalloc.start()
    try:
        for _ in range(warm):
            step()
        gc.collect()
        before, _ = tracemalloc.get_traced_memory()
        for _ in range(count):
            step()
        gc.collect()
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return after - before


def test_training_does_not_grow():
    step = training()
    first = step()
    assert growth(step, 200, 10_000) < NOISE
    assert step() < 1e-3 * first, "and it learns"


def test_training_of_modules_does_not_grow():
    step = module_training()
    first = step()
    assert growth(step, 200, 2_000) < NOISE
    assert step() < 1e-2 * first


def test_unusual_steps_do_not_grow():
    assert growth(steps_of_many_kinds(), 200, 1_000) < NOISE
