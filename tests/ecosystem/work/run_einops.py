"""einops: rearrange, reduce, repeat, einsum and its layers, in a model that learns."""

import torch
from einops import einsum, pack, rearrange, reduce, repeat, unpack
from einops.layers.torch import EinMix, Rearrange, Reduce
from shown import show, train
from torch import nn

torch.manual_seed(0)
x = torch.randn(4, 3, 8, 8, requires_grad=True)
patches = rearrange(x, "b c (h p) (w q) -> b (h w) (p q c)", p=4, q=4)
pooled = reduce(x, "b c (h 2) (w 2) -> b c h w", "max")
show("patches", patches)
show("pooled", pooled)
show("repeated", repeat(pooled, "b c h w -> b c (h 2) w").sum((2, 3)))
show("einsum", einsum(patches, patches, "b i d, b j d -> b i j"))
packed, shapes = pack([patches, patches.mean(1)], "b * d")
show("packed", [list(packed.shape), [list(t.shape) for t in unpack(packed, shapes, "b * d")]])
(patches.square().sum() + pooled.sum()).backward()
show("gradient", x.grad)

model = nn.Sequential(
    Rearrange("b c (h p) (w q) -> b (h w) (p q c)", p=4, q=4),
    EinMix("b t c -> b t d", weight_shape="c d", bias_shape="d", c=48, d=16),
    nn.GELU(),
    Reduce("b t d -> b d", "mean"),
    nn.Linear(16, 10),
)
y = torch.randint(0, 10, (4,))
show("training", train(model, lambda m: nn.functional.cross_entropy(m(x.detach()), y), steps=5))
