"""Gradients of each sample of a batch, from the graph of one ordinary forward call and one walk back.

Down from the loss to a parameter, most gradients are those of samples already, side by side: the walk knows where the
samples lie in each (``Samples``).  It learns that from the records themselves: a record is linear in the gradient it is
given, so that of a gradient in which some samples are nought, what it gives on is nought wherever those samples lie.
Where no such arrangement exists, either samples are mixed, which is refused, or the input is a parameter: then the
record is run for each sample, or by its row's ``samples`` rule, all at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import heappop, heappush
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from ..core import engine, saved
from ..core.plan import gradients
from ..core.record import OUTPUT, Bundle, Fitting, Record, freed
from ..core.tensor import Tensor, edge_of, wrap
from ..families.matrix.rows import products
from ..ground import errors
from ..ops.pytree import tree_leaves


class Samples(NamedTuple):
    """Where samples lie: index ``i`` along dimension ``dim`` belongs to sample ``i // inner % size`` of a batch."""

    dim: int
    inner: int

    def of(self, shape: Sequence[int], size: int) -> Any:
        """The sample of each index along the dimension, shaped to meet an array of ``shape``."""
        labels = np.arange(shape[self.dim]) // self.inner % size
        return labels.reshape((-1, *(1,) * (len(shape) - self.dim - 1)))

    def apart(self, array: Any, size: int) -> Any:
        """The array with the samples along a new first dimension."""
        shape = array.shape
        parted = array.reshape((*shape[: self.dim], -1, size, self.inner, *shape[self.dim + 1 :]))
        parted = np.moveaxis(parted, self.dim + 1, 0)
        return parted.reshape((size, *shape[: self.dim], shape[self.dim] // size, *shape[self.dim + 1 :]))


class Together(NamedTuple):
    """A gradient in which those of all samples lie side by side; of a loss, which has none, ``where`` is None."""

    grad: Any
    where: Samples | None


class Each(NamedTuple):
    """The gradients of something that all samples share: one for each sample, along the first dimension."""

    grads: Any


#: Rows that add up what samples give, and those that a loss may go through afterwards.
SUMS = frozenset(
    """sum mean sum_dim mean_dim mse_loss nll_loss nll_loss2d binary_cross_entropy binary_cross_entropy_with_logits
    huber_loss smooth_l1_loss soft_margin_loss multi_margin_loss multilabel_margin_loss""".split()
)
SCALES = frozenset(
    "add sub mul div neg add_number sub_number mul_number div_number clone view reshape_alias to_copy".split()
)
#: Rows that work element by element on inputs of the result's sizes.
POINTWISE = frozenset("relu gelu sigmoid silu leaky_relu elu softplus pow_number square clone compact dropout".split())


def per_sample_backward(
    loss: Tensor, batch_size: int, *, reduction: str = "mean", dim: int = 0, parameters: Any = None
) -> None:
    """Put the gradient of each sample into ``grad_sample`` of the leaves under ``loss``: the samples along dimension 0.

    The loss adds up (``reduction="sum"``) or averages (``"mean"``) what ``batch_size`` samples give, which lie along
    dimension ``dim`` of what it reduces; several elements of one sample may lie next to each other there.  With "mean",
    the mean of ``grad_sample`` over the samples is the gradient that ``loss.backward()`` computes; with "sum", the sum
    is.  ``grad`` is left alone and the graph stays, so that ``loss.backward()`` may follow.

    ``parameters`` are those wanted; without them all leaves but those that hold the samples themselves.
    A second call adds to ``grad_sample``.  RuntimeError, which names the operation, where samples are mixed on the way,
    as batch normalisation does in training.
    """
    scale = _scale(batch_size, reduction)
    for leaf, grads in _walk(loss, batch_size, dim, parameters):
        gradient = wrap(_formed(grads, scale))
        before = getattr(leaf, "grad_sample", None)
        leaf.grad_sample = gradient if before is None else before + gradient


def per_sample_norms(
    loss: Tensor, batch_size: int, parameters: Any = None, *, reduction: str = "mean", dim: int = 0
) -> Tensor:
    """The norm of each sample's gradient by all ``parameters`` together, as ``per_sample_backward`` computes them.

    Of a weight that one linear layer uses on one vector a sample, the norm is computed without the gradients.
    """
    scale = _scale(batch_size, reduction)
    total: Any = np.zeros(batch_size, loss._array.dtype)
    for _, grads in _walk(loss, batch_size, dim, parameters):
        total = total + (grads.squares() if isinstance(grads, Outer) else _squares(grads))
    return wrap(np.sqrt(total) * total.dtype.type(scale))


def _squares(grads: Any) -> Any:
    flat = grads.reshape(len(grads), -1)
    return np.einsum("ij,ij->i", flat, flat.conj()).real


class Outer:
    """For each sample the sum over positions of the outer products of two vectors: gradients that are not formed yet.

    left  (samples, positions, m)      right  (samples, positions, n)
    """

    def __init__(self, left: Any, right: Any) -> None:
        self.left, self.right, self.dtype = left, right, left.dtype

    def formed(self, scale: float = 1) -> Any:
        """The gradients, of sizes (samples, m, n), times ``scale``."""
        left = self.left if scale == 1 else self.left * self.dtype.type(scale)
        return products(left.swapaxes(1, 2), self.right)

    def squares(self) -> Any:
        """The squared norm of each: by the vectors' products with each other, where that is less work."""
        positions, m, n = self.left.shape[1], self.left.shape[2], self.right.shape[2]
        if positions * (m + n) > m * n:
            return _squares(self.formed())
        grams = [np.matmul(part, part.swapaxes(1, 2)) for part in (self.left, self.right)]
        return (grams[0] * grams[1]).sum((1, 2))


def _scale(batch_size: int, reduction: str) -> int:
    if reduction not in ("mean", "sum"):
        raise ValueError(f"per-sample gradients: reduction must be 'mean' or 'sum', got {reduction!r}")
    if not isinstance(batch_size, int) or batch_size < 1:
        raise ValueError(f"per-sample gradients: batch_size must be a positive int, got {batch_size!r}")
    return batch_size if reduction == "mean" else 1


# -- the walk ---------------------------------------------------------------------------------------------------------


def _walk(loss: Tensor, size: int, dim: int, parameters: Any) -> list[tuple[Any, Any]]:
    """The parameters under the loss, each with the gradients of all samples (an array, or ``Outer``)."""
    root = edge_of(loss)
    if root is None:
        raise RuntimeError(errors.NO_GRAD.format(index=0))
    if loss._array.size != 1:
        raise RuntimeError(errors.SCALAR_ONLY)
    owed = engine.dependencies([root])
    leaves = [edge for edge in owed if not isinstance(edge, Record)]
    if parameters is None:
        parameters = [leaf for leaf in leaves if type(leaf) is not Tensor] or leaves
    wanted = dict.fromkeys(edge_of(parameter) for parameter in parameters)
    walk = _Walk(size, dim, wanted, _needed(owed, wanted))
    results: list[tuple[Any, Any]] = []
    inbox: dict[Any, list[Any]] = {root: [Together(np.ones_like(loss._array)[()], None)]}
    order = count()
    ready: list[tuple[float, int, Any]] = [(0.0, next(order), root)]
    while ready:
        edge = heappop(ready)[2]
        arrived = inbox.pop(edge, [])
        if edge in wanted and arrived:
            state = walk.joined(arrived, edge)
            if not isinstance(state, Each):
                raise RuntimeError("per-sample gradients: the loss adds up elements of a parameter, not of samples")
            results.append((edge, state.grads))
        if not isinstance(edge, Record):
            continue
        came = walk.joined(arrived, edge) if arrived and edge in walk.needed else None
        outgoing = [None] * len(edge.edges) if came is None else walk.through(edge, came)
        for onward, state in zip(edge.edges, outgoing, strict=True):
            if onward is not None:
                if state is not None:
                    inbox.setdefault(onward, []).append(state)
                owed[onward] -= 1
                if not owed[onward]:
                    first = -onward.sequence if isinstance(onward, Record) else float("-inf")
                    heappush(ready, (first, next(order), onward))
    return results


def _needed(owed: dict[Any, int], wanted: dict[Any, None]) -> set[Any]:
    """The records through which the wanted are reached, and these."""
    needed = set(wanted)
    records = [edge for edge in owed if isinstance(edge, Record)]
    for record in sorted(records, key=lambda record: record.sequence):  # inputs first
        if any(onward in needed for onward in record.edges if onward is not None):
            needed.add(record)
    return needed


def _mixed(record: Any, reason: str) -> RuntimeError:
    """The refusal of a record, with the line that made it, where that is known."""
    if not isinstance(record, Record):
        return RuntimeError(f"per-sample gradients: a parameter of sizes {list(record._array.shape)} {reason}")
    hooks = getattr(record, "_hooks", None)
    trace = None if hooks is None else hooks.metadata.get("traceback_")
    line = (
        "\n" + trace[-1].rstrip()
        if trace
        else " (run the forward call under torch.autograd.set_detect_anomaly(True) to see its line)"
    )
    return RuntimeError(f"per-sample gradients: {record.kind.name} {reason}{line}")


class _Walk:
    """What one walk knows: how many samples there are, and where the loss has them."""

    def __init__(self, size: int, dim: int, wanted: dict[Any, None], needed: set[Any]) -> None:
        self.size, self.dim, self.wanted, self.needed = size, dim, wanted, needed

    def joined(self, arrived: Sequence[Any], edge: Any) -> Any:
        """What arrived at one place by several ways, added up."""
        total = arrived[0]
        for other in arrived[1:]:
            if isinstance(total, _Bundled):
                total = self._bundles(total, other, edge)
            elif type(total) is not type(other) or (isinstance(total, Together) and total.where != other.where):
                raise _mixed(edge, "mixes samples: its result is used by each sample for itself, and by all of them")
            elif isinstance(total, Together):
                total = Together(total.grad + other.grad, total.where)
            else:
                total = Each(_formed(total.grads) + _formed(other.grads))
        return total

    def _bundles(self, total: _Bundled, other: _Bundled, edge: Any) -> _Bundled:
        states = []
        for one, two in zip(total.states, other.states, strict=True):
            both = [state for state in (one, two) if state is not None]
            states.append(self.joined(both, edge) if both else None)
        return _Bundled(states)

    def through(self, record: Record, came: Any) -> list[Any]:
        """What a record gives on to each of its edges."""
        if record.kind is OUTPUT:
            number, total = record.constants
            return [_Bundled([came if index == number else None for index in range(total)])]
        wishes = [edge is not None and edge in self.needed for edge in record.edges]
        if isinstance(came, _Bundled):
            states = [state for state in came.states if state is not None]
            if all(isinstance(state, Each) for state in states):
                return self._for_each(record, came, wishes)
            if any(isinstance(state, Each) or state.where is None for state in states):
                raise _mixed(record, "gives results that samples share, and results that each has for itself")
        elif isinstance(came, Each):
            return self._for_each(record, came, wishes)
        elif came.where is None:
            return self._of_the_loss(record, came.grad, wishes)
        return self._side_by_side(record, came, wishes)

    # -- above the samples --------------------------------------------------------------------------------------------

    def _of_the_loss(self, record: Record, grad: Any, wishes: Sequence[bool]) -> list[Any]:
        """Through a record that gives a loss: on to other losses, or to the samples that it adds up."""
        name = record.kind.row.name if record.kind.row is not None else record.kind.name
        states: list[Any] = []
        for edge, wish, gradient in zip(record.edges, wishes, self._run(record, grad, wishes), strict=True):
            if not wish or gradient is None:
                states.append(None)
            elif self._is_parameters_own(edge):
                raise _mixed(record, "is of parameters alone: add such a term's gradient yourself, to that of the mean")
            elif np.size(gradient) == 1 and self.size > 1:
                if name not in SCALES and name not in SUMS:
                    raise _mixed(record, "mixes samples: it is applied to what is added up over them")
                if name in ("mul", "div") and sum(edge is not None for edge in record.edges) > 1:
                    raise _mixed(record, "mixes samples: both its factors are added up over them")
                states.append(Together(gradient, None))
            elif name not in SUMS:
                raise _mixed(record, "mixes samples: no sum or mean over them is known of it")
            else:
                states.append(Together(gradient, self._first(record, gradient.shape)))
        return states

    def _first(self, record: Record, shape: tuple[int, ...]) -> Samples:
        """Where the samples lie in what the loss adds up."""
        dim = self.dim % len(shape) if shape and -len(shape) <= self.dim < len(shape) else None
        if dim is None or shape[dim] % self.size or not shape[dim]:
            raise _mixed(
                record, f"reduces a tensor of sizes {list(shape)}, which has not {self.size} samples along {self.dim}"
            )
        return Samples(dim, shape[dim] // self.size)

    # -- samples side by side -----------------------------------------------------------------------------------------

    def _side_by_side(self, record: Record, came: Any, wishes: Sequence[bool]) -> list[Any]:
        row = record.kind.row
        if row is not None and row.name == "native_batch_norm" and came.where.dim != 1 and self.size > 1:
            if record.constants[row.plan.saves["training"][1]]:  # also where its own parameters alone are wanted
                raise _mixed(record, "mixes samples: it standardises each by the mean and variance of all")
        shared = [wish and self._is_shared(edge) for wish, edge in zip(wishes, record.edges, strict=True)]
        inner = [wish and not share for wish, share in zip(wishes, shared, strict=True)]
        whole = self._run(record, _arrays(came), inner) if any(inner) else [None] * len(wishes)
        states: list[Any] = [None] * len(wishes)
        unknown = []
        for at, gradient in enumerate(whole):
            if not inner[at] or gradient is None:
                continue
            where = _follows(record, came, at, gradient.shape)
            if where is None and row is not None and row.name in MOVES and isinstance(came, Together):
                where = self._moved(record, came, at)
            if where is None:
                unknown.append(at)
            else:
                states[at] = Together(gradient, where)
        if unknown:
            for at, where in self._probed(record, came, whole, unknown).items():
                shared[at] = where is None
                states[at] = Together(whole[at], where)
        if any(shared):
            for at, grads in self._parted(record, came, shared).items():
                states[at] = Each(grads)
        return states

    def _is_shared(self, edge: Any) -> bool:
        """Whether an edge leads to a parameter, itself or a view of it."""
        while isinstance(edge, Record) and len(edge.edges) == 1 and edge.kind.row is not None and edge.kind.row.view:
            edge = edge.edges[0]
        return edge in self.wanted

    def _moved(self, record: Record, came: Together, at: int) -> Samples | None:
        """Where samples lie in the input of a row that moves elements: it moves their numbers too."""
        shape = came.grad.shape
        numbers = np.broadcast_to(came.where.of(shape, self.size) + 1.0, shape).astype(came.grad.dtype)  # type: ignore[union-attr]
        moved = self._run(record, numbers, [edge is not None for edge in record.edges])[at]
        for where in _arrangements(moved.shape, self.size):
            if ((moved == 0) | (moved == where.of(moved.shape, self.size) + 1)).all():
                return where
        return None

    def _probed(self, record: Record, came: Any, whole: Sequence[Any], open_: Sequence[int]) -> dict[int, Any]:
        """Where samples lie in a record's inputs: two runs for each bit of a sample's number tell."""
        candidates = {at: list(_arrangements(whole[at].shape, self.size)) for at in open_}
        reached = {at: np.zeros(whole[at].shape, bool) for at in open_}
        wishes = [at in open_ for at in range(len(whole))]
        for bit in range(max(self.size - 1, 1).bit_length()):
            for side in (0, 1):
                chosen = (np.arange(self.size) >> bit & 1) == side
                shares = chosen * (0.5 + _chances.random(self.size))  # so that what is mixed does not cancel
                for at, part in enumerate(self._run(record, _masked(came, shares, self.size), wishes)):
                    if at in candidates and part is not None:
                        support = np.asarray(part != 0)
                        reached[at] |= support
                        candidates[at] = [
                            where
                            for where in candidates[at]
                            if not (support & ~chosen[where.of(part.shape, self.size)]).any()
                        ]
        places: dict[int, Any] = {}
        for at in open_:
            if not reached[at].any() and len(candidates[at]) > 1:
                candidates[at] = candidates[at][:1]  # nothing arrives there, nor further on
            places[at] = candidates[at][0] if candidates[at] else None
            if places[at] is None and not self._is_of_parameters(record.edges[at]):
                raise _mixed(record, "mixes samples: what one of them is given has a part in what others become")
        return places

    def _parted(self, record: Record, came: Any, shared: Sequence[bool]) -> dict[int, Any]:
        """The gradients of shared inputs, for each sample."""
        answers: dict[int, Any] = {}
        masked = list(shared)
        for at, share in enumerate(shared):
            grads = self._by_rule(record, came, at) if share else None
            if grads is not None:
                answers[at], masked[at] = grads, False
        if any(masked):
            parts = [
                self._run(record, _masked(came, np.arange(self.size) == index, self.size), masked)
                for index in range(self.size)
            ]
            for at, share in enumerate(masked):
                if share and parts[0][at] is not None:
                    answers[at] = np.stack([part[at] for part in parts])
        return answers

    def _by_rule(self, record: Record, came: Any, at: int) -> Any:
        """What the row's ``samples`` rule gives for an input; None where it has none, or none for this."""
        row = record.kind.row
        if row is None or row.listed or record.run is freed or not isinstance(came, Together):
            return None
        names, rule = row.samples_rules.get(row.inputs[row.plan.ruled_inputs[at]], ((), None))
        where, fit_ = came.where, record.fit
        if rule is None or where is None or where.dim or (type(fit_) is Fitting and (fit_.conjugate or fit_.common)):
            return None
        values: list[Any] = []
        for name in names:
            if name == "grad":
                values.append(came.grad)
            elif name == "apart":
                values.append(lambda array: where.apart(array, self.size))
            else:
                source, slot = row.plan.saves[name]
                if source == "constant":
                    values.append(record.constants[slot])
                else:
                    tensor = saved.read(record, source, slot)
                    values.append(None if tensor is None else tensor._array)
        answer = rule(*values)
        return Outer(*answer) if isinstance(answer, tuple) else answer

    # -- gradients for each sample -------------------------------------------------------------------------------------

    def _for_each(self, record: Record, came: Any, wishes: Sequence[bool]) -> list[Any]:
        """Through a record that parameters alone go through, as those of weight normalisation: sample by sample."""
        if not self._is_of_parameters(record):
            raise _mixed(record, "mixes samples: all of them use its result, which is not made of parameters alone")
        stacks: list[list[Any]] = [[] for _ in wishes]
        for index in range(self.size):
            for stack, gradient in zip(stacks, self._run(record, _of_one(came, index), wishes), strict=True):
                stack.append(gradient)
        return [
            Each(np.stack(stack)) if wish and stack[0] is not None else None
            for wish, stack in zip(wishes, stacks, strict=True)
        ]

    def _is_parameters_own(self, edge: Any) -> bool:
        """Whether nothing but parameters is under an edge: an input without an edge, or an index, might be data."""
        stack, seen = [edge], set()
        while stack:
            edge = stack.pop()
            if edge not in seen and edge not in self.wanted:
                seen.add(edge)
                if not isinstance(edge, Record) or _may_hold_data(edge):
                    return False
                stack += edge.edges
        return True

    def _is_of_parameters(self, edge: Any) -> bool:
        """The same, but for rows picked of a table and shared as they are, such as the positions of all samples."""
        while isinstance(edge, Record) and len(edge.edges) == 1 and edge.kind.row is not None:
            if not edge.kind.row.view and edge.kind.row.name not in PICKS:
                break
            edge = edge.edges[0]
        return self._is_parameters_own(edge)

    def _run(self, record: Record, grad: Any, wishes: Sequence[bool]) -> Sequence[Any]:
        """One run of a record for some of its edges, without its hooks; the graph stays."""
        if record.kind.row is None or record.run is freed:
            return engine.bare(record, grad, True, False)  # type: ignore[no-any-return]
        return gradients(record, grad, True, False, wishes)


_chances = np.random.default_rng(0)


class _Bundled(NamedTuple):
    """What arrived for the outputs of a record with several; None where nothing did."""

    states: list[Any]


def _formed(grads: Any, scale: float = 1) -> Any:
    if isinstance(grads, Outer):
        return grads.formed(scale)
    return grads if scale == 1 else grads * grads.dtype.type(scale)


def _arrays(came: Any) -> Any:
    if isinstance(came, _Bundled):
        return Bundle([None if state is None else state.grad for state in came.states])
    return came.grad


def _masked(came: Any, shares: Any, size: int) -> Any:
    """What came, each sample's times its share; those whose share is nought are nought, be they infinite."""
    if isinstance(came, _Bundled):
        return Bundle([None if state is None else _masked(state, shares, size) for state in came.states])
    shares = shares[came.where.of(came.grad.shape, size)].astype(came.grad.dtype)
    return np.multiply(came.grad, shares, out=np.zeros_like(came.grad), where=shares != 0)


def _of_one(came: Any, index: int) -> Any:
    if isinstance(came, _Bundled):
        return Bundle([None if state is None else _of_one(state, index) for state in came.states])
    return _formed(came.grads)[index]


#: Rows that pick rows of a table.
PICKS = frozenset("embedding index index_select".split())


def _may_hold_data(record: Record) -> bool:
    """Whether a record's row had inputs besides those that gradients go on to."""
    row = record.kind.row
    if None in record.edges:
        return True
    if row is None:
        return False
    has_tensors = any(isinstance(part, Tensor) for part in tree_leaves(record.constants))
    return has_tensors or (not row.listed and len(row.plan.ruled_inputs) < len(row.inputs))


#: Rows that move elements to other places, each to one, and leave some out.
MOVES = frozenset(
    """view reshape_alias unsafe_view transpose transpose_inplace permute movedim t squeeze squeeze_dim unsqueeze select
    slice narrow""".split()
)
#: Inputs that have the samples where the result has them, if that is along dimension 0.
ROW_BY_ROW = {
    ("linear_2d", "mat1"), ("addmm", "mat1"), ("mm", "self"), ("bmm", "self"), ("bmm", "mat2"),
    ("convolution", "input"), ("native_layer_norm", "input"), ("native_group_norm", "input"),
    ("max_pool2d_with_indices", "self"), ("avg_pool2d", "self"), ("adaptive_avg_pool2d", "self"),
}  # fmt: skip


def _follows(record: Record, came: Any, at: int, shape: tuple[int, ...]) -> Samples | None:
    """Where samples lie in an input, of rows that are known to leave them there."""
    row = record.kind.row
    if row is None or row.listed or isinstance(came, _Bundled) or shape[:1] != came.grad.shape[:1]:
        return None
    where: Samples = came.where
    if row.ufunc is not None or row.batched == "point" or row.name in POINTWISE:
        return where if shape == came.grad.shape else None
    if where.dim == 0 and (row.name, row.inputs[row.plan.ruled_inputs[at]]) in ROW_BY_ROW:
        return where
    if row.name in ("log_softmax", "softmax", "safe_softmax"):
        dim = record.constants[row.plan.saves["dim"][1]]
        return where if dim % len(shape) != where.dim else None
    return None


def _arrangements(shape: Sequence[int], size: int) -> Iterator[Samples]:
    """Where samples may lie in an array of a shape: along each dimension, next to each other or apart."""
    for dim, length in enumerate(shape):
        if length and length % size == 0:
            many = length // size
            yield Samples(dim, many)
            for inner in range(1, many):
                if many % inner == 0:
                    yield Samples(dim, inner)
