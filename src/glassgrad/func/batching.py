"""``vmap`` as a level: tensors that stand for a batch, of which a function sees one example, and each row's rule.

A batch's ``value`` has the examples along its first dimension.  A row's column ``batched=`` says how it serves a batch
at once:

"point"        element by element, its inputs broadcast: examples are lined up, and the row is called on all
"dims"         along dimensions that its settings name (``dim``, ``dims``, ``dim0`` ...): they are one further back
"first"        over any number of leading dimensions: examples are one more of them
"fold"         independent along the first dimension of all inputs: the examples' are put one behind the other
"random"       draws, as the vmap's ``randomness=`` says: what every row with a generator does
None           a call for each example, the results stacked

A rule written with ``row.batch`` goes first: ``rule(size, batched, *inputs, *settings)`` gets inputs with the examples
first where ``batched`` says so, and gives results that have the examples first, or NotImplemented.  A row without any
may have a ``row.composition``: the same in other rows, called on what one example is.  Both are written in
``families/<family>/batches.py``, which is imported when a batch first meets the family.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec
from math import prod
from typing import Any

import numpy as np

from ..core import promotion
from ..core.row import TABLE, Row
from ..core.tensor import LEAF, Tensor, new, wrap
from ..families.shape.batches import alike, all_alike, behind, fold, unfold
from ..families.shape.rows import inferred
from ..ground import listening
from ..ground.errors import ValuesHidden
from ..ground.generator import default_generator
from ..ground.hidden import Hidden
from ..ground.runtime import warn_once
from ..ops.pytree import tree_flatten, tree_leaves, tree_unflatten
from ..tensor import lifted, writable
from ..tensor.lifted import Lifted, derives
from . import levels
from .levels import Level, call_row, like, several


class Batched(Lifted):
    """A tensor at a level of ``vmap``: one example, for all, which lie along the first dimension of ``value``."""

    __slots__ = ("along",)

    along: int  #: where the examples lay in the argument that this is, which prints so; 0 for all others

    @property  # type: ignore[override]
    def _array(self) -> Any:
        array = self.value._array
        return Hidden(array.shape[1:], array.dtype, array.strides[1:])

    @_array.setter
    def _array(self, array: Any) -> None:
        raise ValuesHidden("the memory of a batch")

    @property  # type: ignore[misc]
    def _counter(self) -> Any:  # type: ignore[override]
        return self.value._counter

    @property  # type: ignore[override,misc]
    def data(self) -> Any:
        raise RuntimeError("accessing `data` under vmap transform is not allowed")

    @data.setter
    def data(self, data: Any) -> None:
        raise RuntimeError("mutating directly with `.data` under vmap transform is not allowed.")

    @property  # type: ignore[override]
    def _edge(self) -> Any:  # what is computed from it must be computed by rows
        return LEAF

    @_edge.setter
    def _edge(self, edge: Any) -> None:
        raise ValuesHidden("the history of a batch")

    @property  # type: ignore[override]
    def grad_fn(self) -> Any:
        return self.value.grad_fn

    def __repr__(self, *, tensor_contents: str | None = None) -> str:
        value = self.value.movedim(0, self.along) if self.along else self.value
        return levels.shown("BatchedTensor", self.level.number, value, f", bdim={self.along}")


class Batch(Level):
    """One call of ``vmap`` over ``size`` examples."""

    sees_through = False  # fused rows have batching rules
    setting_data, implementation = "under vmap", "BatchedTensorImpl"

    def __init__(self, size: int, randomness: str = "error") -> None:
        super().__init__()
        self.size, self.randomness = size, randomness
        self.is_looping = False  # whether a function is called example by example: each call draws for one

    def batch(self, value: Any, along: int = 0) -> Batched:
        """A tensor at this level whose examples lie along the first dimension of ``value``."""
        tensor = new(Batched)
        tensor.value, tensor.level, tensor.along = value, self, along
        return tensor

    def check_randomness(self) -> None:
        """Raise PyTorch's error where random operations are not to be."""
        if self.randomness == "error":
            raise RuntimeError(_RANDOM)

    def raised(self, value: Any) -> Any:
        return self.batch(all_alike(value, self.size))

    def below(self, settings: Sequence[Any]) -> Sequence[Any]:
        """Index tensors as pairs: what each stands for below this level, and whether it is a batch."""
        return [
            [None if part is None else (self.lower(levels.alive(part)), self.has(part)) for part in setting]
            if hasattr(setting, "parts")
            else setting
            for setting in settings
        ]

    def strip(self, tensor: Any, value: Any) -> Any:
        return self.batch(value)

    def says(self, tensor: Any) -> str:
        sizes = list(tensor._array.shape)
        return f"vmap: it stands for a batch of {self.size}, each of sizes {sizes}; the graph is that of all together"

    def into(self, row: Row, flat: Sequence[Any], settings: Sequence[Any], out: Any) -> Any:
        raise RuntimeError(
            f"Batching rule not implemented for aten::{row.name}.out; the fallback path doesn't work on out= or view "
            "ops."
        )

    def writable(self, tensor: Any) -> Any:
        return self.batch(TABLE["compact"].caller(all_alike(tensor, self.size)))

    def ended(self, tensor: Any) -> Any:
        raise RuntimeError(
            "Either your tensor may have escaped from inside a function being vmapped and this is a user error (see "
            "https://pytorch.org/functorch/stable/ux_limitations.html), or there is an internal functorch error in "
            "`gen_vmap_plumbing` Please file an issue if it looks like the latter"
        )

    def has(self, operand: Any) -> bool:
        """Whether an operand is a batch of this level."""
        return isinstance(operand, Batched) and operand.level is self

    def call(self, row: Row, flat: Sequence[Any], settings: Sequence[Any]) -> Any:
        return self._at_once(row, flat, settings) if self.size or row.view else self._of_none(row, flat, settings)

    def _of_none(self, row: Row, flat: Sequence[Any], settings: Sequence[Any]) -> Any:
        """A call for no example, which tells no sizes of results: what one that is made up gives, without it."""
        if row.name in _SIZED:
            raise RuntimeError(f"vmap: how much {row.name} gives follows from values, and there is no example")
        if "generator" in row.settings and self.randomness == "different":  # where nothing is drawn
            return self._at_once(row, flat, settings)
        if row.name in levels.INDEXED:
            settings = [_indices_and_one(setting) if isinstance(setting, list) else setting for setting in settings]
        some = [
            self.batch(_and_one(operand.value, not row.listed and position in row.plan.auxiliary))
            if self.has(operand)
            else operand
            for position, operand in enumerate(flat)
        ]
        self.size = 1
        try:
            answer = self._at_once(row, some, settings)
        finally:
            self.size = 0
        return like(answer, [self._without_any(out) for out in several(answer)])

    def _without_any(self, out: Any) -> Any:
        return self.batch(TABLE["slice"].caller(out.value, 0, 0, 0, 1)) if self.has(out) else out

    def _at_once(self, row: Row, flat: Sequence[Any], settings: Sequence[Any]) -> Any:
        batched = [type(operand) is Batched and operand.level is self for operand in flat]
        values = [operand.value if is_batch else operand for operand, is_batch in zip(flat, batched, strict=True)]
        if row.name not in _READY:
            _make_ready(row)
        answer = NotImplemented
        if row.batch_rule is not None:
            inputs = [values] if row.listed else list(values)
            answer = row.batch_rule(self.size, batched, *inputs, *settings)
        if answer is NotImplemented and row.composed is not None:
            answer = row.composed(*([flat] if row.listed else flat), *settings)
            if answer is not NotImplemented:
                return answer
        if answer is NotImplemented and row.batched is not None:
            answer = _RULES[row.batched](self, row, flat, values, batched, settings)
        if answer is not NotImplemented:
            if type(answer) is Tensor:
                return self.batch(answer)
            return like(answer, [self.batch(value) for value in several(answer)])
        if row.view:
            raise RuntimeError(
                f"vmap: {row.name} of such a tensor is not taken: a view of each example would be a copy, and writes "
                "into it would be lost"
            )
        return self.each(lambda *operands: call_row(row, operands, settings), row.name, flat)

    def write(self, row: Row, target: Any, others: Sequence[Any], settings: Sequence[Any]) -> None:
        if not self.has(target):
            raise RuntimeError(_unwritable(row, self, target, others))
        levels.check_apart(row, target, others)
        old = target
        if row.plan.rules and any(position == 0 for _, position, _ in row.plan.saved_inputs):
            if derives(target.value, *others):
                old = self.batch(TABLE["clone"].caller(target.value))  # what a rule reads is written over
        result = call_row(row, (old, *others), settings)
        writable.check_fits(target, result._array.shape)
        writable.check_cast(result._array.dtype, target)
        levels.put(row, target.value, self.lower(result))

    # -- one example after the other ----------------------------------------------------------------------------------

    def each(self, function: Callable[..., Any], name: str, operands: Sequence[Any]) -> Any:
        """A call of ``function`` for each example, the results stacked."""
        if name in _REFUSED:
            raise RuntimeError(_REFUSED[name])
        warn_once(
            f"There is a performance drop because there is no batching rule for {name}: it is called for each example"
        )
        select, stack = TABLE["select"].caller, TABLE["stack"].caller
        answers = []
        state = default_generator.get_state_bytes() if self.randomness == "same" else None
        for index in range(self.size):
            example = [select(t.value, 0, index) if self.has(t) else t for t in operands]
            if state is not None:
                default_generator.set_state_bytes(state)
            was_looping, self.is_looping = self.is_looping, True
            try:
                answer = function(*example)
            finally:
                self.is_looping = was_looping
            for part in tree_leaves(answer):
                if _shares_memory(part, example):
                    raise RuntimeError(
                        f"vmap: {name} gives a view of each example here, which cannot be put together without a copy, "
                        "so that writes into it would be lost"
                    )
            answers.append(answer)
        if not answers:
            raise RuntimeError(f"vmap: {name} has no batching rule, and there is no example to call it on")
        leaves, shapes = zip(*map(tree_flatten, answers), strict=True)
        columns = list(zip(*leaves, strict=True))
        if not all(isinstance(part, Tensor) or part is None for column in columns for part in column):
            raise RuntimeError(f"vmap: {name} gives no Tensors, which cannot be batched")
        stacked = [None if column[0] is None else self.batch(stack(list(column), 0)) for column in columns]
        return tree_unflatten(stacked, shapes[0])


