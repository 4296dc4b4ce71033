"""What users fail at, as their failing scripts: the explorer names the cause and its line, for both engines."""

import inspect
import re
import sys

import pytest

from glassgrad import explore
from glassgrad.explore import check, flow, keeps, observe, read, record, trace_nan, unused, why


def line_of(function, text):
    """The line of this file at which ``text`` stands in ``function``."""
    lines, first = inspect.getsourcelines(function)
    return first + next(i for i, line in enumerate(lines) if text in line)


def names_line(answer, function, text):
    """Whether an answer names this file and the line of ``text``."""
    return f"test_pains.py:{line_of(function, text)}" in str(answer)


def mlp(engine):
    engine.manual_seed(0)  # of other weights no ReLU may be alive
    nn = engine.nn
    return nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))


# -- 1: modified by an in-place operation ----------------------------------------------------------------------------


def test_1_modified_in_place(engine):
    def script():
        w = engine.ones(3, requires_grad=True)
        h = w.exp()
        loss = (h * h).sum()
        h.add_(1)  # the culprit
        return loss

    with record():
        loss = script()
    answer = check(loss)
    assert not answer
    assert [p.kind for p in answer.problems] == ["modified"] * 3  # both factors, and exp's own result
    assert names_line(answer, script, "h * h")
    assert names_line(answer, script, "h.add_(1)")
    assert answer.problems[0].loc.line == line_of(script, "h.add_(1)")
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_1_through_a_view(engine):
    def script():
        w = engine.ones(3, requires_grad=True)
        h = w * 2
        loss = (h * h).sum()
        h[0] = 5.0  # the culprit
        return loss

    with record():
        loss = script()
    assert names_line(check(loss), script, "h[0] = 5.0")


def test_1_a_step_of_the_optimizer(engine):
    w = engine.ones(3, requires_grad=True)
    optimizer = engine.optim.SGD([w], lr=0.1)

    def script():
        first = (w * w).sum()
        second = (w.exp() * w).sum()
        first.backward()
        optimizer.step()  # the culprit
        return second

    with record():
        second = script()
    answer = check(second)
    assert not answer and "SGD.step" in str(answer)
    assert names_line(answer, script, "optimizer.step()")


def test_1_without_a_recording_the_state_is_told(engine):
    w = engine.ones(3, requires_grad=True)
    h = w * 2
    loss = (h * h).sum()
    h.add_(1)
    answer = check(loss)
    assert answer.problems[0].kind == "modified" and "record()" in answer.advice


# -- 2: backward a second time ---------------------------------------------------------------------------------------


def test_2_backward_twice(engine):
    def script():
        w = engine.ones(3, requires_grad=True)
        shared = w.exp()
        shared.sum().backward()  # the first
        return (shared * 3).sum()

    with record():
        loss = script()
    answer = check(loss)
    assert not answer and "freed" in {p.kind for p in answer.problems}
    assert names_line(answer, script, "# the first")
    assert names_line(answer, script, "w.exp()")
    with pytest.raises(RuntimeError, match="second time"):
        loss.backward()


# -- 3: element 0 of tensors does not require grad -------------------------------------------------------------------

CUTS = {
    "detach": lambda torch, y: y.detach().sum(),
    "data": lambda torch, y: y.data.sum(),
    "item": lambda torch, y: torch.tensor(y.sum().item()) * 2,
    "argmax": lambda torch, y: y.argmax().float(),
    "comparison": lambda torch, y: (y > 1).float().mean(),
    "integer": lambda torch, y: y.long().sum().float(),
    "copy": lambda torch, y: torch.tensor(y).sum(),
}


@pytest.mark.parametrize("how", ["detach", "data", "item", "argmax", "comparison", "integer", "copy"])
@pytest.mark.filterwarnings("ignore:To copy construct")
def test_3_nothing_requires_grad(engine, how):
    with record() as r:
        w = engine.ones(3, requires_grad=True)
        loss = CUTS[how](engine, w * 2)
    assert not loss.requires_grad
    answer = why(loss, record=r)
    assert [cut.how for cut in answer.cuts] == [how]
    line = next(i for i, text in enumerate(open(__file__), 1) if text.strip().startswith(f'"{how}": lambda'))
    assert answer.cuts[0].loc.line == line
    assert f"test_pains.py:{line}" in str(answer) and answer.advice
    assert not check(loss, record=r)
    with pytest.raises(RuntimeError, match="element 0 of tensors does not require grad"):
        loss.backward()


