"""The memory of this process in bytes, now and at its highest."""

from __future__ import annotations

import sys

__all__ = ["forget_peak", "peak", "resident"]


def _status(key: str) -> int | None:
    """A line of Linux's account of the process, or None elsewhere."""
    try:
        with open("/proc/self/status", encoding="utf-8") as file:
            for line in file:
                if line.startswith(key):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return None


def peak() -> int:
    """The highest memory so far.

    Linux: the process's own high-water mark, because ``ru_maxrss`` there begins with that of the parent, whose memory
    a child holds until it starts its program.
    """
    own = _status("VmHWM:")
    if own is not None:
        return own
    import resource

    highest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return highest if sys.platform == "darwin" else highest * 1024


def resident() -> int:
    """The memory now; where the system does not tell, the highest so far."""
    own = _status("VmRSS:")
    return peak() if own is None else own


def forget_peak() -> None:
    """Let the highest memory be that of now, where the system can."""
    try:
        with open("/proc/self/clear_refs", "w", encoding="utf-8") as file:
            file.write("5\n")
    except OSError:
        pass
