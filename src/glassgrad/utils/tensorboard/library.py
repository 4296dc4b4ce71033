"""tensorboardX, where it is installed: the parts that event files are written with."""

from __future__ import annotations

import sys

_hidden = "torch" not in sys.modules
if _hidden:  # it imports torch for an annotation's sake alone, which is to cost nobody PyTorch's start
    sys.modules["torch"] = None  # type: ignore[assignment]
try:
    from tensorboardX import FileWriter, RecordWriter, SummaryWriter, summary
    from tensorboardX.proto.attr_value_pb2 import AttrValue
    from tensorboardX.proto.event_pb2 import Event, SessionLog
    from tensorboardX.proto.graph_pb2 import GraphDef
    from tensorboardX.proto.node_def_pb2 import NodeDef
    from tensorboardX.proto.plugin_hparams_pb2 import HParamsPluginData
    from tensorboardX.proto.summary_pb2 import Summary, SummaryMetadata
    from tensorboardX.proto.tensor_pb2 import TensorProto
    from tensorboardX.proto.tensor_shape_pb2 import TensorShapeProto
    from tensorboardX.proto.versions_pb2 import VersionDef
    from tensorboardX.record_writer import directory_check
except ImportError as error:
    raise ImportError(
        "TensorBoard's files are written by tensorboardX, which is not installed: pip install 'glassgrad[tensorboard]'"
    ) from error
finally:
    if _hidden:
        del sys.modules["torch"]

__all__ = [
    "AttrValue", "Event", "FileWriter", "GraphDef", "HParamsPluginData", "NodeDef", "RecordWriter", "SessionLog",
    "Summary", "SummaryMetadata", "SummaryWriter", "TensorProto", "TensorShapeProto", "VersionDef", "directory_check",
    "summary",
]  # fmt: skip
