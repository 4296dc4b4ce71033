"""Steps of training scripts: how patterns are noted, their world, and the comparison of written and compiled."""

import glassgrad as torch
import glassgrad.nn.functional as F
from glassgrad import nn
from glassgrad.kernels import compiled

from .both_ways import bits, tree


def pattern(patterns, reason="", programs=1):
    """A maker of a world, a step in it, and the step's arguments; ``reason`` is why it is not captured."""

    def note(make):
        patterns[make.__name__] = make, reason, programs
        return make

    return note


def net():
    return nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))


class World:
    """What a step works with."""


def world():
    c = World()
    c.model = net()
    c.opt = torch.optim.Adam(c.model.parameters(), 1e-2)
    c.losses = []
    return c


def batch(i=0):
    return torch.randn(5, 4), torch.randint(3, (5,))


def plain_args(c, i):
    return batch()


def full(c, x, y, k=1):
    c.opt.zero_grad()
    loss = F.cross_entropy(c.model(x), y) / k
    loss.backward()
    c.opt.step()
    return loss


def left(held):
    """What a step leaves behind in its world."""
    if isinstance(held, nn.Module):
        return tree(held.state_dict()), [p.grad is not None and bits(p.grad) for p in held.parameters()]
    if isinstance(held, torch.optim.Optimizer):
        state = [tree(held.state.get(p, {})) for group in held.param_groups for p in group["params"]]
        return state, [group["lr"] for group in held.param_groups]
    return tree(held) if isinstance(held, (list, float, int)) else None


def check(make, reason, count):
    """The compiled step gives and leaves what the step does."""
    found = []
    with compiled.serving(compiled.NEVER):
        for how in (lambda step: step, torch.compile):
            torch.manual_seed(0)
            c, step, arguments = make()
            step = how(step)
            results = [tree(step(*arguments(c, i))) for i in range(6)]
            behind = {key: left(value) for key, value in vars(c).items()}
            found.append([results, behind, torch.get_rng_state().tolist()])
    assert found[0] == found[1]
