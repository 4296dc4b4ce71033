"""Draws a graph as Graphviz text: a box a node, with what it calls."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..graph_module import GraphModule
from ..node import Node

_COLOURS = {
    "placeholder": "AliceBlue", "call_module": "LemonChiffon1", "get_attr": "LightCoral", "output": "PowderBlue",
    "call_function": "thistle", "call_method": "wheat",
}  # fmt: skip


class DotGraph:
    """A drawing as text in Graphviz's language; other programs make pictures of it."""

    def __init__(self, text: str) -> None:
        self.text = text

    def to_string(self) -> str:
        """The text."""
        return self.text

    __str__ = to_string

    def write_dot(self, path: Any) -> None:
        """Write the text."""
        Path(path).write_text(self.text, encoding="utf-8")

    write_raw = write_dot

    def write_svg(self, path: Any) -> None:
        """An error: it says what makes pictures of the text."""
        raise RuntimeError("pictures of graphs are made by Graphviz: write_dot(path), then `dot -Tsvg path`")

    write_png = write_pdf = create_svg = write_svg


class FxGraphDrawer:
    """Draws the graph of a module; ``get_dot_graph()`` gives the drawing."""

    def __init__(
        self, graph_module: GraphModule, name: str, ignore_getattr: bool = False,
        ignore_parameters_and_buffers: bool = False, skip_node_names_in_args: bool = True, **settings: Any,
    ) -> None:  # fmt: skip
        self._name, self._module = name, graph_module
        self._hidden = {"get_attr"} if ignore_getattr or ignore_parameters_and_buffers else set()

    def get_dot_graph(self, submod_name: str | None = None) -> DotGraph:
        """The drawing."""
        lines = [f'digraph "{submod_name or self._name}" {{', "rankdir=TB;"]
        shown = [node for node in self._module.graph.nodes if node.op not in self._hidden]
        for node in shown:
            lines.append(
                f'"{node.name}" [label="{_label(node)}", shape=record, style="filled,rounded", '
                f"fillcolor={_COLOURS[node.op]}];"
            )
        for node in shown:
            lines += [f'"{used.name}" -> "{node.name}";' for used in node.all_input_nodes if used in shown]
        return DotGraph("\n".join([*lines, "}"]) + "\n")

    get_main_dot_graph = get_dot_graph

    def get_all_dot_graphs(self) -> dict[str, DotGraph]:
        """The drawings by name: one."""
        return {self._name: self.get_dot_graph()}


def _label(node: Node) -> str:
    lines = [f"name=%{node.name}", f"op_code={node.op}", f"target={node._pretty_print_target(node.target)}"]
    noted: Any = node.meta.get("tensor_meta")
    if hasattr(noted, "shape"):
        lines += [f"dtype={noted.dtype}", f"shape={tuple(noted.shape)}"]
    body = "|".join("".join("\\" + c if c in '{}|<>"' else c for c in line) for line in lines)
    return "{" + body + "}"
