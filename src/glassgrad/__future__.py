"""Roof: the ``torch.__future__`` namespace: how a module converts its parameters, as flags."""

from __future__ import annotations

from .nn.modules.conversion import flags as _flags


def set_overwrite_module_params_on_conversion(value: bool) -> None:
    """Whether conversion makes new Parameters, in place of changing the data of those there are."""
    _flags.overwrite = value


def get_overwrite_module_params_on_conversion() -> bool:
    """Whether conversion makes new Parameters."""
    return _flags.overwrite


def set_swap_module_params_on_conversion(value: bool) -> None:
    """Whether conversion and ``load_state_dict`` exchange Parameters with new ones by ``swap_tensors``."""
    _flags.swap = value


def get_swap_module_params_on_conversion() -> bool:
    """Whether conversion and ``load_state_dict`` exchange Parameters with new ones."""
    return _flags.swap
