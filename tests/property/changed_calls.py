"""The sample calls of every operation, each changed in a place or two, in both engines: what is taken, what it gives.

Dtypes, sizes, layouts, numbers and settings are changed, tensors share memory or have a history, results go to ``out=``
or over the first tensor, the same is called by other names, as a method, with names for its arguments.
``python -m tests.property.changed_calls --count 20000 --seed 1`` runs so many and prints each that differs.
"""

from __future__ import annotations

import inspect
import itertools
import random
import re
from collections import Counter
from collections.abc import Collection, Iterator
from functools import cache
from typing import Any

import numpy as np

import glassgrad
from tests import counts
from tests.property.conditioning import is_rounding
from tests.property.excused import TYPES, faults, reason
from tests.property.further_calls import SAMPLES
from tests.property.random_programs import DTYPES, Ended, Run, compared, difference
from tests.samples import Sample, T, all_samples
from tests.torch_reference import torch

LARGEST = 300  # elements of a tensor: the numbers stand in the text
NAMES = "abcdefghij"  # of tensors
NUMBERS = [0, 1, -1, 2, 3, -2, 5, 100, 0.0, 0.5, -1.5, 2.0, 1e30, True, False, 1j, float("inf"), None]
#: Samples whose numbers are arbitrary where they are changed, or that draw more numbers than PyTorch; or need files.
#: And those whose digits are others, see docs/limits.md.
#: And those to which PyTorch hands on sizes unchecked, and then reads and writes beyond its memory, as with ENDS.
LEFT_OUT = re.compile(
    r"^_(?!foreach)|\._(?!_)|native_|segment_reduce|^lstm|^gru|^rnn|scaled_dot|"
    r"empty|sparse|packed|Tensor\.(set_|numpy)|pack_|rrelu|lobpcg|svd_lowrank|pca|l\.bessel_[jy]|airy|\bigamma"
)
ENDS = re.compile(r"embedding_bag|torch\.grid_sampler")
#: And those whose results are as large as the elements say, or take as long.
LARGE = re.compile("polynomial|bincount")
SPACES = ["", "nn.functional.", "special.", "linalg."]
INTEGERS = [0, -1, 127, 255, 2**31 - 1, -(2**31), 2**40]
FLOATS = [0.0, -0.0, float("inf"), float("-inf"), float("nan"), 1e30, -1e-30, 1.0, 300.5]


class Unwritten(Exception):  # noqa: N818  no error
    """A sample that has no text."""


@cache
def samples() -> dict[str, list[Sample]]:
    """The samples that can be written down, by what they call."""
    written: dict[str, list[Sample]] = {}
    for sample in [*all_samples(), *SAMPLES]:
        if sample.in_torch and not LEFT_OUT.search(sample.name):
            try:
                Text(0, sample)
            except Unwritten:
                continue
            written.setdefault(sample.name, []).append(sample)
    return written


@cache
def parameters(name: str) -> list[str]:
    """How PyTorch calls the parameters of one of its functions, where it tells."""
    known = torch.overrides.get_testing_overrides().get(found(f"torch.{name}"))
    return [*inspect.signature(known).parameters] if known else []


def found(path: str) -> Any:
    """What PyTorch has at a path of names; nothing where it has none."""
    place = torch
    for name in path.split(".")[1:]:
        place = getattr(place, name, None)
    return place


def literal(value: Any) -> str:
    """The expression of a plain value."""
    if isinstance(value, float) and not np.isfinite(value):
        return f"float('{value}')"
    if isinstance(value, list | tuple):
        inner = ", ".join(map(literal, value))
        return f"[{inner}]" if isinstance(value, list) else f"({inner}{',' * (len(value) == 1)})"
    if isinstance(value, str) and value.startswith("dtype:"):
        return f"torch.{value[6:]}"
    if value is None or isinstance(value, bool | int | float | complex | str | slice) or value is ...:
        return "..." if value is ... else repr(value)
    raise Unwritten


