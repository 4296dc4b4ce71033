"""zuko, nflows and normflows: densities by flows, trained, sampled and inverted."""

import normflows as nf
import torch
import zuko
from nflows.distributions import StandardNormal
from nflows.flows import Flow
from nflows.transforms import CompositeTransform, MaskedAffineAutoregressiveTransform, ReversePermutation
from shown import show, train

torch.manual_seed(0)
x, context = torch.randn(16, 3) * 2 + 1, torch.randn(16, 2)
for name, flow in {
    "NSF": zuko.flows.NSF(3, 2, transforms=2, hidden_features=(16,)),
    "MAF": zuko.flows.MAF(3, 2, transforms=2, hidden_features=(16,)),
    "GF": zuko.flows.GF(3, 2, transforms=1, hidden_features=(16,)),
    "CNF": zuko.flows.CNF(3, 2, hidden_features=(8,)),
}.items():
    show(name, train(flow, lambda m: -m(context).log_prob(x).mean(), steps=2))
    torch.manual_seed(1)
    show(f"{name} drawn", flow(context).sample())
steps = []
for _ in range(2):
    steps += [ReversePermutation(3), MaskedAffineAutoregressiveTransform(3, 8, context_features=2)]
flow = Flow(CompositeTransform(steps), StandardNormal([3]))
show("nflows", train(flow, lambda m: -m.log_prob(x, context).mean()))
show("nflows noise", flow.transform_to_noise(x, context))
show("nflows drawn", flow.sample(2, context[:3]))
layers = [nf.flows.AutoregressiveRationalQuadraticSpline(3, 1, 8), nf.flows.LULinearPermute(3)]
model = nf.NormalizingFlow(nf.distributions.base.DiagGaussian(3), layers)
show("normflows", train(model, lambda m: m.forward_kld(x)))
real = nf.NormalizingFlow(
    nf.distributions.base.DiagGaussian(2),
    [nf.flows.AffineCouplingBlock(nf.nets.MLP([1, 8, 2])), nf.flows.Permute(2, mode="swap")],
)
show("coupling", train(real, lambda m: m.forward_kld(x[:, :2])))
