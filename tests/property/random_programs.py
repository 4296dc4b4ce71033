"""Random programs of tensors in both engines, line by line: values, dtypes, strides, graphs, gradients, refusals.

``python -m tests.property.random_programs --count 20000 --seed 1`` runs so many and prints of each that differs the
shortest part that still does, as a script.
"""

from __future__ import annotations

import random
import re
import warnings
from collections import Counter
from contextlib import suppress
from typing import Any

import numpy as np

import glassgrad
from tests import counts
from tests.programs.record import clean
from tests.property.conditioning import is_rounding, numbers
from tests.property.excused import faults, reason
from tests.property.program_lines import BACKWARD, FUNCTIONS, ONE, OWN, SLOPES, TWO, VIEWS, WRITES
from tests.torch_reference import torch

FLOATS = ["float32"] * 6 + ["float64"] * 4 + ["float16", "bfloat16"]
DTYPES = [*FLOATS, *FLOATS, "complex64", "complex128", "complex64"]
DTYPES += ["int64", "int64", "int32", "int16", "uint8", "int8", "bool", "bool"]
SHAPES = [(), (0,), (1,), (3,), (4,), (2, 3), (3, 3), (3, 1), (1, 3), (0, 3), (2, 1, 3), (2, 2, 2), (2, 3, 2)]
SHAPES.append((1, 2, 2, 2))
PRECISION = {"float16": 4e-3, "bfloat16": 3e-2, "float32": 1e-4, "complex64": 1e-4, "float64": 1e-8, "complex128": 1e-8}
def _lines(text: str) -> list[str]:
    return [line for line in re.split(r"[|\n](?=\S|$)", text.strip()) if line]


KINDS = [
    (5, "{new} = ", _lines(VIEWS)), (8, "{new} = ", _lines(ONE)), (8, "{new} = ", _lines(TWO)), (7, "", _lines(WRITES)),
    (2, "{new} = ", _lines(FUNCTIONS)), (1, "", _lines(BACKWARD)), (2, "{new} = ", _lines(SLOPES)),
]  # fmt: skip
AROUND = ["{}"] * 48 + ["with torch.no_grad(): {}"] * 8 + ["with torch.enable_grad(): {}"] * 2
AROUND += ["with torch.autocast('cpu', torch.bfloat16): {}"]
AROUND += ["with torch.autograd.graph.saved_tensors_hooks(packed, packed): {}"]
FIELD = re.compile(r"\{(\w+)\}")


