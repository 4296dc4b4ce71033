"""Hearing glassgrad's own calls, floor 8: through the gates of ``ops/intercept.py``, and at calls of modules.

While nobody else listens, what stands in a function's place is written here: the function's own signature, so that no
arguments are packed and unpacked, and one note in a list.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable
from threading import get_ident
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from ..autograd import Function
from ..autograd import api as autograd_api
from ..core.record import Record, tick
from ..core.tensor import Tensor, View
from ..ground import modes
from ..ground.later import whole
from ..nn import functional
from ..nn.modules.module import Module
from ..ops import intercept
from ..optim import optimizer as optimizers
from ..tensor.parameter import Parameter
from .notes import Kinds, Spec, leave_modules, listen_to_modules

KINDS = Kinds(Tensor)
_specs: dict[int, tuple[Any, Spec]] = {}
_templates: dict[int, tuple[Any, CodeType]] = {}  # by function: its own code, and the code that was written for it
#: Parameters of these types hold no tensor.
_SETTINGS = {"int", "bool", "str", "int | None", "bool | None", "str | None", "dtype | None", "Generator | None"}


class Listener:
    """Tells a recording what glassgrad does, from :meth:`start` to :meth:`stop`."""

    name = "glassgrad"
    tensor = Tensor
    kinds = KINDS
    age = staticmethod(tick)

    def __init__(self, recording: Any) -> None:
        self.notes = recording.notes
        self.handles: list[Any] = []
        self.started = False

    def is_on(self) -> bool:
        """Whether glassgrad records now."""
        return modes.grad_enabled()

    def inference(self) -> bool:
        """Whether glassgrad is in inference mode now."""
        return modes.local.inference

    def start(self) -> None:
        """Begin to listen."""
        more = [function for function in whole(functional).values() if type(function) is FunctionType]
        intercept.start(self._call, more=[*more, *_named()], write=None if self.notes.values else self._write)
        listen_to_modules(Module, self.notes)
        self.handles = [
            optimizers.register_optimizer_step_pre_hook(self._before_step),
            optimizers.register_optimizer_step_post_hook(self._after_step),
        ]
        self.started = True

    def stop(self) -> None:
        """Listen no more."""
        if self.started:
            self.started = False
            for handle in self.handles:
                handle.remove()
            leave_modules(Module, self.notes)
            intercept.stop(self._call)

    def _call(self, function: Any, proceed: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        notes = self.notes
        if notes.inside or get_ident() != notes.thread:
            return proceed(*args, **kwargs)
        frame = intercept.caller_of(function) or sys._getframe()
        spec, told = spec_of(function), args
        if spec.name == "apply" and args:
            spec, told = Spec(args[0].__name__), args[1:]
        return notes.hear(self, spec, proceed, args, kwargs, told, frame)

    def _write(self, function: Any, own: Any) -> CodeType | None:
        """The code that stands in for ``function`` while this listener is the only one."""
        spec = spec_of(function)
        if spec.name == "apply":
            return None
        kept = _templates.get(id(function))
        if kept is None or kept[0] is not own.__code__:
            kept = _templates[id(function)] = own.__code__, _template(function, own, spec)
        notes = self.notes
        filling = {
            "@own": own, "@notes": notes, "@spec": spec, "@listener": self, "@find": notes.find,
            "@log": notes.log.append, **_FILLING,
        }  # fmt: skip
        consts = tuple(filling.get(c, c) if type(c) is str else c for c in kept[1].co_consts)
        return kept[1].replace(co_consts=consts)

    def _before_step(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        self.quiet, self.notes.inside = self.notes.inside, True

    def _after_step(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        self.notes.inside = self.quiet
        tensors = [t for group in optimizer.param_groups for t in group["params"] if t.grad is not None]
        self.notes.stepped(f"{type(optimizer).__name__}.step", tensors, sys._getframe(1))


_FILLING = {
    "@tick": tick, "@ident": get_ident, "@frame": sys._getframe, "@ref": weakref.ref, "@Tensor": Tensor,
    "@Parameter": Parameter, "@Record": Record, "@View": View, "@ndarray": np.ndarray, "@kinds": KINDS,
}  # fmt: skip


def _named() -> dict[Any, str]:
    """Functions outside the table, and what they are called."""
    data = Tensor.__dict__["data"]
    named = {data.fget: "data", data.fset: "data=", Function.__dict__["apply"].__func__: "apply"}
    for home in (autograd_api, Tensor):
        function = getattr(home, "backward", None)
        if type(function) is FunctionType:
            named[function] = "backward"
    return named


def spec_of(function: Any) -> Spec:
    """What is known of one of glassgrad's functions."""
    found = _specs.get(id(function))
    if found is None or found[0] is not function:
        spec = Spec(_named().get(function) or function.__name__, function)
        found = _specs[id(function)] = function, spec
    return found[1]


