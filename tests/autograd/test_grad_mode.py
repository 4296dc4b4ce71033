"""The switches: blocks, decorators, generators; each puts back what it found."""

import pytest

import glassgrad
from glassgrad.ground import modes
from tests.autograd.both import both


def switches(torch, show):
    x = torch.ones(2, requires_grad=True)
    with torch.no_grad():
        y = x * 2
        with torch.enable_grad():
            z = x * 2
        w = x * 2
        with torch.set_grad_enabled(True):
            v = x * 2
    show("block", [y.requires_grad, z.requires_grad, w.requires_grad, v.requires_grad])

    @torch.no_grad()
    def quiet(t):
        return t * 2, torch.is_grad_enabled()

    @torch.no_grad
    def quiet_too(t):
        return t * 2

    @torch.set_grad_enabled(False)
    def off(t):
        return t * 2

    show("decorated", [quiet(x), quiet_too(x), off(x), quiet.__name__, torch.is_grad_enabled()])
    torch.set_grad_enabled(False)
    show("call", [torch.is_grad_enabled(), (x * 2).requires_grad])
    torch.set_grad_enabled(True)

    @torch.no_grad()
    def steps():
        for _ in range(2):
            got = yield torch.is_grad_enabled()
            show("got", got)

    running = steps()
    show("first", next(running))
    show("between", torch.is_grad_enabled())
    show("second", running.send(3))
    running.close()
    show("after", torch.is_grad_enabled())


def inference(torch, show):
    x = torch.ones(2, requires_grad=True)
    with torch.inference_mode():
        y = x * 2
        show("inside", [y.requires_grad, y.is_inference(), torch.is_inference_mode_enabled(), torch.is_grad_enabled()])
        with torch.inference_mode(False):
            show("off again", torch.is_inference_mode_enabled())
    show("outside", [torch.is_inference_mode_enabled(), y.is_inference(), x.is_inference()])
    show.error(lambda: y._version)
    show("copy", (y.clone() * x).sum())


def what_is_not_a_truth(torch, show):
    """A mode is True or False: whatever else is refused at once, and the calls that follow are as they were."""
    switches = (
        *[getattr(torch, f"set_{name}_enabled") for name in ("grad", "anomaly", "autocast_cache")],
        lambda mode: torch.set_autocast_enabled("cpu", mode), torch.autograd.set_detect_anomaly, torch.set_warn_always,
        torch.autograd.grad_mode.set_multithreading_enabled, torch.use_deterministic_algorithms,
        lambda mode: torch.autograd.detect_anomaly(mode).__enter__(), torch.set_flush_denormal,
        torch.set_float32_matmul_precision, lambda mode: torch.set_autocast_dtype("cpu", mode),
    )  # fmt: skip
    for switch in switches:
        for mode in (torch.ones(2), 1, None):
            show.error(lambda switch=switch, mode=mode: switch(mode))
    show.error(lambda: torch.autocast("cpu", dtype=torch.ones(2)).__enter__())
    x = torch.ones(2, requires_grad=True)
    (x * 2).sum().backward()
    show("as before", x.grad)
    torch.set_anomaly_enabled(True, False)
    show("on", [torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled(), (x * 2).grad_fn])
    torch.set_anomaly_enabled(False)
    show("off", torch.is_anomaly_enabled())


test_same_as_torch = both(switches, inference, what_is_not_a_truth)


@pytest.mark.parametrize("switch", ["no_grad", "inference_mode", "enable_grad"])
def test_everything_is_put_back(switch):
    before = (modes.local.grad, modes.local.inference, set(modes.off), set(modes.watch))
    block = getattr(glassgrad, switch)
    with block(), block():
        pass
    with pytest.raises(ArithmeticError), block():
        raise ArithmeticError
    assert (modes.local.grad, modes.local.inference, modes.off, modes.watch) == before


def test_views_made_while_nothing_is_recorded():
    """They share memory and version; writing to them later is refused, as ambiguous."""
    x = glassgrad.ones(3, requires_grad=True)
    y = x * 1
    with glassgrad.no_grad():
        view = y[:2]
        view.mul_(5)
    assert y.tolist() == [5.0, 5.0, 1.0]
    assert y._version == 1
    with pytest.raises(RuntimeError, match="A view was created in no_grad mode and is being modified inplace"):
        view.mul_(2)
