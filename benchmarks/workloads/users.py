"""What users run whole: an epoch over a table, a physics-informed network, text that is generated, a graph network."""

from __future__ import annotations

from typing import Any

from ..engines import Engine, Step

__all__ = ["generation", "graph_network", "physics", "table"]


def table(engine: Engine, count: int, batch: int) -> Step:
    """An epoch of an MLP over a table of ``count`` rows of 32 columns, by a shuffling DataLoader; Adam.

    Gives the loss of the 16th batch, or of the last if there are fewer. In a whole epoch some of 20 million ReLUs see a
    number that rounding makes positive in one engine and zero in another: from there on both are right, and apart.
    """
    torch = engine.module
    nn = torch.nn
    torch.manual_seed(0)
    rows, targets = torch.randn(count, 32), torch.randn(count, 1)
    data = torch.utils.data.TensorDataset(rows, targets)
    loader = torch.utils.data.DataLoader(data, batch_size=batch, shuffle=True)
    model = nn.Sequential(nn.Linear(32, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

    def trained(x: Any, y: Any) -> Any:
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss

    update = engine.whole(trained)

    def epoch() -> Any:
        for number, (x, y) in enumerate(loader, 1):
            loss = update(x, y)
            if number <= 16:
                early = loss
        return early

    return epoch


def physics(engine: Engine, points: int) -> Step:
    """A network that solves u'' = -u: second derivatives by ``autograd.grad`` with ``create_graph``, then Adam."""
    torch = engine.module
    nn = torch.nn
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    x = torch.linspace(0, 6, points).reshape(-1, 1).requires_grad_()
    start = torch.zeros(1, 1)

    def step() -> Any:
        u = model(x)
        (slope,) = torch.autograd.grad(u.sum(), x, create_graph=True)
        (bend,) = torch.autograd.grad(slope.sum(), x, create_graph=True)
        loss = ((bend + u) ** 2).mean() + (model(start) ** 2).sum() + ((slope[0] - 1) ** 2).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss

    return engine.whole(step)


def generation(engine: Engine, tokens: int) -> Step:
    """``tokens`` letters of a small transformer, one by one, with keys and values of earlier ones; no gradients."""
    torch = engine.module
    nn, functional = torch.nn, torch.nn.functional
    layers, heads, width, vocabulary = 4, 4, 128, 65
    torch.manual_seed(0)
    embedding, head = nn.Embedding(vocabulary, width), nn.Linear(width, vocabulary)
    blocks = [
        (nn.LayerNorm(width), nn.Linear(width, 3 * width), nn.Linear(width, width),
         nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.Linear(4 * width, width))
        for _ in range(layers)
    ]  # fmt: skip

    def split(x: Any) -> Any:
        return x.view(1, 1, heads, width // heads).transpose(1, 2)

    def step() -> Any:
        with torch.no_grad():
            token = torch.zeros(1, 1, dtype=torch.long)
            kept: list[Any] = [None] * layers
            for _ in range(tokens):
                x = embedding(token)
                for place, (norm1, qkv, out, norm2, up, down) in enumerate(blocks):
                    q, k, v = (split(part) for part in qkv(norm1(x)).chunk(3, dim=2))
                    if kept[place] is not None:
                        k, v = (torch.cat([old, new], dim=2) for old, new in zip(kept[place], (k, v), strict=True))
                    kept[place] = k, v
                    y = functional.scaled_dot_product_attention(q, k, v)
                    x = x + out(y.transpose(1, 2).reshape(1, 1, width))
                    x = x + down(functional.gelu(up(norm2(x))))
                scores = head(x)
                token = scores[:, -1].argmax(dim=1, keepdim=True)
            return scores

    return engine.whole(step)


def graph_network(engine: Engine, nodes: int, edges: int) -> Step:
    """A training step of two graph convolutions: gather, ``index_add``, scale, linear; cross-entropy, Adam."""
    torch = engine.module
    nn = torch.nn
    torch.manual_seed(0)
    features, classes = torch.randn(nodes, 64), torch.randint(7, (nodes,))
    source, target = torch.randint(nodes, (2, edges))
    first, second = nn.Linear(64, 64), nn.Linear(64, 7)
    optimizer = torch.optim.Adam([*first.parameters(), *second.parameters()], lr=1e-2)
    degree = torch.zeros(nodes).index_add(0, target, torch.ones(edges)) + 1

    def spread(x: Any) -> Any:
        return (x + torch.zeros_like(x).index_add(0, target, x[source])) / degree[:, None]

    def step() -> Any:
        loss = nn.functional.cross_entropy(second(spread(first(spread(features)).relu())), classes)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss

    return engine.whole(step)
