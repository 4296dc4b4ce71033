"""What ``@op`` takes: columns by name, refused where they mean nothing; the compiled kernel before the plain one."""

import numpy as np
import pytest

from glassgrad.core.row import Row
from glassgrad.families.softmax.rows import softmax
from glassgrad.kernels import compiled


def doubled(self, /, times=2):
    """Twice the elements, or as often as ``times`` says."""
    return self * times


def test_a_column_that_does_not_exist():
    with pytest.raises(TypeError, match="row doubled: there is no column 'inplaced'"):
        Row(doubled, inplaced=True)


@pytest.mark.parametrize(("column", "message"), [("typed", "typing 'double'"), ("precision", "precision 'double'")])
def test_a_column_of_an_unknown_kind(column, message):
    with pytest.raises(ValueError, match=message):
        Row(doubled, **{column: "double"})


def test_outputs_that_carry_gradients():
    assert Row(doubled).differentiable == (0,)
    assert Row(doubled, outputs=("a", "b")).differentiable == (0, 1)
    assert Row(doubled, outputs=("a", "b"), differentiable=("b",)).differentiable == (1,)


def test_the_compiled_kernel_is_asked_first_from_a_size_on():
    asked = []

    def native(self, times=2):
        asked.append(self.size)
        return -self if times == 2 else None

    row = Row(doubled, native=native)
    small, large = np.ones(3), np.ones(5)
    with compiled.serving(4):
        assert row.kernel(small)[0] == 2
        assert row.kernel(large)[0] == -1
        assert row.kernel(large, 3)[0] == 3, "what it does not serve the plain kernel does"
        assert row.kernel(large, times=3)[0] == 3
    assert asked == [5, 5, 5]
    assert row.plain is doubled
    assert row.kernel.__doc__ == doubled.__doc__


def test_editors_and_readers_find_the_row():
    assert softmax.row.name == softmax.__name__ == "softmax"
    assert softmax.row.plain.__module__ == softmax.row.kernel.__module__ == softmax.__module__
