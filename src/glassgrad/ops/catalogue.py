"""Imports every file of the catalogue, so that the table is whole, and binds it to Tensor."""

from __future__ import annotations

import importlib
import pkgutil

from . import bind, composite, primitive

for package in (primitive, composite):
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"{package.__name__}.{module.name}")

bind.bind()
FUNCTIONS = bind.functions()
