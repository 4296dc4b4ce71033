"""The reader and the walk: one model for both engines' graphs."""

import pytest

from glassgrad.explore.model import Edge, Saved, TensorInfo
from glassgrad.explore.read import read
from glassgrad.explore.walk import engine_of, op_name, walk

SCALAR = TensorInfo((), "float32", 4)


def five(engine):
    """``x * z + x + z``, the five operations of the first lesson."""
    x = engine.tensor(2.0, requires_grad=True)
    z = engine.tensor(3.0, requires_grad=True)
    return x * z + x + z, {"x": x, "z": z}


def product(engine):
    """A custom operation that saves its two inputs."""

    class Product(engine.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            ctx.save_for_backward(a, b)
            return a * b

        @staticmethod
        def backward(ctx, grad):
            a, b = ctx.saved_tensors
            return grad * b, grad * a

    return Product


def ops(graph):
    return [node.op for node in graph.nodes if node.kind == "op"]


def test_the_five_operations(engine):
    y, names = five(engine)
    graph = read(y, {**names, "y": y})
    assert ops(graph) == ["AddBackward0", "AddBackward0", "MulBackward0", "AccumulateGrad", "AccumulateGrad"]
    assert {(node.kind, node.name, node.tensor) for node in graph.nodes[5:]} == {
        ("leaf", "x", SCALAR),
        ("leaf", "z", SCALAR),
        ("output", "y", SCALAR),
    }
    sink = {graph.nodes[edge.src].name: edge.dst for edge in graph.edges if graph.nodes[edge.src].kind == "leaf"}
    output = graph.outputs[0]
    between = {edge for edge in graph.edges if graph.nodes[edge.src].kind == "op"}
    assert between == {
        Edge(0, output),
        Edge(1, 0, 0, 0),
        Edge(sink["z"], 0, 0, 1),
        Edge(2, 1, 0, 0),
        Edge(sink["x"], 1, 0, 1),
        Edge(sink["x"], 2, 0, 0),
        Edge(sink["z"], 2, 0, 1),
    }
    assert graph.engine == engine.__name__
    assert graph.nodes[0].seq > graph.nodes[1].seq > graph.nodes[2].seq
    assert graph.nodes[3].seq is None


def test_saved_tensors_know_their_leaf(engine):
    y, names = five(engine)
    graph = read(y, names, show_saved=True)
    leaf = {node.name: node.index for node in graph.nodes if node.kind == "leaf"}
    assert set(graph.nodes[2].saved) == {
        Saved("self", "ok", SCALAR, "x", leaf["x"]),
        Saved("other", "ok", SCALAR, "z", leaf["z"]),
    }
    assert graph.nodes[2].attrs == ()


def test_settings_are_text(engine):
    x = engine.ones(2, 3, requires_grad=True)
    graph = read(x.sum(-1), show_attrs=True)
    assert ("keepdim", "False") in graph.nodes[0].attrs
    assert graph.nodes[0].saved == ()
    graph = read(x.transpose(-2, -1), show_attrs=True)
    assert dict(graph.nodes[0].attrs) == {"dim0": "-2", "dim1": "-1"}  # torch hands out unsigned numbers


def test_a_square_has_two_edges(engine):
    x = engine.ones(3, requires_grad=True)
    graph = read(x * x)
    assert [e for e in graph.edges if e.dst == 0] == [Edge(1, 0, 0, 0), Edge(1, 0, 0, 1)]


def test_several_outputs_share_a_graph(engine):
    x = engine.ones(2, 3, requires_grad=True)
    first, second = x.unbind(0)
    graph = read((first, second, first))
    assert [graph.nodes[i].kind for i in graph.outputs] == ["output", "output"]
    made = [e for e in graph.edges if e.dst in graph.outputs and e.kind == "gradient"]
    assert [(e.src, e.src_output) for e in made] == [(0, 0), (0, 1)]
    assert ops(graph) == ["UnbindBackward0", "AccumulateGrad"]


def test_an_output_may_be_inside_the_graph_of_another(engine):
    x = engine.ones(3, requires_grad=True)
    middle = x * 2
    graph = read((middle, middle.exp()))
    assert ops(graph) == ["ExpBackward0", "MulBackward0", "AccumulateGrad"]
    assert sorted(e.src for e in graph.edges if e.dst in graph.outputs) == [0, 1]


def test_a_leaf_alone(engine):
    x = engine.ones(3, requires_grad=True)
    graph = read(x, {"x": x})
    assert [(n.kind, n.name) for n in graph.nodes] == [("output", "x")]
    assert graph.edges == ()
    assert [n.kind for n in read(engine.ones(2)).nodes] == ["output"]
    assert read(()).nodes == ()


def test_a_leaf_that_is_also_an_output_is_drawn_once(engine):
    x = engine.ones(3, requires_grad=True)
    graph = read((x * 2, x))
    assert [n.kind for n in graph.nodes if n.kind != "op"] == ["leaf", "output"]
    assert {graph.nodes[i].kind for i in graph.outputs} == {"leaf", "output"}


def test_a_view_shows_its_base(engine):
    x = engine.ones(3, requires_grad=True)
    base = x * 2
    view = base.narrow(0, 0, 2)
    view.mul_(3)
    graph = read(view, {"base": base})
    assert ops(graph) == ["AsStridedBackward0", "CopySlices", "MulBackward0", "AccumulateGrad"]
    drawn = [n for n in graph.nodes if n.kind == "base"]
    assert [(n.name, n.tensor.shape) for n in drawn] == [("base", (3,))]
    assert Edge(drawn[0].index, graph.outputs[0], kind="view") in graph.edges
    assert Edge(1, drawn[0].index) in graph.edges  # CopySlices made the base


def test_a_view_of_a_leaf_points_from_the_leaf(engine):
    x = engine.ones(3, requires_grad=True)
    graph = read(x.narrow(0, 0, 2))
    leaf = next(n for n in graph.nodes if n.kind == "leaf")
    assert Edge(leaf.index, graph.outputs[0], kind="view") in graph.edges
    assert not [n for n in graph.nodes if n.kind == "base"]


def test_custom_functions_show_their_saved_tensors(engine):
    a, b = engine.ones(3, requires_grad=True), engine.ones(3)
    graph = read(product(engine).apply(a, b), {"a": a, "b": b}, show_saved=True)
    assert ops(graph) == ["ProductBackward", "AccumulateGrad"]
    leaf = next(n.index for n in graph.nodes if n.kind == "leaf")
    first, second = graph.nodes[0].saved
    assert (first.slot, first.name, first.leaf) == ("saved_tensors[0]", "a", leaf)
    assert (second.slot, second.tensor.shape, second.leaf) == ("saved_tensors[1]", (3,), None)


def test_a_freed_graph_can_still_be_read(engine):
    x = engine.ones(3, requires_grad=True)
    y = (x * x).sum()
    y.backward()
    graph = read(y, show_saved=True, show_attrs=True)
    mul = graph.nodes[1]
    assert {(kept.slot, kept.state, kept.tensor) for kept in mul.saved} == {
        ("self", "freed", None),
        ("other", "freed", None),
    }
    assert ("self", "[freed]") in mul.attrs
    freed = product(engine).apply(x, x).sum()
    freed.backward()
    assert {kept.state for kept in read(freed, show_saved=True).nodes[1].saved} == {"freed"}


def test_a_value_changed_in_place_is_told(engine):
    x = engine.ones(3, requires_grad=True)
    b = x * 1
    y = b * b
    b.add_(1)
    assert {kept.state for kept in read(y, show_saved=True).nodes[0].saved} == {"modified"}


def test_packed_values_are_not_unpacked(engine):
    x = engine.ones(3, requires_grad=True)
    calls = []

    def unpack(packed):
        calls.append(packed)
        return packed

    with engine.autograd.graph.saved_tensors_hooks(lambda t: t, unpack):
        y = x.exp() * x
    assert {kept.state for kept in read(y, show_saved=True).nodes[0].saved} == {"hooked"}
    assert calls == []


def test_reading_changes_nothing(engine):
    y, names = five(engine)
    read(y, names, show_saved=True, show_attrs=True)
    y.backward()
    assert (names["x"].grad.item(), names["z"].grad.item()) == (4.0, 3.0)
    assert y._version == 0


def test_reading_leaves_glassgrad_s_numbers_as_they_are():
    import glassgrad
    from glassgrad.explore import explain, paths
    from glassgrad.explore import read as survey

    x = glassgrad.ones(3, requires_grad=True)
    h = x.sin() * 2
    y = h.sum()
    two = h.grad_fn._record.saved[0]  # a tensor that calls share: as an array with an owner it would be another thing
    assert two._counter is None
    survey(y, {"x": x})
    explain(y, names={"x": x})
    paths(y, x)
    assert two._counter is None


@pytest.mark.parametrize("bad", [1, None, "x", [1], ("a", None)])
def test_only_tensors_have_graphs(bad):
    with pytest.raises(TypeError, match=r"expected a tensor or a tuple of tensors, but got (int|NoneType|str)"):
        read(bad)


def test_names_belong_to_tensors(engine):
    x = engine.ones(3, requires_grad=True)
    with pytest.raises(TypeError, match=r"params\['x'\] must be a tensor, but got int"):
        read(x, {"x": 1})
    with pytest.raises(TypeError, match="params must be a dict of names and tensors, but got list"):
        read(x, [x])


class Node:
    """The least that a node of a graph offers."""

    def __init__(self, *inputs, name="Fake", sequence=0):
        self.next_functions = tuple((node, 0) for node in inputs)
        self._name, self.sequence = name, sequence

    def name(self):
        return self._name


class Tensor:
    requires_grad = True
    grad_fn = None

    def __init__(self, node):
        self.grad_fn = node


def test_any_engine_with_the_interface_is_walked():
    leaf = Node(sequence=float("inf"))
    left, right = Node(leaf, None, sequence=1), Node(leaf, sequence=2)
    found = walk((Tensor(Node(left, right, name="torch::autograd::Root", sequence=3)),))
    assert [node.sequence for node in found.nodes] == [3, 2, 1, float("inf")]  # youngest first
    assert found.inputs == [((2, 0), (1, 0)), ((3, 0),), ((3, 0), None), ()]
    assert op_name(found.nodes[0]) == "Root"
    assert engine_of(()) == ""
