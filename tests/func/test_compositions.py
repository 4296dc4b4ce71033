"""Random functions under random nests of transforms, up to four deep: equal to PyTorch's, and to the slope.

``python -m tests.func.test_compositions --count 10000`` tries more of them.
"""

import random
import warnings

import numpy as np
import pytest

import glassgrad
from tests import counts
from tests.func.test_against_torch import _within
from tests.laws import array

pytestmark = pytest.mark.torch
SEEDS = [*counts.seeds(60), 28014186, 32051639, 32051663, 32051966]  # one level's view is another's copy
SEEDS += [7001281, 10008407]  # shares of sums that are one, or nearly, whose derivatives cancel


def steps(t):
    """Functions from three numbers to three numbers, smooth where they are used."""
    weight = t.tensor([[0.5, -0.2, 0.1], [0.3, 0.4, -0.6], [-0.1, 0.2, 0.7]], dtype=t.float64)

    def rewritten(x):
        y = x * 1
        y[1:].mul_(x[0])
        return y + x

    def copied(x):
        y = t.zeros_like(x).add_(x)
        return y.mul_(x) + x.new_ones(3)

    def pointed(x):
        y = x * 2
        y[x.argmax()] = x.prod()
        y[x.argmin(), ...] *= x[1]
        return y - x[x.argmin()]

    def put(x):
        at = x.argsort()
        return t.zeros_like(x).index_put((at,), x.sin(), accumulate=True).scatter_add(0, at, x) + x.gather(0, at)

    def parts(x):
        first, rest = x.split([1, 2])
        return t.cat([rest.flip(0), first.expand(1)]) * t.stack(x.unbind()[::-1]).as_strided((3,), (1,))

    def dictionary(x):
        return t.func.grad(lambda d: (d["a"] * d["b"][0].exp()).sum())({"a": x, "b": [x / 2]})["b"][0]

    class Cube(t.autograd.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(x):
            return x**3

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)
            ctx.save_for_forward(*inputs)

        @staticmethod
        def backward(ctx, grad):
            return grad * 3 * ctx.saved_tensors[0] ** 2

        @staticmethod
        def jvp(ctx, tangent):
            return tangent * 3 * ctx.saved_tensors[0] ** 2

    return [
        lambda x: x.sin(),
        lambda x: x * x.cos(),
        lambda x: (x @ weight).tanh(),
        lambda x: t.softmax(x, 0) * 2,
        lambda x: t.stack([x[0] * x[1], x[2], x.sum()]) / 3,
        lambda x: t.cat([x[1:], x[:1]]) * 0.7,
        lambda x: t.nn.functional.gelu(x),
        lambda x: x / (1 + x.pow(2).sum()),
        lambda x: t.where(x > 0, x, x * x),
        lambda x: t.cumsum(x, 0) / 2,
        lambda x: (weight.unsqueeze(0) * x.reshape(3, 1, 1)).amax((1, 2)) + x,
        lambda x: (x * x + 1).log(),
        rewritten,
        copied,
        # two orders of forward mode through a custom Function are zero in PyTorch
        lambda x: Cube.apply(x) / 2 if t is glassgrad else x**3 / 2,
        lambda x: x.masked_select(t.tensor([True, False, True])).sum() * x,
        lambda x: t.block_diag(x.unsqueeze(0), x.sum()).sum(0)[:3],
        lambda x: t.nn.functional.conv1d(x.reshape(1, 1, 3), weight.unsqueeze(1), padding=1).reshape(3, 3).sum(0),
        lambda x: t.nn.functional.linear(x, weight, x.flip(0)),
        lambda x: x.index_select(0, t.tensor([2, 0, 0])) * x,
        lambda x: t.logsumexp(t.outer(x, x), 1),
        pointed,
        put,
        parts,
        dictionary,
        lambda x: x.sort(descending=True)[0].cumprod(0) / 2,
        lambda x: t.nn.functional.pad(x.view(1, 1, 3), (1, 1), mode="reflect").view(5).unfold(0, 3, 1).prod(1) / 2,
        lambda x: t.einsum("i,ij,j->j", x, weight, x) + x.std(),
        lambda x: t.linalg.inv(t.eye(3, dtype=t.float64) * 3 + t.outer(x, x)) @ x,
        lambda x: t.view_as_real(t.fft.fft(x)).square().sum(1).sqrt() / 3,
        lambda x: t.nn.functional.cross_entropy(t.stack([x, x.flip(0)]), t.tensor([0, 2]), reduction="none").sum() * x,
        lambda x: t.nn.functional.scaled_dot_product_attention(*[t.outer(x, x).view(1, 3, 3)] * 3).sum((0, 1)) / 3,
        lambda x: t.nn.functional.embedding(t.tensor([2, 0, 1]), x.view(3, 1)).view(3) * x,
        lambda x: t.tril(t.outer(x, x.tanh())).sum(0).masked_fill(t.tensor([False, True, False]), 0.5),
        lambda x: x.norm() * x,
        lambda x: t.atan2(x, x.flip(0) + 2) + t.hypot(x, x.roll(1)) + t.logaddexp(x, x.square()),
        lambda x: t.lerp(x, x.cos(), x.sigmoid()) + t.addcdiv(x, x, x.exp(), value=0.5) - t.addcmul(x, x, x),
        lambda x: t.erf(x) + t.special.sinc(x) + t.special.xlogy(x, x.exp() + 1) + t.lgamma(x.square() + 1) / 3,
        lambda x: t.kron(x[:1], x) + t.linalg.cross(x, x.roll(1) * 2) + t.diff(x, append=x[:1]),
        lambda x: x.cummax(0)[0] * x.flip(0).cummin(0)[0] + x.topk(2)[0].sum() * x,
        lambda x: t.addmm(x, weight, t.outer(x, x)).diagonal() + t.baddbmm(x, weight[None], t.outer(x, x)[None])[0, 1],
        lambda x: t.nn.functional.silu(x) + t.nn.functional.softplus(x) - t.nn.functional.elu(x) * x.clamp(0.1, 0.6),
        lambda x: t.nn.functional.soft_margin_loss(x, x.cos()) * x + t.nn.functional.mse_loss(x, x.cos()) * x,
        lambda x: t.nn.functional.binary_cross_entropy_with_logits(x, x.sigmoid(), reduction="none") * x,
        lambda x: t.nn.functional.avg_pool1d(x.view(1, 1, 3).tile(1, 1, 2), 2, 2).view(3) + x.repeat_interleave(2)[1:4],
        lambda x: t.nn.functional.interpolate(x.view(1, 1, 3), 5, mode="linear", align_corners=True).view(5)[1:4] * x,
        lambda x: t.nn.functional.cosine_similarity(t.outer(x, x + 1), weight, 1) * x,
        lambda x: t.linalg.cholesky(t.eye(3, dtype=t.float64) * 3 + t.outer(x, x)).sum(1) + t.trapezoid(x, x.cumsum(0)),
        lambda x: x.index_add(0, t.tensor([0, 2, 0]), x.cos()) * x.scatter_reduce(0, t.tensor([1, 1, 2]), x, "sum"),
        lambda x: t.movedim(t.outer(x, x.cos()), 0, 1)[0] * x,
        lambda x: t.polar(x.square() + 1, x).real + t.complex(x, x * 2).abs() + t.angle(t.complex(x, x.sin().exp())),
        # of numbers far from one, PyTorch's forward mode of it has five digits
        lambda x: t.nn.functional.group_norm(t.outer(x, x.sin().exp()).view(1, 3, 3), 1)[0].sum(1) / 5 + x.var() * x,
    ]


