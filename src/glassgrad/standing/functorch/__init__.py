"""Stands where PyTorch's ``functorch`` would: the transforms of ``torch.func``."""

import sys

import torch  # noqa: F401 - from here on glassgrad's functorch is found first

sys.modules.pop("functorch", None)
import functorch  # noqa: E402, F401
