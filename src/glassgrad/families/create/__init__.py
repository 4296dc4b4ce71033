"""Tensors out of Python's numbers, out of nothing, out of ranges, and out of each other."""
