"""Tests of glassgrad.multiprocessing."""
