"""Answers that must not be wrong: classes of failing scripts, through both engines."""

import importlib

import pytest

from glassgrad.explore import check, explain, explore, graph_text, observe, paths, read, record, trace_nan, unused, why

from .lines import line_of, mlp, names_case, names_line

NAN = float("nan")


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


# -- changes in place by inplace=True ---------------------------------------------------------------------------------

INPLACE = {
    "nn.ReLU": lambda t, h: t.nn.ReLU(inplace=True)(h),
    "relu": lambda t, h: t.nn.functional.relu(h, inplace=True),
    "leaky_relu": lambda t, h: t.nn.functional.leaky_relu(h, 0.1, True),
    "elu": lambda t, h: t.nn.functional.elu(h, inplace=True),
    "dropout": lambda t, h: t.nn.functional.dropout(h, 0.5, True, True),
    "nn.Dropout": lambda t, h: t.nn.Dropout(inplace=True)(h),
    "nn.Hardtanh": lambda t, h: t.nn.Hardtanh(inplace=True)(h),
    "input=": lambda t, h: t.nn.functional.silu(input=h, inplace=True),
    "in a model": lambda t, h: t.nn.Sequential(t.nn.Identity(), t.nn.ReLU(inplace=True))(h),
}


@pytest.mark.parametrize("values", [False, True])
@pytest.mark.parametrize("case", INPLACE)
def test_changes_by_inplace_true_have_a_name_and_a_line(engine, case, values):
    w = engine.ones(3, requires_grad=True)
    with record(values=values):
        hidden = w.exp()
        loss = INPLACE[case](engine, hidden).sum()
    answer = check(loss)
    assert not answer and "(inplace=True)" in str(answer) and "leave inplace=True out" in answer.advice
    assert names_case(answer, __file__, case) and "hidden was changed in place" in str(answer)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_a_dropout_that_does_nothing_changes_nothing(engine):
    w = engine.ones(3, requires_grad=True)
    with record() as r:
        loss = engine.nn.functional.dropout(w.exp(), 0.5, False, True).sum()
    assert check(loss) and not r.inplace


def test_a_step_between_forward_and_backward_is_moved_not_rewritten(engine):
    model = mlp(engine)
    optimizer = engine.optim.SGD(model.parameters(), lr=0.1)
    with record(model):
        first, second = (model(engine.ones(2, 3, requires_grad=True)).sum() for _ in range(2))
        second.backward()
        optimizer.step()
    answer = check(first)
    assert not answer and "SGD.step" in str(answer) and "0.weight was changed in place" in str(answer)
    assert answer.advice.startswith("call backward() before the optimizer's step()")


# -- a loss that is a leaf --------------------------------------------------------------------------------------------

LEAVES = {
    "tensor(loss)": ("copy", lambda t, y: t.tensor(y, requires_grad=True)),
    "tensor(item)": ("item", lambda t, y: t.tensor(y.item(), requires_grad=True)),
    "detach": ("detach", lambda t, y: y.detach().requires_grad_()),
    "data.clone": ("data", lambda t, y: y.data.clone().requires_grad_()),
    "Variable": ("data", lambda t, y: t.autograd.Variable(y.data, requires_grad=True)),
    "no_grad": ("comparison", lambda t, y: (y > 0).float().requires_grad_()),
}


@pytest.mark.parametrize("case", LEAVES)
@pytest.mark.filterwarnings("ignore:To copy construct")
def test_a_loss_that_is_a_leaf_reaches_nothing(engine, case):
    how, function = LEAVES[case]
    w = engine.ones(3, requires_grad=True)
    with record():
        y = (w * 2).sum()
        loss = function(engine, y)
        loss = loss * 1 if case == "never" else loss
    assert loss.is_leaf and loss.requires_grad
    answer = check(loss)
    assert not answer and "reach nothing" in answer.verdict
    for one in (why(loss), why(loss, w)):
        assert not one and [cut.how for cut in one.cuts] == [how] and one.advice, one
        assert names_case(one, __file__, case) and str(one.cuts[0].loc) in str(answer)
    assert not unused(loss, {"w": w})
    parameter = engine.nn.Parameter(engine.ones(()))
    assert "parameter" in str(why(parameter, record=record()))


