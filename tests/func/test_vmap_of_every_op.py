"""``vmap`` of every operation is the loop over the examples: each input alone, all together; derivatives in and out."""

from __future__ import annotations

import importlib
import pkgutil
import re
import warnings
from dataclasses import replace

import numpy as np
import pytest

import glassgrad
import glassgrad.families
from glassgrad.core.row import TABLE
from tests.laws import Call, array, flat
from tests.property import further_calls
from tests.samples import T, all_samples


def leaves_of(tree, leaves):
    """All tensors in nested arguments, put into ``leaves``; the arguments with their numbers in place of them."""
    if isinstance(tree, glassgrad.Tensor):
        leaves.append(tree)
        return _Number(len(leaves) - 1)
    if isinstance(tree, (list, tuple)) and not hasattr(tree, "_fields"):
        return type(tree)(leaves_of(part, leaves) for part in tree)
    if isinstance(tree, dict):
        return {key: leaves_of(part, leaves) for key, part in tree.items()}
    return tree


class _Number(int):
    """Which tensor stands here."""


def filled(tree, leaves):
    """The arguments again."""
    if isinstance(tree, _Number):
        return leaves[tree]
    if isinstance(tree, (list, tuple)) and not hasattr(tree, "_fields"):
        return type(tree)(filled(part, leaves) for part in tree)
    if isinstance(tree, dict):
        return {key: filled(part, leaves) for key, part in tree.items()}
    return tree


def other(tensor, number):
    """Another example of the same kind: the elements in another order, where that may be."""
    values = array(tensor)
    if values.size < 2 or number == 0:
        return tensor.detach()
    turned = np.ascontiguousarray(np.roll(values.reshape(-1), number).reshape(values.shape))
    return glassgrad.from_numpy(turned).to(tensor.dtype)


#: What ``vmap`` refuses, in PyTorch's words: results whose sizes differ, writes of a batch into what is none, draws
#: that are to be the same of chances that are not.
REFUSED = (
    "that can output dynamic shape",
    "that can support dynamic shape",
    "allclose isn't supported",
    "Batching rule not implemented for aten::equal",
    "is not possible because there exists a Tensor `other` in extra_args that has more elements than `self`",
    "were not batched",  # running statistics of batch normalization
    "does not currently support same randomness with a batched tensor input",
    "Explicit attn_mask should not be set when is_causal=True",
)
#: What draws in an order of its own for each layout; what puts a window into memory counted from its beginning.
APART = ("_like[transposed", "normal_[transposed", "uniform_[transposed", "as_strided_scatter")


SAMPLES = [
    sample
    for sample in all_samples()
    if any(isinstance(part, T) for part in sample.args) and not any(name in sample.id for name in APART)
]


class Case:
    """A sample as a function of its tensors."""

    def __init__(self, sample, kind=Call):
        self.id = sample.id
        self.call = kind(sample, glassgrad, "float64" if "float64" in sample.only else sample.only[0], False)
        self.leaves = []
        self.args = leaves_of(self.call.args, self.leaves)
        self.kwargs = leaves_of(self.call.kwargs, self.leaves)
        self.function = self.call.function()

    def __call__(self, *leaves):
        glassgrad.manual_seed(0)
        leaves = [leaf.clone() for leaf in leaves]  # which may be written in place
        args, kwargs = filled(self.args, leaves), filled(self.kwargs, leaves)
        return tuple(out for out in flat(self.function(*args, **kwargs)) if isinstance(out, glassgrad.Tensor))


def is_refused(case, error):
    """Whether ``vmap`` refuses a sample as PyTorch does."""
    if "would return a differently shaped Tensor" in str(error):
        return case.id.startswith("masked_select")  # what is made of masks must not select
    if "the values of a batch" in str(error):
        return "include_last_offset" in case.id or "_pad_packed_sequence" in case.id
    return any(words in str(error) for words in REFUSED)


