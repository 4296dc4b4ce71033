"""A program of its own: a million operations built, differentiated and freed on a nearly full stack; prints JSON.

    python -m tests.reliability.million [multiplications|additions|views|mixed] [length]
"""

import gc
import json
import resource
import sys
import time
import weakref

import glassgrad

LONGEST_STACK = 100


def multiplications(x, length):
    """x times x times x ..."""
    y = x
    for _ in range(length):
        y = y * x
    return y


def additions(x, length):
    """One more, and one more: the constant has no edge."""
    y = x
    for _ in range(length):
        y = y + 1.0
    return y


def views(x, length):
    """The transpose of the transpose of ..., every tenth time a row taken out and put back."""
    y = x.reshape(1, 1)
    for step in range(length):
        y = y.transpose(0, 1) if step % 10 else y[0].unsqueeze(0)
    return y.sum()


def mixed(x, length):
    """Writes in place, clones, and forks that join."""
    y = x * 1
    for step in range(length // 3):
        y = (y.add_(1.0) if step % 2 else y.clone()) + (y * 0.0)
    return y


def main(name="multiplications", length="1000000"):
    """Build, differentiate and free; tell the gradient, the seconds and the bytes for each operation."""
    count = int(length)
    build = globals()[name]
    x = glassgrad.tensor(1.0, requires_grad=True)
    build(x, 30).backward()
    x.grad = None
    gc.collect()
    gc.disable()
    sys.setrecursionlimit(LONGEST_STACK)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    y = build(x, count)
    built = time.perf_counter()
    y.backward()
    walked = time.perf_counter()
    gone = weakref.ref(y.grad_fn._record)
    del y
    freed = time.perf_counter()
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    dropped = build(x, count)  # and once more, without a backward
    other = weakref.ref(dropped.grad_fn._record)
    del dropped
    print(
        json.dumps(
            {
                "gradient": x.grad.item(),
                "freed": gone() is None and other() is None,
                "unreachable": gc.collect(),
                "bytes": (after - before) * 1024 / count,
                "build": built - start,
                "backward": walked - built,
                "free": freed - walked,
            }
        )
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
