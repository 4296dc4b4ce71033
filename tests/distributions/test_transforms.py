"""Transforms and their registry against torch: images, inverses, stretching, shapes, caches, equality."""

import importlib

import pytest

import glassgrad
from glassgrad import distributions as ours
from tests.agreement import check
from tests.distributions.test_families import agree

pytestmark = pytest.mark.torch

VECTOR = [[0.2, -0.5, 1.3], [0.6, 0.1, -0.3]]
SQUARE = [[0.3, 0.5, -0.2], [0.1, -0.4, 0.6], [0.2, 0.9, 0.4]]

# name: (maker from the module and a maker of tensors, where it is tried)
TRANSFORMS = {
    "abs": (lambda D, t: D.AbsTransform(), VECTOR),
    "affine": (lambda D, t: D.AffineTransform(t([0.5, 1.0, -1.0]), t([2.0, -1.0, 0.5])), VECTOR),
    "affine by numbers": (lambda D, t: D.AffineTransform(0.5, -2), VECTOR),
    "affine of vectors": (lambda D, t: D.AffineTransform(0.5, t([2.0, -1.0, 0.5]), event_dim=1), VECTOR),
    "cat": (lambda D, t: D.CatTransform([D.ExpTransform(), D.AffineTransform(1, 2)], 0, [1, 1]), VECTOR),
    "cat along values": (lambda D, t: D.CatTransform([D.ExpTransform(), D.TanhTransform()], -1, [1, 2]), VECTOR),
    "composed": (lambda D, t: D.ComposeTransform([D.ExpTransform(),
                                                  D.AffineTransform(1.0, t([2.0, 1.0, 3.0]))]), VECTOR),
    "composed over dimensions": (lambda D, t: D.ComposeTransform([D.AffineTransform(0.1, 2.0),
                                                                  D.StickBreakingTransform()]), VECTOR),
    "composed twice the same": (lambda D, t: D.ComposeTransform([step := D.TanhTransform(), step]), VECTOR),
    "correlations": (lambda D, t: D.CorrCholeskyTransform(), VECTOR),
    "cumulative": (lambda D, t: D.CumulativeDistributionTransform(D.Normal(t(0.3), t(1.2))), VECTOR),
    "exp": (lambda D, t: D.ExpTransform(), VECTOR),
    "identity": (lambda D, t: D.identity_transform, VECTOR),
    "independent": (lambda D, t: D.IndependentTransform(D.ExpTransform(), 1), VECTOR),
    "inverse": (lambda D, t: D.AffineTransform(0.5, 2.0).inv, VECTOR),
    "lower cholesky": (lambda D, t: D.LowerCholeskyTransform(), SQUARE),
    "positive definite": (lambda D, t: D.PositiveDefiniteTransform(), SQUARE),
    "power": (lambda D, t: D.PowerTransform(t([2.0, 0.5, -1.0])), [[0.2, 0.5, 1.3], [0.6, 0.1, 0.3]]),
    "reshape": (lambda D, t: D.ReshapeTransform((3,), (3, 1)), VECTOR),
    "sigmoid": (lambda D, t: D.SigmoidTransform(), [[0.2, -0.5, 800.0], [0.6, 0.1, -800.0]]),
    "softmax": (lambda D, t: D.SoftmaxTransform(), VECTOR),
    "softplus": (lambda D, t: D.SoftplusTransform(), VECTOR),
    "stack": (lambda D, t: D.StackTransform([D.ExpTransform(), D.SigmoidTransform()], 0), VECTOR),
    "stick breaking": (lambda D, t: D.StickBreakingTransform(), VECTOR),
    "tanh": (lambda D, t: D.TanhTransform(), VECTOR),
}  # fmt: skip


@pytest.mark.parametrize("name", TRANSFORMS)
def test_transform(name):
    def program(torch, show):
        D = importlib.import_module(f"{torch.__name__}.distributions")
        make, values = TRANSFORMS[name]
        step = make(D, lambda v: torch.tensor(v, dtype=torch.float64))
        x = torch.tensor(values, dtype=torch.float64, requires_grad=True)
        y = step(x)
        show("image", y)
        show.error(lambda: step.log_abs_det_jacobian(x, y), "stretching")
        show.error(lambda: step.inv.log_abs_det_jacobian(y, x), "of the inverse")
        show("back", step.inv(y))
        show.error(lambda: torch.autograd.grad(step(x).cos().sum(), x)[0].tolist(), "slopes")
        for fact in ("domain", "codomain", "bijective", "sign", "event_dim"):
            show.error(lambda fact=fact: getattr(step, fact), fact)
        show("repr", [repr(step), repr(step.inv)])
        show("inverse of inverse", step.inv.inv is step)
        for shape in ((), (3,), (2, 3), (4, 3, 3)):
            show.error(lambda shape=shape: tuple(step.forward_shape(torch.Size(shape))), f"forward {shape}")
            show.error(lambda shape=shape: tuple(step.inv.forward_shape(torch.Size(shape))), f"backward {shape}")
        kept = step.with_cache()
        show("cached", [kept is step, kept._cache_size, kept.inv._cache_size])
        z = kept(x)
        show("the very same", [kept(x) is z, kept.inv(z) is x])
        show("equal", [step == step, step == make(D, lambda v: torch.tensor(v, dtype=torch.float64)), step == kept])

    agree(program)


