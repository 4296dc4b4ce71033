"""Convolutions: any shapes, strides, paddings, dilations and groups as torch; the words of what is refused."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import glassgrad
from glassgrad.families.convolution import kernels
from tests.agreement import check
from tests.counts import generated

pytestmark = pytest.mark.torch
BLOCKS = [  # how large an output must be to have a matrix of its own, and how large the blocks of columns are
    {},
    {"_APART": 1, "_POINTS": 1, "_BLOCK_APART": 64, "_BLOCK_JOINED": 64},
    {"_APART": 10**6, "_POINTS": 10**6, "_BLOCK_APART": 200, "_BLOCK_JOINED": 200},
]


@st.composite
def convolutions(draw):
    """Sizes of input and weight, and settings, of a convolution that has an output."""
    ndim = draw(st.integers(1, 3))

    def each(*choices):
        return tuple(draw(st.sampled_from(choices)) for _ in range(ndim))

    groups, inner, outer = draw(st.integers(1, 3)), draw(st.integers(1, 3)), draw(st.integers(1, 4))
    kernel, stride, padding, dilation = each(1, 2, 3), each(1, 1, 2, 3), each(0, 0, 1, 2), each(1, 1, 2)
    sizes = []
    for k, p, d in zip(kernel, padding, dilation, strict=True):
        least = max(1, d * (k - 1) + 1 - 2 * p)
        sizes.append(draw(st.integers(least, max(least, 7))))
    batch = draw(st.integers(0, 4))
    extra = tuple(draw(st.integers(0, max(s, d) - 1)) for s, d in zip(stride, dilation, strict=True))
    return {
        "input": (batch, inner * groups, *sizes),
        "weight": (outer * groups, inner, *kernel),
        "settings": (stride, padding, dilation, groups),
        "extra": extra,
        "blocks": draw(st.sampled_from(BLOCKS)),
        "seed": draw(st.integers(0, 2**32 - 1)),
    }


def _of(torch, array):
    return torch.from_numpy(array.copy()).requires_grad_()


def _results(torch, case, transposed):
    """Output, gradients and second gradients of a convolution, or of its adjoint."""
    rng = np.random.default_rng(case["seed"])
    x, w = rng.uniform(-1, 1, case["input"]), rng.uniform(-1, 1, case["weight"])
    stride, padding, dilation, groups = case["settings"]
    ndim = len(stride)
    function = getattr(torch.nn.functional, f"conv{ndim}d")
    if transposed:
        sizes = kernels.output_sizes(x.shape[2:], w.shape[2:], stride, padding, dilation)
        x = rng.uniform(-1, 1, (x.shape[0], w.shape[0], *sizes))
        function = getattr(torch.nn.functional, f"conv_transpose{ndim}d")
    b = rng.uniform(-1, 1, w.shape[1] * groups if transposed else w.shape[0])
    given = [_of(torch, a) for a in (x, w, b)]
    rest = (stride, padding, case["extra"], groups, dilation) if transposed else (stride, padding, dilation, groups)
    y = function(*given, *rest)
    first = torch.autograd.grad((y * y * y).sum(), given, create_graph=True)
    second = torch.autograd.grad(sum((g * g).sum() for g in first), given)
    return [a.detach().numpy() for a in (y, *first, *second)]


@generated(80)
@given(convolutions(), st.booleans())
def test_any_convolution(case, transposed):
    """Values, gradients and gradients of gradients are torch's, whatever the blocks."""
    from tests.torch_reference import torch

    if transposed:
        stride, padding, dilation, _ = case["settings"]
        outs = kernels.output_sizes(case["input"][2:], case["weight"][2:], stride, padding, dilation)
        if min(kernels.transposed_sizes(outs, case["weight"][2:], stride, padding, dilation, case["extra"])) < 1:
            return
    wanted = _results(torch, case, transposed)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in case["blocks"].items():
            patch.setattr(kernels, name, value)
        found = _results(glassgrad, case, transposed)
    for a, b in zip(found, wanted, strict=True):
        assert a.shape == b.shape
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-10 * max(1.0, np.abs(b).max(initial=0)))


