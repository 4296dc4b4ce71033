"""Every padding layer beside torch: what it prints, what it computes, its gradient, and what it refuses."""

import pytest

from tests.agreement import check

pytestmark = pytest.mark.torch

SHAPES = {1: (2, 3, 5), 2: (2, 3, 5, 6), 3: (1, 2, 4, 5, 6)}
WIDTHS = {1: (2, 1), 2: (1, 2, 0, 3), 3: (1, 2, 0, 3, 2, 1)}
KINDS = ["ConstantPad", "ZeroPad", "ReflectionPad", "ReplicationPad", "CircularPad"]


@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_layer(kind, dims):
    def program(torch, show):
        value = (1.5,) if kind == "ConstantPad" else ()
        build = getattr(torch.nn, f"{kind}{dims}d")
        for widths in (1, WIDTHS[dims], list(WIDTHS[dims]), (-1, *WIDTHS[dims][1:])):
            layer = build(widths, *value)
            show("repr", repr(layer))
            torch.manual_seed(1)
            for shape in (SHAPES[dims], SHAPES[dims][1:]):
                x = torch.randn(*shape, dtype=torch.float64, requires_grad=True)
                y = layer(x)
                show("y", y.detach())
                if kind != "CircularPad":  # which torch writes piece by piece
                    show.graph("graph", y)
                (y * torch.arange(1.0, y.numel() + 1).reshape(y.shape)).sum().backward()
                show("x.grad", x.grad)
                show("evaluated", layer.eval()(x).detach())
            show("constants", sorted(layer.__constants__))

    check(program)


@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_refusals(kind, dims):
    def program(torch, show):
        value = (1.5,) if kind == "ConstantPad" else ()
        build = getattr(torch.nn, f"{kind}{dims}d")
        show.error(lambda: build(1, *value)(torch.ones(2)))
        show.error(lambda: build(1, *value)(torch.ones(*(2,) * (dims + 3))))
        show.error(lambda: build(7, *value)(torch.ones(*(3,) * (dims + 1))))
        show.error(lambda: build(-2, *value)(torch.ones(*(3,) * (dims + 1))))
        show.error(lambda: build((1.5,) * 2 * dims, *value)(torch.ones(*(3,) * (dims + 1))))

    check(program)


def test_dtypes_and_layouts():
    def program(torch, show):
        nn = torch.nn
        x = torch.arange(24.0).reshape(2, 3, 4)
        for kind in (torch.float16, torch.bfloat16, torch.int64, torch.float64):
            for layer in (nn.ConstantPad1d(1, 2), nn.ReflectionPad1d(1), nn.ReplicationPad1d(1), nn.CircularPad1d(1)):
                show(f"{kind}", layer(x.to(kind)))
        show("turned", nn.ReflectionPad1d((2, 0))(x.transpose(1, 2)))

    check(program)
