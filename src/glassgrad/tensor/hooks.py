"""Hooks: what runs when a gradient passes a tensor, a record or a leaf, in PyTorch's order.

The order at one place: hooks of the tensor, ``retain_grad``, prehooks of the node, the node, its hooks; for a leaf the
accumulation and then its post-accumulate-grad hooks.  An :class:`About` stands beside each record and leaf that has
any, and the engine asks it at these moments; records and leaves without one cost nothing.
"""

from __future__ import annotations

import weakref
from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ..core import engine, leaf
from ..core.record import OUTPUT, Bundle, Record, freed, output_number
from ..core.tensor import Tensor, wrap
from ..ground import dtypes, errors, modes
from ..ground.handle import RemovableHandle, register


def hooks_of(edge: Any) -> Hooks:
    """The hooks and metadata of a record or leaf, made on first use."""
    hooks: Hooks | None = getattr(edge, "_hooks", None)
    if hooks is None:
        hooks = edge._hooks = Hooks()
    return hooks


def unserializable_hook(f: Any) -> Any:
    """A decorator: the hook is left behind without a warning when its tensor is pickled."""
    f.__torch_unserializable__ = True
    return f


class Hooks:
    """What only few records and leaves have: hooks, metadata, the traceback of the forward call.

    It does not know the record or leaf that it belongs to, which hands itself in: they would be a cycle.
    """

    __slots__ = ("tensor_hooks", "retain", "pre_hooks", "post_hooks", "metadata", "inner", "outputs")

    def __init__(self) -> None:
        self.tensor_hooks: dict[int, Callable[..., Any]] | None = None  # until somebody registers one
        self.retain: Any = None
        self.pre_hooks: dict[int, Callable[..., Any]] = {}
        self.post_hooks: dict[int, Callable[..., Any]] = {}
        self.metadata: dict[Any, Any] = {}
        self.inner: Callable[..., Any] | None = None  # the record's own ``run``, where hooks stand before it
        self.outputs: list[Any] = []  # weak references to outputs that have hooks

    # -- registered -----------------------------------------------------------------------------------------------

    def add_to_tensor(self, tensor: Tensor, edge: Any, hook: Callable[..., Any]) -> RemovableHandle:
        """Call a hook with each gradient of a tensor, whose edge this belongs to."""
        if self.tensor_hooks is None:
            self.tensor_hooks = OrderedDict()
        return register(self.tensor_hooks, hook, self.let_engine_see(tensor, edge))

    def let_engine_see(self, tensor: Tensor, edge: Any) -> Callable[[], Any] | None:
        """Let the engine call the hooks of a tensor at its edge; gives what undoes that, where it costs other calls."""
        if edge is tensor:
            return count_on_leaf(tensor)
        self.install(edge)
        if edge.kind is OUTPUT:
            _watch_output(edge)
        return None

    def add_to_node(self, node: Record, which: str, hook: Callable[..., Any]) -> RemovableHandle:
        """Call a hook before or after a record runs: ``which`` is "pre_hooks" or "post_hooks"."""
        self.install(node)
        return register(getattr(self, which), hook)

    def add_to_leaf(self, variable: Tensor, which: str, hook: Callable[..., Any]) -> RemovableHandle:
        """The same of a leaf's accumulation; counted, until it is removed or the leaf is gone."""
        return register(getattr(self, which), hook, count_on_leaf(variable))

    def add_after_accumulation(self, variable: Tensor, hook: Callable[[Tensor], None]) -> RemovableHandle:
        """Call a hook with a leaf after a gradient was added into its ``.grad``."""
        return register(variable.__dict__.setdefault("_post_accumulate", {}), hook, count_on_leaf(variable))

    def retain_for(self, tensor: Tensor, node: Record) -> None:
        """Keep the gradient that passes a record as ``tensor.grad``."""
        self.install(node)
        self.retain = weakref.ref(tensor)

    def is_retained_for(self, tensor: Tensor) -> bool:
        """Whether the gradient that passes is kept as ``tensor.grad``."""
        return self.retain is not None and self.retain() is tensor

    def install(self, node: Record) -> None:
        """Make a record's ``run`` mind its hooks, so that a quick walk pays nothing for records without."""
        if self.inner is None and node.run is not freed:
            self.inner = node.run
            node.run = _hooked

    # -- run ------------------------------------------------------------------------------------------------------

    def arriving(self, edge: Any, grad: Any, lifted: bool) -> Any:
        """What arrives at an edge, once the hooks there have seen it."""
        if type(grad) is Bundle:
            for reference in self.outputs:  # those that no gradient reached
                output = reference()
                if output is not None and grad.grads[output_number(output)] is None:
                    output._hooks.before(None, lifted)
        elif grad is not None or not isinstance(edge, Record) or edge.kind is not OUTPUT:
            grad = self.before(grad, lifted)
        return grad

    def before(self, grad: Any, lifted: bool) -> Any:
        """Run the tensor hooks at an edge, then ``retain_grad``; gives the gradient they leave."""
        if self.tensor_hooks:
            tensor = grad if lifted or grad is None else wrap(grad)
            for hook in list(self.tensor_hooks.values()):
                answer = hook(tensor)
                if answer is not None:
                    tensor = _checked(answer, tensor, hook)
            grad = tensor if lifted or tensor is None else tensor._array
        if self.retain is not None and grad is not None:
            owner = self.retain()
            if owner is not None:
                gradient = grad if lifted else wrap(grad.copy())
                owner._grad = gradient if owner._grad is None else owner._grad + gradient
        return grad

    def around(
        self, node: Record, grad: Any, retain_graph: bool, lifted: bool, wanted: Sequence[bool] | None = None
    ) -> Any:
        """Run a record between its prehooks and its hooks, which see None for gradients that are not ``wanted``."""
        if not (self.pre_hooks or self.post_hooks):
            return engine.bare(node, grad, retain_graph, lifted, wanted)
        is_bundle = isinstance(grad, Bundle)
        nothing = [None] * (1 if getattr(node, "runs_on_none", False) else node.kind.outputs)
        incoming = _tensors(grad.grads if is_bundle else nothing if grad is None else [grad], lifted)
        for hook in list(self.pre_hooks.values()):
            incoming = _replaced(incoming, hook(incoming), hook)
        bare_grads = incoming if lifted else [g if g is None else g._array for g in incoming]
        grad = Bundle(list(bare_grads)) if is_bundle else bare_grads[0]
        outgoing = engine.bare(node, grad, retain_graph, lifted, wanted)
        grads = _tensors(outgoing, lifted)
        if wanted is not None and node.kind.row is not None and not node.kind.row.listed:
            grads = tuple(g if wish else None for g, wish in zip(grads, wanted, strict=True))
        for hook in list(self.post_hooks.values()):
            grads = _replaced(grads, hook(grads, incoming), hook)
        return tuple(g if lifted or g is None else g._array for g in grads)

    def around_leaf(self, variable: Any, grad: Any, lifted: bool) -> None:
        """Accumulate into a leaf, between the hooks of its ``AccumulateGrad``; then its post-accumulate-grad hooks."""
        for hook in list(self.pre_hooks.values()):
            given = _tensors((grad,), lifted)
            (answer,) = _replaced(given, hook(given), hook)
            grad = answer if lifted or answer is None else answer._array
        if grad is not None:
            leaf.add(variable, grad, lifted)
        for hook in list(self.post_hooks.values()):
            hook((), _tensors((grad,), lifted))
        for hook in list(getattr(variable, "_post_accumulate", {}).values()):
            if hook(variable) is not None:
                raise RuntimeError(errors.POST_HOOK)


