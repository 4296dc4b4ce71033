"""``torch.autograd.graph`` as PyTorch has it: gradient edges, hooks of several tensors, saved tensors, versions."""

import importlib

import pytest

from tests.agreement import cases, check

pytestmark = pytest.mark.torch


def edges_of_tensors(torch, show):
    graph = torch.autograd.graph
    edge_of, grad = graph.get_gradient_edge, torch.autograd.grad
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    z = y.sum()
    at_x, at_y, at_z = map(edge_of, (x, y, z))
    show("an edge", [at_y._fields, at_y.output_nr, at_y.node.name(), type(at_y).__name__])
    for name, outputs, inputs, seeds in [
        ("a record", z, at_y, None),
        ("both", z, [at_y, x], None),
        ("a leaf", z, at_x, None),
        ("from a scalar", at_z, x, None),
        ("from a vector", at_y, x, None),
        ("with a gradient", at_y, x, torch.ones(2)),
        ("of another shape", at_y, x, torch.ones(3)),
        ("several", [at_y, z], [x, at_y], [torch.ones(2), None]),
        ("no edge", z, [x, 3], None),
        ("a node", z, (y.grad_fn, 0), None),
        ("unused", z, [edge_of(torch.ones(3, requires_grad=True))], None),
    ]:
        show.error(lambda o=outputs, i=inputs, s=seeds: grad(o, i, s, retain_graph=True), name)
        create = {"retain_graph": True, "create_graph": True}
        show.error(lambda o=outputs, i=inputs, s=seeds: grad(o, i, s, **create), f"{name}, recorded")
    other = edge_of(torch.ones(3, requires_grad=True))
    show.error(lambda: grad(z, [other], allow_unused=True, retain_graph=True), "allowed")
    show.error(lambda: grad(z, [other], materialize_grads=True, retain_graph=True), "made")
    for wrong in (torch.ones(2), 3, at_y):
        show.error(lambda wrong=wrong: edge_of(wrong), "no edge to get", words=isinstance(wrong, torch.Tensor))


def edges_in_backward(torch, show):
    edge_of, backward = torch.autograd.graph.get_gradient_edge, torch.autograd.backward
    x, w = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    y = x * 2
    z = (y * w).sum()
    for name, call in {
        "from": lambda: backward(edge_of(z), retain_graph=True),
        "from a vector": lambda: backward(edge_of(y), torch.ones(2), retain_graph=True),
        "inputs": lambda: backward(z, inputs=edge_of(x), retain_graph=True),
        "a record": lambda: backward(z, inputs=[edge_of(y)], retain_graph=True),
        "method": lambda: z.backward(inputs=[edge_of(x)], retain_graph=True),
        "method, single": lambda: z.backward(inputs=edge_of(w), retain_graph=True),
        "mixed": lambda: backward(z, inputs=[edge_of(y), x], retain_graph=True),
        "neither": lambda: backward(z, inputs=[3], retain_graph=True),
    }.items():
        show.error(call, name, words=name != "neither")
        show(f"after {name}", [x.grad, w.grad])


def edges_by_hand(torch, show):
    edge, grad = torch.autograd.graph.GradientEdge, torch.autograd.grad
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    z, leaf = y.sum(), y.grad_fn.next_functions[0][0]
    show.error(lambda: grad(z, edge(y.grad_fn, 0), retain_graph=True), "a node")
    show.error(lambda: grad(z, edge(leaf, 0), retain_graph=True), "a leaf's")
    show.error(lambda: grad(edge(y.grad_fn, 0), x, torch.ones(2), retain_graph=True), "to start from")
    show.error(lambda: grad(z, edge(x.grad_fn, 0), retain_graph=True), "none")
    show.error(lambda: grad(z, edge(3, 0), retain_graph=True), "a number")
    a, b = (x * 3).unbind()
    both = [edge(a.grad_fn, 0), edge(a.grad_fn, 1)]
    show("outputs of one node", grad(a + 2 * b, both, retain_graph=True))
    show("from an output", grad(both[1], x, torch.tensor(5.0), retain_graph=True))
    linear = torch.nn.functional.linear(torch.ones(1, 2, requires_grad=True), torch.ones(3, 2), torch.ones(3))
    inner = linear.grad_fn.next_functions[1][0]
    show("within a fused one", grad(linear.sum(), edge(inner, 0)))


def hooks_of_several(torch, show):
    register = torch.autograd.graph.register_multi_grad_hook
    u, v, w = (torch.tensor([float(i)], requires_grad=True) for i in (1, 2, 3))
    calls = []
    handle = register([u, v, w], lambda grads: calls.append(list(grads)))
    (u * v).sum().backward()
    (u * v * w).sum().backward()
    handle.remove()
    (u * v).sum().backward()
    show("all", calls)
    calls = []
    handle = register((u, v), calls.append, mode="any")
    (u * v).sum().backward()
    (u * 2).sum().backward()
    show("any", calls)
    show.error(lambda: register((u,), print, mode="x"), "mode")
    show.error(lambda: register((torch.ones(1),), print), "no gradient")
    show.error(lambda: register((torch.ones(1),), print, mode="any") and None, "no gradient, any")
    calls, m = [], u * v
    n = m * w
    with register((m, n, u), lambda grads: calls.append(list(grads))):
        n.sum().backward(retain_graph=True)
    n.sum().backward()
    show("within", calls)


