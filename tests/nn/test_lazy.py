"""Uninitialized parameters and buffers, and the modules that fill them in at their first call."""

import copy
import pickle

import pytest

import glassgrad
from tests.agreement import check

pytestmark = pytest.mark.torch


def test_what_an_uninitialized_tensor_answers():
    def program(torch, show):
        from_parameter = torch.nn.parameter
        for kind in (from_parameter.UninitializedParameter, from_parameter.UninitializedBuffer):
            p = kind(dtype=torch.float64)
            show("repr", repr(p))
            show("lazy", [from_parameter.is_lazy(x) for x in (p, torch.ones(2), None)])
            show("facts", [p.dtype, str(p.device), p.requires_grad, p.size(), p.is_leaf, p.is_floating_point()])
            show("classes", [isinstance(p, torch.nn.Parameter), isinstance(p, torch.nn.Buffer)])
            show.error(lambda p=p: p.shape)
            show.error(lambda p=p: p.share_memory_())
            show.error(lambda p=p: p + 1)
            show.error(lambda p=p: p.sum())
            show.error(lambda p=p: p.numel())
            show.error(lambda p=p: p.detach())
            show.error(lambda p=p: p.requires_grad_(False))
            show.error(lambda p=p: p == p)
            show.error(lambda p=p: len(p), words="uninitialized parameter in")
            show.error(lambda p=p: p[0], words="uninitialized parameter in")
            show.error(lambda p=p: torch.add(p, 1), words="uninitialized parameter in")
            show.error(lambda p=p: torch.nn.functional.linear(torch.ones(2, 2), p), words="uninitialized parameter in")
            show("pickled", repr(pickle.loads(pickle.dumps(p))))
            show("copied", repr(copy.copy(p)))
            p.materialize((2, 3))
            show("shape", [tuple(p.shape), p.dtype, p.requires_grad, isinstance(p, torch.nn.Buffer)])
            show("kind", type(p) in (torch.nn.Parameter, torch.Tensor))
            q = kind()
            q.materialize([4], dtype=torch.float16)
            show("another", [tuple(q.shape), q.dtype])
        p = from_parameter.UninitializedParameter(requires_grad=False)
        twin = copy.deepcopy(p)
        show("deep copy", [repr(twin), twin is p, twin.requires_grad])
        show.error(lambda: copy.deepcopy(from_parameter.UninitializedBuffer()), words="parameter in")
        show("persistent", from_parameter.UninitializedBuffer(persistent=False).persistent)

    check(program)


def test_lazy_linear():
    def program(torch, show):
        for kwargs in ({}, {"bias": False}, {"dtype": torch.float64}):
            torch.manual_seed(5)
            layer = torch.nn.LazyLinear(3, **kwargs)
            show("before", repr(layer))
            show("waiting", layer.has_uninitialized_params())
            layer.double()
            show("state before", {key: repr(value) for key, value in layer.state_dict().items()})
            x = torch.randn(2, 4, dtype=torch.float64)
            show("y", layer(x))
            show("after", [repr(layer), type(layer) is torch.nn.Linear, layer.in_features])
            show("hooks", [len(layer._forward_pre_hooks), len(layer._load_state_dict_pre_hooks)])
            show("state", dict(layer.state_dict()))
            layer(x).sum().backward()
            show("gradient", layer.weight.grad)

    check(program)


def test_loading_between_lazy_and_real():
    def program(torch, show):
        nn = torch.nn
        torch.manual_seed(0)
        real, lazy = nn.Linear(4, 3), nn.LazyLinear(3)
        show("keys", str(lazy.load_state_dict(real.state_dict())))
        show("loaded", [repr(lazy), lazy.has_uninitialized_params()])
        show("y", lazy(torch.ones(2, 4)))
        show("after", repr(lazy))
        other = nn.LazyLinear(3)
        other.load_state_dict(real.state_dict())
        show.error(lambda: other(torch.ones(2, 5)))
        show.error(lambda: nn.Linear(4, 3).load_state_dict(nn.LazyLinear(3).state_dict()))
        show("lazy from lazy", str(nn.LazyLinear(3).load_state_dict(nn.LazyLinear(3).state_dict())))
        show.error(lambda: nn.LazyLinear(3).load_state_dict({}))
        show.error(lambda: nn.LazyLinear(2).load_state_dict(real.state_dict()))
        norm = nn.LazyBatchNorm1d()
        norm.load_state_dict(nn.BatchNorm1d(3).state_dict())
        show("norm", [repr(norm), norm.has_uninitialized_params()])
        for made in (copy.deepcopy(nn.LazyLinear(2)), pickle.loads(pickle.dumps(nn.LazyLinear(2)))):
            torch.manual_seed(1)
            show("copy", made(torch.ones(1, 3)))
            show("copy after", repr(made))

    check(program)


def test_a_network_of_lazy_parts():
    def program(torch, show):
        nn = torch.nn
        torch.manual_seed(0)
        net = nn.Sequential(nn.LazyLinear(8), nn.LazyBatchNorm1d(), nn.ReLU(), nn.LazyLinear(2))
        show("before", repr(net))
        show.error(lambda: [p.numel() for p in net.parameters()])
        show.error(lambda: net.requires_grad_(False))
        net.zero_grad()
        net.float()
        show("empty optimizer step", torch.optim.SGD(net.parameters(), lr=0.1).step())
        show("vector", nn.utils.clip_grad_norm_(net.parameters(), 1.0))
        net(torch.randn(5, 4))
        show("after", repr(net))
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(3):
            optimizer.zero_grad()
            loss = net(torch.randn(5, 4)).pow(2).mean()
            loss.backward()
            optimizer.step()
        show("loss", loss)
        show("state", dict(net.state_dict()))

    check(program)


def test_a_lazy_module_of_ones_own():
    def program(torch, show):
        from_parameter = torch.nn.parameter

        class Scale(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.weight = torch.nn.Parameter(torch.ones(1))

            def forward(self, x, factor=1.0):
                return x * self.weight * factor

        class LazyScale(torch.nn.modules.lazy.LazyModuleMixin, Scale):
            cls_to_become = Scale

            def __init__(self):
                super().__init__()
                self.weight = from_parameter.UninitializedParameter()

            def initialize_parameters(self, x, factor=1.0):
                if self.has_uninitialized_params():
                    self.weight.materialize(x.shape[-1:])
                    torch.nn.init.constant_(self.weight, factor)

        layer = LazyScale()
        show("y", layer(torch.arange(3.0), factor=2.0))
        show("class", type(layer).__name__)

        class Half(torch.nn.modules.lazy.LazyModuleMixin, torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.a = from_parameter.UninitializedParameter()
                self.register_buffer("b", from_parameter.UninitializedBuffer())

        show("names", [list(dict(Half().named_parameters())), list(dict(Half().named_buffers()))])
        show.error(lambda: Half()(1))
        Half.initialize_parameters = lambda self, x: self.a.materialize((2,))
        show.error(lambda: Half()(1))
        show.error(lambda: Half()._replicate_for_data_parallel())

    check(program)


def test_calls_after_the_first_are_plain():
    layer = glassgrad.nn.LazyLinear(3)
    layer(glassgrad.ones(2, 4))
    assert layer._hooked is False
    layer = glassgrad.nn.LazyLinear(3)
    seen = []
    layer.register_forward_hook(lambda *args: seen.append(1))
    layer(glassgrad.ones(2, 4))
    layer(glassgrad.ones(2, 4))
    assert seen == [1, 1]
