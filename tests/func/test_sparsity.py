"""Diagonal and sparse Jacobians and Hessians, beside the dense ones; how many products they take; wrong patterns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import glassgrad as torch
from glassgrad.func import (
    grad,
    hessian,
    hessian_diagonal,
    jacobian_diagonal,
    jacrev,
    sparse_hessian,
    sparse_jacobian,
    sparsity,
    vmap,
)


@pytest.fixture(autouse=True)
def _double() -> Iterator[None]:
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    torch.manual_seed(0)
    yield
    torch.set_default_dtype(before)


def chain(x: Any) -> Any:
    """Rosenbrock's function: a Hessian of three diagonals."""
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


def arrow(x: Any) -> Any:
    """Every variable with the first: a Hessian like an arrow."""
    return (x[1:] ** 3 * x[0]).sum() + x[0].exp()


def grid(x: Any) -> Any:
    """A square grid whose neighbours interact."""
    return ((x[1:] - x[:-1]) ** 4).sum() + ((x[:, 1:] * x[:, :-1]).sin()).sum()


def differences(x: Any) -> Any:
    return (x[1:] - x[:-1]).tanh() * x[:-1]


def heat(x: Any) -> Any:
    """Five points around each inner one of a grid."""
    return x[2:, 1:-1] + x[:-2, 1:-1] + x[1:-1, 2:] + x[1:-1, :-2] - 4 * x[1:-1, 1:-1] ** 3


FUNCTIONS: dict[str, tuple[Callable[..., Any], tuple[int, ...], int]] = {
    "differences": (differences, (12,), 2),
    "grid": (heat, (7, 7), 9),
    "pieces": (lambda x: torch.cat([x[:3].exp(), x[3:] * x[:1]]), (6,), 2),
    "one row of all": (lambda x: torch.stack([x.sum(), x[0], x[1]]), (5,), 2),
    "sums of rows": (lambda x: (x**2).sum(1), (4, 3), 1),
    "transposed": (lambda x: x.t().sigmoid() * 2, (3, 4), 1),
    "dense": (lambda x: (torch.arange(12.0).reshape(3, 4) @ x).sin(), (4,), 3),
    "constant": (lambda x: torch.ones(3), (2,), 0),
    "number": (lambda x: x.exp(), (), 1),
    "softmax": (lambda x: x.softmax(1), (3, 4), 12),
}


