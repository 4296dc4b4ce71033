"""The catalogue's functions as attributes: how distributions call ``where``, ``stack`` or ``empty``."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from ..ops.catalogue import FUNCTIONS

functions: Any = SimpleNamespace(**FUNCTIONS)
