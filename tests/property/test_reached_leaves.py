"""Every argument that may have a gradient has one: the graph of each sample reaches the leaves that PyTorch's does."""

import re

import pytest

import glassgrad
from tests.property.changed_calls import CallRun, Text, samples
from tests.torch_reference import torch

pytestmark = pytest.mark.torch

PARTS = 4
FLOATING = re.compile(r"([a-j]) = torch\.tensor\(.*dtype=torch\.(float|complex)")
#: What has no derivative in PyTorch either, there by the name of a node that refuses.
REFUSED = re.compile(r"\b(bernoulli|histogram|histogramdd)\(")


def tracked(lines):
    """A call all of whose floating-point tensors require gradients."""
    for line in lines:
        if "requires_grad_" not in line:
            yield line
            if made := FLOATING.match(line):
                yield f"{made[1]}.requires_grad_()"


def reached(engine, lines):
    """The names of the leaves that the results' graphs reach; None where the call is refused."""
    run = CallRun(engine)
    if any(run.do(line)[0] for line in lines):
        return None
    names = {id(value): name for name, value in run.pool.items() if re.fullmatch("[a-j]", name)}
    nodes = [value.grad_fn for name, value in run.pool.items() if re.fullmatch(r"r\d*", name) and value.grad_fn]
    seen, leaves = set(), set()
    for node in nodes:
        for onward, _ in node.next_functions:
            if onward is not None and onward not in seen:
                seen.add(onward)
                nodes.append(onward)
                if hasattr(onward, "variable"):
                    leaves.add(names.get(id(onward.variable)))
    return leaves


@pytest.mark.parametrize("part", range(PARTS))
def test_the_same_leaves(part):
    calls = 0
    for name in [*samples()][part::PARTS]:
        for sample in samples()[name]:
            lines = [*tracked(Text(1, sample).lines)]
            if REFUSED.search(lines[-1]) or (theirs := reached(torch, lines)) is None:
                continue
            calls += 1
            assert reached(glassgrad, lines) == theirs, "\n".join(lines)
    assert calls > 300
