"""Gradients of each sample from one walk, beside a loop over samples and ``vmap(grad)``; mixed samples are refused."""

from __future__ import annotations

import os
import random
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import glassgrad as torch
from glassgrad import nn
from glassgrad.func import functional_call, grad, per_sample_backward, per_sample_norms, vmap

F = nn.functional
N = 4
LABELS = [0, 1, 2, 0]


@pytest.fixture(autouse=True)
def _double() -> Iterator[None]:
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    torch.manual_seed(0)
    yield
    torch.set_default_dtype(before)


class Function(nn.Module):
    """Modules, and how they are called."""

    def __init__(self, forward: Callable[..., Any], **parts: Any) -> None:
        super().__init__()
        self.function = forward
        for name, part in parts.items():
            setattr(self, name, part)

    def forward(self, x: Any) -> Any:
        return self.function(self, x)


def recurrent(kind: Any, batch_first: bool, **settings: Any) -> Any:
    """A recurrent layer whose last state is read."""
    layer = kind(8, 5, batch_first=batch_first, **settings)
    width = 10 if settings.get("bidirectional") else 5
    return Function(
        lambda m, x: m.head(m.layer(x)[0][:, -1] if batch_first else m.layer(x)[0][-1]),
        layer=layer,
        head=nn.Linear(width, 3),
    )


def transformer(batch_first: bool) -> Any:
    """An encoder layer, averaged over positions."""
    layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=batch_first)
    return Function(lambda m, x: m.head(m.layer(x).mean(1 if batch_first else 0)), layer=layer, head=nn.Linear(8, 3))


def images() -> Any:
    return torch.randn(N, 3, 8, 8)


def series() -> Any:
    return torch.randn(N, 6, 8)


def rows() -> Any:
    return torch.randn(N, 8)


def words() -> Any:
    return torch.randint(0, 10, (N, N))  # as many words as samples


#: name -> (network, samples, the dimension along which these lie)
NETWORKS: dict[str, tuple[Callable[[], Any], Callable[[], Any], int]] = {
    "mlp": (lambda: nn.Sequential(nn.Linear(8, 5), nn.ReLU(), nn.LayerNorm(5), nn.GELU(), nn.Linear(5, 3)), rows, 0),
    "cnn": (
        lambda: nn.Sequential(
            nn.Conv2d(3, 4, 3, padding=1, stride=2), nn.GroupNorm(2, 4), nn.ReLU(), nn.MaxPool2d(2),
            nn.InstanceNorm2d(4, affine=True), nn.ConvTranspose2d(4, 2, 2), nn.Flatten(), nn.Linear(18, 3),
        ), images, 0,
    ),
    "groups": (
        lambda: nn.Sequential(nn.Conv2d(3, 6, 3, groups=3, bias=False), nn.Flatten(), nn.Linear(216, 3)), images, 0,
    ),
    "lstm": (lambda: recurrent(nn.LSTM, True), series, 0),
    "lstm, time first": (lambda: recurrent(nn.LSTM, False), lambda: series().transpose(0, 1).contiguous(), 1),
    "two lstms, both ways": (lambda: recurrent(nn.LSTM, True, num_layers=2, bidirectional=True), series, 0),
    "gru": (lambda: recurrent(nn.GRU, True), series, 0),
    "rnn": (lambda: recurrent(nn.RNN, False), lambda: series().transpose(0, 1).contiguous(), 1),
    "transformer": (lambda: transformer(True), series, 0),
    "transformer, time first": (lambda: transformer(False), lambda: series().transpose(0, 1).contiguous(), 1),
    "embedding": (
        lambda: Function(
            lambda m, x: m.head((m.table(x) + m.positions).mean(1)), table=nn.Embedding(10, 4, padding_idx=1),
            positions=nn.Parameter(torch.randn(N, 4)), head=nn.Linear(4, 3),
        ), words, 0,
    ),
    "positions by number": (
        lambda: Function(
            lambda m, x: m.head((m.table(x) + m.positions(torch.arange(N))).mean(1)), table=nn.Embedding(10, 4),
            positions=nn.Embedding(9, 4), head=nn.Linear(4, 3),
        ), words, 0,
    ),
    "bags": (
        lambda: Function(
            lambda m, x: m.head(m.bag(x), m.bag(x)), bag=nn.EmbeddingBag(10, 4), head=nn.Bilinear(4, 4, 3)
        ), words, 0,
    ),
    "normed weights": (
        lambda: nn.Sequential(nn.utils.parametrizations.weight_norm(nn.Linear(8, 3)), nn.RMSNorm(3)), rows, 0,
    ),
    "shared": (
        lambda: Function(
            lambda m, x: m.conv(m.layer(m.layer(x).tanh()).unsqueeze(1)).flatten(1)[:, :3],
            layer=nn.Linear(8, 8), conv=nn.Conv1d(1, 2, 3),
        ), rows, 0,
    ),
    "running statistics": (
        lambda: nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.Flatten(), nn.Linear(144, 3)).eval(), images, 0,
    ),
    "products of samples": (  # attention by hand, heads beside samples
        lambda: Function(
            lambda m, x: m.head(torch.bmm(torch.softmax(torch.bmm(m.q(x), m.k(x).mT), -1), x).sum(1)),
            q=nn.Linear(8, 4), k=nn.Linear(8, 4), head=nn.Linear(8, 3),
        ), series, 0,
    ),
}  # fmt: skip


