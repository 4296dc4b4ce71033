"""Copies in other types and layouts."""
