"""Roof: ``python -m glassgrad``, the same as the ``glassgrad`` command."""

import sys

from .cli import main

if __name__ == "__main__":
    sys.exit(main())