def test_3_under_no_grad_the_block_is_named(engine):
    def script():
        w = engine.ones(3, requires_grad=True)
        with engine.no_grad():
            y = w * 2  # the cut
        return y.sum()

    with record():
        loss = script()
    answer = why(loss)
    assert [cut.how for cut in answer.cuts] == ["no_grad"]
    assert names_line(answer, script, "# the cut")
    assert f"line {line_of(script, 'no_grad()')}" in str(answer)


def test_3_no_leaf_wants_a_gradient(engine):
    with record():
        loss = (engine.ones(3) * 2).sum()
    answer = why(loss)
    assert answer.kind == "no leaf" and "requires_grad=True" in answer.advice


def test_3_without_a_recording(engine):
    answer = why((engine.ones(3) * 2).sum())
    assert not answer and "record()" in answer.advice


# -- 4: .grad is None, the weights don't move ------------------------------------------------------------------------


def test_4_cut_in_the_middle(engine):
    model = mlp(engine)

    def forward(x):
        h = model[1](model[0](x))
        h = h.detach()  # the cut
        return model[2](h).sum()

    with record(model):
        loss = forward(engine.ones(2, 3))
    loss.backward()
    assert model[0].weight.grad is None
    answer = why(loss, model[0].weight)
    assert answer.verdict.startswith("0.weight gets no gradient")
    assert names_line(answer, forward, "# the cut")
    assert why(loss, "2.weight", model=model)
    assert "norm" in str(why(loss, "2.weight", model=model))


def test_4_frozen(engine):
    model = mlp(engine)
    model[0].weight.requires_grad_(False)
    answer = why(model(engine.ones(2, 3)).sum(), "0.weight", model=model)
    assert answer.kind == "frozen" and "requires_grad_()" in answer.advice


def test_4_through_numpy(engine):
    def script(w):
        y = (w * 2).detach().numpy()  # the cut
        return engine.from_numpy(y).sum() * v

    v = engine.ones((), requires_grad=True)
    w = engine.ones(3, requires_grad=True)
    with record():
        loss = script(w)
    answer = why(loss, w)
    assert answer.cuts and names_line(answer, script, "# the cut")


def test_4_not_run_yet(engine):
    w = engine.ones(3, requires_grad=True)
    answer = why((w * 2).sum(), w)
    assert answer and "backward() was not run yet" in str(answer)


# -- 5: unused parameters --------------------------------------------------------------------------------------------


def test_5_unused_parameters(engine):
    class Net(engine.nn.Module):
        def __init__(self):
            super().__init__()
            self.used = engine.nn.Linear(3, 1)
            self.spare = engine.nn.Linear(3, 1)
            self.frozen = engine.nn.Linear(3, 1).requires_grad_(False)

        def forward(self, x):
            return self.used(x) + self.frozen(x)

    model = Net()
    with record(model):
        loss = model(engine.ones(2, 3)).sum()
    answer = unused(loss, model)
    assert answer.names == ("spare.weight", "spare.bias")
    assert answer.frozen == ("frozen.weight", "frozen.bias")
    assert "spare was never called" in str(answer)
    assert unused(loss, model.used)


# -- 6: NaN gradient -------------------------------------------------------------------------------------------------


def test_6_nan_on_the_way_back(engine):
    x = engine.tensor([0.0, 4.0], requires_grad=True)

    def forward():
        return (x.sqrt() * engine.tensor([0.0, 1.0])).sum()

    answer = trace_nan(forward)
    assert (answer.phase, answer.op) == ("backward", "SqrtBackward0")
    assert names_line(answer, forward, "x.sqrt()")
    assert "root" in answer.advice
    assert x.grad is None


def test_6_infinities_of_a_mask_are_not_to_blame(engine):
    x = engine.ones(3, 3, requires_grad=True)

    def forward(spoiled):
        added = engine.full((3, 3), float("-inf")).triu(1)
        filled = x.masked_fill(engine.ones(3, 3).triu(1) == 1, float("-inf"))
        y = ((x + added).softmax(-1) * filled.softmax(-1)).sum()
        return y + (x * 0).log().sum() if spoiled else y

    assert trace_nan(lambda: forward(False)).op == ""
    assert trace_nan(lambda: forward(True)).op == "log"
    with record(values=True) as recording:
        loss = forward(True)
    graph = read(loss, record=recording)
    (log,) = [node for node in graph.nodes if node.op == "LogBackward0"]
    assert log.outputs[0].stats.inf == 9  # both engines' operations have their numbers
    told = [problem.text for problem in graph.problems]
    assert "LogBackward0 gave infinity in the forward pass" in told
    assert not any(text.startswith("MaskedFill") for text in told)


