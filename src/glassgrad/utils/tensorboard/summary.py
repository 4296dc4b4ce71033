"""Summaries: the protocol buffers of TensorBoard's library, made of arrays."""

from __future__ import annotations

import io
import json
import wave
from typing import Any

import numpy as np

from ...core.tensor import Tensor
from .arrays import as_array, as_bytes, histogram_of, rows_columns_channels
from .library import HistogramProto, Summary, SummaryMetadata, TensorProto, TensorShapeProto


def _shape(*sizes: int) -> Any:
    return TensorShapeProto(dim=[TensorShapeProto.Dim(size=size) for size in sizes])


def _of_plugin(name: str, content: bytes | None = None) -> Any:
    data = SummaryMetadata.PluginData(plugin_name=name, content=content)
    return SummaryMetadata(plugin_data=data)


def _one(tag: str, **fields: Any) -> Any:
    return Summary(value=[Summary.Value(tag=tag, **fields)])


def scalar(tag: str, value: Any, new_style: bool = False, double_precision: bool = False) -> Any:
    """One number."""
    array = as_array(value).squeeze()
    if array.ndim != 0:
        raise AssertionError(
            "Tensor should contain one element (0 dimensions).             "
            f"Was given size: {array.size} and {array.ndim} dimensions."
        )
    number = float(array)
    if not new_style:
        return _one(tag, simple_value=number)
    proto = TensorProto(float_val=[number], dtype="DT_FLOAT")
    if double_precision:
        proto = TensorProto(double_val=[number], dtype="DT_DOUBLE")
    return _one(tag, tensor=proto, metadata=_of_plugin("scalars"))


_FIELDS = {
    "float16": ("DT_HALF", "half_val"), "bfloat16": ("DT_BFLOAT16", "half_val"), "float32": ("DT_FLOAT", "float_val"),
    "float64": ("DT_DOUBLE", "double_val"), "int8": ("DT_INT8", "int_val"), "uint8": ("DT_UINT8", "uint32_val"),
    "int16": ("DT_INT16", "int_val"), "int32": ("DT_INT32", "int_val"), "int64": ("DT_INT64", "int64_val"),
    "bool": ("DT_BOOL", "bool_val"), "complex64": ("DT_COMPLEX64", "scomplex_val"),
    "complex128": ("DT_COMPLEX128", "dcomplex_val"),
}  # fmt: skip


def tensor(tag: str, value: Tensor) -> Any:
    """A whole tensor."""
    array = np.asarray(value._array)
    if array.dtype.name not in _FIELDS:
        raise ValueError(f"{tag} has unsupported tensor dtype {value.dtype}")
    kind, field = _FIELDS[array.dtype.name]
    if array.dtype.kind == "c":
        elements = array.view(array.real.dtype).ravel().tolist()
    elif field == "half_val":
        elements = array.view(np.uint16).ravel().tolist()
    else:
        elements = array.ravel().tolist()
    proto = TensorProto(dtype=kind, tensor_shape=_shape(*array.shape), **{field: elements})  # type: ignore[arg-type]
    return _one(tag, tensor=proto, metadata=_of_plugin("tensor"))


def histogram(tag: str, value: Any, bins: Any, max_bins: int | None = None) -> Any:
    """How often values occur."""
    values = as_array(value).astype(float).reshape(-1)
    if values.size == 0:
        raise ValueError("The input has no element.")
    limits, counts = histogram_of(values, bins, max_bins)
    return histogram_raw(
        tag, values.min(), values.max(), len(values), values.sum(), values.dot(values), limits, counts
    )


def histogram_raw(
    tag: str, least: Any, most: Any, num: Any, total: Any, squares: Any, limits: list[Any], counts: list[Any]
) -> Any:
    """How often values occur, counted already."""
    proto = HistogramProto(
        min=least, max=most, num=num, sum=total, sum_squares=squares, bucket_limit=limits, bucket=counts
    )
    return _one(tag, histo=proto)


