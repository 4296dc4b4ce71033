"""What all distributions share, against torch: checks and their words, subclasses, parameters as given, old names."""

import importlib
import math
import pickle

import pytest

import glassgrad
from glassgrad import distributions as ours
from tests.agreement import check


def wrong_parameters(torch, show):
    D = importlib.import_module(f"{torch.__name__}.distributions")
    D.Distribution.set_default_validate_args(True)  # which PyTorch's compiler takes back when it is imported
    t = torch.tensor
    for make in (
        lambda: D.Normal(0.0, -1.0),
        lambda: D.Normal(t([0.0, math.nan]), t([1.0, 1.0])),
        lambda: D.Normal("a", 1.0),
        lambda: D.Normal(torch.zeros(3), torch.ones(2)),
        lambda: D.Uniform(t([1.0, 2.0]), t([2.0, 1.0])),
        lambda: D.Bernoulli(),
        lambda: D.Bernoulli(0.2, 0.3),
        lambda: D.Bernoulli(t([0.2, 1.3])),
        lambda: D.Bernoulli(logits=t([math.inf, math.nan])),
        lambda: D.Categorical(),
        lambda: D.Categorical(t(0.3)),
        lambda: D.Categorical(logits=t(0.3)),
        lambda: D.Categorical(t([0.3, -0.1])),
        lambda: D.Categorical(logits=t([[0.3, math.nan]])),
        lambda: D.Binomial(t([3.5]), t([0.5])),
        lambda: D.Binomial(-1, t([0.5])),
        lambda: D.Multinomial(3.5, torch.ones(2)),
        lambda: D.Dirichlet(t(1.0)),
        lambda: D.Dirichlet(t([1.0, 0.0])),
        lambda: D.Beta(t([1.0, 2.0]), t(-1.0)),
        lambda: D.Gamma(0.0, 1.0),
        lambda: D.Geometric(t([0.0, 0.5])),
        lambda: D.Geometric(t([1.5])),
        lambda: D.NegativeBinomial(3, t([1.0])),
        lambda: D.ContinuousBernoulli(t([1.5]), validate_args=True),
        lambda: D.Independent(D.Normal(torch.zeros(2), 1.0), 2),
        lambda: D.LKJCholesky(1),
        lambda: D.MultivariateNormal(t(0.0), torch.eye(1)),
        lambda: D.MultivariateNormal(torch.zeros(2)),
        lambda: D.MultivariateNormal(torch.zeros(2), torch.eye(2), scale_tril=torch.eye(2)),
        lambda: D.MultivariateNormal(torch.zeros(2), torch.ones(2)),
        lambda: D.MultivariateNormal(torch.zeros(2), scale_tril=torch.ones(2)),
        lambda: D.MultivariateNormal(torch.zeros(2), t([[1.0, 2.0], [2.0, 1.0]])),
        lambda: D.MultivariateNormal(torch.zeros(2), scale_tril=t([[1.0, 2.0], [2.0, 1.0]])),
        lambda: D.LowRankMultivariateNormal(torch.zeros(2), torch.ones(3, 1), torch.ones(2)),
        lambda: D.LowRankMultivariateNormal(torch.zeros(2), torch.ones(2, 1), torch.ones(3)),
        lambda: D.LowRankMultivariateNormal(torch.zeros(3, 2), torch.ones(4, 2, 1), torch.ones(2)),
        lambda: D.Wishart(1.0, torch.eye(3)),
        lambda: D.Wishart(4.0, torch.ones(3)),
        lambda: D.MixtureSameFamily(D.Normal(0.0, 1.0), D.Normal(0.0, 1.0)),
        lambda: D.MixtureSameFamily(D.Categorical(torch.ones(2)), D.Normal(torch.zeros(3), 1.0)),
        lambda: D.MixtureSameFamily(D.Categorical(torch.ones(4, 2)), D.Normal(torch.zeros(3, 2), 1.0)),
        lambda: D.VonMises(t(0.0), t(-1.0)),
        lambda: D.StudentT(-1.0),
    ):
        show.error(make)


