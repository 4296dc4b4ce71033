"""What optimizers share whose step is one rule for every element: who is stepped, by which carrier, how many at once.

A rule is written once and runs in two ways. On `Values`, which are arrays (complex ones as pairs): large ones block by
block, which stay in the cache; many small ones laid end to end, which is one call for all of them. And on tensors, for
steps that are themselves to be differentiated. Where Numba is installed, a compiled form takes the place of the first,
for all parameters in one call.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterable, Sequence
from inspect import Parameter, Signature
from typing import Any, ClassVar

import numpy as np

from ..core.tensor import Tensor, share
from ..families.cast.rows import view_as_real
from ..ground import dtypes, modes
from ..kernels import compiled
from ..tensor.sparse import SparseTensor
from .optimizer import evaluated
from .settings import F32, F64, Counts, WithSettings, filled, number, of_two_dtypes, scalar, unheard, writable
from .values import BLOCK, Narrow, Room, Values

ndarray = np.ndarray
#: The dtypes that are stepped as arrays, and those of their parts.
REAL: dict[Any, np.dtype[Any]] = {F32: F32, F64: F64, np.dtype("c8"): F32, np.dtype("c16"): F64}
NARROW = {dtypes.float16.numpy, dtypes.bfloat16.numpy}
_SMALL = 3 << 10  # up to here, a step costs more for its calls than for its elements
_EACH = 256  # elements that a parameter more counts for, where it is asked whether a compiled step is worth while
_ROOMS = 16  # arrays that an optimizer holds on to
_FEW = 4  # from so many small parameters on, laying them end to end costs less than it saves
CAPTURABLE = (
    "If capturable=True, {} must be on supported devices: ['cuda', 'xpu', 'hpu', 'privateuseone'{}]."
)  # fmt: skip


class _Batch:
    """Parameters of one dtype that have come equally far: what their numbers were and become, and their arrays."""

    __slots__ = ("before", "after", "numbers", "counts", "versions", "arrays")

    def __init__(self, before: Any, after: Any, numbers: Any) -> None:
        self.before = before  # kept alive, for their identities
        self.after, self.numbers = after, numbers
        self.counts: list[Any] = []  # of those that share their number with one before them
        self.versions: list[Any] = []
        self.arrays: list[list[Any]] = []


class Elementwise(WithSettings):
    """An optimizer that steps each element of each parameter by the same rule.

    A subclass says which numbers and which arrays it keeps for each parameter (``_scalars``, ``_arrays``), what the
    numbers become and what follows from them (``_advance``), and what a step does (``_rule``).

    _first  what begins with another value than 0: the value, or the setting that has it
    _only   arrays that are kept only where a setting is true
    _decays  whether there is weight decay
    """

    _younger = "foreach maximize differentiable capturable"
    _scalars: ClassVar[tuple[str, ...]] = ("step",)
    _arrays: ClassVar[tuple[str, ...]] = ()
    _first: ClassVar[dict[str, Any]] = {}
    _only: ClassVar[dict[str, str]] = {}
    _decays: ClassVar[bool] = True
    _placed: ClassVar[tuple[str, str]] = ("params and state_steps", ", 'xla'")  # what capturable=True wants elsewhere

    @functools.cached_property
    def _room(self) -> Room:
        return Room()

    def _kept(self, group: dict[str, Any]) -> tuple[str, ...]:
        """The names of the arrays that are kept for each parameter of a group."""
        if not self._only:
            return self._arrays
        return tuple(name for name in self._arrays if name not in self._only or group[self._only[name]])

    def _start(self, group: dict[str, Any], state: dict[str, Any], param: Tensor) -> None:
        """Fill the empty state of a parameter, all of it or nothing."""
        whole = {}
        for name in (*self._scalars, *self._kept(group)):
            first = self._first.get(name, 0)
            first = number(group[first]) if isinstance(first, str) else first
            whole[name] = scalar(first, group) if name in self._scalars else filled(param, first)
        state.update(whole)

    def _step_sparse(self, group: dict[str, Any], param: Any, grad: Any) -> None:
        """One step of a parameter with a sparse gradient; RuntimeError where the optimizer has none."""
        name = type(self).__name__
        if name in ("Adam", "AdamW"):
            raise RuntimeError("Adam does not support sparse gradients, please consider SparseAdam instead")
        raise RuntimeError(f"{name} does not support sparse gradients")

    def _advance(self, group: dict[str, Any], *scalars: Any) -> tuple[tuple[Any, ...], Any]:
        """The kept numbers after a step, and the numbers that the rule needs."""
        raise NotImplementedError

    def _rule(self, group: dict[str, Any], numbers: Any, p: Any, g: Any, *kept: Any) -> None:
        """Change a parameter and the arrays kept for it, given the gradient: of class Values, or tensors."""
        raise NotImplementedError

    def _compiled(self, group: dict[str, Any], numbers: Any) -> tuple[Any, ...] | None:
        """The compiled form of the rule, what it computes with, and how often it writes to a parameter; None without.

        ``(name, writes, numbers, *settings)``, as ``kernels/native/optimizer.py`` takes them.
        """
        return None

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self.__dict__.pop("_layouts", None)  # of arrays that may be no more

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change the parameters once; gives the loss that ``closure`` computed."""
        loss = None if closure is None else evaluated(closure)
        groups = []
        for group in self.param_groups:
            todo = []
            for param in group["params"]:
                grad = param._grad
                if grad is not None:
                    if type(grad) is not Tensor and isinstance(grad, SparseTensor):
                        self._step_sparse(group, param, grad)
                        continue
                    state = self.state[param]
                    if not state:
                        self._start(group, state, param)
                    todo.append((param, grad, state))
            groups.append((group, todo))
        if not self._repeats:
            self._step_all(groups)
        else:  # each time counts
            for group, todo in groups:
                for each in todo:
                    self._step_all([(group, [each])])
        return loss

    def _step_all(self, groups: Iterable[tuple[dict[str, Any], Collection[Any]]]) -> None:
        """One step of groups, each with its parameters, their gradients and states: they all count it or none does."""
        counts = Counts()
        prepared = [(group, *self._prepared(group, todo, counts)) for group, todo in groups]
        counts.change()
        for group, by_tensors, batches in prepared:
            for arguments in by_tensors:
                self._step_by_tensors(group, *arguments)
            for batch in batches:
                if not batch.arrays:
                    continue
                weight = _EACH * len(batch.arrays)
                if weight < compiled.least:
                    weight += sum([arrays[0].size for arrays in batch.arrays])  # in less time than without the list
                if weight < compiled.least or not self._step_compiled(group, batch):
                    self._step_arrays(group, batch)

    def _prepared(
        self, group: dict[str, Any], todo: Collection[tuple[Any, Any, dict[str, Any]]], step_counts: Counts
    ) -> tuple[list[Any], Iterable[_Batch]]:
        """The parameters of a group that are stepped by tensors, with what this takes, and the batches of others."""
        if todo and group.get("capturable") and not group.get("fused"):
            raise AssertionError(CAPTURABLE.format(*self._placed))
        names, kept = self._scalars, self._kept(group)
        differentiable = group.get("differentiable", False)
        by_tensors: list[Any] = []
        batches: dict[Any, _Batch] = {}
        same: dict[Any, _Batch] = {}  # the same, by the identities of numbers: after a step, parameters share them
        only = names[0] if len(names) == 1 else None
        counted: list[Any] = []
        batch: Any = None
        latest = latest_dtype = None  # the number and the dtype that the last batch was found by
        for param, grad, state in todo:
            data = param._array
            dtype = data.dtype
            count = None if only is None else state[only]
            if (
                dtype is not latest_dtype
                or count is not None
                and (count._array is not latest or count._counter is not None)
            ):
                counts = [state[name] for name in names]
                identity = (id(dtype), *[id(count._array) for count in counts])
                batch = same.get(identity)
                if batch is None:
                    batch = self._batch(group, batches, dtype, counts)
                    if all(count._counter is None for count in counts):
                        same[identity] = batch
                if len(names) < 2:
                    latest, latest_dtype = None if count is None else count._array, dtype
                    counted = batch.counts
                for count, after in zip(counts, batch.after, strict=True):
                    step_counts.add(count, after)
            elif count is not None:
                counted.append(count)
            version, g = param._counter, grad._array
            if version is None:
                version = share(param)
                data = param._array
            by_itself = differentiable or g.dtype is not dtype
            arrays = [data, g if type(g) is ndarray else np.asarray(g)]
            for name in kept:
                tensor = state[name]
                array = tensor._array
                if tensor._counter is not None or type(array) is not ndarray:
                    array = writable(tensor)
                if array.dtype is not dtype:
                    by_itself = True
                    if group.get("fused"):
                        raise of_two_dtypes(dtype, array.dtype)
                arrays.append(array)
            if by_itself:
                by_tensors.append((batch.numbers, param, grad, [state[name] for name in kept]))
            else:
                batch.versions.append(version)
                batch.arrays.append(arrays)
        for batch in batches.values():
            step_counts.plain += batch.counts
            step_counts.numbers += batch.after[:1] * len(batch.counts)
        return by_tensors, batches.values()

    def _step_compiled(self, group: dict[str, Any], batch: _Batch) -> bool:
        """One step of a batch, all in one call; False where there is none."""
        dtype = REAL.get(batch.arrays[0][0].dtype)
        if dtype is None or (call := self._compiled(group, batch.numbers)) is None:
            return False
        name, writes, numbers, *settings = call
        native = compiled.optimizer
        if len(set(batch.versions)) < len(batch.versions):  # parameters that share memory
            return False
        layouts = self.__dict__.setdefault("_layouts", {}).setdefault(id(group), {})
        if not native.step(getattr(native, name), batch.arrays, dtype, layouts, numbers, *settings):
            return False
        for version in batch.versions:
            version.version += writes
        return True

    def _step_arrays(self, group: dict[str, Any], batch: _Batch) -> None:
        """One step of a batch: large parameters block by block, small ones together."""
        small = []
        for version, arrays in zip(batch.versions, batch.arrays, strict=True):
            if arrays[0].size > _SMALL:
                version.version += self._step_by_blocks(group, batch.numbers, arrays)
            else:
                small.append((version, arrays))
        if len(small) < _FEW or len({id(version) for version, _ in small}) < len(small):
            for version, arrays in small:
                version.version += self._step_by_blocks(group, batch.numbers, arrays)
        else:
            self._step_together(group, batch.numbers, small)

    def _batch(self, group: dict[str, Any], batches: dict[Any, _Batch], dtype: Any, counts: list[Any]) -> _Batch:
        """The batch that parameters of some dtype belong to, given the numbers kept for them."""
        before = tuple(count._array[()] for count in counts)
        key = (dtype, before, *map(type, before))
        batch = batches.get(key)
        if batch is None:
            after, numbers = self._advance(group, *before)
            after = tuple(type(old)(new) for old, new in zip(before, after, strict=True))
            batch = batches[key] = _Batch([count._array for count in counts], after, numbers)
        return batch

    def _step_together(self, group: dict[str, Any], numbers: Any, small: list[tuple[Any, list[Any]]]) -> None:
        """One step of many small parameters, laid end to end; what changed is put back."""
        start = 0
        while start < len(small):
            stop, size = start, 0
            while stop < len(small) and size < BLOCK:
                size += small[stop][1][0].size
                stop += 1
            piece = small[start:stop]
            start = stop
            columns = list(zip(*[arrays for _, arrays in piece], strict=True))
            flat, views = self._laid_out(size, columns)
            for column, within in zip(columns, views, strict=True):
                for array, view in zip(column, within, strict=True):
                    view[...] = array
            writes = self._run(group, numbers, flat)
            for column, within in zip((columns[0], *columns[2:]), (views[0], *views[2:]), strict=True):
                for array, view in zip(column, within, strict=True):
                    array[...] = view
            for version, _ in piece:
                version.version += writes

    def _laid_out(self, size: int, columns: list[tuple[Any, ...]]) -> tuple[list[Any], list[list[Any]]]:
        """Arrays to lay others end to end in, with views of those others' shapes; the same at each step."""
        dtype = columns[0][0].dtype
        shapes = [array.shape for array in columns[0]]
        rooms = self.__dict__.setdefault("_rooms", {})
        layout = rooms.get((dtype.char, len(columns), size))
        if layout is None or layout[0] != shapes:
            flat = [np.empty(size, dtype) for _ in columns]
            ends = np.cumsum([array.size for array in columns[0]]).tolist()
            views = [
                [whole[begin:end].reshape(shape) for begin, end, shape in zip([0, *ends], ends, shapes, strict=False)]
                for whole in flat
            ]
            if len(rooms) > _ROOMS:
                rooms.clear()
            layout = rooms[dtype.char, len(columns), size] = shapes, flat, views
        return layout[1:]  # type: ignore[no-any-return]

    def _step_by_blocks(self, group: dict[str, Any], numbers: Any, arrays: list[Any]) -> int:
        """One step of one parameter; gives how often it was written to."""
        flat = []
        for array in arrays:
            if type(array) is not ndarray:
                array = np.asarray(array)
            if not array.flags.c_contiguous:
                return self._run(group, numbers, [np.asarray(array) for array in arrays])
            flat.append(array if array.ndim == 1 else array.reshape(-1))
        arrays, size, writes = flat, flat[0].size, 0
        if size <= BLOCK:
            return self._run(group, numbers, arrays)
        for begin in range(0, size, BLOCK):
            writes = self._run(group, numbers, [array[begin : begin + BLOCK] for array in arrays])
        return writes

    def _run(self, group: dict[str, Any], numbers: Any, arrays: Sequence[Any]) -> int:
        """The rule on arrays of one layout."""
        dtype, room = arrays[0].dtype, self._room
        room.taken = 0
        narrow = dtype.itemsize == 2 and dtype in NARROW
        whole: list[Values]
        if narrow and group.get("fused"):  # which PyTorch rounds once
            whole = [Values(array.astype(F32), room) for array in arrays]
        elif narrow:
            whole = [Narrow(array.astype(F32), room, dtype) for array in arrays]
        else:
            if dtype.kind == "c":  # real and imaginary parts are numbers of their own
                arrays = [array[..., None].view(REAL[dtype]) for array in arrays]
            whole = [Values(array, room) for array in arrays]
        p, g, *kept = whole
        g = decayed(group if self._decays else {**group, "weight_decay": 0}, p, g)
        g.own = False  # a rule may use it more than once
        self._rule(group, numbers, p, g, *kept)
        if narrow:
            for array, values in zip(arrays, whole, strict=True):
                if values.writes:
                    array[...] = values.array
        return p.writes

    def _step_by_tensors(self, group: dict[str, Any], numbers: Any, param: Any, grad: Any, kept: list[Any]) -> None:
        """The same step in operations."""
        before = modes.local.grad
        try:
            modes.set_grad(bool(group.get("differentiable")))
            tensors = [param, grad, *kept]
            if param.is_complex():
                tensors = [view_as_real(tensor) for tensor in tensors]
            p, g, *kept = tensors
            g = decayed(group if self._decays else {**group, "weight_decay": 0}, p, g)
            self._rule(group, numbers, p, g, *kept)
        finally:
            modes.off |= modes.local.me
            modes.local.grad = before
            modes.settle()


