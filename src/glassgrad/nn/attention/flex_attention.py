"""The ``torch.nn.attention.flex_attention`` namespace: attention with scores and masks of one's own, as written.

Scores are whole matrices: a block mask says what it would leave out, and the mask's own function decides.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any, NamedTuple

from ...func.vmap import vmap
from ...ground import dtypes
from ...ground.importing import load

__all__ = [
    "AuxOutput", "AuxRequest", "BlockMask", "FlexKernelOptions", "and_masks", "create_block_mask", "create_mask",
    "flex_attention", "noop_mask", "or_masks",
]  # fmt: skip

_DEFAULT_SPARSE_BLOCK_SIZE = 128
FlexKernelOptions = dict[str, Any]
_HOME = __name__.partition(".")[0]


class AuxRequest(NamedTuple):
    """What is wanted beside the output."""

    lse: bool = False
    max_scores: bool = False


class AuxOutput(NamedTuple):
    """For each query the logarithm of the sum of its scores' exponentials, and the largest score, as far as wanted."""

    lse: Any = None
    max_scores: Any = None


def noop_mask(batch: Any, head: Any, token_q: Any, token_kv: Any) -> Any:
    """A mask that lets everything through."""
    return batch.new_ones(size=(), dtype=dtypes.bool, device=batch.device)


def _noop_score(score: Any, b: Any, h: Any, q_idx: Any, kv_idx: Any) -> Any:
    return score


def and_masks(*mask_mods: Callable[..., Any]) -> Callable[..., Any]:
    """The mask that lets through what all of these do."""
    return _joined(mask_mods, "and_masks", lambda batch: batch.new_ones((), dtype=dtypes.bool), lambda a, b: a & b)


def or_masks(*mask_mods: Callable[..., Any]) -> Callable[..., Any]:
    """The mask that lets through what any of these does."""
    return _joined(mask_mods, "or_masks", lambda batch: batch.new_zeros((), dtype=dtypes.bool), lambda a, b: a | b)


def _joined(masks: tuple[Any, ...], name: str, first: Any, join: Any) -> Callable[..., Any]:
    if not all(map(callable, masks)):
        raise RuntimeError(f"All inputs should be callable mask_mods: {masks}")

    def mask(b: Any, h: Any, q_idx: Any, kv_idx: Any) -> Any:
        result = first(b)
        for one in masks:
            result = join(result, one(b, h, q_idx, kv_idx))
        return result

    return mask


def _for_all(function: Callable[..., Any], before: tuple[int, ...] = ()) -> Callable[..., Any]:
    """A function of one score's place, for all keys, all queries, all heads and all batches."""
    for axis in (3, 2, 1, 0):
        function = vmap(function, in_dims=(*before, *(0 if index == axis else None for index in range(4))), out_dims=0)
    return function


def _places(*sizes: int) -> list[Any]:
    arange = load(_HOME).arange
    return [arange(size, dtype=dtypes.int32) for size in sizes]


def _takes_scores(function: Callable[..., Any]) -> bool:
    """Whether a function is one of scores, as it has five parameters without defaults."""
    parameters = inspect.signature(function).parameters.values()
    return sum(one.default is one.empty and one.kind < one.VAR_POSITIONAL for one in parameters) == 5


def create_mask(
    mod_fn: Callable[..., Any],
    B: int | None,
    H: int | None,
    Q_LEN: int,
    KV_LEN: int,
    device: Any = None,  # noqa: N803
) -> Any:
    """The mask of shape (B, H, Q_LEN, KV_LEN) that a function of batch, head, query and key gives.

    A function of scores gives their values for scores of zero.
    """
    B, H = B or 1, H or 1  # noqa: N806
    if _takes_scores(mod_fn):
        score = load(_HOME).zeros(B, H, Q_LEN, KV_LEN)
        return _for_all(mod_fn, (0,))(score, *_places(B, H, Q_LEN, KV_LEN))
    mask = _for_all(mod_fn)(*_places(B, H, Q_LEN, KV_LEN))
    return mask.expand(B, H, Q_LEN, KV_LEN) if mask.ndim == 4 else mask


