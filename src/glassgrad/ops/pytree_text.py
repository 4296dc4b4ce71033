"""Shapes of trees as text and back, and containers that a program registers: dataclasses, constants, named tuples."""

from __future__ import annotations

import dataclasses
import enum
import functools
import importlib
import json
from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..ground.names import torch_name
from .pytree import (
    SUPPORTED_NODES,
    GetAttrKey,
    NodeDef,
    TreeSpec,
    _chosen,
    _kind,
    is_namedtuple,
    register_pytree_node,
    tree_leaves,
    treespec_leaf,
)

BUILTIN_TYPES = frozenset({tuple, list, dict, namedtuple, OrderedDict, defaultdict, deque})
STANDARD_DICT_TYPES = frozenset({dict, OrderedDict, defaultdict})

#: What a type is called in text, and how what its containers take besides children is written and read.
_written: dict[Any, tuple[str, Any, Any]] = {}
_constants: set[type] = set()
_PROTOCOL = 1


# -- questions ---------------------------------------------------------------------------------------------------------


def tree_is_leaf(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> bool:
    """Whether an object is no container, or one at which ``is_leaf`` stops."""
    return _kind(tree) is None or (is_leaf is not None and is_leaf(tree))


def _get_node_type(tree: Any) -> Any:
    """The type by which a container is registered: namedtuple of all named tuples."""
    kind = _kind(tree)
    return type(tree) if kind is None else kind


def is_namedtuple_class(cls: type) -> bool:
    """Whether a class is one of named tuples."""
    return isinstance(cls, type) and issubclass(cls, tuple) and isinstance(getattr(cls, "_fields", None), tuple)


def is_namedtuple_instance(obj: Any) -> bool:
    """Whether an object is a named tuple."""
    return is_namedtuple(obj) and not isinstance(obj, type)


def is_structseq_class(cls: Any) -> bool:
    """Whether a class is one of named results, as ``torch.return_types.max``."""
    return isinstance(cls, type) and cls.__bases__ == (tuple,) and isinstance(getattr(cls, "n_fields", None), int)


def is_structseq(obj: Any) -> bool:
    """Whether an object is a named result, or a class of them."""
    return is_structseq_class(obj if isinstance(obj, type) else type(obj))


is_structseq_instance = is_structseq


def arg_tree_leaves(*args: Any, **kwargs: Any) -> list[Any]:
    """The leaves of arguments, without the containers of arguments themselves."""
    return [leaf for value in (*args, *kwargs.values()) for leaf in tree_leaves(value)]


def map_only(type_or_types_or_pred: Any, /) -> Callable[[Callable[[Any], Any]], Callable[[Any], Any]]:
    """A decorator: the function is called for objects of a type, or those that a predicate chooses; others stay."""
    wanted = _chosen(type_or_types_or_pred)

    def decorate(func: Callable[[Any], Any]) -> Callable[[Any], Any]:
        return functools.wraps(func)(lambda x: func(x) if wanted(x) else x)

    return decorate


def _broadcast_to_and_flatten(
    tree: Any, treespec: TreeSpec, is_leaf: Callable[[Any], bool] | None = None
) -> list[Any] | None:
    """The leaves of a tree where ``treespec`` has its own, a leaf for each of a container's; None where it differs."""
    if treespec.is_leaf():
        return [tree] if tree_is_leaf(tree, is_leaf) else None
    if tree_is_leaf(tree, is_leaf):
        return [tree] * treespec.num_leaves
    if _kind(tree) is not treespec.type:
        return None
    children, context = SUPPORTED_NODES[treespec.type].flatten_fn(tree)
    if len(children) != treespec.num_children or context != treespec.context:
        return None
    parts = [_broadcast_to_and_flatten(*pair, is_leaf) for pair in zip(children, treespec.children_specs, strict=True)]
    return None if None in parts else [leaf for part in parts for leaf in part or ()]


# -- shapes by hand ----------------------------------------------------------------------------------------------------


def treespec_tuple(iterable: Iterable[TreeSpec] = (), /) -> TreeSpec:
    """The shape of a tuple of these shapes."""
    return TreeSpec(tuple, None, list(iterable))


def treespec_dict(mapping: Any = (), /, **kwargs: TreeSpec) -> TreeSpec:
    """The shape of a dictionary of these shapes."""
    shapes: Mapping[Any, TreeSpec] = dict(mapping, **kwargs)
    return TreeSpec(dict, list(shapes), list(shapes.values()))


class ConstantNode:
    """The mark of a class whose objects are no leaves: shapes hold them."""


# -- what programs register --------------------------------------------------------------------------------------------


def register_dataclass(
    cls: type[Any], *, field_names: list[str] | None = None, drop_field_names: list[str] | None = None,
    serialized_type_name: str | None = None,
) -> None:  # fmt: skip
    """Have dataclasses of this kind taken apart by their fields; those that are None are left out."""
    if not dataclasses.is_dataclass(cls) and field_names is None:
        raise ValueError(
            f"field_names must be specified with a list of all fields used to initialize {cls}, as it is "
            "not a dataclass."
        )
    names = field_names or [field.name for field in dataclasses.fields(cls) if field.init]
    names = [name for name in names if name not in (drop_field_names or ())]

    def flatten(value: Any) -> tuple[list[Any], Any]:
        there = [name for name in names if getattr(value, name) is not None]
        return [getattr(value, name) for name in there], [there, [name for name in names if name not in there]]

    def flatten_with_keys(value: Any) -> tuple[list[Any], Any]:
        values, context = flatten(value)
        return [(GetAttrKey(name), one) for name, one in zip(context[0], values, strict=True)], context

    def unflatten(values: Iterable[Any], context: Any) -> Any:
        return cls(**dict(zip(context[0], values, strict=True)), **dict.fromkeys(context[1]))

    register_pytree_node(cls, flatten, unflatten, flatten_with_keys_fn=flatten_with_keys)
    _written[cls] = (serialized_type_name or _path(cls), json.dumps, json.loads)


def register_constant(cls: type[Any]) -> None:
    """Have objects of a class held by the shape: they are no leaves. They must be hashable, and compare."""
    if cls.__eq__ is object.__eq__:
        raise TypeError(
            f"register_constant(cls) expects `cls` to have a non-default `__eq__` implementation, got {cls}"
        )
    register_pytree_node(cls, lambda value: ([], value), lambda leaves, value: value,
                         flatten_with_keys_fn=lambda value: ([], value))  # fmt: skip
    _constants.add(cls)


def is_constant_class(cls: type[Any]) -> bool:
    """Whether objects of a class are held by the shape."""
    return cls in _constants


def _register_namedtuple(cls: type[Any], *, serialized_type_name: str) -> None:
    """Name a class of named tuples in text."""
    _written[cls] = (serialized_type_name, None, None)


def _deregister_pytree_node(cls: type[Any]) -> None:
    """Have containers of a type be leaves again."""
    SUPPORTED_NODES.pop(cls, None)


# -- text --------------------------------------------------------------------------------------------------------------


def _path(cls: Any) -> str:
    if cls is namedtuple:
        return "collections.namedtuple"
    return ".".join(torch_name(cls.__module__, cls.__qualname__))


def _class_at(path: str) -> Any:
    known = {_path(cls): cls for cls in SUPPORTED_NODES} | {name: cls for cls, (name, _, _) in _written.items()}
    if path in known:
        return known[path]
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(module), name)