def test_what_a_cut_leaf_is_used_for_knows_the_cut(engine):
    w = engine.ones(3, requires_grad=True)
    with record():
        y = engine.autograd.Variable((w * 2).data, requires_grad=True)
        loss = (y * y).sum()
    assert [cut.how for cut in why(loss, w).cuts] == ["data"] and check(loss)


# -- indices, whole numbers, draws ------------------------------------------------------------------------------------

WHOLE = {
    "topk": ("argmax", lambda t, v: v.topk(2).indices.float().sum()),
    "topk[1]": ("argmax", lambda t, v: t.topk(v, 2)[1].float().sum()),
    "sort": ("argmax", lambda t, v: v.sort()[1].float().sum()),
    "argsort": ("argmax", lambda t, v: v.argsort().float().sum()),
    "argmax": ("argmax", lambda t, v: v.argmax().float()),
    "max(dim)": ("argmax", lambda t, v: v.max(0)[1].float()),
    "min(dim)": ("argmax", lambda t, v: v.min(0).indices * 1.0),
    "pool": ("argmax", lambda t, v: t.nn.functional.max_pool1d(v[None, None], 2, return_indices=True)[1].float().sum()),
    "one_hot": ("argmax", lambda t, v: t.nn.functional.one_hot(v.argmax(), 3).float().sum()),
    "long": ("integer", lambda t, v: v.long().float().sum()),
    "int": ("integer", lambda t, v: v.int().sum().float()),
    "to": ("integer", lambda t, v: v.to(t.int64).float().sum()),
    "type": ("integer", lambda t, v: v.type(t.int32).float().sum()),
    "bool": ("comparison", lambda t, v: v.bool().float().sum()),
    "Normal": ("sample", lambda t, v: t.distributions.Normal(v, 1.0).sample().sum()),
    "Categorical": ("sample", lambda t, v: t.distributions.Categorical(logits=v).sample().float()),
    "Bernoulli": ("sample", lambda t, v: t.distributions.Bernoulli(logits=v).sample().sum()),
    "multinomial": ("sample", lambda t, v: t.multinomial(v, 1).float().sum()),
}


@pytest.mark.parametrize("case", WHOLE)
def test_indices_whole_numbers_and_draws_are_cuts(engine, case):
    how, function = WHOLE[case]
    w = engine.ones(3, requires_grad=True)
    with record():
        loss = function(engine, w * 2)
    for answer in (why(loss), why(loss, w)):
        assert {cut.how for cut in answer.cuts} == {how} and answer.advice
        assert names_case(answer, __file__, case)
    assert "Nothing was cut" not in str(check(loss))
    assert how != "sample" or "rsample()" in why(loss).advice and "log_prob()" in why(loss).advice


def test_values_beside_indices_keep_their_gradient(engine):
    w = engine.ones(3, requires_grad=True)
    with record() as r:
        values, indices = (w * 2).topk(2)
        loss = (values * indices).sum()
    assert why(loss, w) and check(loss) and len(r.cuts) == 1


# -- advice that fits the cause ---------------------------------------------------------------------------------------


def test_a_gradient_penalty_without_create_graph(engine):
    critic = engine.nn.Linear(3, 1)
    x = engine.ones(2, 3, requires_grad=True)

    def penalty(create):
        slope = engine.autograd.grad(critic(x).sum(), x, create_graph=create)[0]  # the cut
        return ((slope.norm(dim=1) - 1) ** 2).mean()

    with record():
        alone = penalty(False)
        joined = critic(x).mean() + penalty(False)
        right = critic(x).mean() + penalty(True)
    for answer in (why(alone), check(alone), why(alone, critic.weight), check(joined)):
        assert "create_graph=True" in answer.advice and names_line(answer, penalty, "# the cut")
    assert [cut.how for cut in why(alone).cuts] == ["grad"]
    assert check(joined) and check(right) and not check(right).advice


