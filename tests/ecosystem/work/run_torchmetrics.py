"""torchmetrics: classification, regression, images, retrieval and collections, over several batches."""

import torch
import torchmetrics
from shown import show
from torchmetrics import functional, retrieval
from torchmetrics.image import PeakSignalNoiseRatio, StructuralSimilarityIndexMeasure

torch.manual_seed(0)
classes = torchmetrics.MetricCollection({
    "accuracy": torchmetrics.Accuracy(task="multiclass", num_classes=5, average="macro"),
    "f1": torchmetrics.F1Score(task="multiclass", num_classes=5, average="weighted"),
    "auroc": torchmetrics.AUROC(task="multiclass", num_classes=5),
    "confusion": torchmetrics.ConfusionMatrix(task="multiclass", num_classes=5),
    "calibration": torchmetrics.CalibrationError(task="multiclass", num_classes=5),
    "kappa": torchmetrics.CohenKappa(task="multiclass", num_classes=5),
    "precision": torchmetrics.AveragePrecision(task="multiclass", num_classes=5),
})  # fmt: skip
numbers = torchmetrics.MetricCollection([
    torchmetrics.MeanSquaredError(), torchmetrics.MeanAbsoluteError(), torchmetrics.R2Score(),
    torchmetrics.PearsonCorrCoef(), torchmetrics.SpearmanCorrCoef(), torchmetrics.ExplainedVariance(),
])  # fmt: skip
for _ in range(4):
    scores, labels = torch.randn(32, 5).softmax(-1), torch.randint(0, 5, (32,))
    classes.update(scores, labels)
    wanted = torch.randn(32)
    numbers.update(wanted + 0.3 * torch.randn(32), wanted)
for name, value in {**classes.compute(), **numbers.compute()}.items():
    show(name, value)
image = torch.rand(2, 3, 32, 32)
noisy = (image + 0.1 * torch.randn_like(image)).clamp(0, 1)
show("psnr", PeakSignalNoiseRatio(data_range=1.0)(noisy, image))
show("ssim", StructuralSimilarityIndexMeasure(data_range=1.0)(noisy, image))
show("roc", [t.tolist() for t in functional.roc(torch.rand(10), torch.arange(10) % 2, task="binary")[:2]])
show("map", retrieval.RetrievalMAP()(torch.rand(12), torch.arange(12) % 3 == 0, indexes=torch.arange(12) // 4))
show("cosine", functional.pairwise_cosine_similarity(torch.randn(3, 4), torch.randn(2, 4)))
show("perplexity", functional.text.perplexity(torch.randn(2, 6, 5), torch.randint(0, 5, (2, 6))))
show("bleu", functional.bleu_score(["the cat is on the mat"], [["there is a cat on the mat", "a cat is on the mat"]]))
tracker = torchmetrics.MetricTracker(torchmetrics.MeanMetric(), maximize=True)
for value in (1.0, 4.0, 2.0):
    tracker.increment()
    tracker.update(torch.tensor(value))
show("best", tracker.best_metric())
boot = torchmetrics.BootStrapper(torchmetrics.MeanSquaredError(), num_bootstraps=4)
boot.update(torch.randn(20), torch.randn(20))
show("bootstrap", sorted(boot.compute()))
