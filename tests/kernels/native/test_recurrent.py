"""Compiled recurrent layers against their NumPy form: padded and packed, both directions, any number of threads."""

import numpy as np
import pytest

pytest.importorskip("numba", reason="Numba compiles these kernels")

from glassgrad.families.recurrent import kernels as recurrent
from glassgrad.families.recurrent.kernels import Way
from glassgrad.ground import runtime
from glassgrad.kernels import compiled

BOUNDS = {"f4": 3e-5, "f8": 1e-12}
GATES = {"lstm": 4, "gru": 3, "tanh": 1, "relu": 1}
PACKED = (11, 9, 9, 4, 1)


def _layer(kind, dtype, shape, batch, hidden, seed=0):
    """Input, weights, biases, first states and arriving gradients."""
    draw = np.random.default_rng(seed)
    rows, features = GATES[kind] * hidden, shape[-1]

    def made(*sizes, scale=1.0):
        return (draw.standard_normal(sizes) * scale).astype(dtype)

    weights = [made(rows, features, scale=0.2), made(rows, hidden, scale=0.2), made(rows), made(rows)]
    states = [made(batch, hidden) for _ in range(2 if kind == "lstm" else 1)]
    grads = [made(*shape[:-1], hidden), *(made(batch, hidden) for _ in states)]
    return made(*shape), weights, states, grads


def _both_ways(kind, way, x, weights, states, grads):
    needs = (True,) * 8
    if kind == "lstm":
        *made, reserve = recurrent.lstm_forward(way, True, x, *weights, *states)
        back = recurrent.lstm_backward(way, needs, *grads, reserve, x, *weights, *states)
    elif kind == "gru":
        *made, reserve = recurrent.gru_forward(way, x, *weights, *states)
        back = recurrent.gru_backward(way, needs, *grads, x, *weights, *states, reserve)
    else:
        *made, reserve = recurrent.rnn_forward(way, kind == "relu", x, *weights, *states)
        back = recurrent.rnn_backward(way, kind == "relu", needs, *grads, x, *weights, *states, reserve)
    return [*made, *back], reserve.ndim == 2


def _agree(found, wanted, bound):
    assert len(found) == len(wanted)
    for a, b in zip(found, wanted, strict=True):
        if a is None or b is None:
            assert a is b
            continue
        assert a.shape == b.shape and a.dtype == b.dtype
        np.testing.assert_allclose(a, b, rtol=bound * 10, atol=bound * max(1.0, float(np.abs(b).max())))


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("kind", GATES)
@pytest.mark.parametrize(
    ("shape", "batch", "hidden", "sizes"),
    [
        ((5, 16, 12), 16, 32, None),
        ((4, 1, 7), 1, 64, None),
        ((3, 13, 1), 13, 5, None),
        ((1, 2, 3), 2, 1, None),
        ((34, 6), 11, 10, PACKED),
    ],
)
@pytest.mark.parametrize("reverse", [False, True])
def test_as_numpy(kind, dtype, shape, batch, hidden, sizes, reverse):
    given = _layer(kind, dtype, shape, batch, hidden)
    way = Way(sizes, reverse)
    with compiled.serving(compiled.NEVER):
        wanted, native = _both_ways(kind, way, *given)
        assert not native
    with compiled.serving(0):
        found, native = _both_ways(kind, way, *given)
        assert native
    _agree(found, wanted, BOUNDS[dtype])


@pytest.mark.parametrize("kind", GATES)
def test_memory_in_another_order(kind):
    x, weights, states, grads = _layer(kind, "f4", (6, 9, 8), 9, 16)
    turned = np.ascontiguousarray(x.swapaxes(0, 1)).swapaxes(0, 1)
    columns = [np.asfortranarray(weight) for weight in weights]
    arriving = [np.asfortranarray(grad) for grad in grads]
    with compiled.serving(0):
        wanted, _ = _both_ways(kind, Way(None, False), x, weights, states, grads)
        found, _ = _both_ways(kind, Way(None, False), turned, columns, states, arriving)
    _agree(found, wanted, 1e-5)


@pytest.mark.parametrize("kind", GATES)
def test_gradients_that_never_came_and_that_nobody_wants(kind):
    x, weights, states, grads = _layer(kind, "f4", (4, 8, 6), 8, 16)
    way, made = Way(None, False), []
    for least in (compiled.NEVER, 0):
        with compiled.serving(least):
            for needs in ((True, False, True, False, False), (False, True, False, True, True)):
                if kind == "lstm":
                    reserve = recurrent.lstm_forward(way, True, x, *weights, *states)[-1]
                    needs = (*needs, True, False, False)
                    back = recurrent.lstm_backward(way, needs, None, None, grads[2], reserve, x, *weights, *states)
                elif kind == "gru":
                    reserve = recurrent.gru_forward(way, x, *weights, *states)[-1]
                    back = recurrent.gru_backward(way, (*needs, True), None, grads[1], x, *weights, *states, reserve)
                else:
                    relu = kind == "relu"
                    reserve = recurrent.rnn_forward(way, relu, x, *weights, *states)[-1]
                    back = recurrent.rnn_backward(
                        way, relu, (*needs, True), None, grads[1], x, *weights, *states, reserve
                    )
                wanted = [piece for piece, needed in zip(back, needs, strict=False) if needed]
                made.append((least, wanted))
    for (_, wanted), (_, found) in zip(made[:2], made[2:], strict=True):
        _agree(found, wanted, 3e-5)


@pytest.mark.parametrize("kind", ["lstm", "gru", "tanh"])
def test_the_number_of_threads_changes_no_bit(kind, monkeypatch):
    given = _layer(kind, "f4", (32, 37, 64), 37, 64)
    made = []
    for threads in (1, 2, 3):
        monkeypatch.setattr(runtime, "get_num_threads", lambda threads=threads: threads)
        with compiled.serving(0):
            made.append(_both_ways(kind, Way(None, False), *given)[0])
    for others in made[1:]:
        for one, other in zip(made[0], others, strict=True):
            assert (one is None and other is None) or one.tobytes() == other.tobytes()


@pytest.mark.parametrize("kind", GATES)
@pytest.mark.parametrize("extreme", [np.inf, -np.inf, np.nan, 1e30, -1e30, 1e-40])
def test_extreme_numbers(kind, extreme):
    x, weights, states, grads = _layer(kind, "f4", (3, 8, 4), 8, 16)
    x[0, 2, 1] = extreme
    made = []
    with np.errstate(all="ignore"):
        for least in (compiled.NEVER, 0):
            with compiled.serving(least):
                made.append(_both_ways(kind, Way(None, False), x, weights, states, grads)[0][0])
    np.testing.assert_array_equal(np.isnan(made[0]), np.isnan(made[1]))
    np.testing.assert_array_equal(np.isinf(made[0]), np.isinf(made[1]))
    finite = np.isfinite(made[0])
    np.testing.assert_allclose(made[1][finite], made[0][finite], rtol=1e-4, atol=1e-5)


def test_integers_and_projections_stay_with_numpy():
    assert compiled.recurrent.rnn_forward(Way(None, False), False, np.ones((2, 3, 4), "i8"), *[None] * 5) is None
    x, weights, states, _ = _layer("lstm", "f4", (3, 4, 5), 4, 6)
    weights[1] = np.ascontiguousarray(weights[1][:, :2])
    projection = np.ones((2, 6), "f4")
    with compiled.serving(0):
        reserve = recurrent.lstm_forward(Way(None, False), True, x, *weights, states[0][:, :2], states[1], projection)
    assert reserve[-1].ndim == 1