@generated(60)
@given(convolutions())
def test_fold_undoes_unfold_by_counting(case):
    """Folding the columns of an image counts how many windows saw each element; both are torch's."""
    from tests.torch_reference import torch

    stride, padding, dilation, _ = case["settings"]
    if len(stride) != 2 or not case["input"][0]:
        return
    x = np.random.default_rng(case["seed"]).uniform(-1, 1, case["input"])
    columns = kernels.unfolded(x, case["weight"][2:], stride, padding, dilation)
    theirs = torch.nn.functional.unfold(torch.from_numpy(x), case["weight"][2:], dilation, padding, stride)
    np.testing.assert_array_equal(columns, theirs.numpy())
    back = kernels.folded(columns, x.shape[2:], case["weight"][2:], stride, padding, dilation)
    seen = kernels.folded(np.ones_like(columns), x.shape[2:], case["weight"][2:], stride, padding, dilation)
    np.testing.assert_allclose(back, x * seen, rtol=1e-12, atol=1e-12)


def test_large_images_are_computed_row_by_row():
    """Columns that do not fit a block: a few rows of the output at a time, in every gradient."""

    def program(torch, show):
        torch.manual_seed(0)
        x = torch.randn(2, 3, 70, 61, dtype=torch.float64, requires_grad=True)
        w = torch.randn(5, 3, 7, 7, dtype=torch.float64, requires_grad=True)
        y = torch.nn.functional.conv2d(x, w, stride=(1, 2), padding=3)
        y.sum().backward()
        show("sums", [y.sum(), (y * y).sum()])
        show("gradients", [w.grad, x.grad[0, 0, ::9, ::9]])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernels, "_BLOCK_APART", 20000)
        patch.setattr(kernels, "_BLOCK_JOINED", 20000)
        check(program)


def test_same_numbers_whatever_was_computed_before():
    """The workspaces that calls share leave no trace, and results never lie in them."""
    rng = np.random.default_rng(0)
    x, w = rng.normal(size=(3, 2, 9, 9)), rng.normal(size=(4, 2, 3, 3))
    settings_ = (1, 1), [(1, 1), (1, 1)], (1, 1), 1
    first = kernels.convolve(x, w, None, *settings_)
    kept = first.copy()
    kernels.convolve(rng.normal(size=(5, 2, 11, 8)), w, None, *settings_)
    kernels.weight_gradient(x * 2, first * 3, (3, 3), (1, 1), (1, 1), (1, 1), 1)
    np.testing.assert_array_equal(first, kept)
    np.testing.assert_array_equal(kernels.convolve(x, w, None, *settings_), kept)


def test_dtypes():
    def program(torch, show):
        F = torch.nn.functional
        for name in ("int64", "int32", "uint8", "int8", "bool", "float16", "bfloat16", "complex64", "complex128"):
            kind = getattr(torch, name)
            x, w = torch.ones(2, 4, 5, 5).to(kind), torch.ones(3, 4, 2, 2).to(kind)
            show.error(lambda: F.conv2d(x, w))  # noqa: B023  called at once
            show.error(lambda: F.conv2d(x, w, dilation=2))  # noqa: B023
            show.error(lambda: F.conv3d(x[None], w[None].expand(1, 2, 4, 2, 2)))  # noqa: B023
            show.error(lambda: F.conv_transpose2d(x, w.transpose(0, 1).contiguous()))  # noqa: B023
            show.error(lambda: F.unfold(x, 2))  # noqa: B023
            show.error(lambda: F.fold(x.reshape(2, 4, 25), 6, 2))  # noqa: B023
        wraps = F.conv2d(torch.full((1, 1, 3, 3), 200, dtype=torch.uint8), torch.ones(1, 1, 2, 2, dtype=torch.uint8))
        show("wraps", wraps)

    check(program)


def test_different_dtypes_are_refused():
    def program(torch, show):
        x, w, b = torch.ones(2, 4, 5, 5), torch.ones(3, 4, 2, 2), torch.ones(3)
        kinds = [getattr(torch, name) for name in ("float32", "float64", "bfloat16", "complex64", "int64")]
        for one in kinds:
            for other in kinds:
                if one is not other:
                    show.error(lambda: torch.conv2d(x.to(one), w.to(other)))  # noqa: B023  called at once
                    show.error(lambda: torch.conv2d(x.to(one), w.to(one), b.to(other)))  # noqa: B023
                    show.error(lambda: torch.conv_transpose2d(x.to(one), w.transpose(0, 1).to(other)))  # noqa: B023

    check(program)


