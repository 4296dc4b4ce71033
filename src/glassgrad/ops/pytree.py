"""Trees of containers: taken apart into leaves and put together again."""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from . import return_types

PyTree = Any
Context = Any


class MappingKey(NamedTuple):
    """The way to a leaf through a dictionary."""

    key: Any

    def __str__(self) -> str:
        return f"[{self.key!r}]"

    def get(self, tree: Any) -> Any:
        """The child of ``tree`` this way."""
        return tree[self.key]


class SequenceKey(NamedTuple):
    """The way to a leaf through a list or tuple."""

    idx: int

    def __str__(self) -> str:
        return f"[{self.idx!r}]"

    def get(self, tree: Any) -> Any:
        """The child of ``tree`` this way."""
        return tree[self.idx]


class GetAttrKey(NamedTuple):
    """The way to a leaf through an attribute."""

    name: str

    def __str__(self) -> str:
        return f".{self.name}"

    def get(self, tree: Any) -> Any:
        """The child of ``tree`` this way."""
        return getattr(tree, self.name)


KeyPath = tuple[Any, ...]


class NodeDef(NamedTuple):
    """How containers of one type are taken apart and put together."""

    type: type
    flatten_fn: Callable[[Any], tuple[list[Any], Any]]
    unflatten_fn: Callable[[Iterable[Any], Any], Any]
    flatten_with_keys_fn: Callable[[Any], tuple[list[Any], Any]] | None = None


def _sequence(make: type) -> NodeDef:
    return NodeDef(
        make,
        lambda tree: (list(tree), tree.maxlen if make is deque else None),
        lambda leaves, context: deque(leaves, context) if make is deque else make(leaves),
        lambda tree: ([(SequenceKey(index), piece) for index, piece in enumerate(tree)], None),
    )


def _mapping(make: type) -> NodeDef:
    def whole(keys: list[Any], leaves: Iterable[Any]) -> Any:
        return make(zip(keys, leaves, strict=True))

    return NodeDef(
        make,
        lambda tree: (list(tree.values()), list(tree)),
        lambda leaves, keys: whole(keys, leaves),
        lambda tree: ([(MappingKey(key), piece) for key, piece in tree.items()], list(tree)),
    )


_DEFAULTDICT = NodeDef(
    defaultdict,
    lambda tree: (list(tree.values()), [tree.default_factory, list(tree)]),
    lambda leaves, context: defaultdict(context[0], zip(context[1], leaves, strict=True)),
    lambda tree: ([(MappingKey(key), piece) for key, piece in tree.items()], [tree.default_factory, list(tree)]),
)
_NAMEDTUPLE = NodeDef(
    namedtuple,  # type: ignore[arg-type]
    lambda tree: (list(tree), type(tree)),
    lambda leaves, context: context(*leaves),
    lambda tree: ([(GetAttrKey(name), getattr(tree, name)) for name in tree._fields], type(tree)),
)
SUPPORTED_NODES: dict[Any, NodeDef] = {
    tuple: _sequence(tuple), list: _sequence(list), deque: _sequence(deque), dict: _mapping(dict),
    OrderedDict: _mapping(OrderedDict), defaultdict: _DEFAULTDICT, namedtuple: _NAMEDTUPLE,
}  # fmt: skip


def _kind(tree: Any) -> Any:
    """The type that a container is registered by; None of a leaf."""
    kind = type(tree)
    if kind in SUPPORTED_NODES:
        return kind
    if issubclass(kind, tuple) and kind.__bases__ == (tuple,) and isinstance(getattr(kind, "_fields", None), tuple):
        return namedtuple
    return getattr(kind, "_tree_kind", None) if issubclass(kind, dict) else None


