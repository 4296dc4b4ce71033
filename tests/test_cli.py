"""The `glassgrad` command, run as a process: what it prints, where, and with which exit code."""

import importlib
import os
import py_compile
import subprocess
import sys
import textwrap
import tomllib
import zipfile
from pathlib import Path

import pytest

import glassgrad

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def python(*arguments, cwd=None, stdin=None):
    """A finished Python process that can import the glassgrad under test."""
    path = os.pathsep.join(filter(None, [str(Path(glassgrad.__file__).parents[1]), os.environ.get("PYTHONPATH")]))
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        cwd=cwd,
        stdin=stdin,
        env={**os.environ, "PYTHONPATH": path, "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )


def command(*arguments, cwd=None, stdin=None):
    return python("-m", "glassgrad", *arguments, cwd=cwd, stdin=stdin)


@pytest.fixture
def script(tmp_path):
    """A function that writes a script and gives its path."""

    def write(source, name="script.py"):
        path = tmp_path / name
        path.write_text(textwrap.dedent(source), encoding="utf-8")
        return path

    return write


def test_version_is_the_package_s():
    done = command("--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"glassgrad {PROJECT['version']}\n", "")
    assert glassgrad.__version__ == PROJECT["version"]


def test_the_console_script_is_main():
    module, _, name = PROJECT["scripts"]["glassgrad"].partition(":")
    assert callable(getattr(importlib.import_module(module), name))


def test_info_names_versions_and_threads():
    done = command("info")
    rows = dict(line.split(maxsplit=1) for line in done.stdout.splitlines())
    assert done.returncode == 0
    assert rows["glassgrad"] == PROJECT["version"]
    assert rows["numpy"] == importlib.import_module("numpy").__version__
    assert {"python", "platform", "cores", "ml_dtypes", "BLAS"} <= rows.keys()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "a command is missing"),
        (["walk"], "invalid choice: 'walk'"),
        (["run"], "a SCRIPT or -m MODULE is missing"),
        (["run", "-m"], "a module's name is missing"),
        (["info", "more"], "unrecognized arguments: more"),
        (["demo", "--out"], "expected one argument"),
    ],
)
def test_wrong_usage_exits_with_2(arguments, words):
    done = command(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert words in done.stderr


# Each of these must do under `glassgrad run` exactly what it does under `python`.
SCRIPTS = {
    "place": """
        import os, sys
        print(sys.argv, __name__, __file__, os.path.samefile(sys.path[0], os.path.dirname(__file__)))
        print(__spec__, __package__, __doc__, __builtins__, type(__loader__).__name__, sorted(globals()))
        print(sys.modules["__main__"].__dict__ is globals())
        """,
    "exit_code": "import sys\nsys.exit(3)",
    "exit_words": "import sys\nsys.exit('stopped')",
    "exit_none": "raise SystemExit",
    "error": """
        def inner():
            raise ValueError("no")
        def outer():
            inner()
        outer()
        """,
    "chained_errors": """
        def first():
            raise KeyError("a")
        try:
            first()
        except KeyError as error:
            raise RuntimeError("b") from error
        """,
    "error_group": "raise ExceptionGroup('many', [ValueError(1), TypeError(2)])",
    "syntax": "x = (\n",
    "interrupt": "import atexit\natexit.register(print, 'bye')\nraise KeyboardInterrupt",
    "own_hook": """
        import sys, traceback
        sys.excepthook = lambda kind, error, trace: print(kind, error, len(traceback.extract_tb(trace)))
        1 / 0
        """,
    "late_error": """
        import threading, time
        threading.Thread(target=lambda: (time.sleep(0.2), print("thread done"))).start()
        print("main done")
        """,
    "null_byte": "x = '\\0'",
    "encoding": "# -*- coding: latin-1 -*-\nprint('a')",
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_run_does_what_python_does(name, script):
    path = script(SCRIPTS[name])
    arguments = [path.name, "-h", "--flag", "-m", "x", "--", "last"]
    plain, ours = python(*arguments, cwd=path.parent), command("run", *arguments, cwd=path.parent)
    assert (ours.returncode, ours.stdout, ours.stderr) == (plain.returncode, plain.stdout, plain.stderr)


def test_run_of_a_missing_file_exits_with_2(tmp_path):
    done = command("run", "absent.py", cwd=tmp_path)
    assert done.returncode == 2
    assert f"can't open file '{tmp_path / 'absent.py'}': [Errno 2] No such file or directory" in done.stderr
    assert "Traceback" not in done.stderr


def test_run_finds_the_modules_beside_the_script(script, tmp_path):
    script("import torch\nname = torch.__name__", "beside.py")
    path = script("import beside\nprint(beside.name)")
    done = command("run", path)
    assert (done.returncode, done.stdout) == (0, "torch\n"), done.stderr


def test_run_of_a_module_or_package(script, tmp_path):
    (tmp_path / "package").mkdir()
    script("", "package/__init__.py")
    script(
        """
        import sys, torch
        from . import helper
        print(torch.__name__, sys.argv[1:], __name__, __package__, __spec__.name, sys.path[0], sys.argv[0] == __file__)
        sys.exit(helper.code)
        """,
        "package/__main__.py",
    )
    script("code = 5", "package/helper.py")
    done = command("run", "-m", "package", "-h", "--x", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (5, "")
    assert done.stdout == f"torch ['-h', '--x'] __main__ package package.__main__ {tmp_path} True\n"
    done = command("run", "-m", "package.helper", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_run_of_a_missing_module_exits_with_1(tmp_path):
    done = command("run", "-m", "no_such_module", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (1, "glassgrad: No module named no_such_module\n")


def test_run_gives_torch_its_numbers(script):
    path = script(
        """
        import torch
        import torch.nn as nn
        import torch.nn.functional as F
        from torch import optim
        from torch.nn import Linear
        import glassgrad

        assert torch is glassgrad and nn is glassgrad.nn and nn.Linear is Linear and optim is glassgrad.optim
        assert F is torch.nn.functional
        x = torch.tensor(3.0, requires_grad=True)
        (x * x).backward()
        print(x.grad)
        """
    )
    done = command("run", path)
    assert (done.returncode, done.stdout) == (0, "tensor(6.)\n"), done.stderr


def test_a_missing_name_ends_the_script_with_its_name(script):
    path = script("import torch\n\ndef work():\n    torch.no_such_name\n\nwork()\n")
    done = command("run", path.name, cwd=path.parent)
    assert done.returncode == 1
    *trace, last = done.stderr.splitlines()
    assert last.startswith(f"AttributeError: torch.no_such_name is not in glassgrad {PROJECT['version']}")
    assert [line for line in trace if "File" in line] == [
        f'  File "{path}", line 6, in <module>',
        f'  File "{path}", line 4, in work',
    ]


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_children_of_multiprocessing_inherit_the_alias(method, script):
    path = script(
        f"""
        import multiprocessing
        import torch

        def work(number):
            return torch.__name__, float(torch.tensor(number) + 1)

        if __name__ == "__main__":
            with multiprocessing.get_context({method!r}).Pool(1) as pool:
                print(pool.map(work, [1.0, 2.0]))
        """
    )
    done = command("run", path)
    assert (done.returncode, done.stdout) == (0, "[('torch', 2.0), ('torch', 3.0)]\n"), done.stderr


# -- folders, zip files, the standard input ----------------------------------------------------------------------------

MAIN = """
    import os, sys, helper
    print(sys.argv, sys.path[0], __name__, repr(__package__), __file__, type(__loader__).__name__, helper.name)
    print(__spec__.name, repr(__spec__.parent), __spec__.origin, sys.modules["__main__"].__dict__ is globals())
    try:
        from . import helper
    except ImportError as error:
        print(error)
    sys.exit(4)
    """


@pytest.fixture
def app(script, tmp_path):
    """A folder with a program in it, the same as a zip file, a folder without one, and a compiled program."""
    (tmp_path / "app").mkdir()
    (tmp_path / "empty").mkdir()
    script(MAIN, "app/__main__.py")
    script("name = 'helper'", "app/helper.py")
    with zipfile.ZipFile(tmp_path / "app.zip", "w") as out:
        for name in ("__main__.py", "helper.py"):
            out.write(tmp_path / "app" / name, name)
    path = script("import sys\nprint(sys.argv, __name__, __file__, __spec__, type(__loader__).__name__, sys.path[0])")
    py_compile.compile(str(path), str(tmp_path / "app.pyc"), doraise=True)
    (tmp_path / "no.pyc").write_text("print(1)")
    return tmp_path


@pytest.mark.parametrize("flags", [(), ("-P",)], ids=["", "safe path"])
@pytest.mark.parametrize("target", ["app", "app/", "./app", "app.zip", "empty", "absent", ".", "", "app.pyc", "no.pyc"])
def test_run_of_a_folder_or_zip_file_does_what_python_does(target, flags, app):
    arguments = [target, "-h", "--flag", "--", "last"]
    plain = python(*flags, *arguments, cwd=app)
    ours = python(*flags, "-m", "glassgrad", "run", *arguments, cwd=app)
    words = plain.stderr.replace(f"{sys.executable}:", "glassgrad:")
    assert (ours.returncode, ours.stdout, ours.stderr) == (plain.returncode, plain.stdout, words)


@pytest.mark.parametrize("name", [name for name in SCRIPTS if name != "place"])
def test_run_of_the_standard_input_does_what_python_does(name, script):
    path = script(SCRIPTS[name])
    arguments = ["-", "-h", "--flag", "--", "last"]
    with path.open("rb") as plain, path.open("rb") as ours:
        plain = python(*arguments, cwd=path.parent, stdin=plain)
        ours = command("run", *arguments, cwd=path.parent, stdin=ours)
    assert (ours.returncode, ours.stdout, ours.stderr) == (plain.returncode, plain.stdout, plain.stderr)


def test_run_of_the_standard_input_is_in_its_place(script):
    source = "import sys\nprint(sys.argv, repr(sys.path[0]), __name__, __spec__, __file__, __loader__)"
    path = script(f"{source}\nprint(repr(sys.stdin.read()))")
    with path.open("rb") as plain, path.open("rb") as ours:
        plain = python("-", "x", cwd=path.parent, stdin=plain)
        ours = command("run", "-", "x", cwd=path.parent, stdin=ours)
    assert ours.stdout == plain.stdout and ours.stdout.endswith("''\n")


def test_a_name_that_is_not_utf_8(tmp_path):
    """Pages, pictures and messages of a script and of a graph whose names are bytes."""
    script = os.fsencode(tmp_path) + b"/s\xff.py"
    try:
        with open(script, "w", encoding="utf-8") as file:
            file.write("import torch\nx = torch.ones(2, requires_grad=True)\n(x * x).sum().backward()\n")
    except OSError:
        pytest.skip("names of files are UTF-8 here")
    for form in ("html", "svg", "dot", "json"):
        out = os.fsencode(tmp_path) + b"/o\xff." + form.encode()
        done = command("run", "--explore", os.fsdecode(out), os.fsdecode(script))
        assert done.returncode == 0, done.stderr
        with open(out, encoding="utf-8") as file:
            assert "\ud8ff" not in file.read()
        assert "is explored in" in done.stderr
    line = [sys.executable, "-m", "glassgrad", "view", os.fsencode(tmp_path) + b"/o\xff.json"]
    environment = {**os.environ, "PYTHONPATH": str(Path(glassgrad.__file__).parents[1]), "PYTHONUTF8": "1"}
    done = subprocess.run(line, capture_output=True, env=environment)
    assert (done.returncode, done.stdout) == (0, os.fsencode(tmp_path) + b"/o\xff.html\n"), done.stderr
    with open(os.fsencode(tmp_path) + b"/o\xff.html", encoding="utf-8") as file:
        assert "<title>o\ufffd \u2013 glassgrad</title>" in file.read()


def test_workers_of_a_test_run_have_torch(script, monkeypatch):
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)  # which may name tests, for this run
    path = script("import torch\n\ndef test_it():\n    assert torch.__version__.endswith('glassgrad')", "test_it.py")
    done = command("run", "-m", "pytest", "-q", "-n", "1", "-p", "no:cacheprovider", str(path), cwd=path.parent)
    assert done.returncode == 0 and "1 passed" in done.stdout, done.stdout + done.stderr
