"""Kernels that are quick on long arrays give each element what it gives alone, however large or small it is."""

import re

import numpy as np
import pytest

import glassgrad
from glassgrad.core.row import TABLE
from tests.laws import Call, array
from tests.samples import T, all_samples

EDGES = [
    0.0, -0.0, 1.0, -1.0, 0.5, 2.0, np.inf, -np.inf, np.nan, 1e-40, -1e-40, 1e-8, -3.0, 3.9, -3.9, 5.0, -5.0, 20.0,
    -20.0, 35.0, -35.0, 88.0, -88.0, 89.5, -104.0, 170.0, -170.5, 700.0, -745.0, 1e10, -1e10, 1e30, -1e30,
]  # fmt: skip
LENGTH = 3000


def elementwise():
    """A sample of each way to call a row that works element by element, on numbers of one shape."""
    chosen = {}
    for sample in all_samples():
        row, given = TABLE.get(sample.name.rpartition(".")[2]), [arg for arg in sample.args if isinstance(arg, T)]
        if row is None or row.batched != "point" or "generator" in row.settings or not given or row.outputs:
            continue
        if re.search("loss|entropy", sample.name):  # which reduce, or refuse
            continue
        others = [arg for arg in sample.args if not isinstance(arg, T)]
        alike = all(arg.kind == "float" and arg.shape == given[0].shape for arg in given)
        if alike and all(isinstance(arg, (int, float, str)) for arg in (*others, *sample.kwargs.values())):
            chosen.setdefault((sample.name, len(given), str(others), str(sample.kwargs)), sample)
    return [*chosen.values()]


class Long(Call):
    """A call whose tensors hold the columns that are given."""

    def __init__(self, sample, dtype, columns):
        self.columns = iter(columns)
        super().__init__(sample, glassgrad, dtype)

    def tensor(self, spec):
        made = glassgrad.tensor(next(self.columns)).to(getattr(glassgrad, self.dtype))
        self.leaves.append(made.requires_grad_(self.sample.gradient))
        return made

    def parts(self):
        """The result and, of real numbers, the gradients, where there are any."""
        out = self()[0]
        if not out.requires_grad or out.is_complex():
            return [array(out)]
        try:
            grads = glassgrad.autograd.grad(out.sum(), self.leaves, allow_unused=True)
        except RuntimeError as error:
            assert "not implemented" in str(error) or "not differentiable" in str(error)
            grads = []
        return [array(out.detach()), *[array(grad) for grad in grads if grad is not None]]


@pytest.mark.once
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_elements_are_what_they_are_alone(dtype):
    tolerance, tried = {"float32": 2e-5, "float64": 1e-10}[dtype], 0
    for sample in elementwise():
        if dtype not in sample.only:
            continue
        rng = np.random.default_rng(len(sample.id))
        count = sum(isinstance(arg, T) for arg in sample.args)
        columns = [
            rng.permutation([*EDGES, *rng.normal(size=LENGTH - len(EDGES)) * rng.choice([1, 10])]) for _ in range(count)
        ]
        places = [*np.flatnonzero(np.isin(columns[0], EDGES) | np.isnan(columns[0])), *range(30)]
        together = Long(sample, dtype, columns).parts()
        alone = [Long(sample, dtype, [column[i : i + 1] for column in columns]).parts() for i in places]
        tried += 1
        for number, whole in enumerate(together):
            single = np.concatenate([parts[number] for parts in alone])
            np.testing.assert_allclose(whole[places], single, tolerance, tolerance / 100, err_msg=sample.id)
    assert tried > 100
