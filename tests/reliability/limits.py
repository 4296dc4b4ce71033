"""Narrow circumstances: a nearly full stack, a collector that sleeps, a memory that is watched."""

import contextlib
import gc
import sys

import glassgrad


@contextlib.contextmanager
def shallow_stack(frames=60):
    """Inside, only so many calls may be nested: whatever walks a graph by recursion fails."""
    depth, frame = 0, sys._getframe()
    while frame is not None:
        depth, frame = depth + 1, frame.f_back
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(depth + frames)
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


@contextlib.contextmanager
def sleeping_collector():
    """Inside, cycles stay: what is gone was freed by its last reference."""
    gc.collect()
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()


def left_to_the_collector(act):
    """What ``act`` leaves behind that only the collector finds, as type names; ours, and what holds ours."""
    act()  # whatever is made on first use is made now
    gc.collect()
    flags = gc.get_debug()
    with sleeping_collector():
        act()
        gc.set_debug(gc.DEBUG_SAVEALL)
        try:
            gc.collect()
            found = [type(thing) for thing in gc.garbage]
        finally:
            gc.set_debug(flags)
            gc.garbage.clear()
            gc.collect()
    ours = (glassgrad.Tensor, glassgrad.autograd.graph.Node)
    return [kind.__name__ for kind in found if issubclass(kind, ours) or kind.__module__.startswith("glassgrad")]
