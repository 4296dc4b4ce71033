"""gpytorch: an exact Gaussian process fitted to a sine, and a variational one."""

import math

import gpytorch
import torch
from shown import show

torch.manual_seed(0)
x = torch.linspace(0, 1, 30)
y = torch.sin(x * 2 * math.pi) + 0.1 * torch.randn(30)


class Exact(gpytorch.models.ExactGP):
    def __init__(self, x, y, likelihood):
        super().__init__(x, y, likelihood)
        self.mean_module = gpytorch.means.ConstantMean()
        self.covar_module = gpytorch.kernels.ScaleKernel(gpytorch.kernels.RBFKernel())

    def forward(self, x):
        return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))


likelihood = gpytorch.likelihoods.GaussianLikelihood()
model = Exact(x, y, likelihood)
model.train(), likelihood.train()
optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
marginal = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)
losses = []
for _ in range(20):
    optimizer.zero_grad()
    loss = -marginal(model(x), y)
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
show("losses", losses)
show("lengthscale", model.covar_module.base_kernel.lengthscale)
model.eval(), likelihood.eval()
with torch.no_grad(), gpytorch.settings.fast_pred_var():
    prediction = likelihood(model(torch.linspace(0, 1, 9)))
    show("mean", prediction.mean)
    show("band", prediction.confidence_region()[0])


class Variational(gpytorch.models.ApproximateGP):
    def __init__(self, points):
        spread = gpytorch.variational.CholeskyVariationalDistribution(points.size(0))
        super().__init__(gpytorch.variational.VariationalStrategy(self, points, spread))
        self.mean_module = gpytorch.means.ConstantMean()
        self.covar_module = gpytorch.kernels.ScaleKernel(gpytorch.kernels.MaternKernel(nu=2.5))

    forward = Exact.forward


torch.manual_seed(1)
model, likelihood = Variational(x[::5].unsqueeze(-1)), gpytorch.likelihoods.GaussianLikelihood()
optimizer = torch.optim.Adam([*model.parameters(), *likelihood.parameters()], lr=0.05)
bound = gpytorch.mlls.VariationalELBO(likelihood, model, num_data=30)
losses = []
for _ in range(10):
    optimizer.zero_grad()
    loss = -bound(model(x), y)
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
show("variational", losses)
