"""torch.fx: graphs made, changed, run and saved; the transformations that tutorials show."""

import copy
import importlib
import operator
import pickle

import pytest

from tests.agreement import check
from tests.fx.test_tracing import net

pytestmark = pytest.mark.torch


def fx_of(torch):
    return importlib.import_module(f"{torch.__name__}.fx")


def test_a_graph_by_hand():
    def program(torch, show):
        fx = fx_of(torch)
        graph = fx.Graph()
        x = graph.placeholder("x")
        relu = graph.call_function(torch.relu, (x,))
        add = graph.call_function(operator.add, (relu, 1))
        graph.output(add)
        made = fx.GraphModule(torch.nn.Module(), graph)
        show("graph", str(graph))
        show("code", made.code)
        show("result", made(torch.tensor(-1.0)))
        show.error(lambda: graph.erase_node(relu), "erase")
        with graph.inserting_after(relu):
            absolute = graph.call_method("abs", (relu,))
        relu.replace_all_uses_with(absolute, lambda node: node is not absolute)
        made.recompile()
        show("changed", made.code)
        show("users", [str(list(relu.users)), str(absolute.args), str(add.all_input_nodes)])
        with graph.inserting_before(add):
            graph.call_function(torch.neg, (graph.call_function(torch.neg, (absolute,)),))
        show("names", [node.name for node in graph.nodes])
        show("dead", graph.eliminate_dead_code())
        show("without", [node.name for node in graph.nodes])
        add.args = (absolute, 2)
        add.update_arg(1, 3)
        add.insert_arg(0, x)
        show("line", add.format_node())
        show.error(lambda: add.kwargs.update(a=1), "kwargs")
        show.error(lambda: graph.create_node("foo", "x"), "op")
        show.error(lambda: graph.call_function("x"), "target")
        show("order", [str(list(reversed(graph.nodes))), len(graph.nodes), relu < add, str(relu.next), str(add.prev)])
        show("found", str(graph.find_nodes(op="call_function", target=torch.relu)))

    check(program)


def test_what_stays_though_nobody_uses_it():
    def program(torch, show):
        fx = fx_of(torch)
        F = torch.nn.functional
        kept = [
            torch.rand,
            torch.randn_like,
            torch.bernoulli,
            torch.normal,
            torch.poisson,
            torch._assert,
            operator.setitem,
        ]
        gone = [torch.relu, torch.relu_, torch.dropout, F.dropout, torch.manual_seed, operator.iadd, F.relu]
        graph = fx.Graph()
        x = graph.placeholder("x")
        for function in kept + gone:
            show(function.__name__, graph.call_function(function, (x,)).is_impure())
        show("method", graph.call_method("add_", (x, 1)).is_impure())
        graph.output(x)
        show("dead", graph.eliminate_dead_code())
        show("left", len(graph.nodes))

    check(program)


def test_lint():
    def program(torch, show):
        fx = fx_of(torch)

        def disordered():
            graph = fx.Graph()
            x = graph.placeholder("x")
            first = graph.call_function(torch.neg, (x,))
            second = graph.call_function(torch.neg, (first,))
            graph.output(second)
            second.append(first)
            graph.lint()

        def foreign():
            other = fx.Graph().placeholder("y")
            graph = fx.Graph()
            graph.output(graph.call_function(torch.neg, (other,)))
            graph.lint()

        def absent():
            graph = fx.Graph()
            graph.output(graph.call_module("no.where", (graph.placeholder("x"),)))
            graph.owning_module = torch.nn.Module()
            graph.lint()

        for function in (disordered, foreign, absent):
            show.error(function, function.__name__)
        show.error(lambda: fx.GraphModule({}, fx.symbolic_trace(net(torch)).graph), "root")

    check(program)


def test_copies_and_pickles():
    def program(torch, show):
        fx = fx_of(torch)
        made = fx.symbolic_trace(net(torch).eval())
        x = torch.ones(2, 1, 5, 5)
        copied = copy.deepcopy(made)
        show("copied", [type(copied).__name__, copied.code == made.code, torch.equal(copied(x)[0], made(x)[0])])
        show("apart", copied.w is made.w)
        read = pickle.loads(pickle.dumps(made))
        show("read", [type(read).__name__, read.code == made.code, torch.equal(read(x)[0], made(x)[0])])
        show("graph", str(read.graph))
        show("keys", sorted(read.state_dict()))

    check(program)


