"""Every program of tests/programs records the same under torch and under glassgrad."""

import pytest

import glassgrad
from tests.programs import programs
from tests.programs.record import differences, record
from tests.torch_reference import torch

pytestmark = pytest.mark.torch
PROGRAMS = programs()

#: Where glassgrad differs from torch, and why; docs/limits.md says so too.
KNOWN = {
    "backward_calls.gradient_does_not_alias": "a .grad never shares memory with a tensor that was handed in",
    "modes.inference_tensor_refusals": "an inference tensor may be saved for backward outside of inference mode",
    "saved_hooks.anomaly_warning_shows_the_line": "NumPy's own RuntimeWarning shows where all warnings are asked for",
    "shapes.reductions": "NumPy's own RuntimeWarning shows where all warnings are asked for",
    "views.view_made_before_requires_grad": "a view made before its base wanted gradients does not want them",
}


@pytest.mark.parametrize("title", PROGRAMS)
def test_program(title, request):
    if title in KNOWN:
        request.applymarker(pytest.mark.xfail(reason=KNOWN[title], strict=True))
    wanted = record(PROGRAMS[title], torch)
    assert wanted, "a program that shows nothing compares nothing"
    found = differences(wanted, record(PROGRAMS[title], glassgrad))
    assert not found, "\n".join(found)
