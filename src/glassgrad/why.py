"""``import glassgrad.why``: from here on the program is watched, and what fails is answered with cause and line.

With ``pytest -p glassgrad.why`` it is each test; ``LightningCallback`` and ``TrainerCallback`` do it for each fit of
Lightning and of Hugging Face's Trainer. ``glassgrad why SCRIPT`` does it for a script that says nothing of it.
"""

from typing import Any

from .watch.hosts import *  # noqa: F403 - the hooks of a pytest plugin
from .watch.hosts import CALLBACKS, THIS, callback

THIS.arm()


def __getattr__(name: str) -> Any:
    if name in CALLBACKS:
        return callback(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
