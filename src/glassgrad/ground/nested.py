"""Nested tuples, lists and dictionaries, as arguments and results are: what is in them, and the same with others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def mapped(tree: Any, change: Callable[[Any], Any]) -> Any:
    """The same with every leaf changed; subclasses of dictionaries are leaves."""
    if isinstance(tree, tuple):
        pieces = [mapped(piece, change) for piece in tree]
        return tree._make(pieces) if hasattr(tree, "_make") else type(tree)(pieces)  # type: ignore[attr-defined,call-arg]
    if isinstance(tree, list):
        return type(tree)([mapped(piece, change) for piece in tree])
    if type(tree) is dict:
        return {key: mapped(piece, change) for key, piece in tree.items()}
    return change(tree)


def frozen(tree: Any, token: Callable[[Any], Any]) -> Any:
    """Tuples of what ``token`` makes of the leaves, to compare."""
    if isinstance(tree, (tuple, list)):
        return type(tree), tuple([frozen(piece, token) for piece in tree])
    if isinstance(tree, dict):
        return dict, tuple([(key, frozen(piece, token)) for key, piece in tree.items()])
    return token(tree)


def leaves(tree: Any, kind: Any) -> list[Any]:
    """What is of a kind, in order; in slices too."""
    these: list[Any] = []
    waiting = [tree]
    while waiting:
        piece = waiting.pop()
        if isinstance(piece, kind):
            these.append(piece)
        elif isinstance(piece, (tuple, list)):
            waiting.extend(reversed(piece))
        elif isinstance(piece, dict):
            waiting.extend(reversed(list(piece.values())))
        elif isinstance(piece, slice):
            waiting.extend((piece.step, piece.stop, piece.start))
    return these
