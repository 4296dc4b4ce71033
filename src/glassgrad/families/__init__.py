"""The operations, a folder for each part of mathematics: ``native < kernels < rows < functions < layers``, as needed.

A family's own file says what the family publishes as ``torch.nn.functional`` and ``torch.nn``; rows and functions are
published by being declared.
"""

import os as _os
from typing import Any as _Any

from ..core import row as _row


def _first_kernel_of(row: _Any) -> _Any:
    from ..kernels.columns import kernel_of  # many programs meet no row with such columns

    _row.kernel_of = kernel_of
    return kernel_of(row)


_row.kernel_of = _first_kernel_of
if _os.environ.get("GLASSGRAD_FAST") != "0":  # the one place that switches it on: rows need their callers from now on
    from .. import fast as _fast

    _fast.switch_on()
