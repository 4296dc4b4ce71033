"""The ``torch.nn.functional`` namespace: what the families publish for it, fetched when it is first wanted."""

from __future__ import annotations

from .. import families
from ..ground.later import later, published
from ..ops.catalogue import FUNCTIONAL

__getattr__, __dir__ = later(
    globals(), "torch.nn.functional", {f"{families.__name__}.{file}": names for file, names in FUNCTIONAL.items()}
)
__all__ = sorted(name for names in FUNCTIONAL.values() for name, _ in published(names))
