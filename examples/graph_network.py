"""A graph network: a few labelled scans tell their neighbours what they are, along the edges of a graph of likeness."""

import torch
import torch.nn.functional as F
from options import Losses, parse
from sklearn.datasets import load_digits
from torch import nn


class GraphConv(nn.Module):
    """Each node takes the mean of its neighbours and itself, weighted by degree, through one linear map.

    Source: Kipf and Welling (2016), Semi-supervised classification with graph convolutional networks
    """

    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(inputs, outputs))
        self.bias = nn.Parameter(torch.zeros(outputs))
        nn.init.xavier_uniform_(self.weight)

    def forward(self, x, edges, strength):
        """``x`` is (nodes, inputs), ``edges`` (2, edges), ``strength`` (edges)."""
        source, target = edges
        messages = (x @ self.weight)[source] * strength.unsqueeze(1)
        gathered = torch.zeros(x.size(0), self.weight.size(1), dtype=x.dtype).index_add_(0, target, messages)
        return gathered + self.bias


class Network(nn.Module):
    """Two graph convolutions."""

    def __init__(self, inputs, hidden, outputs):
        super().__init__()
        self.first = GraphConv(inputs, hidden)
        self.second = GraphConv(hidden, outputs)

    def forward(self, x, edges, strength):
        """Log probabilities of the classes of all nodes."""
        x = F.relu(self.first(F.dropout(x, 0.3, training=self.training), edges, strength))
        return F.log_softmax(self.second(x, edges, strength), dim=1)


given = parse(__doc__, steps=200, neighbours=(6, "edges from each scan to those most like it"))
scans, labels = load_digits(return_X_y=True)
x, y = torch.tensor(scans / 16, dtype=torch.get_default_dtype()), torch.tensor(labels)
nodes = len(x)

grey = torch.tensor(scans)  # whole numbers, so squared distances are exact, and many are equal: the first one wins
apart = (grey**2).sum(1, keepdim=True) + (grey**2).sum(1) - 2 * grey @ grey.t() + torch.arange(nodes) / (2 * nodes)
apart.fill_diagonal_(-1.0)
nearest = apart.topk(given.neighbours + 1, dim=1, largest=False).indices[:, 1:]
source = torch.arange(nodes).repeat_interleave(given.neighbours)
target = nearest.reshape(-1)
loops = torch.arange(nodes)
edges = torch.unique(
    torch.cat([torch.stack([source, target]), torch.stack([target, source]), torch.stack([loops, loops])], dim=1), dim=1
)
degree = torch.zeros(nodes, dtype=x.dtype).scatter_add_(0, edges[1], torch.ones(edges.size(1), dtype=x.dtype))
strength = (degree[edges[0]] * degree[edges[1]]).rsqrt()
known = torch.cat([torch.nonzero(y == digit).flatten()[:5] for digit in range(10)])

model = Network(64, 32, 10)
optimizer = torch.optim.Adam(model.parameters(), lr=0.02, weight_decay=5e-4)
losses = Losses(given)
for _ in range(given.steps):
    model.train()
    optimizer.zero_grad()
    loss = F.nll_loss(model(x, edges, strength)[known], y[known])
    loss.backward()
    optimizer.step()
    losses.add(loss)

model.eval()
with torch.no_grad():
    right = (model(x, edges, strength).argmax(1) == y).to(x.dtype).mean().item()
print(f"{len(known)} scans were labelled; of all {nodes}, {100 * right:.1f} % are read rightly")
losses.write()
