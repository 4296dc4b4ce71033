"""Parametrizations: one tensor or several, chains, caching, removal, transfer, copies; those ready to use."""

import copy
import pickle

import pytest

from tests.agreement import check

pytestmark = pytest.mark.torch


def kinds(torch):
    """A few parametrizations of one engine."""
    nn = torch.nn

    class Symmetric(nn.Module):
        def forward(self, x):
            return x.triu() + x.triu(1).mT

        def right_inverse(self, a):
            return a.triu()

    class Twice(nn.Module):
        def forward(self, x):
            return x * 2

    class Sum(nn.Module):
        def forward(self, x, y):
            return x + y

        def right_inverse(self, z):
            return z, torch.zeros_like(z)

    class Other(nn.Module):
        def __init__(self, function, back=None):
            super().__init__()
            self.function = function
            if back is not None:
                self.right_inverse = back

        def forward(self, x):
            return self.function(x)

    return Symmetric, Twice, Sum, Other


def layer(torch, *sizes):
    torch.manual_seed(0)
    return torch.nn.Linear(*(sizes or (3, 3))).double()


def shown(torch, show, module, x):
    """Show what a module prints, holds and gives, and its gradients."""
    show("repr", repr(module))
    show("state", dict(module.state_dict()))
    show("class", [type(module).__name__, isinstance(module, torch.nn.Linear)])
    module.zero_grad()
    y = module(x)
    show("y", y)
    y.square().sum().backward()
    show("gradients", {name: p.grad for name, p in module.named_parameters()})


def test_one_tensor():
    def program(torch, show):
        P = torch.nn.utils.parametrize
        Symmetric, Twice, _, _ = kinds(torch)
        module = layer(torch)
        before = module.weight
        x = torch.randn(2, 3, dtype=torch.float64)
        show("before", [P.is_parametrized(module), P.type_before_parametrizations(module).__name__])
        show("same", P.register_parametrization(module, "weight", Symmetric()) is module)
        show("kept", module.parametrizations.weight.original is before)
        shown(torch, show, module, x)
        P.register_parametrization(module, "weight", Twice())
        P.register_parametrization(module, "bias", Twice())
        shown(torch, show, module, x)
        show("now", [P.is_parametrized(module, name) for name in ("weight", "bias", "other")])
        show("type", P.type_before_parametrizations(module).__name__)
        show.error(lambda: setattr(module, "weight", torch.eye(3).double()))
        P.remove_parametrizations(module, "bias", leave_parametrized=False)
        shown(torch, show, module, x)
        P.remove_parametrizations(module, "weight")
        show("kept", [module.weight is before, hasattr(module, "parametrizations")])
        shown(torch, show, module, x)
        P.register_parametrization(module, "weight", Symmetric())
        module.weight = torch.arange(9.0).double().reshape(3, 3)
        shown(torch, show, module, x)

    check(program)


def test_several_tensors():
    def program(torch, show):
        P = torch.nn.utils.parametrize
        _, Twice, Sum, _ = kinds(torch)
        module = layer(torch)
        x = torch.randn(2, 3, dtype=torch.float64)
        P.register_parametrization(module, "weight", Sum())
        shown(torch, show, module, x)
        module.weight = torch.eye(3).double()
        shown(torch, show, module, x)
        show.error(lambda: P.remove_parametrizations(module, "weight", leave_parametrized=False))
        other = layer(torch)
        show("transferred", P.transfer_parametrizations_and_params(module, other) is other)
        shown(torch, show, other, x)
        P.remove_parametrizations(module, "weight")
        shown(torch, show, module, x)

    check(program)


def test_buffers_caching_and_copies():
    def program(torch, show):
        P = torch.nn.utils.parametrize
        Symmetric, Twice, _, _ = kinds(torch)
        module = layer(torch)
        module.register_buffer("seen", torch.ones(2))
        P.register_parametrization(module, "seen", Twice())
        show("seen", [module.seen, dict(module.named_buffers())])
        P.register_parametrization(module, "weight", Symmetric())
        show("fresh", module.weight is module.weight)
        with P.cached():
            show("cached", module.weight is module.weight)
            with P.cached():
                held = module.weight
            show("still", held is module.weight)
        show("fresh again", held is module.weight)
        twin = copy.deepcopy(module)
        with torch.no_grad():
            twin.parametrizations.weight.original.fill_(1.0)
        show("twin", [type(twin).__name__, twin.weight, module.weight])
        show.error(lambda: pickle.dumps(module))
        other = layer(torch)
        P.register_parametrization(other, "weight", Symmetric())
        other.load_state_dict(module.state_dict(), strict=False)
        show("loaded", other.weight)
        module.eval()
        show("modes", [part.training for part in module.modules()])
        module.float()
        show("dtype", module.weight.dtype)

    check(program)


