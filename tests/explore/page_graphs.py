"""Graphs for the page's tests, built by hand as values of the model: no engine is needed to draw them."""

from glassgrad.explore.model import Cut, Edge, Graph, Held, Node, Problem, Saved, Scope, SourceLoc, Stats, TensorInfo


def info(shape=(), value=None, norm=None, nan=0):
    count = 1
    for n in shape:
        count *= n
    stats = Stats(count, nan, norm=norm) if norm is not None or nan else None
    return TensorInfo(tuple(shape), "float32", 4 * count, value, stats)


def scalar(value):
    return info((), f"{value:g}", abs(value))


class Builder:
    """Operations in the order they are done; ``graph`` turns them to the model's order."""

    def __init__(self):
        self.rows, self.leaves, self.scopes, self.stack = [], {}, [], [None]

    def leaf(self, name, shape=(), value=None, norm=None):
        self.leaves[name] = (info(shape, value), info(shape, None, norm) if norm is not None else None)
        return name

    def enter(self, path, cls, call=0, kind="module"):
        self.scopes.append(Scope(len(self.scopes), self.stack[-1], path, cls, call, kind))
        self.stack.append(len(self.scopes) - 1)

    def exit(self):
        self.stack.pop()

    def op(self, name, *inputs, shape=(4, 8), norm=None, line=None, saved=(), expression=None):
        loc = None
        if line is not None:
            expression = expression or f"{name.lower()}(h)"
            loc = SourceLoc("train.py", line, "forward", expression, f"    h = {expression}")
        kept = tuple(Saved(slot, "ok", info(size)) for slot, size in saved)
        self.rows.append((name, inputs, self.stack[-1], info(shape, norm=1.0), norm, loc, kept))
        return len(self.rows) - 1

    def graph(self, result, level=4, engine="glassgrad", **more):
        count, nodes, edges = len(self.rows), [], []
        sinks = {name: count + i for i, name in enumerate(self.leaves)}
        leaves = {name: count + len(sinks) + i for i, name in enumerate(self.leaves)}
        for i in reversed(range(count)):
            name, inputs, scope, out, norm, loc, saved = self.rows[i]
            index = count - 1 - i
            grad = info(out.shape, norm=norm) if norm is not None else None
            nodes.append(
                Node(index, "op", f"{name}Backward0", seq=i, scope=scope, loc=loc, outputs=(out,), forward=i,
                     backward=index, grad=grad, saved=saved, ms=0.01 * (1 + i % 7))
            )  # fmt: skip
            for slot, source in enumerate(inputs):
                src = sinks[source] if isinstance(source, str) else count - 1 - source
                edges.append(Edge(src, index, 0, slot, grad=grad))
        for i, (name, (tensor, grad)) in enumerate(self.leaves.items()):
            nodes.append(Node(sinks[name], "op", "AccumulateGrad", grad=grad, backward=count + i))
            edges.append(Edge(leaves[name], sinks[name]))
        for name, (tensor, grad) in self.leaves.items():
            nodes.append(Node(leaves[name], "leaf", "", name, tensor, grad=grad))
        end = len(nodes)
        nodes.append(Node(end, "output", "", "loss", info((), "2.31")))
        edges.append(Edge(count - 1 - result, end))
        held = tuple(Held(name, leaves[name], tensor, True) for name, (tensor, _) in self.leaves.items())
        totals = {"ops": count, "leaves": len(leaves), "saved_bytes": 0}
        return Graph(tuple(nodes), tuple(edges), (end,), engine, tuple(self.scopes), parameters=held, level=level,
                     totals=totals, **more)  # fmt: skip


