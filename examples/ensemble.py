"""Eight small networks learn two spirals at once, as one stack of weights, and vote; where they differ, none knows."""

import math

import torch
import torch.nn.functional as F
from options import Losses, parse
from torch import nn
from torch.func import functional_call, grad_and_value, stack_module_state, vmap

given = parse(__doc__, steps=200, models=(8, "networks"), points=(120, "points of each spiral"))


def spirals(points):
    """Points on two arms, and the arm of each."""
    along = torch.linspace(0.3, 1.0, points)
    angle = 2.5 * math.pi * along
    arm = torch.stack([along * torch.cos(angle), along * torch.sin(angle)], dim=1)
    x = torch.cat([arm, -arm]) + 0.02 * torch.randn(2 * points, 2)
    return x, torch.arange(2).repeat_interleave(points)


def network():
    """One network of the ensemble."""
    return nn.Sequential(nn.Linear(2, 24), nn.Tanh(), nn.Linear(24, 24), nn.Tanh(), nn.Linear(24, 2))


x, y = spirals(given.points)
parameters, buffers = stack_module_state([network() for _ in range(given.models)])
parameters = {name: parameter.detach() for name, parameter in parameters.items()}
moments = {name: torch.zeros_like(parameter) for name, parameter in parameters.items()}
skeleton = network()


def loss_of_one(parameters, buffers, x, y):
    """The loss of one network, with its scores beside it."""
    scores = functional_call(skeleton, (parameters, buffers), (x,))
    return F.cross_entropy(scores, y), scores


of_each = vmap(grad_and_value(loss_of_one, has_aux=True), in_dims=(0, 0, None, None))
losses = Losses(given)
for _ in range(given.steps):
    gradients, (values, scores) = of_each(parameters, buffers, x, y)
    for name, gradient in gradients.items():
        moments[name] = 0.9 * moments[name] + gradient
        parameters[name] = parameters[name] - 0.1 * moments[name]
    losses.add(values.mean())

alone = (scores.argmax(-1) == y).to(x.dtype).mean(dim=1)
together = (scores.softmax(-1).mean(dim=0).argmax(-1) == y).to(x.dtype).mean()
square = torch.cartesian_prod(torch.linspace(-1, 1, 21), torch.linspace(-1, 1, 21))
opinions = vmap(lambda *state: functional_call(skeleton, state, (square,)))(parameters, buffers).softmax(-1)[:, :, 0]
spread = opinions.std(dim=0)
print(f"alone {100 * alone.min():.1f} to {100 * alone.max():.1f} % are right, together {100 * together:.1f} %")
doubt = square[spread.argmax()].tolist()
print(f"they differ most at ({doubt[0]:.1f}, {doubt[1]:.1f}), where their chances spread by {spread.max():.2f}")
losses.write()
