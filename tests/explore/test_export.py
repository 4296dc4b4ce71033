"""What the page shows, as files: pictures, films, formulas, flowcharts."""

import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from io import BytesIO

import pytest

import glassgrad
from glassgrad.cli import main
from glassgrad.explore import explore, make_dot, paths, read, record, to_json
from glassgrad.explore.model import Edge, Graph, Node, TensorInfo
from glassgrad.explore.page import film, forms
from glassgrad.explore.page.forms import FORMS, mermaid, save
from glassgrad.explore.page.plane import plane, route
from glassgrad.explore.page.scene import Scene
from glassgrad.explore.page.still import Stage
from glassgrad.explore.page.tex import figure, symbol
from glassgrad.explore.paint import pieces

from . import page_graphs as graphs
from .lectures import LECTURES

SVG = "{http://www.w3.org/2000/svg}"
EVIL = "</text><script>alert(1)</script>\"'&\\end{document}#_%^~$``` ```|]}) \x00\ud800 %%{init}%% \u0436 \u03b1\n end"


def lesson(engine):
    """``y = x * z + x + z`` for 1 and 3, observed going back."""
    x = engine.tensor(1.0, requires_grad=True)
    z = engine.tensor(3.0, requires_grad=True)
    with record(values=True) as recording:
        y = x * z + x + z
    return explore(y, record=recording, params={"x": x, "z": z, "y": y}, backward=True, title="a lesson")


def hostile():
    """A graph whose every name is an attack."""
    scalar = TensorInfo((), "float32", 4, EVIL)
    nodes = (
        Node(0, "op", EVIL, seq=0, outputs=(scalar,), grad=scalar, backward=0),
        Node(1, "op", "AccumulateGrad", grad=scalar, backward=1),
        Node(2, "leaf", "", EVIL, scalar),
        Node(3, "output", "", EVIL, scalar, grad=scalar),
    )
    return Graph(nodes, (Edge(2, 1), Edge(1, 0, grad=scalar, local=EVIL), Edge(0, 3, grad=scalar)), (3,), EVIL, level=4)


ALL = [graphs.seed(), graphs.tiny(), graphs.gpt(4), graphs.rnn(3), graphs.rnn(30), hostile(), Graph((), (), (), "")]
NAMES = ["seed", "tiny", "gpt", "rnn", "rnn 30", "hostile", "empty"]


