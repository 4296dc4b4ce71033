"""SummaryWriter: TensorBoard's own reader finds in our files what it finds in those that PyTorch writes."""

import importlib
import subprocess
import sys

import numpy as np
import pytest

import glassgrad
from tests.torch_reference import torch

pytest.importorskip("tensorboard")
pytest.importorskip("tensorboardX")
pytestmark = pytest.mark.torch


def write(engine, place):
    """Something of everything, under one of the two engines."""
    writer_of = importlib.import_module(f"{engine.__name__}.utils.tensorboard").SummaryWriter
    values = engine.tensor([[-3.0, 0.5, 2.0], [1e-3, 0.5, 7.0]])
    picture = engine.arange(60).reshape(3, 4, 5) / 64
    with writer_of(str(place), purge_step=1) as writer:
        for step in range(3):
            writer.add_scalar("loss", engine.tensor(1.0 / (step + 1)), step, walltime=float(step))
        writer.add_scalar("new", 2.5, 1, new_style=True)
        writer.add_scalar("double", 2.5, 1, new_style=True, double_precision=True)
        writer.add_scalar("a tag, of its own", 1.5, 1)
        writer.add_scalars("both/of", {"a": 1.0, "b": np.float64(2)}, 4)
        writer.add_histogram("weights", values, 2)
        writer.add_histogram("few", values, 2, bins=7, max_bins=3)
        writer.add_histogram("even", values, 3, bins="auto")
        writer.add_histogram_raw("raw", 0, 1, 2, 1, 1, [0.5, 1.0], [1, 1], 5)
        writer.add_image("one", picture, 1)
        writer.add_image("flat", picture[0], 1, dataformats="HW")
        writer.add_images("many", engine.stack([picture, 1 - picture, picture * 2]), 1)
        writer.add_text("words", "**so** it is", 7)
        writer.add_audio("tone", (engine.arange(50) - 25).reshape(1, 50) / 32, 1)
        labels, guesses = engine.tensor([0, 1, 1, 0, 1]), engine.tensor([0.1, 0.9, 0.4, 0.6, 0.8])
        writer.add_pr_curve("curve", labels, guesses, 1, num_thresholds=9)
        writer.add_tensor("whole", values, 1)
        writer.add_custom_scalars({"kind": {"title": ["Margin", ["a", "b", "c"]], "more": ["Multiline", ["a"]]}})
        writer.add_mesh("mesh", engine.zeros(1, 3, 3), faces=engine.tensor([[[0, 1, 2]]], dtype=engine.int32))
        writer.add_embedding(values, metadata=["x", "y"], label_img=engine.stack([picture, picture])[:, :, :4, :4],
                             global_step=3, tag="points/here")  # fmt: skip
        settings = {"lr": 0.1, "name": "sgd", "on": True, "none": None}
        writer.add_hparams(settings, {"acc": 0.5}, {"lr": [0.1, 0.2]}, "run")


def summaries(place):
    """Every event file's summaries, with steps, by path."""
    from tensorboard.backend.event_processing.event_file_loader import LegacyEventFileLoader

    found = {}
    for file in sorted(place.rglob("events.out.tfevents.*")):
        events = list(LegacyEventFileLoader(str(file)).Load())
        kept = [(event.step, event.summary.SerializeToString(deterministic=True)) for event in events]
        found[str(file.parent.relative_to(place))] = [
            (step, content, event.session_log.status) for (step, content), event in zip(kept, events, strict=True)
        ]
    return found


def projector(place):
    """What TensorBoard's projector is told, read by its own library."""
    from google.protobuf import text_format
    from tensorboard.plugins.projector.projector_config_pb2 import ProjectorConfig

    return text_format.Parse((place / "projector_config.pbtxt").read_text(), ProjectorConfig())


def test_the_files_say_the_same(tmp_path):
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    write(glassgrad, ours)
    write(torch, theirs)
    wanted, found = summaries(theirs), summaries(ours)
    assert len(wanted) == 4 and list(found) == list(wanted)
    for place, events in wanted.items():
        assert len(found[place]) == len(events)
        for got, expected in zip(found[place], events, strict=True):
            assert got == expected, place
    for name in ("tensors.tsv", "metadata.tsv"):
        inside = "00003/points%2fhere/" + name
        assert (ours / inside).read_text() == (theirs / inside).read_text()
    assert projector(ours) == projector(theirs)


