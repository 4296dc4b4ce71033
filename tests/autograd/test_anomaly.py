"""Anomaly detection: the line of the forward call, the first record that gives NaN."""

import math

import numpy as np
import pytest

import glassgrad as torch
from glassgrad.autograd import anomaly
from glassgrad.core.tensor import edge_of
from glassgrad.ground import modes

pytestmark = pytest.mark.filterwarnings("ignore:Anomaly Detection has been enabled")


def suspicious(x):
    return (x * 0.0).sqrt()  # the line that the warning must name


def test_the_forward_line_is_told():
    x = torch.zeros(2, requires_grad=True)
    with torch.autograd.detect_anomaly():
        y = suspicious(x)
        with (
            pytest.warns(UserWarning, match="Error detected in MulBackward0.*(?s:.*)the line that the warning"),
            pytest.raises(RuntimeError, match="Function 'MulBackward0' returned nan values in its 0th output."),
        ):
            y.sum().backward()
    assert x.grad is None


def test_without_a_forward_trace():
    x = torch.zeros(2, requires_grad=True)
    y = suspicious(x)
    with (
        torch.autograd.detect_anomaly(),
        pytest.warns(UserWarning, match="No forward pass information available"),
        pytest.raises(RuntimeError, match="returned nan values"),
    ):
        y.sum().backward()


def test_nan_passes_where_it_is_not_looked_for():
    x = torch.zeros(2, requires_grad=True)
    with torch.autograd.detect_anomaly(check_nan=False):
        y = suspicious(x)
        assert "traceback_" in y.grad_fn.metadata
        y.sum().backward()
    assert all(math.isnan(g) for g in x.grad.tolist())


def test_errors_in_a_rule_name_the_forward_line():
    x = torch.ones(2, requires_grad=True)
    with torch.autograd.detect_anomaly():
        y = x.exp()
        z = y * 2
        y.add_(1)
        with (
            pytest.warns(UserWarning, match="Error detected in ExpBackward0"),
            pytest.raises(RuntimeError, match="modified by an inplace operation"),
        ):
            z.sum().backward()


def test_the_mode_ends_with_its_block():
    assert not modes.local.anomaly
    with torch.autograd.detect_anomaly():
        assert modes.local.anomaly
        with torch.autograd.set_detect_anomaly(False):
            assert not modes.local.anomaly
        assert modes.local.anomaly
    assert not modes.local.anomaly
    assert not modes.watch


def test_check_looks_at_arrays_and_tensors():
    record = edge_of(torch.ones(2, requires_grad=True) * 2.0)
    anomaly.check(record, (np.ones(2), None))
    for grad in (np.array([1.0, np.nan]), torch.tensor([1.0, math.nan])):
        with pytest.warns(UserWarning), pytest.raises(RuntimeError, match="nan values in its 1th output"):
            anomaly.check(record, (None, grad))


def test_switching_off_what_was_off_leaves_calls_everyday():
    torch.autograd.set_detect_anomaly(False)
    assert not modes.watch and not modes.unusual
    torch.autograd.set_detect_anomaly(True)
    assert modes.watch
    torch.autograd.set_detect_anomaly(False)
    assert not modes.watch and not modes.unusual
