"""The laws that every operation obeys, each a test over the table, its samples and dtypes."""

from __future__ import annotations

import numpy as np
import pytest

import glassgrad
from glassgrad.core.row import TABLE
from tests.laws import Call, array, flat, graph
from tests.samples import all_samples

SAMPLES = all_samples()
CASES = [(sample, dtype) for sample in SAMPLES for dtype in sample.only]
IN_TORCH = [case for case in CASES if case[0].in_torch]


def each_case(cases):
    """Run a law on each pair of a sample and a dtype."""
    return pytest.mark.parametrize("sample,dtype", cases, ids=[f"{sample.id}-{dtype}" for sample, dtype in cases])


def each_sample(samples):
    """Run a law on each sample."""
    return pytest.mark.parametrize("sample", samples, ids=[sample.id for sample in samples])


def once_where_torch_has_it(samples):
    """Run a law on each sample; once on those whose results another law compares with torch's on every path."""
    marks = {True: [pytest.mark.once], False: []}
    cases = [pytest.param(sample, id=sample.id, marks=marks[sample.in_torch]) for sample in samples]
    return pytest.mark.parametrize("sample", cases)


with_slopes = [sample for sample in SAMPLES if sample.gradient and sample.slope and "float64" in sample.only]
TOLERANCE = {"float32": (2e-6, 2e-6), "float64": (1e-12, 1e-12), "float16": (2e-3, 2e-3), "bfloat16": (2e-2, 2e-2)}


def close(ours, theirs, sample, dtype, what="value"):
    """Assert equal shapes and dtypes, and values to rounding."""
    assert tuple(ours.shape) == tuple(theirs.shape), what
    assert str(ours.dtype) == str(theirs.dtype), what
    close_arrays(array(ours), array(theirs), sample, dtype, what)


def close_arrays(a, b, sample, dtype, what="value"):
    """Assert equal values, to rounding where they are not whole."""
    if a.dtype.kind in "fc":
        rtol, atol = TOLERANCE[dtype]
        rtol = max(rtol, sample.rtol)
        scale = np.nanmax(np.abs(b[np.isfinite(b)])) if np.isfinite(b).any() else 0
        np.testing.assert_allclose(a, b, rtol=rtol, atol=atol * max(float(scale), 1e-3), err_msg=what)
    else:
        np.testing.assert_array_equal(a, b, err_msg=what)


@pytest.mark.once
def test_every_row_is_documented_and_ruled():
    """Every row has a docstring and, unless constant, a rule; every name is declared once."""
    for row in TABLE.values():
        assert (row.kernel.__doc__ or "").strip(), f"{row.name} has no docstring"
        assert row.constant or row.rules, f"{row.name} has no rule and is not constant"
        carrying = {name for names, *_ in row.rules for name in names}
        assert not carrying & row.auxiliary, f"{row.name}: an auxiliary input has a gradient, whose dtype nobody fits"


@pytest.mark.once
@pytest.mark.fast  # it watches the kernels by having their callers printed anew
def test_every_row_has_a_sample():
    """Calling all samples, and their gradients twice, reaches every row of the table."""
    reached = set()
    originals = {}
    for row in TABLE.values():
        originals[row.name] = row.kernel, row.plain

        def watched(*args, _row=row, _kernel=row.kernel, **kwargs):
            reached.add(_row.name)
            return _kernel(*args, **kwargs)

        row.kernel = row.plain = watched  # printed callers of rows with a compiled kernel call the plain one
    from glassgrad.core import plan
    from glassgrad.fast import generate

    try:
        generate.ready_all()
        for sample in SAMPLES:
            made = Call(sample, glassgrad, sample.only[0])
            outputs = made.differentiable(made())
            if outputs and made.leaves:
                first = glassgrad.autograd.grad(
                    outputs, made.leaves, made.weights(outputs), create_graph=True, allow_unused=True
                )
                again = [g for g in first if g is not None and g.requires_grad]
                if again and sample.second:  # recorded too: rules on arrays hold the kernels they were made with
                    glassgrad.autograd.grad(
                        again, made.leaves, made.weights(again), create_graph=True, allow_unused=True
                    )
    finally:
        for row in TABLE.values():
            row.kernel, row.plain = originals[row.name]
        generate.ready_all()
        for names in plan._bound.values():  # rules on arrays that were bound meanwhile
            for name, value in names.items():
                if getattr(value, "__name__", "") == "watched":
                    names[name] = value.__kwdefaults__["_kernel"]
    missing = sorted(set(TABLE) - reached)
    assert not missing, f"rows that no sample reaches: {missing}"


