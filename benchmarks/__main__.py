"""The benchmark of a clone: the same as ``glassgrad bench``, also where glassgrad is not installed."""

import sys
from pathlib import Path

try:
    from glassgrad.bench.command import main
except ModuleNotFoundError as error:
    if error.name != "glassgrad":
        raise
    sys.path.append(str(Path(__file__).resolve().parents[1] / "src"))
    from glassgrad.bench.command import main

if __name__ == "__main__":
    sys.exit(main())