def seed():
    """``y = x * z + x + z`` with x = 2 and z = 3, observed going back."""
    code = "y = x * z + x + z"
    sum_rule = "add: each input receives the gradient as it is"

    def loc(expression):
        return SourceLoc("lesson.py", 5, "", expression, code)

    kept = (Saved("self", "ok", scalar(2), "x", 5), Saved("other", "ok", scalar(3), "z", 6))
    nodes = (
        Node(0, "op", "AddBackward0", seq=2, loc=loc(code[4:]), outputs=(scalar(11),), forward=2, backward=0,
             grad=scalar(1), grads_in=(scalar(1), scalar(1)), rule=sum_rule, sentence="The addition y."),
        Node(1, "op", "AddBackward0", seq=1, loc=loc("x * z + x"), outputs=(scalar(8),), forward=1, backward=1,
             grad=scalar(1), grads_in=(scalar(1), scalar(1)), rule=sum_rule),
        Node(2, "op", "MulBackward0", seq=0, loc=loc("x * z"), outputs=(scalar(6),), forward=0, backward=3,
             grad=scalar(1), grads_in=(scalar(3), scalar(2)), rule="mul: g * other, g * self", saved=kept,
             sentence="The multiplication x * z. Two arrows reach it, from x and z."),
        Node(3, "op", "AccumulateGrad", backward=4, grad=scalar(4)),
        Node(4, "op", "AccumulateGrad", backward=5, grad=scalar(3)),
        Node(5, "leaf", "", "x", scalar(2)),
        Node(6, "leaf", "", "z", scalar(3)),
        Node(7, "output", "", "y", scalar(11), grad=scalar(1)),
    )  # fmt: skip
    edges = (
        Edge(5, 3), Edge(6, 4), Edge(0, 7, grad=scalar(1)),
        Edge(1, 0, 0, 0, local="1", grad=scalar(1)), Edge(4, 0, 0, 1, local="1", grad=scalar(1)),
        Edge(2, 1, 0, 0, local="1", grad=scalar(1)), Edge(3, 1, 0, 1, local="1", grad=scalar(1)),
        Edge(3, 2, 0, 0, local="3", grad=scalar(3)), Edge(4, 2, 0, 1, local="2", grad=scalar(2)),
    )  # fmt: skip
    totals = {"ops": 3, "leaves": 2, "saved_bytes": 8}
    held = (Held("x", 5, scalar(2), True), Held("z", 6, scalar(3), True))
    return Graph(nodes, edges, (7,), "glassgrad", level=4, totals=totals, parameters=held)


def tiny(loss="MSE"):
    """A network of 2-3-1 with a squared error."""
    b = Builder()
    for name, shape, norm in (("fc1.weight", (3, 2), 0.8), ("fc1.bias", (3,), 0.4), ("fc2.weight", (1, 3), 1.9),
                              ("fc2.bias", (1,), 2.2)):  # fmt: skip
        b.leaf(name, shape, None, norm)
    b.enter("", "TinyNet")
    b.enter("fc1", "Linear")
    h = b.op("Addmm", "fc1.bias", b.op("T", "fc1.weight", shape=(2, 3), norm=0.8), shape=(4, 3), norm=0.7, line=9,
             saved=[("mat1", (4, 2))], expression="self.fc1(x)")  # fmt: skip
    b.exit()
    h = b.op("Tanh", h, shape=(4, 3), norm=1.1, line=9, saved=[("result", (4, 3))],
             expression="torch.tanh(self.fc1(x))")  # fmt: skip
    b.enter("fc2", "Linear")
    h = b.op("Addmm", "fc2.bias", h, b.op("T", "fc2.weight", shape=(3, 1), norm=1.9), shape=(4, 1), norm=2.2, line=10,
             saved=[("mat1", (4, 3)), ("mat2", (3, 1))], expression="self.fc2(h)")  # fmt: skip
    b.exit()
    b.exit()
    return b.graph(b.op("MseLoss", h, shape=(), norm=1.0, line=16, expression="F.mse_loss(net(x), t)"))


