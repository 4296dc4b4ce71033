"""What training steps look like: schedules, accumulation, clipping, several optimizers, penalties, averages."""

import copy
import logging

import pytest

import glassgrad as torch
import glassgrad.nn.functional as F
from glassgrad import nn

from .patterns import batch, check, full, pattern, plain_args, world

PATTERNS = {}


@pattern(PATTERNS)
def scheduler_inside():
    c = world()
    c.sched = torch.optim.lr_scheduler.StepLR(c.opt, 2, 0.5)

    def step(x, y):
        loss = full(c, x, y)
        c.sched.step()
        return loss

    return c, step, plain_args


@pattern(PATTERNS, programs=None)
def accumulation():
    c = world()

    def step(x, y, i):
        loss = F.cross_entropy(c.model(x), y) / 2
        loss.backward()
        if (i + 1) % 2 == 0:
            c.opt.step()
            c.opt.zero_grad()
        return loss

    return c, step, lambda c, i: (*batch(), i)


@pattern(PATTERNS, programs=None)
def accumulation_flag():
    c = world()

    def step(x, y, last):
        loss = F.cross_entropy(c.model(x), y) / 2
        loss.backward()
        if last:
            c.opt.step()
            c.opt.zero_grad()
        return loss

    return c, step, lambda c, i: (*batch(), i % 2 == 1)


@pattern(PATTERNS)
def accumulation_inner():
    c = world()

    def step(bs):
        c.opt.zero_grad()
        total = 0
        for x, y in bs:
            loss = F.cross_entropy(c.model(x), y) / len(bs)
            loss.backward()
            total = total + loss.detach()
        c.opt.step()
        return total

    return c, step, lambda c, i: ([batch(), batch()],)


@pattern(PATTERNS, programs=None)
def int_argument():
    c = world()

    def step(x, y, epoch):
        return full(c, x, y)

    return c, step, lambda c, i: (*batch(), i)


@pattern(PATTERNS, programs=None)
def int_arithmetic():
    c = world()

    def step(x, y, i):
        return full(c, x * (i + 1), y)

    return c, step, lambda c, i: (*batch(), i)


@pattern(PATTERNS, programs=None)
def float_argument():
    c = world()

    def step(x, y, beta):
        c.opt.zero_grad()
        loss = F.cross_entropy(c.model(x), y) * beta
        loss.backward()
        c.opt.step()
        return loss

    return c, step, lambda c, i: (*batch(), 0.1 * i)


@pattern(PATTERNS)
def clip_norm():
    c = world()

    def step(x, y):
        c.opt.zero_grad()
        loss = F.cross_entropy(c.model(x), y)
        loss.backward()
        nn.utils.clip_grad_norm_(c.model.parameters(), 0.5)
        c.opt.step()
        return loss

    return c, step, plain_args


@pattern(PATTERNS)
def clip_value():
    c = world()

    def step(x, y):
        c.opt.zero_grad()
        loss = F.cross_entropy(c.model(x), y)
        loss.backward()
        nn.utils.clip_grad_value_(c.model.parameters(), 0.5)
        c.opt.step()
        return loss

    return c, step, plain_args


@pattern(PATTERNS)
def ema():
    c = world()
    c.ema = copy.deepcopy(c.model)

    def step(x, y):
        loss = full(c, x, y)
        with torch.no_grad():
            for p, q in zip(c.ema.parameters(), c.model.parameters()):
                p.mul_(0.9).add_(q, alpha=0.1)
        return loss

    return c, step, plain_args


@pattern(PATTERNS, "making was not seen")
def ema_lerp_data():
    c = world()
    c.ema = copy.deepcopy(c.model)

    def step(x, y):
        loss = full(c, x, y)
        for p, q in zip(c.ema.parameters(), c.model.parameters()):
            p.data.lerp_(q.data, 0.1)
        return loss

    return c, step, plain_args


@pattern(PATTERNS)
def zero_not_none():
    c = world()

    def step(x, y):
        c.opt.zero_grad(set_to_none=False)
        loss = F.cross_entropy(c.model(x), y)
        loss.backward()
        c.opt.step()
        return loss

    return c, step, plain_args


@pattern(PATTERNS)
def zero_after():
    c = world()

    def step(x, y):
        loss = F.cross_entropy(c.model(x), y)
        loss.backward()
        c.opt.step()
        c.opt.zero_grad()
        return loss

    return c, step, plain_args


@pattern(PATTERNS)
def two_optimizers():
    c = world()
    c.opt2 = torch.optim.SGD(c.model[2].parameters(), 0.1)
    c.opt = torch.optim.AdamW(c.model[0].parameters(), 0.01)

    def step(x, y):
        c.opt.zero_grad()
        c.opt2.zero_grad()
        loss = F.cross_entropy(c.model(x), y)
        loss.backward()
        c.opt.step()
        c.opt2.step()
        return loss

    return c, step, plain_args


@pattern(PATTERNS)
def gan():
    c = world()
    c.d = nn.Sequential(nn.Linear(3, 8), nn.LeakyReLU(), nn.Linear(8, 1))
    c.od = torch.optim.Adam(c.d.parameters(), 1e-2)
    crit = nn.BCEWithLogitsLoss()

    def step(x, y):
        real = F.one_hot(y, 3).float()
        fake = c.model(x)
        c.od.zero_grad()
        ld = crit(c.d(real), torch.ones(5, 1)) + crit(c.d(fake.detach()), torch.zeros(5, 1))
        ld.backward()
        c.od.step()
        c.opt.zero_grad()
        lg = crit(c.d(fake), torch.ones(5, 1))
        lg.backward()
        c.opt.step()
        return ld, lg

    return c, step, plain_args


