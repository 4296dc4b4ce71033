"""The sample calls of every operation at edges: zeros, units, halves, equal elements, what is not finite; of nothing.

Both engines give values, slopes, tangents, and slopes and tangents of slopes; in doubles, so that what differs is no
rounding.  ``python -m tests.property.edge_numbers --count 20000 --seed 1`` runs so many and prints each that differs.
"""

from __future__ import annotations

import re
import warnings
from collections import Counter
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

import glassgrad
from tests import counts
from tests.laws import Call, array
from tests.property.excused import Reason, reason
from tests.samples import Sample, T, all_samples
from tests.torch_reference import torch

EDGES = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, 3.0, -3.0, 6.0, -6.0, 20.0]
NOT_FINITE = [float("nan"), float("inf"), float("-inf")]
SLOPES = [-2.0, -1.0, 0.5, 1.0, 3.0]
ORDERS = ["values", "slopes", "tangents", "slopes of slopes", "tangents of slopes"]
#: What draws numbers, or for ever where it is given what is not finite; what gives memory as it finds it.
LEFT_OUT = re.compile("empty|multinomial|normal|rand|lobpcg|lowrank|rrelu|fractional|binomial|poisson|gamma$|dirichlet")
#: Where PyTorch reads beyond its memory at what is not finite.
ENDS = "grid_s"
#: What ends PyTorch's process where something is empty.
CRASHES = re.compile("weight_norm|pdist|native_batch_norm")
#: What PyTorch has no rule for.
LACKS = re.compile("not implemented|not been implemented|does not support it")
#: What mixes elements: what is not finite meets zeros there, in an order of each engine's own.
MIXES = (
    "matmul|mm|mv|cross_entropy|bilinear|conv|attention|einsum|interpolate|upsample|grid_s|prod|var|std|ctc_loss|renorm|"
    "stft|det|norm|cdist|solve|lstsq|inv|_loss|vander|fft|with_logits|polar|matrix_power|lstm|gru|rnn|lerp"
)
REASONS = [
    Reason("signs and bases that are free", "", "", "svd|eig|qr|householder|ormqr|cholesky|topk|kthvalue|mode"),
    Reason("signs and bases that are free", "", "", r"(^|\.)lu"),
    Reason("what is not finite, multiplied and added up", "", "nan|inf", MIXES),
    Reason("which lanes take NaN", "", "", "relu6|elu|shrink|hardtanh|hardswish|polynomial"),
    Reason("PyTorch loses NaN", "", "", "embedding_bag|scatter_reduce|index_reduce"),
    Reason("poles, and beyond them", "", r"inf|nan|e\+3\d", "gamma|psi|logit|addcdiv|xlog1?p?y"),
    Reason("poles, and beyond them", "tangents of slopes", "", "xlog1?p?y"),
    Reason("zeros that stay zeros", "of slopes", "nan", "norm|sinc|atan2|sgn|copysign|dist|prod|pow|logit|cosine_s"),
    Reason("no slope outside the domain", "", "nan", "a(rc)?cosh|a(rc)?tan2"),
    Reason("the largest, or middle, of NaN", "^tangents", "nan", "(?m)^(max|min|median|nanmedian)$"),
    Reason("factors of matrices with infinities", "", "", r"(det|inv|inverse|solve|power)\n(.|\n)*not finite"),
    Reason("matrices that are nearly singular", "", r"singular|rank|converge|e\+(0[6-9]|1\d)", "linalg|solve|norm|inv"),
    Reason("matrices without full rank", "", "", r"linalg\.(lstsq|cond)"),
    Reason("the ends of exponentials", "slopes", "nan", "soft_margin_loss"),
    Reason("PyTorch forgets the imaginary part", "tangents", "", "pow"),
    Reason("PyTorch shares what is above zero", "slopes", "", "segment_reduce"),
    Reason("PyTorch's derivatives of singular matrices are zero", "tangents|slopes", "", r"(?m)(^|\.)det$"),
    Reason("PyTorch has no tangent of products", "tangents", "", "scatter_reduce"),
    Reason("zeros beside what is huge", "", r"e\+0[89](.|\n)*e-(0[89]|1\d)", "matrix_exp"),
    Reason("two rules for one mixed slope", "tangents of slopes", "inf|e\\+", r"binary_cross_entropy\b"),
    Reason("PyTorch's second slopes are others", "of slopes", "", "_weight_norm|embedding"),
    Reason("PyTorch reads the other triangle too", "tangents", "", "triangular_solve|pinv"),
    Reason("PyTorch has no rule for it", "", "but got None|ZeroTensors|forward gradient that|backward is unsupported"),
    Reason("PyTorch has no rule for it", "of slopes", "matrix is singular", "det|solve"),
    Reason("PyTorch writes over what its rule reads", "", "modified by an inplace", "cond|vander"),
    Reason("PyTorch gives what was given back", "slopes", "", "as_strided_scatter"),
    Reason("other digits", "", "", "bessel|chebyshev|logcumsumexp"),
    Reason("PyTorch asks for elements", "", r"MKL FFT|at least one|non-zero size|stride[^']*' ''$", "empty"),
    Reason("PyTorch asks for elements", "", "(?i)pixel_?shuffle|_unpack_dual|different size than|outer: Ex", "empty"),
    Reason("PyTorch asks for elements", "", "", "(bernoulli_|native_dropout|addmv|margin_loss)\nempty"),
    Reason("what is made of nothing", "tangents|of slopes", "nan", "(sumexp|mse_loss|var|norm|pow).*\nempty"),
]


