"""`explain`: the sentences it says about a graph; of glassgrad and of torch alike."""

import pytest

import glassgrad
from glassgrad.explore.explain import explain


@pytest.fixture(params=["glassgrad", pytest.param("torch", marks=pytest.mark.torch)])
def torch(request):
    if request.param == "glassgrad":
        return glassgrad
    from tests.torch_reference import torch

    return torch


def section(reading, title):
    return dict(reading.sections)[title]


DONE = "The operations, in the order they were done"


def test_the_questions_of_the_first_document(torch):
    x = torch.ones(2, requires_grad=True)
    z = torch.ones(2, requires_grad=True)
    y = x * z + x + z
    reading = explain(y, names={"x": x, "z": z, "y": y})
    legend = " ".join(section(reading, "How to read this graph"))
    assert "five nodes (three operations, two leaves) and six arrows" in legend
    assert "from the root (y) to the leaves (x and z)" in legend
    assert "AddBackward0 occurs two times because that operation was done two times" in legend
    assert section(reading, "The leaves") == (
        "x is a leaf, a tensor of shape [2], with an AccumulateGrad. Two arrows leave it, to MulBackward0 (x * z) and "
        "AddBackward0 #1 (x * z + x), because x is used there; the two gradients that come back are added up in "
        "x.grad.",
        "z is a leaf, a tensor of shape [2], with an AccumulateGrad. Two arrows leave it, to MulBackward0 (x * z) and "
        "AddBackward0 #0 (x * z + x + z), because z is used there; the two gradients that come back are added up in "
        "z.grad.",
    )
    assert section(reading, DONE)[1:] == (
        "MulBackward0 is the multiplication x * z. Two arrows reach it, from x and z.",
        "AddBackward0 #1 is the addition x * z + x. Two arrows reach it, from MulBackward0 and x.",
        "AddBackward0 #0 is the addition y = x * z + x + z. Two arrows reach it, from AddBackward0 #1 and z.",
    )
    assert section(reading, "The root")[0].startswith("y, a tensor of shape [2], is what AddBackward0 #0 gave")
    assert str(reading).startswith("How to read this graph\n  It has five nodes")
    assert str(explain(y)) == str(explain(y, params={"x": x, "z": z})) == str(reading)  # the variables have names


def test_names_of_results_and_of_values_without_gradient(torch):
    x1, w1 = torch.tensor(1.0), torch.tensor(2.0, requires_grad=True)
    x3 = w1 * x1
    L = 1 - x3 * 7.0
    names = {"x1": x1, "w1": w1, "x3": x3, "L": L}
    assert section(explain(L, names=names), DONE)[1:] == (
        "MulBackward0 #2 is the multiplication x3 = w1 * x1. One arrow reaches it, from w1. "
        "None comes from x1, which needs no gradient.",
        "MulBackward0 #1 is the multiplication x3 * 7. One arrow reaches it, from MulBackward0 #2. "
        "None comes from 7, which needs no gradient.",
        "RsubBackward1 is the subtraction L = const - x3 * 7. One arrow reaches it, from MulBackward0 #1.",
    )


def test_leaves_without_names_and_parentheses(torch):
    def made():
        a, b = torch.tensor(1.0, requires_grad=True), torch.tensor(2.0, requires_grad=True)
        return (a - (b - a.exp())) * b / (a + b)

    sentences = section(explain(made()), DONE)
    assert "DivBackward0 is the division (leaf1 - (leaf2 - exp(leaf1))) * leaf2 / (leaf1 + leaf2)." in sentences[-1]


def test_which_output_of_several(torch):
    x = torch.tensor([1.0, 2.0], requires_grad=True)

    def product(first, second):
        return second * first

    assert section(explain(product(*x.unbind()), names={"x": x}), DONE) == (
        "UnbindBackward0 is unbind(x). One arrow reaches it, from x.",
        "MulBackward0 is the multiplication unbind(x)[1] * unbind(x)[0]. "
        "Two arrows reach it, from UnbindBackward0 and UnbindBackward0.",
    )


def test_without_a_graph(torch):
    plain, leaf = torch.ones(2), torch.ones(2, requires_grad=True)
    assert "needs no gradient, so no graph was recorded" in str(explain(plain))
    assert "x is a leaf, a tensor of shape [2]" in str(explain(leaf, names={"x": leaf}))


def test_it_reads_a_freed_graph_too(torch):
    x = torch.tensor(2.0, requires_grad=True)
    y = x * 3.0
    y.backward()
    assert "MulBackward0 is the multiplication y = x * const" in str(explain(y, names={"x": x}))


def test_only_tensors(torch):
    with pytest.raises(TypeError, match=r"explain\(\): expected a tensor"):
        explain(3.0)


def test_a_long_chain_is_capped(torch):
    x = torch.tensor(1.0, requires_grad=True)
    y = x
    for _ in range(20_000):
        y = y + 1.0
    reading = explain(y, limit=3)
    assert section(reading, DONE)[-1] == "... and 19,997 more."
    assert len(section(reading, DONE)) == 4
    assert len(str(reading)) < 4000
