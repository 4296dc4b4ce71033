"""``SummaryWriter``: tensorboardX's, with PyTorch's arguments, taking our tensors."""

from __future__ import annotations

import functools
import itertools
import os
import socket
import threading
import time
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from . import library, summary
from .library import Event, RecordWriter, SessionLog, directory_check

_numbers = itertools.count()


class _EventFile:
    """The event file of a FileWriter.

    tensorboardX's own is named by the second alone, so that two of one second overwrite each other, and its flush does
    not wait for what another thread has still to write.
    """

    def __init__(self, folder: str, flush_secs: float, suffix: str) -> None:
        self._folder, self._flush_secs, self._suffix = folder, flush_secs, suffix
        self._lock, self._due = threading.Lock(), float("inf")
        self.reopen()

    def get_logdir(self) -> str:
        return self._folder

    def reopen(self) -> None:
        directory_check(self._folder)
        name = f"events.out.tfevents.{int(time.time())}.{socket.gethostname()}.{os.getpid()}.{next(_numbers)}"
        self._records: Any = RecordWriter(os.path.join(self._folder, name + self._suffix))
        self._close = weakref.finalize(self, self._records.close)  # also where the program ends before close()
        self.add_event(Event(wall_time=time.time(), file_version="brain.Event:2"))
        self.flush()

    def add_event(self, event: Any) -> None:
        with self._lock:
            if self._records is not None:
                self._records.write(event.SerializeToString())
        if time.monotonic() > self._due:
            self.flush()

    def flush(self) -> None:
        with self._lock:
            if self._records is not None:
                self._records.flush()
            self._due = time.monotonic() + self._flush_secs

    def close(self) -> None:
        self.flush()
        with self._lock:
            self._records = None
            self._close()


class FileWriter(library.FileWriter):
    """One event file in ``log_dir``."""

    def __init__(self, log_dir: Any, max_queue: int = 10, flush_secs: int = 120, filename_suffix: str = "") -> None:
        self.event_writer = _EventFile(str(log_dir), flush_secs, filename_suffix)
        self._default_metadata: dict[str, Any] = {}


