"""PyTorch's names of operations below autograd, ``torch.ops.aten.mm.default``: what selective checkpointing speaks of.

Floor 3; knows the table.  An operation of it is an object to be named, compared and called, no more: nothing is
dispatched.  What programs define themselves stands in other namespaces (``library``).
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from importlib import import_module
from types import ModuleType
from typing import Any

from ..core.row import TABLE, Row
from ..core.tensor import Tensor
from .declare import COMPOSITES

#: Rows that PyTorch calls otherwise, or has among several of a name; others are ``default`` of their own name.
_NAMES = {
    "add": "add.Tensor", "add_number": "add.Tensor", "batch_norm": "native_batch_norm.default",
    "bitwise_and": "bitwise_and.Tensor", "bitwise_or": "bitwise_or.Tensor", "clamp_numbers": "clamp.default",
    "clamp_tensors": "clamp.Tensor", "compact": "clone.default", "copy": "copy_.default", "div": "div.Tensor",
    "div_number": "div.Tensor", "div_rounded": "div.Tensor_mode", "eq": "eq.Tensor",
    "flash_attention": "_scaled_dot_product_flash_attention_for_cpu.default", "fmod": "fmod.Tensor",
    "fmod_number": "fmod.Scalar", "ge": "ge.Tensor", "gt": "gt.Tensor", "index": "index.Tensor",
    "layer_norm": "native_layer_norm.default", "le": "le.Tensor", "lerp": "lerp.Tensor", "lerp_number": "lerp.Scalar",
    "log_softmax": "_log_softmax.default", "logsumexp_dim": "logsumexp.default", "lt": "lt.Tensor",
    "masked_fill": "masked_fill.Scalar", "masked_fill_tensor": "masked_fill.Tensor", "max_all": "max.default",
    "max_dim": "max.dim", "mean_dim": "mean.dim", "min_all": "min.default", "min_dim": "min.dim", "mul": "mul.Tensor",
    "mul_number": "mul.Tensor", "ne": "ne.Tensor", "nll_loss": "nll_loss_forward.default",
    "norm": "linalg_vector_norm.default", "norm_dim": "linalg_vector_norm.default", "pow": "pow.Tensor_Tensor",
    "pow_base": "pow.Scalar", "pow_number": "pow.Tensor_Scalar", "prod_all": "prod.default",
    "prod_dim": "prod.dim_int", "remainder": "remainder.Tensor", "remainder_number": "remainder.Scalar",
    "rsub": "rsub.Tensor", "rsub_number": "rsub.Scalar", "select": "select.int", "slice": "slice.Tensor",
    "softmax": "_softmax.default", "split": "split.Tensor", "squeeze_dim": "squeeze.dim",
    "squeeze_dims": "squeeze.dims", "std_dim": "std.correction", "sub": "sub.Tensor", "sub_number": "sub.Tensor",
    "sum_dim": "sum.dim_IntList", "to_copy": "_to_copy.default", "transpose": "transpose.int",
    "unbind": "unbind.int", "unsafe_view": "_unsafe_view.default", "var_dim": "var.correction", "where": "where.self",
}  # fmt: skip
_COMPARISONS = {"eq", "ge", "gt", "le", "lt", "ne"}  # those with a number are others
#: Operations that are no functions of the package: policies and packages name them, of devices that are not here too.
_ELSEWHERE = set("""
    _scaled_dot_product_cudnn_attention _scaled_dot_product_cudnn_attention_backward
    _scaled_dot_product_efficient_attention _scaled_dot_product_flash_attention
    _scaled_dot_product_flash_attention_backward _scaled_dot_product_fused_attention_overrideable _scaled_mm _grouped_mm
    sym_size sym_stride sym_numel _pin_memory alias _to_copy _conj _fft_c2c _fft_r2c _fft_c2r _local_scalar_dense
    _is_all_true _is_any_true _assert_async _assert_scalar _assert_tensor_metadata _embedding_bag _sparse_addmm
    _sparse_mm_reduce_impl _upsample_bilinear2d_aa _upsample_bicubic2d_aa convolution convolution_backward
    _scaled_dot_product_flash_attention_for_cpu_backward
    scaled_dot_product_attention detach lift_fresh""".split())
#: Words by which PyTorch tells operations of one name apart; any of them names one.
_WORDS = frozenset("""
    Tensor Scalar Tensor_Tensor Tensor_Scalar Scalar_Tensor Tensor_mode Scalar_mode int dim dims dim_int dim_IntList
    dimname dtype dtype_layout device other out stable values two self_int self_Tensor low generator start step
    start_step msg correction names ScalarOpt ScalarSelf ScalarOther names_out source_Tensor value src self using_ints
    sections memory_format Tensor_Scalar_out grad_input input_list default size like low_generator blocking
    correction_names unary_out""".split())


class OpOverload:
    """One operation: a packet's, for some kinds of arguments."""

    def __init__(self, packet: OpOverloadPacket, overload: str) -> None:
        self.overloadpacket, self._overloadname = packet, overload
        self.namespace = packet.namespace
        self.__name__ = f"{packet.__name__}.{overload}"
        self.__module__ = packet.__module__

    def name(self) -> str:
        """The name with its namespace: ``aten::mm``."""
        ending = "" if self._overloadname == "default" else f".{self._overloadname}"
        return f"{self.namespace}::{self.overloadpacket.__name__}{ending}"

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return self.overloadpacket(*args, **kwargs)

    def __str__(self) -> str:
        return f"{self.namespace}.{self.__name__}"

    def __repr__(self) -> str:
        return f"<OpOverload(op='{self.overloadpacket}', overload='{self._overloadname}')>"

    def __reduce__(self) -> Any:
        return getattr, (self.overloadpacket, self._overloadname)


