"""Shows the node that ends a small network's graph, and the gradient of its first weights."""

import torch
from torch import nn


class SimpleNN(nn.Module):
    """Two inputs, three hidden units, one output."""

    def __init__(self):
        super().__init__()
        self.linear1 = nn.Linear(2, 3)
        self.activation = nn.ReLU()
        self.linear2 = nn.Linear(3, 1)

    def forward(self, x):
        x = self.linear1(x)
        x = self.activation(x)
        x = self.linear2(x)
        return x


torch.manual_seed(1)  # the document leaves the weights to chance
model = SimpleNN()
print(model)

x = torch.tensor([[0.5, 0.3]], requires_grad=True)
output = model(x)
print(f"Output: {output}")
print(f"Output grad_fn: {output.grad_fn}")

# A fresh network, a target, a loss, and the way back to the weights.
model = SimpleNN()
x = torch.tensor([[0.5, 0.3]], requires_grad=True)
target = torch.tensor([[1.0]])

output = model(x)
loss_fn = nn.MSELoss()
loss = loss_fn(output, target)
print(f"Loss: {loss.item()}")

loss.backward()
print(f"Gradient for first layer weights:\n{model.linear1.weight.grad}")
