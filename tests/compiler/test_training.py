"""Whole training steps, compiled: the same bits as the step as it is written, and one program for all calls."""

import pytest

import glassgrad as torch
import glassgrad.nn.functional as F
from glassgrad import nn
from glassgrad.kernels import compiled

from .both_ways import programs, pure, reasons, training


class LastOfSequence(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.layer = kind(8, 12, batch_first=True)
        self.head = nn.Linear(12, 3)

    def forward(self, x):
        return self.head(self.layer(x)[0][:, -1])


class Block(nn.Module):
    def __init__(self, width=16, heads=2):
        super().__init__()
        self.heads = heads
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.queries = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))
        self.drop = nn.Dropout(0.1)

    def forward(self, x):
        batch, length, width = x.shape
        parts = self.queries(self.first(x)).split(width, dim=2)
        q, k, v = (p.view(batch, length, self.heads, width // self.heads).transpose(1, 2) for p in parts)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.drop(self.out(y.transpose(1, 2).contiguous().view(batch, length, width)))
        return x + self.mlp(self.second(x))


class Gpt(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens, self.places = nn.Embedding(11, 16), nn.Embedding(8, 16)
        self.blocks = nn.ModuleList([Block() for _ in range(2)])
        self.head = nn.Linear(16, 11, bias=False)

    def forward(self, ids):
        x = self.tokens(ids) + self.places(torch.arange(ids.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.head(x)


class Explicit(Gpt):
    """Attention written out, with a mask made anew in each call."""

    def forward(self, ids):
        x = super().forward(ids)
        mask = torch.tril(torch.ones(8, 8))
        weights = (x @ x.transpose(-2, -1) * 0.1).masked_fill(mask == 0, float("-inf"))
        return (F.softmax(weights, dim=-1) @ x).log_softmax(-1)


def vectors():
    return torch.randn(16, 20), torch.randint(5, (16,))


def pictures():
    return torch.randn(16, 1, 8, 8), torch.randint(5, (16,))


def sequences():
    return torch.randn(4, 6, 8), torch.randn(4, 3)


def texts():
    return torch.randint(11, (3, 8)), torch.randint(11, (3, 8))


def cross_entropy(model, x, y):
    return F.cross_entropy(model(x), y)


def next_token(model, x, y):
    return F.cross_entropy(model(x).view(-1, 11), y.view(-1))


def squared(model, x, y):
    return F.mse_loss(model(x), y)


def mlp():
    return nn.Sequential(nn.Linear(20, 30), nn.ReLU(), nn.Linear(30, 5))


def cnn():
    return nn.Sequential(
        nn.Conv2d(1, 6, 3), nn.BatchNorm2d(6), nn.ReLU(), nn.MaxPool2d(2), nn.Dropout(0.3), nn.Flatten(),
        nn.Linear(54, 5),
    )  # fmt: skip


CASES = {
    "mlp, Adam": (mlp, vectors, cross_entropy, lambda p: torch.optim.Adam(p, 1e-3)),
    "mlp, SGD with momentum": (mlp, vectors, cross_entropy, lambda p: torch.optim.SGD(p, 0.1, 0.9, nesterov=True)),
    "cnn with batch norm and dropout": (cnn, pictures, cross_entropy, lambda p: torch.optim.SGD(p, 1e-2)),
    "lstm, AdamW": (lambda: LastOfSequence(nn.LSTM), sequences, squared, lambda p: torch.optim.AdamW(p, 1e-2)),
    "gru, RMSprop": (lambda: LastOfSequence(nn.GRU), sequences, squared, lambda p: torch.optim.RMSprop(p, 1e-2)),
    "gpt, AdamW": (Gpt, texts, next_token, lambda p: torch.optim.AdamW(p, 1e-2)),
    "attention written out": (Explicit, texts, next_token, lambda p: torch.optim.Adagrad(p, 1e-2)),
    "clipped gradients": (
        mlp,
        vectors,
        lambda model, x, y: cross_entropy(model, x, y) + sum(p.square().sum() for p in model.parameters()) * 1e-3,
        lambda p: torch.optim.Adam(p, 1e-3, weight_decay=0.1),
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_step_gives_the_same_bits(case):
    with compiled.serving(compiled.NEVER):
        written, replayed, step = training(*case)
    assert written == replayed
    assert len(programs(step)) == 1 and not reasons(step), reasons(step)


def test_gradients_clipped_within_the_step():
    torch.manual_seed(0)
    found = []
    for how in (lambda step: step, pure):
        torch.manual_seed(1)
        model = mlp()
        optimizer = torch.optim.SGD(model.parameters(), 0.5)

        def step(x, y, model=model, optimizer=optimizer):
            optimizer.zero_grad()
            loss = cross_entropy(model, x, y)
            loss.backward()
            norm = nn.utils.clip_grad_norm_(model.parameters(), 0.1)
            optimizer.step()
            return loss, norm

        step = how(step)
        found.append([tuple(piece.item() for piece in step(*vectors())) for _ in range(5)])
    assert found[0] == found[1]
    assert programs(step), reasons(step)


def test_gradients_accumulate_where_nothing_takes_them_away():
    x = torch.ones(3, requires_grad=True)

    @torch.compile
    def backward():
        (x * x).sum().backward()

    for times in range(1, 6):
        backward()
        assert x.grad.tolist() == [2.0 * times] * 3
    x.grad = None
    backward()
    assert x.grad.tolist() == [2.0] * 3


def test_a_gradient_that_somebody_holds_is_not_written_again():
    x = torch.ones(3, requires_grad=True)

    @torch.compile
    def backward(factor):
        x.grad = None
        (x * factor).sum().backward()
        return x.grad

    held = [backward(torch.tensor(float(n))) for n in range(6)]
    assert [grad.tolist() for grad in held] == [[float(n)] * 3 for n in range(6)]
    assert held[-1] is x.grad


def test_learning_rates_and_schedules_are_read_at_each_call():
    for momentum in (0, 0.9):
        found = []
        for how in (lambda step: step, pure):
            weight = nn.Parameter(torch.ones(4))
            optimizer = torch.optim.SGD([weight], 0.5, momentum)
            schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.5)

            def step(weight=weight, optimizer=optimizer):
                optimizer.zero_grad()
                (weight * weight).sum().backward()
                optimizer.step()

            step = how(step)
            for _ in range(6):
                step()
                schedule.step()
            found.append(weight.tolist())
        assert found[0] == pytest.approx(found[1], rel=1e-6)
        assert len(programs(step)) == 1


def test_state_that_was_loaded_is_used():
    model = nn.Linear(3, 3)
    fresh = {key: torch.full_like(value, 2.0) for key, value in model.state_dict().items()}
    call = torch.compile(model)
    x = torch.ones(1, 3)
    for _ in range(4):
        call(x)
    model.load_state_dict(fresh)
    assert call(x).tolist() == [[8.0] * 3]
    model.weight.data = torch.zeros(3, 3)
    assert call(x).tolist() == [[2.0] * 3]
    model.weight = nn.Parameter(torch.ones(3, 3))
    assert call(x).tolist() == [[5.0] * 3]
