"""The operations, a folder for each part of mathematics: ``native < kernels < rows < functions < layers``, as needed.

A family's own file says what the family publishes as ``torch.nn.functional`` and ``torch.nn``; rows and functions are
published by being declared.
"""

import os as _os

from ..core import row as _row
from ..kernels import columns as _columns

_row.kernel_of = _columns.kernel_of
if _os.environ.get("GLASSGRAD_FAST") != "0":  # the one place that switches it on: rows need their callers from now on
    from .. import fast as _fast

    _fast.switch_on()
