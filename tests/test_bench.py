"""`python -m benchmarks --short`: tables, JSON, picture, verdicts; and that a rival that is wrong is found out."""

import json
import multiprocessing
import os
import pickle
import subprocess
import sys
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import pytest

import glassgrad
from benchmarks import engines, seats, timing
from benchmarks.command import _columns, _companies
from benchmarks.engines import COLUMNS, Absent, Engine
from benchmarks.fresh import FRESH, installed_size
from benchmarks.growth import growth
from benchmarks.history import main as history
from benchmarks.history import moved
from benchmarks.load import busy
from benchmarks.plot import plot
from benchmarks.rivals import make
from benchmarks.rows import Goal, Row, rows, scaling
from benchmarks.seats import Failed, Here, Process
from benchmarks.table import data, readable, tables, verdicts
from benchmarks.timing import Different, Result
from benchmarks.workloads import WORKLOADS
from tests.test_cli import ROOT, python

OURS = Engine("glassgrad", "torch", glassgrad)


def command(*arguments):
    """The benchmark, finished."""
    return python("-m", "benchmarks", *arguments, cwd=ROOT)


def measure(row, there):
    """Figures of engines in this process."""
    return timing.measure(row, [Here(engine) for engine in there])


SMALL = {
    "chain": {"length": 20, "shape": (8,), "factor": 1.01},
    "mlp": {"batch": 4},
    "gpt": {"layers": 1, "heads": 2, "width": 16, "context": 8, "batch": 2},
    "lenet": {"batch": 2},
    "lstm": {"width": 4, "steps": 3, "batch": 2},
    "conv": {"batch": 1},
    "reduction": {"side": 20, "dims": (1,)},
    "elementwise": {"size": 100},
    "per_sample": {"kind": "MLP", "batch": 3},
    "per_sample_walk": {"kind": "MLP", "batch": 3},
    "hessian": {"size": 4},
    "jvp": {"batch": 3},
    **dict.fromkeys(("dqn", "ppo", "sac"), {"batch": 4}),
    "table": {"count": 12, "batch": 4},
    "physics": {"points": 4},
    "generation": {"tokens": 2},
    "graph_network": {"nodes": 5, "edges": 12},
    **dict.fromkeys(("softmax", "layer_norm", "cross_entropy"), {"count": 3, "length": 5}),
}


def row(workload, **more):
    """A row that takes no time."""
    return Row(workload, "group", workload, SMALL.get(workload, {}), **{"rounds": 2, "seconds": 0, "warm": 0, **more})


def found(**figures):
    """A result with figures as given, one goal against torch and one against the fastest of two."""
    made = Row(
        "row", "group", "product", eager=(Goal(3.0),), compiled=(Goal(2.0, ("torch", "torch.compile")),), rounds=3
    )
    return Result(made, {name.replace("_", "."): values for name, values in figures.items()})


# -- the command -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """The finished short mode on a few rows, and its JSON."""
    file = tmp_path_factory.mktemp("bench") / "figures.json"
    files = ("--json", file, "--page", file.with_suffix(".md"))
    done = command("--short", "--only", "x*z", "--rivals", "torch,mygrad", "--threads", "1", *files)
    assert done.returncode == 0, done.stderr
    return done, json.loads(file.read_text(encoding="utf-8")), file.with_suffix(".md")


def test_its_page_has_the_command_what_was_printed_and_the_picture(shown):
    page = shown[2].read_text(encoding="utf-8")
    assert page.startswith("# Measured by `python -m benchmarks --short --only x*z ")
    assert shown[0].stdout.strip() in page
    has_picture = find_spec("torch") is not None and find_spec("matplotlib") is not None
    assert shown[2].with_suffix(".png").exists() == ("](figures.png)" in page) == has_picture


def test_a_folder_that_is_not_there_is_told_before_anything_is_measured(tmp_path):
    done = command("--json", tmp_path / "none" / "figures.json")
    assert done.returncode == 2
    assert "--json: there is no folder " in done.stderr


def test_it_prints_environment_and_tables(shown):
    text = shown[0].stdout
    for name in ("python: ", "processor: ", "threads: 1 ", "numpy: ", "BLAS: ", "OPENBLAS_CORETYPE: ", "numba: "):
        assert f"\n- {name}" in text
    assert "## Many small operations\n\n| workload | torch | glassgrad | ratio | goal |" in text
    assert "\n| `x*z`, 0-d, both require grad, forward | " in text
    assert "goals met; " in text and "(short mode: its figures are not for comparing)" in text