def wrong_arguments(torch, show):
    D = importlib.import_module(f"{torch.__name__}.distributions")
    x = torch.zeros(2, 3)
    show.error(lambda: D.ExpTransform(cache_size=2))
    show.error(lambda: D.ReshapeTransform((3,), (2,)))
    show.error(lambda: D.CatTransform([D.ExpTransform(), 3]))
    show.error(lambda: D.CatTransform([D.ExpTransform()], lengths=[1, 2]))
    show.error(lambda: D.CatTransform([D.ExpTransform()], 5)(x))
    show.error(lambda: D.CatTransform([D.ExpTransform()], 0)(x))
    show.error(lambda: D.CatTransform([D.ExpTransform()], 0).inv(x))
    show.error(lambda: D.CatTransform([D.ExpTransform()], 5).log_abs_det_jacobian(x, x))
    show.error(lambda: D.CatTransform([D.ExpTransform()], 0).log_abs_det_jacobian(x, x))
    show.error(lambda: D.StackTransform([D.ExpTransform()], 0)(x))
    show.error(lambda: D.StackTransform([3]))
    show.error(lambda: D.IndependentTransform(D.ExpTransform(), 3)(x))
    show.error(lambda: D.CorrCholeskyTransform().forward_shape((4,)))
    show.error(lambda: D.CorrCholeskyTransform().inverse_shape((4, 3)))
    show.error(lambda: D.StickBreakingTransform().event_dim)
    show.error(lambda: D.TransformedDistribution(D.Normal(0.0, 1.0), 3))
    show.error(lambda: D.TransformedDistribution(D.Normal(0.0, 1.0), [3]))
    show.error(lambda: D.TransformedDistribution(D.Normal(0.0, 1.0), D.StickBreakingTransform()))


def registry(torch, show):
    D = importlib.import_module(f"{torch.__name__}.distributions")
    c = D.constraints
    x = torch.tensor([[0.3, -0.7, 1.2], [0.1, 0.4, -2.0]], dtype=torch.float64)
    known = [
        c.real, c.positive, c.nonnegative, c.greater_than(2.0), c.greater_than_eq(-1.0), c.less_than(0.5),
        c.interval(-1.0, 3.0), c.unit_interval, c.half_open_interval(0.0, 1.0), c.simplex, c.real_vector,
        c.independent(c.positive, 2), c.corr_cholesky, c.lower_cholesky, c.positive_definite, c.positive_semidefinite,
        c.cat([c.positive, c.real], 0, [1, 1]), c.stack([c.positive, c.real], 0), c.boolean, c.one_hot, c.dependent,
        c.interval(torch.tensor(0.0), torch.tensor(2.0)), c.multinomial(3), c.lower_triangular, c.square,
    ]  # fmt: skip
    for number, constraint in enumerate(known):
        for name in ("biject_to", "transform_to"):
            show.error(lambda constraint=constraint, name=name: repr(getattr(D, name)(constraint)), f"{name} {number}")
        if number < 12:
            step = D.transform_to(constraint)
            show(f"image {number}", step(x))
            show(f"fits {number}", constraint.check(step(x)))
    show.error(lambda: D.biject_to.register(3, None)(lambda found: None))

    class Mine(c.Constraint):
        pass

    D.biject_to.register(Mine, lambda found: D.ExpTransform())
    show("mine", repr(D.biject_to(Mine())))


def own_transforms(torch, show):
    D = importlib.import_module(f"{torch.__name__}.distributions")

    class Shift(D.Transform):
        domain = codomain = D.constraints.real
        bijective = True
        sign = +1

        def __init__(self, by, cache_size=0):
            super().__init__(cache_size)
            self.by = by

        def _call(self, x):
            return x + self.by

        def _inverse(self, y):
            return y - self.by

        def log_abs_det_jacobian(self, x, y):
            return torch.zeros_like(x)

    step = Shift(2.0)
    member = D.TransformedDistribution(D.Uniform(0.0, 1.0), [step, D.AffineTransform(0.0, -1.0)])
    show("log_prob", member.log_prob(torch.tensor(-2.3)))
    show("cdf", member.cdf(torch.tensor(-2.3)))
    show("icdf", member.icdf(torch.tensor(0.3)))
    show.error(lambda: step.with_cache(), words=" is not implemented")
    show.error(lambda: D.Transform()(3))
    show.error(lambda: D.Transform().sign)


@pytest.mark.parametrize("program", [wrong_arguments, registry, own_transforms])
def test_program(program):
    check(program)


@pytest.mark.parametrize("name", ["correlations", "stick breaking", "tanh", "softplus", "sigmoid"])
def test_stretching_is_the_determinant(name):
    """By automatic differentiation: the determinant of the slopes, over the free elements of the image."""
    make, _ = TRANSFORMS[name]
    step = make(ours, glassgrad.tensor)
    x = glassgrad.tensor([0.2, -0.5, 1.3], dtype=glassgrad.float64)

    def free(x):
        y = step(x)
        if y.dim() == 2:
            return ours.utils.tril_matrix_to_vec(y, diag=-1)
        return y[:3]

    slopes = glassgrad.autograd.functional.jacobian(free, x)
    told = step.log_abs_det_jacobian(x, step(x)).sum()
    assert float(slopes.det().abs().log()) == pytest.approx(float(told), rel=1e-9)