class EnumEncoder(json.JSONEncoder):
    """Writes members of enumerations by their class and name."""

    def default(self, o: Any) -> Any:
        """What JSON has no word for."""
        if isinstance(o, enum.Enum):
            return {"__enum__": True, "fqn": _path(type(o)), "name": o.name}
        return super().default(o)


def enum_object_hook(obj: dict[str, Any]) -> Any:
    """Reads what :class:`EnumEncoder` wrote."""
    return _class_at(obj["fqn"])[obj["name"]] if "__enum__" in obj else obj


def _context_text(spec: TreeSpec) -> Any:
    if spec.type in _written and _written[spec.type][1] is not None:
        return str(_written[spec.type][1](spec.context))
    context = spec.context
    if spec.type is namedtuple:
        context = _written.get(context, (_path(context), None, None))[0]
    elif spec.type is defaultdict:
        factory, keys = context
        return {"default_factory_module": getattr(factory, "__module__", None),
                "default_factory_name": getattr(factory, "__qualname__", None), "dict_context": keys}  # fmt: skip
    try:
        return json.dumps(context, cls=EnumEncoder)
    except TypeError as error:
        raise TypeError(
            "Unable to serialize context. Please make the context json dump-able, or register a custom serializer "
            "using _register_pytree_node."
        ) from error


