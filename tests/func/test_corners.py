"""Corners of transforms as PyTorch has them: refusals in its words, prints, rules of batches, Functions of a user."""

import copy
import importlib
import pickle

import pytest

import glassgrad
from tests.func.test_against_torch import _matrix, _vector, _within, assert_same
from tests.laws import array

pytestmark = pytest.mark.torch


def _note(program):
    """What a program notes down in a list."""

    def noted(t):
        notes = []
        program(t, notes)
        return notes

    return noted


def _dual(t, function):
    """What ``function`` of a dual tensor gives within a block of forward mode."""
    with t.autograd.forward_ad.dual_level():
        return function(t.autograd.forward_ad.make_dual(_vector(t), _vector(t) * 2))


def _unpacked(t, dual):
    return list(t.autograd.forward_ad.unpack_dual(dual))


def _product(t, vmap=None, gen=False, dirty=False):
    """A custom Function of two arguments with both rules."""

    class Product(t.autograd.Function):
        generate_vmap_rule = gen

        @staticmethod
        def forward(x, y):
            return x.mul_(y) if dirty else x * y

        @staticmethod
        def setup_context(ctx, inputs, output):
            if dirty:
                ctx.mark_dirty(inputs[0])
                ctx.save_for_backward(inputs[1])
            else:
                ctx.save_for_backward(*inputs)
                ctx.save_for_forward(*inputs)

        @staticmethod
        def backward(ctx, grad):
            if dirty:
                return grad * ctx.saved_tensors[0], None
            x, y = ctx.saved_tensors
            return grad * y, grad * x

        @staticmethod
        def jvp(ctx, a, b):
            x, y = ctx.saved_tensors
            return a * y + x * b

    if vmap is not None:
        Product.vmap = staticmethod(vmap)
    return Product


