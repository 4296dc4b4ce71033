"""Random programs within transforms: ``grad`` gives what ``backward`` does, ``jvp`` its sum, ``vmap`` what loops give.

Of ``grad`` and ``jvp`` within one another it is asked that they give what ``backward`` twice does.

The lines are those of ``random_programs.py``: views, writes in place, indices; numbers are none at which a slope jumps.
``python -m tests.property.transformed_programs --count 20000 --seed 1`` runs so many and prints each that differs.
"""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import glassgrad
from tests import counts
from tests.property import dual_programs
from tests.property.dual_programs import doubles, in_doubles
from tests.property.random_programs import Draw, Run

#: Lines that are for reverse mode, for transforms or other processes, that draw, or whose results depend on values.
LEFT_OUT = re.compile(
    dual_programs.LEFT_OUT.pattern + "|"
    r"requires_grad|retain|\.data\b|apply|Parameter|Subclass|detach|grad\(\)|nonzero|masked_select|unbind|constant_"
)
#: Where, as in PyTorch, gradients are no slopes: constants in place, places that are met twice, sizes below zero, ends
#: that are equal; and what reads the memory of a batch.
NO_LAW = re.compile(
    r"\beq_|as_strided|unfold|put(_|\()|index_copy|\[torch.*\] .?=|scatter|polar|cdist|clamp_?\(\w+, \w|broadcast_t"
)
#: What transforms refuse, in PyTorch's words or, as that does, of numbers that are truth values alone.
REFUSED = re.compile(
    "mutate a captured|asked for, which|Batching rule|extra_args|broadcast shape|bool ten|complex num|"
    "single memory loc|for 'Bool'|modified by an inpl|whose conjugate|cumm.._cpu.*Complex"
)


def program(seed: int) -> tuple[Any, Any, list[str]]:
    """The tensors that a program begins with, and its lines."""
    draw, run = Draw(seed), Run(glassgrad)
    for name in "ab":
        line = in_doubles(draw.leaf(name)[0])
        while name == "a" and ("float64" not in line or "expand" in line or "complex" in line or "[]" in line):
            line = in_doubles(draw.leaf(name)[0])
        run.do(line)
    a, b = run.pool["a"], run.pool["b"].clone()  # which lines may rearrange
    a = a * 1.0371 + 0.0123 * glassgrad.arange(a.numel()).reshape(a.shape) + 0.0071
    run.scope["a"] = a.clone()
    lines: list[str] = []
    for place in range(draw.chance.randint(1, 8)):
        line = in_doubles(draw.line(run.pool, f"v{place}"))
        if not LEFT_OUT.search(line) and not NO_LAW.search(line) and not run.do(line)[0]:
            lines.append(line)
    return a, b, lines


def function(lines: list[str], b: Any) -> Callable[[Any], Any]:
    """The function of ``a`` that the lines are: a sum over what they make."""

    def total(a: Any) -> Any:
        scope = {"torch": glassgrad, "a": a * 1, "b": b.clone()}
        for line in lines:
            exec(line, scope)  # noqa: S102  the lines are this module's own
        parts = [value for value in scope.values() if isinstance(value, glassgrad.Tensor)]
        floats = [part for part in parts if part.is_floating_point() or part.is_complex()]
        return sum((place + 1) * part.abs().sum() for place, part in enumerate(floats))

    return total


def plain(total: Callable[[Any], Any], a: Any, order: int = 1) -> Any:
    """The gradient outside of transforms; of a higher order, that of the sum of the one before."""
    leaf = a.clone().requires_grad_()
    result = total(leaf)
    for more in reversed(range(order)):
        graph = {"allow_unused": True, "create_graph": more > 0}
        result = glassgrad.autograd.grad(result.sum(), leaf, **graph)[0] if result.requires_grad else None
        if result is None:
            return glassgrad.zeros_like(a)
    return result


def pairs(a: Any, total: Callable[[Any], Any]) -> Iterator[tuple[str, Callable[[], Any], Any]]:
    """What transforms give, by name, and what they should give."""
    func = glassgrad.func
    if not total(a).isfinite():
        return
    slopes = plain(total, a)
    if not np.allclose(slopes, plain(total, a * (1 + 1e-11)), 1e-5, 1e-5) or slopes.abs().max() > 1e12:
        return  # such as those of singular matrices
    yield "grad", lambda: func.grad(total)(a), slopes
    yield "jvp", lambda: func.jvp(total, (a,), (glassgrad.ones_like(a),))[1], slopes.sum()
    batch = glassgrad.stack([a, a * 0.5 + 0.25])
    yield "vmap", lambda: func.vmap(total)(batch), glassgrad.stack([total(each) for each in batch])
    once, ones = func.grad(total), glassgrad.ones_like(a)
    twice = plain(total, a, 2)
    if np.allclose(twice, plain(total, a * (1 + 1e-11), 2), 1e-5, 1e-5):
        yield "grad of grad", lambda: func.grad(lambda x: once(x).sum())(a), twice
        yield "jvp of grad", lambda: func.jvp(once, (a,), (ones,))[1], twice
        yield "grad of jvp", lambda: func.grad(lambda x: func.jvp(total, (x,), (ones,))[1])(a), twice
    yield "vmap of grad", lambda: func.vmap(func.grad(total))(batch), glassgrad.stack([plain(total, x) for x in batch])


def look(seed: int) -> tuple[list[str], str]:
    """A program, and what of it is wrong."""
    with doubles():
        a, b, lines = program(seed)
    total = function(lines, b)
    with warnings.catch_warnings(), doubles():
        warnings.simplefilter("ignore")
        asked = pairs(a, total)
        while True:
            try:
                name, transformed, wanted = next(asked)
            except StopIteration:
                return lines, ""
            except (RuntimeError, IndexError):  # of what is written over what is kept, or of the other example
                return lines, ""
            try:
                actual = transformed()
            except RuntimeError as error:
                if REFUSED.search(str(error)):
                    continue
                raise
            given, right = (np.asarray(each.detach().numpy()) for each in (actual, wanted))
            if np.isfinite(given).all() and np.isfinite(right).all() and not np.allclose(given, right, 1e-7, 1e-8):
                return [f"a = {a}", f"b = {b}", *lines], f"{name}: {given} {right}"


def main() -> None:
    """Run many, and print what differs."""
    options = counts.options(__doc__, 1000).parse_args()
    sorts: Counter[str] = Counter()
    programs = ended = 0
    for seed, seen, code in counts.outlived(counts.asked(options), look):
        programs += 1
        ended += bool(code)
        lines, wrong = seen or ([], "")
        if code:
            print(f"\n# {seed}: ends with {code}", *program(seed)[2], sep="\n", flush=True)
        if wrong:
            sorts[wrong.partition(":")[0]] += 1
            print(f"\n# {seed}", *lines, f"#   {wrong[:600]}", sep="\n", flush=True)
    print(f"{programs:,} programs, {sum(sorts.values())} differ {dict(sorts)}, {ended} end with an error")


if __name__ == "__main__":
    main()
