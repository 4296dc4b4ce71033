"""The names under ``torch._C`` by which code that ``torch.fx`` prints calls functions: ``torch._C._nn.linear``."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from ..ground.generator import Generator as Generator
from ..ground.importing import load
from ..ops.torch_function import (
    DisableTorchFunctionSubclass as DisableTorchFunctionSubclass,
)
from ..ops.torch_function import (
    _disabled_torch_function_impl as _disabled_torch_function_impl,
)

_HOME = __name__.partition(".")[0]


class _Space(SimpleNamespace):
    """The functions of one of our namespaces, by PyTorch's inner names: perhaps with a prefix."""

    def __init__(self, home: str, prefix: str = "") -> None:
        super().__init__(_home=home, _prefix=prefix)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or not name.startswith(self._prefix):
            raise AttributeError(name)
        return getattr(load(f"{_HOME}.{self._home}"), name[len(self._prefix) :])


_nn = _Space("nn.functional")
_linalg = _Space("linalg", "linalg_")
_special = _Space("special", "special_")
_fft = _Space("fft", "fft_")
