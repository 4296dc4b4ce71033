"""What can be set about ``torch.load`` and ``torch.save``: ``config.load.mmap = True`` and so on."""

from ...serialization.options import load, save

__all__ = ["load", "save"]
