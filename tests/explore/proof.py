"""The explorer's proof: each model's graph against what PyTorch itself knows of it.

``python -m tests.explore.proof --count 200`` builds as many models of other people's, with random weights and without
downloads (``tests/explore/zoo.py``; it needs transformers, timm and torch_geometric), and of each it asks:

- is every node attributed to its line and its module? The yardsticks are anomaly detection, which keeps the stack of
  every node, and PyTorch's own hooks of modules;
- do ``check``, ``unused``, ``why`` and an observed backward pass find nothing wrong where nothing is?
- *replay*: do the local derivatives, each node asked by itself and multiplied along the graph's edges, give the
  gradients that ``backward()`` gives, and the edges the norms that an observed backward pass shows?
- how much longer does the forward pass take under ``record``?
"""

from __future__ import annotations

import argparse
import json
import math
import re
import sys
import time
import traceback
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path

from glassgrad.explore import check, observe, record, unused, why
from glassgrad.explore.labels import output_counts
from glassgrad.explore.source import is_users
from glassgrad.explore.survey import survey
from glassgrad.explore.walk import SINK, op_name, opaque_nodes

CLOSE = 1e-9  # of the largest gradient's norm, in float64
ASKED = 12  # parameters of each model that ``why`` is asked about
#: What is wrong with a healthy model if it is said of it; sizes of gradients are a matter of opinion.
FALSE = ("cut", "modified", "freed", "nan", "inf")


@dataclass
class Verdict:
    """What the proof found of one model."""

    name: str
    nodes: int = 0
    unattributed: list[str] = field(default_factory=list)
    false: list[str] = field(default_factory=list)
    replay: list[str] = field(default_factory=list)
    opinions: list[str] = field(default_factory=list)
    error: str = ""
    plain_ms: float = 0.0
    cost: float = 0.0

    @property
    def clean(self) -> bool:
        """Whether nothing at all was wrong."""
        return not (self.error or self.unattributed or self.false or self.replay)


def prove(name, model, compute, torch, *, timed=0, stacks=True):
    """The verdict on one model; ``compute`` runs its forward pass and gives the loss."""
    verdict = Verdict(name)
    state = torch.get_rng_state() if hasattr(torch, "get_rng_state") else None
    for text in attribution(model, compute, torch, verdict, stacks):
        verdict.unattributed.append(text)
    if state is not None:
        torch.set_rng_state(state)
    model.zero_grad()
    with record(model) as recording:
        loss = compute()
    graph, walked = survey(loss, None, model, recording, "proof")
    named = {n: p for n, p in model.named_parameters() if p.requires_grad}
    grads = torch.autograd.grad(loss, list(named.values()), retain_graph=True, allow_unused=True)
    grads = dict(zip(named, grads, strict=True))
    verdict.false += findings(loss, model, recording, grads, graph)
    if opaque_nodes(walked.nodes):
        verdict.opinions.append("not replayed: a part of it cannot be seen through")
    else:
        verdict.replay += replays(loss, graph, walked, named, grads, model, recording, torch)
    answers = observe(loss, model=model, record=recording, retain_graph=True)
    for problem in answers.problems[len(graph.problems) :]:
        if problem.kind in ("zero", "dead"):
            if any(g is not None and not bool((g == 0).all()) and f" {n} " in problem.text for n, g in grads.items()):
                verdict.false.append(f"observe: {problem.text}")
            else:
                verdict.opinions.append(f"{problem.kind}: {problem.text}")
        elif problem.kind in FALSE:
            verdict.false.append(f"observe: {problem.kind}: {problem.text}")
        else:
            verdict.opinions.append(f"{problem.kind}: {problem.text}")
    if timed:
        del loss, graph, walked, answers, recording
        verdict.plain_ms, verdict.cost = cost(model, compute, timed)
    return verdict


# -- attribution ------------------------------------------------------------------------------------------------------

_FRAME = re.compile(r'^  File "(.+)", line (\d+), in (\S+)')