def test_refusals():
    def program(torch, show):
        P = torch.nn.utils.parametrize
        Symmetric, Twice, Sum, Other = kinds(torch)
        register = P.register_parametrization
        show.error(lambda: register(layer(torch), "other", Twice()))
        show.error(lambda: P.remove_parametrizations(layer(torch), "weight"))
        show.error(lambda: P.ParametrizationList([], torch.zeros(2)))
        show.error(lambda: register(layer(torch), "weight", Other(lambda x: 3)))
        show.error(lambda: register(layer(torch), "weight", Other(lambda x: x.float())))
        show.error(lambda: register(layer(torch), "weight", Other(lambda x: x[:1])))
        show.error(lambda: register(layer(torch), "weight", Other(lambda x: x, lambda x: 3)))
        show.error(lambda: register(layer(torch), "weight", Other(lambda x: x, lambda x: x.float())))
        show.error(lambda: register(layer(torch), "weight", Other(lambda x: x, lambda x: [x, 3])))
        show("unsafe", register(layer(torch), "weight", Other(lambda x: x[:1]), unsafe=True).weight.shape)
        module = register(layer(torch), "weight", Twice())
        show.error(lambda: register(module, "weight", Other(lambda x: 3)))
        show.error(lambda: register(module, "weight", Other(lambda x: x.float())))
        show.error(lambda: register(module, "weight", Other(lambda x: x[:1])))
        show.error(lambda: register(module, "weight", Other(lambda x: x, lambda x: 3)))
        show.error(lambda: register(module, "weight", Other(lambda x: x, lambda x: x.float())))
        show.error(lambda: register(module, "weight", Other(lambda x: x, lambda x: x[:1])))
        module = register(layer(torch), "weight", Other(lambda x: x, lambda x: x.to(x.dtype)))
        module.parametrizations.weight[0].right_inverse = lambda x: x.float()
        show.error(lambda: setattr(module, "weight", torch.zeros(3, 3).double()))
        module = register(layer(torch), "weight", Sum())
        module.parametrizations.weight[0].right_inverse = lambda x: [x]
        show.error(lambda: setattr(module, "weight", torch.zeros(3, 3).double()))
        module.parametrizations.weight[0].right_inverse = lambda x: [x, x.float()]
        show.error(lambda: setattr(module, "weight", torch.zeros(3, 3).double()))

    check(program)


@pytest.mark.parametrize("dim", [0, 1, -1, None])
def test_weight_norm(dim):
    def program(torch, show):
        N = torch.nn.utils.parametrizations
        x = torch.randn(2, 4, dtype=torch.float64)
        module = N.weight_norm(layer(torch, 4, 3), dim=dim)
        shown(torch, show, module, x)
        old = torch.nn.utils.weight_norm(layer(torch, 4, 3), dim=dim)
        with torch.no_grad():
            old.weight_g.mul_(3)
        module.load_state_dict(old.state_dict())
        shown(torch, show, module, x)
        module.weight = torch.ones(3, 4, dtype=torch.float64)
        shown(torch, show, module, x)
        torch.nn.utils.parametrize.remove_parametrizations(module, "weight")
        shown(torch, show, module, x)
        show.error(lambda: N.weight_norm(layer(torch), "other"))

    check(program)


@pytest.mark.parametrize("options", [{}, {"n_power_iterations": 2, "eps": 1e-4}, {"dim": 1}, {"dim": -1}], ids=str)
def test_spectral_norm(options):
    def program(torch, show):
        N = torch.nn.utils.parametrizations
        module = N.spectral_norm(layer(torch, 4, 3), **options)
        x = torch.randn(2, 4, dtype=torch.float64)
        for _ in range(3):
            shown(torch, show, module, x)
        (module(x) + module(x)).sum().backward()
        show("twice", module.parametrizations.weight.original.grad)
        shown(torch, show, module.eval(), x)
        N.spectral_norm(module, "bias")
        shown(torch, show, module, x)
        show.error(lambda: N.spectral_norm(layer(torch), "other"))
        show.error(lambda: N.spectral_norm(layer(torch), dim=2))
        show.error(lambda: N.spectral_norm(layer(torch), n_power_iterations=0))

    check(program)


@pytest.mark.parametrize("sizes", [(3, 3), (3, 5), (5, 3)], ids=str)
@pytest.mark.parametrize("trivial", [True, False])
@pytest.mark.parametrize("way", [None, "matrix_exp", "cayley", "householder"])
def test_orthogonal(sizes, trivial, way):
    def program(torch, show):
        N, P = torch.nn.utils.parametrizations, torch.nn.utils.parametrize
        module = N.orthogonal(layer(torch, *sizes), orthogonal_map=way, use_trivialization=trivial)
        x = torch.randn(2, sizes[0], dtype=torch.float64)
        show("repr", repr(module))
        show("keys", list(module.state_dict()))
        show("free", module.parametrizations.weight.original)
        weight = lambda: module.weight.detach().contiguous()  # noqa: E731  its strides are the solver's
        show("weight", weight())
        optimizer = torch.optim.SGD(module.parameters(), lr=0.05)
        for _ in range(3):
            optimizer.zero_grad()
            (module(x) * torch.arange(1.0, 2 * sizes[1] + 1).reshape(2, -1)).sum().backward()
            optimizer.step()
            show("step", weight())
        show.error(lambda: setattr(module, "weight", torch.ones(2, 2).double()))
        torch.manual_seed(1)
        target = torch.nn.init.orthogonal_(torch.empty(sizes[1], sizes[0], dtype=torch.float64))
        show.error(lambda: setattr(module, "weight", target))
        show("set", weight())
        P.remove_parametrizations(module, "weight")
        show("plain", weight())

    check(program)


def test_refused_orthogonals():
    def program(torch, show):
        N = torch.nn.utils.parametrizations
        show.error(lambda: N.orthogonal(layer(torch), "other"))
        show.error(lambda: N.orthogonal(layer(torch), "bias"))
        show.error(lambda: N.orthogonal(layer(torch), orthogonal_map="qr"))

    check(program)
