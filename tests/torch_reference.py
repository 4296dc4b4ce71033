"""The yardstick: torch, imported where a comparison needs it."""

import os

import pytest

if os.environ.get("GLASSGRAD_REQUIRE_TORCH"):
    import torch
else:
    torch = pytest.importorskip("torch")

__all__ = ["torch"]