class Draw:
    """Draws the lines of a program, by what PyTorch made of the lines before."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)

    def leaf(self, name: str) -> list[str]:
        """Lines that make a tensor of random numbers, dtype, sizes and place in memory."""
        chance = self.chance
        dtype, sizes = chance.choice(DTYPES), chance.choice(SHAPES)
        count = int(np.prod(sizes))
        special = chance.random() < 0.06
        parts = [_number(chance, dtype, special) for _ in range(max(count, 1) * 2)][: 2 * count]
        about = f"dtype=torch.{dtype}"
        numbers = ", ".join(parts[:count])
        line = f"{name} = torch.tensor([{numbers}], {about}).reshape({sizes})"
        layout = chance.random()
        if layout < 0.1 and len(sizes) > 1:
            line += ".mT.contiguous().mT"
        elif layout < 0.2 and sizes:
            wide = (*sizes[:-1], 2 * sizes[-1])
            line = f"{name} = torch.tensor([{', '.join(parts)}], {about}).reshape({wide})[..., ::2]"
        elif layout < 0.25 and sizes:
            line += f".clone()[:1].expand({(-1 if sizes[0] == 0 else sizes[0], *[-1] * (len(sizes) - 1))})"
        elif layout < 0.28 and len(sizes) == 4:
            line += ".contiguous(memory_format=torch.channels_last)"
        elif layout < 0.31 and len(sizes) > 1:
            line += ".flip(0).mT"
        lines = [line]
        if ("float" in dtype or "complex" in dtype) and chance.random() < 0.65:
            lines.append(
                f"{name}.requires_grad_()" if chance.random() < 0.9 else f"{name} = {name}.detach().requires_grad_()"
            )
        return lines

    def line(self, pool: dict[str, Any], new: str) -> str:
        """A line that uses the tensors of ``pool``."""
        chance = self.chance
        _, prefix, templates = chance.choices(KINDS, [weight for weight, *_ in KINDS])[0]
        template = prefix + chance.choice(templates)
        x = chance.choice(list(pool)[-4:] if chance.random() < 0.5 else list(pool))
        around = chance.choice(AROUND)
        return around.format(FIELD.sub(lambda field: self.field(field[1], pool, x, new), template))

    def field(self, field: str, pool: dict[str, Any], x: str, new: str) -> str:
        """What stands in the place of a field."""
        chance, tensor = self.chance, pool[x]
        dim, sizes = tensor.dim(), tuple(tensor.shape)
        first = sizes[0] if sizes else 1
        match field:
            case "x":
                return x
            case "new":
                return new
            case "y" | "z":
                return self.fitting(pool, tensor)
            case "s":
                return self.fitting(pool, tensor) if chance.random() < 0.6 else self.field("n", pool, x, new)
            case "d" | "e":
                return str(chance.randint(-dim - (chance.random() < 0.03), max(dim - 1, 0)))
            case "i":
                return str(chance.randint(-2, 2))
            case "j":
                return str(chance.randint(0, 3))
            case "k":
                return str(chance.randint(1, 2) if chance.random() < 0.95 else chance.choice([0, 3, 5]))
            case "n":
                return chance.choice(
                    ["0", "1", "2", "-1", "0.5", "-1.5", "3", "2.0", "1.0", "0.0", "True", "1j", "float('inf')"]
                )
            case "b":
                return chance.choice(["True", "False"])
            case "t":
                return chance.choice(DTYPES) if chance.random() < 0.9 else "torch." * 0 + chance.choice(DTYPES)
            case "v":
                return str(
                    chance.choice([(-1,), sizes[::-1], (1, -1), (-1, 1), (*sizes, 1), (tensor.numel(),), (2, -1)])
                )
            case "w":
                return ", ".join(["-1"] * dim) or "1"
            case "p":
                return ", ".join(map(str, chance.sample(range(dim), dim))) or "()"
            case "ones":
                return ", ".join(["1"] * dim) or "1"
            case "m":
                if chance.random() < 0.6:
                    return f"({x}.detach().abs() > {chance.choice(['0', '0.9', '0.3'])})"
                return f"torch.arange({first}).fmod(2).eq({chance.randint(0, 1)})"
            case "l":
                places = [chance.randint(0, max(first - 1, 0)) for _ in range(chance.randint(0, 3))]
                if chance.random() < 0.05:
                    places.append(first + 1)
                return f"torch.tensor({places}, dtype=torch.int64)"
        raise KeyError(field)

    def fitting(self, pool: dict[str, Any], tensor: Any) -> str:
        """A tensor that is more likely than not of sizes that go with those of ``tensor``."""
        if self.chance.random() < 0.75:
            if near := [name for name, other in pool.items() if _broadcast(other.shape, tensor.shape)]:
                return self.chance.choice(near)
        return self.chance.choice(list(pool))


def _number(chance: random.Random, dtype: str, special: bool) -> str:
    if dtype == "bool":
        return chance.choice(["True", "False"])
    if "int" in dtype:
        return str(chance.randint(0 if dtype == "uint8" else -3, 4))
    real = chance.choice(["nan", "inf", "-inf", "0.0"]) if special and chance.random() < 0.3 else None
    text = f"float('{real}')" if real else str(chance.randint(-8, 8) / 4)
    return f"complex({text}, {chance.randint(-8, 8) / 4})" if "complex" in dtype else text


def _broadcast(first: Any, second: Any) -> bool:
    return all(a == b or a == 1 or b == 1 for a, b in zip(first[::-1], second[::-1], strict=False))


#: Composed operations write what they make: how often a saved tensor was written, and not from which version on.
VERSIONS = re.compile(r"at version (\d+); expected version (\d+)")


def _later(versions: re.Match[str]) -> str:
    return f"{int(versions[1]) - int(versions[2])} versions later"


#: What PyTorch warns of that is about how it computes; and what we warn of in fewer places (docs/limits.md).
OWN_WARNINGS = re.compile(
    "performance|fused implementation|many operators don't support|API may change|discards the imaginary part"
)


IDENTITY = re.compile(r"\b\d{14,}\b")
HOOK = re.compile(r"<function \S+ at \S+>")


class Run:
    """A program in one engine: what its lines gave."""

    def __init__(self, engine: Any) -> None:
        self.engine = engine
        self.scope: dict[str, Any] = {"torch": engine}
        exec(OWN, self.scope)  # noqa: S102  this file's own
        self.slopes: set[str] = set()  # whose nodes are not promised
        self.done: list[str] = []
        self.told = "", ""  # by the last line: the type and words of its error
        self.warned: set[tuple[str, str]] = set()  # of by the last line: the types and words of its warnings
        self.versions: dict[str, tuple[Any, int]] = {}  # what the tensors had when they were made
        engine.manual_seed(0)

    @property
    def pool(self) -> dict[str, Any]:
        """The tensors by their names, in the order in which they were made."""
        return {name: value for name, value in self.scope.items() if isinstance(value, self.engine.Tensor)}

    def do(self, line: str) -> tuple[str, str]:
        """Run a line: the type and words of its error, or nothing."""
        if slope := re.search(r"(\w+) = .*(autograd\.(grad|functional)|torch\.func|fwad)\b", line):
            self.slopes.add(slope[1])
        self.done.append(line)
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            warnings.filterwarnings("ignore", category=RuntimeWarning, module="glassgrad")  # as the package has it
            warnings.filterwarnings("ignore", category=DeprecationWarning)  # NumPy's, about PyTorch
            self.engine.set_warn_always(True)  # or a warning would show in the first program alone
            try:
                with counts.working(self.engine):
                    exec(line, self.scope)  # noqa: S102  the lines are this file's own
            except Exception as error:  # noqa: BLE001
                self.told = type(error).__name__, IDENTITY.sub("an identity", VERSIONS.sub(_later, clean(error)))
            else:
                self.told = "", ""
            finally:
                self.engine.set_warn_always(False)
        told = {(each.category.__name__, HOOK.sub("a hook", clean(each.message))) for each in warned}
        self.warned = {each for each in told if not OWN_WARNINGS.search(each[1])}
        return self.told

    def written(self, name: str, tensor: Any) -> int:
        """How often a tensor was written since it was made: composed operations write what they make."""
        known = self.versions.get(name)
        if known is None or known[0] is not tensor:
            known = self.versions[name] = tensor, tensor._version
        return int(tensor._version - known[1])

    def about(self, name: str, tensor: Any) -> dict[str, Any]:
        """All of a tensor that is not its numbers, and the same of its gradient."""
        seen = {"dtype": str(tensor.dtype), "shape": tuple(tensor.shape)}
        seen["written"] = self.written(name, tensor)
        try:
            node = tensor.grad_fn
            seen["node"] = None if node is None else type(node).__name__
            seen["leaf"], seen["requires_grad"] = tensor.is_leaf, tensor.requires_grad
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                grad = tensor.grad
        except RuntimeError as error:
            return {**seen, "node": clean(error)}
        if grad is not None:
            seen["grad"] = str(grad.dtype), tuple(grad.shape), grad.requires_grad
        return seen


def signs(array: Any) -> Any:
    """Where zeros are negative: how products of matrices add up decides it, and ``atan2`` tells."""
    parts = np.stack([array.real, array.imag])
    return np.signbit(parts) & (parts == 0)


def differ(theirs: Any, mine: Any, coarsest: float) -> bool:
    """Whether numbers differ by more than the precision of their dtype; gives ours PyTorch's last bits if they do not.

    So later lines start from equal numbers.
    """
    wanted, actual = numbers(theirs), numbers(mine)
    if wanted.dtype.kind not in "fc":
        return not np.array_equal(wanted, actual)
    if np.array_equal(wanted, actual, equal_nan=True) and np.array_equal(signs(wanted), signs(actual)):
        return False
    bound = max(coarsest, PRECISION[str(theirs.dtype)[6:]])
    finite = np.abs(wanted[np.isfinite(wanted)])
    with np.errstate(all="ignore"):
        if not np.allclose(actual, wanted, bound, bound * max(1.0, float(finite.max(initial=0))), equal_nan=True):
            return True
    place = mine.detach()
    if not place.is_conj() and not place.is_neg():
        is_short = str(mine.dtype) == "torch.bfloat16"
        memory = (place.view(glassgrad.int16) if is_short else place).numpy()
        if memory.flags.writeable:
            memory[...] = theirs.detach().clone().view(torch.int16).numpy() if is_short else wanted
    return False


def shares_memory(run: Run, line: str) -> bool:
    """Whether what a line writes lies in one piece of memory with what it reads: PyTorch may read what it wrote."""
    if re.match(r"(with [^:]*: )?\w+ = ", line):
        return False
    tensors = named(run, line)
    return len({tensor.untyped_storage().data_ptr() for tensor in tensors}) < len(tensors)


def is_empty(run: Run) -> bool:
    """Whether a tensor of a program has no elements."""
    return any(not value.numel() for value in run.pool.values())


class Ended(Exception):  # noqa: N818  no error
    """A program that goes on otherwise, for the reason in it that docs/limits.md tells."""


def difference(yours: Run, ours: Run, line: str) -> tuple[str, str] | None:
    """The same, where refusals of two sorts tell which of several faults is told."""
    found = compared(yours, ours, line)
    theirs, mine = faults(yours.told[1]), faults(ours.told[1])
    return None if found and found[0] in ("type", "words") and theirs and mine and not theirs & mine else found


def compared(yours: Run, ours: Run, line: str) -> tuple[str, str] | None:
    """What sort of difference a line makes between two runs, and its description."""
    before = [(value, value.shape, is_bound(yours, value)) for value in yours.pool.values()] if "out=" in line else []
    wanted, actual = yours.do(line), ours.do(line)
    if any(bound and value.shape != sizes for value, sizes, bound in before):
        raise Ended("out= of another size gets memory of its own")
    if wanted != actual and any(map(is_unrecorded, named(ours, line))):
        raise Ended("views that were made without recording")
    if bool(wanted[0]) != bool(actual[0]):
        if any(not value.numel() for value in named(yours, line)):
            raise Ended("a kernel, or a question about memory, that one of them never reaches")
        return "taken" if wanted[0] else "refused", f"{wanted} {actual}"
    found = _seen(yours, ours, line)
    if found and wanted[0]:
        raise Ended("PyTorch may leave half of a refused write")
    if found:
        return found
    if not wanted[0]:
        return None if yours.warned == ours.warned else ("warning", f"{yours.warned} {ours.warned}")
    if wanted[0] != actual[0]:
        return "type", f"{wanted} {actual}"
    if wanted[1] != actual[1] and wanted[0] != "TypeError":  # whose words list every overload
        return "words", f"{wanted[1]!r} {actual[1]!r}"
    return None


def named(run: Run, line: str) -> list[Any]:
    """The tensors that a line names."""
    return [run.pool[name] for name in re.findall(r"\w+", line) if name in run.pool]


def _memory(tensor: Any) -> int | None:
    """Where the memory of a tensor begins; None where PyTorch took it away."""
    try:
        return int(tensor.untyped_storage().data_ptr())
    except RuntimeError:
        return None


def is_bound(run: Run, tensor: Any) -> bool:
    """Whether a tensor has a history, or no elements, or lies in another's memory: what another size then means."""
    place = _memory(tensor)
    shared = place is not None and sum(_memory(other) == place for other in run.pool.values()) > 1
    return shared or tensor.requires_grad or is_empty(run)


