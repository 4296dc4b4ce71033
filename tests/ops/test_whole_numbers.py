"""What gives floating point numbers cannot be written over whole ones, of any size."""

import pytest

import glassgrad
from glassgrad.core.row import TABLE
from tests.agreement import check

pytestmark = [pytest.mark.torch, pytest.mark.once]
NAMES = sorted(
    name for name, row in TABLE.items() if row.typed == "float" and len(row.inputs) == 1 and not row.listed
    and hasattr(glassgrad.Tensor, f"{name}_")
)  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("numbers", [[1, 2, 3], [0], range(1, 3000)])
def test_in_place(name, numbers):
    def program(torch, show):
        x = torch.tensor(list(numbers))
        settings = {"polygamma": (1,), "mvlgamma": (1,)}.get(name, ())
        show.error(lambda: getattr(x, f"{name}_")(*settings), "refused", words=name != "mvlgamma")
        show("as it was", x.sum())

    check(program)
