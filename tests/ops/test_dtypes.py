"""Every operation of every dtype, beside PyTorch: is it refused, in which words, and of which dtype is the result?

A few samples of every operation in CI; all of them with ``--count 1``, or by hand, which lists what differs:
``python -m tests.ops.test_dtypes [PATTERN]``.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

import glassgrad
from tests import counts
from tests.laws import Call, flat
from tests.samples import Sample, T, all_samples
from tests.torch_reference import torch

pytestmark = [pytest.mark.torch, pytest.mark.once]

DTYPES = "bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex64 complex128".split()
#: What differs, by the sort of difference and the names of operations; docs/limits.md says so too.
KNOWN = {
    "PyTorch takes any dtype where there are no elements, and its kernel is never reached": (
        "refused|type|words",
        r"addmm|bmm|conv2d|conv_transpose2d|cummax|einsum|matmul|mm|mv|log_softmax|softmax|"
        r"nn.functional.scaled_dot_product_attention",
    ),
    "there is no complex32": ("refused|type|dtype", "add|sub|mul|ne|pow|complex|view_as_complex"),
    "logcumsumexp of complex numbers is left out": ("refused", "logcumsumexp"),
    "searching among truth values": ("refused", "bucketize|searchsorted"),
    "histograms name and order their refusals otherwise, and take no halves": (".*", "histc|histogram|histogramdd"),
    "recurrent networks of integers, and those of bools, compute one step": (".*", ".*(lstm|gru|rnn).*"),
    "attention of integers": (".*", "nn.functional.scaled_dot_product_attention"),
    "short-time Fourier transforms of integers, and with windows of them": (".*", "stft|istft"),
    "in place, the dtype of the result is refused first": ("words|taken", "(abs|ldexp|mvlgamma|pow)_"),
    "compositions refuse at another of their steps": (
        "words|type|taken|refused",
        r"linalg\.pinv|dist|tensordot|addr|cov|convolution|bincount|ldexp|index_put|index_reduce|scatter_reduce|"
        r"norm_except_dim|_weight_norm|native_dropout|affine_grid_generator|(nn\.functional\.)?bilinear|"
        r"nn\.functional\.(linear|batch_norm|cross_entropy|gaussian_nll_loss|soft_margin_loss|margin_ranking_loss|"
        r"multilabel_margin_loss)",
    ),
    "dtypes of what is remembered of int32 and of halves": (
        "dtype",
        "native_batch_norm|bilinear|repeat_interleave|embedding_bag",
    ),
}


class Cast(Call):
    """A sample's call in one engine with its tensors of one ``kind`` cast to a dtype."""

    def __init__(self, sample: Sample, engine: Any, kind: str, dtype: str) -> None:
        self.kind, self.cast_to = kind, dtype
        super().__init__(sample, engine, "float32", requires_grad=False)

    def tensor(self, spec: T) -> Any:
        """The tensor of a spec."""
        made = super().tensor(spec)
        if spec.kind != self.kind:
            return made
        if self.cast_to == "uint8" and not made.is_complex():
            made = made.abs()
        if made.is_complex() and not self.cast_to.startswith("complex"):
            made = made.real
        return made.to(getattr(self.engine, self.cast_to))


def kinds(value: Any) -> set[str]:
    """The kinds of the tensors among arguments."""
    if isinstance(value, T):
        return {value.kind}
    pieces = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    return {kind for piece in pieces for kind in kinds(piece)}


def outcome(sample: Sample, engine: Any, kind: str, dtype: str, in_place: bool) -> tuple[Any, ...]:
    """The dtypes and sizes of a call's results, or the type and the words of its error."""
    try:
        call = Cast(sample, engine, kind, dtype)
        if in_place:
            result = getattr(call.args[0], sample.name.split(".")[-1] + "_")(*call.args[1:], **call.kwargs)
        else:
            result = call()
        return "taken", *[(str(piece.dtype), tuple(piece.shape)) for piece in flat(result) if hasattr(piece, "dtype")]
    except Exception as error:  # noqa: BLE001  any error is an outcome
        return type(error).__name__, str(error)


def difference(wanted: tuple[Any, ...], actual: tuple[Any, ...]) -> str:
    """What sort of difference there is between two outcomes; empty where there is none."""
    if wanted == actual:
        return ""
    if wanted[0] == actual[0]:
        return "dtype" if wanted[0] == "taken" else "words"
    return "refused" if wanted[0] == "taken" else "taken" if actual[0] == "taken" else "type"


def differences(samples: list[Sample]) -> Iterator[tuple[str, str, str]]:
    """The sort, the operation and both outcomes of every difference among the calls of samples."""
    for sample in samples:
        for kind in sorted({"float", *kinds(sample.args), *kinds(sample.kwargs)}):
            for dtype in DTYPES:
                for in_place in (False, True) if sample.inplace else (False,):
                    arguments = kind, dtype, in_place
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        wanted, actual = (outcome(sample, engine, *arguments) for engine in (torch, glassgrad))
                    name = sample.name + "_" * in_place
                    if sort := difference(wanted, actual):
                        yield sort, name, f"{sample.id} {kind} {dtype}:\n  {wanted}\n  {actual}"


def is_known(sort: str, name: str) -> bool:
    """Whether a difference is one that docs/limits.md tells."""
    return any(re.fullmatch(sorts, sort) and re.fullmatch(names, name) for sorts, names in KNOWN.values())


def chosen() -> dict[str, list[Sample]]:
    """Samples of every operation by its name: the first of each length of arguments, or all."""
    by_name: dict[str, dict[Any, Sample]] = {}
    for position, sample in enumerate(all_samples()):
        if sample.in_torch:
            key = position if counts.chosen else len(sample.args)
            by_name.setdefault(sample.name, {}).setdefault(key, sample)
    return {name: list(samples.values()) for name, samples in by_name.items()}


SAMPLES = chosen()
PARTS = 24


@pytest.mark.parametrize("part", range(PARTS))
def test_every_dtype(part):
    samples = [sample for name in list(SAMPLES)[part::PARTS] for sample in SAMPLES[name]]
    unknown = [text for sort, name, text in differences(samples) if not is_known(sort, name)]
    assert not unknown, "\n".join(unknown)


if __name__ == "__main__":
    pattern = sys.argv[1] if len(sys.argv) > 1 else ""
    counts: Counter[tuple[str, str]] = Counter()
    for sort, name, text in differences([s for s in all_samples() if s.in_torch and re.search(pattern, s.name)]):
        counts[sort, name] += 1
        if not is_known(sort, name):
            print(sort, text)
    print(*(f"{count:5} {sort} {name}" for (sort, name), count in counts.most_common()), sep="\n")
