"""The ``torch.utils.benchmark`` namespace: how long statements take."""

from .compare import Compare
from .measurement import Measurement, TaskSpec, select_unit, unit_to_english
from .timer import Language, Timer, timer

__all__ = ["Compare", "Language", "Measurement", "TaskSpec", "Timer", "select_unit", "timer", "unit_to_english"]
