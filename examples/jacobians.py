"""Two decaying waves are told apart by Newton's steps: Jacobians, Hessians, and products that need neither."""

import torch
from options import Losses, parse
from torch.func import grad, hessian, jacfwd, jacrev, jvp, vjp, vmap

given = parse(__doc__, steps=20, points=(60, "measurements"))
times = torch.linspace(0, 4, given.points)


def wave(parameters, time):
    """The signal at one time: amplitude, decay and frequency of two waves."""
    amplitude, decay, frequency = parameters
    return (amplitude * torch.exp(-decay * time) * torch.cos(frequency * time)).sum()


def residuals(flat):
    """By how much the signal misses each measurement."""
    return vmap(wave, in_dims=(None, 0))(flat.view(3, 2), times) - measured


def loss_of(flat):
    """Half the sum of squares."""
    return (residuals(flat) ** 2).sum() / 2


truth = torch.tensor([1.0, 0.6, 0.3, 0.8, 2.0, 5.0])
measured = torch.zeros(given.points)
measured = residuals(truth) + 0.01 * torch.randn(given.points)

flat = torch.tensor([0.8, 0.8, 0.5, 0.5, 2.3, 4.6])
damping = 0.1
losses = Losses(given)
for _ in range(given.steps):  # Levenberg and Marquardt: Newton's step, without the residuals' own curvature
    jacobian = jacfwd(residuals)(flat)  # six columns: forward mode takes six walks, reverse mode one for each point
    value, pull = vjp(residuals, flat)
    (slope,) = pull(value)
    step = torch.linalg.solve(jacobian.T @ jacobian + damping * torch.eye(6), slope)
    if loss_of(flat - step) < loss_of(flat):
        flat, damping = flat - step, damping / 4
    else:
        damping = damping * 4
    losses.add(loss_of(flat))

by_rows, by_columns = jacrev(residuals)(flat), jacfwd(residuals)(flat)
curvature = hessian(loss_of)(flat)
direction = torch.ones(6)
forward_over_reverse = jvp(grad(loss_of), (flat,), (direction,))[1]
reverse_over_reverse = vjp(grad(loss_of), flat)[1](direction)[0]
gap = max(
    (by_rows - by_columns).abs().max(),
    (curvature @ direction - forward_over_reverse).abs().max(),
    (forward_over_reverse - reverse_over_reverse).abs().max(),
)
lowest, highest = torch.linalg.eigvalsh(curvature)[[0, -1]].tolist()
print("found  ", " ".join(f"{number:7.4f}" for number in flat.tolist()))
print("truth  ", " ".join(f"{number:7.4f}" for number in truth.tolist()))
print(f"curvature from {lowest:.3f} to {highest:.3f}; all ways agree: {bool(gap < 1e-3)}")
losses.write()
