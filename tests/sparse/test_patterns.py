"""Random patterns: every kernel of sparse arrays gives what the dense arrays give."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from glassgrad.families.sparse import kernels as sparse
from glassgrad.families.sparse.kernels import Coo
from tests.counts import generated


@st.composite
def coo(draw, shape=None):
    """A sparse matrix of small whole numbers, places in any order, some several times."""
    shape = shape or draw(st.tuples(st.integers(1, 6), st.integers(1, 6)))
    n = draw(st.integers(0, 12))
    at = [draw(st.lists(st.integers(0, size - 1), min_size=n, max_size=n)) for size in shape]
    values = draw(st.lists(st.integers(-4, 4), min_size=n, max_size=n))
    return Coo(np.array(at, np.int64).reshape(2, n), np.array(values, np.float64), shape)


def dense(array):
    """Every value added at its place, one after the other."""
    if not isinstance(array, (Coo, sparse.Compressed)):
        return array
    array = array.coo() if isinstance(array, sparse.Compressed) else array
    out = np.zeros(array.shape)
    np.add.at(out, tuple(array.indices), array.values)
    return out


def _divisors(size):
    return [n for n in range(1, size + 1) if size % n == 0]


@generated(150)
@given(st.data())
def test_kernels_are_those_of_dense_arrays(data):
    one = data.draw(coo())
    other = data.draw(coo(one.shape))
    right = data.draw(coo((one.shape[1], data.draw(st.integers(1, 5)))))
    a, b, c = map(dense, (one, other, right))
    small = sparse.coalesced(one)
    block = data.draw(st.sampled_from(_divisors(one.shape[0]))), data.draw(st.sampled_from(_divisors(one.shape[1])))
    lines = [sparse.compressed(one, layout) for layout in ("csr", "csc")]
    lines += [sparse.compressed(one, layout, block) for layout in ("bsr", "bsc")]
    assert [made.turned().layout for made in lines] == ["csc", "csr", "bsc", "bsr"]
    assert (np.diff(sparse.keys_of(small.indices, small.shape)) > 0).all()
    for made, wanted in (
        (small, a),
        (sparse.dense_of(one), a),
        (sparse.sparse_of(a, 2), a),
        (sparse.sparse_of(a, 1), None),
        (sparse.added(one, other), a + b),
        (sparse.added(small, sparse.coalesced(other)), a + b),
        (sparse.added(b, one), a + b),
        (sparse.multiplied(one, other), a * b),
        (sparse.multiplied(one, b), a * b),
        (sparse.matmul(one, c), a @ c),
        (sparse.matmul(c.T, sparse.permuted(one, (1, 0))), c.T @ a.T),
        (sparse.matmul(one, right), a @ c),
        (sparse.matmul(one, c[:, 0]), a @ c[:, 0]),
        (sparse.permuted(one, (1, 0)), a.T),
        (sparse.masked(b, one), np.where(dense(small.of(np.ones(len(small.values)))), b, 0)),
        *((made, a) for made in lines),
        *((sparse.permuted(made, (1, 0)), a.T) for made in lines),
        *((sparse.added(made, made), 2 * a) for made in lines),
        *((sparse.multiplied(made, b), a * b) for made in lines),
        *((sparse.matmul(made, c), a @ c) for made in lines),
        *((sparse.masked(b, made), np.where(dense(made.of(np.ones(made.values.shape))), b, 0)) for made in lines),
        (np.subtract(b, one), b - a),
    ):
        if wanted is None:
            np.testing.assert_array_equal(sparse.dense_of(made), a)
        else:
            np.testing.assert_array_equal(dense(made), wanted)
    for dims in ((0,), (1,), (0, 1)):
        for keepdim in (False, True):
            total = sparse.summed(one, dims, keepdim)
            np.testing.assert_array_equal(
                sparse.dense_of(total) if isinstance(total, Coo) else total, a.sum(dims, keepdims=keepdim)
            )
