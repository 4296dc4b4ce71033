"""Convolution layers: what they print, what their state holds, what they compute and its gradients, under one seed."""

import pytest

from tests.agreement import check

pytestmark = pytest.mark.torch

LAYERS = {  # name -> (arguments, keywords, shape of the input)
    "Conv1d": [
        ((3, 4, 3), {}, (2, 3, 8)),
        ((3, 4, 3), {}, (3, 8)),
        ((4, 6, 2), {"stride": 2, "padding": 3, "dilation": 2, "groups": 2, "bias": False}, (2, 4, 7)),
        ((3, 2, 3), {"padding": "same"}, (2, 3, 7)),
        ((3, 2, (2,)), {"padding": "valid", "stride": (3,)}, (2, 3, 7)),
        ((3, 2, 3), {"padding": 2, "padding_mode": "reflect"}, (2, 3, 7)),
        ((3, 2, 3), {"padding": 2, "padding_mode": "replicate"}, (2, 3, 7)),
        ((3, 2, 3), {"padding": 2, "padding_mode": "circular"}, (2, 3, 7)),
        ((3, 2, 4), {"padding": "same", "padding_mode": "circular"}, (2, 3, 7)),
    ],
    "Conv2d": [
        ((3, 4, 3), {}, (2, 3, 6, 5)),
        ((3, 4, (3, 2)), {"stride": (2, 1), "padding": (1, 0)}, (3, 6, 5)),
        ((1, 4, 5), {}, (3, 1, 20, 19)),
        ((4, 4, 3), {"groups": 4, "padding": 1}, (2, 4, 5, 5)),
        ((4, 8, 3), {"groups": 2, "padding": 2, "dilation": (2, 1), "padding_mode": "reflect"}, (2, 4, 5, 5)),
        ((2, 3, (2, 3)), {"padding": "same", "padding_mode": "replicate", "dilation": 3}, (2, 2, 8, 8)),
        ((2, 3, 1), {"bias": False, "stride": 2}, (2, 2, 8, 8)),
    ],
    "Conv3d": [
        ((2, 3, 2), {}, (2, 2, 4, 3, 4)),
        ((2, 3, (1, 2, 3)), {"padding": (0, 1, 2), "padding_mode": "circular"}, (2, 2, 3, 4, 4)),
    ],
    "ConvTranspose1d": [
        ((3, 4, 3), {}, (2, 3, 6)),
        ((4, 2, 3), {"stride": 3, "padding": 1, "output_padding": 2, "groups": 2, "dilation": 2}, (4, 5)),
    ],
    "ConvTranspose2d": [
        ((3, 4, 3), {"bias": False}, (2, 3, 4, 5)),
        ((4, 4, (2, 3)), {"stride": 2, "padding": (0, 1), "output_padding": (1, 0), "groups": 4}, (2, 4, 4, 3)),
    ],
    "ConvTranspose3d": [((2, 3, 2), {"stride": (2, 1, 2), "dilation": 2}, (2, 2, 3, 2, 3))],
    "Unfold": [((2,), {}, (2, 3, 5, 4)), (((2, 3),), {"dilation": 2, "padding": 1, "stride": (2, 1)}, (2, 5, 6))],
    "Fold": [(((5, 4), 2), {}, (2, 12, 12)), ((6, (2, 3)), {"dilation": 1, "padding": 1, "stride": 2}, (12, 12))],
}
CASES = [(name, *case) for name, given in LAYERS.items() for case in given]


@pytest.mark.parametrize(("name", "args", "kwargs", "shape"), CASES, ids=lambda part: str(part).replace(" ", ""))
def test_layer(name, args, kwargs, shape):
    def program(torch, show):
        torch.manual_seed(3)
        layer = getattr(torch.nn, name)(*args, **kwargs)
        show("repr", repr(layer))
        show("state", dict(layer.state_dict()))
        show("y", layer(torch.randn(*shape)))
        layer.double()  # in single precision, gradients that nearly cancel are noise
        x = torch.randn(*shape, dtype=torch.float64, requires_grad=True)
        y = layer(x)
        show("y again", y)
        if kwargs.get("padding_mode") != "circular":  # which torch writes piece by piece
            show.graph("graph", y)
        (y * torch.arange(1.0, y.numel() + 1).reshape(y.shape)).sum().backward()
        show("x.grad", x.grad)
        show("gradients", {key: p.grad for key, p in layer.named_parameters()})

    check(program)