def _and_one(batch: Any, is_index: bool) -> Any:
    """A batch of no example, and one of zeros, which are in any range, or of unit matrices, which have an inverse."""
    sizes, kind = batch._array.shape[1:], batch._array.dtype
    example = np.zeros((1, *sizes), kind)
    if not is_index:
        example[...] = np.eye(*sizes[-2:]) if len(sizes) > 1 else 1
    return TABLE["cat"].caller([batch, wrap(example)], 0)


def _indices_and_one(indices: list[Any]) -> list[Any]:
    """Index tensors as ``below`` gives them, the batches among them with one example."""
    return [part if part is None or not part[1] else (_and_one(part[0], True), True) for part in indices]


def _shares_memory(part: Any, example: Sequence[Any]) -> bool:
    """Whether a result lies on the memory of an example, as a view of it does."""
    counter = part._counter if isinstance(part, Tensor) else None
    return counter is not None and any(isinstance(t, Tensor) and t._counter is counter for t in example)


#: What gives as many elements as values say.
_SIZED = frozenset(("repeated", "bincount"))
#: Whose refusal to write a batch into what is none PyTorch words as arithmetic, and as sizes that do not fit.
_ARITHMETIC = frozenset("sub mul div copy masked_fill logical_and logical_or logical_xor clamp_min clamp_max".split())
_BROADCASTING = frozenset(
    "add atan2 copysign gcd lcm bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift".split()
)


