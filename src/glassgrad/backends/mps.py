"""The ``torch.backends.mps`` namespace: Apple's GPU is not used."""


def is_available() -> bool:
    """False."""
    return False


def is_built() -> bool:
    """False."""
    return False


def is_macos13_or_newer(minor: int = 0) -> bool:
    """False."""
    return False


is_macos_or_newer = is_macos13_or_newer
