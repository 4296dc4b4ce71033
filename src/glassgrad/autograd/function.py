"""Custom Functions: a forward and a backward of the user's own, as one node of the graph.

The context that both receive is the node: it shows the record of the call, and has the user's attributes.
"""

from __future__ import annotations

import functools
import threading
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..core.fit import fit, fit_dtype, fit_lifted
from ..core.record import Bundle, Kind, Record, output_of, tick
from ..core.row import TABLE
from ..core.saved import Packed
from ..core.tensor import Tensor, View, alias, edge_of, share, wrap
from ..ground import dtypes, errors, modes
from ..ground.listening import audible
from ..ground.size import Size
from ..tensor.lifted import Kept, Lifted, is_lifted
from ..tensor.node import Node, node_of
from ..tensor.overwritten import stale_error
from .outputs import marked, output

ndarray = np.ndarray


class InputMetadata(NamedTuple):
    """What the gradient of one output looks like."""

    shape: Size
    dtype: dtypes.dtype
    is_nested_tensor: bool = False
    is_cpp_nested_tensor: bool = False


class FunctionCtx:
    """What ``forward`` and ``backward`` share.

    Source: https://docs.pytorch.org/docs/stable/autograd.html#context-method-mixins
    """

    to_save: tuple[Any, ...] | None = None
    dirty_tensors: tuple[Any, ...] | None = None
    non_differentiable: tuple[Any, ...] | None = None
    saved_for_forward: tuple[Any, ...] | None = None
    materialize_grads = True
    needs_input_grad: tuple[bool, ...] = ()

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep tensors for ``backward``, as ``saved_tensors``; their versions are checked there."""
        self.to_save = tensors

    def save_for_forward(self, *tensors: Any) -> None:
        """Keep tensors for ``jvp``."""
        self.saved_for_forward = tensors

    def mark_dirty(self, *args: Any) -> None:
        """Tell which inputs ``forward`` changed in place; each must be returned."""
        self.dirty_tensors = args

    def mark_non_differentiable(self, *args: Any) -> None:
        """Tell which outputs carry no gradient."""
        self.non_differentiable = args

    def mark_shared_storage(self, *pairs: Any) -> None:
        """Deprecated, without effect."""
        warnings.warn(
            "function 'mark_shared_storage' is deprecated. Tensors with shared storages are automatically tracked. "
            "Note that calls to `set_()` are not tracked",
            FutureWarning,
            stacklevel=2,
        )

    def set_materialize_grads(self, value: bool) -> None:
        """Whether gradients that never came reach ``backward`` as zeros (the default) or as None."""
        self.materialize_grads = value


class _Walks(threading.local):
    """The contexts whose ``backward`` runs now for some of its inputs only, with what is wanted of each edge."""

    def __init__(self) -> None:
        self.restricted: list[tuple[Any, Sequence[bool]]] = []


_walks = _Walks()


class Call(Record):
    """The record of one call of a custom Function.

    What its user keeps on the context is in ``kept``, the dictionary that each context of this record has for its own:
    names such as ``kind`` and ``edges`` are the engine's here, and the user's there.
    """

    __slots__ = ("function", "kept", "count", "entries", "outputs", "is_tensor", "needs", "inputs", "is_freed")

    runs_on_none = True
    outputs: list[Any]  # sizes and dtype of each, None where it is no tensor
    is_tensor: list[bool]  # of each argument
    inputs: list[Any]  # sizes and dtype of each tensor among them

    def __init__(self, function: type[Function], edges: tuple[Any, ...]) -> None:
        self.sequence, self.run, self.kind, self.edges = tick(), _run, kind_of(function), edges
        self.saved, self.constants, self.fit, self.counter, self._gathered = (), (), None, None, None
        self.function, self.kept = function, dict[str, Any]()
        self.count = 0  # of outputs
        self.entries: list[Any] | None = None
        self.needs: tuple[bool, ...] = ()
        self.is_freed = False

    def own_kind(self) -> Kind:
        """The kind of all calls of its function, which copies and pickles of graphs leave out."""
        return kind_of(self.function)

    def output(self, nr: int) -> Any:
        """The edge of one of the outputs."""
        return self if self.count == 1 else output_of(self, nr, self.count)

    def opened(self, entry: Any) -> Any:
        """A saved tensor, if nobody wrote to it since."""
        if entry is None:
            return None
        if isinstance(entry, Packed):
            return entry.open(self.output(entry.edge) if entry.is_result else entry.edge)
        value, version, nr = entry
        if nr is None:
            if value._counter is not None and value._counter.version != version:
                raise RuntimeError(stale_error(value._array, edge_of(value), value._counter.version, version))
            return value
        array, cell = value
        if cell.version != version:
            raise RuntimeError(stale_error(array, self.output(nr), cell.version, version))
        out = wrap(array)
        out._counter = cell
        out._edge = self.output(nr)
        return out

    def release(self) -> None:
        self.entries, self.is_freed = None, True


class BackwardCFunction(Node, FunctionCtx):
    """The node of one call of a custom Function, and the context its user sees."""

    __slots__ = ("_record",)

    _forward_cls: Any = None
    _record: Call

    @property
    def needs_input_grad(self) -> tuple[bool, ...]:  # type: ignore[override]
        """For each argument of ``forward`` whether its gradient is wanted; in ``backward``, by this very walk."""
        call = self._record
        for record, wanted in reversed(_walks.restricted):
            if record is call:
                wishes = iter(wanted)
                wished = [is_tensor and next(wishes) for is_tensor in call.is_tensor]
                return tuple([wish and need for wish, need in zip(wished, call.needs, strict=True)])
        return call.needs

    @needs_input_grad.setter
    def needs_input_grad(self, needs: tuple[bool, ...]) -> None:
        self._record.needs = needs

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """The tensors given to ``save_for_backward``; RuntimeError if they were changed or freed."""
        if self._record.is_freed:
            raise RuntimeError(errors.FREED)
        return tuple(map(self._record.opened, self._record.entries or ()))

    saved_variables = saved_tensors

    @property
    def _input_metadata(self) -> list[Any]:
        """Shape and dtype of each output: what its gradients look like."""
        return [
            None if meta is None else InputMetadata(Size(meta[0]), dtypes.of(meta[1])) for meta in self._record.outputs
        ]

    def maybe_clear_saved_tensors(self) -> None:
        """Forget the saved tensors."""
        self._record.release()

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __dir__(self) -> list[str]:
        return list(object.__dir__(self))

    def apply(self, *args: Any) -> Any:
        """Call the user's ``backward``."""
        backward = self._forward_cls.backward
        return backward(self, *args)