def _seen(yours: Run, ours: Run, line: str) -> tuple[str, str] | None:
    their_pool, my_pool = yours.pool, ours.pool
    unknown = PRECISION["float32"] if "out=" in line else 0.0  # whole numbers are computed in it
    coarsest = max([PRECISION.get(str(value.dtype)[6:], unknown) for value in their_pool.values()], default=0.0)
    if their_pool.keys() != my_pool.keys():
        return "results", f"{[*their_pool]} {[*my_pool]}"
    for name, theirs in their_pool.items():
        mine = my_pool[name]
        left, right = yours.about(name, theirs), ours.about(name, mine)
        if "leaf" in right and "leaf" not in left:
            raise Ended("PyTorch cannot tell: its base was written by what has no gradient")
        for key in left.keys() | right.keys():
            if left.get(key) != right.get(key):
                free = is_cut(theirs) or name in yours.slopes
                free = free or (key in ("node", "leaf", "written") and not theirs.numel())
                free = free or any(map(is_unrecorded, [mine, *named(ours, line)])) or keeps_gradient(their_pool)
                if key in ("node", "leaf", "requires_grad") and not (theirs.is_floating_point() or theirs.is_complex()):
                    free = True  # PyTorch gives integers a history where what is written has one
                is_power = key == "node" and "Pow" in str(left[key]) and "1j" in line  # of real numbers
                if free or is_power or "complex32" in str(left.get(key)):
                    raise Ended("histories of views made without recording, of whole numbers, of powers")
                return key, f"{name}: {left.get(key)} {right.get(key)}"
        pairs = [("", theirs, mine)]
        if "grad" in left:
            pairs.append((".grad", theirs.grad, mine.grad))
        for part, a, b in pairs:
            if differ(a, b, coarsest):
                if a.is_complex() and not (np.isfinite(numbers(a)).all() and np.isfinite(numbers(b)).all()):
                    raise Ended("complex numbers at infinity")
                if shares_memory(yours, line) or keeps_gradient(their_pool):
                    raise Ended("what reads what it writes")
                return f"numbers{part}", f"{name}{part}: {numbers(a).tolist()} {numbers(b).tolist()}"
        if (theirs.stride(), theirs.storage_offset()) != (mine.stride(), mine.storage_offset()):
            if theirs._base is not None and is_dense(theirs._base, mine._base):
                return "stride", f"{name}: {theirs.stride()} {mine.stride()}"
            raise Ended("strides of results")
    return None


