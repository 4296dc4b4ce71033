"""Where compiled code is kept, what happens where it cannot be, threads, forks, and a Numba that refuses to load."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("numba", reason="compiled kernels need Numba")

import glassgrad  # noqa: E402
from glassgrad.kernels import compiled  # noqa: E402
from glassgrad.kernels.native import binding  # noqa: E402

PROGRAM = """
import numpy as np
from glassgrad.kernels import compiled
a = np.ones((4, 8), "f4")
assert (compiled.softmax.backward(a, a, 1) == -7).all()
print(sum(compiled.softmax._backward.stats.cache_hits.values()), compiled.softmax._backward._cache.cache_path)
"""


def ran(program, **surroundings):
    """What a program prints in a process of its own."""
    place = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "GLASSGRAD_NUMBA": "now", **surroundings}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=place, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_a_second_process_finds_what_the_first_compiled(tmp_path):
    """The first compiles and keeps, the second loads."""
    assert ran(PROGRAM, NUMBA_CACHE_DIR=str(tmp_path))[0] == "0"
    assert ran(PROGRAM, NUMBA_CACHE_DIR=str(tmp_path))[0] == "1"


def test_no_directory_to_keep_anything_in(tmp_path):
    """A package that cannot be written to, a home that is a file: compiled for this process alone, without a word."""
    package = tmp_path / "package" / "glassgrad"
    shutil.copytree(Path(glassgrad.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    for folder in {file.parent for file in package.rglob("*.py")}:
        (folder / "__pycache__").write_text("in the way")
    blocked = tmp_path / "file"
    blocked.write_text("")
    program = f"import sys; sys.path.insert(0, {str(package.parent)!r})\n" + PROGRAM.replace("assert", "assert ", 1)
    found = ran(program, HOME=str(blocked), XDG_CACHE_HOME=str(blocked), NUMBA_CACHE_DIR=str(blocked / "below"))
    assert found == ["0", "None"]


def test_a_full_disk_is_no_error(tmp_path, monkeypatch):
    """What cannot be saved is compiled all the same."""

    @binding.kernel
    def double(first, last, x, out):
        for i in range(first, last):
            out[i] = x[i] + x[i]

    cache = double._cache

    def full(*_):
        raise OSError("No space left on device")

    if not hasattr(cache, "_cache_file"):
        pytest.skip("this test's file lies where nothing can be kept")
    monkeypatch.setattr(cache._cache_file, "save", full)
    out = np.empty(3)
    double(0, 3, np.arange(3.0), out)
    assert out.tolist() == [0, 2, 4]


def test_what_is_kept_is_tied_to_the_sources_it_was_made_from():
    """A kernel's stamp names its own file, and those of the functions compiled into it."""
    names = {Path(path).name for path in binding._sources(compiled.softmax._forward.py_func)}
    assert names >= {"native.py", "mathematics.py", "binding.py"}


def test_work_shared_out_covers_every_row_once(monkeypatch):
    """Whatever the number of rows, of threads and the grain."""
    for threads in (1, 2, 3, 7):
        monkeypatch.setattr(binding.runtime, "get_num_threads", lambda threads=threads: threads)
        for rows, grain in ((0, 1), (1, 1), (2, 1), (7, 2), (64, 16), (100, 16), (5, 8)):
            seen = np.zeros(rows, int)

            def work(first, last, seen=seen, grain=grain):
                assert first % grain == 0
                seen[first:last] += 1

            binding.shared_out(work, rows, 10 * binding.WORTH_SHARING, grain=grain)
            assert (seen == 1).all()


def test_errors_of_other_threads_arrive(monkeypatch):
    """What a part raises is raised."""
    monkeypatch.setattr(binding.runtime, "get_num_threads", lambda: 2)

    def work(first, last):
        if first:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        binding.shared_out(work, 8, 10 * binding.WORTH_SHARING)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_process_has_threads_of_its_own():
    """Work is shared out before a fork, and after it in the child."""
    program = """
import os
import numpy as np
from glassgrad.ground import runtime
from glassgrad.kernels import compiled
runtime._set.threads = 2
a = np.ones((1024, 512), "f4")
before = compiled.softmax.backward(a, a, 1)
child = os.fork()
if not child:
    os._exit(0 if (compiled.softmax.backward(a, a, 1) == before).all() else 1)
assert os.waitpid(child, 0)[1] == 0
print("same")
"""
    assert ran(program) == ["same"]