class BlockMask:
    """A mask as blocks: for each row of blocks which columns are let through in part, and which in full.

    Source: https://docs.pytorch.org/docs/stable/nn.attention.flex_attention.html
    """

    def __init__(
        self, seq_lengths: tuple[int, int], kv_num_blocks: Any, kv_indices: Any, full_kv_num_blocks: Any,
        full_kv_indices: Any, q_num_blocks: Any, q_indices: Any, full_q_num_blocks: Any, full_q_indices: Any,
        BLOCK_SIZE: tuple[int, int], mask_mod: Callable[..., Any], **orders: Any,  # noqa: N803
    ) -> None:  # fmt: skip
        if kv_indices.dim() < 2:
            raise RuntimeError("BlockMask must have at least 2 dimensions")
        self.seq_lengths, self.BLOCK_SIZE, self.mask_mod = seq_lengths, BLOCK_SIZE, mask_mod
        self.kv_num_blocks, self.kv_indices = kv_num_blocks, kv_indices
        self.full_kv_num_blocks, self.full_kv_indices = full_kv_num_blocks, full_kv_indices
        self.q_num_blocks, self.q_indices = q_num_blocks, q_indices
        self.full_q_num_blocks, self.full_q_indices = full_q_num_blocks, full_q_indices

    @classmethod
    def from_kv_blocks(
        cls, kv_num_blocks: Any, kv_indices: Any, full_kv_num_blocks: Any = None, full_kv_indices: Any = None,
        BLOCK_SIZE: int | tuple[int, int] = _DEFAULT_SPARSE_BLOCK_SIZE, mask_mod: Any = None,  # noqa: N803
        seq_lengths: tuple[int, int] | None = None, compute_q_blocks: bool = True, **orders: Any,
    ) -> BlockMask:  # fmt: skip
        """The mask of which these are the blocks of each row of queries."""
        if kv_indices.dim() < 2:
            raise RuntimeError("BlockMask must have at least 2 dimensions")
        if (full_kv_num_blocks is None) != (full_kv_indices is None):
            raise AssertionError("full_kv_num_blocks and full_kv_indices must be both provided or omitted")
        sizes = (BLOCK_SIZE, BLOCK_SIZE) if isinstance(BLOCK_SIZE, int) else BLOCK_SIZE
        q_num = q_indices = full_q_num = full_q_indices = None
        if compute_q_blocks:
            q_num, q_indices = _ordered(_dense(kv_num_blocks, kv_indices).transpose(-2, -1))
            if full_kv_num_blocks is not None:
                full_q_num, full_q_indices = _ordered(_dense(full_kv_num_blocks, full_kv_indices).transpose(-2, -1))
        if seq_lengths is None:
            seq_lengths = kv_indices.shape[-2] * sizes[0], kv_indices.shape[-1] * sizes[1]
        return cls(seq_lengths, kv_num_blocks, kv_indices, full_kv_num_blocks, full_kv_indices, q_num, q_indices,
                   full_q_num, full_q_indices, sizes, mask_mod or noop_mask)  # fmt: skip

    @property
    def shape(self) -> tuple[int, ...]:
        """Batches, heads, queries, keys."""
        return (*self.kv_indices.shape[:-2], *self.seq_lengths)

    def as_tuple(self, flatten: bool = True) -> tuple[Any, ...]:
        """All of it."""
        head = (*self.seq_lengths,) if flatten else (self.seq_lengths,)
        tail = (*self.BLOCK_SIZE,) if flatten else (self.BLOCK_SIZE,)
        return (*head, *(getattr(self, name) for name in _TENSORS), *tail, self.mask_mod)

    def __getitem__(self, index: Any) -> BlockMask:
        places = index if isinstance(index, tuple) else (index,)
        index = tuple(slice(one, one + 1 or None) if isinstance(one, int) else one for one in places)  # dimensions stay
        picked: Any = [None if (value := getattr(self, name)) is None else value[index] for name in _TENSORS[:4]]
        is_whole = self.q_indices is not None
        one, two, three, four = picked
        return BlockMask.from_kv_blocks(
            one, two, three, four, self.BLOCK_SIZE, self.mask_mod, self.seq_lengths, is_whole
        )

    def __repr__(self) -> str:
        shapes = ",\n    ".join(
            f"{name}={None if (value := getattr(self, name)) is None else value.shape}" for name in _TENSORS
        )
        name = getattr(self.mask_mod, "__name__", self.mask_mod)
        return (
            f"BlockMask(\n    {shapes},\n    BLOCK_SIZE={self.BLOCK_SIZE},\n    shape={self.shape},\n    "
            f"sparsity={self.sparsity():.2f}%,\n    mask_mod={name}\n)"
        )

    def __str__(self) -> str:
        return f"BlockMask(shape={self.shape}, sparsity={self.sparsity():.2f}%, \n{self.to_string()}\n)"

    def numel(self) -> int:
        """How many elements the whole mask has."""
        return math.prod(self.shape)

    def sparsity(self) -> float:
        """The percentage of blocks that are left out."""
        total = self.numel()
        blocks = int(self.kv_num_blocks.sum())
        if self.full_kv_num_blocks is not None:
            blocks += int(self.full_kv_num_blocks.sum())
        return 100 * (1 - blocks * self.BLOCK_SIZE[0] * self.BLOCK_SIZE[1] / total)

    def to_dense(self) -> Any:
        """For each block 1 where it is let through, in part or in full, else 0."""
        partial = _dense(self.kv_num_blocks, self.kv_indices)
        if self.full_kv_num_blocks is None:
            return partial
        return partial | _dense(self.full_kv_num_blocks, self.full_kv_indices)

    def to_string(self, grid_size: Any = (20, 20), limit: int = 4) -> str:
        """A picture: blocks that are let through, in part or in full, and blanks for those that are left out."""
        blocks = self.to_dense()
        pictures = []
        for index in [(b, h) for b in range(blocks.shape[0]) for h in range(blocks.shape[1])][:limit]:
            lines = ["".join("██" if block else "  " for block in row) for row in blocks[index].tolist()]
            pictures.append("\n".join([f"{index}", *lines]))
        return "\n\n".join(pictures)

    def to(self, device: Any) -> BlockMask:
        """Itself: tensors live on the CPU."""
        return self


