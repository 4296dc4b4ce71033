"""``SummaryWriter``: what a training program tells TensorBoard, written into event files."""

from __future__ import annotations

import os
import time
from typing import Any, NoReturn

from . import summary
from .arrays import as_array, figure_picture, grid, precision_recall
from .library import Event, EventFileWriter, SessionLog


class FileWriter:
    """One event file in ``log_dir``."""

    def __init__(self, log_dir: Any, max_queue: int = 10, flush_secs: int = 120, filename_suffix: str = "") -> None:
        self.event_writer = EventFileWriter(str(log_dir), max_queue, flush_secs, filename_suffix)

    def get_logdir(self) -> str:
        """The directory of the file."""
        return self.event_writer.get_logdir()  # type: ignore[no-any-return]

    def add_event(self, event: Any, step: Any = None, walltime: float | None = None) -> None:
        """Write an event, of now or of ``walltime``."""
        event.wall_time = time.time() if walltime is None else walltime
        if step is not None:
            event.step = int(step)
        self.event_writer.add_event(event)

    def add_summary(self, given: Any, global_step: Any = None, walltime: float | None = None) -> None:
        """Write a summary, as an event."""
        self.add_event(Event(summary=given), global_step, walltime)

    def flush(self) -> None:
        """Write what waits."""
        self.event_writer.flush()

    def close(self) -> None:
        """Write what waits, and close the file."""
        self.event_writer.close()

    def reopen(self) -> None:
        """Open a further file in the same directory."""
        self.event_writer.reopen()