def keeps_gradient(pool: dict[str, Any]) -> bool:
    """Whether a gradient of PyTorch's is in memory that was handed in, and is added to."""
    grads = []
    for tensor in pool.values():
        with suppress(RuntimeError):  # which views say whose base was written
            grads += [tensor.grad] if tensor.is_leaf and tensor.grad is not None else []
    places = [tensor.data_ptr() for tensor in (*pool.values(), *grads)]
    return any(grad.numel() and places.count(grad.data_ptr()) > 1 for grad in grads)


def is_unrecorded(tensor: Any) -> bool:
    """Whether a tensor of ours is a view that was made without recording, of a base with a history."""
    if getattr(tensor, "_conjugate", None) is not None:
        return True  # no view here
    return bool(tensor._is_view() and tensor.requires_grad and tensor._edge.edge is None)


def is_cut(tensor: Any) -> bool:
    """Whether a tensor was computed from a view that was made without recording."""
    try:
        node = tensor.grad_fn
    except RuntimeError:  # its base was written
        return False
    if node is None:
        return False
    return not node.next_functions or any(onward is None or is_late(onward) for onward, _ in node.next_functions)


def is_late(node: Any) -> bool:
    """Whether a node fills a view, which had been made before its base, or without recording."""
    return hasattr(node, "variable") and node.variable._is_view() and not node.variable._base.requires_grad


