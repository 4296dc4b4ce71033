"""torch_geometric: GCN, GAT and SAGE on a small graph, graphs in batches, neighbours sampled, a transform."""

import torch
import torch.nn.functional as F
from shown import show
from torch import nn
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GATConv, GCNConv, GINConv, SAGEConv, TransformerConv, global_mean_pool
from torch_geometric.transforms import NormalizeFeatures
from torch_geometric.utils import add_self_loops, degree, softmax, to_dense_adj, to_undirected

random = torch.Generator().manual_seed(0)
edges = to_undirected(torch.randint(0, 30, (2, 60), generator=random))
graph = Data(x=torch.rand(30, 8, generator=random), edge_index=edges, y=torch.randint(0, 3, (30,), generator=random))
graph = NormalizeFeatures()(graph)
show("graph", [graph.num_nodes, graph.num_edges, graph.is_undirected(), graph.has_isolated_nodes()])
KINDS = {
    "gcn": lambda i, o: GCNConv(i, o),
    "gat": lambda i, o: GATConv(i, o, heads=2, concat=False),
    "sage": lambda i, o: SAGEConv(i, o),
    "gin": lambda i, o: GINConv(nn.Sequential(nn.Linear(i, o), nn.ReLU(), nn.Linear(o, o))),
    "transformer": lambda i, o: TransformerConv(i, o, heads=2, concat=False),
}
for name, kind in KINDS.items():
    torch.manual_seed(0)
    first, second = kind(8, 16), kind(16, 3)
    layers = nn.ModuleList([first, second])
    optimizer = torch.optim.Adam(layers.parameters(), lr=0.01, weight_decay=5e-4)
    losses = []
    for _ in range(10):
        optimizer.zero_grad()
        hidden = F.dropout(F.relu(first(graph.x, graph.edge_index)), 0.5)
        loss = F.cross_entropy(second(hidden, graph.edge_index), graph.y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    show(name, losses)
loader = DataLoader([graph, graph.subgraph(torch.arange(12))], batch_size=2)
for batch in loader:
    show("batch", [batch.num_graphs, batch.num_nodes])
    show("pooled", global_mean_pool(batch.x, batch.batch))
show("dense", to_dense_adj(edges).sum(-1))
show("degree", degree(add_self_loops(edges)[0][0]))
show("softmax", softmax(torch.arange(6.0), torch.tensor([0, 0, 1, 1, 1, 2])))