@pytest.mark.torch
@each_case(IN_TORCH)
def test_value_is_torchs(sample, dtype):
    """Value, dtype and shape equal torch's; strides too, where the result is a view."""
    from tests.torch_reference import torch

    ours, theirs = Call(sample, glassgrad, dtype), Call(sample, torch, dtype)
    mine, yours = ours(), theirs()
    assert len(mine) == len(yours)
    for a, b in zip(mine, yours, strict=True):
        if isinstance(b, torch.Tensor):
            close(a, b, sample, dtype)
            assert a.requires_grad == b.requires_grad
            if (b._is_view() or a._is_view()) and not b.is_conj():  # a conjugate that waits is a view in torch alone
                assert a._is_view() == b._is_view(), "one is a view, the other is not"
                assert a.stride() == b.stride()
        else:
            assert type(a).__name__ == type(b).__name__
            assert a == b
    arguments_are_torchs(ours, theirs, dtype)


def arguments_are_torchs(ours, theirs, dtype):
    """What a call and its way back were given holds what it holds in torch afterwards: most often, what it held."""
    for a, b in zip(*(flat([*call.args, *call.kwargs.values()]) for call in (ours, theirs)), strict=True):
        if hasattr(b, "grad_fn"):
            close(a, b, ours.sample, dtype, "argument")


@each_case([case for case in CASES if case[0].reference])
def test_value_is_the_references(sample, dtype):
    """Where torch has no such operation, value, dtype and shape are those of a function of arrays."""
    call = Call(sample, glassgrad, dtype)
    for ours, expected in zip(call(), call.reference(), strict=True):
        value = array(ours)
        assert value.shape == expected.shape
        assert value.dtype == expected.dtype
        close_arrays(value, expected, sample, dtype)


@pytest.mark.torch
@each_case([case for case in IN_TORCH if case[0].gradient])
def test_gradients_are_torchs(sample, dtype):
    """First- and second-order gradients equal torch's."""
    from tests.torch_reference import torch

    found, calls = [], []
    for engine in (glassgrad, torch):
        calls.append(call := Call(sample, engine, dtype))
        outputs = call.differentiable(call())
        if not outputs or not call.leaves:
            found.append(((), ()))
            continue
        first = engine.autograd.grad(
            outputs, call.leaves, call.weights(outputs), create_graph=sample.second, allow_unused=True
        )
        second = []
        again = [g for g in first if g is not None and g.requires_grad] if sample.second else []
        if again:
            second = engine.autograd.grad(again, call.leaves, call.weights(again), allow_unused=True)
        found.append((first, second))
    (first, second), (their_first, their_second) = found
    arguments_are_torchs(*calls, dtype)
    for a, b in zip(first, their_first, strict=True):
        assert (a is None) == (b is None)
        if a is not None:
            close(a, b, sample, dtype, "gradient")
    assert len(first) == len(their_first)
    zero = None
    for a, b in zip(second or [zero] * len(their_second), their_second or [zero] * len(second), strict=True):
        if a is None and b is None:
            continue
        if a is None or b is None:  # None and zeros say the same
            assert not np.any(array(b if a is None else a)), "second order"
        else:
            close(a, b, sample, dtype, "second order")


@pytest.mark.torch
def test_second_gradients_of_far_logarithms_are_nearer_than_torchs():
    """Of float32, which holds a logarithm of -500 to 3e-5: the truth is that of float64."""
    from tests.torch_reference import torch

    rows, weights = [[200.0, -300.0, 199.0], [-500.0, -501.0, -502.0]], [[0.3, -0.7, 0.5], [1.0, 0.2, -0.4]]

    def second(engine, dtype):
        x = engine.tensor(rows, dtype=dtype, requires_grad=True)
        gradient = engine.autograd.grad((engine.logsumexp(x, 1) / 500).square().sum(), x, create_graph=True)[0]
        return array(engine.autograd.grad((gradient * engine.tensor(weights, dtype=dtype)).sum(), x)[0])

    truth = second(torch, torch.float64)
    assert np.allclose(second(glassgrad, glassgrad.float64), truth, 1e-11, 1e-11)
    ours, theirs = second(glassgrad, glassgrad.float32), second(torch, torch.float32)
    assert np.abs(ours - truth).max() <= np.abs(theirs - truth).max()


