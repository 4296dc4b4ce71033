"""Clipping gradients, and parameters as one vector."""

import pytest

from tests.agreement import cases, check

pytestmark = pytest.mark.torch


def _parameters(torch, scale=1.0):
    torch.manual_seed(2)
    made = [torch.nn.Parameter(data) for data in (torch.randn(2, 3), torch.randn(4), torch.ones(()))]
    for parameter in made[:2]:
        parameter.grad = torch.randn_like(parameter) * scale
    return made


def clipping_by_norm(torch, show):
    clip = torch.nn.utils.clip_grad_norm_
    for norm_type in (2.0, 1, 3, 0.5, float("inf"), float("-inf"), 0.0):
        made = _parameters(torch)
        show("norm", clip(made, 0.7, norm_type))
        show("gradients", [p.grad for p in made])
    made = _parameters(torch)
    grad, version = made[0].grad, made[0].grad._version
    show("loose", clip(iter(made), 1e9))
    show("same", [made[0].grad is grad, grad._version - version])
    show("single", clip(made[0], 0.1))
    show("nothing", [clip([], 1.0), clip(made[2:], 1.0)])
    show.warnings(lambda: clip((p for p in []), 1.0))
    show.warnings(lambda: torch.nn.utils.clip_grad_norm(made, 1.0))
    scalar = torch.nn.Parameter(torch.tensor(2.0))
    (scalar * 5).backward()
    show("scalar", [clip(scalar, 1.0), scalar.grad])


def clipping_what_is_not_finite(torch, show):
    clip = torch.nn.utils.clip_grad_norm_
    made = _parameters(torch)
    made[0].grad[0, 0] = float("inf")
    show.error(lambda: clip(made, 1.0, error_if_nonfinite=True))
    show("untouched", [p.grad for p in made])
    show("norm", clip(made, 1.0))
    show("gradients", [p.grad for p in made])


def clipping_in_two_steps(torch, show):
    made = _parameters(torch)
    total = torch.nn.utils.get_total_norm([p.grad for p in made if p.grad is not None])
    torch.nn.utils.clip_grads_with_norm_(made, 0.5, total)
    show("total", total)
    show("gradients", [p.grad for p in made])
    show("double", torch.nn.utils.get_total_norm([torch.ones(2).double()]))


def clipping_by_value(torch, show):
    made = _parameters(torch)
    show("none", torch.nn.utils.clip_grad_value_(made, 0.5))
    show("gradients", [p.grad for p in made])
    torch.nn.utils.clip_grad_value_(made[0], 0.1)
    show("single", made[0].grad)


def vectors(torch, show):
    made = _parameters(torch)
    vector = torch.nn.utils.parameters_to_vector(made)
    show("vector", vector.detach())
    vector.sum().backward()
    show("gradient", made[2].grad)
    torch.nn.utils.vector_to_parameters(torch.arange(11.0), made)
    show("back", made)
    show.error(lambda: torch.nn.utils.vector_to_parameters([1.0], made))


PROGRAMS = cases(globals())


@pytest.mark.parametrize("name", PROGRAMS)
def test_agrees(name):
    check(PROGRAMS[name])
