"""Schedules of learning rates. Source: https://docs.pytorch.org/docs/stable/optim.html"""

from ...ground.later import cite_all
from ...ground.paths import show_all
from .base import EPOCH_DEPRECATION_WARNING, LRScheduler, _LRScheduler
from .chain import ChainedScheduler, SequentialLR
from .cycle import CosineAnnealingLR, CosineAnnealingWarmRestarts, CyclicLR, OneCycleLR
from .factor import (
    ConstantLR,
    ExponentialLR,
    LambdaLR,
    LinearLR,
    MultiplicativeLR,
    MultiStepLR,
    PolynomialLR,
    ReduceLROnPlateau,
    StepLR,
)

__all__ = [
    "EPOCH_DEPRECATION_WARNING", "ChainedScheduler", "ConstantLR", "CosineAnnealingLR", "CosineAnnealingWarmRestarts",
    "CyclicLR", "ExponentialLR", "LRScheduler", "LambdaLR", "LinearLR", "MultiStepLR", "MultiplicativeLR", "OneCycleLR",
    "PolynomialLR", "ReduceLROnPlateau", "SequentialLR", "StepLR", "_LRScheduler",
]  # fmt: skip
show_all(__name__, {"factor": {"plateau": "ReduceLROnPlateau"}})  # where older pickles have it
cite_all(globals(), "torch.optim.lr_scheduler", " ".join(name for name in __all__ if name.isalnum()))
