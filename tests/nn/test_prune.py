"""Pruning: what is chosen, keys and buffers, several times over, whole networks at once, removal, errors."""

import importlib

import pytest

from tests.agreement import check

pytestmark = pytest.mark.torch

WAYS = [
    ("identity", {}), ("random_unstructured", {"amount": 0.3}), ("random_unstructured", {"amount": 4}),
    ("l1_unstructured", {"amount": 0.5}), ("l1_unstructured", {"amount": 0}),
    ("random_structured", {"amount": 2, "dim": 0}), ("random_structured", {"amount": 0.4, "dim": 1}),
    ("ln_structured", {"amount": 1, "n": 2, "dim": 0}), ("ln_structured", {"amount": 0.5, "n": 1, "dim": -1}),
    ("ln_structured", {"amount": 2, "n": float("inf"), "dim": 1}),
]  # fmt: skip


def pruning(torch):
    return importlib.import_module(f"{torch.__name__}.nn.utils.prune")


def layer(torch):
    torch.manual_seed(0)
    return torch.nn.Linear(5, 4).double()


def shown(torch, show, module, x):
    """Show what a module holds and gives, and its gradients."""
    module.zero_grad()
    y = module(x)
    show("y", y)
    y.square().sum().backward()
    show("gradients", {name: p.grad for name, p in module.named_parameters()})
    show("state", dict(module.state_dict()))
    show("weight", [module.weight, isinstance(module.weight, torch.nn.Parameter)])


@pytest.mark.parametrize(("name", "options"), WAYS, ids=str)
def test_one_way(name, options):
    def program(torch, show):
        prune = pruning(torch)
        module = layer(torch)
        x = torch.randn(2, 5, dtype=torch.float64)
        show("same", getattr(prune, name)(module, "weight", **options) is module)
        show("repr", repr(module))
        show("pruned", prune.is_pruned(torch.nn.Sequential(module)))
        shown(torch, show, module, x)
        prune.l1_unstructured(module, "weight", 3)
        prune.ln_structured(module, "weight", 1, 2, 1)
        prune.random_unstructured(module, "weight", 0.5)
        shown(torch, show, module, x)
        (hook,) = module._forward_pre_hooks.values()
        show("container", [len(hook), [type(part).__name__ for part in hook]])
        original = module.weight_orig
        show("same", prune.remove(module, "weight") is module)
        show("kept", [module.weight is original, prune.is_pruned(module)])
        shown(torch, show, module, x)
        show.error(lambda: prune.remove(module, "weight"))

    check(program)


def test_scores_and_masks():
    def program(torch, show):
        prune = pruning(torch)
        module = layer(torch)
        x = torch.randn(2, 5, dtype=torch.float64)
        scores = torch.arange(20.0).reshape(4, 5)
        prune.l1_unstructured(module, "weight", 5, importance_scores=scores)
        prune.custom_from_mask(module, "bias", torch.tensor([1, 0, 1, 1]))
        shown(torch, show, module, x)
        prune.ln_structured(module, "weight", 1, 2, 0, importance_scores=-scores)
        shown(torch, show, module, x)
        for method in (prune.L1Unstructured(0.5), prune.LnStructured(1, 2, 0), prune.CustomFromMask(scores > 9)):
            show("plain", method.prune(scores - 9.3))
            show("scored", method.prune(scores, default_mask=(scores != 3).float(), importance_scores=-scores))
        other = layer(torch)
        prune.identity(other, "weight")
        prune.identity(other, "bias")
        other.load_state_dict(module.state_dict())
        show("loaded", other(x))

    check(program)


def test_globally():
    def program(torch, show):
        prune, nn = pruning(torch), torch.nn
        torch.manual_seed(0)
        net = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 3)).double()
        places = [(net[0], "weight"), (net[2], "weight"), (net[2], "bias")]
        prune.global_unstructured(places, prune.L1Unstructured, amount=0.4)
        show("state", dict(net.state_dict()))
        prune.global_unstructured(places, prune.RandomUnstructured, amount=5)
        show("state", dict(net.state_dict()))
        scores = {(net[2], "bias"): torch.full((3,), -9.0).double()}
        prune.global_unstructured(places, prune.L1Unstructured, importance_scores=scores, amount=3)
        show("state", dict(net.state_dict()))
        show.error(lambda: prune.global_unstructured(3, prune.L1Unstructured, amount=1))
        show.error(lambda: prune.global_unstructured(places, prune.L1Unstructured, importance_scores=3, amount=1))
        structured = prune.LnStructured
        show.error(lambda: prune.global_unstructured(places, structured, amount=1, n=2), words="the `pruning_method`.")

    check(program)


def test_own_method():
    def program(torch, show):
        prune = pruning(torch)

        class EverySecond(prune.BasePruningMethod):
            PRUNING_TYPE = "unstructured"

            def compute_mask(self, t, default_mask):
                mask = default_mask.clone()
                mask.view(-1)[::2] = 0
                return mask

        module = layer(torch)
        EverySecond.apply(module, "weight")
        show("mask", module.weight_mask)
        EverySecond.apply(module, "weight")
        show("mask", module.weight_mask)
        with_dim = layer(torch)
        prune.identity(with_dim, "weight")
        EverySecond.PRUNING_TYPE = "structured"
        show.error(lambda: EverySecond.apply(with_dim, "weight"))
        EverySecond.PRUNING_TYPE = "other"
        show.error(lambda: EverySecond.apply(with_dim, "weight"))
        container = prune.PruningContainer()
        container._tensor_name = "bias"
        show.error(lambda: container.add_pruning_method(3))
        method = prune.Identity()
        method._tensor_name = "weight"
        show.error(lambda: container.add_pruning_method(method), words="named 'bias'")

    check(program)


def test_refusals():
    def program(torch, show):
        prune = pruning(torch)
        module = layer(torch)
        for amount in (-1, 1.5, -0.5, "x", 100):
            show.error(lambda amount=amount: prune.l1_unstructured(module, "weight", amount))
        show("whole", list(module.state_dict()))
        show.error(lambda: prune.random_structured(module, "bias", 1, 0))
        show.error(lambda: prune.ln_structured(module, "weight", 1, 2, 3))
        show.error(lambda: prune.ln_structured(module, "weight", 9, 2, 0))
        show.error(lambda: prune.l1_unstructured(module, "weight", 1, importance_scores=torch.zeros(2)))
        show.error(lambda: prune.custom_from_mask(module, "weight", torch.zeros(2)))
        show.error(lambda: prune.l1_unstructured(module, "other", 1))
        show.error(lambda: prune.L1Unstructured(1).prune(torch.zeros(3), importance_scores=torch.zeros(2)))
        show("whole", list(module.state_dict()))

    check(program)