class OpOverloadPacket:
    """The operations of one name, by the kinds of their arguments."""

    def __init__(self, name: str, namespace: str = "aten") -> None:
        self.__name__, self.namespace = name, namespace
        self.__module__ = f"torch._ops.{namespace}"

    def __getattr__(self, overload: str) -> OpOverload:
        if overload.startswith("__") or overload not in self.overloads() and not self.has(overload):
            raise AttributeError(f"The underlying op of '{self}' has no overload name '{overload}'")
        operation = self.__dict__[overload] = self.make(overload)
        return operation

    def make(self, overload: str) -> OpOverload:
        """The operation of this name, made when it is first wanted."""
        return OpOverload(self, overload)

    def has(self, overload: str) -> bool:
        """Whether PyTorch may have an operation that is named so."""
        return overload in _WORDS

    def overloads(self) -> list[str]:
        """The names of the operations."""
        return sorted(_overloads().get(self.__name__, {"default"}))

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        package = import_module(__name__.partition(".")[0])
        function = getattr(package, self.__name__, None) or getattr(package.Tensor, self.__name__, None)
        if function is None:
            raise NotImplementedError(f"aten.{self.__name__} can be named in glassgrad, and not be called")
        return function(*args, **kwargs)

    def __str__(self) -> str:
        return f"{self.namespace}.{self.__name__}"

    def __repr__(self) -> str:
        return f"<OpOverloadPacket(op='{self}')>"

    def __reduce__(self) -> Any:
        return getattr, (namespace(self.namespace), self.__name__)


class _OpNamespace(ModuleType):
    """The operations of a namespace, as attributes: those of the table, or those that a program defined."""

    def __init__(self, name: str) -> None:
        super().__init__(f"torch.ops.{name}")
        self.name = name

    def __getattr__(self, name: str) -> OpOverloadPacket:
        if name.startswith("__") or self.name != "aten" or not (name in _overloads() or hasattr(Tensor, name)):
            raise AttributeError(f"'_OpNamespace' '{self.name}' object has no attribute '{name}'")
        packet = self.__dict__[name] = OpOverloadPacket(name)
        return packet

    def __repr__(self) -> str:
        return f"<module 'torch.ops.{self.name}' from 'torch.ops'>"

    def __reduce__(self) -> Any:
        return namespace, (self.name,)


NAMESPACES: dict[str, _OpNamespace] = {}  # those that somebody has asked for


def namespace(name: str) -> _OpNamespace:
    """The namespace of this name; empty until somebody defines operations in it."""
    return NAMESPACES.get(name) or NAMESPACES.setdefault(name, _OpNamespace(name))


aten = namespace("aten")
_OpNamespace.__module__ = OpOverload.__module__ = OpOverloadPacket.__module__ = "torch._ops"  # as messages show them


def operation_of(row: Row, args: Sequence[Any]) -> OpOverload:
    """What PyTorch calls the operation of a row, for these arguments."""
    packet, _, overload = _NAMES.get(row.name, f"{row.name}.default").partition(".")
    if packet in _COMPARISONS and not isinstance(args[-1], Tensor):
        overload = "Scalar"
    return getattr(getattr(aten, packet), overload)  # type: ignore[no-any-return]


@functools.cache
def _overloads() -> dict[str, set[str]]:
    """For each name, those of its operations that rows are, and ``default``."""
    names = {name: {"default"} for name in (*COMPOSITES, *_ELSEWHERE)} | {name: {"Scalar"} for name in _COMPARISONS}
    for row in TABLE.values():
        packet, _, overload = _NAMES.get(row.name, f"{row.name}.default").partition(".")
        names.setdefault(packet, set()).add(overload)
    return names
