"""Single calls that generators found to differ, in both engines: what is taken, what a refusal is and says."""

import pytest

import glassgrad
from tests.property.changed_calls import CallRun
from tests.property.random_programs import compared
from tests.torch_reference import torch

pytestmark = [pytest.mark.torch, pytest.mark.once]

TENSORS = """
    a = torch.arange(6.0).reshape(2, 3)
    b = torch.arange(9.0).reshape(3, 3)
    c = torch.arange(20.0)
    x = torch.ones(2, 3).requires_grad_()
    i = torch.arange(6).reshape(2, 3)
    z = torch.ones(2, 3, dtype=torch.complex64)
"""
CALLS = {
    "PyTorch's parser comes first": """
        torch.renorm(a, 2, 0, a) | torch.renorm(a, None, 0, 1j) | torch.dist(a, a, a) | torch.cdist(a, a, a)
        a.unfold(0, 1j, 1) | a.unfold(-1, 1e30, float('inf')) | torch.unfold_copy(a, 0, 1j, 1)
        torch.slice_copy(a, 1j, 1, 3) | torch.rot90(a, 1, 'x') | torch.lerp(a, a, [a]) | torch.normal('x', a)
        torch.addmm(a, a, b, beta='x') | x.addmm_(2, b) | torch.addmv_(x, b, 3) | x.clamp_max_(None)
        torch.quantile(a, 1j) | torch.linalg.matrix_norm(b, b) | torch.linalg.cond(b, b) | a.uniform_(-2, a)
        torch.linalg.lu_factor(i, out=torch.zeros(0)) | b.fill_diagonal_(b) | a.uniform_(True, 1j)
        torch.histogram(c, bins=5, out=torch.zeros(0)) | torch.histogram(c, 4, range='x') | a.new_tensor(None)
        torch.fft.rfftn(a, np.array((3, 4))) | torch.fft.fft2(a, np.array((4, 2))) | a.view(True, 6) | a.view(1.5, 4)
        torch.meshgrid(c, c, indexing=2) | torch.nn.functional.pad(a, (1, 1), 2) | torch.matrix_rank(b, hermitian=True)
        torch.nn.functional.rms_norm(a, 'x', a) | torch.nn.functional.rms_norm(a, (3,), None, 'x') | torch.symeig(b, 2)
        torch.istft(z, 0.5, 2, a) | torch.istft(z, 4, 100, length=1j) | torch.stft(c, 4, -1.5, return_complex=True)
        torch.nn.functional.instance_norm(a, a.numpy(), c) | torch.max_pool3d(-1, (3, 2)) | torch.cartesian_prod([1.0])
        torch.atleast_1d('x') | torch.atleast_3d(a.numpy()) | torch.atleast_2d([1.0]) | torch.split_copy(a, [2])
    """,
    "sizes of several numbers": """
        torch.split_copy(c, np.int64(3)) | torch.broadcast_shapes('x', (3,)) | torch.broadcast_shapes((2, 1), (3,), 'x')
        torch.broadcast_shapes([2.0, 1.0], (3,)) | torch.broadcast_shapes((2, 1), [3, 1]) | torch.broadcast_shapes(None)
        torch.broadcast_shapes((2, 1), (3,), [-1, -1]) | torch.broadcast_shapes((2, 1), -1) | torch.broadcast_shapes()
    """,
}


@pytest.mark.parametrize("name", CALLS)
def test_same_as_torch(name):
    for call in [call.strip() for line in CALLS[name].strip().split("\n") for call in line.split("|")]:
        yours, ours = CallRun(torch), CallRun(glassgrad)
        for line in ["import numpy as np", *TENSORS.strip().split("\n"), f"r = {call}"]:
            assert compared(yours, ours, line.strip()) is None, line
