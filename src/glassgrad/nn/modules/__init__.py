"""Layers: what modules are made of is here, the layers themselves are in the families."""

from __future__ import annotations

from ... import families
from ...ground.later import later
from ...ops.built import unpublished
from ...ops.catalogue import LAYERS

_LAYERS = {f"{families.__name__}.{file}": " ".join(files.values()) for file, files in LAYERS.items()}
_HERE = {
    ".container": "Container ModuleDict ModuleList Sequential",
    ".module": "Module",
    ".parameters": "ParameterDict ParameterList",
}
_FILES = "container lazy module utils".split() + [file for files in LAYERS.values() for file in files]

__getattr__, __dir__ = later(
    globals(), "torch.nn.modules", _LAYERS | _HERE, modules=" ".join(_FILES), hint=unpublished, pages="torch.nn"
)
__all__ = sorted(name for names in (_LAYERS | _HERE).values() for name in names.split())
