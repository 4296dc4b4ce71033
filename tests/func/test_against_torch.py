"""Programs with transforms, in glassgrad and in PyTorch: equal results, equal errors, equal prints."""

import warnings

import pytest

import glassgrad
from tests.laws import array

pytestmark = pytest.mark.torch


def _vector(t):
    return t.tensor([1.0, 2.0, 3.0], dtype=t.float64)


def _matrix(t):
    return t.arange(6.0, dtype=t.float64).reshape(2, 3) / 4 + 0.5


def _wave(x):
    return (x.sin() * x).sum()


def _rewritten(x):
    y = x * 1
    view = y[1:]
    first = view[0]
    view.mul_(x[0])
    first.add_(x[2])
    return (y * y).sum() + (view * x[1:]).sum() + first


def _filled(t):
    def function(x):
        y = t.zeros(3, dtype=t.float64)
        y[0] = x[1] * x[2]
        y[1:].copy_(x[:2])
        return (y * y).sum()

    return function


def _functions(t):
    """Custom Functions: with all rules, with a generated batch rule, and without a context apart."""

    class Square(t.autograd.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(x):
            return x * x

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)
            ctx.save_for_forward(*inputs)

        @staticmethod
        def backward(ctx, grad):
            return 2 * ctx.saved_tensors[0] * grad

        @staticmethod
        def jvp(ctx, tangent):
            return 2 * ctx.saved_tensors[0] * tangent

    class Own(Square):
        generate_vmap_rule = False

        @staticmethod
        def vmap(info, in_dims, x):
            assert info.batch_size == 2
            return Own.apply(x), in_dims[0]

    class Neither(Square):
        generate_vmap_rule = False

    class Both(Square):
        @staticmethod
        def vmap(info, in_dims, x):
            return x, in_dims[0]

    class Old(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * x

        @staticmethod
        def backward(ctx, grad):
            return grad

    return {"Square": Square, "Own": Own, "Neither": Neither, "Both": Both, "Old": Old}


PROGRAMS = {
    "grad": lambda t: t.func.grad(_wave)(_vector(t)),
    "grad of several": lambda t: t.func.grad(lambda a, b: (a * b * a).sum(), (0, 1))(_vector(t), _vector(t)),
    "grad by the last": lambda t: t.func.grad(lambda a, b: (a * b * b).sum(), -1)(_vector(t), _vector(t) + 1),
    "grad of a tree": lambda t: t.func.grad(lambda d: (d["a"] * d["b"][0]).sum())({"a": _vector(t), "b": [_vector(t)]}),
    "grad with aux": lambda t: t.func.grad(lambda x: (_wave(x), x * 2), has_aux=True)(_vector(t)),
    "grad and value": lambda t: t.func.grad_and_value(_wave)(_vector(t)),
    "grad and value with aux": lambda t: t.func.grad_and_value(lambda x: (_wave(x), x), has_aux=True)(_vector(t)),
    "grad of what does not depend": lambda t: t.func.grad(lambda a, b: (b * b).sum())(_vector(t), _vector(t)),
    "grad of grad": lambda t: t.func.grad(lambda x: t.func.grad(_wave)(x).sum())(_vector(t)),
    "perturbation confusion": lambda t: t.func.grad(
        lambda x: x * t.func.grad(lambda y: x + y)(t.tensor(1.0)))(t.tensor(2.0)),
    "grad within no_grad": lambda t: _within(t.no_grad(), lambda: t.func.grad(_wave)(_vector(t))),
    "no_grad within grad": lambda t: t.func.grad(lambda x: (x * _within(t.no_grad(), lambda: x * x)).sum())(_vector(t)),
    "detach": lambda t: t.func.grad(lambda x: (x * x.detach()).sum())(_vector(t)),
    "in place": lambda t: t.func.grad(_rewritten)(_vector(t)),
    "in place, twice": lambda t: t.func.grad(lambda x: t.func.grad(_rewritten)(x).sum())(_vector(t)),
    "in place, forward": lambda t: t.func.jvp(_rewritten, (_vector(t),), (_vector(t) + 1,)),
    "in place, batch": lambda t: t.vmap(_rewritten)(_matrix(t)),
    "in place, gradients of a batch": lambda t: t.vmap(t.func.grad(_rewritten))(_matrix(t)),
    "in place, batch of gradients": lambda t: t.func.grad(lambda x: t.vmap(_rewritten)(x).sum())(_matrix(t)),
    "filled": lambda t: t.func.grad(_filled(t))(_vector(t)),
    "filled, forward": lambda t: t.func.jvp(_filled(t), (_vector(t),), (_vector(t),)),
    "filled, Hessian": lambda t: t.func.hessian(_filled(t))(_vector(t)),
    "vjp": lambda t: _pulled(t.func.vjp(lambda x: (x * x, x.sum()), _vector(t)), (_vector(t), t.tensor(2.0).double())),
    "vjp twice": lambda t: [t.func.vjp(lambda x: x * x, _vector(t))[1](_vector(t) * n) for n in (1, 2)],
    "jvp": lambda t: t.func.jvp(lambda x: (x.exp(), {"a": x * 2}), (_vector(t),), (_vector(t),)),
    "jvp with aux": lambda t: t.func.jvp(lambda x: (x.exp(), x), (_vector(t),), (_vector(t),), has_aux=True),
    "jvp of several": lambda t: t.func.jvp(lambda a, b: a * b.cos(), (_vector(t),) * 2, (_vector(t), _vector(t) + 1)),
    "jvp of what does not depend": lambda t: t.func.jvp(lambda x: t.ones(2), (_vector(t),), (_vector(t),)),
    "jvp strictly": lambda t: t.func.jvp(lambda x: t.ones(2), (_vector(t),), (_vector(t),), strict=True),
    "jvp of jvp": lambda t: t.func.jvp(
        lambda x: t.func.jvp(_wave, (x,), (x * 2,))[1], (_vector(t),), (_vector(t),)),
    "linearize": lambda t: _pushed(t.func.linearize(lambda x: x.sin() * x, _vector(t)), _vector(t)),
    "jacrev": lambda t: t.func.jacrev(lambda x: (x * x, x.sum()))(_vector(t)),
    "jacrev in chunks": lambda t: t.func.jacrev(lambda x: x * x.sum(), chunk_size=2)(_vector(t)),
    "jacrev of several": lambda t: t.func.jacrev(lambda a, b: a * b, (0, 1))(_vector(t), _vector(t)),
    "jacfwd": lambda t: t.func.jacfwd(lambda x: (x * x, x.sum()))(_vector(t)),
    "jacfwd with aux": lambda t: t.func.jacfwd(lambda x: (x * x, x.sum()), has_aux=True)(_vector(t)),
    "jacfwd of matrices": lambda t: t.func.jacfwd(lambda x: x.t() @ x)(_matrix(t)),
    "hessian": lambda t: t.func.hessian(_wave)(_vector(t)),
    "hessian of several": lambda t: t.func.hessian(lambda a, b: (a * b * a).sum(), (0, 1))(_vector(t), _vector(t)),
    "hessian vector product": lambda t: t.func.jvp(t.func.grad(_wave), (_vector(t),), (_vector(t),)),
    "functionalize": lambda t: t.func.functionalize(_rewritten)(_vector(t)),
    "vmap": lambda t: t.vmap(lambda x: x * 2 + x.sum())(_matrix(t)),
    "vmap of dimensions": lambda t: t.vmap(lambda a, b: a * b, in_dims=(1, None), out_dims=1)(_matrix(t), t.ones(2)),
    "vmap of a tree": lambda t: t.vmap(lambda d: {"s": d["a"] + d["b"]}, in_dims=({"a": 0, "b": None},))(
        {"a": _matrix(t), "b": _vector(t)}),
    "vmap in chunks": lambda t: t.vmap(lambda x: x * x, chunk_size=1)(_matrix(t)),
    "vmap of vmap": lambda t: t.vmap(t.vmap(lambda x: x * x + 1))(_matrix(t)),
    "vmap of grad": lambda t: t.vmap(t.func.grad(_wave))(_matrix(t)),
    "vmap of products": lambda t: t.vmap(t.func.grad(lambda w, x: (x @ w).tanh().sum()), in_dims=(None, 0))(
        _matrix(t).t(), _matrix(t)),
    "vmap backward": lambda t: _backward(_matrix(t).requires_grad_(), lambda x: t.vmap(_wave)(x).sum()),
    "custom": lambda t: t.func.grad(lambda x: _functions(t)["Square"].apply(x).sum())(_vector(t)),
    "custom, twice": lambda t: t.func.hessian(lambda x: _functions(t)["Square"].apply(x).sum())(_vector(t)),
    "custom, forward": lambda t: t.func.jvp(_functions(t)["Square"].apply, (_vector(t),), (_vector(t),)),
    "custom, batch": lambda t: t.vmap(t.func.grad(lambda x: _functions(t)["Square"].apply(x).sum()))(_matrix(t)),
    "custom, own batch": lambda t: t.vmap(_functions(t)["Own"].apply)(_matrix(t)),
    "custom, no batch": lambda t: t.vmap(_functions(t)["Neither"].apply)(_matrix(t)),
    "custom, two batches": lambda t: t.vmap(_functions(t)["Both"].apply)(_matrix(t)),
    "custom, old": lambda t: t.func.grad(lambda x: _functions(t)["Old"].apply(x).sum())(_vector(t)),
    "autograd.grad inside": lambda t: t.func.grad(
        lambda x: t.autograd.grad((x * x * x).sum(), x, create_graph=True)[0].sum())(_vector(t)),
    "backward inside": lambda t: t.func.grad(lambda x: (x * x).sum().backward())(_vector(t)),
    "requires_grad_ inside": lambda t: t.func.grad(lambda x: x.detach().requires_grad_().sum())(_vector(t)),
    "captured": lambda t: t.func.grad(lambda x: _vector(t).add_(x).sum() + _into(_vector(t))(x))(_vector(t)),
    "no scalar": lambda t: t.func.grad(lambda x: x)(_vector(t)),
    "no tensor": lambda t: t.func.grad(lambda x: 3)(_vector(t)),
    "no aux": lambda t: t.func.grad(lambda x: x.sum(), has_aux=True)(_vector(t)),
    "whole numbers": lambda t: t.func.grad(lambda x: x.sum())(t.ones(2, dtype=t.int64)),
    "no such argument": lambda t: t.func.grad(lambda x: x.sum(), 1)(_vector(t)),
    "argument twice": lambda t: t.func.grad(lambda x: x.sum(), (0, 0))(_vector(t)),
    "primals no tuple": lambda t: t.func.jvp(_wave, _vector(t), _vector(t)),
    "tangents of another tree": lambda t: t.func.jvp(_wave, (_vector(t),), (_vector(t), _vector(t))),
    "tangents of other sizes": lambda t: t.func.jvp(_wave, (_vector(t),), (t.ones(2),)),
    "item": lambda t: t.vmap(lambda x: x.item())(_vector(t)),
    "control flow": lambda t: t.vmap(lambda x: x if x > 0 else -x)(_vector(t)),
    "no tensor out": lambda t: t.vmap(lambda x: 3)(_vector(t)),
    "in_dim outside": lambda t: t.vmap(lambda x: x, in_dims=1)(_vector(t)),
    "in_dims of another tree": lambda t: t.vmap(lambda a, b: a, in_dims=(0,))(_vector(t), _vector(t)),
    "unlike sizes": lambda t: t.vmap(lambda a, b: a * b)(_vector(t), t.ones(2)),
    "nothing to map": lambda t: t.vmap(lambda x: x, in_dims=None)(_vector(t)),
    "mapped number": lambda t: t.vmap(lambda a, b: a)(_vector(t), 3),
    "strange out_dims": lambda t: t.vmap(lambda x: x, out_dims="a")(_vector(t)),
    "strange randomness": lambda t: t.vmap(lambda x: x, randomness="often")(_vector(t)),
    "no inputs": lambda t: t.vmap(lambda: 1)(),
    "printed": lambda t: _shown(lambda note: t.func.grad(
        lambda x: t.func.grad(lambda y: note(y, (x * y).sum()))(x).sum())(t.tensor([1.0, 2.0]))),
    "printed batch": lambda t: _shown(lambda note: t.vmap(t.vmap(lambda x: note(x, x)))(t.ones(2, 3))),
    "gradcheck": lambda t: t.autograd.gradcheck(
        lambda x: x.sin() * x, (_vector(t).requires_grad_(),), check_forward_ad=True, check_batched_grad=True,
        check_batched_forward_grad=True),
    "gradgradcheck": lambda t: t.autograd.gradgradcheck(
        lambda x: x.sin() * x, (_vector(t).requires_grad_(),), check_fwd_over_rev=True),
    "jacobian, forward": lambda t: t.autograd.functional.jacobian(
        lambda x: x * x, _vector(t), vectorize=True, strategy="forward-mode"),
}  # fmt: skip


def _within(block, function):
    with block:
        return function()


def _pulled(pair, cotangents):
    return pair[0], pair[1](cotangents)


def _pushed(pair, *tangents):
    return pair[0], pair[1](*tangents), pair[1](*tangents)


def _backward(leaf, function):
    function(leaf).backward()
    return leaf.grad


def _into(captured):
    return lambda x: captured.add_(x).sum()


def _shown(program):
    notes = []

    def note(value, answer):
        notes.append(repr(value))
        return answer

    return program(note), notes


def flat(value):
    """The leaves of an answer."""
    if isinstance(value, (list, tuple)):
        return [leaf for part in value for leaf in flat(part)]
    return [leaf for key in sorted(value) for leaf in flat(value[key])] if isinstance(value, dict) else [value]


def outcome(program, engine):
    """What a program gives: its leaves, or its error."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return flat(program(engine))
    except Exception as error:
        return error


def assert_same(program):
    """Results, errors and prints are PyTorch's."""
    from tests.torch_reference import torch

    ours, theirs = outcome(program, glassgrad), outcome(program, torch)
    if isinstance(theirs, Exception):
        assert type(ours).__name__ == type(theirs).__name__, ours
        assert str(ours).replace("glassgrad.core.tensor.Tensor", "torch.Tensor") == str(theirs)
        return
    if isinstance(ours, Exception):
        raise ours
    assert len(ours) == len(theirs)
    for a, b in zip(ours, theirs, strict=True):
        if isinstance(b, torch.Tensor):
            assert tuple(a.shape) == tuple(b.shape)
            assert str(a.dtype) == str(b.dtype)
            assert array(a) == pytest.approx(array(b), rel=1e-9, abs=1e-12)
        else:
            assert a == b


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name):
    assert_same(PROGRAMS[name])
