"""Results written into tensors that are handed in: out=, its resizing, its refusals."""


def written_into_place(torch, show):
    """out= is filled and returned."""
    out = torch.empty(2)
    result = torch.add(torch.ones(2), torch.ones(2), out=out)
    show("same", result is out)
    show("out", [out, out._version])


def several_operations(torch, show):
    """out= of many operations."""
    a, b = torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([[0.5, 1.5], [2.5, 3.5]])
    out = torch.empty(2, 2)
    for name in ("mul", "sub", "div", "maximum", "mm", "matmul", "pow", "atan2"):
        getattr(torch, name)(a, b, out=out)
        show(name, out)
    for name in ("exp", "sin", "sqrt", "neg", "abs", "sigmoid", "tanh", "floor"):
        getattr(torch, name)(a, out=out)
        show(name, out)
    show("clamp", torch.clamp(a, 1.5, 2.5, out=out))
    show("cumsum", torch.cumsum(a, 0, out=out))
    show("cat", torch.cat([a, b], out=torch.empty(4, 2)))
    show("stack", torch.stack([a, b], out=torch.empty(2, 2, 2)))
    show("sum", torch.sum(a, 1, out=torch.empty(2)))
    show("mean", torch.mean(a, 0, out=torch.empty(2)))
    show("where", torch.where(a > 2, a, b, out=out))
    show("index_select", torch.index_select(a, 0, torch.tensor([1, 0]), out=out))
    show("arange", torch.arange(3, out=torch.empty(3)))
    show("zeros", torch.zeros(2, out=torch.ones(2)))


def empty_out_is_resized(torch, show):
    """An empty out takes the shape without a word."""
    out = torch.empty(0)
    show.warnings(lambda: torch.add(torch.ones(2, 3), 1, out=out))
    show("out", out)


def wrong_size_is_resized_with_warning(torch, show):
    """A filled out of another shape is resized, with a warning."""
    out = torch.ones(5)
    show.warnings(lambda: torch.add(torch.ones(2), 1, out=out))
    show("out", out)


def dtype_is_cast(torch, show):
    """A wider out is fine, a narrower kind is not."""
    out = torch.empty(2, dtype=torch.float64)
    show("wider", torch.add(torch.ones(2), 1, out=out))
    show("integers into floats", torch.add(torch.ones(2).long(), 1, out=torch.empty(2)))
    show.error(lambda: torch.add(torch.ones(2), 1, out=torch.empty(2, dtype=torch.int64)))
    show.error(lambda: torch.eq(torch.ones(2), 1, out=torch.empty(2, dtype=torch.float32)))
    show.error(lambda: torch.sum(torch.ones(2), out=torch.empty((), dtype=torch.int64)), words=False)


def refused_in_a_graph(torch, show):
    """out= does not go with gradients."""
    x = torch.ones(2, requires_grad=True)
    show.error(lambda: torch.add(x, 1, out=torch.empty(2)))
    show.error(lambda: torch.add(torch.ones(2), 1, out=x))
    show.error(lambda: torch.mm(x[None], x[:, None], out=torch.empty(1, 1)))
    show.error(lambda: torch.exp(x, out=torch.empty(2)))
    show.error(lambda: torch.cat([x], out=torch.empty(2)))
    with torch.no_grad():
        out = torch.empty(2)
        show("no_grad", torch.add(x, 1, out=out))
        show("leaf", torch.add(x, 1, out=x))


def view_as_out(torch, show):
    """A strided out is filled where it lies."""
    base = torch.zeros(2, 3)
    torch.add(torch.ones(2), 1, out=base[:, 1])
    show("base", base)
    show("transposed", torch.mul(torch.ones(3, 2), 5, out=base.t()))
    show("base", [base, base._version])


def several_outs(torch, show):
    """max, sort and topk take a pair."""
    x = torch.tensor([[3.0, 1.0], [2.0, 5.0]])
    values, indices = torch.empty(2), torch.empty(2, dtype=torch.int64)
    result = torch.max(x, 1, out=(values, indices))
    show("max", [values, indices, result.values is values])
    torch.sort(x, 1, out=(a := torch.empty(2, 2), b := torch.empty(2, 2, dtype=torch.int64)))
    show("sort", [a, b])
    show("topk", torch.topk(x, 1, out=(torch.empty(2, 1), torch.empty(2, 1, dtype=torch.int64))))


def wrong_outs(torch, show):
    """Not a tensor, not a pair."""
    show.error(lambda: torch.add(torch.ones(2), 1, out=[1.0]), words=False)
    show.error(lambda: torch.max(torch.ones(2, 2), 1, out=torch.empty(2)), words=False)
    show("none", torch.add(torch.ones(2), 1, out=None))


def input_is_out(torch, show):
    """The input itself as out."""
    x = torch.tensor([1.0, 2.0])
    torch.exp(x, out=x)
    show("x", x)
    torch.add(x, x, out=x)
    show("x", x)
