"""PyTorch's signature of the CTC loss: batched or not, targets padded or in one line, lengths as tensors or numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.tensor import Tensor, wrap
from ..declare import composite
from ..primitive.compare import where
from ..primitive.ctc import ctc_loss_forward
from ..primitive.reduce import mean, sum
from ..primitive.shape import squeeze_dim, unsqueeze
from .reduce import check_tensor

_CHECKING = "(while checking arguments for ctc_loss_allocate_outputs)"


def _lengths(lengths: Any, name: str) -> tuple[int, ...]:
    if not isinstance(lengths, Tensor):
        return tuple(int(n) for n in lengths)
    if lengths._array.dtype.kind not in "iu":
        raise RuntimeError(f"{name} must be integral")
    return tuple(lengths._array.reshape(-1).tolist())


def _check(log_probs: Any, targets: Any, inputs: tuple[int, ...], labels: tuple[int, ...], blank: int) -> None:
    """Raise PyTorch's error unless sizes and lengths fit together."""
    if log_probs.ndim != 3:
        raise RuntimeError(
            f"Expected 3-dimensional tensor, but got {log_probs.ndim}-dimensional tensor for argument #1 'log_probs' "
            + _CHECKING
        )
    times, n, classes = log_probs.shape
    if not 1 <= targets.ndim <= 2:
        raise RuntimeError(
            f"Expected 1 to 2 dimensions, but got {targets.ndim}-dimensional tensor for argument #2 'targets' "
            + _CHECKING
        )
    if not 0 <= blank < classes:
        raise RuntimeError("blank must be in label range")
    for name, lengths in (("input_lengths", inputs), ("target_lengths", labels)):
        if len(lengths) != n:
            raise RuntimeError(f"{name} must be of size batch_size")
    for name, lengths in (("input_lengths", inputs), ("target_lengths", labels)):
        least = min(lengths)
        if least < 0:
            raise RuntimeError(f"Expected {name} to have value at least 0, but got value {least} {_CHECKING}")
    if targets.ndim == 1:
        wanted, dim, fits = np.sum(labels), 0, targets.shape[0] == np.sum(labels)
    else:
        wanted, dim, fits = n, 0, targets.shape[0] == n
        if fits and targets.shape[1] < max(labels):
            raise RuntimeError(
                f"Expected tensor to have size at least {max(labels)} at dimension 1, but got size {targets.shape[1]} "
                f"for argument #2 'targets' {_CHECKING}"
            )
    if not fits:
        raise RuntimeError(
            f"Expected tensor to have size {wanted} at dimension {dim}, but got size {targets.shape[0]} for argument "
            f"#2 'targets' {_CHECKING}"
        )
    if max(inputs) > times:
        raise RuntimeError(
            f"Expected input_lengths to have value at most {times}, but got value {max(inputs)} {_CHECKING}"
        )


@composite(method=False)
def ctc_loss(
    log_probs: Any, targets: Any, input_lengths: Any, target_lengths: Any, blank: int = 0, reduction: int = 0,
    zero_infinity: bool = False,
) -> Any:  # fmt: skip
    """The connectionist temporal classification loss; ``reduction`` is 0 for none, 1 for mean, 2 for sum.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.ctc_loss.html
    """
    check_tensor(log_probs, "ctc_loss")
    batched = log_probs._array.ndim == 3
    inputs, labels = _lengths(input_lengths, "input_lengths"), _lengths(target_lengths, "target_lengths")
    if not log_probs._array.size:
        raise RuntimeError("log_probs tensor must not be empty")
    if not batched:
        log_probs = unsqueeze(log_probs, 1)
        if targets._array.ndim == 1:
            targets = unsqueeze(targets, 0)
    _check(log_probs._array, targets._array, inputs, labels, blank)
    if targets._array.dtype.kind not in "iu":
        targets = wrap(targets._array.astype(np.int64))
    loss = ctc_loss_forward(log_probs, targets, inputs, labels, blank, zero_infinity)[0]
    if zero_infinity:
        kind = loss._array.dtype
        loss = where(wrap(loss._array == np.inf), wrap(np.zeros((), kind)), loss)
    if reduction == 1:
        return mean(loss / wrap(np.maximum(labels, 1).astype(loss._array.dtype)))
    if reduction == 2:
        return sum(loss)
    return loss if batched else squeeze_dim(loss, 0)
