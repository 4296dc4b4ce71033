"""Networks: modules, their parameters, and the functions they call. Source: https://docs.pytorch.org/docs/stable/nn.html"""

from . import functional, init, modules, parameter, utils
from .modules import *  # noqa: F403
from .modules import __all__ as _layers
from .parameter import Buffer, Parameter

__all__ = [*_layers, "Buffer", "Parameter", "functional", "init", "modules", "parameter", "utils"]