def _unwritable(row: Row, level: Batch, target: Any, others: Sequence[Any]) -> str:
    """PyTorch's refusal to write a batch into what is none: it names the operation in one of three ways, or sizes."""
    name = levels.written_name(row)
    what, where = f"aten::{name}_", f"at level {level.number}"
    if name in _BROADCASTING:
        wide = [level.size, *np.broadcast_shapes(*(tensor._array.shape for tensor in (target, *others)))]
        return f"output with shape {list(target._array.shape)} doesn't match the broadcast shape {wide}"
    if name in _ARITHMETIC and row.name != "masked_fill_tensor":
        what, where = "inplace arithmetic", "in a vmap"
    elif name in ("fill", "index_put", "index_add", "index_fill"):
        what, where = f"{name}_", "in a vmap"
    return (
        f"vmap: {what}(self, *extra_args) is not possible because there exists a Tensor `other` in extra_args that has "
        "more elements than `self`. This happened due to `other` being vmapped over but `self` not being vmapped over "
        f"{where}. Please try to use out-of-place operators instead of {what}. If said operator is being called inside "
        "the PyTorch framework, please file a bug report instead."
    )


_RANDOM = (
    "vmap: called random operation while in randomness error mode. Please either use the 'same' or 'different' "
    "randomness flags on vmap or perform the randomness operation out of vmap"
)
_SAME = (
    "Vmap does not currently support same randomness with a batched tensor input. Please file an issue with functorch"
)
_UNBATCHED = (
    "vmap: Cannot ask for different inplace randomness on an unbatched tensor. This will appear like same randomness. "
    "If this is necessary for your usage, please file an issue with functorch."
)
ITEM = (
    "vmap: It looks like you're calling .item() on a Tensor. We don't support vmap over calling .item() on a Tensor, "
    "please try to rewrite what you're doing with other operations. If error is occurring somewhere inside PyTorch "
    "internals, please file a bug report."
)
_CONTROL_FLOW = (
    "vmap: It looks like you're attempting to use a Tensor in some data-dependent control flow. We don't support that "
    "yet, please file an issue at https://github.com/pytorch/pytorch/issues ."
)
_STORAGE = "Cannot access data pointer of Tensor that doesn't have storage"
_PLEASE = "Please file an issue at https://github.com/pytorch/pytorch/issues"
_DIFFERENT_SIZES = (
    "vmap: We do not support batching operators that can output dynamic shape. Attempted to vmap over aten::{}. "
    f"{_PLEASE} if you need this feature."
)
#: What is never called example by example: results would differ in size, or be no tensors, or lose what was written.
_REFUSED = {
    **{name: ITEM for name in ("item", "as_float", "as_int", "as_complex", "as_index", "formatted", "arange")},
    **{name: _STORAGE for name in ("tolist", "numpy", "__array__", "data_ptr")},
    **{name: _DIFFERENT_SIZES.format(name) for name in ("nonzero", "unique_consecutive")},
    **{
        name: f"vmap: {name} changes the size of a tensor's memory, which a batch shares among its examples"
        for name in ("resize_", "resize_as_", "set_")
    },
    "unique": _DIFFERENT_SIZES.format("_unique2"),
    "truth": _CONTROL_FLOW,
    "allclose": f"vmap over torch.allclose isn't supported yet. {_PLEASE} if you need this feature.",
    "equal": "Batching rule not implemented for aten::equal. We could not generate a fallback.",
    "masked_select": (
        "vmap: Attempted to vmap over `mask` in torch.masked_select(self, mask) We cannot support this because for "
        f"each batch this would return a differently shaped Tensor. {_PLEASE} if you need this feature."
    ),
}


