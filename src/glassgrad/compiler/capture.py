"""Listens to one run of a function and notes every operation it takes: rows, their rules, writes, optimizer steps.

The run is a real one: it gives the caller what the function gives. Only its backward passes go another way to the same
bits: on tensors instead of arrays, so that the rules are heard too. Whatever cannot be followed ends the capture with a
reason, and the run goes on as it is written.
"""

from __future__ import annotations

import threading
import zlib
from collections.abc import Callable, Sequence
from types import GeneratorType
from typing import Any

import numpy as np

from ..autograd import api
from ..graph import engine, leaf
from ..graph.record import Record
from ..ground import modes
from ..ground.generator import Generator, default_generator
from ..nn.modules.module import Module
from ..ops import bind, call, intercept, override
from ..ops.declare import COMPOSITES, TABLE, UNITS, Row
from ..optim.optimizer import Optimizer
from ..tensor.parameter import Parameter
from ..tensor.tensor import Tensor
from .program import NotCapturable, Step, Value, mapped
from .purity import handed_back

ndarray = np.ndarray
PLAIN = (Tensor, Parameter)

#: Functions whose answer follows from shapes, dtypes and the like alone, which programs are guarded by.
ABOUT_SHAPES = frozenset(
    """size dim ndimension numel nelement stride is_floating_point is_complex is_tensor is_contiguous element_size
    storage_offset get_device is_same_size is_signed result_type can_cast promote_types broadcast_shapes
    is_grad_enabled is_inference_mode_enabled is_inference type is_conj is_neg get_default_dtype __len__ __hash__
    is_storage is_pinned is_shared dense_dim sparse_dim is_coalesced has_names __dir__ is_warn_always_enabled
    get_num_threads is_autocast_enabled is_autocast_cpu_enabled typename is_distributed is_deterministic
    are_deterministic_algorithms_enabled is_set_to __reversed__ align_to names""".split()
)
#: Functions that set or read something that no step of a program sets or reads.
ELSEWHERE = frozenset("manual_seed seed initial_seed get_rng_state set_rng_state".split())


UNHEARD = "it writes to a tensor in a way that was not seen"


class Item:
    """A Python number that a tensor gave away, and what had been noted until then."""

    __slots__ = ("held", "value", "method", "place", "followed")

    def __init__(self, held: Any, value: Value, method: str, place: int, followed: bool) -> None:
        self.held, self.value, self.method, self.place, self.followed = held, value, method, place, followed


