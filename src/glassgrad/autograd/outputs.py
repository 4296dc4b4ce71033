"""What ``forward`` of a custom Function gives, with the history that each output has then."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from ..core import views
from ..core.tensor import Tensor, View, alias, edge_of, move_retained, share
from ..tensor import writable
from ..tensor.lifted import Lifted, of_class
from ..tensor.parameter import Parameter


def marked(tensors: Sequence[Any] | None, refusal: str) -> set[int]:
    """Which tensors were marked, by identity."""
    if not all(isinstance(tensor, Tensor) for tensor in tensors or ()):
        raise RuntimeError(refusal)  # PyTorch's sentence ends there
    return {id(tensor) for tensor in tensors or ()}


def output(result: Tensor, edge: Any, dirty: bool, is_input: bool, total: int) -> Tensor:
    """An output of ``forward`` with its history: ``edge``, or none."""
    out = result
    if edge is None:
        if is_input:
            out = alias(result) if result.requires_grad else result if dirty else _same(result, None)
        elif result.requires_grad and type(result._edge) is not View:
            result._edge = None
    elif dirty:
        _rebase(result, edge, is_input, total)
    elif is_input:
        out = _same(result, edge)
    elif type(result._edge) is View:
        result._edge.edge, result._edge.seen = edge, share(result).version
    else:
        result._edge = edge
    if not (is_input and dirty) and type(out._edge) is View:
        out._edge.origin = "custom"
    return out


def _same(tensor: Tensor, edge: Any) -> Tensor:
    """The view of an input that ``forward`` gave back as it was."""
    out = alias(tensor)
    if 1 in tensor._array.shape:  # dimensions of one lie as those of ``view_as`` do
        from ..families.shape.rows import view  # not at the top: few programs give back such a tensor

        out._array = view.row.kernel(tensor._array, tensor._array.shape)
    out._edge = place = View()
    place.base = tensor._edge.base if type(tensor._edge) is View else tensor
    place.edge, place.seen, place.origin = edge, share(tensor).version, "custom"
    if isinstance(tensor, (Parameter, Lifted)) or type(tensor) is Tensor:
        return out
    return of_class(type(tensor), out)  # type: ignore[no-any-return]


def _rebase(tensor: Tensor, edge: Any, is_input: bool, total: int) -> None:
    """Give what ``forward`` wrote its new history."""
    old_edge = tensor._edge
    if type(old_edge) is View and old_edge.origin is not None:
        raise RuntimeError(writable.refusal(old_edge, old_edge.edge, "is being"))
    if edge_of(tensor) is tensor:
        raise RuntimeError("a leaf Variable that requires grad has been used in an in-place operation.")
    if not is_input:
        warnings.warn(
            "ctx.mark_dirty() received a tensor that was not an input. Only input Tensors that have been mutated "
            "should be passed to ctx.mark_dirty().",
            UserWarning,
            stacklevel=5,
        )
    elif tensor._grad is not None:
        tensor._grad = None  # as PyTorch forgets it
    if type(old_edge) is not View:
        tensor._edge = edge
        move_retained(tensor, old_edge)
        return
    writable.check_view(tensor, old_edge, True)
    if total > 1:
        raise RuntimeError(
            "If your Function modifies inplace an input that is a view of another Tensor, your Function cannot return "
            "more than one Tensor. This is not supported by the current autograd engine. You should either make sure "
            "the input is not a view (using .clone() for example) or make your Function only return one Tensor "
            "(potentially splitting it into two Functions: one doing the inplace that returns a single Tensor and a "
            "second one that does the other operations). You can ask on the forum https://discuss.pytorch.org/ if you "
            "need help to do this change."
        )
    views.rebase(tensor, edge)
