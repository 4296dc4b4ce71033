"""flex_attention with scores and masks of one's own gives what PyTorch gives; on the CPU it learns, too."""

from importlib import import_module

import pytest

import glassgrad
from tests.agreement import cases, check

pytestmark = [pytest.mark.torch, pytest.mark.once, pytest.mark.filterwarnings("ignore")]


def _drawn(torch):
    torch.manual_seed(0)
    return [torch.randn(2, 4, 6, 8) for _ in range(3)] + [torch.randn(2, 2, 6, 8) for _ in range(2)]


def scores_and_masks(torch, show):
    flex = import_module(f"{torch.__name__}.nn.attention.flex_attention")
    q, k, v, few_k, few_v = _drawn(torch)
    bias = torch.randn(4, 6, 6)
    causal = flex.create_block_mask(lambda b, h, i, j: i >= j, None, None, 6, 6, BLOCK_SIZE=2, device="cpu")

    def biased(score, b, h, i, j):
        return score + bias[h, i, j] * 0.5 - torch.abs(i - j)

    show("biased", flex.flex_attention(q, k, v, score_mod=biased, block_mask=causal))
    out, sums = flex.flex_attention(q, few_k, few_v, enable_gqa=True, return_lse=True)
    show("shared heads", [out, sums])
    rows = flex.create_block_mask(lambda b, h, i, j: (i >= j) & (i > 2), 2, 4, 6, 6, device="cpu")
    out, sums = flex.flex_attention(q, k, v, block_mask=rows, return_lse=True, scale=0.3)
    show("empty rows", [out, sums])


def masks_as_blocks(torch, show):
    flex = import_module(f"{torch.__name__}.nn.attention.flex_attention")

    def causal(b, h, i, j):
        return i >= j

    window = flex.and_masks(causal, lambda b, h, i, j: i - j < 2)
    show("mask", flex.create_mask(flex.or_masks(window, lambda b, h, i, j: i == j + 3), 1, 1, 5, 5, device="cpu"))
    blocks = flex.create_block_mask(causal, None, None, 6, 6, device="cpu", BLOCK_SIZE=2)
    for name in ("kv_num_blocks", "kv_indices", "full_kv_num_blocks", "full_kv_indices", "q_num_blocks", "q_indices"):
        show(name, getattr(blocks, name))
    show("asked", [blocks.to_dense().tolist(), round(blocks.sparsity(), 3), tuple(blocks.shape), blocks.numel()])
    show("printed", str(blocks))


def refusals(torch, show):
    flex = import_module(f"{torch.__name__}.nn.attention.flex_attention")
    q, k, v, few_k, few_v = _drawn(torch)
    for number, call in enumerate(
        [lambda: flex.flex_attention(q, few_k, few_v), lambda: flex.flex_attention(q[0], k, v)]
    ):
        try:
            call()
        except Exception as error:
            show(f"refused {number}", [type(error).__name__, str(error)])


@pytest.mark.parametrize("name", cases(globals()))
def test_as_pytorch(name):
    check(globals()[name])


def test_gradients_are_those_of_plain_attention():
    flex = import_module("glassgrad.nn.attention.flex_attention")
    q, k, v, *_ = [tensor.requires_grad_() for tensor in _drawn(glassgrad)]
    causal = flex.create_block_mask(lambda b, h, i, j: i >= j, None, None, 6, 6)
    plain = glassgrad.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    ours = flex.flex_attention(q, k, v, block_mask=causal)
    for mine, theirs in zip(
        glassgrad.autograd.grad(ours.square().sum(), (q, k, v)),
        glassgrad.autograd.grad(plain.square().sum(), (q, k, v)),
        strict=True,
    ):
        glassgrad.testing.assert_close(mine, theirs)
