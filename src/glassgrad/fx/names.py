"""The names by which printed code calls functions and types: PyTorch's, whichever module of ours has them."""

from __future__ import annotations

import builtins
import functools
import inspect
import typing
from importlib import import_module
from types import FunctionType, GenericAlias
from typing import Any

from ..core.row import TABLE
from ..core.tensor import Tensor
from ..ground.later import whole
from ..nn import functional
from ..ops.bind import table_functions
from ..ops.catalogue import FUNCTIONS
from ..ops.declare import COMPOSITES

HOME = __name__.partition(".")[0]

#: Functions of ``nn.functional`` that PyTorch wrote in C++: their calls are kept as they were written.
_NATIVE = """
avg_pool2d avg_pool3d hardtanh_ elu_ leaky_relu_ logsigmoid gelu softplus softshrink linear one_hot
scaled_dot_product_attention
""".split()
_NATIVE_PUBLIC = """
conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d conv_tbc avg_pool1d adaptive_avg_pool1d
threshold_ relu_ selu_ celu_ prelu rrelu_ hardshrink bilinear pixel_shuffle pixel_unshuffle channel_shuffle
native_channel_shuffle pairwise_distance pdist cosine_similarity
""".split()

#: How many arguments of the others stand first, without their names; the rest follow by name, defaults too.
_LEADING = {
    **dict.fromkeys(
        """dropout alpha_dropout dropout1d dropout2d dropout3d feature_alpha_dropout relu glu hardtanh relu6 elu selu
        celu leaky_relu rrelu tanhshrink softsign softmin softmax gumbel_softmax log_softmax hardsigmoid silu mish
        hardswish instance_norm interpolate normalize""".split(), 1),
    **dict.fromkeys(
        """max_unpool1d max_unpool2d max_unpool3d lp_pool1d lp_pool2d lp_pool3d threshold batch_norm gaussian_nll_loss
        linear_cross_entropy margin_ranking_loss cosine_embedding_loss triplet_margin_loss
        triplet_margin_with_distance_loss fold""".split(), 3),
    "ctc_loss": 4, "multi_head_attention_forward": 13,
}  # fmt: skip

#: The same of functions that PyTorch keeps in ``torch.functional``.
_FUNCTIONAL = {
    "split": 2, "norm": 1, "cdist": 2, "tensordot": 2, "stft": 2, "unravel_index": 1, "einsum": None, "meshgrid": None,
    "broadcast_tensors": None, "cartesian_prod": None, "block_diag": None, "atleast_1d": None, "atleast_2d": None,
    "atleast_3d": None, "chain_matmul": None, "unique": None, "unique_consecutive": None, "lu": None,
}  # fmt: skip
_POOLS = {f"{kind}max_pool{n}d" for kind in ("", "adaptive_", "fractional_") for n in (1, 2, 3)}
_OWN_IN_PYTHON = {"celu", "selu", "threshold", "rrelu"}

#: Functions that ask about an object, or take none of the values that are traced.
_NOT_TRACED = {"is_tensor", "is_storage", "tensor", "as_tensor", "asarray", "from_numpy", "manual_seed", "from_dlpack"}


@functools.cache
def _tables() -> tuple[dict[int, str], list[Any]]:
    """The printed names of functions by identity, and the functions themselves, which so keep it."""
    names: dict[int, str] = {}
    kept: list[Any] = []

    def note(function: Any, name: str) -> None:
        if type(function) is FunctionType and id(function) not in names:
            names[id(function)] = name
            kept.append(function)

    for name, function in whole(functional).items():
        if type(function) is FunctionType and not name.startswith("_"):
            if name in _NATIVE:
                note(function, f"torch._C._nn.{name}")
            elif name in _NATIVE_PUBLIC or (FUNCTIONS.get(name) is function and name not in _OWN_IN_PYTHON):
                note(function, f"torch.{name}")
            else:
                note(function, f"torch.nn.functional.{name}")
    for name, function in FUNCTIONS.items():
        if name not in _NOT_TRACED:
            note(function, f"torch.functional.{name}" if name in _FUNCTIONAL else f"torch.{name}")
    for space in ("linalg", "special", "fft"):
        try:
            module = import_module(f"{HOME}.{space}")
        except ModuleNotFoundError:
            continue
        for name, function in vars(module).items():
            if not name.startswith("_"):
                note(function, f"torch._C._{space}.{space}_{name}")
    return names, kept


@functools.cache
def methods() -> dict[int, str]:
    """The names of operators' functions by identity, as methods of a tensor."""
    return {id(row.operate): row.name for row in TABLE.values() if row.operator is not None} | {
        id(made.function): name.strip("_")
        for name, made in COMPOSITES.items()
        if made.operator is not None or (name.startswith("__") and id(made.function) not in _tables()[0])
    }


