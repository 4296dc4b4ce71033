"""The pipes that put samples into another order."""

from . import Sampler as SamplerIterDataPipe
from . import Shuffler as ShufflerIterDataPipe

__all__ = ["SamplerIterDataPipe", "ShufflerIterDataPipe"]
