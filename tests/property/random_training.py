"""Random networks with random settings, trained a few steps in both engines, line by line: values, nodes, gradients.

Layers, losses, optimizers, schedules, hooks, what ``nn.utils`` does to modules, copies and files of them, transforms,
checkpoints, autocast.  ``python -m tests.property.random_training --count 2000 --seed 1`` runs so many and prints of
each that differs the shortest part that still does, as a script.
"""

from __future__ import annotations

import importlib
import random
import re
import time
from collections import Counter
from typing import Any

import numpy as np

import glassgrad
from tests import counts
from tests.programs.record import clean
from tests.property.conditioning import is_rounding, numbers
from tests.property.excused import TRAINED, faults, reason
from tests.property.random_programs import Run, differ
from tests.property.training_lines import (
    BETWEEN,
    FIELDS,
    LAYERS,
    LOSSES,
    MODULES,
    OPENING,
    OPTIMIZERS,
    OWN_LAYERS,
    SCHEDULES,
    TOKENS,
    WRITTEN,
    WRITTEN_PLANES,
    WRITTEN_ROWS,
)
from tests.torch_reference import torch

SHAPES = [(4, 3), (1, 3), (3, 4), (2, 2, 4), (2, 3, 4), (3, 4, 2), (2, 4, 6), (2, 2, 4, 4), (2, 4, 3, 4)]
SHAPES.append((2, 2, 3, 4, 4))
DTYPES = ["float64"] * 6 + ["float32", "float32", "bfloat16"]
PRECISION = {"float64": 1e-7, "float32": 2e-3, "bfloat16": 6e-2, "float16": 1e-2}


def _parts(text: str) -> list[str]:
    return [part for part in re.split(r"[|\n]", text.strip()) if part]


#: The definitions of modules and functions of one's own, by each of the names that they define.
DEFINED = {
    name: text + "".join(f"\ntorch.nn._{each} = {each}" for each in names)  # an underscore: no public name
    for text in MODULES.strip().split("\n\n")
    if (names := re.findall(r"^class (\w+)", text, re.M))
    for name in names
}