def test_6_nan_on_the_way_forward(engine):
    x = engine.tensor([-1.0, 4.0], requires_grad=True)

    def forward():
        y = x * 2
        z = y.log()  # here
        return (z * 3).sum()

    answer = trace_nan(forward)
    assert (answer.phase, answer.op) == ("forward", "log")
    assert answer.loc.line == line_of(forward, "# here") and answer.loc.expression == "y.log()"


def test_6_grad_stays_as_it_was(engine):
    x = engine.tensor([1.0, 4.0], requires_grad=True)
    loss = (x * x).sum()
    loss.backward(retain_graph=True)
    kept = x.grad
    assert trace_nan(loss)
    assert x.grad is kept and x.grad.tolist() == [2.0, 8.0]
    loss.backward()


# -- 7: memory grows, the graph is kept ------------------------------------------------------------------------------


def test_7_a_sum_of_losses_keeps_graphs(engine):
    model = mlp(engine)
    with record(model) as r:
        total = 0.0
        for _ in range(3):
            loss = model(engine.ones(2, 3)).square().mean()
            loss.backward()
            total = total + loss
    answer = keeps(total, record=r)
    assert not answer and answer.freed >= 3 and "loss.item()" in answer.advice


def test_7_bytes_by_line(engine):
    x = engine.ones(100, 10, requires_grad=True)

    def forward():
        a = x.exp()  # 4000 bytes
        b = a.tanh()  # 4000 bytes more
        return b.view(10, 100).sum()

    with record():
        y = forward()
    answer = keeps(y)
    assert answer.nbytes == 8000 and answer.leaf_bytes == 0
    assert [(row.nbytes, row.ops) for row in answer.by_line] == [(4000, 1), (4000, 1)]
    assert names_line(answer, forward, "x.exp()") and names_line(answer, forward, "a.tanh()")
    assert answer.good


def test_7_shared_memory_is_counted_once(engine):
    x = engine.ones(1000, requires_grad=True)
    h = x * 2
    y = (h * h).sum() + h.view(10, 100).exp().sum() + (h * h).sum()
    answer = keeps(y)
    assert 8000 <= answer.nbytes < 8020  # and the number 2
    assert answer.graph.totals["saved_bytes"] >= 5 * 4000


# -- 8: one of the differentiated tensors appears to not have been used in the graph ---------------------------------


def test_8_not_used_in_the_graph(engine):
    a, b = engine.ones(3, requires_grad=True), engine.ones(3, requires_grad=True)

    def script():
        c = b.detach() * 2
        return (a * c).sum()

    with record():
        loss = script()
    with pytest.raises(RuntimeError, match="not have been used in the graph"):
        engine.autograd.grad(loss, [a, b], retain_graph=True)
    answer = unused(loss, {"a": a, "b": b})
    assert answer.names == ("b",) and answer.reasons["b"].startswith("cut off by detach at")
    assert names_line(answer, script, "b.detach()")
    assert unused(loss, [a, b]).names == ("[1]",)


# -- 9, 10: .grad of a tensor that is no leaf ------------------------------------------------------------------------


def test_9_grad_of_a_result(engine):
    w = engine.ones(3, requires_grad=True)
    with record():
        h = w * 2
        loss = (h * h).sum()
    answer = why(loss, h)
    assert answer.kind == "not a leaf" and "MulBackward0" in str(answer) and "retain_grad()" in answer.advice
    assert names_line(answer, test_9_grad_of_a_result, "h = w * 2")


def test_10_the_leaf_behind_a_conversion(engine):
    leaf = engine.ones(3, requires_grad=True)
    w = leaf.to(engine.float64)
    answer = why((w * w).sum(), w, model={"leaf": leaf})
    assert answer.kind == "not a leaf"
    assert answer.names == ("leaf of shape [3]",) and ".to()" in str(answer)


# -- 12, 13: too big a picture; which node is which layer ------------------------------------------------------------


