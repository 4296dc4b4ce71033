"""All that is known of a graph, floor 8: the graph, the model's names, what was recorded of the forward pass."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import accumulate
from types import MappingProxyType
from typing import Any

from .explain import _expressions, _operation
from .facts import Known, info, outputs, rule_of, slopes
from .labels import Labels, Names, caller_names, callers_variables, pairs
from .measure import info_of
from .model import Cut, Edge, Event, Graph, Held, Node, Problem, Scope, TensorInfo
from .modules import scopes_by_parameters
from .place import scopes_of
from .read import Memories, as_losses, contents, ends_of, names_by_id
from .reasons import REASONS
from .source import guard_around, is_users, location, switch_before
from .walk import SINK, Walk, collector_at_rest, engine_of, opaque_nodes, reach, walk

__all__ = ["read", "survey"]

SPOKEN = 2_000  # operations up to which each gets a sentence
VALUES = 2_000
ENDLESS = float("inf")


def read(
    loss: Any, params: Mapping[str, Any] | None = None, *, model: Any = None, record: Any = None, names: Any = None
) -> Graph:
    """The graph behind ``loss`` (a tensor or a tuple of them), with all that can be known of it.

    ``params`` (or ``names``) names tensors, ``model`` names parameters and modules, ``record`` is a recording of the
    forward pass; the caller's own variables name what is left. Nothing in the graph changes. TypeError for anything but
    tensors.
    """
    return survey(loss, dict(caller_names(names, params, "read")), model, record, "read")[0]


def parameters_of(model: Any) -> dict[str, Any]:
    """The parameters of ``model`` by name: of a module, or of a dict of names and tensors."""
    if model is None:
        return {}
    if isinstance(model, Mapping):
        return dict(model)
    if hasattr(model, "named_parameters"):
        return dict(model.named_parameters())
    if isinstance(model, Iterable):
        return {f"[{i}]": tensor for i, tensor in enumerate(model)}
    raise TypeError(f"expected a module, or names and tensors, but got {type(model).__name__}")


@collector_at_rest()
def survey(var: Any, params: Mapping[str, Any] | None, model: Any, record: Any, caller: str) -> tuple[Graph, Walk]:
    """The graph that :func:`read` gives, and the walk that it was read on."""
    results = tuple({id(t): t for t in as_losses(var, caller)}.values())
    if model is None and record is not None:
        model = record.model
    known_parameters = parameters_of(model)
    called = [*pairs(params, caller), *pairs(known_parameters, caller), *callers_variables()]
    names = names_by_id(called, caller)
    bases = {id(t._base): t._base for t in results if getattr(t, "_base", None) is not None}
    walked = walk((*results, *bases.values()))
    tensors, edges, ends = ends_of(walked, results, bases, names)
    for i, below in enumerate(walked.inputs):
        edges.extend([Edge(e[0], i, e[1], slot) for slot, e in enumerate(below) if e is not None])
    position = {node: i for i, node in enumerate(walked.nodes)}
    memories, known = Memories(), Known()
    values: dict[tuple[int, int], str] = {}  # of results that can be looked at
    by_memory = {  # inputs are saved as other views of their memory
        memories.of(tensor): name for name, tensor in reversed(called) if not tensor.requires_grad
    }
    by_memory.pop(None, None)
    has_values = len(walked.nodes) <= VALUES

    def describe(tensor: Any) -> TensorInfo:
        tensor_info = info_of(tensor, value=has_values, storage=memories.of(tensor))
        maker = tensor.grad_fn
        if maker is not None and maker in position:
            at = position[maker], tensor.output_nr
            known.setdefault(at, info(tensor_info.shape, tensor_info.dtype))
            if tensor_info.value is not None:
                values.setdefault(at, tensor_info.value)
        return tensor_info

    for tensor in (*bases.values(), *results, *(t for _, t in called if t.grad_fn in position)):
        describe(tensor)
    told = [contents(node, names, ends, describe, by_memory) for node in walked.nodes]
    settings, kept = [attrs for attrs, _ in told], [saved for _, saved in told]
    calls = _calls(walked, record, engine_of(results), known)
    outs = outputs(walked, known, settings)
    for (i, nr), value in values.items():
        if nr < len(outs[i]):
            outs[i] = (*outs[i][:nr], replace(outs[i][nr], value=value), *outs[i][nr + 1 :])
    step = [-1] * len(walked.nodes)
    oldest = sorted((i for i, seq in enumerate(walked.seqs) if seq != ENDLESS), key=lambda i: (walked.seqs[i], -i))
    for number, i in enumerate(oldest):
        step[i] = number
    sentences = _sentences(walked, results, called)
    variables = _variables(walked, called, calls, record)
    places = record.arrange() if record is not None else []
    away = {id(t): path for path, t in known_parameters.items() if t.requires_grad and id(t) not in ends}
    cuts, cut_nodes, cut_edges = _cuts(record, results, calls, len(walked.nodes) + len(tensors), names, away)
    homes = [None if call is None or call.place is None else call.place.index for call in calls]
    busy = [forward >= 0 for forward in step] + [False] * len(cut_nodes)
    homes, scopes = _used_scopes([*homes, *[node.scope for node in cut_nodes]], busy, scopes_of(places))
    nodes = []
    for i, op in enumerate(walked.ops):
        call, forward = calls[i], step[i]
        nodes.append(
            Node(
                i, "op" if forward >= 0 or op == SINK else "opaque", op, variables.get(i), None,
                None if forward < 0 else int(walked.seqs[i]), settings[i], kept[i], homes[i],
                None if call is None else call.loc, outs[i], None if forward < 0 else forward,
                None, None, (), None, rule_of(op), sentences.get(i),
            )
        )  # fmt: skip
    cut_nodes = [replace(node, scope=homes[len(nodes) + i]) for i, node in enumerate(cut_nodes)]
    local = slopes(walked, nodes, engine_of(results))
    if local:
        edges = [
            replace(e, local=local.get((e.dst, e.dst_input))) if e.dst < len(nodes) and e.src < len(nodes) else e
            for e in edges
        ]
    live = {id(t): t for t in (*results, *bases.values())}
    live |= {id(leaf): leaf for leaf in walked.leaves()}
    by_end = {index: live[key] for key, index in ends.items() if key in live}

    def described(tensor: Any) -> TensorInfo:
        return info_of(tensor, value=has_values, stats=has_values, storage=memories.of(tensor))

    tensors = [replace(one, tensor=described(by_end[one.index])) for one in tensors]
    if model is not None and record is None:
        sinks = {i: node.variable for i, node in enumerate(walked.nodes) if walked.ops[i] == SINK}
        moved, scopes = scopes_by_parameters(nodes, walked.inputs, model, sinks)
        homes, scopes = _used_scopes([node.scope for node in moved], busy, scopes)
        nodes = [node if node.scope == at else replace(node, scope=at) for node, at in zip(moved, homes, strict=True)]
    whole = (*nodes, *tensors, *cut_nodes)
    edges += cut_edges
    closed = bool(opaque_nodes(walked.nodes))
    parameters = tuple(
        Held(path, ends.get(key := id(t)), info_of(t, storage=memories.of(t)), bool(t.requires_grad),
             closed and key not in ends)
        for path, t in known_parameters.items()
    )  # fmt: skip
    graph = Graph(
        whole, tuple(edges), tuple(ends[id(t)] for t in results), engine_of(results), scopes, cuts,
        _events(whole, record, calls), (), parameters, 3 if record is not None else 2 if model is not None else 1,
        MappingProxyType(_totals(whole, memories)),
    )  # fmt: skip
    meant = {c.index for c in cuts if (known_parameters and not c.lost) or _of_the_engine(c)}
    return replace(graph, problems=_problems(graph, meant)), walked


def _of_the_engine(cut: Cut) -> bool:
    """Whether the engine itself switched recording off there, as spectral_norm does for its iteration."""
    return cut.how in ("no_grad", "inference") and "stands in line" not in cut.reason


def _calls(walked: Walk, record: Any, engine: str, known: Known) -> list[Any]:
    """The recorded call that made each node; what it gave is told to ``known``."""
    if record is None:
        return [None] * len(walked.nodes)
    calls = record.of_ages([None if seq == ENDLESS else seq for seq in walked.seqs], engine)
    heard = record.calls
    for index, i in _youngest(calls).items():
        result_info = heard[index].info
        if result_info is not None:
            without_value = result_info if result_info.value is None else replace(result_info, value=None)
            before = known.setdefault((i, 0), without_value)
            if result_info.stats is not None:
                known[i, 0] = replace(before, stats=result_info.stats)
    return calls


def _youngest(calls: list[Any]) -> dict[int, int]:
    """The youngest of the nodes that each call made, by the call's index: the walk meets it first."""
    youngest: dict[int, int] = {}
    for i, call in enumerate(calls):
        if call is not None:
            youngest.setdefault(call.index, i)
    return youngest


