"""The linear layer in one record, for the everyday call: a matrix of inputs, a matrix of weights, a vector of biases.

PyTorch's graph has two nodes there, AddmmBackward0 and the TBackward0 of the weight.  One record computes the same with
half the work; when somebody looks at the graph, it unfolds into those two.
"""

from __future__ import annotations

from typing import Any

from ...core import call
from ...core.record import Record, freed
from ...core.row import op
from ...core.tensor import Tensor, wrap
from ...fast import generate
from ...kernels import compiled
from .matrix import addmm, column_sums, mm, transposed_by
from .shape import t


def unfold(record: Record) -> None:
    """Turn the record into the two that PyTorch has: of ``addmm``, and of the weight's transpose."""
    bias, mat1, weight = record.e0
    (sizes,) = record.k
    is_freed = record.run is freed
    turned = None
    if weight is not None:
        turned = _record_of(t, (weight,), record.sequence - 0.5)
    saved = {name: place for name, (_, place) in linear_2d.row.saves.items()}
    held = {
        "mat1": (getattr(record, f"p{saved['mat1']}"), getattr(record, f"v{saved['mat1']}", 0)),
        "mat2": _transposed(record, saved["weight"], weight, turned),
    }
    settings = {"alpha": 1, "beta": 1, "self_sizes": sizes[:1], "mat2_sizes": sizes[::-1]}
    record.kind = call.kind_of(addmm.row)
    generate.make_ready(addmm.row)
    record.run = freed if is_freed else record.kind.run
    record.e0 = (bias, mat1, turned)
    places = [settings.get(name) for name, (how, _) in addmm.row.saves.items() if how == "setting"]
    record.k = tuple(places)
    for name, (how, slot) in addmm.row.saves.items():
        if how == "tensor":
            setattr(record, f"p{slot}", None if is_freed else held[name][0])
            setattr(record, f"v{slot}", held[name][1])


@op(
    node="AddmmBackward0", public=False, fallback=lambda bias, mat1, weight: addmm(bias, mat1, t(weight)), unfold=unfold
)
def linear_2d(self: Any, mat1: Any, weight: Any, /) -> Any:
    """``mat1 @ weight.T + self``, all of one everyday dtype."""
    try:
        turned = weight.T
        if mat1.size >= compiled.least and (made := compiled.product.served(mat1, turned, self)) is not None:
            return made
        made = mat1.dot(turned)
        made += self
    except (ValueError, AttributeError):
        return addmm.row.kernel(self, mat1, weight.T)  # it tells what is wrong
    return made


linear_2d.derivative(
    self=lambda grad, weight_sizes: column_sums(grad),
    mat1=lambda grad, weight: mm(grad, weight),
    weight=lambda grad, mat1: transposed_by(grad, mat1),
)


def _record_of(caller: Any, edges: tuple[Any, ...], sequence: float) -> Record:
    generate.make_ready(caller.row)
    record = Record(call.kind_of(caller.row), edges)
    record.sequence = sequence
    return record


def _transposed(record: Record, slot: int, weight: Any, turned: Record | None) -> tuple[Any, int]:
    """The saved weight as ``addmm`` saves it: its transpose, with the history of that view."""
    held = getattr(record, f"p{slot}")
    if held is None:
        return None, 0
    version = getattr(record, f"v{slot}")
    if not isinstance(held, Tensor):
        held_cell, array = weight.counter, held
        version = 0
    else:
        held_cell, array = held._counter, held._array
    view = wrap(array.T)
    view._edge, view._counter = turned, held_cell
    return view, version