def test_its_json_has_every_figure(shown):
    product, expression = shown[1]["rows"]
    assert shown[1]["short"] and shown[1]["environment"]["glassgrad"] == glassgrad.__version__
    ours = product["columns"]["glassgrad"]
    assert len(ours["figures"]) == 3 and min(ours["figures"]) <= ours["median"] <= max(ours["figures"])
    assert 0 < ours["median"] < 1e-3
    assert {goal["goal"] for goal in expression["goals"]} == {3.0, 20.0}


@pytest.mark.fast
def test_the_plain_path_is_beside_the_printed_code(shown):
    product = shown[1]["rows"][0]
    plain, ours = (product["columns"][name]["median"] for name in ("glassgrad.core", "glassgrad"))
    (goal,) = (goal for goal in product["goals"] if goal["column"] == "glassgrad.core")
    assert (goal["goal"], goal["against"]) == (1 / 8, "glassgrad")
    assert goal["ratio"] < 0.7 and plain > 1.5 * ours  # it is not the printed code that was measured
    assert "| glassgrad.core | ratio | goal |" in shown[0].stdout
    assert "| at most 8x slower than glassgrad: " in shown[0].stdout


def test_absent_rivals_are_named(shown, monkeypatch):
    for name in ("torch", "mygrad"):
        assert (f"- {name}: not installed" in shown[0].stdout) == (find_spec(name) is None)
    assert "- torch.compile: left out of the short mode" in shown[0].stdout
    monkeypatch.setitem(sys.modules, "jax", None)
    assert engines.engines(["glassgrad", "jax", "jax.jit"])[1] == {"jax": "not installed", "jax.jit": "not installed"}


@pytest.mark.torch
def test_with_torch_every_goal_has_a_verdict(shown):
    from tests.torch_reference import torch

    assert shown[1]["environment"]["torch"] == torch.__version__
    for one in shown[1]["rows"]:
        ratio = one["ratios"]["glassgrad"]["torch"]
        assert 0 < ratio["min"] <= ratio["median"] <= ratio["max"]
        (goal,) = (goal for goal in one["goals"] if goal["column"] == "glassgrad")
        assert goal["verdict"] == "met" or goal["verdict"] == "slower" or goal["verdict"].startswith("missed by ")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--only", "nothing at all"], "no row contains 'nothing at all'"),
        (["--rivals", "abacus"], "'abacus' is no rival"),
        (["--threads", "0"], "at least 1"),
    ],
)
def test_wrong_usage_exits_with_2(arguments, words):
    done = command(*arguments)
    assert done.returncode == 2
    assert words in done.stderr


@pytest.mark.parametrize("asked", ["scaling", "--scaling"])
def test_scaling_prints_the_cost_of_a_node(asked):
    done = command(asked, "--short", "--only", "chain of 100 ", "--rivals", "mygrad", "--threads", "1")
    assert done.returncode == 0, done.stderr
    assert "## Scaling: a chain of products, 0-d" in done.stdout
    assert "| chain of 100 products, 0-d, for each operation |" in done.stdout


