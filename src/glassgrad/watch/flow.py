"""Where a backward pass loses its gradient: the first operation that made it zero, or not finite."""

from __future__ import annotations

from typing import Any

from ..explore.blame import SLOPES, backward_reason, plain
from ..explore.measure import array_of, is_finite, stats_of
from ..explore.observe import saved_stats
from ..explore.walk import SINK, Walk, op_name
from .asked import Asked
from .patterns import line_of


class Flow:
    """Hooks on the operations of one backward pass, until :meth:`stop`; they keep no gradient."""

    def __init__(self, walked: Walk, recording: Any, engine: str) -> None:
        self.inputs, self.names = walked.inputs, [op_name(node) for node in walked.nodes]
        self.leaves = {id(node.variable): i for i, node in enumerate(walked.nodes) if self.names[i] == SINK}
        self.lines = [line_of(walked, i, recording, engine) for i in range(len(walked.nodes))]
        self.saved = {i: saved_stats(walked.nodes[i]) for i, name in enumerate(self.names) if plain(name) in SLOPES}
        self.zeroed: list[tuple[int, int]] = []  # an operation, and the input whose gradient it made zero
        self.given: set[int] = set()  # sinks to which something came that was not zero
        self.spoiled: tuple[int, str, str] | None = None  # an operation, why it was, and what to do
        self._handles = [
            node.register_hook(self._hook(i)) for i, node in enumerate(walked.nodes) if self.names[i] != SINK
        ]

    def stop(self) -> None:
        """Take the hooks off."""
        for handle in self._handles:
            handle.remove()
        self._handles = []

    def _hook(self, i: int) -> Any:
        def hook(grad_inputs: Any, grad_outputs: Any) -> None:
            if any(grad is not None and is_finite(grad) is False for grad in grad_outputs):
                return
            came = any(map(_is_some, grad_outputs))
            for j, grad in enumerate(grad_inputs):
                if grad is None:
                    continue
                if self.spoiled is None and is_finite(grad) is False:
                    self.spoiled = i, *self._reason(i, grad_outputs[0])
                if not _is_some(grad):
                    self.zeroed += [(i, j)] if came else []
                elif j < len(self.inputs[i]) and (edge := self.inputs[i][j]) is not None:
                    self.given.add(edge[0])

        return hook

    def _reason(self, i: int, came: Any) -> tuple[str, str]:
        return backward_reason(self.names[i], self.saved.get(i, {}), None if came is None else stats_of(came))

    def cancels(self, parameter: Any) -> bool:
        """Whether what came to a leaf was not zero, part by part: a sum of zero is then no mistake."""
        return self.leaves.get(id(parameter)) in self.given

    def _behind(self, i: int) -> set[int]:
        seen, waiting = {i}, [i]
        while waiting:
            for edge in self.inputs[waiting.pop()]:
                if edge is not None and edge[0] not in seen:
                    seen.add(edge[0])
                    waiting.append(edge[0])
        return seen

    def answers(self, parameters: list[Any]) -> dict[str, Asked]:
        """The operation that spoiled gradients, and the first that made those of ``parameters`` zero."""
        answers = {}
        if self.spoiled is not None:
            i, reason, remedy = self.spoiled
            what = f"{self.names[i]} was the first to give a gradient that is not finite."
            answers["nan gradient"] = Asked("nan gradient", what, (reason,) if reason else (), remedy, self.lines[i])
        leaves = {self.leaves[id(p)] for p in parameters if id(p) in self.leaves}
        for i, j in self.zeroed if leaves else ():
            edge = self.inputs[i][j] if j < len(self.inputs[i]) else None
            if edge is not None and leaves & self._behind(edge[0]):
                what = f"{self.names[i]} was given a gradient, and passed on zeros."
                answers["zero gradients"] = Asked(
                    "zero gradients", what, (), FIXES.get(self.names[i], ""), self.lines[i]
                )
                break
        return answers


#: What to do about an operation whose gradient is zero.
FIXES = {
    "MulBackward0": "look at the factor: it is zero for all",
    "ReluBackward0": "every unit is dead: a smaller learning rate, another initialization, or leaky_relu",
    "SigmoidBackward0": "it is saturated: keep its input small",
    "TanhBackward0": "it is saturated: keep its input small",
    "ClampBackward1": "everything was clamped: keep the input within its limits",
} | dict.fromkeys(
    ("SignBackward0", "RoundBackward0", "RoundBackward1", "FloorBackward0", "CeilBackward0", "TruncBackward0",
     "HeavisideBackward0"),
    "it is flat everywhere: leave it out of the loss, or x + (f(x) - x).detach(), which passes gradients on",
)  # fmt: skip


def _is_some(grad: Any) -> bool:
    array = array_of(grad) if grad is not None else None
    return array is not None and bool(array.any())