class Text:
    """A sample's call as lines of Python, with changes, but at the places that are ``kept`` as the sample has them.

    Each place draws numbers of its own: to keep one leaves the others as they are.
    """

    def __init__(self, seed: int, sample: Sample, changes: int = 0, kept: Collection[str] = ()) -> None:
        self.seed, self.sample, self.changes, self.kept = seed, sample, changes, kept
        self.changed: list[str] = []  # the places that were drawn
        self.lines: list[str] = []
        self.names: list[str] = []
        chance = self.chance = random.Random(seed)
        tensors = sum(isinstance(part, T) for part in _leaves([*sample.args, *sample.kwargs.values()]))
        others = len(sample.args) + len(sample.kwargs) - tensors
        places = ["tensor"] * 3 * bool(tensors) + ["number"] * 2 * (others > 0) + ["form"] * bool(tensors)
        kinds = Counter(chance.choice(places) for _ in range(changes)) if places else Counter()
        self.odds = {"tensor": kinds["tensor"] / max(tensors, 1), "number": kinds["number"] / max(others, 1)}
        self.is_shared = changes > 0 and tensors > 0 and chance.random() < 0.2  # all lies in one piece of memory, m
        self.dtype, self.kind = sample.only[0], ""
        if self.is_changed("dtype", 1.0):
            self.dtype = self.chance.choice(sample.only)
            self.kind = self.chance.choice(DTYPES) if changes and self.chance.random() < 0.15 else ""  # of all floats
        if self.is_shared:
            numbers = np.random.default_rng(self.seed).uniform(0.2, 2.5, LARGEST).round(3)
            self.lines.append(f"m = torch.tensor({literal(numbers.tolist())}, dtype=torch.{self.dtype})")
        args = [self.argument(value, str(number)) for number, value in enumerate(sample.args)]
        kwargs = {
            name: self.argument(value, name)
            for name, value in sample.kwargs.items()
            if isinstance(value, T) or not self.is_changed(f"no {name}", self.odds["number"] / 3)
        }
        self.call(args, kwargs, kinds["form"] > 0)
        histories = [line for line in self.lines if line.endswith("requires_grad_()")]
        if histories and not self.is_changed("histories", 1.0):
            self.lines = [line for line in self.lines if line not in histories]

    def is_changed(self, place: str, odds: float) -> bool:
        """Whether a place is changed, which is noted; the numbers drawn from here on are those of the place."""
        self.chance = random.Random(f"{self.seed} {place}")
        if self.chance.random() >= odds:
            return False
        self.changed.append(place)
        return place not in self.kept

    def argument(self, value: Any, place: str) -> str:
        """The expression of an argument; tensors get a line of their own."""
        if isinstance(value, T):
            return self.tensor(value, place)
        if isinstance(value, list | tuple) and any(isinstance(part, T) for part in _leaves([value])):
            return f"[{', '.join(self.argument(part, f'{place}.{at}') for at, part in enumerate(value))}]"
        if self.is_changed(place, self.odds["number"]):
            number = self.chance.choice(NUMBERS)
            if isinstance(value, tuple | list) and value and self.chance.random() < 0.6:
                return literal(tuple(self.chance.choice([value[1:], (*value, value[-1]), (number, *value[1:])])))
            return self.names[0] if self.names and self.chance.random() < 0.1 else literal(number)
        return literal(value)

    def tensor(self, spec: T, place: str) -> str:
        """The name of a tensor, made in a line before."""
        is_piece = self.is_shared and spec.kind == "float"
        is_changed = self.is_changed(place, 1.0 if is_piece else self.odds["tensor"] * (not self.is_shared))
        chance = self.chance
        array = spec.array(np.random.default_rng([self.seed, *place.encode()]), self.dtype)
        if array.size > LARGEST or len(self.names) == len(NAMES):
            raise Unwritten
        name = NAMES[len(self.names)]
        if is_piece and is_changed:
            self.lines.append(f"{name} = {self.window(array.shape)}")
            self.names.append(name)
            return name
        changes = ["dtype", "dtype", "sizes", "sizes", "layout", "shared", "number", "elements"]
        what = chance.choice(changes) if is_changed else ""
        if what == "number":
            return literal(chance.choice(NUMBERS))
        if what == "shared" and self.names:
            return chance.choice([self.names[-1], f"{self.names[-1]}[:]", f"{self.names[-1]}.detach()"])
        if what == "sizes":
            array = self.resized(array)
        kind = str(array.dtype)
        if what == "dtype" or (self.kind and spec.kind == "float"):
            kind = chance.choice(DTYPES) if what == "dtype" else self.kind
            if kind == "uint8":
                array = abs(array)
        if what == "elements":
            for at in range(array.size):
                if chance.random() < 0.3 and array.dtype.kind in "ifc" and not LARGE.search(self.sample.name):
                    array.flat[at] = chance.choice(INTEGERS if array.dtype.kind == "i" else FLOATS)
        layouts = ["turned", "strided", "expanded", "window", "overlapping"]
        layout = chance.choice(layouts) if what == "layout" else spec.layout
        self.lines.append(f"{name} = {laid(array, kind, layout)}")
        if spec.grad and self.sample.gradient and not self.is_shared and "float" in kind.replace("complex", "float"):
            self.lines.append(f"{name}.requires_grad_()")
            if self.odds["tensor"] and chance.random() < 0.2:  # no leaf
                self.lines.append(f"{name} = ({name}_leaf := {name}) * 1")
        self.names.append(name)
        return name

    def window(self, sizes: Any) -> str:
        """A piece of the one memory, of these sizes."""
        size = int(np.prod(sizes))
        first = self.chance.choice([0, 1, 2, (LARGEST - size) // 2])  # of which the last lies apart where it is small
        return f"m[{first}:{first + size}].view({tuple(sizes)})"

    def resized(self, array: Any) -> Any:
        """An array of other sizes."""
        sizes = array.shape
        choices = [sizes[1:], (1, *sizes), (), (0,), (2, *sizes)]
        for place in range(len(sizes)):
            choices += [(*sizes[:place], size, *sizes[place + 1 :]) for size in (0, 1, sizes[place] + 1)]
        return np.resize(array, self.chance.choice(choices)) if array.size else np.zeros(self.chance.choice([(), (2,)]))

    def call(self, args: list[str], kwargs: dict[str, str], is_changed: bool) -> None:
        """Add the line of the call."""
        name = self.spelled()
        of_tensor = name.startswith("Tensor.")
        short = name.rpartition(".")[2]
        is_changed = self.is_changed("form", float(is_changed or self.is_shared))
        names = parameters(name) if is_changed and not self.is_shared and short[:2] != "__" else []
        if len(names) >= len(args) > 1 and self.chance.random() < 0.4:
            first = self.chance.randrange(1, len(args))
            kwargs = {**dict(zip(names[first:], args[first:], strict=False)), **kwargs}
            args = args[:first]
        form = self.form() if is_changed else ""
        words = [*args, *(f"{key}={value}" for key, value in kwargs.items())]
        if form and form != "inplace" and not of_tensor:
            if self.chance.random() < 0.9:  # or nothing but that they require gradients would be told
                self.lines = [line for line in self.lines if "requires_grad_" not in line]
            call = f"r = torch.{name}({', '.join(words)})"
            words.append(f"out={self.out(form, call)}")
        in_place = form == "inplace" and not short.endswith("_") and hasattr(torch.Tensor, f"{short}_")
        if (of_tensor or in_place) and args and args[0] in self.names:
            self.lines.append(f"r = {args[0]}.{short}{'_' * in_place}({', '.join(words[1:])})")
        elif of_tensor:
            raise Unwritten
        else:
            self.lines.append(f"r = torch.{name}({', '.join(words)})")

    def spelled(self) -> str:
        """The name, or another name of the same."""
        name = self.sample.name
        if not self.is_changed("name", 0.3 * (sum(self.odds.values()) > 0)):
            return name
        short = name.rpartition(".")[2]
        others = [space + short for space in SPACES] + [f"Tensor.{short}", f"{name}_", f"{short}_", f"Tensor.{short}_"]
        return self.chance.choice([name, *(other for other in others if callable(found(f"torch.{other}")))])

    def form(self) -> str:
        """What becomes of the result: a new ``out=``, one of the tensors, a piece of the one memory; or in place."""
        if self.is_shared:
            return self.chance.choice(["inplace", "window", "window"])
        own = self.chance.choice(self.names or [""])
        return self.chance.choice(["new", "inplace", "apart", own, f"{own}.detach()"]) if own else ""

    def out(self, form: str, line: str) -> str:
        """The expression of ``out=``, of the sizes of the result, or of none: what is resized PyTorch places itself."""
        if form == "new" and self.is_changed("out", 1.0):
            return f"torch.zeros(0, dtype=torch.{self.chance.choice(DTYPES)})"
        if ENDS.search(line):
            raise Unwritten
        run = CallRun(torch)
        for each in [*self.lines, line]:
            run.do(each)
        result = run.scope.get("r")
        parts = [value for name, value in run.pool.items() if re.fullmatch(r"r\d", name)]
        if parts:
            return f"({', '.join(self.place(form, part, run) for part in parts)},)"
        return self.place(form, result, run)

    def place(self, form: str, result: Any, run: Run) -> str:
        """The expression of a place for a result, or a part of one."""
        if not isinstance(result, torch.Tensor) or result.numel() > LARGEST - 2:
            raise Unwritten
        if form == "new":
            return f"torch.zeros(0, dtype={result.dtype})"
        sizes = tuple(result.shape)
        if form == "window":
            return self.window(sizes)
        if form == "apart":
            made = f"torch.zeros({(*sizes, 2)}, dtype={result.dtype})[..., 1]"
            return f"{made}.mT.contiguous().mT" if len(sizes) > 1 and self.chance.random() < 0.5 else made
        if tuple(run.scope[form[0]].shape) != sizes:
            raise Unwritten
        return form


def _leaves(values: list[Any]) -> list[Any]:
    return [leaf for value in values for leaf in (_leaves([*value]) if isinstance(value, list | tuple) else [value])]


def laid(array: Any, kind: str, layout: str | None) -> str:
    """The expression of a tensor of these numbers, in a dtype, that lies in memory in a way."""
    sizes = array.shape
    if kind == "bool":
        array = array != 0
    elif "int" in kind:
        array = np.nan_to_num(array.real).clip(-100, 100).astype(np.int64) if array.dtype.kind in "fc" else array
        array = array.astype(kind)  # what is too large wraps
    elif "complex" not in kind and array.dtype.kind == "c":
        array = array.real
    flat = array.reshape(-1)
    if layout == "strided" and sizes:
        wide = (*sizes[:-1], 2 * sizes[-1])
        return f"torch.tensor({literal(np.repeat(flat, 2).tolist())}, dtype=torch.{kind}).reshape({wide})[..., ::2]"
    made = f"torch.tensor({literal(flat.tolist())}, dtype=torch.{kind})"
    if layout == "overlapping" and array.size > 1:
        return f"{made}.as_strided({sizes}, {(1,) * len(sizes)})"
    if layout == "window" and array.size:
        return f"{made}.repeat(2)[{array.size}:].reshape({sizes})"
    made += f".reshape({sizes})"
    if layout in ("turned", "transposed") and len(sizes) > 1:
        return f"{made}.mT.contiguous().mT"
    if layout == "expanded" and sizes and sizes[0]:
        return f"{made}[:1].clone().expand({sizes})"
    return made


class CallRun(Run):
    """A call in one engine; parts of its result have names of their own."""

    def do(self, line: str) -> tuple[str, str]:
        """Run a line; see ``Run.do``."""
        said = super().do(line)
        result = self.scope.get("r")
        if isinstance(result, tuple | list):
            self.scope.update({f"r{place}": self.part(part) for place, part in enumerate(_leaves([result]))})
            self.scope["r"] = self.part("" if "out=" in line else type(result).__name__)
        elif "r" in self.scope:
            self.scope["r"] = self.part(result)
        return said

    def about(self, name: str, tensor: Any) -> dict[str, Any]:
        """The same, but of nodes that are not promised."""
        seen = super().about(name, tensor)
        if any(NODES.search(line) for line in self.done):
            del seen["node"]
        return seen

    def part(self, value: Any) -> Any:
        """A result as a tensor: of what is none, its text."""
        if isinstance(value, self.engine.Tensor):
            return value
        if isinstance(value, bool | float | complex) or (isinstance(value, int) and abs(value) < 2**63):
            return self.engine.tensor(value)
        return self.engine.tensor([*str(value).encode()])


def written(seed: int) -> Text:
    """A changed call."""
    chance = random.Random(seed)
    while True:
        sample = chance.choice(samples()[chance.choice([*samples()])])
        try:
            text = Text(chance.getrandbits(32), sample, chance.choice([0, 1, 1, 1, 1, 2]))
        except Unwritten:
            continue
        if not ENDS.search(text.lines[-1]):
            return text


def refusal(lines: list[str]) -> tuple[str, str]:
    """The type and words of the error that lines end with in PyTorch; nothing where there is none."""
    run = CallRun(torch)
    return next(filter(any, map(run.do, lines)), ("", ""))


#: What a refusal says of dtypes and sizes, which are others where there are fewer changes.
DETAILS = re.compile(
    r"(c10::|torch\.)?\b((unsigned |signed )?(char|short|long)( int)?|B?[Ff]loat\d*|Half|c?double|Double|Complex\w+|"
    r"Bool|bool|Byte|Char|Short|Int|int\d*|Long|-?\d+)\b|BFloat16"
)


def tells_another_fault(text: Text, said: tuple[str, str]) -> bool:
    """Whether a refusal is what PyTorch says of the same call with fewer changes: of one of several faults."""
    said = said[0], DETAILS.sub("_", said[1])
    for count in range(1, len(text.changed)):
        for kept in itertools.combinations(text.changed, count):
            try:
                fewer = refusal(Text(text.seed, text.sample, text.changes, kept).lines)
            except Unwritten:
                continue
            if (fewer[0], DETAILS.sub("_", fewer[1])) == said or fewer[0] == said[0] == "TypeError":
                return True
    return False


#: Whose numbers are what lay in memory, or arbitrary: where elements are equal, or matrices lack rank (docs/limits.md).
ARBITRARY = re.compile(
    r"resize_|matrix_exp|sort|topk|kthvalue|median|mode|svd|eig|qr|(matrix|nuclear)_norm\(|norm\(.*nuc|pinv|lstsq|"
    r"matrix_rank|lu|ldl|cond|pca|cholesky_ex|tensorsolve|narrow_copy\(.*\[\.\.\., 1\]"
)


#: What adds up infinities in an order of its own, or elements that PyTorch's kernels hold to be zero.
INFINITE = re.compile(r"std_mean|var_mean|conv|det\(|linspace|logspace|cholesky|linalg|fft|bilinear")
#: What rules of PyTorch's say that fail.
RULES = re.compile("Expected a proper Tensor but got None|view size is not compatible|cannot reshape tensor of 0")
#: Whose nodes are others: see docs/limits.md.
NODES = re.compile(r"conv|circular|pdist|_foreach_|_copy\(")


#: Why numbers differ where a result lies on what it is made of.
READ = "PyTorch reads what it has overwritten"


def lies_on_itself(lines: list[str]) -> bool:
    """Whether a result's place in the one memory is that of something else there, where all of it lies in pieces."""
    call = next(line for line in lines if line.startswith("r = "))
    pieces = [[int(end) for end in piece] for piece in re.findall(r"m\[(\d+):(\d+)\]", "".join(lines))]
    places = pieces[-len(re.findall(r"m\[", call.partition("out=")[2])) :]
    return not pieces or any(
        max(place[0], piece[0]) < min(place[1], piece[1]) for place in places for piece in pieces if piece is not place
    )


def parsed(sort: str, said: str) -> tuple[str, str]:
    """A difference; "lenient" where what PyTorch's parser refuses is taken, "parser" where it is refused otherwise."""
    if sort == "taken" and (said.startswith("('TypeError'") or "Overflow when unpacking" in said):
        sort = "lenient"
    if sort == "type" and (said.startswith(("('TypeError'", "('AttributeError'")) or "Overflow when unpacking" in said):
        sort = "parser"
    return sort, said


def is_free(lines: list[str], sort: str, said: str) -> bool:
    """Whether docs/limits.md tells of a difference."""
    call = next(line for line in lines if line.startswith("r = "))
    if sort in ("lenient", "parser"):
        return bool(reason(sort, said, lines, TYPES))
    if why := reason(sort, said, lines):
        return why != READ or lies_on_itself(lines)
    if sort.startswith("numbers"):
        is_infinite = "float('" in str(lines) and INFINITE.search(call)
        return bool(ARBITRARY.search(call) or is_infinite) or is_rounding(CallRun, glassgrad, lines, (sort, said))
    if sort == "refused" and lines[0].startswith("m = "):
        return bool(re.search("ldexp_|bernoulli_", call))
    if sort == "taken" and lines[-1].endswith("backward(retain_graph=True)"):  # rules of PyTorch's refuse dtypes, sizes
        return bool(faults(said.partition("') (")[0]) & {"dtype"} or RULES.search(said))
    return False


def drawn(seed: int) -> tuple[list[str], tuple[str, str] | None]:
    """A changed call, with the ways back from its results, and the first difference."""
    text = written(seed)
    lines = [*text.lines]
    yours, ours = CallRun(torch), CallRun(glassgrad)
    try:
        for line in lines:
            if found := compared(yours, ours, line):
                found = parsed(*found)
                is_known = is_free(lines, *found) or (all(ours.told) and tells_another_fault(text, ours.told))
                return lines, None if is_known else found
        for line in back(yours.pool, seed % 3 == 0):
            lines.append(line)
            if found := difference(yours, ours, line):
                return lines, None if is_free(lines, *found) else found
    except Ended:
        pass
    return lines, None


def back(pool: dict[str, Any], is_twice: bool) -> Iterator[str]:
    """The ways back from all results, and the ways back from those."""
    wanted = [name for name, tensor in pool.items() if tensor.is_leaf and tensor.requires_grad]
    for name in [name for name, tensor in pool.items() if name.startswith("r") and tensor.requires_grad][:20]:
        yield f"{name}.abs().sum().backward(retain_graph=True)"
        for leaf in wanted * is_twice:
            square = f"({name} * {name}).abs().sum()"
            yield f"g = torch.autograd.grad({square}, {leaf}, create_graph=True, allow_unused=True)[0]"
            yield "if g is not None and g.requires_grad: g.abs().sum().backward(retain_graph=True)"


def main() -> None:
    """Run many, and print what differs."""
    parser = counts.options(__doc__, 1000)
    parser.add_argument("--sorts", default="", help="a pattern of the sorts to print")
    options = parser.parse_args()
    sorts: Counter[str] = Counter()
    calls = ended = 0
    samples()  # here, for every child
    names = set()
    for seed, seen, code in counts.outlived(counts.asked(options), drawn):
        calls += 1
        if code:
            own = counts.ender() != "torch"
            ended += not own
            if own:
                sorts["ends"] += 1
                print(f"\n# {seed}: ends the process with {code}", *written(seed).lines, sep="\n", flush=True)
            continue
        lines, found = seen
        names.add(next(line for line in lines if line.startswith("r = ")).partition("(")[0])
        if found:
            sorts[found[0]] += 1
            if re.search(options.sorts, found[0]):
                print(f"\n# {seed}: {found[0]}", *lines, f"#   {found[1][:600]}", sep="\n", flush=True)
    differ = f"{sum(sorts.values())} differ {dict(sorts)}"
    print(f"{calls:,} calls of {len(names)} names, {differ}, {ended} end PyTorch's process")


if __name__ == "__main__":
    main()
