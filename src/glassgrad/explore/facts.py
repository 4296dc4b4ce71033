"""What is told of an operation beside its node, floor 8: its rule, its local derivatives, the shape of its result."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from importlib import import_module
from math import prod
from typing import Any

from .labels import metadata_of, outputs_of
from .measure import dtype_name
from .model import Node, TensorInfo
from .walk import SINK, Walk, family


@cache
def _rules() -> dict[str, str | None]:
    home = f"{__package__}.derivatives"
    try:
        built = import_module(home)
    except ModuleNotFoundError:  # a clone that was never built; what cannot build it does without
        try:
            import_module(f"{__package__.rpartition('.')[0]}.ops.built").build()
            built = import_module(home)
        except ImportError:
            return {}
    rules: dict[str, str | None] = built.RULES
    return rules


def rule_of(op: str) -> str | None:
    """The rule of the operation whose node is called ``op``: for each input, what becomes of the gradient."""
    return _rules().get(op)


# -- local derivatives as text -----------------------------------------------------------------------------------------
# Of operations on single numbers, asked of the nodes as backward asks them.

MOST = 400  # operations up to which a graph's nodes are asked


def slopes(walked: Walk, nodes: Sequence[Node], engine: str) -> dict[tuple[int, int], str]:
    """The local derivative of each node by each of its inputs, where result and input are single numbers.

    Only operations of the table are asked: calling the node of a custom Function would run the user's code. A node
    whose saved values are freed, changed or packed by hooks is left alone.
    """
    torch = sys.modules.get(engine)
    if torch is None or len(walked.nodes) > MOST:
        return {}
    texts: dict[tuple[int, int], str] = {}
    with torch.no_grad():
        for i, node in enumerate(walked.nodes):
            known = nodes[i]
            if known.op == SINK or known.op not in _rules() or any(s.state != "ok" for s in known.saved):
                continue
            if len(known.outputs) != 1 or known.outputs[0].shape or not known.outputs[0].dtype.startswith("float"):
                continue
            seed = torch.ones((), dtype=getattr(torch, known.outputs[0].dtype))
            try:
                results = node(seed)
            except (RuntimeError, TypeError, NotImplementedError):  # it needs more than one gradient, or its values
                continue
            for slot, result in enumerate(results if isinstance(results, (tuple, list)) else (results,)):
                if result is not None and not tuple(result.shape):
                    texts[i, slot] = f"{result.item():.4g}"
    return texts


# -- the shapes of operations' results ---------------------------------------------------------------------------------
# Told by torch's nodes, pieced together for glassgrad's: a record of glassgrad does not keep its result's shape. Its
# neighbours know it: whoever saved the result, the sizes that a rule saved, the tensors at the ends, and operations
# that give what they were given.


BYTES = {
    "bool": 1, "int8": 1, "uint8": 1, "int16": 2, "float16": 2, "bfloat16": 2, "int32": 4, "float32": 4, "int64": 8,
    "float64": 8, "complex64": 8, "complex128": 16,
}  # fmt: skip

#: Operations that give the shape they were given, and do not say so in the table.
SAME = {
    "Relu", "Gelu", "Silu", "Softmax", "LogSoftmax", "Threshold", "LeakyRelu", "Elu", "Hardtanh", "Clamp",
    "NativeDropout", "Cumsum", "Cumprod", "Softplus", "LogSigmoidForward", "Hardswish", "Hardsigmoid", "Clone",
    "ToCopy", "Mish", "NativeLayerNorm", "NativeBatchNorm", "NativeGroupNorm", "Abs", "Flip", "Roll", "Tril",
    "Triu", "MaskedFill", "Alias", "CopySlices",
}  # fmt: skip

Known = dict[tuple[int, int], TensorInfo]
Settings = tuple[tuple[str, str], ...]


@lru_cache(4096)
def info(shape: Any, dtype: str) -> TensorInfo:
    """The record of a tensor of which only shape and dtype are known."""
    sizes = tuple(map(int, shape))
    return TensorInfo(sizes, dtype, BYTES.get(dtype, 4) * prod(sizes))


def outputs(walked: Walk, known: Known, settings: Sequence[Settings]) -> list[tuple[TensorInfo, ...]]:
    """What each operation gave: as its node tells, as ``known`` (by node and output), or as its neighbours tell."""
    results: list[tuple[TensorInfo, ...]] = []
    for i, node in enumerate(walked.nodes):
        if walked.ops[i] == SINK:
            variable = node.variable
            known.setdefault((i, 0), info(tuple(variable.shape), dtype_name(variable.dtype)))
            results.append(())
            continue
        metadata, count = metadata_of(node), outputs_of(node)
        if metadata:
            infos = []
            for k, one in enumerate(metadata):
                heard = known.get((i, k))
                if getattr(one, "is_nested_tensor", False):  # its sizes differ from row to row: the node has none
                    continue
                gave = info(tuple(one.shape), dtype_name(one.dtype))
                infos.append(gave if heard is None or heard.stats is None else replace(gave, stats=heard.stats))
            results.append(tuple(infos))
            continue
        if count == 1:
            _spread(walked, i, known, dict(settings[i]))
        gathered = [known.get((i, k)) for k in range(count)]
        results.append(tuple([one for one in gathered if one is not None]) if all(gathered) else ())
    return results


def _spread(walked: Walk, i: int, known: Known, attrs: Mapping[str, str]) -> None:
    """Tell the shapes of what node ``i`` was made from, from its own and from the sizes it saved."""
    record = getattr(walked.nodes[i], "_record", None)
    row = getattr(getattr(record, "kind", None), "row", None)
    own = known.get((i, 0))
    first = walked.inputs[i][0] if walked.inputs[i] else None
    if own is not None and first is not None and family(walked.ops[i]) in SAME:
        known.setdefault(first, info(own.shape, own.dtype))
    if row is None or row.listed:
        return
    sizes: Any = getattr(record, "fit", None)
    if hasattr(sizes, "sizes"):  # it tells more than the sizes
        sizes = tuple(sizes.sizes)
    names = [row.inputs[position] for position in row.plan.ruled_inputs]
    for slot, edge in enumerate(walked.inputs[i]):
        if edge is None or edge in known or slot >= len(names):
            continue
        shape = _numbers(attrs.get(f"{names[slot]}_sym_sizes"))
        if shape is None and row.typed is not None and own is not None:
            if sizes is None:
                shape = own.shape
            elif isinstance(sizes, tuple) and len(sizes) > slot and isinstance(sizes[slot], tuple):
                shape = sizes[slot]
        if shape is not None:
            known[edge] = info(shape, own.dtype if own is not None else "float32")


def _numbers(text: str | None) -> tuple[int, ...] | None:
    if text is None:
        return None
    pieces = text.strip("()[]").replace(" ", "").rstrip(",").split(",")
    try:
        return tuple(int(piece) for piece in pieces if piece)
    except ValueError:
        return None
