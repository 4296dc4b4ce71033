"""What importing this package asks of the whole process: that threads rest, and that memory stays. Knows nothing."""

import os

# The threads of NumPy's OpenBLAS spin for 30 ms after each product, which takes a core from all other threads: let them
# rest after 2**17 ticks, some 50 us. It reads this when NumPy is first imported, so it comes before that.
os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "17")

import numpy as np  # noqa: E402

if int(np.__version__.partition(".")[0]) < 2:
    raise ImportError("glassgrad's engine needs NumPy 2; its explorer and watch serve PyTorch with this one")


def _keep_memory() -> None:
    """Let the GNU C library keep what is freed: it hands the arrays of a training step back to the system when they are
    freed, and the next step pays for each page again, a third of its time.

    The largest block that was freed tells it which blocks to take from memory that it keeps, at most of 32 MB, and to
    keep twice as much: this one is freed at once, and nobody ever touches its memory.
    """
    try:
        if os.confstr("CS_GNU_LIBC_VERSION"):
            np.empty((1 << 25) - (1 << 16), np.uint8)
    except (AttributeError, ValueError, OSError, MemoryError):  # another library; no room for it
        pass


_keep_memory()
