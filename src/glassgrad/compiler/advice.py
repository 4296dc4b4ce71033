"""Where a program ends before its function does, and what to do about it."""

from __future__ import annotations

import os
import re

from ..ground.names import user_frame

_ADVICE = (
    (r"in more than \d+ ways", "give a number that changes as a tensor, and pad batches to one size"),
    (r"(item|truth|__float__|__int__|__index__|tolist|__format__|numpy|__array__)\(\)|its value is asked for",
     "give the tensor back, and ask for its value outside; decide with torch.where"),
    (r"(nonzero|unique|masked_select|getitem)\(\)", "keep the sizes: weigh with the mask, torch.where, masked_fill"),
    (r"NumPy sees", "give it a copy: torch.tensor(array) in place of torch.from_numpy(array)"),
    (r"in place of a number", "give sizes and places as Python numbers"),
    (r"manual_seed|rng_state", "seed outside of the function"),
    (r"a hook waits", "register hooks on modules, which run in Python anyway"),
    (r"a tensor that has a way back", "run backward within the function, or give it back detached"),
    (r"no runs of elementwise operations", "promise pure=True, which replays the whole"),
)  # fmt: skip


def advice(reason: str) -> str:
    """A sentence of advice; empty where there is none."""
    return next((text for pattern, text in _ADVICE if re.search(pattern, reason)), "")


def place() -> str:
    """The line of the program that runs, outside of the package."""
    frame = user_frame()
    return "" if frame is None else f" at {os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}"
