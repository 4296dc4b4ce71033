"""The page without a browser: what is drawn, how it is grouped and ordered, and the file that is written."""

import base64
import gc
import json
import re
import zlib
from dataclasses import replace
from importlib.resources import files
from importlib.util import find_spec

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassgrad.cli import main
from glassgrad.explore.interchange import to_json
from glassgrad.explore.model import Graph, Node, Problem, Scope, Stats, TensorInfo
from glassgrad.explore.page import explore, page_html
from glassgrad.explore.page.contents import contents, number
from glassgrad.explore.page.drawn import backward_order, drawn
from glassgrad.explore.page.write import FORM, SCRIPTS, packed, viewer
from tests.work import calls_of

from . import page_graphs as graphs

EVIL = "</script><script>document.title='taken'</script><img src=x onerror=alert(1)>\"'&<!--DATA-->"


def data_of(text):
    """The data of a page, unfolded as the viewer does it."""
    coded = re.search(r'id="data">([^<]*)<', text).group(1)
    data = json.loads(zlib.decompress(base64.b64decode(coded)))
    assert data.pop("form") == FORM
    for table in ("boxes", "arrows", "groups"):
        count = data[table].pop("entries")
        data[table] = {key: whole(column, count) for key, column in data[table].items()}
    told = data["details"].pop("told")
    columns = {key: whole(column, len(data["boxes"]["kind"])) for key, column in data["details"].items()}
    rows = [{key: told[column[i]] for key, column in columns.items() if column[i]} for i in range(len(columns["rule"]))]
    data["details"] = {str(i): row for i, row in enumerate(rows) if row}
    data["levels"] = [level_of(data["levels"]["forms"][form], *own) for form, *own in data["levels"]["own"]]
    return data


def whole(column, count):
    return column if isinstance(column, list) else [column] * count


def level_of(form, units, inward, outward, ends):
    rows, paths, jumps = form
    own = list(zip(ends[::2], ends[1::2], strict=True))
    lines = [[*pair, path] for pair, path in zip(own, paths, strict=False)]
    return {
        "units": units, "in": inward, "out": outward, "rows": rows, "lines": lines,
        "jumps": [[*pair, *jump] for pair, jump in zip(own[len(lines) :], jumps, strict=True)],
    }  # fmt: skip


def cards(data):
    """The name of each card and the number of the card around it."""
    return list(zip(data["groups"]["name"], data["groups"]["parent"], strict=True))


def within(data, g):
    """The boxes inside a card, however deep."""
    found = []
    for unit in data["levels"][g]["units"]:
        found += [unit] if unit >= 0 else within(data, -unit)
    return found


def test_the_lesson_is_drawn_whole():
    data = contents(graphs.seed())
    assert data["small"] and data["groups"]["count"] == [6]
    texts = data["texts"]
    named = [texts[a] or texts[b] for a, b in zip(data["boxes"]["name"], data["boxes"]["op"], strict=True)]
    assert sorted(named) == ["AddBackward0", "AddBackward0", "MulBackward0", "x", "y", "z"]
    flows = {
        (named[s], named[d], texts[g])
        for s, d, g in zip(data["arrows"]["src"], data["arrows"]["dst"], data["arrows"]["grad"], strict=True)
    }
    assert flows == {
        ("AddBackward0", "y", "1"), ("AddBackward0", "AddBackward0", "1"), ("MulBackward0", "AddBackward0", "1"),
        ("x", "MulBackward0", "3"), ("x", "AddBackward0", "1"), ("z", "MulBackward0", "2"), ("z", "AddBackward0", "1"),
    }  # fmt: skip
    assert [named[i] for i in data["build"]] == ["x", "z", "MulBackward0", "AddBackward0", "AddBackward0", "y"]
    assert [named[i] for i in data["back"]] == ["y", "AddBackward0", "AddBackward0", "MulBackward0", "x", "z"]


