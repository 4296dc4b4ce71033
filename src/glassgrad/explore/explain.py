"""A graph read aloud in plain sentences, floor 8: glassgrad's or torch's, of which it imports neither."""

from __future__ import annotations

import html
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from .labels import Labels, NamedTensors, caller_names, callers_variables, family_of
from .read import as_loss, level_of
from .walk import SINK, in_words, is_opaque, op_name, snake, walk

__all__ = ["Reading", "explain"]

LONGEST = 60  # characters of an expression before it is called by its node instead
ATOM = 9  # how tightly a name or a call binds
PRECEDENCE = "Python does * and / before + and -, and operations of equal rank from left to right."
NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")

# operation: what it is called, its sign if it has one, and how tightly the sign binds
WORDS: dict[str, tuple[str, str, int]] = {
    "Add": ("the addition", "+", 1),
    "Sub": ("the subtraction", "-", 1),
    "Rsub": ("the subtraction", "-", 1),
    "Mul": ("the multiplication", "*", 2),
    "Div": ("the division", "/", 2),
    "Mm": ("the matrix product", "@", 2),
    "Mv": ("the product of matrix and vector", "@", 2),
    "Bmm": ("the batch of matrix products", "@", 2),
    "Dot": ("the dot product", "@", 2),
    "Pow": ("the power", "**", 3),
}

Texts = dict[Any, tuple[str, int]]  # node: the expression it computes, and how tightly that binds


@dataclass(frozen=True)
class Reading:
    """A graph in sentences: ``sections`` of a title and its sentences; ``str`` gives the whole text."""

    sections: tuple[tuple[str, tuple[str, ...]], ...]

    def __str__(self) -> str:
        return "\n\n".join(
            "\n".join([title, *(f"  {sentence}" for sentence in sentences)]) for title, sentences in self.sections
        )

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """The reading as a block for notebooks."""
        return f"<pre style='white-space:pre-wrap'>{html.escape(str(self))}</pre>"


def explain(y: Any, *, names: NamedTensors = None, params: NamedTensors = None, limit: int = 40) -> Reading:
    """The graph behind ``y``, read aloud: its arrows, its leaves, each operation in the order it was done, its root.

    ``names`` (or ``params``) maps names to tensors of the graph, results in between included; the caller's variables
    are known besides. ``y`` may also be what a model gave, with a ``loss`` in it.  At most ``limit`` leaves and
    ``limit`` operations are read.  Nothing in the graph changes.  TypeError for anything but a tensor.
    """
    variables = callers_variables()
    standing, y = _standing(y), as_loss(y, "explain")
    walked = walk([y])
    labels = Labels(walked, [*caller_names(names, params, "explain"), *variables])
    name = labels.name_of(y, "the result")
    if y.grad_fn is None:
        return Reading((*standing, _no_graph(y, name)))
    texts = _expressions(walked.nodes[::-1], labels)
    users: dict[Any, list[Any]] = defaultdict(list)
    for node in labels.operations:
        for following, _ in node.next_functions:
            if following is not None:
                users[following].append(node)
    leaves = sorted(labels.leaves, key=lambda leaf: _rank(labels, leaf))
    done = _capped([_operation(node, labels, texts) for node in labels.operations[:limit]], len(labels.operations))
    if len({WORDS[family][2] for family in map(family_of, labels.operations) if family in WORDS}) > 1:
        done = (PRECEDENCE, *done)
    read = [_leaf(leaf, labels, texts, users[leaf]) for leaf in leaves[:limit]]
    return Reading(
        (
            *standing,
            ("How to read this graph", _legend(name, labels, leaves, sum(map(len, users.values())))),
            ("The leaves", _capped(read, len(leaves))),
            ("The operations, in the order they were done", done),
            ("The root", (_root(y, name, labels),)),
        )
    )


def _rank(labels: Labels, leaf: Any) -> int:
    """Where the leaf stands among the names given; leaves without a name come last."""
    positions = (i for i, (_, tensor) in enumerate(labels.tensors) if tensor is leaf.variable)
    return next(positions, len(labels.tensors))


def _expressions(nodes: list[Any], labels: Labels) -> Texts:
    """What each node computes, inputs before their users; a long expression is called by its node."""
    texts: Texts = {}
    for node in nodes:
        if op_name(node) == SINK:
            texts[node] = labels[node], ATOM
            continue
        family = family_of(node)
        _, sign, strength = WORDS.get(family, ("", "", 0))
        operands = [_operand(node, slot, texts, labels) for slot in range(len(node.next_functions))]
        if family in ("Rsub", "Pow") and len(operands) == 1:
            operands.append((labels.operand(node, 1), ATOM))
        if family == "Rsub":
            operands.reverse()
        if sign and len(operands) == 2:
            (left, left_binds), (right, right_binds) = operands
            left = left if left_binds >= strength else f"({left})"
            right = right if right_binds > strength else f"({right})"
            text, binds = f"{left} {sign} {right}", strength
        else:
            text, binds = f"{snake(family)}({', '.join(text for text, _ in operands)})", ATOM
        texts[node] = (text, binds) if len(text) <= LONGEST else (f"[{labels[node]}]", ATOM)
    return texts


def _operand(node: Any, slot: int, texts: Texts, labels: Labels) -> tuple[str, int]:
    following, output = node.next_functions[slot]
    if following is None:
        return labels.operand(node, slot), ATOM
    name = labels.results.get((following, output))
    if name:
        return name, ATOM
    return (f"{texts[following][0]}[{output}]", ATOM) if following in labels.several else texts[following]


