"""A sample call of every operation, each argument replaced by what it is not, in both engines: what is refused, how.

``python -m tests.property.replaced_arguments --count 2000 --seed 1`` takes so many samples and prints each call that
differs, and how many do by what was replaced.
"""

from __future__ import annotations

import ast
import random
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import glassgrad
from tests import counts
from tests.property.changed_calls import ENDS, CallRun, Text, Unwritten, is_free, parameters, parsed, refusal, samples
from tests.property.random_programs import Ended, compared
from tests.torch_reference import torch

#: What stands in the place of an argument, by what that is; {} is the argument.
INSTEAD = {
    "tensor": ["None", "2", "True", "'x'", "{}.tolist()", "{}.detach().numpy()", "{}.reshape(-1)[0]", "{}[:0]", "[{}]"],
    "int": ["None", "True", "2**63", "-1", "torch.tensor({})", "np.int64({})", "float({})", "'x'", "[{}]", "1j"],
    "bool": ["None", "1", "0.5", "torch.tensor({})", "np.bool_({})", "'x'"],
    "float": ["None", "True", "float('inf')", "float('nan')", "1j", "torch.tensor({})", "np.float64({})", "'x'"],
    "complex": ["None", "2", "'x'", "torch.tensor({})"],
    "str": ["None", "2", "True", "'x'"],
    "list": ["None", "2", "True", "'x'", "[*{}, 1]", "{}[1:]", "()", "[*map(float, {})]", "[*map(torch.tensor, {})]",
             "torch.tensor({})", "np.array({})", "[-1] * len({})", "[True] * len({})"],
    "tensors": ["None", "2", "'x'", "()", "[*{}, None]", "[*{}, 2]", "iter({})", "{}[0]"],
    "dtype": ["None", "'float32'", "float", "2"],
}  # fmt: skip


def kind_of(node: ast.expr) -> str:
    """What sort of argument an expression is."""
    if isinstance(node, ast.Name):
        return "tensor"
    if isinstance(node, ast.Attribute):
        return "dtype"
    if isinstance(node, ast.List | ast.Tuple):
        return "tensors" if any(kind_of(part) == "tensor" for part in node.elts) else "list"
    try:
        value = ast.literal_eval(node)
    except ValueError:
        return ""
    return type(value).__name__ if type(value).__name__ in INSTEAD else ""


def calls(line: str) -> Iterator[tuple[str, str]]:
    """The same call with one argument replaced, and what was done."""
    tree = ast.parse(line)
    call: Any = tree.body[0].value  # type: ignore[attr-defined]
    for holder, key, old in [
        *((call.args, number, old) for number, old in enumerate(call.args)),
        *((keyword, "value", keyword.value) for keyword in call.keywords),
    ]:
        kind = kind_of(old)
        for text in INSTEAD.get(kind, ()):
            new = ast.parse(text.replace("{}", f"({ast.unparse(old)})"), mode="eval").body
            _put(holder, key, new)
            yield f"{kind} as {text}", ast.unparse(tree)
        _put(holder, key, old)
    path = ast.unparse(call.func)
    names = parameters(path.partition(".")[2]) if path.startswith("torch.") else []
    more = [("misspelt", "kepdim=True"), ("out None", "out=None")]
    if call.args and names:
        more.append(("given twice", f"{names[0]}={ast.unparse(call.args[0])}"))
    for what, text in more:
        yield what, f"{line[:-1]}{', ' if line[-2] != '(' else ''}{text})"
    positional = ", ".join([*map(ast.unparse, call.args), *["None"] * 14])
    yield "too many", f"r = {path}({positional})"


def _put(holder: Any, key: Any, value: Any) -> None:
    if isinstance(holder, list):
        holder[key] = value
    else:
        setattr(holder, key, value)


def programs(seed: int) -> Iterator[tuple[str, list[str]]]:
    """The replaced calls of a sample."""
    chance = random.Random(seed)
    names = [name for name in samples() if "__" not in name]  # which Python calls
    sample = chance.choice(samples()[names[seed % len(names)]])
    try:
        lines = Text(chance.getrandbits(32), sample).lines
    except Unwritten:
        return
    if any(refusal(lines)):  # which may be written in place where it has no history
        lines = [line for line in lines if "requires_grad_" not in line]
    for what, line in calls(lines[-1]):
        if not ENDS.search(line):
            yield what, [*lines[:-1], line]


def run(lines: list[str]) -> tuple[str, str] | None:
    """The first difference."""
    yours, ours = CallRun(torch), CallRun(glassgrad)
    for each in yours, ours:
        each.do("import numpy as np")
    try:
        for line in lines:
            if found := compared(yours, ours, line):
                found = parsed(*found)
                return None if is_free(lines, *found) else found
    except Ended:
        pass
    return None


def look(seed: int) -> list[tuple[str, list[str], tuple[str, str]]]:
    """What differs of a sample's calls."""
    return [(what, lines, found) for what, lines in programs(seed) if (found := run(lines))]


def main() -> None:
    """Run many, and print what differs."""
    parser = counts.options(__doc__, len(samples()))
    parser.add_argument("--sorts", default="", help="a pattern of the sorts to print")
    options = parser.parse_args()
    sorts: Counter[str] = Counter()
    tried = ended = 0
    for seed, seen, code in counts.outlived(counts.asked(options), look):
        every = [*programs(seed)]
        tried += len(every)
        if code:  # call by call, each in a child
            ended += 1
            print(f"\n# {seed}: ends the process with {code}", *every[0][1], sep="\n", flush=True)
            continue
        for what, lines, found in seen:
            sorts[f"{found[0]:8} {what}"] += 1
            if re.search(options.sorts, found[0]):
                print(f"\n# {seed}: {found[0]}, {what}", *lines, f"#   {found[1][:600]}", sep="\n", flush=True)
    for sort, count in sorts.most_common():
        print(f"{count:6} {sort}")
    print(f"{tried:,} calls, {sum(sorts.values())} differ, {ended} samples end the process")


if __name__ == "__main__":
    main()
