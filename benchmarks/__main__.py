"""``python -m benchmarks`` from the root of a clone, also where glassgrad is not installed."""

import sys
from importlib.util import find_spec
from pathlib import Path

if find_spec("glassgrad") is None:
    sys.path.append(str(Path(__file__).resolve().parents[1] / "src"))

from .command import main  # noqa: E402

if __name__ == "__main__":
    sys.exit(main())
