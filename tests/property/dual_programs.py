"""Random programs within a block of forward mode, line by line: what is taken, values, tangents.

The lines are those of ``random_programs.py``, with writes in place, views, ``out=`` and Functions of one's own; some of
the tensors that a program begins with have tangents.  All is in doubles, so that what differs is no rounding.
``python -m tests.property.dual_programs --count 20000 --seed 1`` runs so many and prints of each that differs the
shortest part that still does.
"""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np

import glassgrad
from tests import counts
from tests.property.conditioning import is_rounding, numbers
from tests.property.excused import REASONS, Reason, reason
from tests.property.random_programs import PRECISION, Draw, Ended, Run, shortened
from tests.torch_reference import torch

#: Lines that are for reverse mode, for transforms or other processes, or that draw numbers.
LEFT_OUT = re.compile(
    r"backward|func\.|functional\.(jac|[hv]vp)|saved_tensors|autocast|checkpoint|copy\.|pickle|hook|grad\b(?!\()|"
    r"autograd|uniform_|normal_|exponential_|dropout|rand|bernoulli|tolist|numpy|dlpack|out=|alias\b|set_\(|unique"
)
OWN_REASONS = [
    Reason("PyTorch has no forward mode there", "taken", "forward AD|forward gradient|not implemented"),
    Reason("PyTorch's rules ask for one dtype, or for elements", "taken", "can't be cast|non-zero size|ZeroTens"),
    Reason("PyTorch's rules refuse truth values", "taken", "(Negation|Subtraction), the `-` operator"),
    Reason("strides of results", "taken", "last dimension with stride 1|view size is not compatible"),
    Reason("strides of nothing", "taken", r"stride\(-1\) must be 1 to view"),
    Reason("PyTorch has one tangent for two", "taken", "leaf Variable", r"Late\.apply"),
    Reason("PyTorch has one tangent for two", "tangents", "", r"Late\.apply(.|\n)*(\w_\(|inplace=True)"),
    Reason("PyTorch's parser breaks", "taken", "INTERNAL ASSERT"),
    Reason("expanded tensors have tangents", "taken", "single memory location", r"expand(.|\n)*make_dual\([^\n]*\Z"),
    Reason("what overlaps is read before it is written", "taken", "single memory location"),
    Reason("views of nothing are no views", "taken", "detach views in-place"),
    Reason("a leaf that was rearranged without recording", "taken", "leaf Variable", r"no_grad\(\): \w+\.\w+_\("),
    Reason("some refusals ask for plain tensors", "taken", "In-place abs"),
    Reason("PyTorch rearranges shared tangents", "tangents", "", r"\.(swap\w+|transpose|t|(un)?squeeze)_\([^\n]*\Z"),
    Reason("PyTorch's tangents of singular matrices are zero", "tangents", "", r"det\("),
    Reason("which of equal elements", "tangents", "", r"\.(kthvalue|topk|median|mode|\w*quantile)\("),
    Reason("rounding decides which is less", "tangents|numbers", "", r"(solve|inv)\((.|\n)*(min|max|si?gn|relu)\w*\("),
    Reason("tangents are leaves", "taken", "a leaf Variable", r"repeat_interleave|cum\w+\(|sort\(|max\(|min\("),
    Reason("the last digits of complex quotients tell", "numbers", "True", r"complex(.|\n)*(/|div)(.|\n)*(==|eq\()"),
    Reason("what should be zero, rounded", "tangents", "", r"(solve|inv)\((.|\n)*norm\(\w+, 0?\.5"),
    Reason("views that Functions give", "tangents", "None", r"Seen\.apply\((.|\n)*(_\(|\] = |out=)[^\n]*\Z"),
    Reason("PyTorch's tangents lie otherwise", "tangents", "", r"where\((.|\n)*as_strided\([^\n]*\Z"),
    Reason("on which side of zero rounding leaves a part", "numbers", "3\\.14", r"fft\w*\((.|\n)*angle\("),
    Reason("signs of sums of negative zeros", "numbers", "3\\.14", r"_norm\((.|\n)*atan2"),
    Reason("on which side of zero rounding leaves a part", "tangents", "j", r"fft\w*\((.|\n)*(pow|\*\*|log|sqrt)"),
    Reason("PyTorch's powers of two are not exact", "numbers", "", r"complex(.|\n)*ldexp\("),
    Reason("PyTorch's bytes wrap around", "tangents", "", r"(uint8|int8|int16)(.|\n)*atan2"),
    Reason("PyTorch conjugates the slope of silu", "tangents", "j", "silu"),
    Reason("PyTorch reads what it has written", "tangents|numbers", "", r"\b(\w+)\.\w+_\(.*\b\1\b.*\Z|[*/+-]= .*\Z"),
    Reason("PyTorch's tensors share a tangent", "tangents", "", r"frac\((.|\n)*(_\(|inplace=True)"),
    Reason("truth values keep PyTorch's tangents", "tangents", "", r"(eq|round|floor|trunc|sign)_\("),
    Reason("PyTorch forgets the imaginary part", "tangents", "", r"pow\(1j|\*\* 1j|1j \*\*|(complex|polar)(.|\n)*pow"),
    Reason("what is not finite, multiplied and added up", "tangents|numbers", "nan|inf"),
    Reason("PyTorch has no kernel", "refused", "derivative for aten|not implemented"),
    Reason("constants in place are recorded", "refused", "leaf Variable", r"eq_\("),
    Reason("what was made before is not written", "refused", "made before the block"),
    Reason("expanded tensors are not written", "refused", "single memory location", r"copy_\("),
    Reason("nothing is asked of what is empty", "refused", "expected scalar type", r"@|m[mv]\(|matmul|dot|linear"),
    Reason("nothing is asked of what is empty", "refused", "Dimension out of range", r"\.cum(max|min)\("),
    Reason("dual tensors that are not dense", "refused", "as_strided of a dual|setStorage", "as_strided"),
    Reason("conjugates are no views", "refused", "whose conjugate is in use", ""),
    Reason("PyTorch writes conjugates back", "numbers|tangents|taken", "", r"(complex|fft)(.|\n)*(conj|mH|adjoint)"),
    Reason("tangents of zero are tangents", "refused", "must implement the jvp", r"copysign\("),
    Reason("signs and bases that are free", "tangents", "", "qr|svd|eig"),
    Reason("another dtype than the tangent's", "", "", r"\.data = "),
]