def assert_the_loop(case, chosen, size, where):
    """``vmap`` over the leaves ``chosen`` gives what the loop over examples gives; whether that was at once."""
    examples = [
        [other(leaf, number) if position in chosen else leaf for position, leaf in enumerate(case.leaves)]
        for number in range(size)
    ]
    try:
        loop = [case(*some) for some in examples]
        wanted = [np.stack([array(part) for part in column]) for column in zip(*loop, strict=True)]
    except Exception:  # other examples make no sense here: the same one again
        examples = [list(case.leaves) for _ in range(size)]
        loop = [case(*some) for some in examples]
        wanted = [np.stack([array(part) for part in column]) for column in zip(*loop, strict=True)]
    if not wanted:
        return True
    dims = tuple(where if position in chosen else None for position in range(len(case.leaves)))
    stacked = [
        glassgrad.stack([some[position] for some in examples], where) if position in chosen else leaf
        for position, leaf in enumerate(case.leaves)
    ]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            outs = glassgrad.func.vmap(case, in_dims=dims, randomness="same")(*stacked)
        except RuntimeError as error:
            if is_refused(case, error):
                return True
            raise
    assert len(outs) == len(wanted)
    for out, expected, one in zip(outs, wanted, loop[0], strict=True):
        assert out.dtype is one.dtype
        assert tuple(out.shape) == expected.shape
        values = array(out)
        if values.dtype.kind in "fc":
            precise = values.dtype.itemsize >= 8
            scale = np.nanmax(np.abs(expected[np.isfinite(expected)]), initial=1.0)
            np.testing.assert_allclose(
                values, expected, rtol=1e-9 if precise else 2e-3, atol=(1e-11 if precise else 2e-3) * scale
            )
        else:
            np.testing.assert_array_equal(values, expected)
    return not any("performance drop" in str(warning.message) for warning in caught)


@pytest.mark.once
@pytest.mark.parametrize("sample", SAMPLES, ids=[sample.id for sample in SAMPLES])
def test_vmap_is_the_loop(sample):
    """Of each tensor alone, and of all together."""
    case = Case(sample)
    everything = tuple(range(len(case.leaves)))
    assert_the_loop(case, everything, 3, 0)
    if len(everything) > 1:
        for position in everything:
            assert_the_loop(case, (position,), 2, -1)


DIFFERENTIABLE = [sample for sample in SAMPLES if sample.gradient and "float64" in sample.only]


def weighed(case):
    """A number made of all differentiable results, as a function of all leaves."""

    def number(*leaves):
        total = 0.0
        for out in case(*leaves):
            if out.is_floating_point() and out.numel():
                total = total + (out * out * 0.5 + out).sum()
        return total

    return number


@pytest.mark.once
@pytest.mark.parametrize("sample", DIFFERENTIABLE, ids=[sample.id for sample in DIFFERENTIABLE])
def test_gradients_within_and_around_vmap(sample):
    """``vmap(grad(f))`` is the loop of ``grad(f)``; ``grad`` of the sum of ``vmap(f)`` is the same.

    Indices and masks are once those of all examples, and once those of each.
    """
    case = Case(sample)
    floats = tuple(position for position, leaf in enumerate(case.leaves) if leaf.is_floating_point())
    everything = tuple(range(len(case.leaves)))
    if floats:
        assert_gradients_are_the_loop(case, floats, floats)
    if floats and floats != everything:
        assert_gradients_are_the_loop(case, floats, everything)


