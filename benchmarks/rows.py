"""The rows of the benchmark as data; workload, sizes, goals, and how long to measure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

__all__ = ["Goal", "Row", "rows", "scaling"]


_GENERATED = {"glassgrad.core": "the plain path is for reading"}


@dataclass(frozen=True)
class Goal:
    """``times`` as fast (or as small) as the fastest of the columns in ``against`` that ran; below 1, no slower."""

    times: float
    against: tuple[str, ...] = ("torch",)


@dataclass(frozen=True)
class Row:
    """A workload with its sizes.

    ``eager`` is glassgrad's goal, ``compiled`` are those of ``glassgrad.compile``, ``plain`` those of
    ``glassgrad.core``. ``operations`` are what one step runs forward. The results of ``checks`` calls are compared
    before timing; engines that compile run ``warm`` more. ``rounds`` share ``seconds`` (0: one call a round). ``brief``
    are the fields that the short mode changes; without it the row keeps its sizes. ``without`` gives the reasons why a
    column is left out, which ``glassgrad.core`` is unless a row says otherwise. ``unit`` is "s" for what ``measure``
    times, otherwise that of a figure from fresh processes. ``along`` is the size that grows from row to row
    of the group, if one does.
    """

    name: str
    group: str
    workload: str
    sizes: Mapping[str, Any] = field(default_factory=dict)
    eager: tuple[Goal, ...] = ()
    compiled: tuple[Goal, ...] = ()
    plain: tuple[Goal, ...] = ()
    operations: int = 1
    checks: int = 1
    warm: int = 2
    rounds: int = 11
    seconds: float = 1.0
    unit: str = "s"
    brief: Mapping[str, Any] = field(default_factory=dict)
    without: Mapping[str, str] = field(default_factory=lambda: _GENERATED)
    along: str = ""

    @property
    def title(self) -> str:
        """The name with the sizes in it."""
        return self.name.format(**self.sizes)


GRAPHS = "Many small operations"
TRAINING = "Training steps"
KERNELS = "Layers and kernels, float32"
TRANSFORMS = "Function transforms, float32"
USERS = "Agents, tables, physics, text, graphs"
FOOTPRINT = "Footprint"
_LONG = {"torch.compile": "minutes to compile"}
_LONGER = {"jax.jit": "half a minute to compile", **_LONG}
_EAGER_ONLY = {**_GENERATED, **dict.fromkeys(("glassgrad.compile", "jax.jit", "torch.compile"), "eager only")}
_GPT = {"layers": 4, "heads": 4, "width": 128, "context": 64, "batch": 12}
_ROWS_OF = {"count": 512, "length": 1024}


def _chain(length: int, *shape: int, factor: float = 1.0001) -> dict[str, Any]:
    return {"length": length, "shape": shape, "factor": factor}


def _kernel(name: str, workload: str, sizes: Mapping[str, Any], **more: Any) -> Row:
    return Row(name, KERNELS, workload, sizes, **{"eager": (Goal(1.0),), **more})


ROWS = (
    Row(
        "`x*z`, 0-d, both require grad, forward", GRAPHS, "product",
        eager=(Goal(3.0),), plain=(Goal(1 / 8, ("glassgrad",)),), without={},
    ),
    Row(
        "`x*z + x + z + sin(x) + cos(z)`, forward + backward", GRAPHS, "expression",
        eager=(Goal(3.0),), compiled=(Goal(20.0),), operations=7, without={},
    ),
    Row(
        "chain of {length:,} products, 0-d, forward + backward", GRAPHS, "chain",
        _chain(1000), (Goal(3.0),), (Goal(10.0),), operations=1000,
        without=_LONG, brief={"sizes": _chain(200), "operations": 200, "without": _LONGER},
    ),
    Row(
        "chain of {length:,} products of 8-vectors, forward + backward", GRAPHS, "chain",
        _chain(1000, 8), (Goal(3.0),), (Goal(10.0),), operations=1000,
        without=_LONG, brief={"sizes": _chain(200, 8), "operations": 200, "without": _LONGER},
    ),
    Row(
        "chain of {length:,} products, 0-d: built, walked, freed", GRAPHS, "chain",
        _chain(1_000_000, factor=1.0), (Goal(2.0),), operations=1_000_000,
        warm=0, rounds=3, seconds=0,
        brief={"sizes": _chain(50_000, factor=1.0), "operations": 50_000},
        without=_EAGER_ONLY,
    ),
    Row(
        "TinyNet 2-3-1, batch 10, MSE, SGD, whole step", TRAINING, "tinynet",
        eager=(Goal(4.0),), compiled=(Goal(40.0), Goal(5.0, ("jax.jit",))), plain=(Goal(1 / 4, ("glassgrad",)),),
        operations=6, checks=3, without={},
    ),
    Row(
        "MLP 784-256-10, batch {batch}, Adam (torch: fused), whole step", TRAINING, "mlp", {"batch": 64},
        (Goal(1.2),), (Goal(2.0),), operations=6, checks=3, without={},
        brief={"without": {"tinygrad": "long to compile"}},
    ),
    Row(
        "char GPT ({layers} layers, {heads} heads, {width} wide, block {context}, batch {batch}), AdamW, whole step",
        TRAINING, "gpt", _GPT, (Goal(1.2),), (Goal(1.7, ("torch", "torch.compile")),),
        operations=80, checks=3, seconds=4.0, brief={"sizes": {**_GPT, "layers": 2, "batch": 4}, "operations": 42},
    ),
    Row(
        "LeNet, batch {batch}, SGD, whole step", TRAINING, "lenet", {"batch": 64},
        (Goal(1.0),), (Goal(1.3),), operations=13, checks=3, seconds=2.0, brief={"sizes": {"batch": 16}},
    ),
    _kernel(
        "LSTM({width}), {steps} steps, batch {batch}, forward + backward", "lstm",
        {"width": 128, "steps": 64, "batch": 16}, compiled=(Goal(1.2),), seconds=2.0,
    ),
    _kernel(
        "conv 64->64 3x3, 32x32, batch {batch}, forward + backward", "conv", {"batch": 32},
        compiled=(Goal(1.0),), seconds=4.0, brief={"sizes": {"batch": 4}},
    ),
    *(
        _kernel(f"{name}, {{count}} rows of {{length:,}}, forward + backward", name, _ROWS_OF, compiled=(Goal(1.0),))
        for name in ("softmax", "layer_norm", "cross_entropy")
    ),
    *(
        _kernel(f"sum of {{side:,}} x {{side:,}}: {how}", "reduction", {"side": 2000, "dims": dims})
        for how, dims in (("full", ()), ("rows", (1,)), ("columns", (0,)))
    ),
    _kernel(
        "elementwise chain of 8 on {size:,}, forward", "elementwise", {"size": 1_000_000},
        eager=(Goal(1.5),), compiled=(Goal(1.0, ("torch.compile",)),), operations=8,
    ),
    *(
        Row(
            f"gradients of each sample, {kind}, batch {{batch}}, {way}", TRANSFORMS, workload,
            {"kind": kind, "batch": 64}, (Goal(1.0),), operations=10, without=_EAGER_ONLY,
            brief={"sizes": {"kind": kind, "batch": 8}},
        )
        for kind in ("MLP", "small CNN")
        for workload, way in (
            ("per_sample", "`vmap(grad)`"),
            ("per_sample_walk", "`per_sample_backward` beside torch's `vmap(grad)`"),
        )
    ),
    Row(
        "Hessian of a function of {size} inputs", TRANSFORMS, "hessian", {"size": 50}, (Goal(1.0),),
        operations=8, without=_EAGER_ONLY, brief={"sizes": {"size": 10}},
    ),
    Row(
        "Jacobian-vector product of an MLP 784-128-10, batch {batch}", TRANSFORMS, "jvp", {"batch": 64}, (Goal(1.0),),
        operations=6, without=_EAGER_ONLY,
    ),
    *(
        Row(
            f"{name} update, batch {{batch}}, as Stable-Baselines3 has it", USERS, workload, {"batch": batch},
            (Goal(2.0),), (Goal(8.0),), operations=operations, checks=3,
        )
        for name, workload, batch, operations in (
            ("DQN", "dqn", 64, 12), ("PPO", "ppo", 64, 25), ("SAC", "sac", 256, 60)
        )
    ),
    Row("one action of a policy, 4-64-64-2", USERS, "action", eager=(Goal(5.0),), operations=6),
    Row(
        "an epoch over {count:,} rows, batch {batch}, DataLoader, MLP, Adam", USERS, "table",
        {"count": 100_000, "batch": 256}, (Goal(1.0),), operations=8, rounds=3, seconds=0,
        brief={"sizes": {"count": 5_000, "batch": 256}},
    ),
    Row(
        "physics-informed network, {points} points, second derivatives, Adam", USERS, "physics", {"points": 128},
        (Goal(1.0),), operations=40, checks=3,
    ),
    Row(
        "{tokens} letters of a GPT 128 wide, keys and values kept", USERS, "generation", {"tokens": 32}, (Goal(1.0),),
        operations=32 * 60, brief={"sizes": {"tokens": 4}},
    ),
    Row(
        "graph network, {nodes:,} nodes, {edges:,} edges, Adam", USERS, "graph_network",
        {"nodes": 2_708, "edges": 10_556}, (Goal(1.0),), operations=14, checks=3,
    ),
    Row("import", FOOTPRINT, "import", eager=(Goal(10.0),), rounds=7, brief={"rounds": 3}),
    Row("installed size, with dependencies", FOOTPRINT, "installed", eager=(Goal(10.0),), rounds=1, unit="MB"),
    Row(
        "memory for each node of a chain of {length:,}", FOOTPRINT, "node", {"length": 300_000},
        eager=(Goal(1.0),), rounds=3, unit="B", brief={"rounds": 1},
    ),
    Row(
        "peak memory of the char GPT step, {width} wide, batch {batch}", FOOTPRINT, "peak", {"step": "gpt", **_GPT},
        eager=(Goal(1.0),), compiled=(Goal(1.0),), rounds=3, unit="MB", brief={"rounds": 1},
    ),
    *(
        Row(
            f"peak memory of the {name}", FOOTPRINT, "peak", {"step": step, **sizes},
            eager=(Goal(1.0),), compiled=(Goal(1.0),), rounds=3, unit="MB", brief={"rounds": 1},
            without={**_GENERATED, **_LONG},
        )
        for name, step, sizes in (
            ("MLP step, batch {batch}", "mlp", {"batch": 64}),
            ("LeNet step, batch {batch}", "lenet", {"batch": 64}),
            ("LSTM({width}), {steps} steps, batch {batch}", "lstm", {"width": 128, "steps": 64, "batch": 16}),
            ("conv 64->64 3x3, 32x32, batch {batch}", "conv", {"batch": 32}),
            ("SAC update, batch {batch}", "sac", {"batch": 256}),
            ("graph network step, {nodes:,} nodes", "graph_network", {"nodes": 2_708, "edges": 10_556}),
        )
    ),
)  # fmt: skip


def rows(short: bool = False) -> list[Row]:
    """The rows of the goals; in short mode with few rounds and smaller sizes."""
    return [_shortened(row) for row in ROWS] if short else list(ROWS)


def scaling(short: bool = False) -> list[Row]:
    """How the figures grow: cost per node with the graph, and training with width and batch, with the memory it needs.

    In short mode only the smaller sizes.
    """
    scaled = [
        Row(
            "chain of {length:,} products, 0-d, for each operation", "Scaling: a chain of products, 0-d", "chain",
            _chain(length, factor=1.0), operations=length, warm=1, rounds=7 if length < 10**5 else 3,
            seconds=1.0 if length < 10**5 else 0,
            without={**_EAGER_ONLY, "jax": "seconds a call", "tinygrad": "too long to compile"},
            unit="s/operation", along="length",
        )
        for length in (100, 1000, 10_000, 100_000, 1_000_000)
    ]  # fmt: skip
    widths = [{**_GPT, "width": width} for width in (64, 128, 256, 512)]
    scaled += [
        Row(
            "char GPT, {width} wide, batch {batch}, whole step", "Scaling: a training step of the char GPT", "gpt",
            sizes, operations=80, checks=3, rounds=7, seconds=4.0, along="width",
        )
        for sizes in widths
    ]  # fmt: skip
    scaled += [
        Row(
            "peak memory of the char GPT step, {width} wide", "Scaling: peak memory of the char GPT's step", "peak",
            {"step": "gpt", **sizes}, rounds=1, unit="MB", along="width",
        )
        for sizes in widths
    ]
    scaled += [
        Row(
            "MLP 784-256-10, batch {batch}, Adam, whole step", "Scaling: a training step of the MLP", "mlp",
            {"batch": batch}, checks=3, along="batch",
        )
        for batch in (1, 4, 16, 64, 256)
    ]
    if short:
        scaled = [
            _shortened(row) for row in scaled if row.operations <= 10_000 and row.sizes.get("width", 0) <= 128
        ]
    return scaled


def _shortened(row: Row) -> Row:
    brief = {"rounds": min(row.rounds, 3), "seconds": min(row.seconds, 0.15), **row.brief}
    return replace(row, **brief)