def is_dense(theirs: Any, mine: Any) -> bool:
    """Whether the tensors that views look at lie alike."""
    return mine is not None and theirs.stride() == mine.stride()


def first_difference(lines: list[str]) -> tuple[int, str, str] | None:
    """The number of the line that makes the first difference, its sort and description."""
    yours, ours = Run(torch), Run(glassgrad)
    for place, line in enumerate(lines):
        try:
            if found := difference(yours, ours, line):
                return place, *found
        except Ended:
            return None
    return None


def drawn(seed: int, length: int = 10) -> tuple[list[str], tuple[str, str] | None, str]:
    """A random program up to its first difference, that difference; or the reason why the program ended."""
    draw, yours, ours = Draw(seed), Run(torch), Run(glassgrad)
    lines: list[str] = []
    try:
        return lines, _drawn(draw, yours, ours, lines, length), ""
    except Ended as ended:
        return lines, None, str(ended)


def judged(seed: int) -> tuple[list[str], tuple[str, str] | None, str]:
    """The same of the shortest program that differs; differences that ``excused.py`` knows count as ends."""
    lines, found, ended = drawn(seed)
    if found is None:
        return lines, None, ended
    lines, text = shortened(lines, found[0])
    why = reason(found[0], text, lines) or ("the shape was changed without recording" if is_changed(lines) else "")
    if not why and found[0].startswith("numbers"):
        why = "rounding" * is_rounding(Run, glassgrad, lines, (found[0], text))
    return lines, None if why else (found[0], text), why


