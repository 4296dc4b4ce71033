"""The ``torch.utils._pytree`` namespace: trees of containers, from ``ops/pytree.py`` and ``ops/pytree_text.py``."""

from typing import Any

from ..ops import pytree_text
from ..ops.pytree import (
    SUPPORTED_NODES,
    Context,
    GetAttrKey,
    KeyPath,
    LeafSpec,
    MappingKey,
    NodeDef,
    PyTree,
    SequenceKey,
    TreeSpec,
    is_namedtuple,
    key_get,
    keystr,
    register_results,
    tree_all,
    tree_all_only,
    tree_any,
    tree_any_only,
    tree_flatten,
    tree_flatten_with_path,
    tree_iter,
    tree_leaves,
    tree_leaves_with_path,
    tree_map,
    tree_map_,
    tree_map_only,
    tree_map_only_,
    tree_map_with_path,
    tree_structure,
    tree_unflatten,
    treespec_leaf,
)

__all__ = [
    "Context", "GetAttrKey", "KeyPath", "LeafSpec", "MappingKey", "NodeDef", "PyTree", "SUPPORTED_NODES",
    "SequenceKey", "TreeSpec", "is_namedtuple", "key_get", "keystr",
    "register_pytree_node", "register_results", "tree_all", "tree_all_only", "tree_any", "tree_any_only",
    "tree_flatten", "tree_flatten_with_path", "tree_iter", "tree_leaves", "tree_leaves_with_path", "tree_map",
    "tree_map_", "tree_map_only", "tree_map_only_", "tree_map_with_path", "tree_structure", "tree_unflatten",
    "treespec_leaf",
]  # fmt: skip

KeyEntry = Any
PyTreeSpec = TreeSpec
register_pytree_node = _register_pytree_node = pytree_text._private_register_pytree_node


def __getattr__(name: str) -> Any:
    if name in vars(pytree_text) and not name.startswith("__"):
        return vars(pytree_text)[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