def test_output_size():
    def program(torch, show):
        torch.manual_seed(0)
        layer = torch.nn.ConvTranspose2d(2, 3, 3, stride=3, padding=1)
        x = torch.randn(1, 2, 4, 5)
        for size in ([10, 13], (11, 14), [1, 3, 12, 15], torch.Size([1, 3, 10, 15])):
            show("y", layer(x, output_size=size))
        show("one sample", layer(x[0], output_size=(3, 11, 13)))
        show.error(lambda: layer(x, output_size=[9, 13]))
        show.error(lambda: layer(x, output_size=[10, 16]))
        show.error(lambda: layer(x, output_size=[10]))
        show.error(lambda: layer(x[0], output_size=[1, 3, 10, 13]))

    check(program)


def test_settings():
    def program(torch, show):
        nn = torch.nn
        conv = nn.Conv2d(4, 8, 3, padding="same", groups=2, dilation=(1, 2), padding_mode="circular")
        for name in (*nn.Conv2d.__constants__, "transposed", "_reversed_padding_repeated_twice"):
            show(name, getattr(conv, name))
        show("module", [nn.Conv2d.__module__.split(".")[1:], isinstance(conv, nn.modules.conv._ConvNd)])
        show("transposed", [nn.ConvTranspose1d(2, 3, 2).transposed, tuple(nn.ConvTranspose1d(2, 3, 2).weight.shape)])
        show.error(lambda: nn.Conv2d(3, 4, 3, groups=2))
        show.error(lambda: nn.Conv2d(4, 3, 3, groups=2))
        show.error(lambda: nn.Conv2d(4, 3, 3, groups=0))
        show.error(lambda: nn.Conv2d(4, 3, 3, padding="same", stride=2))
        show.error(lambda: nn.Conv2d(4, 3, 3, padding="full"), words="Invalid padding string 'full'")
        show.error(lambda: nn.Conv2d(4, 3, 3, padding_mode="mirror"), words="padding_mode must be one of")
        show.error(lambda: nn.ConvTranspose2d(4, 3, 3, padding_mode="reflect"))
        show.error(lambda: nn.Conv2d(1, 2, 3)(torch.ones(2, 1, 2, 2)))
        show.error(lambda: nn.Conv2d(1, 2, 3)(torch.ones(2, 3, 5, 5)))
        show.error(lambda: nn.Conv2d(1, 2, 3)(torch.ones(5, 5)))
        show.error(lambda: nn.Conv2d(1, 2, 3)(torch.ones(1, 1, 5, 5, dtype=torch.float64)))
        show.error(lambda: nn.Conv2d(1, 2, 3)([1, 2]))
        show.error(lambda: nn.Conv1d(1, 2, 3, padding=4, padding_mode="reflect")(torch.ones(1, 1, 3)))

    check(program)


def test_states_travel_between_layers():
    def program(torch, show):
        torch.manual_seed(2)
        one, other = torch.nn.Conv2d(2, 3, 2), torch.nn.Conv2d(2, 3, 2)
        show("keys", str(other.load_state_dict(one.state_dict())))
        x = torch.randn(1, 2, 4, 4)
        show("same", bool((one(x) == other(x)).all()))
        show.error(lambda: torch.nn.Conv2d(2, 4, 2).load_state_dict(one.state_dict()))
        show("dtype", torch.nn.Conv1d(2, 3, 1, dtype=torch.float64).weight.dtype)
        show("meta", torch.nn.Conv2d(3, 64, 7, stride=2, padding=3, device="meta")(
            torch.empty(2, 3, 224, 224, device="meta")
        ).shape)

    check(program)


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_halves(name):
    def program(torch, show):
        torch.manual_seed(0)
        kind = getattr(torch, name)
        layer = torch.nn.Conv2d(2, 3, 3, padding=1).to(kind)
        x = torch.randn(2, 2, 5, 5).to(kind).requires_grad_()
        y = layer(x)
        show("y", y)
        y.sum().backward()
        show("gradients", [layer.bias.grad, x.grad])

    check(program)


def test_channels_last():
    def program(torch, show):
        torch.manual_seed(0)
        layer = torch.nn.Conv2d(3, 4, 3).to(memory_format=torch.channels_last)
        x = torch.randn(2, 3, 6, 5).to(memory_format=torch.channels_last)
        show("strides", [x.stride(), layer.weight.stride()])
        y = layer(x)
        y.sum().backward()
        show("y", y.detach().contiguous())
        show("gradients", [layer.weight.grad.contiguous(), layer.bias.grad])
        layer.reset_parameters()
        show("drawn", layer.weight.detach().contiguous())

    check(program)


LAZY = [
    ("LazyConv1d", (4, 3), {"padding": 1}, (2, 3, 6)),
    ("LazyConv2d", (4, 3), {"stride": 2, "groups": 2}, (2, 4, 6, 6)),
    ("LazyConv3d", (2, 2), {"bias": False}, (2, 3, 3, 3)),
    ("LazyConvTranspose1d", (4, 3), {}, (2, 3, 6)),
    ("LazyConvTranspose2d", (4, 2), {"groups": 2, "output_padding": 1, "stride": 2}, (2, 4, 3, 3)),
    ("LazyConvTranspose3d", (2, 2), {"bias": False}, (1, 3, 3, 3, 3)),
]


