"""Files that are written: whole or not at all, whoever writes them and whatever happens meanwhile."""

import ast
import errno
import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import glassgrad
from glassgrad.explore import explore, make_dot, paths, read, to_json
from glassgrad.explore.page.forms import view, write_graph
from glassgrad.ground import output
from tests.explore import page_graphs

pytestmark = pytest.mark.once
POSIX = pytest.mark.skipif(os.name != "posix", reason="links and permissions as POSIX has them")


def loss():
    x = glassgrad.ones(2, requires_grad=True)
    return (x * x).sum()


def profiled():
    with glassgrad.profiler.profile(with_stack=True) as session:
        loss().backward()
    return session


def sum_over_paths(path):
    x = glassgrad.ones((), requires_grad=True)
    paths(x * x, x).save(path)


def safetensors(path):
    pytest.importorskip("safetensors")
    from glassgrad.serialization.safetensors import save_file

    save_file({"x": glassgrad.ones(2)}, path)


def pixels(path):
    pytest.importorskip("PIL")
    write_graph(page_graphs.seed(), path)


def seen(path):
    source = path.parent / "graph" / "source.json"
    source.parent.mkdir(exist_ok=True)
    source.write_text(to_json(page_graphs.seed()))
    view(source, path)


WRITERS = {
    "x.pt": lambda path: glassgrad.save([glassgrad.ones(3)], path),
    "old.pt": lambda path: glassgrad.save([glassgrad.ones(3)], path, _use_new_zipfile_serialization=False),
    "x.safetensors": safetensors,
    "page.html": lambda path: explore(loss(), path=path),
    "graph.html": lambda path: write_graph(page_graphs.seed(), path),
    "graph.svg": lambda path: write_graph(page_graphs.seed(), path),
    "graph.dot": lambda path: write_graph(page_graphs.seed(), path),
    "graph.json": lambda path: write_graph(page_graphs.seed(), path),
    "graph.png": pixels,
    "seen.html": seen,
    **{
        f"shown.{form}": lambda path: explore(page_graphs.seed()).save(path)
        for form in ("svg", "tex", "mmd", "md", "dot", "json")
    },
    "sum.tex": sum_over_paths,
    "source.gv": lambda path: make_dot(loss()).save(path),
    "drawn.svg": lambda path: make_dot(loss()).render(path.with_suffix(""), format="svg", cleanup=True),
    "trace.json": lambda path: profiled().export_chrome_trace(str(path)),
    "trace.json.gz": lambda path: profiled().export_chrome_trace(str(path)),
    "events.json": lambda path: profiled().events().export_chrome_trace(str(path)),
    "stacks.txt": lambda path: profiled().events().export_stacks(str(path)),
}


def files_in(folder):
    return sorted(path.name for path in folder.iterdir() if path.is_file())


@pytest.mark.parametrize("failure", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()], ids=repr)
@pytest.mark.parametrize("name", WRITERS)
def test_a_failure_leaves_the_old_file_and_nothing_else(name, failure, tmp_path, monkeypatch):
    path = tmp_path / name
    WRITERS[name](path)
    assert files_in(tmp_path) == [name]
    path.write_bytes(b"old")

    def fail(*arguments):
        raise failure

    for step in ("fsync", "replace"):
        with monkeypatch.context() as patch:
            patch.setattr(output.os, step, fail)
            with pytest.raises(type(failure)):
                WRITERS[name](path)
        assert path.read_bytes() == b"old" and files_in(tmp_path) == [name]
    WRITERS[name](path)
    assert path.read_bytes() != b"old" and files_in(tmp_path) == [name]


def test_an_interrupt_anywhere(tmp_path):
    """At each line that writing goes through: the old file or the new one is there, whole, and nothing else."""
    path, contents = tmp_path / "x", {b"old", b"new" * 1000}
    own = (output.__file__, os.__file__)
    for line in range(1, 500):
        path.write_bytes(b"old")
        left = line

        def interrupt(frame, event, argument):
            nonlocal left
            if event == "line" and frame.f_code.co_filename in own:
                left -= 1
                if not left:
                    raise KeyboardInterrupt
            return interrupt

        sys.settrace(interrupt)
        try:
            output.write(path, b"new" * 1000)
        except KeyboardInterrupt:
            pass
        finally:
            sys.settrace(None)
        assert path.read_bytes() in contents and os.listdir(tmp_path) == ["x"], line
        if left > 0:
            break
    assert line > 20 and path.read_bytes() != b"old"


