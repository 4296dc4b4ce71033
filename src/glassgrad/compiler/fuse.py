"""Gathers runs of elementwise steps on large arrays, each to be one loop, or what blocks of a product go on with."""

from __future__ import annotations

from collections.abc import Sequence

from ..kernels import compiled
from .formulas import given_to
from .heads import with_heads_joined
from .products import Product, large_product, served, upright_products, without_blas
from .program import Step, Value
from .simplify import own_gradients

FEWEST = 1 << 14  # elements: below, the loop's call costs what it saves
WORTH_IT = 1 << 16  # of a single step, which NumPy does as well, but on one thread
MOST = 8  # steps that go along with a product
#: Steps that stay alone: a loop would call the C library for each number, as only pieces near zero have a polynomial.
ALONE = {"sin", "cos"}


class Run:
    """Elementwise steps on results of one size and dtype, and what they make; perhaps after a product, and views of it.

    same  the product, and views that are the same numbers
    """

    def __init__(self, step: Step, product: Product | None) -> None:
        self.product, self.result = product, step.results[0]
        self.steps: list[Step] = []
        self.views: list[Step] = []
        self.made: set[int] = set()
        self.same = set() if product is None else {self.result.number}

    def takes(self, step: Step) -> bool:
        """Make a step one of the run, if it may be."""
        if self.product is not None and not self.product.takes_along:
            return False
        if self._is_view(step):
            self.views.append(step)
            self.same.add(step.results[0].number)
        elif self._is_one(step):
            self.steps.append(step)
            self.made.update(value.number for value in step.results)
        else:
            return False
        return True

    def _is_view(self, step: Step) -> bool:
        if step.kind != "view" and step.name != "unsafe_view" or step.several or not step.inputs:
            return False
        seen, whole = step.results[0], self.result
        alike = seen.dense and seen.size == whole.size and seen.dtype == whole.dtype
        return alike and step.inputs[0].number in self.same

    def _is_one(self, step: Step) -> bool:
        whole = self.result
        if self.product is None:
            return fusible(step) and step.results[0].shape == whole.shape and step.results[0].dtype == whole.dtype
        if not _is_elementwise(step) or len(self.steps) >= MOST or not self.reads(step):
            return False
        result = step.results[0]
        if result.size != whole.size or result.dtype != whole.dtype:
            return False
        for value in step.inputs:
            if value.number not in self.same and value.number not in self.made:
                line = value.shape == whole.shape[1:] == result.shape[-1:]
                if value.dtype != whole.dtype or not value.dense or not line and value.shape != result.shape:
                    return False
        return True

    def reads(self, step: Step) -> bool:
        """Whether a step needs something that the run makes."""
        return any(value.number in self.made or value.number in self.same for value in step.inputs)

    def joined(self, steps: Sequence[Step], wanted: set[int]) -> list[Step]:
        """The run as one step, and the views that others look at."""
        own = set(map(id, [*self.steps, *self.views, *([] if self.product is None else [self.product.step])]))
        read = wanted | {value.number for step in steps if id(step) not in own for value in step.inputs}
        views: list[Step] = []
        for view in reversed(self.views):
            if view.results[0].number in read:
                read.add(view.inputs[0].number)
                views.insert(0, view)
        outputs = [value for step in self.steps for value in step.results if value.number in read]
        there = self.made | self.same
        inputs = {v.number: v for step in self.steps for v in step.inputs if v.number not in there}
        others = list(inputs.values())
        if self.product is not None:
            from .native.blocks import product_of

            if not self.steps or self.result.number in read:
                outputs.insert(0, self.result)
            function = product_of(self.product, self.steps, self.same, others, outputs)
            others = [*self.product.operands, *others]
        elif len(self.steps) > 1 or self.result.size >= WORTH_IT:
            from .native.loops import loop_of

            function = loop_of(self.steps, others, outputs, self.result.dtype)
        else:
            return self.steps
        name = "product" if self.product is not None else function.__name__
        return [Step("kernel", name, function, tuple(others), tuple(outputs), several=len(outputs) > 1), *views]


def _is_elementwise(step: Step) -> bool:
    """Whether a step is elementwise on numbers and arrays, with one result without gaps."""
    if step.kind != "kernel" or step.several or step.draws or given_to(step)[0] is None or not step.results[0].dense:
        return False
    return all(isinstance(piece, (Value, int, float, str, type(None))) for piece in step.operands)


def fusible(step: Step) -> bool:
    """Whether a step is elementwise, on arrays without gaps and numbers of one floating dtype."""
    if not _is_elementwise(step) or step.name in ALONE:
        return False
    result = step.results[0]
    if result.size < FEWEST or result.dtype.str not in ("<f4", "<f8"):
        return False
    return all(v.dtype == result.dtype and v.shape in ((), result.shape) and v.dense for v in step.inputs)


def fused(steps: Sequence[Step], mark: int, kept: Sequence[Value]) -> tuple[list[Step], int]:
    """The steps with runs of elementwise ones made one; ``mark`` parts those before and after, which do not mix."""
    if compiled.least == compiled.NEVER:
        return list(steps), mark
    wanted = {value.number for value in kept}
    back = {value.number for step in steps[mark:] for value in step.inputs}
    first = with_heads_joined(list(steps[:mark]), wanted | back)
    second = with_heads_joined(list(steps[mark:]), wanted)
    products = served(steps)
    if products:
        first, second = upright_products(first, wanted | back), upright_products(second, wanted)
        own_gradients([*first, *second], kept)
    first = _runs(first, wanted | back, products)
    second = _runs(second, wanted, products)
    if products:
        without_blas([*first, *second])
    return [*first, *second], len(first)


def _runs(steps: Sequence[Step], wanted: set[int], products: bool) -> list[Step]:
    made: list[Step] = []
    run: Run | None = None
    for step in steps:
        if run is not None and run.takes(step):
            continue
        product = large_product(step) if products else None
        begins = product is not None or fusible(step)
        if run is not None and (begins or step.acts or run.reads(step)):
            made += run.joined(steps, wanted)
            run = None
        if begins:
            run = Run(step, product)
            if product is None:
                run.takes(step)
        else:
            made.append(step)  # before the run, of which it needs nothing
    return made + ([] if run is None else run.joined(steps, wanted))
