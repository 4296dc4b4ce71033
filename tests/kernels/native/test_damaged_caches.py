"""Files of Numba's cache that are damaged are noticed, and what is compiled in their place is kept again."""

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("numba")

PROGRAM = """
import warnings; warnings.simplefilter("error")
import glassgrad as torch
from glassgrad.compiler import compile
x = torch.linspace(-3, 3, 40_000).reshape(40, 1000)
print(round(torch.softmax(x, 1).sum().item(), 3), round(torch.softmax(x.double(), 1).sum().item(), 3))
step = compile(lambda a: (a.sin() * a + 1).exp().sum())
print(*[round(step(x[:1] + i).item(), 1) for i in range(4)])
"""
DAMAGES = {
    "empty": lambda content, files: b"",
    "cut": lambda content, files: content[: len(content) // 2],
    "zeroed": lambda content, files: bytes(len(content)),
    "turned": lambda content, files: content[:100] + bytes(byte ^ 255 for byte in content[100:]),
    "another's": lambda content, files: random.Random(len(content)).choice(files),
}


def ran(folder):
    """What the program prints with its cache in ``folder``."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder)}
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, env=environment, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """A folder with the program's cache, and what it prints."""
    folder = tmp_path_factory.mktemp("cache")
    return folder, ran(folder)


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_files(kept, damage):
    """Of every other pair of an index and its data the one, of the rest the other."""
    folder, expected = kept
    files = {file: file.read_bytes() for file in sorted(Path(folder).rglob("*.nb[ic]"))}
    assert len(files) >= 4
    damaged = {}
    for file, content in files.items():
        if (file.suffix == ".nbi") == (len(file.stem.partition(".")[0]) % 2 == 0):
            damaged[file] = DAMAGES[damage](content, [other for other in files.values() if other != content])
            file.write_bytes(damaged[file])
    assert damaged
    assert ran(folder) == expected
    assert not [file for file, content in damaged.items() if file.suffix == ".nbi" and file.read_bytes() == content]
