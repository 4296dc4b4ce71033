"""Tensors on the same memory: which of them lie on which, and whether they do, changes between calls."""

import numpy as np
import pytest

import glassgrad as torch
from glassgrad import nn

ON = {
    "apart": lambda x: x.clone(), "the same array": lambda x: x.detach(), "a view": lambda x: x.view(x.shape),
    "a view without gradient": lambda x: x.detach().view(x.shape), "a part": lambda x: x.detach()[..., :],
}  # fmt: skip


def read_before_and_after(x, y):
    a = y + 1
    x.add_(1)
    return a, y + 1


def a_sum(x, y):
    x.mul_(2)
    return ((y * 3).sum(),)


def a_copy(x, y):
    a = torch.exp(y)
    x.copy_(a)
    return torch.exp(y), a


@pytest.mark.parametrize("pure", [False, True], ids=["compared", "pure"])
@pytest.mark.parametrize("other", list(ON)[1:])
@pytest.mark.parametrize("function", [read_before_and_after, a_sum, a_copy])
def test_arguments_on_one_memory(function, other, pure):
    for pattern in ((0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 1, 1), (1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 0)):
        for shape in ((4,), ()):
            call = torch.compile(function, pure=pure)
            for shared in pattern:
                seen = []
                for one in (function, call):
                    x = torch.ones(shape) * 0.5
                    y = ON[other if shared else "apart"](x)
                    seen.append([t.tolist() for t in (*one(x, y), x, y)])
                assert seen[0] == seen[1], (pattern, shape)


@pytest.mark.parametrize("pure", [False, True], ids=["compared", "pure"])
@pytest.mark.parametrize("other", list(ON)[1:])
def test_an_argument_on_the_memory_of_a_parameter(other, pure):
    """What the optimizer writes is seen through the argument."""
    seen = []
    for how in (lambda step: step, lambda step: torch.compile(step, pure=pure)):
        torch.manual_seed(0)
        weight = nn.Parameter(torch.randn(4))
        optimizer = torch.optim.SGD([weight], lr=0.1)

        def step(x, weight=weight, optimizer=optimizer):
            optimizer.zero_grad()
            (weight * x * x).sum().backward()
            optimizer.step()
            return x * 2

        step, rows = how(step), []
        for shared in (0, 0, 0, 0, 1, 1, 0, 1, 1, 1, 0):
            x = ON[other](weight.detach()) if shared else torch.randn(4)
            rows.append([step(x).tolist(), weight.tolist()])
        seen.append(rows)
    np.testing.assert_allclose(seen[0], seen[1], rtol=1e-5)
