"""A training loop in full: forward, loss, zero_grad, backward, step."""

import torch
from torch import nn


class TinyNet(nn.Module):
    """Two inputs, three hidden units, one output."""

    def __init__(self):
        super().__init__()
        self.linear1 = nn.Linear(2, 3)
        self.relu = nn.ReLU()
        self.linear2 = nn.Linear(3, 1)

    def forward(self, x):
        x = self.linear1(x)
        x = self.relu(x)
        x = self.linear2(x)
        return x


torch.manual_seed(3)
model = TinyNet()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
criterion = nn.MSELoss()

x = torch.randn(10, 2)
y_true = torch.randn(10, 1)

for epoch in range(100):
    # The forward pass builds a new graph each time round.
    y_pred = model(x)
    loss = criterion(y_pred, y_true)

    optimizer.zero_grad()  # or this step's gradients would add to the last one's
    loss.backward()
    optimizer.step()

    if (epoch + 1) % 10 == 0:
        print(f"Epoch {epoch + 1}, Loss: {loss.item():.4f}")
