"""The ``torch._dynamo.exc`` names that scripts use."""

from ..compiler.errors import FailOnRecompileLimitHit, InvalidBackend, TorchDynamoException, Unsupported

__all__ = ["FailOnRecompileLimitHit", "InvalidBackend", "TorchDynamoException", "Unsupported"]
