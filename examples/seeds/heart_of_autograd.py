"""Ways to make a tensor that wants gradients, its attributes, and backward() with a gradient from outside."""

import numpy as np
import torch

# Three ways to a tensor that requires gradients; only floating point numbers can.
x = torch.randn(2, 2, requires_grad=True)
print(x.shape, x.requires_grad)
x = torch.from_numpy(np.array([1.0, 2.0, 3.0]))
x.requires_grad_(True)
print(x)
x = torch.ones(2, 2)
x.requires_grad = True
print(x)
try:
    torch.tensor([1, 2], requires_grad=True)
except RuntimeError as error:
    print(error)


def describe(**tensors):
    """Print the members of each tensor that the graph is made of."""
    for name, tensor in tensors.items():
        print(f"{name}\n  data: {tensor.data}\n  requires_grad: {tensor.requires_grad}")
        print(f"  grad: {tensor.grad if tensor.is_leaf else None}")
        print(f"  grad_fn: {tensor.grad_fn}\n  is_leaf: {tensor.is_leaf}")


# A product nobody wants the gradient of, then the same with one that is tracked.
x, y = torch.tensor(1.0), torch.tensor(2.0)
describe(x=x, y=y, z=x * y)
x = torch.tensor(1.0, requires_grad=True)
z = x * y
describe(x=x, y=y, z=z)

# No history inside no_grad.
with torch.no_grad():
    print((x * y).requires_grad)

# For a scalar, backward() starts from one of its own.
z.backward()
print(x.grad)
x = torch.tensor(1.0, requires_grad=True)
z = x**3
z.backward(torch.tensor(1.0))
print(x.grad.data)

# For a vector it wants to be told where to start.
x = torch.tensor([0.0, 2.0, 8.0], requires_grad=True)
y = torch.tensor([5.0, 1.0, 7.0], requires_grad=True)
z = x * y
try:
    z.backward()
except RuntimeError as error:
    print(error)
z.backward(torch.tensor([1.0, 1.0, 1.0]))
print(x.grad, y.grad)

# What is handed in multiplies the Jacobian from the left: v^T J.
X = torch.tensor([1.0, 2.0, 8.0], requires_grad=True)
Y = X**2 + X.sum()
v = torch.tensor([1.0, 0.1, 0.01])
Y.backward(v)
J = torch.autograd.functional.jacobian(lambda X: X**2 + X.sum(), X.detach())
print(J)
print(X.grad, v @ J)
