"""Builds y = (a + b) * (b + 1) step by step, looks at its nodes, and asks for its gradients."""

import torch

# Two leaves whose history is to be kept.
a = torch.tensor(2.0, requires_grad=True)
b = torch.tensor(3.0, requires_grad=True)

# Every line computes a value and adds a node.
c = a + b
d = b + 1
y = c * d

print(y)
print(f"Computational graph: {y.grad_fn}")

# Which operation made which tensor.
print(f"y was created by: {y.grad_fn}")
print(f"c was created by: {c.grad_fn}")
print(f"d was created by: {d.grad_fn}")

# One step further back: a pair (node, which of its outputs) per input.
print(f"Inputs to the multiplication: {y.grad_fn.next_functions}")
mul_next_a, mul_next_b = y.grad_fn.next_functions
print(f"Inputs to the first addition: {mul_next_a[0].next_functions}")
print(f"Inputs to the second addition: {mul_next_b[0].next_functions}")

# The same expression again, now carried backward.
a = torch.tensor(2.0, requires_grad=True)
b = torch.tensor(3.0, requires_grad=True)
c = a + b
d = b + 1
y = c * d
y.backward()

print(f"Gradient of y with respect to a: {a.grad}")  # b + 1
print(f"Gradient of y with respect to b: {b.grad}")  # a + 2b + 1