class FunctionMeta(type):
    """Gives each Function the class of its nodes, named after it."""

    def __init__(cls, name: str, bases: tuple[type, ...], attrs: dict[str, Any]) -> None:
        cls._backward_cls = type(
            name + "Backward", (BackwardCFunction,), {"_forward_cls": cls, "__module__": "torch.autograd.function"}
        )
        super().__init__(name, bases, attrs)


class Function(FunctionCtx, metaclass=FunctionMeta):
    """The base of custom Functions: subclass it, define ``forward`` and ``backward``, call ``apply``.

    Source: https://docs.pytorch.org/docs/stable/autograd.html#torch.autograd.Function
    """

    generate_vmap_rule = False
    _backward_cls: Any

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warnings.warn(
            f"{self.__class__} should not be instantiated. Methods on autograd functions are all static, so you should "
            "invoke them on the class itself. Instantiating an autograd function will raise an error in a future "
            "version of PyTorch.",
            DeprecationWarning,
            stacklevel=2,
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(
            "Legacy autograd function with non-static forward method is deprecated. Please use new-style autograd "
            "function with static forward method. (Example: "
            "https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function)"
        )

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the outputs: ``forward(ctx, *args)``, or ``forward(*args)`` beside a ``setup_context``."""
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> Any:
        """Save on ``ctx`` what ``backward`` needs."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """Give the gradient of each argument of ``forward``; None where there is none."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom autograd.Function to use it with "
            "backward mode AD."
        )

    vjp = backward

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        """Give the derivative of each output along the inputs' directions."""
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function to use it with forward mode AD."
        )

    @staticmethod
    def vmap(info: Any, in_dims: Any, *args: Any) -> Any:
        """Give the outputs for a batch of inputs."""
        raise NotImplementedError(
            "To use autograd.Function with vmap, you must either override the vmap staticmethod or set "
            "generate_vmap_rule=True."
        )

    @classmethod
    @functools.partial(audible, asks=False)
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Call ``forward`` and record the call as one node."""
        if modes.transforming and is_lifted(args):
            from ..func.custom import apply

            return apply(cls, args, kwargs)
        return cls._applied(args, kwargs)[1]

    @classmethod
    def _applied(cls, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
        """The context of a call, and its outputs."""
        tensors = [a for a in args if isinstance(a, Tensor)]
        recorded = modes.grad_enabled() and any(tensor.requires_grad for tensor in tensors)
        ctx = context(cls, args, tuple(edge_of(tensor) for tensor in tensors) if recorded else ())
        before = modes.local.grad
        try:
            modes.set_grad(False)
            if is_separate(cls):
                outputs = cls.forward(*args, **kwargs)
                bound = args
                if kwargs:
                    import inspect

                    call = inspect.signature(cls.forward).bind(*args, **kwargs)
                    call.apply_defaults()
                    bound = call.args
                cls.setup_context(ctx, bound, outputs)
            else:
                outputs = cls.forward(ctx, *args, **kwargs)
        finally:
            modes.local.grad = before
            modes.settle()
        return ctx, finish(ctx, tensors, outputs, recorded)


def is_separate(cls: type[Function]) -> bool:
    """Whether ``forward`` has no context, which ``setup_context`` fills after it."""
    return cls.setup_context is not Function.setup_context


def context(cls: type[Function], args: Sequence[Any], edges: tuple[Any, ...]) -> Any:
    """The context of a call, which is its node."""
    call = Call(cls, edges)
    call.is_tensor = [isinstance(a, Tensor) for a in args]
    call.needs = tuple(isinstance(a, Tensor) and a.requires_grad for a in args)
    call.inputs = [(a._array.shape, a._array.dtype) for a in args if isinstance(a, Tensor)]
    return node_of(call)


def with_saved(ctx: Any, tensors: Sequence[Any]) -> Any:
    """A context, whose saved tensors are now these."""
    ctx._record.entries = [None if tensor is None else (tensor, tensor._version, None) for tensor in tensors]
    ctx._record.is_freed = False
    return ctx


_kinds: dict[type, Kind] = {}


def kind_of(cls: type[Function]) -> Kind:
    """What all calls of a custom Function share."""
    kind = _kinds.get(cls)
    if kind is None:
        kind = _kinds[cls] = Kind(cls.__name__ + "Backward", _run, _run_lifted, outputs=0, frees=True)
        kind.part, kind.face = _run_part, cls._backward_cls
    return kind


def finish(ctx: Any, inputs: list[Tensor], outputs: Any, recorded: bool) -> Any:
    """Give the outputs of ``forward`` their history."""
    results = outputs if isinstance(outputs, tuple) else (outputs,)
    call = ctx._record
    dirty = marked(ctx.dirty_tensors, "mark_dirty can only accept variables, but argument ")
    for tensor in ctx.dirty_tensors or ():
        share(tensor).version += 1
    if dirty - {id(result) for result in results}:
        raise RuntimeError(
            "Some elements marked as dirty during the forward method were not returned as output. The inputs that are "
            "modified inplace must all be outputs of the Function."
        )
    plain = marked(ctx.non_differentiable, "mark_non_differentiable only accepts variable arguments, but got ")
    input_ids = {id(tensor) for tensor in inputs}
    call.count = len(results)
    call.outputs = [
        (result._array.shape, result._array.dtype) if isinstance(result, Tensor) else None for result in results
    ]
    outs: list[Any] = []
    carried = 0
    for nr, result in enumerate(results):
        if not isinstance(result, Tensor):
            outs.append(result)
            continue
        edge = None
        if recorded and id(result) not in plain and result._array.dtype.kind in "fcV":
            edge = call.output(nr)
            carried += 1
        outs.append(output(result, edge, id(result) in dirty, id(result) in input_ids, len(results)))
    if carried > 1:
        for out in outs:
            if isinstance(out, Tensor) and type(out._edge) is View:
                out._edge.origin = "multi"
    if recorded:
        _save(ctx, results, outs)
    ctx.to_save = None  # where nothing is recorded, nobody looks at it
    ctx.dirty_tensors = ctx.non_differentiable = None  # they hold this record: they would be a cycle
    if modes.local.anomaly:
        modes.local.anomaly.mark(call)
    return tuple(outs) if isinstance(outputs, tuple) else outs[0]


def _save(ctx: Any, results: Sequence[Any], outs: Sequence[Any]) -> None:
    """Keep what was given to ``save_for_backward``; outputs without their history, which is this very node."""
    numbers = {id(result): nr for nr, result in enumerate(results)}
    entries: list[Any] = []
    for index, tensor in enumerate(ctx.to_save or ()):
        if tensor is None:
            entries.append(None)
            continue
        if not isinstance(tensor, Tensor):
            raise TypeError(
                f"save_for_backward can only save variables, but argument {index} is of type {type(tensor).__name__}"
            )
        nr = numbers.get(id(tensor))
        own = nr is not None and outs[nr] is tensor and edge_of(tensor) is not None  # its history is this node
        if modes.local.saved_hooks:
            edge = nr if own else edge_of(tensor)
            entries.append(modes.local.saved_hooks[-1](tensor, edge, own))
        elif own and isinstance(tensor, Lifted):
            entries.append(Kept(tensor, nr))
        elif own:
            version = share(tensor)
            entries.append(((tensor._array, version), version.version, nr))
        else:
            entries.append((tensor, 0 if tensor._counter is None else tensor._counter.version, None))
    ctx._record.entries = entries


def _run(record: Any, grad: Any, retain_graph: bool) -> Any:
    before = modes.local.grad
    try:
        modes.set_grad(False)
        return _backward(record, grad, retain_graph, False)
    finally:
        modes.local.grad = before
        modes.settle()


def _run_lifted(record: Any, grad: Any, retain_graph: bool) -> Any:
    return _backward(record, grad, retain_graph, True)


def _run_part(record: Any, grad: Any, retain_graph: bool, lifted: bool, wanted: Sequence[bool]) -> Any:
    """Have ``backward`` told, as ``ctx.needs_input_grad``, which gradients this walk wants."""
    walks = _walks.restricted
    depth = len(walks)
    try:
        walks.append((record, wanted))
        return (_run_lifted if lifted else _run)(record, grad, retain_graph)
    finally:
        del walks[depth:]


def _backward(record: Any, grad: Any, retain_graph: bool, lifted: bool) -> Any:
    """Call the user's ``backward`` and check what it gives, as PyTorch checks it."""
    ctx: Any = node_of(record)
    grads = grad.grads if isinstance(grad, Bundle) else [grad] if grad is not None else [None] * record.count
    arguments = []
    for g, meta in zip(grads, record.outputs, strict=True):
        if g is not None:
            arguments.append(g if lifted else wrap(g))
        elif ctx.materialize_grads and meta is not None:
            arguments.append(wrap(np.zeros(*meta)))
        else:
            arguments.append(None)
    cls = record.function
    backward = cls.backward
    if cls.vjp is not Function.vjp:
        if backward is not Function.backward:
            raise RuntimeError(
                "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You should only "
                "implement one of them."
            )
        backward = cls.vjp
    answer = backward(ctx, *arguments)
    answers = list(answer) if isinstance(answer, tuple) else [answer]
    name, count = record.kind.name, len(record.is_tensor)
    while len(answers) > count and answers[-1] is None:
        answers.pop()
    if len(answers) != count:
        raise RuntimeError(
            f"function {name} returned an incorrect number of gradients (expected {count}, got {len(answers)})"
        )
    out: list[Any] = []
    for position, (g, is_tensor) in enumerate(zip(answers, record.is_tensor, strict=True)):
        if is_tensor:
            out.append(_valid(record, len(out), g, lifted))
        elif g is not None:
            raise RuntimeError(
                f"function {name} returned a gradient different than None at position {position + 1}, but the "
                "corresponding forward input was not a Variable"
            )
    if not retain_graph:
        record.release()
    return out