@POSIX
def test_a_full_disk(tmp_path):
    """A limit on the size of files stands for it: what is half written is taken away."""
    source, page = tmp_path / "graph.json", tmp_path / "graph.html"
    source.write_text(to_json(page_graphs.seed()))
    page.write_text("old")
    program = (
        "import resource, signal, sys\nfrom glassgrad.cli import main\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\nsys.exit(main(sys.argv[1:]))"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(glassgrad.__file__).parents[1]), "PYTHONDONTWRITEBYTECODE": "1"}
    line = [sys.executable, "-c", program, "view", str(source)]
    done = subprocess.run(line, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("glassgrad view: [Errno 27] File too large") and done.stderr.count("\n") == 1
    assert page.read_text() == "old" and files_in(tmp_path) == ["graph.html", "graph.json"]


@POSIX
def test_what_is_written_beside_a_graph_follows_no_link(tmp_path):
    """Whoever sent the folder may have put a link where the page goes."""
    source, page, precious = tmp_path / "graph.json", tmp_path / "graph.html", tmp_path / "precious"
    source.write_text(to_json(page_graphs.seed()))
    for _ in range(2):
        precious.write_text("mine")
        page.unlink(missing_ok=True)
        page.symlink_to(precious)
        assert view(source) == str(page)
        assert precious.read_text() == "mine" and not page.is_symlink()
        assert stat.S_IMODE(page.stat().st_mode) == stat.S_IMODE(precious.stat().st_mode)
        precious.unlink()  # and now one that leads nowhere
    page.unlink()
    page.symlink_to(precious)
    view(source, page)  # what was asked for by name is followed
    assert page.is_symlink() and precious.read_text().startswith("<!doctype html>")


@POSIX
def test_what_others_may_not_read_they_never_may(tmp_path):
    secret = tmp_path / "secret.pt"
    secret.write_text("old")
    secret.chmod(0o600)
    with output.replacing(secret) as file:
        file.write(b"new")
        assert stat.S_IMODE(os.stat(file.name).st_mode) == 0o600
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600 and secret.read_text() == "new"


def test_a_graph_that_is_named_as_a_page(tmp_path):
    source = tmp_path / "graph.html"
    source.write_text(to_json(page_graphs.seed()))
    with pytest.raises(ValueError, match="say where to write it"):
        view(source)
    json.loads(source.read_text())


def test_folders_are_made_and_long_names_are_names(tmp_path):
    name = "\u4e16" * 80 + ".txt"
    assert output.write(tmp_path / "a" / "b" / name, "x") == str(tmp_path / "a" / "b" / name)
    assert (tmp_path / "a" / "b" / name).read_text() == "x"
    with pytest.raises(IsADirectoryError):
        output.write(tmp_path / "a", "x")
    with pytest.raises(FileExistsError if os.name == "posix" else OSError):
        output.write(tmp_path / "a" / "b" / name / "c", "x")


#: Files opened to be written by other ways: streams, what one process tells another, and drafts that are moved.
ELSEWHERE = {
    "ground/output.py", "ground/shared.py", "multiprocessing/meeting.py", "multiprocessing/rank.py",
    "multiprocessing/spawn.py", "ops/publish.py", "watch/again.py", "kernels/native/kept.py",
    "explore/page/film.py", "utils/tensorboard/summary.py",  # into memory
}  # fmt: skip


def writes(call):
    """Whether a call opens a file to write to it, or writes one by its name."""
    name = getattr(call.func, "attr", getattr(call.func, "id", ""))
    modes = [mode.value for mode in [*call.args[1:2], *(word.value for word in call.keywords if word.arg == "mode")]
             if isinstance(mode, ast.Constant) and isinstance(mode.value, str)]  # fmt: skip
    if name in ("open", "fdopen"):
        return any(set(mode) & set("wax") for mode in modes)
    return name in ("write_text", "write_bytes", "tofile", "mkstemp", "NamedTemporaryFile")


def test_nobody_writes_files_in_another_way():
    home = Path(glassgrad.__file__).parent
    found = set()
    for path in home.rglob("*.py"):
        calls = (node for node in ast.walk(ast.parse(path.read_bytes())) if isinstance(node, ast.Call))
        if any(map(writes, calls)):
            found.add(path.relative_to(home).as_posix())
    assert found == ELSEWHERE


def test_half_letters_become_the_sign_for_them():
    assert output.utf8("a\ud800b\udfff\U0001f600") == "a\ufffdb\ufffd\U0001f600".encode()
    x = glassgrad.ones(2, requires_grad=True)
    y = (x * x).sum()
    names = {"a\udcff": x, "\ud800": y}
    answers = [
        glassgrad.explore.explain(y, names=names), glassgrad.explore.paths(y, x, names=names),
        glassgrad.explore.graph_text(y, names), glassgrad.explore.make_dot(y, names).source,
        explore(y, params=names, title="t\udcff").html, make_dot(y, names).pipe("svg", encoding="utf-8"),
    ]  # fmt: skip
    for answer in answers:
        assert "\ufffd" in str(answer) or "<!doctype" in str(answer)
        str(answer).encode()
    graph = read(y, params=names)
    assert glassgrad.explore.from_json(to_json(graph)) == graph and to_json(graph).isascii()
