"""Rows: kernel and rules, nothing else; one file for each family of the mathematics."""

from ...fast import generate as _generate  # noqa: F401  rows need their callers made
