"""``glassgrad why`` and ``check`` as a user calls them; the same in tests, notebooks and programs that ask for it."""

import json
import os
import subprocess
import sys
import types

import pytest

from glassgrad.watch.again import Script, answers_again
from glassgrad.watch.finding import Finding
from glassgrad.watch.hosts import in_cells, load_ipython_extension, unload_ipython_extension
from tests.explore.test_page import data_of
from tests.watch.scripts import FAILING, HEALTHY, SILENT


def call(folder, *arguments, module=("glassgrad",)):
    """A command in a folder: exit code, standard output, standard error."""
    done = subprocess.run(
        [sys.executable, "-m", *module, *arguments], cwd=folder, capture_output=True, text=True, timeout=120
    )
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def script(tmp_path):
    """Writes a script and gives its name."""

    def write(source, name="train.py"):
        (tmp_path / name).write_text(source)
        return name

    return write


def test_an_error_is_answered_below_its_traceback(script, tmp_path):
    name = script(FAILING["in-place"] + "print('never')\n")
    code, out, err = call(tmp_path, "why", "--glassgrad", name)
    assert code == 1 and out == ""
    traceback, _, answer = err.partition("glassgrad: why: ")
    assert "RuntimeError: one of the variables needed for gradient computation" in traceback
    assert "frames of glassgrad]" in traceback and "watch.py" not in traceback and "src/glassgrad" not in traceback
    lines = answer.splitlines()
    assert len(lines) <= 9
    assert lines[1].startswith("  train.py:") and lines[1].endswith("h += 1  #!")
    assert "SigmoidBackward0 saved" in answer and "fix: " in answer
    assert lines[-1].startswith("  page: why.html#node=")
    assert "<html" in (tmp_path / "why.html").read_text()[:500]


def test_a_shape_is_answered_without_another_run(script, tmp_path):
    source = FAILING["shape"].replace("torch.randn(8, 5)", "torch.randn(8, 2, 2)")
    code, _, err = call(tmp_path, "why", "--glassgrad", "--page", "", script(source))
    assert code == 1
    assert "in Sequential.0, Linear(in_features=4, out_features=16, bias=True): its input [8, 2, 2] float32" in err
    assert "fix: x = x.flatten(1) before it: 2 x 2 is 4" in err
    assert not (tmp_path / "why.html").exists()


def test_what_learns_nothing_is_told_with_its_line(script, tmp_path):
    code, out, err = call(tmp_path, "why", "--glassgrad", script(SILENT["unreached"] + "print('the end')\n"))
    assert code == 0 and out == "the end\n"
    assert "model.encoder.weight, model.encoder.bias are never given a gradient" in err
    number = next(i for i, line in enumerate(SILENT["unreached"].splitlines(), 1) if "#!" in line)
    assert f"train.py:{number}   return self.head(self.encoder(x).detach())" in err
    assert "fix: leave the detach() out" in err


@pytest.mark.parametrize("name, kind", [("nan, in the data", "nan"), ("softmax twice", "softmax twice")])
def test_json_and_exit_code_for_programs(script, tmp_path, name, kind):
    code, out, err = call(tmp_path, "check", "--glassgrad", "--json", "--page", "", script(SILENT[name]))
    assert code == 1 and err == ""
    said = json.loads(out)
    assert said["backward"] == 7
    (finding,) = (fields for fields in said["findings"] if fields["kind"] == kind)
    if "#!" in SILENT[name]:
        assert "#!" in finding["line"]["code"]


def test_a_healthy_script_passes_the_check(script, tmp_path):
    code, out, err = call(tmp_path, "check", "--glassgrad", script(HEALTHY["mlp"]))
    assert code == 0 and out == ""
    assert err == "glassgrad: nothing wrong was seen in 7 backward passes and 7 steps.\n"


def test_arguments_and_exit_codes_are_the_scripts_own(script, tmp_path):
    name = script("import sys\nprint(sys.argv[1:], __name__)\nsys.exit(7)\n")
    code, out, err = call(tmp_path, "why", "--glassgrad", name, "--lr", "3")
    assert code == 7 and out == "['--lr', '3'] __main__\n"
    assert err == "glassgrad: the script ran no backward pass.\n"
    code, _, err = call(tmp_path, "why", "missing.py")
    assert code == 2 and "can't open file" in err


