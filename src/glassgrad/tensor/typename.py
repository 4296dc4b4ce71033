"""How messages call a thing: the name PyTorch gives to the type of a tensor, to a class, to an object."""

from __future__ import annotations

from typing import Any

from ..core.tensor import Tensor
from ..ground.names import torch_name


def typename(obj: Any, /) -> str:
    """The name of the type of an object: ``torch.FloatTensor`` for a tensor, a class's or a function's own name.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.typename.html
    """
    if isinstance(obj, Tensor):
        return f"torch.{obj.dtype.scalar_name}Tensor"
    home = getattr(obj, "__module__", "") or ""
    name = getattr(obj, "__qualname__", None) or getattr(obj, "__name__", None)
    if name is None:
        home, name = type(obj).__module__ or "", type(obj).__qualname__
    if home in ("", "builtins"):
        return str(name)
    return ".".join(torch_name(home, name))
