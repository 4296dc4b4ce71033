"""`glassgrad demo`, run as a process on the real digit scans; and its parts where an extra is missing."""

import re
import sys
import xml.etree.ElementTree as ElementTree

import pytest

from tests.test_cli import command


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """The finished process and the folder it wrote to."""
    folder = tmp_path_factory.mktemp("demo") / "new" / "folder"
    return command("demo", "--out", folder), folder


def test_it_succeeds(shown):
    done, _ = shown
    assert done.returncode == 0, done.stderr


def test_the_graph_is_read_aloud(shown):
    text = " ".join(shown[0].stdout.split())
    assert "It has five nodes (three operations, two leaves) and six arrows." in text
    assert "AccumulateGrad is no operation of the formula." in text
    assert "AddBackward0 #0 is the addition y = x * z + x + z." in text
    assert "Two arrows leave it, to MulBackward0 (x * z) and AddBackward0 #1 (x * z + x)" in text


@pytest.mark.parametrize(
    ("derivative", "product", "total"),
    [
        ("dy/dx", "1 * 1 * z = 1 * 1 * 3 = 3", "x.grad: 4"),
        ("dy/dz", "1 * 1 * x = 1 * 1 * 2 = 2", "z.grad: 3"),
        ("dL/dw1", "-1 * 1 * w3 * x2 = -1 * 1 * 3 * 2 = -6", "w1.grad: -8"),
        ("dL/dw2", "-1 * 1 * x3 = -1 * 1 * 1 = -1", "w2.grad: -1"),
        ("dL/dw3", "-1 * 1 * x4 = -1 * 1 * 2 = -2", "w3.grad: -2"),
    ],
)
def test_derivatives_are_sums_over_paths(shown, derivative, product, total):
    part = shown[0].stdout.partition(f"{derivative}: ")[2].partition("\n\n")[0]
    assert product in part
    assert part.endswith(f"backward() put into {total}")


def test_the_network_learns(shown):
    done, _ = shown
    first, last = map(float, re.search(r"loss: (\S+) after the first epoch, (\S+) after", done.stdout).groups())
    assert last < first / 3
    accuracy = float(re.search(r"held-out accuracy: (\S+) %", done.stdout)[1])
    assert accuracy >= 97
    assert "100%" in done.stderr and "epoch" in done.stderr  # the progress bar


def test_the_files_are_where_it_says(shown):
    done, folder = shown
    files = [line.strip() for line in done.stdout.partition("Files\n")[2].splitlines()[1:]]
    assert {str(folder / "graph.svg"), str(folder / "graph.png"), str(folder / "loss.svg")} == set(files)
    assert ElementTree.parse(folder / "graph.svg").getroot().tag == "{http://www.w3.org/2000/svg}svg"
    assert ElementTree.parse(folder / "loss.svg").getroot().tag == "{http://www.w3.org/2000/svg}svg"
    assert (folder / "graph.png").read_bytes().startswith(b"\x89PNG")
    assert sorted(path.name for path in folder.iterdir()) == ["graph.png", "graph.svg", "loss.svg"]


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    done = command("demo", "--out", tmp_path / "file" / "folder")
    assert done.returncode == 1
    assert (done.stdout, "cannot make the folder" in done.stderr) == ("", True)


def test_without_the_extra_the_first_part_still_runs(tmp_path, monkeypatch, capsys):
    from glassgrad.cli import main

    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    assert main(["demo", "--out", str(tmp_path)]) == 1
    printed = capsys.readouterr()
    assert "dL/dw1: 2 paths from L back to w1" in printed.out
    assert "pip install 'glassgrad[demo]'" in printed.err and "sklearn" in printed.err
