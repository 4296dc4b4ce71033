"""Graphs of a hundred thousand operations, or of many for a small stack: no recursion, and no harm when they die."""

import os
import subprocess
import sys
import textwrap

import pytest

from glassgrad.explore import graph_text, make_dot

N = 100_000

# Each program builds a deep torch graph, lets the explorer touch every node, and lets go of it.  It runs in a thread
# whose stack of 1 MiB overflows at an eighth of the depth that the usual one of 8 MiB does.
DEPTH = 20_000
LETTING_GO = {
    "whole": "y = chain(x, 2 * DEPTH); touch(y); del y",
    "top first": "m = chain(x, DEPTH + 777); y = chain(m, DEPTH); touch(y); del y; del m",
    "touched twice": "m = chain(x, DEPTH + 777); touch(m); y = chain(m, DEPTH); touch(y); del m; del y",
    "two branches": "y = chain(x, DEPTH) + chain(x, DEPTH); touch(y); del y",
    "after backward": "y = chain(x, DEPTH); touch(y); y.backward(); del y",
    "ladder": textwrap.dedent("""
        h = [x] * 4
        for _ in range(4_000):
            s = h[0] + h[1] + h[2] + h[3]
            h = [s * 1.0, s * 2.0, s * 3.0, s * 4.0]
        touch(tuple(h)); del s
        while h: h.pop()
    """),
}


def test_a_long_chain_is_drawn(engine):
    x = engine.ones((), requires_grad=True)
    y = x
    count = N if engine.__name__ == "glassgrad" else DEPTH  # a drawing knows no engine; test_pains reads N of torch's
    for _ in range(count):
        y = y * 1.5
    dot = make_dot(y, {"x": x})
    source = dot.source
    assert source.count("MulBackward0") == count
    assert source.count(" -> ") == count + 2
    text = graph_text(y, {"x": x})
    assert text.count("\n") == count + 1
    assert text.endswith("x.grad ()")
    svg = dot.pipe("svg", encoding="utf-8")
    assert svg.count("MulBackward0") == count
    assert svg.count("<polygon") == count + 2


def test_a_wide_fan_is_drawn(engine):
    leaves = [engine.ones(1, requires_grad=True) for _ in range(3_000)]
    dot = make_dot(engine.stack(leaves).sum())
    assert dot.pipe("svg", encoding="utf-8").count("<polygon") == 6_002


@pytest.mark.torch
@pytest.mark.parametrize("name", LETTING_GO)
def test_a_torch_graph_can_be_freed_after_it_was_read(name):
    from tests.torch_reference import torch

    assert torch is not None
    program = textwrap.dedent(f"""
        import threading
        import torch
        from glassgrad.explore import graph_lines
        DEPTH = {DEPTH}
        x = torch.ones((), requires_grad=True)
        def chain(y, n):
            for _ in range(n): y = y * 1.5
            return y
        def touch(y):
            for _ in graph_lines(y): pass
        def live_and_let_go():
        {textwrap.indent(LETTING_GO[name].strip(), "    ").replace(chr(10), chr(10) + " " * 8)}
            print("alive")
        threading.stack_size(1 << 20)
        thread = threading.Thread(target=live_and_let_go)
        thread.start()
        thread.join()
    """)
    paths = os.pathsep.join(path for path in sys.path if path)
    env = {**os.environ, "PYTHONPATH": paths}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, env=env)
    assert (done.returncode, done.stdout) == (0, "alive\n"), done.stderr[-2_000:]


@pytest.mark.torch
def test_shallow_torch_graphs_get_no_metadata():
    from tests.torch_reference import torch

    x = torch.ones((), requires_grad=True)
    y = x * 2
    make_dot(y)
    assert not y.grad_fn.metadata