def attribution(model, compute, torch, verdict, stacks):
    """What is wrong with the lines and modules of the nodes, in words."""
    spans = []  # of module calls: path, first and last age
    names = {id(module): path for path, module in model.named_modules()}
    handles = []
    age = getattr(torch.autograd, "_get_sequence_nr", None)
    if age is not None:
        hooks, open_calls = torch.nn.modules.module, []

        def before(module, args):
            open_calls.append((module, age()))

        def after(module, args, result):
            opened, start = open_calls.pop()
            assert opened is module
            spans.append((names.get(id(module)), type(module).__name__, start, age()))

        handles = [
            hooks.register_module_forward_pre_hook(before),
            hooks.register_module_forward_hook(after, always_call=True),
        ]
    try:
        if stacks and age is not None:
            with torch.autograd.detect_anomaly(check_nan=False), record(model) as recording:
                loss = compute()
        else:
            with record(model) as recording:
                loss = compute()
    finally:
        for handle in handles:
            handle.remove()
    graph, walked = survey(loss, None, model, recording, "proof")
    wrong = []
    for node, known in zip(walked.nodes, graph.nodes, strict=False):
        if known.op == SINK:
            continue
        verdict.nodes += 1
        if known.loc is None:
            wrong.append(f"{known.op}: no line{_stack_end(node)}")
            continue
        if handles:
            if stacks and (text := _line_differs(node, known)):
                wrong.append(text)
            if text := _module_differs(known, graph, spans):
                wrong.append(text)
        elif known.scope is None and len(names) > 1 and not _outside(known):
            wrong.append(f"{known.op}: no module")
    return wrong


def _outside(known):
    return known.loc is not None and known.loc.function.rpartition(".")[2] in ("<lambda>", "compute", "loss")


def _stack(node):
    """The frames of the forward pass that anomaly detection kept: file and line, outermost first."""
    lines = "".join(node.metadata.get("traceback_", ())).splitlines()
    return [(m.group(1), int(m.group(2)), m.group(3)) for m in map(_FRAME.match, lines) if m]


def _stack_end(node):
    frames = _stack(node) if hasattr(node, "metadata") else []
    return f"; it was made at {frames[-1][0]}:{frames[-1][1]}" if frames else ""


class _Code:
    def __init__(self, file, name):
        self.co_filename, self.co_name = file, name


def _line_differs(node, known):
    frames = [frame for frame in _stack(node) if is_users(_Code(frame[0], frame[2]))]
    if not frames:
        return ""
    file, line, _ = frames[-1]
    if Path(known.loc.file).resolve() == Path(file).resolve() and (
        known.loc.line == line or _one_statement(known, line)
    ):
        return ""
    return f"{known.op}: said to be at {known.loc.file}:{known.loc.line}, made at {file}:{line}"


def _one_statement(known, line):
    """Whether two lines belong to one expression: Python tells the first in one place and the last in another."""
    import ast
    import linecache

    try:
        tree = ast.parse("".join(linecache.getlines(str(Path(known.loc.file).resolve()))))
    except SyntaxError:
        return False
    low, high = sorted((known.loc.line, line))
    return any(
        isinstance(n, ast.stmt) and not hasattr(n, "body")
        and n.lineno <= low and high <= n.end_lineno
        for n in ast.walk(tree)
    )  # fmt: skip


def _module_differs(known, graph, spans):
    """The innermost module call around the node's age, against the scope it was given."""
    around = [(start, path, kind) for path, kind, start, stop in spans if start <= known.seq < stop]
    scope = known.scope
    while scope is not None and graph.scopes[scope].kind != "module":
        scope = graph.scopes[scope].parent
    own = graph.scopes[scope] if scope is not None else None
    if not around:
        return f"{known.op}: said to be of {own.path}, made outside of every module" if own is not None else ""
    inner = max(start for start, _, _ in around)
    best = [(path, kind) for start, path, kind in around if start == inner]  # a call right within a call
    if own is None:
        return f"{known.op}: no module, made in {best[-1]}"
    if any(kind == own.cls and (path is None or path == own.path) for path, kind in best):
        return ""
    return f"{known.op}: said to be of {own.path} ({own.cls}), made in {best}"


# -- findings on a healthy model --------------------------------------------------------------------------------------


