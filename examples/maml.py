"""Learning to learn (MAML): weights from which one step of gradient descent fits any wave, by gradients of that step.

Source: Finn, Abbeel and Levine (2017), Model-agnostic meta-learning for fast adaptation of deep networks
"""

import math

import torch
from options import Losses, parse
from torch import nn
from torch.func import functional_call, grad, vmap

given = parse(
    __doc__,
    steps=300,
    tasks=(16, "waves of each step"),
    points=(10, "points of a wave that are seen, and as many that are asked"),
    rate=(0.05, "of the step within"),
)
model = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)


def waves(tasks, points):
    """Waves of several heights and phases, each at points of its own."""
    height, phase = 0.5 + 2 * torch.rand(tasks, 1, 1), math.pi * torch.rand(tasks, 1, 1)
    x = 8 * torch.rand(tasks, points, 1) - 4
    return x, height * torch.sin(x + phase)


def loss_of(parameters, x, y):
    """The mean square error of one task."""
    return ((functional_call(model, parameters, (x,)) - y) ** 2).mean()


def adapted(parameters, x, y):
    """Parameters after one step of gradient descent."""
    gradients = grad(loss_of)(parameters, x, y)
    return {name: parameter - given.rate * gradients[name] for name, parameter in parameters.items()}


def after(parameters, x, y):
    """The loss at the points that are asked, after a step at those that are seen."""
    seen, asked = slice(None, given.points), slice(given.points, None)
    return loss_of(adapted(parameters, x[seen], y[seen]), x[asked], y[asked])


of_each = vmap(after, in_dims=(None, 0, 0))
losses = Losses(given)
for _ in range(given.steps):
    x, y = waves(given.tasks, 2 * given.points)
    optimizer.zero_grad()
    loss = of_each(dict(model.named_parameters()), x, y).mean()
    loss.backward()  # through the step within
    optimizer.step()
    losses.add(loss)

learnt = {name: parameter.detach() for name, parameter in model.named_parameters()}
x, y = waves(100, 2 * given.points)
before = vmap(loss_of, in_dims=(None, 0, 0))(learnt, x, y).mean()
one_step = of_each(learnt, x, y).mean()
print(f"a new wave: loss {before:.2f} before, {one_step:.2f} after one step")
losses.write()
