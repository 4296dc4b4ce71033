"""Operations compiled, one by one: what was once found, and a few of all; ``operations.py`` tries them all."""

import pytest

from glassgrad.kernels import compiled
from tests import counts

from . import operations
from .operations import every

#: Samples and lines of ``MORE`` that once gave something else when they were replayed, with a dtype and a way.
FOUND = """
nn.functional.max_pool2d[transposed] float32 alone
softmax[4x3,1] float32 followed
sort[transposed] float32 alone
c.tanh_() float32 alone
F.relu(c, inplace=True) float64 pending
c.__setitem__((0, 1), y[0, 0]) int64 alone
x.H complex64 alone
x.mul(2j).H complex64 pending
gru_cell[cell] float32 alone
unbind[1x3,0] float64 pending
sinc[2x3] float16 alone
sinc[2x3] bfloat16 backward
std_mean[2x3,1,correction=0] bfloat16 backward
einsum[...ij,...jk->...ik,5x4x2x3,4x3x2] float32 alone
add[2x3,2x3] float32 graded
cat[complex] float64 graded
pow[zero] complex64 backward
nn.functional.scaled_dot_product_attention[shared heads,differing] float32 graded
""".strip().split("\n")  # fmt: skip


@pytest.fixture(autouse=True)
def _kernels_of_numpy():
    with compiled.serving(compiled.NEVER):
        yield


@pytest.mark.parametrize("pure", [False, True])
@pytest.mark.parametrize("line", FOUND)
def test_an_operation_is_the_same_compiled(line, pure, recwarn):
    name, dtype, way = line.rsplit(" ", 2)
    (one, *_) = [sample for sample in every() if sample.id == name] or [operations.Expression(name)]
    assert operations.difference(one, dtype, getattr(operations, way), pure) is None


@pytest.mark.parametrize("pure", [False, True])
@pytest.mark.parametrize("way", operations.WAYS)
def test_a_few_operations_are_the_same_compiled(way, pure, recwarn):
    samples = every()
    count = min(counts.chosen or 40, len(samples))
    for place in range(counts.first, counts.first + count):
        sample = samples[place * 61 % len(samples)]
        assert operations.difference(sample, "float32", way, pure) is None, sample.id
