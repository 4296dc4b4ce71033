"""Saved graphs made to do harm, by the thousand: good ones changed in any of their values.

``python -m tests.explore.hostile_graphs --count 20000 --seed 1`` views so many and names each that ended neither with a
whole file nor with one sentence and exit code 1.
"""

import contextlib
import io
import json
import os
import random
import sys
import tempfile
import traceback
import xml.etree.ElementTree
from collections import Counter
from pathlib import Path

import glassgrad
from glassgrad.cli import main as command
from glassgrad.explore import observe, record, to_json
from tests import counts
from tests.explore import page_graphs

FORMS = ("html", "svg", "dot", "json", "png", "tex", "mmd", "md")
SECONDS = 10  # of the processor that a graph may take; what takes longer ends the process, with a traceback
STRANGE = [
    None, True, False, 0, 1, -1, 2, 7, 10**6, 2**31, 2**53, 2**63, -(2**63), 10**400, 0.5, -0.0, 1e308, 5e-324,
    float("nan"), float("inf"), "", "x", "nan", "-inf", "op", "leaf", "cut", "view", "AccumulateGrad", "AddBackward0",
    "\ud800", "a\udfffb", "\x00\x01", "\u202e\u2028", "]]>", "</script><script>", "<!--DATA-->", "&amp;", '"\\',
    "x" * 3000, "é" * 50, [], {}, [[]], [None], [0], {"index": 0}, [[["x"] * 3] * 3], {"": None}, [1] * 200,
    "\\end{document}", "```\n%%#&_^~", "${x}{{x}}%s%(x)s{0}", "javascript:alert(1)", "\r\n\n", "9" * 5000, {"x": 1e308},
    {str(key): key for key in range(300)}, json.loads("[" * 500 + "]" * 500), [{"index": 0}, {"index": 0}],
]  # fmt: skip


def specimens():
    """The JSON of good graphs, as values."""
    x, w = glassgrad.ones(3), glassgrad.ones(3, requires_grad=True)
    model = glassgrad.nn.Sequential(glassgrad.nn.Linear(3, 4), glassgrad.nn.ReLU(), glassgrad.nn.Linear(4, 1))
    with record() as recording:
        hidden = model(x * w)
        loss = (hidden * hidden.detach()).sum() + w[:2].sum().log()
    graphs = [page_graphs.seed(), observe(loss, params={"w": w}, model=model, record=recording)]
    return [json.loads(to_json(graph)) for graph in graphs]


def places_in(value):
    """Every container of a document with every key in it."""
    waiting, places = [value], []
    while waiting:
        item = waiting.pop()
        for key in item if isinstance(item, dict) else range(len(item)):
            places.append((item, key))
            if isinstance(item[key], (dict, list)):
                waiting.append(item[key])
    return places


def changed(document, dice):
    """A copy with some values changed, left out, swapped or repeated."""
    document = json.loads(json.dumps(document))
    for _ in range(dice.choice([1, 1, 1, 2, 3, 8])):
        places = places_in(document)
        if not places:
            break
        item, key = dice.choice(places)
        choice = dice.random()
        if choice < 0.4:
            item[key] = json.loads(json.dumps(dice.choice(STRANGE)))
        elif choice < 0.55 and type(item[key]) is int:
            item[key] += dice.choice([-1, 1, 2, 10, -100])
        elif choice < 0.65 and type(item[key]) is str:
            item[key] = dice.choice([one for one in STRANGE if type(one) is str]) + item[key]
        elif choice < 0.75:
            del item[key]
        elif choice < 0.9:
            other, name = dice.choice(places)
            item[key] = json.loads(json.dumps(other[name]))
        elif isinstance(item, list):
            item[key:key] = [item[key]] * dice.choice([1, 2, 40])
        else:
            item[dice.choice(["", "index", "nodes", "x", "\ud800"])] = item[key]
    return document