@pytest.mark.parametrize("reduction", ["mean", "sum"])
@pytest.mark.parametrize("name", NETWORKS)
def test_gradients_are_those_of_a_loop(name: str, reduction: str) -> None:
    make, samples, dim = NETWORKS[name]
    net, x, labels = make(), samples(), torch.tensor(LABELS)
    loss = F.cross_entropy(net(x), labels, reduction=reduction)
    per_sample_backward(loss, N, reduction=reduction)
    norms = per_sample_norms(loss, N, reduction=reduction)
    parameters = [p for p in net.parameters() if hasattr(p, "grad_sample")]
    for index in range(N):
        alone = F.cross_entropy(net(x.narrow(dim, index, 1)), labels[index : index + 1], reduction=reduction)
        for parameter, gradient in zip(parameters, torch.autograd.grad(alone, parameters), strict=True):
            assert torch.allclose(parameter.grad_sample[index], gradient, rtol=1e-9, atol=1e-12)
    loss.backward()
    squares: Any = 0
    for parameter in parameters:
        total = parameter.grad_sample.mean(0) if reduction == "mean" else parameter.grad_sample.sum(0)
        assert torch.allclose(total, parameter.grad, rtol=1e-9, atol=1e-12)
        squares = squares + parameter.grad_sample.flatten(1).square().sum(1)
    assert torch.allclose(norms, squares.sqrt(), rtol=1e-9)