def _variables(walked: Walk, called: list[tuple[str, Any]], calls: list[Any], record: Any) -> dict[int, str]:
    """What the results of operations are called: by the names told, else by the variable a recorded line gives."""
    position = {node: i for i, node in enumerate(walked.nodes)}
    names: dict[int, str] = {}
    for name, tensor in called:
        i = None if tensor.grad_fn is None else position.get(tensor.grad_fn)
        if i is not None:
            names.setdefault(i, name)
    if record is not None:
        known = Names(called, record)
        for i, call in enumerate(calls):
            if call is not None and i not in names and (name := known.of_call(call.index)):
                names[i] = name
    return names


def _sentences(walked: Walk, results: Any, called: list[tuple[str, Any]]) -> dict[int, str]:
    if len(walked.nodes) > SPOKEN:
        return {}
    labels = Labels(walked, called)
    texts = _expressions(walked.nodes[::-1], labels)
    said = {}
    for i, node in enumerate(walked.nodes):
        if walked.ops[i] != SINK:
            said[i] = _operation(node, labels, texts)
        else:
            said[i] = f"The gradient of {labels[node]} ends here: it is added to {labels[node]}.grad."
    return said


def _cuts(
    record: Any, results: Any, calls: list[Any], first: int, names: Mapping[int, str], away: Mapping[int, str]
) -> tuple[tuple[Cut, ...], list[Node], list[Edge]]:
    """The cuts behind the results: what was cut where, and which nodes use what came out."""
    if record is None:
        return (), [], []
    youngest, heard = _youngest(calls), record.calls
    used: dict[int, list[int]] = {}
    starts: list[tuple[Any, int | None]] = [(heard[index], i) for index, i in youngest.items()]
    ends = [record.producer(t) for t in results]
    starts += [(call, None) for call in ends if call is not None and call.index not in youngest]
    for call, i in starts:
        ends_at_cuts = i is not None

        def further(at: int, ends_at_cuts: bool = ends_at_cuts) -> list[int]:
            is_end = ends_at_cuts and heard[at].how is not None
            return [] if is_end else [source for source in heard[at].inputs if source not in youngest]

        for at in reach(call.index, further):
            if heard[at].how is not None:
                into = used.setdefault(at, [])
                into += [i] if i is not None and i not in into else []
    cuts: list[Cut] = []
    nodes: list[Node] = []
    edges: list[Edge] = []
    for number, at in enumerate(sorted(used)):
        call = heard[at]
        how, reason = _how(call)
        sources = tuple(sorted({youngest[s] for s in call.grads if s in youngest}))
        name = next((n for n in map(lambda s: _name_of(record, s, names), call.grads) if n), None)
        lost = _lost(record, call, away) if away else ()
        cuts.append(Cut(number, how, call.loc, reason, sources, tuple(sorted(used[at])), call.info, name, lost))
        if used[at]:
            scope = call.place.index if call.place is not None else None
            nodes.append(
                Node(first + len(nodes), "cut", "", how, call.info, scope=scope, loc=call.loc, sentence=reason)
            )
            edges += [Edge(nodes[-1].index, i, kind="cut") for i in used[at]]
    return tuple(cuts), nodes, edges


