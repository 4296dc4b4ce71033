"""Kernels that Numba compiles: loaded by ``kernels/compiled.py``, and only where Numba is installed."""
