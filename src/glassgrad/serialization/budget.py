"""What a file of a stranger may ask for: memory and work, counted for one load against the bytes that the file holds.

An honest pickle spells out whatever it builds, so each of its bytes pays for ``PICKLED`` bytes of objects; each byte of
a storage pays for ``STORED`` bytes of reading and copying. What asks for more than that and ``FREE`` bytes is refused.
Opcodes that build no more than their own length pays for are not counted at all.
"""

from __future__ import annotations

from pickle import UnpicklingError

from .options import here

PICKLED = 64
STORED = 8
FREE = 1 << 20
CALL = 256  # bytes of what a call gives, such as a tensor, besides its content
ITEM = 64  # bytes of an item of a dictionary or set


class Budget:
    """What is left of it; ``spend`` raises UnpicklingError where that is too little."""

    def __init__(self) -> None:
        self.left = FREE

    def earn(self, amount: int) -> None:
        """Count what the file holds."""
        self.left += amount

    def spend(self, amount: int) -> None:
        """Count what is asked for, before it is done."""
        self.left -= amount
        if self.left < 0:
            raise UnpicklingError("the file asks for far more memory or work than its bytes stand for")


def earn(amount: int) -> None:
    """Count bytes that a storage holds; of files that are trusted nothing is counted."""
    if here.budget is not None:
        here.budget.earn(STORED * amount)


def spend(amount: int) -> None:
    """Count bytes that are made or walked; UnpicklingError where nothing in the file stands for them."""
    if here.budget is not None:
        here.budget.spend(amount)
