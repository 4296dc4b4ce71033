"""When a file of compiled kernels is loaded: counts of the elements that it was asked to serve; knows NumPy only.

A kernel takes seconds to compile, and gains some nanoseconds with each element. Compiling pays from the moment at which
NumPy has taken so much longer as compiling takes: whoever changes over then has lost at most as much again as by the
best choice in hindsight, be the program short or long.
Source: A. R. Karlin, M. S. Manasse, L. Rudolph, D. D. Sleator (1988), "Competitive snoopy caching".

Elements are counted and not seconds, so the same program changes over at the same call in every run, whatever else the
machine does and whatever earlier runs have left on disk.  At a quarter of them another process begins to compile
(``ahead.py``), so that this one need not wait.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from . import ahead

_M = 1_000_000
#: For each file the elements that it must have been asked for: seconds to compile it, over the gain with an element, as
#: ``benchmarks/ledger.py`` measures both, rounded; three times that, as a script's arrays are smaller than the ledger's
#: and gain less: whole scripts of 200 steps showed it. Who serves rows of products gains more with an
#: element. Activations and products of a GPT 64 wide gain 0.3 and 0.2 ms a step: at less than this, 2,000 steps with an
#: empty cache took 5 s longer for nothing.
WORTH: dict[str, int] = {
    "activation": 4_500 * _M, "arithmetic": 300 * _M, "attention": 6_000 * _M, "batchnorm": 9_000 * _M,
    "convolution": 2_400 * _M, "elementary": 900 * _M, "elementwise": 3_000 * _M, "linalg": 150 * _M,
    "matrix": 12_000 * _M, "norm": 3_000 * _M, "optimizer": 3_000 * _M, "random": 600 * _M,
    "recurrent": 180 * _M, "reduce": 3_000 * _M, "scan": 600 * _M, "scatter": 900 * _M, "softmax": 1_500 * _M,
    "sort": 150 * _M, "special": 300 * _M,
}  # fmt: skip
#: What a call of fewer elements counts as: about so many gain as much as there is in sparing NumPy's calls.
_CALL = 4096
_asked: dict[str, int] = {}


def has(name: str) -> bool:
    """Whether the file of kernels of that name has earned to be loaded."""
    return _asked.get(name, 0) >= WORTH.get(name, 0)


def by_elements(name: str, elements: int) -> bool:
    """Whether it has with these elements, which count."""
    before = _asked.get(name, 0)
    now = _asked[name] = before + elements
    worth = WORTH.get(name, 0)
    if now < worth:
        if before < worth >> 2 <= now:
            ahead.begin(name)
        return False
    ahead.wait(name)
    return True


def by(name: str, arguments: Iterable[Any], settings: Mapping[str, Any]) -> bool:
    """Whether it has with a call of one of its functions, whose arrays count."""
    elements = _elements(arguments)
    if settings:
        elements += _elements(settings.values())
    return by_elements(name, elements if elements > _CALL else _CALL)


def _elements(values: Iterable[Any]) -> int:
    total = 0
    for value in values:
        if isinstance(value, np.ndarray):
            total += value.size
        elif isinstance(value, (list, tuple)):
            total += _elements(value)
    return total
