"""accelerate: a training loop with gradient accumulation, clipping, a scheduler, and its state saved and loaded."""

import tempfile

import torch
from accelerate import Accelerator, init_empty_weights
from accelerate.utils import set_seed
from shown import show
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

set_seed(0)
data = TensorDataset(torch.randn(64, 8), torch.randint(0, 3, (64,)))
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 8)
accelerator = Accelerator(cpu=True, gradient_accumulation_steps=2)
model, optimizer, loader, scheduler = accelerator.prepare(
    model, optimizer, DataLoader(data, 8, shuffle=True), scheduler
)


def epoch():
    losses = []
    for x, y in loader:
        with accelerator.accumulate(model):
            loss = nn.functional.cross_entropy(model(x), y)
            accelerator.backward(loss)
            if accelerator.sync_gradients:
                accelerator.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            scheduler.step()
            optimizer.zero_grad()
        losses.append(accelerator.gather_for_metrics(loss).item())
    return losses


show("first", epoch())
folder = tempfile.mkdtemp()
accelerator.save_state(folder)
show("second", epoch())
accelerator.load_state(folder)
show("rate", optimizer.param_groups[0]["lr"])
show("weights", accelerator.unwrap_model(model)[0].weight)
with init_empty_weights():
    empty = nn.Linear(1000, 1000)
show("empty", [str(empty.weight.device), list(empty.weight.shape)])
