"""The ``torch.utils.tensorboard`` namespace: event files for TensorBoard, written by way of tensorboardX."""

from .library import RecordWriter
from .writer import FileWriter, SummaryWriter

__all__ = ["FileWriter", "RecordWriter", "SummaryWriter"]