def gpt(layers=24, nan=False):
    """A decoder of so many blocks, with scopes for its modules: 30 operations a block."""
    b = Builder()

    def linear(path, h, norm):
        b.enter(path, "Linear")
        weight = b.leaf(f"{path}.weight", (64, 64), None, norm * 3)
        bias = b.leaf(f"{path}.bias", (64,), None, norm)
        h = b.op("View", h, shape=(32, 64), norm=norm, line=31)
        h = b.op("Addmm", bias, h, b.op("T", weight, shape=(64, 64), norm=norm), shape=(32, 64), norm=norm, line=31,
                 saved=[("mat1", (32, 64)), ("mat2", (64, 64))])  # fmt: skip
        h = b.op("View", h, shape=(2, 16, 64), norm=norm, line=31)
        b.exit()
        return h

    def norm_layer(path, h, norm):
        b.enter(path, "LayerNorm")
        h = b.op("NativeLayerNorm", h, b.leaf(f"{path}.weight", (64,), None, norm), b.leaf(f"{path}.bias", (64,), None,
                 norm), shape=(2, 16, 64), norm=norm, line=30, saved=[("input", (2, 16, 64))])  # fmt: skip
        b.exit()
        return h

    b.enter("", "GPT")
    b.enter("wte", "Embedding")
    tok = b.op("Embedding", b.leaf("wte.weight", (100, 64), None, 0.2), shape=(2, 16, 64), norm=0.3, line=50)
    b.exit()
    b.enter("wpe", "Embedding")
    pos = b.op("Embedding", b.leaf("wpe.weight", (16, 64), None, 0.1), shape=(16, 64), norm=0.3, line=51)
    b.exit()
    h = b.op("Add", tok, pos, shape=(2, 16, 64), norm=0.3, line=52)
    for i in range(layers):
        g = 10 ** (-6 + 6 * (i + 1) / layers)
        b.enter(f"h.{i}", "Block")
        a = norm_layer(f"h.{i}.ln_1", h, g)
        b.enter(f"h.{i}.attn", "Attention")
        q = linear(f"h.{i}.attn.q", a, g)
        k = linear(f"h.{i}.attn.k", a, g)
        v = linear(f"h.{i}.attn.v", a, g)
        s = b.op("Bmm", q, b.op("Transpose", k, norm=g, line=35), norm=g, line=36, saved=[("self", (2, 16, 64))] * 2)
        s = b.op("Softmax", b.op("Div", s, norm=g, line=36), norm=g, line=37, saved=[("result", (2, 16, 16))])
        s = b.op("Bmm", s, v, norm=g, line=38)
        s = linear(f"h.{i}.attn.proj", s, g)
        b.exit()
        h = b.op("Add", h, s, norm=g, line=40)
        m = norm_layer(f"h.{i}.ln_2", h, g)
        b.enter(f"h.{i}.mlp", "MLP")
        m = linear(f"h.{i}.mlp.fc", m, g)
        m = b.op("Gelu", m, norm=g, line=44, saved=[("self", (2, 16, 64))])
        m = linear(f"h.{i}.mlp.proj", m, g)
        b.exit()
        h = b.op("Add", h, m, norm=g, line=41)
        b.exit()
    h = norm_layer("ln_f", h, 1.0)
    h = linear("lm_head", h, 1.0)
    b.exit()
    h = b.op("LogSoftmax", b.op("View", h, norm=1.0, line=60), norm=1.0, line=60)
    problems = [Problem("vanishing", None, 3, "gradients of h.0 are 1e-6 of those of the last block")]
    if nan:
        problems.append(Problem("nan", 40, None, "first NaN of the backward pass", SourceLoc("train.py", 36)))
    return b.graph(b.op("NllLoss", h, shape=(), norm=1.0, line=60), problems=tuple(problems))


def rnn(steps=200):
    """A recurrent network unrolled, each step a turn of a loop, all using the same weights."""
    b = Builder()
    for name in ("cell.weight_ih", "cell.weight_hh"):
        b.leaf(name, (16, 16), None, 0.5)
    b.leaf("cell.bias", (16,), None, 0.1)
    h = b.op("Mul", "cell.bias", shape=(16,), norm=0.1, line=8)
    outs = []
    for t in range(steps):
        b.enter("train.py:10", "for", t, "loop")
        g = 10 ** (-8 * (1 - t / steps))
        x = b.op("Addmm", "cell.bias", b.op("T", "cell.weight_ih", norm=g, line=11), norm=g, line=11)
        r = b.op("Mm", h, b.op("T", "cell.weight_hh", norm=g, line=11), norm=g, line=11)
        h = b.op("Tanh", b.op("Add", x, r, norm=g, line=12), norm=g, line=12, saved=[("result", (4, 8))])
        outs.append(h)
        b.exit()
    return b.graph(b.op("Mean", b.op("Stack", *outs, norm=1.0, line=14), shape=(), norm=1.0, line=15))


def long(count, width=3):
    """``count`` operations in one list without scopes: ``width`` strands that meet now and then."""
    b = Builder()
    b.leaf("w", (8,), None, 1.0)
    strands = [b.op("Mul", "w", norm=1.0) for _ in range(width)]
    for i in range(count - width - 1):
        k = i % width
        other = [strands[(k + 1) % width]] if i % 7 == 0 else []
        strands[k] = b.op("Add" if other else "Sin", strands[k], *other, norm=1.0)
    return b.graph(b.op("Sum", *strands, shape=(), norm=1.0))


def with_cut():
    """A product one factor of which was detached."""
    b = Builder()
    b.leaf("w", (3,), "[1, 2, 3]", 1.0)
    target = b.op("Exp", "w", shape=(3,), norm=1.0, line=4)
    lost = SourceLoc("train.py", 5, "", "target.detach()", "    target = target.detach()")
    graph = b.graph(b.op("Mul", target, "w", shape=(3,), norm=1.0, line=6))
    cut = Cut(0, "detach", lost, "detach() returns a value without history", (1,), (0,), info((3,)), "target")
    return Graph(**{**{name: getattr(graph, name) for name in graph.__dataclass_fields__}, "cuts": (cut,)})
