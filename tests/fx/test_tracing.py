"""torch.fx: what is traced, and how it is printed, is what PyTorch traces and prints."""

import importlib
import math
import operator

import pytest

import glassgrad
from glassgrad.ground import listening, modes
from glassgrad.nn.modules.module import Module
from tests.agreement import check

pytestmark = pytest.mark.torch

CODES = """
torch.relu(x)
torch.cat([x, x], dim=1).sum(dim=1, keepdim=True)
x.view(x.size(0), -1).to(torch.float32, non_blocking=True).unsqueeze(0)[:, 0]
(x + 1, 2 - x, x * x, x / 2, x // 2, x % 3, x ** 2, 2 ** x, x @ x, -x, +x, ~x, abs(x))
((x < 1), (x <= 1), (x > 1), (x >= 1), x == 1, x != 1, x & 1, x | 1, x ^ 1, x << 1, 1 >> x)
{"a": x, "b": (x, None, 1.5, True, "s", torch.float32, slice(1, 2), [x])}
(float("inf"), float("nan"), x, torch.device("cpu"), torch.float16, 1e-5, 1j, -1)
x.shape[0] + x.ndim
x[1:, None, ...] + x["k"]
torch.ones(2) + x
torch.add(torch.ones(2), x)
torch.topk(x, 2, dim=-1)
torch.split(x, 2)
torch.einsum("ij->ji", x)
torch.einsum("ij,jk->ik", [x, x])
torch.norm(x)
torch.stack([x, x], dim=0)
torch.zeros_like(x) + torch.full((2,), x)
torch.arange(x.size(1))
torch.linalg.norm(x)
torch.is_floating_point(x)
torch.is_tensor(x), isinstance(x, torch.Tensor)
F.relu(x) + F.relu(x, inplace=True)
F.max_pool2d(x, 2)
F.max_pool2d(x, 2, return_indices=True)
F.adaptive_max_pool2d(x, 1)
F.avg_pool2d(x, 2) + F.adaptive_avg_pool2d(x, 1)
F.cross_entropy(F.log_softmax(F.linear(x, x), dim=-1), x, reduction="sum")
F.softmax(x, 1)
F.batch_norm(x, x, x, training=True) + F.layer_norm(x, (2,)) + F.group_norm(x, 2)
F.embedding(x, x) + F.conv2d(x, x, padding=1) + F.gelu(x) + F.mse_loss(x, x) + F.normalize(x)
F.binary_cross_entropy_with_logits(x, x) + F.nll_loss(x, x) + F.kl_div(x, x)
F.unfold(x, 3) + F.elu(x) + F.silu(x) + F.hardtanh(x) + F.glu(x) + F.softplus(x) + F.dropout(x, 0.5)
F.interpolate(x, scale_factor=2) + F.pad(x, (1, 1)) + F.one_hot(x)
F.scaled_dot_product_attention(x, x, x, is_causal=True)
F.multi_head_attention_forward(x, x, x, 4, 2, x, x, None, None, False, 0.0, x, x)
torch.relu_(x)
x.relu().chunk(2)[0].add_(1)
""".strip().splitlines()


@pytest.mark.parametrize("code", CODES)
def test_code(code):
    def program(torch, show):
        fx = importlib.import_module(f"{torch.__name__}.fx")
        function = eval(f"lambda x: ({code})", {"torch": torch, "F": torch.nn.functional})
        made = fx.symbolic_trace(function)
        show("code", made.code)
        show("nodes", [(node.op, node.name, len(node.users)) for node in made.graph.nodes])

    check(program)


REFUSED = """
1 if x else 2
[i for i in x]
len(x)
(lambda *a: a)(*x)
x[0] if x.sum() > 0 else x
{x: 1}
object()
""".strip().splitlines()


@pytest.mark.parametrize("code", REFUSED)
def test_refusals(code):
    def program(torch, show):
        fx = importlib.import_module(f"{torch.__name__}.fx")
        show.error(lambda: fx.symbolic_trace(eval(f"lambda x: {code}")), code)

    check(program)


def net(torch):
    """A module with everything in it."""

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.c = torch.nn.Conv2d(1, 2, 3)
            self.bn = torch.nn.BatchNorm2d(2)
            self.inner = torch.nn.ModuleDict({"a": torch.nn.Linear(2, 2)})
            self.seq = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU())
            self.w = torch.nn.Parameter(torch.ones(2))
            self.register_buffer("b", torch.arange(2.0))
            self.k = torch.full((1,), 2.0)

        def forward(self, x):
            y = torch.nn.functional.relu(self.bn(self.c(x))).mean((2, 3))
            y = self.seq(self.inner["a"](y) + self.w) * self.b + self.k
            return torch.sigmoid(y).neg().tanh(), y.shape[0]

    torch.manual_seed(0)
    return Net()