def _hooked(node: Record, grad: Any, retain_graph: bool) -> Any:
    """The ``run`` of a record that has hooks, in a walk that knows of none."""
    hooks = node._hooks
    before_mode = modes.local.grad
    try:
        modes.set_grad(False)
        return hooks.around(node, hooks.arriving(node, grad, False), retain_graph, False)
    finally:
        modes.local.grad = before_mode
        modes.settle()


def _watch_output(output: Record) -> None:
    """Let the record of an output know that it has hooks: they are called without a gradient too."""
    parent = output.edges[0]
    hooks = hooks_of(parent)
    if not any(reference() is output for reference in hooks.outputs):
        hooks.outputs.append(weakref.ref(output))
        hooks.install(parent)


def _on_leaf(change: int) -> None:
    """Count hooks on leaves, so that the engine takes the general walk while there are any."""
    engine.on_leaves += change


def count_on_leaf(variable: Any) -> Callable[[], Any]:
    """Count a hook on a leaf, or who asks for the backward call; gives what counts it off, as its end does."""
    _on_leaf(1)
    ended = weakref.finalize(variable, _on_leaf, -1)
    ended.atexit = False
    return ended


def _tensors(grads: Sequence[Any], lifted: bool) -> tuple[Any, ...]:
    return tuple(g if lifted or g is None else wrap(g) for g in grads)


