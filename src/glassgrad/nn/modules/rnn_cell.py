"""Recurrent cells, one step at a time: RNNCell, LSTMCell, GRUCell."""

from __future__ import annotations

import math
from typing import Any

from ...core.tensor import Tensor
from ...ops.composite import recurrent as rows
from ...ops.composite.create import empty, zeros
from .. import init
from ..parameter import Parameter
from .module import Module


class RNNCellBase(Module):
    """What recurrent cells share: the weights of ``num_chunks`` gates.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.RNNCell.html
    """

    __constants__ = ["input_size", "hidden_size", "bias"]

    _name = "RNNCell"  # in messages
    weight_ih: Parameter
    weight_hh: Parameter
    bias_ih: Parameter | None
    bias_hh: Parameter | None

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool, num_chunks: int, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        gates = num_chunks * hidden_size
        self.weight_ih = Parameter(empty((gates, input_size), device=device, dtype=dtype))
        self.weight_hh = Parameter(empty((gates, hidden_size), device=device, dtype=dtype))
        for name in ("bias_ih", "bias_hh"):
            self.register_parameter(name, Parameter(empty(gates, device=device, dtype=dtype)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw all weights anew, uniformly from +-1/sqrt(hidden_size)."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        if self.bias is not True:
            text += f", bias={self.bias}"
        if self.__dict__.get("nonlinearity", "tanh") != "tanh":
            text += f", nonlinearity={self.__dict__['nonlinearity']}"
        return text

    def _check(self, input: Any, states: dict[str, Any]) -> None:
        for name, value in {"input": input, **states}.items():
            if value.dim() not in (1, 2):
                raise ValueError(f"{self._name}: Expected {name} to be 1D or 2D, got {value.dim()}D instead")

    def _first_state(self, input: Any) -> Tensor:
        return zeros(input.size(0), self.hidden_size, dtype=input.dtype, device=input.device)

    def _weights(self) -> tuple[Any, ...]:
        return self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh


class _OneState(RNNCellBase):
    """A cell whose state is one tensor."""

    def _step(self, input: Any, hx: Any) -> Tensor:
        raise NotImplementedError

    def forward(self, input: Any, hx: Any = None) -> Tensor:
        """The next state (batch, hidden_size) from an input (batch, input_size) and the state, noughts if absent."""
        self._check(input, {} if hx is None else {"hidden": hx})
        is_batched = input.dim() == 2
        if not is_batched:
            input = input.unsqueeze(0)
        if hx is None:
            hx = self._first_state(input)
        elif not is_batched:
            hx = hx.unsqueeze(0)
        made = self._step(input, hx)
        return made if is_batched else made.squeeze(0)  # type: ignore[attr-defined]


class RNNCell(_OneState):
    """A step of recurrent units: ``tanh(x @ w_ih.T + b_ih + h @ w_hh.T + b_hh)``, or ReLU of it.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.RNNCell.html
    """

    __constants__ = ["input_size", "hidden_size", "bias", "nonlinearity"]

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, num_chunks=1, device=device, dtype=dtype)
        self.nonlinearity = nonlinearity

    def _step(self, input: Any, hx: Any) -> Tensor:
        if self.nonlinearity == "tanh":
            return rows.rnn_tanh_cell(input, hx, *self._weights())
        if self.nonlinearity == "relu":
            return rows.rnn_relu_cell(input, hx, *self._weights())
        raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")


class GRUCell(_OneState):
    """A step of gated recurrent units.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.GRUCell.html
    """

    _name = "GRUCell"

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__(input_size, hidden_size, bias, num_chunks=3, device=device, dtype=dtype)

    def _step(self, input: Any, hx: Any) -> Tensor:
        return rows.gru_cell(input, hx, *self._weights())


class LSTMCell(RNNCellBase):
    """A step of long short-term memory.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.LSTMCell.html
    """

    _name = "LSTMCell"

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__(input_size, hidden_size, bias, num_chunks=4, device=device, dtype=dtype)

    def forward(self, input: Any, hx: Any = None) -> tuple[Tensor, Tensor]:
        """The next hidden and cell state from an input (batch, input_size) and both states, noughts if absent."""
        self._check(input, {} if hx is None else {f"hx[{place}]": state for place, state in enumerate(hx)})
        is_batched = input.dim() == 2
        if not is_batched:
            input = input.unsqueeze(0)
        if hx is None:
            zeros = self._first_state(input)
            hx = (zeros, zeros)
        elif not is_batched:
            hx = (hx[0].unsqueeze(0), hx[1].unsqueeze(0))
        h, c = rows.lstm_cell(input, hx, *self._weights())
        return (h, c) if is_batched else (h.squeeze(0), c.squeeze(0))  # type: ignore[attr-defined]
