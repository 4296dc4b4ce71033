"""Nodes: hooks before and after them, calling them by hand, what they tell about themselves."""


def node_hook_arguments(torch, show):
    """A node's hook gets the gradients of its inputs and of its outputs."""
    seen = []
    a = torch.tensor(2.0, requires_grad=True)
    b = torch.tensor(3.0, requires_grad=True)
    y = a * b
    y.grad_fn.register_hook(lambda inputs, outputs: seen.append((inputs, outputs)))
    (y * 5).backward()
    show("seen", seen)


def node_hook_replaces(torch, show):
    """What it returns goes to the inputs instead."""
    a = torch.tensor(2.0, requires_grad=True)
    b = torch.tensor(3.0, requires_grad=True)
    y = a * b
    y.grad_fn.register_hook(lambda inputs, outputs: (inputs[0] * 10, inputs[1]))
    y.backward()
    show("grads", [a.grad, b.grad])


def node_hook_wrong_count(torch, show):
    """It must return as many as it got."""
    a = torch.tensor(2.0, requires_grad=True)
    y = a * 3
    y.grad_fn.register_hook(lambda inputs, outputs: (inputs[0],))
    show.error(y.backward)


def node_hook_none_inputs(torch, show):
    """Inputs without a gradient are None."""
    seen = []
    a = torch.tensor(2.0, requires_grad=True)
    y = a * torch.tensor(3.0)
    y.grad_fn.register_hook(lambda inputs, outputs: seen.append((inputs, outputs)))
    y.backward()
    show("seen", seen)


def node_prehook(torch, show):
    """A prehook sees the gradients of the outputs and may replace them."""
    seen = []
    x = torch.tensor(2.0, requires_grad=True)
    y = x * 3

    def prehook(outputs):
        seen.append(outputs)
        return (outputs[0] * 10,)

    y.grad_fn.register_prehook(prehook)
    (y * 2).backward()
    show("seen", seen)
    show("x.grad", x.grad)


def node_prehook_of_many_outputs(torch, show):
    """An output without gradient is None for the prehook."""
    seen = []
    x = torch.arange(3.0).requires_grad_()
    a, _b, c = x.unbind()
    a.grad_fn.register_prehook(lambda outputs: seen.append(outputs))
    (a * 2 + c).backward()
    show("seen", seen)
    show("x.grad", x.grad)


def order_around_a_node(torch, show):
    """Tensor hooks, prehooks, the node, its hooks."""
    seen = []
    x = torch.tensor(2.0, requires_grad=True)
    y = x * 3
    node = y.grad_fn
    node.register_hook(lambda inputs, outputs: seen.append("post"))
    node.register_prehook(lambda outputs: seen.append("pre"))
    y.register_hook(lambda grad: seen.append("tensor"))
    y.retain_grad()
    x.register_hook(lambda grad: seen.append("leaf"))
    y.backward()
    show("seen", seen)


def node_hooks_are_removable(torch, show):
    """Handles work on nodes too."""
    seen = []
    x = torch.tensor(2.0, requires_grad=True)
    y = x * 3
    first = y.grad_fn.register_hook(lambda inputs, outputs: seen.append("post"))
    second = y.grad_fn.register_prehook(lambda outputs: seen.append("pre"))
    y.backward(retain_graph=True)
    first.remove()
    second.remove()
    y.backward()
    show("seen", seen)


def hooks_on_accumulate_grad(torch, show):
    """The sink of a leaf takes hooks before and after."""
    seen = []
    x = torch.tensor(2.0, requires_grad=True)
    y = x * 3
    sink = y.grad_fn.next_functions[0][0]
    sink.register_prehook(lambda grads: seen.append(("pre", [g.item() for g in grads], x.grad)))
    sink.register_hook(lambda inputs, outputs: seen.append(("post", len(inputs), len(outputs), x.grad.item())))
    y.backward()
    show("seen", seen)