# -- rules ------------------------------------------------------------------------------------------------------------

_READY: set[str] = set()  #: rows whose family's written rules have been imported


def _make_ready(row: Row) -> None:
    """Import the written rules of a row's family, its file ``batches.py``, if it has one."""
    family = row.plain.__module__.rpartition(".")[0]
    if find_spec(f"{family}.batches") is not None:
        import_module(f"{family}.batches")
    if "generator" in row.settings:
        row.batched = "random"
    _READY.add(row.name)


def _point(
    level: Batch, row: Row, flat: Sequence[Any], values: list[Any], batched: Sequence[bool], settings: Sequence[Any]
) -> Any:
    """Element by element: examples are lined up behind the same number of dimensions."""
    if len(values) == 1:
        return row.caller(values[0], *settings)
    if not row.plan.broadcasts and row.plan.ruled_inputs:  # no gradient is summed: all sizes are alike
        values, batched = list(alike(level.size, batched, *values)), [isinstance(value, Tensor) for value in values]
    shapes = [operand._array.shape if isinstance(operand, Tensor) else () for operand in flat]
    rank = max(map(len, shapes))
    if row.typed is not None and not _agree(values):
        cast = promotion.common_dtype(row, flat)
        for position, value in enumerate(values):
            if isinstance(value, Tensor) and position not in row.plan.auxiliary and value._array.dtype != cast:
                values[position] = TABLE["to_copy"].caller(value, cast, value._array.dtype)
    for position, (shape, is_batch) in enumerate(zip(shapes, batched, strict=True)):
        if is_batch and len(shape) < rank:
            values[position] = values[position].reshape((level.size, *(1,) * (rank - len(shape)), *shape))
    return row.caller(*values, *settings)


