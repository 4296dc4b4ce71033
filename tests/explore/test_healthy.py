"""Gradients that are zero, and models in which nothing is wrong; in both engines."""

import pytest

from glassgrad.explore import check, flow, observe, record, trace_nan, unused, why

INF = float("inf")


# -- gradients that are zero or none: the operation that made them so -------------------------------------------------


def gives_none(engine, w):
    class Silent(engine.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return None

    return Silent.apply(w)


def hooked(w):
    h = w * 2
    h.register_hook(lambda g: g * 0)
    return h


ZEROS = {
    "gives None": ("SilentBackward", "gave None", lambda t, w: gives_none(t, w)),
    "sign": ("SignBackward0", "slope is 0", lambda t, w: w.sign() * 3),
    "round": ("RoundBackward0", "slope is 0", lambda t, w: (w * 1.3).round()),
    "zero weight": ("MmBackward0", "multiplies by zeros", lambda t, w: w[None] @ t.zeros(3, 2, requires_grad=True)),
    "clamped": ("ClampBackward1", "outside of its range", lambda t, w: (w * 5).clamp(0, 1)),
    "times 0": ("MulBackward0", "multiplies by zeros", lambda t, w: w * 0 + 1),
    "masked": ("MulBackward0", "multiplies by zeros", lambda t, w: w * t.zeros(3)),
    "dead relu": ("ReluBackward0", "off wherever", lambda t, w: (w - 5).relu()),
    "hook": ("SumBackward0", "a hook", lambda t, w: hooked(w)),
    "normal": ("NormalBackward1", "random draw", lambda t, w: t.normal(w, 1.0)),
    "saturated": ("SigmoidBackward0", "saturated", lambda t, w: (w * 1e4).sigmoid()),
    "shift": ("SoftmaxBackward0", "shift", lambda t, w: (w.sum() * t.ones(4)).softmax(0)),
    "not taken": ("WhereBackward0", "nothing of this input", lambda t, w: t.where(t.zeros(3) > 1, w, t.ones(3))),
}


@pytest.mark.parametrize("case", ZEROS)
def test_the_operation_that_made_a_gradient_zero_is_named(engine, case):
    op, reason, function = ZEROS[case]
    w = engine.ones(3, requires_grad=True)
    with record() as r:
        loss = function(engine, w).sum()
    graph = observe(loss, record=r, retain_graph=True)
    answer = why(loss, w)
    assert not answer and op in str(answer) and reason in str(answer) and answer.advice
    assert "ReLU" not in str(answer) and "nought" not in str(answer)
    if case != "zero weight":
        (problem,) = [p for p in graph.problems if p.kind == "dead"]
        assert op in problem.text and reason in problem.text and op in flow(graph).advice
        assert not flow(graph) and not flow({"w": w}) and "ReLU" not in flow({"w": w}).advice
    loss.backward()  # freed now: only what is certain is said
    answer = why(loss, w)
    assert not answer and answer.advice and (op in str(answer) or "observe(loss)" in answer.advice)


def test_gradients_that_cancel_each_other_are_told_as_that(engine):
    w = engine.ones(3, requires_grad=True)
    graph = observe((w * 2).sum() - (w * 2).sum())
    assert "cancel" in [p for p in graph.problems if p.kind == "dead"][0].text


# -- healthy models: no finding ---------------------------------------------------------------------------------------


def attention(engine, width, causal):
    nn = engine.nn

    class Attention(nn.Module):
        def __init__(self):
            super().__init__()
            self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))
            self.out = nn.Linear(width, width)
            self.register_buffer("mask", engine.full((5, 5), -INF).triu(1) if causal else engine.zeros(5, 5))

        def forward(self, x):
            scores = self.query(x) @ self.key(x).transpose(-1, -2) / width**0.5 + self.mask
            return self.out(scores.softmax(-1) @ self.value(x))

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
            self.attention = Attention()
            self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

        def forward(self, x):
            x = x + self.attention(self.first(x))
            return x + self.mlp(self.second(x))

    return Block()


