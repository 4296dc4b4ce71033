"""Gives large products of matrices to kernels that finish each block of the result while the cache holds it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from .formulas import given_to
from .program import Step, Value

FEWEST = 1 << 18  # multiplications: below, BLAS does not wake its threads
MOST = 1 << 28  # beyond, blocks of the right matrix would have to be kept in the cache too
_PER_PACKED = 192  # multiplications for each number that is packed: with fewer, packing weighs too much
_AHEAD = 12  # steps among which those are looked for that a product can take along


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


def with_products(steps: Sequence[Step], wanted: set[int]) -> list[Step]:
    """The steps with large products, and what can be computed with them block by block, given to kernels."""
    steps = _upright(list(steps), wanted)
    for step in [step for step in steps if is_product(step)]:
        product = Product(step)
        if product.size >= FEWEST:
            steps = _taken(steps, product, wanted)
    return _sums(steps)


def _readers(steps: Sequence[Step]) -> Counter[int]:
    return Counter(value.number for step in steps for value in {v.number: v for v in step.inputs}.values())


def _upright(steps: list[Step], wanted: set[int]) -> list[Step]:
    """Products of which only the transpose is read are computed as that."""
    from .native.blocks import upright

    readers = _readers(steps)
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


def _sums(steps: list[Step]) -> list[Step]:
    """Sums of columns without BLAS."""
    from ..families.reduce.native import columns

    for step in steps:
        if step.kind == "kernel" and step.name == "column_sums" and len(step.operands[0].shape) == 2:
            (value,) = step.operands
            if value.dtype.str in ("<f4", "<f8") and value.size >= FEWEST >> 4:
                step.function = columns
    return steps


class _Taking:
    """What goes along with a product: views that are the same numbers, and elementwise steps."""

    def __init__(self, product: Product) -> None:
        self.product = product
        self.same = {product.result.number}  # the product and views of it
        self.inside: list[Step] = []
        self.made: set[int] = set()
        self.others: dict[int, Value] = {}  # what is read besides

    def takes(self, step: Step, later: set[int]) -> bool:
        """Whether a step can be computed block by block; ``later`` are values that are not there yet."""
        if step.kind != "kernel" or step.several or step.draws or given_to(step)[0] is None:
            return False
        whole, result = self.product.result, step.results[0]
        if result.size != whole.size or result.dtype != whole.dtype or not result.dense:
            return False
        if len(self.inside) >= 8 or not any(v.number in self.same or v.number in self.made for v in step.inputs):
            return False
        for piece in step.operands:
            if not isinstance(piece, Value):
                if not isinstance(piece, (int, float, str, type(None))):
                    return False
                continue
            if piece.number in self.same or piece.number in self.made:
                continue
            line = piece.shape == whole.shape[1:] and result.shape[-1:] == piece.shape
            if piece.dtype != whole.dtype or not piece.dense or piece.number in later:
                return False
            if not line and piece.shape != result.shape:
                return False
        return True

    def add(self, step: Step) -> None:
        """One more step."""
        self.inside.append(step)
        self.made.update(value.number for value in step.results)
        for value in step.inputs:
            if value.number not in self.same and value.number not in self.made:
                self.others[value.number] = value


def _taken(steps: list[Step], product: Product, wanted: set[int]) -> list[Step]:
    """The steps with a product and all that goes along with it made one."""
    from .native import blocks

    place = steps.index(product.step)
    taking = _Taking(product)
    views: list[Step] = []
    later: set[int] = set()
    whole = product.result
    if whole.shape[1] % blocks.lanes(whole.dtype) == 0:
        for step in steps[place + 1 : place + 1 + _AHEAD]:
            if step.acts:
                break
            source = step.operands[0] if step.operands else None
            viewing = (step.kind == "view" or step.name == "unsafe_view") and not step.several
            if viewing and isinstance(source, Value) and source.number in taking.same:
                seen = step.results[0]
                if seen.dense and seen.size == whole.size and seen.dtype == whole.dtype:
                    views.append(step)
                    taking.same.add(seen.number)
                    continue
            if taking.takes(step, later):
                taking.add(step)
            else:
                later.update(value.number for value in step.results)
    inside = set(map(id, taking.inside))
    rest = [step for step in steps if id(step) not in inside]
    read = wanted | {v.number for s in rest for v in s.inputs if s not in views}
    for view in reversed(views):  # those that nobody outside reads are left out
        if view.results[0].number in read:
            read.add(view.operands[0].number)
        else:
            rest.remove(view)
    outputs = [value for step in taking.inside for value in step.results if value.number in read]
    if not taking.inside or whole.number in read:
        outputs.insert(0, whole)
    function = blocks.product_of(product, taking.inside, taking.same, list(taking.others.values()), outputs)
    bias = [] if product.bias is None else [product.bias]
    operands = (product.a, product.b, *bias, *taking.others.values())
    made = Step("kernel", "product", function, operands, tuple(outputs), several=len(outputs) > 1)
    rest[rest.index(product.step)] = made
    return rest
