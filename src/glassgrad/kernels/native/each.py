"""Functions of single numbers over whole arrays: one formula, compiled into the loop that serves large ones."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from .binding import apart, inlined, kernel, shared_out, wide_vectors

F4, F8 = np.dtype("f4"), np.dtype("f8")
step: Any = None  # the formula, in the names that a loop is bound to


def _of_one(first: Any, last: Any, x: Any, out: Any) -> None:
    apart()
    wide_vectors()
    x, out = x[first:last], out[first:last]
    for i in range(out.size):
        out[i] = step(x[i])


def _of_one_set(first: Any, last: Any, x: Any, out: Any, settings: Any) -> None:
    apart()
    wide_vectors()
    x, out = x[first:last], out[first:last]
    for i in range(out.size):
        out[i] = step(x[i], *settings)


def _of_two(first: Any, last: Any, a: Any, b: Any, out: Any) -> None:
    apart()
    wide_vectors()
    a, b, out = a[first:last], b[first:last], out[first:last]
    for i in range(out.size):
        out[i] = step(a[i], b[i])


def _of_two_set(first: Any, last: Any, a: Any, b: Any, out: Any, settings: Any) -> None:
    apart()
    wide_vectors()
    a, b, out = a[first:last], b[first:last], out[first:last]
    for i in range(out.size):
        out[i] = step(a[i], b[i], *settings)


_LOOPS = {(1, False): _of_one, (1, True): _of_one_set, (2, False): _of_two, (2, True): _of_two_set}


def bound(template: Any, module: str, name: str, **names: Any) -> Any:
    """A kernel whose text is that of ``template``, in which ``names`` stand for these.

    It is called after its module and ``name``: names tell apart what is kept on disk.
    """
    loop = FunctionType(template.__code__, {**template.__globals__, **names}, name)
    loop.__module__, loop.__qualname__ = module, f"{module.split('.')[-2]}.{name}"
    return kernel(loop)


def each(arrays: int = 1, cost: int = 1) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Make a function of ``arrays`` numbers, and of settings, one of as many arrays of one shape and floating dtype.

    It takes ``cost`` nanoseconds for an element. What it gives lies in memory as its first array does; ``None`` if the
    arrays are not served.
    """

    def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
        names = function.__code__.co_varnames[arrays : function.__code__.co_argcount]
        template = _LOOPS[arrays, bool(names)]
        known = {**function.__globals__, **template.__globals__}  # all files that it is made from
        loop = bound(template, function.__module__, function.__name__, **{**known, "step": inlined(function)})

        def served(*arguments: Any, **named: Any) -> Any:
            if not names:
                return over_all(loop, arguments, cost)
            if named:
                arguments += tuple([named[name] for name in names if name in named])
            return over_all(loop, arguments[:arrays], cost, tuple([float(value) for value in arguments[arrays:]]))

        served.__name__, served.__doc__ = function.__name__, function.__doc__
        return served

    return compiled


def over_all(loop: Any, arrays: tuple[Any, ...], cost: int, *settings: Any) -> Any:
    """What ``loop`` writes for each element of ``arrays``; ``None`` if they are not served."""
    like = arrays[0]
    d, shape = like.dtype, like.shape
    if (d is not F4 and d is not F8) or type(like) is not np.ndarray or not like.size:
        return None
    if any([a.dtype is not d or a.shape != shape for a in arrays]):
        return None
    if not like.flags.c_contiguous:
        if 0 in like.strides:
            return None
        order = sorted(range(like.ndim), key=lambda axis: -abs(like.strides[axis]))
        out = over_all(loop, tuple([np.ascontiguousarray(a.transpose(order)) for a in arrays]), cost, *settings)
        return out.transpose(np.argsort(order))
    flat = [(a if a.flags.carray else np.array(a, order="C")).reshape(-1) for a in arrays]
    out = np.empty(shape, d)
    shared_out(loop, out.size, cost * out.size, *flat, out.reshape(-1), *settings)
    return out
