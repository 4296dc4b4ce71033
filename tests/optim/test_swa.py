"""Averaged models, their rates and their batch norms, as torch's."""

import copy

import numpy as np
import pytest

import glassgrad
from tests.agreement import cases, check
from tests.torch_reference import torch

pytestmark = pytest.mark.torch


def _net(torch, norm=False):
    layers = [torch.nn.Linear(2, 3, dtype=torch.float64), torch.nn.Linear(3, 1, dtype=torch.float64)]
    if norm:
        layers.insert(1, torch.nn.BatchNorm1d(3, dtype=torch.float64))
    net = torch.nn.Sequential(*layers)
    for place, parameter in enumerate(net.parameters()):
        parameter.data = torch.linspace(-1, 1 + place, parameter.numel(), dtype=torch.float64).reshape(parameter.shape)
    return net


def _train(torch, net, averaged, steps=5):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    for step in range(steps):
        optimizer.zero_grad()
        (net(torch.linspace(0, 1 + step / 5, 8, dtype=torch.float64).reshape(4, 2)) ** 2).mean().backward()
        optimizer.step()
        averaged.update_parameters(net)


def averages(torch, show):
    swa = torch.optim.swa_utils
    for arguments in (
        {}, {"avg_fn": swa.get_swa_avg_fn()}, {"avg_fn": swa.get_ema_avg_fn(0.8)},
        {"multi_avg_fn": swa.get_swa_multi_avg_fn()}, {"multi_avg_fn": swa.get_ema_multi_avg_fn(0.7)},
        {"avg_fn": lambda average, new, number: average * 0.5 + new * number},
        {"device": "cpu"},
    ):  # fmt: skip
        net = _net(torch)
        averaged = swa.AveragedModel(net, **arguments)
        _train(torch, net, averaged)
        show("state", averaged.state_dict())
        show("gives", averaged(torch.ones(1, 2, dtype=torch.float64)))
        show("module", [type(averaged.module).__name__, averaged.n_averaged.dtype, averaged.training])


def averages_of_buffers(torch, show):
    swa = torch.optim.swa_utils
    for arguments in ({}, {"use_buffers": True, "multi_avg_fn": swa.get_ema_multi_avg_fn(0.5)}):
        net = _net(torch, norm=True)
        averaged = swa.AveragedModel(net, **arguments)
        _train(torch, net, averaged)
        show("state", averaged.state_dict())
    net = _net(torch, norm=True)
    averaged = swa.AveragedModel(net, use_buffers=True)
    _train(torch, net, averaged)
    show("counted", averaged.state_dict())
    integers = [torch.tensor([1, 2])]
    swa.get_ema_multi_avg_fn(0.5)(integers, [torch.tensor([3, 7])], 1)
    show("integers", integers)
    show("one", swa.get_ema_avg_fn(0.25)(torch.ones(2), torch.zeros(2), 0))


def averages_refused(torch, show):
    swa = torch.optim.swa_utils
    for do in (
        lambda: swa.get_ema_avg_fn(1.5), lambda: swa.get_ema_multi_avg_fn(-0.1),
        lambda: swa.AveragedModel(_net(torch), avg_fn=abs, multi_avg_fn=abs),
    ):  # fmt: skip
        show.error(do)


def batch_norms_anew(torch, show):
    net = _net(torch, norm=True)
    batches = [torch.linspace(-1, place + 1, 8, dtype=torch.float64).reshape(4, 2) for place in range(3)]
    net.eval()
    torch.optim.swa_utils.update_bn(batches, net)
    show("state", net.state_dict())
    show("mode", [net.training, net[1].momentum, net[1].running_mean.requires_grad])
    torch.optim.swa_utils.update_bn([(batch, 1) for batch in batches[:2]], net, device="cpu")
    show("of tuples", net[1].running_var)
    plain = _net(torch)
    show("none", torch.optim.swa_utils.update_bn(iter([1 / 2]), plain))


PROGRAMS = cases(globals())


@pytest.mark.parametrize("name", PROGRAMS)
def test_agrees(name):
    check(PROGRAMS[name])


@pytest.mark.parametrize("arguments", [
    {"swa_lr": 0.05}, {"swa_lr": [0.05, 0.2], "anneal_epochs": 5, "anneal_strategy": "linear"},
    {"swa_lr": 0.01, "anneal_epochs": 0}, {"swa_lr": 0.01, "anneal_strategy": "x"},
    {"swa_lr": 0.01, "anneal_epochs": -1}, {"swa_lr": [0.01]}, {"swa_lr": 0.01, "anneal_epochs": 1.5},
])  # fmt: skip
def test_rates(arguments):
    """Alone and after another schedule, to the last bit; states are equal, too."""

    def run(engine):
        groups = [{"params": [engine.ones(1, requires_grad=True)], "lr": rate} for rate in (0.1, 0.4)]
        optimizer = engine.optim.SGD(groups)
        before = engine.optim.lr_scheduler.CosineAnnealingLR(optimizer, 20)
        found = []
        try:
            scheduler = engine.optim.swa_utils.SWALR(optimizer, **arguments)
        except ValueError as error:
            return str(error)
        for step in range(40):
            optimizer.step()
            (before if step < 10 else scheduler).step()
            found.append([group["lr"] for group in optimizer.param_groups])
        state = scheduler.state_dict()
        twin = copy.copy(scheduler)
        twin.load_state_dict(state)
        twin.step()
        return found, state, twin.get_last_lr()

    assert run(glassgrad) == run(torch)


def test_averages_are_means():
    """What torch gives is one thing; the mean of what a model was is another."""
    net = _net(glassgrad)
    averaged = glassgrad.optim.swa_utils.AveragedModel(net)
    seen = []
    for _ in range(4):
        net[0].weight.data += 1.5
        seen.append(np.array(net[0].weight.tolist()))
        averaged.update_parameters(net)
    np.testing.assert_allclose(averaged.module[0].weight.tolist(), np.mean(seen, 0), rtol=1e-6)
