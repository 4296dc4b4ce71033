"""Answers that must not be wrong: classes of failing scripts, through both engines."""

import importlib
import inspect

import pytest

from glassgrad.explore import check, explain, observe, paths, record, trace_nan, unused, why


def line_of(function, text):
    """The line of this file at which ``text`` stands in ``function``."""
    lines, first = inspect.getsourcelines(function)
    return first + next(i for i, line in enumerate(lines) if text in line)


def names_line(answer, function, text):
    """Whether an answer names this file and the line of ``text``."""
    return f"test_answers.py:{line_of(function, text)}" in str(answer)


def mlp(engine):
    nn = engine.nn
    return nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))


# -- nodes that run a backward pass of their own ----------------------------------------------------------------------


def checkpointed(engine, function, *args):
    checkpoint = importlib.import_module(f"{engine.__name__}.utils.checkpoint").checkpoint
    return checkpoint(function, *args, use_reentrant=True)


WAYS = {
    "module": lambda layer: layer,
    "bound call": lambda layer: layer.__call__,
    "closure": lambda layer: lambda x: layer(x),
    "default": lambda layer: lambda x, inner=layer: inner(x),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("recorded", [False, True])
def test_parameters_inside_of_a_reentrant_checkpoint_get_their_gradients(engine, way, recorded):
    model, head = mlp(engine), engine.nn.Linear(1, 1)
    spare = engine.nn.Linear(1, 1)
    x = engine.ones(2, 3, requires_grad=True)
    with record() as r:
        loss = head(checkpointed(engine, WAYS[way](model), x)).sum()
    r = r if recorded else record()
    answer = why(loss, "0.weight", model=model, record=r)
    assert answer and answer.kind == "opaque" and "use_reentrant=False" in answer.advice
    assert not recorded or "test_answers.py:" in str(answer)
    answer = unused(loss, model, record=r)
    assert answer and answer.names == () and len(answer.hidden) == 4
    answer = unused(loss, {"head": head.weight, "spare": spare.weight}, record=r)
    assert answer.names == () and answer.hidden == ("spare",) and not answer  # it cannot be told
    answer = check(loss, record=r)
    assert answer and "backward pass of its own" in str(answer)
    assert "backward pass of its own" in str(explain(loss))
    with pytest.raises(RuntimeError, match="backward pass of its own"):
        paths(loss, x)
    assert trace_nan(loss, record=r) and model[0].weight.grad is None and head.weight.grad is None
    graph = observe(loss, model=model, record=r)
    assert [p for p in graph.problems if p.kind == "unused"] == []
    assert model[0].weight.grad is not None


def test_a_function_whose_backward_differentiates(engine):
    def inner(x):
        with engine.enable_grad():
            x = x.detach().requires_grad_()
            return x, (x * w).sum()

    class Implicit(engine.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return inner(x)[1].detach()

        @staticmethod
        def backward(ctx, g):
            x, y = inner(engine.ones(3))
            y.backward()
            return x.grad * g

    w = engine.ones(3, requires_grad=True)
    x = engine.ones(3, requires_grad=True)
    with record():
        loss = Implicit.apply(x) * 2
    answer = why(loss, w)
    assert answer.kind == "opaque" and "cannot be told" in answer.verdict and "ImplicitBackward" in str(answer)
    assert names_line(answer, test_a_function_whose_backward_differentiates, "Implicit.apply(x)")
    assert why(loss, x).kind == "connected"


@pytest.mark.filterwarnings("ignore:None of the inputs")
def test_a_reentrant_checkpoint_without_an_input_that_requires_a_gradient(engine):
    model = mlp(engine)
    with record():
        loss = checkpointed(engine, model, engine.ones(2, 3)).sum()
    for answer in (why(loss), why(loss, model[0].weight), check(loss)):
        assert not answer and "use_reentrant=False" in answer.advice
    assert [cut.how for cut in why(loss).cuts] == ["checkpoint"]
    with record():  # evaluated: nothing is wrong with the checkpoint
        with engine.no_grad():
            loss = checkpointed(engine, model, engine.ones(2, 3)).sum()
    assert "use_reentrant" not in str(why(loss))
