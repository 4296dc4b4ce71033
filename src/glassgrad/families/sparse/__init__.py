"""Sparse tensors: coordinates and rows."""
