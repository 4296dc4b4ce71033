"""Random trainings: models of layers, steps put together from what scripts do, and changes between the steps.

Each is run as it is written and compiled, be it the whole step, the model, or the loss alone, and all that it leaves
behind is compared bit for bit, up to the first difference of rounding.
"""

# ruff: noqa: E501  the tables have a line for each thing

import argparse
import copy
import random
import re
import sys
import warnings

import numpy as np

import glassgrad as torch
import glassgrad.nn.functional as F
from glassgrad import nn
from glassgrad.kernels import compiled

from .both_ways import bits, small_ones_too
from .programs import Double, pieces


class Recurrent(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.layer, self.head, self.state = kind(4, 6, batch_first=True), nn.Linear(6, 3), None

    def forward(self, x):
        before = self.state if len(x) == 5 and self.training else None  # truncated backpropagation
        out, state = self.layer(x.reshape(len(x), 3, 4), before)
        if len(x) == 5:
            self.state = tuple(part.detach() for part in state) if isinstance(state, tuple) else state.detach()
        return self.head(out[:, -1])


class Attending(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention, self.norm, self.head = nn.MultiheadAttention(4, 2, dropout=0.1, batch_first=True), nn.LayerNorm(4), nn.Linear(12, 3)

    def forward(self, x):
        x = x.reshape(x.shape[0], 3, 4)
        return self.head((x + self.attention(x, x, x, need_weights=False)[0]).flatten(1))


class Counting(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second, self.calls = nn.Linear(12, 8), nn.Linear(8, 3), 0
        self.register_buffer("mean", torch.zeros(8))

    def forward(self, x):
        self.calls += 1
        h = self.first(x).relu()
        if self.training:
            with torch.no_grad():
                self.mean.lerp_(h.mean(0), 0.1)
        if self.calls % 3 == 0:
            h = h - self.mean
        return self.second(h) * (1 + self.calls % 2)


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([nn.Sequential(nn.Linear(12, 12), nn.BatchNorm1d(12), nn.ReLU()) for _ in range(2)])
        self.embedding, self.head = nn.Embedding(4, 12, padding_idx=0), nn.Linear(12, 3)

    def forward(self, x):
        x = x + self.embedding((x[:, 0] > 0).long() + (x[:, 1] > 0).long())
        for block in self.blocks:
            x = x + block(x)
        if not self.training:
            x = x * 0.5
        return self.head(x)


MODELS = {
    "residual": Residual,
    "mlp": lambda: nn.Sequential(nn.Linear(12, 8), nn.Tanh(), nn.Dropout(0.3), nn.Linear(8, 3)),
    "batchnorm": lambda: nn.Sequential(nn.Linear(12, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 3)),
    "convolution": lambda: nn.Sequential(nn.Unflatten(1, (1, 3, 4)), nn.Conv2d(1, 4, 2), nn.BatchNorm2d(4), nn.GELU(), nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(16, 3)),
    "norms": lambda: nn.Sequential(nn.Linear(12, 8), nn.LayerNorm(8), nn.SiLU(), nn.GroupNorm(2, 8), nn.Linear(8, 3)),
    "pool": lambda: nn.Sequential(nn.Unflatten(1, (1, 3, 4)), nn.Conv2d(1, 2, 3, padding=1), nn.MaxPool2d((1, 2)), nn.Flatten(), nn.LeakyReLU(), nn.Linear(12, 3)),
    "lstm": lambda: Recurrent(nn.LSTM), "gru": lambda: Recurrent(nn.GRU), "rnn": lambda: Recurrent(nn.RNN),
    "attention": Attending, "counting": Counting,
    "tied": lambda: _tied(nn.Sequential(nn.Linear(12, 12), nn.Tanh(), nn.Linear(12, 12), nn.Linear(12, 3))),
    "parametrized": lambda: nn.Sequential(torch.nn.utils.parametrizations.weight_norm(nn.Linear(12, 8)), nn.ELU(), nn.Linear(8, 3)),
}  # fmt: skip


def _tied(model):
    model[2].weight = model[0].weight
    return model


OPTIMIZERS = {
    "SGD": lambda p: torch.optim.SGD(p, 0.1), "momentum": lambda p: torch.optim.SGD(p, 0.05, 0.9, weight_decay=0.01, nesterov=True),
    "Adam": lambda p: torch.optim.Adam(p, 0.01), "AdamW": lambda p: torch.optim.AdamW(p, 0.01, amsgrad=True),
    "RMSprop": lambda p: torch.optim.RMSprop(p, 0.01, momentum=0.5), "Adagrad": lambda p: torch.optim.Adagrad(p, 0.05),
    "NAdam": lambda p: torch.optim.NAdam(p, 0.01), "Adadelta": lambda p: torch.optim.Adadelta(p),
    "groups": lambda p: torch.optim.SGD([{"params": p[:1], "lr": 0.01}, {"params": p[1:]}], 0.1),
}  # fmt: skip
#: What a step computes as its loss, and what it adds.
LOSSES = """
F.cross_entropy(out, y) | F.cross_entropy(out, y, label_smoothing=0.1) | F.mse_loss(out, F.one_hot(y, 3).float()) | F.nll_loss(F.log_softmax(out, -1), y)
F.cross_entropy(out, y, weight=c.weights) | F.smooth_l1_loss(out.softmax(-1), F.one_hot(y, 3).to(out.dtype)) | F.multi_margin_loss(out, y) | (out.logsumexp(-1) - out.gather(1, y[:, None])[:, 0]).mean()
""".replace("\n", "|")  # fmt: skip
BEFORE = """
c.opt.zero_grad() | c.opt.zero_grad(set_to_none=False) | c.model.zero_grad() | x = x + torch.randn_like(x) * 0.1
order = torch.randperm(x.shape[0]); x = x * 0.7 + x[order] * 0.3 | if c.turn % 2 == 0: c.opt.zero_grad() | x = F.dropout(x, 0.2) | x = x.requires_grad_() if not x.requires_grad else x
for p in c.model.parameters(): p.grad = None | x = (x - x.mean(0)) / (x.std(0) + 1e-3) | x = x.clamp(-1, 1) | y = torch.where(y > 1, y - 1, y) | x = torch.cat([x[1:], x[:1]])
""".replace("\n", "|")  # fmt: skip
MIDDLE = """
loss = loss + sum(p.abs().sum() for p in c.model.parameters()) * 1e-3 | loss = loss + sum((p * p).sum() for p in c.model.parameters()) * 1e-3 | loss = loss / 2 | see(loss.item()) | see(float(out.mean()))
if loss > 1: loss = loss * 0.5 | see((out.argmax(-1) == y).float().mean()) | c.total += loss.detach() | c.history.append(loss.item()) | loss = loss * c.scale | out.retain_grad() | see(loss.requires_grad, loss.shape)
g, = torch.autograd.grad(loss, c.first, create_graph=True); loss = loss + g.square().sum() * 0.1 | with torch.no_grad(): see(c.model(x).sum()) | see(torch.autograd.grad(loss, c.first, retain_graph=True)[0]) | out.register_hook(lambda g: g * 2)
c.model.eval(); see(c.model(x).detach()); c.model.train() | loss = loss + F.mse_loss(out, c.ema(x).detach()) * 0.1 | print_ = f"{loss:.4f}"; see(print_) | see(out.detach().numpy().copy()) | c.last = out | see(c.last.detach())
with torch.no_grad(): loss = loss * 1 + 0 * c.ema(x).sum() if False else loss | loss = loss + checkpoint(c.model, x, use_reentrant=False).square().mean() * 0.1 | (loss * 0.5).backward(retain_graph=True) | loss = c.twice(loss) | loss = loss + (x.detach() @ x.detach().t()).diagonal().mean() * out.mean()
hidden = []; handle = c.model.register_forward_hook(lambda m, i, o: hidden.append(o.detach())); c.model(x); handle.remove(); see(hidden) | loss = torch.stack([loss, out.std()]).sum() | see(torch.autograd.functional.vjp(c.model, x.detach(), out.detach())[1]) | loss = loss + torch.utils.checkpoint.checkpoint(lambda: c.first.square().sum(), use_reentrant=False) * 0.01
other = c.make([p for p in c.model.parameters()][:1]); see(len(other.state)) | loss = loss + torch.func.functional_call(c.model, dict(c.model.named_parameters()), (x,)).mean() | see({k: v.shape for k, v in c.model.state_dict().items()}) | loss.register_hook(lambda g: g * 3)
with torch.autocast("cpu", torch.bfloat16): loss = loss + c.model(x).float().mean() | mask = out > 0; loss = loss + out[mask].sum() * 0.01 | loss = loss + out.where(out > 0, out * 0.1).sum() * 0.01 | for n in range(c.turn % 3): loss = loss + out[:, n].mean() | loss = sum(F.cross_entropy(out[n : n + 1], y[n : n + 1]) for n in range(len(y))) / len(y)
""".replace("\n", "|")  # fmt: skip
AFTER = r"""
torch.nn.utils.clip_grad_norm_(c.model.parameters(), 0.5) | torch.nn.utils.clip_grad_value_(c.model.parameters(), 0.1) | see(torch.nn.utils.clip_grad_norm_(c.model.parameters(), 1.0)) | c.sched.step() | see(c.opt.param_groups[0]["lr"])
with torch.no_grad():\n    for e, p in zip(c.ema.parameters(), c.model.parameters()): e.lerp_(p, 0.1) | for e, p in zip(c.ema.parameters(), c.model.parameters()): e.data.mul_(0.9).add_(p.data, alpha=0.1) | see(c.first.grad) | see(sum(p.grad.norm() for p in c.model.parameters() if p.grad is not None))
for p in c.model.parameters(): p.grad = p.grad * 0.5 if p.grad is not None else None | with torch.no_grad(): c.first.clamp_(-1, 1) | if c.turn % 3 == 2: c.opt.zero_grad() | see(c.checked(x)) | c.model.eval(); see(c.checked(x)); c.model.train() | c.first.grad.mul_(0.5) if c.first.grad is not None else None | loss = loss.detach() | c.total.zero_()
for p in c.model.parameters(): p.grad.nan_to_num_(0.0) if p.grad is not None else None | with torch.no_grad():\n    for p in c.model.parameters(): p.add_(torch.randn_like(p), alpha=1e-3)
""".replace("\n", "|").replace("\\n", "\n")  # fmt: skip
#: What happens outside, between two steps.
EVENTS = """
c.opt.param_groups[0]["lr"] *= 0.5 | c.first.requires_grad_(False) | c.first.requires_grad_(True) | c.model.eval() | c.model.train() | c.size = 3 | c.size = 5 | c.size = 1 if c.name not in ("batchnorm", "convolution", "norms", "residual") else 4
c.saved = copy.deepcopy(c.model.state_dict()) | c.model.load_state_dict(c.saved) | c.opt.load_state_dict(copy.deepcopy(c.opt.state_dict())) | c.first.data = c.first.data * 0.5 | c.first.data.mul_(1.1) | c.first.grad = None | c.scale = c.scale * 0.5
c.weights = torch.rand(3) | c.weights.mul_(2) | c.opt = c.make(list(c.model.parameters())) | c.model.register_forward_hook(lambda m, i, o: o * 1.5) | c.first.register_hook(lambda g: g * 0.5) | c.ema = copy.deepcopy(c.model) | torch.set_grad_enabled(True) | c.want = not c.want
next(m for m in c.model.modules() if len(list(m.parameters(recurse=False))) > 0).requires_grad_(c.turn % 2 == 0) | [setattr(m, "p", 0.6) for m in c.model.modules() if isinstance(m, nn.Dropout)] | c.opt.zero_grad() | c.opt.step() | c.model.requires_grad_(True) | c.array[...] = 2.0 | torch.manual_seed(7)
copy.deepcopy(c.model)(torch.ones(4, 12)).sum().backward() | c.model(torch.ones(4, 12)).sum().backward() | c.model.to(torch.float32) | c.opt.param_groups[0]["weight_decay"] = 0.1 | torch.set_num_threads(1) | c.checked(torch.ones(2, 12)) | c.called(torch.ones(4, 12)).sum().backward() | c.checked(torch.ones(3, 12)); c.model.eval() | c.model.apply(lambda m: m.reset_parameters() if isinstance(m, nn.Linear) and c.name != "parametrized" else None) | c.first.add(1) | c.first.detach().zero_()
""".replace("\n", "|")  # fmt: skip


#: What is compiled; "pure" is the step, with pure=True, of those that keep the promise.
WHAT = ("step", "step", "model", "loss", "nested", "layers", "both", "pure")
#: What breaks the promise of ``pure=True``: Python's state, and hooks that are registered anew.
_IMPURE = re.compile(r"c\.(turn|history|total|last)|see\(|hook|retain_grad|if |hidden|other =|c\.sched|float\(")


LOSSES, BEFORE, MIDDLE, AFTER, EVENTS = map(pieces, (LOSSES, BEFORE, MIDDLE, AFTER, EVENTS))


class World:
    """A training: the model, its optimizer, and what a script keeps beside them."""

    def __init__(self, choice):
        self.name = choice.choice(sorted(MODELS))
        self.model = MODELS[self.name]()
        self.make = OPTIMIZERS[choice.choice(sorted(OPTIMIZERS))]
        self.opt = self.make(list(self.model.parameters()))
        self.sched = choice.choice([torch.optim.lr_scheduler.StepLR, torch.optim.lr_scheduler.CosineAnnealingLR])(self.opt, 3)
        self.ema, self.saved = copy.deepcopy(self.model), copy.deepcopy(self.model.state_dict())
        self.first = next(self.model.parameters())
        self.weights, self.total, self.history = torch.rand(3), torch.zeros(()), []
        self.array, self.twice = np.ones(1, np.float32), Double.apply
        self.scale, self.size, self.turn, self.want, self.last = torch.from_numpy(self.array)[0], 5, 0, False, torch.zeros(2)


def written(seed):
    """The text of a random step, and the events between its calls."""
    choice, pure = random.Random(seed), WHAT[seed % len(WHAT)] == "pure"

    def some(pieces, most):
        pieces = [piece for piece in pieces if not (pure and _IMPURE.search(piece))]
        return [line for piece in choice.sample(pieces, choice.randint(0, most)) for line in piece.split("\n")]

    lines = [*some(BEFORE, 2), "out = c.called(x)", f"loss = c.loss_of(out, y) if {choice.random() < 0.3} else {choice.choice(LOSSES)}"]
    lines += some(MIDDLE, 2) + ["loss.backward()"] + some(AFTER, 2) + ["c.opt.step()"] + some(AFTER, 1)
    lines.append(f"return {choice.choice(['loss', 'loss, out', 'loss.detach()', 'loss.item()', 'None', 'out'])}")
    text = "\n    ".join(["def step(x, y):", *lines]) + "\n"
    return text, [choice.choice(EVENTS) if choice.random() < 0.5 and not pure else "pass" for _ in range(7)]


def shown(piece):
    """What can be seen of a thing, to compare."""
    if isinstance(piece, torch.Tensor):
        return (*bits(piece), piece.requires_grad, piece._version)
    if isinstance(piece, (list, tuple)):
        return [shown(inner) for inner in piece]
    return piece.tobytes() if isinstance(piece, np.ndarray) else repr(piece)


def outcome(seed, what):
    """Everything that can be seen of a training of which ``what`` is compiled, one of ``WHAT`` or None."""
    text, events = written(seed)
    torch.manual_seed(seed)
    choice = random.Random(seed + 1)
    c, out = World(choice), []
    space = {"torch": torch, "F": F, "nn": nn, "np": np, "c": c, "copy": copy, "checkpoint": torch.utils.checkpoint.checkpoint}
    space["see"] = lambda *things: out.append([shown(thing) for thing in things])
    exec(compile(text, f"<training {seed}>", "exec"), space)
    step, c.loss_of = space["step"], nn.CrossEntropyLoss()
    c.called = torch.compile(c.model) if what in ("model", "both", "nested") else lambda x: c.model(x)
    step = torch.compile(step, pure=what == "pure") if what in ("step", "pure", "nested") else step
    c.loss_of = torch.compile(c.loss_of) if what in ("loss", "both", "nested") else c.loss_of
    for layer in c.model.children() if what in ("layers", "nested") else ():
        layer.compile()

    def checked(x):
        with torch.no_grad():
            return c.model(x).softmax(-1)

    c.checked = torch.compile(checked) if what else checked
    for c.turn, event in enumerate(events):
        data = torch.randn(c.size, 12), torch.randint(3, (c.size,))
        try:
            if c.want:
                data[0].requires_grad_()
            out.append(shown(step(*data)))
            exec(event, space)
        except Exception as error:  # noqa: BLE001  it is compared too
            out.append((type(error).__name__, str(error)))
        out.append([p.grad is not None and shown(p.grad) for p in c.model.parameters()])
        out.append([(name, shown(value)) for name, value in c.model.state_dict().items()])
        out.append([shown(value) for p in c.model.parameters() for value in c.opt.state.get(p, {}).values()])
        out.append([shown(data[0]), shown(data[0].grad), shown([*c.ema.parameters()]), shown(c.total), shown(c.history)])
    out.append(torch.get_rng_state().tolist())
    return out


def close(mine, theirs):
    """Whether two outcomes differ by rounding alone: gradients that meet were added up in another order."""
    if isinstance(mine, (list, tuple)) and type(mine) is type(theirs) and len(mine) == len(theirs):
        if len(mine) > 2 and isinstance(mine[2], bytes):
            if mine[:2] != theirs[:2] or mine[3:] != theirs[3:]:
                return False
            one, other = (np.frombuffer(piece[2], piece[1]).astype("f8") for piece in (mine, theirs))
            return np.allclose(one, other, rtol=0, atol=1e-5 * max(np.nanmax(np.abs(one), initial=0), 0.1), equal_nan=True)
        return all(close(one, other) for one, other in zip(mine, theirs))
    return mine == theirs


def difference(seed):
    """Where a training that is compiled differs from it as it is written; None where it does not.

    From the first difference of rounding on nothing is compared: an optimizer may make much of it.
    """
    what = WHAT[seed % len(WHAT)]
    one, other = outcome(seed, None), outcome(seed, what)
    for place, (mine, theirs) in enumerate(zip(one, other)):
        if mine != theirs:
            return None if close(mine, theirs) else (what, *written(seed), place, mine, theirs)
    return None if len(one) == len(other) else (what, *written(seed), len(one), len(other), "")


def main():
    """Run random trainings from the command line."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0)
    told = parser.parse_args()
    warnings.simplefilter("ignore")
    small_ones_too()
    wrong = 0
    with compiled.serving(compiled.NEVER):
        for seed in range(told.first, told.first + told.count):
            found = difference(seed)
            if found:
                wrong += 1
                print(seed, *[str(piece)[:1500] for piece in found], sep="\n")
    print(f"{wrong} of {told.count} trainings differ")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
