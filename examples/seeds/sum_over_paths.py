"""Finds dL/dw1 as a sum over the paths from L to w1, and again with backward()."""

import torch

x1, x2 = torch.tensor(1.0), torch.tensor(2.0)
w1 = torch.tensor(1.0, requires_grad=True)
w2 = torch.tensor(2.0, requires_grad=True)
w3 = torch.tensor(3.0, requires_grad=True)

x3 = w1 * x1
x4 = w1 * x2
x5 = w2 * x3 + w3 * x4
L = 1 - x5

for name, tensor in {"w1": w1, "x3": x3, "x4": x4, "x5": x5, "L": L}.items():
    print(name, tensor, "made by", tensor.grad_fn)

# Two paths lead from L to w1; along each the derivatives are multiplied.
with torch.no_grad():
    first = -1 * 1 * w2 * x1
    second = -1 * 1 * w3 * x2
print("path through x3:", first)
print("path through x4:", second)
print("their sum:", first + second)

L.backward(retain_graph=True)
print("w1.grad:", w1.grad)
print("w2.grad:", w2.grad)
print("w3.grad:", w3.grad)
print("they match:", bool(w1.grad == first + second))

# The graph was kept, so it can be walked again; gradients add up.
L.backward()
print("after a second backward:", w1.grad)
