"""Factorisations, inverses, determinants, eigenvalues, and the equations solved with them."""
