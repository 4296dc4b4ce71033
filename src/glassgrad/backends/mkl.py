"""The ``torch.backends.mkl`` namespace: NumPy brings its own linear algebra library."""

from __future__ import annotations

from types import TracebackType

VERBOSE_OFF, VERBOSE_ON = 0, 1


def is_available() -> bool:
    """False: matrix products go to the library that NumPy was built with."""
    return False


class verbose:  # noqa: N801  PyTorch's name
    """A block in which the library would print; without effect."""

    def __init__(self, enable: int) -> None:
        self.enable = enable

    def __enter__(self) -> verbose:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        return None
