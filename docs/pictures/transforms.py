"""What transforms make of a graph, drawn for docs/differentiate.md by ``python docs/pictures/transforms.py``.

A test asks whether the pictures beside this file are what it draws.
"""

from pathlib import Path

import glassgrad as torch
from glassgrad.explore import make_dot
from glassgrad.func import grad, jet, jvp, vmap


def f(x):
    """The function of the pictures; that of Taylor mode is its inner part."""
    return (x * x).sin()


def drawn():
    """Each picture by the name of its file."""
    x = torch.tensor(0.5, requires_grad=True)
    v = torch.tensor(1.0, requires_grad=True)
    batch = torch.rand(4, requires_grad=True)
    value, tangent = jvp(f, (x,), (v,))
    _, (first, second) = jet(lambda x: x * x, (x,), ((v, torch.zeros(())),))
    pictures = {
        "backward": make_dot(f(x), params={"x": x}),
        "grad": make_dot(grad(f)(x), params={"x": x}),
        "jvp": make_dot((value, tangent), params={"x": x, "v": v}),
        "vmap": make_dot(vmap(f)(batch), params={"x": batch}),
        "jet": make_dot((first, second), params={"x": x, "v": v}),
    }
    return {f"transforms-{name}.svg": dot.pipe("svg") for name, dot in pictures.items()}


if __name__ == "__main__":
    for name, data in drawn().items():
        (Path(__file__).parent / name).write_bytes(data)
