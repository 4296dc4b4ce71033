"""Switching anomaly detection on: backward then names the operation that first gave NaN, and its forward line."""

from __future__ import annotations

import warnings

from ..ground import modes
from ..ground.dtypes import need_bool
from . import anomaly


def _warn() -> None:
    warnings.warn(
        "Anomaly Detection has been enabled. This mode will increase the runtime and should only be enabled for "
        "debugging.",
        UserWarning,
        stacklevel=3,
    )


class detect_anomaly:
    """Inside, a failing backward shows where its operation was called, and NaN in a gradient is an error.

    Source: https://docs.pytorch.org/docs/stable/autograd.html#torch.autograd.detect_anomaly
    """

    def __init__(self, check_nan: bool = True) -> None:
        self.check_nan = check_nan
        self.before = (modes.local.anomaly, modes.local.anomaly_check_nan)
        _warn()

    def __enter__(self) -> None:
        self.before = (modes.local.anomaly, modes.local.anomaly_check_nan)
        set_anomaly_enabled(True, self.check_nan)

    def __exit__(self, *exc: object) -> None:
        modes.local.anomaly, modes.local.anomaly_check_nan = self.before
        modes.settle()


class set_detect_anomaly:
    """Switch anomaly detection by ``mode``: at once as a function, until the end as a context manager."""

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self.before = (modes.local.anomaly, modes.local.anomaly_check_nan)
        set_anomaly_enabled(mode, check_nan)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: object) -> None:
        modes.local.anomaly, modes.local.anomaly_check_nan = self.before
        modes.settle()


def set_anomaly_enabled(enabled: bool, check_nan: bool = True) -> None:
    """Switch anomaly detection in this thread on or off.

    Raises TypeError unless both are True or False.
    """
    need_bool("set_anomaly_enabled", "enabled", 1, enabled)
    need_bool("set_anomaly_enabled", "check_nan", 2, check_nan)
    modes.set_anomaly(anomaly if enabled else None, check_nan)


def is_anomaly_enabled() -> bool:
    """Whether this thread detects anomalies."""
    return modes.local.anomaly is not None


def is_anomaly_check_nan_enabled() -> bool:
    """Whether anomaly detection in this thread also looks for NaN."""
    return modes.local.anomaly_check_nan
