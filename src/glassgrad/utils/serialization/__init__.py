"""Options of saving and loading, under the name they have in PyTorch."""

from . import config

__all__ = ["config"]