def image(tag: str, value: Any, order: str, boxes: Any = None, labels: Any = None, rescale: float = 1) -> Any:
    """A picture, or several side by side; with boxes drawn into it."""
    try:
        from PIL import Image, ImageDraw
    except ImportError as error:
        raise ImportError("pictures are encoded by Pillow: pip install 'glassgrad[png]'") from error
    pixels = as_bytes(rows_columns_channels(as_array(value), order))
    height, width, channels = pixels.shape
    picture = Image.fromarray(pixels[:, :, 0] if channels == 1 else pixels)
    if boxes is not None:
        pen = ImageDraw.Draw(picture)
        for number, (left, top, right, bottom) in enumerate(as_array(boxes).tolist()):
            pen.line([(left, top), (left, bottom), (right, bottom), (right, top), (left, top)], fill="Red", width=2)
            if labels is not None:
                pen.text((left + 1, bottom - 11), labels[number], fill="black")
    picture = picture.resize((int(width * rescale), int(height * rescale)), Image.Resampling.LANCZOS)
    file = io.BytesIO()
    picture.save(file, format="PNG")
    return _one(
        tag,
        image=Summary.Image(height=height, width=width, colorspace=channels, encoded_image_string=file.getvalue()),
    )


def audio(tag: str, value: Any, rate: int) -> Any:
    """Sound: numbers from -1 to 1."""
    samples = as_array(value).squeeze()
    if abs(samples).max() > 1:
        print("warning: audio amplitude out of range, auto clipped.")
        samples = samples.clip(-1, 1)
    if samples.ndim != 1:
        raise AssertionError("input tensor should be 1 dimensional.")
    whole = (samples * np.iinfo(np.int16).max).astype("<i2")
    file = io.BytesIO()
    with wave.open(file, "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(rate)
        out.writeframes(whole.tobytes())
    sound = Summary.Audio(
        sample_rate=rate, num_channels=1, length_frames=len(whole), encoded_audio_string=file.getvalue(),
        content_type="audio/wav",
    )  # fmt: skip
    return _one(tag, audio=sound)


def text(tag: str, words: str) -> Any:
    """Words, in Markdown."""
    from tensorboard.plugins.text.plugin_data_pb2 import TextPluginData

    proto = TensorProto(dtype="DT_STRING", string_val=[words.encode()], tensor_shape=_shape(1))
    about = _of_plugin("text", TextPluginData(version=0).SerializeToString())
    return _one(tag + "/text_summary", metadata=about, tensor=proto)


def pr_curve(tag: str, rows: Any, thresholds: int) -> Any:
    """A curve of precision and recall: six rows of numbers."""
    from tensorboard.plugins.pr_curve.plugin_data_pb2 import PrCurvePluginData

    content = PrCurvePluginData(version=0, num_thresholds=thresholds).SerializeToString()
    proto = TensorProto(dtype="DT_FLOAT", float_val=rows.reshape(-1).tolist(), tensor_shape=_shape(*rows.shape))
    return _one(tag, tensor=proto, metadata=_of_plugin("pr_curves", content))


def custom_scalars(layout: dict[str, dict[str, list[Any]]]) -> Any:
    """Which tags share a chart."""
    from tensorboard.plugins.custom_scalar import layout_pb2

    categories = []
    for title, charts in layout.items():
        made = []
        for name, (kind, tags) in charts.items():
            if kind == "Margin":
                if len(tags) != 3:
                    raise AssertionError("len(tags) != 3")
                line = layout_pb2.MarginChartContent.Series(value=tags[0], lower=tags[1], upper=tags[2])
                chart = layout_pb2.Chart(title=name, margin=layout_pb2.MarginChartContent(series=[line]))
            else:
                chart = layout_pb2.Chart(title=name, multiline=layout_pb2.MultilineChartContent(tag=tags))
            made.append(chart)
        categories.append(layout_pb2.Category(title=title, chart=made))
    content = layout_pb2.Layout(category=categories).SerializeToString()
    proto = TensorProto(dtype="DT_STRING", string_val=[content], tensor_shape=TensorShapeProto())
    return _one("custom_scalars__config__", tensor=proto, metadata=_of_plugin("custom_scalars"))


def hparams(given: Any, metrics: Any, domains: Any = None) -> tuple[Any, Any, Any]:
    """The settings of a run: which there are, what they were, and that the run ended well."""
    from google.protobuf import struct_pb2
    from tensorboard.plugins.hparams import api_pb2, metadata, plugin_data_pb2

    for name, value in (("hparam_dict", given), ("metric_dict", metrics)):
        if not isinstance(value, dict):
            raise TypeError(f"parameter: {name} should be a dictionary, nothing logged.")
    domains = domains or {}
    if not isinstance(domains, dict):
        raise TypeError("parameter: hparam_domain_discrete should be a dictionary, nothing logged.")
    for key, values in domains.items():
        if key not in given or not isinstance(values, list) or not all(isinstance(v, type(given[key])) for v in values):
            raise TypeError(
                f"parameter: hparam_domain_discrete[{key}] should be a list of same type as hparam_dict[{key}]."
            )
    started = plugin_data_pb2.SessionStartInfo()
    infos = []
    for key, value in given.items():
        if value is None:
            continue
        field, kind = "number_value", "DATA_TYPE_FLOAT64"
        if isinstance(value, str):
            field, kind = "string_value", "DATA_TYPE_STRING"
        elif isinstance(value, Tensor):
            value = as_array(value).item()
        elif not isinstance(value, (int, float)):
            raise ValueError("value should be one of int, float, str, bool, or torch.Tensor")
        setattr(started.hparams[key], field, value)
        domain = None
        if key in domains:
            domain = struct_pb2.ListValue(values=[struct_pb2.Value(**{field: piece}) for piece in domains[key]])
        infos.append(api_pb2.HParamInfo(name=key, type=api_pb2.DataType.Value(kind), domain_discrete=domain))

    def made(tag: str, **fields: Any) -> Any:
        content = plugin_data_pb2.HParamsPluginData(version=metadata.PLUGIN_DATA_VERSION, **fields)
        return _one(tag, metadata=_of_plugin(metadata.PLUGIN_NAME, content.SerializeToString()))

    results = [api_pb2.MetricInfo(name=api_pb2.MetricName(tag=key)) for key in metrics]
    experiment = api_pb2.Experiment(hparam_infos=infos, metric_infos=results)
    ended = plugin_data_pb2.SessionEndInfo(status=api_pb2.Status.Value("STATUS_SUCCESS"))
    return (
        made(metadata.EXPERIMENT_TAG, experiment=experiment),
        made(metadata.SESSION_START_INFO_TAG, session_start_info=started),
        made(metadata.SESSION_END_INFO_TAG, session_end_info=ended),
    )


def mesh(tag: str, vertices: Any, colors: Any, faces: Any, config: Any) -> Any:
    """Points in space, with colours and faces."""
    from tensorboard.plugins.mesh import metadata
    from tensorboard.plugins.mesh.plugin_data_pb2 import MeshPluginData

    kinds = MeshPluginData
    given = [(vertices, kinds.VERTEX), (faces, kinds.FACE), (colors, kinds.COLOR)]
    given = [(piece, kind) for piece, kind in given if piece is not None]
    components = metadata.get_components_bitmask([kind for _, kind in given])
    settings = "{}" if config is None else json.dumps(config, sort_keys=True)
    values = []
    for piece, kind in given:
        array = as_array(piece)
        about = metadata.create_summary_metadata(
            tag, None, kind, components, array.shape, None, json_config=settings
        )
        proto = TensorProto(dtype="DT_FLOAT", tensor_shape=_shape(*array.shape), float_val=array.reshape(-1).tolist())
        values.append(Summary.Value(tag=metadata.get_instance_name(tag, kind), tensor=proto, metadata=about))
    return Summary(value=values)
