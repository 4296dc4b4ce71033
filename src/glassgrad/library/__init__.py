"""The ``torch.library`` namespace: operations that a program defines, with their derivatives and their shapes.

Source: https://docs.pytorch.org/docs/stable/library.html
"""

from .check import opcheck
from .custom import CustomOpDef, custom_op, triton_op, wrap_triton
from .define import (
    Library,
    define,
    fallthrough_kernel,
    impl,
    impl_abstract,
    register_autocast,
    register_autograd,
    register_fake,
    register_kernel,
    register_torch_dispatch,
    register_vmap,
)
from .operators import FakeImplCtx, get_ctx
from .schema import infer_schema

__all__ = [
    "CustomOpDef", "FakeImplCtx", "Library", "custom_op", "define", "fallthrough_kernel", "get_ctx", "impl",
    "impl_abstract", "infer_schema", "opcheck", "register_autocast", "register_autograd", "register_fake",
    "register_kernel", "register_torch_dispatch", "register_vmap", "triton_op", "wrap_triton",
]  # fmt: skip