_TENSORS = ("kv_num_blocks", "kv_indices", "full_kv_num_blocks", "full_kv_indices", "q_num_blocks", "q_indices",
            "full_q_num_blocks", "full_q_indices")  # fmt: skip


def _dense(counts: Any, indices: Any) -> Any:
    """1 in the blocks whose numbers the first ``counts`` of ``indices`` are."""
    torch = load(_HOME)
    columns = indices.shape[-1]
    there = torch.arange(columns, dtype=dtypes.int32) < counts.unsqueeze(-1)
    wide = torch.zeros(*indices.shape[:-1], columns + 1, dtype=dtypes.int32)
    places = torch.where(there, indices, torch.tensor(columns, dtype=indices.dtype)).long()
    return wide.scatter(-1, places, 1)[..., :columns]


def _ordered(dense: Any) -> tuple[Any, Any]:
    """How many blocks each row has, and their numbers, those of the others after them."""
    order = dense.to(dtypes.int32).argsort(dim=-1, descending=True, stable=True)
    return dense.sum(-1).to(dtypes.int32), order.to(dtypes.int32)


def create_block_mask(
    mask_mod: Callable[..., Any], B: int | None, H: int | None, Q_LEN: int, KV_LEN: int, device: Any = None,  # noqa: N803
    BLOCK_SIZE: int | tuple[int, int] = _DEFAULT_SPARSE_BLOCK_SIZE, _compile: bool = False,  # noqa: N803
    separate_full_blocks: bool = True, compute_dq_write_order: bool = False, dq_kv_order: bool = True,
) -> BlockMask:  # fmt: skip
    """The mask that a function of batch, head, query and key gives, as blocks."""
    rows, columns = (BLOCK_SIZE, BLOCK_SIZE) if isinstance(BLOCK_SIZE, int) else BLOCK_SIZE
    mask = create_mask(mask_mod, B, H, Q_LEN, KV_LEN)
    padded = load(f"{_HOME}.nn.functional").pad(mask, (0, -KV_LEN % columns, 0, -Q_LEN % rows))
    *lead, height, width = padded.shape
    counts = padded.reshape(*lead, height // rows, rows, width // columns, columns).sum((-3, -1))
    full = (counts == rows * columns) if separate_full_blocks else counts < 0
    partial = (counts > 0) & ~full
    counts_of, indices_of = _ordered(partial)
    full_counts, full_indices = _ordered(full) if separate_full_blocks else (None, None)
    return BlockMask.from_kv_blocks(
        counts_of, indices_of, full_counts, full_indices, (rows, columns), mask_mod, (Q_LEN, KV_LEN)
    )


def _check(query: Any, key: Any, value: Any, enable_gqa: bool, block_mask: Any) -> None:
    if query.dim() != 4 or key.dim() != 4 or value.dim() != 4:
        raise NotImplementedError("NYI: query, key, and value must be 4D tensors")
    if not enable_gqa and query.size(-3) != key.size(-3):
        raise ValueError(
            f"Expect query and key/value to have the same number of heads but got Hq={query.size(-3)} and "
            f"Hkv={key.size(-3)}. Try setting enable_gqa=True for GQA."
        )
    if enable_gqa and query.size(1) % key.size(1):
        raise ValueError(
            "Expect number of query heads to be a multiple of kv heads for GQA but got "
            f"Hq={query.size(1)} and Hkv={key.size(1)}."
        )
    if block_mask is not None and (
        block_mask.shape[0] not in (1, query.size(0)) or block_mask.shape[1] not in (1, query.size(1))
    ):
        raise ValueError(
            f"block_mask was created for block_mask.shape={tuple(block_mask.shape)} but got q of batch {query.size(0)} "
            f"and heads {query.size(1)}."
        )


def flex_attention(
    query: Any, key: Any, value: Any, score_mod: Callable[..., Any] | None = None, block_mask: BlockMask | None = None,
    scale: float | None = None, enable_gqa: bool = False, return_lse: bool = False, kernel_options: Any = None, *,
    return_aux: AuxRequest | None = None,
) -> Any:  # fmt: skip
    """Attention in which ``score_mod(score, batch, head, query, key)`` gives each score, and a mask leaves some out.

    Source: https://docs.pytorch.org/docs/stable/nn.attention.flex_attention.html
    """
    _check(query, key, value, enable_gqa, block_mask)
    torch = load(_HOME)
    batches, heads, queries, width = query.shape
    repeats = heads // key.size(1)
    if repeats > 1:
        key, value = (tensor.repeat_interleave(repeats, 1) for tensor in (key, value))
    if key.size(0) != batches:
        key, value = (tensor.expand(batches, -1, -1, -1) for tensor in (key, value))
    precise = dtypes.float64 if query.dtype is dtypes.float64 else dtypes.float32
    if key.dtype is not query.dtype:
        key = key.to(query.dtype)
    scores = (query @ key.transpose(-2, -1)).to(precise) * (1 / math.sqrt(width) if scale is None else scale)
    places = _places(batches, heads, queries, key.size(-2))
    if score_mod is not None:
        scores = _for_all(score_mod, (0,))(scores, *places)
    if block_mask is not None and block_mask.mask_mod is not noop_mask:
        mask = _for_all(block_mask.mask_mod)(*places)
        scores = torch.where(mask, scores, torch.tensor(-math.inf, dtype=scores.dtype))
    empty = (scores == -math.inf).all(-1, keepdim=True)
    chances = scores.masked_fill(empty, 0.0).softmax(-1).masked_fill(empty, 0.0)
    out = chances.to(query.dtype) @ value.to(query.dtype)
    if return_aux is None and not return_lse:
        return out
    sums = torch.where(
        empty.squeeze(-1), torch.tensor(-math.inf, dtype=scores.dtype), scores.masked_fill(empty, 0.0).logsumexp(-1)
    )
    if return_aux is None:
        return out, sums
    largest = scores.max(-1).values if return_aux.max_scores else None
    return out, AuxOutput(sums if return_aux.lse else None, largest)