def halts(t):
    """Functions from three numbers to three numbers that switch recording off, or pass derivatives by."""

    def written(x):
        y = x * x
        with t.no_grad():
            y.mul_(x)
        return y + x

    def negated(x):
        y = x * 2
        y[1:].logical_not_()
        return y + x * x

    def overwritten(x):
        y = x * 2
        y.data[1] = 0.5
        return y * x

    cubes = t.func.grad(lambda x: (x**4).sum())
    return [
        lambda x: x * _within(t.no_grad(), x.sin),
        lambda x: x * _within(t.no_grad(), lambda: _within(t.enable_grad(), x.cos)),
        lambda x: x * _within(t.no_grad(), lambda: cubes(x)),
        lambda x: x * _within(t.no_grad(), lambda: _within(t.enable_grad(), lambda: cubes(x))),
        lambda x: x * t.no_grad()(t.func.jacfwd(t.cos))(x).sum(0),
        lambda x: x.detach() * x,
        lambda x: x * cubes(x.detach()),
        lambda x: x * t.autograd.grad((x**3).sum(), x)[0],
        lambda x: x * t.autograd.grad((x**3).sum(), x, create_graph=True)[0],
        written,
        negated,
        overwritten,
    ]


#: PyTorch's own second derivatives of these are wrong by forward over forward, and at higher orders: the slope tells.
BY_SLOPE = {
    "solve": lambda x: glassgrad.linalg.solve(glassgrad.eye(3).double() * 4 + glassgrad.outer(x, x), x),
    "det": lambda x: glassgrad.linalg.det(glassgrad.eye(3).double() * 2 + glassgrad.outer(x, x)) * x,
    "logcumsumexp": lambda x: glassgrad.logcumsumexp(x, 0) * x,
    "layer_norm": lambda x: glassgrad.nn.functional.layer_norm(x, (3,)) * x,
}


