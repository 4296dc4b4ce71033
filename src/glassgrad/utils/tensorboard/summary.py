"""What event files hold: values, pictures and texts as TensorBoard's messages, a model's operations as its graph."""

from __future__ import annotations

import io
import wave
from typing import Any

import numpy as np

from ...core.tensor import Tensor
from ...nn.modules.module import Module
from .library import (
    AttrValue,
    GraphDef,
    HParamsPluginData,
    NodeDef,
    Summary,
    SummaryMetadata,
    TensorProto,
    TensorShapeProto,
    VersionDef,
)
from .library import summary as theirs

Array = np.ndarray[Any, Any]


def plain(value: Any) -> Any:
    """A tensor as an array, anything else as it is."""
    if not isinstance(value, Tensor):
        return value
    array = np.asarray(value._array)
    return array.astype(np.float16) if array.dtype.kind == "V" or array.dtype.name == "bfloat16" else array


def as_array(value: Any) -> Array:
    """A number, array or tensor as an array; NotImplementedError for anything else."""
    value = plain(value)
    if isinstance(value, np.ndarray):
        return value
    if np.isscalar(value):
        return np.array([value])
    raise NotImplementedError(f"Got {type(value)}, but numpy array or torch tensor are expected.")


def as_bytes(value: Any) -> Array:
    """The values of a picture from 0 to 255: floating ones are taken to go from 0 to 1."""
    array = as_array(value)
    scale = 1 if array.dtype == np.uint8 else 255
    scaled: Array = (array.astype(np.float32) * scale).clip(0, 255).astype(np.uint8)
    return scaled


def _tagged(tag: str, summary: Any) -> Any:
    """``summary`` with the tag as it was: tensorboardX writes others for the characters that it thinks are illegal."""
    summary.value[0].tag = tag
    return summary


def _of_plugin(name: str) -> Any:
    return SummaryMetadata(plugin_data=SummaryMetadata.PluginData(plugin_name=name))


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
        return _tagged(tag, theirs.scalar(tag, number))
    proto = TensorProto(float_val=[number], dtype="DT_FLOAT")
    if double_precision:
        proto = TensorProto(double_val=[number], dtype="DT_DOUBLE")
    return Summary(value=[Summary.Value(tag=tag, tensor=proto, metadata=_of_plugin("scalars"))])


