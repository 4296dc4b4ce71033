"""What training steps hold besides the step: caught errors, modes, casts, settings, messages, batches."""

import collections
import dataclasses
import io

import numpy as np
import pytest

import glassgrad as torch
import glassgrad.nn.functional as F

from .patterns import batch, check, full, pattern, plain_args, world

PATTERNS = {}


@pattern(PATTERNS)
def try_block():
    c = world()

    def step(x, y):
        try:
            loss = full(c, x, y)
        except RuntimeError:
            return None
        return loss

    return c, step, plain_args


@pattern(PATTERNS)
def try_finally():
    c = world()

    def step(x, y):
        try:
            return full(c, x, y)
        finally:
            pass

    return c, step, plain_args


@pattern(PATTERNS)
def try_keyerror():
    c = world()
    cfg = {}

    def step(x, y):
        try:
            k = cfg["k"]
        except KeyError:
            k = 2
        return full(c, x, y, k)

    return c, step, plain_args


@pattern(PATTERNS, "catches errors")
def try_linalg():
    c = world()

    def step(x, y):
        try:
            return torch.linalg.cholesky(x.T @ x + torch.eye(4)).sum() + full(c, x, y).detach()
        except RuntimeError:
            return None

    return c, step, plain_args


@pattern(PATTERNS)
def autocast():
    c = world()

    def step(x, y):
        c.opt.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = F.cross_entropy(c.model(x), y)
        loss.backward()
        c.opt.step()
        return loss

    return c, step, plain_args


@pattern(PATTERNS)
def autocast_disabled():
    c = world()

    def step(x, y):
        c.opt.zero_grad()
        with torch.autocast("cpu", enabled=False):
            loss = F.cross_entropy(c.model(x), y)
        loss.backward()
        c.opt.step()
        return loss

    return c, step, plain_args


@pattern(PATTERNS)
def scaler_disabled():
    c = world()
    s = torch.amp.GradScaler("cpu", enabled=False)

    def step(x, y):
        c.opt.zero_grad()
        with torch.autocast("cpu", enabled=False):
            loss = F.cross_entropy(c.model(x), y)
        s.scale(loss).backward()
        s.step(c.opt)
        s.update()
        return loss

    return c, step, plain_args


@pattern(PATTERNS)
def no_grad_inside():
    c = world()

    def step(x, y):
        loss = full(c, x, y)
        with torch.no_grad():
            acc = (c.model(x).argmax(1) == y).float().mean()
        return loss, acc

    return c, step, plain_args


@pattern(PATTERNS)
def no_grad_decorator():
    c = world()

    @torch.no_grad()
    def step(x, y):
        return F.cross_entropy(c.model(x), y)

    return c, step, plain_args


@pattern(PATTERNS)
def set_grad_enabled():
    c = world()
    c.train = True

    def step(x, y):
        with torch.set_grad_enabled(c.train):
            loss = F.cross_entropy(c.model(x), y)
        if c.train:
            c.opt.zero_grad()
            loss.backward()
            c.opt.step()
        return loss

    return c, step, plain_args


@pattern(PATTERNS)
def enable_grad():
    c = world()

    @torch.no_grad()
    def step(x, y):
        with torch.enable_grad():
            return full(c, x, y)

    return c, step, plain_args


@pattern(PATTERNS)
def inference_mode():
    c = world()

    def step(x, y):
        with torch.inference_mode():
            return F.cross_entropy(c.model(x), y)

    return c, step, plain_args


@pattern(PATTERNS)
def numpy_setting():
    c = world()
    w = np.array([1.0, 2.0, 3.0], np.float32)

    def step(x, y):
        return full(c, x, y) * float(w[1])

    return c, step, plain_args


@pattern(PATTERNS)
def numpy_to_tensor():
    c = world()
    w = np.array([1.0, 2.0, 3.0], np.float32)

    def step(x, y):
        c.opt.zero_grad()
        loss = F.cross_entropy(c.model(x), y, weight=torch.tensor(w))
        loss.backward()
        c.opt.step()
        return loss

    return c, step, plain_args


@pattern(PATTERNS)
def item_returned():
    c = world()

    def step(x, y):
        return full(c, x, y).item()

    return c, step, plain_args


@pattern(PATTERNS, "to Python")
def correct_item():
    c = world()

    def step(x, y):
        out = c.model(x)
        loss = full(c, x, y)
        return loss.item(), (out.argmax(1) == y).sum().item()

    return c, step, plain_args


@pattern(PATTERNS, "print() is called")
def print_always():
    c = world()
    out = io.StringIO()

    def step(x, y):
        loss = full(c, x, y)
        print("loss", loss.item(), file=out)
        return loss

    return c, step, plain_args


@pattern(PATTERNS, "print() is called")
def print_every():
    c = world()
    out = io.StringIO()

    def step(x, y, i):
        loss = full(c, x, y)
        if i % 3 == 0:
            print(loss.item(), file=out)
        return loss

    return c, step, lambda c, i: (*batch(), i)


@pattern(PATTERNS, "it changes c.losses")
def append_item():
    c = world()

    def step(x, y):
        loss = full(c, x, y)
        c.losses.append(loss.item())
        return loss

    return c, step, plain_args


@pattern(PATTERNS, "it changes c.losses")
def append_loss():
    c = world()

    def step(x, y):
        loss = full(c, x, y)
        c.losses.append(loss.detach())
        return loss

    return c, step, plain_args


@pattern(PATTERNS, "it changes c.total")
def running_sum():
    c = world()
    c.total = 0.0

    def step(x, y):
        loss = full(c, x, y)
        c.total += loss.item()
        return loss

    return c, step, plain_args


@pattern(PATTERNS)
def dict_batch():
    c = world()

    def step(b):
        return full(c, b["x"], b["y"])

    return c, step, lambda c, i: (dict(zip("xy", batch())),)


@pattern(PATTERNS)
def tuple_batch():
    c = world()

    def step(b):
        x, y = b
        return full(c, x, y)

    return c, step, lambda c, i: (batch(),)


@pattern(PATTERNS)
def list_batch():
    c = world()

    def step(b):
        x, y = b
        return full(c, x, y)

    return c, step, lambda c, i: (list(batch()),)


@dataclasses.dataclass
class Batch:
    x: object
    y: object


NT = collections.namedtuple("NT", "x y")


@pattern(PATTERNS)
def dataclass_batch():
    c = world()

    def step(b):
        return full(c, b.x, b.y)

    return c, step, lambda c, i: (Batch(*batch()),)


@pattern(PATTERNS)
def namedtuple_batch():
    c = world()

    def step(b):
        return NT(full(c, b.x, b.y), b.x * 2)

    return c, step, lambda c, i: (NT(*batch()),)


@pattern(PATTERNS, "it gives back a Batch")
def dataclass_result():
    c = world()

    def step(x, y):
        return Batch(full(c, x, y), x * 2)

    return c, step, plain_args


@pytest.mark.parametrize("pattern", PATTERNS.values(), ids=PATTERNS)
def test_a_pattern(pattern):
    check(*pattern)