def test_the_accumulator_reads_them(tmp_path):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    from glassgrad.utils.tensorboard import SummaryWriter

    writer = SummaryWriter(tmp_path)
    for step in range(5):
        writer.add_scalar("train/loss", step * 0.5, step)
    writer.add_graph(glassgrad.nn.Sequential(glassgrad.nn.Linear(3, 2), glassgrad.nn.ReLU()), glassgrad.ones(1, 3))
    writer.flush()
    read = EventAccumulator(str(tmp_path)).Reload()
    writer.close()
    assert [(event.step, event.value) for event in read.Scalars("train/loss")] == [(n, n * 0.5) for n in range(5)]
    kinds = {node.op for node in read.Graph().node}
    assert {"Parameter", "AddmmBackward0", "ReluBackward0", "IO Node"} <= kinds


def test_nothing_is_lost(tmp_path):
    """Neither by two writers of one second, nor by a writer that goes on after close(), nor before flush() returns."""
    from tensorboard.backend.event_processing.event_file_loader import LegacyEventFileLoader

    from glassgrad.utils.tensorboard import SummaryWriter

    first, second = SummaryWriter(tmp_path), SummaryWriter(tmp_path)
    for step, writer in enumerate((first, second, first, first)):
        writer.add_scalar("loss", step, step)
        if step == 2:
            writer.close()
    first.flush()
    second.flush()
    files = list(tmp_path.glob("events.out.tfevents.*"))
    steps = [event.step for file in files for event in LegacyEventFileLoader(str(file)).Load() if event.summary.value]
    assert len(files) == 3 and sorted(steps) == [0, 1, 2, 3]
    first.close()
    second.close()


def test_pytorch_is_not_imported():
    code = "import sys, glassgrad.utils.tensorboard; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "False\n", done.stderr


def test_a_figure(tmp_path):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("Agg")

    def place(engine):
        figure, axes = pyplot.subplots(figsize=(2, 1))
        axes.plot([1, 2])
        where = tmp_path / engine.__name__
        with importlib.import_module(f"{engine.__name__}.utils.tensorboard").SummaryWriter(str(where)) as writer:
            writer.add_figure("figure", figure, 1)
        assert not pyplot.get_fignums()
        return summaries(where)

    assert place(glassgrad) == place(torch)


def test_errors(tmp_path):
    def raised(engine):
        writer = importlib.import_module(f"{engine.__name__}.utils.tensorboard").SummaryWriter(str(tmp_path))
        found = []
        for call in (
            lambda: writer.add_scalar("x", engine.ones(2)),
            lambda: writer.add_scalar("x", None),
            lambda: writer.add_histogram("x", engine.ones(0)),
            lambda: writer.add_image("x", engine.ones(2, 2)),
            lambda: writer.add_image("x", engine.ones(2, 2), dataformats="HH"),
            lambda: writer.add_hparams([], {}),
            lambda: writer.add_hparams({"x": object()}, {}),
            lambda: writer.add_hparams({"x": 1}, {}, {"x": [1.5]}),
            lambda: writer.add_custom_scalars_marginchart(["a"]),
            lambda: writer.add_embedding(engine.ones(2)),
            lambda: writer.add_embedding(engine.ones(2, 2), metadata=["x"]),
        ):
            with pytest.raises(Exception) as error:  # noqa: PT011  the two are compared
                call()
            found.append((error.type, str(error.value).replace("torch.", "").replace("glassgrad.", "")))
        writer.close()
        return found

    assert [kind for kind, _ in raised(glassgrad)] == [kind for kind, _ in raised(torch)]
    assert [" ".join(words.split()) for _, words in raised(glassgrad)] == [
        " ".join(words.split()) for _, words in raised(torch)
    ]


def test_without_the_library(monkeypatch):
    for name in [name for name in sys.modules if name.startswith("glassgrad.utils.tensorboard")]:
        monkeypatch.delitem(sys.modules, name)
    for name in [name for name in sys.modules if name.partition(".")[0] == "tensorboardX"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "tensorboardX", None)
    with pytest.raises(ImportError, match=r"pip install 'glassgrad\[tensorboard\]'"):
        importlib.import_module("glassgrad.utils.tensorboard")
