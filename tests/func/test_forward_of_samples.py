"""The tangents of every operation's sample calls beside PyTorch's, where no gradients are recorded.

Forward mode asks for no recording; who shortens what is not recorded must not lose a tangent.
"""

import re

import numpy as np
import pytest

import glassgrad
from tests.property.changed_calls import CallRun, Text, _leaves, samples
from tests.property.random_programs import differ
from tests.torch_reference import torch

pytestmark = pytest.mark.torch

PARTS = 4
#: Where PyTorch's tangents are not the derivative's: of parts that a triangle leaves out, of imaginary parts, of places
#: written twice; or NaN decides; or a number stands where the tangent should.
UNLIKE = re.compile(r"cholesky_inverse|triangular_solve|pow\(a, 1.5j|max_unpool|nan|linalg\.(svd|eig)|_foreach_maximum")
#: Whose tangents it takes for zero where it takes them at all: refused here.
LOST = re.compile(r"weight|cross_entropy|nll_loss|soft_margin|batch_norm|instance_norm")
#: What draws at random has the tangent zero in PyTorch.
DRAWN = re.compile(r"normal|bernoulli|poisson|rrelu|dropout")


def lines_of(sample):
    """A call with a tangent for each tensor of fractions; nothing where there is none."""
    lines = [line for line in Text(1, sample).lines if "requires_grad_" not in line and "_leaf" not in line]
    names = [line[0] for line in lines[:-1] if re.search(r"^[a-j] = .*dtype=torch\.(float|complex)", line)]
    moved = [f"{name} = fwad.make_dual({name}, ({name} * 0.5).cos())" for name in names]
    return [*lines[:-1], *moved, lines[-1]] if names else []


def pushed(engine, lines):
    """The type of the error of a call, and the tangents of its results."""
    run = CallRun(engine)
    run.scope["fwad"] = fwad = engine.autograd.forward_ad
    with engine.no_grad(), fwad.dual_level():
        failed = next(filter(None, (run.do(line)[0] for line in lines)), "")
        parts = [part for name, part in run.pool.items() if re.fullmatch(r"r\d*", name)]
        return failed, [fwad.unpack_dual(part).tangent for part in parts]


@pytest.mark.parametrize("part", range(PARTS))
def test_same_as_torch(part):
    compared = 0
    for sample in [each for name in [*samples()][part::PARTS] for each in samples()[name]]:
        lines = lines_of(sample)
        if not lines or UNLIKE.search("\n".join(lines)):
            continue
        (failed, theirs), (ours_failed, mine) = pushed(torch, lines), pushed(glassgrad, lines)
        if failed or (ours_failed and LOST.search(lines[-1])):
            continue
        assert not ours_failed and len(theirs) == len(mine), "\n".join(lines)
        for a, b in zip(theirs, mine, strict=True):
            if a is not None and not (b is None and DRAWN.search(lines[-1])):
                assert b is not None and not differ(a, b, 1e-3), "\n".join(lines)
                compared += 1
    assert compared > 250


def _made_within(t):
    x = t.arange(6.0).view(2, 3)
    return [t.autograd.forward_ad.unpack_dual(x[0]).tangent, t.autograd.forward_ad.make_dual(x, t.ones(2, 3)) * 2]


def _written_through_views(t):
    base = t.zeros(2, 3)
    flat = base.view(6)
    few = flat[:2]
    base[0, 1] = t.autograd.forward_ad.make_dual(t.tensor(2.0), t.tensor(3.0))
    return [base, flat, few, few.view(2, 1)]


def _into_whole_numbers(t):
    whole, truths = t.arange(3), t.zeros(3, dtype=t.bool)
    dual = t.autograd.forward_ad.make_dual(t.tensor([1.5, 0.0, 3.5]), t.ones(3))
    whole[1:] = dual[:2]
    return [whole, truths.copy_(dual)]


def _into_what_was_there_before(t):
    t.autograd.forward_ad.exit_dual_level()
    before = t.zeros(2)
    t.autograd.forward_ad.enter_dual_level()
    dual = t.autograd.forward_ad.make_dual(t.tensor([1.5, 2.5]), t.ones(2))
    before.lerp_(dual.detach(), 0.5)
    return [before, before * dual]


def _of_nothing(t):
    empty = t.autograd.forward_ad.make_dual(t.ones(0, 2, 5), t.ones(0, 2, 5))
    counted = t.autograd.forward_ad.make_dual(t.ones(3), t.full((3,), 5.0))
    return [t.conv1d(empty, t.ones(3, 2, 3)), t.norm(counted, 0)]


def _not_a_number(t):
    x, moves = t.tensor([1.0, float("nan"), 3.0]), t.tensor([2.0, float("nan"), 5.0])
    return [t.nansum(t.autograd.forward_ad.make_dual(x, moves)), t.nanmean(t.autograd.forward_ad.make_dual(x, moves))]


def _rearranged_in_place(t):
    base, row = t.zeros(2, 2), t.zeros(3)
    parts = [base[0].unsqueeze_(0), base.unsqueeze(0).squeeze_(0), base.view(4, 1).t_(), row.unsqueeze_(1).t_()]
    told = [str(t.autograd.forward_ad.unpack_dual(part).tangent) for part in parts]  # which has no end in a circle
    parts[0].copy_(t.autograd.forward_ad.make_dual(t.ones(2), t.ones(2)))
    row.copy_(t.autograd.forward_ad.make_dual(t.ones(3), t.arange(3.0)))
    return [*told, *parts, base, t.stft(t.arange(8.0), 4, 2, return_complex=True)]


