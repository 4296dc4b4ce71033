"""A perceptron with two hidden layers reads handwritten digits: 1,797 scans of 8 x 8 pixels, from scikit-learn."""

import torch
from options import Losses, parse
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

given = parse(__doc__, steps=600)

scans, labels = load_digits(return_X_y=True)
data = TensorDataset(torch.tensor(scans / 16, dtype=torch.get_default_dtype()), torch.tensor(labels))
training, held_out = random_split(data, [1500, 297])
loader = DataLoader(training, batch_size=64, shuffle=True)

model = nn.Sequential(
    nn.Linear(64, 128),
    nn.ReLU(),
    nn.Dropout(0.2),
    nn.Linear(128, 64),
    nn.ReLU(),
    nn.Linear(64, 10),
)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=200, gamma=0.3)

losses = Losses(given)
model.train()
while len(losses.values) < given.steps:
    for images, targets in loader:
        optimizer.zero_grad()
        loss = criterion(model(images), targets)
        loss.backward()
        optimizer.step()
        scheduler.step()
        losses.add(loss)
        if len(losses.values) == given.steps:
            break

model.eval()
with torch.no_grad():
    right = sum(
        (model(images).argmax(dim=1) == targets).sum().item() for images, targets in DataLoader(held_out, batch_size=99)
    )
print(f"right on held-out scans: {right} of {len(held_out)}")
losses.write()
