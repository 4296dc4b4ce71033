"""Whether numbers that differ say anything: not where PyTorch's own move as far once what they come of is rounded.

What is asked of a program that differs, in place of a bound on how much rounding may grow in it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.torch_reference import torch

if TYPE_CHECKING:
    from tests.property.random_programs import Run

SHAKES = 12  # programs whose beginnings differ in their last digits
ROOM = 2.0  # how many times as far ours may be: its roundings happen in many places
NOISE = 100.0  # the same where no digit stays: such as what a rounding is divided by


def numbers(tensor: Any) -> Any:
    """The numbers of a tensor of either engine; a copy, as memory that NumPy has seen does not grow."""
    tensor = tensor.detach().clone().resolve_conj().resolve_neg()
    if str(tensor.dtype) == "torch.bfloat16":
        tensor = tensor.float()
    return tensor.numpy()


def shake(run: Run, number: int, known: set[int], rounded: str) -> None:
    """Move each new leaf of a program, and each parameter of its new modules, by about a rounding of it.

    Where the program computes in the dtype ``rounded`` whatever its leaves are, one of that: it sees none that is less.
    """
    leaves = [value for value in run.pool.values() if value.is_leaf]
    for value in leaves:
        if id(value) in known or not value.numel() or value.is_sparse or not value.dtype.is_floating_point:
            continue
        known.add(id(value))
        chance = np.random.default_rng([number, len(known)])
        memory = value.data.as_strided((value.untyped_storage().nbytes() // value.element_size(),), (1,), 0)
        moves = torch.from_numpy(chance.choice([-1.0, 0.0, 1.0], tuple(memory.shape)))
        memory.copy_(memory.double() * (1 + moves * torch.finfo(getattr(torch, rounded, value.dtype)).eps))


def ended(make: Callable[[Any], Run], engine: Any, lines: list[str], number: int = 0, rounded: str = "") -> Run:
    """A program that has run; where there is a number, one that began a little otherwise."""
    run, known = make(engine), set[int]()
    for line in lines:
        run.do(line)
        if number:
            shake(run, number, known, rounded)
    return run


def value_of(run: Run, found: tuple[str, str]) -> Any:
    """The numbers that a difference is about; None where there are none."""
    name = found[1].partition(": ")[0]
    tensor = run.pool.get(name.removesuffix(".grad") if found[0] == "numbers.grad" else name)
    if found[0] == "numbers.grad" and tensor is not None:
        tensor = tensor.grad
    return None if tensor is None else numbers(tensor.to_dense() if tensor.is_sparse else tensor)


def is_rounding(
    make: Callable[[Any], Run], ours: Any, lines: list[str], found: tuple[str, str], rounded: str = ""
) -> bool:
    """Whether PyTorch's results move as far as ours are away where a program begins a rounding away, or are off."""
    first = ended(make, torch, lines)
    shaken = [ended(make, torch, lines, number, rounded) for number in range(1, SHAKES + 1)]
    if found[0] == "results":  # how many steps a search takes
        return any(run.pool.keys() != first.pool.keys() for run in shaken)
    wanted, actual = value_of(first, found), value_of(ended(make, ours, lines), found)
    if wanted is None or actual is None or wanted.shape != actual.shape:
        return False
    return moves_as_far(shaken, found, wanted, actual) or is_nearer(make, lines, found, wanted, actual)


def moves_as_far(shaken: list[Run], found: tuple[str, str], wanted: Any, actual: Any) -> bool:
    """Whether PyTorch's numbers move as far in one of the programs that began otherwise."""
    others = [value for run in shaken if (value := value_of(run, found)) is not None and value.shape == wanted.shape]
    with np.errstate(all="ignore"):
        moved = max((_gap(wanted, value) for value in others), default=0.0)
        room = NOISE if moved >= abs(wanted[np.isfinite(wanted)]).max(initial=0.0) / 2 else ROOM
        return _gap(wanted, actual) <= room * moved


def is_nearer(make: Callable[[Any], Run], lines: list[str], found: tuple[str, str], wanted: Any, actual: Any) -> bool:
    """Whether numbers of few digits are nearer than PyTorch's, which are off, to what it gives with more digits."""
    wide = [re.sub(r"(\.to\(torch\.(bfloat16|float32)\))", r"\1.to(torch.float64)", line) for line in lines]
    wide = [re.sub(r"dtype=torch\.(bfloat16|float16|float32)\b", "dtype=torch.float64", line) for line in wide]
    truth = value_of(ended(make, torch, wide), found) if wide != lines else None
    if truth is None or truth.shape != wanted.shape:
        return False
    with np.errstate(all="ignore"):
        theirs = _gap(truth, wanted)
        return _gap(truth, actual) <= theirs <= ROOM * _gap(wanted, actual)


def _gap(first: Any, second: Any) -> float:
    """How far two arrays are apart at most; infinity where one is finite and the other is not."""
    if first.dtype.kind not in "fc":
        return float("inf") if (first != second).any() else 0.0
    finite = np.isfinite(first)
    if (finite != np.isfinite(second)).any():
        return float("inf")
    return float(abs(first[finite].astype(complex) - second[finite]).max(initial=0.0))
