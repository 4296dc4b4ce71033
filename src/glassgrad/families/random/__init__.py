"""Draws from distributions, bit for bit those of PyTorch's generator on a CPU."""