def register_pytree_node(
    cls: type,
    flatten_fn: Callable[[Any], tuple[list[Any], Any]],
    unflatten_fn: Callable[[Iterable[Any], Any], Any],
    *,
    serialized_type_name: str | None = None,
    to_dumpable_context: Any = None,
    from_dumpable_context: Any = None,
    flatten_with_keys_fn: Callable[[Any], tuple[list[Any], Any]] | None = None,
) -> None:
    """Have containers of type ``cls`` taken apart by ``flatten_fn`` and put together by ``unflatten_fn``."""
    if cls in SUPPORTED_NODES:
        raise ValueError(f"{cls} is already registered as pytree node.")
    SUPPORTED_NODES[cls] = NodeDef(cls, flatten_fn, unflatten_fn, flatten_with_keys_fn)


_register_pytree_node = register_pytree_node


def register_results(cls: type[Any]) -> None:
    """Have named results, as ``torch.return_types.max``, taken apart."""
    node = _sequence(cls)
    register_pytree_node(cls, node.flatten_fn, node.unflatten_fn, flatten_with_keys_fn=node.flatten_with_keys_fn)


for _results in vars(return_types).values():
    if isinstance(_results, type) and issubclass(_results, tuple) and _results is not return_types._Results:
        register_results(_results)


def is_namedtuple(obj: Any) -> bool:
    """Whether an object is a named tuple."""
    return isinstance(obj, tuple) and isinstance(getattr(obj, "_fields", None), tuple)


class TreeSpec:
    """The shape of a tree: the type of a container, what it takes besides its children, and their shapes."""

    def __init__(self, type: Any, context: Any, children_specs: list[TreeSpec]) -> None:  # noqa: A002
        self.type, self.context, self.children_specs = type, context, children_specs
        self.num_nodes: int = 1 + sum(child.num_nodes for child in children_specs)
        self.num_leaves: int = 1 if type is None else sum(child.num_leaves for child in children_specs)
        self.num_children = len(children_specs)

    def is_leaf(self) -> bool:
        """Whether the tree is one leaf."""
        return self.type is None

    def children(self) -> list[TreeSpec]:
        """The shapes of the children."""
        return list(self.children_specs)

    def child(self, index: int) -> TreeSpec:
        """The shape of one child."""
        return self.children_specs[index]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TreeSpec) and (
            (self.type, self.context, self.children_specs) == (other.type, other.context, other.children_specs)
        )

    def __hash__(self) -> int:
        context = tuple(self.context) if isinstance(self.context, list) else self.context
        return hash((self.type, str(context), tuple(self.children_specs)))

    def __repr__(self, indent: int = 0) -> str:
        if self.type is None:
            return "*"
        prefix = f"TreeSpec({self.type.__name__}, {self.context}, ["
        inner = [child.__repr__(indent + 2) for child in self.children_specs]
        lines = inner[:1] + [" " * (indent + 2) + text for text in inner[1:]]
        return prefix + ",\n".join(lines) + "])"

    def unflatten(self, leaves: Iterable[Any]) -> Any:
        """The tree of this shape with these leaves; ValueError where they are too few or too many."""
        return tree_unflatten(leaves, self)

    def flatten_up_to(self, tree: Any) -> list[Any]:
        """What stands in ``tree`` where this shape has leaves; ValueError where the containers differ."""
        if self.type is None:
            return [tree]
        kind = _kind(tree)
        if kind is not self.type:
            raise ValueError(f"Node type mismatch; expected {self.type!r}, but got {type(tree)!r}.")
        children, context = SUPPORTED_NODES[kind].flatten_fn(tree)
        if len(children) != self.num_children:
            raise ValueError(f"Node arity mismatch; expected {self.num_children}, but got {len(children)}.")
        if kind in (dict, OrderedDict, defaultdict):
            keys = self.context[1] if kind is defaultdict else self.context
            if set(keys) != set(tree):
                missing, extra = set(keys) - set(tree), set(tree) - set(keys)
                words = (f"; missing key(s): {missing}" if missing else "") + (
                    f"; extra key(s): {extra}" if extra else ""
                )
                raise ValueError(f"Node keys mismatch{words}.")
            children = [tree[key] for key in keys]
        elif kind is not deque and context != self.context:
            raise ValueError(
                f"Node context mismatch for node type {self.type!r}; expected {self.context!r}, but got {context!r}."
            )
        return [leaf for shape, child in zip(self.children_specs, children, strict=True)
                for leaf in shape.flatten_up_to(child)]  # fmt: skip


