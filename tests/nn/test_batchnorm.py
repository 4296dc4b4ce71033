"""Batch and instance normalisation layers: values, gradients, running statistics, old checkpoints, refusals."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import glassgrad
from glassgrad.families.batchnorm.rows import native_batch_norm
from tests.agreement import check
from tests.counts import generated

pytestmark = pytest.mark.torch

LAYERS = [
    ("BatchNorm1d", {}, (5, 3)),
    ("BatchNorm1d", {"momentum": None}, (5, 3, 4)),
    ("BatchNorm1d", {"affine": False, "eps": 0.1}, (5, 3, 4)),
    ("BatchNorm1d", {"bias": False}, (5, 3)),
    ("BatchNorm2d", {}, (5, 3, 4, 2)),
    ("BatchNorm2d", {"track_running_stats": False}, (2, 3, 4, 9)),
    ("BatchNorm2d", {"momentum": 1.0}, (2, 3, 8, 9)),
    ("BatchNorm3d", {"momentum": 0.3}, (2, 3, 2, 3, 2)),
    ("SyncBatchNorm", {}, (5, 3)),
    ("SyncBatchNorm", {"momentum": None}, (5, 3, 2, 2)),
    ("InstanceNorm1d", {}, (2, 3, 5)),
    ("InstanceNorm1d", {"affine": True}, (3, 5)),
    ("InstanceNorm2d", {"affine": True, "track_running_stats": True}, (2, 3, 5, 4)),
    ("InstanceNorm2d", {"momentum": None, "track_running_stats": True}, (3, 5, 4)),
    ("InstanceNorm3d", {"affine": True, "bias": False}, (2, 3, 2, 3, 2)),
]


def trained(torch, layer, shape, show):
    """Three steps in training, one in evaluation, all shown."""
    torch.manual_seed(1)
    for parameter in layer.parameters():
        torch.nn.init.uniform_(parameter, 0.5, 1.5)
    show("repr", repr(layer))
    for step in range(3):
        x = (torch.randn(*shape, dtype=torch.float64) * (step + 1) + step).requires_grad_()
        y = layer(x)
        show("y", y)
        (y * torch.arange(1.0, y.numel() + 1, dtype=x.dtype).reshape(y.shape)).sum().backward()
        show("x.grad", x.grad)
        show("state", dict(layer.state_dict()))
    show("gradients", {key: p.grad for key, p in layer.named_parameters()})
    layer.eval()
    x = torch.randn(*shape, dtype=torch.float64, requires_grad=True)
    y = layer(x)
    show("y in evaluation", y)
    (y**2).sum().backward()
    show("x.grad in evaluation", x.grad)
    show("state after evaluation", dict(layer.state_dict()))


@pytest.mark.parametrize(("name", "kwargs", "shape"), LAYERS, ids=str)
def test_layer(name, kwargs, shape):
    def program(torch, show):
        trained(torch, getattr(torch.nn, name)(3, dtype=torch.float64, **kwargs), shape, show)

    check(program)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize(("name", "shape"), [("BatchNorm2d", (4, 3, 5, 5)), ("InstanceNorm2d", (4, 3, 5, 5))])
def test_in_each_precision(dtype, name, shape):
    def program(torch, show):
        torch.manual_seed(0)
        layer = getattr(torch.nn, name)(3, affine=True, dtype=getattr(torch, dtype), track_running_stats=True)
        x = torch.randn(*shape).to(getattr(torch, dtype))
        show("y", layer(x))
        show("state", dict(layer.state_dict()))
        show("eval", layer.eval()(x))

    check(program)


def test_halves_among_float32_parameters():
    def program(torch, show):
        torch.manual_seed(0)
        layer = torch.nn.BatchNorm1d(3)
        for dtype in (torch.float16, torch.bfloat16):
            x = torch.randn(6, 3).to(dtype).requires_grad_()
            y = layer(x)
            show("y", y)
            y.float().pow(2).sum().backward()
            show("kinds", [layer.weight.grad.dtype, x.grad.dtype, layer.running_var.dtype])
        show("state", dict(layer.state_dict()))

    check(program)


def test_second_derivatives():
    def program(torch, show):
        for shape, training in (((4, 3), True), ((2, 3, 4), True), ((4, 3), False)):
            torch.manual_seed(0)
            x = torch.randn(*shape, dtype=torch.float64, requires_grad=True)
            w = torch.rand(3, dtype=torch.float64, requires_grad=True)
            b = torch.rand(3, dtype=torch.float64, requires_grad=True)
            mean, var = torch.zeros(3, dtype=torch.float64), torch.ones(3, dtype=torch.float64)
            y = torch.nn.functional.batch_norm(x, mean, var, w, b, training)
            first = torch.autograd.grad((y**3).sum(), (x, w, b), create_graph=True)
            show("first", first)
            show("second", torch.autograd.grad(sum((g**2).sum() for g in first), (x, w, b)))

    check(program)


def test_lazy_layers_learn_their_channels():
    def program(torch, show):
        for name, shape in (
            ("LazyBatchNorm1d", (5, 3)), ("LazyBatchNorm2d", (5, 3, 2, 2)), ("LazyBatchNorm3d", (5, 3, 2, 1, 2)),
            ("LazyInstanceNorm1d", (2, 3, 4)), ("LazyInstanceNorm2d", (2, 3, 4, 2)),
            ("LazyInstanceNorm3d", (2, 3, 4, 1, 2)),
        ):  # fmt: skip
            for kwargs in ({}, {"affine": False}, {"track_running_stats": False}, {"affine": True, "bias": False}):
                torch.manual_seed(0)
                layer = getattr(torch.nn, name)(**kwargs)
                show("before", repr(layer))
                show("state before", {key: repr(value) for key, value in layer.state_dict().items()})
                show("y", layer(torch.randn(*shape)))
                show("after", repr(layer))
                show("state", dict(layer.state_dict()))

    check(program)


def test_checkpoints_of_earlier_versions():
    def program(torch, show):
        old = torch.nn.BatchNorm1d(2).state_dict()
        del old["num_batches_tracked"]
        layer = torch.nn.BatchNorm1d(2)
        show.error(lambda: layer.load_state_dict(old))
        old._metadata[""]["version"] = 1
        layer.num_batches_tracked.fill_(7)
        show("keys", str(layer.load_state_dict(old)))
        show("kept", layer.num_batches_tracked)
        show("meta", str(torch.nn.BatchNorm1d(2, device="meta").state_dict()["num_batches_tracked"].device))
        plain = dict(torch.nn.BatchNorm1d(2).state_dict())
        for kwargs in ({}, {"track_running_stats": True}, {"affine": True}):
            show.error(lambda kwargs=kwargs: torch.nn.InstanceNorm1d(2, **kwargs).load_state_dict(dict(plain)))

    check(program)


def test_converting_to_sync_batch_norm():
    def program(torch, show):
        torch.manual_seed(0)
        nn = torch.nn
        net = nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3, momentum=0.3), nn.Sequential(nn.BatchNorm1d(3)))
        weight = net[1].weight
        net(torch.randn(5, 4))
        net[1].eval()
        made = nn.SyncBatchNorm.convert_sync_batchnorm(net)
        show("repr", repr(made))
        show("same", [made is net, made[1].weight is weight, made[1].training])
        show("y", made(torch.randn(5, 4)))
        show("state", dict(made.state_dict()))

    check(program)


def test_refusals():
    def program(torch, show):
        nn, F = torch.nn, torch.nn.functional
        mean, var = torch.zeros(3), torch.ones(3)
        x = torch.ones(2, 3, 4)
        show.error(lambda: nn.BatchNorm1d(3)(torch.ones(3)))
        show.error(lambda: nn.BatchNorm2d(3)(x))
        show.error(lambda: nn.BatchNorm3d(3)(x))
        show.error(lambda: nn.SyncBatchNorm(3)(torch.ones(3)))
        show.error(lambda: nn.SyncBatchNorm(3)(torch.ones(3, 0)))
        show.error(lambda: nn.InstanceNorm1d(3)(torch.ones(1, 2, 3, 4)))
        show.error(lambda: nn.InstanceNorm2d(3)(torch.ones(2, 3)))
        show.error(lambda: nn.InstanceNorm3d(3)(x))
        show.error(lambda: nn.InstanceNorm1d(4, affine=True)(x))
        show.warnings(lambda: nn.InstanceNorm1d(4)(x))
        show.error(lambda: nn.BatchNorm1d(3)(torch.ones(1, 3)))
        show.error(lambda: nn.BatchNorm1d(4)(x))
        show.error(lambda: nn.BatchNorm1d(3)(x.double()))
        show.error(lambda: nn.BatchNorm1d(3).half()(x))
        show.error(lambda: nn.BatchNorm1d(3, affine=False)(x.long()))
        show.error(lambda: F.batch_norm(x, mean, var.double(), training=True))
        show.error(lambda: F.batch_norm(x, mean, var, eps=-1.0))
        show.error(lambda: F.batch_norm(x, mean, var, training=True, eps=0.0))
        show.error(lambda: F.batch_norm(x, None, None))
        show.error(lambda: F.batch_norm(x, mean, None, training=True))
        show.error(lambda: F.batch_norm(x, mean.clone().requires_grad_(), var, training=True))
        show.error(lambda: F.batch_norm(x, None, None, torch.ones(4), training=True))
        show.error(lambda: F.batch_norm(torch.ones(4), None, None, training=True))
        show.error(lambda: F.instance_norm(x, mean, var, torch.ones(4)))
        show.error(lambda: F.instance_norm(x, None, None, use_input_stats=False))
        show.error(lambda: F.instance_norm(x[:, :, :1]))
        show("no samples", F.batch_norm(x[:0], mean, var, training=True))
        show("untouched", [mean, var])

    check(program)


@generated(40)
@example(shape=(4, 1, 2), mean=1e3, training=True)
@given(
    shape=st.tuples(st.integers(1, 6), st.integers(1, 4), st.integers(1, 70)),
    mean=st.sampled_from([0.0, 0.5, 3.0, 1e3]),
    training=st.booleans(),
)
def test_float32_is_as_exact_as_float32_can_be(shape, mean, training):
    """Both ways through the kernel, with centring and without, against float64."""
    if shape[0] * shape[2] == 1:
        shape = (2, *shape[1:])
    rng = np.random.default_rng(sum(shape))
    x = (rng.standard_normal(shape) + mean).astype("f4")
    weight, bias = rng.random(shape[1]).astype("f4"), rng.random(shape[1]).astype("f4")
    given_mean, var = np.full(shape[1], mean, "f4"), np.ones(shape[1], "f4")
    kernel = native_batch_norm.row.kernel
    short = kernel(x, weight, bias, given_mean, var, training, 1e-5)
    exact = kernel(*[a.astype("f8") for a in (x, weight, bias, given_mean, var)], training, 1e-5)
    for found, wanted, scale in zip(short, exact, (max(mean, 1), max(mean, 1), 1, 1), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=2e-6 * max(scale, 1), atol=4e-7 * scale)


def test_channels_and_blocks_of_every_kind():
    """Large enough for several blocks, and non-contiguous; checked by the definition."""
    rng = np.random.default_rng(0)
    for shape in ((40, 16, 12, 12), (2, 3, 300, 300), (70000, 3), (9, 512, 7)):
        a = rng.standard_normal(shape).astype("f4")
        for array in (a, np.ascontiguousarray(np.moveaxis(a, 1, -1)).swapaxes(1, -1)):
            x = glassgrad.from_numpy(array).requires_grad_()
            channels = array.shape[1]
            g = rng.standard_normal(array.shape).astype("f4")
            y = glassgrad.nn.functional.batch_norm(x, None, None, training=True)
            y.backward(glassgrad.from_numpy(g))
            dims = (0, *range(2, array.ndim))
            exact = array.astype("f8")
            off = exact - exact.mean(dims, keepdims=True)
            rstd = 1 / np.sqrt((off**2).mean(dims, keepdims=True) + 1e-5)
            hat = off * rstd
            back = (g - g.mean(dims, keepdims=True, dtype="f8") - hat * (g * hat).mean(dims, keepdims=True)) * rstd
            assert channels == rstd.size
            np.testing.assert_allclose(y.detach().numpy(), hat, atol=3e-6)
            np.testing.assert_allclose(x.grad.numpy(), back, atol=3e-6)
