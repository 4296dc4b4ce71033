"""Recurrent layers over whole sequences: RNN, LSTM, GRU; padded or packed, several layers, both directions."""

from __future__ import annotations

import math
import numbers
import warnings
from typing import Any

from ...core.tensor import Tensor
from ...ground import modes
from ...nn import init
from ...nn.modules.module import Module
from ...nn.parameter import Parameter
from ...nn.utils.rnn import PackedSequence
from ..create.functions import empty, zeros
from . import functions as rows

_GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}
_FUNCTIONS = {"LSTM": rows.lstm, "GRU": rows.gru, "RNN_TANH": rows.rnn_tanh, "RNN_RELU": rows.rnn_relu}


def _apply_permutation(tensor: Any, permutation: Any, dim: int = 1) -> Any:
    return tensor.index_select(dim, permutation)


def apply_permutation(tensor: Any, permutation: Any, dim: int = 1) -> Any:
    """The samples in another order; an old spelling of ``index_select``."""
    warnings.warn(
        "`apply_permutation` is deprecated, please use `tensor.index_select(dim, permutation)` instead",
        FutureWarning,
        stacklevel=2,
    )
    return _apply_permutation(tensor, permutation, dim)


class RNNBase(Module):
    """What recurrent layers share: their weights, by layer and direction, and the checks of what they are given."""

    __constants__ = [
        "mode", "input_size", "hidden_size", "num_layers", "bias", "batch_first", "dropout", "bidirectional",
        "proj_size",
    ]  # fmt: skip
    _words = "{name}: Expected input to be 2D or 3D, got {ndim}D instead"

    def __init__(
        self,
        mode: str,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.mode, self.input_size, self.hidden_size, self.num_layers = mode, input_size, hidden_size, num_layers
        self.bias, self.batch_first, self.dropout = bias, batch_first, float(dropout)
        self.bidirectional, self.proj_size = bidirectional, proj_size
        self._check_arguments(dropout)
        if mode not in _GATES:
            raise ValueError("Unrecognized RNN mode: " + mode)
        gates = _GATES[mode] * hidden_size
        shown = proj_size or hidden_size
        self._flat_weights_names: list[str] = []
        self._all_weights: list[list[str]] = []
        for layer in range(num_layers):
            features = input_size if layer == 0 else shown * (2 if bidirectional else 1)
            for suffix in ("", "_reverse") if bidirectional else ("",):
                shapes: dict[str, Any] = {"weight_ih": (gates, features), "weight_hh": (gates, shown)}
                if bias:
                    shapes["bias_ih"] = shapes["bias_hh"] = gates
                if proj_size:
                    shapes["weight_hr"] = (proj_size, hidden_size)
                names = []
                for name, shape in shapes.items():
                    names.append(f"{name}_l{layer}{suffix}")
                    setattr(self, names[-1], Parameter(empty(shape, device=device, dtype=dtype)))
                self._flat_weights_names += names
                self._all_weights.append(names)
        self.reset_parameters()

    def _check_arguments(self, dropout: Any) -> None:
        if not isinstance(dropout, numbers.Number) or not 0 <= dropout <= 1 or isinstance(dropout, bool):  # type: ignore[operator]
            raise ValueError(
                "dropout should be a number in range [0, 1] representing the probability of an element being zeroed"
            )
        if dropout > 0 and self.num_layers == 1:  # type: ignore[operator]
            warnings.warn(
                "dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects "
                f"num_layers greater than 1, but got dropout={dropout} and num_layers={self.num_layers}",
                stacklevel=4,
            )
        for name, kind in (("bias", bool), ("batch_first", bool), ("input_size", int), ("hidden_size", int)):
            value = getattr(self, name)
            if not isinstance(value, kind):
                raise TypeError(f"{name} should be of type {kind.__name__}, got: {type(value).__name__}")
            if kind is int and value <= 0:
                raise ValueError(f"{name} must be greater than zero")
        if self.num_layers <= 0:
            raise ValueError("num_layers must be greater than zero")
        if self.proj_size < 0:
            raise ValueError("proj_size should be a positive integer or zero to disable projections")
        if self.proj_size >= self.hidden_size:
            raise ValueError("proj_size has to be smaller than hidden_size")

    def reset_parameters(self) -> None:
        """Draw all weights anew, uniformly from +-1/sqrt(hidden_size)."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    @property
    def _flat_weights(self) -> list[Any]:
        return [getattr(self, name, None) for name in self._flat_weights_names]

    @property
    def all_weights(self) -> list[list[Parameter]]:
        """The weights of each layer and direction."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    def flatten_parameters(self) -> None:
        """Do nothing: it matters to graphics processors only."""

    # -- checks -------------------------------------------------------------------------------------------------

    def check_input(self, input: Any, batch_sizes: Any) -> None:
        """Raise unless the input has the weights' dtype and the layer's number of features."""
        weight = getattr(self, self._flat_weights_names[0])
        if input.dtype != weight.dtype and not _autocasts():
            raise ValueError(
                f"RNN input dtype ({input.dtype}) does not match weight dtype ({weight.dtype}). Convert input: "
                f"input.to({weight.dtype}), or convert model: model.to({input.dtype})"
            )
        wanted = 3 if batch_sizes is None else 2
        if input.dim() != wanted:
            raise RuntimeError(f"input must have {wanted} dimensions, got {input.dim()}")
        if self.input_size != input.size(-1):
            raise RuntimeError(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got {input.size(-1)}"
            )

    def _state_size(self, input: Any, batch_sizes: Any, size: int) -> tuple[int, int, int]:
        batch = int(batch_sizes[0]) if batch_sizes is not None else input.size(0 if self.batch_first else 1)
        return self.num_layers * (2 if self.bidirectional else 1), batch, size

    def get_expected_hidden_size(self, input: Any, batch_sizes: Any) -> tuple[int, int, int]:
        """The sizes that the first hidden state must have."""
        return self._state_size(input, batch_sizes, self.proj_size or self.hidden_size)

    def check_hidden_size(
        self, hx: Any, expected_hidden_size: tuple[int, int, int], msg: str = "Expected hidden size {}, got {}"
    ) -> None:
        """Raise unless a state has the sizes it should have."""
        if hx.size() != expected_hidden_size:
            raise RuntimeError(msg.format(expected_hidden_size, list(hx.size())))

    def check_forward_args(self, input: Any, hidden: Any, batch_sizes: Any) -> None:
        """Raise unless input and first state fit the layer."""
        self.check_input(input, batch_sizes)
        self.check_hidden_size(hidden, self.get_expected_hidden_size(input, batch_sizes))

    def permute_hidden(self, hx: Any, permutation: Any) -> Any:
        """The state of the samples in another order."""
        return hx if permutation is None else _apply_permutation(hx, permutation)

    # -- the walk -----------------------------------------------------------------------------------------------

    def _first_state(self, input: Any, batch_sizes: Any) -> Any:
        return zeros(*self.get_expected_hidden_size(input, batch_sizes), dtype=input.dtype, device=input.device)

    def _batched_state(self, hx: Any, is_batched: bool) -> Any:
        """A given first state with a batch dimension."""
        if is_batched:
            if hx.dim() != 3:
                raise RuntimeError(f"For batched 3-D input, hx should also be 3-D but got {hx.dim()}-D tensor")
            return hx
        if hx.dim() != 2:
            raise RuntimeError(f"For unbatched 2-D input, hx should also be 2-D but got {hx.dim()}-D tensor")
        return hx.unsqueeze(1)

    def _unbatched_state(self, hidden: Any) -> Any:
        return hidden.squeeze(1)

    def _run(self, *args: Any) -> tuple[Any, Any]:
        """Output and last state of the function that computes this layer."""
        function: Any = _FUNCTIONS[self.mode]
        settings = (self._flat_weights, self.bias, self.num_layers, self.dropout, self.training, self.bidirectional)
        if len(args) == 2:
            return function(*args, *settings, self.batch_first)  # type: ignore[no-any-return]
        return function(*args, *settings)  # type: ignore[no-any-return]

    def forward(self, input: Any, hx: Any = None) -> tuple[Any, Any]:
        """The output at all steps, and the last state.

        ``input`` is (steps, batch, input_size), (batch, steps, input_size) with ``batch_first``, (steps, input_size)
        for one sample, or a ``PackedSequence``.  ``hx`` is the first state, zeros if absent.
        """
        if isinstance(input, PackedSequence):
            return self._forward_packed(input, hx)
        if input.dim() not in (2, 3):
            raise ValueError(self._words.format(name=self.mode.partition("_")[0], ndim=input.dim()))
        is_batched = input.dim() == 3
        batch_dim = 0 if self.batch_first else 1
        if not is_batched:
            input = input.unsqueeze(batch_dim)
        hx = self._first_state(input, None) if hx is None else self._batched_state(hx, is_batched)
        self.check_forward_args(input, hx, None)
        output, hidden = self._run(input, hx)
        if not is_batched:
            return output.squeeze(batch_dim), self._unbatched_state(hidden)
        return output, hidden

    def _forward_packed(self, packed: PackedSequence, hx: Any) -> tuple[PackedSequence, Any]:
        input, batch_sizes, sorted_indices, unsorted_indices = packed
        if hx is None:
            hx = self._first_state(input, batch_sizes)
        else:
            hx = self.permute_hidden(hx, sorted_indices)
        if self.mode != "LSTM":
            self.check_forward_args(input, hx, batch_sizes)
        output, hidden = self._run(input, batch_sizes, hx)
        packed_output = PackedSequence(output, batch_sizes, sorted_indices, unsorted_indices)
        return packed_output, self.permute_hidden(hidden, unsorted_indices)

    def extra_repr(self) -> str:
        parts = [f"{self.input_size}, {self.hidden_size}"]
        for name, usual in (
            ("proj_size", 0), ("num_layers", 1), ("bias", True), ("batch_first", False), ("dropout", 0),
            ("bidirectional", False),
        ):  # fmt: skip
            value = getattr(self, name)
            if value != usual:
                parts.append(f"{name}={value}")
        return ", ".join(parts)


def _autocasts() -> bool:
    """Whether an autocast block is going on, within which dtypes need not agree."""
    return bool(modes.watch) and modes.local.autocast is not None


def _refuse_projection(kwargs: dict[str, Any]) -> None:
    if "proj_size" in kwargs:
        raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")


class RNN(RNNBase):
    """Recurrent units: ``h' = tanh(x @ w_ih.T + b_ih + h @ w_hh.T + b_hh)``, or ReLU with ``nonlinearity="relu"``.

    ``RNN(input_size, hidden_size, num_layers=1, nonlinearity="tanh", bias=True, batch_first=False, dropout=0.0,
    bidirectional=False)``.  Gives the output (steps, batch, directions * hidden_size) of the last layer and the last
    state (layers * directions, batch, hidden_size) of all.
    """

    _words = "{name}: Expected input to be 2D or 3D, got {ndim}D tensor instead"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _refuse_projection(kwargs)
        if len(args) > 3:
            self.nonlinearity = args[3]
            args = args[:3] + args[4:]
        else:
            self.nonlinearity = kwargs.pop("nonlinearity", "tanh")
        if self.nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{self.nonlinearity}'. Select from 'tanh' or 'relu'.")
        super().__init__(f"RNN_{self.nonlinearity.upper()}", *args, **kwargs)


class GRU(RNNBase):
    """Gated recurrent units: a reset gate, an update gate, and the new state between old and candidate.

    ``GRU(input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0, bidirectional=False)``.
    Gives the output of the last layer and the last state of all, as ``RNN``.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _refuse_projection(kwargs)
        super().__init__("GRU", *args, **kwargs)


class LSTM(RNNBase):
    """Long short-term memory: gates decide what the cell forgets, takes in and shows.

    ``LSTM(input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0, bidirectional=False,
    proj_size=0)``.  Gives the output of the last layer, and the last hidden and cell state of all as a pair; with
    ``proj_size`` the hidden state is projected to so many features.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("LSTM", *args, **kwargs)

    def get_expected_cell_size(self, input: Any, batch_sizes: Any) -> tuple[int, int, int]:
        """The sizes that the first cell state must have."""
        return self._state_size(input, batch_sizes, self.hidden_size)

    def check_forward_args(self, input: Any, hidden: Any, batch_sizes: Any) -> None:
        """Raise unless input and both first states fit the layer."""
        self.check_input(input, batch_sizes)
        wanted = self.get_expected_hidden_size(input, batch_sizes), self.get_expected_cell_size(input, batch_sizes)
        for index in range(2):
            self.check_hidden_size(hidden[index], wanted[index], f"Expected hidden[{index}] size {{}}, got {{}}")

    def permute_hidden(self, hx: Any, permutation: Any) -> Any:
        """Both states of the samples in another order."""
        if permutation is None:
            return hx
        return _apply_permutation(hx[0], permutation), _apply_permutation(hx[1], permutation)

    def _first_state(self, input: Any, batch_sizes: Any) -> tuple[Tensor, Tensor]:
        sizes = self.get_expected_hidden_size(input, batch_sizes), self.get_expected_cell_size(input, batch_sizes)
        h, c = (zeros(*size, dtype=input.dtype, device=input.device) for size in sizes)
        return h, c

    def _batched_state(self, hx: Any, is_batched: bool) -> Any:
        h, c = hx[0].dim(), hx[1].dim()
        wanted, kind = (3, "batched") if is_batched else (2, "unbatched")
        if h != wanted or c != wanted:
            raise RuntimeError(
                f"For {kind} {wanted}-D input, hx and cx should also be {wanted}-D but got ({h}-D, {c}-D) tensors"
            )
        return hx if is_batched else (hx[0].unsqueeze(1), hx[1].unsqueeze(1))

    def _unbatched_state(self, hidden: Any) -> Any:
        return hidden[0].squeeze(1), hidden[1].squeeze(1)

    def _run(self, *args: Any) -> tuple[Any, Any]:
        output, *hidden = super()._run(*args)
        return output, tuple(hidden)


# -- Recurrent cells, one step at a time: RNNCell, LSTMCell, GRUCell.


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
        """The next state (batch, hidden_size) from an input (batch, input_size) and the state, zeros if absent."""
        self._check(input, {} if hx is None else {"hidden": hx})
        is_batched = input.dim() == 2
        if not is_batched:
            input = input.unsqueeze(0)
        if hx is None:
            hx = self._first_state(input)
        elif not is_batched:
            hx = hx.unsqueeze(0)
        state = self._step(input, hx)
        return state if is_batched else state.squeeze(0)  # type: ignore[attr-defined]


class RNNCell(_OneState):
    """A step of recurrent units: ``tanh(x @ w_ih.T + b_ih + h @ w_hh.T + b_hh)``, or ReLU of it."""

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
    """A step of gated recurrent units."""

    _name = "GRUCell"

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__(input_size, hidden_size, bias, num_chunks=3, device=device, dtype=dtype)

    def _step(self, input: Any, hx: Any) -> Tensor:
        return rows.gru_cell(input, hx, *self._weights())


class LSTMCell(RNNCellBase):
    """A step of long short-term memory."""

    _name = "LSTMCell"

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__(input_size, hidden_size, bias, num_chunks=4, device=device, dtype=dtype)

    def forward(self, input: Any, hx: Any = None) -> tuple[Tensor, Tensor]:
        """The next hidden and cell state from an input (batch, input_size) and both states, zeros if absent."""
        self._check(input, {} if hx is None else {f"hx[{index}]": state for index, state in enumerate(hx)})
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