class LeafSpec(TreeSpec):
    """The shape of a leaf."""

    def __init__(self) -> None:
        super().__init__(None, None, [])


_LEAF = LeafSpec()


def treespec_leaf() -> TreeSpec:
    """The shape of a leaf."""
    return _LEAF


def tree_flatten(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> tuple[list[Any], TreeSpec]:
    """The leaves of a tree, in order, and its shape; ``is_leaf`` may stop at a container."""
    leaves: list[Any] = []
    return leaves, _walk(tree, leaves, is_leaf)


def _walk(tree: Any, leaves: list[Any], is_leaf: Callable[[Any], bool] | None) -> TreeSpec:
    kind = _kind(tree)
    if kind is None or (is_leaf is not None and is_leaf(tree)):
        leaves.append(tree)
        return _LEAF
    children, context = SUPPORTED_NODES[kind].flatten_fn(tree)
    return TreeSpec(kind, context, [_walk(child, leaves, is_leaf) for child in children])


def tree_unflatten(leaves: Iterable[Any], treespec: TreeSpec) -> Any:
    """The tree of this shape with these leaves; ValueError where they are too few or too many."""
    if not isinstance(treespec, TreeSpec):
        raise TypeError(
            f"tree_unflatten(leaves, treespec): Expected `treespec` to be instance of TreeSpec but got item of type "
            f"{type(treespec)}."
        )
    leaves = list(leaves)
    if len(leaves) != treespec.num_leaves:
        raise ValueError(
            f"treespec.unflatten(leaves): `leaves` has length {len(leaves)} but the spec refers to a pytree that "
            f"holds {treespec.num_leaves} items ({treespec})."
        )
    return _build(iter(leaves), treespec)


def treespec_pprint(treespec: TreeSpec) -> str:
    """The shape of a tree as the tree prints whose leaves are stars."""
    return repr(tree_unflatten([_STAR] * treespec.num_leaves, treespec))


class _Star:
    def __repr__(self) -> str:
        return "*"


_STAR = _Star()


def _build(leaves: Any, shape: TreeSpec) -> Any:
    if shape.type is None:
        return next(leaves)
    children = [_build(leaves, child) for child in shape.children_specs]
    return SUPPORTED_NODES[shape.type].unflatten_fn(children, shape.context)


def tree_iter(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> Iterable[Any]:
    """The leaves of a tree, one after the other."""
    return iter(tree_flatten(tree, is_leaf)[0])


def tree_leaves(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> list[Any]:
    """The leaves of a tree."""
    return tree_flatten(tree, is_leaf)[0]


def tree_structure(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> TreeSpec:
    """The shape of a tree."""
    return tree_flatten(tree, is_leaf)[1]


def tree_map(func: Callable[..., Any], tree: Any, *rests: Any, is_leaf: Callable[[Any], bool] | None = None) -> Any:
    """The tree with ``func`` of each leaf, and of what stands at its place in ``rests``."""
    leaves, shape = tree_flatten(tree, is_leaf)
    return shape.unflatten(map(func, leaves, *[shape.flatten_up_to(rest) for rest in rests]))


def tree_map_(func: Callable[..., Any], tree: Any, *rests: Any, is_leaf: Callable[[Any], bool] | None = None) -> Any:
    """Call ``func`` with each leaf; gives the tree as it is."""
    leaves, shape = tree_flatten(tree, is_leaf)
    deque(map(func, leaves, *[shape.flatten_up_to(rest) for rest in rests]), maxlen=0)
    return tree


def _chosen(chosen: Any) -> Callable[[Any], bool]:
    if isinstance(chosen, (type, tuple)) or hasattr(chosen, "__args__"):
        return lambda leaf: isinstance(leaf, chosen)
    return chosen  # type: ignore[no-any-return]


def tree_map_only(
    which: Any, func: Callable[[Any], Any], tree: Any, is_leaf: Callable[[Any], bool] | None = None
) -> Any:
    """The tree with ``func`` of the leaves of a type, or of those that a predicate chooses."""
    wanted = _chosen(which)
    return tree_map(lambda leaf: func(leaf) if wanted(leaf) else leaf, tree, is_leaf=is_leaf)


def tree_map_only_(
    which: Any, func: Callable[[Any], Any], tree: Any, is_leaf: Callable[[Any], bool] | None = None
) -> Any:
    """Call ``func`` with the leaves of a type, or with those that a predicate chooses; gives the tree as it is."""
    wanted = _chosen(which)
    return tree_map_(lambda leaf: func(leaf) if wanted(leaf) else leaf, tree, is_leaf=is_leaf)


def tree_all(pred: Callable[[Any], bool], tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> bool:
    """Whether a predicate holds for every leaf."""
    return all(map(pred, tree_iter(tree, is_leaf)))


def tree_any(pred: Callable[[Any], bool], tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> bool:
    """Whether a predicate holds for any leaf."""
    return any(map(pred, tree_iter(tree, is_leaf)))


def tree_all_only(which: Any, pred: Callable[[Any], bool], tree: Any) -> bool:
    """Whether a predicate holds for every leaf of a type."""
    return all(pred(leaf) for leaf in tree_iter(tree) if _chosen(which)(leaf))


def tree_any_only(which: Any, pred: Callable[[Any], bool], tree: Any) -> bool:
    """Whether a predicate holds for any leaf of a type."""
    return any(pred(leaf) for leaf in tree_iter(tree) if _chosen(which)(leaf))


def tree_flatten_with_path(
    tree: Any, is_leaf: Callable[[Any], bool] | None = None
) -> tuple[list[tuple[KeyPath, Any]], TreeSpec]:
    """The leaves of a tree, each with the way to it, and the tree's shape."""
    return list(_paths((), tree, is_leaf)), tree_structure(tree, is_leaf)


def tree_leaves_with_path(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> list[tuple[KeyPath, Any]]:
    """The leaves of a tree, each with the way to it."""
    return list(_paths((), tree, is_leaf))


def _paths(way: KeyPath, tree: Any, is_leaf: Callable[[Any], bool] | None) -> Iterable[tuple[KeyPath, Any]]:
    kind = _kind(tree)
    if kind is None or (is_leaf is not None and is_leaf(tree)):
        yield way, tree
        return
    with_keys = SUPPORTED_NODES[kind].flatten_with_keys_fn
    if with_keys is None:
        raise ValueError(f"Did not find a flatten_with_keys_fn for type: {kind}. Please pass a flatten_with_keys_fn.")
    for key, child in with_keys(tree)[0]:
        yield from _paths((*way, key), child, is_leaf)


def tree_map_with_path(
    func: Callable[..., Any], tree: Any, *rests: Any, is_leaf: Callable[[Any], bool] | None = None
) -> Any:
    """The tree with ``func(way, leaf, ...)`` of each leaf."""
    pairs, shape = tree_flatten_with_path(tree, is_leaf)
    others = [shape.flatten_up_to(rest) for rest in rests]
    return shape.unflatten(func(way, leaf, *more) for (way, leaf), *more in zip(pairs, *others, strict=True))


def keystr(kp: KeyPath) -> str:
    """The way to a leaf as Python would write it."""
    return "".join(map(str, kp))


def key_get(obj: Any, kp: KeyPath) -> Any:
    """What stands at the end of a way."""
    for key in kp:
        obj = key.get(obj)
    return obj
