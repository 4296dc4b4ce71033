"""Forward mode of every operation, by its laws: the forward rule and the reverse one are adjoint, at both orders."""

import numpy as np
import pytest

import glassgrad
from glassgrad import func
from tests.laws import Call, array
from tests.samples import all_samples

#: Where PyTorch's gradient leaves out what the derivative has: rows for padding, the number of times a row was taken.
UNLIKE = ("padding_idx", "scale_grad_by_freq")
SAMPLES = [sample for sample in all_samples() if sample.gradient and not any(word in sample.id for word in UNLIKE)]
TWICE = [sample for sample in SAMPLES if sample.slope and sample.second and "float64" in sample.only]


def each_of(samples):
    """A test for each of some samples."""
    return pytest.mark.parametrize("sample", samples, ids=[sample.id for sample in samples])


class Function:
    """A sample as a function of its leaves, which gives those of its outputs that carry gradients."""

    def __init__(self, sample):
        self.precise = "float64" in sample.only
        self.call = Call(sample, glassgrad, "float64" if self.precise else sample.only[0])
        outputs = self.call()
        self.carries = [
            isinstance(out, glassgrad.Tensor) and (out.is_floating_point() or out.is_complex()) and out.requires_grad
            for out in outputs
        ]
        self.leaves = [leaf.detach() for leaf in self.call.leaves]

    def __call__(self, *leaves):
        replaced = {id(old): new for old, new in zip(self.call.leaves, leaves, strict=True)}

        def swap(value):
            if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
                return type(value)(swap(part) for part in value)
            return replaced.get(id(value), value)

        args, kwargs = self.call.args, self.call.kwargs
        try:
            self.call.args, self.call.kwargs = swap(args), {name: swap(value) for name, value in kwargs.items()}
            outputs = self.call()
        finally:
            self.call.args, self.call.kwargs = args, kwargs
        return tuple(out for out, carries in zip(outputs, self.carries, strict=True) if carries)


def directions(tensors, seed):
    """A random tensor like each of some tensors."""
    rng = np.random.default_rng(seed)
    drawn = []
    for tensor in tensors:
        values = rng.uniform(-1, 1, tuple(tensor.shape))
        if tensor.is_complex():
            values = values + 1j * rng.uniform(-1, 1, tuple(tensor.shape))
        drawn.append(glassgrad.from_numpy(np.asarray(values)).to(tensor.dtype))
    return tuple(drawn)


def product(some, others):
    """The real inner product of tensors."""
    return sum(float((array(a).conj() * array(b)).real.sum()) for a, b in zip(some, others, strict=True))


def assert_alike(one, other, precise=True):
    """Two numbers agree to rounding, which may be that of halves."""
    assert one == pytest.approx(other, rel=1e-7 if precise else 1e-2, abs=1e-9 if precise else 1e-3), (one, other)


@each_of(SAMPLES)
def test_forward_and_reverse_are_adjoint(sample):
    """<w, J v> = <J' w, v>."""
    function = Function(sample)
    if not function.leaves or not any(function.carries):
        return
    tangents = directions(function.leaves, 3)
    outputs, moved = func.jvp(function, tuple(function.leaves), tangents)
    for out, tangent in zip(outputs, moved, strict=True):
        assert out.shape == tangent.shape and out.dtype == tangent.dtype
    weights = directions(outputs, 5)
    _, pull = func.vjp(function, *function.leaves)
    assert_alike(product(weights, moved), product(pull(weights), tangents), function.precise)


@each_of(TWICE)
def test_orders_of_modes_agree(sample):
    """Forward over reverse, reverse over forward and forward over forward agree with reverse over reverse."""
    function = Function(sample)
    if not function.leaves or not any(function.carries):
        return
    if any(leaf.is_complex() for leaf in function.leaves):
        return
    along, across = directions(function.leaves, 3), directions(function.leaves, 11)
    weights = directions(function(*function.leaves), 5)

    def total(*leaves):
        return sum((w.conj() * out).real.sum() if out.is_complex() else (w * out).sum()
                   for w, out in zip(weights, function(*leaves), strict=True))  # fmt: skip

    numbers = tuple(range(len(function.leaves)))
    _, twice = func.jvp(func.grad(total, numbers), tuple(function.leaves), along)
    forward_reverse = product(twice, across)

    def inner(*leaves):
        gradients = func.grad(total, numbers)(*leaves)
        return sum((g * a).sum() for g, a in zip(gradients, across, strict=True))

    reverse_reverse = product(func.grad(inner, numbers)(*function.leaves), along)

    def moved(*leaves):
        return func.jvp(total, leaves, across)[1]

    reverse_forward = product(func.grad(moved, numbers)(*function.leaves), along)
    _, forward_forward = func.jvp(moved, tuple(function.leaves), along)
    assert_alike(forward_reverse, reverse_reverse)
    assert_alike(reverse_forward, reverse_reverse)
    assert_alike(float(forward_forward), reverse_reverse)


@each_of([sample for sample in SAMPLES if sample.second and "float64" in sample.only])
def test_derivatives_are_linear_in_what_they_are_given(sample):
    """Tangents and gradients have derivatives of their own, in each mode: along what is pushed or pulled."""
    function = Function(sample)
    if not function.leaves or not any(function.carries):
        return
    leaves, tangents, across = function.leaves, directions(function.leaves, 3), directions(function.leaves, 11)
    outputs, pull = func.vjp(function, *leaves)
    weights, others = directions(outputs, 5), directions(outputs, 7)

    def push(*tangents):
        return func.jvp(function, tuple(leaves), tangents)[1]

    moved, push_back = func.vjp(push, *tangents)
    wanted = product(weights, push(*across))
    assert_alike(product(push_back(weights), across), wanted)
    assert_alike(product(weights, func.jvp(push, tangents, across)[1]), wanted)
    _, pull_back = func.vjp(pull, weights)
    pulled = product(pull(others), across)
    assert_alike(product(others, pull_back(across)[0]), pulled)
    assert_alike(product(func.jvp(pull, (weights,), (others,))[1], across), pulled)
