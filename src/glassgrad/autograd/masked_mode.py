"""Masking gradients: what a selection discarded stays without a gradient, where PyTorch multiplies 0 by infinity.

``where(x > 0, x.sqrt(), 0)`` has the gradient NaN at 0: ``where`` hands the gradient 0 to the root that it did not
select, whose rule multiplies it by an infinite slope.  The walk back is linear in what arrives, so what is made of an
exact zero is zero, whatever the slope.  Two facts tell which elements are made of zeros alone:

- of an operation that works element by element, each element of a gradient is made of the arriving elements that stand
  at the same place, before what broadcasting spread is summed;
- of any operation, all of its gradients are made of nothing but zeros where all that arrived is zero.

There NaN becomes 0.  Everything else stays as it is: a NaN in what arrives, and the NaN of a matrix product or a
softmax of whose gradients only some are zero.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.row import TABLE, Row
from ..core.tensor import Tensor, wrap
from ..ground import modes
from ..ground.hidden import Hidden

#: What broadcasts its inputs (``typed``), and yet is not element by element.
_ACROSS = frozenset({"cdist_forward"})
#: What works element by element on one tensor, or keeps the dtypes of its inputs as they are.
_ALONE = frozenset(
    "relu threshold threshold_backward leaky_relu leaky_relu_backward hardtanh hardtanh_backward hardshrink softshrink "
    "shrink_backward elu celu elu_backward gelu gelu_backward silu silu_backward mish mish_backward softplus "
    "softplus_backward logsigmoid log_sigmoid_backward hardsigmoid hardsigmoid_backward hardswish hardswish_backward "
    "rsub_number neg floor_divide_number remainder_number remainder_of_number fmod_number pow_number pow_base "
    "power_of_zero power_of_size to_copy masked_fill masked_fill_tensor clipped bounded_reciprocal "
    "softplus_of_minus clamp_numbers clamp_min_number clamp_max_number nan_to_num copysign_number xlogy_number "
    "power_of_two abs sgn conj conj_physical along tanh_backward sigmoid_backward finite".split()
)


def is_elementwise(row: Row) -> bool:
    """Whether each element of a row's gradients is made of those that arrive at the same place."""
    return row.name in _ALONE or (row.typed is not None and not row.listed and row.name not in _ACROSS)


def _clean(row: Row, arriving: Any, gradient: Any) -> Any:
    """A gradient that a rule of ``row`` gave, with 0 for NaN where nothing but zeros arrived."""
    array = _array(gradient)
    if isinstance(array, Hidden):
        return _clean_batch(row, arriving, gradient)
    if not isinstance(array, (np.ndarray, np.generic)) or array.dtype.kind not in "fcV":
        return gradient
    bad = np.isnan(array)
    if not bad.any():
        return gradient
    came = [_array(grad) for grad in (arriving if isinstance(arriving, list) else [arriving]) if grad is not None]
    if any(not isinstance(grad, (np.ndarray, np.generic)) for grad in came):
        return gradient
    if all(not np.any(grad != 0) for grad in came):
        zero: Any = bad
    elif is_elementwise(row) and all(grad.shape == array.shape for grad in came):
        zero = bad & np.logical_and.reduce([grad == 0 for grad in came])
    else:
        return gradient
    if isinstance(gradient, Tensor):
        return TABLE["masked_fill"].caller(gradient, wrap(np.asarray(zero)), 0) if zero.any() else gradient
    return np.where(zero, array.dtype.type(0), array)[()]


def _clean_batch(row: Row, arriving: Any, gradient: Any) -> Any:
    """The same of a batch, whose values are not seen: by operations alone, where the row is element by element."""
    call = {name: TABLE[name].caller for name in ("isnan", "eq", "logical_and", "masked_fill")}
    came = [grad for grad in (arriving if isinstance(arriving, list) else [arriving]) if grad is not None]
    if not is_elementwise(row) or any(grad.shape != gradient.shape for grad in came):
        return gradient
    zero = call["isnan"](gradient)
    for grad in came:
        zero = call["logical_and"](zero, call["eq"](grad, 0))
    return call["masked_fill"](gradient, zero, 0)


def _array(grad: Any) -> Any:
    return grad._array if isinstance(grad, Tensor) else grad


class set_masked_gradients:
    """Keep zero what a selection left without a gradient: at once as a function, until the end as a context manager.

    PyTorch's gradient of ``where(x > 0, x.sqrt(), 0)`` at 0 is NaN, as the root that was not selected multiplies the
    gradient 0 by an infinite slope; so are those of masked divisions, logarithms and powers. In a walk back under this
    switch an exact zero that arrives at an operation gives zeros: at each element of operations that work element by
    element, with broadcasting, and of any other operation where all that arrives is zero. It holds for this thread,
    for ``backward``, ``grad``, ``func.grad`` and ``create_graph=True`` (for the second walk too, if it runs under it).
    By default it is off. The forward pass need not run under it, unless ``compile`` makes one node of it.

    A zero is taken for a zero wherever it came from: the gradient of ``x.sqrt() ** 2`` at 0 is 0 under the switch,
    while it is NaN without and 1 in the limit.
    """

    def __init__(self, mode: bool) -> None:
        self.before = modes.local.masked
        _set(_clean if mode else None)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: object) -> None:
        modes.local.masked = self.before
        modes.settle()


def _set(masked: Any) -> None:
    if masked is not None:
        modes.expect_unusual()
    modes.local.masked = masked
    modes.settle()


def is_masked_gradients_enabled() -> bool:
    """Whether this thread keeps zero what a selection left without a gradient."""
    return modes.local.masked is not None
