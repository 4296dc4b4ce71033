"""Benchmarks side by side with PyTorch, in one process, in pairs: ``python -m benchmarks``."""
