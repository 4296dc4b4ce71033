"""Leaves: adding what arrives into ``leaf.grad``."""

from __future__ import annotations

import os
import threading
from sys import getrefcount
from typing import Any

import numpy as np

from ..ground import errors
from .record import Record, VersionCounter
from .tensor import Tensor, edge_of, new, wrap

ndarray = np.ndarray
adding = threading.RLock()  # whoever holds it may change the gradients of leaves
copied: Any = NotImplemented  # a recorded copy of a Tensor, handed in by autograd/api.py
check_sum: Any = NotImplemented  #: raises where a gradient cannot be added to another, from tensor/writable.py


def _count(leaf: Any, grad: Any) -> int:  # called as ``accumulate`` is, so that as many references are counted
    return getrefcount(grad)


def _references() -> int:
    """How many references to a gradient there are in ``accumulate`` when nobody else holds it, on this Python."""
    grad = np.empty(0)
    return _count(None, grad)


_OURS = _references()


def _renew_lock() -> None:
    global adding
    adding = threading.RLock()  # a forked child does not have the thread that may hold the other


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)


def is_wanted(leaf: Any) -> bool:
    """Whether a leaf still requires gradients; RuntimeError where it is none any more, as it was given a history."""
    edge = edge_of(leaf)
    if type(edge) is Record:
        raise RuntimeError(errors.MOVED)
    return edge is not None


def into_leaf(leaf: Any, grad: Any, lifted: bool) -> None:
    """Accumulate into a leaf, between its hooks if it has any; not if it stopped wanting gradients meanwhile."""
    if is_wanted(leaf):
        hooks = getattr(leaf, "_hooks", None)
        if hooks is not None:
            hooks.around_leaf(leaf, grad, lifted)
            return
        with adding:  # as ``add``, by whom the gradient would have one more reference
            if lifted:
                accumulate_lifted(leaf, grad)
            else:
                accumulate(leaf, grad)


def add(leaf: Any, grad: Any, lifted: bool) -> None:
    """Accumulate into a leaf, while no other thread does; its hooks are not asked."""
    with adding:
        if lifted:
            accumulate_lifted(leaf, grad)
        else:
            accumulate(leaf, grad)


def accumulate(leaf: Any, grad: Any) -> None:
    """Add the array ``grad`` into ``leaf.grad``: into the existing tensor, so that it keeps its identity."""
    total = leaf._grad
    if total is None:
        if type(grad) is ndarray:
            if getrefcount(grad) > _OURS:  # somebody else sees this array
                grad = _own(grad, leaf._array)
            elif grad.base is not None:
                whole = _whole(grad, leaf._array)
                grad = _own(grad, leaf._array) if whole is None else whole
            elif grad.ndim > 1 and grad.strides != leaf._array.strides:
                grad = _own(grad, leaf._array)
        elif not isinstance(grad, np.generic):
            leaf._grad = wrap(_alone(grad))
            return
        total = new(Tensor)
        total._array = grad
        total._edge = total._counter = None
        leaf._grad = total
    else:
        data = total._array
        if type(data) is ndarray:
            try:
                if not data.ndim:  # NumPy adds scalars in a quarter of the time
                    data[()] += grad
                elif data.base is not None and 0 in data.strides and data.size > 1:
                    raise RuntimeError(errors.OVERLAP)
                else:
                    np.add(data, grad, data)
            except (TypeError, ValueError):
                check_sum(total, grad)
                raise
        elif isinstance(data, np.generic):
            total._array = np.array(data + grad)  # memory of its own: from now on it is written in place
        elif type(whole := data + grad) is ndarray:  # a sparse one that became dense
            leaf._grad = wrap(whole)
            return
        else:
            total._array = whole
        if total._counter is None:
            total._counter = VersionCounter(1)
        else:
            total._counter.version += 1


def _alone(grad: Any) -> Any:
    """A sparse gradient whose values nobody else sees; as in PyTorch, its places count as not yet in order."""
    grad = grad.copy()
    if hasattr(type(grad), "coalesced"):
        grad.coalesced = False
    return grad


def _whole(grad: Any, data: Any) -> Any:
    """The array that a gradient is all of, turned twice perhaps, where nobody sees that; None if it must be copied."""
    base = grad.base
    if type(base) is not ndarray or base.base is not None or getrefcount(base) > _OF_BASE or not base.flags.owndata:
        return None
    if base.dtype is not grad.dtype or not base.shape == grad.shape == data.shape:
        return None
    return base if base.strides == grad.strides == data.strides else None


def _base_references() -> int:
    """How many references to an array there are in ``_whole`` when only one view of it is left."""
    grad = np.empty((2, 3)).T
    base = grad.base
    return getrefcount(base)


_OF_BASE = _base_references()


def _own(grad: Any, data: Any) -> Any:
    """A copy of ``grad``, laid out as the leaf's data where that is dense, else row by row."""
    if type(data) is not ndarray or data.flags.c_contiguous:  # a sparse leaf has no layout
        return np.array(grad, order="C")
    from ..ground.layout import is_dense, laid, strides_of  # few leaves lie otherwise

    strides = strides_of(data)
    return laid(grad, strides) if is_dense(data.shape, strides) else np.array(grad, order="C")


def accumulate_lifted(leaf: Any, grad: Any) -> None:
    """Add the Tensor ``grad`` into ``leaf.grad`` out of place, so that the sum can be differentiated."""
    leaf._grad = copied(grad) if leaf._grad is None else leaf._grad + grad