def direction(group: dict[str, Any]) -> tuple[float, float]:
    """By what the gradient is multiplied, and how much of the parameter is then added to it."""
    apart = group.get("decoupled_weight_decay")
    return -1.0 if group.get("maximize") else 1.0, 0.0 if apart else number(group.get("weight_decay", 0))


def learning_rate(group: dict[str, Any]) -> Any:
    """The learning rate; where it is a tensor, what is made of it has its dtype, but for fused steps."""
    return number(group["lr"]) if group.get("fused") else group["lr"]


def decayed(group: dict[str, Any], p: Any, g: Any) -> Any:
    """The gradient as a rule wants it: downhill, with weight decay; decay apart from the gradient shrinks ``p``."""
    if group.get("maximize"):
        g = -g
    decay = group.get("weight_decay", 0)
    if not group.get("differentiable"):
        decay = number(decay)
    if isinstance(decay, Tensor):
        g = g + p.clone() * decay
    elif decay != 0:
        if group.get("decoupled_weight_decay"):
            shrink = 1 - learning_rate(group) * decay
            p.mul_(shrink if group.get("differentiable") else number(shrink))
        else:
            g = g.add(p, alpha=decay)
    return g


#: The two settings of functions that are one of groups.
_PAIRS = {
    "betas": ("beta1", "beta2"),
    "etas": ("etaminus", "etaplus"),
    "step_sizes": ("step_size_min", "step_size_max"),
}