class EdgeCall(Call):
    """A sample's call where its floating numbers are at edges, and its derivatives there."""

    def __init__(self, sample: Sample, engine: Any, seed: int) -> None:
        self.seed = seed
        #: The dimension in which everything is empty; None where nothing is.
        self.empty = {0: 0, 1: -1}.get(int(np.random.default_rng(seed).integers(12)))
        super().__init__(sample, engine, "float64")

    def cut(self, spec: T) -> T:
        """The spec of a tensor, or of one that is empty."""
        if self.empty is None or not spec.shape or CRASHES.search(self.sample.name):
            return spec
        sizes = np.empty(spec.shape).take([], self.empty).shape
        return replace(spec, shape=sizes, values=None if spec.values is None else np.take(spec.values, [], self.empty))

    def tensor(self, spec: T) -> Any:
        """The tensor of a spec, some of its numbers, or all, at edges."""
        spec = self.cut(spec)
        if spec.kind != "float":
            return super().tensor(spec)
        chance = np.random.default_rng([self.seed, len(self.leaves)])
        numbers = np.array(spec.array(chance, self.dtype))
        is_edge = chance.random(numbers.shape) < chance.choice([0.4, 1.0])
        numbers[is_edge] = chance.choice(EDGES, numbers.shape)[is_edge]
        if self.seed % 2 and ENDS not in self.sample.name:
            is_edge = chance.random(numbers.shape) < 0.2
            numbers[is_edge] = chance.choice(NOT_FINITE, numbers.shape)[is_edge]
        return super().tensor(replace(spec, values=numbers))

    def slope(self, tensor: Any) -> Any:
        """A number for each of a tensor."""
        chance = np.random.default_rng([self.seed, *tensor.shape])
        return self.engine.from_numpy(np.array(chance.choice(SLOPES, tuple(tensor.shape)))).to(tensor.dtype)

    def results(self, *, recorded: bool) -> list[Any]:
        """The floating results; or those that require gradients."""
        every = [each for each in self() if isinstance(each, self.engine.Tensor)]
        return [each for each in every if (each.requires_grad if recorded else each.is_floating_point())]

    def given(self, order: str) -> list[Any]:
        """What the call gives of an order: tensors, or None where a derivative is none."""
        if order == "values":
            return self.results(recorded=False)
        forward = self.engine.autograd.forward_ad
        with forward.dual_level():
            if order.startswith("tangents"):
                made = {id(leaf): forward.make_dual(leaf, self.slope(leaf)) for leaf in self.leaves}
                self.args, self.kwargs = put(self.args, made), put(self.kwargs, made)
                self.leaves = [*made.values()]
            results = self.results(recorded=True)
            if order != "tangents":
                results = self.slopes(results, order)
            if order.startswith("tangents"):
                results = [forward.unpack_dual(each).tangent for each in results]
            return results if order != "slopes of slopes" else self.slopes(results, order)

    def slopes(self, results: list[Any], order: str) -> list[Any]:
        """The slopes of results in the leaves."""
        results = [each for each in results if each is not None and each.requires_grad]
        weights = [self.slope(each) for each in results]
        is_kept = order != "slopes"
        return [*self.engine.autograd.grad(results, self.leaves, weights, create_graph=is_kept, allow_unused=True)]


