"""Stands where PyTorch would: whoever imports it gets glassgrad, and so does all of this process from then on."""

import os
import sys
from importlib.util import find_spec

if find_spec("glassgrad") is not None:
    from glassgrad.torch_alias import install

    install()
else:  # PYTHONPATH has led another Python here, which may have a PyTorch of its own
    _here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    sys.path[:] = [folder for folder in sys.path if os.path.abspath(folder) != _here]
    del sys.modules["torch"]
    import torch  # noqa: F401