def functional(kind: type[Elementwise], lists: str, optional: str, required: str) -> Callable[..., None]:
    """The step of an optimizer as a function of lists: parameters, gradients, and state by the plural of its names.

    ``optional`` and ``required`` are the settings, in the order of PyTorch; those that an optimizer has no use for are
    taken all the same. Required ones are given by name.
    """
    inputs = ["params", "grads", *lists.split()]
    settings = [*optional.split(), *required.split()]
    signature = Signature([
        *[Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in inputs],
        *[Parameter(name, Parameter.POSITIONAL_OR_KEYWORD, default=unheard(name)) for name in optional.split()],
        *[Parameter(name, Parameter.KEYWORD_ONLY) for name in required.split()],
    ])  # fmt: skip

    def step(*args: Any, **kwargs: Any) -> None:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        params, grads, *columns = (bound.arguments[name] for name in inputs)
        group = {name: bound.arguments[name] for name in settings}
        for pair, (one, other) in _PAIRS.items():
            if one in group:
                group[pair] = group[one], group[other]
        optimizer = kind.__new__(kind)
        names = (*kind._scalars, *optimizer._kept(group))
        by_name = dict(zip(map(_singular, lists.split()), columns, strict=True))
        if not all(isinstance(count, Tensor) for count in by_name["step"]):
            raise RuntimeError("API has changed, `state_steps` argument must contain a list of singleton tensors")
        states = [dict(zip(names, row, strict=True)) for row in zip(*(by_name[name] for name in names), strict=True)]
        optimizer._step_all([(group, list(zip(params, grads, states, strict=True)))])

    step.__name__ = step.__qualname__ = kind.__name__.lower()
    step.__module__, step.__doc__ = kind.__module__, f"One step of {kind.__name__}, given the state as lists."
    step.__signature__ = signature  # type: ignore[attr-defined]
    return step


def _singular(lists: str) -> str:
    """What of the state a list is of: ``exp_avgs`` of ``exp_avg``, ``state_steps`` of ``step``."""
    return lists.removeprefix("state_").removesuffix("_list").removesuffix("s")