def test_shapes():
    def program(torch, show):
        fx = fx_of(torch)
        shape_prop = importlib.import_module(f"{torch.__name__}.fx.passes.shape_prop")
        made = fx.symbolic_trace(net(torch))
        shape_prop.ShapeProp(made).propagate(torch.ones(2, 1, 5, 5))
        for node in made.graph.nodes:
            if "tensor_meta" in node.meta and node.op != "output":
                meta = node.meta["tensor_meta"]
                show(node.name, [meta.shape, str(meta.dtype), meta.stride, meta.requires_grad, str(meta.memory_format)])
        show("readable", made.print_readable(print_output=False))

    check(program)


def test_inverting_operations():
    """The exercise with which the tutorial begins: trig functions by their inverses, in a graph."""

    def program(torch, show):
        fx = fx_of(torch)
        inverse = {torch.sin: torch.asin, torch.cos: torch.acos, torch.tan: torch.atan, torch.exp: torch.log}
        inverse |= {value: key for key, value in inverse.items()}

        def invert(model):
            traced = fx.symbolic_trace(model)
            values, new = {}, fx.Graph()
            for node in traced.graph.nodes:
                if node.op == "placeholder":
                    new_node = new.placeholder(node.name)
                elif node.op == "call_function":
                    output = new.call_function(inverse[node.target], (values.get(node.next.name),))
                    new_node = output
                values[node.name] = new_node
            return [node.target.__name__ for node in new.nodes if node.op == "call_function"]

        show("inverted", invert(lambda x: torch.exp(torch.tan(torch.sin(x)))))

    check(program)