@once_where_torch_has_it(with_slopes)
def test_gradient_is_the_slope(sample):
    """The gradient along a random direction is the central difference along it."""
    call = Call(sample, glassgrad, "float64")
    if call.leaves:
        assert_gradient_is_the_slope(call, lambda: call.differentiable(call()))


@each_sample([sample for sample in with_slopes if sample.second and not sample.in_torch])
def test_second_gradient_is_the_slope(sample):
    """Where torch has no such operation, so is the gradient of the gradient."""
    call = Call(sample, glassgrad, "float64")

    def gradients():
        outputs = call.differentiable(call())
        first = glassgrad.autograd.grad(
            outputs, call.leaves, call.weights(outputs, seed=11), create_graph=True, allow_unused=True
        )
        return [gradient for gradient in first if gradient is not None and gradient.requires_grad]

    if gradients():  # else the operation is linear
        assert_gradient_is_the_slope(call, gradients)


def assert_gradient_is_the_slope(call, results):
    """The gradient of ``results()``, computed from the call's leaves, along a direction is the difference along it."""
    rng = np.random.default_rng(3)
    outputs = results()
    weights = call.weights(outputs)
    grads = glassgrad.autograd.grad(outputs, call.leaves, weights, allow_unused=True)
    towards = []
    for leaf in call.leaves:
        way = rng.uniform(-1, 1, tuple(leaf.shape))
        towards.append(way + 1j * rng.uniform(-1, 1, way.shape) if leaf.is_complex() else way)
    start = [array(leaf).copy() for leaf in call.leaves]
    step = 1e-6

    def along(sign):
        for leaf, origin, way in zip(call.leaves, start, towards, strict=True):
            with glassgrad.no_grad():
                leaf.copy_(glassgrad.from_numpy(np.asarray(origin + sign * step * way)))
        state = glassgrad.get_rng_state()
        pieces = [array(piece) for piece in results()]
        glassgrad.set_rng_state(state)
        return dot(pieces, [array(weight) for weight in weights])

    slope = (along(1) - along(-1)) / (2 * step)
    gradients = [np.zeros(way.shape) if grad is None else array(grad) for grad, way in zip(grads, towards, strict=True)]
    assert dot(gradients, towards) == pytest.approx(slope, rel=1e-5, abs=1e-6)


def dot(lefts, rights):
    """The sum of all products of two lists of arrays, complex ones taken as pairs of real numbers."""
    return sum(float(np.sum(left * right.conj()).real) for left, right in zip(lefts, rights, strict=True))


@each_sample([sample for sample in SAMPLES if sample.gradient and sample.second and "float64" in sample.only])
def test_one_leaf_alone_gets_the_same(sample):
    """First- and second-order gradients of an input are the same where it is the only one that requires them."""
    together = Call(sample, glassgrad, "float64")
    if len(together.leaves) < 2:
        return
    gradients = first_and_second(together, together.leaves)
    for place, (first, second) in enumerate(gradients):
        alone = Call(sample, glassgrad, "float64")
        for other in alone.leaves[:place] + alone.leaves[place + 1 :]:
            other.requires_grad_(False)
        ((only_first, only_second),) = first_and_second(alone, [alone.leaves[place]])
        for a, b, what in ((first, only_first, "first"), (second, only_second, "second")):
            assert np.allclose(a, b, rtol=1e-9, atol=1e-12, equal_nan=True), f"{what} gradient of leaf {place}"


