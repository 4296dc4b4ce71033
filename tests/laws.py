"""What the laws of ``test_every_op.py`` share: making the inputs of a sample, calling it, walking graphs."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np

import glassgrad
from glassgrad.core.row import TABLE
from tests.samples import Sample, T


class Call:
    """One sample made ready for one engine (the module torch, or glassgrad) and dtype."""

    def __init__(self, sample: Sample, engine: Any, dtype: str, requires_grad: bool = True) -> None:
        self.sample, self.engine, self.dtype = sample, engine, dtype
        self.rng = np.random.default_rng(zlib.crc32(sample.id.encode()))
        self.requires_grad = requires_grad
        self.leaves: list[Any] = []
        self.args = [self.made(a) for a in sample.args]
        self.kwargs = {key: self.made(a) for key, a in sample.kwargs.items()}

    def made(self, value: Any) -> Any:
        """An argument with every ``T`` in it made a tensor."""
        if isinstance(value, T):
            return self.tensor(value)
        if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
            return type(value)(self.made(v) for v in value)
        if isinstance(value, slice):
            return value
        if isinstance(value, str) and value.startswith("dtype:"):
            return getattr(self.engine, value[6:])
        return value

    def tensor(self, spec: T) -> Any:
        """The tensor of a spec; float and complex ones are leaves."""
        array = spec.array(self.rng, self.dtype)
        grad = spec.grad and self.requires_grad and spec.kind in ("float", "complex") and self.sample.gradient
        if spec.layout == "transposed":
            base = self.engine.from_numpy(np.ascontiguousarray(np.swapaxes(array, -1, -2)))
            made = base.transpose(-1, -2)
        elif spec.layout == "strided":
            wide = np.zeros((*array.shape[:-1], array.shape[-1] * 2), array.dtype)
            wide[..., ::2] = array
            made = self.engine.from_numpy(wide)[..., ::2]
        elif spec.layout == "expanded":
            made = self.engine.from_numpy(np.ascontiguousarray(array[:1])).expand(*array.shape)
        else:
            made = self.engine.from_numpy(np.array(array))
        made = made.detach()
        if grad and (made.is_floating_point() or made.is_complex()):
            made.requires_grad_()
            self.leaves.append(made)
        return made

    def function(self) -> Any:
        """What the sample's name means in this engine."""
        name = self.sample.name
        if name.startswith("row."):
            return TABLE[name[4:]].caller
        if name.startswith("Tensor."):
            method = name[7:]
            return lambda self_, *args, **kwargs: getattr(self_, method)(*args, **kwargs)
        found = self.engine
        for part in name.split("."):
            found = getattr(found, part)
        return found

    def __call__(self) -> list[Any]:
        """The outputs of the call, flat."""
        self.engine.default_generator.manual_seed(0)  # torch.manual_seed writes down its caller's stack for GPUs
        return flat(self.function()(*self.args, **self.kwargs))

    def reference(self) -> list[Any]:
        """What the sample's NumPy reference gives for the same arguments, as arrays, flat."""
        return [np.asarray(value) for value in flat(self.sample.reference(*plain(self.args), **plain(self.kwargs)))]

    def differentiable(self, outputs: list[Any]) -> list[Any]:
        """The outputs that carry gradients."""
        return [out for out in outputs if hasattr(out, "requires_grad") and out.requires_grad]

    def weights(self, outputs: list[Any], seed: int = 7) -> list[Any]:
        """Random cotangents for outputs, the same for both engines."""
        rng = np.random.default_rng(seed)
        made = []
        for out in outputs:
            values = rng.uniform(-1, 1, tuple(out.shape))
            if out.is_complex():
                values = values + 1j * rng.uniform(-1, 1, tuple(out.shape))
            made.append(self.engine.from_numpy(np.asarray(values)).to(out.dtype))
        return made


def flat(value: Any) -> list[Any]:
    """The pieces of nested outputs."""
    if isinstance(value, (list, tuple)):
        return [piece for part in value for piece in flat(part)]
    return [value]


def plain(value: Any) -> Any:
    """Arguments with every tensor in them an array."""
    if isinstance(value, dict):
        return {key: plain(piece) for key, piece in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(plain(piece) for piece in value)
    return array(value) if isinstance(value, glassgrad.Tensor) else value


def array(value: Any) -> np.ndarray[Any, Any]:
    """The values of a tensor of either engine (bfloat16 as float32)."""
    value = value.detach().resolve_conj().clone()
    if "bfloat16" in str(value.dtype):
        value = value.float()
    return np.asarray(value.numpy(force=True) if value.__module__.startswith("torch") else value.numpy())


def graph(output: Any) -> list[Any]:
    """A graph as names: each node's name, and the numbers of the nodes its edges lead to, breadth first."""
    if output.grad_fn is None:
        return []
    order = [output.grad_fn]
    numbers = {id(output.grad_fn): 0}
    rows = []
    for node in order:
        edges = []
        for onward, nr in node.next_functions:
            if onward is None:
                edges.append(None)
                continue
            if id(onward) not in numbers:
                numbers[id(onward)] = len(order)
                order.append(onward)
            edges.append((numbers[id(onward)], nr))
        rows.append((type(node).__name__, edges))
    return rows
