"""What compile knows of operations: which of them compute by their arguments alone, and what they are made of.

It is a list of what is known to be so; anything else is called as it is written.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from ..autograd import api
from ..core import write
from ..core.row import TABLE
from ..core.tensor import Tensor
from ..ground.generator import Generator
from ..ground.names import is_own
from ..nn.modules.module import Module
from ..ops import bind
from ..ops.declare import COMPOSITES, UNITS
from ..optim.lr_scheduler.base import LRScheduler
from ..optim.optimizer import Optimizer
from .program import tensors_in

#: Functions whose answer follows from shapes, dtypes and layouts alone.
TELLING = frozenset(
    """
    size dim ndimension numel nelement numel_method length __len__ stride is_floating_point is_complex is_tensor
    is_contiguous element_size is_same_size is_signed result_type can_cast promote_types broadcast_shapes is_conj
    is_neg get_device
    """.split()
)
#: Functions over rows that decide nothing by values, by the part of mathematics in which they are.
PURE = TELLING.union(
    """
    celu hardshrink threshold selu prelu elu gelu glu hardsigmoid hardswish hardtanh leaky_relu logsigmoid mish relu
    sigmoid silu softplus softshrink tanh

    rsub addcdiv addcmul div lerp pow square float_power positive __pow__ __rpow__ __ipow__ __rsub__ __rtruediv__
    __itruediv__ __abs__ __pos__ __isub__ reflected_sub reflected_div power_operator abs_operator pos_operator
    invert_operator _reflected_matmul div_ pow_ square_ addcdiv_ addcmul_ lerp_ add_ mul_ sub_ neg_ relu_ sigmoid_ tanh_
    exp_ clamp_ sqrt_ zero_ fill_ copy_

    clone fill detach contiguous float double half bfloat16 long int short bool to type_as cpu conj real imag where
    where_method eq_ ne_ lt_ le_ gt_ ge_

    convolution conv1d conv2d conv3d conv_transpose1d conv_transpose2d

    zeros ones full zeros_like ones_like full_like new_zeros new_ones new_full arange eye linspace tensor scalar_tensor
    new_tensor cosine_similarity pairwise_distance norm dropout

    narrow masked_fill masked_fill_ __getitem__ __setitem__ diag unfold cat flip repeat roll split split_with_sizes
    stack chunk hstack vstack dstack meshgrid tile hsplit vsplit diagonal

    l1_loss binary_cross_entropy_with_logits kl_div cross_entropy margin_ranking_loss hinge_embedding_loss
    cosine_embedding_loss poisson_nll_loss huber_loss mse_loss nll_loss smooth_l1_loss soft_margin_loss

    linear matmul __matmul__ __rmatmul__ outer inner bilinear einsum tensordot cross linalg_cross

    native_layer_norm native_group_norm layer_norm group_norm rms_norm batch_norm native_batch_norm move_statistics pad
    angle clamp clamp_min clamp_max copysign xlogy round

    adaptive_avg_pool1d avg_pool1d avg_pool2d avg_pool3d max_pool1d max_pool2d adaptive_avg_pool2d
    max_pool2d_with_indices

    lstm gru rnn_tanh rnn_relu lstm_cell gru_cell rnn_tanh_cell rnn_relu_cell

    amax amin aminmax max min mean sum prod std var std_mean var_mean any all median nanmean nansum cummax cummin
    cumprod cumsum logcumsumexp diff log_softmax logsumexp softmax sort argsort topk

    getitem setitem _matmul_operator expand expand_as permute squeeze view view_as reshape reshape_as flatten ravel
    movedim unflatten broadcast_to swapaxes swapdims adjoint broadcast_tensors t_ transpose_ unsqueeze_ squeeze_
    sum_to_size scaled_dot_product_attention pixel_shuffle pixel_unshuffle embedding index_select gather norm_of_all
    scale_down_ keep_within_
    """.split()
)
_OPERATORS = "add sub mul truediv matmul neg pow abs eq ne lt le gt ge and or xor invert".split()
PURE |= {f"__{prefix}{name}__" for name in _OPERATORS for prefix in ("", "r", "i")}
#: Of these the first argument alone may be a tensor: others would be sizes, places or numbers by their values.
ONE = frozenset(
    """
    view reshape expand repeat tile split split_with_sizes chunk hsplit vsplit narrow select slice getitem roll permute
    flatten unflatten movedim transpose t unsqueeze squeeze squeeze_dim squeeze_dims swapaxes swapdims broadcast_to
    unfold
    diag diagonal diag_embed tril triu flip unsafe_view ravel
    sum mean prod std var std_mean var_mean amax amin aminmax argmax argmin any all median nanmean nansum cumsum cumprod
    cummax cummin logcumsumexp softmax log_softmax logsumexp norm topk sort argsort diff sum_dim mean_dim
    pad constant_pad_nd dropout to float double half bfloat16 long int short bool cpu size stride dim
    zeros_like ones_like full_like new_zeros new_ones new_full new_tensor
    avg_pool1d avg_pool2d avg_pool3d max_pool1d max_pool2d adaptive_avg_pool1d adaptive_avg_pool2d pixel_shuffle
    """.split()
)
#: Of these no argument may be a tensor.
NONE = frozenset("zeros ones full arange eye linspace tensor scalar_tensor".split())
#: Operations that give as many elements as values say.
SIZED = frozenset(
    "nonzero argwhere masked_select unique unique_consecutive unique_dim repeat_interleave repeated bincount one_hot "
    "to_sparse coalesce tensor_split distinct unique_dim pack_padded pack_again pad_packed".split()
)
#: Functions that hand numbers to Python, which may decide by them what comes next.
VALUES = SIZED.union(
    """
    item tolist numpy __array__ __bool__ __int__ __float__ __complex__ __index__ __repr__ __str__ __format__
    __contains__ equal allclose is_nonzero truth
    """.split()
)


OWNERS = (Module, Optimizer, LRScheduler, Generator)  # of what their methods change


@cache
def kind_of(function: Any) -> str:
    """What a function is to a capture.

    "known": it computes by its arguments alone; "backward", "grad", "optimizer"; "clear": it takes gradients away;
    "through": it changes what no step hangs on; "other".
    """
    special = {
        api.tensor_backward: "backward", api.grad: "grad", write.in_place: "known", Optimizer.zero_grad: "clear",
        Module.zero_grad: "clear", vars(Tensor)["grad"].fset: "clear",
    }  # fmt: skip
    if function in special:
        return special[function]
    name = function.__name__
    if name == "step":
        for base, kind in ((LRScheduler, "through"), (Optimizer, "optimizer")):
            if any(cls.step is function and is_own(cls) for cls in _with_steps(base)):
                return kind
        return "other"
    is_row = parts().get(function, ("", None))[0] == "row"
    return "known" if is_own(function) and (is_row or name in PURE) else "other"


def _with_steps(base: Any) -> list[Any]:
    """The classes below ``base`` that have a ``step`` of their own."""
    below = [base]
    for cls in below:
        below += cls.__subclasses__()
    return [cls for cls in below if "step" in vars(cls) and cls is not Optimizer]


@cache
def parts() -> dict[Any, tuple[str, Any]]:
    """What each function that operations are made of is: a "row", a "unit", a "write" or a "function", and its name."""
    kinds: dict[Any, tuple[str, Any]] = {one.function: ("function", one.names[0]) for one in COMPOSITES.values()}
    for name, function in bind.functions().items():
        kinds.setdefault(function, ("function", name))
    for row in TABLE.values():
        kinds[row.caller] = kinds[getattr(row, "operate", None) or row.caller] = "row", row
    kinds.update({function: ("unit", function.__name__) for function in UNITS})
    kinds[write.in_place] = "write", "in_place"  # of functions that are not heard themselves
    return kinds


def parameters(owner: Any) -> list[Any]:
    """The parameters of a module or an optimizer; a schedule has none."""
    if isinstance(owner, Optimizer):
        return [parameter for group in owner.param_groups for parameter in group["params"]]
    return [*owner.parameters()] if isinstance(owner, Module) else []


def without_gradients(function: Any, args: Any, kwargs: Any) -> list[Any] | None:
    """The leaves whose gradients a call takes away; None for other calls."""
    owner = args[0] if args else None
    if function is vars(Tensor)["grad"].fset:
        return [owner] if args[1] is None else None
    if function not in (Optimizer.zero_grad, Module.zero_grad) or not kwargs.get("set_to_none", (*args, True)[1]):
        return None
    return parameters(owner)


def sized_by_values(function: Any, args: Any, kwargs: Any) -> bool:
    """Whether values of its arguments are known to say how many elements a call gives."""
    name, tensors = function.__name__, tensors_in((args, kwargs))
    if name in ("getitem", "__getitem__", "index"):
        return any(tensor._array.dtype in ("?", "u1") for tensor in tensors[1:])
    most = 0 if name in NONE else 1 if name in ONE else len(tensors)
    return len(tensors) > most or name == "where" and len(args) + len(kwargs) < 2 or name in SIZED
