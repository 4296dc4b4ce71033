"""Random trainings: models of layers, steps put together from what scripts do, and changes between the steps.

Each is run as it is written and compiled, be it the whole step, the model, or the loss alone, and all that it leaves
behind is compared bit for bit, up to the first difference of rounding.
"""

# ruff: noqa: E501  the tables have a line for each thing

import argparse
import collections
import copy
import dataclasses
import pickle
import random
import re
import sys
import threading
import warnings

import numpy as np

import glassgrad as torch
import glassgrad.nn.functional as F
from glassgrad import nn
from glassgrad.kernels import compiled

from .both_ways import bits, small_ones_too
from .operations import counted
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
x = x + torch.rand(x.shape, generator=torch.Generator().manual_seed(c.turn)).to(x.dtype) | x = x + torch.rand(x.shape, generator=c.gen).to(x.dtype) * 0.1 | torch.manual_seed(c.turn + 3); x = F.dropout(x, 0.1) | state = torch.get_rng_state(); x = x + torch.rand_like(x); torch.set_rng_state(state)
x = x.t().contiguous().t() | x = x.flip(1) | x = x.expand(2, *x.shape).mean(0) | x = x.double().to(x.dtype) | x.mul_(1.1) if not x.requires_grad else None | x[0] = 0.5 if not x.requires_grad else x[0] | x = torch.complex(x, x * 0.5).abs() | x = x.bfloat16().to(x.dtype) | with torch.random.fork_rng(): x = x * torch.rand(())
torch.set_default_dtype(torch.float64); x = x * torch.ones(12).to(x.dtype); torch.set_default_dtype(torch.float32) | x = x.reshape(-1, 1, 3, 4).to(memory_format=torch.channels_last).flatten(1) | x = x.unfold(1, 12, 1)[:, 0] | x = torch.lerp(x, x.roll(1, 0), 0.3) | x.view(-1)[2:5].zero_() if not x.requires_grad and x.is_contiguous() else None | x = x * random.random()
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
c.dopt.zero_grad(); d = F.softplus(-c.disc(out.detach())).mean() + F.softplus(c.disc(x[:, :3].detach())).mean(); d.backward(); c.dopt.step(); loss = loss + F.softplus(c.disc(out)).mean() | c.disc.requires_grad_(False); loss = loss + F.softplus(c.disc(out)).mean(); c.disc.requires_grad_(True) | loss = loss + c.extra.square().sum() * x.mean()
mix = x[:, :3].detach().requires_grad_(); gp = torch.autograd.grad(c.disc(mix).sum(), mix, create_graph=True)[0]; loss = loss + (gp.norm(2, 1) - 1).square().mean() | loss = loss + torch.func.vmap(lambda t: t.tanh().sum())(out).mean() | see(torch.func.grad(lambda t: t.sin().sum())(out.detach())) | c.kept.append(loss); see([k.detach() for k in c.kept[-2:]])
if c.turn == 3: raise ValueError("stop") | see(1 / (c.turn - 4)) | handle = c.first.register_hook(lambda g: g + 1) if c.first.requires_grad else None; (loss * 0.1).backward(retain_graph=True); handle.remove() if handle else None | with torch.inference_mode(): see(c.model(x).sum().tolist()) | loss = loss * (1 + random.random()) | with torch.no_grad(): see(c.called(x).requires_grad)
loss = loss + out[:0].sum() | see(out[:0], out.new_zeros(0, 3).sum(0)) | loss = loss + out[0, 0] * 0.1 | loss = loss.reshape(1).squeeze() | loss = loss + torch.stack([p.norm() for p in c.model.parameters()]).norm() * 0.01 | loss = loss + F.avg_pool2d(x.reshape(-1, 1, 3, 4).to(memory_format=torch.channels_last), 2).mean()
loss = loss + torch.fft.rfft(out).abs().mean() | loss = loss + torch.complex(out, out * 2).abs().sum() * 0.01 | loss = loss + (out.bfloat16() * 2).to(loss.dtype).mean() | loss = loss + out.half().sum().to(loss.dtype) * 0.01 | see((y * 2 + 1).sum(), (y > 1).sum(), (y > 1) & (y < 2)) | see(y.float().mean().item()) | see(torch.autograd.grad(loss, out, retain_graph=True)[0])
grads = torch.autograd.grad(loss, [p for p in c.model.parameters() if p.requires_grad], create_graph=True, allow_unused=True); loss = loss + sum(g.square().sum() for g in grads if g is not None) * 0.01 | torch.autograd.backward([loss * 0.3, out.sum() * 0.1], retain_graph=True) | loss.backward(retain_graph=True, inputs=[c.first]) | see([*copy.deepcopy(c.model).parameters()][0]) | see(pickle.loads(pickle.dumps(c.model.state_dict()))[next(iter(c.model.state_dict()))])
t = threading.Thread(target=lambda: c.box.append(c.ema(x.detach()).detach().sum())); t.start(); t.join(); see(c.box.pop()) | out = out * 1; out.add_(1); loss = loss + out.mean() | out2 = out.detach().clone(); out2[:, 0] = 7; loss = loss + (out * out2).mean() | v = out.t()[0]; loss = loss + v.square().mean() | loss = loss + F.mse_loss(x, x) + F.mse_loss(out, out.detach()) | with torch.autograd.set_detect_anomaly(True, check_nan=False): loss = loss + out.square().mean() * 0.1
loss = loss + sum(torch.einsum("ij,kj->ik", w, w).diagonal().mean() for w in c.model.parameters() if w.dim() == 2) * 0.01 | loss = loss + torch.where(y[:, None] > 0, out, out.detach() * 2).mean() | idx = out.argmax(-1, keepdim=True); loss = loss + out.gather(1, idx).mean() | loss = loss + out.sort(-1).values[:, 0].mean() | top, at = out.topk(2); loss = loss + top.sum() * 0.01; see(at) | loss = loss + out.cumsum(0).mean() + out.var(0, unbiased=False).mean() | c.data = {"out": out.detach(), "y": y}; see(*c.data.values())
""".replace("\n", "|")  # fmt: skip
AFTER = r"""
torch.nn.utils.clip_grad_norm_(c.model.parameters(), 0.5) | torch.nn.utils.clip_grad_value_(c.model.parameters(), 0.1) | see(torch.nn.utils.clip_grad_norm_(c.model.parameters(), 1.0)) | c.sched.step() | see(c.opt.param_groups[0]["lr"])
with torch.no_grad():\n    for e, p in zip(c.ema.parameters(), c.model.parameters()): e.lerp_(p, 0.1) | for e, p in zip(c.ema.parameters(), c.model.parameters()): e.data.mul_(0.9).add_(p.data, alpha=0.1) | see(c.first.grad) | see(sum(p.grad.norm() for p in c.model.parameters() if p.grad is not None))
for p in c.model.parameters(): p.grad = p.grad * 0.5 if p.grad is not None else None | with torch.no_grad(): c.first.clamp_(-1, 1) | if c.turn % 3 == 2: c.opt.zero_grad() | see(c.checked(x)) | c.model.eval(); see(c.checked(x)); c.model.train() | c.first.grad.mul_(0.5) if c.first.grad is not None else None | loss = loss.detach() | c.total.zero_()
for p in c.model.parameters(): p.grad.nan_to_num_(0.0) if p.grad is not None else None | with torch.no_grad():\n    for p in c.model.parameters(): p.add_(torch.randn_like(p), alpha=1e-3)
c.swa.update_parameters(c.model) | see(*c.swa.module.parameters()) | see([p.grad for p in c.disc.parameters()]) | c.scaler.unscale_(c.opt) | handle = c.opt.register_step_post_hook(lambda *a: c.history.append(1)); c.opt.step(); handle.remove() | c.extra.grad = None | see(c.extra, c.extra.grad) | c.first.data.clamp_(-2, 2) | c.opt.zero_grad(); c.model(x.detach()).sum().backward() | see(x.grad) | torch._foreach_mul_([p.grad for p in c.model.parameters() if p.grad is not None], 0.9)
with torch.no_grad():\n    torch._foreach_lerp_(list(c.ema.parameters()), list(c.model.parameters()), 0.1) | c.first.grad = c.first.grad.clone() if c.first.grad is not None else None | see(torch.nn.utils.parameters_to_vector(c.model.parameters())) | see(c.opt.state_dict()["state"].get(0)) | with torch.no_grad(): c.first.copy_(c.first.clone()) | c.first.requires_grad_(not c.first.requires_grad) if c.turn == 4 else None
""".replace("\n", "|").replace("\\n", "\n")  # fmt: skip
#: What happens outside, between two steps.
EVENTS = """
c.opt.param_groups[0]["lr"] *= 0.5 | c.first.requires_grad_(False) | c.first.requires_grad_(True) | c.model.eval() | c.model.train() | c.size = 3 | c.size = 5 | c.size = 1 if c.name not in ("batchnorm", "convolution", "norms", "residual") else 4
c.saved = copy.deepcopy(c.model.state_dict()) | c.model.load_state_dict(c.saved) | c.opt.load_state_dict(copy.deepcopy(c.opt.state_dict())) | c.first.data = c.first.data * 0.5 | c.first.data.mul_(1.1) | c.first.grad = None | c.scale = c.scale * 0.5
c.weights = torch.rand(3) | c.weights.mul_(2) | c.opt = c.make(list(c.model.parameters())) | c.model.register_forward_hook(lambda m, i, o: o * 1.5) | c.first.register_hook(lambda g: g * 0.5) | c.ema = copy.deepcopy(c.model) | torch.set_grad_enabled(True) | c.want = not c.want
next(m for m in c.model.modules() if len(list(m.parameters(recurse=False))) > 0).requires_grad_(c.turn % 2 == 0) | [setattr(m, "p", 0.6) for m in c.model.modules() if isinstance(m, nn.Dropout)] | c.opt.zero_grad() | c.opt.step() | c.model.requires_grad_(True) | c.array[...] = 2.0 | torch.manual_seed(7)
copy.deepcopy(c.model)(torch.ones(4, 12)).sum().backward() | c.model(torch.ones(4, 12)).sum().backward() | c.model.to(torch.float32) | c.opt.param_groups[0]["weight_decay"] = 0.1 | torch.set_num_threads(1) | c.checked(torch.ones(2, 12)) | c.called(torch.ones(4, 12)).sum().backward() | c.checked(torch.ones(3, 12)); c.model.eval() | c.model.apply(lambda m: m.reset_parameters() if isinstance(m, nn.Linear) and c.name != "parametrized" else None) | c.first.add(1) | c.first.detach().zero_()
c.opt.add_param_group({"params": [c.extra], "lr": 0.01}) if len(c.opt.param_groups) < 3 and all(c.extra is not p for g in c.opt.param_groups for p in g["params"]) else None | c.handle = c.first.register_hook(lambda g: g * 1.1) if c.first.requires_grad else None | c.handle.remove() if c.handle else None | c.opt.register_step_pre_hook(lambda o, a, k: c.history.append(len(o.state))) | c.first.register_post_accumulate_grad_hook(lambda p: c.history.append(p.grad.sum().item())) if c.first.requires_grad else None
c.gen.manual_seed(3) | c.dtype = torch.float64; c.model.double(); c.ema.double(); c.disc.double() | c.dtype = torch.float32; c.model.float(); c.ema.float(); c.disc.float() | c.kind = "turned" | c.kind = "gaps" | c.kind = "window" | c.kind = "plain" | c.kind = "leaf" | c.kind = "shared" | c.size = 0 | r = c.called(c.ones()); r = r * 2; r.add_(1); r.sum().backward() | r = c.called(c.ones()); r.mul_(2); r.sum().backward() | r = c.called(c.ones()); c.first.data.mul_(1.1); r.sum().backward()
r = c.called(c.ones()); torch._foreach_add_([c.first.detach()], 1.0); r.sum().backward() | g = torch.autograd.grad(c.called(c.ones()).square().sum(), [p for p in c.model.parameters() if p.requires_grad], create_graph=True, allow_unused=True); sum(t.square().sum() for t in g if t is not None).backward() | with torch.inference_mode(): see(c.called(c.ones()).tolist()) | with torch.no_grad(): see(c.loss_of(c.called(c.ones()), torch.tensor([0, 1, 2, 0]))) | c.model.eval(); see(c.threads(lambda: c.called(c.ones()).detach())) | c.model.eval(); see(c.threads(lambda: c.checked(c.ones())))
x = c.ones().requires_grad_(); r = c.called(x); (r * 2).sum().backward(retain_graph=True); r.sum().backward(); see(x.grad) | x = c.ones().requires_grad_(); see(torch.autograd.grad(c.called(x * 2).sum(), x)) | see(torch.func.vmap(c.loss_of)(torch.ones(2, 4, 3), torch.zeros(2, 4, dtype=torch.long))) | see(torch.func.jacrev(lambda t: t.square())(c.first.detach()[:1])) | r = c.called(c.ones()); c.first.data = c.first.data * 1.1; r.square().sum().backward() | c.kept.clear() | c.model.register_full_backward_hook(lambda m, i, o: None) | c.model.zero_grad(set_to_none=False) | torch.set_rng_state(torch.get_rng_state()) | c.disc.load_state_dict(c.disc.state_dict())
r = c.called(c.ones()); q = c.called(c.ones()); (r * q).sum().backward() | r = c.called(c.ones()); r2 = r.detach(); r2.zero_(); r.sum().backward() | r = c.called(c.ones()); see(r.grad_fn is None, r.is_leaf, r._version, r.stride()) | with torch.autocast("cpu", torch.bfloat16): see(c.called(c.ones())) | r = c.called(c.ones()); r.register_hook(lambda g: g * 3) if r.requires_grad else None; r.sum().backward() | r = c.called(c.ones()); r.retain_grad() if r.requires_grad else None; r.sum().backward(); see(r.grad) | c.called(c.ones()[:0]) | c.called(torch.ones(2, 5)) | c.called(c.ones()[None])
""".replace("\n", "|")  # fmt: skip


#: What is compiled; "pure" is the step, with pure=True, of those that keep the promise.
WHAT = ("step", "model", "loss", "nested", "layers", "both", "pure", "pure")
#: What breaks the promise of ``pure=True``: Python's state, and hooks that are registered anew.
_IMPURE = re.compile(r"c\.(turn|history|total|last|kept|box|data|gen\b)|see\(|hook|retain_grad|if |hidden|other =|c\.sched|float\(|random\.|rng|seed|requires_grad_|swa")


#: Those of them that keep the promise of ``pure=True``: contents of tensors, learning rates, gradients, arguments.
HARMLESS = """
c.opt.param_groups[0]["lr"] *= 0.5 | c.weights.mul_(2) | c.first.data.mul_(1.1) | c.first.grad = None | c.opt.zero_grad() | torch.manual_seed(7) | c.opt.step() | c.model.load_state_dict(c.saved)
c.size = 3 | c.size = 5 | c.want = not c.want | c.model(torch.ones(4, 12)).sum().backward() | c.first.detach().zero_() | c.opt.zero_grad(set_to_none=False) | c.scale.mul_(0.5)
""".replace("\n", "|")  # fmt: skip


LOSSES, BEFORE, MIDDLE, AFTER, EVENTS, HARMLESS = map(pieces, (LOSSES, BEFORE, MIDDLE, AFTER, EVENTS, HARMLESS))


class World:
    """A training: the model, its optimizer, and what a script keeps beside them."""

    def __init__(self, choice, pure):
        self.name = choice.choice(sorted(MODELS if not pure else MODELS.keys() - {"counting", "lstm", "gru", "rnn"}))
        self.model = MODELS[self.name]()
        self.make = OPTIMIZERS[choice.choice(sorted(OPTIMIZERS))]
        self.opt = self.make(list(self.model.parameters()))
        self.sched = choice.choice([torch.optim.lr_scheduler.StepLR, torch.optim.lr_scheduler.CosineAnnealingLR])(self.opt, 3)
        self.ema, self.saved = copy.deepcopy(self.model), copy.deepcopy(self.model.state_dict())
        self.first = next(self.model.parameters())
        self.weights, self.total, self.history = torch.rand(3), torch.zeros(()), []
        self.array, self.twice = np.ones(1, np.float32), Double.apply
        self.disc, self.extra, self.gen = nn.Linear(3, 1), nn.Parameter(torch.rand(3)), torch.Generator().manual_seed(1)
        self.dopt, self.swa = self.make(list(self.disc.parameters())), torch.optim.swa_utils.AveragedModel(self.model)
        self.scaler, self.kept, self.box, self.handle = torch.amp.GradScaler("cpu", enabled=False), [], [], None
        self.dtype, self.kind, self.data = torch.float32, "plain", {}
        self.scale, self.size, self.turn, self.want, self.last = torch.from_numpy(self.array)[0], 5, 0, False, torch.zeros(2)


    def ones(self):
        """A batch of ones."""
        return torch.ones(4, 12, dtype=self.dtype)

    def batch(self):
        """What a step is given."""
        if self.kind == "window":
            x = torch.randn(8, 12)[1 : 1 + self.size]
        elif self.kind == "gaps":
            x = torch.randn(self.size, 24)[:, ::2]
        else:
            x = torch.randn(12, self.size).t() if self.kind == "turned" else torch.randn(self.size, 12)
        x, y = x.to(self.dtype), torch.randint(3, (self.size,))
        if self.kind == "shared":
            x = self.data.setdefault("x", x)[: self.size].detach()
        return x.requires_grad_() if self.want or self.kind == "leaf" else x, y

    def threads(self, function):
        """What two threads get from a function that both call."""
        boxes = [], []
        threads = [threading.Thread(target=lambda box=box: box.extend(function() for _ in range(3))) for box in boxes]
        for thread in threads:
            thread.start()
            if self.name == "counting":  # whose calls are counted: they must come in one order
                thread.join()
        for thread in threads:
            thread.join()
        return boxes


Pair = collections.namedtuple("Pair", "loss out")


@dataclasses.dataclass
class Data:
    loss: object
    rest: object


RETURNS = pieces("""
loss | loss, out | loss.detach() | loss.item() | None | out | {"loss": loss, "out": [out, {"x": x}]} | Pair(loss, out) | Data(loss, [out]) | loss, loss | x | out.t() | out[0], out | out, out.detach()
float(loss), out.shape | c.first | loss.detach(), out.argmax(-1) | out.view(-1), out | x[0], y | [] | (out * 2).detach(), out * 3
""".replace("\n", "|"))  # fmt: skip


def written(seed):
    """The text of a random step, and the events between its calls."""
    choice, pure = random.Random(seed), WHAT[seed % len(WHAT)] == "pure"

    def some(pieces, most):
        pieces = [piece for piece in pieces if not (pure and _IMPURE.search(piece))]
        return [line for piece in choice.sample(pieces, choice.randint(0, most)) for line in piece.split("\n")]

    lines = [*some(BEFORE, 2), "out = c.called(x)", f"loss = c.loss_of(out, y) if {choice.random() < 0.3} else {choice.choice(LOSSES)}"]
    lines += some(MIDDLE, 2) + ["loss.backward()"] + some(AFTER, 2) + ["c.opt.step()"] + some(AFTER, 1)
    lines.append(f"return {choice.choice(RETURNS)}")
    text = "\n    ".join(["def step(x, y):", *lines]) + "\n"
    return text, [choice.choice(HARMLESS if pure else EVENTS) if choice.random() < 0.5 else "pass" for _ in range(10 if pure else 7)]


def shown(piece):
    """What can be seen of a thing, to compare."""
    if isinstance(piece, torch.Tensor):
        piece = piece if piece.dtype is not torch.bfloat16 else piece.detach().float()
        return (*bits(piece), piece.requires_grad, piece._version, piece.stride())
    if isinstance(piece, Data):
        piece = vars(piece)
    if isinstance(piece, dict):
        return {name: shown(inner) for name, inner in piece.items()}
    if isinstance(piece, (list, tuple)):
        return [shown(inner) for inner in piece]
    return piece.tobytes() if isinstance(piece, np.ndarray) else repr(piece)


def outcome(seed, what):
    """Everything that can be seen of a training of which ``what`` is compiled, one of ``WHAT`` or None."""
    text, events = written(seed)
    torch.manual_seed(seed)
    random.seed(seed)
    choice = random.Random(seed + 1)
    c, out = World(choice, WHAT[seed % len(WHAT)] == "pure"), []
    space = {"torch": torch, "F": F, "nn": nn, "np": np, "c": c, "copy": copy, "pickle": pickle, "threading": threading, "random": random, "Pair": Pair, "Data": Data, "checkpoint": torch.utils.checkpoint.checkpoint}
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
        data = c.batch()
        try:
            out.append(shown(step(*data)))
            exec(event, space)
        except Exception as error:  # noqa: BLE001  it is compared too
            out.append((type(error).__name__, str(error)))
        out.append([p.grad is not None and shown(p.grad) for p in c.model.parameters()])
        out.append([(name, shown(value)) for name, value in c.model.state_dict().items()])
        out.append([shown(value) for p in c.model.parameters() for value in c.opt.state.get(p, {}).values()])
        out.append([shown(data[0]), shown(data[0].grad), shown([*c.ema.parameters()]), shown(c.total), shown(c.history), shown([*c.disc.parameters(), c.extra])])
    out.append(torch.get_rng_state().tolist())
    return out


def close(mine, theirs):
    """Whether two outcomes differ by rounding alone: gradients that meet were added up in another order."""
    if isinstance(mine, dict) and isinstance(theirs, dict) and mine.keys() == theirs.keys():
        return all(close(one, theirs[name]) for name, one in mine.items())
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
    with compiled.serving(compiled.NEVER), counted() as names:
        for seed in range(told.first, told.first + told.count):
            found = difference(seed)
            if found:
                wrong += 1
                print(seed, *[str(piece)[:1500] for piece in found], sep="\n")
    print(f"{wrong} of {told.count} trainings differ; {names['programs']} programs were made")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
