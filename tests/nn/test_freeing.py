"""Modules and what they computed go as soon as nobody holds them: no cycles are left to the collector."""

import gc
import weakref

import glassgrad as torch


def _gone(make):
    gc.collect()
    gc.disable()
    try:
        made = make()
        refs = [weakref.ref(piece) for piece in made]
        del made
        return [ref() is None for ref in refs]
    finally:
        gc.enable()


def test_a_network_and_its_optimizer():
    def make():
        model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU(), torch.nn.Linear(3, 1))
        optimizer = torch.optim.Adam(model.parameters())
        loss = torch.nn.MSELoss()(model(torch.ones(4, 2)), torch.zeros(4, 1))
        loss.backward()
        optimizer.step()
        return [model, model[0], model[0].weight, optimizer, loss]

    assert all(_gone(make))


def test_a_graph_without_backward():
    def make():
        model = torch.nn.Linear(2, 1)
        return [model, model(torch.ones(1, 2))]

    assert all(_gone(make))


def test_a_module_with_hooks():
    def make():
        layer = torch.nn.ReLU()
        layer.register_forward_hook(lambda module, args, output: None)
        layer.register_load_state_dict_pre_hook(lambda module, *rest: None)
        layer(torch.ones(1))
        return [layer]

    assert all(_gone(make))


def test_deep_trees_need_no_recursion():
    model = torch.nn.ReLU()
    for _ in range(5000):
        model = torch.nn.Sequential(model)
    assert sum(1 for _ in model.modules()) == 5001
    assert sum(1 for _ in model.named_parameters()) == 0
