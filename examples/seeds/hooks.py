"""Hooks on a tensor and on a node: when they are called, and how one changes the gradient."""

import torch

torch.manual_seed(4)


def print_grad(grad):
    print(grad)
    return grad / 2


# A tensor's hook sees the gradient and may hand on another one.
w = torch.nn.Parameter(torch.randn(2, 2))
w.register_hook(print_grad)
loss = (w - 1) ** 2
print("before backward")
loss.mean().backward()
print("after backward")
print(w.grad)


def parameter_hook(grad):
    print("parameter hook")


def operator_hook(*grads):
    print("operator hook")


# A node's hook belongs to that node: the second graph has none.
w = torch.nn.Parameter(torch.randn(2, 2))
w.register_hook(parameter_hook)

print("first")
y = w + 1
op1 = y.grad_fn
print(op1)
op1.register_hook(operator_hook)
y.sum().backward()

print("second")
z = w + 1
op2 = z.grad_fn
print(op2)
z.sum().backward()

# eval() changes what layers do, no_grad() what is recorded: neither implies the other.
model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU())
model.eval()
print(model.training, model(torch.ones(2)).requires_grad)
with torch.no_grad():
    print(model(torch.ones(2)).requires_grad)
