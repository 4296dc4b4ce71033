"""opacus, backpack, laplace: gradients of each sample, private training, curvature; entmax, torchcrf and three more."""

import torch
from backpack import backpack, extend
from backpack.extensions import KFAC, BatchGrad, DiagGGNExact, Variance
from ema_pytorch import EMA
from entmax import entmax15, entmax_bisect, sparsemax
from laplace import Laplace
from opacus import PrivacyEngine
from pytorch_msssim import ms_ssim, ssim
from shown import show
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from torchcrf import CRF
from vector_quantize_pytorch import FSQ, VectorQuantize

torch.manual_seed(9)
x, labels = torch.randn(16, 4), torch.arange(16) % 3
batches = DataLoader(TensorDataset(x, labels), batch_size=8)


def network():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))


model = network()
engine = PrivacyEngine(accountant="rdp")
private, optimizer, loader = engine.make_private(
    module=model, optimizer=torch.optim.SGD(model.parameters(), 0.1), data_loader=batches, noise_multiplier=1.0,
    max_grad_norm=1.0, noise_generator=torch.Generator().manual_seed(1),
)  # fmt: skip
torch.manual_seed(3)
for images, targets in loader:
    optimizer.zero_grad()
    nn.functional.cross_entropy(private(images), targets).backward()
    optimizer.step()
show("private", [engine.get_epsilon(1e-5), *(p.norm().item() for p in private.parameters())])

model, loss = extend(network()), extend(nn.CrossEntropyLoss())
with backpack(BatchGrad(), DiagGGNExact(), KFAC(), Variance()):
    loss(model(x), labels).backward()
for name, p in model.named_parameters():
    show(name, [p.grad_batch.norm().item(), p.diag_ggn_exact.sum().item(), p.variance.sum().item()])
for weights, structure in (("last_layer", "kron"), ("all", "diag"), ("all", "full")):
    posterior = Laplace(network(), "classification", subset_of_weights=weights, hessian_structure=structure)
    posterior.fit(batches)
    posterior.optimize_prior_precision(method="marglik")
    show(f"{weights} {structure}", posterior(x[:2]))

scores = torch.randn(2, 5, requires_grad=True)
sparse = entmax15(scores, dim=-1) + sparsemax(scores, dim=-1) + entmax_bisect(scores, 1.3)
(sparse * torch.arange(5.0)).sum().backward()
show("entmax", [sparse.tolist(), scores.grad.tolist()])
field, emissions = CRF(3, batch_first=True), torch.randn(2, 5, 3)
likelihood = field(emissions, torch.arange(10).view(2, 5) % 3)
likelihood.backward()
show("crf", [likelihood.item(), field.decode(emissions), field.transitions.grad.norm().item()])
quantized, codes, commitment = VectorQuantize(dim=8, codebook_size=16, kmeans_init=True)(torch.randn(2, 32, 8))
show("codes", [quantized.sum().item(), codes.tolist(), commitment.item()])
show("finite codes", FSQ([5, 4, 3])(torch.randn(1, 6, 3))[1])
line = nn.Linear(4, 2)
average = EMA(line, beta=0.9, update_after_step=0, update_every=1)
for _ in range(4):
    with torch.no_grad():
        line.weight.mul_(1.1)
    average.update()
show("average", average.ema_model.weight)
picture = torch.rand(1, 3, 200, 200)
show("likeness", [measure(picture, picture * 0.9, data_range=1).item() for measure in (ssim, ms_ssim)])
