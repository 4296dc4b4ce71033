"""Draws the graph of a small network, inputs and weights by name, into computation_graph.png."""

import sys

import torch
import torch.nn

try:
    from torchviz import make_dot
except ImportError:
    make_dot = None


class TinyNet(torch.nn.Module):
    """Two inputs, three hidden units, one output."""

    def __init__(self):
        super().__init__()
        self.linear1 = torch.nn.Linear(2, 3)
        self.relu = torch.nn.ReLU()
        self.linear2 = torch.nn.Linear(3, 1)

    def forward(self, x):
        x = self.linear1(x)
        x = self.relu(x)
        x = self.linear2(x)
        return x


torch.manual_seed(2)
model = TinyNet()
x = torch.randn(1, 2, requires_grad=True)
y = model(x)
print(y)

if make_dot is None:
    print("no torchviz here, so no picture", file=sys.stderr)
else:
    dot = make_dot(y, params=dict(list(model.named_parameters()) + [("x", x)]))
    dot.format = "png"
    dot.render("computation_graph")
