"""``import glassgrad.why``: from here on the program is watched, and what fails is answered with cause and line.

With ``pytest -p glassgrad.why`` it is each test. ``glassgrad why SCRIPT`` does it for a script that says nothing of it.
"""

from .watch.armed import THIS
from .watch.testing import *  # noqa: F403 - the hooks of a pytest plugin

THIS.arm()