def packed(torch, show):
    hooks = torch.autograd.graph.saved_tensors_hooks
    x = torch.ones(2, requires_grad=True)
    with hooks(lambda t: t.tolist(), lambda t: torch.tensor(t) * 10):  # what is unpacked counts, of a leaf too
        y, z = x * x, x.exp()
    saved = y.grad_fn._saved_self
    show("of a leaf", [saved, saved is x, saved.is_leaf, repr(saved)])
    show("held", y.grad_fn._raw_saved_self.data)
    (first,) = torch.autograd.grad((y + z).sum(), x, create_graph=True)
    show("first", first)
    show("second", torch.autograd.grad(first.sum(), x))
    with hooks(lambda t: t, lambda t: 3):
        y = x * x
    show.error(lambda: y.sum().backward(), "no tensor")
    with hooks(lambda t: t.mul_(2), lambda t: t):
        show.error(lambda: x.detach().clone().requires_grad_().clone() ** 2, "written to")
    show.error(lambda: hooks(1), "one hook", words=False)


def saved_tensor(torch, show):
    x = torch.ones(2, requires_grad=True)
    node = (x * x).grad_fn
    raw = node._raw_saved_self
    show("bare", [raw.data, raw.unpack_hook, type(raw).__name__, type(raw) is torch.autograd.SavedTensor])
    raw.register_hooks(lambda t: t, lambda t: t * 2)
    show("hooked", [node._saved_self, raw.unpack_hook is None])
    show.error(lambda: raw.register_hooks(lambda t: t, lambda t: t), "again")
    show.error(lambda: torch.autograd.SavedTensor(), "made")
    show.error(lambda: torch.autograd.graph.Node(), "node")
    show("names", sorted(name for name in dir(node) if "saved" in name))


def disabled(torch, show):
    graph = torch.autograd.graph
    x = torch.ones(2, requires_grad=True)

    def enter():
        with graph.saved_tensors_hooks(lambda t: t, lambda t: t):
            return (x * x).detach()

    def disable():
        with graph.disable_saved_tensors_hooks("within"):
            pass

    with graph.disable_saved_tensors_hooks("outer"):
        show.error(enter, "outer")
        with graph.disable_saved_tensors_hooks("inner"):
            show.error(enter, "inner")
        show.error(enter, "outer again")
    show.error(enter, "after")
    show.error(graph.disable_saved_tensors_hooks("decorated")(lambda: enter()), "decorated")
    with graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        show.error(disable, "while there are hooks")
    show.error(enter, "in the end")


def mutation(torch, show):
    allow = torch.autograd.graph.allow_mutation_on_saved_tensors
    a = torch.ones(2, requires_grad=True)
    with allow() as context:
        b = a.clone()
        out = (b**2).sum()
        b.sin_()
        out.backward()
        show("written to", a.grad)
        s = b.exp()
        s.zero_()
        s.sum().backward()
        show("a result", a.grad)

        def nest():
            with allow():
                pass

        show.error(nest, "nested")
        out, other = (b**2).sum(), (b**3).sum()
        context.clear()
        show.error(lambda: other.backward(), "cleared")
    show.error(lambda: out.backward(), "outside")
    with allow():
        c = a.clone()
        d = c * c
        c.zero_()
        d.sum().backward()
    show("again", a.grad)


def versions(torch, show):
    increment = torch.autograd.graph.increment_version
    t = torch.ones(2)
    for case in (t, [t, t], 3, [3], (), iter([t])):
        show.error(lambda case=case: increment(case), "increment")
        show("version", t._version)
    x = torch.ones(2, requires_grad=True) * 1
    y = x * x
    increment(x)
    show.error(lambda: y.sum().backward(), "stale")
    for setting in ("set_warn_on_accumulate_grad_stream_mismatch", "set_override_stale_capture_stream"):
        show.error(lambda setting=setting: getattr(torch.autograd.graph, setting)(3), setting)
        show.error(lambda setting=setting: getattr(torch.autograd.graph, setting)(False), setting)
    show("names", sorted(torch.autograd.graph.__all__))


def threads(torch, show):
    grad_mode = torch.autograd
    show("at first", [grad_mode.is_multithreading_enabled(), grad_mode.is_view_replay_enabled()])
    with grad_mode.set_multithreading_enabled(False):
        show("within", grad_mode.is_multithreading_enabled())
    show("after", grad_mode.is_multithreading_enabled())


def invalid(torch, show):
    """A view that must not be read again says so where it is printed."""
    x = torch.ones(2, 2, requires_grad=True)
    base = x * 1
    first, _ = base.unbind()
    with torch.no_grad():
        row = base[0]
    base.mul_(2)
    show("printed", [repr(first), repr(row)])
    show.error(lambda: first.grad_fn, "asked", words="is a view")


def hooks_that_are_left_behind(torch, show):
    hooks = importlib.import_module(f"{torch.__name__}.utils.hooks")
    x = torch.ones(2, requires_grad=True)
    x.register_hook(hooks.unserializable_hook(lambda grad: grad))
    show.warnings(lambda: hooks.warn_if_has_hooks(x), "none")
    x.register_hook(print)
    show.warnings(lambda: hooks.warn_if_has_hooks(x), "one")


@pytest.mark.parametrize("program", cases(globals()).values(), ids=cases(globals()))
def test_as_pytorch(program):
    check(program)
