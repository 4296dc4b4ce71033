"""Connectionist temporal classification: forward and backward sums over all alignments, in logarithms.

A target of S labels is spelled with a blank around each: 2 S + 1 states.  Whole batches of states go through time
together; ``alpha`` sums the paths that lead to a state, ``beta`` those that lead on from it.
Source: Graves et al., Connectionist Temporal Classification, ICML 2006.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.row import op
from ...kernels.columns import not_implemented
from ..cast.rows import fill_number
from ..reduce.rows import sum_dim


class _Spelling:
    """The states of a batch of targets, padded with blanks: their labels, and which may be reached past a blank."""

    def __init__(self, targets: Any, lengths: tuple[int, ...], blank: int, classes: int) -> None:
        n, longest = len(lengths), max(lengths)
        self.lengths = np.array(lengths)
        valid = np.arange(longest) < self.lengths[:, None]
        labels = np.full((n, longest), blank)
        labels[valid] = targets[:, :longest][valid] if targets.ndim == 2 else targets
        if labels.size and (labels.min() < 0 or labels.max() >= classes):
            wrong = labels[(labels < 0) | (labels >= classes)][0]
            raise IndexError(f"ctc_loss: target {wrong} is out of bounds: there are {classes} classes")
        self.labels = np.full((n, 2 * longest + 1), blank)
        self.labels[:, 1::2] = labels
        self.skips = np.zeros(self.labels.shape, bool)  # whether state s follows state s - 2
        self.skips[:, 2:] = self.labels[:, 2:] != self.labels[:, :-2]
        self.last = 2 * self.lengths  # the state of the final blank

    def emitted(self, log_probs: Any) -> Any:
        """The log probability of each state at each time: (T, N, states)."""
        return log_probs[:, np.arange(len(self.labels))[:, None], self.labels]


def _log_sum(a: Any, b: Any, c: Any) -> Any:
    """The logarithm of the sum of the exponentials of three arrays."""
    top = np.maximum(np.maximum(a, b), c)
    top[top == -np.inf] = 0
    return np.log(np.exp(a - top) + np.exp(b - top) + np.exp(c - top)) + top


def _paths(emitted: Any, skips: Any, start: Any) -> Any:
    """The log sums of all paths from time 0 on; ``start`` says which states they may begin in."""
    times, n, states = emitted.shape
    out = np.empty(emitted.shape, emitted.dtype)
    wide = np.full((n, states + 2), -np.inf, emitted.dtype)  # two states before the first, never reached
    here, one_before, two_before = wide[:, 2:], wide[:, 1:-1], wide[:, :-2]
    never = emitted.dtype.type(-np.inf)
    here[...] = np.where(start, emitted[0], -np.inf)
    out[0] = here
    with np.errstate(divide="ignore", invalid="ignore"):
        for time in range(1, times):
            here[...] = _log_sum(here, one_before, np.where(skips, two_before, never)) + emitted[time]
            out[time] = here
    return out


def _at(values: Any, times: Any, states: Any) -> Any:
    """``values[time, n, state]`` of each sample; minus infinity for states before the first."""
    picked = values[times, np.arange(values.shape[1]), states]
    picked[states < 0] = -np.inf
    return picked


@op(
    node="CtcLossBackward0",
    auxiliary=("targets",),
    outputs=("result0", "result1"),
    differentiable=("result0",),
    public=False,
)
def ctc_loss_forward(
    log_probs: Any, targets: Any, /, input_lengths: Any, target_lengths: Any, blank: int, zero_infinity: bool
) -> Any:
    """Minus the log likelihood of each target, and the log sums of paths: (N,) and (N, T, states)."""
    if log_probs.dtype.kind != "f" or log_probs.dtype.itemsize < 4:
        raise not_implemented("ctc_loss_cpu", log_probs)
    spelling = _Spelling(targets, target_lengths, blank, log_probs.shape[2])
    lengths = np.array(input_lengths)
    start = np.arange(spelling.labels.shape[1]) < np.minimum(spelling.last, 1)[:, None] + 1
    alpha = _paths(spelling.emitted(log_probs), spelling.skips, start)
    end, last = np.maximum(lengths - 1, 0), spelling.last
    with np.errstate(divide="ignore", invalid="ignore"):
        final = _at(alpha, end, last)
        both = _log_sum(final, _at(alpha, end, last - 1), final.dtype.type(-np.inf))
    loss = -np.where(last > 0, both, final)
    loss = np.where(lengths > 0, loss, np.where(spelling.lengths > 0, np.inf, -0.0)).astype(log_probs.dtype)
    return loss, np.ascontiguousarray(alpha.transpose(1, 0, 2))


ctc_loss_forward.derivative(
    log_probs=lambda grad, log_probs, targets, result0, result1, input_lengths, target_lengths, blank, zero_infinity: (
        ctc_loss_backward(
            grad, log_probs, targets, result0, result1, input_lengths, target_lengths, blank, zero_infinity
        )
    )
)


@ctc_loss_forward.row.tangent
def _ctc_tangent(
    log_probs: Any, log_probs_t: Any, targets: Any, result0: Any, result1: Any, input_lengths: Any,
    target_lengths: Any, blank: int, zero_infinity: bool,
) -> Any:  # fmt: skip
    one = fill_number(result0, 1)
    slope = ctc_loss_backward(
        one, log_probs, targets, result0, result1, input_lengths, target_lengths, blank, zero_infinity
    )
    return sum_dim(slope * log_probs_t, (0, 2)), None


@op(node="NotImplemented", auxiliary=("targets", "loss", "log_alpha"), public=False)
def ctc_loss_backward(
    grad_output: Any, log_probs: Any, targets: Any, loss: Any, log_alpha: Any, /, input_lengths: Any,
    target_lengths: Any, blank: int, zero_infinity: bool,
) -> Any:  # fmt: skip
    """PyTorch's gradient of ``ctc_loss_forward``: that of scores whose ``log_softmax`` the log probabilities are."""
    times, n, classes = log_probs.shape
    spelling = _Spelling(targets, target_lengths, blank, classes)
    lengths = np.array(input_lengths)
    emitted = spelling.emitted(log_probs)
    states = emitted.shape[2]
    # Backward in time is forward along reversed states: every sample turned so that it ends at time and state 0.
    turn_times = (lengths - 1 - np.arange(times)[:, None]) % times
    turn_states = (spelling.last[:, None] - np.arange(states)) % states
    samples = np.arange(n)
    turned = emitted[turn_times[:, :, None], samples[:, None], turn_states]
    labels = spelling.labels[samples[:, None], turn_states]
    skips = np.zeros(labels.shape, bool)
    skips[:, 2:] = labels[:, 2:] != labels[:, :-2]
    start = np.arange(states) < np.minimum(spelling.last, 1)[:, None] + 1
    beta = _paths(turned, skips, start)[turn_times[:, :, None], samples[:, None], turn_states]
    beta[:, np.arange(states) > spelling.last[:, None]] = -np.inf
    with np.errstate(invalid="ignore"):
        share = np.exp(log_alpha.transpose(1, 0, 2) + beta + loss[:, None] - emitted)
    share[beta == -np.inf] = 0
    back = np.exp(log_probs)
    back[:, :, blank] -= share[:, :, ::2].sum(2)
    for state in range(1, states, 2):  # no sample twice in one round
        back[:, samples, spelling.labels[:, state]] -= share[:, :, state]
    back *= grad_output[:, None]
    lost = loss == np.inf
    back[:, lost] = 0 if zero_infinity else np.nan
    back[np.arange(times)[:, None] >= lengths] = 0
    return back


@ctc_loss_backward.derivative("grad_output", "log_probs")
def _never(grad: Any) -> Any:
    raise RuntimeError("derivative for aten::_ctc_loss_backward is not implemented")
