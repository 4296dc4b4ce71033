"""The ``torch.jit.frontend`` namespace: errors of a compiler that is not here."""


class NotSupportedError(Exception):
    """A program that TorchScript would not take."""


class FrontendError(Exception):
    """A program that could not be read."""


class UnsupportedNodeError(NotSupportedError):
    """A piece of Python that TorchScript would not take."""
