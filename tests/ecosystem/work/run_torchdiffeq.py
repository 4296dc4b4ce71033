"""torchdiffeq: a neural ordinary differential equation learns a spiral, through the solver and by its adjoint."""

import torch
from shown import show, train
from torch import nn
from torchdiffeq import odeint, odeint_adjoint, odeint_event

torch.manual_seed(0)
truth = torch.tensor([[-0.1, 2.0], [-2.0, -0.1]])
start, times = torch.tensor([[2.0, 0.0]]), torch.linspace(0.0, 5.0, 20)


class Dynamics(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 20), nn.Tanh(), nn.Linear(20, 2))

    def forward(self, t, y):
        return self.net(y**3)


with torch.no_grad():
    path = odeint(lambda t, y: (y**3) @ truth, start, times, method="dopri5")
show("path", path)
for method in ("euler", "midpoint", "rk4", "bosh3", "adaptive_heun", "dopri8", "implicit_adams", "explicit_adams"):
    show(method, odeint(lambda t, y: -y, start, times[:6], method=method))
for name, solve in (("solver", odeint), ("adjoint", odeint_adjoint)):
    torch.manual_seed(1)
    model = Dynamics()
    show(
        name,
        train(model, lambda m, solve=solve: (solve(m, start, times[:8]) - path[:8]).abs().mean(), steps=4, lr=1e-2),
    )
event, state = odeint_event(
    lambda t, y: torch.stack([y[1], torch.tensor(-9.8)]), torch.tensor([1.0, 0.0]), torch.tensor(0.0),
    event_fn=lambda t, y: y[0], method="dopri5",
)  # fmt: skip
show("event", [event.item(), state[-1].tolist()])
