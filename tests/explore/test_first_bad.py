"""The first NaN or infinite value: inputs, weights, operations and gradients, with the reason; in both engines."""

import pytest

from glassgrad.explore import trace_nan

from .lines import line_of, names_case

# -- NaN and infinity: the first value that was bad -------------------------------------------------------------------

NAN, INF = float("nan"), float("inf")
FORWARD = {
    "pow of a negative": (lambda t, v: v**0.5, [-1.0, 2.0], "pow", "a negative number to a power"),
    "sqrt of a negative": (lambda t, v: v.sqrt(), [-1.0, 2.0], "sqrt", "root of a negative"),
    "rsqrt of 0": (lambda t, v: v.rsqrt(), [0.0, 2.0], "rsqrt", "negative power"),
    "log of a negative": (lambda t, v: t.log(v), [-1.0, 2.0], "log", "logarithm of a negative"),
    "log of 0": (lambda t, v: v.log2(), [0.0, 2.0], "log2", "logarithm of 0"),
    "0 / 0": (lambda t, v: v / v, [0.0, 2.0], "div", "0 / 0"),
    "x / 0": (lambda t, v: (v + 1) / v, [0.0, 2.0], "div", "divided by 0"),
    "1 / x": (lambda t, v: 1 / v, [0.0, 2.0], "rdiv", "divided by 0"),
    "std of one sample": (lambda t, v: v.std(), [3.0], "std", "n - 1 = 0"),
    "var of one sample": (lambda t, v: v.reshape(1, 2).var(0), [3.0, 4.0], "var", "n - 1 = 0"),
    "mean of none": (lambda t, v: v[v > 9].mean(), [3.0, 4.0], "mean", "no numbers at all"),
    "acos": (lambda t, v: v.acos(), [1.5, 0.0], "acos", "between -1 and 1"),
    "exp": (lambda t, v: (v * 100).exp(), [1.5, 0.0], "exp", "too large"),
    "all masked": (lambda t, v: (v + t.full((2,), -INF)).softmax(0), [1.0, 2.0], "softmax", "masked out"),
    "a number": (lambda t, v: v * NAN, [1.0, 2.0], "mul", "among its arguments"),
}


@pytest.mark.parametrize("case", FORWARD)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_operation_that_made_the_first_bad_number_and_why(engine, case):
    function, values, op, reason = FORWARD[case]
    v = engine.tensor(values, requires_grad=True)
    answer = trace_nan(lambda: (function(engine, v) * 2).sum())
    assert (answer.phase, answer.op) == ("forward", op), answer
    assert reason in str(answer) and answer.advice and names_case(answer, __file__, case)
    assert v.grad is None


def test_a_bad_number_in_the_batch_or_in_a_weight_is_not_the_layers_fault(engine):
    nn, functional = engine.nn, engine.nn.functional

    def forward():
        return functional.cross_entropy(model(batch), engine.tensor([0, 1]))

    for bad in (NAN, INF):
        model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 3))
        batch = engine.ones(2, 3)
        assert trace_nan(forward) and trace_nan(forward())
        batch[1, 2] = bad
        for answer in (trace_nan(forward), trace_nan(forward(), names={"images": batch})):
            assert answer.phase == "input", answer
            assert "1 of its 6 numbers" in answer.verdict
        assert answer.name == "images" and trace_nan(forward).name == "batch"
        batch = engine.ones(2, 3)
        with engine.no_grad():
            model[2].weight[0, 0] = bad
        for answer in (trace_nan(forward, model=model), trace_nan(forward(), model=model)):
            assert (answer.phase, answer.name) == ("input", "2.weight"), answer
            assert "1 of its 12 numbers" in answer.verdict
        assert trace_nan(forward).name == "model.2.weight"


def test_a_mask_of_infinities_from_outside_is_not_to_blame(engine):
    mask = engine.full((3, 3), -INF).triu(1)
    scores = engine.ones(3, 3, requires_grad=True)
    assert trace_nan(lambda: (scores + mask).softmax(-1).sum())
    answer = trace_nan(lambda: (scores + mask).softmax(-1).log().sum())
    assert answer.op == "log"


def test_what_does_no_harm_is_not_called_a_fault(engine):
    x = engine.tensor([0.0, 1.0], requires_grad=True)
    answer = trace_nan(lambda: (x.detach().log().exp() * x).sum())
    assert answer and "no harm" in str(answer) and "log gave infinity" in str(answer)
    spoiled = trace_nan(lambda: engine.where(x > 0, x.log(), engine.zeros(2)).sum())
    assert not spoiled and spoiled.op == "log" and "finite all the same" in str(spoiled)
    assert ("set_masked_gradients" in spoiled.advice) == (engine.__name__ == "glassgrad")


def test_the_switch_for_masked_branches_is_named_where_it_helps(engine):
    x = engine.tensor([0.0, 4.0], requires_grad=True)
    masked = trace_nan(engine.where(x > 0, x.sqrt(), engine.zeros(2)).sum())
    assert ("set_masked_gradients(True)" in masked.advice) == (engine.__name__ == "glassgrad")
    assert "set_masked_gradients" not in trace_nan(x.sqrt().sum()).advice


BACKWARD = {
    "sqrt at 0": (lambda t, v: v.sqrt().sum(), [0.0, 4.0], "SqrtBackward0", "slope of sqrt at 0"),
    "pow at 0": (lambda t, v: (v**0.5).sum(), [0.0, 4.0], "PowBackward0", "infinite slope at 0"),
    "root of a variance": (lambda t, v: v.var().sqrt(), [2.0, 2.0], "SqrtBackward0", "slope of sqrt at 0"),
    "acos at 1": (lambda t, v: v.acos().sum(), [1.0, 0.5], "AcosBackward0", "slope of acos"),
    "masked later": (lambda t, v: (v.sqrt() * t.tensor([0.0, 1.0])).sum(), [0.0, 4.0], "SqrtBackward0", "0 times inf"),
}


@pytest.mark.parametrize("case", BACKWARD)
def test_the_operation_that_made_the_first_bad_gradient_and_why(engine, case):
    function, values, op, reason = BACKWARD[case]
    v = engine.tensor(values, requires_grad=True)
    loss = function(engine, v)
    for answer in (trace_nan(lambda: function(engine, v)), trace_nan(loss)):
        assert (answer.phase, answer.op) == ("backward", op), answer
        assert reason in str(answer) and answer.advice
    assert v.grad is None


def test_without_a_recording_the_graph_tells_what_it_kept(engine):
    x = engine.tensor([0.0, 1.0], requires_grad=True)
    assert trace_nan((x.log() * 2).sum()).op == "LogBackward0"
    assert trace_nan((x / x).sum()).op == "DivBackward0"
    assert trace_nan((x * 1000).exp().sum()).op == "ExpBackward0"
    answer = trace_nan((x - INF).sum() + INF)  # a sum keeps nothing: no operation is blamed
    assert answer.op == "" and "to blame" in answer.verdict and "function" in answer.advice


def test_nan_that_is_written_is_put_down_to_the_write(engine):
    w = engine.ones(3, requires_grad=True)

    def forward():
        h = w * 2
        with engine.no_grad():
            h[0] = NAN  # here
        return h.sum()

    answer = trace_nan(forward)
    assert (answer.phase, answer.op, answer.name) == ("forward", "setitem", "h")
    assert answer.loc.line == line_of(forward, "# here")