def test_a_local_derivative_is_what_left_divided_by_what_arrived():
    graph = graphs.seed()
    bare = replace(graph, edges=tuple(replace(edge, local=None, grad=None) for edge in graph.edges))
    data = contents(bare)
    mul = next(i for i, op in enumerate(data["boxes"]["op"]) if data["texts"][op] == "MulBackward0")
    into = [i for i, dst in enumerate(data["arrows"]["dst"]) if dst == mul]
    assert sorted(data["texts"][data["arrows"]["local"][i]] for i in into) == ["2", "3"]


def test_a_parameter_stands_beside_each_of_its_uses():
    graph = graphs.rnn(30)
    picture = drawn(graph)
    weight = next(node.index for node in graph.nodes if node.name == "cell.weight_hh")
    copies = [i for i, box in enumerate(picture.boxes) if box.node == weight]
    assert len(copies) == 30 and [picture.boxes[i].first for i in copies] == [None] + [copies[0]] * 29
    assert all(sum(arrow.src == i for arrow in picture.arrows) == 1 for i in copies)
    assert [i for i in backward_order(graph, picture) if i in copies] == copies[:1]


def test_repeated_blocks_become_one_card():
    data = contents(graphs.gpt(24))
    names = data["groups"]["name"]
    fold = names.index("Block \u00d724")
    blocks = [-u for u in data["levels"][fold]["units"]]
    assert [names[g] for g in blocks] == [f"h.{i}" for i in range(24)]
    root = next(g for g, cls in enumerate(data["groups"]["cls"]) if cls == "GPT")
    shown = data["levels"][0]["units"] + data["levels"][root]["units"]
    assert data["groups"]["open"][root] and not data["groups"]["open"][fold]
    assert len(shown) <= 12  # what the page opens with
    forms = {json.dumps([len(data["levels"][g][k]) for k in ("units", "in", "out", "rows", "lines")]) for g in blocks}
    assert len(forms) == 1


def test_turns_of_a_loop_become_one_card():
    data = contents(graphs.rnn(50))
    fold = data["groups"]["name"].index("for \u00d750")
    assert data["groups"]["count"][fold] == 50 * 9


def test_operations_between_blocks_belong_to_the_run():
    b = graphs.Builder()
    h = b.op("Exp", b.leaf("w", (2,)))
    for i in range(5):
        b.enter(f"layers.{i}", "Layer")
        f = b.op("Sin", h)
        b.exit()
        h = b.op("Add", h, f)
    data = contents(b.graph(b.op("Sum", h)))
    fold = data["groups"]["name"].index("Layer \u00d75")
    assert [unit < 0 for unit in data["levels"][fold]["units"]] == [True, False] * 4 + [True]


@pytest.mark.parametrize("make", [graphs.seed, graphs.tiny, graphs.with_cut, lambda: graphs.gpt(3),
                                  lambda: graphs.rnn(12), lambda: graphs.long(700)])  # fmt: skip
def test_levels_hold_every_box_once_and_every_arrow(make):
    data = contents(make())
    count = len(data["boxes"]["kind"])
    assert sorted(within(data, 0)) == list(range(count)) == sorted(data["build"])
    seen = []
    for level in data["levels"]:
        items = [item for row in level["rows"] for item in row]
        assert sorted(items) == list(range(len(items)))
        assert len(items) >= len(level["units"]) + len(level["in"]) + len(level["out"])
        row_of = {item: r for r, row in enumerate(level["rows"]) for item in row}
        for _, arrow, path in level["lines"]:
            assert all(row_of[b] == row_of[a] + 1 for a, b in zip(path, path[1:], strict=False))
            assert len(path) <= 9
            seen.append(arrow)
        seen += [arrow for _, arrow, _, _ in level["jumps"]]
    assert sorted(arrow for arrow in seen if arrow >= 0) == list(range(len(data["arrows"]["src"])))


