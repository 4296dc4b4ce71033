"""A model's operations as TensorBoard's graph: nodes of the backward graph, from the output down to parameters."""

from __future__ import annotations

from typing import Any

from ...core.tensor import Tensor
from ...nn.modules.module import Module
from .library import AttrValue, GraphDef, NodeDef, VersionDef


def graph_of(model: Module, example: Any, verbose: bool = False) -> Any:
    """The graph of one call of ``model``; RuntimeError where the result carries no history."""
    args = example if isinstance(example, (tuple, list)) else () if example is None else (example,)
    result = model(*args)
    outputs = [piece for piece in _flat(result) if piece.grad_fn is not None]
    if not outputs:
        raise RuntimeError(
            "add_graph draws the graph that gradients walk, and the model's output has none: call it on a model with "
            "parameters that require gradients, outside torch.no_grad()"
        )
    names: dict[Any, str] = {}
    nodes: list[Any] = []
    parameters = {id(parameter): name for name, parameter in model.named_parameters()}
    waiting = [tensor.grad_fn for tensor in outputs]
    for node in waiting:
        if node in names:
            continue
        variable = getattr(node, "variable", None)
        name = parameters.get(id(variable), "input") if variable is not None else node.name().rstrip("0123456789")
        name = f"{type(model).__name__}/{name.replace('.', '/').removesuffix('Backward')}"
        names[node] = name if name not in names.values() else f"{name}_{len(names)}"
        waiting += [onward for onward, _ in node.next_functions if onward is not None]
    for node, name in names.items():
        inputs = [names[onward] for onward, _ in node.next_functions if onward is not None]
        variable = getattr(node, "variable", None)
        about = {"attr": AttrValue(s=str(list(variable.shape)).encode())} if variable is not None else {}
        kind = "Parameter" if variable is not None else node.name()
        nodes.append(NodeDef(name=name, op=kind, input=inputs, attr=about))
    for number, tensor in enumerate(outputs):
        nodes.append(NodeDef(name=f"output/output.{number + 1}", op="IO Node", input=[names[tensor.grad_fn]]))
    if verbose:
        print(*(f"{node.name}: {node.op}({', '.join(node.input)})" for node in nodes), sep="\n")
    return GraphDef(node=nodes, versions=VersionDef(producer=22))


def _flat(value: Any) -> list[Any]:
    if isinstance(value, Tensor):
        return [value]
    pieces = value.values() if isinstance(value, dict) else value if isinstance(value, (tuple, list)) else ()
    return [tensor for piece in pieces for tensor in _flat(piece)]