def _as_json(spec: TreeSpec) -> dict[str, Any]:
    if spec.is_leaf():
        return {"type": None, "context": None, "children_spec": []}
    name = _written[spec.type][0] if spec.type in _written else _path(spec.type)
    return {
        "type": name,
        "context": _context_text(spec),
        "children_spec": [_as_json(child) for child in spec.children()],
    }


def treespec_dumps(treespec: TreeSpec, protocol: int | None = None) -> str:
    """The shape of a tree as JSON."""
    if not isinstance(treespec, TreeSpec):
        raise TypeError(
            f"treespec_dumps(treespec, protocol): Expected `treespec` to be instance of TreeSpec but got "
            f"item of type {type(treespec)}."
        )
    if protocol not in (None, _PROTOCOL):
        raise ValueError(f"Unknown protocol {protocol}. Available protocols: [{_PROTOCOL}]")
    return json.dumps((_PROTOCOL, _as_json(treespec)), cls=EnumEncoder)


def _from_json(data: dict[str, Any]) -> TreeSpec:
    if data["type"] is None:
        return treespec_leaf()
    kind = _class_at(data["type"])
    if kind in _written and _written[kind][2] is not None:
        context = _written[kind][2](data["context"])
    else:
        text = data["context"]
        context = json.loads(text, object_hook=enum_object_hook) if isinstance(text, str) else text
        if kind is namedtuple:
            context = _class_at(context)
        elif kind is defaultdict:
            module, name = context["default_factory_module"], context["default_factory_name"]
            factory = None if name is None else getattr(importlib.import_module(module), name)
            context = [factory, context["dict_context"]]
    return TreeSpec(kind, context, [_from_json(child) for child in data["children_spec"]])


def treespec_loads(serialized: str) -> TreeSpec:
    """The shape of a tree that was written by :func:`treespec_dumps`."""
    protocol, data = json.loads(serialized)
    if protocol != _PROTOCOL:
        raise ValueError(f"Unknown protocol {protocol}. Available protocols: [{_PROTOCOL}]")
    return _from_json(data)


class _Star:
    def __repr__(self) -> str:
        return "*"


def treespec_pprint(treespec: TreeSpec) -> str:
    """A tree of this shape, printed with stars for its leaves."""
    return repr(treespec.unflatten([_Star()] * treespec.num_leaves))


def _private_register_pytree_node(
    cls: type, flatten_fn: Any, unflatten_fn: Any, *, serialized_type_name: str | None = None,
    to_dumpable_context: Any = None, from_dumpable_context: Any = None, flatten_with_keys_fn: Any = None,
) -> None:  # fmt: skip
    """Have containers of type ``cls`` taken apart, and named in text."""
    if (to_dumpable_context is None) != (from_dumpable_context is None):
        raise ValueError(f"Both to_dumpable_context and from_dumpable_context for {cls} must be None or registered.")
    if cls in SUPPORTED_NODES:
        raise ValueError(f"{cls} is already registered as pytree node.")
    SUPPORTED_NODES[cls] = NodeDef(cls, flatten_fn, unflatten_fn, flatten_with_keys_fn)
    dumps = (
        None
        if to_dumpable_context is None
        else lambda context: json.dumps(to_dumpable_context(context), cls=EnumEncoder)
    )
    loads = (
        None
        if from_dumpable_context is None
        else lambda text: from_dumpable_context(json.loads(text, object_hook=enum_object_hook))
    )
    _written[cls] = (serialized_type_name or _path(cls), dumps, loads)


# -- how PyTorch's own containers are taken apart, by name -------------------------------------------------------------

_NODES = {"dict": dict, "list": list, "tuple": tuple, "deque": deque, "ordereddict": OrderedDict,
          "defaultdict": defaultdict, "namedtuple": namedtuple}  # fmt: skip
for _name, _type in _NODES.items():
    _node = SUPPORTED_NODES[_type]
    globals().update({f"_{_name}_flatten": _node.flatten_fn, f"_{_name}_unflatten": _node.unflatten_fn,
                      f"_{_name}_flatten_with_keys": _node.flatten_with_keys_fn})  # fmt: skip