def test_what_does_not_fit_is_refused():
    def program(torch, show):
        F, e = torch.nn.functional, torch.ones
        x, w = e(2, 4, 8, 8), e(6, 4, 3, 3)
        show.error(lambda: F.conv2d(x, e(6, 3, 3, 3)))
        show.error(lambda: F.conv2d(x, e(6, 4, 3, 3), groups=2))
        show.error(lambda: F.conv2d(x, e(5, 2, 3, 3), groups=2))
        show.error(lambda: F.conv2d(x, e(1, 2, 3, 3), groups=2))
        show.error(lambda: F.conv2d(x, w, groups=0))
        show.error(lambda: F.conv2d(x, e(6, 4, 9, 3)))
        show.error(lambda: F.conv2d(x, w, dilation=(2, 5)))
        show.error(lambda: F.conv2d(e(2, 4, 8, 8, 1), w))
        show.error(lambda: F.conv1d(e(8), e(2, 2, 2)))
        show.error(lambda: F.conv3d(x[0], e(6, 4, 3, 3, 3)))
        show.error(lambda: F.conv2d(x, e(6, 4, 3)))
        show.error(lambda: F.conv1d(x[0], e(3, 8, 3, 3)))
        show.error(lambda: F.conv1d(x[0], e(3, 8)))
        show.error(lambda: F.conv2d(x, w, e(5)))
        show.error(lambda: F.conv2d(x, w, e(1, 6)))
        show.error(lambda: F.conv2d(x[:, :, :0], w, padding=2))
        for name in ("stride", "padding", "dilation"):
            for value in (0, -1, (1, 1, 1), (1,), 1.5, None, True):
                show.error(lambda: F.conv2d(x, w, **{name: value}))  # noqa: B023  called at once
        show.error(lambda: F.conv2d(x, w, groups=1.0))
        show.error(lambda: F.conv2d(x, None))
        show.error(lambda: F.conv2d(x.numpy(), w))
        show.error(lambda: F.conv2d(x, w, 1.0))
        show("tensor for a number", F.conv2d(x, w, stride=torch.tensor(2)))

    check(program)


def test_padding_by_name():
    def program(torch, show):
        F, e = torch.nn.functional, torch.ones
        x, w = torch.arange(50.0).reshape(1, 2, 5, 5).requires_grad_(), e(3, 2, 2, 3)
        y = show.warnings(lambda: F.conv2d(x, w, padding="same"), "warned")
        show.graph("graph", y)
        show("y", [y, F.conv2d(x, w, padding="valid", stride=2), F.conv2d(x, w, padding="same", dilation=(2, 1))])
        show.error(lambda: F.conv2d(x, w, padding="full"))
        show.error(lambda: F.conv2d(x, w, padding="same", stride=2))
        show.error(lambda: F.conv2d(x, w, padding="same", dilation=(1, 1, 1)))
        show.error(lambda: F.conv2d(x, e(3, 3, 2, 3), padding="same"))
        show.error(lambda: F.conv1d(x[0], e(1, 5, 3, 3), padding="same"))
        show.error(lambda: F.conv_transpose2d(x, w, padding="same"))

    check(program)


def test_the_warning_of_even_kernels_is_given_once():
    from glassgrad.ground import runtime

    runtime._given.clear()
    glassgrad.set_warn_always(False)
    x, w = glassgrad.ones(1, 1, 3), glassgrad.ones(1, 1, 2)
    with pytest.warns(UserWarning, match="even kernel lengths and odd dilation"):
        glassgrad.conv1d(x, w, padding="same")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        glassgrad.conv1d(x, w, padding="same")


def test_transposed_refusals():
    def program(torch, show):
        F, e = torch.nn.functional, torch.ones
        x, w = e(2, 4, 8, 8, dtype=torch.float64), e(4, 3, 3, 3, dtype=torch.float64)
        show.error(lambda: F.conv_transpose2d(x, e(3, 3, 3, 3, dtype=torch.float64)))
        show.error(lambda: F.conv_transpose2d(x, w, e(4, dtype=torch.float64), groups=2))
        show.error(lambda: F.conv_transpose2d(x, w, groups=3))
        show.error(lambda: F.conv_transpose2d(x, w, output_padding=1))
        show.error(lambda: F.conv_transpose1d(x[0], e(8, 3, 3, dtype=torch.float64), stride=2, output_padding=2))
        show.error(lambda: F.conv_transpose3d(x, e(2, 3, 3, 3, 3, dtype=torch.float64), output_padding=(1, 0, 2)))
        show.error(lambda: F.conv_transpose2d(x, w, stride=2, output_padding=-1))
        show.error(lambda: F.conv_transpose2d(x, w, output_padding=(0, 0, 0)))
        show.error(lambda: F.conv_transpose2d(x, w, padding=6))
        show.error(lambda: F.conv_transpose1d(x[0], e(8, 3, 3, dtype=torch.float64), padding=6))
        show.error(lambda: F.conv_transpose2d(x[0, 0], w))
        show.error(lambda: F.conv_transpose2d(x, w, stride="a"))
        show.error(lambda: F.conv_transpose2d(x, None))
        show.error(lambda: F.conv_transpose2d(x, w, groups=1.5))
        show.error(lambda: torch.convolution(x, w, None, 1, [0], [1], True, [0], 1))
        show.error(lambda: torch.convolution(x[0], w, None, [1], [0], [1], True, [0], 1))

    check(program)


