"""Any key, read and written, gives what torch gives: values, views, strides, gradients, versions, and errors."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

import glassgrad
from tests.counts import generated

pytestmark = pytest.mark.torch

SIZES = st.lists(st.integers(0, 4), min_size=0, max_size=4).map(tuple)
ENDS = st.none() | st.integers(-6, 6)
SLICES = st.builds(slice, ENDS, ENDS, st.sampled_from([None, 1, 2, 3]))


class Index:
    """An index tensor still to be made."""

    def __init__(self, values):
        self.values = values

    def __repr__(self):
        return f"Index({self.values.tolist()})"


@st.composite
def index_tensors(draw):
    """Index tensors of a few integers, mostly within small dimensions."""
    shape = draw(st.sampled_from([(), (1,), (2,), (3,), (2, 2), (1, 2), (0,)]))
    size = int(np.prod(shape))
    values = draw(st.lists(st.integers(-2, 2), min_size=size, max_size=size))
    return Index(np.array(values, "int64").reshape(shape))


@st.composite
def cases(draw):
    """A shape, and a key of which most parts fit it."""
    sizes = draw(SIZES)
    parts = []
    at = 0
    for _ in range(draw(st.integers(0, 4))):
        left = sizes[at:]
        kinds = ["none", "bool"] if not left else ["int", "slice", "slice", "tensor", "list", "mask", "none", "bool"]
        if ... not in parts:
            kinds.append("rest")
        kind = draw(st.sampled_from(kinds))
        if kind == "int":
            parts.append(draw(st.integers(-left[0] - 1, left[0])))
        elif kind == "slice":
            parts.append(draw(SLICES))
        elif kind == "tensor":
            parts.append(draw(index_tensors()))
        elif kind == "list":
            parts.append(draw(st.lists(st.integers(0, max(left[0] - 1, 0)), max_size=3)))
        elif kind == "mask":
            spread = draw(st.integers(1, min(2, len(left))))
            size = int(np.prod(left[:spread]))
            bits = draw(st.lists(st.booleans(), min_size=size, max_size=size))
            parts.append(Index(np.array(bits, bool).reshape(left[:spread])))
            at += spread - 1
        elif kind == "none":
            parts.append(None)
        elif kind == "bool":
            parts.append(draw(st.booleans()))
        else:
            parts.append(...)
        at += kind in ("int", "slice", "tensor", "list", "mask")
    key = parts[0] if len(parts) == 1 and draw(st.booleans()) else tuple(parts)
    return sizes, key


def made(engine, key):
    """The key with its index tensors made for one engine."""
    if isinstance(key, tuple):
        return tuple(made(engine, part) for part in key)
    return engine.from_numpy(key.values.copy()) if isinstance(key, Index) else key


def source(engine, sizes, requires_grad):
    """A tensor counted through, and the leaf it came from."""
    count = int(np.prod(sizes))
    leaf = engine.arange(float(count), dtype=engine.float64).reshape(sizes).clone()
    if requires_grad:
        leaf.requires_grad_()
        return leaf, leaf * 1
    return leaf, leaf


def attempt(action):
    """What an action gives, or the type and words of its error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return action()
        except (IndexError, RuntimeError, TypeError, ValueError) as error:
            return type(error).__name__, str(error)


def shown(tensor):
    """All that can be seen of a tensor."""
    return tuple(tensor.shape), tensor.detach().numpy().tolist(), str(tensor.dtype), tensor.requires_grad


def name(tensor):
    """The name of the node that made a tensor."""
    return None if tensor.grad_fn is None else type(tensor.grad_fn).__name__


ordinary = generated(200, suppress_health_check=[HealthCheck.too_slow])


@ordinary
@given(cases(), st.booleans())
def test_reading(case, requires_grad):
    """``x[key]`` and the gradient through it equal torch's."""
    from tests.torch_reference import torch

    sizes, key = case

    def read(engine):
        leaf, x = source(engine, sizes, requires_grad)
        part = x[made(engine, key)]
        found = [shown(part), part._is_view(), name(part)]
        if part._is_view() and part.numel():
            found += [part.stride(), part.storage_offset(), part.data_ptr() - x.data_ptr()]
        if requires_grad:
            weights = engine.arange(1.0, part.numel() + 1, dtype=engine.float64).reshape(tuple(part.shape))
            (grad,) = engine.autograd.grad((part * part * weights).sum(), leaf, create_graph=True)
            found.append(shown(grad)[:3])
            (again,) = engine.autograd.grad((grad * grad).sum(), leaf)
            found.append(shown(again)[:3])
        return found

    assert attempt(lambda: read(glassgrad)) == attempt(lambda: read(torch))


@ordinary
@given(cases(), st.sampled_from(["number", "scalar", "fits", "row", "misfit"]), st.booleans(), st.booleans())
def test_writing(case, kind, requires_grad, value_requires_grad):
    """``x[key] = value`` equals torch's: result, version, history and gradients; nothing changes where it fails."""
    from tests.torch_reference import torch

    sizes, key = case

    def write(engine):
        leaf, x = source(engine, sizes, requires_grad)
        chosen = made(engine, key)
        if kind == "number":
            value = 7.5
        elif kind == "scalar":
            value = engine.tensor(7.5, dtype=engine.float64)
        elif kind == "misfit":
            value = engine.ones(5, 7, dtype=engine.float64)
        else:
            part = tuple(x.detach()[chosen].shape)
            part = part if kind == "fits" else part[-1:]
            value = engine.arange(1.0, int(np.prod(part)) + 1, dtype=engine.float64).reshape(part)
        leaves = [leaf] if requires_grad else []
        if value_requires_grad and kind != "number":
            leaves.append(value.requires_grad_())
        before = shown(x)

        def put():
            x[chosen] = value

        failed = attempt(put)
        if failed is not None:
            if engine is glassgrad:  # torch writes what comes before a wrong index
                assert shown(x) == before and x._version == 0
            return failed
        found = [shown(x), x._version, name(x)]
        if x.requires_grad:
            weights = engine.arange(1.0, x.numel() + 1, dtype=engine.float64).reshape(sizes)
            grads = engine.autograd.grad((x * x * weights).sum(), leaves, allow_unused=True)
            found += [None if grad is None else shown(grad) for grad in grads]
        return found

    assert attempt(lambda: write(glassgrad)) == attempt(lambda: write(torch))
