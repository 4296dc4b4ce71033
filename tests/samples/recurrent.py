"""Samples of recurrent layers and cells."""

from __future__ import annotations

from typing import Any

from . import Sample, T, sample, t


def _params(gates: int, features: int, hidden: int, bias: bool = True, shown: int = 0) -> list[T]:
    """The weights of one layer: of input and state, biases, projection."""
    how: dict[str, Any] = {"low": -0.8, "high": 0.8}
    made = [t(gates * hidden, features, **how), t(gates * hidden, shown or hidden, **how)]
    if bias:
        made += [t(gates * hidden, **how), t(gates * hidden, **how)]
    return [*made, t(shown, hidden, **how)] if shown else made


def _layer(
    name: str, label: str, x: T, hx: Any, params: list[T], layers: int = 1, both_ways: bool = False,
    batch_first: bool = False, biased: bool = True, **how: Any,
) -> Sample:  # fmt: skip
    return sample(name, x, hx, params, biased, layers, 0.0, False, both_ways, batch_first, label=label, **how)


X, H, BY_BATCH = t(3, 2, 4), t(1, 2, 3), t(2, 3, 4)
TWO_LAYERS = [*_params(1, 4, 3), *_params(1, 4, 3), *_params(1, 6, 3), *_params(1, 6, 3)]
BOTH = [*_params(4, 4, 3, False), *_params(4, 4, 3, False)]
STATES = [t(2, 2, 3), t(2, 2, 3)]
DOUBLE = ("float64",)

# second=False: oneDNN's layer has no second derivative
SAMPLES = [
    _layer("lstm", "one", X, [H, H], _params(4, 4, 3), only=("float32",), second=False),
    _layer("lstm", "double", X, [H, H], _params(4, 4, 3), only=DOUBLE),
    _layer("lstm", "both ways", BY_BATCH, STATES, BOTH, 1, True, True, False, only=DOUBLE),
    _layer("lstm", "projected", X, [t(1, 2, 2), H], _params(4, 4, 3, shown=2), only=DOUBLE),
    _layer("gru", "one", X, H, _params(3, 4, 3)),
    _layer("gru", "batch first", BY_BATCH, H, _params(3, 4, 3, False), batch_first=True, biased=False),
    _layer("rnn_tanh", "one", X, H, _params(1, 4, 3)),
    _layer("rnn_tanh", "two layers both ways", X, t(4, 2, 3), TWO_LAYERS, 2, True),
    _layer("rnn_relu", "one", X, H, _params(1, 4, 3)),
    sample("rnn_tanh_cell", t(2, 4), t(2, 3), *_params(1, 4, 3), label="cell"),
    sample("rnn_relu_cell", t(2, 4), t(2, 3), *_params(1, 4, 3, False), label="no bias"),
    sample("lstm_cell", t(2, 4), [t(2, 3), t(2, 3)], *_params(4, 4, 3), label="cell"),
    sample("lstm_cell", t(2, 4), [t(2, 3), t(2, 3)], *_params(4, 4, 3, False), label="no bias"),
    sample("gru_cell", t(2, 4), t(2, 3), *_params(3, 4, 3), label="cell"),
    sample("gru_cell", t(2, 4), t(2, 3), *_params(3, 4, 3, False), label="no bias"),
]