class Draw:
    """Draws the lines of a program, by what PyTorch made of the lines before."""

    def __init__(self, seed: int, run: TrainingRun) -> None:
        self.chance, self.run = random.Random(seed), run
        self.seed = seed

    def filled(self, text: str, **given: str) -> str:
        """A template with a value in the place of each field."""

        def value(field: re.Match[str]) -> str:
            if field[1] in given:
                return given[field[1]]
            return self.filled(self.chance.choice(FIELDS[field[1]].split()), **given)

        return re.sub(r"\{(\w+)\}", value, text)

    def beginning(self) -> list[str]:
        """The input, and the dtype of all."""
        chance = self.chance
        self.dtype, self.shape = chance.choice(DTYPES), chance.choice(SHAPES)
        self.forward, self.layers = "x", list[str]()
        self.is_tokens = chance.random() < 0.12
        made = f"torch.randn{self.shape}.to(torch.{self.dtype})"
        if self.is_tokens:
            made = f"torch.randint(0, 6, {self.shape[:2]})"
        elif chance.random() < 0.1 and len(self.shape) == 4:  # PyTorch's GroupNorm crashes where none is required
            made += ".contiguous(memory_format=torch.channels_last).requires_grad_()"
        lines = [*OPENING.strip().split("\n"), f"torch.manual_seed({self.seed})", f"x = {made}"]
        return [*lines, "x.requires_grad_()"] if chance.random() < 0.4 and not self.is_tokens else lines

    def layer(self) -> list[str]:
        """Another layer behind those there are, and its result."""
        chance = self.chance
        h = self.run.scope["h" if self.layers else "x"]
        sizes = tuple(h.shape)
        templates = _parts(LAYERS.get(len(sizes), "Flatten()"))
        if len(sizes) > 1 and chance.random() < 0.2:
            templates = _parts(OWN_LAYERS)
        if self.is_tokens and not self.layers:
            templates = _parts(TOKENS)
        if h.is_floating_point() and (chance.random() < 0.35 or not templates):
            templates = ["{act}"] if chance.random() < 0.6 else _parts(WRITTEN)
            templates += _parts(WRITTEN_ROWS) * (len(sizes) > 2) + _parts(WRITTEN_PLANES) * (len(sizes) == 4)
        text, _, use = chance.choice(templates).partition("$")
        name = f"l{len(self.layers)}"
        more = {"f": str(sizes[-1]), "c": str(sizes[1]), "r": str(max(len(sizes) - 2, 1))} if len(sizes) > 1 else {}
        more = more or {"f": "1", "c": "1", "r": "1"}
        self.before = self.forward, [*self.layers]
        made = self.filled(text or "Identity()", **more)
        use = self.filled(use or "{l}({h})", l=name, h="{h}", **more)
        self.layers.append(name)
        self.forward = use.replace("{h}", self.forward if self.forward.isidentifier() else f"({self.forward})")
        done = use.replace("{h}", "h" if len(self.layers) > 1 else "x")
        own = dict.fromkeys(DEFINED[each] for each in re.findall(r"\b_?([A-Z]\w+)", made + use) if each in DEFINED)
        return [*own, f"{name} = torch.nn.{made}.to(torch.{self.dtype}); h = {done}"]  # lazy ones are used at once

    def undo(self) -> None:
        """Forget the layer drawn last."""
        self.forward, self.layers = self.before

    def ending(self) -> list[str]:
        """The loss, the optimizer, its schedule, and steps with what happens between."""
        chance = self.chance
        lines = [f"model = torch.nn.Sequential({', '.join(self.layers)})", f"forward = lambda x: {self.forward}"]
        loss, _, sort = chance.choice(_parts(LOSSES)).partition("~")
        sizes = tuple(self.run.scope["h"].shape)
        height = sizes[0] if len(sizes) > 1 else 1
        width = int(np.prod(sizes)) // max(height, 1)
        both = f"{height}, {width}"
        targets = {
            "x": f"torch.rand({both}).to(torch.{self.dtype})", "c": f"torch.randint(0, {max(width, 1)}, ({height},))",
            "p": f"torch.rand({both}).to(torch.{self.dtype}).softmax(1)", "s": f"torch.randn({both}).sign()",
            "l": f"torch.randint(-1, {max(width, 1)}, ({both}))",
            "k": f"torch.randint({min(1, width - 1)}, {width}, (1, {max(height // 2, 1)}))",
            "a": f"torch.randint(0, 5, ({height},))",
        }  # fmt: skip
        lines.append(f"criterion = torch.nn.{self.filled(loss, f=str(width))}.to(torch.{self.dtype})")
        lines.append(f"t = {targets.get({'q': 'c', 'o': 'c'}.get(sort, sort), targets['x'])}")
        given = {
            "g": "y, t, t + 0.1", "t": "y, t, t.flip(0)", "e": "y, t, torch.ones(len(y))",
            "r": "y, t, t.round() * 2 - 1", "a": "y, t", "h": "y.softmax(-1), t.expand_as(y)", "m": "y.sigmoid(), t",
            "k": "y.log_softmax(-1)[:, None], t, (len(y),), (t.size(1),)", "q": "y.mT[None], t[None]",
            "o": "y.log_softmax(1).mT.contiguous()[None, :, None], t[None, None]",
            "u": "y.log_softmax(1), t.softmax(1)",
        }  # fmt: skip
        called = f"criterion({given.get(sort, 'y, t')})" + ".loss" * (sort == "a")
        if sort == "v":
            called = "torch.nn.functional.mse_loss(y, t, weight=t)"
        value = f"(lambda y: {called})(forward(x).reshape({both})).mean()"
        name, _, settings = chance.choice(_parts(OPTIMIZERS)).partition("(")
        opened = f"opt = torch.optim.{name}(model.parameters(), {self.filled(settings)}"
        lines.append(opened)
        has_schedule = chance.random() < 0.4
        if has_schedule:
            lines.append(f"plan = torch.optim.lr_scheduler.{self.filled(chance.choice(_parts(SCHEDULES)))}")
        around = "with torch.autocast('cpu', torch.bfloat16): " * (chance.random() < 0.15)
        for _ in range(chance.randint(1, 3)):
            for _ in range(chance.choice([0, 0, 1, 2])):
                l, j = chance.choice(self.layers), chance.choice(self.layers)  # noqa: E741
                names = "".join(f"{layer}, " for layer in self.layers)
                lines.append(self.filled(chance.choice(_parts(BETWEEN)), l=l, j=j, all=names))
            if name == "LBFGS":
                # of a straight line, rounding decides where the search for its lowest point ends
                curved = f"{value} + sum(p.square().sum() for p in model.parameters())"
                lines.append(f"def closure(): opt.zero_grad(); loss = {curved}; loss.backward(); return loss")
                lines.append("loss = opt.step(closure)")
            else:
                lines += ["opt.zero_grad()", f"{around}loss = {value}", "loss.backward()"]
                if chance.random() < 0.2:
                    lines.append(self.filled("n = torch.nn.utils.clip_grad_norm_(model.parameters(), {n})"))
                lines.append("opt.step()")
            if has_schedule:
                lines.append(f"plan.step({'loss' * ('Plateau' in lines[lines.index(opened) + 1])})")
        return lines