@pytest.mark.parametrize(("name", "args", "kwargs", "shape"), LAZY, ids=[case[0] for case in LAZY])
def test_lazy_layer(name, args, kwargs, shape):
    def program(torch, show):
        torch.manual_seed(5)
        layer = getattr(torch.nn, name)(*args, **kwargs)
        show("repr", repr(layer))
        show("waits", [layer.has_uninitialized_params(), repr(layer.weight), sorted(layer.state_dict())])
        show.error(lambda: layer(torch.ones(2)))
        y = layer(torch.randn(*shape))
        show("class", type(layer).__name__)
        show("repr after", repr(layer))
        show("state", dict(layer.state_dict()))
        show("y", y)
        ready = getattr(torch.nn, name)(*args, **kwargs)
        ready.load_state_dict(layer.state_dict())
        show("loaded", ready.weight)

    check(program)


def test_lazy_channels_that_do_not_divide():
    def program(torch, show):
        show.error(lambda: torch.nn.LazyConv2d(4, 3, groups=2)(torch.ones(1, 3, 4, 4)))

    check(program)


def test_gradients_as_functions():
    def program(torch, show):
        torch.manual_seed(1)
        grad = torch.nn.grad
        for dims in (1, 2, 3):
            x = torch.randn(2, 4, *(5,) * dims, dtype=torch.float64)
            weight = torch.randn(6, 2, *(2,) * dims, dtype=torch.float64)
            settings = {"stride": 2, "padding": 1, "dilation": 2, "groups": 2}
            y = getattr(torch.nn.functional, f"conv{dims}d")(x, weight, **settings)
            g = torch.randn(y.shape, dtype=torch.float64)
            show("by input", getattr(grad, f"conv{dims}d_input")(x.shape, weight, g, **settings))
            show("by weight", getattr(grad, f"conv{dims}d_weight")(x, weight.shape, g, **settings))
        show.error(lambda: grad.conv3d_input((2, 4, 5, 5, 6), weight, g, **settings))
        show.error(lambda: grad.conv3d_weight(x, (6, 4, 2, 2, 2), g, **settings))

    check(program)


def test_fusion():
    def program(torch, show):
        torch.manual_seed(4)
        nn = torch.nn
        x = torch.randn(2, 3, 5, 5)
        for layer, transpose in ((nn.Conv2d(3, 4, 3, bias=False), False), (nn.ConvTranspose2d(3, 4, 3), True)):
            norm = nn.BatchNorm2d(4)
            norm(layer(x))
            net = nn.Sequential(layer, norm).eval()
            fused = nn.utils.fuse_conv_bn_eval(layer, norm, transpose)
            show("fused", fused(x))
            show("close", bool((net(x) - fused(x)).abs().max() < 1e-5))
            show("state", dict(fused.state_dict()))
        linear, norm = nn.Linear(3, 4), nn.BatchNorm1d(4)
        norm(linear(torch.randn(6, 3)))
        show.error(lambda: nn.utils.fuse_linear_bn_eval(linear, norm))
        fused = nn.utils.fusion.fuse_linear_bn_eval(linear.eval(), norm.eval())
        show("linear", [fused.weight, fused.bias])
        show.error(lambda: nn.utils.fuse_linear_bn_eval(linear, nn.BatchNorm1d(3).eval()))
        untracked = nn.BatchNorm2d(4, track_running_stats=False).eval()
        show.error(lambda: nn.utils.fuse_conv_bn_eval(layer.eval(), untracked))

    check(program)


def test_dirac_hands_channels_on():
    def program(torch, show):
        layer = torch.nn.Conv2d(4, 6, 3, padding=1, groups=2, bias=False)
        torch.nn.init.dirac_(layer.weight, groups=2)
        show("y", layer(torch.arange(32.0).reshape(1, 4, 2, 4)))

    check(program)


def test_names_of_torchs_module_utils():
    def program(torch, show):
        from collections import OrderedDict

        utils = __import__(torch.__name__, fromlist=["nn"]).nn.modules.utils
        show("tuples", [utils._single(1), utils._pair([1, 2]), utils._triple(3), utils._quadruple("ab")])
        show("repeated", utils._reverse_repeat_tuple((1, 2), 2))
        show("defaults", utils._list_with_default([None, 5], [1, 2, 3]))
        state = OrderedDict({"module.a.weight": 1, "b": 2})
        state._metadata = OrderedDict({"": 0, "module": 1, "module.a": 2})
        utils.consume_prefix_in_state_dict_if_present(state, "module.")
        show("state", [dict(state), dict(state._metadata)])

    check(program)
