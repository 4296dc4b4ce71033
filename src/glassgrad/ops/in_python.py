"""Functions that PyTorch wrote in Python, and how they hand on a call: what has a default by name, all of it.

Its functions in C++ hand on what was written.  ``__torch_function__`` and ``torch.fx`` hear calls so.
"""

from __future__ import annotations

import inspect
import sys
from functools import lru_cache
from typing import Any

from ..core.tensor import Tensor
from ..ground.names import OURS

#: Functions of ``nn.functional`` that PyTorch wrote in C++, where they are called so.
NATIVE = dict.fromkeys(
    """avg_pool2d avg_pool3d hardtanh_ elu_ leaky_relu_ logsigmoid gelu softplus softshrink linear one_hot
    scaled_dot_product_attention""".split(), "torch._C._nn",
) | dict.fromkeys(
    """conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d conv_tbc avg_pool1d adaptive_avg_pool1d
    threshold_ relu_ selu_ celu_ prelu rrelu_ hardshrink bilinear pixel_shuffle pixel_unshuffle channel_shuffle
    native_channel_shuffle pairwise_distance pdist cosine_similarity""".split(), "torch",
)  # fmt: skip
#: Functions in Python that hand their arguments to its parser as they are.
PARSED = set("elu glu cdist stft istft meshgrid pad rms_norm atleast_1d atleast_2d atleast_3d".split())
#: Those that it wrote in Python, though ``torch`` has a function of that name too.
_THERE_TOO = {"celu", "selu", "threshold", "rrelu", "rms_norm"}
#: Functions of ``torch`` itself in Python: those of ``torch.functional``, and others.
FUNCTIONAL = set(
    """split norm cdist tensordot stft unravel_index einsum meshgrid broadcast_tensors cartesian_prod block_diag
    atleast_1d atleast_2d atleast_3d chain_matmul unique unique_consecutive lu""".split()
)
_OTHERS = set("pca_lowrank svd_lowrank sym_float sym_int sym_not sym_max sym_min sym_ite sym_sqrt sym_sum".split())
_METHODS = """__floordiv__ __rfloordiv__ __rtruediv__ __rlshift__ __rrshift__ __array__ __contains__ __rmod__
    __deepcopy__ __format__ __reversed__ backward dim_order is_shared module_load register_hook resize resize_as
    register_post_accumulate_grad_hook share_memory_ storage storage_type istft __rmatmul__ __pow__ __ipow__ __rpow__
    __rsub__ __len__ __repr__ __dlpack__ __dlpack_device__ __reduce_ex__""".split()
#: Parameters that PyTorch does not hand on: they are handed where they say something.
_NOT_HANDED = {"l1_loss": "weight", "as_array": "copy", "dim_order": "ambiguity_check"}
_INITIALIZERS = {"uniform_", "normal_", "constant_", "kaiming_uniform_"}  # which hand on all by name

#: How many arguments stand first without a name, where those are not the ones that have no default.
_LEADING = {"split": 2, "unravel_index": 1, "__array__": 1, "__deepcopy__": 2} | dict.fromkeys(_INITIALIZERS, 0)


def _of(space: str, name: str) -> Any:
    """What a module of the package has under a name; None of one that nobody has imported."""
    return getattr(sys.modules.get(OURS + space), name, None)


def is_functional(function: Any) -> bool:
    """Whether a function is one of ``nn.functional`` that PyTorch wrote in Python."""
    name = function.__name__
    if name in NATIVE or _of(".nn.functional", name) is not function:
        return False
    return name in _THERE_TOO or _of("", name) is not function


def is_in_python(function: Any) -> bool:
    """Whether PyTorch wrote a function in Python."""
    name = function.__name__
    if name in FUNCTIONAL or name in _OTHERS:
        return _of("", name) is function
    if name in _INITIALIZERS and _of(".nn.init", name) is function:
        return True
    return is_functional(function) or any(vars(Tensor).get(method) is function for method in _METHODS)


def handed(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> tuple[Any, Any, Any]:
    """Function and arguments of a call as PyTorch hands them on; as they are where they do not fit."""
    if vars(Tensor).get("__matmul__") is function:  # its other operators are rows, which are heard by their own names
        function = Tensor.matmul  # type: ignore[attr-defined]
    if not is_in_python(function):
        return function, args, kwargs
    return by_name(function, args, kwargs or {})


_signature = lru_cache(inspect.signature)


def by_name(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any, dict[str, Any]]:
    """A call with what has a default under its name, and with the function for indices where they are asked for."""
    name = function.__name__
    if name == "einsum" and len(args) == 2 and isinstance(args[1], (list, tuple)):
        return function, (args[0], *args[1]), kwargs
    with_indices = _of(".nn.functional", f"{name}_with_indices")
    signature = _signature(with_indices or function)
    if any(parameter.kind is parameter.VAR_POSITIONAL for parameter in signature.parameters.values()):
        return function, args, kwargs
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError:
        return function, args, kwargs
    bound.apply_defaults()
    named = {("input" if key == "self" else key): value for key, value in bound.arguments.items()}
    more = _NOT_HANDED.get(name)
    if more is not None and named[more] is signature.parameters[more].default:
        del named[more]
    if with_indices is not None and named.get("return_indices") is True:
        function = with_indices
    required = [parameter for parameter in signature.parameters.values() if parameter.default is parameter.empty]
    count = _LEADING.get(name, len(required))
    if name == "split" and (size := named.pop("split_size")) is not None:  # our other name of the same
        named["split_size_or_sections"] = size
    if name == "multi_head_attention_forward":  # PyTorch hands it on after the mask
        named = _moved(named, "is_causal", "attn_mask")
    return function, tuple(named.values())[:count], dict(list(named.items())[count:])


def _moved(named: dict[str, Any], key: str, before: str) -> dict[str, Any]:
    """The same with one key put behind another."""
    keys = [name for name in named if name != key]
    keys.insert(keys.index(before) + 1, key)
    return {name: named[name] for name in keys}
