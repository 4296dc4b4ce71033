"""Benchmarks beside PyTorch and other engines: ``python -m benchmarks``; single operations; the explorer."""
