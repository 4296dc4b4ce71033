"""The ``torch.nn.functional`` namespace: what the families publish for it, fetched when it is first wanted."""

from __future__ import annotations

from .. import families as _families
from ..ground import later as _later
from ..ops.catalogue import FUNCTIONAL as _FILES

__getattr__, __dir__ = _later.later(
    globals(),
    "torch.nn.functional",
    {f"{_families.__name__}.{file}": names for file, names in _FILES.items()},
    often=True,
    pages="torch.nn.functional",
)
__all__ = sorted(name for names in _FILES.values() for name, _ in _later.published(names))
