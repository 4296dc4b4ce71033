"""Functions of devices that are not there: each refuses, in the words PyTorch has for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn


def refusal(name: str, error: type[Exception], words: str) -> Callable[..., NoReturn]:
    """A function called ``name`` that raises ``error(words)`` whatever it is given."""

    def refused(*args: object, **kwargs: object) -> NoReturn:
        raise error(words)

    refused.__name__ = refused.__qualname__ = name
    refused.__doc__ = "Refused: there is no such device."
    return refused