def test_a_module():
    def program(torch, show):
        fx = importlib.import_module(f"{torch.__name__}.fx")
        model = net(torch)
        made = fx.symbolic_trace(model)
        show("code", made.code)
        show("graph", str(made.graph))
        show("printed", str(made))
        show("readable", made.print_readable(print_output=False))
        show("keys", sorted(made.state_dict()))
        show("name", [type(made).__name__, isinstance(made, torch.nn.Module), made.training])
        x = torch.arange(50.0).reshape(2, 1, 5, 5) / 50
        result, size = made(x)
        result.sum().backward()
        show("result", [result.detach(), size])
        show("gradients", [parameter.grad for parameter in model.parameters()])
        show("stack", [list(node.meta.get("nn_module_stack", {})) for node in made.graph.nodes])

    check(program)


def test_annotations_defaults_and_packing():
    def program(torch, show):
        fx = importlib.import_module(f"{torch.__name__}.fx")

        def annotated(x: torch.Tensor, y: list[int], z: int = 3) -> torch.Tensor:
            return x + z

        def packed(*args, **kwargs):
            return args[0] + kwargs["z"]

        def named(x, *, b=2):
            return x * b

        def in_place(x, y):
            x += y
            x *= 2
            a, b = x.chunk(2)
            return a @ b

        for function in (annotated, packed, named, in_place):
            show(function.__name__, fx.symbolic_trace(function).code)
        show("math", fx.symbolic_trace(lambda x: math.sqrt(x)).code)
        show("called", fx.symbolic_trace(named)(torch.ones(2), b=3))

    check(program)


def test_concrete_arguments():
    def program(torch, show):
        fx = importlib.import_module(f"{torch.__name__}.fx")

        def chosen(x, flag):
            return x if flag else -x

        def repeated(x, n):
            for number in range(n):
                x = x + number
            return x

        def tree(d):
            return {"sum": d["a"] + d["b"][0]}

        show("true", fx.symbolic_trace(chosen, concrete_args={"flag": True}).code)
        show("none", fx.symbolic_trace(chosen, concrete_args={"flag": None}).code)
        show("loop", fx.symbolic_trace(repeated, concrete_args={"n": 3}).code)
        made = fx.symbolic_trace(tree, concrete_args={"d": {"a": fx.PH, "b": [fx.PH]}})
        show("tree", made.code)
        show("result", made({"a": torch.ones(1), "b": [torch.ones(1)]}))
        show.error(lambda: fx.symbolic_trace(chosen, concrete_args={"flag": True})(torch.ones(1), False), "other")

    check(program)


