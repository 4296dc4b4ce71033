"""Programs as loops that Numba compiles: loaded only where Numba is installed."""
