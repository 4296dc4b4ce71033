"""What to do about the reasons why a function runs as it is written."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

_ADVICE = (
    (r"^it changes .*(loss|total|sum|history|list|log)", "give it back, and keep or add it up outside the function"),
    (r"^(print|.*\.(write|info|debug|warning)|input|open)\(\) is called",
     "give back what is told, and tell it outside: if i % 100 == 0: print(loss.item())"),
    (r"small whole number", "give back the tensor, and call .item() outside"),
    (r"to Python", "give back the tensor and decide outside, or decide with torch.where"),
    (r"sizes of what .* hang on", "keep the sizes: weigh with the mask, torch.where, masked_fill or ignore_index"),
    (r"^it changes ", "give back what is new, and keep it outside the function"),
    (r"ndarray|NumPy array", "give it as a tensor, or as Python numbers"),
    (r"random numbers? of NumPy|Random\.", "draw with torch.rand, or give what is drawn as an argument"),
    (r"^manual_seed", "seed outside the function"),
    (r"catches errors", "catch them around the call"),
    (r"differ in shapes or Python values$", "pad batches to one size, and drop the last, smaller one"),
)  # fmt: skip


def advice(reason: str) -> str:
    """A sentence of advice; empty where there is none."""
    return next((text for pattern, text in _ADVICE if re.search(pattern, reason)), "")


def changing(numbers: Sequence[tuple[Any, ...]], args: Sequence[Any], kwargs: dict[str, Any], code: Any) -> str:
    """The arguments that were another number in each program, in words; empty where there are none."""
    named = list(code.co_varnames[: code.co_argcount]) if code is not None else []
    if len(named) > len(args) and named[:1] == ["self"]:
        named = named[1:]
    names = [*(named[n] if n < len(named) else f"number {n}" for n in range(len(args))), *kwargs]
    if any(len(row) != len(names) for row in numbers):
        return ""
    found = [
        name
        for name, column in zip(names, zip(*numbers, strict=True), strict=True)
        if len({value for value in column if value is not None}) > len(numbers) // 2
    ]
    if not found:
        return ""
    told = ", ".join(found)
    return f": {told} was another number in each; give it as a tensor, torch.tensor({found[0]}), or leave it outside"
