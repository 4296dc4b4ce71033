"""e3nn: harmonics, tensor products and gates whose results turn with their inputs."""

import torch
from e3nn import o3
from e3nn.nn import BatchNorm, FullyConnectedNet, Gate
from shown import show, train

torch.manual_seed(0)
irreps = o3.Irreps("4x0e + 2x1o + 1x2e")
x, places = irreps.randn(6, -1), torch.randn(6, 3)
show("harmonics", o3.spherical_harmonics([0, 1, 2, 3], places, normalize=True))
show("wigner", o3.wigner_3j(1, 1, 2))
product = o3.FullyConnectedTensorProduct(irreps, "1x0e + 1x1o", irreps)
gate = Gate("4x0e", [torch.tanh], "2x0e", [torch.sigmoid], "2x1o")
model = torch.nn.ModuleList([product, o3.Linear(irreps, gate.irreps_in), gate])
directions = o3.spherical_harmonics("0e + 1o", places, True)


def run(m, x, directions):
    """A product with directions, a linear layer, a gate."""
    return m[2](m[1](m[0](x, directions)))


show("trained", train(model, lambda m: run(m, x, directions).square().mean()))
turn = o3.rand_matrix()
turned = run(model, x @ irreps.D_from_matrix(turn).T, o3.spherical_harmonics("0e + 1o", places @ turn.T, True))
close = torch.allclose(turned, run(model, x, directions) @ gate.irreps_out.D_from_matrix(turn).T, atol=1e-4)
show("turns with it", close)
show("normed", BatchNorm(irreps)(x))
show("net", FullyConnectedNet([3, 8, 2], torch.relu)(places))
