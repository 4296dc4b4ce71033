"""Trees taken apart along a shape that is known: what generated code does with arguments that are containers."""

from __future__ import annotations

from typing import Any

from ..utils import _pytree


def tree_flatten_spec(pytree: Any, spec: _pytree.TreeSpec, exact_structural_match: bool = False) -> list[Any]:
    """The leaves of a tree that has the shape ``spec``."""
    if spec.is_leaf():
        return [pytree]
    if spec.type in (dict, _pytree.OrderedDict):
        children = [pytree[key] for key in spec.context]
    elif spec.type is _pytree.defaultdict:
        children = [pytree[key] for key in spec.context[1]]
    elif spec.type in (list, tuple, _pytree.deque, _pytree.namedtuple):
        children = [pytree[place] for place in range(spec.num_children)]
    else:
        children = _pytree.SUPPORTED_NODES[spec.type].flatten_fn(pytree)[0]
    return [leaf for child, shape in zip(children, spec.children_specs, strict=True)
            for leaf in tree_flatten_spec(child, shape)]  # fmt: skip
