"""Nodes: the steps of a graph, each with its arguments and those who use its value."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

from ..tensor.typename import typename
from .names import qualified, type_repr


def _refuse(self: Any, *args: Any, **kwargs: Any) -> NoReturn:
    raise TypeError(
        f"{type(self).__name__!r} object does not support mutation. If you are attempting to modify the kwargs or "
        "args of a torch.fx.Node object,\ninstead create a new copy of it and assign the copy to the node:\n\n"
        "    new_args = ...  # copy and mutate args\n    node.args = new_args"
    )


class immutable_list(list[Any]):  # noqa: N801  PyTorch's name
    """A list that does not change."""

    __delitem__ = __iadd__ = __imul__ = __setitem__ = append = clear = extend = insert = _refuse  # type: ignore[assignment]
    pop = remove = reverse = sort = _refuse  # type: ignore[assignment]

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (tuple(self),)


class immutable_dict(dict[Any, Any]):  # noqa: N801  PyTorch's name
    """A dictionary that does not change."""

    __delitem__ = __ior__ = __setitem__ = clear = pop = popitem = setdefault = update = _refuse  # type: ignore[assignment]

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (dict(self),)


if TYPE_CHECKING:
    from .graph import Graph

Argument = Any
Target = Any
base_types = (str, int, float, bool, complex)
_legal_ops = dict.fromkeys(["placeholder", "call_method", "call_module", "call_function", "get_attr", "output", "root"])
_side_effectful_functions: set[Any] = {operator.setitem}
_KEPT = set(  # the names of functions that PyTorch keeps: they draw random numbers, or raise
    """rand randn randint randperm rand_like randn_like randint_like bernoulli multinomial normal poisson
    _assert""".split()
)


def has_side_effect(fn: Any) -> Any:
    """Mark a function: calls of it are kept, though nobody uses what it gives."""
    _side_effectful_functions.add(fn)
    return fn


def map_aggregate(a: Any, fn: Callable[[Any], Any]) -> Any:
    """The same tuples, lists, dictionaries and slices with ``fn`` of everything in them."""
    if isinstance(a, tuple):
        pieces = [map_aggregate(piece, fn) for piece in a]
        return type(a)(*pieces) if hasattr(a, "_fields") else tuple(pieces)
    if isinstance(a, list):
        return immutable_list([map_aggregate(piece, fn) for piece in a])
    if isinstance(a, dict):
        return immutable_dict({key: map_aggregate(value, fn) for key, value in a.items()})
    if isinstance(a, slice):
        return slice(map_aggregate(a.start, fn), map_aggregate(a.stop, fn), map_aggregate(a.step, fn))
    return fn(a)


def map_arg(a: Any, fn: Callable[[Node], Any]) -> Any:
    """The same with ``fn`` of every node in them."""
    if not callable(fn):
        raise AssertionError("torch.fx.map_arg(a, fn): fn must be a callable")
    return map_aggregate(a, lambda piece: fn(piece) if isinstance(piece, Node) else piece)


def _format_arg(arg: Any) -> str:
    if isinstance(arg, list):
        return f"[{', '.join(map(_format_arg, arg))}]"
    if isinstance(arg, tuple):
        return f"({', '.join(map(_format_arg, arg))}{',' if len(arg) == 1 else ''})"
    if isinstance(arg, dict):
        return "{" + ", ".join(f"{key}: {_format_arg(value)}" for key, value in arg.items()) + "}"
    return f"%{arg}" if isinstance(arg, Node) else str(arg)


def _get_qualified_name(target: Any) -> str:
    """The name of a function in a printed graph."""
    if getattr(target, "__module__", None) == "builtins":
        return f"builtins.{target.__name__}"
    return f"operator.{target.__name__}" if target.__module__ == "_operator" else qualified(target)


@functools.total_ordering
class Node:
    """One step of a graph: ``name`` = ``op`` of ``target`` with ``args`` and ``kwargs``.

    ``op`` is one of placeholder, get_attr, call_function, call_method, call_module, output; ``target`` is a function
    for call_function, else a name.  ``users`` are the nodes that have this one among their arguments.
    Source: https://docs.pytorch.org/docs/stable/fx.html#torch.fx.Node
    """

    def __init__(
        self, graph: Graph, name: str, op: str, target: Target, args: tuple[Argument, ...], kwargs: dict[str, Argument],
        return_type: Any = None,
    ) -> None:  # fmt: skip
        if op not in _legal_ops:
            raise AssertionError(f"op '{op}' is not in _legal_ops")
        if not (callable(target) if op == "call_function" else isinstance(target, str)):
            raise ValueError(
                f"Node [graph = {graph}, name = '{name}'] target {target} has type {typename(target)} but a "
                f"{'Callable' if op == 'call_function' else 'str'} is expected"
            )
        self.graph, self.name, self.op, self.target, self.type = graph, name, op, target, return_type
        self.users: dict[Node, None] = {}
        self.meta: dict[str, Any] = {}
        self._input_nodes: dict[Node, None] = {}
        self._prev: Node = self
        self._next: Node = self
        self._erased = False
        self._repr_fn: Callable[[Node], str] | None = None
        self._update_args_kwargs(args, kwargs)

    # -- where it stands in the graph -----------------------------------------------------------------------------

    @property
    def next(self) -> Node:
        """The node after this one."""
        return self._next

    @property
    def prev(self) -> Node:
        """The node before this one."""
        return self._prev

    def _unlink(self) -> None:
        self._prev._next, self._next._prev = self._next, self._prev

    def prepend(self, x: Node) -> None:
        """Put ``x`` before this node."""
        if x.graph is not self.graph:
            raise AssertionError("Attempting to move a Node into a different Graph")
        if x is self:
            return
        x._unlink()
        before = self._prev
        before._next, x._prev = x, before
        x._next, self._prev = self, x

    def append(self, x: Node) -> None:
        """Put ``x`` after this node."""
        self._next.prepend(x)

    def __lt__(self, other: Node) -> bool:
        order = list(self.graph.nodes)
        return order.index(self) < order.index(other)

    # -- arguments ------------------------------------------------------------------------------------------------

    @property
    def args(self) -> tuple[Argument, ...]:
        """The arguments; assign to it to change them."""
        return self._args

    @args.setter
    def args(self, a: tuple[Argument, ...]) -> None:
        self._update_args_kwargs(a, self._kwargs)

    @property
    def kwargs(self) -> dict[str, Argument]:
        """The arguments by name; assign to it to change them."""
        return self._kwargs

    @kwargs.setter
    def kwargs(self, k: dict[str, Argument]) -> None:
        self._update_args_kwargs(self._args, k)

    def _update_args_kwargs(self, args: Any, kwargs: Any) -> None:
        for old in self._input_nodes:
            old.users.pop(self, None)
        self._input_nodes = {}

        def note(node: Node) -> Node:
            self._input_nodes[node] = None
            node.users[self] = None
            return node

        self._args: tuple[Any, ...] = map_arg(tuple(args), note)
        self._kwargs: dict[str, Any] = map_arg(dict(kwargs), note)

    @property
    def all_input_nodes(self) -> list[Node]:
        """The nodes among the arguments."""
        return list(self._input_nodes)

    def update_arg(self, idx: int, arg: Argument) -> None:
        """Replace one argument."""
        args = list(self.args)
        args[idx] = arg
        self.args = tuple(args)

    def insert_arg(self, idx: int, arg: Argument) -> None:
        """Put one more argument before that of number ``idx``."""
        if not 0 <= idx <= len(self.args):
            raise AssertionError(f"insert_args index must be between 0 and len(self.args), got {idx}")
        self.args = (*self.args[:idx], arg, *self.args[idx:])

    def update_kwarg(self, key: str, arg: Argument) -> None:
        """Set one argument by name."""
        self.kwargs = {**self.kwargs, key: arg}

    def replace_input_with(self, old_input: Node, new_input: Node) -> None:
        """Use another node wherever ``old_input`` is among the arguments."""
        args, kwargs = map_arg((self._args, self._kwargs), lambda node: new_input if node is old_input else node)
        self._update_args_kwargs(args, kwargs)

    def replace_all_uses_with(
        self, replace_with: Node, delete_user_cb: Callable[[Node], bool] | None = None, *, propagate_meta: bool = False
    ) -> list[Node]:
        """Have all users, or those that ``delete_user_cb`` chooses, use another node; gives them."""
        if propagate_meta:
            if replace_with.meta:
                raise AssertionError(
                    "Called node.replace_all_uses_with(replace_with, propagate_meta=True), but replace_with already "
                    "has .meta keys"
                )
            replace_with.meta.update(self.meta)
        changed = [user for user in self.users if delete_user_cb is None or delete_user_cb(user)]
        for user in changed:
            user.replace_input_with(self, replace_with)
        return changed

    # -- what it is -----------------------------------------------------------------------------------------------

    def is_impure(self, impure_random: bool = True) -> bool:
        """Whether it must stay though nobody uses its value."""
        if self.op == "call_module":
            owner = self.graph.owning_module
            if owner is None:
                raise AssertionError("self.graph.owning_module not set for purity check")
            return bool(getattr(owner.get_submodule(self.target), "_is_impure", False))
        if self.op == "call_function":
            return self.target in _side_effectful_functions or getattr(self.target, "__name__", "") in _KEPT
        return self.op in ("placeholder", "output")

    @property
    def stack_trace(self) -> str | None:
        """The stack at tracing, where somebody noted it in ``meta``."""
        return self.meta.get("stack_trace")

    def __repr__(self) -> str:
        return self.name if self._repr_fn is None else self._repr_fn(self)

    def __reduce__(self) -> Any:
        raise TypeError("a node is not pickled by itself; pickle the GraphModule")

    def format_node(
        self, placeholder_names: list[str] | None = None, maybe_return_typename: list[str] | None = None
    ) -> str | None:
        """The line of this node in a printed graph; notes arguments and the type of the result in the lists."""
        typed = f"{type_repr(self.type)} " if self.type is not None else ""
        shown = f"%{self.name} : {typed}[num_users={len(self.users)}] = {self.op}[target="
        if self.op == "placeholder":
            if placeholder_names:
                placeholder_names.append(self.target + (f": {type_repr(self.type)}" if self.type else ""))
                return None
            return f"{shown}{self.target}]" + (f"(default={self.args[0]})" if self.args else "")
        if self.op == "output":
            if self.type and maybe_return_typename:
                maybe_return_typename[0] = f" -> {type_repr(self.type)}"
            return f"return {self.args[0]}"
        shown += (self.target if isinstance(self.target, str) else _get_qualified_name(self.target)) + "]"
        if self.op == "get_attr":
            return shown
        return f"{shown}(args = {_format_arg(self.args)}, kwargs = {_format_arg(self.kwargs)})"
