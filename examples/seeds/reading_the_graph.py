"""Reads the graph of y = x*z + x + z: which arrow is what, and where AccumulateGrad sits."""

import sys

import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
z = torch.tensor([3.0, 4.0], requires_grad=True)
names = {id(x): "x", id(z): "z"}


def read(title, y):
    """Print every arrow under y, from the root down to the leaves, each node once."""
    print(title)
    seen, waiting = {y.grad_fn}, [y.grad_fn]
    while waiting:
        node = waiting.pop(0)
        for position, (source, _) in enumerate(node.next_functions):
            leaf = f" of {names[id(source.variable)]}" if source.name().endswith("AccumulateGrad") else ""
            print(f"  input {position} of {node.name()} comes from {source.name().split('::')[-1]}{leaf}")
            if source not in seen:
                seen.add(source)
                waiting.append(source)
    print(f"  {len(seen)} nodes")


y = x * z + x + z
print(y)
read("y = x*z + x + z", y)

y.sum().backward()
print("x.grad:", x.grad)  # z + 1: the product's arrow and the sum's arrow both end in x
print("z.grad:", z.grad)  # x + 1

longer = x * z + x + z + torch.sin(x) + torch.cos(z)
print(longer)
read("y = x*z + x + z + sin(x) + cos(z)", longer)

try:
    from torchviz import make_dot
except ImportError:
    print("no torchviz here, so no picture", file=sys.stderr)
else:
    picture = make_dot(x * z + x + z, params={"x": x, "z": z})
    picture.render("reading_the_graph", format="png")
