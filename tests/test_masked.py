"""torch.masked against torch: every reduction and normalisation, over dims, masks and dtypes."""

import numpy as np
import pytest

import glassgrad

REDUCTIONS = ("sum", "prod", "amax", "amin", "mean", "var", "std", "norm", "logsumexp", "median", "argmax", "argmin")
ALONG = ("cumsum", "cumprod", "softmax", "log_softmax", "softmin", "normalize")
MASKS = {
    "none": None,
    "whole": [[True, False, True, True], [True, True, False, False], [False, True, True, True]],
    "empty row": [[True, False, True, True], [False] * 4, [True] * 4],
    "row": [True, False, True, True],
}


def called(engine, name, values, dim, mask, **options):
    """The result of one masked function, or the kind of error that it raises."""
    given = engine.from_numpy(values.copy())
    held = None if mask is None else engine.tensor(mask)
    function = getattr(engine.masked, name)
    before = {"norm": (3.0,), "normalize": (2.0,)}.get(name, ())
    try:
        return function(given, *before, dim, mask=held, **options)
    except Exception as error:  # noqa: BLE001  compared below
        return type(error)


@pytest.mark.torch
@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
@pytest.mark.parametrize("name", REDUCTIONS + ALONG)
def test_values_are_torchs(name, mask):
    """Value, dtype and shape, or the kind of error, for each dim and dtype."""
    from tests.torch_reference import torch

    values = np.random.default_rng(0).normal(size=(3, 4)) * 3
    for kind in ("f4", "f8", "i8", "u1"):
        array = np.abs(values).astype(kind) if kind == "u1" else values.astype(kind)
        for dim in (0, 1, -1, None, (0, 1)) if name in REDUCTIONS[:9] else (0, 1, -1):
            for options in ({}, {"keepdim": True}) if name in REDUCTIONS else ({},):
                theirs = called(torch, name, array, dim, mask, **options)
                ours = called(glassgrad, name, array, dim, mask, **options)
                if isinstance(theirs, type):
                    assert ours is theirs
                    continue
                assert str(ours.dtype) == str(theirs.dtype)
                assert tuple(ours.shape) == tuple(theirs.shape)
                np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=2e-6, atol=2e-6)


def test_gradients_reach_held_elements_only():
    """A masked mean divides by the number held; what is masked out gets nothing."""
    x = glassgrad.tensor([[1.0, 2.0, 4.0]], requires_grad=True)
    mask = glassgrad.tensor([[True, False, True]])
    glassgrad.masked.mean(x, 1, mask=mask).backward()
    assert x.grad.tolist() == [[0.5, 0.0, 0.5]]


def test_masked_tensors_are_refused_by_name():
    """The class of masked tensors is not there; the error names what is."""
    with pytest.raises(NotImplementedError, match="mask="):
        glassgrad.masked.masked_tensor(glassgrad.ones(2), glassgrad.ones(2).bool())
    assert not glassgrad.masked.is_masked_tensor(glassgrad.ones(2))
