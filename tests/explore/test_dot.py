"""make_dot and what it gives: DOT source, SVG, files; for both engines."""

import re
import shutil
import subprocess
from xml.etree import ElementTree

import pytest

from glassgrad.explore import Dot, make_dot
from glassgrad.explore.sheet import Arrow, Box, Picture

SVG = "{http://www.w3.org/2000/svg}"


def five(engine):
    x = engine.tensor(2.0, requires_grad=True)
    z = engine.tensor(3.0, requires_grad=True)
    return x * z + x + z, {"x": x, "z": z}


def parsed(dot):
    """The nodes (label, attributes) and edges of a DOT source, read back."""
    nodes, edges = {}, []
    for line in dot.source.splitlines():
        if match := re.fullmatch(r'\t(n\d+) \[label="((?:[^"\\]|\\.)*)"(?: fillcolor=(\w+))?\]', line):
            nodes[match[1]] = (match[2], match[3])
        elif match := re.fullmatch(r"\t(n\d+) -> (n\d+)(?: \[(.*)\])?", line):
            edges.append((match[1], match[2], match[3]))
    return nodes, edges


def texts(svg):
    return [text.text for text in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def test_the_meaning_and_colours_of_torchviz(engine):
    y, names = five(engine)
    nodes, edges = parsed(make_dot(y, params={**names, "y": y}))
    assert sorted(nodes.values(), key=str) == sorted(
        [
            ("AddBackward0", None),
            ("AddBackward0", None),
            ("MulBackward0", None),
            ("AccumulateGrad", None),
            ("AccumulateGrad", None),
            ("x\\n()", "lightblue"),
            ("z\\n()", "lightblue"),
            ("y\\n()", "darkolivegreen1"),
        ],
        key=str,
    )
    drawn = sorted((nodes[a][0], nodes[b][0], style) for a, b, style in edges)
    assert drawn == sorted(
        [
            ("x\\n()", "AccumulateGrad", None),
            ("z\\n()", "AccumulateGrad", None),
            ("AccumulateGrad", "MulBackward0", None),
            ("AccumulateGrad", "MulBackward0", None),
            ("AccumulateGrad", "AddBackward0", None),
            ("AccumulateGrad", "AddBackward0", None),
            ("MulBackward0", "AddBackward0", None),
            ("AddBackward0", "AddBackward0", None),
            ("AddBackward0", "y\\n()", None),
        ]
    )


def test_saved_tensors_are_orange_and_leaves_stay_blue(engine):
    x = engine.ones(2, 3, requires_grad=True)
    nodes, edges = parsed(make_dot(x * x * engine.ones(3), {"x": x}, show_saved=True))
    colours = sorted(fill for _, fill in nodes.values() if fill)
    assert colours == ["darkolivegreen1", "lightblue", "orange"]
    lines = [(nodes[a][1], nodes[b][0], style) for a, b, style in edges if style]
    assert lines == [
        (None, "other\\n(3)", 'dir=none color="#c27400"'),
        ("lightblue", "MulBackward0", 'dir=none color="#c27400"'),
        ("lightblue", "MulBackward0", 'dir=none color="#c27400"'),
    ]


def test_settings_are_listed_and_cut(engine):
    x = engine.ones(2, 3, requires_grad=True)
    dot = make_dot(x.transpose(0, 1), show_attrs=True)
    label, fill = parsed(dot)[0]["n0"]
    assert label == "TransposeBackward0\\n------------------\\ndim0: 0\\ldim1: 1\\l"
    assert fill is None
    label, _ = parsed(make_dot(x * x, show_attrs=True, max_attr_chars=8))[0]["n0"]
    assert label == "MulBackward0\\n---------------\\nother: [save...\\lself : [save...\\l"
    assert {"self", "other", "[saved tensor]"} <= set(texts(make_dot(x * x, show_attrs=True).pipe("svg")))


def test_views_are_dotted_from_their_base():
    picture = Picture((Box("base", ("b", "(3)")), Box("output", ("(2)",))), (Arrow(0, 1, "view"),))
    dot = Dot(picture)
    assert parsed(dot)[1] == [("n0", "n1", "style=dotted")]
    assert parsed(dot)[0]["n0"] == ("b\\n(3)", "darkolivegreen3")
    assert "stroke-dasharray" in dot.pipe("svg", encoding="utf-8")


def test_hostile_names_stay_text(engine):
    x = engine.ones(1, requires_grad=True)
    name = 'a"b\\n<i>&\x00\ud800\u0416\n]'
    dot = make_dot(x * 2, {name: x})
    assert ('a\\"b\\\\n<i>&\ufffd\ufffd\u0416 ]\\n(1)', "lightblue") in parsed(dot)[0].values()
    assert 'a"b\\n<i>&\ufffd\ufffd\u0416 ]' in texts(dot.pipe("svg"))
    dot.graph_attr["bgcolor"] = '"><script>'
    ElementTree.fromstring(dot.pipe("svg"))
    dot.source.encode()


def test_the_svg_shows_every_box_and_arrow(engine):
    y, names = five(engine)
    root = ElementTree.fromstring(make_dot(y, names)._repr_svg_())
    assert len(list(root.iter(f"{SVG}polygon"))) == 9
    assert sorted(texts(ElementTree.tostring(root))) == sorted(
        ["AddBackward0"] * 2 + ["MulBackward0"] + ["AccumulateGrad"] * 2 + ["x", "z"] + ["()"] * 3
    )
    fills = [rect.get("fill") for rect in root.iter(f"{SVG}rect")]
    assert (fills.count("#add8e6"), fills.count("#d3d3d3"), fills.count("#caff70")) == (2, 5, 1)
    titles = [title.text for title in root.iter(f"{SVG}title")]
    assert "leaf tensor: float32, (), 4 bytes" in titles


def test_render_writes_source_and_picture(engine, tmp_path):
    y, names = five(engine)
    dot = make_dot(y, names)
    assert dot.format == "svg"
    target = dot.render("graph", directory=tmp_path / "new")
    assert target == str(tmp_path / "new" / "graph.svg")
    assert (tmp_path / "new" / "graph").read_text() == dot.source == str(dot)
    assert (tmp_path / "new" / "graph.svg").read_bytes() == dot.pipe()
    target = dot.render(tmp_path / "clean.gv", format="dot", cleanup=True, directory="")
    assert target == str(tmp_path / "clean.gv.dot")
    assert (tmp_path / "clean.gv.dot").read_text() == dot.source
    assert not (tmp_path / "clean.gv").exists()
    assert dot.save("only.gv", tmp_path) == str(tmp_path / "only.gv")
    assert (tmp_path / "only.gv").read_text() == dot.source


def test_render_has_graphviz_s_default_name(engine, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    dot = make_dot(five(engine)[0])
    dot.format = "dot"
    assert dot.render() == "Digraph.gv.dot"
    assert (tmp_path / "Digraph.gv").exists()


def test_view_opens_the_picture(engine, tmp_path, monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    make_dot(five(engine)[0]).render(tmp_path / "seen", view=True)
    assert opened == [(tmp_path / "seen.svg").as_uri()]


def test_an_unknown_format_writes_nothing(engine, tmp_path):
    dot = make_dot(five(engine)[0])
    with pytest.raises(ValueError, match="unknown format: 'mp3' \\(must be one of 'svg', 'dot'"):
        dot.render(tmp_path / "x", format="mp3")
    assert list(tmp_path.iterdir()) == []
    dot.graph_attr["rankdir"] = "UP"
    with pytest.raises(ValueError, match="rankdir must be one of TB, BT, LR, RL, but got 'UP'"):
        dot.pipe()


def test_formats_of_graphviz_name_what_they_need(engine, monkeypatch):
    monkeypatch.setattr("shutil.which", lambda name: None)
    with pytest.raises(ValueError, match="format 'pdf' needs Graphviz's program `dot`, which was not found"):
        make_dot(five(engine)[0]).pipe("pdf")


@pytest.mark.skipif(shutil.which("dot") is None, reason="compares with the program of Graphviz")
def test_graphviz_accepts_the_source(engine):
    y, names = five(engine)
    dot = make_dot(y, {**names, 'odd "name" \\n': y}, show_attrs=True, show_saved=True)
    done = subprocess.run(["dot", "-Tplain"], input=dot.source, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert done.stdout.count("\nnode ") == 8
    assert dot.pipe("pdf").startswith(b"%PDF")


def test_attributes_are_written_and_directions_heeded(engine):
    dot = make_dot(five(engine)[0])
    assert dot.source.splitlines()[1] == '\tgraph [size="12,12"]'
    root = ElementTree.fromstring(dot.pipe())
    tall = float(root.get("height")) > float(root.get("width"))
    dot.graph_attr["rankdir"] = "LR"
    dot.node_attr["shape"] = "ellipse"
    assert 'graph [size="12,12" rankdir="LR"]' in dot.source
    assert 'shape="ellipse"' in dot.source
    root = ElementTree.fromstring(dot.pipe())
    assert tall
    assert float(root.get("height")) < float(root.get("width"))


def test_notebooks_get_picture_and_text(engine):
    dot = make_dot(five(engine)[0])
    assert dot._repr_mimebundle_() == {"image/svg+xml": dot._repr_svg_(), "text/plain": "<Dot: 8 boxes, 9 arrows>"}
    assert set(dot._repr_mimebundle_(include=["text/plain"])) == {"text/plain"}
    assert set(dot._repr_mimebundle_(exclude=["text/plain"])) == {"image/svg+xml"}
    large = Dot(Picture((Box("op", ("a",)),) * 5_001, ()))
    assert set(large._repr_mimebundle_()) == {"text/plain"}


def test_only_tensors_are_drawn(engine):
    with pytest.raises(TypeError, match=r"make_dot\(\): expected a tensor or a tuple of tensors, but got int"):
        make_dot(1)
    with pytest.raises(TypeError, match=r"make_dot\(\): params\['x'\] must be a tensor, but got float"):
        make_dot(engine.ones(1), {"x": 1.0})
