"""Scaled dot-product attention and the layer of several heads, against PyTorch under one seed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import glassgrad
from tests.agreement import check
from tests.counts import generated
from tests.torch_reference import torch as reference

pytestmark = pytest.mark.torch


def gradients(torch, show, made, leaves):
    """Show a result and the gradients of a weighted sum of it."""
    show("y", made)
    (made * torch.arange(1.0, made.numel() + 1, dtype=made.dtype).reshape(made.shape)).sum().backward()
    for name, leaf in leaves.items():
        show(name, leaf.grad)


def qkv(torch, *lead, rows=5, columns=7, width=4, kind=None):
    return [
        torch.randn(*lead, n, width, dtype=kind or torch.float64).requires_grad_() for n in (rows, columns, columns)
    ]


@generated(25)
@given(
    n=st.integers(1, 3), heads=st.integers(1, 3), rows=st.integers(1, 70), columns=st.integers(1, 70),
    width=st.integers(1, 5), causal=st.booleans(), masked=st.sampled_from([None, "rows", "heads", "keys"]),
    floating=st.booleans(), shared=st.integers(1, 2), turned=st.booleans(), seed=st.integers(0, 99),
)  # fmt: skip
def test_fused_in_any_size(n, heads, rows, columns, width, causal, masked, floating, shared, turned, seed):
    rng = np.random.default_rng(seed)

    def array(count, length):
        if turned:
            return rng.standard_normal((n, length, count, width)).swapaxes(1, 2)
        return rng.standard_normal((n, count, length, width))

    arrays = [array(heads * shared, rows), array(heads, columns), array(heads, columns)]
    sizes = {"rows": (rows, columns), "heads": (n, heads * shared, rows, columns), "keys": (n, 1, 1, columns)}
    hidden = None if masked is None else rng.random(sizes[masked]) < 0.3
    found = []
    for torch in (reference, glassgrad):
        q, k, v = (torch.from_numpy(a).requires_grad_() for a in arrays)
        mask = None
        if hidden is not None:
            mask = torch.from_numpy(np.where(hidden, -np.inf, 0.5) if floating else ~hidden)
        y = torch.nn.functional.scaled_dot_product_attention(q, k, v, mask, is_causal=causal, enable_gqa=shared > 1)
        y.square().sum().backward()
        found.append([y.detach().numpy(), *(t.grad.numpy() for t in (q, k, v))])
    for theirs, ours in zip(*found, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)


def test_second_order_of_the_fused_row():
    """The fused row goes on where PyTorch's own stops: to what PyTorch's composition gives."""
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal(s) for s in ((2, 4, 5, 3), (2, 2, 6, 3), (2, 2, 6, 3))]
    for options in ({}, {"is_causal": True}, {"attn_mask": rng.random((5, 6)) < 0.7}):
        found = []
        for torch in (reference, glassgrad):
            given_ = dict(options)
            if "attn_mask" in given_:
                given_["attn_mask"] = torch.from_numpy(given_["attn_mask"])
            leaves = [torch.from_numpy(a).requires_grad_() for a in arrays]
            allowed = [torch.nn.attention.SDPBackend.MATH]
            if torch is glassgrad:
                allowed.append(torch.nn.attention.SDPBackend.FLASH_ATTENTION)
            with torch.nn.attention.sdpa_kernel(allowed):
                y = torch.nn.functional.scaled_dot_product_attention(*leaves, enable_gqa=True, **given_)
            assert (y.grad_fn.name() == "ScaledDotProductFlashAttentionForCpuBackward0") == (torch is glassgrad)
            first = torch.autograd.grad(y.sin().sum(), leaves, create_graph=True)
            second = torch.autograd.grad(sum(g.cos().sum() for g in first), leaves)
            found.append([g.detach().numpy() for g in (*first, *second)])
        for theirs, ours in zip(*found, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-11)


def test_third_order():
    rng = np.random.default_rng(1)
    q, k, v = (glassgrad.from_numpy(rng.standard_normal((1, 1, 2, 2))).requires_grad_() for _ in range(3))
    assert glassgrad.autograd.gradgradcheck(
        lambda q, k, v: glassgrad.autograd.grad(
            glassgrad.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True).sin().sum(),
            (q, k, v),
            create_graph=True,
        ),
        (q, k, v),
    )


def test_saved_and_layout():
    def program(torch, show):
        torch.manual_seed(0)
        F = torch.nn.functional
        q, k, v = qkv(torch, 2, 3)
        mask = torch.ones(5, 7, dtype=torch.bool)
        y = F.scaled_dot_product_attention(q, k, v, mask, scale=0.3)
        show.saved("saved", y)
        show.graph("graph", y)
        turned = q.transpose(1, 2).contiguous().transpose(1, 2)
        for given_ in (q, turned, q.permute(2, 0, 1, 3)[:3].permute(1, 2, 0, 3)):
            show("strides", F.scaled_dot_product_attention(given_, k, v).stride())
        y.mul_(2)
        show.error(lambda: y.sum().backward())
        packed = []
        with torch.autograd.graph.saved_tensors_hooks(lambda t: packed.append(tuple(t.shape)) or t, lambda t: t):
            F.scaled_dot_product_attention(q, k, v, mask)
        show("packed", sorted(packed))

    check(program)


def test_written_result():
    """A layer norm's result may be written to: it is none of what backward reads."""

    def program(torch, show):
        torch.manual_seed(0)
        x = torch.randn(3, 4, dtype=torch.float64, requires_grad=True)
        for anomaly in (False, True):
            with torch.autograd.set_detect_anomaly(anomaly):
                y = torch.nn.functional.layer_norm(x, (4,))
                y += 1
                y.exp().sum().backward()
                show("grad", x.grad)

    check(program)


