"""Results and gradients of permuted tensors lie in memory as torch's do."""

import pytest

import glassgrad
from tests.torch_reference import torch

pytestmark = pytest.mark.torch

FUNCTIONS = {
    "conv2d": lambda lib, F, x: F.conv2d(x, lib.ones(2, 4, 3, 3), padding=1),
    "conv_transpose2d": lambda lib, F, x: F.conv_transpose2d(x, lib.ones(4, 2, 3, 3)),
    "max_pool2d": lambda lib, F, x: F.max_pool2d(x, 2),
    "max_pool2d_indices": lambda lib, F, x: F.max_pool2d(x, 2, return_indices=True)[1],
    "avg_pool2d": lambda lib, F, x: F.avg_pool2d(x, 2),
    "adaptive_avg_pool2d": lambda lib, F, x: F.adaptive_avg_pool2d(x, (3, 2)),
    "batch_norm": lambda lib, F, x: F.batch_norm(x, None, None, training=True),
    "interpolate": lambda lib, F, x: F.interpolate(x, scale_factor=2),
    "pad": lambda lib, F, x: F.pad(x, (1, 2)),
    "cat": lambda lib, F, x: lib.cat([x, x], 1),
    "softmax": lambda lib, F, x: x.softmax(1),
    "log_softmax": lambda lib, F, x: x.log_softmax(-1),
    "cumsum": lambda lib, F, x: x.cumsum(2),
    "sum": lambda lib, F, x: x.sum(1, keepdim=True),
    "amax": lambda lib, F, x: x.amax((0, 1)),
    "max": lambda lib, F, x: x.max(2)[1],
    "erf": lambda lib, F, x: x.erf(),
    "lgamma": lambda lib, F, x: x.lgamma(),
    "gelu": lambda lib, F, x: F.gelu(x),
    "relu": lambda lib, F, x: x.relu(),
    "add": lambda lib, F, x: x + 1,
    "mul": lambda lib, F, x: x * x,
    "shift": lambda lib, F, x: x + lib.ones(1, 4, 1, 1),
    "double": lambda lib, F, x: x.double(),
    "compare": lambda lib, F, x: x > 0.5,
    "where": lambda lib, F, x: lib.where(x > 0.5, x, -x),
    "clamp": lambda lib, F, x: x.clamp(0, 1),
    "dropout": lambda lib, F, x: F.dropout(x, 0.5),
    "clone": lambda lib, F, x: x.clone(),
    "zeros_like": lambda lib, F, x: lib.zeros_like(x),
}
LAYOUTS = {
    "plain": lambda lib, x: x,
    "channels_last": lambda lib, x: x.contiguous(memory_format=lib.channels_last),
    "reversed": lambda lib, x: x.permute(3, 2, 1, 0).contiguous().permute(3, 2, 1, 0),
    "rows": lambda lib, x: x.transpose(1, 2).contiguous().transpose(1, 2),
}


def _made(lib, layout, sizes=(2, 4, 6, 5)):
    count = sizes[0] * sizes[1] * sizes[2] * sizes[3]
    return LAYOUTS[layout](lib, lib.arange(1.0, count + 1).reshape(sizes) / count)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_result_lies_where_torch_has_it(name, layout):
    found = []
    for lib in (torch, glassgrad):
        result = FUNCTIONS[name](lib, lib.nn.functional, _made(lib, layout))
        found.append((tuple(result.shape), result.stride(), result.storage_offset()))
    assert found[0] == found[1]


LEAVES = {
    **LAYOUTS,
    "gaps": lambda lib, x: x[:, :, ::2].permute(3, 2, 1, 0),
    "repeated": lambda lib, x: x[:1].expand(2, 4, 6, 5),
    "one": lambda lib, x: x[:, :1],
}


@pytest.mark.parametrize("layout", LEAVES)
def test_a_gradient_lies_as_its_leaf_does(layout):
    found = []
    for lib in (torch, glassgrad):
        leaf = LEAVES[layout](lib, _made(lib, "plain")).detach().requires_grad_()
        (leaf.sin() * leaf).sum().backward()
        found.append(leaf.grad.stride())
    assert found[0] == found[1]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_memory_is_seen_whole(layout):
    found = []
    for lib in (torch, glassgrad):
        result = _made(lib, layout) * 2
        found.append(lib.empty(0).set_(result.untyped_storage()).tolist())
    assert found[0] == found[1]
