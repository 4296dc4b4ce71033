"""Shapes as Python sees them: tuples whose slices and sums stay shapes."""

import copy
import operator
import pickle

import numpy as np
import pytest

from glassgrad.ground.size import Size, unchecked


class Four:
    def __index__(self):
        return 4


def test_stays_a_size():
    shape = Size([2, 3, 4])
    assert repr(shape) == str(shape) == "torch.Size([2, 3, 4])"
    assert shape == (2, 3, 4) and hash(shape) == hash((2, 3, 4))
    for derived in (shape[1:], shape[::-1], shape + (5,), (5,) + shape, shape * 2, 2 * shape, unchecked((7,))):
        assert type(derived) is Size
    assert type(shape[0]) is int and shape.numel() == 24 and Size().numel() == 1


def test_truth_values_are_numbers():
    assert repr([*Size([True, 2])]) == "[1, 2]"


def test_copies():
    shape = Size([2, 3])
    for copied in (copy.copy(shape), copy.deepcopy(shape), pickle.loads(pickle.dumps(shape))):
        assert type(copied) is Size and copied == shape


CASES = {
    "empty": lambda S: S(),
    "list": lambda S: S([2, 3]),
    "iterator": lambda S: S(i for i in range(3)),
    "bool": lambda S: S([True]),
    "negative": lambda S: S([-1]),
    "numpy": lambda S: S([np.int64(3), np.int8(2)]),
    "array": lambda S: S(np.array([1, 2])),
    "array stays": lambda S: type(S(np.array([1, 2]))[0]),
    "index": lambda S: S([Four()]),
    "index becomes": lambda S: type(S([Four()])[0]),
    "number": lambda S: S(3),
    "float": lambda S: S([1.5]),
    "second": lambda S: S([1, "a"]),
    "none": lambda S: S([None]),
    "bytes": lambda S: S([b"a"]),
    "numpy float": lambda S: S([np.float64(2)]),
    "numpy bool": lambda S: S([np.bool_(True)]),
    "two": lambda S: S([1, 2], [3]),
    "keyword": lambda S: S(iterable=[1]),
    "numel": lambda S: S([2, 3]).numel(),
    "slice": lambda S: S([2, 3, 4])[1:],
    "key": lambda S: S([2])["a"],
    "beyond": lambda S: S([2])[3],
    "add": lambda S: S([2]) + (4,),
    "add float": lambda S: S([2]) + (1.5,),
    "add list": lambda S: S([2]) + [3],
    "add int": lambda S: S([2]) + 3,
    "add none": lambda S: S([2]) + None,
    "add array": lambda S: S([2]) + np.array([1]),
    "array add": lambda S: np.array([1]) + S([2]),
    "tuple add": lambda S: ("a",) + S([2]),
    "times": lambda S: S([2]) * 3,
    "times numpy": lambda S: S([2]) * np.int64(2),
    "times negative": lambda S: S([2]) * -1,
    "times float": lambda S: S([2]) * 1.5,
    "times size": lambda S: S([2]) * S([2]),
    "times array": lambda S: S([2]) * np.array([1.5]),
    "less": lambda S: operator.lt(S([1, 2]), S([1, 3])),
    "subclass": lambda S: type("Mine", (S,), {}),
    "count": lambda S: S([2, 3]).count(2),
    "inplace": lambda S: operator.iadd(S([2]), (3,)),
}


@pytest.mark.torch
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_as_torch(case):
    from tests.torch_reference import torch

    def outcome(kind):
        try:
            found = case(kind)
        except Exception as error:
            return type(error).__name__, str(error)
        return type(found).__name__, repr(found)

    assert outcome(Size) == outcome(torch.Size)
