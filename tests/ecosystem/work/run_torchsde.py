"""torchsde: stochastic equations solved, an adjoint, and one that is trained."""

import torch
import torchsde
from shown import show, train
from torch import nn


class Equation(nn.Module):
    """A neural stochastic differential equation with noise in each dimension."""

    noise_type, sde_type = "diagonal", "ito"

    def __init__(self):
        super().__init__()
        self.drift, self.spread = nn.Linear(3, 3), nn.Linear(3, 3)

    def f(self, t, y):
        return torch.tanh(self.drift(y)) - y

    def g(self, t, y):
        return 0.3 * torch.sigmoid(self.spread(y))


torch.manual_seed(0)
equation = Equation()
times, start = torch.linspace(0, 1, 5), torch.full((4, 3), 0.5)
for method in ("euler", "milstein", "srk"):
    noise = torchsde.BrownianInterval(0.0, 1.0, size=(4, 3), entropy=7, levy_area_approximation="space-time")
    show(method, torchsde.sdeint(equation, start, times, bm=noise, method=method, dt=0.05)[-1])


def loss_of(model):
    noise = torchsde.BrownianInterval(0.0, 1.0, size=(4, 3), entropy=3)
    return torchsde.sdeint(model, start, times, bm=noise, method="euler", dt=0.1)[-1].square().mean()


show("trained", train(equation, loss_of, lr=0.01))
equation.sde_type = "stratonovich"
noise = torchsde.BrownianInterval(0.0, 1.0, size=(4, 3), entropy=5, levy_area_approximation="space-time")
result = torchsde.sdeint_adjoint(equation, start, times, bm=noise, method="midpoint", dt=0.05)
equation.zero_grad()
result[-1].sum().backward()
show("adjoint", equation.drift.weight.grad)