def first_and_second(call, leaves):
    """For each leaf its gradient, and the gradient of that one with respect to the leaf again; zeros for none."""
    everything = call()
    outputs = call.differentiable(everything)
    if not outputs:
        return [(np.zeros(()), np.zeros(()))] * len(leaves)
    seeds = [next(place for place, one in enumerate(everything) if one is output) for output in outputs]
    weights = [call.weights([output], seed=seed)[0] for output, seed in zip(outputs, seeds, strict=True)]
    firsts = glassgrad.autograd.grad(outputs, leaves, weights, create_graph=True, allow_unused=True)
    pairs = []
    for leaf, first in zip(leaves, firsts, strict=True):
        second = None
        if first is not None and first.requires_grad:
            weights = call.weights([first])
            (second,) = glassgrad.autograd.grad([first], [leaf], weights, retain_graph=True, allow_unused=True)
        pairs.append(tuple(np.zeros(()) if g is None else array(g) for g in (first, second)))
    return pairs


def tensors(value):
    """The tensors among nested arguments or outputs."""
    pieces = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    return [value] if isinstance(value, glassgrad.Tensor) else [found for piece in pieces for found in tensors(piece)]


@each_sample([sample for sample in SAMPLES if sample.gradient and not sample.name.startswith("row.")])
def test_what_is_overwritten_is_refused_or_not_read(sample):
    """Written after the call, no input and no output changes the gradients: they are as before, or refused."""
    wanted = None
    for place in range(-1, 100):
        made = Call(sample, glassgrad, sample.only[0])
        everything = made()
        outputs = [out for out in made.differentiable(everything) if out.grad_fn is not None]
        targets = tensors([everything, made.args, made.kwargs])
        if not outputs or any(out._is_view() for out in outputs) or place == len(targets):
            return  # writes give views another history
        weights = made.weights(outputs)
        if place >= 0:
            targets[place].detach().zero_()
        try:
            found = glassgrad.autograd.grad(outputs, made.leaves, weights, allow_unused=True)
        except RuntimeError as error:
            assert "been modified" in str(error) and "inplace" in str(error)
            continue
        arrays = [None if gradient is None else array(gradient) for gradient in found]
        wanted = wanted or arrays
        for a, b in zip(arrays, wanted, strict=True):
            np.testing.assert_array_equal(a, b, err_msg=f"tensor {place} of outputs and arguments was overwritten")


@each_case([case for case in CASES if case[0].gradient])
def test_both_carriers_agree(sample, dtype):
    """Gradients computed on arrays and by recorded operations are the same, bit for bit."""
    plain, lifted = Call(sample, glassgrad, dtype), Call(sample, glassgrad, dtype)
    if not plain.leaves:
        return
    outputs = plain.differentiable(plain())
    first = glassgrad.autograd.grad(outputs, plain.leaves, plain.weights(outputs), allow_unused=True)
    outputs = lifted.differentiable(lifted())
    second = glassgrad.autograd.grad(
        outputs, lifted.leaves, lifted.weights(outputs), create_graph=True, allow_unused=True
    )
    for a, b in zip(first, second, strict=True):
        assert (a is None) == (b is None)
        if a is not None:
            assert a.dtype is b.dtype
            np.testing.assert_array_equal(array(a), array(b))


@pytest.mark.torch
@each_sample([sample for sample in SAMPLES if sample.in_torch and sample.gradient and sample.names])
def test_names_are_torchs(sample):
    """The graph has torch's nodes, names and edges."""
    from tests.torch_reference import torch

    dtype = sample.only[0]
    ours = [out for out in flat(Call(sample, glassgrad, dtype)()) if getattr(out, "requires_grad", False)]
    theirs = [out for out in flat(Call(sample, torch, dtype)()) if getattr(out, "requires_grad", False)]
    for a, b in zip(ours, theirs, strict=True):
        assert graph(a) == graph(b)


@each_case([case for case in CASES if case[0].inplace])
def test_in_place_agrees(sample, dtype):
    """The in-place variant gives the same value in the same tensor, and bumps its version by one."""
    plain, other = (Call(sample, glassgrad, dtype, requires_grad=False) for _ in range(2))
    (expected,) = plain()
    target = other.args[0].clone()
    version = target._version
    name = sample.name.removeprefix("Tensor.").rpartition(".")[2]
    given = getattr(target, f"{name}_")(*other.args[1:], **other.kwargs)
    assert given is target
    assert target._version == version + 1
    np.testing.assert_array_equal(array(target), array(expected.to(target.dtype)))
