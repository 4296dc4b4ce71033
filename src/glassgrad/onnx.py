"""The ``torch.onnx`` namespace: models are not exported to ONNX, and its functions say what to do instead."""

from __future__ import annotations

from typing import Any, NoReturn


class OnnxExporterError(RuntimeError):
    """A model could not be exported."""


class ONNXProgram:
    """What an export would give."""


_SENTENCE = (
    "models are not exported to ONNX here: torch.save(model.state_dict(), path) writes a file that PyTorch reads, "
    "whose torch.onnx.export makes an ONNX file of it; torch.fx.symbolic_trace(model).code shows a model's operations"
)


def export(*args: Any, **kwargs: Any) -> NoReturn:
    """An error: it says what to use instead."""
    raise OnnxExporterError(_SENTENCE)


dynamo_export = register_custom_op_symbolic = unregister_custom_op_symbolic = select_model_mode_for_export = export


def is_in_onnx_export() -> bool:
    """False."""
    return False


def is_onnxrt_backend_supported() -> bool:
    """False."""
    return False