def texts(svg):
    return [element.text for element in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def test_a_picture_has_the_values_and_the_gradients(engine, tmp_path):
    path = tmp_path / "deep" / "lesson.svg"
    assert lesson(engine).save(path) == str(path)
    written = texts(path.read_text(encoding="utf-8"))
    for line in ("= 1", "grad 3 + 1 = 4", "grad 1 + 1 = 2", "= 7", "grad 1", "3"):
        assert line in written
    assert "<svg" in lesson(engine)._repr_svg_()


def test_a_picture_of_each_step(engine, tmp_path):
    files = lesson(engine).save(tmp_path / "step.svg", step="each")
    assert [file.rpartition("step")[2] for file in files] == [f"-{n:02}.svg" for n in range(13)]
    shown = [texts(open(file, encoding="utf-8").read()) for file in files]
    assert not any(line.startswith("grad") for step in shown[:7] for line in step)
    assert "grad \u2026 + 1" in shown[9] and "1 \u00d7 3 = 3" in shown[10] and "grad 3 + 1 = 4" in shown[12]
    assert "Mul is handed 1: x gets 1 \u00d7 3 = 3, z gets 1 \u00d7 1 = 1." in shown[10]
    one = tmp_path / "one.svg"
    lesson(engine).save(one, step=10)
    assert "1 \u00d7 3 = 3" in texts(one.read_text(encoding="utf-8"))


def test_pixels_lie_where_the_picture_says(tmp_path):
    image_of = pytest.importorskip("PIL.Image").open
    explore(graphs.seed()).save(tmp_path / "seed.png", theme="dark")
    image = image_of(tmp_path / "seed.png").convert("RGB")
    stage = Stage(Scene(graphs.seed()), theme="dark")
    assert image.size == (int(stage.width * 2), int(stage.height * 2))
    leaf = next(spot for spot in stage.plane.spots if stage.scene.kind[spot.unit] == 1)
    inside = image.getpixel((int((leaf.x + stage.left) * 2) + 40, int(leaf.y * 2) + 12))
    assert "#{:02x}{:02x}{:02x}".format(*inside) == stage.colours["leaf"]


def test_a_gif_builds_and_goes_back(engine):
    image = pytest.importorskip("PIL.Image")
    stage = Stage(lesson_scene(engine), caption=True)
    shots = film.shots(stage)
    with image.open(BytesIO(film.gif(stage))) as moving:
        assert moving.n_frames == len(shots) and moving.info["loop"] == 0
        lasting = []
        for frame in range(moving.n_frames):
            moving.seek(frame)
            lasting.append(moving.info["duration"])
        assert lasting == [shot.ms // 10 * 10 for shot in shots]
    assert [shot.step for shot in shots if shot.part is None] == [*range(13), 12]
    travelling = {shot.step for shot in shots if shot.part is not None}
    assert travelling == {7, 8, 9, 10}  # the output, the additions, the product


def lesson_scene(engine):
    return Scene(lesson(engine).graph)


def test_an_mp4_has_every_frame(engine, tmp_path):
    av = pytest.importorskip("av")
    path = tmp_path / "lesson.mp4"
    lesson(engine).save(path)
    with av.open(str(path)) as container:
        track = container.streams.video[0]
        assert (track.codec_context.name, track.codec_context.pix_fmt) == ("h264", "yuv420p")
        frames = [frame.pts * frame.time_base for frame in container.decode(track)]
    shots = film.shots(Stage(lesson_scene(engine), caption=True))
    assert len(frames) == sum(round(shot.ms * film.FRAMES / 1000) for shot in shots)
    assert [round(float(b - a) * film.FRAMES) for a, b in zip(frames, frames[1:], strict=False)] == [1] * (
        len(frames) - 1
    )


@pytest.mark.parametrize(
    ("form", "lacking", "extra"), [("png", "PIL", "png"), ("gif", "PIL", "png"), ("mp4", "av", "video")]
)
def test_a_missing_library_is_named_with_its_command(form, lacking, extra, monkeypatch, tmp_path, capsys):
    monkeypatch.setitem(sys.modules, lacking, None)
    with pytest.raises(ImportError, match=rf"pip install 'glassgrad\[{extra}\]'"):
        explore(graphs.seed()).save(tmp_path / f"x.{form}")
    source = tmp_path / "g.json"
    source.write_text(to_json(graphs.seed()), encoding="utf-8")
    assert main(["view", str(source), "-o", str(tmp_path / f"x.{form}")]) == 1
    assert f"pip install 'glassgrad[{extra}]'" in capsys.readouterr().err
    assert [file.name for file in tmp_path.iterdir()] == ["g.json"]


def test_a_missing_library_is_told_before_a_script_is_run(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("raise SystemExit('it ran')")
    code = "import sys; sys.modules['av'] = None; from glassgrad.cli import main; main(sys.argv[1:])"
    asked = [sys.executable, "-c", code, "run", "--explore", str(tmp_path / "x.mp4"), str(script)]
    done = subprocess.run(asked, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "it ran" not in done.stderr
    assert done.stderr.startswith("glassgrad: --explore: an MP4 film needs PyAV") and "Traceback" not in done.stderr


@pytest.mark.parametrize("graph", ALL[:4], ids=["seed", "tiny", "gpt", "rnn"])
def test_what_moves_shows_at_each_time_what_the_picture_of_the_step_shows(graph):
    stage = Stage(Scene(graph), caption=True)
    root = ElementTree.fromstring(film.animated_svg(stage, "moving"))
    shots = film.shots(stage)
    total = sum(shot.ms for shot in shots)
    drawn = root.find(f"{SVG}g")
    timed = []  # each thing as text, and its (share of the whole, visibility)
    for element in drawn:
        change = element.find(f"{SVG}animate")
        if element.tag == f"{SVG}circle" and element.find(f"{SVG}animateMotion") is not None:
            assert element.get("visibility") == "hidden"
            continue
        if change is None:
            timed.append((canonical(element), [(0.0, "visible")]))
            continue
        assert change.get("dur") == f"{total}ms"
        shares = [float(share) for share in change.get("keyTimes").split(";")]
        states = change.get("values").split(";")
        assert shares[0] == 0 and shares == sorted(shares)
        assert (element.get("visibility") == "hidden") == (states[-1] == "hidden")  # what knows no motion shows the end
        timed += [
            (canonical(inner), list(zip(shares, states, strict=True))) for inner in element if inner is not change
        ]
    at = 0
    for shot in shots:
        if shot.part is None:
            share = (at + shot.ms / 2) / total
            seen = [
                thing for thing, times in timed if [state for begin, state in times if begin <= share][-1] == "visible"
            ]
            wanted = ElementTree.fromstring(
                f'<svg xmlns="{SVG[1:-1]}">{"".join(pieces(stage.at(shot.step, shot.now)))}</svg>'
            )
            assert sorted(seen) == sorted(canonical(element) for element in wanted)
        at += shot.ms


def canonical(element):
    return ElementTree.canonicalize(ElementTree.tostring(element, encoding="unicode"))


def test_a_sum_over_paths_as_formulas(engine, tmp_path):
    w1 = engine.tensor(-2.0, requires_grad=True)
    alpha = engine.tensor(0.5, requires_grad=True)
    L = alpha * w1 + w1 * w1
    result = paths(L, w1, names={"L": L, "w1": w1, "alpha": alpha})
    assert result.tex == "\n".join((
        r"\begin{align*}",
        r"  \frac{\partial L}{\partial w_{1}} &= 1 \cdot \alpha + 1 \cdot w_{1} + 1 \cdot w_{1} \\",
        r"   &= 1 \cdot 0.5 + 1 \cdot (-2) + 1 \cdot (-2) \\",
        r"   &= 0.5 + (-2) + (-2) \\",
        r"   &= -3.5",
        r"\end{align*}",
    ))  # fmt: skip
    path = result.save(tmp_path / "sum.tex")
    whole = open(path, encoding="utf-8").read()
    assert whole.startswith("\\documentclass{article}\n\\usepackage{amsmath}\n") and result.tex in whole
    assert open(result.save(tmp_path / "sum.txt"), encoding="utf-8").read() == f"{result}\n"
    with pytest.raises(ValueError, match=r"unknown ending '.pdf': it must be .tex or .txt"):
        result.save(tmp_path / "sum.pdf")
    lone = engine.tensor(1.0, requires_grad=True)
    assert r"\text{(no path)}" in paths(L, lone, names={"L": L}).tex
    row = engine.ones(3, requires_grad=True)
    assert r"= (3, 3, 3) \odot \mathrm{row} + (3, 3, 3) \odot \mathrm{row}" in paths(row * row * 3, row).tex
    table = engine.ones(2, 3, requires_grad=True)
    assert r"J_{\mathrm{MvBackward0}}" in paths((table @ row).sum(), table).tex


def test_the_formulas_of_a_graph(engine, tmp_path):
    path = tmp_path / "lesson.tex"
    lesson(engine).save(path)
    written = path.read_text(encoding="utf-8")
    for line in (
        r"v_{1} &= x \cdot z = 3 \\", r"v_{2} &= v_{1} + x = 4 \\", r"y &= v_{2} + z = 7",
        r"\frac{\partial y}{\partial x} &= \frac{\partial y}{\partial v_{2}} \frac{\partial v_{2}}{\partial v_{1}} "
        r"\frac{\partial v_{1}}{\partial x} + \frac{\partial y}{\partial v_{2}} \frac{\partial v_{2}}{\partial x} \\",
        r"&= 1 \cdot 1 \cdot 3 + 1 \cdot 1 \\", "&= 3 + 1 \\\\\n   &= 4\n", "&= 1 + 1 \\\\\n   &= 2\n",
    ):  # fmt: skip
        assert line in written


@pytest.mark.parametrize("graph", ALL, ids=NAMES)
def test_formulas_are_ones_that_a_reader_of_latex_takes(graph, tmp_path):
    mathtext = pytest.importorskip("matplotlib.mathtext")
    path = tmp_path / "graph.tex"
    save(graph, path)
    written = path.read_text(encoding="ascii")
    assert written.count(r"\begin") == written.count(r"\end") and written.count(r"\end{document}") == 1
    parser, tried = mathtext.MathTextParser("path"), set()
    for block in re.findall(r"\\begin\{align\*\}\n(.*?)\n\\end\{align\*\}", written, re.DOTALL):
        for row in block.split(r"\\"):
            formula = re.sub(r"\\operatorname\{(.*?)\}\(", r"\\mathrm{\1}(", row.replace("&", " ").strip())
            formula = re.sub(r"\\vdots|\\[#&]|[\"`]", ".", formula)  # which this reader lacks
            if len(tried) < 60 and formula not in tried:
                tried.add(formula)
                parser.parse(f"${formula}$")


@pytest.mark.parametrize(("name", "written"), [
    ("w1", "w_{1}"), ("w_12", "w_{12}"), ("alpha", r"\alpha"), ("\u03b2", r"\beta"), ("x", "x"),
    ("loss", r"\mathrm{loss}"), ("fc1.weight", r"\mathrm{fc1.weight}"), ("a_b", r"\mathrm{a\_b}"),
    ("\u0436", r"\mathrm{U+0436}"), ("caf\u00e9", r"\mathrm{cafe}"), ("x[0]", r"\mathrm{x[0]}"),
])  # fmt: skip
def test_names_in_formulas(name, written):
    assert symbol(name) == written


@pytest.mark.parametrize(("text", "written"), [
    ("3", "3"), ("-2.5", "-2.5"), ("1e-05", r"1 \cdot 10^{-5}"), ("1.5e+20", r"1.5 \cdot 10^{20}"),
    ("nan", r"\mathrm{NaN}"), ("-inf", r"-\infty"), ("[1, -2]", "(1, -2)"),
])  # fmt: skip
def test_numbers_in_formulas(text, written):
    assert figure(text) == written


def test_a_flowchart_has_every_box_and_every_arrow(engine, tmp_path):
    lesson(engine).save(tmp_path / "lesson.mmd")
    chart = (tmp_path / "lesson.mmd").read_text(encoding="utf-8")
    assert chart.startswith("flowchart TB\n")
    for label in (
        '(["x<br/>= 1<br/>grad 3 + 1 = 4"]):::leaf',
        '["Mul<br/>= 3<br/>grad 1"]:::op',
        '-->|"1 \u00d7 3 = 3"|',
    ):
        assert label in chart
    lesson(engine).save(tmp_path / "lesson.md", direction="LR")
    block = (tmp_path / "lesson.md").read_text(encoding="utf-8")
    assert block == f"```mermaid\n{chart.replace('flowchart TB', 'flowchart LR')}```\n"


@pytest.mark.parametrize("graph", ALL, ids=NAMES)
def test_a_flowchart_is_well_formed(graph):
    scene = Scene(graph)
    for step in {0, scene.builds, scene.steps}:
        chart = mermaid(scene, step)
        bare = re.sub(r'"[^"\n]*"', '""', chart)  # labels hold nothing that means something
        known = set(re.findall(r"^ *(?:subgraph )?([nc]\d+) ?[\[(]", bare, re.MULTILINE))
        ends = re.findall(r'^    ([nc]\d+) (?:-->|-\.->)(?:\|""\|)? ([nc]\d+)$', bare, re.MULTILINE)
        assert {end for pair in ends for end in pair} <= known
        assert bare.count("subgraph") == len(re.findall(r"^ *end$", bare, re.MULTILINE))
        pattern = (
            r'flowchart TB| *([nc]\d+)(\[""\]|\(\[""\]\)|\[\[""\]\]):::\w+| *subgraph c\d+ \[""\]| *end|    %% [\w ,:]+'
            r'|    [nc]\d+ (-->|-\.->)(\|""\|)? [nc]\d+|    (classDef|style) [\w:#,\- ]+'
        )
        assert [line for line in bare.splitlines() if not re.fullmatch(pattern, line)] == []
        assert "```" not in chart and "<script" not in chart


@pytest.mark.parametrize("graph", [*ALL, *LECTURES, "deep"], ids=[*NAMES, *LECTURES, "deep"])
@pytest.mark.parametrize("sideways", [False, True], ids=["down", "right"])
def test_things_stand_apart_and_inside_their_cards(graph, sideways):
    """Boxes, cards and lines, also those of lanes."""
    if graph == "deep":
        nn = glassgrad.nn
        model = nn.Sequential(*(nn.Sequential(nn.Linear(3, 3), nn.Tanh()) for _ in range(10)), nn.Linear(3, 1))
        graph = read(model(glassgrad.ones(2, 3)).sum(), model=model)
    elif isinstance(graph, str):
        loss, model, names = LECTURES[graph](glassgrad)
        graph = read(loss, names, model=model)
    scene = Scene(graph)
    laid = plane(scene, sideways)
    spots = {spot.unit: spot for spot in laid.spots}
    assert set(spots) >= {scene.shown_as(box) for box in range(len(scene.kind))}
    for unit, spot in spots.items():
        assert 0 <= spot.x and spot.x + spot.width <= laid.width and 0 <= spot.y and spot.y + spot.height <= laid.height
        around = spots.get(-scene.parent(unit)) if scene.parent(unit) > 0 else None
        if around is not None:
            assert around.x <= spot.x and spot.x + spot.width <= around.x + around.width
            assert around.y <= spot.y and spot.y + spot.height <= around.y + around.height
    for a in laid.spots:
        for b in laid.spots:
            if a is not b and scene.parent(a.unit) == scene.parent(b.unit):
                assert a.x + a.width <= b.x or b.x + b.width <= a.x or a.y + a.height <= b.y or b.y + b.height <= a.y
    cards = {-unit: (s.x, s.y, s.x + s.width, s.y + s.height) for unit, s in spots.items() if s.open}
    for wire in laid.wires:
        left, top, right, bottom = cards.get(wire.card, (0, 0, laid.width, laid.height))
        assert all(left <= x + 0.01 and x <= right + 0.01 and top <= y + 0.01 and y <= bottom + 0.01
                   for x, y in wire.points), wire  # fmt: skip
    long = {arrow for level in scene.data["levels"] for _, arrow, *_ in level["jumps"]}
    for arrow, (src, dst) in enumerate(zip(scene.arrows["src"], scene.arrows["dst"], strict=True)):
        if scene.shown_as(src) == src and scene.shown_as(dst) == dst and not long:
            wires = route(scene, laid, arrow)
            (x, y), (u, v) = wires[0].points[0], wires[-1].points[-1]
            first, last = spots[src], spots[dst]
            assert first.x - 1 <= x <= first.x + first.width + 1 and first.y - 1 <= y <= first.y + first.height + 1
            assert last.x - 1 <= u <= last.x + last.width + 1 and last.y - 1 <= v <= last.y + last.height + 1


@pytest.mark.parametrize("graph", ALL, ids=NAMES)
def test_every_text_form_of_every_graph(graph, tmp_path):
    for step, name in (
        (None, "a.svg"),
        ("play", "b.svg"),
        (0, "c.svg"),
        (None, "d.mmd"),
        (None, "e.md"),
        (None, "f.tex"),
    ):
        path = save(graph, tmp_path / name, EVIL, step=step)
        content = open(path, encoding="utf-8").read()
        if name.endswith("svg"):
            assert not {element.tag.removeprefix(SVG) for element in ElementTree.fromstring(content).iter()} & {
                "script",
                "a",
            }


def test_an_unknown_ending_lists_the_known(tmp_path, capsys):
    page = explore(graphs.seed())
    for ending in ("", ".jpeg2000", ".htm"):
        with pytest.raises(ValueError, match="unknown ending") as error:
            save(page.graph, tmp_path / f"x{ending}")
        assert all(f".{form}" in str(error.value) for form in FORMS)
    source = tmp_path / "g.json"
    source.write_text(to_json(page.graph), encoding="utf-8")
    assert main(["view", str(source), "-o", str(tmp_path / "x.xyz")]) == 1
    assert ".mp4, .tex, .mmd, .md, .dot or .json" in capsys.readouterr().err
    assert [file.name for file in tmp_path.iterdir()] == ["g.json"]


def test_a_page_without_an_ending_is_a_page(tmp_path):
    assert explore(graphs.seed(), path=tmp_path / "page").path == str(tmp_path / "page")
    assert (tmp_path / "page").read_bytes().startswith(b"<!doctype html>")


@pytest.mark.parametrize(("name", "settings", "words"), [
    ("x.html", {"step": 3}, "are of pictures"), ("x.json", {"theme": "dark"}, "are of pictures"),
    ("x.gif", {"step": 3}, "is the whole timeline"), ("x.png", {"step": "play"}, "does not move"),
    ("x.svg", {"step": "all"}, "step must be"), ("x.svg", {"step": 13}, "there is no step 13: they go from 0 to 12"),
    ("x.svg", {"step": -1}, "there is no step -1"), ("x.svg", {"direction": "up"}, "it must be TB or LR"),
    ("x.mmd", {"direction": "up"}, "it must be TB or LR"), ("x.svg", {"theme": "red"}, "it must be light or dark"),
    ("x.mmd", {"theme": "red"}, "it must be light or dark"), ("x.mmd", {"step": 13}, "there is no step 13"),
])  # fmt: skip
def test_what_a_form_cannot_do_is_said_and_writes_nothing(name, settings, words, tmp_path):
    with pytest.raises(ValueError, match=words):
        explore(graphs.seed()).save(tmp_path / name, **settings)
    assert not list(tmp_path.iterdir())


def test_the_command_has_the_same_settings(tmp_path, capsys):
    source = tmp_path / "g.json"
    source.write_text(to_json(graphs.seed()), encoding="utf-8")
    out = tmp_path / "out.svg"
    asked = ["view", str(source), "-o", str(out), "--direction", "LR", "--theme", "dark", "--step"]
    assert main([*asked, "7"]) == 0
    one = tmp_path / "one.svg"
    save(graphs.seed(), one, "g", step=7, direction="LR", theme="dark")
    assert out.read_bytes() == one.read_bytes()
    capsys.readouterr()
    assert main([*asked, "each"]) == 0
    assert capsys.readouterr().out.split() == [str(tmp_path / f"out-{n:02}.svg") for n in range(13)]
    with pytest.raises(SystemExit):
        main([*asked, "most"])


def test_an_interrupt_leaves_what_was_there(tmp_path, monkeypatch):
    old = tmp_path / "x.svg"
    old.write_text("old")

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(Stage, "at", interrupted)
    monkeypatch.setattr(forms, "mermaid", interrupted)
    for name, step in (("x.svg", None), ("x.svg", "each"), ("x.svg", "play"), ("x.mmd", None)):
        with pytest.raises(KeyboardInterrupt):
            save(graphs.seed(), tmp_path / name, step=step)
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("x.svg", "old")]


def test_the_drawing_of_make_dot_stays_torchviz_like(engine):
    x = engine.ones(2, requires_grad=True)
    assert "AccumulateGrad" in make_dot(x * x, {"x": x}).pipe("svg", encoding="utf-8")
