"""The ``torch.backends.openmp`` namespace."""


def is_available() -> bool:
    """False: threads are those of NumPy's linear algebra library."""
    return False
