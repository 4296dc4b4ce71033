"""lion-pytorch, schedulefree, torch-optimizer, pytorch-warmup and torch-ema: steps, schedules, averages."""

import pytorch_warmup
import schedulefree
import torch
import torch_optimizer
from lion_pytorch import Lion
from shown import show
from torch import nn
from torch_ema import ExponentialMovingAverage

KINDS = {
    "lion": lambda p: Lion(p, lr=1e-2, weight_decay=0.1),
    "free adam": lambda p: schedulefree.AdamWScheduleFree(p, lr=1e-2, warmup_steps=2),
    "free sgd": lambda p: schedulefree.SGDScheduleFree(p, lr=1e-1),
    "radam free": lambda p: schedulefree.RAdamScheduleFree(p, lr=1e-2),
    "lamb": lambda p: torch_optimizer.Lamb(p, lr=1e-2),
    "yogi": lambda p: torch_optimizer.Yogi(p, lr=1e-2),
    "novograd": lambda p: torch_optimizer.NovoGrad(p, lr=1e-2),
    "lookahead": lambda p: torch_optimizer.Lookahead(torch_optimizer.DiffGrad(p, lr=1e-2), k=2),
    "shampoo": lambda p: torch_optimizer.Shampoo(p, lr=1e-2),
}
torch.manual_seed(0)
x, y = torch.randn(32, 4), torch.randn(32, 2)
for name, make in KINDS.items():
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
    optimizer = make(model.parameters())
    average = ExponentialMovingAverage(model.parameters(), decay=0.9)
    if hasattr(optimizer, "train"):
        optimizer.train()
    for _ in range(5):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        average.update()
    if hasattr(optimizer, "eval"):
        optimizer.eval()
    with average.average_parameters():
        averaged = nn.functional.mse_loss(model(x), y).item()
    show(name, [loss.item(), averaged, *model[0].weight[0].tolist()])
optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=10)
warmup, rates = pytorch_warmup.LinearWarmup(optimizer, 4), []
for _ in range(8):
    optimizer.step()
    with warmup.dampening():
        schedule.step()
    rates.append(optimizer.param_groups[0]["lr"])
show("rates", rates)
