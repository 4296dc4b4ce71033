"""Whole training steps; the parts of each are made apart, so that rivals start from the same numbers."""

from __future__ import annotations

import math
from typing import Any

from ..engines import Engine, Step

__all__ = [
    "GPT", "gpt", "gpt_parts", "lenet", "lenet_parts", "mlp", "mlp_parts", "tinynet", "tinynet_parts", "trained",
]  # fmt: skip

GPT = {"lr": 1e-3, "betas": (0.9, 0.95), "weight_decay": 0.1}


def trained(engine: Engine, loss_of: Any, optimizer: Any, *data: Any) -> Step:
    """The step of a training loop: forward, gradients to zero, backward, update; it gives the loss."""
    loss_of = engine.part(loss_of)

    def step() -> Any:
        loss = loss_of(*data)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss

    return engine.whole(step)


def tinynet_parts(torch: Any) -> tuple[Any, Any, Any]:
    """TinyNet 2-3-1, and a batch of 10."""
    nn = torch.nn

    class TinyNet(nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.linear1 = nn.Linear(2, 3)
            self.relu = nn.ReLU()
            self.linear2 = nn.Linear(3, 1)

        def forward(self, x: Any) -> Any:
            return self.linear2(self.relu(self.linear1(x)))

    torch.manual_seed(0)
    return TinyNet(), torch.randn(10, 2), torch.randn(10, 1)


def tinynet(engine: Engine) -> Step:
    """TinyNet: mean squared error, SGD."""
    model, x, y = tinynet_parts(engine.module)
    criterion = engine.module.nn.MSELoss()
    optimizer = engine.module.optim.SGD(model.parameters(), lr=0.01)
    return trained(engine, lambda x, y: criterion(model(x), y), optimizer, x, y)


def mlp_parts(torch: Any, batch: int) -> tuple[Any, Any, Any]:
    """An MLP 784-256-10, a batch, and its classes."""
    nn = torch.nn
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 10))
    return model, torch.randn(batch, 784), torch.randint(10, (batch,))


def mlp(engine: Engine, batch: int) -> Step:
    """The MLP: cross-entropy, Adam (PyTorch's fused one, its fastest)."""
    model, x, y = mlp_parts(engine.module, batch)
    criterion = engine.module.nn.CrossEntropyLoss()
    optimizer = engine.module.optim.Adam(model.parameters(), lr=1e-3, fused=True)
    return trained(engine, lambda x, y: criterion(model(x), y), optimizer, x, y)


def lenet_parts(torch: Any, batch: int) -> tuple[Any, Any, Any]:
    """LeNet-5 with rectified units and max pooling, a batch of 28x28 images, and their classes."""
    nn = torch.nn
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10),
    )  # fmt: skip
    return model, torch.randn(batch, 1, 28, 28), torch.randint(10, (batch,))


def lenet(engine: Engine, batch: int) -> Step:
    """LeNet-5: cross-entropy, SGD."""
    model, x, y = lenet_parts(engine.module, batch)
    criterion = engine.module.nn.CrossEntropyLoss()
    optimizer = engine.module.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    return trained(engine, lambda x, y: criterion(model(x), y), optimizer, x, y)


def gpt_parts(
    torch: Any, layers: int, heads: int, width: int, context: int, batch: int, vocabulary: int = 65
) -> tuple[Any, Any, Any]:
    """A decoder-only transformer as in examples/char_gpt.py, without dropout; tokens, and the tokens that follow."""
    nn, functional = torch.nn, torch.nn.functional

    class Attention(nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.qkv = nn.Linear(width, 3 * width, bias=False)
            self.out = nn.Linear(width, width, bias=False)

        def forward(self, x: Any) -> Any:
            rows, time, _ = x.shape
            parts = self.qkv(x).split(width, dim=2)
            q, k, v = (part.view(rows, time, heads, width // heads).transpose(1, 2) for part in parts)
            y = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            return self.out(y.transpose(1, 2).contiguous().view(rows, time, width))

    class Block(nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.norm1 = nn.LayerNorm(width)
            self.attention = Attention()
            self.norm2 = nn.LayerNorm(width)
            self.up = nn.Linear(width, 4 * width)
            self.down = nn.Linear(4 * width, width)

        def forward(self, x: Any) -> Any:
            x = x + self.attention(self.norm1(x))
            return x + self.down(functional.gelu(self.up(self.norm2(x)), approximate="tanh"))

    class Transformer(nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.tokens = nn.Embedding(vocabulary, width)
            self.positions = nn.Embedding(context, width)
            self.blocks = nn.ModuleList([Block() for _ in range(layers)])
            self.norm = nn.LayerNorm(width)
            self.head = nn.Linear(width, vocabulary, bias=False)
            self.tokens.weight = self.head.weight
            for name, parameter in self.named_parameters():
                if parameter.dim() == 2:
                    deep = name.endswith(("out.weight", "down.weight"))
                    nn.init.normal_(parameter, std=0.02 / math.sqrt(2 * layers) if deep else 0.02)

        def forward(self, tokens: Any, targets: Any) -> Any:
            x = self.tokens(tokens) + self.positions(torch.arange(context))
            for block in self.blocks:
                x = block(x)
            scores = self.head(self.norm(x))
            return functional.cross_entropy(scores.view(-1, vocabulary), targets.view(-1))

    torch.manual_seed(0)
    model = Transformer()
    text = torch.randint(vocabulary, (batch, context + 1))
    return model, text[:, :-1].contiguous(), text[:, 1:].contiguous()


def gpt(engine: Engine, **sizes: int) -> Step:
    """A small GPT: AdamW (PyTorch's fused one, its fastest)."""
    model, tokens, targets = gpt_parts(engine.module, **sizes)
    optimizer = engine.module.optim.AdamW(model.parameters(), fused=True, **GPT)
    return trained(engine, lambda tokens, targets: model(tokens, targets), optimizer, tokens, targets)