def _template(function: Any, own: Any, spec: Spec) -> CodeType:
    """The code that notes calls of a function: its signature, with words for the objects it is to hold."""
    code = own.__code__
    names = code.co_varnames
    count, only = code.co_argcount, code.co_kwonlyargcount
    positional, keywords = names[:count], names[count : count + only]
    at = count + only
    rest = names[at] if code.co_flags & 4 else ""
    more = names[at + bool(rest)] if code.co_flags & 8 else ""
    declared = [*positional]
    if code.co_posonlyargcount:
        declared.insert(code.co_posonlyargcount, "/")
    declared += [f"*{rest}"] if rest else ["*"] if keywords else []
    declared += [*keywords, *([f"**{more}"] if more else [])]
    told = [*positional, *([f"*{rest}"] if rest else [])]
    handed = ", ".join([*told, *(f"{name}={name}" for name in keywords), *([f"**{more}"] if more else [])])
    named = ", ".join([*(f"{name!r}: {name}" for name in keywords), *([f"**{more}"] if more else [])])
    packed = f"({', '.join(told)}{',' if told else ''})"
    full = f'notes_.tell("@listener", "@spec", a_, b_, frame_(1), {packed}, {{{named}}}, r_)'
    lines = [
        f"def entry({', '.join(declared)}):",
        '    own_ = "@own"; notes_ = "@notes"; tick_ = "@tick"; frame_ = "@frame"; ident_ = "@ident"',
        f"    if notes_.inside or ident_() != notes_.thread: return own_({handed})",
        "    notes_.inside = True",
        "    try:",
        "        a_ = tick_()",
    ]
    if keywords == ("out",) and not more and not rest:
        lines.append(f"        r_ = own_({', '.join(told)}) if out is None else own_({handed})")
    else:
        lines.append(f"        r_ = own_({handed})")
    lines += ["        b_ = tick_()", "    finally: notes_.inside = False"]
    if not spec.brief:
        return intercept.code_over(code.co_freevars, "\n".join([*lines, f"    {full}", "    return r_", ""]))
    row = getattr(function, "row", None) or intercept._operated.get(id(function))
    types = getattr(function, "__annotations__", {})
    inputs = len(row.inputs) if row is not None else count
    given = []
    for name in [*positional[:inputs], *(name for name in keywords if name != "out" and row is None)]:
        if types.get(name) not in _SETTINGS:
            given.append(
                f"ref_({name}) if type({name}) is tensor_ or type({name}) is parameter_ else "
                f"None if {name} is None else find_({name}, kinds_)"
            )
    settings = [*positional[inputs:], *(name for name in keywords if name != "out" and row is not None)]
    if settings:
        given.append(f"find_(({', '.join(settings)},), kinds_) if notes_.numbers else None")
    given += [f"find_({rest}, kinds_) if {rest} else None"] if rest else []
    given += [f"find_(tuple({more}.values()), kinds_) if {more} else None"] if more else []
    lines += [
        '    tensor_ = "@Tensor"',
        f"    if type(r_) is tensor_{' and out is None' if 'out' in keywords else ''}:",
        '        record_ = "@Record"; view_ = "@View"; e_ = r_._edge; v_ = None',
        "        if type(e_) is record_ or type(e_) is view_ and r_.requires_grad:",
        '            ref_ = "@ref"; find_ = "@find"; log_ = "@log"; parameter_ = "@Parameter"; kinds_ = "@kinds"',
        '            array_ = "@ndarray"; d_ = r_._array',
        "            if type(e_) is view_: v_ = ref_(e_.base)",
        "            if type(d_) is array_: s_ = d_.shape; d_ = d_.dtype",
        "            else: s_ = (); d_ = type(d_)",
        "            f_ = frame_(1)",
        "            q_ = notes_.seat if f_ is notes_.top else notes_.sit(f_)",
        f'            log_(("@spec", a_, b_, q_, f_.f_lasti, notes_.scope, s_, d_, ref_(r_), v_, {", ".join(given)}))',
        "            return r_",
        f"    {full}",
        "    return r_",
        "",
    ]
    return intercept.code_over(code.co_freevars, "\n".join(lines))
