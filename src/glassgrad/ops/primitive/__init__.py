"""Rows: kernel and rules, nothing else; one file for each family of the mathematics."""

import os as _os

from ...core import row as _row
from ...kernels import compiled as _compiled

_row.natively = _compiled.natively
if _os.environ.get("GLASSGRAD_FAST") != "0":  # the one place that switches it on: rows need their callers from now on
    from ... import fast as _fast

    _fast.switch_on()
