"""Saved graphs of strangers: a whole file, or one sentence and exit code 1."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import glassgrad
from glassgrad.explore import from_json
from tests import counts
from tests.explore.hostile_graphs import FORMS, STRANGE, places_in, specimens, verdict

pytestmark = pytest.mark.once
WORDS = """op leaf output base cut opaque gradient view ok freed modified hooked module loop function forward backward
inplace problem nan inf -inf zero unused vanishing exploding dead""".split()
EVIL = '\ud800\x00\x08</script><!--DATA-->\udfff]]>&"\\\n\r\u2028\u202e\ufffe'


def test_changed_graphs_end_in_a_file_or_in_one_sentence():
    """``--count 100000`` for a long run; it names the seed and number of what went wrong."""
    root = Path(__file__).resolve().parents[2]
    path = os.pathsep.join([str(Path(glassgrad.__file__).parents[1]), str(root)])
    count = str(counts.count(250))
    line = [sys.executable, "-m", "tests.explore.hostile_graphs", "--count", count, "--seed", str(int(count) % 97)]
    done = subprocess.run(line, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, cwd=root)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("form", FORMS)
def test_text_that_is_no_text(form, tmp_path):
    if form == "png":
        pytest.importorskip("PIL")
    for document in specimens():
        for item, key in places_in(document):
            if type(item[key]) is str and item[key] not in WORDS:
                item[key] = EVIL + item[key]
        assert verdict(json.dumps(document).encode(), tmp_path, form) is None


def test_every_value_is_looked_at():
    """Each value of a graph in turn becomes each strange one: a graph or a sentence."""
    document = specimens()[0]
    refused = 0
    for item, key in places_in(document):
        before = item[key]
        for strange in STRANGE[::3]:
            item[key] = strange
            try:
                from_json(document)
            except ValueError as error:
                refused += 1
                assert str(error).startswith("from_json(): ") and len(str(error)) < 300
        item[key] = before
    assert refused > 1000


@pytest.mark.parametrize("form", [form for form in FORMS if form != "png"])
def test_an_input_of_any_number(form, tmp_path):
    for document in specimens():
        for edge in document["edges"]:
            edge["dst_input"] = edge.get("dst_input", 0) + 2**52
        assert verdict(json.dumps(document).encode(), tmp_path, form) is None


def document(**changes):
    nodes = [{"index": 0, "kind": "op", "op": "A"}, {"index": 1, "kind": "op", "op": "B"}]
    return {"version": 1, "engine": "x", "nodes": nodes, "edges": [], "outputs": [0], **changes}


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"edges": [{"src": 0, "dst": 2}]}, "the graph names node 2, but has 2 of them"),
        ({"edges": [{"src": 0, "dst": 1}, {"src": 1, "dst": 0}]}, "the edges of the graph go round in a circle"),
        ({"edges": [{"src": 0, "dst": 1, "dst_input": -1}]}, "an output and an input of an edge are counted from 0"),
        (
            {"nodes": [{"index": 0, "kind": "op"}, {"index": 1, "kind": "op", "op": "AccumulateGrad"}],
             "edges": [{"src": 0, "dst": 1}]}, "nothing but a leaf leads to AccumulateGrad",
        ),
        ({"nodes": [{"index": 1, "kind": "op"}]}, "each node must have its own place in the list as its index"),
        ({"scopes": [{"index": 0, "parent": 0, "path": "", "cls": ""}]}, "scope 0 must come after the one it is in"),
        ({"outputs": [10**400]}, "Graph.outputs must be an integer of 64 bits, but is a huge number"),
        ({"level": "\ud800"}, r"Graph.level must be an integer of 64 bits, but is '\\ud800'"),
        ({"nodes": {}}, "Graph.nodes must be a list, but is an object"),
        ({"edges": [{"src": 0}]}, "Edge.dst is missing"),
    ],
)
def test_what_is_wrong_is_said(changes, words):
    from_json(document())
    with pytest.raises(ValueError, match=words):
        from_json(document(**changes))


def test_nests_that_are_too_deep():
    with pytest.raises(ValueError, match="nested too deeply"):
        from_json("[" * 1_000_000)