def traced_functions() -> list[Any]:
    """The functions whose calls with traced values become nodes."""
    operators = [row.operate for row in TABLE.values() if row.operator is not None]
    made = [piece.function for piece in COMPOSITES.values() if id(piece.function) in methods()]
    others = [f for f in vars(Tensor).values() if type(f) is FunctionType and id(f) in _method_names()]
    return [*_tables()[1], *operators, *made, *others]


@functools.cache
def _method_names() -> dict[int, str]:
    """The names of functions that are methods only."""
    heard = {id(function) for function in table_functions()}
    names = _tables()[0]
    return {
        id(function): name
        for name, function in vars(Tensor).items()
        if type(function) is FunctionType and id(function) in heard and id(function) not in names
        and not name.startswith("__")
    }  # fmt: skip


def method_name(function: Any) -> str | None:
    """The name of a function that is a method of tensors, or stands behind an operator; None of others."""
    key = id(function)
    return methods().get(key) or _method_names().get(key)


def is_ours(obj: Any) -> bool:
    """Whether a function or type belongs to this package."""
    if id(obj) in _tables()[0]:
        return True
    module = getattr(obj, "__module__", None)
    return isinstance(module, str) and module.partition(".")[0] == HOME


def qualified(function: Any) -> str:
    """The name by which printed code calls a function."""
    known = _tables()[0].get(id(function))
    if known is not None:
        return known
    name = function.__name__
    if getattr(builtins, name, None) is function:
        return str(name)
    if isinstance(function, type) and is_ours(function):
        return _of_type(function)
    if name == "<lambda>":
        try:
            name = inspect.getsource(function).split("=")[0].strip()
        except Exception as error:
            raise RuntimeError("Unable to represent lambda") from error
    module = function.__module__
    if module is None:
        raise RuntimeError(f"cannot find module for {function}")
    if module.partition(".")[0] == HOME:
        module = "torch" + module[len(HOME) :]
        if getattr(import_module(HOME), name, None) is function:
            module = "torch"
    return f"{module}.{name}"


def _of_type(kind: type) -> str:
    """The public name of one of our types."""
    for space in ("", ".nn"):
        if getattr(import_module(HOME + space), kind.__name__, None) is kind:
            return f"torch{space}.{kind.__name__}"
    return "torch" + kind.__module__[len(HOME) :] + "." + kind.__qualname__


def type_repr(obj: Any) -> str:
    """A type as printed code and graphs name it."""
    if isinstance(obj, type) and not isinstance(obj, GenericAlias):
        if obj.__module__ == "builtins":
            return obj.__qualname__
        return _of_type(obj) if is_ours(obj) else f"{obj.__module__}.{obj.__qualname__}"
    if obj is ...:
        return "..."
    if isinstance(obj, FunctionType):
        return obj.__name__
    text = repr(obj)
    if typing.get_args(obj) and HOME in text:
        for inner in typing.get_args(obj):
            if isinstance(inner, type) and is_ours(inner):
                text = text.replace(f"{inner.__module__}.{inner.__qualname__}", _of_type(inner))
    return text


def normal_call(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, tuple[Any, ...], Any]:
    """A call as PyTorch records it: its functions in Python name most of their arguments."""
    name = _tables()[0][id(function)]
    space, _, short = name.rpartition(".")
    if space == "torch.nn.functional":
        leading = _LEADING.get(short, 2)
    elif space == "torch.functional" and _FUNCTIONAL[short] is not None:
        leading = _FUNCTIONAL[short]  # type: ignore[assignment]
    else:
        return function, args, kwargs
    try:
        typical = getattr(functional, f"{short}_with_indices", function) if short in _POOLS else function
        bound = inspect.signature(typical).bind(*args, **kwargs)
    except TypeError:
        return function, args, kwargs
    bound.apply_defaults()
    named = {("input" if key == "self" else key): value for key, value in bound.arguments.items()}
    if short == "split":
        named = {"tensor": args[0], "split_size_or_sections": _given(args, kwargs), "dim": named.get("dim", 0)}
    if short in _POOLS and named.get("return_indices") is True:
        function = getattr(functional, f"{short}_with_indices", function)
    keys = list(named)
    if short == "multi_head_attention_forward" and "is_causal" in keys:  # PyTorch hands it on after the mask
        keys.remove("is_causal")
        keys.insert(keys.index("attn_mask") + 1, "is_causal")
    return function, tuple(named[key] for key in keys[:leading]), {key: named[key] for key in keys[leading:]}


def _given(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The size or the sections that ``split`` was told."""
    return args[1] if len(args) > 1 else kwargs.get("split_size_or_sections", kwargs.get("split_size"))
