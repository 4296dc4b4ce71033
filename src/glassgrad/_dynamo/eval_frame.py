"""The ``torch._dynamo.eval_frame`` names that scripts use."""

from ..compiler.api import OptimizedModule, disable

__all__ = ["OptimizedModule", "disable"]
