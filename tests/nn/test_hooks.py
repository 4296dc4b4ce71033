"""Hooks of modules: order, replacement, keywords, always, prepended, global, forward and backward."""

import copy
import pickle

import pytest

from tests.agreement import cases, check

pytestmark = pytest.mark.torch


def _layer(torch, seen):
    class Layer(torch.nn.Module):
        def forward(self, x, scale=1.0):
            seen.append(("forward", scale))
            return x * scale

    return Layer()


def order_and_prepending(torch, show):
    seen = []
    layer = _layer(torch, seen)
    for name in "ab":
        layer.register_forward_pre_hook(lambda m, args, name=name: seen.append(f"pre {name}"))
        layer.register_forward_hook(lambda m, args, out, name=name: seen.append(f"post {name}"))
    layer.register_forward_pre_hook(lambda m, args: seen.append("pre first"), prepend=True)
    layer.register_forward_hook(lambda m, args, out: seen.append("post first"), prepend=True)
    layer(torch.ones(1))
    show("seen", seen)


def keywords(torch, show):
    seen = []
    layer = _layer(torch, seen)
    layer.register_forward_pre_hook(
        lambda m, args, kwargs: ((args[0] * 2,), {"scale": kwargs["scale"] + 1}), with_kwargs=True
    )
    layer.register_forward_hook(lambda m, args, kwargs, out: seen.append(kwargs) or out + 1, with_kwargs=True)
    show("y", layer(torch.ones(2), scale=3.0))
    show("seen", seen)
    bad = _layer(torch, [])
    bad.register_forward_pre_hook(lambda m, args, kwargs: args, with_kwargs=True)
    show.error(lambda: bad(3, 4.0, 5), words="new_kwargs)")


def always_called(torch, show):
    seen = []

    class Bad(torch.nn.Module):
        def forward(self, x):
            raise ValueError("no")

    bad = Bad()
    bad.register_forward_hook(lambda m, args, out: seen.append(("always", out)), always_call=True)
    bad.register_forward_hook(lambda m, args, out: seen.append("never"))
    bad.register_forward_hook(lambda m, args, kw, out: seen.append(kw), always_call=True, with_kwargs=True)
    show.error(lambda: bad(1))
    show("seen", seen)

    def broken(module, args, out):
        raise KeyError("again")

    bad.register_forward_hook(broken, always_call=True)
    show.warnings(lambda: show.error(lambda: bad(1)))
    good = _layer(torch, seen)
    good.register_forward_hook(lambda m, args, out: seen.append("good"), always_call=True)
    good.register_forward_hook(broken)
    show.error(lambda: good(torch.ones(1)))
    show("seen", seen)


def handles(torch, show):
    seen = []
    layer = _layer(torch, seen)
    with layer.register_forward_hook(lambda m, args, out: seen.append("inside")):
        layer(torch.ones(1))
    layer(torch.ones(1))
    handle = layer.register_forward_pre_hook(lambda m, args: seen.append("pre"))
    handle.remove()
    handle.remove()
    layer(torch.ones(1))
    layer.register_forward_hook(lambda m, args, out: seen.append("cleared"))
    layer._forward_hooks.clear()
    layer(torch.ones(1))
    show("seen", seen)


def everywhere(torch, show):
    seen = []
    of = torch.nn.modules.module
    kept = [
        of.register_module_forward_pre_hook(lambda m, args: seen.append(("pre", type(m).__name__))),
        of.register_module_forward_hook(lambda m, args, out: seen.append(("post", type(m).__name__))),
        of.register_module_forward_hook(
            lambda m, args, kwargs, out: seen.append(kwargs), with_kwargs=True, always_call=True
        ),
        of.register_module_full_backward_pre_hook(lambda m, grads: seen.append(("back", type(m).__name__))),
        of.register_module_full_backward_hook(lambda m, inputs, outputs: seen.append(outputs)),
    ]
    model = torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Tanh())
    show.error(lambda: of.register_module_backward_hook(print))
    try:
        model(torch.ones(2, requires_grad=True)).backward(torch.ones(2))
    finally:
        for handle in kept:
            handle.remove()
    model(torch.ones(2))
    show("seen", seen)


