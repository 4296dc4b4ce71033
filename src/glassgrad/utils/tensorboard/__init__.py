"""The ``torch.utils.tensorboard`` namespace: event files for TensorBoard, written through its own library."""

from .library import RecordWriter
from .writer import FileWriter, SummaryWriter

__all__ = ["FileWriter", "RecordWriter", "SummaryWriter"]