class TrainingRun(Run):
    """A program in one engine; the parameters, buffers and the state of the optimizer have names of their own."""

    def __init__(self, engine: Any) -> None:
        super().__init__(engine)
        # PyTorch's compiler, once any of its parts is imported, leaves parameters unchecked for good
        engine.distributions.Distribution.set_default_validate_args(True)
        self.is_lost = False  # whether a line asked for what there is not
        self.scope["plans"] = engine.optim.lr_scheduler
        for name in ("prune", "parametrize", "parametrizations", "rnn"):
            self.scope[name] = importlib.import_module(f"{engine.__name__}.nn.utils.{name}")

    def do(self, line: str) -> tuple[str, str]:
        """Run a line; see ``Run.do``."""
        said = super().do(line)
        if said[0] == "SyntaxError":
            raise SyntaxError(line)  # of a template, which would try nothing
        self.is_lost |= said[0] == "NameError"
        self.is_refused = bool(said[0])
        return said

    @property
    def pool(self) -> dict[str, Any]:
        """All tensors by their names."""
        found = super().pool
        modules = {name: value for name, value in self.scope.items() if isinstance(value, self.engine.nn.Module)}
        for name, module in modules.items():
            if name in ("model", "mean", "judge"):
                found |= {f"{name}.{key}": value for key, value in module.state_dict(keep_vars=True).items()}
        if "opt" in self.scope:
            params = [param for group in self.scope["opt"].param_groups for param in group["params"]]
            for place, param in enumerate(params):
                state = self.scope["opt"].state.get(param, {})
                found |= {f"opt.{place}.{key}": value for key, value in state.items()}
            for place, group in enumerate(self.scope["opt"].param_groups):
                found[f"lr{place}"] = self.engine.as_tensor(group["lr"], dtype=self.engine.float64)
        tensors = {key: value for key, value in found.items() if isinstance(value, self.engine.Tensor)}
        return {key: value for key, value in tensors.items() if not hasattr(value, "materialize")}  # lazy ones, as yet

    def said(self) -> str:
        """What a line left to be read."""
        return clean(self.scope.get("said"))


def difference(yours: TrainingRun, ours: TrainingRun, line: str) -> tuple[str, str] | None:
    """What sort of difference a line makes between two runs, and its description."""
    wanted, actual = yours.do(line), ours.do(line)
    if bool(wanted[0]) != bool(actual[0]):
        return "taken" if wanted[0] else "refused", f"{wanted} {actual}"
    if wanted[0]:
        if wanted[0] != actual[0]:
            return "type", f"{wanted} {actual}"
        told = [faults(words) for _, words in (wanted, actual)]
        several = all(told) and told[0].isdisjoint(told[1])  # which of several faults is told
        same = wanted[1] == actual[1] or wanted[0] == "TypeError" or several
        return None if same else ("words", f"{wanted[1]} {actual[1]}")
    if yours.said() != ours.said():
        return "said", f"{yours.said()} {ours.said()}"
    their_pool, my_pool = yours.pool, ours.pool
    if their_pool.keys() != my_pool.keys():
        return "results", f"{[*their_pool]} {[*my_pool]}"
    coarsest = max([PRECISION.get(str(value.dtype)[6:], 0.0) for value in their_pool.values()], default=0.0)
    if rounded := computed_in(yours.done):
        coarsest = PRECISION[rounded]
    for name, theirs in their_pool.items():
        mine = my_pool[name]
        left, right = about(theirs), about(mine)
        if [*left[:3], *left[4:]] != [*right[:3], *right[4:]]:
            return "about", f"{name}: {left} {right}"
        if left != right and name not in yours.slopes and not reason("node", f"{left} {right}", [], TRAINED):
            return "node", f"{name}: {left} {right}"
        pairs = [("", theirs.detach(), mine.detach())]
        if theirs.is_leaf and theirs.grad is not None:
            pairs.append((".grad", theirs.grad, mine.grad))
        for part, a, b in pairs:
            if a.is_sparse != b.is_sparse:
                return "sparse", f"{name}{part}: {a.is_sparse} {b.is_sparse}"
            if a.is_sparse:
                a, b = a.to_dense(), b.to_dense()  # noqa: PLW2901
            if a.numel() and not a.is_inference() and a.dtype != torch.uint8 and differ(a, b, coarsest):
                return f"numbers{part}", f"{name}{part}: {numbers(a).tolist()} {numbers(b).tolist()}"
    return None


