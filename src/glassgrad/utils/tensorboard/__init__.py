"""The ``torch.utils.tensorboard`` namespace: event files for TensorBoard, written through its own library."""

from __future__ import annotations

from typing import Any

try:
    import_error: ImportError | None = None
    from importlib import import_module

    import_module("tensorboard")
except ImportError as error:
    import_error = error

if import_error is not None:
    raise ImportError(
        "TensorBoard logging requires TensorBoard version 1.15 or above: pip install 'glassgrad[tensorboard]'"
    ) from import_error

from .writer import FileWriter, SummaryWriter  # noqa: E402

__all__ = ["FileWriter", "RecordWriter", "SummaryWriter"]


def __getattr__(name: str) -> Any:
    if name == "RecordWriter":
        from tensorboard.summary.writer.record_writer import RecordWriter

        return RecordWriter
    raise AttributeError(f"module 'torch.utils.tensorboard' has no attribute '{name}'")
