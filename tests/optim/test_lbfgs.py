"""LBFGS goes torch's way: the same losses, the same calls of the closure, the same state."""

import pytest

from tests.agreement import cases, check

pytestmark = pytest.mark.torch


def _rosenbrock(torch, show, calls=6, start=(-1.2, 1.0), **settings):
    """Minimize, and show where each call of ``step`` ends."""
    x = torch.tensor(start[:1], dtype=torch.float64, requires_grad=True)
    y = torch.tensor(start[1], dtype=torch.float64, requires_grad=True)
    unused = torch.ones(2, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.LBFGS([x, y, unused], **settings)
    seen = []

    def closure():
        optimizer.zero_grad()
        loss = (1 - x).pow(2).sum() + 100 * (y - x * x).pow(2).sum()
        loss.backward()
        seen.append(loss.item())
        return loss

    for _ in range(calls):
        with torch.no_grad():
            show("loss", optimizer.step(closure).item())
        show("here", [x.tolist(), y.tolist(), len(seen)])
    state = optimizer.state_dict()["state"][0]
    show("kinds", [[key, type(value).__name__] for key, value in state.items() if key != "t"])
    show("counts", [state["func_evals"], state["n_iter"], len(state["old_dirs"])])
    show("direction", [float(f"{value:.6g}") for value in state["d"].tolist()])  # of a valley: rounding grows
    return x, y, optimizer, closure


def rosenbrock_by_line_search(torch, show):
    _rosenbrock(torch, show, line_search_fn="strong_wolfe", max_iter=6)
    _rosenbrock(torch, show, line_search_fn="strong_wolfe", start=(3.0, -2.0), lr=0.5, calls=3)
    x, y, _, _ = _rosenbrock(torch, show, line_search_fn="strong_wolfe", calls=3, max_iter=40)
    show("solved", [round(x.item(), 6), round(y.item(), 6)])


def rosenbrock_by_steps(torch, show):
    _rosenbrock(torch, show, lr=0.01, max_iter=5, start=(0.5, 0.5))
    _rosenbrock(torch, show, lr=0.1, max_iter=4, history_size=2, start=(0.9, 0.7))


def limits(torch, show):
    _rosenbrock(torch, show, line_search_fn="strong_wolfe", max_iter=20, max_eval=7, calls=4)
    _rosenbrock(torch, show, line_search_fn="strong_wolfe", tolerance_change=1e-2)
    _rosenbrock(torch, show, line_search_fn="strong_wolfe", tolerance_grad=1.0)
    _rosenbrock(torch, show, lr=0.01, max_iter=1, start=(0.5, 0.5))


def complex_parameters(torch, show):
    z = torch.tensor([1 + 2j, -1j], dtype=torch.complex128, requires_grad=True)
    goal = torch.tensor([0.5 - 1j, 2 + 1j], dtype=torch.complex128)
    optimizer = torch.optim.LBFGS([z], lr=0.3, max_iter=4, line_search_fn="strong_wolfe")

    def closure():
        optimizer.zero_grad()
        loss = ((z - goal).abs() ** 2).sum() + z.abs().pow(4).sum() * 0.1
        loss.backward()
        return loss

    for _ in range(3):
        show("loss", optimizer.step(closure))
    show("z", z)


def a_state_goes_on(torch, show):
    x, y, optimizer, closure = _rosenbrock(torch, show, calls=1, line_search_fn="strong_wolfe", max_iter=5)
    twin = torch.optim.LBFGS(optimizer.param_groups[0]["params"], line_search_fn="strong_wolfe", max_iter=3)
    twin.load_state_dict(optimizer.state_dict())
    show("loss", twin.step(closure))
    show("here", [x, y])
    show("iterations", twin.param_groups[0]["max_iter"])


def refused(torch, show):
    w = torch.ones(2, requires_grad=True)
    show.error(lambda: torch.optim.LBFGS([w], lr=-1))
    show.error(lambda: torch.optim.LBFGS([w], lr=torch.ones(2)))
    show.error(lambda: torch.optim.LBFGS([{"params": [w]}, {"params": [torch.ones(1)]}]))
    optimizer = torch.optim.LBFGS([w], line_search_fn="weak")

    def closure():
        optimizer.zero_grad()
        loss = (w * w).sum()
        loss.backward()
        return loss

    show.error(lambda: optimizer.step(closure))
    show.error(optimizer.step, words=False)
    show("repr", repr(torch.optim.LBFGS([w], 1, 8)))


PROGRAMS = cases(globals())


@pytest.mark.parametrize("name", PROGRAMS)
def test_agrees(name):
    check(PROGRAMS[name])