def test_arrows_go_on_inside_cards():
    """From each arrow's end one comes to its source, through ports, as the viewer does."""
    data = contents(graphs.gpt(5))
    parent, levels = data["groups"]["parent"], data["levels"]
    home = {u: g for g, level in enumerate(levels) for u in level["units"] if u >= 0}
    into = [
        {(path[-1], net, arrow): path[0] for net, arrow, path in level["lines"]}
        | {(b, net, arrow): a for net, arrow, a, b in level["jumps"]}
        for level in levels
    ]
    for arrow, (src, dst) in enumerate(zip(data["arrows"]["src"], data["arrows"]["dst"], strict=True)):
        net, number_, g = 3 * src, arrow, home[dst]
        item = levels[g]["units"].index(dst)
        while True:
            item = into[g][item, net, number_]
            number_, units = -1, levels[g]["units"]
            if item >= len(units):
                assert levels[g]["in"][item - len(units)] == net
                g, item = parent[g], levels[parent[g]]["units"].index(-g)
            elif units[item] >= 0:
                assert units[item] == src
                break
            else:
                g = -units[item]
                item = len(levels[g]["units"]) + len(levels[g]["in"]) + levels[g]["out"].index(net)


def test_long_lists_are_divided():
    data = contents(graphs.long(5_000))
    assert all(len(level["units"]) <= 600 for level in data["levels"])
    assert len(data["levels"][0]["units"]) < 30


def test_interleaved_scopes_make_no_circle():
    """Two modules whose operations alternate: the second pair of arrows goes against the order of the cards."""
    scopes = (Scope(0, None, "a", "A"), Scope(1, None, "b", "B"))
    b = graphs.Builder()
    h = b.op("Exp", b.leaf("w", (2,)))
    for _ in range(4):
        h = b.op("Sin", h)
    graph = b.graph(h)
    nodes = tuple(replace(node, scope=node.forward % 2) if node.forward is not None else node for node in graph.nodes)
    data = contents(replace(graph, nodes=nodes, scopes=scopes))
    assert [name for name, _ in cards(data)] == ["", "a", "b"]


def test_memory_that_is_shared_counts_once():
    graph = graphs.tiny()
    shared = TensorInfo((100,), "float32", 400, storage=7)
    nodes = tuple(
        replace(node, saved=tuple(replace(kept, tensor=shared) for kept in node.saved)) for node in graph.nodes
    )
    data = contents(replace(graph, nodes=nodes))
    assert data["groups"]["bytes"][0] == 400


def test_a_cut_is_drawn_with_the_branch_it_lost():
    data = contents(graphs.with_cut())
    cut = data["boxes"]["kind"].index(4)
    ends = [(s, d) for s, d, k in zip(*(data["arrows"][c] for c in ("src", "dst", "kind")), strict=True) if k == 2]
    assert {cut} == {s for s, _ in ends if s == cut} == {d for _, d in ends if d == cut} and len(ends) == 2
    assert data["problems"][0][0] == "cut" and "detach" in data["problems"][0][1]
    assert data["problems"][0][4] == "train.py:5"


def test_numbers_that_json_lacks_become_text():
    assert [number(v) for v in (None, 2, 0.5, 3.0, 1 / 3, float("nan"), float("-inf"), 1e300)] == [
        None, 2, 0.5, 3, 0.333333, "nan", "-inf", 1e300,
    ]  # fmt: skip
    graph = graphs.seed()
    bad = TensorInfo((), "float32", 4, "nan", Stats(1, nan=1))
    nodes = (replace(graph.nodes[0], grad=bad, ms=float("inf")), *graph.nodes[1:])
    data = data_of(page_html(replace(graph, nodes=nodes)))
    assert "nan" in data["boxes"]["norm"] and "inf" in data["boxes"]["ms"]


def test_nothing_in_a_graph_is_markup():
    graph = graphs.tiny()
    nodes = tuple(replace(node, name=EVIL, op=EVIL if node.op == "TanhBackward0" else node.op) for node in graph.nodes)
    scopes = tuple(replace(scope, path=f"{EVIL}.{scope.path}", cls=EVIL) for scope in graph.scopes)
    wild = replace(graph, nodes=nodes, scopes=scopes, engine=EVIL, problems=(Problem("nan", 0, None, EVIL),))
    plain, text = page_html(graph), page_html(wild, EVIL)
    for tag in ("<script", "</script", "<img", "onerror", "<!--"):
        assert text.count(tag) == plain.count(tag) + (tag == "onerror")  # in the title, escaped
    assert data_of(text)["title"] == EVIL
    frame = explore(wild, title=EVIL)._repr_html_()
    assert frame.count("<") == 2 and frame.count(">") == 2  # the frame's own tags


