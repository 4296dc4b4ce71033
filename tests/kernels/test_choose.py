"""Choosing element by element: blended bits against ``np.where``."""

import numpy as np
import pytest

from glassgrad.kernels.choose import LARGE, choose, drop, keep

ODD = [np.nan, np.inf, -np.inf, -0.0, 1.5]


def inputs(size, dtype):
    rng = np.random.default_rng(0)
    one, other = rng.choice(ODD, size).astype(dtype), rng.choice(ODD, size).astype(dtype)
    return rng.integers(0, 2, size).astype(bool), one, other


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "F"])
@pytest.mark.parametrize("size", [0, 7, LARGE, LARGE + 3])
def test_choose_is_where(size, dtype):
    """Bit for bit, signs of zeros and NaN included."""
    condition, one, other = inputs(size, dtype)
    found = choose(condition, one, other)
    assert found.tobytes() == np.where(condition, one, other).tobytes()
    assert found.dtype == one.dtype


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "F"])
@pytest.mark.parametrize("size", [0, 7, LARGE])
def test_drop_and_keep(size, dtype):
    """What is dropped is zero, even where it was infinite or NaN; nothing is a view of the input."""
    condition, values, _ = inputs(size, dtype)
    zero = np.zeros((), dtype)
    np.testing.assert_array_equal(drop(condition, values), np.where(condition, zero, values))
    np.testing.assert_array_equal(keep(condition, values), np.where(condition, values, zero))
    assert drop(condition, values).base is None
    assert not np.shares_memory(drop(condition, values), values)


def test_scalars():
    """NumPy scalars stay scalars of their dtype."""
    one, other = np.float32(1), np.float32(2)
    assert type(choose(np.True_, one, other)) is np.float32
    assert drop(np.True_, one) == 0 and type(drop(np.True_, one)) is np.float32
    assert drop(np.False_, one) == 1


def test_broadcast():
    """Shapes may differ."""
    condition = np.array([[True], [False]])
    np.testing.assert_array_equal(choose(condition, np.ones(3), np.zeros(3)), [[1, 1, 1], [0, 0, 0]])
    np.testing.assert_array_equal(drop(condition, np.ones(3)), [[0, 0, 0], [1, 1, 1]])