def _standing(y: Any) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """What a tensor is to the transforms of torch.func and the blocks of forward mode that it belongs to."""
    sentences = []
    while (level := level_of(y)) is not None:
        sentences.append(f"Level {level.number}, {level.says(y)}.")
        y = y.value
    return (("What transforms make of it", tuple(sentences)),) if sentences else ()


def _no_graph(y: Any, name: str) -> tuple[str, tuple[str, ...]]:
    if y.requires_grad:
        words = f"{_first(name)} is a leaf, {_size(y)}: you made it, no operation did, so there is no graph behind it."
    else:
        words = f"{_first(name)} needs no gradient, so no graph was recorded: nothing it was made of requires one."
    return "No graph", (words,)


def _legend(root: str, labels: Labels, leaves: list[Any], arrows: int) -> tuple[str, ...]:
    ends = _list(map(labels.__getitem__, leaves)) if 0 < len(leaves) <= 6 else _count(len(leaves), "leaf", "leaves")
    done = len(labels.operations)
    sentences = [
        f"It has {_count(len(leaves) + done, 'node')} ({_count(done, 'operation')}, "
        f"{_count(len(leaves), 'leaf', 'leaves')}) and {_count(arrows, 'arrow')}.",
        "An arrow points the way the forward pass went, from a value to the operation that used it. "
        f"backward() goes against the arrows, from the root ({root}) to the leaves ({ends}).",
        "A node named ...Backward stands for one operation that was done. It knows how to turn the gradient of its "
        "result into the gradients of its inputs.",
        "AccumulateGrad is no operation of the formula. It stands for a leaf, a tensor that you made with "
        "requires_grad=True: a backward pass ends there, by adding the gradient that arrives to the leaf's .grad.",
    ]
    repeated = {name: times for name, times in Counter(map(op_name, labels.operations)).items() if times > 1}
    if repeated:
        name, times = max(repeated.items(), key=lambda item: item[1])
        sentences.append(
            f"{name} occurs {_count(times, 'time')} because that operation was done {_count(times, 'time')}: every "
            "operation gets a node of its own. The numbers after # are those of graph_text() and of the page: they "
            "grow from the root, 0, to the leaves."
        )
    return tuple(sentences)


def _leaf(leaf: Any, labels: Labels, texts: Texts, users: list[Any]) -> str:
    name = labels[leaf]
    uses = _few([f"{labels[user]} ({texts[user][0]})" for user in users])
    start = f"{name} is a leaf, {_size(leaf.variable)}, with an AccumulateGrad."
    arrows, gradients = _first(_count(len(users), "arrow")), _count(len(users), "gradient")
    if len(users) == 1:
        return f"{start} {arrows} leaves it, to {uses}, because {name} is used there."
    return (
        f"{start} {arrows} leave it, to {uses}, because {name} is used there; "
        f"the {gradients} that come back are added up in {name}.grad."
    )


def _operation(node: Any, labels: Labels, texts: Texts) -> str:
    family = family_of(node)
    noun, sign, _ = WORDS.get(family, ("", "", 0))
    text = f"of a long expression, {snake(family)}" if texts[node][0].startswith("[") else texts[node][0]
    name = labels.results.get((node, 0)) if node not in labels.several else None
    sentence = f"{labels[node]} is {' '.join(filter(None, [noun, name and f'{name} =', text]))}."
    sources = [labels[following] for following, _ in node.next_functions if following is not None]
    if sources:
        reach = "reaches" if len(sources) == 1 else "reach"
        sentence += f" {_first(_count(len(sources), 'arrow'))} {reach} it, from {_few(sources)}."
    fixed = [labels.operand(node, slot) for slot, (n, _) in enumerate(node.next_functions) if n is None]
    if fixed and sign:
        sentence += f" None comes from {_list(fixed)}, which needs no gradient."
    return f"{sentence} {in_words(node)}" if is_opaque(node) else sentence


def _root(y: Any, name: str, labels: Labels) -> str:
    start = f"{_first(name)}, {_size(y)}, is what {labels[y.grad_fn]} gave: backward() starts there"
    if y.numel() == 1:
        return f"{start}, with the gradient 1."
    need = "so backward() must be given a gradient of that shape, such as ones"
    return f"{start}. It has {y.numel():,} elements, {need}."


def _size(tensor: Any) -> str:
    return f"a tensor of shape {list(tensor.shape)}" if tensor.dim() else "a single number"


def _count(number: int, noun: str, plural: str = "") -> str:
    word = NUMBERS[number] if number < len(NUMBERS) else f"{number:,}"
    return f"{word} {noun if number == 1 else plural or noun + 's'}"


def _list(words: Iterable[str]) -> str:
    *firsts, last = words
    return f"{', '.join(firsts)} and {last}" if firsts else last


def _few(words: list[str]) -> str:
    return _list(words if len(words) <= 5 else [*words[:4], f"{len(words) - 4:,} more"])


def _first(words: str) -> str:
    """The words as a sentence begins; a lone name stays as it is."""
    return words[:1].upper() + words[1:] if " " in words else words


def _capped(sentences: list[str], total: int) -> tuple[str, ...]:
    rest = total - len(sentences)
    return (*sentences, f"... and {rest:,} more.") if rest else tuple(sentences)
