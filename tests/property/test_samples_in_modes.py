"""Every operation's sample calls while something else holds: another default, no recording, no data.

What a call makes on its way is made where its inputs are; of what has no data, nothing is told that follows from data.
"""

import re

import numpy as np
import pytest

import glassgrad
from tests.counts import count
from tests.property.changed_calls import CallRun, Text, samples
from tests.property.random_programs import differ
from tests.torch_reference import torch

pytestmark = pytest.mark.torch

PARTS = 3
MODES = {
    "another default dtype": "torch.set_default_dtype(torch.float64); ",
    "no data by default": "with torch.device('meta'): ",
    "inference": "with torch.inference_mode(): ",
}
#: What PyTorch forgets in its list of functions that make tensors; and what it does in another way there.
FORGOTTEN = re.compile(r"torch\.range\(|bernoulli|multinomial|l1_loss\(.*weight")


def called(engine, lines):
    """The type of the error that a call ends with, and the parts of its result."""
    run = CallRun(engine)
    try:
        failed = next(filter(None, (run.do(line)[0] for line in lines)), "")
    finally:
        engine.set_default_dtype(engine.float32)
    return failed, [value for name, value in run.pool.items() if re.fullmatch(r"r\d*", name)]


def about(parts):
    return [(str(part.device), str(part.dtype), tuple(part.shape)) for part in parts]


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("mode", MODES)
def test_same_as_torch(mode, part):
    calls = 0
    for name in [*samples()][part::PARTS]:
        for sample in samples()[name][: count(2)]:
            lines = [line for line in Text(1, sample).lines if "requires_grad_" not in line]
            lines[-1] = MODES[mode] + lines[-1]
            (failed, theirs), (ours_failed, mine) = called(torch, lines), called(glassgrad, lines)
            calls += 1
            if FORGOTTEN.search(lines[-1]):
                continue
            assert (failed, about(theirs)) == (ours_failed, about(mine)), "\n".join(lines)
            with torch.no_grad(), glassgrad.no_grad():
                for a, b in zip(theirs, mine, strict=True):
                    held = str(a.device) != "meta" and not a.is_sparse
                    assert not held or not differ(a.clone(), b.clone(), 1e-3), "\n".join(lines)
    assert calls > 300


@pytest.mark.parametrize("part", range(PARTS))
def test_zeros_have_torchs_signs(part):
    zeros = 0
    for sample in [each for name in [*samples()][part::PARTS] for each in samples()[name]]:
        lines = Text(1, sample).lines
        (_, theirs), (_, mine) = called(torch, lines), called(glassgrad, lines)
        for a, b in zip(theirs, mine, strict=True):
            if a.is_floating_point() and not a.is_sparse and not a.is_meta:
                wanted, actual = a.detach().double().numpy(), b.detach().double().numpy()
                both = (wanted == 0) & (actual == 0)
                assert (np.signbit(wanted) == np.signbit(actual))[both].all(), "\n".join(lines)
                zeros += both.sum()
    assert zeros > 300


#: Of these PyTorch tells something that follows from the data of one that has none, or is on no device of its own.
TOLD = "isin|Tensor.type"


def on_meta(lines, names):
    """The lines of a call, where the tensors of these names are moved to meta as soon as they are made."""
    return [*[re.sub(rf"^([{names}]) = .*", r"\g<0>; \1 = \1.to('meta')", line) for line in lines[:-1]], lines[-1]]


@pytest.mark.parametrize("part", range(PARTS))
def test_nothing_follows_from_data_that_is_not_there(part):
    """Of all tensors, and of each alone: what PyTorch refuses, or gives without data, has none here."""
    refused = 0
    for name in [*samples()][part::PARTS]:
        if re.fullmatch(TOLD, name):
            continue
        for sample in samples()[name]:
            text = Text(1, sample)
            lines = [line for line in text.lines if "requires_grad_" not in line and "_leaf" not in line]
            for chosen in dict.fromkeys(["".join(text.names), *text.names]):
                moved = on_meta(lines, chosen)
                failed, theirs = called(torch, moved)
                ours_failed, mine = called(glassgrad, moved)
                refused += bool(failed)
                there, here = (sum(str(value.device) != "meta" for value in parts) for parts in (theirs, mine))
                assert ours_failed or here <= (0 if failed else there), "\n".join(moved)
    assert refused > 100


#: What PyTorch has no rule for there, or refuses; what is told there of its own; and what ``to`` does not carry over.
NO_SUCH_GRADIENTS = "corrcoef|cov|embedding_bag|istft"


def recorded(engine, lines, names):
    """What is known of the results of lines on meta, and of the gradients of the tensors ``names``; None: refused."""
    run = CallRun(engine)
    if any(run.do(line)[0] for line in lines):
        return None, None
    parts = [value for name, value in run.pool.items() if re.fullmatch(r"r\d*", name)]
    told = [(part.requires_grad, *about([part])) for part in parts]
    ends = [part for part in parts if part.requires_grad]
    leaves = [leaf for leaf in map(run.pool.get, names) if leaf.requires_grad]
    if not ends:
        return told, []
    try:
        slopes = engine.autograd.grad(ends, leaves, [engine.ones_like(end) for end in ends], allow_unused=True)
    except (RuntimeError, NotImplementedError):
        return told, None
    return told, [None if slope is None else about([slope]) for slope in slopes]


@pytest.mark.parametrize("part", range(PARTS))
def test_history_of_what_has_no_data(part):
    """On meta, results record what they do with data, and nothing is drawn from the generator."""
    calls = 0
    for name in [*samples()][part::PARTS]:
        if re.fullmatch(NO_SUCH_GRADIENTS, name):
            continue
        for sample in samples()[name]:
            text = Text(1, sample)
            lines = on_meta(text.lines, "".join(text.names))
            if not any("requires_grad_" in line for line in lines):
                continue
            wanted, slopes = recorded(torch, lines, text.names)
            actual, own_slopes = recorded(glassgrad, lines, text.names)
            state = glassgrad.get_rng_state()
            assert glassgrad.equal(state, glassgrad.manual_seed(0).get_state()), lines[-1]  # with which each run begins
            if wanted is None or actual is None:
                continue
            calls += 1
            assert actual == wanted, "\n".join(lines)
            assert slopes is None or own_slopes == slopes, "\n".join(lines)
    assert calls > 400
