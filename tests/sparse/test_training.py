"""Training with sparse tensors: the same numbers as PyTorch, step by step."""

import pytest

from tests.agreement import cases, check

pytestmark = pytest.mark.torch


def graph_network(torch, show):
    torch.manual_seed(0)
    n = 12
    edges = torch.randint(0, n, (2, 40))
    loops = torch.arange(n).repeat(2, 1)
    at = torch.cat([edges, edges.flip(0), loops], 1)
    adjacency = torch.sparse_coo_tensor(at, torch.ones(at.shape[1]), (n, n)).coalesce()
    degree = torch.sparse.sum(adjacency, 1).to_dense()
    rows, columns = adjacency.indices()
    scaled = adjacency.values() / (degree[rows] * degree[columns]).sqrt()
    adjacency = torch.sparse_coo_tensor(adjacency.indices(), scaled, (n, n))

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.one, self.two = torch.nn.Linear(6, 8), torch.nn.Linear(8, 3)
            self.register_buffer("adjacency", adjacency)

        def forward(self, x):
            hidden = torch.relu(torch.spmm(self.adjacency, self.one(x)))
            return torch.sparse.mm(self.adjacency, self.two(hidden))

    net, x, y = Net(), torch.randn(n, 6), torch.randint(0, 3, (n,))
    show("state", sorted(net.state_dict()))
    optimizer = torch.optim.Adam(net.parameters(), lr=0.05)
    for _ in range(20):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        show("loss", loss.detach())


@pytest.mark.parametrize(
    "name,options",
    [
        ("SGD", {"lr": 0.1}),
        ("SGD", {"lr": 0.1, "maximize": True}),
        ("SGD", {"lr": 0.1, "momentum": 0.9}),
        ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True}),
        ("SparseAdam", {"lr": 0.05}),
        ("SparseAdam", {"lr": 0.05, "maximize": True}),
        ("Adagrad", {"lr": 0.1, "lr_decay": 0.01}),
        ("Adagrad", {"lr": 0.1, "maximize": True}),
    ],
    ids=str,
)
def test_optimizers(name, options):
    def program(torch, show):
        torch.manual_seed(1)
        table = torch.nn.Embedding(20, 4, sparse=True, dtype=torch.float64)
        optimizer = getattr(torch.optim, name)(table.parameters(), **options)
        for step in range(50):
            x = torch.randint(0, 20, (6,))
            optimizer.zero_grad(set_to_none=step % 2 == 0)
            loss = (table(x).sum(1) - x.double() / 10).square().mean()
            loss.backward()
            optimizer.step()
            show("loss", loss.detach())
        show("table", table.weight.detach())
        state = optimizer.state_dict()["state"].get(0, {})
        show("state", {k: v.to_dense() if isinstance(v, torch.Tensor) else v for k, v in state.items()})

    check(program)


def refusals(torch, show):
    table = torch.nn.Embedding(4, 2, sparse=True)
    table(torch.tensor([1, 1])).sum().backward()
    for name in (
        "Adam", "AdamW", "RMSprop", "Adadelta", "Adamax", "NAdam", "RAdam", "ASGD", "Rprop", "Adafactor",
    ):  # fmt: skip
        show.error(lambda name=name: getattr(torch.optim, name)(table.parameters()).step(), name)
    show.error(lambda: torch.optim.SGD(table.parameters(), weight_decay=0.1).step())
    show.error(lambda: torch.optim.Adagrad(table.parameters(), weight_decay=0.1).step())
    show.error(lambda: torch.nn.utils.clip_grad_norm_(table.parameters(), 1.0), words=False)
    table.weight.grad = torch.ones(4, 2)
    show.error(lambda: torch.optim.SparseAdam(table.parameters()).step())
    show.error(lambda: torch.optim.SparseAdam([torch.ones(2, 2).to_sparse()]))


@pytest.mark.parametrize("program", cases(globals()).values(), ids=cases(globals()))
def test_program(program):
    check(program)
