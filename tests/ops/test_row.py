"""What ``@op`` takes: columns by name, refused where they mean nothing; the compiled kernel before the plain one."""

import pickle

import numpy as np
import pytest

import glassgrad
from glassgrad.core.row import FLOATS, Row
from glassgrad.families.softmax.rows import softmax
from glassgrad.kernels import compiled


def doubled(self, /, times=2):
    """Twice the elements, or as often as ``times`` says."""
    return self * times


def test_a_column_that_does_not_exist():
    with pytest.raises(TypeError, match="row doubled: there is no column 'inplaced'"):
        Row(doubled, inplaced=True)


@pytest.mark.parametrize(
    ("column", "message"),
    [("typed", "typing 'double'"), ("precision", "precision 'double'"), ("halves", "treatment of halves 'double'")],
)
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


def test_a_row_of_many_calls_asks_where_there_are_few_elements():
    row = Row(doubled, native=lambda self, times=2: -self, few=True)
    with compiled.serving(compiled.LEAST):
        assert [row.kernel(np.ones(size))[0] for size in (compiled.FEW - 1, compiled.FEW)] == [2, -1]
    with compiled.serving(compiled.NEVER):
        assert row.kernel(np.ones(compiled.FEW))[0] == 2


def test_a_quick_form_is_asked_after_the_compiled_kernel():
    row = Row(
        doubled, native=lambda self, times=2: -self, quick=lambda self, times=2: self * 20 if times == 2 else None
    )
    with compiled.serving(4):
        assert row.kernel(np.ones(5))[0] == -1
        assert row.kernel(np.ones(3))[0] == 20
        assert row.kernel(np.ones(3), 3)[0] == 3, "what it does not serve the plain kernel does"


@pytest.mark.parametrize(("halves", "first"), [("single", 20), ("plain", 2)])
def test_halves_are_computed_in_single_and_rounded_once(halves, first):
    seen = []

    def quick(self, times=2):
        seen.append(self.dtype)
        return self * 20

    result = Row(doubled, halves=halves, quick=quick).kernel(np.ones(3, "f2"))
    assert result.dtype == "f2"
    assert result[0] == first
    assert seen == [np.dtype("f4")] * (halves == "single")


def test_other_dtypes_than_those_that_it_serves_are_refused_by_pytorchs_name():
    with pytest.raises(NotImplementedError, match="\"doubled_cpu\" not implemented for 'Long'"):
        Row(doubled, serves=(FLOATS, "doubled_cpu")).kernel(np.ones(3, "i8"))
    row = Row(doubled, serves=(FLOATS, lambda self, times: ValueError(f"not {times} times")))
    with pytest.raises(ValueError, match="not 3 times"):
        row.kernel(np.ones(3, "i8"), 3)
    assert [dtype.char for dtype in row.plan.everyday_dtypes] == ["f", "d"]


@pytest.mark.torch
def test_softmax_of_complex_numbers_is_refused_as_by_pytorch():
    torch = pytest.importorskip("torch")
    for name in ("softmax", "log_softmax"):
        for dim in (0, 1):
            with pytest.raises(NotImplementedError) as theirs:
                getattr(torch, name)(torch.zeros(2, 3, dtype=torch.complex64), dim)
            with pytest.raises(NotImplementedError) as ours:
                getattr(glassgrad, name)(glassgrad.zeros(2, 3, dtype=glassgrad.complex64), dim)
            assert str(ours.value) == str(theirs.value)


def test_both_functions_named_softmax_can_be_pickled():
    for function in (glassgrad.softmax, glassgrad.nn.functional.softmax):
        assert function.__name__ == "softmax"
        assert pickle.loads(pickle.dumps(function)) is function


def test_editors_and_readers_find_the_row():
    assert softmax.row.name == softmax.__name__ == "softmax"
    assert softmax.row.plain.__module__ == softmax.row.kernel.__module__ == softmax.__module__
