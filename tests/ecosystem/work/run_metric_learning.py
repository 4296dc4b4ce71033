"""pytorch-metric-learning: losses, miners, distances, reducers, and what a tester counts."""

import torch
from pytorch_metric_learning import distances, losses, miners, reducers, regularizers, samplers
from shown import show, train
from torch import nn

torch.manual_seed(0)
x, labels = torch.randn(24, 8), torch.arange(24) % 4
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 5))
KINDS = {
    "triplet": losses.TripletMarginLoss(0.2, distance=distances.CosineSimilarity()),
    "contrastive": losses.ContrastiveLoss(),
    "ntxent": losses.NTXentLoss(0.5),
    "multi": losses.MultiSimilarityLoss(),
    "circle": losses.CircleLoss(),
    "angular": losses.AngularLoss(embedding_regularizer=regularizers.LpRegularizer()),
    "supcon": losses.SupConLoss(reducer=reducers.MeanReducer()),
    "lifted": losses.GeneralizedLiftedStructureLoss(),
    "fastap": losses.FastAPLoss(),
}
for name, loss in KINDS.items():
    embeddings = model(x)
    value = loss(embeddings, labels)
    model.zero_grad()
    value.backward()
    show(name, [value.item(), model[0].weight.grad.norm().item()])
for name, miner in {
    "hard": miners.BatchHardMiner(), "easy": miners.BatchEasyHardMiner(), "margin": miners.TripletMarginMiner(0.2),
    "similar": miners.MultiSimilarityMiner(),
}.items():  # fmt: skip
    show(f"miner {name}", [part.sum().item() for part in miner(model(x).detach(), labels)])
arc, proxy = losses.ArcFaceLoss(4, 5), losses.ProxyAnchorLoss(4, 5)
show("arcface", train(nn.ModuleList([model, arc]), lambda m: m[1](m[0](x), labels)))
show("proxy", train(nn.ModuleList([model, proxy]), lambda m: m[1](m[0](x), labels)))
show("sampler", len(list(samplers.MPerClassSampler(labels, 2, 8, 24))))