def backward_hooks(torch, show):
    seen = []
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU(), torch.nn.Linear(2, 1))
    for layer in model:
        layer.register_full_backward_pre_hook(lambda m, grads: seen.append(("pre", type(m).__name__, grads)))
        layer.register_full_backward_hook(lambda m, i, o: seen.append(("post", type(m).__name__, i, o)))
    model[1].register_full_backward_hook(lambda m, i, o: seen.append("first"), prepend=True)
    model[1].register_full_backward_pre_hook(lambda m, o: (o[0] * 2,), prepend=True)
    x = torch.randn(3, 2, requires_grad=True)
    y = model(x)
    show("name", y.grad_fn.name())
    y.backward(torch.ones(3, 1))
    show("seen", seen)
    show("gradients", [x.grad, *(p.grad for p in model.parameters())])


def backward_hooks_without_inputs(torch, show):
    layer = torch.nn.Linear(2, 1)
    seen = []
    layer.register_full_backward_hook(lambda m, i, o: seen.append((i, o)))
    y = layer(torch.ones(1, 2))
    show.warnings(lambda: y.sum().backward())
    show("seen", seen)
    layer.register_full_backward_hook(lambda m, i, o: (torch.ones(1, 2),))
    y = layer(torch.ones(1, 2))
    show.error(lambda: y.sum().backward())
    with torch.no_grad():
        show("no graph", layer(torch.ones(1, 2)).grad_fn)


def backward_hooks_refused(torch, show):
    nn = torch.nn
    layer = nn.ReLU()
    layer.register_full_backward_hook(lambda m, i, o: (i[0], i[0]))
    x = torch.ones(2, requires_grad=True)
    show.error(lambda: layer(x).sum().backward())
    other = nn.ReLU()
    other.register_full_backward_pre_hook(lambda m, o: (o[0], o[0]))
    show.error(lambda: other(x).sum().backward())
    show.error(lambda: layer.register_backward_hook(print))
    old = nn.ReLU()
    old.register_backward_hook(print)
    show.error(lambda: old.register_full_backward_hook(print))


def backward_hooks_of_several_tensors(torch, show):
    class Two(torch.nn.Module):
        def forward(self, x, n, y):
            return x * n, y + x, n

    seen = []
    two = Two()
    two.register_full_backward_hook(lambda m, i, o: seen.append((i, o)) or (i[0] * 10, None, i[2]))
    x, y = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    a, b, c = two(x, 3, y)
    torch.autograd.backward([a, b], [torch.ones(2), torch.ones(2)])
    show("seen", seen)
    show("gradients", [x.grad, y.grad, c])

    class Mapping(torch.nn.Module):
        def forward(self, x):
            return {"y": x * 2}

    mapping = Mapping()
    mapping.register_full_backward_hook(lambda m, i, o: None)
    show.warnings(lambda: mapping(x), label="no tensor")


def old_hooks(torch, show):
    seen = []
    layer = torch.nn.ReLU()
    layer.register_backward_hook(lambda m, i, o: seen.append((type(m).__name__, i, o)))
    x = torch.tensor([1.0, -1.0], requires_grad=True)
    show.warnings(lambda: layer(x * 2))
    layer(x * 2).backward(torch.ones(2))
    show("seen", seen)
    model = torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Tanh())
    model.register_backward_hook(lambda m, i, o: None)
    show.warnings(lambda: model(x * 2))


def copies(torch, show):
    layer = torch.nn.ReLU()
    layer.handle = layer.register_forward_hook(_shifted)
    twin = copy.deepcopy(layer)
    show("copied", twin(torch.zeros(1)))
    twin.handle.remove()
    show("removed", [twin(torch.zeros(1)), layer(torch.zeros(1))])
    back = pickle.loads(pickle.dumps(layer))
    show("pickled", back(torch.zeros(1)))
    back.register_forward_hook(_shifted)
    show("both", back(torch.zeros(1)))


def _shifted(module, args, output):
    return output + 1


PROGRAMS = cases(globals())


@pytest.mark.parametrize("name", PROGRAMS)
def test_agrees(name):
    check(PROGRAMS[name])