def products(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Counts the seeds of the products that are taken."""
    counts: list[int] = []
    seeds = sparsity._seeds

    def counted(*args: Any) -> Any:
        answer = seeds(*args)
        counts.append(len(answer))
        return answer

    monkeypatch.setattr(sparsity, "_seeds", counted)
    return counts


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_sparse_jacobian_is_the_dense_one(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    function, sizes, most = FUNCTIONS[name]
    counts = products(monkeypatch)
    x = torch.randn(sizes)
    dense = jacrev(function)(x)
    result = sparse_jacobian(function)(x)
    assert result.is_sparse and result.shape == dense.shape
    assert torch.allclose(result.to_dense(), dense)
    assert counts[0] <= most
    for pattern in (dense != 0, (dense != 0).reshape(dense.numel() // max(x.numel(), 1), -1), (dense != 0).to_sparse()):
        assert torch.allclose(sparse_jacobian(function, pattern)(x).to_dense(), dense)


@pytest.mark.parametrize(("function", "sizes", "most"), [(chain, (15,), 3), (arrow, (15,), 2), (grid, (5, 5), 5)])
def test_a_sparse_hessian_is_the_dense_one(
    function: Any, sizes: Any, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = products(monkeypatch)
    x = torch.randn(sizes)
    dense = hessian(function)(x)
    pattern = dense != 0
    result = sparse_hessian(function, pattern)(x)
    assert result.is_sparse and result.shape == dense.shape
    assert torch.allclose(result.to_dense(), dense)
    assert counts == [most]
    assert torch.allclose(sparse_hessian(function)(x).to_dense(), dense)
    size = x.numel()
    half = np.triu(np.asarray(pattern.reshape(size, size)))
    assert torch.allclose(sparse_hessian(function, torch.tensor(half))(x).to_dense(), dense)


def test_a_star_colouring_is_one() -> None:
    generator = np.random.default_rng(0)
    for _ in range(50):
        size = int(generator.integers(1, 12))
        matrix = generator.random((size, size)) < 0.3
        matrix |= matrix.T
        rows, columns = np.nonzero(matrix)
        colours = sparsity.star_colours(rows, columns, size)
        near = [set(np.flatnonzero(matrix[i])) - {i} for i in range(size)]
        for a in range(size):
            for b in near[a]:
                assert colours[a] != colours[b]
                for c in near[b] - {a}:
                    for d in near[c] - {a, b}:
                        assert len({colours[a], colours[b], colours[c], colours[d]}) > 2


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_pattern_that_misses_entries_is_refused(dtype: Any) -> None:
    x = torch.randn(12, dtype=dtype)
    pattern = jacrev(differences)(x) != 0
    for place in ((0, 1), (5, 5), (10, 11)):
        short = pattern.clone()
        short[place] = False
        with pytest.raises(RuntimeError, match="sparse_jacobian: the pattern misses entries"):
            sparse_jacobian(differences, short)(x)
    pattern = hessian(chain)(x) != 0
    pattern[3, 4] = pattern[4, 3] = False
    with pytest.raises(RuntimeError, match="sparse_hessian: the pattern misses entries"):
        sparse_hessian(chain, pattern)(x)
    with pytest.raises(RuntimeError, match="sparsity has sizes"):
        sparse_jacobian(differences, torch.ones(3, 3))(x)


def test_diagonals() -> None:
    x, y = torch.randn(3, 4), torch.randn(4)

    def function(x: Any, y: Any) -> Any:
        return x.sin() * y + x**3

    diagonal = jacobian_diagonal(function)(x, y)
    dense = jacrev(function)(x, y).reshape(12, 12)
    assert torch.allclose(diagonal, dense.diagonal().reshape(3, 4))
    of_sum = hessian_diagonal(lambda x: function(x, y).sum())(x)
    assert torch.allclose(of_sum, -x.sin() * y + 6 * x)
    assert torch.allclose(jacobian_diagonal(lambda x: x.exp())(torch.tensor(2.0)), torch.tensor(2.0).exp())


def test_diagonals_within_transforms() -> None:
    x = torch.randn(3, 4)
    twice = grad(lambda x: jacobian_diagonal(lambda y: y**3)(x).sum())(x)
    assert torch.allclose(twice, 6 * x)
    assert torch.allclose(vmap(jacobian_diagonal(lambda y: y**3))(x), 3 * x**2)


def test_what_is_not_diagonal_is_refused() -> None:
    x = torch.randn(5)
    with pytest.raises(RuntimeError, match="the Jacobian is not diagonal"):
        jacobian_diagonal(lambda x: x.softmax(0))(x)
    with pytest.raises(RuntimeError, match="the Jacobian is not diagonal"):
        hessian_diagonal(chain)(x)
    with pytest.raises(RuntimeError, match="made sizes"):
        jacobian_diagonal(lambda x: x.sum())(x)


def test_entries_of_a_sparse_jacobian_have_derivatives() -> None:
    x = torch.randn(6, requires_grad=True)
    pattern = jacrev(differences)(x.detach()) != 0
    (gradient,) = torch.autograd.grad(sparse_jacobian(differences, pattern)(x).to_dense().square().sum(), x)
    (expected,) = torch.autograd.grad(jacrev(differences)(x).square().sum(), x)
    assert torch.allclose(gradient, expected)


@pytest.mark.parametrize(
    "function",
    [chain, grid, lambda x: (x.tanh() * x.sigmoid() + x.abs().sqrt() + torch.nn.functional.softplus(x)).sum()],
)
def test_a_pattern_that_is_read_off_is_no_larger_than_needed(function: Any) -> None:
    x = torch.rand(6, 6) + 0.5 if function is grid else torch.rand(9) + 0.5
    rows, _ = sparsity.pattern_of(function, x, of_gradient=True)
    assert len(rows) <= hessian(function)(x).count_nonzero().item()