def test_an_error_that_is_none_of_ours_is_shown_alone(script, tmp_path):
    code, _, err = call(tmp_path, "why", "--glassgrad", script("raise KeyError('x')\n"))
    assert code == 1 and err.endswith("KeyError: 'x'\n")


def test_the_second_run_leaves_no_traces(script, tmp_path):
    (tmp_path / "kept.txt").write_text("one")
    source = FAILING["in-place"] + ""
    source = source.replace("for step", "open('log.txt', 'a').write('x')\nimport os\nos.remove('kept.txt')\nfor step")
    code, _, err = call(tmp_path, "why", "--glassgrad", script(source))
    assert (tmp_path / "log.txt").read_text() == "x" and not (tmp_path / "kept.txt").exists()
    assert "h += 1" in err


@pytest.mark.parametrize("options", [["--glassgrad"], pytest.param([], marks=pytest.mark.torch)], ids=str)
def test_a_forward_pass_that_stopped_has_a_page_of_what_was_built(script, tmp_path, options):
    """The tensor that did not fit has no name in the script: the layer's own frame holds it."""
    source = (
        "from torch import nn, ones\nfirst, last = nn.Linear(4, 8), nn.Linear(3, 2)\nlast(first(ones(5, 4)).exp())\n"
    )
    code, _, err = call(tmp_path, "why", *options, script(source))
    assert code == 1 and "its input [5, 8] float32" in err
    page = err.strip().splitlines()[-1].partition("page: ")[2]
    file, _, node = page.partition("#node=")
    data = data_of((tmp_path / file).read_text(encoding="utf-8"))
    chosen = data["boxes"]["node"].index(int(node))
    maker = data["boxes"]["op"][data["arrows"]["src"][data["arrows"]["dst"].index(chosen)]]
    assert data["texts"][maker] == "ExpBackward0"


def test_a_script_that_asks_is_not_run_again(script, tmp_path):
    script("import subprocess, sys\nsubprocess.run([sys.executable, '--version'])\n" + FAILING["in-place"])
    again = Script("train.py", [], on_glassgrad=True, folder=str(tmp_path))
    assert answers_again(again, 1.0, 3, 2) == ({}, None)
    assert answers_again(again, 61.0, 3, 2) == ({}, None)


def test_a_long_script_is_replayed_from_the_loop(script, tmp_path):
    source = "import subprocess, sys\nsubprocess.run([sys.executable, '--version'])\n" + FAILING["in-place"]
    code, _, err = call(tmp_path, "why", "--glassgrad", script(source))
    number = next(i for i, line in enumerate(source.splitlines(), 1) if "#!" in line)
    assert code == 1 and f"train.py:{number}   h += 1" in err and "page: why.html#node=" in err


@pytest.mark.parametrize("statement", ["continue", "break", "yield loss"])
def test_what_leaves_the_loop_is_not_replayed(script, tmp_path, statement):
    script("pass\n")
    body = FAILING["in-place"].partition("for step in range(7):")
    source = body[0] + "def train():\n    for step in range(7):\n"
    source += "".join(f"    {line}\n" for line in body[2].splitlines() if line)
    source = source.replace("        loss = h.sum()", f"        loss = h.sum()\n        if step == 9: {statement}")
    source += "try:\n    list(train() or ())\nexcept RuntimeError as e:\n    error = e\n"
    import glassgrad
    from glassgrad.watch.again import replayed
    from glassgrad.watch.watch import Watch

    (tmp_path / "loop.py").write_text(source)
    names = {"__name__": "loop"}
    with glassgrad.alias():
        exec(compile(source, str(tmp_path / "loop.py"), "exec"), names)
        assert replayed(names["error"], names["error"].__traceback__, Watch(glassgrad)) == ({}, None)