def test_13_nodes_know_their_layer_line_and_sentence(engine):
    class Net(engine.nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = engine.nn.Linear(3, 3), engine.nn.Linear(3, 3)

        def forward(self, x):
            x = engine.tanh(self.first(x))
            for _ in range(3):
                x = self.second(x) * 2
            return x

    model = Net()
    with record(model) as r:
        loss = model(engine.ones(2, 3)).sum()
    graph = read(loss, model=model, record=r)

    def path(node):
        return None if node.scope is None else graph.scopes[node.scope].path

    linear = [node for node in graph.nodes if node.op == "AddmmBackward0"]
    assert [path(node) for node in linear] == ["second", "second", "second", "first"]
    assert [graph.scopes[node.scope].call for node in linear] == [2, 1, 0, 0]
    loops = [scope for scope in graph.scopes if scope.kind == "loop"]
    assert [(scope.cls, scope.call) for scope in loops] == [("loop", 0), ("loop", 1), ("loop", 2)]
    ops = [node for node in graph.nodes if node.kind == "op" and node.seq is not None]
    assert all(node.loc is not None and node.sentence for node in ops)
    assert linear[0].loc.expression == "self.second(x)"
    assert linear[0].loc.line == line_of(Net, "self.second(x)")
    assert [node.forward for node in sorted(ops, key=lambda node: node.seq)] == list(range(len(ops)))


@pytest.mark.parametrize("name", ["glassgrad", pytest.param("torch", marks=pytest.mark.torch)])
def test_12_a_chain_of_a_hundred_thousand_operations_is_read_and_freed(name):
    import subprocess

    if name == "torch":
        from tests.torch_reference import torch  # noqa: F401  skips where there is none
    program = (
        "import {engine} as torch\nfrom glassgrad.explore import read\n"
        "x = torch.ones((), requires_grad=True)\ny = x\n"
        "for _ in range(100_000):\n    y = y * 1.5\n"
        "g = read(y)\nprint(g.totals['ops'], g.level)\ndel y\nprint('freed')\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program.format(engine=name)], capture_output=True, text=True, timeout=300, check=False
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    assert ran.stdout.split() == ["100000", "1", "freed"]


# -- 14: dot is missing: test_layout, test_dot -----------------------------------------------------------------------


def test_14_a_drawing_needs_no_program(engine, monkeypatch):
    monkeypatch.setenv("PATH", "")
    y = (engine.ones(3, requires_grad=True) * 2).sum()
    assert "MulBackward0" in explore.make_dot(y).pipe("svg", encoding="utf-8")


# -- 15: vanishing gradients per layer -------------------------------------------------------------------------------


def test_15_vanishing_gradients(engine):
    engine.manual_seed(0)
    nn = engine.nn
    layers = [layer for _ in range(12) for layer in (nn.Linear(8, 8), nn.Sigmoid())]
    model = nn.Sequential(*layers)
    loss = model(engine.ones(4, 8)).sum()
    graph = observe(loss, model=model)
    answer = flow(model)
    assert not answer and "0" in answer.named("vanishing") and "22" not in answer.named("vanishing")
    assert answer.ranked[0].path == "0" and answer.ranked[-1].path == "22"
    assert [layer.path for layer in flow(graph).layers] == [layer.path for layer in answer.layers]
    assert "normalization" in answer.advice
    healthy = mlp(engine)
    healthy(engine.ones(2, 3)).sum().backward()
    assert flow(healthy).layers[0].path == "0"


def test_15_dead_and_missing(engine):
    model = mlp(engine)
    with engine.no_grad():
        model[0].bias.fill_(-100.0)
    graph = observe(model(engine.ones(2, 3)).sum(), model=model)
    assert flow(model).named("dead") == ("0",)
    assert any(p.kind == "dead" and "ReluBackward0" in p.text for p in graph.problems)
    assert flow(mlp(engine)).named("missing") == ("0", "2")


# -- what all answers have in common ---------------------------------------------------------------------------------


def test_answers_are_shown_in_notebooks(engine):
    w = engine.ones(3, requires_grad=True)
    loss = (w * 2).sum()
    model = mlp(engine)
    for answer in (
        why(loss), why(loss, w), check(loss), unused(loss, model), keeps(loss), trace_nan(loss), flow(model),
    ):  # fmt: skip
        page = answer._repr_html_()
        assert page.startswith("<div") and page.count("<div") == page.count("</div>")
        assert "<script" not in page and repr(answer) == str(answer)
        assert not re.search(r"0x[0-9a-f]{6}", repr(answer))


@pytest.mark.parametrize("question", [why, check, keeps])
def test_only_tensors_are_asked_about(question):
    with pytest.raises(TypeError, match="expected a tensor or a tuple of tensors"):
        question("loss")
