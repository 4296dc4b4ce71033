"""``glassgrad why``: a failing script is given cause and line, a silent failure its name, a healthy one none."""

import gc
import linecache
import warnings

import pytest

import glassgrad
from glassgrad.watch.command import LINES_WANTED, step_to_ask
from glassgrad.watch.failures import explained
from glassgrad.watch.verdict import findings
from glassgrad.watch.watch import Watch
from tests.watch.programs import PROGRAMS
from tests.watch.scripts import FAILING, HEALTHY, ONCE, SILENT


@pytest.fixture(params=["glassgrad", pytest.param("torch", marks=pytest.mark.torch)])
def engine(request):
    """The module that ``import torch`` gives the script."""
    if request.param == "torch":
        from tests.torch_reference import torch

        yield torch
    else:
        with glassgrad.alias() as ours:
            yield ours


def run(engine, name, source, **recorded):
    """Run a script under watch: what was found, and the lines that were named."""
    file = f"/scripts/{name}.py"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    names = {"__name__": "__main__"}
    gc.collect()
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        watch = Watch(engine, **recorded)
        with watch:
            try:
                exec(compile(source, file, "exec"), names)
            except Exception as error:
                return [explained(error, error.__traceback__, watch)]
        assert watch.lost == []
        said = findings(watch)
        if recorded or not any(finding.kind in LINES_WANTED for finding in said):
            return said
    step = step_to_ask(watch)  # as the command does in a process of its own
    again = Watch(engine, record_from=step - 1, ask_at=step)
    with again:
        exec(compile(source, file, "exec"), {"__name__": "__main__"})
    return findings(watch, again.known)


def marked(source):
    """The number of the line that is marked as the culprit, and its text."""
    return next((i for i, line in enumerate(source.splitlines(), 1) if "#!" in line), None)


@pytest.mark.parametrize("name", FAILING)
def test_an_error_has_a_cause_and_a_line(engine, name):
    (finding,) = run(engine, name, FAILING[name], record_from=0, ask_at=None)
    assert finding is not None
    assert finding.kind == name.partition(",")[0]
    assert finding.loc.line == marked(FAILING[name])
    assert finding.fix and finding.what.endswith(".")


@pytest.mark.parametrize("name", SILENT)
def test_a_silent_failure_is_named(engine, name):
    said = run(engine, name, SILENT[name])
    named = [finding for finding in said if finding.kind == name.partition(",")[0]]
    assert named, said
    assert named[0].fix or named[0].broke
    line = marked(SILENT[name])
    assert line is None or named[0].loc.line == line


@pytest.mark.parametrize("name", ONCE)
def test_a_cause_is_told_once(engine, name):
    said = run(engine, name, SILENT[name])
    assert [finding.kind for finding in said] == [name.partition(",")[0]], said


@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_script_gives_no_finding(engine, name):
    assert [str(finding) for finding in run(engine, name, HEALTHY[name])] == []


@pytest.mark.parametrize("name", PROGRAMS)
def test_nothing_is_found_in_what_others_write(engine, name):
    assert [str(finding) for finding in run(engine, name, PROGRAMS[name])] == []