def transforms(t):
    """What makes another function from three numbers to three numbers of one."""
    func = t.func

    def vector():
        return t.tensor([0.3, -0.7, 0.5], dtype=t.float64)

    return [
        lambda f: func.grad(lambda x: (f(x) * vector()).sum()),
        lambda f: lambda x: func.jvp(f, (x,), (vector(),))[1],
        lambda f: lambda x: func.jvp(f, (x,), (x,))[1],
        lambda f: lambda x: t.vmap(f)(t.stack([x, x * 0.5])).sum(0),
        lambda f: lambda x: t.vmap(lambda a, b: f(a) * b, in_dims=(1, None))(t.stack([x, x + 1], 1), x).mean(0),
        lambda f: lambda x: func.jacrev(f)(x) @ vector(),
        lambda f: lambda x: func.jacrev(f, chunk_size=2)(x).sum(1),
        lambda f: lambda x: func.jacfwd(f)(x).sum(0),
        # linearize gives zeros or what lay in memory in PyTorch where it is nested
        (lambda f: lambda x: func.linearize(f, x)[1](vector())) if t is glassgrad else
        (lambda f: lambda x: func.jvp(f, (x,), (vector(),))[1]),
        lambda f: lambda x: t.vmap(f, chunk_size=2)(t.stack([x, x * 2, x / 2])).mean(0),
        lambda f: lambda x: func.grad_and_value(lambda x: f(x).sum())(x)[0],
        lambda f: lambda x: func.vjp(f, x)[1](x)[0],
        lambda f: lambda x: t.vmap(func.grad(lambda y: f(y).sum()))(t.stack([x, -x]))[0],
        lambda f: lambda x: func.hessian(lambda y: (f(y) * vector()).sum())(x) @ vector(),
        lambda f: lambda x: t.vmap(f, in_dims=-1, out_dims=1)(t.stack([x, x / 2], 1)).sum(1),
        lambda f: lambda x: t.vmap(lambda a: (f(a["x"]), a["y"]), out_dims=(-1, None), in_dims=({"x": 1, "y": None},))(
            {"x": t.stack([x, x / 2], 1), "y": vector()})[0][:, 1],
        lambda f: lambda x: func.vjp(lambda y: (f(y), y), x, has_aux=True)[1](vector())[0],
        lambda f: lambda x: func.jacfwd(lambda a, y: {"f": f(y) * a}, argnums=(1,))(vector(), x)["f"][0].sum(1),
        lambda f: lambda x: sum(func.grad(lambda a, y: (f(y) * a).sum(), argnums=(0, 1))(x, x)),
        lambda f: lambda x: t.vmap(func.jacrev(f))(t.stack([x, x / 3])).sum((0, 1)),
    ]


LINEARIZE = 8  # its place among them


