"""``swap_tensors``, and modules that convert by new or exchanged Parameters."""

import weakref

import pytest

from tests.agreement import check

pytestmark = pytest.mark.torch


def test_swapping():
    def program(torch, show):
        a, b = torch.ones(2, requires_grad=True), torch.zeros(3)
        a.mark = 1
        torch.utils.swap_tensors(a, b)
        show("exchanged", [a, b, hasattr(a, "mark"), b.mark, b.is_leaf])
        b.sum().backward()
        show("gradient", b.grad)
        kept = weakref.ref(a)
        show.error(lambda: torch.utils.swap_tensors(a, torch.ones(1)), "a weak reference")
        del kept

        class Marked(torch.Tensor):
            pass

        class Slotted(torch.Tensor):
            __slots__ = ("q",)

        first, second = torch.ones(2).as_subclass(Marked), torch.zeros(2)
        torch.utils.swap_tensors(first, second)
        show("classes", [type(first).__name__, type(second).__name__, first.sum().item(), second.sum().item()])
        show.error(lambda: torch.utils.swap_tensors(torch.ones(2).as_subclass(Slotted), second), "slots")

    check(program)


@pytest.mark.parametrize("which", ["neither", "overwrite", "swap"])
def test_conversion(which):
    def program(torch, show):
        import importlib

        future = importlib.import_module(f"{torch.__name__}.__future__")
        show(
            "before",
            [future.get_overwrite_module_params_on_conversion(), future.get_swap_module_params_on_conversion()],
        )
        torch.manual_seed(0)
        layer = torch.nn.Linear(2, 2)
        layer(torch.ones(1, 2)).sum().backward()
        weight, grad = layer.weight, layer.weight.grad
        layer.bias.requires_grad_(False)
        if which != "neither":
            getattr(future, f"set_{which}_module_params_on_conversion")(True)
        try:
            layer.double()
            show("same", [layer.weight is weight, layer.weight.grad is grad, weight.dtype, grad.dtype])
            show("values", [layer.weight, layer.weight.grad, layer.bias, layer.weight.is_leaf])
            other = torch.nn.Linear(2, 2).double()
            bias = other.bias
            other.load_state_dict(layer.state_dict())
            show("loaded", [other.weight, other.bias is bias, bias.grad, other.bias.requires_grad])
        finally:
            if which != "neither":
                getattr(future, f"set_{which}_module_params_on_conversion")(False)

    check(program)
