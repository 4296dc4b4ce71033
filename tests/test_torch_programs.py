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
    "creation.from_lists_refused": "a missing argument is told in Python's own words",
    "indexing.byte_masks": "writing with a mask of bytes still works",
    "operations.loss.nll_loss_sum": "a second derivative that is zero everywhere may be None",
    "out_arguments.several_outs": "a named result is called the same with out= as without it",
    "reductions.move.pad_reflect": "a second derivative that is zero everywhere may be None",
    "views.contiguous_and_clone_layouts": "a result of mixed layouts lies in memory as NumPy lays it",
    "views.view_made_before_requires_grad": "a view made before its base wanted gradients does not want them",
}

SAVED = "sizes are saved where torch keeps the whole tensor"
KNOWN |= dict.fromkeys(
    [
        *(f"operations.loss.{name}.node" for name in ("cross_entropy", "cross_entropy_weight", "cross_entropy_none")),
        *(f"operations.loss.{name}.node" for name in ("cross_entropy_ignore", "nll_loss", "nll_loss_sum")),
        *(f"reductions.move.{name}.node" for name in ("gather", "gather_smaller", "index_add", "index_copy")),
        *(f"reductions.move.{name}.node" for name in ("take_along_dim", "masked_select", "pad_reflect")),
        *(f"operations.activation.{name}.node" for name in ("layer_norm", "layer_norm_plain", "layer_norm_two_dims")),
    ],
    SAVED,
)


@pytest.mark.parametrize("title", PROGRAMS)
def test_program(title, request):
    if title in KNOWN:
        request.applymarker(pytest.mark.xfail(reason=KNOWN[title], strict=True))
    wanted = record(PROGRAMS[title], torch)
    assert wanted, "a program that shows nothing compares nothing"
    found = differences(wanted, record(PROGRAMS[title], glassgrad))
    assert not found, "\n".join(found)