def findings(loss, model, recording, grads, graph):
    """What is said to be wrong and is not."""
    wrong = []
    answer = check(loss, record=recording, model=model)
    if not answer or answer.problems:
        wrong.append(f"check: {answer}")
    wrong += [f"read: {p.kind}: {p.text}" for p in graph.problems if p.kind in FALSE]
    missing = {name for name, grad in grads.items() if grad is None}
    answer = unused(loss, model, record=recording)
    if set(answer.names) - missing or (missing - set(answer.names) - set(answer.hidden)):
        wrong.append(f"unused: {sorted(answer.names)[:4]} where {sorted(missing)[:4]} have no gradient")
    parameters = dict(model.named_parameters())
    step = max(1, len(grads) // ASKED)
    for name in [*list(grads)[::step], *sorted(missing)[:3]]:
        answer = why(loss, parameters[name], record=recording, model=model)
        if bool(answer) != (name not in missing) and answer.kind != "opaque":
            wrong.append(f"why {name}: {answer}")
    return wrong


# -- replay -----------------------------------------------------------------------------------------------------------


def replays(loss, graph, walked, named, grads, model, recording, torch):
    """Where the local derivatives along the graph's edges do not give the gradients, in words."""
    made, norms = replay(loss, graph, walked, torch)
    by_name = {held.path: held.node for held in graph.parameters}
    wrong = []
    largest = max((float(g.norm()) for g in grads.values() if g is not None and g.layout == torch.strided), default=0.0)
    for name, grad in grads.items():
        own = made.get(by_name.get(name))
        if (own is None) != (grad is None):
            if not (own is not None and grad is None and not own.abs().max()):
                wrong.append(f"{name}: {'no gradient' if own is None else 'a gradient'} by replay")
        elif grad is not None:
            grad, own = (g.to_dense() if g.layout != torch.strided else g for g in (grad, own))
            off = float((own.reshape(grad.shape) - grad).norm())
            if not off <= CLOSE * max(largest, 1e-300):
                wrong.append(f"{name}: off by {off:.3g} of {float(grad.norm()):.3g}")
    observed = observe(loss, model=model, record=recording, retain_graph=True)
    for key, edge in {(e.dst, e.dst_input): e for e in observed.edges if e.kind == "gradient"}.items():
        stats = edge.grad.stats if edge.grad is not None else None
        if stats is None or stats.norm is None or key not in norms or graph.nodes[edge.src].kind != "op":
            continue
        if not math.isclose(stats.norm, norms[key], rel_tol=1e-5, abs_tol=1e-5 * largest + 1e-12):
            wrong.append(f"{graph.nodes[edge.dst].op}: shown with {stats.norm:.4g}, by replay {norms[key]:.4g}")
    return wrong


def replay(loss, graph, walked, torch):
    """The gradient at each leaf (by its index), and the norm of what each node hands to each input."""
    arrived = {}  # by node and output
    for edge in graph.edges:
        if edge.dst in graph.outputs and edge.kind == "gradient":
            arrived[edge.src, edge.src_output] = torch.ones_like(loss)
    below = {}
    for edge in graph.edges:
        if edge.kind == "gradient" and edge.dst < len(walked.nodes):
            below.setdefault(edge.dst, []).append(edge)
    leaves, norms, counts = {}, {}, output_counts(walked, (loss,))
    with torch.no_grad():
        for i, node in enumerate(walked.nodes):
            outs = {out: g for (at, out), g in list(arrived.items()) if at == i}
            for out in outs:
                del arrived[i, out]
            if op_name(node) == SINK:
                (leaf,) = [e.src for e in below[i]]
                if outs:
                    leaves[leaf] = outs[0]
                continue
            if not outs:
                continue
            grads = [outs.get(k) for k in range(counts[i])]
            results = (node if callable(node) else node.apply)(*grads)
            results = results if isinstance(results, (tuple, list)) else (results,)
            for edge in below.get(i, ()):
                result = results[edge.dst_input]
                if result is None:
                    continue
                target = walked.nodes[edge.src] if edge.src < len(walked.nodes) else None
                result = fitted(result, target, edge.src_output)
                if result.layout == torch.strided and result.numel():
                    norms[i, edge.dst_input] = float(result.abs().to(torch.float64).norm())
                key = edge.src, edge.src_output
                arrived[key] = result if key not in arrived else arrived[key] + result
    return leaves, norms


def fitted(grad, target, output):
    """``grad`` in the shape and dtype of what it is the gradient of, as the engine fits it."""
    if target is None or op_name(target) == SINK:
        shape, dtype = (
            (target.variable.shape, target.variable.dtype) if target is not None else (grad.shape, grad.dtype)
        )
    elif hasattr(target, "_input_metadata") and not target._input_metadata[output].is_nested_tensor:
        shape, dtype = target._input_metadata[output].shape, target._input_metadata[output].dtype
    else:
        return grad
    if tuple(grad.shape) != tuple(shape):
        grad = grad.sum_to_size(tuple(shape))
    if not dtype.is_complex and grad.dtype.is_complex:
        grad = grad.real
    return grad.to(dtype)


# -- cost -------------------------------------------------------------------------------------------------------------


def cost(model, compute, times):
    """The forward pass in milliseconds of processor time, and how many times as long it takes under ``record``."""
    plain, heard = math.inf, math.inf
    for _ in range(times):
        start = time.process_time()
        compute()
        plain = min(plain, time.process_time() - start)
        with record(model):
            start = time.process_time()
            compute()
            heard = min(heard, time.process_time() - start)
    return plain * 1e3, heard / max(plain, 1e-9)


# -- by hand ----------------------------------------------------------------------------------------------------------


def main(arguments=None):
    """Prove the models of the zoo, print what is wrong with each and a table at the end."""
    import torch

    from tests.explore import zoo

    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--zoo", default="transformers,timm,geometric")
    parser.add_argument("--only", default="", help="models with this in their name")
    parser.add_argument("--timed", type=int, default=3)
    parser.add_argument("--json", default="")
    asked = parser.parse_args(arguments)
    torch.set_num_threads(1)
    verdicts, kinds = [], asked.zoo.split(",")
    for number, kind in enumerate(kinds):
        left = asked.count - sum(not v.error.startswith("not built") for v in verdicts)
        share = math.ceil(left * 0.55) if number < len(kinds) - 1 else left
        proved = 0
        for name, build in zoo.models(kind, torch):
            if asked.only not in name:
                continue
            if proved >= share:
                break
            verdict = Verdict(name)
            try:
                torch.manual_seed(0)
                with zoo.within(seconds=90):
                    model, compute = build()
                    if not compute().isfinite():
                        raise ArithmeticError("its loss is not finite")
            except BaseException as error:  # other people's models ask for what is not installed
                if isinstance(error, KeyboardInterrupt):
                    raise
                verdict.error = f"not built: {type(error).__name__}: {str(error)[:100]}"
                verdicts.append(verdict)
                continue
            try:
                with zoo.within(seconds=150):
                    verdict = prove(name, model, compute, torch, timed=asked.timed)
            except Exception as error:
                verdict.error = f"{type(error).__name__}: {error}"
                verdict.false.append(verdict.error + traceback.format_exc()[-600:])
            proved += 1
            verdicts.append(verdict)
            print(f"{'ok ' if verdict.clean else 'BAD'} {name}: {verdict.nodes} nodes, {verdict.plain_ms:.1f} ms, "
                  f"x{verdict.cost:.2f}", flush=True)  # fmt: skip
            for kind_of, texts in (
                ("line", verdict.unattributed),
                ("false", verdict.false),
                ("replay", verdict.replay),
            ):
                for text in texts[:3]:
                    print(f"      {kind_of}: {text}")
                if len(texts) > 3:
                    print(f"      ... {len(texts)}")
            sys.stdout.flush()
    if asked.json:
        Path(asked.json).write_text(json.dumps([asdict(v) for v in verdicts], indent=1))
    report(verdicts)
    return verdicts


def report(verdicts):
    """The figures of a run."""
    tried = [v for v in verdicts if not v.error.startswith("not built")]
    nodes = sum(v.nodes for v in tried)
    lost = sum(len(v.unattributed) for v in tried)
    share = 100 - 100 * lost / max(nodes, 1)
    print(f"models {len(tried)}, nodes {nodes:,}, attributed {share:.3f} %; not built {len(verdicts) - len(tried)}")
    print(f"models with false findings {sum(bool(v.false) for v in tried)}")
    print(f"models whose replay differs {sum(bool(v.replay) for v in tried)}")
    for low, high in ((0, 10), (10, 50), (50, 1e9)):
        costs = sorted(v.cost for v in tried if low <= v.plain_ms < high and v.cost)
        if costs:
            median = costs[len(costs) // 2]
            print(f"record, {low:g} to {high:g} ms: {len(costs)} models, median x{median:.2f}, worst x{costs[-1]:.2f}")
    print("opinions:", Counter(text.split(":")[0] for v in tried for text in v.opinions))
    print("not built:", Counter(v.error.split(":")[1] for v in verdicts if v.error.startswith("not built")))


if __name__ == "__main__":
    main()
