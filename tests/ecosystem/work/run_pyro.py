"""pyro: a regression by stochastic variational inference, with plates, guides, MCMC and predictions."""

import pyro
import pyro.distributions as dist
import torch
from pyro.infer import MCMC, NUTS, SVI, Predictive, Trace_ELBO
from pyro.infer.autoguide import AutoDiagonalNormal
from shown import show

pyro.set_rng_seed(0)
x = torch.linspace(-1, 1, 20)
y = 2 * x + 0.5 + 0.1 * torch.randn(20)


def model(x, y=None):
    slope = pyro.sample("slope", dist.Normal(0.0, 2.0))
    offset = pyro.sample("offset", dist.Normal(0.0, 2.0))
    noise = pyro.sample("noise", dist.HalfNormal(1.0))
    with pyro.plate("data", len(x)):
        return pyro.sample("y", dist.Normal(slope * x + offset, noise), obs=y)


guide = AutoDiagonalNormal(model)
svi = SVI(model, guide, pyro.optim.Adam({"lr": 0.02}), Trace_ELBO())
show("losses", [svi.step(x, y) for _ in range(60)][::6])
show("store", {name: value.tolist() for name, value in pyro.get_param_store().items()})
samples = Predictive(model, guide=guide, num_samples=5)(x)
show("predicted", samples["y"].mean(0))
pyro.set_rng_seed(1)
chain = MCMC(NUTS(model), num_samples=10, warmup_steps=10, disable_progbar=True)
chain.run(x, y)
show("chain", chain.get_samples()["slope"])
trace = pyro.poutine.trace(model).get_trace(x, y)
show("trace", [sorted(trace.nodes), trace.log_prob_sum().item()])
