"""Gradients of a layer's parameter or input are the same, of both orders, where it alone requires them."""

import numpy as np
import pytest

import glassgrad as torch
from glassgrad import nn


def f(*shape):
    return torch.randn(*shape, dtype=torch.float64)


class Packed(nn.Module):
    """A recurrent layer over sequences of several lengths."""

    def __init__(self):
        super().__init__()
        self.layer = nn.LSTM(3, 4, 2, bidirectional=True)

    def forward(self, x):
        return self.layer(nn.utils.rnn.pack_padded_sequence(x, [4, 2, 1]))[0].data


LAYERS = {
    "LSTM": lambda: (nn.LSTM(3, 4, 2, bidirectional=True), f(4, 2, 3)),
    "LSTM with states": lambda: (nn.LSTM(3, 4, proj_size=2), f(4, 2, 3), (f(1, 2, 2), f(1, 2, 4))),
    "GRU": lambda: (nn.GRU(3, 4, 2), f(4, 2, 3), f(2, 2, 4)),
    "RNN": lambda: (nn.RNN(3, 4, nonlinearity="relu", bias=False), f(4, 3)),
    "packed": lambda: (Packed(), f(4, 3, 3)),
    "LSTMCell": lambda: (nn.LSTMCell(3, 4), f(2, 3), (f(2, 4), f(2, 4))),
    "GRUCell": lambda: (nn.GRUCell(3, 4), f(2, 3), f(2, 4)),
    "attention": lambda: (nn.MultiheadAttention(4, 2, add_bias_kv=True), f(3, 2, 4), f(5, 2, 4), f(5, 2, 4)),
    "attention of others": lambda: (nn.MultiheadAttention(4, 2, kdim=3, vdim=5), f(3, 4), f(5, 3), f(5, 5)),
    "decoder": lambda: (nn.TransformerDecoderLayer(4, 2, 6, dropout=0.0), f(3, 2, 4), f(4, 2, 4)),
    "Bilinear": lambda: (nn.Bilinear(3, 4, 5), f(2, 3), f(2, 4)),
    "LayerNorm": lambda: (nn.LayerNorm(4), f(3, 4)),
    "GroupNorm": lambda: (nn.GroupNorm(2, 4), f(3, 4, 5)),
    "BatchNorm": lambda: (nn.BatchNorm2d(3), f(4, 3, 2, 2)),
    "BatchNorm, evaluated": lambda: (nn.BatchNorm1d(3).eval(), f(4, 3)),
    "InstanceNorm": lambda: (nn.InstanceNorm2d(3, affine=True), f(4, 3, 2, 3)),
    "RMSNorm": lambda: (nn.RMSNorm(4), f(3, 4)),
    "Conv2d": lambda: (nn.Conv2d(2, 4, 3, padding=1, stride=2, groups=2), f(2, 2, 6, 5)),
    "ConvTranspose2d": lambda: (nn.ConvTranspose2d(2, 4, 3, stride=2), f(2, 2, 3, 4)),
    "Linear": lambda: (nn.Linear(3, 4), f(2, 3)),
    "PReLU": lambda: (nn.PReLU(3), f(2, 3, 4)),
    "weight_norm": lambda: (nn.utils.parametrizations.weight_norm(nn.Linear(3, 4)), f(2, 3)),
    "orthogonal": lambda: (nn.utils.parametrizations.orthogonal(nn.Linear(3, 3)), f(2, 3)),
    "several": lambda: (nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Linear(4, 2)), f(5, 3)),
    "EmbeddingBag": lambda: (
        nn.EmbeddingBag(6, 3, mode="sum"), torch.tensor([[0, 1], [3, 5]]), None, f(2, 2)
    ),
}  # fmt: skip


def flat(value):
    """The floating tensors of nested arguments or results."""
    if isinstance(value, (tuple, list)):
        return [piece for part in value for piece in flat(part)]
    return [value] if isinstance(value, torch.Tensor) and value.is_floating_point() else []


def gradients(name, alone, how):
    """How many leaves there are, and the gradients of those that require them: of all, or of the one at a place."""
    torch.manual_seed(5)
    layer, *inputs = LAYERS[name]()
    leaves = [*layer.double().parameters(), *flat(inputs)]
    for place, leaf in enumerate(leaves):
        leaf.requires_grad_(alone in (None, place))
    asked = leaves if alone is None else leaves[alone : alone + 1]
    results = [result for result in flat(layer(*inputs)) if result.requires_grad]
    weights = [torch.arange(1.0, result.numel() + 1).reshape(result.shape) for result in results]
    loss = sum((weight * result * result).sum() for weight, result in zip(weights, results, strict=True))
    if how == "backward":
        loss.backward()
        return len(leaves), [leaf.grad for leaf in asked]
    firsts = torch.autograd.grad(loss, asked, create_graph=True, allow_unused=True)
    weighted = [None if first is None or not first.requires_grad else (first * first).sum() for first in firsts]
    return len(leaves), [
        None if first is None else torch.autograd.grad(first, leaf, retain_graph=True, allow_unused=True)[0]
        for first, leaf in zip(weighted, asked, strict=True)
    ]


@pytest.mark.parametrize("how", ["backward", "second order"])
@pytest.mark.parametrize("name", LAYERS)
def test_one_leaf_alone_gets_the_same(name, how):
    count, together = gradients(name, None, how)
    assert any(gradient is not None for gradient in together)
    for place in range(count):
        (alone,) = gradients(name, place, how)[1]
        one, other = (np.zeros(()) if g is None else g.detach().numpy() for g in (alone, together[place]))
        assert np.allclose(one, other, rtol=1e-9, atol=1e-9), place