class DualRun(Run):
    """A program in one engine, within a block of forward mode."""

    def __init__(self, engine: Any) -> None:
        super().__init__(engine)
        self.forward = self.scope["forward"] = engine.autograd.forward_ad

    def seen(self) -> dict[str, tuple[str, Any, Any]]:
        """The dtype, numbers and tangent of each tensor."""
        seen = {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for name, tensor in self.pool.items():
                try:
                    tangent = self.forward.unpack_dual(tensor).tangent
                except RuntimeError as error:
                    raise Ended(str(error)) from error
                seen[name] = str(tensor.dtype), numbers(tensor), None if tangent is None else numbers(tangent)
        return seen


def same(wanted: Any, actual: Any) -> bool:
    """Whether arrays agree; none is zero."""
    if wanted is None or actual is None:
        one = actual if wanted is None else wanted
        return one is None or not one.any()
    if wanted.shape != actual.shape:
        return False
    bound = PRECISION.get(str(wanted.dtype), 0.0)
    return np.allclose(wanted, actual, bound, bound * abs(wanted[np.isfinite(wanted)]).max(initial=1), equal_nan=True)


def compared(yours: DualRun, ours: DualRun, line: str) -> tuple[str, str] | None:
    """What sort of difference a line makes, and its description."""
    wanted, actual = yours.do(line), ours.do(line)
    if bool(wanted[0]) != bool(actual[0]):
        return "taken" if wanted[0] else "refused", f"{wanted} {actual}"
    theirs, mine = yours.seen(), ours.seen()
    if wanted[0]:
        if any(not same(theirs[name][1], mine[name][1]) for name in theirs.keys() & mine.keys()):
            raise Ended("PyTorch may leave half of a refused write")
        return None
    if theirs.keys() != mine.keys():
        return "results", f"{[*theirs]} {[*mine]}"
    for name, (dtype, values, tangent) in theirs.items():
        if tangent is not None and tangent.dtype != values.dtype:
            raise Ended("PyTorch has a complex tangent of real numbers")
        our_dtype, our_values, our_tangent = mine[name]
        if dtype != our_dtype:
            return "dtype", f"{name}: {dtype} {our_dtype}"
        if not same(values, our_values):
            return "numbers", f"{name}: {values} {our_values}"
        if not same(tangent, our_tangent):
            return "tangents", f"{name}: {tangent} {our_tangent}"
    return None


def in_doubles(line: str) -> str:
    """A line that makes doubles in place of what has fewer digits."""
    return re.sub(r"complex64\b", "complex128", re.sub(r"\b(float32|float16|bfloat16)\b", "float64", line))


@contextmanager
def doubles() -> Iterator[None]:
    """A block in which what is made of whole numbers is doubles."""
    for engine in (torch, glassgrad):
        engine.set_default_dtype(engine.float64)
    try:
        yield
    finally:
        for engine in (torch, glassgrad):
            engine.set_default_dtype(engine.float32)


def is_aliased(lines: list[str]) -> bool:
    """Whether the last line writes memory that it reads by another name, or a tangent that PyTorch has for two."""
    run = DualRun(torch)
    with run.forward.dual_level():
        for line in lines[:-1]:
            run.do(line)
        pool = run.pool
        named = [pool[name] for name in re.findall(r"\w+", lines[-1]) if name in pool]
        if not named or not re.search(r"\w_\(|[-+*/\]] ?[-+*/]?=", lines[-1]):
            return False
        target, *read = named
        others = [value for value in pool.values() if value is not target]
        tangent = run.forward.unpack_dual(target).tangent
        return any(_is_one_memory(target, other) for other in read) or any(
            _is_one_memory(tangent, run.forward.unpack_dual(other).tangent) and not _is_one_memory(target, other)
            for other in others
        )


def _is_one_memory(first: Any, second: Any) -> bool:
    if first is None or second is None:
        return False
    return bool(first.untyped_storage().data_ptr() == second.untyped_storage().data_ptr() != 0)


def drawn(seed: int, length: int = 10) -> list[str]:
    """A random program, up to its first difference."""
    lines: list[str] = []
    with suppress(Ended), doubles():
        draw_lines(Draw(seed), lines, length)
    return lines


def draw_lines(draw: Draw, lines: list[str], length: int) -> None:
    """Add the lines of a program, until one makes a difference."""
    yours, ours = DualRun(torch), DualRun(glassgrad)

    def differs(line: str) -> bool:
        lines.append(in_doubles(line))
        return compared(yours, ours, lines[-1]) is not None

    with yours.forward.dual_level(), ours.forward.dual_level():
        for name in "abc"[: draw.chance.randint(1, 3)]:
            made = draw.leaf(name)
            if differs(made[0]) or (len(made) > 1 and draw.chance.random() < 0.3 and differs(made[1])):
                return
            if yours.pool[name].is_floating_point() and draw.chance.random() < 0.7:
                steps = f"torch.arange({yours.pool[name].numel()}.0).double() + 1"
                if differs(f"{name} = forward.make_dual({name}, ({steps}).reshape({name}.shape))"):
                    return
        for place in range(draw.chance.randint(1, length)):
            line = draw.line(yours.pool, f"v{place}")
            if not LEFT_OUT.search(line) and differs(line):
                return


def first_difference(lines: list[str]) -> tuple[int, str, str] | None:
    """The number of the line that makes the first difference, its sort and description."""
    yours, ours = DualRun(torch), DualRun(glassgrad)
    with suppress(Ended), doubles(), yours.forward.dual_level(), ours.forward.dual_level():
        for place, line in enumerate(lines):
            if found := compared(yours, ours, line):
                return place, *found
    return None


def look(seed: int) -> tuple[list[str], tuple[str, str] | None]:
    """The shortest program that differs, and how; nothing where it is known why."""
    lines = drawn(seed)
    found = first_difference(lines)
    if found is None:
        return lines, None
    sort = found[1]
    lines, text = shortened(lines, sort, first_difference)
    is_known = reason(sort, text, lines, [*OWN_REASONS, *REASONS])
    if not is_known and sort in ("numbers", "tangents"):
        is_known = is_aliased(lines) or (sort == "numbers" and _is_rounding(lines, (sort, text)))
    return lines, None if is_known else (sort, text)


def _is_rounding(lines: list[str], found: tuple[str, str]) -> bool:
    """Whether PyTorch's numbers move as far where they begin a rounding away."""
    with doubles():
        return is_rounding(DualRun, glassgrad, [line for line in lines if "make_dual" not in line], found)


def main() -> None:
    """Run many, and print what differs."""
    options = counts.options(__doc__, 1000).parse_args()
    sorts: Counter[str] = Counter()
    programs = ended = 0
    for seed, seen, code in counts.outlived(counts.asked(options), look):
        programs += 1
        ended += bool(code)
        lines, found = seen or ([], None)
        if code:
            print(f"\n# {seed}: {counts.ender()} ends the process with {code}", flush=True)
        if found:
            sorts[found[0]] += 1
            print(f"\n# {seed}: {found[0]}", *lines, f"#   {found[1][:600]}", sep="\n", flush=True)
    print(f"{programs:,} programs, {sum(sorts.values())} differ {dict(sorts)}, {ended} end the process")


if __name__ == "__main__":
    main()
