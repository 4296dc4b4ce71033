"""Large products of matrices, for kernels that finish each block of the result while the cache holds it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from .program import Step, Value

FEWEST = 1 << 18  # multiplications: below, BLAS does not wake its threads
MOST = 1 << 28  # beyond, blocks of the right matrix would have to be kept in the cache too
_PER_PACKED = 192  # multiplications for each number that is packed: with fewer, packing weighs too much


class Product:
    """A product that is served: its matrices, and a vector that is added to each row."""

    def __init__(self, step: Step) -> None:
        operands = step.operands
        self.step, self.result = step, step.results[0]
        self.bias: Value | None = None
        self.turned = step.name == "linear_2d"  # the right matrix is given as its transpose
        if step.name == "mm":
            self.a, self.b = operands[:2]
        else:
            self.bias, self.a, self.b = operands[:3]

    @property
    def operands(self) -> list[Value]:
        """The matrices, and the bias if there is one."""
        return [self.a, self.b] if self.bias is None else [self.a, self.b, self.bias]

    @property
    def takes_along(self) -> bool:
        """Whether its rows are whole vectors, so that a block can go on with other steps."""
        from .native import blocks

        return self.result.shape[1] % blocks.lanes(self.result.dtype) == 0  # type: ignore[no-any-return]

    @property
    def size(self) -> int:
        """How many multiplications it is."""
        return self.result.size * self.a.shape[1]

    def fits(self) -> bool:
        """Whether it is of plain matrices, without factors."""
        step, bias = self.step, self.bias
        kind = self.result.dtype
        if kind.str not in ("<f4", "<f8") or any(v.dtype != kind or len(v.shape) != 2 for v in (self.a, self.b)):
            return False
        if any(piece != 1 for piece in step.operands[3:]):
            return False
        return bias is None or (bias.shape == self.result.shape[1:] and bias.dtype == kind and bias.dense)


def is_product(step: Step) -> bool:
    """Whether a step multiplies matrices."""
    return step.kind == "kernel" and step.name in ("mm", "addmm", "linear_2d") and hasattr(step.function, "kernel")


def served(steps: Sequence[Step]) -> bool:
    """Whether all large products of a program can be given to the kernels, so that BLAS does not wake its threads."""
    products = [Product(step) for step in steps if is_product(step)]
    large = [product for product in products if product.size >= FEWEST]
    if not large or any(not product.fits() or product.size > MOST for product in large):
        return False
    turned = {v.number for step in steps if step.kind == "view" and step.name == "t" for v in step.inputs}
    packed = sum(
        min(product.a.size, product.b.size) if product.result.number in turned else product.b.size for product in large
    )
    if sum(product.size for product in large) < packed * _PER_PACKED:
        return False
    from ..kernels.native import tiles

    return tiles.HEIGHT == 8  # where vectors are of 512 bits: else BLAS is faster


def large_product(step: Step) -> Product | None:
    """The product that a step is, if it is large."""
    if not is_product(step):
        return None
    product = Product(step)
    return product if product.size >= FEWEST else None


def upright_products(steps: list[Step], wanted: set[int]) -> list[Step]:
    """Products of which only the transpose is read are computed as that."""
    from .native.blocks import upright

    readers = Counter(value.number for step in steps for value in {v.number: v for v in step.inputs}.values())
    made = {step.results[0].number: step for step in steps if is_product(step) and step.name == "mm"}
    changed: dict[int, Step | None] = {}
    for step in steps:
        if step.kind != "view" or step.name != "t" or not isinstance(step.operands[0], Value):
            continue
        source = step.operands[0].number
        product = made.get(source)
        (result,) = step.results
        if product is None or readers[source] != 1 or source in wanted or result.number in wanted:
            continue
        if product.results[0].size * product.operands[0].shape[1] < FEWEST:
            continue
        result.dense = True
        changed[id(product)] = None
        changed[id(step)] = Step("kernel", "mm_transposed", upright, product.operands[:2], step.results)
    return [now for step in steps if (now := changed.get(id(step), step)) is not None]


def without_blas(steps: Sequence[Step]) -> None:
    """Let sums of columns be computed without BLAS."""
    from ..families.reduce.native import columns

    for step in steps:
        if step.kind == "kernel" and step.name == "column_sums" and len(step.operands[0].shape) == 2:
            (value,) = step.operands
            if value.dtype.str in ("<f4", "<f8") and value.size >= FEWEST >> 4:
                step.function = columns