def _agree(values: Sequence[Any]) -> bool:
    """Whether all tensors are of one dtype, and nothing else is there."""
    first = values[0]._array.dtype if isinstance(values[0], Tensor) else None
    return all([isinstance(value, Tensor) and value._array.dtype is first for value in values])


_DIMS = {"dim", "dims", "dim0", "dim1", "dim2", "axis", "dimension"}
#: Rows whose dimensions are those of a result that has one dimension more than the input.
_GIVES_ONE_MORE = {"unsqueeze", "unsqueeze_inplace", "diag_embed"}


def _dims(
    level: Batch, row: Row, flat: Sequence[Any], values: list[Any], batched: Sequence[bool], settings: Sequence[Any]
) -> Any:
    """Along named dimensions: every input is a batch, dimensions are counted one further, sizes get the batch's."""
    named = dict(zip(row.settings, settings, strict=False))
    ndim = len(named["sizes"]) if "sizes" in named else flat[0]._array.ndim
    values = list(alike(level.size, batched, *values))
    one_more = row.name in _GIVES_ONE_MORE
    is_number = not ndim and not one_more and not _DIMS.isdisjoint(named)
    if is_number:  # a number has a dimension 0, of size 1
        ndim = 1
        values = [
            value.reshape((level.size, prod(value._array.shape[1:]))) if isinstance(value, Tensor) else value
            for value in values
        ]
    further = []
    for name, setting in named.items():
        if name in _DIMS:
            if isinstance(setting, int):
                setting = behind(setting, ndim + one_more)
            elif setting is None:
                setting = tuple(range(1, ndim + 1))
            else:
                setting = tuple([behind(dim, ndim + one_more) for dim in setting])
            if row.name == "permute":
                setting = (0, *setting)
        elif name == "sizes":
            if not level.size and -1 in setting:
                setting = inferred(setting, flat[0]._array.size)
            setting = (level.size, *(setting or (1,) * is_number))
        elif name == "k":
            setting = setting or int(is_number)  # of which ``topk`` gives one, however few it is asked for
        elif name == "keepdim":
            setting = setting or is_number  # of which what was reduced has a dimension too
        further.append(setting)
    answer = row.caller(*values, *further)
    if is_number:
        numbers = [
            value.reshape((level.size,)) if value._array.size == level.size else value for value in several(answer)
        ]
        return like(answer, numbers)
    return answer