def test_recording_that_was_switched_off(engine):
    w = engine.ones(3, requires_grad=True)

    def forward():
        return (w * 2).sum()

    def left_off():
        engine.set_grad_enabled(False)
        with record():
            loss = forward()
        engine.set_grad_enabled(True)
        return loss

    answer = why(left_off())
    assert [cut.how for cut in answer.cuts] == ["set_grad_enabled"] and "set_grad_enabled(True)" in answer.advice
    assert names_line(answer, forward, "w * 2")

    def around():
        with engine.no_grad(), record():
            return forward()

    answer = why(around())
    assert [cut.how for cut in answer.cuts] == ["no_grad"]
    assert f"no_grad stands in line {line_of(around, 'no_grad()')}" in str(answer)


def test_a_way_through_numpy(engine):
    import numpy

    w, v = (engine.ones(3, requires_grad=True) for _ in range(2))

    def away():
        return numpy.exp((w * 2).detach().numpy())  # the cut

    for loss_of in (lambda y: engine.from_numpy(y).sum(), lambda y: (engine.tensor(y) * v).sum()):
        with record():
            loss = loss_of(away())
        answer = why(loss, w)
        assert not answer and answer.cuts and names_line(answer, away, "# the cut")
        assert "in place of the array" in answer.advice and "detach() out" not in answer.advice


@pytest.mark.filterwarnings("ignore:.*weight_norm")
def test_computed_weights_name_the_parameters_behind(engine):
    utils = engine.nn.utils
    for wrap, names in (
        (
            utils.parametrizations.weight_norm,
            ["parametrizations.weight.original0", "parametrizations.weight.original1"],
        ),
        (utils.parametrizations.spectral_norm, ["parametrizations.weight.original"]),
        (utils.weight_norm, ["weight_g", "weight_v"]),
    ):
        layer = wrap(engine.nn.Linear(3, 2))
        with record(layer):
            loss = layer(engine.ones(2, 3)).sum()
        for answer in (why(loss, layer.weight), why(loss, "weight", model=layer)):
            assert answer.kind == "not a leaf" and "retain_grad" not in answer.advice
            assert all(name in answer.advice for name in names)
    with pytest.raises(ValueError, match="no parameter 'wieght_g'; is it 'weight_g'"):
        why(loss, "wieght_g", model=layer)


def test_functional_call_uses_the_tensors_it_is_given(engine):
    layer = engine.nn.Linear(3, 1)
    weights = {name: p.detach().requires_grad_() for name, p in layer.named_parameters()}
    with record(layer):
        loss = engine.func.functional_call(layer, weights, (engine.ones(2, 3),)).sum()
    answer = why(loss, layer.weight)
    assert not answer and "functional_call" in answer.advice and "weights['bias']" in str(answer)
    assert why(loss, weights["weight"])


@pytest.mark.torch
def test_transforms_of_torch_func():
    from tests.torch_reference import torch

    layer = torch.nn.Linear(3, 1)
    weights = dict(layer.named_parameters())
    inside = []

    def loss_of(weights):
        loss = torch.func.functional_call(layer, weights, (torch.ones(2, 3),)).sum()
        inside.extend([why(loss), check(loss), why(loss, weights["weight"])])
        return loss

    with record():
        loss = torch.func.grad(loss_of)(weights)["weight"].sum()
    assert all("transform" in answer.verdict and answer for answer in inside)
    answer = why(loss, layer.weight)
    assert answer.kind == "transform" and "requires_grad=True on" not in str(answer)
    assert names_line(answer, test_transforms_of_torch_func, "torch.func.grad(loss_of)")
    with record():
        loss = torch.func.vmap(lambda a: a * layer.weight[0])(torch.ones(2, 3)).sum()
    assert why(loss, layer.weight) and check(loss)


# -- unfrozen after the forward pass ----------------------------------------------------------------------------------


@pytest.mark.parametrize("recorded", [False, True])
def test_a_parameter_that_was_unfrozen_too_late(engine, recorded):
    model = mlp(engine)
    model[2].weight.requires_grad_(False)
    with record(model) as r:
        loss = model(engine.ones(2, 3)).sum()
    r = r if recorded else record()
    model[2].weight.requires_grad_(True)
    answer = why(loss, "2.weight", model=model, record=r)
    assert answer.kind == "frozen" and "forward pass again" in answer.advice
    assert unused(loss, model, record=r).reasons == {"2.weight": "it required no gradient when the loss was computed"}
    w, v = engine.ones(3), engine.ones(3, requires_grad=True)
    with record() as r:
        loss = (w * v).sum()
    w.requires_grad_()
    assert why(loss, w, record=r if recorded else record()).kind == "frozen"


