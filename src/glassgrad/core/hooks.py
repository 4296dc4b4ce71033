"""Hooks: what runs when a gradient passes a tensor, a record or a leaf, in PyTorch's order; knows Tensors by ``wrap``.

The order at one place: hooks of the tensor, ``retain_grad``, prehooks of the node, the node, its hooks; for a leaf the
accumulation and then its post-accumulate-grad hooks.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from itertools import count
from typing import Any

from ..ground import errors, modes
from . import leaf, plan
from .record import OUTPUT, About, Bundle, Record, freed, output_number
from .record import about as about_of

on_leaves = 0  # alive hooks on leaves, and what asks which backward call runs: a quick walk serves neither
wrap: Callable[[Any], Any] = NotImplemented  # array -> Tensor, handed in by tensor.py
_ids = count().__next__
_WORTH_A_PART = 1024  # elements of a gradient


class RemovableHandle:
    """What a registration gives back: ``remove()`` takes the hook away; a context manager does so at its end."""

    def __init__(self, hooks: Any, undo: Callable[[], None] | None = None) -> None:
        self.hooks_dict_ref, self.id, self._undo = (lambda: hooks), _ids(), undo

    def remove(self) -> None:
        """Take the hook away; a second call does nothing."""
        if self.hooks_dict_ref().pop(self.id, None) is not None and self._undo is not None:
            self._undo()

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *exc: object) -> None:
        self.remove()


def unserializable_hook(f: Any) -> Any:
    """A decorator: the hook is left behind without a warning when its tensor is pickled."""
    f.__torch_unserializable__ = True
    return f


def on_leaf(change: int) -> None:
    """Count hooks on leaves, so that the engine takes the general walk while there are any."""
    global on_leaves
    on_leaves += change


def install(record: Any) -> None:
    """Make a record's ``run`` mind its hooks, so that a quick walk pays nothing for records without."""
    about = record._about
    if about.inner is None and record.run is not freed:
        about.inner = record.run
        record.run = _hooked


def _hooked(record: Record, grad: Any, keep: bool) -> Any:
    about = record._about
    before_mode = modes.local.grad
    try:
        modes.set_grad(False)
        return around(record, about, arriving(record, about, grad, False), keep, False)
    finally:
        modes.local.grad = before_mode
        modes.settle()


def bare(
    record: Record, about: About | None, grad: Any, keep: bool, lifted: bool, wanted: Sequence[bool] | None = None
) -> Any:
    """Run a record without its hooks; for the edges alone that are ``wanted``, where it can and that saves work."""
    if wanted is not None and record.run is not freed and _is_worth_a_part(record, grad, lifted):
        outgoing = record.kind.part(record, grad, keep, lifted, wanted)  # type: ignore[misc]
        if about is not None and record.run is freed:
            about.inner = freed
        return outgoing
    if lifted:
        if record.run is freed:
            return freed(record, grad, keep)
        return record.kind.lifted(record, grad, keep)
    run = record.run
    if run is _hooked:
        run = about.inner  # type: ignore[union-attr,assignment]
    if modes.unusual and modes.local.masked is not None and run is record.kind.run and record.kind.row is not None:
        run = plan.gradients  # what is printed for speed knows nothing of masked gradients
    outgoing = run(record, grad, keep)
    if about is not None and record.run is freed:
        about.inner = freed
    return outgoing


def _is_worth_a_part(record: Record, grad: Any, lifted: bool) -> bool:
    """Whether running a record for some edges alone takes less time: of small arrays, its printed rules take less."""
    if record.kind.part is None:
        return False
    return lifted or record.kind.row is None or getattr(grad, "size", _WORTH_A_PART) >= _WORTH_A_PART


def arriving(edge: Any, about: About, grad: Any, lifted: bool) -> Any:
    """What arrives at an edge, once the hooks there have seen it."""
    if type(grad) is Bundle:
        at_outputs(about, grad, lifted)
    elif grad is not None or not isinstance(edge, Record) or edge.kind is not OUTPUT:
        grad = before(edge, about, grad, lifted)
    return grad


def before(edge: Any, about: About, grad: Any, lifted: bool) -> Any:
    """Run the tensor hooks at an edge, then ``retain_grad``; gives the gradient they leave."""
    if about.tensor_hooks:
        tensor = grad if lifted or grad is None else wrap(grad)
        for hook in list(about.tensor_hooks.values()):
            answer = hook(tensor)
            if answer is not None:
                tensor = _checked(answer, tensor, hook)
        grad = tensor if lifted or tensor is None else tensor._array
    if about.retain is not None and grad is not None:
        owner = about.retain()
        if owner is not None:
            gradient = grad if lifted else wrap(grad.copy())
            owner._grad = gradient if owner._grad is None else owner._grad + gradient
    return grad


