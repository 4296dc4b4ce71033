"""fastai: a learner that fits with its one-cycle schedule, callbacks and metrics, and predicts."""

import tempfile

import torch
from fastai.basics import DataLoader, DataLoaders, Learner, accuracy, set_seed
from fastai.callback.all import GradientAccumulation, SaveModelCallback
from fastai.learner import CrossEntropyLossFlat
from fastai.optimizer import Adam, ranger
from shown import show
from torch import nn

set_seed(0, reproducible=True)
x = torch.randn(96, 5)
y = (x.sum(1) > 0).long()
data = list(zip(x, y, strict=True))
loaders = DataLoaders(
    DataLoader(data[:64], bs=16, shuffle=False, num_workers=0), DataLoader(data[64:], bs=16, num_workers=0)
)
for name, optimizer in {"adam": Adam, "ranger": ranger}.items():
    set_seed(0)
    model = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.BatchNorm1d(16), nn.Linear(16, 2))
    learner = Learner(
        loaders, model, loss_func=CrossEntropyLossFlat(), opt_func=optimizer, metrics=accuracy,
        path=tempfile.mkdtemp(), cbs=[GradientAccumulation(32)],
    )  # fmt: skip
    with learner.no_bar(), learner.no_logging():
        learner.fit_one_cycle(3, 1e-2, cbs=SaveModelCallback(fname="best"))
    show(name, [list(map(float, line)) for line in learner.recorder.values])
    with learner.no_bar():
        show(f"{name} predicted", learner.get_preds()[0])
    show(f"{name} rates", list(map(float, learner.recorder.lrs)))
