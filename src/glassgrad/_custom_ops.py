"""Roof: the ``torch._custom_ops`` namespace: the former name of ``torch.library``."""

from .library import custom_op, get_ctx, impl, impl_abstract

__all__ = ["custom_op", "get_ctx", "impl", "impl_abstract"]