def built(t, seed):
    """A function, its nest, and the argument."""
    rng = random.Random(seed)
    parts = [rng.choice(steps(t)) for _ in range(rng.randint(1, 3))]
    is_halted = seed % 4 == 1
    if is_halted:
        at = random.Random(f"halt {seed}")
        parts.insert(at.randint(0, len(parts)), at.choice(halts(t)))

    def function(x):
        for part in parts:
            x = part(x)
        return x

    for _ in range(rng.randint(1, 4)):
        number = rng.randrange(len(transforms(t)))
        if is_halted and number == LINEARIZE:  # other levels watch it where they would watch jvp otherwise
            number = 0
        function = transforms(t)[number](function)
    x = np.random.default_rng(seed).uniform(0.2, 1.2, 3)
    return function, t.tensor(x.tolist(), dtype=t.float64)


def compared(seed):
    """Values of both engines; None where PyTorch refuses, or has no number."""
    from tests.torch_reference import torch

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        function, x = built(torch, seed)
        try:
            theirs = array(function(x))
        except (RuntimeError, NotImplementedError):
            return None
        if np.isnan(theirs).any() or np.abs(theirs).max(initial=0) > 1e6:
            return None  # what is infinite or huge on the way, which another order of rules may pass by
        function, x = built(glassgrad, seed)
        return array(function(x)), theirs


def is_rough(seed, pair):
    """Whether either engine's values move as far as they differ where the argument moves a little, or leave the line.

    In the first case they are steep; in the second, what they are made of cancels to its last digits.
    """
    from tests.torch_reference import torch

    return any(_moves_as_far(engine, seed, pair) for engine in (glassgrad, torch))


def _moves_as_far(engine, seed, pair):
    function, x = built(engine, seed)
    steps = np.random.default_rng(seed)
    here = array(function(x))

    def moved(step):
        try:
            return array(function(x + float(step))) - here
        except RuntimeError:  # such as of a matrix that is singular there
            return np.full(here.shape, np.inf)

    moves = [moved(step) for step in steps.uniform(-1e-11, 1e-11, 8)]
    bends = [moved(step) + moved(-step) for step in 10 ** steps.uniform(-10, -5.5, 10)]
    return np.abs([*moves, *bends]).max() > np.abs(pair[0] - pair[1]).max() / 10


@pytest.mark.parametrize("seed", SEEDS)
def test_composition(seed):
    """Equal to PyTorch's."""
    pair = compared(seed)
    if pair is not None:
        assert pair[0] == pytest.approx(pair[1], rel=1e-7, abs=1e-9)


@pytest.mark.parametrize("name", BY_SLOPE)
def test_second_derivatives_are_slopes(name):
    """Each order of modes gives the central difference of the first derivative."""
    function, func = BY_SLOPE[name], glassgrad.func
    x, v = (glassgrad.tensor(values).double() for values in ([0.3, 0.5, 1.1], [0.3, -0.7, 0.5]))

    def along(x):
        return func.jvp(function, (x,), (v,))[1]

    def back(x):
        return func.grad(lambda y: (function(y) * v).sum())(x)

    step = 1e-5
    for first, second in (
        (along, func.jvp(along, (x,), (v,))[1]),
        (back, func.jvp(back, (x,), (v,))[1]),
        (along, func.jacrev(along)(x) @ v),
        (back, func.jacrev(back)(x) @ v),
    ):
        slope = (first(x + step * v) - first(x - step * v)) / (2 * step)
        assert array(second) == pytest.approx(array(slope), rel=1e-6, abs=1e-8)


def main():
    """Try many."""
    tried = wrong = refused = 0
    for seed in counts.asked(counts.options(__doc__, 1000).parse_args()):
        tried += 1
        try:
            pair = compared(seed)
        except Exception as error:
            wrong += 1
            print(seed, type(error).__name__, str(error)[:200], flush=True)
            continue
        refused += pair is None
        agrees = pair is None or np.allclose(*pair, rtol=1e-6, atol=1e-8, equal_nan=True)
        if not agrees and not is_rough(seed, pair):
            wrong += 1
            print(seed, *pair, flush=True)
    print(f"{tried} tried, {refused} refused by PyTorch, {wrong} differ")


if __name__ == "__main__":
    main()