@given(st.text(st.characters(codec=None), max_size=30))
def test_any_name_is_written(name):
    node = Node(0, "leaf", "", name, TensorInfo((), "float32", 4))
    assert "</html>" in page_html(Graph((node,), (), (0,), "glassgrad"), name)


def test_graphs_of_almost_nothing():
    alone = Node(0, "output", "", "y", TensorInfo((2,), "int64", 16))
    for graph in (Graph((), (), (), ""), Graph((alone,), (), (0,), "torch")):
        assert data_of(page_html(graph))["groups"]["count"] == [len(graph.nodes)]


@pytest.mark.parametrize("make", [graphs.seed, graphs.with_cut, lambda: graphs.gpt(24), lambda: graphs.rnn(50),
                                  lambda: graphs.long(700)])  # fmt: skip
def test_a_page_holds_all_of_its_data(make):
    graph = make()
    assert data_of(page_html(graph)) == json.loads(json.dumps(contents(graph)))


def test_what_blocks_have_in_common_is_written_once():
    few, many = (json.loads(packed(contents(graphs.gpt(count)))) for count in (24, 48))
    assert len(few["levels"]["forms"]) == len(many["levels"]["forms"]) < 24
    assert 2 * len(many["details"]["told"]) < many["boxes"]["entries"]


def test_equal_graphs_give_equal_files(tmp_path):
    assert page_html(graphs.gpt(3)) == page_html(graphs.gpt(3))
    place = tmp_path / "deep" / "seed.html"
    page = explore(graphs.seed(), path=place, title="lesson")
    assert place.read_text(encoding="utf-8") == page.html == page_html(graphs.seed(), "lesson")
    assert page.path == str(place)


def test_the_viewer_is_small_and_alone():
    """Nothing is fetched: no address of another place, and no way to reach one is used."""
    frame, style, script = viewer()
    assert sum(len(part.encode()) for part in (frame, style, script)) < 100_000
    for word in ("http:", "https:", "//cdn", "fetch(", "XMLHttpRequest", "WebSocket", "@import", "url(", "innerHTML",
                 "insertAdjacentHTML", "document.write", "eval(", "new Function", "localStorage"):  # fmt: skip
        assert word not in frame + style + script, word
    assert "default-src 'none'" in frame


def test_the_viewer_is_its_files_without_their_margins():
    """Nothing but indentation, spaces between signs and comments is left out of what a page is given."""
    home = files("glassgrad.explore.page")
    told = re.sub(r"\s+", "", viewer()[2])
    for name in SCRIPTS:
        lines = re.sub(r"/\*\*.*?\*/", "", (home / f"{name}.js").read_text(encoding="utf-8"), flags=re.S).splitlines()
        lines = [re.sub(r"(?<=[;{},)]) +// [^\"'`]*$", "", line) for line in lines]
        kept = "".join(line for line in lines if not line.lstrip().startswith("//"))
        assert all(text in viewer()[2] for text in re.findall(r'"[^"\n]*"', kept))  # texts keep their spaces
        for line in lines:  # patterns and templates too: from the first sign of one on, a line is as it was written
            if not line.lstrip().startswith("//"):
                assert all(rest in viewer()[2] for rest in re.findall(r"[`/\\].*", line.rstrip()))
        assert re.sub(r"\s+", "", kept) in told
    assert "\n//" not in viewer()[2] and "\n " not in viewer()[2]


def test_the_collector_goes_on_working():
    for state in (True, False):
        try:
            (gc.enable if state else gc.disable)()
            page_html(graphs.seed())
            assert gc.isenabled() is state
        finally:
            gc.enable()


def test_calls_of_a_function_are_folded_by_its_name():
    b = graphs.Builder()
    h = b.op("Exp", b.leaf("w", (2,)))
    for i in range(5):
        b.enter("model.norm", "", i, "function")
        h = b.op("Sin", h)
        b.exit()
    data = contents(b.graph(b.op("Sum", h)))
    assert "norm() \u00d75" in data["groups"]["name"]