@pytest.mark.torch
def test_single_operations_are_compared_and_timed():
    from tests.torch_reference import torch

    assert torch.__version__.startswith("2.")
    call = [sys.executable, "-m", "benchmarks.operations", "--sizes", "10", "--budget", "0.001", "--only"]
    done = subprocess.run([*call, "exp,softmax *"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert {line[:24].strip() for line in lines[2:-1]} == {"exp", "softmax rows", "softmax columns"}
    assert all(float(line[24:].split("(")[0]) > 0 for line in lines[2:-1])
    assert " of 3 figures at least as fast as PyTorch" in lines[-1]
    done = subprocess.run([*call, "abacus"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 2 and "no operation is called 'abacus'" in done.stderr


def test_rivals_stand_for_what_they_compile():
    assert _columns(["torch", "jax"], False)[0] == [*COLUMNS[:7]]
    assert _columns(["jax.jit"], False)[0] == [*COLUMNS[:3], "jax.jit"]
    assert "torch.compile" not in _columns(None, True)[0]
    assert "torch.compile" in _columns(["torch.compile"], True)[0]


def test_families_share_a_process_and_the_plain_path_has_its_own():
    assert _companies(["glassgrad", "glassgrad.compile", "glassgrad.core", "jax", "jax.jit"]) == [
        ["glassgrad", "glassgrad.compile"], ["glassgrad.core"], ["jax", "jax.jit"],
    ]  # fmt: skip


# -- the same results --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("workload", WORKLOADS)
def test_every_workload_repeats_itself(workload):
    result = measure(row(workload, checks=2), [OURS, Engine("again", "torch", glassgrad)])
    assert result.figures.keys() == {"glassgrad", "again"} and not result.absent


@pytest.mark.torch
@pytest.mark.parametrize("workload", WORKLOADS)
def test_every_workload_is_the_same_in_torch(workload):
    from tests.torch_reference import torch

    measure(row(workload, checks=3), [OURS, Engine("torch", "torch", torch)])


@pytest.mark.parametrize("name", ["jax", "autograd", "mygrad", "micrograd"])
def test_every_rival_computes_the_same(name):
    there, absent = engines.engines([name])
    if absent:
        pytest.skip(f"{name}: {absent[name]}")
    for workload in WORKLOADS.keys() - {"gpt", "lenet", "conv"}:  # JAX compiles each for seconds; a run compares them
        made = row(workload, checks=2, rounds=1)
        if workload == "chain":
            made = replace(made, sizes={**made.sizes, "shape": ()})  # micrograd has scalars only
        result = measure(made, [OURS, there[0]])
        assert result.absent.get(name, engines.UNWRITTEN) == engines.UNWRITTEN


@pytest.mark.parametrize("wrong", [lambda x: glassgrad.sin(x) * 1.001, lambda x: glassgrad.sin(x) + float("nan")])
def test_a_rival_that_computes_something_else_stops_the_run(wrong):
    rival = SimpleNamespace(tensor=glassgrad.tensor, cos=glassgrad.cos, sin=wrong)
    if wrong(glassgrad.ones(())).isnan():  # NaN in the value only, which the gradient does not see
        rival.sin = lambda x: x * float("nan")
    with pytest.raises(Different, match=r"expression: rival and glassgrad computed different things"):
        measure(row("expression"), [OURS, Engine("rival", "torch", rival)])


def test_a_rival_s_update_is_compared_too():
    """Losses of several steps: the first alone would not see the optimizer."""

    class Slower(glassgrad.optim.SGD):
        def __init__(self, parameters, lr):
            super().__init__(parameters, lr=lr / 2)

    names = {"nn": glassgrad.nn, "randn": glassgrad.randn, "manual_seed": glassgrad.manual_seed}
    rival = Engine("rival", "torch", SimpleNamespace(optim=SimpleNamespace(SGD=Slower), **names))
    (tinynet,) = (one for one in rows() if one.workload == "tinynet")
    with pytest.raises(Different):
        measure(tinynet, [OURS, rival])


def test_a_rival_that_fails_is_named_and_left_out():
    result = measure(row("product"), [OURS, Engine("rival", "torch", SimpleNamespace())])
    assert result.absent == {"rival": "AttributeError: 'types.SimpleNamespace' object has no attribute 'tensor'"}
    assert list(result.figures) == ["glassgrad"]


def test_what_is_not_written_for_an_engine_is_absent():
    with pytest.raises(Absent, match=engines.UNWRITTEN):
        make(Engine("micrograd", "micrograd", None), "gpt")


# -- rounds, ratios, verdicts ------------------------------------------------------------------------------------------


def test_engines_run_in_turns(monkeypatch):
    calls = []
    monkeypatch.setattr(seats, "make", lambda engine, *_, **__: lambda: calls.append(engine.name) or 1.0)
    measure(row("product", rounds=3), [Engine(name, "torch", None) for name in ("glassgrad", "torch")])
    assert calls[2:] == ["glassgrad", "torch"] * 3


def test_an_engine_has_a_process_of_its_own():
    process = Process(["glassgrad"], 1)
    (seat,) = process.seats
    small = row("chain", seconds=0.01, rounds=3)
    result = timing.measure(small, [Here(OURS), seat])
    assert len(result.figures["glassgrad"]) == 6  # of both, which have the same name
    with pytest.raises(Failed, match="TypeError: .*nonsense"):
        seat.prepare(replace(small, sizes={"nonsense": 1}))
    with pytest.raises(Absent, match=engines.UNWRITTEN):
        seat.prepare(replace(small, workload="nonsense"))
    assert len(seat.prepare(small).outputs) > 0  # it lives on
    process.close()


def test_the_plain_path_runs_without_the_printed_code(monkeypatch):
    monkeypatch.delenv("GLASSGRAD_FAST", raising=False)
    if "glassgrad.fast" in sys.modules:  # otherwise the tests run on the plain path themselves
        assert engines.engines(["glassgrad.core"]) == ([], {"glassgrad.core": "needs a process with GLASSGRAD_FAST=0"})
    process = Process(["glassgrad.core"], 1)
    assert "GLASSGRAD_FAST" not in os.environ
    (seat,) = process.seats
    result = timing.measure(row("chain", without={}), [Here(OURS), seat])
    assert result.figures.keys() == {"glassgrad", "glassgrad.core"}
    process.close()


def test_what_engines_print_is_no_answer():
    code = """if True:
        from benchmarks import seats
        seats.engines = lambda columns: print("loud", flush=True) or ([], {})
        seats._serve([], 1)"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, input=b"")
    assert done.stderr.strip() == b"loud" and pickle.loads(done.stdout) == ([], {})


def test_a_process_that_dies_says_so():
    process = Process(["glassgrad"], 1)
    process._process.kill()
    with pytest.raises(Failed, match="ended with code -9"):
        process.seats[0].seconds(1)


def test_ratios_are_taken_round_by_round():
    """A machine that slows down for a while changes both sides, and not their ratio."""
    result = found(glassgrad=[1.0, 10.0, 1.0], torch=[4.0, 40.0, 5.0])
    assert result.ratios("torch", "glassgrad") == [4.0, 4.0, 5.0]
    assert result.ratio("torch", "glassgrad") == 4.0


@pytest.mark.parametrize(
    ("figure", "verdict"), [(3.0, "met"), (2.7, "missed by 10%"), (0.9, "slower"), (1.0, "missed by 67%")]
)
def test_verdicts(figure, verdict):
    eager, compiled = verdicts(found(glassgrad=[1.0], torch=[figure]))
    assert (eager["verdict"], compiled["verdict"], compiled["ratio"]) == (verdict, "-", None)


@pytest.mark.parametrize(
    ("figure", "verdict"), [(6.0, "met (6.00x)"), (8.0, "met (8.00x)"), (10.0, "missed by 20% (10x)")]
)
def test_a_goal_may_be_to_be_no_slower(figure, verdict):
    plain = Row("row", "group", "product", plain=(Goal(1 / 8, ("glassgrad",)),))
    result = Result(plain, {"glassgrad": [1.0], "glassgrad.core": [figure]})
    text = tables("group", [result])
    assert "| workload | torch | glassgrad | ratio | goal | glassgrad.core | ratio | goal |" in text
    assert f"| at most 8x slower than glassgrad: {verdict} |" in text


def test_a_goal_against_several_is_against_the_fastest():
    result = found(glassgrad=[1.0], glassgrad_compile=[0.5], torch=[4.0], torch_compile=[0.6])
    goal = verdicts(result)[1]
    assert (goal["against"], goal["verdict"]) == ("torch.compile", "missed by 40%")
    assert goal["ratio"] == pytest.approx(1.2)


def test_a_table_shows_spread_verdicts_and_reasons():
    result = found(glassgrad=[1e-6, 1e-6, 1e-6], torch=[4e-6, 2e-6, 3e-6])
    result.absent = {"glassgrad.compile": "not captured", "autograd": engines.UNWRITTEN}
    text = tables("group", [result])
    assert "| row | 3 us | 1 us | 3.00x (2.00..4.00) | 3x: met | - | - | 2x torch or torch.compile: - |" in text
    assert text.endswith("\n- row: glassgrad.compile: not captured\n")
    assert data([result])[0]["columns"]["torch"]["figures"] == [4e-6, 2e-6, 3e-6]


def test_readable():
    assert [readable(value, "s") for value in (2.5, 0.0125, 3.7e-7, 0.9999)] == ["2.5 s", "12.5 ms", "370 ns", "1 s"]
    assert readable(1234.5, "MB") == "1,234 MB"


# -- the rows ----------------------------------------------------------------------------------------------------------


def test_every_row_has_its_maker_and_its_sizes():
    for one in [*rows(), *rows(short=True), *scaling(), *scaling(short=True)]:
        assert one.workload in WORKLOADS or one.workload in FRESH
        assert "{" not in one.title
        assert set(one.without) <= set(COLUMNS)
    assert all(one.eager for one in rows())
    plain = [one.workload for one in rows() if "glassgrad.core" not in one.without]
    assert plain == [one.workload for one in rows(short=True) if "glassgrad.core" not in one.without]
    assert plain == ["product", "expression", "chain", "chain", "tinynet", "mlp"]
    assert all("glassgrad.core" in one.without for one in scaling())
    assert [one.workload for one in rows(short=True)] == [one.workload for one in rows()]


def test_sizes_of_installed_packages():
    assert 1 < installed_size("numpy") < 1000
    package = Path(glassgrad.__file__).parent
    own = sum(path.stat().st_size for path in package.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    assert installed_size("glassgrad") > own / 1e6 + installed_size("numpy")


def test_the_picture(tmp_path):
    pytest.importorskip("matplotlib")
    results = [found(glassgrad=[1.0, 1.0, 1.1], glassgrad_compile=[0.5, 0.4, 0.5], torch=[4.0, 5.0, 4.0])] * 3
    plot(results, str(tmp_path / "ratios.svg"), "a note")
    assert "</svg>" in (tmp_path / "ratios.svg").read_text(encoding="utf-8")
    with pytest.raises(ValueError, match="nothing to draw"):
        plot([found(glassgrad=[1.0])], str(tmp_path / "none.png"), "")


def test_the_picture_of_growth(tmp_path):
    pytest.importorskip("matplotlib")
    results = [
        Result(row, {"glassgrad": [1.0 + n], "torch": [2.0 + n, 3.0 + n, 4.0 + n]}) for n, row in enumerate(scaling())
    ]
    growth(results, str(tmp_path / "growth.svg"), "a note")
    text = (tmp_path / "growth.svg").read_text(encoding="utf-8")
    groups = {row.group.removeprefix("Scaling: ") for row in scaling()}
    assert len(groups) == 4 and all(f"<!-- {group} -->" in text for group in groups)
    assert "<!-- torch -->" in text and "<!-- jax -->" not in text
    with pytest.raises(ValueError, match="nothing to draw"):
        growth([Result(rows()[0], {"glassgrad": [1.0]})], str(tmp_path / "none.png"), "")


# -- figures over time -------------------------------------------------------------------------------------------------


def kept(**ratios):
    """A run as ``--json`` writes it: the ratio to torch of each row, with a spread of a tenth."""
    rows = [
        {
            "workload": name, "unit": "s", "columns": {"glassgrad": {"median": 1e-3}},
            "ratios": {"glassgrad": {"torch": {"median": ratio, "min": ratio * 0.9, "max": ratio * 1.1}}},
        }
        for name, ratio in ratios.items()
    ]  # fmt: skip
    return {"environment": {"python": "3.11"}, "rows": rows}


def test_what_moved_between_two_runs():
    old = kept(level=1.0, faster=1.0, slower=2.0, gone=1.0)
    new = kept(level=1.15, faster=1.5, slower=1.0, new=3)
    lines = list(moved(old, new))
    assert lines == [
        "| faster | glassgrad | 1.00x (1 ms) | 1.50x (1 ms) | 1.50 |",
        "| slower | glassgrad | 2.00x (1 ms) | 1.00x (1 ms) | 0.50 |",
        "| new | glassgrad | - | 3.00x (1 ms) | new |",
        "| gone | glassgrad | 1.00x | - | gone |",
    ]


def test_the_report_of_two_files(tmp_path, capsys):
    files = [tmp_path / name for name in ("one.json", "two.json")]
    for file, ratio in zip(files, (1.0, 1.01), strict=True):
        file.write_text(json.dumps(kept(row=ratio)), "utf-8")
    assert history([str(file) for file in files]) == 0
    assert "nothing moved" in capsys.readouterr().out
    assert history([str(files[0])]) == 2
    assert "two runs are compared, not 1" in capsys.readouterr().err


def test_others_keep_the_cores_busy():
    with busy(1):
        (process,) = multiprocessing.active_children()
        assert process.is_alive()
    assert not multiprocessing.active_children()
