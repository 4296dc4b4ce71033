"""Hearing torch's calls, floor 8: a function mode, calls of modules, ages of nodes; torch as it is handed in."""

from __future__ import annotations

import sys
from typing import Any
from weakref import ref

from .notes import Kinds, Spec, leave_modules, listen_to_modules
from .reasons import FRESH

#: Properties of a tensor that are operations, written without brackets.
OPERATIONS = frozenset({"T", "mT", "H", "mH", "real", "imag"})
_kept: dict[Any, tuple[type, Kinds, dict[Any, Spec]]] = {}


class Listener:
    """Tells a recording what torch does in this thread, from :meth:`start` to :meth:`stop`."""

    name = "torch"

    def __init__(self, recording: Any, torch: Any) -> None:
        self.notes, self.torch = recording.notes, torch
        self.tensor = torch.Tensor
        if torch not in _kept:
            _kept[torch] = _mode(torch), Kinds(torch.Tensor), {}
        _, self.kinds, self.specs = _kept[torch]
        age = getattr(torch.autograd, "_get_sequence_nr", None)
        if age is None:
            age = getattr(getattr(torch._C, "_autograd", None), "_get_sequence_nr", None)
        self.age = age or self._by_trial
        self.handles: list[Any] = []
        self.stance: Any = None
        self.started = False

    def _by_trial(self) -> int:
        """The next node's age, found by making one: for versions of torch that do not tell."""
        torch = self.torch
        with torch.enable_grad():
            return int(torch.ones((), requires_grad=True).clone().grad_fn._sequence_nr()) + 1

    def is_on(self) -> bool:
        """Whether torch records now."""
        return bool(self.torch.is_grad_enabled())

    def inference(self) -> bool:
        """Whether torch is in inference mode now."""
        return bool(self.torch.is_inference_mode_enabled())

    def start(self) -> None:
        """Begin to listen."""
        torch, notes = self.torch, self.notes
        if "torch._dynamo" in sys.modules:  # what torch.compile has taken has no lines: it runs as it is written
            self.stance = torch.compiler.set_stance("force_eager")
        self.mode = _kept[torch][0](self)
        self.mode.__enter__()
        listen_to_modules(torch.nn.Module, notes)
        self._function = torch.autograd.Function.__dict__["apply"]
        listener, inner = self, self._function.__func__

        def apply(cls: Any, *args: Any, **kwargs: Any) -> Any:
            if notes.inside:
                return inner(cls, *args, **kwargs)
            return notes.hear(listener, Spec(cls.__name__), inner, (cls, *args), kwargs, args, sys._getframe(1))

        torch.autograd.Function.apply = classmethod(apply)
        step = getattr(sys.modules.get("torch.optim.optimizer"), "register_optimizer_step_pre_hook", None)
        if step is not None:
            optimizer = sys.modules["torch.optim.optimizer"]
            self.handles.append(optimizer.register_optimizer_step_pre_hook(self.notes.before_step))
            self.handles.append(optimizer.register_optimizer_step_post_hook(self.notes.after_step))
        self.started = True

    def stop(self) -> None:
        """Listen no more."""
        if self.started:
            self.started = False
            for handle in self.handles:
                handle.remove()
            self.torch.autograd.Function.apply = self._function
            leave_modules(self.torch.nn.Module, self.notes)
            self.mode.__exit__(None, None, None)
            if self.stance is not None:
                self.stance.__exit__(None, None, None)


class _TorchSpec(Spec):
    """What is known of one of torch's functions: also whether it reads a property, and whether it gives new memory.

    Reading a property is no operation, but for ``data``, which cuts, and those of ``OPERATIONS``.
    """

    __slots__ = ("ignored", "fresh")

    def __init__(self, func: Any, data: Any) -> None:
        name = getattr(func, "__name__", "")
        self.ignored = False
        if name == "__get__" or name == "__set__":
            owner = getattr(func, "__self__", None)
            word = getattr(owner, "__name__", "")
            self.ignored = owner is not data and word not in OPERATIONS
            name = ("data" if owner is data else word) + ("" if name == "__get__" else "=")
        super().__init__(name, func)
        self.fresh = self.name in FRESH


def _mode(torch: Any) -> type:
    """The function mode that hands calls to a listener."""
    from torch.overrides import TorchFunctionMode

    data, tensor, parameter = torch.Tensor.data, torch.Tensor, torch.nn.Parameter
    get_frame = sys._getframe

    class Hearing(TorchFunctionMode):  # type: ignore[misc]
        def __init__(self, listener: Any) -> None:
            super().__init__()
            self.listener, self.notes, self.age = listener, listener.notes, listener.age
            self.specs, self.kinds = listener.specs, listener.kinds
            self.log, self.whole = listener.notes.log.append, listener.notes.values

        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            notes = self.notes
            spec = self.specs.get(func)
            if spec is None:
                spec = self.specs[func] = _TorchSpec(func, data)
            if spec.ignored or notes.inside:
                return func(*args, **kwargs) if kwargs else func(*args)
            age = self.age
            if not spec.brief:
                return notes.hear(self.listener, spec, func, args, kwargs or {}, args, get_frame(1))
            start = age()
            result = func(*args, **kwargs) if kwargs else func(*args)
            stop = age()
            frame = get_frame(1)
            if start != stop and type(result) is tensor and not self.whole and not (args and result is args[0]):
                base = None
                if not spec.fresh:
                    base = result._base
                    if base is not None:
                        base = ref(base)
                    elif not result.requires_grad:
                        notes.tell(self.listener, spec, start, stop, frame, args, kwargs or {}, result)
                        return result
                seat = notes.seat if frame is notes.top else notes.sit(frame)
                if kwargs:
                    if kwargs.get("out") is not None:
                        notes.tell(self.listener, spec, start, stop, frame, args, kwargs, result)
                        return result
                    args = (*args, *kwargs.values())
                if len(args) == 2:
                    one, two = args
                    kind = type(two)
                    self.log((
                        spec, start, stop, seat, frame.f_lasti, notes.scope, None, None, ref(result), base,
                        ref(one) if type(one) is tensor else notes.find(one, self.kinds),
                        ref(two) if kind is tensor or kind is parameter else None if two is None
                        else notes.find(two, self.kinds),
                    ))  # fmt: skip
                else:
                    find, kinds = notes.find, self.kinds
                    self.log((
                        spec, start, stop, seat, frame.f_lasti, notes.scope, None, None, ref(result), base,
                        *[ref(one) if type(one) is tensor else find(one, kinds) for one in args],
                    ))  # fmt: skip
                return result
            notes.inside = True
            try:
                notes.tell(self.listener, spec, start, stop, frame, args, kwargs or {}, result)
            finally:
                notes.inside = False
            return result

    return Hearing
