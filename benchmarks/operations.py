"""Single operations against PyTorch's, forward and backward, at three sizes: ``python -m benchmarks.operations``.

One thread on each side, in turns, the best of several rounds; every result is compared before it is timed. The table is
sorted, what we lose most stands first. ``--only PATTERN`` chooses operations by name, ``--sizes`` their elements.
"""

from __future__ import annotations

import argparse
import fnmatch
import statistics
import time
import warnings
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

SIZES = (10, 10_000, 1_000_000)
#: Expressions of the library ``t``, its functional namespace ``f``, and inputs of one size, by name.
DIFFERENTIABLE = {
    **{
        name: f"t.{name}(x)"
        for name in (
            "abs acos asin atan ceil cos cosh erf erfc erfinv exp exp2 expm1 floor lgamma log log10 log1p log2 neg "
            "reciprocal relu round rsqrt sigmoid sign sin sinh sqrt square tan tanh sum mean prod var std amax amin "
            "max min median logit digamma trunc frac nan_to_num clone"
        ).split()
    },
    **{name: f"t.{name}(x, y)" for name in "add sub mul div pow maximum minimum atan2 hypot fmod remainder".split()},
    **{
        f"{name} {how}": f"t.{name}(m, {dim})"
        for name in "sum mean amax cumsum cumprod logsumexp softmax log_softmax var norm".split()
        for how, dim in (("rows", "dim=1"), ("columns", "dim=0"))
    },
    **{
        name: f"f.{name}(x)"
        for name in (
            "gelu silu softplus elu selu celu leaky_relu relu6 hardtanh hardswish hardsigmoid mish logsigmoid "
            "softsign tanhshrink softshrink hardshrink"
        ).split()
    },
    "number add": "x + 2.0", "number mul": "x * 2.0", "number div": "x / 3.0", "pow 2": "x ** 2", "pow 3": "x ** 3",
    "rsub": "1.0 - x", "clamp": "t.clamp(x, 0.3, 0.6)", "lerp": "t.lerp(x, y, 0.3)", "where": "t.where(mask, x, y)",
    "addcmul": "t.addcmul(x, y, y)", "masked_fill": "x.masked_fill(mask, 0.0)", "masked_select": "x[mask]",
    "max dim": "m.max(dim=1)[0]", "sort": "t.sort(m, dim=1)[0]", "topk": "t.topk(m, 2, dim=1)[0]",
    "kthvalue": "t.kthvalue(m, 2, dim=1)[0]", "median dim": "t.median(m, dim=1)[0]", "cat": "t.cat([m, m])",
    "cat columns": "t.cat([m, m], dim=1)", "stack": "t.stack([x, y])", "split": "m.split(2, dim=1)[0] * 1.0",
    "index_select": "t.index_select(m, 0, rows)", "gather": "t.gather(m, 1, columns)", "index": "m[rows]",
    "scatter_add": "t.zeros_like(m).scatter_add(1, columns, m)", "index_add": "m.index_add(0, rows, m)",
    "transpose": "m.t().contiguous()", "flip": "t.flip(m, (1,))", "roll": "t.roll(m, 1, 0)", "repeat": "m.repeat(2, 1)",
    "expand": "(m[:1].expand_as(m) + m)", "tril": "t.tril(m)", "diff": "t.diff(x)", "pad": "f.pad(m, (1, 1))",
    "linear": "f.linear(m, w, v)", "matmul": "m @ w.t()", "bmm": "t.bmm(m[None], w.t()[None])",
    "layer_norm": "f.layer_norm(m, m.shape[1:])", "cross_entropy": "f.cross_entropy(m, classes)",
    "mse_loss": "f.mse_loss(x, y)", "l1_loss": "f.l1_loss(x, y)", "smooth_l1_loss": "f.smooth_l1_loss(x, y)",
    "bce": "f.binary_cross_entropy(x, y.detach())", "bce logits": "f.binary_cross_entropy_with_logits(x, y.detach())",
    "kl_div": "f.kl_div(x, y.detach(), reduction='sum')", "embedding": "f.embedding(rows, m)",
    "normalize": "f.normalize(m, dim=1)", "cosine_similarity": "f.cosine_similarity(m, m * 2, dim=1)",
    "lu": "t.linalg.lu_factor(s)[0]", "solve": "t.linalg.solve(s, s[:, :2])", "inv": "t.linalg.inv(s)",
    "solve_triangular": "t.linalg.solve_triangular(s, s[:, :2], upper=True)", "det": "t.linalg.det(s)",
    "cholesky": "t.linalg.cholesky(s)", "einsum": "t.einsum('ij,kj->ik', m, w)",
}  # fmt: skip
#: What gives whole numbers, truth values, or draws.
PLAIN = {
    "argmax": "x.argmax()", "argmax rows": "m.argmax(dim=1)", "argsort": "t.argsort(m, dim=1)", "eq": "x == y",
    "lt": "x < 0.5", "isnan": "t.isnan(x)", "any": "mask.any()", "nonzero": "mask.nonzero()", "and": "mask & ~mask",
    "unique": "t.unique(columns)", "bincount": "t.bincount(columns.flatten())", "one_hot": "f.one_hot(rows, 16)",
    "to float64": "x.to(t.float64)", "to int64": "x.to(t.int64)", "arange": "t.arange(x.numel())",
    "zeros": "t.zeros(x.numel())", "full": "t.full((x.numel(),), 2.0)", "searchsorted": "t.searchsorted(line, x)",
    "randn": "t.randn(x.numel())", "rand": "t.rand(x.numel())", "randint": "t.randint(10, (x.numel(),))",
    "randperm": "t.randperm(x.numel())", "bernoulli": "t.bernoulli(x)", "dropout": "f.dropout(x, 0.5)",
    "add_": "z.add_(1.0)", "mul_": "z.mul_(1.0)", "copy_": "z.copy_(x.detach())", "zero_": "z.zero_()",
}  # fmt: skip


