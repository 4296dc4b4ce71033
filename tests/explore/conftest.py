"""The engines whose graphs the explorer reads: glassgrad itself, and torch where a comparison is wanted."""

import pytest


@pytest.fixture(params=["glassgrad", pytest.param("torch", marks=pytest.mark.torch)])
def engine(request):
    """The module whose tensors a test builds."""
    if request.param == "torch":
        from tests.torch_reference import torch

        return torch
    import glassgrad

    return glassgrad