# -- names, numbers, and what is accepted -----------------------------------------------------------------------------


def test_variables_name_their_tensors_without_being_asked(engine):
    def script():
        inner = engine.ones(3, requires_grad=True)
        hidden = inner * 2
        return (hidden.detach() * weight).sum()

    weight = engine.ones(3, requires_grad=True)
    biases = [engine.ones((), requires_grad=True)]
    with record() as r:
        loss = script() + biases[0]
    assert str(why(loss, weight)).startswith("weight is in the graph")
    assert str(why(loss, biases[0])).startswith("biases[0] is in the graph")
    assert str(explain(loss)).count("biases[0]") and "leaf1" not in str(explain(loss))
    assert str(paths(loss, weight)).startswith("dloss/dweight: ")
    assert r.cuts[0].loc.expression == "hidden.detach()"
    apart = engine.ones(3, requires_grad=True)
    answer = why(loss, apart)
    assert "weight" in str(answer) and "biases[0]" in str(answer) and "apart" in answer.verdict


def test_paths_and_explain_call_nothing_by_another_tensors_name(engine):
    def cube(value):
        return value * value * value

    x = engine.tensor(2.0, requires_grad=True)  # not the tensor that is asked about
    y = engine.tensor(3.0, requires_grad=True)

    def ask():
        return str(paths(cube(leaf), leaf)), str(explain(cube(x.detach() * leaf)))

    leaf = engine.tensor(1.0, requires_grad=True)
    text = str(paths(cube(leaf) * y, leaf))
    assert text.startswith("d(the result)/dleaf: ") and " y " not in text.splitlines()[0]
    by_path, read_aloud = ask()
    assert by_path.startswith("d(the result)/dleaf: ")
    assert "x *" not in read_aloud and "* x" not in read_aloud  # a detached alias of x is not x


def test_names_and_params_are_one_argument_and_locals_will_do(engine):
    number, text = 3, "no tensor"
    w = engine.ones(3, requires_grad=True)
    with record() as r:
        loss = (w * number).sum()
    for given in ({"weights": w, "number": number, "text": text}, locals()):
        for word in ("names", "params"):
            answers = [
                why(loss, w, **{word: given}), check(loss, **{word: given}), explain(loss, **{word: given}),
                paths(loss, w, **{word: given}), trace_nan(loss, **{word: given}),
                observe(loss, retain_graph=True, **{word: given}), read(loss, **{word: given}),
            ]  # fmt: skip
            name = "weights" if "weights" in given else "w"
            assert name in str(answers[0]) and name in str(answers[2]) and name in str(answers[3])
            assert {n.name for n in answers[6].nodes if n.kind == "leaf"} == {name}
    with pytest.raises(TypeError, match="must be a tensor, but got str"):
        why(loss, w, names={"a": "b"})
    assert r is not None


def test_one_graph_has_one_count_and_one_numbering(engine):
    x = engine.tensor(2.0, requires_grad=True)
    z = engine.tensor(3.0, requires_grad=True)
    y = x * z + x + z
    assert "3 operations, 2 leaves" in str(check(y)) and "3 operations, 2 leaves" in repr(explore(y))
    assert "(three operations, two leaves)" in str(explain(y))
    lines = graph_text(y).splitlines()
    assert lines[1].startswith("#0  AddBackward0") and lines[2].startswith("#1  AddBackward0")
    assert "y -> AddBackward0 #0 -> AddBackward0 #1 -> MulBackward0 -> x" in str(paths(y, x))
    graph = read(y)
    assert all(graph.nodes[i].op == line.split()[1] for i, line in enumerate(lines[1:]))
    assert "AddBackward0 #0 is the addition y = x * z + x + z" in str(explain(y))


class Output(dict):
    """What a model of a library gives: a dict whose entries are attributes too."""

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


