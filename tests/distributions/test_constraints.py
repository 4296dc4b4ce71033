"""Constraints against torch: what they accept, what they say of themselves."""

import importlib

import pytest

from tests.agreement import check

pytestmark = pytest.mark.torch


def numbers(torch, show):
    c = importlib.import_module(f"{torch.__name__}.distributions").constraints
    x = torch.tensor([-1.5, -1.0, 0.0, 0.5, 1.0, 2.0, 3.5, float("nan"), float("inf")])
    known = [
        c.boolean, c.nonnegative_integer, c.positive_integer, c.integer_interval(-1, 2), c.real, c.positive,
        c.nonnegative, c.greater_than(0.5), c.greater_than_eq(0.5), c.less_than(1.0), c.unit_interval,
        c.interval(-1, 2.0), c.half_open_interval(0, 1), c._IntegerLessThan(2), c.interval(x - 1, x + 1),
    ]  # fmt: skip
    for constraint in known:
        show(repr(constraint), constraint.check(x))
        show("about", [constraint.is_discrete, constraint.event_dim, c.is_dependent(constraint)])


def vectors(torch, show):
    c = importlib.import_module(f"{torch.__name__}.distributions").constraints
    x = torch.tensor([[0.2, 0.5, 0.3], [0.0, 1.0, 0.0], [-0.2, 0.9, 0.3], [1.0, 2.0, 0.0], [0.5, 0.5, float("nan")]])
    mixture = c.MixtureSameFamilyConstraint(c.positive)
    for constraint in (c.one_hot, c.simplex, c.multinomial(2), c.real_vector, c.independent(c.positive, 2), mixture,
                       c.cat([c.positive, c.unit_interval], 1, [1, 2]), c.cat([c.boolean, c.real], 0, [2, 3]),
                       c.stack([c.positive, c.boolean, c.real], 1)):  # fmt: skip
        show(repr(constraint), constraint.check(x))
        show("about", [constraint.is_discrete, constraint.event_dim])


def matrices(torch, show):
    c = importlib.import_module(f"{torch.__name__}.distributions").constraints
    x = torch.tensor([
        [[1.0, 0.0], [0.6, 0.8]], [[1.0, 0.3], [0.3, 2.0]], [[1.0, 0.0], [0.2, -1.0]], [[1.0, 2.0], [2.0, 1.0]],
        [[1.0, 1.0], [1.0, 1.0]],
    ])  # fmt: skip
    for constraint in (c.lower_triangular, c.lower_cholesky, c.corr_cholesky, c.square, c.symmetric,
                       c.positive_definite, c.positive_semidefinite):  # fmt: skip
        show(repr(constraint), constraint.check(x))
        show("alone", [constraint.check(x[1]), constraint.check(torch.ones(2, 3)) if constraint is c.square else None])
        show("about", [constraint.is_discrete, constraint.event_dim])
    symmetric = x[[1, 3, 4]]
    for constraint in (c.positive_definite, c.positive_semidefinite):
        show("of symmetric ones", constraint.check(symmetric))
        show("oblong", constraint.check(torch.ones(3, 2)))


def dependent(torch, show):
    c = importlib.import_module(f"{torch.__name__}.distributions").constraints
    show("is", [c.is_dependent(c.dependent), c.is_dependent(c.real)])
    show.error(lambda: c.dependent.check(torch.zeros(1)))
    show.error(lambda: c.dependent.is_discrete)
    show.error(lambda: c.dependent.event_dim)
    known = c.dependent(is_discrete=True)(event_dim=2)
    show("known", [known.is_discrete, known.event_dim])

    class Holder:
        @c.dependent_property(is_discrete=False, event_dim=1)
        def support(self):
            return c.simplex

    show("seen from the class", [c.is_dependent(Holder.support), Holder.support.event_dim, Holder.support.is_discrete])
    show("seen from an object", repr(Holder().support))


def refused(torch, show):
    c = importlib.import_module(f"{torch.__name__}.distributions").constraints
    x = torch.zeros(2)
    show.error(lambda: c.independent(3, 1))
    show.error(lambda: c.independent(c.real, 1.5))
    show.error(lambda: c.independent(c.real, -1))
    show.error(lambda: c.independent(c.real, 2).check(x))
    show.error(lambda: c.MixtureSameFamilyConstraint(3))
    show.error(lambda: c.cat([3]))
    show.error(lambda: c.cat([c.real], lengths=[1, 2]))
    show.error(lambda: c.cat([c.real], 3).check(x))
    show.error(lambda: c.stack([c.real], 3).check(x))
    show.error(lambda: c.Constraint().check(x))


@pytest.mark.parametrize("program", [numbers, vectors, matrices, dependent, refused])
def test_program(program):
    check(program)