def test_halves_and_autocast():
    def program(torch, show):
        torch.manual_seed(0)
        F = torch.nn.functional
        for kind in (torch.bfloat16, torch.float16):
            q, k, v = (t.detach().to(kind).requires_grad_() for t in qkv(torch, 2, 3, kind=torch.float32))
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            show("y", y)
            y.float().sum().backward()
            show("dtype", [t.grad.dtype for t in (q, k, v)])
            show("graph", F.scaled_dot_product_attention(q[0], k[0], v[0]))

    check(program)


def test_dropout_draws():
    def program(torch, show):
        F = torch.nn.functional
        for options in ({}, {"is_causal": True}):
            torch.manual_seed(5)
            leaves = dict(zip("qkv", qkv(torch, 2, 3), strict=True))
            gradients(
                torch, show, F.scaled_dot_product_attention(*leaves.values(), dropout_p=0.3, **options), leaves
            )

    check(program)


def test_refusals():
    def program(torch, show):
        F = torch.nn.functional
        a = torch.randn(2, 3, 4, 5)
        attend = F.scaled_dot_product_attention
        show.error(lambda: attend([1], a, a))
        show.error(lambda: attend(a, None, a))
        show.error(lambda: attend(a, a, a, 3))
        show.error(lambda: attend(a, a, a, dropout_p="x"))
        show.error(lambda: attend(a, a, a, is_causal=1))
        show.error(lambda: attend(a, a, a, scale="x"))
        show.error(lambda: attend(a, a.double(), a))
        show.error(lambda: attend(a[0, 0, 0], a[0, 0, 0], a[0, 0, 0]))
        show.error(lambda: attend(a, a, a, torch.ones(4, 4).double()))
        show.error(lambda: attend(a, a, a, torch.ones(4, 4).long()))
        show.error(lambda: attend(a, a, a, torch.ones(4, 4).int()))
        show.error(lambda: attend(a, a, a, torch.ones(4, 4).half()))
        show.error(lambda: attend(a[0], a[0], a[0], torch.ones(4, 4), is_causal=True))
        show.error(lambda: attend(a[0], a[0], a[0], torch.ones(4, 7)))
        show.error(lambda: attend(a, a[:, :2], a[:, :2]))
        show.error(lambda: attend(a, a[:, :2], a[:, :2], enable_gqa=True))
        show.error(lambda: attend(a[0, 0], a[0, 0], a[0, 0], enable_gqa=True))
        show.error(lambda: attend(a[0], a[0, :, :, :4], a[0]))
        show.error(lambda: attend(a, a, a, dropout_p=2.0))
        show.error(lambda: attend(a.long(), a.long(), a.long()), words=False)

    check(program)