class SummaryWriter(library.SummaryWriter):
    """Writes event files that TensorBoard shows; a context manager closes them.

    log_dir      the directory; ``runs/<date>_<host><comment>`` unless given
    purge_step   events of this step and later ones, of a run that broke off, are to be forgotten
    flush_secs   how long events wait before they are written
    Source: https://docs.pytorch.org/docs/stable/tensorboard.html
    """

    file_writer: Any
    all_writers: Any
    purge_step: int | None

    def __init__(
        self, log_dir: Any = None, comment: str = "", purge_step: int | None = None, max_queue: int = 10,
        flush_secs: int = 120, filename_suffix: str = "",
    ) -> None:  # fmt: skip
        self.max_queue, self.flush_secs, self.filename_suffix = max_queue, flush_secs, filename_suffix
        super().__init__(log_dir, comment, purge_step)

    @property
    def log_dir(self) -> Any:
        """The directory of the files."""
        return self.logdir

    def get_logdir(self) -> Any:
        """The directory of the files."""
        return self.logdir

    def _file(self, folder: Any) -> FileWriter:
        return FileWriter(folder, self.max_queue, self.flush_secs, self.filename_suffix)

    def _get_file_writer(self) -> FileWriter:
        if self.all_writers is None or self.file_writer is None:
            self.file_writer = self._file(self.logdir)
            self.all_writers = {self.file_writer.get_logdir(): self.file_writer}
            if self.purge_step is not None:
                step, self.purge_step = self.purge_step, None
                self.file_writer.add_event(Event(step=step, file_version="brain.Event:2"))
                self.file_writer.add_event(Event(step=step, session_log=SessionLog(status=SessionLog.START)))
        return self.file_writer

    def _add(self, proto: Any, step: Any, walltime: float | None) -> None:
        self._get_file_writer().add_summary(proto, step, walltime)

    def add_scalar(
        self, tag: str, scalar_value: Any, global_step: Any = None, walltime: float | None = None,
        new_style: bool = False, double_precision: bool = False,
    ) -> None:  # fmt: skip
        """One number of a step."""
        self._add(summary.scalar(tag, scalar_value, new_style, double_precision), global_step, walltime)

    def add_scalars(
        self, main_tag: str, tag_scalar_dict: dict[str, Any], global_step: Any = None, walltime: float | None = None
    ) -> None:
        """Several numbers that share a chart; each has a file of its own."""
        walltime = time.time() if walltime is None else walltime
        home = self._get_file_writer().get_logdir()
        for tag, value in tag_scalar_dict.items():
            folder = home + "/" + main_tag.replace("/", "_") + "_" + tag
            if folder not in self.all_writers:
                self.all_writers[folder] = self._file(folder)
            self.all_writers[folder].add_summary(summary.scalar(main_tag, value), global_step, walltime)

    def add_tensor(self, tag: str, tensor: Any, global_step: Any = None, walltime: float | None = None) -> None:
        """A whole tensor."""
        self._add(summary.tensor(tag, tensor), global_step, walltime)

    def add_histogram(
        self, tag: str, values: Any, global_step: Any = None, bins: Any = "tensorflow", walltime: float | None = None,
        max_bins: int | None = None,
    ) -> None:  # fmt: skip
        """How often values occur; ``bins`` as for ``numpy.histogram``, or "tensorflow" for its logarithmic ones."""
        if isinstance(bins, str) and bins == "tensorflow":
            bins = self.default_bins
        self._add(summary.histogram(tag, values, bins, max_bins), global_step, walltime)

    def add_image(
        self, tag: str, img_tensor: Any, global_step: Any = None, walltime: float | None = None,
        dataformats: str = "CHW",
    ) -> None:  # fmt: skip
        """A picture; its dimensions are named by ``dataformats``: "CHW", "HWC" or "HW"."""
        self._add(summary.image(tag, img_tensor, dataformats), global_step, walltime)

    def add_images(
        self, tag: str, img_tensor: Any, global_step: Any = None, walltime: float | None = None,
        dataformats: str = "NCHW",
    ) -> None:  # fmt: skip
        """Several pictures, side by side."""
        if isinstance(img_tensor, list):
            img_tensor = np.stack([summary.as_array(picture) for picture in img_tensor])
        self.add_image(tag, img_tensor, global_step, walltime, dataformats)

    def add_image_with_boxes(
        self, tag: str, img_tensor: Any, box_tensor: Any, global_step: Any = None, walltime: float | None = None,
        rescale: float = 1, dataformats: str = "CHW", labels: Any = None,
    ) -> None:  # fmt: skip
        """A picture with boxes (left, top, right, bottom) in it."""
        super().add_image_with_boxes(
            tag, summary.as_bytes(img_tensor), summary.as_array(box_tensor), global_step, walltime, dataformats, labels,
            rescale=rescale,
        )  # fmt: skip

    def add_audio(
        self, tag: str, snd_tensor: Any, global_step: Any = None, sample_rate: int = 44100,
        walltime: float | None = None,
    ) -> None:  # fmt: skip
        """Sound: (1, L), numbers from -1 to 1."""
        self._add(summary.audio(tag, snd_tensor, sample_rate), global_step, walltime)

    def add_graph(
        self, model: Any, input_to_model: Any = None, verbose: bool = False, use_strict_trace: bool = True
    ) -> None:
        """The graph of the model's operations on this input, as its gradients would walk it."""
        from .summary import graph_of

        content = graph_of(model, input_to_model, verbose).SerializeToString()
        self._get_file_writer().add_event(Event(graph_def=content))

    def add_custom_scalars_marginchart(
        self, tags: list[str], category: str = "default", title: str = "untitled"
    ) -> None:
        """A chart with a line and its margins: three tags."""
        if len(tags) != 3:
            raise AssertionError(f"Expected 3 tags, got {len(tags)}.")
        super().add_custom_scalars_marginchart(tags, category, title)

    def add_mesh(
        self, tag: str, vertices: Any, colors: Any = None, faces: Any = None, config_dict: Any = None,
        global_step: Any = None, walltime: float | None = None,
    ) -> None:  # fmt: skip
        """Points in space (N, V, 3), with colours and faces."""
        self._add(summary.mesh(tag, vertices, colors, faces, config_dict), global_step, walltime)

    def add_hparams(
        self, hparam_dict: Any, metric_dict: Any, hparam_domain_discrete: Any = None, run_name: str | None = None,
        global_step: Any = None,
    ) -> None:  # fmt: skip
        """The settings of a run and how well it did, in a directory of their own, ``run_name``."""
        if type(hparam_dict) is not dict or type(metric_dict) is not dict:
            raise TypeError("hparam_dict and metric_dict should be dictionary.")
        protos = summary.hparams(hparam_dict, metric_dict, hparam_domain_discrete)
        folder = os.path.join(self._get_file_writer().get_logdir(), run_name or str(time.time()))
        with SummaryWriter(log_dir=folder) as writer:
            for proto in protos:
                writer._add(proto, global_step, None)
            for tag, value in metric_dict.items():
                writer.add_scalar(tag, value, global_step)


def _taking_tensors(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def with_arrays(self: Any, *args: Any, **kwargs: Any) -> Any:
        return method(self, *map(summary.plain, args), **{name: summary.plain(value) for name, value in kwargs.items()})

    return with_arrays


for _name in ("add_embedding", "add_histogram_raw", "add_pr_curve", "add_pr_curve_raw", "add_video"):
    setattr(SummaryWriter, _name, _taking_tensors(getattr(library.SummaryWriter, _name)))
