"""Roof: the ``torch._tensor_str`` namespace: how tensors are printed, for packages that print their own."""

from __future__ import annotations

from typing import Any

from .ground.format import _contents, _options, printoptions, set_printoptions, with_suffixes

__all__ = ["PRINT_OPTS", "printoptions", "set_printoptions"]

PRINT_OPTS = _options


def _tensor_str(self: Any, indent: int) -> str:
    """The numbers of a tensor, with lines indented so far."""
    return _contents(self.detach().numpy(), indent)


def _add_suffixes(tensor_str: str, suffixes: list[str], indent: int, force_newline: bool) -> str:
    """A tensor's text with what is said after the numbers, and the closing parenthesis."""
    return with_suffixes(tensor_str, suffixes, indent, force_newline)


def _str_intern(inp: Any, *, tensor_contents: str | None = None) -> str:
    """The text of a tensor; its numbers are written as they are given."""
    return repr(inp) if tensor_contents is None else f"tensor({tensor_contents})"


def _str(self: Any, *, tensor_contents: str | None = None) -> str:
    """The text of a tensor."""
    return _str_intern(self, tensor_contents=tensor_contents)
