"""``hash_tensor``: the bits of all elements combined."""

import pytest

from tests.agreement import check

pytestmark = [pytest.mark.torch, pytest.mark.once]


@pytest.mark.parametrize(
    "dtype", "float32 float64 float16 bfloat16 int8 int16 int32 int64 uint8 bool complex64".split()
)
def test_hashes(dtype):
    def program(torch, show):
        x = (torch.arange(24).reshape(2, 3, 4) - 5).to(getattr(torch, dtype))
        for settings in (
            {},
            {"dim": 0},
            {"dim": -1, "keepdim": True},
            {"dim": (0, 2)},
            {"dim": ()},
            {"mode": 1},
            {"dim": 5},
        ):
            show.error(lambda settings=settings: torch.hash_tensor(x, **settings), str(settings))
        show.error(lambda: x.hash_tensor(), "method")
        show.error(lambda: x[0, 0, 0].hash_tensor(), "a number")
        show.error(lambda: torch.hash_tensor(x[:0]), "empty")
        show.error(lambda: torch.hash_tensor(x[:0], 0), "empty, along a dimension")
        show.error(lambda: torch.hash_tensor(x[:, ::2].transpose(0, 1), 1), "not contiguous")

    check(program)