def gpt(engine):
    nn = engine.nn

    class Gpt(nn.Module):
        def __init__(self):
            super().__init__()
            self.tokens, self.places = nn.Embedding(11, 8), nn.Embedding(5, 8)
            self.blocks = nn.Sequential(*(attention(engine, 8, True) for _ in range(3)))
            self.norm, self.head = nn.LayerNorm(8), nn.Linear(8, 11, bias=False)
            self.head.weight = self.tokens.weight

        def forward(self, x):
            return self.head(self.norm(self.blocks(self.tokens(x) + self.places(engine.arange(5)))))

    model, x = Gpt(), engine.randint(0, 11, (2, 5))
    return model, lambda: nn.functional.cross_entropy(model(x).reshape(10, 11), x.reshape(10))


def bert(engine):
    nn = engine.nn
    model = nn.Sequential(
        nn.Embedding(11, 8), attention(engine, 8, False), attention(engine, 8, False), nn.Linear(8, 2)
    )
    x = engine.randint(0, 11, (2, 5))
    return model, lambda: nn.functional.cross_entropy(model(x)[:, 0], engine.tensor([0, 1]))


def resnet(engine):
    nn = engine.nn

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = nn.Conv2d(4, 4, 3, padding=1), nn.Conv2d(4, 4, 3, padding=1)  # biases get ~0
            self.norm, self.last = nn.BatchNorm2d(4), nn.BatchNorm2d(4)
            self.relu = nn.ReLU(inplace=True)
            nn.init.zeros_(self.last.weight)  # as zero_init_residual does

        def forward(self, x):
            return self.relu(x + self.last(self.second(self.relu(self.norm(self.first(x))))))

    stem = [nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(inplace=True), nn.MaxPool2d(2)]
    tail = [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 2)]
    model, x = nn.Sequential(*stem, Block(), Block(), *tail), engine.randn(4, 3, 10, 10)
    return model, lambda: nn.functional.cross_entropy(model(x), engine.tensor([0, 1, 0, 1]))


def lstm(engine, steps=1):
    nn = engine.nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.lstm, self.cell, self.gru = nn.LSTM(3, 4), nn.LSTMCell(4, 4), nn.GRU(4, 4)
            self.head = nn.Linear(4, 1)

        def forward(self, x):
            y, _ = self.lstm(x, (engine.zeros(1, 2, 4), engine.zeros(1, 2, 4)))
            h, _ = self.cell(y[-1])
            y, _ = self.gru(h[None])
            return self.head(y[-1])

    model, x = Net(), engine.randn(steps, 2, 3)
    return model, lambda: (model(x) ** 2).mean()


def normed(engine):
    nn, norms = engine.nn, engine.nn.utils.parametrizations
    model = nn.Sequential(norms.spectral_norm(nn.Linear(3, 8)), nn.LeakyReLU(), norms.weight_norm(nn.Linear(8, 1)))
    x = engine.randn(4, 3)
    return model, lambda: model(x).pow(2).mean()


def critic_step(engine):
    nn = engine.nn
    maker = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 3))
    critic = nn.Sequential(nn.Linear(3, 16), nn.LeakyReLU(0.2), nn.Dropout(0.1), nn.Linear(16, 1))
    noise, real = engine.randn(4, 2), engine.randn(4, 3)
    entropy = nn.functional.binary_cross_entropy_with_logits

    def loss():
        fake = maker(noise).detach()
        return entropy(critic(real), engine.ones(4, 1)) + entropy(critic(fake), engine.zeros(4, 1))

    return critic, loss


def maker_step(engine):
    critic, _ = critic_step(engine)
    maker = engine.nn.Sequential(engine.nn.Linear(2, 8), engine.nn.Tanh(), engine.nn.Linear(8, 3))
    entropy = engine.nn.functional.binary_cross_entropy_with_logits
    noise = engine.randn(4, 2)
    return maker, lambda: entropy(critic(maker(noise)), engine.ones(4, 1))


def vae(engine):
    nn = engine.nn

    class Vae(nn.Module):
        def __init__(self):
            super().__init__()
            self.into, self.mean, self.log_var, self.out = (nn.Linear(*s) for s in ((6, 8), (8, 2), (8, 2), (2, 6)))

        def forward(self, x):
            h = self.into(x).relu()
            mean, log_var = self.mean(h), self.log_var(h)
            z = mean + engine.randn_like(mean) * (0.5 * log_var).exp()
            return self.out(z).sigmoid(), -0.5 * (1 + log_var - mean.pow(2) - log_var.exp()).sum()

    model, x = Vae(), engine.rand(4, 6)

    def loss():
        y, divergence = model(x)
        return nn.functional.binary_cross_entropy(y, x, reduction="sum") + divergence

    return model, loss


