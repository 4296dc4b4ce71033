"""The neutral model of a graph, floor 8: plain frozen records that hold no tensor and know no engine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

NodeKind = Literal["op", "leaf", "output", "base"]
EdgeKind = Literal["gradient", "view"]
SavedState = Literal["ok", "freed", "modified", "hooked"]


@dataclass(frozen=True, slots=True)
class TensorInfo:
    """What is known of a tensor without keeping it: its shape, its dtype's bare name and its bytes."""

    shape: tuple[int, ...]
    dtype: str
    nbytes: int

    @property
    def size_text(self) -> str:
        """The shape as it is written under a box: ``()``, ``(3)``, ``(2, 3)``."""
        return "(" + ", ".join(map(str, self.shape)) + ")"


@dataclass(frozen=True, slots=True)
class Saved:
    """One tensor that an operation keeps for its backward step.

    ``tensor`` is None unless ``state`` is ``ok``: a freed or modified value cannot be read, and one packed by
    hooks is left alone because unpacking it may compute. ``leaf`` is the index of the drawn leaf it is, if it is one.
    """

    slot: str
    state: SavedState
    tensor: TensorInfo | None = None
    name: str | None = None
    leaf: int | None = None


@dataclass(frozen=True, slots=True)
class Node:
    """One thing of the graph: an operation of the backward graph, a leaf, an output, or the base of a viewed output.

    ``op`` is the operation's name (empty for tensors), ``name`` what the caller calls the tensor, ``seq`` the age of
    the operation (None for leaves' sinks), ``attrs`` the saved settings as (name, text).
    """

    index: int
    kind: NodeKind
    op: str = ""
    name: str | None = None
    tensor: TensorInfo | None = None
    seq: int | None = None
    attrs: tuple[tuple[str, str], ...] = ()
    saved: tuple[Saved, ...] = ()


@dataclass(frozen=True, slots=True)
class Edge:
    """A dependence, in the direction of the forward pass: ``dst`` was made from ``src``; gradients flow the other way.

    ``src_output`` and ``dst_input`` tell which output of ``src`` is which input of ``dst``.
    """

    src: int
    dst: int
    src_output: int = 0
    dst_input: int = 0
    kind: EdgeKind = "gradient"


@dataclass(frozen=True, slots=True)
class Graph:
    """A whole graph: operations first, in the order the backward pass visits them, then the tensors at its ends."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    outputs: tuple[int, ...]
    engine: str
