"""A small GPT: a decoder-only transformer that learns to write, character by character."""

import math
from dataclasses import dataclass
from pathlib import Path

import torch
import torch.nn as nn
from options import RANKS, Losses, parse, shared
from texts import PROSE
from torch.nn import functional as F


@dataclass
class Config:
    """The sizes of the model."""

    vocabulary: int
    context: int = 32
    layers: int = 2
    heads: int = 4
    width: int = 64
    dropout: float = 0.1


class Attention(nn.Module):
    """Several heads of causal self-attention."""

    def __init__(self, config):
        super().__init__()
        self.heads = config.heads
        self.qkv = nn.Linear(config.width, 3 * config.width, bias=False)
        self.out = nn.Linear(config.width, config.width, bias=False)
        self.drop = nn.Dropout(config.dropout)

    def forward(self, x):
        """(batch, time, width) to the same."""
        batch, time, width = x.shape
        q, k, v = self.qkv(x).split(width, dim=2)
        q, k, v = (part.view(batch, time, self.heads, width // self.heads).transpose(1, 2) for part in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.drop(self.out(y.transpose(1, 2).contiguous().view(batch, time, width)))


class Block(nn.Module):
    """Attention, then a perceptron, each added to what came in."""

    def __init__(self, config):
        super().__init__()
        self.norm1 = nn.LayerNorm(config.width)
        self.attention = Attention(config)
        self.norm2 = nn.LayerNorm(config.width)
        self.mlp = nn.Sequential(
            nn.Linear(config.width, 4 * config.width),
            nn.GELU(approximate="tanh"),
            nn.Linear(4 * config.width, config.width),
            nn.Dropout(config.dropout),
        )

    def forward(self, x):
        """(batch, time, width) to the same."""
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class GPT(nn.Module):
    """Token and position embeddings, blocks, and a head that shares its weight with the token embedding."""

    def __init__(self, config):
        super().__init__()
        self.config = config
        self.transformer = nn.ModuleDict(
            {
                "tokens": nn.Embedding(config.vocabulary, config.width),
                "places": nn.Embedding(config.context, config.width),
                "drop": nn.Dropout(config.dropout),
                "blocks": nn.ModuleList([Block(config) for _ in range(config.layers)]),
                "norm": nn.LayerNorm(config.width),
            }
        )
        self.head = nn.Linear(config.width, config.vocabulary, bias=False)
        self.transformer.tokens.weight = self.head.weight
        self.apply(self._initialise)
        for name, parameter in self.named_parameters():
            if name.endswith("out.weight"):
                nn.init.normal_(parameter, mean=0.0, std=0.02 / math.sqrt(2 * config.layers))

    def _initialise(self, module):
        if isinstance(module, (nn.Linear, nn.Embedding)):
            nn.init.normal_(module.weight, mean=0.0, std=0.02)
        if isinstance(module, nn.Linear) and module.bias is not None:
            nn.init.zeros_(module.bias)

    def forward(self, tokens, targets=None):
        """Scores of the next token at each place, and the loss where ``targets`` are known."""
        places = torch.arange(tokens.size(1), dtype=torch.long, device=tokens.device)
        x = self.transformer.drop(self.transformer.tokens(tokens) + self.transformer.places(places))
        for block in self.transformer.blocks:
            x = block(x)
        scores = self.head(self.transformer.norm(x))
        if targets is None:
            return scores, None
        return scores, F.cross_entropy(scores.view(-1, scores.size(-1)), targets.view(-1), ignore_index=-1)

    @torch.no_grad()
    def generate(self, tokens, count, temperature=0.8, top_k=10):
        """``count`` more tokens, drawn one after the other."""
        for _ in range(count):
            scores, _ = self(tokens[:, -self.config.context :])
            scores = scores[:, -1, :] / temperature
            kept, _ = torch.topk(scores, min(top_k, scores.size(-1)))
            scores[scores < kept[:, [-1]]] = -float("inf")
            tokens = torch.cat((tokens, torch.multinomial(F.softmax(scores, dim=-1), num_samples=1)), dim=1)
        return tokens


given = parse(
    __doc__, steps=300, distributed=RANKS, text=("", "a text file; without one, a page that comes with the example")
)
text = Path(given.text).read_text(encoding="utf-8") if given.text else PROSE
letters = sorted(set(text))
number = {letter: index for index, letter in enumerate(letters)}
data = torch.tensor([number[letter] for letter in text], dtype=torch.long)

config = Config(vocabulary=len(letters))
model = GPT(config)
print(f"{sum(p.numel() for p in model.parameters()):,} parameters, {len(letters)} letters, {len(data):,} characters")
decayed = [p for p in model.parameters() if p.dim() >= 2]
others = [p for p in model.parameters() if p.dim() < 2]
optimizer = torch.optim.AdamW(
    [{"params": decayed, "weight_decay": 0.1}, {"params": others, "weight_decay": 0.0}], lr=3e-3, betas=(0.9, 0.95)
)
schedule = torch.optim.lr_scheduler.LambdaLR(
    optimizer, lambda step: min(1.0, (step + 1) / 20) * 0.5 * (1 + math.cos(math.pi * min(step / given.steps, 1.0)))
)

trained, rank, ranks = shared(given, model)
losses = Losses(given, rank=rank, ranks=ranks)
model.train()
for _ in range(given.steps):
    starts = torch.randint(len(data) - config.context, (16,))[rank::ranks]
    x = torch.stack([data[i : i + config.context] for i in starts])
    y = torch.stack([data[i + 1 : i + 1 + config.context] for i in starts])
    _, loss = trained(x, y)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    schedule.step()
    losses.add(loss)

model.eval()
start = torch.tensor([[number["A"] if "A" in number else 0]])
if rank == 0:
    print("".join(letters[i] for i in model.generate(start, 120)[0].tolist()))
losses.write()
