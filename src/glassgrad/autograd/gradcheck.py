"""``gradcheck`` and ``gradgradcheck``: gradients checked against finite differences, which ``differences.py`` takes.

Source: https://docs.pytorch.org/docs/stable/generated/torch.autograd.gradcheck.gradcheck.html
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.tensor import Tensor, wrap
from .api import grad


class GradcheckError(RuntimeError):
    """What ``gradcheck`` raises when a gradient is wrong."""


def gradcheck(
    func: Callable[..., Any], inputs: Any, *, eps: float = 1e-6, atol: float = 1e-5, rtol: float = 1e-3,
    raise_exception: bool = True, nondet_tol: float = 0.0, check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False, check_batched_grad: bool = False, check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False, check_backward_ad: bool = True, fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:  # fmt: skip
    """Compare the gradients of ``func`` with central differences of step ``eps``; True, or GradcheckError."""
    from . import differences  # which not every program needs

    if not (check_forward_ad or check_backward_ad):
        raise AssertionError("Expected at least one of check_forward_ad or check_backward_ad to be True")
    if check_batched_grad and not check_backward_ad:
        raise AssertionError("Setting check_batched_grad=True requires check_backward_ad to be True")
    if check_batched_forward_grad and not check_forward_ad:
        raise AssertionError("Setting check_batched_forward_grad=True requires check_forward_ad to be True")
    inputs = tuple(inputs) if isinstance(inputs, (list, tuple)) else (inputs,)
    try:
        if check_backward_ad:
            differences.check(
                func, inputs, eps, atol, rtol, nondet_tol, check_grad_dtypes, check_batched_grad, fast_mode
            )
        if check_forward_ad:
            differences.check_forward(func, inputs, eps, atol, rtol, check_batched_forward_grad)
        if check_undefined_grad and check_backward_ad:
            differences.check_undefined(func, inputs)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(
    func: Callable[..., Any], inputs: Any, grad_outputs: Any = None, *, eps: float = 1e-6, atol: float = 1e-5,
    rtol: float = 1e-3, gen_non_contig_grad_outputs: bool = False, raise_exception: bool = True,
    nondet_tol: float = 0.0, check_undefined_grad: bool = True, check_grad_dtypes: bool = False,
    check_batched_grad: bool = False, check_fwd_over_rev: bool = False, check_rev_over_rev: bool = True,
    fast_mode: bool = False, masked: bool = False,
) -> bool:  # fmt: skip
    """Check the gradients of the gradients of ``func``, with respect to inputs and ``grad_outputs``."""
    if not (check_fwd_over_rev or check_rev_over_rev):
        raise AssertionError("Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True")
    for name, option in (("check_undefined_grad", check_undefined_grad), ("check_batched_grad", check_batched_grad)):
        if option and not check_rev_over_rev:
            raise AssertionError(f"Setting {name}=True requires check_rev_over_rev to be True")
    from .differences import outputs_of

    inputs = tuple(inputs) if isinstance(inputs, (list, tuple)) else (inputs,)
    if grad_outputs is None:
        seeds = []
        rng = np.random.default_rng(0)
        for out in outputs_of(func(*inputs)):
            values = rng.standard_normal(out._array.shape)
            if out._array.dtype.kind == "c":
                values = values + 1j * rng.standard_normal(out._array.shape)
            if out._array.dtype.kind in "fc":
                seeds.append(wrap(np.asarray(values).astype(out._array.dtype)).requires_grad_())
        grad_outputs = tuple(seeds)
    elif isinstance(grad_outputs, Tensor):
        grad_outputs = (grad_outputs,)
    count = len(grad_outputs)

    def first_order(*args: Any) -> Any:
        at, weights = args[:-count], args[-count:]
        outs = [out for out in outputs_of(func(*at)) if out.requires_grad]
        wanted = tuple(value for value in at if isinstance(value, Tensor) and value.requires_grad)
        grads = grad(outs, wanted, weights[: len(outs)], create_graph=True, allow_unused=True)
        return tuple(g for g in grads if g is not None)

    return gradcheck(
        first_order,
        inputs + tuple(grad_outputs),
        eps=eps,
        atol=atol,
        rtol=rtol,
        raise_exception=raise_exception,
        nondet_tol=nondet_tol,
        check_undefined_grad=check_undefined_grad,
        check_grad_dtypes=check_grad_dtypes,
        check_batched_grad=check_batched_grad,
        check_forward_ad=check_fwd_over_rev,
        check_backward_ad=check_rev_over_rev,
        fast_mode=fast_mode,
    )