class Capture:
    """What is noted of one run; ``reason`` says why it ended early, if it did."""

    def __init__(self, code: Any, arguments: Sequence[Any], outside: Callable[[Tensor], bool]) -> None:
        self._code = code  # of the function that is captured
        self.steps: list[Step] = []
        self.reason: str | None = None
        self.items: list[Item] = []
        self.cleared: set[int] = set()  # leaves whose gradient was taken away, by identity
        self.graded: dict[int, bool] = {}  # leaves that received one: does that hang on what the call found there?
        self.values = 0
        self._known: dict[int, Value] = {}  # by the identity of their arrays
        self._by_tensor: dict[int, Value] = {}
        self._alive: list[Any] = []  # so that no identity is given away twice
        self._made_at: list[int] = []  # the step that makes each value; -1 for none
        self._is_outside = outside
        self._thread = threading.get_ident()
        self._numbers: set[Any] = set()  # Python numbers that operations were given: they reach rules as tensors
        self._sums: dict[int, tuple[Any, int]] = {}  # of gradients and parameters after the last write heard
        self._muted = 0
        self._depth = 0  # calls of the table's functions around the present one
        self._unseen: str | None = None  # what an inner call could not note: the one around it may be noted whole
        self.arguments: list[Value | None] = []
        for place, argument in enumerate(arguments):
            if not isinstance(argument, Tensor):
                self.arguments.append(None)
                continue
            if type(argument) not in PLAIN or argument._d.dtype.metadata is not None:
                raise NotCapturable(f"an argument of class {type(argument).__name__}")
            known = self._known.get(id(argument._d))
            value = known or self._value(argument, "argument", place)
            self._by_tensor[id(argument)] = value
            self._alive.append(argument)
            self.arguments.append(value)
        self._about = _listened()
        self._about |= {id(function): ("unit", function.__name__) for function in UNITS}
        functions: list[Any] = [*UNITS]
        for kind, function in (
            ("backward", api.tensor_backward), ("backward", api.backward), ("grad", api.grad),
            ("clear", Optimizer.zero_grad), ("clear", Module.zero_grad), ("set gradient", Tensor.grad.fset),  # type: ignore[attr-defined]
        ):  # fmt: skip
            self._about[id(function)] = (kind, None)
            functions.append(function)
        for cls in _optimizers():
            self._about[id(cls.step)] = ("optimizer", None)
            functions.append(cls.step)
        self._more = functions

    def listening(self) -> Any:
        """The block in which calls are noted."""
        return intercept.listening(self._hear, self._more)

    def let_go(self) -> None:
        """Hold no array of the run any more."""
        for held in (self._alive, self._known, self._by_tensor):
            held.clear()

    def give_up(self, reason: str) -> None:
        """Note no more; the first reason counts."""
        if self.reason is None:
            self.reason = reason

    # -- values ---------------------------------------------------------------------------------------------------

    def _value(self, tensor: Any, source: str, held: Any = None) -> Value:
        array = tensor._d if isinstance(tensor, Tensor) else tensor
        value = Value(self.values, array, source, held)
        self.values += 1
        self._made_at.append(len(self.steps) if source == "made" else -1)
        self._known[id(array)] = value
        self._alive.append(array)
        if isinstance(tensor, Tensor):
            self._by_tensor[id(tensor)] = value
            self._alive.append(tensor)
        return value

    def find(self, tensor: Tensor) -> Value | None:
        """The value that a tensor holds; None where nobody knows."""
        value = self._known.get(id(tensor._d))
        if value is not None:
            return value
        value = self._by_tensor.get(id(tensor))
        if value is not None:
            if tensor._d.shape == () == value.shape:  # the scalar became an array, for an alias to look at
                self._known[id(tensor._d)] = value
                self._alive.append(tensor._d)
                return value
            return None
        if type(tensor) in PLAIN and tensor._d.dtype.metadata is None:
            if self._is_outside(tensor):
                return self._value(tensor, "outside", tensor)
            if tensor._d.ndim == 0 and tensor._v is None and (tensor._d.dtype, tensor._d.item()) in self._numbers:
                return self._value(tensor, "constant", tensor._d)
        return None

    def _operand(self, tensor: Any) -> Any:
        if isinstance(tensor, Tensor):
            value = self.find(tensor)
            if value is None:
                raise NotCapturable("a tensor whose making was not seen")
            return value
        if hasattr(tensor, "__next__"):
            raise NotCapturable(f"an operation is given a {type(tensor).__name__}: make it a list")
        if isinstance(tensor, Generator) or tensor is None or not hasattr(tensor, "__array__"):
            return tensor
        raise NotCapturable("a NumPy array among the arguments of an operation")

    def _add(self, step: Step) -> None:
        self.steps.append(step)

    def _remember(self, tensors: Sequence[Tensor]) -> None:
        """What is in memory that has just been written to."""
        for t in tensors:
            if type(t._d) is ndarray:
                self._sums[id(t._d)] = t._d, checksum(t._d)

    def unheard(self, tensors: Sequence[Tensor] | None = None) -> bool:
        """Whether memory was written to since, in a way that was not heard."""
        ids = self._sums if tensors is None else [id(t._d) for t in tensors if id(t._d) in self._sums]
        return any(checksum(self._sums[place][0]) != self._sums[place][1] for place in ids)

    def _forget_since(self, start: int) -> None:
        """Drop the steps from ``start`` on, and the values they made."""
        if start == len(self.steps):
            return
        del self.steps[start:]
        gone = {number for number, place in enumerate(self._made_at) if place >= start}
        for table in (self._known, self._by_tensor):
            for key in [key for key, value in table.items() if value.number in gone]:
                del table[key]

    # -- what is heard --------------------------------------------------------------------------------------------

    def _hear(self, function: Any, proceed: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        if self.reason is not None or self._muted or threading.get_ident() != self._thread:
            return proceed(*args, **kwargs)
        kind, what = self._about.get(id(function), ("other", None))
        start, stream = len(self.steps), _stream()
        try:
            if kind == "backward":
                return self._backward(args, kwargs)
            if kind == "grad":
                return self._grad(*args, **kwargs)
            if kind == "optimizer":
                return self._optimizer(function, proceed, args, kwargs)
            if kind == "clear":
                return self._clear(proceed, args, kwargs)
            if kind == "set gradient":
                return self._set_gradient(proceed, *args)
        except NotCapturable as reason:
            self.give_up(str(reason))
            return proceed(*args, **kwargs)
        if kind == "unit":
            args = tuple(list(piece) if isinstance(piece, GeneratorType) else piece for piece in args)
        tensors = [] if kind == "row" else _tensors_in((args, kwargs))
        if self._sums and self.unheard(tensors):
            self.give_up(UNHEARD)
        versions = [_version(t) for t in tensors]
        given = {id(t): self.find(t) for t in tensors}  # some calls give a tensor other sizes
        self._depth += 1
        try:
            result = proceed(*args, **kwargs)
        finally:
            self._depth -= 1
        if self.reason is None and result is not NotImplemented:
            drew = _stream() != stream or _has_generator((args, kwargs))
            written = [t for t, before in zip(tensors, versions, strict=True) if _version(t) > before]
            wrote = bool(written)
            for place, (array, _) in self._sums.items():
                if kind == "unit" or any(np.may_share_memory(array, t._d) for t in written):
                    self._sums[place] = array, checksum(array)
            try:
                for t in written if modes.grad_enabled() else ():
                    value = given[id(t)]
                    if t._e is not None and value is not None and value.source in ("outside", "argument"):
                        raise NotCapturable("it writes to a tensor from outside that carries gradients")
                if kind == "unit":
                    self._forget_since(start)
                    self._call(function, what, args, kwargs, given, result, _tensors_in(result), result is None, drew)
                elif kind == "row" and self._unseen is None:
                    self._row(what, args, kwargs, result, start, drew)
                else:
                    self._function(function, what, args, kwargs, given, result, start, wrote, drew)
            except NotCapturable as reason:
                self._unseen = f"{getattr(function, '__name__', kind)}: {reason}"
                if not self._depth:
                    self.give_up(self._unseen)
        return result

    def _row(self, row: Row, args: Any, kwargs: Any, result: Any, start: int, draws: bool) -> None:
        made = list(_tensors_in(result))
        if len(self.steps) > start:  # the row was put together from others, which were heard
            if all(self.find(t) is not None for t in made):
                return
            raise NotCapturable("part of it was not seen")
        if made and all(id(t._d) in self._known for t in made):
            return  # it gave one of its inputs
        inputs, settings, out = _bound(row, args, kwargs)
        if out is not None:
            raise NotCapturable("out= is given")
        if modes.local.autocast is not None:
            raise NotCapturable("autocast is on")
        if modes.local.saved_hooks:
            raise NotCapturable("hooks of saved tensors are on")
        for t in made:
            if type(t) is not Tensor or t._d.dtype.metadata is not None:
                raise NotCapturable(f"it gives a {type(t).__name__}")
        operands = self._operands(row, inputs)
        settings = mapped(settings, self._operand)
        if operands is None:  # promotion by rules of its own: the call itself becomes the step
            operands = mapped(tuple(inputs), self._operand)
            step = Step("tensors", row.name, row.caller, (*operands, *settings), draws=draws)
        else:
            given = (operands,) if row.listed else tuple(operands)
            step = Step("view" if row.view else "kernel", row.name, row, (*given, *settings), draws=draws)
        step.several = isinstance(result, (tuple, list))
        step.results = tuple(self._value(t, "made") for t in made)
        self._add(step)

    def _operands(self, row: Row, inputs: Sequence[Any]) -> list[Any] | None:
        """The arrays that the kernel is given, made to agree as in a call; None where that is more than casts."""
        flat = list(inputs[0]) if row.listed else list(inputs)
        for t in flat:
            if isinstance(t, Tensor) and type(t) not in PLAIN:
                raise NotCapturable(f"a {type(t).__name__}")
        found: list[Any] = [self._operand(t) if isinstance(t, Tensor) else t for t in flat]
        if row.typed is None:
            return found
        cast = call.common_dtype(row, flat)
        if cast.itemsize == 2 and row.single_numbers:
            return None
        for place, t in enumerate(flat):
            if t is None or (not row.listed and row.inputs[place] in row.apart):
                continue
            if not isinstance(t, Tensor):
                number = np.asarray(t).astype(cast)[()]
                self._numbers.add((number.dtype, number.item()))
                found[place] = self._value(number, "constant", number)
            elif t._d.dtype != cast:
                array = override.cast_to(t._d, cast)
                value = self._value(array, "made")
                self._add(Step("kernel", "cast", override.cast_to, (found[place], cast), (value,)))
                found[place] = value
        return found

    def _function(
        self, function: Any, name: str | None, args: Any, kwargs: Any, given: dict[int, Value | None], result: Any,
        start: int, wrote: bool, draws: bool,
    ) -> None:  # fmt: skip
        """A function over rows, an in-place variant, or one that works on arrays by itself."""
        name = name if isinstance(name, str) else getattr(function, "__name__", "a function")
        inner = self.steps[start:]
        made = list(_tensors_in(result))
        if name in ABOUT_SHAPES:
            return
        if name in ELSEWHERE:
            raise NotCapturable("the state of the random numbers is read or set")
        unseen, self._unseen = self._unseen, None
        if unseen is not None and any(step.acts for step in inner):
            raise NotCapturable(unseen)
        if unseen is not None or wrote and not any(step.acts for step in inner):
            self._forget_since(start)
            self._call(function, name, args, kwargs, given, result, made, wrote, draws)
            return
        if any(self.find(t) is None for t in made):
            self._forget_since(start)
            self._call(function, name, args, kwargs, given, result, made, False, draws)
            return
        if not made and not inner and not wrote:
            tensors = _tensors_in((args, kwargs))
            if tensors and not (result is None and name.startswith("_")):
                self._gives_away(name, tensors, result)

    def _call(
        self, function: Any, name: str, args: Any, kwargs: Any, given: dict[int, Value | None], result: Any,
        made: list[Tensor], acts: bool, draws: bool,
    ) -> None:  # fmt: skip
        """Note a whole call of a function of tensors."""
        if "out" in kwargs and kwargs["out"] is not None:
            raise NotCapturable("out= is given")
        if modes.local.autocast is not None:
            raise NotCapturable("autocast is on")

        def operand(piece: Any) -> Any:
            return given.get(id(piece)) or self._operand(piece)

        for number in (*args, *kwargs.values()):
            if type(number) in (int, float):
                for t in _tensors_in((args, kwargs)):
                    self._numbers.add((t._d.dtype, np.asarray(number).astype(t._d.dtype).item()))
        step = Step("tensors", name, function, mapped(args, operand), (), mapped(kwargs, operand), acts, draws)
        new = []
        for t in made:
            if type(t) is not Tensor and t._d is not None and self.find(t) is None:
                raise NotCapturable(f"it gives a {type(t).__name__}")
            new.append(self.find(t) or self._value(t, "made"))
        if made and not isinstance(result, Tensor) and not (
            isinstance(result, (tuple, list)) and all(isinstance(piece, Tensor) for piece in result)
        ):
            raise NotCapturable(f"it gives a {type(result).__name__}")
        if not made and result is not None and not acts:
            raise NotCapturable(f"it gives a {type(result).__name__}")
        step.several = isinstance(result, (tuple, list))
        step.results = tuple(new)
        self._add(step)

    def _gives_away(self, name: str, given: list[Tensor], result: Any) -> None:
        """A tensor's value leaves for Python: fine where it is only handed back, else the end."""
        if name in ("item", "__float__", "__int__") and len(given) == 1:
            value = self.find(given[0])
            if value is not None:
                self.items.append(Item(result, value, name, len(self.steps), handed_back(self._code)))
                self._alive.append(result)
                return
        raise NotCapturable(f"{name}() hands a tensor's values to Python, where they may decide what runs next")

    # -- backward, optimizers -------------------------------------------------------------------------------------

    def _backward(self, args: Any, kwargs: Any) -> None:
        names = ("tensors", "grad_tensors", "retain_graph", "create_graph", "inputs")
        given = dict(zip(names, args, strict=False)) | kwargs
        given["tensors"] = given.pop("self", given.get("tensors"))
        seeds = given.get("gradient", given.get("grad_tensors"))
        if given.get("create_graph") or given.get("inputs") is not None:
            raise NotCapturable("backward(create_graph=True) and backward(inputs=...) are not followed")
        outputs = api._places(given["tensors"])
        roots = self._roots(outputs, seeds)
        below = self._checked(roots)
        leaves = [edge for edge in below if not isinstance(edge, Record)]
        for variable in leaves:
            if self.find(variable) is None:
                raise NotCapturable("a leaf whose making was not seen")
        found = self._walk(roots, leaves, bool(given.get("retain_graph")))
        for variable, grad in zip(leaves, found, strict=True):
            if grad is not None:  # the graph is freed by now: the gradients are added, whether that can be noted or not
                there = variable._grad
                with leaf.adding:
                    leaf.accumulate(variable, grad._d)  # which copies, as the capture holds the array too
                self._remember([variable._grad])
                if self.reason is None:
                    try:
                        self._into(variable, grad, there)
                    except NotCapturable as reason:
                        self.give_up(str(reason))

    def _walk(self, roots: list[tuple[Any, Any]], edges: list[Any], keep: bool) -> list[Any]:
        before = modes.set_grad(False)
        try:
            return engine.general(roots, keep=keep, lifted=True, inputs=edges, accumulate=False)
        finally:
            modes.set_grad(before)

    def _roots(self, outputs: Any, seeds: Any) -> list[tuple[Any, Any]]:
        """Where a backward pass starts, with gradients that are known: those given, or ones."""
        roots = api._roots(outputs, api._given(seeds, len(outputs)), True)
        for _, seed in roots:
            if self.find(seed) is None:
                if seeds is not None:
                    raise NotCapturable("a gradient whose making was not seen")
                self._value(seed, "constant", seed._d)
        return roots

    def _checked(self, roots: list[tuple[Any, Any]]) -> dict[Any, int]:
        """Everything below ``roots``; nothing may listen there."""
        below = engine._dependencies([edge for edge, _ in roots])
        for edge in below:
            if getattr(edge, "_about", None) is not None:
                raise NotCapturable("a hook in the graph")
            if isinstance(edge, Record) and edge.kind.lifted is edge.kind.run and edge.kind.row is None:
                name = edge.kind.name
                if name not in ("Output",):
                    raise NotCapturable(f"the graph has a {name}")
        return below

    def _into(self, variable: Tensor, grad: Tensor, there: Tensor | None) -> None:
        """Note what was added into the gradient of a leaf; ``there`` is what it had before."""
        target, value = self.find(variable), self._operand(grad)
        if target is None or target.source not in ("outside", "argument"):
            raise NotCapturable("a leaf made within the function")
        self.graded.setdefault(id(variable), there is None and id(variable) not in self.cleared)
        step = Step("gradient", "set" if there is None else "add", variable, (target, value), acts=True)
        if there is None:
            step.results = (self._value(variable._grad, "made"),)
        else:
            step.operands += (self.find(there) or self._value(there, "gradient", variable),)
        self._add(step)

    def _grad(
        self, outputs: Any, inputs: Any, grad_outputs: Any = None, retain_graph: bool | None = None,
        create_graph: bool = False, **settings: Any,
    ) -> Any:  # fmt: skip
        if create_graph or any(settings.values()):
            raise NotCapturable("autograd.grad() with create_graph or other settings is not followed")
        wanted = (inputs,) if api._is_place(inputs) else tuple(inputs)
        roots = self._roots(api._places(outputs), grad_outputs)
        edges = [api._edge(tensor) for tensor in wanted]
        if any(edge is None for edge in edges) or len(set(edges)) < len(edges):
            raise NotCapturable("autograd.grad() of an input without history, or given twice")
        self._checked(roots)
        found = self._walk(roots, edges, bool(retain_graph))
        if any(grad is None for grad in found):
            raise NotCapturable("autograd.grad() of an unused input")
        return tuple(found)

    def _optimizer(self, function: Any, proceed: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        optimizer = args[0]
        if len(args) > 1 or kwargs:
            raise NotCapturable("a closure is given to the optimizer")
        every = [p for group in optimizer.param_groups for p in group["params"]]
        if self.unheard([*every, *(p._grad for p in every if p._grad is not None)]):
            self.give_up(UNHEARD)
        self._muted += 1
        try:
            result = proceed(*args, **kwargs)
        finally:
            self._muted -= 1
        self._remember([*every, *(p._grad for p in every if p._grad is not None)])
        params = [p for group in optimizer.param_groups for p in group["params"] if p._grad is not None]
        places = []
        for p in params:
            if self.find(p) is None or self.find(p).source not in ("outside", "argument"):  # type: ignore[union-attr]
                self.give_up("an optimizer of parameters that the function does not reach")
                return result
            held = self.find(p._grad)
            if held is None:
                self.give_up("a parameter's gradient from before the call that the function does not reach")
                return result
            places.append((self.find(p), held))
        self._add(Step("optimizer", f"{type(optimizer).__name__}.step", optimizer, tuple(places), acts=True))
        return result

    def _clear(self, proceed: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        owner = args[0]
        if not kwargs.get("set_to_none", args[1] if len(args) > 1 else True):
            raise NotCapturable("zero_grad(set_to_none=False)")
        if isinstance(owner, Optimizer):
            params = [p for group in owner.param_groups for p in group["params"]]
        else:
            params = list(owner.parameters())
        proceed(*args, **kwargs)
        self._cleared([p for p in params if p.requires_grad or self.find(p) is not None])

    def _set_gradient(self, proceed: Callable[..., Any], variable: Tensor, value: Any) -> None:
        if value is not None:
            raise NotCapturable(".grad is set to a tensor")
        proceed(variable, value)
        self._cleared([variable])

    def _cleared(self, variables: Sequence[Tensor]) -> None:
        """Note that the gradients of some tensors were taken away."""
        places = tuple(self._operand(p) for p in variables)
        self.cleared.update(id(p) for p in variables)
        self._add(Step("clear", "zero_grad", None, places, acts=True))


def checksum(array: Any) -> int:
    """A checksum of an array's memory."""
    return zlib.crc32(np.ascontiguousarray(array).tobytes()) if isinstance(array, (ndarray, np.generic)) else 0


def _stream() -> int:
    """Where the stream of random numbers is."""
    return zlib.crc32(default_generator.get_state_bytes().tobytes())


def _has_generator(tree: Any) -> bool:
    """Whether a generator is among the arguments of a call."""
    args, kwargs = tree
    return any(isinstance(piece, Generator) for piece in (*args, *kwargs.values()))


def _version(tensor: Tensor) -> int:
    """How often a tensor's memory was written to."""
    return 0 if tensor._v is None else tensor._v.version


def _listened() -> dict[int, tuple[str, Any]]:
    """What each function of the table is, by its identity."""
    intercept.table_functions()  # which notes the operators
    about: dict[int, tuple[str, Any]] = {}
    for made in COMPOSITES.values():
        about[id(made.function)] = ("function", made.names[0])
    for name, function in bind.functions().items():
        about.setdefault(id(function), ("function", name))
    for row in TABLE.values():
        about[id(row.caller)] = ("row", row)
        operate = getattr(row, "operate", None)
        if operate is not None:
            about[id(operate)] = ("row", row)
    return about


def _optimizers() -> list[Any]:
    found: list[Any] = []
    waiting: list[Any] = [Optimizer]
    while waiting:
        cls = waiting.pop()
        waiting += cls.__subclasses__()
        if "step" in vars(cls) and cls is not Optimizer:
            found.append(cls)
    return found


def _bound(row: Row, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[list[Any], list[Any], Any]:
    """The inputs and settings of a call of a row, by position."""
    kwargs = dict(kwargs)
    out = kwargs.pop("out", None)
    names = (*("input" if name == "self" else name for name in row.inputs), *row.settings)
    values = list(args)
    for name in names[len(values) :]:
        if name in kwargs:
            values.append(kwargs.pop(name))
        elif name in row.defaults:
            values.append(row.defaults[name])
        elif name in row.optional:
            values.append(None)
        else:
            raise NotCapturable(f"the argument {name!r} is missing")
    if kwargs:
        raise NotCapturable(f"the argument {next(iter(kwargs))!r} is unknown")
    return values[: len(row.inputs)], values[len(row.inputs) :], out


def _tensors_in(tree: Any) -> list[Tensor]:
    """The tensors in nested tuples, lists and dicts, in order."""
    found: list[Tensor] = []
    waiting = [tree]
    while waiting:
        piece = waiting.pop()
        if isinstance(piece, Tensor):
            found.append(piece)
        elif isinstance(piece, (tuple, list)):
            waiting.extend(reversed(piece))
        elif isinstance(piece, dict):
            waiting.extend(reversed(list(piece.values())))
    return found