def _lost(record: Any, call: Any, away: Mapping[int, str]) -> tuple[str, ...]:
    """The parameters among ``away`` that the result of a cut was computed from."""
    behind = [one.ref() for one in record.before(call) if one.ref is not None and not one.name]
    return tuple(away[id(tensor)] for tensor in behind if tensor is not None and id(tensor) in away)


def _how(call: Any) -> tuple[str, str]:
    """How a value was cut, in a word and in a sentence; what switched recording off is named with its line."""
    how, reason = call.how, REASONS.get(call.how, "")
    if how in ("no_grad", "inference"):
        around = _switched_off(call)
        if around is not None:
            how, line = around
            reason = REASONS.get(how, reason) + (f"; {line}" if line else "")
    if how == "constant":
        reason = f"{call.name} has no derivative"
    return how, reason


def _switched_off(call: Any) -> tuple[str, str] | None:
    """What kept a call from being recorded, and the line that says so: looked for from the call outwards."""
    seat, at = call.seat, call.step
    left, user = None, False
    while seat is not None:
        code = seat[1]
        guard = guard_around(code, location(code, at).line)
        if not is_users(code):
            if code.co_name in ("sample", "sample_n") and "distributions" in code.co_filename:
                return "sample", ""
            if guard is not None:  # the engine's own doing
                return None
        elif guard is not None:
            name = {"no_grad": "no_grad", "inference_mode": "inference"}.get(guard[0], guard[0])
            return name, f"{guard[0]} stands in line {guard[1]}"
        else:
            user, left = True, left or switch_before(code, location(code, at).line)
        at, seat = seat[3], seat[2]
    if call.how == "inference" or not user:
        return None
    return "set_grad_enabled", f"set_grad_enabled(False) stands in line {left}" if left else ""


