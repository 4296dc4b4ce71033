"""Reductions take what PyTorch's take."""

from __future__ import annotations

import pytest

import glassgrad
from tests.outcome import outcome

pytestmark = [pytest.mark.torch, pytest.mark.once]

EXPRESSIONS = """
torch.ones(3).sum(dtype=int)
torch.ones(3).sum(0, dtype=float)
torch.ones(3).prod(dtype=complex)
torch.ones(2, 3).prod(1, dtype=float)
torch.ones(3).mean(dtype=float)
torch.ones(3).mean(dtype=int)
torch.ones(3).cumsum(0, dtype=int)
torch.ones(3).cumsum(0, dtype='float32')
torch.ones(4).softmax(0, dtype=float)
torch.linalg.vector_norm(torch.ones(4), dtype=float)
""".strip().splitlines()


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_a_python_type_names_a_dtype(expression):
    from tests.torch_reference import torch

    assert outcome(expression, glassgrad) == outcome(expression, torch)
