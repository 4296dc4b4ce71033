"""Stands where torchviz would: ``make_dot`` is glassgrad's, which needs no Graphviz."""

import sys

import torch  # noqa: F401 - from here on glassgrad's torchviz is found first

sys.modules.pop("torchviz", None)
import torchviz  # noqa: E402, F401
