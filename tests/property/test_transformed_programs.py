"""Transforms of random programs obey laws; ``--count`` for more, and see ``transformed_programs.py``.

And what such programs found, beside PyTorch.
"""

import numpy as np
import pytest

import glassgrad
from tests.counts import seeds
from tests.property.transformed_programs import look
from tests.torch_reference import torch as reference

PARTS = 2


@pytest.mark.parametrize("part", range(PARTS))
def test_laws_of_transforms(part):
    for seed in seeds(600)[part::PARTS]:
        lines, wrong = look(seed)
        assert not wrong, "\n".join([f"# {seed}", *lines, wrong])


PROGRAMS = {
    "a view of what was rearranged is written": """
        y.swapaxes_(-2, -1); v = y.view(-1); v.mul_(torch.arange(1.0, 7)); r = (y * y).sum()
        y.t_(); v = y[1]; v.mul_(3); r = (y * torch.arange(6.0).reshape(3, 2)).sum() + v.sum()
        v = y[0]; y.t_(); v.mul_(3); r = (y * torch.arange(6.0).reshape(3, 2)).sum() + v.sum()
        y.t_(); y.unsqueeze_(0); v = y[0, 1]; v.mul_(2); y.mul_(2); r = (y * torch.arange(6.0).reshape(3, 2)).sum()
    """,
    "a view is written without recording": """
        v = y[0]; torch.no_grad()(v.zero_)(); r = (y * y).sum() + (v * 3).sum()
        v = y[0]; torch.no_grad()(y.zero_)(); r = (y * y).sum() + (v * 3).sum()
        torch.no_grad()(y[0].zero_)(); r = (y * y).sum()
    """,
    "a view is of complex numbers, or of their parts": """
        v = torch.view_as_complex(y[:, :2] * 1); v.sin_(); r = torch.view_as_real(v).square().sum()
        w = y[:, :2] * 1; v = torch.view_as_complex(w); v.mul_(2 + 1j); r = (w * torch.arange(4.0).reshape(2, 2)).sum()
        c = torch.complex(y, y * y); c.real.mul_(3); r = (c.real * c.imag).sum()
        c = torch.complex(y, y * y); torch.view_as_real(c)[..., 1].exp_(); r = (c.real * c.imag).sum()
        c = torch.complex(y, y * y); c[0].imag.add_(c[1].real); r = (c.abs() * torch.arange(3.0)).sum()
    """,
    "rearranged after it was written": """
        y.zero_(); y.unsqueeze_(0); r = y.sum() + x.sum()
        y.fill_(3); y.t_(); r = (y * y).sum() + x.sum()
    """,
    "rearranged after it was saved": """
        z = y * y; y.t_(); r = z.sum() + (y * torch.arange(6.0).reshape(3, 2)).sum()
        z = y.exp(); z.t_(); r = (z * z).sum()
    """,
    "numbers have a dimension": """
        r = y[0, 0].prod(0) * y[0, 1].max(0)[0] * y[0, 2].kthvalue(1, 0)[0]
        r = y[1, 0].median(0)[0] * y[1, 1].mode(0)[0] * y[1, 2].prod(-1, True)
    """,
    "elements that share memory get one value": """
        v = y[:1].expand(3, -1); v.zero_(); r = (v * y[0]).sum() + (y * y).sum()
        v = y[:1].expand(3, -1); v.fill_(2); r = (v * y[0]).sum() + (y * y).sum()
        v = y[:1].expand(2, -1); v.masked_fill_(y > 1, 2); r = (v * y[0]).sum() + (y * y).sum()
        v = y[:1].expand(3, -1); v.mul_(2); r = v.sum()
    """,
    "the diagonal is filled": """
        y.fill_diagonal_(3); r = (y * y).sum()
        y[:, ::2].fill_diagonal_(3); r = (y * y).sum()
        y.t_(); y.fill_diagonal_(3, True); r = (y * y).sum()
    """,
    "what indices and rearrangements give is viewed": """
        v = y[:, torch.tensor([0, 2])].exp().view(-1); r = v[1] * v[2]
        v = y[torch.tensor([1, 0]), None].view(2, -1); r = v[0, 1] * v[1, 2]
        v = torch.view_as_complex(y[torch.tensor([1, 0, 0])][:, :2]); r = v.abs().sum()
        v = y.mT.ravel(); r = v[1] * v[2]; v = y[:, 1:].mT.ravel(); r = r + v[1] * v[2]
    """,
    "empty vectors side by side": """
        v = y[:, 0][:0]; r = torch.cat([v, v], -2).sum() + y.sum()
    """,
    "layers of nothing": """
        v = y.diagonal(3); r = torch.nn.functional.layer_norm(v, v.shape).sum() + (y * y).sum()
    """,
    "numbers beside tangents are of their kind": """
        r = torch.add(y, 1j, alpha=1j).real.sum() + torch.add(y, 2j).abs().sum()
    """,
    "what shares a tangent": """
        v = y.frac(); y[..., 0] = 0.5; r = v.sum() + y.sum()
        v = y + 1; y[0].mul_(3); r = (v * v).sum() + y.sum()
    """,
}
TRANSFORMS = {
    "grad": lambda t, f, x: t.func.grad(f)(x),
    "grad of grad": lambda t, f, x: t.func.grad(lambda x: t.func.grad(f)(x).sum())(x),
    "jvp": lambda t, f, x: t.func.jvp(f, (x,), (t.arange(6.0).reshape(2, 3),))[1],
    "vmap of grad": lambda t, f, x: t.func.vmap(t.func.grad(f))(t.stack([x, x + 1])),
    "vmap of jvp": lambda t, f, x: t.func.vmap(lambda x: t.func.jvp(f, (x,), (x * 1,))[1])(t.stack([x, x + 1])),
}


@pytest.mark.torch
@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_same_as_torch(name, transform):
    for program in PROGRAMS[name].strip().split("\n"):
        answers = []
        for torch in (reference, glassgrad):

            def function(x, torch=torch, program=program):
                scope = {"torch": torch, "x": x, "y": x * 1}
                exec(program.strip(), scope)  # noqa: S102  this file's own
                return scope["r"]

            try:
                answers.append(TRANSFORMS[transform](torch, function, torch.arange(1.0, 7).reshape(2, 3) / 4).numpy())
            except RuntimeError as error:
                answers.append(str(error)[:60])
        if isinstance(answers[0], str):
            assert answers[0] == answers[1], program
        elif not ("frac" in program and "jvp" in transform):  # where PyTorch's tensors share one tangent
            np.testing.assert_allclose(*answers, rtol=1e-5, atol=1e-5, err_msg=program)
