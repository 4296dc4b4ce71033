"""What autograd records and what it leaves out: tracking, branches, detach, no_grad, a kept graph."""

import torch

# 1. Operations on tensors that require gradients are recorded.
x = torch.tensor([2.0, 3.0], requires_grad=True)
y = torch.tensor([4.0, 5.0], requires_grad=True)
z = x * y + torch.sum(x)
print(f"requires_grad: {z.requires_grad}")
print(f"grad_fn: {z.grad_fn}")


# 2. The graph is whatever ran: a branch not taken leaves no node.
def compute(x, flag):
    if flag:
        return x * x
    else:
        return x + x


a = torch.tensor(2.0, requires_grad=True)
b = compute(a, True)
c = compute(a, False)
print(f"b grad_fn: {b.grad_fn}")
print(f"c grad_fn: {c.grad_fn}")

# 3. detach() keeps the numbers and drops the history.
x = torch.tensor([2.0, 3.0], requires_grad=True)
y = x * 2
z = y.detach()
w = z * 3
print(f"y requires_grad: {y.requires_grad}")
print(f"z requires_grad: {z.requires_grad}")
print(f"w requires_grad: {w.requires_grad}")

# 4. Inside no_grad nothing is recorded at all.
x = torch.tensor([2.0, 3.0], requires_grad=True)
with torch.no_grad():
    y = x * 2
print(f"Inside no_grad, y requires_grad: {y.requires_grad}")
z = x * 2
print(f"Outside no_grad, z requires_grad: {z.requires_grad}")

# 5. A backward pass frees what the graph saved, unless told to keep it.
x = torch.tensor(2.0, requires_grad=True)
y = x * x
y.backward(retain_graph=True)
print(f"After first backward: {x.grad}")
x.grad.zero_()
y.backward()
print(f"After second backward: {x.grad}")
try:
    y.backward()
except RuntimeError as error:
    print(f"A third one: {str(error).split(' (')[0]}")
