"""What the functions that a capture hears are to it, and what it asks of their arguments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.row import TABLE, Row
from ..core.tensor import Tensor
from ..ground.generator import Generator
from ..ops import bind
from ..ops.declare import COMPOSITES
from ..optim.optimizer import Optimizer
from .program import NotCapturable

#: Functions whose answer follows from shapes, dtypes and the like alone, which programs are guarded by.
ABOUT_SHAPES = frozenset(
    """size dim ndimension numel nelement stride is_floating_point is_complex is_tensor is_contiguous element_size
    storage_offset get_device is_same_size is_signed result_type can_cast promote_types broadcast_shapes
    is_grad_enabled is_inference_mode_enabled is_inference type is_conj is_neg get_default_dtype __len__ __hash__
    is_storage is_pinned is_shared dense_dim sparse_dim is_coalesced has_names __dir__ is_warn_always_enabled
    get_num_threads is_autocast_enabled is_autocast_cpu_enabled typename is_distributed is_deterministic
    are_deterministic_algorithms_enabled is_set_to __reversed__ align_to names""".split()
)
#: Functions that look at values themselves, beside handing them to rows: a program makes the whole call again.
LOOKING = frozenset("one_hot histogramdd histogram cov corrcoef cholesky_ex inv_ex solve_ex lu_factor_ex".split())
#: Rows and functions that give more or less by the values they are given: what follows would hang on them.
SIZED = frozenset(
    """nonzero argwhere masked_select bincount unique unique_consecutive unique_dim repeat_interleave one_hot
    combinations linalg_lstsq lstsq pack_padded pad_packed pack_again to_sparse coalesce tensor_split""".split()
)
#: Functions that take nothing but shape and dtype of some of their tensors.
BY_SHAPE = frozenset(
    """zeros_like ones_like empty_like full_like rand_like randn_like randint_like new_zeros new_ones new_empty new_full
    new_tensor expand_as view_as reshape_as type_as to type sum_to_size broadcast_tensors retain_grad requires_grad_
    detach_ set_ register_hook""".split()
)
#: Functions that set or read something that no step of a program sets or reads.
ELSEWHERE = frozenset("manual_seed seed initial_seed get_rng_state set_rng_state".split())


def has_generator(tree: Any) -> bool:
    """Whether a generator is among the arguments of a call."""
    args, kwargs = tree
    return any(isinstance(piece, Generator) for piece in (*args, *kwargs.values()))


def version(tensor: Tensor) -> int:
    """How often a tensor's memory was written to."""
    return 0 if tensor._counter is None else tensor._counter.version


def listened() -> dict[int, tuple[str, Any]]:
    """What each function of the table is, by its identity."""
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


def with_steps(base: Any) -> list[Any]:
    """The classes below ``base`` that have a ``step`` of their own."""
    found: list[Any] = []
    waiting: list[Any] = [base]
    while waiting:
        cls = waiting.pop()
        waiting += cls.__subclasses__()
        if "step" in vars(cls) and cls is not Optimizer:
            found.append(cls)
    return found


def bound(row: Row, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[list[Any], list[Any], Any]:
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


def sized(name: str, args: Sequence[Any], kwargs: dict[str, Any]) -> bool:
    """Whether the sizes of what a call gives may hang on the values it is given."""
    if name == "one_hot":
        return kwargs.get("num_classes", args[1] if len(args) > 1 else -1) == -1
    if name in ("repeat_interleave", "tensor_split"):
        return len(tensors_in((args, kwargs))) > (0 if name == "repeat_interleave" and len(args) == 1 else 1)
    if name == "index":
        return any(t._array.dtype.kind == "b" or t._array.dtype == "u1" for t in tensors_in(tuple(args[1:])))
    return name in SIZED


def tensors_in(tree: Any) -> list[Tensor]:
    """The tensors in nested tuples, lists, dicts and slices, in order."""
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
        elif isinstance(piece, slice):
            waiting.extend((piece.step, piece.stop, piece.start))
    return found
