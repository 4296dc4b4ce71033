"""Samples of operations on bits."""

from tests.samples import given, ints, mask, sample

_A, _B = ints(2, 3, low=-9, high=9), ints(2, 3, low=-9, high=9)

SAMPLES = [
    *(
        sample(name, a, b, inplace=place)
        for name in ("bitwise_and", "bitwise_or", "bitwise_xor")
        for a, b, place in (
            (_A, _B, True), (_A, ints(3), True), (_A, 5, True), (mask(4), mask(4), True), (mask(3), 1, False),
        )
    ),
    sample("bitwise_not", _A, inplace=True),
    sample("bitwise_not", mask(4)),
    sample("Tensor.__invert__", _A),
    *(
        sample(name, _A, b, inplace=True)
        for name in ("bitwise_left_shift", "bitwise_right_shift")
        for b in (ints(2, 3), 2, given([[0, 64, -1], [1, 70, 3]]))
    ),
    sample("Tensor.__and__", _A, 3),
    sample("Tensor.__ror__", _A, 3),
    sample("Tensor.__rxor__", _A, 3),
    sample("Tensor.__rlshift__", ints(3), 3),
    sample("Tensor.__rrshift__", ints(3), 30),
]