def around(
    record: Record, about: About, grad: Any, keep: bool, lifted: bool, wanted: Sequence[bool] | None = None
) -> Any:
    """Run a record between its prehooks and its hooks, which see None for gradients that are not ``wanted``."""
    if not (about.pre_hooks or about.post_hooks):
        return bare(record, about, grad, keep, lifted, wanted)
    incoming = _tensors(grad.grads if isinstance(grad, Bundle) else [grad], lifted)
    for hook in list(about.pre_hooks.values()):
        answer = hook(incoming)
        if answer is not None:
            incoming = answer if isinstance(answer, tuple) else (answer,)
    bare_grads = incoming if lifted else [g if g is None else g._array for g in incoming]
    grad = Bundle(list(bare_grads)) if isinstance(grad, Bundle) else bare_grads[0]
    outgoing = bare(record, about, grad, keep, lifted, wanted)
    grads = _tensors(outgoing, lifted)
    if wanted is not None and record.kind.row is not None and not record.kind.row.listed:
        grads = tuple(g if wish else None for g, wish in zip(grads, wanted, strict=True))
    for hook in list(about.post_hooks.values()):
        answer = hook(grads, incoming)
        if answer is not None:
            answer = answer if isinstance(answer, tuple) else (answer,)
            if len(answer) != len(grads):
                name = getattr(hook, "__name__", type(hook).__name__)
                raise RuntimeError(
                    f"hook '{name}' has returned an incorrect number of values (got {len(answer)}, but expected "
                    f"{len(grads)})"
                )
            grads = answer
    return tuple(g if lifted or g is None else g._array for g in grads)


def at_outputs(about: About, grad: Bundle, lifted: bool) -> None:
    """Call the hooks of those outputs of a record that no gradient reached."""
    for reference in about.outputs:
        output = reference()
        if output is not None and grad.grads[output_number(output)] is None:
            before(output, output._about, None, lifted)


def watch_output(output: Record) -> None:
    """Let the record of an output know that it has hooks: they are called without a gradient too."""
    parent = output.edges[0]
    if not any(reference() is output for reference in about_of(parent).outputs):
        parent._about.outputs.append(weakref.ref(output))
        install(parent)


def around_nothing(record: Record, about: About | None) -> tuple[None, ...]:
    """Call the hooks of a record that no gradient reached; it gives none on."""
    nothing = (None,) * len(record.edges)
    if about is not None:
        incoming = (None,) * record.kind.outputs
        for hook in list(about.pre_hooks.values()):
            hook(incoming)
        for hook in list(about.post_hooks.values()):
            hook(nothing, incoming)
    return nothing


def into_leaf(variable: Any, grad: Any, lifted: bool) -> None:
    """Accumulate into a leaf, between the hooks of its ``AccumulateGrad``; then its post-accumulate-grad hooks."""
    if not leaf.is_wanted(variable):  # it stopped wanting gradients meanwhile
        return
    about = getattr(variable, "_about", None)
    if about is not None:
        for hook in list(about.pre_hooks.values()):
            answer = hook((grad if lifted else wrap(grad),))
            if answer is not None:
                answer = answer[0] if isinstance(answer, tuple) else answer
                grad = answer if lifted else answer._array
    with leaf.adding:
        if lifted:
            leaf.accumulate_lifted(variable, grad)
        else:
            leaf.accumulate(variable, grad)
    if about is not None:
        for hook in list(about.post_hooks.values()):
            hook((), (grad if lifted else wrap(grad),))
        for hook in list(getattr(variable, "_post_accumulate", {}).values()):
            if hook(variable) is not None:
                raise RuntimeError(errors.POST_HOOK)


def _tensors(grads: Sequence[Any], lifted: bool) -> tuple[Any, ...]:
    return tuple(g if lifted or g is None else wrap(g) for g in grads)


def _checked(answer: Any, tensor: Any, hook: Any) -> Any:
    """A hook's answer, if it is a gradient of the same type, dtype and shape."""
    if tensor is None:
        raise RuntimeError("can't replace a None gradient with a non-None value")
    name = getattr(hook, "__name__", type(hook).__name__)
    if not isinstance(answer, leaf.Tensor):
        raise TypeError(f"expected Variable, but hook returned '{type(answer).__name__}'")  # as PyTorch words it
    if answer.dtype != tensor.dtype:
        raise RuntimeError(f"hook '{name}' has changed the type of value (was {tensor.type()} got {answer.type()})")
    if answer.shape != tensor.shape:
        raise RuntimeError(f"hook '{name}' has changed the size of value")
    return answer


def register(
    hooks: dict[int, Any], hook: Callable[..., Any], undo: Callable[[], None] | None = None
) -> RemovableHandle:
    """Add ``hook`` to ``hooks``; the handle removes it."""
    handle = RemovableHandle(hooks, undo)
    hooks[handle.id] = hook
    return handle


def retain(record: Any, tensor: Any) -> None:
    """Keep the gradient that passes ``record`` as ``tensor.grad``."""
    record._about.retain = weakref.ref(tensor)


def register_on_leaf(variable: Any, hooks: dict[int, Any], hook: Callable[..., Any]) -> RemovableHandle:
    """Add ``hook`` at a leaf; counted, until it is removed or the leaf is gone."""
    return register(hooks, hook, count_on_leaf(variable))


def count_on_leaf(variable: Any) -> Callable[[], Any]:
    """Count a hook on a leaf, or who asks for the backward call; gives what counts it off, as its end does."""
    on_leaf(1)
    ended = weakref.finalize(variable, on_leaf, -1)
    ended.atexit = False
    return ended