def assert_gradients_are_the_loop(case, floats, batched):
    """Gradients by the leaves ``floats``, where each example has leaves ``batched`` of its own."""
    func = glassgrad.func
    number, gradients = weighed(case), func.grad(weighed(case), argnums=floats)
    for turned in (batched, floats, ()):  # where another example makes no sense, it is the same one again
        pairs = [
            leaf if position not in batched else glassgrad.stack([leaf, other(leaf, int(position in turned))])
            for position, leaf in enumerate(case.leaves)
        ]
        examples = [[pair[index] if at in batched else pair for at, pair in enumerate(pairs)] for index in range(2)]
        try:
            loop = [gradients(*example) for example in examples]
            break
        except Exception:
            continue
    else:
        return  # nothing is differentiable
    wanted = [np.stack([array(part) for part in column]) for column in zip(*loop, strict=True)]
    dims = tuple(0 if position in batched else None for position in range(len(pairs)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            within = func.vmap(gradients, dims, randomness="same")(*pairs)
            around = func.grad(lambda *some: func.vmap(number, dims, randomness="same")(*some).sum(), floats)(*pairs)
        except RuntimeError as error:
            if is_refused(case, error):
                return
            raise
    for which, given in (("within", within), ("around", around)):
        for out, expected in zip(given, wanted, strict=True):
            scale = np.nanmax(np.abs(expected[np.isfinite(expected)]), initial=1.0)
            np.testing.assert_allclose(array(out), expected, rtol=1e-8, atol=1e-9 * scale, err_msg=which)


class EmptyCall(Call):
    """A call where tensors have no elements, along the first dimension or the last."""

    dim = 0

    def tensor(self, spec):
        if spec.shape:
            sizes = np.empty(spec.shape).take([], self.dim).shape
            values = None if spec.values is None else np.take(spec.values, [], self.dim)
            spec = replace(spec, shape=sizes, values=values)
        return super().tensor(spec)


class EmptyAtTheEnd(EmptyCall):
    """The last dimension has none."""

    dim = -1


@pytest.mark.once
@pytest.mark.parametrize("kind", [EmptyCall, EmptyAtTheEnd])
@pytest.mark.parametrize("part", range(4))
def test_vmap_of_nothing_is_the_loop(part, kind):
    """Examples may be empty, as long as one alone is taken; so are gradients."""
    tried = 0
    for sample in SAMPLES[part::4]:
        try:
            case = Case(sample, kind)
            case(*case.leaves)
        except Exception:  # refused
            continue
        if sample.id.startswith("row."):  # which is told its sizes
            continue
        everything = tuple(range(len(case.leaves)))
        for chosen in dict.fromkeys([everything, *[(position,) for position in everything]]):
            assert_the_loop(case, chosen, 2, 0)
        floats = tuple(position for position, leaf in enumerate(case.leaves) if leaf.is_floating_point())
        if floats and sample.gradient:
            assert_gradients_are_the_loop(case, floats, everything)
        tried += 1
    assert tried > 400


@pytest.mark.once
@pytest.mark.parametrize("part", range(4))
def test_vmap_of_no_example_has_the_sizes_of_one(part):
    """And the dtypes; gradients have those of what they are gradients of."""
    tried = 0
    for sample in SAMPLES[part::4]:
        case = Case(sample)
        outs, everything = case(*case.leaves), range(len(case.leaves))
        none = [leaf.detach()[None][:0] for leaf in case.leaves]
        try:
            batches = glassgrad.func.vmap(case, randomness="same")(*none)
            kinds = [(out.dtype, 0, *out.shape) for out in outs]
            assert [(out.dtype, *out.shape) for out in batches] == kinds, sample.id
            floats = tuple(position for position in everything if case.leaves[position].is_floating_point())
            if floats and sample.gradient and any(out.is_floating_point() and out.numel() for out in outs):
                grads = glassgrad.func.vmap(glassgrad.func.grad(weighed(case), floats), randomness="same")(*none)
                assert [grad.shape[1:] for grad in grads] == [case.leaves[position].shape for position in floats]
            tried += 1
        except RuntimeError as error:
            assert is_refused(case, error) or re.search(NO_EXAMPLE, f"{sample.id}: {error}"), sample.id
    assert tried > 400


@pytest.mark.once
def test_what_is_drawn_for_all_examples_is_drawn_once():
    """After ``vmap(f, randomness="same")`` the generator stands where one call of ``f`` leaves it."""
    tried = 0
    for sample in [*SAMPLES, *[each for each in further_calls.SAMPLES if "softmax" in each.id]]:
        case = Case(sample)  # which sets the seed
        start = glassgrad.manual_seed(0).get_state()
        case(*case.leaves)
        end = glassgrad.get_rng_state()
        if glassgrad.equal(start, end):
            continue
        batch = [glassgrad.stack([leaf.detach()] * 2) for leaf in case.leaves]
        try:
            outs = glassgrad.func.vmap(case, randomness="same")(*batch)
        except RuntimeError as error:
            assert is_refused(case, error)
            continue
        tried += 1
        assert glassgrad.equal(glassgrad.get_rng_state(), end), sample.id
        for out, alone in zip(outs, case(*case.leaves), strict=True):
            np.testing.assert_allclose(array(out[0]), array(alone), rtol=1e-6, err_msg=sample.id)
    assert tried > 20


#: What follows from values that no example has; what has no gradient by one of its leaves.
NO_EXAMPLE = (
    "follows from values|storage|calling .item|number of classes from empty|padded_sequence.*greater than 0|"
    "ctc_loss|not differentiable with respect|derivative for|no batching rule"
)


def test_written_rules_stand_in_the_family_of_their_row():
    """A family's rules are imported when a batch first meets one of its rows: elsewhere they might come too late."""
    for info in pkgutil.iter_modules(glassgrad.families.__path__, "glassgrad.families."):
        if importlib.util.find_spec(f"{info.name}.batches") is not None:
            importlib.import_module(f"{info.name}.batches")
    rules = [(TABLE[name], rule) for name in TABLE for rule in (TABLE[name].batch_rule, TABLE[name].composed) if rule]
    assert len(rules) > 100
    for row, rule in rules:
        assert rule.__module__.rpartition(".")[0] == row.plain.__module__.rpartition(".")[0], row.name