def _name_of(record: Any, at: int, names: Mapping[int, str]) -> str | None:
    ref = record.calls[at].ref
    tensor = ref() if ref is not None else None
    return names.get(id(tensor)) if tensor is not None else None


Homes = list[int | None]  # the scope of each node


def _used_scopes(homes: Homes, busy: list[bool], scopes: tuple[Scope, ...]) -> tuple[Homes, tuple[Scope, ...]]:
    """Only the scopes that something lies in, and those around them, numbered anew, as are the calls of functions."""
    stands = _standing(homes, busy, scopes)
    homes = [stands[at] for at in homes]
    wanted: set[int] = set()
    for at in homes:
        while at is not None and at not in wanted:
            wanted.add(at)
            at = stands[scopes[at].parent]
    new: dict[int | None, Any] = {None: None, **{old: number for number, old in enumerate(sorted(wanted))}}
    calls: Counter[str] = Counter()
    left = []
    for one in scopes:
        if one.index in wanted:
            call = calls[one.path] if one.kind == "function" else one.call
            calls[one.path] += one.kind == "function"
            left.append(replace(one, index=new[one.index], parent=new[stands[one.parent]], call=call))
    return [new[at] for at in homes], tuple(left)


def _standing(homes: Homes, busy: list[bool], scopes: tuple[Scope, ...]) -> dict[int | None, int | None]:
    """The scope that stands for each: the one around a call of a function that holds all there is, or one thing only.

    Nor are turns of loops of which the graph has one: a training step is no part of what it trains. What is ``busy``
    counts outside of all scopes too.
    """
    stands: dict[int | None, int | None] = {None: None, **{scope.index: scope.index for scope in scopes}}
    if all(scope.kind == "module" for scope in scopes):
        return stands
    within: Counter[int | None] = Counter()  # how much lies right in each scope
    filled: set[int] = set()
    for at, counts in zip(homes, busy, strict=True):
        within[at] += counts if at is None else 1
        while at is not None and at not in filled:
            filled.add(at)
            at = scopes[at].parent
    within.update(scopes[at].parent for at in filled)
    turns = Counter((scope.parent, scope.path) for scope in scopes if scope.kind == "loop" and scope.index in filled)
    for scope in scopes:  # parents come first
        around, inside = stands[scope.parent], within[scope.index]
        once = scope.kind == "loop" and turns[scope.parent, scope.path] == 1
        if once or scope.kind == "function" and (within[around] == 1 or inside < 2):
            stands[scope.index] = around
            within[around] += inside - 1
    return stands


