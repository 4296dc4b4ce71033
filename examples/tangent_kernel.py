"""A wide network learns as its tangent kernel says: the kernel, two ways, and a forecast of the training."""

import torch
from options import Losses, parse
from torch import nn
from torch.func import functional_call, jacrev, jvp, vjp, vmap

given = parse(__doc__, steps=200, width=(256, "units of the hidden layer"), points=(12, "points to learn"))
x = torch.linspace(-2, 2, given.points).unsqueeze(1)
y = torch.sin(2 * x)
unseen = torch.linspace(-1.9, 1.9, 7).unsqueeze(1)

model = nn.Sequential(nn.Linear(1, given.width), nn.Tanh(), nn.Linear(given.width, 1))
parameters = {name: parameter.detach() for name, parameter in model.named_parameters()}


def output(parameters, point):
    """What the network says of one point."""
    return functional_call(model, parameters, (point.unsqueeze(0),)).squeeze(0)


def by_jacobians(parameters, left, right):
    """The kernel of all pairs: products of Jacobians, parameter by parameter."""
    of_each = vmap(jacrev(output), in_dims=(None, 0))
    pairs = zip(of_each(parameters, left).values(), of_each(parameters, right).values())
    return sum(torch.einsum("iaf,jbf->ijab", first.flatten(2), second.flatten(2)) for first, second in pairs)


def by_products(parameters, left, right):
    """The same without a Jacobian: a vector pulled back at one point, and pushed forward at the other."""

    def pair(first, second):
        _, pull = vjp(lambda some: output(some, second), parameters)

        def through(vector):
            return jvp(lambda some: output(some, first), (parameters,), pull(vector))[1]

        return vmap(through, out_dims=1)(torch.eye(1))

    return vmap(vmap(pair, in_dims=(None, 0)), in_dims=(0, None))(left, right)


kernel = by_jacobians(parameters, x, x)
gap = (kernel - by_products(parameters, x, x)).abs().max()
square = kernel[:, :, 0, 0]
rate = 1.0 / torch.linalg.eigvalsh(square)[-1]

forecast = vmap(output, in_dims=(None, 0))(parameters, x)
elsewhere = vmap(output, in_dims=(None, 0))(parameters, unseen)
toward = by_jacobians(parameters, unseen, x)[:, :, 0, 0]
losses = Losses(given)
for _ in range(given.steps):
    missed, pull = vjp(lambda some: vmap(output, in_dims=(None, 0))(some, x) - y, parameters)
    (gradients,) = pull(missed)
    parameters = {name: parameter - rate * gradients[name] for name, parameter in parameters.items()}
    elsewhere = elsewhere - rate * toward @ (forecast - y)
    forecast = forecast - rate * square @ (forecast - y)
    losses.add((missed**2).mean())

trained = vmap(output, in_dims=(None, 0))(parameters, x)
print(f"both ways to the kernel agree: {bool(gap < 1e-2)}")
print(f"forecast and training differ by {(forecast - trained).abs().max():.3f} at most, of values up to 1")
losses.write()
