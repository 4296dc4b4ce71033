"""Every schedule sets the rates that torch's sets, to the last bit; and warns, refuses and saves alike."""

import math
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

import glassgrad
from tests.agreement import cases, check
from tests.counts import generated
from tests.torch_reference import torch

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore:Detected call of `lr_scheduler.step")]
STEPS = 100


def optimizer_of(engine, kind="SGD", rates=(0.1, 0.03), **more):
    groups = [{"params": [engine.ones(2, requires_grad=True)], "lr": rate} for rate in rates]
    return getattr(engine.optim, kind)(groups, **more)


def numbers(value):
    return value.item() if hasattr(value, "item") else value


def rates_over(engine, make, steps=STEPS, kind="SGD", rates=(0.1, 0.03), **more):
    """The rates, momenta and what ``get_last_lr`` says, at the beginning and after each step; errors by their words."""
    optimizer = optimizer_of(engine, kind, rates, **more)
    found = []
    try:
        scheduler = make(engine.optim.lr_scheduler, optimizer)
        for step in range(steps):
            found.append([
                *(numbers(group["lr"]) for group in optimizer.param_groups),
                *(numbers(group.get("momentum", group.get("betas"))) for group in optimizer.param_groups),
                *map(numbers, scheduler.get_last_lr()),
            ])  # fmt: skip
            optimizer.step()
            if isinstance(scheduler, engine.optim.lr_scheduler.ReduceLROnPlateau):
                scheduler.step(math.sin(step / 7) + 1 / (step + 1))
            else:
                scheduler.step()
    except (ValueError, ZeroDivisionError, OverflowError) as error:
        found.append([type(error).__name__, str(error)])
    return found


def assert_same(make, **more):
    want = rates_over(torch, make, **more)
    have = rates_over(glassgrad, make, **more)
    assert repr(have) == repr(want)  # nan, too
    return want


SCHEDULES = {
    "lambda": lambda s, o: s.LambdaLR(o, lambda epoch: 0.95**epoch),
    "lambdas": lambda s, o: s.LambdaLR(o, [lambda epoch: 0.95**epoch, lambda epoch: 1 / (epoch + 1)]),
    "multiplicative": lambda s, o: s.MultiplicativeLR(o, lambda epoch: 0.99),
    "multiplicatives": lambda s, o: s.MultiplicativeLR(o, (lambda epoch: 0.99, lambda epoch: 1 - 1 / (epoch + 3))),
    "step": lambda s, o: s.StepLR(o, 7, 0.3),
    "multistep": lambda s, o: s.MultiStepLR(o, [3, 3, 50, 20]),
    "constant": lambda s, o: s.ConstantLR(o),
    "constant 2": lambda s, o: s.ConstantLR(o, 0.7, 11),
    "linear": lambda s, o: s.LinearLR(o),
    "linear 2": lambda s, o: s.LinearLR(o, 0.9, 0.1, 33),
    "exponential": lambda s, o: s.ExponentialLR(o, 0.93),
    "polynomial": lambda s, o: s.PolynomialLR(o),
    "polynomial 2": lambda s, o: s.PolynomialLR(o, 70, 1.7),
    "cosine": lambda s, o: s.CosineAnnealingLR(o, 13, 0.001),
    "restarts": lambda s, o: s.CosineAnnealingWarmRestarts(o, 5, 2, 0.002),
    "restarts 1": lambda s, o: s.CosineAnnealingWarmRestarts(o, 7),
    "cyclic": lambda s, o: s.CyclicLR(o, 0.01, 0.2, 9, cycle_momentum=False),
    "one cycle": lambda s, o: s.OneCycleLR(o, 0.4, 100, cycle_momentum=False),
    "one cycle too short": lambda s, o: s.OneCycleLR(o, 0.4, epochs=4, steps_per_epoch=10, cycle_momentum=False),
    "plateau": lambda s, o: s.ReduceLROnPlateau(o, "min", 0.5, 3, cooldown=2),
    "plateau of the most": lambda s, o: s.ReduceLROnPlateau(
        o, "max", 0.7, 2, threshold=0.05, threshold_mode="abs", min_lr=[0.01, 0.02]
    ),
    "sequence": lambda s, o: s.SequentialLR(
        o, [s.LinearLR(o, 0.1, 1.0, 10), s.CosineAnnealingLR(o, 40), s.ExponentialLR(o, 0.9)], [10, 50]
    ),
    "sequence of steps": lambda s, o: s.SequentialLR(o, [s.ConstantLR(o, 0.5, 40), s.StepLR(o, 3)], [20]),
    "chain": lambda s, o: s.ChainedScheduler([s.ConstantLR(o, 0.1, 20), s.ExponentialLR(o, 0.9)]),
    "chain in a sequence": lambda s, o: s.SequentialLR(
        o, [s.ChainedScheduler([s.LinearLR(o, 0.5), s.StepLR(o, 4)]), s.PolynomialLR(o, 30)], [15]
    ),
}  # fmt: skip
MOMENTA = {
    "cyclic": lambda s, o: s.CyclicLR(o, 0.01, [0.2, 0.1], 9, 5, "triangular2"),
    "cyclic by powers": lambda s, o: s.CyclicLR(o, 0.01, 0.2, 6, mode="exp_range", gamma=0.97, max_momentum=0.95),
    "cyclic by a function": lambda s, o: s.CyclicLR(
        o, 0.01, 0.2, 6, scale_fn=lambda x: 0.9**x, scale_mode="iterations", base_momentum=[0.7, 0.6]
    ),
    "one cycle": lambda s, o: s.OneCycleLR(o, [0.4, 0.2], 99, pct_start=0.4, anneal_strategy="linear"),
    "one cycle in three": lambda s, o: s.OneCycleLR(
        o, 0.4, epochs=10, steps_per_epoch=10, three_phase=True, div_factor=10, final_div_factor=100,
        base_momentum=0.8, max_momentum=0.9,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SCHEDULES)
def test_rates(name):
    assert len(assert_same(SCHEDULES[name])) > 20


@pytest.mark.parametrize("kind", ["SGD", "Adam"])
@pytest.mark.parametrize("name", MOMENTA)
def test_momenta(name, kind):
    assert len(assert_same(MOMENTA[name], kind=kind, **({"momentum": 0.5} if kind == "SGD" else {}))) > 20


@pytest.mark.parametrize("name", SCHEDULES)
def test_rates_that_are_tensors(name):
    """They are written to, and stay the same tensors."""

    def run(engine):
        rates = [engine.tensor(0.1, dtype=engine.float64), engine.tensor([0.03])]
        found = rates_over(engine, SCHEDULES[name], 60, rates=rates)
        return found, [rate.tolist() for rate in rates]

    assert run(glassgrad) == run(torch)


ARGUMENTS = {
    "StepLR": st.fixed_dictionaries({"step_size": st.integers(1, 30), "gamma": st.floats(0.05, 1.5)}),
    "MultiStepLR": st.fixed_dictionaries(
        {"milestones": st.lists(st.integers(0, 60), max_size=6), "gamma": st.floats(0.05, 1.5)}
    ),
    "ConstantLR": st.fixed_dictionaries({"factor": st.floats(0.0, 1.2), "total_iters": st.integers(0, 60)}),
    "LinearLR": st.fixed_dictionaries(
        {"start_factor": st.floats(0, 1.1), "end_factor": st.floats(0, 1.1), "total_iters": st.integers(0, 60)}
    ),
    "ExponentialLR": st.fixed_dictionaries({"gamma": st.floats(0.5, 1.2)}),
    "PolynomialLR": st.fixed_dictionaries({"total_iters": st.integers(1, 60), "power": st.floats(0.1, 3)}),
    "CosineAnnealingLR": st.fixed_dictionaries({"T_max": st.integers(1, 60), "eta_min": st.floats(0, 0.2)}),
    "CosineAnnealingWarmRestarts": st.fixed_dictionaries(
        {"T_0": st.integers(-1, 20), "T_mult": st.integers(0, 3), "eta_min": st.floats(0, 0.2)}
    ),
    "CyclicLR": st.fixed_dictionaries(
        {
            "base_lr": st.floats(1e-4, 0.1), "max_lr": st.floats(0.1, 2), "step_size_up": st.integers(1, 20),
            "step_size_down": st.none() | st.integers(1, 20), "gamma": st.floats(0.8, 1.0),
            "mode": st.sampled_from(["triangular", "triangular2", "exp_range", "none"]),
            "base_momentum": st.floats(0, 0.9), "max_momentum": st.floats(0.5, 0.99),
        }
    ),
    "OneCycleLR": st.fixed_dictionaries(
        {
            "max_lr": st.floats(0.01, 2), "total_steps": st.integers(-1, 80), "pct_start": st.floats(-0.1, 1.1),
            "anneal_strategy": st.sampled_from(["cos", "linear", "none"]), "three_phase": st.booleans(),
            "div_factor": st.floats(1, 50), "final_div_factor": st.floats(1, 1e5),
        }
    ),
    "ReduceLROnPlateau": st.fixed_dictionaries(
        {
            "mode": st.sampled_from(["min", "max", "none"]), "factor": st.floats(0.1, 1.1),
            "patience": st.integers(0, 10), "threshold": st.floats(0, 0.3), "cooldown": st.integers(0, 5),
            "threshold_mode": st.sampled_from(["rel", "abs"]), "min_lr": st.floats(0, 0.05), "eps": st.floats(0, 0.01),
        }
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ARGUMENTS)
def test_any_arguments(name):
    @generated(25)
    @given(ARGUMENTS[name], st.tuples(st.floats(1e-3, 2), st.floats(1e-3, 2)))
    def same(arguments, rates):
        assert_same(
            lambda s, o: getattr(s, name)(o, **arguments), steps=STEPS, rates=rates, momentum=0.5
        )  # fmt: skip

    same()


@pytest.mark.parametrize("name", ["step", "multistep", "constant 2", "linear 2", "exponential", "polynomial 2",
                                  "cosine", "restarts", "lambda", "multiplicative"])  # fmt: skip
def test_closed_forms(name):
    """Jumps to an epoch, with the warning of their end."""

    def run(engine):
        optimizer = optimizer_of(engine)
        scheduler = SCHEDULES[name](engine.optim.lr_scheduler, optimizer)
        found = []
        for epoch in (3, 40, 11, 0, 77):
            optimizer.step()
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                scheduler.step(epoch)
            found.append((scheduler.get_last_lr(), [(w.category, str(w.message)) for w in told]))
        return found

    assert run(glassgrad) == run(torch)


@pytest.mark.parametrize("name", [*SCHEDULES, *("momentum " + name for name in MOMENTA)])
def test_state(name):
    """Equal to torch's; and a schedule goes on from torch's state, as torch's from ours."""
    make = MOMENTA[name.removeprefix("momentum ")] if name.startswith("momentum ") else SCHEDULES[name]

    def begun(engine, steps):
        optimizer = optimizer_of(engine, momentum=0.5)
        scheduler = make(engine.optim.lr_scheduler, optimizer)
        go_on(scheduler, optimizer, steps)
        return scheduler, optimizer

    def go_on(scheduler, optimizer, steps):
        found = []
        for step in range(steps):
            optimizer.step()
            scheduler.step(*([step % 7] if hasattr(scheduler, "patience") else []))
            found.append(scheduler.get_last_lr())
        return found

    engines = (torch, glassgrad)
    (want, _), (have, _) = (begun(engine, 17) for engine in engines)
    assert have.state_dict() == want.state_dict()
    found = []
    for engine, giver in ((torch, have), (glassgrad, want)):
        scheduler, optimizer = begun(engine, 3)
        source = giver.optimizer
        for group, other in zip(optimizer.param_groups, source.param_groups, strict=True):
            group.update({key: value for key, value in other.items() if key != "params"})
        scheduler.load_state_dict(giver.state_dict())
        found.append(go_on(scheduler, optimizer, 15))
    assert found[0] == found[1]


def functions_that_are_objects(torch, show):
    class Factor:
        def __init__(self, factor):
            self.factor = factor

        def __call__(self, epoch):
            return self.factor**epoch

    for kind in ("LambdaLR", "MultiplicativeLR"):
        optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=1.0)
        scheduler = getattr(torch.optim.lr_scheduler, kind)(optimizer, Factor(0.5))
        optimizer.step()
        scheduler.step()
        state = scheduler.state_dict()
        show("state", state)
        other = getattr(torch.optim.lr_scheduler, kind)(optimizer, Factor(0.1))
        other.load_state_dict(state)
        show("factor", other.lr_lambdas[0].factor)
        show("still there", sorted(state))
    cyclic = torch.optim.lr_scheduler.CyclicLR(optimizer, 0.1, 1, scale_fn=Factor(0.5), cycle_momentum=False)
    show("cyclic", cyclic.state_dict()["_scale_fn_custom"])
    other = torch.optim.lr_scheduler.CyclicLR(optimizer, 0.1, 1, scale_fn=Factor(0.9), cycle_momentum=False)
    other.load_state_dict(cyclic.state_dict())
    show("factor", other._scale_fn_custom.factor)


def orders_warned_of(torch, show):
    def fresh():
        return torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=1.0)

    lr_scheduler = torch.optim.lr_scheduler
    scheduler = lr_scheduler.StepLR(fresh(), 2)
    show.warnings(scheduler.step)
    show.warnings(scheduler.step)
    optimizer = fresh()
    scheduler = lr_scheduler.StepLR(optimizer, 2)
    show.warnings(lambda: [optimizer.step(), scheduler.step()])
    scheduler = lr_scheduler.ExponentialLR(optimizer, 0.5)
    optimizer.step = lambda: None
    show.warnings(scheduler.step)
    for make in SCHEDULES.values():
        scheduler = make(lr_scheduler, torch.optim.SGD([{"params": [torch.ones(1)]}, {"params": [torch.ones(1)]}]))
        if not hasattr(scheduler, "patience") and not hasattr(scheduler, "_schedulers"):
            show.warnings(scheduler.get_lr)
    show.warnings(lambda: lr_scheduler.ReduceLROnPlateau(fresh()).step(0.5, epoch=3))
    show("older name", issubclass(lr_scheduler._LRScheduler, lr_scheduler.LRScheduler))


def schedules_refused(torch, show):
    s = torch.optim.lr_scheduler
    o = torch.optim.SGD([{"params": [torch.ones(1)]}, {"params": [torch.ones(1)]}], lr=0.1)
    other = torch.optim.SGD([torch.ones(1)], lr=0.1)
    rprop = torch.optim.Rprop([torch.ones(1)])
    for do in (
        lambda: s.StepLR(3, 2), lambda: s.StepLR(o, 2, last_epoch=5), lambda: s.LambdaLR(o, [abs]),
        lambda: s.MultiplicativeLR(o, 3), lambda: s.MultiplicativeLR(o, [abs] * 3), lambda: s.ConstantLR(o, 1.5),
        lambda: s.LinearLR(o, 0), lambda: s.LinearLR(o, 0.5, 2), lambda: s.SequentialLR(o, [], []),
        lambda: s.SequentialLR(o, [s.StepLR(o, 2)], [3]), lambda: s.SequentialLR(o, [3], []),
        lambda: s.SequentialLR(o, [s.ReduceLROnPlateau(o)], []), lambda: s.SequentialLR(o, [s.StepLR(other, 2)], []),
        lambda: s.ChainedScheduler([]), lambda: s.ChainedScheduler([s.StepLR(o, 2), 5]),
        lambda: s.ChainedScheduler([s.ReduceLROnPlateau(o)]), lambda: s.ChainedScheduler([s.StepLR(o, 2)], other),
        lambda: s.ReduceLROnPlateau(o, factor=1.0), lambda: s.ReduceLROnPlateau(o, min_lr=[1.0]),
        lambda: s.ReduceLROnPlateau(3), lambda: s.ReduceLROnPlateau(o, "up"),
        lambda: s.ReduceLROnPlateau(o, threshold_mode="up"), lambda: s.CyclicLR(3, 1, 1),
        lambda: s.CyclicLR(o, [0.1], 1), lambda: s.CyclicLR(o, 0.1, (1, 2, 3)), lambda: s.CyclicLR(rprop, 0.1, 1),
        lambda: s.CyclicLR(o, 0.1, 1, mode="up"), lambda: s.CosineAnnealingWarmRestarts(o, 1.5),
        lambda: s.CosineAnnealingWarmRestarts(o, 2, 1.5),
        lambda: s.CosineAnnealingWarmRestarts(o, 2, eta_min="1"),
        lambda: s.CosineAnnealingWarmRestarts(o, 2).step(-1), lambda: s.OneCycleLR(3, 1), lambda: s.OneCycleLR(o, 1),
        lambda: s.OneCycleLR(o, 1, 1.5), lambda: s.OneCycleLR(o, 1, epochs=1.5, steps_per_epoch=2),
        lambda: s.OneCycleLR(o, 1, epochs=1, steps_per_epoch=0), lambda: s.OneCycleLR(o, 1, 10, pct_start=1),
        lambda: s.OneCycleLR(o, 1, 10, anneal_strategy="x"), lambda: s.OneCycleLR(rprop, 1, 10),
        lambda: s.LRScheduler(o), lambda: s.OneCycleLR(o, [1], 10),
    ):  # fmt: skip
        try:
            do()
        except (TypeError, ValueError, KeyError, NotImplementedError) as error:
            words = str(error)
            show(type(error).__name__, words if "has SGD" not in words else words.split("SGD (")[0])
    plateau = s.ReduceLROnPlateau(o, min_lr=[0.0, 0.0], patience=0)
    o.add_param_group({"params": [torch.ones(1)]})
    plateau.step(1.0)
    show.error(lambda: plateau.step(2.0))
    plateau = s.ReduceLROnPlateau(other, patience=0)
    other.add_param_group({"params": [torch.ones(1)]})
    plateau.step(1.0)
    plateau.step(2.0)
    show("all", [plateau.min_lrs, plateau.get_last_lr()])


def restarts_at_fractions(torch, show):
    o = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=0.3)
    for scheduler in (
        torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(o, 4, 2),
        torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(o, 3, 1, 0.01),
    ):
        for epoch in (0.5, 3.9, 4.0, 12.25, 30.0, 1.0):
            scheduler.step(epoch)
            show("rate", [o.param_groups[0]["lr"], scheduler.last_epoch, scheduler.T_cur, scheduler.T_i])


def schedules_of_one_s_own(torch, show):
    class Mine(torch.optim.lr_scheduler.LRScheduler):
        def __init__(self, optimizer, power):
            self.power = power
            super().__init__(optimizer)

        def get_lr(self):
            return [base * (self.last_epoch + 1) ** -self.power for base in self.base_lrs]

    o = torch.optim.Adam([torch.ones(1, requires_grad=True)], lr=0.3)
    scheduler = Mine(o, 0.5)
    for _ in range(3):
        o.step()
        scheduler.step()
        show("rate", scheduler.get_last_lr())
    show("state", scheduler.state_dict())
    show("groups", o.state_dict()["param_groups"])


PROGRAMS = cases(globals())


@pytest.mark.parametrize("name", PROGRAMS)
def test_agrees(name):
    check(PROGRAMS[name])