def test_numba_that_refuses_to_load(tmp_path):
    """Everything goes on with NumPy."""
    (tmp_path / "numba.py").write_text("raise ImportError('Numba needs NumPy 1.0 or less')")
    program = f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n" + (
        "import glassgrad as g\nfrom glassgrad.kernels import compiled\n"
        "assert compiled.least == compiled.LEAST\n"
        "print(float(g.softmax(g.ones(100, 100), 1).sum().round()), compiled.least == compiled.NEVER)"
    )
    assert ran(program, GLASSGRAD_NUMBA="now") == ["100.0", "True"]


@pytest.mark.parametrize("error", ["OSError", "AttributeError", "RuntimeError"])
def test_numba_that_breaks_is_told_of_once(tmp_path, error):
    (tmp_path / "numba.py").write_text(f"raise {error}('broken')")
    program = f"import sys, warnings; sys.path.insert(0, {str(tmp_path)!r})\n" + (
        "import glassgrad as g\n"
        "with warnings.catch_warnings(record=True) as told:\n"
        "    for function in (g.softmax, g.log_softmax, g.cumsum): value = function(g.ones(100, 100), 1)\n"
        "print(len(told), 'NumPy serves' in str(told[0].message), told[0].filename == '<string>', float(value[0, 0]))"
    )
    assert ran(program, GLASSGRAD_NUMBA="now") == ["1", "True", "True", "1.0"]


def test_the_choice_can_be_made_from_outside():
    """GLASSGRAD_NUMBA=0 leaves Numba alone; so does a Numba that compiles nothing."""
    program = (
        "import sys\nimport glassgrad as g\ng.softmax(g.ones(100, 100), 1).sum()\n"
        "from glassgrad.kernels import compiled\nprint('numba' in sys.modules, compiled.least)"
    )
    assert ran(program, GLASSGRAD_NUMBA="0") == ["False", str(compiled.NEVER)]
    assert ran(program, NUMBA_DISABLE_JIT="1") == ["False", str(compiled.NEVER)]
    assert ran(program, GLASSGRAD_NUMBA="now") == ["True", str(compiled.LEAST)]
    assert ran(program, GLASSGRAD_NUMBA="all") == ["True", "0"]


def test_a_name_that_is_none():
    """A module that does not exist is not there."""
    with pytest.raises(AttributeError):
        _ = compiled.nothing_of_that_name


@pytest.mark.parametrize("blind", [True, False])
def test_compiling_is_hidden_from_a_profiler_that_is_blind_to_kernels(blind):
    class Looking:
        def __init__(self):
            self.blind, self.files = blind, set()

        def look(self, frame, event, called):
            self.files.add(frame.f_code.co_filename)

    looking = Looking()
    function = binding.njit()(lambda x: x + 1)
    before, look = sys.getprofile(), looking.look
    sys.setprofile(look)
    try:
        assert function(2) == 3
        after = sys.getprofile()
    finally:
        sys.setprofile(before)
    assert after is look
    assert any("codegen" in name for name in looking.files) != blind


WITHOUT = """
import sys
import numba, numba._dispatcher, numba.core.caching, numba.core.event
import numpy as np
del numba._dispatcher.compute_fingerprint, numba.core.caching.CompileResultCacheImpl, numba.core.event
sys.modules["numba.core.event"] = None
usual = numba.njit
def njit(*functions, **options):
    if "_nrt" in options:
        raise KeyError("Unrecognized options: {'_nrt'}")
    return usual(*functions, **options)
numba.njit = njit
import glassgrad as torch
from glassgrad.kernels import compiled
from glassgrad.kernels.native import binding
{more}
a = torch.arange(200_000.0)
assert torch.equal(a * 2 + 1, torch.from_numpy(np.arange(200_000, dtype="f4") * 2 + 1))
step = torch.compile(lambda x: (x * 2 + 1).relu() - x)
for _ in range(3):
    assert torch.equal(step(a), a + 1)
print(*[what.partition(" (")[0].replace(" ", "_") for what in binding.missing])
"""


@pytest.mark.parametrize(
    ("more", "missing"),
    [
        (
            "",
            {"functions_that_count_no_references", "fingerprints_of_arguments", "word_of_what_is_compiled"},
        ),
        (
            "from glassgrad.kernels.native import team\nteam._trampoline = lambda *given: given[0].other_packer",
            {"functions_that_count_no_references", "fingerprints_of_arguments", "threads_for_compiled_code"},
        ),
    ],
)
def test_a_numba_without_what_it_does_not_document(more, missing, tmp_path):
    """All goes on, slower, and it is noted what was not there."""
    program = WITHOUT.replace("{more}", more)
    found = set(ran(program, NUMBA_CACHE_DIR=str(tmp_path), OPENBLAS_NUM_THREADS="2"))
    assert missing <= found
