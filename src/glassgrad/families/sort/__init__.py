"""Sorting, ranking, searching, counting."""
