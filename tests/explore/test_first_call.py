"""What a first ``explore(loss, model=model)`` shows, without a recording: the order, the names, the cards."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import glassgrad
from glassgrad.explore import explore, observe, read, record
from glassgrad.explore.page.contents import contents, homes_of
from glassgrad.explore.page.drawn import drawn, grouped
from glassgrad.explore.page.forms import still_svg
from glassgrad.explore.page.plane import MARGIN
from glassgrad.explore.page.scene import Scene
from glassgrad.explore.page.still import Stage
from tests.counts import generated

from .lectures import LECTURES, draw, expression, lstm, resnet, transformer, two_layers

PICTURES = Path(__file__).parents[2] / "docs" / "pictures"


def module_paths(graph):
    """The operations, oldest first, each with the paths of the modules around it, the outermost first."""
    paths = []
    for node in sorted((n for n in graph.nodes if n.kind == "op" and n.seq is not None), key=lambda n: -n.index):
        around, at = [], node.scope
        while at is not None:
            if graph.scopes[at].kind == "module":
                around.append((graph.scopes[at].path, graph.scopes[at].call))
            at = graph.scopes[at].parent
        paths.append((node.index, node.op.partition("Backward")[0], around[::-1]))
    return paths


def cards_in_circles(graph):
    """The cards whose units cannot be put in an order along the arrows."""
    picture = drawn(graph)
    groups = grouped(graph.scopes, homes_of(graph, picture), picture.order, picture.small)
    around = {}  # of each box its cards, the innermost first
    for g, group in enumerate(groups):
        for u in group.units:
            if u >= 0:
                chain, unit, card = [], u, g
                while True:
                    chain.append((card, unit))
                    if card == 0:
                        break
                    unit, card = -card, groups[card].parent
                around[u] = dict(chain)
    after = {}
    for arrow in picture.arrows:
        for card, unit in around[arrow.src].items():
            other = around[arrow.dst].get(card)
            if other is not None and other != unit:
                after.setdefault(card, {}).setdefault(unit, set()).add(other)
    bad = []
    for card, edges in after.items():
        owed = {}
        for targets in edges.values():
            for unit in targets:
                owed[unit] = owed.get(unit, 0) + 1
        ready, done = [u for u in edges if u not in owed], 0
        while ready:
            for unit in edges.get(ready.pop(), ()):
                owed[unit] -= 1
                if not owed[unit]:
                    ready.append(unit)
                    done += 1
        if done < len(owed):
            bad.append(groups[card].name)
    return bad


def still(graph):
    """The still picture of a graph, as a sheet."""
    stage = Stage(Scene(graph))
    return stage.at(stage.scene.resting)


def texts_of(sheet):
    return [text.text for panel in sheet.panels for text in panel.texts]


def boxes_named(data):
    """The boxes' names, or what operations they are, with their kinds."""
    texts, boxes = data["texts"], data["boxes"]
    return [(texts[n], texts[o], k) for n, o, k in zip(boxes["name"], boxes["op"], boxes["kind"], strict=True)]


# -- the order of things ----------------------------------------------------------------------------------------------


def test_the_layers_of_a_net_stand_in_their_order_with_what_lies_between(engine):
    loss, model, names = two_layers(engine)
    graph = read(loss, model=model)
    assert [(op, [path for path, _ in around]) for _, op, around in module_paths(graph) if op != "T"] == [
        ("Addmm", ["", "linear1"]), ("Relu", [""]), ("Addmm", ["", "linear2"]),
    ]  # fmt: skip
    data = contents(graph)
    card = data["groups"]["cls"].index("SimpleNN")
    level = data["levels"][card]
    row_of = {item: r for r, row in enumerate(level["rows"]) for item in row}
    names_of = [data["groups"]["name"][-u] if u < 0 else "Relu" for u in level["units"]]
    assert [n for n, _ in sorted(zip(names_of, map(row_of.get, range(3)), strict=True), key=lambda p: p[1])] == [
        "linear1", "Relu", "linear2",
    ]  # fmt: skip


def test_a_short_net_stands_in_one_column(engine):
    loss, model, names = two_layers(engine)
    sheet = still(read(loss, names, model=model))
    middle = {text.text: text.x for panel in sheet.panels for text in panel.texts}
    assert middle["x"] == middle["Addmm"] == middle["Relu"] == middle["output"]


def test_what_follows_a_model_in_columns_stands_under_its_last(engine):
    loss, model, names = resnet(engine)
    sheet = still(read(loss, names, model=model))
    middle = {panel.texts[0].text: panel.x + panel.width / 2 for panel in sheet.panels if panel.texts}
    assert middle["loss"] == pytest.approx(middle["\u25b8 fc"]) != pytest.approx(middle["images"])