def put(value: Any, made: dict[int, Any]) -> Any:
    """Arguments with other tensors in place of some."""
    if isinstance(value, dict):
        return {key: put(part, made) for key, part in value.items()}
    if isinstance(value, list | tuple) and not hasattr(value, "_fields"):
        return type(value)(put(part, made) for part in value)
    return made.get(id(value), value)


@cache
def samples() -> list[Sample]:
    """The samples that are tried."""
    return [each for each in all_samples() if each.in_torch and not LEFT_OUT.search(each.name)]


def same(wanted: Any, actual: Any) -> bool:
    """Whether two derivatives, or values, agree; none is zero."""
    if wanted is None or actual is None:
        one = actual if wanted is None else wanted
        return one is None or not array(one).any()
    a, b = array(wanted), array(actual)
    return a.shape == b.shape and np.allclose(a, b, 1e-6, 1e-9, equal_nan=True)


def answer(sample: Sample, engine: Any, seed: int, order: str) -> tuple[str, list[Any]]:
    """What an engine refuses a call with, or gives of an order."""
    try:
        with warnings.catch_warnings(), counts.working(engine):
            warnings.simplefilter("ignore")
            return "", EdgeCall(sample, engine, seed).given(order)
    except Exception as error:  # noqa: BLE001  which is what is compared
        return f"{type(error).__name__}: {error}", []


def about(sample: Sample, seed: int) -> list[str]:
    """The name of a call, and what is special about its tensors."""
    call = EdgeCall(sample, glassgrad, seed)
    is_finite = all(np.isfinite(array(leaf)).all() for leaf in call.leaves)
    return [sample.name, *["empty"] * (call.empty is not None), *["not finite"] * (not is_finite)]


def look(seed: int) -> list[tuple[str, str]]:
    """The orders in which a call differs, and what is said."""
    sample = samples()[seed % len(samples())]
    differ = []
    for order in ORDERS[: 1 if not sample.gradient else 3 if seed % 2 else None]:
        (refused, wanted), (ours_refused, actual) = (answer(sample, each, seed, order) for each in (torch, glassgrad))
        if LACKS.search(refused):
            continue
        if bool(refused) != bool(ours_refused):
            said = f"{refused!r} {ours_refused!r}"
        elif len(wanted) != len(actual) or not all(map(same, wanted, actual)):
            said = "\n".join(str([each if each is None else array(each) for each in part]) for part in (wanted, actual))
        else:
            continue
        if not reason(order, said, about(sample, seed), REASONS):
            differ.append((order, said))
    return differ


def main() -> None:
    """Run many, and print what differs."""
    options = counts.options(__doc__, len(samples())).parse_args()
    sorts: Counter[str] = Counter()
    calls = ended = 0
    for seed, seen, code in counts.outlived(counts.asked(options), look):
        calls += 1
        ended += bool(code)
        sample = samples()[seed % len(samples())]
        if code:
            print(f"\n# {seed}: {sample.id}: {counts.ender()} ends the process with {code}", flush=True)
        for order, said in seen or []:
            sorts[order] += 1
            call = EdgeCall(sample, glassgrad, seed)
            print(f"\n# {seed}: {order} of {sample.name}", call.args, call.kwargs, said[:1500], sep="\n", flush=True)
    print(f"{calls:,} calls, {sum(sorts.values())} differ {dict(sorts)}, {ended} end the process")


if __name__ == "__main__":
    main()