def _replaced(grads: tuple[Any, ...], answer: Any, hook: Any) -> tuple[Any, ...]:
    """What a hook of a node leaves of gradients: itself, if it gave as many, of the same types, dtypes and shapes."""
    if answer is None:
        return grads
    if type(hook) is partial and hook.func is _fitted:  # which gives another shape on purpose
        return answer  # type: ignore[no-any-return]
    if not isinstance(answer, tuple):
        raise TypeError(f"expected tuple, but hook returned '{type(answer).__name__}'")
    if len(answer) != len(grads):
        name = getattr(hook, "__name__", type(hook).__name__)
        raise RuntimeError(
            f"hook '{name}' has returned an incorrect number of values (got {len(answer)}, but expected {len(grads)})"
        )
    return tuple(new if new is None else _checked(new, old, hook) for new, old in zip(answer, grads, strict=True))


def _checked(answer: Any, tensor: Any, hook: Any) -> Any:
    """A hook's answer, if it is a gradient of the same type, dtype and shape."""
    if tensor is None:
        raise RuntimeError("can't replace a None gradient with a non-None value")
    name = getattr(hook, "__name__", type(hook).__name__)
    if not isinstance(answer, Tensor):
        raise TypeError(f"expected Variable, but hook returned '{type(answer).__name__}'")  # as PyTorch words it
    if answer.dtype != tensor.dtype or answer.device != tensor.device:
        was, got = _type_name(tensor), _type_name(answer)
        raise RuntimeError(f"hook '{name}' has changed the type of value (was {was} got {got})")
    if answer.shape != tensor.shape:
        raise RuntimeError(f"hook '{name}' has changed the size of value")
    return answer


def _type_name(tensor: Any) -> str:
    is_meta = tensor.device.type == "meta"
    return f"Meta{tensor.dtype.scalar_name}Type" if is_meta else dtypes.type_name(tensor.dtype)


def fit_gradients(tensor: Any, before: Any) -> None:
    """Let gradients of a result be fitted to the array that it had, as it gets another without recording."""
    try:
        node = tensor.grad_fn
    except RuntimeError:  # a view whose history is refused, and with it every gradient
        return
    if node is not None:
        node.register_prehook(partial(_fitted, tensor.output_nr, before.shape, dtypes.of(before.dtype)))


def _fitted(number: int, sizes: tuple[int, ...], kind: Any, grads: Any) -> Any:
    """The gradients of a node's results, of which one got another array without recording: that one fitted."""
    grad = grads[number]
    if grad is None or (grad._array.shape == sizes and grad.dtype is kind):
        return None
    try:
        fitted = grad.sum_to_size(sizes).to(kind)
    except RuntimeError:
        raise RuntimeError(
            f"A function returned an invalid gradient - got {list(grad.shape)} but expected shape compatible with "
            f"{list(sizes)}: that of a result before it was changed without recording"
        ) from None
    return *grads[:number], fitted, *grads[number + 1 :]
