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
    "refusals that were missing, or in words of others": """
        torch.where(b > 2, b, 1, out=b) | torch.where(b > 2, 1, b, out=b) | torch.layer_norm(a, (None,))
        torch.layer_norm(a, (1j,)) | torch.layer_norm(a, ('a',)) | torch.layer_norm(a, (torch.tensor(3),))
        b.lu(get_infos=True) | torch.lu(b, get_infos=True) | b.lu()
        torch.stft(c.bfloat16(), 4, 2, window=torch.ones(4), center=False, return_complex=True)
        torch.unique(a[0, 0], dim=0, return_inverse=True) | torch.addbmm(b, c, c) | torch.addbmm(b, a[0, 0], c)
        torch.nn.functional.upsample_bilinear(a[None, None], scale_factor=float('inf')) | a.put(a.half(), a.half())
        torch.nn.functional.interpolate(a[None, None], scale_factor=float('nan')) | torch.addbmm(b, a[None], a)
        torch.nn.functional.group_norm(a, 0) | torch.nn.functional.group_norm(a, 0.0)
        torch.nn.functional.max_unpool3d(a[None, None, None], i[None, None, None], ())
        torch.nn.functional.binary_cross_entropy(a, a, 5)
        torch.heaviside(a.half()[:1, :2], a.half()) | torch.nn.functional.binary_cross_entropy(a / 5, a)
        torch.nn.functional.binary_cross_entropy(a / 5, a * float('nan'))
        torch.nn.functional.binary_cross_entropy(a, a) | torch.nn.functional.max_unpool2d(-1, i, 2)
        torch.histogramdd(a.half().mT, [2, 3], range=[0.0, 1.0, 0.0, 2.0]) | torch.histogram(c.half(), 3)
        torch.histogram(c.bfloat16(), c[:4].bfloat16()) | torch.histogramdd(a.half().mT, [2, 3])
    """,
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
        torch.clamp(a, 1j, a) | torch.clamp(a, a, 1j) | a.argsort(0, 2) | a.sort(0, 2) | torch.sort(a, 0, stable=2)
        a.std(0, keepdim=1) | torch.var_mean(a, 0, keepdim=None) | torch.scatter(a, 1, i % 3, value=a)
        torch.scatter(a, 1, i % 3, 'x') | torch.scatter(a, 1, i, value='x') | torch.scatter(a, 1, i, a, value=2)
        torch.index_add(a, 0, i[0, :2], a, alpha=a) | torch.index_add(a, 0, i[0, :2], a, alpha='x')
        torch.index_add(a, 0, i[0, :2], a, alpha=x[0, 2]) | a.split((-1.5, 4)) | a.split((1, 1.5)) | a.split((1, None))
        torch.histc(a, 4, True, a) | torch.histc(a, 4, 'x', 1)
        torch.remainder(7.5, a, out=torch.zeros(0)) | torch.remainder(7, a, out=i)
        torch.triu_indices(3, 3, dtype=False) | torch.linalg.vector_norm(a > 2, dtype=a)
        torch.narrow_copy(a, 1, a, 2) | torch.tensor(1j, dtype=torch.float32)
        torch.repeat_interleave(x, dim=2) | torch.repeat_interleave(i[0], dim=0)
        torch.nonzero(a, as_tuple=True, out=(i, i)) | torch.nonzero(a, as_tuple=2) | torch.bernoulli(a / 6, a / 6)
        torch.bernoulli(a / 6, x[0, 0]) | torch.linalg.lstsq(a[None], b, out=torch.zeros(0))
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
    "what is told of sizes and numbers": """
        torch.embedding(a[0], b) | torch.embedding(a, c) | torch.nn.functional.nll_loss(c, i[0])
        torch.view_copy(c, ()) | torch.combinations(c, 100) | torch.baddbmm(c, c, a[None]) | torch.baddbmm(c, a, a)
        torch.baddbmm(a, a[0, 0], a)
        torch.argsort(c, dim=0, stable=True, out=torch.zeros(0)) | torch.slice_scatter(a, a, out=torch.zeros(0).char())
        torch.nn.functional.multilabel_margin_loss(a / 0, i) | torch.fft.ihfftn(c, out=torch.zeros(0))
        torch.masked_fill(a, i > 2, np.int64(2)) | torch.addmm(z[0], z @ z.mT, z, beta=torch.tensor(0.5))
        torch.addmm(a, a, b, beta=1j) | torch.addr(i, i[0], i[0], alpha=1j) | torch.nn.functional.glu(a, a)
        torch.histogramdd(a, (-1.5, 4, 1)) | torch.nn.functional.avg_pool2d(a[0, 0], 2) | torch.sym_int(float('inf'))
        torch.nn.functional.unfold(a[0, 0], (2, 3))
        torch.nn.functional.batch_norm(a[0, 0], None, None, training=True) | torch.min(a, torch.tensor(1), keepdim=True)
        torch.nn.functional.pad(a, (1, 1), 'x', 0.5) | torch.bucketize(1j, c) | torch.cartesian_prod([c])
        torch.trapz(a[0, 0]) | torch.cumulative_trapezoid(a[0, 0]) | torch.orgqr(b, c[0])
        torch.addbmm(a, a[None], c[0]) | torch.max(a, torch.tensor(1)) | a.min(torch.tensor(1), True)
        torch.fft.irfft2(z, ()) | torch.fft.irfftn(z[0, 0], (3, -1))
        torch.nn.functional.elu(a, 1j)
        torch.nn.functional.cross_entropy(a, i[:, 0] * 0, label_smoothing=float('nan'))
        a.view(torch.int32, kepdim=True)
        torch.tensordot(a, a, 2**63) | torch.linalg.norm(a, 2**63) | torch.nn.functional.embedding(i, b, 2**63)
    """,
    "what comes first": """
        torch.rsub(a, torch.ones(0, 3)) | torch.narrow(a, 0, a, 1) | torch.unravel_index(i[0].short(), (2, 3))
        torch.poisson(c / 0 * 0) | torch.cov(a, aweights=c[:3] / 0 * 0) | a.addcmul_(a, a, value=a)
        torch.slogdet(x[:2, :2], out=(x[0, 0], x[0, 0])) | torch.median(x, dim=1, out=torch.zeros(0))
        torch.t_copy(x, out=torch.zeros(0).double()) | torch.t_copy(x, out=torch.zeros(0)) | torch.t_copy(a, out=a)
        torch.min(a, 0, out=(a[0], a[0])) | torch.slice_scatter(a, a[:1], 0, 1, 2, out=a)
    """,
    "one size more, or too many": """
        torch.fft.ifftshift(a[0, 0], 1) | torch.nn.functional.upsample(a[None], scale_factor=2**63)
        torch.argsort(c, out=i) | torch.argsort(c, stable=False, out=i) | torch.linalg.cond(b, 1j)
        torch.histogram(c, 3, weight=c[0]) | torch.histogram(c, 3, weight=c.reshape(4, 5))
        torch.combinations(c, 2**63)
        torch.nn.functional.interpolate(a[None], scale_factor=-1e30) | torch.combinations(c[:2], torch.tensor(2))
    """,
    "dtypes of out=, and where it lies": """
        torch.nansum(a, out=torch.zeros(0).char()) | torch.nanmean(a, out=torch.zeros(0).long()) | torch.nansum(z)
        torch.nansum(a, dtype=torch.int8) | torch.nansum(a / 0, 0, dtype=torch.int64) | torch.nansum(i, out=z[0, 0])
        torch.nansum(a, dtype=torch.float64, out=c[0]) | torch.nansum(c.half() * 9e3, out=c[0])
        a.nansum(dtype=z.dtype)
        torch.nanmean(a, dtype=torch.int8) | torch.nanmean(a, dtype=torch.float64, out=c[0])
        torch.sum(a, 1, dtype=torch.float64, out=c[0]) | torch.prod(a, dtype=torch.float64, out=c[0])
        torch.mean(a, 1, dtype=torch.float64, out=c[0]) | torch.cumsum(a, 1, dtype=torch.float64, out=c[0])
        torch.scatter(a, 1, i[:1] % 3, a, out=i) | torch.scatter(a, 1, i[:1] % 3, c[:3], out=i)
        torch.scatter(a, 1, i % 3, a, out=i) | torch.scatter_add(a, 1, (k := i % 3), a, out=k)
        torch.scatter_reduce(a, 1, (k := i % 3), a, 'amin', out=k.detach())
        torch.orgqr(x.mT, x[:, 0], out=torch.zeros(0).bool())
        torch.linalg.tensorinv(torch.eye(6).view(2, 3, 6), out=z)
        torch.linalg.tensorinv(torch.eye(6).view(2, 3, 6), out=i) | torch.linalg.tensorsolve(c[:6].view(1, 6), c, out=i)
        torch.linalg.vecdot(x, a, out=i) | torch.linalg.vecdot(x[0], a[0], out=torch.zeros(0))
        torch.linalg.vecdot(x, b, out=z)
        torch.linalg.vecdot(x, a, out=torch.zeros(0)) | torch.diag(a[0], out=torch.zeros(0).int())
        torch.diag(x[0], out=z[:0]) | torch.diag(x, out=z[:0])
        torch.diag(x[None], out=z) | torch.repeat_interleave(x)
        torch.max(a, out=torch.zeros(0).bool()) | torch.min(z, out=torch.zeros(0)) | torch.lerp(a, a, c[0], out=z)
        torch.matmul(b[None], c[:3], out=torch.zeros(0).double())
        torch.clamp(i, min=0.5, out=i) | torch.special.xlog1py(x, 2.5, out=torch.zeros(0))
        torch.linalg.multi_dot([x, b, b], out=torch.zeros(0).int()) | torch.linalg.eigvals(x[:, :2], out=torch.zeros(0))
        torch.linalg.lu_factor(x[:, 1:2] + b[:1, :1], out=(torch.zeros(0), torch.zeros(0).int()))
        torch.lerp(a, a, a, out=torch.zeros(0).double()) | torch.lerp(z, z, z, out=torch.zeros(0))
        torch.logsumexp(a, 0, out=torch.zeros(0).long()) | torch.narrow_copy(a, 100, 1, 2, out=i)
        a.__setitem__(a.detach(), c[:4]) | x.__setitem__(x, 1) | (k := i.short()).index_put_((k[0],), k[0])
    """,
    "sizes of what is written, or placed": """
        a[0, 0].addmv_(a, b[0]) | torch.addmv_(a[0, :1], a, b[0]) | a[0].addr_(a[:, 0], a[0]) | a.addr_(a[0], a[0])
        i.addr_(c[:2], c[:3]) | i[0].addr_(c[:2], c[:3]) | torch.addr(i[None], c[:2], c[:3])
        torch.linalg.lstsq(b[None], c[:6].view(3, 2)).solution | torch.linalg.lstsq(b[None], c[:4].view(2, 2))
        i.mvlgamma_(-2) | a[0].expand(2, 3).mvlgamma_(0) | z.mvlgamma_(0) | torch.histc(c, 3, 0, 1e40)
        torch.narrow_copy(a, 1, 1, -2) | torch.narrow_copy(a, 1, -3, -1) | torch.narrow_copy(x[:, :0], 1, 1, 2)
        x[:, :1].expand(2, -2) | x[:, :1].expand(3, -2) | c[:1].expand(4, -2) | x.float_power_(0)
        x.detach().double().float_power_(z) | torch.linalg.pinv(c, atol=0.1) | torch.linalg.pinv(c[0], atol=0.1)
        torch.range(-1, 1e30, 2) | torch.range(-1, 1e19, 2) | torch.linalg.tensorsolve(c[:3], b)
        torch.searchsorted(i[0, 0], 3) | torch.linalg.norm(i, 3, (0, 1)) | torch.linalg.matrix_norm(c, 3)
        torch.linalg.matrix_norm(a, 'x', (0, 0)) | torch.linalg.norm(i, 'x', (0, 1))
        torch.searchsorted(i[0], i[0], sorter=torch.tensor([1, 255, 0])) | torch.searchsorted(i, i, sorter=i)
        torch.amin(c[:0], (0, 2)) | torch.amax(a[:0], (1, 2)) | torch.amin(a[:0], (0, 0))
        torch.narrow_copy(x, 9, 1, 2)
        torch.linalg.lu_solve(b > 2, i[0], b > 2) | torch.linalg.lu_solve(b, i[0], b.double())
        torch.linalg.tensorinv(torch.zeros(2, 3, 6)) | a[0, 0].expand(2, -1) | c[0].expand(-2) | a[0].expand(-2, 3)
        a[0].expand(-1, -2, 3) | torch.broadcast_to(c[0], (2, -1))
        torch.linalg.lstsq(torch.ones(2, 3, 2), b) | torch.take_along_dim(a[:, :0], i % 1, 1)
        torch.scatter_add(a, 1, i % 3, c[:3]) | torch.scatter(a, 1, i % 3, c) | torch.scatter_reduce(a, 0, i, c, 'sum')
    """,
    "two dtypes": """
        torch.baddbmm(a[None], b[None], b[None].double()) | torch.baddbmm(a[None], a[None].double(), b[None].double())
        torch.baddbmm(a[None].double(), a[None], b[None].double()) | torch.scatter(a, 1, i[:, :1] * 0, a, reduce=False)
    """,
    "values of odd sizes, kinds and numbers": """
        torch.pixel_unshuffle(torch.ones(0, 2, 4, 6), 2) | torch.linalg.cond(torch.ones(0, 3), 'fro')
        torch.linalg.matrix_rank(torch.ones(2, 0, 3), hermitian=True) | torch.linalg.cond(c, 'nuc')
        torch.fft.irfft2(torch.ones(3, 0, dtype=torch.complex64), (2, 5)) | torch.fft.irfft2(z[:0], (2, 5))
        torch.normal(torch.tensor(2.0), 0.0, (3,)) | torch.normal(a, 0.5, (3,)) | torch.unflatten(a[0, 0], 1, (2, 3))
        torch.histogram(a, torch.tensor(4), range=(0.0, 2.0)) | torch.histogramdd(a, [torch.tensor(2)] * 3)
        torch.bucketize(1, i > 2) | torch.searchsorted(torch.tensor([False, True]), 1) | torch.searchsorted(c[0], a)
        torch.nn.functional.instance_norm(a[None], c[:2], c[:2].double()) | torch.unique_consecutive(a[0, 0], dim=0)
        torch.nn.functional.huber_loss(a, a, delta=float('nan')) | torch.nn.functional.l1_loss(a[:0], a, weight=a)
        torch.nn.functional.unfold(torch.ones(1, 2, 5, 6), torch.tensor((2, 3))) | torch.addmm(i, i, i.mT, beta=2**63)
        torch.nn.functional.fold(torch.ones(2, 12, 12), np.array((4, 5)), 2) | torch.addcmul(i, i, i, value=2**63)
        torch.nn.functional.layer_norm(a, [torch.tensor(3)]) | torch.nn.functional.layer_norm(a, [3.0])
        torch.nn.functional.rms_norm(a, (2, 2, 3)) | torch.nn.functional.gumbel_softmax(c[:0], hard=True)
        torch.linspace(0, 1j, 5, dtype=torch.float64) | torch.logspace(0, 1j, 5, dtype=torch.int64)
        torch.linalg.lu_solve(c, i, b) | torch.lu_unpack(c, i) | torch.as_strided(a, (-1, -1), (1, 2))
        torch.as_strided_scatter(a, a, (2, 2), (-1, 1)) | torch.linalg.tensorsolve(a, c, (1, 1))
        a.narrow_copy(1, 1, -1) | torch.slice_copy(a, 3)
        torch.linalg.norm(a, 2, out=torch.zeros(0).double()) | torch.frobenius_norm(a, 0, out=torch.zeros(0).byte())
        torch.narrow_copy(a, 1, 1, 2, out=torch.zeros(0).long()) | torch.frexp(a, out=(a.clone(), a.clone()))
        torch.median(a, 1, out=(c.clone(), c.clone())) | torch.mode(a, 1, out=(c.clone(), c.clone()))
        torch.kthvalue(a, 1, 1, out=(c.clone(), c.clone())) | torch.conv_tbc(a[None][:0], b[None], c[:3])
        torch.meshgrid(a / 7, indexing='ij') | torch.meshgrid(a / 7000, c, indexing='ij')
        torch.meshgrid(i, indexing='ij')
        torch.histc(torch.tensor([0.02, -8 / 9, 4 / 9, 0, 4 / 3, -4 / 9, -4 / 3, 0, 8 / 9]), bins=3)
        torch.scatter(a, 1, i % 3, value=c[2]) | torch.xlogy_(a, 0) | torch.xlogy_(a[0].expand(2, 3), 0)
        torch.conj_physical_(x * 1) | (z + x).conj_physical_()
        torch.index_add(a, 0, i[0, :2], a, alpha=1j) | a.split(i[0, 1]) | torch.logit(a / 6, eps=1)
        torch.logit(a / 6, eps=0.7) | torch.logit(a / 6, eps=float('nan'))
        torch.bincount(i[0], z[0] * 1j + 2) | torch.linalg.multi_dot([c, b, b]) | torch.diff(a, prepend=b)
        torch.diff(a, append=c)
    """,
}


@pytest.mark.parametrize("name", CALLS)
def test_same_as_torch(name):
    for call in [call.strip() for line in CALLS[name].strip().split("\n") for call in line.split("|")]:
        yours, ours = CallRun(torch), CallRun(glassgrad)
        for line in ["import numpy as np", *TENSORS.strip().split("\n"), f"r = {call}"]:
            assert compared(yours, ours, line.strip()) is None, line
