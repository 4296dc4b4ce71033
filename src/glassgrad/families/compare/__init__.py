"""Comparisons, logic, and choices by them."""
