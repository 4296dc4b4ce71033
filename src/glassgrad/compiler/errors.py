"""What goes wrong about compiling: the classes of ``torch._dynamo.exc`` that scripts catch."""

from __future__ import annotations


class TorchDynamoException(RuntimeError):
    """The base of what ``compile`` raises itself."""


class Unsupported(TorchDynamoException):
    """A function that was to be captured as a whole, and cannot be; ``msg`` says why."""

    def __init__(self, msg: str) -> None:
        super().__init__(msg)
        self.msg = msg


class InvalidBackend(TorchDynamoException):
    """A backend that nobody registered."""

    def __init__(self, name: str) -> None:
        super().__init__(f"Invalid backend: {name!r}, see `torch._dynamo.list_backends()` for available backends.")

    def __reduce__(self) -> tuple[type[RuntimeError], tuple[str, ...]]:
        return TorchDynamoException, self.args


class FailOnRecompileLimitHit(Exception):  # noqa: N818  PyTorch's name
    """A function that must be captured as a whole was called in more ways than it may have programs."""


for _cls in (TorchDynamoException, Unsupported, InvalidBackend, FailOnRecompileLimitHit):
    _cls.__module__ = "glassgrad._dynamo.exc"