def inputs(t: Any, size: int) -> SimpleNamespace:
    """What the expressions name: vectors x, y and a matrix m of ``size`` numbers between 0 and 1, and their like."""
    draw = np.random.default_rng(0)
    width = 2 if size < 100 else 2 ** round(np.log2(size) / 2)
    count = size // width
    side = min(max(round(size**0.5), 3), 256)
    square = draw.random((side, side))

    def tensor(a: Any, grad: bool = False) -> Any:
        return t.tensor(a, requires_grad=grad)

    def numbers(*shape: int) -> Any:
        return (draw.random(shape) * 0.8 + 0.1).astype("f4")

    return SimpleNamespace(
        t=t, f=t.nn.functional, x=tensor(numbers(size), True), y=tensor(numbers(size), True), z=tensor(numbers(size)),
        m=tensor(numbers(count, width), True), w=tensor(numbers(16, width), True), v=tensor(numbers(16), True),
        s=tensor((square @ square.T / side + np.eye(side)).astype("f4"), True), mask=tensor(draw.random(size) < 0.5),
        rows=tensor(draw.integers(0, min(count, 16), count)), columns=tensor(draw.integers(0, width, (count, width))),
        classes=tensor(draw.integers(0, width, count)), line=tensor(np.linspace(0, 1, 50, dtype="f4")),
    )  # fmt: skip


def step_of(t: Any, expression: str, backward: bool, size: int) -> Callable[[], Any]:
    """What is timed: the operation, and from its result back to its inputs."""
    operands = inputs(t, size)
    t.manual_seed(0)
    names = vars(operands)
    forward = eval(f"lambda: {expression}", names)
    if not backward:
        return forward  # type: ignore[no-any-return]
    leaves = [one for one in names.values() if isinstance(one, t.Tensor) and one.requires_grad]
    weight = t.ones_like(forward()).detach()

    def step() -> Any:
        for leaf in leaves:
            leaf.grad = None
        result = forward()
        result.backward(weight)
        return [result, *(leaf.grad for leaf in leaves if leaf.grad is not None)]

    return step


def same(one: Any, other: Any) -> bool:
    """Whether two results hold the same numbers, but for rounding."""
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    a, b = (np.asarray(x.detach().numpy(), "f8") for x in (one, other))
    return a.shape == b.shape and bool(np.allclose(a, b, 1e-3, 1e-4 * max(1.0, np.abs(b).max(initial=0))))


def seconds(step: Callable[[], Any], times: int) -> float:
    """Seconds for one call, of ``times`` in a row."""
    start = time.perf_counter()
    for _ in range(times):
        step()
    return (time.perf_counter() - start) / times


def measure(ours: Any, theirs: Any, expression: str, backward: bool, size: int, budget: float) -> tuple[float, float]:
    """The best seconds of each side; ValueError where their results differ."""
    steps = [step_of(t, expression, backward, size) for t in (ours, theirs)]
    results = [step() for step in steps]
    if not same(*results):
        raise ValueError("different results")
    counts = [max(1, int(budget / 5 / max(min(seconds(step, 1), seconds(step, 2)), 1e-7))) for step in steps]
    best = [float("inf")] * 2
    for _ in range(5):
        for i, step in enumerate(steps):
            best[i] = min(best[i], seconds(step, counts[i]))
    return best[0], best[1]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="*", help="operations by name, with wildcards; several parted by commas")
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="elements, parted by commas")
    parser.add_argument("--budget", type=float, default=0.02, help="seconds for each side of each figure")
    options = parser.parse_args()
    import torch

    import glassgrad

    sizes = [int(size) for size in options.sizes.split(",")]
    torch.set_num_threads(1)
    glassgrad.set_num_threads(1)
    warnings.simplefilter("ignore")
    lines = []
    chosen = {
        name: expression
        for name, expression in {**DIFFERENTIABLE, **PLAIN}.items()
        if any(fnmatch.fnmatch(name, pattern.strip()) for pattern in options.only.split(","))
    }
    if not chosen:
        parser.error(f"--only: no operation is called {options.only!r}")
    for name, expression in chosen.items():
        ratios, cells = [], []
        for size in sizes:
            try:
                a, b = measure(glassgrad, torch, expression, name in DIFFERENTIABLE, size, options.budget)
            except Exception as error:
                cells.append(f"{type(error).__name__}: {error}"[:24])
                continue
            ratios.append(b / a)
            cells.append(f"{b / a:5.2f} ({a * 1e6:,.0f})")
        lines.append((min(ratios, default=0.0), name, cells, ratios))
    print("PyTorch's time over ours, in brackets ours in microseconds; sorted by the worst of a row")
    print(f"{'operation':24}" + "".join(f"{f'{size:,}':>24}" for size in sizes))
    for _, name, cells, _ in sorted(lines, key=lambda line: line[0]):
        print(f"{name:24}" + "".join(f"{cell:>24}" for cell in cells))
    every = [ratio for *_, ratios in lines for ratio in ratios]
    if every:
        won = sum(ratio >= 1 for ratio in every)
        print(f"{won} of {len(every)} figures at least as fast as PyTorch; median {statistics.median(every):.2f}")


if __name__ == "__main__":
    main()
