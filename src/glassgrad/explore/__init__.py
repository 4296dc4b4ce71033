"""The explorer, floor 8: graphs of glassgrad and of torch read, drawn and explained. It changes no graph."""

from .dot import Dot, make_dot
from .text import graph_lines, graph_text

__all__ = ["Dot", "graph_lines", "graph_text", "make_dot"]
