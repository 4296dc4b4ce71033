"""Tensors that a transformed function makes: as PyTorch's they can be written into, where they are like a batch."""

import pytest

from tests.func.test_against_torch import _matrix, _vector, assert_same

pytestmark = pytest.mark.torch


def _cube(t):
    return t.arange(18.0, dtype=t.float64).reshape(2, 3, 3) / 5


PROGRAMS = {
    "new_zeros": lambda t, x: x.new_zeros(3).add_(x),
    "new_ones": lambda t, x: x.new_ones((2, 3)).mul_(x),
    "new_empty": lambda t, x: x.new_empty(3).copy_(x),
    "new_full": lambda t, x: x.new_full((3,), 2.0).mul_(x),
    "new_empty_strided": lambda t, x: x.new_empty_strided((3,), (1,)).copy_(x),
    "zeros_like": lambda t, x: t.zeros_like(x).add_(x),
    "ones_like": lambda t, x: t.ones_like(x).sub_(x),
    "empty_like": lambda t, x: t.empty_like(x).copy_(x),
    "full_like": lambda t, x: t.full_like(x, 3.0).mul_(x),
    "window": lambda t, x: x.new_zeros(4).narrow(0, 1, 3).copy_(x * x),
    "not written": lambda t, x: (t.zeros_like(x), x.new_ones(2, dtype=t.int64)),
    "printed": lambda t, x: [repr(t.zeros_like(x)), x][1],
}  # fmt: skip
NESTS = {
    "vmap": lambda t, f: t.vmap(f)(_matrix(t)),
    "vmap along the last": lambda t, f: t.vmap(f, in_dims=1)(_matrix(t).t()),
    "vmap of vmap": lambda t, f: t.vmap(t.vmap(f))(_cube(t)),
    "vmap of grad": lambda t, f: t.vmap(t.func.grad(lambda x: _sum(f(x))))(_matrix(t)),
    "grad of vmap": lambda t, f: t.func.grad(lambda x: _sum(t.vmap(f)(x)))(_matrix(t)),
    "jvp": lambda t, f: t.func.jvp(lambda x: _sum(f(x)), (_vector(t),), (_vector(t),)),
    "vmap of jvp": lambda t, f: t.vmap(lambda x: t.func.jvp(lambda x: _sum(f(x)), (x,), (x,)))(_matrix(t)),
}


def _sum(outputs):
    return sum((out.double() ** 2).sum() for out in (outputs if isinstance(outputs, tuple) else (outputs,)))


@pytest.mark.parametrize("nest", NESTS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_new_tensors(name, nest):
    assert_same(lambda t: NESTS[nest](t, lambda x: PROGRAMS[name](t, x)))
