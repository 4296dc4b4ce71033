"""Softmax and its kin as layers; the adaptive one is for many classes: the rarer they are, the fewer features."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from ...core.tensor import Tensor
from ...nn import functional as F
from ...nn.modules.container import ModuleList, Sequential
from ...nn.modules.module import Module
from ..matrix.layers import Linear
from ..reduce.extreme import argmax


class _Along(Module):
    """A function along one dimension."""

    dim: int | None

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self.__dict__.setdefault("dim", None)

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class Softmax(_Along):
    """Exponentials along ``dim``, scaled to sum to one."""

    def forward(self, input: Tensor) -> Tensor:
        """The shares."""
        return F.softmax(input, self.dim, _stacklevel=5)


class LogSoftmax(_Along):
    """The logarithm of the softmax along ``dim``."""

    def forward(self, input: Tensor) -> Tensor:
        """The logarithms of the shares."""
        return F.log_softmax(input, self.dim, _stacklevel=5)


class Softmin(_Along):
    """The softmax of -x along ``dim``."""

    def forward(self, input: Tensor) -> Tensor:
        """The shares."""
        return F.softmin(input, self.dim, _stacklevel=5)


class Softmax2d(Module):
    """The softmax over the channels of (N, C, H, W) or (C, H, W)."""

    def forward(self, input: Tensor) -> Tensor:
        """The shares."""
        if input.ndim not in (3, 4):
            raise ValueError(f"Softmax2d: expected input to be 3D or 4D, got {input.ndim}D instead")
        return F.softmax(input, -3, _stacklevel=5)


_ASMoutput = namedtuple("_ASMoutput", ["output", "loss"])


class AdaptiveLogSoftmaxWithLoss(Module):
    """Log likelihoods of frequent classes at once, of rarer ones by way of their cluster; and the mean loss.

    cutoffs    the first class of each cluster but the first; classes are sorted, frequent ones first
    div_value  each cluster has so many times fewer features than the one before
    """

    head: Linear
    tail: ModuleList

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        cutoffs: Sequence[int],
        div_value: float = 4.0,
        head_bias: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        cutoffs = list(cutoffs)
        if not cutoffs:
            raise ValueError("cutoffs should be a sequence of length larger than 0")
        rising = cutoffs == sorted(cutoffs) and len(set(cutoffs)) == len(cutoffs)
        if not rising or min(cutoffs) <= 0 or max(cutoffs) > n_classes - 1 or any(int(c) != c for c in cutoffs):
            raise ValueError(
                "cutoffs should be a sequence of unique, positive integers sorted in an increasing order, where each "
                "value is between 1 and n_classes-1"
            )
        self.in_features, self.n_classes = in_features, n_classes
        self.cutoffs = [*cutoffs, n_classes]
        self.div_value, self.head_bias = div_value, head_bias
        self.shortlist_size = self.cutoffs[0]
        self.n_clusters = len(self.cutoffs) - 1
        self.head_size = self.shortlist_size + self.n_clusters
        self.head = Linear(in_features, self.head_size, bias=head_bias, device=device, dtype=dtype)
        self.tail = ModuleList()
        for number, (low, high) in enumerate(pairwise(self.cutoffs), 1):
            hidden = int(in_features // div_value**number)
            self.tail.append(
                Sequential(
                    Linear(in_features, hidden, bias=False, device=device, dtype=dtype),
                    Linear(hidden, high - low, bias=False, device=device, dtype=dtype),
                )
            )

    def reset_parameters(self) -> None:
        """Draw all weights anew."""
        self.head.reset_parameters()
        for projection in self.tail:
            for layer in projection.children():
                layer.reset_parameters()

    def forward(self, input_: Any, target_: Any) -> Any:
        """The log likelihood of each target, and minus their mean."""
        dims = target_.dim()
        if dims == 1:
            if input_.size(0) != target_.size(0):
                raise RuntimeError("Input and target should have the same size in the batch dimension.")
            if input_.dim() != 2:
                raise RuntimeError(
                    f"1D target tensor expects 2D input tensors, but found inputs with size {input_.size()}"
                )
        elif dims == 0:
            if input_.dim() != 1:
                raise RuntimeError(
                    f"0D target tensor expects 1D input tensors, but found inputs with size {input_.size()}"
                )
        else:
            raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
        input, target = (input_, target_) if dims else (input_.unsqueeze(0), target_.unsqueeze(0))
        used, size = 0, target.size(0)
        output = input.new_zeros(size)
        places = target.new_empty(size)
        for number, (low, high) in enumerate(pairwise([0, *self.cutoffs])):
            chosen = (target >= low) & (target < high)
            rows = chosen.nonzero().squeeze()
            if rows.numel() == 0:
                continue
            if number == 0:
                places.index_copy_(0, rows, target[chosen])
            else:
                scores = F.log_softmax(self.tail[number - 1](input.index_select(0, rows)), dim=1)
                places.index_fill_(0, rows, self.shortlist_size + number - 1)
                output.index_copy_(0, rows, scores.gather(1, (target[chosen] - low).unsqueeze(1)).squeeze(1))
            used += rows.numel()
        if used != size:
            raise RuntimeError(
                f"Target values should be in [0, {self.n_classes - 1}], but values in range [{target.min().item()}, "
                f"{target.max().item()}] were found. "
            )
        scores = F.log_softmax(self.head(input), dim=1)
        output += scores.gather(1, places.unsqueeze(1)).squeeze()  # type: ignore[attr-defined]
        loss = (-output).mean()
        return _ASMoutput(output if dims else output.squeeze(0), loss)

    def _get_full_log_prob(self, input: Any, head_output: Any) -> Any:
        """The log probabilities of all classes."""
        out = input.new_empty((head_output.size(0), self.n_classes))
        scores: Any = F.log_softmax(head_output, dim=1)
        out[:, : self.shortlist_size] = scores[:, : self.shortlist_size]
        for number, (low, high) in enumerate(pairwise(self.cutoffs)):
            inside = F.log_softmax(self.tail[number](input), dim=1)
            out[:, low:high] = inside + scores[:, self.shortlist_size + number].unsqueeze(1)
        return out

    def log_prob(self, input: Any) -> Any:
        """The log probabilities of all classes: (N, in_features) gives (N, n_classes)."""
        return self._get_full_log_prob(input, self.head(input))

    def predict(self, input: Any) -> Any:
        """The most likely class of each sample; clusters are looked into only where they may hold it."""
        scores = self.head(input)
        classes = argmax(scores, dim=1)
        inside = classes >= self.shortlist_size
        if not inside.any():
            return classes
        if inside.all():
            return argmax(self._get_full_log_prob(input, scores), dim=1)
        classes[inside] = argmax(self._get_full_log_prob(input[inside], scores[inside]), dim=1)
        return classes
