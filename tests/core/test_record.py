"""Records, leaves and the nodes made of them."""

import numpy as np
import pytest

import glassgrad as torch
from glassgrad.core import call, leaf
from glassgrad.core.record import OUTPUT, Kind, Record, freed, output_number, output_of, tick
from glassgrad.core.row import TABLE
from glassgrad.tensor.hooks import hooks_of
from glassgrad.tensor.node import AccumulateGrad, Node, node_of, pair_of


def kind(**more):
    return Kind("TestBackward0", lambda record, grad, retain_graph: (grad,) * len(record.edges), None, **more)


def test_a_loss_that_sums_up_has_nothing_to_fit():
    """Its rule gives gradients of its inputs' sizes, whichever path the call took."""
    row = TABLE["smooth_l1_loss"]
    predicted, wanted = torch.ones(2, 3, requires_grad=True), torch.zeros(2, 3)
    for loss in (row.caller(predicted, wanted), call.call(row, (predicted, wanted), row.plan.usual)):
        assert loss._edge.fit is None


def test_sequence_grows():
    first, second = Record.of(kind(), (None,)), Record.of(kind(), (None,))
    assert first.sequence < second.sequence < tick()


def test_outputs_are_a_part_of_a_step_younger():
    parent = Record.of(kind(outputs=3), (None,))
    younger = Record.of(kind(), (None,))
    outputs = [output_of(parent, index, 3) for index in range(3)]
    assert all(parent.sequence < output.sequence < younger.sequence for output in outputs)
    assert all(output.kind is OUTPUT and output.edges == (parent,) for output in outputs)
    (bundle,) = outputs[1].run(outputs[1], "gradient", False)
    assert bundle.grads == [None, "gradient", None]
    assert [output_number(output) for output in (*outputs, parent, None)] == [0, 1, 2, 0, 0]


def test_release_frees_only_what_saves():
    record = Record.of(kind(frees=True), (None,))
    record.saved = ("saved", 0)
    record.release()
    assert record.saved is None
    assert record.run is freed
    with pytest.raises(RuntimeError, match="a second time"):
        record.run(record, None, False)
    plain = Record.of(kind(), (None,))
    plain.release()
    assert plain.run is not freed


def test_about_is_made_once():
    record = Record.of(kind(), (None,))
    assert hooks_of(record) is hooks_of(record)
    assert hooks_of(record).metadata == {}


# -- leaves ---------------------------------------------------------------------------------------------------------


def test_a_gradient_nobody_else_holds_is_taken():
    x = torch.ones(3, requires_grad=True)
    x._gathered = np.ones(3, "f4")
    address = x._gathered.ctypes.data
    grad, x._gathered = x._gathered, None
    leaf.accumulate(x, grad)
    assert x.grad.data_ptr() == address


def test_a_gradient_somebody_holds_is_copied():
    x, shared = torch.ones(3, requires_grad=True), [np.ones(3, "f4")]
    grad = shared[0]
    leaf.accumulate(x, grad)
    grad[0] = 9
    assert x.grad.tolist() == [1.0, 1.0, 1.0]
    view = np.ones((2, 3), "f4")
    y = torch.ones(3, requires_grad=True)
    leaf.accumulate(y, view[0])
    view[0, 0] = 9
    assert y.grad.tolist() == [1.0, 1.0, 1.0]


def test_leaves_of_one_sum_share_nothing():
    p, q = torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True)
    (p + q).sum().backward()
    p.grad[0] = 5.0
    assert q.grad.tolist() == [1.0, 1.0, 1.0]


def test_sums_go_into_the_gradient_that_is_there():
    x = torch.ones(3, requires_grad=True)
    (x * 2.0).sum().backward()
    kept, version = x.grad, x.grad._version
    view = kept[:1]
    (x * 3.0).sum().backward()
    assert x.grad is kept
    assert view.tolist() == [5.0]
    assert kept._version == version + 1


def test_sums_under_create_graph_make_a_new_gradient():
    x = torch.ones(3, requires_grad=True)
    (x * x).sum().backward()
    kept = x.grad
    with pytest.warns(UserWarning, match="create_graph=True"):
        (x * x).sum().backward(create_graph=True)
    assert x.grad is not kept
    assert kept.tolist() == [2.0, 2.0, 2.0]
    assert x.grad.requires_grad
    x.grad = None


def test_a_gradient_has_its_leafs_layout():
    x = torch.ones(2, 3).t().requires_grad_()
    (x * torch.arange(6.0).reshape(3, 2)).sum().backward()
    assert x.grad.stride() == x.stride()
    assert x.grad.tolist() == torch.arange(6.0).reshape(3, 2).tolist()


# -- nodes ----------------------------------------------------------------------------------------------------------


def test_nodes_cannot_be_made_by_hand():
    with pytest.raises(TypeError, match="Can.t instantiate abstract class Node"):
        Node()
    with pytest.raises(TypeError, match="cannot create 'AccumulateGrad' instances"):
        AccumulateGrad()


def test_one_node_for_a_record_as_long_as_it_is_held():
    y = torch.ones(2, requires_grad=True) * 2.0
    node = y.grad_fn
    assert y.grad_fn is node
    assert node_of(node._record) is node
    assert isinstance(node, torch.autograd.graph.Node)
    assert type(node).__name__ == node.name() == "MulBackward0"


def test_pairs():
    x = torch.ones(2, requires_grad=True)
    assert pair_of(None) == (None, 0)
    assert pair_of(x)[0].variable is x
    a, b = x.unbind()
    assert pair_of(b._edge.edge) == (a.grad_fn, 1)


def test_metadata_lives_with_the_record():
    y = torch.ones(2, requires_grad=True) * 2.0
    y.grad_fn.metadata["seen"] = 1
    assert y.grad_fn.metadata == {"seen": 1}
    x = torch.ones(2, requires_grad=True)
    torch.autograd.graph.get_gradient_edge(x).node.metadata["here"] = True
    assert torch.autograd.graph.get_gradient_edge(x).node.metadata == {"here": True}


def test_a_node_may_be_called():
    x = torch.tensor(3.0, requires_grad=True)
    y = torch.tensor(4.0, requires_grad=True)
    node = (x * y).grad_fn
    grads = node(torch.tensor(2.0))
    assert [g.item() for g in grads] == [8.0, 6.0]
    assert grads[0].requires_grad, "while recording is on, the rules are recorded"
    with torch.no_grad():
        assert not node(torch.tensor(2.0))[0].requires_grad
    sink = node.next_functions[0][0]
    with torch.no_grad():
        sink(torch.tensor(8.0))
    assert x.grad.item() == 8.0


def test_saved_values_are_listed_and_end_with_the_graph():
    x = torch.ones(2, requires_grad=True)
    y = x.exp()
    assert [name for name in dir(y.grad_fn) if name.startswith("_saved_")] == ["_saved_result"]
    assert y.grad_fn._saved_result.tolist() == y.tolist()
    with pytest.raises(AttributeError, match="'ExpBackward0' object has no attribute '_saved_other'"):
        _ = y.grad_fn._saved_other
    y.sum().backward()
    with pytest.raises(RuntimeError, match="a second time"):
        _ = y.grad_fn._saved_result
