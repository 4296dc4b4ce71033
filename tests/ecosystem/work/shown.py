"""Prints what a script computed, a line of JSON for each name, so that two runs can be compared."""

import json

import torch


def show(name, value):
    """Print numbers, nested lists of them, tensors or text under a name."""
    if isinstance(value, torch.Tensor):
        value = (
            value.detach().to(torch.float64).flatten()[:24].tolist() if value.is_floating_point() else value.tolist()
        )
    print("SHOWN " + json.dumps([name, value]), flush=True)


def train(model, loss_of, steps=3, lr=1e-3):
    """Take a few steps with AdamW and show the losses and the norm of the parameters."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=lr)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = loss_of(model)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    norm = sum(p.detach().double().pow(2).sum() for p in model.parameters()).sqrt()
    return losses, norm.item()