@pytest.mark.parametrize("name", LECTURES)
def test_no_card_forces_a_circle_and_all_goes_down(engine, name):
    loss, model, names = LECTURES[name](engine)
    graph = read(loss, names, model=model)
    assert cards_in_circles(graph) == []
    for level in contents(graph)["levels"]:
        row_of = {item: r for r, row in enumerate(level["rows"]) for item in row}
        assert all(row_of[path[0]] < row_of[path[-1]] for _, _, path in level["lines"])
        assert all(row_of[a] < row_of[b] for _, _, a, b in level["jumps"])


@pytest.mark.parametrize("name", LECTURES)
def test_nothing_collides(engine, name):
    """No box lies on another, all are on the picture, and no two texts share a place."""
    loss, model, names = LECTURES[name](engine)
    sheet = still(read(loss, names, model=model))
    boxes = [p for p in sheet.panels if p.stroke]  # the others are plates under titles
    texts = [p for p in sheet.panels if not p.stroke and p.width]
    stacked = {(p.x, p.y) for p in boxes}
    assert len(stacked) == len(boxes)
    for i, a in enumerate(boxes):
        assert MARGIN <= a.x + 0.01 and a.x + a.width <= sheet.width - MARGIN + 0.01
        for b in [*boxes[i + 1 :], *texts]:
            apart = a.x + a.width <= b.x or b.x + b.width <= a.x or a.y + a.height <= b.y or b.y + b.height <= a.y
            assert apart, (a.texts, b.texts)
    for i, a in enumerate(texts):
        for b in texts[i + 1 :]:
            assert a.x + a.width <= b.x + 6.1 or b.x + b.width <= a.x + 6.1 or abs(a.y - b.y) >= 16
    for card in sheet.grounds:
        assert card.x >= MARGIN - 0.01 and card.x + card.width <= sheet.width - MARGIN + 0.01


@pytest.mark.parametrize("make", [resnet, lstm, transformer])
def test_modules_told_from_parameters_are_those_that_a_recording_heard(engine, make):
    """But for modules without parameters, of which parameters tell nothing."""
    with record() as recording:
        loss, model, names = make(engine)
    told, heard = read(loss, names, model=model), read(loss, names, model=model, record=recording)
    owners = {path for path, module in model.named_modules() if any(True for _ in module.parameters())}
    loss_ops = {"LogSoftmax", "NllLoss", "MseLoss", "Select"}
    for (index, op, mine), (other, _, theirs) in zip(module_paths(told), module_paths(heard), strict=True):
        if op not in loss_ops:
            paths = [path.removeprefix("model").removeprefix(".") for path, _ in theirs]  # as the program calls them
            assert (index, [path for path, _ in mine]) == (other, [path for path in paths if path in owners]), op


def convolutions(torch):
    nn = torch.nn
    features = nn.Sequential(
        nn.Conv2d(1, 4, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(4, 8, 3), nn.ReLU(), nn.MaxPool2d(2)
    )
    classifier = nn.Sequential(nn.Flatten(), nn.Linear(8, 16), nn.ReLU(), nn.Dropout(), nn.Linear(16, 10))
    return nn.Sequential(features, classifier), torch.ones(2, 1, 10, 10)


def autoencoder(torch):
    nn = torch.nn
    encoder = nn.Sequential(nn.Linear(6, 4), nn.ReLU(), nn.Linear(4, 2))
    return nn.Sequential(encoder, nn.Sequential(nn.Linear(2, 4), nn.ReLU(), nn.Linear(4, 6), nn.Sigmoid())), torch.ones(
        3, 6
    )


def encoder(torch):
    layer = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    return torch.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False), torch.ones(2, 3, 8)


def gated(torch):
    nn = torch.nn

    class Reader(nn.Module):
        def __init__(self):
            super().__init__()
            self.rnn, self.dropout, self.head = nn.GRU(4, 8, batch_first=True), nn.Dropout(0.2), nn.Linear(8, 3)

        def forward(self, x):
            return self.head(self.dropout(self.rnn(x)[0][:, -1]))

    return Reader(), torch.ones(2, 5, 4)


