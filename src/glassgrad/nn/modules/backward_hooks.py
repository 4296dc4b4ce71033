"""Backward hooks of a module: two identities put around its ``forward``, at whose nodes the hooks are called."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

from ...autograd.function import Function
from ...core.tensor import Tensor
from ...ground import modes

_OLD = (
    "Using {a} hook{s} {case} is deprecated and will be removed in future versions. "
    "This hook will be missing some {of}."
)
_DOCUMENTED = " Please use register_full_backward_hook to get the documented behavior."


class BackwardHookFunction(Function):
    """The identity on several tensors."""

    @staticmethod
    def forward(ctx: Any, *args: Tensor) -> tuple[Tensor, ...]:
        ctx.mark_non_differentiable(*[arg for arg in args if not arg.requires_grad])
        return args

    @staticmethod
    def backward(ctx: Any, *args: Tensor) -> tuple[Tensor, ...]:
        return args


class Passage:
    """One passage through a module: from its outputs' gradients to its inputs' gradients."""

    def __init__(
        self, module: Any, hooks: Sequence[Callable[..., Any]], pre_hooks: Sequence[Callable[..., Any]]
    ) -> None:
        self.module, self.hooks, self.pre_hooks = module, hooks, pre_hooks
        self.n_inputs = self.n_outputs = -1
        self.inputs: list[int] | None = None  # which of the arguments are tensors
        self.outputs: list[int] | None = None
        self.grad_outputs: tuple[Any, ...] | None = None

    def enter(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments, led through a node that will see their gradients."""
        self.n_inputs = len(args)
        args, self.inputs = self._lead_through(args, self._at_inputs)
        return args

    def leave(self, result: Any) -> Any:
        """The result, led through a node that will see its gradient."""
        pieces = result if isinstance(result, tuple) else (result,)
        self.n_outputs = len(pieces)
        pieces, self.outputs = self._lead_through(pieces, self._at_outputs)
        return pieces if isinstance(result, tuple) else pieces[0]

    @staticmethod
    def _lead_through(pieces: tuple[Any, ...], hook: Callable[..., Any]) -> tuple[Any, list[int] | None]:
        positions = [i for i, piece in enumerate(pieces) if isinstance(piece, Tensor)]
        if not modes.grad_enabled() or not any(pieces[i].requires_grad for i in positions):
            return pieces, None
        led = BackwardHookFunction.apply(*[pieces[i] for i in positions])
        node = next(t.grad_fn for t in led if t.grad_fn is not None)
        node.register_hook(hook)
        whole = list(pieces)
        for position, tensor in zip(positions, led, strict=True):
            whole[position] = tensor
        return (tuple(whole) if type(pieces) is tuple else type(pieces)(*whole)), positions

    def _at_inputs(self, grad_inputs: tuple[Any, ...], _: Any) -> tuple[Any, ...] | None:
        if self.grad_outputs is None:
            return None  # a backward call that does not come from the outputs
        assert self.inputs is not None
        grads = _spread(self.inputs, grad_inputs, self.n_inputs)
        for hook in self.hooks:
            grads = _replaced(grads, hook(self.module, grads, self.grad_outputs), "hook", "grad_input")
        self.grad_outputs = None
        return tuple(grads[i] for i in self.inputs)

    def _at_outputs(self, _: Any, grad_outputs: tuple[Any, ...]) -> tuple[Any, ...]:
        assert self.outputs is not None
        grads = _spread(self.outputs, grad_outputs, self.n_outputs)
        for hook in self.pre_hooks:
            grads = _replaced(grads, hook(self.module, grads), "pre hook", "grad_output")
        self.grad_outputs = grads
        if self.inputs is None:
            self._without_inputs(grads)
        return tuple(grads[i] for i in self.outputs)

    def _without_inputs(self, grads: tuple[Any, ...]) -> None:
        warnings.warn(
            "Full backward hook is firing when gradients are computed with respect to module outputs since no inputs "
            "require gradients. See https://docs.pytorch.org/docs/main/generated/torch.nn.Module.html"
            "#torch.nn.Module.register_full_backward_hook for more details.",
            stacklevel=5,
        )
        for hook in self.hooks:
            answer = hook(self.module, (None,) * self.n_inputs, grads)
            if answer is not None and not (isinstance(answer, tuple) and all(piece is None for piece in answer)):
                raise RuntimeError(
                    "Backward hook for Modules where no input requires gradient should always return None or None for "
                    "all gradients."
                )
        self.grad_outputs = None


def _replaced(grads: tuple[Any, ...], answer: Any, hook: str, what: str) -> tuple[Any, ...]:
    """The gradients after a hook: its answer, if it gave one."""
    if answer is not None and len(answer) != len(grads):
        raise RuntimeError(
            f"Backward {hook} returned an invalid number of {what}, got {len(answer)}, but expected {len(grads)}"
        )
    return grads if answer is None else answer  # type: ignore[no-any-return]


def _spread(positions: Sequence[int], values: Sequence[Any], size: int) -> tuple[Any, ...]:
    spread: list[Any] = [None] * size
    for position, value in zip(positions, values, strict=True):
        spread[position] = value
    return tuple(spread)


def warn_of_old_hooks(inputs: Any, result: Any, node: Any) -> None:
    """Say where a hook of the old kind, at the last node of a module, sees less than it should."""
    results, arguments = _tensors(result), _tensors(inputs)
    if results is None:
        what = _OLD.format(
            a="non-full backward", s="s", of="of the grad_output",
            case="on a Module that does not return a single Tensor or a tuple of Tensors",
        ) + _DOCUMENTED  # fmt: skip
    elif arguments is None:
        what = _OLD.format(
            a="non-full backward", s="s", of="of the grad_input",
            case="on a Module that does not take as input a single Tensor or a tuple of Tensors",
        ) + _DOCUMENTED  # fmt: skip
    else:
        nodes = {r.grad_fn for r in results if r.grad_fn is not None}
        if not nodes or (len(nodes) == 1 and node not in nodes):
            case, of, more = "when outputs are nested in python data structure", "grad_output", ""
        elif len(nodes) > 1:
            case, of, more = "when outputs are generated by different autograd Nodes", "grad_output", _DOCUMENTED
        elif {i.grad_fn for i in arguments if i.grad_fn is not None} != {edge[0] for edge in node.next_functions}:
            case, of, more = "when the forward contains multiple autograd Nodes", "grad_input", _DOCUMENTED
        else:
            return
        what = _OLD.format(a="a non-full backward", s="", case=case, of=of) + more
    warnings.warn(what, FutureWarning, stacklevel=6)


def _tensors(value: Any) -> tuple[Tensor, ...] | None:
    if isinstance(value, Tensor):
        return (value,)
    return value if isinstance(value, tuple) and all(isinstance(piece, Tensor) for piece in value) else None
