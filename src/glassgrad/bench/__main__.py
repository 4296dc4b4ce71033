"""Roof: ``python -m glassgrad.bench``, the same as ``glassgrad bench``."""

import sys

from .command import main

if __name__ == "__main__":
    sys.exit(main())