def test_tracers_of_one_s_own():
    def program(torch, show):
        fx = importlib.import_module(f"{torch.__name__}.fx")

        class Leaves(fx.Tracer):
            def is_leaf_module(self, module, name):
                return True

        class Shapes(fx.Tracer):
            def __init__(self):
                super().__init__(param_shapes_constant=True)

        class Asking(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.w = torch.nn.Parameter(torch.ones(2, 3))

            def forward(self, x):
                return x + self.w if self.w.shape[0] == 2 else x

        model = torch.nn.Sequential(torch.nn.Linear(1, 1), torch.nn.Sequential(torch.nn.ReLU()))
        show("leaves", str(Leaves().trace(model)))
        show("sequential", fx.symbolic_trace(model).code)
        show("shapes", str(Shapes().trace(Asking())))

    check(program)


IMPORTED = {  # what transformers, torchvision, torch_geometric and opt_einsum_fx take from PyTorch's modules
    "fx": "Graph GraphModule Interpreter Node Proxy Tracer Transformer replace_pattern symbolic_trace wrap",
    "fx._compatibility": "compatibility",
    "fx._symbolic_trace": "is_fx_tracing",
    "fx.graph_module": "_copy_attr",
    "fx.node": "Argument Node Target map_aggregate map_arg",
    "fx.passes.shape_prop": "ShapeProp",
    "fx.proxy": "GraphAppendingTracer ParameterProxy Proxy",
}


@pytest.mark.parametrize("module", IMPORTED)
def test_names_that_packages_import(module):
    def program(torch, show):
        home = importlib.import_module(f"{torch.__name__}.{module}")
        show("names", [callable(getattr(home, name)) for name in IMPORTED[module].split() if name[0] not in "AT"])
        show("there", all(hasattr(home, name) for name in IMPORTED[module].split()))

    check(program)


def test_feature_extraction():
    """As torchvision does it: a tracer that keeps paths, another output, a module made without GraphModule's own."""

    def program(torch, show):
        fx = importlib.import_module(f"{torch.__name__}.fx")
        copy_attr = importlib.import_module(f"{torch.__name__}.fx.graph_module")._copy_attr
        paths = {}

        class Paths(fx.Tracer):
            path = ""

            def call_module(self, m, forward, args, kwargs):
                before, self.path = self.path, self.path_of_module(m)
                try:
                    if not self.is_leaf_module(m, self.path):
                        return forward(*args, **kwargs)
                    return self.create_proxy("call_module", self.path, args, kwargs)
                finally:
                    self.path = before

            def create_proxy(self, kind, target, args, kwargs, name=None, type_expr=None, *_):
                proxy = super().create_proxy(kind, target, args, kwargs, name, type_expr)
                paths[proxy.node] = self.path
                return proxy

        class Extractor(fx.GraphModule):
            def __init__(self, root, graph):
                super(fx.GraphModule, self).__init__()
                type(self).__name__ = "Net"
                for node in graph.nodes:
                    if node.op in ("get_attr", "call_module"):
                        copy_attr(root, self, node.target)
                self.graph = graph
                self._tracer_cls = None

        model = net(torch).eval()
        tracer = Paths()
        graph = tracer.trace(model)
        show("paths", [(str(node), path) for node, path in paths.items()])
        graph.erase_node(graph.output_node())
        nodes = list(graph.nodes)
        with graph.inserting_after(nodes[-1]):
            graph.output({"relu": next(node for node in nodes if node.name == "relu"), "last": nodes[-1]})
        fx.GraphModule(tracer.root, graph).graph.eliminate_dead_code()
        made = Extractor(model, graph)
        show("code", made.code)
        show("result", made(torch.ones(2, 1, 5, 5))["relu"].detach())
        show("children", [name for name, _ in made.named_modules()])
        show.error(lambda: made(torch.ones(2, 7, 5, 5)), "wrong")

    check(program)


def test_assertions_are_traced():
    def program(torch, show):
        fx = importlib.import_module(f"{torch.__name__}.fx")

        def checked(x):
            torch._assert(x.sum() > 0, "positive")
            return x

        made = fx.symbolic_trace(checked)
        show("code", made.code)
        show("result", made(torch.ones(2)))
        show.error(lambda: made(-torch.ones(2)), "negative")
        show.error(lambda: torch._assert(torch.zeros(1), "zero"), "plain")

    check(program)


def test_nothing_is_left_behind():
    before = Module.__getattribute__, Module.__call__, math.sqrt
    fx = glassgrad.fx
    fx.symbolic_trace(net(glassgrad))
    with pytest.raises(fx.proxy.TraceError):
        fx.symbolic_trace(lambda x: 1 if x else 2)
    graph = fx.Graph()
    proxy = fx.Proxy(graph.placeholder("x"))
    assert listening.listeners
    glassgrad.softmax(proxy, dim=0)
    assert [node.name for node in graph.nodes] == ["x", "softmax"]
    del proxy
    assert (Module.__getattribute__, Module.__call__, math.sqrt) == before
    assert not listening.listeners
    assert "__getattribute__" not in vars(Module) and "__call__" not in vars(Module)
    assert not modes.watch and not modes.unusual


def test_wrap(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)

    def program(torch, show):
        name = f"wrapping_{torch.__name__}"
        (tmp_path / f"{name}.py").write_text(
            f"import {torch.__name__} as torch\nfrom {torch.__name__} import fx\n"
            "@fx.wrap\ndef first(x, n=1):\n    return x + len(x) + n\n"
            "fx.wrap('len')\n"
            "def function(x):\n    return first(x, n=2) * len(x)\n"
        )
        module = importlib.import_module(name)
        fx = importlib.import_module(f"{torch.__name__}.fx")
        made = fx.symbolic_trace(module.function)
        show("code", made.code.replace(name, "module").replace(torch.__name__ + "_", ""))
        show("result", made(torch.ones(3)))
        show("untouched", module.function(torch.ones(3)))
        show("operators", [operator.add(1, 2), len([1])])

    check(program)