def _given(jvp):
    """A custom Function whose ``jvp`` gives something else than it should."""

    def program(t):
        class Odd(t.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x * x

        Odd.jvp = staticmethod(lambda ctx, tangent: jvp(tangent))
        return _dual(t, Odd.apply)

    return program


def _kept(t, forward, jvp, dirty=False):
    """A custom Function of one argument in two parts, whose ``forward`` may write into it."""

    class Kept(t.autograd.Function):
        @staticmethod
        def setup_context(ctx, inputs, output):
            if dirty:
                ctx.mark_dirty(inputs[0])

    Kept.forward, Kept.jvp = staticmethod(forward), staticmethod(lambda ctx, tangent: jvp(tangent))
    return Kept


def _chances(t):
    return importlib.import_module(f"{t.__name__}.distributions")


def _norm(t, **options):
    t.manual_seed(0)
    net = t.nn.Sequential(t.nn.Linear(3, 4), t.nn.BatchNorm1d(4, **options)).double()
    return net, dict(net.named_parameters())


def _normed(t, transform, **options):
    net, parameters = _norm(t, **options)
    return transform(t, lambda p, x: (t.func.functional_call(net, p, (x,)) ** 3).sum())(parameters, _cube(t))


def _cube(t):
    return t.arange(18.0, dtype=t.float64).reshape(2, 3, 3) ** 2 / 9


def _leaf(t):
    return _vector(t).requires_grad_()


def _into(t, name, *args):
    return lambda x: getattr(t.ones(3, dtype=t.float64), name)(*[x[0] if arg == "number" else x for arg in args]).sum()


def _rescaled(tensor):
    tensor[2:] *= 2
    return tensor


def _data_doubled(tensor):
    tensor.data.mul_(2)
    return tensor


SCORES, CLASSES, WEIGHTS = (2, 3, 4), [[0, 1, 2], [2, 2, 3]], (2, 4)

PROGRAMS = {
    # forward mode
    "long tangent": _note(lambda t, n: n.append(_dual(t, repr))),
    "tangent with a graph": _note(lambda t, n: n.append(_dual(t, lambda d: repr(d * _leaf(t))[:60]))),
    "unpack a number": lambda t: _dual(t, lambda d: t.autograd.forward_ad.unpack_dual(3.0)),
    "dual number": lambda t: _dual(t, lambda d: t.autograd.forward_ad.make_dual(3.0, d)),
    "dual and out": lambda t: _dual(t, lambda d: t.sin(d, out=t.empty(3, dtype=t.float64))),
    "dual copied": lambda t: _dual(t, lambda d: _unpacked(t, copy.deepcopy(d)) + [pickle.loads(pickle.dumps(d))]),
    "number with a tangent": _note(lambda t, n: n.append(_dual(t, lambda d: repr(d.sum())))),
    "level": lambda t: _dual(t, lambda d: t.autograd.forward_ad.make_dual(_vector(t), _vector(t), level=1)),
    "inference": lambda t: t.func.jvp(
        lambda x: _within(t.inference_mode(), lambda: x * x), (_vector(t),), (_vector(t),)),
    "jvp of no view": lambda t: _dual(t, _kept(t, lambda x: x[1:], lambda tangent: tangent[1:] * 1).apply),
    "jvp of the input": lambda t: _dual(t, _kept(t, lambda x: x, lambda tangent: tangent * 1).apply),
    "jvp of the input, twice": lambda t: t.func.jvp(lambda x: x * _kept(
        t, lambda x: x, lambda tangent: tangent * 5).apply(x), (_vector(t),), (_vector(t),)),
    "jvp beside what was written": lambda t: _dual(t, _kept(
        t, lambda x: x.mul_(2), lambda tangent: tangent * 2, dirty=True).apply),
    "jvp into what was written": lambda t: _dual(t, lambda d: (lambda y: _unpacked(t, _kept(
        t, lambda x: x.mul_(2), lambda tangent: tangent.mul_(2), dirty=True).apply(y) + y))(d * 1)),
    "jvp of whole numbers": lambda t: _dual(t, _kept(t, lambda x: x.long(), lambda tangent: tangent).apply),
    "jvp gives two": _given(lambda tangent: (tangent, tangent)),
    "jvp gives a number": _given(lambda tangent: 3),
    "jvp gives other sizes": _given(lambda tangent: tangent[:2]),
    **{f"{name} of a view of a leaf's": lambda t, name=name: _dual(t, lambda d: (lambda x: _unpacked(t, getattr(
        t.autograd.forward_ad.make_dual(x, x.detach())[1:], name)()))(_leaf(t)))
        for name in ("logical_not_", "zero_", "sign_")},
    **{f"what has no gradient, in place, {name}": lambda t, made=made, of=of: made(
        t, lambda x: (of(x).logical_not_() * x[1:]).sum()) for name, made, of in (
            ("in grad", lambda t, f: t.func.grad(f)(_vector(t)), lambda x: (x * 2)[1:]),
            ("in two", lambda t, f: t.func.grad(lambda x: t.func.grad(f)(x).sum())(_vector(t)), lambda x: x[1:] * 2),
            ("of a leaf", lambda t, f: t.func.grad(f)(_vector(t)), lambda x: x[1:]),
            ("in vmap", lambda t, f: t.vmap(f)(_matrix(t).requires_grad_()), lambda x: x[1:]))},
    **{f"constant in place, pushed, {name}": lambda t, f=f: t.func.jvp(f, (_vector(t),), (_vector(t),)) for name, f in {
        "all": lambda x: (x * 2).logical_not_(), "a part": lambda x: (lambda y: (y[1:].logical_not_(), y)[1])(x * 2),
        "the input": lambda x: x.logical_not_(), "what is expanded": lambda x: (x * 1).expand(2, 3).logical_not_(),
        }.items()},
    "one row in place": lambda t: _dual(t, lambda d: _rescaled(d.view(3, 1) * t.ones(3, 2))),
    **{f"linearize within {name}": lambda t, name=name: t.func.linearize(
        lambda x: x * _within(getattr(t, name)(), lambda: x * x), _vector(t))[1](_vector(t) * 2)
        for name in ("no_grad", "inference_mode", "enable_grad")},
    **{f"data {how}": lambda t, of=of: of(t, lambda x: x.data * x) for how, of in {
        "in two": lambda t, f: t.func.hessian(lambda x: f(x).sum())(_vector(t)),
        "of a batch of gradients": lambda t, f: t.vmap(t.func.grad(lambda x: f(x).sum()))(_matrix(t)),
        "of a batch": lambda t, f: t.vmap(f)(_matrix(t)),
        "pushed": lambda t, f: t.func.jvp(t.func.grad(lambda x: f(x).sum()), (_vector(t),), (_vector(t),))}.items()},
    "data written in two": lambda t: t.func.hessian(lambda x: (_data_doubled(x * 2) * x).sum())(_vector(t)),
    **{f"data set in {name}": lambda t, of=of: of(t, lambda x: setattr(x * 2, "data", x)) for name, of in {
        "grad": lambda t, f: t.func.grad(f)(_vector(t)), "vmap": lambda t, f: t.vmap(f)(_matrix(t))}.items()},
    **{f"no_grad in two, {name}": lambda t, x=x: t.func.grad(lambda y: t.func.grad(lambda x: (
        x * _within(t.no_grad(), lambda: x * y)).sum())(x(y)).sum())(_vector(t))
        for name, x in (("of one", lambda y: y), ("of another", lambda y: y.detach()))},
    **{f"three slopes of {name} far out": lambda t, f=f: [t.func.grad(t.func.grad(t.func.grad(lambda x: f(t, x))))(
        t.tensor(x).double()) for x in (800.0, 50.0, -800.0)] for name, f in {
            "elu": lambda t, x: t.nn.functional.elu(x), "selu": lambda t, x: t.nn.functional.selu(x),
            "celu": lambda t, x: t.nn.functional.celu(x), "log_ndtr": lambda t, x: t.special.log_ndtr(x.clamp(-5)),
        }.items()},
    "Jacobian by columns": lambda t: t.autograd.functional.jacobian(
        lambda x, y: (x * y, x.sum()), (_vector(t), _vector(t)), strategy="forward-mode", vectorize=True),
    "Jacobian by columns, strictly": lambda t: t.autograd.functional.jacobian(
        lambda x: x, _vector(t), strategy="forward-mode", vectorize=True, strict=True),
    "Jacobian of rows together": lambda t: t.autograd.functional.jacobian(
        lambda x, y: (x * y, y.sum(), t.ones(2)), (_vector(t), _vector(t)), vectorize=True),
    "Jacobian with a graph": lambda t: t.autograd.functional.jacobian(
        lambda x: x**3, _leaf(t), vectorize=True, create_graph=True),
    "Hessian by columns": lambda t: t.autograd.functional.hessian(
        lambda x: (x**3).sum(), _vector(t), vectorize=True, outer_jacobian_strategy="forward-mode"),
    "Hessian by columns, one by one": lambda t: t.autograd.functional.hessian(
        lambda x: (x**3).sum(), _vector(t), outer_jacobian_strategy="forward-mode"),
    **{f"{name}, strictly": lambda t, name=name: getattr(t.autograd.functional, name)(
        lambda x: (x * 2).sum(), _vector(t), *[_vector(t)] * (name != "vjp"), strict=True, create_graph=True)
        for name in ("vjp", "jvp", "hvp", "vhp")},
    "direction of another kind": lambda t: t.autograd.functional.jvp(lambda x: x * 2, _vector(t), 3),
    "pulled back once": lambda t: (lambda pull: (pull(_vector(t), retain_graph=False), pull(_vector(t))))(
        t.func.vjp(t.exp, _vector(t))[1]),
    "both modes wrong": lambda t: t.autograd.gradcheck(
        lambda x: x * x.detach(), (_leaf(t),), check_forward_ad=True),
    "second gradients, nothing checked": lambda t: t.autograd.gradgradcheck(
        t.sin, (_leaf(t),), check_fwd_over_rev=False, check_rev_over_rev=False),
    "second gradients, undefined": lambda t: t.autograd.gradgradcheck(
        t.sin, (_leaf(t),), check_fwd_over_rev=True, check_rev_over_rev=False),
    # batches of gradients
    "batch of gradients": lambda t: (lambda x: t.autograd.grad(
        x**3, x, t.eye(3).double(), is_grads_batched=True))(_leaf(t)),
    "no batch of gradients": lambda t: (lambda x: t.autograd.grad(x**3, x, None, is_grads_batched=True))(_leaf(t)),
    "batch of gradients, unused": lambda t: (lambda x, y: t.autograd.grad(
        x**3, (x, y), t.eye(3).double(), is_grads_batched=True, materialize_grads=True))(_leaf(t), _leaf(t)),
    # what functions give and take
    "aux of words": lambda t: t.func.grad(lambda x: (x.sum(), "words"), has_aux=True)(_vector(t)),
    "complex number": lambda t: t.func.grad(lambda x: x.sum())(t.tensor([1 + 1j])),
    "cotangents of another tree": lambda t: t.func.vjp(lambda x: {"a": (x, x)}, _vector(t))[1]({"b": [_vector(t)]}),
    "complex rows": lambda t: t.func.jacrev(lambda x: (x, x * 1j))(_vector(t)),
    "complex columns": lambda t: t.func.jacfwd(lambda x: (x, x * 1j))(_vector(t)),
    "no rows": lambda t: t.func.jacrev(lambda x: x * 2)(t.ones(0)),
    "no columns": lambda t: t.func.jacfwd(lambda x: x * 2)(t.ones(0)),
    "retain_grad": lambda t: t.func.grad(lambda x: (x.retain_grad(), x.sum())[1])(_vector(t)),
    "deepcopy": lambda t: t.func.grad(lambda x: copy.deepcopy(x).sum())(_vector(t)),
    "pickle": lambda t: t.vmap(lambda x: pickle.loads(pickle.dumps(x)))(_vector(t)),
    "storage": lambda t: t.func.jvp(lambda x: x.untyped_storage(), (_vector(t),), (_vector(t),)),
    "out within grad": lambda t: t.func.grad(lambda x: t.sin(x, out=t.empty(3).double()).sum())(_vector(t)),
    "out within vmap": lambda t: t.vmap(lambda x: t.sin(x, out=t.empty(3).double()))(_matrix(t)),
    "captured number": lambda t: t.func.grad(_into(t, "fill_", "number"))(_vector(t)),
    "names of a module": lambda t: t.func.functional_call(_norm(t)[0], {"x": _vector(t)}, _matrix(t), strict=True),
    # patterns
    **{f"rearrange {pattern}": lambda t, pattern=pattern, lengths=lengths: t.func.rearrange(
        t.arange(24).reshape(2, 3, 4), pattern, **lengths) for pattern, lengths in {
        "a b c -> c (a b)": {}, "a (b1 b2) c -> a b1 b2 c": {"b1": 3}, "... c -> c 1 ...": {}, "a ... -> (a ...)": {},
        "... (b c) -> b (... c)": {"b": 2}, " a b   c->a () (1 c b)": {}, "... -> ...": {}, "a b": {}, "a b -> b a": {},
        "a b c -> a b": {}, "a b b -> a b": {}, "a b c -> c b a": {"q": 3}, "a (b ...) -> a b ...": {},
        "a b c -> a b c ...": {}, "a b c d ... d -> a": {}, "... a b c d -> a b c d ...": {}, "... a ... -> a ...": {},
        "a . b c -> a b c": {}, "a b c -> (a b c": {}, "a b c -> a b c)": {}, "a ((b) c) -> a b c": {},
        "a 2 c -> a c": {}, "a b 2c -> a b": {}, "a b c! -> a": {}, "_a b c -> _a b c": {},
        "a b c -> b a c": {"a": "z"}, "a b (c d) -> a b c d": {"c": 3}}.items()},
    "rearrange a list": lambda t: t.func.grad(lambda x: (
        t.func.rearrange([x, x * 2], "l (a b) c -> b c (a l)", b=1) ** 2).sum())(_matrix(t)),
    "rearrange a batch": lambda t: t.vmap(lambda x: t.func.rearrange(x, "a b -> b a"))(_cube(t)),
    # prints
    "printed along 1": _note(lambda t, n: t.vmap(lambda x: (n.append(repr(x)), x)[1], in_dims=1)(_matrix(t))),
    "printed after": _note(lambda t, n: t.func.grad(
        lambda x: (n.append(x), x.sum())[1])(_vector(t)) is n.append(repr(n.pop()))),
    "formatted": _note(lambda t, n: t.func.grad(lambda x: (n.append(f"{x:.2f}"), x)[1])(t.tensor(1.5))),
    "formatted batch": lambda t: t.vmap(lambda x: (f"{x:.2f}", x)[1])(_vector(t)),
    # values and sizes of batches
    "batch that escaped": _note(lambda t, n: t.vmap(
        lambda x: (n.append(x), x)[1])(_vector(t)) is n.append(n.pop(0) * 2)),
    "sizes by values": lambda t: t.vmap(lambda i: t.ones(i))(t.tensor([1, 2])),
    "range by values": lambda t: t.vmap(lambda i: sum(range(i)) * i)(t.tensor([1, 2])),
    "arange by values": lambda t: t.vmap(lambda i: t.arange(i))(t.tensor([1, 2])),
    "tensor of numbers": lambda t: t.vmap(lambda x: t.tensor([x, x]))(_vector(t)),
    "address": lambda t: t.vmap(lambda x: x * x.data_ptr())(_vector(t)),
    "data": lambda t: t.vmap(lambda x: setattr(x, "data", x))(_vector(t)),
    "data of another": lambda t: t.vmap(lambda x: setattr(t.ones(()), "data", x))(_vector(t)),
    "chunks draw the same": lambda t: (t.manual_seed(0), t.vmap(
        lambda x: x + t.rand(3), randomness="same", chunk_size=1)(_matrix(t)))[1],
    **{f"into {name}": lambda t, name=name, args=args: t.vmap(_into(t, name, *args))(_matrix(t)) for name, args in {
        "mul_": "x", "copy_": "x", "fill_": ("number",), "pow_": "x", "lt_": "x", "addcmul_": "xx", "add_": "x",
        "copysign_": "x", "logical_or_": "x", "clamp_min_": "x", "clamp_": "x"}.items()},
    "chances": lambda t: t.vmap(lambda x: _chances(t).Gamma(x, x + 1).log_prob(x) + _chances(t).Normal(x, 1.0).cdf(x))(
        _matrix(t)),
    "gradients of chances": lambda t: t.vmap(t.func.grad(
        lambda x: _chances(t).MultivariateNormal(x, t.eye(3).double()).log_prob(x[0] * x)))(_matrix(t)),
    "chances checked": lambda t: t.vmap(_chances(t).constraints.unit_interval.check)(_matrix(t) + 9),
    # rules
    "masked_select": lambda t: t.vmap(lambda x: x.masked_select(t.tensor([True, False, True])))(_matrix(t)),
    "combinations": lambda t: t.vmap(t.combinations)(_matrix(t)),
    "block_diag": lambda t: t.vmap(lambda x: t.block_diag(x, x[0], t.ones(1, 2).double(), x.unsqueeze(1)))(_matrix(t)),
    "block_diag, columns": lambda t: t.func.jacfwd(lambda x: t.block_diag(x, x[0]))(_vector(t)),
    "lstsq": lambda t: t.vmap(lambda a: t.linalg.lstsq(a @ a.t() + t.eye(3), a)[0])(_cube(t)),
    "matrix_rank": lambda t: t.vmap(t.linalg.matrix_rank)(_cube(t)),
    "rms_norm": lambda t: t.vmap(lambda w: t.nn.functional.rms_norm(_cube(t), (3,), w))(_matrix(t)),
    "weights of classes": lambda t: [t.vmap(t.func.grad(lambda s, y, w, reduction=reduction: t.nn.functional.nll_loss(
        s, y, w, reduction=reduction, ignore_index=1).sum(), (0,)))(
        t.arange(24.0).double().reshape(SCORES) / 9, t.tensor(CLASSES), t.arange(8.0).double().reshape(WEIGHTS) + 1)
        for reduction in ("mean", "sum", "none")],
    "sorter": lambda t: t.vmap(lambda x, s: t.searchsorted(x, x * 1.1, sorter=s))(
        _matrix(t), t.tensor([[2, 1, 0], [0, 1, 2]])),
    "short window": lambda t: t.vmap(lambda x, w: t.stft(x, 4, 2, 3, w, return_complex=True))(
        t.arange(20.0).double().reshape(2, 10), _matrix(t)),
    # writes of what is read, and what is detached
    **{f"{name} written beside itself, {transform}": lambda t, f=f, made=made: made(t, lambda x: f(t, x * 2).sum())
        for name, f in {
            "product": lambda t, y: (y[1:].mul_(y[:-1]), y)[1],
            "truth": lambda t, y: (y[1:].logical_and_(y[:-1]), y)[1],
            "at an index": lambda t, y: y.index_add_(0, t.arange(3), y), "mixed": lambda t, y: y.lerp_(y.flip(0), 0.5),
            "scattered": lambda t, y: y.scatter_(0, t.arange(3), y), "number": lambda t, y: y.fill_(y[0]),
            "where an index says": lambda t, y: y.index_fill_(0, t.tensor([1]), y[0]),
            "where a mask says": lambda t, y: (y[1:].masked_fill_(y[:-1] > 1, y[0]), y)[1]}.items()
        for transform, made in {
            "grad": lambda t, f: t.func.grad(f)(_vector(t)), "jvp": lambda t, f: t.func.jvp(
                f, (_vector(t),), (_vector(t),)), "vmap of grad": lambda t, f: t.vmap(t.func.grad(f))(_matrix(t)),
            }.items()
        # of these PyTorch's batches refuse, as it happens, or know no rule
        if transform != "vmap of grad" or name not in ("product", "truth")},
    **{f"detached {name}, {transform}": lambda t, f=f, made=made: made(t, f)
        for name, f in {
            "view": lambda x: (lambda e: (e[:1].detach_(), e.sum())[1])(x * 2),
            "result": lambda x: (lambda e: (e.detach_(), e.sum())[1])(x * 2),
            "base": lambda x: (lambda e: (lambda v: (e.detach_(), v.sum())[1])(e[:1]))(x * 2)}.items()
        for transform, made in {
            "grad": lambda t, f: t.func.grad(f)(_vector(t)), "jvp": lambda t, f: t.func.jvp(
                f, (_vector(t),), (_vector(t),)), "vmap": lambda t, f: t.vmap(f)(_matrix(t)),
            "dual": lambda t, f: _dual(t, f)}.items()},
    "base detached, view written": lambda t: _dual(t, lambda d: (lambda e: (lambda v: (e.detach_(), v.mul_(2)))(e[:1]))(
        _leaf(t) * 2)),
    # choices of each example within grad
    **{f"{name} of each example": lambda t, f=f: t.vmap(t.func.grad(lambda x, i: f(t, x, i).square().sum()), (None, 0))(
        _vector(t), t.tensor([[0, 2, 1], [2, 2, 0]])) for name, f in {
            "mask filled": lambda t, x, i: x.masked_fill(i > 0, x[0]),
            "index filled": lambda t, x, i: x.index_fill(0, i, x[0]),
            "bags": lambda t, x, i: t.nn.functional.embedding_bag(i, x[:, None], t.tensor([0, 1])),
            "best bags": lambda t, x, i: t.nn.functional.embedding_bag(i[None], x[:, None], mode="max"),
            "repeated": lambda t, x, i: x.repeat_interleave(i.clamp(1, 1)),
            "among": lambda t, x, i: x * t.isin(t.arange(3), i)}.items()},
    # layers
    "statistics within grad": lambda t: _normed(t, lambda t, f: lambda p, x: t.func.grad(f)(p, x[0])),
    "statistics within vmap": lambda t: _normed(t, lambda t, f: t.vmap(f, in_dims=(None, 0))),
    "no statistics": lambda t: _normed(t, lambda t, f: t.vmap(f, in_dims=(None, 0)), track_running_stats=False),
    "statistics of each sample": lambda t: t.vmap(lambda x, m, v: t.nn.functional.instance_norm(x, m, v))(
        _cube(t).unsqueeze(1), _matrix(t), _matrix(t)),
    # Functions
    "vmap of vmap of a generated rule": lambda t: t.vmap(t.vmap(_product(t, gen=True).apply), (0, None))(
        _cube(t), _matrix(t).t()),
    "vmap gives one": lambda t: t.vmap(_product(t, lambda info, dims, x, y: x).apply)(_matrix(t), _matrix(t)),
    "vmap gives strange dims": lambda t: t.vmap(_product(t, lambda info, dims, x, y: (x, (0, 0))).apply)(
        _matrix(t), _matrix(t)),
    "dirty": lambda t: t.func.grad(lambda x: (
        lambda z: (_product(t, dirty=True).apply(z, x.detach()) * z).sum())(x.clone()))(_vector(t)),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_corner(name):
    assert_same(PROGRAMS[name])


def test_a_batch_of_gradients_is_one_walk():
    x = glassgrad.ones(3, requires_grad=True)
    y = x * x
    calls = []
    y.register_hook(lambda grad: calls.append(grad.shape))
    glassgrad.autograd.grad(y, x, glassgrad.eye(3), is_grads_batched=True, retain_graph=True)
    assert calls == [(3,)]
    glassgrad.autograd.functional.jacobian(lambda z: (calls.clear(), z.exp())[1], x, vectorize=True)
    assert calls == []


def test_orders_of_forward_mode_through_a_function():
    """PyTorch gives zero for the second."""
    cube = glassgrad.func.jvp
    function = _product(glassgrad, gen=True).apply
    x, one = glassgrad.tensor(2.0), glassgrad.tensor(1.0)
    _, twice = cube(lambda y: cube(lambda z: function(z, z * z), (y,), (one,))[1], (x,), (one,))
    assert twice.item() == 12


def test_chances_are_refused_if_those_of_one_example_are():
    chances = glassgrad.tensor([[0.5], [1.5]])
    with pytest.raises(ValueError, match="Expected parameter probs"):
        glassgrad.vmap(lambda p: glassgrad.distributions.Geometric(p).mean)(chances)


def test_rules_read_whole_numbers_in_the_dtype_that_all_agreed_on():
    """Bytes would wrap around, as they do in PyTorch, and truth values have no difference."""
    leaf = glassgrad.tensor([0.5, 3.0], dtype=glassgrad.float64, requires_grad=True)
    for name, other in (("atan2", glassgrad.tensor([4, 200], dtype=glassgrad.uint8)), ("logaddexp", leaf > 1)):

        def total(x, other=other, name=name):
            return getattr(glassgrad, name)(other, x).sum()

        first = glassgrad.autograd.grad(total(leaf, other.double()), leaf, create_graph=True)
        second = glassgrad.autograd.grad(first[0].sum(), leaf)[0]
        x = leaf.detach()
        ones, slopes = glassgrad.ones_like(x), first[0].detach()
        for given in (
            glassgrad.autograd.grad(total(leaf), leaf, create_graph=True)[0],
            glassgrad.func.grad(total)(x),
            glassgrad.func.vmap(glassgrad.func.grad(total))(glassgrad.stack([x, x]))[1],
        ):
            assert glassgrad.allclose(given, slopes)
        assert glassgrad.allclose(glassgrad.func.jvp(total, (x,), (ones,))[1], slopes.sum())
        assert glassgrad.allclose(glassgrad.func.hessian(total)(x).sum(0), second)


def test_lerp_by_a_truth_value_has_a_tangent():
    x = glassgrad.tensor([1.0, 2.0])
    for weight, wanted in ((True, [3.0, 3.0]), (False, [1.0, 1.0])):
        moved = glassgrad.func.jvp(
            lambda x, weight=weight: glassgrad.lerp(x, x * 3, glassgrad.tensor(weight)), (x,), (glassgrad.ones(2),)
        )[1]
        assert moved.tolist() == wanted


@pytest.mark.filterwarnings("ignore:Use of index_")
def test_vmap_puts_into_expanded_tensors():
    def filled(x):
        wide = x[:1].expand(3)
        wide.index_fill_(0, glassgrad.tensor([0]), 5.0)
        wide[glassgrad.tensor([1])] = x.sum()
        return wide * 1

    assert glassgrad.func.vmap(filled)(glassgrad.ones(2, 3)).tolist() == [[7.0] * 3] * 2


def test_conjugates_follow_what_is_written_or_refuse():
    numbers = glassgrad.tensor([1 + 2j, 2j])

    def total(x):
        x = x * 1
        conjugate = x.conj()
        x.square_()
        return (conjugate * (1 + 2j)).real.sum()

    def late(x):
        return (x.square().conj() * (1 + 2j)).real.sum()

    batch = glassgrad.stack([numbers, numbers + 1])
    assert glassgrad.allclose(glassgrad.func.vmap(total)(batch), glassgrad.func.vmap(late)(batch))
    assert glassgrad.allclose(glassgrad.func.grad(total)(numbers), glassgrad.func.grad(late)(numbers))
    with pytest.raises(RuntimeError, match="whose conjugate is in use"):
        glassgrad.func.jvp(total, (numbers,), (numbers,))
    with pytest.raises(RuntimeError, match="a conjugate is being written"):
        glassgrad.func.vmap(lambda x: x.conj().square_())(batch)


def test_vmap_of_the_first_none_of_numbers():
    assert glassgrad.func.vmap(lambda x: x.topk(0, 0)[0])(glassgrad.arange(3.0)).tolist() == [0, 1, 2]


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
def test_the_class_of_a_row_may_come_in_a_vector(reduction):
    """Each example of a batch is as it is alone; PyTorch refuses them within transforms."""
    scores, classes = glassgrad.arange(8.0).reshape(2, 4).sin(), glassgrad.tensor([[2], [0]])

    def loss(scores, classes):
        return glassgrad.nn.functional.cross_entropy(scores, classes, reduction=reduction)

    for function in (loss, glassgrad.func.grad(loss)):
        alone = glassgrad.stack([function(*each) for each in zip(scores, classes, strict=True)])
        assert array(glassgrad.vmap(function)(scores, classes)) == pytest.approx(array(alone))


def test_what_jvp_gives_back_is_no_tangent_of_two():
    """PyTorch's tensors share it, and a write into one is seen in the other's derivative."""

    class Given(glassgrad.autograd.Function):
        forward = staticmethod(lambda x: x.exp())
        setup_context = staticmethod(lambda ctx, inputs, output: None)
        jvp = staticmethod(lambda ctx, tangent: tangent)

    forward = glassgrad.autograd.forward_ad
    with forward.dual_level():
        x = forward.make_dual(glassgrad.ones(2), glassgrad.ones(2))
        y = Given.apply(x)
        x.mul_(2)
        assert forward.unpack_dual(y).tangent.tolist() == [1, 1] and forward.unpack_dual(x).tangent.tolist() == [2, 2]