def test_several_losses_dicts_and_outputs_of_models_are_accepted(engine):
    a, b = engine.ones(3, requires_grad=True), engine.ones(3, requires_grad=True)
    with record():
        first, second = (a * 2).sum(), (b * a).sum()
        cut = b.detach().sum()
    for several in ((first, second), [first, second], {"one": first, "two": second}):
        assert check(several) and why(several, b) and why(several) and unused(several, {"a": a, "b": b})
    for output in ({"loss": second, "log": {"acc": 1}}, Output(loss=second, logits=a * 2)):
        assert check(output) and why(output, b) and not check(output).problems and trace_nan(output)
        assert str(explain(output)) == str(explain(second)) and paths(output, a).count == 1
        assert observe(output, retain_graph=True).problems == () and read(output).totals["ops"] == 2
    answer = trace_nan((first, second * NAN))
    assert not answer and answer.op == "MulBackward0" and "NaN" in answer.verdict
    for question in (explain, observe):
        with pytest.raises(TypeError, match="expected one tensor, but got 2"):
            question((first, second))
    answer = check((first, cut))
    assert not answer and "cut: " in str(answer) and "detach" in str(answer)
    for wrong in ("loss", 3, None, {"loss": 3}, (first, "x"), {}):
        with pytest.raises(TypeError, match="expected a tensor or a tuple of tensors"):
            check(wrong)


def test_repeated_findings_are_told_once_with_their_number(engine):
    w = engine.ones(3, requires_grad=True)
    with record():
        total = 0.0
        for _ in range(5):
            total = total + (w * 2).detach().sum()
    assert str(why(total)).count("detach at") == 1 and "(5 times)" in str(why(total))
    with record():
        h = w.exp()
        loss = sum((h * h).sum() for _ in range(4))
        h.add_(1)
    assert str(check(loss)).count("MulBackward0 saved `other`") <= 1


# -- what is not followed is not claimed ------------------------------------------------------------------------------


def test_writes_that_nothing_records(engine):
    w, v = engine.ones(3, requires_grad=True), engine.ones(3, requires_grad=True)
    with record():
        z = engine.zeros(3)
        z.data = w * 2
        loss = (z * v).sum()
    answer = why(loss, w)
    assert [cut.how for cut in answer.cuts] == ["data"] and "required none when" not in str(answer)
    with record():
        z = engine.zeros(3)
        with engine.no_grad():
            z.copy_(w)
        loss = (z * v).sum()
    assert [cut.how for cut in why(loss, w).cuts] == ["no_grad"]
    with record():
        z = engine.nn.Parameter(w * 2)
        loss = (z * v).sum()
    answer = why(loss, w)
    assert not answer and "seen" in str(answer) and "nn.Parameter" in answer.advice


def test_numbers_taken_from_others_are_not_blamed(engine):
    w, v = engine.ones(3, requires_grad=True), engine.ones(3, requires_grad=True)
    with record():
        printed = (v * 2).sum().item()
        apart = w * 3
        loss = (v * v).sum()
    answer = why(loss, w)
    assert not answer.cuts and "not seen to be used" in str(answer)
    assert printed and apart is not None


def test_a_result_that_retains_its_gradient(engine):
    w = engine.ones(3, requires_grad=True)
    h = w * 2
    h.retain_grad()
    loss = (h * h).sum()
    assert why(loss, h) and "not run yet" in str(why(loss, h))
    loss.backward()
    assert why(loss, h).kind == "retained" and "norm" in str(why(loss, h))


def test_a_name_that_was_bound_anew_is_not_used_for_the_old_tensor(engine):
    with record():
        x = engine.ones(3).requires_grad_()
        x = x + 1
        loss = (x * x).sum()
    answer = why(loss, x)
    assert answer.verdict.startswith("x has no .grad") and "a leaf of shape [3]" in str(answer)


def test_the_advice_about_unused_parameters_fits_the_cause(engine):
    layer, w = engine.nn.Linear(3, 1), engine.ones(1, requires_grad=True)
    with record(layer):
        with engine.no_grad():
            y = layer(engine.ones(2, 3))
        loss = (y * w).sum()
    assert unused(loss, layer).advice == "compute it outside of the no_grad() block"