def test_forms_for_notebooks():
    page = explore(graphs.seed())
    forms = page._repr_mimebundle_()
    assert set(forms) == {"text/html", "image/svg+xml", "text/plain"}
    assert forms["image/svg+xml"].startswith("<svg") and "MulBackward0" in forms["image/svg+xml"]
    assert forms["text/html"].startswith("<iframe") and forms["text/plain"] == "<Page: 3 operations, 2 leaves>"
    assert set(page._repr_mimebundle_(include=["text/plain"])) == {"text/plain"}
    assert "image/svg+xml" not in explore(graphs.gpt(24))._repr_mimebundle_(exclude=["text/html"])


def test_a_page_without_a_place_goes_to_a_temporary_one(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    page = explore(graphs.seed())
    assert not list(tmp_path.iterdir())
    assert page.path.startswith(str(tmp_path)) and page.path in repr(page)


def test_tensors_of_either_engine(engine, tmp_path):
    x = engine.tensor(2.0, requires_grad=True)
    z = engine.tensor(3.0, requires_grad=True)
    page = explore(x * z + x + z, params={"x": x, "z": z}, backward=True, path=tmp_path / "page.html")
    data = data_of((tmp_path / "page.html").read_text(encoding="utf-8"))
    assert (float(x.grad), float(z.grad)) == (4.0, 3.0)
    assert page.graph.level == 4 and data["level"] == 4
    flows = sorted(data["texts"][g] for g, s in zip(data["arrows"]["grad"], data["arrows"]["src"], strict=True)
                   if data["boxes"]["kind"][s] == 1)  # fmt: skip
    assert flows == ["1", "1", "2", "3"]
    with pytest.raises(TypeError):
        explore(3)


def test_the_command_line(tmp_path, capsys):
    source = tmp_path / "graph.json"
    source.write_text(to_json(graphs.seed()), encoding="utf-8")
    forms = [("out.html", b"<!doctype html>"), ("out.svg", b"<svg"), ("out.dot", b"digraph {"), ("out.json", b"{")]
    if find_spec("PIL") is not None:
        forms.append(("out.png", b"\x89PNG"))
    for name, mark in forms:
        assert main(["view", str(source), "-o", str(tmp_path / name)]) == 0
        assert (tmp_path / name).read_bytes().startswith(mark)
        assert capsys.readouterr().out.strip() == str(tmp_path / name)
    assert main(["view", str(source)]) == 0
    assert (tmp_path / "graph.html").exists()
    capsys.readouterr()
    assert main(["view", str(source), "-o", str(tmp_path / "out.pdf")]) == 1
    assert "'.pdf'" in capsys.readouterr().err
    (tmp_path / "no.json").write_text("{}")
    assert main(["view", str(tmp_path / "no.json")]) == 1
    assert main(["view", str(tmp_path / "absent.json")]) == 1


def test_a_large_graph_is_as_much_work_for_each_node_as_a_small_one():
    page_html(graphs.gpt(1))  # imports what there is to import
    small, large = graphs.gpt(10), graphs.gpt(150)
    for_each = [calls_of(lambda graph=graph: page_html(graph))[1] / len(graph.nodes) for graph in (small, large)]
    assert for_each[1] < 1.3 * for_each[0]


def test_a_cut_that_was_read_is_joined_to_what_it_cut_off(engine):
    from glassgrad.explore import record

    w = engine.tensor([1.0, 2.0], requires_grad=True)
    with record() as heard:
        a = w.exp()
        loss = (a * a.detach()).sum()
    data = contents(explore(loss, record=heard, params={"w": w}).graph)
    texts, boxes = data["texts"], data["boxes"]
    name = [texts[op] or texts[given_] for op, given_ in zip(boxes["op"], boxes["name"], strict=True)]
    lost = {(name[s], name[d]) for s, d, k in zip(*(data["arrows"][c] for c in ("src", "dst", "kind")), strict=True)
            if k == 2}  # fmt: skip
    assert lost == {("ExpBackward0", "detach"), ("detach", "MulBackward0")}
    assert boxes["kind"].count(4) == 1