def cells(torch):
    nn = torch.nn

    class Cells(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = nn.GRUCell(3, 4), nn.RNNCell(4, 4)

        def forward(self, x):
            h, g = torch.zeros(2, 4), torch.zeros(2, 4)
            for step in x:
                h = self.first(step, h)
                g = self.second(h, g)
            return g

    return Cells(), torch.ones(3, 2, 3)


def unet(torch):
    nn = torch.nn

    class UNet(nn.Module):
        def __init__(self):
            super().__init__()
            self.wide, self.deep = nn.Conv2d(1, 2, 3, padding=1), nn.Conv2d(2, 4, 3, padding=1)
            self.pool, self.up, self.out = nn.MaxPool2d(2), nn.ConvTranspose2d(4, 2, 2, 2), nn.Conv2d(4, 1, 1)

        def forward(self, x):
            wide = self.wide(x).relu()
            return self.out(torch.cat([wide, self.up(self.deep(self.pool(wide)).relu())], 1))

    return UNet(), torch.ones(1, 1, 8, 8)


@pytest.mark.parametrize("make", [convolutions, autoencoder, encoder, gated, cells, unet])
def test_modules_of_the_library_are_told_as_a_recording_hears_them(engine, make):
    model, data = make(engine)
    with record(model) as recording:
        loss = model(data)
    told, heard = read(loss, model=model), read(loss, model=model, record=recording)
    owners = {path for path, module in model.named_modules() if any(True for _ in module.parameters())}
    for (index, op, mine), (other, _, theirs) in zip(module_paths(told), module_paths(heard), strict=True):
        assert (index, [p for p, _ in mine]) == (other, [p for p, _ in theirs if p in owners]), op
    assert cards_in_circles(told) == cards_in_circles(heard) == []


def test_calls_of_one_module_are_counted(engine):
    loss, model, names = lstm(engine)
    graph = read(loss, names, model=model)
    calls = [around[-1] for _, _, around in module_paths(graph) if len(around) > 1]
    assert [c for i, c in enumerate(calls) if not i or calls[i - 1] != c] == [
        *(("cell", call) for call in range(5)), ("head", 0),
    ]  # fmt: skip


@generated(40)
@given(st.lists(st.tuples(st.sampled_from(["a", "b", "c.0", "c.1"]), st.sampled_from(["", "tanh", "skip"])), min_size=1,
                max_size=8))  # fmt: skip
def test_modules_called_in_any_order_make_no_circle(program):
    nn = glassgrad.nn
    model = nn.Module()
    model.a, model.b, model.c = nn.Linear(2, 2), nn.Linear(2, 2), nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    modules = dict(model.named_modules())
    value = before = glassgrad.ones(1, 2, requires_grad=True)
    for path, then in program:
        before, value = value, modules[path](value)
        if then == "tanh":
            value = value.tanh()
        elif then == "skip":
            value = value + before
    graph = read(value.sum(), model=model)
    assert cards_in_circles(graph) == []
    done = [around[-1][0] for _, op, around in module_paths(graph) if op == "Addmm"]
    assert done == [path for path, _ in program]


def test_a_norm_of_the_weights_is_no_call_of_the_module(engine):
    loss, model, names = two_layers(engine)
    loss = loss.sum() + sum(parameter.pow(2).sum() for parameter in model.parameters())
    graph = read(loss, model=model)
    assert sorted({scope.path for scope in graph.scopes}) == ["", "linear1", "linear2"]
    assert all(scope.call == 0 for scope in graph.scopes)


def test_a_tied_weight_belongs_to_the_module_that_uses_it(engine):
    nn = engine.nn
    model = nn.Sequential(nn.Embedding(5, 3), nn.Linear(3, 4), nn.Linear(4, 3), nn.Linear(3, 5, bias=False))
    model[3].weight = model[0].weight
    graph = read(model(engine.tensor([[1, 2]])).sum(), model=model)
    last = [around for _, op, around in module_paths(graph) if op in ("Mm", "Addmm", "UnsafeView")][-1]
    assert last[-1][0] == "3"


# -- names ------------------------------------------------------------------------------------------------------------


def test_tensors_are_called_by_the_callers_variables(engine):
    w1 = engine.tensor(2.0, requires_grad=True)
    w2 = engine.tensor(3.0, requires_grad=True)
    b = engine.tensor(1.0)
    x3 = w1 * w2
    L = x3.sin() * x3 + w2 * b
    graph = explore(L).graph
    assert {node.name for node in graph.nodes if node.kind == "leaf"} == {"w1", "w2"}
    assert [node.name for node in graph.nodes if node.kind == "output"] == ["L"]
    assert [node.op for node in graph.nodes if node.name == "x3"] == ["MulBackward0"]
    assert ("b", "", 6) in boxes_named(contents(graph))
    texts = texts_of(still(graph))
    assert {"w1", "w2", "b", "x3 = 6", "L"} <= set(texts) and not {"leaf", "output"} & set(texts)


@pytest.mark.parametrize("question", [read, observe, explore])
def test_names_and_params_are_one_argument(engine, question):
    def made(**how):
        loss = made_of[0] * 2
        graph = question(loss, **how)
        graph = getattr(graph, "graph", graph)
        return [node.name for node in graph.nodes if node.kind == "leaf"]

    made_of = [engine.tensor(1.0, requires_grad=True)]
    weight = made_of[0]
    assert made(names={"v": weight}) == made(params={"v": weight}) == ["v"]
    assert made(names=locals()) == ["weight"]


def test_recorded_lines_name_results(engine):
    def loss_of(w):
        hidden = w * 3
        return hidden.exp()

    with record() as recording:
        loss = loss_of(engine.tensor(0.5, requires_grad=True))
    graph = read(loss, record=recording)
    assert [node.op for node in graph.nodes if node.name == "hidden"] == ["MulBackward0"]


# -- what is on the picture -------------------------------------------------------------------------------------------


def test_inputs_and_constants_are_drawn(engine):
    loss, model, names = resnet(engine)
    data = contents(read(loss, names, model=model))
    inputs = [name for name, _, kind in boxes_named(data) if kind == 6]
    assert sorted(inputs) == ["images", "target"]
    assert {i for level in data["levels"][:1] for i in level["units"]} >= {
        i for i, kind in enumerate(data["boxes"]["kind"]) if kind == 6
    }  # outside of the model
    x = engine.tensor(2.0, requires_grad=True)
    assert "3" in texts_of(still(read(x * 3)))


def test_data_of_each_step_stands_beside_its_call(engine):
    loss, model, names = lstm(engine)
    data = contents(read(loss, names, model=model))
    words = [i for i, (name, _, _) in enumerate(boxes_named(data)) if name == "words"]
    reader = data["groups"]["cls"].index("Reader")
    assert len(words) == 5 and set(words) <= set(data["levels"][reader]["units"])


def test_accumulategrad_is_on_the_page(engine):
    loss, model, names = expression(engine)
    data = contents(read(loss, names))
    leaves = [(name, op) for name, op, kind in boxes_named(data) if kind == 1]
    assert sorted(leaves) == [("w1", "AccumulateGrad"), ("w2", "AccumulateGrad")]
    assert "AccumulateGrad" in texts_of(still(read(loss, names)))


def test_cards_show_shapes_and_parameters(engine):
    loss, model, names = resnet(engine)
    data = contents(read(loss, names, model=model))
    groups, texts = data["groups"], data["texts"]
    shown = {
        path: (texts[takes], texts[gives], weights)
        for path, takes, gives, weights in zip(*(groups[k] for k in ("path", "takes", "gives", "weights")), strict=True)
    }
    assert shown["layer2.0.downsample"] == ("(2, 8, 8, 8)", "(2, 16, 4, 4)", 160)
    assert shown["conv1"] == ("(2, 3, 8, 8)", "(2, 8, 8, 8)", 216)
    assert groups["weights"][groups["cls"].index("ResNet")] == sum(p.numel() for p in model.parameters())
    assert "11,122 parameters" in still_svg(read(loss, names, model=model))


def test_what_is_drawn_opens_as_far_as_it_can_be_read(engine):
    """The blocks of a small ResNet are open, its layers closed; five steps are five cards, by their name."""
    loss, model, names = resnet(engine)
    groups = contents(read(loss, names, model=model))["groups"]
    opened = {path for path, is_open in zip(groups["path"], groups["open"], strict=True) if is_open and path}
    assert opened == {"layer1", "layer2", *(f"layer{a}.{b}" for a in (1, 2) for b in (0, 1)), "layer2.0.downsample"}
    loss, model, names = lstm(engine)
    titles = [[text.text for text in panel.texts[:2]] for panel in still(read(loss, names, model=model)).panels]
    assert [title for title in titles if title[:1] == ["\u25b8 cell"]] == [
        ["\u25b8 cell", "LSTMCell"], *(["\u25b8 cell", f"LSTMCell (call {n})"] for n in range(2, 6)),
    ]  # fmt: skip


def test_many_calls_of_one_module_keep_its_name(engine):
    layer = engine.nn.Linear(2, 2)
    model = engine.nn.Module()
    model.first, model.step = engine.nn.Linear(2, 2), layer
    value = model.first(engine.ones(1, 2))
    for _ in range(60):
        value = layer(value).tanh()
    names = contents(read(value.sum(), model=model))["groups"]["name"]
    assert "step \u00d760" in names


def test_a_loop_around_the_training_step_is_no_card(engine):
    model = engine.nn.Linear(2, 1)
    with record(model) as recording:
        for _ in range(3):
            loss = model(engine.ones(4, 2)).exp().mean()
            loss.backward()
    graph = read(loss, record=recording)
    assert {scope.kind for scope in graph.scopes} == {"module"}


def test_the_pictures_of_the_documentation_are_these():
    """``python -m tests.explore.lectures`` writes them."""
    for file, text in draw(None, glassgrad).items():
        assert (PICTURES / file).read_text(encoding="utf-8") == text, f"run python -m tests.explore.lectures: {file}"
