"""Formulas, floor 8: what a graph computes and its derivatives as sums over paths, in LaTeX with amsmath alone."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..walk import snake
from .scene import CUT, INPUT, LEAF, OUTPUT, Scene, finite, number

if TYPE_CHECKING:
    from ..paths import Path, PathSum

MOST = 6  # paths written out; the others are counted
FACTORS = 12  # of a product; the middle of a longer one is left out
WIDE = 60  # letters in a line of a sum
LEAVES = 20  # whose derivatives are written
EQUATIONS = 60  # of the forward pass
OPERANDS = 12  # of one operation
RESULT = "y"  # a result without a name
GREEK = {
    "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu", "nu", "xi",
    "pi", "rho", "sigma", "tau", "upsilon", "phi", "chi", "psi", "omega",
}  # fmt: skip
SIGNS = {"Add": "+", "Sub": "-", "Mul": r"\cdot", "Dot": r"\cdot"}
FUNCTIONS = {
    "Sin": r"\sin", "Cos": r"\cos", "Tan": r"\tan", "Sinh": r"\sinh", "Cosh": r"\cosh", "Tanh": r"\tanh",
    "Exp": r"\exp", "Log": r"\log", "Max": r"\max", "Min": r"\min", "Asin": r"\arcsin", "Acos": r"\arccos",
    "Atan": r"\arctan",
}  # fmt: skip
FRAME = r"""\documentclass{article}
\usepackage{amsmath}
\begin{document}
%s
\end{document}
"""


def document(parts: str) -> str:
    """A whole file around formulas, which LaTeX compiles; between its ``document`` lines stands what a paper takes."""
    return FRAME % parts.strip()


def symbol(name: str) -> str:
    r"""A name as a formula writes it: ``w1`` as ``w_{1}``, ``alpha`` as ``\alpha``, longer ones upright."""
    plain = _ascii(name)
    parts = re.fullmatch(r"\\?([A-Za-z]+)_?(\d*)", plain)
    if parts and (len(parts[1]) == 1 or parts[1] in GREEK):
        base = rf"\{parts[1]}" if parts[1] in GREEK else parts[1]
        return f"{base}_{{{parts[2]}}}" if parts[2] else base
    return rf"\mathrm{{{escaped(plain)}}}"


def _ascii(text: str) -> str:
    """The text in letters that every LaTeX has: Greek ones by their names, others by their numbers."""
    return "".join(
        letter if letter.isascii() else _greek(letter) or f"U+{ord(letter):04X}"
        for letter in unicodedata.normalize("NFKD", text)
        if not unicodedata.combining(letter)
    )


def _greek(letter: str) -> str:
    """The name of a Greek letter; empty for another."""
    words = unicodedata.name(letter, "").lower().split()
    return words[-1] if words[:3] == ["greek", "small", "letter"] and words[-1] in GREEK else ""


def escaped(text: str) -> str:
    """The text with all that means something in LaTeX written so that it means itself."""
    special = {"\\": r"{\backslash}", "~": r"{\sim}", "^": r"{\wedge}", " ": r"\ ", "-": "{-}"}
    special |= {c: rf"\{c}" for c in "{}$&#_%"}
    return "".join(special.get(c) or (c if c.isprintable() else "?") for c in _ascii(text))


def figure(text: str) -> str:
    """A number, or a row of them, as a formula writes it."""
    text = text.strip()
    if text in ("nan", "inf", "-inf"):
        return {"nan": r"\mathrm{NaN}", "inf": r"\infty", "-inf": r"-\infty"}[text]
    if (parts := re.fullmatch(r"(-?[\d.]+)e([+-]?\d+)", text)) is not None:
        return rf"{parts[1]} \cdot 10^{{{int(parts[2])}}}"
    if text.startswith("[") and text.endswith("]"):
        return rf"({', '.join(figure(part) for part in text[1:-1].split(','))})"
    return text if finite(text) is not None else rf"\mathrm{{{escaped(text)}}}"


def factor(text: str) -> str:
    """The same as one factor of a product: a negative number in brackets."""
    drawn = figure(text)
    return f"({drawn})" if drawn.startswith("-") else drawn


def product(factors: Sequence[str], sign: str = r"\cdot") -> str:
    """Factors times each other; of very many the first and the last."""
    return f" {sign} ".join(shortened(factors)) or "1"


def shortened(factors: Sequence[str]) -> list[str]:
    """The factors, of very many the first and the last."""
    return [*factors[:4], r"\cdots", *factors[-4:]] if len(factors) > FACTORS else list(factors)


def added(terms: Sequence[str], more: int = 0) -> str:
    """Terms of a sum, each in a line of its own where they are long."""
    terms = [*terms, rf"\text{{({more:,} more)}}".replace(",", "{,}")] if more else list(terms)
    apart = r" \\ & \quad + " if sum(map(breadth, terms)) > WIDE else " + "
    return apart.join(terms)


def breadth(formula: str) -> float:
    """About how many letters wide a formula is printed."""
    letters = re.sub(r"\\d?frac\{((?:[^{}]|\{[^{}]*\})*)\}", "", formula)  # a fraction is as wide as what is below
    return len(re.sub(r"\\[a-zA-Z]+|[{}_ \\]", "", letters))


def derivative(of: str, by: str) -> str:
    """The fraction of a derivative, of symbols."""
    return rf"\frac{{\partial {of}}}{{\partial {by}}}"


def related(head: str, rows: Sequence[str]) -> str:
    """A derivative and what it equals, row by row; what rounded numbers give is about equal."""
    lines = []
    for i, row in enumerate(rows):
        digits = [decimal.replace(".", "").lstrip("0") for decimal in re.findall(r"\d*\.\d+", row)]
        sign = r"\approx" if any(len(known) > 3 for known in digits) else "="
        lines.append(f"{'' if i else head} &{sign} {row}")
    return aligned(lines)


def aligned(lines: Sequence[str]) -> str:
    """Formulas below each other."""
    return "\\begin{align*}\n" + " \\\\\n".join(f"  {line}" for line in lines) + "\n\\end{align*}"


# of what `paths` gives


def of_paths(result: PathSum) -> str:
    """A sum over paths: by the names of its factors, by their numbers, and what each path comes to."""
    root, end = (symbol(name) if " " not in name else RESULT for name in (result.root, result.end))
    head = derivative(root, end)
    if not result.count:
        return aligned([rf"{head} &= 0 \qquad \text{{(no path)}}"])
    shown = result.paths[:MOST]
    more = result.count - len(shown)
    rows = any(step.local is not None and step.local.dim() for path in shown for step in path.steps)
    sign = r"\odot" if rows else r"\cdot"  # element by element
    named = any(step.symbol for path in shown for step in path.steps)
    lines = [added([product(_factors(path, True), sign) for path in shown], more)] if named else []
    lines.append(added([product(_factors(path, False), sign) for path in shown], more))
    values = [factor(_value(path.value)) for path in shown]
    long = any(len(path.steps) > 1 for path in shown) and not more
    return summed(head, lines, values if long else [], figure(_value(result.total)))


def summed(head: str, rows: list[str], terms: list[str], total: str) -> str:
    """A derivative as ``rows``, then what each path comes to, where there are several, and the total, if it is new."""
    rows += [added(terms)] if len(terms) > 1 else []
    return related(head, rows + ([total] if rows[-1] != total else []))


def _factors(path: Path, by_name: bool) -> list[str]:
    factors = []
    for step in path.steps:
        if by_name and step.symbol:
            factors.append(symbol(step.symbol))
        elif step.local is None:
            factors.append(rf"J_{{\mathrm{{{escaped(step.operation)}}}}}")
        else:
            factors.append(factor(str(step)))
    return factors


def _value(value: Any) -> str:
    from ..paths import value_text

    return value_text(value)


# of a graph that was read


def of_scene(scene: Scene) -> str:
    """What the forward pass computed, operation by operation, and the derivative of the output by each leaf."""
    names = _names(scene)
    forward = [_equation(scene, box, names) for box in scene.data["build"] if box in names and scene.into[box]]
    forward = [line for line in forward if line]
    parts = []
    if forward:
        rest = len(forward) - EQUATIONS
        more = [rf"& \;\;\vdots \quad \text{{({rest} more)}}"] if rest > 0 else []
        parts.append(aligned(forward[:EQUATIONS] + more))
    roots = [box for box, kind in enumerate(scene.kind) if kind == OUTPUT]
    leaves = [box for box in scene.data["build"] if scene.kind[box] == LEAF and scene.boxes["first"][box] < 0]
    for root in roots[:1]:
        parts += [line for leaf in leaves[:LEAVES] if (line := _derivative(scene, root, leaf, names))]
    return "\n".join(parts) or aligned([r"\text{(nothing to derive)}"])


def _names(scene: Scene) -> dict[int, str]:
    """The symbols of boxes: the names of leaves and outputs, v1, v2 ... for what lies between."""
    names: dict[int, str] = {}
    taken = 0
    for box in scene.data["build"]:
        kind = scene.kind[box]
        if kind == CUT:
            continue
        if kind == INPUT:
            own, value = scene.text(scene.boxes["name"][box]), scene.text(scene.boxes["value"][box])
            names[box] = symbol(own) if own else figure(value) if finite(value) is not None else r"\cdot"
        elif kind == OUTPUT and scene.into[box]:
            source = scene.arrows["src"][scene.into[box][0]]
            own = scene.text(scene.boxes["name"][box])  # an output is the result of the last operation
            names[source] = names[box] = symbol(own) if own else RESULT
        elif kind == LEAF:
            first = scene.boxes["first"][box]
            own = scene.text(scene.boxes["name"][box])
            names[box] = symbol(own) if own else rf"\ell_{{{box if first < 0 else first}}}"
        else:
            taken += 1
            names[box] = f"v_{{{taken}}}"
    return names


def _equation(scene: Scene, box: int, names: dict[int, str]) -> str:
    if scene.kind[box] == OUTPUT:
        return ""
    inputs = [a for a in scene.into[box] if scene.kind[scene.arrows["src"][a]] == INPUT]
    into = [a for a in scene.into[box] if a not in inputs]
    operands = {scene.arrows["slot"][a]: names.get(scene.arrows["src"][a], "?") for a in into}
    family = scene.name(box)
    attributes = dict(scene.data["details"].get(box, {}).get("attrs", ()))
    if len(operands) == len(inputs) == 1 and family in (*SIGNS, "Mm", "Div"):
        operands[1 - min(operands)] = names[scene.arrows["src"][inputs[0]]]
    last = max(operands)
    known = [operands.get(slot, r"\cdot") for slot in range(min(last + 1, OPERANDS))]
    if last >= OPERANDS:
        known += [r"\dots", operands[last]]
    sign = SIGNS.get(family)
    if sign and len(operands) == 2 and set(operands) == {0, 1} and attributes.get("alpha", "1") in ("1", "1.0"):
        text = f"{known[0]} {sign} {known[1]}"
    elif family == "Mm" and len(operands) == 2:
        text = f"{known[0]} {known[1]}"
    elif family == "Div" and set(operands) == {0, 1}:
        text = rf"\frac{{{known[0]}}}{{{known[1]}}}"
    elif family == "Neg":
        text = f"-{known[0]}"
    elif family == "Pow" and len(operands) == 1 and finite(attributes.get("exponent", "")) is not None:
        text = f"{known[0]}^{{{figure(attributes['exponent'])}}}"
    else:
        function = FUNCTIONS.get(family) or rf"\operatorname{{{escaped(snake(family))}}}"
        if len(known) == 1 and family in ("Add", "Sub", "Mul", "Div", "Pow", "Rsub"):
            known.append(r"\cdot")  # a number, which the graph does not name
        text = rf"{function}({', '.join(known)})"
    value = scene.text(scene.boxes["value"][box])
    return f"{names[box]} &= {text}" + (f" = {figure(value)}" if value and len(value) <= 24 else "")


def _derivative(scene: Scene, root: int, leaf: int, names: dict[int, str]) -> str:
    """The derivative by one leaf: by the chain rule along each path, in numbers where they are known."""
    first = scene.copies[leaf]
    onward = _ways_to(scene, set(first))
    if not onward[root]:
        return ""
    routes = _routes(scene, root, set(first), onward)
    more = onward[root] - len(routes)
    lines, numbers = [], []
    for route in routes:
        steps = [arrow for arrow in route if scene.kind[scene.arrows["dst"][arrow]] != OUTPUT]
        chain = [
            derivative(names.get(scene.arrows["dst"][a], "?"), names.get(scene.arrows["src"][a], "?")) for a in steps
        ]
        lines.append(" ".join(shortened(chain)) or "1")
        numbers.append([scene.local(arrow) for arrow in steps])
    head = derivative(names[root], names[first[0]])
    rows = [added(lines, more)]
    if rows[0] == head:
        rows = []
    if not more and all(all(finite(value) is not None for value in factors) for factors in numbers):
        terms = [1.0] * len(numbers)
        for n, factors in enumerate(numbers):
            for value in factors:
                terms[n] *= float(value)
        rows.append(added([product([factor(value) for value in factors]) for factors in numbers]))
        known = scene.arrived(first[0]) if finite(scene.arrived(first[0])) is not None else number(sum(terms))
        values = [factor(number(term)) for term in terms] if max(map(len, numbers)) > 1 else []
        return summed(head, rows, values, figure(known))
    return related(head, rows or [r"\text{unknown}"])


def _ways_to(scene: Scene, ends: set[int]) -> list[int]:
    """How many paths lead from each box back to some of the boxes ``ends``."""
    counts = [int(box in ends) for box in range(len(scene.kind))]
    for box in scene.data["build"]:  # each after all it was made from
        if box not in ends:
            counts[box] = sum(counts[scene.arrows["src"][a]] for a in scene.into[box] if not scene.arrows["kind"][a])
    return counts


def _routes(scene: Scene, root: int, ends: set[int], onward: list[int]) -> list[list[int]]:
    """The first paths from ``root`` to ``ends``, as arrows; first operands first."""
    routes: list[list[int]] = []
    waiting: list[tuple[int, Any]] = [(root, None)]
    while waiting and len(routes) < MOST:
        box, trail = waiting.pop()
        if box in ends:
            route = []
            while trail is not None:
                trail, arrow = trail
                route.append(arrow)
            routes.append(route[::-1])
            continue
        by_slot = sorted(scene.into[box], key=lambda arrow: scene.arrows["slot"][arrow], reverse=True)
        for arrow in by_slot:
            if not scene.arrows["kind"][arrow] and onward[scene.arrows["src"][arrow]]:
                waiting.append((scene.arrows["src"][arrow], (trail, arrow)))
    return routes