def _without_tangents(t):
    class Twice(t.autograd.Function):
        forward = staticmethod(lambda ctx, x: x * 2)
        backward = staticmethod(lambda ctx, g: g * 2)

    x, out, whole = t.arange(3.0), t.zeros(3), t.tensor([[1, 2]])
    x.data = x.detach() + 1
    t.add(x, 1, out=out)
    t.cat([x, out], out=(both := t.zeros(0)))
    whole.copy_(whole)
    return [Twice.apply(x), out, both, x, whole, Twice.apply(x.requires_grad_())]


def _in_columns(t):
    x, moves = t.arange(6.0).reshape(2, 3), t.arange(6.0).reshape(3, 2) * 10
    dual = t.autograd.forward_ad.make_dual(x.mT.contiguous().mT, moves.reshape(2, 3))
    return [dual.as_strided((4,), (1,), 0), dual.mT.view(-1)]


@pytest.mark.parametrize(
    "program",
    [
        _made_within,
        _written_through_views,
        _into_whole_numbers,
        _into_what_was_there_before,
        _of_nothing,
        _not_a_number,
        _rearranged_in_place,
        _without_tangents,
        _in_columns,
    ],
)
def test_dual_tensors_print_as_torchs(program):
    printed = []
    for engine in (torch, glassgrad):
        with engine.autograd.forward_ad.dual_level():
            printed.append([str(part) for part in _leaves(program(engine))])
    assert printed[0] == printed[1]


def _of_a_product(t, x):
    return t.func.jvp(lambda x: t.matmul(x, x.mT), (x,), (t.ones_like(x),))[1]


@pytest.mark.parametrize("mode", ["no_grad", "enable_grad", "inference_mode"])
def test_a_function_is_pushed_forward_in_every_mode(mode):
    found = []
    for engine in (torch, glassgrad):
        with getattr(engine, mode)():
            found.append(_of_a_product(engine, engine.arange(24.0).reshape(2, 3, 4)).numpy())
    np.testing.assert_array_equal(*found)


def _drawn_like(t):
    x, y = t.arange(12.0).reshape(3, 4).mT, t.arange(24.0).reshape(2, 3, 4).mT
    yield t.func.grad(lambda x: (x * t.randn_like(x)).sum())(x)
    yield t.func.jvp(lambda x: x * t.rand_like(x), (x,), (x,))[1]
    yield t.func.grad(lambda x: t.nn.functional.dropout(x).sum())(x)
    with t.autograd.forward_ad.dual_level():
        yield t.nn.functional.dropout(x)
        yield t.autograd.forward_ad.unpack_dual(t.nn.functional.dropout(t.autograd.forward_ad.make_dual(y, y))).tangent
    for randomness in ("same", "different"):
        yield t.func.vmap(lambda x: x * t.randn_like(x), randomness=randomness)(y)
        yield t.func.vmap(lambda x: x * t.rand_like(x), in_dims=2, randomness=randomness)(y)


def test_numbers_are_drawn_in_the_order_of_memory_within_transforms():
    found = []
    for engine in (torch, glassgrad):
        engine.manual_seed(0)
        found.append([part.numpy() for part in _drawn_like(engine)])
    for theirs, mine in zip(*found, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-6)


def test_tangents_that_would_be_lost_are_refused():
    """PyTorch takes the first for zero, and refuses the second."""
    scores, ones = glassgrad.rand(2, 3), glassgrad.ones(3)
    losses = [
        lambda weight: glassgrad.nn.functional.nll_loss(scores, glassgrad.tensor([0, 2]), weight),
        lambda mean: glassgrad.nn.functional.batch_norm(scores, mean, ones),
    ]
    for loss in losses:
        with pytest.raises(RuntimeError, match=r"is not differentiable wrt \w+, it cannot have a forward grad defined"):
            glassgrad.func.jvp(loss, (ones,), (ones,))


def test_a_tangent_lies_as_its_value():
    moved = []
    for t in (torch, glassgrad):
        x = t.arange(6.0).reshape(2, 3)
        moved.append(t.func.jvp(lambda x: x.as_strided((4,), (1,), 0), (x.mT.contiguous().mT,), (x,))[1].numpy())
    np.testing.assert_array_equal(*moved)


@pytest.mark.parametrize("made", ["Own(x)", "x.as_subclass(Own)"])
def test_subclasses_keep_derivatives(made):
    found = []
    for t in (torch, glassgrad):
        scope = {"Own": type("Own", (t.Tensor,), {})}
        square = eval(f"lambda x: ({made} * x).sum()", scope)  # noqa: S307  this file's own
        x = t.tensor([[1.0, 2.0], [3.0, 4.0]])
        found.append(
            [
                t.func.grad(square)(x),
                t.func.vmap(square)(x),
                t.func.vmap(t.func.grad(square))(x),
                t.func.jvp(square, (x,), (x,))[1],
                t.func.jacfwd(t.func.grad(square))(x),
            ]
        )
    for wanted, actual in zip(*found, strict=True):
        np.testing.assert_array_equal(wanted.numpy(), np.asarray(actual.detach().numpy()))


def test_subclasses_keep_power_series():
    own = type("Own", (glassgrad.Tensor,), {})
    x, one = glassgrad.tensor(2.0), glassgrad.tensor(1.0)
    _, (first, second) = glassgrad.func.jet(lambda x: own(x) * x, (x,), ((one, glassgrad.tensor(0.0)),))
    assert (float(first), float(second)) == (4.0, 2.0)


def test_a_dual_tensor_that_is_not_dense_has_no_other_steps():
    with glassgrad.autograd.forward_ad.dual_level():
        dual = glassgrad.autograd.forward_ad.make_dual(glassgrad.arange(6.0)[::2], glassgrad.ones(3))
        with pytest.raises(RuntimeError, match="clone"):
            dual.as_strided((2,), (1,), 0)
