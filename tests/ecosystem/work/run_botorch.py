"""botorch: a Gaussian process fitted, acquisition functions, candidates, several objectives."""

import torch
from botorch.acquisition import LogExpectedImprovement, UpperConfidenceBound, qExpectedImprovement
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from botorch.optim import optimize_acqf
from botorch.sampling import SobolQMCNormalSampler
from botorch.utils.multi_objective import is_non_dominated
from botorch.utils.multi_objective.hypervolume import Hypervolume
from gpytorch.mlls import ExactMarginalLogLikelihood
from shown import show

torch.manual_seed(0)
x = torch.rand(12, 2, dtype=torch.float64)
y = (-(x - 0.4).square().sum(1, keepdim=True) * 5).sin()
model = SingleTaskGP(x, y)
fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model), optimizer_kwargs={"options": {"maxiter": 20}})
points = torch.rand(5, 2, dtype=torch.float64)
posterior = model.posterior(points)
show("mean", [round(number, 3) for number in posterior.mean.flatten().tolist()])
bounds = torch.stack([torch.zeros(2), torch.ones(2)]).double()
fixed = SingleTaskGP(x, y).eval()  # before it is fitted, so that its numbers are no affair of the optimizer's
show("ucb", UpperConfidenceBound(fixed, beta=0.2)(points[:, None]))
show("improvement", LogExpectedImprovement(fixed, best_f=y.max())(points[:, None]))
sampler = SobolQMCNormalSampler(torch.Size([32]), seed=1)
show("batches", qExpectedImprovement(fixed, best_f=y.max() - 1, sampler=sampler)(points[None, :3]))
torch.manual_seed(1)
found, value = optimize_acqf(UpperConfidenceBound(fixed, beta=0.1), bounds, q=1, num_restarts=2, raw_samples=16)
show("candidate", [round(number, 2) for number in found.flatten().tolist()])
front = torch.rand(10, 2, dtype=torch.float64)
show("front", is_non_dominated(front))
show("volume", Hypervolume(torch.zeros(2, dtype=torch.float64)).compute(front[is_non_dominated(front)]))
