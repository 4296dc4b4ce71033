"""One call of a compiled function: operations are compared with the tape, deferred, and run where they are wanted."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from sys import getrefcount
from threading import RLock
from typing import Any

import numpy as np

from ..autograd.grad_mode import set_grad_enabled
from ..core import engine
from ..core.tensor import Tensor, View, edge_of, share, wrap
from ..ground import dtypes, listening, modes
from ..ground.generator import default_generator
from ..ground.layout import laid
from ..ground.size import Size
from ..optim.optimizer import Optimizer
from . import lazy, replayed
from .build import Program
from .deferral import OWNERS, SILENT, Role, gains, parameters, role_of, whole_numbers, within_bounds, without_gradients
from .lazy import Lazy, Meta
from .program import MISS, is_leaf, mapped, tensors_in, version
from .segment import Segment
from .tape import ENTRIES, Entry, Node, Number, Unknown, filled, note_atom, signature
from .trace import program_of
from .verify import verified

ndarray = np.ndarray
new = object.__new__
WARNS = object()  # what the tape keeps of a call that warns: it is made where it stands
_NOTHING: dict[str, Any] = {}
_STREAM = Role("other", "")  # of who asks for the state of the random stream
_ALONE = 2  # references to a tensor of the tape's list that nobody else holds, when they are counted


class Run(Segment):
    """What a call has deferred, and where on the tape it is."""

    def __init__(self, state: Any, node: Node, arguments: set[int], only_runs: Any, journal: Any = None) -> None:
        super().__init__(state, arguments, node)
        self.journal = journal  # what writes down what the call does
        self.lock = RLock()  # held while it compares and while it runs what is pending; never while code of users runs
        self.busy = False
        self.making: Any = None  # the calls that are being made, while they are
        self.verifies = state.verify and state.calls % state.verify == 0
        self.off = False  # whether nothing is deferred any more
        self.listeners = listening.listeners
        self.only_runs, self.alone = only_runs, only_runs(self.listeners)

    # -- comparing ------------------------------------------------------------------------------------------------

    def hear(self, function: Any, proceed: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """Answer for a call of an operation: with what it will give, or by making it."""
        if self.busy or self.off:
            return proceed(*args, **kwargs)
        role = role_of(function)
        if role.kind == "through":
            if not self.state.is_pure:
                return proceed(*args, **kwargs)
            self._see(args, kwargs)
            leaves = without_gradients(function, args, kwargs)
            if leaves is None or not self.stepped.isdisjoint(map(id, leaves)):
                self.flush(None)  # what is written down is in the order in which it is done again
            return self._made("as written", function, proceed, args, kwargs)
        with self.lock:
            verdict, answer = self._compared(role, function, proceed, args, kwargs)
        if verdict == "answered":
            return answer
        if verdict == "new":
            return self._record(role, proceed, *answer)
        return self._made(verdict, function, proceed, args, kwargs)

    def _made(self, verdict: str, function: Any, proceed: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """Make a call where it stands."""
        self.busy = verdict == "as written" or self.journal is not None
        try:
            if self.journal is not None:
                return self.journal.call(function, proceed, args, kwargs)
            return proceed(*args, **kwargs)
        finally:
            self.busy = False

    def _compared(
        self, role: Role, function: Any, proceed: Callable[..., Any], args: Any, kwargs: Any
    ) -> tuple[str, Any]:
        """What is done about a call: it is "answered", "new" on the tape, or to be made "as written" or "alone"."""
        kind = role.kind
        if role.name == "backward" and (kwargs.get("create_graph") or True in args[3:4]):
            self.state.twice = True
        if kind == "other":
            self._see(args, kwargs)
            return self._as_written(f"{function.__name__}()")
        if listening.listeners is not self.listeners:
            self.listeners = listening.listeners
            self.alone = self.only_runs(self.listeners)
        if modes.unusual or modes.transforming or not self.alone or modes.local.device is not None:
            return self._as_written("another mode is on, or somebody else listens")
        if kind == "step" and whole_numbers(role, args, kwargs, self.makes):
            self._see(args, kwargs)  # indices, say, which others will have to look at
            return "alone", None
        key: list[Any] = [function, modes.local.grad, dtypes._default]
        uses: list[int] = []
        before = len(self.things), len(self.given)
        try:
            if kind == "optimizer":
                self._note_optimizer(args, kwargs, key)
            else:
                args = self._note_tuple(args, key, uses)
                if kwargs:
                    if kwargs.get("out") is not None:
                        raise Unknown("it is given out=")
                    kwargs = self._note_dict(kwargs, key, uses)
            if len(args) < role.least:
                raise Unknown("the shape of what it gives hangs on values")
            if len(uses) > role.most:
                raise Unknown("it is given a tensor in place of a number")
            if kind in ("backward", "grad"):
                self._note_leaves(key)
            elif role.checked and not within_bounds(role.name, args, kwargs, self.makes):
                raise Unknown("its indices are not there yet, or out of bounds")
        except Unknown as reason:
            if kind == "grad" and (kwargs.get("create_graph") or True in args[4:5]):
                self.state.twice = True
            return self._as_written(f"{role.name}(): {reason}")
        call_key = tuple(key)
        node = self.node
        entry = node.after.get(call_key)
        if entry is None:
            answer = node.told.get(call_key, MISS)
            if answer is WARNS:
                return self._as_written(f"{role.name}() warns")
            if answer is not MISS:
                self.unmeet(*before)
                return "answered", answer
            return "new", (call_key, args, kwargs, uses, before)
        return "answered", self.defer(entry, function, proceed, args, kwargs)

    def _see(self, args: Any, kwargs: Any) -> None:
        """Note what a call that is not for the tape is given, which may stay from call to call too."""
        for thing in [*tensors_in((args, kwargs)), *(piece for piece in args if isinstance(piece, OWNERS))]:
            self.state.lasts(thing)

    def _as_written(self, why: str) -> tuple[str, Any]:
        self.flush(why)
        return "as written", None

    def make_way(self, function: Any = None, args: Any = (), kwargs: Any = _NOTHING) -> None:
        """Run what is pending before another thread's call, where that may write to what it reads, or draw before it.

        Without ``function``, the state of the random stream is asked for or set. A run that is at work right now is
        left alone: the threads race, and would as they are written.
        """
        if not self.pending or not self.lock.acquire(blocking=False):
            return
        try:
            role = _STREAM if function is None else role_of(function)
            if not self.pending or role.kind == "through":
                return
            meets = role.kind in ("backward", "optimizer") or role.draws and self.drawn is not None
            if not meets and (role.writes or "out" in kwargs):
                met = {id(thing) for tensor, *_ in self.outside for thing in (tensor, tensor._counter)}
                meets = any(id(t) in met or t._counter is not None and id(t._counter) in met
                            for t in tensors_in((args, kwargs)) if type(t) is not Lazy)  # fmt: skip
            if meets:
                self.flush(None)
        finally:
            self.lock.release()

    # -- deferring ------------------------------------------------------------------------------------------------

    def defer(self, entry: Entry, function: Any, proceed: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """Defer a call that the tape knows: gives tensors without data."""
        things = self.things
        self.count = len(self.given)
        self.pending.append((entry, function, proceed, args, kwargs, modes.local.grad, dtypes._default))
        for meta in entry.metas:
            self._add(new(Lazy), meta)
        for number, meta in entry.changes:
            self.metas[number] = meta
        self.node = entry.after
        if entry.draws and self.drawn is None:
            self.drawn = default_generator.mark()
        if entry.graded:
            for place, number in enumerate(entry.graded, entry.first):
                leaf = things[number]
                self.graded.append((leaf, place))
                self.stepped.add(id(leaf))
                leaf._grad = things[place]
            return None
        if entry.acts and args and isinstance(args[0], Optimizer):
            self.stepped.update(map(id, parameters(args[0])))
        answer = filled(entry.results, things)
        if entry.ends:
            self.flush(None, len(entry.metas))
        return answer

    def _alive(self, pending: Any, results: int) -> tuple[int, ...]:
        """The tensors that are owed their data and that somebody else holds, and the last ``results``."""
        node, things = self.node, self.things
        uses = node.uses
        if uses is None:
            uses = [_ALONE] * len(self.metas)
            for entry, *_ in pending:
                for number in entry.uses:
                    uses[number] += 1
            node.uses = uses = [(n, uses[n]) for n, meta in enumerate(self.metas) if meta is not None]
        mine = {number for leaf, number in self.graded if leaf.__dict__.get("_grad") is things[number]}
        first = len(things) - results
        return tuple([n for n, count in uses if getrefcount(things[n]) > count + (n in mine) or n >= first])

    def flush(self, why: str | None, results: int = 0) -> None:
        """Run what is pending, and begin a segment; the last ``results`` tensors are wanted whoever holds them."""
        with self.lock:
            node = self.node
            if node is self.start and not self.things:
                return
            if why is not None:
                self.state.note(why, self)
            try:
                self._run(results)
            finally:
                self.begin(node.resume)
                if self.state.eager:
                    self.abandon()

    def finish(self) -> None:
        """Run what is still pending, at the end of the call or where its own thread asks for the random stream."""
        if self.pending and not self.busy:
            self.flush(None)

    def abandon(self) -> None:
        """Make the calls that are pending, and defer nothing any more."""
        if self.journal is not None:
            self.journal.refuse("it is deferred no more")
        self._run()
        self.off = True
        self.begin(Node())

    def _run(self, results: int = 0, anew: bool = True) -> None:
        """Run what is pending, by a program; ``anew``: make one where there is none."""
        if not self.pending:
            return
        alive = self._alive(self.pending, results)
        busy, self.busy = self.busy, True
        pending, self.pending = self.pending, []
        self.making = pending
        default, dtypes._default = dtypes._default, pending[0][-1]
        device, modes.local.device = modes.local.device, None  # on the cpu, where all of it was deferred
        try:
            changed = self._changed()
            alone = changed or self.state.eager or any([call[-1] is not dtypes._default for call in pending])
            program = None if alone else self.node.programs.get(alive, MISS)
            if self.state.twice and type(program) is Program and program.graded:
                program = None  # whose second derivatives are those of the calls
            if program is MISS and anew:
                self.node.programs[alive] = None
                self.node.programs[alive] = program = program_of(self, pending, alive)
                self.state.gains = self.state.gains or gains(program, len(pending), self.metas)
            elif program is not None and program is not MISS and self.verifies:
                verified(self, program, pending, alive)
            elif program is None or program is MISS or not self._replayed(program, pending, alive):
                self.carry_out(pending, changed)
            if program is not None and program is not MISS:
                for number in alive:  # as a program gives them: their memory is their own
                    tensor = self.things[number]
                    if type(tensor._edge) is View and not tensor.requires_grad:
                        tensor._edge = None
            if self.journal is not None and program is not MISS:
                if changed:
                    self.journal.refuse("tensors from outside change in its midst")
                self.journal.segment(self, pending, program, alive)
        except BaseException:
            self._leave(alive)
            raise
        finally:
            modes.local.device = device
            dtypes._default = default
            self.busy, self.making = busy, None
            self.graded, self.drawn = [], None

    def _changed(self) -> list[tuple[Any, ...]]:
        """The tensors from outside that are others than when they were met, with what they were."""
        changed = []
        for tensor, array, edge, counter, before in self.outside:
            if tensor._array is not array or tensor._edge is not edge:
                if type(array) is not ndarray and tensor._edge is edge and counter is None:
                    if tensor._counter.version == 0:
                        continue  # a single number was given memory of its own
                changed.append((tensor, array, edge, counter))
            elif tensor._counter is not None and tensor._counter.version != before:
                self.state.distrust("a tensor was written to in a way that compile() did not hear: see docs/limits.md")
        if self.drawn is not None and default_generator.mark() != self.drawn:
            self.state.distrust("random numbers were drawn in a way that compile() did not hear: see docs/limits.md")
        for leaf, number in self.graded:
            if leaf._hooks is not None or "_post_accumulate" in leaf.__dict__:
                changed.append((leaf, leaf._array, leaf._edge, leaf._counter))
        return changed

    def _replayed(self, program: Any, pending: Any, alive: tuple[int, ...]) -> bool:
        """Run a program; tells whether it served."""
        things = self.things
        now = [leaf._grad for leaf, _ in self.graded]  # what they were owed, or what was put there since
        for leaf, _ in self.graded:
            leaf._grad = None
        lifted = program.graded and not self.state.is_pure
        stream, written = self._before(pending) if lifted else (None, {})
        answer = program.run(*self.given[: self.count])
        if answer is MISS:
            for (leaf, _), grad in zip(self.graded, now, strict=True):
                leaf._grad = grad
            return False
        for number, real in zip(alive, answer, strict=True):
            edge = real._edge
            if lifted and edge is not None and edge.kind.run is replayed.walk and edge.saved:
                replayed.lift(edge, self._twice(self._again(pending, number, written), stream))
            lazy.settle(things[number], real)
            if self.metas[number].version:
                share(things[number]).version = self.metas[number].version
        for (leaf, number), grad in zip(self.graded, now, strict=True):
            if type(grad) is not Lazy:  # the tensor that it was owed, which has its data now; or another
                leaf._grad = grad
            elif self.metas[number].version:
                share(leaf._grad).version = self.metas[number].version
        self.state.replays += 1
        return True

    def carry_out(self, pending: Any, changed: Any, listened: bool = False) -> None:
        """Make the calls that are pending, in their order, as they would have been made where they stand."""
        now = [(tensor, tensor._array, tensor._edge, tensor._counter, tensor._hooks,
                tensor.__dict__.pop("_post_accumulate", None)) for tensor, *_ in changed]  # fmt: skip
        for tensor, array, edge, counter in changed:
            tensor._array, tensor._edge, tensor._counter = array, edge, counter
            if tensor._hooks is not None:
                tensor._hooks = None
        local = modes.local
        before = local.grad, local.inference, local.anomaly, local.autocast, local.saved_hooks, local.masked
        local.inference = False
        local.anomaly, local.autocast, local.saved_hooks, local.masked = None, None, (), None
        modes.settle()
        try:
            for entry, function, proceed, args, kwargs, grad, dtypes._default in pending:
                modes.set_grad(grad)
                if grad:
                    modes.settle()
                self._call(entry, function if listened else proceed, args, kwargs)
        finally:
            modes.off |= local.me
            local.grad, local.inference, local.anomaly, local.autocast, local.saved_hooks, local.masked = before
            if local.inference or local.anomaly or local.autocast is not None or local.saved_hooks or local.masked:
                modes.expect_unusual()
            modes.settle()
            for tensor, array, edge, counter, hooks, post in now:
                tensor._array, tensor._edge, tensor._counter = array, edge, counter
                if hooks is not None:
                    tensor._hooks = hooks
                if post is not None:
                    tensor.__dict__["_post_accumulate"] = post

    def _leave(self, alive: tuple[int, ...]) -> None:
        """After an error: let results of other calls than that which failed be computed when they are asked for."""
        for number in alive:
            again = self.apart(number) if type(self.things[number]) is Lazy else None
            if again is not None:
                self.things[number].__dict__["_again"] = again

    def apart(self, number: int) -> Callable[[], Any] | None:
        """What computes a result of the calls that are being made, apart from them; None where they do more."""
        if any(entry.acts or entry.draws or entry.changes or entry.graded for entry, *_ in self.making):
            return None
        compute, outside = self._again(self.making, number), self.outside

        def unless_written() -> Any:
            for tensor, array, edge, counter, before in outside:
                if tensor._array is not array or tensor._edge is not edge or counter and counter.version != before:
                    raise RuntimeError("an operation that was deferred failed, and what it reads was written to since")
            return compute()

        return unless_written

    def _again(self, pending: Any, wanted: int, instead: dict[int, Any] | None = None) -> Callable[[], Any]:
        """What computes one of the results of a program's calls once more, as they are written."""
        numbers, outside, inputs = self.numbers, self.outside, self.given
        calls = [call for call in pending if call[0].first <= wanted]
        return lambda: again(calls, numbers, outside, inputs, [wanted], instead)(*inputs)[0]

    def _before(self, pending: Any) -> tuple[Any, dict[int, Any]]:
        """The random stream if calls draw from it, and copies of the tensors from outside that they write to."""
        numbers = {number for entry, *_ in pending for number in entry.written or ()}
        copies = {number: wrap(np.array(self.things[number]._array)) for number in numbers}
        return None if self.drawn is None else default_generator.get_state_bytes(), copies

    def _twice(self, compute: Callable[[], Any], stream: Any) -> Callable[[], Any]:
        """What computes a result anew for second derivatives, from the same random stream; later calls keep graphs."""

        def lifted() -> Any:
            self.state.twice = True
            if stream is None:
                return compute()
            now = default_generator.get_state_bytes()
            default_generator.set_state_bytes(stream)
            try:
                return compute()
            finally:
                default_generator.set_state_bytes(now)

        return lifted

    def _call(self, entry: Entry, proceed: Callable[..., Any], args: Any, kwargs: Any) -> None:
        """Make a call, and give the tensors that were owed by it what it gave.

        Leaves whose gradients a backward pass gives have these already, as tensors without data.
        """
        things = self.things
        leaves = [things[number] for number in entry.graded]
        now = [leaf._grad for leaf in leaves]
        for leaf in leaves:
            leaf._grad = None
        try:
            for (place, real), meta in zip(entry.real(proceed(*args, **kwargs), things), entry.metas, strict=True):
                if real._array.shape != meta.shape or real._array.dtype != meta.numpy:
                    raise RuntimeError("an operation gave another shape or dtype than before: see docs/limits.md")
                if self.noting is not None and real._array.strides != meta.strides and real._array.size:
                    self.noting.give_up("a gradient lies otherwise in memory where tensors are walked over")
                    real._array = laid(real._array, tuple([n // meta.numpy.itemsize for n in meta.strides]))
                if self.noting is not None and type(real._array) is np.bool_:  # of which there are two in all
                    self.noting.same(real, things[place])
                lazy.settle(things[place], real)
        finally:
            for leaf, grad in zip(leaves, now, strict=True):
                leaf._grad = grad

    # -- recording ------------------------------------------------------------------------------------------------

    def _record(
        self, role: Role, proceed: Callable[..., Any], call_key: Any, args: Any, kwargs: Any, uses: list[int],
        before: tuple[int, int],
    ) -> Any:  # fmt: skip
        """Make a call that the tape does not know, and note what it gave."""
        node, state, kind = self.node, self.state, role.kind
        if self.journal is not None:
            self.journal.fresh = True
        parted = bool(self.pending)  # what comes after this call is no part of a program with what comes before it
        if parted:
            state.note(f"{role.name}() is another call than before", self)
            with self.lock:
                self._run(anew=False)
            for number, thing in enumerate(self.things):
                if type(thing) is Lazy:
                    self.things[number] = None  # nobody asks for it any more
            self.numbers = {id(thing): number for number, thing in enumerate(self.things) if thing is not None}
        if not state.may_go_on(self):
            return proceed(*args, **kwargs)
        drawn = default_generator.mark()
        operands = tensors_in((args, kwargs))
        versions = [version(t) for t in operands]
        below = engine.dependencies([edge_of(args[0])]) if kind == "backward" else ()
        leaves = [t for t, _, edge, *_ in self.outside if is_leaf(edge) and t in below]
        touched = [leaf for leaf in leaves if leaf._grad is not None]
        self.busy = True
        try:
            result, warned = warning(proceed, args, kwargs)
        except BaseException:
            self.begin(node.resume)  # it is no entry, whose key would tell of the tensors that it was given
            raise
        finally:
            self.busy = False
        if warned:  # as it will in each call
            node.told[call_key] = WARNS
            return self._unheard(result)
        draws = default_generator.mark() != drawn
        written = [t for t, count in zip(operands, versions, strict=True) if version(t) != count]
        counters = {id(t._counter) for t in written}
        reached = [self.numbers[id(t)] for t, *_ in self.outside if id(t._counter) in counters]
        acts = kind == "optimizer" or bool(reached)
        metas: list[Meta] = []
        outputs: list[Any] = []
        try:
            if kind == "backward":
                graded = [leaf for leaf in leaves if leaf._grad is not None]
                acts = bool(touched)
                outputs = [] if acts else [leaf._grad for leaf in graded]
                if any(type(t) is not Tensor for t in outputs):
                    raise Unknown("a gradient is not dense")
                results: Any = None
            else:
                results = self._noted(result, outputs)
                tells = not isinstance(results, (Number, tuple, list))
                if tells and not (outputs or written or acts or draws):
                    node.told[call_key] = result
                    if parted:
                        return self._unheard(result)
                    self.unmeet(*before)
                    return result
            metas = [Meta(t) for t in outputs]
        except Unknown:
            return self._unheard(result)
        entry = Entry(acts, results, len(self.things), metas, uses)
        entry.draws, entry.function = draws, call_key[0]
        if role.name in SILENT:
            known = [self.numbers.get(id(t)) for t in operands[1:] if t._edge is None]
            reached += [number for number in known if number is not None and self.metas[number] is None]
        entry.written = None if kind in ("backward", "grad", "optimizer") else reached
        entry.ends = acts and (kind == "backward" or not state.is_pure)  # by its promise nobody looks in between
        if kind == "backward" and not acts:
            entry.graded = [self.numbers[id(leaf)] for leaf in graded]
        for tensor, meta in zip(outputs, metas, strict=True):
            self._add(tensor, meta)
        if written:
            for number, meta in enumerate(self.metas):
                thing = self.things[number]
                if meta is not None and thing is not None and meta != (now := Meta(thing)):
                    entry.changes.append((number, now))
                    self.metas[number] = now
        state.entries += 1
        if state.entries > ENTRIES:
            self.abandon()
            return result
        node.after[call_key] = entry
        self.node = entry.after
        if entry.ends:
            self.begin(entry.after.resume)
        return result

    def _unheard(self, result: Any) -> Any:
        """A call that is not for the tape was made: the next segment begins."""
        self.begin(self.node.resume)
        return result

    def _noted(self, result: Any, outputs: list[Any]) -> Any:
        """The results of a call as the tape keeps them; ``outputs`` are the new tensors."""
        if isinstance(result, Tensor):
            number = self.numbers.get(id(result))
            if number is not None:
                return Number(number)
            if type(result) is not Tensor or result.__dict__:
                raise Unknown("it gives an uncommon tensor")
            signature(result)
            for place, tensor in enumerate(outputs):
                if tensor is result:
                    raise Unknown("it gives a tensor twice")
            outputs.append(result)
            return Number(len(self.things) + len(outputs) - 1)
        if isinstance(result, (tuple, list)) and type(result) is not Size:
            return mapped(result, lambda piece: self._noted(piece, outputs))
        note_atom(result, [])
        return result


def again(
    pending: Any, numbers: Any, outside: Any, inputs: Any, wanted: Sequence[int], instead: dict[int, Any] | None = None
) -> Callable[..., Any]:
    """A function of a segment's tensors that makes its calls once more, as they are written, and gives results.

    ``instead`` are tensors that take the places of others, so that these are not written to once more.
    """

    def numbered(piece: Any) -> Any:
        return Number(numbers[id(piece)]) if isinstance(piece, Tensor) else piece

    calls = [(entry, proceed, mapped((args, kwargs), numbered), grad)
             for entry, _, proceed, args, kwargs, grad, _ in pending]  # fmt: skip
    places = [numbers[id(tensor)] for tensor in inputs]
    captured = {numbers[id(tensor)]: tensor for tensor, *_ in outside if numbers[id(tensor)] not in places}

    def carried_out(*tensors: Any) -> Any:
        known = captured | dict(zip(places, tensors, strict=False)) | (instead or {})
        for entry, proceed, call, grad in calls:
            args, kwargs = filled(call, known)
            with set_grad_enabled(grad):
                known.update(entry.real(proceed(*args, **kwargs), known))
        return [known[number] for number in wanted]

    return carried_out


def warning(proceed: Callable[..., Any], args: Any, kwargs: Any) -> tuple[Any, bool]:
    """What a call gives, and whether it warned of anything."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", RuntimeWarning)  # NumPy's, which are silent
        result = proceed(*args, **kwargs)
    for one in heard:
        warnings.warn_explicit(one.message, one.category, one.filename, one.lineno, source=one.source)
    return result, bool(heard)
