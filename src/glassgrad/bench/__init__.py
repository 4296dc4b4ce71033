"""Roof: ``glassgrad bench``; every row of the goals beside PyTorch and other rivals, in turns."""