def test_what_fold_refuses():
    def program(torch, show):
        F, e = torch.nn.functional, torch.ones
        x, c = e(2, 4, 8, 8), e(2, 16, 49)
        for shape in ((4, 4), (1, 1, 1, 4, 4), (2, 0, 8, 8)):
            show.error(lambda: F.unfold(e(*shape), 2))  # noqa: B023  called at once
        for kwargs in ({"dilation": 0}, {"stride": 0}, {"padding": -1}, {"stride": (1, 1, 1)}, {"padding": (1, 1, 1)}):
            show.error(lambda: F.unfold(x, 2, **kwargs))  # noqa: B023
            show.error(lambda: F.fold(c, 8, 2, **kwargs))  # noqa: B023
        for kernel in (0, (2,), (2, 2, 2), 9, "a", 2.0):
            show.error(lambda: F.unfold(x, kernel))  # noqa: B023
        for size in ((8, 9), (1, 1), 0, -1, (8, 8, 8), 8.0):
            show.error(lambda: F.fold(c, size, 2))  # noqa: B023
        show.error(lambda: F.fold(e(2, 15, 49), 8, 2))
        show.error(lambda: F.fold(e(2, 16, 48), 8, 2))
        show.error(lambda: F.fold(c[0, 0], 8, 2))
        show.error(lambda: F.fold(c.numpy(), 8, 2))

    check(program)


def test_time_batch_channels():
    def program(torch, show):
        T, e = torch.conv_tbc, torch.ones
        x, w, b = e(5, 2, 4), e(3, 4, 6), e(6)
        show("beyond the end", T(x, e(6, 4, 6), b))
        show.error(lambda: T(x[0], w, b))
        show.error(lambda: T(x, w[0], b))
        show.error(lambda: T(x, w, b[None]))
        show.error(lambda: T(x, e(3, 5, 6), b))
        show.error(lambda: T(x, w, e(5)))
        show.error(lambda: T(x, w, None))
        show.error(lambda: T(x, w.double(), b))
        y = T(x.requires_grad_(), w.requires_grad_(), b.requires_grad_(), 1)
        show.saved("saved", y)

    check(program)


def test_what_the_node_shows():
    def program(torch, show):
        torch.manual_seed(0)
        x, w, b = (torch.randn(*n, requires_grad=True) for n in ((2, 4, 5, 5), (6, 2, 3, 3), (6,)))
        show.saved("with a bias", torch.conv2d(x, w, b, 2, 1, 1, 2))
        show.saved("without", torch.conv1d(x[0], w[:, 0, :1].repeat(1, 5, 1)))
        show.saved("transposed", torch.conv_transpose2d(x, w.detach()[:4].requires_grad_(), stride=2, output_padding=1))
        show.saved("unfold", torch.nn.functional.unfold(x, 2))
        show.saved("fold", torch.nn.functional.fold(torch.nn.functional.unfold(x, 2), 5, 2))
        y = torch.conv2d(x, w, b, groups=2)
        (gx,) = torch.autograd.grad(y.sum(), x, create_graph=True)
        show("second order", gx.grad_fn.name())
        w.data.add_(1)
        with torch.no_grad():
            w.mul_(2)
        show.error(lambda: y.sum().backward())

    check(program)


def test_autocast():
    def program(torch, show):
        torch.manual_seed(0)
        layer = torch.nn.Conv2d(2, 3, 3)
        x = torch.randn(1, 2, 5, 5)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            y = layer(x)
            show("low", y.detach())
        y.float().sum().backward()
        show("gradient", [layer.weight.grad.dtype, layer.bias.grad])

    check(program)