class SummaryWriter:
    """Writes event files that TensorBoard shows; a context manager closes them.

    log_dir      the directory; ``runs/<date>_<host><comment>`` unless given
    purge_step   events of this step and later ones, of a run that broke off, are to be forgotten
    max_queue, flush_secs   how many events, and how long, wait before they are written
    Source: https://docs.pytorch.org/docs/stable/tensorboard.html
    """

    def __init__(
        self,
        log_dir: Any = None,
        comment: str = "",
        purge_step: int | None = None,
        max_queue: int = 10,
        flush_secs: int = 120,
        filename_suffix: str = "",
    ) -> None:
        if not log_dir:
            import socket
            from datetime import datetime

            now = datetime.now().strftime("%b%d_%H-%M-%S")
            log_dir = os.path.join("runs", now + "_" + socket.gethostname() + comment)
        self.log_dir, self.purge_step, self.max_queue = log_dir, purge_step, max_queue
        self.flush_secs, self.filename_suffix = flush_secs, filename_suffix
        self.file_writer: FileWriter | None = None
        self.all_writers: dict[str, FileWriter] | None = None
        self._get_file_writer()
        edges, edge = [], 1e-12
        while edge < 1e20:
            edges.append(edge)
            edge *= 1.1
        self.default_bins = [-edge for edge in reversed(edges)] + [0] + edges
        self._projector: Any = None

    def _get_file_writer(self) -> FileWriter:
        if self.all_writers is None or self.file_writer is None:
            self.file_writer = FileWriter(self.log_dir, self.max_queue, self.flush_secs, self.filename_suffix)
            self.all_writers = {self.file_writer.get_logdir(): self.file_writer}
            if self.purge_step is not None:
                step = self.purge_step
                self.file_writer.add_event(Event(step=step, file_version="brain.Event:2"))
                started = SessionLog(status=SessionLog.START)
                self.file_writer.add_event(Event(step=step, session_log=started))
                self.purge_step = None
        return self.file_writer

    def _add(self, made: Any, step: Any, walltime: float | None) -> None:
        self._get_file_writer().add_summary(made, step, walltime)

    def get_logdir(self) -> Any:
        """The directory of the files."""
        return self.log_dir

    def add_scalar(
        self,
        tag: str,
        scalar_value: Any,
        global_step: Any = None,
        walltime: float | None = None,
        new_style: bool = False,
        double_precision: bool = False,
    ) -> None:
        """One number of a step."""
        self._add(summary.scalar(tag, scalar_value, new_style, double_precision), global_step, walltime)

    def add_scalars(
        self, main_tag: str, tag_scalar_dict: dict[str, Any], global_step: Any = None, walltime: float | None = None
    ) -> None:
        """Several numbers that share a chart; each has a file of its own."""
        walltime = time.time() if walltime is None else walltime
        home = self._get_file_writer().get_logdir()
        writers = self.all_writers
        assert writers is not None
        for tag, value in tag_scalar_dict.items():
            place = home + "/" + main_tag.replace("/", "_") + "_" + tag
            if place not in writers:
                writers[place] = FileWriter(place, self.max_queue, self.flush_secs, self.filename_suffix)
            writers[place].add_summary(summary.scalar(main_tag, value), global_step, walltime)

    def add_tensor(self, tag: str, tensor: Any, global_step: Any = None, walltime: float | None = None) -> None:
        """A whole tensor."""
        self._add(summary.tensor(tag, tensor), global_step, walltime)

    def add_histogram(
        self,
        tag: str,
        values: Any,
        global_step: Any = None,
        bins: Any = "tensorflow",
        walltime: float | None = None,
        max_bins: int | None = None,
    ) -> None:
        """How often values occur; ``bins`` as for ``numpy.histogram``, or "tensorflow" for its logarithmic ones."""
        if isinstance(bins, str) and bins == "tensorflow":
            bins = self.default_bins
        self._add(summary.histogram(tag, values, bins, max_bins), global_step, walltime)

    def add_histogram_raw(
        self,
        tag: str,
        min: Any,  # noqa: A002  PyTorch's names
        max: Any,  # noqa: A002
        num: Any,
        sum: Any,  # noqa: A002
        sum_squares: Any,
        bucket_limits: Any,
        bucket_counts: Any,
        global_step: Any = None,
        walltime: float | None = None,
    ) -> None:
        """How often values occur, counted already."""
        if len(bucket_limits) != len(bucket_counts):
            raise ValueError("len(bucket_limits) != len(bucket_counts), see the document.")
        made = summary.histogram_raw(tag, min, max, num, sum, sum_squares, list(bucket_limits), list(bucket_counts))
        self._add(made, global_step, walltime)

    def add_image(
        self,
        tag: str,
        img_tensor: Any,
        global_step: Any = None,
        walltime: float | None = None,
        dataformats: str = "CHW",
    ) -> None:
        """A picture; its dimensions are named by ``dataformats``: "CHW", "HWC" or "HW"."""
        self._add(summary.image(tag, img_tensor, dataformats), global_step, walltime)

    def add_images(
        self,
        tag: str,
        img_tensor: Any,
        global_step: Any = None,
        walltime: float | None = None,
        dataformats: str = "NCHW",
    ) -> None:
        """Several pictures, side by side."""
        if isinstance(img_tensor, list):
            from ...ops.catalogue import FUNCTIONS

            img_tensor = FUNCTIONS["stack"](img_tensor)
        self._add(summary.image(tag, img_tensor, dataformats), global_step, walltime)

    def add_image_with_boxes(
        self,
        tag: str,
        img_tensor: Any,
        box_tensor: Any,
        global_step: Any = None,
        walltime: float | None = None,
        rescale: float = 1,
        dataformats: str = "CHW",
        labels: Any = None,
    ) -> None:
        """A picture with boxes (left, top, right, bottom) in it."""
        if labels is not None:
            labels = [labels] if isinstance(labels, str) else labels
            if len(labels) != box_tensor.shape[0]:
                labels = None
        self._add(summary.image(tag, img_tensor, dataformats, box_tensor, labels, rescale), global_step, walltime)

    def add_figure(
        self, tag: str, figure: Any, global_step: Any = None, close: bool = True, walltime: float | None = None
    ) -> None:
        """A figure of matplotlib, or a list of them, as a picture; closed afterwards unless told otherwise."""
        order = "NCHW" if isinstance(figure, list) else "CHW"
        self.add_image(tag, figure_picture(figure, close), global_step, walltime, dataformats=order)

    def add_video(
        self, tag: str, vid_tensor: Any, global_step: Any = None, fps: Any = 4, walltime: float | None = None
    ) -> NoReturn:
        """An error: films are not encoded."""
        raise RuntimeError("films are not encoded here; add single frames by add_image or add_images")

    def add_audio(
        self,
        tag: str,
        snd_tensor: Any,
        global_step: Any = None,
        sample_rate: int = 44100,
        walltime: float | None = None,
    ) -> None:
        """Sound: (1, L), numbers from -1 to 1."""
        self._add(summary.audio(tag, snd_tensor, sample_rate), global_step, walltime)

    def add_text(self, tag: str, text_string: str, global_step: Any = None, walltime: float | None = None) -> None:
        """Words, in Markdown."""
        self._add(summary.text(tag, text_string), global_step, walltime)

    def add_graph(
        self, model: Any, input_to_model: Any = None, verbose: bool = False, use_strict_trace: bool = True
    ) -> None:
        """The graph of the model's operations on this input, as its gradients would walk it."""
        from .graph import graph_of

        content = graph_of(model, input_to_model, verbose).SerializeToString()
        self._get_file_writer().add_event(Event(graph_def=content))

    def add_onnx_graph(self, prototxt: Any) -> NoReturn:
        """An error: ONNX is not read."""
        raise RuntimeError("ONNX files are not read here; use add_graph(model, input)")

    def add_embedding(
        self,
        mat: Any,
        metadata: Any = None,
        label_img: Any = None,
        global_step: Any = None,
        tag: str = "default",
        metadata_header: Any = None,
    ) -> None:
        """Points (N, D) for the projector, with labels and small pictures (N, C, H, W)."""
        from google.protobuf import text_format
        from tensorboard.plugins.projector.projector_config_pb2 import EmbeddingInfo, ProjectorConfig

        points = as_array(mat)
        step = str(global_step or 0).zfill(5)
        home = self._get_file_writer().get_logdir()
        inside = f"{step}/{_safe(tag)}"
        folder = os.path.join(home, inside)
        if os.path.isfile(folder):
            raise NotADirectoryError(f"Path: `{folder}` exists, but is a file. Cannot proceed.")
        if os.path.isdir(folder):
            print("warning: Embedding dir exists, did you set global_step for add_embedding()?")
        os.makedirs(folder, exist_ok=True)
        info = EmbeddingInfo(tensor_name=f"{tag}:{step}", tensor_path=f"{inside}/tensors.tsv")
        if metadata is not None:
            if len(points) != len(metadata):
                raise AssertionError("#labels should equal with #data points")
            if metadata_header and len(metadata_header) != len(metadata[0]):
                raise AssertionError("len of header must be equal to the number of columns in metadata")
            lines = [[*map(str, line)] for line in [metadata_header, *metadata]] if metadata_header else None
            names = ["\t".join(line) for line in lines] if lines else [str(label) for label in metadata]
            _write(os.path.join(folder, "metadata.tsv"), "\n".join(names) + "\n")
            info.metadata_path = f"{inside}/metadata.tsv"
        if label_img is not None:
            pictures = as_array(label_img)
            if len(points) != len(pictures):
                raise AssertionError("#images should equal with #data points")
            _write_sprite(os.path.join(folder, "sprite.png"), pictures)
            info.sprite.image_path = f"{inside}/sprite.png"
            info.sprite.single_image_dim.extend([pictures.shape[3], pictures.shape[2]])
        if points.ndim != 2:
            raise AssertionError("mat should be 2D, where mat.size(0) is the number of data points")
        rows = ("\t".join(str(number) for number in row) for row in points.tolist())
        _write(os.path.join(folder, "tensors.tsv"), "\n".join(rows) + "\n")
        if self._projector is None:
            self._projector = ProjectorConfig()
        self._projector.embeddings.append(info)
        _write(os.path.join(home, "projector_config.pbtxt"), text_format.MessageToString(self._projector))

    def add_pr_curve(
        self,
        tag: str,
        labels: Any,
        predictions: Any,
        global_step: Any = None,
        num_thresholds: int = 127,
        weights: Any = None,
        walltime: float | None = None,
    ) -> None:
        """The curve of precision and recall of probabilities ``predictions`` for bool ``labels``."""
        thresholds = min(num_thresholds, 127)
        rows = precision_recall(as_array(labels), as_array(predictions), thresholds, weights)
        self._add(summary.pr_curve(tag, rows, thresholds), global_step, walltime)

    def add_pr_curve_raw(
        self,
        tag: str,
        true_positive_counts: Any,
        false_positive_counts: Any,
        true_negative_counts: Any,
        false_negative_counts: Any,
        precision: Any,
        recall: Any,
        global_step: Any = None,
        num_thresholds: int = 127,
        weights: Any = None,
        walltime: float | None = None,
    ) -> None:
        """A curve of precision and recall, counted already."""
        import numpy as np

        rows = np.stack(
            [as_array(row) for row in (true_positive_counts, false_positive_counts, true_negative_counts,
                                       false_negative_counts, precision, recall)]
        )  # fmt: skip
        self._add(summary.pr_curve(tag, rows, min(num_thresholds, 127)), global_step, walltime)

    def add_custom_scalars(self, layout: dict[str, dict[str, list[Any]]]) -> None:
        """Which tags share a chart: ``{category: {title: ["Multiline" or "Margin", tags]}}``."""
        self._add(summary.custom_scalars(layout), None, None)

    def add_custom_scalars_multilinechart(
        self, tags: list[str], category: str = "default", title: str = "untitled"
    ) -> None:
        """A chart with a line for each of these tags."""
        self.add_custom_scalars({category: {title: ["Multiline", tags]}})

    def add_custom_scalars_marginchart(
        self, tags: list[str], category: str = "default", title: str = "untitled"
    ) -> None:
        """A chart with a line and its margins: three tags."""
        if len(tags) != 3:
            raise AssertionError(f"Expected 3 tags, got {len(tags)}.")
        self.add_custom_scalars({category: {title: ["Margin", tags]}})

    def add_mesh(
        self,
        tag: str,
        vertices: Any,
        colors: Any = None,
        faces: Any = None,
        config_dict: Any = None,
        global_step: Any = None,
        walltime: float | None = None,
    ) -> None:
        """Points in space (N, V, 3), with colours and faces."""
        self._add(summary.mesh(tag, vertices, colors, faces, config_dict), global_step, walltime)

    def add_hparams(
        self,
        hparam_dict: Any,
        metric_dict: Any,
        hparam_domain_discrete: Any = None,
        run_name: str | None = None,
        global_step: Any = None,
    ) -> None:
        """The settings of a run and how well it did, in a directory of their own, ``run_name``."""
        if type(hparam_dict) is not dict or type(metric_dict) is not dict:
            raise TypeError("hparam_dict and metric_dict should be dictionary.")
        made = summary.hparams(hparam_dict, metric_dict, hparam_domain_discrete)
        folder = os.path.join(self._get_file_writer().get_logdir(), run_name or str(time.time()))
        with SummaryWriter(log_dir=folder) as writer:
            for piece in made:
                writer._add(piece, global_step, None)
            for tag, value in metric_dict.items():
                writer.add_scalar(tag, value, global_step)

    def flush(self) -> None:
        """Write what waits."""
        for writer in (self.all_writers or {}).values():
            writer.flush()

    def close(self) -> None:
        """Write what waits, and close all files; a further call of the writer opens new ones."""
        for writer in (self.all_writers or {}).values():
            writer.flush()
            writer.close()
        self.file_writer = self.all_writers = None

    def __enter__(self) -> SummaryWriter:
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()


def _safe(tag: str) -> str:
    """A tag as the name of one directory."""
    return tag.replace("%", "%25").replace("/", "%2f").replace("\\", "%5c")


def _write(path: str, words: str) -> None:
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write(words)


def _write_sprite(path: str, pictures: Any) -> None:
    """Small pictures as one large square."""
    import numpy as np
    from PIL import Image

    across = int(np.ceil(len(pictures) ** 0.5))
    drawn = grid(pictures, across).transpose(1, 2, 0)
    square = np.zeros((drawn.shape[1], drawn.shape[1], 3))
    square[: drawn.shape[0]] = drawn
    Image.fromarray(np.uint8((square * 255).clip(0, 255))).save(path, format="PNG")