def checks_on_and_off(torch, show):
    D = importlib.import_module(f"{torch.__name__}.distributions")
    show("unchecked", D.Normal(0.0, -1.0, validate_args=False).scale)
    show("outside", D.Exponential(1.0, validate_args=False).log_prob(torch.tensor(-1.0)))
    D.Distribution.set_default_validate_args(False)
    try:
        show("off", D.Normal(0.0, -1.0).scale)
        show.error(lambda: D.Normal(0.0, -1.0, validate_args=True))
    finally:
        D.Distribution.set_default_validate_args(True)
    show.error(lambda: D.Distribution.set_default_validate_args(3))
    show.error(lambda: D.Normal(0.0, -1.0), words=False)


def subclasses(torch, show):
    D = importlib.import_module(f"{torch.__name__}.distributions")

    class Bare(D.Distribution):
        pass

    bare = show.warnings(lambda: len([Bare()]))
    show("made", bare)
    quiet = Bare(torch.Size([2]), validate_args=False)
    for name in ("mean", "mode", "variance", "support", "arg_constraints"):
        show.error(lambda name=name: getattr(quiet, name), words=name == "mode" and "does not implement")
    for name, args in (("sample", ()), ("rsample", ()), ("log_prob", (1,)), ("cdf", (1,)), ("icdf", (1,)),
                       ("entropy", ()), ("expand", ((2,),)), ("enumerate_support", ())):  # fmt: skip
        show.error(lambda name=name, args=args: getattr(quiet, name)(*args))

    class Shifted(D.Normal):
        def __init__(self, loc):
            super().__init__(loc + 1, 2.0)

    show("repr", repr(Shifted(torch.zeros(2))))
    show.error(lambda: Shifted(torch.zeros(2)).expand((3, 2)))

    class Plain(D.Normal):
        def entropy(self):
            return 0

    wide = Plain(torch.zeros(2), 1.0).expand((3, 2))
    show("kept", [type(wide).__name__, wide.entropy(), wide.batch_shape])

    class Expanding(D.Gamma):
        def __init__(self, rate):
            super().__init__(3.0, rate)
            self.extra = 5

        def expand(self, batch_shape, _instance=None):
            new = self._get_checked_instance(Expanding, _instance)
            new.extra = self.extra
            return super().expand(batch_shape, _instance=new)

    wide = Expanding(torch.ones(2)).expand((3, 2))
    show("own expand", [type(wide).__name__, wide.extra, wide.batch_shape, wide.concentration])

    class Die(D.Distribution):
        arg_constraints = {}
        support = D.constraints.integer_interval(1, 6)
        has_enumerate_support = True

        def __init__(self, validate_args=None):
            super().__init__(torch.Size(), torch.Size(), validate_args)

        def sample(self, sample_shape=()):
            return torch.randint(1, 7, self._extended_shape(sample_shape))

        def log_prob(self, value):
            self._validate_sample(value)
            return torch.full(value.shape, -math.log(6))

    die = Die()
    show("die", [repr(die), die.sample((3,)), die.log_prob(torch.tensor([1, 6]))])
    show.error(lambda: die.log_prob(torch.tensor([0, 6])))
    show("old name", show.warnings(lambda: die.sample_n(2)))


def gradients_through_lazy_parameters(torch, show):
    D = importlib.import_module(f"{torch.__name__}.distributions")
    logits = torch.tensor([0.3, -0.2, 0.9], requires_grad=True)
    member = D.Categorical(logits=logits)
    with torch.no_grad():
        probs = member.probs
    show("recorded", probs)
    show("kept", member.probs is probs)
    show("slopes", torch.autograd.grad(probs[1], logits))
    show("seen from the class", [isinstance(D.Categorical.probs, property),
                                 isinstance(D.Categorical.probs, D.utils.lazy_property)])  # fmt: skip


