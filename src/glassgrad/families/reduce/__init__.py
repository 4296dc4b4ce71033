"""Sums, products, extremes and statistics over dimensions."""
