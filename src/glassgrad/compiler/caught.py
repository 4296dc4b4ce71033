"""Errors that a function goes on after: which classes it catches, and which steps of a program may raise them.

A program makes no calls of the user's, and its shapes, dtypes and Python values are guarded: where nothing was raised
while it was captured, only what hangs on the values of tensors can be raised later.
"""

from __future__ import annotations

import builtins
import dis
import re
from functools import cache
from types import CodeType
from typing import Any

from .program import Step

_BY_VALUE = re.compile(
    "index|embedding|gather|scatter|nll|take|put|one_hot|multinomial|bernoulli|cholesky|inv|solve|linalg|svd|eig|qr|(?:^|_)lu(?:_|$)|"
    "bincount|binary_cross_entropy|repeat_interleave|ctc|item|pack|pad_packed|margin|segment|bag|pool|select|place|"
    "permutation|divide|div_rounded|remainder|fmod|normal|poisson|geometric|cauchy|exponential|log_normal|histc|"
    "histogram|clip_grad|getitem|matrix|pow|shift|norm_except|lstsq|hist|unique|sparse|choice|class|label|weights_of"
)
_ONLY_INDEX = frozenset(
    """nll_loss nll_loss2d nll_loss_backward nll_loss2d_backward embedding embedding_dense_backward index index_select
    index_select_backward index_backward take place""".split()
)
_HARMLESS = frozenset(
    "max_pool1d max_pool2d max_pool3d avg_pool1d avg_pool2d avg_pool3d select select_backward zero_gradients".split()
)
_WHOLE = re.compile(
    r"(add|sub|mul|div|neg|copy|fill|zero|lerp|addcmul|addcdiv|clamp|relu|sqrt|exp|log|tanh|sigmoid|abs|dropout|cast)_?$"
)


@cache
def handlers(code: CodeType) -> tuple[Any, ...]:
    """What the handlers of a function catch, as the names that say so; None for everything."""
    every = [one for one in dis.get_instructions(code) if one.opname not in ("CACHE", "EXTENDED_ARG", "NOP")]
    found: list[Any] = []
    for place, one in enumerate(every):
        if one.opname == "CHECK_EXC_MATCH":
            found.append(_spelt(every[:place]))
        elif one.opname == "PUSH_EXC_INFO" and every[place + 1].opname == "POP_TOP":
            found.append(None)
        elif (
            code.co_name == "__exit__" and one.opname == "RETURN_VALUE" and every[place - 1].argval not in (None, False)
        ):
            found.append(None)
    return tuple(found)


def _spelt(before: list[Any]) -> tuple[tuple[str, ...], ...] | None:
    """The dotted names of the classes that stand before a check."""
    names: list[tuple[str, ...]] = []
    wanted = 1
    rest: tuple[str, ...] = ()
    for one in reversed(before):
        if one.opname == "BUILD_TUPLE" and not names and not rest:
            wanted = one.arg
        elif one.opname == "LOAD_ATTR":
            rest = (one.argval, *rest)
        elif one.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            names.append((one.argval, *rest))
            rest = ()
        else:
            return None
        if len(names) == wanted:
            return tuple(names)
    return None


def caught(code: CodeType, space: dict[str, Any]) -> tuple[type[BaseException], ...]:
    """The classes that a function catches; ``space`` is its globals."""
    found: list[type[BaseException]] = []
    for names in handlers(code):
        if names is None:
            return (BaseException,)
        for first, *rest in names:
            cls = space.get(first, getattr(builtins, first, None))
            for name in rest:
                cls = getattr(cls, name, None)
            if not (isinstance(cls, type) and issubclass(cls, BaseException)):
                return (BaseException,)
            found.append(cls)
    return tuple(found)


def may_raise(step: Step) -> tuple[type[Exception], ...]:
    """What a step may raise by the values of its tensors."""
    if step.kind in ("gradient", "clear", "optimizer", "view") or not step.inputs:
        return ()
    if step.kind == "tensors" and not _WHOLE.match(step.name) and step.name not in _HARMLESS:
        return IndexError, RuntimeError, ValueError, ArithmeticError
    if step.name in _HARMLESS or not _BY_VALUE.search(step.name):
        return ()
    return (IndexError,) if step.name in _ONLY_INDEX else (IndexError, RuntimeError, ValueError, ArithmeticError)
