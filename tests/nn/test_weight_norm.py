"""Weight and spectral normalisation by hooks: keys, values, gradients, power iteration, removal, errors."""

import copy
import pickle

import pytest

from tests.agreement import check

pytestmark = pytest.mark.torch


def layer(torch, kind="Linear", *sizes):
    torch.manual_seed(0)
    return getattr(torch.nn, kind)(*(sizes or (4, 3))).double()


def shown(torch, show, module, x):
    """Show what a module gives, its gradients and its state."""
    module.zero_grad()
    y = module(x)
    show("y", y)
    y.square().sum().backward()
    show("gradients", {name: p.grad for name, p in module.named_parameters()})
    show("state", dict(module.state_dict()))
    show("parameter", isinstance(module.weight, torch.nn.Parameter))


@pytest.mark.parametrize("dim", [0, 1, None])
def test_weight_norm(dim):
    def program(torch, show):
        utils = torch.nn.utils
        module = show.warnings(lambda: utils.weight_norm(layer(torch), dim=dim))
        x = torch.randn(5, 4, dtype=torch.float64)
        show("repr", repr(module))
        shown(torch, show, module, x)
        optimizer = torch.optim.SGD(module.parameters(), lr=0.1)
        for _ in range(3):
            optimizer.zero_grad()
            module(x).square().sum().backward()
            optimizer.step()
        shown(torch, show, module, x)
        other = utils.weight_norm(layer(torch), dim=dim)
        other.load_state_dict(module.state_dict())
        show("loaded", other(x))
        show.error(lambda: utils.weight_norm(module))
        show.error(lambda: utils.remove_weight_norm(module, "bias"))
        show("same", utils.remove_weight_norm(module) is module)
        shown(torch, show, module, x)
        show.error(lambda: utils.remove_weight_norm(module))

    check(program)


def test_functions_of_weights():
    def program(torch, show):
        torch.manual_seed(0)
        v = torch.randn(3, 4, 5, dtype=torch.float64)
        for dim in (0, 1, 2, -1):
            for power in (1, 2, 3):
                show("norm", torch.norm_except_dim(v, power, dim))
            show("weight", torch._weight_norm(v, torch.norm_except_dim(v, 2, dim) * 2, dim))
        leaf = v.clone().requires_grad_()
        length = torch.ones(3, 1, 1, dtype=torch.float64, requires_grad=True)
        show.saved("saved", torch._weight_norm(leaf, length, 0))

    check(program)


@pytest.mark.parametrize("options", [{}, {"n_power_iterations": 3}, {"dim": 1, "eps": 1e-3}], ids=str)
def test_spectral_norm(options):
    def program(torch, show):
        utils = torch.nn.utils
        module = utils.spectral_norm(layer(torch), **options)
        show("repr", repr(module))
        show("first", module.weight)
        x = torch.randn(5, 4, dtype=torch.float64)
        for _ in range(3):
            shown(torch, show, module, x)
        twice = module(x) + module(x)
        twice.sum().backward()
        show("twice", module.weight_orig.grad)
        module.eval()
        shown(torch, show, module, x)
        shown(torch, show, copy.deepcopy(utils.spectral_norm(layer(torch), **options)), x)
        show("copied", pickle.loads(pickle.dumps(utils.spectral_norm(layer(torch), **options)))(x))
        state = module.state_dict()
        show("noted", state._metadata[""])
        other = utils.spectral_norm(layer(torch), **options).eval()
        other.load_state_dict(state)
        show("loaded", other(x))
        old = {key: value for key, value in state.items() if key != "weight_v"}
        old["weight"] = module.weight.detach()
        other.load_state_dict(old)
        show("loaded from an older version", other(x))
        del old["weight_u"]
        show.error(lambda: other.load_state_dict(old))
        show.error(lambda: utils.spectral_norm(module))
        show("same", utils.remove_spectral_norm(module) is module)
        shown(torch, show, module, x)
        show("hooks", [len(module._state_dict_hooks), len(module._forward_pre_hooks)])
        show.error(lambda: utils.remove_spectral_norm(module))
        show.error(lambda: utils.spectral_norm(layer(torch), n_power_iterations=0))
        show.error(lambda: utils.spectral_norm(torch.nn.Linear(2, 2, bias=False), "bias"))

    check(program)


def test_memory_format_keeps_values():
    def program(torch, show):
        module = torch.nn.Sequential(torch.nn.Linear(2, 2))
        for convert in (
            torch.nn.utils.convert_conv2d_weight_memory_format, torch.nn.utils.convert_conv3d_weight_memory_format,
        ):  # fmt: skip
            show("same", convert(module, torch.channels_last) is module)

    check(program)