def is_changed(lines: list[str]) -> bool:
    """Whether a program gives a tensor other sizes, or another dtype, than PyTorch's node of it knows."""
    run = Run(torch)
    for line in lines:
        run.do(line)
    for tensor in run.pool.values():
        with suppress(RuntimeError):  # without a gradient, or of a base that was written
            node, place = torch.autograd.graph.get_gradient_edge(tensor)[:2]
            known = node._input_metadata[place]
            if (tuple(known.shape), known.dtype) != (tuple(tensor.shape), tensor.dtype):
                return True
    return False


def _drawn(draw: Draw, yours: Run, ours: Run, lines: list[str], length: int) -> tuple[str, str] | None:
    def differs(line: str) -> tuple[str, str] | None:
        lines.append(line)
        return difference(yours, ours, line)

    for name in "abc"[: draw.chance.randint(1, 3)]:
        for line in draw.leaf(name):
            if found := differs(line):
                return found
    for place in range(draw.chance.randint(1, length)):
        if found := differs(draw.line(yours.pool, f"v{place}")):
            return found
    for name, tensor in yours.pool.items():  # every way back that there is
        if tensor.requires_grad:
            if found := differs(f"{name}.abs().sum().backward(retain_graph=True)"):
                return found
    return None


def shortened(lines: list[str], sort: str, first: Any = first_difference) -> tuple[list[str], str]:
    """As few lines as still differ in that sort, and the difference, the first one as ``first`` tells."""
    text = ""
    again = True
    while again:
        again = False
        for place in reversed(range(len(lines))):
            fewer = lines[:place] + lines[place + 1 :]
            found = first(fewer) if fewer else None
            if found and found[1] == sort:
                lines, text, again = fewer[: found[0] + 1], found[2], True
                break
    if not text and (found := first(lines)):
        text = found[2]
    return lines, text


def main() -> None:
    """Run many, and print what differs."""
    parser = counts.options(__doc__, 1000)
    parser.add_argument("--sorts", default="", help="a pattern of the sorts to print")
    parser.add_argument("--ended", default=None, help="a pattern of the reasons to print programs of")
    options = parser.parse_args()
    sorts, reasons = Counter[str](), Counter[str]()
    programs = 0
    for seed in counts.asked(options):
        programs += 1
        lines, found, ended = judged(seed)
        if ended:
            reasons[ended] += 1
            if options.ended is not None and re.search(options.ended, ended):
                print(f"\n# {seed}: {ended}", *lines, sep="\n", flush=True)
        if found:
            sorts[found[0]] += 1
            if re.search(options.sorts, found[0]):
                print(f"\n# {seed}: {found[0]}", *lines, f"#   {found[1][:600]}", sep="\n", flush=True)
    for ended, count in reasons.most_common():
        print(f"{count:6} ended: {ended}")
    print(f"{programs:,} programs, {sum(sorts.values())} differ {dict(sorts)}")


if __name__ == "__main__":
    main()