def test_wrapping_the_output():
    def program(torch, show):
        fx = fx_of(torch)

        class Block(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.conv, self.bn = torch.nn.Linear(2, 2), torch.nn.ReLU()

            def forward(self, x):
                return self.bn(self.conv(x))

        made = fx.symbolic_trace(Block())
        made.add_submodule("wrapper", torch.nn.Sigmoid())
        output = made.graph.output_node()
        with made.graph.inserting_before(output):
            wrapped = made.graph.call_module("wrapper", output.all_input_nodes[0:1] and (output.args[0],))
        output.args = (wrapped,)
        made.graph.lint()
        made.recompile()
        show("code", made.code)
        show("children", [name for name, _ in made.named_children()])
        show("deleted", [made.delete_submodule("conv"), made.delete_submodule("nowhere")])
        made.delete_all_unused_submodules()
        show("left", [name for name, _ in made.named_children()])

    check(program)


def test_replacing_one_operation():
    def program(torch, show):
        fx = fx_of(torch)
        made = fx.symbolic_trace(lambda x, y: torch.cat([torch.add(x, y), x + y, x.add(y)]))
        patterns = {operator.add, torch.add, "add"}
        for node in made.graph.nodes:
            if any(node.target == pattern for pattern in patterns):
                with made.graph.inserting_after(node):
                    new = made.graph.call_function(torch.bitwise_and, node.args, node.kwargs)
                    node.replace_all_uses_with(new)
                made.graph.erase_node(node)
        made.recompile()
        show("code", made.code)

    check(program)


def test_profiling_with_an_interpreter():
    def program(torch, show):
        fx = fx_of(torch)
        seen = []

        class Watching(fx.Interpreter):
            def run(self, *args):
                result = super().run(*args)
                seen.append("whole")
                return result

            def run_node(self, node):
                result = super().run_node(node)
                seen.append((node.op, node.name))
                return result

        model = net(torch).eval()
        result = Watching(fx.symbolic_trace(model)).run(torch.ones(1, 1, 5, 5))
        show("seen", seen)
        show("result", result[0].detach())
        with pytest.raises(RuntimeError, match="positional argument for parameter x.*\n\nWhile executing %x : "):
            fx.Interpreter(fx.symbolic_trace(model)).run()

    check(program)


def test_transformers():
    def program(torch, show):
        fx = fx_of(torch)

        class Swapping(fx.Transformer):
            def call_function(self, target, args, kwargs):
                if target == torch.sigmoid:
                    return torch.neg(*args, **kwargs)
                return super().call_function(target, args, kwargs)

            def call_method(self, target, args, kwargs):
                if target == "neg":
                    first, *rest = args
                    return torch.sigmoid(first, *rest, **kwargs)
                return super().call_method(target, args, kwargs)

        made = fx.symbolic_trace(net(torch))
        show("same", fx.Transformer(made).transform().code)
        show("swapped", Swapping(made).transform().code)

    check(program)


def test_decomposing_with_proxies():
    def program(torch, show):
        fx = fx_of(torch)
        made = fx.symbolic_trace(lambda x: torch.nn.functional.relu(x) * 2)
        new, env = fx.Graph(), {}
        tracer = fx.proxy.GraphAppendingTracer(new)
        for node in made.graph.nodes:
            if node.op == "call_function" and node.target == torch.nn.functional.relu:
                x = fx.Proxy(env[node.args[0].name], tracer)
                env[node.name] = ((x > 0) * torch.clamp(x, min=0) + torch.nn.functional.gelu(x)).node
            else:
                env[node.name] = new.node_copy(node, lambda n: env[n.name])
        show("code", fx.GraphModule(made, new).code)

    check(program)


def test_replacing_patterns():
    def program(torch, show):
        fx = fx_of(torch)

        class Adding(torch.nn.Module):
            def forward(self, x, w1, w2):
                first = torch.cat([w1, w2]).sum()
                second = torch.cat([w1, w2]).sum()
                return x + first.max() + second.max()

        made = fx.symbolic_trace(Adding())
        found = fx.replace_pattern(made, lambda a, b: torch.cat([a, b]).sum(), lambda a, b: torch.stack([a, b]))
        show("code", made.code)
        show("places", [(str(match.anchor), sorted((str(a), str(b)) for a, b in match.nodes_map.items()))
                        for match in found])  # fmt: skip

        def chain(x):
            return torch.relu(torch.relu(torch.relu(torch.relu(x)))) + torch.neg(x)

        twice = fx.symbolic_trace(chain)
        fx.replace_pattern(twice, lambda x: torch.relu(torch.relu(x)), lambda x: torch.tanh(x))
        show("overlapping", twice.code)
        none = fx.symbolic_trace(chain)
        show("none", len(fx.replace_pattern(none, lambda x: torch.exp(x), lambda x: x)))
        literal = fx.symbolic_trace(lambda x: torch.add(x, 3) + torch.add(x, 4))
        show("literal", len(fx.replace_pattern(literal, lambda x: torch.add(x, 3), lambda x: torch.sub(x, 3))))
        show("literal code", literal.code)

    check(program)


def test_fusing_convolution_and_normalization():
    def program(torch, show):
        fx = fx_of(torch)
        fusion = importlib.import_module(f"{torch.__name__}.nn.utils.fusion")

        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.conv, self.bn = torch.nn.Conv2d(1, 2, 3), torch.nn.BatchNorm2d(2)
                self.inner = torch.nn.Sequential(torch.nn.Conv2d(2, 2, 1), torch.nn.BatchNorm2d(2))

            def forward(self, x):
                return self.inner(self.bn(self.conv(x)))

        torch.manual_seed(0)
        model = Net()
        model(torch.randn(4, 1, 5, 5))
        model.eval()
        made = fx.symbolic_trace(copy.deepcopy(model))
        modules = dict(made.named_modules())
        for node in list(made.graph.nodes):
            if node.op == "call_module" and type(modules[node.target]) is torch.nn.BatchNorm2d:
                before = node.args[0]
                fused = fusion.fuse_conv_bn_eval(modules[before.target], modules[node.target])
                parent, _, name = before.target.rpartition(".")
                setattr(modules[parent], name, fused)
                node.replace_all_uses_with(before)
                made.graph.erase_node(node)
        made.recompile()
        made.graph.lint()
        x = torch.ones(1, 1, 5, 5)
        show("code", made.code)
        show("close", torch.allclose(made(x), model(x), atol=1e-5))

    check(program)
