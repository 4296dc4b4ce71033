"""The linear layer in one record, for the everyday call: a matrix of inputs, a matrix of weights, a vector of biases.

PyTorch's graph has two nodes there, AddmmBackward0 and the TBackward0 of the weight. One record computes the same
with half the work; when somebody looks at the graph, it unfolds into those two.
"""

from __future__ import annotations

from typing import Any

from ...core.record import Record, freed
from ...core.row import op
from ...core.tensor import Tensor, wrap
from ...kernels import compiled
from .matrix import addmm, column_sums, mm, transposed_by
from .shape import t


def unfold(record: Record) -> None:
    """Turn the record into the two that PyTorch has: of ``addmm``, and of the weight's transpose."""
    bias, mat1, weight = record.edges
    (sizes,) = record.settings
    is_freed = record.run is freed
    turned = None
    if weight is not None:
        turned = Record.of(t.row.plan.kind, (weight,))
        turned.sequence = record.sequence - 0.5
    settings = {"alpha": 1, "beta": 1, "self_sizes": sizes[:1], "mat2_sizes": sizes[::-1]}
    saves = addmm.row.plan.saves
    if not is_freed:
        mat1_at, weight_at = (2 * linear_2d.row.plan.saves[name][1] for name in ("mat1", "weight"))
        turned_weight = _transposed(record.saved[weight_at], record.saved[weight_at + 1], weight, turned)
        entries = {saves["mat1"][1]: record.saved[mat1_at : mat1_at + 2], saves["mat2"][1]: turned_weight}
        record.saved = tuple(entry for slot in sorted(entries) for entry in entries[slot])
    record.kind, record.edges = addmm.row.plan.kind, (bias, mat1, turned)
    record.run = freed if is_freed else record.kind.run
    record.settings = tuple(settings.get(name) for name, (how, _) in saves.items() if how == "setting")


def _transposed(weight: Any, version: int, edge: Any, turned: Record | None) -> tuple[Any, int]:
    """The saved weight as ``addmm`` saves it: its transpose, with the history of that view."""
    if weight is None:
        return None, 0
    if isinstance(weight, Tensor):
        counter, array = weight._counter, weight._array
    else:  # the bare array of an input whose history is an edge
        counter, array, version = edge.counter, weight, 0
    view = wrap(array.T)
    view._edge, view._counter = turned, counter
    return view, version


@op(
    node="AddmmBackward0", public=False, fallback=lambda bias, mat1, weight: addmm(bias, mat1, t(weight)), unfold=unfold
)
def linear_2d(self: Any, mat1: Any, weight: Any, /) -> Any:
    """``mat1 @ weight.T + self``, all of one everyday dtype."""
    try:
        turned = weight.T
        if mat1.size >= compiled.least and (result := compiled.product.served(mat1, turned, self)) is not None:
            return result
        result = mat1.dot(turned)
        result += self
    except (ValueError, AttributeError):
        return addmm.row.kernel(self, mat1, weight.T)  # it tells what is wrong
    return result


linear_2d.derivative(
    self=lambda grad, weight_sizes: column_sums(grad),
    mat1=lambda grad, weight: mm(grad, weight),
    weight=lambda grad, mat1: transposed_by(grad, mat1),
)