def test_a_program_that_imports_it(script, tmp_path):
    here = "import glassgrad.why\nimport glassgrad as torch\n"
    source = here + SILENT["zero_grad"].replace("import torch\n", "").replace(
        "from torch import", "from glassgrad import"
    )
    name = script(source.replace("import torch.nn.functional", "import glassgrad.nn.functional"))
    code, _, err = call_file(tmp_path, name)
    assert code == 0
    assert "glassgrad: finding: gradients were not zeroed between steps" in err
    source = here + "x = torch.ones(3, requires_grad=True)\n(x * 2).backward()\n"
    code, _, err = call_file(tmp_path, script(source))
    assert code == 1 and "glassgrad: why: backward() was called on a tensor" in err
    source = here + "x = torch.ones(3, requires_grad=True)\nfor step in range(9):\n    y = x.exp()\n"
    source += "    if step == 8:\n        y += 1\n    y.sum().backward()\n"
    code, _, err = call_file(tmp_path, script(source))
    assert code == 1 and "train.py:7   y += 1" in err and "ExpBackward0 saved `result` at train.py:5" in err


def call_file(folder, name):
    """``python FILE``."""
    done = subprocess.run([sys.executable, name], cwd=folder, capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout, done.stderr


def test_in_pytest(tmp_path):
    (tmp_path / "test_it.py").write_text(
        "import glassgrad as torch\n\n"
        "def test_it():\n"
        "    x = torch.ones(3, requires_grad=True)\n"
        "    y = x.exp()\n"
        "    y += 1\n"
        "    y.sum().backward()\n"
    )
    arguments = ("-p", "glassgrad.why", "-p", "no:cacheprovider", "-q", "test_it.py")
    code, out, _ = call(tmp_path, *arguments, module=("pytest",))
    assert code == 1
    assert "glassgrad why" in out and "test_it.py:6   y += 1" in out


class Shell:
    """As much of IPython's shell as the extension uses."""

    def __init__(self):
        self.user_ns, self.execution_count, self.shown = {"In": [""]}, 0, []

    def set_custom_exc(self, kinds, handler):
        self.handler = handler

    def showtraceback(self, error, tb_offset=None):
        self.shown.append(error[0])

    def transform_cell(self, source):
        return source

    def run_cell(self, source):
        self.execution_count += 1
        self.user_ns["In"].append(source)
        try:
            exec(compile(source, f"<ipython-input-{self.execution_count}-abc>", "exec"), self.user_ns)
        except Exception as error:
            self.handler(self, type(error), error, error.__traceback__)


def test_in_a_notebook(capsys):
    shell = Shell()
    load_ipython_extension(shell)
    try:
        shell.run_cell("import glassgrad as torch\nx = torch.ones(3, requires_grad=True)")
        shell.run_cell("y = x.exp()\ny += 1\ny.sum().backward()")
        assert shell.shown == [RuntimeError]
        said = capsys.readouterr().out
        assert "changed in place" in said and "In[2] line 2" in said
    finally:
        unload_ipython_extension(shell)
    assert shell.handler is None


def test_the_package_is_an_extension():
    import glassgrad

    assert isinstance(glassgrad.load_ipython_extension, types.FunctionType)


def test_findings_are_short():
    finding = Finding("x", "word " * 60, broke=("line " * 60,) * 5, fix="short")
    assert max(map(len, finding.lines()[1:])) <= 110
    assert os.linesep not in finding.fix


def test_lines_of_older_cells_bear_their_own_numbers():
    files = {"/tmp/ipykernel_12/345.py": 3, "/tmp/ipykernel_12/678.py": 6}
    shell = types.SimpleNamespace(execution_count=9, compile=types.SimpleNamespace(_filename_map=files))
    text = "  /tmp/ipykernel_12/345.py:4   y += 1\n  saved at ipykernel_12/678.py:2, `v.exp()`, <ipython-input-7-ab1>:5"
    assert in_cells(text, shell) == "  In[3] line 4   y += 1\n  saved at In[6] line 2, `v.exp()`, In[7] line 5"
    assert in_cells("at /tmp/ipykernel_12/9.py:1 and train.py:2", shell) == "at In[9] line 1 and train.py:2"
