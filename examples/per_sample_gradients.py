"""Private learning: each scan's own gradient is clipped and blurred, so that no single scan shows in the weights."""

import torch
import torch.nn.functional as F
from options import Losses, parse
from sklearn.datasets import load_digits
from torch import nn
from torch.func import functional_call, grad_and_value, vmap

given = parse(
    __doc__,
    steps=60,
    batch=(64, "scans of each step"),
    bound=(1.0, "largest norm of one scan's gradient"),
    noise=(0.3, "standard deviation of what is added, as a share of the bound"),
)
scans, labels = load_digits(return_X_y=True)
x, y = torch.tensor(scans / 16, dtype=torch.get_default_dtype()).view(-1, 1, 8, 8), torch.tensor(labels)

model = nn.Sequential(
    nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.GroupNorm(2, 8), nn.Flatten(), nn.Linear(128, 10)
)
parameters = {name: parameter.detach() for name, parameter in model.named_parameters()}


def loss_of_one(parameters, scan, label):
    """The loss of a single scan."""
    scores = functional_call(model, parameters, (scan.unsqueeze(0),))
    return F.cross_entropy(scores, label.unsqueeze(0))


of_each = vmap(grad_and_value(loss_of_one), in_dims=(None, 0, 0))
losses = Losses(given)
for _ in range(given.steps):
    chosen = torch.randint(len(x), (given.batch,))
    gradients, values = of_each(parameters, x[chosen], y[chosen])
    norms = torch.stack([gradient.flatten(1).norm(dim=1) for gradient in gradients.values()]).norm(dim=0)
    share = (given.bound / norms).clamp(max=1.0)
    for name, gradient in gradients.items():
        clipped = torch.tensordot(share, gradient, dims=1)
        blur = given.noise * given.bound * torch.randn_like(clipped)
        parameters[name] = parameters[name] - 0.5 * (clipped + blur) / given.batch
    losses.add(values.mean())

right = (functional_call(model, parameters, (x,)).argmax(1) == y).to(x.dtype).mean().item()
print(f"gradients of single scans had norms from {norms.min():.2f} to {norms.max():.2f}, clipped to {given.bound:g}")
print(f"{100 * right:.1f} % of the scans are read rightly")
losses.write()
