"""Benchmarks side by side with PyTorch and other engines: ``python -m benchmarks``; the code is glassgrad.bench."""