_FIELDS = {
    "float16": ("DT_HALF", "half_val"), "bfloat16": ("DT_BFLOAT16", "half_val"), "float32": ("DT_FLOAT", "float_val"),
    "float64": ("DT_DOUBLE", "double_val"), "int8": ("DT_INT8", "int_val"), "uint8": ("DT_UINT8", "int_val"),
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
    numbers = array.ravel()
    if array.dtype.kind == "c":
        numbers = numbers.view(array.real.dtype)
    elif field == "half_val":
        numbers = numbers.view(np.uint16)
    shape = TensorShapeProto(dim=[TensorShapeProto.Dim(size=size) for size in array.shape])
    proto = TensorProto(dtype=kind, tensor_shape=shape, **{field: numbers.tolist()})
    return Summary(value=[Summary.Value(tag=tag, tensor=proto, metadata=_of_plugin("tensor"))])


def histogram(tag: str, value: Any, bins: Any, max_bins: int | None = None) -> Any:
    """How often values occur."""
    return _tagged(tag, theirs.histogram(tag, as_array(value), bins, max_bins))


def image(tag: str, value: Any, order: str) -> Any:
    """A picture, or several side by side."""
    return _tagged(tag, theirs.image(tag, as_bytes(value), dataformats=order))


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
    return Summary(value=[Summary.Value(tag=tag, audio=sound)])


def mesh(tag: str, vertices: Any, colors: Any, faces: Any, settings: Any) -> Any:
    """Points in space, with colours and faces."""
    summary = theirs.mesh(tag, plain(vertices), plain(colors), plain(faces), settings or {})
    kinds = {"VERTEX": vertices, "FACE": faces, "COLOR": colors}
    there = [(name, 1 << number) for number, name in enumerate(kinds, 1) if kinds[name] is not None]
    components = sum(bit for _, bit in there)
    for value, (name, _) in zip(summary.value, there, strict=True):
        value.tag = f"{tag}_{name}"
        value.metadata.plugin_data.content += bytes([7 << 3, components])  # field 7, which tensorboardX does not know
    return summary


def hparams(settings: Any, metrics: Any, domains: Any = None) -> Any:
    """The settings of a run: which there are, what they were, and that the run ended well."""
    for name, value in (("hparam_dict", settings), ("metric_dict", metrics)):
        if not isinstance(value, dict):
            raise TypeError(f"parameter: {name} should be a dictionary, nothing logged.")
    domains = domains or {}
    if not isinstance(domains, dict):
        raise TypeError("parameter: hparam_domain_discrete should be a dictionary, nothing logged.")
    for key, values in domains.items():
        kind = type(settings.get(key))
        if key not in settings or not isinstance(values, list) or not all(isinstance(value, kind) for value in values):
            raise TypeError(
                f"parameter: hparam_domain_discrete[{key}] should be a list of same type as hparam_dict[{key}]."
            )
    simple = {}
    for key, value in settings.items():
        if isinstance(value, Tensor):
            value = as_array(value).item()
        if value is not None and not isinstance(value, (int, float, str)):
            raise ValueError("value should be one of int, float, str, bool, or torch.Tensor")
        simple[key] = float(value) if isinstance(value, bool) else value  # to PyTorch a bool is a number
    experiment, start, end = theirs.hparams(simple, metrics)
    plugin = experiment.value[0].metadata.plugin_data
    content = HParamsPluginData.FromString(plugin.content)
    for info in content.experiment.hparam_infos:
        info.domain_discrete.extend(domains.get(info.name, ()))
    if domains:
        plugin.content = content.SerializeToString()
    return experiment, start, end


def graph_of(model: Module, example: Any, verbose: bool = False) -> Any:
    """The graph of one call of ``model``; RuntimeError where the result carries no history."""
    args = example if isinstance(example, (tuple, list)) else () if example is None else (example,)
    result = model(*args)
    outputs = [piece for piece in _flat(result) if piece.grad_fn is not None]
    if not outputs:
        raise RuntimeError(
            "add_graph draws the graph that gradients walk, and the model's output has none: call it on a model with "
            "parameters that require gradients, outside torch.no_grad()"
        )
    names: dict[Any, str] = {}
    nodes: list[Any] = []
    parameters = {id(parameter): name for name, parameter in model.named_parameters()}
    waiting = [tensor.grad_fn for tensor in outputs]
    for node in waiting:
        if node in names:
            continue
        variable = getattr(node, "variable", None)
        name = parameters.get(id(variable), "input") if variable is not None else node.name().rstrip("0123456789")
        name = f"{type(model).__name__}/{name.replace('.', '/').removesuffix('Backward')}"
        names[node] = name if name not in names.values() else f"{name}_{len(names)}"
        waiting += [onward for onward, _ in node.next_functions if onward is not None]
    for node, name in names.items():
        inputs = [names[onward] for onward, _ in node.next_functions if onward is not None]
        variable = getattr(node, "variable", None)
        about = {"attr": AttrValue(s=str(list(variable.shape)).encode())} if variable is not None else {}
        kind = "Parameter" if variable is not None else node.name()
        nodes.append(NodeDef(name=name, op=kind, input=inputs, attr=about))
    for number, tensor in enumerate(outputs):
        nodes.append(NodeDef(name=f"output/output.{number + 1}", op="IO Node", input=[names[tensor.grad_fn]]))
    if verbose:
        print(*(f"{node.name}: {node.op}({', '.join(node.input)})" for node in nodes), sep="\n")
    return GraphDef(node=nodes, versions=VersionDef(producer=22))


def _flat(value: Any) -> list[Any]:
    if isinstance(value, Tensor):
        return [value]
    pieces = value.values() if isinstance(value, dict) else value if isinstance(value, (tuple, list)) else ()
    return [tensor for piece in pieces for tensor in _flat(piece)]