def _first(
    level: Batch, row: Row, flat: Sequence[Any], values: list[Any], batched: Sequence[bool], settings: Sequence[Any]
) -> Any:
    """Any number of leading dimensions: examples are one more of them."""
    answer = row.caller(*alike(level.size, batched, *values), *settings)
    if not row.outputs:
        return answer
    return tuple(
        [  # what was not asked for is empty
            out if out._array.size or out._array.ndim != 1 else all_alike(out, level.size) for out in answer
        ]
    )


def _fold(
    level: Batch, row: Row, flat: Sequence[Any], values: list[Any], batched: Sequence[bool], settings: Sequence[Any]
) -> Any:
    """Independent of each other along the first dimension: those of all examples, one behind the other."""
    folded = [fold(value) if isinstance(value, Tensor) else value for value in alike(level.size, batched, *values)]
    further = [
        (level.size * setting[0], *setting[1:]) if name == "size" else setting
        for name, setting in zip(row.settings, settings, strict=False)
    ]
    answer = row.caller(*folded, *further)
    return like(answer, [unfold(out, level.size) for out in several(answer)])


def _random(
    level: Batch, row: Row, flat: Sequence[Any], values: list[Any], batched: Sequence[bool], settings: Sequence[Any]
) -> Any:
    """Draws: for each example, or, where they are written over a batch, the same for all."""
    level.check_randomness()
    if level.randomness == "different":
        return _point(level, row, flat, list(alike(level.size, batched, *values)), [True] * len(flat), settings)
    if not row.name.endswith(("_over", "_below", "_between")) and (row.name != "bernoulli_by" or batched[1]):
        raise RuntimeError(_SAME)
    return all_alike(row.caller(TABLE["select"].caller(values[0], 0, 0), *values[1:], *settings), level.size)


_RULES: dict[str, Callable[..., Any]] = {
    "point": _point,
    "dims": _dims,
    "first": _first,
    "fold": _fold,
    "random": _random,
}


# -- randomness --------------------------------------------------------------------------------------------------------


def _batches() -> list[Batch]:
    batches = [level for level in levels.levels() if isinstance(level, Batch)]
    for level in batches:
        level.check_randomness()
    return [level for level in batches if not level.is_looping]


def _drawn(draw: Callable[[tuple[int, ...]], Any], sizes: tuple[int, ...]) -> Any:
    """What ``draw`` makes of sizes: once, or for all examples where each has draws of its own."""
    different = [level for level in _batches() if level.randomness == "different"]
    with levels.aside():
        value = draw((*[level.size for level in different], *sizes))
    for level in levels.levels():
        value = level.batch(value) if level in different else level.born(value)  # type: ignore[attr-defined]
    return value


def _chances(tensor: Any, written: bool = False) -> Any:
    """A tensor of which draws are made: a batch where each example has draws of its own."""
    tensor = levels.alive(tensor)
    for level in _batches():
        if level.randomness == "same" and level.has(tensor) and not written:
            raise RuntimeError(_SAME)
        if level.randomness == "different" and levels.level_of(tensor) < level.number:
            if written:
                raise RuntimeError(_UNBATCHED)
            tensor = level.raised(tensor)
    return tensor


lifted.drawn, lifted.chances = _drawn, _chances


# -- functions that look at values ------------------------------------------------------------------------------------


def _hidden(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], hidden: ValuesHidden) -> Any:
    """A function that asked a batch for its values: called for each example."""
    names = list(kwargs)
    operands = [levels.alive(operand) for operand in (*args, *kwargs.values())]
    level = levels.highest([operand for operand in operands if isinstance(operand, Batched)])
    if level is None or any(isinstance(operand, Lifted) and not level.has(operand) for operand in operands):
        raise hidden

    def example(*parts: Any) -> Any:
        return function(*parts[: len(args)], **dict(zip(names, parts[len(args) :], strict=True)))

    name = function.__name__
    if name.endswith("_") and not name.startswith("__") and args and level.has(operands[0]):
        level.each(lambda *parts: example(*parts).clone(), name, operands)  # written in place, example by example
        return args[0]
    return level.each(example, name, operands)


listening.hidden = _hidden