@pattern(PATTERNS)
def two_losses():
    c = world()

    def step(x, y):
        c.opt.zero_grad()
        out = c.model(x)
        a = F.cross_entropy(out, y)
        b = out.square().mean()
        a.backward(retain_graph=True)
        b.backward()
        c.opt.step()
        return a, b

    return c, step, plain_args


@pattern(PATTERNS)
def gradient_penalty():
    c = world()

    def step(x, y):
        c.opt.zero_grad()
        x = x.clone().requires_grad_()
        out = c.model(x)
        (g,) = torch.autograd.grad(out.sum(), x, create_graph=True)
        loss = F.cross_entropy(out, y) + ((g.norm(2, dim=1) - 1) ** 2).mean()
        loss.backward()
        c.opt.step()
        return loss

    return c, step, plain_args


@pattern(PATTERNS)
def grad_inputs():
    c = world()

    def step(x, y):
        x = x.clone().requires_grad_()
        loss = F.cross_entropy(c.model(x), y)
        (g,) = torch.autograd.grad(loss, x)
        return g.detach()

    return c, step, plain_args


@pattern(PATTERNS)
def adversarial_fgsm():
    c = world()

    def step(x, y):
        x = x.detach().requires_grad_(True)
        F.cross_entropy(c.model(x), y).backward()
        xa = (x + 0.1 * x.grad.sign()).detach()
        return full(c, xa, y)

    return c, step, plain_args


@pattern(PATTERNS, "closure")
def closure_lbfgs():
    c = world()
    c.opt = torch.optim.SGD(c.model.parameters(), 0.1)

    def step(x, y):
        def closure():
            c.opt.zero_grad()
            loss = F.cross_entropy(c.model(x), y)
            loss.backward()
            return loss

        return c.opt.step(closure)

    return c, step, plain_args


@pattern(PATTERNS)
def train_call():
    c = world()

    def step(x, y):
        c.model.train()
        return full(c, x, y)

    return c, step, plain_args


@pattern(PATTERNS)
def batchnorm_dropout():
    c = world()
    c.model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Dropout(0.3), nn.Linear(8, 3))
    c.opt = torch.optim.Adam(c.model.parameters())

    def step(x, y):
        return full(c, x, y)

    return c, step, plain_args


@pattern(PATTERNS, "it changes c.n")
def counter_attr():
    c = world()
    c.n = 0

    def step(x, y):
        c.n += 1
        return full(c, x, y)

    return c, step, plain_args


@pattern(PATTERNS)
def to_device():
    c = world()
    dev = torch.device("cpu")

    def step(x, y):
        x, y = x.to(dev), y.to(dev, non_blocking=True)
        return full(c, x, y)

    return c, step, plain_args


@pattern(PATTERNS)
def assert_shape():
    c = world()

    def step(x, y):
        assert x.shape[0] == y.shape[0], "sizes"
        return full(c, x, y)

    return c, step, plain_args


@pattern(PATTERNS, "to Python")
def isnan_check():
    c = world()

    def step(x, y):
        c.opt.zero_grad()
        loss = F.cross_entropy(c.model(x), y)
        if torch.isnan(loss):
            return loss
        loss.backward()
        c.opt.step()
        return loss

    return c, step, plain_args


@pattern(PATTERNS)
def with_logging():
    c = world()
    log = logging.getLogger("x")
    log.setLevel(logging.WARNING)

    def step(x, y):
        loss = full(c, x, y)
        log.debug("loss %s", loss)
        return loss

    return c, step, plain_args


@pattern(PATTERNS, "to Python")
def swa():
    c = world()
    c.ema = torch.optim.swa_utils.AveragedModel(c.model, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.9))

    def step(x, y):
        loss = full(c, x, y)
        c.ema.update_parameters(c.model)
        return loss

    return c, step, plain_args


@pattern(PATTERNS)
def hidden_state():
    c = world()
    c.rnn = nn.GRU(4, 8, batch_first=True)
    c.head = nn.Linear(8, 3)
    c.opt = torch.optim.Adam([*c.rnn.parameters(), *c.head.parameters()], 1e-2)

    def step(x, y, h):
        c.opt.zero_grad()
        out, h = c.rnn(x.unsqueeze(1), h)
        loss = F.cross_entropy(c.head(out[:, -1]), y)
        loss.backward()
        c.opt.step()
        return loss, h.detach()

    return c, step, lambda c, i: (*batch(), torch.zeros(1, 5, 8))


@pattern(PATTERNS)
def ddpm_noise():
    c = world()

    def step(x, y):
        t = torch.randint(0, 10, (5,))
        noise = torch.randn_like(x)
        a = torch.linspace(0.1, 0.9, 10)[t][:, None]
        c.opt.zero_grad()
        loss = F.mse_loss(c.model(a * x + (1 - a) * noise)[:, :3], noise[:, :3])
        loss.backward()
        c.opt.step()
        return loss

    return c, step, plain_args


@pytest.mark.parametrize("pattern", PATTERNS.values(), ids=PATTERNS)
def test_a_pattern(pattern):
    check(*pattern)