def names(torch, show):
    D = importlib.import_module(f"{torch.__name__}.distributions")
    utils, t = D.utils, torch.tensor
    show("broadcast", utils.broadcast_all(1, t([1.0, 2.0], dtype=torch.float64)))
    show("numbers", utils.broadcast_all(1, 2.5))
    show.error(lambda: utils.broadcast_all("a", 1))
    show("clamped", utils.clamp_probs(t([0.0, 0.5, 1.0])))
    show("logits", [utils.probs_to_logits(t([0.2, 0.8])), utils.probs_to_logits(t([0.2, 1.0]), is_binary=True)])
    show("probs", [utils.logits_to_probs(t([0.2, 0.8])), utils.logits_to_probs(t([0.2, 0.8]), is_binary=True)])
    vector = torch.arange(1.0, 7.0)
    matrix = utils.vec_to_tril_matrix(vector)
    show("matrix", matrix)
    show("vector", utils.tril_matrix_to_vec(matrix))
    show("below", utils.vec_to_tril_matrix(vector, diag=-1))
    show.error(lambda: utils.vec_to_tril_matrix(torch.arange(4.0)))
    show.error(lambda: utils.tril_matrix_to_vec(matrix, diag=3))
    for path in ("normal.Normal", "categorical.Categorical", "multivariate_normal.MultivariateNormal",
                 "relaxed_bernoulli.LogitRelaxedBernoulli", "relaxed_categorical.ExpRelaxedCategorical",
                 "kl.kl_divergence", "constraint_registry.biject_to", "transforms.TanhTransform", "studentT.StudentT",
                 "distribution.Distribution", "exp_family.ExponentialFamily", "utils.lazy_property"):  # fmt: skip
        module, _, name = path.rpartition(".")
        show(path, hasattr(importlib.import_module(f"{torch.__name__}.distributions.{module}"), name))
    for name in sorted(D.__all__):
        thing = getattr(D, name)
        if isinstance(thing, type):
            home = getattr(D, thing.__module__.rpartition(".")[2])
            show(f"home of {name}", [home.__name__.rpartition(".")[2], getattr(home, name) is thing])
            show(f"{name} is loaded", pickle.loads(pickle.dumps(thing)) is thing)
    show("all", sorted(D.__all__))


@pytest.mark.torch
@pytest.mark.parametrize(
    "program",
    [wrong_parameters, checks_on_and_off, subclasses, gradients_through_lazy_parameters, names],
)
def test_program(program):
    check(program)


def test_policy_gradient_learns():
    """REINFORCE with a categorical policy finds the arm that pays."""
    glassgrad.manual_seed(0)
    logits = glassgrad.zeros(3, requires_grad=True)
    optimizer = glassgrad.optim.SGD([logits], lr=0.3)
    for _ in range(100):
        policy = ours.Categorical(logits=logits)
        action = policy.sample()
        loss = -policy.log_prob(action) * float(action == 2)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert ours.Categorical(logits=logits).probs[2] > 0.8


def test_pathwise_gradients_of_gamma_and_beta_are_those_of_the_means():
    """Their samples' gradients average to the slope of the mean."""
    glassgrad.manual_seed(0)
    shape = glassgrad.tensor(1.7, dtype=glassgrad.float64, requires_grad=True)
    (slope,) = glassgrad.autograd.grad(ours.Gamma(shape, 2.0).rsample((20_000,)).mean(), shape)
    assert float(slope) == pytest.approx(0.5, abs=0.01)
    (slope,) = glassgrad.autograd.grad(ours.Beta(shape, 2.0 + 0 * shape.detach()).rsample((20_000,)).mean(), shape)
    assert float(slope) == pytest.approx(2.0 / 3.7**2, abs=0.004)


def test_distributions_are_pickled_with_their_transforms():
    """By names that PyTorch has, too, which ``torch.save`` writes."""
    member = ours.Gumbel(glassgrad.zeros(2), 1.0)
    pickled = pickle.dumps(member)
    assert b"glassgrad.distributions.gumbel" in pickled and b"glassgrad.distributions.transforms" in pickled
    again = pickle.loads(pickled)
    assert repr(again) == repr(member)
    assert glassgrad.equal(again.log_prob(glassgrad.ones(2)), member.log_prob(glassgrad.ones(2)))
