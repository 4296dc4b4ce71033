"""A convolutional network with batch normalisation reads handwritten digits, and keeps a checkpoint."""

import torch
import torch.nn.functional as F
from options import RANKS, Losses, parse, shared
from sklearn.datasets import load_digits
from torch import nn, optim
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler


class Network(nn.Module):
    """Two convolutions with pooling, then two linear layers."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 16, kernel_size=3, padding=1)
        self.norm1 = nn.BatchNorm2d(16)
        self.conv2 = nn.Conv2d(16, 32, kernel_size=3, padding=1, bias=False)
        self.norm2 = nn.BatchNorm2d(32)
        self.drop = nn.Dropout2d(0.1)
        self.fc1 = nn.Linear(32 * 2 * 2, 64)
        self.fc2 = nn.Linear(64, 10)

    def forward(self, x):
        """Log probabilities of the ten digits; ``x`` is (batch, 1, 8, 8)."""
        x = F.max_pool2d(F.relu(self.norm1(self.conv1(x))), 2)
        x = F.max_pool2d(F.relu(self.norm2(self.conv2(x))), 2)
        x = torch.flatten(self.drop(x), 1)
        return F.log_softmax(self.fc2(F.relu(self.fc1(x))), dim=1)


given = parse(__doc__, steps=400, distributed=RANKS, save=("", "where to keep the trained parameters"))
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

scans, labels = load_digits(return_X_y=True)
images = torch.tensor(scans / 16, dtype=torch.get_default_dtype()).view(-1, 1, 8, 8)
images = (images - images.mean()) / images.std()
targets = torch.tensor(labels, dtype=torch.long)
dataset = TensorDataset(images[:1500], targets[:1500])
model = Network().to(device)
trained, rank, ranks = shared(given, model)
sampler = DistributedSampler(dataset) if ranks > 1 else None
loader = DataLoader(dataset, batch_size=64 // ranks, shuffle=sampler is None, sampler=sampler, drop_last=True)
optimizer = optim.AdamW(model.parameters(), lr=3e-3, weight_decay=1e-2)
scheduler = optim.lr_scheduler.OneCycleLR(optimizer, max_lr=1e-2, total_steps=given.steps)

losses = Losses(given, rank=rank, ranks=ranks)
while len(losses.values) < given.steps:
    model.train()
    if sampler is not None:
        sampler.set_epoch(len(losses.values))
    for batch, (x, y) in enumerate(loader):
        x, y = x.to(device), y.to(device)
        optimizer.zero_grad(set_to_none=True)
        loss = F.nll_loss(trained(x), y)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), max_norm=5.0)
        optimizer.step()
        scheduler.step()
        losses.add(loss)
        if len(losses.values) == given.steps:
            break

model.eval()
with torch.no_grad():
    scores = model(images[1500:].to(device))
    right = scores.argmax(dim=1, keepdim=True).eq(targets[1500:].view(-1, 1)).sum().item()
if rank == 0:
    print(f"held out: loss {F.nll_loss(scores, targets[1500:]).item():.4f}, right {right} of {len(scores)}")
if given.save and rank == 0:
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, given.save)
    again = Network()
    again.load_state_dict(torch.load(given.save)["model"])
    print(f"kept in {given.save}")
losses.write()
