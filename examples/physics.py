"""A network that obeys a law of nature: heat in a rod, from the equation u_t = c u_xx and the temperature at the start.

Source: Raissi, Perdikaris and Karniadakis (2019), Physics-informed neural networks
"""

import math

import torch
from options import Losses, parse
from torch import nn
from torch.func import functional_call, grad, jvp, vmap

given = parse(
    __doc__, steps=300, points=(128, "points at which the equation is asked for"), conduction=(0.1, "the constant c")
)
model = nn.Sequential(nn.Linear(2, 24), nn.Tanh(), nn.Linear(24, 24), nn.Tanh(), nn.Linear(24, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)


def temperature(parameters, x, t):
    """The network's temperature at one place and time; the ends of the rod are kept at zero."""
    inside = functional_call(model, parameters, (torch.stack([x, t]).unsqueeze(0),)).squeeze()
    return x * (1 - x) * inside


def misses(parameters, x, t):
    """By how much the equation is missed at one place and time."""
    by_time = grad(temperature, argnums=2)(parameters, x, t)
    along = grad(temperature, argnums=1)
    by_place_twice = jvp(lambda x: along(parameters, x, t), (x,), (torch.ones_like(x),))[1]
    return by_time - given.conduction * by_place_twice


equation = vmap(misses, in_dims=(None, 0, 0))
at_start = vmap(temperature, in_dims=(None, 0, None))
places = torch.linspace(0, 1, 33)
start = torch.sin(math.pi * places)
losses = Losses(given)
for _ in range(given.steps):
    parameters = dict(model.named_parameters())
    x, t = torch.rand(2, given.points)
    optimizer.zero_grad()
    off = at_start(parameters, places, torch.tensor(0.0)) - start
    loss = (equation(parameters, x, t) ** 2).mean() + 10 * (off**2).mean()
    loss.backward()
    optimizer.step()
    losses.add(loss)

learnt = {name: parameter.detach() for name, parameter in model.named_parameters()}
later = at_start(learnt, places, torch.tensor(1.0))
exact = math.exp(-given.conduction * math.pi**2) * start
gap = (later - exact).abs().max()
print(f"at time 1 the middle has {later[16]:.4f}, exactly {exact[16]:.4f}; nowhere off by more than {gap:.4f}")
losses.write()