@pytest.mark.parametrize("name", ["mlp", "groups", "embedding"])
def test_gradients_are_those_of_vmap(name: str) -> None:
    make, samples, _ = NETWORKS[name]
    net, x, labels = make(), samples(), torch.tensor(LABELS)
    per_sample_backward(F.cross_entropy(net(x), labels), N)

    def loss(parameters: Any, sample: Any, label: Any) -> Any:
        return F.cross_entropy(functional_call(net, parameters, (sample.unsqueeze(0),)), label.unsqueeze(0))

    parameters = {key: value.detach() for key, value in net.named_parameters()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = vmap(grad(loss), in_dims=(None, 0, 0))(parameters, x, labels)
    for key, parameter in net.named_parameters():
        assert torch.allclose(parameter.grad_sample, expected[key], rtol=1e-9, atol=1e-12)


def test_a_loss_of_table_rows() -> None:
    table, chosen = nn.Embedding(5, 3), torch.tensor([0, 2, 2, 4])
    per_sample_backward(table(chosen).square().sum(1).mean(), N)
    for index, row in enumerate(chosen.tolist()):
        assert torch.allclose(table.weight.grad_sample[index, row], 2 * table.weight[row])
        assert table.weight.grad_sample[index].count_nonzero() == 3


def test_several_elements_of_a_sample_lie_beside_each_other() -> None:
    net, x, labels = nn.Linear(8, 3), series(), torch.randint(0, 3, (N, 6))
    per_sample_backward(F.cross_entropy(net(x).reshape(-1, 3), labels.reshape(-1)), N)
    for index in range(N):
        loss = F.cross_entropy(net(x[index]), labels[index])
        assert torch.allclose(net.weight.grad_sample[index], torch.autograd.grad(loss, net.weight)[0])


def test_plain_tensors_may_be_the_parameters_and_a_second_call_adds() -> None:
    x, w = rows(), torch.randn(8, 3, requires_grad=True)
    loss = (x @ w).square().mean()
    per_sample_backward(loss, N, parameters=[w])
    first = w.grad_sample
    assert torch.allclose(first.mean(0), torch.autograd.grad(loss, w, retain_graph=True)[0])
    per_sample_backward(loss, N, parameters=[w])
    assert torch.equal(w.grad_sample, 2 * first)
    assert w.grad is None


def test_gradients_that_cancel_are_no_sign_that_nothing_is_mixed() -> None:
    x = torch.ones(N, 1)
    layer = nn.Linear(1, 1)
    signs = torch.tensor([[1.0], [-1.0], [-1.0], [1.0]])
    y = layer(x)
    with pytest.raises(RuntimeError, match="mixes samples"):
        per_sample_backward((signs * (y + y.mean(0))).sum(), N)


def centred(m: Any, x: Any) -> Any:
    y = m.a(x)
    return y - y.mean(0)


MIXED: dict[str, tuple[Callable[[], Any], Callable[..., Any], str]] = {
    "batch norm": (
        lambda: nn.Sequential(nn.Linear(8, 3), nn.BatchNorm1d(3)), F.cross_entropy, "NativeBatchNormBackward0",
    ),
    "mean of table rows": (
        lambda: Function(
            lambda m, x: m.a(x) + m.e((x[:, 0] > 0).long()).mean(0), a=nn.Linear(8, 3), e=nn.Embedding(2, 3)
        ),
        F.cross_entropy, "AddBackward0",
    ),
    "batch norm first": (lambda: nn.BatchNorm1d(8), F.cross_entropy, "NativeBatchNormBackward0"),
    "centred": (lambda: Function(centred, a=nn.Linear(8, 3)), F.cross_entropy, "SubBackward0"),
    "gate of a mean": (
        lambda: Function(lambda m, x: m.a(x) * m.b(x.mean(0)).sigmoid(), a=nn.Linear(8, 3), b=nn.Linear(8, 3)),
        F.cross_entropy, "MulBackward0",
    ),
    "root of the loss": (lambda: nn.Linear(8, 3), lambda o, t: F.cross_entropy(o, t).sqrt(), "SqrtBackward0"),
    "norm": (lambda: nn.Linear(8, 3), lambda o, t: o.norm(), "LinalgVectorNormBackward0"),
    "sums along samples": (lambda: nn.Linear(8, 3), lambda o, t: o.logsumexp(0).sum(), "SumBackward0"),
    "product of losses": (lambda: nn.Linear(8, 3), lambda o, t: o.sum() * o.mean(), "MulBackward0"),
}  # fmt: skip


@pytest.mark.parametrize("name", MIXED)
def test_what_mixes_samples_is_refused_by_name_and_line(name: str) -> None:
    make, loss_of, node = MIXED[name]
    net = make()
    with warnings.catch_warnings(), torch.autograd.set_detect_anomaly(True):
        warnings.simplefilter("ignore")
        loss = loss_of(net(rows()), torch.tensor(LABELS))
    with pytest.raises(RuntimeError, match=f"per-sample gradients: {node}") as caught:
        per_sample_backward(loss, N)
    assert "line" in str(caught.value)
    assert all(not hasattr(p, "grad_sample") for p in net.parameters())


def test_a_penalty_of_weights_is_refused() -> None:
    layer = nn.Linear(8, N)
    for penalty in (layer.weight.sum(), layer.weight.square().sum(), layer.weight.norm()):
        with pytest.raises(RuntimeError, match="is of parameters alone"):
            per_sample_backward(layer(rows()).square().mean() + 0.1 * penalty, N)


def test_wrong_arguments() -> None:
    layer = nn.Linear(8, 3)
    with pytest.raises(RuntimeError, match="grad can be implicitly created only for scalar outputs"):
        per_sample_backward(layer(rows()), N)
    with pytest.raises(RuntimeError, match="does not require grad"):
        per_sample_backward(rows().sum(), N)
    with pytest.raises(ValueError, match="reduction"):
        per_sample_backward(layer(rows()).sum(), N, reduction="max")
    with pytest.raises(ValueError, match="batch_size"):
        per_sample_backward(layer(rows()).sum(), 0)
    with pytest.raises(RuntimeError, match="has not 5 samples"):
        per_sample_backward(layer(rows()).sum(), 5)
    loss = layer(rows()).sum()
    loss.backward()
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        per_sample_backward(loss, N)


def random_network(chances: random.Random, length: int, width: int) -> tuple[Any, list[Any]]:
    """A network of samples (length, width), of parts that mix none of them, and its parameters."""
    factor, positions = nn.Parameter(torch.randn(width)), nn.Parameter(torch.randn(length, width))
    weight = nn.Parameter(torch.randn(width, length, width))
    linear, norm, groups = nn.Linear(width, width), nn.LayerNorm(width), nn.GroupNorm(2, width)
    conv, gru, head = nn.Conv1d(width, width, 3, padding=1), nn.GRU(width, width, batch_first=True), nn.Linear(width, 2)
    parts: list[Callable[[Any], Any]] = [
        linear, norm, F.gelu,
        lambda x: x + positions,
        lambda x: x * factor.exp(),
        lambda x: x.cumsum(1),
        lambda x: x.transpose(1, 2).reshape(x.shape),
        lambda x: x.softmax(1),
        lambda x: x.flip(1).roll(1, 2),
        lambda x: F.scaled_dot_product_attention(x, x, x),
        lambda x: conv(x.transpose(1, 2)).transpose(1, 2),
        lambda x: groups(x.transpose(1, 2)).transpose(1, 2),
        lambda x: gru(x)[0],
        lambda x: F.pad(x, (1, 0))[..., :-1],
        lambda x: x / (x.norm(dim=(1, 2), keepdim=True) + 1),
        lambda x: torch.einsum("bth,hsk->bsk", x, weight),
        lambda x: torch.cat([x[:, :1], x[:, 1:] * 2], 1),
        lambda x: x.sort(1)[0],
        lambda x: x - x.max(1, keepdim=True)[0],
    ]  # fmt: skip
    chosen = [chances.choice(parts) for _ in range(chances.randint(1, 5))]

    def net(x: Any) -> Any:
        for part in chosen:
            x = part(x)
        return head(x).tanh()

    modules = nn.ModuleList([linear, norm, groups, conv, gru, head])
    return net, [*modules.parameters(), factor, positions, weight]


@pytest.mark.parametrize("seed", range(int(os.environ.get("GLASSGRAD_RANDOM_NETWORKS", "15"))))
def test_random_networks(seed: int) -> None:
    chances = random.Random(seed)
    torch.manual_seed(seed)
    size, length, width = chances.choice([1, 2, 3, 4, 6]), chances.choice([2, 3, 4, 6]), chances.choice([4, 6])
    net, parameters = random_network(chances, length, width)
    x = torch.randn(size, length, width)
    per_sample_backward(net(x).square().mean(), size, parameters=parameters)
    used = [parameter for parameter in parameters if hasattr(parameter, "grad_sample")]
    for index in range(size):
        gradients = torch.autograd.grad(net(x[index : index + 1]).square().mean(), used)
        for parameter, gradient in zip(used, gradients, strict=True):
            assert torch.allclose(parameter.grad_sample[index], gradient, rtol=1e-8, atol=1e-11)
    norms = per_sample_norms(net(x).square().mean(), size, parameters)
    squares: Any = sum(parameter.grad_sample.flatten(1).square().sum(1) for parameter in used)
    assert torch.allclose(norms, squares.sqrt(), rtol=1e-8)
