"""Sums, products, quotients, powers and remainders, elementwise."""