def accumulate_grad_variable(torch, show):
    """The sink knows its leaf, and a leaf has one sink while a graph lives."""
    x = torch.tensor(2.0, requires_grad=True)
    y, z = x * 3, x * 4
    sink = y.grad_fn.next_functions[0][0]
    show("name", sink.name())
    show("variable", sink.variable is x)
    show("same", sink is z.grad_fn.next_functions[0][0])
    show("next", sink.next_functions)


def get_gradient_edge(torch, show):
    """graph.get_gradient_edge gives the node and the output number."""
    x = torch.arange(3.0).requires_grad_()
    edge = torch.autograd.graph.get_gradient_edge(x)
    show("leaf", [edge.node, edge.output_nr])
    edge = torch.autograd.graph.get_gradient_edge(x.unbind()[2])
    show("third", [edge.node, edge.output_nr])
    show.error(lambda: torch.autograd.graph.get_gradient_edge(torch.tensor(1.0)))


def gradient_edge_as_input(torch, show):
    """grad takes an edge where it takes a tensor."""
    x = torch.tensor(2.0, requires_grad=True)
    y = x * x
    edge = torch.autograd.graph.get_gradient_edge(y)
    z = y * 3
    show("grad", torch.autograd.grad(z, edge))


def node_called_by_hand(torch, show):
    """A node is a function from output gradients to input gradients."""
    a = torch.tensor([1.0, 2.0], requires_grad=True)
    b = torch.tensor([3.0, 4.0], requires_grad=True)
    y = a * b
    with torch.no_grad():
        show("both", y.grad_fn(torch.tensor([1.0, 10.0])))
        show("again", y.grad_fn(torch.tensor([2.0, 0.0])))


def one_input_node_called_by_hand(torch, show):
    """A node with one input gives the gradient itself."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x.exp()
    total = y.sum()
    with torch.no_grad():
        show("one", y.grad_fn(torch.ones(2)))
        show("sum", total.grad_fn(torch.tensor(3.0)))


def node_called_with_recording(torch, show):
    """Outside no_grad the call is recorded."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * x
    first, second = y.grad_fn(torch.ones(2))
    show("first", first)
    show("second", torch.autograd.grad(first.sum() + second.sum(), x))


def sink_called_by_hand(torch, show):
    """Calling the sink fills .grad."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    sink = (x * 2).grad_fn.next_functions[0][0]
    with torch.no_grad():
        show("returns", sink(torch.tensor([5.0, 6.0])))
        show("x.grad", x.grad)
        sink(torch.tensor([1.0, 1.0]))
    show("x.grad", x.grad)


def node_called_with_none(torch, show):
    """None in, None out."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    show("mul", (x * 2).grad_fn(None))


def node_called_wrongly(torch, show):
    """Too many gradients, or none."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * x
    show.error(lambda: y.grad_fn(torch.ones(2), torch.ones(2)))
    show.error(lambda: y.grad_fn())
    show.error(lambda: y.grad_fn(3.0))


def node_called_after_backward(torch, show):
    """What backward freed is missing here too."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * x
    y.sum().backward()
    show.error(lambda: y.grad_fn(torch.ones(2)))


def saved_after_backward(torch, show):
    """Saved attributes are gone after backward."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x.exp()
    show("before", y.grad_fn._saved_result)
    y.sum().backward()
    show.error(lambda: y.grad_fn._saved_result)


def saved_tensor_identity(torch, show):
    """A saved leaf comes back as itself, a saved result shares memory with the result."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = torch.tensor([1.0, 2.0])
    z = x * y
    show("leaf", z.grad_fn._saved_other is y)
    show("needless", z.grad_fn._saved_self)
    w = z.exp()
    show("shares", w.grad_fn._saved_result.data_ptr() == w.data_ptr())


