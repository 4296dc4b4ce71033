"""The backward pass walked by hand: every node is called with the gradient of its output."""

import warnings

import torch

torch.manual_seed(6)
x = torch.randn(4, 4, requires_grad=True)
y = torch.randn(4, 4, requires_grad=True)
z = x * y
total = z.sum()
total.backward()
print(x.grad)
print(y.grad)

# The same numbers, one node at a time.
torch.manual_seed(6)
x = torch.randn(4, 4, requires_grad=True)
y = torch.randn(4, 4, requires_grad=True)
z = x * y
total = z.sum()
dl = torch.tensor(1.0)
back_sum = total.grad_fn
dz = back_sum(dl)
back_mul = back_sum.next_functions[0][0]
dx, dy = back_mul(dz)
back_x = back_mul.next_functions[0][0]
back_x(dx)  # the sink of a leaf: it fills x.grad
back_y = back_mul.next_functions[1][0]
back_y(dy)
print(x.grad)
print(y.grad)
print(back_sum, back_mul, back_x, back_x.variable is x)

# A chain with an exponential in it: F = exp(A * B) + E.
A = torch.tensor(2.0, requires_grad=True)
B = torch.tensor(0.5, requires_grad=True)
E = torch.tensor(1.0, requires_grad=True)
C = A * B
D = C.exp()
F = D + E
print(F)
print([x.is_leaf for x in [A, B, C, D, E, F]])
print([x.grad_fn for x in [F, D, C, A]])
print(F.grad_fn.next_functions)

F.backward(retain_graph=True)
print(A.grad, B.grad, E.grad)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    print(C.grad, D.grad)
for warning in caught:
    print(f"{warning.category.__name__}: {str(warning.message).split('. ')[0]}.")

# The graph was kept, so it can be asked again for what it had thrown away.
print(torch.autograd.grad(F, [C, D]))