def computed_in(lines: list[str]) -> str:
    """The name of the dtype that a program computes in, whatever its tensors are; empty where there is none."""
    return "bfloat16" * any("autocast" in line for line in lines)


def about(tensor: Any) -> list[Any]:
    """All of a tensor that is not its numbers."""
    grad = tensor.grad if tensor.is_leaf else None
    node = tensor.grad_fn
    seen = [str(tensor.dtype), tuple(tensor.shape), tensor.requires_grad, None if node is None else type(node).__name__]
    return [*seen, None if grad is None else (str(grad.dtype), tuple(grad.shape))]


def drawn(seed: int) -> tuple[list[str], tuple[str, str] | None, str]:
    """A random program up to its first difference, or the line that both refuse first; and that, or why it is none."""
    yours, ours = TrainingRun(torch), TrainingRun(glassgrad)
    draw = Draw(seed, yours)
    lines: list[str] = []
    for part in [draw.beginning, *[draw.layer] * draw.chance.randint(2, 5), draw.ending]:
        for line in part() if part != draw.ending or draw.layers else []:
            lines.append(line)
            if found := difference(yours, ours, line):
                lines, found = shortened(lines, found)
                why = reason(*found, lines, TRAINED)
                if not why and found[0].startswith(("numbers", "results")):
                    why = "rounding" * is_rounding(TrainingRun, glassgrad, lines, found, computed_in(lines))
                return lines, None if why else found, why
            if yours.is_lost:
                lines.pop()
                yours.is_lost = False
            elif part == draw.layer and yours.is_refused:  # another one, then
                lines.pop()
                draw.undo()
    return lines, None, ""


def shortened(lines: list[str], found: tuple[str, str]) -> tuple[list[str], tuple[str, str]]:
    """As few lines as still differ in that sort, as far as the time allows, and the difference."""
    end = time.monotonic() + counts.LONGEST / 3
    for place in reversed(range(len(lines) - 1)):
        if time.monotonic() > end:
            break
        fewer = lines[:place] + lines[place + 1 :]
        other = first_difference(fewer)
        if other and other[1][0] == found[0]:
            lines, found = fewer[: other[0] + 1], other[1]
    return lines, found


def first_difference(lines: list[str]) -> tuple[int, tuple[str, str]] | None:
    """The number of the line that makes the first difference, and that."""
    yours, ours = TrainingRun(torch), TrainingRun(glassgrad)
    for place, line in enumerate(lines):
        if found := difference(yours, ours, line):
            return None if yours.is_lost else (place, found)
    return None


def main() -> None:
    """Run many, and print what differs."""
    parser = counts.options(__doc__, 200)
    parser.add_argument("--sorts", default="", help="a pattern of the sorts to print")
    parser.add_argument("--ended", default=None, help="a pattern of the reasons to print programs of")
    options = parser.parse_args()
    sorts, reasons = Counter[str](), Counter[str]()
    programs = 0
    for seed, seen, code in counts.outlived(counts.asked(options), drawn):
        programs += 1
        if code:
            print(f"\n# {seed}: {counts.ender()} ends the process with {code}", flush=True)
            continue
        lines, found, ended = seen
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