def saved_attribute_unknown(torch, show):
    """A name nobody saved."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    show.error(lambda: (x * 2)._saved_nothing)
    show.error(lambda: x.exp().grad_fn._saved_nothing, words=False)


def node_metadata(torch, show):
    """metadata is a dictionary that stays with the node."""
    x = torch.tensor(2.0, requires_grad=True)
    y = x * 3
    show("empty", y.grad_fn.metadata)
    y.grad_fn.metadata["why"] = 42
    show("kept", y.grad_fn.metadata)


def node_identity(torch, show):
    """grad_fn is the same object each time, hashable, and unlike other nodes."""
    x = torch.tensor(2.0, requires_grad=True)
    y, z = x * 3, x * 3
    show("same", [y.grad_fn is y.grad_fn, y.grad_fn == y.grad_fn, y.grad_fn == z.grad_fn])
    show("set", len({y.grad_fn, z.grad_fn, y.grad_fn}))


def node_types(torch, show):
    """The names of the node classes, and how a node prints."""
    x = torch.tensor(2.0, requires_grad=True)
    y = x * 3
    for node in (y.grad_fn, y.grad_fn.next_functions[0][0]):
        show("name", node.name())
        show("type", type(node).__name__)
        show("repr", repr(node))
        show("str", str(node))
        show("is Node", isinstance(node, torch.autograd.graph.Node))


def next_functions_with_constants(torch, show):
    """An input without gradient is (None, 0)."""
    x = torch.tensor(2.0, requires_grad=True)
    c = torch.tensor(3.0)
    for name, y in {"x*c": x * c, "c*x": c * x, "x+1": x + 1, "1+x": 1 + x, "x/c": x / c}.items():
        show(name, y.grad_fn.next_functions)


def next_functions_output_numbers(torch, show):
    """The second number says which output of the node the input was."""
    x = torch.arange(3.0).requires_grad_()
    a, b, c = x.unbind()
    show("edges", [t.grad_fn.next_functions for t in (b * c, torch.stack([c, a, b]))])
    show("output_nr", [t.output_nr for t in (x, a, b, c)])


def requires_grad_of_hook_arguments(torch, show):
    """Gradients in hooks are plain tensors unless create_graph."""
    seen = []
    x = torch.tensor(2.0, requires_grad=True)
    y = x**3
    y.grad_fn.register_hook(lambda inputs, outputs: seen.append((inputs[0].requires_grad, outputs[0].requires_grad)))
    y.backward(retain_graph=True)
    torch.autograd.grad(y, x, create_graph=True)
    show("seen", seen)


def hook_keeps_the_graph_order(torch, show):
    """Nodes run youngest first, whatever the shape of the graph."""
    seen = []
    x = torch.tensor(2.0, requires_grad=True)
    parts = {"a": x * 2, "b": x + 3, "c": x.exp()}
    parts["d"] = parts["a"] * parts["b"]
    parts["e"] = parts["d"] + parts["c"]
    for name, part in parts.items():
        part.grad_fn.register_hook(lambda inputs, outputs, name=name: seen.append(name))
    parts["e"].backward()
    show("order", seen)


def leaves_are_filled_early(torch, show):
    """A sink runs as soon as it can."""
    seen = []
    a = torch.tensor(2.0, requires_grad=True)
    b = torch.tensor(3.0, requires_grad=True)
    y = a.exp()
    z = b.exp()
    w = y * z
    y.grad_fn.register_hook(lambda *_: seen.append("exp a"))
    z.grad_fn.register_hook(lambda *_: seen.append("exp b"))
    a.register_hook(lambda grad: seen.append("a"))
    b.register_hook(lambda grad: seen.append("b"))
    w.backward()
    show("order", seen)


def increment_version(torch, show):
    """graph.increment_version counts a write that nobody saw."""
    x = torch.ones(2)
    torch.autograd.graph.increment_version(x)
    show("version", x._version)
    torch.autograd.graph.increment_version([x, x])
    show("version", x._version)