def diffusion(engine):
    nn = engine.nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.time = nn.Sequential(nn.Linear(4, 8), nn.SiLU(), nn.Linear(8, 4))
            self.into, self.norm, self.out = nn.Conv2d(1, 4, 3, padding=1), nn.GroupNorm(2, 4), nn.Conv2d(4, 1, 1)
            nn.init.zeros_(self.out.weight)
            nn.init.zeros_(self.out.bias)

        def forward(self, x, t):
            return self.out(nn.functional.silu(self.norm(self.into(x) + self.time(t)[:, :, None, None])))

    model, x, t = Net(), engine.randn(2, 1, 6, 6), engine.randn(2, 4)

    def loss():
        noise = engine.randn_like(x)
        with engine.no_grad():
            level = engine.tensor([0.9, 0.3]).sqrt().reshape(2, 1, 1, 1)
        return nn.functional.mse_loss(model(level * x + (1 - level**2).sqrt() * noise, t), noise)

    return model, loss


HEALTHY = [gpt, bert, resnet, lstm, normed, critic_step, maker_step, vae, diffusion]


@pytest.mark.parametrize("recorded", [False, True])
@pytest.mark.parametrize("build", HEALTHY)
def test_a_healthy_model_gives_no_finding(engine, build, recorded):
    engine.manual_seed(0)
    model, compute = build(engine)
    with record(model) as r:
        loss = compute()
    r = r if recorded else record()
    answer = check(loss, record=r, model=model)
    assert answer and not answer.problems and not answer.graph.problems, (answer, answer.graph.problems)
    assert unused(loss, model, record=r)
    bare = observe(loss, retain_graph=True, record=r if recorded else None)
    assert bare.problems == (), bare.problems
    model.zero_grad()
    graph = observe(loss, model=model, record=r)
    assert graph.problems == (), graph.problems
    assert flow(model) and flow(graph), flow(graph)
    assert trace_nan(compute)


def test_a_gradient_that_goes_past_a_layer_has_not_vanished(engine):
    """As it goes past the queries and keys of an attention whose weights are small, by way of the values."""
    engine.manual_seed(0)
    nn = engine.nn
    first, query, value, head = (nn.Linear(8, 8) for _ in range(4))
    with engine.no_grad():
        query.weight.mul_(1e-6)
    model = nn.ModuleDict({"head": head, "first": first, "query": query, "value": value})
    hidden = first(engine.ones(4, 8))
    loss = head(value(hidden) + query(hidden * 1e-6).sin() * 1e-6).pow(2).mean()
    assert observe(loss, model=model, retain_graph=True).problems == ()
    lost = head(query(hidden * 1e-6)).pow(2).mean()
    assert {problem.kind for problem in observe(lost, model=nn.ModuleList([head, query, first])).problems} == {
        "vanishing"
    }


def test_a_net_that_explodes_and_layers_before_a_healthy_one(engine):
    engine.manual_seed(0)
    layers = [engine.nn.Linear(8, 8) for _ in range(8)]
    model = engine.nn.Sequential(*layers)
    with engine.no_grad():
        for layer in layers:
            layer.weight.mul_(20)
    model(engine.ones(4, 8)).sum().backward()
    answer = flow(model)
    assert len(answer.named("exploding")) == 8 and "clip" in answer.advice
    grads = {f"{i}.weight": engine.ones(3, requires_grad=True) for i in range(3)}
    for (_, tensor), size in zip(grads.items(), (1e-7, 1e-7, 1e-1), strict=True):
        tensor.grad = engine.full((3,), size)
    answer = flow(grads)
    assert answer.named("exploding") == () and answer.named("vanishing") == ("0", "1")
    for (_, tensor), size in zip(grads.items(), (1e5, 1e1, 1e-1), strict=True):
        tensor.grad = engine.full((3,), size)
    assert flow(grads).named("exploding") == ("0",)