def texts(seed):
    """Changed JSON texts without end."""
    dice, good = random.Random(seed), specimens()
    yield from (json.dumps(document).encode() for document in good)
    yield from (
        b"",
        b"[",
        b"null",
        b"3",
        b'"x"',
        b"{}",
        b"[]",
        b'{"nodes": 3}',
        b'{"nodes": [], "version": 1}',
        b"\xff\xfe",
    )
    yield from (b"[" * 200_000, b'{"nodes":' * 100_000, b"9" * 5000, b"\xef\xbb\xbf{}", b'{"version":true,"nodes":[]}')
    yield json.dumps({**good[0], "events": []}).replace(" ", "\n").encode("utf-16")
    while True:
        try:
            text = json.dumps(changed(dice.choice(good), dice), ensure_ascii=dice.random() < 0.5)
        except RecursionError:  # of deep ones in deep ones, which json does not write
            continue
        content = text.encode("utf-8", "surrogatepass")
        if dice.random() < 0.05:
            at = dice.randrange(len(content))
            content = content[:at] + bytes([dice.randrange(256)]) + content[at + dice.choice([0, 1, 50]) :]
        if dice.random() < 0.02:
            content = content[: dice.randrange(len(content))]
        yield content


def verdict(content, folder, form="html"):
    """What is wrong with how a JSON text was viewed; None if a whole file or one sentence came of it."""
    source, out = folder / "graph.json", folder / f"out.{form}"
    source.write_bytes(content)
    out.unlink(missing_ok=True)
    words, said = io.StringIO(), io.StringIO()
    try:
        with contextlib.redirect_stderr(words), contextlib.redirect_stdout(said):
            code = command(["view", str(source), "-o", str(out)])
    except BaseException as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__}: {error!s:.100} ({os.path.basename(last.filename)}:{last.lineno})"
    sentence = words.getvalue()
    if len(os.listdir(folder)) > 1 + out.exists():
        return f"files are left: {os.listdir(folder)}"
    if code == 1:
        good = sentence.startswith("glassgrad view: ") and sentence.count("\n") == 1 and not out.exists()
        good = good and len(sentence) < 400
        return None if good else f"the refusal is {sentence!r:.300}"
    if code or sentence or said.getvalue() != f"{out}\n":
        return f"exit code {code}: {sentence!r:.200}"
    drawn = out.read_bytes()
    try:
        text = "" if form == "png" else drawn.decode()
        if form == "svg":
            xml.etree.ElementTree.fromstring(text)
        elif form == "json":
            json.loads(text)
        elif form == "tex" and not (text.isascii() and text.count("\\end{document}") == 1):
            return "the tex is damaged"
        elif form in ("mmd", "md") and text.count("```") != 2 * (form == "md"):
            return f"the {form} is damaged"
    except ValueError as error:
        return f"the {form} is damaged: {error}"
    except xml.etree.ElementTree.ParseError as error:
        return f"the svg is damaged: {error}"
    return None


def main():
    """View changed graphs and name those that end as they should not; the exit code tells whether there are any."""
    parser = counts.options(__doc__, 1000)
    parser.add_argument("--keep", help="a folder for the texts that were viewed wrongly, and for the last one")
    options = parser.parse_args()
    number, wrong, viewed, kinds = 0, 0, 0, Counter()
    with tempfile.TemporaryDirectory() as folder:
        for _, (number, content) in zip(counts.asked(options), enumerate(texts(options.seed), 1), strict=False):
            if options.keep:
                Path(options.keep, "last.json").write_bytes(content)
            form = FORMS[number % len(FORMS)]
            if form == "png" and number % 5:  # pixels take their time
                form = "html"
            with counts.at_most(SECONDS):
                problem = verdict(content, Path(folder), form)
            viewed += Path(folder, f"out.{form}").exists()
            Path(folder, f"out.{form}").unlink(missing_ok=True)
            if problem:
                wrong += 1
                kinds[problem[:80]] += 1
                if kinds[problem[:80]] == 1:
                    print(f"{options.seed}:{number} {form}: {problem}", flush=True)
                    if options.keep:
                        Path(options.keep, f"{options.seed}-{number}.json").write_bytes(content)
    print(f"{number:,} graphs, {viewed:,} drawn, {wrong} wrong")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