def _events(nodes: Any, record: Any, calls: list[Any]) -> tuple[Event, ...]:
    """The timeline of building: every operation in its step, and what was overwritten in between."""
    events = [
        Event(node.forward, "forward", node.index, node.loc, node.op) for node in nodes if node.forward is not None
    ]
    if record is not None and events:
        heard = sorted((call.index, nodes[i].forward) for i, call in enumerate(calls) if call is not None)
        if heard:
            indices, steps = [index for index, _ in heard], list(accumulate((forward for _, forward in heard), max))
            for call in record.inplace:
                if indices[0] <= call.index:
                    step = steps[bisect_right(indices, call.index) - 1]
                    later = " after the graph was built" if call.index > indices[-1] else ""
                    events.append(Event(step, "inplace", None, call.loc, f"{call.name} changed a tensor{later}"))
    return tuple(sorted(events, key=lambda event: event.step))


def _totals(nodes: Any, memories: Memories) -> dict[str, int]:
    saved = [s.tensor for node in nodes for s in node.saved if s.tensor is not None]
    unique = {t.storage for t in saved if t.storage is not None}
    leaves = {n.tensor.storage for n in nodes if n.kind == "leaf" and n.tensor is not None}
    return {
        "ops": sum(n.kind == "op" and n.op != SINK for n in nodes),
        "leaves": sum(n.kind == "leaf" for n in nodes),
        "saved_bytes": sum(t.nbytes for t in saved),
        "unique_bytes": sum(memories.nbytes[number] for number in unique),
        "kept_bytes": sum(memories.nbytes[number] for number in unique - leaves),
    }


def _problems(graph: Graph, meant: set[int]) -> tuple[Problem, ...]:
    """What is likely wrong, told from the graph alone; cuts that are ``meant`` keep nobody's gradient away."""
    problems = []
    for cut in graph.cuts:
        if cut.used_by and cut.index not in meant:
            node = graph.nodes[cut.used_by[0]]
            where = f" at {cut.loc}" if cut.loc else ""
            problems.append(Problem("cut", node.index, node.scope, f"{cut.how}{where}: {cut.reason}", cut.loc))
    freed = [node for node in graph.nodes if any(s.state == "freed" for s in node.saved)]
    if freed:
        words = f"{len(freed)} operations have given up what they saved: a backward pass went through them already"
        problems.append(Problem("freed", freed[0].index, freed[0].scope, words, freed[0].loc))
    for node in graph.nodes:
        changed = [s.slot for s in node.saved if s.state == "modified"]
        if changed:
            words = f"{node.op} saved {changed[0]}, which was changed in place afterwards"
            problems.append(Problem("modified", node.index, node.scope, words, node.loc))
        for output in node.outputs:
            if output.stats is not None and not output.stats.finite:
                if not output.stats.nan and node.op.startswith(("MaskedFill", "Where")):
                    continue  # a mask is made of infinities
                kind, word = output.stats.flaw
                words = f"{node.op} gave {word} in the forward pass"
                problems.append(Problem(kind, node.index, node.scope, words, node.loc))
    for parameter in graph.parameters:
        if parameter.requires_grad and parameter.node is None and not parameter.hidden:
            problems.append(Problem("unused", None, None, f"{parameter.path} is not used in this graph", None))
    return tuple(problems)