def test_kernels_allowed():
    def program(torch, show):
        F, attention = torch.nn.functional, torch.nn.attention
        B = attention.SDPBackend
        show("names", [(repr(b), str(b), int(b)) for b in (B.MATH, B.FLASH_ATTENTION, B.ERROR)])
        a = torch.randn(1, 2, 3, 4, requires_grad=True)
        for backends in (B.MATH, B.FLASH_ATTENTION, [B.MATH, B.FLASH_ATTENTION], [B.EFFICIENT_ATTENTION], [], 3):

            def attempt(backends=backends, **options):
                with attention.sdpa_kernel(backends):
                    return F.scaled_dot_product_attention(a, a, a, **options).grad_fn.name()

            show.error(attempt)
            show.error(lambda attempt=attempt: attempt(dropout_p=0.5), words="kernel")
        show("after", F.scaled_dot_product_attention(a, a, a).grad_fn.name())

    check(program)


LAYERS = [
    {}, {"bias": False}, {"batch_first": True}, {"dropout": 0.3}, {"add_bias_kv": True}, {"add_zero_attn": True},
    {"kdim": 5, "vdim": 3}, {"kdim": 5, "vdim": 3, "bias": False, "add_bias_kv": True, "add_zero_attn": True},
]  # fmt: skip
CALLS = [
    {}, {"need_weights": False}, {"average_attn_weights": False}, {"mask": "bool"}, {"mask": "float"},
    {"mask": "heads", "need_weights": False}, {"padding": "bool"}, {"padding": "bool", "need_weights": False},
    {"mask": "bool", "padding": "bool"}, {"mask": "float", "padding": "float", "need_weights": False},
    {"mask": "causal", "is_causal": True, "need_weights": False}, {"mask": "causal", "is_causal": True},
]  # fmt: skip


def masks(torch, wanted, padding, n, heads, rows, columns):
    """The masks that a call names."""
    torch.manual_seed(7)
    found = {}
    if wanted in ("bool", "causal"):
        found["attn_mask"] = torch.ones(rows, columns, dtype=torch.bool).triu(1)
    elif wanted == "float":
        found["attn_mask"] = torch.randn(rows, columns, dtype=torch.float64)
    elif wanted == "heads":
        found["attn_mask"] = torch.rand(n * heads, rows, columns) < 0.3
    if padding:
        hidden = torch.zeros(n, columns, dtype=torch.bool)
        hidden[0, -1] = True
        found["key_padding_mask"] = hidden if padding == "bool" else hidden * torch.tensor(-2.0, dtype=torch.float64)
    return found


@pytest.mark.parametrize("options", LAYERS, ids=str)
def test_multihead_attention(options):
    def program(torch, show):
        torch.manual_seed(3)
        layer = torch.nn.MultiheadAttention(8, 2, **options)
        show("repr", repr(layer))
        show("state", dict(layer.state_dict()))
        layer = layer.double()
        first = options.get("batch_first", False)
        for call in CALLS:
            rest = {key: value for key, value in call.items() if key not in ("mask", "padding")}
            given_ = masks(torch, call.get("mask"), call.get("padding"), 3, 2, 4, 4)
            torch.manual_seed(1)
            leaves = {
                name: torch.randn(*((3, 4) if first else (4, 3)), options.get(dim, 8), dtype=torch.float64)
                for name, dim in (("q", "qdim"), ("k", "kdim"), ("v", "vdim"))
            }
            for leaf in leaves.values():
                leaf.requires_grad_()
            y, weights = layer(*leaves.values(), **rest, **given_)
            show("weights", weights)
            layer.zero_grad()
            if weights is not None and weights.requires_grad:
                weights.square().sum().backward(retain_graph=True)
            gradients(torch, show, y, {**leaves, **dict(layer.named_parameters())})
        layer.eval()
        show("eval", layer(*leaves.values())[0])
        single = [leaf[:, 0] if not first else leaf[0] for leaf in leaves.values()]
        show("single", layer(*single))
        show("single, masked", layer(*single, key_padding_mask=torch.tensor([False, True, False, True]))[0])

    check(program)


