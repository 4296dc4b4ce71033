"""TensorBoard's own library, where it is installed: the parts that event files are written with."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def _part(name: str) -> Any:
    try:
        return import_module(f"tensorboard.{name}")
    except ImportError as error:
        raise ImportError(
            "TensorBoard logging requires TensorBoard version 1.15 or above: pip install 'glassgrad[tensorboard]'"
        ) from error


_proto = {
    name: _part(f"compat.proto.{name}_pb2")
    for name in ("attr_value", "event", "graph", "node_def", "summary", "tensor", "tensor_shape", "versions")
}
Event, SessionLog = _proto["event"].Event, _proto["event"].SessionLog
Summary, SummaryMetadata = _proto["summary"].Summary, _proto["summary"].SummaryMetadata
HistogramProto = _proto["summary"].HistogramProto
TensorProto, TensorShapeProto = _proto["tensor"].TensorProto, _proto["tensor_shape"].TensorShapeProto
AttrValue, GraphDef = _proto["attr_value"].AttrValue, _proto["graph"].GraphDef
NodeDef, VersionDef = _proto["node_def"].NodeDef, _proto["versions"].VersionDef
EventFileWriter = _part("summary.writer.event_file_writer").EventFileWriter
RecordWriter = _part("summary.writer.record_writer").RecordWriter
