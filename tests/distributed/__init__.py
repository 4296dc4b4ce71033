"""Tests of glassgrad.distributed and of what trains in several processes."""
