"""backward() and autograd.grad() on scalars and vectors, and why a non-leaf's gradient is gone."""

import torch

# A scalar.
x = torch.tensor(2.0, requires_grad=True)
y = torch.tensor(3.0, requires_grad=True)
z = x**2 + y
z.backward()
print(z, x.grad, y.grad)

# The same through the function.
x = torch.tensor(2.0, requires_grad=True)
y = torch.tensor(3.0, requires_grad=True)
z = x**2 + y
torch.autograd.backward(z)
print(z, x.grad, y.grad)

# A vector needs a gradient to start from.
x = torch.ones(2, requires_grad=True)
z = x + 2
try:
    z.backward()
except RuntimeError as error:
    print("RuntimeError:", error)
x = torch.ones(2, requires_grad=True)
z = x + 2
z.backward(torch.ones_like(z))
print(x.grad)

# Or it is summed first, which is the same thing.
x = torch.ones(2, requires_grad=True)
z = x + 2
z.sum().backward()
print(x.grad)

# autograd.grad hands the gradient back and leaves .grad alone.
x = torch.tensor(2.0, requires_grad=True)
z = x**2
print(torch.autograd.grad(outputs=z, inputs=x), x.grad)

# Gradients add up until they are reset.
x = torch.tensor(2.0, requires_grad=True)
for _ in range(2):
    (x**2).backward()
    print(x.grad)
x.grad.zero_()
(x**2).backward()
print(x.grad)

# An intermediate value keeps its gradient only when asked to.
x = torch.tensor(2.0, requires_grad=True)
y = x * 3
y.retain_grad()
z = y**2
z.backward()
print(x.grad, y.grad)

# A gradient of a gradient.
x = torch.tensor(2.0, requires_grad=True)
(slope,) = torch.autograd.grad(x**3, x, create_graph=True)
(curvature,) = torch.autograd.grad(slope, x)
print(slope, curvature)
