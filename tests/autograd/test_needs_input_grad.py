"""What one walk wants: ``ctx.needs_input_grad`` inside of ``backward``, and the work that rows skip."""

from __future__ import annotations

from typing import Any

import pytest

import glassgrad as torch
from glassgrad.core.row import TABLE


class Product(torch.autograd.Function):
    """``a * b``, which notes what its context says."""

    seen: list[Any] = []

    @staticmethod
    def forward(ctx: Any, a: Any, factor: float, b: Any) -> Any:
        ctx.save_for_backward(a, b)
        ctx.factor = factor
        Product.seen = [ctx.needs_input_grad]
        return a * b * factor

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        a, b = ctx.saved_tensors
        Product.seen.append(ctx.needs_input_grad)
        needs = ctx.needs_input_grad
        return grad * b * ctx.factor if needs[0] else None, None, grad * a * ctx.factor if needs[2] else None


def leaves() -> tuple[Any, Any]:
    """Two leaves of four numbers."""
    return torch.randn(4, requires_grad=True), torch.randn(4, requires_grad=True)


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize(
    ("names", "expected"), [("a", (True, False, False)), ("b", (False, False, True)), ("ab", (True, False, True))]
)
def test_a_context_tells_what_this_walk_wants(names: str, expected: Any, create_graph: bool) -> None:
    a, b = leaves()
    by_name = {"a": a, "b": b}
    x, y = a * 1, b * 1  # behind records, which are needed and no targets
    out = Product.apply(x, 2.0, y)
    answers = torch.autograd.grad(
        out.sum(), [by_name[name] for name in names], retain_graph=True, create_graph=create_graph
    )
    assert Product.seen == [(True, False, True), expected]
    true = {"a": 2 * b, "b": 2 * a}
    for name, answer in zip(names, answers, strict=True):
        assert torch.equal(answer, true[name])
    out.sum().backward(inputs=[by_name[name] for name in names], retain_graph=True)
    assert Product.seen[-1] == expected
    out.sum().backward()
    assert Product.seen[-1] == (True, False, True)
    assert out.grad_fn.needs_input_grad == (True, False, True)


def test_a_walk_inside_of_a_walk_wants_its_own() -> None:
    a, b = leaves()
    inner_seen = []

    class Outer(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, y: Any) -> Any:
            return x + y

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            inner_seen.append(ctx.needs_input_grad)
            with torch.enable_grad():
                Product.apply(*(lambda p, q: (p, 1.0, q))(*leaves())).sum().backward()
            inner_seen.append(Product.seen[-1])
            inner_seen.append(ctx.needs_input_grad)
            return grad, grad

    torch.autograd.grad(Outer.apply(a, b).sum(), a)
    assert inner_seen == [(True, False), (True, False, True), (True, False)]


def test_one_factor_costs_one_product(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = torch.randn(32, 4, requires_grad=True), torch.randn(4, 40, requires_grad=True)
    out = (a * 1) @ (b * 1)
    row = TABLE["mm"]
    ran: list[str] = []
    rules = []
    for rule in row.plan.rules:
        name = "ab"[rule.edges[0]]

        def noted(*args: Any, name: str = name, on_arrays: Any = rule.on_arrays) -> Any:
            ran.append(name)
            return on_arrays(*args)

        rules.append(rule._replace(on_arrays=noted))
    monkeypatch.setattr(row.plan, "rules", tuple(rules))
    (grad,) = torch.autograd.grad(out.sum(), a, retain_graph=True)
    assert ran == ["a"]
    assert torch.allclose(grad, b.sum(1).expand(32, 4), atol=1e-5)
    torch.autograd.grad(out.sum(), b, retain_graph=True)
    assert ran == ["a", "b"]


def test_hooks_of_a_node_see_none_where_nothing_is_wanted() -> None:
    a, b = leaves()
    out = (a * 1) * (b * 1)
    seen = []
    out.grad_fn.register_hook(lambda gave, came: seen.append([g is None for g in gave]))
    torch.autograd.grad(out.sum(), b)
    assert seen == [[True, False]]
