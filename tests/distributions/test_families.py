"""Every family, member by member, against torch: facts, densities, entropies, samples, gradients."""

import numpy as np
import pytest

import glassgrad
from tests.agreement import differences, record
from tests.distributions.families import FAMILIES, made

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore:Singular sample")]
every_family = pytest.mark.parametrize("name", FAMILIES)


def agree(program):
    from tests.torch_reference import torch

    wanted = record(program, torch)
    assert wanted, "a program that shows nothing compares nothing"
    found = differences(wanted, record(program, glassgrad))
    assert not found, "\n".join(found)


def slopes(torch, show, label, value, leaves):
    """The gradients of the sum of a value by the leaves."""
    if value.requires_grad:
        grads = torch.autograd.grad(value.sum(), list(leaves), allow_unused=True, retain_graph=True)
        show(label, [None if g is None else g.tolist() for g in grads])


@every_family
def test_facts(name):
    def program(torch, show):
        member, _, _ = made(torch, name)
        show("repr", repr(member))
        for fact in ("batch_shape", "event_shape", "has_rsample", "has_enumerate_support", "mean", "mode", "variance",
                     "stddev", "support"):  # fmt: skip
            show.error(lambda fact=fact: getattr(member, fact), fact, words=fact not in ("mean", "mode"))
        show("parameters", {key: repr(value) for key, value in member.arg_constraints.items()})
        natural = getattr(member, "_natural_params", ()) if not name.startswith("beta by") else ()
        for key, value in [*((key, getattr(member, key)) for key in member.arg_constraints), *enumerate(natural)]:
            show(key, [list(value.shape), value.requires_grad, value.tolist()])  # factors lie otherwise in memory

    agree(program)


@every_family
def test_densities(name):
    def program(torch, show):
        member, leaves, values = made(torch, name)
        show("log_prob", member.log_prob(values))
        slopes(torch, show, "slopes of log_prob", member.log_prob(values), leaves)
        show.error(lambda: member.cdf(values), "cdf")
        chances = torch.full(member.batch_shape + member.event_shape, 0.3, dtype=values.dtype)
        show.error(lambda: member.icdf(chances), "icdf")
        for fact in ("entropy", "perplexity"):
            show.error(getattr(member, fact), fact)
        try:
            entropy = member.entropy()
        except NotImplementedError:
            return
        slopes(torch, show, "slopes of entropy", entropy, leaves)

    agree(program)


@every_family
def test_samples(name):
    def program(torch, show):
        member, leaves, _ = made(torch, name, "float64")
        show("one", member.sample())
        show("several", member.sample((3, 2)))
        if member.has_rsample:
            drawn = member.rsample((5,))
            show("shape", drawn.shape)
            show("values", drawn.tolist())
            if name.startswith("wishart"):
                return  # torch writes over what it would need for them
            slopes(torch, show, "slopes", drawn * torch.arange(1, drawn.numel() + 1).view(drawn.shape), leaves)
        else:
            show.error(member.rsample, "rsample")
        show("after", torch.rand(2))
        for expand in (True, False):
            show.error(lambda expand=expand: member.enumerate_support(expand), f"support {expand}")

    agree(program)


#: Sums, products of matrices, or functions of the C library stand between the draws and the samples.
ROUNDED = {
    "continuous", "generalized", "gumbel", "inverse gamma", "kumaraswamy", "laplace", "lkj", "log normal", "logistic",
    "low rank", "mixture", "normal vectors", "pareto", "relaxed", "student", "transformed", "von mises", "weibull",
    "wishart",
}  # fmt: skip


@every_family
def test_samples_in_single_precision(name):
    """Equal bit for bit, where only the draws themselves and the four arithmetical operations are used."""
    from tests.torch_reference import torch

    drawn = []
    for engine in (glassgrad, torch):
        member, _, _ = made(engine, name, "float32")
        engine.manual_seed(7)
        drawn.append(member.sample((40,)).detach().numpy())
    ours, theirs = drawn
    assert ours.dtype == theirs.dtype
    assert ours.shape == theirs.shape
    if any(name.startswith(start) for start in ROUNDED):
        np.testing.assert_allclose(ours, theirs, rtol=2e-5, atol=1e-6)
    else:
        np.testing.assert_array_equal(ours, theirs)


@every_family
def test_expanded(name):
    def program(torch, show):
        member, _, values = made(torch, name)
        wide = member.expand((2, *member.batch_shape))
        show("class", type(wide).__name__)
        show("repr", repr(wide))
        show("shapes", (wide.batch_shape, wide.event_shape))
        show("log_prob", wide.log_prob(values))
        show("sample", wide.sample())
        for fact in ("mean", "variance", "entropy"):
            if name.startswith("multinomial") and fact == "entropy":
                continue  # torch's expanded one has lost what it needs
            show.error(lambda fact=fact: f() if callable(f := getattr(wide, fact)) else f, fact)

    agree(program)


@every_family
def test_wrong_values(name):
    def program(torch, show):
        member, _, values = made(torch, name)
        show.error(lambda: member.log_prob(3.5), "a number")
        show.error(lambda: member.log_prob(torch.full_like(values, float("nan")) if values.is_floating_point()
                                           else values + 100), "outside")  # fmt: skip
        show.error(lambda: member.log_prob(values.new_full((7, 5, 11, 13), 0)), "another shape")
        show.error(lambda: member.log_prob(-values - 1), "below")

    agree(program)