def test_self_attention_and_inference():
    """One tensor as query, key and value; in evaluation without gradients PyTorch takes another path."""

    def program(torch, show):
        torch.manual_seed(0)
        layer = torch.nn.MultiheadAttention(8, 2, batch_first=True).double()
        x = torch.randn(3, 4, 8, dtype=torch.float64, requires_grad=True)
        y, weights = layer(x, x, x)
        show("weights", weights)
        show.graph("graph", layer(x, x, x, need_weights=False)[0])
        gradients(torch, show, y, {"x": x, **dict(layer.named_parameters())})
        mixed, _ = layer(x, x.detach(), x.detach(), need_weights=False)
        show("mixed", mixed)
        memory = torch.randn(3, 6, 8, dtype=torch.float64, requires_grad=True)
        show.graph("cross", layer(x, memory, memory, need_weights=False)[0])
        layer.eval()
        hidden = torch.tensor([[False, False, True, True], [True] * 4, [False] * 4])
        with torch.no_grad():
            for need in (True, False):
                for options in (
                    {},
                    {"key_padding_mask": hidden},
                    {"attn_mask": torch.ones(4, 4, dtype=torch.bool).triu(1)},
                    {"attn_mask": torch.ones(4, 4, dtype=torch.bool).triu(1), "key_padding_mask": hidden},
                    {"attn_mask": torch.ones(4, 4, dtype=torch.float64)},
                    {"attn_mask": torch.ones(4, 4, dtype=torch.bool).triu(1), "is_causal": True},
                ):
                    made, found = layer(x, x, x, need_weights=need, **options)
                    show("made", made.nan_to_num(7.0))
                    show("contiguous", made.is_contiguous())
                    show("found", None if found is None else found.nan_to_num(7.0))

    check(program)


def test_layer_refusals():
    def program(torch, show):
        nn = torch.nn
        show.error(lambda: nn.MultiheadAttention(0, 1))
        show.error(lambda: nn.MultiheadAttention(6, 4))
        layer = nn.MultiheadAttention(8, 2)
        x = torch.randn(4, 3, 8)
        show.error(lambda: layer(x[0, 0], x, x))
        show.error(lambda: layer(x, x[0], x))
        show.error(lambda: layer(x[0], x, x))
        show.error(lambda: layer(x, x, x, key_padding_mask=torch.zeros(4, 4, 4, dtype=torch.bool)))
        show.error(lambda: layer(x, x, x, key_padding_mask=torch.zeros(4, 4, dtype=torch.bool)))
        show.error(lambda: layer(x, x, x, key_padding_mask=torch.zeros(3, 5, dtype=torch.bool)))
        show.error(lambda: layer(x, x, x, attn_mask=torch.zeros(4)))
        show.error(lambda: layer(x, x, x, attn_mask=torch.zeros(5, 4)))
        show.error(lambda: layer(x, x, x, attn_mask=torch.zeros(5, 4, 4)))
        show.error(lambda: layer(x[:, 0], x[:, 0], x[:, 0], attn_mask=torch.zeros(5, 4, 4)))
        show.error(lambda: layer(x, x, x, attn_mask=torch.zeros(4, 4, dtype=torch.int64)))
        show.error(lambda: layer(x, x, x, is_causal=True))
        show.error(lambda: layer(x[..., :6], x[..., :6], x[..., :6]))
        show.error(lambda: layer(x, x[:3], x))
        show.error(lambda: nn.MultiheadAttention(8, 2, kdim=4)(x, x, x))
        mask, hidden = torch.zeros(4, 4), torch.zeros(3, 4, dtype=torch.bool)
        show.warnings(lambda: layer(x, x, x, attn_mask=mask, key_padding_mask=hidden))

    check(program)


def test_static_keys():
    def program(torch, show):
        torch.manual_seed(0)
        x = torch.randn(4, 3, 8)
        w, b, o = torch.randn(24, 8), torch.randn(24), torch.randn(8, 8)
        fixed = torch.randn(6, 5, 4)

        def call(**options):
            return torch.nn.functional.multi_head_attention_forward(
                x, x, x, 8, 2, w, b, None, None, False, 0.0, o, None, **options
            )

        show("static", call(static_k=fixed, static_v=fixed))
        show.error(lambda: call(static_k=fixed[:5], static_v=fixed))
        show.error(lambda: call(static_k=fixed, static_v=fixed[..., :3]))
        show.error(lambda: call(use_separate_proj_weight=True))

    check(program)


@pytest.mark.parametrize("mask", [None, [[True, False], [True, True]]])
def test_second_slopes_of_halves(mask):
    """PyTorch has none; here they are those of single precision, rounded."""

    def tangent(dtype):
        x = glassgrad.tensor([[[[0.5, -1.0], [2.0, 0.25]]]], dtype=dtype)
        where = None if mask is None else glassgrad.tensor(mask)
        attend = glassgrad.nn.functional.scaled_dot_product_attention
        return glassgrad.autograd.functional.jvp(lambda x: attend(x, x, x, where), x, x)[1].double().numpy()

    for dtype in (glassgrad.bfloat16, glassgrad.float16):
        np.testing.assert_allclose(tangent(dtype), tangent(glassgrad.float64), rtol=0.05, atol=0.05)
