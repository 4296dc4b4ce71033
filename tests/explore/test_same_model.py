"""The same program through both engines gives the same model, but for the engine's name and the ages of nodes."""

from dataclasses import replace

import pytest

import glassgrad
from glassgrad.explore import from_json, observe, read, record, to_json

pytestmark = pytest.mark.torch


def scalars(torch):
    x = torch.tensor(2.0, requires_grad=True)
    z = torch.tensor(3.0, requires_grad=True)
    return x * z + x + z, None


def network(torch):
    nn = torch.nn
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
    with torch.no_grad():
        for i, p in enumerate(model.parameters()):
            p.copy_(torch.arange(p.numel()).reshape(p.shape) * 0.01 * (i + 1))
    return torch.nn.functional.cross_entropy(model(torch.ones(5, 3)), torch.tensor([0, 1, 0, 1, 1])), model


def cuts(torch):
    w = torch.ones(2, 3, requires_grad=True)
    target = (w * 2).detach()
    with torch.no_grad():
        scale = w.sum() * 2
    mask = (w > 0).float()
    weight = torch.tensor((w * 3).sum().item())
    return ((w * 2 - target) * mask * weight).sum() / scale, None


def writes(torch):
    w = torch.ones(4, requires_grad=True)
    h = w * 2
    h[0] = 7.0
    h.mul_(3)
    return h.sum(), None


def loops(torch):
    w = torch.full((3,), 0.5, requires_grad=True)
    h = torch.ones(3)
    for _ in range(3):
        for _ in range(2):
            h = torch.sin(h * w)
        h = step(h, w)
    return h.sum(), None


def step(h, w):
    h = h + w
    return h * 2


def several(torch):
    x = torch.arange(6.0).reshape(2, 3).requires_grad_()
    a, b = x.unbind(0)
    return (a.exp() * b).sum() + torch.stack([a, b]).relu().sum(), None


PROGRAMS = [scalars, network, cuts, writes, loops, several]


def models(program, torch):
    with record(program_model := None) as r:
        loss, model = program(torch)
    assert program_model is None
    names = {"loss": loss}
    yield "graph", read(loss, names)
    yield "names", read(loss, names, model=model)
    yield "recorded", read(loss, names, model=model, record=r)
    yield "observed", observe(loss, params=names, model=model, record=r)


def comparable(graph):
    """The graph without what may differ: the engine's name, ages, times, numbers in the last digits."""
    nodes = []
    for node in graph.nodes:
        nodes.append(replace(
            node, seq=node.forward, ms=None, attrs=(), tensor=rounded(node.tensor), grad=rounded(node.grad),
            outputs=tuple(map(rounded, node.outputs)), grads_in=tuple(map(rounded, node.grads_in)),
            saved=tuple(sorted((replace(s, tensor=rounded(s.tensor)) for s in node.saved), key=lambda s: s.slot)),
        ))  # fmt: skip
    edges = sorted((replace(e, grad=rounded(e.grad)) for e in graph.edges), key=lambda e: (e.src, e.dst, e.dst_input))
    held = tuple(replace(h, tensor=rounded(h.tensor)) for h in graph.parameters)
    return replace(
        graph, engine="", nodes=tuple(nodes), edges=tuple(edges), parameters=held, totals={},
        cuts=tuple(replace(c, tensor=rounded(c.tensor)) for c in graph.cuts),
    )  # fmt: skip


def kept(node, slots):
    """What a node keeps in both engines; a number as a tensor may be of another dtype."""
    found = [s for s in node.saved if s.slot in slots]
    return tuple(s if s.tensor and s.tensor.shape else replace(s, tensor=None) for s in found)


def rounded(info):
    if info is None:
        return None
    stats = info.stats
    if stats is not None:
        numbers = {name: getattr(stats, name) for name in ("low", "high", "mean", "norm")}
        stats = replace(
            stats, **{n: None if v is None else 0.0 if abs(v) < 1e-6 else float(f"{v:.4g}") for n, v in numbers.items()}
        )
    return replace(info, stats=stats, storage=None, value=None)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_both_engines_give_one_model(program):
    from tests.torch_reference import torch

    for (what, ours), (_, theirs) in zip(models(program, glassgrad), models(program, torch), strict=True):
        assert (ours.engine, theirs.engine) == ("glassgrad", "torch")
        one, other = comparable(ours), comparable(theirs)
        for a, b in zip(one.nodes, other.nodes, strict=True):
            both = {s.slot for s in a.saved} & {s.slot for s in b.saved}  # an engine may keep less than the other
            assert replace(a, saved=kept(a, both)) == replace(b, saved=kept(b, both)), what
        for field in ("edges", "outputs", "scopes", "cuts", "events", "problems", "parameters", "level"):
            assert getattr(one, field) == getattr(other, field), (what, field)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_a_model_goes_through_json(program):
    for _, graph in models(program, glassgrad):
        assert from_json(to_json(graph)) == graph
        assert from_json(to_json(graph, indent=2)) == graph


def test_json_is_strict_about_versions_and_not_about_fields():
    import json

    made = json.loads(to_json(read(scalars(glassgrad)[0])))
    made["nodes"][0]["smell"] = "roses"
    made["colour"] = "blue"
    assert from_json(json.dumps(made)) == read(scalars(glassgrad)[0]) or from_json(made).nodes
    with pytest.raises(ValueError, match="of version 99 of the model"):
        from_json({**made, "version": 99})
    with pytest.raises(ValueError, match="it has no nodes"):
        from_json("[]")