def _valid(record: Any, index: int, grad: Any, lifted: bool) -> Any:
    if grad is None:
        return None
    if not isinstance(grad, Tensor):
        raise RuntimeError(f"expected Variable or None (got {type(grad).__name__})")
    if record.edges[index] is None:
        return None
    sizes, kind = record.inputs[index]
    shape = grad._array.shape
    if not dtypes.on_one_device(grad._array.dtype, kind):
        wanted, got = ("cpu", "meta") if kind.metadata is None else ("meta", "cpu")
        raise RuntimeError(
            f"Function {record.kind.name} returned an invalid gradient at index {index} - expected device {wanted} but "
            f"got {got}"
        )
    if shape != sizes:
        lead = len(shape) - len(sizes)
        fits = lead >= 0 and all(wanted == had or wanted == 1 for had, wanted in zip(shape[lead:], sizes, strict=True))
        if not fits:
            raise RuntimeError(
                f"Function {record.kind.name} returned an invalid gradient at index {index} - got {list(shape)} but "
                f"expected shape compatible with {list(sizes)}"
            )
    if lifted:
        return fit_lifted(grad, sizes, kind)
    return fit_dtype(fit(grad._array, sizes), kind)


def once_differentiable(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a ``backward`` that cannot be differentiated itself: a second derivative raises."""

    @functools.wraps(fn)
    def wrapper(ctx: Any, *args: Any) -> Any:
        before = modes.local.grad
        try:
            modes.set_grad(False)
            outputs = fn(ctx, *args)
        finally:
            modes.local.grad = before
            modes.settle()
        if not modes.grad_enabled() or not any(isinstance(a, Tensor) and a.requires_grad for a in args):
            return outputs
        results = outputs if isinstance(outputs, tuple) else (outputs,)
        late = [_late_error(result) for result in results]
        return tuple(late) if isinstance(outputs, tuple) else late[0]

    return wrapper


class _Once(Function):
    """The identity whose derivative is the error of ``once_differentiable``."""

    @staticmethod
    def forward(ctx: Any, tensor: Any) -> Any:
        return TABLE["clone"].caller(tensor)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        raise RuntimeError("trying to differentiate twice a function that was marked with @once_differentiable")


def _late_error(output: Any) -> Any:
    if not isinstance(output, Tensor):
        return output
    source = alias(output)
    source.requires_grad_()
    return _Once.apply(source)


class InplaceFunction(Function):
    """A Function with an ``inplace`` flag; kept for old code."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace
